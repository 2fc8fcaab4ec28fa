//! Rules between the settings of a fleet.

use crate::defaults;
use crate::error::{Result, require};
use crate::settings::RunSettings;
use crate::words::{bytes, duration};
use brunt_model::{FleetSettings, Placement};

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
    })
}

/// Returns the settings of the agents; None without agents.
///
/// # Errors
///
/// The settings exclude each other.
pub fn fleet(settings: &RunSettings) -> Result<Option<FleetSettings>> {
    let agents = &settings.fleet;
    let Some(on) = &agents.on else { return Ok(None) };
    let sources = &settings.sources;
    let are_elsewhere = matches!(on, Placement::Ssh(_));
    require!(
        sources,
        !are_elsewhere || settings.connection.unix_socket.is_none(),
        |names| format!(
            "{} and {} exclude each other: a Unix socket is on one machine",
            names.name_of("on"),
            names.name_of("unix-socket")
        )
    );
    Ok(Some(FleetSettings {
        on: on.clone(),
        lease: agents.lease,
        bytes_per_second: agents.bytes_per_second,
        consent: agents.consent.clone(),
    }))
}
