//! Checks rules of the source that the compiler does not know: dependencies of crates, licenses,
//! the length of maps, and the places of clocks, unsafe code and printing.
//!
//! It reads `cargo metadata` and the source as text, and does not run brunt. It looks for words
//! outside comments and inline test modules. That is crude but sufficient: clippy enforces most of
//! these rules, and this test restricts their exceptions.

mod catalogs;
mod shape;

use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates of `lib/` and `crates/` in their order: a crate may depend only on earlier ones.
const CRATES: [&str; 29] = [
    "stats",
    "dom",
    "java",
    "files",
    "suffix",
    "texts",
    "model",
    "judge",
    "wire",
    "probe",
    "engine",
    "script",
    "generator",
    "store",
    "report",
    "search",
    "rig",
    "spec",
    "har",
    "editor",
    "record",
    "check",
    "agents",
    "runner",
    "live",
    "certify",
    "fleet",
    "web",
    "cli",
];

/// Number of crates in `lib/`, which know nothing of load tests. They are the first ones.
const LIBRARIES: usize = 6;

/// The crates of `compat/`, which speak for other tools, in their order. They may use all of
/// [`CRATES`] except [`COMPAT_USERS`], and only these may use them.
const COMPAT: [&str; 6] = ["groovy", "languages", "jmx", "import", "k6", "dropin"];

/// The crates that offer `compat/` to people.
const COMPAT_USERS: [&str; 2] = ["web", "cli"];

/// Features of the program that link a crate of `compat/`.
const COMPAT_FEATURES: [&str; 3] = ["compat", "import", "studio"];

/// Folders with source code.
const SOURCES: [&str; 4] = ["lib", "crates", "compat", "dev"];

/// Maximum number of lines of a `lib.rs`, which is a map.
const MAP_LINES: usize = 80;

/// Files that may have unsafe code: the system calls, and the reader of kernel statistics in the
/// benchmark.
const UNSAFE: [&str; 2] = ["crates/wire/src/sys/raw.rs", "dev/bench/src/usage.rs"];

/// Files that may read the clock, against clippy.toml.
const CLOCKS: [&str; 3] = ["crates/engine/src/clock.rs", "dev/lab/src/clock.rs", "dev/bench/src/"];

/// Files that may print and end the process: the programs.
const PRINTERS: [&str; 3] = ["crates/cli/src/", "dev/lab/src/main.rs", "dev/bench/src/"];

#[test]
fn crates_depend_only_on_earlier_ones() {
    let mut wrong = Vec::new();
    for (package, dependencies) in dependencies(&metadata(&["--no-deps"])) {
        for dependency in dependencies {
            if let Some(why) = objection(&package, &dependency) {
                wrong.push(format!("{package} depends on {dependency}: {why}"));
            }
        }
    }
    assert_none(&wrong);
}

/// `tools/check.sh` builds the program with these features.
#[test]
fn without_compat_features_the_program_links_none_of_it() {
    let metadata = metadata(&["--no-deps"]);
    let cli = packages(&metadata).iter().find(|package| text(package, "name") == "brunt-cli");
    let features = cli.and_then(|package| package["features"].as_object()).expect("features");
    let is_core = |name: &&str| *name != "default" && !COMPAT_FEATURES.contains(name);
    let core: Vec<&str> = features.keys().map(String::as_str).filter(is_core).collect();
    let core = core.join(",");
    let check = fs::read_to_string(root().join("tools/check.sh")).expect("a script");
    assert!(check.contains(&core), "tools/check.sh builds brunt-cli with --features {core}");
    let tree = cargo(&[
        "tree",
        "--package=brunt-cli",
        "--no-default-features",
        "--features",
        &core,
        "--edges=normal",
        "--prefix=none",
        "--format={p}",
        "--locked",
    ]);
    let tree = String::from_utf8_lossy(&tree);
    let linked = tree.lines().filter_map(|line| line.split(' ').next()).map(short_name);
    let strays: Vec<String> =
        linked.filter(|name| position(&COMPAT, name).is_some() || name == "web").collect();
    assert_none(&strays);
}

#[test]
fn every_crate_has_its_place_in_the_order() {
    let metadata = metadata(&["--no-deps"]);
    let stray = |package: &&Value| {
        let name = short_name(text(package, "name"));
        let place = position(&CRATES, &name);
        let folder = relative(Path::new(text(package, "manifest_path")));
        match folder.split('/').next() {
            Some("lib") => place.is_none_or(|place| place >= LIBRARIES),
            Some("crates") => place.is_none_or(|place| place < LIBRARIES),
            Some("compat") => position(&COMPAT, &name).is_none(),
            _ => false,
        }
    };
    let strays: Vec<&str> =
        packages(&metadata).iter().filter(stray).map(|package| text(package, "name")).collect();
    assert!(
        strays.is_empty(),
        "give these a place in CRATES or COMPAT (dev/house/rules/main.rs) and in ARCHITECTURE.md: {strays:?}"
    );
}

/// A newcomer looks for these files first. A path may be shortened to its last parts.
#[test]
fn files_that_documents_name_exist() {
    let endings = ["rs", "sh", "mjs", "py", "md", "ftl", "toml", "ts", "proto", "json"];
    let paths: Vec<String> = endings
        .iter()
        .flat_map(|ending| files(&root(), ending))
        .map(|path| format!("/{}", relative(&path)))
        .collect();
    let exists = |name: &str| {
        let file = format!("/{name}");
        paths.iter().any(|path| path.ends_with(&file)) || root().join(name).exists()
    };
    let readmes = files(&root(), "md").into_iter().filter(|path| path.ends_with("README.md"));
    let guides = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    let mut wrong = Vec::new();
    for document in guides.into_iter().chain(readmes) {
        let text = fs::read_to_string(&document).expect("a document is text");
        // Text between backticks is every other part.
        for name in text.split('`').skip(1).step_by(2) {
            let is_place = ["crates/", "lib/", "compat/", "dev/", "tools/"]
                .iter()
                .any(|top| name.starts_with(top))
                || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "rs");
            let is_pattern = name.contains(|c: char| c.is_whitespace() || "*{…<".contains(c))
                || name.contains("NAME")
                || name.contains("TOOL");
            if is_place && !is_pattern && !exists(name.trim_end_matches('/')) {
                wrong.push(format!("{}: `{name}`", relative(&document)));
            }
        }
    }
    assert_none(&wrong);
}

/// A newcomer searches for the names of types and functions. In `part::Name`, `part` is a crate or module, or occurs in
/// the file that defines the name.
#[test]
fn names_in_readmes_are_defined() {
    let path = Regex::new(r"^[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?:\(\))?!?$").expect("a regex");
    let files_of_source = SourceFile::all();
    let readmes = SOURCES.iter().flat_map(|folder| files(&root().join(folder), "md"));
    let mut wrong = Vec::new();
    for document in readmes.filter(|path| path.ends_with("README.md")) {
        let text = fs::read_to_string(&document).expect("a document is text");
        for quoted in text.split('`').skip(1).step_by(2).filter(|quoted| path.is_match(quoted)) {
            let mut parts = quoted.trim_end_matches('!').trim_end_matches("()").rsplit("::");
            let name = parts.next().unwrap_or_default();
            let parent = parts.next().map(|parent| parent.trim_start_matches("brunt_"));
            let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
            if (parent.is_some() || is_type)
                && !files_of_source.iter().any(|file| file.defines(parent, name))
            {
                wrong.push(format!("{}: `{quoted}`", relative(&document)));
            }
        }
    }
    assert_none(&wrong);
}

/// A file of the source, and the names that it defines.
struct SourceFile {
    path: String,
    text: String,
    names: BTreeSet<String>,
}

impl SourceFile {
    fn all() -> Vec<Self> {
        // Items, fields, variants and rows of macros.
        let definition = Regex::new(
            r"(?m)\b(?:struct|enum|trait|fn|mod|const|static|type|macro_rules!) +(\w+)|^ +(\w+) *(?:[({,]|= |$)",
        )
        .expect("a regex");
        let mut all = Vec::new();
        for (path, text) in sources(&SOURCES) {
            let definitions = definition.captures_iter(&text);
            let names = definitions.filter_map(|one| one.get(1).or(one.get(2)));
            let names = names.map(|name| name.as_str().to_owned()).collect();
            all.push(Self { path, text, names });
        }
        all
    }

    /// True if the file defines a name or is named like it, and has something to do with `parent`.
    fn defines(&self, parent: Option<&str>, name: &str) -> bool {
        let mut path = self.path.trim_end_matches(".rs").split('/');
        let is_named_so = path.clone().next_back() == Some(name);
        (self.names.contains(name) || is_named_so)
            && parent.is_none_or(|parent| {
                path.any(|part| part == parent) || words(&self.text).any(|word| word == parent)
            })
    }
}

/// A newcomer reads it in a quarter of an hour.
#[test]
fn the_map_of_the_code_is_short() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let places = text.split("## Places in the code").nth(1).expect("a table of places");
    let places = places.split("\n## ").next().expect("its section");
    // The head of a table has two lines.
    let rows = places.lines().filter(|line| line.starts_with('|')).count() - 2;
    assert!(rows <= 25, "{rows} places (at most 25)");
    assert!(text.len() <= 12_000, "{} bytes (at most 12,000)", text.len());
}

/// The lab tests brunt: an error in shared code would be at both ends, and stay unnoticed.
#[test]
fn the_lab_shares_no_code_with_brunt() {
    let dependencies = dependencies(&metadata(&["--no-deps"]));
    let mut reached = BTreeSet::from(["lab"]);
    let mut next = vec!["lab"];
    while let Some(package) = next.pop() {
        next.extend(
            dependencies
                .get(package)
                .into_iter()
                .flatten()
                .map(String::as_str)
                .filter(|one| reached.insert(one)),
        );
    }
    for shared in ["wire", "engine"] {
        assert!(
            !reached.contains(shared),
            "brunt-lab depends, by some way, on brunt-{shared}: {reached:?}"
        );
    }
}

/// Options are rows of the table of `spec`, which also reads plan files; only the command line uses
/// clap.
#[test]
fn settings_do_not_depend_on_a_command_line_parser() {
    let metadata = metadata(&["--no-deps"]);
    let wrong = packages(&metadata)
        .iter()
        .filter(|package: &&Value| ["brunt-spec", "brunt-dropin"].contains(&text(package, "name")))
        .filter(|package: &&Value| {
            let all = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
            all.iter().any(|one| ["clap", "anyhow"].contains(&text(one, "name")))
        });
    assert_none(
        &wrong
            .map(|package| format!("{} depends on clap or anyhow", text(package, "name")))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn licences_are_permissive() {
    let allowed = allowed_licences();
    let metadata = metadata(&[]);
    let wrong: Vec<String> = packages(&metadata)
        .iter()
        .filter(|package| !is_permitted(package, &allowed))
        .map(licence_of)
        .collect();
    assert!(packages(&metadata).len() > 20, "cargo metadata lists our dependencies");
    assert_none(&wrong);
}

#[test]
fn every_lib_rs_is_a_short_map() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&SOURCES).iter().filter(|(path, _)| path.ends_with("/src/lib.rs")) {
        let lines = text.lines().count();
        if lines > MAP_LINES {
            wrong.push(format!("{path} has {lines} lines (at most {MAP_LINES})"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn unsafe_code_is_only_in_listed_files() {
    assert_none(&outside(&UNSAFE, |line| {
        words(line).any(|word| word == "unsafe" || word == "unsafe_code")
    }));
}

#[test]
fn the_clock_is_read_only_in_listed_files() {
    assert_none(&outside(&CLOCKS, |line| words(line).any(|word| word == "disallowed_methods")));
}

#[test]
fn only_programs_print_and_exit() {
    let prints = ["println!", "eprintln!", "print!(", "dbg!(", "process::exit"];
    assert_none(&outside(&PRINTERS, |line| prints.iter().any(|print| line.contains(print))));
}

/// Callers pass in process data, so that a page or an agent can call them.
#[test]
fn settings_and_drop_ins_do_not_read_the_process() {
    let process = [
        "env::var",
        "env::args",
        "home_dir()",
        "current_exe()",
        "io::stdout()",
        "io::stderr()",
        "io::stdin()",
    ];
    let is_checked = |path: &str| {
        ["crates/spec/", "compat/dropin/"].iter().any(|source| path.starts_with(source))
            && !is_test(path)
    };
    let mut wrong = Vec::new();
    for (path, text) in
        sources(&["crates", "compat"]).into_iter().filter(|(path, _)| is_checked(path))
    {
        let found = code(&text).filter(|(_, line)| process.iter().any(|name| line.contains(name)));
        wrong.extend(found.map(|(number, line)| format!("{path}:{number}: {}", line.trim())));
    }
    assert_none(&wrong);
}

/// Lines of a table without comments and blank lines.
fn table(file: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).expect("a table of the tests");
    let rows =
        text.lines().filter_map(|line| line.split('#').next()).map(|line| line.trim().to_owned());
    rows.filter(|line| !line.is_empty()).collect()
}

/// True if a source file has a function with the last word of the path of a test.
fn is_a_test(sources: &[String], test: &str) -> bool {
    let function = format!("fn {}()", test.rsplit("::").next().unwrap_or(test));
    sources.iter().any(|text| text.contains(&function))
}

#[test]
fn promises_have_a_simulated_test_that_runs_everywhere() {
    let sources = texts(&SOURCES);
    let needs = table("dev/tests/needs.txt");
    let mut wrong = Vec::new();
    for row in table("dev/tests/promises.txt") {
        let [promise, simulated, real] = row.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            wrong.push(format!("three columns: {row}"));
            continue;
        };
        // A long test still runs on every machine.
        let needs = |test: &str| {
            let mut others = needs.iter().map(|row| row.split_whitespace().collect::<Vec<_>>());
            others.any(|row| row[0] == test && row[1..] != ["long"])
        };
        if !is_a_test(&sources, simulated) || needs(simulated) {
            wrong.push(format!("{promise}: {simulated} is no test that runs everywhere"));
        }
        if real != "-" && !is_a_test(&sources, real) {
            wrong.push(format!("{promise}: {real} is no test"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn tests_with_special_needs_are_in_the_table() {
    const NEEDS: [&str; 6] = ["quiet", "root", "netns", "cgroup", "tool", "long"];
    let sources = texts(&SOURCES);
    let rows = table("dev/tests/needs.txt");
    let mut wrong = Vec::new();
    let mut names_of_rows: BTreeSet<&str> = BTreeSet::new();
    for row in &rows {
        let (name, needs) = row.split_once(' ').unwrap_or((row, ""));
        names_of_rows.insert(name);
        if let Some(need) = needs.trim().split(',').find(|need| !NEEDS.contains(need)) {
            wrong.push(format!("{name} needs `{need}`, and there are {NEEDS:?}"));
        }
        if needs.trim() != "tool" && !is_a_test(&sources, name) {
            wrong.push(format!("{name} is in dev/tests/needs.txt, and no test"));
        }
    }
    for file in files(&root().join("dev/tests/it"), "rs") {
        let text = fs::read_to_string(&file).expect("source is text");
        for call in ["retry_under_steal_time(\"", "skip_if_generator_limited(\""] {
            let names = text.split(call).skip(1).filter_map(|rest| rest.split('"').next());
            let unknown = names.filter(|name| name.contains("::") && !names_of_rows.contains(name));
            wrong.extend(
                unknown.map(|name| {
                    format!("{}: {name} is not in dev/tests/needs.txt", relative(&file))
                }),
            );
        }
    }
    assert_none(&wrong);
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n  {}\n", wrong.join("\n  "));
}

// Metadata of cargo.

fn metadata(arguments: &[&str]) -> Value {
    let format = ["metadata", "--format-version", "1", "--locked"];
    serde_json::from_slice(&cargo(&[&format, arguments].concat())).expect("cargo metadata is JSON")
}

/// Output of a command of cargo.
fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}: {errors}", arguments[0]);
    output.stdout
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// Dependencies of each package within the workspace, for use and for building, without the prefix
/// `brunt-`.
fn dependencies(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    packages(metadata)
        .iter()
        .map(|package| (short_name(text(package, "name")), workspace_dependencies(package)))
        .collect()
}

fn workspace_dependencies(package: &Value) -> Vec<String> {
    let all = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter()
        .filter(|one| one["kind"] != "dev" && text(one, "name").starts_with("brunt-"))
        .map(|one| short_name(text(one, "name")))
        .collect()
}

fn short_name(name: &str) -> String {
    name.trim_start_matches("brunt-").to_owned()
}

fn position(order: &[&str], name: &str) -> Option<usize> {
    order.iter().position(|known| *known == name)
}

fn objection(package: &str, dependency: &str) -> Option<&'static str> {
    if position(&COMPAT, dependency).is_some() {
        return objection_to_compat(package, dependency);
    }
    if position(&COMPAT, package).is_some() {
        let is_permitted =
            position(&CRATES, dependency).is_some() && !COMPAT_USERS.contains(&dependency);
        return (!is_permitted)
            .then_some("compat/ may use all of lib/ and crates/ but web and cli");
    }
    match (position(&CRATES, package), position(&CRATES, dependency)) {
        (Some(position_of_package), Some(position_of_dependency))
            if position_of_dependency < position_of_package =>
        {
            None
        }
        (Some(_), Some(_)) => Some("a crate may use only crates before it"),
        // The program contains the reference server to compare itself with it; it runs as a
        // separate process.
        (Some(_), None) if ["certify", "cli"].contains(&package) && dependency == "lab" => None,
        (Some(_), None) => Some("a crate of this order may use only crates of this order"),
        (None, _) if package == "bench" => {
            Some("the suite measures programs from outside and links none of them")
        }
        (None, _) => None,
    }
}

/// Why a package may not use a crate of `compat/`.
fn objection_to_compat(package: &str, dependency: &str) -> Option<&'static str> {
    if let Some(place) = position(&COMPAT, package) {
        let is_earlier = position(&COMPAT, dependency) < Some(place);
        return (!is_earlier).then_some("a crate may use only crates before it");
    }
    if position(&CRATES, package).is_some() && !COMPAT_USERS.contains(&package) {
        return Some("only web and cli may use compat/");
    }
    (package == "bench").then_some("the suite links none of our crates")
}

fn allowed_licences() -> BTreeSet<String> {
    let deny = fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    let allow = deny.lines().find_map(|line| line.strip_prefix("allow = "));
    // A list of TOML on one line is one of JSON.
    serde_json::from_str(allow.expect("deny.toml has `allow = [` on a line")).expect("a list")
}

/// True if the license offers a permitted choice. The old `MIT/Apache-2.0` of cargo means OR.
fn is_permitted(package: &Value, allowed: &BTreeSet<String>) -> bool {
    let expression = spdx::Expression::parse_mode(text(package, "license"), spdx::ParseMode::LAX);
    expression.is_ok_and(|one| one.evaluate(|need| allowed.contains(&need.to_string())))
}

fn licence_of(package: &Value) -> String {
    let name = format!("{} {}", text(package, "name"), text(package, "version"));
    format!("{name} is under `{}`, which deny.toml does not allow", text(package, "license"))
}

// Source files.

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("dev/house stands in the workspace")
        .to_owned()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// All files with this ending below `folder`, except build results, hidden folders and recordings.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of ours can be read") {
        let path = entry.expect("and so can its entries").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir()
            && !name.starts_with('.')
            && !["target", "node_modules", "corpus"].contains(&name.as_str())
        {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|source| source == ending) {
            found.push(path);
        }
    }
    found
}

/// Text of every source file in the folders, including tests.
fn texts(folders: &[&str]) -> Vec<String> {
    let all = folders.iter().flat_map(|folder| files(&root().join(folder), "rs"));
    all.map(|path| fs::read_to_string(path).expect("source is text")).collect()
}

/// Path and text of every file below a `src/` in the folders.
fn sources(folders: &[&str]) -> Vec<(String, String)> {
    let all = folders.iter().flat_map(|folder| files(&root().join(folder), "rs"));
    all.map(|path: PathBuf| (relative(&path), fs::read_to_string(&path).expect("source is text")))
        .filter(|(path, _)| path.contains("/src/"))
        .collect()
}

/// Lines for which `does` is true, in files that are neither tests nor below one of `places`.
fn outside(places: &[&str], does: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources(&SOURCES) {
        if !is_test(&path) && !places.iter().any(|place| path.starts_with(place)) {
            let lines = code(&text).filter(|(_, line)| does(line));
            found.extend(lines.map(|(number, line)| format!("{path}:{number}: {}", line.trim())));
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/")
}

/// Numbered lines without comments, up to the inline test module.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let source = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    source
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split("//").next().unwrap_or(line)))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
}
