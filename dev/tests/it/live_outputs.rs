//! Sends figures to InfluxDB and Graphite during a load. Their sums equal those of the report, for
//! all loads and numbers of processes. A failed receiver affects neither the run nor its report.

use crate::world::odd::{page, serve_connections};
use crate::world::{
    BruntOutput, ScriptedServer, command, lab, measure, serve_reply, start, wait_until,
};
use rustix::process::Signal;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Starts a server that accepts all posts, as InfluxDB does.
fn influx() -> ScriptedServer {
    serve_reply("HTTP/1.1 204 No Content\r\n\r\n")
}

/// Starts a server like Graphite. Returns it with all text of the connections that have ended.
fn graphite() -> (ScriptedServer, Arc<Mutex<String>>) {
    let received = Arc::<Mutex<String>>::default();
    let log = Arc::clone(&received);
    let graphite = serve_connections(move |mut client| {
        let mut text = String::new();
        let _ = client.stream.read_to_string(&mut text);
        *log.lock().expect("what was said") += &text;
    });
    (graphite, received)
}

/// All lines that were posted.
fn lines(influx: &ScriptedServer) -> Vec<String> {
    influx
        .requests()
        .iter()
        .map(|request: &String| {
            request.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
        })
        .collect::<String>()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Sum of a field over the lines with these tags.
fn sum(lines: &[String], tags: &str, field: &str) -> u64 {
    let field = format!("{field}=");
    lines
        .iter()
        .filter(|line| line.contains(tags))
        .filter_map(|line: &String| {
            let fields = line.rsplit(' ').nth(1)?;
            fields.split(',').find_map(|one| one.strip_prefix(&field))?.parse::<u64>().ok()
        })
        .sum()
}

const ALL: &str = ",transaction=all,statut=all ";

/// Asserts that the sums of all requests equal those of the report.
fn assert_sums_of(lines: &[String], ran: &BruntOutput) {
    let begun = ran.count("begun") + ran.count("dropped");
    assert_eq!(sum(lines, ALL, "count"), begun, "{lines:?}");
    assert_eq!(sum(lines, ALL, "countError"), begun - ran.count("good"), "{lines:?}");
    assert_eq!(sum(lines, ALL, "hit"), ran.count("begun"), "{lines:?}");
    assert_eq!(sum(lines, ALL, "rb"), ran.number("/bytes/received"), "{lines:?}");
    assert_eq!(sum(lines, ALL, "sb"), ran.number("/bytes/sent"), "{lines:?}");
}

fn warnings(ran: &BruntOutput) -> String {
    ran.value("/warnings")
        .as_array()
        .expect("warnings")
        .iter()
        .filter_map(|one| one.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn sums_equal_those_of_the_report() {
    let influx = influx();
    let (graphite, received) = graphite();
    let lab = lab("--fail 10%:503 --fail 5%:reset --service const:5ms");
    let ran = measure(&format!(
        "{} -r 300 -c 20 -d 7s -o influx={}#the~shop -o graphite={}/load",
        lab.url_of("/"),
        influx.url_of("/write?db=x"),
        graphite.address
    ))
    .ok();
    let lines = lines(&influx);
    assert_sums_of(&lines, &ran);
    let times: Vec<&str> = lines
        .iter()
        .filter(|line| line.contains(ALL))
        .filter_map(|line| line.rsplit(' ').next())
        .collect();
    assert_eq!(times.len(), 2, "two intervals of 5 s: {lines:?}");
    for (tags, count) in
        [("statut=ok ", ran.count("good")), ("statut=ko ", ran.count("begun") - ran.count("good"))]
    {
        assert_eq!(sum(&lines, tags, "count"), count, "{lines:?}");
    }
    assert_eq!(
        sum(&lines, "responseCode=503,responseMessage=Service\\ Unavailable ", "count"),
        ran.status(503)
    );
    assert_eq!(sum(&lines, "responseCode=reset,", "count"), ran.failed("reset"));
    assert!(
        lines[0]
            .starts_with("events,application=the~shop,title=ApacheJMeter text=\"Test started\" "),
        "{lines:?}"
    );
    assert!(lines[lines.len() - 1].contains("text=\"Test ended\" "), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("transaction=internal minAT=")), "{lines:?}");
    let received = received.lock().expect("what was said").clone();
    assert_eq!(sum_at_path(&received, "load.all.a.count"), ran.count("begun"), "{received}");
    assert_eq!(sum_at_path(&received, "load.all.ok.count"), ran.count("good"), "{received}");
    assert_eq!(warnings(&ran), "");
}

fn sum_at_path(received: &str, path: &str) -> u64 {
    let values = received.lines().filter_map(|line| {
        line.strip_prefix(path)?.strip_prefix(' ')?.split(' ').next()?.parse::<u64>().ok()
    });
    values.sum::<u64>()
}

#[test]
fn figures_cover_all_processes() {
    let influx = influx();
    let lab = lab("");
    let url = influx.url_of("/api/v2/write?org=o&bucket=b");
    let mut brunt =
        command(&format!("{} -c 6 -n 4000 --processes 3 -o influx={url}", lab.url_of("/")));
    let ran = start(brunt.env("INFLUX_TOKEN", "abc")).finish().ok();
    assert_sums_of(&lines(&influx), &ran);
    assert!(
        influx
            .requests()
            .iter()
            .all(|request| request.contains("\r\nAuthorization: Token abc\r\n")),
        "{:?}",
        influx.requests()
    );
}

#[test]
fn figures_before_a_signal_are_sent() {
    let influx = influx();
    let lab = lab("--service const:5ms");
    let running = start(&mut command(&format!(
        "{} -c 3 -d 60s -o influx={}",
        lab.url_of("/"),
        influx.url_of("/write?db=x")
    )));
    wait_until("the first line", || !influx.requests().is_empty());
    sleep(Duration::from_millis(600));
    running.signal(Signal::INT);
    let ran = running.finish().assert_code(130);
    let lines = lines(&influx);
    assert_sums_of(&lines, &ran);
    assert!(lines.iter().any(|line| line.contains("Test ended")), "{lines:?}");
}

#[test]
fn warm_up_is_excluded_as_in_the_report() {
    let influx = influx();
    let lab = lab("--service const:5ms");
    let ran = measure(&format!(
        "{} -c 3 --warmup 1s -d 1s -o influx={}",
        lab.url_of("/"),
        influx.url_of("/write?db=x")
    ))
    .ok();
    assert_eq!(sum(&lines(&influx), ALL, "count"), ran.count("begun"));
}

/// Runs a load whose receiver of figures fails. The run is measured, and both the terminal and the
/// report warn.
fn assert_measured_without(output: &str, reason: &str) {
    let lab = lab("--service const:5ms");
    let ran = measure(&format!("{} -c 2 -d 2s -o {output}", lab.url_of("/"))).ok();
    assert!(ran.count("good") > 0);
    let warnings = warnings(&ran);
    assert!(
        warnings.contains("lines of figures did not reach ") && warnings.contains(reason),
        "{warnings}"
    );
    let lines = ran
        .err
        .lines()
        .filter(|line| line.contains("does not accept figures: "))
        .collect::<Vec<_>>();
    assert!(
        lines.len() == 1 && lines[0].contains(reason) && lines[0].ends_with("the run continues"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("hunter2") && !ran.out.contains("hunter2"), "{}", ran.err);
}

#[test]
fn a_run_does_not_depend_on_the_receiver_of_its_figures() {
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    assert_measured_without(
        &format!("influx=http://127.0.0.1:{port}/write?db=x&p=hunter2"),
        "refused",
    );
    assert_measured_without(&format!("graphite=127.0.0.1:{port}"), "refused");
    let missing =
        serve_reply("HTTP/1.1 404 Not Found\r\nContent-Length: 18\r\n\r\ndatabase not found");
    assert_measured_without(
        &format!("influx={}", missing.url_of("/write?db=x")),
        "it answers 404: database not found",
    );
    let broken = serve_reply("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n");
    assert_measured_without(&format!("influx={}", broken.url_of("/write?db=x")), "it answers 500");
}

#[test]
fn an_unresponsive_receiver_does_not_delay_the_run() {
    let mute = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = mute.local_addr().expect("an address");
    assert_measured_without(&format!("influx=http://{address}/write?db=x"), "no reply within 3 s");
}

#[test]
fn a_plan_file_names_the_receiver_of_its_figures() {
    let influx = influx();
    let lab = lab("");
    let folder = TempDir::new().expect("a folder");
    let plan = folder.path().join("plan.yaml");
    let text = format!(
        "load: {{users: 2, requests: 50}}\nrepetitions: 2\noutputs: [\"influx={}\"]\nscript: {{request: {{url: \"{}\"}}}}\n",
        influx.url_of("/write?db=x"),
        lab.url_of("/")
    );
    fs::write(&plan, text).expect("a plan");
    let output = command(&format!("run {} --no-store -q", plan.display())).output().expect("brunt");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = lines(&influx);
    assert_eq!(sum(&lines, ALL, "count"), 100, "{lines:?}");
    assert_eq!(
        (lines_with(&lines, "Test started"), lines_with(&lines, "Test ended")),
        (1, 1),
        "both runs are one test: {lines:?}"
    );
}

fn lines_with(lines: &[String], word: &str) -> usize {
    lines.iter().filter(|line| line.contains(word)).count()
}

/// A plan of two threads with two loops, a setUp group, and a backend listener.
const PLAN: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop"/><hashTree>
SetupThreadGroup(before, 1, 1)<hashTree>HTTP(prepare)</hashTree>
ThreadGroup(users, 2, 2)<hashTree>HTTP(a, b=c)HTTP(missing)</hashTree>
<BackendListener testclass="BackendListener" testname="live"><elementProp name="arguments" elementType="Arguments">
<collectionProp name="Arguments.arguments">ARGUMENT(influxdbUrl|http://${__P(influx)}/write?db=x)ARGUMENT(application|my shop)
ARGUMENT(percentiles|50)ARGUMENT(TAG_env|x)ARGUMENT(testTitle|Evening)ARGUMENT(influxdbToken|tok)</collectionProp></elementProp>
<stringProp name="classname">org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient</stringProp>
</BackendListener><hashTree/></hashTree></hashTree></jmeterTestPlan>"#;

/// Writes the plan with its short forms expanded.
fn plan(server: &ScriptedServer) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let port = server.address.port();
    let mut text = PLAN
        .replace(
            "SetupThreadGroup(before, 1, 1)",
            &thread_group("SetupThreadGroup", "before", 1, 1),
        )
        .replace("ThreadGroup(users, 2, 2)", &thread_group("ThreadGroup", "users", 2, 2));
    for (name, path) in [("prepare", "/p"), ("a, b=c", "/a"), ("missing", "/404")] {
        text = text.replace(&format!("HTTP({name})"), &http_sampler(port, name, path));
    }
    for argument in PLAN.split("ARGUMENT(").skip(1).filter_map(|rest| rest.split_once('|')) {
        let (name, rest) = argument;
        let end = rest
            .find(")ARG")
            .or_else(|| rest.find(")\n"))
            .or_else(|| rest.find(")<"))
            .unwrap_or(rest.len() - 1);
        let value = &rest[..end];
        let written = format!(
            r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
            <stringProp name="Argument.value">{value}</stringProp></elementProp>"#
        );
        text = text.replace(&format!("ARGUMENT({name}|{value})"), &written);
    }
    fs::write(folder.path().join("plan.jmx"), text).expect("a plan");
    folder
}

fn http_sampler(port: u16, name: &str, path: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{name}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
            <stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">{path}</stringProp>
            </HTTPSamplerProxy><hashTree/>"#
    )
}

fn thread_group(kind: &str, name: &str, threads: u32, loops: u32) -> String {
    format!(
        r#"<{kind} guiclass="x" testclass="{kind}" testname="{name}"><elementProp name="ThreadGroup.main_controller"
            elementType="LoopController"><intProp name="LoopController.loops">{loops}</intProp>
            <boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
            <stringProp name="ThreadGroup.num_threads">{threads}</stringProp></{kind}>"#
    )
}

fn shop() -> ScriptedServer {
    serve_connections(|mut client| {
        while let Some(request) = client.request() {
            let missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned();
            if !client.write(if request.contains("/404") { missing } else { page("good") }) {
                break;
            }
        }
    })
}

fn run(line: &str) -> Output {
    let output = command(line).output().expect("brunt");
    assert!(output.status.code().is_some(), "it was killed");
    output
}

#[test]
fn a_backend_listener_sends_the_figures_of_all_groups() {
    for options in
        ["run PLAN -J influx=INFLUX --no-store -q", "jmeter -n -t PLAN -Jinflux=INFLUX -j LOG"]
    {
        let influx = influx();
        let shop = shop();
        let folder = plan(&shop);
        let line = options
            .replace("PLAN", &path_in(&folder, "plan.jmx"))
            .replace("INFLUX", &influx.address.to_string())
            .replace("LOG", &path_in(&folder, "log"));
        let output = run(&line);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        let lines = lines(&influx);
        let all = ",transaction=all,statut=all,env=x ";
        assert_eq!(
            (shop.requests().len(), sum(&lines, all, "count"), sum(&lines, all, "countError")),
            (9, 9, 4),
            "{lines:?}"
        );
        assert_eq!(
            (
                count_of_label(&lines, "prepare"),
                count_of_label(&lines, r"a\,\ b\=c"),
                count_of_label(&lines, "missing")
            ),
            (1, 4, 4),
            "{lines:?}"
        );
        assert_eq!(
            sum(
                &lines,
                "transaction=missing,responseCode=404,responseMessage=Not\\ Found,",
                "count"
            ),
            4,
            "{lines:?}"
        );
        assert!(
            lines
                .iter()
                .filter(|line| line.contains("count="))
                .all(|line| line.starts_with("jmeter,application=my\\ shop,"))
        );
        assert!(lines.iter().any(|line| line.contains(",pct50.0=")), "{lines:?}");
        let events: Vec<&String> =
            lines.iter().filter(|line| line.starts_with("events,")).collect();
        assert!(
            events.len() == 2
                && events[0].contains("Evening started")
                && events[1].contains("Evening ended"),
            "{lines:?}"
        );
        assert!(influx.requests()[0].contains("\r\nAuthorization: Token tok\r\n"));
    }
}

fn count_of_label(lines: &[String], name: &str) -> u64 {
    sum(lines, &format!(",transaction={name},statut=all,env=x "), "count")
}

fn path_in(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

#[test]
fn a_plan_against_a_stub_sends_nothing() {
    let influx = influx();
    let shop = shop();
    let folder = plan(&shop);
    let plan = folder.path().join("plan.jmx");
    let sink = influx.address;
    let line = format!(
        "run {} -J influx={sink} --no-store -q -o json --resolve-all {}",
        plan.display(),
        shop.address
    );
    let output = run(&line);
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(
        influx.requests().is_empty()
            && !shop.requests().iter().any(|request| request.starts_with("POST")),
        "{err}"
    );
    assert!(out.contains("left out, the plan runs against one address"), "{out}{err}");
    let second_run = run(&format!("{line} -o influx={}", influx.url_of("/write?db=x")));
    assert!(
        second_run.status.success() && sum(&lines(&influx), ALL, "count") == 9,
        "{:?}",
        influx.requests()
    );
}

#[test]
fn labels_are_sent_without_secrets() {
    let influx = influx();
    let lab = lab("");
    let url = lab.url_of("/?token=canary4711");
    let line = format!(
        "{url} -n 5 --no-store -q -o influx={}&u=me&p=canary4712",
        influx.url_of("/write?db=x")
    );
    let folder = TempDir::new().expect("a folder");
    let report = folder.path().join("report.json");
    let output = run(&format!("{line} -o json={} -o text", report.display()));
    let report = fs::read_to_string(report).expect("a report");
    for text in [
        report,
        String::from_utf8_lossy(&output.stdout).into(),
        String::from_utf8_lossy(&output.stderr).into(),
    ] {
        assert!(!text.contains("canary"), "{text}");
    }
    let lines = lines(&influx).join("\n");
    assert!(lines.contains("redacted:") && !lines.contains("canary"), "{lines}");
}
