//! Tests lookups of names, and the addresses that allowed targets permit.

use super::*;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Creates a directory that permits these hosts. The resolver returns these addresses, one list for
/// each lookup. Names are looked up again at each tick.
fn directory(hosts: &[&str], lookups: &[&[&str]]) -> Directory {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut settings = ConnectionSettings::plain(Duration::from_secs(1), Duration::from_secs(1));
    settings.resolve_every = Some(Duration::from_nanos(1));
    let results = lookups.iter().map(|addresses| {
        let addresses = addresses.iter().map(|address| address.parse().unwrap());
        addresses.map(|address| SocketAddr::new(address, 0)).collect()
    });
    Directory {
        resolver: Resolver::Scripted(Mutex::new(results.collect())),
        ..Directory::new(&settings, AllowedTargets::from_hosts(&hosts))
    }
}

fn route(host: &str) -> OriginAddresses {
    let origin = Origin { https: false, host: host.into(), port: 80, websocket: None };
    OriginAddresses::new(origin, 0)
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns the next address of a route at an instant, or the failure and its reason.
fn next(
    route: &OriginAddresses,
    directory: &Directory,
    tick: u64,
) -> Result<String, (Failure, String)> {
    let mut address = pin!(route.next_address(directory, &route.origin.host, 80, Tick(tick)));
    loop {
        if let Poll::Ready(address) = poll(address.as_mut()) {
            return address.map(|(address, _)| address.to_string());
        }
    }
}

/// The failure of an address that the first lookup had not.
fn new_address(host: &str, address: &str) -> (Failure, String) {
    let why = format!(
        "{host} has the address {address}, which it had not when the run began; to allow it, write --allow-target {address}"
    );
    (Failure::NotAllowed, why)
}

#[test]
fn an_allowed_name_has_all_addresses_of_its_first_lookup() {
    let directory = directory(&["shop.example"], &[&["10.0.0.1", "10.0.0.2"]]);
    let route = route("shop.example");
    let both = ["10.0.0.1:80", "10.0.0.2:80"].map(|address| Ok(address.to_owned()));
    assert_eq!([next(&route, &directory, 0), next(&route, &directory, 0)], both);
}

#[test]
fn an_address_that_a_name_had_not_at_first_is_refused() {
    let lookups: &[&[&str]] =
        &[&["10.0.0.1"], &["10.0.0.9"], &["10.0.0.1", "10.0.0.9"], &["::ffff:10.0.0.1"]];
    let directory = directory(&["shop.example"], lookups);
    let route = route("shop.example");
    assert_eq!(next(&route, &directory, 0), Ok("10.0.0.1:80".into()));
    let refused = new_address("shop.example", "10.0.0.9");
    assert_eq!(next(&route, &directory, 1), Err(refused.clone()));
    // One address of two is known, and both have their turn.
    let both = [next(&route, &directory, 2), next(&route, &directory, 2)];
    assert_eq!(both, [Ok("10.0.0.1:80".into()), Err(refused)]);
    assert_eq!(route.addresses(), ["10.0.0.1:80"]);
    assert_eq!(next(&route, &directory, 3), Ok("[::ffff:10.0.0.1]:80".into()));
}

#[test]
fn a_new_address_that_is_in_the_list_is_allowed() {
    let directory = directory(&["shop.example", "10.0.0.9"], &[&["10.0.0.1"], &["10.0.0.9"]]);
    let route = route("shop.example");
    assert_eq!(next(&route, &directory, 0), Ok("10.0.0.1:80".into()));
    assert_eq!(next(&route, &directory, 1), Ok("10.0.0.9:80".into()));
}

#[test]
fn without_a_list_new_addresses_are_used() {
    let directory = directory(&[], &[&["10.0.0.1"], &["10.0.0.9"]]);
    let route = route("shop.example");
    assert_eq!(next(&route, &directory, 0), Ok("10.0.0.1:80".into()));
    assert_eq!(next(&route, &directory, 1), Ok("10.0.0.9:80".into()));
}

#[test]
fn a_name_that_is_not_allowed_is_not_looked_up() {
    // A lookup would panic, since the resolver has no result.
    let directory = directory(&["shop.example"], &[]);
    let (failure, why) = next(&route("other.example"), &directory, 0).unwrap_err();
    assert_eq!(failure, Failure::NotAllowed);
    assert!(why.contains("`other.example` is not among the allowed targets"), "{why}");
}

#[test]
fn a_name_is_looked_up_once_for_all_ports() {
    let directory = directory(&["shop.example"], &[&["10.0.0.1"]]);
    let route = route("shop.example");
    assert_eq!(next(&route, &directory, 0), Ok("10.0.0.1:80".into()));
    let other = OriginAddresses::new(Origin { port: 443, ..route.origin.clone() }, 0);
    let address = poll(pin!(other.next_address(&directory, "shop.example", 443, Tick(0))));
    assert_eq!(address, Poll::Ready(Ok(("10.0.0.1:443".parse().unwrap(), false))));
}

/// A resolver may return a different part of many addresses at each lookup.
#[test]
fn lookups_at_the_same_time_have_the_addresses_of_the_first_result() {
    let directory = directory(&["shop.example"], &[&["10.0.0.1"], &["10.0.0.9"]]);
    let routes = [route("shop.example"), route("shop.example")];
    let mut first = pin!(routes[0].next_address(&directory, "shop.example", 80, Tick(0)));
    let mut second = pin!(routes[1].next_address(&directory, "shop.example", 80, Tick(0)));
    assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
    let address = Poll::Ready(Ok(("10.0.0.1:80".parse().unwrap(), true)));
    assert_eq!([poll(first.as_mut()), poll(second.as_mut())], [address.clone(), address]);
}
