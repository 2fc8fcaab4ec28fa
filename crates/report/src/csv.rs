//! Writes CSV: the time series of a run, or the trials of a study.
//!
//! For a run, each row is an interval, and the columns are the fields of [`IntervalRow`]. For a study,
//! each row is a trial. Its figures have the names of [`crate::study::TrialDocument`], and each of
//! its readings has a column.

use crate::result::{self, IntervalRow, Times};
use crate::study::TrialDocument;
use brunt_model::{Analysis, Judgement, Run, Study};
use std::collections::BTreeSet;
use std::io;

/// Writes the head and one row for each interval of the run.
pub fn write(run: &Run, _: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    // A run without intervals has a head, too, which the writer would take from the first row.
    let mut rows = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    let has_agents = !run.agents.is_empty();
    let lost_agents = has_agents.then(|| "agents_lost".to_owned());
    rows.write_record(head()?.into_iter().chain(lost_agents))?;
    for mut interval in result::series(run) {
        // It is left out if it is 0, but each row of a table has all columns.
        let lost = std::mem::take(&mut interval.agents_lost);
        if has_agents {
            rows.serialize((interval, lost))?;
        } else {
            rows.serialize(interval)?;
        }
    }
    rows.flush()
}

/// Returns the names of the fields, in order. A run without intervals has them, too.
fn head() -> io::Result<Vec<String>> {
    match serde_json::to_value(IntervalRow::default())? {
        // The keys are in the order of the fields: the workspace enables `preserve_order` of
        // `serde_json`.
        serde_json::Value::Object(fields) => Ok(fields.into_iter().map(|f| f.0).collect()),
        _ => Ok(Vec::new()),
    }
}

/// A column of a study's table: its head, and the function that returns its cells.
type Column = (&'static str, fn(&TrialDocument) -> String);

/// Columns of every study. The columns of its readings follow.
const COLUMNS: [Column; 30] = [
    ("contender", |t| text(&t.contender)),
    ("repetition", |t| t.repetition.to_string()),
    ("step", |t| t.step.to_string()),
    ("load", |t| t.load.to_string()),
    ("id", |t| t.id.clone().unwrap_or_default()),
    ("started", |t| t.started.clone()),
    ("measured_seconds", |t| t.measured_seconds.to_string()),
    ("offered_per_second", |t| number_cell(t.offered_per_second)),
    ("throughput_per_second", |t| t.throughput_per_second.to_string()),
    ("goodput_per_second", |t| t.goodput_per_second.to_string()),
    ("planned", |t| t.requests.planned.to_string()),
    ("begun", |t| t.requests.begun.to_string()),
    ("completed", |t| t.requests.completed.to_string()),
    ("good", |t| t.requests.good.to_string()),
    ("failed", |t| t.requests.failed.to_string()),
    ("dropped", |t| t.requests.dropped.to_string()),
    ("errors", |t| t.requests.errors.to_string()),
    ("error_share", |t| number_cell(t.error_share)),
    ("response_mean_seconds", |t| time(t, |times| times.mean)),
    ("response_min_seconds", |t| time(t, |times| times.min)),
    ("response_p50_seconds", |t| time(t, |times| times.p50)),
    ("response_p90_seconds", |t| time(t, |times| times.p90)),
    ("response_p95_seconds", |t| time(t, |times| times.p95)),
    ("response_p99_seconds", |t| time(t, |times| times.p99)),
    ("response_max_seconds", |t| time(t, |times| times.max)),
    // A `≥` before a number would make the cell text for a spreadsheet, so bounds have a column.
    ("response_at_least", |t| {
        t.response_time_seconds.as_ref().map_or(String::new(), |times| times.at_least.join(" "))
    }),
    ("service_p99_seconds", |t| number_cell(t.service_time_p99_seconds)),
    ("lag_p99_seconds", |t| number_cell(t.lag_p99_seconds)),
    ("verdict", |t| t.verdict.state.key().into()),
    ("interrupted", |t| t.interrupted.to_string()),
];

/// Writes the head and one row for each trial of the study.
pub fn write_study(study: &Study, _: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let trials: Vec<TrialDocument> =
        study.trials.iter().map(|t| TrialDocument::new(&study.experiment, t)).collect();
    // Trials may differ in their readings, but CSV needs equal columns in all rows.
    let readings: BTreeSet<(String, String)> = trials.iter().flat_map(reading_names).collect();
    let mut rows = csv::WriterBuilder::new().from_writer(out);
    let head = COLUMNS.iter().map(|column| column.0.to_owned());
    rows.write_record(
        head.chain(readings.iter().map(|(source, name)| text(&format!("{source} {name}")))),
    )?;
    for trial in &trials {
        let values = readings.iter().map(|(source, name)| {
            number_cell(
                trial.readings.get(source).and_then(|of_source| of_source.get(name)).copied(),
            )
        });
        rows.write_record(COLUMNS.iter().map(|column| column.1(trial)).chain(values))?;
    }
    rows.flush()
}

/// Returns source and name of each reading of a trial.
fn reading_names(trial: &TrialDocument) -> Vec<(String, String)> {
    let names = trial.readings.iter().flat_map(|(source, of_source)| {
        of_source.keys().map(|name| (source.clone(), name.clone()))
    });
    names.collect()
}

/// Quotes text of users and servers, so that no spreadsheet runs it as a formula. Numbers are never
/// changed.
fn text(text: &str) -> String {
    // These characters begin a formula according to OWASP's page on CSV injection.
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

/// Returns the cell of a figure; empty if it is unknown.
fn number_cell(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn time(trial: &TrialDocument, select: fn(&Times) -> f64) -> String {
    number_cell(trial.response_time_seconds.as_ref().map(select))
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
    fn a_run_has_a_header_and_one_row_per_interval() {
        let text = csv(&story::closed().run());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 12);
        assert!(lines[0].starts_with(
            "from_seconds,to_seconds,phase,planned,begun,completed,good,errors,throughput_"
        ));
        assert!(
            lines[1].starts_with("0.0,1.0,measure,112,112,112,112,0,112.0,0.000303"),
            "{}",
            lines[1]
        );
        assert!(lines[11].starts_with("10.0,11.0,grace,0,0,0,0,0,0.0,,,,,0,0,"), "{}", lines[11]);
        assert!(lines.iter().all(|l| l.matches(',').count() == 18));
    }

    #[test]
    fn a_run_without_intervals_has_a_header() {
        assert_eq!(csv(&Run::default()).lines().count(), 1);
    }

    #[test]
    fn texts_are_never_formulas() {
        let (mut study, analysis) = story::sweep_of(&[120.0], 1);
        study.experiment.contenders[0].name = "=HYPERLINK(\"http://x\")".into();
        study.experiment.contenders[1].name = "@SUM(1)".into();
        let mut out = Vec::new();
        write_study(&study, &analysis, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<_> = text.lines().skip(1).collect();
        assert!(rows.iter().any(|row| row.starts_with("\"'=HYPERLINK(")), "{rows:?}");
        assert!(rows.iter().any(|row| row.starts_with("'@SUM(1),")), "{rows:?}");
        assert!(
            ["=a", "+a", "-a", "@a", "\ta"].iter().all(|cell| super::text(cell).starts_with('\''))
        );
        assert_eq!((super::text("a=b"), super::text("nginx")), ("a=b".into(), "nginx".into()));
    }

    #[test]
    fn a_study_has_one_row_per_trial() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        let mut out = Vec::new();
        write_study(&study, &analysis, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 8);
        assert!(
            lines[0].contains("interrupted,generator cpu_system_seconds_per_second,"),
            "{}",
            lines[0]
        );
        assert!(
            lines[1]
                .starts_with("nginx,1,1,120,r1101,2026-07-01T12:00:00.250Z,10,120,120,120,1200,"),
            "{}",
            lines[1]
        );
        assert!(lines.iter().all(|l| l.matches(',').count() == lines[0].matches(',').count()));
    }
}
