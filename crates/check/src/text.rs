//! The report of a check as text: facts, line by line, and advice.

use super::facts::{
    CheckFacts, CheckReport, CheckedAgent, CompressionFacts, ConnectionFacts, MachineFacts,
    OfferedQuic, OfferedVersion, ReplyFacts, RequestedLoad, TlsFacts,
};
use crate::advice::Certainty;
use brunt_model::agent::AgentCheck;
use brunt_model::numbers::{bytes, count, plural, seconds, span, three_digits};
use brunt_model::outcome::status_text;
use brunt_model::system_error::without_number;
use brunt_model::time::seconds_of;
use brunt_model::{AgentEnvironment, Route};
use brunt_report::layout::clean;
use brunt_report::view::{Emphasis, View};

/// A fact with its label. It is omitted if the text is empty.
type Entry = (&'static str, String);

/// Returns the report of `brunt check` as text for a terminal.
pub fn text(report: &CheckReport, view: &View) -> String {
    let title = format!("{} {}\n\n", clean(&report.facts.method), clean(&report.facts.url));
    let visible = entries(&report.facts).into_iter().filter(|(_, text)| !text.is_empty());
    let facts: String = visible.map(|(key, text)| view.entry(key, &text)).collect();
    title + &facts + &advice(report, view)
}

fn entries(facts: &CheckFacts) -> Vec<Entry> {
    let mut all = failure(facts);
    all.extend(facts.reply.iter().flat_map(reply));
    all.push(("Compression", compression(facts)));
    all.extend(facts.connection.iter().map(connection));
    all.extend(facts.h2c.iter().map(|h2c| {
        ("Offers", format!("{} without TLS (h2c), for --http 2", offered_version(h2c)))
    }));
    all.extend(facts.tls.iter().flat_map(|t| tls(t, facts.reply.as_ref())));
    all.push((
        "Addresses",
        facts.addresses.iter().map(|a| clean(a)).collect::<Vec<_>>().join(", "),
    ));
    all.extend(facts.route.iter().map(|route| ("Route", path(route).join(", "))));
    all.push(("Machine", machine(&facts.machine).join(", ")));
    all.extend(facts.agents.iter().flat_map(agent));
    all.push(("Load", load(&facts.requested).join(", ")));
    all
}

/// Settings of an agent's kernel that a line names.
const AGENT_SETTINGS: [&str; 4] = [
    "net.ipv4.tcp_tw_reuse",
    "net.core.somaxconn",
    "net.ipv4.tcp_max_syn_backlog",
    "net.netfilter.nf_conntrack_max",
];

fn agent(agent: &CheckedAgent) -> [Entry; 3] {
    let check = agent.check.as_ref();
    let way = check.map_or_else(|| "it did not answer the check".to_owned(), way);
    let load = check.and_then(|check| check.requests_per_core_second).map(|rate| {
        format!(
            "a core carries about {} requests/s (measured: HTTP/1.1, smallest reply)",
            count((rate / 1e3).round() as u64 * 1_000)
        )
    });
    [("Agent", agent_machine(&agent.environment)), ("", way), ("", load.unwrap_or_default())]
}

/// The way from an agent to the server.
fn way(check: &AgentCheck) -> String {
    let mut parts = Vec::new();
    if let Some(connection) = &check.connection {
        let (local, server) = (connection.local.ip(), connection.server);
        let round_trip = seconds(connection.round_trip_seconds);
        parts.push(format!("round trip {round_trip} to {server} from {local}"));
        if connection.is_translated() {
            parts.push("through an address translation (NAT)".into());
        }
    }
    let failure = check.failure.as_ref();
    parts.extend(failure.map(|failure| format!("no connection to the server: {}", clean(failure))));
    parts.extend(check.route.iter().flat_map(path));
    parts.join(", ")
}

fn agent_machine(agent: &AgentEnvironment) -> String {
    let AgentEnvironment { name, facts, clock, .. } = agent;
    let round_trip = clock.round_trip_nanos;
    let clock = match clock.error_nanos {
        0 => "its clock is this machine's".to_owned(),
        error => format!("clock error at most {}", seconds(seconds_of(error))),
    };
    let setting = |name: &str| facts.sysctls.iter().find(|(other, _)| other == name);
    let settings = AGENT_SETTINGS.iter().filter_map(|name| {
        let (name, value) = setting(name)?;
        Some(format!("{} {}", name.rsplit('.').next()?, clean(value)))
    });
    let ports = setting("net.ipv4.ip_local_port_range").and_then(|(_, range)| {
        let (first, last) = range.trim().split_once(char::is_whitespace)?;
        let ports = (last.trim().parse::<u64>().ok()? + 1).checked_sub(first.parse().ok()?)?;
        Some(format!("{} local ports", count(ports)))
    });
    let mut parts = vec![
        format!("{}: brunt {} on {}", clean(name), clean(&facts.brunt), clean(&facts.host)),
        plural(facts.cores.into(), "core"),
        format!("limit on open files {}", limit(facts.descriptors)),
    ];
    parts.extend(ports);
    parts.extend(settings);
    parts.push(clean(&facts.kernel));
    parts.push(format!("round trip to it {}", seconds(seconds_of(round_trip))));
    parts.push(clock);
    parts.join(", ")
}

fn failure(facts: &CheckFacts) -> Vec<Entry> {
    let Some(failure) = &facts.failure else { return Vec::new() };
    let detail = clean(&without_number(&failure.detail));
    let detail = if detail.trim().is_empty() { String::new() } else { format!(" ({detail})") };
    // The advice has the better remedy: the URL with https.
    let remedy = if facts.needs_tls { String::new() } else { failure.remedy.clone() };
    vec![("No reply", format!("{}{detail}", failure.meaning)), ("", remedy)]
}

fn reply(r: &ReplyFacts) -> [Entry; 3] {
    let server = r.server.as_ref().map_or(String::new(), |s| format!(" from {}", clean(s)));
    let to = r.location.as_ref().map_or(String::new(), |l| format!(", to {}", clean(l)));
    let reply = format!(
        "{}{to}{server}, {}, {} (sent to last byte)",
        status_text(r.status),
        r.protocol,
        seconds(r.service_seconds)
    );
    let framing = match &*r.framing {
        "content-length" => "by Content-Length",
        "chunked" => "chunked",
        "stream" => "ended with its stream",
        "until close" => "ended by the close of the connection",
        _ => "no body",
    };
    let body =
        format!("{}, {framing}; header {}", bytes(r.body_bytes as f64), bytes(r.head_bytes as f64));
    [("Reply", reply), ("Body", body), ("Keep-alive", keep_alive(r))]
}

fn keep_alive(r: &ReplyFacts) -> String {
    let header = r
        .keep_alive_header
        .as_ref()
        .map_or(String::new(), |h| format!(" (Keep-Alive: {})", clean(h)));
    let state = match (r.keep_alive, r.reused) {
        (None, _) => "not requested (--no-keepalive)",
        (Some(false), _) => "no: the server closes after each reply",
        (Some(true), Some(true)) => "yes: a second request on the same connection got a reply",
        (Some(true), Some(false)) => {
            "announced, but a second request on the same connection got no reply"
        }
        (Some(true), None) => "yes, by the reply's header; no second request was sent",
    };
    format!("{state}{header}")
}

fn compression(facts: &CheckFacts) -> String {
    let Some(reply) = &facts.reply else { return String::new() };
    let current = match (facts.requested.compressed, &reply.content_encoding) {
        (false, None) => "none, none requested".to_owned(),
        (_, coding) => coding_name(coding.as_ref()),
    };
    let opposite = facts.compression.as_ref().map_or(String::new(), |c: &CompressionFacts| {
        let request = c
            .accepted
            .as_ref()
            .map_or("without Accept-Encoding".into(), |a| format!("with Accept-Encoding: {a}"));
        format!(
            "; {request}: {}, {}",
            coding_name(c.content_encoding.as_ref()),
            bytes(c.body_bytes as f64)
        )
    });
    current + &opposite
}

fn coding_name(coding: Option<&String>) -> String {
    coding.map_or("none".to_owned(), |c| clean(c))
}

fn connection(c: &ConnectionFacts) -> Entry {
    let peer = c.peer.as_ref().map_or(String::new(), |p| format!("{p}, "));
    let best = if c.connects > 1 {
        format!(" (minimum of {} connects)", c.connects)
    } else {
        " (one connect)".into()
    };
    let resolve =
        c.resolve_seconds.map_or(String::new(), |s| format!(", name resolved in {}", seconds(s)));
    ("Connection", format!("{peer}round trip {}{best}{resolve}", seconds(c.round_trip_seconds)))
}

fn offered(t: &TlsFacts, reply: Option<&ReplyFacts>) -> Vec<String> {
    let services = reply
        .and_then(|reply| reply.alt_svc.as_ref())
        .map(|value| format!("Alt-Svc {}", clean(value)));
    t.http.iter().map(offered_version).chain(services).collect()
}

fn offered_version(offered: &OfferedVersion) -> String {
    let streams =
        offered.streams.map_or("no limit on streams".into(), |n| plural(n.into(), "stream"));
    let limits = match offered.window_bytes {
        Some(window) => format!(" ({streams}, window {})", bytes(window as f64)),
        None if offered.streams.is_some() => format!(" ({streams})"),
        None => String::new(),
    };
    format!("{}{limits}", offered.version)
}

/// The versions of QUIC that a server offers, and its transport settings.
fn quic(q: &OfferedQuic) -> String {
    let versions =
        if q.versions.is_empty() { "versions unknown".to_owned() } else { q.versions.join(", ") };
    let idle = q
        .idle_timeout_seconds
        .map_or("no idle timeout".to_owned(), |s| format!("idle timeout {}", seconds(s)));
    let migration = if q.allows_migration { "allowed" } else { "forbidden" };
    format!(
        "{versions}; {idle}, windows {} (connection) and {} (request), UDP payload up to {}, acknowledgment delay up to {}, \
         connection migration {migration}",
        bytes(q.connection_window_bytes as f64),
        bytes(q.stream_window_bytes as f64),
        bytes(q.max_udp_payload_bytes as f64),
        seconds(q.max_ack_delay_seconds),
    )
}

fn tls(t: &TlsFacts, reply: Option<&ReplyFacts>) -> [Entry; 4] {
    let version = t.version.as_ref().map_or("unknown".to_owned(), |version| clean(version));
    let alpn = t.alpn.as_ref().map_or("none".to_owned(), |a| clean(a));
    let resumption = match (t.resumed, t.resumed_handshake_seconds) {
        (Some(true), Some(s)) => format!(", {} resumed", seconds(s)),
        (Some(false), _) => ", sessions are not resumed".into(),
        _ => String::new(),
    };
    // The QUIC library does not report the cipher suite.
    let cipher = t.cipher.as_ref().map_or(String::new(), |cipher| format!(", {}", clean(cipher)));
    let retry = if t.retried { " after a HelloRetryRequest" } else { "" };
    let group =
        t.group.as_ref().map_or(String::new(), |group| format!(", {}{retry}", clean(group)));
    let line = format!(
        "{version}{cipher}{group}, ALPN {alpn} (offered {}), handshake {}{resumption}",
        t.alpn_offered.join(", "),
        seconds(t.handshake_seconds)
    );
    let quic = t.http.iter().find_map(|offered| offered.quic.as_ref()).map_or(String::new(), quic);
    [
        ("TLS", line),
        ("Offers", offered(t, reply).join(", ")),
        ("QUIC", quic),
        ("Certificate", certificate(t).join(", ")),
    ]
}

fn certificate(t: &TlsFacts) -> Vec<String> {
    let Some(c) = &t.certificate else { return Vec::new() };
    let names: Vec<String> = c.names.iter().map(|n| clean(n)).collect();
    let days = if c.days_left < 0 {
        "expired".into()
    } else {
        format!("{} left", plural(c.days_left as u64, "day"))
    };
    let by = if c.self_signed { "itself".to_owned() } else { clean(&c.issuer) };
    let mut parts =
        vec![format!("{} for {}", clean(&c.subject), names.join(" ")), format!("signed by {by}")];
    parts.push(format!("valid {} to {} ({days})", c.valid_from, c.valid_to));
    parts.push(format!("chain of {}", t.chain));
    parts.extend(t.distrust.as_ref().map(|why| format!("NOT TRUSTED: {}", clean(why))));
    parts
}

fn path(r: &Route) -> Vec<String> {
    let mut parts = Vec::new();
    match r.same_host {
        Some(true) => parts.push("client and server share this machine".into()),
        Some(false) => parts.push("another machine".into()),
        None => {}
    }
    parts.extend(r.listener.as_ref().map(|l| format!("{} listens", clean(l))));
    parts.extend(r.listener_backlog.map(|n| format!("accept queue {}", count(n))));
    parts.extend(r.listener_descriptors.map(|n| format!("limit on its open files {}", limit(n))));
    parts.extend(r.interface.as_ref().map(|i| format!("interface {}", clean(i))));
    parts
        .extend(r.link_bits_per_second.map(|b| format!("{} Mbit/s", three_digits(b as f64 / 1e6))));
    parts.extend(r.mtu_bytes.map(|m| format!("MTU {} B", count(m))));
    parts
}

fn limit(n: u64) -> String {
    if n == u64::MAX { "none".into() } else { count(n) }
}

fn machine(m: &MachineFacts) -> Vec<String> {
    let mut parts = vec![
        plural(m.cores.into(), "core"),
        format!("limit on open files {}", limit(m.descriptors)),
    ];
    parts.extend(m.ports().map(|n| format!("{} local ports", count(n))));
    parts.extend(m.settings.tw_reuse.map(|n| format!("tcp_tw_reuse {n}")));
    parts.extend(m.settings.somaxconn.map(|n| format!("somaxconn {}", count(n))));
    parts.extend(m.settings.syn_backlog.map(|n| format!("tcp_max_syn_backlog {}", count(n))));
    parts.extend(m.settings.conntrack_max.map(|n| format!("nf_conntrack_max {}", count(n))));
    parts.extend(m.settings.governor.as_ref().map(|g| format!("CPU governor {}", clean(g))));
    parts
}

fn load(a: &RequestedLoad) -> Vec<String> {
    let mut parts = Vec::new();
    match a.rate_per_second {
        Some(rate) => parts.push(format!("open loop, up to {} requests/s", three_digits(rate))),
        None => parts.push("closed loop".into()),
    }
    parts.extend(a.connections.map(|n| format!("at most {}", plural(n, "connection"))));
    parts.extend(
        a.new_connections_per_second
            .map(|n| format!("about {} new connections/s", three_digits(n))),
    );
    parts.extend(a.duration_seconds.map(span));
    parts
}

fn advice(report: &CheckReport, view: &View) -> String {
    if report.advice.is_empty() && report.facts.failure.is_some() {
        return String::new();
    }
    if report.advice.is_empty() {
        return "\nNo problem found for this load\n".into();
    }
    let mut out = format!("\n{}\n", view.paint(Emphasis::Strong, "Advice"));
    for advice in &report.advice {
        let mark = if advice.certainty == Certainty::Surely {
            view.paint(Emphasis::Bad, "!")
        } else {
            "-".into()
        };
        out += &view.hang(&format!("{mark} "), &clean(&format!("{}: {}", advice.what, advice.why)));
        out += &view.hang("  -> ", &clean(&advice.command));
    }
    out
}

#[cfg(test)]
mod tests;
