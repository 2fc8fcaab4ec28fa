//! Inputs of arbitrary bytes: each format reads or refuses them. What becomes a plan is one that can be read.

use brunt_import::jmx::{self, JmxOptions};
use brunt_import::{ImportFormat, ImportOptions, import};
use brunt_spec::plan::{FillInputs, PlanTree};
use brunt_tests::inputs::{corpus, survives};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

#[test]
fn any_input_becomes_a_plan_or_is_refused() {
    let options = ImportOptions {
        file: "input".into(),
        think: true,
        resources: true,
        ..ImportOptions::default()
    };
    survives("import", corpus("import"), 1500, move |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for format in ImportFormat::ALL {
            if let Ok(plan) = import(format, &text, &options) {
                is_read(&plan);
            }
        }
    });
}

#[test]
fn any_plan_of_jmeter_becomes_a_plan_or_is_refused() {
    let options = JmxOptions { file: "input".into(), ..JmxOptions::default() };
    survives("jmx", corpus("jmx"), 300, move |bytes| {
        if let Ok(import) = jmx::read(bytes, &options) {
            is_read(&import.plan);
        }
    });
}

fn is_read(plan: &str) {
    let draft =
        PlanTree::parse(plan, "plan.yaml", &[]).unwrap_or_else(|error| panic!("{error}\n{plan}"));
    let ports = BTreeMap::new();
    let given = FillInputs {
        ports: &ports,
        dir: "/tmp/d",
        plan_dir: "/plans",
        environment: &|_| Some("x".into()),
    };
    draft.resolve(given, "plan").unwrap_or_else(|error| panic!("{error}\n{plan}"));
}

proptest! {
    #[test]
    fn any_texts_in_a_recording_become_a_plan(
        title: String, path: String, name: String, value: String, body: String,
        odd in r"[$\\{}#:,'\[\]\-\n\r\t &*!|>%@`~a-z0-9\u{e000}\u{f8f0}-\u{f8f2}]{0,30}", kind in 0..4_usize,
    ) {
        let media = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"][kind];
        for text in [&body, &odd] {
            let json = json!({&name: [&value, {text: &odd}], &odd: text}).to_string();
            let form = format!("a={text}&{odd}={value}");
            let parts = format!("--x\r\nContent-Disposition: form-data; name=\"{odd}\"\r\n\r\n{text}\r\n--x--\r\n");
            let sent = [&json, &form, &parts, text][kind];
            let entry = json!({"pageref": "p", "request": {"method": "POST", "url": format!("http://127.0.0.1/{path}?{odd}={text}"),
                "headers": [{"name": &name, "value": &value}, {"name": "x", "value": &odd}],
                "postData": {"mimeType": media, "text": sent}}, "response": {"status": 200, "content": {"text": form, "mimeType": "text/html"}}});
            let har = json!({"log": {"pages": [{"id": "p", "title": &title}], "entries": [&entry, &entry]}}).to_string();
            is_read(&import(ImportFormat::Har, &har, &ImportOptions { file: odd.clone(), ..ImportOptions::default() }).unwrap());
            let item = json!({"name": &odd, "event": [{"listen": "test", "script": {"exec": text}}], "request": {"method": "POST",
                "url": format!("http://127.0.0.1/{path}?{odd}={text}"), "header": [{"key": &odd, "value": text}],
                "body": {"mode": "raw", "raw": sent, "options": {"raw": {"language": "json"}}}}});
            let collection = json!({"info": {"name": &title}, "variable": [{"key": &odd, "value": &value}], "item": [item]}).to_string();
            is_read(&import(ImportFormat::Postman, &collection, &ImportOptions::default()).unwrap());
        }
    }
}
