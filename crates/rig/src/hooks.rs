//! Shell commands before and after something. Out of scope: when they run is [`conduct`](mod@crate::conduct)'s.

use crate::error::HookError;
use crate::guard::{Ending, GuardCommand, Kind};
use crate::pause::wait_for;
use crate::ward::{GuardedCommand, RigContext, Setting};
use brunt_model::experiment::Hook;
use std::time::Duration;

/// How long a hook that is to end early may take.
const TO_END: Duration = Duration::from_secs(2);

/// How a hook that did not fail came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEnd {
    /// It exited with 0.
    Whole,
    /// Somebody stopped the experiment, and the hook with it.
    Stopped,
}

/// Runs a hook until its shell ends; what it put into the background stays. `when` goes into the error. `stopped`: whether
/// it is to be ended early.
///
/// # Errors
///
/// The hook cannot be started, fails, or takes longer than it may.
pub fn run(
    hook: &Hook,
    when: &str,
    setting: &Setting,
    context: &RigContext,
    stopped: &dyn Fn() -> bool,
) -> Result<HookEnd, HookError> {
    let (when, command) = (when.to_owned(), hook.run.clone());
    let mut ward = match GuardedCommand::start(Kind::Hook, &hook.run, setting, context) {
        Ok(ward) => ward,
        Err(error) => return Err(HookError::Start { when, command, error }),
    };
    let ended = wait_for(context.time, hook.timeout, || match ward.ended() {
        Some(ending) => Some(Some(ending)),
        None => stopped().then_some(None),
    });
    match ended {
        Some(Some(Ending::Code(0))) => Ok(HookEnd::Whole),
        Some(Some(ending)) => Err(HookError::Failed { when, command, ending, output: ward.output() }),
        Some(None) => {
            end(&mut ward, context);
            Ok(HookEnd::Stopped)
        }
        None => {
            end(&mut ward, context);
            Err(HookError::TimedOut { when, command, limit: hook.timeout, output: ward.output() })
        }
    }
}

/// Ends it, with all that it put into the background. A guard that is not there any more has nothing left to end.
fn end(ward: &mut GuardedCommand, context: &RigContext) {
    if ward.tell(&GuardCommand::Term(TO_END)).is_ok() {
        wait_for(context.time, TO_END * 2, || ward.is_gone().then_some(()));
    }
}
