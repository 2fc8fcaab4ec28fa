//! The league, shown: text of 96 columns at most, Markdown, and JSON with everything.

use crate::figures::KEYS;
use crate::league::{Entry, League};
use crate::table::{Grid, details, league, mark_of};
use crate::trial::Outcome;
use crate::verdict::deviation;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// A way to show a league.
pub struct Format {
    /// What the user calls it.
    pub name: &'static str,
    /// Writes it.
    pub write: fn(&League, &mut dyn Write) -> io::Result<()>,
}

/// Every format.
pub const FORMATS: [Format; 3] = [
    Format { name: "text", write: text },
    Format { name: "json", write: json },
    Format { name: "markdown", write: markdown },
];

const LEGEND: [&str; 8] = [
    "✓ every figure is within its limit, ✗ one is not; the number is the largest error.",
    "Limits: 2 % + 0.2 ms of the truth at p50, p90 and p99; 5 % at p99.9; 2 % for counts of errors.",
    "m: the tool tells no percentile, so its mean is judged, as p50 would be.",
    "–: the tool cannot do that, or does not tell it. In `resets` counts of errors are compared.",
    "no truth: the server refused its own figures three times, because the machine was busy.",
    "unknown: beyond the limit three times, and others used the machine each time.",
    "failed: requests without a whole reply; refused: replies with a status of 400 or more.",
    "met: in how many cases every figure that was told is within its limit.",
];

fn text(all: &League, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", place(all))?;
    for grid in grids(all) {
        write_text(&grid, out)?;
    }
    for line in LEGEND.into_iter().map(str::to_owned).chain(notes(all)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn markdown(all: &League, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", place(all))?;
    for line in LEGEND.into_iter().map(str::to_owned).chain(notes(all)) {
        writeln!(out, "* {line}")?;
    }
    writeln!(out)?;
    for grid in grids(all) {
        write_markdown(&grid, out)?;
    }
    writeln!(out, "How each was told, and read:\n")?;
    for tool in &all.tools {
        writeln!(out, "* {}: {}", tool.name, tool.note)?;
    }
    Ok(())
}

fn json(all: &League, out: &mut dyn Write) -> io::Result<()> {
    let environment = &all.environment;
    let cases: Vec<_> = (all.cases.iter())
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
        "started": brunt_report::utc::rfc3339(all.unix_seconds),
        "machine": {"kernel": environment.kernel, "cpu": environment.cpu, "cores": environment.cores},
        "seconds": all.seconds,
        "rounds": all.rounds,
        "real_time_server": all.prompt,
        "raised_priority": all.hurried,
        "cases": cases,
        "tools": all.tools.iter().map(|tool| json!({"name": tool.name, "note": tool.note})).collect::<Vec<_>>(),
        "absent": all.absent,
        "results": all.entries.iter().map(result).collect::<Vec<_>>(),
    });
    writeln!(out, "{document:#}")
}

fn result(entry: &Entry) -> Value {
    let trial = &entry.trial;
    let mut document = json!({
        "case": trial.case.name, "tool": trial.tool.name, "loop": trial.way.name(), "seconds": trial.seconds,
    });
    let more = match &entry.outcome {
        Outcome::NoTruth(why) => json!({"outcome": "no truth", "reason": why}),
        Outcome::Unknown(why) => json!({"outcome": "unknown", "reason": why}),
        Outcome::Failed(why) => json!({"outcome": "failed", "reason": why}),
        Outcome::Interrupted => json!({"outcome": "interrupted"}),
        Outcome::Scored { told, truth, .. } => {
            let errors: Map<_, _> = (KEYS.iter())
                .map(|key| (key.name.replace(' ', "_"), json!(deviation((key.of)(told), (key.of)(truth)))))
                .collect();
            let mark =
                mark_of(entry).map(|mark| json!({"figure": mark.figure, "deviation": mark.deviation, "met": mark.met}));
            json!({
                "outcome": "scored", "told": told.to_json(), "truth": truth.to_json(), "deviation": errors, "mark": mark,
            })
        }
    };
    for (key, value) in more.as_object().into_iter().flatten() {
        document[key.as_str()] = value.clone();
    }
    document
}

/// When and where it was held.
fn place(all: &League) -> String {
    let environment = &all.environment;
    let priority = if all.prompt { "real-time priority" } else { "no real-time priority" };
    let nice = if all.hurried { "nice -20" } else { "the usual priority" };
    let runs = if all.rounds == 1 { "once".to_owned() } else { format!("{} times", all.rounds) };
    let date = brunt_report::utc::rfc3339(all.unix_seconds);
    [
        format!("brunt {} on {}, {} cores,", environment.brunt, environment.cpu, environment.cores),
        format!("{}, {}.", environment.kernel, date.get(..10).unwrap_or_default()),
        format!("Each trial {runs}, {} s or a little more. The server had {priority},", all.seconds),
        format!("the tools {nice}."),
    ]
    .join("\n")
}

fn grids(all: &League) -> Vec<Grid> {
    let leagues = all.ways.iter().map(|way| league(all, *way));
    let cases = all.cases.iter().flat_map(|case| all.ways.iter().filter_map(|way| details(all, case, *way)));
    leagues.chain(cases).collect()
}

/// Who is missing, and why cells are empty.
fn notes(all: &League) -> Vec<String> {
    let absent = (!all.absent.is_empty()).then(|| format!("Not on this machine: {}.", all.absent.join(", ")));
    let reasons = all.entries.iter().filter_map(|entry| {
        let (Outcome::NoTruth(why) | Outcome::Unknown(why) | Outcome::Failed(why)) = &entry.outcome else {
            return None;
        };
        let trial = &entry.trial;
        Some(format!("{} {}, {} loop: {why}.", trial.case.name, trial.tool.name, trial.way.name()))
    });
    absent.into_iter().chain(reasons).collect()
}

fn write_text(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n{}", grid.title, grid.about)?;
    let widths: Vec<usize> = (0..grid.head.len())
        .map(|at| [&grid.head].into_iter().chain(&grid.rows).map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    for row in [&grid.head].into_iter().chain(&grid.rows) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            let parts = if at == 0 { [cell, &padding, ""] } else { ["  ", &padding, cell] };
            line.push_str(&parts.concat());
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

fn write_markdown(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rule: Vec<_> =
        grid.head.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" }.into()).collect();
    writeln!(out, "### {}\n\n{}\n\n{}\n{}", grid.title, grid.about, line(&grid.head), line(&rule))?;
    for row in &grid.rows {
        writeln!(out, "{}", line(row))?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::figures::Figures;
    use crate::settings::Settings;
    use crate::tools::{LoadMode, TOOLS};
    use crate::trial::Trial;
    use crate::verdict::mark;
    use brunt_model::Environment;

    /// Everybody in every case, with the longest cells that there are.
    fn full() -> League {
        let settings = Settings {
            tools: vec!["all".into()],
            cases: Vec::new(),
            ways: Vec::new(),
            seconds: 10,
            rounds: 1,
            search_path: None,
        };
        let mut all = League::new(&settings, Environment::default(), 1.8e9);
        (all.tools, all.absent) = (TOOLS.to_vec(), vec!["gatling"]);
        all.entries = all.trials().into_iter().map(entry).collect();
        all
    }

    fn entry(trial: Trial) -> Entry {
        let figures = |factor: f64| Figures {
            throughput: Some(12_345.678),
            ..Figures::of_times((1..=1000).map(|n| f64::from(n) / 100.0 * factor).collect())
        };
        let (told, truth) = (figures(0.002).with_errors(9.0, 8.0), figures(1.0).with_errors(1000.0, 1000.0));
        let outcome = match (trial.case.name, trial.tool.name) {
            ("exp", "wrk") => Outcome::NoTruth("p99 as written is +0.3 ms from p99 as computed".into()),
            ("exp", "ab") => Outcome::Failed("it ended with 1".into()),
            (_, "siege") => {
                let told = Figures { mean: told.mean, ..Figures::default() };
                let mark = mark(&told, &truth, trial.case.compares);
                Outcome::Scored { told: told.into(), truth: truth.into(), mark }
            }
            _ => {
                let mark = mark(&told, &truth, trial.case.compares);
                Outcome::Scored { told: told.into(), truth: truth.into(), mark }
            }
        };
        Entry { trial, outcome }
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
            text.contains("Not on this machine: gatling.") && text.contains("exp wrk, closed loop: p99 as written")
        );
    }

    #[test]
    fn what_a_tool_cannot_do_is_a_dash() {
        let text = shown("text");
        let mut rows = text.lines().filter(|line| line.starts_with("wrk "));
        assert_eq!(
            rows.next().unwrap().split_whitespace().filter(|word| *word == "–").count(),
            9,
            "it has no open loop"
        );
        let closed = rows.next().unwrap();
        assert!(closed.contains("no truth") && closed.contains("✗ -100%") && closed.ends_with("0/7"), "{closed}");
        let siege = text.lines().filter(|line| line.starts_with("siege")).nth(1).unwrap();
        assert!(siege.contains("-100%m") && siege.contains(" –"), "{siege}");
    }

    #[test]
    fn markdown_tables_are_even() {
        let text = shown("markdown");
        let widths: Vec<_> =
            text.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
        assert!(widths.len() > 50 && widths.iter().all(|width| (6..=12).contains(width)), "{widths:?}");
    }

    #[test]
    fn the_json_has_everything() {
        let document: Value = serde_json::from_str(&shown("json")).unwrap();
        let results = document["results"].as_array().unwrap();
        let able: usize = TOOLS.iter().map(|tool| tool.ways.len()).sum();
        assert_eq!(results.len(), able * CASES.len());
        let of = |case: &str, tool: &str, way: LoadMode| {
            let is = |one: &&Value| one["case"] == case && one["tool"] == tool && one["loop"] == way.name();
            results.iter().find(is).unwrap()
        };
        let brunt = of("exp", "brunt", LoadMode::Open);
        assert!((brunt["deviation"]["p99.9"].as_f64().unwrap() + 0.998).abs() < 1e-9, "{brunt}");
        assert_eq!(brunt["mark"]["met"], false);
        assert_eq!(of("exp", "ab", LoadMode::Closed)["outcome"], "failed");
        assert!(of("exp", "wrk", LoadMode::Closed)["reason"].as_str().unwrap().contains("as written"));
    }
}
