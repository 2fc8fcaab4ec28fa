//! The command `brunt studio`: shows the store in a browser, on this machine or for a team.

use crate::args::store::StoreArgs;
use crate::browser::{self, LINK};
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::live::print_line;
use crate::output::print;
use crate::process::{command_line, system};
use crate::runs;
use brunt_runner::line_socket::{LineSocket, ask};
use brunt_spec::words;
use brunt_store::Store;
use brunt_web::local::LEASE;
use brunt_web::{NewToken, Permission, Studio, StudioAddress, StudioProgram, TlsFiles};
use clap::{Args, Subcommand};
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
  brunt studio token ann read         a token for a member of a team, and its line for --tokens
  brunt studio openapi > api.json     its HTTP interface, for programs
  brunt studio --listen 0.0.0.0:7878 --host studio.example --cert cert.pem --key key.pem --tokens tokens
                                      a team's studio, which other machines reach

The link admits one browser, once; press Enter for another one. Without TLS and tokens, only this machine can reach the studio. With ssh -L 7878:127.0.0.1:7878 HOST, \
your browser reaches a studio on another one. Runs neither need it nor wait for it. Method: docs/studio.md, docs/team.md.";

/// Arguments of `brunt studio`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StudioArgs {
    #[command(subcommand)]
    action: Option<StudioAction>,
    /// Directory of stored runs, as with --store
    #[arg(value_name = "DIR", conflicts_with = "store")]
    directory: Option<PathBuf>,
    /// Address of the studio; port 0 is any free one. Other machines reach it only with TLS and tokens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Name of the studio's host for browsers and programs, such as studio.example; repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Certificate of the studio, as PEM, with those of its issuers
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The private key of --cert, as PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// File with a line of `brunt studio token` for each member of the team; read again when it changes
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// End after this time without a visible page, such as 1h
    #[arg(long, value_name = "TIME", value_parser = words::duration::positive_with_unit)]
    end_idle: Option<Duration>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Subcommand)]
enum StudioAction {
    /// Prints a new token: its secret, and its line for the file of --tokens
    Token {
        /// Name of its holder: a person or a program
        name: String,
        /// read: shows runs; run: also starts runs, edits plans and reads files of the studio's machine
        #[arg(value_parser = permissions())]
        permission: String,
    },
    /// Prints the document `openapi.json` of the studio's HTTP interface
    Openapi,
}

/// Parser of the permissions of a token.
fn permissions() -> clap::builder::PossibleValuesParser {
    Permission::ALL.map(Permission::word).into()
}

impl StudioArgs {
    /// Address and protection of the studio.
    fn address(&self) -> StudioAddress {
        let files = self.cert.clone().zip(self.key.clone());
        StudioAddress {
            listen: self.listen,
            hosts: self.host.clone(),
            tls: files.map(|(certificate, key)| TlsFiles { certificate, key }),
            tokens: self.tokens.clone(),
        }
    }
}

/// Prints a new token. Only its holder gets the secret.
fn print_token(name: &str, permission: &str) -> Result<Exit, CommandError> {
    let permission = Permission::from_word(permission).unwrap_or(Permission::Read);
    let token = NewToken::draw(name, permission).map_err(usage_error)?;
    let NewToken { secret, line } = token;
    print(format!("{secret}\n{line}\n")).map_err(runtime_error)?;
    // In a file, the explanation would become a line of tokens.
    if io::stdout().is_terminal() {
        print_line(
            "The first line is the secret: it is shown once, for its holder. Add the second line to the file of --tokens.",
        );
    }
    Ok(Exit::Measured)
}

/// Answers requests until the process is ended.
pub fn studio(args: &StudioArgs) -> Result<Exit, CommandError> {
    match &args.action {
        Some(StudioAction::Token { name, permission }) => return print_token(name, permission),
        Some(StudioAction::Openapi) => {
            print(format!("{:#}\n", brunt_web::openapi_document())).map_err(runtime_error)?;
            return Ok(Exit::Measured);
        }
        None => {}
    }
    let mut args_of_store = args.store.clone();
    args_of_store.store = args.directory.clone().or(args_of_store.store);
    let store = runs::open(&args_of_store)?;
    let directory = store.directory().to_owned();
    let program = std::env::current_exe().map_err(runtime_error)?;
    let program =
        StudioProgram { command: command_line(), program, system: system(), warn: print_line };
    let studio = Studio::bind(directory.clone(), args.address(), program).map_err(usage_error)?;
    let studio = Arc::new(studio);
    let link = studio.new_link().map_err(runtime_error)?;
    print(format!("brunt studio shows {}\n{link}\n", directory.display()))
        .map_err(runtime_error)?;
    if !args.no_open && io::stdout().is_terminal() {
        browser::open(&directory, &link);
    }
    let _links = offer_links(&store, &studio, args.tokens.is_some()).map_err(runtime_error)?;
    drop(store);
    if io::stdin().is_terminal() {
        let studio = Arc::clone(&studio);
        thread::spawn(move || print_links(&studio));
    }
    studio.serve(args.end_idle).map_err(runtime_error)?;
    Ok(Exit::Measured)
}

/// Answers other processes that ask for a link, unless an earlier studio of this store does.
///
/// # Errors
///
/// A team's studio finds an earlier one, which would give leases to its runs.
fn offer_links(
    store: &Store,
    studio: &Arc<Studio>,
    is_of_team: bool,
) -> anyhow::Result<Option<LineSocket>> {
    let path = store.studio_socket();
    if ask(&path, LINK).is_ok() {
        if is_of_team {
            anyhow::bail!(
                "another studio shows the store {}; end it, or write another directory",
                store.directory().display()
            );
        }
        return Ok(None);
    }
    let studio = Arc::clone(studio);
    Ok(LineSocket::open(path, move |line| {
        if let Some(order) = line.strip_prefix(LEASE) {
            return studio.local_lease(order);
        }
        // A link has no name and no end, so a member whose token was removed could keep one.
        if is_of_team {
            return "a team's studio gives no links to processes".to_owned();
        }
        let process = line.strip_prefix(LINK).and_then(|process| process.trim().parse().ok());
        let link = process.map_or_else(|| studio.new_link(), |process| studio.new_link_to(process));
        link.unwrap_or_else(|error| error.to_string())
    }))
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
