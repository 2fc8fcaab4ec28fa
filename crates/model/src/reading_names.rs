//! Names of the readings of the generator and its machine. The probe writes
//! them, `judge` reads them.
//!
//! A name ends in its unit. Counters grow from reading to reading: names that end in
//! `_total`, and spent times (`…_seconds`). All other values are states. A reading without a
//! name means that the system does not provide the value. Readings of a server have the same
//! names for the same values, and additional names in [`server`]. Their source is
//! `KIND:NAME`, such as `host:web1` or `php-fpm:www`.

/// Source of these readings.
pub const GENERATOR: &str = "generator";

/// Source of the readings of an agent's connection to the controller.
pub const LINK: &str = "link";

/// Names of the readings of an agent's connection to the controller.
pub mod link {
    /// Time by which the agent's clock is ahead of the controller's.
    pub const CLOCK_OFFSET: &str = "clock_offset_seconds";
    /// Bound of the difference between the offset that the run uses and the true one. It holds for
    /// all instants since the run began.
    pub const CLOCK_ERROR: &str = "clock_error_seconds";
    /// Smallest of the last round trips of a message.
    pub const ROUND_TRIP: &str = "round_trip_seconds";
    /// Bytes per second from the agent.
    pub const BYTES: &str = "received_bytes_per_second";
}

/// CPU time of the brunt process since the run began, in user mode. Counter.
pub const CPU_USER: &str = "cpu_user_seconds";
/// CPU time of the brunt process since the run began, in the kernel. Counter.
pub const CPU_SYSTEM: &str = "cpu_system_seconds";
/// Number of worker threads.
pub const THREADS: &str = "threads";
/// Maximum memory of the brunt process, in bytes.
pub const PEAK_MEMORY: &str = "peak_rss_bytes";
/// Current memory of the brunt process, in bytes.
pub const RESIDENT: &str = "memory.resident_bytes";

/// Returns the full name of a worker's reading.
pub fn worker_reading(worker: usize, name: &str) -> String {
    format!("worker.{worker}.{name}")
}

/// Splits a full name into the number of the worker, as text, and the name of its reading. None if
/// it is not a worker's.
fn worker_and_name(full: &str) -> Option<(&str, &str)> {
    full.strip_prefix("worker.")?.split_once('.')
}

/// Name of the CPU time of a worker's thread. Counter.
pub fn worker_cpu(worker: usize) -> String {
    worker_reading(worker, "cpu_seconds")
}

/// Name of the time for which a worker's thread waited for a core. Counter.
pub fn worker_run_delay(worker: usize) -> String {
    worker_reading(worker, "run_delay_seconds")
}

/// True if `full` is the full name of a worker's reading `name`.
pub fn is_worker_reading(full: &str, name: &str) -> bool {
    worker_and_name(full).is_some_and(|(_, reading)| reading == name)
}

/// Replaces the number of the worker in a full name. None if it is not a worker's.
pub fn with_worker_number(name: &str, number: impl Fn(usize) -> usize) -> Option<String> {
    let (worker, reading) = worker_and_name(name)?;
    Some(worker_reading(number(worker.parse().ok()?), reading))
}

/// Name of the total time for which a worker's thread was late. Only delays of a quarter of a
/// second or more count. Counter.
pub fn worker_stopped(worker: usize) -> String {
    worker_reading(worker, "stopped_seconds")
}

/// Name of the start of the latest such delay, in seconds of the run's clock.
pub fn worker_stopped_at(worker: usize) -> String {
    worker_reading(worker, "stopped_at")
}

/// Number of pauses of a worker's thread before it polled its sockets. Counter of a worker
/// ([`worker_reading`]). It becomes known when the thread has ended, and is absent without pauses.
pub const RESTS: &str = "rests_total";
/// Total duration of these pauses. Counter of a worker ([`worker_reading`]), present with [`RESTS`].
pub const REST_SECONDS: &str = "rest_seconds";

/// CPU time of all other processes of the machine, since they were first read. Counter.
pub const PROCESSES: &str = "processes.cpu_seconds";

/// CPU time of the server: the processes that hold the target's listening socket, and their
/// children. Counter. Present only if these are known.
pub const SERVER_PROCESSES: &str = "server_processes.cpu_seconds";

/// Anonymous memory of the server's processes, also swapped out, in bytes: heaps and stacks, without
/// mapped files. Present only if these processes are known.
pub const SERVER_ANONYMOUS: &str = "server_processes.anonymous_bytes";
/// Memory that the control groups of the server allow it to use further, in bytes. Present only with
/// a limit.
pub const SERVER_GROUP_ROOM: &str = "server_processes.cgroup_room_bytes";

/// Name of the CPU time of processes of one name, without the server's. Counter. It is absent until
/// they use a considerable share of a core.
pub fn processes(name: &str) -> String {
    format!("processes.{name}.cpu_seconds")
}

/// Name of the pid of the process of one name that used most CPU since the previous reading.
pub fn busiest_pid(name: &str) -> String {
    format!("processes.{name}.pid")
}

/// Returns the process name of a reading; None if it is not a reading of processes.
pub fn processes_of(reading: &str) -> Option<&str> {
    // A process name may contain dots, such as `python3.11`, so the ends decide.
    reading.strip_prefix("processes.")?.strip_suffix(".cpu_seconds")
}

/// CPU times of all cores of the machine together, by kind; user and
/// system without steal. Counters.
pub const HOST_USER: &str = "host.cpu_user_seconds";
/// CPU time in the kernel, with interrupts, but without deferred ones ([`HOST_SOFTIRQ`]).
pub const HOST_SYSTEM: &str = "host.cpu_system_seconds";
/// CPU time of deferred interrupts, in which packets are received.
pub const HOST_SOFTIRQ: &str = "host.cpu_softirq_seconds";
/// Idle CPU time of all cores.
pub const HOST_IDLE: &str = "host.cpu_idle_seconds";
/// Idle CPU time with pending disk I/O.
pub const HOST_IOWAIT: &str = "host.cpu_iowait_seconds";
/// CPU time that the hypervisor took.
pub const HOST_STEAL: &str = "host.cpu_steal_seconds";
/// All kinds of CPU time of the machine. Their sum grows by the number of cores each second.
// `guest` is missing: Linux includes it in `user`.
pub const HOST_PARTS: [&str; 6] =
    [HOST_USER, HOST_SYSTEM, HOST_SOFTIRQ, HOST_IDLE, HOST_IOWAIT, HOST_STEAL];
/// Share of a core's time that was spent on deferred interrupts since the previous reading;
/// maximum of all cores.
pub const BUSIEST_SOFTIRQ: &str = "host.cpu_softirq_busiest_share";

/// Time during which tasks waited for a CPU (pressure stall information). Counter.
pub const PRESSURE_CPU: &str = "pressure.cpu_some_seconds";
/// Time during which tasks waited for memory. Counter.
pub const PRESSURE_MEMORY: &str = "pressure.memory_some_seconds";
/// Time during which tasks waited for disks. Counter.
pub const PRESSURE_IO: &str = "pressure.io_some_seconds";
/// Time during which tasks of brunt's control group waited for a CPU. Counter.
pub const CGROUP_PRESSURE_CPU: &str = "cgroup.pressure_cpu_some_seconds";

/// Time for which brunt's control group, or a parent of it, was throttled by its quota,
/// summed over cores. Counter.
pub const THROTTLED: &str = "cgroup.throttled_seconds";
/// Cores that the smallest of these quotas allows; absent without a quota.
pub const QUOTA: &str = "cgroup.quota_cores";

/// Number of open file descriptors of the brunt process.
pub const DESCRIPTORS: &str = "descriptors.open";
/// Maximum number of open file descriptors of the brunt process.
pub const DESCRIPTORS_LIMIT: &str = "descriptors.limit";

/// Number of local ports that the system assigns.
pub const PORT_RANGE: &str = "ports.range";
/// TCP sockets in use in brunt's network namespace, IPv4 and IPv6.
pub const TCP_IN_USE: &str = "tcp.in_use";
/// TCP connections in `TIME_WAIT`: closed, but with an occupied port.
pub const TCP_TIME_WAIT: &str = "tcp.time_wait";
/// Connections that met a full accept queue of this machine. Counter.
pub const LISTEN_OVERFLOWS: &str = "tcp.listen_overflows_total";
/// Connections that a listener of this machine dropped, for any reason. Counter.
pub const LISTEN_DROPS: &str = "tcp.listen_drops_total";
/// Retransmitted TCP segments. Counter.
pub const RETRANSMITTED: &str = "tcp.retransmitted_total";
/// Sent TCP segments. Counter.
pub const SEGMENTS_SENT: &str = "tcp.sent_segments_total";

/// Packets that the kernel processed from its receive queues. Counter.
pub const SOFTNET_PROCESSED: &str = "softnet.processed_total";
/// Packets dropped because a receive queue was full. Counter.
pub const SOFTNET_DROPPED: &str = "softnet.dropped_total";
/// Number of times that the kernel stopped receiving before the queue was empty. Counter.
pub const SOFTNET_SQUEEZED: &str = "softnet.squeezed_total";

/// Number of connections in the firewall's table.
pub const CONNTRACK: &str = "conntrack.entries";
/// Maximum number of connections in this table.
pub const CONNTRACK_LIMIT: &str = "conntrack.limit";
/// Packets dropped because this table was full. Counter.
pub const CONNTRACK_DROPPED: &str = "conntrack.dropped_total";

/// Memory that is available to programs, in bytes.
pub const MEMORY_AVAILABLE: &str = "memory.available_bytes";
/// Total memory of the machine, in bytes.
pub const MEMORY_TOTAL: &str = "memory.total_bytes";
/// Memory swapped out to disk, in bytes.
pub const SWAP_USED: &str = "memory.swap_used_bytes";
/// Bytes read back from swap. Counter.
pub const SWAPPED_IN: &str = "memory.swapped_in_bytes_total";

/// Readings of a network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nic {
    /// Bytes received, link headers included. Counter.
    ReceivedBytes,
    /// Bytes sent, link headers included. Counter.
    SentBytes,
    /// Packets received by the interface. Counter.
    ReceivedPackets,
    /// Packets sent by the interface. Counter.
    SentPackets,
    /// Packets dropped in both directions, for any reason. Counter.
    Dropped,
    /// Packets lost because the machine did not fetch them from the interface in time. Counter.
    Missed,
    /// Speed of the link, in bits per second.
    BitsPerSecond,
}

impl Nic {
    /// Returns the name of this reading for an interface.
    pub fn reading_name(self, interface: &str) -> String {
        format!("nic.{interface}.{}", self.suffix())
    }

    /// Returns the interfaces with this reading.
    pub fn interfaces(self, names: &[String]) -> impl Iterator<Item = &str> {
        // Names of interfaces may contain dots, such as `eth0.100` (a VLAN), so the ends decide.
        names.iter().filter_map(move |name| {
            name.strip_prefix("nic.")?.strip_suffix(self.suffix())?.strip_suffix('.')
        })
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

/// Names of the readings of a server, by the kind of source (see [`crate::Probed::kind`]).
///
/// `host:…` has the names above (`host.…`, `pressure.…`, `memory.…`, `tcp.…`, `nic.…`) and those
/// here that begin with `host.` or `disk.`. `process:…` has those from
/// [`PROCESSES`](server::PROCESSES) on, and the status pages have the rest.
pub mod server {
    /// Number of cores of the machine.
    pub const CORES: &str = "host.cores";
    /// Load average of the machine over the last minute.
    pub const LOAD: &str = "host.load1";
    /// Number of tasks that run or are ready to run.
    pub const TASKS_RUNNING: &str = "host.tasks_running";
    /// Number of tasks in uninterruptible sleep, usually for a disk.
    pub const TASKS_BLOCKED: &str = "host.tasks_blocked";
    /// TCP connections in the states ESTABLISHED or `CLOSE_WAIT`.
    pub const ESTABLISHED: &str = "tcp.established";
    /// TCP sockets without a process that are not closed yet.
    pub const ORPHANS: &str = "tcp.orphans";

    /// Name of the busy time of a core. Counter.
    pub fn core_busy(core: usize) -> String {
        format!("core.{core}.busy_seconds")
    }

    /// Name of the busy time of a disk. Counter.
    pub fn disk_busy(disk: &str) -> String {
        format!("disk.{disk}.busy_seconds")
    }

    /// Name of the bytes read from a disk. Counter.
    pub fn disk_read(disk: &str) -> String {
        format!("disk.{disk}.read_bytes_total")
    }

    /// Name of the bytes written to a disk. Counter.
    pub fn disk_written(disk: &str) -> String {
        format!("disk.{disk}.written_bytes_total")
    }

    /// Number of processes of the server.
    pub const PROCESSES: &str = "processes";
    /// Number of threads of these processes.
    pub const THREADS: &str = "threads";
    /// CPU time of these processes, including ended ones, in user mode ([`super::CPU_USER`]) and in
    /// the kernel ([`super::CPU_SYSTEM`]). Counters.
    pub const CPU: [&str; 2] = [super::CPU_USER, super::CPU_SYSTEM];
    /// Share of a core that a thread used since the previous reading; maximum of all threads.
    pub const BUSIEST_THREAD: &str = "busiest_thread_share";
    /// Memory of these processes, in bytes. Shared pages are divided among the
    /// processes that share them.
    pub const PROPORTIONAL: &str = "memory.proportional_bytes";
    /// Anonymous memory of these processes, also swapped out, in bytes: heaps and stacks, without
    /// mapped files.
    pub const ANONYMOUS: &str = "memory.anonymous_bytes";
    /// Memory that the control groups of these processes allow them to use further, in bytes. Present
    /// only with a limit.
    pub const GROUP_ROOM: &str = "memory.cgroup_room_bytes";
    /// Voluntary context switches, when a process waits. Counter.
    pub const SWITCHES_VOLUNTARY: &str = "context_switches_voluntary_total";
    /// Involuntary context switches, when another process gets the core. Counter.
    pub const SWITCHES_FORCED: &str = "context_switches_forced_total";
    /// Time for which these processes waited for a core. Counter.
    pub const RUN_DELAY: &str = "run_delay_seconds";
    /// Used share of the limit on open files; maximum of all processes.
    pub const DESCRIPTORS_SHARE: &str = "descriptors.most_used_share";
    /// Number of connections in the fullest accept queue of their listening sockets.
    pub const ACCEPT_QUEUE: &str = "accept_queue.length";
    /// Maximum length of that queue.
    pub const ACCEPT_QUEUE_LIMIT: &str = "accept_queue.limit";

    /// Returns the name of a reading of a connector, thread pool or proxy, such as
    /// `connector.http-nio-8080.workers.busy`. `figure` is one of the names below.
    pub fn of_connector(connector: &str, figure: &str) -> String {
        format!("connector.{connector}.{figure}")
    }

    /// Number of busy workers of a pool: php-fpm children, Apache workers, Tomcat threads.
    pub const WORKERS_BUSY: &str = "workers.busy";
    /// Number of idle workers of a pool.
    pub const WORKERS_IDLE: &str = "workers.idle";
    /// Maximum number of workers of a pool.
    pub const WORKERS_LIMIT: &str = "workers.limit";
    /// Current number of workers of a pool, busy or idle.
    pub const WORKERS: &str = "workers.present";
    /// Number of requests that wait for a worker.
    pub const QUEUE: &str = "queue.length";
    /// Maximum number of waiting requests.
    pub const QUEUE_LIMIT: &str = "queue.limit";
    /// Number of times that a worker was needed and all were in use. Counter.
    pub const WORKERS_EXHAUSTED: &str = "workers.exhausted_total";
    /// Number of served requests. Counter.
    pub const REQUESTS: &str = "requests_total";
    /// Number of requests above the server's own limit for slow ones. Counter.
    pub const SLOW_REQUESTS: &str = "requests_slow_total";
    /// Number of requests with an error reply. Counter.
    pub const REQUEST_ERRORS: &str = "requests_failed_total";
    /// Number of open connections.
    pub const CONNECTIONS: &str = "connections.open";
    /// Number of connections without a request in flight.
    pub const CONNECTIONS_IDLE: &str = "connections.idle";
    /// Number of connections with a request in flight.
    pub const CONNECTIONS_ACTIVE: &str = "connections.active";
    /// Maximum number of open connections.
    pub const CONNECTIONS_LIMIT: &str = "connections.limit";
    /// Number of accepted connections. Counter.
    pub const ACCEPTED: &str = "connections.accepted_total";
    /// Number of connections closed at once for lack of capacity. Counter.
    pub const REFUSED: &str = "connections.refused_total";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_again_by_the_name_of_its_reading() {
        let names = ["lo", "eth0.100", "nic.0"].map(|nic| Nic::SentBytes.reading_name(nic));
        assert_eq!(
            Nic::SentBytes.interfaces(&names).collect::<Vec<_>>(),
            ["lo", "eth0.100", "nic.0"]
        );
        assert_eq!(Nic::Missed.interfaces(&names).count(), 0);
    }
}
