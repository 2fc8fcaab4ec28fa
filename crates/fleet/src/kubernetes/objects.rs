//! The objects of a fleet on Kubernetes.
//!
//! An indexed Job runs the agents. Its deadline ends it whatever happens to the controller, and its TTL then
//! deletes it. It owns all other objects, so they are deleted with it: the Secret of the run, and the
//! server of NATS with its Service.

use super::{KeepPods, KubernetesFleet, NatsPod};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Directory of the Secret in the pods.
pub const SECRET_FOLDER: &str = "/etc/brunt";

/// Port on which NATS accepts clients.
pub const NATS_PORT: u16 = 4222;

/// User in the pods, which have no root.
const USER: u32 = 65532;

/// Seconds after which a finished Job is deleted.
const TTL_SECONDS: u64 = 20;

/// The same with `--keep on-failure`: time to look at pods that failed.
const TTL_KEPT_SECONDS: u64 = 3600;

/// Seconds for which an agent's node may be unreachable.
const NODE_TOLERATION_SECONDS: u64 = 3;

/// Number of times that a lost pod is replaced. A replacement announces itself and gets no load.
const RETRIES: u32 = 3;

impl KubernetesFleet {
    /// The Job with the agents.
    pub fn job(&self) -> Value {
        let is_kept = self.keep == KeepPods::OnFailure;
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "name": self.name, "namespace": self.namespace, "labels": self.labels("agents") },
            "spec": {
                "completionMode": "Indexed",
                "completions": self.agents,
                "parallelism": self.agents,
                "backoffLimitPerIndex": RETRIES,
                "maxFailedIndexes": self.agents,
                "activeDeadlineSeconds": self.deadline.as_secs(),
                "ttlSecondsAfterFinished": if is_kept { TTL_KEPT_SECONDS } else { TTL_SECONDS },
                "template": {
                    "metadata": { "labels": self.pod_labels("agents"), "annotations": annotations() },
                    "spec": self.agent_pod(),
                },
            },
        })
    }

    fn agent_pod(&self) -> Value {
        let mut pod = json!({
            // `backoffLimitPerIndex` requires it.
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 2,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "securityContext": pod_security(),
            "nodeSelector": self.node_selector,
            "tolerations": tolerations(),
            "affinity": { "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": { "matchLabels": self.labels("agents") },
                },
            }] } },
            "topologySpreadConstraints": [{
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": { "matchLabels": self.labels("agents") },
            }],
            "containers": [{
                "name": "agent",
                "image": self.image,
                "args": self.arguments,
                "env": [{
                    "name": "BRUNT_AGENT_NAME",
                    "valueFrom": { "fieldRef": {
                        "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']",
                    } },
                }],
                "resources": resources(&self.cpu, &self.memory),
                "securityContext": container_security(),
                "volumeMounts": mounts(),
            }],
            "volumes": self.volumes(None),
        });
        self.set_pull_policy(&mut pod);
        pod
    }

    /// The Secret with the keys of the run.
    pub fn secret(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": self.owned("agents", &self.name),
            "type": "Opaque",
            "immutable": true,
            "stringData": self.secret,
        })
    }

    /// The server of NATS, if the fleet has its own.
    pub fn nats_pod(&self) -> Option<Value> {
        let nats = self.nats.as_ref()?;
        let mut metadata = self.owned("nats", &self.nats_name());
        metadata["labels"] = self.pod_labels("nats");
        metadata["annotations"] = annotations();
        let mut spec = json!({
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 2,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            // Also if the Job that owns it is never deleted.
            "activeDeadlineSeconds": self.deadline.as_secs(),
            "securityContext": pod_security(),
            "nodeSelector": self.node_selector,
            "tolerations": tolerations(),
            "containers": [{
                "name": "nats",
                "image": nats.image,
                "args": ["-c", format!("{SECRET_FOLDER}/nats.conf")],
                "ports": [{ "containerPort": NATS_PORT }],
                "readinessProbe": { "tcpSocket": { "port": NATS_PORT }, "periodSeconds": 1 },
                "resources": resources(&nats.cpu, &nats.memory),
                "securityContext": container_security(),
                "volumeMounts": mounts(),
            }],
            "volumes": self.volumes(Some(nats)),
        });
        self.set_pull_policy(&mut spec);
        Some(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec }))
    }

    /// The Service of NATS. Outside of the cluster it is reached through a port of the nodes.
    pub fn nats_service(&self) -> Option<Value> {
        let nats = self.nats.as_ref()?;
        Some(json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": self.owned("nats", &self.nats_name()),
            "spec": {
                "type": if nats.is_reached_from_outside { "NodePort" } else { "ClusterIP" },
                "selector": self.labels("nats"),
                "ports": [{ "name": "nats", "port": NATS_PORT, "targetPort": NATS_PORT }],
            },
        }))
    }

    /// Everything that would be created, in order. Values of the Secret are left out.
    pub fn manifest(&self) -> Vec<Value> {
        let mut secret = self.secret();
        for value in self.secret.keys() {
            secret["stringData"][value] = "…".into();
        }
        [self.nats_service(), Some(self.job()), Some(secret), self.nats_pod()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Name of the pod and the Service of NATS.
    pub fn nats_name(&self) -> String {
        format!("{}-nats", self.name)
    }

    fn labels(&self, component: &str) -> Value {
        json!({
            "app.kubernetes.io/name": "brunt",
            "app.kubernetes.io/instance": self.name,
            "app.kubernetes.io/component": component,
        })
    }

    /// Labels of pods, which no service mesh changes.
    fn pod_labels(&self, component: &str) -> Value {
        let mut labels = self.labels(component);
        labels["sidecar.istio.io/inject"] = "false".into();
        labels
    }

    /// Metadata of an object that the Job owns, once the Job is known.
    fn owned(&self, component: &str, name: &str) -> Value {
        let mut metadata = json!({
            "name": name,
            "namespace": self.namespace,
            "labels": self.labels(component),
        });
        if let Some(uid) = &self.job_uid {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": self.name,
                "uid": uid,
            }]);
        }
        metadata
    }

    fn volumes(&self, nats: Option<&NatsPod>) -> Value {
        let temporary = match nats {
            Some(nats) => json!({ "sizeLimit": nats.storage }),
            None => json!({}),
        };
        json!([
            { "name": "secret", "secret": { "secretName": self.name, "defaultMode": 0o444 } },
            { "name": "temporary", "emptyDir": temporary },
        ])
    }

    fn set_pull_policy(&self, pod: &mut Value) {
        if let Some(policy) = &self.image_pull_policy {
            pod["containers"][0]["imagePullPolicy"] = policy.clone().into();
        }
    }
}

fn annotations() -> Value {
    json!({ "sidecar.istio.io/inject": "false", "linkerd.io/inject": "disabled" })
}

/// Security of the level "restricted" (Pod Security Standards).
fn pod_security() -> Value {
    json!({
        "runAsNonRoot": true,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

fn container_security() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": { "drop": ["ALL"] },
    })
}

/// Equal requests and limits: the quality of service is Guaranteed.
fn resources(cpu: &str, memory: &str) -> Value {
    let amounts = json!({ "cpu": cpu, "memory": memory });
    json!({ "requests": amounts, "limits": amounts })
}

fn tolerations() -> Value {
    let keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    let tolerations = keys.map(|key| {
        json!({
            "key": key,
            "operator": "Exists",
            "effect": "NoExecute",
            // Kubernetes waits for 300 s otherwise.
            "tolerationSeconds": NODE_TOLERATION_SECONDS,
        })
    });
    json!(tolerations)
}

fn mounts() -> Value {
    json!([
        { "name": "secret", "mountPath": SECRET_FOLDER, "readOnly": true },
        { "name": "temporary", "mountPath": "/tmp" },
    ])
}

/// The smallest role of a controller, with a service account that has it. `has_zones` adds the right to read
/// nodes, which concerns the whole cluster.
pub fn rbac(namespace: &str, has_zones: bool) -> Vec<Value> {
    let mut objects = namespaced_role(namespace);
    if has_zones {
        objects.extend(node_role(namespace));
    }
    objects
}

fn namespaced_role(namespace: &str) -> Vec<Value> {
    let metadata = json!({ "name": "brunt", "namespace": namespace });
    vec![
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": metadata,
            "rules": [
                rule("batch", &["jobs"], &["create", "get", "delete"]),
                rule("", &["secrets"], &["create", "get"]),
                rule("", &["services"], &["create", "get"]),
                rule("", &["pods"], &["create", "get", "list"]),
                rule("", &["events"], &["list"]),
            ],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "brunt" },
            "subjects": [{ "kind": "ServiceAccount", "name": "brunt", "namespace": namespace }],
        }),
    ]
}

fn node_role(namespace: &str) -> [Value; 2] {
    let metadata = json!({ "name": format!("brunt-zones-{namespace}") });
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": metadata,
            "rules": [rule("", &["nodes"], &["get"])],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": metadata["name"],
            },
            "subjects": [{ "kind": "ServiceAccount", "name": "brunt", "namespace": namespace }],
        }),
    ]
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
}

/// An example of a NetworkPolicy: agents reach NATS, names and the target, and nobody reaches agents.
pub fn network_policy(namespace: &str, target: &str) -> Value {
    let brunt: BTreeMap<&str, &str> = [("app.kubernetes.io/name", "brunt")].into();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": { "name": "brunt-agents", "namespace": namespace },
        "spec": {
            "podSelector": { "matchLabels": { "app.kubernetes.io/name": "brunt", "app.kubernetes.io/component": "agents" } },
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [],
            "egress": [
                { "to": [{ "podSelector": { "matchLabels": brunt } }], "ports": [{ "port": NATS_PORT, "protocol": "TCP" }] },
                { "ports": [{ "port": 53, "protocol": "UDP" }, { "port": 53, "protocol": "TCP" }] },
                { "to": [{ "ipBlock": { "cidr": target } }] },
            ],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::batch::v1::Job;
    use k8s_openapi::api::core::v1::{Pod, Secret, Service};
    use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
    use std::time::Duration;

    fn fleet() -> KubernetesFleet {
        KubernetesFleet {
            name: "brunt-ab".into(),
            namespace: "load".into(),
            agents: 20,
            image: "example.org/brunt:1".into(),
            image_pull_policy: None,
            arguments: vec!["agent".into()],
            cpu: "2".into(),
            memory: "1Gi".into(),
            node_selector: [("pool".to_owned(), "load".to_owned())].into(),
            deadline: Duration::from_mins(90),
            keep: KeepPods::Never,
            nats: Some(NatsPod {
                image: "nats:1".into(),
                cpu: "1".into(),
                memory: "256Mi".into(),
                storage: "1Gi".into(),
                is_reached_from_outside: false,
            }),
            secret: [("key".to_owned(), "hunter2".to_owned())].into(),
            job_uid: Some("uid-1".into()),
        }
    }

    /// The pods of a fleet: that of an agent and that of NATS.
    fn pods() -> [Value; 2] {
        let job = fleet().job();
        [job["spec"]["template"].clone(), fleet().nats_pod().unwrap()]
    }

    #[test]
    fn the_objects_are_those_of_kubernetes() {
        let fleet = fleet();
        let job: Job = serde_json::from_value(fleet.job()).unwrap();
        let spec = job.spec.unwrap();
        assert_eq!((spec.completions, spec.parallelism), (Some(20), Some(20)));
        assert_eq!(spec.active_deadline_seconds, Some(5400));
        assert_eq!(spec.ttl_seconds_after_finished, Some(20));
        let _: Secret = serde_json::from_value(fleet.secret()).unwrap();
        let _: Service = serde_json::from_value(fleet.nats_service().unwrap()).unwrap();
        let _: Pod = serde_json::from_value(fleet.nats_pod().unwrap()).unwrap();
        let kept = KubernetesFleet { keep: KeepPods::OnFailure, ..fleet };
        assert_eq!(kept.job()["spec"]["ttlSecondsAfterFinished"], 3600);
    }

    #[test]
    fn the_job_owns_all_other_objects() {
        let fleet = fleet();
        for object in [fleet.secret(), fleet.nats_service().unwrap(), fleet.nats_pod().unwrap()] {
            let owner = &object["metadata"]["ownerReferences"][0];
            assert_eq!((&owner["kind"], &owner["uid"]), (&json!("Job"), &json!("uid-1")));
        }
    }

    #[test]
    fn pods_are_restricted_guaranteed_and_in_no_mesh() {
        for pod in pods() {
            let (metadata, spec) = (&pod["metadata"], &pod["spec"]);
            assert_eq!(metadata["labels"]["sidecar.istio.io/inject"], "false");
            assert_eq!(metadata["annotations"]["linkerd.io/inject"], "disabled");
            assert_eq!(spec["automountServiceAccountToken"], false);
            assert_eq!(spec["securityContext"]["runAsNonRoot"], true);
            assert_eq!(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
            let container = &spec["containers"][0];
            let security = &container["securityContext"];
            assert_eq!(security["allowPrivilegeEscalation"], false);
            assert_eq!(security["capabilities"]["drop"], json!(["ALL"]));
            assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
            assert_eq!(spec["tolerations"][1]["tolerationSeconds"], 3);
            assert_eq!(spec["nodeSelector"]["pool"], "load");
        }
    }

    #[test]
    fn a_manifest_has_no_secret() {
        let manifest = Value::from(fleet().manifest());
        let kinds: Vec<_> = manifest.as_array().unwrap().iter().map(|one| &one["kind"]).collect();
        assert_eq!(kinds, ["Service", "Job", "Secret", "Pod"]);
        assert!(!manifest.to_string().contains("hunter2"));
        let named = KubernetesFleet { nats: None, ..fleet() };
        assert_eq!(named.manifest().len(), 2, "the user's NATS needs no object");
    }

    #[test]
    fn the_role_permits_nothing_else() {
        assert_eq!(rbac("load", false).len(), 3);
        let objects = rbac("load", true);
        let role: ClusterRole = serde_json::from_value(objects[3].clone()).unwrap();
        let rules = role.rules.unwrap();
        assert_eq!((rules.len(), rules[0].verbs.clone()), (1, vec!["get".to_owned()]));
        assert_eq!(rules[0].resources, Some(vec!["nodes".to_owned()]));
        let binding: ClusterRoleBinding = serde_json::from_value(objects[4].clone()).unwrap();
        assert_eq!(Some(binding.role_ref.name), role.metadata.name);
        let role = &objects[1];
        let verbs: Vec<String> = role["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| format!("{} {}", rule["resources"], rule["verbs"]))
            .collect();
        assert_eq!(
            verbs,
            [
                r#"["jobs"] ["create","get","delete"]"#,
                r#"["secrets"] ["create","get"]"#,
                r#"["services"] ["create","get"]"#,
                r#"["pods"] ["create","get","list"]"#,
                r#"["events"] ["list"]"#,
            ]
        );
    }
}
