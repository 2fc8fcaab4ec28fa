//! Tests each rule on runs with and without its finding.
//!
//! Runs are folded from events of a simulated load (`world`), with a truth that is a formula.

mod connections;
mod load;
mod memory;
mod place;
mod replies;
mod samples;
pub(crate) mod world;

use brunt_model::finding::Severity;
use world::{World, reply};

#[test]
fn healthy_runs_have_no_warnings() {
    let closed = World::closed(20, 0.0).answering(|_| reply(0.002)).judged();
    let open = World::open(800.0).lasting(15.0).answering(|_| reply(0.003)).judged();
    let slow = World::open(500.0).lasting(10.0).answering(|_| reply(1.0)).judged();
    for judged in [closed, open, slow] {
        let warnings: Vec<_> = judged.iter().filter(|f| f.severity == Severity::Warning).collect();
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

#[test]
fn the_most_severe_finding_comes_first_and_names_are_unique() {
    let findings = World::closed(200, 1.0).loopback().answering(|_| reply(0.002)).judged();
    assert_eq!(findings.first().map(|f| f.severity), Some(Severity::Warning));
    assert_eq!(findings.last().map(|f| f.severity), Some(Severity::Note));
    assert!(findings.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
    let names: std::collections::BTreeSet<_> = super::RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), super::RULES.len());
}

#[test]
fn an_empty_run_has_no_findings() {
    assert_eq!(
        super::findings(&brunt_model::Run::default(), &brunt_model::Judgement::default()),
        []
    );
    let nothing = World::closed(5, 0.0).answering(|_| reply(0.002)).before_the_load();
    assert!(nothing.iter().all(|finding| finding.rule == "cut_short"), "{nothing:?}");
}

#[test]
fn every_rule_is_in_the_docs() {
    let docs = include_str!("../../../../docs/findings.md");
    for rule in super::RULES {
        assert!(
            docs.contains(&format!("`{}`", rule.name)),
            "docs/findings.md says nothing of {}",
            rule.name
        );
    }
}
