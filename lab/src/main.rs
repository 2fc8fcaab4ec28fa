//! `brunt-lab`, the program: arguments, signals, the line that says where it listens, and the JSON at the end.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the program")]

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;

use brunt_lab::args::Options;
use brunt_lab::report::Report;
use brunt_lab::server::Server;
use clap::Parser;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};

fn main() -> ExitCode {
    let options = Options::parse();
    if let Err(message) = options.check() {
        eprintln!("brunt-lab: {message}");
        return ExitCode::from(2);
    }
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("brunt-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    raise_descriptor_limit();
    let server = Server::bind(options.clone(), stop_socket(options.until_stdin_closes)?)
        .map_err(|error| naming(&options.listen.to_string(), &error))?;
    if let (Some(path), Some(pem)) = (&options.tls_cert_out, server.certificate_pem()) {
        fs::write(path, pem).map_err(|error| naming(&path.display().to_string(), &error))?;
    }
    println!("listening on {}", server.address());
    io::stdout().flush()?;
    tell(options, &server.run()?)
}

fn tell(options: &Options, report: &Report) -> io::Result<()> {
    match &options.stats {
        Some(path) => {
            let json = serde_json::to_string_pretty(report)? + "\n";
            fs::write(path, json).map_err(|error| naming(&path.display().to_string(), &error))
        }
        None => writeln!(io::stdout(), "{}", serde_json::to_string(report)?),
    }
}

/// A socket on which something comes when the server shall end.
fn stop_socket(until_stdin_closes: bool) -> io::Result<UnixStream> {
    let (stop, sender) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT] {
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    if until_stdin_closes {
        thread::spawn(move || stop_after_stdin(sender));
    }
    Ok(stop)
}

fn stop_after_stdin(mut sender: UnixStream) {
    let mut ignored = [0; 256];
    while io::stdin().read(&mut ignored).is_ok_and(|count| count > 0) {}
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
