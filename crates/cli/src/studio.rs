//! The command `brunt studio`: shows the store in a browser.

use crate::args::store::StoreArgs;
use crate::browser::{self, LINK};
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::print;
use crate::process::{command_line, system};
use crate::runs;
use brunt_runner::line_socket::{LineSocket, ask};
use brunt_spec::words;
use brunt_store::Store;
use brunt_web::{Studio, StudioProgram};
use clap::Args;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt studio                        your runs, in the browser that this opens
  brunt studio ./runs --no-open       another store; prints a link to open
  brunt studio --listen 127.0.0.1:0   at any free port

The link admits one browser, once; press Enter for another one. Only this machine can reach the studio. With ssh -L 7878:127.0.0.1:7878 HOST, \
your browser reaches a studio on another one. Runs neither need it nor wait for it. Method: docs/studio.md.";

/// Arguments of `brunt studio`.
#[derive(Debug, Clone, Args)]
pub struct StudioArgs {
    /// Directory of stored runs, as with --store
    #[arg(value_name = "DIR", conflicts_with = "store")]
    directory: Option<PathBuf>,
    /// Address of the studio, on this machine; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// End after this time without a visible page, such as 1h
    #[arg(long, value_name = "TIME", value_parser = words::duration::positive_with_unit)]
    end_idle: Option<Duration>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Answers requests until the process is ended.
pub fn studio(args: &StudioArgs) -> Result<Exit, CommandError> {
    let mut args_of_store = args.store.clone();
    args_of_store.store = args.directory.clone().or(args_of_store.store);
    let store = runs::open(&args_of_store)?;
    let directory = store.directory().to_owned();
    let program = std::env::current_exe().map_err(runtime_error)?;
    let program = StudioProgram { command: command_line(), program, system: system() };
    let studio = Studio::bind(directory.clone(), args.listen, program)
        .map_err(|error| usage_error(error.into()))?;
    let studio = Arc::new(studio);
    let link = studio.new_link().map_err(runtime_error)?;
    print(format!("brunt studio shows {}\n{link}\n", directory.display()))
        .map_err(runtime_error)?;
    if !args.no_open && io::stdout().is_terminal() {
        browser::open(&directory, &link);
    }
    let _links = offer_links(&store, &studio);
    drop(store);
    if io::stdin().is_terminal() {
        let studio = Arc::clone(&studio);
        thread::spawn(move || print_links(&studio));
    }
    studio.serve(args.end_idle).map_err(runtime_error)?;
    Ok(Exit::Measured)
}

/// Answers other processes that ask for a link, unless an earlier studio of this store does.
fn offer_links(store: &Store, studio: &Arc<Studio>) -> Option<LineSocket> {
    let path = store.studio_socket();
    if ask(&path, LINK).is_ok() {
        return None;
    }
    let studio = Arc::clone(studio);
    LineSocket::open(path, move |line| {
        let process = line.strip_prefix(LINK).and_then(|process| process.trim().parse().ok());
        let link = process.map_or_else(|| studio.new_link(), |process| studio.new_link_to(process));
        link.unwrap_or_else(|error| error.to_string())
    })
}

/// Prints another link for each line from the terminal.
fn print_links(studio: &Studio) {
    for _ in io::stdin().lines().map_while(Result::ok) {
        // A link that cannot be printed admits no browser.
        let printed = studio.new_link().map(|link| print(format!("{link}\n")));
        if !matches!(printed, Ok(Ok(()))) {
            return;
        }
    }
}
