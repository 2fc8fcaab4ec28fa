//! Writes the league as text of at most 96 columns, as Markdown, or as JSON with all figures.

use crate::figures::KEYS;
use crate::league::{League, LeagueEntry};
use crate::table::{Grid, details, league_grid, mark_of};
use crate::trial::TrialOutcome;
use crate::verdict::deviation;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// An output format of a league.
pub struct LeagueFormat {
    /// Name on the command line.
    pub name: &'static str,
    /// Writes a league in this format.
    pub write: fn(&League, &mut dyn Write) -> io::Result<()>,
}

/// All formats that a league can be written in.
pub const FORMATS: [LeagueFormat; 3] = [
    LeagueFormat { name: "text", write: text },
    LeagueFormat { name: "json", write: json },
    LeagueFormat { name: "markdown", write: markdown },
];

const LEGEND: [&str; 8] = [
    "✓ every figure is within its limit, ✗ one is not; the number is the largest error.",
    "Limits: 2 % + 0.2 ms of the truth at p50, p90 and p99; 5 % at p99.9; 2 % for counts of errors.",
    "m: the tool prints no percentile, so its mean is judged like p50.",
    "–: the tool cannot do that, or does not print it. In `resets`, error counts are compared.",
    "no truth: the server refused its own figures three times, because the machine was busy.",
    "unknown: beyond the limit three times, while other processes used the machine.",
    "failed: requests without a whole reply; refused: replies with a status of 400 or more.",
    "met: number of cases in which every printed figure is within its limit.",
];

fn text(league: &League, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", header(league))?;
    for grid in grids(league) {
        write_text(&grid, out)?;
    }
    for line in LEGEND.into_iter().map(str::to_owned).chain(notes(league)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn markdown(league: &League, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", header(league))?;
    for line in LEGEND.into_iter().map(str::to_owned).chain(notes(league)) {
        writeln!(out, "* {line}")?;
    }
    writeln!(out)?;
    for grid in grids(league) {
        write_markdown(&grid, out)?;
    }
    writeln!(out, "Options and sources of each tool:\n")?;
    for tool in &league.tools {
        writeln!(out, "* {}: {}", tool.name, tool.note)?;
    }
    Ok(())
}

fn json(league: &League, out: &mut dyn Write) -> io::Result<()> {
    let environment = &league.environment;
    let cases: Vec<_> = (league.cases.iter())
        .map(|case| {
            json!({
                "name": case.name, "about": case.about, "lab": case.lab, "rate_per_second": case.rate,
                "connections": case.connections,
            })
        })
        .collect();
    let document = json!({
        "version": 1,
        "brunt": environment.brunt,
        "command": environment.command,
        "started": brunt_report::utc::rfc3339(league.unix_seconds),
        "machine": {"kernel": environment.kernel, "cpu": environment.cpu, "cores": environment.cores},
        "seconds": league.seconds,
        "rounds": league.rounds,
        "real_time_server": league.has_real_time_priority,
        "raised_priority": league.has_raised_priority,
        "cases": cases,
        "tools": league.tools.iter().map(|tool| json!({"name": tool.name, "note": tool.note})).collect::<Vec<_>>(),
        "absent": league.absent,
        "results": league.entries.iter().map(result).collect::<Vec<_>>(),
    });
    writeln!(out, "{document:#}")
}

fn result(entry: &LeagueEntry) -> Value {
    let trial = &entry.trial;
    // The fields of the outcome are added below.
    let mut document = json!({
        "case": trial.case.name, "tool": trial.tool.name, "loop": trial.way.name(), "seconds": trial.seconds,
    });
    let details = match &entry.outcome {
        TrialOutcome::NoTruth(reason) => json!({"outcome": "no truth", "reason": reason}),
        TrialOutcome::Unknown(reason) => json!({"outcome": "unknown", "reason": reason}),
        TrialOutcome::Failed(reason) => json!({"outcome": "failed", "reason": reason}),
        TrialOutcome::Interrupted => json!({"outcome": "interrupted"}),
        TrialOutcome::Scored { reported, truth, .. } => {
            let errors: Map<_, _> = (KEYS.iter())
                .map(|key| {
                    (
                        key.name.replace(' ', "_"),
                        json!(deviation((key.value)(reported), (key.value)(truth))),
                    )
                })
                .collect();
            let mark = mark_of(entry).map(
                |mark| json!({"figure": mark.figure, "deviation": mark.deviation, "met": mark.met}),
            );
            json!({
                "outcome": "scored", "reported": reported.to_json(), "truth": truth.to_json(), "deviation": errors, "mark": mark,
            })
        }
    };
    for (key, value) in details.as_object().into_iter().flatten() {
        document[key.as_str()] = value.clone();
    }
    document
}

/// Time and machine of the league.
fn header(league: &League) -> String {
    let environment = &league.environment;
    let priority =
        if league.has_real_time_priority { "real-time priority" } else { "no real-time priority" };
    let nice = if league.has_raised_priority { "nice -20" } else { "the usual priority" };
    let runs =
        if league.rounds == 1 { "once".to_owned() } else { format!("{} times", league.rounds) };
    let date = brunt_report::utc::rfc3339(league.unix_seconds);
    [
        format!("brunt {} on {}, {} cores,", environment.brunt, environment.cpu, environment.cores),
        format!("{}, {}.", environment.kernel, date.get(..10).unwrap_or_default()),
        format!(
            "Each trial {runs}, {} s or a little more. The server had {priority},",
            league.seconds
        ),
        format!("the tools {nice}."),
    ]
    .join("\n")
}

fn grids(league: &League) -> Vec<Grid> {
    let leagues = league.ways.iter().map(|way| league_grid(league, *way));
    let cases = league
        .cases
        .iter()
        .flat_map(|case| league.ways.iter().filter_map(|way| details(league, case, *way)));
    leagues.chain(cases).collect()
}

/// Returns notes on missing tools, and on the reasons for empty cells.
fn notes(league: &League) -> Vec<String> {
    let absent = (!league.absent.is_empty())
        .then(|| format!("Not on this machine: {}.", league.absent.join(", ")));
    let reasons = league.entries.iter().filter_map(|entry| {
        let (TrialOutcome::NoTruth(reason)
        | TrialOutcome::Unknown(reason)
        | TrialOutcome::Failed(reason)) = &entry.outcome
        else {
            return None;
        };
        let trial = &entry.trial;
        Some(format!(
            "{} {}, {} loop: {reason}.",
            trial.case.name,
            trial.tool.name,
            trial.way.name()
        ))
    });
    absent.into_iter().chain(reasons).collect()
}

fn write_text(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n{}", grid.title, grid.about)?;
    let widths: Vec<usize> = (0..grid.head.len())
        .map(|column| {
            [&grid.head]
                .into_iter()
                .chain(&grid.rows)
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for row in [&grid.head].into_iter().chain(&grid.rows) {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            let parts = if column == 0 { [cell, &padding, ""] } else { ["  ", &padding, cell] };
            line.push_str(&parts.concat());
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

fn write_markdown(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    let rule: Vec<_> = (0..grid.head.len())
        .map(|column| if column == 0 { "---" } else { "---:" }.to_owned())
        .collect();
    let head = markdown_row(&grid.head);
    writeln!(out, "### {}\n\n{}\n\n{head}\n{}", grid.title, grid.about, markdown_row(&rule))?;
    for row in &grid.rows {
        writeln!(out, "{}", markdown_row(row))?;
    }
    writeln!(out)
}

fn markdown_row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::figures::CertifiedFigures;
    use crate::settings::CertifySettings;
    use crate::tools::{LoadMode, TOOLS};
    use crate::trial::CertifyTrial;
    use crate::verdict::mark;
    use brunt_model::Environment;

    /// Everybody in every case, with the longest cells that there are.
    fn full() -> League {
        let settings = CertifySettings {
            tools: vec!["all".into()],
            cases: Vec::new(),
            load_modes: Vec::new(),
            seconds: 10,
            rounds: 1,
            search_path: None,
        };
        let mut all = League::new(&settings, Environment::default(), 1.8e9);
        (all.tools, all.absent) = (TOOLS.to_vec(), vec!["gatling"]);
        all.entries = all.trials().into_iter().map(entry).collect();
        all
    }

    fn entry(trial: CertifyTrial) -> LeagueEntry {
        let figures = |factor: f64| CertifiedFigures {
            throughput: Some(12_345.678),
            ..CertifiedFigures::from_times(
                (1..=1000).map(|n| f64::from(n) / 100.0 * factor).collect(),
            )
        };
        let (reported, truth) =
            (figures(0.002).with_errors(9.0, 8.0), figures(1.0).with_errors(1000.0, 1000.0));
        let outcome = match (trial.case.name, trial.tool.name) {
            ("exp", "wrk") => {
                TrialOutcome::NoTruth("p99 as written is +0.3 ms from p99 as computed".into())
            }
            ("exp", "ab") => TrialOutcome::Failed("it ended with 1".into()),
            (_, "siege") => {
                let reported =
                    CertifiedFigures { mean: reported.mean, ..CertifiedFigures::default() };
                let mark = mark(&reported, &truth, trial.case.compares);
                TrialOutcome::Scored { reported: reported.into(), truth: truth.into(), mark }
            }
            _ => {
                let mark = mark(&reported, &truth, trial.case.compares);
                TrialOutcome::Scored { reported: reported.into(), truth: truth.into(), mark }
            }
        };
        LeagueEntry { trial, outcome }
    }

    fn shown(name: &str) -> String {
        let mut out = Vec::new();
        let format = FORMATS.iter().find(|format| format.name == name).unwrap();
        (format.write)(&full(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_text_has_96_columns_at_most() {
        let text = shown("text");
        let long: Vec<_> = text.lines().filter(|line| line.chars().count() > 96).collect();
        assert!(long.is_empty(), "{long:#?}");
        assert!(
            text.contains("Not on this machine: gatling.")
                && text.contains("exp wrk, closed loop: p99 as written")
        );
    }

    #[test]
    fn unsupported_loads_of_a_tool_are_dashes() {
        let text = shown("text");
        let mut rows = text.lines().filter(|line| line.starts_with("wrk "));
        assert_eq!(
            rows.next().unwrap().split_whitespace().filter(|word| *word == "–").count(),
            9,
            "it has no open loop"
        );
        let closed = rows.next().unwrap();
        assert!(
            closed.contains("no truth") && closed.contains("✗ -100%") && closed.ends_with("0/7"),
            "{closed}"
        );
        let siege = text.lines().filter(|line| line.starts_with("siege")).nth(1).unwrap();
        assert!(siege.contains("-100%m") && siege.contains(" –"), "{siege}");
    }

    #[test]
    fn columns_of_markdown_tables_are_aligned() {
        let text = shown("markdown");
        let widths: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.matches('|').count())
            .collect();
        assert!(
            widths.len() > 50 && widths.iter().all(|width| (6..=12).contains(width)),
            "{widths:?}"
        );
    }

    #[test]
    fn the_json_has_all_results() {
        let document: Value = serde_json::from_str(&shown("json")).unwrap();
        let results = document["results"].as_array().unwrap();
        let able: usize = TOOLS.iter().map(|tool| tool.ways.len()).sum();
        assert_eq!(results.len(), able * CASES.len());
        let of = |case: &str, tool: &str, way: LoadMode| {
            let is = |one: &&Value| {
                one["case"] == case && one["tool"] == tool && one["loop"] == way.name()
            };
            results.iter().find(is).unwrap()
        };
        let brunt = of("exp", "brunt", LoadMode::Open);
        assert!((brunt["deviation"]["p99.9"].as_f64().unwrap() + 0.998).abs() < 1e-9, "{brunt}");
        assert_eq!(brunt["mark"]["met"], false);
        assert_eq!(of("exp", "ab", LoadMode::Closed)["outcome"], "failed");
        assert!(
            of("exp", "wrk", LoadMode::Closed)["reason"].as_str().unwrap().contains("as written")
        );
    }
}
