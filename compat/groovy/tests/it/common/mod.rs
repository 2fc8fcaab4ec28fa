//! A small load test in memory, for scripts to run in.
#![allow(missing_docs)]

use brunt_groovy::{
    Argument, Budget, Dialect, Header, Host, LogLevel, Request, RunError, Sample, Script, Stop,
    UrlPart, Value,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct TestSample {
    pub label: String,
    pub code: String,
    pub message: String,
    pub body: Vec<u8>,
    pub success: bool,
    pub ignored: bool,
    pub subs: Vec<TestSample>,
}

impl Sample for TestSample {
    fn label(&self) -> Cow<'_, str> {
        (&self.label).into()
    }
    fn set_label(&mut self, label: &str) {
        label.clone_into(&mut self.label);
    }
    fn code(&self) -> Cow<'_, str> {
        (&self.code).into()
    }
    fn set_code(&mut self, code: &str) {
        code.clone_into(&mut self.code);
    }
    fn message(&self) -> Cow<'_, str> {
        (&self.message).into()
    }
    fn set_message(&mut self, message: &str) {
        message.clone_into(&mut self.message);
    }
    fn body(&self) -> Cow<'_, [u8]> {
        (&self.body[..]).into()
    }
    fn set_body(&mut self, body: &[u8]) {
        self.body = body.to_vec();
    }
    fn response_headers(&self) -> Cow<'_, str> {
        "HTTP/1.1 200 OK\nContent-Type: application/json\nLocation: /next?code=42\n".into()
    }
    fn request_headers(&self) -> Cow<'_, str> {
        "Accept: */*\n".into()
    }
    fn request_data(&self) -> Cow<'_, str> {
        "GET http://localhost:8080/items?x=1\n".into()
    }
    fn url(&self) -> Cow<'_, str> {
        "http://localhost:8080/items?x=1".into()
    }
    fn thread_name(&self) -> Cow<'_, str> {
        "Shoppers 1-3".into()
    }
    fn start_ms(&self) -> i64 {
        1_700_000_000_000
    }
    fn end_ms(&self) -> i64 {
        1_700_000_000_120
    }
    fn latency_ms(&self) -> i64 {
        80
    }
    fn success(&self) -> bool {
        self.success
    }
    fn set_success(&mut self, success: bool) {
        self.success = success;
    }
    fn set_ignore(&mut self) {
        self.ignored = true;
    }
    fn sub_samples(&self) -> usize {
        self.subs.len()
    }
    fn sub_sample(&self, index: usize) -> Option<&dyn Sample> {
        self.subs.get(index).map(|sub| -> &dyn Sample { sub })
    }
}

#[derive(Default)]
pub struct TestRequest {
    pub parts: BTreeMap<String, String>,
    pub arguments: Vec<Argument>,
    pub headers: Vec<Header>,
    pub raw: bool,
}

impl Request for TestRequest {
    fn part(&self, part: UrlPart) -> Cow<'_, str> {
        self.parts.get(&format!("{part:?}")).map_or("", String::as_str).into()
    }
    fn set_part(&mut self, part: UrlPart, value: &str) {
        self.parts.insert(format!("{part:?}"), value.to_owned());
    }
    fn arguments(&self) -> Vec<Argument> {
        self.arguments.clone()
    }
    fn set_arguments(&mut self, arguments: Vec<Argument>) {
        self.arguments = arguments;
    }
    fn raw_body(&self) -> bool {
        self.raw
    }
    fn set_raw_body(&mut self, raw: bool) {
        self.raw = raw;
    }
    fn headers(&self) -> Vec<Header> {
        self.headers.clone()
    }
    fn set_headers(&mut self, headers: Vec<Header>) {
        self.headers = headers;
    }
}

pub struct TestHost {
    pub variables: BTreeMap<String, String>,
    pub objects: BTreeMap<String, Value>,
    pub properties: BTreeMap<String, String>,
    pub files: BTreeMap<String, Vec<u8>>,
    pub directories: std::collections::BTreeSet<String>,
    pub logs: Vec<(LogLevel, String)>,
    pub stops: Vec<Stop>,
    pub paused: u64,
    pub failure: bool,
    pub failure_message: String,
    pub sample: TestSample,
    pub request: TestRequest,
    pub seed: u64,
}

impl Default for TestHost {
    fn default() -> Self {
        let sample = TestSample {
            label: "items".to_owned(),
            code: "200".to_owned(),
            message: "OK".to_owned(),
            body: br#"{"id": 7, "items": [{"name": "a", "price": 1.50}, {"name": "b", "price": 2}], "ok": true}"#
                .to_vec(),
            success: true,
            ..TestSample::default()
        };
        let mut request = TestRequest::default();
        for (part, value) in [
            ("Protocol", "http"),
            ("Domain", "localhost"),
            ("Port", "8080"),
            ("Path", "/items"),
            ("Method", "GET"),
            ("Name", "items"),
        ] {
            request.parts.insert(part.to_owned(), value.to_owned());
        }
        Self {
            variables: BTreeMap::new(),
            objects: BTreeMap::new(),
            properties: BTreeMap::new(),
            files: BTreeMap::new(),
            directories: std::collections::BTreeSet::new(),
            logs: Vec::new(),
            stops: Vec::new(),
            paused: 0,
            failure: false,
            failure_message: String::new(),
            sample,
            request,
            seed: 1,
        }
    }
}

impl Host for TestHost {
    fn variable(&self, name: &str) -> Option<Cow<'_, str>> {
        self.variables.get(name).map(Into::into)
    }
    fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }
    fn remove_variable(&mut self, name: &str) {
        self.variables.remove(name);
    }
    fn variables(&self) -> Vec<(String, String)> {
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
    fn object(&self, name: &str) -> Option<Value> {
        self.objects.get(name).cloned()
    }
    fn set_object(&mut self, name: &str, value: Option<Value>) {
        match value {
            Some(value) => self.objects.insert(name.to_owned(), value),
            None => self.objects.remove(name),
        };
    }
    fn property(&self, name: &str) -> Option<Cow<'_, str>> {
        self.properties.get(name).map(Into::into)
    }
    fn set_property(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.properties.insert(name.to_owned(), value.to_owned()),
            None => self.properties.remove(name),
        };
    }
    fn sample(&self) -> Option<&dyn Sample> {
        Some(&self.sample)
    }
    fn sample_mut(&mut self) -> Option<&mut dyn Sample> {
        Some(&mut self.sample)
    }
    fn request(&self) -> Option<&dyn Request> {
        Some(&self.request)
    }
    fn request_mut(&mut self) -> Option<&mut dyn Request> {
        Some(&mut self.request)
    }
    fn failure(&self) -> bool {
        self.failure
    }
    fn set_failure(&mut self, failed: bool) {
        self.failure = failed;
    }
    fn failure_message(&self) -> Cow<'_, str> {
        (&self.failure_message).into()
    }
    fn set_failure_message(&mut self, message: &str) {
        message.clone_into(&mut self.failure_message);
    }
    fn parameters(&self) -> Cow<'_, str> {
        "one two".into()
    }
    fn label(&self) -> Cow<'_, str> {
        "script".into()
    }
    fn thread_number(&self) -> u32 {
        3
    }
    fn group_name(&self) -> Cow<'_, str> {
        "Shoppers".into()
    }
    fn group_threads(&self) -> u32 {
        10
    }
    fn iteration(&self) -> u64 {
        4
    }
    fn log(&mut self, level: LogLevel, text: &str) {
        self.logs.push((level, text.to_owned()));
    }
    fn stop(&mut self, what: Stop) {
        self.stops.push(what);
    }
    fn pause(&mut self, milliseconds: u64) {
        self.paused += milliseconds;
    }
    fn now_millis(&self) -> i64 {
        1_700_000_000_000
    }
    fn random(&mut self) -> u64 {
        // splitmix64
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.files.get(path).cloned().ok_or_else(|| format!("{path} (No such file or directory)"))
    }
    fn append_file(&mut self, path: &str, bytes: &[u8], truncate: bool) -> Result<(), String> {
        let file = self.files.entry(path.to_owned()).or_default();
        if truncate {
            file.clear();
        }
        file.extend_from_slice(bytes);
        Ok(())
    }
    fn make_directory(&mut self, path: &str) -> Result<bool, String> {
        Ok(self.directories.insert(path.to_owned()))
    }
    fn list_directory(&mut self, path: &str) -> Option<Vec<String>> {
        let below = |file: &String| file.strip_prefix(path)?.strip_prefix('/').map(str::to_owned);
        self.directories.contains(path).then(|| self.files.keys().filter_map(below).collect())
    }
    fn delete_file(&mut self, path: &str) -> Result<bool, String> {
        Ok(self.files.remove(path).is_some())
    }
    fn base_directory(&self) -> Cow<'_, str> {
        "/plans".into()
    }
}

/// Runs a script in a host.
pub fn run_in(host: &mut TestHost, source: &str, dialect: Dialect) -> Result<Value, RunError> {
    let script = Script::parse(source, dialect).unwrap_or_else(|error| panic!("{error}\n{source}"));
    script.run(host, &mut Budget::default())
}

/// What a Groovy script gives, as text.
pub fn groovy(source: &str) -> String {
    shown(source, Dialect::Groovy)
}

/// What a `BeanShell` script gives, as text.
pub fn beanshell(source: &str) -> String {
    shown(source, Dialect::BeanShell)
}

fn shown(source: &str, dialect: Dialect) -> String {
    let mut host = TestHost::default();
    // The last value is turned into text by the script itself.
    let wrapped = format!("def __value() {{ {source}\n }}\nString.valueOf(__value())");
    let wrapped = if dialect == Dialect::BeanShell {
        format!("Object __value() {{ {source}\n }}\nreturn String.valueOf(__value());")
    } else {
        wrapped
    };
    match run_in(&mut host, &wrapped, dialect) {
        Ok(value) => value.to_text().unwrap_or_default(),
        Err(error) => panic!("{error}\n{source}"),
    }
}

/// The class and message of what a Groovy script throws.
pub fn thrown(source: &str) -> String {
    match run_in(&mut TestHost::default(), source, Dialect::Groovy) {
        Ok(value) => panic!("{value:?} was returned by {source}"),
        Err(RunError::Thrown { class, message, .. }) => format!("{class}: {message}"),
        Err(other) => other.to_string(),
    }
}
