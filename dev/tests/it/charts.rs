//! Writes charts to files, and checks their names and titles.

use crate::world::{command, lab};
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const SVG: &[u8] = b"<svg";

/// Creates a folder with a plan for a server.
fn plan(name: &str, load: &str, url: &str) -> TempDir {
    let dir = TempDir::new().expect("a directory");
    let text = format!("{name}load: {load}\nscript: {{request: \"{url}\"}}\nrepetitions: 1\n");
    fs::write(dir.path().join("shop.yaml"), text).expect("a plan");
    dir
}

fn brunt(dir: &Path, line: &str) -> Output {
    let mut brunt = command(line);
    brunt.current_dir(dir).output().expect("brunt")
}

/// Names of the files in a directory. Each file must have this beginning.
fn pictures(dir: &Path, beginning: &[u8]) -> Vec<String> {
    let files = fs::read_dir(dir).expect("a directory of charts").flatten();
    let mut names: Vec<String> = files
        .map(|file| {
            let name = file.file_name().into_string().expect("a name");
            let bytes = fs::read(file.path()).expect("a file");
            assert!(bytes.starts_with(beginning), "{name}");
            name
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_directory_gets_the_three_key_charts_or_all() {
    let server = lab("");
    let cases = [
        ("{rate: 400, duration: 1500ms}", ["percentiles", "time-p99", "time-throughput"]),
        ("{rate: \"100..300+100\", duration: 400ms}", ["p99", "percentiles", "throughput"]),
    ];
    for (load, expected) in cases {
        let dir = plan("", load, &server.url_of("/"));
        let outputs =
            "-o png=key/ -o svg=key-svg/ -o png-all=all/ -o svg-all=all-svg/ -o svg-all=all.svg";
        let output = brunt(dir.path(), &format!("run shop.yaml --no-store {outputs}"));
        assert!(output.status.code().is_some_and(|code| code == 0 || code == 5), "{output:?}");
        assert_eq!(pictures(&dir.path().join("key"), PNG), with_ending(expected, "png"));
        assert_eq!(pictures(&dir.path().join("key-svg"), SVG), with_ending(expected, "svg"));
        let all = pictures(&dir.path().join("all"), PNG);
        assert!(
            all.len() > 5 && with_ending(expected, "png").iter().all(|name| all.contains(name)),
            "{all:?}"
        );
        assert!(!all.iter().any(|name| name.contains("errors")), "{all:?}");
        assert_eq!(pictures(&dir.path().join("all-svg"), SVG).len(), all.len());
        let sheet = fs::read_to_string(dir.path().join("all.svg")).expect("a sheet");
        assert_eq!(sheet.matches("role=\"img\"").count(), all.len());
    }
}

fn with_ending(names: [&str; 3], ending: &str) -> [String; 3] {
    names.map(|name| format!("{name}.{ending}"))
}

#[test]
fn the_title_is_the_name_of_the_plan_or_of_its_file() {
    let server = lab("");
    for (name, title) in [("name: Shop at noon\n", "Shop at noon"), ("", "shop")] {
        let dir = plan(name, "{rate: 100, duration: 500ms}", &server.url_of("/"));
        brunt(dir.path(), "run shop.yaml --store kept -o html=run.html -o svg=run.svg");
        let experiments =
            fs::read_dir(dir.path().join("kept/runs")).expect("stored runs").flatten();
        let run = experiments.map(|entry| entry.file_name()).next().expect("a stored run");
        let run = run.to_string_lossy();
        let id = run.split('.').next().unwrap_or_default();
        brunt(dir.path(), &format!("report {id} --store kept -o html=trial.html -o svg=trial.svg"));
        for page in ["run.html", "trial.html"] {
            let html = fs::read_to_string(dir.path().join(page)).expect("a page");
            assert!(html.contains(&format!("<h1>{title}</h1>")), "{page} of {title}");
        }
        for drawing in ["run.svg", "trial.svg"] {
            let svg = fs::read_to_string(dir.path().join(drawing)).expect("a drawing");
            assert!(svg.contains(&format!("<title>{title}</title>")), "{drawing} of {title}");
        }
    }
}
