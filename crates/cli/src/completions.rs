//! Shell completion of commands, options and values: ids of the store, loads,
//! and keys of plan files.
//!
//! The script of a shell calls brunt with `BRUNT_COMPLETE`
//! set for each completion (`clap_complete`).

use crate::args::store::StoreArgs;
use crate::check;
use crate::commands::Cli;
use crate::experiment::plan_path;
use crate::suggestions::{candidate, names, of_suggestions};
use brunt_spec::plan;
use brunt_spec::words::named::Suggestion;
use brunt_store::{EntryFilter, Store};
use clap::builder::ArgExt;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use std::ffi::OsStr;
use std::io;

const VARIABLE: &str = "BRUNT_COMPLETE";

/// Suggested loads of a run.
const RATES: [(&str, &str); 4] = [
    ("100", "requests/s"),
    ("1000", "requests/s"),
    ("500/2m", "500 requests/s for 2 min"),
    ("0..500/30s,500/2m", "a ramp of 30 s, then 500 requests/s"),
];
const USERS: [(&str, &str); 3] =
    [("10", "users"), ("100", "users"), ("0..500/30s,500/2m", "a ramp of 30 s, then 500 users")];
/// Suggested loads of a sweep.
const SWEEP: [(&str, &str); 2] = [
    ("50..1500+50", "from 50 to 1500 in steps of 50"),
    ("10..20000*2", "from 10, doubled up to 20000"),
];

/// Prints candidates and ends the process if a shell asks for them. Otherwise returns.
pub fn complete() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Writes the script of a shell.
pub fn write_script(shell: Shell, out: &mut dyn io::Write) -> io::Result<()> {
    match Shells::builtins().completer(&shell.to_string()) {
        Some(completer) => completer.write_registration(VARIABLE, "brunt", "brunt", "brunt", out),
        None => Err(io::Error::other(format!("no completions for {shell}"))),
    }
}

/// The command line with candidates for its values.
fn command() -> Command {
    with_plan_keys(with_loads(Cli::command()))
        .mut_subcommand("run", |run| with_plan_keys(with_loads(run)))
        .mut_subcommand("check", |check| {
            with(with_loads(check), "output", &of_suggestions(check_formats))
        })
        .mut_subcommand("compare", with_loads)
        .mut_subcommand("sweep", with_sweep_loads)
        .mut_subcommand("report", |report| {
            with(report, "subjects", &ArgValueCompleter::new(ids_and_files))
        })
        .mut_subcommand("runs", with_stored_ids)
        .mut_subcommand("baseline", |baseline| {
            baseline
                .mut_subcommand("save", |save| with(save, "id", &ids()))
                .mut_subcommand("check", |check| {
                    with(with(check, "name", &baselines()), "ids", &ids())
                })
                .mut_subcommand("rm", |rm| with(rm, "name", &baselines()))
        })
        .mut_subcommand("plan", |plan| {
            plan.mut_subcommand("check", with_plan_keys).mut_subcommand("show", with_plan_keys)
        })
}

fn with_loads(command: Command) -> Command {
    with(with(command, "rate", &fixed(&RATES)), "connections", &fixed(&USERS))
}

fn with_sweep_loads(command: Command) -> Command {
    with(with(command, "rate", &fixed(&SWEEP)), "connections", &fixed(&SWEEP))
}

fn with_plan_keys(command: Command) -> Command {
    with(command, "sets", &ArgValueCompleter::new(keys))
}

/// Completes ids in `brunt runs` and its subcommands.
fn with_stored_ids(command: Command) -> Command {
    let command = ["list", "show", "tag", "rm", "export"].iter().fold(command, |command, name| {
        command
            .mut_subcommand(name, |subcommand| with(with(subcommand, "id", &ids()), "ids", &ids()))
    });
    with(command, "id", &ids())
}

/// Adds candidates to the argument with this name, if the command has one.
fn with(command: Command, argument: &str, candidates: &(impl ArgExt + Clone)) -> Command {
    command.mut_args(|arg| if arg.get_id() == argument { arg.add(candidates.clone()) } else { arg })
}

fn fixed(values: &'static [(&'static str, &'static str)]) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        values.iter().map(|(value, about)| candidate(*value, *about)).collect::<Vec<_>>()
    })
}

/// Formats of `brunt check`.
fn check_formats() -> Vec<Suggestion> {
    names(check::FORMATS)
}

fn ids() -> ArgValueCandidates {
    ArgValueCandidates::new(stored_names)
}

fn baselines() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let saved = store().and_then(|store| store.baselines().ok()).unwrap_or_default();
        saved.into_iter().map(|(name, id)| candidate(name, id)).collect::<Vec<_>>()
    })
}

/// Ids and tags of runs and experiments, latest first.
fn stored_names() -> Vec<CompletionCandidate> {
    let entries =
        store().and_then(|store| store.list(&EntryFilter::TopLevel).ok()).unwrap_or_default();
    let newest_first = entries.into_iter().rev().enumerate();
    let all = newest_first.flat_map(|(order, entry)| {
        let names = std::iter::once(entry.id).chain(entry.tags);
        names
            .map(move |name| candidate(name, entry.what.clone()).display_order(Some(order + 1)))
            .collect::<Vec<_>>()
    });
    std::iter::once(candidate("last", "the latest run or experiment").display_order(Some(0)))
        .chain(all)
        .collect()
}

/// The default store, if it exists. A completion must not create one.
fn store() -> Option<Store> {
    let store = StoreArgs::default();
    let exists = store.named_directory().ok().is_some_and(|directory| directory.is_dir());
    if exists { store.open().ok().flatten() } else { None }
}

/// Ids of runs, and files, since a subject may be an event log.
fn ids_and_files(typed: &OsStr) -> Vec<CompletionCandidate> {
    matching(typed, stored_names()).chain(PathCompleter::file().complete(typed)).collect()
}

/// Keys of a plan file, and the variables of the plan file on the command line.
fn keys(typed: &OsStr) -> Vec<CompletionCandidate> {
    let plans = std::env::args().filter_map(|word| plan_path(&word).map(std::fs::read_to_string));
    let vars = plans.filter_map(Result::ok).flat_map(|source| plan::variables(&source));
    let vars = vars.map(|variable| variable.name);
    let vars = vars.map(|name| candidate(format!("{name}="), "variable of the plan file"));
    let keys =
        plan::keys().into_iter().map(|key| candidate(format!("{key}="), "key of the plan file"));
    matching(typed, vars.chain(keys)).collect()
}

fn matching(
    typed: &OsStr,
    all: impl IntoIterator<Item = CompletionCandidate>,
) -> impl Iterator<Item = CompletionCandidate> {
    let typed = typed.to_string_lossy();
    all.into_iter()
        .filter(move |candidate| candidate.get_value().to_string_lossy().starts_with(&*typed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::engine::complete;

    fn candidates(line: &str) -> Vec<String> {
        let mut command = command();
        let words: Vec<_> = line.split(' ').map(Into::into).collect();
        let last = words.len() - 1;
        let found = complete(&mut command, words, last, None).expect("candidates");
        found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn loads_and_keys_are_completed() {
        assert!(candidates("brunt sweep --rate ").contains(&"50..1500+50".to_owned()));
        assert!(candidates("brunt run --rate ").contains(&"0..500/30s,500/2m".to_owned()));
        assert!(candidates("brunt run plan.yaml --set load.ra").contains(&"load.rate=".to_owned()));
        assert!(
            candidates("brunt plan check plan.yaml --set repet")
                .contains(&"repetitions=".to_owned())
        );
        assert!(candidates("brunt com").contains(&"compare".to_owned()));
    }

    #[test]
    fn values_of_options_are_completed() {
        for (line, value) in [
            ("brunt -o ", "github"),
            ("brunt run -o ", "influx="),
            ("brunt run -o gra", "graphite="),
            ("brunt sweep --output js", "json"),
            ("brunt report last -o ", "markdown"),
            ("brunt replay run.events -o ", "html"),
            ("brunt baseline check main -o ", "junit"),
            ("brunt analyse result.tsv -o ", "markdown"),
            ("brunt check -o ", "json"),
            ("brunt --http ", "auto"),
            ("brunt compare --http 1.1,", "1.1,3"),
            ("brunt --probe ", "nginx="),
            ("brunt find --probe po", "port="),
            ("brunt --arrivals ", "burst:"),
            ("brunt --tls-min ", "1.2"),
            ("brunt --ciphers TLS13_AES_128", "TLS13_AES_128_GCM_SHA256"),
            ("brunt --on ", "local:"),
            ("brunt --method P", "PATCH"),
            ("brunt --warmup ", "auto"),
            ("brunt --reply-events ", "sse"),
            ("brunt --trace-only ", "failed"),
            ("brunt --order ", "walk_together"),
            ("brunt --color ", "never"),
            ("brunt --hide-notes same", "same_machine"),
            ("brunt compare --at ", "capacity"),
            ("brunt compare --metric ", "goodput"),
            ("brunt compare --trial-order ", "blocks"),
            ("brunt find --overload ", "no"),
            ("brunt runs history --measure ", "service-p99"),
            ("brunt runs history -o ", "json"),
        ] {
            let all = candidates(line);
            assert!(all.contains(&value.to_owned()), "{line}: {all:?}");
        }
        let of_check = candidates("brunt check -o ");
        assert!(!of_check.contains(&"html".to_owned()), "{of_check:?}");
    }

    #[test]
    fn each_shell_has_a_script() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            write_script(*shell, &mut script).expect("a script");
            assert!(String::from_utf8_lossy(&script).contains(VARIABLE), "{shell:?}");
        }
    }
}
