//! Writes the analysis of results from other tools: observations without a study.
//!
//! Out of scope: the analysis. See [`brunt_model::analysis`].

use crate::study::of_analysis;
use crate::view::View;
use crate::{markdown as md, outline, text as plain};
use brunt_model::{Analysis, Observations, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;

/// Observations from results of other tools, and their analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "brunt analysis")]
pub struct AnalysisDocument {
    /// The version of this document: 1. It grows when a key changes its meaning or goes away.
    pub version: u32,
    /// The data of the analysis. Times in seconds.
    pub observations: Observations,
    /// Analysis: curves, limits, outliers, findings.
    pub analysis: Analysis,
    /// Methods behind the figures, each a sentence.
    pub method: Vec<Text>,
}

/// Writes the analysis as text.
pub fn text(
    observations: &Observations,
    analysis: &Analysis,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    out.write_all(
        plain::of_outline(&View::default(), &outline::of_observations(observations, analysis))
            .as_bytes(),
    )
}

/// Writes the analysis as Markdown.
pub fn markdown(
    observations: &Observations,
    analysis: &Analysis,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    out.write_all(md::markdown(&outline::of_observations(observations, analysis)).as_bytes())
}

/// Writes the analysis as JSON.
pub fn json(
    observations: &Observations,
    analysis: &Analysis,
    out: &mut dyn io::Write,
) -> io::Result<()> {
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
    fn foreign_observations_are_shown_like_a_study() {
        let (_, mut analysis) = story::sweep_of(&[120.0, 480.0], 1);
        analysis.contenders.truncate(1);
        let observations = Observations {
            contenders: vec!["nginx".into()],
            factors: Vec::new(),
            unit: LoadUnit::PerSecond,
            observations: vec![Observation::default(), Observation::default()],
            objectives: Vec::new(),
            notes: vec!["one value a step: no difference can be tested".into()],
        };
        let mut out = Vec::new();
        text(&observations, &analysis, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
        let mut out = Vec::new();
        json(&observations, &analysis, &mut out).unwrap();
        let read: AnalysisDocument = serde_json::from_slice(&out).unwrap();
        assert_eq!(read.observations, observations);
    }
}
