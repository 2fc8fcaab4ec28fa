//! What an outline is made of.

use crate::breakdown::Breakdown;
use crate::figure::Figure;
use crate::view::Emphasis;

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The name of the whole, and what it is about.
    Title(String, String),
    /// The heading of a section.
    Heading(String),
    /// Sentences that belong to what stands above them.
    Paragraph(String),
    /// Named facts.
    Facts(Vec<Fact>),
    /// A fact of each part of a run, of which some may give way.
    FactOfEach(Vec<Fact>),
    /// Sentences.
    Points(Vec<Point>),
    /// A table: its head, its rows, and what the last column says in words, if anything.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Figures of the parts of a run.
    Breakdown(Breakdown),
    /// Statuses and failures.
    Outcomes(Vec<OutcomeRow>),
    /// A histogram of times.
    Bars(Vec<Bar>),
    /// Curves against the load, for a format that can draw them.
    Graph(Box<Figure>),
}

/// A text of which parts are emphasized.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(pub Vec<(Option<Emphasis>, String)>);

/// A named fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fact {
    /// Its name.
    pub key: String,
    /// What is known, line by line.
    pub lines: Vec<Words>,
    /// What is said about it.
    pub remarks: Vec<Remark>,
    /// A brief report on a screen may leave out the end of its text.
    pub may_be_cut: bool,
}

/// Something that is said about a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// Why it is so.
    Reason(String),
    /// What shows the reason above.
    Evidence(String),
    /// What to do about it.
    Remedy(String),
    /// What it does not take into account.
    Unseen(String),
}

/// A sentence in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    /// What kind of sentence.
    pub mark: Mark,
    /// What is said.
    pub sentence: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// The kind of a sentence in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// It is always shown in full.
    #[default]
    Plain,
    /// A brief report on a screen may leave out its end.
    Note,
    /// The figures mean something else than one would think.
    Warning,
    /// An objective that was met.
    Met,
    /// An objective that was missed.
    Missed,
}

/// How many requests ended in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRow {
    /// The status, or the failure.
    pub outcome: String,
    /// How many.
    pub count: String,
    /// Which share of all.
    pub share: String,
    /// What a failure means, and what helps.
    pub meaning: String,
}

/// A bar of a histogram of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// The greatest time in it, in nanoseconds.
    pub up_to: u64,
    /// How many times lie in it.
    pub count: u64,
    /// How many lie in it and below.
    pub so_far: u64,
}

impl Words {
    /// A text as a whole, emphasized.
    pub fn emphasized(emphasis: Emphasis, text: impl Into<String>) -> Self {
        Self(vec![(Some(emphasis), text.into())])
    }

    /// With more text behind it.
    #[must_use]
    pub fn and(mut self, text: impl Into<String>) -> Self {
        self.0.push((None, text.into()));
        self
    }

    /// All of it, without emphasis.
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
    /// What stands above the cells.
    pub const HEAD: [&str; 4] = ["Outcome", "Requests", "Share", "Meaning"];

    /// The cells of a table.
    pub fn cells(&self) -> Vec<String> {
        vec![self.outcome.clone(), self.count.clone(), self.share.clone(), self.meaning.clone()]
    }
}

impl Remark {
    /// What is said.
    pub fn text(&self) -> &str {
        match self {
            Self::Reason(text) | Self::Evidence(text) | Self::Remedy(text) | Self::Unseen(text) => text,
        }
    }
}

impl Point {
    /// A sentence that is shown in full.
    pub fn plain(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }
}
