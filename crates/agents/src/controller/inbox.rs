//! The messages of the agents during a run: those of the run are passed on, others are dropped.

use super::Fleet;
use super::link::LinkEvent;
use brunt_engine::parts::WorkerEvent;
use brunt_engine::{RunControl, RunEpoch};
use brunt_model::agent::{AgentReport, RunEnd, RunNumber};
use brunt_model::sync::IgnorePoison;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::time::Duration;

/// Interval at which silent agents are looked for.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Time without a message after which an agent is lost.
const SILENCE: Duration = Duration::from_secs(30);

/// The same once the user has stopped the run, and waits for its report.
const STOPPED_SILENCE: Duration = Duration::from_secs(10);

/// The messages of the agents during a run.
pub struct RunInbox<'a> {
    pub fleet: &'a Fleet,
    /// Number of the run.
    pub number: RunNumber,
    /// Agents that have not ended their part of the run.
    pub running: BTreeSet<usize>,
    /// Ends of the run on the agents.
    pub ends: &'a Mutex<Vec<(usize, RunEnd)>>,
    /// Receives the events of the run.
    pub out: SyncSender<(usize, WorkerEvent)>,
    pub control: &'a RunControl,
    /// Instant of the next check for silent agents on the monotonic clock, in nanoseconds.
    pub next_check: u64,
}

impl RunInbox<'_> {
    /// Passes the next message on, if one comes within this time. Returns None if nothing follows.
    pub fn pass_on(&mut self, wait: Duration) -> Option<()> {
        let received = self.fleet.inbox().recv_timeout(wait);
        self.give_up_silent_agents()?;
        let (agent, event) = match received {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout) => return Some(()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let event = match event {
            // Results of an earlier run come too late.
            LinkEvent::Report(run, _) if run != self.number => return Some(()),
            LinkEvent::Report(_, AgentReport::Part(message)) => {
                WorkerEvent::Message(Box::new(message))
            }
            LinkEvent::Report(_, AgentReport::Finished(end)) => {
                self.running.remove(&agent);
                let why = end.error.clone();
                self.ends.lock().ignore_poison().push((agent, end));
                WorkerEvent::Exited(why)
            }
            LinkEvent::Report(..) => return Some(()),
            // The end of a lost agent that was replaced between two runs.
            LinkEvent::Closed(_) if self.fleet.links[agent].closed().is_none() => return Some(()),
            LinkEvent::Closed(why) => {
                // An agent without a share, or one that has finished, is not missed in this run.
                if !self.running.remove(&agent) {
                    return Some(());
                }
                WorkerEvent::Exited(Some(why))
            }
        };
        self.out.send((agent, event)).ok()
    }

    /// Ends agents that have sent nothing for a long time: a frozen process, a cut connection. A live agent answers
    /// readings of its clock. Returns None if nothing follows.
    fn give_up_silent_agents(&mut self) -> Option<()> {
        let now = RunEpoch::now().nanos();
        if now < self.next_check {
            return Some(());
        }
        self.next_check = now + CHECK_INTERVAL.as_nanos() as u64;
        let limit = if self.control.is_stopped() { STOPPED_SILENCE } else { SILENCE };
        for agent in self.running.clone() {
            let link = &self.fleet.links[agent];
            // Checks are counted and not the time, because this process may have been suspended.
            if CHECK_INTERVAL * link.count_silent_check() < limit {
                continue;
            }
            let reason = format!("it sent nothing for {} s", limit.as_secs());
            if link.give_up(&reason) {
                self.running.remove(&agent);
                self.out.send((agent, WorkerEvent::Exited(Some(reason)))).ok()?;
            }
        }
        Some(())
    }
}
