//! The interface that languages of scripts implement ([`ScriptCode`]), and the state of users and
//! samples that scripts use.

pub use crate::texts::context::{SharedState, UserContext, WorkerContext};
pub use crate::texts::cookies::{Jar, UserCookie};
pub use crate::texts::files::Files;
pub use crate::texts::json::CompiledPath;
pub use crate::texts::machine;
pub use crate::texts::pending::{PendingRequest, RequestArgument, RequestPart, RequestTexts};
pub use crate::texts::reply_view::{ReplyView, SampleChanges, sampler_data};
pub use crate::texts::script::{
    Expressions, LanguageRow, ParseResult, ParsedScript, ScriptCode, ScriptOutcome, ScriptVerdict,
    ScriptView, ScriptedRequest, SourceKind,
};
pub use crate::texts::tracing::Tracing;
pub use crate::texts::variables::{VariableNames, Variables};
