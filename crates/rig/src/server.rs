//! Managed servers: starts them, waits until they are ready, and stops all their processes.
//! [`conduct`](mod@crate::conduct) decides when a server is restarted.

use crate::error::ServerError;
use crate::guard::{CommandKind, Ending, GuardCommand};
use crate::guarded_command::{CommandSetting, GuardedCommand, RigContext};
use crate::hooks;
use crate::pause::wait_for;
use crate::ready;
use brunt_model::experiment::{Hook, ManagedServer, ReadyCondition};
use brunt_model::{Text, text};
use std::time::Duration;

/// Time that the kernel has to remove killed processes.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A running server. It is killed on drop.
pub struct RunningServer<'a> {
    process: GuardedCommand<'a>,
    managed: &'a ManagedServer,
    contender: &'a str,
}

impl<'a> RunningServer<'a> {
    /// Starts a server, and waits until it is ready. Returns None if the experiment was stopped.
    ///
    /// # Errors
    ///
    /// The server cannot be started, exits, or is not ready within its timeout.
    pub fn start(
        managed: &'a ManagedServer,
        contender: &'a str,
        setting: &CommandSetting,
        context: &RigContext<'a>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, ServerError> {
        // A server that responds already would be measured in place of the new one.
        let has_address = !matches!(managed.ready, ReadyCondition::Command(_));
        if has_address && ready::check(&managed.ready, setting, context, is_stopped).is_ok() {
            return Err(ServerError::Taken {
                contender: contender.into(),
                what: ready::describe(&managed.ready),
            });
        }
        let process = GuardedCommand::start(CommandKind::Server, &managed.start, setting, context);
        let process =
            process.map_err(|error| ServerError::Start { contender: contender.into(), error })?;
        let server = Self { process, managed, contender };
        Ok(server.await_ready(setting, context, is_stopped)?.then_some(server))
    }

    /// Waits until the server is ready. Returns false if the experiment was stopped.
    fn await_ready(
        &self,
        setting: &CommandSetting,
        context: &RigContext,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<bool, ServerError> {
        let mut reason = String::new();
        let limit = self.managed.ready_timeout;
        let end = wait_for(context.time, limit, || {
            let result = ready::check(&self.managed.ready, setting, context, is_stopped);
            if is_stopped() {
                return Some(Ok(false));
            }
            // Checked last: another server may have responded, while this one exited because its
            // port was in use.
            if let Some(ending) = self.ended() {
                return Some(Err(ending));
            }
            result.map_err(|message| reason = message).is_ok().then_some(Ok(true))
        });
        let contender = self.contender.to_owned();
        match end {
            Some(Ok(ready)) => Ok(ready),
            Some(Err(ending)) => {
                Err(ServerError::Ended { contender, ending, output: self.process.output() })
            }
            None => Err(ServerError::NotReady {
                contender,
                limit,
                what: reason,
                output: self.process.output(),
            }),
        }
    }

    /// Exit status of the server; None if it runs. A shell that exited with 0 and left a daemon
    /// does not count as the end of the server; one that failed does.
    pub fn ended(&self) -> Option<Ending> {
        let ending = self.process.ended()?;
        (self.process.is_gone() || ending != Ending::Code(0)).then_some(ending)
    }

    /// Process id of the root of the server's processes.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The end of the server's output.
    pub fn output(&self) -> String {
        self.process.output()
    }

    /// Stops the server, and waits until all its processes have ended, even if the stop command
    /// fails. Returns a warning if processes had to be killed.
    pub fn stop(
        mut self,
        setting: &CommandSetting,
        context: &RigContext,
    ) -> Result<Option<Text>, ServerError> {
        let limit = self.managed.stop_timeout;
        let is_running = self.ended().is_none();
        let stop_result = self.managed.stop.as_ref().filter(|_| is_running).map(|command| {
            let hook = Hook { run: command.clone(), timeout: limit };
            // The stop command also runs after the experiment was stopped, so
            // it ignores stop requests.
            hooks::run(&hook, "that is to stop the server", setting, context, &|| false)
        });
        // After a successful stop command, the processes need no SIGTERM.
        let has_stopped = matches!(stop_result, Some(Ok(_)));
        let message =
            if has_stopped { GuardCommand::Wait(limit) } else { GuardCommand::Term(limit) };
        if self.process.send(&message).is_ok() {
            wait_for(context.time, limit + KILL_LIMIT, || self.process.is_gone().then_some(()));
        }
        if let Some(Err(error)) = stop_result {
            return Err(ServerError::Stop { contender: self.contender.into(), error });
        }
        Ok(self.stop_warning())
    }

    /// Warning if the server did not end within its stop timeout.
    fn stop_warning(&self) -> Option<Text> {
        let contender = self.contender;
        if !self.process.is_gone() {
            return Some(text!("warning-server-unkillable", contender));
        }
        let killed = self.process.killed();
        (killed > 0).then(|| {
            let seconds = self.managed.stop_timeout.as_secs_f64().to_string();
            text!("warning-server-killed", contender, seconds)
        })
    }
}
