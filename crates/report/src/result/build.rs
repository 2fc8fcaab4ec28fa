//! Builds the document of a run.

use super::{
    AgentDocument, ByteCounts, CheckFailureRow, ConnectionTotals, EnvironmentSection, Generator,
    IntervalRow, IterationCounts, LabelRow, MarkRow, ObjectiveDocument, PhaseRow, RequestCounts,
    ResultDocument, ResultPhase, Times, Transaction, VERSION, Warmup,
};
use crate::agents::{self, AgentFigures};
use crate::utc;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brunt_model::run::GroupOfAgents;
use brunt_model::run::iterations::Iterations;
use brunt_model::series::SeriesPoint;
use brunt_model::time::seconds_of;
use brunt_model::{
    Failure, Judgement, Phase, Run, Tally, Tick, TransactionTally, objective, reading_names,
};
use brunt_stats::{Histogram, Quantile};
use std::collections::BTreeMap;

impl ResultDocument {
    /// Builds the document from a run and its judgement.
    pub fn new(run: &Run, judgement: &Judgement) -> Self {
        let total = &run.total;
        let agents = AgentFigures::all(run, judgement);
        let judgement = judgement.clone();
        Self {
            version: VERSION,
            plan: run.plan.clone(),
            environment: EnvironmentSection::from(&run.environment),
            started: utc::rfc3339(run.unix_seconds),
            elapsed_seconds: elapsed(run).seconds(),
            measured_seconds: run.measured_seconds(),
            requests: RequestCounts::from(total),
            iterations: IterationCounts::of(run),
            throughput_per_second: run.throughput(),
            goodput_per_second: run.goodput(),
            bytes: ByteCounts::from(total),
            outcomes: outcomes(total),
            failures: failures(total),
            malformed: total
                .malformed
                .iter()
                .map(|(cause, n)| (cause.key().to_owned(), *n))
                .collect(),
            response_time_seconds: response(total),
            service_time_seconds: Times::of(&total.service),
            queue_wait_seconds: Times::of(&total.queue_wait),
            lag_seconds: Times::of(&total.lag),
            read_lag_seconds: Times::of(&total.read_lag),
            opening_lag_seconds: Times::of(&total.opening_lag),
            connection_time_seconds: Times::of(&total.phases.connection),
            response_time_good_seconds: Times::of(&total.response_good()),
            failure_time_seconds: failure_times(total),
            phases_seconds: PhaseRow::from(&total.phases),
            connections: ConnectionTotals::from(run),
            generator: Generator::from(run),
            warmup: warmup(run),
            verdict: judgement.verdict,
            checks: judgement.checks,
            findings: judgement.findings,
            conclusion: judgement.conclusion,
            steady_state: judgement.steady,
            response_time_intervals_seconds: judgement.intervals,
            throughput_interval_per_second: judgement.throughput,
            objectives: objectives(run),
            warnings: run.warnings.clone(),
            marks: marks(run),
            interrupted: run.is_interrupted(),
            error: run.finish.as_ref().and_then(|f| f.error.clone()),
            series: all_intervals(run),
            populations: run.populations.iter().map(population).collect(),
            groups: run.agent_groups().iter().map(|group| group_row(run, group)).collect(),
            group_comparisons: judgement.group_comparisons,
            agents: agents.iter().map(AgentDocument::from).collect(),
            transactions: transactions(run),
            labels: labels(run),
            check_failures: check_failures(run),
        }
    }
}

/// Duration of the run, or the time so far.
pub(crate) fn elapsed(run: &Run) -> Tick {
    // A log without an end, as after a crash, ends with its last interval.
    run.finish.as_ref().map_or(run.last_interval_end, |f| f.at)
}

impl From<&brunt_model::Environment> for EnvironmentSection {
    fn from(e: &brunt_model::Environment) -> Self {
        Self {
            command: e.command.clone(),
            kernel: e.kernel.clone(),
            cpu: e.cpu.clone(),
            cores: e.cores,
            limits: e.limits.iter().cloned().collect(),
            sysctls: e.sysctls.iter().cloned().collect(),
            server: e.server.clone(),
            addresses: e.addresses.clone(),
            route: e.route.clone(),
            brunt: e.brunt.clone(),
        }
    }
}

impl From<&Tally> for RequestCounts {
    fn from(t: &Tally) -> Self {
        Self {
            planned: t.planned,
            begun: t.begun,
            completed: t.completed,
            good: t.good,
            failed: t.failed(),
            cut: t.failed_by(Failure::Cut),
            dropped: t.failed_by(Failure::Dropped),
            errors: t.errors(),
            redirects: t.redirects,
            retries: t.retries,
        }
    }
}

impl IterationCounts {
    /// Returns the iterations of a run; None if each iteration is one request.
    pub fn of(run: &Run) -> Option<Self> {
        let Iterations { planned, done, failed, unfinished } = run.iterations()?;
        Some(Self { planned, done, failed, unfinished, per_second: run.per_second(done) })
    }
}

impl From<&Tally> for ByteCounts {
    fn from(t: &Tally) -> Self {
        Self { received: t.bytes_received, sent: t.bytes_sent }
    }
}

pub(crate) fn outcomes(t: &Tally) -> BTreeMap<String, u64> {
    t.statuses
        .sorted()
        .into_iter()
        .map(|(status, n)| (brunt_model::outcome::status_text(status), n))
        .collect()
}

pub(crate) fn failures(t: &Tally) -> BTreeMap<String, u64> {
    Failure::all().map(|f| (f.row().key.to_string(), t.failed_by(f))).filter(|f| f.1 > 0).collect()
}

fn failure_times(t: &Tally) -> BTreeMap<String, Times> {
    t.failure_times
        .iter()
        .filter_map(|(f, h)| Some((f.row().key.to_string(), Times::of(h)?)))
        .collect()
}

/// Returns the response time, with the requests that never finished as the slowest.
pub(crate) fn response(t: &Tally) -> Option<Times> {
    let censored =
        t.failed_by(Failure::Dropped) + t.failed_by(Failure::Cut) + t.timed_out_requests();
    Some(Times { censored, ..Times::by(&t.response, |q| t.response_quantile(q))? })
}

impl Times {
    /// Returns the distribution of a histogram without censored values; None if it is empty.
    fn of(histogram: &Histogram) -> Option<Self> {
        Self::by(histogram, |q| Quantile { value: histogram.quantile(q), at_least: false })
    }

    fn by(histogram: &Histogram, quantile: impl Fn(f64) -> Quantile) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let mut at_least = Vec::new();
        let mut figure = |key: &str, q: f64| {
            let quantile = quantile(q);
            if quantile.at_least {
                at_least.push(key.to_string());
            }
            seconds_of(quantile.value)
        };
        Some(Self {
            count: histogram.count(),
            censored: 0,
            min: seconds_of(histogram.min()),
            mean: histogram.mean() / 1e9,
            stddev: histogram.stddev() / 1e9,
            p50: figure("p50", 0.5),
            p75: figure("p75", 0.75),
            p90: figure("p90", 0.9),
            p95: figure("p95", 0.95),
            p99: figure("p99", 0.99),
            p99_9: figure("p99_9", 0.999),
            max: figure("max", 1.0),
            at_least,
            // The V2 encoding of HdrHistogram, which its libraries for other languages read.
            histogram: STANDARD.encode(histogram.to_hdr_v2_deflate()),
            histogram_unit: "nanoseconds".into(),
        })
    }
}

impl From<&brunt_model::tally::PhaseTimes> for PhaseRow {
    fn from(p: &brunt_model::tally::PhaseTimes) -> Self {
        Self {
            resolve: Times::of(&p.resolve),
            connect: Times::of(&p.connect),
            tls: Times::of(&p.tls),
            first_byte: Times::of(&p.first_byte),
            receive: Times::of(&p.receive),
        }
    }
}

impl From<&Run> for Generator {
    fn from(run: &Run) -> Self {
        Self {
            cpu_user_seconds: run.reading("generator", "cpu_user_seconds"),
            cpu_system_seconds: run.reading("generator", "cpu_system_seconds"),
            peak_rss_bytes: run.reading("generator", "peak_rss_bytes").map(|b| b as u64),
            threads: run.reading("generator", "threads").map(|t| t as u64),
            rests: run.sum_of_workers(reading_names::RESTS).map_or(0, |rests| rests as u64),
            rest_seconds: run.sum_of_workers(reading_names::REST_SECONDS).unwrap_or(0.0),
        }
    }
}

fn warmup(run: &Run) -> Option<Warmup> {
    let tally = &run.warmup;
    (!tally.is_empty())
        .then(|| Warmup { requests: tally.into(), response_time_seconds: response(tally) })
}

pub(crate) fn objectives(run: &Run) -> Vec<ObjectiveDocument> {
    let bounds = run.plan.iter().flat_map(|p| &p.objectives);
    bounds.map(|o| ObjectiveDocument::from(o.judge(run))).collect()
}

impl From<objective::ObjectiveResult> for ObjectiveDocument {
    fn from(j: objective::ObjectiveResult) -> Self {
        let text = j.objective.to_string();
        Self { objective: j.objective, text, value: j.value, at_least: j.at_least, met: j.met }
    }
}

/// Collects the intervals with one allocation: they are the largest part of a report.
fn all_intervals(run: &Run) -> Vec<IntervalRow> {
    let mut all = Vec::with_capacity(run.series.len());
    all.extend(series(run));
    all
}

/// Returns the intervals of a run, in order of time.
pub fn series(run: &Run) -> impl Iterator<Item = IntervalRow> + '_ {
    intervals(run, run.series.points())
}

/// Converts points of a run's series to intervals.
pub(crate) fn intervals<'a>(
    run: &'a Run,
    points: impl Iterator<Item = SeriesPoint> + 'a,
) -> impl Iterator<Item = IntervalRow> + 'a {
    let zero = run.phase_start(brunt_model::Phase::Measure).unwrap_or_default();
    points.map(move |point| IntervalRow {
        agents_lost: agents::missing(run, point.from, point.to),
        ..interval(&point, zero)
    })
}

fn marks(run: &Run) -> Vec<MarkRow> {
    let zero = run.phase_start(Phase::Measure).unwrap_or_default();
    run.marks
        .iter()
        .map(|mark| MarkRow { at_seconds: mark.at.seconds_from(zero), text: mark.text.clone() })
        .collect()
}

fn interval(point: &SeriesPoint, zero: Tick) -> IntervalRow {
    let flow = &point.flow;
    let response = &point.response;
    let lag = &point.lag;
    let has_responses = response.count() > 0;
    IntervalRow {
        from_seconds: point.from.seconds_from(zero),
        to_seconds: point.to.seconds_from(zero),
        phase: point.phase.into(),
        planned: flow.planned,
        begun: flow.begun,
        completed: flow.completed,
        good: flow.good,
        errors: flow.errors,
        throughput_per_second: point.throughput(),
        response_p50_seconds: has_responses.then(|| seconds_of(response.quantile(0.5))),
        response_p99_seconds: has_responses.then(|| seconds_of(response.quantile(0.99))),
        response_max_seconds: has_responses.then(|| seconds_of(response.max())),
        lag_p99_seconds: (lag.count() > 0).then(|| seconds_of(lag.quantile(0.99))),
        bytes_received: flow.bytes_received,
        bytes_sent: flow.bytes_sent,
        in_flight: flow.in_flight,
        waiting: flow.waiting,
        connections: flow.connections,
        users: flow.users,
        agents_lost: 0,
    }
}

impl From<brunt_model::Phase> for ResultPhase {
    fn from(phase: brunt_model::Phase) -> Self {
        match phase {
            brunt_model::Phase::Setup => Self::Setup,
            brunt_model::Phase::Warmup => Self::Warmup,
            brunt_model::Phase::Measure => Self::Measure,
            brunt_model::Phase::Grace => Self::Grace,
        }
    }
}

/// Returns the failed checks.
pub(crate) fn check_failures(run: &Run) -> Vec<CheckFailureRow> {
    run.check_failures.iter().map(|failure| check_failure(run, failure)).collect()
}

fn check_failure(run: &Run, failure: &brunt_model::CheckFailure) -> CheckFailureRow {
    CheckFailureRow {
        label: if run.labels.is_empty() { only_label(run) } else { label_name(run, failure.label) },
        check: failure.check.clone(),
        expected: failure.expected.clone(),
        found: failure.found.clone(),
        replies: failure.count,
    }
}

/// Returns the transactions of a run, by name.
pub(crate) fn transactions(run: &Run) -> Vec<Transaction> {
    run.transactions.iter().map(|(name, tally)| transaction(run, name, tally)).collect()
}

/// Returns the labels of a run. A run with a single label has one entry.
pub(crate) fn labels(run: &Run) -> Vec<LabelRow> {
    // The totals of a run with a single label are also its label's figures, so the run
    // has no separate tally.
    if run.labels.is_empty() {
        return vec![label(only_label(run), &run.total, run.throughput())];
    }
    run.steps().map(|(step, tally)| step_label(run, step, tally)).collect()
}

fn step_label(run: &Run, step: u32, tally: &Tally) -> LabelRow {
    let hops = run.hops_of(step).map(|(hop, tally)| named_label(run, hop, tally)).collect();
    LabelRow { hops, ..named_label(run, step, tally) }
}

fn named_label(run: &Run, id: u32, tally: &Tally) -> LabelRow {
    // A label has no count for the measured time alone: replies of the grace period count, too.
    label(label_name(run, id), tally, run.per_second(tally.completed))
}

fn transaction(run: &Run, name: &str, t: &TransactionTally) -> Transaction {
    let times = Times::by(&t.response, |q| t.response_quantile(q));
    Transaction {
        transaction: name.to_owned(),
        started: t.started,
        succeeded: t.succeeded,
        failed: t.failed,
        unfinished: t.unfinished,
        throughput_per_second: run.per_second(t.succeeded + t.failed),
        response_time_seconds: times.map(|times| Times { censored: t.unfinished, ..times }),
    }
}

impl From<&AgentFigures<'_>> for AgentDocument {
    fn from(agent: &AgentFigures) -> Self {
        let total = agent.total();
        Self {
            name: agent.name().to_owned(),
            group: agent.group().map(str::to_owned),
            host: agent.host().to_owned(),
            cores: agent.cores(),
            requests: total.into(),
            throughput_per_second: agent.throughput(),
            errors: total.errors(),
            response_time_seconds: response(total),
            lag_seconds: Times::of(&total.lag),
            cpu_cores: agent.cpu_cores(),
            clock_offset_seconds: agent.clock_offset(),
            clock_error_seconds: agent.clock_error(),
            round_trip_seconds: agent.round_trip(),
            received_bytes_per_second: agent.received_bytes(),
            verdict: agent.state,
            lost_at_seconds: agent.lost_at(),
            replaced_at_seconds: agent.replaced_at(),
        }
    }
}

fn population(run: &Run) -> LabelRow {
    let name = run.plan.as_ref().map(|plan| plan.main().name.clone());
    let row = label(name.unwrap_or_default(), &run.total, run.throughput());
    LabelRow { iterations: IterationCounts::of(run), ..row }
}

fn group_row(run: &Run, group: &GroupOfAgents) -> LabelRow {
    let total = group.total();
    label(group.name.to_owned(), &total, run.per_second(total.completed))
}

fn label(label: String, tally: &Tally, throughput_per_second: f64) -> LabelRow {
    LabelRow {
        label,
        requests: tally.into(),
        iterations: None,
        throughput_per_second,
        errors: tally.errors(),
        response_time_seconds: response(tally),
        service_time_seconds: Times::of(&tally.service),
        outcomes: outcomes(tally),
        failures: failures(tally),
        bytes: tally.into(),
        hops: Vec::new(),
    }
}

/// Returns the name of a label; its number if it has none.
pub(crate) fn label_name(run: &Run, id: u32) -> String {
    run.label_names.get(&id).cloned().unwrap_or_else(|| format!("label {id}"))
}

/// Returns the name of the only label of a run.
pub(crate) fn only_label(run: &Run) -> String {
    let named = run.label_names.values().next();
    let planned =
        run.plan.iter().flat_map(|p| &p.main().scenario.requests).map(|r| &r.label).next();
    // A run that ended before its first request has no named label.
    named.or(planned).cloned().unwrap_or_default()
}
