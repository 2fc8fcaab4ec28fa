//! Exports steps as controllers and samplers.

use super::texts::groovy_call;
use super::xml::{Item, Prop};
use super::{Place, PlanWriter, requests};
use brunt_model::Population;
use brunt_model::load::ThinkTime;
use brunt_model::scenario::{
    Branch, Condition, ConditionShare, DataEnd, DataFile, DataFormat, EndScope, ListOrder,
    LoopValues, PaceScope, Pauses, Portion, Rounds, RowOrder, SampleMaker, ScenarioStep, Sharing,
    SwitchCase, VariableCounter,
};
use brunt_script::expression::{self, TextPart};
use brunt_script::template::expression_text;

/// Pattern in an imported condition that is true for anything except `false`.
const FALSE: &str = r"(?i)^\s*false\s*$";

/// Exports a think time as a timer; None if it is zero.
pub(super) fn think_timer(think: ThinkTime) -> Option<Item> {
    let least = think.least.as_millis();
    let range = think.most.saturating_sub(think.least).as_millis();
    match (least, range) {
        (0, 0) => None,
        (least, 0) => Some(constant_timer(&least.to_string())),
        (least, range) => Some(random_timer(
            "UniformRandomTimer",
            "UniformRandomTimerGui",
            "Uniform Random Timer",
            &least.to_string(),
            &range.to_string(),
        )),
    }
}

/// True if the step is a timer in JMeter.
fn is_timer(step: &ScenarioStep) -> bool {
    matches!(
        step,
        ScenarioStep::Think(_)
            | ScenarioStep::Pause(_)
            | ScenarioStep::PauseByScript(_)
            | ScenarioStep::Pace(_)
            | ScenarioStep::Meet { .. }
    )
}

fn constant_timer(millis: &str) -> Item {
    Item::new("ConstantTimer", "ConstantTimerGui", "Constant Timer")
        .text("ConstantTimer.delay", millis)
}

fn random_timer(
    class: &'static str,
    form: &'static str,
    name: &str,
    delay: &str,
    range: &str,
) -> Item {
    Item::new(class, form, name).text("ConstantTimer.delay", delay).text("RandomTimer.range", range)
}

/// A Flow Control Action.
fn action(name: &str, action: i64, target: i64, duration: &str) -> Item {
    Item::new("TestAction", "TestActionGui", name)
        .number("ActionProcessor.action", action)
        .number("ActionProcessor.target", target)
        .text("ActionProcessor.duration", duration)
}

fn simple(name: &str, children: Vec<Item>) -> Item {
    Item::new("GenericController", "LogicControllerGui", name).over(children)
}

/// Groups the elements of a branch into one element.
fn single_item(mut children: Vec<Item>, number: usize) -> Item {
    // JMeter takes each child of such a controller as a branch.
    match children.len() {
        1 => children.remove(0),
        _ => simple(&format!("branch {number}"), children),
    }
}

impl PlanWriter<'_> {
    /// Exports a list of steps. `starts_iteration` is true for the first steps of an iteration.
    pub(super) fn steps(
        &mut self,
        steps: &[ScenarioStep],
        population: &Population,
        starts_iteration: bool,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        let mut timers = Vec::<Item>::new();
        let shared = requests::shared_headers(&population.scenario);
        let mut first = true;
        for (position, step) in steps.iter().enumerate() {
            let is_setting = matches!(step, ScenarioStep::Row(_) | ScenarioStep::Count(_));
            if is_setting && !first && !starts_iteration {
                self.notice(format!(
                    "population {}: data files and counters take a value where their controller begins",
                    population.name
                ));
            }
            first &= is_setting;
            // A pause directly before a request becomes a timer of that sampler.
            let before_request = steps[position + 1..]
                .iter()
                .find(|next| !is_timer(next))
                .is_some_and(|next| matches!(next, ScenarioStep::Request(_)));
            match step {
                ScenarioStep::Request(number) => {
                    if let Some(request) = population.scenario.requests.get(*number as usize) {
                        let timers = std::mem::take(&mut timers);
                        items.push(self.request(request, &shared, timers));
                    }
                }
                step if is_timer(step) => {
                    let timer = self.timer(step);
                    match timer {
                        Ok(timer) if before_request => timers.push(timer),
                        Ok(timer)
                            if let ScenarioStep::Think(think) = step
                                && think.least == think.most =>
                        {
                            drop(timer);
                            items.push(action("pause", 1, 0, &think.least.as_millis().to_string()));
                        }
                        // A timer runs only with a sampler, here a pause of 0 ms.
                        Ok(timer) => items.push(action("pause", 1, 0, "0").over(vec![timer])),
                        Err(pause) => {
                            if !timers.is_empty() {
                                items.push(
                                    action("pause", 1, 0, "0").over(std::mem::take(&mut timers)),
                                );
                            }
                            items.push(pause);
                        }
                    }
                }
                other => items.extend(self.step(other, population)),
            }
        }
        items
    }

    /// Exports a pause as a timer, or as `Err` with a Flow Control Action if its duration is
    /// computed from a text.
    fn timer(&mut self, step: &ScenarioStep) -> Result<Item, Item> {
        match step {
            ScenarioStep::Think(think) => {
                think_timer(*think).ok_or_else(|| action("pause", 1, 0, "0"))
            }
            ScenarioStep::PauseByScript(script) => Ok(self.script("JSR223Timer", script)),
            ScenarioStep::Pause(text) => {
                if text.trim().parse::<f64>().is_ok() {
                    return Ok(constant_timer(text.trim()));
                }
                if let [TextPart::Call { name, arguments, .. }] =
                    &expression::parse(text.trim())[..]
                    && let [range, delay] = &arguments[..]
                {
                    let texts = [range, delay]
                        .map(|argument| self.text(&expression_text(argument), Place::Text));
                    let [range, delay] = &texts;
                    match name.as_str() {
                        "uniform" => {
                            return Ok(random_timer(
                                "UniformRandomTimer",
                                "UniformRandomTimerGui",
                                "Uniform Random Timer",
                                delay,
                                range,
                            ));
                        }
                        "gaussian" => {
                            return Ok(random_timer(
                                "GaussianRandomTimer",
                                "GaussianRandomTimerGui",
                                "Gaussian Random Timer",
                                delay,
                                range,
                            ));
                        }
                        "poisson" => {
                            return Ok(random_timer(
                                "PoissonRandomTimer",
                                "PoissonRandomTimerGui",
                                "Poisson Random Timer",
                                delay,
                                range,
                            ));
                        }
                        _ => {}
                    }
                }
                let text = self.text(text, Place::Text);
                Err(action("pause", 1, 0, &text))
            }
            ScenarioStep::Pace(pace) => {
                let mode = match pace.by {
                    PaceScope::User => 0,
                    PaceScope::ShareOfAll => 1,
                    PaceScope::ShareOfPopulation => 2,
                    PaceScope::All => 3,
                    PaceScope::Population => 4,
                };
                Ok(Item::new("ConstantThroughputTimer", "TestBeanGUI", "Constant Throughput Timer")
                    .number("calcMode", mode)
                    .text("throughput", self.text(&pace.per_minute, Place::Text)))
            }
            ScenarioStep::Meet { users, timeout } => {
                Ok(Item::new("SyncTimer", "TestBeanGUI", "Synchronizing Timer")
                    .text("groupSize", self.text(users, Place::Text))
                    // JMeter waits without limit for a timeout of 0.
                    .text(
                        "timeoutInMs",
                        if timeout.trim().is_empty() { "0" } else { timeout.trim() },
                    ))
            }
            _ => Err(action("pause", 1, 0, "0")),
        }
    }

    /// Adds the steps as children of an element.
    fn nest(&mut self, item: Item, steps: &[ScenarioStep], population: &Population) -> Vec<Item> {
        let children = self.steps(steps, population, false);
        vec![item.over(children)]
    }

    fn step(&mut self, step: &ScenarioStep, population: &Population) -> Vec<Item> {
        match step {
            ScenarioStep::Request(_)
            | ScenarioStep::Think(_)
            | ScenarioStep::Pause(_)
            | ScenarioStep::PauseByScript(_)
            | ScenarioStep::Pace(_)
            | ScenarioStep::Meet { .. }
            | ScenarioStep::CountInTransactions(_)
            | ScenarioStep::Modify(_) => Vec::new(),
            ScenarioStep::Next(order) => self.next(*order, population),
            ScenarioStep::Together { steps, .. } => {
                self.notice(format!(
                    "population {}: requests of a parallel step are sent one after the other",
                    population.name
                ));
                self.nest(simple("parallel", Vec::new()), steps, population)
            }
            ScenarioStep::Group { name, steps } => {
                self.nest(simple(name, Vec::new()), steps, population)
            }
            ScenarioStep::Transaction { name, pauses, parent, steps } => {
                let name = self.text(name, Place::Text);
                let item = Item::new("TransactionController", "TransactionControllerGui", name)
                    .flag("TransactionController.includeTimers", *pauses == Pauses::Included)
                    .flag("TransactionController.parent", *parent);
                self.nest(item, steps, population)
            }
            ScenarioStep::Loop { times, steps } => {
                let times = match times {
                    None => "-1".to_owned(),
                    Some(Rounds::Number(times)) => times.to_string(),
                    Some(Rounds::Text(times)) => self.text(times, Place::Text),
                };
                let item = Item::new("LoopController", "LoopControlPanel", "Loop Controller")
                    .flag("LoopController.continue_forever", true)
                    .text("LoopController.loops", times);
                self.nest(item, steps, population)
            }
            ScenarioStep::While { condition, steps, .. } => {
                let condition = match condition {
                    Condition::Succeeded => "LAST".to_owned(),
                    Condition::Not(inner) => match &**inner {
                        Condition::Matches(text, pattern) if pattern == FALSE => {
                            self.text(text, Place::Text)
                        }
                        Condition::False(text) => self.text(text, Place::Text),
                        _ => self.condition(condition),
                    },
                    condition => self.condition(condition),
                };
                let item = Item::new("WhileController", "WhileControllerGui", "While Controller")
                    .text("WhileController.condition", condition);
                self.nest(item, steps, population)
            }
            ScenarioStep::If { condition: Condition::Share(share), then, .. } => {
                let item = throughput(share, &self.text(&share.value, Place::Text));
                self.nest(item, then, population)
            }
            ScenarioStep::If { condition, then, otherwise } if otherwise.is_empty() => {
                let condition = self.condition(condition);
                let item = Item::new("IfController", "IfControllerPanel", "If Controller")
                    .text("IfController.condition", condition)
                    .flag("IfController.evaluateAll", false)
                    .flag("IfController.useExpression", true);
                self.nest(item, then, population)
            }
            ScenarioStep::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let inner =
                    condition.strip_prefix("${__groovy(").and_then(|rest| rest.strip_suffix(",)}"));
                let source = inner.map_or_else(
                    || format!("'{condition}'.trim().equalsIgnoreCase('true')"),
                    str::to_owned,
                );
                let value = format!("${{__groovy(({source}) ? 'then' : 'else',)}}");
                let then = self.steps(then, population, false);
                let otherwise = self.steps(otherwise, population, false);
                let item = Item::new("SwitchController", "SwitchControllerGui", "If and else")
                    .text("SwitchController.value", value);
                vec![item.over(vec![simple("then", then), simple("else", otherwise)])]
            }
            ScenarioStep::ForEach { variable, values, steps } => {
                self.for_each(variable, values, steps, population)
            }
            ScenarioStep::Switch { value, cases } => {
                let value = self.text(value, Place::Text);
                let children = self.cases(cases, population);
                vec![
                    Item::new("SwitchController", "SwitchControllerGui", "Switch Controller")
                        .text("SwitchController.value", value)
                        .over(children),
                ]
            }
            ScenarioStep::Shuffle(branches) => {
                let children = branches.iter().enumerate().map(|(number, steps)| {
                    single_item(self.steps(steps, population, false), number + 1)
                });
                let children = children.collect();
                vec![
                    Item::new(
                        "RandomOrderController",
                        "RandomOrderControllerGui",
                        "Random Order Controller",
                    )
                    .over(children),
                ]
            }
            ScenarioStep::During { seconds, steps } => {
                let item = Item::new("RunTime", "RunTimeGui", "Runtime Controller")
                    .text("RunTime.seconds", self.text(seconds, Place::Text));
                self.nest(item, steps, population)
            }
            ScenarioStep::Lock { name, steps } => {
                let name = self.text(name, Place::Text);
                let item = Item::new(
                    "CriticalSectionController",
                    "CriticalSectionControllerGui",
                    "Critical Section Controller",
                )
                .text("CriticalSectionController.lockName", name);
                self.nest(item, steps, population)
            }
            ScenarioStep::Choose { order, portion, branches } => {
                if *portion == Portion::Turn {
                    let name = &population.name;
                    self.notice(format!(
                        "population {name}: in JMeter each sampler ends the turn of its branch"
                    ));
                }
                self.choose(*order, *portion, branches, population)
            }
            ScenarioStep::Resumable(steps) => self.steps(steps, population, false),
            ScenarioStep::Set { variable, value } => {
                // A pre-processor runs only with a sampler, here a pause of 0 ms.
                let set = self.set("JSR223PreProcessor", variable, value);
                vec![action(&format!("set {variable}"), 1, 0, "0").over(vec![set])]
            }
            ScenarioStep::Row(number) => population
                .scenario
                .data
                .get(*number as usize)
                .map(|file| self.data(file))
                .into_iter()
                .collect(),
            ScenarioStep::Count(counter) => vec![self.counter(counter)],
            ScenarioStep::Script(script) => {
                let item = self.script("JSR223PreProcessor", script);
                vec![action(&script.name, 1, 0, "0").over(vec![item])]
            }
            ScenarioStep::Sample(sample) => {
                let label = self.text(&sample.label, Place::Text);
                let mut item = match &sample.maker {
                    SampleMaker::Script(script) => self.script("JSR223Sampler", script),
                    SampleMaker::Variables => {
                        Item::new("DebugSampler", "TestBeanGUI", label.clone())
                            .flag("displayJMeterVariables", true)
                    }
                    SampleMaker::Fixed(fixed) => self.fixed_sample(&label, fixed),
                };
                let policy = self.policy(sample.reply_policy);
                let children = self.reactions(&policy, &label);
                item.name = label;
                vec![item.over(children)]
            }
            ScenarioStep::Once(steps) | ScenarioStep::OncePerLoop(steps) => self.nest(
                Item::new("OnceOnlyController", "OnceOnlyControllerGui", "Once Only Controller"),
                steps,
                population,
            ),
            ScenarioStep::Stop(scope) => match scope {
                EndScope::Nothing | EndScope::Turn => Vec::new(),
                EndScope::Iteration => vec![action("next iteration", 3, 0, "0")],
                EndScope::Round => vec![action("next round", 4, 0, "0")],
                EndScope::Loop => vec![action("break the loop", 5, 0, "0")],
                EndScope::User => vec![action("stop the thread", 0, 0, "0")],
                // Target 2 is the test, and target 0 the thread.
                EndScope::Run => vec![action("stop the test", 0, 2, "0")],
            },
        }
    }

    /// Exports the choice of one request from the list.
    fn next(&mut self, order: ListOrder, population: &Population) -> Vec<Item> {
        let requests = &population.scenario.requests;
        let weighted = requests.iter().enumerate().filter(|(_, request)| request.weight > 0);
        let branches: Vec<Branch> = weighted
            .map(|(number, request)| Branch {
                weight: request.weight,
                steps: vec![ScenarioStep::Request(number as u32)],
            })
            .collect();
        match &branches[..] {
            [only] => self.steps(&only.steps, population, false),
            _ => self.choose(order, Portion::Whole, &branches, population),
        }
    }

    fn choose(
        &mut self,
        order: ListOrder,
        portion: Portion,
        branches: &[Branch],
        population: &Population,
    ) -> Vec<Item> {
        // One branch with an empty alternative runs in a share of the
        // rounds: a Throughput Controller.
        if let ([branch, rest], ListOrder::Sequence | ListOrder::WalkTogether) = (branches, order)
            && rest.steps.is_empty()
        {
            let percent =
                100.0 * f64::from(branch.weight) / f64::from(branch.weight + rest.weight).max(1.0);
            let share = ConditionShare {
                value: percent.to_string(),
                percent: true,
                per_user: order == ListOrder::WalkTogether,
            };
            let children = self.steps(&branch.steps, population, false);
            return vec![throughput(&share, &share.value).over(children)];
        }
        let children = branches.iter().enumerate().map(|(number, branch)| {
            single_item(self.steps(&branch.steps, population, false), number + 1)
        });
        let children: Vec<Item> = children.collect();
        let is_even = branches.iter().all(|branch| branch.weight == branches[0].weight);
        let style = match portion {
            Portion::Whole | Portion::Nonempty => 1,
            Portion::Turn => 0,
        };
        let item = match order {
            ListOrder::Random if is_even => {
                Item::new("RandomController", "RandomControlGui", "Random Controller")
                    .number("InterleaveControl.style", style)
            }
            ListOrder::Random => {
                let all: u64 = branches.iter().map(|branch| u64::from(branch.weight)).sum();
                let mut limit = 0;
                let tests = branches.iter().enumerate().map(|(number, branch)| {
                    limit += u64::from(branch.weight);
                    if number + 1 == branches.len() {
                        number.to_string()
                    } else {
                        format!("n < {limit} ? {number} : ")
                    }
                });
                let tests: String = tests.collect();
                let value = format!("${{__groovy(int n = new Random().nextInt({all}); {tests},)}}");
                Item::new("SwitchController", "SwitchControllerGui", "by weight")
                    .text("SwitchController.value", value)
            }
            order => {
                if !is_even {
                    self.notice(format!(
                        "population {}: branches that take turns have equal weights in JMeter",
                        population.name
                    ));
                }
                if !matches!(order, ListOrder::Sequence | ListOrder::WalkTogether) {
                    self.notice(format!(
                        "population {}: each thread goes through its branches from the first on",
                        population.name
                    ));
                }
                Item::new("InterleaveControl", "InterleaveControlGui", "Interleave Controller")
                    .number("InterleaveControl.style", style)
                    // JMeter itself misspells this property.
                    .flag("InterleaveControl.accrossThreads", order == ListOrder::Sequence)
            }
        };
        vec![item.over(children)]
    }

    fn for_each(
        &mut self,
        variable: &str,
        values: &LoopValues,
        steps: &[ScenarioStep],
        population: &Population,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        let (prefix, after, last) = match values {
            LoopValues::Numbered { prefix, after, last } => {
                (prefix.clone(), after.clone(), last.clone())
            }
            LoopValues::List(values) => {
                let prefix = format!("{variable}_of_list_");
                for (number, value) in values.iter().enumerate() {
                    let set = ScenarioStep::Set {
                        variable: format!("{prefix}{}", number + 1),
                        value: value.clone(),
                    };
                    items.extend(self.step(&set, population));
                }
                (prefix, String::new(), values.len().to_string())
            }
        };
        let (input, separator) =
            prefix.strip_suffix('_').map_or((prefix.as_str(), false), |input| (input, true));
        let item = Item::new("ForeachController", "ForeachControlPanel", "ForEach Controller")
            .text("ForeachController.inputVal", self.text(input, Place::Text))
            .text("ForeachController.returnVal", variable)
            .flag("ForeachController.useSeparator", separator);
        let item = if after.is_empty() {
            item
        } else {
            item.text("ForeachController.startIndex", self.text(&after, Place::Text))
        };
        let item = if last.is_empty() {
            item
        } else {
            item.text("ForeachController.endIndex", self.text(&last, Place::Text))
        };
        let children = self.steps(steps, population, false);
        items.push(item.over(children));
        items
    }

    fn cases(&mut self, cases: &[SwitchCase], population: &Population) -> Vec<Item> {
        let has_default = cases.iter().any(|case| case.names.is_empty());
        let mut items = Vec::new();
        for case in cases {
            // Two children would have the name `default`, which JMeter selects for all other
            // values.
            if has_default && case.names.iter().any(|name| name.eq_ignore_ascii_case("default")) {
                continue;
            }
            let non_number = case.names.iter().find(|name| !name.is_empty() && !is_number(name));
            let name = non_number.or(case.names.first()).map_or("default", String::as_str);
            if case
                .names
                .iter()
                .filter(|name| is_number(name))
                .any(|number| *number != items.len().to_string())
            {
                self.notice(format!(
                    "population {}: a Switch Controller takes numbers as places, from 0: case {name}",
                    population.name
                ));
            }
            let children = self.steps(&case.steps, population, false);
            let name = self.text(name, Place::Text);
            // A Switch Controller selects its child by name.
            let has_case_name = children.len() == 1 && children[0].name == name;
            items.push(if has_case_name {
                single_item(children, 1)
            } else {
                simple(&name, children)
            });
        }
        items
    }

    fn data(&mut self, file: &DataFile) -> Item {
        let name = self.file(&file.file);
        let delimiter = match file.format {
            DataFormat::Csv { delimiter: '\t', .. } => r"\t".to_owned(),
            DataFormat::Csv { delimiter, .. } => delimiter.to_string(),
            DataFormat::JsonLines => {
                self.notice(format!("data file {name}: JMeter reads CSV only; write it as CSV"));
                ",".to_owned()
            }
        };
        if file.order == RowOrder::Random {
            self.notice(format!("data file {name}: JMeter takes its rows in order"));
        }
        if file.at_end == DataEnd::StopRun {
            self.notice(format!(
                "data file {name}: after its last row each thread stops, and the test with the last thread"
            ));
        }
        let share = match file.shared {
            Sharing::All => "shareMode.all",
            Sharing::Population => "shareMode.group",
            Sharing::User => "shareMode.thread",
        };
        Item::new("CSVDataSet", "TestBeanGUI", name.clone())
            .text("filename", name)
            .text("fileEncoding", if file.encoding.is_empty() { "UTF-8" } else { &file.encoding })
            .text("variableNames", file.names.join(","))
            .flag("ignoreFirstLine", file.skip_first)
            .text("delimiter", delimiter)
            .flag("quotedData", matches!(file.format, DataFormat::Csv { quoted: true, .. }))
            .flag("recycle", file.at_end == DataEnd::Again)
            .flag("stopThread", matches!(file.at_end, DataEnd::StopUser | DataEnd::StopRun))
            .text("shareMode", share)
    }

    fn counter(&mut self, counter: &VariableCounter) -> Item {
        let mut item = Item::new("CounterConfig", "CounterConfigGui", &counter.variable)
            .text("CounterConfig.name", &counter.variable);
        // JMeter reads an empty number as 0.
        let texts = [
            ("start", &counter.start, "0"),
            ("end", &counter.end, ""),
            ("incr", &counter.step, "1"),
            ("format", &counter.format, ""),
        ];
        for (name, text, default) in texts {
            let text =
                if text.is_empty() { default.to_owned() } else { self.text(text, Place::Text) };
            if text.is_empty() {
                continue;
            }
            item = item.text(&format!("CounterConfig.{name}"), text);
        }
        item.flag("CounterConfig.per_user", counter.per_user)
            .flag("CounterConfig.reset_on_tg_iteration", counter.resets)
    }

    /// Exports a condition as a text that evaluates to `true` if it holds.
    fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::True(text) => self.text(text, Place::Text),
            Condition::Succeeded => "${JMeterThread.last_sample_ok}".to_owned(),
            other => {
                let source = self.groovy_condition(other);
                groovy_call(&source)
            }
        }
    }

    fn groovy_condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Failed => "vars.get('JMeterThread.last_sample_ok') == 'false'".to_owned(),
            Condition::Succeeded => "vars.get('JMeterThread.last_sample_ok') != 'false'".to_owned(),
            // In JMeter, the code of a failed connection is a text and not a number.
            Condition::Status(least, most) => {
                format!(
                    "(prev != null && prev.getResponseCode().isInteger() && prev.getResponseCode().toInteger() >= {least} && prev.getResponseCode().toInteger() <= {most})"
                )
            }
            Condition::Equals(variable, value) => {
                format!(
                    "{} == {}",
                    self.groovy_text(&format!("${{{variable}}}")),
                    self.groovy_text(value)
                )
            }
            Condition::Same(one, other) => {
                format!("({}) == ({})", self.groovy_text(one), self.groovy_text(other))
            }
            Condition::Any(all) => {
                let all: Vec<String> = all.iter().map(|one| self.groovy_condition(one)).collect();
                format!("({})", all.join(" || "))
            }
            Condition::True(text) => {
                format!("({}).trim().equalsIgnoreCase('true')", self.groovy_text(text))
            }
            Condition::False(text) => {
                format!("({}).trim().equalsIgnoreCase('false')", self.groovy_text(text))
            }
            Condition::Matches(text, pattern) => {
                format!("(({}) =~ ({})).find()", self.groovy_text(text), self.groovy_text(pattern))
            }
            Condition::Not(inner) => format!("!({})", self.groovy_condition(inner)),
            Condition::Share(_) => "true".to_owned(),
        }
    }
}

fn is_number(name: &str) -> bool {
    name.parse::<u32>().is_ok()
}

fn throughput(share: &ConditionShare, value: &str) -> Item {
    let (percent, most) = if share.percent { (value, "1") } else { ("100", value) };
    Item::new("ThroughputController", "ThroughputControllerGui", "Throughput Controller")
        .number("ThroughputController.style", i64::from(share.percent))
        .flag("ThroughputController.perThread", share.per_user)
        .with(Prop::Text("ThroughputController.maxThroughput".into(), most.into()))
        .with(Prop::Text("ThroughputController.percentThroughput".into(), percent.into()))
}
