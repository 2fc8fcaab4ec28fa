//! One finished sample as a result file (.jtl) of JMeter lists it: labels and texts beside whole milliseconds.
//!
//! [`Sample`](crate::Sample) is the compact form that the engine counts with; this form carries names, URLs and messages,
//! and is made only where result files, listeners or a console that lists samples ask for it.

use serde::{Deserialize, Serialize};

/// How the body of a sample is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum DataType {
    /// Text: `text`.
    Text,
    /// Not text: `bin`.
    Binary,
    /// Not known, or no body: empty.
    #[default]
    None,
}

/// The result of one assertion on a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AssertionRecord {
    /// Name of the assertion.
    pub name: String,
    /// The assertion did not hold.
    pub failure: bool,
    /// The assertion could not be evaluated.
    pub error: bool,
    /// Why it failed; None where it did not.
    pub message: Option<String>,
}

/// Texts of a sample that only XML result files hold. None: not kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordDetails {
    /// HTTP method.
    pub method: Option<String>,
    /// Query string, or the body that was sent.
    pub query: Option<String>,
    /// Cookies that were sent.
    pub cookies: Option<String>,
    /// Headers of the request, a line each.
    pub request_headers: Option<String>,
    /// Status line and headers of the reply, a line each.
    pub response_headers: Option<String>,
    /// Body of the reply as text.
    pub body: Option<String>,
    /// Target of the redirect that the reply asks for.
    pub redirect_location: Option<String>,
}

/// One sample of a result file. Times are whole milliseconds, as in JMeter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Start of the sample, milliseconds since 1970-01-01 UTC.
    pub start_unix_millis: u64,
    /// From start to the last byte.
    pub elapsed_millis: u64,
    /// Label: the name of the sampler or the transaction.
    pub label: String,
    /// Status code, or words such as `Non HTTP response code: java.net.SocketTimeoutException`.
    pub code: String,
    /// Reason phrase, or a message of the failure.
    pub message: String,
    /// Name of the thread (virtual user): `Thread Group 1-1`.
    pub thread_name: String,
    /// How the body is to be read.
    pub data_type: DataType,
    /// Whether the sample and all its assertions succeeded.
    pub success: bool,
    /// Message of the first assertion that failed; None where none did.
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
    /// From start to the first byte.
    pub latency_millis: u64,
    /// Pauses within the sample, not part of `elapsed_millis`.
    pub idle_millis: u64,
    /// TCP and TLS setup; 0 where a connection was reused.
    pub connect_millis: u64,
    /// Samples that this one stands for; 1 for a plain sample.
    pub sample_count: u32,
    /// How many of them failed.
    pub error_count: u32,
    /// Host that ran the sample.
    pub hostname: String,
    /// Character encoding of the body.
    pub encoding: String,
    /// File that the body was written to; empty where none was.
    pub filename: String,
    /// Values of the variables that `sample_variables` names, in its order.
    pub variables: Vec<String>,
    /// Samples within this one: redirects, embedded resources, requests of a transaction.
    pub sub_results: Vec<SampleRecord>,
    /// Results of all assertions.
    pub assertions: Vec<AssertionRecord>,
    /// The sum of a transaction controller, which totals leave out.
    pub is_transaction: bool,
    /// An HTTP sample: `httpSample` in XML. Others are `sample`.
    pub is_http: bool,
    /// Texts for XML result files.
    pub details: RecordDetails,
    /// What its user did around it, where the plan asks for a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<SampleTrace>>,
}

/// A sample as its user saw it, with everything that it did since its last one: for `--trace`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SampleTrace {
    /// The name of its population.
    pub population: String,
    /// The user's number in its population, from 0.
    pub user: u64,
    /// The number of its iteration, from 0.
    pub iteration: u64,
    /// Milliseconds that it paused before.
    pub paused_millis: u64,
    /// What went wrong before and stops nothing, such as an exception of a script.
    pub notes: Vec<String>,
    /// Variables that steps before it changed.
    pub changed_before: Vec<VariableChange>,
    /// Requests before it that were answered by a challenge for credentials.
    pub challenged: Vec<SampleRecord>,
    /// The request as it was sent, head and body; empty where none was.
    pub request: String,
    /// The bytes of the reply's body; empty if its text is converted, as for gRPC.
    #[serde(default)]
    pub body: Vec<u8>,
    /// Microseconds to open the connection; None where it was there.
    pub opening_micros: Option<u64>,
    /// Microseconds from its begin to the first byte; None where none came.
    pub first_byte_micros: Option<u64>,
    /// Microseconds from its begin to its end.
    pub micros: u64,
    /// What became of it where it is not good, such as `connection refused`.
    pub failure: Option<String>,
    /// What was looked at in the reply, in order.
    pub looks: Vec<TracedLook>,
    /// Variables that extractors and scripts changed.
    pub changed: Vec<VariableChange>,
}

/// A variable that changed. None: it had, or has, no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableChange {
    /// Its name.
    pub name: String,
    /// Its value before.
    pub from: Option<String>,
    /// Its value now.
    pub to: Option<String>,
}

/// What an extractor, a check or a script found in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedLook {
    /// Who looked.
    pub by: Looker,
    /// The name of the variable, check or script.
    pub name: String,
    /// What it looked for, such as `json $.token`; may be empty.
    pub wanted: String,
    /// What it found; may be empty.
    pub found: String,
    /// An extractor found something; a check holds; a script ended without an error.
    pub is_good: bool,
}

/// Who looks at a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Looker {
    /// An extractor.
    Extractor,
    /// A check, or an assertion of JMeter.
    Check,
    /// A script.
    Script,
}
