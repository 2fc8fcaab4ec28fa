//! Runs plan files: `brunt run plan.yaml`. Out of scope: parsing them (`spec`).

use super::{ExperimentContext, folder_name, run_experiment, used_folder};
use crate::args::RunArgs;
use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use anyhow::{Result, bail};
use brunt_model::Experiment;
use brunt_model::plan::ListenerRecords;
use brunt_spec::to_plan;
use std::path::Path;

/// Options that are allowed with a plan file. All others belong in the file, or to `--set`.
const ALLOWED_OPTIONS: [&str; 9] = [
    "output",
    "quiet",
    "strict",
    "jtl",
    "jtl-format",
    "trace",
    "trace-only",
    "trace-files",
    "show-secrets",
];

/// Returns the path of a plan file, or None for a URL.
pub fn plan_path(word: &str) -> Option<&Path> {
    let path = Path::new(word);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    // A URL may end with `.yaml`, too.
    let is_plan = ["yaml", "yml"].contains(&extension) && !word.contains("://");
    is_plan.then_some(path)
}

/// Runs a plan file and writes the reports.
pub fn run_plan(path: &Path, args: &RunArgs) -> Result<Exit, CommandError> {
    refuse_others(args).map_err(usage_error)?;
    let folder = folder_name().map_err(runtime_error)?;
    let system = crate::process::system();
    let folder_text = folder.display().to_string();
    let loaded = crate::plan_file::load(path, &args.plan.sets, &folder_text, &system)?;
    let mut args = args.clone();
    args.settings.output.adopt(loaded.outputs, loaded.live_outputs);
    let scratch = used_folder(&loaded.experiment, folder).map_err(runtime_error)?;
    let mut experiment = Experiment { scratch, ..loaded.experiment };
    if args.settings.output.trace {
        to_plan::trace::reduce_all(&mut experiment, &args.settings);
    }
    if let Some(records) = to_plan::records(&args.settings.output) {
        record_samples(&mut experiment, &records).map_err(usage_error)?;
    }
    let mut context =
        ExperimentContext::from_args(&args, system, loaded.notes).map_err(usage_error)?;
    context.plan_name = Some(experiment.name.clone());
    run_experiment(&experiment, context)
}

/// Sets up the records for the result file, which holds the samples of a single run.
fn record_samples(experiment: &mut Experiment, records: &ListenerRecords) -> Result<()> {
    let runs = experiment.trials();
    if !records.trace && (runs != 1 || experiment.has_search()) {
        bail!(
            "--jtl lists the samples of one run, and the plan has more; leave --jtl out, or run a plan of one load"
        );
    }
    for step in experiment.contenders.iter_mut().flat_map(|contender| &mut contender.steps) {
        step.plan.record.records = Some(records.clone());
        // A trace also shows the stages before and after the load.
        if records.trace {
            step.plan
                .stages
                .iter_mut()
                .for_each(|stage| stage.plan.record.records = Some(records.clone()));
        }
    }
    Ok(())
}

/// Refuses other options. A load on the command line would be ambiguous: contenders of
/// the plan may override it.
pub fn refuse_others(args: &RunArgs) -> Result<()> {
    let trace_options: &[&str] =
        if args.settings.output.trace { &to_plan::trace::ALLOWED_OPTIONS } else { &[] };
    let sources = &args.settings.sources;
    match sources
        .options()
        .find(|option| !ALLOWED_OPTIONS.contains(option) && !trace_options.contains(option))
    {
        Some(option) => {
            let wrong = "the plan file sets it; change it there, or with --set (`brunt plan show` has the keys)";
            bail!("{}", sources.text(|names| format!("{}: {wrong}", names.name_of(option))))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};

    #[test]
    fn plan_files_and_urls_are_distinguished() {
        for (word, is) in [
            ("plan.yaml", true),
            ("a/b.yml", true),
            ("http://h/openapi.yaml", false),
            ("localhost", false),
        ] {
            assert_eq!(plan_path(word).is_some(), is, "{word}");
        }
    }

    #[test]
    fn options_that_belong_in_the_plan_are_refused() {
        let refused = |line: &str| {
            let command = RunArgs::augment_args(clap::Command::new("brunt"));
            let matches = command.try_get_matches_from(line.split(' ')).unwrap();
            refuse_others(&RunArgs::from_arg_matches(&matches).unwrap())
                .err()
                .map(|e| e.to_string())
        };
        assert_eq!(refused("brunt p.yaml --set a=b -q --strict -o json=x"), None);
        assert_eq!(refused("brunt p.yaml"), None);
        for line in ["brunt p.yaml -r 5", "brunt p.yaml --rate 5"] {
            assert!(refused(line).unwrap().starts_with("--rate: the plan file sets it"));
        }
    }
}
