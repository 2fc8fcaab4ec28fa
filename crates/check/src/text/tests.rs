use super::*;
use crate::facts::{CertificateFacts, FailureFacts, VERSION};
use crate::rules;
use brunt_model::agent::AgentConnection;
use brunt_model::{AgentFacts, ClockOffset};
use brunt_probe::settings::KernelSettings;

/// Facts of nginx on this machine, over TLS with a self-signed certificate; 5,000 connections.
fn nginx() -> CheckFacts {
    let certificate = CertificateFacts {
        subject: "CN=localhost".into(),
        issuer: "CN=localhost".into(),
        names: vec!["localhost".into()],
        valid_from: "2026-11-21".into(),
        valid_to: "2026-12-01".into(),
        days_left: 9,
        self_signed: true,
    };
    CheckFacts {
        method: "GET".into(),
        url: "https://localhost:8443/page.txt".into(),
        requested: RequestedLoad {
            connections: Some(5000),
            duration_seconds: Some(10.0),
            sources: 1,
            ..RequestedLoad::default()
        },
        machine: machine_of_two_cores(),
        addresses: vec!["127.0.0.1:8443".into()],
        route: Some(Route {
            same_host: Some(true),
            listener: Some("nginx (pid 29215)".into()),
            listener_backlog: Some(511),
            listener_descriptors: Some(2048),
            interface: Some("lo".into()),
            mtu_bytes: Some(65_536),
            ..Route::default()
        }),
        connection: Some(ConnectionFacts {
            peer: Some("127.0.0.1:8443".into()),
            resolve_seconds: Some(196e-6),
            round_trip_seconds: 17e-6,
            connects: 5,
        }),
        h2c: None,
        tls: Some(TlsFacts {
            alpn_offered: vec!["http/1.1".into()],
            alpn: Some("http/1.1".into()),
            version: Some("TLSv1.2".into()),
            cipher: Some("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384".into()),
            handshake_seconds: 34.1e-3,
            resumed: Some(true),
            resumed_handshake_seconds: Some(153e-6),
            chain: 1,
            certificate: Some(certificate),
            ..TlsFacts::default()
        }),
        reply: Some(reply_of_nginx()),
        compression: Some(CompressionFacts {
            accepted: Some("gzip, br".into()),
            content_encoding: Some("gzip".into()),
            body_bytes: 107,
        }),
        failure: None,
        needs_tls: false,
        agents: Vec::new(),
    }
}

fn machine_of_two_cores() -> MachineFacts {
    let settings = KernelSettings {
        local_ports: Some((32_768, 60_999)),
        tw_reuse: Some(2),
        somaxconn: Some(4096),
        syn_backlog: Some(2048),
        conntrack_max: Some(262_144),
        ..KernelSettings::default()
    };
    MachineFacts { descriptors: 20_000, cores: 2, other_processes_cores: None, settings }
}

fn reply_of_nginx() -> ReplyFacts {
    ReplyFacts {
        status: 200,
        protocol: "HTTP/1.1".into(),
        server: Some("nginx/1.22.1".into()),
        head_bytes: 265,
        body_bytes: 5800,
        framing: "content-length".into(),
        service_seconds: 20.1e-6,
        keep_alive: Some(true),
        keep_alive_header: Some("timeout=30".into()),
        alt_svc: None,
        reused: Some(true),
        ..ReplyFacts::default()
    }
}

fn closed_port() -> CheckFacts {
    let failure = FailureFacts {
        kind: "refused".into(),
        meaning: "connection refused: no process listens on this port".into(),
        detail: "Connection refused".into(),
        remedy: "is the server running, and on this port?".into(),
    };
    let CheckFacts { method, machine, requested: asked, .. } = nginx();
    CheckFacts {
        method,
        url: "http://127.0.0.1:1/".into(),
        machine,
        requested: asked,
        failure: Some(failure),
        ..CheckFacts::default()
    }
}

fn screens(columns: usize) -> String {
    let screen = |(name, facts): (&str, CheckFacts)| {
        let report = CheckReport { version: VERSION, advice: rules::advise(&facts), facts };
        let text = text(&report, &View { columns, ..View::default() });
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        format!("===== {name} =====\n{text}")
    };
    [("nginx", nginx()), ("no reply", closed_port())].map(screen).join("\n")
}

#[test]
fn screens_of_60_columns() {
    insta::assert_snapshot!(screens(60));
}

#[test]
fn screens_of_80_columns() {
    insta::assert_snapshot!(screens(80));
}

#[test]
fn screens_of_120_columns() {
    insta::assert_snapshot!(screens(120));
}

#[test]
fn an_agent_is_described_in_a_line() {
    let mut one = AgentEnvironment {
        group: None,
        name: "load1".into(),
        facts: AgentFacts {
            brunt: "0.1.0".into(),
            host: "vm1".into(),
            cores: 4,
            descriptors: 1_048_576,
            kernel: "Linux 6.1.0 x86_64".into(),
            sysctls: vec![
                ("net.ipv4.ip_local_port_range".into(), "32768\t60999".into()),
                ("net.ipv4.tcp_tw_reuse".into(), "2".into()),
                ("net.ipv4.tcp_rmem".into(), "4096 131072 6291456".into()),
            ],
            ..AgentFacts::default()
        },
        clock: ClockOffset { offset_nanos: 5, error_nanos: 31_000, round_trip_nanos: 60_000 },
        route: None,
    };
    assert_eq!(
        agent_machine(&one),
        "load1: brunt 0.1.0 on vm1, 4 cores, limit on open files 1,048,576, 28,232 local ports, tcp_tw_reuse 2, \
         Linux 6.1.0 x86_64, round trip to it 60.0 µs, clock error at most 31.0 µs"
    );
    one.clock.error_nanos = 0;
    let text = agent_machine(&one);
    assert!(text.ends_with("its clock is this machine's"), "{text}");
}

#[test]
fn the_way_from_an_agent_to_the_server_is_described() {
    let connection = AgentConnection {
        local: "10.0.0.5:40000".parse().unwrap(),
        server: "192.0.2.1:80".parse().unwrap(),
        round_trip_seconds: 0.012,
    };
    let route =
        Route { same_host: Some(false), interface: Some("eth0".into()), ..Route::default() };
    let mut check = AgentCheck {
        route: Some(route),
        connection: Some(connection),
        failure: None,
        requests_per_core_second: None,
    };
    assert_eq!(
        way(&check),
        "round trip 12.0 ms to 192.0.2.1:80 from 10.0.0.5, through an address translation (NAT), another machine, interface eth0"
    );
    check.connection = None;
    check.failure = Some("192.0.2.1:80: connection refused".into());
    assert_eq!(
        way(&check),
        "no connection to the server: 192.0.2.1:80: connection refused, another machine, interface eth0"
    );
}
