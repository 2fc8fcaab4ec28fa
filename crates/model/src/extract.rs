//! What a user takes out of a reply, for its further requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sets a variable of the user from a reply: the last of a chain of redirects, and not that to an element of a page. From the
/// replies to requests that are sent together nothing is extracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extractor {
    /// The variable; `${NAME}` in the URL, a header value or the body of a request stands for its value. It stays with the user
    /// over its iterations.
    pub variable: String,
    /// What is looked for.
    pub from: ExtractFrom,
    /// Part of the reply that is searched. Extractors of header fields and cookies ignore it.
    #[serde(default)]
    pub part: ReplyPart,
    /// Which samples of a chain of redirects are searched.
    #[serde(default, skip_serializing_if = "SampleScope::is_main")]
    pub samples: SampleScope,
    /// Which of several matches is taken.
    #[serde(default)]
    pub take: Take,
    /// As in JMeter, further variables are set, too: `NAME_matchNr`, and for an expression `NAME_g`, `NAME_g0`, `NAME_g1`, ….
    #[serde(default)]
    pub sets_more: bool,
    /// What the variable becomes where there is no such match, or no whole reply; null: it keeps its value.
    #[serde(default)]
    pub default: Option<String>,
}

impl Extractor {
    /// Takes the first match in the body. Where there is none, the variable keeps its value.
    pub fn new(variable: &str, from: ExtractFrom) -> Self {
        Self {
            variable: variable.to_owned(),
            from,
            part: ReplyPart::Body,
            samples: SampleScope::Main,
            take: Take::First,
            sets_more: false,
            default: None,
        }
    }
}

/// Which samples of a chain of redirects an extractor searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleScope {
    /// That of the last reply.
    #[default]
    Main,
    /// That of the last reply, then each of the chain.
    All,
    /// Each of the chain; none where there was no redirect.
    Children,
}

impl SampleScope {
    /// Whether the chain is left alone.
    pub fn is_main(&self) -> bool {
        *self == Self::Main
    }
}

/// A part of a reply, or of its request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyPart {
    /// The body, decoded.
    #[default]
    Body,
    /// The body without the escapes of HTML.
    UnescapedBody,
    /// The status line and the header fields.
    Headers,
    /// The status.
    Status,
    /// The phrase behind the status.
    Message,
    /// The URL that it came from.
    Url,
    /// The header fields of the request.
    RequestHeaders,
    /// The body of the request; that of one without is its query.
    RequestBody,
    /// The request as JMeter shows it: method, URL, body and cookies.
    SamplerData,
    /// A variable of the user, in place of the reply.
    Variable(String),
}

/// What is looked for in a reply. Bodies are decoded, and looked at up to 16 MB.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractFrom {
    /// A group of a regular expression, searched for in the body.
    Regex {
        /// The expression, in the syntax of Rust's `regex`.
        pattern: String,
        /// The group: a number from 1, or 0 for the whole match.
        group: u32,
        /// What is made of the groups of a match, such as `$1$-$2$`; null: the group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
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
    /// What a `JMESPath` finds in the body: the items of a list, or one value; null is none. A string is taken without quotes, any other
    /// value as JSON.
    JmesPath(String),
    /// The elements of an HTML body that a CSS selector finds.
    Css {
        /// The selector.
        selector: String,
        /// The attribute whose value is taken; empty: the text.
        attribute: String,
    },
    /// What an `XPath` (1.0) finds in a body of XML or HTML.
    Xpath(String),
    /// The nodes of an XML body that a namespace-aware `XPath` selects.
    QualifiedXpath(QualifiedXpath),
    /// The values of the header fields of this name.
    Header(String),
    /// The values of cookies of this name that the reply sets.
    Cookie(String),
}

/// A namespace-aware `XPath` (1.0). A name without a prefix matches names outside all namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct QualifiedXpath {
    /// The path.
    pub path: String,
    /// Prefixes, and the URIs of their namespaces.
    pub namespaces: Vec<(String, String)>,
}

impl ExtractFrom {
    /// Whether a part of the reply is searched; otherwise it is the fields of its head.
    pub fn searches(&self) -> bool {
        !matches!(self, Self::Header(_) | Self::Cookie(_))
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
    /// All: variables `NAME_1`, `NAME_2`, …, and their number in `NAME_matchNr`.
    All,
}
