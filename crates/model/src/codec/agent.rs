//! Encodes and decodes the messages between a controller and its agents, as published in
//! `docs/agent-protocol.proto`. Each is one frame, as in an event log.
//!
//! A message of an unknown kind is skipped: the versions of both programs were compared before.

mod messages;

use super::{Decoded, Frame, frame, read_frame, wire};
use crate::agent::{
    AgentCheckDepth, AgentMessage, AgentReport, Assignment, CheckRequest, ClockReading,
    ControllerMessage, ControllerRequest, FileCopy, RunEnd, RunNumber,
};
use crate::{PartCommand, ProcessMessage, ProcessPart, ProcessShares, StageOutput, Tick};
use messages::{
    AssignmentMessage, CheckMessage, ClockMessage, FileMessage, FromAgent, FromAgentKind,
    FromController, FromControllerKind, HelloMessage, ResumeMessage, RunEndMessage, SecretMessage,
    SecretsMessage, ShareMessage, Variable,
};
use prost::Message;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Writes a message as one frame, and flushes the output. Returns the number of bytes.
pub fn write_agent_message(out: &mut impl Write, message: &AgentMessage) -> io::Result<usize> {
    let kind = match &message.report {
        AgentReport::Hello(protocol, facts) => FromAgentKind::Hello(HelloMessage {
            protocol: *protocol,
            facts_json: serde_json::to_string(facts)?,
        }),
        AgentReport::Clock(reading) => FromAgentKind::Clock(ClockMessage {
            sent_nanos: reading.sent,
            received_nanos: reading.received,
            replied_nanos: reading.replied,
        }),
        AgentReport::Checked(check) => FromAgentKind::CheckedJson(serde_json::to_string(check)?),
        AgentReport::Part(ProcessMessage::Ready(at)) => FromAgentKind::ReadyNanos(at.0),
        AgentReport::Part(ProcessMessage::Event(event)) => {
            FromAgentKind::Event(wire::event_message(event)?)
        }
        AgentReport::Part(ProcessMessage::EndRun) => FromAgentKind::EndRun(true),
        AgentReport::Finished(end) => FromAgentKind::Finished(end.into()),
        AgentReport::Gone(reason) => FromAgentKind::Gone(reason.clone()),
    };
    write(out, &FromAgent { run: message.run.0, kind: Some(kind) }.encode_to_vec())
}

/// Reads the next message of an agent. None at the end, and if its frame is incomplete or contains
/// something else.
pub fn read_agent_message(from: &mut impl Read) -> Option<AgentMessage> {
    loop {
        let message = FromAgent::decode(&payload(from)?[..]).ok()?;
        let report = match message.kind {
            Some(FromAgentKind::Hello(hello)) => {
                AgentReport::Hello(hello.protocol, serde_json::from_str(&hello.facts_json).ok()?)
            }
            Some(FromAgentKind::Clock(clock)) => AgentReport::Clock(ClockReading {
                sent: clock.sent_nanos,
                received: clock.received_nanos,
                replied: clock.replied_nanos,
            }),
            Some(FromAgentKind::CheckedJson(json)) => {
                AgentReport::Checked(Box::new(serde_json::from_str(&json).ok()?))
            }
            Some(FromAgentKind::ReadyNanos(at)) => {
                AgentReport::Part(ProcessMessage::Ready(Tick(at)))
            }
            Some(FromAgentKind::Event(event)) => match wire::event(event)? {
                Decoded::Known(event) => AgentReport::Part(ProcessMessage::Event(event)),
                Decoded::Unknown => continue,
            },
            Some(FromAgentKind::EndRun(_)) => AgentReport::Part(ProcessMessage::EndRun),
            Some(FromAgentKind::Finished(end)) => AgentReport::Finished(end.into()),
            Some(FromAgentKind::Gone(reason)) => AgentReport::Gone(reason),
            None => continue,
        };
        return Some(AgentMessage { run: RunNumber(message.run), report });
    }
}

/// Writes a message as one frame, and flushes the output. Returns the number of bytes.
pub fn write_controller_message(
    out: &mut impl Write,
    message: &ControllerMessage,
) -> io::Result<usize> {
    let kind = match &message.request {
        ControllerRequest::Secrets(secrets) => FromControllerKind::Secrets(SecretsMessage {
            secrets: secrets
                .iter()
                .map(|(pointer, value)| SecretMessage {
                    pointer: pointer.clone(),
                    value_json: value.clone(),
                })
                .collect(),
        }),
        ControllerRequest::File(file) => FromControllerKind::File(FileMessage {
            path: path_text(&file.path)?,
            content: file.content.clone(),
        }),
        ControllerRequest::Check(check) => FromControllerKind::Check(CheckMessage {
            plan_json: check.plan.to_string(),
            has_load: check.depth == AgentCheckDepth::All,
        }),
        ControllerRequest::Assign(assignment) => {
            FromControllerKind::Assign(assignment_message(assignment)?)
        }
        ControllerRequest::ReadClock(sent) => FromControllerKind::ReadClockNanos(*sent),
        ControllerRequest::Command(PartCommand::Go(at)) => FromControllerKind::GoNanos(at.0),
        ControllerRequest::Command(PartCommand::Resume { begins, from }) => {
            FromControllerKind::Resume(ResumeMessage { begins_nanos: begins.0, from_nanos: from.0 })
        }
        ControllerRequest::Command(PartCommand::Steady(at)) => {
            FromControllerKind::SteadyNanos(at.0)
        }
        ControllerRequest::Command(PartCommand::Enough(at)) => {
            FromControllerKind::EnoughNanos(at.0)
        }
        ControllerRequest::Command(PartCommand::Stop(at)) => FromControllerKind::StopNanos(at.0),
    };
    write(out, &FromController { run: message.run.0, kind: Some(kind) }.encode_to_vec())
}

/// Reads the next message of the controller. None at the end, and if its frame is incomplete or
/// contains something else.
pub fn read_controller_message(from: &mut impl Read) -> Option<ControllerMessage> {
    loop {
        let message = FromController::decode(&payload(from)?[..]).ok()?;
        let request = match message.kind {
            Some(FromControllerKind::Secrets(secrets)) => ControllerRequest::Secrets(
                secrets.secrets.into_iter().map(|s| (s.pointer, s.value_json)).collect(),
            ),
            Some(FromControllerKind::File(file)) => ControllerRequest::File(FileCopy {
                path: PathBuf::from(file.path),
                content: file.content,
            }),
            Some(FromControllerKind::Check(check)) => {
                ControllerRequest::Check(Box::new(check_request(&check)?))
            }
            Some(FromControllerKind::Assign(message)) => {
                ControllerRequest::Assign(Box::new(assignment(&message)?))
            }
            Some(FromControllerKind::ReadClockNanos(sent)) => ControllerRequest::ReadClock(sent),
            Some(FromControllerKind::GoNanos(at)) => command(PartCommand::Go, at),
            Some(FromControllerKind::Resume(resume)) => {
                let (begins, from) = (Tick(resume.begins_nanos), Tick(resume.from_nanos));
                ControllerRequest::Command(PartCommand::Resume { begins, from })
            }
            Some(FromControllerKind::SteadyNanos(at)) => command(PartCommand::Steady, at),
            Some(FromControllerKind::EnoughNanos(at)) => command(PartCommand::Enough, at),
            Some(FromControllerKind::StopNanos(at)) => command(PartCommand::Stop, at),
            None => continue,
        };
        return Some(ControllerMessage { run: RunNumber(message.run), request });
    }
}

fn command(command: fn(Tick) -> PartCommand, at: u64) -> ControllerRequest {
    ControllerRequest::Command(command(Tick(at)))
}

fn write(out: &mut impl Write, payload: &[u8]) -> io::Result<usize> {
    let frame = frame(payload)?;
    out.write_all(&frame)?;
    // The other program waits for messages such as `Ready`, so none may stay in a buffer.
    out.flush()?;
    Ok(frame.len())
}

fn payload(from: &mut impl Read) -> Option<Vec<u8>> {
    match read_frame(from) {
        Ok(Frame::Whole(payload)) => Some(payload),
        Ok(Frame::Torn | Frame::End) | Err(_) => None,
    }
}

fn path_text(path: &std::path::Path) -> io::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("{}: the path is not UTF-8", path.display())))
}

fn check_request(message: &CheckMessage) -> Option<CheckRequest> {
    let depth = if message.has_load { AgentCheckDepth::All } else { AgentCheckDepth::Route };
    Some(CheckRequest { plan: serde_json::from_str(&message.plan_json).ok()?, depth })
}

fn assignment_message(assignment: &Assignment) -> io::Result<AssignmentMessage> {
    let route = assignment.route.as_ref();
    Ok(AssignmentMessage {
        plan_json: assignment.plan.to_string(),
        agent: assignment.shares.process.number,
        agents: assignment.shares.process.count,
        quiet_agents: assignment.shares.process.quiet,
        shares: assignment.shares.populations.iter().map(|part| (*part).into()).collect(),
        epoch_nanos: assignment.epoch_nanos,
        lease_nanos: assignment.lease.map(crate::time::nanos),
        bytes_per_second: assignment.bytes_per_second,
        route_json: route.map(serde_json::to_string).transpose()?,
    })
}

fn assignment(message: &AssignmentMessage) -> Option<Assignment> {
    let route = message.route_json.as_deref().map(serde_json::from_str);
    let quiet = message.quiet_agents;
    let process = ProcessPart { number: message.agent, count: message.agents, quiet };
    let populations = message.shares.iter().map(|share| share.part(quiet)).collect();
    Some(Assignment {
        plan: serde_json::from_str(&message.plan_json).ok()?,
        shares: ProcessShares { process, populations },
        epoch_nanos: message.epoch_nanos,
        lease: message.lease_nanos.map(Duration::from_nanos),
        bytes_per_second: message.bytes_per_second,
        route: route.transpose().ok()?,
    })
}

impl From<Option<ProcessPart>> for ShareMessage {
    fn from(part: Option<ProcessPart>) -> Self {
        part.map_or_else(Self::default, |part| Self { agent: part.number, agents: part.count })
    }
}

impl ShareMessage {
    fn part(&self, quiet: u32) -> Option<ProcessPart> {
        let part = ProcessPart { number: self.agent, count: self.agents, quiet };
        (self.agents > 0).then_some(part)
    }
}

impl From<&RunEnd> for RunEndMessage {
    fn from(end: &RunEnd) -> Self {
        Self {
            error: end.error.clone(),
            properties: end.output.properties.iter().map(Into::into).collect(),
            variables: end.output.variables.iter().map(Into::into).collect(),
            has_ended_test: end.has_ended_test,
        }
    }
}

impl From<RunEndMessage> for RunEnd {
    fn from(message: RunEndMessage) -> Self {
        Self {
            error: message.error,
            output: StageOutput {
                properties: message.properties.into_iter().map(Into::into).collect(),
                variables: message.variables.into_iter().map(Into::into).collect(),
            },
            has_ended_test: message.has_ended_test,
        }
    }
}

impl From<&(String, String)> for Variable {
    fn from((name, value): &(String, String)) -> Self {
        Self { name: name.clone(), value: value.clone() }
    }
}

impl From<Variable> for (String, String) {
    fn from(variable: Variable) -> Self {
        (variable.name, variable.value)
    }
}
