//! Tests the command line: help, completions, manual, and errors for invalid options.

use crate::world::brunt::with_single_spaces;
use crate::world::lab::lab;
use crate::world::{command, serve_reply};
use std::process::{Output, Stdio};
use tempfile::TempDir;

fn stdout_of(line: &str) -> String {
    let out = command(line).output().expect("brunt");
    assert_eq!(out.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Option names that are common in the field.
const OPTIONS: &str = "
    --connections --rate --arrivals --duration --requests --think --warmup --connect-rate --threads --max-in-flight
    --method --header --data --form --cookie --basic --bearer --user-agent --compressed --no-keepalive
    --requests-per-connection --retry-stale --http --streams --h2c-upgrade --connections-per-origin --timeout --connect-timeout --grace --interval --cacert --cert
    --key --insecure --sni --resolve --proxy --unix-socket --source --urls --order --follow --expect-status
    --expect-body --expect-same-length --objective --labels --receive-rate --seed --quiet --output --events
    --version --help -c, -r, -d, -n, -X, -H, -o, -q, -h, -V,";

#[test]
fn a_reader_that_closes_early_is_no_error() {
    for line in ["schema", "plan schema", "plan new", "man", "completions bash"] {
        let mut brunt =
            command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("brunt");
        drop(brunt.stdout.take());
        let out = brunt.wait_with_output().expect("brunt");
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && errors.is_empty(), "{line}: {}, {errors}", out.status);
    }
}

#[test]
fn help_names_every_option_and_shows_examples() {
    for line in ["--help", "run --help"] {
        let help = stdout_of(line);
        for option in OPTIONS
            .split_whitespace()
            .filter(|o| !line.starts_with("run") || !["--version", "-V,"].contains(o))
        {
            assert!(help.contains(&format!(" {option}")), "{line}: no {option}");
        }
        for word in [
            "Examples:",
            "Exit codes:",
            "{n}",
            "{uuid}",
            "{random:1..9}",
            "{csv:FILE:column}",
            "[default: 30s]",
        ] {
            assert!(help.contains(word), "{line}: no {word}");
        }
    }
    let page = stdout_of("-h");
    assert!(page.lines().count() <= 55 && page.contains("All options: brunt --help"), "{page}");
    for (line, word) in [
        ("replay --help", "event log"),
        ("completions --help", "fish"),
        ("schema --help", "schema"),
    ] {
        assert!(stdout_of(line).contains(word), "{line}");
    }
}

#[test]
fn every_option_of_the_help_is_completed_and_in_the_manual() {
    let manual = stdout_of("man").replace("\\-", "-");
    assert!(manual.starts_with(".ie") || manual.starts_with(".TH"), "{}", &manual[..40]);
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout_of(&format!("completions {shell}")).contains("BRUNT_COMPLETE"), "{shell}");
        // The command that the script of the shell runs for `brunt --<TAB>`.
        let mut completing = command("-- brunt --");
        let out = completing
            .env("BRUNT_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "1")
            .output()
            .expect("brunt");
        let completions = String::from_utf8_lossy(&out.stdout);
        for option in OPTIONS.split_whitespace().filter(|o| o.starts_with("--")) {
            assert!(completions.contains(option), "{shell}: no {option} in {completions}");
            assert!(manual.contains(option), "man: no {option}");
        }
    }
}

#[test]
fn ids_of_the_store_are_completed() {
    let server = lab("");
    let store = TempDir::new().expect("a directory");
    let stored =
        command(&format!("{} -n 5 --store {}", server.url_of("/"), store.path().display()))
            .output();
    assert_eq!(stored.expect("brunt").status.code(), Some(0));
    let list = command(&format!("runs list --json --store {}", store.path().display()))
        .output()
        .expect("brunt");
    let runs: serde_json::Value = serde_json::from_slice(&list.stdout).expect("the list");
    let id = runs[0]["id"].as_str().expect("an id");
    for words in ["report", "runs show", "baseline save main"] {
        let index = words.split(' ').count() + 1;
        let mut completing = command(&format!("-- brunt {words} {}", &id[..2]));
        completing.env("BRUNT_STORE", store.path()).env("BRUNT_COMPLETE", "fish");
        let out =
            completing.env("_CLAP_COMPLETE_INDEX", index.to_string()).output().expect("brunt");
        assert!(String::from_utf8_lossy(&out.stdout).contains(id), "{words}: {out:?}");
    }
}

#[test]
fn shells_can_read_their_completions() {
    use std::io::Write;
    use std::process::Command;
    let mut bash = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash");
    let script = stdout_of("completions bash");
    bash.stdin.take().expect("its input").write_all(script.as_bytes()).expect("the script");
    let out = bash.wait_with_output().expect("bash");
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn every_command_has_a_man_page() {
    let dir = tempfile::tempdir().expect("a directory");
    stdout_of(&format!("man --dir {}", dir.path().display()));
    let help = stdout_of("--help");
    let names = help.split_once("Commands:\n").expect("commands").1;
    let names = names.lines().take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands.into_iter().filter(|command| !command.is_empty() && *command != "help")
    {
        let page =
            std::fs::read_to_string(dir.path().join(format!("brunt-{command}.1"))).expect(command);
        for section in [".SH SYNOPSIS", ".SH EXAMPLES"] {
            assert!(page.contains(section), "{command}: no {section}: {page}");
        }
    }
    for page in ["brunt.1", "brunt-plan-schema.1"] {
        assert!(dir.path().join(page).exists(), "{page}");
    }
    assert!(!dir.path().join("brunt-worker.1").exists(), "hidden commands have no page");
}

/// The page for users of other tools names options of brunt in the second column of its tables.
#[test]
fn options_of_the_page_for_users_of_other_tools_exist() {
    let page = include_str!("../../../docs/coming-from.md");
    let help = stdout_of("run --help");
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").nth(1));
    let mut count = 0;
    for cell in cells {
        // Code is every second part between backticks.
        for word in cell.split('`').skip(1).step_by(2).flat_map(str::split_whitespace) {
            let is_option = word.len() > 1 && word.starts_with('-');
            let ending = if word.starts_with("--") { [" ", "\n"] } else { [", --", " "] };
            let is_known = ending.iter().any(|end| help.contains(&format!(" {word}{end}")));
            assert!(!is_option || is_known, "{word} of: {cell}");
            count += usize::from(is_option);
        }
    }
    assert!(count > 80, "{count} options");
}

#[test]
fn the_version_is_printed() {
    let version = stdout_of("--version");
    assert!(version.starts_with("brunt ") && version.trim().split('.').count() == 3, "{version}");
}

#[test]
fn an_empty_command_line_prints_the_usage() {
    let out = command("").output().expect("brunt");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("Usage: brunt"));
}

/// Invalid command lines, and texts that the error must contain.
const MISTAKES: &[(&str, &[&str])] = &[
    ("URL -c 0", &["-c", "at least one, such as 10"]),
    ("URL -c -3", &["not negative"]),
    ("URL -c 1.5", &["whole numbers"]),
    ("URL -c many", &["not a number", "write a number such as 500"]),
    ("URL -r 0", &["a rate above it, such as 0.5"]),
    ("URL -r 100/s", &["a rate is always per second", "write 100, or 100/30s"]),
    ("URL -r 0..500", &["the duration of the stage is missing", "0..500/30s"]),
    ("URL -r 50..1500+50", &["brunt sweep"]),
    ("URL -r 100,200/10s", &["only the last stage may have no duration", "write 100/30s"]),
    ("URL -d 10x", &["10x", "such as 500ms"]),
    ("URL -d 0", &["above zero"]),
    ("URL -n 0", &["`0` is out of range; write 1 or more"]),
    ("URL -d 5s -r 10/5s", &["leave out --duration"]),
    ("URL -c 5 --arrivals even", &["--arrivals belongs to the open loop: add --rate N"]),
    ("URL -r 5 --think 1s", &["--think belongs to the closed loop"]),
    ("URL -r 5 -c 1..5/3s", &["write one number, such as -c 100"]),
    ("URL --arrivals uniform -r 1", &["write poisson, even or burst:N"]),
    ("URL -X get", &["write GET"]),
    ("URL -X CONNECT", &["opens a tunnel"]),
    ("URL -H nonsense", &["'Name: value'"]),
    ("URL --data a --form b=c", &["cannot be used with"]),
    ("URL --data @/no/such/file", &["--data: cannot read /no/such/file"]),
    ("URL --basic a:b --bearer c", &["cannot be used with"]),
    ("URL --basic anna", &["USER:PASS"]),
    ("URL --cookie nonsense", &["NAME=VALUE"]),
    ("URL --urls /no/such/file", &["/no/such/file"]),
    ("URL --cacert /no/such/file", &["/no/such/file", "BEGIN CERTIFICATE"]),
    ("URL --cert /no/such/file", &["BEGIN CERTIFICATE"]),
    ("URL --resolve a:b", &["HOST:PORT:ADDR, such as example.org:443:127.0.0.1"]),
    ("URL --proxy https://a", &["http://HOST:PORT"]),
    ("URL --proxy a --unix-socket /b", &["cannot be used with"]),
    ("URL --source here", &["addresses of this machine, such as 127.0.0.2"]),
    ("URL --no-keepalive --requests-per-connection 5", &["write one of them"]),
    ("URL --expect-status good", &["such as 200, 300-399 or 2xx"]),
    ("URL --expect-body (", &["write a regular expression"]),
    ("URL --objective fast", &["fast", "p99 < 50ms"]),
    ("URL --objective p99<50", &["50ms"]),
    ("URL --interval 0", &["1ms to 1h"]),
    ("URL --timeout never", &["never", "such as"]),
    ("URL -o xml", &["write one of text, markdown, json, csv"]),
    ("URL -o json -o csv", &["write -o csv=FILE with another file"]),
    ("URL --frobnicate", &["`--frobnicate`: unknown option"]),
    ("URL --conections 5", &["--connections"]),
    ("URL other", &["other"]),
    ("ftp://127.0.0.1/", &["not ftp; write http://127.0.0.1/"]),
    ("http://", &["write one such as http://127.0.0.1:8080/path"]),
    ("http://127.0.0.1:99999/", &["invalid port number"]),
    ("URL{random:9..1}", &["the lower number comes first", "{random:1..100}"]),
    ("URL{random:1..", &["its `}` is missing"]),
    ("URL{csv:/no/such/file:a}", &["/no/such/file"]),
    ("replay /no/such/file", &["/no/such/file"]),
    ("completions tcsh", &["write one of bash"]),
    ("-c 5", &["no URL; write one such as"]),
];

#[test]
fn mistakes_are_answered_with_a_correction() {
    let server = serve_reply("");
    let mut wrong = Vec::new();
    for (line, words) in MISTAKES {
        let Output { status, stdout, stderr } =
            command(&line.replace("URL", &server.url_of("/"))).output().expect("brunt");
        let errors = with_single_spaces(&String::from_utf8_lossy(&stderr));
        let fits = words.iter().all(|word| errors.contains(word)) && stdout.is_empty();
        if status.code() != Some(2) || !fits {
            wrong.push(format!("{line}: {:?} {errors}", status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(server.requests().is_empty(), "nothing may be asked: {:?}", server.requests());
}
