//! Tests each rule with facts that cause advice, and with the closest facts that do not.

use super::*;
use crate::advice::Certainty;
use crate::facts::{
    CertificateFacts, CompressionFacts, FailureFacts, MachineFacts, OfferedVersion, ReplyFacts,
    RequestedLoad, TlsFacts,
};
use brunt_model::Route;
use brunt_model::outcome::grpc_code_status;
use brunt_model::plan::HttpVersion;
use brunt_probe::settings::KernelSettings;
use brunt_wire::tls::HandshakeFailureCause;

/// Facts without advice: this machine and this server can serve the load.
fn sound() -> CheckFacts {
    CheckFacts {
        url: "http://10.0.0.2/a/".into(),
        requested: RequestedLoad {
            connections: Some(100),
            sources: 1,
            duration_seconds: Some(10.0),
            ..RequestedLoad::default()
        },
        machine: MachineFacts {
            descriptors: 1024,
            cores: 4,
            other_processes_cores: Some(0.1),
            settings: KernelSettings {
                local_ports: Some((32768, 60999)),
                tw_reuse: Some(2),
                somaxconn: Some(4096),
                syn_backlog: Some(1024),
                syncookies: Some(0),
                conntrack_max: Some(1000),
                conntrack_count: Some(0),
                governor: Some("performance".into()),
            },
        },
        addresses: vec!["10.0.0.2:80".into()],
        route: Some(Route {
            same_host: Some(false),
            link_bits_per_second: Some(1_000_000_000),
            ..Route::default()
        }),
        reply: Some(ReplyFacts {
            status: 200,
            body_bytes: 12_000,
            head_bytes: 200,
            keep_alive: Some(true),
            ..ReplyFacts::default()
        }),
        ..CheckFacts::default()
    }
}

fn with(change: impl Fn(&mut CheckFacts)) -> Vec<Advice> {
    let mut facts = sound();
    change(&mut facts);
    advise(&facts)
}

fn rules(change: impl Fn(&mut CheckFacts)) -> Vec<&'static str> {
    with(change).iter().map(|a| a.rule).collect()
}

fn on_this_host(f: &mut CheckFacts) -> &mut Route {
    let listener = Some("nginx (pid 12)".to_owned());
    f.route.insert(Route { same_host: Some(true), listener, ..Route::default() })
}

#[test]
fn a_sound_load_needs_no_advice() {
    assert!(rules(|_| ()).is_empty());
    assert!(advise(&CheckFacts::default()).is_empty());
}

#[test]
fn every_advice_has_a_fact_a_reason_and_a_command() {
    let advice = with(|f| {
        f.requested.connections = Some(100_000);
        f.machine.settings.governor = Some("powersave".into());
        on_this_host(f).listener_backlog = Some(511);
    });
    assert!(advice.len() >= 5, "{advice:?}");
    assert!(
        advice.iter().all(|a| !a.what.is_empty() && !a.why.is_empty() && !a.command.is_empty())
    );
    assert!(advice.is_sorted_by_key(|a| a.certainty));
}

#[test]
fn descriptors_are_reserved_for_other_uses() {
    // 64 descriptors are reserved for everything else: 960 + 64 = 1024.
    assert!(rules(|f| f.requested.connections = Some(960)).is_empty());
    let advice = with(|f| f.requested.connections = Some(961));
    assert_eq!((advice[0].rule, advice[0].certainty), ("descriptors", Certainty::Perhaps));
    assert!(advice[0].why.contains("into 2 processes"), "{}", advice[0].why);
    assert!(advice[0].command.contains("ulimit -Hn 1025"), "{}", advice[0].command);
    let refused = with(|f| f.requested.connections = Some(960 * 256 + 1));
    assert_eq!((refused[0].rule, refused[0].certainty), ("descriptors", Certainty::Surely));
}

#[test]
fn ports_are_counted_for_each_source_and_address() {
    let many = |f: &mut CheckFacts| {
        f.machine.descriptors = 1 << 20;
        f.requested.connections = Some(28_233);
    };
    let advice = with(many);
    assert_eq!((advice[0].rule, advice[0].certainty), ("local_ports", Certainty::Surely));
    assert!(advice[0].note().contains("28,232 local ports"), "{}", advice[0].note());
    assert!(
        rules(|f| {
            many(f);
            f.requested.connections = Some(28_232);
        })
        .is_empty()
    );
    assert!(
        rules(|f| {
            many(f);
            f.requested.sources = 2;
        })
        .is_empty()
    );
    assert!(
        rules(|f| {
            many(f);
            f.addresses.push("10.0.0.3:80".into());
        })
        .is_empty()
    );
    assert!(
        rules(|f| {
            many(f);
            f.addresses.clear();
        })
        .is_empty()
    );
}

#[test]
fn ports_in_time_wait_get_advice() {
    // 10 s at 3000/s are 30,000 ports; reused after a second they are 3,000.
    let fast = |f: &mut CheckFacts| f.requested.new_connections_per_second = Some(3000.0);
    assert_eq!(rules(fast), ["time_wait"]);
    assert!(
        rules(|f| {
            fast(f);
            f.machine.settings.tw_reuse = Some(1);
        })
        .is_empty()
    );
    assert!(
        rules(|f| {
            fast(f);
            f.requested.duration_seconds = Some(9.0);
        })
        .is_empty()
    );
    assert!(
        !rules(|f| {
            fast(f);
            on_this_host(f);
        })
        .contains(&"time_wait")
    );
}

#[test]
fn conntrack_matters_only_if_it_tracks_connections() {
    let many = |f: &mut CheckFacts| f.requested.connections = Some(950);
    assert!(rules(many).is_empty());
    let advice = with(|f| {
        many(f);
        f.machine.settings.conntrack_count = Some(51);
    });
    assert_eq!((advice[0].rule, advice[0].certainty), ("conntrack", Certainty::Surely));
    assert_eq!(advice[0].command, "sysctl -w net.netfilter.nf_conntrack_max=1024");
    assert!(
        rules(|f| {
            many(f);
            f.machine.settings.conntrack_count = Some(50);
        })
        .is_empty()
    );
}

#[test]
fn the_limits_of_the_server_are_compared_with_the_load() {
    let advice = with(|f| on_this_host(f).listener_descriptors = Some(115));
    assert_eq!((advice[0].rule, advice[0].certainty), ("server_descriptors", Certainty::Surely));
    assert!(advice[0].command.contains("worker_rlimit_nofile 128"), "{}", advice[0].command);
    let other = with(|f| {
        let route = on_this_host(f);
        (route.listener_descriptors, route.listener) = (Some(115), Some("lighttpd (pid 9)".into()));
    });
    assert!(other[0].command.contains("prlimit --nofile=128:128 --pid 9"), "{}", other[0].command);
    assert!(
        !rules(|f| on_this_host(f).listener_descriptors = Some(116))
            .contains(&"server_descriptors")
    );
}

#[test]
fn a_short_accept_queue_gets_advice() {
    let advice = with(|f| on_this_host(f).listener_backlog = Some(99));
    assert_eq!(advice[0].rule, "backlog");
    assert!(advice[0].command.starts_with("`listen … backlog=128;`"), "{}", advice[0].command);
    let both = with(|f| {
        on_this_host(f).listener_backlog = Some(64);
        f.machine.settings.somaxconn = Some(64);
    });
    assert!(
        both[0].command.starts_with("sysctl -w net.core.somaxconn=128; then"),
        "{}",
        both[0].command
    );
    assert!(!rules(|f| on_this_host(f).listener_backlog = Some(100)).contains(&"backlog"));
}

#[test]
fn syn_cookies_remove_the_limit_of_the_syn_queue() {
    let short = |f: &mut CheckFacts| {
        on_this_host(f);
        f.machine.settings.syn_backlog = Some(99);
    };
    assert!(rules(short).contains(&"syn_backlog"));
    assert!(
        !rules(|f| {
            short(f);
            f.machine.settings.syncookies = Some(1);
        })
        .contains(&"syn_backlog")
    );
}

#[test]
fn advice_on_the_link_depends_on_its_speed() {
    // 12,200 bytes are 97,600 bits: 9,221/s fill 90 % of 1 Gbit/s.
    let advice = with(|f| f.requested.rate_per_second = Some(9_300.0));
    assert_eq!(advice[0].rule, "link");
    assert!(advice[0].command.starts_with("--rate 9221"), "{}", advice[0].command);
    assert!(rules(|f| f.requested.rate_per_second = Some(9_200.0)).is_empty());
}

#[test]
fn shared_cores_get_advice_with_both_commands() {
    let advice = with(|f| {
        on_this_host(f);
    });
    assert_eq!(advice[0].rule, "shared_cores");
    assert!(
        advice[0].command.starts_with("taskset -acp 0-2 12; taskset -c 3 brunt"),
        "{}",
        advice[0].command
    );
    let one = with(|f| {
        on_this_host(f);
        f.machine.cores = 1;
    });
    assert_eq!(one[0].command, "measure from another machine");
}

#[test]
fn cpu_governors_other_than_performance_get_advice() {
    assert_eq!(rules(|f| f.machine.settings.governor = Some("schedutil".into())), ["governor"]);
    assert!(rules(|f| f.machine.settings.governor = None).is_empty());
}

#[test]
fn advice_on_a_redirect_has_its_target() {
    let redirect = |f: &mut CheckFacts| {
        f.reply = Some(ReplyFacts {
            status: 301,
            location: Some("../b".into()),
            ..ReplyFacts::default()
        });
    };
    let advice = with(redirect);
    assert_eq!(advice[0].command, "brunt http://10.0.0.2/b, or --follow 5");
    assert!(
        rules(|f| {
            redirect(f);
            f.requested.follows = true;
        })
        .is_empty()
    );
}

#[test]
fn a_good_call_of_grpc_is_no_error() {
    let of_status = |status| {
        rules(|f| f.reply = Some(ReplyFacts { status, ..f.reply.clone().unwrap_or_default() }))
    };
    assert!(of_status(grpc_code_status(0)).is_empty());
    assert_eq!(of_status(grpc_code_status(14)), ["error_status"]);
    let advice = with(|f| {
        f.reply = Some(ReplyFacts { status: grpc_code_status(14), ..ReplyFacts::default() });
    });
    assert_eq!(advice[0].what, "the status of the reply is grpc 14 UNAVAILABLE");
}

#[test]
fn a_server_with_only_http2_needs_its_option() {
    let h2c = OfferedVersion {
        version: HttpVersion::V2,
        streams: Some(100),
        window_bytes: Some(65_535),
        quic: None,
    };
    assert!(rules(|f| f.h2c = Some(h2c.clone())).is_empty());
    let advice = rules(|f| {
        f.h2c = Some(h2c.clone());
        f.reply = None;
        f.failure = Some(FailureFacts::default());
    });
    assert_eq!(advice, ["needs_h2c"]);
}

#[test]
fn error_statuses_get_advice_unless_they_are_expected() {
    let advice = |status| with(move |f| f.reply.as_mut().unwrap().status = status);
    for (status, command) in [
        (401, "send credentials: --basic, --bearer or --cookie"),
        (404, "check the URLs: an error page is faster than a real page"),
        (405, "the path does not take this method: see -X"),
        (500, "check the server's error log"),
    ] {
        let found = &advice(status)[0];
        assert_eq!(
            (found.rule, found.certainty, &*found.command),
            ("error_status", Certainty::Surely, command)
        );
    }
    assert_eq!(advice(404)[0].what, "the status of the reply is 404");
    assert!(advice(204).is_empty());
    let expected = rules(|f| {
        f.reply.as_mut().unwrap().status = 404;
        f.requested.expects_status = true;
    });
    assert!(expected.is_empty());
}

#[test]
fn plain_http_on_a_tls_port_gets_the_url_to_write() {
    let advice = with(|f| {
        f.url = "http://10.0.0.2:8443/a?b=c".into();
        f.reply.as_mut().unwrap().status = 400;
        f.needs_tls = true;
    });
    assert_eq!(advice.len(), 1, "{advice:?}");
    assert_eq!(
        (advice[0].rule, &*advice[0].command),
        ("needs_tls", "write https://10.0.0.2:8443/a?b=c")
    );
    let urls = ["http://h/", "http://[::1]?a:b", "http://[::1]:81/", "https://h/"]
        .map(crate::route::with_tls);
    assert_eq!(
        urls.each_ref().map(Option::as_deref),
        [Some("https://h:80/"), Some("https://[::1]:80?a:b"), Some("https://[::1]:81/"), None]
    );
}

#[test]
fn a_busy_machine_gets_advice() {
    // A quarter of four cores.
    assert_eq!(rules(|f| f.machine.other_processes_cores = Some(1.0)), ["busy_machine"]);
    assert!(rules(|f| f.machine.other_processes_cores = Some(0.99)).is_empty());
    assert!(rules(|f| f.machine.other_processes_cores = None).is_empty());
}

#[test]
fn closing_servers_and_compressed_bodies_get_advice() {
    let closing = |keep_alive, reused| {
        rules(move |f| {
            let reply = f.reply.as_mut().unwrap();
            (reply.keep_alive, reply.reused) = (keep_alive, reused);
        })
    };
    assert_eq!(closing(Some(false), None), ["keep_alive"]);
    assert_eq!(closing(Some(true), Some(false)), ["keep_alive"]);
    assert!(closing(None, None).is_empty() && closing(Some(true), Some(true)).is_empty());
    let packed = |body_bytes, coding: &str| {
        let content_encoding = Some(coding.to_owned());
        with(move |f| {
            f.compression = Some(CompressionFacts {
                accepted: None,
                content_encoding: content_encoding.clone(),
                body_bytes,
            });
        })
    };
    assert_eq!(packed(3_000, "gzip")[0].command, "--compressed");
    assert_eq!(packed(3_000, "br")[0].command, "-H 'Accept-Encoding: br'");
    assert!(packed(11_900, "gzip").is_empty());
}

#[test]
fn expiring_certificates_get_advice() {
    let certified = |days_left, distrust: Option<&str>, cause: Option<HandshakeFailureCause>| {
        let certificate = CertificateFacts {
            days_left,
            valid_to: "2026-01-31".into(),
            names: vec!["a.test".into()],
            ..CertificateFacts::default()
        };
        let tls = TlsFacts {
            certificate: Some(certificate),
            distrust: distrust.map(Into::into),
            cause,
            ..TlsFacts::default()
        };
        with(move |f| f.tls = Some(tls.clone()))
    };
    assert!(certified(14, None, None).is_empty());
    assert_eq!(certified(13, None, None)[0].rule, "certificate_ends");
    let expired = &certified(-1, Some("expired"), Some(HandshakeFailureCause::Expired))[0];
    assert_eq!((expired.rule, expired.certainty), ("certificate", Certainty::Surely));
    assert!(
        expired.what.contains("expired on 2026-01-31") && expired.command.contains("renew"),
        "{expired:?}"
    );
    assert!(
        certified(90, Some("issuer not trusted"), Some(HandshakeFailureCause::UnknownIssuer))[0]
            .command
            .contains("--cacert")
    );
    let own = CertificateFacts { days_left: 90, self_signed: true, ..CertificateFacts::default() };
    let tls = TlsFacts {
        certificate: Some(own),
        distrust: Some("self-signed".into()),
        ..TlsFacts::default()
    };
    assert!(
        with(move |f| f.tls = Some(tls.clone()))[0]
            .command
            .starts_with("--cacert FILE with this certificate")
    );
    assert!(
        certified(90, Some("another name"), Some(HandshakeFailureCause::WrongName))[0]
            .command
            .starts_with("--sni a.test")
    );
}
