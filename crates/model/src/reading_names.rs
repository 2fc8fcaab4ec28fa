//! The names of what is read of ourselves and of our machine: the probe writes them, the judge looks them up.
//!
//! A name ends in its unit. Counters grow from reading to reading: those whose names end in `_total`, and times spent
//! (`…_seconds`); everything else is a state. A name that is missing from a reading was not to be seen on that system.
//! What is read of a server has the same names where it is the same thing, and those of [`server`] beside them; its
//! source is `KIND:NAME`, such as `host:web1` or `php-fpm:www`.

/// The source of these readings.
pub const GENERATOR: &str = "generator";

/// CPU time of our process since the run began, in user mode. Counter.
pub const CPU_USER: &str = "cpu_user_seconds";
/// CPU time of our process since the run began, in the kernel. Counter.
pub const CPU_SYSTEM: &str = "cpu_system_seconds";
/// Worker threads.
pub const THREADS: &str = "threads";
/// The most memory that our process had, in bytes.
pub const PEAK_MEMORY: &str = "peak_rss_bytes";
/// The memory that our process has, in bytes.
pub const RESIDENT: &str = "memory.resident_bytes";

/// The full name of a worker's reading.
pub fn of_worker(worker: usize, name: &str) -> String {
    format!("worker.{worker}.{name}")
}

/// The number of a worker, as it is written, and the name of its reading; None where the full name is not a worker's.
fn worker_and_name(full: &str) -> Option<(&str, &str)> {
    full.strip_prefix("worker.")?.split_once('.')
}

/// CPU time of a worker's thread. Counter.
pub fn worker_cpu(worker: usize) -> String {
    of_worker(worker, "cpu_seconds")
}

/// The time for which a worker's thread was ready and had no core. Counter.
pub fn worker_run_delay(worker: usize) -> String {
    of_worker(worker, "run_delay_seconds")
}

/// Whether `full` is the full name of a worker's reading `name`.
pub fn is_of_a_worker(full: &str, name: &str) -> bool {
    worker_and_name(full).is_some_and(|(_, of_worker)| of_worker == name)
}

/// The name that a worker's reading has where the worker has another number; None: it is no worker's.
pub fn renumbered(name: &str, number: impl Fn(usize) -> usize) -> Option<String> {
    let (own, rest) = worker_and_name(name)?;
    Some(of_worker(number(own.parse().ok()?), rest))
}

/// Time for which a worker's thread came back late to its schedule, by a quarter of a second or more each time. Counter.
pub fn worker_stopped(worker: usize) -> String {
    of_worker(worker, "stopped_seconds")
}

/// When the last of these times began, in seconds of the run's clock.
pub fn worker_stopped_at(worker: usize) -> String {
    of_worker(worker, "stopped_at")
}

/// How often the thread of a worker rested before it polled its sockets. Counter of a worker ([`of_worker`]), known when the
/// thread has ended, and absent where it never rested.
pub const RESTS: &str = "rests_total";
/// Duration of these rests in total. Counter of a worker ([`of_worker`]), present with [`RESTS`].
pub const REST_SECONDS: &str = "rest_seconds";

/// Cores that all processes of the machine used but our own, since the last look at them.
pub const PROCESSES: &str = "processes.cores";

/// Cores that the server used since the last look: the processes that hold the target's listening socket, and their
/// children. Present only where these are known.
pub const SERVER_PROCESSES: &str = "server_processes.cores";

/// Cores that the processes of this name used since the last look at them, the server's own left out.
pub fn processes(name: &str) -> String {
    format!("processes.{name}.cores")
}

/// The process of this name that used most CPU since the last look.
pub fn busiest_pid(name: &str) -> String {
    format!("processes.{name}.pid")
}

/// The name of the processes that a reading is of; None: it is of no processes.
pub fn processes_of(reading: &str) -> Option<&str> {
    reading.strip_prefix("processes.")?.strip_suffix(".cores")
}

/// CPU time of all cores of the machine together, by what they did with it; user and system without steal. Counters.
pub const HOST_USER: &str = "host.cpu_user_seconds";
/// In the kernel, interrupts included, deferred ones ([`HOST_SOFTIRQ`]) not.
pub const HOST_SYSTEM: &str = "host.cpu_system_seconds";
/// Deferred interrupts: where packets are received.
pub const HOST_SOFTIRQ: &str = "host.cpu_softirq_seconds";
/// Nothing to do.
pub const HOST_IDLE: &str = "host.cpu_idle_seconds";
/// Nothing to do but to wait for disks.
pub const HOST_IOWAIT: &str = "host.cpu_iowait_seconds";
/// Taken away by the hypervisor.
pub const HOST_STEAL: &str = "host.cpu_steal_seconds";
/// All parts of the machine's CPU time: their sum grows by its number of cores each second.
pub const HOST_PARTS: [&str; 6] = [HOST_USER, HOST_SYSTEM, HOST_SOFTIRQ, HOST_IDLE, HOST_IOWAIT, HOST_STEAL];
/// Of the core that spent most on deferred interrupts since the last reading, the share of its time that went there.
pub const BUSIEST_SOFTIRQ: &str = "host.cpu_softirq_busiest_share";

/// Time for which some task waited for a CPU, for memory, for a disk: pressure stall information. Counters.
pub const PRESSURE_CPU: &str = "pressure.cpu_some_seconds";
/// The same for memory.
pub const PRESSURE_MEMORY: &str = "pressure.memory_some_seconds";
/// The same for disks.
pub const PRESSURE_IO: &str = "pressure.io_some_seconds";
/// Pressure on the CPU within our control group. Counter.
pub const CGROUP_PRESSURE_CPU: &str = "cgroup.pressure_cpu_some_seconds";

/// Time for which our control group, or one around it, was kept from running by its quota, summed over cores. Counter.
pub const THROTTLED: &str = "cgroup.throttled_seconds";
/// Cores that the tightest of these quotas allows; absent where none is set.
pub const QUOTA: &str = "cgroup.quota_cores";

/// File descriptors that our process has open.
pub const DESCRIPTORS: &str = "descriptors.open";
/// File descriptors that it may have open.
pub const DESCRIPTORS_LIMIT: &str = "descriptors.limit";

/// Local ports that the system hands out.
pub const PORT_RANGE: &str = "ports.range";
/// TCP sockets in use in our network namespace, IPv4 and IPv6.
pub const TCP_IN_USE: &str = "tcp.in_use";
/// TCP connections in `TIME_WAIT`: closed, their port still held.
pub const TCP_TIME_WAIT: &str = "tcp.time_wait";
/// Connections that came to a full accept queue of this machine. Counter.
pub const LISTEN_OVERFLOWS: &str = "tcp.listen_overflows_total";
/// Connections that a listener of this machine dropped, for whatever reason. Counter.
pub const LISTEN_DROPS: &str = "tcp.listen_drops_total";
/// Segments sent again. Counter.
pub const RETRANSMITTED: &str = "tcp.retransmitted_total";
/// Segments sent. Counter.
pub const SEGMENTS_SENT: &str = "tcp.sent_segments_total";

/// Packets that the kernel took in from its receive queues. Counter.
pub const SOFTNET_PROCESSED: &str = "softnet.processed_total";
/// Packets dropped because a receive queue was full. Counter.
pub const SOFTNET_DROPPED: &str = "softnet.dropped_total";
/// Times that the kernel stopped receiving before the queue was empty. Counter.
pub const SOFTNET_SQUEEZED: &str = "softnet.squeezed_total";

/// Connections in the firewall's table.
pub const CONNTRACK: &str = "conntrack.entries";
/// Connections that it may hold.
pub const CONNTRACK_LIMIT: &str = "conntrack.limit";
/// Packets dropped because it was full. Counter.
pub const CONNTRACK_DROPPED: &str = "conntrack.dropped_total";

/// Memory that programs can still have, in bytes.
pub const MEMORY_AVAILABLE: &str = "memory.available_bytes";
/// Memory of the machine, in bytes.
pub const MEMORY_TOTAL: &str = "memory.total_bytes";
/// Memory swapped out to disk, in bytes.
pub const SWAP_USED: &str = "memory.swap_used_bytes";
/// Bytes read back from swap. Counter.
pub const SWAPPED_IN: &str = "memory.swapped_in_bytes_total";

/// What is read of a network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nic {
    /// Bytes received, link headers included. Counter.
    ReceivedBytes,
    /// Bytes sent, link headers included. Counter.
    SentBytes,
    /// Packets received. Counter.
    ReceivedPackets,
    /// Packets sent. Counter.
    SentPackets,
    /// Packets dropped, whatever the reason and the direction. Counter.
    Dropped,
    /// Packets that the interface had no room for, because the machine did not fetch them in time. Counter.
    Missed,
    /// The link's speed.
    BitsPerSecond,
}

impl Nic {
    /// The name of this reading of an interface.
    pub fn of(self, interface: &str) -> String {
        format!("nic.{interface}.{}", self.suffix())
    }

    /// The interfaces of which this was read.
    pub fn interfaces(self, names: &[String]) -> impl Iterator<Item = &str> {
        names.iter().filter_map(move |name| name.strip_prefix("nic.")?.strip_suffix(self.suffix())?.strip_suffix('.'))
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::ReceivedBytes => "received_bytes_total",
            Self::SentBytes => "sent_bytes_total",
            Self::ReceivedPackets => "received_packets_total",
            Self::SentPackets => "sent_packets_total",
            Self::Dropped => "dropped_packets_total",
            Self::Missed => "missed_packets_total",
            Self::BitsPerSecond => "bits_per_second",
        }
    }
}

/// The names of what is read of a server, by the kind of source (see [`crate::Probed::kind`]).
///
/// `host:…` has the names above (`host.…`, `pressure.…`, `memory.…`, `tcp.…`, `nic.…`) and those here that begin with
/// `host.` or `disk.`; `process:…` has those from [`PROCESSES`](server::PROCESSES) on, the status pages the rest.
pub mod server {
    /// Cores of the machine.
    pub const CORES: &str = "host.cores";
    /// Its load average over the last minute.
    pub const LOAD: &str = "host.load1";
    /// Tasks that run or are ready to.
    pub const TASKS_RUNNING: &str = "host.tasks_running";
    /// Tasks that wait for a disk, or for something else that they cannot be woken from.
    pub const TASKS_BLOCKED: &str = "host.tasks_blocked";
    /// TCP connections that stand: in the state ESTABLISHED or `CLOSE_WAIT`.
    pub const ESTABLISHED: &str = "tcp.established";
    /// TCP sockets that no process has any more, and that are not yet gone.
    pub const ORPHANS: &str = "tcp.orphans";

    /// For how long a core had something to do. Counter.
    pub fn core_busy(core: usize) -> String {
        format!("core.{core}.busy_seconds")
    }

    /// For how long a disk had something to do. Counter.
    pub fn disk_busy(disk: &str) -> String {
        format!("disk.{disk}.busy_seconds")
    }

    /// Bytes read from a disk. Counter.
    pub fn disk_read(disk: &str) -> String {
        format!("disk.{disk}.read_bytes_total")
    }

    /// Bytes written to a disk. Counter.
    pub fn disk_written(disk: &str) -> String {
        format!("disk.{disk}.written_bytes_total")
    }

    /// How many processes there are.
    pub const PROCESSES: &str = "processes";
    /// Their threads.
    pub const THREADS: &str = "threads";
    /// CPU time of all of them, those that ended included, in user mode ([`super::CPU_USER`]) and in the kernel
    /// ([`super::CPU_SYSTEM`]). Counters.
    pub const CPU: [&str; 2] = [super::CPU_USER, super::CPU_SYSTEM];
    /// Of the thread that had most of a core since the last reading, the share of that core.
    pub const BUSIEST_THREAD: &str = "busiest_thread_share";
    /// Memory that they hold, shared pages divided among those who share them, in bytes.
    pub const PROPORTIONAL: &str = "memory.proportional_bytes";
    /// Context switches because they waited. Counter.
    pub const SWITCHES_VOLUNTARY: &str = "context_switches_voluntary_total";
    /// Context switches because others wanted the core. Counter.
    pub const SWITCHES_FORCED: &str = "context_switches_forced_total";
    /// The time for which they were ready and had no core. Counter.
    pub const RUN_DELAY: &str = "run_delay_seconds";
    /// Of the process that is nearest to its limit of open files, the share of it that is used.
    pub const DESCRIPTORS_SHARE: &str = "descriptors.most_used_share";
    /// Connections that wait to be accepted, in the fullest of their listening sockets' queues.
    pub const ACCEPT_QUEUE: &str = "accept_queue.length";
    /// How many that queue holds.
    pub const ACCEPT_QUEUE_LIMIT: &str = "accept_queue.limit";

    /// Of a connector, thread pool or proxy, by its name: one of the figures below, such as `connector.http-nio-8080.workers.busy`.
    pub fn of_connector(connector: &str, figure: &str) -> String {
        format!("connector.{connector}.{figure}")
    }

    /// Workers of a pool that are busy: php-fpm children, Apache workers, Tomcat threads.
    pub const WORKERS_BUSY: &str = "workers.busy";
    /// Those that are idle.
    pub const WORKERS_IDLE: &str = "workers.idle";
    /// Most that there may be.
    pub const WORKERS_LIMIT: &str = "workers.limit";
    /// Those that there are now, busy or idle.
    pub const WORKERS: &str = "workers.present";
    /// Requests that wait for one.
    pub const QUEUE: &str = "queue.length";
    /// How many may wait.
    pub const QUEUE_LIMIT: &str = "queue.limit";
    /// How often all workers were in use and one more was wanted. Counter.
    pub const WORKERS_EXHAUSTED: &str = "workers.exhausted_total";
    /// Requests that it served. Counter.
    pub const REQUESTS: &str = "requests_total";
    /// Requests that took longer than the server's own limit for slow ones. Counter.
    pub const SLOW_REQUESTS: &str = "requests_slow_total";
    /// Requests that it answered with an error. Counter.
    pub const REQUEST_ERRORS: &str = "requests_failed_total";
    /// Connections that it has open.
    pub const CONNECTIONS: &str = "connections.open";
    /// Those that wait for a next request.
    pub const CONNECTIONS_IDLE: &str = "connections.idle";
    /// Those with a request under way.
    pub const CONNECTIONS_ACTIVE: &str = "connections.active";
    /// Most that it may have.
    pub const CONNECTIONS_LIMIT: &str = "connections.limit";
    /// Connections that it accepted. Counter.
    pub const ACCEPTED: &str = "connections.accepted_total";
    /// Connections that it closed at once, because it had no room. Counter.
    pub const REFUSED: &str = "connections.refused_total";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_again_by_the_name_of_its_reading() {
        let names = ["lo", "eth0.100", "nic.0"].map(|nic| Nic::SentBytes.of(nic));
        assert_eq!(Nic::SentBytes.interfaces(&names).collect::<Vec<_>>(), ["lo", "eth0.100", "nic.0"]);
        assert_eq!(Nic::Missed.interfaces(&names).count(), 0);
    }
}
