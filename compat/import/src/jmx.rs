//! Converts plans of JMeter (.jmx) to plan files.
//!
//! ```text
//! .jmx ─▶ jmx::plan (thread groups as populations, elements in scope of a sampler as its policy) ─▶ YAML
//! ```
//!
//! The plan is read like `brunt run` does, except that references to variables are not replaced by
//! values. Notices list the parts that a plan file cannot express.
//!
//! * `texts`: converts texts from JMeter's rules to those of a plan file. `stages`:
//!   setUp and tearDown thread groups.
//! * `loads`, `steps`, `requests`, `replies`, `data`: parts of a plan. `places`: lines
//!   of elements in the .jmx.

mod data;
mod loads;
mod places;
mod replies;
mod requests;
mod stages;
mod steps;
mod texts;

use brunt_har::error::ImportError;
use brunt_har::request::most_frequent;
use brunt_har::secrets::{Names, Secrets};
use brunt_har::text;
use brunt_har::write::{Keys, checked_size, plan_time};
use brunt_jmx::document::JmxDocument;
use brunt_jmx::plan::{self, PlanContext, PlanFolder, UnevaluatedRun};
use brunt_jmx::properties::PropertyMap;
use brunt_model::plan::ResolveAll;
use brunt_model::reply_policy::Cookies;
use brunt_model::scenario::{EndScope, SampleMaker, Scenario, ScenarioStep, ScriptLanguage};
use brunt_model::secret::is_secret_field;
use brunt_model::{Plan, Population, ReplyPolicy, StageKind};
use brunt_spec::plan::Yaml;
use indexmap::IndexSet;
use places::NamedElements;
use requests::{cookies, headers, on_failure, server};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Placeholder host of requests that name none.
const NO_SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// Connect timeout that `brunt_jmx` gives to a plan without one.
const JMX_CONNECT_TIMEOUT: std::time::Duration = std::time::Duration::from_hours(1);

/// Options of an import from JMeter.
#[derive(Debug, Clone, Default)]
pub struct JmxOptions {
    /// Name of the input, for errors and the plan's first comment.
    pub file: String,
    /// Folder of the input. Files below it may be used.
    pub directory: PathBuf,
    /// Path to that folder from the folder of the plan file; empty if they are the same.
    pub files: PathBuf,
    /// Further folders with files for the plan.
    pub allowed: Vec<PathBuf>,
    /// Properties of JMeter, from the command line.
    pub properties: PropertyMap,
    /// Server that replaces the one in the input.
    pub base: Option<String>,
}

/// A plan file, and notices about its differences.
#[derive(Debug, Clone)]
pub struct JmxImport {
    /// Text of the plan file.
    pub plan: String,
    /// Left-out parts and differences, one line each with its place.
    pub notices: Vec<String>,
}

/// Converts a plan of JMeter.
///
/// # Errors
///
/// The input is malformed, has no thread group that can run, or makes the plan file too long.
pub fn read(bytes: &[u8], options: &JmxOptions) -> Result<JmxImport, ImportError> {
    let document = JmxDocument::parse(bytes).map_err(|error| import_error(error, &options.file))?;
    convert(&document, options)
}

/// Converts a document of JMeter.
///
/// # Errors
///
/// The plan has no thread group that can run, or makes the plan file too long.
pub fn convert(document: &JmxDocument, options: &JmxOptions) -> Result<JmxImport, ImportError> {
    let folder = PlanFolder::new(&options.directory, &options.allowed).with_upload_names();
    let (properties, environment_names) = with_secret_properties(document, &options.properties);
    let context = PlanContext {
        properties: &properties,
        folder: &folder,
        resolve_all: Some(ResolveAll { address: NO_SERVER, tls: false }),
        scale: 1.0,
        max_duration: None,
        // Notices list the elements that are left out.
        lenient: true,
        records: None,
        // Neither gets into the plan file.
        seed: 1,
        threads: 1,
    };
    let mut unevaluated = plan::read_unevaluated(document, &context)
        .map_err(|error| import_error(error, &options.file))?;
    let notices = std::mem::take(&mut unevaluated.run.notices);
    let mut writer = Writer::new(document, &unevaluated, options, &folder);
    writer.notices = notices.into_iter().collect();
    writer.environment_names = environment_names;
    writer.convert()
}

fn import_error(error: brunt_jmx::JmxError, file: &str) -> ImportError {
    let instead = "the plan cannot be imported";
    match error.at {
        Some(at) => ImportError::at_line(file, at.line as usize, error.message, instead),
        None => ImportError::new(file, error.message, instead),
    }
}

/// Adds properties that the plan reads and whose names are those of secrets, unless they are given.
/// Their value is a reference to an environment variable. Returns all properties, and the names of
/// these environment variables. A default value in the plan is not considered.
fn with_secret_properties(
    document: &JmxDocument,
    given: &PropertyMap,
) -> (PropertyMap, HashSet<String>) {
    let mut properties = given.clone();
    let mut environment_names = HashSet::new();
    let whole = document.write();
    let whole = String::from_utf8_lossy(&whole);
    for call in ["__P(", "__property("] {
        for rest in whole.split(call).skip(1) {
            let name = rest.split([',', ')']).next().unwrap_or_default().trim();
            if is_secret_field(name) && !properties.contains_key(name) {
                let environment = text::identifier(name).to_ascii_uppercase();
                properties.insert(name.to_owned(), text::variable(&environment));
                environment_names.insert(environment);
            }
        }
    }
    (properties, environment_names)
}

/// Builds the plan file.
struct Writer<'a> {
    document: &'a JmxDocument,
    /// Elements by name, for their places in notices.
    elements: NamedElements<'a>,
    unevaluated: &'a UnevaluatedRun,
    options: &'a JmxOptions,
    notices: IndexSet<String>,
    /// Names of environment variables that replace properties.
    environment_names: HashSet<String>,
    folder: &'a PlanFolder,
    /// Variables of the plan file: names and written values.
    vars: Vec<(String, String)>,
    /// Names of `vars`.
    plan_vars: HashSet<String>,
    /// Names of variables that are in use.
    names: Names,
    secrets: Secrets,
    /// Server of most requests.
    base: Option<String>,
    /// Reference to the plan's variable `base`; None if the server depends on variables of users.
    base_text: Option<String>,
    /// Initial variables of each user, as written.
    user_vars: Vec<(String, String)>,
    /// Reply policies of the current plan.
    policies: Vec<ReplyPolicy>,
    /// Variables that are set in the current population.
    known: HashSet<String>,
    /// Variables of extractors in the current population, which also set `NAME_1`, `NAME_matchNr`
    /// and so on.
    extracted: Vec<String>,
    /// Names in the arguments of functions, which may set these variables.
    named_in_calls: HashSet<String>,
    /// Variables that need an initial value, because they may be used before they are set.
    declared: Vec<(String, String)>,
    has_scripts: bool,
    /// True if most scripts of the current population are JavaScript.
    is_javascript: bool,
    /// Header fields of the scenario, which its requests do not repeat.
    shared_headers: Vec<(String, String)>,
    /// True if the current scenario becomes a part of a scenario with several thread groups.
    is_joined: bool,
    /// Maximum number of redirects of most requests.
    follow: u32,
    /// Effect of a failure of most requests.
    failure_ends: EndScope,
    /// Steps to insert after the current one.
    following_steps: Vec<Yaml>,
}

impl<'a> Writer<'a> {
    fn new(
        document: &'a JmxDocument,
        unevaluated: &'a UnevaluatedRun,
        options: &'a JmxOptions,
        folder: &'a PlanFolder,
    ) -> Self {
        Self {
            document,
            elements: NamedElements::of(document),
            unevaluated,
            options,
            folder,
            notices: IndexSet::new(),
            environment_names: HashSet::new(),
            vars: Vec::new(),
            plan_vars: HashSet::new(),
            names: Names::default(),
            secrets: Secrets::default(),
            base: None,
            base_text: None,
            user_vars: Vec::new(),
            policies: Vec::new(),
            known: HashSet::new(),
            extracted: Vec::new(),
            named_in_calls: HashSet::new(),
            declared: Vec::new(),
            has_scripts: false,
            is_javascript: false,
            shared_headers: Vec::new(),
            is_joined: false,
            follow: 0,
            failure_ends: EndScope::Nothing,
            following_steps: Vec::new(),
        }
    }

    /// Converts the plan.
    fn convert(mut self) -> Result<JmxImport, ImportError> {
        let stages: Vec<(StageKind, Plan)> = self
            .unevaluated
            .run
            .stages
            .iter()
            .map(|stage| (stage.kind, stage.plan.clone()))
            .collect();
        let mains: Vec<&Plan> = stages
            .iter()
            .filter(|(kind, _)| *kind == StageKind::Main)
            .map(|(_, plan)| plan)
            .collect();
        if mains.is_empty() {
            let wrong = "no thread group is left but those of setUp and tearDown";
            return Err(ImportError::new(
                &self.options.file,
                wrong,
                "a plan file has populations that run together",
            ));
        }
        if mains.len() > 1 {
            let place = self.document.test_plan().map(|plan| plan.place()).unwrap_or_default();
            self.notice(format!(
                "{place}: thread groups run together; a plan file does not run them one after the other"
            ));
        }
        self.variables();
        self.find_base(&stages.iter().map(|(_, plan)| plan).collect::<Vec<_>>());
        let mut setup_and_teardown = Keys::new();
        for (kind, plan) in stages.iter().filter(|(kind, _)| *kind != StageKind::Main) {
            setup_and_teardown
                .extend(self.stage(plan).map(|stage| (kind.word().to_owned(), stage)));
        }
        let mut populations = Keys::new();
        for plan in &mains {
            self.policies.clone_from(&plan.reply_policies);
            for population in &plan.populations {
                if population.scenario.requests.is_empty() {
                    let place = self.group_place(&population.name);
                    self.notice(format!("{place}: left out, it has no HTTP request"));
                    continue;
                }
                let yaml = self.population(population);
                populations.push((unique_name(&population.name, &populations), yaml));
            }
        }
        if populations.is_empty() {
            return Err(ImportError::new(
                &self.options.file,
                "no HTTP request is left",
                "at least one is expected",
            ));
        }
        let connection = self.connection(mains[0]);
        self.finish(populations, setup_and_teardown, connection)
    }

    /// Writes the plan file: variables, connection, setup and teardown, and populations. A single
    /// population is not named.
    fn finish(
        mut self,
        mut populations: Keys,
        setup_and_teardown: Keys,
        connection: Keys,
    ) -> Result<JmxImport, ImportError> {
        for variable in std::mem::take(&mut self.secrets.vars) {
            if let brunt_har::plan::Constant::Environment(name) = variable.value {
                self.vars.push((variable.name, format!("${{env.{name}}}")));
            }
        }
        let mut plan = Keys::new();
        if !self.vars.is_empty() {
            plan.push((
                "vars".into(),
                Yaml::Map(
                    self.vars.into_iter().map(|(name, value)| (name, Yaml::Text(value))).collect(),
                ),
            ));
        }
        // JMeter runs a plan once.
        plan.push(("repetitions".into(), Yaml::text("1")));
        if !connection.is_empty() {
            plan.push(("connection".into(), Yaml::Map(connection)));
        }
        plan.extend(setup_and_teardown);
        match (populations.len(), populations.pop()) {
            (1, Some((_, Yaml::Map(keys)))) => plan.extend(keys),
            (_, last) => {
                populations.extend(last);
                plan.push(("populations".into(), Yaml::Map(populations)));
            }
        }
        let mut head = vec![format!("A plan of JMeter: {}.", self.options.file)];
        head.extend(self.notices.iter().map(|notice| text::for_display(notice)));
        let mut document = vec![(String::new(), Yaml::comments(head))];
        document.extend(
            plan.into_iter().map(|(key, value)| (key, value.with_comments(vec![String::new()]))),
        );
        // The text must contain no characters with a meaning for this crate or the parser of plan
        // files.
        let text = Yaml::Block(document).write().replace(is_internal_character, "\u{fffd}");
        let instead = "run the .jmx as it is, or import a part of it";
        let plan = checked_size(text, &self.options.file, instead)?;
        Ok(JmxImport { plan, notices: self.notices.into_iter().collect() })
    }

    /// Converts User Defined Variables; of several with one name, the last. Secrets become
    /// references to environment variables, texts that never change become variables of the plan
    /// file, and the others initial variables of each user.
    fn variables(&mut self) {
        let mut last: Vec<(String, String)> = Vec::new();
        for (name, value) in &self.unevaluated.variables {
            // In JMeter, the last definition of a name counts.
            last.retain(|(known, _)| known != name);
            last.push((name.clone(), value.clone()));
        }
        // Names may be built at run time.
        let whole = self.document.write();
        let whole = String::from_utf8_lossy(&whole);
        let has_dynamic_names = ["__V(", "__evalVar(", "__RandomFromMultipleVars("]
            .iter()
            .any(|call| whole.contains(call));
        for (name, value) in last {
            let value = self.unevaluated.before.folded(&value);
            // Names with another meaning in a plan file.
            let is_taken = ["dir", "plan_dir", "contender"].contains(&name.as_str())
                || name.contains(['.', ':', '}', '{', '$']);
            let is_constant = self.unevaluated.constants.contains(&name)
                && !is_taken
                && !(has_dynamic_names || ends_with_digit(&name));
            let has_only_plan_vars = value.split("${").skip(1).all(|rest| {
                rest.split_once('}').is_some_and(|(inner, _)| self.plan_vars.contains(inner))
            });
            let rest: String = value.split("${").collect();
            let is_plain =
                has_only_plan_vars && !rest.contains(['$', '\\', ',', '(', ')', '\n', '\r']);
            if is_secret_field(&name)
                && !value.is_empty()
                && !value.contains("${")
                && !text::has_variable(&value)
                && !is_taken
            {
                self.names.take(&name);
                self.plan_vars.insert(name.clone());
                let environment = text::identifier(&name).to_ascii_uppercase();
                self.vars.push((name, format!("${{env.{environment}}}")));
            } else if is_constant && is_plain {
                self.names.take(&name);
                self.plan_vars.insert(name.clone());
                let value = self.filled_in(&value);
                self.vars.push((name, value));
            } else {
                self.user_vars.push((name, value));
            }
        }
    }

    /// Finds the server of most requests. The plan file gets a variable `base` for it, unless the
    /// server depends on variables of users and the options have no server.
    fn find_base(&mut self, plans: &[&Plan]) {
        let requests = plans.iter().flat_map(|plan| plan.requests());
        let urls: Vec<String> = requests.map(|request| self.readable(&request.url)).collect();
        let servers = urls.iter().filter_map(|url| server(url)).map(|(server, _)| server);
        let Some(server) = most_frequent(servers).map(str::to_owned) else { return };
        self.base = Some(server.clone());
        let document = self.document.write();
        let is_written = String::from_utf8_lossy(&document).contains("127.0.0.1");
        let is_none = server == "http://127.0.0.1" && !is_written && self.options.base.is_none();
        if is_none {
            self.notice(format!(
                "the plan names no server: put yours into `base`, or run with --set base=http://{NO_SERVER}"
            ));
        }
        let base = if is_none { format!("http://{NO_SERVER}") } else { server.clone() };
        let is_fixed = server.split("${").skip(1).all(|rest| {
            rest.split_once('}').is_some_and(|(name, _)| self.plan_vars.contains(name))
        });
        let value = self.options.base.clone().or_else(|| is_fixed.then_some(base));
        if let Some(value) = value {
            let name = self.names.take("base");
            self.plan_vars.insert(name.clone());
            self.vars.push((name.clone(), value.trim_end_matches('/').to_owned()));
            self.base_text = Some(format!("${{{name}}}"));
        }
    }

    /// Connection settings, and notices of connections that JMeter opens for each iteration.
    fn connection(&mut self, plan: &Plan) -> Keys {
        let mut keys = Keys::new();
        if plan.requests().any(|request| !request.url.starts_with("http://")) {
            // JMeter verifies no certificates.
            keys.push(("insecure".into(), Yaml::text("true")));
        }
        let connect = plan.connection.connect_timeout;
        if connect < JMX_CONNECT_TIMEOUT
            && !requests::is_default(connect, brunt_spec::defaults::CONNECT_TIMEOUT)
        {
            keys.push(("connect_timeout".into(), Yaml::Text(plan_time(connect))));
        }
        for group in plan.populations.iter().filter(|group| group.connection.is_some()) {
            let name = &group.name;
            self.notice(format!(
                "`{name}`: connections stay open over iterations, where JMeter opens new ones for each"
            ));
        }
        keys
    }

    /// Reply policy of this index in the current plan; the default one if there is none.
    fn policy(&self, number: u32) -> ReplyPolicy {
        self.policies.get(number as usize).cloned().unwrap_or_default()
    }

    fn population(&mut self, population: &Population) -> Yaml {
        let load = self.load(population);
        Yaml::map([("load", load), ("scenario", Yaml::Map(self.scenario(population)))])
    }

    fn scenario(&mut self, population: &Population) -> Keys {
        let scenario = &population.scenario;
        self.begin_population(scenario);
        let policies: Vec<ReplyPolicy> =
            scenario.requests.iter().map(|request| self.policy(request.reply_policy)).collect();
        let references: Vec<&ReplyPolicy> = policies.iter().collect();
        self.follow =
            most_frequent(policies.iter().map(|policy| policy.redirects.most)).unwrap_or_default();
        self.failure_ends =
            most_frequent(policies.iter().map(|policy| policy.failure_ends)).unwrap_or_default();
        if on_failure(self.failure_ends).is_none() {
            self.failure_ends = EndScope::Nothing;
        }
        self.collect_variables(scenario, &references);
        self.share_headers(scenario);
        // Rows that are read at the start of an iteration need no step: `data` itself reads them.
        let leading: Vec<ScenarioStep> =
            scenario.steps.iter().take_while(|step| sets_variables(step)).cloned().collect();
        let leading_rows: HashSet<u32> = leading
            .iter()
            .filter_map(
                |step| if let ScenarioStep::Row(number) = step { Some(*number) } else { None },
            )
            .collect();
        // Only the first step of each file; `insert` returns false for the others.
        let mut moved_rows = HashSet::new();
        let rest: Vec<ScenarioStep> = scenario
            .steps
            .iter()
            .enumerate()
            .filter(|(index, step)| !matches!(step, ScenarioStep::Row(number) if *index < leading.len() && moved_rows.insert(*number)))
            .map(|(_, step)| step.clone())
            .collect();
        let steps = self.steps(&rest, population);
        let data: Vec<Yaml> = scenario
            .data
            .iter()
            .enumerate()
            .map(|(number, file)| self.data(file, leading_rows.contains(&(number as u32))))
            .collect();
        let mut keys = Keys::new();
        if let Some(base) = self.base_text.clone().or_else(|| self.base.clone()) {
            keys.push(("base".into(), Yaml::Text(texts::escape_dollars(&base))));
        }
        keys.extend(self.rules(&policies, population));
        let fields = self.fields(&self.shared_headers.clone(), "header fields");
        if !fields.is_empty() {
            keys.push(("headers".into(), Yaml::Map(fields)));
        }
        let variables = self.initial_variables(scenario);
        if !variables.is_empty() {
            keys.push(("variables".into(), Yaml::Map(variables)));
        }
        if !data.is_empty() {
            keys.push(("data".into(), Yaml::List(data)));
        }
        keys.push(("steps".into(), Yaml::List(steps)));
        keys
    }

    /// Resets the state of a population, finds the language of most scripts, and collects the names
    /// in function calls.
    fn begin_population(&mut self, scenario: &Scenario) {
        self.known = self.user_vars.iter().map(|(name, _)| name.clone()).collect();
        self.known.extend(["START.MS", "TESTSTART.MS"].map(str::to_owned));
        self.extracted.clear();
        self.declared.clear();
        let mut languages = Vec::new();
        ScenarioStep::each(&scenario.steps, &mut |step| match step {
            ScenarioStep::Script(script) | ScenarioStep::PauseByScript(script) => {
                languages.push(script.language);
            }
            ScenarioStep::Sample(sample) => {
                if let SampleMaker::Script(script) = &sample.maker {
                    languages.push(script.language);
                }
            }
            _ => {}
        });
        for policy in scenario.requests.iter().map(|request| self.policy(request.reply_policy)) {
            for action in &policy.actions {
                let brunt_model::reply_policy::ReplyAction::Script(script) = action else {
                    continue;
                };
                languages.push(script.language);
            }
            for assertion in &policy.assertions {
                if let brunt_model::reply_policy::AssertionTest::Script(script) = &assertion.test {
                    languages.push(script.language);
                }
            }
        }
        let javascript =
            languages.iter().filter(|language| **language == ScriptLanguage::Javascript).count();
        self.has_scripts = !languages.is_empty();
        // The language of most scripts becomes that of the scenario.
        self.is_javascript = javascript * 2 > languages.len();
        // All texts are searched, since a function may set any variable.
        let whole = serde_json::to_value(scenario).unwrap_or_default();
        let mut names = HashSet::new();
        texts::each_text(&whole, &mut |text| texts::names_in_calls(text, &mut names));
        let policies = serde_json::to_value(&self.policies).unwrap_or_default();
        texts::each_text(&policies, &mut |text| texts::names_in_calls(text, &mut names));
        self.named_in_calls = names;
    }

    /// Rules for all requests of a scenario.
    fn rules(&mut self, policies: &[ReplyPolicy], population: &Population) -> Keys {
        let mut keys = Keys::new();
        let all: HashSet<&str> = policies.iter().map(|policy| cookies(policy.cookies)).collect();
        let rule = policies
            .iter()
            .map(|policy| policy.cookies)
            .find(|rule| *rule != Cookies::Ignored)
            .unwrap_or_default();
        if all.len() > 1 {
            let place = self.group_place(&population.name);
            self.notice(format!("{place}: one rule for cookies holds for all of its requests"));
        }
        keys.push(("cookies".into(), Yaml::text(cookies(rule))));
        keys.push(("follow".into(), Yaml::text(self.follow.to_string())));
        if let Some(cache) = policies.iter().find_map(|policy| policy.cache) {
            let word = if cache.reuses_fresh { "true" } else { "revalidate" };
            keys.push(("cache".into(), Yaml::text(word)));
        }
        if let Some(word) = on_failure(self.failure_ends).filter(|word| *word != "continue") {
            keys.push(("on_failure".into(), Yaml::text(word)));
        }
        if self.is_javascript {
            keys.push(("language".into(), Yaml::text("javascript")));
        }
        keys
    }

    /// Initial variables of each user, with the times of JMeter's start if they are used.
    fn initial_variables(&mut self, scenario: &Scenario) -> Keys {
        let mut keys = Keys::new();
        let used = serde_json::to_string(scenario).unwrap_or_default();
        for (name, text) in [("START.MS", "${time()}"), ("TESTSTART.MS", "${time()}")] {
            if used.contains(&format!("${{{name}}}")) {
                keys.push((name.to_owned(), Yaml::text(text)));
            }
        }
        for (name, value) in self.user_vars.clone() {
            let value = self.plain(&value);
            keys.push((name, Yaml::Text(value)));
        }
        for (name, value) in std::mem::take(&mut self.declared) {
            if !keys.iter().any(|(known, _)| *known == name) {
                keys.push((name, Yaml::Text(value)));
            }
        }
        keys
    }

    /// Finds the header fields that all requests share; none with a single request, and none in a
    /// part of a scenario.
    fn share_headers(&mut self, scenario: &Scenario) {
        self.shared_headers.clear();
        // Header fields of a scenario would apply to all parts.
        if self.is_joined {
            return;
        }
        let mut all = scenario.requests.iter().map(headers);
        let Some(first) = all.next() else { return };
        let rest: Vec<Vec<(String, String)>> = all.collect();
        let shared = first.iter().filter(|header| {
            !rest.is_empty()
                && !is_never_shared(&header.0)
                && rest.iter().all(|other| other.contains(header))
        });
        self.shared_headers = shared.cloned().collect();
    }
}

/// True for characters that enclose variables and names of uploads in this crate, or braces in the
/// parser of plan files.
fn is_internal_character(c: char) -> bool {
    matches!(c, '\u{f8f0}'..='\u{f8f6}' | '\u{e000}' | '\u{e001}')
}

/// True for header fields that stay with their requests, even if all requests have the same value.
fn is_never_shared(name: &str) -> bool {
    ["content-type", "authorization"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// True for steps that only set variables.
fn sets_variables(step: &ScenarioStep) -> bool {
    matches!(step, ScenarioStep::Row(_) | ScenarioStep::Count(_) | ScenarioStep::Set { .. })
}

/// True if the name ends with a digit, such as `id_1`: the plan may build it at run time.
fn ends_with_digit(name: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit()).len() < name.len()
}

/// Makes a name unique among the populations: `name`, `name (2)`, …
fn unique_name(name: &str, others: &Keys) -> String {
    let names =
        std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name} ({number})")));
    names
        .into_iter()
        .find(|name| !others.iter().any(|(other, _)| other == name))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
