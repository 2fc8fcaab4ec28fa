//! The report of a check for people: what was found, line by line, and what to mend.

use brunt_model::Route;
use brunt_report::figures::{bytes, count, plural, seconds, span, three};
use brunt_report::layout::{clean, entry, hang};
use brunt_runner::check::facts::{
    Answered, CheckReport, Compression, Connected, Facts, Machine, RequestedLoad, Secured,
};
use brunt_runner::check::rules::Certainty;

/// The whole report.
pub fn text(report: &CheckReport) -> String {
    let facts = &report.facts;
    let mut out = format!("{} {}\n\n", clean(&facts.method), clean(&facts.url));
    out += &failure(facts);
    out += &facts.reply.as_ref().map_or(String::new(), reply);
    out += &compression(facts);
    out += &facts.connection.as_ref().map_or(String::new(), connection);
    out += &facts.tls.as_ref().map_or(String::new(), tls);
    out += &section("Addresses", &facts.addresses.iter().map(|a| clean(a)).collect::<Vec<_>>());
    out += &facts.route.as_ref().map_or(String::new(), |r| section("Way", &way(r)));
    out += &section("This machine", &machine(&facts.machine));
    out += &section("Asked", &asked(&facts.asked));
    out + &advice(report)
}

/// An entry of parts, where there are any.
fn section(key: &str, parts: &[String]) -> String {
    if parts.is_empty() { String::new() } else { entry(key, &parts.join(", ")) }
}

fn failure(facts: &Facts) -> String {
    let Some(failed) = &facts.failure else { return String::new() };
    let detail = if failed.detail.is_empty() { String::new() } else { format!(" ({})", clean(&failed.detail)) };
    let remedy = if failed.remedy.is_empty() { String::new() } else { entry("", &failed.remedy) };
    entry("No answer", &format!("{}{detail}", failed.meaning)) + &remedy
}

fn reply(r: &Answered) -> String {
    let server = r.server.as_ref().map_or(String::new(), |s| format!(" from {}", clean(s)));
    let to = r.location.as_ref().map_or(String::new(), |l| format!(", to {}", clean(l)));
    let answer =
        format!("{}{to}{server}, {}, in {} (sent to last byte)", r.status, r.protocol, seconds(r.service_seconds));
    let framing = match &*r.framing {
        "content-length" => "length known",
        "chunked" => "in chunks",
        "until close" => "ends when the server closes",
        _ => "there is none",
    };
    let body = format!("{}, {framing}; head {}", bytes(r.body_bytes as f64), bytes(r.head_bytes as f64));
    entry("Answer", &answer) + &entry("Body", &body) + &entry("Keep-alive", &keep_alive(r))
}

fn keep_alive(r: &Answered) -> String {
    let header = r.keep_alive_header.as_ref().map_or(String::new(), |h| format!(" (Keep-Alive: {})", clean(h)));
    let said = match (r.keep_alive, r.reused) {
        (None, _) => "not asked for (--no-keepalive)",
        (Some(false), _) => "no: the server closes after each reply",
        (Some(true), Some(true)) => "yes: a second request on the same connection was answered",
        (Some(true), Some(false)) => "announced, but a second request on the same connection was not answered",
        (Some(true), None) => "yes, by the reply's header; no second request was made",
    };
    format!("{said}{header}")
}

fn compression(facts: &Facts) -> String {
    let Some(reply) = &facts.reply else { return String::new() };
    let with = |coding: Option<&String>| coding.map_or("none".to_owned(), |c| clean(c));
    let here = match (facts.asked.compressed, &reply.content_encoding) {
        (false, None) => "none, none requested".to_owned(),
        (_, coding) => with(coding.as_ref()),
    };
    let other = facts.compression.as_ref().map_or(String::new(), |c: &Compression| {
        let asked =
            c.accepted.as_ref().map_or("without Accept-Encoding".into(), |a| format!("with Accept-Encoding: {a}"));
        format!("; {asked}: {}, {}", with(c.content_encoding.as_ref()), bytes(c.body_bytes as f64))
    });
    entry("Compression", &(here + &other))
}

fn connection(c: &Connected) -> String {
    let peer = c.peer.as_ref().map_or(String::new(), |p| format!("{p}, "));
    let best =
        if c.connects > 1 { format!(", the shortest of {} connects", c.connects) } else { " (one connect)".into() };
    let resolve = c.resolve_seconds.map_or(String::new(), |s| format!(", name resolved in {}", seconds(s)));
    entry("Connection", &format!("{peer}round trip {}{best}{resolve}", seconds(c.round_trip_seconds)))
}

fn tls(t: &Secured) -> String {
    let known = |what: &Option<String>| what.as_ref().map_or("unknown".to_owned(), |w| clean(w));
    let alpn = t.alpn.as_ref().map_or("none".to_owned(), |a| clean(a));
    let resumed = match (t.resumed, t.resumed_handshake_seconds) {
        (Some(true), Some(s)) => format!(", {} resumed", seconds(s)),
        (Some(false), _) => ", sessions are not resumed".into(),
        _ => String::new(),
    };
    let line = format!(
        "{}, {}, ALPN {alpn} (offered {}), handshake {}{resumed}",
        known(&t.version),
        known(&t.cipher),
        t.alpn_offered.join(", "),
        seconds(t.handshake_seconds)
    );
    entry("TLS", &line) + &section("Certificate", &certificate(t))
}

fn certificate(t: &Secured) -> Vec<String> {
    let Some(c) = &t.certificate else { return Vec::new() };
    let names: Vec<String> = c.names.iter().map(|n| clean(n)).collect();
    let days = if c.days_left < 0 { "expired".into() } else { format!("{} left", plural(c.days_left as u64, "day")) };
    let by = if c.self_signed { "itself".to_owned() } else { clean(&c.issuer) };
    let mut parts = vec![format!("{} for {}", clean(&c.subject), names.join(" ")), format!("signed by {by}")];
    parts.push(format!("valid {} to {} ({days})", c.valid_from, c.valid_to));
    parts.push(format!("chain of {}", t.chain));
    parts.extend(t.distrust.as_ref().map(|why| format!("NOT TRUSTED: {}", clean(why))));
    parts
}

fn way(r: &Route) -> Vec<String> {
    let mut parts = Vec::new();
    match r.same_host {
        Some(true) => parts.push("client and server share this machine".into()),
        Some(false) => parts.push("another machine".into()),
        None => {}
    }
    parts.extend(r.listener.as_ref().map(|l| format!("{} listens", clean(l))));
    parts.extend(r.listener_backlog.map(|n| format!("accept queue {}", count(n))));
    parts.extend(r.listener_descriptors.map(|n| format!("its open files {}", limit(n))));
    parts.extend(r.interface.as_ref().map(|i| format!("interface {}", clean(i))));
    parts.extend(r.link_bits_per_second.map(|b| format!("{} Mbit/s", three(b as f64 / 1e6))));
    parts.extend(r.mtu_bytes.map(|m| format!("MTU {} B", count(m))));
    parts
}

fn limit(n: u64) -> String {
    if n == u64::MAX { "without limit".into() } else { format!("at most {}", count(n)) }
}

fn machine(m: &Machine) -> Vec<String> {
    let mut parts = vec![plural(m.cores.into(), "core"), format!("open files {}", limit(m.descriptors))];
    parts.extend(m.ports().map(|n| format!("{} local ports", count(n))));
    parts.extend(m.settings.tw_reuse.map(|n| format!("tcp_tw_reuse {n}")));
    parts.extend(m.settings.somaxconn.map(|n| format!("somaxconn {}", count(n))));
    parts.extend(m.settings.syn_backlog.map(|n| format!("tcp_max_syn_backlog {}", count(n))));
    parts.extend(m.settings.conntrack_max.map(|n| format!("nf_conntrack_max {}", count(n))));
    parts.extend(m.settings.governor.as_ref().map(|g| format!("CPU governor {}", clean(g))));
    parts
}

fn asked(a: &RequestedLoad) -> Vec<String> {
    let mut parts = Vec::new();
    match a.rate_per_second {
        Some(rate) => parts.push(format!("open loop, up to {} requests/s", three(rate))),
        None => parts.push("closed loop".into()),
    }
    parts.extend(a.connections.map(|n| format!("at most {}", plural(n, "connection"))));
    parts.extend(a.new_connections_per_second.map(|n| format!("about {} new connections/s", three(n))));
    parts.extend(a.duration_seconds.map(span));
    parts
}

fn advice(report: &CheckReport) -> String {
    if report.advice.is_empty() && report.facts.failure.is_some() {
        return String::new();
    }
    if report.advice.is_empty() {
        return "\nNo problem found for this load\n".into();
    }
    let mut out = "\nAdvice\n".to_owned();
    for advice in &report.advice {
        let mark = if advice.bites == Certainty::Surely { "  !  " } else { "  -  " };
        out += &hang(mark, &clean(&format!("{}: {}", advice.what, advice.why)));
        out += &hang("     mend: ", &clean(&advice.command));
    }
    out
}
