//! The list of runs and experiments, the latest first.

use crate::fields::Fields;
use crate::layout::{Problem, page, strip};
use crate::shared::{Shared, query, with_store};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use brunt_model::finding::State as Verdict;
use brunt_model::numbers::plural;
use brunt_report::stored::{HEAD, WHAT, cells};
use brunt_store::{IndexEntry, ItemKind, Store, StoreError};
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of rows of a page.
const ROWS: usize = 100;

/// Maximum number of suggestions for a field.
const SUGGESTIONS: usize = 200;

/// A run without an experiment, or an experiment with its runs.
pub struct Item {
    /// The entry of the run or experiment.
    pub entry: IndexEntry,
    runs: Vec<IndexEntry>,
}

/// A field that selects items by one of their values.
struct Selector {
    /// Name of the field in the URL.
    name: &'static str,
    title: &'static str,
    values: fn(&IndexEntry) -> Vec<&str>,
}

const SELECTORS: [Selector; 4] = [
    Selector { name: "host", title: "Host", values: |entry| borrowed(&entry.hosts) },
    Selector { name: "label", title: "Label", values: |entry| borrowed(&entry.labels) },
    Selector { name: "tag", title: "Tag", values: |entry| borrowed(&entry.tags) },
    Selector {
        name: "verdict",
        title: "Verdict",
        values: |entry| entry.figures.iter().map(|figures| figures.verdict.key()).collect(),
    },
];

fn borrowed(values: &[String]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

/// Shows the list.
///
/// # Errors
///
/// The store cannot be read.
pub async fn show(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, _| Ok(list(&read_items(store)?, &query(&uri)))).await
}

/// Returns all items of a store, the latest first.
///
/// # Errors
///
/// The store cannot be read.
pub fn read_items(store: &Store) -> Result<Vec<Item>, StoreError> {
    let items = store.list_items()?.into_iter().rev();
    Ok(items.map(|(entry, runs)| Item { entry, runs }).collect())
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

impl Item {
    /// The entry, and those of its runs.
    fn entries(&self) -> impl Iterator<Item = &IndexEntry> {
        std::iter::once(&self.entry).chain(&self.runs)
    }

    /// True if the fields select the item.
    pub fn is_selected(&self, fields: &Fields) -> bool {
        let has_all = SELECTORS.iter().all(|selector| {
            fields.all(selector.name).all(|wanted| {
                self.entries().any(|entry| (selector.values)(entry).contains(&wanted))
            })
        });
        let is_pinned = fields.first("pinned").is_empty() || self.entry.pinned;
        has_all && is_pinned && self.contains_words(fields.first("q"))
    }

    /// True if each word occurs in one of its texts.
    fn contains_words(&self, words: &str) -> bool {
        let entry = &self.entry;
        let lists = [&entry.contenders, &entry.hosts, &entry.labels, &entry.tags];
        let texts = [&entry.id, &entry.what].into_iter().chain(&entry.note);
        let texts: Vec<String> =
            texts.chain(lists.into_iter().flatten()).map(|text| text.to_lowercase()).collect();
        words
            .split_whitespace()
            .all(|word| texts.iter().any(|text| text.contains(&word.to_lowercase())))
    }
}

fn list(items: &[Item], fields: &Fields) -> Html<String> {
    let selected: Vec<&Item> = items.iter().filter(|item| item.is_selected(fields)).collect();
    let page_number = page_number(fields);
    let shown = rows_of_page(fields, &selected);
    let count = match (items.len(), selected.len()) {
        (all, found) if all == found => plural(all as u64, "item"),
        (all, found) => format!("{found} of {}", plural(all as u64, "item")),
    };
    let content = html! {
        h1 { "Runs and experiments" }
        (filter(items, fields))
        @if items.is_empty() {
            p { "Nothing is stored yet. Run " code { "brunt URL" } " in a terminal, then load this page again." }
        } @else {
            p class="facts" { (count) }
            form action="/compare" method="get" {
                (table(shown))
                p { button type="submit" { "Compare the selected" } " " span class="hint" { "The oldest one is the reference." } }
            }
        }
        (links_to_pages(selected.len(), page_number, fields))
    };
    page("Runs", &strip(&html! {}), &content)
}

fn filter(items: &[Item], fields: &Fields) -> Markup {
    html! {
        form class="filter" action="/" method="get" role="search" {
            label { "Search " input class="wide" type="search" name="q" value=(fields.first("q")); }
            @for selector in &SELECTORS {
                (field(selector, items, fields.first(selector.name)))
            }
            label {
                input type="checkbox" name="pinned" value="yes" checked[!fields.first("pinned").is_empty()];
                " pinned"
            }
            button type="submit" { "Show" }
            a href="/" { "all" }
        }
    }
}

fn field(selector: &Selector, items: &[Item], value: &str) -> Markup {
    let Selector { name, title, values } = selector;
    if *name == "verdict" {
        return html! {
            label { (title) " " select name=(name) {
                option value="" { "any" }
                @for state in Verdict::ALL {
                    option value=(state.key()) selected[state.key() == value] { (state.key()) }
                }
            } }
        };
    }
    // Thousands of suggestions would make each page of the list long.
    let suggestions: BTreeSet<&str> =
        items.iter().flat_map(Item::entries).flat_map(values).collect();
    let id = format!("{name}-values");
    html! {
        label { (title) " " input class="short" name=(name) value=(value) list=(id) autocomplete="off"; }
        datalist id=(id) {
            @for value in suggestions.into_iter().take(SUGGESTIONS) { option value=(value) {} }
        }
    }
}

fn table<'a>(items: impl Iterator<Item = &'a Item>) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Runs and experiments" {
            table class="runs" {
                thead { tr {
                    th { span class="sr" { "select" } }
                    @for title in HEAD { th { (title) } }
                    th { "tags and notes" }
                } }
                tbody { @for item in items { (row(&item.entry)) } }
            }
        }
    }
}

fn row(entry: &IndexEntry) -> Markup {
    let link = format!("/runs/{}", entry.id);
    let cells = cells(entry);
    html! {
        tr {
            td { input type="checkbox" name="id" value=(entry.id) aria-label={ "select " (entry.id) }; }
            @for (column, cell) in cells.iter().enumerate() {
                @match column {
                    0 => td { a href=(link) { (cell) } },
                    WHAT => td class="what" {
                        (cell)
                        @if entry.kind == ItemKind::Experiment { " " span class="remarks" { "experiment" } }
                    },
                    _ => td { (cell) },
                }
            }
            td { (remarks(entry)) }
        }
    }
}

/// Tags as links, the pin, and the note.
fn remarks(entry: &IndexEntry) -> Markup {
    html! {
        @if entry.pinned { span class="tag" title="protected from removal" { "pinned" } " " }
        @for tag in &entry.tags {
            a class="tag" href=(Fields::default().with("tag", tag).at("/")) { (tag) } " "
        }
        @if let Some(note) = &entry.note { span class="remarks" { (note) } }
    }
}

fn links_to_pages(rows: usize, page_number: usize, fields: &Fields) -> Markup {
    html! {
        @if rows > ROWS {
            nav class="pages" aria-label="Pages" {
                @if page_number > 1 { a href=(address_of(page_number - 1, fields)) { "later" } }
                span { "page " (page_number) " of " (rows.div_ceil(ROWS)) }
                @if page_number * ROWS < rows {
                    a href=(address_of(page_number + 1, fields)) { "earlier" }
                }
            }
        }
    }
}

fn address_of(page_number: usize, fields: &Fields) -> String {
    fields.clone().without("page").with("page", &page_number.to_string()).at("/")
}
