//! A lease on the servers of a run, which a thread renews until the run is over.

use crate::live::print_line;
use brunt_model::sync::IgnorePoison;
use brunt_model::{Event, Text, Tick, Warning, text};
use brunt_runner::EventListener;
use brunt_runner::line_socket::ask;
use brunt_web::client::TeamServer;
use brunt_web::leases::{HeldLease, LeaseProblem, LeaseRequest};
use brunt_web::local::{LEASE, LeaseAnswer, LeaseOrder};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pause between attempts to take a lease that another one has.
const PAUSE: Duration = Duration::from_secs(2);

/// A studio that keeps leases.
#[derive(Clone)]
pub enum LeaseKeeper {
    /// A team's studio.
    Team(Arc<TeamServer>),
    /// The studio of this machine that has started the run.
    Local {
        /// Socket of the studio.
        socket: PathBuf,
        /// Name of the visitor that started the run.
        holder: String,
    },
}

impl LeaseKeeper {
    fn take(&self, request: &LeaseRequest) -> Result<HeldLease, LeaseProblem> {
        match self {
            Self::Team(server) => Ok(server.take_lease(request)?),
            Self::Local { holder, .. } => {
                let request = request.clone();
                self.lease_of(&LeaseOrder::Take { holder: holder.clone(), request })
            }
        }
    }

    fn renew(&self, key: &str) -> Result<HeldLease, LeaseProblem> {
        match self {
            Self::Team(server) => Ok(server.renew_lease(key)?),
            Self::Local { holder, .. } => {
                self.lease_of(&LeaseOrder::Renew { holder: holder.clone(), key: key.to_owned() })
            }
        }
    }

    fn release(&self, key: &str) -> Result<(), LeaseProblem> {
        match self {
            Self::Team(server) => Ok(server.release_lease(key)?),
            Self::Local { socket, holder } => {
                let order = LeaseOrder::Release { holder: holder.clone(), key: key.to_owned() };
                order_locally(socket, &order).map(drop)
            }
        }
    }

    fn lease_of(&self, order: &LeaseOrder) -> Result<HeldLease, LeaseProblem> {
        let Self::Local { socket, .. } = self else { return Err(problem("no local studio")) };
        order_locally(socket, order)?
            .ok_or_else(|| problem("the studio has answered without a lease"))
    }
}

fn problem(text: impl Into<String>) -> LeaseProblem {
    LeaseProblem { text: text.into(), is_held: false, is_unknown: false }
}

fn order_locally(socket: &Path, order: &LeaseOrder) -> LeaseAnswer {
    let text = serde_json::to_string(order).unwrap_or_default();
    let answer = ask(socket, &format!("{LEASE}{text}"));
    let answer = answer.map_err(|error| problem(format!("the studio does not answer: {error}")))?;
    serde_json::from_str(&answer)
        .map_err(|_| problem("the studio is one of another version of brunt"))?
}

/// Takes a lease, and waits for another one up to this time.
pub fn take(
    keeper: &LeaseKeeper,
    request: &LeaseRequest,
    wait: Duration,
) -> Result<HeldLease, LeaseProblem> {
    let mut waited = Duration::ZERO;
    loop {
        match keeper.take(request) {
            Err(problem) if problem.is_held && waited < wait => {
                // Only once: a message every 2 s would fill the log of a CI job.
                if waited.is_zero() {
                    print_line(&format!("waiting for a lease: {}", problem.text));
                }
                thread::sleep(PAUSE);
                waited += PAUSE;
            }
            taken => return taken,
        }
    }
}

/// A lease of this process. Drop releases it.
pub struct RunLease {
    notes: Arc<Mutex<Vec<Text>>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RunLease {
    /// Renews a lease from now on.
    pub fn keep(keeper: LeaseKeeper, request: LeaseRequest, held: HeldLease) -> Self {
        let notes: Arc<Mutex<Vec<Text>>> = Arc::default();
        let (end, ended) = channel();
        let mut renewal =
            Renewal { keeper, request, held, notes: Arc::clone(&notes), is_lost: false };
        let thread = thread::Builder::new().name("brunt-lease".into()).spawn(move || {
            // A renewal may fail twice before the lease ends.
            let pause = Duration::from_secs(u64::from(renewal.held.seconds).max(3)) / 3;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                renewal.renew();
            }
            // The lease ends by itself if this fails.
            let _ = renewal.keeper.release(&renewal.held.key);
        });
        Self { notes, end: Some(end), thread: thread.ok() }
    }

    /// A listener that adds a warning to a run without a lease.
    pub fn listener(&self) -> LeaseNotes {
        LeaseNotes(Arc::clone(&self.notes))
    }
}

impl Drop for RunLease {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // Without this wait, the process could end before the release is sent.
            let _ = thread.join();
        }
    }
}

/// The renewal of a lease.
struct Renewal {
    keeper: LeaseKeeper,
    request: LeaseRequest,
    held: HeldLease,
    notes: Arc<Mutex<Vec<Text>>>,
    /// True after a failure that was noted.
    is_lost: bool,
}

impl Renewal {
    fn renew(&mut self) {
        let renewed = match self.keeper.renew(&self.held.key) {
            // The studio was started again, or this machine was asleep.
            Err(problem) if problem.is_unknown => self.keeper.take(&self.request),
            renewed => renewed,
        };
        match renewed {
            Ok(held) => {
                self.held = held;
                self.is_lost = false;
            }
            Err(problem) => {
                if !self.is_lost {
                    let note = text!("warning-lease-lost", why = problem.text);
                    self.notes.lock().ignore_poison().push(note);
                }
                self.is_lost = true;
            }
        }
    }
}

/// Adds warnings about the lease to a run.
#[derive(Default)]
pub struct LeaseNotes(Arc<Mutex<Vec<Text>>>);

impl EventListener for LeaseNotes {
    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        let mut notes = self.0.lock().ignore_poison();
        notes.drain(..).map(|text| Event::Warning(Warning { at, text })).collect()
    }
}
