//! Exports steps as controllers and samplers.
//!
//! `pauses`: timers. `conditions`, `branches`: controllers that choose. `data`: files and counters.

mod branches;
mod conditions;
mod data;
mod pauses;

use super::xml::Item;
use super::{Place, PlanWriter, requests};
use crate::support::ElementKind;
use crate::support::kinds::{
    CriticalSectionController, DebugSampler, ForeachController, LoopController, OnceOnlyController,
    RuntimeController, TransactionController,
};
use brunt_model::Population;
use brunt_model::scenario::{
    EndScope, LoopValues, Pauses, Rounds, SampleMaker, ScenarioStep, ScriptSample,
};
use pauses::Pause;

/// A step in JMeter.
enum Exported {
    /// Elements in the place of the step.
    Items(Vec<Item>),
    /// A pause, which becomes a timer of the request after it.
    Pause(Pause),
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

fn simple(name: &str, children: Vec<Item>) -> Item {
    Item::of(ElementKind::SimpleController, name, []).over(children)
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
                other => match self.step(other, population) {
                    Exported::Items(exported) => items.extend(exported),
                    Exported::Pause(Pause::Timer(timer)) if before_request => timers.push(timer),
                    Exported::Pause(Pause::Timer(timer)) => {
                        items.push(self.without_sampler(other, timer));
                    }
                    Exported::Pause(Pause::Action(pause)) => {
                        if !timers.is_empty() {
                            items.push(self.pause("0").over(std::mem::take(&mut timers)));
                        }
                        items.push(pause);
                    }
                },
            }
        }
        items
    }

    /// A timer that no request follows. It runs only with a sampler, here a pause of 0 ms.
    fn without_sampler(&mut self, step: &ScenarioStep, timer: Item) -> Item {
        match step {
            ScenarioStep::Think(think) if think.least == think.most => {
                self.pause(&think.least.as_millis().to_string())
            }
            _ => self.pause("0").over(vec![timer]),
        }
    }

    /// Adds the steps as children of an element.
    fn nest(&mut self, item: Item, steps: &[ScenarioStep], population: &Population) -> Item {
        let children = self.steps(steps, population, false);
        item.over(children)
    }

    fn step(&mut self, step: &ScenarioStep, population: &Population) -> Exported {
        let item = match step {
            // The list of steps exports requests. JMeter counts samples by itself.
            ScenarioStep::Request(_) | ScenarioStep::CountInTransactions(_) => {
                return Exported::Items(Vec::new());
            }
            // It has no effect, and comes from an action around a timer or a script.
            ScenarioStep::Pause(text) if text.trim() == "0" => return Exported::Items(Vec::new()),
            ScenarioStep::Think(think) => return Exported::Pause(self.think(*think)),
            ScenarioStep::Pause(text) => return Exported::Pause(self.timed_pause(text)),
            ScenarioStep::PauseByScript(script) => {
                return Exported::Pause(self.scripted_pause(script));
            }
            ScenarioStep::Pace(pace) => return Exported::Pause(self.pace(pace)),
            ScenarioStep::Meet { users, timeout } => {
                return Exported::Pause(self.meeting(users, timeout));
            }
            ScenarioStep::Modify(_) => {
                self.notice(format!(
                    "population {}: a change of a request by the last reply is left out",
                    population.name
                ));
                return Exported::Items(Vec::new());
            }
            ScenarioStep::Next(order) => return Exported::Items(self.next(*order, population)),
            ScenarioStep::Resumable(steps) => {
                return Exported::Items(self.steps(steps, population, false));
            }
            ScenarioStep::Choose { order, portion, branches } => {
                return Exported::Items(self.choose(*order, *portion, branches, population));
            }
            ScenarioStep::ForEach { variable, values, steps } => {
                return Exported::Items(self.for_each(variable, values, steps, population));
            }
            ScenarioStep::Stop(scope) => {
                return Exported::Items(self.stop(*scope).into_iter().collect());
            }
            ScenarioStep::Row(number) => {
                let file = population.scenario.data.get(*number as usize);
                return Exported::Items(file.map(|file| self.data(file)).into_iter().collect());
            }
            ScenarioStep::If { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, population)
            }
            ScenarioStep::Switch { value, cases } => self.switch(value, cases, population),
            ScenarioStep::Shuffle(branches) => self.shuffle(branches, population),
            ScenarioStep::Count(counter) => self.counter(counter),
            ScenarioStep::Sample(sample) => self.sample(sample),
            ScenarioStep::Set { variable, value } => {
                // A pre-processor runs only with a sampler, here a pause of 0 ms.
                let set = self.set(ElementKind::Jsr223PreProcessor, variable, value);
                self.action(&format!("set {variable}"), 1, 0, "0").over(vec![set])
            }
            ScenarioStep::Script(script) => {
                let item = self.script(ElementKind::Jsr223PreProcessor, script);
                self.action(&script.name, 1, 0, "0").over(vec![item])
            }
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
                let fields = TransactionController {
                    has_parent: *parent,
                    includes_timers: *pauses == Pauses::Included,
                };
                let item = self.item(ElementKind::TransactionController, name, fields);
                self.nest(item, steps, population)
            }
            ScenarioStep::Loop { times, steps } => {
                let loops = match times {
                    None => "-1".to_owned(),
                    Some(Rounds::Number(times)) => times.to_string(),
                    Some(Rounds::Text(times)) => times.clone(),
                };
                let fields = LoopController { loops, continues_forever: true };
                let item = self.unnamed(ElementKind::LoopController, fields);
                self.nest(item, steps, population)
            }
            ScenarioStep::While { condition, steps, .. } => {
                let item = self.while_loop(condition);
                self.nest(item, steps, population)
            }
            ScenarioStep::During { seconds, steps } => {
                let fields = RuntimeController { seconds: seconds.clone() };
                let item = self.unnamed(ElementKind::RuntimeController, fields);
                self.nest(item, steps, population)
            }
            ScenarioStep::Lock { name, steps } => {
                let fields = CriticalSectionController { lock: name.clone() };
                let item = self.unnamed(ElementKind::CriticalSectionController, fields);
                self.nest(item, steps, population)
            }
            ScenarioStep::Once(steps) | ScenarioStep::OncePerLoop(steps) => {
                let item = self.unnamed(ElementKind::OnceOnlyController, OnceOnlyController {});
                self.nest(item, steps, population)
            }
        };
        Exported::Items(vec![item])
    }

    fn stop(&mut self, scope: EndScope) -> Option<Item> {
        Some(match scope {
            EndScope::Nothing | EndScope::Turn => return None,
            EndScope::Iteration => self.action("next iteration", 3, 0, "0"),
            EndScope::Round => self.action("next round", 4, 0, "0"),
            EndScope::Loop => self.action("break the loop", 5, 0, "0"),
            EndScope::User => self.action("stop the thread", 0, 0, "0"),
            // Target 2 is the test, and target 0 the thread.
            EndScope::Run => self.action("stop the test", 0, 2, "0"),
        })
    }

    fn sample(&mut self, sample: &ScriptSample) -> Item {
        let label = self.text(&sample.label, Place::Text);
        let mut item = match &sample.maker {
            SampleMaker::Script(script) => self.script(ElementKind::Jsr223Sampler, script),
            SampleMaker::Variables => self.unnamed(ElementKind::DebugSampler, DebugSampler {}),
            SampleMaker::Fixed(fixed) => self.fixed_sample(&label, fixed),
        };
        let policy = self.policy(sample.reply_policy);
        let children = self.reactions(&policy, &label);
        item.name = label;
        item.over(children)
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
                    items.extend(self.steps(&[set], population, false));
                }
                (prefix, String::new(), values.len().to_string())
            }
        };
        let (input, separator) =
            prefix.strip_suffix('_').map_or((prefix.as_str(), false), |input| (input, true));
        let fields = ForeachController {
            input: input.to_owned(),
            after,
            last,
            variable: variable.to_owned(),
            has_separator: separator,
        };
        let item = self.unnamed(ElementKind::ForeachController, fields);
        let children = self.steps(steps, population, false);
        items.push(item.over(children));
        items
    }
}
