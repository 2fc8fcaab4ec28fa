//! Reads a machine over `ssh`: this one, through an sshd of the test.

use super::ProbeObserver;
use crate::world::server::{ServerProcess, children};
use crate::world::skip::{program, skip};
use crate::world::{nginx, port as ports, wait_until};
use brunt_model::Probed;
use brunt_model::probe_spec::{ProbeAccess, Select};
use brunt_model::reading_names::{self as name, server};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// An sshd on loopback with its own keys.
struct Sshd {
    server: ServerProcess,
    port: u16,
    dir: TempDir,
}

impl Sshd {
    /// Starts an sshd. Skips the test and returns None if that is not possible.
    fn start(test: &str) -> Option<Self> {
        let (Some(sshd), Some(keygen), Some(_)) =
            (program("sshd"), program("ssh-keygen"), program("ssh"))
        else {
            skip(test, "no OpenSSH server and client here");
            return None;
        };
        let dir = TempDir::new().expect("a directory");
        let port = ports::free();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700))
            .expect("a directory of ours");
        for key in ["host", "user"] {
            let result = Command::new(&keygen)
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(dir.path().join(key))
                .status();
            assert!(result.is_ok_and(|status| status.success()), "ssh-keygen makes a key");
        }
        fs::write(dir.path().join("conf"), config(dir.path(), port)).expect("a configuration");
        // sshd uses this directory for privilege separation. It is missing after each boot, and
        // only root can create it.
        let _ = fs::create_dir("/run/sshd");
        let mut command = Command::new(sshd);
        command.arg("-f").arg(dir.path().join("conf")).args(["-D", "-e"]);
        let log = fs::File::create(dir.path().join("log")).expect("a log");
        let mut server = ServerProcess::start(command.stdin(Stdio::null()).stderr(log));
        wait_until("sshd, or its end", || {
            ports::has_listener(port) || server.exit_status().is_some()
        });
        if server.exit_status().is_some() {
            let why = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
            skip(
                test,
                &format!(
                    "sshd does not start: {}",
                    why.lines().last().unwrap_or("it says nothing")
                ),
            );
            return None;
        }
        Some(Self { server, port, dir })
    }

    fn via(&self) -> ProbeAccess {
        let key = self.dir.path().join("user").display().to_string();
        let port = self.port.to_string();
        let known_hosts = format!("UserKnownHostsFile={}/known", self.dir.path().display());
        let options = [
            "-F",
            "none",
            "-p",
            &port,
            "-i",
            &key,
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            &known_hosts,
        ];
        ProbeAccess::Ssh { host: "127.0.0.1".into(), options: options.map(str::to_owned).to_vec() }
    }
}

impl Sshd {
    /// Stops sshd and its child processes: each login has a process in a separate session.
    fn end(&mut self) {
        let children = children(self.server.child.id() as i32);
        self.server.stop();
        for child in children {
            let _ = kill_process(child, Signal::TERM);
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if self.server.exit_status().is_none() {
            self.end();
        }
    }
}

fn config(dir: &Path, port: u16) -> String {
    // `UsePAM no` and `StrictModes no`: the user of the test may have no password, and its
    // directory may be in /tmp.
    format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey DIR/host\nAuthorizedKeysFile DIR/user.pub\nPidFile DIR/pid\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
    )
    .replace("DIR", &dir.display().to_string())
}

#[test]
fn a_machine_over_ssh_has_the_readings_of_this_one() {
    let test = "probes::ssh::a_machine_over_ssh_has_the_readings_of_this_one";
    let Some(mut sshd) = Sshd::start(test) else { return };
    let Some(nginx) = nginx(test, "") else { return };
    let select = || Select::Port(nginx.port);
    let mut watched = ProbeObserver::start(&[
        ("far", Probed::Host { via: sshd.via() }),
        ("near", Probed::Host { via: ProbeAccess::Local }),
        ("far", Probed::Processes { select: select(), via: sshd.via() }),
        ("near", Probed::Processes { select: select(), via: ProbeAccess::Local }),
    ]);
    watched.wait_until("readings of both", |w| {
        w.readings_of("process:far").len() >= 3 && w.readings_of("process:near").len() >= 3
            || w.warnings().iter().any(|t| t.contains("ssh"))
    });
    if watched.warnings().iter().any(|t| t.contains("Permission denied")) {
        return skip(test, &format!("sshd lets nobody in: {:?}", watched.warnings()));
    }
    assert_eq!(watched.warnings(), Vec::<&str>::new());
    // Values over the time between two readings are missing if that time was too short.
    let names = |source: &str| {
        last_reading(&watched, source)
            .into_keys()
            .filter(|name| name != name::BUSIEST_SOFTIRQ)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("host:far"), names("host:near"), "the same files, the same parsers");
    let far = last_reading(&watched, "process:far");
    let near = last_reading(&watched, "process:near");
    for same in [server::PROCESSES, server::THREADS, name::DESCRIPTORS, server::ACCEPT_QUEUE_LIMIT]
    {
        assert_eq!(far.get(same), near.get(same), "{same}: {far:?} {near:?}");
    }
    for key in
        [name::CPU_USER, name::RESIDENT, server::SWITCHES_VOLUNTARY, server::DESCRIPTORS_SHARE]
    {
        assert!(far.contains_key(key), "{key}: {far:?}");
    }
    // The remote end stops: one warning for each of its probes.
    sshd.end();
    watched.wait_until("a warning", |w| {
        w.warnings().iter().filter(|t| t.contains("ssh 127.0.0.1")).count() == 2
    });
}

fn last_reading(watched: &ProbeObserver, source: &str) -> std::collections::BTreeMap<String, f64> {
    watched.readings_of(source).pop().unwrap_or_default()
}

#[test]
fn an_unreachable_machine_is_reported_with_the_message_of_ssh() {
    let test = "an_unreachable_machine_is_reported_with_the_message_of_ssh";
    if program("ssh").is_none() {
        return skip(test, "no OpenSSH client here");
    }
    let options = ["-F", "none", "-p", &ports::free().to_string()].map(str::to_owned).to_vec();
    let via = ProbeAccess::Ssh { host: "127.0.0.1".into(), options };
    let mut watched = ProbeObserver::start(&[
        ("gone", Probed::Host { via }),
        ("here", Probed::Host { via: ProbeAccess::Local }),
    ]);
    watched.wait_until("a warning", |w| {
        !w.warnings().is_empty() && w.readings_of("host:here").len() >= 10
    });
    let warnings = watched.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("probe host:gone: ssh 127.0.0.1: ")
            && warnings[0].contains("Connection refused"),
        "{warnings:?}"
    );
}
