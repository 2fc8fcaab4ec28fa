//! What is made of a reply: whether it is good, and what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extract::{Extractor, QualifiedXpath, ReplyPart};
use crate::outcome::status_text;
use crate::scenario::{Scope, Script};
use crate::time::optional_seconds;
use std::time::Duration;

/// What is made of the reply to a request. Where a real tool behaves otherwise than the standards say, a value says so.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReplyPolicy {
    /// What makes it good.
    pub checks: Checks,
    /// Whether redirects are followed.
    #[serde(default)]
    pub redirects: Redirects,
    /// What becomes of cookies that it sets.
    #[serde(default)]
    pub cookies: Cookies,
    /// Cookies that the user keeps take the place of those that the request gives in a header field; otherwise they join them.
    #[serde(default)]
    pub replaces_cookies: bool,
    /// Who we are, where a server or proxy wants to know.
    #[serde(default)]
    pub credentials: Vec<Credentials>,
    /// How often the request is repeated while the reply is 401 or 407, with credentials where some are known.
    #[serde(default)]
    pub repeats_unauthorized: u32,
    /// What a page of HTML is made of is asked for too; null: it is not.
    #[serde(default)]
    pub elements: Option<Elements>,
    /// What the user keeps of pages that it got; null: nothing.
    #[serde(default)]
    pub cache: Option<PageCache>,
    /// The reply comes in events, each of which is timed; null: it is taken as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// What the awaited message of a WebSocket is; messages for which one of these does not hold are passed over. Empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub until: Vec<Assertion>,
    /// What the user does with the reply, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ReplyAction>,
    /// What makes it good beside `checks`, in order; looked at behind the actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    /// Seconds from begun to the last byte, where another limit holds than for the rest of the plan.
    #[serde(default, with = "optional_seconds", rename = "timeout_seconds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub timeout: Option<Duration>,
    /// What is over where the request failed.
    #[serde(default)]
    pub failure_ends: Scope,
    /// A status that is no good one makes the request fail for its user: conditions, transactions and `failure_ends` see a failure.
    /// Otherwise only a request without a whole reply, or with a failed check, is one.
    #[serde(default)]
    pub status_fails: bool,
}

/// A reply that comes in events. Their times are kept as those of transactions: `first event of LABEL`, from the planned
/// instant of the request, and `next event of LABEL`, from one event to the next; without the label where there is only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Events {
    /// What an event is.
    pub format: EventFormat,
    /// The reply is over after so many events, though more may follow; null: at its end.
    #[serde(default)]
    pub most: Option<u64>,
    /// Seconds from planned after which it is over as soon as anything comes; null: any time.
    #[serde(default, with = "optional_seconds", rename = "longest_seconds")]
    #[schemars(with = "Option<f64>")]
    pub longest: Option<Duration>,
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventFormat {
    /// A server-sent event (`text/event-stream`).
    #[serde(rename = "sse")]
    ServerSent,
    /// A line of text that is not blank, such as one of JSON lines.
    Lines,
    /// A message of a WebSocket or of gRPC.
    Messages,
}

/// What a user does with a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyAction {
    /// Sets a variable from it.
    Extract(Extractor),
    /// Runs a script.
    Script(Script),
    /// Sets a variable to a text.
    Set {
        /// The variable.
        variable: String,
        /// The text.
        value: String,
    },
    /// Keeps the sample with its texts, for scripts and functions of later steps: their `prev`.
    Keep,
}

/// What a good reply is, beside its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assertion {
    /// Its name in messages.
    pub name: String,
    /// What must hold.
    pub test: AssertionTest,
}

/// What must hold for a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AssertionTest {
    /// A part of it is as texts say.
    Text(TextAssertion),
    /// It took no longer than so many milliseconds: a text.
    Duration(String),
    /// Its size is so.
    Size {
        /// Of what: `None` for all bytes that came.
        part: Option<ReplyPart>,
        /// How it compares.
        is: Comparison,
        /// A text with a number of bytes.
        bytes: String,
    },
    /// A `JSONPath` finds something in it.
    Json {
        /// The path.
        path: String,
        /// The value that is found; null: any.
        expected: Option<ExpectedJson>,
        /// It must not hold.
        invert: bool,
    },
    /// A `JMESPath` finds something in it.
    JmesPath {
        /// The path.
        path: String,
        /// The value that is found; null: any.
        expected: Option<ExpectedJson>,
        /// It must not hold.
        invert: bool,
    },
    /// An `XPath` finds something in it, or is true.
    Xpath {
        /// The path.
        path: String,
        /// It must not hold.
        invert: bool,
    },
    /// A namespace-aware `XPath` selects a node of its body, or is true.
    QualifiedXpath {
        /// The path.
        path: QualifiedXpath,
        /// It must not hold.
        invert: bool,
    },
    /// The body is XML without a syntax error.
    Xml,
    /// The MD5 sum of its body, in hexadecimal.
    Md5(String),
    /// A script says so.
    Script(Script),
}

/// What a value that a `JSONPath` finds is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedJson {
    /// null.
    Null,
    /// This text, or JSON.
    Value(String),
    /// What a regular expression matches as a whole.
    Pattern(String),
}

/// What texts say of a part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextAssertion {
    /// The part.
    pub part: ReplyPart,
    /// The texts, or expressions.
    pub patterns: Vec<String>,
    /// How each of them compares.
    pub is: TextMatch,
    /// None of them may; otherwise all must.
    #[serde(default)]
    pub not: bool,
    /// One of them is enough.
    #[serde(default)]
    pub any: bool,
    /// The status alone makes no failure of it.
    #[serde(default)]
    pub ignore_status: bool,
    /// A text: what is said where it fails; empty: what did not match.
    #[serde(default)]
    pub message: String,
}

/// How a part of a reply compares with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextMatch {
    /// The text is in it.
    Substring,
    /// It is the text.
    Equals,
    /// The expression is found in it.
    Contains,
    /// The expression matches all of it.
    Matches,
}

/// How a number compares with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// =
    Equal,
    /// ≠
    NotEqual,
    /// >
    Greater,
    /// <
    Less,
    /// ≥
    AtLeast,
    /// ≤
    AtMost,
}

/// Whether redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Redirects {
    /// How many of them one after the other; 0: none.
    pub most: u32,
    /// As whom.
    pub rules: RedirectRules,
}

/// How redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedirectRules {
    /// By RFC 9110 section 15.4: 307 and 308 keep method, header fields and body; another origin gets no credentials. Each hop
    /// has a sample under its label; in the totals all of them are one request.
    #[default]
    Rfc9110,
    /// As JMeter does: 301, 302 and 303 become a GET, or stay a HEAD. Each hop has a sample under the request's label with
    /// its number behind it; in the totals all of them are one request.
    Jmeter,
    /// The same, as JMeter's HTTP client does by itself: in records of samples the hops are not seen.
    JmeterAuto,
    /// As siege does: 301, 302 and 303 become a GET, 307 keeps the method; 308 is no redirect. Each hop is a request.
    Siege,
}

/// What becomes of cookies that replies set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cookies {
    /// They are not looked at.
    #[default]
    Ignored,
    /// As httperf does: the newest of an iteration goes with its further requests, its name and value alone.
    Newest,
    /// Each user keeps its own (RFC 6265) until they expire, at most for as long as the run lasts.
    Kept,
    /// The same as siege sends them: without a space between two.
    Siege,
    /// The same, until the user has gone through the list of requests.
    KeptForARound,
    /// Each user keeps its own (RFC 6265) until its iteration is over.
    KeptForAnIteration,
}

impl Cookies {
    /// Whether users keep them in a store of their own.
    pub fn are_kept(self) -> bool {
        matches!(self, Self::Kept | Self::Siege | Self::KeptForARound | Self::KeptForAnIteration)
    }

    /// The text between two cookies of a request.
    pub fn separator(self) -> &'static str {
        match self {
            Self::Siege | Self::KeptForARound => ";",
            Self::Ignored | Self::Newest | Self::Kept | Self::KeptForAnIteration => "; ",
        }
    }
}

/// The resources that a page of HTML refers to: images, style sheets, scripts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Elements {
    /// None are asked for of hosts whose names hold one of these.
    pub not_from: Vec<String>,
    /// A regular expression: only those are asked for whose whole URL it matches; null: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// A regular expression: those are not asked for whose whole URL it matches; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<String>,
    /// So many are asked for at the same time, at most; 0 and 1: one after the other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_once: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What a user keeps of pages that it got: their versions (`ETag`, `Last-Modified`), with which it asks for them only if they have
/// changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PageCache {
    /// A page that is fresh (`Cache-Control`, `Expires`; RFC 9111) is not asked for again.
    pub reuses_fresh: bool,
    /// Each iteration begins without any.
    pub per_iteration: bool,
}

/// Who we are, where a server wants to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credentials {
    /// For this realm; null: for any that has none of its own.
    pub realm: Option<String>,
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
}

impl ReplyPolicy {
    /// These checks, and nothing else is made of the reply.
    pub fn checks(checks: Checks) -> Self {
        Self { checks, ..Self::default() }
    }

    /// Whether the user itself says whether a reply is good.
    pub fn is_judged_by_user(&self) -> bool {
        !self.actions.is_empty() || !self.assertions.is_empty()
    }

    /// Which parts of replies actions and assertions look at.
    pub fn searched_parts(&self) -> impl Iterator<Item = Option<&ReplyPart>> {
        let actions = self.actions.iter().map(|action| match action {
            ReplyAction::Extract(extractor) if extractor.from.searches() => Some(&extractor.part),
            ReplyAction::Extract(_) => Some(&ReplyPart::Headers),
            ReplyAction::Set { .. } => Some(&ReplyPart::Status),
            ReplyAction::Script(_) | ReplyAction::Keep => None,
        });
        let assertions = self.assertions.iter().map(|assertion| match &assertion.test {
            AssertionTest::Text(text) => Some(&text.part),
            AssertionTest::Size { part, .. } => Some(part.as_ref().unwrap_or(&ReplyPart::Status)),
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

    /// Whether actions or assertions look at the body of a reply.
    pub fn looks_at_body(&self) -> bool {
        self.searched_parts().any(|part| matches!(part, None | Some(ReplyPart::Body | ReplyPart::UnescapedBody)))
    }

    /// Whether actions or assertions look at the header fields of a reply, or at its status line.
    pub fn looks_at_fields(&self) -> bool {
        self.searched_parts().any(|part| matches!(part, None | Some(ReplyPart::Headers | ReplyPart::Message)))
    }

    /// What the next request of the user may depend on is kept of a reply: where it leads, cookies, credentials that are asked
    /// for, its version, what a page is made of.
    pub fn looks_at_head(&self) -> bool {
        let by_siege = self.redirects.most > 0 && self.redirects.rules == RedirectRules::Siege;
        by_siege || self.cookies.are_kept() || self.repeats_unauthorized > 0 || self.looks_at_page()
    }

    /// What a page is made of, or its version, is kept of a reply.
    pub fn looks_at_page(&self) -> bool {
        self.elements.is_some() || self.cache.is_some()
    }

    /// Whether replies may lead to requests that are not in a plan's list.
    pub fn finds_requests(&self) -> bool {
        self.redirects.most > 0 || self.elements.is_some()
    }
}

/// What makes a reply good.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Statuses that are good; empty: all below 400.
    pub status: Vec<StatusRange>,
    /// What the body must match.
    pub body: Option<String>,
    /// Every body as long as the first good one of its label.
    pub same_length: bool,
}

/// Statuses from `least` to `most`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusRange {
    /// The lowest.
    pub least: u16,
    /// The highest.
    pub most: u16,
}

/// Status ranges in words, such as `200 OK, 300 to 399`.
pub fn statuses(ranges: &[StatusRange]) -> String {
    match ranges {
        [] => "below 400".into(),
        ranges => ranges.iter().map(|range| range.words()).collect::<Vec<_>>().join(", "),
    }
}

impl StatusRange {
    fn words(self) -> String {
        let Self { least, most } = self;
        if least == most { status_text(least) } else { format!("{least} to {most}") }
    }
}

impl Checks {
    /// Whether a reply of this status is good, as far as the status goes.
    #[inline]
    pub fn expects(&self, status: u16) -> bool {
        if self.status.is_empty() {
            return status < 400 || status == crate::outcome::GRPC_STATUS;
        }
        self.status.iter().any(|r| (r.least..=r.most).contains(&status))
    }
}
