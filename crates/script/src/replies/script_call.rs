//! A script where a scenario calls it: its source and parameters may be texts that change with each call.

use crate::texts::compiled::{Compiled, Texts};
use crate::texts::context::UserContext;
use crate::texts::script::{ParsedScript, ScriptOutcome, ScriptView};
use crate::texts::template::{Place, Template};
use crate::{Feeds, ScriptError};
use brunt_model::scenario::Script;

/// A script, and what it is called with.
#[derive(Debug)]
pub struct ScriptCall {
    script: Compiled<Script, ParsedScript>,
    parameters: Template,
    name: String,
    /// As in JMeter, an exception of a script that makes no sample and asserts nothing changes nothing.
    pub is_forgiving: bool,
}

/// JMeter's message of a sample whose script threw this exception: engines of scripts wrap other exceptions than their own.
pub fn sample_message(exception: &str) -> String {
    let is_wrapped = ["javax.script.ScriptException: ", "org.apache.jorphan.util.JMeterException: "]
        .iter()
        .any(|class| exception.starts_with(class));
    if is_wrapped { exception.to_owned() } else { format!("javax.script.ScriptException: {exception}") }
}

/// Only the source: parameters are made in any rules.
impl Texts for Script {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        Self { source: fill(&self.source), ..self.clone() }
    }
}

impl ScriptCall {
    /// Compiles a script. Its dialect decides whether expressions in its source are filled in before it is read.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn new(script: &Script, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let languages = feeds.languages;
        let parse = |script: &Script| ParsedScript::new(languages, script);
        let compiled = if feeds.dialect.fills_in_scripts() {
            Compiled::new(script, feeds, parse)?
        } else {
            Compiled::Fixed(script.clone(), parse(script)?)
        };
        Ok(Self {
            script: compiled,
            parameters: Template::compile_expressions(&script.parameters, Place::Text, feeds)?,
            name: script.name.clone(),
            is_forgiving: feeds.dialect.ignores_exceptions(),
        })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it; `fill` makes texts.
    ///
    /// # Errors
    ///
    /// It cannot be read now, an exception that nothing caught, or too many operations: one sentence.
    pub fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        fill: impl Fn(&Template) -> String,
    ) -> Result<ScriptOutcome, String> {
        let parameters = fill(&self.parameters);
        let parse = |script: &Script| user.worker.expressions.script(script);
        let ran = self.script.with(&fill, parse, |_, script| script.run(user, view, &parameters));
        ran.map_err(|error| error.to_string()).flatten()
    }
}
