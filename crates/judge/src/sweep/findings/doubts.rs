//! Doubts about the conclusions of a sweep: excluded trials, other limits, too few measurements.

use super::Facts;
use crate::explain::Remark;
use crate::explain::command::{REPEAT, RESUME};
use crate::sweep::response::is_usable;
use crate::sweep::trials::{ENOUGH_REPETITIONS, Trials};
use crate::texts::message;
use brunt_model::analysis::{ContenderAnalysis, Outlier};
use brunt_model::comparison::Test;
use brunt_model::finding::{ProcessUse, State};
use brunt_model::numbers::{self, rate, three_digits};
use brunt_model::text::Value;
use brunt_model::{LoadUnit, Observation, Text, text};
use brunt_stats::robust::median;
use std::collections::BTreeMap;
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
    let all = all_trials(facts);
    let mut remarks = Vec::new();
    if cut.count > 0 {
        let sentence = message!(
            "trials-left-out.cut-short",
            count = numbers::count(cut.count),
            all = all.clone(),
            places = cut.places
        );
        let remedy = facts.command.append(message!("incomplete.remedy"), RESUME);
        remarks.push(Remark::warning(sentence).with_remedy(remedy));
    }
    if invalid.count > 0 {
        let sentence = message!(
            "trials-left-out.invalid",
            count = numbers::count(invalid.count),
            all,
            places = invalid.places
        );
        remarks.push(Remark::warning(sentence).with_remedy(message!("trials-left-out.remedy")));
    }
    remarks
}

/// Number of all trials: `40 trials`.
fn all_trials(facts: &Facts) -> Text {
    message!("trials", count = facts.observations.observations.len())
}

/// Rule: the generator was the limit. A limit that these trials show may be the generator's.
pub fn generator_limited(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::Limited) else { return Vec::new() };
    vec![
        Remark::warning(message!("trials-generator-limited", trials))
            .with_remedy(message!("trials-generator-limited.remedy")),
    ]
}

/// Rule: other processes used the machine's CPU. The figures are worse than they
/// would be without them.
pub fn busy_machine(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::BusyMachine) else { return Vec::new() };
    let processes = busiest_processes(facts);
    let sentence = if processes.is_empty() {
        message!("trials-busy-machine", trials)
    } else {
        let processes = Value::Series(processes);
        message!("trials-busy-machine.with-processes", trials, processes)
    };
    vec![Remark::warning(sentence).with_remedy(message!("trials-busy-machine.remedy"))]
}

/// Rule: requests were late for an unknown reason.
pub fn unexplained(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::Unexplained) else { return Vec::new() };
    vec![
        Remark::warning(message!("trials-unexplained", trials))
            .with_remedy(message!("trials-left-out.remedy")),
    ]
}

/// `3 of 40 trials (nginx at 100/s)`; None if no trial has this verdict.
fn in_state(facts: &Facts, state: State) -> Option<Text> {
    let MatchingTrials { count, places } = matching_trials(facts, |observation| {
        is_usable(observation) && observation.verdict == Some(state)
    });
    (count > 0).then(|| {
        message!(
            "trials-left-out.some",
            count = numbers::count(count),
            all = all_trials(facts),
            places
        )
    })
}

/// Other processes with the greatest usage: `sh (pid 123) 1.90 cores at most, in 12 trials`.
fn busiest_processes(facts: &Facts) -> Vec<Text> {
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
        message!(
            "trials-busy-machine.process",
            process = usage.to_string(),
            trials = message!("trials", count = *trials)
        )
    });
    texts.collect()
}

/// Number of trials that match a predicate, and the steps to which they belong.
struct MatchingTrials {
    count: u64,
    /// Such as `nginx at 100/s and nginx at 200/s`.
    places: Text,
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
        let load = facts.observations.unit.format(*load);
        texts.push(message!("at-load", name, load));
    }
    if places.len() > MOST_NAMED {
        texts.push(message!("trials-left-out.more-steps", count = places.len() - MOST_NAMED));
    }
    MatchingTrials { count, places: text!("words", words = texts) }
}

/// Rule: few users waited for a reply at a time.
pub fn idle_users(facts: &Facts) -> Vec<Remark> {
    let LoadUnit::Users { think } = facts.observations.unit else { return Vec::new() };
    let without_thinking = think == Some(Duration::ZERO);
    let min_waiting = if without_thinking { MIN_WAITING_WITHOUT_THINKING } else { MIN_WAITING };
    let activity = if without_thinking || think.is_none() {
        message!("idle-users.not-asking")
    } else {
        message!("idle-users.thinking")
    };
    let mut remarks = Vec::new();
    for trials in facts.trials {
        let idle = trials.steps.iter().filter_map(|step| {
            let waiting: Vec<f64> =
                step.trials.iter().filter_map(|trial| waiting_users(trial)).collect();
            let waiting = median(&waiting)?;
            (step.load >= FEW_USERS && waiting < min_waiting * step.load)
                .then_some((step.load, waiting))
        });
        let Some((load, waiting)) = idle.max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let load = trials.unit.format(load);
        let sentence = message!(
            "sweep-idle-users",
            contender = trials.contender,
            load,
            waiting = three_digits(waiting),
            activity = activity.clone()
        );
        // The pauses of the plan are the user's wish.
        let remark =
            if without_thinking { Remark::warning(sentence) } else { Remark::note(sentence) };
        remarks.push(remark.with_remedy(message!("sweep-idle-users.remedy")));
    }
    remarks
}

/// Mean number of users that waited. Files of other tools lack it; by Little's law it is throughput ×
/// response time, if no request failed or was cut off.
fn waiting_users(trial: &Observation) -> Option<f64> {
    let all_good = trial.errors.is_none_or(|errors| errors == 0.0);
    let estimate = trial.mean.filter(|_| all_good).map(|mean| trial.achieved * mean);
    trial.waiting_users.or(estimate)
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
            let mut places: Vec<Text> = Vec::new();
            for (contender, outlier) in rest {
                let load = facts.observations.unit.format(outlier.load);
                places.push(message!("at-load", name = &*contender.contender, load));
            }
            places.sort_by(|a, b| a.as_str().cmp(b));
            // Several repetitions of a step may be outliers.
            places.dedup();
            message!(
                "outliers",
                count = all.len().to_string(),
                first = first.sentence.clone(),
                places
            )
        }
    };
    vec![Remark::warning(sentence).with_remedy(message!("outliers.remedy"))]
}

/// Rule: the knee depends on the highest load of the sweep.
pub fn not_robust(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for contender in facts.contenders {
        let Some(limit) = contender.limits.iter().find(|limit| limit.robust == Some(false)) else {
            continue;
        };
        let contender = &*contender.contender;
        let sentence = message!("not-robust", limit = limit.name.clone(), contender);
        remarks.push(Remark::note(sentence).with_remedy(message!("not-robust.remedy")));
    }
    remarks
}

/// Rule: too few repetitions for an interval over them.
pub fn few_repetitions(facts: &Facts) -> Vec<Remark> {
    let fewest =
        facts.trials.iter().map(|trials| trials.repetitions.len()).filter(|n| *n > 0).min();
    let Some(fewest) = fewest.filter(|n| *n < ENOUGH_REPETITIONS) else { return Vec::new() };
    // The sentence on undecided comparisons gives the same advice.
    let is_advised = facts
        .pairs
        .iter()
        .filter_map(|pair| pair.measures.first())
        .any(|compared| compared.test == Test::None);
    if is_advised {
        return Vec::new();
    }
    let repetitions = ENOUGH_REPETITIONS.to_string();
    let needed = &*repetitions;
    let sentence = match fewest {
        1 => message!("few-repetitions.one", needed),
        _ => message!("few-repetitions", needed, have = fewest.to_string()),
    };
    vec![Remark::note(sentence).with_remedy(facts.command.advise(
        message!("few-repetitions.remedy"),
        REPEAT,
        &repetitions,
    ))]
}

/// Rule: too few loads for a knee or a saturation point. A single load asks for neither.
pub fn few_loads(facts: &Facts) -> Vec<Remark> {
    let fewest = facts.trials.iter().map(|trials| trials.steps.len()).min().unwrap_or(0);
    if !(2..FEWEST_LOADS).contains(&fewest) {
        return Vec::new();
    }
    let remedy = message!("few-loads.remedy", needed = FEWEST_LOADS.to_string());
    vec![Remark::note(message!("few-loads", count = fewest)).with_remedy(remedy)]
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
    let sentence = message!(
        "throughput-falls",
        contender = trials.contender,
        most = rate(peak.achieved),
        peak = trials.unit.format(peak.load),
        last = rate(last.achieved),
        highest = trials.unit.format(last.load)
    );
    Some(Remark::warning(sentence).with_remedy(message!("throughput-falls.remedy")))
}
