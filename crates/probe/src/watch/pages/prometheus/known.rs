//! Metrics that are readings brunt has a name for: those of `node_exporter`, of Tomcat as the JMX exporter and Micrometer
//! write them, and of php-fpm exporters. A row each.

use super::text::Sample;
use crate::sources::Values;
use brunt_model::reading_names::{self as name, Nic, server};
use std::collections::{BTreeMap, BTreeSet};

/// A metric that is one reading.
struct Known {
    metric: &'static str,
    /// Only samples with this label.
    label: Option<(&'static str, &'static str)>,
    reading: &'static str,
}

const fn known(metric: &'static str, reading: &'static str) -> Known {
    Known { metric, label: None, reading }
}

const fn cpu(mode: &'static str, reading: &'static str) -> Known {
    Known { metric: "node_cpu_seconds_total", label: Some(("mode", mode)), reading }
}

/// Samples of one reading are added up: of all cores, pools, connectors.
const KNOWN: &[Known] = &[
    cpu("user", name::HOST_USER),
    cpu("nice", name::HOST_USER),
    cpu("system", name::HOST_SYSTEM),
    cpu("irq", name::HOST_SYSTEM),
    cpu("softirq", name::HOST_SOFTIRQ),
    cpu("idle", name::HOST_IDLE),
    cpu("iowait", name::HOST_IOWAIT),
    cpu("steal", name::HOST_STEAL),
    known("node_load1", server::LOAD),
    known("node_procs_running", server::TASKS_RUNNING),
    known("node_procs_blocked", server::TASKS_BLOCKED),
    known("node_memory_MemTotal_bytes", name::MEMORY_TOTAL),
    known("node_memory_MemAvailable_bytes", name::MEMORY_AVAILABLE),
    known("node_pressure_cpu_waiting_seconds_total", name::PRESSURE_CPU),
    known("node_pressure_memory_waiting_seconds_total", name::PRESSURE_MEMORY),
    known("node_pressure_io_waiting_seconds_total", name::PRESSURE_IO),
    known("node_netstat_Tcp_CurrEstab", server::ESTABLISHED),
    known("node_netstat_Tcp_RetransSegs", name::RETRANSMITTED),
    known("node_netstat_Tcp_OutSegs", name::SEGMENTS_SENT),
    known("node_netstat_TcpExt_ListenOverflows", name::LISTEN_OVERFLOWS),
    known("node_netstat_TcpExt_ListenDrops", name::LISTEN_DROPS),
    known("node_sockstat_TCP_inuse", name::TCP_IN_USE),
    known("node_sockstat_TCP_tw", name::TCP_TIME_WAIT),
    known("node_nf_conntrack_entries", name::CONNTRACK),
    known("node_nf_conntrack_entries_limit", name::CONNTRACK_LIMIT),
    known("tomcat_threadpool_currentthreadsbusy", server::WORKERS_BUSY),
    known("tomcat_threadpool_currentthreadcount", server::WORKERS),
    known("tomcat_threadpool_maxthreads", server::WORKERS_LIMIT),
    known("tomcat_threads_busy_threads", server::WORKERS_BUSY),
    known("tomcat_threads_current_threads", server::WORKERS),
    known("tomcat_threads_config_max_threads", server::WORKERS_LIMIT),
    known("phpfpm_active_processes", server::WORKERS_BUSY),
    known("phpfpm_idle_processes", server::WORKERS_IDLE),
    known("phpfpm_total_processes", server::WORKERS),
    known("phpfpm_listen_queue", server::QUEUE),
    known("phpfpm_max_children_reached", server::WORKERS_EXHAUSTED),
    known("nginx_connections_active", server::CONNECTIONS),
    known("nginx_connections_waiting", server::CONNECTIONS_IDLE),
    known("nginx_connections_accepted", server::ACCEPTED),
    known("nginx_http_requests_total", server::REQUESTS),
];

/// A metric of each device: its name, and the reading's of a device; by what its value is multiplied.
type OfDevice = (&'static str, fn(&str) -> String, f64);

const OF_DEVICES: &[OfDevice] = &[
    ("node_network_receive_bytes_total", |nic| Nic::ReceivedBytes.of(nic), 1.0),
    ("node_network_transmit_bytes_total", |nic| Nic::SentBytes.of(nic), 1.0),
    ("node_network_receive_packets_total", |nic| Nic::ReceivedPackets.of(nic), 1.0),
    ("node_network_transmit_packets_total", |nic| Nic::SentPackets.of(nic), 1.0),
    ("node_network_receive_drop_total", |nic| Nic::Dropped.of(nic), 1.0),
    ("node_network_transmit_drop_total", |nic| Nic::Dropped.of(nic), 1.0),
    ("node_network_speed_bytes", |nic| Nic::BitsPerSecond.of(nic), 8.0),
    ("node_disk_io_time_seconds_total", server::disk_busy, 1.0),
    ("node_disk_read_bytes_total", server::disk_read, 1.0),
    ("node_disk_written_bytes_total", server::disk_written, 1.0),
];

/// Bytes of a page, in which swapping is counted.
const PAGE: f64 = 4096.0;

pub(super) fn fill(samples: &[&Sample], into: &mut Values) {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |reading: String, value: f64| *sums.entry(reading).or_default() += value;
    for sample in samples {
        let is_it = |k: &&Known| {
            k.metric.eq_ignore_ascii_case(&sample.name) && k.label.is_none_or(|(n, v)| sample.label(n) == Some(v))
        };
        if let Some(known) = KNOWN.iter().find(is_it) {
            add(known.reading.to_owned(), sample.value);
        }
        let device = OF_DEVICES.iter().find(|row| row.0 == sample.name).zip(sample.label("device"));
        // A speed below 0 is one that the device does not know.
        if let Some(((_, reading, factor), device)) = device.filter(|_| sample.value >= 0.0) {
            add(reading(device), sample.value * factor);
        }
    }
    into.0.extend(sums);
    derived(samples, into);
}

/// What is made of several metrics.
fn derived(samples: &[&Sample], into: &mut Values) {
    let one = |name: &str| samples.iter().find(|s| s.name == name).map(|s| s.value);
    let cores: BTreeSet<&str> =
        samples.iter().filter(|s| s.name == "node_cpu_seconds_total").filter_map(|s| s.label("cpu")).collect();
    if !cores.is_empty() {
        into.push(server::CORES, cores.len() as f64);
    }
    let swap = one("node_memory_SwapTotal_bytes").zip(one("node_memory_SwapFree_bytes"));
    into.push_some(name::SWAP_USED, swap.map(|(total, free)| total - free));
    into.push_some(name::SWAPPED_IN, one("node_vmstat_pswpin").map(|pages| pages * PAGE));
}
