//! What is made of a reply: whether it is good, and what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extract::Extractor;
use crate::scenario::Scope;

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
    /// Who we are, where a server or proxy wants to know.
    #[serde(default)]
    pub credentials: Vec<Credentials>,
    /// How often the request is repeated while the reply is 401 or 407, with credentials where some are known.
    #[serde(default)]
    pub repeats_unauthorized: u32,
    /// What a page of HTML is made of is asked for too; null: it is not.
    #[serde(default)]
    pub elements: Option<Elements>,
    /// What was got before is asked for only if it has changed since.
    #[serde(default)]
    pub revalidate: bool,
    /// What the user takes out of the reply, in order; behind a failure that ends something, nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extractors: Vec<Extractor>,
    /// What is over where the request failed.
    #[serde(default)]
    pub failure_ends: Scope,
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
}

impl Cookies {
    /// Whether users keep them in a store of their own.
    pub fn are_kept(self) -> bool {
        matches!(self, Self::Kept | Self::Siege | Self::KeptForARound)
    }

    /// The text between two cookies of a request.
    pub fn separator(self) -> &'static str {
        match self {
            Self::Siege | Self::KeptForARound => ";",
            Self::Ignored | Self::Newest | Self::Kept => "; ",
        }
    }
}

/// The resources that a page of HTML refers to: images, style sheets, scripts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Elements {
    /// None are asked for of hosts whose names hold one of these.
    pub not_from: Vec<String>,
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

    /// What the next request of the user may depend on is kept of a reply: where it leads, cookies, credentials that are asked
    /// for, its version, what a page is made of.
    pub fn looks_at_head(&self) -> bool {
        let by_siege = self.redirects.most > 0 && self.redirects.rules == RedirectRules::Siege;
        by_siege
            || self.cookies.are_kept()
            || self.repeats_unauthorized > 0
            || self.elements.is_some()
            || self.revalidate
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

impl Checks {
    /// Whether a reply of this status is good, as far as the status goes.
    #[inline]
    pub fn expects(&self, status: u16) -> bool {
        if self.status.is_empty() {
            return status < 400;
        }
        self.status.iter().any(|r| (r.least..=r.most).contains(&status))
    }
}
