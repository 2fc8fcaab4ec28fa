use super::*;
use crate::SpecError;
use crate::settings::{Occurrence, SettingTable};
use brunt_model::plan::ReplyChecks;
use brunt_model::plan::{HttpVersion, StatusRange, TlsVersion};
use brunt_model::scenario::ListOrder;
use brunt_model::{Arrivals, Body, Load, LoadShape, LoadStage, Request, ThinkTime};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

const SYSTEM: System = System::bare(20_000, 4, Some(28_232), 99);

/// Reads settings from options by the table alone, without clap: `-r 5`, `--rate 5`, `--precise`,
/// and the URL.
fn settings(words: &[String]) -> Result<RunSettings> {
    let mut settings = RunSettings::with_defaults();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let row = RunSettings::rows().find(|row| match word.strip_prefix("--") {
            Some(long) => row.option == long,
            None => row.short.is_some_and(|letter| *word == format!("-{letter}")),
        });
        let Some(row) = row else {
            settings.url = Some(word.clone());
            continue;
        };
        let value =
            if row.kind == Occurrence::Switch { "" } else { words.next().expect("a value") };
        let values =
            if row.kind == Occurrence::List { value.split(',').collect() } else { vec![value] };
        for value in values {
            (row.read)(value, SYSTEM.environment)
                .map_err(SpecError::unplaced)?
                .put_into(&mut settings);
        }
        settings.sources.option(row.option, row.option);
    }
    Ok(settings)
}

fn planned_on(system: System, line: &str) -> Result<(Plan, Vec<String>)> {
    let words: Vec<String> = line.split(' ').map(|word| word.replace('~', " ")).collect();
    to_plan(&settings(&words)?, &system)
}

/// The plan of a command line; `~` stands for a space within a word.
fn plan(line: &str) -> Plan {
    planned_on(SYSTEM, line).unwrap_or_else(|e| panic!("{line}: {e:#}")).0
}

fn error_text(line: &str) -> String {
    format!("{:#}", planned_on(SYSTEM, line).map(|p| p.0.main().load.clone()).unwrap_err())
}

fn request(line: &str) -> Request {
    plan(line).main().scenario.requests[0].clone()
}

fn headers(line: &str) -> String {
    let headers: Vec<_> = request(line).headers.iter().map(|(n, v)| format!("{n}: {v}")).collect();
    headers.join(" | ")
}

/// A self-signed certificate with its key, as PEM.
fn certificate_and_key() -> String {
    let (certificate, key) = pem_parts();
    certificate + &key
}

fn pem_parts() -> (String, String) {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    (own.cert.pem(), own.signing_key.serialize_pem())
}

fn file(suffix: &str, bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

const AGENT: &str = concat!("User-Agent: brunt/", env!("CARGO_PKG_VERSION"));

#[test]
fn a_url_alone() {
    let plan = plan("http://127.0.0.1:8080");
    assert_eq!(
        plan.main().load,
        Load::Closed { users: LoadShape::constant(10.0), think: ThinkTime::NONE }
    );
    assert_eq!((plan.main().stop.duration, plan.main().stop.requests), (Some(seconds(10)), None));
    assert_eq!((plan.main().stop.warmup, plan.main().stop.grace), (Duration::ZERO, seconds(5)));
    assert_eq!(
        (plan.connection.timeout, plan.connection.connect_timeout),
        (seconds(30), seconds(10))
    );
    assert_eq!(
        (plan.connection.connect_rate, plan.connection.requests_per_connection),
        (5000, None)
    );
    assert_eq!((plan.record.interval, plan.record.labels), (Duration::from_millis(100), 1000));
    assert_eq!(
        (plan.seed, plan.threads, plan.main().scenario.order(), plan.policy().redirects.most),
        (99, 1, Some(ListOrder::Sequence), 0)
    );
    assert_eq!((&plan.policy().checks, &plan.objectives), (&ReplyChecks::default(), &Vec::new()));
    let request = &plan.main().scenario.requests[0];
    assert_eq!((request.method.as_str(), &request.body, request.weight), ("GET", &Body::None, 1));
    assert_eq!(
        (request.url.as_str(), request.label.as_str()),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/")
    );
}

#[test]
fn closed_loads() {
    let stage = |from, to, s| LoadStage { from, to, duration: Some(seconds(s)) };
    let stages = LoadShape { stages: vec![stage(0.0, 500.0, 30), stage(500.0, 500.0, 120)] };
    let think = ThinkTime { least: Duration::from_millis(500), most: seconds(2) };
    for (line, users, think, duration, requests) in [
        ("-c 64 -d 5s h", LoadShape::constant(64.0), ThinkTime::NONE, Some(seconds(5)), None),
        ("-c 64 -n 100 h", LoadShape::constant(64.0), ThinkTime::NONE, None, Some(100)),
        (
            "-n 100 -d 1m h",
            LoadShape::constant(10.0),
            ThinkTime::NONE,
            Some(seconds(60)),
            Some(100),
        ),
        ("-c 0..500/30s,500/2m h", stages.clone(), ThinkTime::NONE, Some(seconds(150)), None),
        ("-c 0..500/30s,500/2m -n 9 h", stages, ThinkTime::NONE, Some(seconds(150)), Some(9)),
        ("--think 0.5s..2s h", LoadShape::constant(10.0), think, Some(seconds(10)), None),
    ] {
        let plan = plan(line);
        assert_eq!(plan.main().load, Load::Closed { users, think }, "{line}");
        assert_eq!(
            (plan.main().stop.duration, plan.main().stop.requests),
            (duration, requests),
            "{line}"
        );
    }
}

#[test]
fn open_loads() {
    let open = |rate, arrivals, connections, max_in_flight| Load::Open {
        rate,
        arrivals,
        connections,
        max_in_flight,
    };
    let rate = LoadShape::constant;
    for (line, load) in [
        ("-r 2000 h", open(rate(2000.0), Arrivals::Poisson, None, 19_936)),
        ("-r 0.5 --arrivals even h", open(rate(0.5), Arrivals::Even, None, 19_936)),
        ("-r 2000 -c 50 h", open(rate(2000.0), Arrivals::Poisson, Some(50), 19_936)),
        (
            "-r 9 --arrivals burst:3 --max-in-flight 8 h",
            open(rate(9.0), Arrivals::Burst(3), None, 8),
        ),
    ] {
        assert_eq!(plan(line).main().load, load, "{line}");
    }
    let ramp = plan("-r 0..500/30s,500 -d 2m h");
    assert_eq!((ramp.main().stop.duration, ramp.main().stop.requests), (Some(seconds(120)), None));
    let ramp = plan("-r 0..500/30s,500 -n 9 h");
    assert_eq!((ramp.main().stop.duration, ramp.main().stop.requests), (None, Some(9)));
    let plan =
        plan("-r 5 --warmup 5s --grace 1 --connect-rate 7 --seed 3 --interval 1s --labels 2 h");
    assert_eq!((plan.main().stop.warmup, plan.main().stop.grace), (seconds(5), seconds(1)));
    assert_eq!((plan.connection.connect_rate, plan.seed, plan.record.labels), (7, 3, 2));
}

#[test]
fn requests() {
    assert_eq!(request("example.org/a").url, "http://example.org/a");
    assert_eq!(request("-X DELETE h").method, "DELETE");
    assert_eq!(headers("h"), AGENT);
    assert_eq!(headers("-H Host:~x -H a:b h"), format!("Host: x | a: b | {AGENT}"));
    assert_eq!(headers("-H user-agent:~me h"), "user-agent: me");
    assert_eq!(
        headers("--user-agent me --compressed h"),
        "User-Agent: me | Accept-Encoding: gzip, deflate"
    );
    assert_eq!(
        headers("--basic anna:secret h"),
        format!("{AGENT} | Authorization: Basic YW5uYTpzZWNyZXQ=")
    );
    assert_eq!(
        headers("http://anna:secret@h"),
        format!("{AGENT} | Authorization: Basic YW5uYTpzZWNyZXQ=")
    );
    assert_eq!(headers("--bearer t0k h"), format!("{AGENT} | Authorization: Bearer t0k"));
    assert_eq!(headers("--cookie a=1 --cookie b=2 h"), format!("{AGENT} | Cookie: a=1; b=2"));
}

#[test]
fn bodies() {
    let form = format!("{AGENT} | Content-Type: application/x-www-form-urlencoded");
    let text = |s: &str| Body::Text(s.into());
    let posted = request("--data a=1&b={n} h");
    assert_eq!((posted.method.as_str(), posted.body), ("POST", text("a=1&b={n}")));
    assert_eq!(headers("--data a=1 h"), form);
    assert_eq!(headers("--data a=1 -H content-type:x/y h"), format!("content-type: x/y | {AGENT}"));
    assert_eq!(request("--data a=1 -X PUT h").method, "PUT");
    let fields = request("--form user=Anna~B --form q={n}&= h");
    assert_eq!((fields.method.as_str(), fields.body), ("POST", text("user=Anna+B&q={n}%26%3D")));
    let (json, binary) = (file(".json", b"{\"a\": 1}"), file("", &[0xff, 0xfe]));
    assert_eq!(request(&format!("--data @{} h", json.path().display())).body, text("{\"a\": 1}"));
    assert_eq!(
        request(&format!("--data @{} h", binary.path().display())).body,
        Body::from_bytes(vec![0xff, 0xfe])
    );
}

#[test]
fn lists_of_urls() {
    let list = file("", b"[2] http://h/a\nhttp://h/b POST x=1\n/c\n");
    let plan = plan(&format!(
        "--urls {} --order random --bearer t http://base:81/",
        list.path().display()
    ));
    assert_eq!(plan.main().scenario.order(), Some(ListOrder::Random));
    let asked: Vec<_> = plan
        .main()
        .scenario
        .requests
        .iter()
        .map(|r| (r.weight, r.label.as_str(), r.headers.len()))
        .collect();
    assert_eq!(
        asked,
        [(2, "http://h/a", 2), (1, "POST http://h/b", 3), (1, "http://base:81/c", 2)]
    );
    assert_eq!(plan.main().scenario.requests[1].body, Body::Text("x=1".into()));
    let error_text = error_text(&format!("--urls {}", list.path().display()));
    assert!(
        error_text.contains(":3: `/c`: the server is not specified; write http://HOST/c"),
        "{error_text}"
    );
}

#[test]
fn connections_and_checks() {
    let pem = file(".pem", certificate_and_key().as_bytes());
    let pem = pem.path().display();
    let plan = plan(&format!(
        "--no-keepalive --retry-stale --http1.0 --timeout 5 --connect-timeout 500ms --receive-rate 10k --cacert {pem} \
         --cert {pem} --key {pem} -k --sni n --no-tls-resumption --resolve h:443:127.0.0.1 --resolve-every 1m \
         --proxy http://p:3128 --source 127.0.0.2,127.0.0.3 --follow 3 --threads 2 --expect-status 2xx,304 \
         --expect-body ok --expect-same-length --objective p99~<~50ms,errors~<~1% --objective goodput>5 https://h"
    ));
    let connection = &plan.connection;
    assert_eq!(connection.requests_per_connection, Some(1));
    assert!(
        connection.retry_stale
            && connection.http == HttpVersion::V1_0
            && connection.tls.insecure
            && connection.tls.no_resumption
    );
    assert_eq!(
        (connection.timeout, connection.connect_timeout),
        (seconds(5), Duration::from_millis(500))
    );
    assert_eq!(
        (connection.receive_rate, connection.resolve_every),
        (Some(10_000), Some(seconds(60)))
    );
    assert_eq!((connection.source.len(), connection.resolve.len()), (2, 1));
    assert_eq!(
        (connection.proxy.as_deref(), connection.tls.sni.as_deref()),
        (Some("http://p:3128/"), Some("n"))
    );
    assert_eq!((plan.policy().redirects.most, plan.threads, plan.objectives.len()), (3, 2, 3));
    assert_eq!(plan.policy().checks.status[1], StatusRange { least: 304, most: 304 });
    assert_eq!(
        (plan.policy().checks.body.as_deref(), plan.policy().checks.same_length),
        (Some("ok"), true)
    );
    let other = super::tests::plan(
        "--no-keepalive --requests-per-connection 1 --unix-socket /run/s http://h",
    );
    assert_eq!(other.connection.unix_socket, Some(PathBuf::from("/run/s")));
    assert_eq!(
        super::tests::plan("--requests-per-connection 9 h").connection.requests_per_connection,
        Some(9)
    );
}

#[test]
fn the_number_of_threads_follows_the_rate_with_a_note() {
    for (line, cores, threads, note) in [
        ("-r 60000 h", 4, 1, ""),
        ("-r 60001 h", 4, 2, "60001 requests/s take 2 threads; --threads 1 keeps to one"),
        ("-r 0..240000/1s h", 4, 4, "take 4 threads"),
        ("-r 240000 127.0.0.1", 4, 3, "need 4 threads (3 available)"),
        ("-r 240000 127.0.0.1", 1, 1, "need 4 threads (1 available)"),
        ("-r 240000 --resolve h:80:127.0.0.1 h", 4, 3, "3 available"),
        ("-r 240000 --unix-socket /s h", 4, 3, "3 available"),
        ("-c 1000 h", 4, 1, ""),
        ("--threads 4 h", 4, 4, ""),
        ("--threads 4 localhost", 4, 4, "4 threads on 4 cores, and the server needs one as well"),
        ("--threads 1 localhost", 1, 1, ""),
    ] {
        let (plan, notes) = planned_on(System { cores, ..SYSTEM }, line).unwrap();
        assert_eq!(plan.threads, threads, "{line}");
        assert!(
            notes.join("|").contains(note) && notes.is_empty() == note.is_empty(),
            "{line}: {notes:?}"
        );
    }
}

#[test]
fn the_number_of_processes_follows_the_connections_with_a_note() {
    for (line, processes, note) in [
        ("-c 19936 h", 1, ""),
        ("-c 19937 h", 2, "19,937 connections need 2 processes: one may have 20,000 open files"),
        ("-c 60000 h", 4, "60,000 connections need 4 processes"),
        ("-c 60000 --processes 6 h", 6, ""),
        ("-c 0..60000/1m h", 4, "60,000 connections need 4"),
        ("-r 5 -c 40000 h", 3, "40,000 connections need 3"),
        ("-r 5 --max-in-flight 40000 h", 3, "40,000 connections need 3"),
        ("-r 5 h", 1, ""),
        ("-r 5 --processes 3 h", 3, ""),
    ] {
        let (plan, notes) = planned_on(SYSTEM, line).unwrap();
        assert_eq!(plan.processes, processes, "{line}");
        assert!(
            notes.join("|").contains(note) && notes.is_empty() == note.is_empty(),
            "{line}: {notes:?}"
        );
    }
    let Load::Open { max_in_flight, .. } = plan("-r 5 --processes 3 h").main().load else {
        panic!("a rate")
    };
    assert_eq!(max_in_flight, 3 * 19_936);
    assert_eq!(
        (plan("-r 180000 --processes 2 h").threads, plan("-r 100000 --processes 2 h").threads),
        (2, 1)
    );
}

#[test]
fn loopback_servers_are_reached_from_enough_source_addresses() {
    let sources = |line: &str| {
        plan(line).connection.source.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(sources("-c 25000 127.0.0.1"), "");
    assert_eq!(sources("-c 26000 127.0.0.1"), "127.0.0.1 127.0.0.2 127.0.0.3");
    let five = "127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5";
    assert_eq!(sources("-c 60000 127.0.0.1:81"), five);
    assert_eq!(sources("-c 60000 --resolve h:80:127.0.0.1 h"), five);
    for line in [
        "-c 60000 10.0.0.1",
        "-c 60000 localhost",
        "-c 60000 --unix-socket /s 127.0.0.1",
        "-c 60000 [::1]",
    ] {
        assert_eq!(sources(line), "", "{line}");
    }
    assert_eq!(sources("-r 5 --processes 3 127.0.0.1"), "");
    assert_eq!(sources("-c 60000 --source 127.0.0.9 127.0.0.1"), "127.0.0.9");
    let notes = planned_on(SYSTEM, "-c 60000 127.0.0.1").unwrap().1.join("|");
    assert!(
        notes.contains(
            "made from 5 local addresses, 127.0.0.1 to 127.0.0.5, with 28,232 ports each"
        ),
        "{notes}"
    );
}

#[test]
fn errors_of_contradicting_options_show_valid_ones() {
    for (line, remedy) in [
        (
            "--json {bad h",
            "--json: the body is not JSON: key must be a string at line 1 column 2; write JSON such as",
        ),
        ("--json {\"id\":{n},} h", "not JSON: key must be a string at line 1 column 9"),
        ("-c 5", "no URL; write one such as http://127.0.0.1:8080/, or --urls FILE"),
        ("ftp://h", "brunt speaks http, https, ws and wss, not ftp; write http://h"),
        (
            "-r 50..1500+50 h",
            "a sweep of 30 loads is the work of `brunt sweep`; write that, or one load, such as --rate 50",
        ),
        ("-c [5,10] h", "such as --connections 5"),
        ("-r 5 --think 1s h", "--think belongs to the closed loop"),
        ("--arrivals even h", "--arrivals belongs to the open loop: add --rate N"),
        ("--max-in-flight 5 h", "--max-in-flight belongs to the open loop: add --rate N"),
        ("-r 5 -c 0..5/1s h", "write one number, such as -c 100"),
        ("-r 5 -c 5/1s h", "write one number, such as -c 100"),
        ("-r 500/2m -d 1m h", "(`500/120s`: 120s); leave out --duration"),
        (
            "-r 0..500/30s,500 h",
            "`0..500/30s,500`: the last stage has no end; write 0..500/30s,500/2m, or add --duration",
        ),
        (
            "-c 19937 --processes 1 h",
            "--processes 1: 19,937 connections need 2, because one may have 20,000 open files (its hard limit); write --processes 2. To raise the limit: `ulimit -Hn 20001`",
        ),
        ("-r 5 -c 90000 --processes 3 h", "write --processes 5. To raise the limit"),
        (
            "-c 9000000 h",
            "--connections: 9,000,000 connections are too many for 256 processes of 20,000 open files each",
        ),
        ("-r 5 --max-in-flight 9000000 h", "--max-in-flight: 9,000,000 connections are too many"),
        (
            "-c 3 --processes 4 h",
            "3 connections are too few for this number; write --processes 3 or less",
        ),
        ("--no-keepalive --requests-per-connection 2 h", "write one of them"),
        (
            "--user-agent a -H User-Agent:b h",
            "--user-agent and another option both set the header User-Agent; write one",
        ),
        (
            "--basic a:b http://c:d@h",
            "a name and password in the URL and another option both set the header Authorization",
        ),
        ("--cookie a=b -H cookie:c=d h", "both set the header Cookie"),
        ("--basic {n}:b h", "write -H 'Authorization: Basic {csv:FILE:column}'"),
        ("--data @/no/such h", "--data: cannot read /no/such: "),
        ("--data {random:9..1} h", "body: `{random:9..1}`: the lower number comes first; write"),
        ("-H X:{csv:/no/such:a} h", "header X: cannot read /no/such: "),
        ("http://h/{random:x}", "two whole numbers are needed; write {random:1..100}"),
        ("--urls /no/such", "cannot read /no/such: "),
    ] {
        let error_text = error_text(line);
        assert!(error_text.contains(remedy), "{line}: {error_text}");
    }
    let pem = file(".pem", certificate_and_key().as_bytes());
    let (certificate, key) = pem_parts();
    let only_certificate = file(".pem", certificate.as_bytes());
    let only_key = file(".pem", key.as_bytes());
    let without_key = error_text(&format!("--cert {} h", only_certificate.path().display()));
    assert!(without_key.contains("no private key; write --key FILE"), "{without_key}");
    assert!(error_text(&format!("--key {} h", pem.path().display())).contains("add --cert FILE"));
    // The key may be in the file of the certificate.
    plan(&format!("--cert {} h", pem.path().display()));
    plan(&format!(
        "--cert {} --key {} --key-password unused h",
        only_certificate.path().display(),
        only_key.path().display()
    ));
}

#[test]
fn a_field_of_graphql_is_not_replaced_in_silence() {
    for (body, placeholder) in [
        (r#"{"query":"{user~{uuid}}"}"#, "{uuid}"),
        (r#"{"query":"query~Q~{~item~{~{n}~}~}"}"#, "{n}"),
        (r#"[{"query":"{user~{uuid}}"}]"#, "{uuid}"),
        ("query{user{uuid}}", "{uuid}"),
        (r#"{"query":"{user~\{uuid}}"}"#, ""),
        (r#"{"id":"{uuid}","n":{n}}"#, ""),
        (r#"{"id":"{uuid}","text":"item~{n}"}"#, ""),
        (r"[{n},{n}]", ""),
        ("<a>{n}</a>", ""),
        (r#"{"query":"{user(id:{random:1..9}){name}}"}"#, ""),
    ] {
        let (_, notes) = planned_on(SYSTEM, &format!("h --data {body}")).unwrap();
        let expected = format!("if it is a field of a GraphQL query, write \\{placeholder}");
        let count = notes.iter().filter(|note| note.contains("GraphQL")).count();
        assert_eq!(count, usize::from(!placeholder.is_empty()), "{body}: {notes:?}");
        assert!(count == 0 || notes.join("|").contains(&expected), "{body}: {notes:?}");
    }
}

fn steps(line: &str) -> Result<(Vec<f64>, Vec<String>)> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let (steps, notes) = sweep_steps(&settings(&words)?, &SYSTEM)?;
    for step in &steps {
        let (Load::Open { rate: shape, .. } | Load::Closed { users: shape, .. }) =
            &step.plan.main().load;
        assert_eq!(shape.peak(), step.load, "{line}");
    }
    Ok((steps.iter().map(|step| step.load).collect(), notes))
}

#[test]
fn a_sweep_has_a_step_for_each_load() {
    assert_eq!(steps("-r 50..200+50 h").unwrap().0, [50.0, 100.0, 150.0, 200.0]);
    assert_eq!(steps("-c 10..80*2 h").unwrap().0, [10.0, 20.0, 40.0, 80.0]);
    assert_eq!(steps("-c [5,50,10] h").unwrap().0, [5.0, 50.0, 10.0]);
    assert_eq!(steps("-r 10..20+10 -c 7 h").unwrap().0, [10.0, 20.0]);
    assert_eq!(steps("-r 0..500/30s,100/1m h").unwrap().0, [500.0]);
    assert_eq!(steps("-r [1,2] --threads 9 h").unwrap().1.len(), 1);
    let error_text = steps("-r 5 -c [5,50] h").unwrap_err().to_string();
    assert!(error_text.contains("--connections: a sweep"), "{error_text}");
    assert!(steps("-c 10..20000*2 h").is_ok() && steps("-c [10,90000000] h").is_err());
}

#[test]
fn a_rate_beyond_any_machine_is_refused_with_the_figure() {
    for line in ["-r 1000000000 127.0.0.1", "-r 0..10000001/30s 127.0.0.1"] {
        let error_text = error_text(line);
        assert!(error_text.contains("no load generator sends 1"), "{error_text}");
        assert!(
            error_text.ends_with(
                "the highest rate accepted is 10,000,000; write --rate 10000000 or less"
            ),
            "{error_text}"
        );
    }
    assert!(planned_on(SYSTEM, "-r 10000000 127.0.0.1").is_ok());
}

#[test]
fn an_unexpected_http_version_prevents_the_load() {
    let offers = |version| System { best_http_version: version, ..SYSTEM };
    let asked = "http://h/ --http auto --expect-http 2,3";
    let (plan, _) = planned_on(offers(|_| Ok(HttpVersion::V3)), asked).unwrap();
    assert_eq!(plan.connection.http, HttpVersion::V3);
    let refused = planned_on(offers(|_| Ok(HttpVersion::V1_1)), asked).unwrap_err().to_string();
    assert_eq!(
        refused,
        "--expect-http: the best that the server offers is HTTP/1.1; see brunt check URL"
    );
    let fixed = error_text("http://h/ --expect-http 3");
    assert_eq!(fixed, "--expect-http: --http is HTTP/1.1; write a good version there, or auto");
    assert_eq!(
        planned_on(SYSTEM, "http://h/ --http 2 --expect-http 2,3").unwrap().0.connection.http,
        HttpVersion::V2
    );
}

#[test]
fn a_websocket_has_actions_for_methods() {
    for (line, action) in [
        ("ws://h/", "AWAIT"),
        ("ws://h/ --data x", "SEND"),
        ("ws://h/ --method POST --data x", "SEND"),
        ("ws://h/ --method SEND --data x", "SEND"),
        ("wss://h/ --method PING", "PING"),
        ("wss://h/ --method OPEN", "OPEN"),
    ] {
        assert_eq!(request(line).method, action, "{line}");
    }
    for (line, said) in [
        ("ws://h/ --method FROB", "write OPEN, SEND, AWAIT, PING or CLOSE"),
        ("ws://h/ --method PUT --data x", "write OPEN, SEND, AWAIT, PING or CLOSE"),
        ("ws://h/ --method SEND", "add one, or write AWAIT"),
        (
            "ws://h/ --method CLOSE --data x",
            "`CLOSE` sends no message; leave the message out, or write SEND",
        ),
    ] {
        let error_text = error_text(line);
        assert!(error_text.starts_with("--method: ") && error_text.ends_with(said), "{error_text}");
    }
}

#[test]
fn versions_and_ciphers_of_tls_fit_each_other() {
    let versions = |line: &str| plan(&format!("{line} https://h")).connection.tls.versions;
    assert!(versions("").is_empty());
    assert_eq!(versions("--tls-max 1.2"), [TlsVersion::V12]);
    assert_eq!(versions("--tls-min 1.3 --http 3"), [TlsVersion::V13]);
    assert_eq!(versions("--tls-min 1.2 --tls-max 1.3"), [TlsVersion::V12, TlsVersion::V13]);
    for (line, expected) in [
        ("--tls-min 1.3 --tls-max 1.2", "--tls-min 1.3 is above --tls-max 1.2"),
        ("--tls-max 1.2 --http 3", "HTTP/3 needs TLS 1.3"),
        ("--tls-max 1.2 --ciphers TLS_AES_128_GCM_SHA256", "no suite is for the offered versions"),
        ("--tls-min 1.3 --ciphers ECDHE-RSA-AES128-GCM-SHA256", "add one such as TLS_AES_128"),
        ("--http 3 --ciphers ECDHE-RSA-AES128-GCM-SHA256", "no suite is for the offered versions"),
    ] {
        let error = error_text(&format!("{line} https://h"));
        assert!(error.contains(expected), "{line}: {error}");
    }
}
