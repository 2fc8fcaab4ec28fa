//! What the reply, and the way it came, make doubtful.

use super::{Advice, Certainty};
use crate::check::facts::Facts;
use crate::check::look::with_tls;
use brunt_judge::explain::status_remedy;
use brunt_model::numbers::bytes;
use brunt_wire::tls::Cause;

/// Bodies that shrink by less than this are not worth a word.
const WORTH_PACKING: f64 = 0.9;
/// Days before its end at which a certificate is worth a word.
const SOON: i64 = 14;

/// Plain HTTP was sent to a port that speaks TLS.
pub(super) fn needs_tls(facts: &Facts) -> Option<Advice> {
    let url = with_tls(&facts.url).filter(|_| facts.needs_tls)?;
    Some(Advice {
        rule: "needs_tls",
        bites: Certainty::Surely,
        what: "the server speaks TLS on this port, and the URL says http://".into(),
        why: "plain HTTP gets no good reply".into(),
        command: format!("write {url}"),
    })
}

/// The reply is an error page.
pub(super) fn error_status(facts: &Facts) -> Option<Advice> {
    let status = facts.reply.as_ref()?.status;
    if status < 400 || facts.needs_tls || facts.asked.expects_status {
        return None;
    }
    Some(Advice {
        rule: "error_status",
        bites: Certainty::Surely,
        what: format!("the status of the reply is {status}"),
        why: "the run would measure the server's errors".into(),
        command: status_remedy(status).into(),
    })
}

/// The server's certificate is not trusted.
pub(super) fn certificate(facts: &Facts) -> Option<Advice> {
    let tls = facts.tls.as_ref()?;
    let distrust = tls.distrust.as_deref()?;
    let expired = tls.certificate.as_ref().filter(|c| c.days_left < 0);
    let what = match expired {
        Some(c) => format!("the server's certificate expired on {}", c.valid_to),
        None => format!("the server's certificate is not trusted: {distrust}"),
    };
    let mend = match &tls.certificate {
        Some(_) if expired.is_some() => "renew it; or --insecure",
        Some(c) if tls.cause == Some(Cause::WrongName) && !c.names.is_empty() => {
            return Some(advice(what, format!("--sni {}; or --insecure", c.names[0])));
        }
        Some(_) if tls.cause == Some(Cause::WrongName) => {
            "renew it with a name in subjectAltName (openssl req … -addext subjectAltName=DNS:HOST); or --insecure"
        }
        Some(c) if c.self_signed => "--cacert FILE with this certificate; or --insecure",
        _ => "--cacert FILE with its authority; or --insecure",
    };
    Some(advice(what, mend.into()))
}

fn advice(what: String, command: String) -> Advice {
    let why = "no TLS connection is made, so nothing can be measured".into();
    Advice { rule: "certificate", bites: Certainty::Surely, what, why, command }
}

/// It is trusted today.
pub(super) fn certificate_ends_soon(facts: &Facts) -> Option<Advice> {
    let tls = facts.tls.as_ref().filter(|t| t.distrust.is_none())?;
    let certificate = tls.certificate.as_ref().filter(|c| c.days_left < SOON)?;
    let (days, ends) = (certificate.days_left, &certificate.valid_to);
    let what = if days < 0 {
        format!("the server's certificate expired on {ends}")
    } else {
        format!("the server's certificate expires on {ends}")
    };
    Some(Advice {
        rule: "certificate_ends",
        bites: Certainty::Perhaps,
        what,
        why: "clients that verify certificates refuse to connect after that day".into(),
        command: "renew it".into(),
    })
}

/// A redirect is measured in place of a page.
pub(super) fn redirect(facts: &Facts) -> Option<Advice> {
    let reply = facts.reply.as_ref().filter(|r| (300..400).contains(&r.status) && !facts.asked.follows)?;
    let to = reply.location.as_deref()?;
    let whole = brunt_wire::request::resolve(&facts.url, to).unwrap_or_else(|| to.to_owned());
    Some(Advice {
        rule: "redirect",
        bites: Certainty::Perhaps,
        what: format!("the reply is a redirect ({}) to {to}", reply.status),
        why: "the run would measure the redirect instead of the page".into(),
        command: format!("brunt {whole}, or --follow 5"),
    })
}

/// Each request pays for a connection.
pub(super) fn keep_alive(facts: &Facts) -> Option<Advice> {
    let reply = facts.reply.as_ref()?;
    let closed = reply.keep_alive == Some(false) || reply.reused == Some(false);
    closed.then(|| Advice {
        rule: "keep_alive",
        bites: Certainty::Perhaps,
        what: "the server closes the connection after each reply".into(),
        why: "every request opens a new connection and uses a local port".into(),
        command: "turn keep-alive on in the server (nginx: keepalive_timeout 75s; Apache: KeepAlive On); or --no-keepalive, if this is intended".into(),
    })
}

/// Browsers would get fewer bytes.
pub(super) fn compression(facts: &Facts) -> Option<Advice> {
    let (reply, packed) = (facts.reply.as_ref()?, facts.compression.as_ref().filter(|_| !facts.asked.compressed)?);
    let coding = packed.content_encoding.as_deref()?;
    (packed.body_bytes as f64 <= reply.body_bytes as f64 * WORTH_PACKING).then(|| Advice {
        rule: "compression",
        bites: Certainty::Perhaps,
        what: format!(
            "the body has {} with {coding}, and {} as requested",
            bytes(packed.body_bytes as f64),
            bytes(reply.body_bytes as f64)
        ),
        why: "browsers request compressed replies, which take more CPU on the server and less bandwidth".into(),
        command: if coding == "br" { "-H 'Accept-Encoding: br'".into() } else { "--compressed".into() },
    })
}
