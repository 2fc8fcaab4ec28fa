//! Histograms that are small enough for each point of a time series.
//!
//! A sketch contains the non-empty buckets of a [`Histogram`], with eight joined into one. There
//! are 128 per power of two, so the error of a value is below 0.8 %. They are stored as a packed
//! list of about one byte per bucket. Sketches are mergeable, so points of a series can be joined
//! when it grows too long. Values cannot be recorded into a sketch; it is created from a histogram.

use crate::histogram::{high_of, index_of, low_of};
use crate::{Histogram, quantile};
use std::iter::from_fn;

/// Number of histogram buckets in a bucket of a sketch.
const JOINED: usize = 8;
/// Number of the bucket of the largest values.
const LAST_CELL: usize = index_of(u64::MAX) / JOINED;

/// Counts of values with an error below 0.8 %.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    packed: Box<[u8]>,
    max: u64,
}

impl From<&Histogram> for Sketch {
    fn from(histogram: &Histogram) -> Self {
        let cells = histogram.cells().map(|(index, count)| (index / JOINED, count));
        Self { packed: pack(cells), max: histogram.max() }
    }
}

impl<'a> FromIterator<&'a Sketch> for Sketch {
    fn from_iter<I: IntoIterator<Item = &'a Sketch>>(parts: I) -> Self {
        // Repeated merges would read and write the sum again for each part.
        let mut counts = vec![0_u64; LAST_CELL + 1];
        let mut max = 0;
        for part in parts {
            for (number, count) in part.numbered() {
                // Only damaged bytes exceed the range.
                let sum = &mut counts[number.min(LAST_CELL)];
                *sum = sum.saturating_add(count);
            }
            max = max.max(part.max);
        }
        let cells = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        Self { packed: pack(cells), max }
    }
}

impl Sketch {
    /// Number of values in the sketch.
    pub fn count(&self) -> u64 {
        self.numbered().map(|cell| cell.1).sum()
    }

    /// Largest value, exactly; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        // Both lists are sorted, so this is a merge step. `pack` adds up equal numbers.
        let joined = {
            let mut a = self.numbered().peekable();
            let mut b = other.numbered().peekable();
            pack(from_fn(|| match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 <= y.0 => a.next(),
                (Some(_), None) => a.next(),
                _ => b.next(),
            }))
        };
        self.packed = joined;
        self.max = self.max.max(other.max);
    }

    /// Returns the value at quantile `q`, as the largest value of its bucket; 0 when empty.
    pub fn quantile(&self, q: f64) -> u64 {
        let rank = quantile::rank(q, self.count());
        let mut counted = 0;
        for (cell, count) in self.numbered() {
            counted += count;
            if counted >= rank {
                return high_of(cell * JOINED + JOINED - 1).min(self.max);
            }
        }
        self.max
    }

    /// Returns the smallest and the largest value of the bucket that contains `value`.
    pub fn edges(value: u64) -> (u64, u64) {
        let first = index_of(value) / JOINED * JOINED;
        (low_of(first), high_of(first + JOINED - 1))
    }

    /// Returns the non-empty buckets as (smallest value, count).
    pub fn cells(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.numbered().map(|(cell, count)| (low_of(cell * JOINED), count))
    }

    /// Returns the packed form of the non-empty buckets. A bucket is a byte: the upper two bits are
    /// its distance from the previous bucket, the lower six its count. A part is 0 if its number is
    /// too large; the number then follows in LEB128, the distance first. Bucket `n` contains the
    /// buckets 8n to 8n + 7 of a [`Histogram`].
    pub fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Creates a sketch from its [`packed`](Self::packed) form and its largest value.
    pub fn from_packed(packed: Vec<u8>, max: u64) -> Self {
        Self { packed: packed.into_boxed_slice(), max }
    }

    /// True if all buckets are those of a [`Histogram`], and their counts have a sum. Bytes of a
    /// damaged file may violate both.
    pub fn is_valid(&self) -> bool {
        let mut sum = Some(0_u64);
        self.numbered().all(|(number, count)| {
            sum = sum.and_then(|sum| sum.checked_add(count));
            number <= LAST_CELL && sum.is_some()
        })
    }

    /// Returns the non-empty buckets as (number, count).
    fn numbered(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut bytes = self.packed.iter().copied();
        let mut number = 0_usize;
        from_fn(move || {
            let head = u64::from(bytes.next()?);
            let step =
                if head >> COUNT_BITS == 0 { read_number(&mut bytes) } else { head >> COUNT_BITS };
            let count =
                if head & COUNT_MASK == 0 { read_number(&mut bytes) } else { head & COUNT_MASK };
            // Only damaged bytes exceed the range.
            number = number.saturating_add(step as usize);
            Some((number, count))
        })
    }
}

/// Number of bits of the count in a bucket's byte. The other two bits are the distance from the
/// previous bucket. A part is 0 if its number is too large. The number then follows with seven bits
/// per byte, the lowest first; all bytes but the last have the high bit set (LEB128).
const COUNT_BITS: u32 = 6;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Packs buckets, which are sorted by number. Counts with the same number are added up.
fn pack(cells: impl Iterator<Item = (usize, u64)>) -> Box<[u8]> {
    let mut packed = Vec::new();
    let mut last = 0;
    let mut cells = cells.peekable();
    while let Some((number, mut count)) = cells.next() {
        while let Some(same) = cells.next_if(|next| next.0 == number) {
            count += same.1;
        }
        push_cell(&mut packed, (number - last) as u64, count);
        last = number;
    }
    packed.into_boxed_slice()
}

fn push_cell(packed: &mut Vec<u8>, step: u64, count: u64) {
    let short_step = if step < 4 { step } else { 0 };
    let short_count = if count <= COUNT_MASK { count } else { 0 };
    packed.push(((short_step << COUNT_BITS) | short_count) as u8);
    if short_step == 0 {
        push_number(packed, step);
    }
    if short_count == 0 {
        push_number(packed, count);
    }
}

fn push_number(packed: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn read_number(bytes: &mut impl Iterator<Item = u8>) -> u64 {
    let mut number = 0;
    let mut shift = 0;
    for byte in bytes {
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
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
    fn many_neighboring_buckets_need_a_byte_each() {
        let sketch = Sketch::from(&of(&(100_000..200_000).collect::<Vec<_>>()));
        assert!(sketch.count() == 100_000 && sketch.numbered().count() > 120);
        let spread = Sketch::from(&of(&(0..128).map(|i| 131_072 + i * 1024).collect::<Vec<_>>()));
        assert_eq!((spread.numbered().count(), spread.packed.len()), (128, 130));
    }

    proptest! {
        #[test]
        fn any_bytes_are_examined(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let sketch = Sketch::from_packed(bytes, 0);
            if sketch.is_valid() {
                let _ = (sketch.count(), sketch.quantile(0.5), sketch.cells().count());
            }
        }

        #[test]
        fn packing_is_lossless(steps in prop::collection::vec((1usize..3000, 1u64..1 << 50), 0..60)) {
            let mut at = 0;
            let cells: Vec<_> = steps.into_iter().map(|(step, n)| { at += step; (at, n) }).collect();
            let sketch = Sketch { packed: pack(cells.iter().copied()), max: 0 };
            prop_assert_eq!(sketch.numbered().collect::<Vec<_>>(), cells);
        }

        #[test]
        fn a_sketch_agrees_with_its_histogram(v in prop::collection::vec(1u64..1 << 45, 1..200), q in 0.0f64..=1.0) {
            let h = of(&v);
            let (exact, rough) = (h.quantile(q) as f64, Sketch::from(&h).quantile(q) as f64);
            prop_assert!((rough - exact).abs() <= exact * 0.0085 + 8.0, "{} {}", exact, rough);
        }

        #[test]
        fn merging_is_the_same_as_sketching_the_merged(a in prop::collection::vec(0u64..1 << 45, 0..80),
                                                       b in prop::collection::vec(0u64..1 << 45, 0..80)) {
            let mut merged = Sketch::from(&of(&a));
            let parts = [merged.clone(), Sketch::from(&of(&b))];
            merged.merge(&parts[1]);
            prop_assert!(merged.is_valid());
            prop_assert_eq!(&merged, &parts.iter().collect::<Sketch>());
            prop_assert_eq!(merged, Sketch::from(&of(&[a, b].concat())));
        }
    }
}
