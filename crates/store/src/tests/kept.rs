//! Tests storing, finding, tagging, listing and removing a run.

use super::world::{events, experiment, keep, place, store, write};
use crate::{EntryFilter, ExperimentEnd, ItemKind, ItemState, Store, StoreError, StoredItem};
use brunt_model::{Environment, Event, Run};

#[test]
fn a_run_is_found_by_all_its_names() {
    let (_directory, store) = store();
    let first = keep(&store, None, 1000.0);
    let second = keep(&store, None, 2000.0);
    store.tag(&StoredItem::Run(first.clone()), "baseline").unwrap();
    let named = |word: &str| store.find(word).unwrap().id().to_owned();
    assert_eq!(named(&first), first);
    assert_eq!(named("baseline"), first);
    assert_eq!(named("last"), second);
    let shared = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(named(&second[..=shared]), second);
    assert!(matches!(store.find("0"), Err(StoreError::Unknown(_))));
    assert!(matches!(store.find(""), Err(StoreError::Unknown(_))));
    assert!(matches!(store.find("../../etc/passwd"), Err(StoreError::Unknown(_))));
}

#[test]
fn an_ambiguous_prefix_of_an_id_names_no_run() {
    let (_directory, store) = store();
    // There are more runs than letters, so two ids have the same first letter.
    let ids: Vec<String> = (0..32).map(|n| keep(&store, None, f64::from(n))).collect();
    let shared = ids
        .iter()
        .map(|id| &id[..1])
        .find(|c| ids.iter().filter(|id| id.starts_with(c)).count() > 1)
        .unwrap();
    assert!(matches!(store.find(shared), Err(StoreError::Ambiguous { ids, .. }) if ids.len() > 1));
}

#[test]
fn the_index_contains_the_result_of_a_run() {
    let (_directory, store) = store();
    let id = keep(&store, None, 1_782_907_200.25);
    let entry = store.entry(&id).unwrap();
    assert_eq!((entry.kind, entry.progress), (ItemKind::Run, ItemState::Whole));
    assert_eq!(entry.what, "http://127.0.0.1:8080/");
    assert_eq!(entry.started_unix_seconds, Some(1_782_907_200.25));
    let (load, figures) = (entry.load.unwrap(), entry.figures.unwrap());
    assert_eq!((load.from, load.to, load.users), (50.0, 50.0, false));
    assert_eq!(
        (figures.throughput_per_second, figures.seconds, figures.errors_share),
        (10.0, 1.0, 0.0)
    );
    assert!((figures.p99_seconds.unwrap() - 0.02).abs() < 0.001);
    assert_eq!(
        Run::of(&events(1_782_907_200.25)).throughput(),
        store.run(&id).unwrap().throughput()
    );
    let read: Vec<Event> = store.events(&id).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, events(1_782_907_200.25));
}

#[test]
fn a_run_without_an_end_is_running_or_truncated() {
    let (directory, store) = store();
    let ended = keep(&store, None, 1.0);
    let mut log = store.begin_run(None).unwrap();
    let id = log.id().to_owned();
    write(&mut log, &events(5.0)[..8]);
    let elsewhere = Store::open(directory.path()).unwrap();
    assert_eq!(elsewhere.entry(&id).unwrap().progress, ItemState::Running);
    assert_eq!(elsewhere.find("last").unwrap().id(), ended);
    assert!(matches!(elsewhere.remove(&StoredItem::Run(id.clone())), Err(StoreError::Busy(_))));
    drop(log);
    let entry = elsewhere.entry(&id).unwrap();
    assert_eq!(entry.progress, ItemState::Torn);
    assert_eq!(elsewhere.find("last").unwrap().id(), id);
    assert_eq!(entry.figures.unwrap().throughput_per_second, 10.0);
    assert_eq!(store.run(&id).unwrap().total.completed, 5);
}

#[test]
fn a_tag_names_one_item() {
    let (_directory, store) = store();
    let (one, other) =
        (StoredItem::Run(keep(&store, None, 1.0)), StoredItem::Run(keep(&store, None, 2.0)));
    store.tag(&one, "best").unwrap();
    store.tag(&one, "best").unwrap();
    assert!(matches!(store.tag(&other, "best"), Err(StoreError::Tag { .. })));
    assert_eq!(store.entry(one.id()).unwrap().tags, ["best"]);
    store.untag("best").unwrap();
    assert!(store.untag("best").is_err());
    store.tag(&other, "best").unwrap();
    for bad in ["last", "", "a b", "../x", ".x", one.id()] {
        assert!(store.tag(&other, bad).is_err(), "{bad}");
    }
    store.remove(&other).unwrap();
    assert!(store.find("best").is_err() && store.untag("best").is_err());
    assert_eq!(store.list(&EntryFilter::All).unwrap().len(), 1);
}

#[test]
fn a_note_outlives_the_index_and_a_pinned_item_is_not_removed() {
    let (directory, store) = store();
    let experiment =
        store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let part = StoredItem::Run(keep(&store, Some((&experiment, place(0, 0, 0))), 1001.0));
    store.end_experiment(&experiment, &ExperimentEnd::default()).unwrap();
    let experiment = StoredItem::Experiment(experiment);
    store.set_note(&experiment, " first ").unwrap();
    store.set_note(&experiment, "before\nthe upgrade").unwrap();
    let long = store.set_note(&experiment, &"x".repeat(4097)).unwrap_err();
    assert!(long.is_usage_error());
    store.pin(&experiment).unwrap();
    store.pin(&experiment).unwrap();
    drop(store);
    std::fs::remove_file(directory.path().join("index.sqlite")).unwrap();
    let store = Store::open(directory.path()).unwrap();
    let entry = store.entry(experiment.id()).unwrap();
    assert_eq!((entry.note.as_deref(), entry.pinned), (Some("before\nthe upgrade"), true));
    assert_eq!((entry.hosts, entry.labels), (vec!["127.0.0.1:8080".into()], vec!["/".into()]));
    for item in [&part, &experiment] {
        let refused = store.remove(item).unwrap_err();
        assert!(matches!(&refused, StoreError::IsPinned(id) if id == experiment.id()), "{refused}");
    }
    store.unpin(&experiment).unwrap();
    store.unpin(&experiment).unwrap();
    store.set_note(&part, "a trial").unwrap();
    assert_eq!(store.remove(&experiment).unwrap(), 1);
    for folder in ["notes", "pins", "incoming"] {
        let files = std::fs::read_dir(directory.path().join(folder)).unwrap().count();
        assert_eq!(files, 0, "{folder}");
    }
}

#[test]
fn a_baseline_remains_until_it_is_removed() {
    let (directory, store) = store();
    let experiment =
        store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let part = keep(&store, Some((&experiment, place(0, 0, 0))), 1001.0);
    let alone = keep(&store, None, 1002.0);
    store.end_experiment(&experiment, &ExperimentEnd::default()).unwrap();
    assert_eq!(store.save_baseline("main", &StoredItem::Run(alone.clone())).unwrap(), None);
    assert_eq!(
        store.save_baseline("main", &StoredItem::Experiment(experiment.clone())).unwrap(),
        Some(alone.clone())
    );
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.baseline("main").unwrap(), StoredItem::Experiment(experiment.clone()));
    for id in [StoredItem::Run(part), StoredItem::Experiment(experiment.clone())] {
        assert!(
            matches!(store.remove(&id), Err(StoreError::IsBaseline { name, .. }) if name == "main")
        );
    }
    assert_eq!(store.remove(&StoredItem::Run(alone)).unwrap(), 1);
    store.forget_baseline("main").unwrap();
    assert!(store.baseline("main").unwrap_err().is_usage_error());
    assert_eq!(store.remove(&StoredItem::Experiment(experiment)).unwrap(), 1);
    assert!(
        store.save_baseline("../x", &StoredItem::Run("x".into())).unwrap_err().is_usage_error()
    );
}
