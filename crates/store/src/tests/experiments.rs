//! An experiment is kept with its trials, interrupted, taken up again.

use super::world::{events, experiment, keep, place, store, write};
use crate::{Ended, Listed, Named, Progress, Store, StoreError};
use brunt_model::Environment;

#[test]
fn a_study_is_its_whole_trials() {
    let (directory, store) = store();
    let id = store.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let first = keep(&store, Some((&id, place(0, 0, 0))), 1001.0);
    let again = keep(&store, Some((&id, place(0, 0, 0))), 1002.0);
    let other = keep(&store, Some((&id, place(0, 1, 1))), 1003.0);
    let mut torn = store.begin_run(Some((&id, place(1, 0, 0)))).unwrap();
    write(&mut torn, &events(1004.0)[..6]);
    drop(torn);
    let elsewhere = Store::open(directory.path()).unwrap();
    assert_eq!(elsewhere.entry(&id).unwrap().progress, Progress::Running);
    assert!(matches!(elsewhere.resume_experiment(&id), Err(StoreError::Busy(_))));
    let ended = Ended { interrupted: true, warnings: vec!["stopped".into()] };
    store.end_experiment(&id, &ended).unwrap();

    let study = elsewhere.study(&id).unwrap();
    assert_eq!(study.experiment, experiment());
    assert_eq!(study.warnings, ["stopped"]);
    assert!(study.interrupted && !study.is_complete());
    let trials: Vec<_> = study.trials.iter().map(|trial| (trial.place, trial.id.clone().unwrap())).collect();
    assert_eq!(trials, [(place(0, 0, 0), again), (place(0, 1, 1), other.clone())]);

    let entry = elsewhere.entry(&id).unwrap();
    assert_eq!((entry.progress, entry.trials, entry.trials_made), (Progress::Interrupted, Some(8), Some(2)));
    assert_eq!((entry.load.unwrap().from, entry.load.unwrap().to), (50.0, 100.0));
    assert_eq!(elsewhere.entry(&other).unwrap().contenders, ["apache"]);
    assert_eq!(elsewhere.find("e1-php").unwrap(), Named::Experiment(id.clone()));
    assert_eq!(elsewhere.find("last").unwrap(), Named::Experiment(id.clone()));
    assert_eq!(elsewhere.list(&Listed::Alone).unwrap().len(), 1);
    assert_eq!(elsewhere.list(&Listed::RunsOf(id.clone())).unwrap()[0].id, first);
    assert_eq!(elsewhere.remove(&Named::Experiment(id)).unwrap(), 4);
    assert!(elsewhere.list(&Listed::All).unwrap().is_empty());
}

#[test]
fn an_experiment_is_taken_up_again() {
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
    store.end_experiment(&id, &Ended { interrupted: true, warnings: Vec::new() }).unwrap();
    let study = store.resume_experiment(&id).unwrap();
    assert_eq!(study.trials.len(), 4);
    make(1);
    store.end_experiment(&id, &Ended::default()).unwrap();
    let study = store.study(&id).unwrap();
    assert!(study.is_complete() && !study.interrupted);
    assert_eq!(store.entry(&id).unwrap().progress, Progress::Whole);
}
