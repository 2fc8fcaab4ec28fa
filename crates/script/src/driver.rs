//! Users whose steps come from a program in a language of its own, not from a list of steps.

use brunt_engine::{Numbering, RunState, Users};
use brunt_model::scenario::{ProgramKind, UserProgram};
use brunt_wire::request::{RequestParts, Tags};
use brunt_wire::{Prepared, Transport};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

/// A kind of programs that this brunt can run.
#[derive(Debug)]
pub struct ProgramRow {
    /// The kind.
    pub kind: ProgramKind,
    /// Reads the source of a program. Fails if the source is damaged.
    pub read: fn(&UserProgram) -> Result<Arc<dyn UserDriver>, String>,
}

/// Makes the users of a population. All workers share it.
pub trait UserDriver: Send + Sync + Debug {
    /// Creates the users of a worker; called on its thread.
    fn users(self: Arc<Self>, of: DriverSetup) -> Box<dyn Users>;

    /// What the program has returned in its first iteration, in a form that its kind defines.
    fn returned(&self) -> Option<String> {
        None
    }
}

/// The worker whose users are created.
pub struct DriverSetup {
    /// Number of the worker among those of all processes.
    pub worker: usize,
    /// Numbers the names of labels.
    pub labels: Numbering,
    /// State of the run.
    pub run_state: Rc<dyn RunState>,
    /// Encodes requests.
    pub encoder: Rc<dyn RequestEncoder>,
}

/// Encodes requests for a transport of any type.
pub trait RequestEncoder {
    /// Encodes a request.
    ///
    /// # Errors
    ///
    /// A header field or the URL is not permitted.
    fn encode(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, String>;
}

/// The transport of a worker as an encoder.
pub struct TransportEncoder<T>(pub Rc<T>);

impl<T: Transport> RequestEncoder for TransportEncoder<T> {
    fn encode(&self, parts: Rc<RequestParts>, tags: Tags) -> Result<Prepared, String> {
        self.0.prepare_parts(parts, tags).map_err(|error| error.to_string())
    }
}
