//! Number of trials of an experiment, and an estimate of its duration.

use brunt_model::{Experiment, Load, Plan, Population, Question};
use std::time::Duration;

/// Returns a sentence such as `2 contenders × 30 steps × 3 repetitions = 180 trials, about
/// 1 h 45 min`.
pub fn sentence(experiment: &Experiment) -> String {
    // The number of trials is unknown: each search chooses its own.
    if let (Question::Compare(_), Some(find)) = (&experiment.question, experiment.find()) {
        let searches = u32::try_from(experiment.contenders.len())
            .unwrap_or(u32::MAX)
            .saturating_mul(experiment.repetitions);
        let contenders = count_text(experiment.contenders.len(), "contender");
        let repetitions = count_text(experiment.repetitions as usize, "repetition");
        let given_loads: Duration =
            // The first step is the pattern, which is not measured.
            experiment.contenders.iter().flat_map(|c| &c.steps[1..]).filter_map(|s| trial(&s.plan)).sum();
        let all = find.within * searches + given_loads * experiment.repetitions;
        return format!(
            "{contenders} × a search × {repetitions}, at most about {}",
            duration_text(all)
        );
    }
    if let Question::Find(find) = &experiment.question {
        let contenders = u32::try_from(experiment.contenders.len()).unwrap_or(u32::MAX);
        let contenders_text = count_text(experiment.contenders.len(), "contender");
        return format!(
            "a search of {contenders_text}, at most about {}",
            duration_text(find.within * contenders)
        );
    }
    let step_counts = experiment.contenders.iter().map(|contender| contender.steps.len());
    let least = step_counts.clone().min().unwrap_or(0);
    let most = step_counts.max().unwrap_or(0);
    let steps =
        if least == most { count_text(most, "step") } else { format!("{least} to {most} steps") };
    let contenders = count_text(experiment.contenders.len(), "contender");
    let repetitions = count_text(experiment.repetitions as usize, "repetition");
    let trials = count_text(experiment.trials(), "trial");
    format!("{contenders} × {steps} × {repetitions} = {trials}, {}", time(experiment))
}

/// Total time of the plans and the pauses between them. The start-up time of servers is unknown, so
/// it is left out.
fn time(experiment: &Experiment) -> String {
    let once: Duration = plans(experiment).filter_map(trial).sum();
    // Before the first trial there is no pause.
    let rests = u32::try_from(experiment.trials().saturating_sub(1)).unwrap_or(u32::MAX);
    let all = once
        .saturating_mul(experiment.repetitions)
        .saturating_add(experiment.cooldown.saturating_mul(rests));
    let about = match () {
        () if plans(experiment).all(|plan| trial(plan).is_none()) => {
            return "for as long as the servers take".to_owned();
        }
        () if plans(experiment).any(|plan| trial(plan).is_none()) => "at least",
        // Comparisons and goals end the trials as soon as the result is decided.
        () if experiment.may_end_early() || plans(experiment).any(|plan| plan.until.is_some()) => {
            "at most about"
        }
        () => "about",
    };
    format!("{about} {}", duration_text(all))
}

fn plans(experiment: &Experiment) -> impl Iterator<Item = &Plan> {
    experiment.contenders.iter().flat_map(|contender| &contender.steps).map(|step| &step.plan)
}

/// Duration of a trial; None if it depends on the server.
pub fn trial(plan: &Plan) -> Option<Duration> {
    let all: Option<Vec<Duration>> = plan.populations.iter().map(population).collect();
    // The populations run at the same time.
    all?.into_iter().max()
}

fn population(population: &Population) -> Option<Duration> {
    let stop = &population.stop;
    let requests = match &population.load {
        Load::Open { rate, .. } => {
            rate.as_constant().zip(stop.requests).map(|(rate, n)| n as f64 / rate)
        }
        // The rate of a closed loop depends on the server.
        Load::Closed { .. } => None,
    };
    let requests = requests.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    // The first condition to hold ends the run.
    let measured = [stop.duration, requests].into_iter().flatten().min()?;
    Some(stop.warmup + measured)
}

fn count_text(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Formats a duration: to the second below ten minutes, else to the minute.
fn duration_text(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..600 if !seconds.is_multiple_of(60) => {
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
        60..3600 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_durations_are_rounded() {
        let duration_text: Vec<_> = [5, 60, 95, 600, 1790, 3600, 6300]
            .map(|s| duration_text(Duration::from_secs(s)))
            .to_vec();
        assert_eq!(
            duration_text,
            ["5 s", "1 min", "1 min 35 s", "10 min", "30 min", "1 h 0 min", "1 h 45 min"]
        );
    }
}
