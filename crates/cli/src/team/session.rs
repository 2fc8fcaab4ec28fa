//! The studio of a run: `--studio=URL`, or the studio that has started the run.

use super::lease::{LeaseKeeper, LeaseNotes, RunLease, take};
use crate::args::run::BrowserArgs;
use crate::causes;
use crate::live::print_line;
use anyhow::{Context, Result, bail};
use brunt_model::{Plan, Text, text};
use brunt_store::{Store, StoredItem};
use brunt_web::HOLDER_VARIABLE;
use brunt_web::client::TeamServer;
use brunt_web::leases::{LeaseRequest, target_of};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Variable with the token of a team's studio. Arguments are visible to other users of the machine.
const TOKEN_VARIABLE: &str = "BRUNT_STUDIO_TOKEN";

/// Maximum length of the purpose of a lease.
const MAX_PURPOSE: usize = 100;

/// Prepares requests to a team's studio, with the token from the environment.
pub fn server(url: &str, authority: Option<&Path>) -> Result<TeamServer> {
    // CI systems set the variable of a missing secret to an empty text.
    let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    let Some(token) = token else {
        bail!(
            "{url} needs a token; set the environment variable {TOKEN_VARIABLE} to the secret that \
             `brunt studio token NAME run` has printed there"
        );
    };
    // A secret that was read from a file often has a final line break.
    Ok(TeamServer::new(url, token.trim(), authority)?)
}

/// A run as a part of a team.
pub struct TeamRun {
    /// The studio that receives the run; None for a run of a studio of this machine.
    server: Option<Arc<TeamServer>>,
    /// Option with the authority of the studio, for a command that repeats a push.
    authority: String,
    /// None if no server has a name before the run, or the lease needs no renewal.
    lease: Option<RunLease>,
    notes: Vec<Text>,
}

impl TeamRun {
    /// Takes a lease on the servers of these plans, if the run belongs to a team. Sends nothing to them.
    pub fn join<'p>(
        args: &BrowserArgs,
        store: Option<&Store>,
        plans: impl Iterator<Item = &'p Plan>,
    ) -> Result<Option<Self>> {
        let server = match args.team() {
            Some(url) => Some(Arc::new(server(url, args.authority())?)),
            None => None,
        };
        // The studio sets it for the runs that it starts.
        let holder = std::env::var(HOLDER_VARIABLE).ok().filter(|holder| !holder.is_empty());
        let keeper = match (&server, holder, store) {
            (Some(server), _, _) => LeaseKeeper::Team(Arc::clone(server)),
            (None, Some(holder), Some(store)) => {
                LeaseKeeper::Local { socket: store.studio_socket(), holder }
            }
            _ if !args.lease_wait().is_zero() => {
                bail!("--wait-lease: a run without a team takes no lease; add --studio=URL")
            }
            _ => return Ok(None),
        };
        let authority = args.authority().map(|file| format!(" --cacert {}", file.display()));
        let authority = authority.unwrap_or_default();
        let mut team = Self { server, authority, lease: None, notes: Vec::new() };
        let targets = team.targets(plans);
        if targets.is_empty() {
            return Ok(Some(team));
        }
        let purpose = purpose();
        let request =
            LeaseRequest { targets: targets.into_iter().collect(), purpose, seconds: None };
        match take(&keeper, &request, args.lease_wait()) {
            Ok(lease) => team.lease = Some(RunLease::keep(keeper, request, lease)),
            Err(problem) if problem.is_held && args.lease_wait().is_zero() => {
                return Err(anyhow::anyhow!(problem.text))
                    .context("the run was not started; with --wait-lease TIME it waits");
            }
            Err(problem) => {
                bail!("the run was not started, because it has no lease: {}", problem.text)
            }
        }
        Ok(Some(team))
    }

    /// The servers of the plans, as `host:port`.
    fn targets<'p>(&mut self, plans: impl Iterator<Item = &'p Plan>) -> BTreeSet<String> {
        let mut targets = BTreeSet::new();
        let mut has_variables = false;
        for request in plans.flat_map(Plan::requests) {
            match target_of(&request.url) {
                Some(target) => {
                    targets.insert(target);
                }
                None => has_variables = true,
            }
        }
        if has_variables {
            self.notes.push(text!("warning-not-leased"));
        }
        targets
    }

    /// Notes for the report.
    pub fn notes(&self) -> &[Text] {
        &self.notes
    }

    /// A listener of each run, which adds a warning if the lease is lost.
    pub fn listener(&self) -> LeaseNotes {
        self.lease.as_ref().map(RunLease::listener).unwrap_or_default()
    }

    /// Sends a run or an experiment to the studio. If that fails, it stays in the store of this machine.
    pub fn push(&self, store: &Store, item: &StoredItem, quiet: bool) {
        let Some(server) = &self.server else { return };
        match send(server, store, item) {
            Ok(_) if quiet => {}
            Ok(_) => print_line(&format!("pushed to {}/runs/{}", server.address(), item.id())),
            Err(error) => {
                let id = item.id();
                let address = server.address();
                print_line(&format!(
                    "warning: {id} was not pushed: {}; it is stored here. Try again: brunt runs push {id} --to {address}{}",
                    causes::line(&error),
                    self.authority
                ));
            }
        }
    }
}

/// Sends a stored item. Returns false if the studio had it before.
pub fn send(server: &TeamServer, store: &Store, item: &StoredItem) -> Result<bool> {
    let file = tempfile::NamedTempFile::new().context("no temporary file for the archive")?;
    store.export(item, file.path())?;
    Ok(server.push(file.path())?.is_new)
}

/// The command line, for others who want the same servers.
fn purpose() -> String {
    // The studio shows it to other members.
    let line = crate::redact::current().command(&crate::process::command_line());
    line[..line.floor_char_boundary(MAX_PURPOSE)].to_owned()
}
