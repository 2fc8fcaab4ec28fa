//! Runs that are stored already, compared with each other.
//!
//! The comparison says which circumstances were not recorded, and are unknown.

use super::compared as with_comparison;
use brunt_judge::compare::{compare_stored, foreseen_stored};
use brunt_model::experiment::{HookCommands, Step, TrialOrder};
use brunt_model::numbers::{count, span};
use brunt_model::{Analysis, Compare, Comparison, Contender, Experiment, Question, Run, Study, Trial, TrialIndex};
use brunt_spec::SpecError;
use brunt_spec::experiment::comparison;
use brunt_spec::settings::CompareSettings;
use std::path::PathBuf;
use std::time::Duration;

/// Seconds between runs from which on the machine may have changed.
const APART: f64 = 3600.0;

/// Runs that belong together: repetitions of one contender, at one load or several.
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its runs, each with its short id.
    pub runs: Vec<(String, Run)>,
}

/// Why stored runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum StoredRunsError {
    /// A group is empty.
    #[error("{0} has no whole run")]
    Empty(String),
    /// Two groups have the same name.
    #[error("two would be called {0}; write A=run:{0} B=run:…")]
    SameName(String),
    /// There is no group.
    #[error("there is nothing to compare")]
    Nothing,
    /// The question makes no sense for these runs.
    #[error(transparent)]
    Question(#[from] SpecError),
}

/// Compares each set of groups with its first group. The study has a contender for each group; `command` is its source.
///
/// # Errors
///
/// The runs, or the question, cannot be compared.
pub fn compare_groups(
    sets: Vec<Vec<Group>>,
    question: &CompareSettings,
    command: String,
) -> Result<(Study, Analysis), StoredRunsError> {
    let groups: Vec<&Group> = sets.iter().flatten().collect();
    for group in &groups {
        if group.runs.is_empty() {
            return Err(StoredRunsError::Empty(group.name.clone()));
        }
        if groups.iter().filter(|other| other.name == group.name).count() > 1 {
            return Err(StoredRunsError::SameName(group.name.clone()));
        }
    }
    let mut comparison: Option<Comparison> = None;
    let mut spec = None;
    for set in &sets {
        let contenders: Vec<Contender> = set.iter().map(contender).collect();
        let of_set = spec_of(question, &contenders)?;
        let at = at_each_load(set, &contenders, &of_set);
        comparison = Some(match comparison {
            None => at,
            Some(joined) => join(joined, at),
        });
        spec = spec.or(Some(of_set));
    }
    let (comparison, spec) = comparison.zip(spec).ok_or(StoredRunsError::Nothing)?;
    let study = study(sets.into_iter().flatten().collect(), spec, command);
    let analysis = with_comparison(brunt_judge::sweep::analyse_study(&study), &study, comparison);
    Ok((study, analysis))
}

/// Loads that only some of them have are no reason to refuse.
fn spec_of(question: &CompareSettings, contenders: &[Contender]) -> Result<Compare, SpecError> {
    let first = |contender: &Contender| Contender { steps: contender.steps[..1].to_vec(), ..contender.clone() };
    let contenders: Vec<Contender> = contenders.iter().map(first).collect();
    comparison(question, &contenders, None)
}

/// Compares load by load where all have several; otherwise compares all, and notes that the loads differ.
fn at_each_load(groups: &[Group], contenders: &[Contender], spec: &Compare) -> Comparison {
    let loads: Vec<f64> = contenders[0].steps.iter().map(|step| step.load).collect();
    let has = |contender: &Contender, load: f64| contender.steps.iter().any(|step| step.load == load);
    let shared: Vec<f64> = loads.into_iter().filter(|load| contenders.iter().all(|c| has(c, *load))).collect();
    let at = |load: &f64| {
        let mut at = compare_stored(&sides(groups, Some(*load)), spec);
        at.pairs.iter_mut().for_each(|pair| pair.load = Some(*load));
        at
    };
    let joined = shared.iter().map(at).reduce(join);
    let mut comparison = joined.unwrap_or_else(|| compare_stored(&sides(groups, None), spec));
    let sizes: Vec<usize> = sides(groups, shared.first().copied()).iter().map(|(_, runs)| runs.len()).collect();
    if let [ours, others @ ..] = &sizes[..] {
        comparison.differences.splice(0..0, foreseen_stored(*ours, others, spec));
    }
    if shared.is_empty() {
        let of = |c: &Contender| {
            format!("{} {}", c.name, c.steps.iter().map(|s| count(s.load as u64)).collect::<Vec<_>>().join(", "))
        };
        let all = contenders.iter().map(of).collect::<Vec<_>>().join("; ");
        comparison
            .differences
            .insert(0, format!("no load is common to all of them, so different loads are compared: {all}"));
    }
    comparison.differences.extend(unknown(groups));
    comparison
}

fn join(mut joined: Comparison, at: Comparison) -> Comparison {
    joined.pairs.extend(at.pairs);
    joined.failed.extend(at.failed);
    let new: Vec<String> = at.differences.into_iter().filter(|text| !joined.differences.contains(text)).collect();
    joined.differences.extend(new);
    joined
}

fn sides(groups: &[Group], load: Option<f64>) -> Vec<(String, Vec<&Run>)> {
    let at = |run: &&(String, Run)| load.is_none_or(|load| step_of(&run.1).is_some_and(|step| step.load == load));
    groups.iter().map(|group| (group.name.clone(), group.runs.iter().filter(at).map(|run| &run.1).collect())).collect()
}

/// Circumstances that were not recorded.
fn unknown(groups: &[Group]) -> Vec<String> {
    let starts: Vec<f64> = groups.iter().flat_map(|group| &group.runs).map(|(_, run)| run.unix_seconds).collect();
    let first = starts.iter().copied().fold(f64::INFINITY, f64::min);
    let last = starts.iter().copied().fold(0.0, f64::max);
    let mut notes = vec![
        "It is unknown whether servers were restarted between the runs, or kept caches and connections.".to_owned(),
    ];
    if last - first > APART {
        let apart = span(last - first);
        notes.push(format!("The runs are up to {apart} apart: the machine and its load may have changed."));
    }
    notes
}

fn contender(group: &Group) -> Contender {
    let mut steps: Vec<Step> = Vec::new();
    for step in group.runs.iter().filter_map(|(_, run)| step_of(run)) {
        if steps.iter().all(|known| known.load != step.load) {
            steps.push(step);
        }
    }
    Contender::bare(group.name.clone(), steps)
}

fn step_of(run: &Run) -> Option<Step> {
    let plan = run.plan.as_ref()?;
    Some(Step::new(plan.main().load.peak(), plan.clone()))
}

fn study(groups: Vec<Group>, spec: Compare, command: String) -> Study {
    let contenders: Vec<Contender> = groups.iter().map(contender).collect();
    let first = groups.first().and_then(|group| group.runs.first()).map(|run| run.1.clone()).unwrap_or_default();
    let mut trials: Vec<Trial> = Vec::new();
    for (index, group) in groups.into_iter().enumerate() {
        for (id, run) in group.runs {
            let load = step_of(&run).map_or(0.0, |step| step.load);
            let step = contenders[index].steps.iter().position(|step| step.load == load).unwrap_or(0);
            let made = trials.iter().filter(|trial| (trial.place.contender, trial.place.step) == (index, step)).count();
            let place = TrialIndex { repetition: made as u32, contender: index, step };
            trials.push(Trial { place, id: Some(id), judgement: brunt_judge::judge(&run), run });
        }
    }
    let repetitions = trials.iter().map(|trial| trial.place.repetition + 1).max().unwrap_or(1);
    let names = contenders.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
    let experiment = Experiment {
        name: names,
        about: "comparison of stored runs".into(),
        contenders,
        repetitions,
        order: TrialOrder::Blocks,
        cooldown: Duration::ZERO,
        hooks: HookCommands::default(),
        seed: 0,
        directory: PathBuf::new(),
        scratch: None,
        question: Question::Compare(spec),
        source: command,
    };
    Study {
        id: None,
        experiment,
        environment: first.environment,
        unix_seconds: first.unix_seconds,
        trials,
        warnings: Vec::new(),
        interrupted: false,
        resumptions: Vec::new(),
    }
}

/// The runs of each contender; a run alone has no name.
pub type ByContender = Vec<(Option<String>, Vec<(String, Run)>)>;

/// Each contender of the baseline with the same one of now. Where each side has one, its name does not matter.
pub fn paired(name: &str, before: ByContender, now: ByContender) -> Vec<Vec<Group>> {
    let now = merged(now);
    let alone = before.len() == 1 && now.len() == 1;
    let mut pairs = Vec::new();
    for (contender, runs) in before {
        let same = now.iter().find(|(theirs, _)| alone || *theirs == contender);
        let Some((theirs, later)) = same else { continue };
        let of = theirs.as_ref().or(contender.as_ref()).filter(|_| !alone);
        let of = of.map_or(String::new(), |of| format!(" of {of}"));
        let before = Group { name: format!("{name}{of}"), runs };
        pairs.push(vec![before, Group { name: format!("now{of}"), runs: later.clone() }]);
    }
    pairs
}

/// The runs of the same contender together.
fn merged(all: ByContender) -> ByContender {
    let mut merged: ByContender = Vec::new();
    for (name, runs) in all {
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend(runs),
            None => merged.push((name, runs)),
        }
    }
    merged
}
