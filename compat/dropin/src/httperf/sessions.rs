//! Converts httperf's workload to requests, and to sessions that select them.

use super::args::{HttperfArgs, Workload};
use super::request::{RequestContent, request};
use super::session_log;
use brunt_model::Request;
use brunt_model::load::ThinkTime;
use brunt_model::scenario::{Branch, ConcurrencyMode, ListOrder, Portion, ScenarioStep};
use std::fs;
use std::time::Duration;

/// Requests and sessions of a run.
#[derive(Debug, Clone)]
pub struct SessionWorkload {
    pub requests: Vec<Request>,
    /// Calls of each connection or session, in turn. Empty if each sends one request.
    pub sessions: Vec<HttperfSession>,
    /// Number of connections or sessions.
    pub count: u64,
}

/// A connection or session.
#[derive(Debug, Clone)]
pub struct HttperfSession {
    pub steps: Vec<ScenarioStep>,
    pub calls: u64,
    /// Length of the longest burst.
    pub longest: u64,
}

/// Builds the workload. The error is httperf's message.
pub fn workload(args: &HttperfArgs) -> Result<SessionWorkload, String> {
    match &args.workload {
        Workload::Log(count, think, file) => {
            let text = fs::read_to_string(file).map_err(|_| format!("can't open {file}"))?;
            let logged = session_log::parse(&text, seconds(*think))?;
            Ok(from_log(args, &logged, *count))
        }
        Workload::Sessions(count, calls, think) => {
            with_requests(args, *count, *calls, seconds(*think))
        }
        Workload::Plain => with_requests(args, args.num_conns, args.num_calls, Duration::ZERO),
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn with_requests(
    args: &HttperfArgs,
    count: u64,
    calls: u64,
    think: Duration,
) -> Result<SessionWorkload, String> {
    let (uris, order, end) = uris(args)?;
    let requests: Vec<_> = uris
        .into_iter()
        .map(|uri| request(args, &RequestContent { uri, ..RequestContent::default() }))
        .collect();
    // A list that is not restarted ends the run: no connection is opened without requests.
    let count = end.map_or(count, |all| count.min(all.div_ceil(calls.max(1))));
    if calls == 0 {
        return Ok(SessionWorkload { requests, sessions: Vec::new(), count: 0 });
    }
    if calls == 1 && order == ListOrder::Sequence {
        return Ok(SessionWorkload { requests, sessions: Vec::new(), count });
    }
    let mut sessions = vec![session(args, calls, think, order)];
    if let Some(rest) =
        end.map(|all| all % calls).filter(|rest| *rest > 0 && count > end.unwrap_or(0) / calls)
    {
        sessions = vec![session(args, calls, think, order); count as usize - 1];
        sessions.push(session(args, rest, think, order));
    }
    Ok(SessionWorkload { requests, sessions, count })
}

/// The URIs, their order, and their number if the list is not restarted.
fn uris(args: &HttperfArgs) -> Result<(Vec<String>, ListOrder, Option<u64>), String> {
    if let Some((restarts, file)) = &args.wlog {
        let bytes = fs::read(file).map_err(|_| format!("can't open {file}"))?;
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        let uris: Vec<_> = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        if uris.is_empty() {
            return Err(format!("no URIs in {file}; they are parted by zero bytes"));
        }
        let end = (!restarts).then_some(uris.len() as u64);
        return Ok((uris, ListOrder::Sequence, end));
    }
    match args.wset {
        Some((files, share)) => Ok((
            working_set(args, files),
            ListOrder::Slow((share * 1e6).round().clamp(0.0, 1e6) as u32),
            None,
        )),
        None => Ok((vec![args.uri.clone()], ListOrder::Sequence, None)),
    }
}

/// The files of a working set, in the order in which this client requests them.
fn working_set(args: &HttperfArgs, files: u64) -> Vec<String> {
    let (id, clients) = args.client;
    let digits = (files - 1).to_string().len();
    let prefix = args.uri.trim_end_matches('/');
    (0..files)
        .map(|index| {
            let number = format!("{:0digits$}", (id + clients * index) % files);
            let path: Vec<String> = number.chars().map(String::from).collect();
            format!("{prefix}/{}.html", path.join("/"))
        })
        .collect()
}

/// Builds a session of calls in bursts of `--burst-length`. A burst longer than
/// the pipeline limit is split.
fn session(args: &HttperfArgs, calls: u64, think: Duration, order: ListOrder) -> HttperfSession {
    let length = args.burst_length.min(calls);
    let full_bursts = calls / length;
    let rest = calls % length;
    let burst_of = |calls: u64| burst(args, calls, |calls| next_requests(calls, order));
    // There is no think time after the last burst.
    let (times, last) =
        if rest > 0 { (full_bursts, burst_of(rest)) } else { (full_bursts - 1, burst_of(length)) };
    let steps = [burst_of(length), pause(think)].concat();
    let before = (times > 0).then_some(ScenarioStep::Loop { times: Some(times.into()), steps });
    HttperfSession { steps: before.into_iter().chain(last).collect(), calls, longest: length }
}

fn next_requests(calls: u64, order: ListOrder) -> Vec<ScenarioStep> {
    vec![ScenarioStep::Loop { times: Some(calls.into()), steps: vec![ScenarioStep::Next(order)] }]
}

fn pause(think: Duration) -> Vec<ScenarioStep> {
    if think.is_zero() {
        Vec::new()
    } else {
        vec![ScenarioStep::Think(ThinkTime { least: think, most: think })]
    }
}

/// Builds a burst, calls that are sent together. `requests` builds the steps of the next calls.
///
/// A session sends the first call of a burst alone, and never exceeds the pipeline limit.
fn burst(
    args: &HttperfArgs,
    calls: u64,
    mut requests: impl FnMut(u64) -> Vec<ScenarioStep>,
) -> Vec<ScenarioStep> {
    let mut pipelined = |calls: u64| ScenarioStep::Together {
        manner: ConcurrencyMode::Pipelined,
        steps: requests(calls),
    };
    if !args.has_sessions() {
        return vec![pipelined(calls)];
    }
    let most = args.piped() + 1;
    let mut remaining = calls;
    let parts = [1, most - 1].into_iter().chain(std::iter::repeat(most)).map_while(|part| {
        let part = part.min(remaining);
        remaining -= part;
        (remaining > 0 || part > 0).then_some(part)
    });
    parts.filter(|part| *part > 0).map(&mut pipelined).collect()
}

fn from_log(args: &HttperfArgs, log: &[Vec<session_log::Burst>], count: u64) -> SessionWorkload {
    let mut requests = Vec::new();
    let sessions = log.iter().map(|bursts| logged_session(args, bursts, &mut requests)).collect();
    SessionWorkload { requests, sessions, count }
}

/// Builds a session of a log, and appends its requests to `requests`.
fn logged_session(
    args: &HttperfArgs,
    bursts: &[session_log::Burst],
    requests: &mut Vec<Request>,
) -> HttperfSession {
    let mut session = HttperfSession { steps: Vec::new(), calls: 0, longest: 1 };
    for (index, logged) in bursts.iter().enumerate() {
        let mut next = requests.len() as u32;
        requests.extend(logged.calls.iter().map(|content| request(args, content)));
        let calls = logged.calls.len() as u64;
        let steps = burst(args, calls, |calls| {
            let part = (next..next + calls as u32).map(ScenarioStep::Request).collect();
            next += calls as u32;
            part
        });
        session.steps.extend(steps);
        session.calls += calls;
        session.longest = session.longest.max(calls);
        if index + 1 < bursts.len() {
            session.steps.extend(pause(logged.think));
        }
    }
    session
}

/// The steps of the scenario: each iteration is one connection or session.
pub fn steps(sessions: Vec<HttperfSession>) -> Vec<ScenarioStep> {
    match sessions.len() {
        0 => vec![ScenarioStep::Next(ListOrder::Sequence)],
        _ => vec![ScenarioStep::Choose {
            order: ListOrder::Sequence,
            portion: Portion::Whole,
            branches: sessions
                .into_iter()
                .map(|session| Branch { weight: 1, steps: session.steps })
                .collect(),
        }],
    }
}
