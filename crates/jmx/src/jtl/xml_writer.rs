//! Writes records as XML, as JMeter does.

use super::FileStart;
use super::columns::data_type;
use super::settings::{Field, JtlSettings};
use crate::document::{encode, encode_attribute};
use brunt_model::{AssertionRecord, SampleRecord};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

/// The last line of an XML result file.
pub const FOOTER: &str = "</testResults>\n";

/// How many bytes the last line takes, with white space around it, at the end of a file; None where the file does not end with it.
/// Before samples are appended to a file, it is cut by so many bytes.
pub fn footer_length(end_of_file: &[u8]) -> Option<usize> {
    let before = end_of_file.trim_ascii_end().strip_suffix(FOOTER.trim_ascii_end().as_bytes())?;
    Some(end_of_file.len() - before.len())
}

/// Samples within samples are written to this depth.
const MAX_DEPTH: usize = 500;

/// Writes a result file as XML, a record at a time.
#[derive(Debug)]
pub struct XmlWriter<W> {
    out: W,
    settings: JtlSettings,
    text: String,
}

impl<W: Write> XmlWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// `out` cannot be written.
    pub fn new(mut out: W, settings: JtlSettings, start: FileStart) -> io::Result<Self> {
        if start == FileStart::New {
            out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
            if let Some(instruction) = &settings.xml_instruction {
                writeln!(out, "{instruction}")?;
            }
            out.write_all(b"<testResults version=\"1.2\">\n")?;
        }
        Ok(Self { out, settings, text: String::new() })
    }

    /// Writes a sample with all within it.
    ///
    /// # Errors
    ///
    /// `out` cannot be written.
    pub fn write(&mut self, record: &SampleRecord) -> io::Result<()> {
        self.text.clear();
        sample(&mut self.text, record, &self.settings, 0);
        self.out.write_all(self.text.as_bytes())
    }

    /// Writes the last line, flushes, and gives back what was written to.
    ///
    /// # Errors
    ///
    /// `out` cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(FOOTER.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Flushes.
    ///
    /// # Errors
    ///
    /// `out` cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn sample(out: &mut String, record: &SampleRecord, settings: &JtlSettings, depth: usize) {
    let tag = if record.is_http { "httpSample" } else { "sample" };
    indent(out, depth);
    let _ = write!(out, "<{tag}");
    attributes(out, record, settings);
    let start = out.len();
    children(out, record, settings, depth + 1);
    if out.len() == start {
        out.push_str("/>\n");
        return;
    }
    out.insert_str(start, ">\n");
    indent(out, depth);
    let _ = writeln!(out, "</{tag}>");
}

fn attributes(out: &mut String, record: &SampleRecord, settings: &JtlSettings) {
    let mut add = |field: Option<Field>, name: &str, value: &dyn Display| {
        if field.map_or(settings.saves_timestamp(), |field| settings.saves(field)) {
            let _ = write!(out, " {name}=\"{value}\"");
        }
    };
    add(Some(Field::Elapsed), "t", &record.elapsed_millis);
    add(Some(Field::IdleTime), "it", &record.idle_millis);
    add(Some(Field::Latency), "lt", &record.latency_millis);
    add(Some(Field::ConnectTime), "ct", &record.connect_millis);
    add(None, "ts", &record.start_unix_millis);
    add(Some(Field::Success), "s", &record.success);
    add(Some(Field::Label), "lb", &encode_attribute(&record.label));
    add(Some(Field::Code), "rc", &encode_attribute(&record.code));
    add(Some(Field::Message), "rm", &encode_attribute(&record.message));
    add(Some(Field::ThreadName), "tn", &encode_attribute(&record.thread_name));
    add(Some(Field::DataType), "dt", &data_type(record.data_type));
    add(Some(Field::Encoding), "de", &encode_attribute(&record.encoding));
    add(Some(Field::Bytes), "by", &record.bytes);
    add(Some(Field::SentBytes), "sby", &record.sent_bytes);
    add(Some(Field::SampleCount), "sc", &record.sample_count);
    add(Some(Field::SampleCount), "ec", &record.error_count);
    add(Some(Field::ThreadCounts), "ng", &record.group_threads);
    add(Some(Field::ThreadCounts), "na", &record.all_threads);
    add(Some(Field::Hostname), "hn", &encode_attribute(&record.hostname));
    for (name, value) in settings.sample_variables.iter().zip(&record.variables) {
        if is_name(name) {
            let _ = write!(out, " {name}=\"{}\"", encode_attribute(value));
        }
    }
}

fn children(out: &mut String, record: &SampleRecord, settings: &JtlSettings, depth: usize) {
    if settings.saves(Field::Assertions) {
        record.assertions.iter().for_each(|one| assertion(out, one, depth));
    }
    if settings.saves(Field::SubResults) && depth < MAX_DEPTH {
        record.sub_results.iter().for_each(|one| sample(out, one, settings, depth));
    }
    let details = &record.details;
    let mut add = |tag: &str, text: Option<&str>| {
        if let Some(text) = text {
            string(out, tag, " class=\"java.lang.String\"", text, depth);
        }
    };
    if settings.saves(Field::ResponseHeaders) {
        add("responseHeader", details.response_headers.as_deref());
    }
    if settings.saves(Field::RequestHeaders) {
        add("requestHeader", details.request_headers.as_deref());
    }
    let on_error = settings.saves(Field::ResponseDataOnError) && !record.success;
    if settings.saves(Field::ResponseData) || on_error {
        add("responseData", details.body.as_deref());
    }
    if settings.saves(Field::Filename) {
        add("responseFile", Some(&record.filename));
    }
    if settings.saves(Field::SamplerData) || on_error {
        add("cookies", details.cookies.as_deref());
        add("method", details.method.as_deref());
        add("queryString", details.query.as_deref());
        add("redirectLocation", details.redirect_location.as_deref());
    }
    if let Some(url) = record.url.as_deref().filter(|_| settings.saves(Field::Url)) {
        string(out, "java.net.URL", "", url, depth);
    }
}

fn assertion(out: &mut String, assertion: &AssertionRecord, depth: usize) {
    indent(out, depth);
    out.push_str("<assertionResult>\n");
    string(out, "name", "", &assertion.name, depth + 1);
    string(out, "failure", "", if assertion.failure { "true" } else { "false" }, depth + 1);
    string(out, "error", "", if assertion.error { "true" } else { "false" }, depth + 1);
    if let Some(message) = &assertion.message {
        string(out, "failureMessage", "", message, depth + 1);
    }
    indent(out, depth);
    out.push_str("</assertionResult>\n");
}

fn string(out: &mut String, tag: &str, attributes: &str, text: &str, depth: usize) {
    indent(out, depth);
    let _ = match text {
        "" => writeln!(out, "<{tag}{attributes}/>"),
        text => writeln!(out, "<{tag}{attributes}>{}</{tag}>", encode(text)),
    };
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Whether text can be the name of an attribute.
fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|one| one.is_alphanumeric() || "_-.".contains(one))
}
