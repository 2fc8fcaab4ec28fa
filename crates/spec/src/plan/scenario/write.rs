//! Steps of a scenario as steps of a plan file. How each kind is written stands beside its keys, in `steps`.

use crate::plan::Yaml;
use brunt_model::modifier::RequestModifier;
use brunt_model::scenario::{Condition, Script, ScriptSample, Share};

/// Words a scenario for a plan file: translates its texts, and hears of what a plan file cannot say.
pub trait Wording {
    /// Returns a text as a plan file has it.
    fn text(&mut self, text: &str) -> String;

    /// Returns the steps of a request: its number in the scenario's list.
    fn request(&mut self, number: u32) -> Vec<Yaml>;

    /// Returns the steps that run a script.
    fn script(&mut self, script: &Script) -> Vec<Yaml>;

    /// Returns the name of a data file: its number in the scenario's list.
    fn data_file(&mut self, number: u32) -> Option<String>;

    /// True if a text is `true` exactly where the last request succeeded.
    fn is_success(&self, _text: &str) -> bool {
        false
    }

    /// Reports a part of a step that a plan file cannot say.
    fn lose(&mut self, loss: Loss<'_>);
}

/// A part of a step that a plan file cannot say.
#[derive(Debug, Clone, Copy)]
pub enum Loss<'m> {
    /// The second evaluation of a condition between two rounds.
    SecondEvaluation(&'m Condition),
    /// The first and last number of variables with this prefix.
    NumberRange(&'m str),
    /// A share that is no fixed percentage; the steps are carried out each time.
    Share(&'m Share),
    /// A pause with this text, which is no time.
    Pause(&'m str),
    /// A schedule of rates; the pause is left out.
    Schedule,
    /// The time limit of a meeting.
    MeetingTimeout,
    /// Steps that are carried out once for each run of the loop around them; they are carried out once for each user.
    OncePerLoop,
    /// A change of the next request; it is left out.
    Modifier(&'m RequestModifier),
    /// A sample that is no request. Only its script, if it has one, is carried out.
    Sample(&'m ScriptSample),
}

#[cfg(test)]
mod tests;
