//! Tests several processes at once, one of which is killed. This test program starts itself again
//! as the other process.

use super::world::{SECOND, events, keep, snapshot, store, write};
use crate::{EntryFilter, ItemState, Store};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Name of the environment variable that gives the other process its task.
const ROLE: &str = "BRUNT_STORE_TEST_ROLE";
const WHERE: &str = "BRUNT_STORE_TEST_DIRECTORY";
const RUNS: usize = 50;

/// The other process. It is ended when this value is dropped.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(role: &str, directory: &Path) -> Other {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "tests::processes::the_other_process", "--nocapture"]);
    command.env(ROLE, role).env(WHERE, directory).stdout(Stdio::piped()).stderr(Stdio::null());
    Other(command.spawn().unwrap())
}

/// Not a separate test: the process that [`start`] starts.
#[test]
fn the_other_process() {
    let (Ok(role), Ok(directory)) = (std::env::var(ROLE), std::env::var(WHERE)) else { return };
    let store = Store::open(Path::new(&directory)).unwrap();
    if role == "many" {
        (0..RUNS).for_each(|n| drop(keep(&store, None, n as f64)));
        return;
    }
    let mut log = store.begin_run(None).unwrap();
    write(&mut log, &events(77.0)[..3]);
    println!("\nwriting {}", log.id());
    // Waits until it is killed, but not forever.
    (0..5_000_000).for_each(|tenth| log.append(&snapshot(tenth, 3)).unwrap());
}

#[test]
fn two_processes_store_fifty_runs_each() {
    let directory = tempfile::tempdir().unwrap();
    // Both processes also create the index.
    let mut others = [start("many", directory.path()), start("many", directory.path())];
    for Other(child) in &mut others {
        assert!(child.wait().unwrap().success());
    }
    let entries = Store::open(directory.path()).unwrap().list(&EntryFilter::All).unwrap();
    assert_eq!(entries.len(), 2 * RUNS);
    assert!(
        entries.iter().all(|entry| entry.progress == ItemState::Whole && entry.figures.is_some())
    );
    assert_eq!(entries.iter().map(|entry| &entry.id).collect::<HashSet<_>>().len(), 2 * RUNS);
}

#[test]
fn a_killed_process_leaves_all_complete_events() {
    for wait in [1, 30_000, 200_000] {
        let (directory, store) = store();
        let mut other = start("one", directory.path());
        let id = id_from(&mut other);
        let log = directory.path().join("runs").join(format!("{id}.events"));
        while log.metadata().unwrap().len() < wait {
            std::thread::yield_now();
        }
        assert_eq!(store.entry(&id).unwrap().progress, ItemState::Running);
        drop(other);
        let entry = store.entry(&id).unwrap();
        assert_eq!((entry.progress, entry.started_unix_seconds), (ItemState::Torn, Some(77.0)));
        let run = store.run(&id).unwrap();
        let tenths = run.last_interval_end.0 / (SECOND / 10);
        assert_eq!(run.total.completed, 3 * tenths);
        assert!(tenths > 0 || wait == 1);
    }
}

fn id_from(other: &mut Other) -> String {
    let mut text = String::new();
    let out = other.0.stdout.as_mut().unwrap();
    let mut byte = [0];
    while out.read(&mut byte).unwrap() == 1 {
        text.push(char::from(byte[0]));
        if let Some(line) = text.split("writing ").nth(1).and_then(|rest| rest.strip_suffix('\n')) {
            return line.to_owned();
        }
    }
    panic!("the other process said: {text}");
}

#[test]
fn a_full_disk_ends_the_log_and_not_the_run() {
    let (directory, store) = store();
    let Ok(small) = Small::mount(&directory.path().join("runs"), "64k") else {
        skipped(
            "store::a_full_disk_ends_the_log_and_not_the_run: no file system may be mounted here",
        );
        return;
    };
    let mut log = store.begin_run(None).unwrap();
    let id = log.id().to_owned();
    write(&mut log, &events(5.0)[..3]);
    let full = (0..200_000)
        .find(|tenth| log.append(&snapshot(*tenth, *tenth)).is_err())
        .expect("the disk is full");
    // From now on events are discarded, and no further error is returned.
    assert!(log.append(&snapshot(full + 1, 1)).is_ok());
    let mut run = store.run(&id).unwrap();
    assert_eq!(run.last_interval_end.0, full * SECOND / 10);
    run.fold(&events(5.0)[events(5.0).len() - 1]);
    log.finish(&run, &brunt_judge::judge(&run)).unwrap();
    assert_eq!(store.entry(&id).unwrap().progress, ItemState::Torn);
    drop(small);
}

#[test]
fn a_full_disk_does_not_prevent_reading() {
    let directory = tempfile::tempdir().unwrap();
    let Ok(small) = Small::mount(directory.path(), "1m") else {
        skipped("store::a_full_disk_does_not_prevent_reading: no file system may be mounted here");
        return;
    };
    let (id, torn) = {
        let store = Store::open(directory.path()).unwrap();
        let mut torn = store.begin_run(None).unwrap();
        write(&mut torn, &events(1003.0)[..9]);
        (keep(&store, None, 1002.0), torn.id().to_owned())
    };
    let mut filler = File::create(directory.path().join("filler")).unwrap();
    while filler.write_all(&[0; 64]).is_ok() {}
    for without_index in [false, true] {
        if without_index {
            for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
                let _ = std::fs::remove_file(directory.path().join(name));
            }
            while filler.write_all(&[0; 64]).is_ok() {}
        }
        let store = Store::open(directory.path()).unwrap();
        let listed = store.list(&crate::EntryFilter::All).unwrap();
        let mut ids: Vec<_> = listed.iter().map(|entry| entry.id.clone()).collect();
        ids.sort();
        let mut kept = vec![id.clone(), torn.clone()];
        kept.sort();
        assert_eq!(ids, kept, "without index: {without_index}");
        assert!(store.run(&id).unwrap().plan.is_some());
    }
    drop(small);
}

fn skipped(what: &str) {
    println!("SKIPPED {what}");
    if let Some(list) = std::env::var_os("BRUNT_SKIPS") {
        let mut list = File::options().append(true).create(true).open(list).unwrap();
        writeln!(list, "SKIPPED {what}").unwrap();
    }
}

/// A small file system, which is mounted until this value is dropped.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: &Path, size: &str) -> Result<Self, ()> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "brunt-test"]).arg(at);
        let done = command.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        if done { Ok(Self(at.to_owned())) } else { Err(()) }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // A lazy unmount, because a child may still have open files.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_device_is_an_error_immediately() {
    let full = File::options().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    assert!(crate::log::PackedWriter::new(full, &crate::log::LogHead::default()).is_err());
}
