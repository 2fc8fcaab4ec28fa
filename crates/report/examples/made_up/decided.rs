//! Made-up decisions about it: enough of everything for the page to show.

use brunt_model::analysis::{
    Band, BandedFigure, Bottleneck, ContenderAnalysis, Culprit, CurvePoint, LimitKind, LoadLimit,
    Outlier, Reason, Scalability,
};
use brunt_model::finding::{
    LimitingResource, OtherCause, Severity, State, ThresholdSide, UseOrigin,
};
use brunt_model::time::seconds_of;
use brunt_model::{Analysis, Finding, Judgement, Run, Study, Trial, TrialIndex};
use std::time::Duration;

/// What was decided about a trial: one of them was limited, one is invalid.
pub fn judgement(run: &Run, place: TrialIndex) -> Judgement {
    let mut judgement = Judgement::default();
    let high = run.throughput() > 320.0;
    judgement.bottleneck =
        Some(bottleneck(if high { Culprit::Workers } else { Culprit::NotFound }));
    if (place.repetition, place.contender, place.step) == (1, 1, 28) {
        judgement.verdict.state = State::Limited;
        judgement.verdict.causes.push(OtherCause {
            limit: LimitingResource::Cores,
            origin: UseOrigin::Generator,
            lasted: Duration::from_secs(3),
            sentence:
                "the machine, which the server shares, had 2 % of its cores left for 3 s of 20 s"
                    .into(),
            remedy: "put the server on another machine, or leave a core idle".into(),
        });
    }
    if (place.repetition, place.contender, place.step) == (2, 0, 29) {
        judgement.verdict.state = State::Invalid;
    }
    judgement
}

/// What was decided about all of it.
pub fn analysis(study: &Study) -> Analysis {
    let contenders = study.experiment.contenders.iter().enumerate();
    let finding = |rule: &str, weight, sentence: &str, remedy: Option<&str>| Finding {
        rule: rule.into(),
        severity: weight,
        sentence: sentence.into(),
        remedy: remedy.map(Into::into),
    };
    Analysis {
        contenders: contenders
            .map(|(index, contender)| analysed(study, index, &contender.name))
            .collect(),
        conclusions: vec![Finding::note(
            "faster",
            "nginx is 34.2 % faster than apache at 300/s (p50 48.0 ms against 73.0 ms, 95 % CI 29.0 to 38.0 %).",
        )],
        findings: vec![finding(
            "repetitions",
            Severity::Note,
            "A 95 % CI needs 6 repetitions (have 3); their range is shown.",
            Some("Use --repeat 6 or more."),
        )],
        ..Analysis::default()
    }
}

fn analysed(study: &Study, index: usize, name: &str) -> ContenderAnalysis {
    let steps = study.experiment.contenders[index].steps.len();
    let top = [385.0, 340.0][index % 2];
    ContenderAnalysis {
        contender: name.into(),
        curve: (0..steps).map(|step| point(study, index, step)).collect(),
        limits: limits(top),
        scalability: (index == 0).then(scalability),
        outliers: vec![Outlier {
            load: 320.0,
            repetition: Some(2),
            sentence: "At 320 /s repetition 3 has a p99 of 310 ms, the others 160 ms and 170 ms: look at its readings."
                .into(),
        }],
        bottleneck: Some(bottleneck(Culprit::Workers)),
    }
}

fn limits(top: f64) -> Vec<LoadLimit> {
    let limit = |kind, name: &str, at: Option<f64>, how: &str, robust| LoadLimit {
        kind,
        name: name.into(),
        at: at.map(|value| BandedFigure {
            value,
            low: value - 11.0,
            high: value + 9.0,
            band: Band::Range,
        }),
        unit: "/s".into(),
        how: how.into(),
        robust,
        held: None,
    };
    vec![
        limit(
            LimitKind::Knee,
            "knee",
            Some(top - 25.0),
            "Kneedle on the smoothed mean, over 20–600 /s.",
            Some(true),
        ),
        limit(
            LimitKind::Saturation,
            "saturation point",
            Some(top),
            "The greatest throughput that stays.",
            Some(false),
        ),
        limit(
            LimitKind::Kept,
            "99 % achieved",
            Some(top - 5.0),
            "The last load of which 99 % is achieved.",
            None,
        ),
        limit(
            LimitKind::Objective,
            "p99 < 1s",
            Some(top - 5.0),
            "The highest load up to which it holds.",
            None,
        ),
        limit(
            LimitKind::Patience,
            "p99 < 10s",
            None,
            "No load of the range had a p99 above 10 s.",
            None,
        ),
    ]
}

fn scalability() -> Scalability {
    let banded = |value: f64| BandedFigure {
        value,
        low: value * 0.9,
        high: value * 1.2,
        band: Band::WithinRun,
    };
    Scalability {
        lambda: banded(19.4),
        sigma: banded(0.021),
        kappa: banded(0.000_31),
        peak: Some(banded(56.0)),
        r_squared: 0.993,
        caution: "A fit is no proof: it says nothing beyond the loads that were measured.".into(),
    }
}

fn bottleneck(culprit: Culprit) -> Bottleneck {
    let sentence = match culprit {
        Culprit::Workers => "all 20 php-fpm children busy, 511 requests queued",
        _ => "no examined resource was at its limit",
    };
    Bottleneck {
        culprit,
        sentence: sentence.into(),
        evidence: vec![Reason {
            culprit: Culprit::Workers,
            source: "php-fpm:www".into(),
            name: "workers.busy".into(),
            value: 20.0,
            threshold: 19.5,
            side: ThresholdSide::AtLeast,
        }],
        others: Vec::new(),
    }
}

/// The median of the trials of a step, between the lowest and the highest.
fn point(study: &Study, contender: usize, step: usize) -> CurvePoint {
    let trials: Vec<&Trial> = study.trials_of(contender).filter(|t| t.place.step == step).collect();
    let over = |of: &dyn Fn(&Run) -> f64| {
        let mut values: Vec<f64> = trials.iter().map(|t| of(&t.run)).collect();
        values.sort_by(f64::total_cmp);
        BandedFigure {
            value: values[values.len() / 2],
            low: values[0],
            high: values[values.len() - 1],
            band: Band::Range,
        }
    };
    let quantile = |q: f64| over(&|run| seconds_of(run.total.response_quantile(q).value));
    CurvePoint {
        load: study.experiment.contenders[contender].steps[step].load,
        trials: trials.len() as u32,
        offered: Some(over(&|run| run.per_second(run.flow.planned))),
        achieved: over(&Run::throughput),
        mean: Some(over(&|run| run.total.response.mean() / 1e9)),
        p50: Some(quantile(0.5)),
        p95: Some(quantile(0.95)),
        p99: Some(quantile(0.99)),
        errors: Some(over(&|run| run.total.error_share())),
        others: Vec::new(),
    }
}
