//! Starts agents as pods of a Kubernetes cluster, and removes them.
//!
//! * `objects`: what is created.
//! * `start`: what the cluster says about the start of the pods.
//! * `zones`: the zones of their nodes.

mod objects;
mod start;
mod zones;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod, Secret, Service};
use kube::api::{Api, DeleteParams, ListParams, PostParams, PropagationPolicy};
use kube::config::KubeConfigOptions;
use kube::{Client, Config};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

pub use objects::{NATS_PORT, SECRET_FOLDER, network_policy, rbac};
pub use start::StartState;

/// Interval at which the state of pods is read.
const LOOK: Duration = Duration::from_millis(500);

/// Time after which a pod that does not run has a line with its reason.
const PATIENCE: Duration = Duration::from_secs(3);

/// What determines the objects of a fleet.
#[derive(Debug, Clone)]
pub struct KubernetesFleet {
    /// Name of the Job, and part of all other names.
    pub name: String,
    /// Namespace of all objects.
    pub namespace: String,
    /// Number of pods with an agent.
    pub agents: u32,
    /// Image of the agents.
    pub image: String,
    /// When images are pulled; None: the cluster's default.
    pub image_pull_policy: Option<String>,
    /// Arguments of the agents.
    pub arguments: Vec<String>,
    /// CPU of each agent.
    pub cpu: String,
    /// Memory of each agent.
    pub memory: String,
    /// Labels that a node of the agents must have.
    pub node_selector: BTreeMap<String, String>,
    /// Time after which the cluster ends the fleet, whatever happens to the controller.
    pub deadline: Duration,
    /// Whether pods stay after a failure.
    pub keep: KeepPods,
    /// The fleet's own server of NATS; None if the user names one.
    pub nats: Option<NatsPod>,
    /// Values of the Secret by file name.
    pub secret: BTreeMap<String, String>,
    /// Identity of the Job, once it is created.
    pub job_uid: Option<String>,
}

/// A server of NATS in the cluster.
#[derive(Debug, Clone)]
pub struct NatsPod {
    /// Image with `nats-server` as its program.
    pub image: String,
    /// CPU, as request and limit.
    pub cpu: String,
    /// Memory, as request and limit.
    pub memory: String,
    /// Maximum size of what it stores.
    pub storage: String,
    /// True if the controller is outside of the cluster.
    pub is_reached_from_outside: bool,
}

/// Whether pods stay after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepPods {
    /// All objects are deleted.
    #[default]
    Never,
    /// If the start or the run fails, the objects stay for an hour.
    OnFailure,
}

/// Why a fleet cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is no access to a cluster.
    #[error("no access to a Kubernetes cluster: {0}; check with `kubectl get pods`")]
    Access(String),
    /// The cluster refuses an object.
    #[error("Kubernetes does not create {what}: {error}")]
    Create {
        /// Kind and name of the object.
        what: String,
        /// The reason, and what to do.
        error: String,
    },
    /// Pods do not run at the deadline.
    #[error("{state}, after {seconds} s (--start-deadline){}", lines(.reasons))]
    Late {
        /// Number of pods in each state.
        state: String,
        /// Seconds until the deadline.
        seconds: u64,
        /// Reasons of the cluster.
        reasons: Vec<String>,
    },
    /// Nodes cannot be read, or have no zone.
    #[error("no zones for --group-by zone: {0}")]
    Zones(String),
    /// The cluster does not answer.
    #[error("Kubernetes does not answer: {0}")]
    Answer(String),
}

fn lines(reasons: &[String]) -> String {
    reasons.iter().fold(String::new(), |text, reason| text + "\n  " + reason)
}

/// A connection to a cluster.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    /// Namespace of the fleet.
    pub namespace: String,
    /// True if this process is a pod of the cluster.
    pub is_inside: bool,
}

impl Cluster {
    /// Connects to the cluster of the kubeconfig, or to that of this pod.
    ///
    /// # Errors
    ///
    /// There is no configuration, or it is invalid.
    pub async fn connect(namespace: Option<&str>) -> Result<Self, ClusterError> {
        // The kubelet sets the first variable in each pod; a user sets the second one.
        let is_inside = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
            && std::env::var_os("KUBECONFIG").is_none();
        let config = if is_inside {
            Config::incluster().map_err(|error| ClusterError::Access(error.to_string()))?
        } else {
            let options = KubeConfigOptions::default();
            Config::from_kubeconfig(&options)
                .await
                .map_err(|error| ClusterError::Access(error.to_string()))?
        };
        let namespace = namespace.unwrap_or(&config.default_namespace).to_owned();
        let client =
            Client::try_from(config).map_err(|error| ClusterError::Access(error.to_string()))?;
        Ok(Self { client, namespace, is_inside })
    }

    /// Creates the objects of a fleet. The Job is first, since its deadline removes all others.
    ///
    /// # Errors
    ///
    /// The cluster refuses an object. What was created is deleted.
    pub async fn create(&self, fleet: &mut KubernetesFleet) -> Result<(), ClusterError> {
        let created = self.create_all(fleet).await;
        if created.is_err() {
            self.delete(fleet).await;
        }
        created
    }

    async fn create_all(&self, fleet: &mut KubernetesFleet) -> Result<(), ClusterError> {
        let job: Job = self.create_one("Job", &fleet.name, fleet.job()).await?;
        fleet.job_uid = job.metadata.uid;
        if let Some(service) = fleet.nats_service() {
            let service: Service = self.create_one("Service", &fleet.nats_name(), service).await?;
            // The address, not the name, so that agents need no DNS for it.
            let address = service.spec.and_then(|spec| spec.cluster_ip).unwrap_or_default();
            let url = format!("nats://{address}:{NATS_PORT}");
            fleet.secret.insert("servers".into(), url);
        }
        let _: Secret = self.create_one("Secret", &fleet.name, fleet.secret()).await?;
        if let Some(pod) = fleet.nats_pod() {
            let _: Pod = self.create_one("Pod", &fleet.nats_name(), pod).await?;
        }
        Ok(())
    }

    async fn create_one<K>(&self, kind: &str, name: &str, object: Value) -> Result<K, ClusterError>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned
            + serde::Serialize,
        K::DynamicType: Default,
    {
        let what = format!("{kind} {name}");
        let object: K = serde_json::from_value(object).map_err(|error| ClusterError::Create {
            what: what.clone(),
            error: error.to_string(),
        })?;
        let api: Api<K> = Api::namespaced(self.client.clone(), &self.namespace);
        api.create(&PostParams::default(), &object)
            .await
            .map_err(|error| ClusterError::Create { what, error: explain(&error) })
    }

    /// Waits until all agents and NATS run. `tell` gets a line for each change, and the reasons of pods
    /// that do not run.
    ///
    /// # Errors
    ///
    /// Not all run at the deadline, or the cluster does not answer.
    pub async fn await_running(
        &self,
        fleet: &KubernetesFleet,
        deadline: Duration,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(), ClusterError> {
        let begin = Instant::now();
        let mut last = String::new();
        let mut known_reasons: Vec<String> = Vec::new();
        loop {
            let pods = self.pods(fleet).await?;
            let (servers, agents): (Vec<Pod>, Vec<Pod>) =
                pods.into_iter().partition(|pod| start::name(pod) == fleet.nats_name());
            let state = StartState::of(fleet.agents as usize, &agents);
            let server = StartState::of(servers.len(), &servers);
            let line = state.to_string();
            if line != last {
                tell(&line);
                last = line;
            }
            let mut reasons = [state.reasons(), server.reasons()].concat();
            if state.created < state.agents && begin.elapsed() > PATIENCE {
                reasons.extend(self.refusals(fleet).await);
            }
            if begin.elapsed() > PATIENCE {
                for reason in reasons.iter().filter(|reason| !known_reasons.contains(reason)) {
                    tell(reason);
                }
                known_reasons.extend(reasons.clone());
            }
            if state.running == state.agents && server.running == servers.len() {
                return Ok(());
            }
            if begin.elapsed() > deadline {
                let seconds = deadline.as_secs();
                return Err(ClusterError::Late { state: last, seconds, reasons });
            }
            sleep(LOOK).await;
        }
    }

    async fn pods(&self, fleet: &KubernetesFleet) -> Result<Vec<Pod>, ClusterError> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let labels =
            format!("app.kubernetes.io/name=brunt,app.kubernetes.io/instance={}", fleet.name);
        let pods = api.list(&ListParams::default().labels(&labels)).await;
        Ok(pods.map_err(no_answer)?.items)
    }

    /// Reasons why the cluster creates no pods of the Job, such as a quota.
    async fn refusals(&self, fleet: &KubernetesFleet) -> Vec<String> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &self.namespace);
        let fields =
            format!("involvedObject.kind=Job,involvedObject.name={},type=Warning", fleet.name);
        let Ok(events) = api.list(&ListParams::default().fields(&fields)).await else {
            return Vec::new();
        };
        let mut reasons: Vec<String> = events
            .items
            .into_iter()
            .map(|event| {
                format!(
                    "{}: {}",
                    event.reason.unwrap_or_default(),
                    event.message.unwrap_or_default()
                )
            })
            .collect();
        reasons.dedup();
        reasons.truncate(3);
        reasons
    }

    /// URLs at which this process may reach the fleet's own NATS, separated by commas.
    ///
    /// # Errors
    ///
    /// The cluster does not answer.
    pub async fn nats_servers(&self, fleet: &KubernetesFleet) -> Result<String, ClusterError> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let services: Api<Service> = Api::namespaced(self.client.clone(), &self.namespace);
        let status =
            pods.get(&fleet.nats_name()).await.map_err(no_answer)?.status.unwrap_or_default();
        let service = services.get(&fleet.nats_name()).await.map_err(no_answer)?;
        let spec = service.spec.unwrap_or_default();
        let node_port = spec.ports.iter().flatten().find_map(|port| port.node_port);
        let mut addresses = Vec::new();
        if self.is_inside {
            addresses.extend(spec.cluster_ip.map(|host| (host, NATS_PORT)));
        }
        addresses.extend(status.pod_ip.map(|host| (host, NATS_PORT)));
        let node_port = node_port.and_then(|port| u16::try_from(port).ok());
        addresses.extend(status.host_ip.zip(node_port));
        let servers: Vec<String> =
            addresses.iter().map(|(host, port)| nats_url(host, *port)).collect();
        Ok(servers.join(","))
    }

    /// Reads the Secret of a fleet.
    ///
    /// # Errors
    ///
    /// There is none, or the cluster does not answer.
    pub async fn secret(&self, name: &str) -> Result<BTreeMap<String, String>, ClusterError> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let data = api.get(name).await.map_err(no_answer)?.data.unwrap_or_default().into_iter();
        Ok(data.map(|(key, value)| (key, String::from_utf8_lossy(&value.0).into_owned())).collect())
    }

    /// Returns the cluster's reason why an agent's pod has ended or does not run. None if it gives none.
    pub async fn pod_reason(&self, fleet: &KubernetesFleet, index: &str) -> Option<String> {
        let pods = self.pods(fleet).await.ok()?;
        let mut of_index = pods.iter().filter(|pod| completion_index(pod) == Some(index));
        of_index.find_map(|pod| Some(format!("{}: {}", start::name(pod), start::reason(pod)?)))
    }

    /// Deletes the Job, and with it everything that it owns.
    pub async fn delete(&self, fleet: &KubernetesFleet) {
        let api: Api<Job> = Api::namespaced(self.client.clone(), &self.namespace);
        let parameters = DeleteParams {
            // By default, the API keeps the pods of a deleted Job of `batch/v1`.
            propagation_policy: Some(PropagationPolicy::Background),
            grace_period_seconds: Some(0),
            ..DeleteParams::default()
        };
        // The deadline of the Job deletes what this does not reach.
        _ = api.delete(&fleet.name, &parameters).await;
    }
}

/// Number of an agent's pod; None for other pods.
fn completion_index(pod: &Pod) -> Option<&str> {
    let annotations = pod.metadata.annotations.as_ref()?;
    annotations.get("batch.kubernetes.io/job-completion-index").map(String::as_str)
}

fn nats_url(host: &str, port: u16) -> String {
    // An IPv6 address is in brackets in a URL.
    if host.contains(':') {
        format!("nats://[{host}]:{port}")
    } else {
        format!("nats://{host}:{port}")
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of `map_err`")]
fn no_answer(error: kube::Error) -> ClusterError {
    ClusterError::Answer(explain(&error))
}

/// The reason of an error, with what to do.
fn explain(error: &kube::Error) -> String {
    match error {
        // A quota is a refusal with the same code.
        kube::Error::Api(status) if status.code == 403 && status.message.contains(" cannot ") => {
            format!("{}; `brunt fleet rbac` prints the role that is necessary", status.message)
        }
        kube::Error::Api(status) => status.message.clone(),
        other => {
            let mut texts = vec![other.to_string()];
            let mut cause = std::error::Error::source(other);
            while let Some(error) = cause {
                texts.push(error.to_string());
                cause = error.source();
            }
            texts.dedup();
            texts.join(": ")
        }
    }
}
