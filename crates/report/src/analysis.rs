//! What was decided about results of others: there are observations, and no study.
//!
//! What it is **not**: the analysis. See [`brunt_model::analysis`].

use crate::study::of_analysis;
use crate::{markdown as md, outline, text as plain};
use brunt_model::{Analysis, Observations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;

/// What was read from results of others, and what was decided about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "brunt analysis")]
pub struct AnalysisDocument {
    /// The version of this document: 1. It grows when a key changes its meaning or goes away.
    pub version: u32,
    /// What there was to analyse. Times in seconds.
    pub observations: Observations,
    /// What was decided about it: curves, limits, outliers, findings.
    pub analysis: Analysis,
    /// How its figures were found, each a sentence.
    pub method: Vec<String>,
}

/// Writes it for people.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn text(observations: &Observations, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(plain::of_outline(&outline::of_observations(observations, analysis)).as_bytes())
}

/// Writes it as Markdown.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn markdown(observations: &Observations, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(md::markdown(&outline::of_observations(observations, analysis)).as_bytes())
}

/// Writes it for programs.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn json(observations: &Observations, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let document = AnalysisDocument {
        version: 1,
        observations: observations.clone(),
        analysis: analysis.clone(),
        method: of_analysis(analysis),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;
    use brunt_model::{LoadUnit, Observation};

    #[test]
    fn observations_of_others_are_shown_as_a_study_is() {
        let (_, mut analysis) = story::sweep_of(&[120.0, 480.0], 1);
        analysis.contenders.truncate(1);
        let observations = Observations {
            contenders: vec!["nginx".into()],
            unit: LoadUnit::PerSecond,
            observations: vec![Observation::default(), Observation::default()],
            objectives: Vec::new(),
            notes: vec!["one value a step: no difference can be tested".into()],
        };
        let mut out = Vec::new();
        text(&observations, &analysis, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        nginx: 2 observations

        Findings
        ! 3 repetitions: no 95 % interval over repetitions can be given, ranges are shown as ranges
          -> --repeat 6
        - nginx carries 360/s before throughput stops growing, apache 300/s

        Limits
        Definition                     nginx
        knee              288/s [274 to 302]
        saturation point  360/s [353 to 367]
        99 % achieved                  360/s
        p99 < 1s                       320/s
        p99 < 10 s                  not seen
        - knee: Kneedle on the smoothed mean, 40 to 480/s
        - saturation point: throughput is level from 360/s on
        - 99 % achieved: the last such load
        - p99 < 1s: at all steps up to it
        - p99 < 10 s: it holds at every load that was measured

        nginx
        load, /s  offered  achieved     mean      p50      p95      p99  errors
        120           120       120  12.0 ms  10.5 ms  21.5 ms  29.1 ms     0 %
        480           480       350   1.61 s   1.93 s   3.43 s   3.43 s  20.3 %

        Bottleneck
        - nginx: all 20 php-fpm children busy, 35 requests queued
        - nginx, beside that: CPU of the machine at 92 %

        Looked at       source                            figure  value     a cause
        nginx      php-fpm:www  workers.busy, share of the limit   1.00  from 0.980

        Method
        - One trial a step: figures have no band, and no difference can be tested.
        - Knee: where the smoothed response time bends upwards most over the measured range (Kneedle).
        - Saturation point: the throughput that does not grow any more with the load.
        - Load kept: the last load of which at least 99 % was achieved.
        - Objectives: the highest load up to which each holds at every step.
        - 1-3-10: the highest loads whose p99 stays below 1, 3 and 10 s, Nielsen's limits of patience.
        ");
        let mut out = Vec::new();
        json(&observations, &analysis, &mut out).unwrap();
        let read: AnalysisDocument = serde_json::from_slice(&out).unwrap();
        assert_eq!(read.observations, observations);
    }
}
