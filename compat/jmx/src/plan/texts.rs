//! Reads properties of elements as texts, flags and numbers, and evaluates constants.

use super::PlanReader;
use crate::document::{JmxDocument, NodeKind};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::fields::{no_number, number, whole_number};
use crate::property::Properties;
use std::collections::BTreeSet;

impl PlanReader<'_> {
    /// Template text of a property: constants are evaluated, and users fill in the
    /// rest. Empty if absent.
    pub fn text(&self, element: TestElement<'_>, name: &str) -> String {
        self.text_in(&element.properties(), name)
    }

    /// Like [`text`](Self::text), for nested properties.
    pub fn text_in(&self, properties: &Properties<'_>, name: &str) -> String {
        properties.text(name).map(|text| self.before.folded(&text)).unwrap_or_default()
    }

    /// Text of a property, evaluated before the run. Empty if absent.
    pub fn value(&self, element: TestElement<'_>, name: &str) -> String {
        self.value_in(&element.properties(), name)
    }

    /// Like [`value`](Self::value), for nested properties.
    pub fn value_in(&self, properties: &Properties<'_>, name: &str) -> String {
        properties.text(name).map(|text| self.before.text(&text)).unwrap_or_default()
    }

    /// A boolean property as JMeter reads it: any text except `true` is false.
    pub fn flag(&self, element: TestElement<'_>, name: &str, default: bool) -> bool {
        self.flag_in(&element.properties(), name, default)
    }

    /// Like [`flag`](Self::flag), for nested properties.
    pub fn flag_in(&self, properties: &Properties<'_>, name: &str, default: bool) -> bool {
        match self.value_in(properties, name).trim() {
            "" => default,
            text => text.eq_ignore_ascii_case("true"),
        }
    }

    /// A whole number as JMeter reads it: an invalid text is 0, with a notice.
    pub fn whole_number_of(&mut self, element: TestElement<'_>, name: &str, value: &str) -> f64 {
        if value.is_empty() {
            return 0.0;
        }
        whole_number(value).unwrap_or_else(|| {
            let (message, fix) = no_number(name, value);
            self.notice(format!("{}: {message}; 0 is taken, as in JMeter; {fix}", element.place()));
            0.0
        })
    }

    /// True if a text contains no variables.
    pub fn is_constant(text: &str) -> bool {
        !text.contains("${")
    }
}

/// An error at an element, with its title and line.
pub fn error_at(element: TestElement<'_>, message: &str) -> JmxError {
    JmxError::on_line(element.line(), format!("{}: {message}", element.title()))
}

/// Parses an evaluated text as a number that must be known before the run.
///
/// # Errors
///
/// Fails with the element's place if the text is not a number.
pub fn number_of(
    element: TestElement<'_>,
    name: &str,
    value: &str,
    default: f64,
) -> Result<f64, JmxError> {
    match value.trim() {
        "" => Ok(default),
        text => number(name, text).map_err(|message| error_at(element, &message)),
    }
}

/// User Defined Variables that nothing in the plan changes, and whether properties are constant.
///
/// A variable counts as changed if its name occurs outside `${name}` and its definition.
pub fn constants(
    document: &JmxDocument,
    variables: &[(String, String)],
) -> (BTreeSet<String>, bool) {
    let mut candidates: BTreeSet<&str> = variables.iter().map(|(name, _)| name.as_str()).collect();
    let mut properties_are_constant = true;
    for element in document.all_elements() {
        // Definitions are evaluated before the run.
        let is_definition = matches!(element.tag(), "Arguments" | "TestPlan");
        for text in scalars(document, element) {
            let text = text.as_ref();
            properties_are_constant &= !["props", "setProperty", "JMeterUtils", "setproperty"]
                .iter()
                .any(|word| text.contains(word));
            candidates.retain(|name| is_definition || !names(text, name));
        }
    }
    (candidates.into_iter().map(str::to_owned).collect(), properties_are_constant)
}

/// True if the name or a property of an element contains the text.
pub fn mentions(document: &JmxDocument, element: TestElement<'_>, text: &str) -> bool {
    element.name().contains(text) || scalars(document, element).iter().any(|one| one.contains(text))
}

/// True if a property of an element contains the word.
pub fn mentions_word(document: &JmxDocument, element: TestElement<'_>, word: &str) -> bool {
    scalars(document, element).iter().any(|text| names(text, word))
}

/// Texts of all properties of an element.
pub fn scalars<'d>(
    document: &'d JmxDocument,
    element: TestElement<'d>,
) -> Vec<std::borrow::Cow<'d, str>> {
    let mut all = Vec::new();
    let mut rest = vec![element.node()];
    while let Some(node) = rest.pop() {
        let mut is_leaf = true;
        for child in
            document.elements(node).filter(|&child| document.kind(child) == NodeKind::Element)
        {
            is_leaf = false;
            rest.push(child);
        }
        if is_leaf {
            all.push(document.text(node));
        }
    }
    all
}

fn is_word_character(character: Option<char>) -> bool {
    character.is_some_and(|one| one.is_alphanumeric() || one == '_')
}

/// True if a text contains the word outside `${word}`.
pub fn names(text: &str, word: &str) -> bool {
    let mut from = 0;
    while let Some(position) = text[from..].find(word).map(|position| from + position) {
        let before = &text[..position];
        let after = &text[position + word.len()..];
        from = position + word.len().max(1);
        let is_whole = !is_word_character(before.chars().next_back())
            && !is_word_character(after.chars().next());
        let is_property =
            ["__P(", "__property(", "__isPropDefined("].iter().any(|call| before.ends_with(call));
        let is_read = before.ends_with("${") && after.starts_with('}') || is_property;
        if is_whole && !is_read {
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
    fn a_variable_may_change_if_a_script_names_it() {
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
