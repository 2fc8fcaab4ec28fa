//! Tests that recorded trees result in the expected values. The contents of the files were
//! observed on real machines.

use super::workers::{Thread, Workers, this_thread};
use super::{SOURCES, Source, Values};
use crate::root::Root;
use brunt_model::reading_names::{self as name, Nic};
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

/// A temporary tree of files. Dropping it deletes the files.
struct Tree(TempDir);

impl Tree {
    fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self(TempDir::new().unwrap());
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.root().path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn root(&self) -> Root {
        Root::recorded(self.0.path())
    }

    fn sources(&self) -> Vec<Box<dyn Source>> {
        SOURCES.iter().map(|open| open(&self.root())).collect()
    }

    fn read(&self) -> BTreeMap<String, f64> {
        read(&mut self.sources())
    }
}

fn read(sources: &mut [Box<dyn Source>]) -> BTreeMap<String, f64> {
    let mut values = Values::default();
    for source in sources {
        source.read(&mut values);
    }
    let count = values.0.len();
    let map: BTreeMap<String, f64> = values.0.into_iter().collect();
    assert_eq!(map.len(), count, "a name is told twice");
    map
}

const CGROUP_V1: &str = "30 23 0:27 / /sys rw - sysfs sysfs rw\n\
    32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
    33 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";

#[test]
fn missing_files_are_omitted() {
    assert_eq!(Tree::of(&[]).read(), BTreeMap::new());
}

#[test]
fn cpu_time_is_read_by_mode() {
    let tree = Tree::of(&[(
        "/proc/stat",
        "cpu  1000 100 200 3000 50 7 60 40 0 0\ncpu0 500 50 100 1500 25 0 10 20 0 0\n\
         cpu1 500 50 100 1500 25 7 50 20 0 0\nintr 1 2\nctxt 5\n",
    )]);
    let mut sources = tree.sources();
    let first = read(&mut sources);
    let expected = [11.0, 2.07, 0.6, 30.0, 0.5, 0.4];
    for (part, seconds) in name::HOST_PARTS.into_iter().zip(expected) {
        assert_eq!(first[part], seconds, "{part}");
    }
    assert!(!first.contains_key(name::BUSIEST_SOFTIRQ));
    tree.write(
        "/proc/stat",
        "cpu 0 0 0 0 0 0 0 0\ncpu0 500 50 100 1590 25 0 20 20 0 0\ncpu1 500 50 100 1505 25 7 145 20 0 0\n",
    );
    assert_eq!(read(&mut sources)[name::BUSIEST_SOFTIRQ], 0.95);
}

#[test]
fn steal_time_is_reported() {
    let tree = Tree::of(&[("/proc/stat", "cpu  10 0 20 300 0 0 6 12345 0 0\n")]);
    assert_eq!(tree.read()[name::HOST_STEAL], 123.45);
}

#[test]
fn pressure_is_the_total_of_the_line_some() {
    let text = "some avg10=13.39 avg60=5.13 avg300=2.59 total=2695181286\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
    let tree = Tree::of(&[("/proc/pressure/cpu", text)]);
    let seen = tree.read();
    assert_eq!(seen[name::PRESSURE_CPU], 2_695.181_286);
    assert_eq!(seen.len(), 1);
}

#[test]
fn throttling_of_version_1() {
    let tree = Tree::of(&[
        ("/proc/self/cgroup", "9:cpuset:/a\n4:cpu,cpuacct:/outer/ours\n0::/elsewhere\n"),
        ("/proc/self/mountinfo", CGROUP_V1),
        (
            "/sys/fs/cgroup/cpu,cpuacct/outer/ours/cpu.stat",
            "nr_periods 9\nnr_throttled 4\nthrottled_time 1500000000\n",
        ),
        ("/sys/fs/cgroup/cpu,cpuacct/outer/ours/cpu.cfs_quota_us", "20000\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/outer/ours/cpu.cfs_period_us", "100000\n"),
        (
            "/sys/fs/cgroup/cpu,cpuacct/outer/cpu.stat",
            "nr_periods 0\nnr_throttled 0\nthrottled_time 250000000\n",
        ),
        ("/sys/fs/cgroup/cpu,cpuacct/outer/cpu.cfs_quota_us", "-1\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/outer/cpu.cfs_period_us", "100000\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
    ]);
    let seen = tree.read();
    assert_eq!(seen[name::THROTTLED], 1.75);
    assert_eq!(seen[name::QUOTA], 0.2);
}

#[test]
fn throttling_of_version_2_in_a_container() {
    let tree = Tree::of(&[
        ("/proc/self/cgroup", "0::/docker/abc/job\n"),
        (
            "/proc/self/mountinfo",
            "28 21 0:25 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
        ),
        ("/sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 1250000\n"),
        ("/sys/fs/cgroup/job/cpu.max", "150000 100000\n"),
        (
            "/sys/fs/cgroup/job/cpu.pressure",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\n",
        ),
        ("/sys/fs/cgroup/cpu.stat", "usage_usec 100\n"),
        ("/sys/fs/cgroup/cpu.max", "max 100000\n"),
    ]);
    let seen = tree.read();
    assert_eq!((seen[name::THROTTLED], seen[name::QUOTA]), (1.25, 1.5));
    assert_eq!(seen[name::CGROUP_PRESSURE_CPU], 2.0);
}

#[test]
fn sockets_ports_and_counters_of_tcp() {
    let tree = Tree::of(&[
        ("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
        (
            "/proc/net/sockstat",
            "sockets: used 14\nTCP: inuse 41 orphan 3 tw 1234 alloc 60 mem 0\nUDP: inuse 9 mem 0\n",
        ),
        ("/proc/net/sockstat6", "TCP6: inuse 7\nUDP6: inuse 1\n"),
        (
            "/proc/net/snmp",
            "Ip: A\nIp: 1\nTcp: MaxConn InSegs OutSegs RetransSegs\nTcp: -1 20 300 4\n",
        ),
        (
            "/proc/net/netstat",
            "TcpExt: TW ListenOverflows ListenDrops X\nTcpExt: 5 266 268 9\nIpExt: TW\nIpExt: 7\n",
        ),
    ]);
    let seen = tree.read();
    let names = [
        (name::PORT_RANGE, 28232.0),
        (name::TCP_IN_USE, 48.0),
        (name::TCP_TIME_WAIT, 1234.0),
        (name::SEGMENTS_SENT, 300.0),
        (name::RETRANSMITTED, 4.0),
        (name::LISTEN_OVERFLOWS, 266.0),
        (name::LISTEN_DROPS, 268.0),
    ];
    for (name, value) in names {
        assert_eq!(seen[name], value, "{name}");
    }
}

#[test]
fn receive_queues_in_hexadecimal() {
    let tree = Tree::of(&[(
        "/proc/net/softnet_stat",
        "08a6e1d7 000000df 00000001 0\n00000010 00000001 00000000 0\n",
    )]);
    let seen = tree.read();
    assert_eq!(seen[name::SOFTNET_PROCESSED], f64::from(0x08a6_e1d7 + 0x10));
    assert_eq!((seen[name::SOFTNET_DROPPED], seen[name::SOFTNET_SQUEEZED]), (224.0, 1.0));
}

#[test]
fn the_conntrack_table_is_read() {
    let tree = Tree::of(&[
        ("/proc/sys/net/netfilter/nf_conntrack_count", "262100\n"),
        ("/proc/sys/net/netfilter/nf_conntrack_max", "262144\n"),
        (
            "/proc/net/stat/nf_conntrack",
            "entries  clashres found new insert_failed drop early_drop\n0003ffd4 0 0 0 0 00000010 0\n0003ffd4 0 0 0 0 00000001 0\n",
        ),
    ]);
    let seen = tree.read();
    assert_eq!((seen[name::CONNTRACK], seen[name::CONNTRACK_LIMIT]), (262_100.0, 262_144.0));
    assert_eq!(seen[name::CONNTRACK_DROPPED], 17.0);
}

const DEV: &str = "Inter-|   Receive                                                |  Transmit\n \
    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
    lo: 1000 10 0 223 0 0 0 0 1000 10 0 0 0 0 0 0\n\
    eth0:192992004 14140 0 2 0 0 0 0 1235887 13241 0 1 0 0 0 0\n\
    veth9: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n";

#[test]
fn interfaces_and_their_speed() {
    let tree = Tree::of(&[
        ("/proc/net/dev", DEV),
        ("/sys/class/net/lo/operstate", "unknown\n"),
        ("/sys/class/net/eth0/operstate", "up\n"),
        ("/sys/class/net/eth0/speed", "10000\n"),
        ("/sys/class/net/eth0/device/vendor", "0x8086\n"),
        ("/sys/class/net/eth0/statistics/rx_missed_errors", "77\n"),
        ("/sys/class/net/veth9/operstate", "up\n"),
        ("/sys/class/net/veth9/speed", "10000\n"),
        ("/sys/class/net/eth1/operstate", "down\n"),
        ("/sys/class/net/gone0/operstate", "up\n"),
    ]);
    let seen = tree.read();
    assert_eq!(seen[&Nic::ReceivedBytes.reading_name("eth0")], 192_992_004.0);
    assert_eq!(seen[&Nic::SentPackets.reading_name("eth0")], 13241.0);
    assert_eq!(seen[&Nic::Dropped.reading_name("eth0")], 3.0);
    assert_eq!(
        (seen[&Nic::Missed.reading_name("eth0")], seen[&Nic::BitsPerSecond.reading_name("eth0")]),
        (77.0, 1e10)
    );
    let names: Vec<String> = seen.keys().cloned().collect();
    assert_eq!(Nic::BitsPerSecond.interfaces(&names).collect::<Vec<_>>(), ["eth0"]);
    assert_eq!(Nic::SentBytes.interfaces(&names).collect::<Vec<_>>(), ["eth0", "lo", "veth9"]);
}

#[test]
fn memory_of_the_process_and_the_machine_is_read() {
    let tree = Tree::of(&[
        ("/proc/self/status", "Name:\tbrunt\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\n"),
        (
            "/proc/self/limits",
            "Limit  Soft Limit  Hard Limit  Units\nMax open files            20000                30000                files\n",
        ),
        (
            "/proc/meminfo",
            "MemTotal:  4000 kB\nMemFree: 10 kB\nMemAvailable: 100 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n",
        ),
    ]);
    let seen = tree.read();
    assert_eq!((seen[name::PEAK_MEMORY], seen[name::RESIDENT]), (2_048_000.0, 1_024_000.0));
    assert_eq!(seen[name::DESCRIPTORS_LIMIT], 20000.0);
    assert_eq!((seen[name::MEMORY_TOTAL], seen[name::MEMORY_AVAILABLE]), (4_096_000.0, 102_400.0));
    assert_eq!(seen[name::SWAP_USED], 30.0 * 1024.0);
}

fn workers(tree: &Tree, workers: usize) -> BTreeMap<String, f64> {
    let mut values = Values::default();
    Workers::new(&tree.root()).read(workers, &mut values);
    values.0.into_iter().collect()
}

#[test]
fn workers_are_found_by_name() {
    let tree = Tree::of(&[
        ("/proc/self/task/10/comm", "brunt\n"),
        ("/proc/self/task/10/schedstat", "1 2 3\n"),
        ("/proc/self/task/12/comm", "brunt-worker-0\n"),
        ("/proc/self/task/12/schedstat", "113359650 24729377 546\n"),
        ("/proc/self/task/11/comm", "brunt-worker-1\n"),
        ("/proc/self/task/11/schedstat", "0 0 0\n"),
        (
            "/proc/self/task/11/stat",
            "11 (brunt) worker-1) S 0 0 0 0 -1 4194560 864 0 0 0 150 75 0 0 20 0\n",
        ),
    ]);
    let seen = workers(&tree, 3);
    assert_eq!(seen[&name::worker_cpu(0)], 0.113_359_650);
    assert_eq!(seen[&name::worker_run_delay(0)], 0.024_729_377);
    assert_eq!(seen[&name::worker_cpu(1)], 2.25);
    assert_eq!(seen.len(), 3);
}

#[test]
fn the_last_values_of_an_ended_worker_are_reported_further() {
    let tree = Tree::of(&[
        ("/proc/self/task/12/comm", "brunt-worker-0\n"),
        ("/proc/self/task/12/schedstat", "1000 0 1\n"),
    ]);
    let mut own = Workers::new(&tree.root());
    own.read(1, &mut Values::default());
    own.record_end(0, Thread { cpu_seconds: Some(9.0), run_delay_seconds: None });
    let mut values = Values::default();
    own.read(1, &mut values);
    assert_eq!(values.0, [(name::worker_cpu(0), 9.0)]);
}

#[test]
fn a_thread_can_read_its_values() {
    if Root::system().text("/proc/thread-self/schedstat").is_none() {
        return;
    }
    let root = Root::system();
    let before = this_thread(&root);
    let grown = (0..1_000_000).any(|_| this_thread(&root).cpu_seconds > before.cpu_seconds);
    assert!(grown, "{before:?}");
}
