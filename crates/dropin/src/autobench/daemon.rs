//! `autobenchd`: carries out tests that `autobench_admin` orders, one admin at a time, each test in a process of its own.
//!
//! Nothing that comes from afar reaches a shell, and only options that [`order::words`] lets pass. Who may order is decided
//! by a [`Secret`]; without one, only this machine is listened to, unless that is plainly asked for.

mod args;

use super::figures::Figures;
use super::order::{self, Order};
use super::secret::{Secret, nonce};
use super::{End, tester};
use crate::caller::Caller;
use args::{DaemonArgs, Verbosity};
use std::io::{self, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Between two looks at the admin, the test and the signals.
const LOOK: Duration = Duration::from_millis(50);
/// Within this an admin must have given its order.
const PATIENCE: Duration = Duration::from_secs(10);
/// Orders for later than this, in seconds, come from a clock that is wrong.
const FARTHEST: f64 = 60.0;

/// Carries out a command line of `autobenchd`'s; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    serve(called, words, caller).map_or_else(|end| end.tell(called, caller), |()| 0)
}

fn serve(called: &str, words: &[String], caller: &Arc<Caller>) -> Result<(), End> {
    let args = args::read(called, words)?;
    let secret = args.secret.as_deref().map(Secret::load).transpose()?;
    let listener = args::listen(&args, secret.is_some())?;
    let ended = (caller.ended)().map_err(|error| error.to_string())?;
    let daemon = Daemon { args, secret, ended, caller: Arc::clone(caller) };
    let at = listener.local_addr().map_err(|error| error.to_string())?;
    daemon.tell(&format!("listening on {at}"));
    while !daemon.is_ended() {
        match listener.accept() {
            Ok((stream, from)) => daemon.attend(&stream, from),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK),
            Err(error) => return Err(End::Died(error.to_string())),
        }
    }
    Ok(())
}

/// The daemon at work.
struct Daemon {
    args: DaemonArgs,
    secret: Option<Secret>,
    ended: Arc<AtomicBool>,
    caller: Arc<Caller>,
}

/// Why a test has no results.
enum Stop {
    /// Nobody wants them any more.
    Gone,
    /// The order is not carried out.
    Refused(String),
    /// It was, and no reply came.
    NoReply,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl Daemon {
    fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn tell(&self, what: &str) {
        if self.args.verbosity >= Verbosity::Progress {
            self.caller.err_line(&format!("autobenchd: {what}"));
        }
    }

    /// One admin, and its one order.
    fn attend(&self, stream: &TcpStream, from: SocketAddr) {
        self.tell(&format!("{from} is here"));
        let answer = match self.carry_out(stream) {
            Ok(results) => results,
            Err(Stop::Gone) => return self.tell(&format!("{from} is gone")),
            Err(Stop::NoReply) => format!("{}\n\n", order::FAILED),
            Err(Stop::Refused(why)) => format!("{} {why}\n", order::REFUSED),
        };
        self.tell(answer.lines().next().unwrap_or_default());
        let mut out = stream;
        if out.write_all(answer.as_bytes()).is_err() {
            self.tell(&format!("{from} did not wait"));
        }
    }

    fn carry_out(&self, stream: &TcpStream) -> Result<String, Stop> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let order = self.heard(stream)?;
        let words = order::words(&order.arguments).map_err(Stop::Refused)?;
        let ahead = order.start as f64 - brunt_engine::clock::unix_seconds();
        if ahead > FARTHEST {
            return Err(Stop::Refused(format!("the test is to begin in {ahead:.0} s; set the clocks")));
        }
        let mut out = stream;
        out.write_all(format!("{}\n", order::ACCEPTED).as_bytes())?;
        stream.set_read_timeout(Some(LOOK))?;
        while brunt_engine::clock::unix_seconds() < order.start as f64 {
            self.is_wanted(stream)?;
        }
        let text = self.test(stream, &words)?;
        let figures =
            Figures::read(&text).map_err(|line| Stop::Refused(format!("httperf's report has no `{line}`")))?;
        order::results(&figures).ok_or(Stop::NoReply)
    }

    /// The order, and that whoever gave it may.
    fn heard(&self, stream: &TcpStream) -> Result<Order, Stop> {
        let until = brunt_engine::clock::unix_seconds() + PATIENCE.as_secs_f64();
        let (mut reader, mut out) = (BufReader::new(Patient { stream, until }), stream);
        let mut line = || order::line(&mut reader)?.ok_or(Stop::Gone);
        let (mut first, mut proved) = (line()?, None);
        if first == order::AUTH {
            if self.secret.is_none() {
                return Err(Stop::Refused("this autobenchd was started without --brunt-secret".into()));
            }
            let nonce = nonce().map_err(Stop::Refused)?;
            out.write_all(format!("{} {nonce}\n", order::NONCE).as_bytes())?;
            let proof = line()?;
            proved = Some((nonce, proof.strip_prefix(order::PROOF).unwrap_or_default().trim().to_owned()));
            first = line()?;
        }
        let start = line()?;
        let start =
            start.parse().map_err(|_| Stop::Refused(format!("`{start}` is not a start time; write Unix seconds")))?;
        if line()? != order::END {
            return Err(Stop::Refused(format!("an order ends with {}", order::END)));
        }
        let order = Order { arguments: first, start };
        match (&self.secret, proved) {
            (None, _) => Ok(order),
            (Some(secret), Some((nonce, proof))) if secret.is_proved(&nonce, &order.text(), &proof) => Ok(order),
            (Some(_), None) => {
                Err(Stop::Refused("this autobenchd requires a secret: write --brunt-secret FILE".into()))
            }
            (Some(_), Some(_)) => Err(Stop::Refused("the secret differs from that of this autobenchd".into())),
        }
    }

    /// A word of the admin's, or its end, ends all; so does a signal. Takes the time of a look.
    fn is_wanted(&self, mut stream: &TcpStream) -> Result<(), Stop> {
        if self.is_ended() {
            return Err(Stop::Gone);
        }
        let still = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::Interrupted];
        match stream.read(&mut [0; 64]) {
            Err(error) if still.contains(&error.kind()) => Ok(()),
            // ABORT, or nobody there.
            _ => Err(Stop::Gone),
        }
    }

    /// The report of a test, which ends when nobody wants it any more.
    fn test(&self, stream: &TcpStream, words: &[String]) -> Result<String, Stop> {
        let mut command = tester::program(self.args.httperf.as_deref(), &self.caller).map_err(Stop::Refused)?;
        self.tell(&format!("{command:?} {}", words.join(" ")));
        let child = command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut test = Test(child.map_err(|error| Stop::Refused(format!("httperf could not be started: {error}")))?);
        let mut out = test.0.stdout.take().ok_or(Stop::Gone)?;
        let reader = thread::spawn(move || {
            let mut text = Vec::new();
            out.read_to_end(&mut text).map(|_| text)
        });
        while test.0.try_wait()?.is_none() {
            self.is_wanted(stream)?;
        }
        let text = reader.join().ok().and_then(Result::ok).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        if self.args.verbosity == Verbosity::Reports {
            self.caller.err(&text);
        }
        Ok(text)
    }
}

/// An admin that is listened to until an instant, in Unix seconds, however slowly it speaks.
struct Patient<'a> {
    stream: &'a TcpStream,
    until: f64,
}

impl io::Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if brunt_engine::clock::unix_seconds() > self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.read(bytes)
    }
}

/// A test that goes on, and ends with this.
struct Test(Child);

impl Drop for Test {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
