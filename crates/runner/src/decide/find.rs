//! A search, finished or in progress: its trials in the form of the crate `search`, and its result.
//!
//! The crate `search` chooses loads and estimates capacities.

mod timeline;

use crate::texts::message;
use brunt_model::analysis::{
    Band, BandedFigure, Bottleneck, ContenderAnalysis, Culprit, LimitKind, LoadLimit,
};
use brunt_model::answer::{Estimate, SearchEnd};
use brunt_model::finding::Severity;
use brunt_model::question::{Requirement, RequirementOutcome, TrialPurpose};
use brunt_model::text::Value;
use brunt_model::{
    Analysis, CapacityResult, CapacitySearch, Failure, Finding, LoadUnit, Run, Study, Text, Trial,
    text,
};
use brunt_rig::{ContenderTurn, turns};
use brunt_search::{NextStep, Search, TrialSummary};
use std::time::Duration;
use timeline::{TrialSpan, duration, interruptions, purposes};

/// Number of successive trials without a reply after which a search ends.
const MAX_SILENT_TRIALS: usize = 2;

/// The search of one contender, as far as it has progressed.
pub struct SearchProgress<'a> {
    /// Algorithm that chooses the next load.
    pub search: Search,
    /// Settings of the search.
    pub find: CapacitySearch,
    /// Name of the contender.
    pub name: &'a str,
    /// Trials that are meaningful to the search.
    pub trials: Vec<&'a Trial>,
    /// Summaries of `trials` for the search. Times exclude the pauses in which
    /// the search was interrupted.
    pub summaries: Vec<TrialSummary>,
    /// Number of trials, including those without meaning.
    pub trial_count: usize,
    /// Number of the last trials in a row without a reply. `has_reply` is true if
    /// any trial had one.
    silent_trials: usize,
    has_reply: bool,
    /// Time that the search has used.
    spent: Duration,
}

/// Reads the search of one contender in one repetition, as far as it has progressed.
pub fn search_progress<'a>(
    study: &'a Study,
    find: &CapacitySearch,
    turn: ContenderTurn,
) -> Option<SearchProgress<'a>> {
    let contender = study.experiment.contenders.get(turn.contender)?;
    let all: Vec<&Trial> = study.search_trials(turn.contender, turn.repetition).collect();
    let silent_trials = all.iter().rev().take_while(|trial| has_no_reply(&trial.run)).count();
    let trial_count = all.len();
    let has_reply = silent_trials < all.len();
    let trials: Vec<&Trial> =
        all.into_iter().filter(|trial| is_meaningful(&trial.run, find)).collect();
    let summaries = summaries(find, study, &trials);
    let search = Search::new(find, contender.unit());
    let spent = match (summaries.first(), summaries.last(), trials.last()) {
        // Measured in run time without interruptions, so that a resumed search keeps its budget.
        (Some(first), Some(last), Some(trial)) => last.began + duration(&trial.run) - first.began,
        _ => 0.0,
    };
    let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
    let find = find.clone();
    Some(SearchProgress {
        search,
        find,
        name: &contender.name,
        trials,
        summaries,
        trial_count,
        silent_trials,
        has_reply,
        spent,
    })
}

/// True if there was no reply, and the requests were not all slow.
fn has_no_reply(run: &Run) -> bool {
    let total = &run.total;
    // An overloaded server replies to no request within the trial either, but it is alive.
    let unfinished = total.failed_by(Failure::Cut) + total.failed_by(Failure::Dropped);
    let slow = unfinished + total.timed_out_requests();
    total.completed == 0 && (run.measured_seconds() <= 0.0 || total.errors() > slow)
}

/// True if a trial is long enough. A trial that was stopped may be too short.
fn is_meaningful(run: &Run, find: &CapacitySearch) -> bool {
    let seconds = run.measured_seconds();
    seconds > 0.0 && (!run.is_interrupted() || seconds >= find.trial.measured.as_secs_f64())
}

/// Summaries of the trials, with their purposes, and with times as if the search
/// had not been interrupted.
fn summaries(find: &CapacitySearch, study: &Study, trials: &[&Trial]) -> Vec<TrialSummary> {
    let spans: Vec<TrialSpan> =
        trials.iter().map(|trial| TrialSpan::of(trial, &study.experiment)).collect();
    let purposes = purposes(&spans, &study.resumptions);
    let interruptions = interruptions(&spans, &study.resumptions);
    let mut interruption_seconds = 0.0;
    let mut all = Vec::with_capacity(trials.len());
    for ((trial, purpose), interruption) in trials.iter().zip(purposes).zip(interruptions) {
        let mut summary = brunt_search::summarize(find, &trial.run, &trial.judgement);
        interruption_seconds += interruption;
        summary.began -= interruption_seconds;
        summary.purpose = purpose;
        all.push(summary);
    }
    all
}

impl SearchProgress<'_> {
    /// Next step of the search.
    pub fn next(&self) -> NextStep {
        // A server that never replied is not started, or the URL is wrong: further trials are
        // pointless.
        if self.silent_trials > 0 && !self.has_reply {
            return NextStep::Done(SearchEnd::Least);
        }
        if self.silent_trials >= MAX_SILENT_TRIALS {
            return NextStep::Done(SearchEnd::Stopped);
        }
        self.search.next(&self.summaries, self.spent)
    }

    /// Result so far. `ended` is the reason why the search ends, independent of its next step.
    pub fn answer(&self, ended: SearchEnd) -> CapacityResult {
        self.search.answer(self.name, &self.summaries, ended)
    }

    /// True if the server stopped replying; then there is no capacity.
    pub fn is_silent(&self) -> bool {
        self.silent_trials > 0
    }

    fn search_end(&self, study: &Study) -> SearchEnd {
        match self.next() {
            NextStep::Done(end) => end,
            NextStep::Measure(_) if study.interrupted => SearchEnd::Stopped,
            NextStep::Measure(_) => SearchEnd::Budget,
        }
    }
}

/// Creates the analysis of a search: that of a sweep over all trials except recoveries, with an
/// answer for each contender.
pub fn analysis(study: &Study, find: &CapacitySearch) -> Analysis {
    let all: Vec<SearchProgress> = turns(&study.experiment)
        .into_iter()
        .filter_map(|turn| search_progress(study, find, turn))
        .collect();
    let mut analysis = brunt_judge::sweep::analyse_study(&without_recovery_trials(study, &all));
    let has_several = all.len() > 1;
    let mut conclusions = Vec::new();
    let mut findings = Vec::new();
    for (index, progress) in all.iter().enumerate() {
        if progress.silent_trials > 0 {
            findings.push(silence_finding(progress));
        }
        if progress.summaries.is_empty() {
            continue;
        }
        let mut answer = progress.answer(progress.search_end(study));
        answer.bottleneck = bottleneck(progress, &answer, analysis.contenders.get(index));
        answer.sentence = brunt_search::sentence(&answer);
        let named = Named(has_several.then_some(progress.name));
        let conclusion = text!("sentence", clause = answer.sentence.clone());
        conclusions.push(Finding::note("capacity", named.sentence(conclusion)));
        findings.extend(answer_findings(&answer, find, named));
        findings.extend(disturbance_finding(progress, named));
        if let Some(analysed) = analysis.contenders.get_mut(index) {
            analysed.limits = limits(&answer);
            // Trials at one load have different durations and purposes, so they are no repetitions.
            analysed.outliers.clear();
        }
        analysis.answers.push(answer);
    }
    findings.extend(analysis.findings.into_iter().filter(|finding| !is_replaced(&finding.rule)));
    conclusions.extend(
        analysis.conclusions.into_iter().filter(|conclusion| !is_replaced(&conclusion.rule)),
    );
    Analysis { conclusions, findings, ..analysis }
}

/// Contender that sentences name; None if there is only one.
#[derive(Clone, Copy)]
struct Named<'a>(Option<&'a str>);

impl Named<'_> {
    fn sentence(self, sentence: Text) -> Text {
        match self.0 {
            Some(contender) => text!("of-contender", contender, sentence),
            None => sentence,
        }
    }
}

/// True for a finding of a sweep that the answer of a search replaces.
fn is_replaced(rule: &str) -> bool {
    super::OF_SWEEPS.contains(&rule) || rule == super::OUTLIERS
}

fn without_recovery_trials(study: &Study, all: &[SearchProgress]) -> Study {
    let mut recovery_places = Vec::new();
    for progress in all {
        let purposes = progress.search.purposes(&progress.summaries);
        let trials = progress.trials.iter().zip(purposes);
        let recoveries = trials.filter(|(_, purpose)| *purpose == TrialPurpose::Recovery);
        recovery_places.extend(recoveries.map(|(trial, _)| trial.place));
    }
    let mut study = study.clone();
    study.trials.retain(|trial| !recovery_places.contains(&trial.place));
    study
}

/// The capacities, the knee and the saturation point of an answer.
fn limits(answer: &CapacityResult) -> Vec<LoadLimit> {
    let unit = answer.unit.name();
    let capacities = answer.capacities.iter().map(|capacity| LoadLimit {
        how: text!("sentence", clause = capacity.sentence.clone()),
        ..limit(
            LimitKind::Objective,
            Text::from(&*capacity.objectives.name),
            capacity.at,
            unit.clone(),
        )
    });
    let knee = answer
        .knee
        .map(|estimate| limit(LimitKind::Knee, text!("chart-label.knee"), estimate, unit.clone()));
    let saturation = answer.saturation.map(|estimate| {
        limit(
            LimitKind::Saturation,
            text!("chart-label.saturation"),
            estimate,
            LoadUnit::PerSecond.name(),
        )
    });
    capacities.chain(knee).chain(saturation).collect()
}

fn limit(kind: LimitKind, name: Text, at: Estimate, unit: Text) -> LoadLimit {
    LoadLimit {
        kind,
        name,
        at: banded_figure(at),
        unit,
        how: Text::default(),
        robust: None,
        held: None,
    }
}

fn banded_figure(at: Estimate) -> Option<BandedFigure> {
    let value = at.value?;
    // A band with an unknown end would look like a known one, so only the value is shown.
    let ends = at.low.zip(at.high).filter(|(low, high)| low < high);
    let (low, high) = ends.unwrap_or((value, value));
    let band = if ends.is_none() { Band::One } else { Band::Model };
    Some(BandedFigure { value, low, high, band })
}

/// Bottleneck of the server at its capacity: that of the trial with the lowest load from there on
/// that has one, else that of its highest loads.
fn bottleneck(
    progress: &SearchProgress,
    answer: &CapacityResult,
    analysed: Option<&ContenderAnalysis>,
) -> Option<Bottleneck> {
    let estimate = answer.capacities.first()?.at;
    // At loads below the capacity, no resource of the server is exhausted.
    let min_load = estimate.low.or(estimate.value)?;
    let loads = progress
        .trials
        .iter()
        .zip(&progress.summaries)
        .filter(|(_, summary)| summary.load >= min_load);
    let server_limited = loads.filter(|(trial, _)| {
        trial
            .judgement
            .bottleneck
            .as_ref()
            .is_some_and(|bottleneck| is_limit_of_server(bottleneck.culprit))
    });
    let nearest = server_limited.min_by(|a, b| a.1.load.total_cmp(&b.1.load));
    let at_capacity = nearest.and_then(|(trial, _)| trial.judgement.bottleneck.clone());
    at_capacity.or_else(|| analysed?.bottleneck.clone().filter(|b| is_limit_of_server(b.culprit)))
}

fn is_limit_of_server(culprit: Culprit) -> bool {
    !matches!(culprit, Culprit::NotFound | Culprit::Generator)
}

/// Finding that the server stopped replying.
fn silence_finding(progress: &SearchProgress) -> Finding {
    let trials = progress.silent_trials.to_string();
    let all = progress.trial_count.to_string();
    Finding {
        rule: "no_response".into(),
        severity: Severity::Warning,
        sentence: message!("no-response", contender = progress.name, trials, all),
        remedy: Some(message!("no-response.remedy")),
    }
}

/// Counts the trials that something other than the server limited, as far as is known. The search
/// uses such a trial as evidence for one end of its interval only, or ignores it.
fn disturbance_finding(progress: &SearchProgress, named: Named) -> Option<Finding> {
    let mut limits: Vec<Text> =
        progress.summaries.iter().filter_map(|summary| summary.limited.clone()).collect();
    if limits.is_empty() {
        return None;
    }
    let count = limits.len().to_string();
    let all = progress.summaries.len().to_string();
    limits.sort_unstable_by(|a, b| a.as_str().cmp(b));
    limits.dedup();
    let limits = text!("words", words = Value::Words(limits));
    let processes =
        progress.trials.iter().flat_map(|trial| &trial.judgement.verdict.other_processes);
    let limits = match processes.max_by(|a, b| a.cores.total_cmp(&b.cores)) {
        Some(process) => {
            message!("capacity-disturbed.limits-and-process", limits, process = process.to_string())
        }
        None => limits,
    };
    let sentence = match named.0 {
        Some(contender) => {
            message!("capacity-disturbed.of-contender", contender, count, all, limits)
        }
        None => message!("capacity-disturbed", count, all, limits),
    };
    let remedy = Some(message!("capacity-disturbed.remedy"));
    Some(finding("capacity_disturbed", Severity::Warning, sentence, remedy))
}

/// Findings about an answer: its precision, its requirements, and doubts.
fn answer_findings(answer: &CapacityResult, find: &CapacitySearch, named: Named) -> Vec<Finding> {
    let mut findings = Vec::new();
    let not_precise = match answer.ended {
        SearchEnd::Budget => {
            let remedy = match answer.needed_budget {
                Some(needed) => {
                    let time = format!("{}s", needed.as_secs());
                    message!("capacity-imprecise.remedy-needed", time)
                }
                None => message!("capacity-imprecise.remedy-budget"),
            };
            Some((message!("capacity-imprecise.budget"), remedy))
        }
        SearchEnd::Stopped => Some((
            message!("capacity-imprecise.stopped"),
            message!("capacity-imprecise.remedy-stopped"),
        )),
        _ => None,
    };
    findings.extend(not_precise.map(|(sentence, remedy)| {
        finding("capacity_imprecise", Severity::Note, named.sentence(sentence), Some(remedy))
    }));
    if answer.ended == SearchEnd::Damaged {
        let sentence = named.sentence(message!("server-damaged"));
        let remedy = Some(message!("server-damaged.remedy"));
        findings.push(finding("server_damaged", Severity::Warning, sentence, remedy));
    }
    findings.extend(answer.change.as_ref().map(|change| {
        let sentence = named.sentence(text!("sentence", clause = change.clone()));
        let remedy = Some(text!("server-changed.remedy"));
        finding("server_changed", Severity::Warning, sentence, remedy)
    }));
    findings.extend(find.require.iter().map(|requirement| {
        let capacities = answer.capacities.iter().map(|capacity| capacity.sentence.clone());
        let capacity = text::series(capacities.collect());
        let outcome = requirement_outcome(answer, requirement);
        let requirement = requirement.to_string();
        let (severity, sentence) = match outcome {
            RequirementOutcome::Met => {
                (Severity::Note, message!("requirement.met", requirement, capacity))
            }
            RequirementOutcome::Undecided => {
                (Severity::Warning, message!("requirement.undecided", requirement, capacity))
            }
            RequirementOutcome::Missed => {
                (Severity::Warning, message!("requirement.missed", requirement, capacity))
            }
        };
        finding("requirement", severity, named.sentence(sentence), None)
    }));
    findings
}

fn finding(rule: &str, severity: Severity, sentence: Text, remedy: Option<Text>) -> Finding {
    Finding { rule: rule.to_owned(), severity, sentence, remedy }
}

/// Worst outcome of a requirement over all capacities of an answer.
pub fn requirement_outcome(
    answer: &CapacityResult,
    requirement: &Requirement,
) -> RequirementOutcome {
    let outcomes = answer.capacities.iter().map(|capacity| requirement.decide(&capacity.at));
    outcomes.max().unwrap_or(RequirementOutcome::Undecided)
}
