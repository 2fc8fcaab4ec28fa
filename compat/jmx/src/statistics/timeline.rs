//! Aggregates records over time, for the graphs of the dashboard.
//!
//! Memory is bounded: intervals start at one second, and double when there
//! are more than [`MOST_INTERVALS`].

use brunt_model::SampleRecord;
use brunt_stats::Histogram;
use std::collections::BTreeMap;

/// Maximum number of intervals.
pub const MOST_INTERVALS: u64 = 300;

/// Maximum number of labels and codes in graphs; further ones are omitted.
const MOST_NAMES: usize = 100;

/// Sums of records for intervals of equal length.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    intervals: BTreeMap<u64, TimelineInterval>,
    /// Length of an interval, in seconds.
    width: u64,
    labels: BTreeMap<String, LabelSums>,
}

/// Samples that started or ended in an interval.
#[derive(Debug, Clone, Default)]
pub struct TimelineInterval {
    /// Number of samples that started.
    pub begun: u64,
    /// Number of samples that ended.
    pub ended: u64,
    /// Number of samples that ended and failed.
    pub failed: u64,
    /// Bytes received by samples that ended.
    pub bytes: u64,
    /// Bytes sent by samples that ended.
    pub sent_bytes: u64,
    /// Number of samples that ended, by response code.
    pub codes: BTreeMap<String, u64>,
    /// Sums of samples that ended, by label.
    pub labels: BTreeMap<String, LabelSums>,
    /// Sums of all samples that are not transactions.
    pub samples: LabelSums,
    /// Response times of passed samples, in milliseconds.
    pub good: Histogram,
    /// Maximum number of active threads, by thread group.
    pub threads: BTreeMap<String, u64>,
    /// Maximum number of active threads of all groups.
    pub all_threads: u64,
}

/// Sums of the samples of a label. Times are milliseconds.
#[derive(Debug, Clone, Default)]
pub struct LabelSums {
    /// Number of samples with the label.
    pub count: u64,
    /// Number of failed samples.
    pub failed: u64,
    /// Sum of response times.
    pub elapsed: u64,
    /// Sum of times to the first byte.
    pub latency: u64,
    /// Sum of connect times.
    pub connect: u64,
    /// Response times; empty for a label in an interval.
    pub times: Histogram,
}

impl Timeline {
    /// Adds a record to its intervals and its label.
    pub(super) fn record(&mut self, record: &SampleRecord) {
        self.width = self.width.max(1);
        let end = record.start_unix_millis + record.elapsed_millis;
        self.interval_at(record.start_unix_millis).begun += 1;
        let is_known = self.labels.contains_key(&record.label) || self.labels.len() < MOST_NAMES;
        if is_known {
            let totals = self.labels.entry(record.label.clone()).or_default();
            totals.add(record);
            totals.times.record(record.elapsed_millis);
        }
        let interval = self.interval_at(end);
        interval.ended += 1;
        interval.failed += u64::from(!record.success);
        interval.bytes += record.bytes;
        interval.sent_bytes += record.sent_bytes;
        if interval.codes.contains_key(&record.code) || interval.codes.len() < MOST_NAMES {
            *interval.codes.entry(record.code.clone()).or_default() += 1;
        }
        if is_known {
            interval.labels.entry(record.label.clone()).or_default().add(record);
        }
        if !record.is_transaction {
            interval.samples.add(record);
            interval.samples.times.record(record.elapsed_millis);
        }
        if record.success {
            interval.good.record(record.elapsed_millis);
        }
        // JMeter's thread names are such as `Users 1-7`.
        let group = record
            .thread_name
            .rsplit_once(' ')
            .map_or(record.thread_name.as_str(), |(group, _)| group);
        let threads = interval.threads.entry(group.to_owned()).or_default();
        *threads = (*threads).max(u64::from(record.group_threads));
        interval.all_threads = interval.all_threads.max(u64::from(record.all_threads));
    }

    /// Length of an interval, in seconds.
    pub fn width_seconds(&self) -> f64 {
        self.width.max(1) as f64
    }

    /// Intervals, each with its middle in seconds since 1970.
    pub fn intervals(&self) -> impl Iterator<Item = (f64, &TimelineInterval)> {
        let width = self.width_seconds();
        self.intervals
            .iter()
            .map(move |(position, interval)| ((*position as f64 + 0.5) * width, interval))
    }

    /// Labels of the whole run, those with the most samples first.
    pub fn labels(&self) -> Vec<(&str, &LabelSums)> {
        let mut all: Vec<_> =
            self.labels.iter().map(|(label, sums)| (label.as_str(), sums)).collect();
        all.sort_by_key(|(label, sums)| (std::cmp::Reverse(sums.count), *label));
        all
    }

    /// The interval of a time; widens all intervals if there would be too many.
    fn interval_at(&mut self, unix_millis: u64) -> &mut TimelineInterval {
        loop {
            let position = unix_millis / 1_000 / self.width;
            let first = self.intervals.keys().next().map_or(position, |first| position.min(*first));
            let last =
                self.intervals.keys().next_back().map_or(position, |last| position.max(*last));
            if last - first < MOST_INTERVALS {
                return self.intervals.entry(position).or_default();
            }
            self.widen();
        }
    }

    /// Doubles the length of intervals.
    fn widen(&mut self) {
        self.width *= 2;
        for (position, interval) in std::mem::take(&mut self.intervals) {
            self.intervals.entry(position / 2).or_default().merge(interval);
        }
    }
}

impl TimelineInterval {
    fn merge(&mut self, other: Self) {
        self.begun += other.begun;
        self.ended += other.ended;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        other
            .codes
            .into_iter()
            .for_each(|(code, count)| *self.codes.entry(code).or_default() += count);
        for (label, sums) in other.labels {
            self.labels.entry(label).or_default().merge(&sums);
        }
        self.samples.merge(&other.samples);
        self.good.merge(&other.good);
        for (group, threads) in other.threads {
            let most = self.threads.entry(group).or_default();
            *most = (*most).max(threads);
        }
        self.all_threads = self.all_threads.max(other.all_threads);
    }
}

impl LabelSums {
    fn add(&mut self, record: &SampleRecord) {
        self.count += 1;
        self.failed += u64::from(!record.success);
        self.elapsed += record.elapsed_millis;
        self.latency += record.latency_millis;
        self.connect += record.connect_millis;
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.elapsed += other.elapsed;
        self.latency += other.latency;
        self.connect += other.connect;
        self.times.merge(&other.times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(start_seconds: u64, elapsed_millis: u64, success: bool) -> SampleRecord {
        SampleRecord {
            label: "page".into(),
            thread_name: "Users 1-7".into(),
            code: if success { "200" } else { "500" }.into(),
            start_unix_millis: start_seconds * 1_000,
            elapsed_millis,
            success,
            bytes: 100,
            group_threads: 3,
            all_threads: 5,
            ..SampleRecord::default()
        }
    }

    #[test]
    fn samples_are_counted_at_their_begin_and_end() {
        let mut timeline = Timeline::default();
        timeline.record(&sample(1_000, 1_500, true));
        timeline.record(&sample(1_001, 10, false));
        let all: Vec<_> = timeline
            .intervals()
            .map(|(position, of)| (position, of.begun, of.ended, of.failed, of.bytes))
            .collect();
        assert_eq!(all, [(1_000.5, 1, 0, 0, 0), (1_001.5, 1, 2, 1, 200)]);
        let (_, last) = timeline.intervals().last().unwrap();
        assert_eq!((last.threads["Users"], last.all_threads, last.codes["500"]), (3, 5, 1));
        assert_eq!((last.good.count(), last.good.max()), (1, 1_500));
        assert_eq!(timeline.labels()[0].1.elapsed, 1_510);
    }

    #[test]
    fn a_long_run_has_longer_intervals_and_all_samples() {
        let mut timeline = Timeline::default();
        (0..1_000).for_each(|second| timeline.record(&sample(5_000_000 + second, 10, true)));
        // Samples that come late may be older than all before.
        timeline.record(&sample(4_999_000, 10, true));
        let counted: u64 = timeline.intervals().map(|(_, interval)| interval.ended).sum();
        assert_eq!((timeline.width_seconds(), counted), (8.0, 1_001));
        assert!(timeline.intervals().count() as u64 <= MOST_INTERVALS);
    }
}
