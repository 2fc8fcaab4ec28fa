//! What is decided of figures made by hand, in words.

use super::*;
use brunt_model::comparison::Better;

const OURS: [f64; 10] = [0.020, 0.021, 0.019, 0.022, 0.020, 0.0205, 0.0195, 0.021, 0.020, 0.0202];

/// The sentence on p99, where the other's is so many times as much in each of ten blocks.
fn said(by: [f64; 10]) -> (Better, String) {
    let decided = decided(&[pair(vec![(P99, times(&OURS, &by, 10))])], &spec(&[P99]));
    let compared = &decided[0].compared[0];
    (compared.verdict, compared.sentence.clone())
}

#[test]
fn a_difference_in_all_blocks_is_told_with_its_interval() {
    let (verdict, sentence) = said([0.96, 0.95, 0.965, 0.955, 0.97, 0.958, 0.949, 0.961, 0.963, 0.952]);
    assert_eq!((verdict, &sentence[..]), (Better::Better, "p99: B is better by 4.2 % (3.5 to 4.9)"));
    let (verdict, sentence) = said([1.06, 1.05, 1.065, 1.055, 1.07, 1.058, 1.049, 1.061, 1.063, 1.052]);
    assert_eq!((verdict, &sentence[..]), (Better::Worse, "p99: B is worse by 5.8 % (5.2 to 6.5)"));
}
