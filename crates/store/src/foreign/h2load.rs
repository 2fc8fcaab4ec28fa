//! Reads the log of h2load, `--log-file`: a row with start, status and duration for each request.

use super::sampled::{RequestSample, SampleRows, TimeResolution};
use super::values::{first_line, number, numbered_lines};
use super::{File, LITTLE};
use brunt_model::Observations;

/// Start of requests of this century, in microseconds. Smaller numbers are no log of h2load.
const FIRST_MICROS: f64 = 946_684_800e6;

pub fn matches(text: &str) -> bool {
    sample(first_line(text)).is_some()
}

pub fn read(file: &File) -> Result<Observations, String> {
    let mut rows = SampleRows::default();
    for (line, text) in numbered_lines(&file.text) {
        rows.add(line, sample(text));
    }
    let expected = "start, status and duration are expected, as h2load --log-file writes them";
    rows.observations(file, TimeResolution::Millisecond, expected, &[LITTLE])
}

fn sample(line: &str) -> Option<RequestSample> {
    let mut cells = line.split('\t');
    let start = cells.next().and_then(number).filter(|start| *start > FIRST_MICROS)?;
    // -1 if there was no reply.
    let status: i32 = cells.next()?.trim().parse().ok()?;
    let duration = cells.next().and_then(number)?;
    let ends = cells.next().is_none();
    ends.then_some(RequestSample {
        start: start / 1e6,
        duration: duration / 1e6,
        completed: status > 0,
        good: (1..400).contains(&status),
    })
}
