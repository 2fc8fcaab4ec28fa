use super::*;
use crate::commands::{BruntCommand, Cli};
use brunt_model::Contender;
use brunt_model::experiment::TrialOrder;
use clap::Parser;
use std::time::Duration;

const SYSTEM: System = System::bare(20_000, 4, Some(28_232), 5);

fn of(line: &str) -> Result<Experiment> {
    let cli = Cli::try_parse_from(["brunt", "sweep"].into_iter().chain(line.split(' ')))?;
    let BruntCommand::Sweep(args) = cli.into_command() else { panic!("{line}: no sweep") };
    experiment(&args, line, &SYSTEM).map(|(experiment, _)| experiment)
}

fn names(experiment: &Experiment) -> Vec<&str> {
    experiment.contenders.iter().map(|contender| contender.name.as_str()).collect()
}

#[test]
fn each_url_is_a_contender_and_each_load_a_step() {
    let experiment =
        of("-r 10..30+10 -d 1s http://a:81/ b=http://h/?x=y https://c/d/ --repeat 2 --name n")
            .unwrap();
    assert_eq!(names(&experiment), ["a:81", "b", "c/d"]);
    let url =
        |contender: &Contender| contender.steps[0].plan.main().scenario.requests[0].url.clone();
    assert_eq!(
        experiment.contenders.iter().map(url).collect::<Vec<_>>(),
        ["http://a:81/", "http://h/?x=y", "https://c/d/"]
    );
    assert_eq!((experiment.trials(), experiment.name.as_str(), experiment.seed), (18, "n", 5));
    assert_eq!(experiment.order, TrialOrder::Interleaved);
    let loads: Vec<f64> = experiment.contenders[2].steps.iter().map(|step| step.load).collect();
    assert_eq!(loads, [10.0, 20.0, 30.0]);
}

#[test]
fn closed_loops_and_single_loads_can_be_swept() {
    let experiment =
        of("-c 10..40*2 --trial-order random --cooldown 2s http://a/?b=c --probe host").unwrap();
    assert_eq!(names(&experiment), ["a/?b=c"]);
    assert_eq!(
        (experiment.contenders[0].steps.len(), experiment.repetitions),
        (3, defaults::REPETITIONS)
    );
    assert_eq!(
        (experiment.order, experiment.cooldown),
        (TrialOrder::Random, Duration::from_secs(2))
    );
    assert_eq!(experiment.contenders[0].probes[0].source(), "host:local");
    assert_eq!(of("-r 50 http://a/").unwrap().contenders[0].steps.len(), 1);
}

#[test]
fn errors_of_invalid_options_show_valid_values() {
    let told = |line| of(line).unwrap_err().to_string();
    assert!(
        told("-r 5 http://a/ http://a").contains("two servers have the name a; write NAME=URL")
    );
    assert!(told("-r 5 http://a/ --events e").contains("--events stores one run"));
    assert!(told("-r 5").contains("no URL is given"));
    assert!(
        told("-r 5 http://a/ --trial-order abba")
            .contains("[possible values: interleaved, blocks, random]")
    );
    assert!(told("-r 5 http://a/ --repeat 0").contains("`0` is out of range; write 1 to 100000"));
}
