//! Reads the JTL files of `JMeter`: CSV with a header, or XML. One file is one trial.

use super::sampled::{RequestSample, TimeResolution, alone, trial};
use super::{File, first_line, number};
use brunt_model::Observations;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashSet;

const NOTES: [&str; 2] = [
    "JMeter's elapsed time begins when a request is sent, and a thread waits for its reply: a queue before the server is \
     not seen (coordinated omission)",
    "the load is the number of JMeter's threads that asked; how long they thought in between is not known",
];

pub fn is_csv(text: &str) -> bool {
    let header = first_line(text);
    header.contains("timeStamp") && header.contains("elapsed") && header.contains("label")
}

pub fn csv(file: &File) -> Result<Observations, String> {
    let header = first_line(&file.text);
    let divider = [b'\t', b';', b'|', b',']
        .into_iter()
        .find(|d| header.contains(char::from(*d)))
        .unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(divider)
        .flexible(true)
        .from_reader(file.text.as_bytes());
    let names = reader.headers().map_err(|e| e.to_string())?.clone();
    // Some programs write a byte order mark before the first name.
    let column = |name: &str| {
        names.iter().position(|known| known.trim_start_matches('\u{feff}').trim() == name)
    };
    let places =
        ["timeStamp", "elapsed", "success", "responseCode", "threadName", "responseMessage"]
            .map(column);
    let mut contents = JtlContents::default();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let [stamp, elapsed, success, code, thread, message] =
            places.map(|place| place.and_then(|at| record.get(at)));
        let sample = JtlSample { stamp, elapsed, success, code, thread, message };
        contents.add(&sample).ok_or_else(|| {
            format!("line {line}: timeStamp and elapsed in milliseconds are expected")
        })?;
    }
    contents.finish()
}

pub fn is_xml(text: &str) -> bool {
    let head: String = text.chars().take(400).collect();
    head.contains("<testResults")
}

pub fn xml(file: &File) -> Result<Observations, String> {
    let mut reader = quick_xml::Reader::from_str(&file.text);
    let mut contents = JtlContents::default();
    let mut depth = 0_u32;
    loop {
        let event =
            reader.read_event().map_err(|e| format!("at byte {}: {e}", reader.error_position()))?;
        match event {
            Event::Start(element) => {
                depth += 1;
                add_element(&element, depth, &mut contents)?;
            }
            Event::Empty(element) => add_element(&element, depth + 1, &mut contents)?,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Eof => return contents.finish(),
            _ => {}
        }
    }
}

/// Adds the sample of an element. Samples are children of the root; deeper ones are
/// parts of another sample.
fn add_element(element: &BytesStart, depth: u32, contents: &mut JtlContents) -> Result<(), String> {
    if depth != 2 || !["httpSample", "sample"].contains(&element.name().as_ref()) {
        return Ok(());
    }
    let [stamp, elapsed, success, code, thread, message] =
        ["ts", "t", "s", "rc", "tn", "rm"].map(|name| attribute(element, name));
    let sample = JtlSample {
        stamp: stamp.as_deref(),
        elapsed: elapsed.as_deref(),
        success: success.as_deref(),
        code: code.as_deref(),
        thread: thread.as_deref(),
        message: message.as_deref(),
    };
    contents.add(&sample).ok_or_else(|| "a sample without ts and t in milliseconds".into())
}

fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    Some(attribute.normalized_value(XmlVersion::Explicit1_0).ok()?.into_owned())
}

/// Fields of one sample, as text; None if the file lacks them.
struct JtlSample<'a> {
    stamp: Option<&'a str>,
    elapsed: Option<&'a str>,
    success: Option<&'a str>,
    code: Option<&'a str>,
    thread: Option<&'a str>,
    message: Option<&'a str>,
}

#[derive(Default)]
struct JtlContents {
    samples: Vec<RequestSample>,
    threads: HashSet<String>,
    transactions: u64,
}

impl JtlContents {
    /// Adds a sample. Returns None if its time stamp or its duration is not a number.
    fn add(&mut self, sample: &JtlSample) -> Option<()> {
        let start = sample.stamp.and_then(number)?;
        let duration = sample.elapsed.and_then(number)?;
        // JMeter marks a transaction with this message only. Its requests have separate samples.
        if sample
            .message
            .is_some_and(|message| message.starts_with("Number of samples in transaction"))
        {
            self.transactions += 1;
            return Some(());
        }
        let good = sample.success.is_none_or(|word| word.trim() == "true");
        // JMeter writes a sentence in place of the status code if there was no reply.
        let completed = sample.code.map_or(good, |code| code.trim().parse::<u16>().is_ok());
        self.samples.push(RequestSample {
            start: start / 1e3,
            duration: duration / 1e3,
            completed,
            good,
        });
        if let Some(thread) = sample.thread {
            self.threads.insert(thread.to_owned());
        }
        Some(())
    }

    fn finish(self) -> Result<Observations, String> {
        let mut observation = trial(&self.samples, TimeResolution::Millisecond)?;
        observation.load = self.threads.len().max(1) as f64;
        let mut all = alone(observation, &NOTES);
        if self.threads.is_empty() {
            all.notes.push(
                "the file has no threadName: the number of threads is unknown; 1 is assumed".into(),
            );
        }
        if self.transactions > 0 {
            let count = self.transactions;
            let note = format!(
                "{count} transaction samples are left out: the file also has their requests"
            );
            all.notes.push(note.into());
        }
        Ok(all)
    }
}
