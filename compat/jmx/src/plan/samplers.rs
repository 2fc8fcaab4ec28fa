//! Converts samplers to steps: pre-processors, pauses, then the sample.

use super::failing::PlanScript;
use super::requests::InvalidHost;
use super::texts::{self, error_at};
use super::{ElementScope, PlanReader};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
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
                if let Some(host_error) = self.invalid_host(sampler, &scope) {
                    let failure = self.failure_for_host(sampler, &host_error);
                    steps.push(match (self.sample(sampler, &scope, failure)?, host_error) {
                        // JMeter fails before it names the sample.
                        (ScenarioStep::Sample(sample), InvalidHost::Slash) => {
                            ScenarioStep::Sample(ScriptSample { label: String::new(), ..sample })
                        }
                        (step, _) => step,
                    });
                } else if let Some(file) = self.missing_upload(sampler, &scope) {
                    let failure = self.without_upload(sampler, &file);
                    steps.push(self.sample(sampler, &scope, failure)?);
                } else {
                    let request = self.request(sampler, &scope)?;
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
                let nested = sampler.properties().element("SetVariablesAction");
                let nested = nested.unwrap_or(sampler.properties());
                let pairs = super::data::pairs(&nested);
                steps.extend(pairs.map(|(variable, value)| ScenarioStep::Set {
                    variable,
                    value: self.before.folded(&value),
                }));
            }
            Some(ElementKind::DebugSampler) => {
                steps.push(self.sample(sampler, &scope, SampleMaker::Variables)?);
            }
            Some(ElementKind::Jsr223Sampler) => {
                let maker = self.script(sampler, "script")?.into();
                steps.push(self.sample(sampler, &scope, maker)?);
            }
            Some(ElementKind::BsfSampler) => {
                let maker = self.script(sampler, "BSFSampler.query")?.into();
                steps.push(self.sample(sampler, &scope, maker)?);
            }
            Some(ElementKind::BeanShellSampler) => {
                let maker = self.script(sampler, "BeanShellSampler.query")?.into();
                steps.push(self.sample(sampler, &scope, maker)?);
            }
            Some(ElementKind::WebSocketSampler) => steps.extend(self.websocket(sampler, &scope)?),
            Some(ElementKind::GrpcSampler) => steps.extend(self.call(sampler, &scope)?),
            Some(ElementKind::JavaSampler) => steps.extend(self.java(sampler, &scope)?),
            Some(ElementKind::DummySampler) => {
                let fixed = self.dummy(sampler);
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
                    steps.extend(
                        self.script(*element, "script")?.script().map(ScenarioStep::Script),
                    );
                }
                Some(ElementKind::FifoPop) => {
                    let queue = self.text(*element, "FifoName");
                    if let Some(value) = call_of("fifoPop", &[&queue]) {
                        let variable = match self.value(*element, "Variable") {
                            value if value.is_empty() => self.value(*element, "variable"),
                            variable => variable,
                        };
                        steps.push(ScenarioStep::Set { variable, value });
                    }
                }
                _ => steps.extend(self.modifier(*element).map(ScenarioStep::Modify)),
            }
        }
        Ok(steps)
    }

    /// Change that an element makes to the next request; None for other elements.
    fn modifier(&self, element: TestElement<'_>) -> Option<RequestModifier> {
        Some(match element.kind()? {
            ElementKind::LinkParser => RequestModifier::Link,
            ElementKind::UrlRewriting => RequestModifier::Session(SessionModifier {
                argument: self.text(element, "argument_name"),
                place: if self.flag(element, "path_extension", false) {
                    SessionPlace::Path {
                        equals: !self.flag(element, "path_extension_no_equals", false),
                        question_mark: !self.flag(element, "path_extension_no_questionmark", false),
                    }
                } else {
                    SessionPlace::Argument
                },
                kept_as: self.flag(element, "cache_value", true).then(|| element.place()),
                encode: self.flag(element, "encode", false),
            }),
            ElementKind::RegexUserParameters => RequestModifier::Matches {
                variable: self.text(element, "RegExUserParameters.regex_ref_name"),
                name_group: self.text(element, "RegExUserParameters.param_names_gr_nr"),
                value_group: self.text(element, "RegExUserParameters.param_values_gr_nr"),
            },
            _ => return None,
        })
    }

    /// Reads a script element: JSR223 in its language, or `BeanShell`.
    ///
    /// # Errors
    ///
    /// Fails if the language is unknown, or the script file cannot be read.
    pub(super) fn script(
        &mut self,
        element: TestElement<'_>,
        source: &str,
    ) -> Result<PlanScript, JmxError> {
        let is_beanshell =
            element.tag().contains("BeanShell") || element.testclass().contains("BeanShell");
        let language =
            if is_beanshell { ScriptLanguage::Beanshell } else { self.language(element)? };
        let properties = element.properties();
        let inline_source = properties.text(source).unwrap_or_default().into_owned();
        let file = self.value(element, &sibling_property(source, "filename"));
        // In JMeter a file takes precedence over the inline script.
        if let Some(file) = self.missing_script(file.trim()) {
            return Ok(self.without_script(element, &file));
        }
        let text = if file.trim().is_empty() {
            inline_source
        } else {
            self.script_file(element, file.trim())?
        };
        let text =
            if language == ScriptLanguage::Beanshell { self.with_sources(&text) } else { text };
        let script = Script {
            name: element.name().into_owned(),
            language,
            source: text,
            parameters: self.text(element, &sibling_property(source, "parameters")),
        };
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

    fn language(&self, element: TestElement<'_>) -> Result<ScriptLanguage, JmxError> {
        let language = match self.value(element, "scriptLanguage") {
            language if language.is_empty() => self.value(element, "BSFSampler.language"),
            language => language,
        };
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

    /// Sample of the Dummy Sampler plugin.
    fn dummy(&self, sampler: TestElement<'_>) -> FixedSample {
        FixedSample {
            // The plugin spells the property like this.
            success: self.flag(sampler, "SUCCESFULL", true),
            code: self.text(sampler, "RESPONSE_CODE"),
            message: self.text(sampler, "RESPONSE_MESSAGE"),
            body: self.text(sampler, "RESPONSE_DATA"),
            elapsed: self.text(sampler, "RESPONSE_TIME"),
            latency: self.text(sampler, "LATENCY"),
            connect: self.text(sampler, "CONNECT"),
            waits: self.flag(sampler, "WAITING", true),
        }
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
        let nested = sampler.properties().element("arguments");
        let arguments: Vec<(String, String)> = nested.iter().flat_map(super::data::pairs).collect();
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
        // The target is 0 for the thread, and 2 for the test.
        let of_test = self.number(sampler, "ActionProcessor.target", 0.0)? >= 2.0;
        let stop = if of_test { EndScope::Run } else { EndScope::User };
        Ok(match self.number(sampler, "ActionProcessor.action", 0.0)? as i64 {
            0 | 2 => Some(ScenarioStep::Stop(stop)),
            1 => Some(ScenarioStep::Pause(self.text(sampler, "ActionProcessor.duration"))),
            3 => Some(ScenarioStep::Stop(EndScope::Iteration)),
            4 => Some(ScenarioStep::Stop(EndScope::Round)),
            5 => Some(ScenarioStep::Stop(EndScope::Loop)),
            _ => None,
        })
    }
}

/// Name of another property with the prefix of a property.
fn sibling_property(property: &str, name: &str) -> String {
    match property.split_once('.') {
        Some((prefix, _)) => format!("{prefix}.{name}"),
        None => name.to_owned(),
    }
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
