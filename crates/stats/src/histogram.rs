//! Counts of values in the layout of `HdrHistogram` with three significant digits.
//!
//! What it is: log-linear buckets, 1024 to each power of two, so that a value is known to better than 0.1 %. Count,
//! sum, least and greatest are exact. Any `u64` fits: nothing is clamped. Buckets are kept in pages that are made when
//! first used, so an empty histogram owns no memory and a full one is bounded (880 pages of half a kilobyte).
//!
//! Out of scope: safe for several threads. Each worker records into its own and hands it over.
//!
//! The layout follows "How `HdrHistogram` works" (Gil Tene, `HdrHistogram` README): values below 2048 have a bucket
//! each; above, the bucket is given by the position of the highest bit and the ten bits below it.

use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

/// log2 of the buckets to each power of two.
const HALF_BITS: u32 = 10;
const PAGE_BITS: u32 = 6;
const PAGE: usize = 1 << PAGE_BITS;

type Page = Box<[u64; PAGE]>;

/// How often each value was seen. Values are whole numbers of whatever unit the owner counts in (brunt: nanoseconds).
#[derive(Clone, Default)]
pub struct Histogram {
    pages: Vec<Option<Page>>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// The bucket that holds `value`.
#[inline]
pub(crate) fn index_of(value: u64) -> usize {
    let octave = (value | (1 << HALF_BITS)).ilog2() - HALF_BITS;
    ((octave as usize) << HALF_BITS) + (value >> octave) as usize
}

/// The least value of a bucket.
pub(crate) fn low_of(index: usize) -> u64 {
    let octave = (index >> HALF_BITS).saturating_sub(1);
    let within = (index - (octave << HALF_BITS)) as u64;
    within << octave
}

/// The greatest value of a bucket.
pub(crate) fn high_of(index: usize) -> u64 {
    let octave = (index >> HALF_BITS).saturating_sub(1);
    low_of(index) + ((1u64 << octave) - 1)
}

/// One non-empty bucket: every value in it lies in `low..=high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Least value that falls here.
    pub low: u64,
    /// Greatest value that falls here.
    pub high: u64,
    /// How many fell here.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `value` once.
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
        if let Some(Some(page)) = self.pages.get_mut(index >> PAGE_BITS) {
            page[index & (PAGE - 1)] += n;
        } else {
            self.page(index >> PAGE_BITS)[index & (PAGE - 1)] += n;
        }
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += n;
        self.sum += u128::from(value) * u128::from(n);
    }

    #[cold]
    fn page(&mut self, number: usize) -> &mut Page {
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, || None);
        }
        self.pages[number].get_or_insert_with(|| Box::new([0; PAGE]))
    }

    /// Adds all that `other` counted. Associative and commutative.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        for (number, theirs) in other.pages.iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            let ours = self.page(number);
            for (a, b) in ours.iter_mut().zip(theirs.iter()) {
                *a += b;
            }
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// What is left when all that `part` counted is taken away: `part` must have been merged or recorded here too.
    ///
    /// Least and greatest are then known to the width of their buckets only.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        if part.is_empty() {
            return self.clone();
        }
        let mut rest = Self::new();
        for bucket in self.buckets() {
            let index = index_of(bucket.low);
            let count = bucket.count.saturating_sub(part.at(index));
            rest.record_n(bucket.high.min(self.max), count);
        }
        rest.sum = self.sum.saturating_sub(part.sum);
        if rest.count > 0 {
            rest.min = rest.min.max(self.min);
        }
        rest
    }

    fn at(&self, index: usize) -> u64 {
        match self.pages.get(index >> PAGE_BITS) {
            Some(Some(page)) => page[index & (PAGE - 1)],
            _ => 0,
        }
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The least value counted, exactly; 0 when empty.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The greatest value counted, exactly; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The sum of all values counted, exactly.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The arithmetic mean, exact but for the division; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The standard deviation of the population, from the middles of the buckets; 0 when empty.
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

    /// The value of the `rank`-th smallest (1-based), as the greatest value its bucket may hold; 0 when empty.
    pub fn value_at_rank(&self, rank: u64) -> u64 {
        if rank >= self.count {
            return self.max;
        }
        let mut seen = 0;
        for bucket in self.buckets() {
            seen += bucket.count;
            if seen >= rank.max(1) {
                return bucket.high.clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// The value at quantile `q` (0 to 1): the smallest value that at least the share `q` does not exceed.
    pub fn quantile(&self, q: f64) -> u64 {
        self.value_at_rank(crate::quantile::rank(q, self.count))
    }

    /// How many values are surely not above `value` (those in buckets that end at or below it).
    pub fn count_at_or_below(&self, value: u64) -> u64 {
        self.buckets().take_while(|b| b.high <= value).map(|b| b.count).sum()
    }

    /// The non-empty buckets, from the least to the greatest.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.cells().map(|(index, count)| Bucket { low: low_of(index), high: high_of(index), count })
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.pages.iter().enumerate().flat_map(|(number, page)| {
            let cells = page.as_deref().map_or(&[][..], |p| &p[..]);
            cells.iter().enumerate().filter(|(_, c)| **c > 0).map(move |(i, c)| ((number << PAGE_BITS) + i, *c))
        })
    }

    /// The standard compressed encoding (`HdrHistogram` V2, deflated) that other tools read. Unit: the recorded one.
    pub fn to_hdr_v2_deflate(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let Ok(mut hdr) = hdrhistogram::Histogram::<u64>::new_with_bounds(1, (self.max | 2048).max(2), 3) else {
            return out;
        };
        for bucket in self.buckets() {
            // The bounds above hold every bucket: recording cannot fail.
            let _ = hdr.record_n(bucket.low.max(u64::from(bucket.high > 0)), bucket.count);
        }
        let _ = V2DeflateSerializer::new().serialize(&hdr, &mut out);
        out
    }

    /// For each non-empty bucket, from the least: its distance from the one before (the first: from bucket 0), and its
    /// count. With [`sum`](Self::sum), [`min`](Self::min) and [`max`](Self::max), all that there is to write down.
    pub fn steps(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut last = 0;
        self.cells().map(move |(index, count)| {
            let step = (index - last) as u32;
            last = index;
            (step, count)
        })
    }

    /// The histogram with these [`steps`](Self::steps); `exact` holds sum, min and max. None where a bucket lies beyond
    /// 2^64, or the counts together do.
    pub fn of_steps(exact: (u128, u64, u64), steps: impl IntoIterator<Item = (u32, u64)>) -> Option<Self> {
        let (mut out, mut index) = (Self::new(), 0usize);
        for (step, count) in steps {
            index = index.checked_add(step as usize).filter(|index| *index <= index_of(u64::MAX))?;
            out.count = out.count.checked_add(count)?;
            out.page(index >> PAGE_BITS)[index & (PAGE - 1)] += count;
        }
        (out.sum, out.min, out.max) = exact;
        Some(out)
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let pages = self.pages.iter().flatten().count();
        size_of::<Self>() + self.pages.capacity() * size_of::<Option<Page>>() + pages * PAGE * size_of::<u64>()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum == other.sum
            && self.min == other.min
            && self.max == other.max
            && self.cells().eq(other.cells())
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
    fn every_bucket_holds_its_own_ends_and_touches_the_next() {
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
    fn an_empty_one_answers_zero_and_owns_nothing() {
        let h = Histogram::new();
        assert_eq!((h.quantile(0.99), h.max(), h.min()), (0, 0, 0));
        assert_eq!(h.memory_bytes(), size_of::<Histogram>());
    }

    #[test]
    fn an_hour_in_nanoseconds_is_known_to_a_thousandth() {
        let hour = 3_600_000_000_000;
        let h = of(&[hour, hour + 1]);
        assert_eq!(h.max(), hour + 1);
        let p50 = h.quantile(0.5);
        assert!(p50 >= hour && p50 <= hour + hour / 1000);
    }

    #[test]
    fn taking_a_part_away_leaves_the_rest() {
        let (good, bad) = (of(&[10, 20, 5000, 7000]), of(&[20, 900_000]));
        let mut all = good.clone();
        all.merge(&bad);
        let rest = all.without(&bad);
        assert_eq!((rest.count(), rest.sum(), rest.min()), (4, good.sum(), 10));
        assert!(rest.cells().eq(good.cells()));
    }

    #[test]
    fn others_read_the_standard_encoding() {
        let h = of(&[100, 2_000, 1_000_000, 50_000_000_000]);
        let bytes = h.to_hdr_v2_deflate();
        let back: hdrhistogram::Histogram<u64> =
            hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(back.len(), 4);
        for q in [0.25, 0.5, 0.75, 1.0] {
            let (ours, theirs) = (h.quantile(q) as f64, back.value_at_quantile(q) as f64);
            assert!((ours - theirs).abs() <= ours * 0.001, "{q}: {ours} {theirs}");
        }
    }

    proptest! {
        #[test]
        fn merge_order_never_matters(a in prop::collection::vec(any::<u64>(), 0..50),
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
