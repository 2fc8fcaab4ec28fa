//! Starts a lab or caddy server for one run, on a loopback port, and ends it after the run.

use anyhow::{Context, Result, bail};
use brunt_bench::child::{InterruptFlag, OwnedProcess};
use brunt_bench::lab::BenchLab;
use brunt_bench::tools;
use rustix::event::Timespec;
use rustix::process::Signal;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Kind of server for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// brunt-lab with these options.
    Lab(&'static str),
    /// caddy, which serves ten bytes over each version of HTTP.
    Caddy,
}

/// A server that is listening.
pub enum Running {
    Lab(BenchLab),
    Caddy(Caddy),
}

impl Running {
    pub fn start(
        server: ServerKind,
        lab: &Path,
        scratch: &Path,
        at_most: Duration,
        interrupt: &InterruptFlag,
    ) -> Result<Self> {
        Ok(match server {
            ServerKind::Lab(words) => {
                let words: Vec<&str> = words.split_whitespace().collect();
                // The lab ends itself after this time, even if this process is killed.
                Self::Lab(BenchLab::start(
                    lab,
                    &words,
                    &scratch.join("lab.json"),
                    at_most.as_secs() + 10,
                )?)
            }
            ServerKind::Caddy => Self::Caddy(Caddy::start(scratch, interrupt)?),
        })
    }

    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Lab(lab) => lab.address,
            Self::Caddy(caddy) => caddy.address,
        }
    }

    /// Ends the server. Returns the number of requests if the server counts them.
    pub fn requests(self) -> Result<Option<u64>> {
        match self {
            Self::Lab(lab) => lab.request_count().map(Some),
            Self::Caddy(_) => Ok(None),
        }
    }
}

/// caddy with a separate configuration and directory.
pub struct Caddy {
    address: SocketAddr,
    process: OwnedProcess,
}

impl Caddy {
    fn start(scratch: &Path, interrupt: &InterruptFlag) -> Result<Self> {
        let program = tools::in_path("caddy").context("caddy is not installed")?;
        // The listener is dropped at once, so its port is free again.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let certificate = rcgen::generate_simple_self_signed([Ipv4Addr::LOCALHOST.to_string()])?;
        fs::write(scratch.join("cert.pem"), certificate.cert.pem())?;
        fs::write(scratch.join("key.pem"), certificate.signing_key.serialize_pem())?;
        fs::write(scratch.join("Caddyfile"), config(scratch, address))?;
        let mut command = Command::new(program);
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(scratch.join("Caddyfile"));
        // caddy must not read or change the configuration of the user.
        command.envs(["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"].map(|name| (name, scratch)));
        command.stdout(Stdio::null()).stderr(fs::File::create(scratch.join("caddy.log"))?);
        let caddy = Self { address, process: OwnedProcess::spawn(&mut command)? };
        for _ in 0..200 {
            interrupt.check()?;
            // It listens on UDP before it listens on TCP.
            if TcpStream::connect(address).is_ok() {
                return Ok(caddy);
            }
            if caddy.process.ended_within(&Timespec { tv_sec: 0, tv_nsec: 50_000_000 })? {
                break;
            }
        }
        bail!(
            "caddy does not answer:\n{}",
            fs::read_to_string(scratch.join("caddy.log")).unwrap_or_default()
        )
    }
}

impl Drop for Caddy {
    fn drop(&mut self) {
        self.process.signal(Signal::TERM);
        // If it does not end by itself, dropping `process` kills it.
        let _ = self.process.ended_within(&Timespec { tv_sec: 2, tv_nsec: 0 });
    }
}

fn config(folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    format!(
        "{{\nadmin off\nauto_https off\nskip_install_trust\n}}\nhttps://{address} {{\nbind {}\n\
         tls {folder}/cert.pem {folder}/key.pem\nrespond \"0123456789\"\n}}\n",
        address.ip()
    )
}
