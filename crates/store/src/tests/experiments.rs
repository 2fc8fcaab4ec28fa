//! Tests storing an experiment with its trials, interrupting it, and resuming it.

use super::world::{events, experiment, keep, place, plan, search, store, write};
use crate::{EntryFilter, ExperimentEnd, ItemState, Store, StoreError, StoredItem};
use brunt_model::experiment::LoadStep;
use brunt_model::question::TrialPurpose;
use brunt_model::study::Resumption;
use brunt_model::{Environment, Question};
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

#[test]
fn a_study_contains_its_complete_trials() {
    let (directory, store) = store();
    let id = store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let first = keep(&store, Some((&id, place(0, 0, 0))), 1001.0);
    let again = keep(&store, Some((&id, place(0, 0, 0))), 1002.0);
    let other = keep(&store, Some((&id, place(0, 1, 1))), 1003.0);
    let mut torn = store.begin_run(Some((&id, place(1, 0, 0)))).unwrap();
    write(&mut torn, &events(1004.0)[..6]);
    drop(torn);
    let elsewhere = Store::open(directory.path()).unwrap();
    assert_eq!(elsewhere.entry(&id).unwrap().progress, ItemState::Running);
    assert!(matches!(elsewhere.resume_experiment(&id), Err(StoreError::Busy(_))));
    let ended = ExperimentEnd { interrupted: true, warnings: vec!["stopped".into()] };
    store.end_experiment(&id, &ended).unwrap();

    let study = elsewhere.study(&id).unwrap();
    assert_eq!(study.experiment, experiment());
    assert_eq!(study.warnings, ["stopped"]);
    assert!(study.interrupted && !study.is_complete());
    let trials: Vec<_> =
        study.trials.iter().map(|trial| (trial.place, trial.id.clone().unwrap())).collect();
    assert_eq!(trials, [(place(0, 0, 0), again), (place(0, 1, 1), other.clone())]);

    let entry = elsewhere.entry(&id).unwrap();
    assert_eq!(
        (entry.progress, entry.trials, entry.trials_made),
        (ItemState::Interrupted, Some(8), Some(2))
    );
    assert_eq!((entry.load.unwrap().from, entry.load.unwrap().to), (50.0, 100.0));
    assert_eq!(elsewhere.entry(&other).unwrap().contenders, ["apache"]);
    assert_eq!(elsewhere.find("e1-php").unwrap(), StoredItem::Experiment(id.clone()));
    assert_eq!(elsewhere.find("last").unwrap(), StoredItem::Experiment(id.clone()));
    assert_eq!(elsewhere.list(&EntryFilter::TopLevel).unwrap().len(), 1);
    assert_eq!(elsewhere.list(&EntryFilter::RunsOf(id.clone())).unwrap()[0].id, first);
    assert_eq!(elsewhere.remove(&StoredItem::Experiment(id)).unwrap(), 4);
    assert!(elsewhere.list(&EntryFilter::All).unwrap().is_empty());
}

#[test]
fn an_experiment_is_continued() {
    let (_directory, store) = store();
    let id = store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let mut n = 1001.0;
    let mut make = |repetition| {
        for (contender, step) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            n += 1.0;
            keep(&store, Some((&id, place(repetition, contender, step))), n);
        }
    };
    make(0);
    store.end_experiment(&id, &ExperimentEnd { interrupted: true, warnings: Vec::new() }).unwrap();
    let study = store.resume_experiment(&id).unwrap();
    assert_eq!(study.trials.len(), 4);
    make(1);
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let study = store.study(&id).unwrap();
    assert!(study.is_complete() && !study.interrupted);
    assert_eq!(store.entry(&id).unwrap().progress, ItemState::Whole);
}

fn grow(store: &Store, id: &str, load: f64) {
    store.add_experiment_step(id, 0, &LoadStep::new(load, plan())).unwrap();
}

fn loads(store: &Store, id: &str) -> Vec<f64> {
    store.study(id).unwrap().experiment.contenders[0].steps.iter().map(|step| step.load).collect()
}

#[test]
fn trials_of_a_running_experiment_are_visible() {
    let (_directory, store) = store();
    let id = store.begin_experiment(&search(), &Environment::default(), 1000.0).unwrap();
    grow(&store, &id, 100.0);
    keep(&store, Some((&id, place(0, 0, 1))), 1001.0);
    grow(&store, &id, 200.0);
    let study = store.study(&id).unwrap();
    assert_eq!(loads(&store, &id), [50.0, 100.0, 200.0]);
    assert!(study.interrupted && !study.is_complete());
    let entry = store.entry(&id).unwrap();
    assert_eq!(
        (entry.progress, entry.trials, entry.trials_made),
        (ItemState::Running, Some(2), Some(1))
    );
    assert_eq!((entry.load.unwrap().from, entry.load.unwrap().to), (50.0, 200.0));
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let study = store.study(&id).unwrap();
    assert!(!study.interrupted && study.is_complete());
    assert_eq!(store.study(&id).unwrap().trials[0].place, place(0, 0, 1));
}

#[test]
fn a_killed_experiment_has_its_complete_steps_and_can_be_continued() {
    let (directory, store) = store();
    let id = store.begin_experiment(&search(), &Environment::default(), 1000.0).unwrap();
    grow(&store, &id, 100.0);
    drop(store);
    let file = directory.path().join("experiments").join(format!("{id}.experiment"));
    OpenOptions::new().append(true).open(&file).unwrap().write_all(b"\x40\0\0\0half").unwrap();

    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.entry(&id).unwrap().progress, ItemState::Torn);
    assert_eq!(loads(&store, &id), [50.0, 100.0]);
    store.resume_experiment(&id).unwrap();
    grow(&store, &id, 200.0);
    assert_eq!(loads(&store, &id), [50.0, 100.0, 200.0]);
}

#[test]
fn objectives_can_change_when_an_experiment_is_continued() {
    let (_directory, store) = store();
    let id = store.begin_experiment(&search(), &Environment::default(), 1000.0).unwrap();
    store.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let Question::Find(find) = search().question else { panic!("it is a search") };
    let longer =
        Question::Find(brunt_model::CapacitySearch { within: Duration::from_mins(10), ..find });
    assert!(matches!(
        store.record_resumption(&id, 1100.0, Some(&longer)),
        Err(StoreError::Unknown(_))
    ));
    store.resume_experiment(&id).unwrap();
    store.record_resumption(&id, 1100.0, Some(&longer)).unwrap();
    grow(&store, &id, 100.0);
    let study = store.study(&id).unwrap();
    assert_eq!(study.experiment.question, longer);
    assert!(study.interrupted, "it goes on, whatever was said of its end before");
    assert_eq!(study.resumptions, [Resumption { unix_seconds: 1100.0, question_changed: true }]);
}

#[test]
fn each_continuation_is_recorded() {
    let (_directory, store) = store();
    let id = store.begin_experiment(&search(), &Environment::default(), 1000.0).unwrap();
    assert_eq!(store.study(&id).unwrap().resumptions, []);
    for unix_seconds in [1100.5, 1200.5] {
        store
            .end_experiment(&id, &ExperimentEnd { interrupted: true, warnings: Vec::new() })
            .unwrap();
        store.resume_experiment(&id).unwrap();
        store.record_resumption(&id, unix_seconds, None).unwrap();
    }
    let study = store.study(&id).unwrap();
    let resumed = |unix_seconds| Resumption { unix_seconds, question_changed: false };
    assert_eq!(study.resumptions, [resumed(1100.5), resumed(1200.5)]);
    assert_eq!(study.experiment.question, search().question);
}

#[test]
fn the_purpose_of_a_trial_is_stored_with_its_step() {
    let (_directory, store) = store();
    let id = store.begin_experiment(&search(), &Environment::default(), 1000.0).unwrap();
    let step = LoadStep { purpose: Some(TrialPurpose::Overload), ..LoadStep::new(100.0, plan()) };
    store.add_experiment_step(&id, 0, &step).unwrap();
    let experiment = store.study(&id).unwrap().experiment;
    let purposes: Vec<_> = experiment.contenders[0].steps.iter().map(|step| step.purpose).collect();
    assert_eq!(purposes, [None, Some(TrialPurpose::Overload)]);
}

#[test]
fn steps_of_earlier_versions_have_no_purpose() {
    let mut step = serde_json::to_value(LoadStep::new(100.0, plan())).unwrap();
    step.as_object_mut().unwrap().remove("purpose").expect("this version states it");
    assert_eq!(serde_json::from_value::<LoadStep>(step).unwrap().purpose, None);
}
