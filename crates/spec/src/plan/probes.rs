//! Defines the keys of probes in a plan file, and converts them to the model.

use super::node::{PlanNode, PlanValue};
use super::words::{PositiveDuration, Scalar, ScalarList, ScalarOr};
use crate::error::SpecError;
use brunt_model::Probed;
use brunt_model::probe_spec::{ProbeAccess, Select};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// A probe. A probe without settings is written as its name: `host`, `server`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// A machine: the local one, or a remote one over ssh.
    Host(MachineKeys),
    /// Processes of the managed server.
    Server(MachineKeys),
    /// Processes and their children, selected by one of `name`, `pid`, `pid_file`, `port` and `cgroup`.
    Processes(Processes),
    /// Page of nginx's module `stub_status`.
    Nginx(ScalarOr<StatusPage>),
    /// Page of Apache's module `mod_status`, with `?auto`.
    Apache(ScalarOr<StatusPage>),
    /// Status page of a php-fpm pool, as JSON.
    PhpFpm(ScalarOr<StatusPage>),
    /// Status page of Tomcat's manager, `/manager/status?XML=true`.
    Tomcat(ScalarOr<StatusPage>),
    /// Statistics page of `HAProxy`, as CSV.
    Haproxy(ScalarOr<StatusPage>),
    /// URL of metrics in the Prometheus text format.
    Prometheus(ScalarOr<StatusPage>),
}

/// Settings of a probe of a machine, or of the managed server.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MachineKeys {
    /// Access over ssh: `user@host`, or `{host, options}`. Default: the local machine.
    pub via: Option<ScalarOr<Ssh>>,
    /// Name of the probe in reports.
    #[serde(rename = "as")]
    pub name: Option<Scalar>,
    /// Interval between two readings. Default: `probe_interval`.
    pub interval: Option<PositiveDuration>,
}

/// Access to a machine over ssh.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssh {
    /// Host, as `[user@]host`.
    pub host: Scalar,
    /// Additional options of `ssh`, such as `[-p, 2222]`.
    #[serde(default)]
    pub options: ScalarList,
}

/// Processes that are read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Processes {
    /// Name of the processes.
    pub name: Option<Scalar>,
    /// Process id.
    pub pid: Option<u32>,
    /// File that contains the process id.
    pub pid_file: Option<Scalar>,
    /// TCP port on which the processes listen.
    pub port: Option<u16>,
    /// Path of the control group (cgroup) of the processes, below the mount point.
    pub cgroup: Option<Scalar>,
    /// Access over ssh: `user@host`, or `{host, options}`. Default: the local machine.
    pub via: Option<ScalarOr<Ssh>>,
    /// Name of the processes in reports.
    #[serde(rename = "as")]
    pub report_name: Option<Scalar>,
    /// Interval between two readings. Default: `probe_interval`.
    pub interval: Option<PositiveDuration>,
}

/// A status page of a server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusPage {
    /// URL of the page.
    pub url: Scalar,
    /// Name of the server in reports.
    #[serde(rename = "as", default)]
    pub name: Option<Scalar>,
    /// Interval between two readings. Default: `probe_interval`.
    #[serde(default)]
    pub interval: Option<PositiveDuration>,
    /// nginx: maximum number of connections of all workers (workers × `worker_connections`).
    #[serde(default)]
    pub connections: Option<u64>,
    /// Prometheus: metrics to record. Default: those that brunt knows.
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
    /// Interval between two readings; None: that of the plan.
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
