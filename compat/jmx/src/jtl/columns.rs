//! The columns of CSV result files: name, order, formatter and parser of each.

use super::settings::{Field, JtlSettings, TimestampFormat};
use super::{TRANSACTION_MESSAGE, failure_message};
use brunt_java::date::DatePattern;
use brunt_model::{DataType, SampleRecord};
use std::borrow::Cow;

/// Column of a CSV result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JtlColumn {
    /// Start time of the sample.
    TimeStamp,
    /// A field with one column.
    Field(Field),
    /// Active threads of all groups; [`Field::ThreadCounts`] also has the column
    /// of the sample's group.
    AllThreads,
    /// Number of errors; [`Field::SampleCount`] also has the column of samples.
    ErrorCount,
    /// The value of a sample variable, by its index.
    Variable(usize),
}

/// Names and columns, in JMeter's order.
const COLUMNS: [(&str, JtlColumn); 22] = [
    ("timeStamp", JtlColumn::TimeStamp),
    ("elapsed", JtlColumn::Field(Field::Elapsed)),
    ("label", JtlColumn::Field(Field::Label)),
    ("responseCode", JtlColumn::Field(Field::Code)),
    ("responseMessage", JtlColumn::Field(Field::Message)),
    ("threadName", JtlColumn::Field(Field::ThreadName)),
    ("dataType", JtlColumn::Field(Field::DataType)),
    ("success", JtlColumn::Field(Field::Success)),
    ("failureMessage", JtlColumn::Field(Field::FailureMessage)),
    ("bytes", JtlColumn::Field(Field::Bytes)),
    ("sentBytes", JtlColumn::Field(Field::SentBytes)),
    ("grpThreads", JtlColumn::Field(Field::ThreadCounts)),
    ("allThreads", JtlColumn::AllThreads),
    ("URL", JtlColumn::Field(Field::Url)),
    ("Filename", JtlColumn::Field(Field::Filename)),
    ("Latency", JtlColumn::Field(Field::Latency)),
    ("Encoding", JtlColumn::Field(Field::Encoding)),
    ("SampleCount", JtlColumn::Field(Field::SampleCount)),
    ("ErrorCount", JtlColumn::ErrorCount),
    ("Hostname", JtlColumn::Field(Field::Hostname)),
    ("IdleTime", JtlColumn::Field(Field::IdleTime)),
    ("Connect", JtlColumn::Field(Field::ConnectTime)),
];

/// Date formats to try for start times that are not numbers.
const DATES: [&str; 5] = [
    "yyyy/MM/dd HH:mm:ss.SSS",
    "yyyy/MM/dd HH:mm:ss",
    "yyyy-MM-dd HH:mm:ss.SSS",
    "yyyy-MM-dd HH:mm:ss",
    "MM/dd/yy HH:mm:ss",
];

impl JtlColumn {
    /// Finds a column by name; None for other names.
    pub fn named(name: &str) -> Option<Self> {
        COLUMNS.iter().find(|(column_name, _)| *column_name == name).map(|(_, column)| *column)
    }

    /// Its name in the header; empty for a variable.
    pub fn name(self) -> &'static str {
        COLUMNS.iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }

    /// True if the settings save the column.
    fn is_saved(self, settings: &JtlSettings) -> bool {
        match self {
            Self::TimeStamp => settings.saves_timestamp(),
            Self::Field(field) => settings.saves(field),
            Self::AllThreads => settings.saves(Field::ThreadCounts),
            Self::ErrorCount => settings.saves(Field::SampleCount),
            Self::Variable(_) => true,
        }
    }

    /// Text of a record in this column, without quotes.
    pub(super) fn text<'r>(self, record: &'r SampleRecord, settings: &JtlSettings) -> Cow<'r, str> {
        let field = match self {
            Self::TimeStamp => return timestamp(record, settings),
            Self::AllThreads => return number_text(record.all_threads.into()),
            Self::ErrorCount => return number_text(record.error_count.into()),
            Self::Variable(index) => {
                return record.variables.get(index).map_or("", String::as_str).into();
            }
            Self::Field(field) => field,
        };
        match field {
            Field::Elapsed => number_text(record.elapsed_millis),
            Field::Label => (&*record.label).into(),
            Field::Code => (&*record.code).into(),
            Field::Message => (&*record.message).into(),
            Field::ThreadName => (&*record.thread_name).into(),
            Field::DataType => data_type(record.data_type).into(),
            Field::Success => if record.success { "true" } else { "false" }.into(),
            Field::FailureMessage => failure_message(record).unwrap_or_default().into(),
            Field::Bytes => number_text(record.bytes),
            Field::SentBytes => number_text(record.sent_bytes),
            Field::ThreadCounts => number_text(record.group_threads.into()),
            // JMeter writes `null` for a sample without a URL.
            Field::Url => record.url.as_deref().unwrap_or("null").into(),
            Field::Filename => (&*record.filename).into(),
            Field::Latency => number_text(record.latency_millis),
            Field::Encoding => (&*record.encoding).into(),
            Field::SampleCount => number_text(record.sample_count.into()),
            Field::Hostname => (&*record.hostname).into(),
            Field::IdleTime => number_text(record.idle_millis),
            Field::ConnectTime => number_text(record.connect_millis),
            _ => "".into(),
        }
    }

    /// Parses the text of this column into a record. None if it is invalid;
    /// [`expected`](Self::expected) describes the valid form.
    pub(super) fn read(
        self,
        text: &str,
        record: &mut SampleRecord,
        settings: &JtlSettings,
    ) -> Option<()> {
        let field = match self {
            Self::TimeStamp => {
                return read_timestamp(text, settings)
                    .map(|start| record.start_unix_millis = start);
            }
            Self::AllThreads => return text.parse().ok().map(|all| record.all_threads = all),
            Self::ErrorCount => return text.parse().ok().map(|errors| record.error_count = errors),
            Self::Variable(index) => {
                record.variables.resize(record.variables.len().max(index + 1), String::new());
                text.clone_into(&mut record.variables[index]);
                return Some(());
            }
            Self::Field(field) => field,
        };
        match field {
            Field::Elapsed => record.elapsed_millis = text.parse().ok()?,
            Field::Label => text.clone_into(&mut record.label),
            Field::Code => text.clone_into(&mut record.code),
            Field::Message => read_message(text, record),
            Field::ThreadName => text.clone_into(&mut record.thread_name),
            Field::DataType => record.data_type = read_data_type(text),
            Field::Success => record.success = read_success(text)?,
            Field::FailureMessage => {
                record.failure_message =
                    Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
            }
            Field::Bytes => record.bytes = text.parse().ok()?,
            Field::SentBytes => record.sent_bytes = text.parse().ok()?,
            Field::ThreadCounts => record.group_threads = text.parse().ok()?,
            Field::Url => {
                record.url =
                    Some(text).filter(|text| !["", "null"].contains(text)).map(str::to_owned);
            }
            Field::Filename => text.clone_into(&mut record.filename),
            Field::Latency => record.latency_millis = millis(text)?,
            Field::Encoding => text.clone_into(&mut record.encoding),
            Field::SampleCount => record.sample_count = text.parse().ok()?,
            Field::Hostname => text.clone_into(&mut record.hostname),
            Field::IdleTime => record.idle_millis = millis(text)?,
            Field::ConnectTime => record.connect_millis = millis(text)?,
            _ => {}
        }
        Some(())
    }

    /// Valid form, for messages: `a whole number`.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::TimeStamp => "milliseconds since 1970, or a date such as 2024/02/29 13:07:05.042",
            Self::Field(Field::Success) => "`true` or `false`",
            _ => "a whole number, 0 or more",
        }
    }
}

/// Parses a part of a sample's time. JMeter writes negative ones if the clock was set back, or if
/// a sampler counts a time twice: they become 0.
pub(super) fn millis(text: &str) -> Option<u64> {
    if text.starts_with('-') {
        return text.parse::<i64>().ok().map(|_| 0);
    }
    text.parse().ok()
}

/// Saved columns, in order.
pub fn columns(settings: &JtlSettings) -> Vec<JtlColumn> {
    let fixed =
        COLUMNS.iter().map(|(_, column)| *column).filter(|column| column.is_saved(settings));
    fixed.chain((0..settings.sample_variables.len()).map(JtlColumn::Variable)).collect()
}

/// A record before its columns are read: one successful sample.
pub(super) fn blank() -> SampleRecord {
    SampleRecord { success: true, sample_count: 1, ..SampleRecord::default() }
}

/// Derives the error count of a record if no column has it.
pub(super) fn complete(record: &mut SampleRecord, columns: &[JtlColumn]) {
    if !columns.contains(&JtlColumn::ErrorCount) {
        record.error_count = u32::from(!record.success);
    }
}

pub(super) fn data_type(data_type: DataType) -> &'static str {
    match data_type {
        DataType::Text => "text",
        DataType::Binary => "bin",
        DataType::None => "",
    }
}

pub(super) fn read_data_type(text: &str) -> DataType {
    match text {
        "text" => DataType::Text,
        "bin" => DataType::Binary,
        _ => DataType::None,
    }
}

pub(super) fn read_message(text: &str, record: &mut SampleRecord) {
    text.clone_into(&mut record.message);
    // JMeter's reports recognize transactions by this message, too.
    record.is_transaction = text.starts_with(TRANSACTION_MESSAGE);
}

pub(super) fn read_success(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn number_text<'r>(number: u64) -> Cow<'r, str> {
    Cow::Owned(number.to_string())
}

fn timestamp<'r>(record: &SampleRecord, settings: &JtlSettings) -> Cow<'r, str> {
    match &settings.timestamp {
        TimestampFormat::Pattern(pattern) => {
            let millis = i64::try_from(record.start_unix_millis).unwrap_or(i64::MAX);
            pattern.format(millis, settings.utc_offset_seconds).into()
        }
        _ => record.start_unix_millis.to_string().into(),
    }
}

fn read_timestamp(text: &str, settings: &JtlSettings) -> Option<u64> {
    let millis = match &settings.timestamp {
        TimestampFormat::Pattern(pattern) => pattern.read(text, settings.utc_offset_seconds),
        _ => None,
    };
    if let Some(millis) = millis {
        return u64::try_from(millis).ok();
    }
    // A run with other settings may have written the file.
    if let Ok(millis) = text.parse() {
        return Some(millis);
    }
    let millis = DATES.iter().find_map(|pattern| {
        DatePattern::parse(pattern).ok()?.read(text, settings.utc_offset_seconds)
    })?;
    u64::try_from(millis).ok()
}
