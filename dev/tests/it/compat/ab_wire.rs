//! Compares the bytes that the drop-in `ab` and the real ab send.

use super::both::both;
use super::recorder::recorder;
use std::fs;

fn hello(_: &str) -> String {
    "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello".into()
}

/// Arguments of runs. `URL` is the URL of the recorder, `AT` its address, `FILE` a file to send.
const WORDS: &[&[&str]] = &[
    &["URL"],
    &["-n", "3", "URL"],
    &["-k", "URL"],
    &["-i", "URL"],
    &["-i", "-m", "OPTIONS", "URL"],
    &["-m", "DELETE", "URL"],
    &["-p", "FILE", "URL"],
    &["-p", "FILE", "-T", "application/json", "-A", "user:secret", "-H", "X-One:1", "URL"],
    &["-u", "FILE", "-T", "text/xml", "URL"],
    &["-p", "FILE", "-m", "PATCH", "-k", "URL"],
    &["-p", "/dev/null", "URL"],
    &["-C", "a=1", "URL"],
    &["-A", "user:pass word", "-P", "other:one", "URL"],
    &["-P", "other:one", "-A", "user:secret", "URL"],
    &["-A", "nobody", "URL"],
    &["-H", "X-One: 1", "-H", "X-Two:2", "-H", "nonsense", "URL"],
    &["-H", "host: other", "-H", "User-Agent: me", "-H", "ACCEPT: text/html", "URL"],
    &["-k", "-H", "Connection: close", "-C", "x=y", "URL"],
    &["-H", "Accept-Encoding: gzip", "URL"],
    &["AT/with space?a={n}&b=%20#part"],
    &["http://AT//../x/./y"],
    &["-X", "AT", "http://an.example/path?x"],
    &["-X", "AT", "-k", "an.example:81/path"],
    &["-q", "-l", "-r", "-d", "-S", "-s", "5", "-b", "2048", "-v", "1", "URL"],
];

#[test]
fn bytes_on_the_wire_are_the_same() {
    let Some(ab) = both("compat::ab_wire::bytes_on_the_wire_are_the_same", "ab") else { return };
    let recorder = recorder(hello);
    let dir = tempfile::TempDir::new().expect("a directory");
    let file = dir.path().join("body");
    fs::write(&file, b"a=1&b=\xc3\xa4\r\n\r\n").expect("a file");
    let address = recorder.odd.address.to_string();
    for words in WORDS {
        let words: Vec<String> = words
            .iter()
            .map(|w| {
                w.replace("URL", &recorder.odd.url_of("/path"))
                    .replace("AT", &address)
                    .replace("FILE", &file.display().to_string())
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = ab.real(&words);
        let real = recorder.take();
        assert_eq!((output.code, real.is_empty()), (Some(0), false), "{words:?}: {}", output.err);
        let output = ab.ours(&words);
        assert_eq!(output.code, Some(0), "{words:?}: {}", output.err);
        assert_eq!(recorder.take(), real, "{words:?}");
    }
}

/// The help of ab calls `-C` repeatable, but ab sends only the last one. docs/drop-in.md lists this
/// difference.
#[test]
fn every_cookie_is_sent() {
    let recorder = recorder(hello);
    super::both::ours("ab", &["-C", "a=1", "-C", "b=2", &recorder.odd.url_of("/")]);
    assert!(recorder.take()[0].contains("\r\nCookie: a=1\r\nCookie: b=2\r\n"));
}
