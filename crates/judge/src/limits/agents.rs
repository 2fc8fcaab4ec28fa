//! The verdict on a run on several agents. The rules examine each agent alone, because each has its
//! own process and may have its own machine.
//!
//! * The state is the most serious one of all agents with a cause. Without a cause, the replies of
//!   the whole run decide: an agent without a good reply does not hide the others.
//! * The same cause of several agents is one cause. Its sentence names them, and has the figures of
//!   the first named one, on which it lasted longest.
//! * Each figure has its worst value over all agents. A run may have hundreds of them.

use crate::facts::RunFacts;
use crate::fleet::{AgentOfRun, names_text};
use crate::shares::MOST_NAMED;
use crate::texts::message;
use brunt_model::finding::{
    FigureEvidence, OtherCause, ProcessUse, State, ThresholdSide, UseOrigin,
};
use brunt_model::reached::ReplyKind;
use brunt_model::{Text, Verdict};
use std::cmp::Reverse;

/// An agent with the verdict on it alone.
struct JudgedAgent<'a> {
    agent: AgentOfRun<'a>,
    verdict: Verdict,
}

impl<'a> JudgedAgent<'a> {
    fn new(agent: AgentOfRun<'a>) -> Self {
        let unjudged = Verdict { state: State::Unjudged, ..Verdict::default() };
        let verdict = RunFacts::of_agent(agent).map_or(unjudged, |facts| super::of_facts(&facts));
        Self { agent, verdict }
    }
}

/// Returns the verdict on a run with agents.
pub(super) fn verdict(facts: &RunFacts) -> Verdict {
    let agents: Vec<JudgedAgent> = AgentOfRun::all(facts.run).map(JudgedAgent::new).collect();
    let with_causes = agents.iter().filter(|one| !one.verdict.causes.is_empty());
    let worst = with_causes.map(|one| one.verdict.state).max();
    let state = worst.unwrap_or(match facts.run.replies() {
        ReplyKind::SomeGood => State::Ok,
        ReplyKind::None | ReplyKind::NoneGood => State::Unjudged,
    });
    Verdict {
        state,
        causes: causes(&agents, state),
        other_processes: other_processes(&agents),
        evidence: evidence(&agents),
        unseen: unseen(&agents),
        agents: agents.iter().map(|one| one.verdict.state).collect(),
    }
}

/// Returns the causes, each once: those that decide the state first, then the longest.
fn causes(agents: &[JudgedAgent], state: State) -> Vec<OtherCause> {
    let mut groups: Vec<Vec<(&str, &OtherCause)>> = Vec::new();
    for one in agents {
        for cause in &one.verdict.causes {
            let named = (one.agent.name(), cause);
            let same = groups.iter_mut().find(|group| is_of_kind(group, cause));
            match same {
                Some(group) => group.push(named),
                None => groups.push(vec![named]),
            }
        }
    }
    let mut causes: Vec<OtherCause> = groups.into_iter().filter_map(merged_cause).collect();
    let deciding = deciding_origin(state);
    causes.sort_by_key(|cause| (cause.origin != deciding, cause.origin, Reverse(cause.lasted)));
    causes
}

/// True if the causes of a group have the limit and the origin of this cause.
fn is_of_kind(group: &[(&str, &OtherCause)], cause: &OtherCause) -> bool {
    group.iter().all(|(_, one)| (one.limit, one.origin) == (cause.limit, cause.origin))
}

/// Returns one cause for the same cause of several agents.
fn merged_cause(mut group: Vec<(&str, &OtherCause)>) -> Option<OtherCause> {
    // The sentence has the figures of the first agent, so that one is named first.
    group.sort_by_key(|(_, cause)| Reverse(cause.lasted));
    let names: Vec<&str> = group.iter().map(|(name, _)| *name).collect();
    let (_, longest) = group.first()?;
    let sentence =
        message!("of-agents", agents = names_text(&names), sentence = longest.sentence.clone());
    Some(OtherCause { sentence, ..(*longest).clone() })
}

/// Origin of the causes that lead to a state.
fn deciding_origin(state: State) -> UseOrigin {
    match state {
        State::BusyMachine => UseOrigin::Machine,
        State::Unexplained => UseOrigin::Unknown,
        State::Limited | State::Invalid | State::Ok | State::Unjudged => UseOrigin::Generator,
    }
}

/// Returns the worst value of each figure, with the name of its agent.
fn evidence(agents: &[JudgedAgent]) -> Vec<FigureEvidence> {
    let mut worst: Vec<(&str, &FigureEvidence)> = Vec::new();
    for one in agents {
        for figure in &one.verdict.evidence {
            let named = (one.agent.name(), figure);
            let same = worst
                .iter_mut()
                .find(|(_, known)| (known.limit, &known.name) == (figure.limit, &figure.name));
            match same {
                Some(known) if is_worse(figure, known.1) => *known = named,
                Some(_) => {}
                None => worst.push(named),
            }
        }
    }
    let named = worst.into_iter().map(|(agent, figure)| FigureEvidence {
        name: format!("{agent}: {}", figure.name),
        ..figure.clone()
    });
    named.collect()
}

fn is_worse(figure: &FigureEvidence, than: &FigureEvidence) -> bool {
    match figure.side {
        ThresholdSide::AtLeast => figure.value > than.value,
        ThresholdSide::Below => figure.value < than.value,
    }
}

/// Returns the other processes with the greatest usage, each with the name of an agent on its
/// machine.
fn other_processes(agents: &[JudgedAgent]) -> Vec<ProcessUse> {
    let mut all = Vec::new();
    // Agents of one machine read the same processes.
    for one in agents.iter().filter(|one| one.agent.is_first_of_machine()) {
        all.extend(one.verdict.other_processes.iter().map(|process| ProcessUse {
            name: format!("{}: {}", one.agent.name(), process.name),
            ..process.clone()
        }));
    }
    all.sort_by(|a, b| b.cores.total_cmp(&a.cores));
    all.truncate(MOST_NAMED);
    all
}

/// Returns each sentence once, with the names of its agents.
fn unseen(agents: &[JudgedAgent]) -> Vec<Text> {
    let mut by_sentence: Vec<(&Text, Vec<&str>)> = Vec::new();
    for one in agents {
        for sentence in &one.verdict.unseen {
            match by_sentence.iter_mut().find(|(known, _)| *known == sentence) {
                Some((_, names)) => names.push(one.agent.name()),
                None => by_sentence.push((sentence, vec![one.agent.name()])),
            }
        }
    }
    let named = by_sentence.into_iter().map(|(sentence, names)| {
        message!("of-agents", agents = names_text(&names), sentence = sentence.clone())
    });
    named.collect()
}
