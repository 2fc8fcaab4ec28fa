//! Leases on targets: who measures which servers, so that two people never measure one server at once.
//!
//! A lease ends by itself if its holder does not renew it. All functions receive the time, which no change of the
//! clock affects.

use crate::token::Token;
use brunt_model::Tick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;
use url::Url;

/// Time of a lease that is not renewed, in seconds.
pub const DEFAULT_SECONDS: u32 = 30;

/// Bounds of the time that a holder may choose, in seconds.
const MIN_SECONDS: u32 = 5;
const MAX_SECONDS: u32 = 24 * 3600;

/// Maximum number of targets of a lease, of leases of all holders, and of leases of one.
const MAX_TARGETS: usize = 100;
const MAX_LEASES: usize = 1000;
const MAX_LEASES_OF_ONE: usize = 100;

/// Maximum length of the text about the purpose.
const MAX_PURPOSE: usize = 200;

/// Request for a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseRequest {
    /// Servers, each as a URL or as `host:port`.
    pub targets: Vec<String>,
    /// Purpose, for others who want the same server.
    #[serde(default)]
    pub purpose: String,
    /// Time until the lease ends if it is not renewed, in seconds: 5 to 86400, by default 30.
    #[serde(default)]
    pub seconds: Option<u32>,
}

/// A lease, as others see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeaseEntry {
    /// Number of the lease, with which any member can end it.
    pub number: u64,
    /// Servers, each as `host:port`.
    pub targets: Vec<String>,
    /// Name of the holder's token.
    pub holder: String,
    /// Purpose, as the holder has written it.
    pub purpose: String,
    /// Time until the lease ends if it is not renewed, in seconds.
    pub remaining_seconds: f64,
}

/// A lease, as its holder gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldLease {
    /// Key with which the holder renews and releases the lease.
    pub key: String,
    /// Time until the lease ends if it is not renewed, in seconds.
    pub seconds: u32,
    /// The lease, as others see it.
    pub lease: LeaseEntry,
}

/// Reason why a lease is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LeaseRefusal {
    /// Another lease has one of the targets.
    #[error(
        "{target} is leased by {}{}; that lease ends in {} unless it is renewed; wait for its end, or measure another server",
        lease.holder, purpose(&lease.purpose), remaining(lease)
    )]
    Held {
        /// The target.
        target: String,
        /// The other lease.
        lease: LeaseEntry,
    },
    /// A target is malformed.
    #[error(
        "`{0}` is no server; write a URL with its scheme, or host:port, such as shop.example:8080"
    )]
    Target(String),
    /// The request has no target, or too many.
    #[error("a lease has 1 to {MAX_TARGETS} targets, and this request has {0}")]
    Targets(usize),
    /// The text about the purpose is too long.
    #[error("a purpose has at most {MAX_PURPOSE} bytes, and this one has {0}")]
    Purpose(usize),
    /// The time is out of bounds.
    #[error("seconds: {0}: write a number from {MIN_SECONDS} to {MAX_SECONDS}")]
    Seconds(u32),
    /// There are too many leases.
    #[error("there are too many leases; release some, or wait until they end")]
    TooMany,
    /// There is no lease with this key or number.
    #[error("there is no such lease; it has ended, or the studio was started again")]
    Unknown,
}

/// Reason why a process has no lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseProblem {
    /// The problem and its remedy.
    pub text: String,
    /// True if another lease has one of the servers, so that waiting helps.
    pub is_held: bool,
    /// True if there is no such lease.
    pub is_unknown: bool,
}

impl From<LeaseRefusal> for LeaseProblem {
    fn from(refusal: LeaseRefusal) -> Self {
        Self {
            is_held: matches!(refusal, LeaseRefusal::Held { .. }),
            is_unknown: refusal == LeaseRefusal::Unknown,
            text: refusal.to_string(),
        }
    }
}

fn purpose(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

fn remaining(lease: &LeaseEntry) -> String {
    brunt_model::numbers::span(lease.remaining_seconds.max(1.0).ceil())
}

/// All leases of a studio.
#[derive(Default)]
pub struct Leases {
    leases: Vec<Lease>,
    /// Number of the latest lease.
    latest: u64,
}

struct Lease {
    number: u64,
    key: Token,
    targets: BTreeSet<String>,
    holder: String,
    purpose: String,
    seconds: u32,
    until: Tick,
}

impl Lease {
    /// True for the lease of this holder with this key. Another member cannot end it.
    fn is_of(&self, key: &str, holder: &str) -> bool {
        self.holder == holder && self.key.is(key)
    }

    fn entry(&self, now: Tick) -> LeaseEntry {
        LeaseEntry {
            number: self.number,
            targets: self.targets.iter().cloned().collect(),
            holder: self.holder.clone(),
            purpose: self.purpose.clone(),
            remaining_seconds: self.until.seconds_since(now),
        }
    }

    fn of_holder(&self, now: Tick) -> HeldLease {
        let key = self.key.text().to_owned();
        HeldLease { key, seconds: self.seconds, lease: self.entry(now) }
    }
}

impl Leases {
    /// Takes a lease on all targets, or on none.
    ///
    /// # Errors
    ///
    /// Another lease has one of the targets, or the request is malformed.
    pub fn take(
        &mut self,
        request: &LeaseRequest,
        holder: &str,
        now: Tick,
        key: Token,
    ) -> Result<HeldLease, LeaseRefusal> {
        let targets = check(request)?;
        // Holders that have died are forgotten here, so no thread is necessary.
        self.leases.retain(|lease| lease.until > now);
        for lease in &self.leases {
            if let Some(target) = targets.intersection(&lease.targets).next() {
                return Err(LeaseRefusal::Held { target: target.clone(), lease: lease.entry(now) });
            }
        }
        let of_holder = self.leases.iter().filter(|lease| lease.holder == holder).count();
        if self.leases.len() >= MAX_LEASES || of_holder >= MAX_LEASES_OF_ONE {
            return Err(LeaseRefusal::TooMany);
        }
        let seconds = request.seconds.unwrap_or(DEFAULT_SECONDS);
        self.latest += 1;
        let lease = Lease {
            number: self.latest,
            key,
            targets,
            holder: holder.to_owned(),
            purpose: request.purpose.clone(),
            seconds,
            until: now + Duration::from_secs(seconds.into()),
        };
        let held = lease.of_holder(now);
        self.leases.push(lease);
        Ok(held)
    }

    /// Renews a lease, so that it ends later.
    ///
    /// # Errors
    ///
    /// The holder has no lease with this key, or it has ended.
    pub fn renew(&mut self, key: &str, holder: &str, now: Tick) -> Result<HeldLease, LeaseRefusal> {
        let mut own = self.leases.iter_mut().filter(|lease| lease.is_of(key, holder));
        // Another holder may have used the servers since its end, so it is not revived.
        let lease = own.find(|lease| lease.until > now);
        let lease = lease.ok_or(LeaseRefusal::Unknown)?;
        lease.until = now + Duration::from_secs(lease.seconds.into());
        Ok(lease.of_holder(now))
    }

    /// Releases a lease.
    ///
    /// # Errors
    ///
    /// The holder has no lease with this key.
    pub fn release(&mut self, key: &str, holder: &str) -> Result<(), LeaseRefusal> {
        self.remove(|lease| lease.is_of(key, holder))
    }

    /// Ends the lease of another member, who cannot release it any more.
    ///
    /// # Errors
    ///
    /// There is no lease with this number.
    pub fn end(&mut self, number: u64) -> Result<(), LeaseRefusal> {
        self.remove(|lease| lease.number == number)
    }

    fn remove(&mut self, is_wanted: impl Fn(&Lease) -> bool) -> Result<(), LeaseRefusal> {
        let place = self.leases.iter().position(is_wanted).ok_or(LeaseRefusal::Unknown)?;
        self.leases.remove(place);
        Ok(())
    }

    /// Returns all leases that have not ended.
    pub fn entries(&self, now: Tick) -> Vec<LeaseEntry> {
        let active = self.leases.iter().filter(|lease| lease.until > now);
        active.map(|lease| lease.entry(now)).collect()
    }
}

/// Returns the targets of a request in their usual form.
fn check(request: &LeaseRequest) -> Result<BTreeSet<String>, LeaseRefusal> {
    let LeaseRequest { targets, purpose, seconds } = request;
    if targets.is_empty() || targets.len() > MAX_TARGETS {
        return Err(LeaseRefusal::Targets(targets.len()));
    }
    if purpose.len() > MAX_PURPOSE {
        return Err(LeaseRefusal::Purpose(purpose.len()));
    }
    if let Some(seconds) = seconds.filter(|seconds| !(MIN_SECONDS..=MAX_SECONDS).contains(seconds))
    {
        return Err(LeaseRefusal::Seconds(seconds));
    }
    targets
        .iter()
        .map(|text| target_of(text).ok_or_else(|| LeaseRefusal::Target(text.clone())))
        .collect()
}

/// Returns `host:port` of a URL or of a server; None if the text is neither.
pub fn target_of(text: &str) -> Option<String> {
    // The parser would take the host of `shop:8080` as a scheme.
    let has_scheme = text.contains("://");
    let url = if has_scheme { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
    let url = url.ok()?;
    // Without a scheme, nothing may follow the server.
    let is_server =
        has_scheme || (url.path() == "/" && !text.ends_with('/') && url.query().is_none());
    if !is_server || !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
        return None;
    }
    // A name with a final dot is the same server.
    let host = url.host_str()?.trim_end_matches('.');
    // A host of a plan may have a variable, which has a value only during the run.
    if host.is_empty() || host.contains(['$', '{', '%']) {
        return None;
    }
    Some(format!("{host}:{}", url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Tick {
        Tick((seconds * 1e9) as u64)
    }

    fn key(text: &str) -> Token {
        Token::from_text(text)
    }

    fn request(targets: &[&str]) -> LeaseRequest {
        let targets = targets.iter().map(|&target| target.to_owned()).collect();
        LeaseRequest { targets, purpose: "nightly".into(), seconds: None }
    }

    #[test]
    fn one_server_has_one_lease() {
        let mut leases = Leases::default();
        let held =
            leases.take(&request(&["http://Shop.example/a"]), "ann", at(100.0), key("a")).unwrap();
        assert_eq!(held.lease.targets, ["shop.example:80"]);
        let same = request(&["b.example:81", "http://user@shop.example.:80/b?c"]);
        let refused = leases.take(&same, "ben", at(101.0), key("b")).unwrap_err();
        let text = refused.to_string();
        assert!(
            text.starts_with("shop.example:80 is leased by ann (nightly); that lease ends in 29 s"),
            "{text}"
        );
        assert!(
            leases.take(&request(&["b.example:81"]), "ben", at(101.0), key("c")).is_ok(),
            "all or none"
        );
        assert!(
            leases.take(&request(&["https://shop.example/"]), "ben", at(101.0), key("d")).is_ok()
        );
        let again = leases.take(&request(&["shop.example:80"]), "ann", at(101.0), key("e"));
        assert!(matches!(again, Err(LeaseRefusal::Held { .. })), "two runs of one person");
    }

    #[test]
    fn a_lease_ends_unless_it_is_renewed() {
        let mut leases = Leases::default();
        let target = request(&["shop:80"]);
        leases.take(&target, "ann", at(0.0), key("a")).unwrap();
        assert_eq!(leases.renew("a", "ann", at(25.0)).unwrap().lease.remaining_seconds, 30.0);
        assert!(leases.take(&target, "ben", at(54.9), key("b")).is_err());
        assert!(leases.entries(at(55.0)).is_empty());
        leases.take(&target, "ben", at(55.0), key("b")).unwrap();
        assert_eq!(leases.renew("a", "ann", at(56.0)), Err(LeaseRefusal::Unknown));
        assert_eq!(leases.release("b", "ann"), Err(LeaseRefusal::Unknown), "only by its holder");
        leases.release("b", "ben").unwrap();
        assert!(leases.take(&target, "ann", at(57.0), key("c")).is_ok());
    }

    #[test]
    fn a_member_can_end_the_lease_of_a_holder_who_is_gone() {
        let mut leases = Leases::default();
        let long = LeaseRequest { seconds: Some(86400), ..request(&["shop:80"]) };
        leases.take(&long, "ann", at(0.0), key("a")).unwrap();
        let number = leases.entries(at(1.0))[0].number;
        assert_eq!(leases.end(number + 1), Err(LeaseRefusal::Unknown));
        leases.end(number).unwrap();
        assert_eq!(leases.renew("a", "ann", at(2.0)), Err(LeaseRefusal::Unknown));
        let next = leases.take(&long, "ben", at(2.0), key("b")).unwrap();
        assert_ne!(next.lease.number, number, "no number is used again");
    }

    #[test]
    fn malformed_requests_are_refused() {
        let mut leases = Leases::default();
        for target in
            ["", "ftp://shop/", "shop/path", "shop:99999", "http://", "http://${host}/", "a b"]
        {
            let refused = leases.take(&request(&[target]), "ann", at(0.0), key("a")).unwrap_err();
            assert!(matches!(refused, LeaseRefusal::Target(_)), "{target}: {refused}");
        }
        let none = leases.take(&request(&[]), "ann", at(0.0), key("a"));
        assert_eq!(none, Err(LeaseRefusal::Targets(0)));
        let long = LeaseRequest { purpose: "x".repeat(201), ..request(&["a:1"]) };
        assert_eq!(leases.take(&long, "ann", at(0.0), key("a")), Err(LeaseRefusal::Purpose(201)));
        let forever = LeaseRequest { seconds: Some(u32::MAX), ..request(&["a:1"]) };
        assert!(matches!(
            leases.take(&forever, "ann", at(0.0), key("a")),
            Err(LeaseRefusal::Seconds(_))
        ));
        for number in 0..MAX_LEASES_OF_ONE {
            let target = format!("h{number}:1");
            leases.take(&request(&[&target]), "ann", at(0.0), key("a")).unwrap();
        }
        let one_more = leases.take(&request(&["z:1"]), "ann", at(0.0), key("a"));
        assert_eq!(one_more, Err(LeaseRefusal::TooMany));
        assert!(leases.take(&request(&["z:1"]), "ben", at(0.0), key("a")).is_ok());
    }
}
