//! Converts timers to pauses before a request.

use super::PlanReader;
use super::texts::{error_at, number_of};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use crate::support::kinds::{
    ConstantThroughputTimer, ConstantTimer, GaussianTimer, PoissonTimer, PreciseThroughputTimer,
    SynchronizingTimer, ThroughputShapingTimer, UniformTimer,
};
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
        Ok(match timer.kind() {
            Some(ElementKind::ConstantTimer) => {
                let ConstantTimer { delay } = self.fields(timer)?;
                Some(ScenarioStep::Pause(self.delay(timer, delay)))
            }
            Some(ElementKind::GaussianTimer) => {
                let GaussianTimer { range, delay } = self.fields(timer)?;
                Some(self.random_pause(timer, "gaussian", &range, delay))
            }
            Some(ElementKind::UniformTimer) => {
                let UniformTimer { range, delay } = self.fields(timer)?;
                Some(self.random_pause(timer, "uniform", &range, delay))
            }
            Some(ElementKind::PoissonTimer) => {
                let PoissonTimer { range, delay } = self.fields(timer)?;
                Some(self.random_pause(timer, "poisson", &range, delay))
            }
            Some(ElementKind::ConstantThroughputTimer) => {
                let ConstantThroughputTimer { per_minute, mode } = self.fields(timer)?;
                let is_zero = Self::is_constant(&per_minute)
                    && per_minute.trim().parse().is_ok_and(|rate: f64| rate <= 0.0);
                if is_zero || per_minute.trim().is_empty() {
                    self.notice(format!(
                        "{}: nothing is sent, as in JMeter: its throughput is 0",
                        timer.place()
                    ));
                }
                Some(pace(timer, per_minute, pace_scope(timer, &mode)?))
            }
            Some(ElementKind::PreciseThroughputTimer) => {
                let PreciseThroughputTimer { throughput, period } = self.fields(timer)?;
                // A period of 0 would make the rate infinite. The plan has a rate per period, a
                // pace has one per minute.
                let per_minute = throughput * 60.0 / period.max(1e-3);
                self.notice(format!(
                    "{}: arrivals are evenly spaced instead of at random",
                    timer.place()
                ));
                Some(pace(timer, per_minute.to_string(), PaceScope::Population))
            }
            Some(ElementKind::ThroughputShapingTimer) => {
                let ThroughputShapingTimer { rows } = self.fields(timer)?;
                let schedule = self.rates(timer, rows)?;
                let pace = RatePause {
                    per_minute: "0".into(),
                    by: PaceScope::All,
                    shared: timer.place(),
                    schedule,
                };
                (!pace.schedule.is_empty()).then_some(ScenarioStep::Pace(pace))
            }
            Some(ElementKind::SynchronizingTimer) => {
                // JMeter takes 0 users as the number of threads of the group.
                let SynchronizingTimer { users, timeout } = self.fields(timer)?;
                Some(ScenarioStep::Meet { users, timeout })
            }
            Some(
                ElementKind::Jsr223Timer | ElementKind::BeanShellTimer | ElementKind::BsfTimer,
            ) => self.script(timer)?.script().map(ScenarioStep::PauseByScript),
            _ => None,
        })
    }

    /// A delay in milliseconds. JMeter reads a text that is no whole number as 0.
    fn delay(&mut self, timer: TestElement<'_>, delay: String) -> String {
        if !Self::is_constant(&delay) {
            return delay;
        }
        self.whole_number_of(timer, "delay", &delay).to_string()
    }

    fn random_pause(
        &mut self,
        timer: TestElement<'_>,
        function: &str,
        range: &str,
        delay: String,
    ) -> ScenarioStep {
        let delay = self.delay(timer, delay);
        ScenarioStep::Pause(call_of(function, &[range, &delay]).unwrap_or(delay))
    }

    /// Rows of a schedule: initial rate, final rate and duration.
    fn rates(
        &self,
        timer: TestElement<'_>,
        rows: Vec<Vec<String>>,
    ) -> Result<Vec<PaceStage>, JmxError> {
        let rows = self.numbers(timer, rows, "a row needs a first rate, a last rate and a time")?;
        let stages = rows.into_iter().map(|row: [f64; 3]| {
            let [from, to, seconds] = row.map(|cell| cell.to_string());
            PaceStage { from, to, seconds }
        });
        Ok(stages.collect())
    }

    /// Numbers in the rows of a table, which have to have this many cells.
    pub(super) fn numbers<const CELLS: usize>(
        &self,
        element: TestElement<'_>,
        rows: Vec<Vec<String>>,
        message: &str,
    ) -> Result<Vec<[f64; CELLS]>, JmxError> {
        let mut all = Vec::new();
        for row in rows {
            let cells =
                row.iter().map(|cell| number_of(element, "cell", &self.before.text(cell), 0.0));
            let cells: Vec<f64> = cells.collect::<Result<_, _>>()?;
            all.push(cells.try_into().map_err(|_| error_at(element, message))?);
        }
        Ok(all)
    }
}

/// Reads the scope of a pace: the number of a mode, or its English label.
fn pace_scope(timer: TestElement<'_>, mode: &str) -> Result<PaceScope, JmxError> {
    const WORDS: [&str; 5] = [
        "this thread only",
        "all active threads",
        "all active threads in current thread group",
        "all active threads (shared)",
        "all active threads in current thread group (shared)",
    ];
    let index = WORDS.iter().position(|word| word.eq_ignore_ascii_case(mode.trim()));
    let number = match index {
        Some(number) => number,
        None => number_of(timer, "calcMode", mode, 0.0)? as usize,
    };
    Ok(match number {
        0 => PaceScope::User,
        1 => PaceScope::ShareOfAll,
        2 => PaceScope::ShareOfPopulation,
        3 => PaceScope::All,
        _ => PaceScope::Population,
    })
}

/// A pace. Its key is the timer's place, because one timer paces all samplers
/// in its scope together.
fn pace(timer: TestElement<'_>, per_minute: String, by: PaceScope) -> ScenarioStep {
    ScenarioStep::Pace(RatePause { per_minute, by, shared: timer.place(), schedule: Vec::new() })
}
