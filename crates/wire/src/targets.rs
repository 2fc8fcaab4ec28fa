//! The hosts to which brunt may connect.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use url::Host;

/// Names and addresses to which brunt may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedTargets {
    names: HashSet<String>,
    addresses: HashSet<IpAddr>,
}

/// Why brunt may not connect to a host or an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetRefusal {
    /// The host of the URL is not in the list.
    #[error("`{0}` is not among the allowed targets; to allow it, write --allow-target {0}")]
    Host(String),
    /// The proxy's host is not in the list.
    #[error(
        "the proxy `{0}` is not among the allowed targets; to allow it, write --allow-target {0}"
    )]
    Proxy(String),
    /// The plan sets an address that is not in the list.
    #[error(
        "the plan sets the address {address} for `{host}`, which is not among the allowed targets; \
         to allow it, write --allow-target {address}"
    )]
    ConfiguredAddress {
        /// Host of the URL or of the proxy.
        host: String,
        /// The address in its usual form.
        address: IpAddr,
    },
    /// A later lookup has an address that the first one had not.
    #[error(
        "{host} has the address {address}, which it had not when the run began; to allow it, write \
         --allow-target {address}"
    )]
    NewAddress {
        /// Host of the URL or of the proxy.
        host: String,
        /// The address in its usual form.
        address: IpAddr,
    },
}

/// A host in one form.
enum Target {
    Name(String),
    Address(IpAddr),
}

impl AllowedTargets {
    /// Returns the targets of a plan's list. None if the list is empty: all hosts are allowed.
    pub fn from_hosts(hosts: &[String]) -> Option<Self> {
        if hosts.is_empty() {
            return None;
        }
        let mut allowed = Self { names: HashSet::new(), addresses: HashSet::new() };
        for host in hosts {
            match target(host) {
                Target::Name(name) => allowed.names.insert(name),
                Target::Address(address) => allowed.addresses.insert(address),
            };
        }
        Some(allowed)
    }

    /// Checks the host of a URL, and the host of the connection: the same one, or the proxy's.
    /// A name is not looked up.
    ///
    /// # Errors
    ///
    /// [`TargetRefusal`] if a host is not in the list.
    pub fn check_hosts(&self, url_host: &str, peer: &str) -> Result<(), TargetRefusal> {
        if !self.has_host(url_host) {
            return Err(TargetRefusal::Host(form(url_host)));
        }
        if !self.has_host(peer) {
            return Err(TargetRefusal::Proxy(form(peer)));
        }
        Ok(())
    }

    /// Checks an address that the plan sets for a host.
    ///
    /// # Errors
    ///
    /// [`TargetRefusal`] if the address is not in the list.
    pub fn check_configured(&self, host: &str, address: IpAddr) -> Result<(), TargetRefusal> {
        let address = address.to_canonical();
        if self.addresses.contains(&address) {
            return Ok(());
        }
        Err(TargetRefusal::ConfiguredAddress { host: host.to_owned(), address })
    }

    /// Checks an address that a lookup of an allowed name returned. `first` contains the addresses
    /// of the first lookup.
    ///
    /// # Errors
    ///
    /// [`TargetRefusal`] if the address is neither among the first ones nor in the list.
    pub fn check_resolved(
        &self,
        host: &str,
        address: IpAddr,
        first: &[SocketAddr],
    ) -> Result<(), TargetRefusal> {
        let address = address.to_canonical();
        let is_first = first.iter().any(|other| other.ip().to_canonical() == address);
        if is_first || self.addresses.contains(&address) {
            return Ok(());
        }
        Err(TargetRefusal::NewAddress { host: host.to_owned(), address })
    }

    fn has_host(&self, host: &str) -> bool {
        match target(host) {
            Target::Name(name) => self.names.contains(&name),
            Target::Address(address) => self.addresses.contains(&address),
        }
    }
}

/// Returns a host in the form in which hosts are compared.
fn target(host: &str) -> Target {
    // A URL's parser takes IPv6 addresses only in brackets.
    let unbracketed = host.trim_matches(['[', ']']);
    if let Ok(address) = unbracketed.parse::<IpAddr>() {
        return Target::Address(address.to_canonical());
    }
    match Host::parse(host) {
        Ok(Host::Ipv4(address)) => Target::Address(address.into()),
        Ok(Host::Ipv6(address)) => Target::Address(IpAddr::from(address).to_canonical()),
        // A name with a dot at its end is the same host (RFC 3986 section 3.2.2).
        Ok(Host::Domain(name)) => Target::Name(name.trim_end_matches('.').to_owned()),
        // It equals no host of a URL.
        Err(_) => Target::Name(host.to_owned()),
    }
}

/// Formats a host as it is written in a list.
fn form(host: &str) -> String {
    match target(host) {
        Target::Name(name) => name,
        Target::Address(address) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::origin_of;

    fn allowed(hosts: &[&str]) -> AllowedTargets {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        AllowedTargets::from_hosts(&hosts).unwrap()
    }

    /// Returns the refusal of a URL's host.
    fn refusal(allowed: &AllowedTargets, url: &str) -> Option<String> {
        let host = origin_of(url).unwrap().1.host;
        allowed.check_hosts(&host, &host).err().map(|refusal| refusal.to_string())
    }

    #[test]
    fn an_empty_list_allows_all_hosts() {
        assert_eq!(AllowedTargets::from_hosts(&[]), None);
    }

    #[test]
    fn a_name_is_the_same_host_in_any_spelling() {
        let allowed = allowed(&["shop.example", "xn--bcher-kva.example"]);
        for url in ["http://Shop.Example/", "https://shop.example./", "ws://bücher.example/"] {
            assert_eq!(refusal(&allowed, url), None, "{url}");
        }
        let why = "`api.shop.example` is not among the allowed targets; to allow it, write --allow-target api.shop.example";
        assert_eq!(refusal(&allowed, "http://api.shop.example/").as_deref(), Some(why));
        assert!(refusal(&allowed, "http://example/").is_some());
    }

    #[test]
    fn an_ipv6_mapped_address_is_its_ipv4_address() {
        let allowed = allowed(&["192.0.2.7"]);
        for url in ["http://[::ffff:192.0.2.7]/", "http://[::ffff:c000:207]/"] {
            assert_eq!(refusal(&allowed, url), None, "{url}");
        }
        let why = refusal(&allowed, "http://[::ffff:192.0.2.8]/").unwrap();
        assert!(why.contains("write --allow-target 192.0.2.8"), "{why}");
        assert!(refusal(&allowed, "http://[::1]/").unwrap().contains("`::1`"));
    }

    #[test]
    fn a_decimal_address_is_the_address() {
        let urls =
            ["http://2130706433/", "http://0x7f000001/", "http://127.1/", "http://0177.0.0.1/"];
        for url in urls {
            assert_eq!(refusal(&allowed(&["127.0.0.1"]), url), None, "{url}");
            let why = refusal(&allowed(&["localhost", "127.0.0.2"]), url).unwrap();
            assert!(why.contains("`127.0.0.1`"), "{url}: {why}");
        }
    }

    #[test]
    fn a_proxy_must_be_allowed_with_the_host_of_the_url() {
        let allowed = allowed(&["shop.example", "proxy.example"]);
        assert_eq!(allowed.check_hosts("shop.example", "proxy.example"), Ok(()));
        let refused = allowed.check_hosts("shop.example", "10.0.0.1");
        assert_eq!(refused, Err(TargetRefusal::Proxy("10.0.0.1".into())));
        let refused = allowed.check_hosts("other.example", "proxy.example");
        assert_eq!(refused, Err(TargetRefusal::Host("other.example".into())));
    }
}
