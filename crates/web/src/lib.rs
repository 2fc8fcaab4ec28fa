//! The studio: stored runs and experiments in a browser, for one person or for a team.
//!
//! A page is a function from the store and the URL to HTML; its whole state is in the URL. The page of a
//! run is that of `report`, with links to its script and style.
//!
//! * `routes`: all routes, with their permissions. `guard`, `token`, `tokens`, `visitor`: which requests are answered, and for whom. `server`, `connections`, `tls`: how they arrive and leave.
//! * `pages`: the list, a run or experiment, a comparison, a history, the start of a run, recordings, the editor and tries of plan files. `api`, `openapi`, `transfer`: the same for programs.
//! * `watched`: active runs, and replays. `process`, `tries`: started processes. `edited_texts`: texts of editors. `study_html`: report pages. `leases`, `local`: who measures which server. `shared`: the state that all pages share.
//! * `fields`: fields of URLs and forms. `layout`: the frame of a page. `texts`: texts in the viewer's language. `assets`: scripts and styles.
//! * `client`: requests of a brunt to the studio of its team.
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
