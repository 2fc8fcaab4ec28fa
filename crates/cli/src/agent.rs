//! The command `brunt agent`: an agent that waits on NATS for the loads of a controller.
//!
//! In a pod, it carries out the runs of one controller. Elsewhere it then waits for the next one.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::fleet::cluster::{key, seed};
use crate::languages::LANGUAGES;
use anyhow::{Context, Result};
use brunt_agents::agent::{FileSource, run_agent};
use brunt_fleet::nats::{NatsAccess, agent_streams};
use clap::Args;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Name of an agent in a pod: its index.
const NAME_VARIABLE: &str = "BRUNT_AGENT_NAME";

/// Arguments of `brunt agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// URLs of NATS servers, with commas between them
    #[arg(long, value_name = "URL", required_unless_present = "folder")]
    nats: Option<String>,
    /// Name of the fleet
    #[arg(long, value_name = "NAME", required_unless_present = "folder")]
    fleet_name: Option<String>,
    /// File with the key of the fleet, made by `brunt fleet key`
    #[arg(long, value_name = "FILE", required_unless_present = "folder")]
    fleet_key: Option<PathBuf>,
    /// File with the seed of the agent's nkey, if the servers need one
    #[arg(long, value_name = "FILE")]
    nats_nkey: Option<PathBuf>,
    /// Name of the agent in reports [default: host name and process id]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Directory with the files servers, name, key and seed, as pods have it
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "nats")]
    folder: Option<PathBuf>,
}

/// Examples in the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt fleet key > fleet.key
  brunt agent --nats nats://10.0.0.9:4222 --fleet-name lab --fleet-key fleet.key
  brunt http://shop.example/ -r 20000 --on nats:3 --nats nats://10.0.0.9:4222 --fleet-name lab --fleet-key fleet.key \\
    --allow-target shop.example";

/// Waits for a controller and carries out its runs.
pub fn agent(args: &AgentArgs) -> Result<Exit, CommandError> {
    let access = access(args).map_err(usage_error)?;
    let name =
        args.name.clone().or_else(|| env::var(NAME_VARIABLE).ok()).unwrap_or_else(|| {
            format!("{}-{}", brunt_probe::machine::hostname(), std::process::id())
        });
    brunt_probe::limits::raise_descriptors();
    let facts = brunt_probe::machine::agent_facts();
    let (inputs, output) = agent_streams(&access, &name).map_err(runtime_error)?;
    let quit = if args.folder.is_some() { end } else { begin_again };
    run_agent(facts, LANGUAGES, FileSource::Controller, inputs, output, quit)
        .map_err(runtime_error)?;
    Ok(Exit::Measured)
}

fn access(args: &AgentArgs) -> Result<NatsAccess> {
    if let Some(folder) = &args.folder {
        let read = |name: &str| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            Ok::<_, anyhow::Error>(text.trim().to_owned())
        };
        let seed_file = folder.join("seed");
        let seed_file = seed_file.exists().then_some(seed_file);
        return Ok(NatsAccess {
            servers: read("servers")?,
            nkey_seed: seed(seed_file.as_deref())?,
            fleet: read("name")?,
            key: key(&folder.join("key"))?,
        });
    }
    // clap requires them without a folder.
    Ok(NatsAccess {
        servers: args.nats.clone().unwrap_or_default(),
        nkey_seed: seed(args.nats_nkey.as_deref())?,
        fleet: args.fleet_name.clone().unwrap_or_default(),
        key: key(args.fleet_key.as_deref().unwrap_or(Path::new("")))?,
    })
}

fn end(is_running: bool) -> ! {
    let exit = if is_running { Exit::Failed } else { Exit::Measured };
    std::process::exit(i32::from(exit.code()))
}

/// Replaces this process by a new agent, which waits for the next controller.
fn begin_again(_: bool) -> ! {
    let error = Command::new("/proc/self/exe").args(env::args_os().skip(1)).exec();
    eprintln!("brunt: the agent cannot be started again: {error}");
    std::process::exit(i32::from(Exit::Failed.code()))
}
