//! Properties of elements as texts, flags and numbers: what never changes is filled in.

use super::Reader;
use crate::document::{Document, NodeKind};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::property::Properties;
use std::collections::BTreeSet;

impl Reader<'_> {
    /// A property as a text that users fill in; empty where it is absent.
    pub fn text(&self, element: TestElement<'_>, name: &str) -> String {
        self.text_in(&element.properties(), name)
    }

    /// The same of nested properties.
    pub fn text_in(&self, properties: &Properties<'_>, name: &str) -> String {
        properties.text(name).map(|text| self.before.folded(&text)).unwrap_or_default()
    }

    /// A property as a text that is filled in now; empty where it is absent.
    pub fn filled(&self, element: TestElement<'_>, name: &str) -> String {
        self.filled_in(&element.properties(), name)
    }

    /// The same of nested properties.
    pub fn filled_in(&self, properties: &Properties<'_>, name: &str) -> String {
        properties.text(name).map(|text| self.before.text(&text)).unwrap_or_default()
    }

    /// A property as a flag, as JMeter reads it: anything but `true` is false.
    pub fn flag(&self, element: TestElement<'_>, name: &str, absent: bool) -> bool {
        self.flag_in(&element.properties(), name, absent)
    }

    /// The same of nested properties.
    pub fn flag_in(&self, properties: &Properties<'_>, name: &str, absent: bool) -> bool {
        match self.filled_in(properties, name).trim() {
            "" => absent,
            text => text.eq_ignore_ascii_case("true"),
        }
    }

    /// A property as a number that must be known before the run.
    ///
    /// # Errors
    ///
    /// It is there and no number, with the element's place.
    pub fn number(&self, element: TestElement<'_>, name: &str, absent: f64) -> Result<f64, JmxError> {
        number_of(element, name, &self.filled(element, name), absent)
    }

    /// A property as a whole number, as JMeter reads it: a text that is none is 0, and a note says so.
    pub fn whole(&mut self, element: TestElement<'_>, name: &str, absent: f64) -> f64 {
        if element.properties().get(name).is_none() {
            return absent;
        }
        let filled = self.filled(element, name);
        self.whole_of(element, name, &filled)
    }

    /// The same of a text that was filled in.
    pub fn whole_of(&mut self, element: TestElement<'_>, name: &str, filled: &str) -> f64 {
        if filled.is_empty() {
            return 0.0;
        }
        whole_number(filled).unwrap_or_else(|| {
            let (wrong, instead) = no_number(name, filled);
            self.notice(format!("{}: {wrong}; 0 is taken, as in JMeter; {instead}", element.place()));
            0.0
        })
    }

    /// Whether a text is the same for all users.
    pub fn is_constant(text: &str) -> bool {
        !text.contains("${")
    }
}

/// An error at an element.
pub fn wrong_at(element: TestElement<'_>, wrong: &str) -> JmxError {
    JmxError::on_line(element.line(), format!("{}: {wrong}", element.title()))
}

/// A property, whose text was filled in, as a number that must be known before the run.
///
/// # Errors
///
/// It is no number, with the element's place.
pub fn number_of(element: TestElement<'_>, name: &str, filled: &str, absent: f64) -> Result<f64, JmxError> {
    let text = filled.trim();
    if text.is_empty() {
        return Ok(absent);
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        let (wrong, instead) = no_number(name, text);
        JmxError::on_line(element.line(), format!("{}: {wrong}; {instead}", element.title()))
    })
}

/// A whole number as Java reads it: without white space around it, and with no part behind a point.
pub fn whole_number(text: &str) -> Option<f64> {
    text.parse::<i64>().ok().map(|number| number as f64)
}

/// What is wrong with the text of a number, and what to write instead.
fn no_number(name: &str, text: &str) -> (String, &'static str) {
    let short = name.rsplit('.').next().unwrap_or(name);
    if text.contains("${") {
        let instead = "give its variable or property a value, such as -Jname=10";
        (format!("{short} is `{text}`, which is no number"), instead)
    } else if text.trim().parse::<f64>().is_ok() {
        (format!("{short} is `{text}`, which is no whole number"), "write it without spaces and decimals")
    } else {
        (format!("{short} is `{text}`, which is no number"), "write a number")
    }
}

/// The user defined variables that nothing changes while the plan runs, and whether properties stay as they are.
///
/// A variable is taken to change where its name stands anywhere but in `${name}` and in its definition.
pub fn constants(document: &Document, variables: &[(String, String)]) -> (BTreeSet<String>, bool) {
    let mut candidates: BTreeSet<&str> = variables.iter().map(|(name, _)| name.as_str()).collect();
    let mut properties_are_constant = true;
    for element in document.all_elements() {
        // Definitions are evaluated before the run.
        let is_definition = matches!(element.tag(), "Arguments" | "TestPlan");
        for text in scalars(document, element) {
            let text = text.as_ref();
            properties_are_constant &=
                !["props", "setProperty", "JMeterUtils", "setproperty"].iter().any(|word| text.contains(word));
            candidates.retain(|name| is_definition || !names(text, name));
        }
    }
    (candidates.into_iter().map(str::to_owned).collect(), properties_are_constant)
}

/// Whether the name of an element or one of its properties holds this text.
pub fn mentions(document: &Document, element: TestElement<'_>, text: &str) -> bool {
    element.name().contains(text) || scalars(document, element).iter().any(|one| one.contains(text))
}

/// Whether one of an element's properties has this word.
pub fn mentions_word(document: &Document, element: TestElement<'_>, word: &str) -> bool {
    scalars(document, element).iter().any(|text| names(text, word))
}

/// All texts of an element's properties.
pub fn scalars<'d>(document: &'d Document, element: TestElement<'d>) -> Vec<std::borrow::Cow<'d, str>> {
    let mut all = Vec::new();
    let mut rest = vec![element.node()];
    while let Some(node) = rest.pop() {
        let mut is_leaf = true;
        for child in document.elements(node).filter(|&child| document.kind(child) == NodeKind::Element) {
            is_leaf = false;
            rest.push(child);
        }
        if is_leaf {
            all.push(document.text(node));
        }
    }
    all
}

/// Whether a text has this word anywhere but in `${word}`.
pub fn names(text: &str, word: &str) -> bool {
    let is_word = |character: Option<char>| character.is_some_and(|one| one.is_alphanumeric() || one == '_');
    let mut from = 0;
    while let Some(at) = text[from..].find(word).map(|at| from + at) {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        from = at + word.len().max(1);
        let whole = !is_word(before.chars().next_back()) && !is_word(behind.chars().next());
        let is_property = ["__P(", "__property(", "__isPropDefined("].iter().any(|call| before.ends_with(call));
        let read = before.ends_with("${") && behind.starts_with('}') || is_property;
        if whole && !read {
            return true;
        }
        if from >= text.len() || !text.is_char_boundary(from) {
            break;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_changes_where_it_is_named() {
        for (text, expected) in [
            ("${host}", false),
            ("http://${host}/x${host}", false),
            ("vars.put(\"host\", 1)", true),
            ("host", true),
            ("hostname ghost", false),
            ("${__time(,host)}", true),
            ("${host} host", true),
            ("${__P(host,localhost)} ${__property(host)}", false),
        ] {
            assert_eq!(names(text, "host"), expected, "{text}");
        }
    }
}
