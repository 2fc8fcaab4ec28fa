//! Public plans that tests read where they are there. They are no part of the repository.

use std::path::PathBuf;
use std::{env, fs, io::Write as _};

/// Where public plans are, if they are.
pub(crate) fn directory() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/jmx");
    env::var_os("BRUNT_JMX").map_or_else(beside, PathBuf::from)
}

/// Names and bytes of all public plans, sorted; tells that the test is skipped where there are none.
pub(crate) fn real_plans() -> Vec<(String, Vec<u8>)> {
    let directory = directory();
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let plan = |entry: fs::DirEntry| {
        let bytes = fs::read(entry.path().join("plan.jmx")).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), bytes))
    };
    let mut plans: Vec<_> = entries.filter_map(plan).collect();
    plans.sort();
    if plans.is_empty() {
        skipped(&format!(
            "jmx-plans: no plans in {}; name their directory in BRUNT_JMX",
            directory.display()
        ));
    }
    plans
}

fn skipped(what: &str) {
    println!("SKIPPED {what}");
    if let Some(list) = env::var_os("BRUNT_SKIPS") {
        let mut list = fs::File::options().append(true).create(true).open(list).unwrap();
        writeln!(list, "SKIPPED {what}").unwrap();
    }
}
