//! Public plans of JMeter, where they are there: each becomes a plan file that can be read.

use brunt_import::jmx::{self, JmxOptions};
use brunt_spec::System;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Plans that cannot become a plan file, and why.
const REFUSED: [(&str, &str); 2] = [
    // Numbers of threads are words that a script replaces before the plan runs.
    ("36-sunbird-form-read", "num_threads is `THREADS_COUNT`"),
    ("39-sunbird-content-search", "num_threads is `THREADS_COUNT`"),
];

fn plans() -> Vec<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/jmx");
    let directory = env::var_os("BRUNT_JMX").map_or_else(beside, PathBuf::from);
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let mut plans: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.join("plan.jmx").exists()).collect();
    plans.sort();
    if plans.is_empty() {
        println!("SKIPPED jmx-plans: no plans in {}; name their directory in BRUNT_JMX", directory.display());
    }
    plans
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
    let system = System { environment: |_| Some("secret".into()), ..System::bare(20_000, 2, None, 1) };
    let scratch = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for folder in plans() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let refused = REFUSED.iter().find(|(plan, _)| *plan == name);
        let read = imported(&folder).and_then(|import| {
            let file = scratch.path().join(format!("{name}.yaml"));
            fs::write(&file, &import.plan).map_err(|error| error.to_string())?;
            if let Some(copies) = env::var_os("BRUNT_IMPORTED") {
                let told: String = import.notices.iter().map(|notice| format!("{notice}\n")).collect();
                fs::write(Path::new(&copies).join(format!("{name}.yaml")), &import.plan).map_err(|error| error.to_string())?;
                fs::write(Path::new(&copies).join(format!("{name}.txt")), told).map_err(|error| error.to_string())?;
            }
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
