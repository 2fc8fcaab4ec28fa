//! Whether the server's capacity drifted during the search.
//!
//! What it is: a regression of the pace, 1 over the mean response time, on load and time, over the trials near the capacity.
//! Of a single worker the pace falls in a straight line to nothing at saturation (1/mean = μ − λ), of others nearly so; where
//! the pace at a load is another than before, the capacity has wandered. Means are known far better than the share of slow
//! requests. Since a search follows what wanders, its loads fall and rise with time, and only what is known of the line
//! beforehand tells the two apart. Out of scope: a cause. Trials in overload are not looked at: they have no steady mean.

/// What a trial says of a drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// The load.
    pub load: f64,
    /// When it was in its middle, in seconds.
    pub time: f64,
    /// The mean response time, in seconds.
    pub mean: f64,
    /// The variance of that mean.
    pub variance: f64,
}

/// The capacity as it wandered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// At the first trial.
    pub first: f64,
    /// At the last.
    pub last: f64,
}

/// So many trials near the capacity are needed: two say where the line is, one whether it moved.
const FEWEST: usize = 4;
/// By so much must the sum of squares be less where the line may move: χ² with one degree of freedom, once in 1000 cases.
const CLEAR: f64 = 10.8;
/// Loads are near between these shares of the capacity. Where it fell, what was above it has been below.
const NEAR: std::ops::Range<f64> = 0.85..1.3;
/// Less than this share of the capacity is no drift that matters.
const LEAST: f64 = 0.03;

/// How the capacity wandered that is `at` in the middle, of a server that is saturated at `saturation`. None where it did not,
/// as far as is known.
pub fn drift(paces: &[Pace], at: f64, saturation: f64) -> Option<Drift> {
    let near: Vec<Pace> = paces.iter().copied().filter(|pace| NEAR.contains(&(pace.load / at))).collect();
    if near.len() < FEWEST {
        return None;
    }
    let (from, to) = near.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), pace| (a.min(pace.time), b.max(pace.time)));
    let mut rows: Vec<Row> = near.iter().map(|pace| Row::of(pace, at, (from, to))).collect();
    rows.push(Row::beforehand(&near, saturation / at - 1.0));
    let moved = moved(&rows);
    // As the load grows the pace falls; else the trials say nothing of it.
    let by = -moved.time / moved.load;
    (moved.clear > CLEAR && moved.load < 0.0 && 2.0 * by.abs() > LEAST && by.abs() < 0.5)
        .then_some(Drift { first: at * (1.0 - by), last: at * (1.0 + by) })
}

/// One equation: 1, the load beside the capacity, the time from −1 to 1, and the pace; weighed by how sure the pace is.
struct Row {
    of: [f64; 3],
    pace: f64,
}

impl Row {
    fn of(pace: &Pace, at: f64, (from, to): (f64, f64)) -> Self {
        let time = if to > from { 2.0 * (pace.time - from) / (to - from) - 1.0 } else { 0.0 };
        // What no curve explains, a few per cent, is in each.
        let sure = pace.mean.powi(2) / (pace.variance + (UNEXPLAINED * pace.mean).powi(2)).sqrt();
        Self { of: [sure, sure * (pace.load / at - 1.0), sure * time], pace: sure / pace.mean }
    }

    /// What is known of the line before any trial: it falls to nothing while the load grows by the share that is left.
    fn beforehand(near: &[Pace], left: f64) -> Self {
        let pace = near.iter().map(|pace| 1.0 / pace.mean).sum::<f64>() / near.len() as f64;
        let usual = -LESS_STEEP * pace / left.max(0.01);
        let sure = 1.0 / (UNSURE * usual.abs());
        Self { of: [0.0, sure, 0.0], pace: sure * usual }
    }
}

/// Near the capacity the pace of several workers, or with service times that are alike, falls less steeply than to the end:
/// by so much, and by so much of that more or less.
const LESS_STEEP: f64 = 0.7;
const UNSURE: f64 = 0.4;
/// The mean of a trial differs from the line's by so much of itself, however long it is.
const UNEXPLAINED: f64 = 0.035;

/// How the pace goes with load and time.
struct Moved {
    /// Its change per load.
    load: f64,
    /// Its change per time.
    time: f64,
    /// By how much less is left of it, squared, than if time changed nothing.
    clear: f64,
}

/// Least squares by taking out of each column, one after the other, what the ones before it explain (Gram & Schmidt).
fn moved(rows: &[Row]) -> Moved {
    let column = |of: fn(&Row) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let ones = column(|row| row.of[0]);
    let [load, time, pace] = [column(|row| row.of[1]), column(|row| row.of[2]), column(|row| row.pace)]
        .map(|column| without(&column, &ones));
    let (late, rest) = (without(&time, &load), without(&pace, &load));
    let by_time = dot(&rest, &late) / dot(&late, &late).max(f64::MIN_POSITIVE);
    let by_load = (dot(&pace, &load) - by_time * dot(&time, &load)) / dot(&load, &load).max(f64::MIN_POSITIVE);
    Moved { load: by_load, time: by_time, clear: by_time * by_time * dot(&late, &late) }
}

/// A column without what another explains of it.
fn without(of: &[f64], other: &[f64]) -> Vec<f64> {
    let share = dot(of, other) / dot(other, other).max(f64::MIN_POSITIVE);
    of.iter().zip(other).map(|(of, other)| of - share * other).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single worker of 1100 a second at first, whose pace rises by a share of it each second; ten seconds from trial to trial.
    fn paces(loads: &[f64], rise: f64) -> Vec<Pace> {
        let one = |(index, load): (usize, &f64)| {
            let time = 10.0 * index as f64;
            let saturation = 1100.0 * (1.0 + rise * time);
            Pace { load: *load, time, mean: 1.0 / (saturation - load), variance: 1e-8 }
        };
        loads.iter().enumerate().map(one).collect()
    }

    #[test]
    fn what_stands_still_does_not_drift() {
        assert_eq!(drift(&paces(&[950.0, 1020.0, 970.0, 1010.0, 1000.0], 0.0), 1000.0, 1100.0), None);
    }

    #[test]
    fn what_falls_is_told_with_both_ends() {
        let Drift { first, last } =
            drift(&paces(&[980.0, 1010.0, 960.0, 970.0, 950.0], -0.0015), 970.0, 1100.0).expect("a drift");
        // 1100 at the beginning, 1034 in the end: 66 of 970 are lost.
        assert!((first - last - 66.0).abs() < 8.0, "{first} {last}");
    }

    #[test]
    fn three_trials_are_too_few() {
        assert_eq!(drift(&paces(&[980.0, 1010.0, 960.0], -0.0015), 970.0, 1100.0), None);
    }
}
