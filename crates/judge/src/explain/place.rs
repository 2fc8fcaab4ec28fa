//! Rules on the machines of client and server, and on the server's bottleneck.

use super::{ExplainFacts, Remark};
use crate::fleet::{AgentOfRun, names_text};
use crate::shares::Shares;
use brunt_model::analysis::Culprit;
use brunt_model::finding::{GroupComparison, UseOrigin};
use brunt_model::fleet::LOADED;
use brunt_model::numbers::{seconds, short_percent};

/// Share of all cores from which on the usage by other processes is reported.
const BUSY: f64 = 0.25;
/// Busy share of all cores at which a machine is full; as in `bottleneck`.
const FULL: f64 = 0.9;
/// Share of the busy cores that the server must use to be the reason why they are busy.
const HALF: f64 = 0.5;

/// Rule: client and server share one machine.
pub fn same_machine(facts: &ExplainFacts) -> Option<Remark> {
    let Some(is_same) = facts.same_host() else { return agents_with_server(facts) };
    if !is_same {
        return None;
    }
    let server = facts.route().and_then(|route| route.listener.as_deref());
    let sentence = match server {
        Some(server) => format!("Client and server, {server}, share this machine and its CPU."),
        None => "Client and server share this machine and its CPU.".into(),
    };
    Some(
        Remark::note(sentence)
            .with_remedy("to measure the server alone, run brunt on another machine"),
    )
}

/// Reports whether quiet agents measured the same response times as the loaded ones.
pub fn quiet_agents(facts: &ExplainFacts) -> Option<Remark> {
    facts.plan.fleet.as_ref().filter(|fleet| fleet.quiet > 0)?;
    let comparisons = &facts.so_far.group_comparisons;
    // Only slower loaded agents put the figures in doubt, so they come first.
    let is_in_doubt = |one: &&GroupComparison| one.is_significant && one.slower == LOADED;
    if let Some(one) = most_certain(comparisons.iter().filter(is_in_doubt)) {
        let sentence = difference_text(one);
        let remedy = "the loaded agents may make the server look slower than it is: use more agents, or a lower load";
        return Some(Remark::warning(sentence).with_remedy(remedy));
    }
    let Some(one) = most_certain(comparisons.iter()) else {
        let sentence = "The quiet agents have too few requests for a comparison with the others.";
        let remedy = "run longer, or with a higher rate: they get 1 % of the requests";
        return Some(Remark::note(sentence.to_owned()).with_remedy(remedy));
    };
    if one.is_significant {
        return Some(difference(one));
    }
    let sentence =
        "No difference was found between the response times of quiet and of loaded agents";
    Some(Remark::note(format!("{sentence} ({}).", p_text(one.p))))
}

/// Reports the most certain difference between groups of agents.
pub fn groups_differ(facts: &ExplainFacts) -> Option<Remark> {
    if facts.plan.fleet.as_ref().is_none_or(|fleet| fleet.quiet > 0) {
        return None;
    }
    let comparisons = &facts.so_far.group_comparisons;
    most_certain(comparisons.iter().filter(|one| one.is_significant)).map(difference)
}

fn most_certain<'a>(
    comparisons: impl Iterator<Item = &'a GroupComparison>,
) -> Option<&'a GroupComparison> {
    comparisons.min_by(|a, b| a.p.total_cmp(&b.p))
}

fn difference(one: &GroupComparison) -> Remark {
    let remedy = "compare the lag of the agents (table of agents), and their ways to the server (`brunt check`)";
    Remark::note(difference_text(one)).with_remedy(remedy)
}

fn difference_text(one: &GroupComparison) -> String {
    format!(
        "The agents of group {} measure longer response times than those of {}: {} of their requests took longer than {}, and {} \
         of those of {} ({}).",
        one.slower,
        one.faster,
        short_percent(one.slower_share),
        seconds(one.threshold_seconds),
        short_percent(one.faster_share),
        one.faster,
        p_text(one.p)
    )
}

fn p_text(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// Reports the agents on the server's machine, if others are elsewhere.
fn agents_with_server(facts: &ExplainFacts) -> Option<Remark> {
    let agents = AgentOfRun::all(facts.run).filter(|agent| agent.same_host() == Some(true));
    let names: Vec<&str> = agents.map(AgentOfRun::name).collect();
    if names.is_empty() {
        return None;
    }
    let sentence = format!("The server and {} share a machine and its CPU.", names_text(&names));
    Some(Remark::note(sentence).with_remedy("to measure the server alone, run agents elsewhere"))
}

/// Rule: other processes used so much of the machine that they influenced the figures, though
/// brunt kept its schedule.
pub fn busy_machine(facts: &ExplainFacts) -> Option<Remark> {
    let shares = Shares::new(facts.run)
        .filter(|shares| shares.others.unwrap_or(0.0) >= BUSY * shares.cores)?;
    // The verdict names these processes already.
    if facts.so_far.verdict.causes.iter().any(|cause| cause.origin == UseOrigin::Machine) {
        return None;
    }
    let slowed = if facts.same_host() == Some(true) {
        "the server's response times"
    } else {
        "brunt's own timing"
    };
    let sentence = format!(
        "This machine was busy: {}. That may have slowed down {slowed}.",
        shares.others_text()
    );
    Some(Remark::warning(sentence).with_remedy(
        "end them and measure again; if they belong to the server, read them with --probe",
    ))
}

/// Rule: the server uses all of the machine that it shares with brunt, except brunt's small part.
/// Reports its capacity without brunt.
pub fn shared_cpu(facts: &ExplainFacts) -> Option<Remark> {
    let shares = Shares::new(facts.run).filter(|shares| shares.busy >= FULL * shares.cores)?;
    let is_cpu = |bottleneck: &brunt_model::Bottleneck| bottleneck.culprit == Culprit::Cpu;
    let server = shares.server.filter(|server| *server >= HALF * shares.busy)?;
    // The finding on the bottleneck reports the CPU already.
    if facts.so_far.bottleneck.as_ref().is_some_and(is_cpu) || facts.same_host() != Some(true) {
        return None;
    }
    let sentence = format!(
        "The server is CPU-bound: it used {server:.2} of {:.0} cores, brunt {:.2}. Without brunt on this machine, its capacity would be at most {}.",
        shares.cores,
        shares.brunt,
        shares.capacity_without_brunt()?
    );
    Some(Remark::note(sentence).with_remedy("less work per page, or more cores"))
}

/// Rule: the server's bottleneck, by the rules on its readings. It is a note, because a slow server
/// does not change the meaning of the figures.
pub fn bottleneck(facts: &ExplainFacts) -> Option<Remark> {
    let bottleneck = facts.so_far.bottleneck.as_ref()?;
    let remedy = match bottleneck.culprit {
        Culprit::NotFound | Culprit::Generator => return None,
        Culprit::Workers => {
            "more workers, if memory and cores allow it; else less waiting per page"
        }
        Culprit::Cpu => "less work per page, or more cores",
        Culprit::Core => "spread the work over more processes or threads",
        Culprit::Memory => "fewer workers, or more memory",
        Culprit::Connections => "raise the server's limit on connections (and on open files)",
        Culprit::AcceptQueue => {
            "raise the listener's backlog and net.core.somaxconn; find out why connections are accepted slowly"
        }
        Culprit::Disk => {
            "check which files are read and written per page: logs, sessions, files larger than memory"
        }
        Culprit::Network => "smaller replies, or a faster link",
        Culprit::Files => "LimitNOFILE=, worker_rlimit_nofile",
    };
    let others = &bottleneck.others;
    let also = if others.is_empty() {
        String::new()
    } else {
        format!(" Also at a limit: {}.", others.join("; "))
    };
    Some(
        Remark::note(format!("The server's bottleneck: {}.{also}", bottleneck.sentence))
            .with_remedy(remedy),
    )
}
