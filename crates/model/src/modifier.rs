//! Request modifiers: change a request before it is sent, based on the last
//! reply, like JMeter's pre-processors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Change of a request before it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestModifier {
    /// The URL and arguments of the request are patterns. They are replaced by a random matching
    /// link or form of the last page. Without a match, the request is sent unchanged.
    Link,
    /// Takes the session identifier from the last reply.
    Session(SessionModifier),
    /// Sets arguments from the matches of a regular expression.
    Matches {
        /// A text: variable of the extractor with the matches `NAME_1_g1`, `NAME_1_g2` and so on.
        variable: String,
        /// A text: number of the group with the names of arguments.
        name_group: String,
        /// A text: number of the group with their values.
        value_group: String,
    },
}

/// Position of the session identifier in replies and requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionModifier {
    /// A text: name of the argument.
    pub argument: String,
    /// Position of the identifier in the URL.
    pub place: SessionPlace,
    /// Name under which a user stores the last identifier. It is used after a reply without an
    /// identifier, by all modifiers of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
    /// True: the identifier is encoded in an argument. False: it is copied from the reply.
    #[serde(default)]
    pub encode: bool,
}

/// Position of the session identifier in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionPlace {
    /// In an argument of the query or form.
    Argument,
    /// After the path: `/path;NAME=ID`.
    Path {
        /// True if an equals sign separates name and identifier.
        equals: bool,
        /// True if a question mark is part of the identifier.
        question_mark: bool,
    },
}
