//! What is read meanwhile, as people write it, and as the model has it.

use super::node::{Node, Value};
use super::words::{Longer, Scalar, ScalarList, ScalarOr};
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
    Host(Machine),
    /// The processes of the managed server.
    Server(Machine),
    /// Processes with their children: one of `name`, `pid`, `pid_file`, `port`, `cgroup`.
    Processes(Processes),
    /// nginx's `stub_status` page.
    Nginx(ScalarOr<Page>),
    /// Apache's `mod_status` page, `?auto`.
    Apache(ScalarOr<Page>),
    /// The status page of a php-fpm pool, as JSON.
    PhpFpm(ScalarOr<Page>),
    /// Tomcat's manager status, `/manager/status?XML=true`.
    Tomcat(ScalarOr<Page>),
    /// The statistics of `HAProxy`, as CSV.
    Haproxy(ScalarOr<Page>),
    /// A URL that answers in Prometheus' text format.
    Prometheus(ScalarOr<Page>),
}

/// A machine.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Machine {
    /// By ssh: `user@host`, or `{host, options}`. Default: this machine.
    pub via: Option<ScalarOr<Ssh>>,
    /// Its name in reports.
    #[serde(rename = "as")]
    pub name: Option<Scalar>,
    /// Interval of the readings. Default: `probe_interval`.
    pub interval: Option<Longer>,
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
    pub called: Option<Scalar>,
    /// Interval of the readings. Default: `probe_interval`.
    pub interval: Option<Longer>,
}

/// A status page.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// URL of the page.
    pub url: Scalar,
    /// Its name in reports.
    #[serde(rename = "as", default)]
    pub name: Option<Scalar>,
    /// Interval of the readings. Default: `probe_interval`.
    #[serde(default)]
    pub interval: Option<Longer>,
    /// nginx: connections that it may have in all (workers × `worker_connections`).
    #[serde(default)]
    pub connections: Option<u64>,
    /// Prometheus: the metrics that are kept. Default: those that brunt knows of.
    #[serde(default)]
    pub metrics: Option<ScalarList>,
}

/// A probe as the model has it, but for the interval, which may be left to a default.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedProbe {
    /// What its readings are called.
    pub name: String,
    /// What is read.
    pub what: Probed,
    /// Time from one reading to the next; None: the usual one.
    pub interval: Option<Duration>,
}

/// The probes of a plan; `node` is where they were written.
pub(super) fn probes(written: &[Probe], node: Option<&Node>) -> Result<Vec<PlannedProbe>, SpecError> {
    let nodes = match node.map(|node| &node.value) {
        Some(Value::List(nodes)) => &nodes[..],
        _ => &[],
    };
    let mut all: Vec<PlannedProbe> = Vec::new();
    for (number, (probe, node)) in written.iter().zip(nodes).enumerate() {
        let wrong = |wrong: String| SpecError::new(&node.at, format!("probes[{number}]"), wrong);
        let planned = planned(probe).map_err(wrong)?;
        if all.iter().any(|other| (other.what.kind(), &other.name) == (planned.what.kind(), &planned.name)) {
            return Err(wrong(format!(
                "another {} probe is called `{}` already; add `as: NAME`",
                planned.what.kind(),
                planned.name
            )));
        }
        all.push(planned);
    }
    Ok(all)
}

fn planned(probe: &Probe) -> Result<PlannedProbe, String> {
    match probe {
        Probe::Host(machine) => {
            let via = via(machine.via.as_ref());
            let name = name(machine.name.as_ref(), || {
                if let ProbeAccess::Ssh { host, .. } = &via { host.clone() } else { "local".into() }
            });
            Ok(PlannedProbe { name, what: Probed::Host { via }, interval: interval(machine.interval) })
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
            let (select, usual) = select(processes)?;
            let what = Probed::Processes { select, via: via(processes.via.as_ref()) };
            Ok(PlannedProbe {
                name: name(processes.called.as_ref(), || usual),
                what,
                interval: interval(processes.interval),
            })
        }
        Probe::Nginx(page) => status(page, "nginx", |url, page| Probed::Nginx { url, connections: page.connections }),
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

fn status(page: &ScalarOr<Page>, kind: &str, probed: impl Fn(String, &Page) -> Probed) -> Result<PlannedProbe, String> {
    let page = match page {
        ScalarOr::Scalar(url) => {
            Page { url: url.clone(), name: None, interval: None, connections: None, metrics: None }
        }
        ScalarOr::Map(page) => page.clone(),
    };
    let only =
        [("connections", "nginx", page.connections.is_some()), ("metrics", "prometheus", page.metrics.is_some())];
    if let Some((key, of, _)) = only.iter().find(|(_, of, given)| *given && *of != kind) {
        return Err(format!("{key} belongs to a probe of {of}; leave it out"));
    }
    let parsed = url::Url::parse(&page.url.0).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    let parsed =
        parsed.ok_or_else(|| format!("`{}` is no URL; write one such as http://127.0.0.1:8080/status", page.url.0))?;
    let host = parsed.host_str().unwrap_or_default();
    let usual = || parsed.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
    Ok(PlannedProbe {
        name: name(page.name.as_ref(), usual),
        what: probed(page.url.0.clone(), &page),
        interval: interval(page.interval),
    })
}

/// Which processes, and what they are called where nobody says so.
fn select(of: &Processes) -> Result<(Select, String), String> {
    let text = |word: &Option<Scalar>| word.as_ref().map(|word| word.0.clone());
    let ways = [
        text(&of.name).map(|name| (Select::Name(name.clone()), name)),
        of.pid.map(|pid| (Select::Pid(pid), format!("pid {pid}"))),
        text(&of.pid_file).map(|file| (Select::PidFile(file.clone().into()), file)),
        of.port.map(|port| (Select::Port(port), format!("port {port}"))),
        text(&of.cgroup).map(|path| (Select::Cgroup(path.clone().into()), path)),
    ];
    let mut given = ways.into_iter().flatten();
    let first = given.next();
    first
        .filter(|_| given.next().is_none())
        .ok_or_else(|| "no processes are selected; write one of name, pid, pid_file, port or cgroup".to_owned())
}

fn via(written: Option<&ScalarOr<Ssh>>) -> ProbeAccess {
    match written {
        None => ProbeAccess::Local,
        Some(ScalarOr::Scalar(host)) => ProbeAccess::Ssh { host: host.0.clone(), options: Vec::new() },
        Some(ScalarOr::Map(ssh)) => ProbeAccess::Ssh { host: ssh.host.0.clone(), options: ssh.options.0.clone() },
    }
}

fn name(given: Option<&Scalar>, usual: impl FnOnce() -> String) -> String {
    given.map_or_else(usual, |word| word.0.clone())
}

fn interval(given: Option<Longer>) -> Option<Duration> {
    given.map(|longer| longer.0)
}
