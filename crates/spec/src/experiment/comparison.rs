//! Question of a comparison, from the settings of a command line or of a plan
//! file, and the defaults.

use crate::defaults;
use crate::error::{Result, bail, ensure, require};
use crate::estimate;
use crate::settings::{CompareSettings, SettingSources};
use crate::words::compare::{self, ComparedLoads};
use brunt_model::objective::Metric;
use brunt_model::question::AtCapacity;
use brunt_model::{ComparisonSettings, Contender, LoadUnit, Measure, Probed};
use std::time::Duration;

/// Creates the question of a comparison of these contenders. `at_capacity` is the search of their
/// capacities, if they are compared by them.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn comparison(
    settings: &CompareSettings,
    contenders: &[Contender],
    at_capacity: Option<AtCapacity>,
) -> Result<ComparisonSettings> {
    check_comparable(contenders)?;
    let sources = &settings.sources;
    require!(
        sources,
        at_capacity.is_some() || settings.at.unwrap_or_default() == ComparedLoads::Load,
        |names| {
            format!("{}: stored runs have their own loads; leave it out", names.name_of("at"))
        }
    );
    let mut metrics = match &settings.metrics[..] {
        [] => default_metrics(contenders, at_capacity.as_ref()),
        given => given.to_vec(),
    };
    // A failure needs the test of its metric, even if the user compares others.
    metrics.extend(settings.fail_if.iter().map(|failure| failure.measure));
    metrics = distinct(metrics);
    // CPU of one server only would compare nothing.
    require!(
        sources,
        !metrics.contains(&Measure::ServerCpu) || contenders.iter().all(reads_cpu),
        |names| {
            let [process, host] = [
                ("--probe process=NAME", "probes: [processes: {name: NAME}]"),
                ("--probe host", "probes: [host]"),
            ]
            .map(|(option, key)| names.either(option, key));
            format!("cpu: no probe reads the servers; add {process}, or {host}")
        }
    );
    check_measured(&metrics, at_capacity.as_ref(), sources)?;
    check_factor(settings, contenders)?;
    let smallest = settings.smallest.map_or_else(|| compare::share(defaults::SMALLEST), Ok)?;
    let alpha = settings.alpha.map_or_else(|| compare::alpha(defaults::ALPHA), Ok)?;
    Ok(ComparisonSettings {
        metrics,
        factor: settings.factor.clone(),
        smallest,
        alpha,
        fail_if: settings.fail_if.clone(),
        within: settings.within,
        at_capacity,
    })
}

/// The measures in their order, each once.
fn distinct(measures: Vec<Measure>) -> Vec<Measure> {
    let mut distinct = Vec::new();
    for measure in measures {
        if !distinct.contains(&measure) {
            distinct.push(measure);
        }
    }
    distinct
}

/// Checks that the capacity is compared if it is searched, and that only measures are
/// compared that are measured.
fn check_measured(
    metrics: &[Measure],
    at_capacity: Option<&AtCapacity>,
    sources: &SettingSources,
) -> Result<()> {
    let Some(at) = at_capacity else {
        require!(sources, !metrics.contains(&Measure::Capacity), |names| {
            let at = names.name_of("at");
            format!("capacity: no search measures it; add {at} capacity, or {at} both")
        });
        return Ok(());
    };
    // Trials of a search differ in load between the contenders, so other figures are not
    // comparable.
    if let Some(other) =
        metrics.iter().find(|measure| at.given == 0 && **measure != Measure::Capacity)
    {
        return Err(sources.refuse(|names| {
            let at = names.name_of("at");
            let load = names.either("-r 100", "load.rate 100");
            format!(
                "{other}: only capacities are compared; write {at} both with a load, such as {load}"
            )
        }));
    }
    let capacity = metrics.contains(&Measure::Capacity);
    require!(sources, capacity, |names| {
        let at = names.name_of("at");
        let metric = names.name_of("metric");
        format!("{at}: no capacity is compared; add it to {metric}, or leave {at} out")
    });
    Ok(())
}

/// Checks that the contenders have levels of the factor of the question.
fn check_factor(settings: &CompareSettings, contenders: &[Contender]) -> Result<()> {
    let Some(requested) = &settings.factor else { return Ok(()) };
    let factors = contenders.first().map_or(&[][..], |contender| &contender.factors);
    let names: Vec<&str> = factors.iter().map(|(name, _)| name.as_str()).collect();
    let all = contenders.iter().flat_map(|contender| &contender.factors);
    let mut levels = all.filter(|(name, _)| name == requested).map(|(_, level)| level);
    if let Some(first) = levels.next() {
        require!(&settings.sources, levels.any(|level| level != first), |keys| {
            let key = keys.name_of("factor");
            format!(
                "{key}: the factor `{requested}` has one level, `{first}`; add another level to compare"
            )
        });
        return Ok(());
    }
    Err(settings.sources.refuse(|keys| {
        let key = keys.name_of("factor");
        match &names[..] {
            [] => format!(
                "{key}: the contenders have no factors; add `factors` to the plan, or leave it out"
            ),
            _ => format!(
                "{key}: the plan has no factor `{requested}`; write one of {}",
                names.join(", ")
            ),
        }
    }))
}

/// Checks that there are several contenders with the same number and kind of loads: each is
/// compared with the first, load by load.
fn check_comparable(contenders: &[Contender]) -> Result<()> {
    let [first, others @ ..] = contenders else { bail!("there is nothing to compare") };
    ensure!(
        !others.is_empty(),
        "`{}` is one target, and a comparison needs two; write two, such as A=http://127.0.0.1:8081/ B=http://127.0.0.1:8082/",
        first.name
    );
    for other in others {
        let ours = first.steps.len();
        let theirs = other.steps.len();
        ensure!(
            ours == theirs,
            "{} has {ours} loads and {} has {theirs}; contenders are compared load by load: write as many for each",
            first.name,
            other.name
        );
        // The think time of users is part of the unit, but may differ.
        let same = std::mem::discriminant(&first.unit()) == std::mem::discriminant(&other.unit());
        ensure!(
            same,
            "{} has a rate and {} has users, or the other way; write the same for both",
            first.name,
            other.name
        );
    }
    Ok(())
}

/// Default measures. In a closed loop the throughput comes first: in an open loop
/// the load determines it.
fn default_metrics(contenders: &[Contender], at_capacity: Option<&AtCapacity>) -> Vec<Measure> {
    let capacity = at_capacity.map(|_| Measure::Capacity);
    if at_capacity.is_some_and(|at| at.given == 0) {
        return capacity.into_iter().collect();
    }
    let [p99, p50] = [0.99, 0.5].map(Metric::Quantile);
    let throughput = Metric::Throughput;
    let errors = Metric::Errors;
    let is_closed_loop =
        matches!(contenders.first().map(Contender::unit), Some(LoadUnit::Users { .. }));
    // The first metric decides. A closed loop hides queueing, so throughput shows a slower server.
    let metrics = if is_closed_loop {
        [throughput, p99, p50, errors]
    } else {
        [p99, p50, throughput, errors]
    };
    let cpu =
        (!contenders.is_empty() && contenders.iter().all(reads_cpu)).then_some(Measure::ServerCpu);
    capacity.into_iter().chain(metrics.into_iter().map(Measure::Run)).chain(cpu).collect()
}

fn reads_cpu(contender: &Contender) -> bool {
    contender
        .probes
        .iter()
        .any(|probe| matches!(probe.what, Probed::Processes { .. } | Probed::Host { .. }))
}

/// Default number of repetitions of a sweep: with several contenders, the least that can decide
/// which of them is better.
pub fn sweep_repetitions(contenders: &[Contender]) -> u32 {
    let fewest = brunt_judge::compare::fewest_of_sweep(contenders).unwrap_or(0);
    fewest.max(defaults::REPETITIONS)
}

/// Maximum number of repetitions: the requested number, or what fits into the time budget.
///
/// # Errors
///
/// `SpecError` with its place if a value is invalid, or does not go with another one.
pub fn repetitions(
    requested: Option<u32>,
    spec: &ComparisonSettings,
    contenders: &[Contender],
    cooldown: Duration,
    sources: &SettingSources,
) -> Result<u32> {
    if let Some(requested) = requested {
        return Ok(requested);
    }
    // Searches adapt to the time budget, so it does not limit the repetitions.
    let Some(within) = spec.within.filter(|_| spec.at_capacity.is_none()) else {
        return Ok(defaults::BLOCKS.max(brunt_judge::compare::fewest_blocks(contenders, spec)));
    };
    let plans = contenders.iter().flat_map(|contender| &contender.steps).map(|step| &step.plan);
    let once: Duration = plans.filter_map(estimate::trial).map(|trial| trial + cooldown).sum();
    // The durations depend on the servers, so the budget ends the comparison during its run.
    if once.is_zero() {
        return Ok(defaults::MAX_BLOCKS);
    }
    let fit = (within.as_secs_f64() / once.as_secs_f64()) as u32;
    let budget = duration(within);
    let repetition_time = duration(once);
    require!(sources, fit > 0, |names| {
        let within = names.name_of("time-budget");
        let duration = names.name_of("duration");
        format!(
            "{within} {budget}: one repetition takes {repetition_time}; write more, or a shorter {duration}"
        )
    });
    Ok(fit.min(defaults::MAX_BLOCKS))
}

fn duration(time: Duration) -> String {
    brunt_model::numbers::span(time.as_secs_f64())
}
