//! Calls a script with the texts of a scenario: its source and parameters may
//! change with each call.

use crate::texts::compiled::{Compiled, Texts};
use crate::texts::context::UserContext;
use crate::texts::script::{ParsedScript, ScriptOutcome, ScriptView};
use crate::texts::template::{Template, TextPosition};
use crate::{Feeds, ScriptError};
use brunt_model::scenario::Script;

/// A compiled script, and its parameters.
#[derive(Debug)]
pub struct ScriptCall {
    script: Compiled<Script, ParsedScript>,
    parameters: Template,
    name: String,
    /// True if an exception has no effect. As in JMeter, this applies to scripts that make no
    /// sample and assert nothing.
    pub is_forgiving: bool,
}

/// Returns JMeter's message for a sample if its script threw this exception. Script engines wrap
/// all exceptions but their own.
pub fn sample_message(exception: &str) -> String {
    let is_wrapped =
        ["javax.script.ScriptException: ", "org.apache.jorphan.util.JMeterException: "]
            .iter()
            .any(|class| exception.starts_with(class));
    if is_wrapped {
        exception.to_owned()
    } else {
        format!("javax.script.ScriptException: {exception}")
    }
}

/// Only the source is mapped: the parameters are compiled separately, by any rules.
impl Texts for Script {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        Self { source: fill(&self.source), ..self.clone() }
    }
}

impl ScriptCall {
    /// Compiles a script. Its dialect decides whether expressions in its source are filled in
    /// before it is parsed.
    pub fn new(script: &Script, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let languages = feeds.languages;
        let compiled = if feeds.dialect.fills_in_scripts() {
            Compiled::new(script, feeds, |script| ParsedScript::new(languages, script))?
        } else {
            Compiled::Fixed(script.clone(), ParsedScript::new(languages, script)?)
        };
        Ok(Self {
            script: compiled,
            parameters: Template::compile_expressions(
                &script.parameters,
                TextPosition::Text,
                feeds,
            )?,
            name: script.name.clone(),
            is_forgiving: feeds.dialect.ignores_exceptions(),
        })
    }

    /// Returns its name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it. `fill` fills in texts.
    ///
    /// # Errors
    ///
    /// Describes in one sentence a script that is malformed with its values, an uncaught exception,
    /// or too many operations.
    pub fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        fill: impl Fn(&Template) -> String,
    ) -> Result<ScriptOutcome, String> {
        let parameters = fill(&self.parameters);
        let expressions = &user.worker.expressions;
        let result = self.script.with(
            &fill,
            |script| expressions.script(script),
            |_, script| script.run(user, view, &parameters),
        );
        result.map_err(|error| error.to_string()).flatten()
    }
}
