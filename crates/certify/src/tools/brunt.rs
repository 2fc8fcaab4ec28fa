//! brunt as a child of itself: even arrivals as other tools have them, and its JSON report.

use super::text::{is_refusal, json, number_at, sum};
use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "brunt",
    program: None,
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("brunt.json"),
    note: "open: `-r RATE --arrivals even`, closed: `-c N`; JSON report",
    command,
    read,
};

/// brunt with HTTP/2 instead of HTTP/1.1.
pub const HTTP2: ScoredTool = ScoredTool {
    name: "brunt-http2",
    protocol: Protocol::Http2,
    note: "open: `--http 2 -c 4 --streams N -r RATE --arrivals even`, closed: `--http 2 -c 1 --streams N`; JSON report",
    command: command_http2,
    ..TOOL
};

/// brunt with HTTP/3 instead of HTTP/1.1.
pub const HTTP3: ScoredTool = ScoredTool {
    name: "brunt-http3",
    protocol: Protocol::Http3,
    note: "as brunt-http2, with `--http 3 --insecure` and URLs of https; JSON report",
    command: command_http3,
    ..TOOL
};

/// brunt with messages over `WebSocket`s.
pub const WEBSOCKET: ScoredTool = ScoredTool {
    name: "brunt-ws",
    protocol: Protocol::WebSocket,
    note: "as brunt, with `ws://` and `--data x`: a message and its reply; JSON report",
    command: command_websocket,
    ..TOOL
};

/// brunt with gRPC calls.
pub const GRPC: ScoredTool = ScoredTool {
    name: "brunt-grpc",
    protocol: Protocol::Grpc,
    note: "as brunt-http2, with `--grpc lab.Lab/Call`: a message and its reply; JSON report",
    command: command_grpc,
    read: read_grpc,
    ..TOOL
};

/// Definition of a service that the lab implements.
const PROTO: &str = "syntax = \"proto3\"; package lab; message Message { bytes body = 1; } \
                     service Lab { rpc Call(Message) returns (Message); }";

/// brunt with messages over `WebSocket`s on streams of HTTP/2.
pub const WEBSOCKET_HTTP2: ScoredTool = ScoredTool {
    name: "brunt-ws-h2",
    protocol: Protocol::WebSocket,
    note: "as brunt-ws, with `--http 2` and at most 100 WebSockets on a connection; JSON report",
    command: command_websocket_http2,
    ..TOOL
};

/// Maximum number of streams on a connection of the lab.
const MOST_STREAMS: u32 = 100;

/// Connections of the open loop over HTTP/2 and HTTP/3.
const H2_CONNECTIONS: u32 = 4;

fn command(job: &LoadParameters) -> ToolCommand {
    measure(&job.url(), job, &load(job))
}

fn load(job: &LoadParameters) -> String {
    match job.way {
        LoadMode::Open => format!("-r {} --arrivals even", job.rate),
        LoadMode::Closed => format!("-c {}", job.connections),
    }
}

fn command_websocket(job: &LoadParameters) -> ToolCommand {
    measure(&job.url().replace("http://", "ws://"), job, &format!("--data x {}", load(job)))
}

/// Each WebSocket occupies a stream, so a connection has at most as many of them as streams.
fn command_websocket_http2(job: &LoadParameters) -> ToolCommand {
    let load = match job.way {
        LoadMode::Open => {
            let connections = job.most.div_ceil(MOST_STREAMS).max(H2_CONNECTIONS);
            let streams = job.most.div_ceil(connections);
            format!("-c {connections} --streams {streams} -r {} --arrivals even", job.rate)
        }
        LoadMode::Closed => format!("-c 1 --streams {}", job.connections),
    };
    measure(&job.url().replace("http://", "ws://"), job, &format!("--http 2 --data x {load}"))
}

fn command_http2(job: &LoadParameters) -> ToolCommand {
    measure(&job.url(), job, &format!("--http 2 {}", streams(job)))
}

fn command_http3(job: &LoadParameters) -> ToolCommand {
    measure(
        &job.url().replace("http://", "https://"),
        job,
        &format!("--http 3 --insecure {}", streams(job)),
    )
}

fn command_grpc(job: &LoadParameters) -> ToolCommand {
    let call = format!("--grpc lab.Lab/Call --proto lab.proto {}", streams(job));
    measure(&job.url(), job, &call).with_file("lab.proto", PROTO.to_owned())
}

fn streams(job: &LoadParameters) -> String {
    match job.way {
        LoadMode::Open => {
            let streams = job.most.div_ceil(H2_CONNECTIONS);
            format!("-c {H2_CONNECTIONS} --streams {streams} -r {} --arrivals even", job.rate)
        }
        LoadMode::Closed => format!("-c 1 --streams {}", job.connections),
    }
}

fn measure(url: &str, job: &LoadParameters, load: &str) -> ToolCommand {
    ToolCommand::line(&format!(
        "brunt run {url} {load} -d {}s -q --no-store -o json=brunt.json",
        job.seconds
    ))
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    read_with(report, is_refusal)
}

/// Reads a report in which any gRPC status other than OK counts as refused.
fn read_grpc(report: &ToolReport) -> Result<CertifiedFigures, String> {
    read_with(report, |status| {
        status.strip_prefix("grpc ").is_some_and(|code| !code.starts_with("0 "))
    })
}

fn read_with(
    report: &ToolReport,
    is_refusal: impl Fn(&str) -> bool,
) -> Result<CertifiedFigures, String> {
    let json = json(&report.file)?;
    let times = CertifiedFigures::from_summary(&json["response_time_seconds"]);
    let failed = number_at(&json, "/requests/failed").ok_or("its JSON counts no requests")?;
    let figures =
        CertifiedFigures { throughput: number_at(&json, "/throughput_per_second"), ..times };
    Ok(figures.with_errors(failed, sum(&json["outcomes"], is_refusal)))
}
