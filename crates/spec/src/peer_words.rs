//! Words of other tools for options and plan keys: k6, ab, wrk, hey, oha, vegeta, Locust, Artillery, JMeter and curl.
//! The message for an unknown word takes its answer from here; only for other words does it look for a similar spelling.

/// Options of other tools, and what to write instead. Options that brunt has with the same meaning are no rows.
const OPTIONS: &[(&[&str], &str)] = &[
    // Load
    (&["--concurrency", "--clients", "--virtual-users"], "write -c N (--connections)"),
    (
        &["--ramp", "--ramp-up", "--rampup", "--stage", "--stages", "--spawn-rate", "--hatch-rate"],
        "write -c 0..N/TIME, such as -c 0..100/30s,100/2m; --rate takes stages, too",
    ),
    (
        &["--rps-limit", "--max-rps", "--throughput", "--arrival-rate", "--query-per-second"],
        "write -r N (--rate)",
    ),
    (
        &[
            "-l",
            "--time",
            "--run-time",
            "--runtime",
            "--test-time",
            "--time-limit",
            "--test-duration",
        ],
        "write -d TIME (--duration)",
    ),
    (
        &["--count", "--num", "--num-requests", "--number", "--total", "--amount", "--reps"],
        "write -n N (--requests)",
    ),
    (&["-w", "--workers", "-cpus", "--cpus"], "write --threads N"),
    (&["--max-workers", "--max-connections"], "write --max-in-flight N"),
    (&["--think-time", "--pause", "--sleep", "--delay", "--wait"], "write --think TIME"),
    (
        &["--thresholds", "--threshold", "--slo", "--ensure"],
        "write --objective 'p99 < 200ms, errors < 1%'",
    ),
    (
        &["-s", "--script"],
        "brunt runs no Lua scripts; describe requests in a plan file (`brunt plan new plan.yaml`)",
    ),
    (&["--env", "-e"], "write --set NAME=VALUE for a variable of a plan file"),
    (&["--phases", "--config"], "write a plan file (`brunt plan new plan.yaml`)"),
    // Requests
    (
        &["--url", "--host", "--server", "--target", "--uri"],
        "the URL is an argument of its own; leave the option out",
    ),
    (&["--targets", "--url-file", "--urls-from-file"], "write --urls FILE"),
    (
        &[
            "--body",
            "--payload",
            "--data-raw",
            "--data-ascii",
            "--data-urlencode",
            "--body-file",
            "--post-data",
        ],
        "write --data TEXT or --data @FILE; --form NAME=VALUE is encoded",
    ),
    (&["-D", "-p"], "write --data @FILE; requests are not pipelined"),
    (
        &["-T", "--content-type", "--upload-file"],
        "write -H 'Content-Type: TYPE', and --data @FILE for the body",
    ),
    (
        &["-F", "--form-string"],
        "write --form NAME=VALUE; a multipart form is `multipart` of a step in a plan file (docs/scenarios.md)",
    ),
    (&["-a", "--auth", "--basic-auth"], "write --basic NAME:PASSWORD, or --bearer TOKEN"),
    (&["-C", "--cookies", "--cookie-jar"], "write --cookie NAME=VALUE"),
    (
        &["--headers", "--add-header", "--custom-header"],
        "write -H 'NAME: VALUE' once for each header",
    ),
    (&["--referer", "--accept"], "write -H 'NAME: VALUE'"),
    (&["--redirects", "--follow-redirects", "--max-redirs", "--max-redirects"], "write --follow N"),
    (
        &["--disable-redirects", "--no-follow", "--disable-redirect"],
        "redirects are not followed; leave it out",
    ),
    (&["--gzip", "--compression", "--accept-encoding"], "write --compressed"),
    (&["--disable-compression"], "replies are not compressed without --compressed; leave it out"),
    (
        &["--checks", "--assert", "--expect", "--status"],
        "write --expect-status LIST or --expect-body REGEX",
    ),
    (&["-G", "--get"], "GET is the default; write parameters into the URL"),
    // Connections
    (
        &[
            "--disable-keepalive",
            "--disable-keep-alive",
            "--no-connection-reuse",
            "--no-keep-alive",
            "--disable-persistence",
        ],
        "write --no-keepalive",
    ),
    (&["--keepalive", "--keep-alive"], "connections are kept alive; leave it out"),
    (&["--http2", "--http2-prior-knowledge", "-2", "--h2"], "write --http 2"),
    (&["--http3", "--http3-only", "--h3"], "write --http 3"),
    (&["--http1.1", "--http1"], "HTTP/1.1 is the default; leave it out"),
    (&["-0"], "write --http 1.0"),
    (&["-U", "--proxy-user", "-P"], "put name and password into the URL of --proxy"),
    (&["--request-timeout", "--socket-timeout", "--http-timeout"], "write --timeout TIME"),
    (
        &["--insecure-skip-tls-verify", "--skip-tls-verify", "--no-verify", "--skip-verify"],
        "write -k (--insecure)",
    ),
    (&["--ca", "--ca-cert", "--root-certs"], "write --cacert FILE"),
    (
        &["--connect-to", "--host-header", "--dns"],
        "write --resolve HOST:PORT:ADDRESS, or -H 'Host: NAME'",
    ),
    (&["--interface", "--local-addr", "--laddr", "--bind"], "write --source ADDRESS"),
    // Reports
    (
        &["--percentiles", "--summary-trend-stats", "--print-latency"],
        "percentiles are part of each report; leave it out",
    ),
    (&["--latency-correction"], "response times count from the planned instant; leave it out"),
    (
        &[
            "--no-tui",
            "--headless",
            "--no-progress",
            "--silent",
            "-S",
            "--no-summary",
            "--no-usage-report",
        ],
        "leave it out, or write -q for no output",
    ),
    (
        &[
            "--html",
            "--csv",
            "--output-format",
            "--format",
            "--out",
            "--report",
            "--summary-export",
            "--output-file",
        ],
        "write -o html=FILE, json=FILE, csv=FILE or another format",
    ),
    (
        &["-O", "--remote-name"],
        "replies are not stored; leave it out, or write -o FORMAT=FILE for a report",
    ),
    (&["-i", "--include"], "write `brunt check URL`, which shows the reply's status and headers"),
    (&["--debug", "--http-debug", "--dump", "--print-request"], "write --trace"),
    (&["--log-level", "--loglevel", "--verbosity"], "write -v for more, or -q for less"),
];

/// A word for plan keys, and what to write instead. The first pair counts of which the map has the key.
struct KeyRow {
    spellings: &'static [&'static str],
    instead: &'static [(&'static str, &'static str)],
}

const fn row(
    spellings: &'static [&'static str],
    instead: &'static [(&'static str, &'static str)],
) -> KeyRow {
    KeyRow { spellings, instead }
}

/// Keys of other tools' plans, scripts and options. `users` is only in `load`, `load` only at the top, `get` only in a
/// step, `contains` only in a check.
const KEYS: &[KeyRow] = &[
    row(
        &[
            "vus",
            "users",
            "concurrency",
            "virtual_users",
            "num_threads",
            "num_users",
            "clients",
            "connections",
            "threads",
        ],
        &[("users", "users: N"), ("load", "load: {users: N}")],
    ),
    row(
        &[
            "stages",
            "ramp",
            "ramp_up",
            "ramp_to",
            "phases",
            "spawn_rate",
            "hatch_rate",
            "ramp_time",
        ],
        &[
            ("users", "users: '0..100/30s,100/2m', or rate with such stages"),
            ("load", "load: {users: '0..100/30s,100/2m'}"),
        ],
    ),
    row(
        &[
            "rps",
            "qps",
            "tps",
            "rate",
            "arrival_rate",
            "throughput",
            "target_rps",
            "requests_per_second",
        ],
        &[("users", "rate: N"), ("load", "load: {rate: N}")],
    ),
    row(
        &["time", "duration", "runtime", "run_time", "hold_for", "length"],
        &[("users", "duration: TIME"), ("load", "load: {duration: TIME}")],
    ),
    row(
        &["amount", "total", "num", "iterations", "requests", "count"],
        &[("users", "requests: N"), ("load", "load: {requests: N}")],
    ),
    row(
        &["warm_up", "warmup", "ramp_up_time"],
        &[("users", "warmup: TIME"), ("load", "load: {warmup: TIME}")],
    ),
    row(
        &["pause", "wait", "sleep", "think_time", "delay", "wait_time"],
        &[("users", "think: TIME"), ("get", "think: TIME")],
    ),
    row(&["options"], &[("load", "load: {users: N, duration: TIME}")]),
    row(
        &["thresholds", "slo", "slos", "ensure", "assertions", "objective", "criteria"],
        &[("load", "objectives: ['p99 < 200ms', 'errors < 1%']")],
    ),
    row(
        &["url", "target", "host", "base_url", "base", "uri", "request", "endpoint"],
        &[("load", "script: {request: URL}, or scenario: {base: URL, steps: […]}")],
    ),
    row(&["steps", "flow", "tasks", "execution"], &[("load", "scenario: {base: URL, steps: […]}")]),
    row(
        &["scenarios", "executors", "thread_groups", "groups"],
        &[("load", "populations: {NAME: {load: …, scenario: …}}")],
    ),
    row(&["variables", "env", "environment", "parameters"], &[("load", "vars: {NAME: VALUE}")]),
    row(
        &["timeout", "request_timeout", "http_timeout"],
        &[("load", "connection: {timeout: TIME}"), ("keepalive", "timeout: TIME")],
    ),
    row(
        &["insecure", "skip_tls_verify", "insecure_skip_tls_verify", "verify"],
        &[("load", "connection: {insecure: true}"), ("keepalive", "insecure: true")],
    ),
    row(
        &["keep_alive", "keepalive", "no_connection_reuse"],
        &[("load", "connection: {keepalive: false}"), ("keepalive", "keepalive: false")],
    ),
    row(
        &["http2", "http3", "protocol", "proxy"],
        &[("load", "connection: {http: 2}, or connection: {proxy: URL}")],
    ),
    row(
        &["headers", "data", "cookies"],
        &[("load", "scenario: {headers: {NAME: VALUE}}, and data in a step")],
    ),
    // Steps
    row(
        &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
        &[("get", "the method in small letters, such as get: PATH")],
    ),
    row(
        &["url", "uri", "path", "endpoint", "page"],
        &[("get", "get: PATH, or request: PATH with method: METHOD")],
    ),
    row(
        &["body", "payload", "content", "body_file"],
        &[("get", "data: TEXT, json: {…} or file: FILE")],
    ),
    row(
        &["assert", "expect", "assertions", "validate", "validations", "checks", "status", "test"],
        &[("get", "check: {status: 200}")],
    ),
    row(
        &["capture", "captures", "save", "store", "extractors", "register", "export"],
        &[("get", "extract: {NAME: {json: $.PATH}}")],
    ),
    row(&["repeat", "times", "iterations"], &[("get", "loop: N, with its steps in steps")]),
    row(&["params", "query_params", "query_string", "qs"], &[("get", "query: {NAME: VALUE}")]),
    row(
        &["auth", "authentication", "authorization"],
        &[("get", "basic: NAME:PASSWORD, or bearer: TOKEN")],
    ),
    row(&["cookie", "cookies"], &[("get", "headers: {Cookie: NAME=VALUE}")]),
    row(&["label", "tag", "tags", "title", "id"], &[("get", "name: NAME")]),
    row(&["form_data", "formdata", "urlencoded"], &[("get", "form: {NAME: VALUE}, or multipart")]),
    row(&["websocket", "ws", "connect"], &[("get", "open: ws://HOST/PATH")]),
    row(
        &["purge", "propfind", "mkcol", "report", "trace"],
        &[("get", "request: PATH, and method: METHOD")],
    ),
    row(&["weight", "probability"], &[("get", "choose: [{weight: N, steps: […]}, …]")]),
    // Checks and extractors
    row(&["status_code", "code", "http_code"], &[("contains", "status: 200")]),
    row(&["body", "text", "includes", "content"], &[("contains", "contains: TEXT")]),
    row(
        &["duration", "response_time", "max_duration", "latency", "timeout"],
        &[("contains", "max_time: TIME")],
    ),
    row(
        &["jsonpath", "json_path"],
        &[("contains", "json: {$.PATH: VALUE}"), ("jmespath", "json: $.PATH")],
    ),
    row(
        &["regexp", "re", "pattern", "match"],
        &[("contains", "matches: REGEX"), ("jmespath", "regex: REGEX")],
    ),
    row(&["selector", "css_selector"], &[("jmespath", "css: SELECTOR")]),
];

/// What to write for another tool's option, with its dashes.
pub fn option(spelling: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(spellings, _)| spellings.contains(&spelling)).map(|row| row.1)
}

/// All rows of options.
pub fn options() -> impl Iterator<Item = (&'static [&'static str], &'static str)> {
    OPTIONS.iter().copied()
}

/// What to write for another tool's key in a map with these keys.
pub(crate) fn key<T: AsRef<str>>(spelling: &str, known: &[T]) -> Option<&'static str> {
    let normal = snake_case(spelling);
    let rows = KEYS
        .iter()
        .filter(|row| row.spellings.iter().any(|other| *other == spelling || *other == normal));
    let mut answers = rows.flat_map(|row| row.instead);
    let answer = answers.find(|(marker, _)| known.iter().any(|key| key.as_ref() == *marker));
    answer.map(|(_, instead)| *instead)
}

/// Converts camelCase and kebab-case, as JavaScript and command lines have them.
fn snake_case(word: &str) -> String {
    let mut snake = String::new();
    for character in word.chars() {
        if character.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(character.to_lowercase().map(|c| if c == '-' || c == ' ' { '_' } else { c }));
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_depends_on_its_place() {
        let top = ["scenario", "load"];
        let load = ["users", "rate"];
        let step = ["get", "loop"];
        assert_eq!(key("vus", &top), Some("load: {users: N}"));
        assert_eq!(key("rampUp", &load), key("stages", &load));
        assert!(key("url", &top).is_some_and(|instead| instead.contains("script")));
        assert!(key("url", &step).is_some_and(|instead| instead.contains("get: PATH")));
        assert!(key("POST", &step).is_some_and(|instead| instead.contains("small letters")));
        assert_eq!(key("payload", &top), None);
    }

    #[test]
    fn each_spelling_has_one_answer() {
        let mut spellings: Vec<&str> = options().flat_map(|row| row.0).copied().collect();
        let count = spellings.len();
        spellings.sort_unstable();
        spellings.dedup();
        assert_eq!(spellings.len(), count);
        assert!(count + KEYS.iter().map(|row| row.spellings.len()).sum::<usize>() >= 250);
    }
}
