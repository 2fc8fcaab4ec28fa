//! Estimates location and scale of a few values that may contain outliers.
//!
//! The module contains the median, the median absolute deviation, Huber's location, and Hampel's
//! filter, which compares each value with its neighbors.

/// Ratio of the standard deviation to the median absolute deviation of a normal distribution.
const NORMAL: f64 = 1.4826;
/// Huber's constant: for normal values, the location is 95 % as efficient as the mean.
const HUBER: f64 = 1.345;

/// Returns the median; for an even number of values, the mean of the two middle
/// ones. None without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Returns the median distance from 0, scaled to the standard deviation of a normal distribution.
/// It is 0 without values.
pub fn width(residuals: &[f64]) -> f64 {
    let distances: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    NORMAL * median(&distances).unwrap_or(0.0)
}

/// Returns Huber's location (Annals of Mathematical Statistics 35, 1964). It is a mean in
/// which values more than 1.345 standard deviations away count like values at that
/// distance. None without values.
pub fn location(values: &[f64]) -> Option<f64> {
    let mut at = median(values)?;
    let scale = width(&values.iter().map(|v| v - at).collect::<Vec<_>>());
    if scale == 0.0 {
        return Some(at);
    }
    for _ in 0..50 {
        let mut sum = 0.0;
        let mut weighted = 0.0;
        for value in values {
            let weight = (HUBER * scale / (value - at).abs()).min(1.0);
            sum += weight;
            weighted += value * weight;
        }
        let next = weighted / sum;
        if (next - at).abs() < 1e-12 * scale {
            break;
        }
        at = next;
    }
    Some(at)
}

/// Returns the median of each value and its neighbors, `half` on each side (Hampel's filter).
pub fn neighbours(values: &[f64], half: usize) -> Vec<f64> {
    (0..values.len())
        .filter_map(|i| median(&values[i.saturating_sub(half)..values.len().min(i + half + 1)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_of_few_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((median(&[]), location(&[])), (None, None));
        assert_eq!(location(&[5.0; 4]), Some(5.0));
    }

    #[test]
    fn the_location_of_24_measurements_of_copper_matches_the_literature() {
        // Analytical Methods Committee, Analyst 114 (1989), copper in wholemeal flour, the data set
        // `chem` of R's MASS: huber(chem) with k = 1.5 gives 3.2067; with 1.345 the estimate lies
        // between it and the median, 3.385/3.2.
        let chem = [
            2.20, 2.20, 2.40, 2.40, 2.50, 2.70, 2.80, 2.90, 3.03, 3.03, 3.10, 3.37, 3.40, 3.40,
            3.40, 3.50, 3.60, 3.70, 3.70, 3.70, 3.70, 3.77, 5.28, 28.95,
        ];
        let at = location(&chem).unwrap();
        assert!((at - 3.2).abs() < 0.03, "{at}");
    }

    #[test]
    fn two_outliers_of_thirteen_do_not_shift_the_location() {
        let plateau =
            [35.5, 35.3, 35.7, 35.5, 35.7, 34.9, 37.6, 37.2, 23.9, 24.7, 37.1, 35.0, 35.3];
        let at = location(&plateau).unwrap();
        assert!((35.0..35.6).contains(&at), "{at}");
    }

    #[test]
    fn two_neighboring_outliers_do_not_mask_each_other() {
        let around = neighbours(&[37.6, 37.2, 23.9, 24.7, 37.1, 35.0], 2);
        assert_eq!(around[2..4], [37.1, 35.0]);
    }

    proptest! {
        #[test]
        fn the_location_moves_with_the_values(v in prop::collection::vec(-1e3f64..1e3, 1..40), by in -1e3f64..1e3) {
            let moved: Vec<f64> = v.iter().map(|v| v + by).collect();
            prop_assert!((location(&moved).unwrap() - location(&v).unwrap() - by).abs() < 1e-6);
            let (least, most) = v.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
            prop_assert!((least - 1e-9..=most + 1e-9).contains(&location(&v).unwrap()));
        }
    }
}
