//! Content of a result file: the properties `jmeter.save.saveservice.*`, and the same settings of a
//! listener in a plan.

use crate::error::JmxError;
use crate::property::Properties;
use brunt_java::date::DatePattern;

const PREFIX: &str = "jmeter.save.saveservice.";

/// Format of a result file: CSV or XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JtlFormat {
    /// One row per sample.
    #[default]
    Csv,
    /// One element per sample, with sub-samples, assertions, headers and bodies.
    Xml,
}

/// Format of start times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TimestampFormat {
    /// Milliseconds since 1970-01-01 UTC.
    #[default]
    Millis,
    /// Start times are not saved.
    None,
    /// A Java date pattern, in the time zone of [`JtlSettings::utc_offset_seconds`].
    Pattern(DatePattern),
}

/// Selection of saved assertion results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AssertionResults {
    /// None; for XML, the field `Assertions` decides.
    #[default]
    None,
    /// Only the first result of a sample.
    First,
    /// All results of a sample.
    All,
}

macro_rules! fields {
    ($($field:ident $property:literal $tag:literal $default:literal $doc:literal;)*) => {
        /// Optional data of a sample; each is a property `jmeter.save.saveservice.NAME`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Field {
            $(#[doc = $doc] $field,)*
        }

        /// Field, property name, tag in the settings of a listener, default.
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

/// A set of [`Field`]s. [`JtlSettings::save`] changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JtlFields(u32);

/// Content and format of a result file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JtlSettings {
    /// Format of the file: CSV or XML.
    pub format: JtlFormat,
    /// Format of start times.
    pub timestamp: TimestampFormat,
    /// Offset of the local time zone for date patterns, seconds east of UTC.
    pub utc_offset_seconds: i32,
    /// Column separator: one ASCII character.
    pub delimiter: u8,
    /// Assertion results that a listener saves.
    pub assertion_results: AssertionResults,
    /// Names of variables to save.
    pub sample_variables: Vec<String>,
    /// A processing instruction for the second line of XML files.
    pub xml_instruction: Option<String>,
    /// Fields that the file contains.
    pub fields: JtlFields,
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
            fields: JtlFields(0),
        };
        for &(field, _, _, default) in FIELDS {
            settings.save(field, default);
        }
        settings
    }
}

impl JtlSettings {
    /// Reads JMeter's properties; `lookup` returns the value of a property. Absent
    /// ones have JMeter's defaults.
    ///
    /// # Errors
    ///
    /// Fails on a delimiter or a date pattern that JMeter rejects.
    pub fn from_properties(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, JmxError> {
        let mut settings = Self::default();
        for &(field, name, _, _) in FIELDS {
            if let Some(value) = save_property(&lookup, name) {
                settings.save(field, value.trim().eq_ignore_ascii_case("true"));
            }
        }
        if save_property(&lookup, "output_format").is_some_and(|format| format.trim() == "xml") {
            settings.format = JtlFormat::Xml;
        }
        if let Some(delimiter) = save_property(&lookup, "default_delimiter") {
            settings.delimiter = parse_delimiter(&delimiter)?;
        }
        if let Some(format) = save_property(&lookup, "timestamp_format") {
            settings.timestamp = parse_timestamp(&format)?;
        }
        settings.assertion_results =
            match save_property(&lookup, "assertion_results").as_deref().map(str::trim) {
                Some("first") => AssertionResults::First,
                Some("all") => AssertionResults::All,
                _ => AssertionResults::None,
            };
        settings.xml_instruction =
            save_property(&lookup, "xml_pi").filter(|text| !text.trim().is_empty());
        let variables = lookup("sample_variables").unwrap_or_default();
        let names = variables.split(',').map(str::trim).filter(|name| !name.is_empty());
        settings.sample_variables = names.map(str::to_owned).collect();
        Ok(settings)
    }

    /// Applies the settings of a listener: the properties of its `objProp` named `saveConfig`.
    #[must_use]
    pub fn with_listener(mut self, save_config: &Properties<'_>) -> Self {
        for property in save_config.iter() {
            let tag = property.tag();
            let text = property.text();
            let on = text.trim().eq_ignore_ascii_case("true");
            match tag {
                "xml" => self.format = if on { JtlFormat::Xml } else { JtlFormat::Csv },
                "timestamp" if !on => self.timestamp = TimestampFormat::None,
                _ => {
                    if let Some(&(field, _, _, _)) =
                        FIELDS.iter().find(|(_, _, listener_tag, _)| *listener_tag == tag)
                    {
                        self.save(field, on);
                    }
                }
            }
        }
        self
    }

    /// True if the field is saved.
    pub fn saves(&self, field: Field) -> bool {
        self.fields.0 & (1 << field as u32) != 0
    }

    /// Includes or excludes a field.
    pub fn save(&mut self, field: Field, is_saved: bool) {
        let bit = 1 << field as u32;
        self.fields.0 = if is_saved { self.fields.0 | bit } else { self.fields.0 & !bit };
    }

    /// True if start times are saved.
    pub fn saves_timestamp(&self) -> bool {
        self.timestamp != TimestampFormat::None
    }
}

fn save_property(lookup: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(&format!("{PREFIX}{name}"))
}

fn parse_delimiter(text: &str) -> Result<u8, JmxError> {
    let byte = match text {
        "\\t" | "TAB" => b'\t',
        _ if text.len() == 1 => text.as_bytes()[0],
        _ => 0,
    };
    if byte == b'\t'
        || ((b' '..=b'~').contains(&byte) && !byte.is_ascii_alphanumeric() && byte != b'"')
    {
        return Ok(byte);
    }
    let message = format!(
        "`{PREFIX}default_delimiter` is `{text}`; expected one character such as `,`, `;` or `\\t`"
    );
    Err(JmxError::new(message))
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
