//! Settings of a run on several agents, and of the hosts that it may load.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, on, set, whole};
use crate::settings::{ArgumentContent, RunSettings, SettingKey, ValueForm};
use crate::words::placement as words;
use crate::words::{bytes, duration, placement};
use std::path::PathBuf;

type S = RunSettings;

const FLEET: &str = "Fleet";

const CLUSTER: &str = "Fleet on Kubernetes or NATS";

/// Agents that an option needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeededAgents {
    /// Agents anywhere.
    Any,
    /// Agents on Kubernetes or NATS.
    Cluster,
}

/// Returns the agents that an option needs; None if it needs none.
pub fn needed_agents(option: &str) -> Option<NeededAgents> {
    let row = ROWS.iter().find(|row| row.option == option)?;
    match (row.option, row.heading) {
        // A process without agents connects to no other hosts, either.
        ("on" | "allow-target", _) => None,
        (_, CLUSTER) => Some(NeededAgents::Cluster),
        _ => Some(NeededAgents::Any),
    }
}

/// Rows under the heading of a fleet.
pub static ROWS: [Row<RunSettings>; 24] = [
    Row {
        excludes: &["processes", "trace"],
        ..Row::value(
            "on",
            "PLACES",
            "Agents that share the load: ssh:HOST,HOST… (one on each host), k8s:N (pods), nats:N (agents that wait), local:N (processes here)",
            |w, _| set(placement::parse(w), |s: &mut S, v| s.fleet.on = Some(v)),
        )
        .under(FLEET)
        .suggestions(placement::suggestions)
        .keys(&[SettingKey::new("on", ValueForm::Value)])
    },
    Row::repeated(
        "allow-target",
        "HOST",
        "Host that may be loaded, as a name or an address; brunt connects to no other. Agents on other machines need it",
        |w, _| set(placement::host(w), |s: &mut S, v| s.fleet.allowed_targets.push(v)),
    )
    .under(FLEET)
    .keys(&[SettingKey::new("allow", ValueForm::Each)]),
    Row::value(
        "consent",
        "TOKEN",
        "Load a host that is not named if its file /.well-known/brunt-consent has this token",
        |w, _| set(placement::token(w), |s: &mut S, v| s.fleet.consent = Some(v)),
    )
    .under(FLEET)
    .keys(&[SettingKey::new("fleet.consent", ValueForm::Value)]),
    Row {
        excludes: &["group"],
        ..Row::value(
            "quiet-agents",
            "N",
            "The last N agents get 1 % of an open loop; their times show if the others make the server look slower than it is",
            |w, _| set(whole(w, 1, 1000), |s: &mut S, v| s.fleet.quiet = v),
        )
        .under(FLEET)
        .keys(&[SettingKey::new("fleet.quiet_agents", ValueForm::Value)])
    },
    Row::repeated(
        "group",
        "NAME=AGENT,AGENT",
        "Group of agents with figures of its own, which are compared with those of the other groups",
        |w, _| set(placement::group(w), |s: &mut S, v| s.fleet.groups.push(v)),
    )
    .under(FLEET)
    .keys(&[SettingKey::new("fleet.groups", ValueForm::Each)]),
    Row {
        excludes: &["group", "quiet-agents"],
        ..Row::value(
            "group-by",
            "WHAT",
            "The groups of agents on Kubernetes are the zones of their nodes",
            |w, _| set(Ok::<_, String>(w == "zone"), |s: &mut S, v| s.fleet.by_zone = v),
        )
        .under(FLEET)
        .content(ArgumentContent::Choice(&["zone"]))
        .keys(&[SettingKey::new("fleet.group_by", ValueForm::Value)])
    },
    Row::value(
        "lease",
        "TIME",
        "An agent that hears nothing from here for this time stops its load; default on NATS: 15s, on this machine: no limit",
        |w, _| set(duration::positive(w), |s: &mut S, v| s.fleet.lease = v),
    )
    .under(FLEET)
    .default(defaults::LEASE)
    .keys(&[SettingKey::new("fleet.lease", ValueForm::Value)]),
    Row::value(
        "agent-bytes",
        "BYTES",
        "Bytes per second from each agent; above it, figures of labels come less often, and no figure changes",
        |w, _| set(bytes::parse(w), |s: &mut S, v| s.fleet.bytes_per_second = v),
    )
    .under(FLEET)
    .default(defaults::AGENT_BYTES)
    .keys(&[SettingKey::new("fleet.agent_bytes", ValueForm::Value)]),
    Row::repeated(
        "agent-binary",
        "FILE",
        "brunt for agents whose machines have another architecture",
        |w, _| set(Ok::<_, String>(PathBuf::from(w)), |s: &mut S, v| s.fleet.programs.push(v)),
    )
    .under(FLEET)
    .content(ArgumentContent::Path),
    Row::value(
        "nats",
        "URL",
        "Servers of NATS that carry the messages of the agents, such as nats://host:4222; several with commas",
        |w, _| set(words::nats_servers(w), |s: &mut S, v| s.fleet.cluster.nats = Some(v)),
    )
    .under(CLUSTER)
    .keys(&[SettingKey::new("fleet.nats", ValueForm::Value)]),
    Row::value(
        "nats-nkey",
        "FILE",
        "File with the seed of brunt's nkey, if the servers of NATS need one",
        |w, _| set(Ok::<_, String>(PathBuf::from(w)), |s: &mut S, v| s.fleet.cluster.nkey_file = Some(v)),
    )
    .under(CLUSTER)
    .content(ArgumentContent::Path)
    .keys(&[SettingKey::new("fleet.nats_nkey", ValueForm::Value)]),
    Row::value(
        "fleet-name",
        "NAME",
        "Name of the fleet of agents that wait on NATS",
        |w, _| set(words::fleet_name(w), |s: &mut S, v| s.fleet.cluster.fleet = Some(v)),
    )
    .under(CLUSTER)
    .keys(&[SettingKey::new("fleet.name", ValueForm::Value)]),
    Row::value(
        "fleet-key",
        "FILE",
        "File with the key of this fleet, made by `brunt fleet key`",
        |w, _| set(Ok::<_, String>(PathBuf::from(w)), |s: &mut S, v| s.fleet.cluster.key_file = Some(v)),
    )
    .under(CLUSTER)
    .content(ArgumentContent::Path)
    .keys(&[SettingKey::new("fleet.key", ValueForm::Value)]),
    Row::value(
        "image",
        "IMAGE",
        "Image of the agents on Kubernetes, made by `brunt fleet image`",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.image = Some(v)),
    )
    .under(CLUSTER)
    .keys(&[SettingKey::new("fleet.image", ValueForm::Value)]),
    Row::value(
        "image-pull",
        "WHEN",
        "When Kubernetes pulls images",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.image_pull_policy = Some(v)),
    )
    .under(CLUSTER)
    .content(ArgumentContent::Choice(&["Always", "IfNotPresent", "Never"]))
    .keys(&[SettingKey::new("fleet.image_pull", ValueForm::Value)]),
    Row::value(
        "nats-image",
        "IMAGE",
        "Image of the server of NATS that is started beside the agents",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.nats_image = v),
    )
    .under(CLUSTER)
    .default(defaults::NATS_IMAGE)
    .keys(&[SettingKey::new("fleet.nats_image", ValueForm::Value)]),
    Row::value(
        "namespace",
        "NAME",
        "Namespace of the pods",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.namespace = Some(v)),
    )
    .under(CLUSTER)
    .keys(&[SettingKey::new("fleet.namespace", ValueForm::Value)]),
    Row::value(
        "agent-cpu",
        "CPU",
        "CPU of each pod, as request and limit",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.cpu = v),
    )
    .under(CLUSTER)
    .default(defaults::AGENT_CPU)
    .keys(&[SettingKey::new("fleet.agent_cpu", ValueForm::Value)]),
    Row::value(
        "agent-memory",
        "SIZE",
        "Memory of each pod, as request and limit",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.memory = v),
    )
    .under(CLUSTER)
    .default(defaults::AGENT_MEMORY)
    .keys(&[SettingKey::new("fleet.agent_memory", ValueForm::Value)]),
    Row::repeated(
        "node-selector",
        "LABEL=VALUE",
        "Label that the nodes of the pods must have",
        |w, _| set(words::label(w), |s: &mut S, v| s.fleet.cluster.node_selector.push(v)),
    )
    .under(CLUSTER)
    .keys(&[SettingKey::new("fleet.node_selector", ValueForm::Each)]),
    Row::value(
        "start-deadline",
        "TIME",
        "Time until all agents must run",
        |w, _| set(duration::positive(w), |s: &mut S, v| s.fleet.cluster.start_deadline = v),
    )
    .under(CLUSTER)
    .default(defaults::START_DEADLINE)
    .keys(&[SettingKey::new("fleet.start_deadline", ValueForm::Value)]),
    Row::value(
        "fleet-deadline",
        "TIME",
        "Time after which Kubernetes removes the pods, whatever happens here",
        |w, _| set(duration::positive(w), |s: &mut S, v| s.fleet.cluster.deadline = v),
    )
    .under(CLUSTER)
    .default(defaults::FLEET_DEADLINE)
    .keys(&[SettingKey::new("fleet.deadline", ValueForm::Value)]),
    Row::value(
        "keep",
        "WHEN",
        "Whether pods stay for an hour after a failure",
        |w, _| set(Ok::<_, String>(w.to_owned()), |s: &mut S, v| s.fleet.cluster.keep_on_failure = v == "on-failure"),
    )
    .under(CLUSTER)
    .content(ArgumentContent::Choice(&["never", "on-failure"]))
    .default("never")
    .keys(&[SettingKey::new("fleet.keep", ValueForm::Value)]),
    Row::switch(
        "replace-lost",
        "A pod that Kubernetes starts in place of a lost one goes on with the share of the lost one",
        |_, _| Ok(on(|s: &mut S| s.fleet.cluster.replace_lost = true)),
    )
    .under(CLUSTER)
    .keys(&[SettingKey::new("fleet.replace_lost", ValueForm::IfTrue)]),
];
