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
use brunt_store::selection::{EntrySelection, SelectorField};
use brunt_store::{IndexEntry, ItemKind};
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of rows of a page.
const ROWS: usize = 100;

/// Maximum number of suggestions for a field.
const SUGGESTIONS: usize = 200;

/// A run without an experiment, or an experiment with its runs.
struct Item {
    entry: IndexEntry,
    runs: Vec<IndexEntry>,
}

/// A field of the filter.
pub struct Selector {
    /// The values by which it selects.
    pub field: SelectorField,
    /// Name of the field on the page.
    pub title: &'static str,
}

/// The fields of the filter, in their order.
pub const SELECTORS: [Selector; 4] = [
    Selector { field: SelectorField::Host, title: "Host" },
    Selector { field: SelectorField::Label, title: "Label" },
    Selector { field: SelectorField::Tag, title: "Tag" },
    Selector { field: SelectorField::Verdict, title: "Verdict" },
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
///
/// # Errors
///
/// The store cannot be read.
pub async fn show(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, _| {
        let items = store.list_items()?.into_iter().rev();
        let items: Vec<Item> = items.map(|(entry, runs)| Item { entry, runs }).collect();
        Ok(list(&items, &query(&uri)))
    })
    .await
}

impl Item {
    /// The entry, and those of its runs.
    fn entries(&self) -> impl Iterator<Item = &IndexEntry> {
        std::iter::once(&self.entry).chain(&self.runs)
    }
}

fn list(items: &[Item], fields: &Fields) -> Html<String> {
    let selection = selection(fields);
    let selected: Vec<&Item> =
        items.iter().filter(|item| selection.contains(&item.entry, &item.runs)).collect();
    let page_number: usize = fields.first("page").parse().unwrap_or(1).max(1);
    let shown = selected.iter().skip((page_number - 1) * ROWS).take(ROWS);
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
                (table(shown.copied()))
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
                (field(selector, items, fields.first(selector.field.key())))
            }
            label {
                input type="checkbox" name="pinned" value="yes" checked[!fields.first("pinned").is_empty()];
                " pinned"
            }
            button type="submit" { "Show" }
            a href="/" { "all" }
            a href=(history_address(fields)) { "History of the selected" }
        }
    }
}

fn field(selector: &Selector, items: &[Item], value: &str) -> Markup {
    let Selector { field, title } = selector;
    let name = field.key();
    if *field == SelectorField::Verdict {
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
        items.iter().flat_map(Item::entries).flat_map(|entry| field.values(entry)).collect();
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

/// Address of the history of the runs that the filter selects.
fn history_address(fields: &Fields) -> String {
    fields.clone().without("page").at(super::history::PATH)
}

fn address_of(page_number: usize, fields: &Fields) -> String {
    fields.clone().without("page").with("page", &page_number.to_string()).at("/")
}
