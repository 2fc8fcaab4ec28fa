//! Rules between the settings of a fleet.

use crate::defaults;
use crate::error::{Result, require};
use crate::settings::RunSettings;
use crate::settings::rows::fleet::{NeededAgents, needed_agents};
use crate::words::{bytes, duration};
use brunt_model::{FleetSettings, Placement};
use std::time::Duration;

/// Returns the settings of agents at these places, with the defaults of everything else.
///
/// # Errors
///
/// Never: the defaults are valid.
pub fn fleet_on(on: Placement) -> Result<FleetSettings> {
    Ok(FleetSettings {
        on,
        lease: duration::positive(defaults::LEASE)?,
        bytes_per_second: bytes::parse(defaults::AGENT_BYTES)?,
        consent: None,
        quiet: 0,
        groups: Vec::new(),
        by_zone: false,
        cluster: None,
    })
}

/// Returns the settings of the agents; None without agents.
///
/// # Errors
///
/// The settings exclude each other.
pub fn fleet(settings: &RunSettings) -> Result<Option<FleetSettings>> {
    let agents = &settings.fleet;
    let sources = &settings.sources;
    let is_on_nats = agents.on.as_ref().is_some_and(Placement::is_on_nats);
    for option in sources.options() {
        let needed = needed_agents(option);
        require!(sources, needed.is_none() || agents.on.is_some(), |names| format!(
            "{} is for agents; write {} PLACES, too",
            names.name_of(option),
            names.name_of("on")
        ));
        require!(sources, needed != Some(NeededAgents::Cluster) || is_on_nats, |names| format!(
            "{} is for agents on Kubernetes or NATS; write {} k8s:N or nats:N",
            names.name_of(option),
            names.name_of("on")
        ));
    }
    let Some(on) = &agents.on else { return Ok(None) };
    require!(
        sources,
        !on.is_elsewhere() || settings.connection.unix_socket.is_none(),
        |names| format!(
            "{} and {} exclude each other: a Unix socket is on one machine",
            names.name_of("on"),
            names.name_of("unix-socket")
        )
    );
    let cluster = &agents.cluster;
    require!(
        sources,
        !matches!(on, Placement::Kubernetes(_)) || cluster.image.is_some(),
        |names| format!(
            "{on}: write {} IMAGE, the image that `brunt fleet image` makes",
            names.name_of("image")
        )
    );
    let names_fleet =
        cluster.nats.is_some() && cluster.fleet.is_some() && cluster.key_file.is_some();
    require!(sources, !matches!(on, Placement::Nats(_)) || names_fleet, |names| format!(
        "{on}: write {} URL, {} NAME and {} FILE, as the agents have them",
        names.name_of("nats"),
        names.name_of("fleet-name"),
        names.name_of("fleet-key")
    ));
    let lease = match on {
        _ if sources.options().any(|option| option == "lease") => agents.lease,
        // A pipe of this machine cannot be cut.
        Placement::Local(_) => Duration::ZERO,
        _ if on.is_on_nats() => duration::positive(defaults::NATS_LEASE)?,
        _ => agents.lease,
    };
    require!(sources, (agents.quiet as usize) < on.agents(), |names| format!(
        "{} {}: at least one of the {} agents must not be quiet",
        names.name_of("quiet-agents"),
        agents.quiet,
        on.agents()
    ));
    require!(sources, !agents.by_zone || matches!(on, Placement::Kubernetes(_)), |names| format!(
        "{}: {on} has no zones; write {} k8s:N, or name the groups: {} NAME=AGENT,AGENT",
        names.name_of("group-by"),
        names.name_of("on"),
        names.name_of("group")
    ));
    require!(sources, !agents.by_zone || !cluster.replace_lost, |names| format!(
        "{} and {} exclude each other: the other pod may be in another zone",
        names.name_of("group-by"),
        names.name_of("replace-lost")
    ));
    let groups = &agents.groups;
    for (number, group) in groups.iter().enumerate() {
        let earlier = &groups[..number];
        require!(sources, earlier.iter().all(|other| other.name != group.name), |names| format!(
            "{} {}: this group occurs twice; write all of its agents at once",
            names.name_of("group"),
            group.name
        ));
        let twice = group
            .agents
            .iter()
            .find(|agent| earlier.iter().any(|other| other.agents.contains(agent)));
        require!(sources, twice.is_none(), |names| format!(
            "{} {}: the agent {} is in another group, too",
            names.name_of("group"),
            group.name,
            twice.map_or("", |agent| agent)
        ));
    }
    let settings = FleetSettings {
        on: on.clone(),
        lease,
        bytes_per_second: agents.bytes_per_second,
        consent: agents.consent.clone(),
        quiet: agents.quiet,
        groups: groups.clone(),
        by_zone: agents.by_zone,
        cluster: on.is_on_nats().then(|| cluster.clone()),
    };
    // The names of agents that wait are known only when they have announced themselves.
    let wrong = on.agent_names().and_then(|names| settings.check_groups(&names).err());
    require!(sources, wrong.is_none(), |names| format!(
        "{}: {}",
        names.name_of("group"),
        wrong.unwrap_or_default()
    ));
    Ok(Some(settings))
}
