//! Timers as pauses before a request.

use super::Reader;
use super::texts::number_of;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use brunt_model::scenario::{Pace, PaceOf, Script, ScriptLanguage, Step};
use brunt_script::template::call_of;

impl Reader<'_> {
    /// The step of a timer.
    ///
    /// # Errors
    ///
    /// A number that must be known before the run is none.
    pub(super) fn timer(&mut self, timer: TestElement<'_>) -> Result<Option<Step>, JmxError> {
        let delay = self.text(timer, "ConstantTimer.delay");
        let range = self.text(timer, "RandomTimer.range");
        let drawn = |function: &str| call_of(function, &[&range, &delay]).unwrap_or_else(|| delay.clone());
        Ok(match timer.kind() {
            Some(ElementKind::ConstantTimer) => Some(Step::Pause(delay)),
            Some(ElementKind::GaussianTimer) => Some(Step::Pause(drawn("gaussian"))),
            Some(ElementKind::UniformTimer) => Some(Step::Pause(drawn("uniform"))),
            Some(ElementKind::PoissonTimer) => Some(Step::Pause(drawn("poisson"))),
            Some(ElementKind::ConstantThroughputTimer) => {
                Some(Step::Pace(Pace { per_minute: self.text(timer, "throughput"), by: self.calculation(timer)? }))
            }
            Some(ElementKind::PreciseThroughputTimer) => {
                let period = self.number(timer, "throughputPeriod", 3600.0)?.max(1e-3);
                let per_minute = self.number(timer, "throughput", 100.0)? * 60.0 / period;
                self.notice(format!("{}: arrivals are evenly spaced instead of at random", timer.place()));
                Some(Step::Pace(Pace { per_minute: per_minute.to_string(), by: PaceOf::Population }))
            }
            Some(ElementKind::SynchronizingTimer) => {
                let size = match self.text(timer, "groupSize") {
                    absent if absent.is_empty() => "0".to_owned(),
                    size => size,
                };
                let timeout = match self.text(timer, "timeoutInMs") {
                    absent if absent.is_empty() => "0".to_owned(),
                    timeout => timeout,
                };
                Some(Step::Meet { users: size, timeout })
            }
            Some(ElementKind::Jsr223Timer | ElementKind::BeanShellTimer) => {
                let Some(mut script) = self.script(timer, "script")? else { return Ok(None) };
                // What the script returns is the pause; scripts of steps pause by themselves.
                if matches!(script.language, ScriptLanguage::Groovy | ScriptLanguage::Beanshell) {
                    script = paused(script);
                }
                Some(Step::Script(script))
            }
            _ => None,
        })
    }

    fn calculation(&self, timer: TestElement<'_>) -> Result<PaceOf, JmxError> {
        let mode = self.filled(timer, "calcMode");
        let words = ["this thread only", "all active threads", "all active threads in current thread group"];
        let shared = ["all active threads (shared)", "all active threads in current thread group (shared)"];
        let known = words.iter().chain(&shared).position(|word| word.eq_ignore_ascii_case(mode.trim()));
        let number = match known {
            Some(number) => number,
            None => number_of(timer, "calcMode", &mode, 0.0)? as usize,
        };
        Ok(match number {
            0 => PaceOf::User,
            1 => PaceOf::ShareOfAll,
            2 => PaceOf::ShareOfPopulation,
            3 => PaceOf::All,
            _ => PaceOf::Population,
        })
    }
}

/// A script whose value is a pause in milliseconds.
fn paused(script: Script) -> Script {
    let source = format!("def bruntPause = {{ ->\n{}\n}}\nsleep((bruntPause() ?: 0) as long)", script.source);
    Script { source, language: ScriptLanguage::Groovy, ..script }
}
