//! The virtual user that makes something of replies, as a browser does: cookies, redirects, credentials, a page's elements.
//!
//! An iteration is one request of the list and all that follows from it, one after the other on the same connection or a new
//! one; each is a request with a sample of its own. What it is **not**: a browser. It runs no script, asks for nothing twice
//! at once, and reads no clock: cookies end with the run.
//!
//! * `ask`: one request that is to be made, and those that follow from a reply. `jar`: cookies.
//! * `identity`: credentials, Basic and Digest. `page`: what a page is made of.

mod ask;
mod identity;
mod jar;
mod page;

use crate::user::{Walk, WorkerScript};
pub(crate) use ask::Ask;
use brunt_engine::{Step, Turn, VirtualUser};
use brunt_model::Browsing;
use brunt_wire::{Reply, Transport};
use identity::Identity;
use jar::Jar;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use url::Url;

/// Header fields of a reply.
type Fields = [(String, String)];

/// A user that browses.
pub struct Browser<T: Transport> {
    worker_script: Rc<WorkerScript<T>>,
    browsing: Rc<Browsing>,
    walk: Walk,
    /// What is asked before all else.
    first: Option<Ask>,
    jar: Jar,
    identity: Identity,
    /// By URL: what tells the server which version we have.
    versions: HashMap<String, Vec<(String, String)>>,
    /// What is to be asked in this iteration; the last comes first.
    todo: Vec<Ask>,
    asking: Option<Ask>,
}

impl<T: Transport> Browser<T> {
    /// The user of this number.
    pub fn new(worker_script: Rc<WorkerScript<T>>, browsing: Rc<Browsing>, number: u64) -> Self {
        let walk = Walk::new(worker_script.compiled(), number);
        let turn = number.checked_rem(browsing.first.len() as u64);
        let first = turn.map(|turn| Ask::listed(&Rc::new(browsing.first[turn as usize].clone()), 0));
        let first = first.map(|ask| ask.labelled(&worker_script));
        let identity = Identity::new(&browsing.credentials, number);
        Self {
            worker_script,
            walk,
            first,
            identity,
            browsing,
            jar: Jar::default(),
            versions: HashMap::new(),
            todo: Vec::new(),
            asking: None,
        }
    }

    fn begin(&mut self, number: u64) {
        if self.browsing.forgetful && self.walk.is_at_its_beginning() {
            self.jar = Jar::default();
        }
        self.todo.clear();
        self.todo.push(self.worker_script.ask(self.walk.next(number)));
        self.todo.extend(self.first.take());
    }

    /// What follows from a reply.
    fn react(&mut self, reply: &Reply) {
        let (Some(ask), Some(kept)) = (self.asking.take(), &reply.kept) else { return };
        let (Some((_, fields)), Some(url)) = (&kept.head, ask.url.clone()) else { return };
        self.jar.take(&url, fields);
        if self.browsing.revalidate && reply.status == 200 {
            self.versions.insert(ask.request.url.clone(), versions(fields));
        }
        if matches!(reply.status, 401 | 407) && ask.attempts + 1 < self.browsing.attempts {
            // Without credentials siege asks again all the same.
            let _ = self.identity.challenged(reply.status, fields);
            self.todo.push(ask.again());
            return;
        }
        if ask.hops < self.browsing.redirects
            && let Some(next) = ask.redirected(reply.status, &url, fields)
        {
            return self.todo.push(next.labelled(&self.worker_script));
        }
        self.take_apart(&ask, reply, &url, &kept.body);
    }

    /// A page's elements are to be asked for, the last first.
    fn take_apart(&mut self, page: &Ask, reply: &Reply, url: &Url, body: &[u8]) {
        let Some(wanted) = &self.browsing.elements else { return };
        let fields = reply.kept.iter().filter_map(|kept| kept.head.as_ref()).flat_map(|head| &head.1);
        let is_page = value(fields, "content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if page.is_element || !is_page || reply.status >= 300 {
            return;
        }
        let mut seen = HashSet::new();
        for element in page::elements(&String::from_utf8_lossy(body)) {
            let Ok(element) = url.join(&element) else { continue };
            let host = element.host_str().unwrap_or_default();
            let unwanted = wanted.not_from.iter().any(|part| host.contains(part.as_str()));
            let asked = matches!(element.scheme(), "http" | "https") && !unwanted && seen.insert(element.to_string());
            if asked {
                self.todo.push(page.element(element).labelled(&self.worker_script));
            }
        }
    }

    fn step(&self, ask: &Ask) -> Step {
        let mut extra = self.identity.fields(&ask.request);
        extra.extend(ask.url.as_ref().and_then(|url| self.jar.field(url)));
        extra.extend(self.versions.get(&ask.request.url).into_iter().flatten().cloned());
        match ask.entry {
            Some(entry) if extra.is_empty() => self.worker_script.ready(entry),
            _ => ask.step(self.worker_script.wire(), &extra),
        }
    }
}

impl<T: Transport> VirtualUser for Browser<T> {
    fn next(&mut self, turn: Turn<'_>) -> Step {
        match turn.last {
            _ if turn.step == 0 => self.begin(turn.number),
            Some(reply) => self.react(reply),
            None => {}
        }
        let Some(ask) = self.todo.pop() else { return Step::Done };
        let step = self.step(&ask);
        self.asking = Some(ask);
        step
    }
}

/// The value of a header field.
fn value<'a>(fields: impl IntoIterator<Item = &'a (String, String)>, name: &str) -> Option<&'a str> {
    fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// What tells a server which version of a page we have.
fn versions(fields: &Fields) -> Vec<(String, String)> {
    let asks = [("last-modified", "If-Modified-Since"), ("etag", "If-None-Match")];
    let fields = asks.iter().filter_map(|(told, asked)| Some(((*asked).to_owned(), value(fields, told)?.to_owned())));
    fields.collect()
}

#[cfg(test)]
mod tests;
