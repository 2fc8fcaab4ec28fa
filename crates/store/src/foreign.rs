//! Reads the results of other tools.
//!
//! Input is the text of files, output is [`Observations`]. Their notes list what a file does not
//! contain. A file that matches no [reader](RESULT_READERS) is refused with a list of the supported
//! formats. Out of scope: the analysis, and opening the files.

mod ab;
mod autobench;
mod brunt;
mod brunt_csv;
mod join;
mod jtl;
mod objectives;
mod sampled;
mod siege;
mod table;

pub use join::read;
pub use objectives::check_objectives;

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
    /// True if a file has this format, judged by its beginning.
    matches: fn(&str) -> bool,
    /// Reads a file. A contender without a name is named after the file.
    read: fn(&File) -> Result<Observations, String>,
}

/// All supported formats. The first one that matches a file reads it.
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
    ResultReader { about: "JMeter's JTL, XML", matches: jtl::is_xml, read: jtl::xml },
    ResultReader { about: "JMeter's JTL, CSV with a header", matches: jtl::is_csv, read: jtl::csv },
    ResultReader {
        about: "autobench's TSV or CSV",
        matches: autobench::matches,
        read: autobench::read,
    },
    ResultReader { about: "ab -g", matches: ab::is_requests, read: ab::requests },
    ResultReader { about: "ab -e", matches: ab::is_percentages, read: ab::percentages },
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
    #[error("{0}: unsupported file format; supported: {list}", list = supported_formats())]
    Unknown(String),
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

fn supported_formats() -> String {
    RESULT_READERS.iter().map(|reader| reader.about).collect::<Vec<_>>().join("; ")
}

/// Returns the first line that is not blank.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim_start_matches('\u{feff}')
}

/// Parses a figure: a finite number that is not negative.
fn number(word: &str) -> Option<f64> {
    word.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// Notes on data that several of these formats lack.
const ONE_VALUE: &str =
    "one value per step: the variation between runs is unknown, so no difference can be tested";
const NO_PERCENTILES: &str = "the file has means of the response time and no percentiles";

#[cfg(test)]
mod tests;
