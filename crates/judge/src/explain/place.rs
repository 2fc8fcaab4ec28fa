//! Where client and server stand, and what limited the server.

use super::{Facts, Said};
use brunt_model::analysis::Culprit;

/// Client and server share one machine.
pub fn same_machine(facts: &Facts) -> Option<Said> {
    if facts.same_host()? {
        let listener = facts.route().and_then(|route| route.listener.as_deref());
        let found = match (listener, facts.is_loopback()) {
            (Some(listener), _) => format!("the listening socket belongs to {listener}"),
            (None, true) => format!("the target is {}", facts.run.environment.addresses.join(", ")),
            (None, false) => "the target is an address of this machine".into(),
        };
        let said = format!(
            "Client and server share this machine ({found}): each takes CPU from the other, and no network lies between."
        );
        return Some(Said::note(said).remedy("to know what the server can do alone, run brunt on another machine"));
    }
    None
}

/// What limited the server, as the room's rules on its readings have it. Who was slow is no news while the figures say
/// what one would think: a note.
pub fn bottleneck(facts: &Facts) -> Option<Said> {
    let found = facts.so_far.bottleneck.as_ref()?;
    let remedy = match found.culprit {
        Culprit::NotFound | Culprit::Generator => return None,
        Culprit::Workers => "more workers, where memory and cores allow it; else a page that waits for less",
        Culprit::Cpu => "less work for a page, or more cores",
        Culprit::Core => "spread the work over more processes or threads",
        Culprit::Memory => "fewer workers, or more memory",
        Culprit::Connections => "raise the server's limit on connections (and on open files)",
        Culprit::AcceptQueue => {
            "the listener's backlog and net.core.somaxconn; who accepts too slowly is the question behind it"
        }
        Culprit::Disk => {
            "look at what is read and written for a page: logs, sessions, files that do not fit into memory"
        }
        Culprit::Network => "smaller replies, or a faster link",
        Culprit::Files => "LimitNOFILE=, worker_rlimit_nofile",
    };
    let also =
        if found.others.is_empty() { String::new() } else { format!(" Also at a limit: {}.", found.others.join("; ")) };
    Some(Said::note(format!("The server's bottleneck: {}.{also}", found.sentence)).remedy(remedy))
}
