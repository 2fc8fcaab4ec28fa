//! setUp and tearDown thread groups as `setup` and `teardown`.

use super::Writer;
use crate::write::Keys;
use crate::write::plan_time;
use brunt_model::{Plan, Population};
use brunt_spec::plan::Yaml;
use brunt_spec::plan::scenario::steps;

impl Writer<'_> {
    /// The thread groups of a stage; None where they have no steps.
    pub(super) fn stage(&mut self, plan: &Plan) -> Option<Yaml> {
        self.policies.clone_from(&plan.reply_policies);
        self.is_joined = plan.populations.len() > 1;
        let mut groups = Vec::new();
        for group in &plan.populations {
            let mut keys = self.scenario(group);
            // A failure ends a stage of a plan file, where it does not say otherwise.
            if !keys.iter().any(|(name, _)| name == "on_failure") {
                keys.insert(0, ("on_failure".into(), Yaml::text("continue")));
            }
            match keys.pop() {
                Some((_, Yaml::List(steps))) if !steps.is_empty() => groups.push((group, keys, steps)),
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
        let (users, iterations) = self.rounds(group);
        let numbers = [("users", users), ("iterations", iterations)].into_iter().filter(|(_, number)| *number > 1);
        let mut own: Keys = numbers.map(|(name, number)| (name.to_owned(), Yaml::text(number.to_string()))).collect();
        own.extend(group.stop.duration.map(|duration| ("timeout".into(), Yaml::Text(plan_time(duration)))));
        own.extend(keys);
        own.push(("steps".into(), Yaml::List(steps)));
        Yaml::Map(own)
    }

    /// Several thread groups at the same time become groups of steps of one user.
    fn one_user(&mut self, groups: Vec<(&Population, Keys, Vec<Yaml>)>) -> Yaml {
        let (mut keys, mut all) = (Keys::new(), Vec::new());
        for (group, own, mut steps) in groups {
            let place = self.group_place(&group.name);
            self.notice(format!("{place}: one user carries it out and the others of its kind, one after the other"));
            let (users, iterations) = self.rounds(group);
            if users * iterations > 1 {
                let times = Yaml::text((users * iterations).to_string());
                steps = vec![Yaml::map([("loop", times), ("steps", Yaml::List(steps))])];
            }
            all.push(steps::group(&group.name, steps));
            for name in own.into_iter().filter_map(|key| join(&mut keys, key)) {
                self.notice(format!("{place}: `{name}` is that of the first group of its kind"));
            }
        }
        keys.push(("steps".into(), Yaml::List(all)));
        Yaml::Map(keys)
    }

    /// Users of a thread group, and the iterations of each.
    fn rounds(&mut self, group: &Population) -> (u64, u64) {
        let iterations = group.stop.iterations_per_user.unwrap_or_else(|| {
            let place = self.group_place(&group.name);
            self.notice(format!("{place}: it has no number of loops; each of its users does one (iterations)"));
            1
        });
        (group.load.peak().ceil().max(1.0) as u64, iterations)
    }
}

/// Adds a key of a further thread group; its name, where the first has another value.
fn join(keys: &mut Keys, (name, value): (String, Yaml)) -> Option<String> {
    let Some((_, known)) = keys.iter_mut().find(|(other, _)| *other == name) else {
        keys.push((name, value));
        return None;
    };
    match (known, value) {
        (Yaml::List(known), Yaml::List(more)) => known.extend(more),
        (Yaml::Map(known), Yaml::Map(more)) => {
            return more.into_iter().filter_map(|key| join(known, key)).last();
        }
        (known, value) => return (*known != value).then_some(name),
    }
    None
}
