//! Results of other tools, as what an analysis is made of.
//!
//! Text of files comes in, [`Observations`] go out; what a file cannot tell stands in their notes, and a file that no
//! [reader](READERS) knows is refused with a list of those that there are. Out of scope: the analysis, and who opens
//! the files.

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
pub use objectives::hold;

use brunt_model::Observations;

/// A file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, with or without a path.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

/// A kind of file that can be read.
pub struct Reader {
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether a file is of this kind, by how it begins.
    knows: fn(&str) -> bool,
    /// What stands in it. A contender without a name is named by its file.
    read: fn(&File) -> Result<Observations, String>,
}

/// Every kind of file that can be read. The first that knows a file reads it.
pub const READERS: &[Reader] = &[
    Reader { about: "brunt's JSON of a run", knows: brunt::is_run, read: brunt::run },
    Reader { about: "brunt's JSON of a sweep", knows: brunt::is_sweep, read: brunt::sweep },
    Reader { about: "brunt's CSV of a sweep", knows: brunt_csv::knows, read: brunt_csv::read },
    Reader { about: "siege's JSON", knows: siege::is_json, read: siege::json },
    Reader { about: "JMeter's JTL, XML", knows: jtl::is_xml, read: jtl::xml },
    Reader { about: "JMeter's JTL, CSV with a header", knows: jtl::is_csv, read: jtl::csv },
    Reader { about: "autobench's TSV or CSV", knows: autobench::knows, read: autobench::read },
    Reader { about: "ab -g", knows: ab::is_requests, read: ab::requests },
    Reader { about: "ab -e", knows: ab::is_percentages, read: ab::percentages },
    Reader { about: "siege's log", knows: siege::is_log, read: siege::log },
    Reader {
        about: "a table whose header begins with offered, rate, users, connections, concurrency, clients, threads or N, such as `offered nginx nginx_ms` or `N X`",
        knows: table::knows,
        read: table::read,
    },
];

/// Why results could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// No reader knows it.
    #[error("{0}: unsupported file format; supported: {list}", list = known())]
    Unknown(String),
    /// It is of a known kind, and something in it makes no sense.
    #[error("{name}: {what}")]
    Senseless {
        /// Which file.
        name: String,
        /// What, and what would do.
        what: String,
    },
    /// Loads of an open and of a closed loop.
    #[error("{0} has another unit of load than the files before it: analyse arrivals per second and users separately")]
    Mixed(String),
    /// No file, or none that holds anything.
    #[error("no results to analyse")]
    Nothing,
}

fn known() -> String {
    READERS.iter().map(|reader| reader.about).collect::<Vec<_>>().join("; ")
}

/// The first line that says anything.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim_start_matches('\u{feff}')
}

/// A figure: finite, and not below 0.
fn number(word: &str) -> Option<f64> {
    word.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// What many of these files cannot tell.
const ONE_VALUE: &str = "one value per step: the variation between runs is unknown, so no difference can be tested";
const NO_PERCENTILES: &str = "the file has means of the response time and no percentiles";

#[cfg(test)]
mod tests;
