//! Counts the packets of a peer by their numbers: those that were received, each once, and those
//! that are missing among them.
//!
//! A packet is missing if a packet whose number is larger by [`REORDERING`] was received (RFC 9002
//! section 6.1.1). A late packet within the last [`WINDOW`] numbers reverts that. Losses after the
//! last received packet are unknown. Packets before the first received one are not counted: a
//! server sends some before the client has the keys to read them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of the last packet numbers that are tracked individually.
const WINDOW: u64 = 1024;
const WORDS: usize = WINDOW as usize / 64;
/// Minimum difference between the number of a lost packet and that of
/// a later one (`kPacketThreshold`).
pub const REORDERING: u64 = 3;

/// The received packets of one packet number space. Only one thread writes; the traits
/// of `quinn-proto` require atomics.
#[derive(Debug, Default)]
pub struct PacketNumbers {
    /// Largest received number, plus one.
    next: AtomicU64,
    /// Smallest received number.
    first: AtomicU64,
    /// Count of received numbers, each once.
    received: AtomicU64,
    /// Ring of bits: which of the last `WINDOW` numbers before `next` were received.
    received_bits: [AtomicU64; WORDS],
}

impl PacketNumbers {
    /// Records an authentic packet with this number.
    pub fn record(&self, number: u64) {
        let next = self.next.load(Relaxed);
        if number >= next {
            for skipped in next.max(number.saturating_sub(WINDOW))..number {
                let word = self.word(skipped);
                word.store(word.load(Relaxed) & !bit(skipped), Relaxed);
            }
            self.next.store(number + 1, Relaxed);
        } else if next - number > WINDOW || self.is_received(number) {
            return;
        }
        if self.received_count() == 0 || number < self.first.load(Relaxed) {
            self.first.store(number, Relaxed);
        }
        let word = self.word(number);
        word.store(word.load(Relaxed) | bit(number), Relaxed);
        self.received.store(self.received_count() + 1, Relaxed);
    }

    /// Number of received packets, each counted once.
    pub fn received_count(&self) -> u64 {
        self.received.load(Relaxed)
    }

    /// Number of missing packets. One is missing if a received packet has a number larger
    /// by `reordering` or more.
    pub fn missing(&self, reordering: u64) -> u64 {
        let next = self.next.load(Relaxed);
        let limit = next.saturating_sub(reordering);
        let received_after =
            (limit..next).filter(|number| self.is_received(*number)).count() as u64;
        limit.saturating_sub(self.first.load(Relaxed)) - (self.received_count() - received_after)
    }

    fn is_received(&self, number: u64) -> bool {
        self.word(number).load(Relaxed) & bit(number) != 0
    }

    fn word(&self, number: u64) -> &AtomicU64 {
        &self.received_bits[(number % WINDOW / 64) as usize]
    }
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn after(numbers: impl IntoIterator<Item = u64>) -> PacketNumbers {
        let packets = PacketNumbers::default();
        numbers.into_iter().for_each(|number| packets.record(number));
        packets
    }

    fn counts(packets: &PacketNumbers) -> (u64, u64) {
        (packets.received_count(), packets.missing(REORDERING))
    }

    #[test]
    fn packets_are_missing_once_three_later_numbers_exist() {
        assert_eq!(counts(&after([])), (0, 0));
        assert_eq!(counts(&after([0, 1, 2])), (3, 0));
        assert_eq!(counts(&after([0, 2])), (2, 0));
        assert_eq!(counts(&after([0, 2, 3])), (3, 0));
        assert_eq!(counts(&after([0, 2, 3, 4])), (4, 1));
        assert_eq!(counts(&after([3])), (1, 0), "earlier ones may have come before their keys");
        assert_eq!(counts(&after([5, 7, 10])), (3, 1), "6; 8 and 9 may come");
        assert_eq!(counts(&after([5, 3, 9])), (3, 2), "4 and 6; 7 and 8 may come");
        assert_eq!(after([0, 2]).missing(0), 1, "nothing comes any more");
    }

    #[test]
    fn reordered_packets_and_duplicates_are_not_missing() {
        assert_eq!(counts(&after([0, 3, 1, 2, 4])), (5, 0));
        assert_eq!(counts(&after([0, 9, 9, 9])), (2, 6));
        assert_eq!(counts(&after([0, 9, 1, 1, 2])), (4, 4));
        // A packet that arrives very late remains missing, and does not count as new.
        assert_eq!(counts(&after([0, 1024, 1])), (3, 1020));
        assert_eq!(counts(&after([0, 1025, 1])), (2, 1022));
    }

    #[test]
    fn large_gaps_clear_the_window() {
        let packets = after((0..1024).chain([5000]));
        assert_eq!(counts(&packets), (1025, 5000 - 1024 - 2));
        (3977..5000).for_each(|number| packets.record(number));
        assert_eq!(counts(&packets), (2048, 3977 - 1024));
        assert_eq!(counts(&after([u64::from(u32::MAX)])), (1, 0));
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_set(steps in proptest::collection::vec((0_u64..4, 0_u64..700), 1..300)) {
            let (packets, mut set, mut next) = (PacketNumbers::default(), HashSet::new(), 0_u64);
            for (ahead, back) in steps {
                let number = (next + ahead).saturating_sub(if ahead == 0 { back } else { 0 });
                packets.record(number);
                set.insert(number);
                next = next.max(number + 1);
            }
            let border = next.saturating_sub(REORDERING);
            let first = set.iter().min().copied().unwrap_or(0);
            let missing = (first..border).filter(|number| !set.contains(number)).count() as u64;
            prop_assert_eq!(counts(&packets), (set.len() as u64, missing));
        }
    }
}
