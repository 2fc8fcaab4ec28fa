//! Records clients through the proxy: curl with several protocols, and bytes that no client would send.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failed test shows the place")]

#[path = "proxy/site.rs"]
mod site;

use brunt_record::RecordError;
use brunt_record::proxy::{CERTIFICATE_FILE, KEY_FILE};
use brunt_record::{PlanOptions, ProxyCredentials, ProxyOptions, ProxyRecorder, Recording, plan};
use serde_json::Value;
use site::{LARGE_BYTES, Site};
use std::fs::{self, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A proxy with its directory.
struct TestProxy {
    directory: TempDir,
    recorder: ProxyRecorder,
}

impl TestProxy {
    fn start(site: Option<&Site>, user: Option<&str>) -> Self {
        let directory = TempDir::new().unwrap();
        let mut options = options(&directory);
        options.cacert = site.map(|site| site.certificate.clone());
        options.credentials = user.map(|user| ProxyCredentials::parse(user).unwrap());
        Self { recorder: ProxyRecorder::start(&options).unwrap(), directory }
    }

    fn address(&self) -> SocketAddr {
        self.recorder.address()
    }

    /// Runs curl through the proxy; None if it is not installed.
    fn curl(&self, arguments: &[&str]) -> Option<Output> {
        let output = Command::new("curl")
            .args(["--silent", "--show-error", "--max-time", "60", "--noproxy", ""])
            .arg("--proxy")
            .arg(format!("http://{}", self.address()))
            .arg("--cacert")
            .arg(self.directory.path().join("ca").join(CERTIFICATE_FILE))
            .args(arguments)
            .output();
        match output {
            Err(error) => {
                skip(&error.to_string());
                None
            }
            Ok(output) => Some(output),
        }
    }

    /// Sends bytes to the proxy, and returns all bytes until it closes the connection.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    }
}

fn options(directory: &TempDir) -> ProxyOptions {
    ProxyOptions::new(SocketAddr::from(([127, 0, 0, 1], 0)), directory.path().join("ca"))
}

/// Prints that a test is skipped, by its name in `dev/tests/needs.txt`.
fn skip(reason: &str) {
    let line = format!("SKIPPED record-proxy: curl: {reason}");
    println!("{line}");
    if let Some(list) = std::env::var_os("BRUNT_SKIPS") {
        let mut list = OpenOptions::new().create(true).append(true).open(list).unwrap();
        writeln!(list, "{line}").unwrap();
    }
}

fn text(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn entries(recording: &Recording) -> Vec<Value> {
    let har: Value = serde_json::from_str(recording.har()).unwrap();
    har["log"]["entries"].as_array().unwrap().clone()
}

/// Method, status and version of each request.
fn summary(recording: &Recording) -> Vec<String> {
    let line = |entry: &Value| {
        let path = entry["request"]["url"].as_str().unwrap().splitn(4, '/').nth(3).unwrap();
        format!(
            "{} /{path} {} {}",
            entry["request"]["method"].as_str().unwrap(),
            entry["response"]["status"],
            entry["response"]["httpVersion"].as_str().unwrap()
        )
    };
    entries(recording).iter().map(line).collect()
}

/// Reads one HTTP/1 head.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

#[test]
fn curl_receives_the_same_replies_with_and_without_the_proxy() {
    let site = Site::start();
    let proxy = TestProxy::start(Some(&site), None);
    let http = format!("http://{}", site.http);
    let https = format!("https://localhost:{}", site.https.port());
    let body = "x".repeat(3_000_000);
    let directory = TempDir::new().unwrap();
    let upload = directory.path().join("upload");
    fs::write(&upload, &body).unwrap();
    let upload = format!("@{}", upload.display());
    let cases: [&[&str]; 14] = [
        &["/page"],
        &["/gzip", "--compressed"],
        &["/chunked"],
        &["--head", "/large"],
        &["/empty", "-i"],
        &["/unchanged", "-i"],
        &["/large"],
        &["/echo", "--data-binary", &upload, "-H", "Expect: 100-continue"],
        &["/echo", "--data-binary", &upload, "-H", "Transfer-Encoding: chunked"],
        &["/echo", "-X", "PUT", "-d", "a=1"],
        &["/echo", "-X", "GET", "-d", "a=2"],
        &["/echo", "-X", "GET", "-d", "{\"query\": 1}", "-H", "Transfer-Encoding: chunked"],
        &["/none", "-i"],
        &[
            "/echo",
            "-F",
            "file=@/proc/self/comm",
            "-F",
            "name=value",
            "-H",
            "Content-Type: multipart/form-data; boundary=b",
        ],
    ];
    let protocols: [(&str, &[&str]); 4] = [
        (&http, &["--http1.1"]),
        (&http, &["--http1.1", "--proxytunnel"]),
        (&https, &["--http1.1"]),
        (&https, &["--http2"]),
    ];
    let certificate = site.certificate.display().to_string();
    let mut count = 0;
    for (server, protocol) in protocols {
        for case in &cases[..cases.len() - 1] {
            let mut arguments: Vec<String> =
                protocol.iter().map(|word| (*word).to_owned()).collect();
            arguments.extend(case.iter().map(|word| {
                if word.starts_with('/') { format!("{server}{word}") } else { (*word).to_owned() }
            }));
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let Some(proxied) = proxy.curl(&words) else { return };
            let direct = Command::new("curl")
                .args(["--silent", "--show-error", "--noproxy", "*", "--cacert", &certificate])
                .args(words.iter().filter(|word| **word != "--proxytunnel"))
                .output()
                .unwrap();
            assert!(
                proxied.status.success(),
                "{words:?}: {}",
                String::from_utf8_lossy(&proxied.stderr)
            );
            assert_eq!(comparable(&proxied), comparable(&direct), "{words:?}");
            count += 1;
        }
    }
    assert_eq!(proxy.recorder.count(), count);
    let recording = proxy.recorder.take_recording("test");
    let lines = summary(&recording);
    assert_eq!(lines.len(), count);
    let versions = |version: &str| lines.iter().filter(|line| line.ends_with(version)).count();
    assert_eq!((versions("http/1.1"), versions("h2")), (count / 4 * 3, count / 4));
    // `/large` exceeds the limit of a body, and all other bodies are complete.
    assert_eq!(recording.cuts, ["bodies beyond 8 MB, or 256 MB in total (4)"]);
    for entry in entries(&recording) {
        let path = entry["request"]["url"].as_str().unwrap();
        if path.ends_with("/echo") {
            let content = entry["response"]["content"]["text"].as_str().unwrap();
            assert_eq!(entry["request"]["postData"]["text"], content);
        }
        if path.ends_with("/gzip") {
            assert_eq!(entry["response"]["content"]["text"], "{\"token\":\"zipped-token-1\"}");
        }
    }
}

/// Body, and head without the fields that differ between any two requests.
fn comparable(output: &Output) -> (usize, String) {
    let text = String::from_utf8_lossy(&output.stdout);
    // After CONNECT, curl also prints the reply of the proxy.
    let text = text
        .strip_prefix("HTTP/1.1 200 OK\r\n")
        .filter(|rest| rest.contains("HTTP/"))
        .map_or(text.to_string(), |rest| {
            rest.split_once("\r\n\r\n").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
        });
    let lines = text.lines().filter(|line| {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        !["date", "via", "connection", "transfer-encoding"].contains(&name.as_str())
    });
    let lines: Vec<String> =
        lines.take(100).map(|line| format!("{:.200}", line.trim_end())).collect();
    let text = lines.join("\n");
    (output.stdout.len().min(if text.starts_with("HTTP") { 0 } else { LARGE_BYTES }), text)
}

#[test]
fn requests_reach_the_server_without_secrets_of_the_proxy() {
    let site = Site::start();
    let proxy = TestProxy::start(Some(&site), Some("phone:secret"));
    let https = format!("https://localhost:{}/headers", site.https.port());
    let http = format!("http://{}/headers", site.http);
    for url in [&http, &https] {
        let refused = proxy.curl(&["-i", url]);
        let Some(refused) = refused else { return };
        let refused = format!("{refused:?}");
        assert!(refused.contains("407"), "{refused}");
        let wrong = proxy.curl(&["-i", "--proxy-user", "phone:secreT", url]).unwrap();
        assert!(format!("{wrong:?}").contains("407"));
        let admitted = proxy.curl(&["--proxy-user", "phone:secret", "-b", "a=1", url]).unwrap();
        let fields = text(&admitted);
        assert!(fields.contains("via: 1.1 brunt-record\n"), "{fields}");
        assert!(fields.contains("cookie: a=1\n"), "{fields}");
        assert!(!fields.contains("proxy-"), "{fields}");
    }
    let recording = proxy.recorder.take_recording("test");
    assert_eq!(entries(&recording).len(), 2, "refused requests are not recorded");
    let encoded = "cGhvbmU6c2VjcmV0";
    assert!(!recording.har().contains(encoded));
    for entry in entries(&recording) {
        let fields = [&entry["request"]["headers"], &entry["response"]["headers"]];
        assert!(fields.iter().all(|fields| !fields.to_string().contains("brunt-record")));
    }
}

#[test]
fn a_recording_becomes_a_plan_with_pages_and_without_static_resources() {
    let site = Site::start();
    let proxy = TestProxy::start(Some(&site), None);
    let server = format!("https://localhost:{}", site.https.port());
    let navigation = ["-H", "Sec-Fetch-Mode: navigate", "-H", "Sec-Fetch-Dest: document"];
    let get = |path: &str, fields: &[&str]| {
        let url = format!("{server}{path}");
        let mut arguments = vec!["--http2", "--location", url.as_str()];
        arguments.extend(fields);
        proxy.curl(&arguments)
    };
    if get("/old", &navigation).is_none() {
        return;
    }
    get("/logo.png", &["-H", "Sec-Fetch-Dest: image"]);
    get("/gzip", &["-H", "Authorization: Bearer abcdefgh12345678", "-b", "session=hidden-cookie"]);
    get("/page", &navigation);
    get("/echo", &["-d", "user=anna&password=hidden-password", "-H", "Accept: */*"]);
    let recording = proxy.recorder.take_recording(&server);
    let made = plan::plan(&recording, None, &PlanOptions::default()).unwrap();
    let text = &made.text;
    assert_eq!(text.matches("- transaction: Carts & orders").count(), 2, "{text}");
    assert!(text.contains("get: /old") && text.contains("get: /gzip"), "{text}");
    for secret in ["abcdefgh12345678", "hidden-cookie", "hidden-password", "logo.png"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(made.left_out.iter().any(|part| part.contains("--keep-static")), "{:?}", made.left_out);
}

#[test]
fn websockets_are_relayed_and_recorded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tungstenite::accept(stream).unwrap();
        socket.send("welcome".into()).unwrap();
        while let Ok(message) = socket.read() {
            if message.is_text() || message.is_binary() {
                socket.send(message).unwrap();
            }
        }
    });
    let proxy = TestProxy::start(None, None);
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    write!(stream, "CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n").unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 200"));
    let (mut socket, reply) = tungstenite::client(format!("ws://{server}/feed"), stream).unwrap();
    assert_eq!(reply.status(), 101);
    assert_eq!(socket.read().unwrap().to_text().unwrap(), "welcome");
    let long = "m".repeat(200_000);
    for message in ["{\"a\":1}", &long] {
        socket.send(message.to_owned().into()).unwrap();
        assert_eq!(socket.read().unwrap().to_text().unwrap(), message);
    }
    let recording = proxy.recorder.take_recording("test");
    let entry = &entries(&recording)[0];
    assert_eq!(entry["request"]["url"], format!("ws://{server}/feed"));
    let messages: Vec<String> = entry["_webSocketMessages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            format!(
                "{} {:.8}",
                message["type"].as_str().unwrap(),
                message["data"].as_str().unwrap()
            )
        })
        .collect();
    let expected = [
        "receive welcome",
        "send {\"a\":1}",
        "receive {\"a\":1}",
        "send mmmmmmmm",
        "receive mmmmmmmm",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn streams_and_servers_without_a_reply_do_not_hold_the_recording() {
    let site = Site::start();
    let proxy = TestProxy::start(Some(&site), None);
    // A stream of events: the first one arrives, although the reply never ends.
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    let server = site.http;
    write!(stream, "GET http://{server}/events HTTP/1.1\r\nHost: {server}\r\n\r\n").unwrap();
    let head = read_head(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let mut event = [0; 12];
    stream.read_exact(&mut event).unwrap();
    assert!(String::from_utf8_lossy(&event).contains("data: 1"));
    // Servers that send nothing, garbage, and half of a body; and a closed port.
    let behaviors: [&'static [u8]; 3] =
        [b"", b"\x00\x01garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"];
    let mut silent = Vec::new();
    for bytes in behaviors {
        let server = serve_bytes(bytes);
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        write!(
            client,
            "GET http://{server}/x HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        if bytes.is_empty() {
            silent.push(client);
            continue;
        }
        let mut reply = Vec::new();
        let _ = client.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply);
        // The connection of half a body is closed, so that the client notices it.
        let is_half = bytes.starts_with(b"HTTP") && !reply.contains("502");
        assert!(is_half || reply.starts_with("HTTP/1.1 502"), "{reply}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let reply = proxy.send(
        format!("GET http://{closed}/ HTTP/1.1\r\nHost: {closed}\r\nConnection: close\r\n\r\n")
            .as_bytes(),
    );
    assert!(reply.starts_with("HTTP/1.1 502"), "{reply}");
    // The recording has what has arrived.
    while proxy.recorder.count() < 5 {
        thread::sleep(Duration::from_millis(20));
    }
    let recording = proxy.recorder.take_recording("test");
    let bodies: Vec<String> = entries(&recording)
        .iter()
        .map(|entry| entry["response"]["content"]["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(bodies, ["data: 1\n\n", "half"]);
    assert_eq!(recording.cuts, ["bodies that ended early (1)", "requests without a reply (3)"],);
    // The proxy ends although connections are open.
    drop(proxy);
    drop((stream, silent));
}

/// Sends the same bytes to each client after its request. No bytes: the connection stays open.
fn serve_bytes(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            read_head(&mut stream);
            stream.write_all(bytes).unwrap();
            if bytes.is_empty() {
                thread::park();
            }
        }
    });
    address
}

#[test]
fn bytes_that_are_not_http_are_refused() {
    let site = Site::start();
    let proxy = TestProxy::start(Some(&site), None);
    let server = site.http;
    // Nothing of a tunnel reaches the server as it is.
    let tunnel = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n");
    for inner in
        [&b"\x00\x00\x00\x01binary"[..], b"SSH-2.0-client\r\n", b"\x16\x03\x01\x00\x05hello"]
    {
        let reply = proxy.send(&[tunnel.as_bytes(), inner].concat());
        let (connect, rest) = reply.split_once("\r\n\r\n").unwrap();
        assert!(connect.starts_with("HTTP/1.1 200"), "{reply}");
        let is_refused =
            rest.is_empty() || rest.starts_with("HTTP/1.1 400") || !rest.contains("HTTP");
        assert!(is_refused, "{rest}");
    }
    for request in ["\x00\x01\x02\r\n\r\n", "GET\r\n\r\n", "GET http://a b/ HTTP/1.1\r\n\r\n"] {
        let reply = proxy.send(request.as_bytes());
        assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 400"), "{reply}");
    }
    for (request, status) in [
        (format!("CONNECT {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", server.ip()), 400),
        ("GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned(), 400),
        // A tunnel is for one server.
        (
            format!(
                "{tunnel}GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n"
            ),
            421,
        ),
        (
            format!(
                "{tunnel}CONNECT {server} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n"
            ),
            405,
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                .to_owned(),
            405,
        ),
    ] {
        let reply = proxy.send(request.as_bytes());
        assert!(reply.contains(&format!("HTTP/1.1 {status} ")), "{request}: {reply}");
    }
    assert_eq!(proxy.recorder.count(), 0);
    let notices = proxy.recorder.take_notices();
    assert!(notices.iter().any(|notice| notice.contains("another protocol")), "{notices:?}");
}

#[test]
fn a_proxy_does_not_forward_to_itself() {
    let [proxy, other] = [0; 2].map(|_| TestProxy::start(None, None));
    let own = proxy.address();
    let port = own.port();
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
    ] {
        let request =
            format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let reply = proxy.send(request.as_bytes());
        assert!(reply.starts_with("HTTP/1.1 508"), "{host}: {reply}");
        let tunnel = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let reply = proxy
            .send(format!("{tunnel}{}", request.replace(&format!("http://{host}"), "")).as_bytes());
        assert!(reply.contains("HTTP/1.1 508"), "{host}: {reply}");
    }
    // Through another proxy, `Via` shows it.
    let host = own;
    let inner = format!(
        "GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nVia: 1.1 brunt-record\r\nConnection: close\r\n\r\n"
    );
    let reply = other.send(inner.as_bytes());
    assert!(reply.starts_with("HTTP/1.1 508"), "{reply}");
    assert_eq!(proxy.recorder.count() + other.recorder.count(), 0);
}

#[test]
fn the_certificate_is_made_once_and_is_for_servers_only() {
    let directory = TempDir::new().unwrap();
    let options = options(&directory);
    let first = ProxyRecorder::start(&options).unwrap();
    assert!(first.authority().is_new());
    let second = ProxyRecorder::start(&options).unwrap();
    assert!(!second.authority().is_new());
    assert_eq!(first.authority().fingerprint(), second.authority().fingerprint());
    let folder = directory.path().join("ca");
    let key = folder.join(KEY_FILE);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&key)), (0o700, 0o600));
    let pem = fs::read_to_string(folder.join(CERTIFICATE_FILE)).unwrap();
    assert!(!pem.contains("PRIVATE"));
    let (_, parsed) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
    let certificate = parsed.parse_x509().unwrap();
    let constraints = certificate.basic_constraints().unwrap().unwrap().value;
    assert!(constraints.ca && constraints.path_len_constraint == Some(0));
    let usage = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.server_auth && !usage.any && !usage.client_auth && !usage.code_signing);
    let validity = certificate.validity();
    let days = (validity.not_after.timestamp() - validity.not_before.timestamp()) / 86_400;
    assert_eq!(days, 366);
    // Each host has its own certificate with another number.
    let serial = |host: &str| {
        let certified = first.authority().certificate_for(host).unwrap();
        let (_, leaf) = x509_parser::parse_x509_certificate(&certified.cert[0]).unwrap();
        leaf.verify_signature(Some(certificate.public_key())).unwrap();
        assert!(!leaf.is_ca());
        leaf.raw_serial().to_vec()
    };
    assert_ne!(serial("a.example"), serial("b.example"));
    assert_eq!(serial("A.example."), serial("a.example"));
    serial("192.0.2.1");
    serial("[2001:db8::1]");
    // A key that others can read may have been copied.
    fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
    let error = ProxyRecorder::start(&options).err().unwrap().to_string();
    assert!(error.contains("mode 640") && error.contains(KEY_FILE), "{error}");
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "no key").unwrap();
    assert!(matches!(ProxyRecorder::start(&options), Err(RecordError::ProxyFile { .. })));
}

#[test]
fn the_certificate_is_served_to_clients() {
    let proxy = TestProxy::start(None, Some("phone"));
    let direct = proxy.send(b"GET /brunt-ca.pem HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(direct.contains("application/x-x509-ca-cert"), "{direct}");
    assert!(direct.contains("BEGIN CERTIFICATE") && !direct.contains("PRIVATE"));
    let proxy = TestProxy::start(None, None);
    let request =
        "GET http://brunt.record/ HTTP/1.1\r\nHost: brunt.record\r\nConnection: close\r\n\r\n";
    let page = proxy.send(request.as_bytes());
    assert!(page.contains("brunt-ca.crt"), "{page}");
    assert!(page.contains(&proxy.recorder.authority().fingerprint()));
    for path in ["/brunt-ca-key.pem", "/../brunt-ca-key.pem", "/"] {
        let reply = proxy.send(
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
        );
        assert!(!reply.contains("PRIVATE"), "{reply}");
    }
    assert_eq!(proxy.recorder.count(), 0);
}

#[test]
fn other_machines_need_a_password() {
    let directory = TempDir::new().unwrap();
    let mut options = options(&directory);
    options.address = SocketAddr::from(([0, 0, 0, 0], 0));
    assert!(matches!(ProxyRecorder::start(&options), Err(RecordError::NoPassword(_))));
}

#[test]
fn certificates_of_servers_are_verified() {
    let site = Site::start();
    let directory = TempDir::new().unwrap();
    let mut options = options(&directory);
    // Its authority is not that of the site.
    let strict = ProxyRecorder::start(&options).unwrap();
    options.accepts_any_certificate = true;
    let lax = ProxyRecorder::start(&options).unwrap();
    for (recorder, status) in [(strict, "502"), (lax, "204")] {
        let output = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--output",
                "/dev/null",
                "--write-out",
                "%{http_code}",
            ])
            .args([
                "--noproxy",
                "",
                "--proxy",
                &format!("http://{}", recorder.address()),
                "--cacert",
            ])
            .arg(directory.path().join("ca").join(CERTIFICATE_FILE))
            .arg(format!("https://localhost:{}/empty", site.https.port()))
            .output();
        let Ok(output) = output else { return skip("curl is not installed") };
        assert_eq!(String::from_utf8_lossy(&output.stdout), status, "{output:?}");
    }
}
