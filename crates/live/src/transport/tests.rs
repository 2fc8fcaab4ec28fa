//! Sends lines to systems that accept them, refuse them, never answer, or do not exist.

use super::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// Starts a server that sends this reply on the first connection. Its thread returns the request.
fn start_server(reply: &'static str) -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = String::new();
        let mut buffer = [0; 4096];
        while !received.contains("\r\n\r\nlines\n") {
            let read = stream.read(&mut buffer).unwrap();
            received.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
        stream.write_all(reply.as_bytes()).unwrap();
        received
    });
    (port, server)
}

fn http(port: u16) -> LiveTransport {
    let url = format!("http://127.0.0.1:{port}/write?db=x&p=hunter2");
    LiveTransport::Http { url, token: Some(AccessToken("hunter3".into())), common: None }
}

#[test]
fn lines_are_posted_with_the_token() {
    let (port, server) = start_server("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(http(port).send("lines\n"), Ok(()));
    let received = server.join().unwrap();
    assert!(received.starts_with("POST /write?db=x&p=hunter2 HTTP/1.1\r\n"), "{received}");
    assert!(
        received.contains("\r\nAuthorization: Token hunter3\r\n")
            && received.contains("\r\nContent-Length: 6\r\n"),
        "{received}"
    );
}

#[test]
fn refusing_and_busy_systems_are_distinguished() {
    let (port, _) =
        start_server("HTTP/1.1 400 Bad\r\nContent-Length: 13\r\n\r\n{\"a\":\n \"bad\"}");
    assert_eq!(
        http(port).send("lines\n"),
        Err(ExchangeError::Refused("it answers 400: {\"a\": \"bad\"}".into()))
    );
    let (port, _) = start_server("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(http(port).send("lines\n"), Err(ExchangeError::Absent("it answers 503".into())));
}

#[test]
fn an_unreachable_system_is_named_without_secrets() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for mut transport in [http(port), LiveTransport::Tcp { host: "127.0.0.1".into(), port }] {
        let Err(ExchangeError::Absent(why)) = transport.send("lines\n") else {
            panic!("it was sent")
        };
        assert!(why.to_lowercase().contains("refused") && !why.contains("hunter"), "{why}");
    }
}

#[test]
fn an_unresponsive_system_costs_a_limited_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sent = http(listener.local_addr().unwrap().port()).send("lines\n");
    assert_eq!(sent, Err(ExchangeError::Absent("no reply within 3 s".into())));
}
