//! Lists the test cases of a study, and writes them for systems of continuous integration.
//!
//! Each contender is a suite. Each trial and objective is a case, and so is each verdict on the
//! generator.
//!
//! A case fails exactly if it makes brunt exit with a code other than 0 (docs/exit-codes.md). An
//! objective that was missed at one load and met at another is skipped, with its figure.
//!
//! Out of scope: a judgement. The facts come from `model::reached`.

pub mod github;
pub mod junit;

use crate::agents::AgentRows;
use crate::breakdown;
use crate::outline;
use brunt_model::answer::Capacity;
use brunt_model::comparison::Pair;
use brunt_model::experiment::Contender;
use brunt_model::finding::State;
use brunt_model::numbers::{fraction, plain, seconds, three_digits};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::question::{Regression, Requirement, RequirementOutcome};
use brunt_model::reached::ReplyKind;
use brunt_model::{Analysis, Language, Question, Study, Trial, TrialIndex};
use std::borrow::Cow;

/// A report at the end of a file that a CI system shows with the job. The format with this report
/// writes commands into the log of the job, together with the text of a report.
pub struct JobSummary {
    /// Environment variable with the path of the file.
    pub variable: &'static str,
    /// Name of the summary's format.
    pub format: &'static str,
    /// Maximum size of the file, in bytes.
    pub limit: usize,
    /// Last line of a summary that does not fit.
    pub cut: &'static str,
}

impl JobSummary {
    /// Returns the part of a summary that fits into a file of `used` bytes: whole lines.
    pub fn fitted<'a>(&self, summary: &'a str, used: usize) -> Cow<'a, str> {
        let room = self.limit.saturating_sub(used);
        if summary.len() <= room {
            return summary.into();
        }
        let Some(room) = room.checked_sub(self.cut.len()) else { return "".into() };
        let end = summary.as_bytes()[..room].iter().rposition(|byte| *byte == b'\n');
        format!("{}{}", &summary[..end.map_or(0, |end| end + 1)], self.cut).into()
    }
}

/// Test cases with a common subject: a contender, or the comparison.
pub struct TestSuite {
    /// Name of the subject.
    pub name: String,
    /// Measured time of all cases.
    pub seconds: f64,
    /// Figures of labels and transactions, and failed checks: one per line.
    pub details: String,
    /// The cases, in order.
    pub cases: Vec<TestCase>,
}

/// A test case and its outcome.
pub struct TestCase {
    /// Condition that was tested.
    pub name: String,
    /// Measured time.
    pub seconds: f64,
    /// Whether the condition holds.
    pub outcome: CaseOutcome,
}

/// Outcome of a test case.
pub enum CaseOutcome {
    /// The condition holds.
    Passed,
    /// Type of the failure, and its figures.
    Failed(&'static str, String),
    /// The case does not fail, but its figures may not be those of the server.
    Doubtful(String),
    /// Reason why the case neither passed nor failed.
    Skipped(String),
}

/// Extent to which an objective was missed.
#[derive(Clone, Copy)]
enum Unmet {
    /// Missed in this trial, and met in another trial of the contender.
    Here,
    /// Missed in all trials of the contender.
    Everywhere,
}

/// Returns the suites of a study: one for each contender, and the comparison.
pub fn suites(study: &Study, analysis: &Analysis) -> Vec<TestSuite> {
    let contenders = study.experiment.contenders.iter().enumerate();
    contenders
        .map(|(index, contender)| suite(study, analysis, index, contender))
        .chain(comparison(study, analysis))
        .collect()
}

fn suite(study: &Study, analysis: &Analysis, index: usize, contender: &Contender) -> TestSuite {
    let mut all = required(study, analysis, contender);
    all.extend(
        places(study, index, contender).flat_map(|place| cases(study, analysis, contender, place)),
    );
    TestSuite {
        name: contender.name.clone(),
        seconds: study.trials_of(index).map(|t| t.run.measured_seconds()).sum(),
        details: details(study, index),
        cases: all,
    }
}

/// Returns the labels and transactions of each trial of a contender, and the failed
/// checks, one per line.
fn details(study: &Study, contender: usize) -> String {
    study.trials_of(contender).map(|trial| details_of_trial(study, trial)).collect()
}

fn details_of_trial(study: &Study, trial: &Trial) -> String {
    let mut lines = Vec::new();
    let tables = breakdown::all(&trial.run, &trial.judgement, AgentRows::LargestLags);
    for (head, rows) in tables.iter().map(|table| table.cells(Language::English)) {
        lines.extend(rows.iter().map(|cells| figures_of_row(&head, cells)));
    }
    lines.extend(breakdown::check_failures(&trial.run).into_iter().map(String::from));
    if lines.is_empty() {
        return String::new();
    }
    format!("{}\n{}\n", outline::trial_name(study, trial), lines.join("\n"))
}

/// Formats a row of a table: `GET /: completed 1,000, errors 0, p50 1.20 ms`.
fn figures_of_row(head: &[String], cells: &[String]) -> String {
    let figures = head.iter().zip(cells).skip(1).map(|(column, cell)| format!("{column} {cell}"));
    format!("{}: {}", cells[0], figures.collect::<Vec<_>>().join(", "))
}

/// Returns a case for each difference of `--fail-if` at each pair; None without such cases.
fn comparison(study: &Study, analysis: &Analysis) -> Option<TestSuite> {
    let (Some(comparison), Question::Compare(spec)) =
        (&analysis.comparison, &study.experiment.question)
    else {
        return None;
    };
    let unit =
        study.experiment.contenders.first().map_or("", |contender| contender.unit().suffix());
    let mut all = Vec::new();
    for pair in &comparison.pairs {
        let load = pair.load.map_or(String::new(), |load| format!(" at {}{unit}", plain(load)));
        for regression in &spec.fail_if {
            let name = format!("{regression}: {} against {}{load}", pair.theirs, pair.ours);
            let outcome = regression_outcome(regression, pair);
            all.push(TestCase { name, seconds: 0.0, outcome });
        }
    }
    (!all.is_empty()).then(|| TestSuite {
        name: "comparison".into(),
        seconds: 0.0,
        details: String::new(),
        cases: all,
    })
}

fn regression_outcome(regression: &Regression, pair: &Pair) -> CaseOutcome {
    match pair.measures.iter().find(|compared| compared.measure == regression.measure) {
        Some(compared) if regression.is_shown_by(compared) => {
            CaseOutcome::Failed("worse", compared.sentence.to_string())
        }
        Some(_) => CaseOutcome::Passed,
        None => CaseOutcome::Skipped("it was not measured".into()),
    }
}

/// Returns the positions of the expected trials. A search has no expected trials other than the
/// ones that it chose.
fn places(study: &Study, index: usize, contender: &Contender) -> impl Iterator<Item = TrialIndex> {
    // The first step of a search is the pattern of its trials, and was not run itself.
    let first = usize::from(study.experiment.has_search());
    let steps = contender.steps.len();
    (0..study.experiment.repetitions).flat_map(move |repetition| {
        (first..steps).map(move |step| TrialIndex { repetition, contender: index, step })
    })
}

/// Returns a case for each requirement and each capacity.
fn required(study: &Study, analysis: &Analysis, contender: &Contender) -> Vec<TestCase> {
    let Question::Find(find) = &study.experiment.question else { return Vec::new() };
    let mut cases = Vec::new();
    for answer in analysis.answers.iter().filter(|answer| answer.contender == contender.name) {
        for capacity in &answer.capacities {
            cases.extend(
                find.require.iter().map(|requirement| requirement_case(capacity, requirement)),
            );
        }
    }
    cases
}

fn requirement_case(capacity: &Capacity, requirement: &Requirement) -> TestCase {
    TestCase {
        name: format!("{requirement} at {}", capacity.objectives.name),
        seconds: 0.0,
        outcome: match requirement.decide(&capacity.at) {
            RequirementOutcome::Met => CaseOutcome::Passed,
            RequirementOutcome::Missed => {
                CaseOutcome::Failed("requirement", format!("it is {}", capacity.sentence))
            }
            // Undecided requirements make brunt exit with 8, so the case cannot pass.
            RequirementOutcome::Undecided => {
                CaseOutcome::Failed("undecided", format!("it is {}", capacity.sentence))
            }
        },
    }
}

fn cases(
    study: &Study,
    analysis: &Analysis,
    contender: &Contender,
    place: TrialIndex,
) -> Vec<TestCase> {
    if study.experiment.is_search_trial(place)
        && matches!(study.experiment.question, Question::Compare(_))
    {
        // The result of a search counts, not its single trials.
        return Vec::new();
    }
    let load = study.experiment.step(place).map_or(0.0, |step| step.load);
    let unit = contender.unit().suffix();
    let at = match study.experiment.repetitions {
        0 | 1 => format!("at {}{unit}", plain(load)),
        _ => format!("at {}{unit}, repetition {}", plain(load), place.repetition + 1),
    };
    let Some(trial) = study.trials.iter().find(|t| t.place == place) else {
        // A complete study may end without some trials, for instance if it was decided early.
        if study.is_complete() {
            return Vec::new();
        }
        return vec![TestCase {
            name: format!("trial {at}"),
            seconds: 0.0,
            outcome: CaseOutcome::Skipped("the trial was not made".into()),
        }];
    };
    let seconds = trial.run.measured_seconds();
    let objectives =
        trial.run.plan.iter().flat_map(|plan| &plan.objectives).map(|o| o.judge(&trial.run));
    let state = trial.judgement.verdict.state;
    if study.experiment.has_search() && state.is_disturbed() {
        // A search expects some disturbed trials. They do not count against the server.
        let outcome = CaseOutcome::Skipped(state.words().into());
        return vec![TestCase { name: format!("verdict {at}"), seconds, outcome }];
    }
    let unmet = study.unmet(place.contender);
    let verdict = TestCase {
        name: format!("verdict {at}"),
        seconds,
        outcome: verdict(study, analysis, trial),
    };
    objectives
        .map(|judged| {
            let extent =
                if unmet.contains(&&judged.objective) { Unmet::Everywhere } else { Unmet::Here };
            let outcome = objective_outcome(&judged, extent);
            TestCase { name: format!("{} {at}", judged.objective), seconds, outcome }
        })
        .chain([verdict])
        .collect()
}

/// Returns the outcome of an objective. One that the contender met at another load does
/// not make brunt fail.
fn objective_outcome(judged: &ObjectiveResult, unmet: Unmet) -> CaseOutcome {
    if judged.met {
        return CaseOutcome::Passed;
    }
    let value = match judged.objective.metric {
        Metric::Errors => fraction(judged.value),
        Metric::Throughput | Metric::Goodput => format!("{}/s", three_digits(judged.value)),
        Metric::Quantile(_) | Metric::Mean | Metric::Max => seconds(judged.value),
    };
    let at_least = if judged.at_least { "at least " } else { "" };
    let message = format!("{} was {at_least}{value}", judged.objective.metric);
    match unmet {
        Unmet::Everywhere => CaseOutcome::Failed("objective", message),
        Unmet::Here => {
            CaseOutcome::Skipped(format!("{message}; the objective was met in another trial"))
        }
    }
}

fn verdict(study: &Study, analysis: &Analysis, trial: &Trial) -> CaseOutcome {
    let verdict = &trial.judgement.verdict;
    let causes = verdict.causes.iter().map(|cause| &*cause.sentence).collect::<Vec<_>>().join("; ");
    // First: the verdict of a run that ended with an error describes only the time before the
    // error.
    if let Some(error) = trial.run.finish.as_ref().and_then(|finish| finish.error.as_ref()) {
        return CaseOutcome::Failed("run", error.to_string());
    }
    match verdict.state {
        State::Unjudged => replies(study, trial),
        State::Ok | State::BusyMachine | State::Unexplained | State::Limited
            if trial.run.replies() < ReplyKind::SomeGood =>
        {
            replies(study, trial)
        }
        // After the check of replies: an interrupted run without a good reply is a failure of kind
        // `replies`.
        State::Ok if trial.run.is_interrupted() => {
            CaseOutcome::Failed("run", "it was stopped before its time".into())
        }
        State::Ok => CaseOutcome::Passed,
        state @ (State::BusyMachine | State::Unexplained | State::Limited) => {
            let words = format!("{}: {causes}", state.words());
            // Only `--strict` turns this verdict into exit code 6.
            if study.environment.strict {
                CaseOutcome::Failed("generator", words)
            } else {
                CaseOutcome::Doubtful(words)
            }
        }
        State::Invalid => {
            let violated = trial.judgement.checks.iter().filter(|check| !check.holds);
            let sums = violated
                .map(|check| format!("{}: {}", check.name, check.arithmetic))
                .collect::<Vec<_>>();
            let words = if trial.judgement.is_load_missing() {
                format!("most of the load is missing: {causes}")
            } else {
                format!("consistency check failed: {}", sums.join("; "))
            };
            // `brunt compare` excludes the trial with its block, and exits with 5 only if no block
            // remains.
            if analysis.excludes_invalid_trials() {
                CaseOutcome::Skipped(words)
            } else {
                CaseOutcome::Failed("invalid", words)
            }
        }
    }
}

/// Returns the outcome of a trial without a good reply. It does not make brunt fail if the
/// contender had better replies in another trial.
fn replies(study: &Study, trial: &Trial) -> CaseOutcome {
    let message = match trial.run.replies() {
        ReplyKind::None => {
            format!("nothing was measured: no reply came ({})", trial.run.failure_summary())
        }
        _ => format!("none of {} replies was good", trial.run.total.completed),
    };
    // Sweeps have loads beyond the capacity by design, so the best trial of a contender counts.
    if study.best_replies(trial.place.contender) > Some(trial.run.replies()) {
        return CaseOutcome::Skipped(format!("{message}; another trial had better ones"));
    }
    CaseOutcome::Failed("replies", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_cut_after_a_whole_line() {
        let summary = JobSummary { variable: "X", format: "markdown", limit: 20, cut: "cut\n" };
        assert_eq!(summary.fitted("one\ntwo\nthree\n", 6), "one\ntwo\nthree\n");
        // é has two bytes, and the room ends between them.
        assert_eq!(summary.fitted("one\nté\nthree\n", 10), "one\ncut\n");
        assert_eq!(summary.fitted("one\ntwo\n", 14), "cut\n");
        assert_eq!(summary.fitted("one\ntwo\n", 17), "");
    }
}
