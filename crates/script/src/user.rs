//! The virtual user of a list of requests: it asks the next one, and that is its iteration. One that makes something of the
//! reply is a [`Browser`].
//!
//! A [`CompiledScript`] is the same for all workers; [`CompiledScript::users`] makes a
//! worker's users of it. A request without placeholders is put into the bytes of the wire once.

mod session;

use crate::browse::{Ask, Browser};
use crate::template::{Place, RenderContext, Template, compile_body};
use crate::{Feeds, ScriptError};
use brunt_engine::{Numbering, Step, Turn, Users, VirtualUser};
use brunt_model::plan::{Cookies, Order, Script, Session};
use brunt_model::{Body, Browsing, Plan, Request};
use brunt_wire::request::{BadRequest, Draft, RequestParts, parse_url};
use brunt_wire::{Prepared, Transport};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use session::Visitor;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The requests of a script, compiled.
#[derive(Debug)]
pub struct CompiledScript {
    entries: Vec<CompiledRequest>,
    feeds: Feeds,
    order: Order,
    browsing: Option<Browsing>,
    /// Virtual users of all workers together.
    users: u64,
    seed: u64,
    /// What iterations are made of, in turn, and how many requests those before it have; empty: one request each.
    sessions: Vec<(Session, u64)>,
    /// Requests of one round of all sessions.
    round: u64,
    cookies: Cookies,
    /// Where each entry's share of a round ends, when each is asked as often as its weight says.
    shares: Vec<u64>,
}

/// One request.
#[derive(Debug)]
struct CompiledRequest {
    request: Request,
    /// Where there are placeholders.
    templates: Option<Templates>,
}

#[derive(Debug)]
struct Templates {
    url: Template,
    headers: Vec<(String, Template)>,
    body: Option<Template>,
}

impl Templates {
    fn compile(request: &Request, feeds: &mut Feeds) -> Result<Option<Self>, ScriptError> {
        let url = Template::compile(&request.url, Place::Url, feeds)?;
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| Ok((name.clone(), Template::compile(value, Place::Header, feeds)?)));
        let headers = headers.collect::<Result<Vec<_>, ScriptError>>()?;
        let body = compile_body(&request.body, &request.headers, feeds)?;
        let constant = url.as_constant() == Some(&request.url)
            && headers.iter().zip(&request.headers).all(|(t, h)| t.1.as_constant() == Some(&h.1))
            && body.as_ref().is_none_or(|t| matches!(&request.body, Body::Text(b) if t.as_constant() == Some(b)));
        Ok((!constant).then_some(Self { url, headers, body }))
    }
}

impl CompiledScript {
    /// Compiles the script of a plan, and reads the files that its placeholders name.
    pub fn new(plan: &Plan) -> Result<Self, ScriptError> {
        let mut feeds = Feeds::default();
        let mut entries = Vec::with_capacity(plan.script.requests.len());
        let (mut shares, mut sum) = (Vec::new(), 0);
        for request in &plan.script.requests {
            let browsing = plan.script.browsing.is_some();
            let templates = if browsing { None } else { Templates::compile(request, &mut feeds)? };
            entries.push(CompiledRequest { templates, request: request.clone() });
            sum += u64::from(request.weight);
            shares.push(sum);
        }
        let Script { order, sessions, cookies, browsing, .. } = plan.script.clone();
        let mut round = 0_u64;
        let numbered = sessions.into_iter().map(|session| {
            let before = round;
            round = round.saturating_add(session.requests());
            (session, before)
        });
        let sessions = numbered.collect();
        let users = plan.load.peak().floor() as u64;
        Ok(Self { entries, feeds, order, browsing, users, seed: plan.seed, sessions, round, cookies, shares })
    }

    /// The names of its labels.
    pub fn labels(&self) -> Vec<String> {
        self.entries.iter().map(|c| c.request.label.clone()).collect()
    }

    /// The users of worker number `worker`; `number_of` numbers the names of labels.
    pub fn users<T: Transport>(self: &Arc<Self>, wire: &Rc<T>, worker: usize, number_of: &Numbering) -> Box<dyn Users> {
        let labels: Vec<u32> = self.entries.iter().map(|c| number_of(&c.request.label)).collect();
        let ready = self.entries.iter().zip(&labels).map(|(entry, label)| {
            entry.templates.is_none().then(|| prepare(&**wire, &entry.request, *label).map_err(|e| e.to_string()))
        });
        let browses = self.browsing.as_ref();
        let listed = |(number, entry): (usize, &CompiledRequest)| {
            let ask = Ask::listed(&Rc::new(entry.request.clone()), labels[number]);
            Ask { entry: Some(number), ..ask }
        };
        let worker_script = WorkerScript {
            ready: ready.collect(),
            asks: browses.iter().flat_map(|_| self.entries.iter().enumerate().map(listed)).collect(),
            number_of: Rc::clone(number_of),
            labels,
            compiled: Arc::clone(self),
            wire: Rc::clone(wire),
            random: RefCell::new(Pcg64Mcg::seed_from_u64(self.seed ^ (0xD1CE << 32 | worker as u64))),
        };
        Box::new(Table { worker_script: Rc::new(worker_script), browsing: browses.cloned().map(Rc::new) })
    }

    /// The number among all of the run of the first request of iteration number `n`, where all have sessions.
    fn first_of(&self, n: u64) -> u64 {
        let many = self.sessions.len() as u64;
        n / many * self.round + self.sessions[(n % many) as usize].1
    }

    /// The entry for request number `n`.
    fn pick(&self, n: u64, random: &RefCell<Pcg64Mcg>) -> usize {
        let round = self.shares.last().copied().unwrap_or(1).max(1);
        if round == 1 {
            return 0;
        }
        let at = match self.order {
            Order::Sequence | Order::Walk | Order::WalkTogether => n % round,
            Order::Random => random.borrow_mut().random_range(0..round),
        };
        self.shares.partition_point(|end| *end <= at)
    }
}

fn prepare<T: Transport>(wire: &T, request: &Request, label: u32) -> Result<Rc<Prepared>, BadRequest> {
    let Request { method, url, headers, body, verbatim, .. } = request;
    wire.prepare(&Draft { method, url, headers, body, label, verbatim: verbatim.as_deref() }).map(Rc::new)
}

/// Where in the list a user is, where each goes through it by itself.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    /// None: the requests of all users together go through the list.
    at: Option<u64>,
    begins: u64,
    round: u64,
}

impl Walk {
    /// The user of this number, before its first request.
    pub fn new(compiled: &CompiledScript, number: u64) -> Self {
        let round = compiled.shares.last().copied().unwrap_or(1).max(1);
        let begins = if compiled.order == Order::Walk { number * (round / compiled.users.max(1)) } else { 0 };
        let by_itself = matches!(compiled.order, Order::Walk | Order::WalkTogether);
        Self { at: by_itself.then_some(begins), begins, round }
    }

    /// Its next request, as a number; that of the iteration among all is `number`.
    pub fn next(&mut self, number: u64) -> u64 {
        let Some(at) = &mut self.at else { return number };
        *at += 1;
        *at - 1
    }

    /// Whether the next request is the first of the list.
    pub fn is_at_its_beginning(&self) -> bool {
        self.at.is_some_and(|at| at > self.begins && at % self.round == 0)
    }
}

/// What one worker has of a compiled script.
pub struct WorkerScript<T: Transport> {
    compiled: Arc<CompiledScript>,
    wire: Rc<T>,
    /// By entry: its label's number.
    labels: Vec<u32>,
    /// By entry: its bytes, or why it has none; None where there are placeholders.
    ready: Vec<Option<Result<Rc<Prepared>, String>>>,
    /// By entry, where users browse.
    asks: Vec<Ask>,
    number_of: Numbering,
    random: RefCell<Pcg64Mcg>,
}

impl<T: Transport> WorkerScript<T> {
    /// The script.
    pub fn compiled(&self) -> &CompiledScript {
        &self.compiled
    }

    /// How requests travel.
    pub fn wire(&self) -> &T {
        &self.wire
    }

    /// The entry for request number `n`.
    fn pick(&self, n: u64) -> usize {
        self.compiled.pick(n, &self.random)
    }

    /// The entry for request number `n`, where users browse.
    pub fn ask(&self, n: u64) -> Ask {
        self.asks[self.pick(n)].clone()
    }

    /// The number of a label, which may be a new one.
    pub fn number_of(&self, label: &str) -> u32 {
        (self.number_of)(label)
    }

    /// The step of asking an entry that has no placeholders, where more may follow.
    pub fn ready(&self, entry: usize) -> Step {
        match &self.ready[entry] {
            Some(Ok(request)) => Step::Request(Rc::clone(request)),
            Some(Err(why)) => Step::Broken(why.clone()),
            None => Step::Broken("a user that browses has a request with placeholders".into()),
        }
    }

    /// Request number `n` of the run.
    fn request(&self, n: u64) -> Result<Rc<Prepared>, String> {
        self.entry(self.pick(n), n)
    }

    /// A request of the script, where it is number `n` of the run.
    fn entry(&self, entry: usize, n: u64) -> Result<Rc<Prepared>, String> {
        match self.ready.get(entry) {
            Some(Some(ready)) => ready.clone(),
            Some(None) => self.render(entry, n).map_err(|e| e.to_string()),
            None => Err(format!("a session asks for request {entry}, and the script has {}", self.ready.len())),
        }
    }

    /// Fills the placeholders in and puts the request into bytes.
    fn render(&self, entry: usize, n: u64) -> Result<Rc<Prepared>, BadRequest> {
        let CompiledRequest { request, templates } = &self.compiled.entries[entry];
        let Some(templates) = templates else { return prepare(&*self.wire, request, self.labels[entry]) };
        let mut random = self.random.borrow_mut();
        let mut cx = RenderContext { n, rng: &mut *random, feeds: &self.compiled.feeds };
        let mut fill = |template: &Template| {
            let mut out = String::new();
            template.render(&mut cx, &mut out);
            out
        };
        let url = fill(&templates.url);
        let filled = RequestParts {
            method: request.method.clone(),
            url: parse_url(&url)?,
            headers: templates.headers.iter().map(|(name, value)| (name.clone(), fill(value))).collect(),
            body: templates.body.as_ref().map_or_else(|| request.body.clone(), |body| Body::Text(fill(body))),
            verbatim: request.verbatim.clone(),
        };
        self.wire.prepare_parts(filled, self.labels[entry]).map(Rc::new)
    }
}

struct Table<T: Transport> {
    worker_script: Rc<WorkerScript<T>>,
    browsing: Option<Rc<Browsing>>,
}

impl<T: Transport> Users for Table<T> {
    fn user(&self, number: u64) -> Box<dyn VirtualUser> {
        let worker_script = Rc::clone(&self.worker_script);
        match &self.browsing {
            Some(browsing) => Box::new(Browser::new(worker_script, Rc::clone(browsing), number)),
            None if !worker_script.compiled.sessions.is_empty() => Box::new(Visitor::new(worker_script)),
            None => Box::new(User { walk: Walk::new(worker_script.compiled(), number), worker_script }),
        }
    }

    fn first(&self) -> Rc<Prepared> {
        self.worker_script.request(0).unwrap_or_default()
    }
}

struct User<T: Transport> {
    worker_script: Rc<WorkerScript<T>>,
    walk: Walk,
}

impl<T: Transport> VirtualUser for User<T> {
    fn next(&mut self, turn: Turn<'_>) -> Step {
        if turn.step > 0 {
            return Step::Done;
        }
        self.worker_script.request(self.walk.next(turn.number)).map_or_else(Step::Broken, Step::Last)
    }
}
