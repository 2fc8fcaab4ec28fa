//! The lab as a program: signals, the line with its address, and its figures at the end.
//!
//! Shared by `brunt-lab` and `brunt lab`. It writes to what it is handed, and leaves arguments, messages of failure and
//! exit codes to the two of them.

use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::Options;
use crate::freeze::Freezes;
use crate::hostile::{self, Hostile};
use crate::report::Report;
use crate::server::Server;

/// The longest line on standard input that is looked at, in bytes.
const LONGEST_LINE: u64 = 256;

/// Why the lab ended without a report.
#[derive(Debug)]
pub enum Failure {
    /// What was asked makes no sense; the text says what to write instead.
    Usage(String),
    /// The machine did not allow it.
    Machine(io::Error),
}

impl Failure {
    /// What the shell is told.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Machine(_) => ExitCode::FAILURE,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) => out.write_str(text),
            Self::Machine(error) => error.fmt(out),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Machine(error)
    }
}

/// Serves until a signal, the end of standard input or the longest runtime, if requested. Writes its address to `out`, and
/// its figures if requested.
///
/// # Errors
///
/// [`Failure`] if it cannot listen or write, or an option makes no sense.
pub fn run(options: &Options, out: &mut impl Write) -> Result<(), Failure> {
    options.check().map_err(Failure::Usage)?;
    if let Some(Hostile::List) = options.hostile {
        write!(out, "{}", hostile::table())?;
        return Ok(());
    }
    raise_descriptor_limit();
    let freezes = Freezes::default();
    let stop = stop_socket(options.until_stdin_closes.then(|| freezes.clone()))?;
    let mut server =
        Server::bind(options.clone(), stop).map_err(|error| naming(&options.listen.to_string(), &error))?;
    server.freezes = freezes;
    if let (Some(path), Some(pem)) = (&options.tls_cert_out, server.certificate_pem()) {
        fs::write(path, pem).map_err(|error| naming(&path.display().to_string(), &error))?;
    }
    writeln!(out, "listening on {}", server.address())?;
    out.flush()?;
    tell(options, &server.run()?, out)
}

fn tell(options: &Options, report: &Report, out: &mut impl Write) -> Result<(), Failure> {
    let json = |pretty: fn(&Report) -> serde_json::Result<String>| pretty(report).map_err(io::Error::from);
    match &options.stats {
        Some(path) if path.as_os_str() == "-" => writeln!(out, "{}", json(serde_json::to_string)?)?,
        Some(path) => {
            let text = json(serde_json::to_string_pretty)? + "\n";
            fs::write(path, text).map_err(|error| naming(&path.display().to_string(), &error))?;
        }
        None => {}
    }
    Ok(())
}

/// A socket on which something comes when the server shall end. Where standard input is to be watched, its lines may
/// tell of freezes.
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
    while io::Read::take(&mut input, LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        freezes.take_line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    // The server may have ended meanwhile.
    let _ = sender.write_all(b"end");
}

/// Every connection needs a descriptor. Where the limit cannot be raised, accepting pauses when it is reached.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn naming(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
