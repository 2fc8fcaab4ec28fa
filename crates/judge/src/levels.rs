//! Pairs the contenders that differ in exactly one factor.
//!
//! Example: two servers, each with a small and a large body. Each server with a small body is
//! compared with the same server with a large one. The first server is compared with the second for
//! each body. A comparison of one server with a small body and another with a large one would show
//! the effect of neither factor.

/// Factors of a contender, each with its level.
pub type Factors = [(String, String)];

/// Indices of two contenders that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    /// Baseline: the contender with the first level of the factor in which they differ.
    pub ours: usize,
    pub theirs: usize,
}

/// Returns all pairings of these contenders, ordered by the second index. Without factors, the
/// first contender is the baseline of all others. With `only`, contenders differ in that factor.
pub fn pairings(contenders: &[&Factors], only: Option<&str>) -> Vec<Pairing> {
    let mut all = Vec::new();
    for (theirs, factors) in contenders.iter().enumerate() {
        if factors.is_empty() {
            all.extend((theirs > 0).then_some(Pairing { ours: 0, theirs }));
            continue;
        }
        for (factor, (name, _)) in factors.iter().enumerate() {
            if only.is_some_and(|only| only != name) {
                continue;
            }
            let baseline =
                contenders.iter().position(|other| differs_only_in(factor, factors, other));
            // Each pair counts once, with the earlier contender as the baseline.
            all.extend(baseline.filter(|ours| *ours < theirs).map(|ours| Pairing { ours, theirs }));
        }
    }
    all
}

/// True if all levels but that of one factor are the same.
fn differs_only_in(factor: usize, one: &Factors, other: &Factors) -> bool {
    one.len() == other.len()
        && (0..one.len()).all(|index| index == factor || one[index] == other[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(contenders: &[&Factors]) -> Vec<(usize, usize)> {
        pairs_in(contenders, None)
    }

    fn pairs_in(contenders: &[&Factors], factor: Option<&str>) -> Vec<(usize, usize)> {
        let pairings = pairings(contenders, factor);
        pairings.iter().map(|pairing| (pairing.ours, pairing.theirs)).collect()
    }

    fn levels(server: &str, body: &str) -> Vec<(String, String)> {
        vec![("server".into(), server.into()), ("body".into(), body.into())]
    }

    #[test]
    fn contenders_without_factors_are_compared_with_the_first() {
        assert_eq!(pairs(&[]), []);
        assert_eq!(pairs(&[&[], &[], &[]]), [(0, 1), (0, 2)]);
    }

    #[test]
    fn contenders_are_compared_within_each_level_of_the_other_factors() {
        let all = ["a", "b", "c"]
            .map(|server| ["small", "large"].map(|body| levels(server, body)))
            .concat();
        let all: Vec<&Factors> = all.iter().map(Vec::as_slice).collect();
        assert_eq!(pairs(&all), [(0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (1, 5), (4, 5)]);
        // One question for each body, and none for each server.
        assert_eq!(pairs_in(&all, Some("server")), [(0, 2), (1, 3), (0, 4), (1, 5)]);
        assert_eq!(pairs_in(&all, Some("body")), [(0, 1), (2, 3), (4, 5)]);
        let single = [
            vec![("server".to_owned(), "a".to_owned())],
            vec![("server".to_owned(), "b".to_owned())],
        ];
        assert_eq!(pairs(&[&single[0], &single[1]]), [(0, 1)]);
    }
}
