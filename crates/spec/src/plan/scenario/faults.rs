//! Finds the place of an invalid expression, path or script of a scenario, after the scenario could
//! not be compiled: the compiler knows no places.

use super::extractors::extractor;
use super::items;
use crate::error::{Result, SpecError};
use crate::plan::{NamedNode, PlanNode, PlanValue};
use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{Assertion, AssertionTest, ReplyAction, TextAssertion, TextMatch};
use brunt_model::scenario::{Script, ScriptLanguage};
use brunt_script::{Languages, check};

/// Returns the first fault of these steps, or of a map with steps. None: no text is invalid by itself.
pub fn fault(node: &PlanNode, languages: Languages) -> Option<SpecError> {
    let language = match node.child("language").and_then(PlanNode::text) {
        Some("javascript") => ScriptLanguage::Javascript,
        _ => ScriptLanguage::Groovy,
    };
    Search { language, languages }.node(node).err()
}

struct Search {
    /// Language of the scripts.
    language: ScriptLanguage,
    languages: Languages,
}

impl Search {
    fn node(&self, node: &PlanNode) -> Result<()> {
        match &node.value {
            PlanValue::List(nodes) => nodes.iter().enumerate().try_for_each(|(number, node)| {
                self.node(node).map_err(|error| error.within(&format!("[{number}]"), &node.at))
            }),
            PlanValue::Map(entries) => entries.iter().try_for_each(|entry| {
                self.entry(entry).map_err(|error| error.within(&entry.key, &entry.node.at))
            }),
            PlanValue::Text { .. } | PlanValue::Null => Ok(()),
        }
    }

    fn entry(&self, entry: &NamedNode) -> Result<()> {
        let node = &entry.node;
        match entry.key.as_str() {
            "extract" => node.entries().iter().try_for_each(|entry| {
                check_extractor(entry, self.languages)
                    .map_err(|error| error.within(&entry.key, &entry.node.at))
            }),
            "check" | "until" => node.entries().iter().try_for_each(|entry| {
                self.condition(entry).map_err(|error| error.within(&entry.key, &entry.node.at))
            }),
            "script" | "after" => items(node).iter().try_for_each(|item| self.script(item)),
            // A text and an expression.
            "matches" => items(node).get(1).map_or(Ok(()), check_pattern),
            // Bodies are no steps.
            "json" | "data" | "form" | "multipart" => Ok(()),
            _ => self.node(node),
        }
    }

    /// Checks a condition of a reply.
    fn condition(&self, entry: &NamedNode) -> Result<()> {
        let all = items(&entry.node);
        match entry.key.as_str() {
            "matches" | "matches_not" => all.iter().try_for_each(|item| {
                let test = AssertionTest::Text(TextAssertion {
                    part: ReplyPart::Body,
                    patterns: vec![text(item)],
                    is: TextMatch::Contains,
                    not: false,
                    any: false,
                    ignore_status: false,
                    message: String::new(),
                });
                self.check_assertion(test, item)
            }),
            "exists" => all.iter().try_for_each(|item| self.check_path(&text(item), item)),
            "json" => entry.node.entries().iter().try_for_each(|value| {
                let at = PlanNode { at: value.at.clone(), ..value.node.clone() };
                self.check_path(&value.key, &at)
            }),
            "xpath" => {
                let path = text(&entry.node);
                self.check_assertion(AssertionTest::Xpath { path, invert: false }, &entry.node)
            }
            "script" => all.iter().try_for_each(|item| self.script(item)),
            _ => Ok(()),
        }
    }

    fn check_path(&self, path: &str, node: &PlanNode) -> Result<()> {
        let path = path.to_owned();
        self.check_assertion(AssertionTest::Json { path, expected: None, invert: false }, node)
    }

    fn check_assertion(&self, test: AssertionTest, node: &PlanNode) -> Result<()> {
        let assertion = Assertion { name: text(node), test };
        check::assertion(&assertion, self.languages).map_err(|error| placed(error, node))
    }

    fn script(&self, node: &PlanNode) -> Result<()> {
        let script = Script {
            name: "script".to_owned(),
            language: self.language,
            source: text(node),
            parameters: String::new(),
        };
        check::script(&script, self.languages).map_err(|error| placed(error, node))
    }
}

fn text(node: &PlanNode) -> String {
    node.text().unwrap_or_default().to_owned()
}

fn placed(error: impl Into<SpecError>, node: &PlanNode) -> SpecError {
    SpecError { position: Some(node.at.clone()), ..error.into() }
}

fn check_extractor(entry: &NamedNode, languages: Languages) -> Result<()> {
    let extractor = extractor(entry)?;
    let ways = ["json", "jmespath", "regex", "css", "xpath"];
    let way = entry.node.entries().iter().find(|entry| ways.contains(&entry.key.as_str()));
    let result = check::action(&ReplyAction::Extract(extractor), languages);
    result.map_err(|error| match way {
        Some(way) => placed(error, &way.node).within(&way.key, &way.node.at),
        None => placed(error, &entry.node),
    })
}

fn check_pattern(node: &PlanNode) -> Result<()> {
    let pattern = text(node);
    // One with variables is only complete in the run.
    if pattern.contains("${") {
        return Ok(());
    }
    check::pattern(&pattern).map_err(|why| SpecError::new(&node.at, "", why))
}
