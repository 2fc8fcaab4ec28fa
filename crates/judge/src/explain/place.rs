//! Where client and server stand, and what limited the server.

use super::{Facts, Remark};
use crate::shares::Shares;
use brunt_model::analysis::Culprit;
use brunt_model::finding::Origin;

/// Of all cores, what other processes must use to be told.
const BUSY: f64 = 0.25;
/// Of all cores, busy ones from which on a machine is full; as in `bottleneck`.
const FULL: f64 = 0.9;
/// Of the busy cores, what the server must use to be what keeps them busy.
const HALF: f64 = 0.5;

/// Client and server share one machine.
pub fn same_machine(facts: &Facts) -> Option<Remark> {
    if !facts.same_host()? {
        return None;
    }
    let server = facts.route().and_then(|route| route.listener.as_deref());
    let sentence = match server {
        Some(server) => format!("Client and server, {server}, share this machine and its CPU."),
        None => "Client and server share this machine and its CPU.".into(),
    };
    Some(Remark::note(sentence).remedy("to measure the server alone, run brunt on another machine"))
}

/// Other processes had so much of the machine that figures are theirs too, though brunt kept its schedule.
pub fn busy_machine(facts: &Facts) -> Option<Remark> {
    let shares = Shares::of(facts.run).filter(|shares| shares.others.unwrap_or(0.0) >= BUSY * shares.cores)?;
    if facts.so_far.verdict.causes.iter().any(|cause| cause.origin == Origin::Machine) {
        return None;
    }
    let whose = if facts.same_host() == Some(true) { "the server's response times" } else { "brunt's own timing" };
    let said = format!("This machine was busy: {}. That may have slowed down {whose}.", shares.others_in_words());
    Some(
        Remark::warning(said)
            .remedy("end them and measure again; if they belong to the server, read them with --probe"),
    )
}

/// The server has all of the machine that it shares with brunt, but for brunt's small part: how much more it could do alone.
pub fn shared_cpu(facts: &Facts) -> Option<Remark> {
    let shares = Shares::of(facts.run).filter(|shares| shares.busy >= FULL * shares.cores)?;
    let is_told = |found: &brunt_model::Bottleneck| found.culprit == Culprit::Cpu;
    let server = shares.server.filter(|server| *server >= HALF * shares.busy)?;
    if facts.so_far.bottleneck.as_ref().is_some_and(is_told) || facts.same_host() != Some(true) {
        return None;
    }
    let said = format!(
        "The server is CPU-bound: it used {server:.2} of {:.0} cores, brunt {:.2}. Without brunt on this machine, its capacity would be at most {}.",
        shares.cores,
        shares.own,
        shares.alone_in_words()?
    );
    Some(Remark::note(said).remedy("less work per page, or more cores"))
}

/// What limited the server, as the room's rules on its readings have it. Who was slow is no news while the figures say
/// what one would think: a note.
pub fn bottleneck(facts: &Facts) -> Option<Remark> {
    let found = facts.so_far.bottleneck.as_ref()?;
    let remedy = match found.culprit {
        Culprit::NotFound | Culprit::Generator => return None,
        Culprit::Workers => "more workers, if memory and cores allow it; else less waiting per page",
        Culprit::Cpu => "less work per page, or more cores",
        Culprit::Core => "spread the work over more processes or threads",
        Culprit::Memory => "fewer workers, or more memory",
        Culprit::Connections => "raise the server's limit on connections (and on open files)",
        Culprit::AcceptQueue => {
            "raise the listener's backlog and net.core.somaxconn; find out why connections are accepted slowly"
        }
        Culprit::Disk => "check which files are read and written per page: logs, sessions, files larger than memory",
        Culprit::Network => "smaller replies, or a faster link",
        Culprit::Files => "LimitNOFILE=, worker_rlimit_nofile",
    };
    let also =
        if found.others.is_empty() { String::new() } else { format!(" Also at a limit: {}.", found.others.join("; ")) };
    Some(Remark::note(format!("The server's bottleneck: {}.{also}", found.sentence)).remedy(remedy))
}
