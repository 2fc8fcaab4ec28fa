//! Exports pauses as timers.

use super::super::PlanWriter;
use super::super::xml::Item;
use crate::support::ElementKind;
use crate::support::kinds::{
    ConstantThroughputTimer, ConstantTimer, FlowControlAction, GaussianTimer, PoissonTimer,
    SynchronizingTimer, UniformTimer,
};
use brunt_model::load::ThinkTime;
use brunt_model::scenario::{PaceScope, RatePause, Script};
use brunt_script::expression::{self, TextPart};
use brunt_script::template::expression_text;

/// A pause in JMeter.
pub(super) enum Pause {
    /// A timer, which runs before a sampler.
    Timer(Item),
    /// A Flow Control Action.
    Action(Item),
}

impl PlanWriter<'_> {
    /// Exports a think time as a timer; None if it is zero.
    pub(in crate::export) fn think_timer(&mut self, think: ThinkTime) -> Option<Item> {
        let delay = think.least.as_millis().to_string();
        let range = think.most.saturating_sub(think.least).as_millis();
        match (think.most.as_millis(), range) {
            (0, _) => None,
            (_, 0) => Some(self.unnamed(ElementKind::ConstantTimer, ConstantTimer { delay })),
            (_, range) => {
                let fields = UniformTimer { range: range.to_string(), delay };
                Some(self.unnamed(ElementKind::UniformTimer, fields))
            }
        }
    }

    pub(super) fn think(&mut self, think: ThinkTime) -> Pause {
        match self.think_timer(think) {
            Some(timer) => Pause::Timer(timer),
            None => Pause::Action(self.pause("0")),
        }
    }

    pub(super) fn scripted_pause(&mut self, script: &Script) -> Pause {
        Pause::Timer(self.script(ElementKind::Jsr223Timer, script))
    }

    /// Exports a pause, as a Flow Control Action if its duration is computed from a text.
    pub(super) fn timed_pause(&mut self, text: &str) -> Pause {
        let text = text.trim();
        if text.parse::<f64>().is_ok() {
            let delay = text.to_owned();
            return Pause::Timer(self.unnamed(ElementKind::ConstantTimer, ConstantTimer { delay }));
        }
        if let [TextPart::Call { name, arguments, .. }] = &expression::parse(text)[..]
            && let [range, delay] = &arguments[..]
        {
            let range = expression_text(range);
            let delay = expression_text(delay);
            let timer = match name.as_str() {
                "uniform" => self.unnamed(ElementKind::UniformTimer, UniformTimer { range, delay }),
                "gaussian" => {
                    self.unnamed(ElementKind::GaussianTimer, GaussianTimer { range, delay })
                }
                "poisson" => self.unnamed(ElementKind::PoissonTimer, PoissonTimer { range, delay }),
                _ => return Pause::Action(self.pause(text)),
            };
            return Pause::Timer(timer);
        }
        Pause::Action(self.pause(text))
    }

    pub(super) fn pace(&mut self, pace: &RatePause) -> Pause {
        let mode = match pace.by {
            PaceScope::User => "0",
            PaceScope::ShareOfAll => "1",
            PaceScope::ShareOfPopulation => "2",
            PaceScope::All => "3",
            PaceScope::Population => "4",
        };
        if !pace.schedule.is_empty() {
            self.notice(
                "a rate that changes over time is left out; JMeter has it in a plugin alone"
                    .to_owned(),
            );
        }
        let fields =
            ConstantThroughputTimer { per_minute: pace.per_minute.clone(), mode: mode.to_owned() };
        Pause::Timer(self.unnamed(ElementKind::ConstantThroughputTimer, fields))
    }

    pub(super) fn meeting(&mut self, users: &str, timeout: &str) -> Pause {
        // JMeter waits without limit for a timeout of 0.
        let timeout = if timeout.trim().is_empty() { "0" } else { timeout.trim() };
        let fields = SynchronizingTimer { users: users.to_owned(), timeout: timeout.to_owned() };
        Pause::Timer(self.unnamed(ElementKind::SynchronizingTimer, fields))
    }

    /// A Flow Control Action.
    pub(super) fn action(&mut self, name: &str, action: i64, target: i64, duration: &str) -> Item {
        let fields = FlowControlAction { action, target, duration: duration.to_owned() };
        self.item(ElementKind::FlowControlAction, name, fields)
    }

    /// A Flow Control Action that pauses for a number of milliseconds.
    pub(super) fn pause(&mut self, millis: &str) -> Item {
        self.action("pause", 1, 0, millis)
    }
}
