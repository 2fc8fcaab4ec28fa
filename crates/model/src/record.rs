//! Samples in the form of JMeter's result files (.jtl): labels, texts, and integer milliseconds.
//!
//! [`Sample`](crate::Sample) is the compact form for counting in the engine. This form
//! contains names, URLs and messages. It is created only for result files, listeners, and a
//! console that lists samples.

use crate::numbers::plural;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Write;

/// Type of the body of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum DataType {
    /// Text, written as `text`.
    Text,
    /// Binary data, written as `bin`.
    Binary,
    /// Unknown, or no body; written as an empty value.
    #[default]
    None,
}

/// Result of one assertion on a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AssertionRecord {
    /// Name of the assertion.
    pub name: String,
    /// True if the assertion did not hold.
    pub failure: bool,
    /// True if the assertion could not be evaluated.
    pub error: bool,
    /// Reason of the failure; None if there was none.
    pub message: Option<String>,
}

/// Texts of a sample that only XML result files contain. None: not stored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordDetails {
    /// Method of the HTTP request.
    pub method: Option<String>,
    /// Query string, or the body that was sent.
    pub query: Option<String>,
    /// Cookies of the request.
    pub cookies: Option<String>,
    /// Headers of the request, one per line.
    pub request_headers: Option<String>,
    /// Status line and headers of the reply, one per line.
    pub response_headers: Option<String>,
    /// Body of the reply as text.
    pub body: Option<String>,
    /// Target of a redirect.
    pub redirect_location: Option<String>,
}

/// One sample of a result file. Times are integer milliseconds, as in JMeter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Start of the sample, milliseconds since 1970-01-01 UTC.
    pub start_unix_millis: u64,
    /// Time from start to the last byte.
    pub elapsed_millis: u64,
    /// Label: the name of the sampler or the transaction.
    pub label: String,
    /// Status code, or words such as `Non HTTP response code: java.net.SocketTimeoutException`.
    pub code: String,
    /// Reason phrase, or a message of the failure.
    pub message: String,
    /// Name of the thread (virtual user): `Thread Group 1-1`.
    pub thread_name: String,
    /// Type of the body.
    pub data_type: DataType,
    /// True if the sample and all its assertions succeeded.
    pub success: bool,
    /// Message of the first failed assertion; None if there is none.
    pub failure_message: Option<String>,
    /// Bytes received: headers and body.
    pub bytes: u64,
    /// Bytes sent: headers and body.
    pub sent_bytes: u64,
    /// Active threads of the thread group.
    pub group_threads: u32,
    /// Active threads of all groups.
    pub all_threads: u32,
    /// URL of the last request; None for samples without one.
    pub url: Option<String>,
    /// Time from start to the first byte.
    pub latency_millis: u64,
    /// Pauses within the sample, not part of `elapsed_millis`.
    pub idle_millis: u64,
    /// Time of TCP and TLS setup; 0 if a connection was reused.
    pub connect_millis: u64,
    /// Number of samples that this one represents; 1 for a plain sample.
    pub sample_count: u32,
    /// Number of failed samples among them.
    pub error_count: u32,
    /// Host that ran the sample.
    pub hostname: String,
    /// Character encoding of the body.
    pub encoding: String,
    /// File to which the body was written; empty if there is none.
    pub filename: String,
    /// Values of the variables in `sample_variables`, in the same order.
    pub variables: Vec<String>,
    /// Samples within this one: redirects, embedded resources, requests of a transaction.
    pub sub_results: Vec<SampleRecord>,
    /// Results of all assertions.
    pub assertions: Vec<AssertionRecord>,
    /// True for the sum of a transaction controller, which is not part of totals.
    pub is_transaction: bool,
    /// True for an HTTP sample, which is `httpSample` in XML. Others are `sample`.
    pub is_http: bool,
    /// Texts for XML result files.
    pub details: RecordDetails,
    /// Actions of its user around it, if the plan requests a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<SampleTrace>>,
}

/// The actions of a user since its last sample, with the sample: for `--trace`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SampleTrace {
    /// Name of the user's population.
    pub population: String,
    /// Number of the user in its population, from 0.
    pub user: u64,
    /// Number of the iteration, from 0.
    pub iteration: u64,
    /// Pause before the sample, in milliseconds.
    pub paused_millis: u64,
    /// Earlier errors that do not stop the user, such as an exception of a script.
    pub notes: Vec<String>,
    /// Variables that earlier steps changed.
    pub changed_before: Vec<VariableChange>,
    /// Earlier requests that received a challenge for credentials.
    pub challenged: Vec<SampleRecord>,
    /// The sent request, head and body; empty if none was sent.
    pub request: String,
    /// Bytes of the reply's body; empty if its text is converted, as for gRPC.
    #[serde(default)]
    pub body: Vec<u8>,
    /// Messages that a WebSocket skipped before the awaited one.
    #[serde(default, with = "messages")]
    pub skipped: Vec<Vec<u8>>,
    /// Details of the error of a gRPC call, each as JSON.
    #[serde(default)]
    pub error_details: Vec<String>,
    /// Time to open the connection, in microseconds; None if it was open already.
    pub opening_micros: Option<u64>,
    /// Time from the begin of the request to the first byte, in microseconds; None without a reply.
    pub first_byte_micros: Option<u64>,
    /// Duration of the request, in microseconds.
    pub micros: u64,
    /// Failure of the request, such as `connection refused`; None if it is good.
    pub failure: Option<String>,
    /// Evaluations of the reply by extractors, checks and scripts, in order.
    pub evaluations: Vec<TracedEvaluation>,
    /// Variables that extractors and scripts changed.
    pub changed: Vec<VariableChange>,
}

/// Formats a message for a trace: text as it is, and other bytes in hexadecimal with their number.
pub fn message_text(bytes: &[u8]) -> Cow<'_, str> {
    let text = std::str::from_utf8(bytes).ok();
    match text.filter(|text| !text.contains(is_no_text)) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(hexadecimal(bytes)),
    }
}

/// True if a character shows that a body is no text.
pub fn is_no_text(character: char) -> bool {
    // These control characters occur in no text, unlike tabs, line ends and escapes.
    character <= '\u{8}' || character == '\u{fffd}'
}

/// Maximum number of bytes that are shown in hexadecimal.
const MAX_HEXADECIMAL: usize = 256;

/// Formats bytes that are no text: their number, and the first of them in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(MAX_HEXADECIMAL)];
    let mut text = format!("({} that are no text)", plural(bytes.len() as u64, "byte"));
    for byte in shown {
        let _ = write!(text, " {byte:02x}"); // a String takes anything
    }
    if shown.len() < bytes.len() {
        text += " …";
    }
    text
}

/// Messages in JSON, as texts.
mod messages {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(all: &[Vec<u8>], to: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<_> = all.iter().map(|message| super::message_text(message)).collect();
        texts.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<u8>>, D::Error> {
        Ok(Vec::<String>::deserialize(from)?.into_iter().map(String::into_bytes).collect())
    }
}

/// A change of a variable. None: no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableChange {
    /// Name of the variable.
    pub name: String,
    /// Value before the change.
    pub from: Option<String>,
    /// Value after the change.
    pub to: Option<String>,
}

/// Evaluation of a reply by an extractor, a check or a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedEvaluation {
    /// Kind of the evaluation.
    pub by: EvaluationKind,
    /// Name of the variable, check or script.
    pub name: String,
    /// Expected value or expression, such as `json $.token`; may be empty.
    pub wanted: String,
    /// Value in the reply; may be empty.
    pub found: String,
    /// True if an extractor matched, a check passed, or a script ended without an error.
    pub is_good: bool,
}

/// Kind of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvaluationKind {
    /// An extractor of a value.
    Extractor,
    /// A check, or an assertion of JMeter.
    Check,
    /// A script of the user.
    Script,
}
