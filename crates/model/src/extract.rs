//! What a user takes out of a reply, for its further requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sets a variable of the user from a reply: the last of a chain of redirects, and not that to an element of a page. From the
/// replies to requests that are sent together nothing is extracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extractor {
    /// The variable; `{var:NAME}` in the URL, a header value or the body of a request stands for its value. It is empty at first,
    /// and stays with the user over its iterations.
    pub variable: String,
    /// What is looked for.
    pub from: ExtractFrom,
    /// Which of several matches is taken.
    #[serde(default)]
    pub take: Take,
    /// What the variable becomes where there is no such match, or no whole reply; null: it keeps its value.
    #[serde(default)]
    pub default: Option<String>,
}

/// What is looked for in a reply. Bodies are decoded, and looked at up to 16 MB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractFrom {
    /// A group of a regular expression, searched for in the body.
    Regex {
        /// The expression, in the syntax of Rust's `regex`.
        pattern: String,
        /// The group: a number from 1, or 0 for the whole match.
        group: u32,
    },
    /// The text between two others in the body, as short as can be.
    Boundary {
        /// What stands before it; empty: the beginning of the body.
        left: String,
        /// What stands behind it; empty: the end of the body.
        right: String,
    },
    /// The values of a `JSONPath` (RFC 9535) in the body. A string is taken without quotes, any other value as JSON.
    JsonPath(String),
    /// The values of the header fields of this name.
    Header(String),
    /// The values of cookies of this name that the reply sets.
    Cookie(String),
}

impl ExtractFrom {
    /// Whether the body is looked at; otherwise it is the head.
    pub fn is_body(&self) -> bool {
        matches!(self, Self::Regex { .. } | Self::Boundary { .. } | Self::JsonPath(_))
    }
}

/// Which of several matches is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// That of this number, from 1.
    Number(u32),
    /// Any of them, drawn from the run's seed.
    Random,
}
