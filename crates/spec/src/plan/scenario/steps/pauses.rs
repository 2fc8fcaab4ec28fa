//! Pauses: `think`, `pace` and `meet`.

use super::{StepForm, StepNode};
use crate::error::{Result, SpecError};
use crate::plan::scenario::Reader;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::words::Scalar;
use crate::words::{duration, number, think};
use brunt_model::scenario::{Pace, PaceOf, Step};
use schemars::JsonSchema;
use serde::Deserialize;

/// A pause.
#[derive(Deserialize, JsonSchema)]
pub struct ThinkStep {
    /// Length of the pause: `1s`, `1s..3s`, `normal 1s 200ms` or `exponential 2s`.
    think: Scalar,
}

impl StepForm for ThinkStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["think"]);

    fn read(self, _: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        Ok(vec![pause(&self.think.0).map_err(|error| step.error(error))?])
    }
}

/// A pause: from one time to another, or drawn from a distribution.
fn pause(text: &str) -> Result<Step> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["normal", mean, deviation] => {
            Ok(Step::Pause(format!("${{gaussian({},{})}}", millis(deviation)?, millis(mean)?)))
        }
        ["exponential", mean] => Ok(Step::Pause(format!("${{exponential({})}}", millis(mean)?))),
        _ if text.contains("${") => Ok(Step::Pause(text.to_owned())),
        _ => Ok(Step::Think(think::parse(text)?)),
    }
}

fn millis(word: &str) -> Result<f64> {
    Ok(duration::parse(word)?.as_secs_f64() * 1e3)
}

/// A pause that keeps users to a rate.
#[derive(Deserialize, JsonSchema)]
pub struct PaceStep {
    /// The rate, such as `10/s` or `600/min`. A text with `${…}` is a rate per minute: `${rate}/min`.
    pace: Scalar,
    /// Whose rate it is. Default: each user's.
    by: Option<PaceOf>,
}

impl StepForm for PaceStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["pace"]);

    fn read(self, _: &mut Reader<'_>, step: &StepNode<'_>) -> Result<Vec<Step>> {
        let per_minute = rate_per_minute(&self.pace.0).map_err(|wrong| step.error(SpecError::told(wrong)))?;
        let by = self.by.unwrap_or(PaceOf::User);
        Ok(vec![Step::Pace(Pace { per_minute, by, shared: String::new(), schedule: Vec::new() })])
    }
}

/// Returns the text of a rate per minute, or why `text` is none.
fn rate_per_minute(text: &str) -> Result<String, String> {
    let no_rate = || format!("`{text}` is no rate; write one such as 10/s or 600/min");
    let (value, unit) = text.rsplit_once('/').ok_or_else(no_rate)?;
    let value = value.trim();
    let factor = match unit.trim() {
        "s" => 60.0,
        "min" | "m" => 1.0,
        "h" => 1.0 / 60.0,
        _ => return Err(no_rate()),
    };
    if !value.contains("${") {
        let per_minute = number::number(value).map(|number| number * factor);
        return Ok(per_minute.filter(|rate| rate.is_finite()).ok_or_else(no_rate)?.to_string());
    }
    if factor == 1.0 {
        return Ok(value.to_owned());
    }
    Err(format!("`{text}`: an expression is a rate per minute; write {value}/min"))
}

/// A meeting of users.
#[derive(Deserialize, JsonSchema)]
pub struct MeetStep {
    /// Number of users of the population to wait for; 0: all.
    meet: Scalar,
}

impl StepForm for MeetStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["meet"]);

    fn read(self, _: &mut Reader<'_>, _: &StepNode<'_>) -> Result<Vec<Step>> {
        Ok(vec![Step::Meet { users: self.meet.0, timeout: String::new() }])
    }
}
