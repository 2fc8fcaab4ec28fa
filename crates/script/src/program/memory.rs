//! Stores the replies' effects on one user, by the policy of the request: cookies, redirects as
//! separate requests, credentials, page elements, versions.
//!
//! These further requests are sent one after the other, before the next step of the scenario;
//! each has its own sample. Scripts in pages are not run. The clock is read only for the expiry
//! of cookies and pages.
//!
//! * `user_request`: a request, and the requests that follow from its reply.
//! * `cache`: versions of pages. `identity`: credentials, Basic and Digest. `page`:
//!   elements of a page.

mod cache;
mod identity;
mod page;
mod user_request;

use crate::program::user::WorkerScript;
use crate::texts::cookies::Jar;
use brunt_engine::UserStep;
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
pub(crate) use user_request::UserRequest;

/// Header fields of a reply.
type Fields = [(String, String)];

/// Effects of the replies on one user.
pub struct Memory {
    jar: Rc<RefCell<Jar>>,
    identity: Identity,
    pages: Pages,
    /// Requests to send before the next step of the scenario; the last one comes first.
    queue: Vec<UserRequest>,
    current: Option<UserRequest>,
    /// Requests that were sent at the same time, in order.
    parallel: Vec<UserRequest>,
    /// True if the last page has elements, even if they are not requested.
    pub has_elements: bool,
}

impl Memory {
    /// Creates the memory of a user, with its cookies and without replies.
    pub fn new(number: u64, jar: Rc<RefCell<Jar>>) -> Self {
        let identity = Identity::new(number);
        Self {
            jar,
            identity,
            pages: Pages::default(),
            queue: Vec::new(),
            current: None,
            parallel: Vec::new(),
            has_elements: false,
        }
    }

    /// Begins an iteration: drops the requests that were left from the last one.
    pub fn begin_iteration(&mut self) {
        self.queue.clear();
        self.parallel.clear();
        self.current = None;
    }

    /// Removes all cookies of the user.
    pub fn clear_cookies(&mut self) {
        self.jar.replace(Jar::default());
    }

    /// Removes all pages from the cache.
    pub fn clear_pages(&mut self) {
        self.pages.clear();
    }

    /// True if a page need not be requested, because the cached one is fresh.
    pub fn is_fresh<T: Transport>(
        &self,
        script: &WorkerScript<T>,
        user_request: &UserRequest,
    ) -> bool {
        let reuses = script
            .policy(user_request.tags.reply_policy)
            .cache
            .is_some_and(|cache| cache.reuses_fresh);
        reuses
            && user_request.parts.method == "GET"
            && self.pages.is_fresh(user_request.parts.url.as_str(), now(script))
    }

    /// True if the last request will be repeated because of this reply: with credentials
    /// if some are known.
    pub fn will_repeat<T: Transport>(
        &self,
        script: &WorkerScript<T>,
        reply: Option<&Reply>,
    ) -> bool {
        let (Some(user_request), Some(reply)) = (&self.current, reply) else { return false };
        let head = reply.details.as_ref().and_then(|kept| kept.head.as_ref());
        head.is_some_and(|(_, fields)| {
            is_repeated(
                script.policy(user_request.tags.reply_policy),
                user_request,
                reply.status,
                fields,
            )
        })
    }

    /// Returns the step of a request of the scenario.
    pub fn request_step<T: Transport>(
        &mut self,
        script: &WorkerScript<T>,
        user_request: UserRequest,
    ) -> UserStep {
        let step = self.step(script, &user_request);
        self.current = Some(user_request);
        step
    }

    /// Removes the credentials until the next challenge: JMeter answers one for each request.
    pub fn clear_identity(&mut self) {
        self.identity.clear();
    }

    /// True if the last request was for an element of a page.
    pub fn was_element(&self) -> bool {
        self.current.as_ref().is_some_and(|user_request| user_request.is_element)
    }

    /// Returns the step of the next request that follows from a reply. None: there is none.
    pub fn follow_up<T: Transport>(&mut self, script: &WorkerScript<T>) -> Option<UserStep> {
        let user_request = self.queue.pop()?;
        let elements = script
            .policy(user_request.tags.reply_policy)
            .elements
            .as_ref()
            .filter(|_| user_request.is_element);
        match elements.map_or(1, |elements| elements.at_once) {
            0 | 1 => Some(self.request_step(script, user_request)),
            most => Some(self.parallel_step(script, user_request, most as usize)),
        }
    }

    /// Returns the step of an element together with the other queued requests, as a parallel step.
    fn parallel_step<T: Transport>(
        &mut self,
        script: &WorkerScript<T>,
        first: UserRequest,
        most: usize,
    ) -> UserStep {
        let mut requests = Vec::new();
        let mut user_requests = Vec::new();
        let mut next = Some(first);
        while let Some(user_request) = next {
            match self.step(script, &user_request) {
                UserStep::Request(request) => {
                    requests.push(request);
                    user_requests.push(user_request);
                }
                // The request cannot be prepared: its step reports the failure.
                step if user_requests.is_empty() => {
                    self.current = Some(user_request);
                    return step;
                }
                _ => {
                    // This request becomes the next step, which reports its failure.
                    self.queue.push(user_request);
                    break;
                }
            }
            next = self.queue.pop();
        }
        self.current = user_requests.first().cloned();
        self.parallel = user_requests;
        UserStep::Parallel(requests, most)
    }

    /// Applies the replies to requests that were sent at the same time.
    pub fn react_all<T: Transport>(&mut self, script: &WorkerScript<T>, replies: &[Option<Reply>]) {
        for (user_request, reply) in std::mem::take(&mut self.parallel).into_iter().zip(replies) {
            if let Some(reply) = reply {
                self.current = Some(user_request);
                self.react(script, reply);
            }
        }
    }

    /// True if several requests were sent at the same time.
    pub fn was_parallel(&self) -> bool {
        !self.parallel.is_empty()
    }

    /// Applies a reply: cookies, cache, redirects, credentials and page elements.
    pub fn react<T: Transport>(&mut self, script: &WorkerScript<T>, reply: &Reply) {
        let (Some(user_request), Some(kept)) = (self.current.take(), &reply.details) else {
            return;
        };
        let Some((_, fields)) = &kept.head else { return };
        let policy = script.policy(user_request.tags.reply_policy);
        if policy.cookies.are_kept() {
            self.jar.borrow_mut().take(&user_request.url, fields);
        }
        if policy.cache.is_some() && reply.status == 200 {
            self.pages.take(user_request.parts.url.as_str(), fields, now(script));
        }
        if is_repeated(policy, &user_request, reply.status, fields) {
            // siege repeats the request even without credentials.
            let _ = self.identity.accept_challenge(reply.status, fields, &policy.credentials);
            self.queue.push(user_request.again());
            return;
        }
        // By other rules, a redirect is part of the original request; see `redirect`.
        let redirects = policy.redirects.rules == RedirectRules::Siege
            && user_request.hops < policy.redirects.most;
        if redirects
            && let Some(next) = user_request.redirected(reply.status, &user_request.url, fields)
        {
            return self.queue.push(next.with_label(script));
        }
        self.queue_elements(script, &user_request, reply, &kept.text.decode(&kept.body).text);
    }

    /// Queues the elements of a page. By siege's rules, the last one comes first.
    fn queue_elements<T: Transport>(
        &mut self,
        script: &WorkerScript<T>,
        page: &UserRequest,
        reply: &Reply,
        body: &str,
    ) {
        let policy = script.policy(page.tags.reply_policy);
        let Some(rules) = &policy.elements else { return };
        let fields =
            reply.details.iter().filter_map(|kept| kept.head.as_ref()).flat_map(|head| &head.1);
        let is_page =
            value(fields, "content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if page.is_element || !is_page || reply.status >= 300 {
            return;
        }
        let mut urls = HashSet::new();
        let queued = self.queue.len();
        for element in page::elements(body) {
            self.has_elements = true;
            let Ok(element) = page.url.join(&element) else { continue };
            let host = element.host_str().unwrap_or_default();
            let unwanted = rules.not_from.iter().any(|part| host.contains(part.as_str()));
            let unwanted =
                unwanted || !script.wants_element(page.tags.reply_policy, element.as_str());
            let is_requested = matches!(element.scheme(), "http" | "https")
                && !unwanted
                && urls.insert(element.to_string());
            let element = is_requested
                .then(|| page.element(element))
                .filter(|element| !self.is_fresh(script, element));
            self.queue.extend(element.map(|element| element.with_label(script)));
        }
        // The queue is a stack: reversed, the first element of the page is requested first.
        if policy.redirects.rules != RedirectRules::Siege {
            self.queue[queued..].reverse();
        }
    }

    /// Returns the request to which a reply redirects as part of the original request (RFC 9110),
    /// with the cookies of its URL.
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
        let fields = reply.details.as_ref()?.head.as_ref().map(|head| &head.1);
        let url = Rc::clone(&from.parts()?.url);
        let keeps_cookies = script.policy(from.tags.reply_policy).cookies.are_kept();
        if let Some(fields) = fields.filter(|_| keeps_cookies) {
            self.jar.borrow_mut().take(&url, fields);
        }
        let policy = script.policy(from.tags.reply_policy);
        let next = redirect::follow(
            script.transport(),
            from,
            reply,
            policy.redirects.rules,
            |to: &mut Redirected| {
                // Cookies depend on the new URL.
                to.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
                // Cookies in the plan's own header are not sent to another origin.
                let is_same_origin =
                    Url::parse(&to.url).is_ok_and(|to| to.origin() == url.origin());
                let original = self.current.as_ref().filter(|_| is_same_origin);
                let explicit =
                    original.and_then(|user_request| value(&user_request.parts.headers, "cookie"));
                to.headers.extend(
                    Url::parse(&to.url).ok().and_then(|url| self.cookies(&url, policy, explicit)),
                );
            },
        )?;
        // The reply comes from this URL now.
        if let (Some(asking), Some(parts)) = (&mut self.current, next.parts()) {
            asking.url = Rc::clone(&parts.url);
        }
        Some(next)
    }

    /// Returns the cookie field of a request to this URL. `explicit` are the cookies in
    /// the request's own header.
    fn cookies(
        &self,
        url: &Url,
        policy: &ReplyPolicy,
        explicit: Option<&str>,
    ) -> Option<(String, String)> {
        let jar = self.jar.borrow();
        let set = jar.field(url, policy.cookies).filter(|_| policy.replaces_cookies);
        set.or_else(|| jar.field_with(url, policy.cookies, explicit))
    }

    fn step<T: Transport>(&self, script: &WorkerScript<T>, user_request: &UserRequest) -> UserStep {
        let policy = script.policy(user_request.tags.reply_policy);
        let mut extra = self.identity.fields(&user_request.parts);
        if policy.cookies.are_kept()
            && self.jar.borrow().field(&user_request.url, policy.cookies).is_some()
        {
            extra.extend(self.cookies(
                &user_request.url,
                policy,
                value(&user_request.parts.headers, "cookie"),
            ));
        }
        extra.extend(self.pages.fields(user_request.parts.url.as_str()).iter().cloned());
        // Without further fields, the prepared bytes are sent.
        match user_request.entry {
            Some(entry) if extra.is_empty() => script.ready(entry),
            _ => user_request.step(script.transport(), &extra),
        }
    }
}

/// True if a request is repeated because of its reply. siege repeats it even without credentials.
fn is_repeated(
    policy: &ReplyPolicy,
    user_request: &UserRequest,
    status: u16,
    fields: &Fields,
) -> bool {
    matches!(status, 401 | 407)
        && user_request.repeats < policy.repeats_unauthorized
        && (policy.redirects.rules == RedirectRules::Siege
            || Identity::can_answer(
                status,
                fields,
                &policy.credentials,
                &user_request.parts.headers,
            ))
}

/// Returns the value of a header field.
fn value<'a>(
    fields: impl IntoIterator<Item = &'a (String, String)>,
    name: &str,
) -> Option<&'a str> {
    fields
        .into_iter()
        .find(|(field, _)| field.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// Returns the time in milliseconds since 1970.
fn now<T: Transport>(script: &WorkerScript<T>) -> u64 {
    script.run_state().unix_millis()
}

#[cfg(test)]
mod tests;
