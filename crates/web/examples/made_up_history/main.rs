//! Writes a store with made-up runs of half a year, and prints their history in three widths:
//! `cargo run -p brunt-web --example made_up_history -- DIRECTORY`. With `serve` after it, a studio
//! shows the store.

mod runs;

use brunt_model::run_history::HistoryMeasure;
use brunt_report::view::View;
use brunt_runner::history::{self, HistoryCache, HistoryRequest};
use brunt_spec::System;
use brunt_store::selection::EntrySelection;
use brunt_store::{EntryFilter, Store};
use brunt_web::{Studio, StudioAddress, StudioProgram};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

fn main() {
    let directory = std::env::args().nth(1).expect("write a directory");
    let store = Store::open(Path::new(&directory)).expect("a store");
    if store.list(&EntryFilter::All).expect("the index").is_empty() {
        runs::write(&store);
    }
    let request = HistoryRequest {
        measure: HistoryMeasure::P99,
        selection: EntrySelection::default(),
        like: None,
        most_runs: 200,
    };
    let items = history::select(&store, &request).expect("the index");
    let cache = HistoryCache::default();
    let of_series = history::read(&store, &items, &request, &cache).expect("a history");
    for columns in [60, 80, 120] {
        let view = View { columns, ..View::default() };
        brunt_report::history::write_as(&view, &of_series, &mut std::io::stdout()).expect("output");
    }
    if std::env::args().nth(2).as_deref() == Some("serve") {
        let program = StudioProgram {
            command: "brunt studio".into(),
            program: "brunt".into(),
            system: System::bare(1024, 1, None, 1),
            warn: |_| {},
        };
        let address = StudioAddress {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            hosts: Vec::new(),
            tls: None,
            tokens: None,
        };
        let studio = Studio::bind(directory.into(), address, program).expect("a studio");
        let link = studio.new_link().expect("a link");
        writeln!(std::io::stdout(), "{link}").expect("output");
        studio.serve(None).expect("a server");
    }
}
