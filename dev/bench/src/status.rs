//! Reads nginx's count of requests from `stub_status`.
//!
//! The count is exact and independent of every client. Reading it is itself a request, which nginx
//! has counted when it answers; the reader subtracts its own requests. It is no HTTP client: it
//! sends one request on each connection.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

const PATIENCE: Duration = Duration::from_secs(5);

/// Counters of nginx, without the reader's own requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NginxCounters {
    /// Number of requests begun so far.
    pub requests: u64,
    /// Number of open connections.
    pub connections: u64,
}

/// Reader of the counters of an nginx.
#[derive(Debug)]
pub struct Status {
    address: SocketAddr,
    own_requests: Cell<u64>,
}

impl Status {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, own_requests: Cell::new(0) }
    }

    pub fn read(&self) -> Result<NginxCounters> {
        let reply = self.fetch("/status")?;
        let page =
            parse(body(&reply)).with_context(|| format!("not a stub_status page: {reply:?}"))?;
        Ok(NginxCounters {
            requests: page.requests.saturating_sub(self.own_requests.get()),
            connections: page.connections.saturating_sub(1),
        })
    }

    /// Fails unless `path` answers 200 with a body of `size` bytes.
    pub fn expect_page(&self, path: &str, size: usize) -> Result<()> {
        let reply = self.fetch(path)?;
        let length = body(&reply).len();
        ensure!(length == size, "{path} has {length} bytes instead of {size}");
        Ok(())
    }

    fn fetch(&self, path: &str) -> Result<String> {
        let mut stream =
            TcpStream::connect(self.address).context("connecting to the nginx of the benchmark")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // With HTTP/1.0, nginx closes the connection after the reply, so its end is the
        // end of the body.
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).with_context(|| format!("reading {path}"))?;
        self.own_requests.set(self.own_requests.get() + 1);
        if !reply.starts_with("HTTP/1.1 200") {
            bail!("{path}: {}", reply.lines().next().unwrap_or("no reply"));
        }
        Ok(reply)
    }
}

fn body(reply: &str) -> &str {
    reply.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// Parses the number of the first line, and the third number of the line after
/// `server accepts handled requests`.
fn parse(page: &str) -> Option<NginxCounters> {
    let mut lines = page.lines();
    let connections = lines.next()?.strip_prefix("Active connections:")?.trim().parse().ok()?;
    lines.next().filter(|heading| heading.starts_with("server accepts handled requests"))?;
    let requests = lines.next()?.split_whitespace().nth(2)?.parse().ok()?;
    Some(NginxCounters { requests, connections })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630946 31070465 \n\
                        Reading: 6 Writing: 179 Waiting: 106 \n";

    #[test]
    fn requests_are_the_third_number() {
        assert_eq!(parse(PAGE), Some(NginxCounters { requests: 31_070_465, connections: 291 }));
    }

    #[test]
    fn another_page_is_not_a_count() {
        assert_eq!(parse("<html>404</html>"), None);
        assert_eq!(parse(&PAGE.replace(" 31070465", "")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn the_body_begins_after_the_empty_line() {
        assert_eq!(body("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n"), "body\r\n\r\n");
        assert_eq!(body("HTTP/1.1 200 OK"), "");
    }
}
