//! Tests the cost of the index in a large store, in steps of `SQLite`, which do not depend on the
//! machine.

use super::{Index, StartInfo};
use crate::entry::{ItemKind, ItemState, RequestNames};
use crate::log::TrialOf;
use crate::{EntryFilter, StoreError};
use brunt_model::TrialIndex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates an index with this number of runs, and as many runs of experiments, 20 in each.
fn filled(runs: u32) -> Index {
    let index = Index::in_memory().unwrap();
    let add = || {
        for number in 0..runs {
            add_run(&index, None, number)?;
            if number % 20 == 0 {
                begin(&index, ItemKind::Experiment, number)?;
            }
            add_run(&index, Some(number / 20), number)?;
        }
        Ok(())
    };
    index.in_transaction(add).unwrap();
    index
}

fn begin(index: &Index, kind: ItemKind, number: u32) -> Result<String, StoreError> {
    let id = index.claim(kind, |_| false)?;
    let started = Some(f64::from(number));
    index.set_start(
        &id,
        &StartInfo {
            started,
            what: "http://h/",
            contenders: &[],
            requests: RequestNames::default(),
            load: None,
            trials: None,
        },
    )?;
    Ok(id)
}

/// Writes everything that the index stores for a run.
fn add_run(index: &Index, experiment: Option<u32>, number: u32) -> Result<(), StoreError> {
    let id = begin(index, ItemKind::Run, number)?;
    if let Some(experiment) = experiment {
        let place = TrialIndex { repetition: number % 20, contender: 0, step: 0 };
        let (experiment, contender) = (format!("experiment {experiment}"), "nginx".to_owned());
        index.set_trial(&id, &TrialOf { experiment, place, contender })?;
    }
    index.set_end(&id, ItemState::Whole, None)
}

/// Returns the number of steps of the database's virtual machine during `action`.
fn steps(index: &mut Index, action: impl FnOnce(&Index)) -> u64 {
    let steps = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&steps);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    index.connection.progress_handler(1, Some(count)).unwrap();
    action(index);
    index.connection.progress_handler(1, None::<fn() -> bool>).unwrap();
    steps.load(Ordering::Relaxed)
}

#[test]
fn a_new_run_costs_the_same_in_a_large_store() {
    let cost = |runs| {
        steps(&mut filled(runs), |index| {
            add_run(index, Some(0), 7).unwrap();
            let id = begin(index, ItemKind::Run, 8).unwrap();
            assert_eq!(index.kind(&id).unwrap(), Some(ItemKind::Run));
            assert_eq!(index.entries(&EntryFilter::One(id)).unwrap().len(), 1);
        })
    };
    let (small, large) = (cost(20), cost(4_000));
    assert!(small > 50, "{small} steps");
    assert!(large <= small + small / 5, "{large} steps in a large store, {small} in a small one");
}

#[test]
fn a_list_costs_the_same_for_each_row() {
    let cost = |runs| {
        steps(&mut filled(runs), |index| {
            let entries = index.entries(&EntryFilter::All).unwrap();
            assert_eq!(entries.len() as u32, runs * 2 + runs / 20);
        }) / u64::from(runs)
    };
    let (small, large) = (cost(400), cost(4_000));
    assert!(
        large <= small + small / 5,
        "{large} steps for each row of a large store, {small} of a small one"
    );
    assert!(large <= 200, "{large} steps for each row");
}
