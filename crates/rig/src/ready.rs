//! Checks whether a server is ready. A check of a URL sends one plain HTTP/1.1 request without a
//! body on a new connection, and reads only the status of the reply.

use crate::guarded_command::{CommandSetting, RigContext};
use crate::hooks::{self, HookEnd};
use brunt_model::experiment::{Hook, ReadyCondition};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use url::Url;

/// Timeout of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of a reply. A server that needs longer, for example to compile the page, is asked again.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a status line, in bytes.
const STATUS_LINE: u64 = 1024;

/// Checks once whether a server is ready.
///
/// # Errors
///
/// The server is not ready; the reason is part of a sentence.
pub fn check(
    ready: &ReadyCondition,
    setting: &CommandSetting,
    context: &RigContext,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), String> {
    match ready {
        ReadyCondition::Address(address) => connect(address).map(drop),
        ReadyCondition::Url(url) => check_url(url),
        ReadyCondition::Command(command) => {
            let hook = Hook { run: command.clone(), timeout: REPLY_TIMEOUT };
            match hooks::run(
                &hook,
                "that asks whether the server is ready",
                setting,
                context,
                is_stopped,
            ) {
                Ok(HookEnd::Whole) => Ok(()),
                Ok(HookEnd::Stopped) => Err("stopped".into()),
                Err(error) => Err(error.to_string()),
            }
        }
    }
}

/// Description of a readiness check for messages.
pub fn describe(ready: &ReadyCondition) -> String {
    match ready {
        ReadyCondition::Url(url) => url.clone(),
        ReadyCondition::Address(address) => address.clone(),
        ReadyCondition::Command(command) => format!("`{command}`"),
    }
}

fn connect(address: &str) -> Result<TcpStream, String> {
    let addresses = address.to_socket_addrs().map_err(|error| message(address, &error))?;
    let mut last_error = message(address, &"no address");
    for socket in addresses {
        match TcpStream::connect_timeout(&socket, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last_error = message(address, &error),
        }
    }
    Err(last_error)
}

/// Formats an error of an address or URL.
fn message(target: &str, error: &dyn std::fmt::Display) -> String {
    format!("{target}: {error}")
}

/// Sends a GET request, and checks that the status is below 500. For https, checks only that
/// the port accepts connections.
fn check_url(url: &str) -> Result<(), String> {
    let parsed = Url::parse(url).map_err(|error| message(url, &error))?;
    let host = parsed.host_str().ok_or_else(|| message(url, &"no host"))?;
    let port = parsed.port_or_known_default().ok_or_else(|| message(url, &"no port"))?;
    let stream = connect(&format!("{host}:{port}"))?;
    if parsed.scheme() == "https" {
        return Ok(());
    }
    match request_status(stream, &parsed).map_err(|error| message(url, &error))? {
        Some(..500) => Ok(()),
        Some(status) => Err(message(url, &format!("status {status}"))),
        None => Err(message(url, &"its reply is not HTTP/1; write HOST:PORT, or {command: …}")),
    }
}

/// Sends a GET request and returns the status of the reply; None if it is not HTTP/1.
fn request_status(mut stream: TcpStream, url: &Url) -> std::io::Result<Option<u16>> {
    stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
    stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = authority(url);
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    // Bounds the memory if the server sends no line break.
    BufReader::new(stream.take(STATUS_LINE)).read_line(&mut line)?;
    let mut words = line.split(' ');
    let is_http1 = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    Ok(words.next().filter(|_| is_http1).and_then(|status| status.trim().parse().ok()))
}

fn authority(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn check_reply(reply: &'static str) -> (String, Result<(), String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            while lines.read_line(&mut request).unwrap() > 2 {}
            stream.write_all(reply.as_bytes()).unwrap();
            request
        });
        let ready = check_url(&format!("http://{address}/ready?a=b c#d"));
        (server.join().unwrap().replace(&address.to_string(), "ADDRESS"), ready)
    }

    #[test]
    fn a_status_below_500_is_ready() {
        let (request, ready) = check_reply("HTTP/1.1 404 Not Found\r\n\r\n");
        assert_eq!(
            request,
            "GET /ready?a=b%20c HTTP/1.1\r\nHost: ADDRESS\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(ready, Ok(()));
        assert_eq!(check_reply("HTTP/1.0 200\r\n").1, Ok(()));
    }

    #[test]
    fn missing_replies_are_reported() {
        assert!(
            check_reply("HTTP/1.1 503 Service Unavailable\r\n\r\n")
                .1
                .unwrap_err()
                .ends_with("status 503")
        );
        assert!(
            check_reply("220 mail ready\r\n")
                .1
                .unwrap_err()
                .ends_with("not HTTP/1; write HOST:PORT, or {command: …}")
        );
        assert!(
            check_reply("")
                .1
                .unwrap_err()
                .ends_with("not HTTP/1; write HOST:PORT, or {command: …}")
        );
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(connect(&closed.to_string()).unwrap_err().contains("refused"));
    }
}
