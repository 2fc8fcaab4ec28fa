//! What carries out a single run, and hears how the experiment goes.

use crate::server::Server;
use brunt_model::experiment::Contender;
use brunt_model::{Plan, ProbeSpec, TrialIndex};
use std::time::Duration;

/// Makes runs and keeps them, for rig: one process, several, or a fleet.
pub trait Host {
    /// Why a run could not be made at all: we failed, not the server.
    type Error;

    /// Makes a run, and keeps it. It ends early where somebody stops the experiment meanwhile.
    ///
    /// # Errors
    ///
    /// The run could not be made at all; whatever the server did is no error.
    fn run(&mut self, work: &Work) -> Result<(), Self::Error>;

    /// Hears what is done around the runs.
    fn say(&mut self, news: News);

    /// Whether somebody wants the experiment to end. Asked again and again while anything is waited for.
    fn stopped(&self) -> bool;

    /// Whether enough is known, so that no more need be made. Asked when all contenders were measured in a repetition.
    fn enough(&mut self, repetition: u32) -> bool {
        let _ = repetition;
        false
    }
}

/// One run that is to be made.
pub struct Work<'a> {
    /// Which.
    pub place: TrialIndex,
    /// Whose.
    pub contender: &'a Contender,
    /// Its load, as the step says it.
    pub load: f64,
    /// The step's plan, with a seed of this place's own: repetitions are to differ in their arrivals, contenders are not.
    pub plan: Plan,
    /// What is to be read meanwhile. `Select::Server` has become `Select::Pid`.
    pub probes: Vec<ProbeSpec>,
    /// Trial index, from 1, those done before an interruption included.
    pub number: usize,
    /// Trials in all; None where nobody knows that yet.
    pub of: Option<usize>,
    /// The managed server.
    pub(crate) server: Option<&'a Server<'a>>,
}

impl Work<'_> {
    /// What befell the managed server, as a sentence; asked at the end of the run. None: it is there.
    pub fn trouble(&self) -> Option<String> {
        let ending = self.server?.ended()?;
        Some(format!(
            "the server of {} ended during the run ({ending}); it did not respond after that",
            self.contender.name
        ))
    }
}

/// What is done around the runs.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A hook is begun.
    Hook {
        /// When, such as `before the step at 50 of nginx, repetition 2`.
        when: String,
        /// What `sh` is given.
        command: String,
    },
    /// A managed server is started.
    Starting {
        /// Whose.
        contender: String,
    },
    /// It answers.
    Ready {
        /// Whose.
        contender: String,
        /// How long it took.
        took: Duration,
    },
    /// A managed server is stopped.
    Stopping {
        /// Whose.
        contender: String,
    },
    /// Nothing is done, so that the machine comes to rest.
    Resting {
        /// Duration.
        time: Duration,
    },
    /// What the reader should know.
    Warning(String),
}
