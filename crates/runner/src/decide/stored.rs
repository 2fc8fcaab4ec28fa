//! Compares stored runs.
//!
//! The comparison lists the conditions that were not recorded.

use super::with_comparison;
use brunt_judge::compare::{compare_stored, undecidable_stored_figures};
use brunt_model::experiment::{HookCommands, LoadStep, TrialOrder};
use brunt_model::numbers::{count, span};
use brunt_model::text::Value;
use brunt_model::{
    Analysis, Comparison, ComparisonSettings, Contender, Experiment, Question, Run, Study, Text,
    Trial, TrialIndex, text,
};
use brunt_spec::SpecError;
use brunt_spec::experiment::comparison;
use brunt_spec::settings::CompareSettings;
use brunt_store::{Store, StoreError, StoredItem};
use std::path::PathBuf;
use std::time::Duration;

/// Seconds between runs above which the machine may have changed.
const MAX_GAP_SECONDS: f64 = 3600.0;

/// Runs that belong together: repetitions of one contender, at one or several loads.
pub struct Group {
    /// Name of the contender.
    pub name: String,
    /// Runs, each with its short id.
    pub runs: Vec<(String, Run)>,
}

/// Reason why stored runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum StoredRunsError {
    /// A group has no runs with a plan.
    #[error("{0} has no whole run")]
    Empty(String),
    /// Two groups have the same name.
    #[error("two would be called {0}; write A=run:{0} B=run:…")]
    SameName(String),
    /// There are no groups.
    #[error("there is nothing to compare")]
    Nothing,
    /// The question does not fit these runs.
    #[error(transparent)]
    Question(#[from] SpecError),
}

/// Compares the first group of each set with the others. The study has a contender for each group;
/// `command` is its source.
///
/// # Errors
///
/// The runs or the question cannot be compared.
pub fn compare_groups(
    sets: Vec<Vec<Group>>,
    question: &CompareSettings,
    command: String,
) -> Result<(Study, Analysis), StoredRunsError> {
    let groups: Vec<&Group> = sets.iter().flatten().collect();
    for group in &groups {
        // A damaged log may end before the plan.
        if group.runs.iter().all(|(_, run)| run.plan.is_none()) {
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
        let at = compare_each_load(set, &contenders, &of_set);
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

/// Creates the question. Only the first load of each contender is checked, so that different
/// loads are no error.
fn spec_of(
    question: &CompareSettings,
    contenders: &[Contender],
) -> Result<ComparisonSettings, SpecError> {
    let contenders: Vec<Contender> = contenders
        .iter()
        .map(|contender| Contender { steps: contender.steps[..1].to_vec(), ..contender.clone() })
        .collect();
    comparison(question, &contenders, None)
}

/// Compares load by load if there are common loads. Otherwise it compares all runs, and notes
/// that the loads differ.
fn compare_each_load(
    groups: &[Group],
    contenders: &[Contender],
    spec: &ComparisonSettings,
) -> Comparison {
    let loads: Vec<f64> = contenders[0].steps.iter().map(|step| step.load).collect();
    let common_loads: Vec<f64> = loads
        .into_iter()
        .filter(|load| contenders.iter().all(|contender| has_load(contender, *load)))
        .collect();
    let comparisons = common_loads.iter().map(|load| {
        let mut comparison = compare_stored(&sides(groups, Some(*load)), spec);
        comparison.pairs.iter_mut().for_each(|pair| pair.load = Some(*load));
        comparison
    });
    let by_load = comparisons.reduce(join);
    let mut comparison = by_load.unwrap_or_else(|| compare_stored(&sides(groups, None), spec));
    let sizes: Vec<usize> =
        sides(groups, common_loads.first().copied()).iter().map(|(_, runs)| runs.len()).collect();
    if let [first, others @ ..] = &sizes[..] {
        comparison.differences.splice(0..0, undecidable_stored_figures(*first, others, spec));
    }
    if common_loads.is_empty() {
        let loads = Value::Series(contenders.iter().map(name_with_loads).collect());
        comparison.differences.insert(0, text!("not-alternating.loads", loads));
    }
    comparison.differences.extend(unknown(groups));
    comparison
}

fn has_load(contender: &Contender, load: f64) -> bool {
    contender.steps.iter().any(|step| step.load == load)
}

fn name_with_loads(contender: &Contender) -> Text {
    let loads: Vec<String> = contender.steps.iter().map(|step| count(step.load as u64)).collect();
    format!("{} {}", contender.name, loads.join(", ")).into()
}

fn join(mut joined: Comparison, other: Comparison) -> Comparison {
    joined.pairs.extend(other.pairs);
    joined.failed.extend(other.failed);
    let new: Vec<Text> =
        other.differences.into_iter().filter(|text| !joined.differences.contains(text)).collect();
    joined.differences.extend(new);
    joined
}

/// The runs of each group at a load, or all of them.
fn sides(groups: &[Group], load: Option<f64>) -> Vec<(String, Vec<&Run>)> {
    let mut sides = Vec::with_capacity(groups.len());
    for group in groups {
        let runs = group.runs.iter().map(|(_, run)| run);
        let runs = runs.filter(|run| {
            load.is_none_or(|load| step_of_run(run).is_some_and(|step| step.load == load))
        });
        sides.push((group.name.clone(), runs.collect()));
    }
    sides
}

/// Notes about conditions that were not recorded.
fn unknown(groups: &[Group]) -> Vec<Text> {
    let starts: Vec<f64> =
        groups.iter().flat_map(|group| &group.runs).map(|(_, run)| run.unix_seconds).collect();
    let first = starts.iter().copied().fold(f64::INFINITY, f64::min);
    let last = starts.iter().copied().fold(0.0, f64::max);
    let mut notes = vec![text!("not-alternating.restarts")];
    if last - first > MAX_GAP_SECONDS {
        notes.push(text!("not-alternating.gap", gap = span(last - first)));
    }
    notes
}

fn contender(group: &Group) -> Contender {
    let mut steps: Vec<LoadStep> = Vec::new();
    for step in group.runs.iter().filter_map(|(_, run)| step_of_run(run)) {
        if steps.iter().all(|known| known.load != step.load) {
            steps.push(step);
        }
    }
    Contender::bare(group.name.clone(), steps)
}

fn step_of_run(run: &Run) -> Option<LoadStep> {
    let plan = run.plan.as_ref()?;
    Some(LoadStep::new(plan.main().load.peak(), plan.clone()))
}

fn study(groups: Vec<Group>, spec: ComparisonSettings, command: String) -> Study {
    let contenders: Vec<Contender> = groups.iter().map(contender).collect();
    let first = groups
        .first()
        .and_then(|group| group.runs.first())
        .map(|run| run.1.clone())
        .unwrap_or_default();
    let mut trials: Vec<Trial> = Vec::new();
    for (index, group) in groups.into_iter().enumerate() {
        for (id, run) in group.runs {
            let load = step_of_run(&run).map_or(0.0, |step| step.load);
            let step =
                contenders[index].steps.iter().position(|step| step.load == load).unwrap_or(0);
            let repetition = trials
                .iter()
                .filter(|trial| (trial.place.contender, trial.place.step) == (index, step))
                .count();
            let place = TrialIndex { repetition: repetition as u32, contender: index, step };
            // A stored run is judged by the rules of this version of brunt.
            trials.push(Trial { place, id: Some(id), judgement: brunt_judge::judge(&run), run });
        }
    }
    let repetitions = trials.iter().map(|trial| trial.place.repetition + 1).max().unwrap_or(1);
    let names = contenders.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
    let experiment = Experiment {
        name: names,
        about: text!("not-alternating.about").into(),
        contenders,
        repetitions,
        // Stored runs were not alternated, so no method for alternating trials applies.
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

/// Runs by contender; the contender of a single run has no name.
pub type ByContender = Vec<(Option<String>, Vec<(String, Run)>)>;

/// Reads the runs of an item.
pub fn by_contender(store: &Store, item: &StoredItem) -> Result<ByContender, StoreError> {
    let id = match item {
        StoredItem::Run(id) => return Ok(vec![(None, vec![(id.clone(), store.run(id)?)])]),
        StoredItem::Experiment(id) => id,
    };
    let study = store.study(id)?;
    let contenders = study.experiment.contenders.iter().enumerate().map(|(index, contender)| {
        let runs = study
            .trials_of(index)
            .map(|trial| (trial.id.clone().unwrap_or_default(), trial.run.clone()));
        (Some(contender.name.clone()), runs.collect())
    });
    Ok(contenders.collect())
}

/// Pairs each contender of a baseline with the same one of the new runs. If each side has a single
/// contender, the names may differ.
pub fn paired(name: &str, old: ByContender, new: ByContender) -> Vec<Vec<Group>> {
    let new = merge_contenders(new);
    let is_single = old.len() == 1 && new.len() == 1;
    let mut pairs = Vec::new();
    for (contender, runs) in old {
        let same = new.iter().find(|(name, _)| is_single || *name == contender);
        let Some((new_name, new_runs)) = same else { continue };
        let shown_name = new_name.as_ref().or(contender.as_ref()).filter(|_| !is_single);
        let suffix = shown_name.map_or(String::new(), |name| format!(" of {name}"));
        let old = Group { name: format!("{name}{suffix}"), runs };
        pairs.push(vec![old, Group { name: format!("now{suffix}"), runs: new_runs.clone() }]);
    }
    pairs
}

/// Merges the runs of the same contender.
fn merge_contenders(all: ByContender) -> ByContender {
    let mut merged: ByContender = Vec::new();
    for (name, runs) in all {
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend(runs),
            None => merged.push((name, runs)),
        }
    }
    merged
}
