//! Figures of a run over time, in bounded memory.

pub mod breakdown;

use crate::codec::wire;
use crate::tally::Statuses;
use crate::tally::sums::{StatusCount, Summand};
use crate::{Flow, Phase, Snapshot, Tick};
use brunt_stats::Sketch;
use prost::Message;

/// Maximum number of points. With more, neighboring points are joined.
const MOST_POINTS: usize = 4096;
/// Number of points that are packed together.
const PACKED: usize = 32;

/// Figures of a run over time, with one point per interval. A run with more than 4096
/// intervals has wider points.
///
/// All but the last points are stored in packed form, with a few hundred bytes each. Thus a long
/// run needs little more memory than a short one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    packed: Vec<Box<[u8]>>,
    /// The last points, which are not packed yet.
    open: Vec<SeriesPoint>,
    /// Number of snapshots per point (a power of two).
    joined: u32,
    /// Number of snapshots in the last point.
    in_last: u32,
}

/// Figures of one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeriesPoint {
    /// Start of the interval.
    pub from: Tick,
    /// End of the interval.
    pub to: Tick,
    /// Phase of the run that contains the interval.
    pub phase: Phase,
    /// Counters of the interval, and levels at its end.
    pub flow: Flow,
    /// Number of complete replies in the interval by status.
    pub statuses: Statuses,
    /// Response times, in nanoseconds, of requests that completed or timed out in the interval.
    pub response: Sketch,
    /// Lags, in nanoseconds, of requests that ended in the interval.
    pub lag: Sketch,
}

impl From<&Snapshot> for SeriesPoint {
    fn from(s: &Snapshot) -> Self {
        let mut response = Sketch::from(&s.measured.response);
        let mut lag = Sketch::from(&s.measured.lag);
        // The series covers the whole run, including the warm-up.
        response.merge(&Sketch::from(&s.warmup.response));
        lag.merge(&Sketch::from(&s.warmup.lag));
        let mut statuses = s.measured.statuses.clone();
        statuses.merge(&s.warmup.statuses);
        Self { from: s.from, to: s.to, phase: s.phase, flow: s.flow, statuses, response, lag }
    }
}

impl SeriesPoint {
    /// Appends the following interval.
    pub fn follow(&mut self, later: &Self) {
        self.to = later.to;
        self.flow.follow(&later.flow);
        self.statuses.merge(&later.statuses);
        self.response.merge(&later.response);
        self.lag.merge(&later.lag);
    }

    /// Joins successive intervals. The phase is that of the first.
    pub fn join(parts: &[Self]) -> Self {
        let Some((first, later)) = parts.split_first() else { return Self::default() };
        let mut flow = first.flow;
        let mut statuses = first.statuses.clone();
        for part in later {
            flow.follow(&part.flow);
            statuses.merge(&part.statuses);
        }
        Self {
            from: first.from,
            to: later.last().unwrap_or(first).to,
            phase: first.phase,
            flow,
            statuses,
            response: parts.iter().map(|part| &part.response).collect(),
            lag: parts.iter().map(|part| &part.lag).collect(),
        }
    }

    /// True if its sketches can be read.
    fn is_valid(&self) -> bool {
        self.response.is_valid() && self.lag.is_valid()
    }

    /// Length of the interval, in seconds.
    pub fn seconds(&self) -> f64 {
        self.to.seconds_since(self.from)
    }

    /// Completed requests per second; 0 if it covers no time.
    pub fn throughput(&self) -> f64 {
        if self.to > self.from { self.flow.completed as f64 / self.seconds() } else { 0.0 }
    }
}

impl Series {
    /// Adds the next interval.
    pub fn push(&mut self, snapshot: &Snapshot) {
        let joined = self.joined.max(1);
        let point = SeriesPoint::from(snapshot);
        match self.open.last_mut() {
            // A point with two phases would mix the warm-up with the measured time.
            Some(last) if self.in_last < joined && last.phase == point.phase => {
                last.follow(&point);
                self.in_last += 1;
            }
            _ => {
                self.start_point(point);
                self.in_last = 1;
            }
        }
        if self.len() > MOST_POINTS {
            self.halve();
        }
    }

    /// Returns a series of these points, which are in order of time.
    pub fn of_points(points: impl IntoIterator<Item = SeriesPoint>) -> Self {
        let mut series = Self { joined: 1, in_last: 1, ..Self::default() };
        points.into_iter().for_each(|point| series.start_point(point));
        series
    }

    /// Number of points in the series.
    pub fn len(&self) -> usize {
        self.packed.len() * PACKED + self.open.len()
    }

    /// True if the series has no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the points, in order of time.
    pub fn points(&self) -> impl Iterator<Item = SeriesPoint> + '_ {
        self.packed.iter().flat_map(|packed| unpack(packed)).chain(self.open.iter().cloned())
    }

    /// Converts the series to the message of a digest.
    pub(crate) fn to_message(&self) -> SeriesMessage {
        let Self { packed, open, joined, in_last } = self;
        SeriesMessage {
            packed: packed.iter().map(|points| points.to_vec()).collect(),
            open: open.iter().map(Into::into).collect(),
            joined: *joined,
            in_last: *in_last,
        }
    }

    /// Converts a message to the series; None if it is damaged.
    pub(crate) fn from_message(message: SeriesMessage) -> Option<Self> {
        let SeriesMessage { packed, open, joined, in_last } = message;
        // Packed points are read without checks later.
        let is_valid = packed.iter().all(|points| are_whole(points));
        let open: Vec<SeriesPoint> = open.into_iter().map(Into::into).collect();
        (is_valid && open.len() <= PACKED && open.iter().all(SeriesPoint::is_valid)).then(|| Self {
            packed: packed.into_iter().map(Vec::into_boxed_slice).collect(),
            open,
            joined,
            in_last,
        })
    }

    /// Starts a new point. The last point is not packed, since more snapshots may be added to it.
    fn start_point(&mut self, point: SeriesPoint) {
        if self.open.len() == PACKED {
            self.packed.push(pack(&self.open));
            self.open.clear();
        }
        self.open.push(point);
    }

    /// Joins neighboring points of the same phase, which halves their number.
    fn halve(&mut self) {
        let mut halved = Self { joined: self.joined.max(1) * 2, ..Self::default() };
        let mut half = false;
        for point in self.points() {
            match halved.open.last_mut() {
                // Points of two phases stay separate, so more than half of them may remain.
                Some(last) if half && last.phase == point.phase => {
                    last.follow(&point);
                    half = false;
                }
                _ => {
                    halved.start_point(point);
                    half = true;
                }
            }
        }
        // The last point has half of the snapshots if it found no partner.
        halved.in_last = if half { halved.joined / 2 } else { halved.joined };
        *self = halved;
    }
}

/// The series in a digest.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SeriesMessage {
    #[prost(bytes = "vec", repeated, tag = "1")]
    packed: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "2")]
    open: Vec<PackedPoint>,
    #[prost(uint32, tag = "3")]
    joined: u32,
    #[prost(uint32, tag = "4")]
    in_last: u32,
}

/// The packed form of points: a protobuf message, in which small numbers take few bytes.
/// Compression would halve the rest, but its working memory is a thousand times larger than
/// the memory it saves.
#[derive(Clone, PartialEq, Message)]
struct Packed {
    #[prost(message, repeated, tag = "1")]
    points: Vec<PackedPoint>,
}

#[derive(Clone, PartialEq, Message)]
struct PackedPoint {
    #[prost(uint64, tag = "1")]
    from_nanos: u64,
    #[prost(uint64, tag = "2")]
    to_nanos: u64,
    #[prost(enumeration = "wire::Phase", tag = "3")]
    phase: i32,
    #[prost(message, optional, tag = "4")]
    flow: Option<Flow>,
    #[prost(bytes = "vec", tag = "5")]
    response: Vec<u8>,
    #[prost(uint64, tag = "6")]
    // A sketch has buckets only, so its exact maximum is stored separately.
    response_max: u64,
    #[prost(bytes = "vec", tag = "7")]
    lag: Vec<u8>,
    #[prost(uint64, tag = "8")]
    lag_max: u64,
    #[prost(message, repeated, tag = "9")]
    statuses: Vec<StatusCount>,
}

fn pack(points: &[SeriesPoint]) -> Box<[u8]> {
    Packed { points: points.iter().map(Into::into).collect() }.encode_to_vec().into_boxed_slice()
}

fn unpack(packed: &[u8]) -> impl Iterator<Item = SeriesPoint> + use<> {
    match Packed::decode(packed) {
        Ok(packed) => packed.points.into_iter().map(Into::into),
        Err(_) => unreachable!("they were packed here"),
    }
}

/// True if these are packed points of a series.
fn are_whole(packed: &[u8]) -> bool {
    Packed::decode(packed).is_ok_and(|packed| {
        let mut points = packed.points.into_iter().map(SeriesPoint::from);
        points.len() == PACKED && points.all(|point| point.is_valid())
    })
}

impl From<&SeriesPoint> for PackedPoint {
    fn from(p: &SeriesPoint) -> Self {
        Self {
            from_nanos: p.from.0,
            to_nanos: p.to.0,
            phase: wire::Phase::number(p.phase),
            flow: Some(p.flow),
            response: p.response.packed().to_vec(),
            response_max: p.response.max(),
            lag: p.lag.packed().to_vec(),
            lag_max: p.lag.max(),
            statuses: p.statuses.to_field(),
        }
    }
}

impl From<PackedPoint> for SeriesPoint {
    fn from(p: PackedPoint) -> Self {
        Self {
            from: Tick(p.from_nanos),
            to: Tick(p.to_nanos),
            phase: wire::Phase::from_number(p.phase).unwrap_or_default(),
            flow: p.flow.unwrap_or_default(),
            response: Sketch::from_packed(p.response, p.response_max),
            lag: Sketch::from_packed(p.lag, p.lag_max),
            statuses: Summand::from_field(p.statuses).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_has_correct_sums_in_bounded_memory() {
        let mut series = Series::default();
        let n = 50_000;
        for i in 0..n {
            let mut s = Snapshot {
                from: Tick(i),
                to: Tick(i + 1),
                phase: Phase::Measure,
                ..Snapshot::default()
            };
            s.flow.completed = 3;
            s.measured.response.record(i + 1);
            series.push(&s);
        }
        assert!(series.len() <= MOST_POINTS);
        let points: Vec<SeriesPoint> = series.points().collect();
        assert_eq!(points.len(), series.len());
        assert_eq!(points.iter().map(|p| p.flow.completed).sum::<u64>(), 3 * n);
        assert_eq!(points.iter().map(|p| p.response.count()).sum::<u64>(), n);
        assert!(points.windows(2).all(|w| w[0].to == w[1].from));
    }
}
