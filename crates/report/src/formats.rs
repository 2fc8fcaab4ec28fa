//! Lists the formats: every way to write a run or a study, one row each.
//!
//! Help, docs and completions are made from this table. Out of scope: the writing.

use crate::ci::{JobSummary, github, junit};
use crate::panels::ChartSelection;
use crate::picture::{Charts, PNG, SVG};
use crate::view::View;
use crate::{analysis, csv, html, json, markdown, result, single, study, text, tsv};
use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

/// One way to write a run, or a study.
pub struct ReportFormat {
    /// Name on the command line.
    pub name: &'static str,
    /// Purpose, in one line.
    pub about: &'static str,
    /// Kind of the content, with the functions that write it.
    pub content: FormatContent,
    /// True if the output is readable on a terminal.
    pub for_terminals: bool,
    /// Summary of the job, for a format with commands in the log of a CI system.
    pub job_summary: Option<&'static JobSummary>,
}

/// Content of a format.
#[derive(Clone, Copy)]
pub enum FormatContent {
    /// Text with the width and the colors of a view.
    Text,
    /// A document that does not depend on the view.
    Document {
        /// Writes the report of a run.
        write: fn(&Run, &Judgement, &mut dyn io::Write) -> io::Result<()>,
        /// Writes the report of a study.
        write_study: fn(&Study, &Analysis, &mut dyn io::Write) -> io::Result<()>,
    },
    /// Charts: one sheet, or a file for each.
    Charts(Charts),
}

/// Subject of a report.
#[derive(Clone, Copy)]
pub enum ReportSubject<'a> {
    /// A single run with its judgement.
    Run(&'a Run, &'a Judgement),
    /// An experiment with its analysis.
    Study(&'a Study, &'a Analysis),
}

/// All formats that `--format` accepts.
pub const REPORTS: &[ReportFormat] = &[
    ReportFormat {
        name: "text",
        about: "verdict, figures and findings on one screen; with -v in full",
        content: FormatContent::Text,
        for_terminals: true,
        job_summary: None,
    },
    ReportFormat {
        name: "markdown",
        about: "tables for GitHub and other renderers",
        content: FormatContent::Document {
            write: markdown::write,
            write_study: markdown::write_study,
        },
        for_terminals: true,
        job_summary: None,
    },
    ReportFormat {
        name: "json",
        about: "for programs: everything, with units in the keys; see `schema`",
        content: FormatContent::Document { write: json::write, write_study: json::write_study },
        for_terminals: true,
        job_summary: None,
    },
    ReportFormat {
        name: "csv",
        about: "for spreadsheets: the time series of a run, the trials of an experiment",
        content: FormatContent::Document { write: csv::write, write_study: csv::write_study },
        for_terminals: true,
        job_summary: None,
    },
    ReportFormat {
        name: "tsv",
        about: "the table of autobench",
        content: FormatContent::Document { write: tsv::write, write_study: tsv::write_study },
        for_terminals: true,
        job_summary: None,
    },
    ReportFormat {
        name: "junit",
        about: "for continuous integration: objectives and verdicts as test cases",
        content: FormatContent::Document { write: junit::write, write_study: junit::write_study },
        for_terminals: true,
        job_summary: None,
    },
    ReportFormat {
        name: "github",
        about: "for GitHub Actions: annotations in the log, and the job summary",
        content: FormatContent::Document { write: github::write, write_study: github::write_study },
        for_terminals: true,
        job_summary: Some(&github::JOB_SUMMARY),
    },
    ReportFormat {
        name: "html",
        about: "a page for the browser: findings, charts, tables, all in one file that needs no network",
        content: FormatContent::Document { write: html::write, write_study: html::write_study },
        for_terminals: false,
        job_summary: None,
    },
    ReportFormat {
        name: "svg",
        about: "the three charts that answer in one drawing, or with -o svg=DIR/ one file per chart",
        content: FormatContent::Charts(Charts { selection: ChartSelection::Key, picture: &SVG }),
        for_terminals: false,
        job_summary: None,
    },
    ReportFormat {
        name: "svg-all",
        about: "every chart, as svg",
        content: FormatContent::Charts(Charts { selection: ChartSelection::All, picture: &SVG }),
        for_terminals: false,
        job_summary: None,
    },
    ReportFormat {
        name: "png",
        about: "the three charts that answer in one picture, or with -o png=DIR/ one file per chart",
        content: FormatContent::Charts(Charts { selection: ChartSelection::Key, picture: &PNG }),
        for_terminals: false,
        job_summary: None,
    },
    ReportFormat {
        name: "png-all",
        about: "every chart, as png",
        content: FormatContent::Charts(Charts { selection: ChartSelection::All, picture: &PNG }),
        for_terminals: false,
        job_summary: None,
    },
];

impl ReportFormat {
    /// Writes a report. Only text depends on the view.
    ///
    /// # Errors
    ///
    /// If `out` fails, or a picture is too large.
    pub fn write(
        &self,
        subject: ReportSubject<'_>,
        view: &View,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        match (self.content, subject) {
            (FormatContent::Text, ReportSubject::Run(run, judgement)) => {
                text::write_as(view, run, judgement, out)
            }
            (FormatContent::Text, ReportSubject::Study(study, analysis)) => {
                text::write_study_as(view, study, analysis, out)
            }
            (FormatContent::Document { write, .. }, ReportSubject::Run(run, judgement)) => {
                write(run, judgement, out)
            }
            (
                FormatContent::Document { write_study, .. },
                ReportSubject::Study(study, analysis),
            ) => write_study(study, analysis, out),
            (FormatContent::Charts(charts), subject) => {
                subject.with_study(|study, analysis| charts.write(study, analysis, out))
            }
        }
    }
}

impl ReportSubject<'_> {
    /// Returns the chart files: name and content.
    ///
    /// # Errors
    ///
    /// If a picture is too large.
    pub fn files(self, charts: Charts) -> io::Result<Vec<(String, Vec<u8>)>> {
        self.with_study(|study, analysis| charts.files(study, analysis))
    }

    /// Calls a function with the study; a run is a study of one trial.
    fn with_study<T>(self, function: impl FnOnce(&Study, &Analysis) -> T) -> T {
        match self {
            Self::Run(run, judgement) => {
                let (study, analysis) = single::study_of(run, judgement);
                function(&study, &analysis)
            }
            Self::Study(study, analysis) => function(study, analysis),
        }
    }
}

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static ReportFormat> {
    REPORTS.iter().find(|f| f.name == name)
}

/// A JSON document with a published schema.
pub struct PublishedSchema {
    /// Name of the document.
    pub name: &'static str,
    /// Returns its JSON Schema.
    pub schema: fn() -> serde_json::Value,
}

/// Documents with a JSON Schema, which `brunt schema NAME` prints. Each release contains the schemas.
pub const SCHEMAS: &[PublishedSchema] = &[
    PublishedSchema { name: "result", schema: schema_of::<result::ResultDocument> },
    PublishedSchema { name: "study", schema: schema_of::<study::StudyDocument> },
    PublishedSchema { name: "analysis", schema: schema_of::<analysis::AnalysisDocument> },
];

fn schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
    // brunt writes these documents. A schema for reading would make each key with a default
    // optional.
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for f in REPORTS {
            assert_eq!(format(f.name).map(|f| f.about), Some(f.about));
        }
        assert!(format("xml").is_none());
    }
}
