//! Leases on targets: who measures which servers, so that two people never measure one server at once.
//!
//! A lease ends by itself if its holder does not renew it. All functions receive the time.

use crate::token::Token;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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
    /// Servers, each as `host:port`.
    pub targets: Vec<String>,
    /// Name of the holder's token.
    pub holder: String,
    /// Purpose, as the holder has written it.
    pub purpose: String,
    /// End of the lease if it is not renewed, in seconds since 1970-01-01 UTC.
    pub until_unix_seconds: f64,
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
        lease.holder, purpose(&lease.purpose), remaining(*seconds)
    )]
    Held {
        /// The target.
        target: String,
        /// The other lease.
        lease: LeaseEntry,
        /// Time until the end of the other lease, in seconds.
        seconds: f64,
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
    /// There is no lease with this key.
    #[error("there is no lease with this key; it has ended, or the studio was started again")]
    Unknown,
}

fn purpose(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

fn remaining(seconds: f64) -> String {
    brunt_model::numbers::span(seconds.max(1.0).ceil())
}

/// All leases of a studio.
#[derive(Default)]
pub struct Leases(Vec<Lease>);

struct Lease {
    key: Token,
    targets: BTreeSet<String>,
    holder: String,
    purpose: String,
    seconds: u32,
    until: f64,
}

impl Lease {
    /// True for the lease of this holder with this key. Another member cannot end it.
    fn is_of(&self, key: &str, holder: &str) -> bool {
        self.holder == holder && self.key.is(key)
    }

    fn entry(&self) -> LeaseEntry {
        LeaseEntry {
            targets: self.targets.iter().cloned().collect(),
            holder: self.holder.clone(),
            purpose: self.purpose.clone(),
            until_unix_seconds: self.until,
        }
    }

    fn of_holder(&self) -> HeldLease {
        let key = self.key.text().to_owned();
        HeldLease { key, seconds: self.seconds, lease: self.entry() }
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
        now: f64,
        key: Token,
    ) -> Result<HeldLease, LeaseRefusal> {
        let targets = check(request)?;
        // Holders that have died are forgotten here, so no thread is necessary.
        self.0.retain(|lease| lease.until > now);
        for lease in &self.0 {
            if let Some(target) = targets.intersection(&lease.targets).next() {
                return Err(LeaseRefusal::Held {
                    target: target.clone(),
                    lease: lease.entry(),
                    seconds: lease.until - now,
                });
            }
        }
        let of_holder = self.0.iter().filter(|lease| lease.holder == holder).count();
        if self.0.len() >= MAX_LEASES || of_holder >= MAX_LEASES_OF_ONE {
            return Err(LeaseRefusal::TooMany);
        }
        let seconds = request.seconds.unwrap_or(DEFAULT_SECONDS);
        let lease = Lease {
            key,
            targets,
            holder: holder.to_owned(),
            purpose: request.purpose.clone(),
            seconds,
            until: now + f64::from(seconds),
        };
        self.0.push(lease);
        Ok(self.0[self.0.len() - 1].of_holder())
    }

    /// Renews a lease, so that it ends later.
    ///
    /// # Errors
    ///
    /// The holder has no lease with this key, or it has ended.
    pub fn renew(&mut self, key: &str, holder: &str, now: f64) -> Result<HeldLease, LeaseRefusal> {
        let mut own = self.0.iter_mut().filter(|lease| lease.is_of(key, holder));
        // Another holder may have used the servers since its end, so it is not revived.
        let lease = own.find(|lease| lease.until > now);
        let lease = lease.ok_or(LeaseRefusal::Unknown)?;
        lease.until = now + f64::from(lease.seconds);
        Ok(lease.of_holder())
    }

    /// Releases a lease.
    ///
    /// # Errors
    ///
    /// The holder has no lease with this key.
    pub fn release(&mut self, key: &str, holder: &str) -> Result<(), LeaseRefusal> {
        let place = self.0.iter().position(|lease| lease.is_of(key, holder));
        let place = place.ok_or(LeaseRefusal::Unknown)?;
        self.0.remove(place);
        Ok(())
    }

    /// Returns all leases that have not ended.
    pub fn entries(&self, now: f64) -> Vec<LeaseEntry> {
        self.0.iter().filter(|lease| lease.until > now).map(Lease::entry).collect()
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
            leases.take(&request(&["http://Shop.example/a"]), "ann", 100.0, key("a")).unwrap();
        assert_eq!(held.lease.targets, ["shop.example:80"]);
        let same = request(&["b.example:81", "http://user@shop.example.:80/b?c"]);
        let refused = leases.take(&same, "ben", 101.0, key("b")).unwrap_err();
        let text = refused.to_string();
        assert!(
            text.starts_with("shop.example:80 is leased by ann (nightly); that lease ends in 29 s"),
            "{text}"
        );
        assert!(
            leases.take(&request(&["b.example:81"]), "ben", 101.0, key("c")).is_ok(),
            "all or none"
        );
        assert!(leases.take(&request(&["https://shop.example/"]), "ben", 101.0, key("d")).is_ok());
        let again = leases.take(&request(&["shop.example:80"]), "ann", 101.0, key("e"));
        assert!(matches!(again, Err(LeaseRefusal::Held { .. })), "two runs of one person");
    }

    #[test]
    fn a_lease_ends_unless_it_is_renewed() {
        let mut leases = Leases::default();
        let target = request(&["shop:80"]);
        leases.take(&target, "ann", 0.0, key("a")).unwrap();
        assert_eq!(leases.renew("a", "ann", 25.0).unwrap().lease.until_unix_seconds, 55.0);
        assert!(leases.take(&target, "ben", 54.9, key("b")).is_err());
        assert!(leases.entries(55.0).is_empty());
        leases.take(&target, "ben", 55.0, key("b")).unwrap();
        assert_eq!(leases.renew("a", "ann", 56.0), Err(LeaseRefusal::Unknown));
        assert_eq!(leases.release("b", "ann"), Err(LeaseRefusal::Unknown), "only by its holder");
        leases.release("b", "ben").unwrap();
        assert!(leases.take(&target, "ann", 57.0, key("c")).is_ok());
    }

    #[test]
    fn malformed_requests_are_refused() {
        let mut leases = Leases::default();
        for target in
            ["", "ftp://shop/", "shop/path", "shop:99999", "http://", "http://${host}/", "a b"]
        {
            let refused = leases.take(&request(&[target]), "ann", 0.0, key("a")).unwrap_err();
            assert!(matches!(refused, LeaseRefusal::Target(_)), "{target}: {refused}");
        }
        let none = leases.take(&request(&[]), "ann", 0.0, key("a"));
        assert_eq!(none, Err(LeaseRefusal::Targets(0)));
        let long = LeaseRequest { purpose: "x".repeat(201), ..request(&["a:1"]) };
        assert_eq!(leases.take(&long, "ann", 0.0, key("a")), Err(LeaseRefusal::Purpose(201)));
        let forever = LeaseRequest { seconds: Some(u32::MAX), ..request(&["a:1"]) };
        assert!(matches!(
            leases.take(&forever, "ann", 0.0, key("a")),
            Err(LeaseRefusal::Seconds(_))
        ));
        for number in 0..MAX_LEASES_OF_ONE {
            let target = format!("h{number}:1");
            leases.take(&request(&[&target]), "ann", 0.0, key("a")).unwrap();
        }
        let one_more = leases.take(&request(&["z:1"]), "ann", 0.0, key("a"));
        assert_eq!(one_more, Err(LeaseRefusal::TooMany));
        assert!(leases.take(&request(&["z:1"]), "ben", 0.0, key("a")).is_ok());
    }
}
