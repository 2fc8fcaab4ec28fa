//! Converts plans of JMeter to plan files and back: both make the same requests by label.

use crate::world::odd::{page, serve_connections};
use crate::world::{ScriptedServer, command};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Starts a shop with a form with a token, a list of items, and pages.
fn shop() -> ScriptedServer {
    serve_connections(|mut client| {
        while let Some(request) = client.request() {
            let path = request.split(' ').nth(1).unwrap_or_default();
            let answer = match path.split('?').next().unwrap_or_default() {
                "/login" => "<input name=\"csrf\" value=\"t1\">",
                "/list" => "{\"items\": [{\"id\": 3}, {\"id\": 5}], \"text\": \"item 1\"}",
                _ => "ok",
            };
            if !client.write(page(answer).as_bytes()) {
                break;
            }
        }
    })
}

fn run_brunt(words: &str, folder: &Path) -> String {
    let output = command(words).current_dir(folder).output().expect("brunt");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{words}: {errors}");
    errors
}

/// Number of good samples per label. The two labels of the Random Controller are added.
fn samples(run: &str, folder: &Path) -> BTreeMap<String, u32> {
    let out = folder.join("out.jtl");
    let _ = fs::remove_file(&out);
    run_brunt(&format!("run {run} --jtl out.jtl -q --no-store"), folder);
    let text = fs::read_to_string(out).expect("a result file");
    let mut all = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let label = if ["a", "b"].contains(&cells[2]) { "a or b" } else { cells[2] };
        assert!(line.contains(",true,"), "{line}");
        *all.entry(label.to_owned()).or_default() += 1;
    }
    all
}

#[test]
fn a_plan_makes_the_same_requests_as_jmx_and_as_a_plan_file() {
    let shop = shop();
    let folder = TempDir::new().expect("a folder");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/import/jmx");
    for name in ["shop.jmx", "users.csv"] {
        fs::copy(data.join(name), folder.path().join(name)).expect("a copy");
    }
    let property = format!("-J port={}", shop.address.port());
    let notices = run_brunt(&format!("import jmx shop.jmx {property} -o plan.yaml"), folder.path());
    assert_eq!(notices.lines().count(), 1, "{notices}");
    assert!(
        notices.contains("JMeter evaluates the condition twice a round, and a plan file once"),
        "{notices}"
    );
    run_brunt("plan check plan.yaml", folder.path());
    assert_eq!(run_brunt("export jmx plan.yaml -o again.jmx", folder.path()), "");
    let first = samples(&format!("shop.jmx {property}"), folder.path());
    let expected = [
        ("a or b", 4),
        ("browse", 6),
        ("c", 2),
        ("d", 2),
        ("f", 4),
        ("g", 4),
        ("half", 2),
        ("item", 12),
        ("list", 6),
        ("login", 2),
        ("order", 6),
        ("poll", 12),
    ];
    assert_eq!(first, expected.map(|(label, count)| (label.to_owned(), count)).into());
    let evaluated_once = samples("plan.yaml", folder.path());
    assert_eq!(evaluated_once["g"], 8);
    let with_g = |g| [(String::from("g"), g)];
    assert_eq!(
        [evaluated_once, with_g(4).into()].into_iter().flatten().collect::<BTreeMap<_, _>>(),
        first
    );
    assert_eq!(samples("again.jmx", folder.path()), first);
}

#[test]
fn inexpressible_plans_are_reported() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("none.jmx"), "<jmeterTestPlan>").expect("a file");
    assert!(
        error_of(&folder, "import jmx none.jmx").contains("none.jmx:1: "),
        "{}",
        error_of(&folder, "import jmx none.jmx")
    );
    assert!(
        error_of(&folder, "import jmx missing.jmx").contains("missing.jmx"),
        "{}",
        error_of(&folder, "import jmx missing.jmx")
    );
    assert!(
        error_of(&folder, "export jmx missing.yaml").contains("missing.yaml"),
        "{}",
        error_of(&folder, "export jmx missing.yaml")
    );
    let plan = "scenario: {base: 'http://127.0.0.1:1', steps: [{parallel: 2, steps: [{get: /a}, {get: '/b?k=${env.A_KEY}'}]}]}\n\
                load: {users: 2, duration: 1s}\n";
    fs::write(folder.path().join("plan.yaml"), plan).expect("a plan");
    let errors = run_brunt("export jmx plan.yaml -o plan.jmx", folder.path());
    assert_eq!(
        errors,
        "brunt: population main: requests of a parallel step are sent one after the other\n"
    );
    let jmx = fs::read_to_string(folder.path().join("plan.jmx")).expect("a plan");
    assert!(jmx.contains("/b?k=${__P(A_KEY,)}"), "{jmx}");
    assert!(error_of(&folder, "export jmx plan.yaml -o plan.jmx").contains("already exists"));
}

fn error_of(folder: &TempDir, words: &str) -> String {
    let output = command(words).current_dir(folder.path()).output().expect("brunt");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), errors.trim_end().lines().count()),
        (Some(2), 1),
        "{words}: {errors}"
    );
    errors
}

/// Imports an input of the repository into `plan.yaml`.
fn import_file(format: &str, input: &Path, folder: &Path) -> Result<(), String> {
    let copy = folder.join(input.file_name().expect("a name"));
    let text = fs::read(input).expect("an input");
    let text = String::from_utf8_lossy(&text).replace("SHOP", "127.0.0.1:1");
    fs::write(&copy, text).expect("a copy");
    let _ = fs::remove_file(folder.join("plan.yaml"));
    let output = command(&format!("import {format} {} -o plan.yaml", copy.display()))
        .current_dir(folder)
        .output();
    let output = output.expect("brunt");
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn imports_of_each_format_pass_the_check_of_plans() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let folder = TempDir::new().expect("a folder");
    let inputs = [
        ("har", "import/shop.har"),
        ("curl", "import/curl.txt"),
        ("urls", "import/urls.txt"),
        ("openapi", "import/shop.openapi.yaml"),
        ("postman", "import/shop.postman.json"),
        ("jmx", "import/jmx/shop.jmx"),
    ];
    fs::copy(data.join("import/jmx/users.csv"), folder.path().join("users.csv")).expect("a copy");
    let mut wrong = Vec::new();
    for (format, name) in inputs {
        if let Err(why) = import_file(format, &data.join(name), folder.path()) {
            wrong.push(format!("{name}: {why}"));
            continue;
        }
        let variables = ["PASSWORD", "TOKEN", "PIN", "KEY", "CSRF"].map(|name| (name, "x"));
        let check = command("plan check plan.yaml")
            .envs(variables)
            .current_dir(folder.path())
            .output()
            .expect("brunt");
        if !check.status.success() {
            wrong.push(format!("{name}: {}", String::from_utf8_lossy(&check.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
