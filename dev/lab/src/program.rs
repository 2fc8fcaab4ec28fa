//! Runs the lab as a program: signals, the line with its address, and its figures at the end.
//!
//! `brunt-lab` and `brunt lab` share it. It writes to the given output; the two programs handle
//! arguments, error messages and exit codes.

use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::LabOptions;
use crate::freeze::Freezes;
use crate::hostile::{self, Hostile};
use crate::report::LabReport;
use crate::server::LabServer;

/// Maximum length of a line on standard input, in bytes.
// Bounds the memory for a line without end.
const MAX_LINE: u64 = 256;

/// Reason why the lab ended without a report.
#[derive(Debug)]
pub enum LabFailure {
    /// The options are invalid; the text includes the remedy.
    Usage(String),
    /// The system reported an error.
    Machine(io::Error),
}

impl LabFailure {
    /// Returns the exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Machine(_) => ExitCode::FAILURE,
        }
    }
}

impl std::fmt::Display for LabFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) => out.write_str(text),
            Self::Machine(error) => error.fmt(out),
        }
    }
}

impl From<io::Error> for LabFailure {
    fn from(error: io::Error) -> Self {
        Self::Machine(error)
    }
}

/// Serves until a signal, the end of standard input or the maximum runtime, as requested. Writes
/// its address to `out`, and its figures if requested.
///
/// # Errors
///
/// [`LabFailure`] if it cannot listen or write, or an option is invalid.
pub fn run(options: &LabOptions, out: &mut impl Write) -> Result<(), LabFailure> {
    options.check().map_err(LabFailure::Usage)?;
    if let Some(Hostile::List) = options.hostile {
        write!(out, "{}", hostile::table())?;
        return Ok(());
    }
    raise_descriptor_limit();
    let freezes = Freezes::default();
    let stop = stop_socket(options.until_stdin_closes.then(|| freezes.clone()))?;
    let mut server = LabServer::bind(options.clone(), stop)
        .map_err(|error| naming(&options.listen.to_string(), &error))?;
    server.freezes = freezes;
    if let (Some(path), Some(pem)) = (&options.tls_cert_out, server.certificate_pem()) {
        fs::write(path, pem).map_err(|error| naming(&path.display().to_string(), &error))?;
    }
    writeln!(out, "listening on {}", server.address())?;
    // A parent process waits for the address, and a pipe is not flushed at each line end.
    out.flush()?;
    write_stats(options, &server.run()?, out)
}

/// Writes the figures to the file of `--stats`, or to `out` for `-`.
fn write_stats(
    options: &LabOptions,
    report: &LabReport,
    out: &mut impl Write,
) -> Result<(), LabFailure> {
    let Some(path) = &options.stats else { return Ok(()) };
    if path.as_os_str() == "-" {
        writeln!(out, "{}", serde_json::to_string(report).map_err(io::Error::from)?)?;
        return Ok(());
    }
    let text = serde_json::to_string_pretty(report).map_err(io::Error::from)? + "\n";
    fs::write(path, text).map_err(|error| naming(&path.display().to_string(), &error))?;
    Ok(())
}

/// Returns a socket that becomes readable when the server should end. With `watch_stdin`, the end
/// of standard input also ends it, and its lines may report freezes.
fn stop_socket(watch_stdin: Option<Freezes>) -> io::Result<UnixStream> {
    let (stop, sender) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT] {
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    if let Some(freezes) = watch_stdin {
        thread::spawn(move || stop_after_stdin(sender, &freezes));
    }
    Ok(stop)
}

fn stop_after_stdin(mut sender: UnixStream, freezes: &Freezes) {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    while io::Read::take(&mut input, MAX_LINE)
        .read_until(b'\n', &mut line)
        .is_ok_and(|count| count > 0)
    {
        freezes.take_line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    // The server may already have ended.
    let _ = sender.write_all(b"end");
}

/// Raises the limit of descriptors: every connection needs one. If it cannot be raised, accepting
/// pauses at the limit.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn naming(subject: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{subject}: {error}"))
}
