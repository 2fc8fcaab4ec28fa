//! Starts a fleet on Kubernetes and connects to its agents, in calls that block.

use crate::handover::FleetRecord;
use crate::kubernetes::{Cluster, ClusterError, KubernetesFleet, NATS_PORT};
use crate::nats::{
    AgentStreams, AgentWait, Continuation, NatsAccess, NatsError, NatsFleet, NkeySeed,
};
use crate::seal::{FleetKey, Identity, no_random};
use brunt_model::sync::IgnorePoison;
use nkeys::KeyPair;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Maximum wait for the cluster's reason of a lost pod, and for the deletion of a fleet.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// Number of letters of a fleet's name that are random.
const RANDOM_LETTERS: usize = 8;

/// A fleet that is to be started.
pub struct FleetOrder<'a> {
    /// Its objects. Name, namespace and Secret are filled in.
    pub fleet: KubernetesFleet,
    /// Namespace; None for that of the kubeconfig.
    pub namespace: Option<&'a str>,
    /// Servers of NATS that exist, with the seed of the user; None if the fleet has its own.
    pub nats: Option<(String, Option<NkeySeed>)>,
    /// True if the zones of the agents are to be read.
    pub has_zones: bool,
    /// Time until all agents must have announced themselves.
    pub start_deadline: Duration,
    /// How the fleet continues without its controller.
    pub continuation: Continuation,
    /// Gets a line for each stage, and the reasons of pods that do not run.
    pub tell: &'a mut (dyn FnMut(&str) + Send),
    /// True ends the start, and removes everything.
    pub stop: &'a AtomicBool,
}

/// Why a fleet was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Kubernetes refuses an object, or pods do not run.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// NATS cannot be used, or agents are missing.
    #[error(transparent)]
    Nats(#[from] NatsError),
    /// The user stopped the start.
    #[error("stopped; nothing is left in the cluster")]
    Stopped,
    /// The system provides no thread or no random numbers.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A fleet on Kubernetes. Its objects are deleted when it is dropped.
pub struct KubernetesRun {
    /// None while the objects are deleted.
    nats: Option<NatsFleet>,
    objects: Arc<Objects>,
    /// By name of the agent; empty if they were not read.
    zones: BTreeMap<String, String>,
}

/// The objects of a fleet, and the means to ask for them.
struct Objects {
    /// The client of the cluster works only in the runtime in which it was created.
    runtime: Mutex<Runtime>,
    cluster: Cluster,
    fleet: KubernetesFleet,
    /// True if an agent was lost.
    has_failed: AtomicBool,
}

/// Fills in the name and the Secret of a fleet. `nats` has servers that exist, with the seed of the user. Returns the
/// access to its messages, without servers if it has its own.
pub fn complete(
    fleet: &mut KubernetesFleet,
    nats: Option<(String, Option<NkeySeed>)>,
) -> Result<NatsAccess, StartError> {
    let identity = Identity::random().map_err(no_random)?.text();
    let key = FleetKey::random().map_err(no_random)?;
    fleet.name = format!("brunt-{}", &identity[..RANDOM_LETTERS]);
    let (servers, nkey_seed) = if let Some(named) = nats {
        named
    } else {
        let user = KeyPair::new_user();
        let seed = user.seed().map_err(|error| io::Error::other(error.to_string()))?;
        fleet.secret.insert("nats.conf".into(), server_configuration(&user.public_key()));
        (String::new(), Some(NkeySeed(seed)))
    };
    fleet.secret.insert("name".into(), fleet.name.clone());
    fleet.secret.insert("key".into(), key.text());
    fleet.secret.insert("servers".into(), servers.clone());
    if let Some(seed) = &nkey_seed {
        fleet.secret.insert("seed".into(), seed.0.clone());
    }
    Ok(NatsAccess { servers, nkey_seed, fleet: fleet.name.clone(), key })
}

fn server_configuration(public_key: &str) -> String {
    format!(
        "listen: \"0.0.0.0:{NATS_PORT}\"\n\
         jetstream {{ store_dir: \"/tmp/jetstream\", max_mem: 64M, max_file: 1G }}\n\
         authorization {{ users: [ {{ nkey: \"{public_key}\" }} ] }}\n"
    )
}

/// Starts a fleet and connects to its agents.
///
/// # Errors
///
/// The cluster refuses an object, an agent does not start, or the user stops the start. Everything is
/// deleted, unless the pods are to be kept after a failure.
pub fn start(order: FleetOrder<'_>) -> Result<(KubernetesRun, Vec<AgentStreams>), StartError> {
    let FleetOrder {
        mut fleet,
        namespace,
        nats,
        has_zones,
        start_deadline,
        continuation,
        tell,
        stop,
    } = order;
    let mut access = complete(&mut fleet, nats)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cluster = runtime.block_on(Cluster::connect(namespace))?;
    fleet.namespace.clone_from(&cluster.namespace);
    if let Some(nats) = &mut fleet.nats {
        nats.is_reached_from_outside = !cluster.is_inside;
    }
    runtime.block_on(cluster.create(&mut fleet))?;
    tell(&format!("created the Job {} in the namespace {}", fleet.name, fleet.namespace));
    let runtime = Mutex::new(runtime);
    // Until all agents are connected, an end is a failure, and `--keep on-failure` applies.
    let objects = Objects { runtime, cluster, fleet, has_failed: AtomicBool::new(true) };
    let connected = objects.connect(&mut access, start_deadline, &continuation, tell, stop);
    let zones = connected.and_then(|connected| Ok((connected, objects.zones(has_zones)?)));
    match zones {
        Ok(((nats, streams), zones)) => {
            objects.has_failed.store(false, Ordering::Relaxed);
            Ok(objects.with_nats(nats, streams, zones))
        }
        Err(error) => {
            // A stop by the user is no failure, so no pod stays with `--keep on-failure`.
            if matches!(error, StartError::Stopped | StartError::Nats(NatsError::Stopped)) {
                objects.has_failed.store(false, Ordering::Relaxed);
            }
            objects.delete();
            Err(error)
        }
    }
}

/// Takes the place of a controller that has died.
///
/// # Errors
///
/// The fleet no longer exists, its controller lives, or the cluster or NATS do not answer.
pub fn attach(
    mut fleet: KubernetesFleet,
    namespace: Option<&str>,
    nats: Option<(String, Option<NkeySeed>)>,
    folder: &Path,
    lease: Duration,
) -> Result<(KubernetesRun, Vec<AgentStreams>), StartError> {
    let record = FleetRecord::read(folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cluster = runtime.block_on(Cluster::connect(namespace))?;
    fleet.name.clone_from(&record.name);
    fleet.namespace.clone_from(&cluster.namespace);
    let secret = runtime.block_on(cluster.secret(&fleet.name))?;
    let key = secret.get("key").and_then(|key| FleetKey::parse(key));
    let key = key.ok_or_else(|| io::Error::other("the fleet's Secret has no key"))?;
    let (servers, nkey_seed) = match nats {
        Some(named) => named,
        None => (
            runtime.block_on(cluster.nats_servers(&fleet))?,
            secret.get("seed").cloned().map(NkeySeed),
        ),
    };
    let access = NatsAccess { servers, nkey_seed, fleet: record.name, key };
    let (nats, streams) = NatsFleet::attach(&access, folder, lease)?;
    let runtime = Mutex::new(runtime);
    let objects = Objects { runtime, cluster, fleet, has_failed: AtomicBool::new(false) };
    Ok(objects.with_nats(nats, streams, BTreeMap::new()))
}

impl KubernetesRun {
    /// Returns the byte streams of a pod that takes the place of a lost one. None: there is none now.
    pub fn replacement(&self) -> Option<AgentStreams> {
        Some(with_pod_reason(self.nats.as_ref()?.replacement()?, &self.objects))
    }

    /// The connection to the agents; None while the objects are deleted.
    pub fn nats(&self) -> Option<&NatsFleet> {
        self.nats.as_ref()
    }

    /// Zone of an agent, if the zones were read.
    pub fn zone(&self, agent: &str) -> Option<&str> {
        self.zones.get(agent).map(String::as_str)
    }
}

impl Objects {
    fn with_nats(
        self,
        nats: NatsFleet,
        streams: Vec<AgentStreams>,
        zones: BTreeMap<String, String>,
    ) -> (KubernetesRun, Vec<AgentStreams>) {
        let objects = Arc::new(self);
        let streams = streams.into_iter().map(|one| with_pod_reason(one, &objects)).collect();
        (KubernetesRun { nats: Some(nats), objects, zones }, streams)
    }

    /// Zones of the agents, by name.
    fn zones(&self, has_zones: bool) -> Result<BTreeMap<String, String>, StartError> {
        if !has_zones {
            return Ok(BTreeMap::new());
        }
        let zones = self.runtime().block_on(self.cluster.zones(&self.fleet))?;
        Ok(zones.into_iter().map(|(index, zone)| (agent_name(&index), zone)).collect())
    }

    fn runtime(&self) -> MutexGuard<'_, Runtime> {
        self.runtime.lock().ignore_poison()
    }

    fn connect(
        &self,
        access: &mut NatsAccess,
        deadline: Duration,
        continuation: &Continuation,
        tell: &mut (dyn FnMut(&str) + Send),
        stop: &AtomicBool,
    ) -> Result<(NatsFleet, Vec<AgentStreams>), StartError> {
        self.runtime().block_on(async {
            tokio::select! {
                running = self.cluster.await_running(&self.fleet, deadline, tell) => Ok(running?),
                () = until(stop) => Err(StartError::Stopped),
            }
        })?;
        if access.servers.is_empty() {
            access.servers = self.runtime().block_on(self.cluster.nats_servers(&self.fleet))?;
        }
        let agents = self.fleet.agents as usize;
        let mut present = |count: usize| {
            if count == agents {
                tell(&format!("agents: {count} of {agents} connected"));
            }
        };
        let wait = AgentWait { agents, deadline, tell: &mut present, stop };
        Ok(NatsFleet::start(access, wait, continuation)?)
    }

    fn delete(&self) {
        let keeps = self.fleet.keep == crate::kubernetes::KeepPods::OnFailure;
        if keeps && self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        // What this does not delete in time is deleted at the deadline of the Job.
        let deletion = async { timeout(ANSWER_WAIT, self.cluster.delete(&self.fleet)).await };
        _ = self.runtime().block_on(deletion);
    }
}

impl Drop for KubernetesRun {
    fn drop(&mut self) {
        // The agents get the end of their streams first.
        self.nats.take();
        self.objects.delete();
    }
}

/// Adds the cluster's reason to the reason why an agent's messages have ended.
fn with_pod_reason(streams: AgentStreams, objects: &Arc<Objects>) -> AgentStreams {
    let objects = Arc::clone(objects);
    let AgentStreams { name, input, output, reason } = streams;
    let index = name.clone();
    let reason = Box::new(move || {
        let own = reason();
        objects.has_failed.store(true, Ordering::Relaxed);
        let question = async {
            timeout(ANSWER_WAIT, objects.cluster.pod_reason(&objects.fleet, &index)).await
        };
        let pod = objects.runtime().block_on(question).ok().flatten();
        pod.map_or_else(|| own.clone(), |pod| format!("{own}; pod {pod}"))
    });
    AgentStreams { name: agent_name(&name), input, output, reason }
}

/// Name of the agent of a pod, by the number of the pod.
fn agent_name(index: &str) -> String {
    format!("pod-{index}")
}

/// Waits until a flag is set.
async fn until(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
