//! Writes and reads the digest of a run: the fold of its events as bytes. Reading it takes less
//! time than folding.
//!
//! A digest is a sequence of frames as in an event log: one for the run, then one for each of its
//! populations and agents, in order. Each payload is a `RunMessage`. The plans of populations and
//! agents follow from that of the run. Out of scope: files, and secrets; the caller passes a
//! redacted run.

use super::Run;
use crate::codec::wire::{self, Phase};
use crate::codec::{Frame, frame, read_frame};
use crate::event::LostProcess;
use crate::history::{History, HistoryMessage};
use crate::series::breakdown::{BreakdownMessage, BreakdownSeries};
use crate::series::{Series, SeriesMessage};
use crate::spread::{ArrivalSpread, SpreadMessage};
use crate::tally::sums::Summand;
use crate::{Environment, Event, Flow, ProcessPart, Tick};
use prost::Message;
use std::io::{self, Read, Write};

/// Writes the digest of a run.
///
/// # Errors
///
/// The plan or the environment cannot be encoded as JSON, a part exceeds the maximum length of a
/// frame, or `out` cannot be written.
pub fn write(run: &Run, out: &mut impl Write) -> io::Result<()> {
    let plan_json = run.plan.as_ref().map(serde_json::to_string).transpose()?;
    write_part(run, plan_json.unwrap_or_default(), out)?;
    // A plan may have a million requests, so parts do not repeat it.
    let mut parts = run.populations.iter().chain(&run.agents);
    parts.try_for_each(|part| write_part(part, String::new(), out))
}

/// Reads the digest of a run; None if it is damaged.
pub fn read(from: &mut impl Read) -> io::Result<Option<Run>> {
    let Some(message) = read_message(from)? else { return Ok(None) };
    let Some(mut run) = run_at_start(&message) else { return Ok(None) };
    let has_all_parts = message.populations as usize == run.populations.len()
        && message.agents as usize == run.agents.len();
    if !has_all_parts || fill(&mut run, message).is_none() {
        return Ok(None);
    }
    for part in run.populations.iter_mut().chain(&mut run.agents) {
        let Some(message) = read_message(from)? else { return Ok(None) };
        // Parts have no parts.
        let is_part = message.populations == 0 && message.agents == 0;
        if !is_part || fill(part, message).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(run))
}

fn write_part(run: &Run, plan_json: String, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&frame(&message(run, plan_json)?.encode_to_vec())?)
}

fn read_message(from: &mut impl Read) -> io::Result<Option<RunMessage>> {
    Ok(match read_frame(from)? {
        Frame::Whole(payload) => RunMessage::decode(&payload[..]).ok(),
        Frame::Torn | Frame::End => None,
    })
}

/// Returns the run after its first event, with its populations and agents; None if the message is
/// damaged.
fn run_at_start(message: &RunMessage) -> Option<Run> {
    let mut run = Run::default();
    if !message.plan_json.is_empty() {
        run.fold(&Event::Started {
            plan: serde_json::from_str(&message.plan_json).ok()?,
            environment: serde_json::from_str(&message.environment_json).ok()?,
            unix_seconds: message.unix_seconds,
        });
    }
    Some(run)
}

/// Converts a run, or a part of one.
fn message(run: &Run, plan_json: String) -> io::Result<RunMessage> {
    // All fields are listed, so that a new one does not compile until it is in the message.
    let Run {
        plan: _,
        environment,
        unix_seconds,
        phases,
        label_names,
        hops,
        total,
        warmup,
        populations,
        agents,
        labels,
        check_failures,
        metrics,
        transactions,
        flow,
        flow_all,
        spread,
        peak,
        series,
        breakdown_series,
        history,
        warnings,
        marks,
        losses,
        finish,
        last_interval_end,
    } = run;
    let phases = phases
        .iter()
        .map(|(phase, at)| wire::Stage { at_nanos: at.0, phase: Phase::number(*phase) });
    let label_names = label_names.iter().map(|(id, name)| wire::Label {
        id: *id,
        name: name.clone(),
        hop_of: hops.get(id).copied(),
    });
    let labels = labels
        .iter()
        .map(|(label, tally)| wire::LabelTally { label: *label, tally: tally.to_field() });
    let transactions =
        transactions.iter().map(|(name, tally)| wire::transaction_message(name, tally));
    Ok(RunMessage {
        plan_json,
        environment_json: serde_json::to_string(environment)?,
        unix_seconds: *unix_seconds,
        phases: phases.collect(),
        label_names: label_names.collect(),
        total: total.to_field(),
        warmup: warmup.to_field(),
        populations: populations.len() as u32,
        agents: agents.len() as u32,
        labels: labels.collect(),
        check_failures: check_failures.iter().map(Into::into).collect(),
        metrics_json: serde_json::to_string(metrics)?,
        transactions: transactions.collect(),
        flow: Some(*flow),
        flow_all: Some(*flow_all),
        spread: Some(spread.to_message()),
        peak: Some(*peak),
        series: Some(series.to_message()),
        breakdown_series: Some(breakdown_series.to_message()),
        history: history.iter().map(|(source, history)| history.to_message(source)).collect(),
        warnings: warnings.iter().map(Into::into).collect(),
        marks: marks.iter().map(Into::into).collect(),
        losses: losses.iter().map(Into::into).collect(),
        finish: finish.as_ref().map(Into::into),
        last_interval_end_nanos: last_interval_end.0,
    })
}

/// Sets everything but the plan and the parts. None if the message is damaged.
fn fill(run: &mut Run, message: RunMessage) -> Option<()> {
    // All fields are listed, so that a new one is not forgotten.
    let RunMessage {
        plan_json: _,
        environment_json,
        unix_seconds,
        phases,
        label_names,
        total,
        warmup,
        populations: _,
        agents: _,
        labels,
        check_failures,
        metrics_json,
        transactions,
        flow,
        flow_all,
        spread,
        peak,
        series,
        breakdown_series,
        history,
        warnings,
        marks,
        losses,
        finish,
        last_interval_end_nanos,
    } = message;
    run.environment = serde_json::from_str::<Environment>(&environment_json).ok()?;
    run.metrics = serde_json::from_str(&metrics_json).ok()?;
    run.unix_seconds = unix_seconds;
    run.phases = phases
        .iter()
        .map(|stage| Some((Phase::from_number(stage.phase)?, Tick(stage.at_nanos))))
        .collect::<Option<_>>()?;
    for label in label_names {
        run.hops.extend(label.hop_of.map(|step| (label.id, step)));
        run.label_names.insert(label.id, label.name);
    }
    run.total = Summand::from_field(total)?;
    run.warmup = Summand::from_field(warmup)?;
    run.labels = labels
        .into_iter()
        .map(|label| Some((label.label, Box::new(Summand::from_field(label.tally)?))))
        .collect::<Option<_>>()?;
    run.check_failures = check_failures.into_iter().map(Into::into).collect();
    run.transactions = transactions.into_iter().map(wire::transaction).collect::<Option<_>>()?;
    run.flow = flow?;
    run.flow_all = flow_all?;
    run.spread = ArrivalSpread::from_message(&spread?)?;
    run.peak = peak?;
    run.series = Series::from_message(series?)?;
    run.breakdown_series = BreakdownSeries::from_message(breakdown_series?)?;
    run.history = history.into_iter().map(History::from_message).collect::<Option<_>>()?;
    run.warnings = warnings.into_iter().map(Into::into).collect();
    run.marks = marks.into_iter().map(Into::into).collect();
    run.losses = losses.iter().map(Into::into).collect();
    run.finish = finish.map(Into::into);
    run.last_interval_end = Tick(last_interval_end_nanos);
    run.compact();
    Some(())
}

/// A run, or a population or an agent of one.
#[derive(Clone, PartialEq, Message)]
struct RunMessage {
    /// Empty for a part of a run, and without a plan.
    #[prost(string, tag = "1")]
    plan_json: String,
    #[prost(string, tag = "2")]
    environment_json: String,
    #[prost(double, tag = "3")]
    unix_seconds: f64,
    #[prost(message, repeated, tag = "4")]
    phases: Vec<wire::Stage>,
    #[prost(message, repeated, tag = "5")]
    label_names: Vec<wire::Label>,
    #[prost(message, optional, tag = "6")]
    total: Option<wire::Tally>,
    #[prost(message, optional, tag = "7")]
    warmup: Option<wire::Tally>,
    /// Number of populations. Their frames follow.
    #[prost(uint32, tag = "8")]
    populations: u32,
    /// Number of agents. Their frames follow those of populations.
    #[prost(uint32, tag = "9")]
    agents: u32,
    #[prost(message, repeated, tag = "10")]
    labels: Vec<wire::LabelTally>,
    #[prost(message, repeated, tag = "11")]
    check_failures: Vec<wire::CheckFailure>,
    #[prost(message, repeated, tag = "12")]
    transactions: Vec<wire::TransactionTally>,
    #[prost(message, optional, tag = "13")]
    flow: Option<Flow>,
    #[prost(message, optional, tag = "14")]
    flow_all: Option<Flow>,
    #[prost(message, optional, tag = "16")]
    spread: Option<SpreadMessage>,
    #[prost(message, optional, tag = "17")]
    peak: Option<Flow>,
    #[prost(message, optional, tag = "18")]
    series: Option<SeriesMessage>,
    #[prost(message, repeated, tag = "19")]
    history: Vec<HistoryMessage>,
    #[prost(message, repeated, tag = "21")]
    losses: Vec<LossMessage>,
    #[prost(message, optional, tag = "22")]
    finish: Option<wire::Finished>,
    #[prost(uint64, tag = "23")]
    last_interval_end_nanos: u64,
    #[prost(message, repeated, tag = "24")]
    marks: Vec<wire::Mark>,
    #[prost(message, optional, tag = "25")]
    breakdown_series: Option<BreakdownMessage>,
    #[prost(message, repeated, tag = "26")]
    warnings: Vec<wire::Text>,
    #[prost(string, tag = "27")]
    metrics_json: String,
}

/// A lost process. The event of a loss has neither its end nor the number of quiet processes.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
struct LossMessage {
    #[prost(uint64, tag = "1")]
    at_nanos: u64,
    #[prost(uint32, tag = "2")]
    number: u32,
    #[prost(uint32, tag = "3")]
    count: u32,
    #[prost(uint32, tag = "4")]
    quiet: u32,
    #[prost(uint64, tag = "5")]
    until_nanos: u64,
}

impl From<&LostProcess> for LossMessage {
    fn from(loss: &LostProcess) -> Self {
        let LostProcess { at, part: ProcessPart { number, count, quiet }, until } = *loss;
        Self { at_nanos: at.0, number, count, quiet, until_nanos: until.0 }
    }
}

impl From<&LossMessage> for LostProcess {
    fn from(message: &LossMessage) -> Self {
        let LossMessage { at_nanos, number, count, quiet, until_nanos } = *message;
        let part = ProcessPart { number, count, quiet };
        Self { at: Tick(at_nanos), part, until: Tick(until_nanos) }
    }
}

#[cfg(test)]
mod tests;
