//! Checks that no secret remains in stored, exported or printed data. Each place for a secret gets
//! a different one, and all files, stdout and stderr are searched for it.
//!
//! Compressed data of the store is decompressed first. The output that a drop-in shares with the
//! real tool stays exact.

use crate::world::odd::page;
use crate::world::{ScriptedServer, command, serve_reply, wait_until};
use flate2::read::DeflateDecoder;
use rustix::process::Signal;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Formats of the report of a run.
const FORMATS: [&str; 9] =
    ["json", "html", "text", "markdown", "csv", "tsv", "junit", "github", "svg"];

/// Every secret of these tests contains it.
const CANARY: &str = "Zq7canary";

/// Returns the secret of a place.
fn canary(place: &str) -> String {
    format!("{CANARY}{place}x9Kq")
}

/// Starts a server that sets a cookie with a canary.
fn server() -> ScriptedServer {
    let cookie = format!("Set-Cookie: sid={}; Path=/\r\n", canary("set"));
    serve_reply(page("hello").replacen("\r\n", &format!("\r\n{cookie}"), 1))
}

/// Runs brunt in a directory that also has its store.
fn brunt(dir: &Path, words: &[String]) -> Output {
    let mut command = command("");
    command
        .args(words)
        .current_dir(dir)
        .env("BRUNT_STORE", dir.join("store"))
        .env("GITHUB_STEP_SUMMARY", dir.join("summary.md"))
        .env("BRUNT_CANARY", canary("env"));
    command.output().expect("brunt")
}

/// Splits a line at spaces; `~` stands for a space in a word, `%NAME%` for a canary.
fn words(line: &str, url: &str) -> Vec<String> {
    line.split_whitespace()
        .map(|word: &str| {
            let parts: Vec<String> =
                word.replace('~', " ").replace("URL", url).split('%').map(str::to_owned).collect();
            parts
                .iter()
                .enumerate()
                .map(
                    |(number, part): (usize, &String)| {
                        if number % 2 == 1 { canary(part) } else { part.clone() }
                    },
                )
                .collect::<String>()
        })
        .collect()
}

fn all_formats() -> Vec<String> {
    FORMATS
        .iter()
        .flat_map(|format| ["-o".to_owned(), format!("{format}=report.{format}")])
        .collect()
}

/// Fails if a file below the directory or the output contains a canary. Input files are left out.
fn assert_clean(dir: &Path, output: &Output, case: &str) {
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(CANARY), "{case}: {stream}: {text}");
    }
    for file in files(dir) {
        if file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("input")) {
            continue;
        }
        let bytes = unpacked(&file);
        if let Some(at) = bytes.windows(CANARY.len()).position(|window| window == CANARY.as_bytes())
        {
            let around = &bytes[at.saturating_sub(120)..(at + 60).min(bytes.len())];
            panic!("{case}: {}: …{}…", file.display(), String::from_utf8_lossy(around));
        }
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Bytes of a file, followed by the decompressed bytes of its contents.
fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("a file");
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let frames = frames(bytes.get(8..).unwrap_or_default());
    let mut out = bytes;
    let mut unpack = |packed: &[u8]| {
        // A stream that was flushed but not ended gives all its data, and then an error.
        let mut plain = vec![0; 1 << 16];
        let mut from = DeflateDecoder::new(packed);
        while let Ok(got @ 1..) = from.read(&mut plain) {
            out.extend_from_slice(&plain[..got]);
        }
    };
    match ending {
        "events" => unpack(&frames.iter().skip(1).flatten().copied().collect::<Vec<u8>>()),
        "experiment" => frames.iter().for_each(|frame| unpack(frame)),
        // After its first frame, a digest is one deflate stream.
        "digest" => {
            let head = 16 + frames.first().map_or(0, Vec::len);
            let packed = fs::read(path).expect("a file");
            unpack(packed.get(head..).unwrap_or_default());
        }
        _ => {}
    }
    out
}

fn frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let Some(payload) = rest.get(4..4 + length) else { break };
        frames.push(payload.to_vec());
        bytes = &rest[4 + length..];
    }
    frames
}

/// Places of a secret on the command line of one run.
const RUNS: [&str; 14] = [
    "http://anna:%user%@HOST/x",
    "URL?token=%query%&page=2",
    "URL --basic anna:%basic%",
    "URL --bearer %bearer%",
    "URL --cookie sid=%cookie%",
    "URL -H Authorization:~Bearer~%header%",
    "URL -H X-Api-Key:~%key% -H Proxy-Authorization:~Basic~%proxy% -H X-Session-Token:~%session%",
    "URL --data user=anna&password=%data%",
    "URL --data {\"user\":{\"password\":\"%json%\"}} -H Content-Type:~application/json",
    "URL --form password=%form%",
    "URL -H @input.headers --bearer @input.token",
    "URL --header-file input.headers --cookie @input.cookies",
    "URL -H X-Api-Key:~${env:BRUNT_CANARY}",
    "--urls input.urls",
];

fn inputs(dir: &Path, url: &str) {
    write_input(dir, "input.headers", &format!("# a secret\nX-Api-Key: {}\n", canary("file")));
    write_input(dir, "input.token", &format!("{}\n", canary("token")));
    write_input(dir, "input.cookies", &format!("sid={}\n", canary("jar")));
    write_input(
        dir,
        "input.urls",
        &format!("{url}?token={}\n{url}login POST password={}\n", canary("list"), canary("post")),
    );
}

fn write_input(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("a file");
}

#[test]
fn no_secret_of_a_run_is_left_anywhere() {
    let server = server();
    let url = server.url_of("/");
    for line in RUNS {
        let dir = TempDir::new().expect("a directory");
        inputs(dir.path(), &url);
        let mut line = words(&line.replace("HOST", &server.address.to_string()), &url);
        line.extend(["-n", "6", "-c", "2", "--events", "run.events"].map(str::to_owned));
        line.extend(all_formats());
        let output = brunt(dir.path(), &line);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{line:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_clean(dir.path(), &output, &line.join(" "));
        let shown = fs::read_to_string(dir.path().join("report.json")).expect("the JSON");
        assert!(shown.contains("redacted:"), "{line:?}: {shown}");
    }
    let sent = server.requests().join("\n");
    for place in [
        "query", "bearer", "cookie", "header", "key", "data", "json", "form", "file", "token",
        "jar", "env", "list",
    ] {
        assert!(sent.contains(&canary(place)), "{place} was not sent as it is: {sent}");
    }
    assert!(!sent.contains("redacted:"), "{sent}");
}

#[test]
fn no_secret_of_an_experiment_is_left_anywhere() {
    let server = server();
    let url = server.url_of("/");
    let plan = format!(
        "name: p\nvars:\n  mine: {}\nscript:\n  request:\n    url: {url}?token={}\n    headers:\n      X-Api-Key: ${{mine}}\n      \
         Cookie: \"sid={}\"\n      X-Auth-Token: ${{env:BRUNT_CANARY}}\n    data: password={}\nload: {{rate: 40, duration: 200ms}}\n\
         hooks: {{before: {{experiment: \"DB_PASSWORD={} true\"}}}}\n",
        canary("var"),
        canary("query"),
        canary("cookie"),
        canary("data"),
        canary("hook")
    );
    for line in [
        "sweep A=URL?token=%a% B=URL?token=%b% -r 40 -d 200ms -H X-Api-Key:~%key%",
        "sweep URL?token=%bare% -r 40 -d 200ms",
        "find URL?token=%found% --time-budget 12s --trial-duration 1s --overload no --start-load 200 --max-load 400 --cooldown 0s --objective p99<1s --basic u:%pair%",
        "compare A=URL?token=%a% B=URL?token=%b% -r 40 -d 200ms --repeat 2 --bearer %bearer%",
        "run input.yaml",
    ] {
        let dir = TempDir::new().expect("a directory");
        fs::write(dir.path().join("input.yaml"), &plan).expect("a plan");
        let line = [words(line, &url), all_formats()].concat();
        let output = brunt(dir.path(), &line);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(dir.path().join("report.json").is_file(), "{line:?}: {errors}");
        assert!(
            fs::read_to_string(dir.path().join("report.json")).expect("JSON").contains("trials"),
            "{line:?}: {errors}"
        );
        assert_clean(dir.path(), &output, &line.join(" "));
        for again in [
            "report last",
            "runs list --all",
            "runs show last",
            "runs export last out.brunt",
            "plan show input.yaml",
        ] {
            let output = brunt(dir.path(), &words(again, &url));
            assert_clean(dir.path(), &output, again);
        }
    }
    assert!(!server.requests().join("\n").contains("redacted:"));
}

/// A scenario with a secret in every place for one. `URL` and `HOST` stand for the server.
const SCENARIO: &str = "name: auth-flow
load: {users: 2, duration: 300ms}
hooks: {before: {experiment: \"DB_PASSWORD=%hook% true --token %option%\"}}
scenario:
  base: URL
  variables: {password: %variable%, api_key: \"%quoted%\"}
  headers: {X-Session-Token: %inherited%}
  steps:
  - get: /x?token=%query%
    basic: \"anna:%basic%\"
  - get: \"http://bob:%user%@HOST/y\"
    name: auth-flow
  - get: /z
    bearer: %bearer%
    headers: {X-Api-Key: %header%, Cookie: \"login=%cookie%\"}
  - set: {client_secret: %set%}
  - for_each: {token: [%each%, \"%another%\"]}
    steps:
    - post: /form
      name: \"token-refresh: ${token}\"
      form: {password: %form%, csrf: \"${token}\", code: plain-code-7}
  - post: /json
    json: {auth: {password: %json%}, pin: %number%, key: plain-key-7}
    check: {contains: hello}
  - post: /data
    data: user=anna&password=%data%
  - post: /part
    multipart: {secret: %part%}
";

#[test]
fn no_secret_of_a_scenario_is_left_anywhere() {
    let server = server();
    let url = server.url_of("/");
    let filled = SCENARIO
        .replace("HOST", &server.address.to_string())
        .replace("URL", url.trim_end_matches('/'));
    let parts = filled.split('%').enumerate();
    let plan: String = parts
        .map(|(number, part)| if number % 2 == 1 { canary(part) } else { part.to_owned() })
        .collect();
    for line in [
        "run input.yaml",
        "run input.yaml --set scenario.variables.password=%set%",
        "run input.yaml --trace",
        "plan show input.yaml",
        "plan check input.yaml",
        "run input.yaml -o influx=INFLUX&p=%influx%",
    ] {
        let influx = serve_reply("HTTP/1.1 204 No Content\r\n\r\n");
        let dir = TempDir::new().expect("a directory");
        fs::write(dir.path().join("input.yaml"), &plan).expect("a plan");
        let mut line = words(&line.replace("INFLUX", &influx.url_of("/write?db=x")), &url);
        let is_run = line[0] == "run" && !line.contains(&"--trace".to_owned());
        line.extend(is_run.then(all_formats).unwrap_or_default());
        let output = brunt(dir.path(), &line);
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_clean(dir.path(), &output, &line.join(" "));
        let figures: String = influx
            .requests()
            .iter()
            .filter_map(|request| request.split_once("\r\n\r\n"))
            .map(|(_, body)| body)
            .collect();
        assert!(!figures.contains(CANARY), "{figures}");
        if is_run {
            let report = fs::read_to_string(dir.path().join("report.json")).expect("the JSON");
            assert!(
                report.contains("auth-flow") && report.contains("token-refresh: "),
                "names stay: {report}"
            );
            assert!(
                report.contains("plain-code-7") && report.contains("plain-key-7"),
                "other fields stay: {report}"
            );
        }
    }
    let sent = server.requests().join("\n");
    assert!(!sent.contains("redacted:"), "{sent}");
    for place in
        ["query", "bearer", "header", "cookie", "each", "another", "form", "json", "data", "part"]
    {
        assert!(sent.contains(&canary(place)), "{place} was not sent as it is: {sent}");
    }
}

/// A plan of JMeter with secrets in its variables, its authorization manager and its requests.
const JMX: &str = r#"<?xml version="1.0"?><jmeterTestPlan version="1.2"><hashTree><TestPlan testname="p">
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="password" elementType="Argument"><stringProp name="Argument.name">password</stringProp>
<stringProp name="Argument.value">%variable%</stringProp></elementProp></collectionProp></elementProp></TestPlan><hashTree>
<ThreadGroup testname="auth-group"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">2</stringProp>
<boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
</ThreadGroup><hashTree>
<HeaderManager testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header">
<stringProp name="Header.name">X-Api-Key</stringProp><stringProp name="Header.value">%header%</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
<AuthManager testname="a"><collectionProp name="AuthManager.auth_list"><elementProp name="" elementType="Authorization">
<stringProp name="Authorization.url">URL</stringProp><stringProp name="Authorization.username">anna</stringProp>
<stringProp name="Authorization.password">%auth%</stringProp></elementProp></collectionProp></AuthManager><hashTree/>
<HTTPSamplerProxy testname="token-refresh"><stringProp name="HTTPSampler.domain">DOMAIN</stringProp><stringProp name="HTTPSampler.port">PORT</stringProp>
<stringProp name="HTTPSampler.path">/x</stringProp><stringProp name="HTTPSampler.method">POST</stringProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="token" elementType="HTTPArgument"><stringProp name="Argument.name">token</stringProp>
<stringProp name="Argument.value">%argument%</stringProp></elementProp>
<elementProp name="pin" elementType="HTTPArgument"><stringProp name="Argument.name">pin</stringProp>
<stringProp name="Argument.value">${__P(api.token)}</stringProp></elementProp></collectionProp></elementProp>
</HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#;

#[test]
fn no_secret_of_a_plan_of_jmeter_is_left_anywhere() {
    let server = server();
    let filled = JMX.replace("URL", &server.url_of("/"));
    let filled = filled
        .replace("DOMAIN", &server.address.ip().to_string())
        .replace("PORT", &server.address.port().to_string());
    let parts = filled.split('%').enumerate();
    let plan: String = parts
        .map(|(number, part)| if number % 2 == 1 { canary(part) } else { part.to_owned() })
        .collect();
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("input.jmx"), &plan).expect("a plan");
    let line = [words("run input.jmx -Japi.token=%property%", ""), all_formats()].concat();
    let output = brunt(dir.path(), &line);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_clean(dir.path(), &output, &line.join(" "));
    assert!(
        fs::read_to_string(dir.path().join("report.json"))
            .expect("the JSON")
            .contains("token-refresh")
    );
    let sent = server.requests().join("\n");
    for place in ["header", "argument", "property"] {
        assert!(sent.contains(&canary(place)), "{place} was not sent as it is: {sent}");
    }
}

#[test]
fn a_contender_is_not_named_after_its_password() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    let url = server.url_of("/");
    for command in ["compare", "sweep"] {
        let line = format!(
            "{command} {} {} -r 40 -d 200ms",
            url_with_user(&url, "anna:%one%", "a"),
            url_with_user(&url, "%two%", "b")
        );
        let output = brunt(dir.path(), &[words(&line, ""), all_formats()].concat());
        assert_clean(dir.path(), &output, &line);
        let report = fs::read_to_string(dir.path().join("report.json")).expect("the JSON");
        assert!(report.contains(&format!("\"{}/a\"", server.address)), "{report}");
    }
}

fn url_with_user(url: &str, user: &str, path: &str) -> String {
    format!("{}{path}", url.replacen("://", &format!("://{user}@"), 1))
}

#[test]
fn error_messages_repeat_no_secret() {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("nothing"), "").expect("a file");
    for line in [
        "http://127.0.0.1:1/ --basic %basic%",
        "http://127.0.0.1:1/ -H X-Api-Key~%header%",
        "http://127.0.0.1:1/ --proxy http://u:%proxy%@127.0.0.1:1/",
        "ftp://u:%scheme%@127.0.0.1/",
        "run http://127.0.0.1:1/ --proxy http://ann:%proxy%@127.0.0.1:1/",
        "http://127.0.0.1:1/?token=%dead% -n 2 -c 1",
        "check http://anna:%check%@127.0.0.1:1/?token=%query%",
        "sweep http://127.0.0.1:1/?token=%sweep% -r 40 -d 200ms",
        "report http://h/?token=%none%",
    ] {
        let output = brunt(dir.path(), &words(line, "http://127.0.0.1:1/"));
        assert_ne!(output.status.code(), Some(101), "{line}");
        assert_clean(dir.path(), &output, line);
    }
}

#[test]
fn a_check_shows_no_secret() {
    let to = format!(
        "HTTP/1.1 302 Found\r\nLocation: /y?token={}\r\nContent-Length: 0\r\n\r\n",
        canary("location")
    );
    let server = serve_reply(to);
    let dir = TempDir::new().expect("a directory");
    for line in [
        "check URL?key=%query% -H X-Api-Key:~%key%",
        "check URL?key=%query% -o json=check.json -o text",
    ] {
        let output = brunt(dir.path(), &words(line, &server.url_of("/")));
        assert!(String::from_utf8_lossy(&output.stdout).contains("redacted:"), "{line}");
        assert_clean(dir.path(), &output, line);
    }
}

#[test]
fn side_files_of_drop_ins_hold_no_secret() {
    let server = server();
    let host = server.address.ip();
    let port = server.address.port();
    let side = "--brunt-json side.json --brunt-report side.html --brunt-store-dir store";
    for line in [
        format!("ab -n 4 {side} -A u:%auth% -P u:%proxy% -C s=%cookie% -H X-Api-Key:~%key% URL"),
        format!("siege -r 2 -c 1 -b {side} -H X-Api-Key:~%key% URL?token=%query%"),
        format!(
            "httperf --server {host} --port {port} --num-conns 4 {side} --add-header X-Api-Key:~%key%\\n --uri /x"
        ),
    ] {
        let dir = TempDir::new().expect("a directory");
        let line = words(&line, &server.url_of("/"));
        let mut output = brunt(dir.path(), &line);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{line:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(dir.path().join("side.json").is_file(), "{line:?}");
        // The output equals that of the real tool.
        output.stdout.clear();
        if line[0] != "ab" {
            output.stderr.clear();
        }
        assert_clean(dir.path(), &output, &line.join(" "));
    }
}

#[test]
fn requested_wire_output_stays_exact() {
    let server = server();
    let host = server.address.ip();
    let port = server.address.port();
    let dir = TempDir::new().expect("a directory");
    for (line, place) in [
        ("ab -v 4 -n 1 -H X-Api-Key:~%key% URL".to_owned(), "key"),
        ("ab -v 4 -n 1 URL".to_owned(), "set"),
        (
            format!(
                "httperf --server {host} --port {port} --num-conns 1 --print-request --add-header X-Api-Key:~%key%\\n"
            ),
            "key",
        ),
    ] {
        let output = brunt(dir.path(), &words(&line, &server.url_of("/")));
        let out = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(out.contains(&canary(place)) && !out.contains("redacted:"), "{line}: {out}");
    }
}

#[test]
fn equal_secrets_can_be_compared_within_a_store() {
    let server = server();
    let [one, other] = [(); 2].map(|()| TempDir::new().expect("a directory"));
    let first = replaced_token(&server, one.path(), "same");
    assert_eq!(first, replaced_token(&server, one.path(), "same"));
    assert_ne!(first, replaced_token(&server, one.path(), "another"));
    assert_ne!(first, replaced_token(&server, other.path(), "same"));
}

fn replaced_token(server: &ScriptedServer, dir: &Path, secret: &str) -> String {
    let line = format!("URL --bearer %{secret}% -n 2 -c 1 -q -o json=j");
    brunt(dir, &words(&line, &server.url_of("/")));
    let json = fs::read_to_string(dir.join("j")).expect("the JSON");
    json.split("Bearer redacted:")
        .nth(1)
        .map_or_else(|| panic!("{json}"), |rest| rest[..6].to_owned())
}

#[test]
fn the_store_is_readable_by_its_owner_only() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    brunt(dir.path(), &words("URL -n 2 -c 1 -q", &server.url_of("/")));
    brunt(dir.path(), &words("sweep URL -r 40 -d 200ms -q", &server.url_of("/")));
    brunt(dir.path(), &words("runs tag last mine", ""));
    brunt(dir.path(), &words("baseline save main", ""));
    let store = dir.path().join("store");
    assert_eq!(mode_of(&store), 0o700);
    for file in files(&store) {
        assert_eq!(mode_of(&file), 0o600, "{}", file.display());
    }
    fs::set_permissions(store.join("index.sqlite"), fs::Permissions::from_mode(0o644))
        .expect("another mode");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).expect("another mode");
    brunt(dir.path(), &words("runs", ""));
    assert_eq!((mode_of(&store), mode_of(&store.join("index.sqlite"))), (0o700, 0o600));
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_resumed_experiment_requires_its_secrets_again() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    let line = "sweep URL -r 20..30+10 -d 1s --repeat 2 -q";
    let mut child = command("");
    child
        .args(words_with(&server, line, "-H X-Api-Key:~%key%"))
        .env("BRUNT_STORE", dir.path().join("store"));
    let mut child = child.spawn().expect("brunt");
    wait_until("the second trial", || server.requests().len() > 25);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::INT).expect("a signal");
    child.wait().expect("its end");
    let before = server.requests().len();

    let refused = brunt(dir.path(), &words_with(&server, line, "--resume"));
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(errors.contains("header `X-Api-Key`") && errors.contains("--header-file"), "{errors}");
    assert_eq!(server.requests().len(), before, "nothing was sent without it");

    let again = brunt(dir.path(), &words_with(&server, line, "--resume -H X-Api-Key:~%rotated%"));
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    let sent = server.requests()[before..].join("\n");
    assert!(sent.contains(&canary("rotated")) && !sent.contains("redacted:"), "{sent}");
}

fn words_with(server: &ScriptedServer, line: &str, more: &str) -> Vec<String> {
    words(&format!("{line} {more}"), &server.url_of("/"))
}

#[test]
fn a_baseline_check_requires_the_secrets_again() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    run_line(dir.path(), &server, "URL --bearer %key% -n 20 -c 1 -q");
    run_line(dir.path(), &server, "baseline save main");
    let before = server.requests().len();
    let refused = run_line(dir.path(), &server, "baseline check main URL");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(errors.contains("header `Authorization`"), "{errors}");
    assert_eq!(server.requests().len(), before, "nothing was sent without it");
    run_line(dir.path(), &server, "baseline check main URL -H Authorization:~Bearer~%again%");
    let sent = server.requests()[before..].join("\n");
    assert!(sent.contains(&canary("again")) && !sent.contains("redacted:"), "{sent}");
}

fn run_line(dir: &Path, server: &ScriptedServer, line: &str) -> Output {
    brunt(dir, &words(line, &server.url_of("/")))
}
