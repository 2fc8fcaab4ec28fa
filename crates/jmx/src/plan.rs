//! A .jmx plan as runs of brunt: thread groups become populations, samplers requests, and what stands in scope of a sampler
//! becomes its reply policy and the steps before it.
//!
//! ```text
//! document ─▶ what never changes (variables, properties) ─▶ thread groups ─▶ stages: setUp, main, tearDown
//!                                                              │
//!                        scope ─▶ controllers ─▶ samplers, timers, extractors, assertions, data
//! ```
//!
//! A run is one or more stages, each a plan of its own; one begins when the one before is over. Thread groups of one stage run at
//! the same time. Texts with `${…}` keep them and are filled in by each user, by JMeter's rules; numbers of threads, ramps and
//! durations are known before the run.
//!
//! * [`PlanFolder`]: the files that a plan names. `backend`: systems that receive figures. `stage`: what a run consists of.
//!   `groups`: thread groups as loads. `scope`: what holds for a sampler. `controllers`, `samplers`, `timers`, `data`: steps.
//!   `requests`: HTTP requests. `websockets`, `calls`: those of WebSocket and gRPC. `extractors`, `assertions`: what is made of replies, by `patterns` and `json_paths`. `failing`: what fails each
//!   time. `texts`: properties as texts.

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

use crate::document::Document;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::properties::PropertyMap;
use crate::support::{ElementKind, Role};
use brunt_model::live_output::{LiveOutput, LiveSink};
use brunt_model::plan::{Connection, Dialling, HttpVersion, Record, Records, Resolve, ResolveAll, Tls};
use brunt_model::{Plan, Population, ReplyPolicy, StageKind, TestStage};
use brunt_script::BeforeRun;
use brunt_script::functions::PLAN_FILE;
pub use files::{PlanFolder, UPLOAD};
use scope::Scope;
pub use stage::TestRun;
use std::collections::BTreeSet;
use std::time::Duration;
use texts::wrong_at;

/// JMeter waits for a reply for ever. A request that has none after this time has failed.
const LONGEST_REQUEST: Duration = Duration::from_hours(1);
/// Time between two intervals of a run.
const INTERVAL: Duration = Duration::from_secs(1);
/// Most controllers within each other; a module controller that leads to itself has no end.
const DEEPEST: usize = 50;

/// What a plan is read with.
pub struct PlanSurroundings<'a> {
    /// JMeter's properties: what `${__P(name)}` reads.
    pub properties: &'a PropertyMap,
    /// The files that it names.
    pub folder: &'a PlanFolder,
    /// Where all connections go; None: where URLs say.
    pub resolve_all: Option<ResolveAll>,
    /// By what numbers of threads and arrival rates are multiplied; each group keeps at least one thread.
    pub scale: f64,
    /// No stage takes longer.
    pub max_duration: Option<Duration>,
    /// Elements that are not supported are left out; otherwise they are errors.
    pub lenient: bool,
    /// Which records of samples are made.
    pub records: Option<Records>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Worker threads.
    pub threads: u32,
}

/// Reads a plan.
///
/// # Errors
///
/// An enabled element is not known or not supported (unless `lenient`), a number of a thread group is none, a file that the plan
/// names cannot be read, or no thread group is enabled.
pub fn read(document: &Document, surroundings: &PlanSurroundings<'_>) -> Result<TestRun, JmxError> {
    let mut reader = Reader::new(document, surroundings);
    for notice in unset::notices(document) {
        reader.notice(notice);
    }
    read_by(reader, document)
}

/// A plan whose texts keep their variables.
pub struct UnfoldedRun {
    /// The plan. What stands for properties is filled in where nothing changes them.
    pub run: TestRun,
    /// User Defined Variables in the order of the plan: names, and values as they are written.
    pub variables: Vec<(String, String)>,
    /// The names of those that nothing changes.
    pub constants: BTreeSet<String>,
    /// What fills in texts before the run.
    pub before: BeforeRun,
}

/// Reads a plan for another form of it.
///
/// # Errors
///
/// As [`read`].
pub fn read_unfolded(document: &Document, surroundings: &PlanSurroundings<'_>) -> Result<UnfoldedRun, JmxError> {
    let before = || Reader::new(document, surroundings).before;
    let variables = data::user_variables(document, surroundings.folder);
    let (constants, properties_are_constant) = texts::constants(document, &variables);
    let unfolded = || before().with_constants(BTreeSet::new(), properties_are_constant);
    let mut run = read_by(Reader { before: unfolded(), ..Reader::new(document, surroundings) }, document)?;
    // They hold addresses of other systems, and belong to the plan no more.
    for output in std::mem::take(&mut run.live_outputs) {
        let how = match &output.sink {
            LiveSink::Influx(_) => "influx=URL",
            LiveSink::Graphite(_) => "graphite=HOST:PORT",
        };
        run.notices.push(format!("figures are not sent to {} any more; `-o {how}` sends them", output.sink));
    }
    Ok(UnfoldedRun { run, variables, constants, before: unfolded() })
}

/// What an element does that is accepted, and brunt does not.
fn effect_left_out(kind: Option<ElementKind>) -> Option<&'static str> {
    match kind? {
        ElementKind::ResultSaver => Some(
            "replies are not saved in files of their own; `brunt jmeter -n -t PLAN -l FILE.xml \
             -Jjmeter.save.saveservice.output_format=xml -Jjmeter.save.saveservice.response_data=true` writes them into one file",
        ),
        ElementKind::KeystoreConfig => {
            Some("no client certificates are sent, as in JMeter where javax.net.ssl.keyStore names no file")
        }
        _ => None,
    }
}

fn read_by(mut reader: Reader<'_>, document: &Document) -> Result<TestRun, JmxError> {
    let Some(plan) = document.test_plan() else {
        return Err(JmxError::new("the file has no Test Plan; name a plan, not a fragment of one"));
    };
    reader.refuse_unsupported(document)?;
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
    let scope = Scope::default().with(plan);
    let serialized = reader.flag(plan, "TestPlan.serialize_threadgroups", false);
    let mut groups = Vec::new();
    for group in plan.enabled_children().filter(|child| child.role() == Role::ThreadGroup) {
        let kind = match group.kind() {
            Some(ElementKind::SetupThreadGroup) => StageKind::Setup,
            Some(ElementKind::TearDownThreadGroup) => StageKind::Teardown,
            _ => StageKind::Main,
        };
        groups.push((kind, reader.group(group, plan, &scope)?));
    }
    groups.sort_by_key(|(kind, _)| *kind);
    if groups.iter().all(|(_, population)| population.is_none()) {
        let why = ["no thread group with threads and samplers is enabled; enable one".to_owned()];
        let why: Vec<String> = why.into_iter().chain(reader.notices).collect();
        return Err(JmxError::new(why.join("; ")));
    }
    let tears_down = reader.flag(plan, "TestPlan.tearDown_on_shutdown", false);
    Ok(reader.into_run(groups, serialized, tears_down))
}

/// What is known while a plan is read.
struct Reader<'a> {
    surroundings: &'a PlanSurroundings<'a>,
    before: BeforeRun,
    /// Properties of all users.
    properties: Vec<(String, String)>,
    /// Reply policies of all groups.
    policies: Vec<ReplyPolicy>,
    /// What is common to all connections.
    connection: Connection,
    notices: Vec<String>,
    /// Systems that receive figures.
    live_outputs: Vec<LiveOutput>,
    /// The plan, or one that it includes, may read the numbers of rounds of loops.
    reads_rounds: bool,
    /// Something of the plan may look at the sample before.
    reads_previous: bool,
    /// Controllers around the one that is read.
    depth: usize,
    /// The group that is read.
    group: groups::GroupParts,
}

impl<'a> Reader<'a> {
    fn new(document: &Document, surroundings: &'a PlanSurroundings<'a>) -> Self {
        let mut properties: Vec<(String, String)> =
            surroundings.properties.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        properties.push((PLAN_FILE.to_owned(), surroundings.folder.plan_file().to_owned()));
        let variables = data::user_variables(document, surroundings.folder);
        let folders = surroundings.folder.roots().into_iter().map(Into::into).collect();
        let before = BeforeRun::new(&variables, &properties, folders, surroundings.seed);
        let (constant, properties_are_constant) = texts::constants(document, &variables);
        Self {
            before: before.with_constants(constant, properties_are_constant),
            properties,
            policies: vec![requests::default_policy()],
            connection: Connection {
                dialling: Dialling::Eager,
                resolve_all: surroundings.resolve_all,
                tls: Tls { insecure: true, ..Tls::default() },
                ..Connection::plain(LONGEST_REQUEST, LONGEST_REQUEST)
            },
            notices: Vec::new(),
            live_outputs: Vec::new(),
            reads_rounds: controllers::reads_rounds(document),
            reads_previous: samplers::reads_previous(document),
            depth: 0,
            group: groups::GroupParts::default(),
            surroundings,
        }
    }

    /// Says once what is left out or done otherwise.
    fn notice(&mut self, text: String) {
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    /// Takes a time limit for connecting, in milliseconds; 0: none.
    fn limit_connect(&mut self, millis: f64) {
        if millis <= 0.0 {
            return;
        }
        // One limit holds for all connections of a run: the longest that is asked for.
        let connect = Duration::from_secs_f64(millis / 1e3);
        let now = self.connection.connect_timeout;
        let longest = if now == LONGEST_REQUEST { connect } else { now.max(connect) };
        self.connection.connect_timeout = longest;
    }

    /// The version of HTTP is one for all requests of a run.
    fn choose_version(&mut self, document: &Document) {
        let mut samplers = document.enabled_elements();
        if let Some(sampler) = samplers
            .find(|element| matches!(element.kind(), Some(ElementKind::Http2Sampler | ElementKind::GrpcSampler)))
        {
            self.connection.http = HttpVersion::V2;
            self.notice(format!("{}: all requests of the plan go over HTTP/2", sampler.place()));
        }
    }

    /// Takes the addresses that DNS Cache Managers give hosts; they hold for the whole plan.
    fn static_hosts(&mut self, document: &Document) -> Result<(), JmxError> {
        let is_dns = |element: &TestElement<'_>| element.kind() == Some(ElementKind::DnsCacheManager);
        if self.surroundings.resolve_all.is_some() {
            return Ok(());
        }
        for element in document.enabled_elements().filter(is_dns) {
            for host in element.properties().items("DNSCacheManager.hosts") {
                let host = host.properties();
                let text = |name: &str| self.before.text(host.text(name).unwrap_or_default().trim());
                let (name, addresses) = (text("StaticHost.Name"), text("StaticHost.Address"));
                for address in addresses.split(',').map(str::trim) {
                    let Ok(address) = address.parse() else {
                        let wrong = format!("the address of {name} is {address}, which is no IP address; write one");
                        return Err(wrong_at(element, &wrong));
                    };
                    self.connection.resolve.push(Resolve { host: name.clone(), port: 0, address });
                }
            }
        }
        Ok(())
    }

    /// Says which file is read where the plan names one of another machine.
    fn notice_instead(&mut self, element: TestElement<'_>, file: &str) {
        if let Some(path) = self.surroundings.folder.instead_of(file) {
            self.notice(format!("{}: {file} is not there; {} is read", element.place(), path.display()));
        }
    }

    fn refuse_unsupported(&mut self, document: &Document) -> Result<(), JmxError> {
        /// More are not listed.
        const MOST: usize = 10;
        let mut all = document.unsupported();
        // Where all connections go to one address, no name is looked up.
        let resolves = self.surroundings.resolve_all.is_none();
        all.retain(|element| resolves || element.kind != Some(ElementKind::DnsCacheManager));
        let (harmless, wrong): (Vec<_>, Vec<_>) = all.into_iter().partition(|element| element.role == Role::Listener);
        for element in &harmless {
            self.notice(format!("{}: left out, it is a listener that is not known", element.place));
        }
        let Some(first) = wrong.first() else { return Ok(()) };
        if self.surroundings.lenient {
            for element in &wrong {
                self.notice(format!("{}: left out, it is not supported", element.place));
            }
            return Ok(());
        }
        let mut places: Vec<&str> = wrong.iter().take(MOST).map(|element| element.place.as_str()).collect();
        let more = format!("and {} more", wrong.len().saturating_sub(MOST));
        if wrong.len() > MOST {
            places.push(&more);
        }
        let line = document.position(first.node);
        let option = self.surroundings.folder.option("lenient");
        let wrong =
            format!("not supported: {}; disable them, or run the plan without them by {option}", places.join("; "));
        Err(JmxError::at(line, wrong))
    }

    /// The stages of groups, each with its population; None: it has no samples, and counts in the numbers of groups alone.
    fn into_run(self, groups: Vec<(StageKind, Option<Population>)>, serialized: bool, tears_down: bool) -> TestRun {
        let mut stages: Vec<TestStage> = Vec::new();
        let kinds: Vec<StageKind> = groups.iter().map(|(kind, _)| *kind).collect();
        for (at, (kind, population)) in groups.into_iter().enumerate() {
            let Some(mut population) = population else { continue };
            let number = kinds[..at].iter().filter(|other| **other == kind).count() as u32;
            let together =
                stages.last_mut().filter(|last| last.kind == kind && !(serialized && kind == StageKind::Main));
            if together.is_none() {
                let mut plan = self.empty_plan();
                plan.record.records.iter_mut().for_each(|records| records.groups_before = number);
                let runs_after_stop = tears_down && kind == StageKind::Teardown;
                stages.push(TestStage { kind, plan, runs_after_stop, places: Vec::new() });
            }
            let Some(TestStage { plan, .. }) = stages.last_mut() else { continue };
            if let Some(records) = &mut plan.record.records {
                let idle = number.saturating_sub(records.groups_before + plan.populations.len() as u32);
                records.idle_groups.push(idle);
            }
            if let Some(connection) = &mut population.connection {
                // Groups after it may have changed what holds for all.
                **connection = Connection { keep: connection.keep, ..self.connection.clone() };
            }
            population.name = unique(&population.name, &plan.populations);
            plan.populations.push(population);
        }
        TestRun { stages, notices: self.notices, live_outputs: self.live_outputs }
    }

    fn empty_plan(&self) -> Plan {
        Plan {
            populations: Vec::new(),
            reply_policies: self.policies.clone(),
            connection: self.connection.clone(),
            objectives: Vec::new(),
            until: None,
            record: Record {
                interval: INTERVAL,
                labels: 10_000,
                samples: false,
                records: self.surroundings.records.clone(),
            },
            seed: self.surroundings.seed,
            threads: self.surroundings.threads,
            processes: 1,
            precise: false,
            around: Vec::new(),
        }
    }

    /// One controller deeper; an error where they have no end.
    fn deeper<T>(
        &mut self,
        element: TestElement<'_>,
        read: impl FnOnce(&mut Self) -> Result<T, JmxError>,
    ) -> Result<T, JmxError> {
        if self.depth == DEEPEST {
            let wrong = format!("{}: more than {DEEPEST} controllers within each other", element.title());
            return Err(JmxError::on_line(element.line(), wrong));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }
}

/// A name that no other population has.
fn unique(name: &str, others: &[Population]) -> String {
    let name = if name.trim().is_empty() { "Thread Group" } else { name };
    let taken = |name: &str| others.iter().any(|other| other.name == name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
