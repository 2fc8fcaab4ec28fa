//! A brunt without a studio belongs to no team.

use crate::args::run::BrowserArgs;
use anyhow::Result;
use brunt_model::{Plan, Text};
use brunt_runner::EventListener;
use brunt_store::{Store, StoredItem};

/// Warnings about a lease, of which there is none.
pub struct LeaseNotes;

impl EventListener for LeaseNotes {}

/// A run as a part of a team, which does not exist here.
pub enum TeamRun {}

impl TeamRun {
    /// Returns None.
    #[expect(clippy::unnecessary_wraps, reason = "the same signature with a studio")]
    pub fn join<'p>(
        _args: &BrowserArgs,
        _store: Option<&Store>,
        _plans: impl Iterator<Item = &'p Plan>,
    ) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Notes for the report.
    pub fn notes(&self) -> &[Text] {
        match *self {}
    }

    /// A listener of each run.
    pub fn listener(&self) -> LeaseNotes {
        match *self {}
    }

    /// Sends a run or an experiment to the studio.
    pub fn push(&self, _store: &Store, _item: &StoredItem, _quiet: bool) {
        match *self {}
    }
}
