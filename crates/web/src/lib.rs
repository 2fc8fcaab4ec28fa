//! The studio: stored runs and experiments in a browser, on this machine only.
//!
//! A page is a function from the store and the URL to HTML; its whole state is in the URL. The page of a
//! run is that of `report`, with links to its script and style.
//!
//! * `guard`: which requests are answered. `server`: the routes, and the headers of all replies.
//! * `pages`: the list, a run or experiment, a comparison.
//! * `live`: runs that go on.
//! * `fields`: fields of URLs and forms. `layout`: the frame of a page. `assets`: scripts and styles.
//!
//! Out of scope: measuring. Every run is a process of its own, which the studio only reads.

mod assets;
mod fields;
mod guard;
mod layout;
mod live;
mod pages;
mod server;

pub use server::{Studio, StudioError};
