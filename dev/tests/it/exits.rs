//! Tests the exit codes of docs/exit-codes.md with real processes, and the effect of limits of the
//! machine.

use crate::world::brunt::program;
use crate::world::odd::{ScriptedServer, serve_connections, serve_reply};
use crate::world::{command, lab, port};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs brunt with these words and this store. Returns exit code, standard output and standard
/// error.
fn run_brunt(store: &Path, line: &str) -> (i32, String, String) {
    let out = command(line).env("BRUNT_STORE", store).output().expect("brunt");
    let code = out.status.code().unwrap_or(-out.status.signal().unwrap_or_default());
    (code, text(&out, |out| &out.stdout), text(&out, |out| &out.stderr))
}

fn text(out: &Output, of: impl Fn(&Output) -> &Vec<u8>) -> String {
    String::from_utf8_lossy(of(out)).into_owned()
}

fn store() -> TempDir {
    TempDir::new().expect("a directory")
}

fn with_status(status: &str) -> ScriptedServer {
    serve_reply(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno"))
}

#[test]
fn a_closed_port_is_one_line_and_nothing_is_stored() {
    let store = store();
    let url = format!("http://127.0.0.1:{}/", port::free());
    for line in [
        format!("{url} -d 1s"),
        format!("{url} -r 20 -d 1s"),
        format!("sweep {url} -r 10..30+10 -d 1s"),
        format!("find {url} --objective p99<1s --time-budget 10s"),
    ] {
        let (code, out, err) = run_brunt(store.path(), &line);
        assert_eq!((code, out.as_str()), (3, ""), "{line}: {err}");
        let lines = err.lines().filter(|line| line.contains("nothing was measured")).count();
        assert!(lines == 1 && err.contains("refused") && err.lines().count() == 1, "{line}: {err}");
    }
    let (code, list, _) = run_brunt(store.path(), "runs list --all --json");
    assert_eq!((code, list.trim()), (0, "[]"));
    assert_eq!(run_brunt(store.path(), "report last").0, 2);
}

/// The server accepts connections and never replies.
#[test]
fn a_server_without_a_reply_is_one_line_and_never_the_last_run() {
    let store = store();
    let good = lab("");
    assert_eq!(run_brunt(store.path(), &format!("{} -n 20 -q", good.url_of("/"))).0, 0);
    let silent = serve_connections(|mut client| {
        client.request();
    });
    let (code, out, err) = run_brunt(store.path(), &format!("{} -n 5", silent.url_of("/")));
    assert_eq!((code, out.as_str(), err.lines().count()), (3, "", 1), "{err}");
    assert!(err.contains("nothing was measured: no reply from http://"), "{err}");
    let (_, list, _) = run_brunt(store.path(), "runs list --all --json");
    assert_eq!(list.matches("\"id\"").count(), 1, "{list}");
    let sweep =
        format!("sweep {} -r 10..20+10 --repeat 1 -d 500ms --grace 200ms", silent.url_of("/"));
    let (code, out, err) = run_brunt(store.path(), &sweep);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("nothing was measured in 2 trials") && !err.contains("0 errors"), "{err}");
    let (_, list, _) = run_brunt(store.path(), "runs list --all --json");
    assert_eq!(list.matches("\"id\"").count(), 1, "{list}");
}

#[test]
fn a_run_without_a_good_reply_fails_in_code_text_and_junit() {
    let store = store();
    let down = with_status("500 Internal Server Error");
    let up = with_status("200 OK");
    for (line, code) in [
        (format!("{} -n 20", down.url_of("/")), 4),
        (format!("{} -n 20 --expect-status 500", down.url_of("/")), 0),
        (format!("{} -n 20 --expect-body yes", up.url_of("/")), 4),
        (format!("{} -n 20", up.url_of("/")), 0),
        (format!("sweep {} -r 20..40+20 -d 500ms", down.url_of("/")), 4),
        (format!("sweep {} -r 20..40+20 -d 500ms", up.url_of("/")), 0),
    ] {
        let xml = store.path().join("xml");
        let (ended, out, err) =
            run_brunt(store.path(), &format!("{line} -o text -o junit={}", xml.display()));
        // On a busy machine a trial may be INVALID, as uneven spacing of arrivals is a failed
        // check.
        let ended = if ended == 5 && line.starts_with("sweep") { code } else { ended };
        assert_eq!(ended, code, "{line}: {err}");
        let xml = std::fs::read_to_string(xml).expect("the report");
        assert_eq!(xml.contains("<failure type=\"replies\""), code == 4, "{line}: {xml}");
        if code == 4 && !line.starts_with("sweep") {
            assert!(
                err.contains("exit code 4") && out.contains("NO GOOD REPLY"),
                "{line}: {err}{out}"
            );
        }
    }
}

/// `-o github` annotates failures beside the text, and appends to the summary of the job.
#[test]
fn github_gets_annotations_and_the_summary_of_the_job() {
    let dir = store();
    let good = lab("");
    let down = with_status("503 Service Unavailable");
    let summary = dir.path().join("summary.md");
    let (good, down) = (good.url_of("/"), down.url_of("/"));
    let mut reports = 0;
    for (line, code, annotation) in [
        (format!("{good} -n 20 -o github"), 0, "::notice title="),
        (
            format!("{good} -n 20 -o github -o text --objective p99<1us"),
            4,
            "::error title=p99 < 0.001ms at 10 users",
        ),
        (format!("{down} -n 20 -o github"), 4, "none of 20 replies was good"),
        (
            format!("sweep {down} -r 20..40+20 -d 500ms -o github"),
            4,
            "::error title=verdict at 20/s",
        ),
        (
            format!(
                "compare a={good} b={down} -r 40 -d 500ms --repeat 6 --metric errors \
                 --fail-if errors~worse~by~5% -o github"
            ),
            9,
            "::error title=comparison%3A errors worse by 5%25%3A b against a at 40/s",
        ),
        (
            format!(
                "find {down} --objective p99<1s,errors<1% --require capacity>10/s --start-load 20 --max-load 20 \
                 --trial-duration 1s --warmup 200ms --time-budget 8s -o github"
            ),
            4,
            "::error title=capacity > 10 at p99 < 1s%2C errors < 1%25",
        ),
    ] {
        let words = line.split_whitespace().map(|word| word.replace('~', " "));
        let out = command("")
            .args(words)
            .env("BRUNT_STORE", dir.path())
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .expect("brunt");
        let stdout = text(&out, |out| &out.stdout);
        assert_eq!(out.status.code(), Some(code), "{line}: {}{stdout}", text(&out, |o| &o.stderr));
        assert!(stdout.contains(annotation), "{line}: {stdout}");
        assert!(stdout.contains("Findings") || stdout.contains("Verdict"), "{line}: {stdout}");
        reports += 1;
        let appended = std::fs::read_to_string(&summary).expect("the summary");
        let titles = appended.lines().filter(|line| line.starts_with("# ")).count();
        assert_eq!(titles, reports, "{line}: {appended}");
    }
    let (code, out, err) = run_brunt(dir.path(), &format!("{good} -n 20 -q -o github"));
    assert_eq!(code, 0, "{err}");
    assert!(out.lines().all(|line| line.starts_with("::")) && !out.is_empty(), "{out}");
    let out = command(&format!("{good} -n 20 -o github"))
        .env("GITHUB_STEP_SUMMARY", "/proc/nowhere/summary")
        .output()
        .expect("brunt");
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert!(text(&out, |out| &out.stderr).contains("GITHUB_STEP_SUMMARY=/proc/nowhere/summary"));
}

#[test]
fn an_unusable_store_is_reported_with_q_too() {
    let good = lab("");
    let (code, out, err) =
        run_brunt(Path::new("/proc/nowhere"), &format!("{} -n 20 -q", good.url_of("/")));
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("this run is not stored") && err.contains("/proc/nowhere"), "{err}");
}

/// Size in bytes of the loadable segments of a 64-bit ELF file.
fn loadable_bytes(file: &[u8]) -> u64 {
    let number = |at: usize, bytes: usize| {
        file[at..at + bytes].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
    };
    let headers = number(32, 8) as usize;
    let size = number(54, 2) as usize;
    let count = number(56, 2) as usize;
    (0..count)
        .map(|i| headers + i * size)
        .filter(|header: &usize| number(*header, 4) == 1)
        .map(|header| number(header + 40, 8))
        .sum()
}

/// Limits of a shell end brunt with one line, never with a signal.
#[test]
fn tight_limits_end_with_one_line() {
    let good = lab("");
    let brunt = command("").get_program().to_owned();
    let url = good.url_of("/");
    for words in
        [format!("{url} -n 20 -c 4"), format!("{url} -r 50 -d 1s"), format!("ab -n 20 {url}")]
    {
        let (code, err) = run_with_limit(&brunt, "-n 64", &words);
        assert!(matches!(code, Some(1 | 2)), "{words}: {code:?} {err}");
        assert!(err.contains("64 open files") && err.contains("ulimit -Hn"), "{words}: {err}");
    }
    // The kernel maps the program before it runs; the C library and the first stack take 4 MB more.
    let least = loadable_bytes(&std::fs::read(&brunt).expect("brunt")) / 1024 + 4_000;
    let (code, err) = run_with_limit(&brunt, &format!("-v {least}"), &format!("{url} -n 20"));
    assert!(err.contains("ulimit -v") && err.lines().count() == 1, "{code:?} {err}");
    assert_eq!(code, Some(1), "{err}");
}

fn run_with_limit(brunt: &std::ffi::OsStr, limit: &str, words: &str) -> (Option<i32>, String) {
    let script = format!("ulimit {limit} && exec \"$0\" {words}");
    let mut command = Command::new("bash");
    command.args(["-c", &script]).arg(brunt).env("BRUNT_STORE", "/proc/nowhere");
    let out = command.output().expect("bash");
    (out.status.code(), text(&out, |out| &out.stderr))
}

/// Another process may have taken the recorded port meanwhile.
#[test]
fn an_experiment_is_resumed_at_another_port() {
    let store = store();
    let lab = program("BRUNT_LAB_BIN", "brunt-lab");
    let plan = store.path().join("plan.yaml");
    let text = format!(
        "name: moved\nports: [http]\nrepetitions: 1\nload: {{rate: \"[20,40]\", duration: 500ms}}\n\
         script: {{request: \"http://127.0.0.1:${{port.http}}/\"}}\n\
         server:\n  start: exec {} --listen 127.0.0.1:${{port.http}} --max-runtime 1m\n  ready: 127.0.0.1:${{port.http}}\n",
        lab.display()
    );
    std::fs::write(&plan, text).expect("a plan");
    let store_path = store.path().join("store");
    let (code, _, err) = run_plan(&store_path, &plan, "");
    assert!(matches!(code, 0 | 5), "{code}: {err}");
    // One trial is removed. The resumed experiment repeats it, at the port that is free now.
    let list: serde_json::Value = serde_json::from_str(&listed_runs(&store_path)).expect("JSON");
    let lost = list[1]["id"].as_str().expect("an id").to_owned();
    assert_eq!(run_brunt(&store_path, &format!("runs rm {lost}")).0, 0);
    assert_eq!(listed_runs(&store_path).matches("\"id\"").count(), 1);
    let (code, _, err) = run_plan(&store_path, &plan, "--resume");
    assert!(matches!(code, 0 | 5), "{code}: {err}");
    assert_eq!(listed_runs(&store_path).matches("\"id\"").count(), 2);
}

fn listed_runs(store: &Path) -> String {
    run_brunt(store, "runs list moved --json").1
}

fn run_plan(store: &Path, plan: &Path, more: &str) -> (i32, String, String) {
    run_brunt(store, &format!("run {} -q {more}", plan.display()))
}
