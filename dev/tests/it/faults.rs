//! Odd replies and faults of servers, a row each: what the server does, and the outcome that brunt must report. For every
//! row brunt's counts are compared with the server's own.
//!
//! A row is added to a module that has a `rows` function. `row.rs` is what a row can say, `script.rs` what a server can
//! do, `run.rs` how a row is checked. One row alone: `BRUNT_FAULT='its name' cargo test -p brunt-tests --test it faults::`.

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

use row::Row;
use std::collections::BTreeSet;

/// Rows by subject.
type Rows = fn() -> Vec<Row>;

/// Odd replies.
const REPLIES: [Rows; 7] =
    [status_lines::rows, interim::rows, lengths::rows, chunks::rows, heads::rows, reuse::rows, bodies::rows];

/// Faults of servers.
const FAULTS: [Rows; 5] = [ends::rows, stalls::rows, listeners::rows, secure::rows, pipelining::rows];

#[test]
fn every_row_has_a_name_of_its_own() {
    let names = |table: &[Rows]| table.iter().flat_map(|rows| rows()).map(|row| row.name).collect::<Vec<_>>();
    let (replies, faults) = (names(&REPLIES), names(&FAULTS));
    let distinct: BTreeSet<_> = replies.iter().chain(&faults).collect();
    assert_eq!(distinct.len(), replies.len() + faults.len(), "two rows have the same name");
    // The numbers that brunt was first tried against.
    assert!(replies.len() >= 91 && faults.len() >= 27, "{} replies, {} faults", replies.len(), faults.len());
}

#[test]
fn status_lines() {
    run::run(&status_lines::rows());
}

#[test]
fn interim_replies() {
    run::run(&interim::rows());
}

#[test]
fn lengths() {
    run::run(&lengths::rows());
}

#[test]
fn chunks() {
    run::run(&chunks::rows());
}

#[test]
fn heads() {
    run::run(&heads::rows());
}

#[test]
fn reuse() {
    run::run(&reuse::rows());
}

#[test]
fn bodies() {
    run::run(&bodies::rows());
}

#[test]
fn ends() {
    run::run(&ends::rows());
}

#[test]
fn stalls() {
    run::run(&stalls::rows());
}

#[test]
fn listeners() {
    run::run(&listeners::rows());
}

#[test]
fn secure() {
    run::run(&secure::rows());
}

#[test]
fn pipelining() {
    run::run(&pipelining::rows());
}
