//! Assigns readings to charts, one row per chart.

use crate::figure::ChartUnit;
use brunt_model::reading_names::{self as names, server};

/// A chart of readings.
pub struct Gauge {
    /// Id of the chart.
    pub id: &'static str,
    /// Message with the heading of the chart.
    pub title: &'static str,
    /// Message with the label of the y axis, without the unit.
    pub label: &'static str,
    /// Unit of the y axis.
    pub unit: ChartUnit,
    /// Lines of the chart.
    pub takes: &'static [GaugeRule],
}

/// A rule that makes lines from the readings of a source.
#[derive(Clone, Copy)]
pub enum GaugeRule {
    /// One line for each reading that matches the pattern, with the message of its name. The part that
    /// `*` matches is added to the name.
    Each(&'static str, &'static str),
    /// The sum of these readings, as far as they were read.
    Sum(&'static [&'static str], &'static str),
    /// The first reading minus the second.
    Less(&'static str, &'static str, &'static str),
    /// The first of these readings that was read at least twice, with the message of its name.
    First(&'static [(&'static str, &'static str)]),
}

use GaugeRule::{Each, First, Less, Sum};

/// The charts of the server's readings, in order.
pub const GAUGES: &[Gauge] = &[
    Gauge {
        id: "cpu",
        title: "gauge.cpu",
        label: "gauge-label.cpu-time",
        unit: ChartUnit::Cores,
        takes: &[Sum(&server::CPU, "")],
    },
    Gauge {
        id: "machine-cpu",
        title: "gauge.machine-cpu",
        label: "gauge-label.cpu-time",
        unit: ChartUnit::Cores,
        takes: &[Sum(&[names::HOST_USER, names::HOST_SYSTEM, names::HOST_SOFTIRQ], "")],
    },
    Gauge {
        id: "memory",
        title: "gauge.memory",
        label: "gauge-label.memory",
        unit: ChartUnit::Bytes,
        takes: &[First(&[(server::PROPORTIONAL, ""), (names::RESIDENT, "gauge-label.resident")])],
    },
    Gauge {
        id: "machine-memory",
        title: "gauge.machine-memory",
        label: "gauge-label.memory",
        unit: ChartUnit::Bytes,
        takes: &[Less(names::MEMORY_TOTAL, names::MEMORY_AVAILABLE, "gauge-label.in-use")],
    },
    Gauge {
        id: "load-average",
        title: "gauge.load-average",
        label: "gauge-label.load-average",
        unit: ChartUnit::Count,
        takes: &[Each(server::LOAD, "")],
    },
    Gauge {
        id: "workers",
        title: "gauge.workers",
        label: "gauge-label.workers-requests",
        unit: ChartUnit::Count,
        takes: &[
            Each(server::WORKERS_BUSY, "gauge-label.busy"),
            Each(server::QUEUE, "gauge-label.queued"),
            Each(server::WORKERS_LIMIT, "gauge-label.limit"),
        ],
    },
    Gauge {
        id: "connections",
        title: "gauge.connections",
        label: "gauge-label.connections",
        unit: ChartUnit::Count,
        takes: &[
            Each(server::CONNECTIONS, "gauge-label.open"),
            Each(server::CONNECTIONS_IDLE, "gauge-label.idle"),
            Each(server::ACCEPT_QUEUE, "gauge-label.accept-queue"),
        ],
    },
    Gauge {
        id: "network",
        title: "gauge.network",
        label: "gauge-label.network",
        unit: ChartUnit::BytesPerSecond,
        takes: &[
            Each("nic.*.received_bytes_total", "gauge-label.received"),
            Each("nic.*.sent_bytes_total", "gauge-label.sent"),
        ],
    },
    Gauge {
        id: "disk",
        title: "gauge.disk",
        label: "gauge-label.disks",
        unit: ChartUnit::BytesPerSecond,
        takes: &[
            Each("disk.*.read_bytes_total", "gauge-label.read"),
            Each("disk.*.written_bytes_total", "gauge-label.written"),
        ],
    },
    Gauge {
        id: "trouble",
        title: "gauge.trouble",
        label: "gauge-label.events",
        unit: ChartUnit::PerSecond,
        takes: &[
            Each(names::LISTEN_OVERFLOWS, "gauge-label.accept-queue-overflows"),
            Each(names::RETRANSMITTED, "gauge-label.segments-sent-again"),
            Each(server::REFUSED, "gauge-label.connections-refused"),
            Each(server::WORKERS_EXHAUSTED, "gauge-label.workers-exhausted"),
        ],
    },
];

/// The charts of the generator's readings.
pub const GENERATOR_GAUGES: &[Gauge] = &[Gauge {
    id: "cpu",
    title: "gauge.generator-cpu",
    label: "gauge-label.cpu-time",
    unit: ChartUnit::Cores,
    takes: &[
        Sum(&[names::CPU_USER, names::CPU_SYSTEM], ""),
        Each("worker.*.cpu_seconds", "gauge-label.worker"),
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
