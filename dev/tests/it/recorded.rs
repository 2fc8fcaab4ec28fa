//! Compares the output of brunt with files of `dev/tests/data` that a reviewer reads: errors of
//! wrong inputs (`wrong-inputs.txt`), help (`help-80.txt`), reports of stored runs and experiments
//! (`reports-80.txt`).
//!
//! Each case is a line `$ brunt …` and its output. `BRUNT_WRITE=1` writes the output again.
//! `brunt-report` records the brief report of a run (`text/screens.rs`), `brunt-cli` that of a
//! check (`check/text/tests.rs`).

use crate::world::brunt::program;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Files that the cases name.
const FILES: [(&str, &str); 6] = [
    ("README.md", "# No list of URLs\n"),
    ("run.events", "no event log"),
    ("plan.yaml", "script: {request: 'http://127.0.0.1:1/'}\nload: {rate: 5, duration: 1s}\n"),
    (
        "many.yaml",
        "name: many\nscript: {request: 'http://127.0.0.1:1/', follow: many}\nload:\n  rte: 5\n  duration: soon\n\
         connection: {timeout: 0s}\nobjectives: p99 < 50\nxyzzy: 1\n",
    ),
    ("broken.yaml", "script: [\nload: {rate\n"),
    (
        "peers.yaml",
        "url: http://127.0.0.1:1/\nvus: 5\nthresholds: []\noptions: {}\nload: {concurrency: 5, stages: [], rampTo: 5, time: 1s}\n\
         scenario:\n  steps:\n  - GET: /\n  - get: /\n    body: x\n    sleep: 1s\n    assert: {}\n    capture: {}\n    params: {}\n  - repeat: 5\n",
    ),
];

/// Commands with a help text.
const COMMANDS: [&str; 51] = [
    "",
    "run",
    "check",
    "replay",
    "sweep",
    "find",
    "compare",
    "agent",
    "record",
    "fleet",
    "fleet manifest",
    "fleet rbac",
    "fleet network-policy",
    "fleet image",
    "fleet key",
    "baseline",
    "baseline save",
    "baseline list",
    "baseline check",
    "baseline rm",
    "import",
    "import har",
    "import openapi",
    "plan",
    "plan check",
    "plan show",
    "plan set",
    "plan new",
    "plan schema",
    "runs",
    "runs list",
    "runs show",
    "runs tag",
    "runs untag",
    "runs rm",
    "runs prune",
    "runs export",
    "runs import",
    "runs push",
    "runs pull",
    "studio",
    "studio token",
    "studio openapi",
    "analyse",
    "install-names",
    "report",
    "certify",
    "lab",
    "completions",
    "man",
    "schema",
];

/// Archives of a run and of experiments, measured with `brunt lab`, and written by `brunt runs
/// export`.
const STORED: [&str; 4] = ["run", "sweep", "find", "compare"];

/// Commands that report them.
const REPORTS: [&str; 4] = ["report 7sbgddz -v", "report sweep", "report find", "report compare"];

/// Removes the hashes that replace secrets, because they differ between processes.
fn without_hashes(text: &str) -> String {
    let mut parts = text.split("redacted:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + "redacted:…" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
    })
}

/// Runs a command line. Returns standard error and exit code.
fn answer(folder: &Path, line: &str) -> (String, Option<i32>) {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec \"$BRUNT\" {line}")).current_dir(folder);
    shell
        .env("BRUNT", program("BRUNT_BIN", "brunt"))
        .env("BRUNT_STORE", folder.join("store"))
        .env_remove("BRUNT_UNSET");
    let out = shell.output().expect("a shell");
    let errors = String::from_utf8_lossy(&out.stderr);
    let lines: Vec<&str> =
        errors.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    (without_hashes(&lines.join("\n")), out.status.code())
}

/// A file of `dev/tests/data` with recorded output of brunt.
struct RecordedFile {
    file: PathBuf,
    text: String,
}

impl RecordedFile {
    fn open(name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        Self { text: fs::read_to_string(&file).unwrap_or_default(), file }
    }

    /// Fails with the paragraphs that differ. `BRUNT_WRITE=1` writes the file again.
    fn assert_same(&self, now: &str) {
        if std::env::var_os("BRUNT_WRITE").is_some() {
            return fs::write(&self.file, now).expect("a file");
        }
        let recorded: Vec<_> = self.text.split("\n\n").collect();
        let now: Vec<_> = now.split("\n\n").collect();
        let other: Vec<_> = recorded
            .iter()
            .zip(&now)
            .filter(|(recorded, now)| recorded.trim() != now.trim())
            .collect();
        assert!(
            other.is_empty() && recorded.len() == now.len(),
            "{}: {other:#?}",
            self.file.display()
        );
    }
}

#[test]
fn every_wrong_input_is_answered_with_a_correction() {
    let recorded = RecordedFile::open("wrong-inputs.txt");
    let folder = TempDir::new().expect("a directory");
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let lines: Vec<&str> =
        recorded.text.lines().filter_map(|line| line.strip_prefix("$ brunt ")).collect();
    assert!(lines.len() >= 100, "{} cases", lines.len());
    let mut now = Vec::new();
    for line in &lines {
        let (errors, code) = answer(folder.path(), line);
        assert!(matches!(code, Some(1 | 2)), "{line}: exit code {code:?}: {errors}");
        assert!(!errors.is_empty(), "{line}");
        now.push(format!("$ brunt {line}\n{errors}\n\n"));
    }
    recorded.assert_same(&now.concat());
}

/// Output of `brunt` in a terminal of this many columns. Fails if a line is wider.
fn fitting_output(mut brunt: Command, columns: usize, arguments: &str) -> String {
    brunt.args(arguments.split_whitespace()).env("COLUMNS", columns.to_string());
    let out = brunt.output().expect("brunt");
    assert!(out.status.success(), "{arguments}: {}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8_lossy(&out.stdout).trim_end().to_owned();
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > columns).collect();
    assert!(wide.is_empty(), "{columns} columns, brunt {arguments}: {wide:#?}");
    text
}

#[test]
fn the_help_of_every_command_fits_terminals_of_60_80_and_120_columns() {
    help_of_all_commands(60);
    help_of_all_commands(120);
    RecordedFile::open("help-80.txt").assert_same(&help_of_all_commands(80));
}

/// The help of each command. Sections that are the same in the help of `run` are only named.
fn help_of_all_commands(columns: usize) -> String {
    let help_of_run = help_of("run", columns);
    let each = COMMANDS.map(|name| {
        let help = help_of(name, columns);
        let help = if name == "run" { help } else { without_sections_of(&help_of_run, &help) };
        format!("$ brunt {name} --help\n{help}\n\n")
    });
    each.concat()
}

fn help_of(name: &str, columns: usize) -> String {
    let brunt = Command::new(program("BRUNT_BIN", "brunt"));
    fitting_output(brunt, columns, &format!("{name} --help"))
}

fn without_sections_of(help_of_run: &str, help: &str) -> String {
    let sections_of_run: Vec<&str> = help_of_run.split("\n\n").collect();
    let sections = help.split("\n\n").map(|section| match section.split_once(":\n") {
        Some((heading, _)) if sections_of_run.contains(&section) => {
            format!("{heading}: as in `brunt run`")
        }
        _ => section.to_owned(),
    });
    sections.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_reports_of_stored_runs_fit_terminals_of_60_80_and_120_columns() {
    let store = TempDir::new().expect("a directory");
    for name in STORED {
        output_with_store(&store, 80, &format!("runs import {name}.brunt"));
    }
    for columns in [60, 80, 120] {
        let shown = REPORTS.map(|arguments| {
            let report = output_with_store(&store, columns, arguments);
            format!("$ brunt {arguments}\n{report}\n\n")
        });
        RecordedFile::open(&format!("reports-{columns}.txt")).assert_same(&shown.concat());
    }
}

fn output_with_store(store: &TempDir, columns: usize, arguments: &str) -> String {
    let mut brunt = Command::new(program("BRUNT_BIN", "brunt"));
    brunt.env("BRUNT_STORE", store.path());
    brunt.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/stored"));
    fitting_output(brunt, columns, arguments)
}
