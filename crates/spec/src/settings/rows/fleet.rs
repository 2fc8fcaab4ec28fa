//! Settings of a run on several agents, and of the hosts that it may load.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, set};
use crate::settings::{ArgumentContent, RunSettings, SettingKey, ValueForm};
use crate::words::{bytes, duration, placement};
use std::path::PathBuf;

type S = RunSettings;

const FLEET: &str = "Fleet";

/// Rows under the heading of a fleet.
pub static ROWS: [Row<RunSettings>; 6] = [
    Row {
        excludes: &["processes", "trace"],
        ..Row::value(
            "on",
            "PLACES",
            "Agents that share the load: ssh:HOST,HOST… (one on each host), local:N (processes here)",
            |w, _| set(placement::parse(w), |s: &mut S, v| s.fleet.on = Some(v)),
        )
        .under(FLEET)
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
    Row {
        needs: Some("on"),
        ..Row::value(
            "consent",
            "TOKEN",
            "Load a host that is not named if its file /.well-known/brunt-consent has a line with this token",
            |w, _| set(placement::token(w), |s: &mut S, v| s.fleet.consent = Some(v)),
        )
        .under(FLEET)
        .keys(&[SettingKey::new("consent", ValueForm::Value)])
    },
    Row::value(
        "lease",
        "TIME",
        "An agent that hears nothing from here for this time stops its load",
        |w, _| set(duration::positive(w), |s: &mut S, v| s.fleet.lease = v),
    )
    .under(FLEET)
    .default(defaults::LEASE)
    .keys(&[SettingKey::new("load.lease", ValueForm::Value)]),
    Row::value(
        "agent-bytes",
        "BYTES",
        "Bytes per second from each agent; above it, figures of labels come less often, and no figure changes",
        |w, _| set(bytes::parse(w), |s: &mut S, v| s.fleet.bytes_per_second = v),
    )
    .under(FLEET)
    .default(defaults::AGENT_BYTES)
    .keys(&[SettingKey::new("load.agent_bytes", ValueForm::Value)]),
    Row::repeated(
        "agent-binary",
        "FILE",
        "brunt for agents whose machines have another architecture",
        |w, _| set(Ok::<_, String>(PathBuf::from(w)), |s: &mut S, v| s.fleet.programs.push(v)),
    )
    .under(FLEET)
    .content(ArgumentContent::Path),
];
