//! How a request is changed by the last reply before it is sent, as JMeter's pre-processors do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a request is changed before it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestModifier {
    /// Its URL and arguments are patterns: it becomes one of the links and forms of the last page that match, drawn at random.
    /// Where none matches, it stays as it is.
    Link,
    /// The identifier of a session is taken from the last reply.
    Session(SessionModifier),
    /// Arguments get the values of a regular expression's matches.
    Matches {
        /// A text: the variable of the extractor, whose matches are `NAME_1_g1`, `NAME_1_g2` and so on.
        variable: String,
        /// A text: the group that has names of arguments.
        name_group: String,
        /// A text: the group that has their values.
        value_group: String,
    },
}

/// Where the identifier of a session stands in replies and requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionModifier {
    /// A text: the name of the argument.
    pub argument: String,
    /// Where it stands.
    pub place: SessionPlace,
    /// A reply without an identifier leaves the last one in force, for all modifiers of this name of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
    /// Whether an identifier in an argument is encoded, or is already as it stands in the reply.
    #[serde(default)]
    pub encode: bool,
}

/// Where the identifier of a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionPlace {
    /// In an argument of the query or form.
    Argument,
    /// Behind the path: `/path;NAME=ID`.
    Path {
        /// Whether an equals sign stands between.
        equals: bool,
        /// A question mark is a part of the identifier.
        question_mark: bool,
    },
}
