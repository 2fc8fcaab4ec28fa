//! Reads the results of other tools.
//!
//! Input is the text of files, output is [`Observations`]. Their notes list what a file does not
//! contain. A row of [`RESULT_READERS`] is a format: its detector and its reader. Crates that speak
//! for other tools add rows. A text for the terminal is refused with the command whose results can
//! be read, any other file with a list of the formats. Out of scope: the analysis, and opening the files.

mod ab;
mod autobench;
mod brunt;
mod brunt_csv;
mod console;
mod fortio;
mod gatling;
mod h2load;
mod join;
mod k6;
mod locust;
mod objectives;
mod oha;
mod sampled;
mod siege;
mod table;
mod values;
mod vegeta;
mod wrk;

pub use join::read;
pub use objectives::check_objectives;
pub use sampled::{RequestSample, SampleRows, TimeResolution};

use brunt_model::Observations;

/// A file that has been read into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// File name, with or without a path.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

/// A reader of one file format.
pub struct ResultReader {
    /// Short description of the format.
    pub about: &'static str,
    /// True if a text has this format.
    pub matches: fn(&str) -> bool,
    /// Reads a file. A contender without a name is named after the file.
    pub read: fn(&File) -> Result<Observations, String>,
}

/// The formats that this crate reads. The first one that matches a file reads it.
pub const RESULT_READERS: &[ResultReader] = &[
    ResultReader { about: "brunt's JSON of a run", matches: brunt::is_run, read: brunt::run },
    ResultReader {
        about: "brunt's JSON of a sweep, comparison or search",
        matches: brunt::is_study,
        read: brunt::study,
    },
    ResultReader {
        about: "brunt's JSON of an analysis",
        matches: brunt::is_analysis,
        read: brunt::analysis,
    },
    ResultReader {
        about: "brunt's CSV of a sweep",
        matches: brunt_csv::matches,
        read: brunt_csv::read,
    },
    ResultReader { about: "siege's JSON", matches: siege::is_json, read: siege::json },
    ResultReader {
        about: "autobench's TSV or CSV",
        matches: autobench::matches,
        read: autobench::read,
    },
    ResultReader { about: "ab -g", matches: ab::is_requests, read: ab::requests },
    ResultReader { about: "ab -e", matches: ab::is_percentages, read: ab::percentages },
    ResultReader { about: "ab's report", matches: ab::is_report, read: ab::report },
    ResultReader { about: "wrk's report", matches: wrk::matches, read: wrk::read },
    ResultReader { about: "h2load --log-file", matches: h2load::matches, read: h2load::read },
    ResultReader { about: "k6 --out json", matches: k6::is_json, read: k6::json },
    ResultReader { about: "k6 --out csv", matches: k6::is_csv, read: k6::csv },
    ResultReader { about: "k6 --summary-export", matches: k6::is_summary, read: k6::summary },
    ResultReader {
        about: "Gatling's simulation.log in text",
        matches: gatling::is_log,
        read: gatling::log,
    },
    ResultReader {
        about: "Gatling's global_stats.json",
        matches: gatling::is_statistics,
        read: gatling::statistics,
    },
    ResultReader {
        about: "Locust's stats_history.csv",
        matches: locust::is_history,
        read: locust::history,
    },
    ResultReader {
        about: "Locust's stats.csv",
        matches: locust::is_statistics,
        read: locust::statistics,
    },
    ResultReader { about: "vegeta encode", matches: vegeta::is_json, read: vegeta::json },
    ResultReader { about: "vegeta encode --to csv", matches: vegeta::is_csv, read: vegeta::csv },
    ResultReader {
        about: "vegeta report --type json",
        matches: vegeta::is_json_report,
        read: vegeta::json_report,
    },
    ResultReader {
        about: "vegeta report",
        matches: vegeta::is_text_report,
        read: vegeta::text_report,
    },
    ResultReader { about: "oha's JSON", matches: oha::is_json, read: oha::json },
    ResultReader { about: "CSV of oha or hey", matches: oha::is_csv, read: oha::csv },
    ResultReader { about: "fortio's JSON", matches: fortio::matches, read: fortio::read },
    ResultReader { about: "siege's log", matches: siege::is_log, read: siege::log },
    ResultReader {
        about: "a table whose header begins with offered, rate, users, connections, concurrency, clients, threads or N, such as `offered nginx nginx_ms` or `N X`",
        matches: table::matches,
        read: table::read,
    },
];

/// Why results could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// No reader supports the format of the file.
    #[error("{name}: unsupported file format; supported: {formats}")]
    Unknown {
        /// Name of the file.
        name: String,
        /// The supported formats.
        formats: String,
    },
    /// The file is a text for the terminal, or a file that only the tool can read.
    #[error("{name}: output of {tool}, which cannot be analysed; write this instead: {remedy}")]
    Console {
        /// Name of the file.
        name: String,
        /// Name of the tool.
        tool: &'static str,
        /// Command or file with results that can be read.
        remedy: &'static str,
    },
    /// The format of the file is supported, but its content is invalid.
    #[error("{name}: {what}")]
    Invalid {
        /// Name of the file.
        name: String,
        /// Description of the problem, and the expected content.
        what: String,
    },
    /// The files mix loads of an open loop and of a closed loop.
    #[error(
        "{0} has another unit of load than the files before it: analyse arrivals per second and users separately"
    )]
    Mixed(String),
    /// There is no file, or no file holds results.
    #[error("no results to analyse")]
    Nothing,
}

/// Notes on data that several of these formats lack.
const ONE_VALUE: &str =
    "one value per step: the variation between runs is unknown, so no difference can be tested";
const NO_PERCENTILES: &str = "the file has means of the response time and no percentiles";

const LITTLE: &str = "the file does not name the number of users: the load is the number in the file's name where it can be, else the mean \
     concurrency (Little's law)";

#[cfg(test)]
mod tests;
