//! Writes the report page of a study that was never measured, and its document, for the page's test in a browser and
//! for whoever works on the page: `cargo run -p brunt-report --example made_up -- DIRECTORY`.
//!
//! Thirty loads of two contenders, three times each: `study.html` and `study.json`; one of its runs alone, with two labels: `run.html`.
//! A page like JMeter's dashboard: `dashboard.html`.
//! Out of scope: a measurement, or what `judge` would say of one. Its figures come from a formula of a queue, and
//! its names hold what must not be taken for HTML.

mod dashboard;
mod decided;
mod measured;
mod planned;

use brunt_model::{Environment, Judgement, Study, Trial, TrialIndex};
use std::fs::File;
use std::io::{BufWriter, Error};
use std::path::Path;

fn main() -> Result<(), Error> {
    let directory =
        std::env::args().nth(1).ok_or_else(|| Error::other("name a directory to write to"))?;
    let directory = Path::new(&directory);
    let study = study();
    let analysis = decided::analysis(&study);
    let file = |name: &str| File::create(directory.join(name)).map(BufWriter::new);
    brunt_report::html::write_study(&study, &analysis, &mut file("study.html")?)?;
    serde_json::to_writer(
        &mut file("study.json")?,
        &brunt_report::study::StudyDocument::new(&study, &analysis),
    )?;
    brunt_report::html::dashboard::write(&dashboard::dashboard(), &mut file("dashboard.html")?)?;
    let place = TrialIndex { repetition: 0, contender: 0, step: 0 };
    let run = measured::run_of_labels(&study.experiment, place, environment());
    brunt_report::html::write(&run, &Judgement::default(), &mut file("run.html")?)
}

fn study() -> Study {
    let experiment = planned::experiment();
    let mut trials = Vec::new();
    for repetition in 0..experiment.repetitions {
        for contender in 0..experiment.contenders.len() {
            for step in 0..experiment.contenders[contender].steps.len() {
                let place = TrialIndex { repetition, contender, step };
                let run = measured::run(&experiment, place, environment());
                let judgement = decided::judgement(&run, place);
                trials.push(Trial {
                    place,
                    id: Some(format!("r{:04}", trials.len())),
                    run,
                    judgement,
                });
            }
        }
    }
    Study {
        id: Some("7f3k".into()),
        environment: environment(),
        unix_seconds: 1_782_907_200.0,
        trials,
        warnings: vec!["server apache: its process php-fpm8.4 was not to be seen for 2 s".into()],
        interrupted: false,
        resumptions: Vec::new(),
        experiment,
    }
}

fn environment() -> Environment {
    let pairs = |all: &[(&str, &str)]| {
        all.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    Environment {
        command: "brunt run examples/e1-php.yaml".into(),
        brunt: "brunt 0.1.0".into(),
        kernel: "Linux 6.18.0-amd64".into(),
        cpu: "AMD EPYC 7763 64-Core Processor".into(),
        cores: 2,
        limits: pairs(&[("open files", "20000"), ("processes", "unlimited")]),
        sysctls: pairs(&[
            ("net.core.somaxconn", "4096"),
            ("net.ipv4.ip_local_port_range", "32768 60999"),
        ]),
        addresses: vec!["127.0.0.1".into()],
        server: Some("nginx/1.26.3 <script>alert(1)</script>".into()),
        route: None,
        agents: Vec::new(),
        data_files: Vec::new(),
        strict: false,
        allowed_loss_percent: 0,
        plan_name: None,
    }
}
