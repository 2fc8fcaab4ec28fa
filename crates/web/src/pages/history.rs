//! The history of a figure: a chart over comparable runs, its change points, and the runs.

use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, page, scrolled_runs, scrolled_table, strip};
use crate::pages::list::{SELECTORS, selection};
use crate::shared::{Shared, query, with_store};
use crate::texts::{ELEMENT, Viewer, message};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Html;
use brunt_model::run_history::{
    HistoryChange, HistoryEntry, HistoryMeasure, HistorySegment, SeriesHistory,
};
use brunt_model::text;
use brunt_report::history::{chart, comparison_command, words};
use brunt_report::html::charts;
use brunt_report::utc::date;
use brunt_runner::history::{
    DEFAULT_RUNS, HistoryCache, HistoryError, HistoryRequest, MAX_RUNS, SeriesSummary, read,
    select, series,
};
use brunt_store::Store;
use maud::{Markup, PreEscaped, html};
use std::sync::Arc;

/// Path of the page.
pub const PATH: &str = "/history";

/// Measure of a page without one.
const DEFAULT_MEASURE: HistoryMeasure = HistoryMeasure::P99;

/// Maximum number of series that a page lists.
const SERIES: usize = 20;

/// Returns the address of the history of runs like this one.
pub fn address_like(id: &str, measure: HistoryMeasure) -> String {
    Fields::default().with("like", id).with("measure", measure.key()).at(PATH)
}

/// Shows the history of the series in the URL.
///
/// # Errors
///
/// The URL has an unknown measure, or the store cannot be read.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    with_store(&shared, move |store, shared| {
        page_of(store, &shared.histories, &query(&uri), &viewer)
    })
    .await
}

fn page_of(
    store: &Store,
    cache: &HistoryCache,
    fields: &Fields,
    viewer: &Viewer,
) -> Result<Html<String>, Problem> {
    let request = request(fields)?;
    let items = select(store, &request).map_err(problem)?;
    let content = match read(store, &items, &request, cache) {
        Ok(history) => history_content(&history, fields, viewer)?,
        // The form stays, so that the reader can choose again.
        Err(error @ (HistoryError::Nothing(_) | HistoryError::OtherKind { .. })) => {
            html! { p class="problem" { (error.to_string()) } }
        }
        Err(error) => return Err(problem(error)),
    };
    let content = html! {
        h1 { (viewer.text("strip-history")) }
        (form(&request, fields, viewer))
        (content)
        (other_series(&series(&items), &request, fields, viewer))
        script type="module" src=(Asset::PageScript.path()) {}
    };
    Ok(page(viewer, &viewer.text("strip-history"), &strip(viewer, &html! {}), &content))
}

fn request(fields: &Fields) -> Result<HistoryRequest, Problem> {
    let measure = match fields.first("measure") {
        "" => Some(DEFAULT_MEASURE),
        key => HistoryMeasure::from_key(key),
    };
    let measure = measure.ok_or_else(|| {
        let all: Vec<&str> = HistoryMeasure::ALL.iter().map(|measure| measure.key()).collect();
        let word = fields.first("measure");
        Problem::bad_request(format!("measure={word} is unknown; write one of {}", all.join(", ")))
    })?;
    let most_runs = match fields.first("last") {
        "" => Some(DEFAULT_RUNS),
        word => word.parse().ok().filter(|last| (1..=MAX_RUNS).contains(last)),
    };
    let most_runs = most_runs.ok_or_else(|| {
        let word = fields.first("last");
        Problem::bad_request(format!("last={word} is no number of runs; write 1 to {MAX_RUNS}"))
    })?;
    // An empty field of the form chooses the latest run.
    let like = fields.all("like").next().map(str::to_owned);
    Ok(HistoryRequest { measure, selection: selection(fields), like, most_runs })
}

fn problem(error: HistoryError) -> Problem {
    match error {
        HistoryError::Store(error) => Problem::from(error),
        error => Problem::bad_request(error.to_string()),
    }
}

/// The form with the measure and the filter.
fn form(request: &HistoryRequest, fields: &Fields, viewer: &Viewer) -> Markup {
    html! {
        form class="filter" action=(PATH) method="get" role="search" {
            label { (viewer.text("history-figure")) " " select name="measure" {
                @for measure in HistoryMeasure::ALL {
                    option value=(measure.key()) selected[measure == request.measure] { (viewer.format(&measure.title())) }
                }
            } }
            label { (viewer.text("history-like")) " " input class="short" name="like" value=(fields.first("like")) placeholder=(viewer.text("history-latest-run")); }
            label { (viewer.text("search")) " " input class="wide" type="search" name="q" value=(fields.first("q")); }
            @for selector in &SELECTORS {
                label { (viewer.text(selector.title)) " "
                    input class="short" name=(selector.field.key()) value=(fields.first(selector.field.key())); }
            }
            label { (viewer.text("history-latest")) " " input class="short" type="number" name="last" min="1" max=(MAX_RUNS)
                value=(request.most_runs); }
            button type="submit" { (viewer.text("runs-show")) }
            a href=(PATH) { (viewer.text("runs-all")) }
        }
    }
}

fn history_content(
    of_series: &SeriesHistory,
    fields: &Fields,
    viewer: &Viewer,
) -> Result<Markup, Problem> {
    let SeriesHistory { series, history } = of_series;
    let mut chart = chart(history);
    chart.translate(viewer.language);
    let mut drawn = Vec::new();
    charts::write(&[chart], &mut drawn).map_err(|error| Problem::internal(&error))?;
    let drawn = String::from_utf8(drawn).map_err(|error| Problem::internal(&error))?;
    let measure = history.measure;
    let like = html! { a href={ "/runs/" (series.like_id) } { (series.like_id) } };
    let command = html! {
        code { "brunt runs history --like " (series.like_id) " --measure " (measure.key()) }
    };
    Ok(html! {
        p class="facts" {
            (series.what) " · " (viewer.format(&series.load)) " · "
            (viewer.with_element(&message!("history-like-run", run = ELEMENT), &like))
        }
        p { b { (viewer.format(&words::conclusion(history))) } }
        (PreEscaped(drawn))
        @if !history.changes.is_empty() {
            section aria-labelledby="changes-title" {
                h2 id="changes-title" { (viewer.text("history-changes")) }
                @for change in &history.changes { (change_point(of_series, change, viewer)) }
            }
            (levels(measure, &history.segments, viewer))
        }
        section aria-labelledby="runs-title" {
            h2 id="runs-title" { (viewer.text("history-runs")) }
            (runs(of_series, viewer))
            @for remark in words::remarks(of_series) { p class="hint" { (viewer.format(&remark)) } }
        }
        p class="hint" {
            (viewer.with_element(&message!("history-terminal", command = ELEMENT), &command))
            @if !fields.first("like").is_empty() {
                " · " a href=(fields.clone().without("like").at(PATH)) { (viewer.text("history-all-series")) }
            }
        }
    })
}

fn change_point(of_series: &SeriesHistory, change: &HistoryChange, viewer: &Viewer) -> Markup {
    let compared =
        Fields::default().with("id", &change.before_id).with("id", &change.after_id).at("/compare");
    let facts = words::facts(change);
    let command = html! { code { (comparison_command(of_series, change)) } };
    html! {
        h3 { (viewer.format(&words::change(of_series.history.measure, change))) }
        @if facts.is_empty() {
            p { (viewer.format(&text!("history-change.no-facts"))) }
        } @else {
            p { (viewer.format(&text!("history-change.facts"))) }
            ul { @for fact in facts { li { (viewer.format(&fact)) } } }
        }
        p {
            a href=(compared) { (viewer.text("history-compare")) }
            " · " (viewer.with_element(&message!("history-compare-several", command = ELEMENT), &command))
        }
    }
}

fn levels(measure: HistoryMeasure, segments: &[HistorySegment], viewer: &Viewer) -> Markup {
    let title = viewer.text("history-levels");
    let heads = [
        viewer.text("history-level-first"),
        viewer.text("history-level-last"),
        viewer.text("history-level-runs"),
        viewer.text("history-level-median"),
        viewer.format(&text!("chart-label.interval")),
    ];
    let rows = html! {
        thead { tr { @for head in heads { th scope="col" { (head) } } } }
        tbody { @for segment in segments {
            tr {
                td { a href={ "/runs/" (segment.first_id) } { (segment.first_id) } }
                td { a href={ "/runs/" (segment.last_id) } { (segment.last_id) } }
                td { (segment.runs) }
                td { (words::figure(measure, &segment.level)) }
                td { (words::interval(measure, &segment.level)) }
            }
        } }
    };
    scrolled_table(&title, &rows)
}

/// The table of runs, the latest first.
fn runs(of_series: &SeriesHistory, viewer: &Viewer) -> Markup {
    let rows = html! {
        thead { tr {
            @for title in words::head() { th scope="col" { (viewer.format(&title)) } }
            th scope="col" { (viewer.text("history-remarks")) }
        } }
        tbody { @for entry in of_series.history.entries.iter().rev() { (row(of_series, entry, viewer)) } }
    };
    scrolled_runs(&viewer.text("history-table"), &rows)
}

fn row(of_series: &SeriesHistory, entry: &HistoryEntry, viewer: &Viewer) -> Markup {
    let history = &of_series.history;
    let remark = words::remark(history, entry).unwrap_or_default();
    html! {
        tr {
            @for (column, cell) in words::row(history.measure, entry).iter().enumerate() {
                @if column == 0 { td { a href={ "/runs/" (entry.id) } { (viewer.format(cell)) } } }
                @else { td { (viewer.format(cell)) } }
            }
            td { span class="remarks" { (viewer.format(&remark)) } }
        }
    }
}

/// Links to the other series of the selection.
fn other_series(
    all: &[SeriesSummary],
    request: &HistoryRequest,
    fields: &Fields,
    viewer: &Viewer,
) -> Markup {
    html! {
        @if all.len() > 1 {
            details open[request.like.is_none()] {
                summary { (viewer.format(&message!("history-series", count = all.len().to_string()))) }
                ul { @for summary in all.iter().take(SERIES) {
                    li { (series_item(summary, fields, viewer)) }
                } }
                @if all.len() > SERIES {
                    p { (viewer.format(&message!("history-latest-series", count = SERIES.to_string()))) }
                }
            }
        }
    }
}

fn series_item(summary: &SeriesSummary, fields: &Fields, viewer: &Viewer) -> Markup {
    let link = html! {
        a href=(fields.clone().without("like").with("like", &summary.latest_id).at(PATH)) {
            (summary.what) ", " (viewer.format(&summary.load))
        }
    };
    let item = message!(
        "history-series-item",
        series = ELEMENT,
        count = summary.runs,
        first = date(summary.first_unix_seconds),
        last = date(summary.last_unix_seconds),
    );
    viewer.with_element(&item, &link)
}

#[cfg(test)]
mod tests;
