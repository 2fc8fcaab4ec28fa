//! Failed checks of replies: the condition, a count, and the value of one reply.

use crate::Text;

/// Maximum number of checks of a run that are counted apart, without those under [`OTHERS`].
const MOST: usize = 500;

/// Name under which the rest are counted, for each label.
const OTHERS: &str = "other checks";

/// A check that replies to requests of one label failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckFailure {
    /// Label of the requests.
    pub label: u32,
    /// Name of the check.
    pub check: String,
    /// The condition, such as "json $.status is `paid`"; empty for a script.
    pub expected: Text,
    /// The value that one of the replies had; empty if it is unknown.
    pub found: Text,
    /// Number of replies that failed it.
    pub count: u64,
}

impl CheckFailure {
    /// The failure of one reply; its label is set when it is counted.
    pub fn new(
        check: impl Into<String>,
        expected: impl Into<Text>,
        found: impl Into<Text>,
    ) -> Self {
        Self {
            label: 0,
            check: check.into(),
            expected: expected.into(),
            found: found.into(),
            count: 1,
        }
    }

    /// Adds the count to that of the same check in the list, or appends the failure.
    pub fn add_to(self, all: &mut Vec<Self>) {
        if let Some(same) = all.iter_mut().find(|other| other.is_same_check(&self)) {
            same.count += self.count;
        // Entries for other checks do not count, so each label can have one above the maximum.
        } else if all.len() < MOST || self.check == OTHERS {
            all.push(self);
        // The condition may contain values of the request, so the number of checks must be limited.
        } else {
            Self {
                check: OTHERS.into(),
                expected: Text::default(),
                found: Text::default(),
                ..self
            }
            .add_to(all);
        }
    }

    fn is_same_check(&self, other: &Self) -> bool {
        self.label == other.label && self.check == other.check && self.expected == other.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_same_check_are_added_and_the_number_of_checks_is_limited() {
        let mut all = Vec::new();
        for found in ["a", "b"] {
            CheckFailure::new("status", "200", found).add_to(&mut all);
        }
        assert_eq!(all, [CheckFailure { count: 2, ..CheckFailure::new("status", "200", "a") }]);
        // Conditions with variables may differ for each request.
        for number in 0..2 * MOST {
            CheckFailure::new("id", number.to_string(), "").add_to(&mut all);
        }
        assert_eq!(all.len(), MOST + 1);
        assert_eq!(all.iter().map(|failure| failure.count).sum::<u64>(), 2 + 2 * MOST as u64);
    }
}
