//! What is measured: one row a case, with the targets that brunt has in it.
//!
//! A new case is a new row of [`CASES`], a new load of the pacing case one of [`PACES`]. How a tool is told to run a case is
//! in [`crate::command`].

use serde::Serialize;

/// A page that nginx serves from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Page {
    pub path: &'static str,
    pub bytes: usize,
}

pub const SMALL: Page = Page { path: "/10b", bytes: 10 };
pub const MEDIUM: Page = Page { path: "/124k", bytes: 123_784 };
pub const HALF: Page = Page { path: "/64k", bytes: 65_536 };
pub const LARGE: Page = Page { path: "/1m", bytes: 1_000_000 };
pub const PAGES: [Page; 4] = [SMALL, HALF, MEDIUM, LARGE];

/// How many connections every rate case holds.
pub const CONNECTIONS: u32 = 64;

/// Over what the requests of a closed loop go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Transport {
    KeepAlive,
    NewConnection,
    TlsKeepAlive,
    /// HTTP/2 over TLS: [`H2_CONNECTIONS`], each with this many streams.
    H2 {
        streams: u32,
    },
}

/// How many connections the cases of HTTP/2 hold.
pub const H2_CONNECTIONS: u32 = 8;

/// How the load is made, and what is expected of brunt under it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Load {
    /// As fast as the server answers. `cpu_target`: brunt's CPU time per request, at most this times that of the tool which it
    /// is compared with: wrk, and of HTTP/2 h2load; or at most [`NEAR_FLOOR_TARGET`] times the floor's.
    Closed { page: Page, transport: Transport, cpu_target: f64 },
    /// Even arrivals at this rate per second, keep-alive, 10 bytes.
    Open { rate: u32 },
    /// How evenly, or how randomly, arrivals come: each of [`PACES`], counted by a server of its own.
    Pacing,
    /// More is offered than client and server carry together.
    Overload,
    /// Peak memory must not grow with the length of a run.
    Memory,
    /// Memory per connection that is held open.
    Connections,
    /// Peak memory, at most this, of a run over distinct URLs; the first 1,000 have a label each.
    Urls { count: u64, bytes_target: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Case {
    pub name: &'static str,
    pub title: &'static str,
    pub load: Load,
}

impl Case {
    /// Cases of rounds, as against those that run once.
    pub fn is_of_rounds(&self) -> bool {
        matches!(self.load, Load::Closed { .. } | Load::Open { .. })
    }

    /// Cases that are measured where none is named. Pacing and overload take long, and say nothing of other tools.
    pub fn is_measured_unasked(&self) -> bool {
        !matches!(self.load, Load::Pacing | Load::Overload)
    }
}

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    Even,
    Poisson,
}

impl Arrivals {
    /// What brunt and the floor both call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Poisson => "poisson",
        }
    }
}

/// One load of the pacing case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pace {
    pub name: &'static str,
    pub arrivals: Arrivals,
    /// Per second.
    pub rate: u32,
}

const fn pace(name: &'static str, arrivals: Arrivals, rate: u32) -> Pace {
    Pace { name, arrivals, rate }
}

pub const PACES: [Pace; 6] = [
    pace("even-2000", Arrivals::Even, 2_000),
    pace("even-10000", Arrivals::Even, 10_000),
    pace("even-20000", Arrivals::Even, 20_000),
    pace("poisson-2000", Arrivals::Poisson, 2_000),
    pace("poisson-10000", Arrivals::Poisson, 10_000),
    pace("poisson-20000", Arrivals::Poisson, 20_000),
];

const fn closed(name: &'static str, title: &'static str, page: Page, transport: Transport, cpu_target: f64) -> Case {
    Case { name, title, load: Load::Closed { page, transport, cpu_target } }
}

pub const CASES: [Case; 17] = [
    closed("keepalive-10b", "Keep-alive, 10 bytes", SMALL, Transport::KeepAlive, 0.9),
    closed("keepalive-124k", "Keep-alive, 124 kB", MEDIUM, Transport::KeepAlive, 0.45),
    closed("keepalive-1m", "Keep-alive, 1 MB", LARGE, Transport::KeepAlive, 0.4),
    closed("new-connection", "A new connection per request, 10 bytes", SMALL, Transport::NewConnection, 0.97),
    closed("tls-10b", "TLS keep-alive, 10 bytes", SMALL, Transport::TlsKeepAlive, 0.9),
    closed(
        "h2-10b",
        "HTTP/2 over TLS, 8 connections of 32 streams, 10 bytes",
        SMALL,
        Transport::H2 { streams: 32 },
        0.85,
    ),
    closed("h2-64k", "HTTP/2 over TLS, 8 connections of 32 streams, 64 kB", HALF, Transport::H2 { streams: 32 }, 0.9),
    closed(
        "h2-one-stream",
        "HTTP/2 over TLS, 8 connections of one stream, 10 bytes",
        SMALL,
        Transport::H2 { streams: 1 },
        1.0,
    ),
    Case { name: "open-2000", title: "Open loop, 2,000 requests/s", load: Load::Open { rate: 2_000 } },
    Case { name: "open-10000", title: "Open loop, 10,000 requests/s", load: Load::Open { rate: 10_000 } },
    Case { name: "open-20000", title: "Open loop, 20,000 requests/s", load: Load::Open { rate: 20_000 } },
    Case { name: "pacing", title: "Pacing", load: Load::Pacing },
    Case { name: "overload", title: "Offered more than the joint limit", load: Load::Overload },
    Case { name: "memory", title: "Memory of a long run", load: Load::Memory },
    Case { name: "connections", title: "Memory per connection", load: Load::Connections },
    Case { name: "labels", title: "Memory of 1,000 labels", load: Load::Urls { count: 1_000, bytes_target: 40e6 } },
    Case { name: "urls", title: "Memory of 100,000 URLs", load: Load::Urls { count: 100_000, bytes_target: 150e6 } },
];

/// brunt's requests per second, at least this times wrk's.
pub const RATE_TARGET: f64 = 0.98;
/// A closed loop whose CPU time is at most this times the floor's meets its target, whatever the other tool needs.
pub const NEAR_FLOOR_TARGET: f64 = 1.03;
/// brunt's CPU time, lag and unevenness in an open loop, at most this times the floor's.
pub const FLOOR_TARGET: f64 = 1.3;
/// Lag p99 with `--precise`, at most, in seconds.
pub const PRECISE_LAG_TARGET: f64 = 50e-6;
/// Variance over mean of Poisson arrivals in bins is 1 (they have the same); measured, it lies between these.
pub const POISSON_TARGET: [f64; 2] = [0.95, 1.05];
/// The rate of an open loop is kept within this share of what was asked for.
pub const PRECISION_TARGET: f64 = 0.001;
/// A run ten times as long has the same peak memory within this share.
pub const GROWTH_TARGET: f64 = 0.05;
/// Client memory per open connection, at most (4 kB of 1024 bytes).
pub const CONNECTION_BYTES_TARGET: f64 = 4096.0;

pub fn named(name: &str) -> Option<&'static Case> {
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
    fn only_the_memory_cases_run_once_and_pacing_and_overload_have_rounds_of_their_own() {
        let once: Vec<_> = CASES.iter().filter(|case| !case.is_of_rounds()).map(|case| case.name).collect();
        assert_eq!(once, ["pacing", "overload", "memory", "connections", "labels", "urls"]);
    }

    #[test]
    fn a_pace_is_named_after_what_it_is() {
        for pace in PACES {
            assert_eq!(pace.name, format!("{}-{}", pace.arrivals.name(), pace.rate));
        }
    }
}
