//! Bounds of numbers in schemas.

use serde_json::Value;

/// Number of multiples that are tried beside a bound.
const TRIED_MULTIPLES: i32 = 40;

/// What a number has to satisfy: all bounds of its schemas.
#[derive(Debug, Default)]
pub(super) struct NumberRange {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    /// Values of which the number is a multiple (`multipleOf`).
    steps: Vec<f64>,
}

/// A bound of a number.
#[derive(Debug, Clone, Copy)]
struct Bound {
    value: f64,
    /// True if the number must not be the bound itself.
    is_excluded: bool,
}

impl NumberRange {
    /// The bounds of schemas that apply at once.
    pub(super) fn of<'a>(schemas: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut range = Self::default();
        for schema in schemas {
            range.lower.extend(bounds(schema, "minimum", "exclusiveMinimum"));
            range.upper.extend(bounds(schema, "maximum", "exclusiveMaximum"));
            range.steps.extend(schema["multipleOf"].as_f64().filter(|step| *step > 0.0));
        }
        range
    }

    /// True if a number is within all bounds.
    pub(super) fn admits(&self, number: f64) -> bool {
        let mut lower = self.lower.iter();
        let mut upper = self.upper.iter();
        lower.all(|bound| number > bound.value || (number == bound.value && !bound.is_excluded))
            && upper.all(|bound| number < bound.value || (number == bound.value && !bound.is_excluded))
            // As validators compute it.
            && self.steps.iter().all(|step| (number / step).fract() == 0.0)
    }

    /// A number in this range: 1 or 1.5 if it is admitted, else one beside a bound, or between both. Each
    /// `variant` gives another one, as far as there are more. A bound if none is found.
    pub(super) fn example(&self, is_integer: bool, variant: usize) -> f64 {
        let lower = self.lower.iter().map(|bound| bound.value).reduce(f64::max);
        let upper = self.upper.iter().map(|bound| bound.value).reduce(f64::min);
        let preferred = if is_integer || !self.steps.is_empty() { 1.0 } else { 1.5 };
        let step = self.steps.iter().copied().reduce(f64::max);
        let step = step.unwrap_or(if is_integer { 1.0 } else { 0.5 });
        let mut candidates = vec![preferred];
        let lowest = (lower.unwrap_or(preferred) / step).floor();
        candidates.extend((0..TRIED_MULTIPLES).map(|count| (lowest + f64::from(count)) * step));
        if let Some(upper) = upper {
            let highest = (upper / step).ceil();
            candidates
                .extend((0..TRIED_MULTIPLES).map(|count| (highest - f64::from(count)) * step));
            candidates.extend(lower.map(|lower| f64::midpoint(lower, upper)));
        }
        candidates.retain(|number| (!is_integer || number.fract() == 0.0) && self.admits(*number));
        let example = candidates.get(variant % candidates.len().max(1)).copied();
        example.or(lower).or(upper).unwrap_or(preferred)
    }
}

/// The bounds of one side. In 3.0, an exclusive one is `true` beside the bound; in 3.1 it is a number.
fn bounds(schema: &Value, key: &str, exclusive_key: &str) -> impl Iterator<Item = Bound> {
    let exclusive = &schema[exclusive_key];
    let is_excluded = *exclusive == true;
    let inclusive = schema[key].as_f64().map(|value| Bound { value, is_excluded });
    let exclusive = exclusive.as_f64().map(|value| Bound { value, is_excluded: true });
    inclusive.into_iter().chain(exclusive)
}
