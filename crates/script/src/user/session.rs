//! The virtual user whose iterations are sessions: bursts of requests with pauses between them.

use super::WorkerScript;
use brunt_engine::{Step, Turn, VirtualUser};
use brunt_model::plan::{Burst, Cookies, Manner, Pick};
use brunt_wire::{Prepared, Transport};
use std::rc::Rc;
use std::time::Duration;

/// One user, and where it is in its session.
pub(super) struct Visitor<T: Transport> {
    worker_script: Rc<WorkerScript<T>>,
    /// Number of the burst within the session, and how often it came.
    burst: usize,
    came: u64,
    /// Requests of this burst that were asked.
    asked: u32,
    /// Requests of this session that were asked.
    before: u64,
    /// The header line of the newest cookie.
    cookie: Option<String>,
}

/// What comes next of a session.
enum Next {
    Ask(u32),
    Think(Duration),
    Nothing,
}

impl<T: Transport> Visitor<T> {
    pub(super) fn new(worker_script: Rc<WorkerScript<T>>) -> Self {
        Self { worker_script, burst: 0, came: 0, asked: 0, before: 0, cookie: None }
    }

    fn bursts(&self, number: u64) -> &[Burst] {
        let sessions = &self.worker_script.compiled.sessions;
        &sessions[(number % sessions.len() as u64) as usize].0.bursts
    }

    fn begin(&mut self) {
        (self.burst, self.came, self.asked, self.before, self.cookie) = (0, 0, 0, 0, None);
    }

    /// Where the session stands, and one step further.
    fn advance(&mut self, number: u64) -> (Next, Option<Burst>) {
        let Some(burst) = self.bursts(number).get(self.burst).copied() else { return (Next::Nothing, None) };
        if burst.requests == 0 || burst.times == 0 {
            (self.burst, self.came, self.asked) = (self.burst + 1, 0, 0);
            return self.advance(number);
        }
        if self.asked < burst.requests {
            let alone = burst.manner == Manner::AfterTheFirst && self.asked == 0;
            return (Next::Ask(if alone { 1 } else { burst.requests - self.asked }), Some(burst));
        }
        (self.came, self.asked) = (self.came + 1, 0);
        if self.came >= burst.times {
            (self.burst, self.came) = (self.burst + 1, 0);
        }
        let more = self.burst < self.bursts(number).len();
        if more && !burst.think.is_zero() {
            return (Next::Think(burst.think), None);
        }
        self.advance(number)
    }

    /// The next `count` requests of a burst.
    fn ask(&mut self, number: u64, burst: Burst, count: u32) -> Result<Vec<Rc<Prepared>>, String> {
        let first = self.worker_script.compiled.first_of(number) + self.before;
        let request = |k: u32| {
            let n = first + u64::from(k);
            let request = match burst.pick {
                Pick::Order => self.worker_script.request(n),
                Pick::From(entry) => self.worker_script.entry((entry + self.asked + k) as usize, n),
                Pick::Slow(millionths) => {
                    self.worker_script.entry(slow(n, millionths, self.worker_script.ready.len()), n)
                }
            }?;
            Ok(self.cookie.as_ref().map_or_else(|| Rc::clone(&request), |line| Rc::new(request.with_line(line))))
        };
        let requests = (0..count).map(request).collect();
        self.asked += count;
        self.before += u64::from(count);
        requests
    }
}

/// Of `entries`, the one for request `n` where a new one comes every so many requests.
fn slow(n: u64, millionths: u32, entries: usize) -> usize {
    let passed = (u128::from(n) + 1) * u128::from(millionths) / 1_000_000;
    (passed % entries.max(1) as u128) as usize
}

impl<T: Transport> VirtualUser for Visitor<T> {
    fn next(&mut self, turn: Turn<'_>) -> Step {
        if turn.step == 0 {
            self.begin();
        }
        if turn.failed {
            return Step::Done;
        }
        let cookie = turn.last.and_then(|reply| reply.kept.as_ref()?.cookie.as_ref());
        if let Some(cookie) = cookie.filter(|_| self.worker_script.compiled.cookies == Cookies::Newest) {
            self.cookie = Some(format!("Cookie: {cookie}"));
        }
        match self.advance(turn.number) {
            (Next::Nothing, _) | (Next::Ask(_), None) => Step::Done,
            (Next::Think(time), _) => Step::Think(time),
            (Next::Ask(count), Some(burst)) => match self.ask(turn.number, burst, count) {
                Err(why) => Step::Broken(why),
                Ok(mut one) if one.len() == 1 => one.pop().map_or(Step::Done, Step::Request),
                Ok(requests) => Step::Together(requests),
            },
        }
    }
}
