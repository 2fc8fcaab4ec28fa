//! Steps as a plan file has them.

use super::Writer;
use crate::write::plan_time;
use brunt_model::Population;
use brunt_model::modifier::RequestModifier;
use brunt_model::scenario::{
    Branch, Case, Condition, Manner, Order, PaceOf, Pauses, Portion, Rounds, SampleMaker, Scope, Script,
    ScriptLanguage, Share, Step, Values,
};
use brunt_script::expression::{self, Stretch};
use brunt_script::template::expression_text;
use brunt_spec::plan::Yaml;
use std::time::Duration;

fn text(text: impl Into<String>) -> Yaml {
    Yaml::text(text)
}

/// Whether each evaluation of a condition changes it.
fn counts(condition: &Condition) -> bool {
    match condition {
        Condition::True(written) | Condition::False(written) => written.contains("__counter("),
        Condition::Not(inner) => counts(inner),
        _ => false,
    }
}

impl Writer<'_> {
    /// The steps of a list.
    pub(super) fn steps(&mut self, steps: &[Step], population: &Population) -> Vec<Yaml> {
        let mut all = Vec::new();
        for step in steps {
            all.extend(self.step(step, population));
            all.append(&mut self.behind);
        }
        all
    }

    fn list(&mut self, steps: &[Step], population: &Population) -> Yaml {
        Yaml::List(self.steps(steps, population))
    }

    /// A map with steps in it; nothing where there are none.
    fn with_steps(&mut self, key: &str, value: Yaml, steps: &[Step], population: &Population) -> Vec<Yaml> {
        match self.list(steps, population) {
            Yaml::List(steps) if steps.is_empty() => Vec::new(),
            steps => vec![Yaml::map([(key, value), ("steps", steps)])],
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each step")]
    fn step(&mut self, step: &Step, population: &Population) -> Vec<Yaml> {
        let one = |key: &str, value: Yaml| vec![Yaml::map([(key, value)])];
        match step {
            Step::Request(number) => {
                let Some(request) = population.scenario.requests.get(*number as usize) else { return Vec::new() };
                if request.headers.iter().any(|(_, value)| value == "application/grpc") {
                    let place = self.sampler_place(&request.label);
                    self.notice(format!("{place}: left out; write the call as a step `grpc` (docs/http2.md)"));
                    return Vec::new();
                }
                let policy = self.policy(request.reply_policy);
                vec![self.request(request, &policy)]
            }
            Step::Together { manner, steps } => {
                let most = match manner {
                    Manner::Parallel(most) => *most,
                    Manner::Pipelined => 1,
                };
                let (requests, before): (Vec<Step>, Vec<Step>) =
                    steps.iter().cloned().partition(|step| matches!(step, Step::Request(_)));
                let mut all = self.steps(&before, population);
                all.extend(self.with_steps("parallel", text(most.to_string()), &requests, population));
                all
            }
            Step::Group { name, steps } => {
                let steps = self.list(steps, population);
                vec![Yaml::map([("name", text(name)), ("group", steps)])]
            }
            Step::Transaction { name, pauses, steps, .. } => {
                let name = self.plain(name);
                let mut keys = vec![("transaction".to_owned(), Yaml::Text(name))];
                if *pauses == Pauses::Included {
                    keys.push(("with_pauses".to_owned(), text("true")));
                }
                let steps = self.steps(steps, population);
                if steps.is_empty() {
                    return Vec::new();
                }
                keys.push(("steps".to_owned(), Yaml::List(steps)));
                vec![Yaml::Map(keys)]
            }
            Step::Loop { times, steps } => {
                let times = match times {
                    None => "forever".to_owned(),
                    Some(Rounds::Number(times)) => times.to_string(),
                    Some(Rounds::Text(times)) => self.plain(times),
                };
                self.with_steps("loop", Yaml::Text(times), steps, population)
            }
            Step::While { condition, steps, .. } => {
                if counts(condition) {
                    let place = self.kind_place(brunt_jmx::ElementKind::WhileController, &population.name);
                    self.notice(format!(
                        "{place}: JMeter evaluates the condition twice a round, and a plan file once: it counts otherwise"
                    ));
                }
                let condition = self.condition(condition);
                self.with_steps("while", condition, steps, population)
            }
            Step::If { condition: Condition::Share(share), then, .. } => self.share(share, then, population),
            Step::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let mut all = self.with_steps("if", condition, then, population);
                let otherwise = self.steps(otherwise, population);
                if let (Some(Yaml::Map(keys)), false) = (all.first_mut(), otherwise.is_empty()) {
                    keys.push(("else".to_owned(), Yaml::List(otherwise)));
                }
                all
            }
            Step::ForEach { variable, values, steps } => {
                let values = match values {
                    Values::List(values) => {
                        Yaml::List(values.iter().map(|value| Yaml::Text(self.plain(value))).collect())
                    }
                    Values::Numbered { prefix, after, last } => {
                        if !(after.trim().is_empty() || after.trim() == "0") || !last.trim().is_empty() {
                            let place = self.kind_place(brunt_jmx::ElementKind::ForeachController, &population.name);
                            self.notice(format!("{place}: a ForEach Controller goes through all values of {prefix}*"));
                        }
                        Yaml::Text(format!("{}*", self.plain(prefix)))
                    }
                };
                self.with_steps("for_each", Yaml::Map(vec![(variable.clone(), values)]), steps, population)
            }
            Step::Switch { value, cases } => {
                let value = self.plain(value);
                let cases = cases.iter().map(|case| self.case(case, population)).collect();
                vec![Yaml::map([("switch", Yaml::Text(value)), ("cases", Yaml::List(cases))])]
            }
            Step::Shuffle(branches) => {
                let branches: Vec<Yaml> = branches.iter().map(|steps| self.list(steps, population)).collect();
                if branches.is_empty() { Vec::new() } else { one("shuffle", Yaml::List(branches)) }
            }
            Step::During { seconds, steps } => {
                let seconds = match seconds.trim().parse::<f64>() {
                    Ok(seconds) => plan_time(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
                    Err(_) => self.plain(seconds),
                };
                self.with_steps("during", Yaml::Text(seconds), steps, population)
            }
            Step::Lock { name, steps } => {
                let name = self.plain(name);
                self.with_steps("lock", Yaml::Text(name), steps, population)
            }
            Step::Choose { order, portion, branches } => self.choose(*order, *portion, branches, population),
            Step::Resumable(steps) => {
                let steps = self.steps(steps, population);
                if steps.is_empty() { Vec::new() } else { one("resumable", Yaml::List(steps)) }
            }
            Step::Think(think) => one("think", text(format!("{}..{}", plan_time(think.least), plan_time(think.most)))),
            Step::Pause(millis) => {
                self.pause(millis, population).map(|pause| one("think", Yaml::Text(pause))).unwrap_or_default()
            }
            Step::Pace(pace) if !pace.schedule.is_empty() => {
                let place = self.kind_place(brunt_jmx::ElementKind::ThroughputShapingTimer, &population.name);
                self.notice(format!(
                    "{place}: left out, a plan file has no schedule of rates for users; use load.rate"
                ));
                Vec::new()
            }
            Step::Pace(pace) => {
                let per_minute = format!("{}/min", self.plain(&pace.per_minute).trim());
                let by = match pace.by {
                    PaceOf::User => return one("pace", Yaml::Text(per_minute)),
                    PaceOf::ShareOfAll => "share_of_all",
                    PaceOf::ShareOfPopulation => "share_of_population",
                    PaceOf::All => "all",
                    PaceOf::Population => "population",
                };
                vec![Yaml::map([("pace", Yaml::Text(per_minute)), ("by", text(by))])]
            }
            Step::Meet { users, timeout } => {
                if !matches!(timeout.trim(), "" | "0") {
                    let place = self.kind_place(brunt_jmx::ElementKind::SynchronizingTimer, &population.name);
                    self.notice(format!("{place}: users wait without a time limit"));
                }
                one("meet", Yaml::Text(self.plain(users)))
            }
            Step::Set { variable, .. } if variable.trim().is_empty() => Vec::new(),
            Step::Set { variable, value } => {
                let value = self.plain(value);
                one("set", Yaml::Map(vec![(variable.clone(), Yaml::Text(value))]))
            }
            Step::Row(number) => match population.scenario.data.get(*number as usize) {
                Some(data) => one("row", Yaml::Text(self.file(&data.file))),
                None => Vec::new(),
            },
            Step::Count(counter) => {
                let mut keys = Vec::new();
                let given = [
                    ("start", &counter.start),
                    ("step", &counter.step),
                    ("end", &counter.end),
                    ("format", &counter.format),
                ];
                for (name, value) in given.into_iter().filter(|(_, value)| !value.is_empty()) {
                    keys.push((name.to_owned(), Yaml::Text(self.plain(value))));
                }
                for (name, _) in
                    [("per_user", counter.per_user), ("resets", counter.resets)].into_iter().filter(|(_, is)| *is)
                {
                    keys.push((name.to_owned(), text("true")));
                }
                one("count", Yaml::Map(vec![(counter.variable.clone(), Yaml::Map(keys))]))
            }
            Step::Script(script) => self.script_step(script, &population.name),
            Step::Sample(sample) => {
                let place = self.sampler_place(&sample.label);
                let script = match &sample.maker {
                    SampleMaker::Script(script) => script,
                    SampleMaker::Variables => {
                        self.notice(format!("{place}: left out, it only shows variables"));
                        return Vec::new();
                    }
                    SampleMaker::Failure { message, .. } => {
                        self.notice(format!("{place}: left out, each sample fails in JMeter: {message}"));
                        return Vec::new();
                    }
                };
                let policy = self.policy(sample.reply_policy);
                let more =
                    if policy.is_judged_by_user() { ", and its extractors and assertions are left out" } else { "" };
                self.notice(format!("{place}: it is a script and makes no sample{more}"));
                self.script_step(script, &population.name)
            }
            Step::OncePerLoop(steps) => {
                let place = self.kind_place(brunt_jmx::ElementKind::OnceOnlyController, &population.name);
                self.notice(format!(
                    "{place}: it runs once for each user, not once for each run of the loop around it"
                ));
                let steps = self.steps(steps, population);
                if steps.is_empty() { Vec::new() } else { one("once", Yaml::List(steps)) }
            }
            Step::Once(steps) => {
                let steps = self.steps(steps, population);
                if steps.is_empty() { Vec::new() } else { one("once", Yaml::List(steps)) }
            }
            Step::Stop(scope) => {
                let word = match scope {
                    Scope::Nothing => return Vec::new(),
                    Scope::Turn => "turn",
                    Scope::Round => "round",
                    Scope::Loop => "loop",
                    Scope::Iteration => "iteration",
                    Scope::User => "user",
                    Scope::Run => "run",
                };
                one("stop", text(word))
            }
            Step::Modify(modifier) => {
                let kind = match modifier {
                    RequestModifier::Link => brunt_jmx::ElementKind::LinkParser,
                    RequestModifier::Session(_) => brunt_jmx::ElementKind::UrlRewriting,
                    RequestModifier::Matches { .. } => brunt_jmx::ElementKind::RegexUserParameters,
                };
                let place = self.kind_place(kind, &population.name);
                self.notice(format!("{place}: left out, a plan file has no such element"));
                Vec::new()
            }
            Step::Next(_) | Step::CountInTransactions(_) => Vec::new(),
        }
    }

    fn case(&mut self, case: &Case, population: &Population) -> Yaml {
        let names = Yaml::List(case.names.iter().map(|name| Yaml::Text(self.plain(name))).collect());
        let steps = self.list(&case.steps, population);
        match names {
            Yaml::List(names) if names.is_empty() => Yaml::map([("steps", steps)]),
            names => Yaml::map([("names", names), ("steps", steps)]),
        }
    }

    /// Steps of a share of the rounds: as many branches of a choice that goes round.
    fn share(&mut self, share: &Share, then: &[Step], population: &Population) -> Vec<Yaml> {
        let place = self.kind_place(brunt_jmx::ElementKind::ThroughputController, &population.name);
        let percent = share
            .value
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|_| share.percent)
            .map(|value| value.round().clamp(0.0, 100.0) as u32);
        let steps = self.steps(then, population);
        match percent {
            _ if steps.is_empty() => Vec::new(),
            Some(0) => Vec::new(),
            Some(percent @ 1..100) => {
                let divisor =
                    [50, 25, 20, 10, 5, 4, 2].into_iter().find(|by| percent % by == 0 && 100 % by == 0).unwrap_or(1);
                let branch = |weight: u32, steps: Vec<Yaml>| {
                    Yaml::map([("weight", text((weight / divisor).to_string())), ("steps", Yaml::List(steps))])
                };
                let branches = Yaml::List(vec![branch(percent, steps), branch(100 - percent, Vec::new())]);
                let order = if share.per_user { "walk_together" } else { "sequence" };
                vec![Yaml::map([("choose", branches), ("order", text(order))])]
            }
            Some(_) => steps,
            None => {
                self.notice(format!("{place}: its steps run each time; a plan file has no number of executions, nor a share that changes"));
                steps
            }
        }
    }

    fn choose(&mut self, order: Order, portion: Portion, branches: &[Branch], population: &Population) -> Vec<Yaml> {
        if let (Order::User, [only]) = (order, branches) {
            return self.steps(&only.steps, population);
        }
        let branch = |branch: &Branch| {
            let steps = self.list(&branch.steps, population);
            match branch.weight {
                1 => Yaml::map([("steps", steps)]),
                weight => Yaml::map([("weight", text(weight.to_string())), ("steps", steps)]),
            }
        };
        let all = Yaml::List(branches.iter().map(branch).collect());
        let order = match order {
            Order::Random => None,
            Order::User => Some("user"),
            Order::Walk | Order::WalkTogether => Some("walk_together"),
            Order::Sequence | Order::Slow(_) => Some("sequence"),
        };
        let portion = match portion {
            Portion::Whole => None,
            Portion::Nonempty => Some("nonempty"),
            Portion::Turn => Some("turn"),
        };
        let given = [("order", order), ("portion", portion)].into_iter();
        let given = given.filter_map(|(key, word)| Some((key.to_owned(), text(word?))));
        vec![Yaml::Map([("choose".to_owned(), all)].into_iter().chain(given).collect())]
    }

    /// A pause; None where there is none.
    fn pause(&mut self, millis: &str, population: &Population) -> Option<String> {
        let of = |millis: f64| plan_time(Duration::try_from_secs_f64(millis / 1e3).unwrap_or_default());
        if let Ok(millis) = millis.trim().parse::<f64>() {
            return (millis >= 1.0).then(|| of(millis));
        }
        if let [Stretch::Call { name, arguments, .. }] = &expression::parse(millis.trim())[..] {
            let numbers: Option<Vec<f64>> =
                arguments.iter().map(|argument| expression_text(argument).trim().parse().ok()).collect();
            match (name.as_str(), numbers.as_deref()) {
                ("uniform", Some([range, least])) if *least >= 1.0 => {
                    return Some(format!("{}..{}", of(*least), of(least + range)));
                }
                ("uniform", Some([range, _])) => return Some(format!("0..{}", of(*range))),
                ("gaussian", Some([deviation, mean])) if *deviation >= 1.0 && *mean >= 1.0 => {
                    return Some(format!("normal {} {}", of(*mean), of(*deviation)));
                }
                _ => {}
            }
        }
        let pause = self.plain(millis.trim());
        // A text that nothing fills in is no number, so that JMeter does not wait.
        if pause.contains("${") && !pause.contains("\\${") {
            return Some(pause);
        }
        if !pause.is_empty() {
            self.notice(format!("Thread Group \"{}\": a pause of `{}` ms is left out", population.name, millis.trim()));
        }
        None
    }

    fn condition(&mut self, condition: &Condition) -> Yaml {
        const LAST: &str = "${JMeterThread.last_sample_ok}";
        let not = |inner: Yaml| Yaml::map([("not", inner)]);
        match condition {
            Condition::Failed => text("failed"),
            Condition::Succeeded => text("succeeded"),
            Condition::True(written) if written.trim() == LAST => text("succeeded"),
            Condition::True(written) => {
                let written = self.plain(written);
                if written.contains("${") { Yaml::Text(written) } else { Yaml::map([("true", Yaml::Text(written))]) }
            }
            Condition::False(written) if written.trim() == LAST => text("failed"),
            Condition::False(written) => {
                let written = self.plain(written);
                Yaml::map([("matches", Yaml::List(vec![Yaml::Text(written), text(r"(?i)^\s*false\s*$")]))])
            }
            Condition::Not(inner) => match &**inner {
                Condition::Succeeded => text("failed"),
                Condition::Failed => text("succeeded"),
                inner => not(self.condition(inner)),
            },
            Condition::Status(least, most) => Yaml::map([("status", text(format!("{least}-{most}")))]),
            Condition::Equals(variable, value) => {
                let pair = [format!("${{{variable}}}"), value.clone()].map(|text| Yaml::Text(self.plain(&text)));
                Yaml::map([("equal", Yaml::List(pair.into()))])
            }
            Condition::Same(one, other) => {
                let pair = [one, other].map(|text| Yaml::Text(self.plain(text)));
                Yaml::map([("equal", Yaml::List(pair.into()))])
            }
            Condition::Matches(one, pattern) => {
                let pair = [one, pattern].map(|text| Yaml::Text(self.plain(text)));
                Yaml::map([("matches", Yaml::List(pair.into()))])
            }
            Condition::Any(_) | Condition::Share(_) => Yaml::map([("true", text("true"))]),
        }
    }

    fn script_step(&mut self, script: &Script, group: &str) -> Vec<Yaml> {
        // What `brunt export jmx` makes of the step `set`.
        let set = script.source.strip_prefix("vars.put(\"").and_then(|rest| rest.strip_suffix("\", Parameters)"));
        if let Some(variable) = set.filter(|name| !name.contains('"')) {
            let value = self.plain(&script.parameters);
            return vec![Yaml::map([("set", Yaml::Map(vec![(variable.to_owned(), Yaml::Text(value))]))])];
        }
        let place = format!("Thread Group \"{group}\"");
        self.script(script, &place).map(|source| vec![Yaml::map([("script", Yaml::Text(source))])]).unwrap_or_default()
    }

    /// The source of a script in the language of the scenario; None: it is left out.
    pub(super) fn script(&mut self, script: &Script, place: &str) -> Option<String> {
        let place = self.element_place(&script.name, place);
        let is_javascript = script.language == ScriptLanguage::Javascript;
        if script.language == ScriptLanguage::Jexl || is_javascript != self.is_javascript {
            self.notice(format!(
                "{place}: left out, all scripts of a scenario are in one language, Groovy or JavaScript"
            ));
            return None;
        }
        let source = self.source(script, &place);
        if source.trim().is_empty() {
            return None;
        }
        let language = if is_javascript { ScriptLanguage::Javascript } else { ScriptLanguage::Groovy };
        let checked = Script { source: source.replace("$$", "$"), language, ..script.clone() };
        if let Err(error) = brunt_script::check::fixed_script(&checked) {
            self.notice(format!("{place}: left out, {error}"));
            return None;
        }
        let parameters = script.parameters.trim();
        let reads = ["Parameters", "args", "bsh.args"].iter().any(|name| source.contains(name));
        if parameters.is_empty() || !reads {
            return Some(source);
        }
        if parameters.contains("${") || is_javascript {
            self.notice(format!("{place}: its parameters are left out; read variables by vars.get"));
            return Some(source);
        }
        let quoted = parameters.replace('\\', r"\\").replace('\'', r"\'");
        Some(format!("def Parameters = '{quoted}'\ndef args = Parameters.split(' ')\n{source}"))
    }
}
