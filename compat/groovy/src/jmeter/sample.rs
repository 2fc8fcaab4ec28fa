//! The objects `prev` and `SampleResult`.

use super::result::FailedAssertion;
use crate::classes::charset::Charset;
use crate::classes::{bytes_of, net};
use crate::error::Eval;
use crate::host::{Sample, Stop};
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;

/// The current sample, or one of its sub-samples.
pub(super) struct Result {
    /// True for the sample before the one that the script makes.
    is_previous: bool,
    /// Indices of nested sub-samples, outermost first; empty for the sample itself.
    path: Vec<usize>,
}

/// `new SampleResult()`. It stores its fields, but no report lists it.
struct DetachedResult(RefCell<HashMap<String, Value>>);

pub(super) fn make(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(DetachedResult(RefCell::default())))
}

impl DetachedResult {
    fn field(&self, name: &str) -> Option<Value> {
        self.0.borrow().get(name).cloned()
    }
}

/// Field of an accessor with a prefix such as `get`.
fn field_name<'n>(accessor: &'n str, prefix: &str) -> Option<&'n str> {
    accessor.strip_prefix(prefix).filter(|field| field.starts_with(char::is_uppercase))
}

impl Native for DetachedResult {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.samplers.SampleResult"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        vm.alloc(64)?;
        if let (Some(field), Some(value)) = (field_name(name, "set"), arguments.first()) {
            self.0.borrow_mut().insert(field.to_owned(), value.clone());
            return Ok(Some(Value::Null));
        }
        Ok(match name {
            "getResponseDataAsString" => {
                Some(self.field("ResponseData").unwrap_or_else(|| Value::str("")))
            }
            "sampleStart" | "sampleEnd" | "addSubResult" | "storeSubResult"
            | "addAssertionResult" => Some(Value::Null),
            _ => field_name(name, "get")
                .or_else(|| field_name(name, "is"))
                .and_then(|field| self.field(field)),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `prev`: the sample before the one that the script makes; in other scripts the current sample.
pub(super) fn previous(vm: &Vm) -> Value {
    let is_previous = vm.host.makes_sample();
    let sample = if is_previous { vm.host.previous() } else { vm.host.sample() };
    sample.map_or(Value::Null, |_| Value::native(Result { is_previous, path: Vec::new() }))
}

impl Result {
    pub fn main() -> Self {
        Self { is_previous: false, path: Vec::new() }
    }

    /// Mutable access to the sample; None for the previous sample, which cannot be changed.
    fn sample_mut<'v>(&self, vm: &'v mut Vm<'_>) -> Option<&'v mut dyn Sample> {
        if self.is_previous { None } else { vm.host.sample_mut() }
    }

    /// Calls a function with the sample; None if it does not exist.
    fn read<T>(&self, vm: &Vm, read: impl FnOnce(&dyn Sample) -> T) -> Option<T> {
        let mut sample = if self.is_previous { vm.host.previous()? } else { vm.host.sample()? };
        for place in &self.path {
            sample = sample.sub_sample(*place)?;
        }
        Some(read(sample))
    }

    fn text(&self, vm: &mut Vm, read: impl FnOnce(&dyn Sample) -> String) -> Eval<Value> {
        let text = self.read(vm, read).unwrap_or_default();
        vm.string(text)
    }

    fn number(&self, vm: &Vm, read: impl FnOnce(&dyn Sample) -> i64) -> Value {
        Value::Long(self.read(vm, read).unwrap_or_default())
    }

    fn getter(&self, vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getResponseDataAsString" | "getDataAsString" => {
                self.text(vm, |one| one.body_text().into_owned())?
            }
            "getResponseData" => {
                let body = self.read(vm, |one| one.body().into_owned()).unwrap_or_default();
                vm.alloc(body.len())?;
                Value::bytes(body)
            }
            "getResponseCode" => self.text(vm, |one| one.code().into_owned())?,
            "getResponseMessage" => self.text(vm, |one| one.message().into_owned())?,
            "getResponseHeaders" => self.text(vm, |one| one.response_headers().into_owned())?,
            "getRequestHeaders" => self.text(vm, |one| one.request_headers().into_owned())?,
            "getSamplerData" => self.text(vm, |one| one.sampler_data().into_owned())?,
            "getQueryString" => self.text(vm, |one| one.request_data().into_owned())?,
            "getSampleLabel" => self.text(vm, |one| one.label().into_owned())?,
            "getUrlAsString" => self.text(vm, |one| one.url().into_owned())?,
            "getURL" => {
                let url = self.read(vm, |one| one.url().into_owned()).unwrap_or_default();
                if url.is_empty() {
                    Value::Null
                } else {
                    net::make_url(vm, "java.net.URL", &[Value::from(url)])?
                }
            }
            "getContentType" => self.text(vm, |one| one.content_type().into_owned())?,
            "getMediaType" => {
                self.text(vm, |one| one.content_type().split(';').next().unwrap_or("").to_owned())?
            }
            "getThreadName" => self.text(vm, |one| one.thread_name().into_owned())?,
            "isSuccessful" | "isResponseCodeOK" | "getSuccessful" => {
                Value::Bool(self.read(vm, |one| one.success()).unwrap_or(false))
            }
            "getTime" | "getElapsedTime" => self.number(vm, |one| one.elapsed_ms()),
            "getLatency" => self.number(vm, |one| one.latency_ms()),
            "getConnectTime" => self.number(vm, |one| one.connect_ms()),
            "getStartTime" | "getTimeStamp" => self.number(vm, |one| one.start_ms()),
            "getEndTime" => self.number(vm, |one| one.end_ms()),
            "getBytesAsLong" | "getBytes" => self.number(vm, |one| one.received_bytes()),
            "getBodySizeAsLong" | "getBodySize" => self.number(vm, |one| one.body().len() as i64),
            "getHeadersSize" => {
                Value::Int(self.read(vm, |one| one.response_headers().len() as i32).unwrap_or(0))
            }
            "getSentBytes" => self.number(vm, |one| one.sent_bytes()),
            _ => return self.more_methods(vm, name),
        }))
    }

    fn more_methods(&self, vm: &mut Vm, name: &str) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getErrorCount" => {
                Value::Int(i32::from(!self.read(vm, |one| one.success()).unwrap_or(true)))
            }
            "getSampleCount" => Value::Int(1),
            "getIdleTime" => Value::Long(0),
            "getDataEncodingWithDefault" | "getDataEncodingNoDefault" | "getDataEncoding" => {
                Value::str("UTF-8")
            }
            "getDataType" => Value::str("text"),
            // The host does not count active users.
            "getGroupThreads" | "getAllThreads" => {
                Value::Int(i32::try_from(vm.host.group_threads()).unwrap_or(i32::MAX))
            }
            "getSubResults" => {
                let count = self.read(vm, |one| one.sub_samples()).unwrap_or(0);
                let sub_results = (0..count).map(|place| {
                    let mut path = self.path.clone();
                    path.push(place);
                    Value::native(Self { is_previous: self.is_previous, path })
                });
                Value::array(sub_results.collect())
            }
            "getAssertionResults" => {
                let messages = self.read(vm, |one| one.failure_messages()).unwrap_or_default();
                Value::array(
                    messages
                        .into_iter()
                        .map(|message| Value::native(FailedAssertion(message)))
                        .collect(),
                )
            }
            "getFirstAssertionFailureMessage" => {
                let messages = self.read(vm, |one| one.failure_messages()).unwrap_or_default();
                Value::optional(messages.first())
            }
            "getHTTPMethod" => self.text(vm, |one| one.method().into_owned())?,
            "getCookies" => self.text(vm, |one| cookie_header(&one.request_headers()))?,
            "getRedirectLocation" => {
                self.text(vm, |one| header(&one.response_headers(), "location"))?
            }
            "isStopThread" | "isStopTest" | "isStopTestNow" | "isIgnore" | "isBinaryType" => {
                Value::Bool(false)
            }
            "getParent" => {
                if self.path.is_empty() {
                    Value::Null
                } else {
                    Value::native(Self {
                        is_previous: self.is_previous,
                        path: self.path[..self.path.len() - 1].to_vec(),
                    })
                }
            }
            "setIgnore" => {
                if let Some(sample) = self.sample_mut(vm) {
                    sample.set_ignore();
                }
                Value::Null
            }
            "sampleStart" | "sampleEnd" | "latencyEnd" | "connectEnd" | "samplePause"
            | "sampleResume" => {
                let now = vm.host.now_millis();
                if let Some(sample) = self.sample_mut(vm) {
                    let start = sample.start_ms();
                    match name {
                        "sampleStart" => sample.set_times_ms(now, now),
                        "sampleEnd" => sample.set_times_ms(start, now),
                        _ => {}
                    }
                }
                Value::Null
            }
            "setResponseOK" | "setResponseCodeOK" | "setResponseMessageOK" => {
                if let Some(sample) = self.sample_mut(vm) {
                    if name != "setResponseMessageOK" {
                        sample.set_code("200");
                    }
                    if name != "setResponseCodeOK" {
                        sample.set_message("OK");
                    }
                    if name == "setResponseOK" {
                        sample.set_success(true);
                    }
                }
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    fn setter(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        let Some(value) = arguments.first() else { return Ok(None) };
        // After the script, JMeter's BeanShell Sampler overwrites these with the variables
        // IsSuccess, ResponseCode and ResponseMessage.
        let is_overwritten =
            matches!(name, "setSuccessful" | "setResponseCode" | "setResponseMessage");
        if is_overwritten
            && vm.host.makes_sample()
            && vm.dialect == crate::script::Dialect::BeanShell
        {
            return Ok(Some(Value::Null));
        }
        match name {
            "setStopThread" | "setStopTest" | "setStopTestNow" | "setStartNextThreadLoop" => {
                let scope = match name {
                    "setStopThread" => Stop::Thread,
                    "setStopTest" => Stop::Test,
                    "setStopTestNow" => Stop::TestNow,
                    _ => Stop::NextIteration,
                };
                if vm.truth(value)? {
                    vm.host.stop(scope);
                }
                return Ok(Some(Value::Null));
            }
            "setTestLogicalAction" => {
                let text = vm.text(value)?;
                super::context::logical_action(vm, &text);
                return Ok(Some(Value::Null));
            }
            _ => {}
        }
        let body = match (name, value) {
            ("setResponseData", Value::Str(text)) => match arguments.get(1) {
                Some(charset @ Value::Str(_)) => Charset::of(vm, charset)?.encode(text),
                _ => text.as_bytes().to_vec(),
            },
            ("setResponseData", other) => bytes_of(vm, other)?,
            _ => Vec::new(),
        };
        // These need the interpreter, which the sample borrows below.
        let text = vm.text(value)?;
        let truth = vm.truth(value)?;
        let number = vm.to_long(value).unwrap_or(0);
        let second = arguments.get(1).map(|value| vm.to_long(value)).transpose().unwrap_or(None);
        let now = vm.host.now_millis();
        let Some(sample) = self.sample_mut(vm) else { return Ok(Some(Value::Null)) };
        match name {
            "setResponseData" => sample.set_body(&body),
            "setSuccessful" | "setSuccess" => sample.set_success(truth),
            "setResponseCode" => sample.set_code(&text),
            "setResponseMessage" => sample.set_message(&text),
            "setSampleLabel" => sample.set_label(&text),
            "setResponseHeaders" => sample.set_response_headers(&text),
            "setSamplerData" | "setRequestHeaders" => sample.set_request_data(&text),
            "setStartTime" => {
                // A start after the end would make the elapsed time negative.
                let end = sample.end_ms().max(number);
                sample.set_times_ms(number, end);
            }
            "setEndTime" => {
                let start = sample.start_ms();
                sample.set_times_ms(start, number);
            }
            "setStampAndTime" => {
                sample.set_times_ms(number, number.saturating_add(second.unwrap_or(0)));
            }
            "setTime" => sample.set_times_ms(now.saturating_sub(number), now),
            "setIgnore" => sample.set_ignore(),
            "setLatency" | "setConnectTime" | "setIdleTime" | "setBytes" | "setSentBytes"
            | "setDataType" | "setDataEncoding" | "setContentType" | "setEncodingAndType"
            | "setThreadName" | "setSampleCount" | "setErrorCount" | "setURL"
            | "addAssertionResult" | "addSubResult" | "addRawSubResult" | "storeSubResult"
            | "setParent" | "setHTTPMethod" | "setBodySize" | "setHeadersSize"
            | "setQueryString" | "setCookies" | "setGroupThreads" | "setAllThreads" => {}
            _ => return Ok(None),
        }
        Ok(Some(Value::Null))
    }
}

/// Value of a field in a block of headers; empty if it is absent.
fn header(headers: &str, name: &str) -> String {
    let value = headers
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(field, _)| field.trim().eq_ignore_ascii_case(name));
    value.map_or_else(String::new, |(_, value)| value.trim().to_owned())
}

fn cookie_header(headers: &str) -> String {
    header(headers, "cookie")
}

impl Native for Result {
    fn class_name(&self) -> &'static str {
        "org.apache.jmeter.protocol.http.sampler.HTTPSampleResult"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        match arguments {
            [] => self.getter(vm, name),
            // JMeter's overload takes a flag that adds the name of the thread group.
            [_] if name == "getSampleLabel" => self.getter(vm, name),
            [pattern] if name == "setTestLogicalAction" => {
                self.setter(vm, name, std::slice::from_ref(pattern))
            }
            _ => self.setter(vm, name, arguments),
        }
    }

    fn text(&self, vm: &mut Vm) -> Eval<Option<String>> {
        Ok(self.read(vm, |one| one.label().into_owned()))
    }

    fn identity(&self) -> Option<Value> {
        Some(Value::list(self.path.iter().map(|place| Value::count(*place)).collect()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
