//! Runs rows of the fault table, several at a time. Compares the JSON of brunt and the counts of
//! the server with the expectations of a row.

use super::row::{
    Deadline, Expected, ExpectedBytes, ExpectedConnections, ExpectedReads, FaultRow, RowLoad,
};
use super::server::{FaultServer, HandledCounts};
use crate::world::brunt::start_plain;
use crate::world::certs::Authority;
use crate::world::machine::lateness;
use crate::world::{BruntOutput, command, wait_a_moment};
use brunt_model::Failure;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs, thread};
use tempfile::TempDir;

/// Number of rows that run at the same time. Most of them wait.
const AT_ONCE: usize = 6;

/// Maximum ratio of the longest time to its limit. The lateness of a thread that only sleeps is
/// added to the limit.
const LATENESS: u32 = 4;

/// Begin of the message about an exceeded deadline.
const LONGEST_TIME: &str = "longest time";

/// Runs all rows, and fails with every row whose outcome is unexpected. `BRUNT_FAULT` selects rows
/// by a part of their name.
pub fn run(rows: &[FaultRow]) {
    let filter = env::var("BRUNT_FAULT").unwrap_or_default();
    let rows: Vec<&FaultRow> = rows.iter().filter(|row| row.name.contains(&filter)).collect();
    let tls = rows.iter().any(|row| row.is_tls).then(server_config);
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(rows.len()) {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let found = check(row, tls.as_ref());
                    wrong.lock().expect("the failed rows").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("the failed rows");
    assert!(
        wrong.is_empty(),
        "{} of {} rows failed:\n\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n\n")
    );
}

/// Runs a row, and a second time with a check of the body if the row has one. Returns the
/// unexpected outcome.
fn check(row: &FaultRow, tls: Option<&Arc<ServerConfig>>) -> Option<String> {
    let plain = FaultRow { body: None, ..row.clone() };
    let runs = [Some(&plain), row.body.map(|_| row)];
    runs.into_iter().flatten().find_map(|row| {
        let outcome = catch_unwind(AssertUnwindSafe(|| compare(row, tls.filter(|_| row.is_tls))));
        let wrong = outcome.unwrap_or_else(|panic| Err(message(&*panic))).err()?;
        Some(format!("{}{}: {wrong}", row.name, row.body.map_or("", |_| " (body checked)")))
    })
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

/// Maximum number of runs of a row with a deadline. A busy machine may make one run late, but not all.
const RUNS: usize = 3;

/// Runs brunt against the server of a row, again if only its deadline was exceeded.
fn compare(row: &FaultRow, tls: Option<&Arc<ServerConfig>>) -> Result<(), String> {
    let mut result = compare_once(row, tls);
    for _ in 1..RUNS {
        if !result.as_ref().is_err_and(|error| error.starts_with(LONGEST_TIME)) {
            break;
        }
        result = compare_once(row, tls);
    }
    result
}

fn compare_once(row: &FaultRow, tls: Option<&Arc<ServerConfig>>) -> Result<(), String> {
    let server = FaultServer::start(row.accepts, Arc::clone(&row.script), tls.map(Arc::clone));
    let (ran, lateness_of_sleeper) = match row.expected.deadline {
        Some(_) => lateness(|| run_brunt(row, &server)),
        None => (run_brunt(row, &server), Duration::ZERO),
    };
    if ran.json.is_null() {
        return Err(format!("brunt wrote no JSON; exit code {}\n{}{}", ran.code, ran.out, ran.err));
    }
    let observed = BruntCounts::of(&ran);
    // The threads of the server may not have counted yet what brunt has received.
    let mut wrong = Vec::new();
    let agreed = (0..200).any(|_| {
        wrong = differences(row, &observed, server.counts());
        wrong.is_empty() || wait_a_moment()
    });
    wrong.extend(
        row.expected
            .deadline
            .and_then(|deadline| deadline_error(&ran, deadline, lateness_of_sleeper)),
    );
    if agreed && wrong.is_empty() {
        return Ok(());
    }
    let expected = &row.expected;
    let counts = server.counts();
    Err(format!(
        "{}\n  expected {expected:?}\n  brunt    {observed:?}\n  server   {counts:?}\n{}",
        wrong.join("; "),
        ran.err
    ))
}

fn run_brunt(row: &FaultRow, server: &FaultServer) -> BruntOutput {
    let dir = TempDir::new().expect("a directory");
    let json = dir.path().join("json");
    let mut brunt = match row.load {
        RowLoad::Requests(n) => plain(row, server, &format!("-c 1 -n {n}"), &json),
        RowLoad::Unreachable => plain(row, server, "-c 1 -n 3", &json),
        RowLoad::Httperf(_, options) => {
            let host = server.address.ip();
            let port = server.address.port();
            let mut brunt = command(&format!("httperf --server {host} --port {port} {options}"));
            brunt.arg(format!("--brunt-json={}", json.display()));
            brunt
        }
    };
    brunt.args(&row.options);
    if let Some(body) = row.body {
        brunt.args(["--expect-body", &format!("^{}$", regex::escape(body))]);
    }
    let ran = start_plain(&mut brunt).finish_unchecked();
    let json =
        serde_json::from_str(&fs::read_to_string(json).unwrap_or_default()).unwrap_or_default();
    let ran = BruntOutput { json, ..ran };
    ran.assert_consistent_sums();
    ran
}

/// Returns the command of brunt without a drop-in.
fn plain(row: &FaultRow, server: &FaultServer, load: &str, json: &Path) -> Command {
    let scheme = if row.options.iter().any(|option| option == "-k") { "https" } else { "http" };
    let mut brunt = command(&format!("{scheme}://{}/ {load} -q", server.address));
    brunt.arg("-o").arg(format!("json={}", json.display()));
    brunt
}

/// The counts of brunt.
#[derive(Debug)]
struct BruntCounts {
    begun: u64,
    completed: u64,
    retries: u64,
    statuses: BTreeMap<String, u64>,
    failures: BTreeMap<String, u64>,
    opened: u64,
    received: u64,
    sent: u64,
    exit_code: i32,
    error: String,
}

impl BruntCounts {
    fn of(ran: &BruntOutput) -> Self {
        let counts = |pointer: &str| -> BTreeMap<String, u64> {
            ran.json
                .pointer(pointer)
                .map(|map| serde_json::from_value(map.clone()).expect("counts"))
                .unwrap_or_default()
        };
        Self {
            begun: ran.count("begun"),
            completed: ran.count("completed"),
            retries: ran.count("retries"),
            statuses: counts("/outcomes"),
            failures: counts("/failures"),
            opened: ran.connections("opened"),
            received: ran.number("/bytes/received"),
            sent: ran.number("/bytes/sent"),
            exit_code: ran.code,
            error: ran.value("/error").as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Returns the number of failures of these kinds.
    fn failed(&self, kinds: &[&str]) -> u64 {
        kinds.iter().filter_map(|kind| self.failures.get(*kind)).sum()
    }
}

/// Returns the differences from the expected outcome.
fn differences(row: &FaultRow, observed: &BruntCounts, server: HandledCounts) -> Vec<String> {
    let expected = &row.expected;
    let requests = match row.load {
        RowLoad::Requests(requests) | RowLoad::Httperf(requests, _) => requests,
        RowLoad::Unreachable => return unreachable(expected, observed, server),
    };
    let checks = if row.options.iter().any(|option| option == "--expect-body") {
        expected.checks
    } else {
        0
    };
    let completed = expected
        .status
        .map_or(0, |status| *observed.statuses.get(&status.to_string()).unwrap_or(&0));
    let failed = observed.failed(expected.kinds);
    // A reply that the server has sent may be too late, on a busy machine.
    let late = server.replies.saturating_sub(completed);
    let rules = [
        (observed.begun == requests && requests > 0, "some requests were not begun"),
        (observed.completed == completed, "replies with an unexpected status"),
        (completed + failed == requests, "failures of an unexpected kind"),
        (expected.kinds.is_empty() || failed > 0, "no failure"),
        (expected.status.is_none() || completed > 0, "no complete reply"),
        (
            expected.completed.is_none_or(|n| completed == n) || late > 0,
            "unexpected number of complete replies",
        ),
        (observed.failed(&["check"]) == checks, "unexpected number of failed checks"),
        (
            completed <= server.replies && late <= observed.failed(&["timeout"]),
            "complete replies: brunt and the server differ",
        ),
        (
            failed > 0 || expected.bytes == ExpectedBytes::Any || observed.received == server.bytes,
            "bytes of replies: brunt and the server differ",
        ),
        (observed.sent >= expected.sent, "too few bytes sent"),
        (connections(expected, observed, server, requests), "unexpected number of connections"),
        (
            requests_read(expected, observed, server, completed),
            "requests read: brunt and the server differ",
        ),
        (
            observed.exit_code == 3 || completed > 0,
            "nothing was measured, and the exit code is not 3",
        ),
    ];
    rules
        .iter()
        .filter(|(holds, _)| !holds)
        .map(|(_, difference)| (*difference).to_owned())
        .collect()
}

/// Returns the differences from the expected outcome if no connection can be opened.
fn unreachable(expected: &Expected, observed: &BruntCounts, server: HandledCounts) -> Vec<String> {
    let rows = Failure::all().map(Failure::row);
    let rows = rows.filter(|row| expected.kinds.contains(&row.key));
    let is_reported = rows.into_iter().any(|row| {
        [&row.name, &row.meaning].iter().any(|text| observed.error.contains(text.as_str()))
    });
    let rules = [
        (observed.begun == 0, "a request was begun"),
        (observed.exit_code == 3, "the exit code is not 3"),
        (is_reported, "brunt does not report the reason"),
        (server.requests == 0, "the server has read a request"),
    ];
    rules
        .iter()
        .filter(|(holds, _)| !holds)
        .map(|(_, difference)| (*difference).to_owned())
        .collect()
}

fn connections(
    expected: &Expected,
    observed: &BruntCounts,
    server: HandledCounts,
    requests: u64,
) -> bool {
    match expected.connections {
        ExpectedConnections::Kept => observed.opened == 1 && server.accepted == 1,
        ExpectedConnections::Each => observed.opened == requests && server.accepted == requests,
        ExpectedConnections::Accepted => observed.opened == server.accepted,
        ExpectedConnections::Unaccepted => observed.opened >= server.accepted,
    }
}

fn requests_read(
    expected: &Expected,
    observed: &BruntCounts,
    server: HandledCounts,
    completed: u64,
) -> bool {
    match expected.read {
        ExpectedReads::All => server.requests == observed.begun + observed.retries,
        ExpectedReads::Completed => server.requests == completed,
        ExpectedReads::Nothing => server.requests == 0,
        ExpectedReads::Some => server.requests <= observed.begun + observed.retries,
    }
}

/// Returns an error if the longest time is shorter than the limit, or much longer.
fn deadline_error(
    ran: &BruntOutput,
    deadline: Deadline,
    lateness_of_sleeper: Duration,
) -> Option<String> {
    let longest = ran.figure(&format!("{}/max", deadline.times));
    let least = deadline.limit.as_secs_f64();
    let most = ((deadline.limit + lateness_of_sleeper) * LATENESS).as_secs_f64();
    // Histograms have three significant digits.
    let holds = (0.999 * least..=most).contains(&longest);
    (!holds).then(|| format!("{LONGEST_TIME} {longest} s (limit {least} s, at most {most:.3} s)"))
}

/// Returns the TLS configuration of a server. brunt does not verify the certificate.
fn server_config() -> Arc<ServerConfig> {
    let dir = TempDir::new().expect("a directory");
    let files = Authority::new(dir.path()).certify("localhost");
    let certificate = CertificateDer::from_pem_file(&files.cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&files.key).expect("a key");
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    Arc::new(config.expect("a configuration"))
}
