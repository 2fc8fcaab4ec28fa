//! A shop that plans of JMeter visit: pages with elements, cookies, credentials, redirects, and replies that are odd.

use crate::world::Odd;
use crate::world::odd::{Client, serving};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

const PAGE: &str = "<html><head><title>Shop</title><link rel=\"stylesheet\" href=\"/style.css\"></head><body><ul><li>one</li>\
                    <li class=\"b\">two</li><li>three</li></ul><a href=\"/x\">x</a><a href=\"/y?a=1\">y</a>\
                    <img src=\"/image.png\"><img src=\"image.png\"><img src=\"missing.png\"><script src=\"/script.js\"></script></body></html>";

/// A shop on a free port.
pub fn shop() -> Odd {
    serving(|mut client| {
        while let Some(request) = client.request() {
            if !serve(&mut client, &request) {
                break;
            }
        }
    })
}

/// Whether the connection goes on.
fn serve(client: &mut Client, request: &str) -> bool {
    let line = request.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map_or("", |value| value.trim());
    let reply = match path {
        "/page" => html(PAGE),
        "/style.css" => typed("text/css", "body { background: url(/image.png) }"),
        "/script.js" => typed("text/javascript", "let a = '<img src=\"never.png\">';"),
        "/image.png" => typed("image/png", "PNG"),
        "/echo" => typed("application/json", body),
        "/xml" => typed("application/xml", "<a><b>bold</b></a>"),
        "/ask" => {
            let fields = ["Content-Type:", "Accept:", "Connection:"].map(field).join("|");
            typed("text/plain", &format!("{method} {target} {fields} {body}"))
        }
        "/fields" => {
            let own: Vec<&str> = head.lines().filter(|line| line.starts_with("X-")).collect();
            typed("text/plain", &own.join(";"))
        }
        "/cookie" => typed("text/plain", &format!("[{}]", field("Cookie:"))),
        "/login" => {
            let user = query.strip_prefix("user=").unwrap_or_default();
            with(
                "200 OK",
                &format!("Set-Cookie: session={user}; Path=/\r\nSet-Cookie: deep=1; Path=/deep\r\n"),
                "welcome",
            )
        }
        "/logout" => with("200 OK", "Set-Cookie: session=; Path=/; Max-Age=0\r\n", "bye"),
        "/secret" if field("Authorization:").is_empty() => {
            with("401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\"\r\n", "who?")
        }
        "/secret" => html("come in"),
        "/etag" if field("If-None-Match:") == "\"1\"" => "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n".into(),
        "/etag" => with("200 OK", "ETag: \"1\"\r\n", "tagged"),
        "/slow" => {
            sleep(Duration::from_millis(600));
            html("late")
        }
        "/nothing" => "HTTP/1.1 204 No Content\r\n\r\n".into(),
        "/untyped" => "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".into(),
        "/phrase" => with("200 All Is Fine", "", "abc"),
        "/nophrase" => with("200 ", "", "abc"),
        "/chunked" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n".into(),
        "/zipped" => return client.give(zipped()),
        "/closes" => return false,
        "/nolength" => {
            client.give("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabcdef");
            return false;
        }
        moved if moved.starts_with("/moved/") => redirect(&moved[7..]),
        _ => with("404 Not Found", "", "no such page"),
    };
    client.give(if method == "HEAD" { reply.split_inclusive("\r\n\r\n").next().unwrap_or_default() } else { &reply })
}

fn redirect(place: &str) -> String {
    let (status, to) = match place {
        "relative" => ("302 Found", "../page"),
        "page" => ("302 Found", "/page"),
        "303" => ("303 See Other", "/ask"),
        "307" => ("307 Temporary Redirect", "/ask"),
        "308" => ("308 Permanent Redirect", "/ask"),
        "301" => ("301 Moved Permanently", "/ask"),
        "error" => ("302 Found", "/absent"),
        "space" => ("302 Found", "/ask?a b"),
        "self" => ("302 Found", "/moved/self"),
        _ => return with("302 Found", "", "nowhere"),
    };
    with(status, &format!("Location: {to}\r\n"), "moved")
}

fn html(body: &str) -> String {
    typed("text/html; charset=utf-8", body)
}

fn typed(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn with(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn zipped() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"this was unzipped").expect("memory");
    let body = encoder.finish().expect("memory");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}
