//! Probes of a plan file: their keys, and the conversion to the model.

use super::node::{PlanNode, PlanValue};
use super::words::{PositiveDuration, Scalar, ScalarList, ScalarOr};
use crate::error::SpecError;
use brunt_model::Probed;
use brunt_model::probe_spec::{ProbeAccess, Select};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// A probe; without settings its name is enough: `host`, `server`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// A machine: this one, or another by ssh.
    Host(MachineKeys),
    /// The processes of the managed server.
    Server(MachineKeys),
    /// Processes with their children: one of `name`, `pid`, `pid_file`, `port`, `cgroup`.
    Processes(Processes),
    /// nginx's `stub_status` page.
    Nginx(ScalarOr<StatusPage>),
    /// Apache's `mod_status` page, `?auto`.
    Apache(ScalarOr<StatusPage>),
    /// The status page of a php-fpm pool, as JSON.
    PhpFpm(ScalarOr<StatusPage>),
    /// Tomcat's manager status, `/manager/status?XML=true`.
    Tomcat(ScalarOr<StatusPage>),
    /// The statistics of `HAProxy`, as CSV.
    Haproxy(ScalarOr<StatusPage>),
    /// A URL that answers in Prometheus' text format.
    Prometheus(ScalarOr<StatusPage>),
}

/// A machine.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MachineKeys {
    /// By ssh: `user@host`, or `{host, options}`. Default: this machine.
    pub via: Option<ScalarOr<Ssh>>,
    /// Its name in reports.
    #[serde(rename = "as")]
    pub name: Option<Scalar>,
    /// Interval of the readings. Default: `probe_interval`.
    pub interval: Option<PositiveDuration>,
}

/// Access to a machine.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssh {
    /// `[user@]host`.
    pub host: Scalar,
    /// More options for `ssh`, such as `[-p, 2222]`.
    #[serde(default)]
    pub options: ScalarList,
}

/// Processes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Processes {
    /// Processes of this name.
    pub name: Option<Scalar>,
    /// Process with this id.
    pub pid: Option<u32>,
    /// Process whose id is in this file.
    pub pid_file: Option<Scalar>,
    /// Processes that listen on this TCP port.
    pub port: Option<u16>,
    /// Processes of a control group, by its path below the mount point.
    pub cgroup: Option<Scalar>,
    /// By ssh: `user@host`, or `{host, options}`. Default: this machine.
    pub via: Option<ScalarOr<Ssh>>,
    /// Their name in reports.
    #[serde(rename = "as")]
    pub report_name: Option<Scalar>,
    /// Interval of the readings. Default: `probe_interval`.
    pub interval: Option<PositiveDuration>,
}

/// A status page.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusPage {
    /// URL of the page.
    pub url: Scalar,
    /// Its name in reports.
    #[serde(rename = "as", default)]
    pub name: Option<Scalar>,
    /// Interval of the readings. Default: `probe_interval`.
    #[serde(default)]
    pub interval: Option<PositiveDuration>,
    /// nginx: connections that it may have in all (workers × `worker_connections`).
    #[serde(default)]
    pub connections: Option<u64>,
    /// Prometheus: the metrics that are kept. Default: those that brunt knows of.
    #[serde(default)]
    pub metrics: Option<ScalarList>,
}

/// A probe of the model, except for its interval, which may have a default.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedProbe {
    /// Name of its readings in reports.
    pub name: String,
    /// Source that is read.
    pub what: Probed,
    /// Time between two readings; None: that of the plan.
    pub interval: Option<Duration>,
}

/// Converts the probes of a plan; `node` is the place where they were written.
pub(super) fn probes(
    written: &[Probe],
    node: Option<&PlanNode>,
) -> Result<Vec<PlannedProbe>, SpecError> {
    let nodes = match node.map(|node| &node.value) {
        Some(PlanValue::List(nodes)) => &nodes[..],
        _ => &[],
    };
    let mut all: Vec<PlannedProbe> = Vec::new();
    for (number, (probe, node)) in written.iter().zip(nodes).enumerate() {
        let planned = plan_probe(probe).map_err(|wrong| probe_error(node, number, wrong))?;
        // Readings are stored by kind and name, so equal names would mix two sources.
        if all
            .iter()
            .any(|other| (other.what.kind(), &other.name) == (planned.what.kind(), &planned.name))
        {
            let wrong = format!(
                "another {} probe is called `{}` already; add `as: NAME`",
                planned.what.kind(),
                planned.name
            );
            return Err(probe_error(node, number, wrong));
        }
        all.push(planned);
    }
    Ok(all)
}

fn probe_error(node: &PlanNode, number: usize, wrong: String) -> SpecError {
    SpecError::new(&node.at, format!("probes[{number}]"), wrong)
}

fn plan_probe(probe: &Probe) -> Result<PlannedProbe, String> {
    match probe {
        Probe::Host(machine) => {
            let via = via(machine.via.as_ref());
            let name = name(machine.name.as_ref(), || {
                if let ProbeAccess::Ssh { host, .. } = &via { host.clone() } else { "local".into() }
            });
            Ok(PlannedProbe {
                name,
                what: Probed::Host { via },
                interval: interval(machine.interval),
            })
        }
        Probe::Server(machine) => {
            let what = Probed::Processes { select: Select::Server, via: via(machine.via.as_ref()) };
            Ok(PlannedProbe {
                name: name(machine.name.as_ref(), || "server".into()),
                what,
                interval: interval(machine.interval),
            })
        }
        Probe::Processes(processes) => {
            let (select, default_name) = select(processes)?;
            let what = Probed::Processes { select, via: via(processes.via.as_ref()) };
            Ok(PlannedProbe {
                name: name(processes.report_name.as_ref(), || default_name),
                what,
                interval: interval(processes.interval),
            })
        }
        Probe::Nginx(page) => {
            status(page, "nginx", |url, page| Probed::Nginx { url, connections: page.connections })
        }
        Probe::Apache(page) => status(page, "apache", |url, _| Probed::Apache { url }),
        Probe::PhpFpm(page) => status(page, "php-fpm", |url, _| Probed::PhpFpm { url }),
        Probe::Tomcat(page) => status(page, "tomcat", |url, _| Probed::Tomcat { url }),
        Probe::Haproxy(page) => status(page, "haproxy", |url, _| Probed::Haproxy { url }),
        Probe::Prometheus(page) => status(page, "prometheus", |url, page| Probed::Prometheus {
            url,
            metrics: page.metrics.clone().unwrap_or_default().0,
        }),
    }
}

fn status(
    page: &ScalarOr<StatusPage>,
    kind: &str,
    probed: impl Fn(String, &StatusPage) -> Probed,
) -> Result<PlannedProbe, String> {
    let page = match page {
        ScalarOr::Scalar(url) => StatusPage {
            url: url.clone(),
            name: None,
            interval: None,
            connections: None,
            metrics: None,
        },
        ScalarOr::Map(page) => page.clone(),
    };
    let keys_of_kinds = [
        ("connections", "nginx", page.connections.is_some()),
        ("metrics", "prometheus", page.metrics.is_some()),
    ];
    if let Some((key, owner, _)) =
        keys_of_kinds.iter().find(|(_, owner, is_set)| *is_set && *owner != kind)
    {
        return Err(format!("{key} belongs to a probe of {owner}; leave it out"));
    }
    let url =
        url::Url::parse(&page.url.0).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    let url = url.ok_or_else(|| {
        format!("`{}` is no URL; write one such as http://127.0.0.1:8080/status", page.url.0)
    })?;
    let host = url.host_str().unwrap_or_default();
    // Without user and path, because names are shown and a URL may contain a password.
    let default_name = url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
    Ok(PlannedProbe {
        name: name(page.name.as_ref(), || default_name),
        what: probed(page.url.0.clone(), &page),
        interval: interval(page.interval),
    })
}

/// The processes to read, and their default name in reports.
fn select(processes: &Processes) -> Result<(Select, String), String> {
    let ways = [
        text_of(processes.name.as_ref()).map(|name| (Select::Name(name.clone()), name)),
        processes.pid.map(|pid| (Select::Pid(pid), format!("pid {pid}"))),
        text_of(processes.pid_file.as_ref())
            .map(|file| (Select::PidFile(file.clone().into()), file)),
        processes.port.map(|port| (Select::Port(port), format!("port {port}"))),
        text_of(processes.cgroup.as_ref()).map(|path| (Select::Cgroup(path.clone().into()), path)),
    ];
    let mut selections = ways.into_iter().flatten();
    let first = selections.next();
    first
        // Two selections could mean either their union or their intersection.
        .filter(|_| selections.next().is_none())
        .ok_or_else(|| {
            "no processes are selected; write one of name, pid, pid_file, port or cgroup".to_owned()
        })
}

fn text_of(word: Option<&Scalar>) -> Option<String> {
    word.map(|word| word.0.clone())
}

fn via(written: Option<&ScalarOr<Ssh>>) -> ProbeAccess {
    match written {
        None => ProbeAccess::Local,
        Some(ScalarOr::Scalar(host)) => {
            ProbeAccess::Ssh { host: host.0.clone(), options: Vec::new() }
        }
        Some(ScalarOr::Map(ssh)) => {
            ProbeAccess::Ssh { host: ssh.host.0.clone(), options: ssh.options.0.clone() }
        }
    }
}

fn name(report_name: Option<&Scalar>, default_name: impl FnOnce() -> String) -> String {
    report_name.map_or_else(default_name, |word| word.0.clone())
}

fn interval(time: Option<PositiveDuration>) -> Option<Duration> {
    time.map(|longer| longer.0)
}
