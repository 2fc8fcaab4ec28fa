//! Interface between scripts and the load test.
//!
//! The load generator implements it. Most methods have a default, so a minimal host stays small.

use crate::value::Value;
use std::borrow::Cow;

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Level of `log.trace`: the finest detail.
    Trace,
    /// Level of `log.debug`: detail for debugging.
    Debug,
    /// Level of `log.info`, and of the output of `println` and `OUT`.
    Info,
    /// Level of `log.warn`: a likely problem.
    Warn,
    /// Level of `log.error`: a failure.
    Error,
}

/// Scope that a script asks to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The current iteration of this virtual user; the next one starts.
    NextIteration,
    /// This virtual user; the others continue.
    Thread,
    /// The whole test, after active requests finish.
    Test,
    /// The whole test, immediately.
    TestNow,
    /// The current round of the innermost loop; the next one starts.
    NextLoop,
    /// The innermost loop, with all its rounds.
    BreakLoop,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPart {
    /// `http` or `https`.
    Protocol,
    /// Host name or IP address.
    Domain,
    /// Port as digits; empty or `0` for the protocol's default.
    Port,
    /// Path, with its query if the plan has it there.
    Path,
    /// HTTP method, such as `GET`.
    Method,
    /// Name of the sampler.
    Name,
    /// Content encoding, such as `UTF-8`.
    Encoding,
}

/// A header field of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Name of the header field.
    pub name: String,
    /// Value of the header field.
    pub value: String,
}

/// An argument of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// Name; empty for parts of a raw body.
    pub name: String,
    /// Value before URL encoding.
    pub value: String,
    /// True if name and value must still be URL-encoded.
    pub encode: bool,
}

/// A cookie of the virtual user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    /// Name of the cookie.
    pub name: String,
    /// Value of the cookie.
    pub value: String,
    /// Domain to which it is sent.
    pub domain: String,
    /// Path to which it is sent, including subpaths.
    pub path: String,
    /// True if it is sent only over TLS.
    pub is_secure: bool,
}

/// The next request. Pre-processors read and change it; post-processors only read it.
pub trait Request {
    /// Returns a part; empty if it is not set.
    fn part(&self, part: UrlPart) -> Cow<'_, str>;
    /// Changes a part of the request.
    fn set_part(&mut self, part: UrlPart, value: &str);
    /// Returns the arguments, in order.
    fn arguments(&self) -> Vec<Argument> {
        Vec::new()
    }
    /// Replaces all arguments of the request.
    fn set_arguments(&mut self, _arguments: Vec<Argument>) {}
    /// True if the arguments are parts of a raw body.
    fn raw_body(&self) -> bool {
        false
    }
    /// Sets whether the arguments are parts of a raw body.
    fn set_raw_body(&mut self, _raw: bool) {}
    /// Returns the fields of the header manager, in order.
    fn headers(&self) -> Vec<Header> {
        Vec::new()
    }
    /// Replaces all fields of the header manager.
    fn set_headers(&mut self, _headers: Vec<Header>) {}
    /// Returns a property of the `JMeter` element by name, such as `HTTPSampler.path`.
    fn property(&self, _name: &str) -> Option<String> {
        None
    }
    /// Sets a property of the `JMeter` element.
    fn set_property(&mut self, _name: &str, _value: &str) {}
    /// Returns the whole URL, with the query of GET arguments.
    fn url(&self) -> String {
        let port = self.part(UrlPart::Port);
        let port = if port.is_empty() || port == "0" { String::new() } else { format!(":{port}") };
        let protocol = self.part(UrlPart::Protocol);
        let protocol = if protocol.is_empty() { "http" } else { &protocol };
        let path = self.part(UrlPart::Path);
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("{protocol}://{}{port}{slash}{path}", self.part(UrlPart::Domain))
    }
}

/// The sample that the script reads, or makes if it is a script sampler.
pub trait Sample {
    /// Label of the sample.
    fn label(&self) -> Cow<'_, str>;
    /// Changes the label of the sample.
    fn set_label(&mut self, _label: &str) {}
    /// Response code, such as `200`.
    fn code(&self) -> Cow<'_, str>;
    /// Changes the response code.
    fn set_code(&mut self, _code: &str) {}
    /// Response message, such as `OK`.
    fn message(&self) -> Cow<'_, str>;
    /// Changes the response message.
    fn set_message(&mut self, _message: &str) {}
    /// Response body without its content encoding.
    fn body(&self) -> Cow<'_, [u8]>;
    /// Response body as text. Replaces bytes that are not UTF-8.
    fn body_text(&self) -> Cow<'_, str> {
        Cow::Owned(String::from_utf8_lossy(&self.body()).into_owned())
    }
    /// Changes the response body.
    fn set_body(&mut self, _body: &[u8]) {}
    /// Response headers as text, with the status line first.
    fn response_headers(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Changes the response headers.
    fn set_response_headers(&mut self, _headers: &str) {}
    /// Request headers as text.
    fn request_headers(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Method, URL, body and cookies of the request: `getSamplerData()`.
    fn sampler_data(&self) -> Cow<'_, str> {
        self.request_data()
    }
    /// Method of the request; empty if the sample has no request.
    fn method(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Method, URL and body that were sent.
    fn request_data(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Changes the data reported as sent.
    fn set_request_data(&mut self, _data: &str) {}
    /// URL of the request.
    fn url(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Content type of the response.
    fn content_type(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Thread name in `JMeter`'s format.
    fn thread_name(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Elapsed time in milliseconds.
    fn elapsed_ms(&self) -> i64 {
        self.end_ms() - self.start_ms()
    }
    /// Time to the first byte in milliseconds.
    fn latency_ms(&self) -> i64 {
        0
    }
    /// Time to connect in milliseconds.
    fn connect_ms(&self) -> i64 {
        0
    }
    /// Start in milliseconds since 1970.
    fn start_ms(&self) -> i64 {
        0
    }
    /// End in milliseconds since 1970.
    fn end_ms(&self) -> i64 {
        self.start_ms()
    }
    /// Changes start and end, both in milliseconds since 1970.
    fn set_times_ms(&mut self, _start: i64, _end: i64) {}
    /// Number of bytes received, including headers.
    fn received_bytes(&self) -> i64 {
        self.body().len() as i64
    }
    /// Number of bytes sent.
    fn sent_bytes(&self) -> i64 {
        0
    }
    /// True if the sample passed.
    fn success(&self) -> bool;
    /// Sets whether the sample passed.
    fn set_success(&mut self, _success: bool) {}
    /// Omits the sample from results.
    fn set_ignore(&mut self) {}
    /// Number of sub-samples, such as followed redirects.
    fn sub_samples(&self) -> usize {
        0
    }
    /// Returns a sub-sample by index.
    fn sub_sample(&self, _index: usize) -> Option<&dyn Sample> {
        None
    }
    /// Messages of the assertions that have failed so far.
    fn failure_messages(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Access of a script to the load test.
pub trait Host {
    /// Returns a `JMeter` variable.
    fn variable(&self, name: &str) -> Option<Cow<'_, str>>;
    /// Sets a `JMeter` variable.
    fn set_variable(&mut self, name: &str, value: &str);
    /// Removes a `JMeter` variable.
    fn remove_variable(&mut self, name: &str);
    /// Returns names and values of all `JMeter` variables.
    fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// Returns an object that `vars.putObject` stored for this virtual user.
    fn object(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Stores an object for this virtual user; `None` removes it.
    fn set_object(&mut self, _name: &str, _value: Option<Value>) {}
    /// Returns a property, which all virtual users share.
    fn property(&self, _name: &str) -> Option<Cow<'_, str>> {
        None
    }
    /// Sets a property; `None` removes it.
    fn set_property(&mut self, _name: &str, _value: Option<&str>) {}
    /// Returns names and values of all properties.
    fn properties(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// The previous sample; for a script sampler, its own sample.
    fn sample(&self) -> Option<&dyn Sample> {
        None
    }
    /// Mutable access to [`sample`](Self::sample).
    fn sample_mut(&mut self) -> Option<&mut dyn Sample> {
        None
    }
    /// The previous sample, if the script makes a sample ([`makes_sample`](Self::makes_sample)).
    fn previous(&self) -> Option<&dyn Sample> {
        None
    }
    /// True if the script itself makes [`sample`](Self::sample).
    fn makes_sample(&self) -> bool {
        false
    }
    /// Returns the sampler's request.
    fn request(&self) -> Option<&dyn Request> {
        None
    }
    /// Mutable access to [`request`](Self::request).
    fn request_mut(&mut self) -> Option<&mut dyn Request> {
        None
    }
    /// True if the script is an assertion that has failed.
    fn failure(&self) -> bool {
        false
    }
    /// Sets whether the assertion has failed.
    fn set_failure(&mut self, _failed: bool) {}
    /// Returns the failure message of the assertion.
    fn failure_message(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Sets the failure message of the assertion.
    fn set_failure_message(&mut self, _message: &str) {}
    /// Name of the script's element: `Label`.
    fn label(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Parameters of the element in one string: `Parameters`. Split at spaces they are `args`.
    fn parameters(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Path of the script file: `FileName`.
    fn file_name(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Number of the virtual user in its group, from 1.
    fn thread_number(&self) -> u32 {
        1
    }
    /// Name of the virtual user.
    fn thread_name(&self) -> Cow<'_, str> {
        // JMeter's format: name of the group, index of the group, number of the thread.
        "Thread Group 1-1".into()
    }
    /// Name of the thread group.
    fn group_name(&self) -> Cow<'_, str> {
        "Thread Group".into()
    }
    /// Number of virtual users in the group.
    fn group_threads(&self) -> u32 {
        1
    }
    /// Iteration of the virtual user, from 1.
    fn iteration(&self) -> u64 {
        1
    }
    /// Name of the local host.
    fn host_name(&self) -> Cow<'_, str> {
        "localhost".into()
    }
    /// Returns a Java system property, such as `user.dir`; `None` if it is unknown.
    fn system_property(&self, _name: &str) -> Option<String> {
        None
    }
    /// Returns an environment variable.
    fn environment(&self, _name: &str) -> Option<String> {
        None
    }
    /// Writes a log line.
    fn log(&mut self, level: LogLevel, text: &str);
    /// True if the log keeps lines of this level.
    fn log_enabled(&self, level: LogLevel) -> bool {
        level >= LogLevel::Info
    }
    /// Requests an end. The host carries it out after the script.
    fn stop(&mut self, _scope: Stop) {}
    /// Pauses the virtual user for a time in milliseconds, at once or after the script.
    fn pause(&mut self, _milliseconds: u64) {}
    /// Current time in milliseconds since 1970.
    fn now_millis(&self) -> i64;
    /// Time in nanoseconds since a fixed instant.
    fn nano_time(&self) -> i64 {
        self.now_millis().saturating_mul(1_000_000)
    }
    /// Returns 64 random bits.
    fn random(&mut self) -> u64;
    /// Offset from UTC in seconds of a time zone such as `Europe/Berlin`, at a time in milliseconds
    /// since 1970. `None` for an unknown zone.
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
    /// Name of the plan file: `FileServer.getFileServer().getScriptName()`.
    fn plan_file(&self) -> Cow<'_, str> {
        "".into()
    }
    /// Reads a whole file.
    ///
    /// # Errors
    ///
    /// Returns a message for the script's author if the file cannot be read or access is denied.
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("{path}: scripts may not read files here"))
    }
    /// Appends to a file, or replaces it if `truncate`.
    ///
    /// # Errors
    ///
    /// Returns a message for the script's author if the file cannot be written or access is denied.
    fn append_file(&mut self, path: &str, _bytes: &[u8], _truncate: bool) -> Result<(), String> {
        Err(format!("{path}: scripts may not write files here"))
    }
    /// True if a file or directory exists and is accessible.
    fn file_exists(&mut self, path: &str) -> bool {
        self.read_file(path).is_ok()
    }
    /// Deletes a file; `false` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns a message for the script's author if the file must not be deleted.
    fn delete_file(&mut self, path: &str) -> Result<bool, String> {
        Err(format!("{path}: scripts may not delete files here"))
    }
    /// Creates a directory and its parents; `false` if it exists.
    ///
    /// # Errors
    ///
    /// Returns a message for the script's author if access is denied.
    fn make_directory(&mut self, path: &str) -> Result<bool, String> {
        Err(format!("{path}: scripts may not make directories here"))
    }
    /// Names in a directory, in order; `None` if it is not a directory or access is denied.
    fn list_directory(&mut self, _path: &str) -> Option<Vec<String>> {
        None
    }
    /// Evaluates a `JSONPath`. Returns JSON: a list if the path may match several values;
    /// `None` without a match.
    ///
    /// # Errors
    ///
    /// Fails if the path is invalid, or the host does not support `JSONPath`.
    fn json_path(&self, _json: &str, _path: &str) -> Result<Option<String>, String> {
        Err("JSONPath is not available to scripts here".into())
    }
    /// Runs a process and returns its output.
    ///
    /// # Errors
    ///
    /// Returns a message for the script's author. By default, processes are not allowed.
    fn exec(&mut self, command: &[String]) -> Result<String, String> {
        let name = command.first().map_or("", String::as_str);
        Err(format!("`{name}`: scripts may not start processes unless --allow-exec is given"))
    }
    /// Returns the cookies of this virtual user.
    fn cookies(&self) -> Vec<Cookie> {
        Vec::new()
    }
    /// Adds a cookie, or replaces the one with its name, domain and path.
    fn add_cookie(&mut self, _cookie: &Cookie) {}
    /// Removes the cookie with this name, domain and path.
    fn remove_cookie(&mut self, _cookie: &Cookie) {}
    /// Removes all cookies of this virtual user.
    fn clear_cookies(&mut self) {}
}
