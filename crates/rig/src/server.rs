//! A managed server, from its start until nothing of it is left. Out of scope: when it is restarted is
//! [`conduct`](mod@crate::conduct)'s.

use crate::error::ServerError;
use crate::guard::{Ending, GuardCommand, Kind};
use crate::hooks;
use crate::pause::wait_for;
use crate::ready;
use crate::ward::{GuardedCommand, RigContext, Setting};
use brunt_model::experiment::{Hook, ManagedServer, Ready};
use std::time::Duration;

/// What was killed is gone when the kernel is done with it.
const AFTER_KILL: Duration = Duration::from_secs(5);

/// A server that runs. When it is dropped, it is ended, and at once.
pub struct Server<'a> {
    ward: GuardedCommand<'a>,
    managed: &'a ManagedServer,
    contender: &'a str,
}

impl<'a> Server<'a> {
    /// Starts a server, and waits until it is ready. None: somebody stopped the experiment meanwhile.
    ///
    /// # Errors
    ///
    /// The server cannot be started, ends, or is not ready in time.
    pub fn start(
        managed: &'a ManagedServer,
        contender: &'a str,
        setting: &Setting,
        context: &RigContext<'a>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, ServerError> {
        if !matches!(managed.ready, Ready::Command(_)) && ready::look(&managed.ready, setting, context, stopped).is_ok()
        {
            return Err(ServerError::Taken { contender: contender.into(), what: ready::describe(&managed.ready) });
        }
        let ward = GuardedCommand::start(Kind::Server, &managed.start, setting, context);
        let ward = ward.map_err(|error| ServerError::Start { contender: contender.into(), error })?;
        let server = Self { ward, managed, contender };
        Ok(server.await_ready(setting, context, stopped)?.then_some(server))
    }

    /// Waits until it is ready; false: somebody stopped the experiment.
    fn await_ready(
        &self,
        setting: &Setting,
        context: &RigContext,
        stopped: &dyn Fn() -> bool,
    ) -> Result<bool, ServerError> {
        let mut what = String::new();
        let limit = self.managed.ready_timeout;
        let end = wait_for(context.time, limit, || {
            let ready = ready::look(&self.managed.ready, setting, context, stopped);
            if stopped() {
                return Some(Ok(false));
            }
            // Asked last: whoever answers may be another than ours, which found the port taken.
            if let Some(ending) = self.ended() {
                return Some(Err(ending));
            }
            ready.map_err(|why| what = why).is_ok().then_some(Ok(true))
        });
        let contender = self.contender.to_owned();
        match end {
            Some(Ok(ready)) => Ok(ready),
            Some(Err(ending)) => Err(ServerError::Ended { contender, ending, output: self.ward.output() }),
            None => Err(ServerError::NotReady { contender, limit, what, output: self.ward.output() }),
        }
    }

    /// How it ended, where it has. A shell that ended well and left a daemon is not the server's end; one that failed is.
    pub fn ended(&self) -> Option<Ending> {
        let ending = self.ward.ended()?;
        (self.ward.is_gone() || ending != Ending::Code(0)).then_some(ending)
    }

    /// The process under which all of it stands.
    pub fn pid(&self) -> u32 {
        self.ward.pid()
    }

    /// The last of what it wrote.
    pub fn output(&self) -> String {
        self.ward.output()
    }

    /// Stops it, and waits until nothing of it is left; what the reader should know. Even where the stop command fails,
    /// nothing is left.
    ///
    /// # Errors
    ///
    /// The command that stops the server fails.
    pub fn stop(mut self, setting: &Setting, context: &RigContext) -> Result<Option<String>, ServerError> {
        let limit = self.managed.stop_timeout;
        let there = self.ended().is_none();
        let asked = self.managed.stop.as_ref().filter(|_| there).map(|command| {
            let hook = Hook { run: command.clone(), timeout: limit };
            hooks::run(&hook, "that is to stop the server", setting, context, &|| false)
        });
        let word = if matches!(asked, Some(Ok(_))) { GuardCommand::Wait(limit) } else { GuardCommand::Term(limit) };
        if self.ward.tell(&word).is_ok() {
            wait_for(context.time, limit + AFTER_KILL, || self.ward.is_gone().then_some(()));
        }
        if let Some(Err(error)) = asked {
            return Err(ServerError::Stop { contender: self.contender.into(), error });
        }
        Ok(self.reluctance())
    }

    fn reluctance(&self) -> Option<String> {
        let (who, seconds) = (self.contender, self.managed.stop_timeout.as_secs_f64());
        if !self.ward.is_gone() {
            return Some(format!("the server of {who} could not be killed: the kernel still holds a process of it"));
        }
        let killed = self.ward.killed();
        (killed > 0)
            .then(|| format!("the server of {who} had not ended {seconds} s after it was asked to; it was killed"))
    }
}
