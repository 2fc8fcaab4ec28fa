//! The command `brunt studio`: shows the store in a browser.

use crate::args::store::StoreArgs;
use crate::causes;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::live::print_line;
use crate::output::print;
use crate::process::command_line;
use crate::runs;
use brunt_store::write_private;
use brunt_web::Studio;
use clap::Args;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

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
    #[command(flatten)]
    store: StoreArgs,
}

/// Answers requests until the process is ended.
pub fn studio(args: &StudioArgs) -> Result<Exit, CommandError> {
    let mut args_of_store = args.store.clone();
    args_of_store.store = args.directory.clone().or(args_of_store.store);
    let directory = runs::open(&args_of_store)?.directory().to_owned();
    let program = std::env::current_exe().map_err(runtime_error)?;
    let studio = Studio::bind(directory.clone(), args.listen, command_line(), program)
        .map_err(|error| usage_error(error.into()))?;
    let studio = Arc::new(studio);
    let link = studio.new_link().map_err(runtime_error)?;
    print(format!("brunt studio shows {}\n{link}\n", directory.display()))
        .map_err(runtime_error)?;
    if !args.no_open && io::stdout().is_terminal() {
        open_browser(&directory, &link);
    }
    if io::stdin().is_terminal() {
        let studio = Arc::clone(&studio);
        std::thread::spawn(move || print_links(&studio));
    }
    studio.serve().map_err(runtime_error)?;
    Ok(Exit::Measured)
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

/// Opens the link in the user's browser, if there is one.
///
/// Arguments of a process are visible to all users of the machine. So the browser gets a file that leads to the link.
fn open_browser(directory: &Path, link: &str) {
    let file = directory.join("studio.html");
    let opened = write_private(&file, leading_to(link).as_bytes()).and_then(|()| {
        Command::new("xdg-open")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    });
    if let Err(error) = opened {
        print_line(&format!("open the link in a browser: {}", causes::line(&error.into())));
    }
}

fn leading_to(link: &str) -> String {
    format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>brunt studio</title><a href=\"{link}\">brunt studio</a>\n"
    )
}
