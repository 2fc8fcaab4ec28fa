//! Measures the spacing of arrivals: numbers of planned and begun arrivals in short bins.
//!
//! It shows clusters and gaps. The lag of single requests is in a separate histogram.

use crate::Tick;
use crate::codec::wire;
use crate::time::seconds_of;
use std::collections::VecDeque;

/// Length of a bin in nanoseconds: 10 ms.
pub const BIN_NANOS: u64 = 10_000_000;
/// Number of open bins. An arrival that is later than that counts in the oldest one.
const OPEN: usize = 32;

/// Counts of the 10 ms from `number` × 10 ms on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArrivalBin {
    /// Number of the bin.
    pub number: u64,
    /// Arrivals planned in this bin.
    pub planned: u64,
    /// Arrivals begun or dropped in this bin.
    pub acted: u64,
}

impl ArrivalBin {
    /// Returns the number of the bin that contains an instant.
    #[inline]
    pub fn number_at(at: Tick) -> u64 {
        at.0 / BIN_NANOS
    }

    /// Returns the bin with this number, which is created if it does not exist. The search starts
    /// at the end, since it is usually one of the last.
    #[inline]
    pub fn find(bins: &mut Vec<Self>, number: u64) -> &mut Self {
        let at = bins.iter().rposition(|bin| bin.number == number).unwrap_or_else(|| {
            bins.push(Self { number, ..Self::default() });
            bins.len() - 1
        });
        &mut bins[at]
    }

    /// Adds the counts of another worker for the same bin.
    pub fn add(&mut self, other: &Self) {
        self.planned += other.planned;
        self.acted += other.acted;
    }
}

/// Spacing of the arrivals of a run: sums over spans of 10 ms, 100 ms and 1 s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalSpread {
    /// Sums over spans of increasing length.
    pub levels: [SpanCounts; 3],
    /// Bins that may still change.
    open: VecDeque<ArrivalBin>,
}

impl Default for ArrivalSpread {
    fn default() -> Self {
        // In short spans, microseconds of lag move arrivals across a boundary.
        let levels =
            [1, 10, 100].map(|bins_each| SpanCounts { bins_each, ..SpanCounts::default() });
        Self { levels, open: VecDeque::new() }
    }
}

/// Sums over spans of one length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Number of 10 ms bins per span.
    pub bins_each: u64,
    /// Number of counted spans.
    pub spans: u64,
    /// Number of spans that are not counted, since too many arrivals began late
    /// to show their spacing.
    pub displaced: u64,
    /// Moments of the planned arrivals.
    pub planned: Moments,
    /// Moments of the arrivals begun or dropped.
    pub acted: Moments,
    /// The incomplete span, and its number of bins.
    filling: (ArrivalBin, u64),
}

/// First two moments of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// Sum of the counts.
    pub sum: u64,
    /// Sum of their squares.
    pub squares: u64,
}

impl Moments {
    fn add(&mut self, n: u64) {
        self.sum += n;
        // Sums and squares can be merged, so the counts themselves need not be stored.
        self.squares += n * n;
    }
}

impl ArrivalSpread {
    /// Adds the bins of the next snapshot.
    pub fn push(&mut self, bins: &[ArrivalBin]) {
        for bin in bins {
            // Bins without arrivals are counted too, so gaps between bin numbers are filled.
            let first = self.open.front().map_or(bin.number, |b| b.number);
            while self.open.len() < OPEN
                || self.open.back().is_some_and(|last| last.number < bin.number)
            {
                let number = self.open.back().map_or(first, |last| last.number + 1);
                self.open.push_back(ArrivalBin { number, ..ArrivalBin::default() });
            }
            while self.open.len() > OPEN {
                self.close_first();
            }
            let first = self.open.front().map_or(0, |b| b.number);
            self.open[bin.number.saturating_sub(first) as usize].add(bin);
        }
    }

    fn close_first(&mut self) {
        if let Some(bin) = self.open.pop_front() {
            self.levels.iter_mut().for_each(|level| level.push(&bin));
        }
    }

    /// Converts the sums to the message of a digest.
    pub(crate) fn to_message(&self) -> SpreadMessage {
        let Self { levels, open } = self;
        SpreadMessage {
            levels: levels.iter().map(Into::into).collect(),
            open: open.iter().map(Into::into).collect(),
        }
    }

    /// Converts a message to the sums; None if it is damaged.
    pub(crate) fn from_message(message: &SpreadMessage) -> Option<Self> {
        let levels: Vec<SpanCounts> = message.levels.iter().map(Into::into).collect();
        let open = message.open.iter().map(Into::into).collect();
        Some(Self { levels: levels.try_into().ok()?, open })
    }

    /// Returns the shortest spans with enough arrivals to judge their spacing, and with enough
    /// spans. None if there are none.
    pub fn shortest_conclusive(&self) -> Option<&SpanCounts> {
        // With fewer arrivals per span, a single one changes the index of dispersion.
        const ARRIVALS: u64 = 20;
        const SPANS: u64 = 20;
        self.levels.iter().find(|level| {
            level.planned.sum >= ARRIVALS * level.spans && level.spans + level.displaced >= SPANS
        })
    }
}

impl SpanCounts {
    fn push(&mut self, bin: &ArrivalBin) {
        let (span, filled) = &mut self.filling;
        span.add(bin);
        *filled += 1;
        if *filled == self.bins_each {
            let (ArrivalBin { planned, acted, .. }, _) = std::mem::take(&mut self.filling);
            self.close(planned, acted);
        }
    }

    fn close(&mut self, planned: u64, acted: u64) {
        // More than a quarter of the arrivals began in another span.
        if planned.abs_diff(acted) > (planned / 4).max(3) {
            self.displaced += 1;
            return;
        }
        self.spans += 1;
        self.planned.add(planned);
        self.acted.add(acted);
    }

    /// Length of a span, in seconds.
    pub fn seconds(&self) -> f64 {
        seconds_of(self.bins_each * BIN_NANOS)
    }

    /// Returns the index of dispersion (variance ÷ mean of the counts; Fano 1947) of planned and of
    /// begun arrivals. It is 1 for Poisson arrivals and 0 for even ones. None without arrivals.
    pub fn dispersion(&self) -> Option<(f64, f64)> {
        Some((self.dispersion_of(self.planned)?, self.dispersion_of(self.acted)?))
    }

    fn dispersion_of(&self, moments: Moments) -> Option<f64> {
        let n = self.spans as f64;
        let sum = moments.sum as f64;
        // Variance ÷ mean of N counts n: (Σn² / N − (Σn / N)²) ÷ (Σn / N).
        (moments.sum > 0).then(|| moments.squares as f64 / sum - sum / n)
    }
}

/// The spacing of arrivals in a digest.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SpreadMessage {
    #[prost(message, repeated, tag = "1")]
    levels: Vec<SpansMessage>,
    #[prost(message, repeated, tag = "2")]
    open: Vec<wire::Bin>,
}

/// [`SpanCounts`] in a digest.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct SpansMessage {
    #[prost(uint64, tag = "1")]
    bins_each: u64,
    #[prost(uint64, tag = "2")]
    spans: u64,
    #[prost(uint64, tag = "3")]
    displaced: u64,
    #[prost(uint64, tag = "4")]
    planned_sum: u64,
    #[prost(uint64, tag = "5")]
    planned_squares: u64,
    #[prost(uint64, tag = "6")]
    acted_sum: u64,
    #[prost(uint64, tag = "7")]
    acted_squares: u64,
    #[prost(message, optional, tag = "8")]
    filling: Option<wire::Bin>,
    #[prost(uint64, tag = "9")]
    filled_bins: u64,
}

impl From<&SpanCounts> for SpansMessage {
    fn from(counts: &SpanCounts) -> Self {
        let SpanCounts { bins_each, spans, displaced, planned, acted, filling } = *counts;
        let (bin, filled_bins) = filling;
        Self {
            bins_each,
            spans,
            displaced,
            planned_sum: planned.sum,
            planned_squares: planned.squares,
            acted_sum: acted.sum,
            acted_squares: acted.squares,
            filling: Some((&bin).into()),
            filled_bins,
        }
    }
}

impl From<&SpansMessage> for SpanCounts {
    fn from(message: &SpansMessage) -> Self {
        let bin = message.filling.as_ref().map(ArrivalBin::from).unwrap_or_default();
        Self {
            bins_each: message.bins_each,
            spans: message.spans,
            displaced: message.displaced,
            planned: Moments { sum: message.planned_sum, squares: message.planned_squares },
            acted: Moments { sum: message.acted_sum, squares: message.acted_squares },
            filling: (bin, message.filled_bins),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: impl Iterator<Item = (u64, u64)>) -> ArrivalSpread {
        let (mut bins, mut spread) = (Vec::new(), ArrivalSpread::default());
        for (planned, acted) in arrivals {
            ArrivalBin::find(&mut bins, ArrivalBin::number_at(Tick(planned))).planned += 1;
            ArrivalBin::find(&mut bins, ArrivalBin::number_at(Tick(acted))).acted += 1;
            if bins.len() > 10 {
                spread.push(&std::mem::take(&mut bins));
            }
        }
        spread
    }

    #[test]
    fn requests_begun_on_time_have_the_planned_spacing() {
        let spread = of((0..10_000).map(|i| (i * 500_000 + 1, i * 500_000 + 100_000)));
        let level = spread.shortest_conclusive().unwrap();
        assert!(level.spans > 450 && level.displaced == 0, "{spread:?}");
        assert_eq!((level.seconds(), level.dispersion()), (0.01, Some((0.0, 0.0))));
    }

    #[test]
    fn clustered_arrivals_are_detected() {
        let due = |i: u64| i * 500_000 + 1;
        let spread = of((0..10_000).map(|i| (due(i), due(i).next_multiple_of(100_000_000))));
        assert!(spread.levels[0].displaced > spread.levels[0].spans, "{spread:?}");
    }

    #[test]
    fn gaps_count_as_bins_without_arrivals() {
        let spread = of((0..200).map(|i| (i * 1_000_000_000 + 1, i * 1_000_000_000 + 2)));
        let (planned, acted) = spread.levels[0].dispersion().unwrap();
        assert!(
            spread.levels[0].spans > 15_000 && planned == acted && planned > 0.98,
            "{spread:?}"
        );
        assert!(spread.shortest_conclusive().is_none() && spread.levels[2].spans > 150);
    }
}
