//! Tests export and import.

use super::world::{experiment, keep, place, store};
use crate::{EntryFilter, ExperimentEnd, StoreError, StoredItem};
use brunt_model::Environment;
use std::fs;

#[test]
fn an_exported_experiment_is_complete() {
    let (directory, from) = store();
    let id = from.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    for (n, contender) in [0, 1, 0, 1].into_iter().enumerate() {
        keep(&from, Some((&id, place(n as u32 / 2, contender, 0))), 1001.0 + n as f64);
    }
    let file = directory.path().join("e.brunt");
    let named = StoredItem::Experiment(id.clone());
    assert!(matches!(from.export(&named, &file), Err(StoreError::Busy(_))));
    from.end_experiment(&id, &ExperimentEnd { interrupted: true, warnings: Vec::new() }).unwrap();
    from.export(&named, &file).unwrap();

    let (_elsewhere, to) = store();
    assert_eq!(to.import(&file).unwrap(), id);
    assert_eq!(to.import(&file).unwrap(), id, "what is here already is not taken in twice");
    let ids = |study: &brunt_model::Study| {
        study.trials.iter().map(|t| (t.place, t.id.clone())).collect::<Vec<_>>()
    };
    assert_eq!(ids(&to.study(&id).unwrap()), ids(&from.study(&id).unwrap()));
    assert_eq!(to.list(&EntryFilter::All).unwrap(), from.list(&EntryFilter::All).unwrap());
}

#[test]
fn an_imported_experiment_gets_a_new_id_if_its_id_exists() {
    let (directory, from) = store();
    let id = from.begin_experiment(&experiment(), &Environment::default(), 1000.0).unwrap();
    let run = keep(&from, Some((&id, place(0, 1, 1))), 1001.0);
    from.end_experiment(&id, &ExperimentEnd::default()).unwrap();
    let file = directory.path().join("e.brunt");
    from.export(&StoredItem::Experiment(id.clone()), &file).unwrap();

    let (elsewhere, to) = store();
    to.index().claim_as(&id, crate::ItemKind::Run).unwrap();
    fs::copy(from.directory.run(&run), to.directory.run(&id)).unwrap();
    let new = to.import(&file).unwrap();
    assert_ne!(new, id);
    let study = to.study(&new).unwrap();
    assert_eq!((study.trials.len(), study.trials[0].id.as_deref()), (1, Some(run.as_str())));
    assert_eq!(fs::read_dir(elsewhere.path().join("incoming")).unwrap().count(), 0);
}

#[test]
fn damaged_archives_are_refused_without_leftovers() {
    let (directory, from) = store();
    let id = keep(&from, None, 1.0);
    let file = directory.path().join("run.brunt");
    from.export(&StoredItem::Run(id), &file).unwrap();
    let whole = fs::read(&file).unwrap();
    let (elsewhere, to) = store();
    let mut tries: Vec<Vec<u8>> =
        (0..whole.len()).step_by(7).map(|cut| whole[..cut].to_vec()).collect();
    for at in (0..whole.len()).step_by(5) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        tries.push(flipped);
    }
    tries.push([&whole[..], b"more"].concat());
    for bytes in tries {
        fs::write(&file, bytes).unwrap();
        assert!(matches!(to.import(&file), Err(StoreError::Archive { .. })));
    }
    assert!(to.list(&EntryFilter::All).unwrap().is_empty());
    for folder in ["incoming", "runs", "experiments"] {
        assert_eq!(fs::read_dir(elsewhere.path().join(folder)).unwrap().count(), 0);
    }
    fs::write(&file, whole).unwrap();
    to.import(&file).unwrap();
}
