use super::*;
use crate::commands::{BruntCommand, Cli};
use brunt_model::Question;
use brunt_model::question::TrialGap;
use brunt_model::{CapacitySearch, Load};
use clap::Parser;

const SYSTEM: System = System::bare(20_000, 4, Some(28_232), 5);

fn of(line: &[&str]) -> Result<(Experiment, CapacitySearch, Vec<String>)> {
    let cli = Cli::try_parse_from(["brunt", "find"].iter().chain(line))?;
    let BruntCommand::Find(args) = cli.into_command() else { panic!("{line:?}: no search") };
    let (experiment, notes) = experiment(&args, "", &SYSTEM)?;
    let Question::Find(find) = experiment.question.clone() else { panic!("it is a search") };
    Ok((experiment, find, notes))
}

fn names(find: &CapacitySearch) -> Vec<&str> {
    find.objectives.iter().map(|set| set.name.as_str()).collect()
}

#[test]
fn one_url_is_sufficient() {
    let (experiment, find, notes) = of(&["http://a/"]).unwrap();
    assert_eq!(
        (names(&find), find.start, find.most),
        (vec!["p99 < 1s, errors < 1%"], defaults_rate(), None)
    );
    assert!(notes[0].contains("no --objective; the default is"), "{notes:?}");
    assert_eq!((experiment.trials(), experiment.contenders[0].steps.len()), (0, 1));
    let plan = &experiment.contenders[0].steps[0].plan;
    assert!(plan.objectives.is_empty() && plan.until.is_some());
    assert_eq!(plan.main().stop.duration, Some(find.trial.measured));
}

fn defaults_rate() -> f64 {
    brunt_spec::defaults::FIND_RATE
}

#[test]
fn each_bound_on_a_figure_has_its_capacity() {
    let (_, find, _) = of(&["http://a/", "--objective", "1-3-10, errors < 1%"]).unwrap();
    assert_eq!(
        names(&find),
        ["p99 < 1s, errors < 1%", "p99 < 3s, errors < 1%", "p99 < 10s, errors < 1%"]
    );
    let (_, find, notes) =
        of(&["http://a/", "--objective", "p99 < 50ms", "--objective", "errors < 1%"]).unwrap();
    assert_eq!((names(&find), notes.len()), (vec!["p99 < 50ms, errors < 1%"], 0));
    assert!(of(&["http://a/", "--objective", "p99 < 1s, p99 < 2s, mean < 1s, mean < 2s"]).is_err());
}

#[test]
fn loads_are_rates_unless_only_connections_are_given() {
    let closed = |line: &[&str]| {
        let (experiment, find, _) = of(line).unwrap();
        (
            matches!(experiment.contenders[0].steps[0].plan.main().load, Load::Closed { .. }),
            find.start,
        )
    };
    assert_eq!(closed(&["http://a/"]), (false, 50.0));
    assert_eq!(closed(&["http://a/", "-c", "8"]), (true, 8.0));
    assert_eq!(closed(&["http://a/", "-c", "8", "-r", "500"]), (false, 500.0));
    assert_eq!(closed(&["http://a/", "-c", "8", "--start-load", "2"]), (true, 2.0));
    assert_eq!(closed(&["http://a/", "--max-load", "20"]), (false, 20.0));
    let (_, find, _) =
        of(&["http://a/", "--cooldown", "3s", "--overload", "no", "--trial-duration", "5s"])
            .unwrap();
    assert_eq!((find.between, find.overload), (TrialGap::Cool(Duration::from_secs(3)), None));
}

#[test]
fn errors_of_invalid_options_show_valid_values() {
    for (line, told) in [
        (&["http://a/", "-d", "10s"][..], "--trial-duration 2s"),
        (&["http://a/", "--until", "p99±5%"], "--precision 1%"),
        (&["http://a/", "--warmup", "auto"], "--warmup 5s"),
        (&["http://a/", "-r", "5..50+5"], "begins with one"),
        (&["http://a/", "-c", "5", "--start-load", "2.5"], "users are whole; write 3"),
        (
            &["http://a/", "--start-load", "50", "--max-load", "20"],
            "--max-load is below the load of the first trial",
        ),
        (&["http://a/", "--time-budget", "5s"], "three trials"),
        (&["http://a/", "--require", "capacity < 5"], "capacity > 3000/s"),
        (&["--time-budget", "5m"], "no URL is given"),
        (&["http://a/", "--events", "e"], "--events stores one run"),
    ] {
        let error = of(line).err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains(told), "{line:?}: {error}");
    }
}
