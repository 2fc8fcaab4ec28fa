//! Compares the peak memory of brunt for many labels, URLs and trials with that of a small run.

use crate::world::{BruntOutput, command, lab, measure, start, wait_until};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Limits of peak memory in bytes above that of a plain run, which depends on the size of the
/// program.
const LABELS: u64 = 30_000_000;
const URLS: u64 = 140_000_000;
const PER_TRIAL: u64 = 60_000;

#[test]
fn a_thousand_labels_need_little_memory() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let steps = (0..1000).fold(String::new(), |mut steps, number| {
        writeln!(steps, "  - {{get: /{number}, name: request {number}}}").expect("a text");
        steps
    });
    let load = "load: {users: 8, requests: 100, threads: 2}";
    let plan = format!("{load}\nscenario:\n  base: {}\n  steps:\n{steps}", lab.url_of(""));
    let (peak, ran) = run_plan(dir.path(), &plan);
    let ran = ran.all_good_trials(100_000);
    assert_eq!(ran.value("/trials/0/labels").as_array().expect("labels").len(), 1000);
    let grown = peak.saturating_sub(plain_peak(&lab.url_of("/")));
    assert!(grown < LABELS, "1,000 labels take {} MB", grown / 1_000_000);
}

#[test]
fn a_hundred_thousand_urls_need_bounded_memory() {
    const COUNT: u64 = 100_000;
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("urls");
    let urls = (0..COUNT).fold(String::new(), |mut urls, number| {
        writeln!(
            urls,
            "/catalogue/products/item-{number:06}.html?category={}&ref=home",
            number % 97
        )
        .expect("a text");
        urls
    });
    fs::write(&file, urls).expect("a file");
    // Each URL is sent once, and the first 20,000 a second time.
    let ran = measure(&format!(
        "{} --urls {} -c 8 -n {} --threads 2",
        lab.url_of("/"),
        file.display(),
        COUNT + 20_000
    ))
    .assert_all_good();
    let knows = lab.into_statistics();
    assert_eq!(knows["requests"]["received"], COUNT + 20_000);
    let labels = ran.value("/labels").as_array().expect("labels");
    assert_eq!(labels.iter().map(begun_requests).sum::<u64>(), COUNT + 20_000);
    // A URL gets a separate label when it is sent a second time.
    assert_eq!(labels.iter().filter(|label| begun_requests(label) == 2).count(), 1000);
    let peak = ran.number("/generator/peak_rss_bytes");
    let plain = plain_peak(&self::lab("").url_of("/"));
    assert!(
        peak.saturating_sub(plain) < URLS,
        "{COUNT} URLs take {} MB",
        (peak - plain) / 1_000_000
    );
}

fn begun_requests(label: &serde_json::Value) -> u64 {
    label["requests"]["begun"].as_u64().expect("a count")
}

/// Length of a long body in bytes, and the largest share of it by which the peak memory may grow.
const LONG_BODY: usize = 48 << 20;
const BODY_SHARE: f64 = 1.2;

#[test]
fn a_body_is_held_once() {
    let plain = lab("");
    let secure = lab("--tls --http3");
    let dir = TempDir::new().expect("a directory");
    let versions = [
        (&plain, "--http 1.1"),
        (&plain, "--http 1.1 -H Transfer-Encoding:chunked"),
        (&secure, "--http 1.1 --insecure"),
        (&secure, "--http 2 --insecure --streams 4"),
        (&secure, "--http 3 --insecure --streams 4"),
    ];
    let json = |length: usize| format!("{{\"text\":\"{}\"}}", "x".repeat(length)).into_bytes();
    let kinds: [(&str, Vec<u8>, Vec<u8>); 3] = [
        ("--data", b"x=1".to_vec(), b"x".repeat(LONG_BODY)),
        ("--json", json(1), json(LONG_BODY)),
        ("--data", vec![0xff], vec![0xff; LONG_BODY]),
    ];
    for (number, (option, short, long)) in kinds.iter().enumerate() {
        let files = [short, long].map(|body| {
            let file = dir.path().join(format!("body-{number}-{}", body.len()));
            fs::write(&file, body).expect("a file");
            file
        });
        for (lab, version) in versions {
            let [short, long] = [&files[0], &files[1]].map(|file| {
                let data = format!("{option} @{}", file.display());
                measure(&format!("{} {version} {data} -c 4 -n 8 --threads 2", lab.url_of("/")))
                    .assert_all_good()
                    .number("/generator/peak_rss_bytes")
            });
            let share = long.saturating_sub(short) as f64 / LONG_BODY as f64;
            assert!(share <= BODY_SHARE, "{version} {option} {number}: {share:.2} × the body");
            eprintln!("{version} {option} {number}: {share:.2} × the body");
        }
    }
}

#[test]
fn a_body_of_a_plan_file_is_held_once() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    for byte in [b'x', 0xff] {
        let [short, long] = [1, LONG_BODY].map(|length| {
            fs::write(dir.path().join("body"), vec![byte; length]).expect("a file");
            let load = "load: {users: 4, requests: 8, threads: 2}\nrepetitions: 2";
            let steps = "scenario:\n  steps:\n  - {post: /, file: body}\n";
            let plan = format!("{load}\n{steps}  base: {}\n", lab.url_of(""));
            let (peak, ran) = run_plan(dir.path(), &plan);
            ran.all_good_trials(8);
            peak
        });
        let share = long.saturating_sub(short) as f64 / LONG_BODY as f64;
        eprintln!("{byte}: {share:.2} × the body");
        assert!(share <= BODY_SHARE, "{byte}: {share:.2} × the body");
    }
}

#[test]
fn a_trial_of_an_experiment_keeps_little_memory() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let scenario = format!("scenario: {{steps: [{{get: \"{}\"}}]}}", lab.url_of("/"));
    let few = peak_of_experiment(dir.path(), &scenario, 25);
    let many = peak_of_experiment(dir.path(), &scenario, 200);
    let each = many.saturating_sub(few) / (2 * (200 - 25));
    assert!(each < PER_TRIAL, "a trial keeps {each} bytes");
}

fn peak_of_experiment(dir: &Path, scenario: &str, repetitions: u64) -> u64 {
    let plan = format!(
        "{scenario}\nload: {{users: \"2..4+2\", requests: 100}}\nrepetitions: {repetitions}\n"
    );
    let (peak, ran) = run_plan(dir, &plan);
    assert_eq!(
        ran.all_good_trials(100).value("/trials").as_array().expect("trials").len() as u64,
        2 * repetitions
    );
    peak
}

/// Peak memory of a run of one URL.
fn plain_peak(url: &str) -> u64 {
    measure(&format!("{url} -c 8 -n 1000 --threads 2"))
        .assert_all_good()
        .number("/generator/peak_rss_bytes")
}

/// Runs a plan. Returns its peak memory and its report.
fn run_plan(dir: &Path, plan: &str) -> (u64, BruntOutput) {
    let file = dir.join("plan.yaml");
    fs::write(&file, plan).expect("a plan");
    let mut running = start(&mut command(&format!("run {} --no-store -q", file.display())));
    let status = format!("/proc/{}/status", running.pid().as_raw_nonzero());
    let mut peak = 0;
    wait_until("brunt's end", || {
        peak = peak.max(peak_of_process(&status));
        running.is_over()
    });
    (peak, running.finish_unchecked().assert_code(0))
}

/// Peak memory of a process in bytes; 0 if it has ended.
fn peak_of_process(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

trait Trials {
    fn all_good_trials(self, requests: u64) -> Self;
}

impl Trials for BruntOutput {
    /// Asserts that each trial has this number of requests, all of them good.
    fn all_good_trials(self, requests: u64) -> Self {
        for trial in self.value("/trials").as_array().expect("trials") {
            assert_eq!(trial["requests"]["good"], requests, "{trial}");
        }
        self
    }
}
