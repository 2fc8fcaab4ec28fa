//! Runs fleets on a real Kubernetes, whose programs were built before: the proof of the release, with this program.

use crate::world::skip::skip;
use std::env;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn a_fleet_on_a_cluster_meets_its_targets() {
    let test = "fleet_kubernetes::a_fleet_on_a_cluster_meets_its_targets";
    let is_built = |folder: &String| Path::new(folder).join("bin/kube-proxy").is_file();
    let Some(folder) = env::var("K8S_DIR").ok().filter(is_built) else {
        return skip(test, "no programs of Kubernetes (K8S_DIR)");
    };
    if !rustix::process::geteuid().is_root() {
        return skip(test, "only root may start the nodes of a cluster");
    }
    let evidence = TempDir::new().expect("a directory");
    let output = Command::new("sh")
        .arg("tools/prove/fleet.sh")
        .arg(evidence.path())
        .env("K8S_DIR", folder)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
