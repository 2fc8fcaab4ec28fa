//! The time series as CSV: one row an interval, the fields of [`Interval`] as its head.

use crate::result::{self, Interval};
use brunt_model::{Judgement, Run};
use std::io;

/// Writes the head and one row for each interval of the run.
pub fn write(run: &Run, _: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let mut rows = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    rows.write_record(head()?)?;
    for interval in result::series(run) {
        rows.serialize(interval)?;
    }
    rows.flush()
}

/// The names of the fields, in their order; a run without intervals has them too.
fn head() -> io::Result<Vec<String>> {
    match serde_json::to_value(Interval::default())? {
        serde_json::Value::Object(fields) => Ok(fields.into_iter().map(|f| f.0).collect()),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;

    fn csv(run: &Run) -> String {
        let mut out = Vec::new();
        write(run, &Judgement::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_row_an_interval_and_a_head() {
        let text = csv(&story::closed().run());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 12);
        assert!(lines[0].starts_with("from_seconds,to_seconds,phase,planned,begun,completed,good,errors,throughput_"));
        assert!(lines[1].starts_with("0.0,1.0,measure,112,112,112,112,0,112.0,0.000303"), "{}", lines[1]);
        assert!(lines[11].starts_with("10.0,11.0,grace,0,0,0,0,0,0.0,,,,,0,0,"), "{}", lines[11]);
        assert!(lines.iter().all(|l| l.matches(',').count() == 18));
    }

    #[test]
    fn a_run_without_intervals_has_its_head() {
        assert_eq!(csv(&Run::default()).lines().count(), 1);
    }
}
