//! Sums of samples, generated from rows. A row is a field, its rule in merges, and its
//! field in the message.

pub mod kinds;
pub mod messages;

use crate::Failure;
use crate::outcome::MalformedReply;
use brunt_stats::Histogram;
pub use messages::{FailureCount, FailureTimes, MalformedCount, StatusCount};

/// A value that can be added up, with a field in a message.
pub trait Summand: Sized {
    /// Type of the field in the message.
    type Field;

    /// Adds another value.
    fn merge(&mut self, other: &Self);

    /// Adds the parts that reports show by label.
    fn merge_replies(&mut self, other: &Self) {
        self.merge(other);
    }

    /// Changes histograms to their smallest form.
    fn compact(&mut self) {}

    /// Converts the value to its field.
    fn to_field(&self) -> Self::Field;

    /// Converts a field to a value; None if the field is damaged.
    fn from_field(field: Self::Field) -> Option<Self>;
}

/// Generates the struct of a sum, its message, and their [`Summand`] implementation. A row is
/// `[prost] name: type = number`. A row that ends with `(run)` is not added up by label.
macro_rules! sums {
    (
        $(#[$about:meta])*
        pub struct $sum:ident as $message:ident {
            $($(#[$doc:meta])* [$($prost:tt)+] $field:ident: $type:ty = $number:tt $(($scope:ident))?,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $sum {
            $($(#[$doc])* pub $field: $type,)*
        }

        #[doc = concat!("Message of a [`", stringify!($sum), "`].")]
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $message {
            $($(#[$doc])* #[prost($($prost)+, tag = $number)] pub $field: <$type as Summand>::Field,)*
        }

        impl Summand for $sum {
            type Field = Option<$message>;

            fn merge(&mut self, other: &Self) {
                $(self.$field.merge(&other.$field);)*
            }

            fn merge_replies(&mut self, other: &Self) {
                $(sums!(@replies self.$field, other.$field $(, $scope)?);)*
            }

            fn compact(&mut self) {
                $(self.$field.compact();)*
            }

            fn to_field(&self) -> Self::Field {
                (*self != Self::default()).then(|| $message { $($field: self.$field.to_field(),)* })
            }

            fn from_field(field: Self::Field) -> Option<Self> {
                let Some(message) = field else { return Some(Self::default()) };
                Some(Self { $($field: Summand::from_field(message.$field)?,)* })
            }
        }
    };
    (@replies $ours:expr, $others:expr) => { $ours.merge(&$others) };
    (@replies $ours:expr, $others:expr, run) => {};
}
pub(crate) use sums;

impl Summand for u64 {
    type Field = Self;

    fn merge(&mut self, other: &Self) {
        *self += other;
    }

    fn to_field(&self) -> Self {
        *self
    }

    fn from_field(field: Self) -> Option<Self> {
        Some(field)
    }
}

impl Summand for Histogram {
    type Field = Option<messages::Histogram>;

    fn merge(&mut self, other: &Self) {
        Self::merge(self, other);
    }

    fn compact(&mut self) {
        Self::compact(self);
    }

    fn to_field(&self) -> Self::Field {
        if self.is_empty() {
            return None;
        }
        let (steps, counts) = self.steps().unzip();
        // protobuf has no integers of 128 bits.
        let sum_high = (self.sum() >> 64) as u64;
        Some(messages::Histogram {
            sum: self.sum() as u64,
            sum_high,
            min: self.min(),
            max: self.max(),
            steps,
            counts,
        })
    }

    fn from_field(field: Self::Field) -> Option<Self> {
        let Some(message) = field else { return Some(Self::new()) };
        // The two lists are pairs, so different lengths mean a damaged message.
        if message.steps.len() != message.counts.len() {
            return None;
        }
        let sum = (u128::from(message.sum_high) << 64) | u128::from(message.sum);
        Self::from_steps(
            (sum, message.min, message.max),
            message.steps.into_iter().zip(message.counts),
        )
    }
}

impl Summand for [u64; Failure::COUNT] {
    type Field = Vec<FailureCount>;

    fn merge(&mut self, other: &Self) {
        for (count, n) in self.iter_mut().zip(other) {
            *count += n;
        }
    }

    fn to_field(&self) -> Self::Field {
        let counts = Failure::all()
            .map(|failure| (failure, self[failure as usize]))
            .filter(|(_, count)| *count > 0);
        counts
            .map(|(failure, count)| FailureCount {
                failure: kinds::Failure::number(failure),
                count,
            })
            .collect()
    }

    fn from_field(field: Self::Field) -> Option<Self> {
        let mut counts = [0_u64; Failure::COUNT];
        for message in field {
            let count = &mut counts[kinds::failure(message.failure) as usize];
            // The counts of a damaged message may overflow.
            *count = count.checked_add(message.count)?;
        }
        Some(counts)
    }
}

impl Summand for Vec<(Failure, Histogram)> {
    type Field = Vec<FailureTimes>;

    fn merge(&mut self, other: &Self) {
        for (failure, times) in other {
            entry(self, *failure).merge(times);
        }
        // Sorted, so that the result does not depend on the order of merging.
        self.sort_by_key(|entry| entry.0);
    }

    fn compact(&mut self) {
        for (_, times) in self {
            times.compact();
        }
    }

    fn to_field(&self) -> Self::Field {
        let messages = self.iter().map(|(failure, times)| FailureTimes {
            failure: kinds::Failure::number(*failure),
            times: times.to_field(),
        });
        messages.collect()
    }

    fn from_field(field: Self::Field) -> Option<Self> {
        let times = field.into_iter();
        times
            .map(|message| {
                Some((kinds::failure(message.failure), Histogram::from_field(message.times)?))
            })
            .collect()
    }
}

impl Summand for Vec<(MalformedReply, u64)> {
    type Field = Vec<MalformedCount>;

    fn merge(&mut self, other: &Self) {
        for (cause, n) in other {
            *entry(self, *cause) += n;
        }
        self.sort_by_key(|entry| entry.0);
    }

    fn to_field(&self) -> Self::Field {
        let messages = self.iter().map(|(cause, count)| MalformedCount {
            cause: kinds::MalformedReply::number(*cause),
            count: *count,
        });
        messages.collect()
    }

    fn from_field(field: Self::Field) -> Option<Self> {
        Some(
            field
                .iter()
                // An unknown cause comes from a later version; its failure is counted anyway.
                .filter_map(|message| {
                    Some((kinds::MalformedReply::from_number(message.cause)?, message.count))
                })
                .collect(),
        )
    }
}

/// Returns the value of a key, which is added to the list if it is missing.
pub fn entry<K: Copy + PartialEq, V: Default>(list: &mut Vec<(K, V)>, key: K) -> &mut V {
    // These lists have a few entries, so a linear search is faster than a map.
    let index = list.iter().position(|entry| entry.0 == key).unwrap_or_else(|| {
        list.push((key, V::default()));
        list.len() - 1
    });
    &mut list[index].1
}
