//! Fills in JMeter's texts before a run, with the initial variables and properties.

use crate::Feeds;
use crate::texts::context::{SharedState, UserContext, WorkerContext};
use crate::texts::expression::{self, TextPart};
use crate::texts::files::Files;
use crate::texts::functions::find;
use crate::texts::script::Languages;
use crate::texts::template::{RenderContext, Template, TextPosition, call_text, expression_text};
use crate::texts::variables::{VariableNames, Variables};
use brunt_engine::NoRun;
use brunt_model::scenario::TextRules;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Functions whose values depend only on properties and the plan, so they can be evaluated before
/// the run if properties are constant.
const PROPERTY_FUNCTIONS: [&str; 4] = ["P", "property", "isPropDefined", "TestPlanName"];

/// Evaluates texts before the run, by JMeter's rules.
pub struct BeforeRun {
    feeds: Feeds,
    /// A user with the initial variables, which all users have.
    user: UserContext,
    random: RefCell<Pcg64Mcg>,
    /// Names of variables that keep their value for the whole run.
    constant: BTreeSet<String>,
    properties_are_constant: bool,
}

impl BeforeRun {
    /// Sets the initial variables to their texts, filled in in order. `languages` run the scripts
    /// in texts. Functions read files only in `folders`; `seed` is the seed of random values.
    pub fn new(
        languages: Languages,
        variables: &[(String, String)],
        properties: &[(String, String)],
        folders: Vec<PathBuf>,
        seed: u64,
    ) -> Self {
        let mut names = VariableNames::default();
        for (name, _) in variables {
            names.number(name);
        }
        let mut shared_state = SharedState::with_properties(properties);
        shared_state.languages = languages;
        shared_state.files = Files::below(folders).read_only();
        let worker = WorkerContext::new(Arc::new(shared_state), Rc::new(NoRun), seed);
        let user = UserContext::new(&Rc::new(worker), Variables::new(&Arc::new(names.clone())), 0);
        let before = Self {
            feeds: Feeds::with_variables(TextRules::Jmeter, names, languages),
            user,
            random: RefCell::new(Pcg64Mcg::seed_from_u64(seed)),
            constant: BTreeSet::new(),
            properties_are_constant: false,
        };
        // In order, because later variables may use earlier ones.
        for (name, text) in variables {
            let value = before.text(text);
            before.user.variables.borrow_mut().set(name, &value);
        }
        before
    }

    /// Sets the variables that keep their value for the whole run, and whether the properties do.
    #[must_use]
    pub fn with_constants(self, constant: BTreeSet<String>, properties_are_constant: bool) -> Self {
        Self { constant, properties_are_constant, ..self }
    }

    /// Returns the names and values of all variables.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.user.variables.borrow().all()
    }

    /// Fills in a text; functions may set variables. Unknown expressions stay as they are. If an
    /// expression cannot be compiled, the whole text stays.
    pub fn text(&self, text: &str) -> String {
        let mut feeds = self.feeds.clone();
        match Template::compile_expressions(text, TextPosition::Text, &mut feeds) {
            Ok(template) => template.text(&mut RenderContext {
                n: 0,
                rng: &mut *self.random.borrow_mut(),
                feeds: &feeds,
                user: Some(&self.user),
            }),
            Err(_) => text.to_owned(),
        }
    }

    /// Replaces only constant variables and functions of constant properties by their values. All
    /// other expressions stay.
    pub fn folded(&self, text: &str) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        let folded: Vec<TextPart> =
            expression::parse(text).into_iter().map(|stretch| self.fold(stretch)).collect();
        expression_text(&folded)
    }

    /// Replaces an expression by a literal if its value is constant, otherwise the constant
    /// expressions in its arguments.
    fn fold(&self, stretch: TextPart) -> TextPart {
        match stretch {
            TextPart::Variable { name, written } if self.constant.contains(&name) => {
                let value = self.user.variables.borrow().get(&name).map(str::to_owned);
                value.map_or(TextPart::Variable { name, written }, TextPart::Literal)
            }
            TextPart::Call { name, arguments, written } => {
                let is_valid = find(&name)
                    .is_some_and(|function| function.arguments.contains(&arguments.len()));
                if !is_valid {
                    return TextPart::Call { name, arguments, written };
                }
                let is_property =
                    self.properties_are_constant && PROPERTY_FUNCTIONS.contains(&name.as_str());
                let folded: Vec<Vec<TextPart>> = arguments
                    .iter()
                    .map(|all| all.iter().cloned().map(|one| self.fold(one)).collect())
                    .collect();
                // A call that sets a variable must be evaluated by each user.
                let sets = name == "property"
                    && folded.get(1).is_some_and(|variable| !variable.is_empty());
                if is_property
                    && !sets
                    && folded.iter().flatten().all(|part| matches!(part, TextPart::Literal(_)))
                {
                    return TextPart::Literal(self.text(&written));
                }
                match call_text(&name, &folded).filter(|_| folded != arguments) {
                    Some(written) => TextPart::Call { name, arguments: folded, written },
                    None => TextPart::Call { name, arguments, written },
                }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn known_variables_are_replaced() {
        let variables =
            pairs(&[("host", "${__P(host,localhost)}"), ("url", "${host}:${port}"), ("__x", "1")]);
        let before =
            BeforeRun::new(Languages::CORE, &variables, &pairs(&[("host", "h")]), Vec::new(), 1);
        assert_eq!(
            before.text("${url} ${__P(n,5)} ${none} ${__x} ${__y}"),
            "h:${port} 5 ${none} 1 ${__y}"
        );
    }

    #[test]
    fn only_constant_texts_are_folded() {
        let variables = pairs(&[("host", "a,b"), ("id", "1"), ("open", "(")]);
        let before =
            BeforeRun::new(Languages::CORE, &variables, &pairs(&[("p", "x")]), Vec::new(), 1)
                .with_constants(["host".to_owned(), "open".to_owned()].into_iter().collect(), true);
        for (text, folded) in [
            ("${host}", "a,b"),
            ("\\d+ ${host}", "\\d+ a,b"),
            ("${host}-${id}", "a,b-${id}"),
            ("${__P(p)}/${__P(q,${host})}", "x/a,b"),
            ("${__V(${host})}", "${__V(a\\,b)}"),
            ("${__V(x_${id})}", "${__V(x_${id})}"),
            ("${__property(p,v)}", "${__property(p,v)}"),
            ("\\,x${id}", ",x${id}"),
            (
                "${name(${host})} ${__V} ${__time()} ${V(a\\,b)} ${__jm__loop__idx}",
                "${name(${host})} ${__V} ${__time()} ${V(a\\,b)} ${__jm__loop__idx}",
            ),
            ("${__V(${open})}", "${__V(${open})}"),
        ] {
            assert_eq!(before.folded(text), folded, "{text}");
        }
    }

    #[test]
    fn files_are_read_and_not_written() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("host.txt"), "h").unwrap();
        let variables = pairs(&[
            ("host", "${__FileToString(host.txt)}"),
            ("done", "${__StringToFile(new.txt,x)}"),
        ]);
        let before =
            BeforeRun::new(Languages::CORE, &variables, &[], vec![folder.path().to_owned()], 1);
        assert_eq!(before.text("${host} ${done}"), "h false");
        assert!(!folder.path().join("new.txt").exists());
    }
}
