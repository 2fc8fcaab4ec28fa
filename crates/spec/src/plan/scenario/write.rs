//! Writes the steps of a scenario as steps of a plan file. Each kind of step is written next to
//! its keys, in `steps`.

use crate::plan::Yaml;
use brunt_model::modifier::RequestModifier;
use brunt_model::scenario::{Condition, ConditionShare, Script, ScriptSample};

/// Converts a scenario for a plan file: translates its texts, and receives the
/// losses of the conversion.
pub trait Wording {
    /// Returns a text in the syntax of plan files.
    fn text(&mut self, text: &str) -> String;

    /// Returns the steps of a request: its number in the scenario's list.
    fn request(&mut self, number: u32) -> Vec<Yaml>;

    /// Returns the steps that run a script.
    fn script(&mut self, script: &Script) -> Vec<Yaml>;

    /// Returns the name of a data file. `number` is its index in the list of the scenario.
    fn data_file(&mut self, number: u32) -> Option<String>;

    /// True if a text is `true` exactly if the last request succeeded.
    fn is_success(&self, _text: &str) -> bool {
        false
    }

    /// Reports a part of a step that a plan file cannot express.
    fn lose(&mut self, loss: InexpressiblePart<'_>);
}

/// A part of a step that a plan file cannot express.
#[derive(Debug, Clone, Copy)]
pub enum InexpressiblePart<'m> {
    /// The second evaluation of a condition between two rounds.
    SecondEvaluation(&'m Condition),
    /// The first and last number of variables with this prefix.
    NumberRange(&'m str),
    /// A share that is no fixed percentage; the steps run in each round.
    Share(&'m ConditionShare),
    /// A pause with this text, which is not a time.
    Pause(&'m str),
    /// A schedule of rates; the pause is left out.
    Schedule,
    /// The time limit of a meeting.
    MeetingTimeout,
    /// Steps that run once for each run of the loop around them; in a plan file they run
    /// once for each user.
    OncePerLoop,
    /// A change of the next request, which is left out.
    Modifier(&'m RequestModifier),
    /// A sample that is not a request. Only its script runs, if it has one.
    Sample(&'m ScriptSample),
}

#[cfg(test)]
mod tests;
