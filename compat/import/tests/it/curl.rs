//! Command lines of curl that are drawn at random: what the plan of each sends, beside what the real curl sends to a loopback server.

use brunt_import::{ImportFormat, ImportOptions, import};
use brunt_model::{Body, Request};
use brunt_spec::System;
use brunt_spec::plan_file::load;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use url::{Position, Url};

const CASES: usize = 400;

/// The one secret of the command lines, which plans take from the environment.
const COOKIE: &str = "a=1; b=2";

/// Files that the command lines name.
const FILES: [(&str, &[u8]); 4] = [
    ("lines.txt", b"one\r\ntwo & three\n"),
    ("p.png", b"\x89PNG\r\n\0\xff"),
    ("j.json", b"{\"a\": [1, 2]}\n"),
    ("with space.xml", b"<a b='c'/>"),
];

/// A request without what each tool adds as its own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    line: String,
    headers: Vec<String>,
    body: String,
}

impl Sent {
    fn new(line: &str, headers: Vec<(String, String)>, mut body: Vec<u8>) -> Self {
        let mut kept = Vec::new();
        for (name, value) in headers {
            let name = name.to_ascii_lowercase();
            let is_own = match name.as_str() {
                "host" | "content-length" | "expect" | "connection" | "accept-encoding" => true,
                "user-agent" => value.starts_with("curl/") || value.starts_with("brunt"),
                "accept" => value == "*/*",
                _ => false,
            };
            let boundary = value.split_once("boundary=").filter(|_| name == "content-type");
            match boundary {
                Some((before, boundary)) => {
                    body = replaced(&body, boundary.as_bytes());
                    kept.push(format!("{name}: {before}"));
                }
                None if !is_own => kept.push(format!("{name}: {}", value.trim())),
                None => {}
            }
        }
        kept.sort();
        Self { line: with_upper_hex(line), headers: kept, body: body.escape_ascii().to_string() }
    }

    fn of_plan(request: &Request) -> Self {
        let url = Url::parse(&request.url).expect("a URL");
        let target = &url[Position::BeforePath..Position::AfterQuery];
        let body = match &request.body {
            Body::None => Vec::new(),
            body => body.bytes().expect("bytes").to_vec(),
        };
        Self::new(&format!("{} {target}", request.method), request.headers.clone(), body)
    }
}

/// Where `-T` adds a file name to the URL, some releases of curl write percent-encoded bytes in lower case, others in upper case.
fn with_upper_hex(line: &str) -> String {
    let mut parts = line.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hex, rest) = part.split_at(part.len().min(2));
        out.push('%');
        out.push_str(&hex.to_ascii_uppercase());
        out.push_str(rest);
    }
    out
}

fn replaced(body: &[u8], boundary: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        if rest.starts_with(boundary) {
            out.extend(b"BOUNDARY");
            rest = &rest[boundary.len()..];
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out
}

/// Says that the test is skipped, by its name in `dev/tests/needs.txt`.
#[expect(clippy::print_stdout, reason = "tells whoever runs the tests")]
fn skipped(why: &str) {
    let line = format!("SKIPPED curl-lines: {why}");
    println!("{line}");
    if let Some(list) = std::env::var_os("BRUNT_SKIPS") {
        let list = std::fs::OpenOptions::new().append(true).create(true).open(list);
        let written = list.and_then(|mut list| writeln!(list, "{line}"));
        written.expect("the list of skipped tests");
    }
}

/// Records the requests of all connections.
fn server() -> (SocketAddr, Receiver<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || while record(&stream, &sender).is_some() {});
        }
    });
    (address, receiver)
}

/// Reads a request and answers it; None: the connection is at its end.
fn record(mut stream: &TcpStream, sender: &Sender<Sent>) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut reader = BufReader::with_capacity(1, stream);
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).ok().filter(|length| *length > 0)?;
        let line = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let head = lines.first()?.rsplit_once(' ')?.0.to_owned();
    let pair = |line: &String| {
        line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
    };
    let headers: Vec<(String, String)> = lines.iter().skip(1).filter_map(pair).collect();
    let value = |name: &str| {
        headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    if value("expect").is_some() {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    let length: usize = value("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    sender.send(Sent::new(&head, headers, body)).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()
}

/// The requests of the plan that a command line is imported as, and the plan; the refusal, otherwise.
fn planned(command: &str, folder: &Path) -> Result<(Vec<Sent>, String), String> {
    let options = ImportOptions {
        file: "input".into(),
        folder: folder.display().to_string(),
        ..ImportOptions::default()
    };
    let plan = import(ImportFormat::Curl, command, &options).map_err(|error| error.to_string())?;
    let path = folder.join("plan.yaml");
    std::fs::write(&path, &plan).expect("a plan");
    let system = System {
        environment: |_| Some(COOKIE.to_owned()),
        languages: brunt_languages::LANGUAGES,
        ..System::bare(20_000, 4, Some(28_232), 99)
    };
    let loaded = load(&path, &[], "/tmp/d", &system).map_err(|error| format!("{error}\n{plan}"))?;
    let scenario = &loaded.experiment.contenders[0].steps[0].plan.main().scenario;
    Ok((scenario.requests.iter().map(Sent::of_plan).collect(), plan))
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Values without `$` and `{`, which plans escape.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z0-9]{0,5}",
        3 => r"[ -#%-z|}~]{0,8}",
        1 => r"[é\n\t ]{1,3}",
        1 => Just(r#"{"a": 1.0, "b":[true ,null]}"#.to_owned()),
    ]
}

fn file() -> impl Strategy<Value = &'static str> {
    (0..FILES.len()).prop_map(|number| FILES[number].0)
}

fn path() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        8 => "[a-z0-9._~-]{0,4}",
        2 => "[a-zA-Z0-9!&'()*+,;=:@-]{1,4}",
        2 => "%(20|2[fF]|C3%A9|25)",
        1 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
    ];
    prop::collection::vec(segment, 0..4).prop_map(|segments| {
        let path: Vec<String> = segments.iter().map(|segment| format!("/{segment}")).collect();
        path.concat()
    })
}

fn url() -> impl Strategy<Value = String> {
    let query = prop_oneof![
        4 => Just(String::new()),
        1 => Just("?".to_owned()),
        4 => r"\?[a-z]{1,3}=[a-z0-9+%.~/?:@!()*,;-]{0,6}",
        2 => r"\?[a-z]=(%20|%2B|%C3%A9)&[a-z](=[0-9])?&?",
    ];
    let fragment = prop_oneof![8 => Just(String::new()), 1 => Just("#part".to_owned())];
    let range = prop_oneof![12 => Just(String::new()), 1 => Just("/[1-3]".to_owned()), 1 => Just("/{a,b}".to_owned())];
    (path(), range, query, fragment).prop_filter_map(
        "a percent sign without digits",
        |(path, range, query, fragment)| {
            let url = format!("http://SERVER{path}{range}{query}{fragment}");
            let broken = url.match_indices('%').any(|(at, _)| {
                let digits = url.as_bytes().get(at + 1..at + 3);
                !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            });
            (!broken).then_some(url)
        },
    )
}

/// Options that give a body.
fn body() -> impl Strategy<Value = Vec<String>> {
    let two = |option: &'static str, value: String| vec![option.to_owned(), value];
    // Names of secrets, such as `pw`, would have other values in the plan.
    let pair = ("[a-m]{1,3}", value()).prop_map(|(name, value)| format!("{name}={value}")).boxed();
    let data = prop_oneof![
        4 => pair.clone().prop_map(move |pair| two("-d", pair)),
        2 => value().prop_map(move |value| two("--data-raw", value)),
        3 => pair.clone().prop_map(move |pair| two("--data-urlencode", pair)),
        1 => value().prop_map(move |value| two("--data-urlencode", value.replace(['@', '='], ""))),
        1 => pair.clone().prop_map(move |pair| two("--data-urlencode", format!("a@{pair}"))),
        // Releases of curl differ in what they do with NUL bytes of a text.
        1 => prop_oneof![Just("lines.txt"), Just("j.json")].prop_map(move |file| two("-d", format!("@{file}"))),
        1 => file().prop_map(move |file| two("--data-binary", format!("@{file}"))),
        1 => file().prop_map(move |file| two("--data-urlencode", format!("n@{file}"))),
        1 => prop_oneof![Just("-d"), Just("--data-binary"), Just("--json")].prop_map(move |how| two(how, "@-".to_owned())),
        1 => Just(two("--json", r#"{"a": "b"}"#.to_owned())),
    ];
    let ends = prop_oneof![
        Just(""),
        Just(";type=text/plain"),
        Just(";filename=x.pdf"),
        Just(";type=a/b;filename=\"q;r\"")
    ];
    let part = prop_oneof![
        4 => pair.clone().prop_map(move |pair| two("-F", pair)),
        2 => pair.prop_map(move |pair| two("--form-string", pair)),
        1 => "[a-z]{1,3}".prop_map(move |text| two("-F", format!("t={text};type=text/html"))),
        1 => r#"t=[a"] ?;[ ;ab="]{0,4}(;type=a/b)?;?[ab]?"#.prop_map(move |part| two("-F", part)),
        3 => (file(), ends).prop_map(move |(file, end)| two("-F", format!("f=@{file}{end}"))),
        1 => file().prop_map(move |file| two("-F", format!("c=<{file}"))),
    ];
    let query = prop::collection::vec(prop_oneof!["[a-z]=[a-z0-9]{0,3}", "[a-z]{1,3}"], 1..3)
        .prop_map(|pairs| {
            std::iter::once("-G".to_owned())
                .chain(pairs.into_iter().flat_map(|pair| ["-d".to_owned(), pair]))
                .collect()
        });
    prop_oneof![
        3 => Just(Vec::new()),
        8 => prop::collection::vec(data, 1..4).prop_map(|all| all.concat()),
        4 => prop::collection::vec(part, 1..4).prop_map(|all| all.concat()),
        1 => file().prop_map(move |file| two("-T", file.to_owned())),
        2 => query,
        1 => Just(vec!["-I".to_owned()]),
    ]
}

/// Other options.
fn options() -> impl Strategy<Value = Vec<String>> {
    let common = prop_oneof![
        Just(vec!["-H", "X-A: 1"]),
        Just(vec!["-H", "X-A: two  words"]),
        Just(vec!["-H", "X-Empty;"]),
        Just(vec!["-H", "Accept: a/b"]),
        Just(vec!["-X", "PURGE"]),
        Just(vec!["-X", "PATCH"]),
        Just(vec!["-X", "get"]),
        Just(vec!["-A", "agent 1"]),
        Just(vec!["-A", ""]),
        Just(vec!["-e", "http://h/x;auto"]),
        Just(vec!["-b", COOKIE]),
        Just(vec!["-H", "Cookie: a=1; b=2"]),
        Just(vec!["--compressed"]),
        Just(vec!["--url-query", "a=b c&d"]),
        Just(vec!["--url-query", "+e=%20&f"]),
        Just(vec!["--oauth2-bearer", COOKIE]),
        Just(vec!["-u", "name:", "--oauth2-bearer", COOKIE]),
    ];
    let rare = prop_oneof![
        Just(vec!["-H", "Content-Type: text/plain"]),
        Just(vec!["-H", "Content-Type:"]),
        Just(vec!["-r", "0-99"]),
        Just(vec!["--digest", "--oauth2-bearer", COOKIE]),
    ];
    let one = prop_oneof![20 => common, 1 => rare];
    prop::collection::vec(one, 0..4).prop_map(|mut all| {
        all.sort();
        all.dedup();
        all.concat().into_iter().map(str::to_owned).collect()
    })
}

fn command() -> impl Strategy<Value = Vec<String>> {
    (prop::collection::vec(url(), 1..3), body(), options()).prop_map(|(urls, body, options)| {
        let mut words = vec!["curl".to_owned()];
        words.extend(body);
        words.extend(options);
        words.extend(urls);
        words
    })
}

#[test]
fn command_lines_send_the_bytes_that_curl_sends() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skipped("curl is not installed");
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in FILES {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    let (address, received) = server();
    let inputs = prop_oneof![Just("<lines.txt >out"), Just("<<'E' >out\nx=1\n 'y'\nE")];
    let mut runner = TestRunner::deterministic();
    let mut sent = 0;
    let mut same = 0;
    let mut told = 0;
    let mut refusals = Vec::new();
    let mut silent = Vec::new();
    for _ in 0..CASES {
        let words = command().new_tree(&mut runner).expect("a command").current();
        if words.iter().filter(|word| *word == "@-").count() > 1 {
            continue;
        }
        let input = inputs.new_tree(&mut runner).expect("an input").current();
        let arguments = words[1..].iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let arguments = arguments.replace("SERVER", &address.to_string());
        let line = format!("curl 2>/dev/null {arguments} {input}");
        let script = format!("curl -s -o /dev/null {arguments} {input}");
        let mut curl = Command::new("sh");
        curl.args(["-c", &script]).current_dir(&folder).stderr(Stdio::null());
        let is_done = curl.status().expect("curl").success();
        let expected: Vec<Sent> = received.try_iter().collect();
        if !is_done || expected.is_empty() {
            continue;
        }
        sent += 1;
        match planned(&line, folder.path()) {
            Ok((planned, _)) if planned == expected => same += 1,
            Ok((planned, plan)) => {
                let notes = ["curl asks for", "encoded again", "written again", "left out"];
                if notes.iter().any(|note| plan.contains(note)) {
                    told += 1;
                } else {
                    silent.push(format!("{line}\n{plan}\n{expected:#?}\n{planned:#?}"));
                }
            }
            Err(refusal) => refusals.push(format!("{line}\n{refusal}")),
        }
    }
    assert!(silent.is_empty(), "{} changed in silence:\n{}", silent.len(), silent.join("\n\n"));
    assert!(
        same * 100 >= sent * 95,
        "{same} of {sent} are the same, {told} changed with a note, refused:\n{}",
        refusals.join("\n")
    );
}

#[test]
fn every_option_of_curl_is_known() {
    let help = Command::new("curl").args(["--help", "all"]).output().expect("curl");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let mut unknown = Vec::new();
    for line in help.lines() {
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next_if(|word| word.starts_with('-')) {
            let option = word.trim_end_matches(',');
            let value = if words.peek().is_some_and(|next| next.starts_with(['<', '['])) {
                " 1"
            } else {
                ""
            };
            let command = format!("curl http://127.0.0.1/ {option}{value}");
            let plan = import(ImportFormat::Curl, &command, &ImportOptions::default());
            unknown.extend(
                plan.err()
                    .map(|error| error.to_string())
                    .filter(|error| error.contains("is unknown here")),
            );
        }
    }
    assert!(help.len() > 1000 && unknown.is_empty(), "{unknown:#?}");
}
