//! Where client and server stand.

use super::{Facts, Said};

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
