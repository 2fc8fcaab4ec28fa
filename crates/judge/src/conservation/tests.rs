//! Runs that are sound, and the same runs with one sum broken.

use super::checks;
use crate::testing::{self, MS};
use brunt_model::{Arrivals, Failure, Run, Tick};

fn broken(run: &Run) -> Vec<String> {
    checks(run).into_iter().filter(|c| !c.holds).map(|c| c.name).collect()
}

#[test]
fn sound_runs_conserve_everything() {
    for run in [testing::closed(8, 50 * MS, 0), testing::closed(3, 20 * MS, 130 * MS), testing::even(200, 5 * MS)] {
        let all = checks(&run);
        assert!(all.len() >= 8, "{all:?}");
        assert!(all.iter().all(|c| c.holds), "{all:#?}");
    }
}

#[test]
fn a_lost_request_is_missed() {
    let mut run = testing::even(200, 5 * MS);
    run.total.begun += 1;
    assert_eq!(broken(&run), ["planned requests", "begun requests", "counts over time", "histograms"]);
}

#[test]
fn a_status_or_a_byte_too_many_is_seen() {
    let mut run = testing::even(200, 5 * MS);
    run.total.statuses.add(200, 1);
    run.flow_all.announced_came_bytes += 1;
    assert_eq!(broken(&run), ["statuses", "bytes of bodies"]);
}

#[test]
fn users_that_are_unaccounted_for_are_missed() {
    let mut run = testing::closed(8, 50 * MS, 0);
    run.flow_all.in_flight_nanos /= 2;
    assert_eq!(broken(&run), ["requests under way", "Little's law"]);
    let mut run = testing::closed(3, 20 * MS, 130 * MS);
    run.flow_all.thought_nanos /= 4;
    assert_eq!(broken(&run), ["Little's law"]);
}

#[test]
fn arrivals_that_come_in_clumps_are_seen() {
    let mut run = testing::even(200, 5 * MS);
    run.flow_all.spread.begun.squares += run.flow_all.spread.begun.sum;
    assert_eq!(broken(&run), ["spacing of arrivals"]);
    let mut run = testing::even(200, 5 * MS);
    run.flow_all.spread.displaced = run.flow_all.spread.bins / 2;
    assert_eq!(broken(&run), ["spacing of arrivals"]);
}

#[test]
fn a_schedule_that_was_not_kept_is_seen() {
    let mut run = testing::even(200, 5 * MS);
    testing::double_rate(&mut run, Arrivals::Even);
    assert_eq!(broken(&run), ["arrivals against the schedule"]);
}

#[test]
fn failures_of_the_server_break_nothing() {
    let run = testing::failing(200, Failure::Reset);
    assert!(run.total.failed_by(Failure::Reset) > 0);
    assert_eq!(broken(&run), Vec::<String>::new());
}

#[test]
fn a_torn_record_is_not_checked() {
    let mut run = testing::even(200, 5 * MS);
    run.finish = None;
    run.seen_to = Tick(3);
    assert_eq!(checks(&run), []);
}
