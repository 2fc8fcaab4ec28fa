use super::*;
use proptest::prelude::*;
use std::io::Write;

fn read_text(text: &str) -> Vec<UrlRequest> {
    parse(text, Path::new("urls.txt"), Some("http://base:81/x")).unwrap()
}

fn error_text(text: &str) -> String {
    parse(text, Path::new("urls.txt"), None).unwrap_err().to_string()
}

fn get(line: u64, url: &str) -> UrlRequest {
    UrlRequest { line, weight: 1, url: url.into(), basic: None, action: None }
}

fn with(
    line: u64,
    url: &str,
    method: &str,
    body: Body,
    content_type: Option<&'static str>,
) -> UrlRequest {
    UrlRequest {
        action: Some(Action { method: method.into(), body, content_type }),
        ..get(line, url)
    }
}

#[test]
fn plain_lines() {
    let text =
        "\u{feff}# all of it\n\nhttp://h/a\r\n  h/b?x=1#y  \n/c\n?q\n\"http://h/d\"\n[::1]:80/e\n";
    let urls: Vec<_> = read_text(text).into_iter().map(|e| (e.line, e.url)).collect();
    let expected = [
        (3, "http://h/a"),
        (4, "http://h/b?x=1"),
        (5, "http://base:81/c"),
        (6, "http://base:81/x?q"),
        (7, "http://h/d"),
        (8, "http://[::1]/e"),
    ];
    assert_eq!(urls, expected.map(|(line, url)| (line, url.to_owned())));
}

#[test]
fn methods_and_data() {
    let text =
        "h/a POST a=1&b=2 c\nh/a POST\nh/b PUT {\"n\": {n}}\nh/c DELETE\nh/d HEAD\n\"h/e POST x\"";
    let form = |s: &str| Body::Text(s.into());
    assert_eq!(
        read_text(text),
        [
            with(1, "http://h/a", "POST", form("a=1&b=2 c"), Some(body::FORM)),
            with(2, "http://h/a", "POST", form(""), None),
            with(3, "http://h/b", "PUT", form("{\"n\": {n}}"), Some(body::FORM)),
            with(4, "http://h/c", "DELETE", Body::None, None),
            with(5, "http://h/d", "HEAD", Body::None, None),
            with(6, "http://h/e", "POST", form("x"), Some(body::FORM)),
        ]
    );
}

#[test]
fn data_from_files() {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.write_all(b"{\"a\": 1}\n").unwrap();
    let name = file.path().display();
    let json = || Body::Text("{\"a\": 1}\n".into());
    assert_eq!(
        read_text(&format!("h/a POST <{name}\nh/a PATCH < \"{name}\"")),
        [
            with(1, "http://h/a", "POST", json(), Some("application/json")),
            with(2, "http://h/a", "PATCH", json(), Some("application/json")),
        ]
    );
    assert!(error_text("h/a POST </no/such").starts_with("cannot read /no/such: "));
}

#[test]
fn variables() {
    let text = "HOST=h:81\nROOT=\"http://$(HOST)/r\"\n$(ROOT)/a\n${ROOT}/b?p=\\$(ROOT)&c=$5\nh/ POST x=${HOST}";
    let entries = read_text(text);
    assert_eq!(entries[0].url, "http://h:81/r/a");
    assert_eq!(entries[1].url, "http://h:81/r/b?p=$(ROOT)&c=$5");
    assert_eq!(entries[2].action.as_ref().unwrap().body, Body::Text("x=h:81".into()));
}

#[test]
fn weights_and_credentials() {
    let entries = read_text("[3] http://h/a\n[12]h/b\nanna:secret@h/c");
    assert_eq!(entries.iter().map(|e| e.weight).collect::<Vec<_>>(), [3, 12, 1]);
    assert_eq!(entries[2].basic, Some(("anna".into(), "secret".into())));
}

#[test]
fn errors_name_file_and_line_and_show_valid_lines() {
    for (text, remedy) in [
        ("", "`urls.txt`: no URL in this file; write one a line"),
        ("# only\nA=1", "no URL in this file"),
        ("h/a\n/b", "urls.txt:2: `/b`: the server is not specified; write http://HOST/b"),
        (
            "h/a\n\nftp://h",
            "urls.txt:3: `ftp://h`: brunt speaks http, https, ws and wss, not ftp; write http://h",
        ),
        (
            "h/a b",
            "urls.txt:1: `b`: a method is expected after the URL; write one such as GET, POST or PURGE",
        ),
        ("h/a post x", "`post`: a method is expected after the URL"),
        ("h/a # why", "`#`: a method is expected after the URL"),
        (
            "$(HOST)/a",
            "urls.txt:1: `$(HOST)`: this variable has no value here; write HOST=… on a line above",
        ),
        (
            "[0] h/a",
            "urls.txt:1: `0`: a weight is not zero; write a whole number from 1, such as [3] http",
        ),
        ("[x] h/a", "a weight is a whole number"),
        ("[3]", "urls.txt:1: ``: a URL is missing"),
        ("h/{random:1", "urls.txt:1: `{random:1`: its `}` is missing"),
    ] {
        let error_text = error_text(text);
        assert!(error_text.contains(remedy), "{text}: {error_text}");
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"h/a\nh/\xff").unwrap();
    let error_text = read(file.path(), None).unwrap_err().to_string();
    assert!(error_text.contains(":2: `line`: this is not UTF-8; write"), "{error_text}");
    assert!(
        read(Path::new("/no/such"), None)
            .unwrap_err()
            .to_string()
            .starts_with("cannot read /no/such: ")
    );
}

proptest! {
    #[test]
    fn nothing_panics(text: String) {
        let _ = parse(&text, Path::new("f"), Some("http://h/"));
    }

    #[test]
    fn texts_similar_to_url_files_do_not_panic(text in r"(\[|\]|[0-9]|h/|\$|\(|\)|\{|\}|A=| POST |\\|'|\x22|\n|ß){0,16}") {
        let _ = parse(&text, Path::new("f"), None);
    }
}
