//! Causes common mistakes of load tests against real servers, and checks the finding of each.
//!
//! The first three are those of the nginx and Apache comparison of 2014: a rate set by think time,
//! a run cut short, and sleeping users.

use crate::world::machine::retry_under_steal_time;
use crate::world::namespace::shaped;
use crate::world::skip::skip;
use crate::world::{brunt, command, lab, nginx, start};
use brunt_model::codec::LogReader;
use brunt_model::{Finding, Judgement, Run};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use rustix::process::Signal;
use std::fs::File;
use std::io::BufReader;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A run and its judgement.
struct ExplainedRun {
    run: Run,
    judgement: Judgement,
}

/// Measures, and judges the event log.
fn explain_line(line: &str) -> ExplainedRun {
    explain_command(&mut command(line), |_| ())
}

/// Measures while `meanwhile` runs, and judges the event log.
fn explain_command(
    command: &mut Command,
    meanwhile: impl FnOnce(&brunt::RunningBrunt),
) -> ExplainedRun {
    let dir = TempDir::new().expect("a directory");
    let log = dir.path().join("events");
    let running = start(command.arg("--events").arg(&log));
    meanwhile(&running);
    running.finish();
    let run = read(&log);
    let judgement = brunt_judge::judge(&run);
    ExplainedRun { run, judgement }
}

fn read(log: &Path) -> Run {
    let mut log = LogReader::new(BufReader::new(File::open(log).expect("a log"))).expect("a log");
    let mut run = Run::default();
    while let Some(event) = log.next_event().expect("whole events") {
        run.fold(&event);
    }
    run
}

impl ExplainedRun {
    fn finding(&self, rule: &str) -> Option<&Finding> {
        self.judgement.findings.iter().find(|f| f.rule == rule)
    }

    /// Sentence of the finding of a rule, which must exist.
    fn sentence(&self, rule: &str) -> &str {
        &self.finding(rule).unwrap_or_else(|| panic!("no {rule}: {}", self.summary())).sentence
    }

    /// Sentence of the finding of a rule about the cause of a rate. It is absent only if the verdict names another
    /// cause: a busy machine slows replies and load.
    fn sentence_unless_disturbed(&self, rule: &str) -> Option<&str> {
        let is_disturbed = self.judgement.verdict.state.is_disturbed();
        (self.finding(rule).is_some() || !is_disturbed).then(|| self.sentence(rule))
    }

    /// Verdict, findings and counts, for a message.
    fn summary(&self) -> String {
        let Judgement { verdict, findings, .. } = &self.judgement;
        let sentences = findings.iter().map(|f| format!("{}: {}", f.rule, &*f.sentence));
        format!(
            "{verdict:?}\n{:?}\n{}",
            self.run.flow_all,
            sentences.collect::<Vec<_>>().join("\n")
        )
    }

    /// Remedy of the finding of a rule.
    fn remedy(&self, rule: &str) -> &str {
        self.finding(rule).and_then(|f| f.remedy.as_deref()).expect("a remedy")
    }

    fn is_silent(&self, rules: &[&str]) {
        let found: Vec<_> = rules.iter().filter_map(|rule| self.finding(rule)).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}

/// Rules that must find nothing in a run without a fault, however busy the machine is.
const FAULTS: [&str; 15] = [
    "cut_short",
    "too_short",
    "nothing_good",
    "no_reply",
    "error_replies",
    "redirects",
    "length_drift",
    "think_time",
    "idle_users",
    "link",
    "accept_queue",
    "slow_connects",
    "file_limit",
    "connection_limit",
    "reuse",
];

#[test]
fn a_run_without_a_fault_has_no_findings() {
    retry_under_steal_time("explain::a_run_without_a_fault_has_no_findings", || {
        let Some(nginx) = nginx("explain::a_run_without_a_fault_has_no_findings", "") else {
            return;
        };
        for load in ["-c 8 -d 2s", "-r 500 -d 2s", "-c 64 --no-keepalive -d 1500ms"] {
            let explained = explain_line(&format!("{} {load}", nginx.url_of("/")));
            explained.is_silent(&FAULTS);
            assert!(explained.sentence("same_machine").contains("share this machine and its CPU"));
        }
    });
}

#[test]
fn a_rate_set_by_think_time_is_named() {
    let Some(nginx) = nginx("explain::a_rate_set_by_think_time_is_named", "") else { return };
    let explained = explain_line(&format!("{} -c 500 --think 0.5s..1.5s -d 4s", nginx.url_of("/")));
    if let Some(sentence) = explained.sentence_unless_disturbed("think_time") {
        assert!(sentence.contains("500 users / (1.00 s of thinking"), "{sentence}");
    }
    explained.is_silent(&["cut_short", "too_short", "overload"]);
}

#[test]
fn sleeping_users_are_named() {
    let Some(nginx) = nginx("explain::sleeping_users_are_named", "") else { return };
    let explained = explain_line(&format!("{} -c 1500 --think 1s..3s -d 4s", nginx.url_of("/")));
    if let Some(sentence) = explained.sentence_unless_disturbed("idle_users") {
        assert!(sentence.contains("of 1,500") && sentence.contains("thinking"), "{sentence}");
    }
}

#[test]
fn a_run_that_was_cut_short_is_named() {
    let Some(nginx) = nginx("explain::a_run_that_was_cut_short_is_named", "") else { return };
    let loads = [
        ("-c 100 --think 50ms -n 10000000", "of 10,000,000 requests"),
        ("-c 100 -d 60s", "of 60.0 s"),
    ];
    for (load, planned) in loads {
        let before = nginx.requests();
        let explained =
            explain_command(&mut command(&format!("{} {load}", nginx.url_of("/"))), |running| {
                crate::world::wait_until("requests", || nginx.requests() > before + 500);
                sleep(Duration::from_millis(200));
                running.signal(Signal::INT);
            });
        let sentence = explained.sentence("cut_short");
        assert!(sentence.contains("interrupted after") && sentence.contains(planned), "{sentence}");
        explained.is_silent(&["too_short"]);
    }
}

#[test]
fn a_reply_that_is_no_page_is_reported() {
    let routes = "location /moved { return 302 /; } location /busy { return 503; }";
    let Some(nginx) = nginx("explain::a_reply_that_is_no_page_is_reported", routes) else { return };
    for (path, rule, status) in [
        ("/moved", "redirects", "302"),
        ("/busy", "error_replies", "503"),
        ("/none", "error_replies", "404"),
    ] {
        let explained = explain_line(&format!("{} -c 4 -n 2000", nginx.url_of(path)));
        assert!(
            explained.sentence(rule).contains(&format!("× {status}")),
            "{}",
            explained.sentence(rule)
        );
    }
    explain_line(&format!("{} -c 4 -n 2000 --follow 1", nginx.url_of("/moved")))
        .is_silent(&["redirects"]);
}

#[test]
fn a_limit_on_requests_of_a_connection_is_named() {
    for (limit, words) in [
        ("keepalive_requests 100;", "100 unless set"),
        ("keepalive_timeout 0;", "keepalive_timeout 0"),
    ] {
        let Some(nginx) = nginx("explain::a_limit_on_requests_of_a_connection_is_named", limit)
        else {
            return;
        };
        let explained = explain_line(&format!("{} -c 8 -n 5000", nginx.url_of("/")));
        assert!(explained.sentence("reuse").contains("because the server closed them"));
        assert!(
            explained.remedy("reuse").contains(words),
            "{limit}: {}",
            explained.remedy("reuse")
        );
    }
}

#[test]
fn a_queue_without_end_is_named() {
    let lab = lab("--workers 1 --service const:20ms");
    let explained = explain_line(&format!("{} -r 100 --arrivals even -d 2s", lab.url_of("/")));
    if let Some(sentence) = explained.sentence_unless_disturbed("overload") {
        assert!(sentence.contains("100/s were offered"), "{sentence}");
    }
    explained.is_silent(&["link", "cut_short"]);
}

/// Opens a listening socket with a short queue that never accepts.
fn open_full_listener() -> (rustix::fd::OwnedFd, u16) {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listen(&socket, 1).expect("a listener");
    let name = getsockname(&socket).expect("its name");
    let address = SocketAddr::try_from(name).expect("an address");
    (socket, address.port())
}

#[test]
fn an_accept_queue_that_overflows_is_named() {
    let (_socket, port) = open_full_listener();
    let options = "-c 20 -d 2s --timeout 1s --connect-timeout 1200ms --grace 100ms";
    let explained = explain_line(&format!("http://127.0.0.1:{port}/ {options}"));
    let sentence = explained.sentence("slow_connects");
    assert!(sentence.contains("SYNs were dropped"), "{sentence}");
    let counted = explained
        .run
        .history
        .get("generator")
        .is_some_and(|h| h.values("tcp.listen_overflows_total").len() > 1);
    if !counted {
        return skip(
            "explain::an_accept_queue_that_overflows_is_named",
            "the kernel's counters were not read",
        );
    }
    // A test beside this one may overflow another queue, and then brunt does not know whose it was.
    let history = &explained.run.history["generator"];
    let counts = history.values("tcp.listen_overflows_total");
    let overflows = counts.last().map_or(0.0, |last| last.1) - counts[0].1;
    if overflows > brunt_judge::most_syns(&explained.run) {
        return skip(
            "explain::an_accept_queue_that_overflows_is_named",
            "another accept queue of this machine overflowed",
        );
    }
    assert!(explained.sentence("accept_queue").contains("overflowed"));
}

#[test]
fn a_full_link_is_named() {
    retry_under_steal_time("explain::a_full_link_is_named", || {
        let Some(namespace) = shaped("explain::a_full_link_is_named", "100mbit") else { return };
        let lab = crate::world::lab::lab_in(&namespace, "--body 100k");
        let mut brunt = namespace.command(brunt::program("BRUNT_BIN", "brunt"));
        let explained =
            explain_command(brunt.args([&lab.url_of("/"), "-c", "4", "-d", "4s"]), |_| ());
        // Without idle CPU it is unknown whether the link or the CPU limits the traffic.
        let Some(sentence) = explained.sentence_unless_disturbed("link") else { return };
        assert!(sentence.contains("of 100 Mb/s"), "{sentence}");
    });
}
