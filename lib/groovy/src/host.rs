//! What a script can reach of the load test.
//!
//! Implemented by the load generator; every method but the few without a body has a default, so that a small host stays small.

use crate::value::Value;
use std::borrow::Cow;

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Finest detail.
    Trace,
    /// Detail for debugging.
    Debug,
    /// Normal information; also what `println` and `OUT` write.
    Info,
    /// A likely problem.
    Warn,
    /// A failure.
    Error,
}

/// What a script asks to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This virtual user's iteration: go on with the next one.
    NextIteration,
    /// This virtual user.
    Thread,
    /// The whole test, after requests under way.
    Test,
    /// The whole test, at once.
    TestNow,
    /// The innermost loop goes on with its next pass.
    NextLoop,
    /// The innermost loop ends.
    BreakLoop,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// `http` or `https`.
    Protocol,
    /// Host name.
    Domain,
    /// Port as digits; empty or `0` for the protocol's default.
    Port,
    /// Path, with the query if it was written there.
    Path,
    /// HTTP method.
    Method,
    /// The sampler's name.
    Name,
    /// Content encoding, such as `UTF-8`.
    Encoding,
}

/// A header or a cookie-like pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// An argument of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// Name; empty for parts of a raw body.
    pub name: String,
    /// Value, not encoded.
    pub value: String,
    /// Whether name and value still have to be URL-encoded.
    pub encode: bool,
}

/// A cookie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// The domain that it is sent to.
    pub domain: String,
    /// The path that it is sent to, with all below.
    pub path: String,
    /// It is sent over TLS only.
    pub is_secure: bool,
}

/// The request that is about to be sent, as pre-processors see and change it (and post-processors see it).
pub trait Request {
    /// A part; empty if it is not set.
    fn part(&self, part: UrlPart) -> Cow<'_, str>;
    /// Changes a part.
    fn set_part(&mut self, part: UrlPart, value: &str);
    /// The arguments, in order.
    fn arguments(&self) -> Vec<Argument> {
        Vec::new()
    }
    /// Replaces all arguments.
    fn set_arguments(&mut self, _arguments: Vec<Argument>) {}
    /// Whether arguments are parts of a raw body.
    fn raw_body(&self) -> bool {
        false
    }
    /// Sets whether arguments are parts of a raw body.
    fn set_raw_body(&mut self, _raw: bool) {}
    /// The headers of the header manager, in order.
    fn headers(&self) -> Vec<Header> {
        Vec::new()
    }
    /// Replaces all headers.
    fn set_headers(&mut self, _headers: Vec<Header>) {}
    /// A property of the `JMeter` element by its name, such as `HTTPSampler.path`.
    fn property(&self, _name: &str) -> Option<String> {
        None
    }
    /// Sets a property of the `JMeter` element.
    fn set_property(&mut self, _name: &str, _value: &str) {}
    /// The whole URL, with the query of GET arguments.
    fn url(&self) -> String {
        let part = |part| self.part(part);
        let port = part(UrlPart::Port);
        let port = if port.is_empty() || port == "0" { String::new() } else { format!(":{port}") };
        let protocol = part(UrlPart::Protocol);
        let protocol = if protocol.is_empty() { "http" } else { &protocol };
        let path = part(UrlPart::Path);
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("{protocol}://{}{port}{slash}{path}", part(UrlPart::Domain))
    }
}

/// The sample that the script looks at, or (in a script sampler) makes.
pub trait Sample {
    /// Label.
    fn label(&self) -> Cow<'_, str>;
    /// Changes the label.
    fn set_label(&mut self, _label: &str) {}
    /// Response code, such as `200`.
    fn code(&self) -> Cow<'_, str>;
    /// Changes the response code.
    fn set_code(&mut self, _code: &str) {}
    /// Response message, such as `OK`.
    fn message(&self) -> Cow<'_, str>;
    /// Changes the response message.
    fn set_message(&mut self, _message: &str) {}
    /// Response body, decoded.
    fn body(&self) -> Cow<'_, [u8]>;
    /// Response body as text; bytes that are not UTF-8 are replaced.
    fn body_text(&self) -> Cow<'_, str> {
        Cow::Owned(String::from_utf8_lossy(&self.body()).into_owned())
    }
    /// Changes the response body.
    fn set_body(&mut self, _body: &[u8]) {}
    /// Response headers as text, status line first.
    fn response_headers(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Changes the response headers.
    fn set_response_headers(&mut self, _headers: &str) {}
    /// Request headers as text.
    fn request_headers(&self) -> Cow<'_, str> {
        "".into()
    }
    /// The request with method, URL, body and cookies: `getSamplerData()`.
    fn sampler_data(&self) -> Cow<'_, str> {
        self.request_data()
    }
    /// The method of the request; empty if it is none.
    fn method(&self) -> Cow<'_, str> {
        "".into()
    }
    /// What was sent: method, URL, body.
    fn request_data(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Changes what is shown as sent.
    fn set_request_data(&mut self, _data: &str) {}
    /// URL of the request.
    fn url(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Content type of the response.
    fn content_type(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Thread name, as `JMeter` forms it.
    fn thread_name(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Elapsed time in ms.
    fn elapsed_ms(&self) -> i64 {
        self.end_ms() - self.start_ms()
    }
    /// Time to the first byte in ms.
    fn latency_ms(&self) -> i64 {
        0
    }
    /// Time to connect in ms.
    fn connect_ms(&self) -> i64 {
        0
    }
    /// Start, in ms since 1970.
    fn start_ms(&self) -> i64 {
        0
    }
    /// End, in ms since 1970.
    fn end_ms(&self) -> i64 {
        self.start_ms()
    }
    /// Changes start and end, both in ms since 1970.
    fn set_times_ms(&mut self, _start: i64, _end: i64) {}
    /// Bytes received, headers included.
    fn received_bytes(&self) -> i64 {
        self.body().len() as i64
    }
    /// Bytes sent.
    fn sent_bytes(&self) -> i64 {
        0
    }
    /// Whether the sample succeeded.
    fn success(&self) -> bool;
    /// Changes whether the sample succeeded.
    fn set_success(&mut self, _success: bool) {}
    /// Leaves the sample out of results.
    fn set_ignore(&mut self) {}
    /// Number of sub-samples, such as followed redirects.
    fn sub_samples(&self) -> usize {
        0
    }
    /// A sub-sample.
    fn sub_sample(&self, _index: usize) -> Option<&dyn Sample> {
        None
    }
    /// Messages of failed assertions so far.
    fn failure_messages(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a script can reach of the load test.
pub trait Host {
    /// A `JMeter` variable.
    fn variable(&self, name: &str) -> Option<Cow<'_, str>>;
    /// Sets a `JMeter` variable.
    fn set_variable(&mut self, name: &str, value: &str);
    /// Removes a `JMeter` variable.
    fn remove_variable(&mut self, name: &str);
    /// Names and values of all `JMeter` variables.
    fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// An object that `vars.putObject` stored for this virtual user.
    fn object(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Stores an object for this virtual user; `None` removes it.
    fn set_object(&mut self, _name: &str, _value: Option<Value>) {}
    /// A property, shared by all virtual users.
    fn property(&self, _name: &str) -> Option<Cow<'_, str>> {
        None
    }
    /// Sets a property; `None` removes it.
    fn set_property(&mut self, _name: &str, _value: Option<&str>) {}
    /// Names and values of all properties.
    fn properties(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// The sample that the script looks at: the previous one, or in a script sampler its own.
    fn sample(&self) -> Option<&dyn Sample> {
        None
    }
    /// The same, to be changed.
    fn sample_mut(&mut self) -> Option<&mut dyn Sample> {
        None
    }
    /// The sample before, where the script makes a sample of its own and [`makes_sample`](Self::makes_sample) says so.
    fn previous(&self) -> Option<&dyn Sample> {
        None
    }
    /// Whether [`sample`](Self::sample) is one that the script makes.
    fn makes_sample(&self) -> bool {
        false
    }
    /// The sampler's request.
    fn request(&self) -> Option<&dyn Request> {
        None
    }
    /// The same, to be changed.
    fn request_mut(&mut self) -> Option<&mut dyn Request> {
        None
    }
    /// Whether the assertion that the script is has failed.
    fn failure(&self) -> bool {
        false
    }
    /// Sets whether the assertion has failed.
    fn set_failure(&mut self, _failed: bool) {}
    /// The assertion's failure message.
    fn failure_message(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Sets the assertion's failure message.
    fn set_failure_message(&mut self, _message: &str) {}
    /// Name of the element that the script belongs to: `Label`.
    fn label(&self) -> Cow<'_, str> {
        "".into()
    }
    /// The element's parameters, one string: `Parameters`; split at spaces: `args`.
    fn parameters(&self) -> Cow<'_, str> {
        "".into()
    }
    /// File that the script came from: `FileName`.
    fn file_name(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Number of the virtual user in its group, from 1.
    fn thread_number(&self) -> u32 {
        1
    }
    /// Name of the virtual user.
    fn thread_name(&self) -> Cow<'_, str> {
        "Thread Group 1-1".into()
    }
    /// Name of the thread group.
    fn group_name(&self) -> Cow<'_, str> {
        "Thread Group".into()
    }
    /// Number of virtual users of the group.
    fn group_threads(&self) -> u32 {
        1
    }
    /// Iteration of the virtual user, from 1.
    fn iteration(&self) -> u64 {
        1
    }
    /// Name of this machine.
    fn host_name(&self) -> Cow<'_, str> {
        "localhost".into()
    }
    /// A Java system property, such as `user.dir`; `None` if it is unknown.
    fn system_property(&self, _name: &str) -> Option<String> {
        None
    }
    /// An environment variable.
    fn environment(&self, _name: &str) -> Option<String> {
        None
    }
    /// Writes a log line.
    fn log(&mut self, level: LogLevel, text: &str);
    /// Whether lines of this level are kept.
    fn log_enabled(&self, level: LogLevel) -> bool {
        level >= LogLevel::Info
    }
    /// Asks for an end; the host obeys after the script.
    fn stop(&mut self, _what: Stop) {}
    /// Pauses the virtual user for so many ms; the host may do so at once or after the script.
    fn pause(&mut self, _milliseconds: u64) {}
    /// Time in ms since 1970.
    fn now_millis(&self) -> i64;
    /// Time in ns since some fixed instant.
    fn nano_time(&self) -> i64 {
        self.now_millis().saturating_mul(1_000_000)
    }
    /// A random number, all 64 bits.
    fn random(&mut self) -> u64;
    /// Offset from UTC in seconds of a time zone such as `Europe/Berlin` at a time in ms since 1970. `None`: unknown zone.
    fn zone_offset(&self, _zone: &str, _millis: i64) -> Option<i32> {
        None
    }
    /// Name of the default time zone.
    fn default_zone(&self) -> Cow<'_, str> {
        "UTC".into()
    }
    /// Directory of the plan: `FileServer.getFileServer().getBaseDir()`.
    fn base_directory(&self) -> Cow<'_, str> {
        ".".into()
    }
    /// Name of the plan's file: `FileServer.getFileServer().getScriptName()`.
    fn plan_file(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Reads a whole file.
    ///
    /// # Errors
    ///
    /// What to tell the script's author, if the file cannot be read or may not be.
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("{path}: scripts may not read files here"))
    }
    /// Writes to the end of a file, or replaces it if `truncate`.
    ///
    /// # Errors
    ///
    /// What to tell the script's author, if the file cannot be written or may not be.
    fn append_file(&mut self, path: &str, _bytes: &[u8], _truncate: bool) -> Result<(), String> {
        Err(format!("{path}: scripts may not write files here"))
    }
    /// Whether a file or directory is there; `None` if it may not be asked.
    fn file_exists(&mut self, path: &str) -> bool {
        self.read_file(path).is_ok()
    }
    /// Deletes a file; `false` if it is not there.
    ///
    /// # Errors
    ///
    /// What to tell the script's author, if the file may not be deleted.
    fn delete_file(&mut self, path: &str) -> Result<bool, String> {
        Err(format!("{path}: scripts may not delete files here"))
    }
    /// Makes a directory and those above it; `false` if it is there.
    ///
    /// # Errors
    ///
    /// What to tell the script's author, if it may not be made.
    fn make_directory(&mut self, path: &str) -> Result<bool, String> {
        Err(format!("{path}: scripts may not make directories here"))
    }
    /// The names in a directory, in order; `None` if it is none, or may not be listed.
    fn list_directory(&mut self, _path: &str) -> Option<Vec<String>> {
        None
    }
    /// What a `JSONPath` finds in JSON, as JSON: a list where the path may find several values; `None`: nothing.
    ///
    /// # Errors
    ///
    /// The path is none, or the host has no such paths.
    fn json_path(&self, _json: &str, _path: &str) -> Result<Option<String>, String> {
        Err("JSONPath is not available to scripts here".into())
    }
    /// Starts a process and returns what it printed.
    ///
    /// # Errors
    ///
    /// What to tell the script's author; by default that processes are not allowed.
    fn exec(&mut self, command: &[String]) -> Result<String, String> {
        let name = command.first().map_or("", String::as_str);
        Err(format!("`{name}`: scripts may not start processes unless --allow-exec is given"))
    }
    /// The cookies of this virtual user.
    fn cookies(&self) -> Vec<Cookie> {
        Vec::new()
    }
    /// Adds a cookie, or takes it in place of that of its name, domain and path.
    fn add_cookie(&mut self, _cookie: &Cookie) {}
    /// Removes the cookie of this name, domain and path.
    fn remove_cookie(&mut self, _cookie: &Cookie) {}
    /// Removes all cookies.
    fn clear_cookies(&mut self) {}
}
