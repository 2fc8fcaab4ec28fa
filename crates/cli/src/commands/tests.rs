use super::*;
use crate::args::output::check;
use brunt_spec::words::values::Output;
use clap::CommandFactory;
use std::path::PathBuf;

fn parse(line: &[&str]) -> Result<BruntCommand, clap::Error> {
    Cli::try_parse_from(["brunt"].iter().chain(line)).map(Cli::into_command)
}

fn run(line: &[&str]) -> RunArgs {
    match parse(line).unwrap_or_else(|e| panic!("{line:?}: {e}")) {
        BruntCommand::Run(args) => *args,
        other => panic!("{line:?}: {other:?}"),
    }
}

#[test]
fn clap_accepts_the_definition_of_all_commands() {
    Cli::command().debug_assert();
}

#[test]
fn run_is_the_default_command() {
    for line in [
        &["http://h/", "-c", "7"][..],
        &["-c", "7", "http://h/"],
        &["-c7", "http://h/"],
        &["run", "http://h/", "-c", "7"],
        &["run", "--connections=7", "http://h/"],
    ] {
        let args = run(line);
        assert_eq!(
            (args.settings.url.as_deref(), args.settings.load.connections.is_some()),
            (Some("http://h/"), true),
            "{line:?}"
        );
    }
}

#[test]
fn every_command_accepts_the_view_options() {
    use crate::view::ColorChoice;
    for line in [
        &["brunt", "http://h/", "-v", "--color", "never"][..],
        &["brunt", "-v", "--color=never", "http://h/"],
        &["brunt", "report", "last", "-v", "--color", "never"],
        &["brunt", "sweep", "http://h/", "-v", "--color", "never"],
    ] {
        let view = Cli::try_parse_from(line).unwrap_or_else(|e| panic!("{line:?}: {e}")).view;
        assert_eq!((view.verbose, view.color), (true, ColorChoice::Never), "{line:?}");
    }
}

#[test]
fn commands_are_known() {
    assert!(matches!(parse(&["man"]), Ok(BruntCommand::Man { dir: None })));
    assert!(matches!(parse(&["schema"]), Ok(BruntCommand::Schema { .. })));
    assert!(matches!(
        parse(&["completions", "bash"]),
        Ok(BruntCommand::Completions { shell: clap_complete::Shell::Bash })
    ));
    let Ok(BruntCommand::Replay(replay)) = parse(&["replay", "a.events", "-o", "json=a.json"])
    else {
        panic!("no replay")
    };
    assert_eq!(replay.file, PathBuf::from("a.events"));
    assert_eq!(replay.outputs, [Output { format: "json".into(), file: Some("a.json".into()) }]);
    assert_eq!(run(&["http://man"]).settings.url.as_deref(), Some("http://man"));
}

#[test]
fn errors_name_the_option_and_a_valid_value() {
    for (line, remedy) in [
        (
            &["-r", "2000/s", "h"][..],
            "invalid value '2000/s' for '--rate <LOAD>': `2000/s`: a stage's duration follows `/`",
        ),
        (&["-r", "-5", "h"], "not negative; write a number such as 500"),
        (&["-c", "0", "h"], "write at least one, such as 10"),
        (&["-c", "1.5", "h"], "write whole numbers"),
        (&["-d", "0", "h"], "above zero"),
        (&["-d", "10 s", "h"], "such as 500ms"),
        (&["-n", "0", "h"], "`0` is out of range; write 1 or more"),
        (&["--arrivals", "uniform", "h"], "write poisson, even or burst:N"),
        (&["--think", "2s..1s", "h"], "the other way round"),
        (&["-X", "post", "h"], "write POST"),
        (&["-H", "Accept", "h"], "write 'Name: value'"),
        (&["-H", "A: b\r\nEvil: c", "h"], "line break"),
        (&["--data", "a", "--form", "b=c", "h"], "cannot be used with"),
        (&["--basic", "a:b", "--bearer", "c", "h"], "cannot be used with"),
        (&["--order", "random", "h"], "--urls <FILE>"),
        (
            &["--order", "shuffled", "--urls", "f"],
            "[possible values: sequence, random, walk, walk_together]",
        ),
        (&["--expect-status", "good", "h"], "such as 200, 300-399 or 2xx"),
        (&["--expect-body", "(", "h"], "unclosed group; write a regular expression"),
        (&["--objective", "p99 < 50", "h"], "write 50s, 50ms or 50m"),
        (&["--unix-socket", "/s", "--proxy", "http://p", "h"], "cannot be used with"),
        (&["--laten", "h"], "unexpected argument '--laten'"),
        (&["-o", "=x", "h"], "write text, json or json=run.json"),
        (&["-d", "1s", "-d", "2s", "h"], "cannot be used multiple times"),
    ] {
        let told = parse(line).unwrap_err();
        assert_eq!(told.exit_code(), 2, "{line:?}");
        let told = told.to_string();
        assert!(told.contains(remedy), "{line:?}: {told}");
    }
}

#[test]
fn only_supported_outputs_are_accepted() {
    let of = |line: &[&str]| {
        let outputs = run(line).settings.output.outputs;
        check(&outputs, &["text", "json", "csv"]).map(|()| outputs)
    };
    let to = |format: &str, file: Option<&str>| Output {
        format: format.to_owned(),
        file: file.map(PathBuf::from),
    };
    assert_eq!(of(&["h"]).unwrap(), []);
    assert_eq!(
        of(&["h", "-o", "text", "-o", "json=a.json"]).unwrap(),
        [to("text", None), to("json", Some("a.json"))]
    );
    assert_eq!(of(&["h", "-o", "csv=-"]).unwrap(), [to("csv", None)]);
    let told = |line| of(line).unwrap_err().to_string();
    assert!(told(&["h", "-o", "xml"]).contains("write one of text, json, csv"));
    assert!(
        told(&["h", "-o", "text", "-o", "json"]).contains("write -o json=FILE with another file")
    );
}

#[test]
fn every_option_of_a_run_is_explained_in_its_group() {
    let command = Cli::command();
    let groups = [
        "Load",
        "Request",
        "Connection",
        "Checks",
        "Fleet",
        "Fleet on Kubernetes or NATS",
        "Output",
        "Plan file",
        "JMeter plan",
        "Server",
        "Store",
    ]
    .map(Some);
    for argument in command.get_arguments().filter(|a| a.get_long().is_some()) {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        assert!(!help.is_empty() && !help.contains('\n'), "{argument}");
        if !["help", "version"].contains(&argument.get_long().unwrap()) {
            assert!(groups.contains(&argument.get_help_heading()), "{:?}", argument.get_id());
        }
    }
    let help = command.clone().render_help().to_string();
    assert!(help.contains("[default: 30s]") && help.contains("Examples:\n"), "{help}");
    assert!(help.contains(" {n} ") && help.contains("?id={n}'"), "{help}");
}
