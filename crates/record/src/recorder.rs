//! Collects the requests of all pages, frames and workers of a browser.
//!
//! A page begins with a navigation of a window, or with another path that a script sets. Bodies of images, fonts,
//! style sheets and media are not read, because no later request has their values.

use crate::browser::{Browser, BrowserOptions};
use crate::devtools::{CommandId, DevToolsMessage};
use crate::error::RecordError;
use crate::exchange::{Exchange, ExchangeReply, RecordedPage, ReplyBody, WebSocketFrame};
use crate::exchange::{MAX_BODY_BYTES, MAX_TOTAL_BYTES, har, headers, text};
use crate::recording::Recording;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_engine::clock::unix_seconds;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// Types of resources without values for later requests; their bodies are not read.
const OPAQUE_KINDS: [&str; 6] = ["image", "font", "stylesheet", "media", "texttrack", "manifest"];

/// Interval in which the end of a recording is checked.
const STOP_INTERVAL: Duration = Duration::from_millis(200);

/// Time without messages after which a page is complete.
const QUIET: Duration = Duration::from_millis(300);

/// Maximum number of quiet intervals while replies are outstanding.
const MAX_QUIET_INTERVALS: u32 = 40;

/// Maximum number of quiet intervals while only the ends of bodies are outstanding.
const MAX_QUIET_INTERVALS_OF_BODIES: u32 = 4;

/// Maximum time for outstanding replies, in seconds.
const MAX_WAIT_SECONDS: f64 = 12.0;

/// Maximum time of a command, in seconds.
const MAX_CALL_SECONDS: f64 = 30.0;

/// A recording in progress.
pub struct Recorder {
    browser: Browser,
    state: RecorderState,
}

impl Recorder {
    /// Starts a browser, and the recording of all its requests.
    ///
    /// # Errors
    ///
    /// The browser cannot be started, or does not speak the protocol.
    pub fn start(options: &BrowserOptions) -> Result<Self, RecordError> {
        let mut browser = Browser::start(options)?;
        if let Err(error) = browser.devtools.call("", "Browser.getVersion", &json!({})) {
            let line = browser.last_error();
            return Err(if line.is_empty() {
                error
            } else {
                RecordError::Ended(format!(": {line}"))
            });
        }
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        browser.devtools.call("", "Target.setAutoAttach", &attach)?;
        let mut recorder = Self { browser, state: RecorderState::default() };
        let end = unix_seconds() + MAX_WAIT_SECONDS;
        while unix_seconds() < end {
            recorder.step(QUIET)?;
            if recorder.state.window().is_some() && recorder.state.commands.is_empty() {
                return Ok(recorder);
            }
        }
        Err(RecordError::Ended(" without a window".to_owned()))
    }

    /// Directory of the temporary profile.
    pub fn profile(&self) -> &std::path::Path {
        self.browser.profile()
    }

    /// Opens a URL in the first window.
    ///
    /// # Errors
    ///
    /// The browser has ended, or refused the URL.
    pub fn navigate(&mut self, url: &str) -> Result<(), RecordError> {
        let result = self.call_window("Page.navigate", &json!({"url": url}))?;
        // The command succeeds, and its result has the error of the network.
        match result["errorText"].as_str() {
            Some(message) => Err(RecordError::Refused {
                method: "Page.navigate".to_owned(),
                message: message.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Evaluates JavaScript in the first window, as a user's action. Returns its value.
    ///
    /// # Errors
    ///
    /// The browser has ended, or the script failed.
    pub fn evaluate(&mut self, script: &str) -> Result<Value, RecordError> {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true,
            "userGesture": true});
        let result = self.call_window("Runtime.evaluate", &params)?;
        match result["exceptionDetails"]["exception"]["description"].as_str() {
            Some(message) => Err(RecordError::Refused {
                method: "Runtime.evaluate".to_owned(),
                message: message.to_owned(),
            }),
            None => Ok(result["result"]["value"].clone()),
        }
    }

    /// Waits until all replies have arrived and the browser has been quiet for 0.3 s; at most for 12 s, or for 4 such
    /// intervals if only the ends of bodies are outstanding.
    ///
    /// # Errors
    ///
    /// The browser has ended.
    pub fn wait_until_idle(&mut self) -> Result<(), RecordError> {
        let mut intervals = 0;
        // A page that receives messages all the time is never quiet.
        let end = unix_seconds() + MAX_WAIT_SECONDS;
        while intervals < self.state.max_intervals() && unix_seconds() < end {
            if !self.step(QUIET)? {
                intervals += 1;
            }
        }
        // Requests that are still open do not delay the next action.
        self.state.open.clear();
        Ok(())
    }

    /// Records until the user closes all windows, or until `is_stopped` returns true.
    ///
    /// # Errors
    ///
    /// The browser refused a command.
    pub fn record(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<(), RecordError> {
        while !is_stopped() && self.state.window().is_some() {
            match self.step(STOP_INTERVAL) {
                Err(RecordError::Ended(_)) => return Ok(()),
                other => other?,
            };
        }
        Ok(())
    }

    /// Ends the browser, and returns the recording.
    pub fn finish(mut self, name: &str) -> Recording {
        // An error means that the browser has ended already. The recording has the replies before it.
        let _ = self.wait_until_idle();
        self.browser.close();
        self.state.recording(name)
    }

    fn call_window(&mut self, method: &str, params: &Value) -> Result<Value, RecordError> {
        let Some(session) = self.state.window() else {
            return Err(RecordError::Ended(": it has no window".to_owned()));
        };
        let id = self.browser.devtools.send(&session, method, params)?;
        self.state.commands.insert(id, Purpose::Answer(id));
        // Events are processed meanwhile: a worker that the script starts waits for the commands that follow.
        let end = unix_seconds() + MAX_CALL_SECONDS;
        while unix_seconds() < end {
            self.step(QUIET)?;
            if let Some(result) = self.state.answers.remove(&id) {
                return result.map_err(|message| RecordError::Refused {
                    method: method.to_owned(),
                    message,
                });
            }
        }
        let seconds = MAX_CALL_SECONDS as u64;
        Err(RecordError::Timeout { method: method.to_owned(), seconds })
    }

    /// Processes the next message. Returns false if none arrives in time.
    fn step(&mut self, timeout: Duration) -> Result<bool, RecordError> {
        let Some(message) = self.browser.devtools.next_message(timeout)? else {
            return Ok(false);
        };
        let mut commands = Vec::new();
        self.state.process(message, &mut commands);
        for command in commands {
            let id =
                self.browser.devtools.send(&command.session, command.method, &command.params)?;
            self.state.commands.insert(id, command.purpose);
        }
        Ok(true)
    }
}

/// A command that follows from an event.
struct FollowUp {
    session: String,
    method: &'static str,
    params: Value,
    purpose: Purpose,
}

/// Use of a command's result.
#[derive(Debug, Clone)]
enum Purpose {
    Setup,
    /// Result for the caller.
    Answer(CommandId),
    /// Body of the reply to an exchange.
    Body(usize),
    /// Body of the request of an exchange.
    PostData(usize),
    /// Title of a page.
    Title(usize),
}

/// A window, frame or worker.
#[derive(Debug, Default)]
struct TargetSession {
    parent: String,
    kind: String,
    target: String,
    page: Option<usize>,
    loader: String,
}

/// Header fields of an exchange, which arrive separately.
#[derive(Debug, Default)]
struct ExtraFields {
    hops: Vec<usize>,
    requests: Vec<Vec<(String, String)>>,
    replies: Vec<Vec<(String, String)>>,
}

#[derive(Debug, Default)]
struct RecorderState {
    sessions: BTreeMap<String, TargetSession>,
    /// The window that was opened first.
    first_window: String,
    pages: Vec<RecordedPage>,
    /// Page of each document, by its loader.
    loaders: HashMap<String, usize>,
    exchanges: Vec<Exchange>,
    /// Latest exchange of each request of the browser.
    current: HashMap<String, usize>,
    extras: HashMap<String, ExtraFields>,
    /// Requests without a complete reply.
    open: HashSet<String>,
    commands: HashMap<CommandId, Purpose>,
    answers: HashMap<CommandId, Result<Value, String>>,
    body_bytes: u64,
    cuts: BTreeMap<&'static str, usize>,
}

impl RecorderState {
    /// Session of the first window that is open.
    fn window(&self) -> Option<String> {
        if self.sessions.contains_key(&self.first_window) {
            return Some(self.first_window.clone());
        }
        let windows = self.sessions.iter().filter(|(_, session)| session.kind == "page");
        windows.map(|(id, _)| id.clone()).next()
    }

    /// Number of intervals without messages after which nothing more is expected.
    fn max_intervals(&self) -> u32 {
        let has_head = |id: &String| {
            let index = self.current.get(id);
            index.is_some_and(|index| self.exchanges[*index].reply.is_some())
        };
        if self.open.is_empty() && self.commands.is_empty() {
            1
        } else if self.commands.is_empty() && self.open.iter().all(has_head) {
            // A script that does not read a body delays its end until the next navigation.
            MAX_QUIET_INTERVALS_OF_BODIES
        } else {
            MAX_QUIET_INTERVALS
        }
    }

    fn process(&mut self, message: DevToolsMessage, commands: &mut Vec<FollowUp>) {
        match message {
            DevToolsMessage::Reply { id, result } => {
                if let Some(purpose) = self.commands.remove(&id) {
                    self.apply(purpose, result);
                }
            }
            DevToolsMessage::Event { session, method, params } => {
                self.process_event(&session, &method, &params, commands);
            }
        }
    }

    fn apply(&mut self, purpose: Purpose, result: Result<Value, String>) {
        match (purpose, result) {
            (Purpose::Answer(id), result) => {
                self.answers.insert(id, result);
            }
            (Purpose::Setup, _) | (Purpose::Title(_), Err(_)) => {}
            (Purpose::PostData(_), Err(_)) => {
                self.cut("bodies of requests that the browser had discarded");
            }
            (Purpose::Body(_), Err(_)) => self.cut("bodies that the browser had discarded"),
            (Purpose::Body(index), Ok(result)) => {
                let body = ReplyBody {
                    text: text(&result, "body"),
                    is_base64: result["base64Encoded"].as_bool().unwrap_or_default(),
                };
                let length = body.text.len() as u64;
                // The encoded length, which is known before, may be much smaller.
                if length > 2 * MAX_BODY_BYTES || self.body_bytes + length > MAX_TOTAL_BYTES {
                    return self.cut("bodies beyond 8 MB, or 256 MB in total");
                }
                self.body_bytes += length;
                self.exchanges[index].body = Some(body);
            }
            (Purpose::PostData(index), Ok(result)) => {
                let (post, is_whole) = post_data(&result);
                self.exchanges[index].post = Some(post);
                if !is_whole {
                    self.cut("bodies of requests with bytes that are no text");
                }
            }
            (Purpose::Title(page), Ok(result)) => {
                let title = text(&result["result"], "value");
                if !title.is_empty() {
                    self.pages[page].title = title;
                }
            }
        }
    }

    fn cut(&mut self, reason: &'static str) {
        *self.cuts.entry(reason).or_default() += 1;
    }

    fn process_event(
        &mut self,
        session: &str,
        method: &str,
        params: &Value,
        commands: &mut Vec<FollowUp>,
    ) {
        match method {
            "Target.attachedToTarget" => self.attach(session, params, commands),
            "Target.detachedFromTarget" => {
                self.sessions.remove(&text(params, "sessionId"));
            }
            "Network.requestWillBeSent" => self.begin(session, params, commands),
            "Network.requestWillBeSentExtraInfo" => {
                let extras = self.extras.entry(text(params, "requestId")).or_default();
                extras.requests.push(headers(&params["headers"]));
            }
            "Network.responseReceivedExtraInfo" => {
                let extras = self.extras.entry(text(params, "requestId")).or_default();
                extras.replies.push(headers(&params["headers"]));
            }
            "Network.responseReceived" => self.receive(params),
            "Network.requestServedFromCache" => {
                if let Some(exchange) = self.exchange(params) {
                    exchange.is_cached = true;
                }
            }
            "Network.loadingFinished" => self.complete(session, params, commands),
            "Network.loadingFailed" => {
                self.open.remove(&text(params, "requestId"));
                if let Some(exchange) = self.exchange(params) {
                    exchange.ended = number(params, "timestamp");
                    exchange.failure = text(params, "errorText");
                }
            }
            "Page.navigatedWithinDocument" => self.change_path(session, params),
            // Scripts may set the title after the document was parsed.
            "Page.domContentEventFired" | "Page.loadEventFired" => {
                let page = self.sessions.get(session).and_then(|session| session.page);
                commands.extend(page.map(|page| FollowUp {
                    session: session.to_owned(),
                    method: "Runtime.evaluate",
                    params: json!({"expression": "document.title", "returnByValue": true}),
                    purpose: Purpose::Title(page),
                }));
            }
            _ if method.starts_with("Network.webSocket") => {
                self.process_socket(session, method, params);
            }
            _ => {}
        }
    }

    fn attach(&mut self, parent: &str, params: &Value, commands: &mut Vec<FollowUp>) {
        let session = text(params, "sessionId");
        let target = &params["targetInfo"];
        let kind = text(target, "type");
        let is_page = matches!(kind.as_str(), "page" | "iframe" | "webview");
        if kind == "page" && self.first_window.is_empty() {
            self.first_window.clone_from(&session);
        }
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        let limits = json!({
            "maxTotalBufferSize": MAX_TOTAL_BYTES,
            "maxResourceBufferSize": MAX_BODY_BYTES,
            "maxPostDataSize": MAX_BODY_BYTES,
        });
        // Durable bodies stay available after the next navigation. Browsers before 2025 do not know them.
        let durable = json!({
            "maxTotalBufferSize": MAX_TOTAL_BYTES,
            "maxResourceBufferSize": MAX_BODY_BYTES,
        });
        let mut methods = vec![
            ("Network.configureDurableMessages", durable),
            ("Network.enable", limits),
            ("Target.setAutoAttach", attach),
        ];
        methods.extend(is_page.then(|| ("Page.enable", json!({}))));
        methods.push(("Runtime.runIfWaitingForDebugger", json!({})));
        commands.extend(methods.into_iter().map(|(method, params)| FollowUp {
            session: session.clone(),
            method,
            params,
            purpose: Purpose::Setup,
        }));
        self.sessions.insert(
            session,
            TargetSession {
                parent: parent.to_owned(),
                kind,
                target: text(target, "targetId"),
                page: None,
                loader: String::new(),
            },
        );
    }

    /// Page of a session: its own, or that of the window around it.
    fn page_of(&self, session: &str) -> Option<usize> {
        let mut session = self.sessions.get(session)?;
        // Frames are nested a few levels deep at most.
        for _ in 0..16 {
            if session.page.is_some() {
                return session.page;
            }
            session = self.sessions.get(&session.parent)?;
        }
        None
    }

    fn begin(&mut self, session: &str, params: &Value, commands: &mut Vec<FollowUp>) {
        let id = text(params, "requestId");
        let request = &params["request"];
        let url = text(request, "url");
        // Such as `data:` and `blob:`, which send nothing.
        if !url.starts_with("http") {
            return;
        }
        let kind = text(params, "type").to_ascii_lowercase();
        let loader = text(params, "loaderId");
        let redirect = &params["redirectResponse"];
        let time = number(params, "timestamp");
        let mut page = None;
        if redirect.is_null() {
            // Documents of frames belong to the page around them.
            let is_navigation = kind == "document"
                && self.sessions.get(session).is_some_and(|session| {
                    session.kind == "page" && session.target == text(params, "frameId")
                });
            if is_navigation {
                self.open_page(session, &loader, &url, number(params, "wallTime"));
            }
        // A redirect has the identifier of the request before it.
        } else if let Some(previous) = self.current.get(&id) {
            let previous = &mut self.exchanges[*previous];
            previous.reply = Some(ExchangeReply::read(redirect));
            previous.ended = time;
            previous.has_extra = params["redirectHasExtraInfo"].as_bool().unwrap_or(true);
            page = previous.page;
        }
        // Requests of the old page may follow the begin of a navigation, so the loader decides first.
        let page =
            page.or_else(|| self.loaders.get(&loader).copied()).or_else(|| self.page_of(session));
        let index = self.exchanges.len();
        // Long bodies, and those with files, are not in the event.
        let post = request["postData"].as_str().map(str::to_owned);
        if post.is_none() && request["hasPostData"].as_bool().unwrap_or_default() {
            commands.push(FollowUp {
                session: session.to_owned(),
                method: "Network.getRequestPostData",
                params: json!({"requestId": id}),
                purpose: Purpose::PostData(index),
            });
        }
        self.exchanges.push(Exchange {
            page,
            kind,
            method: text(request, "method"),
            url,
            headers: headers(&request["headers"]),
            post,
            wall: number(params, "wallTime"),
            started: time,
            ended: time,
            has_extra: true,
            ..Exchange::default()
        });
        self.current.insert(id.clone(), index);
        self.extras.entry(id.clone()).or_default().hops.push(index);
        // The reply to an event source does not end, so it must not delay the end of the recording.
        if self.exchanges[index].kind != "eventsource" {
            self.open.insert(id);
        }
    }

    fn open_page(&mut self, session: &str, loader: &str, url: &str, wall: f64) {
        let page = self.pages.len();
        self.pages.push(RecordedPage { url: url.to_owned(), title: String::new(), wall });
        self.loaders.insert(loader.to_owned(), page);
        if let Some(session) = self.sessions.get_mut(session) {
            session.page = Some(page);
            loader.clone_into(&mut session.loader);
        }
    }

    /// Begins a page if a script has changed the path of the window's URL.
    fn change_path(&mut self, session: &str, params: &Value) {
        let Some(window) = self.sessions.get(session) else { return };
        let Some(page) = window.page else { return };
        let url = text(params, "url");
        if window.target != text(params, "frameId") || path(&self.pages[page].url) == path(&url) {
            return;
        }
        // Requests of the script have the loader of the document.
        let loader = window.loader.clone();
        let wall = self.pages[page].wall;
        self.open_page(session, &loader, &url, wall);
    }

    fn exchange(&mut self, params: &Value) -> Option<&mut Exchange> {
        let index = self.current.get(params["requestId"].as_str()?)?;
        self.exchanges.get_mut(*index)
    }

    fn receive(&mut self, params: &Value) {
        let response = &params["response"];
        if let Some(exchange) = self.exchange(params) {
            exchange.reply = Some(ExchangeReply::read(response));
            exchange.ended = number(params, "timestamp");
            exchange.has_extra = params["hasExtraInfo"].as_bool().unwrap_or_default();
            exchange.is_cached |= response["fromDiskCache"].as_bool().unwrap_or_default()
                || response["fromPrefetchCache"].as_bool().unwrap_or_default();
            // The worker's own request is recorded too, if it sent one.
            if response["fromServiceWorker"].as_bool().unwrap_or_default() {
                exchange.is_cached = true;
            }
        }
    }

    fn complete(&mut self, session: &str, params: &Value, commands: &mut Vec<FollowUp>) {
        let id = text(params, "requestId");
        self.open.remove(&id);
        let Some(index) = self.current.get(&id).copied() else { return };
        let exchange = &mut self.exchanges[index];
        exchange.ended = number(params, "timestamp");
        if exchange.is_cached
            || exchange.reply.is_none()
            || OPAQUE_KINDS.contains(&exchange.kind.as_str())
        {
            return;
        }
        if number(params, "encodedDataLength") > MAX_BODY_BYTES as f64 {
            return self.cut("bodies beyond 8 MB, or 256 MB in total");
        }
        // At once: the browser discards bodies of a page soon after the next navigation.
        commands.push(FollowUp {
            session: session.to_owned(),
            method: "Network.getResponseBody",
            params: json!({"requestId": id}),
            purpose: Purpose::Body(index),
        });
    }

    fn process_socket(&mut self, session: &str, method: &str, params: &Value) {
        let time = number(params, "timestamp");
        match method {
            "Network.webSocketCreated" => {
                let index = self.exchanges.len();
                self.exchanges.push(Exchange {
                    page: self.page_of(session),
                    kind: "websocket".to_owned(),
                    method: "GET".to_owned(),
                    url: text(params, "url"),
                    ..Exchange::default()
                });
                self.current.insert(text(params, "requestId"), index);
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                let wall = number(params, "wallTime");
                if let Some(exchange) = self.exchange(params) {
                    exchange.wall = wall;
                    exchange.started = time;
                    exchange.ended = time;
                    exchange.headers = headers(&params["request"]["headers"]);
                }
            }
            "Network.webSocketHandshakeResponseReceived" => {
                if let Some(exchange) = self.exchange(params) {
                    exchange.reply = Some(ExchangeReply::read(&params["response"]));
                    exchange.ended = time;
                }
            }
            "Network.webSocketFrameSent" | "Network.webSocketFrameReceived" => {
                let frame = WebSocketFrame {
                    is_sent: method.ends_with("Sent"),
                    time,
                    opcode: number(&params["response"], "opcode") as u64,
                    data: text(&params["response"], "payloadData"),
                };
                let length = frame.data.len() as u64;
                if self.body_bytes + length > MAX_TOTAL_BYTES {
                    return self.cut("messages of WebSockets beyond 256 MB in total");
                }
                self.body_bytes += length;
                if let Some(exchange) = self.exchange(params) {
                    exchange.frames.push(frame);
                }
            }
            _ => {}
        }
    }

    /// Replaces the header fields by those that were sent and received, with cookies.
    fn apply_extras(&mut self) {
        // These events may arrive before or after those of their request, but in the order of redirects.
        for extras in std::mem::take(&mut self.extras).into_values() {
            let hops: Vec<usize> =
                extras.hops.into_iter().filter(|hop| self.exchanges[*hop].has_extra).collect();
            for (hop, fields) in hops.iter().zip(extras.requests) {
                self.exchanges[*hop].headers = fields;
            }
            for (hop, fields) in hops.iter().zip(extras.replies) {
                if let Some(reply) = &mut self.exchanges[*hop].reply {
                    reply.headers = fields;
                }
            }
        }
    }

    fn recording(mut self, name: &str) -> Recording {
        self.apply_extras();
        let cached = self.exchanges.iter().filter(|exchange| exchange.is_cached).count();
        if cached > 0 {
            self.cuts.insert("requests that the browser's cache answered", cached);
        }
        let failed = self.exchanges.iter().filter(|exchange| exchange.has_failed()).count();
        if failed > 0 {
            self.cuts.insert("requests without a reply", failed);
        }
        let exchanges =
            self.exchanges.iter().filter(|exchange| !exchange.is_cached && !exchange.has_failed());
        let har = har(&self.pages, exchanges);
        let cuts = self.cuts.iter().map(|(reason, count)| format!("{reason} ({count})"));
        Recording::new(name.to_owned(), har, cuts.collect())
    }
}

/// Returns the body of a request, and false if it has bytes that are no text.
fn post_data(result: &Value) -> (String, bool) {
    let data = text(result, "postData");
    if !result["base64Encoded"].as_bool().unwrap_or_default() {
        return (data, true);
    }
    let bytes = STANDARD.decode(data).unwrap_or_default();
    match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        // Parts of forms stay readable.
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
    }
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_default()
}

/// A URL without query and fragment.
fn path(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
