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

/// Ways in which openssl writes a key with the password `open sesame`, or certificate and key.
const ENCRYPTED_FILES: [(&str, &str); 9] = [
    ("aes.pem", "pkcs8 -topk8 -in KEY -out OUT -passout pass:P"),
    ("aes.der", "pkcs8 -topk8 -in KEY -out OUT -passout pass:P -outform DER"),
    (
        "sha1.pem",
        "pkcs8 -topk8 -in KEY -out OUT -passout pass:P -v2 aes-128-cbc -v2prf hmacWithSHA1",
    ),
    ("des3.pem", "pkcs8 -topk8 -in KEY -out OUT -passout pass:P -v2 des3"),
    ("scrypt.pem", "pkcs8 -topk8 -in KEY -out OUT -passout pass:P -scrypt"),
    ("today.p12", "pkcs12 -export -in CERT -inkey KEY -certfile CA -out OUT -passout pass:P"),
    (
        "des3.pfx",
        "pkcs12 -export -in CERT -inkey KEY -out OUT -passout pass:P -keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1",
    ),
    ("old.p12", "pkcs12 -export -in CERT -inkey KEY -out OUT -passout pass:P -legacy"),
    ("open.p12", "pkcs12 -export -in CERT -inkey KEY -out OUT -passout pass: -nomac"),
];

#[test]
fn encrypted_keys_are_opened_by_their_password() {
    let test = "encrypted_keys_are_opened_by_their_password";
    let verify = "ssl_client_certificate CA; ssl_verify_client on;";
    let Some((nginx, authority, dir)) = secure(test, verify) else { return };
    let Some(openssl) = program("openssl") else {
        return skip(&format!("tls::{test}"), "no openssl here");
    };
    let certificate = authority.certify("anna");
    let password = dir.path().join("password");
    std::fs::write(&password, "open sesame\n").expect("a file");
    let start = format!("{} -n 2 --cacert {}", nginx.secure("/"), authority.pem);
    for (name, arguments) in ENCRYPTED_FILES {
        let file = dir.path().join(name);
        let file = file.to_str().expect("UTF-8");
        let arguments = arguments.split(' ').map(|word| match word {
            "KEY" => certificate.key.clone(),
            "CERT" => certificate.cert.clone(),
            "CA" => authority.pem.clone(),
            "OUT" => file.to_owned(),
            word => word.replace("pass:P", "pass:open sesame"),
        });
        let made = Command::new(&openssl).args(arguments).output().expect("openssl");
        assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
        let is_pkcs12 = !name.ends_with("pem") && !name.ends_with("der");
        let line = if is_pkcs12 {
            format!("{start} --cert {file}")
        } else {
            format!("{start} --cert {} --key {file}", certificate.cert)
        };
        if name == "open.p12" {
            measure(&line).assert_all_good();
            continue;
        }
        measure(&format!("{line} --key-password @{}", password.display())).assert_all_good();
        assert_refused(&line, if is_pkcs12 { "PKCS #12 with a password" } else { "is encrypted" });
        let wrong = format!("{line} --key-password Zq7Canary");
        assert_refused(&wrong, "the password is wrong; write --key-password @FILE");
        let output = command(&wrong).output().expect("brunt");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("Canary"), "{name}");
    }
    assert_eq!(distinct(&nginx.log(), |l| l.subject()), ["CN=anna"].into());
    let plan = dir.path().join("plan.yaml");
    let text = format!(
        "script: {{request: '{}'}}\nload: {{requests: 2}}\nconnection:\n  cacert: {}\n  cert: today.p12\n  key_password: ${{env.KEY_PASSWORD}}\n",
        nginx.secure("/"),
        authority.pem
    );
    std::fs::write(&plan, text).expect("a plan");
    let ran =
        command(&format!("run {}", plan.display())).env("KEY_PASSWORD", "open sesame").output();
    let ran = ran.expect("brunt");
    let shown =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && !shown.contains("open sesame"), "{shown}");
}

#[test]
fn the_keystore_of_jmeter_is_the_client_certificate() {
    let test = "the_keystore_of_jmeter_is_the_client_certificate";
    let verify = "ssl_client_certificate CA; ssl_verify_client on;";
    let Some((nginx, authority, dir)) = secure(test, verify) else { return };
    let Some(openssl) = program("openssl") else {
        return skip(&format!("tls::{test}"), "no openssl here");
    };
    let certificate = authority.certify("anna");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let store = path("store.p12");
    let made = Command::new(openssl)
        .args(["pkcs12", "-export", "-passout", "pass:Zq7Canary", "-out", &store])
        .args(["-in", &certificate.cert, "-inkey", &certificate.key])
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let plan = KEYSTORE_PLAN.replace("PORT", &nginx.port.to_string());
    std::fs::write(path("plan.jmx"), plan).expect("a plan");
    let run = |options: &str| {
        let results = path("results.jtl");
        let _ = std::fs::remove_file(&results);
        let line = format!("jmeter -n -t {} -l {results} -j /dev/null {options}", path("plan.jmx"));
        let output = command(&line).output().expect("brunt");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("Canary"), "{errors}");
        (std::fs::read_to_string(results).unwrap_or_default(), errors)
    };
    let keystore = format!("-Djavax.net.ssl.keyStore={store}");
    let password = "-Djavax.net.ssl.keyStorePassword";
    let (results, errors) = run(&format!("{keystore} {password}=Zq7Canary"));
    assert!(results.contains(",get,200,"), "{results}{errors}");
    let (_, errors) = run(&format!("{keystore} {password}=wrong"));
    assert!(errors.contains("the password is wrong"), "{errors}");
    std::fs::write(path("store.jks"), b"\xfe\xed\xfe\xed\0\0\0\x02").expect("a file");
    let (_, errors) = run(&format!("-Djavax.net.ssl.keyStore={}", path("store.jks")));
    assert!(errors.contains("write keytool -importkeystore"), "{errors}");
}

/// A plan of JMeter with one request over TLS.
const KEYSTORE_PLAN: &str = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="Plan"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp>
<stringProp name="LoopController.loops">1</stringProp></elementProp>
</ThreadGroup><hashTree><HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get">
<stringProp name="HTTPSampler.domain">localhost</stringProp><stringProp name="HTTPSampler.port">PORT</stringProp>
<stringProp name="HTTPSampler.protocol">https</stringProp><stringProp name="HTTPSampler.path">/</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#;

#[test]
fn a_key_in_the_older_way_of_openssl_is_named() {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("anna");
    let old = dir.path().join("old.pem");
    std::fs::write(&old, "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIB\n-----END RSA PRIVATE KEY-----\n").expect("a file");
    let line = format!(
        "https://127.0.0.1:1/ -n 1 --cert {} --key {} --key-password x",
        certificate.cert,
        old.display()
    );
    assert_refused(&line, "which brunt does not read; write openssl pkey -in ");
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
