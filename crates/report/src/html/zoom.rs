//! Prepares a trial's seconds for the page, which sums up those of a zoomed range: counts, and
//! histograms of response times.
//!
//! Nothing is averaged here or in the page. A percentile of a range comes from
//! the merged histograms, to the 0.8 % of [`brunt_stats::Sketch`]. The page reads
//! the packed form (`web-ui/src/sketch.ts`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brunt_model::{Phase, Run, series::SeriesPoint};
use brunt_stats::Sketch;
use serde::Serialize;

/// Maximum number of points: a longer run, in seconds, has points longer than a second.
const MAX_POINTS: f64 = 600.0;
/// Minimum number of points: a shorter run, in seconds, has points shorter than a second.
const MIN_POINTS: f64 = 20.0;

/// Seconds of a run, as columns. Times are in seconds since the start of the measured time.
#[derive(Debug, Default, Serialize)]
pub struct Zoom {
    measured_seconds: f64,
    from_seconds: Vec<f64>,
    to_seconds: Vec<f64>,
    planned: Vec<u64>,
    completed: Vec<u64>,
    errors: Vec<u64>,
    max_nanos: Vec<u64>,
    /// Histograms as base64 of [`Sketch::packed`].
    cells: Vec<String>,
}

impl From<&Run> for Zoom {
    fn from(run: &Run) -> Self {
        let zero = run.phase_start(Phase::Measure).unwrap_or_default();
        let mut zoom = Self { measured_seconds: run.measured_seconds(), ..Self::default() };
        for second in seconds(run) {
            zoom.from_seconds.push(second.from.seconds_from(zero));
            zoom.to_seconds.push(second.to.seconds_from(zero));
            zoom.planned.push(second.flow.planned);
            zoom.completed.push(second.flow.completed);
            zoom.errors.push(second.flow.errors);
            zoom.max_nanos.push(second.response.max());
            zoom.cells.push(STANDARD.encode(second.response.packed()));
        }
        zoom
    }
}

/// Returns the points of the series, merged to seconds. Points of different
/// phases are never merged.
fn seconds(run: &Run) -> Vec<SeriesPoint> {
    let mut joined: Vec<SeriesPoint> = Vec::new();
    let width = width(run.last_interval_end.seconds());
    for point in run.series.points() {
        match joined.last_mut() {
            // Recorded intervals vary slightly in length. Half a point of tolerance keeps the
            // widths near one second.
            Some(last)
                if last.phase == point.phase && last.seconds() + point.seconds() / 2.0 < width =>
            {
                join(last, &point);
            }
            _ => joined.push(point),
        }
    }
    joined
}

/// Returns the width of a point in seconds.
fn width(all: f64) -> f64 {
    // A long run has longer points, so that the page does not grow with the duration of the run.
    (all / MIN_POINTS).min(1.0).max(all / MAX_POINTS)
}

fn join(point: &mut SeriesPoint, later: &SeriesPoint) {
    point.to = later.to;
    point.flow.follow(&later.flow);
    point.response.merge(&later.response);
    // The page has no lag over time. The lag of the first point alone would be wrong for both.
    point.lag = Sketch::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;
    use serde_json::{Value, json};

    /// Computes the figures of a range from the histograms, not from the packed cells.
    fn expected(run: &Run, from: f64, to: f64) -> Value {
        let mut all = SeriesPoint::default();
        let seconds = seconds(run);
        let within = |p: &&SeriesPoint| {
            (from..to).contains(&f64::midpoint(p.from.seconds(), p.to.seconds()))
        };
        for point in seconds.iter().filter(within) {
            join(&mut all, point);
        }
        let quantiles =
            [0.0, 0.5, 0.9, 0.99, 0.999, 1.0].map(|q| json!([q, all.response.quantile(q)]));
        let SeriesPoint { flow, response, .. } = all;
        json!({
            "from": from, "to": to, "planned": flow.planned, "completed": flow.completed, "errors": flow.errors,
            "count": response.count(), "max_nanos": response.max(), "quantiles": quantiles,
        })
    }

    fn recorded() -> Value {
        let cases = [story::closed().run(), story::overloaded().run()].map(|run| {
            let ranges = [(0.0, 10.0), (2.0, 5.0), (3.2, 3.9), (8.0, 99.0)]
                .map(|(from, to)| expected(&run, from, to));
            json!({ "zoom": Zoom::from(&run), "ranges": ranges })
        });
        json!(cases)
    }

    #[test]
    fn the_page_is_tested_with_this_data() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web-ui/test/zoom.json");
        let recorded = recorded();
        let stored = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if stored.as_ref() != Some(&recorded) {
            let replacement = std::env::temp_dir().join("brunt-zoom.json");
            std::fs::write(&replacement, serde_json::to_string(&recorded).unwrap() + "\n").unwrap();
            panic!(
                "web-ui/test/zoom.json is not what is written now; if that is right, take {}",
                replacement.display()
            );
        }
    }

    #[test]
    fn points_of_tenths_are_merged_to_seconds_without_loss() {
        use brunt_model::{Event, Snapshot, Tick};
        let tenth = |i: u64| {
            let phase = if i < 25 { Phase::Warmup } else { Phase::Measure };
            let mut s = Snapshot {
                from: Tick(i * 100_000_000),
                to: Tick((i + 1) * 100_000_000),
                phase,
                ..Snapshot::default()
            };
            s.flow.completed = i;
            s.measured.response.record(i * 1000);
            Event::Snapshot(s.into())
        };
        let mut events = vec![Event::Stage { at: Tick(2_500_000_000), phase: Phase::Measure }];
        events.extend((0..325).map(tenth));
        let zoom = Zoom::from(&Run::of(&events));
        assert_eq!(zoom.from_seconds.len(), 33);
        assert_eq!(&zoom.from_seconds[..4], [-2.5, -1.5, -0.5, 0.0]);
        assert_eq!(zoom.completed.iter().sum::<u64>(), (0..325_u64).sum::<u64>());
        assert_eq!(width(3600.0), 6.0);
        assert_eq!(width(4.0), 0.2);
    }
}
