//! Runs plans of JMeter directly: their requests, their samples by label, and errors before the
//! load.

use crate::world::odd::{page, serve_connections};
use crate::world::{ScriptedServer, command};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A plan of three threads with two loops each: a login with names of a file, and a loop of
/// requests with its token. A setUp group has a script that sets a property.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop">
  <elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
    <elementProp name="host" elementType="Argument"><stringProp name="Argument.name">host</stringProp>
    <stringProp name="Argument.value">${__P(host,shop.example)}</stringProp></elementProp></collectionProp></elementProp>
</TestPlan><hashTree>
  <ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="defaults">
    <stringProp name="HTTPSampler.domain">${host}</stringProp>
    <stringProp name="HTTPSampler.port">${__P(port)}</stringProp></ConfigTestElement><hashTree/>
  <SetupThreadGroup guiclass="SetupThreadGroupGui" testclass="SetupThreadGroup" testname="before">
    <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><intProp name="LoopController.loops">1</intProp>
    <boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
    <stringProp name="ThreadGroup.num_threads">1</stringProp></SetupThreadGroup><hashTree>
    <JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="choose">
      <stringProp name="scriptLanguage">groovy</stringProp>
      <stringProp name="script">props.put("item", (1..3).collect { it * 2 }.join("-")); return "chosen"</stringProp>
    </JSR223Sampler><hashTree/>
  </hashTree>
  <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
    <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><intProp name="LoopController.loops">2</intProp>
    <boolProp name="LoopController.continue_forever">false</boolProp></elementProp>
    <stringProp name="ThreadGroup.num_threads">3</stringProp></ThreadGroup><hashTree>
    <CookieManager testclass="CookieManager" testname="cookies"/><hashTree/>
    <CSVDataSet testclass="CSVDataSet" testname="names"><stringProp name="filename">names.csv</stringProp>
      <stringProp name="variableNames">name</stringProp><boolProp name="recycle">true</boolProp></CSVDataSet><hashTree/>
    <HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="login ${name}">
      <stringProp name="HTTPSampler.method">POST</stringProp><stringProp name="HTTPSampler.path">/login</stringProp>
      <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="user" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">true</boolProp>
        <stringProp name="Argument.value">${name} &amp; co</stringProp><stringProp name="Argument.name">user</stringProp></elementProp>
      </collectionProp></elementProp></HTTPSamplerProxy><hashTree>
      <JSONPostProcessor testclass="JSONPostProcessor" testname="token">
        <stringProp name="JSONPostProcessor.referenceNames">token</stringProp>
        <stringProp name="JSONPostProcessor.jsonPathExprs">$.token</stringProp></JSONPostProcessor><hashTree/>
    </hashTree>
    <TransactionController testclass="TransactionController" testname="browse"/><hashTree>
      <LoopController testclass="LoopController" testname="twice"><stringProp name="LoopController.loops">2</stringProp></LoopController><hashTree>
        <HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="item"><stringProp name="HTTPSampler.path">/item/${__P(item)}?t=${token}</stringProp>
        </HTTPSamplerProxy><hashTree>
          <ResponseAssertion testclass="ResponseAssertion" testname="has it"><collectionProp name="Asserion.test_strings">
            <stringProp name="1">token ${token}</stringProp></collectionProp>
            <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp>
          </ResponseAssertion><hashTree/>
        </hashTree>
      </hashTree>
    </hashTree>
  </hashTree>
</hashTree></hashTree></jmeterTestPlan>"#;

/// Starts a shop that repeats the token of a request. Returns it with the log of requests.
fn shop() -> (ScriptedServer, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    let shop = serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let line = request.lines().next().unwrap_or_default().to_owned();
            let body = request.rsplit("\r\n\r\n").next().unwrap_or_default();
            log.lock().expect("requests").push(format!("{line} {body}"));
            let answer = match line.split_once("?t=") {
                Some((_, token)) => {
                    format!("token {}", token.split(' ').next().unwrap_or_default())
                }
                None => format!("{{\"token\": \"{}\"}}", body.len()),
            };
            if !client.write(page(&answer).as_bytes()) {
                break;
            }
        }
    });
    (shop, requests)
}

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("plan.jmx"), PLAN).expect("a plan");
    fs::write(folder.path().join("names.csv"), "ann\nbob\n").expect("names");
    folder
}

/// Number of samples and of successes per label.
fn by_label(file: &Path) -> BTreeMap<String, (u32, u32)> {
    let text = fs::read_to_string(file).expect("a result file");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let mut all = BTreeMap::new();
    for line in lines {
        // No label has a comma; the message of a transaction has one, within quotes.
        let line = line.replace("2, number", "2 number");
        let cells: Vec<&str> = line.split(',').collect();
        let (count, good): &mut (u32, u32) =
            all.entry(cells[column_of(&header, "label")].to_owned()).or_default();
        *count += 1;
        *good += u32::from(cells[column_of(&header, "success")] == "true");
    }
    all
}

fn column_of(header: &[&str], name: &str) -> usize {
    header.iter().position(|column| *column == name).expect("a column")
}

#[test]
fn a_plan_makes_the_samples_that_jmeter_makes() {
    let (shop, requests) = shop();
    let folder = folder();
    let plan = folder.path().join("plan.jmx");
    let out = folder.path().join("out.jtl");
    let report = folder.path().join("report.json");
    let events = folder.path().join("events");
    let run = format!(
        "run {} --resolve-all {} --jtl {} -q --no-store -o json={} --events {}",
        plan.display(),
        shop.address,
        out.display(),
        report.display(),
        events.display()
    );
    let output = command(&run).output().expect("brunt");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let labels = by_label(&out);
    let expected = [
        ("browse", (6, 6)),
        ("choose", (1, 1)),
        ("item", (12, 12)),
        ("login ann", (3, 3)),
        ("login bob", (3, 3)),
    ];
    assert_eq!(labels, expected.map(|(label, counts)| (label.to_owned(), counts)).into());
    let requests = requests.lock().expect("requests");
    assert_eq!(requests.len(), 18, "{requests:?}");
    assert_eq!(
        (
            requests_with_prefix(&requests, "POST /login HTTP/1.1 user=ann+%26+co"),
            requests_with_prefix(&requests, "GET /item/2-4-6?t=15 ")
        ),
        (3, 12),
        "{requests:?}"
    );
    // The report covers the thread groups, and not the setUp group before them.
    let report = fs::read_to_string(report).expect("a report");
    assert!(report.contains("login ann"), "{report}");
    assert!(fs::metadata(events).is_ok_and(|file| file.len() > 0));
}

fn requests_with_prefix(requests: &[String], begin: &str) -> usize {
    requests.iter().filter(|request| request.starts_with(begin)).count()
}

#[test]
fn unsupported_plans_are_refused_with_their_place() {
    let folder = folder();
    let plan = folder.path().join("plan.jmx");
    let jdbc = PLAN.replace("JSR223Sampler", "JDBCSampler");
    assert!(
        run_error(&plan, &jdbc, "")
            .contains("JDBC Request \"choose\" in setUp Thread Group \"before\""),
        "{}",
        run_error(&plan, &jdbc, "")
    );
    assert!(
        run_error(&plan, PLAN, "--rate 5").contains("--rate: the plan of JMeter sets it"),
        "{}",
        run_error(&plan, PLAN, "--rate 5")
    );
    assert!(
        run_error(&plan, "<jmeterTestPlan>", "").contains("plan.jmx: line 1"),
        "{}",
        run_error(&plan, "<jmeterTestPlan>", "")
    );
    fs::remove_file(folder.path().join("names.csv")).expect("names");
    assert!(
        run_error(&plan, PLAN, "")
            .contains("CSV Data Set Config \"names\": the data file names.csv cannot be read")
    );
}

fn run_error(plan: &Path, text: &str, more: &str) -> String {
    fs::write(plan, text).expect("a plan");
    let output = command(&format!("run {} {more}", plan.display())).output().expect("brunt");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn objectives_of_a_step_bound_the_thread_groups_that_have_it() {
    let (shop, _) = shop();
    let folder = folder();
    let start = PLAN.find("<ThreadGroup").expect("a group");
    let end = PLAN.rfind("</hashTree></hashTree>").expect("an end");
    let second =
        PLAN[start..end].replace("\"item\"", "\"goods\"").replace("\"users\"", "\"more users\"");
    let one_after_the_other =
        "<boolProp name=\"TestPlan.serialize_threadgroups\">true</boolProp></TestPlan>";
    let text = format!("{}{second}{}", &PLAN[..end], &PLAN[end..]).replacen(
        "</TestPlan>",
        one_after_the_other,
        1,
    );
    fs::write(folder.path().join("plan.jmx"), text).expect("a plan");
    for (objective, code) in [
        ("p99 of item < 9s", Some(0)),
        ("p99 of goods < 9s", Some(0)),
        ("errors of \"login ann\" < 1%", Some(0)),
        ("p99 of item < 1ns", Some(4)),
        ("p99 of goods < 1ns", Some(4)),
        ("p99 of browse < 1ns", Some(4)),
    ] {
        for words in [
            format!("run plan.jmx --resolve-all {} -q --no-store --objective", shop.address),
            format!(
                "jmeter -n -t plan.jmx -Jhost={} -Jport={} --brunt-fail-on",
                shop.address.ip(),
                shop.address.port()
            ),
        ] {
            let output =
                command(&words).arg(objective).current_dir(folder.path()).output().expect("brunt");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                code,
                "{words} {objective}: {errors}{}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
    }
    let unknown = command("run plan.jmx --objective")
        .arg("p99 of items < 9s")
        .current_dir(folder.path())
        .output();
    let errors = String::from_utf8_lossy(&unknown.expect("brunt").stderr).into_owned();
    assert!(
        errors.contains("no step or transaction is called `items`") && errors.contains("`item`, "),
        "{errors}"
    );
}

#[test]
fn a_proxy_excludes_one_address_for_all_connections() {
    let folder = folder();
    let plan = folder.path().join("plan.jmx");
    let run =
        format!("jmeter -n -t {} -H proxy -P 3128 --brunt-resolve-all 127.0.0.1:1", plan.display());
    let output = command(&run).output().expect("brunt");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("none to the proxy of -H; leave one of them out"), "{errors}");
}

#[test]
fn scripts_keep_the_changes_of_earlier_scripts() {
    let (shop, requests) = shop();
    let folder = folder();
    let timer = r#"<JSR223Timer testclass="JSR223Timer" testname="timer"><stringProp name="script">return 1</stringProp></JSR223Timer><hashTree/>"#;
    let scripts = preprocessor("changes", "sampler.setPath('/changed')")
        + &preprocessor("other", "vars.put('a', 'b')")
        + timer;
    let begin = "<ResponseAssertion";
    let whole = PLAN.replacen(begin, &format!("{scripts}{begin}"), 1);
    let plan = folder.path().join("plan.jmx");
    fs::write(&plan, whole).expect("a plan");
    let run = format!("run {} --resolve-all {} -q --no-store", plan.display(), shop.address);
    let output = command(&run).output().expect("brunt");
    let requests = requests.lock().expect("requests");
    let changed =
        requests.iter().filter(|request| request.starts_with("GET /changed?t=15 ")).count();
    assert_eq!(changed, 12, "{requests:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn preprocessor(name: &str, source: &str) -> String {
    format!(
        r#"<JSR223PreProcessor testclass="JSR223PreProcessor" testname="{name}"><stringProp name="script">{source}</stringProp>
            </JSR223PreProcessor><hashTree/>"#
    )
}

#[test]
fn an_upload_that_is_missing_fails_in_its_place() {
    let (shop, requests) = shop();
    let folder = folder();
    let file = r#"<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
        <elementProp name="f" elementType="HTTPFileArg"><stringProp name="File.path">none.pdf</stringProp>
        <stringProp name="File.paramname">f</stringProp></elementProp></collectionProp></elementProp>"#;
    let begin = r#"<stringProp name="HTTPSampler.method">POST</stringProp>"#;
    let plan = folder.path().join("plan.jmx");
    let out = folder.path().join("out.jtl");
    fs::write(&plan, PLAN.replacen(begin, &format!("{begin}{file}"), 1)).expect("a plan");
    let run = format!(
        "run {} --resolve-all {} --jtl {} -q --no-store",
        plan.display(),
        shop.address,
        out.display()
    );
    let output = command(&run).output().expect("brunt");
    let errors = String::from_utf8_lossy(&output.stderr);
    let labels = by_label(&out);
    assert_eq!((labels["login ann"], labels["login bob"]), ((3, 0), (3, 0)), "{errors}");
    assert!(
        requests.lock().expect("requests").iter().all(|request| request.starts_with("GET /item/")),
        "{errors}"
    );
}

/// Users that never wait keep the runtime from parking, so its timers must fire elsewhere.
#[test]
fn an_endless_loop_without_requests_writes_rows_and_ends_at_a_signal() {
    let folder = TempDir::new().expect("a folder");
    let sampler = "<JSR223Sampler testclass=\"JSR223Sampler\" testname=\"sum\"><stringProp name=\"scriptLanguage\">groovy\
                   </stringProp><stringProp name=\"script\">1 + 1</stringProp></JSR223Sampler><hashTree/>";
    let transaction = format!(
        "<TransactionController testclass=\"TransactionController\" testname=\"t\"/><hashTree>{sampler}</hashTree>"
    );
    for (line, steps) in [
        ("jmeter -n -t loop.jmx -l out.jtl", sampler),
        ("run loop.jmx --no-store --jtl out.jtl", sampler),
        ("run loop.jmx --no-store --jtl out.jtl", &transaction),
    ] {
        let plan = format!(
            "<jmeterTestPlan><hashTree><TestPlan testclass=\"TestPlan\" testname=\"p\"/><hashTree><ThreadGroup \
             testclass=\"ThreadGroup\" testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp><elementProp \
             name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><intProp name=\"LoopController.loops\">-1</intProp>\
             </elementProp></ThreadGroup><hashTree>{steps}</hashTree></hashTree></hashTree></jmeterTestPlan>"
        );
        fs::write(folder.path().join("loop.jmx"), plan).expect("a plan");
        let out = folder.path().join("out.jtl");
        let _ = fs::remove_file(&out);
        let mut brunt = command(line);
        brunt.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut brunt = brunt.spawn().expect("brunt");
        let has_rows = within_a_minute(|| fs::metadata(&out).is_ok_and(|file| file.len() > 10_000));
        let pid = rustix::process::Pid::from_child(&brunt);
        let is_sent = rustix::process::kill_process(pid, rustix::process::Signal::INT).is_ok();
        let has_ended = within_a_minute(|| brunt.try_wait().is_ok_and(|status| status.is_some()));
        let _ = brunt.kill();
        let _ = brunt.wait();
        assert!(has_rows && is_sent && has_ended, "{line}: rows {has_rows}, ended {has_ended}");
    }
}

fn within_a_minute(mut holds: impl FnMut() -> bool) -> bool {
    (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        holds()
    })
}

#[test]
fn messages_name_the_options_of_the_command_that_was_typed() {
    let folder = TempDir::new().expect("a folder");
    let unsupported = PLAN.replace(
        "<CookieManager testclass=\"CookieManager\" testname=\"cookies\"/>",
        "<FTPSampler \
        testclass=\"FTPSampler\" testname=\"upload\"/>",
    );
    fs::write(folder.path().join("plan.jmx"), unsupported).expect("a plan");
    for (line, expected) in [
        ("run plan.jmx", "FTP Request \"upload\""),
        ("run plan.jmx", "without them by --lenient\n"),
        ("jmeter -n -t plan.jmx", "without them by --brunt-lenient\n"),
        ("run plan.jmx --users 1 --iterations 1", "add --trace to debug"),
        ("run plan.jmx --vus 1", "--vus: the plan of JMeter sets it"),
        ("run plan.jmx --users=1", "--users: the plan of JMeter sets it"),
        ("run plan.jmx -c 1", "--connections: the plan of JMeter sets it"),
        ("run plan.yaml --users 1", "--users: the plan file sets it"),
    ] {
        let output = command(line).current_dir(folder.path()).output().expect("brunt");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{line}: {errors}");
    }
}
