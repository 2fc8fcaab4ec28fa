//! Converts timers to pauses before a request.

use super::PlanReader;
use super::texts::{error_at, number_of};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use brunt_model::scenario::{PaceScope, PaceStage, RatePause, ScenarioStep};
use brunt_script::template::call_of;

impl PlanReader<'_> {
    /// Converts a timer to a step.
    ///
    /// # Errors
    ///
    /// Fails if a number that must be known before the run is invalid.
    pub(super) fn timer(
        &mut self,
        timer: TestElement<'_>,
    ) -> Result<Option<ScenarioStep>, JmxError> {
        let mut delay = self.text(timer, "ConstantTimer.delay");
        if Self::is_constant(&delay) {
            // JMeter reads a delay that is not a whole number as 0.
            delay = self.whole_number_of(timer, "ConstantTimer.delay", &delay).to_string();
        }
        let range = self.text(timer, "RandomTimer.range");
        Ok(match timer.kind() {
            Some(ElementKind::ConstantTimer) => Some(ScenarioStep::Pause(delay)),
            Some(ElementKind::GaussianTimer) => Some(random_pause("gaussian", &range, &delay)),
            Some(ElementKind::UniformTimer) => Some(random_pause("uniform", &range, &delay)),
            Some(ElementKind::PoissonTimer) => Some(random_pause("poisson", &range, &delay)),
            Some(ElementKind::ConstantThroughputTimer) => {
                let per_minute = self.text(timer, "throughput");
                let is_zero = Self::is_constant(&per_minute)
                    && per_minute.trim().parse().is_ok_and(|rate: f64| rate <= 0.0);
                if is_zero || per_minute.trim().is_empty() {
                    self.notice(format!(
                        "{}: nothing is sent, as in JMeter: its throughput is 0",
                        timer.place()
                    ));
                }
                Some(pace(timer, per_minute, self.calculation(timer)?))
            }
            Some(ElementKind::PreciseThroughputTimer) => {
                // A period of 0 would make the rate infinite.
                let period = self.number(timer, "throughputPeriod", 3600.0)?.max(1e-3);
                // The plan has a rate per period, a pace has one per minute.
                let per_minute = self.number(timer, "throughput", 100.0)? * 60.0 / period;
                self.notice(format!(
                    "{}: arrivals are evenly spaced instead of at random",
                    timer.place()
                ));
                Some(pace(timer, per_minute.to_string(), PaceScope::Population))
            }
            Some(ElementKind::ThroughputShapingTimer) => {
                let schedule = self.rates(timer)?;
                let pace = RatePause {
                    per_minute: "0".into(),
                    by: PaceScope::All,
                    shared: timer.place(),
                    schedule,
                };
                (!pace.schedule.is_empty()).then_some(ScenarioStep::Pace(pace))
            }
            Some(ElementKind::SynchronizingTimer) => {
                let size = match self.text(timer, "groupSize") {
                    // JMeter takes 0 as the number of threads of the group.
                    text if text.is_empty() => "0".to_owned(),
                    size => size,
                };
                let timeout = match self.text(timer, "timeoutInMs") {
                    text if text.is_empty() => "0".to_owned(),
                    timeout => timeout,
                };
                Some(ScenarioStep::Meet { users: size, timeout })
            }
            Some(
                ElementKind::Jsr223Timer | ElementKind::BeanShellTimer | ElementKind::BsfTimer,
            ) => self.script(timer, "script")?.script().map(ScenarioStep::PauseByScript),
            _ => None,
        })
    }

    /// Rows of a schedule: initial rate, final rate and duration.
    fn rates(&self, timer: TestElement<'_>) -> Result<Vec<PaceStage>, JmxError> {
        let mut schedule = Vec::new();
        for row in timer.properties().items("load_profile") {
            let mut cells = Vec::new();
            for cell in row.items() {
                let value = self.before.text(&cell.text());
                cells.push(number_of(timer, "load_profile", &value, 0.0)?.to_string());
            }
            let Ok([from, to, seconds]) = <[String; 3]>::try_from(cells) else {
                return Err(error_at(timer, "a row needs a first rate, a last rate and a time"));
            };
            schedule.push(PaceStage { from, to, seconds });
        }
        Ok(schedule)
    }

    fn calculation(&self, timer: TestElement<'_>) -> Result<PaceScope, JmxError> {
        let mode = self.value(timer, "calcMode");
        let words = [
            "this thread only",
            "all active threads",
            "all active threads in current thread group",
        ];
        let shared =
            ["all active threads (shared)", "all active threads in current thread group (shared)"];
        // A plan has the number of a mode, or its English label.
        let index =
            words.iter().chain(&shared).position(|word| word.eq_ignore_ascii_case(mode.trim()));
        let number = match index {
            Some(number) => number,
            None => number_of(timer, "calcMode", &mode, 0.0)? as usize,
        };
        Ok(match number {
            0 => PaceScope::User,
            1 => PaceScope::ShareOfAll,
            2 => PaceScope::ShareOfPopulation,
            3 => PaceScope::All,
            _ => PaceScope::Population,
        })
    }
}

fn random_pause(function: &str, range: &str, delay: &str) -> ScenarioStep {
    ScenarioStep::Pause(call_of(function, &[range, delay]).unwrap_or_else(|| delay.to_owned()))
}

/// A pace. Its key is the timer's place, because one timer paces all samplers
/// in its scope together.
fn pace(timer: TestElement<'_>, per_minute: String, by: PaceScope) -> ScenarioStep {
    ScenarioStep::Pace(RatePause { per_minute, by, shared: timer.place(), schedule: Vec::new() })
}
