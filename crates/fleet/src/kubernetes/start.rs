//! What the cluster says about the start of a fleet's pods.

use k8s_openapi::api::core::v1::Pod;
use std::fmt;

/// State of the start of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartState {
    /// Number of pods that are to run.
    pub agents: usize,
    /// Pods that the Job has created.
    pub created: usize,
    /// Pods that have a node.
    pub scheduled: usize,
    /// Pods whose container runs.
    pub running: usize,
    /// Pods that do not run, each with the cluster's reason, if it gives one.
    pub waiting: Vec<(String, String)>,
}

impl fmt::Display for StartState {
    /// Counts as a line of progress.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agents, created, scheduled, running, .. } = self;
        write!(f, "pods: {created} of {agents} created, {scheduled} scheduled, {running} running")
    }
}

impl StartState {
    /// Counts pods of the agents. A pod that failed counts as created only.
    pub fn of(agents: usize, pods: &[Pod]) -> Self {
        let mut state = Self { agents, ..Self::default() };
        for pod in pods {
            state.created += 1;
            state.scheduled += usize::from(is_scheduled(pod));
            if is_running(pod) {
                state.running += 1;
            } else {
                state.waiting.push((name(pod), reason(pod).unwrap_or_default()));
            }
        }
        state
    }

    /// The distinct reasons of the pods that do not run, each with one pod and their number.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, &str, usize)> = Vec::new();
        for (pod, reason) in self.waiting.iter().filter(|(_, reason)| !reason.is_empty()) {
            match reasons.iter_mut().find(|(known, ..)| known == reason) {
                Some((.., count)) => *count += 1,
                None => reasons.push((reason, pod, 1)),
            }
        }
        let line = |(reason, pod, count): (&str, &str, usize)| match count {
            1 => format!("{pod}: {reason}"),
            count => format!("{pod} and {} more: {reason}", count - 1),
        };
        reasons.into_iter().map(line).collect()
    }
}

/// Name of a pod.
pub fn name(pod: &Pod) -> String {
    pod.metadata.name.clone().unwrap_or_default()
}

fn is_scheduled(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some())
}

/// True if the container of a pod runs.
pub fn is_running(pod: &Pod) -> bool {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    statuses.is_some_and(|all| {
        !all.is_empty()
            && all.iter().all(|one| one.state.as_ref().is_some_and(|state| state.running.is_some()))
    })
}

/// Joins a reason and its message. None if both are empty.
fn text(reason: Option<&String>, message: Option<&String>) -> Option<String> {
    let both = [reason, message].into_iter().flatten().map(|text| text.trim());
    let parts: Vec<&str> = both.filter(|text| !text.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

/// Returns the cluster's own reason why a pod does not run, or why it has ended. None if it gives none.
pub fn reason(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    for container in status.container_statuses.iter().flatten() {
        let Some(state) = &container.state else { continue };
        // `ContainerCreating` comes before each normal start, so it is no problem.
        if let Some(waiting) = &state.waiting
            && waiting.reason.as_deref() != Some("ContainerCreating")
        {
            return text(waiting.reason.as_ref(), waiting.message.as_ref());
        }
        if let Some(ended) = &state.terminated {
            let reason = text(ended.reason.as_ref(), ended.message.as_ref()).unwrap_or_default();
            return Some(format!("{reason} (exit code {})", ended.exit_code));
        }
    }
    let own = text(status.reason.as_ref(), status.message.as_ref());
    own.or_else(|| {
        let conditions = status.conditions.iter().flatten();
        let mut unmet = conditions.filter(|condition| condition.status == "False");
        let unscheduled = unmet.find(|condition| condition.type_ == "PodScheduled")?;
        text(unscheduled.reason.as_ref(), unscheduled.message.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(name: &str, node: Option<&str>, status: &serde_json::Value) -> Pod {
        let pod = json!({
            "metadata": { "name": name },
            "spec": { "containers": [], "nodeName": node },
            "status": status,
        });
        serde_json::from_value(pod).unwrap()
    }

    fn with_state(state: &serde_json::Value) -> serde_json::Value {
        let status = json!({
            "name": "agent", "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": state,
        });
        json!({ "containerStatuses": [status] })
    }

    #[test]
    fn the_reasons_are_those_of_the_cluster() {
        let unscheduled = json!({ "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/3 nodes are available: 3 Insufficient cpu.",
        }] });
        let waiting =
            json!({ "waiting": { "reason": "ImagePullBackOff", "message": "no such image" } });
        let pods = [
            pod("a", None, &unscheduled),
            pod("b", None, &unscheduled),
            pod("c", Some("n1"), &with_state(&waiting)),
            pod(
                "d",
                Some("n1"),
                &with_state(&json!({ "waiting": { "reason": "ContainerCreating" } })),
            ),
            pod("e", Some("n1"), &with_state(&json!({ "running": {} }))),
            pod(
                "f",
                Some("n1"),
                &with_state(&json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled" } })),
            ),
        ];
        let state = StartState::of(7, &pods);
        assert_eq!(state.to_string(), "pods: 6 of 7 created, 4 scheduled, 1 running");
        assert_eq!(
            state.reasons(),
            [
                "a and 1 more: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.",
                "c: ImagePullBackOff: no such image",
                "f: OOMKilled (exit code 137)",
            ]
        );
    }
}
