//! Fills in `${name}` in the values of a plan: variables of the plan, and inputs of the caller.

use super::node::{NamedNode, PlanNode, PlanValue};
use crate::error::SourcePosition;
use crate::error::{SpecError, nearest};
use std::collections::BTreeMap;

/// Values that the plan cannot contain.
#[derive(Clone, Copy)]
pub struct FillInputs<'a> {
    /// Ports that were drawn, by name: `${port.NAME}`.
    pub ports: &'a BTreeMap<String, u16>,
    /// Folder for the files of this experiment: `${dir}`.
    pub dir: &'a str,
    /// Folder of the plan file: `${plan_dir}`.
    pub plan_dir: &'a str,
    /// Environment variables: `${env.NAME}`, or `${env:NAME}` as on the command line.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// Names that only exist within a contender: its name, and its level of each factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContenderScope<'a> {
    pub name: &'a str,
    pub factors: &'a [(String, String)],
}

/// Meaning of the names at one place of a plan.
pub(super) struct Scope<'a> {
    /// Map of variables, before placeholders in it are filled in.
    pub vars: Option<&'a PlanNode>,
    pub inputs: FillInputs<'a>,
    /// None for keys of the whole experiment.
    pub contender: Option<ContenderScope<'a>>,
    /// Treatment of unknown names.
    pub unknown: UnknownNames,
}

/// Treatment of a name without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownNames {
    /// An unknown name is an error.
    Error,
    /// An unknown name stays unchanged, since users have their own variables and
    /// functions. `$${` becomes `\${`.
    Keep,
}

/// Maximum length of a text with its variables filled in, in bytes.
const MAX_LENGTH: usize = 1 << 20;

/// Maximum number of variables that are filled into one text, including variables within variables.
// A variable that contains the next one twice, and so on, grows by powers of two.
const MAX_VALUES: u32 = 10_000;

/// Variables that are being filled in, and the number of those that were.
#[derive(Default)]
struct FillState {
    names: Vec<String>,
    count: u32,
}

impl Scope<'_> {
    /// Returns the tree with its values filled in.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a variable is unknown or a placeholder malformed.
    pub fn fill(&self, node: &PlanNode) -> Result<PlanNode, SpecError> {
        let value = match &node.value {
            PlanValue::Null => PlanValue::Null,
            PlanValue::Text { text, plain } => PlanValue::Text {
                text: self.text(text, &node.at, &mut FillState::default())?,
                plain: *plain,
            },
            PlanValue::List(nodes) => {
                let mut filled_nodes = Vec::with_capacity(nodes.len());
                for (number, node) in nodes.iter().enumerate() {
                    filled_nodes.push(
                        self.fill(node).map_err(|e| e.within(&format!("[{number}]"), &node.at))?,
                    );
                }
                PlanValue::List(filled_nodes)
            }
            PlanValue::Map(entries) => PlanValue::Map(
                entries
                    .iter()
                    .map(|entry| self.fill_entry(entry))
                    .collect::<Result<_, SpecError>>()?,
            ),
        };
        Ok(PlanNode { at: node.at.clone(), value })
    }

    fn fill_entry(&self, entry: &NamedNode) -> Result<NamedNode, SpecError> {
        let user_scope = Scope { unknown: UnknownNames::Keep, ..*self };
        // Their `${…}` may be variables of users, which only a run knows.
        let is_of_users = ["scenario", "setup", "teardown"].contains(&entry.key.as_str());
        let scope = if is_of_users { &user_scope } else { self };
        let node = scope.fill(&entry.node).map_err(|e| e.within(&entry.key, &entry.node.at))?;
        Ok(NamedNode { node, ..entry.clone() })
    }

    /// The value of a variable of the plan; None if it has no such variable.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a placeholder of the value is malformed.
    pub fn variable(&self, name: &str) -> Result<Option<String>, SpecError> {
        self.var(name, &mut FillState::default())
    }

    /// Fills in the names of a text.
    fn text(
        &self,
        text: &str,
        at: &SourcePosition,
        state: &mut FillState,
    ) -> Result<String, SpecError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            out.push_str(&rest[..dollar]);
            let tail = &rest[dollar + 1..];
            // `$$` is a plain `$`, as in Makefiles and Compose files.
            if let Some(tail) = tail.strip_prefix('$') {
                // The run fills in this text again, so an escaped `${` must stay escaped.
                out.push_str(if self.unknown == UnknownNames::Keep && tail.starts_with('{') {
                    r"\$"
                } else {
                    "$"
                });
                rest = tail;
            } else if let (UnknownNames::Keep, Some(tail)) = (self.unknown, tail.strip_prefix('{'))
            {
                let known_value = self.known_value(tail, at, state)?;
                let (value, tail) = known_value.unwrap_or_else(|| ("${".to_owned(), tail));
                out.push_str(&value);
                rest = tail;
            } else if let Some(name) = tail.strip_prefix('{') {
                let end = name.find('}').ok_or_else(|| {
                    SpecError::new(
                        at,
                        "",
                        "`}` is missing after `${`; write ${name}, or $${ for a plain ${",
                    )
                })?;
                out.push_str(&self.value(&name[..end], at, state)?);
                rest = &name[end + 1..];
            } else {
                out.push('$');
                rest = tail;
            }
            // Short variables that refer to each other could fill the memory, or take very long.
            state.count += 1;
            if out.len() > MAX_LENGTH || state.count > MAX_VALUES {
                return Err(SpecError::new(
                    at,
                    "",
                    "too long with its variables filled in; write shorter values",
                ));
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The value of the name at the start of a text, and the rest of the text; None if
    /// the name is unknown.
    fn known_value<'t>(
        &self,
        text: &'t str,
        at: &SourcePosition,
        state: &mut FillState,
    ) -> Result<Option<(String, &'t str)>, SpecError> {
        let Some((name, rest)) = text.split_once('}') else { return Ok(None) };
        // An unset environment variable is an error here, too: users have no such variables.
        let is_environment = name.starts_with("env.") || name.starts_with("env:");
        let is_var = self.vars.is_some_and(|vars| vars.child(name).is_some());
        if !is_environment && !is_var && self.input_value(name).is_none() {
            return Ok(None);
        }
        Ok(Some((self.value(name, at, state)?, rest)))
    }

    fn value(
        &self,
        name: &str,
        at: &SourcePosition,
        state: &mut FillState,
    ) -> Result<String, SpecError> {
        if let Some(value) = self.var(name, state)? {
            return Ok(value);
        }
        self.input_value(name).ok_or_else(|| SpecError::new(at, "", self.unknown_message(name)))
    }

    /// The value of a name that is not a variable of the plan.
    fn input_value(&self, name: &str) -> Option<String> {
        match name.split_once('.').or_else(|| name.split_once(':')) {
            None if name == "dir" => Some(self.inputs.dir.to_owned()),
            None if name == "plan_dir" => Some(self.inputs.plan_dir.to_owned()),
            None if name == "contender" => {
                self.contender.map(|contender| contender.name.to_owned())
            }
            Some(("env", variable)) => (self.inputs.environment)(variable),
            Some(("port", port)) => self.inputs.ports.get(port).map(u16::to_string),
            Some(("factor", factor)) => self
                .contender
                .and_then(|contender| contender.factors.iter().find(|(name, _)| name == factor))
                .map(|(_, level)| level.clone()),
            _ => None,
        }
    }

    fn var(&self, name: &str, state: &mut FillState) -> Result<Option<String>, SpecError> {
        let Some(node) = self.vars.and_then(|vars| vars.child(name)) else { return Ok(None) };
        if state.names.iter().any(|other| other == name) {
            let circle: Vec<String> = state
                .names
                .iter()
                .chain([&name.to_owned()])
                .map(|name| format!("${{{name}}}"))
                .collect();
            return Err(variable_error(
                node,
                name,
                &format!("refers to itself ({}); write its value", circle.join(" → ")),
            ));
        }
        let text = node.text().ok_or_else(|| {
            variable_error(
                node,
                name,
                &format!("is {}, and a variable is a single value; write one", node.kind()),
            )
        })?;
        // The names of the variables that are being filled in, to find a circle.
        state.names.push(name.to_owned());
        let value = self.text(text, &node.at, state)?;
        state.names.pop();
        Ok(Some(value))
    }

    /// Message for an unknown name, with the most similar known name, or all known names.
    fn unknown_message(&self, name: &str) -> String {
        let known_names = self.known_names();
        if let Some(variable) = name.strip_prefix("env.").or_else(|| name.strip_prefix("env:")) {
            return format!(
                "${{{name}}}: the environment variable {variable} is not set; set it, or write a value"
            );
        }
        // The name exists, but not here, so a similar name would be a wrong remedy.
        if self.contender.is_none() && (name == "contender" || name.starts_with("factor.")) {
            return format!(
                "${{{name}}} is defined for each contender only, and this key is of the whole experiment; leave it out"
            );
        }
        let instead = match nearest(name, known_names.iter().map(String::as_str)) {
            Some(near) => placeholder(near),
            None => {
                format!(
                    "one of {}",
                    known_names.iter().map(|name| placeholder(name)).collect::<Vec<_>>().join(" ")
                )
            }
        };
        format!(
            "${{{name}}} is not defined; write {instead}, or $${{{name}}} to leave it to the shell"
        )
    }

    fn known_names(&self) -> Vec<String> {
        let vars =
            self.vars.map_or(&[][..], PlanNode::entries).iter().map(|entry| entry.key.clone());
        let ports = self.inputs.ports.keys().map(|port| format!("port.{port}"));
        let fixed_names = ["dir", "plan_dir", "env.NAME"].map(str::to_owned);
        let contender = self.contender.iter().flat_map(|contender| {
            std::iter::once("contender".to_owned())
                .chain(contender.factors.iter().map(|(name, _)| format!("factor.{name}")))
        });
        vars.chain(ports).chain(fixed_names).chain(contender).collect()
    }
}

fn placeholder(name: &str) -> String {
    format!("${{{name}}}")
}

fn variable_error(node: &PlanNode, name: &str, wrong: &str) -> SpecError {
    SpecError::new(&node.at, "", format!("${{{name}}} {wrong}"))
}
