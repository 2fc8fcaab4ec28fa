//! Whether a server answers. Out of scope: a client; one request without a body, plain HTTP/1.1, on a connection of its
//! own, and of the reply only the status is read.

use crate::hooks::{self, HookEnd};
use crate::ward::{RigContext, Setting};
use brunt_model::experiment::{Hook, Ready};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use url::Url;

/// For one connection.
const TO_CONNECT: Duration = Duration::from_secs(1);
/// For one reply; a server that compiles the page first is asked again.
const TO_REPLY: Duration = Duration::from_secs(5);
/// The longest status line.
const STATUS_LINE: u64 = 1024;

/// Whether it is ready; else what did not happen, as part of a sentence.
///
/// # Errors
///
/// What did not happen, as part of a sentence.
pub fn look(ready: &Ready, setting: &Setting, context: &RigContext, stopped: &dyn Fn() -> bool) -> Result<(), String> {
    match ready {
        Ready::Address(address) => connect(address).map(drop),
        Ready::Url(url) => answers(url),
        Ready::Command(command) => {
            let hook = Hook { run: command.clone(), timeout: TO_REPLY };
            match hooks::run(&hook, "that asks whether the server is ready", setting, context, stopped) {
                Ok(HookEnd::Whole) => Ok(()),
                Ok(HookEnd::Stopped) => Err("stopped".into()),
                Err(error) => Err(error.to_string()),
            }
        }
    }
}

/// What is asked, for people.
pub fn describe(ready: &Ready) -> String {
    match ready {
        Ready::Url(url) => url.clone(),
        Ready::Address(address) => address.clone(),
        Ready::Command(command) => format!("`{command}`"),
    }
}

fn connect(address: &str) -> Result<TcpStream, String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{address}: {what}");
    let addresses = address.to_socket_addrs().map_err(|e| wrong(&e))?;
    let mut last = wrong(&"no address");
    for one in addresses {
        match TcpStream::connect_timeout(&one, TO_CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = wrong(&error),
        }
    }
    Err(last)
}

/// A GET of it has a status below 500. Behind https it is enough that somebody listens.
fn answers(url: &str) -> Result<(), String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{url}: {what}");
    let parsed = Url::parse(url).map_err(|e| wrong(&e))?;
    let host = parsed.host_str().ok_or_else(|| wrong(&"no host"))?;
    let port = parsed.port_or_known_default().ok_or_else(|| wrong(&"no port"))?;
    let stream = connect(&format!("{host}:{port}"))?;
    if parsed.scheme() == "https" {
        return Ok(());
    }
    match status(stream, &parsed).map_err(|e| wrong(&e))? {
        Some(..500) => Ok(()),
        Some(status) => Err(wrong(&format!("status {status}"))),
        None => Err(wrong(&"its reply is not HTTP/1; write HOST:PORT, or {command: …}")),
    }
}

fn status(mut stream: TcpStream, url: &Url) -> std::io::Result<Option<u16>> {
    stream.set_read_timeout(Some(TO_REPLY))?;
    stream.set_write_timeout(Some(TO_REPLY))?;
    let (target, authority) = (&url[url::Position::BeforePath..url::Position::AfterQuery], authority(url));
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(STATUS_LINE)).read_line(&mut line)?;
    let mut words = line.split(' ');
    let known = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    Ok(words.next().filter(|_| known).and_then(|status| status.trim().parse().ok()))
}

fn authority(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn asked(reply: &'static str) -> (String, Result<(), String>) {
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
        let ready = answers(&format!("http://{address}/ready?a=b c#d"));
        (server.join().unwrap().replace(&address.to_string(), "ADDRESS"), ready)
    }

    #[test]
    fn a_status_below_500_is_an_answer() {
        let (request, ready) = asked("HTTP/1.1 404 Not Found\r\n\r\n");
        assert_eq!(request, "GET /ready?a=b%20c HTTP/1.1\r\nHost: ADDRESS\r\nConnection: close\r\n\r\n");
        assert_eq!(ready, Ok(()));
        assert_eq!(asked("HTTP/1.0 200\r\n").1, Ok(()));
    }

    #[test]
    fn what_is_no_answer_is_told() {
        assert!(asked("HTTP/1.1 503 Service Unavailable\r\n\r\n").1.unwrap_err().ends_with("status 503"));
        assert!(asked("220 mail ready\r\n").1.unwrap_err().ends_with("not HTTP/1; write HOST:PORT, or {command: …}"));
        assert!(asked("").1.unwrap_err().ends_with("not HTTP/1; write HOST:PORT, or {command: …}"));
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(connect(&closed.to_string()).unwrap_err().contains("refused"));
    }
}
