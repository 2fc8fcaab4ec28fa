//! Writes a report for continuous integration in the format of `JUnit`.
//!
//! Out of scope: the content of the report ([`super`]).

use super::{CaseOutcome, TestCase, TestSuite};
use crate::xml::escaped;
use crate::{single, utc};
use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

/// Writes a run as `JUnit` XML, in the form of a study of one trial.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let (study, analysis) = single::study_of(run, judgement);
    write_study(&study, &analysis, out)
}

/// Writes a study as `JUnit` XML: one test suite for each contender, and for
/// the comparison.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{}\">", escaped(&study.experiment.name))?;
    for suite in super::suites(study, analysis) {
        write_suite(&suite, study, out)?;
    }
    writeln!(out, "</testsuites>")
}

fn write_suite(suite: &TestSuite, study: &Study, out: &mut dyn io::Write) -> io::Result<()> {
    let TestSuite { name, seconds, details, cases } = suite;
    let failed = cases.iter().filter(|case| is_failed(case)).count();
    let skipped = cases.iter().filter(|case| is_skipped(case)).count();
    let name = escaped(name);
    let started = utc::rfc3339(study.unix_seconds);
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\" \
         time=\"{seconds:.3}\" timestamp=\"{}\">",
        cases.len(),
        // The attribute has no time zone in the schema of JUnit.
        started.trim_end_matches('Z')
    )?;
    for case in cases {
        write_case(&name, case, out)?;
    }
    if !details.is_empty() {
        let lines: Vec<String> = details.lines().map(escaped).collect();
        // JUnit has no element for figures; CI servers such as Jenkins show this text.
        writeln!(out, "    <system-out>{}</system-out>", lines.join("\n"))?;
    }
    writeln!(out, "  </testsuite>")
}

fn write_case(suite: &str, case: &TestCase, out: &mut dyn io::Write) -> io::Result<()> {
    let head = format!(
        "    <testcase classname=\"{suite}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&case.name),
        case.seconds
    );
    match &case.outcome {
        CaseOutcome::Passed => writeln!(out, "{head}/>"),
        CaseOutcome::Failed(kind, message) => {
            writeln!(
                out,
                "{head}><failure type=\"{kind}\" message=\"{}\"/></testcase>",
                escaped(message)
            )
        }
        CaseOutcome::Skipped(why) | CaseOutcome::Doubtful(why) => {
            writeln!(out, "{head}><skipped message=\"{}\"/></testcase>", escaped(why))
        }
    }
}

fn is_failed(case: &TestCase) -> bool {
    matches!(case.outcome, CaseOutcome::Failed(..))
}

fn is_skipped(case: &TestCase) -> bool {
    matches!(case.outcome, CaseOutcome::Skipped(_) | CaseOutcome::Doubtful(_))
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
