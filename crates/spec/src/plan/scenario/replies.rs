//! Keys of requests about their replies: extraction, checks, and the reaction to failures.

use super::ScenarioReader;
use super::checks::{StepCheck, Until};
use super::extractors::ExtractMap;
use super::keys::OnFailure;
use crate::error::{Result, SpecError};
use crate::plan::PlanNode;
use crate::plan::words::{DurationKey, Nested, ReadValue, Scalar, ScalarList, ScalarOr};
use brunt_model::reply_policy::{
    Assertion, AssertionTest, Credentials, Elements, Events, ReplyAction,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Keys that all requests have, whatever the protocol.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ReplyKeys {
    /// Name and password, `name:password`, for a server that asks for them (Digest).
    digest: Option<Scalar>,
    /// Maximum number of redirects followed. Default: that of the scenario.
    follow: Option<u32>,
    /// Whether images, style sheets and scripts of a page of HTML are requested, too. Default: false.
    resources: Option<bool>,
    /// The reply comes in events, each of which is timed: `sse`, `lines` or `messages`, then how many at most and for how
    /// long, such as `sse,20,10s`.
    reply_events: Option<ReadValue<Events>>,
    /// Of `send` and `await`: the message that is awaited, a text that it contains or a map; other messages are passed over.
    until: Option<Nested<ScalarOr<Until>>>,
    /// Variables that the reply sets, by name: a `JSONPath`, or a map.
    extract: Option<Nested<ExtractMap>>,
    /// A script that runs after `extract`, or several in order; `prev` is the reply.
    after: Option<ScalarList>,
    /// Conditions for a good reply.
    check: Option<StepCheck>,
    /// The scope that a failure of the request ends.
    on_failure: Option<OnFailure>,
    /// Time limit for the request.
    timeout: Option<DurationKey>,
}

impl ReplyKeys {
    /// The time limit of the request.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout.map(|time| time.0)
    }

    /// Adds the policy of a request, and returns its number. `kind` is the key that defines the step.
    pub fn read(
        &self,
        reader: &mut ScenarioReader<'_>,
        step: &PlanNode,
        kind: &str,
    ) -> Result<u32> {
        let mut policy = reader.policy.clone();
        if let Some(on_failure) = self.on_failure {
            policy.failure_ends = on_failure.scope();
        }
        policy.timeout = self.timeout();
        if let Some(follow) = self.follow {
            policy.redirects.most = follow;
        }
        policy.elements = self.resources.unwrap_or(false).then(Elements::default);
        policy.events = self.reply_events.map(|events| events.0);
        if let Some(digest) = &self.digest {
            policy
                .credentials
                .push(credentials(&digest.0).map_err(|error| error.within("digest", &step.at))?);
            // Digest needs the challenge of a first reply, with status 401.
            policy.repeats_unauthorized = 1;
        }
        if let (Some(form), Some(node)) = (&self.extract, step.child("extract")) {
            let extractors = form.read(node).map_err(|error| error.within("extract", &node.at))?;
            policy.actions.extend(extractors.into_iter().map(ReplyAction::Extract));
        }
        if let (Some(form), Some(node)) = (&self.until, step.child("until")) {
            if !["send", "await"].contains(&kind) {
                let wrong = format!("`{kind}` awaits no message; write `until` with send or await");
                return Err(SpecError::new(&node.at, "until", wrong));
            }
            policy.until = form.read(node).map_err(|error| error.within("until", &node.at))?;
        }
        for script in self.after.iter().flat_map(|scripts| &scripts.0) {
            policy.actions.push(ReplyAction::Script(reader.script("after", script)));
        }
        if let (Some(check), Some(node)) = (&self.check, step.child("check")) {
            check.read(node, &mut policy).map_err(|error| error.within("check", &node.at))?;
            for script in check.script.iter().flat_map(|scripts| &scripts.0) {
                let test = AssertionTest::Script(reader.script("check", script));
                policy.assertions.push(Assertion { name: "script".into(), test });
            }
        }
        // Equal policies are stored once.
        if let Some(number) = reader.policies.iter().position(|other| *other == policy) {
            return Ok(number as u32);
        }
        reader.policies.push(policy);
        Ok(reader.policies.len() as u32 - 1)
    }
}

fn credentials(pair: &str) -> Result<Credentials> {
    let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
    // The policy is shared by all users, so it has one name and password.
    if pair.contains("${") {
        let wrong =
            "variables of users cannot stand here; write the name and the password, or ${env.NAME}";
        return Err(SpecError::unplaced(wrong));
    }
    Ok(Credentials { realm: None, user: user.to_owned(), password: password.to_owned() })
}
