//! Assigns readings to charts, one row per chart.

use crate::figure::ChartUnit;
use brunt_model::reading_names::{self as names, server};

/// A chart of readings.
pub struct Gauge {
    /// Id of the chart.
    pub id: &'static str,
    /// Heading of the chart.
    pub title: &'static str,
    /// Label of the y axis, without the unit.
    pub label: &'static str,
    /// Unit of the y axis.
    pub unit: ChartUnit,
    /// Lines of the chart.
    pub takes: &'static [GaugeRule],
}

/// A rule that makes lines from the readings of a source.
#[derive(Clone, Copy)]
pub enum GaugeRule {
    /// One line for each reading that matches the pattern, with a word for its name. The part that
    /// `*` matches is added to the name.
    Each(&'static str, &'static str),
    /// The sum of these readings, as far as they were read.
    Sum(&'static [&'static str], &'static str),
    /// The first reading minus the second.
    Less(&'static str, &'static str, &'static str),
    /// The first of these readings that was read at least twice, with a word for its name.
    First(&'static [(&'static str, &'static str)]),
}

use GaugeRule::{Each, First, Less, Sum};

/// The charts of the server's readings, in order.
pub const GAUGES: &[Gauge] = &[
    Gauge {
        id: "cpu",
        title: "CPU of the server",
        label: "CPU time",
        unit: ChartUnit::Cores,
        takes: &[Sum(&server::CPU, "")],
    },
    Gauge {
        id: "machine-cpu",
        title: "CPU of the server's machine",
        label: "CPU time",
        unit: ChartUnit::Cores,
        takes: &[Sum(&[names::HOST_USER, names::HOST_SYSTEM, names::HOST_SOFTIRQ], "")],
    },
    Gauge {
        id: "memory",
        title: "Memory of the server",
        label: "memory",
        unit: ChartUnit::Bytes,
        takes: &[First(&[(server::PROPORTIONAL, ""), (names::RESIDENT, "resident")])],
    },
    Gauge {
        id: "machine-memory",
        title: "Memory of the server's machine",
        label: "memory",
        unit: ChartUnit::Bytes,
        takes: &[Less(names::MEMORY_TOTAL, names::MEMORY_AVAILABLE, "in use")],
    },
    Gauge {
        id: "load-average",
        title: "Load average of the server",
        label: "load average",
        unit: ChartUnit::Count,
        takes: &[Each(server::LOAD, "")],
    },
    Gauge {
        id: "workers",
        title: "Workers and queue",
        label: "workers, requests",
        unit: ChartUnit::Count,
        takes: &[
            Each(server::WORKERS_BUSY, "busy"),
            Each(server::QUEUE, "queued"),
            Each(server::WORKERS_LIMIT, "limit"),
        ],
    },
    Gauge {
        id: "connections",
        title: "Connections of the server",
        label: "connections",
        unit: ChartUnit::Count,
        takes: &[
            Each(server::CONNECTIONS, "open"),
            Each(server::CONNECTIONS_IDLE, "idle"),
            Each(server::ACCEPT_QUEUE, "accept queue"),
        ],
    },
    Gauge {
        id: "network",
        title: "Network of the server",
        label: "network",
        unit: ChartUnit::BytesPerSecond,
        takes: &[
            Each("nic.*.received_bytes_total", "received"),
            Each("nic.*.sent_bytes_total", "sent"),
        ],
    },
    Gauge {
        id: "disk",
        title: "Disks of the server",
        label: "disks",
        unit: ChartUnit::BytesPerSecond,
        takes: &[
            Each("disk.*.read_bytes_total", "read"),
            Each("disk.*.written_bytes_total", "written"),
        ],
    },
    Gauge {
        id: "trouble",
        title: "Refused, dropped and sent again by the server",
        label: "events",
        unit: ChartUnit::PerSecond,
        takes: &[
            Each(names::LISTEN_OVERFLOWS, "accept queue overflows"),
            Each(names::RETRANSMITTED, "segments sent again"),
            Each(server::REFUSED, "connections refused"),
            Each(server::WORKERS_EXHAUSTED, "workers exhausted"),
        ],
    },
];

/// The charts of the generator's readings.
pub const GENERATOR_GAUGES: &[Gauge] = &[Gauge {
    id: "cpu",
    title: "CPU of the generator",
    label: "CPU time",
    unit: ChartUnit::Cores,
    takes: &[
        Sum(&[names::CPU_USER, names::CPU_SYSTEM], ""),
        Each("worker.*.cpu_seconds", "worker"),
    ],
}];

/// Patterns of known readings without a chart: parts of other readings, constant limits, and inputs
/// of rules. A reading that matches no pattern and no gauge has a separate chart.
pub const IN_NO_CHART: &[&str] = &[
    "host.*",
    "core.*",
    "pressure.*",
    "memory.*",
    "tcp.*",
    "nic.*",
    "disk.*",
    "softnet.*",
    "conntrack.*",
    "ports.*",
    "descriptors.*",
    "cgroup.*",
    "accept_queue.*",
    "context_switches_*",
    "workers.idle",
    "queue.limit",
    "connections.limit",
    "connections.accepted_total",
    "requests_total",
    "processes",
    "threads",
    "busiest_thread_share",
    "run_delay_seconds",
    "peak_rss_bytes",
];

/// Returns the part of a name that the `*` of a pattern matches; empty for a pattern without `*`.
/// None if the name does not match.
pub fn fits<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let Some((before, after)) = pattern.split_once('*') else {
        return (pattern == name).then_some("");
    };
    name.strip_prefix(before)?.strip_suffix(after)
}

impl GaugeRule {
    /// True if the rule uses a reading of this name.
    pub fn takes(self, name: &str) -> bool {
        match self {
            Each(pattern, _) => fits(pattern, name).is_some(),
            Sum(names, _) => names.contains(&name),
            Less(a, b, _) => a == name || b == name,
            First(readings) => readings.iter().any(|row| row.0 == name),
        }
    }
}
