//! Selects entries by what they contain: for the list of the studio, and for histories.

use crate::IndexEntry;

/// A field by whose values entries are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectorField {
    /// Servers of the requests.
    Host,
    /// Labels of the requests.
    Label,
    /// Tags that users gave.
    Tag,
    /// Verdict on the load generator.
    Verdict,
}

impl SelectorField {
    /// All fields, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Host, Self::Label, Self::Tag, Self::Verdict];

    /// Name in URLs and on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Label => "label",
            Self::Tag => "tag",
            Self::Verdict => "verdict",
        }
    }

    /// Returns the values of an entry.
    pub fn values(self, entry: &IndexEntry) -> Vec<&str> {
        match self {
            Self::Host => borrowed(&entry.hosts),
            Self::Label => borrowed(&entry.labels),
            Self::Tag => borrowed(&entry.tags),
            Self::Verdict => entry.figures.iter().map(|figures| figures.verdict.key()).collect(),
        }
    }
}

fn borrowed(values: &[String]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

/// Conditions on entries. All of them must hold; none selects every entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntrySelection {
    /// Words that occur in the texts of the entry, in any case.
    pub words: String,
    /// Values that a field of the entry, or of one of its runs, must have.
    pub values: Vec<(SelectorField, String)>,
    /// True: only entries that are protected from removal.
    pub is_pinned: bool,
}

impl EntrySelection {
    /// True if an entry, with its runs, is selected.
    pub fn contains(&self, entry: &IndexEntry, runs: &[IndexEntry]) -> bool {
        // An experiment is found by the values of its runs, too.
        self.values.iter().all(|(field, value)| {
            std::iter::once(entry)
                .chain(runs)
                .any(|entry| field.values(entry).contains(&value.as_str()))
        }) && (entry.pinned || !self.is_pinned)
            && contains_words(entry, &self.words)
    }
}

/// True if each word occurs in one of its texts.
fn contains_words(entry: &IndexEntry, words: &str) -> bool {
    let lists = [&entry.contenders, &entry.hosts, &entry.labels, &entry.tags];
    let texts = [&entry.id, &entry.what].into_iter().chain(&entry.note);
    let texts: Vec<String> =
        texts.chain(lists.into_iter().flatten()).map(|text| text.to_lowercase()).collect();
    words
        .split_whitespace()
        .all(|word| texts.iter().any(|text| text.contains(&word.to_lowercase())))
}
