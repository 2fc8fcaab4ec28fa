//! Draws service times from the distribution of `--service`, with a seeded generator.
//!
//! Waiting for a free worker is the queue's part ([`crate::truth`]). Times are nanoseconds.

use std::f64::consts::TAU;
use std::fs;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::units::{parse_positive_span, parse_span};

/// Parsed value of `--service`.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTimes {
    /// Text of the option.
    pub text: String,
    /// Distribution that the text describes.
    pub distribution: ServiceTime,
}

/// A distribution of service times, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub enum ServiceTime {
    /// No service: replies are immediate.
    None,
    /// Always the same time.
    Constant(u64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Log-normal: the logarithm is normal with this mean and standard deviation.
    LogNormal {
        /// Mean of the logarithm of seconds.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// These times in turn, repeated after the last.
    Listed(Vec<u64>),
}

impl ServiceTimes {
    /// Parses `none`, `const:T`, `exp:MEAN`, `lognormal:MEAN,SIGMA` or `file:PATH` (which is read).
    ///
    /// # Errors
    ///
    /// A message on the text, or on the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let distribution = match text.split_once(':') {
            None if text == "none" => ServiceTime::None,
            Some(("const", time)) => ServiceTime::Constant(parse_span(time)?),
            Some(("exp", mean)) => ServiceTime::Exponential(parse_positive_span(mean)? as f64),
            Some(("lognormal", rest)) => parse_log_normal(rest)?,
            Some(("file", path)) => ServiceTime::Listed(read_times(path)?),
            _ => {
                return Err(format!(
                    "`{text}` is no service: write `none`, `const:10ms`, `exp:10ms`, `lognormal:10ms,0.5` or `file:PATH`"
                ));
            }
        };
        Ok(Self { text: text.to_owned(), distribution })
    }
}

/// Parses a log-normal distribution. Its mean is exp(mu + sigma²/2), so the mean of
/// the option determines mu.
fn parse_log_normal(rest: &str) -> Result<ServiceTime, String> {
    let (mean, sigma) = rest.split_once(',').ok_or_else(|| log_normal_error(rest))?;
    let mean = parse_positive_span(mean)? as f64;
    let sigma: f64 = sigma.trim().parse().map_err(|_| log_normal_error(rest))?;
    // Above 10, the mean is determined by draws that no run is long enough to contain.
    if !(0.0..=10.0).contains(&sigma) {
        return Err(format!("the sigma of `lognormal:{rest}` must be between 0 and 10"));
    }
    Ok(ServiceTime::LogNormal { mu: mean.ln() - sigma * sigma / 2.0, sigma })
}

fn log_normal_error(rest: &str) -> String {
    format!(
        "`lognormal:{rest}`: write the mean and the sigma of the logarithm, e.g. `lognormal:10ms,0.5`"
    )
}

fn read_times(path: &str) -> Result<Vec<u64>, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read `{path}`: {error}"))?;
    let times = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let times: Vec<u64> =
        times.map(|(index, line)| parse_time(path, index + 1, line)).collect::<Result<_, _>>()?;
    if times.is_empty() { Err(format!("`{path}` holds no service time")) } else { Ok(times) }
}

fn parse_time(path: &str, line_number: usize, line: &str) -> Result<u64, String> {
    match line.trim().parse::<f64>() {
        // A day at most, as for the durations of options.
        Ok(time) if (0.0..=86_400.0).contains(&time) => Ok((time * 1e9).round() as u64),
        _ => Err(format!(
            "{path}:{line_number}: `{line}` is not a number of seconds between 0 and 86400"
        )),
    }
}

/// Draws service times from a distribution. The same seed gives the same times.
#[derive(Debug)]
pub struct ServiceTimeSampler {
    distribution: ServiceTime,
    random: Pcg64Mcg,
    drawn: usize,
}

impl ServiceTimeSampler {
    /// Creates a sampler of a distribution.
    pub fn new(distribution: ServiceTime, seed: u64) -> Self {
        Self { distribution, random: Pcg64Mcg::seed_from_u64(seed), drawn: 0 }
    }

    /// Returns the next service time, in nanoseconds.
    pub fn draw(&mut self) -> u64 {
        match &self.distribution {
            ServiceTime::None => 0,
            ServiceTime::Constant(time) => *time,
            ServiceTime::Exponential(mean) => exponential(&mut self.random, *mean).round() as u64,
            ServiceTime::LogNormal { mu, sigma } => {
                (mu + sigma * normal(&mut self.random)).exp().round() as u64
            }
            ServiceTime::Listed(times) => {
                let time = times[self.drawn % times.len()];
                self.drawn += 1;
                time
            }
        }
    }
}

/// Draws an exponential time by inversion: -mean · ln(1 - U), with U uniform on [0, 1).
pub(crate) fn exponential(random: &mut Pcg64Mcg, mean: f64) -> f64 {
    // 1 - U is never 0, whose logarithm is infinite.
    -mean * (1.0 - random.random::<f64>()).ln()
}

/// Draws a normal value by Box and Muller (1958), one of the pair.
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (TAU * random.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_deviation(service: &str) -> (f64, f64) {
        let mut sampler =
            ServiceTimeSampler::new(ServiceTimes::parse(service).unwrap().distribution, 7);
        let times: Vec<f64> = (0..200_000).map(|_| sampler.draw() as f64 / 1e6).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let variance =
            times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn distributions_have_the_given_mean() {
        assert_eq!(mean_and_deviation("const:10ms"), (10.0, 0.0));
        let (mean, deviation) = mean_and_deviation("exp:10ms");
        assert!((mean - 10.0).abs() < 0.1 && (deviation - 10.0).abs() < 0.15, "{mean} {deviation}");
        let (mean, deviation) = mean_and_deviation("lognormal:10ms,0.5");
        let expected = 10.0 * (0.25f64.exp() - 1.0).sqrt();
        assert!(
            (mean - 10.0).abs() < 0.1 && (deviation - expected).abs() < 0.15,
            "{mean} {deviation}"
        );
    }

    #[test]
    fn equal_seeds_give_equal_sequences() {
        let draw = |seed| {
            let mut sampler = ServiceTimeSampler::new(ServiceTime::Exponential(1e6), seed);
            (0..5).map(|_| sampler.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn listed_times_are_used_in_turn() {
        let mut sampler = ServiceTimeSampler::new(ServiceTime::Listed(vec![3, 5]), 1);
        assert_eq!([sampler.draw(), sampler.draw(), sampler.draw()], [3, 5, 3]);
    }

    #[test]
    fn a_file_of_seconds_is_read() {
        let path = std::env::temp_dir().join(format!("brunt-lab-times-{}", std::process::id()));
        fs::write(&path, "0.010\n\n2e-3\n").unwrap();
        let service = ServiceTimes::parse(&format!("file:{}", path.display())).unwrap();
        fs::write(&path, "0.010\nsoon\n").unwrap();
        let refusal = ServiceTimes::parse(&format!("file:{}", path.display())).unwrap_err();
        fs::remove_file(&path).unwrap();
        assert_eq!(service.distribution, ServiceTime::Listed(vec![10_000_000, 2_000_000]));
        assert!(refusal.contains(":2: `soon`"), "{refusal}");
    }

    #[test]
    fn errors_show_valid_values() {
        for text in ["", "fast", "const", "gauss:10ms"] {
            assert!(ServiceTimes::parse(text).unwrap_err().contains("const:10ms"), "{text}");
        }
        assert!(ServiceTimes::parse("lognormal:10ms").unwrap_err().contains("lognormal:10ms,0.5"));
        assert!(
            ServiceTimes::parse("lognormal:10ms,x").unwrap_err().contains("lognormal:10ms,0.5")
        );
        assert!(ServiceTimes::parse("lognormal:10ms,-1").unwrap_err().contains("between 0 and 10"));
        assert!(ServiceTimes::parse("exp:0s").unwrap_err().contains("more than zero"));
        assert!(ServiceTimes::parse("file:/nowhere/at/all").unwrap_err().contains("cannot read"));
    }
}
