//! Tests retention: which logs and items are removed, in which order, and which are exempt.

use super::digests::{digest_of, keep, long_events};
use super::world::{self, SECOND, experiment, place, store, write};
use crate::retention::PruningAction::{RemoveItem, RemoveLogs};
use crate::retention::{
    Exemption, Pruning, PruningAction, PruningReason, PruningStep, RetentionLimits,
};
use crate::{EntryFilter, ExperimentEnd, Store, StoreError, StoredItem};
use brunt_model::{Environment, Event, Tick};
use std::fs;
use std::time::Duration;

const DAY: f64 = 86_400.0;
/// The time at which items are pruned.
const NOW: f64 = 1000.0 * DAY;

fn days(days: u64) -> Duration {
    Duration::from_hours(24 * days)
}

/// Stores a run with a long log, which is this many days old.
fn long(store: &Store, age_days: f64) -> String {
    keep(store, None, &long_events(NOW - age_days * DAY))
}

fn plan(store: &Store, limits: RetentionLimits) -> Pruning {
    store.plan_pruning(&limits, NOW).unwrap()
}

fn steps(pruning: &Pruning) -> Vec<(&str, PruningAction)> {
    pruning.steps.iter().map(|step| (step.item.id(), step.action)).collect()
}

/// Size of all files of runs and experiments.
fn size(store: &Store) -> u64 {
    let folders = ["runs", "experiments"].map(|name| store.directory().join(name));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn has_log(store: &Store, id: &str) -> bool {
    store.directory().join(format!("runs/{id}.events")).exists()
}

#[test]
fn old_logs_become_digests() {
    let (_directory, store) = store();
    let old = long(&store, 31.0);
    let new = long(&store, 29.0);
    // A short log stays: its digest would not be much smaller.
    let short = world::keep(&store, None, NOW - 40.0 * DAY);
    fs::remove_file(digest_of(&store, &old)).unwrap();
    let run = store.run(&new).unwrap();
    let limits = RetentionLimits { logs_older_than: Some(days(30)), ..RetentionLimits::default() };
    let before = size(&store);
    let pruning = plan(&store, limits);
    let [step] = &pruning.steps[..] else { panic!("{pruning:?}") };
    assert_eq!(step.item, StoredItem::Run(old.clone()));
    assert_eq!(step.reason, PruningReason::LogsOlderThan(limits.logs_older_than.unwrap()));
    assert!((step.age_seconds.unwrap() / DAY - 31.0).abs() < 0.01);
    assert_eq!(pruning.bytes_before, before);
    assert!(pruning.exempt.is_empty() && has_log(&store, &old), "a plan changes nothing");
    let result = store.prune(&pruning).unwrap();
    assert!(result.skipped.is_empty());
    assert_eq!(result.bytes_freed, before - size(&store));
    assert!(!has_log(&store, &old) && digest_of(&store, &old).exists());
    assert!(has_log(&store, &new) && has_log(&store, &short));
    // The size of the digest was not known.
    assert!(size(&store) <= pruning.bytes_after, "{} {pruning:?}", size(&store));
    assert!(size(&store) > pruning.bytes_after / 2);
    assert_eq!(store.run(&old).unwrap().total.completed, run.total.completed);
    assert!(matches!(store.events(&old), Err(StoreError::LogRemoved(_))));
    assert_eq!(plan(&store, limits).steps, []);
}

#[test]
fn old_items_are_removed_with_their_files() {
    let (_directory, store) = store();
    let id =
        store.begin_experiment(&experiment(), &Environment::default(), NOW - 50.0 * DAY).unwrap();
    // Its runs are newer, but it is one item.
    keep(&store, Some((&id, place(0, 0, 0))), &long_events(NOW - DAY));
    world::keep(&store, Some((&id, place(0, 1, 0))), NOW - DAY);
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let old = world::keep(&store, None, NOW - 49.0 * DAY);
    let new = world::keep(&store, None, NOW - 3.0 * DAY);
    store.tag(&StoredItem::Run(old.clone()), "before").unwrap();
    let limits = RetentionLimits {
        logs_older_than: Some(days(30)),
        older_than: Some(days(45)),
        ..RetentionLimits::default()
    };
    let pruning = plan(&store, limits);
    assert_eq!(steps(&pruning), [(&*id, RemoveItem), (&*old, RemoveItem)]);
    assert_eq!(pruning.steps[0].reason, PruningReason::OlderThan(limits.older_than.unwrap()));
    store.prune(&pruning).unwrap();
    let left: Vec<String> =
        store.list(&EntryFilter::All).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(left, [new]);
    assert!(store.find("before").is_err());
    assert_eq!(size(&store), pruning.bytes_after);
}

#[test]
fn a_store_that_is_too_large_loses_old_logs_and_then_old_items() {
    let (_directory, store) = store();
    let ids = [30.0, 20.0, 10.0].map(|age| long(&store, age));
    let limit = |max_bytes| RetentionLimits { max_bytes: Some(max_bytes), ..Default::default() };
    let whole = size(&store);
    assert_eq!(plan(&store, limit(whole)).steps, []);
    let [first, second, third] = ids.each_ref().map(|id| &**id);
    assert_eq!(steps(&plan(&store, limit(whole - 1))), [(first, RemoveLogs)]);
    let digests: u64 = ids.iter().map(|id| digest_of(&store, id).metadata().unwrap().len()).sum();
    let all_logs = [(first, RemoveLogs), (second, RemoveLogs), (third, RemoveLogs)];
    assert_eq!(steps(&plan(&store, limit(digests))), all_logs);
    let pruning = plan(&store, limit(digests - 1));
    // The logs first, and then the oldest items: the order in which they are carried out.
    assert_eq!(steps(&pruning), [(second, RemoveLogs), (third, RemoveLogs), (first, RemoveItem)]);
    assert_eq!(pruning.steps[2].reason, PruningReason::MaxBytes(digests - 1));
    let result = store.prune(&pruning).unwrap();
    assert_eq!(size(&store), pruning.bytes_after);
    assert_eq!(result.bytes_freed, pruning.bytes_before - pruning.bytes_after);
    assert_eq!(steps(&plan(&store, limit(0))), [(second, RemoveItem), (third, RemoveItem)]);
}

#[test]
fn limits_of_age_and_size_are_combined() {
    let (_directory, store) = store();
    let old = long(&store, 30.0);
    let new = long(&store, 10.0);
    let limits =
        RetentionLimits { logs_older_than: Some(days(20)), max_bytes: Some(0), older_than: None };
    assert_eq!(steps(&plan(&store, limits)), [(&*old, RemoveItem), (&*new, RemoveItem)]);
    let enough = size(&store) / 2 + size(&store) / 4;
    let limits = RetentionLimits { max_bytes: Some(enough), ..limits };
    assert_eq!(steps(&plan(&store, limits)), [(&*old, RemoveLogs)]);
}

#[test]
fn baselines_and_active_items_are_exempt() {
    let (directory, store) = store();
    let id =
        store.begin_experiment(&experiment(), &Environment::default(), NOW - 60.0 * DAY).unwrap();
    let part = keep(&store, Some((&id, place(0, 0, 0))), &long_events(NOW - 59.0 * DAY));
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    store.save_baseline("main", &StoredItem::Run(part)).unwrap();
    let alone = long(&store, 58.0);
    let pinned = long(&store, 57.5);
    store.pin(&StoredItem::Run(pinned.clone())).unwrap();
    let mut log = store.begin_run(None).unwrap();
    let active = log.id().to_owned();
    write(&mut log, &world::events(NOW - 57.0 * DAY)[..9]);
    let running =
        store.begin_experiment(&experiment(), &Environment::default(), NOW - 56.0 * DAY).unwrap();
    let limits = RetentionLimits { older_than: Some(days(45)), ..RetentionLimits::default() };
    for store in [&store, &Store::open(directory.path()).unwrap()] {
        let pruning = plan(store, limits);
        assert_eq!(steps(&pruning), [(&*alone, RemoveItem)]);
        let exempt: Vec<_> = pruning
            .exempt
            .iter()
            .map(|exempt| (exempt.item.id(), exempt.exemption.clone()))
            .collect();
        assert_eq!(
            exempt,
            [
                (&*id, Exemption::Baseline("main".into())),
                (&*pinned, Exemption::Pinned),
                (&*active, Exemption::Active),
                (&*running, Exemption::Active)
            ]
        );
    }
    // Only items that exceed a limit are named.
    let young = RetentionLimits { older_than: Some(days(90)), ..RetentionLimits::default() };
    assert!(plan(&store, young).exempt.is_empty());
    let size = RetentionLimits { max_bytes: Some(1), ..RetentionLimits::default() };
    assert_eq!(plan(&store, size).exempt.len(), 4);
    let enough = RetentionLimits { max_bytes: Some(u64::MAX), ..RetentionLimits::default() };
    assert!(plan(&store, enough).exempt.is_empty());
}

#[test]
fn items_that_became_exempt_after_the_plan_are_skipped() {
    let (directory, store) = store();
    let saved = long(&store, 30.0);
    let old = long(&store, 29.0);
    let limits = RetentionLimits { logs_older_than: Some(days(20)), ..RetentionLimits::default() };
    let pruning = plan(&store, limits);
    assert_eq!(pruning.steps.len(), 2);
    store.save_baseline("main", &StoredItem::Run(saved.clone())).unwrap();
    // Another process goes on with the other run.
    let mut log = store.rewrite_run(&old, Tick(SECOND)).unwrap();
    write(&mut log, &long_events(NOW));
    let elsewhere = Store::open(directory.path()).unwrap();
    let result = elsewhere.prune(&pruning).unwrap();
    assert_eq!(result.bytes_freed, 0);
    assert_eq!(result.skipped[0], (saved.clone(), "baseline `main`".into()));
    assert!(result.skipped[1].1.contains("is still being written"), "{result:?}");
    assert!(has_log(&store, &saved) && has_log(&store, &old));
    // It was removed in the meantime.
    drop(log);
    store.forget_baseline("main").unwrap();
    store.remove(&StoredItem::Run(saved)).unwrap();
    elsewhere.prune(&pruning).unwrap();
}

#[test]
fn a_log_without_an_end_has_no_digest_but_its_item_can_be_removed() {
    let (_directory, store) = store();
    let events = long_events(NOW - 30.0 * DAY);
    let mut log = store.begin_run(None).unwrap();
    write(&mut log, &events[..events.len() - 1]);
    let torn = log.id().to_owned();
    drop(log);
    let logs = RetentionLimits { logs_older_than: Some(days(20)), ..RetentionLimits::default() };
    assert_eq!(plan(&store, logs).steps, []);
    let items = RetentionLimits { older_than: Some(days(20)), ..RetentionLimits::default() };
    assert_eq!(steps(&plan(&store, items)), [(&*torn, RemoveItem)]);
}

#[test]
fn a_damaged_log_is_not_replaced() {
    let (_directory, store) = store();
    let id = long(&store, 30.0);
    fs::remove_file(digest_of(&store, &id)).unwrap();
    let log = store.directory().join(format!("runs/{id}.events"));
    let mut bytes = fs::read(&log).unwrap();
    let half = bytes.len() / 2;
    bytes[half] ^= 1;
    fs::write(&log, bytes).unwrap();
    let limits = RetentionLimits { logs_older_than: Some(days(20)), ..RetentionLimits::default() };
    let result = store.prune(&plan(&store, limits)).unwrap();
    assert!(result.skipped[0].1.contains("has no end"), "{result:?}");
    assert!(has_log(&store, &id));
}

#[test]
fn a_run_that_never_started_is_pruned_last() {
    let (_directory, store) = store();
    drop(store.begin_run(None).unwrap());
    let old = world::keep(&store, None, NOW - 30.0 * DAY);
    let age = RetentionLimits { older_than: Some(days(1)), ..RetentionLimits::default() };
    assert_eq!(steps(&plan(&store, age)), [(&*old, RemoveItem)]);
    let size = RetentionLimits { max_bytes: Some(0), ..RetentionLimits::default() };
    let pruning = plan(&store, size);
    let ages: Vec<Option<f64>> =
        pruning.steps.iter().map(|step: &PruningStep| step.age_seconds).collect();
    assert!(matches!(ages[..], [Some(_), None]), "{ages:?}");
    store.prune(&pruning).unwrap();
    assert!(store.list(&EntryFilter::All).unwrap().is_empty());
}

#[test]
fn a_pruned_store_keeps_its_index_and_reports() {
    let (directory, store) = store();
    let id = long(&store, 30.0);
    let events: Vec<Event> = store.events(&id).unwrap().map(Result::unwrap).collect();
    let before = store.list(&EntryFilter::All).unwrap();
    let limits = RetentionLimits { logs_older_than: Some(days(20)), ..RetentionLimits::default() };
    store.prune(&plan(&store, limits)).unwrap();
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.list(&EntryFilter::All).unwrap(), before);
    assert_eq!(store.run(&id).unwrap(), brunt_model::Run::of(&events));
}
