//! The list of runs and experiments, the latest first.

use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, page, scrolled_runs, strip};
use crate::shared::{Shared, query, with_store};
use crate::texts::{ELEMENT, Viewer, message};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use brunt_model::finding::State as Verdict;
use brunt_model::numbers::{UNKNOWN, plain};
use brunt_report::layout::clean;
use brunt_report::stored::{HEAD, WHAT, cells};
use brunt_report::utc::rfc3339;
use brunt_store::entry::{KeyFigures, LoadRange};
use brunt_store::selection::{EntrySelection, SelectorField};
use brunt_store::{IndexEntry, ItemKind, ItemState, Store, StoreError};
use maud::{Markup, html};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of rows of a page.
const ROWS: usize = 100;

/// Messages with the titles of the columns.
const COLUMNS: [&str; HEAD.len()] = [
    "runs-column-id",
    "runs-column-when",
    "runs-column-what",
    "runs-column-load",
    "runs-column-throughput",
    "runs-column-p99",
    "runs-column-errors",
    "runs-column-verdict",
];

/// Columns of the start, of the load and of the verdict.
const WHEN: usize = 1;
const LOAD: usize = 3;
const VERDICT: usize = 7;

/// Field of the URL with the column by which the list is sorted.
const SORT: &str = "sort";

/// Columns by which the list can be sorted, as their words in the URL. The first two begin with the highest value.
const SORT_WORDS: [&str; HEAD.len()] =
    ["id", "when", "what", "load", "throughput", "p99", "errors", "verdict"];

/// Beginning of the word of a column that is sorted downwards.
const DOWNWARDS: &str = "-";

/// Maximum number of suggestions for a field.
const SUGGESTIONS: usize = 200;

/// A run without an experiment, or an experiment with its runs.
pub struct Item {
    /// The entry of the run or experiment.
    pub entry: IndexEntry,
    runs: Vec<IndexEntry>,
}

/// A field of the filter.
pub struct Selector {
    /// The values by which it selects.
    pub field: SelectorField,
    /// Message with the title of the field.
    pub title: &'static str,
}

/// The fields of the filter, in their order.
pub const SELECTORS: [Selector; 4] = [
    Selector { field: SelectorField::Host, title: "runs-host" },
    Selector { field: SelectorField::Label, title: "runs-label" },
    Selector { field: SelectorField::Tag, title: "runs-tag" },
    Selector { field: SelectorField::Verdict, title: "runs-verdict" },
];

/// Returns the conditions of the filter in a URL.
pub fn selection(fields: &Fields) -> EntrySelection {
    let mut values = Vec::new();
    for Selector { field, .. } in SELECTORS {
        values.extend(fields.all(field.key()).map(|value| (field, value.to_owned())));
    }
    EntrySelection {
        words: fields.first("q").to_owned(),
        values,
        is_pinned: !fields.first("pinned").is_empty(),
    }
}

/// Shows the list.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, _| Ok(list(&read_items(store)?, &query(&uri), &viewer))).await
}

/// Returns all items of a store, the latest first.
pub fn read_items(store: &Store) -> Result<Vec<Item>, StoreError> {
    let items = store.list_items()?.into_iter().rev();
    Ok(items
        .map(|(entry, runs)| Item { entry: with_figures_of_only_run(entry, &runs), runs })
        .collect())
}

/// An experiment with one trial is a single run for those who make plans, so it has the figures of that run.
fn with_figures_of_only_run(entry: IndexEntry, runs: &[IndexEntry]) -> IndexEntry {
    match runs {
        [run] if entry.kind == ItemKind::Experiment && entry.trials == Some(1) => {
            IndexEntry { figures: run.figures, ..entry }
        }
        _ => entry,
    }
}

/// Returns the items that the fields select, in the order that they choose.
pub fn selected<'a>(items: &'a [Item], fields: &Fields) -> Vec<&'a Item> {
    let selection = selection(fields);
    let mut items: Vec<&Item> =
        items.iter().filter(|item| selection.contains(&item.entry, &item.runs)).collect();
    if let Some(sorting) = Sorting::of(fields) {
        sorting.sort(&mut items);
    }
    items
}

/// Returns the items of the page that the fields name.
pub fn rows_of_page<'a>(
    fields: &Fields,
    selected: &[&'a Item],
) -> impl Iterator<Item = &'a Item> + use<'a> {
    let first = (page_number(fields) - 1).saturating_mul(ROWS).min(selected.len());
    let rows: Vec<&Item> = selected[first..].iter().take(ROWS).copied().collect();
    rows.into_iter()
}

fn page_number(fields: &Fields) -> usize {
    fields.first("page").parse().unwrap_or(1).max(1)
}

/// The column by which the list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sorting {
    column: usize,
    is_downwards: bool,
}

/// Value of a cell by which the list is sorted.
#[derive(PartialEq, PartialOrd)]
enum SortKey {
    Number(f64),
    Word(String),
}

impl Sorting {
    fn of(fields: &Fields) -> Option<Self> {
        let word = fields.first(SORT);
        let (word, is_downwards) = match word.strip_prefix(DOWNWARDS) {
            Some(word) => (word, true),
            None => (word, false),
        };
        let column = SORT_WORDS.iter().position(|known| *known == word)?;
        Some(Self { column, is_downwards })
    }

    fn sort(self, items: &mut [&Item]) {
        // Unknown values come last in both directions. Equal ones stay in the order of time.
        items.sort_by(|a, b| match (self.key(&a.entry), self.key(&b.entry)) {
            (Some(a), Some(b)) => {
                let order = a.partial_cmp(&b).unwrap_or(Ordering::Equal);
                if self.is_downwards { order.reverse() } else { order }
            }
            (a, b) => a.is_none().cmp(&b.is_none()),
        });
    }

    fn key(self, entry: &IndexEntry) -> Option<SortKey> {
        let figure = |figure: fn(&KeyFigures) -> Option<f64>| {
            entry.figures.as_ref().and_then(figure).map(SortKey::Number)
        };
        match SORT_WORDS[self.column] {
            "id" => Some(SortKey::Word(entry.id.clone())),
            "when" => entry.started_unix_seconds.map(SortKey::Number),
            "what" => Some(SortKey::Word(entry.what.to_lowercase())),
            "load" => entry.load.map(|load| SortKey::Number(load.to)),
            "throughput" => figure(|figures| Some(figures.throughput_per_second)),
            "p99" => figure(|figures| figures.p99_seconds),
            "errors" => figure(|figures| Some(figures.errors_share)),
            _ => entry.figures.map(|figures| SortKey::Word(figures.verdict.key().to_owned())),
        }
    }
}

/// Head of a column: a link that sorts the list by it, and in the other direction at the next use.
fn head(column: usize, fields: &Fields, viewer: &Viewer) -> Markup {
    let sorting = Sorting::of(fields).filter(|sorting| sorting.column == column);
    let word = SORT_WORDS[column];
    // The latest, fastest and worst items are looked for more often than the others.
    let is_downwards =
        sorting.map_or(!["id", "what"].contains(&word), |sorting| !sorting.is_downwards);
    let word = if is_downwards { format!("{DOWNWARDS}{word}") } else { word.to_owned() };
    let address = fields.clone().without("page").without(SORT).with(SORT, &word).at("/");
    let order =
        sorting.map(|sorting| if sorting.is_downwards { "descending" } else { "ascending" });
    let mark = sorting.map_or("", |sorting| if sorting.is_downwards { " ↓" } else { " ↑" });
    let title = viewer.text(COLUMNS[column]);
    html! {
        th aria-sort=[order] {
            @if column == WHEN {
                a href=(address) { span class="utc" data-local=(viewer.text("runs-column-when-local")) { (title) } (mark) }
            } @else {
                a href=(address) { (title) (mark) }
            }
        }
    }
}

/// Start of an item. The script of the page shows it in the time zone of the browser.
fn start(entry: &IndexEntry, text: &str) -> Markup {
    html! {
        @match entry.started_unix_seconds {
            Some(seconds) => time class="local" datetime=(rfc3339(seconds)) { (text) },
            None => (text),
        }
    }
}

impl Item {
    /// The entry, and those of its runs.
    fn entries(&self) -> impl Iterator<Item = &IndexEntry> {
        std::iter::once(&self.entry).chain(&self.runs)
    }
}

fn list(items: &[Item], fields: &Fields, viewer: &Viewer) -> Html<String> {
    let selected = selected(items, fields);
    let page_number = page_number(fields);
    let shown = rows_of_page(fields, &selected);
    let count = match (items.len(), selected.len()) {
        (all, found) if all == found => message!("runs-count", count = all),
        (all, found) => message!("runs-found", found = found.to_string(), count = all),
    };
    let content = html! {
        h1 { (viewer.text("runs-heading")) }
        (filter(items, fields, viewer))
        @if items.is_empty() {
            p { (viewer.with_element(&message!("runs-none", command = ELEMENT), &html! { code { "brunt URL" } })) }
        } @else {
            p class="facts" { (viewer.format(&count)) }
            form action="/compare" method="get" {
                (table(shown, fields, viewer))
                p { button type="submit" { (viewer.text("runs-compare")) } " " span class="hint" { (viewer.text("runs-reference")) } }
            }
        }
        (links_to_pages(selected.len(), page_number, fields, viewer))
        script type="module" src=(Asset::StudioScript.path()) {}
    };
    page(viewer, &viewer.text("runs-title"), &strip(viewer, &html! {}), &content)
}

fn filter(items: &[Item], fields: &Fields, viewer: &Viewer) -> Markup {
    html! {
        form class="filter" action="/" method="get" role="search" {
            label { (viewer.text("search")) " " input class="wide" type="search" name="q" value=(fields.first("q")); }
            @for selector in &SELECTORS {
                (field(selector, items, fields.first(selector.field.key()), viewer))
            }
            label {
                input type="checkbox" name="pinned" value="yes" checked[!fields.first("pinned").is_empty()];
                " " (viewer.text("runs-pinned"))
            }
            @if fields.has(SORT) { input type="hidden" name=(SORT) value=(fields.first(SORT)); }
            button type="submit" { (viewer.text("runs-show")) }
            a href="/" { (viewer.text("runs-all")) }
            a href=(history_address(fields)) { (viewer.text("runs-history")) }
        }
    }
}

fn field(selector: &Selector, items: &[Item], value: &str, viewer: &Viewer) -> Markup {
    let Selector { field, title } = selector;
    let title = viewer.text(title);
    let name = field.key();
    if *field == SelectorField::Verdict {
        return html! {
            label { (title) " " select name=(name) {
                option value="" { (viewer.text("runs-any")) }
                @for state in &Verdict::ALL {
                    option value=(state.key()) selected[state.key() == value] { (verdict_name(*state, viewer)) }
                }
            } }
        };
    }
    // Thousands of suggestions would make each page of the list long.
    let suggestions: BTreeSet<&str> =
        items.iter().flat_map(Item::entries).flat_map(|entry| field.values(entry)).collect();
    let id = format!("{name}-values");
    html! {
        label { (title) " " input class="short" name=(name) value=(value) list=(id) autocomplete="off"; }
        datalist id=(id) {
            @for value in suggestions.into_iter().take(SUGGESTIONS) { option value=(value) {} }
        }
    }
}

/// Name of a verdict; in English, it is that of files.
fn verdict_name(state: Verdict, viewer: &Viewer) -> String {
    viewer.format(&message!("verdict-state", state = state.key()))
}

fn table<'a>(items: impl Iterator<Item = &'a Item>, fields: &Fields, viewer: &Viewer) -> Markup {
    let rows = html! {
        thead { tr {
            th { span class="sr" { (viewer.text("runs-select")) } }
            @for column in 0..COLUMNS.len() { (head(column, fields, viewer)) }
            th { (viewer.text("runs-remarks")) }
        } }
        tbody { @for item in items { (row(&item.entry, viewer)) } }
    };
    scrolled_runs(&viewer.text("runs-heading"), &rows)
}

fn row(entry: &IndexEntry, viewer: &Viewer) -> Markup {
    let link = format!("/runs/{}", entry.id);
    let mut cells = cells(entry);
    cells[WHAT] = description(entry, viewer).unwrap_or_else(|| cells[WHAT].clone());
    cells[LOAD] = entry.load.as_ref().map_or(UNKNOWN.into(), |range| load(range, viewer));
    cells[VERDICT] = verdict(entry, viewer);
    html! {
        tr {
            td { input type="checkbox" name="id" value=(entry.id) aria-label=(viewer.format(&message!("runs-select-one", id = entry.id.as_str()))); }
            @for (column, cell) in cells.iter().enumerate() {
                @match column {
                    0 => td { a href=(link) { (cell) } },
                    WHEN => td { (start(entry, cell)) },
                    WHAT => td class="what" {
                        (cell)
                        @if entry.kind == ItemKind::Experiment { " " span class="remarks" { (viewer.text("runs-experiment")) } }
                    },
                    _ => td { (cell) },
                }
            }
            td { (remarks(entry, viewer)) }
        }
    }
}

/// Description of an experiment with its trials; None for a run.
fn description(entry: &IndexEntry, viewer: &Viewer) -> Option<String> {
    let name = clean(&entry.what);
    let done = entry.trials_made.unwrap_or(0).to_string();
    let all = entry.trials.unwrap_or(0).to_string();
    let text = message!("runs-trials", name, done, all);
    (entry.kind == ItemKind::Experiment).then(|| viewer.format(&text))
}

fn load(range: &LoadRange, viewer: &Viewer) -> String {
    let figures = if range.from == range.to {
        plain(range.to)
    } else {
        format!("{}..{}", plain(range.from), plain(range.to))
    };
    viewer.format(&if range.users {
        message!("runs-users", figures)
    } else {
        message!("runs-rate", figures)
    })
}

/// Verdict, and the state of a run that is not complete.
fn verdict(entry: &IndexEntry, viewer: &Viewer) -> String {
    let verdict = entry.figures.as_ref().map(|figures| verdict_name(figures.verdict, viewer));
    let progress = match entry.progress {
        ItemState::Running => Some("runs-running"),
        ItemState::Whole => None,
        ItemState::Interrupted => Some("runs-interrupted"),
        ItemState::Torn => Some("runs-torn"),
    };
    match (verdict, progress.map(|id| viewer.text(id))) {
        (Some(verdict), Some(progress)) => {
            viewer.format(&message!("runs-verdict-and-state", verdict, progress))
        }
        (verdict, progress) => verdict.or(progress).unwrap_or_else(|| UNKNOWN.into()),
    }
}

/// Tags as links, the pin, and the note.
fn remarks(entry: &IndexEntry, viewer: &Viewer) -> Markup {
    html! {
        @if entry.pinned { span class="tag" title=(viewer.text("runs-protected")) { (viewer.text("runs-pinned")) } " " }
        @for tag in &entry.tags {
            a class="tag" href=(Fields::default().with("tag", tag).at("/")) { (tag) } " "
        }
        @if let Some(note) = &entry.note { span class="remarks" { (note) } }
    }
}

fn links_to_pages(rows: usize, page_number: usize, fields: &Fields, viewer: &Viewer) -> Markup {
    html! {
        @if rows > ROWS {
            nav class="pages" aria-label=(viewer.text("runs-pages")) {
                @if page_number > 1 { a href=(address_of(page_number - 1, fields)) { (viewer.text("runs-later")) } }
                span { (viewer.format(&message!("runs-page", number = page_number, count = rows.div_ceil(ROWS)))) }
                @if page_number * ROWS < rows {
                    a href=(address_of(page_number + 1, fields)) { (viewer.text("runs-earlier")) }
                }
            }
        }
    }
}

/// Address of the history of the runs that the filter selects.
fn history_address(fields: &Fields) -> String {
    fields.clone().without("page").without(SORT).at(super::history::PATH)
}

fn address_of(page_number: usize, fields: &Fields) -> String {
    fields.clone().without("page").with("page", &page_number.to_string()).at("/")
}
