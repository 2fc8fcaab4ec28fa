//! What was decided about the run: when it was steady, what its reader should be told, and whether the generator was the bottleneck.

use crate::figures::{span, three};
use crate::layout::{clean, entry, hang};
use brunt_model::Judgement;
use brunt_model::finding::{Evidence, Side, State, Verdict, Weight};

/// From when on the run was steady.
pub fn steady(judgement: &Judgement) -> String {
    let Some(steady) = &judgement.steady else { return String::new() };
    let text = match (steady.reached, steady.cut.as_secs_f64()) {
        (false, _) => format!("never became steady ({})", steady.method),
        (true, 0.0) => format!("from the beginning ({})", steady.method),
        (true, cut) => format!("after {} ({})", span(cut), steady.method),
    };
    entry("Steady state", &text)
}

/// What the reader would otherwise miss.
pub fn findings(judgement: &Judgement) -> String {
    let lines = judgement.findings.iter().map(|finding| {
        let lead = if finding.weight == Weight::Warning { "! " } else { "- " };
        let remedy = finding.remedy.iter().map(|remedy| hang("  ", &format!("-> {}", clean(remedy))));
        hang(lead, &clean(&finding.sentence)) + &remedy.collect::<String>()
    });
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("Findings\n{lines}") }
}

/// The verdict on the generator, and on the figures.
pub fn section(judgement: &Judgement) -> String {
    let verdict = &judgement.verdict;
    if *verdict == Verdict::default() && judgement.checks.is_empty() {
        return String::new();
    }
    let broken: String = judgement
        .checks
        .iter()
        .filter(|check| !check.holds)
        .map(|check| hang("  ", &format!("{}: {}", check.name, check.arithmetic)))
        .collect();
    entry("Verdict", &headline(verdict, judgement.checks.len())) + &broken + &causes(verdict) + &unseen(verdict)
}

fn headline(verdict: &Verdict, checks: usize) -> String {
    let causes = verdict.causes.iter().map(|cause| cause.limit.words()).collect::<Vec<_>>().join("; ");
    match verdict.state {
        State::Ok => format!("OK: the load generator was not the bottleneck; {checks} consistency checks passed"),
        State::Unjudged => "NO GOOD REPLY: there is nothing to judge the server or the generator by".into(),
        State::Limited => format!("LIMITED BY {causes}"),
        State::Invalid if causes.is_empty() => "INVALID: consistency check failed; discard this run".into(),
        State::Invalid => format!("INVALID: consistency check failed; discard this run. LIMITED BY {causes}"),
    }
}

fn causes(verdict: &Verdict) -> String {
    let cause = |cause: &brunt_model::finding::Cause| {
        let evidence = verdict.evidence.iter().filter(|e| e.limit == cause.limit).map(figure);
        let evidence = evidence.map(|text| hang("     ", &text)).collect::<String>();
        hang("  ", &clean(&cause.sentence)) + &evidence + &hang("  ", &format!("-> {}", clean(&cause.remedy)))
    };
    verdict.causes.iter().map(cause).collect()
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

fn unseen(verdict: &Verdict) -> String {
    if verdict.unseen.is_empty() {
        return String::new();
    }
    hang("  ", &format!("not seen here: {}", verdict.unseen.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Finding;
    use brunt_model::finding::{Cause, Check, Limit, Steady};
    use insta::assert_snapshot;
    use std::time::Duration;

    #[test]
    fn a_limited_run_says_by_what_and_what_to_do() {
        let cause = Cause {
            limit: Limit::Worker,
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
        let verdict = Verdict { state: State::Limited, causes: vec![cause], evidence: vec![evidence], unseen };
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
        let text = [steady, findings, section].map(|section| section(&judgement)).join("\n");
        assert_snapshot!(text, @r#"
        Steady state after 2 s (MSER-5)

        Findings
        ! the rate is set by the think time
          -> -r 100
        - client and server share this machine

        Verdict      LIMITED BY a worker thread that had no time left
          the worker thread used 99.7 % of a core
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
        assert_snapshot!(section(&Judgement { verdict, checks, ..Judgement::default() }), @r#"
        Verdict      INVALID: consistency check failed; discard this run
          begun requests: 10 begun = 8 completed + 1 failed
        "#);
    }
}
