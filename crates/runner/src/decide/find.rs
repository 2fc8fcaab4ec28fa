//! A search that was made, or goes on: its trials as `search` sees them, and what they came to.
//!
//! Loads are chosen, and capacities estimated, in the crate `search`.

mod timeline;

use brunt_model::analysis::{Band, BandedFigure, Bottleneck, ContenderAnalysis, Culprit, LimitKind, LoadLimit};
use brunt_model::answer::{Estimate, SearchEnd};
use brunt_model::finding::Weight;
use brunt_model::question::{Requirement, RequirementOutcome, TrialPurpose, TrialTimes};
use brunt_model::{Analysis, Answer, Failure, Find, Finding, Run, Study, Trial};
use brunt_rig::{Turn, turns};
use brunt_search::{NextStep, Search, TrialRequest, TrialSummary};
use std::time::Duration;
use timeline::{Span, interruptions, lasted, purposes};

/// How often a load is tried at which the generator was the limit and the objectives were missed: others on the machine
/// may have been the reason.
const MOST_TRIES: usize = 3;
/// A server that answers in so many trials in a row no more is gone.
const MOST_SILENT: usize = 2;
const AGAIN: &str = "retry: the previous trial was limited by the generator or its machine";

/// The search of one contender, as far as it has come.
pub struct SearchProgress<'a> {
    /// What looks for it.
    pub search: Search,
    /// How.
    pub find: Find,
    /// Its name.
    pub name: &'a str,
    /// Its trials.
    pub trials: Vec<&'a Trial>,
    /// The same, as the search sees them; times without the pauses in which it was stopped.
    pub seen: Vec<TrialSummary>,
    /// How many trials were made, those that say nothing included.
    pub made: usize,
    /// How many of the last trials had no reply, and whether any trial had one.
    silent: usize,
    answered: bool,
    /// How long the search has taken.
    spent: Duration,
    /// The last trial is to be made once more.
    again: Option<TrialRequest>,
}

/// The search of one contender in one repetition, as far as it has come.
pub fn contended<'a>(study: &'a Study, find: &Find, turn: Turn) -> Option<SearchProgress<'a>> {
    let of = study.experiment.contenders.get(turn.contender)?;
    let all: Vec<&Trial> = study.searched(turn.contender, turn.repetition).collect();
    let silent = all.iter().rev().take_while(|trial| nobody_answers(&trial.run)).count();
    let (made, answered) = (all.len(), silent < all.len());
    let trials: Vec<&Trial> = all.into_iter().filter(|trial| says_something(&trial.run, find)).collect();
    let seen = seen(find, study, &trials);
    let search = Search::new(find, of.unit());
    let spent = match (seen.first(), seen.last(), trials.last()) {
        (Some(first), Some(last), Some(trial)) => last.began + lasted(&trial.run) - first.began,
        _ => 0.0,
    };
    let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
    let again = again(find, &search, &trials, &seen);
    let find = find.clone();
    Some(SearchProgress { search, find, name: &of.name, trials, seen, made, silent, answered, spent, again })
}

/// The last trial once more, where the generator was the limit. All tries stay evidence for what they are evidence for: to
/// keep only the last would select those that went well.
fn again(find: &Find, search: &Search, trials: &[&Trial], seen: &[TrialSummary]) -> Option<TrialRequest> {
    let last = seen.last()?;
    let is_contested = |one: &&TrialSummary| one.load == last.load && !is_aside(one) && search.is_contested(one);
    let tries = seen.iter().rev().take_while(is_contested).count();
    if (1..MOST_TRIES).contains(&tries) { once_more(find, trials.last()?, last) } else { None }
}

/// Whether it was made to overload the server, or to see it recover.
fn is_aside(seen: &TrialSummary) -> bool {
    matches!(seen.purpose, Some(TrialPurpose::Overload | TrialPurpose::Recovery))
}

/// Not one reply came, and not because all were slow.
fn nobody_answers(run: &Run) -> bool {
    let total = &run.total;
    let slow = [Failure::Cut, Failure::Timeout, Failure::Dropped].map(|failure| total.failed_by(failure));
    total.completed == 0 && (run.measured_seconds() <= 0.0 || total.errors() > slow.iter().sum::<u64>())
}

fn once_more(find: &Find, trial: &Trial, seen: &TrialSummary) -> Option<TrialRequest> {
    let plan = trial.run.plan.as_ref()?;
    // Half as long: what took the machine away may do so again, and the time is wanted elsewhere.
    let half = |time: Duration| (time / 2).max(find.trial.least);
    let (least, most) = (half(plan.until.as_ref()?.least), half(plan.main().stop.duration?));
    let times = TrialTimes { warmup: plan.main().stop.warmup, least, most };
    Some(TrialRequest { load: seen.load, why: AGAIN.to_owned(), purpose: TrialPurpose::Search, times })
}

/// One that was stopped may be too short to say anything.
fn says_something(run: &Run, find: &Find) -> bool {
    let seconds = run.measured_seconds();
    seconds > 0.0 && (!run.interrupted() || seconds >= find.trial.least.as_secs_f64())
}

/// The trials as the search sees them: with what they were used for, and as if the search had not been interrupted.
fn seen(find: &Find, study: &Study, trials: &[&Trial]) -> Vec<TrialSummary> {
    let spans: Vec<Span> = trials.iter().map(|trial| Span::of(trial, &study.experiment)).collect();
    let purposes = purposes(&spans, &study.resumptions);
    let interruptions = interruptions(&spans, &study.resumptions);
    let mut left_out = 0.0;
    let mut all = Vec::with_capacity(trials.len());
    for ((trial, purpose), interruption) in trials.iter().zip(purposes).zip(interruptions) {
        let mut seen = brunt_search::summarize(find, &trial.run, &trial.judgement);
        left_out += interruption;
        seen.began -= left_out;
        seen.purpose = purpose;
        all.push(seen);
    }
    all
}

impl SearchProgress<'_> {
    /// What comes next.
    pub fn next(&self) -> NextStep {
        if self.silent > 0 && !self.answered {
            return NextStep::Done(SearchEnd::Least);
        }
        if self.silent >= MOST_SILENT {
            return NextStep::Done(SearchEnd::Stopped);
        }
        let time_left = self.find.within > self.spent;
        match &self.again {
            Some(again) if time_left => NextStep::Measure(again.clone()),
            _ => self.search.next(&self.seen, self.spent),
        }
    }

    /// What is known so far; `ended` where it was stopped, whatever would have come next.
    pub fn answer(&self, ended: SearchEnd) -> Answer {
        self.search.answer(self.name, &self.seen, ended)
    }

    /// Whether the server answered no more: then there is no capacity.
    pub fn is_silent(&self) -> bool {
        self.silent > 0
    }

    fn ended(&self, study: &Study) -> SearchEnd {
        match self.next() {
            NextStep::Done(end) => end,
            NextStep::Measure(_) if study.interrupted => SearchEnd::Stopped,
            NextStep::Measure(_) => SearchEnd::Budget,
        }
    }
}

/// The analysis of a sweep over all trials but those on the way back from an overload, with an answer for each contender.
pub fn analysis(study: &Study, find: &Find) -> Analysis {
    let all: Vec<SearchProgress> =
        turns(&study.experiment).into_iter().filter_map(|turn| contended(study, find, turn)).collect();
    let mut analysis = brunt_judge::sweep::analyse_study(&without_recovery(study, &all));
    let several = all.len() > 1;
    let (mut conclusions, mut findings) = (Vec::new(), Vec::new());
    for (index, contended) in all.iter().enumerate() {
        if contended.silent > 0 {
            findings.push(silent(contended));
        }
        if contended.seen.is_empty() {
            continue;
        }
        let mut answer = contended.answer(contended.ended(study));
        answer.bottleneck = bottleneck(contended, &answer, analysis.contenders.get(index));
        answer.sentence = brunt_search::sentence(&answer);
        let of = if several { format!("{}: ", answer.contender) } else { String::new() };
        conclusions.push(Finding::note("capacity", format!("{of}{}.", answer.sentence)));
        findings.extend(told(&answer, find, &of));
        findings.extend(disturbed(contended, &of));
        if let Some(analysed) = analysis.contenders.get_mut(index) {
            analysed.limits = limits(&answer);
            analysed.outliers.clear();
        }
        analysis.answers.push(answer);
    }
    let of_sweeps = |rule: &str| super::OF_SWEEPS.contains(&rule) || rule == super::OUTLIERS;
    findings.extend(analysis.findings.into_iter().filter(|finding| !of_sweeps(&finding.rule)));
    conclusions.extend(analysis.conclusions.into_iter().filter(|conclusion| !of_sweeps(&conclusion.rule)));
    Analysis { conclusions, findings, ..analysis }
}

fn without_recovery(study: &Study, all: &[SearchProgress]) -> Study {
    let mut left_out = Vec::new();
    for contended in all {
        let purposes = contended.search.purposes(&contended.seen);
        let back = contended.trials.iter().zip(purposes).filter(|(_, purpose)| *purpose == TrialPurpose::Recovery);
        left_out.extend(back.map(|(trial, _)| trial.place));
    }
    let mut study = study.clone();
    study.trials.retain(|trial| !left_out.contains(&trial.place));
    study
}

/// The definitions of a limit side by side, as the search has them.
fn limits(answer: &Answer) -> Vec<LoadLimit> {
    let unit = answer.unit.behind().trim_start();
    let limit = |kind, name: &str, at: Estimate, how: &str| LoadLimit {
        kind,
        name: name.to_owned(),
        at: banded(at),
        unit: if kind == LimitKind::Saturation { "/s" } else { unit }.to_owned(),
        how: how.to_owned(),
        robust: None,
    };
    let capacities = answer.capacities.iter().map(|capacity| {
        limit(LimitKind::Objective, &capacity.objectives.name, capacity.at, &format!("{}.", capacity.sentence))
    });
    let knee = answer.knee.map(|at| limit(LimitKind::Knee, "knee", at, ""));
    let saturation = answer.saturation.map(|at| limit(LimitKind::Saturation, "saturation point", at, ""));
    capacities.chain(knee).chain(saturation).collect()
}

fn banded(at: Estimate) -> Option<BandedFigure> {
    let value = at.value?;
    // A band with an end that is not known would look as if it were.
    let ends = at.low.zip(at.high).filter(|(low, high)| low < high);
    let (low, high) = ends.unwrap_or((value, value));
    let band = if ends.is_none() { Band::One } else { Band::Model };
    Some(BandedFigure { value, low, high, band })
}

/// What limited the server at its capacity: in the trial at the least load from there on in which anything was found; else
/// at its highest loads.
fn bottleneck(contended: &SearchProgress, answer: &Answer, analysed: Option<&ContenderAnalysis>) -> Option<Bottleneck> {
    let at = answer.capacities.first()?.at;
    let from = at.low.or(at.value)?;
    let found = |trial: &&&Trial| trial.judgement.bottleneck.as_ref().is_some_and(|b| is_the_servers(b.culprit));
    let loads = contended.trials.iter().zip(&contended.seen).filter(|(_, seen)| seen.load >= from);
    let nearest = loads.filter(|(trial, _)| found(trial)).min_by(|a, b| a.1.load.total_cmp(&b.1.load));
    let at_capacity = nearest.and_then(|(trial, _)| trial.judgement.bottleneck.clone());
    at_capacity.or_else(|| analysed?.bottleneck.clone().filter(|b| is_the_servers(b.culprit)))
}

fn is_the_servers(culprit: Culprit) -> bool {
    !matches!(culprit, Culprit::NotFound | Culprit::Generator)
}

/// That the server answered no more.
fn silent(contended: &SearchProgress) -> Finding {
    let (name, trials) = (contended.name, contended.silent);
    Finding {
        rule: "nobody_answers".into(),
        weight: Weight::Warning,
        sentence: format!("No response from {name} in the last {trials} of {} trials.", contended.made),
        remedy: Some("check the server with `brunt check URL`".into()),
    }
}

/// Counts the trials that something other than the server limited, as far as is known. The search uses these trials as evidence for
/// one end of its interval only, or not at all.
fn disturbed(contended: &SearchProgress, of: &str) -> Option<Finding> {
    let mut limits: Vec<&str> = contended.seen.iter().filter_map(|seen| seen.limited.as_deref()).collect();
    let (count, all) = (limits.len(), contended.seen.len());
    limits.sort_unstable();
    limits.dedup();
    let processes = contended.trials.iter().flat_map(|trial| &trial.judgement.verdict.other_processes);
    let busiest = processes.max_by(|a, b| a.cores.total_cmp(&b.cores));
    let busiest = busiest.map_or(String::new(), |process| format!("; most CPU: {process} cores"));
    let begin = if of.is_empty() { "In" } else { "in" };
    let sentence = format!(
        "{of}{begin} {count} of {all} trials the server was not the only limit ({}{busiest}): they count as far as that cannot matter.",
        limits.join(", ")
    );
    (count > 0).then(|| Finding {
        rule: "capacity_disturbed".into(),
        weight: Weight::Warning,
        sentence,
        remedy: Some("measure when nothing else uses the machine, or from another machine".into()),
    })
}

/// What a reader should know of an answer: whether it is enough, and what makes it doubtful.
fn told(answer: &Answer, find: &Find, of: &str) -> Vec<Finding> {
    let finding = |rule: &str, weight, sentence, remedy: Option<&str>| Finding {
        rule: rule.to_owned(),
        weight,
        sentence,
        remedy: remedy.map(str::to_owned),
    };
    let mut told = Vec::new();
    let not_precise = match answer.ended {
        SearchEnd::Budget => {
            Some(("time budget used up before the target precision was reached", "raise --time-budget"))
        }
        SearchEnd::Stopped => {
            Some(("it was stopped before the target precision was reached", "continue with --resume"))
        }
        _ => None,
    };
    told.extend(
        not_precise
            .map(|(why, remedy)| finding("capacity_imprecise", Weight::Note, format!("{of}{why}."), Some(remedy))),
    );
    if answer.ended == SearchEnd::Damaged {
        let sentence = format!("{of}the server did not recover from an overload; trials after it are not counted.");
        let remedy = Some("restart the server before each trial (plan file: find: {between: restart})");
        told.push(finding("server_damaged", Weight::Warning, sentence, remedy));
    }
    let drift = answer.drift.as_ref();
    told.extend(drift.map(|drift| {
        let remedy = Some("allow a pause between trials (--cooldown), or restart the server (plan file: find.between)");
        finding("capacity_drift", Weight::Warning, format!("{of}{drift}."), remedy)
    }));
    told.extend(find.require.iter().map(|requirement| {
        let (weight, word) = match fulfilled(answer, requirement) {
            RequirementOutcome::Met => (Weight::Note, "met"),
            RequirementOutcome::Undecided => (Weight::Warning, "undecided"),
            RequirementOutcome::Missed => (Weight::Warning, "missed"),
        };
        let is = answer.capacities.iter().map(|capacity| capacity.sentence.as_str()).collect::<Vec<_>>().join("; ");
        finding("requirement", weight, format!("{of}required {requirement}: {word}; it is {is}."), None)
    }));
    told
}

/// What all capacities of an answer make of a requirement: the worst of them.
pub fn fulfilled(answer: &Answer, requirement: &Requirement) -> RequirementOutcome {
    let each = answer.capacities.iter().map(|capacity| requirement.decide(&capacity.at));
    each.max().unwrap_or(RequirementOutcome::Undecided)
}
