//! The command `brunt fleet`: what a fleet on Kubernetes or NATS needs.

use super::cluster;
use crate::args::RunArgs;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::print;
use anyhow::{Context, Result, anyhow};
use brunt_fleet::image::{self, ImageProgram};
use brunt_fleet::kubernetes::{network_policy, rbac};
use brunt_fleet::run::complete;
use brunt_fleet::seal::FleetKey;
use brunt_model::Placement;
use brunt_spec::to_plan;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;

/// Arguments of `brunt fleet`.
#[derive(Debug, Args)]
pub struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    /// Prints all objects that a run with --on k8s:N would create, for `kubectl apply -f -`
    Manifest(Box<RunArgs>),
    /// Prints the smallest role that brunt needs, with a service account
    Rbac {
        /// Namespace of the fleets
        #[arg(long, value_name = "NAME", default_value = "default")]
        namespace: String,
        /// Add the right to read nodes of the whole cluster, for --group-by zone
        #[arg(long)]
        zones: bool,
    },
    /// Prints a NetworkPolicy that lets agents reach NATS and the target only
    NetworkPolicy {
        /// Namespace of the fleets
        #[arg(long, value_name = "NAME", default_value = "default")]
        namespace: String,
        /// Addresses of the target, such as 10.0.0.0/24
        #[arg(value_name = "CIDR")]
        target: String,
    },
    /// Writes a container image of this brunt, without a container engine, and prints its digest
    Image {
        /// File of the image: an OCI layout in a tar archive
        #[arg(long, value_name = "FILE", default_value = "brunt-image.tar")]
        output: PathBuf,
        /// Name of the image
        #[arg(value_name = "REFERENCE")]
        reference: String,
        /// Static brunt for another architecture (repeatable)
        #[arg(long = "agent-binary", value_name = "FILE")]
        programs: Vec<PathBuf>,
    },
    /// Prints a random key for a fleet of agents that wait on NATS
    Key,
}

/// Examples in the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt fleet image registry.example/brunt:1 && skopeo copy oci-archive:brunt-image.tar docker://registry.example/brunt:1
  brunt fleet rbac --namespace load | kubectl apply -f -
  brunt fleet network-policy 10.0.0.0/24 --namespace load | kubectl apply -f -
  brunt fleet key > fleet.key
  brunt fleet manifest http://shop.example/ --on k8s:20 --image registry.example/brunt:1 --allow-target shop.example";

/// Carries out a subcommand.
pub fn fleet(args: FleetArgs) -> Result<Exit, CommandError> {
    match args.command {
        FleetCommand::Manifest(run) => {
            let objects = manifest(&run).map_err(usage_error)?;
            print_list(&objects).map_err(runtime_error)?;
        }
        FleetCommand::Rbac { namespace, zones } => {
            print_list(&rbac(&namespace, zones)).map_err(runtime_error)?;
        }
        FleetCommand::NetworkPolicy { namespace, target } => {
            print_list(&[network_policy(&namespace, &target)]).map_err(runtime_error)?;
        }
        FleetCommand::Image { output, reference, programs } => {
            let digest = write_image(&output, &reference, &programs).map_err(runtime_error)?;
            print(format!("{reference}@{digest} in {}\n", output.display()))
                .map_err(runtime_error)?;
        }
        FleetCommand::Key => {
            let key = FleetKey::random();
            let key = key.map_err(|_| runtime_error(anyhow!("no random numbers")))?;
            print(format!("{}\n", key.text())).map_err(runtime_error)?;
        }
    }
    Ok(Exit::Measured)
}

fn manifest(run: &RunArgs) -> Result<Vec<Value>> {
    let (plan, _) = to_plan(&run.settings, &crate::process::system())?;
    let fleet = plan.fleet.as_ref();
    let settings = fleet.and_then(|fleet| Some((fleet.on.clone(), fleet.cluster.as_ref()?)));
    let Some((Placement::Kubernetes(agents), settings)) = settings else {
        return Err(anyhow!("write --on k8s:N, the number of agents on Kubernetes"));
    };
    let mut objects = cluster::objects(settings, agents);
    complete(&mut objects, cluster::named_nats(settings)?)?;
    if objects.namespace.is_empty() {
        objects.namespace = "default".into();
    }
    Ok(objects.manifest())
}

fn print_list(items: &[Value]) -> Result<()> {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    print(format!("{list:#}\n"))?;
    Ok(())
}

fn write_image(output: &PathBuf, reference: &str, programs: &[PathBuf]) -> Result<String> {
    let mut all = vec![ImageProgram::own()?];
    for path in programs {
        all.push(ImageProgram::read(path)?);
    }
    let file = File::create(output).with_context(|| output.display().to_string())?;
    Ok(image::write(file, &all, reference)?)
}
