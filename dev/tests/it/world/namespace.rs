//! Creates a network namespace with a loopback of limited speed and no other interface.

use super::skip::{program, skip};
use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// A network namespace. It is deleted when this value is dropped.
pub struct Namespace {
    ip: String,
    name: String,
}

/// Creates a namespace whose loopback has this rate (in the notation of tc: `100mbit`) and the MTU
/// of Ethernet. Skips the test and returns None without the rights for it.
pub fn shaped(test: &str, rate: &str) -> Option<Namespace> {
    let (Some(ip), Some(_)) = (program("ip"), program("tc")) else {
        skip(test, "no ip and tc here");
        return None;
    };
    let namespace = Namespace { name: format!("brunt-it-{}", std::process::id()), ip };
    let is_created = succeeds(Command::new(&namespace.ip).args(["netns", "add", &namespace.name]));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let shaped = [
        "ip link set lo mtu 1500 up".into(),
        format!("tc qdisc add dev lo root tbf rate {rate} burst 32kb latency 100ms"),
    ]
    .iter()
    .all(|line| {
        is_created
            && succeeds(
                Command::new(&namespace.ip)
                    .args(["netns", "exec", &namespace.name])
                    .args(words(line)),
            )
    });
    if !shaped {
        skip(test, "no network namespace with a shaped loopback may be made here");
        return None;
    }
    Some(namespace)
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Namespace {
    /// Command that runs a program in the namespace.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(&self.ip);
        command.args(["netns", "exec", &self.name]).arg(program);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // If it could not be made, there is none to delete.
        let _ = succeeds(Command::new(&self.ip).args(["netns", "del", &self.name]));
    }
}
