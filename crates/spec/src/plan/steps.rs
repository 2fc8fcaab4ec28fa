//! Finds the steps of a plan file by the label of their requests.

use super::{PlanNode, PlanValue, yaml};
use crate::error::SpecError;

/// Keys with the URL of a request.
const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "request"];

/// Returns the paths of the steps whose requests have this label, such as `scenario.steps[2]`, for
/// [`edit`](super::edit()). Steps with this name precede those whose URL ends with the label.
pub fn paths_of_label(text: &str, file: &str, label: &str) -> Result<Vec<String>, SpecError> {
    let root = yaml::parse(text, file)?;
    let mut steps = Vec::new();
    collect(&root, "", false, &mut steps);
    let of = |has: &dyn Fn(&PlanNode) -> bool| -> Vec<String> {
        steps.iter().filter(|(_, step)| has(step)).map(|(path, _)| path.clone()).collect()
    };
    let named = of(&|step| step.child("name").and_then(PlanNode::text) == Some(label));
    if !named.is_empty() {
        return Ok(named);
    }
    Ok(of(&|step| {
        let urls = METHODS.iter().filter_map(|method| step.child(method)?.text());
        step.child("name").is_none() && urls.into_iter().any(|url| url.ends_with(label))
    }))
}

/// Adds the maps of all lists named `steps`, with their paths.
fn collect<'n>(
    node: &'n PlanNode,
    path: &str,
    is_list_of_steps: bool,
    steps: &mut Vec<(String, &'n PlanNode)>,
) {
    match &node.value {
        PlanValue::Map(entries) => {
            for entry in entries {
                let path = match path {
                    "" => entry.key.clone(),
                    // Names with dots or brackets would be several places.
                    _ if entry.key.contains(['.', '[', ']']) => {
                        format!("{path}[\"{}\"]", entry.key)
                    }
                    _ => format!("{path}.{}", entry.key),
                };
                collect(&entry.node, &path, entry.key == "steps", steps);
            }
        }
        PlanValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                if is_list_of_steps && matches!(item.value, PlanValue::Map(_)) {
                    steps.push((path.clone(), item));
                }
                collect(item, &path, false, steps);
            }
        }
        PlanValue::Null | PlanValue::Text { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_by_name_or_url() {
        let text = "setup:\n  steps:\n  - get: /login\nscenario:\n  steps:\n  - get: /login\n    name: log in\n  - transaction: buy\n    \
                    steps:\n    - post: http://shop/cart\n    - {get: /cart, name: see}\n";
        let of = |label: &str| paths_of_label(text, "plan.yaml", label).unwrap();
        assert_eq!(of("log in"), ["scenario.steps[0]"]);
        assert_eq!(of("/login"), ["setup.steps[0]"]);
        assert_eq!(of("/cart"), ["scenario.steps[1].steps[0]"]);
        assert_eq!(of("see"), ["scenario.steps[1].steps[1]"]);
        assert!(of("absent").is_empty());
        assert!(paths_of_label("a: [", "plan.yaml", "a").is_err());
    }
}
