//! The messages of the agents during a run: those of the run are passed on, others are dropped.

use super::Fleet;
use super::link::LinkEvent;
use brunt_engine::parts::WorkerEvent;
use brunt_model::agent::{AgentReport, RunEnd, RunNumber};
use brunt_model::sync::IgnorePoison;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::time::Duration;

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
}

impl RunInbox<'_> {
    /// Passes the next message on, if one comes within this time; None: without a limit. Returns None if nothing
    /// follows.
    pub fn pass_on(&mut self, wait: Option<Duration>) -> Option<()> {
        let inbox = self.fleet.inbox();
        let received = match wait {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => inbox.recv_timeout(wait),
        };
        drop(inbox);
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
}
