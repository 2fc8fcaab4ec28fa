//! What connections and sessions ask: a workload of httperf's as requests and the sessions that pick them.

use super::args::{Args, Workload};
use super::request::{Asked, request};
use super::session_log;
use brunt_model::Request;
use brunt_model::plan::{Burst, Manner, Pick, Session};
use std::fs;
use std::time::Duration;

/// What is asked, and how often.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// All requests.
    pub requests: Vec<Request>,
    /// What connections or sessions are made of, in turn; empty: one request each.
    pub sessions: Vec<Session>,
    /// How many connections or sessions there are.
    pub many: u64,
}

/// What the arguments want; or what httperf says and ends of.
pub fn wanted(args: &Args) -> Result<Wanted, String> {
    match &args.workload {
        Workload::Log(many, think, file) => {
            let text = fs::read_to_string(file).map_err(|_| format!("can't open {file}"))?;
            let logged = session_log::parse(&text, seconds(*think))?;
            Ok(from_log(args, &logged, *many))
        }
        Workload::Sessions(many, calls, think) => with_requests(args, *many, *calls, seconds(*think)),
        Workload::Plain => with_requests(args, args.num_conns, args.num_calls, Duration::ZERO),
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn with_requests(args: &Args, many: u64, calls: u64, think: Duration) -> Result<Wanted, String> {
    let (uris, pick, end) = uris(args)?;
    let ask = |uri: String| request(args, &Asked { uri, ..Asked::default() });
    let requests: Vec<_> = uris.into_iter().map(ask).collect();
    // A list that is not begun again ends the run: no connection is begun for what is not there.
    let many = end.map_or(many, |all| many.min(all.div_ceil(calls.max(1))));
    if calls == 0 {
        return Ok(Wanted { requests, sessions: Vec::new(), many: 0 });
    }
    if calls == 1 && pick == Pick::Order {
        return Ok(Wanted { requests, sessions: Vec::new(), many });
    }
    let session = |calls| Session { bursts: bursts(args, calls, think, pick) };
    let mut sessions = vec![session(calls)];
    if let Some(rest) = end.map(|all| all % calls).filter(|rest| *rest > 0 && many > end.unwrap_or(0) / calls) {
        sessions = vec![session(calls); many as usize - 1];
        sessions.push(session(rest));
    }
    Ok(Wanted { requests, sessions, many })
}

/// The URIs that are asked for, how they are picked, and how many there are where they come to an end.
fn uris(args: &Args) -> Result<(Vec<String>, Pick, Option<u64>), String> {
    if let Some((again, file)) = &args.wlog {
        let bytes = fs::read(file).map_err(|_| format!("can't open {file}"))?;
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        let uris: Vec<_> = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        if uris.is_empty() {
            return Err(format!("no URIs in {file}; they are parted by zero bytes"));
        }
        let end = (!again).then_some(uris.len() as u64);
        return Ok((uris, Pick::Order, end));
    }
    match args.wset {
        Some((files, share)) => {
            Ok((working_set(args, files), Pick::Slow((share * 1e6).round().clamp(0.0, 1e6) as u32), None))
        }
        None => Ok((vec![args.uri.clone()], Pick::Order, None)),
    }
}

/// The files of a working set in the order in which this client asks for them.
fn working_set(args: &Args, files: u64) -> Vec<String> {
    let (id, clients) = args.client;
    let digits = (files - 1).to_string().len();
    let prefix = args.uri.trim_end_matches('/');
    let file = |k: u64| {
        let number = format!("{:0digits$}", (id + clients * k) % files);
        let path: Vec<String> = number.chars().map(String::from).collect();
        format!("{prefix}/{}.html", path.join("/"))
    };
    (0..files).map(file).collect()
}

/// Calls in bursts of the length that was asked for; one that is longer than may be under way comes in parts.
fn bursts(args: &Args, calls: u64, think: Duration, pick: Pick) -> Vec<Burst> {
    let length = args.burst_length.min(calls);
    let (whole, rest) = (calls / length, calls % length);
    let mut bursts = burst(args, (whole, length), think, pick);
    if rest > 0 {
        bursts.extend(burst(args, (1, rest), think, pick));
    }
    bursts
}

fn burst(args: &Args, (times, length): (u64, u64), think: Duration, pick: Pick) -> Vec<Burst> {
    let manner = if args.has_sessions() { Manner::AfterTheFirst } else { Manner::Together };
    let most = args.piped() + 1;
    // Only sessions have a limit.
    if length <= most || !args.has_sessions() {
        return vec![Burst { times, requests: length as u32, pick, manner, think }];
    }
    let part = |k: u64| {
        let requests = (length - k * most).min(most) as u32;
        let last = (k + 1) * most >= length;
        let manner = if k == 0 { manner } else { Manner::Together };
        Burst { times: 1, requests, pick, manner, think: if last { think } else { Duration::ZERO } }
    };
    let parts: Vec<Burst> = (0..length.div_ceil(most)).map(part).collect();
    (0..times).flat_map(|_| parts.clone()).collect()
}

fn from_log(args: &Args, logged: &[Vec<session_log::Burst>], many: u64) -> Wanted {
    let mut requests = Vec::new();
    let mut session = |bursts: &Vec<session_log::Burst>| {
        let bursts = bursts.iter().flat_map(|logged| {
            let first = requests.len() as u32;
            requests.extend(logged.calls.iter().map(|asked| request(args, asked)));
            let count = logged.calls.len() as u64;
            let mut from = first;
            let parts = burst(args, (1, count), logged.think, Pick::From(first));
            parts.into_iter().map(move |part| {
                let part = Burst { pick: Pick::From(from), ..part };
                from += part.requests;
                part
            })
        });
        Session { bursts: bursts.collect() }
    };
    let sessions: Vec<_> = logged.iter().map(&mut session).collect();
    Wanted { requests, sessions, many }
}
