//! Reads the output of autobench: one row per rate, columns for each host, separated
//! by tabs or commas.

use super::values::{first_line, number, numbered_lines};
use super::{File, NO_PERCENTILES, ONE_VALUE};
use brunt_model::{LoadUnit, Observation, Observations};

pub fn matches(text: &str) -> bool {
    first_line(text).starts_with("dem_req_rate")
}

/// Reads a table. Each host becomes a contender.
pub fn read(file: &File) -> Result<Observations, String> {
    let header = first_line(&file.text);
    let divider = if header.contains('\t') { '\t' } else { ',' };
    let names: Vec<&str> = header.split(divider).map(str::trim).collect();
    let hosts: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("req_rate_")).collect();
    if hosts.is_empty() {
        return Err("its header names no host: a column req_rate_HOST is expected".into());
    }
    let mut all = Observations {
        contenders: hosts.iter().map(|host| (*host).to_owned()).collect(),
        factors: Vec::new(),
        unit: LoadUnit::PerSecond,
        observations: Vec::new(),
        objectives: Vec::new(),
        notes: vec![ONE_VALUE.into(), NO_PERCENTILES.into()],
    };
    let mut short = false;
    for (number_of_line, line) in numbered_lines(&file.text).skip(1) {
        let row: Option<Vec<f64>> = line.split(divider).map(number).collect();
        let row = row.filter(|row| row.len() == names.len());
        let row = row.ok_or_else(|| {
            format!("line {number_of_line}: its header requires {} numbers", names.len())
        })?;
        for (contender, host) in hosts.iter().enumerate() {
            let column = |name: &str| {
                let place = names
                    .iter()
                    .position(|known| known.strip_prefix(name).is_some_and(|rest| rest == *host));
                place.map(|place| row[place])
            };
            let (observation, rates) = observed(row[0], column);
            short |= rates == Rates::None;
            all.observations.push(Observation { contender, ..observation });
        }
    }
    if short {
        all.notes
            .push("steps shorter than 5 s have no reply rate: their throughput is the request rate less errors".into());
    }
    Ok(all)
}

/// Whether httperf reported a reply rate. It needs 5 s to compute one.
#[derive(PartialEq, Eq)]
enum Rates {
    Some,
    None,
}

fn observed(load: f64, column: impl Fn(&str) -> Option<f64>) -> (Observation, Rates) {
    // autobench writes errors in percent of the replies, so the value can be above 100. It writes
    // 101 if no reply came.
    let errors = column("errors_").unwrap_or(0.0) / 100.0;
    let share = errors / (1.0 + errors);
    let replied = column("avg_rep_rate_").filter(|rate| *rate > 0.0);
    let mean = column("resp_time_").filter(|time| *time > 0.0).map(|ms| ms / 1e3);
    let requested = column("req_rate_").unwrap_or(0.0);
    let nothing = errors >= 1.01 && replied.is_none() && mean.is_none();
    let achieved = replied.unwrap_or(if nothing { 0.0 } else { requested * (1.0 - share) });
    let rates = if replied.is_none() && !nothing { Rates::None } else { Rates::Some };
    let errors = Some(if nothing { 1.0 } else { share });
    (
        Observation { load, offered: Some(load), achieved, mean, errors, ..Observation::default() },
        rates,
    )
}
