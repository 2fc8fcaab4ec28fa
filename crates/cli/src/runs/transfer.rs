//! Transfers runs and experiments between the store and a team's studio.

use super::{open, store_error};
use crate::args::store::StoreArgs;
use crate::exit::{CommandError, runtime_error, usage_error};
use crate::output::print;
use crate::team;
use brunt_store::StoredItem;
use brunt_store::archive::ArchiveLimits;
use brunt_web::client::TeamServer;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `brunt runs push`.
#[derive(Debug, Clone, Args)]
pub struct PushArgs {
    /// Which
    #[arg(required = true)]
    ids: Vec<String>,
    /// Address of the team's studio
    #[arg(long, value_name = "URL")]
    to: String,
    /// Authority to trust for the studio's certificate, as PEM [default: the system's]
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Arguments of `brunt runs pull`.
#[derive(Debug, Clone, Args)]
pub struct PullArgs {
    /// Which, as the studio knows them
    #[arg(required = true)]
    ids: Vec<String>,
    /// Address of the team's studio
    #[arg(long, value_name = "URL")]
    from: String,
    /// Authority to trust for the studio's certificate, as PEM [default: the system's]
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Sends runs and experiments to a studio.
pub fn push(args: &PushArgs) -> Result<(), CommandError> {
    let server = server(&args.to, args.cacert.as_ref())?;
    let store = open(&args.store)?;
    // All are found before the first is sent, so that a typo sends none.
    let items: Result<Vec<StoredItem>, _> = args.ids.iter().map(|word| store.find(word)).collect();
    for item in items.map_err(store_error)? {
        let is_new = team::send(&server, &store, &item).map_err(runtime_error)?;
        let state = if is_new { "pushed" } else { "already there" };
        print(format!("{state}: {}/runs/{}\n", server.address(), item.id()))
            .map_err(runtime_error)?;
    }
    Ok(())
}

/// Fetches runs and experiments from a studio.
pub fn pull(args: &PullArgs) -> Result<(), CommandError> {
    let server = server(&args.from, args.cacert.as_ref())?;
    let store = open(&args.store)?;
    let limits = ArchiveLimits::default();
    for id in &args.ids {
        let file = tempfile::NamedTempFile::new().map_err(runtime_error)?;
        server.pull(id, file.path(), limits.bytes).map_err(runtime_error)?;
        // The studio may be another version, or another program: what it sends is checked as an upload is.
        let received = store.receive(file.path(), &limits).map_err(store_error)?;
        let state = if received.is_new { "pulled" } else { "already here" };
        print(format!("{state}: {}\n", received.item.id())).map_err(runtime_error)?;
    }
    Ok(())
}

fn server(url: &str, authority: Option<&PathBuf>) -> Result<TeamServer, CommandError> {
    team::server(url, authority.map(PathBuf::as_path)).map_err(usage_error)
}
