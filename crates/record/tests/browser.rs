//! Records a shop twice with a real browser, and compares the recordings.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failed test shows the place")]

mod shop;

use brunt_record::{BrowserOptions, PlanOptions, Recorder, Recording, browser, plan};
use brunt_spec::System;
use shop::{PLANTED, Shop};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A browser in PATH, or at the place of `BRUNT_BROWSER`. Prints the reason if there is none.
fn program(test: &str) -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("BRUNT_BROWSER") {
        return Some(program.into());
    }
    match browser::find(&std::env::var_os("PATH").unwrap_or_default()) {
        Ok(program) => Some(program),
        Err(error) => {
            skip(test, &error.to_string());
            None
        }
    }
}

/// Prints that a test is skipped, by its name in `dev/tests/needs.txt`, and appends the line to the file that `BRUNT_SKIPS` names.
fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED record-browser: {test}: {reason}");
    println!("{line}");
    if let Some(list) = std::env::var_os("BRUNT_SKIPS") {
        let mut list = OpenOptions::new().create(true).append(true).open(list).unwrap();
        writeln!(list, "{line}").unwrap();
    }
}

/// Waits for a page, whose path contains this word. A busy machine may begin the navigation late.
fn wait_for(recorder: &mut Recorder, page: &str) {
    for _ in 0..50 {
        recorder.wait_until_idle().unwrap();
        // During a navigation, the script fails.
        let path = recorder.evaluate("location.pathname + ' ' + document.readyState");
        let path = path.unwrap_or_default();
        let path = path.as_str().unwrap_or_default();
        if path.contains(page) && path.ends_with(" complete") {
            return;
        }
    }
    panic!("the browser did not open the page `{page}`");
}

/// Performs the actions of a visitor.
fn visit(shop: &Shop, program: &Path) -> Recording {
    shop.renew();
    let mut options = BrowserOptions::new(program.to_owned());
    options.is_headless = true;
    let mut recorder = Recorder::start(&options).unwrap();
    let profile = recorder.profile().to_owned();
    recorder.navigate(&shop.url).unwrap();
    recorder.wait_until_idle().unwrap();
    let socket = shop.url.replace("http", "ws");
    let actions = [
        "document.forms[0].submit()".to_owned(),
        "fetch('/api/session').then(reply => { sessionStorage.auth = reply.headers.get('X-Auth-Token'); sessionStorage.apiKey = settings.apiKey; })"
            .to_owned(),
        "fetch('/api/products?key=' + settings.apiKey + '&_=' + Date.now(), {headers: {'X-Auth-Token': sessionStorage.auth, 'X-Request-Id': crypto.randomUUID()}}).then(reply => reply.json()).then(list => { window.id = list.products[1].id; })"
            .to_owned(),
        "fetch('/api/products/' + id).then(reply => reply.json()).then(product => { window.offer = product.data.offer; })"
            .to_owned(),
        "fetch('/api/cart', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({code: offer.code, sku: offer.sku, at: Date.now()})}).then(reply => reply.json()).then(reply => { window.cart_id = reply.cart.id; })"
            .to_owned(),
        "fetch('/api/cart/items', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({cartId: cart_id, quantity: 1})}).then(reply => reply.text())"
            .to_owned(),
        "document.getElementById('cart').click()".to_owned(),
        "document.getElementById('checkout').click()".to_owned(),
        "fetch('/api/quote', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({request: {guid: document.querySelector('section').dataset.requestGuid}})}).then(reply => reply.text())"
            .to_owned(),
        "document.forms[0].submit()".to_owned(),
        "fetch('/api/orders/' + location.pathname.split('/')[2] + '?key=' + sessionStorage.apiKey, {headers: {'X-Auth-Token': sessionStorage.auth}}).then(reply => reply.text())"
            .to_owned(),
        format!(
            "new Promise(done => {{ const socket = new WebSocket('{socket}/feed'); let count = 0; socket.onmessage = event => {{ count += 1; if (count == 1) socket.send(JSON.stringify({{type: 'confirm', ticket: JSON.parse(event.data).ticket}})); else done(); }}; }})"
        ),
    ];
    // Page after each action.
    let pages = [
        "catalog", "catalog", "catalog", "catalog", "catalog", "catalog", "cart", "checkout",
        "checkout", "orders", "orders", "orders",
    ];
    for (action, page) in actions.iter().zip(pages) {
        recorder.evaluate(action).unwrap();
        wait_for(&mut recorder, page);
    }
    let recording = recorder.finish(&shop.url);
    let (refused, accepted) = shop.outcome();
    assert_eq!(refused, Vec::<String>::new(), "the browser sent wrong values");
    let accepted: BTreeSet<&str> = accepted.into_iter().collect();
    assert_eq!(accepted, PLANTED.into(), "the browser sent all values");
    assert!(!profile.exists(), "the profile is removed");
    recording
}

#[test]
fn all_dynamic_values_of_a_shop_are_proposed_and_no_others() {
    let Some(program) = program("all_dynamic_values_of_a_shop_are_proposed_and_no_others") else {
        return;
    };
    let shop = Shop::start();
    let first = visit(&shop, &program);
    let first_values = shop.values();
    let second = visit(&shop, &program);
    let second_values = shop.values();
    if let Some(folder) = std::env::var_os("BRUNT_RECORDINGS").map(PathBuf::from) {
        std::fs::write(folder.join("first.har"), first.har()).unwrap();
        std::fs::write(folder.join("second.har"), second.har()).unwrap();
    }
    let made = plan::plan(&first, Some(&second), &PlanOptions::default()).unwrap();
    println!("{}", made.text);
    let correlation = made.correlation.unwrap();
    println!("{}", correlation.report());
    let planted: BTreeSet<(String, String)> = PLANTED
        .iter()
        .map(|name| (first_values[name].clone(), second_values[name].clone()))
        .collect();
    let found: BTreeSet<(String, String)> = correlation
        .values
        .iter()
        .map(|value| (value.first.clone(), value.second.clone()))
        .collect();
    let missing: Vec<_> = planted.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&planted).collect();
    println!(
        "{} of {} planted values, {} others",
        found.intersection(&planted).count(),
        planted.len(),
        wrong.len()
    );
    assert!(missing.is_empty(), "missing: {missing:?}");
    assert!(wrong.is_empty(), "false: {wrong:?}");
    for value in first_values.values() {
        assert!(!made.text.contains(value.as_str()), "`{value}` is still in the plan");
    }
    assert_eq!((&correlation.only_first, &correlation.only_second), (&vec![], &vec![]));
    // Times and UUIDs of the browser are listed, not replaced.
    assert_eq!(correlation.differences.len(), 3, "{:#?}", correlation.differences);
    load(&made.text);
    replay(&shop, &made.text);
}

/// Performs the plan once with new values, if `BRUNT_BIN` is a program of brunt. The shop accepts all values.
fn replay(shop: &Shop, text: &str) {
    // `make test` sets it; `cargo test -p brunt-record` alone has no such program.
    let Some(program) = std::env::var_os("BRUNT_BIN") else {
        println!("the plan is not performed: no BRUNT_BIN");
        return;
    };
    shop.renew();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let output = Command::new(program)
        .args(["run", "plan.yaml", "--trace"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let (refused, accepted) = shop.outcome();
    assert_eq!(refused, Vec::<String>::new(), "{output}");
    let accepted: BTreeSet<&str> = accepted.into_iter().collect();
    assert_eq!(accepted, PLANTED.into(), "{output}");
    println!("the plan sent all {} values of another visitor", accepted.len());
}

/// Reads a plan file as `brunt run` does.
fn load(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, text).unwrap();
    let system = System {
        environment: |_| Some("x".to_owned()),
        ..System::bare(20_000, 4, Some(28_232), 99)
    };
    brunt_spec::plan_file::load(&path, &[], "/tmp", &system)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
}

#[test]
fn one_recording_makes_a_plan_with_pages_and_think_times() {
    let Some(program) = program("one_recording_makes_a_plan_with_pages_and_think_times") else {
        return;
    };
    let shop = Shop::start();
    let recording = visit(&shop, &program);
    let text = plan::plan(&recording, None, &PlanOptions::default()).unwrap().text;
    load(&text);
    for part in ["transaction: Catalog", "think:", "--keep-static keeps", "open: "] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
    assert!(!text.contains("shop.css"), "{text}");
    let options = PlanOptions { keep_static: true, think: false, ..PlanOptions::default() };
    let text = plan::plan(&recording, None, &options).unwrap().text;
    assert!(text.contains("shop.css") && !text.contains("think:"), "{text}");
    let again = Recording::from_har("again.har", recording.har()).unwrap();
    assert_eq!(
        plan::plan(&again, None, &options).unwrap().text.replace("again.har", &shop.url),
        text
    );
}

#[test]
fn requests_of_frames_windows_and_workers_are_recorded() {
    let Some(program) = program("requests_of_frames_windows_and_workers_are_recorded") else {
        return;
    };
    let shop = Shop::start();
    shop.renew();
    let mut options = BrowserOptions::new(program);
    options.is_headless = true;
    let mut recorder = Recorder::start(&options).unwrap();
    recorder.navigate(&format!("{}/windows", shop.url)).unwrap();
    recorder.wait_until_idle().unwrap();
    let actions = [
        "new Promise(done => { new Worker('/worker.js').onmessage = done; })",
        "window.popup = window.open('/popup'); undefined",
        "new Promise(done => { const check = () => popup.location.pathname === '/popup' && popup.document.readyState === 'complete' ? done() : setTimeout(check, 20); check(); })",
        "popup.fetch('/from-popup').then(reply => reply.text())",
    ];
    for action in actions {
        recorder.evaluate(action).unwrap();
        recorder.wait_until_idle().unwrap();
    }
    let recording = recorder.finish(&shop.url);
    let parts = [
        "/windows",
        "/inner",
        "/other-site",
        "/worker.js",
        "/from-worker",
        "/popup",
        "/from-popup",
    ];
    for part in parts {
        assert!(recording.har().contains(&format!("{part}\"")), "{part}: {}", recording.har());
    }
    let text = plan::plan(&recording, None, &PlanOptions::default()).unwrap().text;
    assert!(text.contains("localhost (3)") && !text.contains("/other-site"), "{text}");
    let options = PlanOptions { hosts: vec!["localhost".to_owned()], ..PlanOptions::default() };
    let text = plan::plan(&recording, None, &options).unwrap().text;
    assert!(text.contains("/other-site"), "{text}");
    load(&text);
}

/// Runs a test in a process whose home directory is empty.
#[test]
fn nothing_is_written_to_the_home_directory() {
    if program("nothing_is_written_to_the_home_directory").is_none() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "one_recording_makes_a_plan_with_pages_and_think_times"])
        .env("HOME", home.path())
        .status()
        .unwrap();
    assert!(status.success());
    let files: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().collect();
    assert!(files.is_empty(), "{files:?}");
}

/// A site of one page with a form for a file. It answers until the process ends.
fn upload_site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            thread::spawn(move || {
                // The first bytes of a request are enough: each reply is the same page.
                if connection.read(&mut [0; 1 << 12]).is_ok_and(|count| count > 0) {
                    let page = "<!DOCTYPE html><title>Upload</title><form method=post action=/upload enctype=multipart/form-data>\
                        <input name=comment value=hello><input type=file name=photo></form>";
                    let head =
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
                    let reply = format!("{head}Content-Length: {}\r\n\r\n{page}", page.len());
                    let _ = connection.write_all(reply.as_bytes());
                }
                // A close with unread bytes would reset the connection.
                let _ = io::copy(&mut connection, &mut io::sink());
            });
        }
    });
    format!("http://{address}/")
}

#[test]
fn the_parts_of_an_upload_are_recorded() {
    let Some(program) = program("the_parts_of_an_upload_are_recorded") else { return };
    let url = upload_site();
    let mut options = BrowserOptions::new(program);
    options.is_headless = true;
    let mut recorder = Recorder::start(&options).unwrap();
    recorder.navigate(&url).unwrap();
    recorder.wait_until_idle().unwrap();
    let submit = "const files = new DataTransfer(); files.items.add(new File([new Uint8Array([255, 0, 65])], 'cat.png', {type: 'image/png'})); \
        document.forms[0].photo.files = files.files; document.forms[0].submit()";
    recorder.evaluate(submit).unwrap();
    wait_for(&mut recorder, "upload");
    let recording = recorder.finish(&url);
    let plan = plan::plan(&recording, None, &PlanOptions::default()).unwrap().text;
    assert!(plan.contains("hello") && plan.contains("cat.png"), "{plan}\n{}", recording.har());
}
