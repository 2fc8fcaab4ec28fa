//! Zones of a fleet's agents.

use super::{Cluster, ClusterError, KubernetesFleet, completion_index, explain};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Error;
use kube::api::Api;
use std::collections::BTreeMap;

/// Label of a node with its zone.
const ZONE: &str = "topology.kubernetes.io/zone";

impl Cluster {
    /// Returns the zone of each agent, by the number of its pod.
    ///
    /// # Errors
    ///
    /// Nodes cannot be read, or have no zone.
    pub async fn zones(
        &self,
        fleet: &KubernetesFleet,
    ) -> Result<BTreeMap<String, String>, ClusterError> {
        let api: Api<Node> = Api::all(self.client.clone());
        let places = nodes_of_agents(&self.pods(fleet).await?);
        let mut zones: BTreeMap<&str, String> = BTreeMap::new();
        for name in places.values() {
            if !zones.contains_key(name.as_str()) {
                zones.insert(name, zone(name, &api.get(name).await.map_err(no_nodes)?)?);
            }
        }
        Ok(places
            .iter()
            .map(|(index, name)| (index.clone(), zones[name.as_str()].clone()))
            .collect())
    }
}

/// Name of the node of each agent, by the number of its pod.
fn nodes_of_agents(pods: &[Pod]) -> BTreeMap<String, String> {
    let place = |pod: &Pod| {
        let node = pod.spec.as_ref()?.node_name.clone()?;
        Some((completion_index(pod)?.to_owned(), node))
    };
    pods.iter().filter_map(place).collect()
}

fn zone(name: &str, node: &Node) -> Result<String, ClusterError> {
    let zone = node.metadata.labels.as_ref().and_then(|labels| labels.get(ZONE));
    zone.cloned().ok_or_else(|| {
        ClusterError::Zones(format!(
            "the node {name} has no label {ZONE}; add it (kubectl label node {name} {ZONE}=NAME)"
        ))
    })
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of `map_err`")]
fn no_nodes(error: Error) -> ClusterError {
    ClusterError::Zones(match &error {
        Error::Api(status) if status.code == 403 => {
            format!(
                "{}; `brunt fleet rbac --zones` prints the role that is necessary",
                status.message
            )
        }
        other => explain(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn agents_are_found_on_their_nodes() {
        let pod = |index: Option<&str>, node: Option<&str>| {
            let annotations =
                index.map(|index| json!({ "batch.kubernetes.io/job-completion-index": index }));
            let pod = json!({
                "metadata": { "annotations": annotations },
                "spec": { "containers": [], "nodeName": node },
            });
            serde_json::from_value(pod).unwrap()
        };
        // The pod of NATS has no number.
        let pods = [
            pod(Some("1"), Some("n1")),
            pod(None, Some("n2")),
            pod(Some("0"), Some("n2")),
            pod(Some("2"), None),
        ];
        let expected = [("0", "n2"), ("1", "n1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(nodes_of_agents(&pods), expected.into());
    }

    #[test]
    fn a_node_without_a_zone_is_an_error_that_says_what_to_do() {
        let node = |labels: serde_json::Value| -> Node {
            serde_json::from_value(json!({ "metadata": { "labels": labels } })).unwrap()
        };
        let labeled = node(json!({ "topology.kubernetes.io/zone": "eu-1a" }));
        assert_eq!(zone("n1", &labeled).unwrap(), "eu-1a");
        assert_eq!(
            zone("n1", &node(json!({}))).unwrap_err().to_string(),
            "no zones for --group-by zone: the node n1 has no label topology.kubernetes.io/zone; add it (kubectl \
             label node n1 topology.kubernetes.io/zone=NAME)"
        );
    }

    #[test]
    fn a_refusal_names_the_command_that_prints_the_role() {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 403, "reason": "Forbidden",
            "message": "nodes \"n1\" is forbidden: User \"u\" cannot get resource \"nodes\"",
        });
        let error = Error::Api(serde_json::from_value(status).unwrap());
        let text = no_nodes(error).to_string();
        assert!(
            text.ends_with("; `brunt fleet rbac --zones` prints the role that is necessary"),
            "{text}"
        );
    }
}
