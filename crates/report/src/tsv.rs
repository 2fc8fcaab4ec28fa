//! Writes the table of autobench, tab-separated with one row per rate, for programs
//! that read its files.
//!
//! Out of scope: further figures. A row covers all repetitions: each figure is their median. The
//! first column of a closed loop is the number of users.

use crate::single;
use crate::study::load_of;
use brunt_model::{Analysis, Judgement, Phase, Run, Study, Trial};
use std::io;

/// autobench writes this error percentage if there was no reply.
const NO_REPLY: f64 = 101.0;
/// Seconds in which httperf counts replies for one sample of the rate.
const SAMPLE_SECONDS: f64 = 5.0;

/// A column: the beginning of its name, and its figure.
type Column = (&'static str, fn(&Run) -> f64);

/// Columns of each contender, in the order of autobench.
const COLUMNS: [Column; 9] = [
    ("req_rate", |run| run.per_second(run.flow.begun)),
    ("con_rate", |run| run.per_second(run.flow.opened)),
    ("min_rep_rate", |run| rates(run).into_iter().fold(f64::INFINITY, f64::min)),
    ("avg_rep_rate", Run::throughput),
    ("max_rep_rate", |run| rates(run).into_iter().fold(0.0, f64::max)),
    ("stddev_rep_rate", deviation),
    ("resp_time", |run| run.total.response.mean() / 1e6),
    // httperf counts 1,024 bytes as a KB.
    ("net_io", |run| run.per_second(run.flow.bytes_received + run.flow.bytes_sent) / 1024.0),
    ("errors", errors),
];

/// Writes a run as one row.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let (study, analysis) = single::study_of(run, judgement);
    write_study(&study, &analysis, out)
}

/// Writes a study as a head, and a row for each load.
pub fn write_study(study: &Study, _: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let names: Vec<String> = study.experiment.contenders.iter().map(|c| word(&c.name)).collect();
    let heads = names.iter().flat_map(|name| COLUMNS.map(|column| format!("{}_{name}", column.0)));
    let head = ["dem_req_rate".to_owned()].into_iter().chain(heads);
    writeln!(out, "{}", head.collect::<Vec<_>>().join("\t"))?;
    let mut loads: Vec<f64> = study.trials.iter().map(|t| load_of(&study.experiment, t)).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    for load in loads {
        let cells = (0..names.len()).flat_map(|contender| cells(study, contender, load));
        let row = [load.to_string()].into_iter().chain(cells).collect::<Vec<_>>();
        writeln!(out, "{}", row.join("\t"))?;
    }
    Ok(())
}

/// Replaces white space in a name: readers split the head at white space.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

/// Returns the cells of a contender at a load, with one decimal as in httperf's output. A load that
/// the contender does not have is zeros.
fn cells(study: &Study, contender: usize, load: f64) -> Vec<String> {
    let trials: Vec<&Trial> =
        study.trials_of(contender).filter(|t| load_of(&study.experiment, t) == load).collect();
    COLUMNS.iter().map(|column| format!("{:.1}", median_figure(&trials, column))).collect()
}

fn median_figure(trials: &[&Trial], column: &Column) -> f64 {
    let mut values: Vec<f64> =
        trials.iter().map(|t| column.1(&t.run)).filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Returns the errors in percent of the replies, as autobench counts them. The value
/// can be above 100.
fn errors(run: &Run) -> f64 {
    let errors = run.total.errors();
    let replies = run.total.completed;
    if replies == 0 { NO_REPLY } else { 100.0 * errors as f64 / replies as f64 }
}

/// Returns the replies per second, for each five seconds of the measured time. A shorter
/// run has one value.
fn rates(run: &Run) -> Vec<f64> {
    let mut rates = Vec::new();
    let mut seconds = 0.0;
    let mut completed = 0;
    for point in run.series.points().filter(|point| point.phase == Phase::Measure) {
        seconds += point.seconds();
        completed += point.flow.completed;
        // The sum of the recorded intervals may be slightly below a sample.
        if seconds >= SAMPLE_SECONDS * 0.999 {
            rates.push(completed as f64 / seconds);
            seconds = 0.0;
            completed = 0;
        }
    }
    if rates.is_empty() { vec![run.throughput()] } else { rates }
}

/// Returns the sample standard deviation of the rates.
fn deviation(run: &Run) -> f64 {
    let rates = rates(run);
    if rates.len() < 2 {
        return 0.0;
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (rates.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;

    fn lines(study: &Study, analysis: &Analysis) -> Vec<String> {
        let mut out = Vec::new();
        write_study(study, analysis, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn two_contenders_have_the_nineteen_columns_of_autobench() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 2);
        let lines = lines(&study, &analysis);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.split('\t').count() == 19), "{lines:?}");
        let head: Vec<&str> = lines[0].split('\t').take(11).collect();
        assert_eq!(
            head,
            [
                "dem_req_rate",
                "req_rate_nginx",
                "con_rate_nginx",
                "min_rep_rate_nginx",
                "avg_rep_rate_nginx",
                "max_rep_rate_nginx",
                "stddev_rep_rate_nginx",
                "resp_time_nginx",
                "net_io_nginx",
                "errors_nginx",
                "req_rate_apache"
            ]
        );
        assert!(lines[1].starts_with("120\t120.0\t0.0\t"), "{}", lines[1]);
    }

    #[test]
    fn rows_without_a_reply_are_written_like_autobench() {
        let mut story = story::RunBuilder::open(50.0, None);
        story.failure(100, 2000, brunt_model::Failure::Refused);
        let mut out = Vec::new();
        write(&story.run(), &Judgement::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().nth(1).unwrap().ends_with("\t101.0"), "{text}");
        assert_eq!(text.lines().next().unwrap().split('\t').count(), 10);
    }
}
