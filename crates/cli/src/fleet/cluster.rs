//! Starts agents on Kubernetes, and connects to agents that wait on NATS.

use crate::{redact, signals};
use anyhow::{Context, Result, bail};
use brunt_agents::Fleet;
use brunt_agents::controller::{AgentPipes, Carrier, StartedAgent};
use brunt_fleet::kubernetes::{KeepPods, KubernetesFleet, NatsPod, SECRET_FOLDER};
use brunt_fleet::nats::{AgentStreams, AgentWait, Continuation, NatsAccess, NatsFleet, NkeySeed};
use brunt_fleet::run::{self, FleetOrder, KubernetesRun};
use brunt_fleet::seal::FleetKey;
use brunt_model::agent::RunNumber;
use brunt_model::fleet::ClusterSettings;
use brunt_model::{FleetSettings, Placement};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// CPU, memory and storage of the server of NATS.
const NATS_CPU: &str = "500m";
const NATS_MEMORY: &str = "256Mi";
const NATS_STORAGE: &str = "1Gi";

/// Starts the agents of these settings, or connects to them. `folders` is the place for what `brunt attach`
/// needs. `tell` gets lines about the progress.
pub fn start(
    settings: &FleetSettings,
    folders: Option<PathBuf>,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<Fleet> {
    let cluster = cluster_settings(settings)?;
    let stop = signals::stop_flag()?;
    let replace_lost = cluster.replace_lost;
    // Another controller could not tell which processes have replaced lost agents.
    let folders = folders.filter(|_| !replace_lost);
    let continuation = Continuation { lease: settings.lease, folders, replace_lost };
    let (carrier, streams) = match settings.on {
        Placement::Kubernetes(agents) => {
            let order = FleetOrder {
                fleet: objects(cluster, agents),
                namespace: cluster.namespace.as_deref(),
                nats: named_nats(cluster)?,
                has_zones: settings.by_zone,
                start_deadline: cluster.start_deadline,
                continuation,
                tell,
                stop: &stop,
            };
            let (run, streams) = run::start(order)?;
            (ClusterCarrier::Kubernetes(run), streams)
        }
        Placement::Nats(agents) => {
            let agents = agents as usize;
            let mut present =
                |count: usize| tell(&format!("agents: {count} of {agents} connected"));
            let deadline = cluster.start_deadline;
            let wait = AgentWait { agents, deadline, tell: &mut present, stop: &stop };
            let access = access(cluster)?;
            let (nats, streams) = NatsFleet::start(&access, wait, &continuation)?;
            (ClusterCarrier::Nats(nats), streams)
        }
        Placement::Local(_) | Placement::Ssh(_) => bail!("{} needs no carrier", settings.on),
    };
    let agents = streams.into_iter().map(|one| started(one, &carrier)).collect();
    Ok(Fleet::connect(agents, Some(Box::new(carrier)), redact::current())?)
}

/// Connects to the agents of a run whose controller has died. `folder` has what it kept.
pub fn attach(settings: &FleetSettings, folder: &Path) -> Result<Fleet> {
    let cluster = cluster_settings(settings)?;
    let (carrier, streams) = match settings.on {
        Placement::Kubernetes(agents) => {
            let objects = objects(cluster, agents);
            let namespace = cluster.namespace.as_deref();
            let nats = named_nats(cluster)?;
            let (run, streams) = run::attach(objects, namespace, nats, folder, settings.lease)?;
            (ClusterCarrier::Kubernetes(run), streams)
        }
        Placement::Nats(_) => {
            let (nats, streams) = NatsFleet::attach(&access(cluster)?, folder, settings.lease)?;
            (ClusterCarrier::Nats(nats), streams)
        }
        Placement::Local(_) | Placement::Ssh(_) => {
            bail!("agents on {} end with the brunt that started them", settings.on)
        }
    };
    // From here on, texts of the agents have no secrets.
    for secret in carrier.nats().map(NatsFleet::recorded_secrets).unwrap_or_default() {
        redact::current().secret(&secret);
    }
    let agents = streams.into_iter().map(|one| started(one, &carrier)).collect();
    Ok(Fleet::reconnect(agents, Box::new(carrier), redact::current())?)
}

/// Carries the messages of agents on Kubernetes, or of agents that wait on NATS.
enum ClusterCarrier {
    Kubernetes(KubernetesRun),
    Nats(NatsFleet),
}

impl ClusterCarrier {
    fn nats(&self) -> Option<&NatsFleet> {
        match self {
            Self::Kubernetes(run) => run.nats(),
            Self::Nats(nats) => Some(nats),
        }
    }

    fn zone(&self, agent: &str) -> Option<&str> {
        match self {
            Self::Kubernetes(run) => run.zone(agent),
            Self::Nats(_) => None,
        }
    }
}

impl Carrier for ClusterCarrier {
    fn keep_run(&self, id: &str, number: RunNumber, secrets: &[String]) -> io::Result<()> {
        self.nats().map_or(Ok(()), |nats| nats.keep_run(id, number.0, secrets))
    }

    fn replacement(&self) -> Option<StartedAgent> {
        let streams = match self {
            Self::Kubernetes(run) => run.replacement(),
            Self::Nats(nats) => nats.replacement(),
        };
        streams.map(|one| started(one, self))
    }
}

fn cluster_settings(settings: &FleetSettings) -> Result<&ClusterSettings> {
    settings.cluster.as_ref().context("the plan has no settings of a cluster")
}

/// The servers of NATS that the user names, with the seed of the user. None if the fleet has its own.
pub fn named_nats(settings: &ClusterSettings) -> Result<Option<(String, Option<NkeySeed>)>> {
    let Some(servers) = &settings.nats else { return Ok(None) };
    Ok(Some((servers.clone(), seed(settings.nkey_file.as_deref())?)))
}

/// The objects of a fleet. Name, namespace and Secret are filled in later.
pub fn objects(settings: &ClusterSettings, agents: u32) -> KubernetesFleet {
    let own_nats = settings.nats.is_none().then(|| NatsPod {
        image: settings.nats_image.clone(),
        cpu: NATS_CPU.into(),
        memory: NATS_MEMORY.into(),
        storage: NATS_STORAGE.into(),
        is_reached_from_outside: true,
    });
    KubernetesFleet {
        name: "brunt".into(),
        namespace: settings.namespace.clone().unwrap_or_default(),
        agents,
        image: settings.image.clone().unwrap_or_default(),
        image_pull_policy: settings.image_pull_policy.clone(),
        arguments: vec!["agent".into(), "--folder".into(), SECRET_FOLDER.into()],
        cpu: settings.cpu.clone(),
        memory: settings.memory.clone(),
        node_selector: settings.node_selector.iter().cloned().collect(),
        deadline: settings.deadline,
        keep: if settings.keep_on_failure { KeepPods::OnFailure } else { KeepPods::Never },
        nats: own_nats,
        secret: BTreeMap::new(),
        job_uid: None,
    }
}

fn started(streams: AgentStreams, carrier: &ClusterCarrier) -> StartedAgent {
    let AgentStreams { name, input, output, reason } = streams;
    let group = carrier.zone(&name).map(str::to_owned);
    // The pipes lead to no process of this machine.
    let kill = Box::new(|| ());
    StartedAgent { name, group, pipes: Ok(AgentPipes { input, output, reason, kill }) }
}

fn access(settings: &ClusterSettings) -> Result<NatsAccess> {
    let servers = settings.nats.clone().context("--nats URL is missing")?;
    let fleet = settings.fleet.clone().context("--fleet-name NAME is missing")?;
    let key_file = settings.key_file.as_deref().context("--fleet-key FILE is missing")?;
    let nkey_seed = seed(settings.nkey_file.as_deref())?;
    Ok(NatsAccess { servers, nkey_seed, fleet, key: key(key_file)? })
}

/// Reads the key of a fleet.
pub fn key(file: &Path) -> Result<FleetKey> {
    let text = read(file)?;
    FleetKey::parse(&text).with_context(|| {
        format!("{}: it is no key of a fleet; make one with `brunt fleet key`", file.display())
    })
}

/// Reads the seed of an nkey, if there is a file.
pub fn seed(file: Option<&Path>) -> Result<Option<NkeySeed>> {
    file.map(|file| Ok(NkeySeed(read(file)?.trim().to_owned()))).transpose()
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}
