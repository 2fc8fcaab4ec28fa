//! Converts samplers to steps: pre-processors, pauses, then the sample.

use super::failing::PlanScript;
use super::requests::InvalidHost;
use super::texts::{self, error_at};
use super::{ElementScope, PlanReader};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::kinds::{
    BeanShellAssertion, BeanShellSampler, BeanShellTimer, BsfSampler, DummySampler, FifoPop,
    FlowControlAction, JavaSampler, Jsr223Sampler, RegexUserParameters, SetVariablesAction,
    UrlRewriting,
};
use crate::support::{ElementKind, Role};
use brunt_languages::LANGUAGES;
use brunt_model::ReplyPolicy;
use brunt_model::modifier::{RequestModifier, SessionModifier, SessionPlace};
use brunt_model::scenario::{
    EndScope, FixedSample, SampleMaker, ScenarioStep, Script, ScriptLanguage, ScriptSample,
    TransactionCount,
};
use brunt_script::template::call_of;

impl PlanReader<'_> {
    /// Converts a sampler to steps.
    ///
    /// # Errors
    ///
    /// Fails on an invalid setting or an unreadable file.
    pub(super) fn sampler(
        &mut self,
        sampler: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let scope = scope.with(sampler);
        // JMeter's order: pre-processors, all timers in scope, then the sampler.
        let mut steps = self.pre_processor_steps(&scope)?;
        for timer in &scope.timers {
            steps.extend(self.timer(*timer)?);
        }
        match sampler.kind() {
            Some(
                ElementKind::HttpSampler | ElementKind::GraphQlSampler | ElementKind::Http2Sampler,
            ) => {
                let http = self.http_sampler(sampler, &scope)?;
                if let Some(host_error) = self.invalid_host(&http) {
                    let failure = self.failure_for_host(sampler, &host_error);
                    steps.push(match (self.sample(sampler, &scope, failure)?, host_error) {
                        // JMeter fails before it names the sample.
                        (ScenarioStep::Sample(sample), InvalidHost::Slash) => {
                            ScenarioStep::Sample(ScriptSample { label: String::new(), ..sample })
                        }
                        (step, _) => step,
                    });
                } else if let Some(file) = self.missing_upload(&http) {
                    let failure = self.without_upload(sampler, &file);
                    steps.push(self.sample(sampler, &scope, failure)?);
                } else {
                    let request = self.request(sampler, &scope, &http)?;
                    steps.push(ScenarioStep::Request(self.group.add(request)));
                }
            }
            Some(ElementKind::FlowControlAction) => {
                // JMeter's transactions count it as a sampler.
                steps.push(ScenarioStep::CountInTransactions(TransactionCount::Sampler));
                steps.extend(self.action(sampler)?);
            }
            Some(ElementKind::SetVariablesAction) => {
                // JMeter's transactions count it as a sampler.
                steps.push(ScenarioStep::CountInTransactions(TransactionCount::Sampler));
                let SetVariablesAction { variables, older } = self.fields(sampler)?;
                let variables = if variables.is_empty() { older } else { variables };
                steps.extend(variables.into_iter().map(|(variable, value)| ScenarioStep::Set {
                    variable,
                    value: self.before.folded(&value),
                }));
            }
            Some(ElementKind::DebugSampler) => {
                steps.push(self.sample(sampler, &scope, SampleMaker::Variables)?);
            }
            Some(
                ElementKind::Jsr223Sampler
                | ElementKind::BsfSampler
                | ElementKind::BeanShellSampler,
            ) => {
                let maker = self.script(sampler)?.into();
                steps.push(self.sample(sampler, &scope, maker)?);
            }
            Some(ElementKind::WebSocketSampler) => steps.extend(self.websocket(sampler, &scope)?),
            Some(ElementKind::GrpcSampler) => steps.extend(self.call(sampler, &scope)?),
            Some(ElementKind::JavaSampler) => steps.extend(self.java(sampler, &scope)?),
            Some(ElementKind::DummySampler) => {
                let of: DummySampler = self.fields(sampler)?;
                let fixed = FixedSample {
                    success: of.success,
                    code: of.code,
                    message: of.message,
                    body: of.body,
                    elapsed: of.elapsed,
                    latency: of.latency,
                    connect: of.connect,
                    waits: of.waits,
                };
                steps.push(self.sample(sampler, &scope, SampleMaker::Fixed(fixed))?);
            }
            _ => {}
        }
        Ok(steps)
    }

    fn pre_processor_steps(
        &mut self,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let mut steps = Vec::new();
        for element in &scope.pre_processors {
            match element.kind() {
                Some(
                    ElementKind::Jsr223PreProcessor
                    | ElementKind::BeanShellPreProcessor
                    | ElementKind::BsfPreProcessor,
                ) => {
                    steps.extend(self.script(*element)?.script().map(ScenarioStep::Script));
                }
                Some(ElementKind::FifoPop) => {
                    let FifoPop { queue, variable, older } = self.fields(*element)?;
                    if let Some(value) = call_of("fifoPop", &[&queue]) {
                        let variable = if variable.is_empty() { older } else { variable };
                        steps.push(ScenarioStep::Set { variable, value });
                    }
                }
                _ => steps.extend(self.modifier(*element)?.map(ScenarioStep::Modify)),
            }
        }
        Ok(steps)
    }

    /// Change that an element makes to the next request; None for other elements.
    fn modifier(&self, element: TestElement<'_>) -> Result<Option<RequestModifier>, JmxError> {
        Ok(match element.kind() {
            Some(ElementKind::LinkParser) => Some(RequestModifier::Link),
            Some(ElementKind::UrlRewriting) => {
                let of: UrlRewriting = self.fields(element)?;
                let place = if of.is_in_path {
                    SessionPlace::Path {
                        equals: !of.is_without_equals,
                        question_mark: !of.is_without_question_mark,
                    }
                } else {
                    SessionPlace::Argument
                };
                Some(RequestModifier::Session(SessionModifier {
                    argument: of.argument,
                    place,
                    kept_as: of.is_kept.then(|| element.place()),
                    encode: of.encodes,
                }))
            }
            Some(ElementKind::RegexUserParameters) => {
                let RegexUserParameters { variable, name_group, value_group } =
                    self.fields(element)?;
                Some(RequestModifier::Matches { variable, name_group, value_group })
            }
            _ => None,
        })
    }

    /// Reads a script element: JSR223 in its language, or `BeanShell`.
    ///
    /// # Errors
    ///
    /// Fails if the language is unknown, or the script file cannot be read.
    pub(super) fn script(&mut self, element: TestElement<'_>) -> Result<PlanScript, JmxError> {
        let ScriptProperties { language, source, parameters, file } =
            self.script_properties(element)?;
        let language = script_language(element, &language)?;
        // In JMeter a file takes precedence over the inline script.
        if let Some(file) = self.missing_script(file.trim()) {
            return Ok(self.without_script(element, &file));
        }
        let text =
            if file.trim().is_empty() { source } else { self.script_file(element, file.trim())? };
        let text =
            if language == ScriptLanguage::Beanshell { self.with_sources(&text) } else { text };
        let script =
            Script { name: element.name().into_owned(), language, source: text, parameters };
        match brunt_script::check::script(&script, LANGUAGES) {
            Ok(()) => Ok(PlanScript::Readable(script)),
            Err(error) if self.context.lenient => {
                self.notice(format!("{}: left out, {error}", element.place()));
                Ok(PlanScript::LeftOut)
            }
            Err(error) => Ok(match brunt_languages::foreign_class(&script) {
                Some(class) => self.without_class(element, &script, &class),
                None => self.unreadable_script(element, &error.to_string()),
            }),
        }
    }

    /// Replaces calls of `source("…");` in a script by the content of the files. As in JMeter,
    /// calls with unreadable files stay and fail when the script runs.
    pub(super) fn with_sources(&self, script: &str) -> String {
        const CALL: &str = "source(\"";
        let mut out = String::new();
        let mut rest = script;
        while let Some((before, after)) = rest.split_once(CALL) {
            out.push_str(before);
            let call = after
                .split_once("\")")
                .map(|(file, rest)| (file, rest.strip_prefix(';').unwrap_or(rest)));
            // The name of another function may end with `source`.
            let is_word = before
                .ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
            let included = call.filter(|_| !is_word).and_then(|(file, rest)| {
                let bytes = self.context.folder.read(self.before.text(file).trim()).ok()?;
                Some((bytes, rest))
            });
            if let Some((bytes, after)) = included {
                out.push_str(&String::from_utf8_lossy(&bytes));
                // The last line of the file may be a comment.
                out.push('\n');
                rest = after;
            } else {
                out.push_str(CALL);
                rest = after;
            }
        }
        out + rest
    }

    fn script_file(&mut self, element: TestElement<'_>, file: &str) -> Result<String, JmxError> {
        self.notice_replacement(element, file);
        match self.context.folder.read(file) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if self.context.lenient => {
                self.notice(format!("{}: left out, {file}: {error}", element.place()));
                Ok(String::new())
            }
            Err(error) => {
                let message = format!("{file}: {error}; name an existing script");
                Err(error_at(element, &message))
            }
        }
    }

    fn script_properties(&self, element: TestElement<'_>) -> Result<ScriptProperties, JmxError> {
        let beanshell = || "beanshell".to_owned();
        Ok(match element.kind() {
            Some(ElementKind::BeanShellSampler) => {
                let BeanShellSampler { source, parameters, file } = self.fields(element)?;
                ScriptProperties { language: beanshell(), source, parameters, file }
            }
            Some(ElementKind::BeanShellAssertion) => {
                let BeanShellAssertion { source, parameters, file } = self.fields(element)?;
                ScriptProperties { language: beanshell(), source, parameters, file }
            }
            Some(
                ElementKind::BeanShellTimer
                | ElementKind::BeanShellPreProcessor
                | ElementKind::BeanShellPostProcessor
                | ElementKind::BeanShellListener,
            ) => {
                let BeanShellTimer { source, parameters, file } = self.fields(element)?;
                ScriptProperties { language: beanshell(), source, parameters, file }
            }
            Some(ElementKind::BsfSampler) => {
                let BsfSampler { language, source, parameters, file } = self.fields(element)?;
                ScriptProperties { language, source, parameters, file }
            }
            _ => {
                let Jsr223Sampler { language, source, parameters, file } = self.fields(element)?;
                ScriptProperties { language, source, parameters, file }
            }
        })
    }

    /// A sample that is not a request.
    pub(super) fn sample(
        &mut self,
        sampler: TestElement<'_>,
        scope: &ElementScope<'_>,
        maker: SampleMaker,
    ) -> Result<ScenarioStep, JmxError> {
        let policy = self.reactions(scope, ReplyPolicy::default())?;
        let reply_policy = self.policy(policy);
        let label = self.before.folded(&sampler.name());
        Ok(ScenarioStep::Sample(ScriptSample { label, maker, reply_policy }))
    }

    /// An argument of a Java request, or a default.
    fn java_argument(&self, arguments: &[(String, String)], name: &str, default: &str) -> String {
        let argument = arguments.iter().find(|(key, value)| key == name && !value.is_empty());
        argument.map_or_else(|| default.to_owned(), |(_, value)| self.before.folded(value))
    }

    /// Converts a request of one of JMeter's Java test classes: a sample that sleeps.
    fn java(
        &mut self,
        sampler: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Option<ScenarioStep>, JmxError> {
        let Some(class) = sampler.java_class() else { return Ok(None) };
        let JavaSampler { class: _, arguments } = self.fields(sampler)?;
        let (fixed, label) = if class == "JavaTest" {
            let fixed = FixedSample {
                success: self.before.text(&self.java_argument(&arguments, "Status", "OK")) == "OK",
                code: self.java_argument(&arguments, "ResponseCode", ""),
                message: self.java_argument(&arguments, "ResponseMessage", ""),
                body: self.java_argument(&arguments, "ResultData", ""),
                elapsed: sleep_time(
                    &self.java_argument(&arguments, "Sleep_Time", "100"),
                    &self.java_argument(&arguments, "Sleep_Mask", "0xFF"),
                ),
                waits: true,
                ..FixedSample::default()
            };
            (fixed, self.java_argument(&arguments, "Label", &sampler.name()))
        } else {
            let elapsed = sleep_time(
                &self.java_argument(&arguments, "SleepTime", "1000"),
                &self.java_argument(&arguments, "SleepMask", "0x3FF"),
            );
            let fixed =
                FixedSample { success: true, elapsed, waits: true, ..FixedSample::default() };
            (fixed, sampler.name().into_owned())
        };
        let label = self.before.folded(&label);
        let step = self.sample(sampler, scope, SampleMaker::Fixed(fixed))?;
        Ok(Some(if let ScenarioStep::Sample(sample) = step {
            ScenarioStep::Sample(ScriptSample { label, ..sample })
        } else {
            step
        }))
    }

    /// Converts a Flow Control Action.
    fn action(&self, sampler: TestElement<'_>) -> Result<Option<ScenarioStep>, JmxError> {
        let FlowControlAction { action, target, duration } = self.fields(sampler)?;
        // The target is 0 for the thread, and 2 for the test.
        let stop = if target >= 2 { EndScope::Run } else { EndScope::User };
        Ok(match action {
            0 | 2 => Some(ScenarioStep::Stop(stop)),
            1 => Some(ScenarioStep::Pause(duration)),
            3 => Some(ScenarioStep::Stop(EndScope::Iteration)),
            4 => Some(ScenarioStep::Stop(EndScope::Round)),
            5 => Some(ScenarioStep::Stop(EndScope::Loop)),
            _ => None,
        })
    }
}

/// Properties of a script element.
struct ScriptProperties {
    language: String,
    source: String,
    parameters: String,
    file: String,
}

fn script_language(element: TestElement<'_>, language: &str) -> Result<ScriptLanguage, JmxError> {
    Ok(match language.trim().to_ascii_lowercase().as_str() {
        "" | "groovy" => ScriptLanguage::Groovy,
        // In JMeter, the engine named `java` is BeanShell's.
        "beanshell" | "bsh" | "java" => ScriptLanguage::Beanshell,
        "javascript" | "ecmascript" | "nashorn" | "rhino" | "js" | "jscript" => {
            ScriptLanguage::Javascript
        }
        "jexl" | "jexl2" | "jexl3" => ScriptLanguage::Jexl,
        other => {
            let message = format!(
                "{}: the language `{other}` is not known; write the script in groovy or javascript",
                element.title()
            );
            return Err(JmxError::on_line(element.line(), message));
        }
    })
}

/// Milliseconds that a Java request sleeps, as a text. JMeter adds `clock % mask` to the minimum.
fn sleep_time(least: &str, mask: &str) -> String {
    let more = (java_number(mask) - 1).max(0);
    if least.contains("${") {
        let sum = call_of("random", &["0", &more.to_string()])
            .and_then(|random| call_of("intSum", &[least, &random]));
        return sum.filter(|_| more > 0).unwrap_or_else(|| least.to_owned());
    }
    let least = java_number(least);
    let random = call_of("random", &[&least.to_string(), &(least + more).to_string()]);
    random.filter(|_| more > 0).unwrap_or_else(|| least.to_string())
}

/// Parses a whole number as Java does: `10`, `0xFF`.
fn java_number(text: &str) -> i64 {
    let text = text.trim();
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    hexadecimal.map_or_else(|| text.parse(), |digits| i64::from_str_radix(digits, 16)).unwrap_or(0)
}

fn mentions_any(document: &JmxDocument, element: TestElement<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| texts::mentions(document, element, word))
}

/// True if the plan may read the previous sample: links and sessions of its reply, or `prev` in
/// functions, in scripts before a request, and in scripts that make a sample.
pub(super) fn reads_previous(document: &JmxDocument) -> bool {
    document.all_elements().any(|element| match (element.kind(), element.role()) {
        (Some(ElementKind::LinkParser | ElementKind::UrlRewriting), _) => element.enabled(),
        (_, Role::PostProcessor | Role::Assertion | Role::Listener) => {
            mentions_any(document, element, &["(prev", "(sampleResult"])
        }
        (
            Some(
                ElementKind::Jsr223Sampler
                | ElementKind::BeanShellSampler
                | ElementKind::BsfSampler,
            ),
            _,
        ) => {
            texts::mentions_word(document, element, "prev")
                || mentions_any(document, element, &["getPreviousResult"])
        }
        _ => {
            texts::mentions_word(document, element, "prev")
                || mentions_any(document, element, &["getPreviousResult", "ampleResult"])
        }
    })
}
