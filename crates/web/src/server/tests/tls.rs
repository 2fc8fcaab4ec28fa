//! A studio with TLS, and the client of a team.

use super::world::{export_to, local_store, store_run, system};
use crate::client::{TeamError, TeamServer};
use crate::leases::LeaseRequest;
use crate::program::StudioProgram;
use crate::server::{Studio, StudioAddress};
use crate::tls::TlsFiles;
use crate::tokens::NewToken;
use crate::visitor::Permission;
use brunt_store::archive::ArchiveLimits;
use brunt_store::{Store, StoredItem};
use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A studio that answers until the process of the tests ends.
struct TlsStudio {
    directory: TempDir,
    address: String,
    certificate: PathBuf,
    reader: String,
    runner: String,
}

impl TlsStudio {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = certificate.self_signed(&key).unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("cert.pem"), certificate.pem()).unwrap();
        fs::write(path("key.pem"), key.serialize_pem()).unwrap();
        let reader = NewToken::draw("ann", Permission::Read).unwrap();
        let runner = NewToken::draw("ci", Permission::Run).unwrap();
        let lines = format!("{}\n{}\n", reader.line, runner.line);
        brunt_store::write_private(&path("tokens"), lines.as_bytes()).unwrap();
        Store::open(&path("store")).unwrap();
        let address = StudioAddress {
            listen: "127.0.0.1:0".parse().unwrap(),
            hosts: vec!["localhost".into()],
            tls: Some(TlsFiles { certificate: path("cert.pem"), key: path("key.pem") }),
            tokens: Some(path("tokens")),
        };
        let program = StudioProgram {
            command: String::new(),
            program: PathBuf::new(),
            system: system(),
            warn: |_| (),
        };
        let studio = Studio::bind(path("store"), address, program).ok().unwrap();
        let link = studio.new_link().unwrap();
        let address = link.split("/open/").next().unwrap().to_owned();
        assert!(address.starts_with("https://localhost:"), "{address}");
        thread::spawn(move || studio.serve(None));
        let certificate = path("cert.pem");
        Self { directory, address, certificate, reader: reader.secret, runner: runner.secret }
    }

    fn client(&self, token: &str) -> TeamServer {
        TeamServer::new(&self.address, token, Some(&self.certificate)).ok().unwrap()
    }
}

#[test]
fn runs_and_leases_travel_over_tls() {
    let studio = TlsStudio::start();
    let (mine, store) = local_store();
    let id = store_run(&store, "/");
    let archive = mine.path().join("run.brunt");
    export_to(&store, &id, &archive);
    let runner = studio.client(&studio.runner);
    let pushed = runner.push(&archive).unwrap();
    assert_eq!((pushed.id.as_str(), pushed.is_new), (id.as_str(), true));
    assert!(!runner.push(&archive).unwrap().is_new);
    let team = Store::open(&studio.directory.path().join("store")).unwrap();
    assert_eq!(team.entry(&id).unwrap().note.as_deref(), Some("pushed by ci"));

    let reader = studio.client(&studio.reader);
    let (other, elsewhere) = local_store();
    let file = other.path().join("pulled.brunt");
    reader.pull("last", &file, 1 << 20).unwrap();
    let received = elsewhere.receive(&file, &ArchiveLimits::default()).unwrap();
    assert_eq!(received.item, StoredItem::Run(id));
    assert!(matches!(reader.pull("last", &file, 10), Err(TeamError::Unreachable { .. })), "limit");
    assert!(reader.pull("../../tokens", &file, 1 << 20).unwrap_err().is_unknown());
    match reader.push(&archive) {
        Err(TeamError::Refused { status: 403, text, .. }) => {
            assert!(text.contains("`run` is needed here"), "{text}");
        }
        other => panic!("{other:?}"),
    }

    let request = LeaseRequest {
        targets: vec!["http://shop/".into()],
        purpose: "nightly".into(),
        seconds: None,
    };
    let lease = runner.take_lease(&request).unwrap();
    let taken = runner.take_lease(&request).unwrap_err();
    assert!(
        taken.is_conflict() && taken.to_string().contains("shop:80 is leased by ci"),
        "{taken}"
    );
    runner.renew_lease(&lease.key).unwrap();
    runner.release_lease(&lease.key).unwrap();
    assert!(runner.renew_lease(&lease.key).unwrap_err().is_unknown());
}

#[test]
fn an_unknown_certificate_gets_no_token_and_a_plain_connection_no_reply() {
    let studio = TlsStudio::start();
    let stranger = TlsStudio::start();
    let client = TeamServer::new(&studio.address, &studio.runner, Some(&stranger.certificate));
    let request =
        LeaseRequest { targets: vec!["a:1".into()], purpose: String::new(), seconds: None };
    let refused = client.ok().unwrap().take_lease(&request);
    assert!(matches!(refused, Err(TeamError::Unreachable { .. })), "{refused:?}");
    let address = studio.address.trim_start_matches("https://localhost:");
    let port: u16 = address.parse().unwrap();
    for bytes in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &b"\x16\x03\x01\xff\xff"[..]] {
        let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
        connection.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        connection.write_all(bytes).unwrap();
        connection.shutdown(Shutdown::Write).unwrap();
        let mut reply = Vec::new();
        let _ = connection.read_to_end(&mut reply);
        assert!(!reply.starts_with(b"HTTP"), "{reply:?}");
    }
    assert!(studio.client(&studio.runner).take_lease(&request).is_ok());
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let studio = TlsStudio::start();
    let tokens = studio.directory.path().join("tokens");
    for (certificate, key, option) in [
        (&tokens, &studio.certificate, "--cert"),
        (&studio.certificate, &tokens, "--key"),
        (&studio.certificate, &studio.directory.path().join("absent"), "--key"),
    ] {
        let files = TlsFiles { certificate: certificate.clone(), key: key.clone() };
        let error = files.acceptor().err().unwrap().to_string();
        assert!(error.starts_with(option) && error.contains("write PEM files"), "{error}");
    }
}
