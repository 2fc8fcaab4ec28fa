//! The rows of the route table.

use super::{QueryParameter, Route, RouteBody, RouteMethod, RouteReply, schema_of};
use crate::api;
use crate::api::types::{
    ItemChange, MarkRequest, PushReply, RunList, SessionReply, StartReply, StartRequest, StartState,
};
use crate::assets::Asset;
use crate::leases::{HeldLease, LeaseEntry, LeaseRequest};
use crate::pages;
use crate::visitor::Permission::{Read, Run};
use axum::http::HeaderMap;
use axum::routing::{delete, get, post};
use brunt_store::IndexEntry;

/// Parameters that select runs and experiments.
const SELECTION: &[QueryParameter] = &[
    parameter("q", "Words that all occur in id, target, name, note, host, label or tag."),
    parameter("host", "Server of a request, such as shop:8080."),
    parameter("label", "Label of a request."),
    parameter("tag", "Tag of the item."),
    parameter("verdict", "Verdict on the generator, such as ok."),
    parameter("pinned", "`yes` for pinned items only."),
    parameter(
        "sort",
        "Column of the order, such as p99, or -p99 for the highest first; the latest item first without it.",
    ),
    parameter("page", "Number of the page, from 1. A page has 100 items."),
];

/// Parameters of the page of a run.
const SHOWN_PART: &[QueryParameter] = &[
    parameter("only", "Charts of these requests only, such as label:/cart."),
    parameter("at", "Instant of a replay, in seconds since the start."),
    parameter("labels", "Order of the table of labels: count, errors or p99."),
    parameter("label-search", "Text that occurs in the labels of the table."),
];

/// Parameters that select the runs of a history.
const HISTORY: &[QueryParameter] = &[
    parameter("measure", "Figure of each run, such as p99."),
    parameter("like", "Run whose comparable runs are shown; the latest one without it."),
    parameter("last", "Maximum number of runs."),
    parameter("q", "Words that all occur in id, target, name, note, host, label or tag."),
    parameter("host", "Server of a request, such as shop:8080."),
    parameter("label", "Label of a request."),
    parameter("tag", "Tag of the item."),
    parameter("verdict", "Verdict on the generator, such as ok."),
];

const fn parameter(name: &'static str, about: &'static str) -> QueryParameter {
    QueryParameter { name, about }
}

/// A script or style.
const fn asset(
    asset: Asset,
    summary: &'static str,
    handler: fn() -> axum::routing::MethodRouter<std::sync::Arc<crate::shared::Shared>>,
) -> Route {
    let route = Route::page(asset.path(), Read, summary, handler);
    // The page on which visitors sign in has styles, too.
    let route = if asset.is_style() { route.open() } else { route };
    route.reply(RouteReply::File(asset.media_type()))
}

/// All routes.
pub static ROUTES: &[Route] = &[
    Route::page("/", Read, "Lists runs and experiments.", || get(pages::list::show))
        .query(SELECTION),
    Route::page("/runs/{id}", Read, "Shows a run or an experiment.", || get(pages::item::show))
        .query(SHOWN_PART),
    Route::page("/runs/{id}/live", Read, "Returns what changes on the page while it is shown.", || {
        get(pages::item::live)
    })
    .query(SHOWN_PART),
    Route::page("/runs/{id}/share", Read, "Returns the page of a run as one file.", || {
        get(pages::item::share)
    }),
    Route::form("/runs/{id}/change", Run, "Changes tags, note or pin.", || {
        post(pages::item::change)
    })
    .reply(RouteReply::Redirect),
    Route::form("/runs/{id}/order", Run, "Stops or marks an active run.", || {
        post(pages::item::give_order)
    })
    .reply(RouteReply::Redirect),
    Route::page("/compare", Read, "Compares runs or experiments.", || get(pages::compare::show))
        .query(&[parameter("id", "Item to compare; repeatable.")]),
    Route::page("/compare/share", Read, "Returns a comparison as one file.", || {
        get(pages::compare::share)
    })
    .query(&[parameter("id", "Item to compare; repeatable.")]),
    Route::page("/history", Read, "Shows the history of a figure.", || get(pages::history::show))
        .query(HISTORY),
    Route::form("/language", Read, "Chooses the language of the pages.", || {
        post(pages::language::choose)
    })
    .reply(RouteReply::Redirect),
    Route::page("/retention", Read, "Lists the steps of a retention.", || {
        get(pages::retention::show)
    })
    .query(&[
        parameter("logs-older-than", "Age of event logs that become digests, such as 30d."),
        parameter("older-than", "Age of items that are removed, such as 365d."),
        parameter("max-size", "Maximum size of the store, such as 20G."),
    ]),
    Route::form("/retention", Run, "Carries out the steps of a retention.", || {
        post(pages::retention::prune)
    }),
    // The forms and the editor read files of the studio's machine.
    Route::page("/start", Run, "Shows the form for a run, and the leases on servers.", || {
        get(pages::start::show)
    })
    .query(&[parameter("target", "URL or path of a plan file.")]),
    Route::form("/start", Run, "Starts a run.", || post(pages::start::start))
        .reply(RouteReply::Redirect),
    Route::form("/leases/end", Run, "Ends the lease of a member.", || {
        post(pages::start::end_lease)
    })
    .reply(RouteReply::Redirect),
    Route::page("/starting/{process}", Run, "Shows the start of a run.", || {
        get(pages::starting::show)
    }),
    Route::page("/edit", Run, "Shows a plan file in an editor.", || get(pages::edit::show))
        .query(&[parameter("file", "Path of the plan file.")]),
    Route::form("/edit/check", Run, "Checks the text of a plan.", || {
        post(pages::edit::check::check)
    })
    .reply(RouteReply::Document("Problems of the plan.")),
    Route::form("/edit/fields", Run, "Returns the form of an element of a plan.", || {
        post(pages::edit::structure::fields)
    })
    .reply(RouteReply::Document("Tree and form of the plan.")),
    Route::form("/edit/change", Run, "Changes an element of a plan.", || {
        post(pages::edit::structure::change)
    })
    .reply(RouteReply::Document("Edit of the text.")),
    Route::form("/edit/save", Run, "Saves a plan file.", || post(pages::edit::save)),
    Route::page("/edit/schema.json", Run, "Returns the JSON Schema of plan files.", || {
        get(pages::edit::plan_schema)
    })
    .reply(RouteReply::Document("JSON Schema of plan files.")),
    Route::page("/import", Run, "Shows the form for an import.", || get(pages::import::show)),
    Route::form("/import", Run, "Turns a recording or a plan of JMeter into a plan.", || {
        post(pages::import::make)
    }),
    Route::page("/record", Run, "Shows the form for a recording.", || get(pages::record::show)),
    Route::form("/record", Run, "Starts a recording.", || post(pages::record::start))
        .reply(RouteReply::Redirect),
    Route::page("/record/{number}", Run, "Shows a recording, and its plan.", || {
        get(pages::record::show_started)
    }),
    Route::form("/record/{number}/stop", Run, "Ends a recording.", || post(pages::record::stop))
        .reply(RouteReply::Redirect),
    Route::form("/tries", Run, "Tries a plan file once.", || post(pages::tries::start))
        .reply(RouteReply::Redirect),
    Route::page("/tries/{number}", Run, "Shows a try of a plan file.", || get(pages::tries::show)),
    Route::form("/tries/{number}/stop", Run, "Stops a try.", || post(pages::tries::stop))
        .reply(RouteReply::Redirect),
    Route::form("/tries/{number}/extract", Run, "Adds an extractor to a plan file.", || {
        post(pages::tries::extract::add)
    })
    .reply(RouteReply::Redirect),
    Route::page("/sign-in", Read, "Shows the form for a token.", || get(pages::sign_in::show))
        .open(),
    Route::form("/sign-in", Read, "Admits a browser by a token.", || post(pages::sign_in::admit))
        .open(),
    Route::form("/sign-out", Read, "Ends the session of a browser.", || {
        post(pages::sign_in::sign_out)
    }),
    Route::page(LINK_KEY, Read, "Admits one browser.", || get(pages::sign_in::open)).open(),
    Route::page(LINK_PROCESS, Read, "Admits one browser to the run of a process.", || {
        get(pages::sign_in::open_process)
    })
    .open(),
    asset(Asset::PageStyle, "Style of the page of a run.", || get(page_style)),
    asset(Asset::PageScript, "Script of the page of a run.", || get(page_script)),
    asset(Asset::StudioStyle, "Style of the studio.", || get(studio_style)),
    asset(Asset::StudioScript, "Script of the studio.", || get(studio_script)),
    asset(Asset::EditorScript, "Script of the editor.", || get(editor_script)),
    Route::page("/openapi.json", Read, "Returns this document.", || get(api::openapi))
        .reply(RouteReply::Document("OpenAPI document of the studio.")),
    Route::page("/api/session", Read, "Returns name and permission of the token.", || {
        get(api::session)
    })
    .reply(RouteReply::Json(schema_of::<SessionReply>)),
    Route::page("/api/runs", Read, "Lists runs and experiments, the latest first.", || {
        get(api::runs::list)
    })
    .query(SELECTION)
    .reply(RouteReply::Json(schema_of::<RunList>)),
    Route::form("/api/runs", Run, "Stores a run or an experiment of another machine.", || {
        post(api::runs::push)
    })
    .body(RouteBody::Archive)
    .reply(RouteReply::Json(schema_of::<PushReply>)),
    Route::page("/api/runs/{id}", Read, "Returns the index entry of an item.", || {
        get(api::runs::entry)
    })
    .reply(RouteReply::Json(schema_of::<IndexEntry>)),
    Route::page("/api/runs/{id}/result", Read, "Returns the result of a run or experiment.", || {
        get(api::runs::result)
    })
    .reply(RouteReply::Document(
        "The document of `brunt schema result` for a run, of `brunt schema study` for an experiment.",
    )),
    Route::page("/api/runs/{id}/archive", Read, "Returns an item for another store.", || {
        get(api::runs::pull)
    })
    .reply(RouteReply::Archive),
    Route::form("/api/runs/{id}/change", Run, "Changes tags, note or pin.", || {
        post(api::runs::change)
    })
    .body(RouteBody::Json(schema_of::<ItemChange>))
    .reply(RouteReply::Json(schema_of::<IndexEntry>)),
    Route::form("/api/runs/{id}/stop", Run, "Stops an active run.", || post(api::runs::stop))
        .body(RouteBody::None)
        .reply(RouteReply::Nothing),
    Route::form("/api/runs/{id}/mark", Run, "Marks this instant of an active run.", || {
        post(api::runs::mark)
    })
    .body(RouteBody::Json(schema_of::<MarkRequest>))
    .reply(RouteReply::Nothing),
    Route::form("/api/start", Run, "Starts a run of a URL or of the text of a plan.", || {
        post(api::start::start)
    })
    .body(RouteBody::Json(schema_of::<StartRequest>))
    .reply(RouteReply::Json(schema_of::<StartReply>)),
    Route::page("/api/starting/{process}", Run, "Returns the state of a started run.", || {
        get(api::start::state)
    })
    .reply(RouteReply::Json(schema_of::<StartState>)),
    Route::page("/api/leases", Read, "Lists the leases on servers.", || get(api::leases::list))
        .reply(RouteReply::Json(schema_of::<Vec<LeaseEntry>>)),
    Route::form("/api/leases", Run, "Takes a lease on servers.", || post(api::leases::take))
        .body(RouteBody::Json(schema_of::<LeaseRequest>))
        .reply(RouteReply::Json(schema_of::<HeldLease>)),
    Route::form("/api/leases/{key}", Run, "Renews a lease.", || post(api::leases::renew))
        .body(RouteBody::None)
        .reply(RouteReply::Json(schema_of::<HeldLease>)),
    Route::new(RouteMethod::Delete, "/api/leases/{key}", Some(Run), "Ends a lease, by its key or its number.", || {
        delete(api::leases::end)
    })
    .reply(RouteReply::Nothing),
];

/// Paths of the links that set the cookie.
const LINK_KEY: &str = "/open/{key}";
const LINK_PROCESS: &str = "/open/{key}/starting/{process}";

async fn page_style(headers: HeaderMap) -> axum::response::Response {
    Asset::PageStyle.reply(&headers)
}

async fn page_script(headers: HeaderMap) -> axum::response::Response {
    Asset::PageScript.reply(&headers)
}

async fn studio_style(headers: HeaderMap) -> axum::response::Response {
    Asset::StudioStyle.reply(&headers)
}

async fn studio_script(headers: HeaderMap) -> axum::response::Response {
    Asset::StudioScript.reply(&headers)
}

async fn editor_script(headers: HeaderMap) -> axum::response::Response {
    Asset::EditorScript.reply(&headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::LINK_PATH;

    #[test]
    fn links_are_at_their_path() {
        assert!([LINK_KEY, LINK_PROCESS].iter().all(|path| path.starts_with(LINK_PATH)));
    }
}
