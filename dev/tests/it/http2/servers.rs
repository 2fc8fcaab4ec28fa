//! Tests HTTP/2 with further servers, each with its own counters.

use crate::world::certs::{Authority, CertificateFiles};
use crate::world::server::ServerProcess;
use crate::world::skip::{program, skip};
use crate::world::{lab, measure, port, wait_a_moment};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Path and length of each page.
const PAGES: [(&str, usize); 3] = [("/small", 10), ("/nine", 9_000), ("/forty", 40_000)];
const EACH: u64 = 700;

/// Parameters of the start of a server.
struct ServerParameters<'a> {
    dir: &'a Path,
    port: u16,
    certificate: &'a CertificateFiles,
}

/// Starts a server whose log file `access` has a line for each request. Requests each page, and
/// compares the counts.
fn assert_counts(
    test: &str,
    name: &str,
    pages: &[(&str, usize)],
    configure: impl Fn(&ServerParameters<'_>, &mut Command),
) {
    let Some(path) = program(name) else {
        return skip(&format!("http2::servers::{test}"), &format!("no {name} here"));
    };
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let www = dir.path().join("www");
    let certificate = authority.certify("localhost");
    fs::create_dir(&www).expect("a directory");
    for (page, length) in pages {
        fs::write(www.join(&page[1..]), vec![b'x'; *length]).expect("a page");
    }
    let parameters =
        ServerParameters { dir: dir.path(), port: port::free(), certificate: &certificate };
    let mut command = Command::new(path);
    configure(&parameters, &mut command);
    let errors = fs::File::create(dir.path().join("told")).expect("a file");
    let _server =
        ServerProcess::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors));
    assert!(
        (0..1000).any(|_| port::has_listener(parameters.port) || wait_a_moment()),
        "{name}: {}",
        errors_of(dir.path())
    );
    let access = dir.path().join("access");
    let mut requested = 0;
    for (page, length) in pages {
        let line = format!(
            "https://localhost:{}{page} --http 2 --cacert {}",
            parameters.port, authority.pem
        );
        let ran = measure(&format!("{line} -c 3 --streams 40 -n {EACH} -H X-Some:thing"))
            .assert_all_good();
        requested += EACH as usize;
        assert_eq!(ran.count("completed"), EACH, "{name} {page}");
        assert!(ran.number("/bytes/received") >= EACH * *length as u64, "{name} {page}");
        // The server logs after the reply.
        assert!(
            (0..1000).any(|_| logged_requests(&access) == requested || wait_a_moment()),
            "{name}: {} of {requested}; {}",
            logged_requests(&access),
            errors_of(dir.path())
        );
    }
}

fn logged_requests(access: &Path) -> usize {
    fs::read_to_string(access)
        .unwrap_or_default()
        .lines()
        .filter(|line| line.contains(" /"))
        .count()
}

fn errors_of(dir: &Path) -> String {
    fs::read_to_string(dir.join("told")).unwrap_or_default()
}

/// Replaces `DIR`, `PORT`, `CERT` and `KEY` in a text.
fn with_parameters(start: &ServerParameters<'_>, text: &str) -> String {
    text.replace("DIR", &start.dir.display().to_string())
        .replace("PORT", &start.port.to_string())
        .replace("CERT", &start.certificate.cert)
        .replace("KEY", &start.certificate.key)
}

#[test]
fn counts_equal_those_of_apache() {
    assert_counts("counts_equal_those_of_apache", "apache2", &PAGES, |start, command| {
        let modules = ["mpm_event", "authz_core", "http2", "ssl"].map(|name| {
            format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n")
        });
        let rest = "Listen 127.0.0.1:PORT\nServerName localhost\nPidFile DIR/pid\nErrorLog DIR/error\nProtocols h2\n\
                    DefaultRuntimeDir DIR\nMutex file:DIR\nDocumentRoot DIR/www\nUser www-data\nGroup www-data\n\
                    MaxKeepAliveRequests 50\nLogFormat \"%r\" it\nTransferLog DIR/access\nSSLEngine on\n\
                    SSLCertificateFile CERT\nSSLCertificateKeyFile KEY\n<Directory DIR/www>\nRequire all granted\n</Directory>\n";
        fs::write(start.dir.join("conf"), modules.concat() + &with_parameters(start, rest))
            .expect("a configuration");
        make_readable(start.dir);
        command.arg("-f").arg(start.dir.join("conf")).arg("-DFOREGROUND").arg("-d").arg(start.dir);
    });
}

/// Servers started by root read files as another user.
fn make_readable(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("a directory of ours");
}

#[test]
fn counts_equal_those_of_node() {
    assert_counts("counts_equal_those_of_node", "node", &PAGES, |start, command| {
        // Small windows, few streams, and pages in pieces of any length.
        let text = "const fs = require('fs'), access = fs.openSync('DIR/access', 'a');\n\
            const own = { key: fs.readFileSync('KEY'), cert: fs.readFileSync('CERT'), settings: { maxConcurrentStreams: 7 } };\n\
            require('http2').createSecureServer(own).on('stream', (stream, head) => {\n\
              const page = fs.readFileSync('DIR/www' + head[':path']);\n\
              stream.respond({ ':status': 200, 'x-random': String(Math.random()) });\n\
              for (let at = 0; at < page.length;) {\n\
                const length = 1 + Math.floor(Math.random() * 5000);\n\
                stream.write(page.subarray(at, at + length));\n\
                at += length;\n\
              }\n\
              stream.end();\n\
              fs.writeSync(access, `GET ${head[':path']}\\n`);\n\
            }).listen(PORT, '127.0.0.1');\n";
        fs::write(start.dir.join("server.cjs"), with_parameters(start, text)).expect("a program");
        command.arg(start.dir.join("server.cjs"));
    });
}

#[test]
fn counts_equal_those_of_h2o() {
    assert_counts("counts_equal_those_of_h2o", "h2o", &PAGES, |start, command| {
        let text = "listen: {host: 127.0.0.1, port: PORT, ssl: {certificate-file: CERT, key-file: KEY}}\n\
                    hosts: {default: {paths: {/: {file.dir: DIR/www}}}}\naccess-log: {path: DIR/access, format: \"%r\"}\n\
                    num-threads: 1\nuser: root\n";
        fs::write(start.dir.join("conf"), with_parameters(start, text)).expect("a configuration");
        command.arg("-c").arg(start.dir.join("conf"));
    });
}

#[test]
fn counts_equal_those_of_nghttpx() {
    let backend = lab("--body 9k");
    let port = backend.port();
    assert_counts(
        "counts_equal_those_of_nghttpx",
        "nghttpx",
        &[("/nine", 9_000)],
        |start, command| {
            let words = format!(
                "-f127.0.0.1,PORT -b127.0.0.1,{port} KEY CERT --no-ocsp --conf=/dev/null --accesslog-file=DIR/access \
             --frontend-http2-max-concurrent-streams=10"
            );
            command.args(with_parameters(start, &words).split_whitespace());
        },
    );
}
