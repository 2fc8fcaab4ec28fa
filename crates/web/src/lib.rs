//! The studio: stored runs and experiments in a browser, on this machine only.
//!
//! A page is a function from the store and the URL to HTML; its whole state is in the URL. The page of a
//! run is that of `report`, with links to its script and style.
//!
//! * `guard`: which requests are answered. `server`: the routes, and the headers of all replies.
//! * `pages`: the list, a run or experiment, a comparison, the start of a run, recordings, the editor and tries of plan files.
//! * `watched`: active runs, and replays. `process`, `tries`, `recordings`: started processes. `edited_texts`: texts of editors. `study_html`: report pages. `shared`: the state that all pages share.
//! * `fields`: fields of URLs and forms. `layout`: the frame of a page. `texts`: texts in the viewer's language. `assets`: scripts and styles.
//!
//! Out of scope: measuring. Every run is a separate process; the studio only reads its log and gives it orders.

mod api;
mod assets;
pub mod client;
mod connections;
mod edited_texts;
mod fields;
mod guard;
mod layout;
pub mod leases;
pub mod local;
mod openapi;
mod pages;
mod process;
mod program;
mod recordings;
mod routes;
mod server;
mod shared;
mod study_html;
mod texts;
mod tls;
mod token;
mod tokens;
mod transfer;
mod tries;
mod visitor;
mod watched;

pub use openapi::document as openapi_document;
pub use process::HOLDER_VARIABLE;
pub use program::StudioProgram;
pub use server::{Studio, StudioAddress, StudioError};
pub use tls::{TlsError, TlsFiles};
pub use tokens::{NewToken, TokenError};
pub use visitor::Permission;
