//! How an axis is divided: from a range of values to places on it, and to the words that stand there.

use crate::figure::{Axis, Scale, Unit};
use crate::utc;
use brunt_model::numbers;

const DAY: f64 = 86_400.0;

/// Distances between the ticks of a clock, in seconds; longer ones are whole days.
const CLOCK_STEPS: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 10_800.0, 21_600.0,
    43_200.0, DAY,
];

/// An axis with its range, laid on the paper.
pub struct Ruler {
    unit: Unit,
    scale: Scale,
    /// The values at its ends.
    pub range: (f64, f64),
    /// Where the ends are on the paper.
    paper: (f64, f64),
    /// Values that have a word.
    pub ticks: Vec<f64>,
}

impl Ruler {
    /// An axis that shows all these values between two places on the paper, with about so many words; None where there
    /// is no value that it could show.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, paper: (f64, f64), words: usize) -> Option<Self> {
        let shown = |v: &f64| v.is_finite() && (axis.scale != Scale::Log || *v > 0.0);
        let (low, high) = values.filter(shown).fold(None, |range: Option<(f64, f64)>, v| {
            Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        })?;
        let (range, ticks) = match axis.scale {
            Scale::Linear if axis.unit == Unit::Clock => clock(low, high, words),
            Scale::Linear => linear(low.min(0.0), high, words),
            Scale::Log => log(low, high),
            Scale::Quantile => quantiles(high),
        };
        Some(Self { unit: axis.unit, scale: axis.scale, range, paper, ticks })
    }

    /// The same, but it ends where the values do, not at a round number.
    pub fn ending(mut self, at: f64) -> Self {
        if self.scale == Scale::Linear && at > self.range.0 {
            self.range.1 = at;
            self.ticks.retain(|tick| *tick <= at * (1.0 + 1e-9));
        }
        self
    }

    /// Where a value is on the paper; what lies outside is at the end.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = (self.place(self.range.0), self.place(self.range.1));
        let share = if high > low { (self.place(value) - low) / (high - low) } else { 0.5 };
        self.paper.0 + share.clamp(0.0, 1.0) * (self.paper.1 - self.paper.0)
    }

    /// The words at the ticks.
    pub fn words(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        self.ticks.iter().map(|tick| (self.at(*tick), self.word(*tick)))
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Quantile => -(1.0 - value).max(1e-12).log10(),
        }
    }

    fn word(&self, tick: f64) -> String {
        if self.scale == Scale::Quantile {
            return if tick == 0.0 { "0".into() } else { numbers::percentile(tick) };
        }
        if self.unit == Unit::Clock {
            return self.time_of_day(tick);
        }
        word(self.unit, tick)
    }

    /// `14:05`, with seconds where the ticks have some; at midnight the day.
    fn time_of_day(&self, tick: f64) -> String {
        let has_seconds = self.ticks.iter().any(|tick| tick % 60.0 != 0.0);
        match tick % DAY {
            0.0 => utc::day(tick),
            _ if has_seconds => format!("{}:{:02}", utc::hour_and_minute(tick), tick % 60.0),
            _ => utc::hour_and_minute(tick),
        }
    }
}

/// A value at an axis, short: `50 ms`, `1.5 kB`, `20k`.
pub fn word(unit: Unit, value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs() * (1.0 + 1e-9);
    let (divisor, suffix) = match unit {
        Unit::Share => (0.01, " %"),
        Unit::Seconds => fitting(size, &[(1.0, " s"), (1e-3, " ms"), (1e-6, " µs")]),
        Unit::Bytes => fitting(size, &[(1e12, " TB"), (1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")]),
        Unit::BytesPerSecond => fitting(size, &[(1e9, " GB/s"), (1e6, " MB/s"), (1e3, " kB/s"), (1.0, " B/s")]),
        _ if size >= 1e6 => (1e6, "M"),
        _ if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    // Nine digits are more than a tick has; the rest is what binary fractions leave.
    let digits = format!("{:.9}", value / divisor);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}{suffix}")
}

fn fitting(size: f64, units: &[(f64, &'static str)]) -> (f64, &'static str) {
    let last = units.last().copied().unwrap_or((1.0, ""));
    units.iter().copied().find(|unit| size >= unit.0).unwrap_or(last)
}

/// Steps of 1, 2 or 5 times a power of ten, the ends on a step.
fn linear(low: f64, high: f64, words: usize) -> ((f64, f64), Vec<f64>) {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / words.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(power * 10.0);
    let (first, last) = ((low / step).floor() as i64, ((low + span) / step - 1e-9).ceil() as i64);
    ((first as f64 * step, last as f64 * step), (first..=last).map(|n| n as f64 * step).collect())
}

/// Round times within the range; the ends stay where they are.
fn clock(low: f64, high: f64, words: usize) -> ((f64, f64), Vec<f64>) {
    let least = (high - low) / words.max(1) as f64;
    let step = CLOCK_STEPS.into_iter().find(|step| *step >= least).unwrap_or((least / DAY).ceil() * DAY);
    let first = (low / step).ceil() as i64;
    let count = ((high / step).floor() as i64 - first + 1).max(0);
    ((low, high), (0..count).map(|n| (first + n) as f64 * step).collect())
}

/// Powers of ten; where there are few of them, 2 and 5 times each as well.
fn log(low: f64, high: f64) -> ((f64, f64), Vec<f64>) {
    let (first, last) = ((low.log10() + 1e-9).floor() as i32, (high.log10() - 1e-9).ceil() as i32);
    let wide = last - first > 3;
    let parts: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let of_decade = |n: i32| parts.iter().map(move |part| part * 10f64.powi(n));
    let all: Vec<f64> = (first..=last).flat_map(of_decade).collect();
    let from = all.iter().copied().filter(|tick| *tick <= low * 1.000_001).fold(all[0], f64::max);
    let to = all.iter().copied().find(|tick| *tick >= high * 0.999_999 && *tick > from).unwrap_or(high);
    ((from, to), all.into_iter().filter(|tick| (from..=to).contains(tick)).collect())
}

/// 0, p50, p90, p99, … up to the last share that is shown.
fn quantiles(high: f64) -> ((f64, f64), Vec<f64>) {
    let nines = (1..=8).map(|n| 1.0 - 10f64.powi(-n));
    let ticks = [0.0, 0.5].into_iter().chain(nines).filter(|q| *q <= high + 1e-12).collect();
    ((0.0, high), ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(unit: Unit, scale: Scale, values: [f64; 2]) -> Vec<String> {
        let axis = Axis { label: String::new(), unit, scale };
        let ruler = Ruler::new(&axis, values.into_iter(), (0.0, 100.0), 5).unwrap();
        ruler.words().map(|word| word.1).collect()
    }

    #[test]
    fn ticks_are_round_and_carry_their_unit() {
        use Scale::{Linear, Log, Quantile};
        assert_eq!(words(Unit::PerSecond, Linear, [40.0, 480.0]), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!(words(Unit::Users, Linear, [0.0, 20_000.0]), ["0", "5000", "10k", "15k", "20k"]);
        assert_eq!(words(Unit::Bytes, Linear, [0.0, 1.4e6]), ["0", "500 kB", "1 MB", "1.5 MB"]);
        assert_eq!(words(Unit::Share, Linear, [0.0, 0.07]), ["0", "2 %", "4 %", "6 %", "8 %"]);
        assert_eq!(words(Unit::Seconds, Log, [0.0006, 0.0145]), ["500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]);
        assert_eq!(words(Unit::Seconds, Log, [0.000_3, 9.0]), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
        assert_eq!(words(Unit::Share, Quantile, [0.0, 0.9995]), ["0", "p50", "p90", "p99", "p99.9"]);
        assert_eq!(words(Unit::Seconds, Linear, [-5.0, 30.0]), ["-10 s", "0", "10 s", "20 s", "30 s"]);
    }

    #[test]
    fn a_clock_has_round_times() {
        let noon = 1_782_907_200.0;
        let of = |seconds: f64| words(Unit::Clock, Scale::Linear, [noon + 7.0, noon + 7.0 + seconds]);
        assert_eq!(of(50.0), ["12:00:10", "12:00:20", "12:00:30", "12:00:40", "12:00:50"]);
        assert_eq!(of(300.0), ["12:01", "12:02", "12:03", "12:04", "12:05"]);
        assert_eq!(of(86_400.0), ["18:00", "Jul 2", "06:00", "12:00"]);
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let axis = Axis { label: String::new(), unit: Unit::Share, scale: Scale::Quantile };
        let ruler = Ruler::new(&axis, [0.999].into_iter(), (0.0, 300.0), 5).unwrap();
        let at = [0.0, 0.9, 0.99, 0.999].map(|q| ruler.at(q).round());
        assert_eq!(at, [0.0, 100.0, 200.0, 300.0]);
    }

    #[test]
    fn nothing_to_show_is_no_axis() {
        let axis = Axis { scale: Scale::Log, ..Axis::default() };
        assert!(Ruler::new(&axis, [0.0, f64::NAN].into_iter(), (0.0, 1.0), 5).is_none());
    }
}
