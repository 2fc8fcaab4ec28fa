//! The table of metrics that correspond to readings of brunt: those of `node_exporter`, of Tomcat
//! (JMX exporter and Micrometer), of php-fpm exporters and of an nginx exporter.

use super::text::Sample;
use crate::sources::Values;
use brunt_model::reading_names::{self as name, Nic, server};
use std::collections::{BTreeMap, BTreeSet};

/// A metric that corresponds to one reading.
struct MetricRow {
    metric: &'static str,
    /// Only samples with this label count.
    label: Option<(&'static str, &'static str)>,
    reading: &'static str,
}

const fn metric(metric: &'static str, reading: &'static str) -> MetricRow {
    MetricRow { metric, label: None, reading }
}

const fn cpu(mode: &'static str, reading: &'static str) -> MetricRow {
    MetricRow { metric: "node_cpu_seconds_total", label: Some(("mode", mode)), reading }
}

/// Samples with the same reading are added up: those of all cores, pools or connectors.
const METRICS: &[MetricRow] = &[
    cpu("user", name::HOST_USER),
    cpu("nice", name::HOST_USER),
    cpu("system", name::HOST_SYSTEM),
    cpu("irq", name::HOST_SYSTEM),
    cpu("softirq", name::HOST_SOFTIRQ),
    cpu("idle", name::HOST_IDLE),
    cpu("iowait", name::HOST_IOWAIT),
    cpu("steal", name::HOST_STEAL),
    metric("node_load1", server::LOAD),
    metric("node_procs_running", server::TASKS_RUNNING),
    metric("node_procs_blocked", server::TASKS_BLOCKED),
    metric("node_memory_MemTotal_bytes", name::MEMORY_TOTAL),
    metric("node_memory_MemAvailable_bytes", name::MEMORY_AVAILABLE),
    metric("node_pressure_cpu_waiting_seconds_total", name::PRESSURE_CPU),
    metric("node_pressure_memory_waiting_seconds_total", name::PRESSURE_MEMORY),
    metric("node_pressure_io_waiting_seconds_total", name::PRESSURE_IO),
    metric("node_netstat_Tcp_CurrEstab", server::ESTABLISHED),
    metric("node_netstat_Tcp_RetransSegs", name::RETRANSMITTED),
    metric("node_netstat_Tcp_OutSegs", name::SEGMENTS_SENT),
    metric("node_netstat_TcpExt_ListenOverflows", name::LISTEN_OVERFLOWS),
    metric("node_netstat_TcpExt_ListenDrops", name::LISTEN_DROPS),
    metric("node_sockstat_TCP_inuse", name::TCP_IN_USE),
    metric("node_sockstat_TCP_tw", name::TCP_TIME_WAIT),
    metric("node_nf_conntrack_entries", name::CONNTRACK),
    metric("node_nf_conntrack_entries_limit", name::CONNTRACK_LIMIT),
    metric("tomcat_threadpool_currentthreadsbusy", server::WORKERS_BUSY),
    metric("tomcat_threadpool_currentthreadcount", server::WORKERS),
    metric("tomcat_threadpool_maxthreads", server::WORKERS_LIMIT),
    metric("tomcat_threads_busy_threads", server::WORKERS_BUSY),
    metric("tomcat_threads_current_threads", server::WORKERS),
    metric("tomcat_threads_config_max_threads", server::WORKERS_LIMIT),
    metric("phpfpm_active_processes", server::WORKERS_BUSY),
    metric("phpfpm_idle_processes", server::WORKERS_IDLE),
    metric("phpfpm_total_processes", server::WORKERS),
    metric("phpfpm_listen_queue", server::QUEUE),
    metric("phpfpm_max_children_reached", server::WORKERS_EXHAUSTED),
    metric("nginx_connections_active", server::CONNECTIONS),
    metric("nginx_connections_waiting", server::CONNECTIONS_IDLE),
    metric("nginx_connections_accepted", server::ACCEPTED),
    metric("nginx_http_requests_total", server::REQUESTS),
];

/// A metric of each device: its name, the name of the reading for a device, and the
/// factor for its value.
type DeviceMetric = (&'static str, fn(&str) -> String, f64);

const DEVICE_METRICS: &[DeviceMetric] = &[
    ("node_network_receive_bytes_total", |nic| Nic::ReceivedBytes.reading_name(nic), 1.0),
    ("node_network_transmit_bytes_total", |nic| Nic::SentBytes.reading_name(nic), 1.0),
    ("node_network_receive_packets_total", |nic| Nic::ReceivedPackets.reading_name(nic), 1.0),
    ("node_network_transmit_packets_total", |nic| Nic::SentPackets.reading_name(nic), 1.0),
    ("node_network_receive_drop_total", |nic| Nic::Dropped.reading_name(nic), 1.0),
    ("node_network_transmit_drop_total", |nic| Nic::Dropped.reading_name(nic), 1.0),
    ("node_network_speed_bytes", |nic| Nic::BitsPerSecond.reading_name(nic), 8.0),
    ("node_disk_io_time_seconds_total", server::disk_busy, 1.0),
    ("node_disk_read_bytes_total", server::disk_read, 1.0),
    ("node_disk_written_bytes_total", server::disk_written, 1.0),
];

/// Bytes of a page, the unit of the swap counters.
const PAGE: f64 = 4096.0;

/// Adds the readings that the samples contain.
pub(super) fn fill(samples: &[Sample], into: &mut Values) {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for sample in samples {
        if let Some(row) = METRICS.iter().find(|row| row.matches(sample)) {
            *sums.entry(row.reading.to_owned()).or_default() += sample.value;
        }
        let device =
            DEVICE_METRICS.iter().find(|row| row.0 == sample.name).zip(sample.label("device"));
        // A negative speed means that the device does not know it.
        if let Some(((_, reading, factor), device)) = device.filter(|_| sample.value >= 0.0) {
            *sums.entry(reading(device)).or_default() += sample.value * factor;
        }
    }
    into.0.extend(sums);
    fill_derived(samples, into);
}

impl MetricRow {
    fn matches(&self, sample: &Sample) -> bool {
        // The JMX exporter writes the same metrics in lower or mixed case, as configured.
        self.metric.eq_ignore_ascii_case(&sample.name)
            && self.label.is_none_or(|(name, value)| sample.label(name) == Some(value))
    }
}

/// Adds the readings that are computed from several metrics.
fn fill_derived(samples: &[Sample], into: &mut Values) {
    let cpu_samples = samples.iter().filter(|sample| sample.name == "node_cpu_seconds_total");
    // Each core has a sample for each mode.
    let cores: BTreeSet<&str> = cpu_samples.filter_map(|sample| sample.label("cpu")).collect();
    if !cores.is_empty() {
        into.push(server::CORES, cores.len() as f64);
    }
    let swap = value_of(samples, "node_memory_SwapTotal_bytes")
        .zip(value_of(samples, "node_memory_SwapFree_bytes"));
    into.push_some(name::SWAP_USED, swap.map(|(total, free)| total - free));
    into.push_some(
        name::SWAPPED_IN,
        value_of(samples, "node_vmstat_pswpin").map(|pages| pages * PAGE),
    );
}

fn value_of(samples: &[Sample], name: &str) -> Option<f64> {
    samples.iter().find(|sample| sample.name == name).map(|sample| sample.value)
}
