//! Tests result files of JMeter: written by runs of brunt and of the drop-in `jmeter`, read by
//! `brunt report`.

use crate::world::odd::{page, serve_connections};
use crate::world::{ScriptedServer, command};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// Starts a server with a page, a redirect to it, and nothing else.
fn server() -> ScriptedServer {
    serve_connections(|mut client| {
        while let Some(request) = client.request() {
            let answer = match request.split_whitespace().nth(1) {
                Some("/page") => page("a page"),
                Some("/old") => {
                    "HTTP/1.1 302 Found\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n".to_owned()
                }
                _ => "HTTP/1.1 404 Nothing There\r\nContent-Length: 0\r\n\r\n".to_owned(),
            };
            if !client.write(answer.as_bytes()) {
                break;
            }
        }
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run_with_code(command: &mut Command, code: i32) -> Output {
    let output = command.output().expect("brunt");
    assert_eq!(
        output.status.code(),
        Some(code),
        "{} {}",
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

fn rows(file: &Path) -> Vec<Vec<String>> {
    let file = fs::read_to_string(file).expect("a result file");
    let mut lines = file.lines();
    assert_eq!(lines.next(), Some(HEADER));
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn samples_of_a_run_are_appended_and_summed_up() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("result.jtl");
    let run =
        format!("-c 2 -n 20 -q --no-store --jtl {} http://{}/page", file.display(), server.address);
    run_with_code(&mut command(&run), 0);
    run_with_code(&mut command(&run.replace("/page", "/none")), 4);
    let rows = rows(&file);
    assert_eq!(rows.len(), 40);
    let [first, last] = [&rows[0], &rows[39]];
    assert_eq!((first[3].as_str(), first[4].as_str(), first[7].as_str()), ("200", "OK", "true"));
    assert_eq!(
        (last[3].as_str(), last[4].as_str(), last[7].as_str()),
        ("404", "Nothing There", "false")
    );
    assert!(first[5] == "main 1-1" || first[5] == "main 1-2", "{}", first[5]);
    assert!(
        first[13].ends_with("/page") && first[9].parse::<u64>().is_ok_and(|bytes| bytes > 6),
        "{first:?}"
    );
    let shown = run_with_code(&mut command(&format!("report {}", file.display())), 0);
    let shown = text(&shown.stdout);
    let total = shown.lines().find(|line| line.starts_with("Total")).unwrap_or_default();
    assert_eq!(
        total.split_whitespace().skip(1).take(3).collect::<Vec<_>>(),
        ["40", "20", "50.00%"],
        "{shown}"
    );
    let json = run_with_code(&mut command(&format!("report {} -o json", file.display())), 0);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["Total"]["sampleCount"], 40);
}

#[test]
fn samples_that_cannot_be_read_are_counted() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("result.jtl");
    let row = "1700000000000,20,a,200,OK,Users 1-1,text,true,,1,1,2,2,http://h/,20,-4,0";
    fs::write(&file, format!("{HEADER}\n{row}\n{HEADER}\n{row}\n17000000,2")).expect("a file");
    for (line, place) in [("report", ""), ("jmeter -g", " -o report")] {
        let mut report = command(&format!("{line} {}{place}", file.display()));
        let shown = run_with_code(report.current_dir(dir.path()), 0);
        let note = "samples left out because they cannot be read: 1; the first: line 5: the row has 2 columns; expected 17";
        assert!(text(&shown.stderr).contains(note), "{}", text(&shown.stderr));
    }
    let written = dir.path().join("report/statistics.json");
    let statistics = fs::read_to_string(written).expect("statistics");
    assert!(statistics.contains("\"sampleCount\" : 2"), "{statistics}");
    // Without a header.
    fs::write(&file, format!("{row}\n{row}\n{row}\n")).expect("a file");
    let shown = run_with_code(&mut command(&format!("report {}", file.display())), 0);
    let shown = text(&shown.stdout);
    let total = shown.lines().find(|line| line.starts_with("Total")).unwrap_or_default();
    assert_eq!(total.split_whitespace().nth(1), Some("3"), "{shown}");
}

#[test]
fn the_samples_of_several_processes_are_in_one_file() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("result.xml");
    let run = format!(
        "-c 4 -n 40 -q --no-store --processes 2 --follow 5 --jtl {} http://{}/old",
        file.display(),
        server.address
    );
    run_with_code(&mut command(&run), 0);
    let xml = fs::read_to_string(&file).expect("a result file");
    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testResults>"), "{xml}");
    // A sample for each request, with the redirect and the page within it.
    assert_eq!(xml.matches("<httpSample").count(), 3 * 40, "{xml}");
    assert_eq!(xml.matches("<redirectLocation class=\"java.lang.String\">/page<").count(), 40);
}

#[test]
fn a_plan_of_several_runs_has_no_result_file() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    let plan = dir.path().join("plan.yaml");
    let written = format!(
        "load: {{users: 2, requests: 10}}\nrepetitions: 2\nscript: {{request: http://{}/page}}\n",
        server.address
    );
    fs::write(&plan, &written).expect("a plan");
    let file = dir.path().join("result.jtl");
    let run = format!("run {} -q --no-store --jtl {}", plan.display(), file.display());
    let refused = run_with_code(&mut command(&run), 2);
    assert!(
        text(&refused.stderr).contains("--jtl lists the samples of one run"),
        "{}",
        text(&refused.stderr)
    );
    fs::write(&plan, written.replace("repetitions: 2", "repetitions: 1")).expect("a plan");
    run_with_code(&mut command(&run), 0);
    assert_eq!(rows(&file).len(), 10);
}

/// A plan of two users who request the old page twice, within a transaction.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Plan"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users">
  <stringProp name="ThreadGroup.num_threads">${__P(users,1)}</stringProp>
  <stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp></elementProp>
</ThreadGroup><hashTree>
<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="Visit">
  <boolProp name="TransactionController.parent">false</boolProp>
  <boolProp name="TransactionController.includeTimers">false</boolProp></TransactionController><hashTree>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Old page">
  <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">PORT</stringProp>
  <stringProp name="HTTPSampler.path">/old</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
  <boolProp name="HTTPSampler.follow_redirects">true</boolProp></HTTPSamplerProxy><hashTree>
  <ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="Page">
    <collectionProp name="Asserion.test_strings"><stringProp name="1">no page</stringProp></collectionProp>
    <stringProp name="Assertion.test_field">Assertion.response_data</stringProp>
    <intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/></hashTree>
<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="Debug"/><hashTree/>
</hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

fn jmeter(dir: &Path, line: &str) -> Command {
    let mut jmeter = command(&format!("jmeter {line}"));
    jmeter.current_dir(dir);
    jmeter
}

#[test]
fn jmeters_command_line_runs_a_plan_and_makes_a_report() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    fs::write(
        dir.path().join("plan.jmx"),
        PLAN.replace("PORT", &server.address.port().to_string()),
    )
    .expect("a plan");
    let line = "-n -t plan.jmx -l out.jtl -e -o report -Jusers=2 --brunt-no-notes";
    let output = run_with_code(&mut jmeter(dir.path(), line), 0);
    let console = text(&output.stdout);
    let lines: Vec<&str> = console.lines().collect();
    assert_eq!(
        lines[..2],
        ["Creating summariser <summary>", "Created the tree successfully using plan.jmx"]
    );
    assert!(
        lines[2].starts_with("Starting standalone test @ 20") && lines[2].ends_with(')'),
        "{console}"
    );
    assert_eq!(lines.last(), Some(&"... end of run"), "{console}");
    let summary = lines.iter().find(|line| line.starts_with("summary =")).expect("a summary");
    assert!(
        summary.starts_with("summary =      8 in 00:00:")
            && summary.ends_with("Err:     4 (50.00%)"),
        "{summary}"
    );
    let rows = rows(&dir.path().join("out.jtl"));
    // As in JMeter, the two hops of each old page have separate rows.
    assert_eq!(
        [
            rows_with_label(&rows, "Old page").len(),
            rows_with_label(&rows, "Debug").len(),
            rows_with_label(&rows, "Visit").len(),
            rows.len()
        ],
        [4, 4, 4, 20]
    );
    let page = &rows_with_label(&rows, "Old page")[0];
    assert_eq!((page[3].as_str(), page[7].as_str()), ("200", "false"));
    assert_eq!(page[8], "Test failed: text expected to contain /no page/");
    assert!(page[13].ends_with("/page") && page[5].starts_with("Users 1-"), "{page:?}");
    let visit = &rows_with_label(&rows, "Visit")[0];
    assert_eq!(
        format!("{},{}", visit[4], visit[5]),
        "\"Number of samples in transaction : 2, number of failing samples : 1\""
    );
    let statistics =
        fs::read_to_string(dir.path().join("report/statistics.json")).expect("statistics");
    let statistics: serde_json::Value = serde_json::from_str(&statistics).expect("JSON");
    assert_eq!(
        (&statistics["Total"]["sampleCount"], &statistics["Visit"]["errorCount"]),
        (&16.into(), &4.into())
    );
    let page = fs::read_to_string(dir.path().join("report/index.html")).expect("a page");
    assert!(
        page.contains("Top 5 Errors by sampler") && page.contains("expected to contain"),
        "{page}"
    );
    // The file gives the same report; a folder with a report is refused.
    run_with_code(&mut jmeter(dir.path(), "-g out.jtl -o again"), 0);
    let again = fs::read_to_string(dir.path().join("again/statistics.json")).expect("statistics");
    assert!(again.contains("\"sampleCount\" : 16"), "{again}");
    let refused = run_with_code(&mut jmeter(dir.path(), "-g out.jtl -o again"), 1);
    assert!(text(&refused.stdout).contains("as folder is not empty"), "{}", text(&refused.stdout));
}

fn rows_with_label(rows: &[Vec<String>], label: &str) -> Vec<Vec<String>> {
    rows.iter().filter(|row| row[2] == label).cloned().collect::<Vec<_>>()
}

#[test]
fn bounds_fail_the_jmeter_drop_in() {
    let server = server();
    let dir = TempDir::new().expect("a directory");
    fs::write(
        dir.path().join("plan.jmx"),
        PLAN.replace("PORT", &server.address.port().to_string()),
    )
    .expect("a plan");
    let mut strict = jmeter(dir.path(), "-n -t plan.jmx --brunt-no-notes --brunt-fail-on");
    run_with_code(strict.arg("errors < 1%"), 4);
    let output = run_with_code(&mut jmeter(dir.path(), "-n -t missing.jmx"), 1);
    assert!(text(&output.stdout).contains("missing.jmx doesn't exist or can't be opened"));
    run_with_code(&mut jmeter(dir.path(), "-n"), 1);
    assert!(text(&run_with_code(&mut jmeter(dir.path(), "-v"), 0).stdout).starts_with("5.6.3"));
}
