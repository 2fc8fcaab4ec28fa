//! What a result file holds: the properties `jmeter.save.saveservice.*`, and the same settings of a listener in a plan.

use crate::error::JmxError;
use crate::property::Properties;
use brunt_java::date::DatePattern;

const PREFIX: &str = "jmeter.save.saveservice.";

/// The format of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JtlFormat {
    /// A row a sample.
    #[default]
    Csv,
    /// An element a sample, with samples within it, assertions, headers and bodies.
    Xml,
}

/// How start times are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TimestampFormat {
    /// Milliseconds since 1970-01-01 UTC.
    #[default]
    Millis,
    /// They are left out.
    None,
    /// By a date pattern of Java, in the time zone of [`JtlSettings::utc_offset_seconds`].
    Pattern(DatePattern),
}

/// Which results of assertions are saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AssertionResults {
    /// None; the field `Assertions` decides for XML.
    #[default]
    None,
    /// The first.
    First,
    /// All.
    All,
}

macro_rules! fields {
    ($($field:ident $property:literal $tag:literal $default:literal $doc:literal;)*) => {
        /// What may be saved of a sample; each is a property `jmeter.save.saveservice.NAME`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Field {
            $(#[doc = $doc] $field,)*
        }

        /// Field, name of its property, tag in the settings of a listener, default.
        const FIELDS: &[(Field, &str, &str, bool)] = &[$((Field::$field, $property, $tag, $default),)*];
    };
}

fields! {
    Elapsed "time" "time" true "Elapsed time.";
    Label "label" "label" true "Label.";
    Code "response_code" "code" true "Response code.";
    Message "response_message" "message" true "Response message.";
    ThreadName "thread_name" "threadName" true "Thread name.";
    DataType "data_type" "dataType" true "Data type.";
    Success "successful" "success" true "Success.";
    FailureMessage "assertion_results_failure_message" "saveAssertionResultsFailureMessage" true "Message of the first failed assertion.";
    Bytes "bytes" "bytes" true "Bytes received.";
    SentBytes "sent_bytes" "sentBytes" true "Bytes sent.";
    ThreadCounts "thread_counts" "threadCounts" true "Active threads of the group and of all groups.";
    Url "url" "url" true "URL.";
    Filename "filename" "fileName" false "File that holds the body.";
    Latency "latency" "latency" true "Time to the first byte.";
    Encoding "encoding" "encoding" false "Character encoding.";
    SampleCount "sample_count" "sampleCount" false "Number of samples and of errors.";
    Hostname "hostname" "hostname" false "Host that ran the sample.";
    IdleTime "idle_time" "idleTime" true "Idle time.";
    ConnectTime "connect_time" "connectTime" true "Connect time.";
    RequestHeaders "requestHeaders" "requestHeaders" false "Request headers (XML).";
    ResponseHeaders "responseHeaders" "responseHeaders" false "Response headers (XML).";
    SamplerData "samplerData" "samplerData" false "Cookies, method, query string and redirect (XML).";
    ResponseData "response_data" "responseData" false "Body (XML).";
    ResponseDataOnError "response_data.on_error" "responseDataOnError" false "Body of failed samples (XML).";
    SubResults "subresults" "subresults" true "Samples within samples.";
    Assertions "assertions" "assertions" true "Results of assertions (XML).";
    FieldNames "print_field_names" "fieldNames" true "The header line (CSV).";
}

/// A set of [`Field`]s, changed by [`JtlSettings::save`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields(u32);

/// What a result file holds, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JtlSettings {
    /// CSV or XML.
    pub format: JtlFormat,
    /// How start times are written.
    pub timestamp: TimestampFormat,
    /// Offset of the local time zone for date patterns, seconds east of UTC.
    pub utc_offset_seconds: i32,
    /// What separates columns: one ASCII character.
    pub delimiter: u8,
    /// Which results of assertions a listener keeps.
    pub assertion_results: AssertionResults,
    /// Names of variables whose values are saved.
    pub sample_variables: Vec<String>,
    /// A processing instruction for the second line of XML files.
    pub xml_instruction: Option<String>,
    /// Which fields are saved.
    pub fields: Fields,
}

impl Default for JtlSettings {
    fn default() -> Self {
        let mut settings = Self {
            format: JtlFormat::default(),
            timestamp: TimestampFormat::default(),
            utc_offset_seconds: 0,
            delimiter: b',',
            assertion_results: AssertionResults::default(),
            sample_variables: Vec::new(),
            xml_instruction: None,
            fields: Fields(0),
        };
        for &(field, _, _, default) in FIELDS {
            settings.save(field, default);
        }
        settings
    }
}

impl JtlSettings {
    /// The settings of JMeter's properties; `lookup` gives the value of a property. Absent ones have JMeter's defaults.
    ///
    /// # Errors
    ///
    /// A delimiter or a date pattern that JMeter does not take.
    pub fn from_properties(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, JmxError> {
        let mut settings = Self::default();
        let own = |name: &str| lookup(&format!("{PREFIX}{name}"));
        for &(field, name, _, _) in FIELDS {
            if let Some(value) = own(name) {
                settings.save(field, value.trim().eq_ignore_ascii_case("true"));
            }
        }
        if own("output_format").is_some_and(|format| format.trim() == "xml") {
            settings.format = JtlFormat::Xml;
        }
        if let Some(delimiter) = own("default_delimiter") {
            settings.delimiter = parse_delimiter(&delimiter)?;
        }
        if let Some(format) = own("timestamp_format") {
            settings.timestamp = parse_timestamp(&format)?;
        }
        settings.assertion_results = match own("assertion_results").as_deref().map(str::trim) {
            Some("first") => AssertionResults::First,
            Some("all") => AssertionResults::All,
            _ => AssertionResults::None,
        };
        settings.xml_instruction = own("xml_pi").filter(|text| !text.trim().is_empty());
        let variables = lookup("sample_variables").unwrap_or_default();
        let names = variables.split(',').map(str::trim).filter(|name| !name.is_empty());
        settings.sample_variables = names.map(str::to_owned).collect();
        Ok(settings)
    }

    /// Takes over what a listener of a plan says in its `saveConfig`: the properties of that `objProp`.
    #[must_use]
    pub fn with_listener(mut self, save_config: &Properties<'_>) -> Self {
        for property in save_config.iter() {
            let (tag, text) = (property.tag(), property.text());
            let on = text.trim().eq_ignore_ascii_case("true");
            match tag {
                "xml" => self.format = if on { JtlFormat::Xml } else { JtlFormat::Csv },
                "timestamp" if !on => self.timestamp = TimestampFormat::None,
                _ => {
                    if let Some(&(field, _, _, _)) = FIELDS.iter().find(|(_, _, own, _)| *own == tag) {
                        self.save(field, on);
                    }
                }
            }
        }
        self
    }

    /// Whether a field is saved.
    pub fn saves(&self, field: Field) -> bool {
        self.fields.0 & (1 << field as u32) != 0
    }

    /// Saves a field, or leaves it out.
    pub fn save(&mut self, field: Field, saved: bool) {
        let bit = 1 << field as u32;
        self.fields.0 = if saved { self.fields.0 | bit } else { self.fields.0 & !bit };
    }

    /// Whether start times are saved.
    pub fn saves_timestamp(&self) -> bool {
        self.timestamp != TimestampFormat::None
    }
}

fn parse_delimiter(text: &str) -> Result<u8, JmxError> {
    let byte = match text {
        "\\t" | "TAB" => b'\t',
        _ if text.len() == 1 => text.as_bytes()[0],
        _ => 0,
    };
    if byte == b'\t' || ((b' '..=b'~').contains(&byte) && !byte.is_ascii_alphanumeric() && byte != b'"') {
        return Ok(byte);
    }
    let wrong = format!("`{PREFIX}default_delimiter` is `{text}`; expected one character such as `,`, `;` or `\\t`");
    Err(JmxError::new(wrong))
}

fn parse_timestamp(text: &str) -> Result<TimestampFormat, JmxError> {
    match text.trim() {
        format if format.eq_ignore_ascii_case("ms") => Ok(TimestampFormat::Millis),
        format if format.eq_ignore_ascii_case("none") => Ok(TimestampFormat::None),
        pattern => DatePattern::parse(pattern)
            .map(TimestampFormat::Pattern)
            .map_err(|error| JmxError::new(format!("`{PREFIX}timestamp_format`: {error}"))),
    }
}
