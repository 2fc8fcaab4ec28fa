//! A population's scenario, compiled, and its users.
//!
//! A [`CompiledScript`] is the same for all workers; [`CompiledScript::users`] makes a worker's users of it. A request without
//! placeholders is put into the bytes of the wire once.

mod entry;
pub(crate) mod interpreter;
mod last_url;
mod names;

use crate::program::memory::Ask;
use crate::program::{Op, Program, shares};
use crate::replies::awaited::MessageConditions;
use crate::replies::reactions::Reactions;
use crate::texts::context::{Commons, UserContext, WorkerContext};
use crate::texts::dialect::Dialect;
use crate::texts::grpc::{self, Services};
use crate::texts::pending::{PendingRequest, SentParts};
use crate::texts::script::Languages;
use crate::texts::template::{Place, RenderContext, Template, compile_body};
use crate::texts::variables::{LAST_SAMPLE_OK, Names, Variables};
use crate::{Feeds, ScriptError};
use brunt_engine::{Numbering, Step, Surroundings, Users, UsersOf, VirtualUser};
use brunt_model::plan::Records;
use brunt_model::reply_policy::{Cookies, RedirectRules};
use brunt_model::scenario::{Order, RequestList, Scope};
use brunt_model::{Body, HandedOn, Plan, ReplyPolicy, Request, SampleRecord, StageVariables};
use brunt_wire::request::{RequestParts, Tags};
use brunt_wire::{Prepared, Reply, Transport, redirect};
use entry::EntryTexts;
use interpreter::Interpreter;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

pub use last_url::LastUrl;

/// Most requests of a list that each worker prepares before the load. Each takes about 900 bytes; further ones are prepared when they
/// are sent.
const MOST_READY: usize = 10_000;

/// The scenario of a population, compiled.
#[derive(Debug)]
pub struct CompiledScript {
    requests: RequestList,
    /// By request.
    entries: Vec<CompiledRequest>,
    feeds: Feeds,
    pub(crate) program: Program,
    policies: Vec<ReplyPolicy>,
    /// By policy; empty where no request of the population has it.
    pub(crate) reactions: Vec<Reactions>,
    names: Arc<Names>,
    /// The variables that users begin with, as a stage before set them.
    handed: Vec<(usize, String)>,
    /// Further ones.
    variables: Vec<(usize, Template)>,
    /// All of them, filled in by the first worker.
    filled: OnceLock<Vec<(usize, String)>>,
    commons: Arc<Commons>,
    /// The name of the population.
    name: String,
    /// Which records of samples the plan asks for.
    records: Option<Records>,
    /// The services of gRPC that are called.
    services: Option<Arc<Services>>,
    /// Users need a context of their own.
    has_context: bool,
    /// Virtual users of all workers together.
    pub(crate) users: u64,
    seed: u64,
    /// Where each entry's share of a round ends, when each is asked as often as its weight says.
    shares: Vec<u64>,
}

/// One request.
#[derive(Debug)]
pub(crate) struct CompiledRequest {
    /// None: no placeholders.
    templates: Option<Box<Templates>>,
    awaited: MessageConditions,
}

#[derive(Debug)]
struct Templates {
    label: Template,
    url: Template,
    headers: Vec<(String, Template)>,
    /// Those of the texts of its body.
    bodies: Vec<Template>,
}

impl Templates {
    fn compile(request: &Request, changes: bool, feeds: &mut Feeds) -> Result<Option<Self>, ScriptError> {
        if request.verbatim.is_some() {
            return Ok(None);
        }
        let label = Template::compile_expressions(&request.label, Place::Text, feeds)?;
        let place = if feeds.dialect.encodes_values() { Place::Url } else { Place::Text };
        let url = Template::compile(&request.url, place, feeds)?;
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| Ok((name.clone(), Template::compile(value, Place::Header, feeds)?)));
        let headers = headers.collect::<Result<Vec<_>, ScriptError>>()?;
        let bodies = compile_body(&request.body, &request.headers, feeds)?;
        let constant = !changes
            && label.as_constant() == Some(&request.label)
            && url.as_constant() == Some(&request.url)
            && headers.iter().zip(&request.headers).all(|(t, h)| t.1.as_constant() == Some(&h.1))
            && bodies.iter().all(|t| matches!(&request.body, Body::Text(b) if t.as_constant() == Some(b)));
        Ok((!constant).then_some(Self { label, url, headers, bodies }))
    }
}

impl CompiledScript {
    /// Compiles the scenarios of all populations of a plan, and reads the files that they name.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if a scenario makes no sense, a placeholder is malformed, or a file cannot be read.
    pub fn all_with(plan: &Plan, languages: &'static dyn Languages) -> Result<Vec<Arc<Self>>, ScriptError> {
        let commons = Arc::new(Commons::new(plan, languages));
        (0..plan.populations.len()).map(|number| Self::new(plan, number, &commons).map(Arc::new)).collect()
    }

    fn new(plan: &Plan, number: usize, commons: &Arc<Commons>) -> Result<Self, ScriptError> {
        let population = &plan.populations[number];
        let scenario = &population.scenario;
        // Populations share the list of policies, and each compiles those that it uses.
        let used = names::policies(scenario);
        let own: Vec<&ReplyPolicy> = used.iter().filter_map(|number| plan.reply_policies.get(*number)).collect();
        let mut feeds = Feeds::with_variables(scenario.texts, names::all(scenario, &own), commons.languages);
        feeds.has_scripts = names::has_scripts(scenario, &own);
        let program = Program::new(scenario, &mut feeds)?;
        let variables = scenario.variables.iter().map(|(name, text)| {
            let text = Template::compile_expressions(text, Place::Text, &mut feeds)?;
            Ok((feeds.names.number(name), text))
        });
        let variables = variables.collect::<Result<Vec<_>, ScriptError>>()?;
        let handed = scenario.handed.values.iter().filter(|(_, value)| !value.is_empty());
        let handed = handed.map(|(name, value)| (feeds.names.number(name), value.clone())).collect();
        let reactions = plan.reply_policies.iter().enumerate().map(|(number, policy)| {
            if used.contains(&number) { Reactions::new(policy, &mut feeds) } else { Ok(Reactions::default()) }
        });
        let reactions = reactions.collect::<Result<Vec<_>, _>>()?;
        let compile = |request: &Request| {
            let awaited = MessageConditions::new(&plan.reply_policies[request.reply_policy as usize], &mut feeds)?;
            let templates = Templates::compile(request, !awaited.are_constant(), &mut feeds)?;
            Ok(CompiledRequest { templates: templates.map(Box::new), awaited })
        };
        let entries = scenario.requests.iter().map(compile).collect::<Result<_, ScriptError>>()?;
        let shares = shares(scenario.requests.iter().map(|request| request.weight));
        let users = population.load.peak().floor() as u64;
        let policies = plan.reply_policies.clone();
        // Populations do not draw the same values.
        let seed = plan.seed.wrapping_add((number as u64) << 48);
        let names = Arc::new(feeds.names.clone());
        let records = plan.record.records.clone();
        let has_context = feeds.dialect.has_expressions()
            || !names.all().is_empty()
            || records.is_some()
            || policies.iter().any(ReplyPolicy::is_judged_by_user);
        let services = match &scenario.services[..] {
            [] => None,
            set => Some(Arc::new(Services::decode(set).map_err(ScriptError::Scenario)?)),
        };
        let (commons, name, filled) = (Arc::clone(commons), population.name.clone(), OnceLock::new());
        Ok(Self {
            requests: scenario.requests.clone(),
            entries,
            feeds,
            program,
            policies,
            reactions,
            names,
            handed,
            variables,
            filled,
            commons,
            name,
            records,
            services,
            has_context,
            users,
            seed,
            shares,
        })
    }

    /// What it hands on to later stages, now.
    pub fn handed_on(&self) -> HandedOn {
        HandedOn { properties: self.commons.properties(), variables: self.commons.variables() }
    }

    /// The variables that its users may have, for the stages behind it.
    pub fn stage_variables(&self) -> StageVariables {
        let values = self.names.all().iter().map(|name| (name.clone(), String::new())).collect();
        StageVariables { values, has_scripts: self.feeds.has_scripts }
    }

    /// Whether a step, a script or a failure has ended the test, with the stages that would follow.
    pub fn has_ended_test(&self) -> bool {
        self.commons.has_ended_test()
    }

    /// Extractors that matched nothing in this process, though replies came.
    pub fn remarks(&self) -> Vec<String> {
        let label_of = |policy: usize| {
            let request = self.requests.iter().find(|request| request.reply_policy as usize == policy);
            request.map_or("a sample", |request| &request.label)
        };
        let remarks = |(number, reactions): (usize, &Reactions)| reactions.remarks(label_of(number));
        self.reactions.iter().enumerate().flat_map(remarks).chain(self.commons.undecoded_remarks()).collect()
    }

    /// The names of its labels.
    pub fn labels(&self) -> Vec<String> {
        self.requests.iter().map(|request| request.label.clone()).collect()
    }

    /// The users of a worker.
    pub fn users<T: Transport>(self: &Arc<Self>, transport: &Rc<T>, of: UsersOf<'_>) -> Box<dyn Users> {
        let UsersOf { population, worker, labels: number_of, surroundings } = of;
        let labels: Vec<u32> = self.requests.iter().map(|request| number_of(&request.label)).collect();
        let (mut ready, mut asks) = (Vec::new(), Vec::new());
        for (number, request) in self.requests.iter().enumerate().take(MOST_READY) {
            let parts = self.entries[number].templates.is_none().then(|| self.parts(number));
            let tags = Tags { label: labels[number], reply_policy: request.reply_policy };
            ready.push(parts.clone().map(|parts| prepare(&**transport, parts?, tags)));
            let ask = |parts| Ask { entry: Some(number), ..Ask::listed(parts, tags) };
            let asked = parts.filter(|_| self.policies[request.reply_policy as usize].looks_at_head());
            asks.push(asked.map(|parts| parts.map(ask)));
        }
        let worker_script = WorkerScript {
            ready,
            asks,
            last_urls: self.entries.iter().take(MOST_READY).map(|_| LastUrl::default()).collect(),
            inert: self.policies.iter().map(is_inert).collect(),
            forgets: self.policies.iter().any(|policy| policy.cookies == Cookies::KeptForARound),
            forgets_soon: self.used_policies().any(|policy| policy.cookies == Cookies::KeptForAnIteration),
            forgets_pages: self.used_policies().any(|policy| policy.cache.is_some_and(|cache| cache.per_iteration)),
            number_of: Rc::clone(number_of),
            labels,
            variables: Vec::new(),
            context: self.worker_context((population, worker), surroundings),
            compiled: Arc::clone(self),
            transport: Rc::clone(transport),
        };
        Box::new(Table(Rc::new(worker_script.with_variables())))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.feeds.dialect
    }

    /// The parts of a request without placeholders.
    fn parts(&self, number: usize) -> Result<Rc<RequestParts>, String> {
        let Request { method, url, headers, body, verbatim, .. } = self.requests[number].clone();
        let awaited =
            self.entries[number].awaited.filter(|template| template.as_constant().unwrap_or_default().to_owned())?;
        let url = LastUrl::default().parse(&url, self.dialect())?;
        Ok(Rc::new(RequestParts { method, url, headers, body, verbatim, awaited }))
    }

    /// The policies of its requests.
    fn used_policies(&self) -> impl Iterator<Item = &ReplyPolicy> {
        self.requests.iter().map(|request| &self.policies[request.reply_policy as usize])
    }

    fn worker_context(
        &self,
        (population_number, worker): (usize, usize),
        surroundings: &Rc<dyn Surroundings>,
    ) -> Rc<WorkerContext> {
        let seed = self.seed ^ (0xD1CE << 32 | worker as u64);
        Rc::new(WorkerContext {
            population: self.name.clone(),
            population_number,
            records: self.records.clone(),
            services: self.services.clone(),
            ..WorkerContext::new(Arc::clone(&self.commons), Rc::clone(surroundings), seed)
        })
    }
}

/// Whether nothing that a user does depends on the reply.
fn is_inert(policy: &ReplyPolicy) -> bool {
    !policy.looks_at_head() && policy.cookies == Cookies::Ignored && policy.failure_ends == Scope::Nothing
}

fn prepare<T: Transport>(transport: &T, parts: Rc<RequestParts>, tags: Tags) -> Result<Rc<Prepared>, String> {
    transport.prepare_parts(parts, tags).map(Rc::new).map_err(|error| error.to_string())
}

/// What one worker has of a compiled script.
pub struct WorkerScript<T: Transport> {
    pub(crate) compiled: Arc<CompiledScript>,
    transport: Rc<T>,
    /// By entry: its label's number.
    labels: Vec<u32>,
    /// By entry, of the first [`MOST_READY`]: its bytes, or why it has none; None where there are placeholders.
    ready: Vec<Option<Result<Rc<Prepared>, String>>>,
    /// By entry, of the same: where its reply may lead further and there are no placeholders.
    asks: Vec<Option<Result<Ask, String>>>,
    /// By entry, of the same.
    last_urls: Vec<LastUrl>,
    /// By policy: whether nothing depends on the reply.
    pub(crate) inert: Vec<bool>,
    /// Cookies are forgotten when a user has gone through the list.
    forgets: bool,
    /// Cookies are forgotten with each iteration.
    forgets_soon: bool,
    /// Pages are forgotten with each iteration.
    forgets_pages: bool,
    number_of: Numbering,
    /// What users begin with.
    variables: Vec<(usize, Rc<str>)>,
    pub(crate) context: Rc<WorkerContext>,
}

impl<T: Transport> WorkerScript<T> {
    /// The run around the users.
    pub fn surroundings(&self) -> &dyn Surroundings {
        &*self.context.surroundings
    }

    /// How requests travel.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// The policy of this number.
    pub fn policy(&self, number: u32) -> &ReplyPolicy {
        &self.compiled.policies[number as usize]
    }

    /// Whether an element of a page whose request has this policy is asked for.
    pub fn wants_element(&self, policy: u32, url: &str) -> bool {
        self.compiled.reactions[policy as usize].wants_element(url)
    }

    /// Whether a redirect of this request is part of it (RFC 9110), after so many that led here.
    pub fn follows(&self, from: &Prepared, reply: &Reply, hops: u32) -> bool {
        let redirects = self.policy(from.tags.reply_policy).redirects;
        let method = from.parts().map_or("", |parts| parts.method.as_str());
        let is_redirect = match redirects.rules {
            RedirectRules::Rfc9110 => true,
            RedirectRules::Jmeter => is_jmeter_redirect(method, reply.status),
            RedirectRules::JmeterAuto => reply.status == 303 || matches!(method, "GET" | "HEAD" | "POST" | "DELETE"),
            RedirectRules::Siege => false,
        };
        is_redirect && hops < redirects.most
    }

    /// The request that a reply leads to as a part of what was asked, by RFC 9110; nothing is remembered of the reply.
    fn redirect(&self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        if !self.follows(from, reply, hops) {
            return None;
        }
        let rules = self.policy(from.tags.reply_policy).redirects.rules;
        redirect::follow(self.transport(), from, reply, rules, |_| ())
    }

    /// The number of a label, which may be a new one.
    pub fn number_of(&self, label: &str) -> u32 {
        (self.number_of)(label)
    }

    /// The step of an entry that cannot be asked: in JMeter's rules the iteration goes on.
    pub fn refused(&self, entry: usize, why: String) -> Step {
        match self.labels.get(entry) {
            Some(label) => Step::Failing(why, *label),
            None => Step::Broken(why),
        }
    }

    /// The step of asking an entry that has no placeholders, where more may follow.
    pub fn ready(&self, entry: usize) -> Step {
        match &self.ready[entry] {
            Some(Ok(request)) => Step::Request(Rc::clone(request)),
            Some(Err(why)) => self.refused(entry, why.clone()),
            None => Step::Broken("a request with placeholders was asked for without their values".into()),
        }
    }

    /// The request of every iteration, where the scenario is this one request, the same each time, and its reply leads to nothing.
    fn only_request(&self) -> Option<Rc<Prepared>> {
        let entry = match self.compiled.program.ops.as_slice() {
            [Op::Request(request)] => request.number as usize,
            [Op::Next(_)] if matches!(self.compiled.shares[..], [weight] if weight > 0) => 0,
            [] | [_, ..] => return None,
        };
        if self.context.records.is_some() {
            return None;
        }
        let is_inert = self.inert.get(self.policy_of(entry) as usize).copied().unwrap_or(false);
        self.ready.get(entry)?.as_ref().filter(|_| is_inert)?.clone().ok()
    }

    /// The entry for request number `n` of the run.
    pub(crate) fn pick(&self, order: Order, n: u64, user: u64) -> usize {
        pick(order, &self.compiled.shares, n, user, &self.context.random)
    }

    /// An entry's request in bytes, where it is number `n` of the run.
    pub(crate) fn prepared(&self, entry: usize, n: u64, user: Option<&UserContext>) -> Result<Rc<Prepared>, String> {
        match self.ready.get(entry) {
            Some(Some(ready)) => {
                named(user, &self.compiled.requests[entry].label);
                ready.clone()
            }
            _ if entry < self.compiled.entries.len() => {
                let (parts, tags) = self.filled(entry, n, user, self.entry(entry, n, user).parts())?;
                prepare(&*self.transport, parts, tags)
            }
            _ => Err(self.no_entry(entry)),
        }
    }

    /// The same as something whose reply may lead further.
    pub(crate) fn ask(&self, entry: usize, n: u64, user: Option<&UserContext>) -> Result<Ask, String> {
        match self.asks.get(entry) {
            Some(Some(ask)) => {
                named(user, &self.compiled.requests[entry].label);
                ask.clone()
            }
            _ if entry < self.compiled.entries.len() => {
                let (parts, tags) = self.filled(entry, n, user, self.entry(entry, n, user).parts())?;
                Ok(Ask::listed(parts, tags))
            }
            _ => Err(self.no_entry(entry)),
        }
    }

    fn no_entry(&self, entry: usize) -> String {
        format!("the scenario asks for request {entry}, and its list has {}", self.compiled.entries.len())
    }

    /// The policy of an entry's reply.
    pub(crate) fn policy_of(&self, entry: usize) -> u32 {
        self.compiled.requests.get(entry).map_or(0, |request| request.reply_policy)
    }

    /// An entry with these parts.
    ///
    /// # Errors
    ///
    /// In words: its URL is none, or the message that it sends.
    fn filled(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        parts: SentParts<'_>,
    ) -> Result<(Rc<RequestParts>, Tags), String> {
        let dialect = self.compiled.dialect();
        let SentParts { label, method, url, headers, body } = parts;
        let Request { label: written, verbatim, reply_policy, .. } = &self.compiled.requests[entry];
        let number = if label == *written { self.labels[entry] } else { self.number_of(&label) };
        // Behind its texts: for them the last request is the one before.
        named(user, &label);
        let url = dialect.encode_spaces(url);
        let body = grpc::encoded(body, self.context.services.as_deref())?;
        let last_url = self.last_urls.get(entry);
        let url = last_url.unwrap_or(&LastUrl::default()).parse(&url, dialect)?;
        let awaited = self.compiled.entries[entry].awaited.filter(|text| self.text(text, n, user))?;
        let parts = RequestParts { method, url, headers, body, verbatim: verbatim.clone(), awaited };
        Ok((Rc::new(parts), Tags { label: number, reply_policy: *reply_policy }))
    }

    /// The texts of an entry, as they are now.
    pub(crate) fn entry<'e>(&'e self, entry: usize, n: u64, user: Option<&'e UserContext>) -> EntryTexts<'e, T> {
        let compiled = &self.compiled;
        EntryTexts { script: self, request: &compiled.requests[entry], compiled: &compiled.entries[entry], n, user }
    }

    /// An entry that scripts have looked at, in bytes.
    pub(crate) fn prepared_changed(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        pending: PendingRequest,
    ) -> Result<Rc<Prepared>, String> {
        let (parts, tags) = self.filled(entry, n, user, pending.finish(&self.entry(entry, n, user)))?;
        prepare(&*self.transport, parts, tags)
    }

    /// The same as something whose reply may lead further.
    pub(crate) fn ask_changed(
        &self,
        entry: usize,
        n: u64,
        user: Option<&UserContext>,
        pending: PendingRequest,
    ) -> Result<Ask, String> {
        let (parts, tags) = self.filled(entry, n, user, pending.finish(&self.entry(entry, n, user)))?;
        Ok(Ask::listed(parts, tags))
    }

    /// A text with its placeholders filled in.
    pub(crate) fn text(&self, template: &Template, n: u64, user: Option<&UserContext>) -> String {
        if let Some(constant) = template.as_constant() {
            return constant.to_owned();
        }
        // Functions draw from it, too.
        let mut random = Pcg64Mcg::seed_from_u64(self.context.random.borrow_mut().random());
        template.text(&mut RenderContext { n, rng: &mut random, feeds: &self.compiled.feeds, user })
    }

    /// What the user of this number has before it begins.
    fn user_context(&self, number: u64) -> Option<Box<UserContext>> {
        let variables = || {
            let mut variables = Variables::with(&self.compiled.names, &self.variables);
            variables.set_known(LAST_SAMPLE_OK, "true");
            variables
        };
        self.compiled.has_context.then(|| Box::new(UserContext::new(&self.context, variables(), number)))
    }

    /// Fills in the variables that users begin with, for all workers once.
    fn with_variables(mut self) -> Self {
        let filled = self.compiled.filled.get_or_init(|| {
            let handed = self.compiled.handed.iter();
            let handed: Vec<_> = handed.map(|(number, value)| (*number, value.as_str().into())).collect();
            let user = UserContext::new(&self.context, Variables::with(&self.compiled.names, &handed), 0);
            let fill = |(number, template): &(usize, Template)| {
                let text = self.text(template, 0, Some(&user));
                user.variables.borrow_mut().set_slot(*number, &text);
                (*number, text)
            };
            self.compiled.handed.iter().cloned().chain(self.compiled.variables.iter().map(fill)).collect()
        });
        self.variables = filled.iter().map(|(number, text)| (*number, text.as_str().into())).collect();
        self
    }
}

/// Whether JMeter takes a reply for a redirect: 307 to GET and HEAD alone.
pub fn is_jmeter_redirect(method: &str, status: u16) -> bool {
    matches!(status, 301..=303 | 308) || (status == 307 && matches!(method, "GET" | "HEAD"))
}

/// The user asks a request of this label now.
fn named(user: Option<&UserContext>, label: &str) {
    if let Some(user) = user {
        label.clone_into(&mut user.label.borrow_mut());
    }
}

/// Which of those with these shares of a round is number `n`.
pub(crate) fn pick(order: Order, shares: &[u64], n: u64, user: u64, random: &RefCell<Pcg64Mcg>) -> usize {
    let round = shares.last().copied().unwrap_or(1).max(1);
    if round == 1 {
        return shares.partition_point(|end| *end == 0);
    }
    let at = match order {
        Order::Sequence | Order::Walk | Order::WalkTogether => n % round,
        Order::User => user % round,
        Order::Random => random.borrow_mut().random_range(0..round),
        Order::Slow(millionths) => {
            ((u128::from(n) + 1) * u128::from(millionths) / 1_000_000 % u128::from(round)) as u64
        }
    };
    shares.partition_point(|end| *end <= at)
}

struct Table<T: Transport>(Rc<WorkerScript<T>>);

impl<T: Transport> Users for Table<T> {
    fn user(&self, number: u64) -> Box<dyn VirtualUser> {
        Box::new(Interpreter::new(Rc::clone(&self.0), number))
    }

    fn first(&self) -> Rc<Prepared> {
        let user = self.0.user_context(0);
        self.0.prepared(self.0.pick(Order::Sequence, 0, 0), 0, user.as_deref()).unwrap_or_default()
    }

    fn take_records(&self) -> Vec<SampleRecord> {
        std::mem::take(&mut *self.0.context.finished.borrow_mut())
    }
}

#[cfg(test)]
mod tests;
