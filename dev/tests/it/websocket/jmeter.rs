//! Runs plans of JMeter with samplers of the two common WebSocket plugins against an echo server.

use super::{Behavior, Counts, server};
use crate::world::command;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

const DOORNBOSCH: &str = "eu.luminis.jmeter.wssampler";
const ZALESKI: &str = "JMeter.plugins.functional.samplers.websocket";

/// Returns an element with properties and children.
fn element(class: &str, name: &str, texts: &[(&str, &str)], below: &str) -> String {
    let texts: Vec<String> = texts
        .iter()
        .map(|(key, value)| format!("<stringProp name=\"{key}\">{value}</stringProp>"))
        .collect();
    let texts = texts.concat();
    format!(
        "<{class} testclass=\"{class}\" testname=\"{name}\">{texts}</{class}><hashTree>{below}</hashTree>"
    )
}

fn sampler(class: &str, name: &str, texts: &[(&str, &str)], below: &str) -> String {
    element(&format!("{DOORNBOSCH}.{class}"), name, texts, below)
}

/// Returns an assertion that the message equals this text.
fn body_is(text: &str) -> String {
    format!(
        "<ResponseAssertion testclass=\"ResponseAssertion\" testname=\"body\"><collectionProp name=\"Asserion.test_strings\">\
         <stringProp name=\"1\">{text}</stringProp></collectionProp><stringProp \
         name=\"Assertion.test_field\">Assertion.response_data</stringProp><intProp name=\"Assertion.test_type\">8</intProp>\
         </ResponseAssertion><hashTree/>"
    )
}

/// Returns a plan of two threads with three loops each.
fn plan(elements: &[String]) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>
        <ThreadGroup testclass="ThreadGroup" testname="g"><stringProp name="ThreadGroup.num_threads">2</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp>
        <stringProp name="LoopController.loops">3</stringProp></elementProp></ThreadGroup><hashTree>{}</hashTree>
        </hashTree></hashTree></jmeterTestPlan>"#,
        elements.concat()
    )
}

/// Address of a server as properties of a sampler.
fn address(url: &str) -> [(&str, &str); 3] {
    let rest = url.strip_prefix("ws://").expect("a URL");
    let (authority, _) = rest.split_once('/').expect("a path");
    let (host, port) = authority.split_once(':').expect("a port");
    [("server", host), ("port", port), ("path", "/chat?room=1")]
}

/// Label and success of each sample, sorted, and the output.
fn samples(plan: &str, options: &str) -> (Vec<String>, String) {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("plan.jmx"), plan).expect("a plan");
    fs::write(folder.path().join("message.txt"), "from a file").expect("a message");
    let line = format!("run plan.jmx --no-store --jtl out.jtl {options}");
    let output = command(&line).current_dir(folder.path()).output().expect("brunt");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let file = fs::read_to_string(folder.path().join("out.jtl")).unwrap_or_default();
    let rows = file.lines().skip(1).map(|line| {
        let label = line.split(',').nth(2).unwrap_or_default();
        format!("{label} {}", line.contains(",true,"))
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    (rows, printed)
}

fn six(labels: &[&str]) -> Vec<String> {
    labels.iter().flat_map(|label| vec![format!("{label} true"); 6]).collect()
}

fn counts(counts: &Arc<Counts>) -> [u64; 3] {
    [&counts.connections, &counts.messages, &counts.pings]
        .map(|count| count.load(Ordering::Relaxed))
}

#[test]
fn samplers_share_an_open_websocket() {
    let (url, server_counts) = server(Behavior::Echo);
    let assertion = body_is("hello ${__threadNum}");
    let file = [("loadDataFromFile", "true"), ("dataFile", "message.txt")];
    let all = plan(&[
        sampler("OpenWebSocketSampler", "a open", &address(&url), ""),
        sampler(
            "RequestResponseWebSocketSampler",
            "b ask",
            &[("requestData", "hello ${__threadNum}")],
            &assertion,
        ),
        sampler("SingleWriteWebSocketSampler", "c write", &file, ""),
        sampler("SingleReadWebSocketSampler", "d read", &[], ""),
        sampler("PingPongSampler", "e ping", &[], ""),
        sampler("CloseWebSocketSampler", "f close", &[], ""),
    ]);
    let (rows, printed) = samples(&all, "");
    assert_eq!(
        rows,
        six(&["a open", "b ask", "c write", "d read", "e ping", "f close"]),
        "{printed}"
    );
    assert_eq!(counts(&server_counts), [6, 12, 6], "{printed}");
}

#[test]
fn a_sampler_with_a_new_connection_opens_one_each_time() {
    let (url, server_counts) = server(Behavior::Echo);
    let [server, port, path] = address(&url);
    let binary =
        [("requestData", "0x01 ff"), ("binaryPayload", "true"), ("createNewConnection", "true")];
    let texts = [&binary[..], &[server, port, path]].concat();
    let (rows, printed) =
        samples(&plan(&[sampler("RequestResponseWebSocketSampler", "ask", &texts, "")]), "");
    assert_eq!((rows, counts(&server_counts)), (six(&["ask"]), [6, 6, 0]), "{printed}");
}

#[test]
fn messages_that_a_filter_drops_or_a_pattern_does_not_match_are_ignored() {
    let (url, server_counts) = server(Behavior::Chatty);
    let below = [
        text_filter("Equals", "news"),
        text_filter("StartsWith", "new"),
        text_filter("NotEndsWith", "${what}"),
        text_filter("NotContainsRegex", "^ec.o"),
    ];
    let echo = body_is("echo of this");
    let set = element("JSR223PreProcessor", "set", &[("script", "vars.put('what', 'this')")], "");
    let open = sampler("OpenWebSocketSampler", "a open", &address(&url), "");
    let ask = [("requestData", "echo of this")];
    let ask =
        sampler("RequestResponseWebSocketSampler", "b ask", &ask, &(below.concat() + &echo + &set));
    let (rows, printed) = samples(&plan(&[open, ask]), "");
    assert_eq!(rows, six(&["a open", "b ask"]), "{printed}");
    let [server, port, _] = address(&url);
    let zaleski = |name: &str, streaming: &str| {
        let texts = [
            ("serverAddress", server.1),
            ("serverPort", port.1),
            ("protocol", "ws"),
            ("contextPath", "chat?room=1"),
            ("requestPayload", "echo of this"),
            ("responsePattern", "of (this|that)"),
            ("streamingConnection", streaming),
            ("connectionId", name),
        ];
        element(&format!("{ZALESKI}.WebSocketSampler"), name, &texts, &echo)
    };
    let before = counts(&server_counts)[0];
    let (rows, printed) = samples(&plan(&[zaleski("kept", "true")]), "");
    assert_eq!((rows, counts(&server_counts)[0] - before), (six(&["kept"]), 2), "{printed}");
    let (rows, printed) = samples(&plan(&[zaleski("new", "false")]), "");
    assert_eq!((rows, counts(&server_counts)[0] - before), (six(&["new"]), 2 + 6), "{printed}");
}

fn text_filter(comparison: &str, value: &str) -> String {
    sampler("TextFrameFilter", "drop", &[("comparisonType", comparison), ("matchValue", value)], "")
}

#[test]
fn unsupported_features_of_websocket_samplers_are_named() {
    let (url, _) = server(Behavior::Echo);
    let open = sampler("OpenWebSocketSampler", "a open", &address(&url), "");
    let lost = plan(&[sampler("SingleReadWebSocketSampler", "read", &[], "")]);
    let (rows, printed) = samples(&lost, "");
    assert_eq!(rows, vec!["read false"; 6], "{printed}");
    assert!(printed.contains("no sampler before it opens a WebSocket"), "{printed}");
    let optional = plan(&[
        open.clone(),
        sampler("SingleReadWebSocketSampler", "read", &[("optional", "true")], ""),
    ]);
    let (rows, printed) = samples(&optional, "");
    assert!(rows.is_empty() && printed.contains("an optional read is not supported"), "{printed}");
    let (rows, printed) = samples(&optional, "--lenient");
    assert_eq!(rows, six(&["a open"]), "{printed}");
    let binary = [("requestData", "0xfg"), ("binaryPayload", "true")];
    let (_, printed) =
        samples(&plan(&[open, sampler("SingleWriteWebSocketSampler", "w", &binary, "")]), "");
    assert!(printed.contains("the binary message `0xfg` is no list of bytes"), "{printed}");
}
