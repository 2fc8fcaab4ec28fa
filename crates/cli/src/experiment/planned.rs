//! `brunt run plan.yaml`: a plan file, carried out. Out of scope: the reading of it, which is
//! `spec`'s.

use super::{ExperimentContext, carry_out, folder_name, used_folder};
use crate::args::RunArgs;
use crate::exit::{Exit, Failed, failed, usage};
use anyhow::{Result, bail};
use brunt_model::Experiment;
use brunt_model::plan::Records;
use brunt_spec::{plan_file, to_plan};
use std::path::Path;

/// Settings that may be said on the command line beside a plan file. All others are said in it, or by `--set`.
const BESIDE: [&str; 9] =
    ["output", "quiet", "strict", "jtl", "jtl-format", "trace", "trace-only", "trace-bodies", "show-secrets"];

/// The plan file that stands in place of a URL, where it is one.
pub fn plan_path(word: &str) -> Option<&Path> {
    let path = Path::new(word);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let named = ["yaml", "yml"].contains(&ending) && !word.contains("://");
    named.then_some(path)
}

/// Carries out a plan file.
pub fn run_plan(path: &Path, args: &RunArgs) -> Result<Exit, Failed> {
    refuse_others(args).map_err(usage)?;
    let folder = folder_name().map_err(failed)?;
    let system = crate::process::system();
    let loaded = plan_file::load(path, &args.plan.sets, &folder.display().to_string(), &system);
    let loaded = loaded.map_err(|error| usage(error.into()))?;
    let mut args = args.clone();
    args.settings.output.adopt(loaded.outputs, loaded.live_outputs);
    let scratch = used_folder(&loaded.experiment, folder).map_err(failed)?;
    let mut experiment = Experiment { scratch, ..loaded.experiment };
    if args.settings.output.trace {
        to_plan::trace::reduce_all(&mut experiment, &args.settings);
    }
    if let Some(records) = to_plan::records(&args.settings.output) {
        record_samples(&mut experiment, &records).map_err(usage)?;
    }
    let mut given = ExperimentContext::asked(&args, system, loaded.notes).map_err(usage)?;
    given.plan_name = Some(experiment.name.clone());
    carry_out(&experiment, given)
}

/// The samples of the only run are handed to the result file.
fn record_samples(experiment: &mut Experiment, records: &Records) -> Result<()> {
    let runs = experiment.trials();
    if !records.trace && (runs != 1 || experiment.grows()) {
        bail!("--jtl lists the samples of one run, and the plan has more; leave --jtl out, or run a plan of one load");
    }
    for step in experiment.contenders.iter_mut().flat_map(|contender| &mut contender.steps) {
        step.plan.record.records = Some(records.clone());
        if records.trace {
            step.plan.around.iter_mut().for_each(|stage| stage.plan.record.records = Some(records.clone()));
        }
    }
    Ok(())
}

/// A load on the command line would change all contenders, or be overridden by some: the plan is to say it.
pub fn refuse_others(args: &RunArgs) -> Result<()> {
    let traced: &[&str] = if args.settings.output.trace { &to_plan::trace::BESIDE } else { &[] };
    let sources = &args.settings.said;
    match sources.options().find(|option| !BESIDE.contains(option) && !traced.contains(option)) {
        Some(option) => {
            let wrong = "the plan file sets it; change it there, or with --set (`brunt plan show` has the keys)";
            bail!("{}", sources.text(|names| format!("{}: {wrong}", names.of(option))))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};

    #[test]
    fn a_plan_file_is_told_from_a_url() {
        for (word, is) in
            [("plan.yaml", true), ("a/b.yml", true), ("http://h/openapi.yaml", false), ("localhost", false)]
        {
            assert_eq!(plan_path(word).is_some(), is, "{word}");
        }
    }

    #[test]
    fn what_the_plan_is_to_say_is_refused_on_the_command_line() {
        let refused = |line: &str| {
            let command = RunArgs::augment_args(clap::Command::new("brunt"));
            let matches = command.try_get_matches_from(line.split(' ')).unwrap();
            refuse_others(&RunArgs::from_arg_matches(&matches).unwrap()).err().map(|e| e.to_string())
        };
        assert_eq!(refused("brunt p.yaml --set a=b -q --strict -o json=x"), None);
        assert_eq!(refused("brunt p.yaml"), None);
        for line in ["brunt p.yaml -r 5", "brunt p.yaml --rate 5"] {
            assert!(refused(line).unwrap().starts_with("--rate: the plan file sets it"));
        }
    }
}
