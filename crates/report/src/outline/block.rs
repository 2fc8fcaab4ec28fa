//! The blocks of an outline.

use crate::breakdown::Breakdown;
use crate::figure::Figure;
use crate::view::Emphasis;

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The name of the report, and its subject.
    Title(String, String),
    /// The heading of a section.
    Heading(String),
    /// Sentences about the block before.
    Paragraph(String),
    /// Named facts.
    Facts(Vec<Fact>),
    /// One fact for each part of a run. A report with little room may leave some of them out.
    FactOfEach(Vec<Fact>),
    /// Sentences.
    Points(Vec<Point>),
    /// A table: its head and its rows. The last column may have words.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Figures of the parts of a run.
    Breakdown(Breakdown),
    /// Statuses and failures.
    Outcomes(Vec<OutcomeRow>),
    /// A histogram of times.
    Bars(Vec<Bar>),
    /// Curves against the load. Formats without drawings leave them out.
    Graph(Box<Figure>),
}

/// A text with emphasized parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(pub Vec<(Option<Emphasis>, String)>);

/// A named fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fact {
    /// Its name.
    pub key: String,
    /// The text, line by line.
    pub lines: Vec<Words>,
    /// Remarks below the text.
    pub remarks: Vec<Remark>,
    /// A brief report on a screen may leave out the end of its text.
    pub may_be_cut: bool,
}

/// A remark on a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The reason for the fact.
    Reason(String),
    /// A figure that shows the reason before it.
    Evidence(String),
    /// A remedy.
    Remedy(String),
    /// Circumstances that brunt could not see.
    Unseen(String),
}

/// A sentence in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    /// Its kind.
    pub mark: Mark,
    /// The text.
    pub sentence: String,
    /// A remedy.
    pub remedy: Option<String>,
}

/// The kind of a sentence in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// A sentence that is never cut.
    #[default]
    Plain,
    /// A note. A brief report on a screen may leave out its end.
    Note,
    /// A warning about the figures.
    Warning,
    /// An objective that was met.
    Met,
    /// An objective that was missed.
    Missed,
}

/// A status or a failure, with the number of its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRow {
    /// The status, or the failure.
    pub outcome: String,
    /// Number of requests.
    pub count: String,
    /// Share of all requests.
    pub share: String,
    /// The meaning of a failure, and its remedy.
    pub meaning: String,
}

/// A bar of a histogram of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Greatest time of the bar, in nanoseconds.
    pub up_to: u64,
    /// Number of times in the bar.
    pub count: u64,
    /// Number of times in this bar and the bars before it.
    pub so_far: u64,
}

impl Words {
    /// An emphasized text.
    pub fn emphasized(emphasis: Emphasis, text: impl Into<String>) -> Self {
        Self(vec![(Some(emphasis), text.into())])
    }

    /// Appends plain text.
    #[must_use]
    pub fn and(mut self, text: impl Into<String>) -> Self {
        self.0.push((None, text.into()));
        self
    }

    /// Returns the text without emphasis.
    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl<T: Into<String>> From<T> for Words {
    fn from(text: T) -> Self {
        Self(vec![(None, text.into())])
    }
}

impl Fact {
    /// A fact in a line.
    pub fn new(key: impl Into<String>, text: impl Into<Words>) -> Self {
        Self { key: key.into(), lines: vec![text.into()], ..Self::default() }
    }
}

impl OutcomeRow {
    /// Head of the table.
    pub const HEAD: [&str; 4] = ["Outcome", "Requests", "Share", "Meaning"];

    /// Returns the row of the table.
    pub fn cells(&self) -> Vec<String> {
        vec![self.outcome.clone(), self.count.clone(), self.share.clone(), self.meaning.clone()]
    }
}

impl Point {
    /// A sentence that is shown in full.
    pub fn plain(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }
}
