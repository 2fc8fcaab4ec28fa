//! Writes records as XML in JMeter's format.

use super::FileStart;
use super::columns::data_type;
use super::settings::{Field, JtlSettings};
use crate::document::{encode, encode_attribute};
use brunt_model::{AssertionRecord, SampleRecord};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

/// The last line of an XML result file.
pub const FOOTER: &str = "</testResults>\n";

/// Number of bytes of the last line and the white space around it. None if the file does not end
/// with that line. Remove this many bytes before appending samples.
pub fn footer_length(end_of_file: &[u8]) -> Option<usize> {
    let before = end_of_file.trim_ascii_end().strip_suffix(FOOTER.trim_ascii_end().as_bytes())?;
    Some(end_of_file.len() - before.len())
}

/// Maximum nesting of written samples.
// `sample` is recursive.
const MAX_DEPTH: usize = 500;

/// Writes a result file as XML, one record at a time.
#[derive(Debug)]
pub struct XmlWriter<W> {
    out: W,
    settings: JtlSettings,
    text: String,
}

impl<W: Write> XmlWriter<W> {
    /// Creates a writer, and writes the start of a new file.
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

    /// Writes a sample with its sub-samples.
    pub fn write(&mut self, record: &SampleRecord) -> io::Result<()> {
        self.text.clear();
        sample(&mut self.text, record, &self.settings, 0);
        self.out.write_all(self.text.as_bytes())
    }

    /// Writes the last line, flushes, and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(FOOTER.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Flushes the underlying writer.
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
    // Only now is it known that the element has children.
    out.insert_str(start, ">\n");
    indent(out, depth);
    let _ = writeln!(out, "</{tag}>");
}

fn attributes(out: &mut String, record: &SampleRecord, settings: &JtlSettings) {
    let fields: [(Option<Field>, &str, &dyn Display); 19] = [
        (Some(Field::Elapsed), "t", &record.elapsed_millis),
        (Some(Field::IdleTime), "it", &record.idle_millis),
        (Some(Field::Latency), "lt", &record.latency_millis),
        (Some(Field::ConnectTime), "ct", &record.connect_millis),
        // The timestamp has its own setting.
        (None, "ts", &record.start_unix_millis),
        (Some(Field::Success), "s", &record.success),
        (Some(Field::Label), "lb", &encode_attribute(&record.label)),
        (Some(Field::Code), "rc", &encode_attribute(&record.code)),
        (Some(Field::Message), "rm", &encode_attribute(&record.message)),
        (Some(Field::ThreadName), "tn", &encode_attribute(&record.thread_name)),
        (Some(Field::DataType), "dt", &data_type(record.data_type)),
        (Some(Field::Encoding), "de", &encode_attribute(&record.encoding)),
        (Some(Field::Bytes), "by", &record.bytes),
        (Some(Field::SentBytes), "sby", &record.sent_bytes),
        (Some(Field::SampleCount), "sc", &record.sample_count),
        (Some(Field::SampleCount), "ec", &record.error_count),
        (Some(Field::ThreadCounts), "ng", &record.group_threads),
        (Some(Field::ThreadCounts), "na", &record.all_threads),
        (Some(Field::Hostname), "hn", &encode_attribute(&record.hostname)),
    ];
    for (field, name, value) in fields {
        if field.map_or(settings.saves_timestamp(), |field| settings.saves(field)) {
            let _ = write!(out, " {name}=\"{value}\"");
        }
    }
    for (name, value) in settings.sample_variables.iter().zip(&record.variables) {
        // Any other name would make the XML invalid.
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
    if settings.saves(Field::ResponseHeaders) {
        java_string(out, "responseHeader", details.response_headers.as_deref(), depth);
    }
    if settings.saves(Field::RequestHeaders) {
        java_string(out, "requestHeader", details.request_headers.as_deref(), depth);
    }
    let on_error = settings.saves(Field::ResponseDataOnError) && !record.success;
    if settings.saves(Field::ResponseData) || on_error {
        java_string(out, "responseData", details.body.as_deref(), depth);
    }
    if settings.saves(Field::Filename) {
        java_string(out, "responseFile", Some(&record.filename), depth);
    }
    if settings.saves(Field::SamplerData) || on_error {
        java_string(out, "cookies", details.cookies.as_deref(), depth);
        java_string(out, "method", details.method.as_deref(), depth);
        java_string(out, "queryString", details.query.as_deref(), depth);
        java_string(out, "redirectLocation", details.redirect_location.as_deref(), depth);
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

fn java_string(out: &mut String, tag: &str, text: Option<&str>, depth: usize) {
    if let Some(text) = text {
        string(out, tag, " class=\"java.lang.String\"", text, depth);
    }
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

/// True if the text is a valid attribute name.
fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|one| one.is_alphanumeric() || "_-.".contains(one))
}
