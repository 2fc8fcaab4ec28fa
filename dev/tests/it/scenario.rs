//! Runs scenarios of plan files against a shop with sessions: login forms, cookies, data, extracted
//! values, checks.

use crate::world::brunt::run_stored_plan;
use crate::world::odd::{page, serve_connections, serve_reply};
use crate::world::skip::{program, skip};
use crate::world::{ScriptedServer, command};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Counters of the shop.
#[derive(Default)]
struct Counts {
    forms: AtomicU64,
    /// Number of logins by user name.
    logins: Mutex<HashMap<String, u64>>,
    items: AtomicU64,
    /// Requests that a browser would not have sent.
    strangers: AtomicU64,
}

fn reply(status: &str, fields: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let begin = text.find(&format!("{name}=")).map_or("", |at| &text[at + name.len() + 1..]);
    begin.split(['&', ';', ' ', '\r']).next().unwrap_or_default()
}

/// Starts a shop: a form with a token, a login that needs it, and items for users with a session.
fn shop() -> (ScriptedServer, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let counters = Arc::clone(&counts);
    let shop = serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let line = request.lines().next().unwrap_or_default();
            let body = request.rsplit("\r\n\r\n").next().unwrap_or("");
            let session = field(&request, "session").to_owned();
            let answer = if line.starts_with("GET /login") {
                let token = increment(&counters.forms) + 1000;
                page(&format!("<form><input name=\"csrf\" value=\"t{token}\"></form>"))
            } else if line.starts_with("POST /login") && field(body, "token").starts_with('t') {
                let name = field(body, "name").to_owned();
                *counters.logins.lock().expect("logins").entry(name.clone()).or_default() += 1;
                let fields = format!("Set-Cookie: session={name}; Path=/\r\nLocation: /home\r\n");
                reply("303 See Other", &fields, "")
            } else if line.starts_with("GET /home") && !session.is_empty() {
                page(
                    &json!({"user": session, "items": [{"id": 3}, {"id": 5}, {"id": 9}]})
                        .to_string(),
                )
            } else if line.starts_with("GET /item/") && !session.is_empty() {
                increment(&counters.items);
                let exists =
                    ["/item/3 ", "/item/5 ", "/item/9 "].iter().any(|item| line.contains(item));
                page(if exists { "an item" } else { "nothing here" })
            } else {
                increment(&counters.strangers);
                reply("403 Forbidden", "", "")
            };
            if !client.write(answer.as_bytes()) {
                break;
            }
        }
    });
    (shop, counts)
}

fn increment(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed)
}

/// A refused login ends the iteration, so no item is requested without a session.
const REFUSED: &str = r"
load: {users: 2, iterations: 4}
repetitions: 1
scenario:
  base: http://ADDRESS
  on_failure: iteration
  steps:
  - get: /login
  - post: /login
    form: {name: ann, token: none}
  - get: /item/3
";

const PLAN: &str = r#"
load: {users: 3, requests: 60, seed: 5}
repetitions: 1
scenario:
  base: http://ADDRESS
  data: [users.csv]
  steps:
  - get: /login
    extract: {token: {regex: 'csrf" value="(\w+)"'}}
  - post: /login
    name: log in
    form: {name: "${name}", password: "${password}", token: "${token}"}
    extract: {id: {json: '$.items[*].id', take: all}, user: $.user}
    check: {json: {$.user: "${name}"}}
  - for_each: {item: id_*}
    steps:
    - get: /item/${item}
      name: item
      check: {contains: an item}
  - get: /item/${random(100,200)}
    name: no item
    check: {contains: an item}
"#;

const IN_JAVASCRIPT: &str = r#"
load: {users: 2, iterations: 5, seed: 5}
repetitions: 1
scenario:
  base: http://ADDRESS
  language: javascript
  steps:
  - get: /login
    after: vars.put("token", prev.body.match(/value="(\w+)"/)[1])
  - post: /login
    name: log in
    form: {name: "${javaScript('a' + 'nn')}", token: "${token}"}
    after: vars.put("item", JSON.parse(prev.body).items.map(({id}) => id).pop())
    check: {script: 'if (prev.status !== 200 || !prev.header("content-length")) fail("no home")'}
  - script: vars.put("item", Number(vars.get("item")) + 0)
  - get: /item/${item}
    name: item
    check: {script: 'if (!prev.body.includes("an item")) fail("nothing")'}
  - get: /item/4
    name: no item
    check: {script: 'if (!prev.body.includes("an item")) fail("nothing")'}
"#;

/// Runs the plan, and returns the stored report.
fn run_plan(shop: &ScriptedServer, plan: &str, dir: &Path) -> Value {
    let plan = plan.replace("ADDRESS", &shop.address.to_string());
    fs::write(dir.join("plan.yaml"), plan).expect("a plan");
    fs::write(dir.join("users.csv"), "name,password\nann,a b\nbob,\"x,y\"\n").expect("users");
    run_stored_plan(dir)
}

#[test]
fn scripts_in_javascript_see_replies_and_judge_them() {
    let (shop, counts) = shop();
    let dir = TempDir::new().expect("a directory");
    let result = run_plan(&shop, IN_JAVASCRIPT, dir.path());
    assert_eq!(counts.strangers.load(Ordering::Relaxed), 0);
    assert_eq!(
        (counts_of_label(&result, "item"), counts_of_label(&result, "log in").1),
        ((Some(10), Some(0)), Some(0))
    );
    assert_eq!(counts_of_label(&result, "no item"), (Some(10), Some(10)));
}

fn counts_of_label(result: &Value, name: &str) -> (Option<u64>, Option<u64>) {
    let labels = result["labels"].as_array().expect("labels");
    let label = labels
        .iter()
        .find(|label| label["label"] == name)
        .unwrap_or_else(|| panic!("no label {name}"));
    (label["requests"]["completed"].as_u64(), label["errors"].as_u64())
}

#[test]
fn users_log_in_and_find_the_items_of_the_shop() {
    let (shop, counts) = shop();
    let dir = TempDir::new().expect("a directory");
    let result = run_plan(&shop, PLAN, dir.path());
    // An iteration has a form, a login with its redirect, three items, and one that does not exist.
    let logins = counts.logins.lock().expect("logins").clone();
    let iterations: u64 = logins.values().sum();
    assert_eq!(value_of(&counts.strangers), 0);
    assert!(
        iterations >= 10
            && value_of(&counts.forms) >= iterations
            && value_of(&counts.items) >= 4 * (iterations - 3)
    );
    // All users together take rows in turn.
    let mut by_name: Vec<(&String, &u64)> = logins.iter().collect();
    by_name.sort();
    assert_eq!(by_name.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["ann", "bob"]);
    assert!(by_name[0].1.abs_diff(*by_name[1].1) <= 3, "{by_name:?}");
    assert_eq!(
        completed_of(&result, "item") + completed_of(&result, "no item"),
        value_of(&counts.items)
    );
    assert_eq!(
        (
            entry_of_label(&result, "item")["errors"].as_u64(),
            entry_of_label(&result, "no item")["errors"].as_u64()
        ),
        (Some(0), Some(completed_of(&result, "no item")))
    );
    assert_eq!(entry_of_label(&result, "log in")["errors"], 0);
    let uneven =
        result["checks"].as_array().expect("checks").iter().filter(|check| check["holds"] == false);
    assert_eq!(uneven.collect::<Vec<_>>(), Vec::<&Value>::new());
}

fn entry_of_label(result: &Value, name: &str) -> Value {
    let labels = result["labels"].as_array().expect("labels").clone();
    labels
        .into_iter()
        .find(|label| label["label"] == name)
        .unwrap_or_else(|| panic!("no label {name}"))
}

fn completed_of(result: &Value, name: &str) -> u64 {
    entry_of_label(result, name)["requests"]["completed"].as_u64().expect("a number")
}

fn value_of(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[test]
fn a_bad_status_ends_the_iteration_if_the_plan_requires_it() {
    let (shop, counts) = shop();
    let dir = TempDir::new().expect("a directory");
    let result = run_plan(&shop, REFUSED, dir.path());
    assert_eq!(counts.strangers.load(Ordering::Relaxed), 8);
    assert_eq!(
        (&result["requests"]["completed"], &result["outcomes"]),
        (&json!(16), &json!({"200": 8, "403": 8}))
    );
}

#[test]
fn a_trace_shows_requests_replies_variables_and_checks_and_no_secret() {
    let (shop, counts) = shop();
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("plan.yaml"), PLAN.replace("ADDRESS", &shop.address.to_string()))
        .expect("a plan");
    fs::write(dir.path().join("users.csv"), "name,password\nann,hunter2hunter2\nbob,other\n")
        .expect("users");
    let (trace, errors) = trace_in(dir.path(), "");
    assert!(errors.ends_with("6 samples, 1 failed\n"), "{errors}");
    assert_eq!(counts.items.load(Ordering::Relaxed), 4, "one user, one iteration");
    for shown in [
        "── 2. log in ──",
        "variable   name = ann\n",
        "> POST /login HTTP/1.1\n",
        "> name=ann&password=redacted:",
        "part       2 of 2\n> GET /home HTTP/1.1\n",
        "\"items\":[{\"id\":3},",
        "extract    id = 3 matches   (json $.items[*].id, all)\n",
        "check      passed  $.user: json $.user is `ann`, found ann\n",
        "variable   id_2 = 5\n",
        "check      FAILED  contains: body contains `an item`, found nothing here\n",
        "result     FAILED: Test failed: text expected to contain /an item/\n",
    ] {
        assert!(trace.contains(shown), "{shown} is not in:\n{trace}");
    }
    assert!(!trace.contains("hunter2"), "{trace}");
    let (_, errors) = trace_in(dir.path(), "--users 2 --iterations 3");
    assert!(errors.ends_with("36 samples, 6 failed\n"), "{errors}");
    let mixed = command(&format!("run {}/plan.yaml --trace -o json", dir.path().display()))
        .output()
        .expect("brunt");
    assert_eq!(mixed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&mixed.stderr).contains("write -o json=FILE"));
}

fn trace_in(dir: &Path, options: &str) -> (String, String) {
    let run = format!("run {}/plan.yaml --trace {options}", dir.display());
    let output = command(&run).output().expect("brunt");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    (
        String::from_utf8(output.stdout).expect("UTF-8"),
        String::from_utf8(output.stderr).expect("UTF-8"),
    )
}

#[test]
fn a_trace_shows_the_chosen_samples_and_writes_their_bodies() {
    let (shop, _) = shop();
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("plan.yaml"), PLAN.replace("ADDRESS", &shop.address.to_string()))
        .expect("a plan");
    fs::write(dir.path().join("users.csv"), "name,password\nann,hunter2hunter2\nbob,other\n")
        .expect("users");
    let (_, trace, errors) = trace_with(dir.path(), "--trace-only failed");
    assert_eq!(trace.lines().filter(|line| line.starts_with("── ")).count(), 1, "{trace}");
    assert!(
        trace.contains("result     FAILED") && errors.ends_with("6 samples, 1 failed, 1 shown\n"),
        "{trace}{errors}"
    );
    let (_, trace, errors) = trace_with(dir.path(), "--trace-only sample=2 --trace-files bodies");
    assert!(
        trace.starts_with("── 2. log in ──") && errors.ends_with("6 samples, 1 failed, 1 shown\n"),
        "{trace}{errors}"
    );
    let mut files: Vec<_> =
        fs::read_dir(dir.path().join("bodies")).expect("a folder").flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let mut names: Vec<_> =
        files.iter().map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names.pop().as_deref(), Some("samples.jsonl"));
    let line = fs::read_to_string(dir.path().join("bodies/samples.jsonl")).expect("the samples");
    let sample: serde_json::Value = serde_json::from_str(&line).expect("one line of JSON");
    assert_eq!((&sample["number"], &sample["record"]["label"]), (&2.into(), &"log in".into()));
    assert_eq!(sample["bodies"], serde_json::json!(names));
    assert!(!line.contains("hunter2"), "{line}");
    assert!(
        names.iter().all(|name| name.starts_with("00002-")) && !names.is_empty(),
        "{names:?}\n{trace}"
    );
    assert!(
        names.iter().all(|name| trace.contains(&format!("written to bodies/{name}"))),
        "{names:?}\n{trace}"
    );
    let (_, trace, _) = trace_with(dir.path(), "--trace-only failed --trace-only sample=2");
    assert_eq!(trace, "");
    let (_, _, errors) = trace_with(dir.path(), "--trace-only label=nothing");
    assert!(
        errors.contains("no sample matches --trace-only; labels: `") && errors.contains("`log in`"),
        "{errors}"
    );
    for (options, expected) in [
        ("--show-secrets", "--show-secrets: standard output is no terminal"),
        ("--trace-only some", "failed, label=NAME, sample=3 or sample=3..7"),
        ("--trace-only sample=7..3", "failed, label=NAME"),
        ("--trace-files plan.yaml/x", "--trace-files: cannot make `plan.yaml/x`"),
    ] {
        let (code, _, errors) = trace_with(dir.path(), options);
        assert!(code == Some(2) && errors.contains(expected), "{options}: {errors}");
    }
    let alone = command("run plan.yaml --trace-only failed")
        .current_dir(dir.path())
        .output()
        .expect("brunt");
    assert_eq!(alone.status.code(), Some(2), "it needs --trace");
}

fn trace_with(dir: &Path, options: &str) -> (Option<i32>, String, String) {
    let output = command(&format!("run plan.yaml --trace {options}"))
        .current_dir(dir)
        .output()
        .expect("brunt");
    (output.status.code(), utf8_text(output.stdout), utf8_text(output.stderr))
}

fn utf8_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_terminal_shows_secrets_on_request() {
    if program("script").is_none() {
        skip(
            "scenario::a_terminal_shows_secrets_on_request",
            "no `script`, which makes a terminal (bsdutils)",
        );
        return;
    }
    let (shop, _) = shop();
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("plan.yaml"), PLAN.replace("ADDRESS", &shop.address.to_string()))
        .expect("a plan");
    fs::write(dir.path().join("users.csv"), "name,password\nann,hunter2hunter2\nbob,other\n")
        .expect("users");
    for (options, is_shown) in [("", false), ("--show-secrets", true)] {
        let brunt = command("").get_program().to_string_lossy().into_owned();
        let line = format!("{brunt} run plan.yaml --trace {options}");
        let mut script = std::process::Command::new("script");
        let output = script
            .args(["-qec", &line, "/dev/null"])
            .current_dir(dir.path())
            .output()
            .expect("script");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.contains("hunter2hunter2"), is_shown, "{options}: {text}");
    }
}

/// Returns the samples of the trace of a plan, and standard error.
fn trace_plan(plan: &str) -> (String, String) {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let output = command(&format!("run {}/plan.yaml --trace", dir.path().display()))
        .output()
        .expect("brunt");
    (
        String::from_utf8(output.stdout).expect("UTF-8"),
        String::from_utf8(output.stderr).expect("UTF-8"),
    )
}

#[test]
fn a_trace_ends_when_the_run_would() {
    let server = serve_reply(page("ok"));
    let steps = format!(
        "steps: [{{loop: forever, steps: [{{get: {}}}, {{think: 100ms}}]}}]",
        server.url_of("/")
    );
    trace_plan(&format!("load: {{users: 1, duration: 1s}}\nscenario: {{{steps}}}\n"));
    let in_a_second = server.requests().len();
    assert!((1..=11).contains(&in_a_second), "{in_a_second}");
}

#[test]
fn texts_of_other_charsets_are_forwarded_and_json_keeps_its_types() {
    let body = b"{\"name\": \"M\xfcller \\\"x\\\"\", \"id\": 7, \"ok\": true, \"none\": null}";
    let head = "Content-Type: application/json; charset=iso-8859-1";
    let reply = [
        format!("HTTP/1.1 200 OK\r\n{head}\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(),
        body,
    ]
    .concat();
    let server = serve_reply(reply);
    let (trace, errors) = trace_plan(&format!(
        r#"load: {{users: 1, requests: 2}}
scenario:
  base: http://{}
  steps:
  - get: /
    extract: {{name: $.name, id: $.id, ok: $.ok, none: $.none}}
    check: {{contains: Müller}}
  - post: /
    json: {{name: "${{name}}", id: ${{id}}, text: "${{id}}", ok: ${{ok}}, list: [${{none}}]}}
"#,
        server.address
    ));
    assert!(errors.ends_with("2 samples, 0 failed\n"), "{trace}{errors}");
    let sent = server.requests().pop().expect("two requests");
    let sent: Value =
        serde_json::from_str(sent.rsplit("\r\n\r\n").next().unwrap_or_default()).expect("JSON");
    assert_eq!(
        sent,
        json!({"name": "Müller \"x\"", "id": 7, "text": "7", "ok": true, "list": [null]})
    );
}

#[test]
fn an_extractor_that_never_matched_is_named_with_its_place() {
    let (shop, _counts) = shop();
    let dir = TempDir::new().expect("a directory");
    let plan = dir.path().join("plan.yaml");
    let text = format!(
        "scenario:\n  base: {}\n  steps:\n  - get: /login\n    extract: {{token: {{json: $.token}}, page: {{regex: '(form)'}}}}\n\
         load: {{users: 2, iterations: 3}}\nrepetitions: 1\n",
        shop.url_of("").trim_end_matches('/')
    );
    fs::write(&plan, text).expect("a plan");
    let ran = run_stored_plan(dir.path());
    let warnings = ran["warnings"].to_string();
    let expected = "`/login`: the extractor of `token` (json $.token) matched nothing in 6 samples";
    assert!(warnings.contains(expected) && !warnings.contains("page"), "{warnings}");
    assert!(!ran["findings"].to_string().contains("incomplete"), "{ran:#}");
}
