//! A subset of a run's requests with separate figures over time: those of a population, an agent, a
//! label or a transaction.
//!
//! Its text form is part of addresses in the studio: `label:GET /cart`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A subset of a run's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSubset {
    /// Kind of the subset.
    pub kind: SubsetKind,
    /// Name of the population, agent, label or transaction.
    pub name: String,
}

/// Kind of a subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubsetKind {
    /// By population.
    Population,
    /// By agent.
    Agent,
    /// By label. A hop of redirects has a label, too.
    Label,
    /// By transaction.
    Transaction,
}

impl SubsetKind {
    const ALL: [Self; 4] = [Self::Population, Self::Agent, Self::Label, Self::Transaction];

    /// Word of the kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Population => "population",
            Self::Agent => "agent",
            Self::Label => "label",
            Self::Transaction => "transaction",
        }
    }
}

impl Display for RunSubset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.name)
    }
}

/// Error of a text that is no subset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: write population:NAME, agent:NAME, label:NAME or transaction:NAME")]
pub struct NoSubset(String);

impl FromStr for RunSubset {
    type Err = NoSubset;

    fn from_str(text: &str) -> Result<Self, NoSubset> {
        let found = text.split_once(':').and_then(|(word, name)| {
            let kind = SubsetKind::ALL.into_iter().find(|kind| kind.word() == word)?;
            Some(Self { kind, name: name.to_owned() })
        });
        found.ok_or_else(|| NoSubset(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_is_read_from_its_text() {
        let cart: RunSubset = "label:cart: a:b".parse().unwrap();
        assert_eq!((cart.kind, cart.name.as_str()), (SubsetKind::Label, "cart: a:b"));
        assert_eq!(cart.to_string(), "label:cart: a:b");
        for wrong in ["", "home", "step:home"] {
            let error = wrong.parse::<RunSubset>().unwrap_err().to_string();
            assert!(error.contains("write population:NAME"), "{error}");
        }
    }
}
