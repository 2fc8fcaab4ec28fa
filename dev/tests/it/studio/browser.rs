//! The pages in Chromium: they work, with the keyboard alone, and axe-core finds no violation of accessibility.

use super::languages::Pages;
use super::{Studio, ids, run, two_runs};
use crate::world::lab::lab;
use crate::world::server::ServerProcess;
use crate::world::{command, skip, wait_until};
use serde_json::json;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Plans of JMeter.
const JMETER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/jmeter");

/// A script of `web-ui/test`; None without its programs, which is a skip of the test.
fn script(test: &str, name: &str) -> Option<Command> {
    let ui = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web-ui"));
    let has_chromium =
        ["chromium", "chromium-browser"].iter().any(|name| skip::program(name).is_some());
    if skip::program("node").is_none()
        || !has_chromium
        || !ui.join("node_modules/playwright-core").is_dir()
    {
        skip::skip(test, "no node, no Debian's chromium, or no playwright-core (sh tools/page.sh)");
        return None;
    }
    let mut script = Command::new("node");
    script.arg(format!("test/{name}.mjs")).current_dir(&ui);
    Some(script)
}

/// Runs a script to its end. `BRUNT_PICTURES` is the folder for its screenshots.
fn finish(mut script: Command) {
    assert_success(&output(&mut script));
}

fn output(script: &mut Command) -> Output {
    script.args(env::var_os("BRUNT_PICTURES")).output().expect("node")
}

fn assert_success(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

#[test]
fn the_pages_work() {
    let Some(mut script) = script("studio::browser::the_pages_work", "studio") else { return };
    let studio = Studio::start(two_runs());
    let lab = lab("");
    script.arg(&studio.link).args(ids(studio.dir.path())).arg(lab.url_of("/delay/5ms"));
    finish(script);
}

#[test]
fn the_keyboard_alone_is_enough() {
    let test = "studio::browser::the_keyboard_alone_is_enough";
    let lab = lab("");
    // Both languages have the same elements: `studio::languages` compares their texts.
    let languages: &[&str] =
        if env::var_os("BRUNT_PROVE").is_some() { &["en", "zh"] } else { &["en"] };
    for language in languages {
        let Some(mut script) = script(test, "keyboard") else { return };
        let studio = Studio::start(TempDir::new().expect("a directory"));
        let folder = studio.dir.path();
        fs::copy(Path::new(JMETER).join("counts.jmx"), folder.join("shop.jmx")).expect("a plan");
        script.args([&studio.link, &lab.url_of("/delay/5ms")]).arg(folder).arg(language);
        finish(script);
    }
}

/// Stores an experiment with two loads, and a search.
fn store_experiments(dir: &Path, url: &str) {
    let plan = dir.join("sweep.yaml");
    let text = format!(
        "name: sweep\nscript: {{request: \"{url}\"}}\nload: {{rate: \"[100,200]\", duration: 400ms}}\nrepetitions: 2\n"
    );
    fs::write(&plan, text).expect("a plan");
    run(dir, &format!("run {}", plan.display()));
    run(
        dir,
        &format!(
            "find {url} --trial-duration 1s --cooldown 0s --warmup 100ms --overload no --time-budget 6s --max-load 300"
        ),
    );
}

/// Starts a recording that waits for requests to its proxy. Returns the path of its page.
fn start_recording(pages: &Pages) -> String {
    let file = pages.studio.dir.path().join("recorded.yaml").display().to_string();
    let form = format!(
        "token={}&url=&kind=proxy&address=127.0.0.1:0&file={}",
        pages.token,
        file.replace('/', "%2F")
    );
    pages.studio.post("/record", &pages.cookie, &form).location()
}

#[test]
fn the_pages_are_accessible() {
    let test = "studio::browser::the_pages_are_accessible";
    let Some(mut script) = script(test, "studio-accessibility") else { return };
    if env::var_os("BRUNT_AXE").is_none() {
        return skip::skip(test, "no axe-core (BRUNT_AXE, tools/axe.sh)");
    }
    let mut pages = Pages::start();
    let dir = pages.studio.dir.path().to_owned();
    let lab = lab("");
    let url = lab.url_of("/delay/1ms");
    store_experiments(&dir, &url);
    let experiments = ids(&dir).split_off(2);
    assert_eq!(experiments.len(), 2);
    pages.targets.extend(experiments.iter().map(|id| format!("/runs/{id}")));
    let stored = ids(&dir);
    let compared = format!("/compare/share?id={}&id={}", stored[0], stored[1]);
    let reports = stored[1..].iter().map(|id| format!("/runs/{id}/share")).chain([compared]);
    let reports: Vec<String> = reports.collect();
    let jmx = dir.join("counts.jmx");
    fs::copy(Path::new(JMETER).join("counts.jmx"), &jmx).expect("a plan");
    pages.targets.push(format!("/edit?file={}", jmx.display()));
    let recording = start_recording(&pages);
    pages.targets.push(recording.clone());
    let others = ["/tries/2?sample=1&view=hex", "/record", "/history", "/sign-in"];
    pages.targets.extend(others.map(str::to_owned));
    let mut load = command(&format!("{url} -d 5m -r 20 -q"));
    let active = ServerProcess::start(load.env("BRUNT_STORE", dir.join("store")));
    wait_until("an active run", || ids(&dir).len() == 5);
    pages.targets.push(format!("/runs/{}", ids(&dir).remove(4)));
    let (name, value) = pages.cookie["Cookie: ".len()..].trim().split_once('=').expect("a cookie");
    let input = json!({
        "origin": format!("http://{}", pages.studio.own()),
        "cookie": {"name": name, "value": value},
        "pages": pages.targets,
        "open": ["/sign-in"],
        "plan": pages.plan,
        "reports": reports,
    });
    let file = dir.join("pages.json");
    fs::write(&file, input.to_string()).expect("a file");
    script.arg(&file);
    let output = output(&mut script);
    // It would go on without the studio.
    let token = format!("token={}", pages.token);
    let stopped = pages.studio.post(&format!("{recording}/stop"), &pages.cookie, &token);
    drop(active);
    assert_success(&output);
    assert_eq!(stopped.status, 303, "{}", stopped.body);
}
