//! Writes a report for continuous integration in the format of `JUnit`.
//!
//! Each contender is a suite. Each trial and objective is a case, and so is each
//! verdict on the generator.
//!
//! A case fails exactly if it makes brunt exit with a code other than 0 (docs/exit-codes.md). An
//! objective that was missed at one load and met at another is skipped, with its figure.
//!
//! Out of scope: a judgement. The facts come from `model::reached`.

use crate::agents::AgentRows;
use crate::breakdown;
use crate::xml::escaped;
use crate::{outline, single, utc};
use brunt_model::answer::Capacity;
use brunt_model::comparison::Pair;
use brunt_model::experiment::Contender;
use brunt_model::finding::State;
use brunt_model::numbers::{fraction, plain, seconds, three_digits};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::question::{Regression, Requirement, RequirementOutcome};
use brunt_model::reached::ReplyKind;
use brunt_model::{Analysis, Judgement, Language, Question, Run, Study, Trial, TrialIndex};
use std::io;

/// A test case and its outcome.
struct Case {
    name: String,
    seconds: f64,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    /// Type of the failure, and its figures.
    Failed(&'static str, String),
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

/// Writes a run as `JUnit` XML, in the form of a study of one trial.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let (study, analysis) = single::study_of(run, judgement);
    write_study(&study, &analysis, out)
}

/// Writes a study as `JUnit` XML: one test suite for each contender.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{}\">", escaped(&study.experiment.name))?;
    for (index, contender) in study.experiment.contenders.iter().enumerate() {
        suite(study, analysis, index, contender, out)?;
    }
    comparison(study, analysis, out)?;
    writeln!(out, "</testsuites>")
}

fn suite(
    study: &Study,
    analysis: &Analysis,
    index: usize,
    contender: &Contender,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut all = required(study, analysis, contender);
    all.extend(
        places(study, index, contender).flat_map(|place| cases(study, analysis, contender, place)),
    );
    let seconds: f64 = study.trials_of(index).map(|t| t.run.measured_seconds()).sum();
    let suite = SuiteHead { name: &contender.name, seconds, details: &details(study, index) };
    write_suite(&suite, study, &all, out)
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

/// Writes a case for each difference of `--fail-if` at each pair.
fn comparison(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let (Some(comparison), Question::Compare(spec)) =
        (&analysis.comparison, &study.experiment.question)
    else {
        return Ok(());
    };
    let unit =
        study.experiment.contenders.first().map_or("", |contender| contender.unit().suffix());
    let mut all = Vec::new();
    for pair in &comparison.pairs {
        let load = pair.load.map_or(String::new(), |load| format!(" at {}{unit}", plain(load)));
        for regression in &spec.fail_if {
            let name = format!("{regression}: {} against {}{load}", pair.theirs, pair.ours);
            all.push(Case { name, seconds: 0.0, outcome: regression_outcome(regression, pair) });
        }
    }
    if all.is_empty() {
        Ok(())
    } else {
        write_suite(&SuiteHead { name: "comparison", seconds: 0.0, details: "" }, study, &all, out)
    }
}

fn regression_outcome(regression: &Regression, pair: &Pair) -> Outcome {
    match pair.measures.iter().find(|compared| compared.measure == regression.measure) {
        Some(compared) if regression.is_shown_by(compared) => {
            Outcome::Failed("worse", compared.sentence.to_string())
        }
        Some(_) => Outcome::Passed,
        None => Outcome::Skipped("it was not measured".into()),
    }
}

/// Name, duration and standard output of a suite.
struct SuiteHead<'a> {
    name: &'a str,
    seconds: f64,
    details: &'a str,
}

fn write_suite(
    suite: &SuiteHead<'_>,
    study: &Study,
    all: &[Case],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let SuiteHead { name, seconds, details } = suite;
    let failed = all.iter().filter(|case| matches!(case.outcome, Outcome::Failed(..))).count();
    let skipped = all.iter().filter(|case| matches!(case.outcome, Outcome::Skipped(_))).count();
    let name = escaped(name);
    let started = utc::rfc3339(study.unix_seconds);
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" \
         time=\"{seconds:.3}\" timestamp=\"{}\">",
        all.len(),
        // The attribute has no time zone in the schema of JUnit.
        started.trim_end_matches('Z')
    )?;
    for case in all {
        write_case(&name, case, out)?;
    }
    if !details.is_empty() {
        let lines: Vec<String> = details.lines().map(escaped).collect();
        // JUnit has no element for figures; CI servers such as Jenkins show this text.
        writeln!(out, "    <system-out>{}</system-out>", lines.join("\n"))?;
    }
    writeln!(out, "  </testsuite>")
}

fn write_case(suite: &str, case: &Case, out: &mut dyn io::Write) -> io::Result<()> {
    let head = format!(
        "    <testcase classname=\"{suite}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&case.name),
        case.seconds
    );
    match &case.outcome {
        Outcome::Passed => writeln!(out, "{head}/>"),
        Outcome::Failed(kind, message) => {
            writeln!(
                out,
                "{head}><failure type=\"{kind}\" message=\"{}\"/></testcase>",
                escaped(message)
            )
        }
        Outcome::Skipped(why) => {
            writeln!(out, "{head}><skipped message=\"{}\"/></testcase>", escaped(why))
        }
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
fn required(study: &Study, analysis: &Analysis, contender: &Contender) -> Vec<Case> {
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

fn requirement_case(capacity: &Capacity, requirement: &Requirement) -> Case {
    Case {
        name: format!("{requirement} at {}", capacity.objectives.name),
        seconds: 0.0,
        outcome: match requirement.decide(&capacity.at) {
            RequirementOutcome::Met => Outcome::Passed,
            RequirementOutcome::Missed => {
                Outcome::Failed("requirement", format!("it is {}", capacity.sentence))
            }
            // Undecided requirements make brunt exit with 8, so the case cannot pass.
            RequirementOutcome::Undecided => {
                Outcome::Failed("undecided", format!("it is {}", capacity.sentence))
            }
        },
    }
}

fn cases(
    study: &Study,
    analysis: &Analysis,
    contender: &Contender,
    place: TrialIndex,
) -> Vec<Case> {
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
        return vec![Case {
            name: format!("trial {at}"),
            seconds: 0.0,
            outcome: Outcome::Skipped("the trial was not made".into()),
        }];
    };
    let seconds = trial.run.measured_seconds();
    let objectives =
        trial.run.plan.iter().flat_map(|plan| &plan.objectives).map(|o| o.judge(&trial.run));
    let state = trial.judgement.verdict.state;
    if study.experiment.has_search() && state.is_disturbed() {
        // A search expects some disturbed trials. They do not count against the server.
        let outcome = Outcome::Skipped(state.words().into());
        return vec![Case { name: format!("verdict {at}"), seconds, outcome }];
    }
    let unmet = study.unmet(place.contender);
    let verdict =
        Case { name: format!("verdict {at}"), seconds, outcome: verdict(study, analysis, trial) };
    objectives
        .map(|judged| {
            let extent =
                if unmet.contains(&&judged.objective) { Unmet::Everywhere } else { Unmet::Here };
            let outcome = objective_outcome(&judged, extent);
            Case { name: format!("{} {at}", judged.objective), seconds, outcome }
        })
        .chain([verdict])
        .collect()
}

/// Returns the outcome of an objective. One that the contender met at another load does
/// not make brunt fail.
fn objective_outcome(judged: &ObjectiveResult, unmet: Unmet) -> Outcome {
    if judged.met {
        return Outcome::Passed;
    }
    let value = match judged.objective.metric {
        Metric::Errors => fraction(judged.value),
        Metric::Throughput | Metric::Goodput => format!("{}/s", three_digits(judged.value)),
        Metric::Quantile(_) | Metric::Mean | Metric::Max => seconds(judged.value),
    };
    let at_least = if judged.at_least { "at least " } else { "" };
    let message = format!("{} was {at_least}{value}", judged.objective.metric);
    match unmet {
        Unmet::Everywhere => Outcome::Failed("objective", message),
        Unmet::Here => {
            Outcome::Skipped(format!("{message}; the objective was met in another trial"))
        }
    }
}

fn verdict(study: &Study, analysis: &Analysis, trial: &Trial) -> Outcome {
    let verdict = &trial.judgement.verdict;
    let causes = verdict.causes.iter().map(|cause| &*cause.sentence).collect::<Vec<_>>().join("; ");
    // First: the verdict of a run that ended with an error describes only the time before the
    // error.
    if let Some(error) = trial.run.finish.as_ref().and_then(|finish| finish.error.as_ref()) {
        return Outcome::Failed("run", error.clone());
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
            Outcome::Failed("run", "it was stopped before its time".into())
        }
        State::Ok => Outcome::Passed,
        state @ (State::BusyMachine | State::Unexplained | State::Limited) => {
            let words = format!("{}: {causes}", state.words());
            // Only `--strict` turns this verdict into exit code 6.
            if study.environment.strict {
                Outcome::Failed("generator", words)
            } else {
                Outcome::Skipped(words)
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
                Outcome::Skipped(words)
            } else {
                Outcome::Failed("invalid", words)
            }
        }
    }
}

/// Returns the outcome of a trial without a good reply. It does not make brunt fail if the
/// contender had better replies in another trial.
fn replies(study: &Study, trial: &Trial) -> Outcome {
    let message = match trial.run.replies() {
        ReplyKind::None => {
            format!("nothing was measured: no reply came ({})", trial.run.failure_summary())
        }
        _ => format!("none of {} replies was good", trial.run.total.completed),
    };
    // Sweeps have loads beyond the capacity by design, so the best trial of a contender counts.
    if study.best_replies(trial.place.contender) > Some(trial.run.replies()) {
        return Outcome::Skipped(format!("{message}; another trial had better ones"));
    }
    Outcome::Failed("replies", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;
    use crate::story::comparison::compared;

    #[test]
    fn a_failed_comparison_is_a_test_case() {
        let (study, analysis) = compared();
        let mut out = Vec::new();
        write_study(&study, &analysis, &mut out).unwrap();
        let xml = String::from_utf8(out).unwrap();
        let (_, suite) = xml.split_once("<testsuite name=\"comparison\"").unwrap();
        insta::assert_snapshot!(suite, @r#"
         tests="2" failures="1" errors="0" skipped="0" time="0.000" timestamp="2026-07-01T12:00:00.250">
            <testcase classname="comparison" name="p99 worse by 5%: apache against nginx at 120/s" time="0.000"/>
            <testcase classname="comparison" name="errors worse by 10%: apache against nginx at 120/s" time="0.000"><failure type="worse" message="errors: apache is worse: 2 % against 1 %"/></testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    /// There are failures if and only if the exit code is not 0.
    #[test]
    fn a_trial_fails_only_if_the_contender_had_no_better_one() {
        use brunt_model::finding::State;
        let (mut study, _) = story::sweep_of(&[120.0, 480.0], 1);
        let bad = |study: &mut Study, at: usize| {
            study.trials[at].run.total.good = 0;
            study.trials[at].judgement.verdict.state = State::Ok;
        };
        let told = |study: &Study| xml(study).matches("<failure type=\"replies\"").count();
        bad(&mut study, 0);
        let contender = study.trials[0].place.contender;
        assert_eq!(told(&study), 0);
        assert!(xml(&study).contains("another trial had better ones"));
        let all: Vec<usize> = (0..study.trials.len())
            .filter(|at| study.trials[*at].place.contender == contender)
            .collect();
        for at in &all {
            bad(&mut study, *at);
        }
        assert_eq!(told(&study), all.len());
        let (mut study, _) = story::sweep_of(&[120.0], 1);
        study.trials[0].judgement.verdict.state = State::Limited;
        assert!(!xml(&study).contains("<failure"), "{}", xml(&study));
        study.environment.strict = true;
        assert!(xml(&study).contains("<failure type=\"generator\""), "{}", xml(&study));
    }

    fn xml(study: &Study) -> String {
        let mut out = Vec::new();
        write_study(study, &Analysis::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_objective_missed_at_one_load_and_a_missing_trial_are_skipped() {
        let (mut study, _) = story::sweep_of(&[120.0, 480.0], 1);
        study.experiment.contenders[1].name = "a<b> & \"c\"".into();
        study.trials.pop();
        insta::assert_snapshot!(xml(&study), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="e1-php">
          <testsuite name="nginx" tests="6" failures="0" errors="0" skipped="2" time="20.000" timestamp="2026-07-01T12:00:00.250">
            <testcase classname="nginx" name="p99 &lt; 1s at 120/s" time="10.000"/>
            <testcase classname="nginx" name="errors &lt; 1% at 120/s" time="10.000"/>
            <testcase classname="nginx" name="verdict at 120/s" time="10.000"/>
            <testcase classname="nginx" name="p99 &lt; 1s at 480/s" time="10.000"><skipped message="p99 was at least 3.43 s; the objective was met in another trial"/></testcase>
            <testcase classname="nginx" name="errors &lt; 1% at 480/s" time="10.000"><skipped message="errors was 20.3 %; the objective was met in another trial"/></testcase>
            <testcase classname="nginx" name="verdict at 480/s" time="10.000"/>
          </testsuite>
          <testsuite name="a&lt;b&gt; &amp; &quot;c&quot;" tests="4" failures="0" errors="0" skipped="1" time="10.000" timestamp="2026-07-01T12:00:00.250">
            <testcase classname="a&lt;b&gt; &amp; &quot;c&quot;" name="p99 &lt; 1s at 120/s" time="10.000"/>
            <testcase classname="a&lt;b&gt; &amp; &quot;c&quot;" name="errors &lt; 1% at 120/s" time="10.000"/>
            <testcase classname="a&lt;b&gt; &amp; &quot;c&quot;" name="verdict at 120/s" time="10.000"/>
            <testcase classname="a&lt;b&gt; &amp; &quot;c&quot;" name="trial at 480/s" time="0.000"><skipped message="the trial was not made"/></testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
