//! The table that autobench writes, so that what reads its files reads ours: tab-separated, one row a rate.
//!
//! Out of scope: all that is known. One row stands for all repetitions: each figure is the median of theirs. A run
//! of a closed loop has its number of users in the first column.

use crate::single;
use crate::study::load_of;
use brunt_model::{Analysis, Judgement, Phase, Run, Study, Trial};
use std::io;

/// What autobench writes where there was no reply.
const NO_REPLY: f64 = 101.0;
/// Seconds over which httperf counts replies.
const SAMPLE_SECONDS: f64 = 5.0;

/// A column: what its name begins with, and its figure.
type Column = (&'static str, fn(&Run) -> f64);

/// The columns of each contender, in the order in which autobench has them.
const COLUMNS: [Column; 9] = [
    ("req_rate", |run| run.per_second(run.flow.begun)),
    ("con_rate", |run| run.per_second(run.flow.opened)),
    ("min_rep_rate", |run| rates(run).into_iter().fold(f64::INFINITY, f64::min)),
    ("avg_rep_rate", Run::throughput),
    ("max_rep_rate", |run| rates(run).into_iter().fold(0.0, f64::max)),
    ("stddev_rep_rate", deviation),
    ("resp_time", |run| run.total.response.mean() / 1e6),
    ("net_io", |run| run.per_second(run.flow.bytes_received + run.flow.bytes_sent) / 1024.0),
    ("errors", errors),
];

/// Writes a run: a row.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let (study, analysis) = single::study_of(run, judgement);
    write_study(&study, &analysis, out)
}

/// Writes a study: a head, and a row for each load.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_study(study: &Study, _: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let names: Vec<String> = study.experiment.contenders.iter().map(|c| word(&c.name)).collect();
    let of_contender = |name: &String| COLUMNS.map(|column| format!("{}_{name}", column.0));
    let head = ["dem_req_rate".to_owned()].into_iter().chain(names.iter().flat_map(of_contender));
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

/// Names stand in a head that is split at white space.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

/// One decimal, as in httperf's output; a load that a contender was not given has zeros.
fn cells(study: &Study, contender: usize, load: f64) -> Vec<String> {
    let trials: Vec<&Trial> = study.of(contender).filter(|t| load_of(&study.experiment, t) == load).collect();
    let figure = |column: &Column| {
        let mut values: Vec<f64> = trials.iter().map(|t| column.1(&t.run)).filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
        format!("{median:.1}")
    };
    COLUMNS.iter().map(figure).collect()
}

/// Errors in per cent of replies, as autobench counts them: may be more than 100.
fn errors(run: &Run) -> f64 {
    let (errors, replies) = (run.total.errors(), run.total.completed);
    if replies == 0 { NO_REPLY } else { 100.0 * errors as f64 / replies as f64 }
}

/// Replies per second in pieces of five seconds of the measured time; a shorter run is one piece.
fn rates(run: &Run) -> Vec<f64> {
    let (mut rates, mut seconds, mut completed) = (Vec::new(), 0.0, 0);
    for point in run.series.points().filter(|point| point.phase == Phase::Measure) {
        seconds += point.seconds();
        completed += point.flow.completed;
        if seconds >= SAMPLE_SECONDS * 0.999 {
            rates.push(completed as f64 / seconds);
            (seconds, completed) = (0.0, 0);
        }
    }
    if rates.is_empty() { vec![run.throughput()] } else { rates }
}

/// The standard deviation of a sample.
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
    fn no_reply_is_told_as_autobench_does() {
        let mut story = story::Story::open(50.0, None);
        story.failure(100, 2000, brunt_model::Failure::Refused);
        let mut out = Vec::new();
        write(&story.run(), &Judgement::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().nth(1).unwrap().ends_with("\t101.0"), "{text}");
        assert_eq!(text.lines().next().unwrap().split('\t').count(), 10);
    }
}
