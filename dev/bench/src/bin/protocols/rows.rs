//! The comparisons: one row for each, with two sides.

use crate::servers::ServerKind;

/// Program that sends the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgram {
    Brunt,
    Oha,
    Ghz,
    K6,
}

/// Figure of a run that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedFigure {
    /// CPU time of the whole process per request.
    CpuMicroseconds,
    /// 99th percentile of the lag.
    LagMicroseconds,
}

impl ComparedFigure {
    pub fn unit(self) -> &'static str {
        match self {
            Self::CpuMicroseconds => "CPU µs/request",
            Self::LagMicroseconds => "lag p99 µs",
        }
    }
}

/// A tool, its server and its arguments. `ADDRESS` and `SECONDS` in the arguments are placeholders.
#[derive(Clone, Copy, Debug)]
pub struct ToolSetup {
    pub program: LoadProgram,
    pub server: ServerKind,
    pub words: &'static str,
}

/// Two sides; the report has the ratio of brunt's figure to the reference's.
#[derive(Clone, Copy, Debug)]
pub struct SideComparison {
    pub name: &'static str,
    pub figure: ComparedFigure,
    pub reference: ToolSetup,
    pub ours: ToolSetup,
    /// Maximum ratio; None if there is no target.
    pub at_most: Option<f64>,
}

pub const PLAIN: ServerKind = ServerKind::Lab("");
const SECURE: ServerKind = ServerKind::Lab("--tls --http3");
const GRPC: ServerKind = ServerKind::Lab("--grpc");

/// Files in the working directory of the tools.
pub const FILES: [(&str, &str); 2] = [
    (
        "shop.proto",
        "syntax = \"proto3\"; package shop; message Item { bytes name = 1; int64 id = 2; }\n\
         service Shop { rpc Buy(Item) returns (Item); }\n",
    ),
    ("echo.js", include_str!("echo.js")),
];

pub const IDLE_WORDS: &str = "run ws://ADDRESS/ --data ping -c CONNECTIONS -r 100 -d SECONDSs --threads 1 --quiet --no-store \
                              -o json=result.json";

macro_rules! brunt {
    ($server:expr, $($words:literal),+) => {
        ToolSetup {
            program: LoadProgram::Brunt,
            server: $server,
            words: concat!($($words),+, " -d SECONDSs --threads 1 --quiet --no-store -o json=result.json"),
        }
    };
}

/// Lag of a protocol in comparison with HTTP/1.1 on the same server, at both rates.
macro_rules! lags {
    ($protocol:literal, $reference:expr, $plain:literal, $server:expr, $words:literal) => {
        [
            lags!($protocol, $reference, $plain, $server, $words, "2000"),
            lags!($protocol, $reference, $plain, $server, $words, "10000"),
        ]
    };
    ($protocol:literal, $reference:expr, $plain:literal, $server:expr, $words:literal, $rate:literal) => {
        SideComparison {
            name: concat!("lag of ", $protocol, " at ", $rate, "/s"),
            figure: ComparedFigure::LagMicroseconds,
            reference: brunt!($reference, $plain, " -c 64 -r ", $rate, " --arrivals even"),
            ours: brunt!($server, $words, " -r ", $rate, " --arrivals even"),
            at_most: Some(1.5),
        }
    };
}

const fn cost(
    name: &'static str,
    reference: ToolSetup,
    ours: ToolSetup,
    at_most: Option<f64>,
) -> SideComparison {
    SideComparison { name, figure: ComparedFigure::CpuMicroseconds, reference, ours, at_most }
}

const H3: ToolSetup =
    brunt!(ServerKind::Caddy, "run https://ADDRESS/ --insecure --http 3 -c 8 --streams 32");
const CALLS: ToolSetup = brunt!(
    GRPC,
    "run http://ADDRESS/ --grpc shop.Shop/Buy --json {\"id\":7} --proto shop.proto -c 8 --streams 32"
);

/// CPU time per request.
const COSTS: [SideComparison; 5] = [
    cost(
        "HTTP/3, 8 connections of 32 streams, 10 bytes, compared with oha",
        ToolSetup {
            program: LoadProgram::Oha,
            server: ServerKind::Caddy,
            words: "--http-version 3 --insecure -c 8 -p 32 -z SECONDSs --no-tui --output-format json https://ADDRESS/",
        },
        H3,
        Some(0.7),
    ),
    cost(
        "HTTP/3, compared with brunt's HTTP/2",
        brunt!(ServerKind::Caddy, "run https://ADDRESS/ --insecure --http 2 -c 8 --streams 32"),
        H3,
        None,
    ),
    cost(
        "gRPC, 8 connections of 32 streams, compared with ghz",
        ToolSetup {
            program: LoadProgram::Ghz,
            server: GRPC,
            // ghz counts the concurrent calls of all connections: 8 × 32.
            words: "--insecure --proto shop.proto --call shop.Shop/Buy -d {\"id\":7} -c 256 --connections 8 -z SECONDSs ADDRESS",
        },
        CALLS,
        Some(0.2),
    ),
    cost(
        "gRPC, compared with brunt's HTTP/2 (POST of 7 bytes)",
        brunt!(PLAIN, "run http://ADDRESS/ --http 2 -c 8 --streams 32 --data message"),
        CALLS,
        Some(1.15),
    ),
    cost(
        "WebSocket, a message and its echo, 50 connections, compared with k6",
        ToolSetup {
            program: LoadProgram::K6,
            server: ServerKind::Lab("--echo"),
            words: "run --quiet --no-usage-report echo.js",
        },
        brunt!(ServerKind::Lab("--echo"), "run ws://ADDRESS/ --data hello -c 50"),
        Some(0.2),
    ),
];

/// Returns the rows of all comparisons.
pub fn rows() -> impl Iterator<Item = SideComparison> {
    let lags = [
        lags!(
            "HTTP/2",
            PLAIN,
            "run http://ADDRESS/",
            PLAIN,
            "run http://ADDRESS/ --http 2 -c 8 --streams 8"
        ),
        lags!(
            "HTTP/3",
            SECURE,
            "run https://ADDRESS/ --insecure",
            SECURE,
            "run https://ADDRESS/ --insecure --http 3 -c 8 --streams 8"
        ),
        lags!(
            "gRPC",
            PLAIN,
            "run http://ADDRESS/",
            GRPC,
            "run http://ADDRESS/ --grpc shop.Shop/Buy --json {\"id\":7} --proto shop.proto -c 8 --streams 8"
        ),
        lags!(
            "WebSocket",
            PLAIN,
            "run http://ADDRESS/",
            PLAIN,
            "run ws://ADDRESS/ --data hello -c 64"
        ),
    ];
    COSTS.into_iter().chain(lags.into_iter().flatten())
}
