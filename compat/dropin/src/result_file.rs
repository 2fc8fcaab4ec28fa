//! Listener that writes the samples of a run to a result file of JMeter (.jtl).
//!
//! The file is flushed after each interval. A full disk ends the file, not the run: the run gets a
//! warning, and an error at its end. Out of scope: the formats, which are in the crate `jmx`.

use brunt_jmx::jtl::xml_writer::{FOOTER, footer_length};
use brunt_jmx::jtl::{CsvWriter, Field, FileStart, JtlFormat, JtlSettings, XmlWriter};
use brunt_model::plan::{ListenerRecords, RecordDetail};
use brunt_model::{Event, SampleRecord, Text, Tick, Warning, text};
use brunt_runner::EventListener;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes that are read at the start and at the end of a file before appending to it.
const MAX_EDGE_BYTES: u64 = 256;

/// A result file that is being written.
pub struct ResultFile {
    path: PathBuf,
    hostname: String,
    /// None after the end, or after an error.
    writer: Option<Writer>,
    error: Option<io::Error>,
    /// True if the run has a warning about the error.
    is_error_reported: bool,
}

enum Writer {
    Csv(CsvWriter<BufWriter<File>>),
    Xml(XmlWriter<BufWriter<File>>),
}

impl Writer {
    fn write(&mut self, record: &SampleRecord) -> io::Result<()> {
        match self {
            Self::Csv(csv) => csv.write(record),
            Self::Xml(xml) => xml.write(record),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Csv(csv) => csv.flush(),
            Self::Xml(xml) => xml.flush(),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(csv) => csv.finish().map(|_| ()),
            Self::Xml(xml) => xml.finish().map(|_| ()),
        }
    }
}

/// The samples that a plan must record for a result file with these settings.
pub fn records(settings: &JtlSettings) -> ListenerRecords {
    let texts = [
        Field::RequestHeaders,
        Field::ResponseHeaders,
        Field::SamplerData,
        Field::ResponseData,
        Field::ResponseDataOnError,
    ];
    // CSV has no columns for these texts.
    let holds_texts =
        settings.format == JtlFormat::Xml && texts.into_iter().any(|field| settings.saves(field));
    let detail = if holds_texts { RecordDetail::Full } else { RecordDetail::Lines };
    ListenerRecords {
        detail,
        variables: settings.sample_variables.clone(),
        ..ListenerRecords::default()
    }
}

impl ResultFile {
    /// Opens a file to append samples to.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or written, or is an XML file of another kind.
    pub fn open(path: &Path, settings: JtlSettings) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let is_empty = file.metadata()?.len() == 0;
        let start = if is_empty { FileStart::New } else { FileStart::Append };
        if start == FileStart::Append {
            prepare_to_append(&mut file, settings.format)?;
        }
        let out = BufWriter::new(file);
        let mut writer = match settings.format {
            JtlFormat::Csv => Writer::Csv(CsvWriter::new(out, settings, start)?),
            JtlFormat::Xml => Writer::Xml(XmlWriter::new(out, settings, start)?),
        };
        writer.flush()?;
        let hostname = brunt_probe::machine::hostname();
        Ok(Self {
            path: path.to_owned(),
            hostname,
            writer: Some(writer),
            error: None,
            is_error_reported: false,
        })
    }

    /// Appends samples, and flushes them to the system.
    pub fn take(&mut self, records: &[SampleRecord]) {
        let Some(writer) = &mut self.writer else { return };
        let result = records.iter().try_for_each(|record| {
            writer.write(&SampleRecord { hostname: self.hostname.clone(), ..record.clone() })
        });
        if let Err(error) = result.and_then(|()| writer.flush()) {
            self.fail(error);
        }
    }

    /// Writes the end of the file and flushes it.
    pub fn finish(&mut self) {
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.finish()
        {
            self.fail(error);
        }
    }

    /// Reason why samples are missing in the file, as a sentence.
    pub fn trouble(&self) -> Option<Text> {
        let path = self.path.display().to_string();
        let error = self.error.as_ref()?;
        Some(text!("warning-samples-file", path, why = error.to_string()))
    }

    fn fail(&mut self, error: io::Error) {
        self.writer = None;
        self.error.get_or_insert(error);
    }
}

impl EventListener for ResultFile {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Records(records) => self.take(records),
            Event::Finished(_) => self.finish(),
            _ => {}
        }
    }

    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        if self.is_error_reported {
            return Vec::new();
        }
        let trouble = self.trouble();
        self.is_error_reported = trouble.is_some();
        trouble.map(|text| Event::Warning(Warning { at, text })).into_iter().collect()
    }
}

/// Prepares a file for appending: completes its last line, and removes the end tag of an XML file.
fn prepare_to_append(file: &mut File, format: JtlFormat) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut start = vec![0; length.min(MAX_EDGE_BYTES) as usize];
    file.read_exact(&mut start)?;
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_EDGE_BYTES)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    match format {
        // A run that was killed may have left a partial line.
        JtlFormat::Csv if !end.ends_with(b"\n") => file.write_all(b"\n"),
        JtlFormat::Csv => Ok(()),
        JtlFormat::Xml => {
            let is_result_file = start.windows(12).any(|text| text == b"<testResults");
            if !is_result_file {
                let last = FOOTER.trim_end();
                let why = format!(
                    "it is no XML result file (one begins with <testResults> and ends with {last})"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            let new_length = length - footer_length(&end).unwrap_or(0) as u64;
            file.set_len(new_length)?;
            file.seek(SeekFrom::Start(new_length))?;
            // Ends the line of the last sample.
            if new_length < length { file.write_all(b"\n") } else { Ok(()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn record(label: &str) -> SampleRecord {
        SampleRecord {
            label: label.into(),
            code: "200".into(),
            success: true,
            ..SampleRecord::default()
        }
    }

    fn write(path: &Path, format: JtlFormat, labels: &[&str]) -> io::Result<String> {
        let mut file = ResultFile::open(path, JtlSettings { format, ..JtlSettings::default() })?;
        file.take(&labels.iter().map(|label| record(label)).collect::<Vec<_>>());
        file.finish();
        assert!(file.trouble().is_none());
        fs::read_to_string(path)
    }

    fn labels(path: &Path) -> Vec<String> {
        let file = File::open(path).expect("a file");
        let records = brunt_jmx::jtl::read(file, &JtlSettings::default()).expect("a result file");
        records.map(|record| record.expect("a sample").label).collect()
    }

    #[test]
    fn samples_are_appended_to_a_file_of_either_format() {
        let folder = tempfile::tempdir().expect("a folder");
        for (format, header) in [(JtlFormat::Csv, "timeStamp,"), (JtlFormat::Xml, "<?xml")] {
            let path = folder.path().join(format!("{format:?}"));
            let first = write(&path, format, &["a", "b"]).expect("first");
            assert!(first.starts_with(header), "{first}");
            let both = write(&path, format, &["c"]).expect("second");
            assert_eq!(both.matches(header).count(), 1, "{both}");
            assert_eq!(labels(&path), ["a", "b", "c"], "{both}");
        }
    }

    #[test]
    fn truncated_result_files_are_appended_to_and_other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result.jtl");
        let whole = write(&path, JtlFormat::Csv, &["a"]).expect("a file");
        fs::write(&path, whole.trim_end()).expect("torn");
        write(&path, JtlFormat::Csv, &["b"]).expect("second");
        assert_eq!(labels(&path), ["a", "b"]);
        let error = write(&path, JtlFormat::Xml, &["c"]).expect_err("a CSV file");
        assert!(error.to_string().contains("no XML result file"), "{error}");
    }

    #[test]
    fn a_full_disk_is_reported_once() {
        let mut file = ResultFile::open(Path::new("/dev/full"), JtlSettings::default());
        let Ok(file) = &mut file else {
            // The header was refused already: nothing was measured.
            return;
        };
        file.take(&[record("a")]);
        assert!(file.trouble().is_some_and(|text| text.contains("later samples are missing")));
        assert_eq!(
            (file.pending_events(Tick::ZERO).len(), file.pending_events(Tick::ZERO).len()),
            (1, 0)
        );
    }
}
