//! Pauses: `think`, `pace` and `meet`.

use super::{StepForm, StepNode, one};
use crate::error::{Result, SpecError};
use crate::plan::Yaml;
use crate::plan::scenario::ScenarioReader;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::write::{InexpressiblePart, Wording};
use crate::plan::words::Scalar;
use crate::plan::write::plan_time;
use crate::words::{duration, number, think};
use brunt_model::load::ThinkTime;
use brunt_model::scenario::{PaceScope, RatePause, ScenarioStep};
use brunt_script::expression::{self, TextPart};
use brunt_script::template::expression_text;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// A pause.
#[derive(Deserialize, JsonSchema)]
pub struct ThinkStep {
    /// Length of the pause: `1s`, `1s..3s`, `normal 1s 200ms` or `exponential 2s`.
    think: Scalar,
}

impl StepForm for ThinkStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["think"], "think: 1s");

    fn read(self, _: &mut ScenarioReader<'_>, step: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        Ok(vec![pause(&self.think.0).map_err(|error| step.error(error))?])
    }
}

/// Reads a pause: a fixed time, a range of times, or a time drawn from a distribution.
fn pause(text: &str) -> Result<ScenarioStep> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["normal", mean, deviation] => {
            // The function `gaussian` takes the deviation before the mean.
            Ok(ScenarioStep::Pause(format!(
                "${{gaussian({},{})}}",
                millis(deviation)?,
                millis(mean)?
            )))
        }
        ["exponential", mean] => {
            Ok(ScenarioStep::Pause(format!("${{exponential({})}}", millis(mean)?)))
        }
        _ if text.contains("${") => Ok(ScenarioStep::Pause(text.to_owned())),
        _ => Ok(ScenarioStep::Think(think::parse(text)?)),
    }
}

fn millis(word: &str) -> Result<f64> {
    Ok(duration::parse(word)?.as_secs_f64() * 1e3)
}

/// Writes a pause of a fixed time, or between two times.
pub fn write_think(range: &ThinkTime) -> Yaml {
    let [least, most] = [range.least, range.most].map(plan_time);
    one("think", if least == most { least } else { format!("{least}..{most}") })
}

/// Writes a pause from its milliseconds as a text. Returns None if there is no pause.
pub fn write_pause(text: &str, wording: &mut dyn Wording) -> Option<Yaml> {
    let text = text.trim();
    if let Ok(millis) = text.parse::<f64>() {
        // Plan files write times in whole milliseconds.
        return (millis >= 1.0).then(|| one("think", time_of(millis)));
    }
    if let Some(words) = random_pause(text) {
        return Some(one("think", words));
    }
    let pause = wording.text(text);
    // If the text stays as it is, it is no number, and JMeter does not wait.
    if pause.contains("${") && !pause.contains("\\${") {
        return Some(one("think", pause));
    }
    if !pause.is_empty() {
        wording.lose(InexpressiblePart::Pause(text));
    }
    None
}

/// Words for a pause that a function draws from a distribution.
fn random_pause(text: &str) -> Option<String> {
    let [TextPart::Call { name, arguments, .. }] = &expression::parse(text)[..] else {
        return None;
    };
    let numbers: Option<Vec<f64>> =
        arguments.iter().map(|argument| expression_text(argument).trim().parse().ok()).collect();
    match (name.as_str(), numbers.as_deref()) {
        // JMeter's Uniform Random Timer adds a random part up to `range` to a constant delay.
        ("uniform", Some([range, least])) if *least >= 1.0 => {
            Some(format!("{}..{}", time_of(*least), time_of(least + range)))
        }
        ("uniform", Some([range, _])) => Some(format!("0..{}", time_of(*range))),
        ("gaussian", Some([deviation, mean])) if *deviation >= 1.0 && *mean >= 1.0 => {
            Some(format!("normal {} {}", time_of(*mean), time_of(*deviation)))
        }
        _ => None,
    }
}

fn time_of(millis: f64) -> String {
    plan_time(Duration::try_from_secs_f64(millis / 1e3).unwrap_or_default())
}

/// A pause that keeps users to a rate.
#[derive(Deserialize, JsonSchema)]
pub struct PaceStep {
    /// The rate, such as `10/s` or `600/min`. A text with `${…}` is a rate per minute: `${rate}/min`.
    pace: Scalar,
    /// Whose rate it is. Default: each user's.
    by: Option<PaceScope>,
}

impl StepForm for PaceStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["pace"], "pace: 10/s");

    fn read(self, _: &mut ScenarioReader<'_>, step: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        let per_minute = rate_per_minute(&self.pace.0)
            .map_err(|wrong| step.error(SpecError::unplaced(wrong)))?;
        let by = self.by.unwrap_or(PaceScope::User);
        Ok(vec![ScenarioStep::Pace(RatePause {
            per_minute,
            by,
            shared: String::new(),
            schedule: Vec::new(),
        })])
    }
}

/// Returns the text of a rate per minute, or an error message.
fn rate_per_minute(text: &str) -> Result<String, String> {
    let (value, unit) = text.rsplit_once('/').ok_or_else(|| no_rate(text))?;
    let value = value.trim();
    let factor = match unit.trim() {
        "s" => 60.0,
        "min" | "m" => 1.0,
        // The model has rates per minute, as JMeter's Constant Throughput Timer.
        "h" => 1.0 / 60.0,
        _ => return Err(no_rate(text)),
    };
    if !value.contains("${") {
        let per_minute = number::number(value).map(|number| number * factor);
        return Ok(per_minute
            .filter(|rate| rate.is_finite())
            .ok_or_else(|| no_rate(text))?
            .to_string());
    }
    if factor == 1.0 {
        return Ok(value.to_owned());
    }
    // The unit cannot be converted before the expression is evaluated.
    Err(format!("`{text}`: an expression is a rate per minute; write {value}/min"))
}

fn no_rate(text: &str) -> String {
    format!("`{text}` is no rate; write one such as 10/s or 600/min")
}

/// Writes a pause that keeps users to a rate.
pub fn write_pace(pace: &RatePause, wording: &mut dyn Wording) -> Option<Yaml> {
    if !pace.schedule.is_empty() {
        wording.lose(InexpressiblePart::Schedule);
        return None;
    }
    let rate = format!("{}/min", wording.text(&pace.per_minute).trim());
    let by = match pace.by {
        // The default is not written.
        PaceScope::User => return Some(one("pace", rate)),
        PaceScope::ShareOfAll => "share_of_all",
        PaceScope::ShareOfPopulation => "share_of_population",
        PaceScope::All => "all",
        PaceScope::Population => "population",
    };
    Some(Yaml::map([("pace", Yaml::Text(rate)), ("by", Yaml::text(by))]))
}

/// A meeting of users.
#[derive(Deserialize, JsonSchema)]
pub struct MeetStep {
    /// Number of users of the population to wait for; 0: all.
    meet: Scalar,
}

impl StepForm for MeetStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["meet"], "meet: 2");

    fn read(self, _: &mut ScenarioReader<'_>, _: &StepNode<'_>) -> Result<Vec<ScenarioStep>> {
        Ok(vec![ScenarioStep::Meet { users: self.meet.0, timeout: String::new() }])
    }
}

/// Writes a meeting of users.
pub fn write_meet(users: &str, timeout: &str, wording: &mut dyn Wording) -> Yaml {
    // 0 is no limit in JMeter.
    if !matches!(timeout.trim(), "" | "0") {
        wording.lose(InexpressiblePart::MeetingTimeout);
    }
    one("meet", wording.text(users))
}
