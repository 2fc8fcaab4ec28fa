//! Counts of values in the layout of `HdrHistogram` with three significant digits.
//!
//! Buckets are log-linear, with 1024 per power of two, so the error of a value is below 0.1 %.
//! Count, sum, minimum and maximum are exact. Any `u64` is possible; nothing is clamped.
//!
//! There is a histogram for each label, interval and worker. With few non-empty buckets it is
//! a list of them, with four bytes each. When more than 64 buckets are recorded into, the
//! list becomes pages. A page is allocated when it is first used, and there are at most 880
//! pages of half a kilobyte.
//!
//! A histogram is not thread-safe: each worker records into its own, which is merged later.
//!
//! The layout follows "How `HdrHistogram` works" (Gil Tene, `HdrHistogram` README). Values
//! below 2048 have a bucket each. Above, the position of the highest bit and the ten bits below
//! it determine the bucket.

use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

/// log2 of the number of buckets per power of two.
const HALF_BITS: u32 = 10;
const PAGE_BITS: u32 = 6;
const PAGE: usize = 1 << PAGE_BITS;

/// Maximum length of a list that [`Histogram::record`] searches. For longer lists, a page is faster
/// on the measuring path. A merge has no such limit, because a list is always smaller than pages.
const LONGEST_RECORDED_LIST: usize = 64;

type Page = Box<[u64; PAGE]>;

/// A non-empty bucket of a list. The indices of the 56,320 buckets fit in 16 bits.
#[derive(Clone, Copy)]
struct Cell {
    index: u16,
    count: u16,
}

/// Counts of the buckets, in one of two forms.
#[derive(Clone)]
enum Cells {
    /// The non-empty buckets in ascending order.
    List(Vec<Cell>),
    /// All buckets, 64 to a page.
    Pages(Vec<Option<Page>>),
}

/// Number of occurrences of each value. Values are integers in any unit (brunt: nanoseconds).
#[derive(Clone, Default)]
pub struct Histogram {
    cells: Cells,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// Returns the index of the bucket that contains `value`.
#[inline]
pub(crate) const fn index_of(value: u64) -> usize {
    let octave = (value | (1 << HALF_BITS)).ilog2() - HALF_BITS;
    ((octave as usize) << HALF_BITS) + (value >> octave) as usize
}

/// Returns the smallest value of a bucket.
pub(crate) fn low_of(index: usize) -> u64 {
    let octave = (index >> HALF_BITS).saturating_sub(1);
    let within = (index - (octave << HALF_BITS)) as u64;
    within << octave
}

/// Returns the largest value of a bucket.
pub(crate) fn high_of(index: usize) -> u64 {
    let octave = (index >> HALF_BITS).saturating_sub(1);
    low_of(index) + ((1u64 << octave) - 1)
}

/// One non-empty bucket: every value in it lies in `low..=high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value of the bucket.
    pub low: u64,
    /// Largest value of the bucket.
    pub high: u64,
    /// Number of values in the bucket.
    pub count: u64,
}

impl Histogram {
    /// Creates an empty histogram, without allocation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Increases the count of `value` by one.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts `value` `n` times; `n` of 0 changes nothing.
    #[inline]
    pub fn record_n(&mut self, value: u64, n: u64) {
        if n == 0 {
            return;
        }
        let index = index_of(value);
        match &mut self.cells {
            Cells::Pages(pages) => add_to_page(pages, index, n),
            Cells::List(list) if list.len() < LONGEST_RECORDED_LIST => self.cells.add(index, n),
            Cells::List(_) => add_to_page(self.cells.make_pages(), index, n),
        }
        // `min` is 0 while the histogram is empty.
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += n;
        self.sum += u128::from(value) * u128::from(n);
    }

    /// Adds the counts of `other`. The operation is associative and commutative.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.cells.merge(&other.cells);
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Changes the histogram to its smallest form. Recording remains possible.
    pub fn compact(&mut self) {
        self.cells.compact();
    }

    /// Returns the difference to `part`, which must have been merged or
    /// recorded into this histogram.
    ///
    /// Minimum and maximum of the result are known only to the width of their buckets.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        if part.is_empty() {
            return self.clone();
        }
        let mut rest = Self::new();
        for bucket in self.buckets() {
            let index = index_of(bucket.low);
            let count = bucket.count.saturating_sub(part.cells.count(index));
            rest.record_n(bucket.high.min(self.max), count);
        }
        // The sum of the recorded values is only as exact as their buckets.
        rest.sum = self.sum.saturating_sub(part.sum);
        if rest.count > 0 {
            rest.min = rest.min.max(self.min);
        }
        rest
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// True if no value was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Smallest recorded value, exactly; 0 when empty.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// Largest recorded value, exactly; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Sum of all recorded values, exactly.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Arithmetic mean, exact except for the division; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Standard deviation of the population, from the middles of the buckets; 0 when empty.
    pub fn stddev(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self
            .buckets()
            .map(|b| {
                let middle = f64::midpoint(b.low as f64, b.high.min(self.max) as f64);
                (middle - mean).powi(2) * b.count as f64
            })
            .sum();
        (squares / self.count as f64).sqrt()
    }

    /// Returns the `rank`-th smallest value (1-based), as the largest value of its
    /// bucket; 0 when empty.
    pub fn value_at_rank(&self, rank: u64) -> u64 {
        if rank >= self.count {
            return self.max;
        }
        let mut counted = 0;
        for bucket in self.buckets() {
            counted += bucket.count;
            if counted >= rank.max(1) {
                // The ends of a bucket may be outside the range of the values.
                return bucket.high.clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// Returns the value at quantile `q` (0 to 1): the smallest value such that at least the share
    /// `q` of all values is not larger.
    pub fn quantile(&self, q: f64) -> u64 {
        self.value_at_rank(crate::quantile::rank(q, self.count))
    }

    /// Number of values that are certainly not above `value`: those in buckets that end
    /// at or below it.
    pub fn count_at_or_below(&self, value: u64) -> u64 {
        self.buckets().take_while(|b| b.high <= value).map(|b| b.count).sum()
    }

    /// Returns the non-empty buckets in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.cells.iter().map(|(index, count)| Bucket {
            low: low_of(index),
            high: high_of(index),
            count,
        })
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.cells.iter()
    }

    /// Encodes the histogram in the standard compressed format (`HdrHistogram` V2, deflated) that
    /// other tools read. The unit is that of the recorded values.
    pub fn to_hdr_v2_deflate(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let Ok(mut hdr) =
            hdrhistogram::Histogram::<u64>::new_with_bounds(1, (self.max | 2048).max(2), 3)
        else {
            return out;
        };
        for bucket in self.buckets() {
            // All buckets are within the bounds above, so recording cannot fail.
            let _ = hdr.record_n(bucket.low.max(u64::from(bucket.high > 0)), bucket.count);
        }
        let _ = V2DeflateSerializer::new().serialize(&hdr, &mut out);
        out
    }

    /// Returns the delta encoding of the non-empty buckets, in ascending order: the
    /// distance of each index from the previous one (the first: from 0), and the count.
    /// Together with [`sum`](Self::sum), [`min`](Self::min) and [`max`](Self::max) it
    /// describes the histogram completely.
    pub fn steps(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut last = 0;
        self.cells.iter().map(move |(index, count)| {
            let step = (index - last) as u32;
            last = index;
            (step, count)
        })
    }

    /// Decodes a histogram from [`steps`](Self::steps); `exact` contains sum, min and max. None if
    /// an index or the sum of the counts is out of range.
    pub fn from_steps(
        exact: (u128, u64, u64),
        steps: impl IntoIterator<Item = (u32, u64)>,
    ) -> Option<Self> {
        let mut out = Self::new();
        let mut index = 0usize;
        for (step, count) in steps {
            index =
                index.checked_add(step as usize).filter(|index| *index <= index_of(u64::MAX))?;
            out.count = out.count.checked_add(count)?;
            out.cells.add(index, count);
        }
        (out.sum, out.min, out.max) = exact;
        Some(out)
    }

    /// Size in memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.cells.heap_bytes()
    }
}

impl Default for Cells {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Cells {
    /// Returns the non-empty buckets with their counts, in ascending order.
    fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (list, pages) = match self {
            Self::List(list) => (&list[..], &[][..]),
            Self::Pages(pages) => (&[][..], &pages[..]),
        };
        // One iterator type for both forms: one of the two chained parts is always empty.
        let in_pages = pages.iter().enumerate().flat_map(|(number, page)| {
            let counts = page.as_deref().map_or(&[][..], |page| &page[..]);
            counts
                .iter()
                .enumerate()
                .map(move |(place, count)| ((number << PAGE_BITS) + place, *count))
        });
        let in_list = list.iter().map(|cell| (usize::from(cell.index), u64::from(cell.count)));
        in_list.chain(in_pages).filter(|(_, count)| *count > 0)
    }

    fn count(&self, index: usize) -> u64 {
        match self {
            Self::List(list) => {
                position(list, index).map_or(0, |place| u64::from(list[place].count))
            }
            Self::Pages(pages) => match pages.get(index >> PAGE_BITS) {
                Some(Some(page)) => page[index & (PAGE - 1)],
                _ => 0,
            },
        }
    }

    /// Increases the count of a bucket. A list becomes pages only if it cannot store the count.
    fn add(&mut self, index: usize, n: u64) {
        let is_in_list = match self {
            Self::List(list) => add_to_list(list, index, n),
            Self::Pages(_) => false,
        };
        if !is_in_list {
            add_to_page(self.make_pages(), index, n);
        }
    }

    fn merge(&mut self, other: &Self) {
        match other {
            Self::List(list) => {
                for cell in list {
                    self.add(usize::from(cell.index), u64::from(cell.count));
                }
            }
            Self::Pages(pages) => {
                let ours = self.make_pages();
                for (number, page) in pages.iter().enumerate() {
                    let Some(page) = page else { continue };
                    page_mut(ours, number)
                        .iter_mut()
                        .zip(page.iter())
                        .for_each(|(ours, theirs)| *ours += theirs);
                }
            }
        }
    }

    /// Converts a list to pages.
    #[cold]
    fn make_pages(&mut self) -> &mut Vec<Option<Page>> {
        if let Self::List(list) = self {
            let mut pages = Vec::new();
            for cell in list {
                add_to_page(&mut pages, usize::from(cell.index), u64::from(cell.count));
            }
            *self = Self::Pages(pages);
        }
        match self {
            Self::Pages(pages) => pages,
            Self::List(_) => unreachable!("it has become pages"),
        }
    }

    /// Converts pages to a list, unless it cannot store a count.
    fn compact(&mut self) {
        let has_small_counts = self.iter().all(|(_, count)| u16::try_from(count).is_ok());
        if has_small_counts {
            let mut list = Vec::with_capacity(self.iter().count());
            list.extend(
                self.iter().map(|(index, count)| Cell { index: index as u16, count: count as u16 }),
            );
            *self = Self::List(list);
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::List(list) => list.capacity() * size_of::<Cell>(),
            Self::Pages(pages) => {
                let used = pages.iter().flatten().count();
                pages.capacity() * size_of::<Option<Page>>() + used * PAGE * size_of::<u64>()
            }
        }
    }
}

/// Returns the position of a bucket in a list, or the position where it would be inserted.
fn position(list: &[Cell], index: usize) -> Result<usize, usize> {
    list.binary_search_by_key(&index, |cell| usize::from(cell.index))
}

/// Increases the count of a bucket. Returns false if the list cannot store the count.
fn add_to_list(list: &mut Vec<Cell>, index: usize, n: u64) -> bool {
    let place = position(list, index);
    let before = place.map_or(0, |place| u64::from(list[place].count));
    let Ok(count) = u16::try_from(before.saturating_add(n)) else { return false };
    match place {
        Ok(place) => list[place].count = count,
        Err(place) => {
            if list.len() == list.capacity() {
                // Doubling could waste half of the memory of a long list.
                list.reserve_exact(list.len() / 4 + 4);
            }
            list.insert(place, Cell { index: index as u16, count });
        }
    }
    true
}

#[inline]
fn add_to_page(pages: &mut Vec<Option<Page>>, index: usize, n: u64) {
    if let Some(Some(page)) = pages.get_mut(index >> PAGE_BITS) {
        page[index & (PAGE - 1)] += n;
    } else {
        page_mut(pages, index >> PAGE_BITS)[index & (PAGE - 1)] += n;
    }
}

/// Returns a page, which is allocated if it does not exist.
#[cold]
fn page_mut(pages: &mut Vec<Option<Page>>, number: usize) -> &mut Page {
    if pages.len() <= number {
        pages.resize_with(number + 1, || None);
    }
    pages[number].get_or_insert_with(|| Box::new([0; PAGE]))
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum == other.sum
            && self.min == other.min
            && self.max == other.max
            && self.cells.iter().eq(other.cells.iter())
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min", &self.min)
            .field("p50", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        for v in values {
            h.record(*v);
        }
        h
    }

    #[test]
    fn every_bucket_contains_its_bounds_and_adjoins_the_next() {
        for index in 0..=index_of(u64::MAX) {
            assert_eq!(index_of(low_of(index)), index);
            assert_eq!(index_of(high_of(index)), index);
            if index > 0 {
                assert_eq!(high_of(index - 1) + 1, low_of(index));
            }
        }
    }

    #[test]
    fn quantiles_of_one_to_a_thousand_are_exact_below_2048() {
        let h = of(&(1..=1000).collect::<Vec<_>>());
        assert_eq!((h.quantile(0.5), h.quantile(0.99), h.quantile(1.0)), (500, 990, 1000));
        assert_eq!((h.min(), h.max(), h.count(), h.sum()), (1, 1000, 1000, 500_500));
        assert!((h.stddev() - 288.675).abs() < 0.01);
    }

    #[test]
    fn an_empty_histogram_has_quantiles_of_zero_and_no_memory() {
        let h = Histogram::new();
        assert_eq!((h.quantile(0.99), h.max(), h.min()), (0, 0, 0));
        assert_eq!(h.memory_bytes(), size_of::<Histogram>());
    }

    #[test]
    fn an_hour_in_nanoseconds_is_exact_to_a_thousandth() {
        let hour = 3_600_000_000_000;
        let h = of(&[hour, hour + 1]);
        assert_eq!(h.max(), hour + 1);
        let p50 = h.quantile(0.5);
        assert!(p50 >= hour && p50 <= hour + hour / 1000);
    }

    #[test]
    fn subtracting_a_part_leaves_the_rest() {
        let (good, bad) = (of(&[10, 20, 5000, 7000]), of(&[20, 900_000]));
        let mut all = good.clone();
        all.merge(&bad);
        let rest = all.without(&bad);
        assert_eq!((rest.count(), rest.sum(), rest.min()), (4, good.sum(), 10));
        assert!(rest.cells.iter().eq(good.cells.iter()));
    }

    #[test]
    fn hdrhistogram_reads_the_standard_encoding() {
        let h = of(&[100, 2_000, 1_000_000, 50_000_000_000]);
        let bytes = h.to_hdr_v2_deflate();
        let back: hdrhistogram::Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        assert_eq!(back.len(), 4);
        for q in [0.25, 0.5, 0.75, 1.0] {
            let (ours, theirs) = (h.quantile(q) as f64, back.value_at_quantile(q) as f64);
            assert!((ours - theirs).abs() <= ours * 0.001, "{q}: {ours} {theirs}");
        }
    }

    /// Memory matters: there are several histograms for each label, interval and worker.
    #[test]
    fn few_values_need_few_bytes() {
        let h = (0..500).map(|n| 100_000 + n * 40_000).fold(Histogram::new(), |mut all, value| {
            all.merge(&of(&[value]));
            all
        });
        assert_eq!(h.count(), 500);
        let bytes = h.memory_bytes() - size_of::<Histogram>();
        assert!(bytes <= 500 * 5, "{bytes} bytes for {} buckets", h.buckets().count());
    }

    #[test]
    fn a_count_too_large_for_the_list_is_exact() {
        let mut h = of(&[7]);
        h.record_n(7, 65_534);
        h.record(7);
        h.record_n(3_000_000, u64::from(u32::MAX));
        h.compact();
        let counts: Vec<(u64, u64)> =
            h.buckets().map(|bucket| (bucket.low, bucket.count)).collect();
        assert_eq!(counts, [(7, 65_536), (2_998_272, u64::from(u32::MAX))]);
    }

    proptest! {
        /// The form of a histogram (list or pages) depends on the order of recording. Nothing else
        /// may depend on it.
        #[test]
        fn the_representation_of_a_histogram_does_not_matter(
            parts in prop::collection::vec(prop::collection::vec((0u64..1 << 34, 1u64..40_000), 0..100), 1..6)
        ) {
            let mut expected = std::collections::BTreeMap::new();
            let mut recorded = Histogram::new();
            let mut merged = Histogram::new();
            for (value, n) in parts.iter().flatten() {
                *expected.entry(index_of(*value)).or_insert(0) += n;
                recorded.record_n(*value, *n);
            }
            for part in &parts {
                let mut one = Histogram::new();
                for (value, n) in part {
                    one.record_n(*value, *n);
                }
                merged.merge(&one);
            }
            let expected: Vec<(usize, u64)> = expected.into_iter().collect();
            prop_assert_eq!(recorded.cells().collect::<Vec<_>>(), expected.clone());
            let exact = (recorded.sum(), recorded.min(), recorded.max());
            let read = Histogram::from_steps(exact, recorded.steps()).unwrap();
            let mut compact = merged.clone();
            compact.compact();
            prop_assert!(compact.memory_bytes() <= recorded.memory_bytes());
            for other in [&merged, &read, &compact, &merged.clone().without(&Histogram::new())] {
                prop_assert_eq!(&recorded, other);
            }
            for (index, count) in expected {
                prop_assert_eq!(merged.cells.count(index), count);
            }
            let first: Histogram = parts[0].iter().fold(Histogram::new(), |mut all, (value, n)| {
                all.record_n(*value, *n);
                all
            });
            let rest = merged.without(&first);
            prop_assert_eq!(rest.count() + first.count(), merged.count());
        }

        #[test]
        fn the_order_of_merges_does_not_matter(a in prop::collection::vec(any::<u64>(), 0..50),
                                     b in prop::collection::vec(any::<u64>(), 0..50),
                                     c in prop::collection::vec(0u64..1 << 40, 0..50)) {
            let (x, y, z) = (of(&a), of(&b), of(&c));
            let mut left = x.clone();
            left.merge(&y);
            left.merge(&z);
            let mut inner = z.clone();
            inner.merge(&y);
            inner.merge(&x);
            prop_assert_eq!(&left, &inner);
            prop_assert_eq!(left, of(&[a, b, c].concat()));
        }

        #[test]
        fn quantiles_are_within_a_thousandth(mut v in prop::collection::vec(0u64..1 << 50, 1..300), q in 0.0f64..=1.0) {
            let h = of(&v);
            v.sort_unstable();
            let truth = v[(crate::quantile::rank(q, v.len() as u64) - 1) as usize];
            let got = h.quantile(q);
            prop_assert!(got >= truth && got as f64 <= truth as f64 * 1.001 + 1.0);
        }
    }
}
