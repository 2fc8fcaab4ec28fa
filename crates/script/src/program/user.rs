//! Compiles a population's scenario, and creates its users.
//!
//! A [`CompiledScript`] is the same for all workers; [`CompiledScript::users`] creates a worker's
//! users from it. The bytes of a request without placeholders are prepared once.

mod entry;
pub(crate) mod interpreter;
mod last_url;
mod names;

use crate::driver::{DriverSetup, TransportEncoder, UserDriver};
use crate::program::memory::UserRequest;
use crate::program::{Op, Program, shares};
use crate::replies::awaited::MessageConditions;
use crate::replies::reactions::Reactions;
use crate::texts::context::{SharedState, UserContext, WorkerContext};
use crate::texts::dialect::Dialect;
use crate::texts::grpc::{self, Services};
use crate::texts::pending::{PendingRequest, SentParts};
use crate::texts::script::Languages;
use crate::texts::template::{self, RenderContext, Template, TextPosition, compile_body};
use crate::texts::variables::{LAST_SAMPLE_OK, VariableNames, Variables};
use crate::{Feeds, ScriptError};
use brunt_engine::{Numbering, RunState, UserSetup, UserStep, Users, VirtualUser};
use brunt_model::plan::ListenerRecords;
use brunt_model::reply_policy::{Cookies, RedirectRules};
use brunt_model::scenario::{EndScope, ListOrder, RequestList};
use brunt_model::{
    Body, Plan, ReplyPolicy, Request, SampleRecord, StageOutput, StageVariables, Text,
};
use brunt_wire::request::{RequestParts, Tags};
use brunt_wire::{Prepared, Reply, Transport, redirect};
use entry::EntryTexts;
use interpreter::Interpreter;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use url::Url;

pub use last_url::LastUrl;

/// Maximum number of listed requests that each worker prepares before the load. Each takes about
/// 900 bytes; further ones are prepared when they are sent.
const MAX_PREPARED: usize = 10_000;

/// Property with what a program of users has returned.
pub const RETURNED: &str = "returned";

/// Position of the texts of the initial variables, which are evaluated before the program.
const INITIAL_VARIABLES: usize = u32::MAX as usize;

/// The compiled scenario of a population.
#[derive(Debug)]
pub struct CompiledScript {
    requests: RequestList,
    /// By request.
    entries: Vec<CompiledRequest>,
    feeds: Feeds,
    pub(crate) program: Program,
    policies: Vec<ReplyPolicy>,
    /// By policy; empty if no request of the population has it.
    pub(crate) reactions: Vec<Reactions>,
    names: Arc<VariableNames>,
    /// Initial variables of the users, as an earlier stage set them.
    inherited_variables: Vec<(usize, String)>,
    /// Further initial variables.
    variables: Vec<(usize, Template)>,
    /// All initial variables, filled in by the first worker.
    filled: OnceLock<Vec<(usize, String)>>,
    shared_state: Arc<SharedState>,
    /// The program that makes the users' steps, in place of `program`.
    driver: Option<Arc<dyn UserDriver>>,
    /// Name of the population.
    name: String,
    /// Kinds of sample records that the plan requests.
    records: Option<ListenerRecords>,
    /// The gRPC services that are called.
    services: Option<Arc<Services>>,
    /// True if each user needs a context.
    has_context: bool,
    /// Number of virtual users of all workers together.
    pub(crate) users: u64,
    seed: u64,
    /// End of each entry's share of a round, if each is sent as often as its weight.
    shares: Vec<u64>,
}

/// A compiled request of the list.
#[derive(Debug)]
pub(crate) struct CompiledRequest {
    /// None if the request has no placeholders.
    templates: Option<Box<Templates>>,
    awaited: MessageConditions,
}

#[derive(Debug)]
struct Templates {
    label: Template,
    url: Template,
    headers: Vec<(String, Template)>,
    /// Templates of the texts of its body.
    bodies: Vec<Template>,
}

impl Templates {
    fn compile(
        request: &Request,
        changes: bool,
        feeds: &mut Feeds,
    ) -> Result<Option<Self>, ScriptError> {
        if request.verbatim.is_some() {
            return Ok(None);
        }
        let label = Template::compile_expressions(&request.label, TextPosition::Text, feeds)?
            .without_secrets(feeds);
        let place =
            if feeds.dialect.encodes_values() { TextPosition::Url } else { TextPosition::Text };
        let url = Template::compile(&request.url, place, feeds)?;
        let headers = request.headers.iter().map(|(name, value)| {
            Ok((name.clone(), Template::compile(value, TextPosition::Header, feeds)?))
        });
        let headers = headers.collect::<Result<Vec<_>, ScriptError>>()?;
        let bodies = compile_body(&request.body, &request.headers, feeds)?;
        let is_constant = !changes
            && label.as_constant() == Some(&request.label)
            && url.as_constant() == Some(&request.url)
            && headers.iter().zip(&request.headers).all(|(t, h)| t.1.as_constant() == Some(&h.1))
            && bodies.iter().all(
                |t| matches!(&request.body, Body::Text(b) if t.as_constant() == Some(b.as_str())),
            );
        Ok((!is_constant).then_some(Self { label, url, headers, bodies }))
    }
}

impl CompiledScript {
    /// Compiles the scenarios of all populations of a plan, and reads their files.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if a scenario is inconsistent, a placeholder is malformed, or a
    /// file cannot be read.
    pub fn all(plan: &Plan, languages: Languages) -> Result<Vec<Arc<Self>>, ScriptError> {
        let shared_state = Arc::new(SharedState::new(plan, languages));
        (0..plan.populations.len())
            .map(|number| Self::new(plan, number, &shared_state).map(Arc::new))
            .collect()
    }

    fn new(
        plan: &Plan,
        number: usize,
        shared_state: &Arc<SharedState>,
    ) -> Result<Self, ScriptError> {
        let population = &plan.populations[number];
        let scenario = &population.scenario;
        // Populations share the list of policies; each compiles those that it uses.
        let used = names::policies(scenario);
        let used_policies: Vec<&ReplyPolicy> =
            used.iter().filter_map(|number| plan.reply_policies.get(*number)).collect();
        let mut feeds = Feeds::with_variables(
            scenario.texts,
            names::all(scenario, &used_policies),
            shared_state.languages,
        );
        feeds.has_scripts = names::has_scripts(scenario, &used_policies);
        let program = Program::new(scenario, &mut feeds)?;
        let variables = scenario.variables.iter().map(|(name, text)| {
            let text = Template::compile_expressions(text, TextPosition::Text, &mut feeds)?;
            Ok((feeds.names.number(name), text))
        });
        let variables = variables.collect::<Result<Vec<_>, ScriptError>>()?;
        let inherited =
            scenario.inherited_variables.values.iter().filter(|(_, value)| !value.is_empty());
        let inherited_variables =
            inherited.map(|(name, value)| (feeds.names.number(name), value.clone())).collect();
        let reactions = plan.reply_policies.iter().enumerate().map(|(number, policy)| {
            if used.contains(&number) {
                Reactions::new(policy, &mut feeds)
            } else {
                Ok(Reactions::default())
            }
        });
        let reactions = reactions.collect::<Result<Vec<_>, _>>()?;
        let entries = scenario.requests.iter().map(|request| {
            let awaited = MessageConditions::new(
                &plan.reply_policies[request.reply_policy as usize],
                &mut feeds,
            )?;
            let templates = Templates::compile(request, !awaited.are_constant(), &mut feeds)?;
            Ok(CompiledRequest { templates: templates.map(Box::new), awaited })
        });
        let entries = entries.collect::<Result<_, ScriptError>>()?;
        let shares = shares(scenario.requests.iter().map(|request| request.weight));
        let users = population.load.peak().floor() as u64;
        let policies = plan.reply_policies.clone();
        // A separate seed, so that populations do not draw the same values.
        let seed = plan.seed.wrapping_add((number as u64) << 48);
        let names = Arc::new(feeds.names.clone());
        let records = plan.record.records.clone();
        let has_context = feeds.dialect.has_expressions()
            || !names.all().is_empty()
            || records.is_some()
            || policies.iter().any(ReplyPolicy::is_judged_by_user);
        let driver = scenario
            .program
            .as_ref()
            .map(|program| shared_state.languages.driver(program))
            .transpose()
            .map_err(ScriptError::Scenario)?;
        let services = match &scenario.services[..] {
            [] => None,
            set => Some(Arc::new(Services::decode(set).map_err(ScriptError::Scenario)?)),
        };
        Ok(Self {
            requests: scenario.requests.clone(),
            entries,
            feeds,
            program,
            policies,
            reactions,
            names,
            inherited_variables,
            variables,
            filled: OnceLock::new(),
            shared_state: Arc::clone(shared_state),
            driver,
            name: population.name.clone(),
            records,
            services,
            has_context,
            users,
            seed,
            shares,
        })
    }

    /// Returns the current properties and variables for later stages.
    pub fn stage_output(&self) -> StageOutput {
        if let Some(driver) = &self.driver {
            let returned = driver.returned().map(|value| (String::from(RETURNED), value));
            return StageOutput {
                properties: returned.into_iter().collect(),
                ..StageOutput::default()
            };
        }
        StageOutput {
            properties: self.shared_state.properties(),
            variables: self.shared_state.variables(),
        }
    }

    /// Returns the variables that its users may have, for later stages.
    pub fn stage_variables(&self) -> StageVariables {
        let values = self.names.all().iter().map(|name| (name.clone(), String::new())).collect();
        StageVariables { values, has_scripts: self.feeds.has_scripts }
    }

    /// True if a step, a script or a failure has ended the test, including its later stages.
    pub fn has_ended_test(&self) -> bool {
        self.shared_state.has_ended_test()
    }

    /// Returns the extractors that matched nothing in this process, although replies arrived.
    pub fn remarks(&self) -> Vec<Text> {
        let reactions = self.reactions.iter().enumerate();
        let remarks = reactions
            .flat_map(|(policy, reactions)| reactions.remarks(self.label_of_policy(policy)));
        remarks.chain(self.shared_state.undecoded_remarks()).collect()
    }

    /// Returns the label of the first request with this policy. Only samples without a request have
    /// other policies.
    fn label_of_policy(&self, policy: usize) -> &str {
        let request = self.requests.iter().find(|request| request.reply_policy as usize == policy);
        request.map_or("a sample", |request| &request.label)
    }

    /// Describes the step at a position of the program, or the treatment of a reply: the subject of a
    /// sentence.
    pub fn describe_step(&self, position: usize) -> String {
        if position == INITIAL_VARIABLES {
            return "an initial variable".to_owned();
        }
        let Some(op) = self.program.ops.get(position) else {
            let label = self.label_of_policy(position - self.program.ops.len());
            return format!("an extractor, check or script of the reply to `{label}`");
        };
        let names = self.names.all();
        op.subject(
            &|request| self.requests.get(request).map(|request| request.label.clone()),
            names,
        )
        .unwrap_or_else(|| format!("operation {} of the scenario", position + 1))
    }

    /// Returns the files of placeholders, which were read before the load.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.feeds.files()
    }

    /// Returns the names of its labels.
    pub fn labels(&self) -> Vec<String> {
        self.requests.iter().map(|request| request.label.clone()).collect()
    }

    /// Creates the users of a worker.
    pub fn users<T: Transport>(
        self: &Arc<Self>,
        transport: &Rc<T>,
        users_of: UserSetup<'_>,
    ) -> Box<dyn Users> {
        let UserSetup { population, worker, labels: number_of, run_state } = users_of;
        if let Some(driver) = &self.driver {
            return Arc::clone(driver).users(DriverSetup {
                worker,
                labels: Rc::clone(number_of),
                run_state: Rc::clone(run_state),
                encoder: Rc::new(TransportEncoder(Rc::clone(transport))),
            });
        }
        let labels: Vec<u32> =
            self.requests.iter().map(|request| number_of(&request.label)).collect();
        let mut ready = Vec::new();
        let mut user_requests = Vec::new();
        for (number, request) in self.requests.iter().enumerate().take(MAX_PREPARED) {
            let parts = self.entries[number].templates.is_none().then(|| self.parts(number));
            let tags = Tags { label: labels[number], reply_policy: request.reply_policy };
            ready.push(parts.clone().map(|parts| prepare(&**transport, parts?, tags)));
            let parts = parts.filter(|_| self.policies[request.reply_policy as usize].needs_head());
            user_requests.push(parts.map(|parts| {
                Ok(UserRequest { entry: Some(number), ..UserRequest::from_list(parts?, tags) })
            }));
        }
        let worker_script = WorkerScript {
            ready,
            user_requests,
            last_urls: self.entries.iter().take(MAX_PREPARED).map(|_| LastUrl::default()).collect(),
            inert: self.policies.iter().map(is_inert).collect(),
            clears_cookies_per_round: self
                .policies
                .iter()
                .any(|policy| policy.cookies == Cookies::KeptForARound),
            clears_cookies_per_iteration: self
                .used_policies()
                .any(|policy| policy.cookies == Cookies::KeptForAnIteration),
            clears_pages_per_iteration: self
                .used_policies()
                .any(|policy| policy.cache.is_some_and(|cache| cache.per_iteration)),
            number_of: Rc::clone(number_of),
            labels,
            variables: Vec::new(),
            context: self.worker_context(population, worker, run_state),
            compiled: Arc::clone(self),
            transport: Rc::clone(transport),
        };
        Box::new(WorkerUsers(Rc::new(worker_script.with_variables())))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.feeds.dialect
    }

    /// Returns the parts of a request without placeholders.
    fn parts(&self, number: usize) -> Result<Rc<RequestParts>, String> {
        let Request { method, url, headers, body, verbatim, .. } = self.requests[number].clone();
        let awaited = self.entries[number]
            .awaited
            .filter(|template| template.as_constant().unwrap_or_default().to_owned())?;
        let url = LastUrl::default().parse(&url, self.dialect())?;
        Ok(Rc::new(RequestParts { method, url, headers, body, verbatim, awaited }))
    }

    /// Iterates over the policies of its requests.
    fn used_policies(&self) -> impl Iterator<Item = &ReplyPolicy> {
        self.requests.iter().map(|request| &self.policies[request.reply_policy as usize])
    }

    fn worker_context(
        &self,
        population_number: usize,
        worker: usize,
        run_state: &Rc<dyn RunState>,
    ) -> Rc<WorkerContext> {
        // Workers draw different values.
        let seed = self.seed ^ (0xD1CE << 32 | worker as u64);
        Rc::new(WorkerContext {
            population: self.name.clone(),
            population_number,
            records: self.records.clone(),
            services: self.services.clone(),
            ..WorkerContext::new(Arc::clone(&self.shared_state), Rc::clone(run_state), seed)
        })
    }
}

/// True if no action of a user depends on the reply.
fn is_inert(policy: &ReplyPolicy) -> bool {
    !policy.needs_head()
        && policy.cookies == Cookies::Ignored
        && policy.failure_ends == EndScope::Nothing
}

fn prepare<T: Transport>(
    transport: &T,
    parts: Rc<RequestParts>,
    tags: Tags,
) -> Result<Rc<Prepared>, String> {
    transport.prepare_parts(parts, tags).map(Rc::new).map_err(|error| error.to_string())
}

/// A compiled script on one worker.
pub struct WorkerScript<T: Transport> {
    pub(crate) compiled: Arc<CompiledScript>,
    transport: Rc<T>,
    /// Numbers of the labels, by entry.
    labels: Vec<u32>,
    /// Bytes of the first [`MAX_PREPARED`] entries, or why they cannot be
    /// prepared. None with placeholders.
    ready: Vec<Option<Result<Rc<Prepared>, String>>>,
    /// The same entries, if their replies may lead to further requests and
    /// they have no placeholders.
    user_requests: Vec<Option<Result<UserRequest, String>>>,
    /// The same entries.
    last_urls: Vec<LastUrl>,
    /// True if nothing depends on the reply, by policy.
    pub(crate) inert: Vec<bool>,
    /// True if cookies are cleared when a user has gone through the list.
    clears_cookies_per_round: bool,
    /// True if cookies are cleared with each iteration.
    clears_cookies_per_iteration: bool,
    /// True if cached pages are cleared with each iteration.
    clears_pages_per_iteration: bool,
    number_of: Numbering,
    /// Initial variables of the users.
    variables: Vec<(usize, Rc<str>)>,
    pub(crate) context: Rc<WorkerContext>,
}

impl<T: Transport> WorkerScript<T> {
    /// Returns the state of the run.
    pub fn run_state(&self) -> &dyn RunState {
        &*self.context.run_state
    }

    /// Returns the transport of the worker.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Returns the reply policy of this number.
    pub fn policy(&self, number: u32) -> &ReplyPolicy {
        &self.compiled.policies[number as usize]
    }

    /// True if an element of a page is requested, by the policy of the page's request.
    pub fn wants_element(&self, policy: u32, url: &str) -> bool {
        self.compiled.reactions[policy as usize].wants_element(url)
    }

    /// True if a redirect of this request is part of it (RFC 9110), after this
    /// number of earlier hops.
    pub fn follows(&self, from: &Prepared, reply: &Reply, hops: u32) -> bool {
        let redirects = self.policy(from.tags.reply_policy).redirects;
        let method = from.parts().map_or("", |parts| parts.method.as_str());
        let is_redirect = match redirects.rules {
            RedirectRules::Rfc9110 => true,
            RedirectRules::Jmeter => is_jmeter_redirect(method, reply.status),
            RedirectRules::JmeterAuto => {
                reply.status == 303 || matches!(method, "GET" | "HEAD" | "POST" | "DELETE")
            }
            RedirectRules::Siege => false,
        };
        is_redirect && hops < redirects.most
    }

    /// Returns the request to which a reply redirects as part of the original one (RFC 9110).
    /// Stores nothing of the reply.
    fn redirect(&self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        if !self.follows(from, reply, hops) {
            return None;
        }
        let rules = self.policy(from.tags.reply_policy).redirects.rules;
        redirect::follow(self.transport(), from, reply, rules, |_| ())
    }

    /// Returns the number of a label, which may be new.
    pub fn number_of(&self, label: &str) -> u32 {
        (self.number_of)(label)
    }

    /// Returns the step of an entry that cannot be prepared. By JMeter's
    /// rules the iteration continues.
    pub fn refused(&self, entry: usize, why: String) -> UserStep {
        match self.labels.get(entry) {
            Some(label) => UserStep::Failing(why, *label),
            None => UserStep::Broken(why),
        }
    }

    /// Returns the step of an entry without placeholders, if further requests may
    /// follow from its reply.
    pub fn ready(&self, entry: usize) -> UserStep {
        match &self.ready[entry] {
            Some(Ok(request)) => UserStep::Request(Rc::clone(request)),
            Some(Err(why)) => self.refused(entry, why.clone()),
            None => UserStep::Broken(
                "a request with placeholders was asked for without their values".into(),
            ),
        }
    }

    /// Returns the request of every iteration, if the scenario is one constant request with a reply
    /// that has no effect.
    fn only_request(&self) -> Option<Rc<Prepared>> {
        let entry = match self.compiled.program.ops.as_slice() {
            [Op::Request(request)] => request.number as usize,
            [Op::Next(_)] if matches!(self.compiled.shares[..], [weight] if weight > 0) => 0,
            [] | [_, ..] => return None,
        };
        // The interpreter makes the records, so it must see each request.
        if self.context.records.is_some() {
            return None;
        }
        let is_inert = self.inert.get(self.policy_of(entry) as usize).copied().unwrap_or(false);
        self.ready.get(entry)?.as_ref().filter(|_| is_inert)?.clone().ok()
    }

    /// Selects the entry for request number `n` of the run.
    pub(crate) fn pick(&self, order: ListOrder, n: u64, user: u64) -> usize {
        pick(order, &self.compiled.shares, n, user, &self.context.random)
    }

    /// Returns the bytes of an entry as request number `n` of the run.
    pub(crate) fn prepare_entry(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
    ) -> Result<Rc<Prepared>, String> {
        match self.ready.get(entry) {
            Some(Some(ready)) => {
                set_label(user, &self.compiled.requests[entry].label);
                ready.clone()
            }
            _ if entry < self.compiled.entries.len() => {
                self.prepare_texts(entry, n, user, self.entry(entry, n, user).parts())
            }
            _ => Err(self.no_entry(entry)),
        }
    }

    fn prepare_texts(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        texts: SentParts<'_>,
    ) -> Result<Rc<Prepared>, String> {
        let (parts, tags) = self.fill(entry, n, user, texts)?;
        prepare(&*self.transport, parts, tags)
    }

    /// Returns an entry with a reply that may lead to further requests.
    pub(crate) fn listed_request(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
    ) -> Result<UserRequest, String> {
        match self.user_requests.get(entry) {
            Some(Some(user_request)) => {
                set_label(user, &self.compiled.requests[entry].label);
                user_request.clone()
            }
            _ if entry < self.compiled.entries.len() => {
                let (parts, tags) =
                    self.fill(entry, n, user, self.entry(entry, n, user).parts())?;
                Ok(UserRequest::from_list(parts, tags))
            }
            _ => Err(self.no_entry(entry)),
        }
    }

    fn no_entry(&self, entry: usize) -> String {
        format!(
            "the scenario asks for request {entry}, and its list has {}",
            self.compiled.entries.len()
        )
    }

    /// Notes that a step of a user begins, until the note is dropped.
    pub fn note_step(&self) -> StepNote {
        self.context.run_state.begin_step();
        StepNote(Rc::clone(&self.context.run_state))
    }

    /// Notes the position of the current step in the program.
    pub fn note_position(&self, position: usize) {
        self.context.run_state.set_position(position as u32);
    }

    /// Notes that the current step reads a reply to a request with this policy.
    pub fn note_reply(&self, policy: u32) {
        self.note_position(self.compiled.program.ops.len() + policy as usize);
    }

    /// Describes a text of the operation at this position that was too long. None: there was none.
    pub fn overlong_text(&self, position: usize) -> Option<String> {
        let why = self.context.text_limit.take()?;
        Some(format!("{}: {why}", self.compiled.describe_step(position)))
    }

    /// Returns the policy of an entry's reply.
    pub(crate) fn policy_of(&self, entry: usize) -> u32 {
        self.compiled.requests.get(entry).map_or(0, |request| request.reply_policy)
    }

    /// Fills in an entry with these parts.
    ///
    /// # Errors
    ///
    /// Describes a malformed URL or message.
    fn fill(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        parts: SentParts<'_>,
    ) -> Result<(Rc<RequestParts>, Tags), String> {
        let dialect = self.compiled.dialect();
        let SentParts { label, method, url, headers, body } = parts;
        if let Some(number) = self.context.unset_variables.take() {
            let name = &self.compiled.names.all()[number];
            return Err(format!(
                "`${{{name}}}` has no value, because nothing has set it; write one under `variables`, or `default` in its extractor"
            ));
        }
        let Request { label: plan_label, base, verbatim, reply_policy, .. } =
            &self.compiled.requests[entry];
        // Most labels are constant, and their numbers are known.
        let number = if label == *plan_label { self.labels[entry] } else { self.number_of(&label) };
        // After its texts are filled in: for them, the last request is the previous one.
        set_label(user, &label);
        let url = dialect.encode_spaces(url);
        let body = grpc::encoded(body, self.context.services.as_deref())?;
        let last_url = self.last_urls.get(entry);
        let url = base.as_deref().map_or(Cow::Borrowed(&*url), |base| resolved(base, &url));
        let url = last_url.unwrap_or(&LastUrl::default()).parse(&url, dialect)?;
        let awaited =
            self.compiled.entries[entry].awaited.filter(|text| self.text(text, n, user))?;
        let parts =
            RequestParts { method, url, headers, body, verbatim: verbatim.clone(), awaited };
        Ok((Rc::new(parts), Tags { label: number, reply_policy: *reply_policy }))
    }

    /// Returns the current texts of an entry.
    pub(crate) fn entry<'e>(
        &'e self,
        entry: usize,
        n: u64,
        user: Option<&'e UserContext>,
    ) -> EntryTexts<'e, T> {
        let compiled = &self.compiled;
        EntryTexts {
            script: self,
            request: &compiled.requests[entry],
            compiled: &compiled.entries[entry],
            n,
            user,
        }
    }

    /// Returns the bytes of an entry that scripts have read.
    pub(crate) fn prepare_changed(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        pending: PendingRequest,
    ) -> Result<Rc<Prepared>, String> {
        self.prepare_texts(entry, n, user, pending.finish(&self.entry(entry, n, user)))
    }

    /// Returns an entry that scripts have read, with a reply that may lead to further requests.
    pub(crate) fn changed_request(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        pending: PendingRequest,
    ) -> Result<UserRequest, String> {
        let (parts, tags) =
            self.fill(entry, n, user, pending.finish(&self.entry(entry, n, user)))?;
        Ok(UserRequest::from_list(parts, tags))
    }

    /// Fills in the placeholders of a text.
    pub(crate) fn text(&self, template: &Template, n: u64, user: Option<&UserContext>) -> String {
        if let Some(constant) = template.as_constant() {
            return constant.to_owned();
        }
        // A separate generator, because functions in the text draw from the worker's.
        let mut random = Pcg64Mcg::seed_from_u64(self.context.random.borrow_mut().random());
        template.text(&mut RenderContext { n, rng: &mut random, feeds: &self.compiled.feeds, user })
    }

    /// Creates the context of a user. None: no text of the scenario needs one.
    fn user_context(&self, number: u64) -> Option<Box<UserContext>> {
        self.compiled.has_context.then(|| {
            let mut variables = Variables::with(&self.compiled.names, &self.variables);
            variables.set_known(LAST_SAMPLE_OK, "true");
            Box::new(UserContext::new(&self.context, variables, number))
        })
    }

    /// Fills in the initial variables of the users, once for all workers.
    fn with_variables(mut self) -> Self {
        let _step_note = self.note_step();
        self.note_position(INITIAL_VARIABLES);
        let filled = self.compiled.filled.get_or_init(|| {
            let inherited = self.compiled.inherited_variables.iter();
            let inherited: Vec<_> =
                inherited.map(|(number, value)| (*number, value.as_str().into())).collect();
            let user = UserContext::new(
                &self.context,
                Variables::with(&self.compiled.names, &inherited),
                0,
            );
            let further = self.compiled.variables.iter().map(|(number, template)| {
                let text = self.text(template, 0, Some(&user));
                user.variables.borrow_mut().set_slot(*number, &text);
                (*number, text)
            });
            self.compiled.inherited_variables.iter().cloned().chain(further).collect()
        });
        self.variables =
            filled.iter().map(|(number, text)| (*number, text.as_str().into())).collect();
        self
    }
}

/// A step of a user. It ends when the value is dropped.
pub struct StepNote(Rc<dyn RunState>);

impl Drop for StepNote {
    fn drop(&mut self) {
        self.0.end_step();
    }
}

/// Resolves a URL that may be relative (RFC 3986 section 5).
fn resolved<'u>(base: &str, url: &'u str) -> Cow<'u, str> {
    let base = if template::is_absolute_url(url) { None } else { Url::parse(base).ok() };
    match base.and_then(|base| base.join(url).ok()) {
        Some(url) => Cow::Owned(url.into()),
        None => Cow::Borrowed(url),
    }
}

/// True if JMeter follows the redirect of a reply: 307 only after GET and HEAD.
pub fn is_jmeter_redirect(method: &str, status: u16) -> bool {
    matches!(status, 301..=303 | 308) || (status == 307 && matches!(method, "GET" | "HEAD"))
}

/// Sets the label of the user's current request.
fn set_label(user: Option<&UserContext>, label: &str) {
    if let Some(user) = user {
        label.clone_into(&mut user.label.borrow_mut());
    }
}

/// Returns the entry of request number `n`, by the entries' shares of a round.
pub(crate) fn pick(
    order: ListOrder,
    shares: &[u64],
    n: u64,
    user: u64,
    random: &RefCell<Pcg64Mcg>,
) -> usize {
    let round = shares.last().copied().unwrap_or(1).max(1);
    // With one request in a round, the order does not matter.
    if round == 1 {
        return shares.partition_point(|end| *end == 0);
    }
    let position = match order {
        ListOrder::Sequence | ListOrder::Walk | ListOrder::WalkTogether => n % round,
        ListOrder::User => user % round,
        ListOrder::Random => random.borrow_mut().random_range(0..round),
        ListOrder::Slow(millionths) => {
            ((u128::from(n) + 1) * u128::from(millionths) / 1_000_000 % u128::from(round)) as u64
        }
    };
    shares.partition_point(|end| *end <= position)
}

struct WorkerUsers<T: Transport>(Rc<WorkerScript<T>>);

impl<T: Transport> Users for WorkerUsers<T> {
    fn user(&self, number: u64) -> Box<dyn VirtualUser> {
        Box::new(Interpreter::new(Rc::clone(&self.0), number))
    }

    fn first(&self) -> Option<Rc<Prepared>> {
        let user = self.0.user_context(0);
        let entry = self.0.pick(ListOrder::Sequence, 0, 0);
        // A scenario may consist of scripts only.
        if let Some(ready) = self.0.ready.get(entry)? {
            return ready.clone().ok();
        }
        let texts = self.0.entry(entry, 0, user.as_deref()).parts();
        // Variables of an iteration have no value yet, and mostly the origin does not depend on them.
        _ = self.0.context.unset_variables.take();
        self.0.prepare_texts(entry, 0, user.as_deref(), texts).ok()
    }

    fn take_records(&self) -> Vec<SampleRecord> {
        std::mem::take(&mut *self.0.context.finished.borrow_mut())
    }
}

#[cfg(test)]
mod tests;
