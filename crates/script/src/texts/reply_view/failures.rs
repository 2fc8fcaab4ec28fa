//! JMeter's codes and messages for a request without a complete reply: the Java exception of its
//! HTTP client, and its message.

use super::ReplyView;
use brunt_model::{Failure, Sample, Tick};
use std::net::{IpAddr, SocketAddr};

/// Code of a request that could not be prepared: its URL or a header field is malformed.
pub const BAD_REQUEST: &str = "Non HTTP response code: java.net.URISyntaxException";

/// Code if JMeter's HTTP client gave up.
pub const IO: &str = "Non HTTP response code: java.io.IOException";
/// Code if a value was illegal for JMeter.
pub const ILLEGAL_ARGUMENT: &str = "Non HTTP response code: java.lang.IllegalArgumentException";

/// Returns the response code.
pub fn code(sample: &Sample) -> String {
    sample.outcome.failure.map_or_else(String::new, |failure| {
        format!("Non HTTP response code: {}", exception(failure, sample))
    })
}

/// Returns the response message.
pub fn message(reply_view: &ReplyView<'_>) -> String {
    reply_view
        .sample
        .outcome
        .failure
        .map_or_else(String::new, |failure| client_message(&failure_text(failure, reply_view)))
}

/// Returns the body of a sample without a reply. JMeter's body begins with the exception.
pub fn body(reply_view: &ReplyView<'_>) -> String {
    let code = reply_view.status();
    let exception = code.strip_prefix("Non HTTP response code: ").unwrap_or(&code);
    let message = reply_view.message();
    let message = message.strip_prefix("Non HTTP response message: ").unwrap_or(&message);
    format!("{exception}: {message}")
}

/// Formats a message as JMeter does.
pub fn client_message(text: &str) -> String {
    format!("Non HTTP response message: {text}")
}

/// True if the failure means that no connection could be opened.
pub fn is_connection_failure(failure: Option<Failure>) -> bool {
    use Failure::{
        ConnectTimeout, FdsExhausted, NotAllowed, PortsExhausted, Proxy, Refused, Resolve, Tls,
        Unreachable,
    };
    let Some(failure) = failure else { return false };
    matches!(
        failure,
        Resolve
            | Refused
            | Unreachable
            | ConnectTimeout
            | Tls
            | Proxy
            | FdsExhausted
            | PortsExhausted
            | NotAllowed
    )
}

fn exception(failure: Failure, sample: &Sample) -> &'static str {
    match failure {
        Failure::Resolve => "java.net.UnknownHostException",
        Failure::Refused => "org.apache.http.conn.HttpHostConnectException",
        // Java has one exception for both; their messages differ.
        Failure::Unreachable | Failure::PortsExhausted => "java.net.NoRouteToHostException",
        Failure::ConnectTimeout => "org.apache.http.conn.ConnectTimeoutException",
        Failure::Tls => "javax.net.ssl.SSLHandshakeException",
        Failure::Proxy => "org.apache.http.impl.execchain.TunnelRefusedException",
        Failure::Reset | Failure::FdsExhausted | Failure::Cut => "java.net.SocketException",
        Failure::Stale | Failure::Unprocessed => "org.apache.http.NoHttpResponseException",
        Failure::Timeout => "java.net.SocketTimeoutException",
        Failure::Protocol | Failure::StreamReset => {
            "org.apache.http.client.ClientProtocolException"
        }
        // The server closed the connection before the first byte of its reply.
        Failure::ClosedEarly if sample.first_byte == Tick::ZERO => {
            "org.apache.http.NoHttpResponseException"
        }
        Failure::ClosedEarly => "org.apache.http.ConnectionClosedException",
        Failure::Check
        | Failure::Dropped
        | Failure::System
        | Failure::NotAllowed
        | Failure::DeadlineExceeded => "java.io.IOException",
    }
}

fn failure_text(failure: Failure, reply_view: &ReplyView<'_>) -> String {
    let url = reply_view.request.parts().map(|parts| &parts.url);
    let host = url.and_then(|url| url.host_str()).unwrap_or_default();
    let port = url.and_then(|url| url.port_or_known_default()).unwrap_or_default();
    let fixed = match failure {
        Failure::Resolve => return format!("{host}: Name or service not known"),
        Failure::Refused => {
            return format!("{} failed: Connection refused", connect_text(host, port, reply_view));
        }
        Failure::ConnectTimeout => {
            return format!("{} failed: Connect timed out", connect_text(host, port, reply_view));
        }
        Failure::Stale | Failure::Unprocessed => return format!("{host}:{port} failed to respond"),
        // The server closed the connection before the first byte of its reply.
        Failure::ClosedEarly if reply_view.sample.first_byte == Tick::ZERO => {
            return format!("{host}:{port} failed to respond");
        }
        Failure::Protocol | Failure::StreamReset => {
            return reply_view
                .sample
                .malformed
                .map_or_else(|| "null".into(), |why| why.to_string());
        }
        Failure::Unreachable => "No route to host",
        Failure::PortsExhausted => "Cannot assign requested address",
        Failure::Tls => "Remote host terminated the handshake",
        Failure::Proxy => "CONNECT refused by proxy",
        Failure::Reset => "Connection reset",
        Failure::FdsExhausted => "Too many open files",
        Failure::Cut => "Socket closed",
        Failure::Timeout => "Read timed out",
        Failure::ClosedEarly => "Premature end of message body",
        Failure::Check
        | Failure::Dropped
        | Failure::System
        | Failure::NotAllowed
        | Failure::DeadlineExceeded => &failure.row().meaning,
    };
    fixed.to_owned()
}

fn connect_text(host: &str, port: u16, reply_view: &ReplyView<'_>) -> String {
    format!("Connect to {host}:{port} [{}]", addresses(host, reply_view))
}

/// Formats the addresses of a host as Java does: `localhost/127.0.0.1`, or `/127.0.0.1` if the
/// host is an address.
fn addresses(host: &str, reply_view: &ReplyView<'_>) -> String {
    // The host of a URL has brackets around an IPv6 address.
    let host = host.trim_matches(['[', ']']);
    let name = if host.parse::<IpAddr>().is_ok() { "" } else { host };
    let parsed = reply_view.addresses.iter().filter_map(|text| text.parse::<SocketAddr>().ok());
    let mut all: Vec<String> =
        parsed.map(|address| format!("{name}/{}", java_address(address.ip()))).collect();
    // A host that is an address needs no resolved one.
    if let (true, Ok(address)) = (all.is_empty(), host.parse()) {
        all.push(format!("/{}", java_address(address)));
    }
    if all.is_empty() { host.to_owned() } else { all.join(", ") }
}

/// Formats an address as Java does: groups of zeros are not shortened.
fn java_address(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => address.segments().map(|segment| format!("{segment:x}")).join(":"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user;
    use brunt_model::Outcome;
    use brunt_wire::http::{Common, Http};
    use brunt_wire::request::{RequestParts, Tags, parse_url};
    use brunt_wire::{Prepared, Transport};
    use std::rc::Rc;

    fn request(url: &str) -> Prepared {
        let plan = crate::testing::plan(brunt_model::Scenario::default(), 1.0, Vec::new());
        let wire = Http::new(
            Common::new(&plan).unwrap(),
            0,
            brunt_engine::WorkerClock::new(brunt_engine::RunEpoch::Fake),
        );
        let url = parse_url(url).unwrap();
        let (method, headers, body) = ("GET".into(), Vec::new(), brunt_model::Body::None);
        let parts = Rc::new(RequestParts {
            method,
            url: Rc::new(url),
            headers,
            body,
            verbatim: None,
            awaited: None,
        });
        wire.prepare_parts(parts, Tags::default()).unwrap()
    }

    fn told(url: &str, failure: Failure, addresses: &[&str]) -> [String; 2] {
        let (request, user) = (request(url), user());
        let sample = Sample { outcome: Outcome::failed(failure), ..Sample::default() };
        let mut reply_view = ReplyView::new(&request, None, &sample, &user);
        reply_view.addresses = addresses.iter().map(|address| (*address).to_owned()).collect();
        [reply_view.status(), reply_view.message().into_owned()]
    }

    #[test]
    fn failures_are_described_like_jmeter() {
        let both = |code: &str, message: &str| {
            [
                format!("Non HTTP response code: {code}"),
                format!("Non HTTP response message: {message}"),
            ]
        };
        let refused = |why: &str| both("org.apache.http.conn.HttpHostConnectException", why);
        let addresses = ["127.0.0.1:81", "[::1]:81"];
        assert_eq!(
            told("http://localhost:81/", Failure::Refused, &addresses),
            refused(
                "Connect to localhost:81 [localhost/127.0.0.1, localhost/0:0:0:0:0:0:0:1] failed: Connection refused"
            )
        );
        assert_eq!(
            told("http://127.0.0.1/", Failure::Refused, &[]),
            refused("Connect to 127.0.0.1:80 [/127.0.0.1] failed: Connection refused")
        );
        assert_eq!(
            told("https://h/", Failure::ClosedEarly, &[]),
            both("org.apache.http.NoHttpResponseException", "h:443 failed to respond")
        );
        assert_eq!(
            told("http://h/", Failure::Timeout, &[]),
            both("java.net.SocketTimeoutException", "Read timed out")
        );
        assert_eq!(
            told("http://h/", Failure::Resolve, &[]),
            both("java.net.UnknownHostException", "h: Name or service not known")
        );
    }
}
