//! Tests HTTPS: trust in certificates, client certificates, and the errors of failed handshakes.

use crate::world::certs::{Authority, self_signed};
use crate::world::log::{LogLine, distinct};
use crate::world::nginx::nginx_at;
use crate::world::server::ServerProcess;
use crate::world::skip::{program, skip};
use crate::world::{Nginx, command, lab, measure, port, stdout_of, wait_until};
use rcgen::{BasicConstraints, IsCa};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Starts an nginx with TLS and a certificate for `localhost`. Returns it with the authority.
fn secure(test: &str, directives: &str) -> Option<(Nginx, Authority, TempDir)> {
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let certificate = authority.certify("localhost");
    let directives = format!(
        "ssl_certificate {}; ssl_certificate_key {}; ssl_session_cache shared:it:1m; {}",
        certificate.cert,
        certificate.key,
        directives.replace("CA", &authority.pem)
    );
    let nginx = nginx_at(test, "listen 127.0.0.1:PORT ssl;", &directives)?;
    Some((nginx, authority, dir))
}

#[test]
fn an_authority_can_be_trusted() {
    let Some((nginx, authority, _dir)) = secure("an_authority_can_be_trusted", "") else { return };
    let ran = measure(&format!("{} -c 2 -n 40 --cacert {}", nginx.secure("/"), authority.pem))
        .assert_all_good();
    assert_eq!(ran.number("/phases_seconds/tls/count"), 2);
    assert_eq!(distinct(&nginx.log(), |l| l.connection()).len(), 2);
    assert_eq!(distinct(&nginx.log(), |l| l.sni()), ["localhost"].into());
}

#[test]
fn an_unknown_authority_is_not_trusted() {
    let Some((nginx, _authority, _dir)) = secure("an_unknown_authority_is_not_trusted", "") else {
        return;
    };
    let ran = measure(&format!("{} -c 2 -d 500ms", nginx.secure("/"))).assert_code(3);
    ran.assert_text(&["Nothing could be measured: TLS handshake failed", "UnknownIssuer"]);
    assert_eq!(ran.count("completed"), 0);
    measure(&format!("{} -c 2 -n 20 --insecure", nginx.secure("/"))).assert_all_good();
}

#[test]
fn a_self_signed_certificate_can_be_trusted_by_itself() {
    let test = "a_self_signed_certificate_can_be_trusted_by_itself";
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let dir = TempDir::new().expect("a directory");
        let certificate = self_signed(dir.path(), "localhost", is_ca);
        let directives = format!(
            "ssl_certificate {}; ssl_certificate_key {};",
            certificate.cert, certificate.key
        );
        let Some(nginx) = nginx_at(test, "listen 127.0.0.1:PORT ssl;", &directives) else { return };
        let refused = measure(&format!("{} -c 1 -n 2", nginx.secure("/"))).assert_code(3);
        refused.assert_text(&["TLS", "--cacert FILE", "--insecure"]);
        measure(&format!("{} -c 2 -n 20 --cacert {}", nginx.secure("/"), certificate.cert))
            .assert_all_good();
        let other = format!(
            "https://other.test:{p}/ -c 1 -n 2 --resolve other.test:{p}:127.0.0.1 --cacert {}",
            certificate.cert,
            p = nginx.port
        );
        measure(&other).assert_code(3).assert_text(&["not valid for name"]);
    }
}

#[test]
fn a_name_that_the_certificate_lacks_is_refused() {
    let Some((nginx, authority, _dir)) = secure("a_name_that_the_certificate_lacks_is_refused", "")
    else {
        return;
    };
    let line = format!(
        "https://other.test:{p}/ -c 1 --resolve other.test:{p}:127.0.0.1 --cacert {}",
        authority.pem,
        p = nginx.port
    );
    measure(&format!("{line} -d 500ms"))
        .assert_code(3)
        .assert_text(&["TLS", "certificate not valid for name \"other.test\""]);
    measure(&format!("{line} -n 10 --sni localhost")).assert_all_good();
    let log = nginx.log();
    assert_eq!(distinct(&log, |l| l.sni()), ["localhost"].into());
    assert_eq!(distinct(&log, |l| l.host()), ["other.test"].into());
}

#[test]
fn brunt_shows_its_own_certificate() {
    let verify = "ssl_client_certificate CA; ssl_verify_client on;";
    let Some((nginx, authority, _dir)) = secure("brunt_shows_its_own_certificate", verify) else {
        return;
    };
    let certificate = authority.certify("anna");
    let line = format!("{} -c 2 -n 20 --cacert {}", nginx.secure("/"), authority.pem);
    measure(&format!("{line} --cert {} --key {}", certificate.cert, certificate.key))
        .assert_all_good();
    assert_eq!(distinct(&nginx.log(), |l| l.subject()), ["CN=anna"].into());
    // nginx answers 400 to clients without a certificate.
    let without = measure(&line).assert_code(4);
    assert_eq!((without.status(400), without.count("good")), (20, 0));
}

#[test]
fn each_user_has_a_separate_client_certificate() {
    let verify = "ssl_client_certificate CA; ssl_verify_client on;";
    let Some((nginx, authority, _dir)) =
        secure("each_user_has_a_separate_client_certificate", verify)
    else {
        return;
    };
    let folder = TempDir::new().expect("a directory");
    for name in ["anna", "bert", "cleo"] {
        let certificate = authority.certify(name);
        let both = [&certificate.cert, &certificate.key]
            .map(|file| std::fs::read_to_string(file).expect("PEM"))
            .concat();
        std::fs::write(folder.path().join(format!("{name}.pem")), both).expect("a file");
    }
    let line = format!(
        "{} --cacert {} --cert {}",
        nginx.secure("/"),
        authority.pem,
        folder.path().display()
    );
    measure(&format!("{line} -c 6 -n 60 --threads 1 --no-keepalive")).assert_all_good();
    let log = nginx.log();
    assert_eq!(distinct(&log, |l| l.subject()), ["CN=anna", "CN=bert", "CN=cleo"].into());
    assert!(log.iter().any(LogLine::resumed), "a session is resumed by whom it was made for");
    assert_refused(
        &format!("{line} --key {}/anna.pem -n 1", folder.path().display()),
        "is a folder",
    );
    let empty = TempDir::new().expect("a directory");
    assert_refused(
        &format!("{} -n 1 --cert {}", nginx.secure("/"), empty.path().display()),
        "no file in it ends with .pem",
    );
}

fn assert_refused(line: &str, why: &str) {
    let output = command(line).output().expect("brunt");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && errors.contains(why), "{errors}");
}

#[test]
fn sessions_are_resumed_by_default() {
    let Some((nginx, authority, _dir)) = secure("sessions_are_resumed_by_default", "") else {
        return;
    };
    let line =
        format!("{} -c 1 -n 20 --no-keepalive --cacert {}", nginx.secure("/"), authority.pem);
    measure(&line).assert_all_good();
    let resumed = nginx.log().iter().filter(|l| l.resumed()).count();
    assert!(resumed >= 15, "{resumed} of 20");
    measure(&format!("{line} --no-tls-resumption")).assert_all_good();
    let log = nginx.log();
    assert_eq!(log.len(), 40);
    assert!(log[20..].iter().all(|l| !l.resumed()));
}

#[test]
fn secrets_are_logged_to_sslkeylogfile() {
    let dir = TempDir::new().expect("a directory");
    let keys = dir.path().join("keys");
    let lab = lab("--tls");
    for version in ["1.1", "2"] {
        let line = format!("run {} -k --http {version} -c 2 -n 10 -o text", lab.url_of("/"));
        let ran = run_with_key_log(&line, &keys);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let key_log = std::fs::read_to_string(&keys).expect("a file");
        assert_eq!(
            key_log.lines().filter(|line| line.starts_with("CLIENT_TRAFFIC_SECRET_0 ")).count(),
            2,
            "{key_log}"
        );
        std::fs::remove_file(&keys).expect("a file");
        let refused = run_with_key_log(&line, &dir.path().join("none/keys"));
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && errors.contains("SSLKEYLOGFILE"), "{errors}");
    }
}

fn run_with_key_log(line: &str, file: &std::path::Path) -> std::process::Output {
    command(line).env("SSLKEYLOGFILE", file).output().expect("brunt")
}

#[test]
fn tls_1_2_is_supported() {
    let Some((nginx, authority, _dir)) = secure("tls_1_2_is_supported", "ssl_protocols TLSv1.2;")
    else {
        return;
    };
    measure(&format!("{} -c 2 -n 20 --cacert {}", nginx.secure("/long"), authority.pem))
        .assert_all_good();
}

#[test]
fn the_lab_speaks_tls() {
    let dir = TempDir::new().expect("a directory");
    let pem = dir.path().join("lab.pem");
    let lab = lab(&format!("--tls --tls-cert-out {} --body 100k", pem.display()));
    let ran = measure(&format!("{} -c 2 -n 50 --cacert {}", lab.url_of("/"), pem.display()))
        .assert_all_good();
    assert!(ran.number("/bytes/received") > 50 * 100_000);
    let open = measure(&format!(
        "{} -r 100 -d 1s --no-keepalive --cacert {}",
        lab.url_of("/"),
        pem.display()
    ))
    .assert_all_good();
    assert_eq!(open.number("/phases_seconds/tls/count"), open.connections("opened"));
}

#[test]
fn a_scheme_mismatch_is_reported() {
    let plain = lab("");
    let secure = lab("--tls");
    let tls =
        measure(&format!("https://127.0.0.1:{}/ -k -c 1 -d 500ms", plain.port())).assert_code(3);
    tls.assert_text(&["Nothing could be measured: TLS", "does not speak TLS", "http://"]);
    let http =
        measure(&format!("http://127.0.0.1:{}/ -c 1 -d 500ms", secure.port())).assert_code(3);
    assert_eq!(
        http.failed("protocol") + http.failed("closed_early") + http.failed("reset"),
        http.count("begun")
    );
}

#[test]
fn files_that_are_no_certificates_are_refused() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("none.pem");
    std::fs::write(&file, "nothing").expect("a file");
    for option in ["--cacert", "--cert", "--key"] {
        let output = command(&format!("https://127.0.0.1:1/ {option} {}", file.display()))
            .output()
            .expect("brunt");
        assert_eq!(output.status.code(), Some(2), "{option}");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains("the file contains no "), "{errors}");
    }
}

/// Starts `openssl s_server` with these options. Returns it with its URL.
fn openssl(test: &str, options: &[&str]) -> Option<(ServerProcess, String, TempDir)> {
    let Some(path) = program("openssl") else {
        skip(&format!("tls::{test}"), "no openssl here");
        return None;
    };
    let dir = TempDir::new().expect("a directory");
    let port = port::free();
    let certificate = Authority::new(dir.path()).certify("localhost");
    let mut command = Command::new(path);
    let listen = format!("127.0.0.1:{port}");
    command.args([
        "s_server",
        "-www",
        "-quiet",
        "-accept",
        &listen,
        "-cert",
        &certificate.cert,
        "-key",
        &certificate.key,
    ]);
    command.args(options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server = ServerProcess::start(&mut command);
    wait_until("the server listens", || TcpStream::connect(&listen).is_ok());
    Some((server, format!("https://localhost:{port}/"), dir))
}

#[test]
fn a_server_with_one_classical_group_needs_no_further_round_trip() {
    let test = "a_server_with_one_classical_group_needs_no_further_round_trip";
    let Some((_server, url, _dir)) = openssl(test, &["-groups", "X25519"]) else { return };
    let line = format!("{url} -k -c 1 -n 5 --no-keepalive --no-tls-resumption");
    assert_eq!(measure(&line).assert_all_good().connections("hello_retries"), 0);
    assert!(stdout_of(&format!("check {url} -k")).contains(", X25519, ALPN"));
    assert!(
        stdout_of(&format!("check {url} -k --tls-groups secp256r1,X25519"))
            .contains("X25519 after a HelloRetryRequest")
    );
    let ran = measure(&format!("{line} --tls-groups secp256r1,X25519")).assert_all_good();
    assert_eq!(ran.connections("hello_retries"), ran.connections("opened"));
    ran.assert_text(&["TLS handshakes with a further round trip (HelloRetryRequest)"]);
    measure(&format!("{line} --tls-groups secp256r1"))
        .assert_code(3)
        .assert_text(&["TLS handshake failed"]);
    let unknown = measure(&format!("{line} --tls-groups P-256")).assert_code(2);
    assert!(
        unknown.err.contains("`P-256` is not a known key exchange group; write some of"),
        "{}",
        unknown.err
    );
}

#[test]
fn a_required_client_certificate_is_reported_with_a_correction() {
    let test = "a_required_client_certificate_is_reported_with_a_correction";
    let Some((_server, url, _dir)) = openssl(test, &["-tls1_3", "-Verify", "1"]) else { return };
    let ran = measure(&format!("{url} -k -c 1 -n 5"));
    assert_eq!(ran.count("completed"), 0, "{}", ran.out);
    ran.assert_text(&["the server requires a client certificate", "--cert FILE --key FILE"]);
}
