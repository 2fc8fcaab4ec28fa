//! Records the requests of a browser, or of the clients of a proxy, and converts them to the text of a plan file.
//!
//! ```text
//! Browser ─▶ DevTools ─▶ Recorder ─┬─▶ Recording (HAR) ─┬─▶ brunt-import ─▶ YAML
//! clients ─▶ ProxyRecorder ────────┘                    │
//!                           second Recording ─▶ correlate ┘
//! ```
//!
//! * [`browser`]: finds Chromium, Chrome or Edge, starts it with a temporary profile, and ends it.
//! * [`devtools`]: messages of the DevTools protocol over two pipes, without a port.
//! * [`recorder`]: collects the requests of all pages, frames and workers.
//! * [`proxy`]: a proxy with a certificate authority of its own. `exchange`: a request with its reply, as HAR.
//! * [`recording`]: a finished recording, as HAR.
//! * [`mod@correlate`]: compares two recordings of the same actions. Values that differ, and come from an earlier
//!   reply, become extractors.
//! * [`plan`]: the plan file, by its [`options`].
//!
//! Out of scope: printing, signals, the environment. A caller passes paths and a flag that ends the recording.

pub mod browser;
pub mod correlate;
pub mod devtools;
pub mod error;
mod exchange;
pub mod options;
pub mod plan;
pub mod proxy;
pub mod recorder;
pub mod recording;

pub use browser::BrowserOptions;
pub use correlate::{Correlation, correlate};
pub use error::RecordError;
pub use options::PlanOptions;
pub use plan::RecordedPlan;
pub use proxy::{ProxyCredentials, ProxyOptions, ProxyRecorder};
pub use recorder::Recorder;
pub use recording::Recording;
