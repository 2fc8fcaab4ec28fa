//! The measured cases, one row for each, with brunt's targets.
//!
//! A new case is a new row of [`CASES`]; a new load of the pacing case is a new row of [`PACES`].
//! [`crate::command`] has the command lines of the tools.

use serde::Serialize;

/// A page that nginx serves from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FilePage {
    pub path: &'static str,
    pub bytes: usize,
}

pub const SMALL: FilePage = FilePage { path: "/10b", bytes: 10 };
pub const MEDIUM: FilePage = FilePage { path: "/124k", bytes: 123_784 };
pub const HALF: FilePage = FilePage { path: "/64k", bytes: 65_536 };
pub const LARGE: FilePage = FilePage { path: "/1m", bytes: 1_000_000 };
pub const PAGES: [FilePage; 4] = [SMALL, HALF, MEDIUM, LARGE];

/// Number of connections in every rate case.
pub const CONNECTIONS: u32 = 64;

/// Transport of the requests of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum CaseTransport {
    KeepAlive,
    NewConnection,
    TlsKeepAlive,
    /// HTTP/2 over TLS: [`H2_CONNECTIONS`] connections, each with this many streams.
    H2 {
        streams: u32,
    },
}

/// Number of connections in the cases of HTTP/2.
pub const H2_CONNECTIONS: u32 = 8;

/// Load of a case, with brunt's targets under it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum CaseLoad {
    /// As fast as the server answers. `cpu_target` is the maximum ratio of brunt's CPU time per
    /// request to that of the reference tool: wrk, or h2load for HTTP/2. A ratio to the floor of at
    /// most [`NEAR_FLOOR_TARGET`] is sufficient, too.
    Closed { page: FilePage, transport: CaseTransport, cpu_target: f64 },
    /// Even arrivals at this rate per second, keep-alive, 10 bytes.
    Open { rate: u32 },
    /// Spacing of arrivals: each of [`PACES`], counted by a separate server.
    Pacing,
    /// An offered load that exceeds the capacity of client and server together.
    Overload,
    /// Peak memory, which must not grow with the length of a run.
    Memory,
    /// Memory per open connection.
    Connections,
    /// Peak memory of a run over distinct URLs, with its target. The first 1,000 URLs
    /// have a label each.
    Urls { count: u64, bytes_target: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BenchCase {
    pub name: &'static str,
    pub title: &'static str,
    pub load: CaseLoad,
}

impl BenchCase {
    /// True for cases with rounds; other cases run once.
    pub fn is_of_rounds(&self) -> bool {
        matches!(self.load, CaseLoad::Closed { .. } | CaseLoad::Open { .. })
    }

    /// True for cases that run by default. Pacing and overload take long, and compare
    /// with no other tool.
    pub fn is_default(&self) -> bool {
        !matches!(self.load, CaseLoad::Pacing | CaseLoad::Overload)
    }
}

/// Spacing of the arrivals of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalSpacing {
    Even,
    Poisson,
}

impl ArrivalSpacing {
    /// Name of the spacing in the options of brunt and of the floor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Poisson => "poisson",
        }
    }
}

/// One load of the pacing case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PacingLoad {
    pub name: &'static str,
    pub arrivals: ArrivalSpacing,
    /// Arrivals per second.
    pub rate: u32,
}

const fn pace(name: &'static str, arrivals: ArrivalSpacing, rate: u32) -> PacingLoad {
    PacingLoad { name, arrivals, rate }
}

pub const PACES: [PacingLoad; 6] = [
    pace("even-2000", ArrivalSpacing::Even, 2_000),
    pace("even-10000", ArrivalSpacing::Even, 10_000),
    pace("even-20000", ArrivalSpacing::Even, 20_000),
    pace("poisson-2000", ArrivalSpacing::Poisson, 2_000),
    pace("poisson-10000", ArrivalSpacing::Poisson, 10_000),
    pace("poisson-20000", ArrivalSpacing::Poisson, 20_000),
];

const fn closed(
    name: &'static str,
    title: &'static str,
    page: FilePage,
    transport: CaseTransport,
    cpu_target: f64,
) -> BenchCase {
    BenchCase { name, title, load: CaseLoad::Closed { page, transport, cpu_target } }
}

pub const CASES: [BenchCase; 17] = [
    closed("keepalive-10b", "Keep-alive, 10 bytes", SMALL, CaseTransport::KeepAlive, 0.9),
    closed("keepalive-124k", "Keep-alive, 124 kB", MEDIUM, CaseTransport::KeepAlive, 0.45),
    closed("keepalive-1m", "Keep-alive, 1 MB", LARGE, CaseTransport::KeepAlive, 0.4),
    closed(
        "new-connection",
        "A new connection per request, 10 bytes",
        SMALL,
        CaseTransport::NewConnection,
        0.97,
    ),
    closed("tls-10b", "TLS keep-alive, 10 bytes", SMALL, CaseTransport::TlsKeepAlive, 0.9),
    closed(
        "h2-10b",
        "HTTP/2 over TLS, 8 connections of 32 streams, 10 bytes",
        SMALL,
        CaseTransport::H2 { streams: 32 },
        0.85,
    ),
    closed(
        "h2-64k",
        "HTTP/2 over TLS, 8 connections of 32 streams, 64 kB",
        HALF,
        CaseTransport::H2 { streams: 32 },
        0.9,
    ),
    closed(
        "h2-one-stream",
        "HTTP/2 over TLS, 8 connections of one stream, 10 bytes",
        SMALL,
        CaseTransport::H2 { streams: 1 },
        1.0,
    ),
    BenchCase {
        name: "open-2000",
        title: "Open loop, 2,000 requests/s",
        load: CaseLoad::Open { rate: 2_000 },
    },
    BenchCase {
        name: "open-10000",
        title: "Open loop, 10,000 requests/s",
        load: CaseLoad::Open { rate: 10_000 },
    },
    BenchCase {
        name: "open-20000",
        title: "Open loop, 20,000 requests/s",
        load: CaseLoad::Open { rate: 20_000 },
    },
    BenchCase { name: "pacing", title: "Pacing", load: CaseLoad::Pacing },
    BenchCase {
        name: "overload",
        title: "Offered more than the joint limit",
        load: CaseLoad::Overload,
    },
    BenchCase { name: "memory", title: "Memory of a long run", load: CaseLoad::Memory },
    BenchCase { name: "connections", title: "Memory per connection", load: CaseLoad::Connections },
    BenchCase {
        name: "labels",
        title: "Memory of 1,000 labels",
        load: CaseLoad::Urls { count: 1_000, bytes_target: 40e6 },
    },
    BenchCase {
        name: "urls",
        title: "Memory of 100,000 URLs",
        load: CaseLoad::Urls { count: 100_000, bytes_target: 150e6 },
    },
];

/// Minimum ratio of brunt's requests per second to wrk's.
pub const RATE_TARGET: f64 = 0.98;
/// Maximum ratio of CPU time to the floor's at which a closed loop meets its target, whatever
/// the other tool needs.
pub const NEAR_FLOOR_TARGET: f64 = 1.03;
/// Maximum ratio of brunt's CPU time, lag and unevenness in an open loop to the floor's.
pub const FLOOR_TARGET: f64 = 1.3;
/// Maximum lag p99 with `--precise`, in seconds.
pub const PRECISE_LAG_TARGET: f64 = 50e-6;
/// Range of the measured variance over mean of Poisson arrivals in bins. In theory it is 1, because
/// the two are equal.
pub const POISSON_TARGET: [f64; 2] = [0.95, 1.05];
/// Maximum deviation of an open loop's rate from the requested rate, as a share.
pub const PRECISION_TARGET: f64 = 0.001;
/// Maximum difference in peak memory of a run that is ten times as long, as a share.
pub const GROWTH_TARGET: f64 = 0.05;
/// Maximum client memory per open connection (4 kB of 1024 bytes).
pub const CONNECTION_BYTES_TARGET: f64 = 4096.0;

pub fn named(name: &str) -> Option<&'static BenchCase> {
    CASES.iter().find(|case| case.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found() {
        for case in &CASES {
            assert_eq!(named(case.name).map(|found| found.title), Some(case.title));
        }
        assert!(named("keepalive").is_none());
    }

    #[test]
    fn only_memory_cases_run_once() {
        let once: Vec<_> =
            CASES.iter().filter(|case| !case.is_of_rounds()).map(|case| case.name).collect();
        assert_eq!(once, ["pacing", "overload", "memory", "connections", "labels", "urls"]);
    }

    #[test]
    fn a_pace_is_named_after_its_arrivals_and_rate() {
        for pace in PACES {
            assert_eq!(pace.name, format!("{}-{}", pace.arrivals.name(), pace.rate));
        }
    }
}
