//! Reads records from XML result files, one at a time.

use super::columns::{blank, millis, read_data_type, read_message, read_success};
use super::settings::JtlSettings;
use crate::document::{decode, decode_attribute};
use crate::error::JmxError;
use brunt_model::{AssertionRecord, SampleRecord};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::io::{BufRead, BufReader, Read};

/// Maximum nesting of samples.
// The drop of nested samples is recursive.
const MAX_DEPTH: usize = 500;

/// A sample, or why it cannot be read.
type SampleResult = Result<SampleRecord, JmxError>;

/// Iterates over the samples of an XML file. A sample with an invalid value is an error with its
/// line. Malformed XML is such an error, too, and the last item.
#[derive(Debug)]
pub struct XmlReader<R> {
    reader: Reader<LineCounter<BufReader<R>>>,
    buffer: Vec<u8>,
    variables: Vec<String>,
    state: State,
    ended: bool,
}

/// Elements that are open at the current position.
#[derive(Debug, Default)]
struct State {
    /// Open samples, outermost first.
    samples: Vec<SampleRecord>,
    assertion: Option<AssertionRecord>,
    /// The innermost open element that is not a sample, and its encoded text.
    leaf: Option<(String, String)>,
    /// First invalid value of the outermost open sample, with its line.
    invalid: Option<JmxError>,
    /// Line of the current event.
    line: u32,
    opened: bool,
    closed: bool,
}

impl<R: Read> XmlReader<R> {
    /// Opens a file. `settings` has the names of the variables to read.
    pub fn new(input: R, settings: &JtlSettings) -> Self {
        let reader = Reader::from_reader(LineCounter { inner: BufReader::new(input), ends: 0 });
        let variables = settings.sample_variables.clone();
        Self { reader, buffer: Vec::new(), variables, state: State::default(), ended: false }
    }

    /// Reads to the end of an outermost sample, or of the file. The outer error ends the reading.
    fn sample(&mut self) -> Result<Option<SampleResult>, JmxError> {
        loop {
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer);
            let line = self.reader.get_ref().line();
            let event = event
                .map_err(|error| JmxError::on_line(line, format!("malformed XML: {error}")))?;
            if event == Event::Eof {
                return self.state.end(line);
            }
            self.state.line = line;
            let sample = self.state.handle(&event, &self.variables);
            if let Some(sample) = sample.map_err(|message| JmxError::on_line(line, message))? {
                return Ok(Some(sample));
            }
        }
    }
}

impl<R: Read> Iterator for XmlReader<R> {
    type Item = SampleResult;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.sample() {
            Ok(Some(sample)) => Some(sample),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}

impl State {
    /// Handles an event. Returns the sample at the end of an outermost one.
    fn handle(
        &mut self,
        event: &Event<'_>,
        variables: &[String],
    ) -> Result<Option<SampleResult>, String> {
        match event {
            Event::Start(tag) => self.start(tag, variables)?,
            Event::Empty(tag) => {
                self.start(tag, variables)?;
                return Ok(self.stop(tag.name().as_ref()));
            }
            Event::End(tag) => return Ok(self.stop(tag.name().as_ref())),
            Event::Text(text) => self.text(text),
            // The text of a leaf is decoded when it ends.
            Event::CData(text) => self.text(&crate::document::encode(text)),
            Event::GeneralRef(name) => self.text(&format!("&{};", &**name)),
            _ => {}
        }
        Ok(None)
    }

    fn start(&mut self, tag: &BytesStart<'_>, variables: &[String]) -> Result<(), String> {
        let name = tag.name();
        match name.as_ref() {
            "testResults" => self.opened = true,
            other if !self.opened => {
                return Err(format!(
                    "not a result file: the root element is `{other}`, expected `testResults`"
                ));
            }
            "sample" | "httpSample" | "statSample" => {
                if self.samples.len() >= MAX_DEPTH {
                    return Err(format!("samples are nested deeper than {MAX_DEPTH}"));
                }
                let record = sample(tag, variables).unwrap_or_else(|message| {
                    self.reject(message);
                    blank()
                });
                self.samples.push(record);
            }
            "assertionResult" => self.assertion = Some(AssertionRecord::default()),
            other => self.leaf = Some((other.to_owned(), String::new())),
        }
        Ok(())
    }

    fn text(&mut self, raw: &str) {
        if let Some((_, text)) = &mut self.leaf {
            text.push_str(raw);
        }
    }

    /// Rejects the outermost open sample because of an invalid value.
    fn reject(&mut self, message: String) {
        let line = self.line;
        self.invalid.get_or_insert_with(|| JmxError::on_line(line, message));
    }

    fn stop(&mut self, name: &str) -> Option<SampleResult> {
        match name {
            "testResults" => self.closed = true,
            "sample" | "httpSample" | "statSample" => {
                let done = self.samples.pop().unwrap_or_default();
                match self.samples.last_mut() {
                    Some(outer) => outer.sub_results.push(done),
                    None => return Some(self.invalid.take().map_or(Ok(done), Err)),
                }
            }
            "assertionResult" => {
                let done = self.assertion.take().unwrap_or_default();
                if let Some(sample) = self.samples.last_mut() {
                    let failed = (done.failure || done.error) && sample.failure_message.is_none();
                    sample.failure_message =
                        if failed { done.message.clone() } else { sample.failure_message.take() };
                    sample.assertions.push(done);
                }
            }
            _ => {
                if let Some((tag, raw)) = self.leaf.take()
                    && let Err(message) = self.leaf(&tag, decode(&raw).into_owned())
                {
                    self.reject(message);
                }
            }
        }
        None
    }

    fn leaf(&mut self, tag: &str, text: String) -> Result<(), String> {
        if let Some(assertion) = &mut self.assertion {
            match tag {
                "failure" => assertion.failure = parse_flag(tag, &text)?,
                "error" => assertion.error = parse_flag(tag, &text)?,
                "name" => assertion.name = text,
                "failureMessage" => assertion.message = Some(text),
                _ => {}
            }
            return Ok(());
        }
        let Some(sample) = self.samples.last_mut() else { return Ok(()) };
        let details = &mut sample.details;
        match tag {
            "responseHeader" => details.response_headers = Some(text),
            "requestHeader" => details.request_headers = Some(text),
            "responseData" => details.body = Some(text),
            "responseFile" => sample.filename = text,
            "cookies" => details.cookies = Some(text),
            "method" => details.method = Some(text),
            "queryString" => details.query = Some(text),
            "redirectLocation" => details.redirect_location = Some(text),
            "java.net.URL" => sample.url = Some(text),
            _ => {}
        }
        Ok(())
    }

    fn end(&self, line: u32) -> Result<Option<SampleResult>, JmxError> {
        match (self.opened, self.closed) {
            (true, true) => Ok(None),
            (false, _) => {
                Err(JmxError::on_line(line, "not a result file: expected `<testResults>`"))
            }
            (true, false) => Err(JmxError::on_line(
                line,
                "the result file ends before `</testResults>`; the test may still run",
            )),
        }
    }
}

fn parse_flag(tag: &str, text: &str) -> Result<bool, String> {
    read_success(text.trim())
        .ok_or_else(|| format!("`<{tag}>` is `{text}`; expected `true` or `false`"))
}

fn sample(tag: &BytesStart<'_>, variables: &[String]) -> Result<SampleRecord, String> {
    let mut record = blank();
    record.is_http = tag.name().as_ref() == "httpSample";
    record.variables = vec![String::new(); variables.len()];
    let mut has_error_count = false;
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| format!("malformed XML: {error}"))?;
        let value = decode_attribute(&attribute.value).into_owned();
        let key = attribute.key;
        let key = key.as_ref();
        has_error_count |= key == "ec";
        if let Some(position) = variables.iter().position(|name| name == key) {
            record.variables[position] = value;
        } else {
            set_attribute(&mut record, key, &value).ok_or_else(|| {
                let expected = if key == "s" { "`true` or `false`" } else { "a whole number" };
                format!("attribute `{key}` is `{value}`; expected {expected}")
            })?;
        }
    }
    if !has_error_count {
        record.error_count = u32::from(!record.success);
    }
    Ok(record)
}

/// Parses an attribute into a record; None if its value is invalid.
fn set_attribute(record: &mut SampleRecord, key: &str, value: &str) -> Option<()> {
    match key {
        "t" => record.elapsed_millis = value.parse().ok()?,
        "it" => record.idle_millis = millis(value)?,
        "lt" => record.latency_millis = millis(value)?,
        "ct" => record.connect_millis = millis(value)?,
        "ts" => record.start_unix_millis = value.parse().ok()?,
        "s" => record.success = read_success(value)?,
        "lb" => value.clone_into(&mut record.label),
        // Old versions of JMeter call it `rs`.
        "rc" | "rs" => value.clone_into(&mut record.code),
        "rm" => read_message(value, record),
        "tn" => value.clone_into(&mut record.thread_name),
        "dt" => record.data_type = read_data_type(value),
        "de" => value.clone_into(&mut record.encoding),
        "by" => record.bytes = value.parse().ok()?,
        "sby" => record.sent_bytes = value.parse().ok()?,
        "sc" => record.sample_count = value.parse().ok()?,
        "ec" => record.error_count = value.parse().ok()?,
        "ng" => record.group_threads = value.parse().ok()?,
        "na" => record.all_threads = value.parse().ok()?,
        "hn" => value.clone_into(&mut record.hostname),
        _ => {}
    }
    Some(())
}

/// Counts line ends as they are read.
#[derive(Debug)]
struct LineCounter<R> {
    inner: R,
    ends: u32,
}

impl<R> LineCounter<R> {
    fn line(&self) -> u32 {
        self.ends.saturating_add(1)
    }
}

impl<R: BufRead> Read for LineCounter<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(into)?;
        self.ends = self.ends.saturating_add(line_ends(&into[..length]));
        Ok(length)
    }
}

impl<R: BufRead> BufRead for LineCounter<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // Returns the same bytes again, because nothing is consumed yet.
        if let Ok(buffer) = self.inner.fill_buf() {
            let consumed = &buffer[..amount.min(buffer.len())];
            self.ends = self.ends.saturating_add(line_ends(consumed));
        }
        self.inner.consume(amount);
    }
}

fn line_ends(bytes: &[u8]) -> u32 {
    bytes.split(|&byte| byte == b'\n').count() as u32 - 1
}
