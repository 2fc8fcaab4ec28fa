//! Starts `brunt-lab`, the server whose true response times are computed.

use super::brunt::program;
use super::namespace::Namespace;
use super::server::ServerProcess;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A listening lab. It ends when this value is dropped or the process of the test ends.
pub struct Lab {
    pub server: ServerProcess,
    pub url: String,
    pub dir: TempDir,
}

/// Starts a lab with the options of a line.
pub fn lab(line: &str) -> Lab {
    lab_by(Command::new(program("BRUNT_LAB_BIN", "brunt-lab")), line)
}

/// Starts a lab with real-time priority, if permitted, so that it sends replies when they are due.
pub fn prompt_lab(line: &str) -> Lab {
    let lab = program("BRUNT_LAB_BIN", "brunt-lab");
    let permitted =
        Command::new("chrt").args(["-f", "10", "true"]).output().is_ok_and(|o| o.status.success());
    if !permitted {
        return lab_by(Command::new(lab), line);
    }
    let mut command = Command::new("chrt");
    command.args(["-f", "10"]).arg(lab);
    lab_by(command, line)
}

/// Starts a lab in a network namespace.
pub fn lab_in(namespace: &Namespace, line: &str) -> Lab {
    lab_by(namespace.command(program("BRUNT_LAB_BIN", "brunt-lab")), line)
}

/// Starts a lab with another program, such as `chrt`.
pub fn lab_by(mut command: Command, line: &str) -> Lab {
    let dir = TempDir::new().expect("a directory");
    command
        .args(["--until-stdin-closes", "--stats"])
        .arg(dir.path().join("stats"))
        .args(line.split_whitespace());
    let mut server = ServerProcess::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let mut line_of_lab = String::new();
    let out = server.child.stdout.take().expect("its output");
    BufReader::new(out).read_line(&mut line_of_lab).expect("its address");
    let url = line_of_lab
        .trim()
        .strip_prefix("listening on ")
        .unwrap_or_else(|| panic!("the lab said {line_of_lab:?}"))
        .to_owned();
    Lab { server, url, dir }
}

/// Names that `--hostile list` prints and that begin with a prefix.
pub fn hostile_rows(prefix: &str) -> Vec<String> {
    let lab = program("BRUNT_LAB_BIN", "brunt-lab");
    let list = Command::new(lab).args(["--hostile", "list"]).output().expect("the lab");
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
}

impl Lab {
    /// URL of a path that begins with `/`.
    pub fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub fn port(&self) -> u16 {
        self.url.rsplit(':').next().and_then(|p| p.parse().ok()).expect("a port")
    }

    /// Stops the lab and returns its statistics.
    pub fn into_statistics(mut self) -> Value {
        self.server.stop();
        let stats =
            fs::read_to_string(self.dir.path().join("stats")).expect("the lab's statistics");
        serde_json::from_str(&stats).expect("JSON")
    }
}
