//! Writes the judgement of the run: the verdict on the generator, the steady
//! state, and the findings.

use super::{ReportSection, RunReport, notes};
use crate::outline::block::{Fact, ListItem, ListMark, Remark, ReportBlock, Words};
use crate::outline::items;
use crate::texts::message;
use crate::view::{Detail, Emphasis};
use brunt_model::finding::{FigureEvidence, OtherCause, State, ThresholdSide, Verdict};
use brunt_model::numbers::{span, three_digits};
use brunt_model::text::Value;
use brunt_model::{Judgement, Text, text};

/// Returns the start of the steady state.
pub fn steady(report: &RunReport) -> Option<Fact> {
    let steady = report.judgement.steady.as_ref()?;
    let method = steady.method.clone();
    let text = match (steady.reached, steady.cut.as_secs_f64()) {
        (false, _) => message!("steady.not-reached", method),
        (true, 0.0) => message!("steady.from-beginning", method),
        (true, cut) => message!("steady.after", time = span(cut), method),
    };
    Some(Fact::new(message!("steady"), text))
}

/// Returns the findings, and the warnings of the run. In a brief report, a note has no remedy.
pub fn findings(report: &RunReport) -> ReportSection {
    let mut items = items(&report.judgement.findings);
    for item in items
        .iter_mut()
        .filter(|item| item.mark == ListMark::Note && report.detail == Detail::Brief)
    {
        item.remedy = None;
    }
    items.extend(notes::warnings(report.run).map(|warning| ListItem::plain(warning.as_str())));
    if items.is_empty() {
        return ReportSection::new();
    }
    vec![ReportBlock::Heading("Findings".into()), ReportBlock::List(items)]
}

/// Returns the verdict of a judged run; None if the run was not judged.
pub fn of_judged(report: &RunReport) -> Option<Fact> {
    // The default belongs to a run that was not judged; its state would read as a verdict.
    let is_judged =
        report.judgement.verdict != Verdict::default() || !report.judgement.checks.is_empty();
    is_judged.then(|| fact(report))
}

/// Returns the verdict on the generator and on the figures.
pub fn fact(report: &RunReport) -> Fact {
    let judgement = report.judgement;
    let verdict = &judgement.verdict;
    let is_full = report.detail == Detail::Full;
    let mut clauses = vec![headline(judgement)];
    clauses.extend(passed_checks(judgement).filter(|_| is_full));
    let failed = failed_checks(judgement).map(Remark::Reason);
    let causes =
        verdict.causes.iter().flat_map(|cause| remarks_of_cause(verdict, cause, report.detail));
    let unseen = (is_full && !verdict.unseen.is_empty()).then(|| {
        Remark::Unseen(text!("verdict.unseen", unseen = Value::Series(verdict.unseen.clone())))
    });
    Fact {
        key: text!("verdict"),
        lines: vec![
            Words::emphasized(emphasis(verdict.state), state_name(judgement))
                .and(": ")
                .and(text::series(clauses)),
        ],
        remarks: failed.chain(causes).chain(unseen).collect(),
        may_be_cut: false,
    }
}

fn emphasis(state: State) -> Emphasis {
    match state {
        State::Ok => Emphasis::Good,
        State::Unjudged | State::BusyMachine | State::Unexplained | State::Limited => {
            Emphasis::Warning
        }
        State::Invalid => Emphasis::Bad,
    }
}

/// Returns the failed consistency checks, with their arithmetic.
pub fn failed_checks(judgement: &Judgement) -> impl Iterator<Item = Text> {
    let failed = judgement.checks.iter().filter(|check| !check.holds);
    failed.map(|check| {
        message!("failed-check", check = check.name.clone(), arithmetic = check.arithmetic.clone())
    })
}

fn passed_checks(judgement: &Judgement) -> Option<Text> {
    let all_hold = judgement.verdict.state == State::Ok;
    all_hold.then(|| text!("verdict.checks-passed", count = judgement.checks.len()))
}

/// Returns the name of the verdict.
fn state_name(judgement: &Judgement) -> Text {
    match judgement.verdict.state {
        State::Ok => text!("verdict.state-ok"),
        State::Unjudged => text!("verdict.state-unjudged"),
        State::BusyMachine => text!("verdict.state-busy-machine"),
        State::Unexplained => text!("verdict.state-unexplained"),
        State::Limited => text!("verdict.state-limited"),
        State::Invalid => text!("verdict.state-invalid"),
    }
}

/// Returns the reason of the verdict, with the most serious cause.
fn headline(judgement: &Judgement) -> Text {
    let verdict = &judgement.verdict;
    let cause = verdict.causes.first().map(|cause| cause.sentence.clone());
    match (verdict.state, cause) {
        (State::Ok, _) => text!("verdict.ok"),
        (State::Unjudged, _) => text!("verdict.unjudged"),
        (State::BusyMachine | State::Unexplained | State::Limited, cause) => {
            cause.unwrap_or_default()
        }
        (State::Invalid, Some(cause)) if judgement.is_load_missing() => {
            text!("verdict.load-missing", cause)
        }
        (State::Invalid, None) => text!("verdict.check-failed"),
        (State::Invalid, Some(cause)) => text!("verdict.check-failed-and-cause", cause),
    }
}

/// Returns the remarks on a cause: its sentence unless the headline has it, its
/// evidence, and its remedy.
fn remarks_of_cause(verdict: &Verdict, cause: &OtherCause, detail: Detail) -> Vec<Remark> {
    let is_in_headline = verdict.causes.first() == Some(cause);
    let sentence = (!is_in_headline).then(|| Remark::Reason(cause.sentence.clone()));
    let evidence =
        verdict.evidence.iter().filter(|e| e.limit == cause.limit && detail == Detail::Full);
    let evidence = evidence.map(|evidence| Remark::Evidence(figure(evidence).into()));
    let remedy = [Remark::Remedy(cause.remedy.clone())];
    sentence.into_iter().chain(evidence).chain(remedy).collect()
}

fn figure(evidence: &FigureEvidence) -> String {
    let side = match evidence.side {
        ThresholdSide::AtLeast => "≥",
        ThresholdSide::Below => "<",
    };
    let is_share = evidence.name.contains(", share") && !evidence.name.ends_with("seconds");
    let threshold = evidence_value(evidence.threshold, is_share);
    format!(
        "{}: {} (threshold: {side} {threshold})",
        evidence.name,
        evidence_value(evidence.value, is_share)
    )
}

fn evidence_value(value: f64, is_share: bool) -> String {
    if is_share { format!("{:.1} %", value * 100.0) } else { three_digits(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use brunt_model::finding::{ConsistencyCheck, LimitingResource, Severity, Steady, UseOrigin};
    use brunt_model::{Finding, Run};
    use insta::assert_snapshot;
    use std::time::Duration;

    #[test]
    fn a_limited_run_has_its_cause_and_remedy() {
        let cause = OtherCause {
            limit: LimitingResource::Worker,
            origin: UseOrigin::Generator,
            lasted: Duration::from_millis(8200),
            sentence: "the worker thread used 99.7 % of a core".into(),
            remedy: "--threads 2, or another machine".into(),
        };
        let evidence = FigureEvidence {
            limit: LimitingResource::Worker,
            name: "busiest worker, cores".into(),
            value: 0.997,
            threshold: 0.98,
            side: ThresholdSide::AtLeast,
        };
        let unseen = vec!["conntrack is not loaded".into()];
        let causes = vec![cause];
        let verdict = Verdict {
            state: State::Limited,
            causes,
            evidence: vec![evidence],
            unseen,
            ..Verdict::default()
        };
        let finding = |weight, sentence: &str, remedy: Option<&str>| Finding {
            rule: "x".into(),
            severity: weight,
            sentence: sentence.into(),
            remedy: remedy.map(Into::into),
        };
        let told = vec![
            finding(Severity::Warning, "the rate is set by the think time", Some("-r 100")),
            finding(Severity::Note, "client and server share this machine", None),
        ];
        let steady_state =
            Some(Steady { cut: Duration::from_secs(2), reached: true, method: "MSER-5".into() });
        let judgement =
            Judgement { verdict, findings: told, steady: steady_state, ..Judgement::default() };
        let report =
            RunReport { run: &Run::default(), judgement: &judgement, detail: Detail::Full };
        let mut blocks = vec![ReportBlock::Facts(steady(&report).into_iter().collect())];
        blocks.extend(findings(&report));
        blocks.push(ReportBlock::Facts(vec![fact(&report)]));
        let text = crate::text::of_outline(&View::default().in_full(), &blocks);
        assert_snapshot!(text, @r#"
        Steady state   after 2 s (MSER-5)

        Findings
        ! the rate is set by the think time
          -> -r 100
        - client and server share this machine

        Verdict        LIMITED BY THE GENERATOR: the worker thread used 99.7 % of a core
             busiest worker, cores: 0.997 (threshold: ≥ 0.980)
          -> --threads 2, or another machine
          not seen here: conntrack is not loaded
        "#);
    }

    #[test]
    fn failed_checks_are_shown_with_their_arithmetic() {
        let check = |name: &str, holds, arithmetic: &str| ConsistencyCheck {
            name: name.into(),
            holds,
            arithmetic: arithmetic.into(),
        };
        let checks = vec![
            check("a", true, "1 = 1"),
            check("begun requests", false, "10 begun = 8 completed + 1 failed"),
        ];
        let verdict = Verdict { state: State::Invalid, ..Verdict::default() };
        let judgement = Judgement { verdict, checks, ..Judgement::default() };
        let report =
            RunReport { run: &Run::default(), judgement: &judgement, detail: Detail::Brief };
        let blocks = [ReportBlock::Facts(vec![fact(&report)])];
        assert_snapshot!(crate::text::of_outline(&View::default(), &blocks), @r#"
        Verdict        INVALID: consistency check failed; discard this run
          begun requests: 10 begun = 8 completed + 1 failed
        "#);
    }
}
