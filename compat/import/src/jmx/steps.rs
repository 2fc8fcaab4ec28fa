//! Converts steps of .jmx plans, and adds notices for steps that plan files do not have.

use super::Writer;
use brunt_jmx::ElementKind;
use brunt_languages::LANGUAGES;
use brunt_model::Population;
use brunt_model::modifier::RequestModifier;
use brunt_model::scenario::{
    Condition, SampleMaker, ScenarioStep, Script, ScriptLanguage, ScriptSample,
};
use brunt_spec::plan::Yaml;
use brunt_spec::plan::scenario::steps;
use brunt_spec::plan::scenario::write::{InexpressiblePart, Wording};

/// JMeter's expression for the success of the last sample.
const LAST_SAMPLE_OK: &str = "${JMeterThread.last_sample_ok}";

/// Converts the texts and elements in the scenario of a population.
struct PopulationWording<'w, 'a> {
    writer: &'w mut Writer<'a>,
    population: &'w Population,
}

impl Wording for PopulationWording<'_, '_> {
    fn text(&mut self, text: &str) -> String {
        self.writer.plain(text)
    }

    fn request(&mut self, number: u32) -> Vec<Yaml> {
        let Some(request) = self.population.scenario.requests.get(number as usize) else {
            return Vec::new();
        };
        if request.headers.iter().any(|(_, value)| value == "application/grpc") {
            let place = self.writer.sampler_place(&request.label);
            self.writer.notice(format!(
                "{place}: left out; write the call as a step `grpc` (docs/http2.md)"
            ));
            return Vec::new();
        }
        let policy = self.writer.policy(request.reply_policy);
        let mut steps = vec![self.writer.request(request, &policy)];
        steps.append(&mut self.writer.following_steps);
        steps
    }

    fn script(&mut self, script: &Script) -> Vec<Yaml> {
        self.writer.script_step(script, &self.population.name)
    }

    fn data_file(&mut self, number: u32) -> Option<String> {
        let data = self.population.scenario.data.get(number as usize)?;
        Some(self.writer.file(&data.file))
    }

    fn is_success(&self, text: &str) -> bool {
        text.trim() == LAST_SAMPLE_OK
    }

    fn lose(&mut self, loss: InexpressiblePart<'_>) {
        let notice = match loss {
            InexpressiblePart::SecondEvaluation(condition) if !has_counter(condition) => return,
            InexpressiblePart::SecondEvaluation(_) => {
                let place = self.place(ElementKind::WhileController);
                format!(
                    "{place}: JMeter evaluates the condition twice a round, and a plan file once: it counts otherwise"
                )
            }
            InexpressiblePart::NumberRange(prefix) => {
                let place = self.place(ElementKind::ForeachController);
                format!("{place}: a ForEach Controller goes through all values of {prefix}*")
            }
            InexpressiblePart::Share(_) => {
                let place = self.place(ElementKind::ThroughputController);
                format!(
                    "{place}: its steps run each time; a plan file has no number of executions, nor a share that changes"
                )
            }
            InexpressiblePart::Pause(millis) => {
                format!(
                    "Thread Group \"{}\": a pause of `{millis}` ms is left out",
                    self.population.name
                )
            }
            InexpressiblePart::Schedule => {
                let place = self.place(ElementKind::ThroughputShapingTimer);
                format!(
                    "{place}: left out, a plan file has no schedule of rates for users; use load.rate"
                )
            }
            InexpressiblePart::MeetingTimeout => {
                let place = self.place(ElementKind::SynchronizingTimer);
                format!("{place}: users wait without a time limit")
            }
            InexpressiblePart::OncePerLoop => {
                let place = self.place(ElementKind::OnceOnlyController);
                format!(
                    "{place}: it runs once for each user, not once for each run of the loop around it"
                )
            }
            InexpressiblePart::Modifier(modifier) => {
                let place = self.place(match modifier {
                    RequestModifier::Link => ElementKind::LinkParser,
                    RequestModifier::Session(_) => ElementKind::UrlRewriting,
                    RequestModifier::Matches { .. } => ElementKind::RegexUserParameters,
                });
                format!("{place}: left out, a plan file has no such element")
            }
            InexpressiblePart::Sample(sample) => self.sample_notice(sample),
        };
        self.writer.notice(notice);
    }
}

impl PopulationWording<'_, '_> {
    fn place(&self, kind: ElementKind) -> String {
        self.writer.kind_place(kind, &self.population.name)
    }

    fn sample_notice(&self, sample: &ScriptSample) -> String {
        let place = self.writer.sampler_place(&sample.label);
        match &sample.maker {
            SampleMaker::Script(_) => {
                let is_judged = self.writer.policy(sample.reply_policy).is_judged_by_user();
                let more =
                    if is_judged { ", and its extractors and assertions are left out" } else { "" };
                format!("{place}: it is a script and makes no sample{more}")
            }
            SampleMaker::Variables => format!("{place}: left out, it only shows variables"),
            SampleMaker::Fixed(fixed) if fixed.waits => {
                format!(
                    "{place}: it pauses and makes no sample; a plan file has no samples that are no requests"
                )
            }
            SampleMaker::Fixed(fixed) if fixed.success => {
                format!("{place}: left out, a plan file has no samples that are no requests")
            }
            SampleMaker::Fixed(fixed) => {
                format!("{place}: left out, each sample fails in JMeter: {}", fixed.message)
            }
        }
    }
}

/// True if each evaluation of a condition changes it.
fn has_counter(condition: &Condition) -> bool {
    match condition {
        Condition::True(text) | Condition::False(text) => text.contains("__counter("),
        Condition::Not(inner) => has_counter(inner),
        _ => false,
    }
}

impl Writer<'_> {
    /// Converts a list of steps.
    pub(super) fn steps(&mut self, steps: &[ScenarioStep], population: &Population) -> Vec<Yaml> {
        steps::write(steps, &mut PopulationWording { writer: self, population })
    }

    fn script_step(&mut self, script: &Script, group: &str) -> Vec<Yaml> {
        // `brunt export jmx` writes the step `set` in this form.
        let set_call = script
            .source
            .strip_prefix("vars.put(\"")
            .and_then(|rest| rest.strip_suffix("\", Parameters)"));
        if let Some(variable) = set_call.filter(|name| !name.contains('"')) {
            let value = self.plain(&script.parameters);
            return vec![steps::set(variable, value)];
        }
        let place = format!("Thread Group \"{group}\"");
        self.script(script, &place).map(steps::script).into_iter().collect()
    }

    /// Source of a script in the language of the scenario; None if it is left out.
    pub(super) fn script(&mut self, script: &Script, place: &str) -> Option<String> {
        let place = self.element_place(&script.name, place);
        let is_javascript = script.language == ScriptLanguage::Javascript;
        if script.language == ScriptLanguage::Jexl || is_javascript != self.is_javascript {
            self.notice(format!(
                "{place}: left out, all scripts of a scenario are in one language, Groovy or JavaScript"
            ));
            return None;
        }
        let source = self.source(script, &place);
        if source.trim().is_empty() {
            return None;
        }
        let language =
            if is_javascript { ScriptLanguage::Javascript } else { ScriptLanguage::Groovy };
        let script_to_check =
            Script { source: source.replace("$$", "$"), language, ..script.clone() };
        if let Err(error) = brunt_script::check::fixed_script(&script_to_check, LANGUAGES) {
            self.notice(format!("{place}: left out, {error}"));
            return None;
        }
        let parameters = script.parameters.trim();
        let reads_parameters =
            ["Parameters", "args", "bsh.args"].iter().any(|name| source.contains(name));
        if parameters.is_empty() || !reads_parameters {
            return Some(source);
        }
        if parameters.contains("${") || is_javascript {
            self.notice(format!(
                "{place}: its parameters are left out; read variables by vars.get"
            ));
            return Some(source);
        }
        let quoted = parameters.replace('\\', r"\\").replace('\'', r"\'");
        Some(format!("def Parameters = '{quoted}'\ndef args = Parameters.split(' ')\n{source}"))
    }
}
