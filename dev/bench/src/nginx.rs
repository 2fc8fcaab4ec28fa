//! The server of the suite: an nginx with one process, on free loopback ports,
//! in a temporary directory.
//!
//! Its settings minimize its share of the work: no log, cached open files, one cipher, keep-alive
//! connections without a limit. It is no model of a real server, but it is the same for every tool,
//! which is sufficient for a ratio.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use rustix::event::Timespec;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::cases::{FilePage, PAGES};
use crate::child::{InterruptFlag, OwnedProcess};
use crate::status::Status;
use crate::tools;

const HALF_A_SECOND: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

#[derive(Debug)]
pub struct BenchNginx {
    pub address: SocketAddr,
    pub tls_address: SocketAddr,
    pub status: Status,
    process: OwnedProcess,
    // Declared after the process, and therefore dropped after it.
    folder: TempDir,
}

impl BenchNginx {
    pub fn start(interrupt: &InterruptFlag) -> Result<Self> {
        let program = tools::in_path("nginx").context("nginx is not installed")?;
        let folder = tempfile::Builder::new().prefix("brunt-bench-").tempdir()?;
        let [address, tls_address] = free_addresses()?;
        write_files(folder.path(), address, tls_address)?;
        let mut command = Command::new(program);
        command.arg("-p").arg(folder.path()).arg("-e").arg(folder.path().join("error.log"));
        command
            .arg("-c")
            .arg(folder.path().join("nginx.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = OwnedProcess::spawn(&mut command)?;
        let server = Self { address, tls_address, status: Status::new(address), process, folder };
        server.wait_until_it_answers(interrupt)?;
        // A page of another size would falsify all figures of its cases.
        PAGES.iter().try_for_each(|page| server.status.expect_page(page.path, page.bytes))?;
        Ok(server)
    }

    pub fn url(&self, page: FilePage) -> String {
        format!("http://{}{}", self.address, page.path)
    }

    pub fn tls_url(&self, page: FilePage) -> String {
        format!("https://{}{}", self.tls_address, page.path)
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    fn wait_until_it_answers(&self, interrupt: &InterruptFlag) -> Result<()> {
        for _ in 0..100 {
            interrupt.check()?;
            if self.status.read().is_ok() {
                return Ok(());
            }
            if self.process.ended_within(&Timespec { tv_sec: 0, tv_nsec: 50_000_000 })? {
                break;
            }
        }
        let log = fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default();
        bail!("the nginx of the benchmark does not reply:\n{log}")
    }
}

impl Drop for BenchNginx {
    fn drop(&mut self) {
        self.process.signal(Signal::TERM);
        // If it does not end by itself, dropping `process` kills it.
        let _ = self.process.ended_within(&HALF_A_SECOND);
    }
}

/// Returns two free ports. Both are bound at the same time, so that they differ.
fn free_addresses() -> Result<[SocketAddr; 2]> {
    let listeners = [
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
    ];
    Ok([listeners[0].local_addr()?, listeners[1].local_addr()?])
}

fn write_files(folder: &Path, address: SocketAddr, tls_address: SocketAddr) -> Result<()> {
    let pages = folder.join("pages");
    fs::create_dir(&pages)?;
    for page in PAGES {
        fs::write(pages.join(page.path.trim_start_matches('/')), vec![b'x'; page.bytes])?;
    }
    let certificate = rcgen::generate_simple_self_signed([
        Ipv4Addr::LOCALHOST.to_string(),
        "localhost".to_owned(),
    ])?;
    fs::write(folder.join("cert.pem"), certificate.cert.pem())?;
    fs::write(folder.join("key.pem"), certificate.signing_key.serialize_pem())?;
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path {name};\n"))
        .concat();
    let config = include_str!("nginx.conf")
        .replace("{TEMPORARY}\n", &temporary)
        .replace("{FOLDER}", &folder.display().to_string())
        .replace("{ADDRESS}", &address.to_string())
        .replace("{TLS_ADDRESS}", &tls_address.to_string());
    Ok(fs::write(folder.join("nginx.conf"), config)?)
}
