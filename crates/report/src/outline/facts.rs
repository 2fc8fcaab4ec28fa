//! Describes the setup of a study: trials, contenders, start time and machine.

use super::block::Fact;
use crate::utc::rfc3339;
use brunt_model::experiment::TrialOrder;
use brunt_model::numbers::{plural, span};
use brunt_model::{Environment, Study};

/// Returns the facts of a study that its reader needs first.
pub fn of(study: &Study) -> Vec<Fact> {
    let experiment = &study.experiment;
    let mut facts = vec![Fact::new("Trials", trials(study))];
    let names =
        experiment.contenders.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    facts.push(Fact::new("Contenders", names));
    let started = rfc3339(study.unix_seconds);
    let id = study.id.as_ref().map_or(String::new(), |id| format!(", saved as {id}"));
    facts.push(Fact::new("Started", format!("{started}{id}")));
    facts.push(Fact::new("Generator", machine(&study.environment)));
    facts
}

fn trials(study: &Study) -> String {
    let experiment = &study.experiment;
    if experiment.has_search() {
        let measured: f64 = study.trials.iter().map(|trial| trial.run.measured_seconds()).sum();
        let chosen = "loads chosen adaptively";
        return format!(
            "{}, {chosen}, {} measured",
            plural(study.trials.len() as u64, "trial"),
            span(measured.round())
        );
    }
    let steps = experiment.contenders.iter().map(|c| c.steps.len()).max().unwrap_or(0);
    let order = match experiment.order {
        TrialOrder::Interleaved => "interleaved",
        TrialOrder::Blocks => "in blocks",
        TrialOrder::Random => "in random order",
    };
    let several = experiment.contenders.iter().any(|c| c.steps.len() != steps);
    let each = format!("{}{}", if several { "up to " } else { "" }, plural(steps as u64, "load"));
    let contenders = plural(experiment.contenders.len() as u64, "contender");
    let repetitions = plural(u64::from(experiment.repetitions), "repetition");
    let measured = study.trials.first().map_or(0.0, |t| t.run.measured_seconds());
    let most = if experiment.may_end_early() { "at most " } else { "" };
    format!(
        "{} of {most}{}: {contenders} × {each} × {repetitions}, {order}, {} each",
        study.trials.len(),
        experiment.trials(),
        span(if measured < 1.0 { (measured * 100.0).round() / 100.0 } else { measured.round() })
    )
}

/// Returns the program that measured, and the machine on which it ran.
pub fn machine(e: &Environment) -> String {
    let parts = [
        format!("brunt {}", e.brunt),
        plural(u64::from(e.cores), "core"),
        e.cpu.clone(),
        e.kernel.clone(),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns a note if trials are missing.
pub fn unfinished(study: &Study) -> Option<String> {
    let completed = study.trials.len();
    let planned = study.experiment.trials();
    if study.experiment.has_search() {
        return study.interrupted.then(|| "the search is incomplete".to_owned());
    }
    (study.interrupted || !study.is_complete())
        .then(|| format!("the experiment is incomplete: {completed} of {planned} trials"))
}
