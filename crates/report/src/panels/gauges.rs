//! Which readings share a chart, a row each.

use crate::figure::Unit;
use brunt_model::reading_names::{self as names, server};

/// A chart of readings.
pub struct Gauge {
    /// Its id.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What stands on its y axis.
    pub label: &'static str,
    /// In which unit.
    pub unit: Unit,
    /// Its lines.
    pub takes: &'static [Take],
}

/// What a line shows of a source.
#[derive(Clone, Copy)]
pub enum Take {
    /// Each reading whose name fits the pattern (`*` stands for what becomes part of the line's name), and a word for it.
    Each(&'static str, &'static str),
    /// The sum of these, as far as they were read.
    Sum(&'static [&'static str], &'static str),
    /// The first less the second.
    Less(&'static str, &'static str, &'static str),
    /// The first of these that was read at least twice, with its word.
    First(&'static [(&'static str, &'static str)]),
}

use Take::{Each, First, Less, Sum};

/// The charts of what was read of the server, in order.
pub const GAUGES: &[Gauge] = &[
    Gauge {
        id: "cpu",
        title: "CPU of the server",
        label: "CPU time",
        unit: Unit::Cores,
        takes: &[Sum(&server::CPU, "")],
    },
    Gauge {
        id: "machine-cpu",
        title: "CPU of the server's machine",
        label: "CPU time",
        unit: Unit::Cores,
        takes: &[Sum(&[names::HOST_USER, names::HOST_SYSTEM, names::HOST_SOFTIRQ], "")],
    },
    Gauge {
        id: "memory",
        title: "Memory of the server",
        label: "memory",
        unit: Unit::Bytes,
        takes: &[First(&[(server::PROPORTIONAL, ""), (names::RESIDENT, "resident")])],
    },
    Gauge {
        id: "machine-memory",
        title: "Memory of the server's machine",
        label: "memory",
        unit: Unit::Bytes,
        takes: &[Less(names::MEMORY_TOTAL, names::MEMORY_AVAILABLE, "in use")],
    },
    Gauge {
        id: "load-average",
        title: "Load average of the server",
        label: "load average",
        unit: Unit::Count,
        takes: &[Each(server::LOAD, "")],
    },
    Gauge {
        id: "workers",
        title: "Workers and queue",
        label: "workers, requests",
        unit: Unit::Count,
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
        unit: Unit::Count,
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
        unit: Unit::BytesPerSecond,
        takes: &[Each("nic.*.received_bytes_total", "received"), Each("nic.*.sent_bytes_total", "sent")],
    },
    Gauge {
        id: "disk",
        title: "Disks of the server",
        label: "disks",
        unit: Unit::BytesPerSecond,
        takes: &[Each("disk.*.read_bytes_total", "read"), Each("disk.*.written_bytes_total", "written")],
    },
    Gauge {
        id: "trouble",
        title: "Refused, dropped and sent again by the server",
        label: "events",
        unit: Unit::PerSecond,
        takes: &[
            Each(names::LISTEN_OVERFLOWS, "accept queue overflows"),
            Each(names::RETRANSMITTED, "segments sent again"),
            Each(server::REFUSED, "connections refused"),
            Each(server::WORKERS_EXHAUSTED, "workers exhausted"),
        ],
    },
];

/// The charts of what was read of the generator.
pub const GENERATOR_GAUGES: &[Gauge] = &[Gauge {
    id: "cpu",
    title: "CPU of the generator",
    label: "CPU time",
    unit: Unit::Cores,
    takes: &[Sum(&[names::CPU_USER, names::CPU_SYSTEM], ""), Each("worker.*.cpu_seconds", "worker")],
}];

/// What brunt knows, and no chart shows: parts of what one does, limits that stay the same, what rules look at.
/// A reading whose name fits none of these and no gauge has a chart of its own.
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

/// What stands for the `*` of a pattern; empty where it has none. None where the name does not fit.
pub fn fits<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let Some((before, after)) = pattern.split_once('*') else { return (pattern == name).then_some("") };
    name.strip_prefix(before)?.strip_suffix(after)
}

impl Take {
    /// Whether it takes a reading of that name.
    pub fn takes(self, name: &str) -> bool {
        match self {
            Each(pattern, _) => fits(pattern, name).is_some(),
            Sum(of, _) => of.contains(&name),
            Less(a, b, _) => a == name || b == name,
            First(of) => of.iter().any(|row| row.0 == name),
        }
    }
}
