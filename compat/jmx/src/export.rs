//! Exports a plan of brunt as a plan of JMeter 5.6 (.jmx).
//!
//! ```text
//! Plan ─▶ populations as thread groups, steps as controllers and samplers, policies as extractors and assertions ─▶ .jmx
//! ```
//!
//! The export uses only JMeter's own elements, no plugins. It omits settings without an equivalent
//! and adds a notice.
//!
//! * `xml`: elements and their markup. `texts`: texts by JMeter's rules. `stages`: setup and
//!   teardown. `groups`, `steps`, `requests`, `replies`: the parts of a plan.

mod groups;
mod replies;
mod requests;
mod stages;
mod steps;
mod texts;
mod xml;

use crate::fields::{Fields, TextWriter};
use crate::support::ElementKind;
use crate::support::kinds::{CacheManager, CookieManager, TestPlan};
use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{AssertionTest, Cookies, ReplyAction};
use brunt_model::scenario::{EndScope, Scenario, ScenarioStep, ScriptLanguage, TextRules};
use brunt_model::{Plan, Population, ReplyPolicy, StageKind};
use indexmap::IndexSet;
use std::path::PathBuf;
pub(crate) use xml::Item;

/// Settings of an export.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// Name of the test plan.
    pub name: String,
    /// Folder of the .jmx; file names are relative to it.
    pub folder: PathBuf,
}

/// A plan as a JMeter file.
#[derive(Debug, Clone)]
pub struct ExportedPlan {
    /// Content of the .jmx file.
    pub jmx: String,
    /// Omitted or changed settings, one per line with the place.
    pub notices: Vec<String>,
}

/// Writes a plan as a JMeter file.
pub fn write(plan: &Plan, options: &ExportOptions) -> ExportedPlan {
    let stages = stages::stages(plan);
    let mut writer = PlanWriter {
        options,
        plan,
        notices: IndexSet::new(),
        rules: TextRules::default(),
        group_ends: EndScope::Nothing,
    };
    let mut groups: Vec<Item> = Vec::new();
    for (kind, plan) in &stages {
        writer.plan = plan;
        groups
            .extend(plan.populations.iter().map(|population| writer.population(population, *kind)));
    }
    writer.plan = plan;
    writer.connection();
    let variables = writer.variables(&stages);
    let fields = TestPlan { variables, is_serialized: false, tears_down: true };
    let root = writer.item(ElementKind::TestPlan, &options.name, fields).over(groups);
    let mut jmx = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                   <jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">\n  <hashTree>\n"
        .to_owned();
    root.write(&mut jmx, 2);
    jmx.push_str("  </hashTree>\n</jmeterTestPlan>\n");
    ExportedPlan { jmx, notices: writer.notices.into_iter().collect() }
}

/// Position of a text in a plan; decides whether it can hold placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a URL, a header field or a body, which can hold placeholders such as `{n}`.
    Request,
    /// Anywhere else, which holds plain text.
    Text,
}

struct PlanWriter<'a> {
    options: &'a ExportOptions,
    plan: &'a Plan,
    notices: IndexSet<String>,
    /// Template syntax of the current population.
    rules: TextRules,
    /// Scope that a failure ends in the current thread group.
    group_ends: EndScope,
}

impl TextWriter for PlanWriter<'_> {
    fn converted(&mut self, text: String) -> String {
        self.text(&text, Place::Text)
    }
}

impl PlanWriter<'_> {
    /// An element of a kind with a name.
    fn item<F: Fields>(&mut self, kind: ElementKind, name: impl Into<String>, fields: F) -> Item {
        Item::of(kind, name, fields.write(self))
    }

    /// An element that has the name of its kind.
    fn unnamed<F: Fields>(&mut self, kind: ElementKind, fields: F) -> Item {
        self.item(kind, kind.title(), fields)
    }

    /// Adds a notice of an omitted or changed setting, unless the same notice exists.
    fn notice(&mut self, text: String) {
        self.notices.insert(text);
    }

    fn policy(&self, number: u32) -> ReplyPolicy {
        self.plan.reply_policies.get(number as usize).cloned().unwrap_or_default()
    }

    fn population(&mut self, population: &Population, kind: StageKind) -> Item {
        let scenario = &population.scenario;
        self.rules = scenario.texts;
        let policies: Vec<ReplyPolicy> =
            scenario.requests.iter().map(|request| self.policy(request.reply_policy)).collect();
        self.group_ends = policies.first().map(|policy| policy.failure_ends).unwrap_or_default();
        // Requests that end different scopes get a Result Status Action Handler each.
        if policies.iter().any(|policy| policy.failure_ends != self.group_ends) {
            self.group_ends = EndScope::Nothing;
        }
        let mut children = self.configuration(&policies);
        if let brunt_model::Load::Closed { think, .. } = &population.load {
            children.extend(self.think_timer(*think));
        }
        let shared = requests::shared_headers(scenario);
        if !shared.is_empty() {
            children.push(self.header_manager(&shared));
        }
        self.foreign_scripts(scenario, &policies, &population.name);
        children.extend(self.steps(&scenario.steps, population, true));
        self.group(population, self.group_ends, kind).over(children)
    }

    /// Cookie and cache managers. In JMeter one manager applies to a whole thread group.
    fn configuration(&mut self, policies: &[ReplyPolicy]) -> Vec<Item> {
        let mut items = Vec::new();
        let retaining =
            policies.iter().map(|policy| policy.cookies).find(|cookies| cookies.are_kept());
        if let Some(cookies) = retaining {
            let clear = matches!(cookies, Cookies::KeptForAnIteration | Cookies::KeptForARound);
            let fields = CookieManager {
                cookies: Vec::new(),
                clears: clear,
                is_by_group: false,
                policy: String::new(),
            };
            items.push(self.unnamed(ElementKind::CookieManager, fields));
        }
        if let Some(cache) = policies.iter().find_map(|policy| policy.cache) {
            let fields = CacheManager {
                clears: cache.per_iteration,
                uses_expires: cache.reuses_fresh,
                is_by_group: false,
            };
            items.push(self.unnamed(ElementKind::CacheManager, fields));
        }
        items
    }

    /// Initial variables of all users. JMeter has one list for all thread groups.
    fn variables(&mut self, stages: &[(StageKind, Plan)]) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for population in stages.iter().flat_map(|(_, plan)| &plan.populations) {
            self.rules = population.scenario.texts;
            for (name, value) in &population.scenario.variables {
                let value = self.text(value, Place::Text);
                match all.iter().find(|(other, _)| other == name) {
                    Some((_, other)) if *other != value => {
                        self.notice(format!(
                            "population {}: the variable {name} has another value in another population; the first holds for all",
                            population.name
                        ));
                    }
                    Some(_) => {}
                    None => all.push((name.clone(), value)),
                }
            }
        }
        all
    }

    /// Adds a notice for scripts in JavaScript, because JMeter gives them other objects.
    fn foreign_scripts(&mut self, scenario: &Scenario, policies: &[ReplyPolicy], name: &str) {
        let in_steps = ScenarioStep::any(
            &scenario.steps,
            &|step| matches!(step, ScenarioStep::Script(script) | ScenarioStep::PauseByScript(script) if script.language == ScriptLanguage::Javascript),
        );
        if in_steps || policies.iter().any(uses_javascript) {
            self.notice(format!(
                "population {name}: its scripts are in JavaScript; JMeter has vars and props there, but not prev.body, fail() and stop()"
            ));
        }
    }

    /// Adds notices for connection settings that a .jmx cannot hold.
    fn connection(&mut self) {
        let connection = &self.plan.connection;
        let tls = &connection.tls;
        let omissions = [
            (connection.proxy.is_some(), "proxy: give JMeter -H and -P"),
            (connection.unix_socket.is_some(), "unix_socket: JMeter has none"),
            (
                !connection.resolve.is_empty() || connection.resolve_all.is_some(),
                "resolve: add a DNS Cache Manager",
            ),
            (
                connection.http != brunt_model::plan::HttpVersion::V1_1,
                "http: JMeter speaks HTTP/1.1",
            ),
            (!connection.source.is_empty(), "source: give each sampler its source address"),
            (
                connection.requests_per_connection.is_some(),
                "requests_per_connection: JMeter keeps connections open, or closes each",
            ),
            (
                connection.receive_rate.is_some(),
                "receive_rate: set httpclient.socket.http.cps in user.properties",
            ),
            (
                tls.cert.is_some() || tls.cacert.is_some(),
                "cert, cacert: give JMeter a keystore (javax.net.ssl.keyStore)",
            ),
        ];
        for (_, text) in omissions.into_iter().filter(|(is_set, _)| *is_set) {
            self.notice(format!("connection.{text}"));
        }
        if !self.plan.objectives.is_empty() {
            self.notice("objectives: JMeter has none; look at its report".to_owned());
        }
    }

    /// Path of a file relative to the .jmx.
    fn file(&self, file: &str) -> String {
        let path = std::path::Path::new(file);
        path.strip_prefix(&self.options.folder).unwrap_or(path).display().to_string()
    }
}

fn uses_javascript(policy: &ReplyPolicy) -> bool {
    let in_actions = policy
        .actions
        .iter()
        .any(|action| matches!(action, ReplyAction::Script(script) if script.language == ScriptLanguage::Javascript));
    let in_assertions = policy.assertions.iter().any(
        |assertion| matches!(&assertion.test, AssertionTest::Script(script) if script.language == ScriptLanguage::Javascript),
    );
    in_actions || in_assertions
}

/// Value of `useHeaders` and field of an assertion for a part of the reply; None if
/// JMeter has no equivalent.
fn part(part: &ReplyPart) -> Option<(&'static str, &'static str)> {
    Some(match part {
        ReplyPart::Body => ("false", "Assertion.response_data"),
        ReplyPart::UnescapedBody => ("unescaped", "Assertion.response_data"),
        ReplyPart::Headers => ("true", "Assertion.response_headers"),
        ReplyPart::Status => ("code", "Assertion.response_code"),
        ReplyPart::Message => ("message", "Assertion.response_message"),
        ReplyPart::Url => ("URL", "Assertion.sample_label"),
        ReplyPart::RequestHeaders => ("request_headers", "Assertion.request_headers"),
        ReplyPart::SamplerData => ("false", "Assertion.request_data"),
        ReplyPart::RequestBody | ReplyPart::Variable(_) => return None,
    })
}

#[cfg(test)]
mod tests;
