//! Runs the shell commands of hooks. [`conduct`](mod@crate::conduct) decides when.

use crate::error::HookError;
use crate::guard::{CommandKind, Ending, GuardCommand};
use crate::guarded_command::{CommandSetting, GuardedCommand, RigContext};
use crate::pause::wait_for;
use brunt_model::experiment::Hook;
use std::time::Duration;

/// Time that a hook has to end after SIGTERM.
const TERM_LIMIT: Duration = Duration::from_secs(2);

/// Result of a hook that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEnd {
    /// The hook exited with 0.
    Whole,
    /// The experiment was stopped, and the hook was ended.
    Stopped,
}

/// Runs a hook until its shell ends; its background processes stay. `when` is its position in
/// the experiment, for error messages. If `is_stopped` returns true, the hook is ended early.
///
/// # Errors
///
/// The hook cannot be started, fails, or exceeds its timeout.
pub fn run(
    hook: &Hook,
    when: &str,
    setting: &CommandSetting,
    context: &RigContext,
    is_stopped: &dyn Fn() -> bool,
) -> Result<HookEnd, HookError> {
    let when = when.to_owned();
    let command = hook.run.clone();
    let mut process = match GuardedCommand::start(CommandKind::Hook, &hook.run, setting, context) {
        Ok(process) => process,
        Err(error) => return Err(HookError::Start { when, command, error }),
    };
    let ended = wait_for(context.time, hook.timeout, || match process.ended() {
        Some(ending) => Some(Some(ending)),
        None => is_stopped().then_some(None),
    });
    match ended {
        Some(Some(Ending::Code(0))) => Ok(HookEnd::Whole),
        Some(Some(ending)) => {
            Err(HookError::Failed { when, command, ending, output: process.output() })
        }
        Some(None) => {
            end(&mut process, context);
            Ok(HookEnd::Stopped)
        }
        None => {
            end(&mut process, context);
            Err(HookError::TimedOut {
                when,
                command,
                limit: hook.timeout,
                output: process.output(),
            })
        }
    }
}

/// Ends a hook with its background processes. If its guard has ended, there is nothing left to end.
fn end(process: &mut GuardedCommand, context: &RigContext) {
    if process.send(&GuardCommand::Term(TERM_LIMIT)).is_ok() {
        wait_for(context.time, TERM_LIMIT * 2, || process.is_gone().then_some(()));
    }
}
