//! Extractors: take values from replies for later requests of the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sets a variable of the user from a reply: the last one of a redirect chain. Replies to page
/// elements and to requests of parallel steps are not searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extractor {
    /// Name of the variable. `${NAME}` in the URL, a header value or the body of a request is
    /// replaced by its value. The variable remains set over all iterations of the user.
    pub variable: String,
    /// Kind of the value in the reply.
    pub from: ExtractFrom,
    /// Part of the reply that is searched. Extractors of header fields and cookies ignore it.
    #[serde(default)]
    pub part: ReplyPart,
    /// Samples of a redirect chain that are searched.
    #[serde(default, skip_serializing_if = "SampleScope::is_main")]
    pub samples: SampleScope,
    /// Match that is used if there are several.
    #[serde(default)]
    pub take: MatchChoice,
    /// True: also sets `NAME_matchNr`, and for a regular expression `NAME_g`, `NAME_g0`, `NAME_g1`,
    /// …, as JMeter does.
    #[serde(default)]
    pub sets_more: bool,
    /// Value if there is no match or no complete reply; null: the variable keeps its value.
    #[serde(default)]
    pub default: Option<String>,
}

impl Extractor {
    /// Creates an extractor of the first match in the body. Without a match, the
    /// variable keeps its value.
    pub fn new(variable: &str, from: ExtractFrom) -> Self {
        Self {
            variable: variable.to_owned(),
            from,
            part: ReplyPart::Body,
            samples: SampleScope::Main,
            take: MatchChoice::First,
            sets_more: false,
            default: None,
        }
    }
}

/// Samples of a redirect chain that an extractor searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleScope {
    /// The sample of the last reply.
    #[default]
    Main,
    /// The sample of the last reply, then each sample of the chain.
    All,
    /// Each sample of the chain; none without a redirect.
    Children,
}

impl SampleScope {
    /// True if only the last sample is searched.
    pub fn is_main(&self) -> bool {
        *self == Self::Main
    }
}

/// A part of a reply, or of its request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyPart {
    /// The body after decoding.
    #[default]
    Body,
    /// The body without the escapes of HTML.
    UnescapedBody,
    /// The status line and the header fields.
    Headers,
    /// The status as a number.
    Status,
    /// The reason phrase of the status line.
    Message,
    /// URL of the reply.
    Url,
    /// The header fields of the request.
    RequestHeaders,
    /// The body of the request; its query if there is no body.
    RequestBody,
    /// The request as JMeter shows it: method, URL, body and cookies.
    SamplerData,
    /// A variable of the user instead of the reply.
    Variable(String),
}

/// Kind of an extracted value. Bodies are decoded, and searched up to 16 MB.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractFrom {
    /// A group of a regular expression that matches in the body.
    Regex {
        /// The expression, in the syntax of Rust's `regex`.
        pattern: String,
        /// The group: a number from 1, or 0 for the whole match.
        group: u32,
        /// Text with the groups of a match, such as `$1$-$2$`; null: only the group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<String>,
    },
    /// The shortest text between two boundaries in the body.
    Boundary {
        /// Text before the value; empty: the beginning of the body.
        left: String,
        /// Text after the value; empty: the end of the body.
        right: String,
    },
    /// Values of a `JSONPath` (RFC 9535) in the body. A string has no quotes; any
    /// other value is JSON.
    JsonPath(String),
    /// Result of a `JMESPath` in the body: the items of a list, or one value; null is no match. A
    /// string has no quotes; any other value is JSON.
    JmesPath(String),
    /// Elements of an HTML body that a CSS selector matches.
    Css {
        /// CSS selector of the elements.
        selector: String,
        /// Attribute with the value; empty: the text of the element.
        attribute: String,
    },
    /// Result of an `XPath` (1.0) in a body of XML or HTML.
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
    /// Expression of the `XPath`.
    pub path: String,
    /// Prefixes, and the URIs of their namespaces.
    pub namespaces: Vec<(String, String)>,
}

impl ExtractFrom {
    /// True if a part of the reply is searched; false for header fields and cookies.
    pub fn searches(&self) -> bool {
        !matches!(self, Self::Header(_) | Self::Cookie(_))
    }
}

/// Match that is used if there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchChoice {
    /// The first match.
    #[default]
    First,
    /// The last match.
    Last,
    /// The match with this number, from 1.
    Number(u32),
    /// A random match, drawn from the run's seed.
    Random,
    /// All matches: variables `NAME_1`, `NAME_2`, …, and their number in `NAME_matchNr`.
    All,
}
