//! Hosts that consent to be loaded: each serves a file with the token of the plan.
//!
//! The file is read before every run, with the connection settings of the plan. Redirects are not followed, because
//! their target speaks for itself only.

use crate::FleetError;
use brunt_engine::clock;
use brunt_generator::exchange::{ExchangeError, exchange};
use brunt_model::plan::{ConnectionSettings, HttpVersion};
use brunt_model::{Body, Plan};
use brunt_wire::http::Common;
use brunt_wire::request::{RequestDraft, origin_of};
use brunt_wire::targets::AllowedTargets;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Path of the file (RFC 8615).
const PATH: &str = "/.well-known/brunt-consent";

/// Checks that the agents of a plan may load its hosts, so that an error shows before they start.
///
/// # Errors
///
/// A host of the plan is not allowed and does not consent, or agents on other machines have no list
/// of hosts.
pub fn check_targets(plan: &Plan) -> Result<(), FleetError> {
    let Some(fleet) = &plan.fleet else { return Ok(()) };
    let plan = with_consenting_hosts(plan)?;
    if fleet.on.is_elsewhere() && plan.allowed_targets.is_empty() {
        return Err(FleetError::NoConsent(format!(
            "--on {}: name the hosts that these agents may load, with --allow-target HOST, or `allow: [HOST]` in a plan file. \
             They connect to no other host, unless it consents (--consent TOKEN)",
            fleet.on
        )));
    }
    Ok(())
}

/// Returns the plan with all hosts that consent to be loaded.
///
/// # Errors
///
/// A host of the plan is not allowed and does not consent.
pub fn with_consenting_hosts(plan: &Plan) -> Result<Plan, FleetError> {
    let mut plan = plan.clone();
    let Some(token) = plan.fleet.as_ref().and_then(|fleet| fleet.consent.clone()) else {
        return Ok(plan);
    };
    for (host, url) in unnamed_hosts(&plan) {
        ask(&plan, &url, &token).map_err(|why| {
            FleetError::NoConsent(format!(
                "{host} does not consent to be loaded: {url} {why}; \
                 write the token on a line of this file, or name the host: --allow-target {host}"
            ))
        })?;
        plan.allowed_targets.push(host);
    }
    Ok(plan)
}

/// Returns the hosts of the plan's requests that are not allowed, each with the URL of its file.
fn unnamed_hosts(plan: &Plan) -> BTreeMap<String, String> {
    let allowed = AllowedTargets::from_hosts(&plan.allowed_targets);
    // A URL with a placeholder for its host has no origin yet. The run refuses it, unless it is named.
    let origins = plan.requests().filter_map(|request| Some(origin_of(&request.url).ok()?.1));
    let unnamed = origins.filter(|origin| {
        let host = &origin.host;
        allowed.as_ref().is_none_or(|allowed| allowed.check_hosts(host, host).is_err())
    });
    unnamed
        .map(|origin| {
            let scheme = if origin.https { "https" } else { "http" };
            let host = if origin.host.contains(':') {
                format!("[{}]", origin.host)
            } else {
                origin.host.clone()
            };
            (origin.host, format!("{scheme}://{host}:{}{PATH}", origin.port))
        })
        .collect()
}

/// Asks a host for its file. The error follows the URL in a sentence.
fn ask(plan: &Plan, url: &str, token: &str) -> Result<(), String> {
    let asking = Plan {
        populations: Vec::new(),
        allowed_targets: Vec::new(),
        connection: ConnectionSettings {
            http: HttpVersion::V1_1,
            requests_per_connection: Some(1),
            ..plan.connection.clone()
        },
        ..plan.clone()
    };
    let draft = RequestDraft {
        method: "GET",
        url,
        headers: &[],
        body: &Body::None,
        label: 0,
        reply_policy: 0,
        verbatim: None,
    };
    let common = Common::new(&asking).map_err(unreadable)?;
    let runtime = clock::runtime().map_err(unreadable)?;
    let reply = runtime.block_on(exchange(&common, &draft)).map_err(|error| match error {
        ExchangeError::Absent(why) | ExchangeError::Refused(why) => unreadable(why),
    })?;
    if reply.status != 200 {
        return Err(format!("answers {}", reply.status));
    }
    let body = reply.details.map(|details| details.body).unwrap_or_default();
    let has_token = String::from_utf8_lossy(&body).lines().any(|line| line.trim() == token);
    if has_token { Ok(()) } else { Err("has no line with the token".into()) }
}

fn unreadable(reason: impl Display) -> String {
    format!("cannot be read ({reason})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_generator::exchange;
    use brunt_model::fleet::FleetSettings;
    use brunt_model::scenario::{ListOrder, Scenario};
    use brunt_model::{Load, LoadShape, Placement, Population, Request, Stop, ThinkTime};
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    /// Returns the allowed hosts or the error, if the plan's host `127.0.0.1` serves this reply.
    fn after(reply: &'static str, allowed: &[&str]) -> Result<Vec<String>, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let count = stream.read(&mut [0; 4096]).unwrap();
            assert!(count > 0);
            stream.write_all(reply.as_bytes()).unwrap();
        });
        let request = Request {
            base: None,
            label: "one".into(),
            method: "GET".into(),
            url: format!("http://{address}/"),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            verbatim: None,
            reply_policy: 0,
        };
        let load = Load::Closed { users: LoadShape::constant(1.0), think: ThinkTime::NONE };
        let stop = Stop {
            warmup: Duration::ZERO,
            warmup_until_steady: false,
            duration: None,
            requests: Some(1),
            iterations_per_user: None,
            grace: Duration::ZERO,
        };
        let scenario = Scenario::list(vec![request], ListOrder::Sequence);
        let fleet = FleetSettings {
            on: Placement::Local(1),
            lease: Duration::from_secs(1),
            bytes_per_second: 0,
            quiet: 0,
            groups: Vec::new(),
            by_zone: false,
            consent: Some("token-of-the-team".into()),
            cluster: None,
        };
        let plan = Plan {
            populations: Population::only(load, scenario, stop),
            allowed_targets: allowed.iter().map(|host| (*host).to_owned()).collect(),
            fleet: Some(fleet),
            ..exchange::plan()
        };
        let plan = with_consenting_hosts(&plan).map_err(|error| error.to_string())?;
        Ok(plan.allowed_targets)
    }

    #[test]
    fn a_host_with_the_token_is_allowed() {
        let reply = "HTTP/1.1 200 OK\r\ncontent-length: 25\r\n\r\n# load\ntoken-of-the-team\n";
        assert_eq!(after(reply, &["shop.example"]).unwrap(), ["shop.example", "127.0.0.1"]);
    }

    #[test]
    fn a_host_that_is_named_is_not_asked() {
        assert_eq!(after("", &["127.0.0.1"]).unwrap(), ["127.0.0.1"]);
    }

    #[test]
    fn every_other_host_is_refused() {
        let replies = [
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\nxtoken-of-the-team\n",
                "has no line with the token",
            ),
            (
                "HTTP/1.1 404 Not Found\r\ncontent-length: 18\r\n\r\ntoken-of-the-team\n",
                "answers 404",
            ),
            (
                "HTTP/1.1 302 Found\r\nlocation: http://a/\r\ncontent-length: 0\r\n\r\n",
                "answers 302",
            ),
            ("", "cannot be read"),
        ];
        for (reply, why) in replies {
            let error = after(reply, &[]).unwrap_err();
            assert!(
                error.starts_with("127.0.0.1 does not consent to be loaded: http://127.0.0.1:"),
                "{error}"
            );
            assert!(error.contains(why), "{error}");
            assert!(error.ends_with("--allow-target 127.0.0.1"), "{error}");
        }
    }
}
