//! Defines the blocks of an outline.

use crate::breakdown::Breakdown;
use crate::figure::Chart;
use crate::texts::message;
use crate::view::Emphasis;
use brunt_model::{Language, Text};

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum ReportBlock {
    /// Name of the report, and its subject.
    Title(String, String),
    /// The heading of a section.
    Heading(String),
    /// Sentences about the previous block.
    Paragraph(String),
    /// Facts with names, one below the other.
    Facts(Vec<Fact>),
    /// One fact for each part of a run. A report with limited space may omit some of them.
    FactOfEach(Vec<Fact>),
    /// A list of sentences.
    List(Vec<ListItem>),
    /// A table: its head and its rows. The last column may contain text.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A table with figures of the parts of a run.
    Breakdown(Breakdown),
    /// A table of statuses and failures.
    Outcomes(Vec<OutcomeRow>),
    /// A histogram of times.
    Bars(Vec<Bar>),
    /// Curves against the load. Formats without drawings omit them.
    Graph(Box<Chart>),
}

/// A text with emphasized parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(pub Vec<(Option<Emphasis>, Text)>);

/// A fact with its name and remarks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fact {
    /// Name of the fact.
    pub key: Text,
    /// The text, line by line.
    pub lines: Vec<Words>,
    /// Remarks below the text.
    pub remarks: Vec<Remark>,
    /// True if a brief report on a screen may omit the end of the text.
    pub may_be_cut: bool,
}

/// A remark on a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The reason for the fact.
    Reason(Text),
    /// A figure that shows the reason before it.
    Evidence(Text),
    /// Advice on how to improve the fact.
    Remedy(Text),
    /// Circumstances that brunt could not observe.
    Unseen(Text),
}

/// A sentence in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListItem {
    /// Kind of the sentence.
    pub mark: ListMark,
    /// Text of the sentence.
    pub sentence: String,
    /// Remedy, as a command or a piece of advice.
    pub remedy: Option<String>,
}

/// The kind of a sentence in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListMark {
    /// A sentence that is never shortened.
    #[default]
    Plain,
    /// A note. A brief report on a screen may omit its end.
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
    pub outcome: Text,
    /// Number of requests, as text.
    pub count: String,
    /// Share of all requests.
    pub share: String,
    /// The meaning of a failure, and its remedy.
    pub meaning: Text,
}

/// A bar of a histogram of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Greatest time of the bar, in nanoseconds.
    pub up_to: u64,
    /// Number of times in the bar.
    pub count: u64,
    /// Number of times in this bar and all lower ones.
    pub so_far: u64,
}

impl Words {
    /// Creates an emphasized text.
    pub fn emphasized(emphasis: Emphasis, text: impl Into<Text>) -> Self {
        Self(vec![(Some(emphasis), text.into())])
    }

    /// Appends emphasized text.
    #[must_use]
    pub fn and_emphasized(mut self, emphasis: Emphasis, text: impl Into<Text>) -> Self {
        self.0.push((Some(emphasis), text.into()));
        self
    }

    /// Appends text without emphasis.
    #[must_use]
    pub fn and(mut self, text: impl Into<Text>) -> Self {
        self.0.push((None, text.into()));
        self
    }

    /// Returns the text without emphasis.
    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| &**text).collect()
    }
}

impl<T: Into<Text>> From<T> for Words {
    fn from(text: T) -> Self {
        Self(vec![(None, text.into())])
    }
}

impl Fact {
    /// Creates a fact of one line.
    pub fn new(key: impl Into<Text>, text: impl Into<Words>) -> Self {
        Self { key: key.into(), lines: vec![text.into()], ..Self::default() }
    }
}

impl OutcomeRow {
    /// Returns the head of the table.
    pub fn head() -> [Text; 4] {
        [
            message!("table.outcome"),
            message!("table.requests"),
            message!("table.share"),
            message!("table.meaning"),
        ]
    }

    /// Returns the row of the table.
    pub fn cells(&self, language: Language) -> Vec<String> {
        vec![
            self.outcome.in_language(language).into_owned(),
            self.count.clone(),
            self.share.clone(),
            self.meaning.in_language(language).into_owned(),
        ]
    }
}

impl ListItem {
    /// Creates a sentence that is shown in full.
    pub fn plain(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }
}
