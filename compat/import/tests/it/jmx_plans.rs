//! Public plans of JMeter, where they are there: each becomes a plan file that can be read.

use brunt_import::jmx::{self, JmxOptions};
use brunt_model::scenario::{EndScope, ScenarioStep};
use brunt_spec::System;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Plans that cannot become a plan file, and why.
const REFUSED: [(&str, &str); 1] = [
    // Its URLs have words that a script replaces before the plan runs.
    ("36-sunbird-form-read", "not protocol"),
];

fn plans() -> Vec<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/jmx");
    let directory = env::var_os("BRUNT_JMX").map_or_else(beside, PathBuf::from);
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let mut plans: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join("plan.jmx").exists()).collect();
    plans.sort();
    if plans.is_empty() {
        skipped(&format!(
            "jmx-plans: no plans in {}; name their directory in BRUNT_JMX",
            directory.display()
        ));
    }
    plans
}

#[expect(clippy::print_stdout, reason = "tells whoever runs the tests")]
fn skipped(what: &str) {
    println!("SKIPPED {what}");
    if let Some(list) = env::var_os("BRUNT_SKIPS") {
        let mut list =
            fs::File::options().append(true).create(true).open(list).expect("the list of skips");
        writeln!(list, "SKIPPED {what}").expect("the list of skips");
    }
}

fn imported(folder: &Path) -> Result<jmx::JmxImport, String> {
    let bytes = fs::read(folder.join("plan.jmx")).map_err(|error| error.to_string())?;
    let options = JmxOptions {
        file: "plan.jmx".into(),
        directory: folder.to_owned(),
        files: folder.to_owned(),
        ..JmxOptions::default()
    };
    jmx::read(&bytes, &options).map_err(|error| error.to_string())
}

#[test]
fn public_plans_become_plan_files() {
    let system = System {
        environment: |_| Some("secret".into()),
        languages: brunt_languages::LANGUAGES,
        ..System::bare(20_000, 2, None, 1)
    };
    let scratch = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for folder in plans() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let refused = REFUSED.iter().find(|(plan, _)| *plan == name);
        let read = imported(&folder).and_then(|import| {
            let file = scratch.path().join(format!("{name}.yaml"));
            fs::write(&file, &import.plan).map_err(|error| error.to_string())?;
            let loaded = brunt_spec::plan_file::load(&file, &[], "/tmp/none", &system);
            loaded.map(|_| ()).map_err(|error| format!("{error}"))
        });
        match (read, refused) {
            (Ok(()), None) => {}
            (Err(told), Some((_, why))) if told.contains(why) => {}
            (read, _) => wrong.push(format!("{name}: {read:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The plan that a plan file comes to.
fn loaded(plan: &str, folder: &Path) -> brunt_model::Plan {
    let system = System {
        environment: |name| Some(format!("${{__P({name},)}}")),
        languages: brunt_languages::LANGUAGES,
        ..System::bare(20_000, 2, None, 1)
    };
    let file = folder.join("again.yaml");
    fs::write(&file, plan).expect("a file");
    let loaded = brunt_spec::plan_file::load(&file, &[], "/tmp/none", &system)
        .unwrap_or_else(|error| panic!("{error}\n{plan}"));
    loaded.experiment.contenders[0].steps[0].plan.clone()
}

#[test]
fn exported_plans_round_trip() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/tests/data/import/jmx");
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["shop.jmx", "users.csv"] {
        fs::copy(shop.join(name), folder.path().join(name)).expect("a copy");
    }
    let import = |name: &str| {
        let (file, directory) = ("plan.jmx".to_owned(), folder.path().to_owned());
        let options = JmxOptions { file, directory, ..JmxOptions::default() };
        let bytes = fs::read(folder.path().join(name)).expect("a plan");
        jmx::read(&bytes, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    let first = import("shop.jmx");
    let counts = "JMeter evaluates the condition twice a round";
    assert!(
        matches!(first.notices.as_slice(), [one] if one.contains(counts)),
        "{:?}",
        first.notices
    );
    let options =
        brunt_jmx::export::ExportOptions { name: "shop".into(), folder: folder.path().to_owned() };
    let exported = brunt_jmx::export::write(&loaded(&first.plan, folder.path()), &options);
    assert_eq!(exported.notices, Vec::<String>::new());
    fs::write(folder.path().join("exported.jmx"), exported.jmx).expect("a plan");
    let second = import("exported.jmx");
    // Notices name lines of the plan of JMeter.
    let keys = |plan: &str| {
        plan.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keys(&first.plan), keys(&second.plan));
}

#[test]
fn exported_stages_round_trip() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = r#"
load: {users: 3, iterations: 4}
repetitions: 1
setup:
  users: 2
  timeout: 5s
  steps:
  - post: http://h:81/login
    extract: {token: {json: $.token}}
scenario:
  base: http://h:81
  steps:
  - get: /item?of=${token}
teardown:
- delete: http://h:81/login
  on_failure: continue
  headers: {X-Token: "${token}"}
"#;
    let options = brunt_jmx::export::ExportOptions {
        name: "stages".into(),
        folder: folder.path().to_owned(),
    };
    let exported = brunt_jmx::export::write(&loaded(plan, folder.path()), &options);
    assert_eq!(exported.notices, Vec::<String>::new());
    let options = JmxOptions {
        file: "plan.jmx".into(),
        directory: folder.path().to_owned(),
        ..JmxOptions::default()
    };
    let imported =
        jmx::read(exported.jmx.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.notices, Vec::<String>::new(), "{}", imported.plan);
    let again = loaded(&imported.plan, folder.path());
    let [setup, teardown] = &again.stages[..] else { panic!("{}", imported.plan) };
    let rounds =
        |plan: &brunt_model::Plan| (plan.main().load.peak(), plan.main().stop.iterations_per_user);
    assert_eq!(
        [rounds(&setup.plan), rounds(&again), rounds(&teardown.plan)],
        [(2.0, Some(1)), (3.0, Some(4)), (1.0, Some(1))]
    );
    assert_eq!(setup.plan.main().stop.duration, Some(std::time::Duration::from_secs(5)));
    let first = |plan: &brunt_model::Plan| {
        plan.requests().next().map(|request| (request.method.clone(), request.url.clone()))
    };
    let asked = |method: &str, url: &str| Some((method.to_owned(), url.to_owned()));
    assert_eq!(first(&setup.plan), asked("POST", "http://h:81/login"));
    assert_eq!(first(&again), asked("GET", "http://h:81/item?of=${token}"));
    assert_eq!(first(&teardown.plan), asked("DELETE", "http://h:81/login"));
    let ends = |plan: &brunt_model::Plan| plan.policy().failure_ends;
    assert_eq!([ends(&setup.plan), ends(&teardown.plan)], [EndScope::Run, EndScope::Nothing]);
}

#[test]
fn several_groups_of_a_stage_are_groups_of_steps() {
    let group = |kind: &str, name: &str| {
        format!(
            r#"<{kind} testclass="{kind}" testname="{name}"><intProp name="ThreadGroup.num_threads">1</intProp>
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><intProp name="LoopController.loops">2</intProp></elementProp>
            </{kind}><hashTree><HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{name}">
            <stringProp name="HTTPSampler.path">http://h/{name}</stringProp></HTTPSamplerProxy><hashTree/></hashTree>"#
        )
    };
    let groups = [
        group("SetupThreadGroup", "login"),
        group("SetupThreadGroup", "cart"),
        group("ThreadGroup", "browse"),
    ];
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>{}</hashTree></hashTree></jmeterTestPlan>"#,
        groups.concat()
    );
    let folder = tempfile::tempdir().expect("a folder");
    let options = JmxOptions {
        file: "plan.jmx".into(),
        directory: folder.path().to_owned(),
        ..JmxOptions::default()
    };
    let imported = jmx::read(text.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"));
    let again = loaded(&imported.plan, folder.path());
    let setup = &again.stages.first().unwrap_or_else(|| panic!("{}", imported.plan)).plan;
    let names: Vec<&str> = setup
        .main()
        .scenario
        .steps
        .iter()
        .filter_map(|step| {
            if let ScenarioStep::Group { name, .. } = step { Some(name.as_str()) } else { None }
        })
        .collect();
    assert_eq!(names, ["login", "cart"], "{}", imported.plan);
}
