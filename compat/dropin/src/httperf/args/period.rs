//! Start times of connections or sessions: `--rate` and `--period`.

use super::HttperfExit;
use super::numbers::{leading_real, real, short};
use brunt_model::{Arrivals, LoadShape, LoadStage};
use std::time::Duration;

/// Maximum number of parts of `--period=v`.
const MAX_PARTS: usize = 16;

/// Interval between the starts of connections or sessions, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Period {
    /// Each starts when the previous one ends.
    None,
    Fixed(f64),
    /// Uniformly distributed between two bounds.
    Uniform(f64, f64),
    /// Exponentially distributed with this mean.
    Exponential(f64),
    /// Parts of the run: interval and duration of each.
    Parts(Vec<(f64, f64)>),
}

impl Period {
    /// Interval for a number of starts per second.
    pub fn of_rate(rate: f64) -> Self {
        if rate > 0.0 { Self::Fixed(1.0 / rate) } else { Self::None }
    }

    /// Parses `[d|u|e|v]T1[,T2]…`.
    pub fn parse(text: &str) -> Result<Self, HttperfExit> {
        match text.chars().next() {
            Some('d') => Ok(Self::fixed(mean(&text[1..])?)),
            Some(c) if c.is_ascii_digit() || c == '.' => Ok(Self::fixed(mean(text)?)),
            Some('e') => Ok(match mean(&text[1..])? {
                0.0 => Self::None,
                seconds => Self::Exponential(seconds),
            }),
            Some('u') => Self::uniform(&text[1..]),
            Some('v') => Self::parts(&text[1..]),
            other => {
                let kind = other.map_or(String::new(), String::from);
                Err(HttperfExit::message(format!(
                    "illegal interarrival distribution '{kind}' in {text}"
                )))
            }
        }
    }

    fn fixed(seconds: f64) -> Self {
        if seconds > 0.0 { Self::Fixed(seconds) } else { Self::None }
    }

    fn uniform(text: &str) -> Result<Self, HttperfExit> {
        let (least, rest) = leading_real(text).ok_or_else(|| {
            HttperfExit::message(format!("illegal minimum interarrival time {text}"))
        })?;
        let Some(most) = rest.strip_prefix(',') else {
            return Err(HttperfExit::message(format!(
                "minimum interarrival time not followed by `,MAX_IAT' (rest: `{rest}')"
            )));
        };
        Ok(Self::Uniform(least, real(most, "request period")?))
    }

    fn parts(text: &str) -> Result<Self, HttperfExit> {
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|word| word.parse::<f64>().ok().filter(|n| *n > 0.0)).collect();
        let numbers = numbers.unwrap_or_default();
        let parts: Vec<_> = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        if numbers.is_empty() || !numbers.len().is_multiple_of(2) || parts.len() > MAX_PARTS {
            return Err(HttperfExit::message(format!(
                "illegal variable interarrival times {text}; write vT1,D1,T2,D2"
            )));
        }
        Ok(Self::Parts(parts))
    }

    /// The option in the echoed command line; None if there is none.
    pub fn option(&self) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Fixed(seconds) => format!("--rate={}", short(1.0 / seconds)),
            Self::Uniform(least, most) => format!("--period=u{},{}", short(*least), short(*most)),
            Self::Exponential(seconds) => format!("--period=e{}", short(*seconds)),
            Self::Parts(parts) => {
                let parts: Vec<_> =
                    parts.iter().map(|(t, d)| format!("{},{}", short(*t), short(*d))).collect();
                format!("--period=v{}", parts.join(","))
            }
        })
    }

    /// Rate over time and distribution of arrivals; None if each start waits for the previous end.
    pub fn arrivals(&self) -> Option<(LoadShape, Arrivals)> {
        match self {
            Self::None => None,
            Self::Fixed(seconds) => Some((LoadShape::constant(1.0 / seconds), Arrivals::Even)),
            Self::Exponential(seconds) => {
                Some((LoadShape::constant(1.0 / seconds), Arrivals::Poisson))
            }
            Self::Uniform(least, most) => {
                let mean = f64::midpoint(*least, *most);
                // Half the width, in millionths of the mean.
                let width = ((most - least) / 2.0 / mean * 1e6).abs().round();
                Some((LoadShape::constant(1.0 / mean), Arrivals::Uniform(width as u32)))
            }
            Self::Parts(parts) => {
                let stages = parts.iter().map(|(seconds, length)| {
                    let rate = 1.0 / seconds;
                    LoadStage {
                        from: rate,
                        to: rate,
                        duration: Some(Duration::from_secs_f64(*length)),
                    }
                });
                Some((LoadShape { stages: stages.collect() }, Arrivals::Even))
            }
        }
    }
}

fn mean(text: &str) -> Result<f64, HttperfExit> {
    real(text, "mean interarrival time")
        .ok()
        .filter(|seconds| *seconds >= 0.0)
        .ok_or_else(|| HttperfExit::message(format!("illegal mean interarrival time {text}")))
}
