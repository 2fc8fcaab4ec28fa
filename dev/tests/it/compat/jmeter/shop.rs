//! Serves a shop for plans of JMeter: pages with elements, cookies, credentials, redirects, and
//! unusual replies.

use crate::world::ScriptedServer;
use crate::world::odd::{Client, serve_connections};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

const PAGE: &str = "<html><head><title>Shop</title><link rel=\"stylesheet\" href=\"/style.css\"></head><body><ul><li>one</li>\
                    <li class=\"b\">two</li><li>three</li></ul><a href=\"/x\">x</a><a href=\"/y?a=1\">y</a>\
                    <img src=\"/image.png\"><img src=\"image.png\"><img src=\"missing.png\"><script src=\"/script.js\"></script></body></html>";

/// A page of links and forms.
const SHELF: &str = "<html><head><title>Shelf</title></head><body><a href=\"/goods/1\">one</a><a name=\"x\">none</a>\
                     <a href=\"goods/2\">two</a><a href=\"/goods/2?x=1\">two</a><a href=\"javascript:void(0)\">js</a>\
                     <a href=\"mailto:a@b.example\">mail</a><a href=\"/search?q=a&amp;page=2\">s</a><a href=\"shelf/near\">near</a>\
                     <a href=\"../up/there\">up</a><a href=\"?only=1\">q</a><a href=\"/search?e=a%20b%2Fc+d\">e</a>\
                     <A HREF=\"/UPPER/CASE\">U</A><a href=\"/bare?flag&amp;x=\">bare</a><a href=\"//127.0.0.1/goods/3?id=4\">3</a>\
                     <form action=\"/order\" method=\"post\"><input type=\"hidden\" name=\"item\" value=\"book\">\
                     <input name=\"color\" value=\"green\"><input type=\"radio\" name=\"color\" value=\"red\">\
                     <textarea name=\"note\">hello there</textarea><input type=\"hidden\" name=\"token\" value=\"a%2Bb c\">\
                     <select name=\"size\"><option value=\"s\">S</option><option>M</option></select></form>\
                     <input name=\"after\" value=\"form\"><form action=\"/other\"><p><input name=\"later\" value=\"1\"></p></form>\
                     <form><input name=\"lost\" value=\"2\"></form></body></html>";

/// Pages with a session identifier, by path.
const SESSIONS: [(&str, &str); 6] = [
    ("/session", "<a href=\"/x;sid=AB12?b=1\">x</a><a href=\"/y?sid=CD34&amp;c=2\">y</a>"),
    (
        "/session-field",
        "<form><input name=\"sid\" value=\"F1\"><input name=\"second\" value=\"F 2&amp;\"></form>",
    ),
    ("/session-turned", "<form><input value=\"T1\" type=\"hidden\" name=\"sid\"></form>"),
    ("/session-no-equals", "<a href=\"/x;sidAB12?b=1\">x</a>"),
    ("/session-question", "<a href=\"/x;sid=AB12?b=1\">x</a>"),
    ("/session-odd", "<input name=\"sid\" value=\"a+b%2Fc d/e\">"),
];

const JSON: &str = r#"{"id":7,"name":"n","list":[{"a":1,"t":"Xabc","tags":["p","q"]},{"a":2,"t":"xyz","tags":["q"]},{"a":3,"t":"def","tags":[]}],"nil":null}"#;

const NAMESPACES: &str =
    r#"<a xmlns="urn:x"><b>1</b><b>2</b><p:c xmlns:p="urn:p" p:k="4">3</p:c></a>"#;

/// Starts a shop on a free port.
pub fn shop() -> ScriptedServer {
    serve_connections(|mut client| {
        while let Some(request) = client.request() {
            if !serve(&mut client, &request) {
                break;
            }
        }
    })
}

/// Replies to a request. Returns true if the connection continues.
fn serve(client: &mut Client, request: &str) -> bool {
    let line = request.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
    let field = |name: &str| {
        head.lines().find_map(|line| line.strip_prefix(name)).map_or("", |value| value.trim())
    };
    let reply = match path.split(';').next().unwrap_or_default() {
        "/page" => html(PAGE),
        "/style.css" => typed("text/css", "body { background: url(/image.png) }"),
        "/script.js" => typed("text/javascript", "let a = '<img src=\"never.png\">';"),
        "/image.png" => typed("image/png", "PNG"),
        "/echo" => typed("application/json", body),
        "/xml" => typed("application/xml", "<a><b>bold</b></a>"),
        "/ask" | "/goods/3" | "/order" | "/other" => {
            let fields = ["Content-Type:", "Accept:", "Connection:"].map(field).join("|");
            typed("text/plain", &format!("{method} {target} {fields} {body}"))
        }
        "/fields" => {
            let own_fields: Vec<&str> = head.lines().filter(|line| line.starts_with("X-")).collect();
            typed("text/plain", &own_fields.join(";"))
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
        "/zipped" => return client.write(zipped()),
        "/closes" => return false,
        "/ends" => {
            client.write(with("200 OK", "Connection: close\r\n", "the end"));
            return false;
        }
        "/json" => typed("application/json", JSON),
        "/namespaces" => typed("text/xml", NAMESPACES),
        "/give-cookie" => with("200 OK", "Set-Cookie: a=1; Path=/\r\n", "a cookie"),
        "/digest" if !field("Authorization:").starts_with("Digest ") => {
            with("401 Unauthorized", "WWW-Authenticate: Digest realm=\"r\", nonce=\"abc\", qop=\"auth\"\r\n", "who?")
        }
        "/digest" => typed("text/plain", "come in"),
        "/nolength" => {
            client.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabcdef");
            return false;
        }
        "/shelf" => html(SHELF),
        "/frames" => {
            html("<html><frameset cols=\"1,1\"><frame src=\"/framed?f=1\"><frame src=\"other\"></frameset></html>")
        }
        "/based" => html("<html><head><base href=\"/basic/\"></head><body><a href=\"page\">x</a></body></html>"),
        session if session.starts_with("/session") => {
            let page = SESSIONS.iter().find(|(path, _)| *path == session).map_or("", |(_, page)| page);
            html(&format!("<html><body>{page}</body></html>"))
        }
        status if status.starts_with("/status/") => with(&status[8..], "", "a status"),
        to if to.starts_with("/to/") => {
            let (status, target) = to[4..].split_at(3);
            with(status, &format!("Location: {target}\r\n"), "moved")
        }
        moved if moved.starts_with("/moved/") => redirect(&moved[7..]),
        _ => with("404 Not Found", "", "no such page"),
    };
    client.write(if method == "HEAD" {
        reply.split_inclusive("\r\n\r\n").next().unwrap_or_default()
    } else {
        &reply
    })
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
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn with(status: &str, fields: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
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
