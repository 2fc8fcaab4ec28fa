//! Reads Locust's CSV files, `--csv`: the history with a row for each second, and the statistics.

use super::sampled::{alone, named_load};
use super::values::{first_line, number, percentile, share};
use super::{File, LITTLE, NO_PERCENTILES, ONE_VALUE};
use brunt_model::analysis::SecondOfTrial;
use brunt_model::{Observation, Observations};
use csv::StringRecord;

const ERRORS: &str =
    "Locust does not tell failed requests without a reply from others: all count as completed";

pub fn is_history(text: &str) -> bool {
    has_columns(text, &["Timestamp", "User Count", "Total Request Count"])
}

pub fn is_statistics(text: &str) -> bool {
    has_columns(text, &["Name", "Request Count", "Average Response Time", "Requests/s"])
}

fn has_columns(text: &str, names: &[&str]) -> bool {
    let header = first_line(text);
    names.iter().all(|name| header.split(',').any(|cell| cell.trim_matches('"') == *name))
}

/// A row of a CSV file, whose cells are found by their names.
struct NamedRow<'f> {
    names: &'f StringRecord,
    cells: StringRecord,
}

impl NamedRow<'_> {
    fn figure(&self, name: &str) -> Option<f64> {
        let place = self.names.iter().position(|column| column == name)?;
        self.cells.get(place).and_then(number)
    }

    /// A time that the file has in milliseconds, in seconds.
    fn seconds(&self, name: &str) -> Option<f64> {
        self.figure(name).map(|millis| millis / 1e3)
    }
}

/// Passes the rows of all requests together to a function.
fn for_each_total(file: &File, mut add: impl FnMut(&NamedRow<'_>)) -> Result<(), String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.text.as_bytes());
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = names.iter().position(|name| name == "Name");
    for cells in reader.records() {
        let cells = cells.map_err(|error| error.to_string())?;
        if place.and_then(|place| cells.get(place)) == Some("Aggregated") {
            add(&NamedRow { names: &names, cells });
        }
    }
    Ok(())
}

/// Sums since the start, at one time.
#[derive(Clone, Copy)]
struct Sums {
    time: f64,
    requests: f64,
    failures: f64,
    /// Sum of all response times.
    seconds: f64,
}

impl Sums {
    fn read(row: &NamedRow<'_>) -> Option<Self> {
        let requests = row.figure("Total Request Count")?;
        Some(Self {
            time: row.figure("Timestamp")?,
            requests,
            failures: row.figure("Total Failure Count")?,
            seconds: row.seconds("Total Average Response Time")? * requests,
        })
    }
}

pub fn history(file: &File) -> Result<Observations, String> {
    let mut sums: Vec<Sums> = Vec::new();
    let mut users: Vec<f64> = Vec::new();
    let mut unreadable = 0_u64;
    let mut observation = Observation::default();
    for_each_total(file, |row| {
        let Some(sum) = Sums::read(row) else {
            unreadable += 1;
            return;
        };
        // Several rows may have the same second.
        if sums.last().is_some_and(|last| last.time >= sum.time) {
            sums.pop();
        }
        sums.push(sum);
        // Before the first user, and after the last one, nothing is requested.
        users.extend(row.figure("User Count").filter(|users| *users > 0.0));
        observation.min = row.seconds("Total Min Response Time");
        observation.max = row.seconds("Total Max Response Time");
        observation.quantiles = row
            .seconds("Total Median Response Time")
            .and_then(|median| percentile(50.0, median))
            .into_iter()
            .collect();
    })?;
    let (Some(first), Some(last)) = (sums.first(), sums.last()) else {
        return Err(
            "it has no row `Aggregated` with counts, as Locust writes it each second".into()
        );
    };
    let seconds = last.time - first.time;
    if seconds <= 0.0 || last.requests <= first.requests {
        return Err("it has no requests in two different seconds".into());
    }
    // The counts of the first row belong to the time before it.
    observation.achieved = (last.requests - first.requests) / seconds;
    observation.mean = share(last.seconds, last.requests);
    observation.errors = share(last.failures, last.requests);
    observation.load = users.iter().copied().fold(1.0, f64::max);
    observation.blocks = sums.windows(2).map(|pair| block(pair[0], pair[1])).collect();
    let mut all = alone(
        observation,
        &[
            ERRORS,
            "the percentiles of the history describe its last 10 s: only the median of all requests is used; NAME_stats.csv has the others",
        ],
    );
    if users.iter().any(|count| *count != all.observations[0].load) {
        all.notes.push("the number of users changed: the load is the largest one".into());
    }
    if unreadable > 0 {
        all.notes.push(format!("rows left out because they cannot be read: {unreadable}").into());
    }
    Ok(all)
}

fn block(before: Sums, after: Sums) -> SecondOfTrial {
    let completed = (after.requests - before.requests).max(0.0);
    SecondOfTrial {
        seconds: after.time - before.time,
        planned: completed as u64,
        completed: completed as u64,
        mean: share((after.seconds - before.seconds).max(0.0), completed),
        p99: None,
    }
}

pub fn statistics(file: &File) -> Result<Observations, String> {
    let mut observation = None;
    for_each_total(file, |row| observation = total(row, file))?;
    let observation =
        observation.ok_or("it has no row `Aggregated` with counts, as Locust writes it")?;
    let mut notes = vec![ERRORS, LITTLE, ONE_VALUE];
    if observation.quantiles.is_empty() {
        notes.push(NO_PERCENTILES);
    }
    Ok(alone(observation, &notes))
}

fn total(row: &NamedRow<'_>, file: &File) -> Option<Observation> {
    let achieved = row.figure("Requests/s")?;
    let mean = row.seconds("Average Response Time");
    let percents =
        row.names.iter().filter_map(|name| Some((name, number(name.strip_suffix('%')?)?)));
    let quantiles =
        percents.filter_map(|(name, percent)| percentile(percent, row.seconds(name)?)).collect();
    Some(Observation {
        load: named_load(file, (achieved * mean.unwrap_or(0.0)).max(1.0)),
        achieved,
        mean,
        quantiles,
        min: row.seconds("Min Response Time"),
        max: row.seconds("Max Response Time"),
        errors: share(row.figure("Failure Count")?, row.figure("Request Count")?),
        ..Observation::default()
    })
}
