//! Reads a machine over `ssh`: this one, through an sshd of the test.

use super::ProbeObserver;
use crate::world::skip::{program, skip};
use crate::world::sshd::Sshd;
use crate::world::{nginx, port as ports};
use brunt_model::Probed;
use brunt_model::probe_spec::{ProbeAccess, Select};
use brunt_model::reading_names::{self as name, server};

#[test]
fn a_machine_over_ssh_has_the_readings_of_this_one() {
    let test = "probes::ssh::a_machine_over_ssh_has_the_readings_of_this_one";
    let Some(mut sshd) = Sshd::start(test) else { return };
    let Some(nginx) = nginx(test, "") else { return };
    let select = || Select::Port(nginx.port);
    let mut watched = ProbeObserver::start(&[
        ("far", Probed::Host { via: sshd.via() }),
        ("near", Probed::Host { via: ProbeAccess::Local }),
        ("far", Probed::Processes { select: select(), via: sshd.via() }),
        ("near", Probed::Processes { select: select(), via: ProbeAccess::Local }),
    ]);
    watched.wait_until("readings of both", |w| {
        w.readings_of("process:far").len() >= 3 && w.readings_of("process:near").len() >= 3
            || w.warnings().iter().any(|t| t.contains("ssh"))
    });
    if watched.warnings().iter().any(|t| t.contains("Permission denied")) {
        return skip(test, &format!("sshd lets nobody in: {:?}", watched.warnings()));
    }
    assert_eq!(watched.warnings(), Vec::<&str>::new());
    // Values over the time between two readings are missing if that time was too short.
    let names = |source: &str| {
        last_reading(&watched, source)
            .into_keys()
            .filter(|name| name != name::BUSIEST_SOFTIRQ)
            .collect::<Vec<_>>()
    };
    assert_eq!(names("host:far"), names("host:near"), "the same files, the same parsers");
    let far = last_reading(&watched, "process:far");
    let near = last_reading(&watched, "process:near");
    for same in [server::PROCESSES, server::THREADS, name::DESCRIPTORS, server::ACCEPT_QUEUE_LIMIT]
    {
        assert_eq!(far.get(same), near.get(same), "{same}: {far:?} {near:?}");
    }
    for key in
        [name::CPU_USER, name::RESIDENT, server::SWITCHES_VOLUNTARY, server::DESCRIPTORS_SHARE]
    {
        assert!(far.contains_key(key), "{key}: {far:?}");
    }
    // The remote end stops: one warning for each of its probes.
    sshd.end();
    watched.wait_until("a warning", |w| {
        w.warnings().iter().filter(|t| t.contains("ssh 127.0.0.1")).count() == 2
    });
}

fn last_reading(watched: &ProbeObserver, source: &str) -> std::collections::BTreeMap<String, f64> {
    watched.readings_of(source).pop().unwrap_or_default()
}

#[test]
fn an_unreachable_machine_is_reported_with_the_message_of_ssh() {
    let test = "an_unreachable_machine_is_reported_with_the_message_of_ssh";
    if program("ssh").is_none() {
        return skip(test, "no OpenSSH client here");
    }
    let options = ["-F", "none", "-p", &ports::free().to_string()].map(str::to_owned).to_vec();
    let via = ProbeAccess::Ssh { host: "127.0.0.1".into(), options };
    let mut watched = ProbeObserver::start(&[
        ("gone", Probed::Host { via }),
        ("here", Probed::Host { via: ProbeAccess::Local }),
    ]);
    watched.wait_until("a warning", |w| {
        !w.warnings().is_empty() && w.readings_of("host:here").len() >= 10
    });
    let warnings = watched.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("probe host:gone: ssh 127.0.0.1: ")
            && warnings[0].contains("Connection refused"),
        "{warnings:?}"
    );
}
