//! What must be said with the answers: what is missing, who else was the limit, how little was measured.

use super::Facts;
use crate::explain::Remark;
use crate::explain::command::{REPEAT, RESUME};
use crate::sweep::response::is_usable;
use crate::sweep::trials::{At, ENOUGH_REPETITIONS, Trials};
use brunt_model::analysis::{ContenderAnalysis, Outlier};
use brunt_model::finding::{ProcessUse, State};
use brunt_model::numbers::{self, listed, plural, rate, three};
use brunt_model::{LoadUnit, Observation};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Fewer loads say little about a shape.
const FEWEST_LOADS: usize = 5;
/// Fewer users are counted by nobody.
const FEW_USERS: f64 = 10.0;
/// Fewer waiting users than this share: the rest are users in name.
const AWAKE: f64 = 0.1;
/// The same where nobody thinks.
const AWAKE_WITHOUT_THINKING: f64 = 0.5;
/// So many loads are named one by one.
const MOST_NAMED: usize = 6;
/// Throughput that ends at less than this share of its greatest has fallen.
const FALLEN: f64 = 0.8;
/// Maximum number of other processes in a sentence.
const MOST_PROCESSES: usize = 3;

/// Trials that were cut short or are invalid stand in no figure.
pub fn left_out(facts: &Facts) -> Vec<Remark> {
    let whole = facts.seen.observations.len() as u64;
    let cut = named(facts, |o| o.cut_short);
    let invalid = named(facts, |o| !o.cut_short && !is_usable(o));
    let sentence = |count: u64, loads: &str, why: &str| {
        format!("{} of {} excluded: {why}: {loads}.", numbers::count(count), plural(whole, "trial"))
    };
    let mut remarks = Vec::new();
    if cut.0 > 0 {
        let remark = Remark::warning(sentence(cut.0, &cut.1, "they were cut short"));
        remarks.push(remark.remedy(facts.command.append("complete the experiment", RESUME)));
    }
    if invalid.0 > 0 {
        let remark = Remark::warning(sentence(invalid.0, &invalid.1, "a consistency check failed"));
        remarks.push(remark.remedy("see the verdicts of these trials, and measure them again"));
    }
    remarks
}

/// The generator was the limit: a limit that these trials show may be its own.
pub fn generator_limited(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::Limited) else { return Vec::new() };
    let sentence =
        format!("The generator was the bottleneck in {trials}: a limit found at these loads may be the generator's.");
    vec![Remark::warning(sentence).remedy("see the verdicts of these trials: each says what limited it")]
}

/// Other processes had the machine's CPU: figures are worse than they would be without them.
pub fn busy_machine(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::BusyMachine) else { return Vec::new() };
    let sentence = format!("Others used the machine's CPU in {trials}, and that changed figures{}.", users(facts));
    let remedy = "end them, or measure on another machine; read what belongs to the server with --probe";
    vec![Remark::warning(sentence).remedy(remedy)]
}

/// Requests were late for an unknown reason.
pub fn unexplained(facts: &Facts) -> Vec<Remark> {
    let Some(trials) = in_state(facts, State::Unexplained) else { return Vec::new() };
    let sentence = format!("Requests were late in {trials}, for an unknown reason.");
    vec![Remark::warning(sentence).remedy("see the verdicts of these trials, and measure them again")]
}

/// `3 of 40 trials (nginx at 100/s)`; None where no trial has this verdict.
fn in_state(facts: &Facts, state: State) -> Option<String> {
    let (count, loads) = named(facts, |seen| is_usable(seen) && seen.verdict == Some(state));
    let all = plural(facts.seen.observations.len() as u64, "trial");
    (count > 0).then(|| format!("{} of {all} ({loads})", numbers::count(count)))
}

/// `: sh (pid 123) up to 1.90 cores in 12 of them`, for those that used most.
fn users(facts: &Facts) -> String {
    let mut users: BTreeMap<(&str, Option<u32>), (f64, u64)> = BTreeMap::new();
    for usage in facts.seen.observations.iter().filter(|seen| is_usable(seen)).flat_map(|seen| &seen.other_processes) {
        let (most, trials) = users.entry((&usage.name, usage.pid)).or_default();
        *most = most.max(usage.cores);
        *trials += 1;
    }
    let mut users: Vec<_> = users.into_iter().collect();
    users.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let words = users.iter().take(MOST_PROCESSES).map(|((name, pid), (cores, trials))| {
        let usage = ProcessUse { name: (*name).to_owned(), pid: *pid, cores: *cores };
        format!("{usage} cores at most, in {}", plural(*trials, "trial"))
    });
    let words = words.collect::<Vec<_>>().join("; ");
    if words.is_empty() { words } else { format!(": {words}") }
}

/// Trials of a kind: how many, and where.
fn named(facts: &Facts, of: impl Fn(&Observation) -> bool) -> (u64, String) {
    let mut places: Vec<(usize, f64)> = Vec::new();
    let mut count = 0;
    for seen in facts.seen.observations.iter().filter(|o| of(o)) {
        count += 1;
        places.push((seen.contender, seen.load));
    }
    places.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    places.dedup();
    let name = |contender: usize| facts.seen.contenders.get(contender).map_or("", String::as_str);
    let mut words: Vec<String> = places
        .iter()
        .take(MOST_NAMED)
        .map(|(contender, load)| format!("{} at {}", name(*contender), numbers::load(facts.seen.unit, *load)))
        .collect();
    if places.len() > MOST_NAMED {
        words.push(format!("{} more", plural((places.len() - MOST_NAMED) as u64, "step")));
    }
    (count, listed(&words))
}

/// Users of whom few were under way at a time: by Little's law, throughput times response time.
pub fn idle_users(facts: &Facts) -> Vec<Remark> {
    let LoadUnit::Users { think } = facts.seen.unit else { return Vec::new() };
    let without = think == Some(Duration::ZERO);
    let awake = if without { AWAKE_WITHOUT_THINKING } else { AWAKE };
    let doing = if without || think.is_none() { "not asking" } else { "thinking" };
    let of = |trials: &Trials| {
        let curve = trials.curve();
        let busy = |at: &At| Some(at.achieved * at.mean?);
        let asleep = |at: &&At| at.load >= FEW_USERS && busy(at).is_some_and(|busy| busy < awake * at.load);
        let worst = curve.iter().filter(asleep).max_by(|a, b| a.load.total_cmp(&b.load))?;
        let load = numbers::load(trials.unit, worst.load);
        let busy = three(busy(worst)?);
        let sentence = format!(
            "{}: of {load}, {busy} at a time waited for a reply, and the others were {doing}. Pauses determine the throughput there, and the limit of the server is outside this range.",
            trials.contender
        );
        Some(Remark::warning(sentence).remedy("less think time, or an open loop at a rate"))
    };
    facts.trials.iter().filter_map(of).collect()
}

/// Steps and repetitions that do not fit to the others: one remark, however many there are. The tables mark each.
pub fn outliers(facts: &Facts) -> Vec<Remark> {
    let of = |found: &ContenderAnalysis, outlier: &Outlier| {
        format!("{} at {}", found.contender, numbers::load(facts.seen.unit, outlier.load))
    };
    let all = facts.contenders.iter().flat_map(|found| found.outliers.iter().map(move |outlier| (found, outlier)));
    let all: Vec<(&ContenderAnalysis, &Outlier)> = all.collect();
    let sentence = match all.as_slice() {
        [] => return Vec::new(),
        [(_, only)] => only.sentence.clone(),
        [(_, first), rest @ ..] => {
            let rest: BTreeSet<String> = rest.iter().map(|(found, outlier)| of(found, outlier)).collect();
            let rest: Vec<String> = rest.into_iter().collect();
            format!("{} outliers. {} The others: {}.", all.len(), first.sentence, listed(&rest))
        }
    };
    vec![Remark::warning(sentence).remedy("repeat the trial to see whether it was chance")]
}

/// A knee that depends on where the sweep ends.
pub fn not_robust(facts: &Facts) -> Vec<Remark> {
    let of = |found: &ContenderAnalysis| {
        let limit = found.limits.iter().find(|limit| limit.robust == Some(false))?;
        let (name, contender) = (&limit.name, &found.contender);
        let sentence = format!(
            "The {name} of {contender} is not robust: without the top third of the range it moves by more than a step, or is gone."
        );
        Some(Remark::note(sentence).remedy("a sweep that goes further beyond it"))
    };
    facts.contenders.iter().filter_map(of).collect()
}

/// Too few repetitions for an interval over them.
pub fn few_repetitions(facts: &Facts) -> Vec<Remark> {
    let fewest = facts.trials.iter().map(|trials| trials.repetitions.len()).filter(|n| *n > 0).min();
    let Some(fewest) = fewest.filter(|n| *n < ENOUGH_REPETITIONS) else { return Vec::new() };
    let sentence = match fewest {
        1 => format!("One repetition shows no variation between runs; a 95 % CI needs {ENOUGH_REPETITIONS}."),
        _ => format!("A 95 % CI needs {ENOUGH_REPETITIONS} repetitions (have {fewest}); their range is shown."),
    };
    let repetitions = ENOUGH_REPETITIONS.to_string();
    vec![Remark::note(sentence).remedy(facts.command.advise("repeat more often", REPEAT, &repetitions))]
}

/// Too few loads to find a bend or an end.
pub fn few_loads(facts: &Facts) -> Vec<Remark> {
    let fewest = facts.trials.iter().map(|trials| trials.steps.len()).min().unwrap_or(0);
    if facts.trials.is_empty() || fewest >= FEWEST_LOADS {
        return Vec::new();
    }
    let sentence =
        format!("{} can show neither a knee nor a saturation point for sure.", plural(fewest as u64, "load"));
    vec![Remark::note(sentence).remedy(format!("{FEWEST_LOADS} loads or more, from far below the limit to beyond it"))]
}

/// What the source cannot tell.
pub fn source(facts: &Facts) -> Vec<Remark> {
    facts.seen.notes.iter().map(|note| Remark::note(note.clone())).collect()
}

/// Throughput that falls behind its peak: a server that does less the more it is asked.
pub fn falls(facts: &Facts) -> Vec<Remark> {
    let of = |trials: &Trials| {
        let curve = trials.curve();
        let peak = curve.iter().max_by(|a, b| a.achieved.total_cmp(&b.achieved))?;
        // One low step is an outlier, not a fall.
        let [.., before, last] = &curve[..] else { return None };
        let left = before.achieved.max(last.achieved);
        (left < FALLEN * peak.achieved && last.load > peak.load).then(|| {
            Remark::warning(format!(
                "{}: the throughput falls under overload, from {} at {} to {} at {}.",
                trials.contender,
                rate(peak.achieved),
                numbers::load(trials.unit, peak.load),
                rate(last.achieved),
                numbers::load(trials.unit, last.load),
            ))
            .remedy("keep the load below the peak; bound the server's queues")
        })
    };
    facts.trials.iter().filter_map(of).collect()
}
