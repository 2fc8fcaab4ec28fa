//! An OpenSSH server of a test.

use super::port as ports;
use super::server::{ServerProcess, children};
use super::skip::{program, skip};
use super::wait_until;
use brunt_model::probe_spec::ProbeAccess;
use rustix::process::{Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// An sshd on loopback with its own keys.
pub struct Sshd {
    server: ServerProcess,
    port: u16,
    /// Directory of its keys.
    pub dir: TempDir,
}

impl Sshd {
    /// Starts an sshd. Skips the test and returns None if that is not possible.
    pub fn start(test: &str) -> Option<Self> {
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

    /// Returns the access to this machine through it.
    pub fn via(&self) -> ProbeAccess {
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
    pub fn end(&mut self) {
        let children = children(self.server.child.id() as i32);
        self.server.stop();
        for child in children {
            let _ = kill_process(child, Signal::TERM);
        }
    }
}

impl Sshd {
    /// Makes a directory with a program `ssh` that reaches this sshd under each of these names, and
    /// returns it for the start of `PATH`.
    pub fn client(&self, hosts: &[&str]) -> PathBuf {
        let dir = self.dir.path();
        let mut config = String::new();
        for host in hosts {
            let section = format!(
                "Host {host}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {dir}/user\n \
                 StrictHostKeyChecking no\n UserKnownHostsFile {dir}/known\n LogLevel ERROR\n",
                port = self.port,
                dir = dir.display()
            );
            config.push_str(&section);
        }
        fs::write(dir.join("client.conf"), config).expect("a configuration");
        let programs = dir.join("bin");
        let _ = fs::create_dir(&programs);
        let real = program("ssh").expect("an ssh");
        let script = format!("#!/bin/sh\nexec {real} -F {}/client.conf \"$@\"\n", dir.display());
        fs::write(programs.join("ssh"), script).expect("a script");
        fs::set_permissions(programs.join("ssh"), fs::Permissions::from_mode(0o755))
            .expect("a script that can be executed");
        programs
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
