//! A hash of the part of a plan that decides its figures.

use brunt_model::{Experiment, Plan, Question};
use serde::Serialize;
use std::hash::{DefaultHasher, Hasher};
use std::io;

/// Parts of a plan that decide its figures. The seed, the objectives, threads, recording and agents are
/// left out: they change between runs that their users compare, and a change of threads or agents
/// is shown as a fact.
#[derive(Serialize)]
struct ComparableParts<'a>(
    &'a [brunt_model::plan::Population],
    &'a [brunt_model::ReplyPolicy],
    &'a brunt_model::plan::ConnectionSettings,
);

/// Writes into a hash, so that plans with a million requests need no memory.
struct HashWriter(DefaultHasher);

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns equal numbers for plans with equal figures, if their servers are equal.
pub fn plan_key(plan: &Plan) -> u64 {
    let mut hash = HashWriter(DefaultHasher::new());
    add_plan(plan, &mut hash);
    hash.0.finish()
}

/// Returns equal numbers for searches of the same capacity.
pub fn search_key(experiment: &Experiment) -> u64 {
    let mut hash = HashWriter(DefaultHasher::new());
    if let Question::Find(search) = &experiment.question {
        add(&search.objectives, &mut hash);
    }
    for contender in &experiment.contenders {
        add(&contender.name, &mut hash);
        // The first step is the pattern of the trials; the others are results.
        if let Some(step) = contender.steps.first() {
            add_plan(&step.plan, &mut hash);
        }
    }
    hash.0.finish()
}

fn add_plan(plan: &Plan, hash: &mut HashWriter) {
    add(&ComparableParts(&plan.populations, &plan.reply_policies, &plan.connection), hash);
}

fn add(value: &impl Serialize, hash: &mut HashWriter) {
    // Every plan was serialized into the log, and this writer has no errors.
    let _ = serde_json::to_writer(hash, value);
}
