//! Writes a report as commands of GitHub Actions, which shows them as annotations of the job.
//!
//! A failed case is an error, a doubtful figure and a warning about a run are warnings, and the answer is
//! a notice. Commands and their escapes:
//! <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>.
//!
//! Out of scope: the content of the report ([`super`]), and the job summary, which is Markdown.

use super::{CaseOutcome, JobSummary, TestCase, TestSuite};
use crate::single;
use brunt_model::finding::Severity;
use brunt_model::{Analysis, Finding, Judgement, Run, Study};
use std::io;

/// The summary of a job. GitHub rejects the summary of a step above 1 MiB as a whole.
pub const JOB_SUMMARY: JobSummary = JobSummary {
    variable: "GITHUB_STEP_SUMMARY",
    format: "markdown",
    limit: 1 << 20,
    cut: "\n**The report is longer than a job summary.** The option `-o html=FILE` writes all of it.\n",
};

/// Maximum number of annotations of a level that GitHub shows for a step.
const MAX_ANNOTATIONS: usize = 10;

/// Level of an annotation.
#[derive(Clone, Copy)]
enum Level {
    Error,
    Warning,
    Notice,
}

/// A message with its title.
struct Annotation {
    title: String,
    message: String,
}

/// Writes the annotations of a run.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    // A run has the cases of a study of one trial, as in JUnit.
    let (study, analysis) = single::study_of(run, judgement);
    write_study(&study, &analysis, out)
}

/// Writes the annotations of a study: errors, warnings, notices.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let suites = super::suites(study, analysis);
    let doubtful = of_cases(&suites, doubtful);
    let findings = analysis.findings.iter().filter(|f| f.severity == Severity::Warning);
    // The name of a finding leads to its explanation in docs/findings.md.
    let findings = findings.map(|finding| of_finding(&finding.rule, finding));
    let warnings = doubtful.into_iter().chain(findings);
    let name = &study.experiment.name;
    let answers = analysis.conclusions.iter().map(|answer| of_finding(name, answer));
    write_level(Level::Error, of_cases(&suites, failure), out)?;
    write_level(Level::Warning, warnings.collect(), out)?;
    write_level(Level::Notice, answers.collect(), out)
}

/// Returns an annotation for each case with a message. Its title names the suite if there are
/// several.
fn of_cases(suites: &[TestSuite], message: fn(&TestCase) -> Option<&str>) -> Vec<Annotation> {
    let mut annotations = Vec::new();
    for suite in suites {
        for case in &suite.cases {
            let Some(message) = message(case) else { continue };
            let title = match suites {
                [_only] => case.name.clone(),
                _ => format!("{}: {}", suite.name, case.name),
            };
            annotations.push(Annotation { title, message: message.to_owned() });
        }
    }
    annotations
}

fn failure(case: &TestCase) -> Option<&str> {
    if let CaseOutcome::Failed(_, message) = &case.outcome { Some(message) } else { None }
}

fn doubtful(case: &TestCase) -> Option<&str> {
    if let CaseOutcome::Doubtful(message) = &case.outcome { Some(message) } else { None }
}

fn of_finding(title: &str, finding: &Finding) -> Annotation {
    let remedy = finding.remedy.as_ref().map_or(String::new(), |remedy| format!("\n-> {remedy}"));
    Annotation { title: title.to_owned(), message: format!("{}{remedy}", finding.sentence) }
}

/// Writes the annotations of a level. GitHub omits further ones in silence, so the last one counts
/// them.
fn write_level(
    level: Level,
    mut annotations: Vec<Annotation>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    if annotations.len() > MAX_ANNOTATIONS {
        let rest = annotations.len() - (MAX_ANNOTATIONS - 1);
        annotations.truncate(MAX_ANNOTATIONS - 1);
        annotations.push(Annotation {
            title: format!("{rest} more"),
            message: format!("{rest} more messages of this kind are in the report"),
        });
    }
    let command = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    for Annotation { title, message } in annotations {
        writeln!(out, "::{command} title={}::{}", escaped_property(&title), escaped(&message))?;
    }
    Ok(())
}

/// Escapes a message, so that it stays on one line and is no other command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which ends at a comma or a colon.
fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;
    use brunt_model::finding::State;

    fn annotations(study: &Study, analysis: &Analysis) -> String {
        let mut out = Vec::new();
        write_study(study, analysis, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_escaped_as_the_runner_decodes_them() {
        assert_eq!(escaped("50 %\r\n::stop-commands::x"), "50 %25%0D%0A::stop-commands::x");
        assert_eq!(escaped_property("a: b, 5%"), "a%3A b%2C 5%25");
    }

    #[test]
    fn a_missed_requirement_is_an_error_and_a_doubtful_figure_a_warning() {
        let (study, analysis) = story::comparison::compared();
        insta::assert_snapshot!(annotations(&study, &analysis));
        let (mut study, _) = story::sweep_of(&[120.0], 1);
        study.trials[0].judgement.verdict.state = State::Limited;
        let lines = annotations(&study, &Analysis::default());
        assert!(
            lines.starts_with("::warning title=nginx%3A verdict at 120/s::the generator"),
            "{lines}"
        );
        study.environment.strict = true;
        let lines = annotations(&study, &Analysis::default());
        assert!(
            lines.starts_with("::error title=nginx%3A verdict at 120/s::the generator"),
            "{lines}"
        );
    }

    #[test]
    fn a_line_break_in_a_name_begins_no_command() {
        let (mut study, analysis) = story::sweep_of(&[120.0], 1);
        study.experiment.name = "x\n::add-mask::y".into();
        study.experiment.contenders[0].name = "a\n::stop-commands::b".into();
        study.environment.strict = true;
        study.trials[0].judgement.verdict.state = State::Limited;
        let lines = annotations(&study, &analysis);
        let is_command = |line: &str| {
            ["::error title=", "::warning title=", "::notice title="]
                .iter()
                .any(|command| line.starts_with(command))
        };
        assert!(lines.contains("stop-commands") && lines.lines().all(is_command), "{lines}");
    }

    #[test]
    fn the_last_of_many_annotations_counts_the_others() {
        for (number, last) in [(10, "message 9"), (11, "2 more messages of this kind")] {
            let one = |number: usize| Annotation {
                title: "t".into(),
                message: format!("message {number}"),
            };
            let mut out = Vec::new();
            write_level(Level::Warning, (0..number).map(one).collect(), &mut out).unwrap();
            let lines = String::from_utf8(out).unwrap();
            assert_eq!(lines.lines().count(), 10);
            assert!(lines.lines().last().is_some_and(|line| line.contains(last)), "{lines}");
        }
    }
}
