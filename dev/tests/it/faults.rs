//! Tests unusual replies and faults of servers, one row each: the behavior of the server, and the
//! outcome that brunt must report. For every row, the counts of brunt are compared with those of
//! the server.
//!
//! Rows are added to modules with a `rows` function. `row.rs` defines rows, `script.rs` the
//! behavior of servers, `run.rs` the checks. To run one row: `BRUNT_FAULT='its name' cargo test -p
//! brunt-tests --test it faults::`.

mod bodies;
mod chunks;
mod ends;
mod heads;
mod interim;
mod lengths;
mod listeners;
mod pipelining;
mod reuse;
mod row;
mod run;
mod script;
mod secure;
mod server;
mod stalls;
mod status_lines;
mod stream;

use row::FaultRow;
use std::collections::BTreeSet;

/// Returns the rows of a subject.
type Rows = fn() -> Vec<FaultRow>;

/// Unusual replies.
const REPLIES: [Rows; 7] = [
    status_lines::rows,
    interim::rows,
    lengths::rows,
    chunks::rows,
    heads::rows,
    reuse::rows,
    bodies::rows,
];

/// Faults of servers.
const FAULTS: [Rows; 5] =
    [ends::rows, stalls::rows, listeners::rows, secure::rows, pipelining::rows];

#[test]
fn row_names_are_distinct() {
    let replies = row_names(&REPLIES);
    let faults = row_names(&FAULTS);
    let distinct: BTreeSet<_> = replies.iter().chain(&faults).collect();
    assert_eq!(distinct.len(), replies.len() + faults.len(), "two rows have the same name");
    // Numbers of rows in the first version of this test: rows must not get lost.
    assert!(
        replies.len() >= 91 && faults.len() >= 27,
        "{} replies, {} faults",
        replies.len(),
        faults.len()
    );
}

fn row_names(table: &[Rows]) -> Vec<&'static str> {
    table.iter().flat_map(|rows| rows()).map(|row| row.name).collect::<Vec<_>>()
}

#[test]
fn status_lines_are_handled() {
    run::run(&status_lines::rows());
}

#[test]
fn interim_replies_are_handled() {
    run::run(&interim::rows());
}

#[test]
fn lengths_are_handled() {
    run::run(&lengths::rows());
}

#[test]
fn chunks_are_handled() {
    run::run(&chunks::rows());
}

#[test]
fn heads_are_handled() {
    run::run(&heads::rows());
}

#[test]
fn reuse_is_handled() {
    run::run(&reuse::rows());
}

#[test]
fn bodies_are_handled() {
    run::run(&bodies::rows());
}

#[test]
fn ends_are_handled() {
    run::run(&ends::rows());
}

#[test]
fn stalls_are_handled() {
    run::run(&stalls::rows());
}

#[test]
fn listeners_are_handled() {
    run::run(&listeners::rows());
}

#[test]
fn tls_faults_are_handled() {
    run::run(&secure::rows());
}

#[test]
fn pipelining_is_handled() {
    run::run(&pipelining::rows());
}
