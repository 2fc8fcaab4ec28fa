//! A hash of the part of a plan that decides its figures.

use brunt_model::secret::REDACTED;
use brunt_model::{Experiment, Plan, Question};
use serde::Serialize;
use std::hash::{DefaultHasher, Hasher};

/// Parts of a plan that decide its figures. The seed, the objectives, threads, recording and agents are
/// left out: they change between runs that their users compare, and a change of threads or agents
/// is shown as a fact.
#[derive(Serialize)]
struct ComparableParts<'a>(
    &'a [brunt_model::plan::Population],
    &'a [brunt_model::ReplyPolicy],
    &'a brunt_model::plan::ConnectionSettings,
    &'a Option<brunt_model::goal::Until>,
    &'a [brunt_model::plan::TestStage],
);

/// Returns equal numbers for plans with equal figures, if their servers are equal.
pub fn plan_key(plan: &Plan) -> u64 {
    let mut hash = DefaultHasher::new();
    add_plan(plan, &mut hash);
    hash.finish()
}

/// Returns equal numbers for searches of the same capacity.
pub fn search_key(experiment: &Experiment) -> u64 {
    let mut hash = DefaultHasher::new();
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
    hash.finish()
}

fn add_plan(plan: &Plan, hash: &mut DefaultHasher) {
    let Plan { populations, reply_policies, connection, until, stages, .. } = plan;
    add(&ComparableParts(populations, reply_policies, connection, until, stages), hash);
}

fn add(value: &impl Serialize, hash: &mut DefaultHasher) {
    // Every plan was serialized into the log, so this has no errors.
    let text = serde_json::to_string(value).unwrap_or_default();
    let mut parts = text.split(REDACTED);
    hash.write(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        // A token of each night is another secret, and each store has its own digests of secrets.
        hash.write(REDACTED.as_bytes());
        hash.write(part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()).as_bytes());
    }
}
