//! The table of formats: every way to write a run or a study, a row each.
//!
//! Out of scope: the writing. Help, docs and completions come from here.

use crate::view::View;
use crate::{analysis, csv, html, json, junit, markdown, png, result, single, study, svg, text, tsv};
use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

/// One way to write a run.
pub struct Format {
    /// What the user calls it.
    pub name: &'static str,
    /// Its use, in one line.
    pub about: &'static str,
    /// Writes a run.
    pub write: fn(&Run, &Judgement, &mut dyn io::Write) -> io::Result<()>,
    /// Writes a study.
    pub write_study: fn(&Study, &Analysis, &mut dyn io::Write) -> io::Result<()>,
    /// Makes several files of a study, each with its name; None where the format has one only.
    pub files: Option<Files>,
    /// Whether people can read it on a terminal.
    pub for_terminals: bool,
}

/// The content of a report.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// A run.
    Run(&'a Run, &'a Judgement),
    /// An experiment.
    Study(&'a Study, &'a Analysis),
}

/// Makes several files of a study: their names, and what is in them.
pub type Files = fn(&Study, &Analysis) -> io::Result<Vec<(String, Vec<u8>)>>;

/// The format that depends on the terminal's width and colors.
const TEXT: &str = "text";

/// Every format; help, docs and completions come from here.
pub const REPORTS: &[Format] = &[
    Format {
        name: TEXT,
        about: "verdict, figures and findings on one screen; with -v in full",
        write: text::write,
        write_study: text::write_study,
        files: None,
        for_terminals: true,
    },
    Format {
        name: "markdown",
        about: "tables for GitHub and other renderers",
        write: markdown::write,
        write_study: markdown::write_study,
        files: None,
        for_terminals: true,
    },
    Format {
        name: "json",
        about: "for programs: everything, with units in the keys; see `schema`",
        write: json::write,
        write_study: json::write_study,
        files: None,
        for_terminals: true,
    },
    Format {
        name: "csv",
        about: "for spreadsheets: the time series of a run, the trials of an experiment",
        write: csv::write,
        write_study: csv::write_study,
        files: None,
        for_terminals: true,
    },
    Format {
        name: "tsv",
        about: "the table of autobench",
        write: tsv::write,
        write_study: tsv::write_study,
        files: None,
        for_terminals: true,
    },
    Format {
        name: "junit",
        about: "for continuous integration: objectives and verdicts as test cases",
        write: junit::write,
        write_study: junit::write_study,
        files: None,
        for_terminals: true,
    },
    Format {
        name: "html",
        about: "a page for the browser: findings, charts, tables, all in one file that needs no network",
        write: html::write,
        write_study: html::write_study,
        files: None,
        for_terminals: false,
    },
    Format {
        name: "svg",
        about: "the three charts that answer in one drawing, or with -o svg=DIR/ one file per chart",
        write: svg::write,
        write_study: svg::write_study,
        files: Some(svg::files),
        for_terminals: false,
    },
    Format {
        name: "svg-all",
        about: "every chart, as svg",
        write: svg::write_all,
        write_study: svg::write_all_of_study,
        files: Some(svg::all_files),
        for_terminals: false,
    },
    Format {
        name: "png",
        about: "the three charts that answer in one picture, or with -o png=DIR/ one file per chart",
        write: png::write,
        write_study: png::write_study,
        files: Some(png::files),
        for_terminals: false,
    },
    Format {
        name: "png-all",
        about: "every chart, as png",
        write: png::write_all,
        write_study: png::write_all_of_study,
        files: Some(png::all_files),
        for_terminals: false,
    },
];

impl Format {
    /// Writes a report. Only text depends on the view.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub fn write_subject(&self, subject: Subject<'_>, view: &View, out: &mut dyn io::Write) -> io::Result<()> {
        match subject {
            Subject::Run(run, judgement) if self.name == TEXT => text::write_as(view, run, judgement, out),
            Subject::Study(study, analysis) if self.name == TEXT => text::write_study_as(view, study, analysis, out),
            Subject::Run(run, judgement) => (self.write)(run, judgement, out),
            Subject::Study(study, analysis) => (self.write_study)(study, analysis, out),
        }
    }
}

impl Subject<'_> {
    /// The files of a format that makes several.
    ///
    /// # Errors
    ///
    /// A chart cannot be drawn.
    pub fn files(self, files: Files) -> io::Result<Vec<(String, Vec<u8>)>> {
        match self {
            Self::Run(run, judgement) => {
                let (study, analysis) = single::study_of(run, judgement);
                files(&study, &analysis)
            }
            Self::Study(study, analysis) => files(study, analysis),
        }
    }
}

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    REPORTS.iter().find(|f| f.name == name)
}

/// A JSON document whose form is published.
pub struct Published {
    /// What the user calls it.
    pub name: &'static str,
    /// Its JSON Schema.
    pub schema: fn() -> serde_json::Value,
}

/// The documents whose form is published in `docs/NAME.schema.json`.
pub const SCHEMAS: &[Published] = &[
    Published { name: "result", schema: schema_of::<result::Document> },
    Published { name: "study", schema: schema_of::<study::StudyDocument> },
    Published { name: "analysis", schema: schema_of::<analysis::AnalysisDocument> },
];

fn schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
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

    #[test]
    fn the_published_schemas_are_those_of_the_types() {
        for Published { name, schema } in SCHEMAS {
            let path = format!("{}/../../docs/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
            let published: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            assert_eq!(published, schema(), "write it anew: brunt schema {name} > docs/{name}.schema.json");
        }
    }
}
