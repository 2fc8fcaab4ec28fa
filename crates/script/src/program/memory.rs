//! What one user remembers of replies, and what follows from them by the policy of the request: cookies, redirects that are
//! requests of their own, credentials, a page's elements, versions.
//!
//! These further requests are sent one after the other, before the next step of the scenario; each has a sample of its own. Scripts
//! in pages are not run. No clock is read but for the expiry of cookies.
//!
//! * `ask`: one request that is to be made, and those that follow from a reply.
//! * `cache`: versions of pages. `identity`: credentials, Basic and Digest. `page`: what a page is made of.

mod ask;
mod cache;
mod identity;
mod page;

use crate::program::user::WorkerScript;
use crate::texts::cookies::Jar;
pub(crate) use ask::Ask;
use brunt_engine::Step;
use brunt_model::ReplyPolicy;
use brunt_model::reply_policy::RedirectRules;
use brunt_wire::redirect::{self, Redirected};
use brunt_wire::{Prepared, Reply, Transport};
use cache::Pages;
use identity::Identity;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use url::Url;

/// Header fields of a reply.
type Fields = [(String, String)];

/// What one user remembers of replies.
pub struct Memory {
    jar: Rc<RefCell<Jar>>,
    identity: Identity,
    pages: Pages,
    /// What is to be asked before the scenario goes on; the last comes first.
    todo: Vec<Ask>,
    asking: Option<Ask>,
    /// What was asked at the same time, in order.
    at_once: Vec<Ask>,
    /// The last page has elements, whether they are asked for or not.
    pub has_elements: bool,
}

impl Memory {
    /// That of the user of this number, which has seen no reply, with its cookies.
    pub fn new(number: u64, jar: Rc<RefCell<Jar>>) -> Self {
        let identity = Identity::new(number);
        Self {
            jar,
            identity,
            pages: Pages::default(),
            todo: Vec::new(),
            asking: None,
            at_once: Vec::new(),
            has_elements: false,
        }
    }

    /// An iteration begins: what was still to be asked for the last one is not asked any more.
    pub fn begin_iteration(&mut self) {
        self.todo.clear();
        self.at_once.clear();
        self.asking = None;
    }

    /// All cookies are gone.
    pub fn forget_cookies(&mut self) {
        self.jar.replace(Jar::default());
    }

    /// All pages are forgotten.
    pub fn forget_pages(&mut self) {
        self.pages.clear();
    }

    /// Whether a page need not be asked for: it is fresh.
    pub fn is_fresh<T: Transport>(&self, script: &WorkerScript<T>, ask: &Ask) -> bool {
        let reuses = script.policy(ask.tags.reply_policy).cache.is_some_and(|cache| cache.reuses_fresh);
        reuses && ask.parts.method == "GET" && self.pages.is_fresh(ask.parts.url.as_str(), now(script))
    }

    /// Whether the last request is repeated, with credentials where some are known, if this is the reply to it.
    pub fn repeats<T: Transport>(&self, script: &WorkerScript<T>, reply: Option<&Reply>) -> bool {
        let (Some(ask), Some(reply)) = (&self.asking, reply) else { return false };
        let head = reply.kept.as_ref().and_then(|kept| kept.head.as_ref());
        head.is_some_and(|(_, fields)| repeats(script.policy(ask.tags.reply_policy), ask, reply.status, fields))
    }

    /// The step of a request of the scenario.
    pub fn ask<T: Transport>(&mut self, script: &WorkerScript<T>, ask: Ask) -> Step {
        let step = self.step(script, &ask);
        self.asking = Some(ask);
        step
    }

    /// Credentials wait for the next challenge: JMeter answers one for each request.
    pub fn forget_identity(&mut self) {
        self.identity.forget();
    }

    /// Whether the last request was for an element of a page.
    pub fn was_element(&self) -> bool {
        self.asking.as_ref().is_some_and(|ask| ask.is_element)
    }

    /// The step of a request that follows from a reply, where one is still to be asked.
    pub fn follow_up<T: Transport>(&mut self, script: &WorkerScript<T>) -> Option<Step> {
        let ask = self.todo.pop()?;
        let elements = script.policy(ask.tags.reply_policy).elements.as_ref().filter(|_| ask.is_element);
        match elements.map_or(1, |elements| elements.at_once) {
            0 | 1 => Some(self.ask(script, ask)),
            most => Some(self.ask_at_once(script, ask, most as usize)),
        }
    }

    /// The step of an element and those that are still to be asked for, at the same time.
    fn ask_at_once<T: Transport>(&mut self, script: &WorkerScript<T>, first: Ask, most: usize) -> Step {
        let (mut requests, mut asks, mut next) = (Vec::new(), Vec::new(), Some(first));
        while let Some(ask) = next {
            match self.step(script, &ask) {
                Step::Request(request) => {
                    requests.push(request);
                    asks.push(ask);
                }
                // It cannot be asked for: it says so by itself.
                step if asks.is_empty() => {
                    self.asking = Some(ask);
                    return step;
                }
                _ => {
                    self.todo.push(ask);
                    break;
                }
            }
            next = self.todo.pop();
        }
        self.asking = asks.first().cloned();
        self.at_once = asks;
        Step::Parallel(requests, most)
    }

    /// What follows from the replies to what was asked at the same time.
    pub fn react_all<T: Transport>(&mut self, script: &WorkerScript<T>, replies: &[Option<Reply>]) {
        for (ask, reply) in std::mem::take(&mut self.at_once).into_iter().zip(replies) {
            if let Some(reply) = reply {
                self.asking = Some(ask);
                self.react(script, reply);
            }
        }
    }

    /// Whether several were asked at the same time.
    pub fn was_at_once(&self) -> bool {
        !self.at_once.is_empty()
    }

    /// What follows from a reply.
    pub fn react<T: Transport>(&mut self, script: &WorkerScript<T>, reply: &Reply) {
        let (Some(ask), Some(kept)) = (self.asking.take(), &reply.kept) else { return };
        let Some((_, fields)) = &kept.head else { return };
        let policy = script.policy(ask.tags.reply_policy);
        if policy.cookies.are_kept() {
            self.jar.borrow_mut().take(&ask.url, fields);
        }
        if policy.cache.is_some() && reply.status == 200 {
            self.pages.take(ask.parts.url.as_str(), fields, now(script));
        }
        if repeats(policy, &ask, reply.status, fields) {
            // Without credentials siege asks again all the same.
            let _ = self.identity.challenged(reply.status, fields, &policy.credentials);
            self.todo.push(ask.again());
            return;
        }
        let redirects = policy.redirects.rules == RedirectRules::Siege && ask.hops < policy.redirects.most;
        if redirects && let Some(next) = ask.redirected(reply.status, &ask.url, fields) {
            return self.todo.push(next.labelled(script));
        }
        self.take_apart(script, &ask, reply, &kept.text.decode(&kept.body).text);
    }

    /// A page's elements are to be asked for; by siege's rules the last first.
    fn take_apart<T: Transport>(&mut self, script: &WorkerScript<T>, page: &Ask, reply: &Reply, body: &str) {
        let policy = script.policy(page.tags.reply_policy);
        let Some(wanted) = &policy.elements else { return };
        let fields = reply.kept.iter().filter_map(|kept| kept.head.as_ref()).flat_map(|head| &head.1);
        let is_page = value(fields, "content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if page.is_element || !is_page || reply.status >= 300 {
            return;
        }
        let (mut seen, before) = (HashSet::new(), self.todo.len());
        for element in page::elements(body) {
            self.has_elements = true;
            let Ok(element) = page.url.join(&element) else { continue };
            let host = element.host_str().unwrap_or_default();
            let unwanted = wanted.not_from.iter().any(|part| host.contains(part.as_str()));
            let unwanted = unwanted || !script.wants_element(page.tags.reply_policy, element.as_str());
            let asked = matches!(element.scheme(), "http" | "https") && !unwanted && seen.insert(element.to_string());
            let element = asked.then(|| page.element(element)).filter(|element| !self.is_fresh(script, element));
            self.todo.extend(element.map(|element| element.labelled(script)));
        }
        if policy.redirects.rules != RedirectRules::Siege {
            self.todo[before..].reverse();
        }
    }

    /// The request that a reply redirects to as a part of what was asked (RFC 9110), with the cookies of its URL.
    pub fn redirect<T: Transport>(
        &mut self,
        script: &WorkerScript<T>,
        from: &Prepared,
        reply: &Reply,
        hops: u32,
    ) -> Option<Rc<Prepared>> {
        if !script.follows(from, reply, hops) {
            return None;
        }
        let fields = reply.kept.as_ref()?.head.as_ref().map(|head| &head.1);
        let url = Rc::clone(&from.parts()?.url);
        let keeps_cookies = script.policy(from.tags.reply_policy).cookies.are_kept();
        if let Some(fields) = fields.filter(|_| keeps_cookies) {
            self.jar.borrow_mut().take(&url, fields);
        }
        let policy = script.policy(from.tags.reply_policy);
        let next = redirect::follow(script.transport(), from, reply, policy.redirects.rules, |to: &mut Redirected| {
            to.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
            let asked =
                self.asking.as_ref().filter(|_| Url::parse(&to.url).is_ok_and(|to| to.origin() == url.origin()));
            let given = asked.and_then(|ask| value(&ask.parts.headers, "cookie"));
            to.headers.extend(Url::parse(&to.url).ok().and_then(|url| self.cookies(&url, policy, given)));
        })?;
        if let (Some(asking), Some(parts)) = (&mut self.asking, next.parts()) {
            asking.url = Rc::clone(&parts.url);
        }
        Some(next)
    }

    /// The cookies of a request to this URL, which gives some itself.
    fn cookies(&self, url: &Url, policy: &ReplyPolicy, given: Option<&str>) -> Option<(String, String)> {
        let jar = self.jar.borrow();
        let set = jar.field(url, policy.cookies).filter(|_| policy.replaces_cookies);
        set.or_else(|| jar.field_with(url, policy.cookies, given))
    }

    fn step<T: Transport>(&self, script: &WorkerScript<T>, ask: &Ask) -> Step {
        let policy = script.policy(ask.tags.reply_policy);
        let mut extra = self.identity.fields(&ask.parts);
        if policy.cookies.are_kept() && self.jar.borrow().field(&ask.url, policy.cookies).is_some() {
            extra.extend(self.cookies(&ask.url, policy, value(&ask.parts.headers, "cookie")));
        }
        extra.extend(self.pages.fields(ask.parts.url.as_str()).iter().cloned());
        match ask.entry {
            Some(entry) if extra.is_empty() => script.ready(entry),
            _ => ask.step(script.transport(), &extra),
        }
    }
}

/// Whether a request is repeated because of its reply: siege does so without credentials, too.
fn repeats(policy: &ReplyPolicy, ask: &Ask, status: u16, fields: &Fields) -> bool {
    matches!(status, 401 | 407)
        && ask.repeats < policy.repeats_unauthorized
        && (policy.redirects.rules == RedirectRules::Siege
            || Identity::can_answer(status, fields, &policy.credentials, &ask.parts.headers))
}

/// The value of a header field.
fn value<'a>(fields: impl IntoIterator<Item = &'a (String, String)>, name: &str) -> Option<&'a str> {
    fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Milliseconds since 1970.
fn now<T: Transport>(script: &WorkerScript<T>) -> u64 {
    script.surroundings().unix_millis()
}

#[cfg(test)]
mod tests;
