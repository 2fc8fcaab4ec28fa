//! What connections and sessions ask: a workload of httperf's as requests and the sessions that pick them.

use super::args::{Args, Workload};
use super::request::{RequestContent, request};
use super::session_log;
use brunt_model::Request;
use brunt_model::load::Think;
use brunt_model::scenario::{Branch, Manner, Order, Portion, Step};
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

/// A connection or session.
#[derive(Debug, Clone)]
pub struct Session {
    /// What it does.
    pub steps: Vec<Step>,
    /// How many calls it has.
    pub calls: u64,
    /// The most of them that follow each other at once.
    pub longest: u64,
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
    let (uris, order, end) = uris(args)?;
    let ask = |uri: String| request(args, &RequestContent { uri, ..RequestContent::default() });
    let requests: Vec<_> = uris.into_iter().map(ask).collect();
    // A list that is not begun again ends the run: no connection is begun for what is not there.
    let many = end.map_or(many, |all| many.min(all.div_ceil(calls.max(1))));
    if calls == 0 {
        return Ok(Wanted { requests, sessions: Vec::new(), many: 0 });
    }
    if calls == 1 && order == Order::Sequence {
        return Ok(Wanted { requests, sessions: Vec::new(), many });
    }
    let session = |calls| session(args, calls, think, order);
    let mut sessions = vec![session(calls)];
    if let Some(rest) = end.map(|all| all % calls).filter(|rest| *rest > 0 && many > end.unwrap_or(0) / calls) {
        sessions = vec![session(calls); many as usize - 1];
        sessions.push(session(rest));
    }
    Ok(Wanted { requests, sessions, many })
}

/// The URIs that are asked for, their order, and how many there are where they come to an end.
fn uris(args: &Args) -> Result<(Vec<String>, Order, Option<u64>), String> {
    if let Some((again, file)) = &args.wlog {
        let bytes = fs::read(file).map_err(|_| format!("can't open {file}"))?;
        let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        let uris: Vec<_> = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        if uris.is_empty() {
            return Err(format!("no URIs in {file}; they are parted by zero bytes"));
        }
        let end = (!again).then_some(uris.len() as u64);
        return Ok((uris, Order::Sequence, end));
    }
    match args.wset {
        Some((files, share)) => {
            Ok((working_set(args, files), Order::Slow((share * 1e6).round().clamp(0.0, 1e6) as u32), None))
        }
        None => Ok((vec![args.uri.clone()], Order::Sequence, None)),
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
fn session(args: &Args, calls: u64, think: Duration, order: Order) -> Session {
    let length = args.burst_length.min(calls);
    let (whole, rest) = (calls / length, calls % length);
    let ask = |calls: u64| vec![Step::Loop { times: Some(calls.into()), steps: vec![Step::Next(order)] }];
    let burst = |calls| burst(args, calls, ask);
    // There is no pause behind the last burst.
    let (times, last) = if rest > 0 { (whole, burst(rest)) } else { (whole - 1, burst(length)) };
    let steps = [burst(length), pause(think)].concat();
    let before = (times > 0).then_some(Step::Loop { times: Some(times.into()), steps });
    Session { steps: before.into_iter().chain(last).collect(), calls, longest: length }
}

fn pause(think: Duration) -> Vec<Step> {
    if think.is_zero() { Vec::new() } else { vec![Step::Think(Think { least: think, most: think })] }
}

/// Calls that follow each other at once; `ask` has the steps of the next so many. A session sends the first call of a burst
/// alone, and no more than may be under way.
fn burst(args: &Args, calls: u64, mut ask: impl FnMut(u64) -> Vec<Step>) -> Vec<Step> {
    let mut at_once = |calls: u64| Step::Together { manner: Manner::Pipelined, steps: ask(calls) };
    if !args.has_sessions() {
        return vec![at_once(calls)];
    }
    let most = args.piped() + 1;
    let mut left = calls;
    let parts = [1, most - 1].into_iter().chain(std::iter::repeat(most)).map_while(|part| {
        let part = part.min(left);
        left -= part;
        (left > 0 || part > 0).then_some(part)
    });
    parts.filter(|part| *part > 0).map(&mut at_once).collect()
}

fn from_log(args: &Args, logged: &[Vec<session_log::Burst>], many: u64) -> Wanted {
    let mut requests = Vec::new();
    let mut session = |bursts: &Vec<session_log::Burst>| {
        let mut session = Session { steps: Vec::new(), calls: 0, longest: 1 };
        for (n, logged) in bursts.iter().enumerate() {
            let mut next = requests.len() as u32;
            requests.extend(logged.calls.iter().map(|asked| request(args, asked)));
            let calls = logged.calls.len() as u64;
            let steps = burst(args, calls, |calls| {
                let asked = (next..next + calls as u32).map(Step::Request).collect();
                next += calls as u32;
                asked
            });
            session.steps.extend(steps);
            (session.calls, session.longest) = (session.calls + calls, session.longest.max(calls));
            if n + 1 < bursts.len() {
                session.steps.extend(pause(logged.think));
            }
        }
        session
    };
    let sessions: Vec<_> = logged.iter().map(&mut session).collect();
    Wanted { requests, sessions, many }
}

/// What each connection or session does.
pub fn steps(sessions: Vec<Session>) -> Vec<Step> {
    let branch = |session: Session| Branch { weight: 1, steps: session.steps };
    match sessions.len() {
        0 => vec![Step::Next(Order::Sequence)],
        _ => vec![Step::Choose {
            order: Order::Sequence,
            portion: Portion::Whole,
            branches: sessions.into_iter().map(branch).collect(),
        }],
    }
}
