//! `${name}` in the values of a plan: variables of the plan, and what whoever reads it hands in.

use super::node::{Entry, Node, Value};
use crate::error::Position;
use crate::error::{SpecError, nearest};
use std::collections::BTreeMap;

/// What the plan cannot know by itself.
#[derive(Clone, Copy)]
pub struct PlanInputs<'a> {
    /// The ports that were drawn, by name: `${port.NAME}`.
    pub ports: &'a BTreeMap<String, u16>,
    /// A folder for this experiment's files: `${dir}`.
    pub dir: &'a str,
    /// The folder of the plan file: `${plan_dir}`.
    pub plan_dir: &'a str,
    /// Environment variables: `${env.NAME}`, or `${env:NAME}` as on the command line.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// What a contender adds: its name and its level of each factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who<'a> {
    pub name: &'a str,
    pub factors: &'a [(String, String)],
}

/// What names stand for at one place of a plan.
pub(super) struct Scope<'a> {
    /// The map of variables, as it was written.
    pub vars: Option<&'a Node>,
    pub given: PlanInputs<'a>,
    /// None: this is of the whole experiment.
    pub who: Option<Who<'a>>,
    /// What becomes of names that stand for nothing here.
    pub unknown: Unknown,
}

/// What becomes of a name that stands for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It is an error.
    Refused,
    /// It stays as it was written: users have variables and functions of their own. `$${` becomes `\${`.
    Kept,
}

/// The longest text that may come of one.
const LONGEST: usize = 1 << 20;

/// The most variables that one text may take, those in variables among them.
const MOST: u32 = 10_000;

/// In the middle of which variables a text stands, and how many were filled in so far.
#[derive(Default)]
struct Open {
    names: Vec<String>,
    filled: u32,
}

impl Scope<'_> {
    /// The tree with its values filled in.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a variable is unknown or a placeholder malformed.
    pub fn fill(&self, node: &Node) -> Result<Node, SpecError> {
        let value = match &node.value {
            Value::Null => Value::Null,
            Value::Text { text, plain } => {
                Value::Text { text: self.text(text, &node.at, &mut Open::default())?, plain: *plain }
            }
            Value::List(nodes) => {
                let item = |(number, node)| self.fill(node).map_err(|e| e.within(&format!("[{number}]"), &node.at));
                Value::List(nodes.iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let entry = |entry: &Entry| {
                    let within = Scope { unknown: Unknown::Kept, ..*self };
                    let is_of_users = ["scenario", "setup", "teardown"].contains(&entry.key.as_str());
                    let scope = if is_of_users { &within } else { self };
                    let node = scope.fill(&entry.node).map_err(|e| e.within(&entry.key, &entry.node.at))?;
                    Ok(Entry { node, ..entry.clone() })
                };
                Value::Map(entries.iter().map(entry).collect::<Result<_, SpecError>>()?)
            }
        };
        Ok(Node { at: node.at.clone(), value })
    }

    /// The value of a variable of the plan; None where there is none of that name.
    ///
    /// # Errors
    ///
    /// [`SpecError`] with its place if a placeholder of the value is malformed.
    pub fn variable(&self, name: &str) -> Result<Option<String>, SpecError> {
        self.var(name, &mut Open::default())
    }

    /// A text with its names filled in.
    fn text(&self, text: &str, at: &Position, open: &mut Open) -> Result<String, SpecError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            let (before, behind) = (&rest[..dollar], &rest[dollar + 1..]);
            out.push_str(before);
            if let Some(behind) = behind.strip_prefix('$') {
                out.push_str(if self.unknown == Unknown::Kept && behind.starts_with('{') { r"\$" } else { "$" });
                rest = behind;
            } else if let (Unknown::Kept, Some(behind)) = (self.unknown, behind.strip_prefix('{')) {
                let known = self.known_value(behind, at, open)?;
                let (value, behind) = known.unwrap_or_else(|| ("${".to_owned(), behind));
                out.push_str(&value);
                rest = behind;
            } else if let Some(name) = behind.strip_prefix('{') {
                let end = name.find('}').ok_or_else(|| {
                    SpecError::new(at, "", "`}` is missing after `${`; write ${name}, or $${ for a plain ${")
                })?;
                out.push_str(&self.value(&name[..end], at, open)?);
                rest = &name[end + 1..];
            } else {
                out.push('$');
                rest = behind;
            }
            open.filled += 1;
            if out.len() > LONGEST || open.filled > MOST {
                return Err(SpecError::new(at, "", "too long with its variables filled in; write shorter values"));
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The value of the name that a text begins with, and what stands behind it; None where it stands for nothing.
    fn known_value<'t>(
        &self,
        text: &'t str,
        at: &Position,
        open: &mut Open,
    ) -> Result<Option<(String, &'t str)>, SpecError> {
        let Some((name, behind)) = text.split_once('}') else { return Ok(None) };
        let is_environment = name.starts_with("env.") || name.starts_with("env:");
        let is_var = self.vars.is_some_and(|vars| vars.child(name).is_some());
        if !is_environment && !is_var && self.given(name).is_none() {
            return Ok(None);
        }
        Ok(Some((self.value(name, at, open)?, behind)))
    }

    fn value(&self, name: &str, at: &Position, open: &mut Open) -> Result<String, SpecError> {
        if let Some(value) = self.var(name, open)? {
            return Ok(value);
        }
        self.given(name).ok_or_else(|| SpecError::new(at, "", self.unknown(name)))
    }

    /// What the plan cannot know by itself.
    fn given(&self, name: &str) -> Option<String> {
        match name.split_once('.').or_else(|| name.split_once(':')) {
            None if name == "dir" => Some(self.given.dir.to_owned()),
            None if name == "plan_dir" => Some(self.given.plan_dir.to_owned()),
            None if name == "contender" => self.who.map(|who| who.name.to_owned()),
            Some(("env", variable)) => (self.given.environment)(variable),
            Some(("port", port)) => self.given.ports.get(port).map(u16::to_string),
            Some(("factor", factor)) => self
                .who
                .and_then(|who| who.factors.iter().find(|(name, _)| name == factor))
                .map(|(_, level)| level.clone()),
            _ => None,
        }
    }

    fn var(&self, name: &str, open: &mut Open) -> Result<Option<String>, SpecError> {
        let Some(node) = self.vars.and_then(|vars| vars.child(name)) else { return Ok(None) };
        let wrong = |wrong: String| SpecError::new(&node.at, "", format!("${{{name}}} {wrong}"));
        if open.names.iter().any(|other| other == name) {
            let circle: Vec<String> =
                open.names.iter().chain([&name.to_owned()]).map(|name| format!("${{{name}}}")).collect();
            return Err(wrong(format!("refers to itself ({}); write its value", circle.join(" → "))));
        }
        let text = node
            .text()
            .ok_or_else(|| wrong(format!("is {}, and a variable is a single value; write one", node.kind())))?;
        open.names.push(name.to_owned());
        let value = self.text(text, &node.at, open)?;
        open.names.pop();
        Ok(Some(value))
    }

    /// Says of a name that it stands for nothing here, and which ones do.
    fn unknown(&self, name: &str) -> String {
        let known = self.known();
        let shown = |name: &str| format!("${{{name}}}");
        if let Some(variable) = name.strip_prefix("env.").or_else(|| name.strip_prefix("env:")) {
            return format!("${{{name}}}: the environment variable {variable} is not set; set it, or write a value");
        }
        if self.who.is_none() && (name == "contender" || name.starts_with("factor.")) {
            return format!(
                "${{{name}}} is defined for each contender only, and this key is of the whole experiment; leave it out"
            );
        }
        let instead = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => shown(near),
            None => format!("one of {}", known.iter().map(|name| shown(name)).collect::<Vec<_>>().join(" ")),
        };
        format!("${{{name}}} is not defined; write {instead}, or $${{{name}}} to leave it to the shell")
    }

    fn known(&self) -> Vec<String> {
        let vars = self.vars.map_or(&[][..], Node::entries).iter().map(|entry| entry.key.clone());
        let ports = self.given.ports.keys().map(|port| format!("port.{port}"));
        let fixed = ["dir", "plan_dir", "env.NAME"].map(str::to_owned);
        let who = self.who.iter().flat_map(|who| {
            std::iter::once("contender".to_owned()).chain(who.factors.iter().map(|(name, _)| format!("factor.{name}")))
        });
        vars.chain(ports).chain(fixed).chain(who).collect()
    }
}
