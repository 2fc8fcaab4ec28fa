//! Implements `autobenchd`: runs tests for `autobench_admin`, one admin at a time, each
//! test in its own process.
//!
//! Nothing from the network reaches a shell, and only options that [`order::words`] accepts reach
//! httperf. A [`Secret`] authenticates orders. Without one, the daemon listens on loopback only,
//! unless `--brunt-open` is given.

mod args;

use super::figures::AutobenchFigures;
use super::order::{self, TestOrder};
use super::secret::{Secret, nonce};
use super::{StopReason, tester};
use crate::caller::Caller;
use args::{DaemonArgs, DaemonVerbosity};
use std::io::{self, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Interval of checks for a command from the admin, the end of the test, and signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Timeout for receiving an order.
const ORDER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest delay before the start of a test, in seconds. A later start means that a clock is wrong.
const MAX_START_DELAY: f64 = 60.0;

/// Runs a command line of `autobenchd` and returns the exit code.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    serve(program_name, words, caller).map_or_else(|end| end.report(program_name, caller), |()| 0)
}

fn serve(program_name: &str, words: &[String], caller: &Arc<Caller>) -> Result<(), StopReason> {
    let args = args::read(program_name, words)?;
    let secret = args.secret.as_deref().map(Secret::load).transpose()?;
    let listener = args::listen(&args, secret.is_some())?;
    let is_stopped = (caller.stop_flag)().map_err(|error| error.to_string())?;
    let daemon = Daemon { args, secret, is_stopped, caller: Arc::clone(caller) };
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    daemon.log(&format!("listening on {address}"));
    while !daemon.is_stopping() {
        match listener.accept() {
            Ok((stream, from)) => daemon.serve_admin(&stream, from),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(StopReason::Error(error.to_string())),
        }
    }
    Ok(())
}

struct Daemon {
    args: DaemonArgs,
    secret: Option<Secret>,
    is_stopped: Arc<AtomicBool>,
    caller: Arc<Caller>,
}

/// Reason for a test without results.
enum Stop {
    /// The admin closed the connection or cancelled the test, or the daemon is stopping.
    Disconnected,
    /// The order is invalid or not permitted.
    Refused(String),
    /// The test ran, but no reply arrived.
    NoReply,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::Disconnected
    }
}

impl Daemon {
    fn is_stopping(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    fn log(&self, message: &str) {
        if self.args.verbosity >= DaemonVerbosity::Progress {
            self.caller.err_line(&format!("autobenchd: {message}"));
        }
    }

    /// Serves one admin and its one order.
    fn serve_admin(&self, stream: &TcpStream, from: SocketAddr) {
        self.log(&format!("{from} is here"));
        let answer = match self.execute(stream) {
            Ok(results) => results,
            Err(Stop::Disconnected) => return self.log(&format!("{from} disconnected")),
            Err(Stop::NoReply) => format!("{}\n\n", order::FAILED),
            Err(Stop::Refused(why)) => format!("{} {why}\n", order::REFUSED),
        };
        self.log(answer.lines().next().unwrap_or_default());
        let mut out = stream;
        if out.write_all(answer.as_bytes()).is_err() {
            self.log(&format!("{from} did not wait"));
        }
    }

    fn execute(&self, stream: &TcpStream) -> Result<String, Stop> {
        // Some systems let accepted sockets inherit the mode of the listener.
        stream.set_nonblocking(false)?;
        // A silent peer would keep all other admins out.
        stream.set_read_timeout(Some(ORDER_TIMEOUT))?;
        let order = self.read_order(stream)?;
        let words = order::words(&order.arguments).map_err(Stop::Refused)?;
        let delay = order.start as f64 - brunt_engine::clock::unix_seconds();
        if delay > MAX_START_DELAY {
            return Err(Stop::Refused(format!(
                "the test is to begin in {delay:.0} s; set the clocks"
            )));
        }
        let mut out = stream;
        out.write_all(format!("{}\n", order::ACCEPTED).as_bytes())?;
        // From now on, reads only check whether the admin is still there.
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
        while brunt_engine::clock::unix_seconds() < order.start as f64 {
            self.check_admin(stream)?;
        }
        let text = self.test(stream, &words)?;
        let figures = AutobenchFigures::read(&text)
            .map_err(|line| Stop::Refused(format!("httperf's report has no `{line}`")))?;
        order::results(&figures).ok_or(Stop::NoReply)
    }

    /// Reads the order and verifies its proof.
    fn read_order(&self, stream: &TcpStream) -> Result<TestOrder, Stop> {
        let deadline = brunt_engine::clock::unix_seconds() + ORDER_TIMEOUT.as_secs_f64();
        let mut reader = BufReader::new(DeadlineReader { stream, deadline });
        let mut out = stream;
        let mut line = || order::line(&mut reader)?.ok_or(Stop::Disconnected);
        let mut first = line()?;
        let mut nonce_and_proof = None;
        if first == order::AUTH {
            if self.secret.is_none() {
                return Err(Stop::Refused(
                    "this autobenchd was started without --brunt-secret".into(),
                ));
            }
            let nonce = nonce().map_err(Stop::Refused)?;
            out.write_all(format!("{} {nonce}\n", order::NONCE).as_bytes())?;
            let proof = line()?;
            nonce_and_proof = Some((
                nonce,
                proof.strip_prefix(order::PROOF).unwrap_or_default().trim().to_owned(),
            ));
            first = line()?;
        }
        let start = line()?;
        let start = start.parse().map_err(|_| {
            Stop::Refused(format!("`{start}` is not a start time; write Unix seconds"))
        })?;
        if line()? != order::END {
            return Err(Stop::Refused(format!("an order ends with {}", order::END)));
        }
        let order = TestOrder { arguments: first, start };
        match (&self.secret, nonce_and_proof) {
            (None, _) => Ok(order),
            (Some(secret), Some((nonce, proof)))
                if secret.is_valid_proof(&nonce, &order.text(), &proof) =>
            {
                Ok(order)
            }
            (Some(_), None) => Err(Stop::Refused(
                "this autobenchd requires a secret: write --brunt-secret FILE".into(),
            )),
            (Some(_), Some(_)) => {
                Err(Stop::Refused("the secret differs from that of this autobenchd".into()))
            }
        }
    }

    /// Returns an error if the admin sends anything or disconnects, or on a signal.
    /// Blocks for up to `POLL_INTERVAL`.
    fn check_admin(&self, mut stream: &TcpStream) -> Result<(), Stop> {
        if self.is_stopping() {
            return Err(Stop::Disconnected);
        }
        let no_data =
            [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::Interrupted];
        match stream.read(&mut [0; 64]) {
            Err(error) if no_data.contains(&error.kind()) => Ok(()),
            // The admin sent ABORT or closed the connection.
            _ => Err(Stop::Disconnected),
        }
    }

    /// Runs a test and returns its report. Dropping `TestProcess` ends
    /// httperf if the admin disconnects.
    fn test(&self, stream: &TcpStream, words: &[String]) -> Result<String, Stop> {
        let mut command =
            tester::program(self.args.httperf.as_deref(), &self.caller).map_err(Stop::Refused)?;
        self.log(&format!("{command:?} {}", words.join(" ")));
        let child = command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut test =
            TestProcess(child.map_err(|error| {
                Stop::Refused(format!("httperf could not be started: {error}"))
            })?);
        let mut out = test.0.stdout.take().ok_or(Stop::Disconnected)?;
        // A full pipe would block httperf, so a thread drains it.
        let reader = thread::spawn(move || {
            let mut text = Vec::new();
            out.read_to_end(&mut text).map(|_| text)
        });
        while test.0.try_wait()?.is_none() {
            self.check_admin(stream)?;
        }
        let text = reader.join().ok().and_then(Result::ok).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        if self.args.verbosity == DaemonVerbosity::Reports {
            self.caller.err(&text);
        }
        Ok(text)
    }
}

/// Reads from an admin until a deadline in Unix seconds.
///
/// A read timeout alone restarts with each byte, so a slow sender could block the daemon.
struct DeadlineReader<'a> {
    stream: &'a TcpStream,
    deadline: f64,
}

impl io::Read for DeadlineReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if brunt_engine::clock::unix_seconds() > self.deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.read(bytes)
    }
}

/// A running httperf process, killed on drop.
struct TestProcess(Child);

impl Drop for TestProcess {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
