//! Writes the section of the page on the pacing case, with the figures of [`super::figures`]. The
//! figures `× floor` are ratios: the contender's figure ÷ that of the floor, the tool with the
//! minimum work.

use super::figures::{PacingRow, rows};
use super::{PacingContender, PacingRun};
use crate::cases::PACES;
use crate::maths::MedianRange;
use crate::report::{dash, microseconds, ratio};
use crate::table;

const EXPLANATION: &str = "\
The server of each run is a separate brunt-lab, not the nginx. It counts arrivals in bins of 1 ms, by the kernel's \
receive timestamps. Variance ÷ mean of these counts is 0 for a metronome and 1 for Poisson arrivals. For even arrivals, \
both figures of a ratio are near 0 and depend on the lag of the first arrival, because bins start with it. Such a ratio \
is meaningful only if its spread is small.\n\n";

/// Returns the section as Markdown: one row per pace and contender.
pub fn section(runs: &[PacingRun]) -> String {
    if runs.is_empty() {
        return "Not measured.\n".to_owned();
    }
    let headings = [
        "arrivals",
        "variance ÷ mean",
        "variance ÷ mean × floor",
        "lag p50 µs",
        "lag p99 µs",
        "lag p99 × floor",
    ];
    let rows = rows(runs);
    let mut lines = Vec::new();
    for pace in PACES {
        for contender in PacingContender::ALL {
            let row = rows.iter().find(|row| row.pace == pace.name && row.contender == contender);
            let name = format!("{}, {}", pace.name, contender.name());
            lines.push([vec![name], row.map(cells).unwrap_or_default()].concat());
        }
    }
    EXPLANATION.to_owned() + &table::render(&headings, &lines) + &imprecise_runs(runs)
}

fn cells(row: &PacingRow) -> Vec<String> {
    vec![
        row.dispersion.map_or(dash(), index_of_dispersion),
        ratio(row.dispersion_ratio),
        microseconds(row.lag_p50_seconds),
        microseconds(row.lag_p99_seconds),
        ratio(row.lag_ratio),
    ]
}

/// Formats an index of dispersion (variance ÷ mean) as median and range over the rounds.
fn index_of_dispersion(spread: MedianRange) -> String {
    format!("{:.4} ({:.4}–{:.4})", spread.median, spread.min, spread.max)
}

/// Returns the number of runs in which brunt ignored `--precise`, with the warning of the first
/// one. Empty without such runs.
fn imprecise_runs(runs: &[PacingRun]) -> String {
    let mut warnings = runs.iter().filter_map(|run| run.not_precise.as_ref());
    let Some(warning) = warnings.next() else { return String::new() };
    format!("\n{} runs were not precise: “{warning}”.\n", warnings.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::paced;
    use super::*;

    #[test]
    fn a_line_has_both_figures_and_their_ratio() {
        let runs = [
            paced("even-2000", PacingContender::Brunt, 0, [0.024, 50.0]),
            paced("even-2000", PacingContender::Floor, 0, [0.02, 40.0]),
        ];
        let section = section(&runs);
        let lines: Vec<String> = section
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let brunt = "| even-2000, brunt | 0.0240 (0.0240–0.0240) | 1.20 (1.20–1.20) | 12.5 | 50.0 | 1.25 (1.25–1.25) |";
        assert!(lines.iter().any(|line| line == brunt), "{section}");
        assert!(
            lines.iter().any(|line| line == "| poisson-20000, floor | – | – | – | – | – |"),
            "{section}"
        );
        assert!(!section.contains("not precise"));
    }

    #[test]
    fn a_repeated_warning_on_precise_is_shown_once() {
        let words = Some("--precise: 1 cores are too few".to_owned());
        let run = PacingRun {
            not_precise: words,
            ..paced("even-2000", PacingContender::BruntPrecise, 0, [0.02, 50.0])
        };
        let section = section(&[run.clone(), run]);
        assert!(
            section.contains("2 runs were not precise: “--precise: 1 cores are too few”."),
            "{section}"
        );
    }

    #[test]
    fn a_section_without_runs_says_not_measured() {
        assert_eq!(section(&[]), "Not measured.\n");
    }
}
