//! Runs open loops with a rate above the capacity of any machine: they end in time, and count the
//! requests that they did not begin.

use crate::world::{command, lab, measure, start};
use rustix::process::Signal;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn a_rate_beyond_capacity_ends_with_the_duration_and_the_grace() {
    let lab = lab("--service const:1ms");
    for options in ["", "-c 8", "--max-in-flight 50"] {
        let ran = measure(&format!(
            "{} -r 10000000 --arrivals even -d 1s --grace 1s {options}",
            lab.url_of("/")
        ));
        assert_eq!(ran.count("planned"), 10_000_000, "{options}: {}", ran.out);
        assert_eq!(ran.count("planned"), ran.count("begun") + ran.failed("dropped"), "{options}");
        // The planned time is two seconds.
        assert!(
            ran.figure("/elapsed_seconds") < 10.0,
            "{options}: {}",
            ran.figure("/elapsed_seconds")
        );
    }
}

#[test]
fn a_rate_beyond_capacity_obeys_the_first_signal() {
    let lab = lab("--service const:1ms");
    let running =
        start(&mut command(&format!("{} -r 10000000 -d 60s --grace 30s", lab.url_of("/"))));
    sleep(Duration::from_millis(1500));
    running.signal(Signal::TERM);
    let ran = running.finish();
    assert_eq!(ran.value("/interrupted"), true, "{}", ran.out);
    assert!(ran.figure("/elapsed_seconds") < 30.0, "{}", ran.figure("/elapsed_seconds"));
}
