//! What JMeter says of a request that has no whole reply: the Java exception that its HTTP client throws, and its message.

use super::Searched;
use brunt_model::{Failure, Sample, Tick};
use std::net::{IpAddr, SocketAddr};

/// A request could not be written to the wire: its URL, or a header field, is none.
pub const BAD_REQUEST: &str = "Non HTTP response code: java.net.URISyntaxException";

/// JMeter's HTTP client gave up.
pub const IO: &str = "Non HTTP response code: java.io.IOException";
/// JMeter was given what makes no sense to it.
pub const ILLEGAL_ARGUMENT: &str = "Non HTTP response code: java.lang.IllegalArgumentException";

/// The response code.
pub fn code(sample: &Sample) -> String {
    sample
        .outcome
        .failure
        .map_or_else(String::new, |failure| format!("Non HTTP response code: {}", exception(failure, sample)))
}

/// The response message.
pub fn message(searched: &Searched<'_>) -> String {
    searched.sample.outcome.failure.map_or_else(String::new, |failure| told(&words(failure, searched)))
}

/// The body of a sample without a reply: JMeter's begins with the exception.
pub fn body(searched: &Searched<'_>) -> String {
    let code = searched.status();
    let exception = code.strip_prefix("Non HTTP response code: ").unwrap_or(&code);
    let message = searched.message();
    let message = message.strip_prefix("Non HTTP response message: ").unwrap_or(&message);
    format!("{exception}: {message}")
}

/// A message as JMeter writes it.
pub fn told(words: &str) -> String {
    format!("Non HTTP response message: {words}")
}

/// Whether the failure is that no connection could be opened.
pub fn is_of_opening(failure: Option<Failure>) -> bool {
    use Failure::{ConnectTimeout, FdsExhausted, PortsExhausted, Proxy, Refused, Resolve, Tls, Unreachable};
    let Some(failure) = failure else { return false };
    matches!(failure, Resolve | Refused | Unreachable | ConnectTimeout | Tls | Proxy | FdsExhausted | PortsExhausted)
}

fn exception(failure: Failure, sample: &Sample) -> &'static str {
    match failure {
        Failure::Resolve => "java.net.UnknownHostException",
        Failure::Refused => "org.apache.http.conn.HttpHostConnectException",
        Failure::Unreachable | Failure::PortsExhausted => "java.net.NoRouteToHostException",
        Failure::ConnectTimeout => "org.apache.http.conn.ConnectTimeoutException",
        Failure::Tls => "javax.net.ssl.SSLHandshakeException",
        Failure::Proxy => "org.apache.http.impl.execchain.TunnelRefusedException",
        Failure::Reset | Failure::FdsExhausted | Failure::Cut => "java.net.SocketException",
        Failure::Stale | Failure::Unprocessed => "org.apache.http.NoHttpResponseException",
        Failure::Timeout => "java.net.SocketTimeoutException",
        Failure::Protocol | Failure::StreamReset => "org.apache.http.client.ClientProtocolException",
        Failure::ClosedEarly if sample.first_byte == Tick::ZERO => "org.apache.http.NoHttpResponseException",
        Failure::ClosedEarly => "org.apache.http.ConnectionClosedException",
        Failure::Check | Failure::Dropped | Failure::System => "java.io.IOException",
    }
}

fn words(failure: Failure, searched: &Searched<'_>) -> String {
    let url = searched.request.parts().map(|parts| &parts.url);
    let host = url.and_then(|url| url.host_str()).unwrap_or_default();
    let port = url.and_then(|url| url.port_or_known_default()).unwrap_or_default();
    let connect = |why: &str| format!("Connect to {host}:{port} [{}] failed: {why}", addresses(host, searched));
    let fixed = match failure {
        Failure::Resolve => return format!("{host}: Name or service not known"),
        Failure::Refused => return connect("Connection refused"),
        Failure::ConnectTimeout => return connect("Connect timed out"),
        Failure::Stale | Failure::Unprocessed => return format!("{host}:{port} failed to respond"),
        Failure::ClosedEarly if searched.sample.first_byte == Tick::ZERO => {
            return format!("{host}:{port} failed to respond");
        }
        Failure::Protocol | Failure::StreamReset => {
            return searched.sample.malformed.map_or_else(|| "null".into(), |why| why.to_string());
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
        Failure::Check | Failure::Dropped | Failure::System => failure.row().meaning,
    };
    fixed.to_owned()
}

/// The addresses of a host as Java writes them: `localhost/127.0.0.1`, `/127.0.0.1` where the host is an address itself.
fn addresses(host: &str, searched: &Searched<'_>) -> String {
    let host = host.trim_matches(['[', ']']);
    let named = if host.parse::<IpAddr>().is_ok() { "" } else { host };
    let known = searched.addresses.iter().filter_map(|text| text.parse::<SocketAddr>().ok());
    let mut all: Vec<String> = known.map(|address| format!("{named}/{}", java_address(address.ip()))).collect();
    if let (true, Ok(address)) = (all.is_empty(), host.parse()) {
        all.push(format!("/{}", java_address(address)));
    }
    if all.is_empty() { host.to_owned() } else { all.join(", ") }
}

/// An address as Java writes it: groups of zeros are not left out.
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
        let wire = Http::new(Common::new(&plan).unwrap(), 0, brunt_engine::Time::new(brunt_engine::Epoch::Fake));
        let url = parse_url(url).unwrap();
        let (method, headers, body) = ("GET".into(), Vec::new(), brunt_model::Body::None);
        let parts = Rc::new(RequestParts { method, url: Rc::new(url), headers, body, verbatim: None, awaited: None });
        wire.prepare_parts(parts, Tags::default()).unwrap()
    }

    fn told(url: &str, failure: Failure, addresses: &[&str]) -> [String; 2] {
        let (request, user) = (request(url), user());
        let sample = Sample { outcome: Outcome::failed(failure), ..Sample::default() };
        let mut searched = Searched::new(&request, None, &sample, &user);
        searched.addresses = addresses.iter().map(|address| (*address).to_owned()).collect();
        [searched.status(), searched.message().into_owned()]
    }

    #[test]
    fn failures_are_told_as_jmeter_does() {
        let both = |code: &str, message: &str| {
            [format!("Non HTTP response code: {code}"), format!("Non HTTP response message: {message}")]
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
        assert_eq!(told("http://h/", Failure::Timeout, &[]), both("java.net.SocketTimeoutException", "Read timed out"));
        assert_eq!(
            told("http://h/", Failure::Resolve, &[]),
            both("java.net.UnknownHostException", "h: Name or service not known")
        );
    }
}
