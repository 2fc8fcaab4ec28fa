//! Distributes the significance level over the looks at a growing number of blocks.
//!
//! The spending function is α·t, where t is the share of the maximum number of blocks. Sources:
//! Kim & `DeMets` (Biometrika 74, 1987), after Lan & `DeMets` (Biometrika 70, 1983).
//! `sequential` contains the test.

/// Returns the share of α that may be spent when the share `t` (0 to 1) of all blocks was measured.
pub fn spent(t: f64) -> f64 {
    t.clamp(0.0, 1.0)
}

/// Returns the first number of blocks, of `most`, at which a two-sided test at `level` can reject.
/// None if there is none.
pub fn first_look(level: f64, most: u32) -> Option<u32> {
    (1..=most).find(|n| {
        crate::permutation::least_p(*n)
            <= level * spent(f64::from(*n) / f64::from(most)) * (1.0 + 1e-9)
    })
}

/// Returns the minimum number of blocks for a two-sided test at `level` to reject at its last look.
pub fn fewest(level: f64) -> u32 {
    (1..64).find(|n| crate::permutation::least_p(*n) <= level * (1.0 + 1e-9)).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spent_share_equals_the_share_of_blocks() {
        assert_eq!([0.0, 0.3, 1.0, 7.0].map(spent), [0.0, 0.3, 1.0, 1.0]);
    }

    #[test]
    fn six_blocks_are_the_minimum_at_five_percent() {
        assert_eq!([0.05, 0.025, 0.0625, 0.01].map(fewest), [6, 7, 5, 8]);
        // 2/2⁶ = 0.0312 is more than 0.05·6/10. 2/2⁷ is less than 0.05·7/10 and 0.025·7/10.
        assert_eq!((first_look(0.05, 10), first_look(0.025, 10)), (Some(7), Some(7)));
        assert_eq!(first_look(0.05, 6), Some(6));
        assert_eq!(first_look(0.05, 5), None);
    }
}
