//! Reads a .jmx plan as runs of brunt. Thread groups become populations and samplers become
//! requests. Elements in the scope of a sampler become its reply policy and the steps before it.
//!
//! ```text
//! document ─▶ constants (variables, properties) ─▶ thread groups ─▶ stages: setUp, main, tearDown
//!                                                              │
//!                        scope ─▶ controllers ─▶ samplers, timers, extractors, assertions, data
//! ```
//!
//! A run has one or more stages, which run one after another; each is a plan. Thread groups of one
//! stage run at the same time. Texts keep their `${…}`, and each user fills them in by JMeter's
//! rules. Numbers of threads, ramps and durations are evaluated before the run.
//!
//! * [`PlanFolder`]: the files of a plan. `backend`: live outputs. `stage`: the result. `groups`:
//!   thread groups as loads. `scope`: the elements that apply to a sampler. `controllers`,
//!   `samplers`, `timers`, `data`: steps. `requests`, `websockets`, `calls`: HTTP, WebSocket and
//!   gRPC requests. `extractors`, `assertions`: reply policies, with `patterns` and `json_paths`.
//!   `failing`: elements that always fail. `texts`: properties as texts.

mod assertions;
mod backend;
mod calls;
mod controllers;
mod data;
mod extractors;
mod failing;
mod files;
mod groups;
mod json_paths;
mod patterns;
mod requests;
mod samplers;
mod scope;
mod stage;
mod texts;
mod timers;
mod unset;
mod websockets;

use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::fields::{Fields, IgnoredProperty, PropertyRow, PropertySource};
use crate::forms;
use crate::properties::PropertyMap;
use crate::support::kinds::TestPlan;
use crate::support::{ElementKind, Role};
use brunt_languages::LANGUAGES;
use brunt_model::live_output::{LiveOutput, LiveSink};
use brunt_model::plan::{
    ConnectionSettings, Dialling, HttpVersion, ListenerRecords, RecordSettings, Resolve,
    ResolveAll, TlsSettings,
};
use brunt_model::{Plan, Population, ReplyPolicy, StageKind, TestStage};
use brunt_script::BeforeRun;
use brunt_script::functions::PLAN_FILE;
pub use files::{PlanFolder, UPLOAD};
use indexmap::IndexSet;
use scope::ElementScope;
pub use stage::TestRun;
use std::collections::BTreeSet;
use std::time::Duration;
use texts::error_at;

/// Request timeout. JMeter itself waits for a reply without limit.
const LONGEST_REQUEST: Duration = Duration::from_hours(1);
/// Length of an interval of a run.
const INTERVAL: Duration = Duration::from_secs(1);
/// Maximum nesting of controllers. A module controller can refer to itself.
const DEEPEST: usize = 50;

/// Context in which a plan is read.
pub struct PlanContext<'a> {
    /// JMeter's properties, which `${__P(name)}` reads.
    pub properties: &'a PropertyMap,
    /// Files of the plan.
    pub folder: &'a PlanFolder,
    /// Address of all connections; None to use the hosts in URLs.
    pub resolve_all: Option<ResolveAll>,
    /// Factor for numbers of threads and arrival rates. Each group keeps at least one thread.
    pub scale: f64,
    /// Maximum duration of a stage.
    pub max_duration: Option<Duration>,
    /// True to omit unsupported elements; false to return an error for them.
    pub lenient: bool,
    /// Sample records to make; None for no records.
    pub records: Option<ListenerRecords>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of worker threads.
    pub threads: u32,
}

/// Converts a plan to a run.
///
/// # Errors
///
/// Fails on an enabled element that is unknown or unsupported (unless `lenient`), an invalid number
/// in a thread group, an unreadable file, and a plan without enabled thread groups.
pub fn read(document: &JmxDocument, context: &PlanContext<'_>) -> Result<TestRun, JmxError> {
    let mut reader = PlanReader::new(document, context);
    for notice in unset::notices(document) {
        reader.notice(notice);
    }
    read_by(reader, document)
}

/// A run whose texts keep their variables.
pub struct UnevaluatedRun {
    /// The run. Properties are filled in if nothing in the plan changes them.
    pub run: TestRun,
    /// User Defined Variables in the order of the plan: names and unevaluated values.
    pub variables: Vec<(String, String)>,
    /// Names of the variables that nothing changes.
    pub constants: BTreeSet<String>,
    /// Evaluates texts before the run.
    pub before: BeforeRun,
}

/// Converts a plan whose variables stay in the texts, for conversion to another format.
pub fn read_unevaluated(
    document: &JmxDocument,
    context: &PlanContext<'_>,
) -> Result<UnevaluatedRun, JmxError> {
    let variables = data::user_variables(document, context.folder);
    let (constants, properties_are_constant) = texts::constants(document, &variables);
    let mut run = read_by(unfolded_reader(document, context, properties_are_constant), document)?;
    // Live outputs hold addresses of other systems, which do not belong to the converted plan.
    for output in std::mem::take(&mut run.live_outputs) {
        let how = match &output.sink {
            LiveSink::Influx(_) => "influx=URL",
            LiveSink::Graphite(_) => "graphite=HOST:PORT",
        };
        run.notices.push(format!(
            "figures are not sent to {} any more; `-o {how}` sends them",
            output.sink
        ));
    }
    let before = unfolded_reader(document, context, properties_are_constant).before;
    Ok(UnevaluatedRun { run, variables, constants, before })
}

/// A reader that fills in no variables.
fn unfolded_reader<'a>(
    document: &JmxDocument,
    context: &'a PlanContext<'a>,
    properties_are_constant: bool,
) -> PlanReader<'a> {
    let reader = PlanReader::new(document, context);
    let before = reader.before.with_constants(BTreeSet::new(), properties_are_constant);
    PlanReader { before, ..reader }
}

/// Notice text for an element that brunt accepts without its effect; None for other elements.
fn effect_left_out(kind: Option<ElementKind>) -> Option<&'static str> {
    match kind? {
        ElementKind::ResultSaver => Some(
            "replies are not saved in separate files; `brunt jmeter -n -t PLAN -l FILE.xml \
             -Jjmeter.save.saveservice.output_format=xml -Jjmeter.save.saveservice.response_data=true` writes them into one file",
        ),
        ElementKind::KeystoreConfig => {
            Some("all threads send the certificate of javax.net.ssl.keyStore, if -D names one")
        }
        _ => None,
    }
}

fn read_by(mut reader: PlanReader<'_>, document: &JmxDocument) -> Result<TestRun, JmxError> {
    let Some(plan) = document.test_plan() else {
        return Err(JmxError::new("the file has no Test Plan; name a plan, not a fragment of one"));
    };
    reader.check_elements(document)?;
    for listener in document.enabled_elements() {
        if let Some(effect) = effect_left_out(listener.kind()) {
            reader.notice(format!("{}: left out, {effect}", listener.place()));
        }
        if listener.kind() == Some(ElementKind::BackendListener) {
            reader.backend(listener);
        }
    }
    reader.check_variable_files(document)?;
    reader.static_hosts(document)?;
    reader.choose_version(document);
    let scope = ElementScope::default().with(plan);
    let TestPlan { variables: _, is_serialized, tears_down } = reader.fields(plan)?;
    let mut groups = Vec::new();
    for group in plan.enabled_children().filter(|child| child.role() == Role::ThreadGroup) {
        let kind = match group.kind() {
            Some(ElementKind::SetupThreadGroup) => StageKind::Setup,
            Some(ElementKind::TearDownThreadGroup) => StageKind::Teardown,
            _ => StageKind::Main,
        };
        groups.push((kind, reader.group(group, plan, &scope)?));
    }
    // JMeter runs setUp groups first and tearDown groups last, whatever their place in the plan.
    groups.sort_by_key(|(kind, _)| *kind);
    if groups.iter().all(|(_, population)| population.is_none()) {
        let message =
            ["no thread group with threads and samplers is enabled; enable one".to_owned()];
        let message: Vec<String> = message.into_iter().chain(reader.notices).collect();
        return Err(JmxError::new(message.join("; ")));
    }
    Ok(reader.into_run(groups, is_serialized, tears_down))
}

/// State while a plan is read.
struct PlanReader<'a> {
    context: &'a PlanContext<'a>,
    before: BeforeRun,
    /// Properties of all users.
    properties: Vec<(String, String)>,
    /// Reply policies of all groups.
    policies: Vec<ReplyPolicy>,
    /// Settings of all connections.
    connection: ConnectionSettings,
    notices: IndexSet<String>,
    /// Live outputs of Backend Listeners.
    live_outputs: Vec<LiveOutput>,
    /// True if the plan or an included plan may read the round numbers of loops.
    reads_rounds: bool,
    /// True if an element of the plan may read the previous sample.
    reads_previous: bool,
    /// Nesting of the current controller.
    depth: usize,
    /// The current thread group.
    group: groups::GroupParts,
}

impl<'a> PlanReader<'a> {
    fn new(document: &JmxDocument, context: &'a PlanContext<'a>) -> Self {
        let mut properties: Vec<(String, String)> =
            context.properties.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        properties.push((PLAN_FILE.to_owned(), context.folder.plan_file().to_owned()));
        let variables = data::user_variables(document, context.folder);
        let folders = context.folder.roots().into_iter().map(Into::into).collect();
        let before = BeforeRun::new(LANGUAGES, &variables, &properties, folders, context.seed);
        let (constant, properties_are_constant) = texts::constants(document, &variables);
        Self {
            before: before.with_constants(constant, properties_are_constant),
            properties,
            policies: vec![requests::default_policy()],
            connection: ConnectionSettings {
                dialling: Dialling::Eager,
                resolve_all: context.resolve_all,
                // JMeter does not verify certificates.
                tls: TlsSettings { insecure: true, ..TlsSettings::default() },
                ..ConnectionSettings::plain(LONGEST_REQUEST, LONGEST_REQUEST)
            },
            notices: IndexSet::new(),
            live_outputs: Vec::new(),
            reads_rounds: controllers::reads_rounds(document),
            reads_previous: samplers::reads_previous(document),
            depth: 0,
            group: groups::GroupParts::default(),
            context,
        }
    }

    /// Reads the properties of an element.
    ///
    /// # Errors
    ///
    /// Fails on an invalid number that must be known before the run.
    fn fields<F: Fields>(&self, element: TestElement<'_>) -> Result<F, JmxError> {
        self.fields_with(element, &[])
    }

    /// Like [`fields`](Self::fields), with the defaults around the element, the innermost last.
    fn fields_with<F: Fields>(
        &self,
        element: TestElement<'_>,
        defaults: &[TestElement<'_>],
    ) -> Result<F, JmxError> {
        let elements = std::iter::once(&element).chain(defaults.iter().rev());
        let source = PropertySource(elements.map(TestElement::properties).collect());
        F::read(&self.before, &source).map_err(|message| error_at(element, &message))
    }

    /// Adds a notice of an omitted or changed setting, unless the same notice exists.
    fn notice(&mut self, text: String) {
        self.notices.insert(text);
    }

    /// Applies a connect timeout in milliseconds; 0 means none.
    fn limit_connect(&mut self, millis: f64) {
        if millis <= 0.0 {
            return;
        }
        // brunt has one connect timeout per run: use the longest.
        let connect = Duration::from_secs_f64(millis / 1e3);
        let current = self.connection.connect_timeout;
        let longest = if current == LONGEST_REQUEST { connect } else { current.max(connect) };
        self.connection.connect_timeout = longest;
    }

    /// Selects the HTTP version, which is the same for all requests of a run.
    fn choose_version(&mut self, document: &JmxDocument) {
        let mut samplers = document.enabled_elements();
        if let Some(sampler) = samplers.find(|element| {
            matches!(element.kind(), Some(ElementKind::Http2Sampler | ElementKind::GrpcSampler))
        }) {
            self.connection.http = HttpVersion::V2;
            self.notice(format!("{}: all requests of the plan go over HTTP/2", sampler.place()));
        }
    }

    /// Applies the static hosts of DNS Cache Managers to the whole plan.
    fn static_hosts(&mut self, document: &JmxDocument) -> Result<(), JmxError> {
        if self.context.resolve_all.is_some() {
            return Ok(());
        }
        let managers = document
            .enabled_elements()
            .filter(|element| element.kind() == Some(ElementKind::DnsCacheManager));
        for element in managers {
            for host in element.properties().items("DNSCacheManager.hosts") {
                let host = host.properties();
                let name =
                    self.before.text(host.text("StaticHost.Name").unwrap_or_default().trim());
                let addresses =
                    self.before.text(host.text("StaticHost.Address").unwrap_or_default().trim());
                for address in addresses.split(',').map(str::trim) {
                    let Ok(address) = address.parse() else {
                        let message = format!(
                            "the address of {name} is {address}, which is no IP address; write one"
                        );
                        return Err(error_at(element, &message));
                    };
                    self.connection.resolve.push(Resolve { host: name.clone(), port: 0, address });
                }
            }
        }
        Ok(())
    }

    /// Adds a notice if another file replaces a file of the plan that exists
    /// only on another machine.
    fn notice_replacement(&mut self, element: TestElement<'_>, file: &str) {
        if let Some(path) = self.context.folder.replacement(file) {
            self.notice(format!(
                "{}: {file} is not there; {} is read",
                element.place(),
                path.display()
            ));
        }
    }

    /// Refuses unsupported elements, and adds a notice for each ignored property with an effect in JMeter.
    fn check_elements(&mut self, document: &JmxDocument) -> Result<(), JmxError> {
        for element in document.enabled_elements() {
            let rows = element.kind().map(forms::form).unwrap_or_default();
            for row in rows {
                self.notice_ignored(element, row);
            }
        }
        self.refuse_unsupported(document)
    }

    fn notice_ignored(&mut self, element: TestElement<'_>, row: &PropertyRow) {
        let Some(IgnoredProperty { reason, harmless: Some(harmless) }) = row.ignored else {
            return;
        };
        let property = element.property(row.path);
        let value = property.map(|property| self.before.text(&property.text()));
        let value = value.unwrap_or_default();
        if !value.trim().is_empty() && value.trim() != harmless {
            let PropertyRow { label, .. } = row;
            self.notice(format!("{}: `{label}` has no effect, {reason}", element.place()));
        }
    }

    fn refuse_unsupported(&mut self, document: &JmxDocument) -> Result<(), JmxError> {
        /// Maximum number of listed elements.
        const MOST: usize = 10;
        let mut all = document.unsupported();
        // If all connections use one address, no name is resolved.
        let resolves = self.context.resolve_all.is_none();
        all.retain(|element| resolves || element.kind != Some(ElementKind::DnsCacheManager));
        // A listener only shows results, so the run is the same without it.
        let (harmless, unsupported): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|element| element.role == Role::Listener);
        for element in &harmless {
            self.notice(format!("{}: left out, it is a listener that is not known", element.place));
        }
        let Some(first) = unsupported.first() else { return Ok(()) };
        if self.context.lenient {
            for element in &unsupported {
                self.notice(format!("{}: left out, it is not supported", element.place));
            }
            return Ok(());
        }
        let mut places: Vec<&str> =
            unsupported.iter().take(MOST).map(|element| element.place.as_str()).collect();
        let more = format!("and {} more", unsupported.len().saturating_sub(MOST));
        if unsupported.len() > MOST {
            places.push(&more);
        }
        let line = document.position(first.node);
        let option = self.context.folder.option("lenient");
        let message = format!(
            "not supported: {}; disable them, or run the plan without them by {option}",
            places.join("; ")
        );
        Err(JmxError::at(line, message))
    }

    /// Groups populations into stages. None is a group without samples, which counts only in
    /// the numbering of groups.
    fn into_run(
        self,
        groups: Vec<(StageKind, Option<Population>)>,
        serialized: bool,
        tears_down: bool,
    ) -> TestRun {
        let mut stages: Vec<TestStage> = Vec::new();
        let kinds: Vec<StageKind> = groups.iter().map(|(kind, _)| *kind).collect();
        for (position, (kind, population)) in groups.into_iter().enumerate() {
            let Some(mut population) = population else { continue };
            let number = kinds[..position].iter().filter(|other| **other == kind).count() as u32;
            // Serialized groups run one after another, so each becomes a separate stage.
            let same_stage = stages
                .last_mut()
                .filter(|last| last.kind == kind && !(serialized && kind == StageKind::Main));
            if same_stage.is_none() {
                let mut plan = self.empty_plan();
                plan.record.records.iter_mut().for_each(|records| records.groups_before = number);
                let runs_after_stop = tears_down && kind == StageKind::Teardown;
                stages.push(TestStage { kind, plan, runs_after_stop, places: Vec::new() });
            }
            let Some(TestStage { plan, .. }) = stages.last_mut() else { continue };
            if let Some(records) = &mut plan.record.records {
                let idle =
                    number.saturating_sub(records.groups_before + plan.populations.len() as u32);
                records.idle_groups.push(idle);
            }
            if let Some(connection) = &mut population.connection {
                // Later groups may have changed the common settings.
                **connection =
                    ConnectionSettings { keep: connection.keep, ..self.connection.clone() };
            }
            population.name = unique(&population.name, &plan.populations);
            plan.populations.push(population);
        }
        TestRun {
            stages,
            notices: self.notices.into_iter().collect(),
            live_outputs: self.live_outputs,
        }
    }

    fn empty_plan(&self) -> Plan {
        Plan {
            populations: Vec::new(),
            reply_policies: self.policies.clone(),
            connection: self.connection.clone(),
            objectives: Vec::new(),
            until: None,
            record: RecordSettings {
                interval: INTERVAL,
                labels: 10_000,
                samples: false,
                records: self.context.records.clone(),
            },
            seed: self.context.seed,
            threads: self.context.threads,
            processes: 1,
            precise: false,
            allowed_targets: Vec::new(),
            fleet: None,
            stages: Vec::new(),
        }
    }

    /// Reads one controller deeper. Fails beyond the maximum nesting.
    fn nested<T>(
        &mut self,
        element: TestElement<'_>,
        read: impl FnOnce(&mut Self) -> Result<T, JmxError>,
    ) -> Result<T, JmxError> {
        if self.depth == DEEPEST {
            let message =
                format!("{}: more than {DEEPEST} controllers within each other", element.title());
            return Err(JmxError::on_line(element.line(), message));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }
}

/// A name that no other population has, numbered if necessary.
fn unique(name: &str, others: &[Population]) -> String {
    let name = if name.trim().is_empty() { "Thread Group" } else { name };
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| others.iter().all(|other| other.name != *name))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
