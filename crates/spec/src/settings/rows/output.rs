//! Settings of reports and other outputs, and of probes.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, on, set, whole};
use crate::settings::{ArgumentContent, RunSettings, SettingKey, TraceFilter, ValueForm};
use crate::words::live_output::{self, LIVE_OUTPUTS};
use crate::words::named::{self, Suggestion};
use crate::words::{WordError, probe, values};
use brunt_model::plan::RecordDetail;
use brunt_report::REPORTS;

type S = RunSettings;

const OUTPUT: &str = "Output";

/// Rows under the heading of output.
pub static ROWS: [Row<RunSettings>; 11] = [
    Row::repeated("output", "FORMAT[=FILE]", "", |w, environment| match live_output::row(w) {
        Some(row) => set(row.parse(w, environment), |s: &mut S, v| s.output.live_outputs.push(v)),
        None => set(values::output(w), |s: &mut S, v| s.output.outputs.push(v)),
    })
    .under(OUTPUT)
    .short('o')
    // Generated, so that the help lists every format of the crate `report`.
    .help(formats)
    .suggestions(suggested_outputs)
    .keys(&[SettingKey::new("outputs", ValueForm::Each)
        .about("Reports, each FORMAT or FORMAT=FILE, relative to where brunt is called")]),
    Row::value("events", "FILE", "Write the event log to this file, for `brunt replay`", |w, _| {
        set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.output.events = Some(v))
    })
    .under(OUTPUT)
    .content(ArgumentContent::Path),
    Row::value(
        "jtl",
        "FILE",
        "Append each sample to this result file of JMeter (.jtl; .xml: with headers, too)",
        |w, _| set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.output.jtl = Some(v)),
    )
    .under(OUTPUT)
    .content(ArgumentContent::Path),
    Row {
        needs: Some("jtl"),
        ..Row::value("jtl-format", "FORMAT", "Format of --jtl: csv or xml", |w, _| {
            set(detail(w), |s: &mut S, v| s.output.jtl_format = Some(v))
        })
        .under(OUTPUT)
        .otherwise("xml for .xml, else csv")
        // JMeter's names of the formats.
        .content(ArgumentContent::Choice(&["csv", "xml"]))
    },
    Row {
        excludes: &["jtl", "events"],
        ..Row::switch(
            "trace",
            "Debug a scenario: one user and one iteration (more with -c and \
             --iterations); each request and reply in full, changed variables, and searched texts",
            |_, _| Ok(on(|s: &mut S| s.output.trace = true)),
        )
        .under(OUTPUT)
    },
    Row {
        needs: Some("trace"),
        ..Row::repeated(
            "trace-only",
            "WHICH",
            "Samples that --trace shows: failed, label=NAME, sample=N or sample=N..M; combined by AND",
            |w, _| set(trace_filter(w), |s: &mut S, v| s.output.trace_view.only.push(v)),
        )
        .under(OUTPUT)
        .suggestions(|| {
            named::of_list(&[
                ("failed", "failed samples"),
                ("label=", "samples of this label"),
                ("sample=", "samples with these numbers"),
            ])
        })
    },
    Row {
        needs: Some("trace"),
        ..Row::value(
            "trace-files",
            "DIR",
            "Write each sample that --trace shows to DIR: as a line of samples.jsonl, and the body of each reply as a file",
            |w, _| set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.output.trace_view.files = Some(v)),
        )
        .under(OUTPUT)
        .content(ArgumentContent::Path)
    },
    Row {
        needs: Some("trace"),
        ..Row::switch("show-secrets", "Show passwords, tokens and cookies in --trace, on a terminal only", |_, _| {
            Ok(on(|s: &mut S| s.output.trace_view.shows_secrets = true))
        })
        .under(OUTPUT)
    },
    Row::value("interval", "TIME", "Time between snapshots: resolution of the time series", |w, _| {
        set(values::interval(w), |s: &mut S, v| s.record.interval = v)
    })
    .under(OUTPUT)
    .default(defaults::INTERVAL),
    Row::value("labels", "N", "Maximum number of labels (URLs) reported; the rest are summed as (other)", |w, _| {
        set(whole(w, 1, u64::from(u32::MAX)), |s: &mut S, v| s.record.labels = v)
    })
    .under(OUTPUT)
    .default(defaults::LABELS),
    Row::switch("quiet", "No progress while running, and no text except the reports given by -o", |_, _| {
        Ok(on(|s: &mut S| s.output.quiet = true))
    })
    .under(OUTPUT)
    .short('q'),
];

/// The row of probes, which read the server during the run.
pub static SERVER: [Row<RunSettings>; 1] = [Row::repeated(
    "probe",
    "WHAT[=WHICH]",
    "Read this source of the server each second: host, process=NAME, port=N, nginx=URL, php-fpm=URL, …",
    |w, _| set(probe::parse(w), |s: &mut S, v| s.probes.push(v)),
)
.under("Server")
.suggestions(probe::suggestions)];

/// Parses the format of a result file, which determines the detail of each sample.
fn detail(word: &str) -> Result<RecordDetail, WordError> {
    match word {
        "csv" => Ok(RecordDetail::Lines),
        "xml" => Ok(RecordDetail::Full),
        _ => Err(WordError::new(word, "no format of result files", "csv or xml")),
    }
}

/// Parses a filter for the samples of a trace.
fn trace_filter(word: &str) -> Result<TraceFilter, WordError> {
    let filter = match word.split_once('=') {
        None if word == "failed" => Some(TraceFilter::Failed),
        Some(("label", name)) if !name.is_empty() => Some(TraceFilter::Label(name.to_owned())),
        Some(("sample", numbers)) => numbers_from_one(numbers),
        _ => None,
    };
    filter.ok_or_else(|| {
        WordError::new(word, "no choice of samples", "failed, label=NAME, sample=3 or sample=3..7")
    })
}

/// Parses a number from 1, or a range such as `3..7`.
fn numbers_from_one(text: &str) -> Option<TraceFilter> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = first.parse().ok().zip(last.parse().ok())?;
    (first > 0 && first <= last).then_some(TraceFilter::Numbers { first, last })
}

/// Returns the reports and the systems of `-o` that shells propose.
fn suggested_outputs() -> Vec<Suggestion> {
    let reports = REPORTS.iter().map(|format| Suggestion::new(format.name, format.about));
    let systems = LIVE_OUTPUTS.iter().map(|row| {
        let about = format!("figures for {} during the load", row.title);
        Suggestion::new(format!("{}=", row.name), about)
    });
    reports.chain(systems).collect()
}

/// Generates the help of `-o`.
fn formats() -> String {
    let names = REPORTS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let live = LIVE_OUTPUTS
        .iter()
        .map(|row| format!("{}={}", row.name, row.value))
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        "Report in FORMAT ({names}), to FILE or standard output. Text goes to standard output unless another report does. \
         {live}: send figures there while the load runs"
    )
}
