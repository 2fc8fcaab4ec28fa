//! Tests the names under which brunt acts as other tools.

use crate::world::brunt::program;
use crate::world::command;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn links_are_created_and_act_as_their_tools() {
    let dir = TempDir::new().expect("a directory");
    assert!(install_names(&dir).status.success());
    let link = dir.path().join("ab");
    assert!(link.symlink_metadata().expect("a link").is_symlink());
    let out = Command::new(&link).arg("-V").output().expect("ab");
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&out.stdout).contains("Version 2.3 <"), "{out:?}");
    // Repeating it is no error.
    assert!(install_names(&dir).status.success());
}

fn install_names(dir: &TempDir) -> std::process::Output {
    command("install-names").arg(dir.path()).output().expect("brunt")
}

#[test]
fn foreign_files_are_not_replaced() {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("ab"), "theirs").expect("a file");
    assert!(
        error_of_install(&dir).contains("ab exists and is no link to this brunt; move it away")
    );
    assert_eq!(fs::read_to_string(dir.path().join("ab")).expect("the file"), "theirs");
    fs::remove_file(dir.path().join("ab")).expect("gone");
    std::os::unix::fs::symlink("/bin/true", dir.path().join("ab")).expect("a link");
    assert!(error_of_install(&dir).contains("no link to this brunt"));
    let out = command("install-names").arg(dir.path().join("none")).output().expect("brunt");
    assert!(String::from_utf8_lossy(&out.stderr).contains("is no directory; make it first"));
}

fn error_of_install(dir: &TempDir) -> String {
    let out = command("install-names").arg(dir.path()).output().expect("brunt");
    assert_eq!(out.status.code(), Some(2));
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[test]
fn an_unknown_name_is_brunt() {
    let dir = TempDir::new().expect("a directory");
    let other = dir.path().join("another");
    std::os::unix::fs::symlink(program("BRUNT_BIN", "brunt"), &other).expect("a link");
    let out = Command::new(&other).arg("--version").output().expect("brunt");
    assert!(String::from_utf8_lossy(&out.stdout).starts_with("brunt "));
}
