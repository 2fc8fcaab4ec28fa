//! Divides an axis: maps values to positions on the paper, and chooses the ticks and their labels.

use crate::figure::{Axis, AxisScale, ChartUnit};
use crate::utc;
use brunt_model::numbers;

const DAY: f64 = 86_400.0;

/// Distances between the ticks of a clock, in seconds; longer ones are whole days.
const CLOCK_STEPS: [f64; 18] = [
    // Each step divides a day, so midnight is always a tick, with the date as its label.
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    10_800.0, 21_600.0, 43_200.0, DAY,
];

/// An axis with its range and its position on the paper.
pub struct Ruler {
    unit: ChartUnit,
    scale: AxisScale,
    /// Lowest and highest value.
    pub range: (f64, f64),
    /// Positions of these values on the paper, in points.
    paper: (f64, f64),
    /// Values that have a label.
    pub ticks: Vec<f64>,
}

impl Ruler {
    /// Creates an axis for these values between two positions on the paper, with about `words`
    /// labels. None if there is no value that it can show.
    pub fn new(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        paper: (f64, f64),
        words: usize,
    ) -> Option<Self> {
        let shown = values
            .filter(|value| value.is_finite() && (axis.scale != AxisScale::Log || *value > 0.0));
        let (low, high) = shown.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        })?;
        let (range, ticks) = match axis.scale {
            AxisScale::Linear if axis.unit == ChartUnit::Clock => clock(low, high, words),
            // An axis that starts above 0 exaggerates differences.
            AxisScale::Linear => linear(low.min(0.0), high, words),
            AxisScale::Log => log(low, high),
            AxisScale::Quantile => quantiles(high),
        };
        Some(Self { unit: axis.unit, scale: axis.scale, range, paper, ticks })
    }

    /// Ends a linear axis at this value instead of a round number.
    pub fn ending(mut self, end: f64) -> Self {
        if self.scale == AxisScale::Linear && end > self.range.0 {
            self.range.1 = end;
            // The factor covers rounding: a tick at the end stays.
            self.ticks.retain(|tick| *tick <= end * (1.0 + 1e-9));
        }
        self
    }

    /// Returns the position of a value on the paper. A value outside of the range is at its end.
    pub fn at(&self, value: f64) -> f64 {
        let low = self.place(self.range.0);
        let high = self.place(self.range.1);
        // A single value is in the middle.
        let share = if high > low { (self.place(value) - low) / (high - low) } else { 0.5 };
        self.paper.0 + share.clamp(0.0, 1.0) * (self.paper.1 - self.paper.0)
    }

    /// Returns the positions and labels of the ticks.
    pub fn words(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        self.ticks.iter().map(|tick| (self.at(*tick), self.word(*tick)))
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            AxisScale::Linear => value,
            AxisScale::Log => value.max(f64::MIN_POSITIVE).log10(),
            // The maximum has a distance of 0 from 1. The limit gives it a finite position.
            AxisScale::Quantile => -(1.0 - value).max(1e-12).log10(),
        }
    }

    fn word(&self, tick: f64) -> String {
        if self.scale == AxisScale::Quantile {
            return if tick == 0.0 { "0".into() } else { numbers::percentile(tick) };
        }
        if self.unit == ChartUnit::Clock {
            return self.time_of_day(tick);
        }
        word(self.unit, tick)
    }

    /// Returns `14:05`, with seconds if any tick has them; at midnight the day.
    fn time_of_day(&self, tick: f64) -> String {
        let has_seconds = self.ticks.iter().any(|tick| tick % 60.0 != 0.0);
        match tick % DAY {
            0.0 => utc::day(tick).into(),
            _ if has_seconds => format!("{}:{:02}", utc::hour_and_minute(tick), tick % 60.0),
            _ => utc::hour_and_minute(tick),
        }
    }
}

/// Returns the short label of a value: `50 ms`, `1.5 kB`, `20k`.
pub fn word(unit: ChartUnit, value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    // The factor keeps a value that is rounded below a unit in that unit.
    let size = value.abs() * (1.0 + 1e-9);
    let (divisor, suffix) = match unit {
        ChartUnit::Share => (0.01, " %"),
        ChartUnit::Seconds => unit_for(size, &[(1.0, " s"), (1e-3, " ms"), (1e-6, " µs")]),
        ChartUnit::Bytes => {
            unit_for(size, &[(1e12, " TB"), (1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")])
        }
        ChartUnit::BytesPerSecond => {
            unit_for(size, &[(1e9, " GB/s"), (1e6, " MB/s"), (1e3, " kB/s"), (1.0, " B/s")])
        }
        _ if size >= 1e6 => (1e6, "M"),
        _ if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    // Ticks have fewer than nine digits; further ones are errors of binary fractions.
    let digits = format!("{:.9}", value / divisor);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}{suffix}")
}

fn unit_for(size: f64, units: &[(f64, &'static str)]) -> (f64, &'static str) {
    let last = units.last().copied().unwrap_or((1.0, ""));
    units.iter().copied().find(|unit| size >= unit.0).unwrap_or(last)
}

/// Returns a range and ticks with steps of 1, 2 or 5 times a power of ten. The range ends on steps.
fn linear(low: f64, high: f64, words: usize) -> ((f64, f64), Vec<f64>) {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / words.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(power * 10.0);
    let first = (low / step).floor() as i64;
    // Without the subtrahend, rounding would add an empty step to a range that ends on one.
    let last = ((low + span) / step - 1e-9).ceil() as i64;
    ((first as f64 * step, last as f64 * step), (first..=last).map(|n| n as f64 * step).collect())
}

/// Returns round times within the range. The range stays as it is.
fn clock(low: f64, high: f64, words: usize) -> ((f64, f64), Vec<f64>) {
    let min_step = (high - low) / words.max(1) as f64;
    let step = CLOCK_STEPS
        .into_iter()
        .find(|step| *step >= min_step)
        .unwrap_or((min_step / DAY).ceil() * DAY);
    let first = (low / step).ceil() as i64;
    let count = ((high / step).floor() as i64 - first + 1).max(0);
    ((low, high), (0..count).map(|n| (first + n) as f64 * step).collect())
}

/// Returns powers of ten as ticks; if there are few of them, also 2 and 5 times each.
fn log(low: f64, high: f64) -> ((f64, f64), Vec<f64>) {
    let first = (low.log10() + 1e-9).floor() as i32;
    let last = (high.log10() - 1e-9).ceil() as i32;
    // Over many powers of ten, further labels would overlap.
    let parts: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all: Vec<f64> =
        (first..=last).flat_map(|n| parts.iter().map(move |part| part * 10f64.powi(n))).collect();
    let from = all.iter().copied().filter(|tick| *tick <= low * 1.000_001).fold(all[0], f64::max);
    let to =
        all.iter().copied().find(|tick| *tick >= high * 0.999_999 && *tick > from).unwrap_or(high);
    ((from, to), all.into_iter().filter(|tick| (from..=to).contains(tick)).collect())
}

/// Returns 0, p50, p90, p99, … as ticks, up to the highest share.
fn quantiles(high: f64) -> ((f64, f64), Vec<f64>) {
    let nines = (1..=8).map(|n| 1.0 - 10f64.powi(-n));
    let ticks = [0.0, 0.5].into_iter().chain(nines).filter(|q| *q <= high + 1e-12).collect();
    ((0.0, high), ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(unit: ChartUnit, scale: AxisScale, values: [f64; 2]) -> Vec<String> {
        let axis = Axis { label: brunt_model::Text::default(), unit, scale };
        let ruler = Ruler::new(&axis, values.into_iter(), (0.0, 100.0), 5).unwrap();
        ruler.words().map(|word| word.1).collect()
    }

    #[test]
    fn ticks_are_round_and_carry_their_unit() {
        use AxisScale::{Linear, Log, Quantile};
        assert_eq!(
            words(ChartUnit::PerSecond, Linear, [40.0, 480.0]),
            ["0", "100", "200", "300", "400", "500"]
        );
        assert_eq!(
            words(ChartUnit::Users, Linear, [0.0, 20_000.0]),
            ["0", "5000", "10k", "15k", "20k"]
        );
        assert_eq!(
            words(ChartUnit::Bytes, Linear, [0.0, 1.4e6]),
            ["0", "500 kB", "1 MB", "1.5 MB"]
        );
        assert_eq!(words(ChartUnit::Share, Linear, [0.0, 0.07]), ["0", "2 %", "4 %", "6 %", "8 %"]);
        assert_eq!(
            words(ChartUnit::Seconds, Log, [0.0006, 0.0145]),
            ["500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]
        );
        assert_eq!(
            words(ChartUnit::Seconds, Log, [0.000_3, 9.0]),
            ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        assert_eq!(
            words(ChartUnit::Share, Quantile, [0.0, 0.9995]),
            ["0", "p50", "p90", "p99", "p99.9"]
        );
        assert_eq!(
            words(ChartUnit::Seconds, Linear, [-5.0, 30.0]),
            ["-10 s", "0", "10 s", "20 s", "30 s"]
        );
    }

    #[test]
    fn a_clock_has_round_times() {
        let noon = 1_782_907_200.0;
        let of = |seconds: f64| {
            words(ChartUnit::Clock, AxisScale::Linear, [noon + 7.0, noon + 7.0 + seconds])
        };
        assert_eq!(of(50.0), ["12:00:10", "12:00:20", "12:00:30", "12:00:40", "12:00:50"]);
        assert_eq!(of(300.0), ["12:01", "12:02", "12:03", "12:04", "12:05"]);
        assert_eq!(of(86_400.0), ["18:00", "Jul 2", "06:00", "12:00"]);
    }

    #[test]
    fn powers_of_nines_are_equidistant() {
        let axis = Axis {
            label: brunt_model::Text::default(),
            unit: ChartUnit::Share,
            scale: AxisScale::Quantile,
        };
        let ruler = Ruler::new(&axis, [0.999].into_iter(), (0.0, 300.0), 5).unwrap();
        let at = [0.0, 0.9, 0.99, 0.999].map(|q| ruler.at(q).round());
        assert_eq!(at, [0.0, 100.0, 200.0, 300.0]);
    }

    #[test]
    fn without_values_there_is_no_axis() {
        let axis = Axis { scale: AxisScale::Log, ..Axis::default() };
        assert!(Ruler::new(&axis, [0.0, f64::NAN].into_iter(), (0.0, 1.0), 5).is_none());
    }
}
