//! Tests that no protocol connects to a host that the plan does not allow.

use super::*;
use crate::contract::ReplyDetails;
use crate::redirect::follow;
use crate::request::RequestDraft;
use crate::still_timer::Still;
use brunt_model::load::{LoadShape, ThinkTime};
use brunt_model::plan::{RecordSettings, Resolve, ResolveAll};
use brunt_model::reply_policy::RedirectRules;
use brunt_model::{Load, Population, ReplyPolicy, Scenario, Stop};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

/// A server that accepts connections, and the settings of plans.
struct Target {
    listener: TcpListener,
    settings: ConnectionSettings,
}

impl Target {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let timeout = Duration::from_secs(1);
        Self { listener, settings: ConnectionSettings::plain(timeout, timeout) }
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Returns a URL of a host with the port of the server.
    fn url(&self, scheme_and_host: &str) -> String {
        format!("{scheme_and_host}:{}/", self.address().port())
    }

    fn transport(&self, hosts: &[&str]) -> Http<Still> {
        let plan = plan(self.settings.clone(), hosts);
        Http::new(Common::new(&plan).unwrap(), 0, Still)
    }

    /// Opens a connection for a GET request. Returns the failure and its reason.
    fn open(&self, hosts: &[&str], url: &str) -> Result<(), (Failure, String)> {
        let transport = self.transport(hosts);
        let request = transport.prepare(&get(url)).unwrap();
        open(&transport, &request)
    }

    /// Asserts that a connection is not opened because of this reason.
    fn assert_refused(&self, hosts: &[&str], url: &str, why: &str) {
        let (failure, note) = self.open(hosts, url).expect_err(url);
        assert_eq!(failure, Failure::NotAllowed, "{url}: {note}");
        assert!(note.starts_with("target not allowed: ") && note.contains(why), "{url}: {note}");
        assert!(self.listener.accept().is_err(), "{url}: a connection was opened");
    }

    /// Asserts that a connection is opened.
    fn assert_opened(&self, hosts: &[&str], url: &str) {
        assert_eq!(self.open(hosts, url), Ok(()), "{url}");
        assert!(self.listener.accept().is_ok(), "{url}");
    }
}

fn plan(connection: ConnectionSettings, hosts: &[&str]) -> Plan {
    let load = Load::Closed { users: LoadShape::constant(1.0), think: ThinkTime::NONE };
    let stop = Stop::after(Duration::ZERO, Duration::ZERO);
    Plan {
        populations: Population::only(load, Scenario::default(), stop),
        reply_policies: vec![ReplyPolicy::default()],
        connection,
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: Duration::from_secs(1),
            labels: 10,
            samples: false,
            records: None,
        },
        seed: 1,
        threads: 1,
        processes: 1,
        precise: false,
        allowed_targets: hosts.iter().map(|host| (*host).to_owned()).collect(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn get(url: &str) -> RequestDraft<'_> {
    RequestDraft {
        method: "GET",
        url,
        headers: &[],
        body: &Body::None,
        label: 0,
        reply_policy: 0,
        verbatim: None,
    }
}

fn open(transport: &Http<Still>, request: &Prepared) -> Result<(), (Failure, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let opened = runtime.block_on(transport.open(request, 0, &mut ConnectTimes::default()));
    opened.map(drop).map_err(|failure| (failure, transport.take_note().unwrap_or_default().into()))
}

#[test]
fn no_protocol_connects_to_a_host_that_is_not_allowed() {
    let mut target = Target::new();
    let mut urls = vec![
        (HttpVersion::V1_0, "http"),
        (HttpVersion::V1_1, "http"),
        (HttpVersion::V1_1, "https"),
        (HttpVersion::V1_1, "ws"),
        (HttpVersion::V1_1, "wss"),
        (HttpVersion::V2, "http"),
        (HttpVersion::V2, "https"),
        (HttpVersion::V2, "ws"),
    ];
    if h3::IS_BUILT {
        urls.push((HttpVersion::V3, "https"));
    }
    for (version, scheme) in urls {
        target.settings.http = version;
        for (host, name) in [("127.0.0.1", "`127.0.0.1`"), ("localhost", "`localhost`")] {
            let url = target.url(&format!("{scheme}://{host}"));
            target.assert_refused(&["shop.example", "10.0.0.1"], &url, name);
        }
    }
}

#[test]
fn a_redirect_to_a_host_that_is_not_allowed_is_not_followed() {
    let target = Target::new();
    let transport = target.transport(&["127.0.0.1"]);
    let request = transport.prepare(&get(&target.url("http://127.0.0.1"))).unwrap();
    assert_eq!(open(&transport, &request), Ok(()));
    target.listener.accept().unwrap();
    let location = Some(target.url("http://localhost"));
    let details = Some(Box::new(ReplyDetails { location, ..ReplyDetails::default() }));
    let reply = Reply { status: 302, details, ..Reply::default() };
    let next = follow(&transport, &request, &reply, RedirectRules::Rfc9110, |_| {}).unwrap();
    let (failure, note) = open(&transport, &next).unwrap_err();
    assert_eq!(failure, Failure::NotAllowed);
    assert!(note.ends_with("write --allow-target localhost"), "{note}");
    assert!(target.listener.accept().is_err());
}

#[test]
fn spellings_of_an_allowed_address_are_allowed() {
    let target = Target::new();
    for host in ["http://127.0.0.1", "http://2130706433", "http://0x7f.1"] {
        target.assert_opened(&["127.0.0.1"], &target.url(host));
        target.assert_refused(&["127.0.0.2"], &target.url(host), "`127.0.0.1`");
    }
    let mapped = target.url("http://[::ffff:127.0.0.1]");
    target.assert_opened(&["127.0.0.1"], &mapped);
    target.assert_refused(&["127.0.0.2"], &mapped, "`127.0.0.1`");
}

#[test]
fn a_proxy_that_is_not_allowed_is_refused() {
    let mut target = Target::new();
    target.settings.proxy = Some(target.url("http://127.0.0.1"));
    for url in ["http://shop.example/", "https://shop.example/", "ws://shop.example/"] {
        target.assert_refused(&["shop.example"], url, "the proxy `127.0.0.1`");
    }
}

#[test]
fn an_allowed_proxy_gets_no_request_to_a_host_that_is_not_allowed() {
    let mut target = Target::new();
    target.settings.proxy = Some(target.url("http://127.0.0.1"));
    for url in ["http://shop.example/", "https://shop.example/", "ws://shop.example/"] {
        target.assert_refused(&["127.0.0.1"], url, "`shop.example` is not among");
    }
    target.assert_opened(&["127.0.0.1", "shop.example"], "http://shop.example/");
}

#[test]
fn an_address_that_the_plan_sets_must_be_allowed() {
    let mut target = Target::new();
    let url = target.url("http://shop.example");
    let address = target.address();
    target.settings.resolve =
        vec![Resolve { host: "shop.example".into(), port: 0, address: address.ip() }];
    let why = "the plan sets the address 127.0.0.1 for `shop.example`";
    target.assert_refused(&["shop.example"], &url, why);
    target.assert_refused(&["127.0.0.1"], &url, "`shop.example` is not among");
    target.assert_opened(&["shop.example", "127.0.0.1"], &url);
    target.settings.resolve.clear();
    target.settings.resolve_all = Some(ResolveAll { address, tls: false });
    target.assert_refused(&["shop.example"], &url, why);
    target.assert_refused(&["127.0.0.1"], &url, "`shop.example` is not among");
    target.assert_opened(&["shop.example", "127.0.0.1"], &url);
}

#[test]
fn an_allowed_name_is_looked_up_and_connected_to() {
    let mut target = Target::new();
    // Otherwise the first connection may be to ::1, where nothing listens.
    let all = Some(ResolveAll { address: target.address(), tls: false });
    let looked_up = target.open(&["localhost"], &target.url("http://localhost"));
    assert!(!matches!(looked_up, Err((Failure::NotAllowed, _))), "{looked_up:?}");
    target.settings.resolve_all = all;
    while target.listener.accept().is_ok() {}
    target.assert_opened(&["localhost", "127.0.0.1"], &target.url("http://localhost"));
}

#[test]
fn a_unix_socket_is_used_for_any_host() {
    let mut target = Target::new();
    let path = std::env::temp_dir().join(format!("brunt-allowed-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    target.settings.unix_socket = Some(path.clone());
    let opened = target.open(&["shop.example"], "http://other.example/");
    std::fs::remove_file(path).unwrap();
    assert_eq!(opened, Ok(()));
    listener.accept().unwrap();
}
