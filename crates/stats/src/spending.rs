//! What each look at a growing number of blocks may cost of the chance to be wrong.
//!
//! What it is: the spending function α·ln(1 + (e − 1)·t) of Lan & `DeMets` (Biometrika 70, 1983), whose boundaries are like
//! Pocock's: t is the share of all blocks that there may be. What it is not: a test (`sequential`).
//!
//! Why not the one like O'Brien & Fleming's: it withholds early decisions, and with few blocks the ranks withhold them
//! already, since n of them cannot reach less than 2/2ⁿ. What a look does not spend stays for the next.

/// Of the chance to be wrong, the share that may be spent until a share `t` (0 to 1) of all blocks is there.
pub fn spent(t: f64) -> f64 {
    (1.0 + (std::f64::consts::E - 1.0) * t.clamp(0.0, 1.0)).ln()
}

/// The first number of blocks, of `most`, at which a two-sided test at this level can decide at all; None: at none.
pub fn first_look(level: f64, most: u32) -> Option<u32> {
    (1..=most)
        .find(|n| crate::permutation::least_p(*n) <= level * spent(f64::from(*n) / f64::from(most)) * (1.0 + 1e-9))
}

/// So many blocks there must be at least, for a two-sided test at this level to decide at the last of them.
pub fn fewest(level: f64) -> u32 {
    (1..64).find(|n| crate::permutation::least_p(*n) <= level * (1.0 + 1e-9)).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_lan_and_demets() {
        // R, ldbounds: cumulative alpha at 0.2, 0.4 … 1 of one-sided 0.025, spending function 2.
        let published = [0.00738, 0.01308, 0.01771, 0.02162, 0.02500];
        for (look, alpha) in published.into_iter().enumerate() {
            assert!((0.025 * spent((look + 1) as f64 / 5.0) - alpha).abs() < 1e-5, "{look}");
        }
        assert_eq!((spent(0.0), spent(7.0)), (0.0, 1.0));
    }

    #[test]
    fn six_blocks_are_the_fewest_at_five_percent() {
        assert_eq!([0.05, 0.025, 0.0625, 0.01].map(fewest), [6, 7, 5, 8]);
        // 2/2⁶ = 0.0312 of 0.05·ln(1 + 0.6·(e − 1)) = 0.0354.
        assert_eq!(first_look(0.05, 10), Some(6));
        assert_eq!(first_look(0.05, 6), Some(6));
        assert_eq!(first_look(0.05, 5), None);
    }
}
