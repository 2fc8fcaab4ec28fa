//! Doubts about the conclusions of a sweep: excluded trials, other limits, too few measurements.

use super::Facts;
use crate::explain::Remark;
use crate::explain::command::{REPEAT, RESUME};
use crate::sweep::response::is_usable;
use crate::sweep::trials::{ENOUGH_REPETITIONS, Trials};
use brunt_model::analysis::{ContenderAnalysis, Outlier};
use brunt_model::finding::{ProcessUse, State};
use brunt_model::numbers::{self, enumeration, plural, rate, three_digits};
use brunt_model::{LoadUnit, Observation, text};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Minimum number of loads that show a shape.
const FEWEST_LOADS: usize = 5;
/// Minimum number of users for the rule on idle users.
const FEW_USERS: f64 = 10.0;
/// Minimum share of waiting users. Below it, most users are idle.
const MIN_WAITING: f64 = 0.1;
/// The same without think time.
const MIN_WAITING_WITHOUT_THINKING: f64 = 0.5;
/// Maximum number of steps named in a sentence.
const MOST_NAMED: usize = 6;
/// Share of the greatest throughput below which the throughput at the highest loads has fallen.
const FALLEN: f64 = 0.8;
/// Maximum number of other processes in a sentence.
const MOST_PROCESSES: usize = 3;

/// Rule: trials that were cut short or are invalid are excluded from all figures.
pub fn excluded(facts: &Facts) -> Vec<Remark> {
    let cut = matching_trials(facts, |observation| observation.cut_short);
    let invalid =
        matching_trials(facts, |observation| !observation.cut_short && !is_usable(observation));
    let mut remarks = Vec::new();
    if cut.count > 0 {
        let remark = Remark::warning(excluded_text(facts, &cut, "they were cut short"));
        remarks.push(remark.with_remedy(facts.command.append(text!("incomplete.remedy"), RESUME)));
    }
    if invalid.count > 0 {
        let remark = Remark::warning(excluded_text(facts, &invalid, "a consistency check failed"));
        remarks
            .push(remark.with_remedy("see the verdicts of these trials, and measure them again"));
    }
    remarks
}

fn excluded_text(facts: &Facts, trials: &MatchingTrials, reason: &str) -> String {
    let all = plural(facts.observations.observations.len() as u64, "trial");
    format!("{} of {all} excluded: {reason}: {}.", numbers::count(trials.count), trials.places)
}

/// Rule: the generator was the limit. A limit that these trials show may be the generator's.
pub fn generator_limited(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::Limited) else { return Vec::new() };
    let sentence = format!(
        "The generator was the bottleneck in {trials}: a limit found at these loads may be the generator's."
    );
    vec![
        Remark::warning(sentence)
            .with_remedy("see the verdicts of these trials: each names its bottleneck"),
    ]
}

/// Rule: other processes used the machine's CPU. The figures are worse than they
/// would be without them.
pub fn busy_machine(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::BusyMachine) else { return Vec::new() };
    let sentence = format!(
        "Other processes used the machine's CPU in {trials}, and that changed figures{}.",
        users(facts)
    );
    let remedy =
        "end them, or measure on another machine; read what belongs to the server with --probe";
    vec![Remark::warning(sentence).with_remedy(remedy)]
}

/// Rule: requests were late for an unknown reason.
pub fn unexplained(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::Unexplained) else { return Vec::new() };
    let sentence = format!("Requests were late in {trials}, for an unknown reason.");
    vec![
        Remark::warning(sentence)
            .with_remedy("see the verdicts of these trials, and measure them again"),
    ]
}

/// `3 of 40 trials (nginx at 100/s)`; None if no trial has this verdict.
fn in_state(facts: &Facts, state: State) -> Option<String> {
    let trials = matching_trials(facts, |observation| {
        is_usable(observation) && observation.verdict == Some(state)
    });
    let all = plural(facts.observations.observations.len() as u64, "trial");
    (trials.count > 0)
        .then(|| format!("{} of {all} ({})", numbers::count(trials.count), trials.places))
}

/// Other processes with the greatest usage: `: sh (pid 123) up to 1.90 cores in 12 of them`.
fn users(facts: &Facts) -> String {
    let mut users: BTreeMap<(&str, Option<u32>), (f64, u64)> = BTreeMap::new();
    let observations =
        facts.observations.observations.iter().filter(|observation| is_usable(observation));
    for usage in observations.flat_map(|observation| &observation.other_processes) {
        let (most, trials) = users.entry((&usage.name, usage.pid)).or_default();
        *most = most.max(usage.cores);
        *trials += 1;
    }
    let mut users: Vec<_> = users.into_iter().collect();
    users.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let texts = users.iter().take(MOST_PROCESSES).map(|((name, pid), (cores, trials))| {
        let usage = ProcessUse { name: (*name).to_owned(), pid: *pid, cores: *cores };
        format!("{usage} cores at most, in {}", plural(*trials, "trial"))
    });
    let texts = texts.collect::<Vec<_>>().join("; ");
    if texts.is_empty() { texts } else { format!(": {texts}") }
}

/// Number of trials that match a predicate, and the steps to which they belong.
struct MatchingTrials {
    count: u64,
    /// Such as `nginx at 100/s and nginx at 200/s`.
    places: String,
}

fn matching_trials(facts: &Facts, predicate: impl Fn(&Observation) -> bool) -> MatchingTrials {
    let mut places: Vec<(usize, f64)> = Vec::new();
    let mut count = 0;
    for observation in
        facts.observations.observations.iter().filter(|observation| predicate(observation))
    {
        count += 1;
        places.push((observation.contender, observation.load));
    }
    places.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    places.dedup();
    let mut texts = Vec::new();
    for (contender, load) in places.iter().take(MOST_NAMED) {
        let name = facts.observations.contenders.get(*contender).map_or("", String::as_str);
        texts.push(format!("{name} at {}", numbers::load(facts.observations.unit, *load)));
    }
    if places.len() > MOST_NAMED {
        texts.push(format!("{} more", plural((places.len() - MOST_NAMED) as u64, "step")));
    }
    MatchingTrials { count, places: enumeration(&texts) }
}

/// Rule: few users waited for a reply at a time. By Little's law, their number is
/// throughput times response time.
pub fn idle_users(facts: &Facts) -> Vec<Remark> {
    let LoadUnit::Users { think } = facts.observations.unit else { return Vec::new() };
    let without_thinking = think == Some(Duration::ZERO);
    let min_waiting = if without_thinking { MIN_WAITING_WITHOUT_THINKING } else { MIN_WAITING };
    let activity = if without_thinking || think.is_none() { "not asking" } else { "thinking" };
    let mut remarks = Vec::new();
    for trials in facts.trials {
        let curve = trials.curve();
        let idle = curve.iter().filter_map(|point| {
            let waiting = point.achieved * point.mean?;
            (point.load >= FEW_USERS && waiting < min_waiting * point.load)
                .then_some((point.load, waiting))
        });
        let Some((load, waiting)) = idle.max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let load = numbers::load(trials.unit, load);
        let waiting = three_digits(waiting);
        let sentence = format!(
            "{}: of {load}, {waiting} at a time waited for a reply, and the others were {activity}. Pauses determine the throughput there, and the limit of the server is outside this range.",
            trials.contender
        );
        remarks.push(
            Remark::warning(sentence).with_remedy("less think time, or an open loop at a rate"),
        );
    }
    remarks
}

/// Rule: steps and repetitions that differ from the others. One remark covers all of them;
/// the tables mark each.
pub fn outliers(facts: &Facts) -> Vec<Remark> {
    let mut all: Vec<(&ContenderAnalysis, &Outlier)> = Vec::new();
    for contender in facts.contenders {
        all.extend(contender.outliers.iter().map(|outlier| (contender, outlier)));
    }
    let sentence = match all.as_slice() {
        [] => return Vec::new(),
        [(_, only)] => only.sentence.clone(),
        [(_, first), rest @ ..] => {
            // A set, because several repetitions of a step may be outliers.
            let mut places = BTreeSet::new();
            for (contender, outlier) in rest {
                let load = numbers::load(facts.observations.unit, outlier.load);
                places.insert(format!("{} at {load}", contender.contender));
            }
            let rest: Vec<String> = places.into_iter().collect();
            format!(
                "{} outliers. {} The others: {}.",
                all.len(),
                first.sentence,
                enumeration(&rest)
            )
        }
    };
    vec![Remark::warning(sentence).with_remedy("repeat the trial to see whether it was chance")]
}

/// Rule: the knee depends on the highest load of the sweep.
pub fn not_robust(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for contender in facts.contenders {
        let Some(limit) = contender.limits.iter().find(|limit| limit.robust == Some(false)) else {
            continue;
        };
        let name = &limit.name;
        let contender = &contender.contender;
        let sentence = format!(
            "The {name} of {contender} is not robust: without the top third of the range it moves by more than a step, or disappears."
        );
        remarks.push(Remark::note(sentence).with_remedy("a sweep that goes further beyond it"));
    }
    remarks
}

/// Rule: too few repetitions for an interval over them.
pub fn few_repetitions(facts: &Facts) -> Vec<Remark> {
    let fewest =
        facts.trials.iter().map(|trials| trials.repetitions.len()).filter(|n| *n > 0).min();
    let Some(fewest) = fewest.filter(|n| *n < ENOUGH_REPETITIONS) else { return Vec::new() };
    let sentence = match fewest {
        1 => format!(
            "One repetition shows no variation between runs; a 95 % CI needs {ENOUGH_REPETITIONS}."
        ),
        _ => format!(
            "A 95 % CI needs {ENOUGH_REPETITIONS} repetitions (have {fewest}); their range is shown."
        ),
    };
    let repetitions = ENOUGH_REPETITIONS.to_string();
    vec![Remark::note(sentence).with_remedy(facts.command.advise(
        text!("few-repetitions.remedy"),
        REPEAT,
        &repetitions,
    ))]
}

/// Rule: too few loads for a knee or a saturation point.
pub fn few_loads(facts: &Facts) -> Vec<Remark> {
    let fewest = facts.trials.iter().map(|trials| trials.steps.len()).min().unwrap_or(0);
    if facts.trials.is_empty() || fewest >= FEWEST_LOADS {
        return Vec::new();
    }
    let sentence = format!(
        "{} can show neither a knee nor a saturation point for sure.",
        plural(fewest as u64, "load")
    );
    vec![Remark::note(sentence).with_remedy(format!(
        "{FEWEST_LOADS} loads or more, from far below the limit to beyond it"
    ))]
}

/// Rule: notes on facts that the source of the observations does not have.
pub fn source(facts: &Facts) -> Vec<Remark> {
    facts.observations.notes.iter().map(|note| Remark::note(note.clone())).collect()
}

/// Rule: the throughput falls above its peak, so the server does less the more requests it gets.
pub fn falls(facts: &Facts) -> Vec<Remark> {
    facts.trials.iter().filter_map(fall).collect()
}

fn fall(trials: &Trials) -> Option<Remark> {
    let curve = trials.curve();
    let peak = curve.iter().max_by(|a, b| a.achieved.total_cmp(&b.achieved))?;
    // One low step is an outlier, not a fall.
    let [.., before_last, last] = &curve[..] else { return None };
    let final_throughput = before_last.achieved.max(last.achieved);
    if final_throughput >= FALLEN * peak.achieved || last.load <= peak.load {
        return None;
    }
    let sentence = format!(
        "{}: the throughput falls under overload, from {} at {} to {} at {}.",
        trials.contender,
        rate(peak.achieved),
        numbers::load(trials.unit, peak.load),
        rate(last.achieved),
        numbers::load(trials.unit, last.load),
    );
    Some(
        Remark::warning(sentence)
            .with_remedy("keep the load below the peak; bound the server's queues"),
    )
}
