//! Reads the results of oha and hey: oha's JSON, and the CSV of both with a row for each request.

use super::sampled::{RequestSample, SampleRows, TimeResolution, alone, named_load};
use super::values::{
    figure, first_line, json_in, number, numbered_lines, percentile, required_figure, share, sum,
};
use super::{File, LITTLE, ONE_VALUE};
use brunt_model::analysis::ObservedQuantile;
use brunt_model::{Observation, Observations};
use serde_json::Value;

/// Error of requests that the end of the run cut.
const CUT: &str = "aborted due to deadline";

/// A CSV with a row for each request, in seconds.
struct CsvFormat {
    header: &'static str,
    /// Columns of the start, the duration and the status.
    columns: [usize; 3],
}

const CSV_FORMATS: [CsvFormat; 2] = [
    CsvFormat {
        header: "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status",
        columns: [0, 4, 6],
    },
    CsvFormat {
        header: "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset",
        columns: [7, 0, 6],
    },
];

fn csv_format(text: &str) -> Option<&'static CsvFormat> {
    let header = first_line(text).trim_end();
    CSV_FORMATS.iter().find(|format| format.header == header)
}

pub fn is_csv(text: &str) -> bool {
    csv_format(text).is_some()
}

pub fn csv(file: &File) -> Result<Observations, String> {
    let columns = csv_format(&file.text).map(|format| format.columns).unwrap_or_default();
    let mut rows = SampleRows::default();
    for (line, text) in numbered_lines(&file.text).skip(1) {
        let cells: Vec<&str> = text.split(',').collect();
        let figures = columns.map(|column| cells.get(column).and_then(|cell| number(cell)));
        let [Some(start), Some(duration), Some(status)] = figures else {
            rows.skip(line);
            continue;
        };
        rows.add(
            line,
            Some(RequestSample {
                start,
                duration,
                completed: status > 0.0,
                good: (1.0..400.0).contains(&status),
            }),
        );
    }
    let expected = "a row with times and a status is expected, as its header says";
    let finished =
        "only requests with a reply are in the file: errors of connections are not known";
    rows.observations(file, TimeResolution::Millisecond, expected, &[LITTLE, finished])
}

pub fn is_json(text: &str) -> bool {
    json_in(text).is_some_and(|value| {
        value["summary"]["requestsPerSec"].is_number() && value["latencyPercentiles"].is_object()
    })
}

pub fn json(file: &File) -> Result<Observations, String> {
    let value = json_in(&file.text).unwrap_or_default();
    let summary = &value["summary"];
    let statuses = &value["statusCodeDistribution"];
    let errors = &value["errorDistribution"];
    let completed = sum(statuses);
    // oha counts them as errors, although the server did not fail.
    let failed = (sum(errors) - figure(errors, CUT).unwrap_or(0.0)).max(0.0);
    let mean = figure(summary, "average");
    let achieved = share(completed, required_figure(summary, "total")?).unwrap_or(0.0);
    let quantiles = value["latencyPercentiles"].as_object().into_iter().flatten();
    let observation = Observation {
        load: named_load(file, (achieved * mean.unwrap_or(0.0)).max(1.0)),
        achieved,
        mean,
        quantiles: quantiles.filter_map(quantile).collect(),
        min: figure(summary, "fastest"),
        max: figure(summary, "slowest"),
        errors: share(failed + bad_replies(statuses), failed + completed),
        ..Observation::default()
    };
    Ok(alone(observation, &[LITTLE, ONE_VALUE]))
}

/// Counts replies with a status from 400 on.
fn bad_replies(statuses: &Value) -> f64 {
    let counts = statuses.as_object().into_iter().flatten();
    let bad = counts.filter(|(status, _)| number(status).is_some_and(|status| status >= 400.0));
    bad.filter_map(|(_, count)| count.as_f64()).sum()
}

fn quantile(entry: (&String, &Value)) -> Option<ObservedQuantile> {
    percentile(number(entry.0.strip_prefix('p')?)?, entry.1.as_f64()?)
}
