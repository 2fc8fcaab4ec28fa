//! How many trials an experiment has, and about how long they take.

use brunt_model::{Experiment, Load, Plan, Population, Question};
use std::time::Duration;

/// `2 contenders × 30 steps × 3 repetitions = 180 trials, about 1 h 45 min`.
pub fn sentence(experiment: &Experiment) -> String {
    if let (Question::Compare(_), Some(find)) = (&experiment.question, experiment.find()) {
        let searches =
            u32::try_from(experiment.contenders.len()).unwrap_or(u32::MAX).saturating_mul(experiment.repetitions);
        let contenders = counted(experiment.contenders.len(), "contender");
        let repetitions = counted(experiment.repetitions as usize, "repetition");
        let given: Duration =
            experiment.contenders.iter().flat_map(|c| &c.steps[1..]).filter_map(|s| trial(&s.plan)).sum();
        let all = find.within * searches + given * experiment.repetitions;
        return format!("{contenders} × a search × {repetitions}, at most about {}", shown(all));
    }
    if let Question::Find(find) = &experiment.question {
        let contenders = u32::try_from(experiment.contenders.len()).unwrap_or(u32::MAX);
        let contended = counted(experiment.contenders.len(), "contender");
        return format!("a search of {contended}, at most about {}", shown(find.within * contenders));
    }
    let steps = experiment.contenders.iter().map(|contender| contender.steps.len());
    let (least, most) = (steps.clone().min().unwrap_or(0), steps.max().unwrap_or(0));
    let steps = if least == most { counted(most, "step") } else { format!("{least} to {most} steps") };
    let contenders = counted(experiment.contenders.len(), "contender");
    let repetitions = counted(experiment.repetitions as usize, "repetition");
    let trials = counted(experiment.trials(), "trial");
    format!("{contenders} × {steps} × {repetitions} = {trials}, {}", time(experiment))
}

/// What the plans say, and the rest between them; what servers take to start is not known.
fn time(experiment: &Experiment) -> String {
    let plans = || experiment.contenders.iter().flat_map(|contender| &contender.steps).map(|step| &step.plan);
    let once: Duration = plans().filter_map(trial).sum();
    let rests = u32::try_from(experiment.trials().saturating_sub(1)).unwrap_or(u32::MAX);
    let all = once.saturating_mul(experiment.repetitions).saturating_add(experiment.cooldown.saturating_mul(rests));
    let about = match () {
        () if plans().all(|plan| trial(plan).is_none()) => return "for as long as the servers take".to_owned(),
        () if plans().any(|plan| trial(plan).is_none()) => "at least",
        () if experiment.may_end_early() || plans().any(|plan| plan.until.is_some()) => "at most about",
        () => "about",
    };
    format!("{about} {}", shown(all))
}

/// How long a trial takes; None where that is the server's doing.
pub fn trial(plan: &Plan) -> Option<Duration> {
    let all: Option<Vec<Duration>> = plan.populations.iter().map(population).collect();
    all?.into_iter().max()
}

fn population(population: &Population) -> Option<Duration> {
    let stop = &population.stop;
    let requests = match &population.load {
        Load::Open { rate, .. } => rate.as_constant().zip(stop.requests).map(|(rate, n)| n as f64 / rate),
        Load::Closed { .. } => None,
    };
    let requests = requests.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let measured = [stop.duration, requests].into_iter().flatten().min()?;
    Some(stop.warmup + measured)
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// To the minute where there are hours, to the second below ten minutes.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..600 if !seconds.is_multiple_of(60) => format!("{} min {} s", seconds / 60, seconds % 60),
        60..3600 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_exactly_as_they_are_meant() {
        let shown: Vec<_> = [5, 60, 95, 600, 1790, 3600, 6300].map(|s| shown(Duration::from_secs(s))).to_vec();
        assert_eq!(shown, ["5 s", "1 min", "1 min 35 s", "10 min", "30 min", "1 h 0 min", "1 h 45 min"]);
    }
}
