//! Writes a store with made-up runs of half a year, to look at the page and the command of a history:
//! `cargo run -p brunt-web --example made_up_history -- DIRECTORY`.

mod runs;

use brunt_store::Store;
use std::path::Path;

fn main() {
    let directory = std::env::args().nth(1).expect("write a directory");
    let store = Store::open(Path::new(&directory)).expect("a store");
    runs::write(&store);
}
