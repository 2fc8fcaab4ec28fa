//! Compares the bytes that the drop-in `siege` and the real siege send.

use super::both::both;
use super::recorder::recorder;
use super::siege::{PLAIN, rc};
use std::fs;
use tempfile::TempDir;

/// Reply to a request, by its path.
fn reply(request: &str) -> String {
    let path = request.split(' ').nth(1).unwrap_or("/");
    let named = request.contains("\r\nAuthorization: ");
    let (status, fields) = match path.split('/').nth(1).unwrap_or("") {
        "away" => ("302 Found", "Location: /there\r\n"),
        "away307" => ("307 Temporary Redirect", "Location: /there\r\n"),
        "cookies" => {
            ("200 OK", "Set-Cookie: a=1; path=/\r\nSet-Cookie: b=two; path=/; HttpOnly\r\n")
        }
        "basic" if !named => ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"zone\"\r\n"),
        "digest" if !named => (
            "401 Unauthorized",
            "WWW-Authenticate: Digest realm=\"zone\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", qop=\"auth\", \
             opaque=\"5ccc069c403ebaf9f0171e9517f40e41\", algorithm=MD5\r\n",
        ),
        _ => ("200 OK", ""),
    };
    let kind = if path == "/page" { "text/html" } else { "text/plain" };
    let body = if path == "/page" {
        "<html><img src=\"/1.png\"><link rel=stylesheet href=\"sub/2.css\"><img src='/1.png'></html>"
    } else {
        "hello"
    };
    let length = body.len();
    let body = if request.starts_with("HEAD") { "" } else { body };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n{fields}\r\n{body}"
    )
}

/// Arguments of runs. `URL` is the URL of the recorder, `FILE` a file to send, `LIST` a list of
/// URLs.
const WORDS: &[&[&str]] = &[
    &["URL/path"],
    &["-r3", "URL"],
    &["URL/a b?q=ä&x=\"y\"#part"],
    &["URL/!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~%20"],
    &["URL/a/../b/./c"],
    &["URL/a b POST x=1&y=2"],
    &["URL/a PUT <FILE"],
    &["URL/a PATCH x"],
    &["URL/a DELETE"],
    &["URL/a OPTIONS"],
    &["URL/a post x"],
    &["-T", "text/xml", "URL/a POST x/>"],
    &["-A", "an agent", "URL/a"],
    &["-H", "X-One: 1", "--header=X-Two:2", "URL/a"],
    &["-H", "Accept: text/html", "-H", "X:y", "URL/a"],
    &["-H", "X:y", "-H", "Accept: text/html", "URL/a"],
    &["-H", "Host: an.example", "URL/a"],
    &["-H", "User-Agent: other", "-H", "Cookie: q=1", "URL/a"],
    &["-H", "Connection: upgrade", "URL/a"],
    &["-H", "Content-Type: text/csv", "URL/a POST a,b"],
    &["-r2", "URL/cookies"],
    &["-r2", "URL/basic"],
    &["-r2", "-H", "Host: an.example", "URL/basic"],
    &["-r2", "URL/digest"],
    &["URL/away"],
    &["URL/away POST a=b"],
    &["URL/away307 POST a=b"],
    &["--no-follow", "URL/away"],
    &["URL/page"],
    &["--no-parser", "URL/page"],
    &["-g", "URL/a"],
    &["-p", "URL/a"],
    &["-f", "LIST", "-r6"],
    &["-f", "LIST", "-r", "once", "-b"],
];

#[test]
fn bytes_on_the_wire_are_the_same() {
    let Some(siege) = both("compat::siege_wire::bytes_on_the_wire_are_the_same", "siege") else {
        return;
    };
    let recorder = recorder(reply);
    let dir = TempDir::new().expect("a directory");
    let url = recorder.odd.url_of("");
    let file = rc(dir.path(), "body", "a=1&b=2");
    let list = rc(
        dir.path(),
        "list",
        &format!("BASE={url}\n# three\n$(BASE)/1\n$(BASE)/2 POST b=$(BASE)\n{url}/3?x=y\n"),
    );
    let text = format!("{PLAIN}parser = true\nlogin = user:secret\n");
    for (name, more) in [("1.1", ""), ("1.0", "protocol = HTTP/1.0\naccept-encoding =  *\n")] {
        let rc = rc(dir.path(), name, &format!("{text}{more}"));
        for words in WORDS {
            let one = words.iter().any(|w| w.starts_with("-r"));
            let words = words
                .iter()
                .map(|w| w.replace("URL", &url).replace("FILE", &file).replace("LIST", &list));
            let words: Vec<String> =
                ["-R", &rc, "-c1"].map(str::to_owned).into_iter().chain(words).collect();
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            if !one {
                words.insert(0, "-r1");
            }
            let output = siege.real(&words);
            let real = recorder.take();
            assert_eq!(
                (output.code, real.is_empty()),
                (Some(0), false),
                "{words:?}: {}",
                output.err
            );
            let output = siege.ours(&words);
            assert_eq!(output.code, Some(0), "{words:?}: {}", output.err);
            assert_eq!(plain(recorder.take()), plain(real), "{words:?}");
        }
    }
}

/// Replaces the fields of a digest that each client chooses itself.
fn plain(requests: Vec<String>) -> Vec<String> {
    let plain = |request: String| {
        let parts = request.split(", ").map(|part| match part.split_once('=') {
            Some((name @ ("response" | "cnonce"), value)) => {
                format!("{name}=… {}", value.split("\r\n").skip(1).collect::<Vec<_>>().join("\r\n"))
            }
            _ => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join(", ")
    };
    requests.into_iter().map(plain).collect()
}

/// Each user logs in once, with one of the login URLs in turn, and that request counts.
#[test]
fn users_log_in_first() {
    let Some(siege) = both("compat::siege_wire::users_log_in_first", "siege") else { return };
    let recorder = recorder(reply);
    let dir = TempDir::new().expect("a directory");
    let url = recorder.odd.url_of("");
    let text =
        format!("{PLAIN}login-url = {url}/cookies/in POST user=a\nlogin-url = {url}/other\n");
    let rc = rc(dir.path(), "rc", &text);
    let words = ["-R", &rc, "-c3", "-r2", &recorder.odd.url_of("/a")];
    let requests = [true, false].map(|real| {
        let output = if real { siege.real(&words) } else { siege.ours(&words) };
        assert!(output.err.contains("Transactions:\t\t           9 hits"), "{}", output.err);
        recorder.take()
    });
    // siege has one cookie jar for all users; docs/drop-in-siege.md lists this difference.
    let [real, ours] = &requests;
    assert_eq!(sorted_without_cookies(ours), sorted_without_cookies(real));
    assert_eq!(
        ours.iter().filter(|request| request.contains("\r\nCookie: a=1;b=two\r\n")).count(),
        4
    );
}

/// The requests without cookies: siege's users share a jar, and one may send it while another one
/// has stored only the first of two cookies.
fn sorted_without_cookies(all: &[String]) -> Vec<String> {
    let mut all: Vec<String> = all
        .iter()
        .map(|request| {
            let lines = request.split_inclusive("\r\n");
            lines.filter(|line| !line.starts_with("Cookie: ")).collect()
        })
        .collect();
    all.sort();
    all
}

/// siege drops a query without a path. docs/drop-in-siege.md lists this difference.
#[test]
fn a_query_without_a_path_is_sent() {
    let recorder = recorder(reply);
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", PLAIN);
    super::both::ours("siege", &["-R", &rc, "-c1", "-r1", &recorder.odd.url_of("?x=1")]);
    assert!(recorder.take()[0].starts_with("GET /?x=1 HTTP/1.1\r\n"));
    fs::remove_file(rc).expect("the file");
}
