//! A server, measured now as a baseline was: the same loads, as often, and nothing but the URL another.

use super::CheckArgs;
use crate::args::options::environment;
use crate::ending::Decisive;
use crate::exit::{Exit, Failed, usage};
use crate::experiment::{ExperimentContext, StorePolicy, carry_out};
use crate::measure::Strict;
use crate::output::Outputs;
use crate::process::command_line;
use crate::runs;
use anyhow::{Result, anyhow, bail, ensure};
use brunt_model::experiment::Step;
use brunt_model::{Body, Contender, Experiment, Plan, Question, Request};
use brunt_runner::LiveOutputs;
use brunt_spec::experiment::{self, Arranged};
use brunt_spec::settings::SettingSources;
use brunt_spec::to_plan::body_from;
use brunt_spec::words::target;
use brunt_spec::words::values::secrets::filled;
use brunt_store::redact::restore::redacted_places;
use brunt_store::{Store, StoredItem};
use std::time::Duration;

/// Measures it, and keeps that: its id.
pub fn now(store: &Store, args: &CheckArgs, baseline: &StoredItem, url: &str) -> Result<String, Failed> {
    let experiment = experiment(store, args, baseline, url).map_err(usage)?;
    let given = ExperimentContext {
        plan_name: None,
        system: crate::process::system(),
        outputs: Outputs::open(&[], true).map_err(usage)?,
        jtl: None,
        live_outputs: LiveOutputs::default(),
        tracer: None,
        quiet: args.quiet,
        strict: Strict::No,
        decisive: Decisive::No,
        notes: Vec::new(),
        keep: StorePolicy::Anew(runs::open(&args.store)?),
    };
    let exit = carry_out(&experiment, given)?;
    let found = match exit {
        Exit::Interrupted => Err(anyhow!("it was interrupted, so there is nothing to compare with the baseline")),
        Exit::NothingMeasured => Err(anyhow!("{url}: no reply came, so there is nothing to compare")),
        _ => store.find_experiment(&experiment.name).map_err(Into::into),
    };
    found.map_err(|error| Failed { exit: exit.max(Exit::NothingMeasured), error })
}

/// What was done for the baseline, of another URL.
fn experiment(store: &Store, args: &CheckArgs, baseline: &StoredItem, url: &str) -> Result<Experiment> {
    let (mut steps, arranged) = match baseline {
        StoredItem::Run(id) => {
            let plan = store.run(id)?.plan.ok_or_else(|| anyhow!("{id} has no plan"))?;
            (vec![Step::new(plan.main().load.peak(), plan)], alike("baseline-check", 1))
        }
        StoredItem::Experiment(id) => {
            let mut experiment = store.study(id)?.experiment;
            let name = format!("{}-check", experiment.name);
            let [only] = &mut experiment.contenders[..] else {
                bail!("{id} has several contenders, and one URL is given; measure its plan again, and name that run");
            };
            let (order, cooldown) = (experiment.order, experiment.cooldown);
            let arranged = Arranged { order, cooldown, ..alike(&name, experiment.repetitions) };
            (std::mem::take(&mut only.steps), arranged)
        }
    };
    let again = Again::given(args)?;
    steps.iter_mut().try_for_each(|step| ask(&mut step.plan, url, &again))?;
    let (seed, name) = (steps.first().map_or(0, |step| step.plan.seed), "now".to_owned());
    Ok(experiment::experiment(vec![Contender::bare(name, steps)], arranged, seed, &command_line())?)
}

/// What is given again, because a baseline is stored without its secrets.
struct Again {
    headers: Vec<(String, String)>,
    body: Option<Body>,
}

impl Again {
    fn given(args: &CheckArgs) -> Result<Self> {
        let body = args
            .data
            .as_ref()
            .map(|data| body_from(data, &crate::process::system(), &SettingSources::default()))
            .transpose()?;
        Ok(Self { headers: [args.headers.concat(), args.header_files.concat()].concat(), body })
    }

    fn put_into(&self, request: &mut Request) {
        for (name, value) in &self.headers {
            match request.headers.iter_mut().find(|header| header.0.eq_ignore_ascii_case(name)) {
                Some(header) => header.1.clone_from(value),
                None => request.headers.push((name.clone(), value.clone())),
            }
        }
        if let Some(body) = &self.body {
            request.body = body.clone();
        }
    }
}

fn ask(plan: &mut Plan, url: &str, again: &Again) -> Result<()> {
    let [request] = &mut plan.main_mut().scenario.requests[..] else {
        bail!("the baseline has several URLs, and one is given; measure it again, and name that run");
    };
    request.url = target::parse(&filled(url, environment)?)?.url;
    request.label.clone_from(&request.url);
    again.put_into(request);
    let missing = redacted_places(plan);
    ensure!(
        missing.is_empty(),
        "the baseline was stored without its secrets, and {} is one; give it again with -H 'NAME: VALUE', --header-file FILE \
         or --data @FILE",
        missing.join(", ")
    );
    Ok(())
}

/// The parameters of an experiment with one contender and this number of repetitions.
fn alike(name: &str, repetitions: u32) -> Arranged {
    let (order, cooldown) = (brunt_spec::defaults::TRIAL_ORDER, Duration::ZERO);
    Arranged { name: name.to_owned(), repetitions, order, cooldown, question: Question::Sweep }
}
