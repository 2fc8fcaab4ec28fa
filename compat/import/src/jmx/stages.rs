//! Converts setUp and tearDown thread groups to `setup` and `teardown`.

use super::Writer;
use brunt_har::write::Keys;
use brunt_har::write::plan_time;
use brunt_model::{Plan, Population};
use brunt_spec::plan::Yaml;
use brunt_spec::plan::scenario::steps;

impl Writer<'_> {
    /// Writes the thread groups of a stage; None if they have no steps.
    pub(super) fn stage(&mut self, plan: &Plan) -> Option<Yaml> {
        self.policies.clone_from(&plan.reply_policies);
        self.is_joined = plan.populations.len() > 1;
        let mut groups = Vec::new();
        for group in &plan.populations {
            let mut keys = self.scenario(group);
            // By default, a failure ends a stage of a plan file.
            if !keys.iter().any(|(name, _)| name == "on_failure") {
                keys.insert(0, ("on_failure".into(), Yaml::text("continue")));
            }
            match keys.pop() {
                Some((_, Yaml::List(steps))) if !steps.is_empty() => {
                    groups.push((group, keys, steps));
                }
                _ => {
                    let place = self.group_place(&group.name);
                    self.notice(format!("{place}: left out, nothing of it can be written"));
                }
            }
        }
        self.is_joined = false;
        match groups.len() {
            1 => groups.pop().map(|(group, keys, steps)| self.one_group(group, keys, steps)),
            0 => None,
            _ => Some(self.one_user(groups)),
        }
    }

    fn one_group(&mut self, group: &Population, keys: Keys, steps: Vec<Yaml>) -> Yaml {
        let (users, iterations) = self.users_and_iterations(group);
        let numbers = [("users", users), ("iterations", iterations)]
            .into_iter()
            .filter(|(_, number)| *number > 1);
        let mut stage_keys: Keys = numbers
            .map(|(name, number)| (name.to_owned(), Yaml::text(number.to_string())))
            .collect();
        stage_keys.extend(
            group.stop.duration.map(|duration| ("timeout".into(), Yaml::Text(plan_time(duration)))),
        );
        stage_keys.extend(keys);
        stage_keys.push(("steps".into(), Yaml::List(steps)));
        Yaml::Map(stage_keys)
    }

    /// Converts concurrent thread groups to consecutive groups of steps of one user.
    fn one_user(&mut self, groups: Vec<(&Population, Keys, Vec<Yaml>)>) -> Yaml {
        let mut keys = Keys::new();
        let mut all = Vec::new();
        for (group, group_keys, mut steps) in groups {
            let place = self.group_place(&group.name);
            self.notice(format!(
                "{place}: one user carries it out and the others of its kind, one after the other"
            ));
            let (users, iterations) = self.users_and_iterations(group);
            if users * iterations > 1 {
                let times = Yaml::text((users * iterations).to_string());
                steps = vec![Yaml::map([("loop", times), ("steps", Yaml::List(steps))])];
            }
            all.push(steps::group(&group.name, steps));
            for name in
                group_keys.into_iter().filter_map(|(name, value)| merge_key(&mut keys, name, value))
            {
                self.notice(format!("{place}: `{name}` is that of the first group of its kind"));
            }
        }
        keys.push(("steps".into(), Yaml::List(all)));
        Yaml::Map(keys)
    }

    /// Number of users of a thread group, and iterations of each.
    fn users_and_iterations(&mut self, group: &Population) -> (u64, u64) {
        let iterations = group.stop.iterations_per_user.unwrap_or_else(|| {
            let place = self.group_place(&group.name);
            self.notice(format!(
                "{place}: it has no number of loops; each of its users does one (iterations)"
            ));
            1
        });
        (group.load.peak().ceil().max(1.0) as u64, iterations)
    }
}

/// Merges a key of another thread group. Returns its name if the first group has a different value.
fn merge_key(keys: &mut Keys, name: String, value: Yaml) -> Option<String> {
    let Some((_, first)) = keys.iter_mut().find(|(other, _)| *other == name) else {
        keys.push((name, value));
        return None;
    };
    match (first, value) {
        (Yaml::List(first), Yaml::List(more)) => first.extend(more),
        (Yaml::Map(first), Yaml::Map(more)) => {
            return more
                .into_iter()
                .filter_map(|(name, value)| merge_key(first, name, value))
                .last();
        }
        (first, value) => return (*first != value).then_some(name),
    }
    None
}
