//! Reply policies: whether a reply is good, and what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extract::{Extractor, QualifiedXpath, ReplyPart};
use crate::outcome::status_text;
use crate::scenario::{EndScope, Script};
use crate::text;
use crate::text::{Text, Value};
use crate::time::optional_seconds;
use std::time::Duration;

/// Treatment of the replies to a request. Some values reproduce tools that
/// differ from the standards.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReplyPolicy {
    /// Checks that a good reply passes.
    pub checks: ReplyChecks,
    /// Number and rules of followed redirects.
    #[serde(default)]
    pub redirects: Redirects,
    /// Storage of the cookies in replies.
    #[serde(default)]
    pub cookies: Cookies,
    /// True: stored cookies replace those in a header field of the request. False: they are added.
    #[serde(default)]
    pub replaces_cookies: bool,
    /// Credentials for servers and proxies that ask for them.
    #[serde(default)]
    pub credentials: Vec<Credentials>,
    /// Maximum number of repetitions after a reply with 401 or 407, with credentials
    /// if they are known.
    #[serde(default)]
    pub repeats_unauthorized: u32,
    /// Loading of the elements of HTML pages; null: they are not loaded.
    #[serde(default)]
    pub elements: Option<Elements>,
    /// Cache of each user; null: none.
    #[serde(default)]
    pub cache: Option<PageCache>,
    /// Format of the reply's events, each of which is timed; null: the reply is timed as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// Conditions for the awaited WebSocket message; other messages are
    /// skipped. Empty: any message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub until: Vec<Assertion>,
    /// Actions of the user after the reply, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ReplyAction>,
    /// Assertions that a good reply fulfills in addition to `checks`, in order;
    /// evaluated after the actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    /// Timeout in seconds, from begun to the last byte; null: that of the plan.
    #[serde(
        default,
        with = "optional_seconds",
        rename = "timeout_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<f64>")]
    pub timeout: Option<Duration>,
    /// Part of the run that ends after a failed request.
    #[serde(default)]
    pub failure_ends: EndScope,
    /// True: a bad status counts as a failure for the user, in conditions, transactions and
    /// `failure_ends`. False: only an incomplete reply or a failed check does.
    #[serde(default)]
    pub status_fails: bool,
}

/// A reply that consists of events. Their times are reported like those of transactions. `first
/// event of LABEL` is the time from the planned instant of the request, `next event of LABEL` that
/// between two events. The label is omitted if there is only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Events {
    /// Format of an event.
    pub format: EventFormat,
    /// Number of events after which the reply ends, even if more follow; null: at its end.
    #[serde(default)]
    pub most: Option<u64>,
    /// Time since planned, in seconds, after which the reply ends with the next
    /// data; null: no limit.
    #[serde(default, with = "optional_seconds", rename = "longest_seconds")]
    #[schemars(with = "Option<f64>")]
    pub longest: Option<Duration>,
}

/// Format of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventFormat {
    /// A server-sent event (`text/event-stream`).
    #[serde(rename = "sse")]
    ServerSent,
    /// A line that is not blank, such as one of JSON lines.
    Lines,
    /// A message of a WebSocket or of gRPC.
    Messages,
}

/// Action of a user after a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyAction {
    /// Sets a variable from the reply.
    Extract(Extractor),
    /// Runs a script with the reply.
    Script(Script),
    /// Sets a variable to a text.
    Set {
        /// Name of the variable.
        variable: String,
        /// New value of the variable.
        value: String,
    },
    /// Stores the sample with its texts, for scripts and functions of later steps: their `prev`.
    Keep,
}

/// A condition for a good reply, in addition to its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assertion {
    /// Name of the assertion in messages.
    pub name: String,
    /// Condition of the assertion.
    pub test: AssertionTest,
}

/// Condition for a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AssertionTest {
    /// Compares a part of the reply with texts.
    Text(TextAssertion),
    /// Maximum duration in milliseconds, as a text.
    Duration(String),
    /// Compares the size of the reply.
    Size {
        /// Part of the reply; null: all received bytes.
        part: Option<ReplyPart>,
        /// Comparison with the number.
        is: NumberComparison,
        /// A text: number of bytes.
        bytes: String,
    },
    /// Requires that a `JSONPath` matches.
    Json {
        /// Expression of the `JSONPath`.
        path: String,
        /// Expected value; null: any.
        expected: Option<ExpectedJson>,
        /// True: inverts the condition.
        invert: bool,
    },
    /// Requires that a `JMESPath` matches.
    JmesPath {
        /// Expression of the `JMESPath`.
        path: String,
        /// Expected value; null: any.
        expected: Option<ExpectedJson>,
        /// True: inverts the condition.
        invert: bool,
    },
    /// Requires that an `XPath` matches, or is true.
    Xpath {
        /// Expression of the `XPath`.
        path: String,
        /// True: inverts the condition.
        invert: bool,
    },
    /// Requires that a namespace-aware `XPath` selects a node of the body, or is true.
    QualifiedXpath {
        /// Expression with its namespaces.
        path: QualifiedXpath,
        /// True: inverts the condition.
        invert: bool,
    },
    /// Requires that the body is XML without syntax errors.
    Xml,
    /// Expected MD5 sum of the body, in hexadecimal.
    Md5(String),
    /// Script that evaluates the reply.
    Script(Script),
}

/// Expected value of a `JSONPath` or `JMESPath`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedJson {
    /// The JSON value null.
    Null,
    /// This text, or this JSON.
    Value(String),
    /// A regular expression that matches the whole value.
    Pattern(String),
}

/// Comparison of a part of a reply with texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextAssertion {
    /// Part of the reply.
    pub part: ReplyPart,
    /// Texts or regular expressions.
    pub patterns: Vec<String>,
    /// Comparison with each of them.
    pub is: TextMatch,
    /// True: none may match. False: all must match.
    #[serde(default)]
    pub not: bool,
    /// True: one match is enough.
    #[serde(default)]
    pub any: bool,
    /// True: a bad status alone is no failure.
    #[serde(default)]
    pub ignore_status: bool,
    /// A text: message of a failure; empty: the text that did not match.
    #[serde(default)]
    pub message: String,
}

/// Comparison of a part of a reply with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextMatch {
    /// The part contains the text.
    Substring,
    /// The part is equal to the text.
    Equals,
    /// The expression matches somewhere in the part.
    Contains,
    /// The expression matches the whole part.
    Matches,
}

/// Comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumberComparison {
    /// The numbers are equal (=).
    Equal,
    /// The numbers differ (≠).
    NotEqual,
    /// The number is greater (>).
    Greater,
    /// The number is less (<).
    Less,
    /// The number is greater or equal (≥).
    AtLeast,
    /// The number is less or equal (≤).
    AtMost,
}

/// Number and rules of followed redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Redirects {
    /// Maximum number of consecutive redirects; 0: none are followed.
    pub most: u32,
    /// Rules for following them.
    pub rules: RedirectRules,
}

/// Rules for following redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedirectRules {
    /// RFC 9110 section 15.4: 307 and 308 keep method, header fields and body; another
    /// origin gets no credentials. Each hop has a sample under its label; in the totals, a
    /// chain is one request.
    #[default]
    Rfc9110,
    /// Like JMeter: 301, 302 and 303 become a GET, or stay a HEAD. Each hop has a sample under the
    /// request's label with a number appended; in the totals, a chain is one request.
    Jmeter,
    /// Like JMeter's HTTP client when it follows redirects itself: records of samples do
    /// not contain the hops.
    JmeterAuto,
    /// Like siege: 301, 302 and 303 become a GET, 307 keeps the method, 308 is no redirect. Each
    /// hop is a request.
    Siege,
}

/// Treatment of cookies in replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cookies {
    /// Cookies in replies are ignored.
    #[default]
    Ignored,
    /// Like httperf: the newest cookie of an iteration is sent with its later requests,
    /// name and value only.
    Newest,
    /// Each user has a cookie store (RFC 6265) for the whole run.
    Kept,
    /// A cookie store for the whole run; sent like siege does, without a space between two cookies.
    Siege,
    /// A cookie store, sent like siege does, for one pass through the list of requests.
    KeptForARound,
    /// A cookie store (RFC 6265) for one iteration.
    KeptForAnIteration,
}

impl Cookies {
    /// True if users have a cookie store.
    pub fn are_kept(self) -> bool {
        matches!(self, Self::Kept | Self::Siege | Self::KeptForARound | Self::KeptForAnIteration)
    }

    /// Separator of two cookies of a request.
    pub fn separator(self) -> &'static str {
        match self {
            // RFC 6265 section 4.2.1 requires a space after the semicolon, but siege sends none.
            Self::Siege | Self::KeptForARound => ";",
            Self::Ignored | Self::Newest | Self::Kept | Self::KeptForAnIteration => "; ",
        }
    }
}

/// Elements of an HTML page: images, style sheets, scripts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Elements {
    /// Hosts that contain one of these texts are excluded.
    pub not_from: Vec<String>,
    /// A regular expression for whole URLs: only matching elements are loaded; null: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// A regular expression for whole URLs: matching elements are not loaded; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<String>,
    /// Maximum number of parallel requests; 0 and 1: one after the other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_once: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Cache of a user. It stores the versions of pages (`ETag`,
/// `Last-Modified`) for conditional requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PageCache {
    /// True: fresh pages are not requested again (`Cache-Control`, `Expires`; RFC 9111).
    pub reuses_fresh: bool,
    /// True: each iteration begins with an empty cache.
    pub per_iteration: bool,
}

/// Credentials for a server that asks for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credentials {
    /// Realm of the credentials; null: any realm without other credentials.
    pub realm: Option<String>,
    /// Name of the user.
    pub user: String,
    /// Password of the user.
    pub password: String,
}

impl ReplyPolicy {
    /// Creates a policy with checks only.
    pub fn checks(checks: ReplyChecks) -> Self {
        Self { checks, ..Self::default() }
    }

    /// True if actions or assertions of the user decide whether a reply is good.
    pub fn is_judged_by_user(&self) -> bool {
        !self.actions.is_empty() || !self.assertions.is_empty()
    }

    /// True if a reply has to fulfill conditions of the plan, in addition to the usual statuses.
    pub fn has_checks(&self) -> bool {
        let ReplyChecks { status, body, same_length } = &self.checks;
        !status.is_empty() || body.is_some() || *same_length || !self.assertions.is_empty()
    }

    /// Returns the parts of replies that actions and assertions need; None for all.
    pub fn searched_parts(&self) -> impl Iterator<Item = Option<&ReplyPart>> {
        let actions = self.actions.iter().map(|action| match action {
            ReplyAction::Extract(extractor) if extractor.from.searches() => Some(&extractor.part),
            // Cookies are header fields, too.
            ReplyAction::Extract(_) => Some(&ReplyPart::Headers),
            // A text needs at most the status, which is always available.
            ReplyAction::Set { .. } => Some(&ReplyPart::Status),
            // A script may use every part.
            ReplyAction::Script(_) | ReplyAction::Keep => None,
        });
        let assertions = self.assertions.iter().map(|assertion| match &assertion.test {
            AssertionTest::Text(text) => Some(&text.part),
            // The number of received bytes is known for every reply, so no part must be stored for
            // it.
            AssertionTest::Size { part, .. } => Some(part.as_ref().unwrap_or(&ReplyPart::Status)),
            // A duration needs no part of the reply.
            AssertionTest::Duration(_) => Some(&ReplyPart::Status),
            AssertionTest::Json { .. }
            | AssertionTest::JmesPath { .. }
            | AssertionTest::Xpath { .. }
            | AssertionTest::QualifiedXpath { .. }
            | AssertionTest::Xml
            | AssertionTest::Md5(_) => Some(&ReplyPart::Body),
            AssertionTest::Script(_) => None,
        });
        actions.chain(assertions)
    }

    /// True if actions or assertions need the body of a reply.
    pub fn needs_body(&self) -> bool {
        self.searched_parts()
            .any(|part| matches!(part, None | Some(ReplyPart::Body | ReplyPart::UnescapedBody)))
    }

    /// True if actions or assertions need the header fields or the status line of a reply.
    pub fn needs_fields(&self) -> bool {
        self.searched_parts()
            .any(|part| matches!(part, None | Some(ReplyPart::Headers | ReplyPart::Message)))
    }

    /// True if the head of a reply affects the next request of the user: by redirects, cookies,
    /// requested credentials, versions or page elements.
    pub fn needs_head(&self) -> bool {
        // The user follows siege's redirects as separate requests; a chain by other rules is one
        // request.
        let by_siege = self.redirects.most > 0 && self.redirects.rules == RedirectRules::Siege;
        by_siege || self.cookies.are_kept() || self.repeats_unauthorized > 0 || self.needs_page()
    }

    /// True if a reply's page elements or version are needed.
    pub fn needs_page(&self) -> bool {
        self.elements.is_some() || self.cache.is_some()
    }

    /// True if replies may lead to requests that are not in the plan's list.
    pub fn finds_requests(&self) -> bool {
        self.redirects.most > 0 || self.elements.is_some()
    }
}

/// Checks for a good reply.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReplyChecks {
    /// Good statuses; empty: all below 400.
    pub status: Vec<StatusRange>,
    /// Regular expression that the body must match.
    pub body: Option<String>,
    /// True: every body must be as long as the first good one of its label.
    pub same_length: bool,
}

/// Statuses from `least` to `most`, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusRange {
    /// Lowest status of the range.
    pub least: u16,
    /// Highest status of the range.
    pub most: u16,
}

/// Formats status ranges, such as `200, 300 to 399`.
pub fn statuses(ranges: &[StatusRange]) -> Text {
    match ranges {
        [] => text!("condition-statuses.below", status = "400"),
        ranges => {
            text!("words", words = Value::Words(ranges.iter().map(|range| range.words()).collect()))
        }
    }
}

impl StatusRange {
    fn words(self) -> Text {
        let Self { least, most } = self;
        if least == most {
            status_text(least).into()
        } else {
            text!("condition-statuses.range", least = least.to_string(), most = most.to_string())
        }
    }
}

impl ReplyChecks {
    /// True if a status is good.
    #[inline]
    pub fn expects(&self, status: u16) -> bool {
        if self.status.is_empty() {
            // 1000 is OK in gRPC; all its errors are above.
            return status < 400 || status == crate::outcome::GRPC_STATUS;
        }
        self.status.iter().any(|r| (r.least..=r.most).contains(&status))
    }
}
