//! Tests hosts, sites, links and cookies.

use super::*;
use axum::http::Request;

fn guard() -> Guard {
    guard_of(GuardSettings {
        address: SocketAddr::from(([127, 0, 0, 1], 8123)),
        hosts: Vec::new(),
        uses_tls: false,
        tokens: None,
    })
}

fn guard_of(settings: GuardSettings) -> Guard {
    Guard::new(settings).unwrap()
}

fn request(target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::get(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

#[test]
fn only_the_studios_own_host_is_answered() {
    let guard = guard();
    for host in ["127.0.0.1:8123", "localhost:8123", "LOCALHOST:8123"] {
        assert_eq!(guard.check_host(&request("/", &[("host", host)])), Ok(()), "{host}");
    }
    for host in [
        "evil.example:8123",
        "127.0.0.1",
        "127.0.0.1:8124",
        "localhost.:8123",
        "127.1:8123",
        "2130706433:8123",
        "0177.0.0.1:8123",
        "[::1]:8123",
        "[::ffff:127.0.0.1]:8123",
        "user@127.0.0.1:8123",
        "127.0.0.1:8123.evil.example",
        "",
    ] {
        let refused = Err(Refusal::Host);
        assert_eq!(guard.check_host(&request("/", &[("host", host)])), refused, "{host}");
    }
    assert_eq!(guard.check_host(&request("/", &[])), Err(Refusal::Host));
    let twice = [("host", "127.0.0.1:8123"), ("host", "127.0.0.1:8123")];
    assert_eq!(guard.check_host(&request("/", &twice)), Err(Refusal::Host));
    let own = [("host", "127.0.0.1:8123")];
    let absolute = request("http://evil.example/", &own);
    assert_eq!(guard.check_host(&absolute), Err(Refusal::Host), "as a proxy");
}

#[test]
fn requests_of_other_sites_are_refused() {
    let guard = guard();
    let with = |name, value| request("/runs", &[("host", "127.0.0.1:8123"), (name, value)]);
    for (name, value, expected) in [
        ("origin", "http://127.0.0.1:8123", Ok(())),
        ("origin", "http://evil.example", Err(Refusal::Site)),
        ("origin", "https://127.0.0.1:8123", Err(Refusal::Site)),
        ("origin", "null", Err(Refusal::Site)),
        ("sec-fetch-site", "same-origin", Ok(())),
        ("sec-fetch-site", "none", Ok(())),
        ("sec-fetch-site", "cross-site", Err(Refusal::Site)),
        // Another port of this machine is the same site.
        ("sec-fetch-site", "same-site", Err(Refusal::Site)),
    ] {
        assert_eq!(guard.check_host(&with(name, value)), expected, "{name}: {value}");
    }
}

#[test]
fn a_link_works_once_and_sets_the_cookie_that_is_the_token() {
    let guard = guard();
    let cookie = |value: &str| request("/", &[("cookie", value)]).headers;
    assert_eq!(guard.identify(&cookie("")).err(), Some(Refusal::Token));
    assert_eq!(guard.use_link(""), Err(Refusal::Link));
    let earlier = guard.new_link().unwrap();
    let path = guard.new_link().unwrap();
    let key = path.strip_prefix(LINK_PATH).unwrap();
    assert_eq!(guard.use_link(earlier.strip_prefix(LINK_PATH).unwrap()), Err(Refusal::Link));
    let set = guard.use_link(key).unwrap();
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{set}");
    let (pair, _) = set.split_once(';').unwrap();
    let visitor = guard.identify(&cookie(&format!("other=1; {pair}"))).ok().unwrap();
    assert_eq!(visitor.permission, Permission::Run);
    let cut = guard.identify(&cookie(&pair[..pair.len() - 1]));
    assert_eq!(cut.err(), Some(Refusal::Token));
    assert_eq!(guard.use_link(key), Err(Refusal::Link));
}

#[test]
fn a_guard_with_tls_has_the_names_of_its_hosts_only() {
    let hosts = ["team.example", "lab.example:8443", "[fd00::1]"].map(str::to_owned);
    let guard = guard_of(GuardSettings {
        address: SocketAddr::from(([0, 0, 0, 0], 443)),
        hosts: hosts.to_vec(),
        uses_tls: true,
        tokens: None,
    });
    assert_eq!(guard.origin(), "https://team.example:443");
    for host in ["team.example", "team.example:443", "lab.example:8443", "[fd00::1]"] {
        assert_eq!(guard.check_host(&request("/", &[("host", host)])), Ok(()), "{host}");
    }
    for host in ["0.0.0.0", "0.0.0.0:443", "localhost", "lab.example", "team.example:80"] {
        let refused = Err(Refusal::Host);
        assert_eq!(guard.check_host(&request("/", &[("host", host)])), refused, "{host}");
    }
    let own = ("host", "team.example");
    let with_origin = |origin| request("/", &[own, ("origin", origin)]);
    assert_eq!(guard.check_host(&with_origin("https://team.example")), Ok(()));
    assert_eq!(guard.check_host(&with_origin("http://team.example")), Err(Refusal::Site));
    let path = guard.new_link().unwrap();
    let cookie = guard.use_link(path.strip_prefix(LINK_PATH).unwrap()).unwrap();
    assert!(cookie.starts_with("__Host-brunt-studio-443="), "{cookie}");
    assert!(cookie.ends_with("; SameSite=Strict; Secure"), "{cookie}");
}
