//! setUp and tearDown thread groups as `setup` and `teardown`.

use super::Writer;
use super::loads::time;
use super::requests::Keys;
use super::tree::Yaml;
use brunt_model::{Plan, Population};

/// Keys of a scenario that one user has for all of its steps.
const RULES: [&str; 5] = ["cookies", "follow", "cache", "on_failure", "language"];

impl Writer<'_> {
    /// The thread groups of a stage; None where they have no steps.
    pub(super) fn stage(&mut self, plan: &Plan) -> Option<Yaml> {
        self.policies.clone_from(&plan.reply_policies);
        self.is_joined = plan.populations.len() > 1;
        let groups: Vec<(&Population, Keys)> =
            plan.populations.iter().map(|group| (group, self.scenario(group))).collect();
        self.is_joined = false;
        match &groups[..] {
            [(group, keys)] => self.one_group(group, keys.clone()),
            _ => self.one_user(groups),
        }
    }

    fn one_group(&mut self, group: &Population, mut keys: Keys) -> Option<Yaml> {
        let (users, iterations) = self.rounds(group);
        let mut own = Keys::new();
        let numbers = [("users", users), ("iterations", iterations)].into_iter().filter(|(_, number)| *number > 1);
        own.extend(numbers.map(|(name, number)| (name.to_owned(), Yaml::text(number.to_string()))));
        if let Some(duration) = group.stop.duration {
            own.push(("timeout".into(), Yaml::Text(time(duration))));
        }
        // A failure ends a stage of a plan file, where it does not say otherwise.
        if !keys.iter().any(|(name, _)| name == "on_failure") {
            own.push(("on_failure".into(), Yaml::text("continue")));
        }
        let steps =
            keys.pop_if(|(name, steps)| name == "steps" && !matches!(steps, Yaml::List(all) if all.is_empty()))?;
        own.extend(keys);
        own.push(steps);
        Some(Yaml::Map(own))
    }

    /// Several thread groups at the same time become groups of steps of one user.
    fn one_user(&mut self, groups: Vec<(&Population, Keys)>) -> Option<Yaml> {
        let (mut keys, mut steps) = (Keys::new(), Vec::new());
        for (group, own) in groups {
            let place = self.group_place(&group.name);
            self.notice(format!("{place}: one user carries it out and the others of its kind, one after the other"));
            let (users, iterations) = self.rounds(group);
            for (name, value) in own {
                let known = keys.iter_mut().find(|(other, _)| *other == name).map(|(_, value)| value);
                match (known, value) {
                    (_, Yaml::List(all)) if name == "steps" => {
                        let rounds = Yaml::map([
                            ("loop", Yaml::text((users * iterations).to_string())),
                            ("steps", Yaml::List(all.clone())),
                        ]);
                        let all = if users * iterations > 1 { vec![rounds] } else { all };
                        steps.push(Yaml::map([("group", Yaml::text(&group.name)), ("steps", Yaml::List(all))]));
                    }
                    (Some(Yaml::List(known)), Yaml::List(more)) => known.extend(more),
                    (Some(Yaml::Map(known)), Yaml::Map(more)) => {
                        let new: Keys = more
                            .into_iter()
                            .filter(|(name, _)| !known.iter().any(|(other, _)| other == name))
                            .collect();
                        known.extend(new);
                    }
                    (Some(known), value) if *known != value && RULES.contains(&name.as_str()) => {
                        self.notice(format!("{place}: `{name}` is that of the first group of its kind"));
                    }
                    (Some(_), _) => {}
                    (None, value) => keys.push((name, value)),
                }
            }
        }
        if !keys.iter().any(|(name, _)| name == "on_failure") {
            keys.insert(0, ("on_failure".into(), Yaml::text("continue")));
        }
        keys.push(("steps".into(), Yaml::List(steps)));
        Some(Yaml::Map(keys))
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
