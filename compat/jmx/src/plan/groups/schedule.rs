//! Parses the schedule of an Open Model Thread Group: `rate(10/sec)
//! random_arrivals(1 min) pause(5 s)`.

use brunt_model::load::{Arrivals, LoadStage};
use std::time::Duration;

/// Parses a schedule into stages with rates per second.
///
/// # Errors
///
/// Fails with the problem and its fix.
pub fn read(text: &str) -> Result<(Vec<LoadStage>, Arrivals), String> {
    let mut stages: Vec<LoadStage> = Vec::new();
    let mut arrivals = Arrivals::Poisson;
    let mut rate = 0.0;
    // A rate that follows arrivals is the final rate of their stage.
    let mut open = false;
    for (name, argument) in calls(&without_comments(text))? {
        match name.as_str() {
            "rate" => {
                let next = per_second(&argument)?;
                if let Some(last) = stages.last_mut().filter(|_| open) {
                    last.to = next;
                }
                rate = next;
                open = false;
            }
            "random_arrivals" | "even_arrivals" => {
                if name == "even_arrivals" {
                    arrivals = Arrivals::Even;
                }
                stages.push(LoadStage {
                    from: rate,
                    to: rate,
                    duration: Some(seconds(&argument)?),
                });
                open = true;
            }
            "pause" => {
                stages.push(LoadStage { from: 0.0, to: 0.0, duration: Some(seconds(&argument)?) });
                open = false;
            }
            other => {
                return Err(format!(
                    "`{other}` is not known in a schedule; write rate(10/sec), random_arrivals(1 min), even_arrivals(1 min) \
                     or pause(5 s)"
                ));
            }
        }
    }
    Ok((stages, arrivals))
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        out.push_str(line.split("//").next().unwrap_or_default());
        out.push('\n');
    }
    while let Some((before, rest)) = out.split_once("/*") {
        out = format!("{before} {}", rest.split_once("*/").map_or("", |(_, after)| after));
    }
    out
}

fn calls(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut calls = Vec::new();
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    while !rest.is_empty() {
        let call =
            rest.split_once('(').and_then(|(name, after)| Some((name, after.split_once(')')?)));
        let Some((name, (argument, after))) = call else {
            return Err(format!(
                "the schedule ends with `{}`; write such as rate(10/sec)",
                rest.trim()
            ));
        };
        calls.push((name.trim().to_ascii_lowercase(), argument.trim().to_owned()));
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    }
    Ok(calls)
}

fn per_second(text: &str) -> Result<f64, String> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let number: f64 =
        number.trim().parse().map_err(|_| format!("`{text}` is no rate; write such as 10/sec"))?;
    let unit = unit_seconds(unit.trim())
        .ok_or_else(|| format!("`{text}` is no rate; write such as 10/sec or 5/min"))?;
    Ok(number / unit)
}

fn time_error(text: &str) -> String {
    format!("`{text}` is no time; write such as 30 s, 1 min or 2 h")
}

fn seconds(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().map_err(|_| time_error(text))?;
    let unit = text[split..].trim();
    let unit = if unit.is_empty() { Some(1.0) } else { unit_seconds(unit) };
    let unit = unit.ok_or_else(|| time_error(text))?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| time_error(text))
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ms" | "millis" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_read() {
        let (stages, arrivals) =
            read("rate(10/sec) random_arrivals(1 min) rate(60/min) pause(5s) even_arrivals(2)")
                .unwrap();
        let shown: Vec<_> =
            stages.iter().map(|s| (s.from, s.to, s.duration.unwrap().as_secs())).collect();
        assert_eq!(shown, [(10.0, 1.0, 60), (0.0, 0.0, 5), (1.0, 1.0, 2)]);
        assert_eq!(arrivals, Arrivals::Even);
        assert_eq!(read(" // nothing\n/* at\n all */").unwrap().0, []);
        for (text, told) in [
            ("rate(x)", "is no rate"),
            ("rate(1/week)", "is no rate"),
            ("pause(soon)", "is no time"),
            ("jump(1)", "`jump` is not known"),
            ("rate(1", "the schedule ends with `rate(1`"),
        ] {
            assert!(read(text).unwrap_err().contains(told), "{text}");
        }
    }
}
