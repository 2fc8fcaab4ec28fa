//! A request of a script, and its reply as the script sees it.

use crate::duration::in_milliseconds;
use crate::facts::ScenarioFacts;
use crate::values::{Bytes, tags_of, thrown};
use brunt_model::plan::HttpVersion;
use brunt_model::{Failure, Sample};
use brunt_wire::{Prepared, Reply};
use rquickjs::{Array, ArrayBuffer, Ctx, IntoJs, Result, Value};
use std::rc::Rc;
use std::time::Duration;

/// A request, as a script asks for it.
#[derive(Debug, Clone)]
pub struct RequestSpec {
    pub method: String,
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// Cookies of this request: name, value, and whether it replaces a cookie of the jar.
    pub cookies: Vec<(String, String, bool)>,
    /// Number of the user's jar; 0 is the one that is always there.
    pub jar: usize,
    /// Tags of the script, with `name`.
    pub tags: Vec<(String, String)>,
    pub timeout: Duration,
    /// Maximum number of redirects.
    pub redirects: u32,
    pub body_form: BodyForm,
    /// Expected statuses; None: no status is a failure, and no rate of failures is recorded.
    pub expected: Option<Vec<(u16, u16)>>,
}

/// The form of a reply's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    Text,
    Binary,
    None,
}

impl RequestSpec {
    /// Reads the list that `prepared()` of `http.js` makes.
    pub fn read(from: &Array<'_>, facts: &ScenarioFacts) -> Result<Self> {
        let body: Option<Bytes> = from.get(3)?;
        let cookies: Option<Vec<Array<'_>>> = from.get(4)?;
        let milliseconds: f64 = from.get(7)?;
        let redirects: i64 = from.get(8)?;
        let form: String = from.get(9)?;
        let body_form = match form.as_str() {
            "text" => BodyForm::Text,
            "binary" => BodyForm::Binary,
            "" if !facts.drops_bodies => BodyForm::Text,
            "" | "none" => BodyForm::None,
            other => {
                let wrong =
                    format!("responseType: '{other}' is unknown; write 'text', 'binary' or 'none'");
                return Err(thrown(from.ctx(), &wrong));
            }
        };
        Ok(Self {
            method: from.get(0)?,
            url: from.get(1)?,
            headers: pairs(from.get(2)?),
            body: body.map(|bytes| bytes.0),
            cookies: cookies.map(own_cookies).transpose()?.unwrap_or_default(),
            jar: from.get(5)?,
            tags: tags_of(from.get(6)?)?,
            timeout: Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default(),
            redirects: u32::try_from(redirects).unwrap_or(facts.redirects),
            body_form,
            expected: ranges(from.get(10)?),
        })
    }

    /// True if the script sets a header of this name, in lower case.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    /// True if a status is expected; None if the script does not ask.
    pub fn expects(&self, status: u16) -> Option<bool> {
        let ranges = self.expected.as_ref()?;
        Some(ranges.iter().any(|(least, most)| (*least..=*most).contains(&status)))
    }
}

/// Names and values, one after the other.
fn pairs(list: Vec<String>) -> Vec<(String, String)> {
    let mut list = list.into_iter();
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (list.next(), list.next()) {
        pairs.push((name, value));
    }
    pairs
}

fn own_cookies(list: Vec<Array<'_>>) -> Result<Vec<(String, String, bool)>> {
    list.into_iter().map(|cookie| Ok((cookie.get(0)?, cookie.get(1)?, cookie.get(2)?))).collect()
}

fn ranges(list: Option<Vec<Vec<u16>>>) -> Option<Vec<(u16, u16)>> {
    let list = list?.into_iter();
    Some(list.filter_map(|range| Some((*range.first()?, *range.get(1)?))).collect())
}

/// Times of a request, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timings {
    pub blocked: f64,
    pub looking_up: f64,
    pub connecting: f64,
    pub tls: f64,
    pub sending: f64,
    pub waiting: f64,
    pub receiving: f64,
}

impl Timings {
    /// Computes the times from the clocks of a request.
    pub fn of(sample: &Sample) -> Self {
        let opening = &sample.opening;
        let steps = [opening.resolve, opening.connect, opening.tls]
            .map(|time| time.filter(|_| sample.opened).unwrap_or(0));
        let opened: u64 = steps.iter().sum();
        let until_sent = sample.sent.nanos_since(sample.begun);
        // A request that was never written has neither waited nor received.
        let was_sent = sample.sent > sample.begun;
        let first_byte =
            if sample.first_byte > sample.sent { sample.first_byte } else { sample.last_byte };
        Self {
            blocked: in_milliseconds(opened.min(until_sent)),
            looking_up: in_milliseconds(steps[0]),
            connecting: in_milliseconds(steps[1]),
            tls: in_milliseconds(steps[2]),
            sending: in_milliseconds(until_sent.saturating_sub(opened)),
            waiting: if was_sent {
                in_milliseconds(first_byte.nanos_since(sample.sent))
            } else {
                0.0
            },
            receiving: if was_sent {
                in_milliseconds(sample.last_byte.nanos_since(first_byte))
            } else {
                0.0
            },
        }
    }

    /// Sum of sending, waiting and receiving.
    pub fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

/// One request of a chain of redirects.
#[derive(Debug, Clone)]
pub struct Hop {
    pub method: String,
    pub url: String,
    /// 0 without a reply.
    pub status: u16,
    pub failure: Option<Failure>,
    pub timings: Timings,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub is_expected: Option<bool>,
}

impl Hop {
    /// k6's code of a failure or an error status.
    fn error_code(&self) -> Option<u16> {
        let of_status = (self.status >= 400).then(|| 1000 + self.status);
        self.failure.map(error_code).or(of_status)
    }
}

/// The parts of a reply that scripts read.
#[derive(Debug, Clone, Default)]
pub struct ReplyParts {
    pub status: u16,
    pub version: Option<HttpVersion>,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub undecoded: Option<String>,
}

impl ReplyParts {
    /// Copies the parts of a reply.
    pub fn of(reply: &Reply) -> Self {
        let Some(details) = &reply.details else {
            return Self { status: reply.status, ..Self::default() };
        };
        Self {
            status: reply.status,
            version: details.head.as_ref().map(|(head, _)| head.version),
            fields: details.head.as_ref().map(|(_, fields)| fields.clone()).unwrap_or_default(),
            body: details.body.clone(),
            undecoded: details.undecoded.clone(),
        }
    }
}

/// A request between its step and its reply.
pub struct RequestInFlight {
    /// What the script asked for.
    pub spec: RequestSpec,
    /// The request of the step.
    pub first: Rc<Prepared>,
    /// The request that is in flight, or was last: the target of a redirect, or the first one.
    pub last: Rc<Prepared>,
    /// The request before it.
    pub before: Rc<Prepared>,
    /// Figures of all requests of the chain.
    pub hops: Vec<Hop>,
    /// The last reply; None without a complete one.
    pub reply: Option<ReplyParts>,
}

impl RequestInFlight {
    /// Creates a request that is not yet sent.
    pub fn new(spec: RequestSpec, first: Rc<Prepared>) -> Self {
        Self {
            spec,
            last: Rc::clone(&first),
            before: Rc::clone(&first),
            first,
            hops: Vec::new(),
            reply: None,
        }
    }
}

/// A request with its reply.
#[derive(Debug)]
pub struct Exchange {
    spec: RequestSpec,
    /// All requests of the chain; empty if the request could not be sent.
    pub hops: Vec<Hop>,
    /// Address of the last request.
    url: String,
    reply: Option<ReplyParts>,
    /// Code and text of an error.
    error: Option<(u16, String)>,
}

impl Exchange {
    /// A request that cannot be sent.
    pub fn refused(spec: RequestSpec, why: &str) -> Self {
        // k6 reports the address as written, even if it is none.
        let url = spec.url.clone();
        Self { spec, hops: Vec::new(), url, reply: None, error: Some((1020, why.to_owned())) }
    }

    /// A request that was sent.
    pub fn of(request: RequestInFlight) -> Self {
        let RequestInFlight { spec, last, mut hops, reply, .. } = request;
        if hops.is_empty() {
            // Dropped by the engine, because the run has ended.
            hops.push(Hop {
                method: spec.method.clone(),
                url: spec.url.clone(),
                status: 0,
                failure: Some(Failure::Cut),
                timings: Timings::default(),
                bytes_sent: 0,
                bytes_received: 0,
                is_expected: spec.expected.as_ref().map(|_| false),
            });
        }
        let undecoded = reply.as_ref().and_then(|reply| reply.undecoded.clone());
        let last_hop = hops.last();
        // An error status has a code, but no text.
        let text =
            last_hop.and_then(|hop| hop.failure).map(|failure| failure.row().name.to_string());
        let error = last_hop
            .and_then(Hop::error_code)
            .map(|code| (code, text.unwrap_or_default()))
            .or(undecoded.map(|why| (1701, why)));
        Self { url: last.url().to_owned(), spec, hops, reply, error }
    }

    /// Returns the value of a tag of one of the requests.
    pub fn tag(&self, hop: &Hop, name: &str) -> Option<String> {
        // A tag of the script has priority over one of the system.
        let own = self.spec.tags.iter().find(|(tag, _)| tag == name);
        own.map(|(_, value)| value.clone()).or_else(|| match name {
            "name" | "url" => Some(hop.url.clone()),
            "method" => Some(hop.method.clone()),
            "status" => Some(hop.status.to_string()),
            "expected_response" => Some((hop.is_expected.unwrap_or(true)).to_string()),
            "error_code" => hop.error_code().map(|code| code.to_string()),
            "error" => hop.failure.map(|failure| failure.row().name.to_string()),
            "proto" => {
                self.reply.as_ref().and_then(|reply| reply.version).map(|v| protocol(v).to_owned())
            }
            _ => None,
        })
    }

    /// Makes the list of which `http.js` makes a reply.
    pub fn into_reply<'js>(self, ctx: &Ctx<'js>, facts: &ScenarioFacts) -> Result<Array<'js>> {
        let Self { spec, hops, url, reply, error } = self;
        let is_failed = reply.is_none();
        // By default, an exchange without a reply is a reply with status 0.
        if facts.throws
            && let (true, Some((_, why))) = (is_failed, &error)
        {
            return Err(thrown(ctx, &format!("{} {url}: {why}", spec.method)));
        }
        let timings = hops.last().map(|hop| hop.timings).unwrap_or_default();
        let reply = reply.unwrap_or_default();
        let (code, why) = error.unwrap_or_default();
        let list = Array::new(ctx.clone())?;
        list.set(0, reply.status)?;
        list.set(1, status_text(reply.status))?;
        list.set(2, url)?;
        list.set(3, reply.version.map_or("", protocol))?;
        list.set(4, why)?;
        list.set(5, code)?;
        list.set(6, headers(&reply.fields))?;
        let cookies: Vec<&str> = reply
            .fields
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
            .map(|(_, text)| text.as_str())
            .collect();
        list.set(7, (!cookies.is_empty()).then_some(cookies))?;
        list.set(8, body(ctx, &reply, spec.body_form, is_failed)?)?;
        // A list, because QuickJS sets the properties of an object from outside five times as slowly as its own code.
        let Timings { blocked, looking_up, connecting, tls, sending, waiting, receiving } = timings;
        let duration = timings.duration();
        let times = [blocked, looking_up, connecting, tls, sending, waiting, receiving, duration];
        list.set(9, times.to_vec())?;
        Ok(list)
    }
}

/// Header fields with names as Go writes them: `Content-Type`. Repeated ones are joined by commas. Names and values
/// follow each other.
fn headers(fields: &[(String, String)]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(2 * fields.len());
    for (name, value) in fields {
        let name = canonical(name);
        match joined.iter().step_by(2).position(|own| *own == name) {
            Some(place) => {
                let values = &mut joined[2 * place + 1];
                values.push_str(", ");
                values.push_str(value.trim());
            }
            None => joined.extend([name, value.trim().to_owned()]),
        }
    }
    joined
}

/// Writes each word of a name with a capital.
fn canonical(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters.map(|c| c.to_ascii_lowercase())).collect::<String>()
    });
    words.collect::<Vec<_>>().join("-")
}

fn body<'js>(
    ctx: &Ctx<'js>,
    reply: &ReplyParts,
    form: BodyForm,
    is_failed: bool,
) -> Result<Value<'js>> {
    match form {
        // A missing body is null, so that scripts can tell it from an empty one.
        _ if is_failed => Ok(Value::new_null(ctx.clone())),
        BodyForm::None => Ok(Value::new_null(ctx.clone())),
        BodyForm::Text => String::from_utf8_lossy(&reply.body).into_js(ctx),
        BodyForm::Binary => ArrayBuffer::new(ctx.clone(), reply.body.clone())?.into_js(ctx),
    }
}

fn status_text(status: u16) -> String {
    if status == 0 { String::new() } else { brunt_model::outcome::status_text(status) }
}

fn protocol(version: HttpVersion) -> &'static str {
    match version {
        HttpVersion::V1_0 => "HTTP/1.0",
        HttpVersion::V2 => "HTTP/2.0",
        HttpVersion::V3 => "HTTP/3.0",
        HttpVersion::V1_1 => "HTTP/1.1",
    }
}

/// k6's code of a failure.
fn error_code(failure: Failure) -> u16 {
    match failure {
        Failure::Resolve => 1101,
        Failure::NotAllowed => 1110,
        Failure::Refused => 1212,
        Failure::ConnectTimeout => 1211,
        Failure::Unreachable | Failure::Proxy => 1210,
        Failure::Reset | Failure::Stale => 1220,
        Failure::Tls => 1300,
        Failure::Timeout => 1050,
        Failure::StreamReset | Failure::Unprocessed => 1600,
        _ => 1000,
    }
}
