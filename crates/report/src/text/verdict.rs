//! What was decided about the run: whether the generator was the bottleneck, when it was steady, and the findings.

use super::fit::Part;
use super::{Report, notes};
use crate::layout::{clause, clean, width};
use crate::view::{Detail, Emphasis, View};
use brunt_model::finding::{Cause, Evidence, Side, State, Verdict, Weight};
use brunt_model::numbers::{span, three};
use brunt_model::{Finding, Judgement};

/// From when on the run was steady.
pub fn steady(report: &Report) -> String {
    let Some(steady) = &report.judgement.steady else { return String::new() };
    let text = match (steady.reached, steady.cut.as_secs_f64()) {
        (false, _) => format!("not reached ({})", steady.method),
        (true, 0.0) => format!("from the beginning ({})", steady.method),
        (true, cut) => format!("after {} ({})", span(cut), steady.method),
    };
    report.view.entry("Steady state", &text)
}

/// Findings, and warnings of the run.
pub fn findings(report: &Report) -> Part {
    let view = report.view;
    let mut rows: Vec<String> = report.judgement.findings.iter().map(|of| finding(view, of)).collect();
    rows.extend(notes::warnings(report.run).map(|warning| view.hang("- ", &clean(warning))));
    if rows.is_empty() {
        Part::default()
    } else {
        Part { fixed: view.paint(Emphasis::Strong, "Findings") + "\n", rows }
    }
}

/// In brief, a note is one line: its remedy is left out.
fn finding(view: &View, finding: &Finding) -> String {
    let is_note = finding.weight == Weight::Note;
    let lead = if is_note { "- ".into() } else { view.paint(Emphasis::Warning, "! ") };
    let sentence = clean(&finding.sentence);
    if is_note && view.detail == Detail::Brief {
        return line(view, &lead, &sentence);
    }
    let remedy = finding.remedy.as_ref().map(|remedy| view.hang("  ", &format!("-> {}", clean(remedy))));
    view.hang(&lead, &sentence) + &remedy.unwrap_or_default()
}

/// A sentence in a list: in brief, on a terminal, as much of it as a line holds.
fn line(view: &View, lead: &str, sentence: &str) -> String {
    match (view.detail, view.lines) {
        (Detail::Brief, Some(_)) => format!("{lead}{}\n", clause(sentence, view.columns.saturating_sub(width(lead)))),
        _ => view.hang(lead, sentence),
    }
}

/// The verdict on the generator, and on the figures.
pub fn section(report: &Report) -> String {
    let (view, judgement) = (report.view, report.judgement);
    let verdict = &judgement.verdict;
    if *verdict == Verdict::default() && judgement.checks.is_empty() {
        return String::new();
    }
    let broken: String = broken(judgement).map(|reason| line(view, "  ", &reason)).collect();
    let causes: String = verdict.causes.iter().map(|cause| self::cause(view, verdict, cause)).collect();
    let (word, rest) = headline(judgement);
    let rest = if view.detail == Detail::Full { rest + &passed(judgement) } else { rest };
    let headline = format!("{}{}", view.paint(emphasis(verdict.state), word), clean(&rest));
    view.entry("Verdict", &headline) + &broken + &causes + &unseen(view, verdict)
}

fn emphasis(state: State) -> Emphasis {
    match state {
        State::Ok => Emphasis::Good,
        State::Unjudged | State::BusyMachine | State::Unexplained | State::Limited => Emphasis::Warning,
        State::Invalid => Emphasis::Bad,
    }
}

/// Consistency checks that failed, with their arithmetic.
pub fn broken(judgement: &Judgement) -> impl Iterator<Item = String> {
    let broken = judgement.checks.iter().filter(|check| !check.holds);
    broken.map(|check| format!("{}: {}", check.name, check.arithmetic))
}

fn passed(judgement: &Judgement) -> String {
    let all_hold = judgement.verdict.state == State::Ok;
    if all_hold { format!("; {} consistency checks passed", judgement.checks.len()) } else { String::new() }
}

/// The verdict: its word, and the rest of the sentence, with the gravest cause.
pub fn headline(judgement: &Judgement) -> (&'static str, String) {
    let verdict = &judgement.verdict;
    let cause = verdict.causes.first().map_or("", |cause| cause.sentence.as_str());
    match verdict.state {
        State::Ok => ("OK", ": the load generator was not the bottleneck".into()),
        State::Unjudged => ("NO GOOD REPLY", ": no basis to judge the server or the generator".into()),
        State::BusyMachine => ("BUSY MACHINE", format!(": {cause}")),
        State::Unexplained => ("UNEXPLAINED LAG", format!(": {cause}")),
        State::Limited => ("LIMITED BY THE GENERATOR", format!(": {cause}")),
        State::Invalid if cause.is_empty() => ("INVALID", ": consistency check failed; discard this run".into()),
        State::Invalid => ("INVALID", format!(": consistency check failed; discard this run. In addition: {cause}")),
    }
}

/// The causes that the headline does not name.
pub fn further_causes(verdict: &Verdict) -> impl Iterator<Item = &Cause> {
    verdict.causes.iter().skip(1)
}

/// A cause below the headline: its sentence unless the headline has it, its evidence, and its remedy.
fn cause(view: &View, verdict: &Verdict, cause: &Cause) -> String {
    let is_in_headline = verdict.causes.first() == Some(cause);
    let sentence = if is_in_headline { String::new() } else { line(view, "  ", &clean(&cause.sentence)) };
    let evidence = verdict.evidence.iter().filter(|e| e.limit == cause.limit && view.detail == Detail::Full);
    let evidence: String = evidence.map(|evidence| view.hang("     ", &figure(evidence))).collect();
    let remedy = line(view, "  -> ", &clean(&cause.remedy));
    sentence + &evidence + &remedy
}

fn figure(evidence: &Evidence) -> String {
    let side = match evidence.side {
        Side::AtLeast => "≥",
        Side::Below => "<",
    };
    let is_share = evidence.name.contains(", share") && !evidence.name.ends_with("seconds");
    let number = |value: f64| if is_share { format!("{:.1} %", value * 100.0) } else { three(value) };
    format!("{}: {} (threshold: {side} {})", evidence.name, number(evidence.value), number(evidence.threshold))
}

fn unseen(view: &View, verdict: &Verdict) -> String {
    if verdict.unseen.is_empty() || view.detail == Detail::Brief {
        return String::new();
    }
    view.hang("  ", &format!("not seen here: {}", verdict.unseen.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Run;
    use brunt_model::finding::{Check, Limit, Origin, Steady};
    use insta::assert_snapshot;
    use std::time::Duration;

    #[test]
    fn a_limited_run_says_by_what_and_what_to_do() {
        let cause = Cause {
            limit: Limit::Worker,
            origin: Origin::Generator,
            lasted: Duration::from_millis(8200),
            sentence: "the worker thread used 99.7 % of a core".into(),
            remedy: "--threads 2, or another machine".into(),
        };
        let evidence = Evidence {
            limit: Limit::Worker,
            name: "busiest worker, cores".into(),
            value: 0.997,
            threshold: 0.98,
            side: Side::AtLeast,
        };
        let unseen = vec!["conntrack is not loaded".into()];
        let causes = vec![cause];
        let verdict = Verdict { state: State::Limited, causes, evidence: vec![evidence], unseen, ..Verdict::default() };
        let finding = |weight, sentence: &str, remedy: Option<&str>| Finding {
            rule: "x".into(),
            weight,
            sentence: sentence.into(),
            remedy: remedy.map(Into::into),
        };
        let told = vec![
            finding(Weight::Warning, "the rate is set by the think time", Some("-r 100")),
            finding(Weight::Note, "client and server share this machine", None),
        ];
        let steady_state = Some(Steady { cut: Duration::from_secs(2), reached: true, method: "MSER-5".into() });
        let judgement = Judgement { verdict, findings: told, steady: steady_state, ..Judgement::default() };
        let (run, view) = (Run::default(), View::default().in_full());
        let report = Report { run: &run, judgement: &judgement, view: &view };
        let findings = findings(&report);
        let text = [steady(&report), findings.fixed + &findings.rows.concat(), section(&report)].join("\n");
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
    fn broken_sums_are_shown_with_their_arithmetic() {
        let check =
            |name: &str, holds, arithmetic: &str| Check { name: name.into(), holds, arithmetic: arithmetic.into() };
        let checks =
            vec![check("a", true, "1 = 1"), check("begun requests", false, "10 begun = 8 completed + 1 failed")];
        let verdict = Verdict { state: State::Invalid, ..Verdict::default() };
        let judgement = Judgement { verdict, checks, ..Judgement::default() };
        let report = Report { run: &Run::default(), judgement: &judgement, view: &View::default() };
        assert_snapshot!(section(&report), @r#"
        Verdict        INVALID: consistency check failed; discard this run
          begun requests: 10 begun = 8 completed + 1 failed
        "#);
    }
}
