//! Problems that the reply and the handshake show.

use crate::advice::{Advice, Certainty};
use crate::facts::CheckFacts;
use crate::route::with_tls;
use brunt_judge::explain::status_remedy;
use brunt_model::numbers::bytes;
use brunt_model::outcome::status_text;
use brunt_wire::tls::HandshakeFailureCause;

/// Compressed bodies above this share of the original are not reported.
const MAX_COMPRESSED_SHARE: f64 = 0.9;
/// Days before the end of a certificate from which on it is reported.
const EXPIRY_WARNING_DAYS: i64 = 14;

/// Reports plain HTTP to a port that expects TLS.
pub(super) fn needs_tls(facts: &CheckFacts) -> Option<Advice> {
    let url = with_tls(&facts.url).filter(|_| facts.needs_tls)?;
    Some(Advice {
        rule: "needs_tls",
        certainty: Certainty::Surely,
        what: "the server uses TLS on this port, but the URL is http://".into(),
        why: "plain HTTP gets no good reply".into(),
        command: format!("write {url}"),
    })
}

/// Reports a server that speaks only HTTP/2 on the port of an `http` URL.
pub(super) fn needs_h2c(facts: &CheckFacts) -> Option<Advice> {
    if facts.h2c.is_none() || facts.failure.is_none() {
        return None;
    }
    Some(Advice {
        rule: "needs_h2c",
        certainty: Certainty::Surely,
        what: "the server speaks HTTP/2 without TLS (h2c) on this port, and no HTTP/1.1".into(),
        why: "requests of HTTP/1.1 get no reply".into(),
        command: "add --http 2".into(),
    })
}

/// Reports an error page.
pub(super) fn error_status(facts: &CheckFacts) -> Option<Advice> {
    let status = facts.reply.as_ref()?.status;
    // The advice of `needs_tls` explains the error.
    let is_good = facts.requested.checks.expects(status);
    if is_good || facts.needs_tls || facts.requested.expects_status {
        return None;
    }
    Some(Advice {
        rule: "error_status",
        certainty: Certainty::Surely,
        what: format!("the status of the reply is {}", status_text(status)),
        why: "the run would measure the server's errors".into(),
        command: status_remedy(status).into(),
    })
}

/// Reports a certificate that is not trusted.
pub(super) fn certificate(facts: &CheckFacts) -> Option<Advice> {
    let tls = facts.tls.as_ref()?;
    let distrust = tls.distrust.as_deref()?;
    let is_expired = tls.certificate.as_ref().is_some_and(|c| c.days_left < 0);
    let what = match &tls.certificate {
        Some(c) if is_expired => format!("the server's certificate expired on {}", c.valid_to),
        _ => format!("the server's certificate is not trusted: {distrust}"),
    };
    let remedy = match &tls.certificate {
        Some(_) if is_expired => "renew it; or --insecure",
        Some(c) if tls.cause == Some(HandshakeFailureCause::WrongName) && !c.names.is_empty() => {
            return Some(advice(what, format!("--sni {}; or --insecure", c.names[0])));
        }
        Some(_) if tls.cause == Some(HandshakeFailureCause::WrongName) => {
            "renew it with a name in subjectAltName (openssl req … -addext subjectAltName=DNS:HOST); or --insecure"
        }
        Some(c) if c.self_signed => "--cacert FILE with this certificate; or --insecure",
        _ => "--cacert FILE with its authority; or --insecure",
    };
    Some(advice(what, remedy.into()))
}

fn advice(what: String, command: String) -> Advice {
    let why = "no TLS connection is made, so nothing can be measured".into();
    Advice { rule: "certificate", certainty: Certainty::Surely, what, why, command }
}

/// Reports a trusted certificate that expires soon.
pub(super) fn certificate_ends_soon(facts: &CheckFacts) -> Option<Advice> {
    // Otherwise the rule `certificate` reports it.
    let tls = facts.tls.as_ref().filter(|t| t.distrust.is_none())?;
    let certificate = tls.certificate.as_ref().filter(|c| c.days_left < EXPIRY_WARNING_DAYS)?;
    let days = certificate.days_left;
    let ends = &certificate.valid_to;
    let what = if days < 0 {
        format!("the server's certificate expired on {ends}")
    } else {
        format!("the server's certificate expires on {ends}")
    };
    Some(Advice {
        rule: "certificate_ends",
        certainty: Certainty::Perhaps,
        what,
        why: "clients that verify certificates refuse to connect after that day".into(),
        command: "renew it".into(),
    })
}

/// Reports a redirect, which would be measured in place of a page.
pub(super) fn redirect(facts: &CheckFacts) -> Option<Advice> {
    let reply = facts
        .reply
        .as_ref()
        .filter(|r| (300..400).contains(&r.status) && !facts.requested.follows)?;
    let to = reply.location.as_deref()?;
    let whole = brunt_wire::request::resolve(&facts.url, to).unwrap_or_else(|| to.to_owned());
    Some(Advice {
        rule: "redirect",
        certainty: Certainty::Perhaps,
        what: format!("the reply is a redirect ({}) to {to}", reply.status),
        why: "the run would measure the redirect instead of the page".into(),
        command: format!("brunt {whole}, or --follow 5"),
    })
}

/// Reports a server that closes each connection.
pub(super) fn keep_alive(facts: &CheckFacts) -> Option<Advice> {
    let reply = facts.reply.as_ref()?;
    let is_closed = reply.keep_alive == Some(false) || reply.reused == Some(false);
    is_closed.then(|| Advice {
        rule: "keep_alive",
        certainty: Certainty::Perhaps,
        what: "the server closes the connection after each reply".into(),
        why: "every request opens a new connection and uses a local port".into(),
        command: "turn keep-alive on in the server (nginx: keepalive_timeout 75s; Apache: KeepAlive On); or --no-keepalive, if this is intended".into(),
    })
}

/// Reports a body that browsers would receive compressed.
pub(super) fn compression(facts: &CheckFacts) -> Option<Advice> {
    let reply = facts.reply.as_ref()?;
    let opposite = facts.compression.as_ref().filter(|_| !facts.requested.compressed)?;
    let coding = opposite.content_encoding.as_deref()?;
    (opposite.body_bytes as f64 <= reply.body_bytes as f64 * MAX_COMPRESSED_SHARE).then(|| Advice {
        rule: "compression",
        certainty: Certainty::Perhaps,
        what: format!(
            "the body has {} with {coding}, and {} as requested",
            bytes(opposite.body_bytes as f64),
            bytes(reply.body_bytes as f64)
        ),
        why: "browsers request compressed replies, which take more CPU on the server and less bandwidth".into(),
        // `--compressed` does not request Brotli.
        command: if coding == "br" { "-H 'Accept-Encoding: br'".into() } else { "--compressed".into() },
    })
}
