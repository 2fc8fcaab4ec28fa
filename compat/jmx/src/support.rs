//! The kinds of test elements: names in plans, role, and level of support.
//!
//! One table (`support/kinds.rs`) has a row for each kind. Elements that have no row are unknown.

pub(crate) mod kinds;

use crate::fields::PropertyRow;
pub use kinds::ElementKind;

use std::collections::HashMap;
use std::sync::LazyLock;

/// Level of support for an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tier {
    /// brunt runs the element.
    Runs,
    /// brunt accepts it without effect: listeners, the recorder, the workbench.
    Accepted,
    /// brunt cannot run it.
    Unsupported,
}

/// Role of an element in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The test plan, the workbench, and other elements outside the tree.
    Plan,
    /// A group of virtual users.
    ThreadGroup,
    /// Decides which of its children run, and how often.
    Controller,
    /// Makes samples, mostly by sending requests.
    Sampler,
    /// Values and settings for the elements in its scope.
    Config,
    /// A pause before each sampler in its scope.
    Timer,
    /// Runs before each sampler in its scope.
    PreProcessor,
    /// Runs after each sampler in its scope.
    PostProcessor,
    /// Checks the result of each sampler in its scope.
    Assertion,
    /// Receives the results of samples.
    Listener,
    /// Unknown, and not guessable from the class name.
    Unknown,
}

impl Role {
    /// Guesses the role of an unknown class from its name: `com.example.OrderSampler` is a sampler.
    pub fn guess(class: &str) -> Self {
        const ENDINGS: [(&str, Role); 17] = [
            ("ThreadGroup", Role::ThreadGroup),
            ("Controller", Role::Controller),
            ("PreProcessor", Role::PreProcessor),
            ("PostProcessor", Role::PostProcessor),
            ("Extractor", Role::PostProcessor),
            ("Assertion", Role::Assertion),
            ("Timer", Role::Timer),
            ("Sampler", Role::Sampler),
            ("SamplerProxy", Role::Sampler),
            ("Config", Role::Config),
            ("Manager", Role::Config),
            ("DataSet", Role::Config),
            ("Collector", Role::Listener),
            ("Listener", Role::Listener),
            ("Visualizer", Role::Listener),
            ("Reporter", Role::Listener),
            ("Writer", Role::Listener),
        ];
        ENDINGS
            .iter()
            .find(|(ending, _)| class.ends_with(ending))
            .map_or(Self::Unknown, |&(_, role)| role)
    }
}

/// A row of the table of kinds.
#[derive(Debug, Clone, Copy)]
pub struct ElementRow {
    /// Kind of the element.
    pub kind: ElementKind,
    /// Name in JMeter's menus.
    pub title: &'static str,
    /// Role in a plan.
    pub role: Role,
    /// Level of support.
    pub tier: Tier,
    /// Names of its class in plans: the one that JMeter writes, then aliases and older names.
    pub classes: &'static [&'static str],
    /// Names of its GUI class, which distinguish kinds that share a class.
    pub guiclasses: &'static [&'static str],
    /// Its properties; None if brunt reads none and the studio has no form for it.
    pub properties: Option<&'static [PropertyRow]>,
    /// True if a new element has empty lists, but no other properties.
    pub is_bare: bool,
}

impl ElementKind {
    /// Name in JMeter's menus: `HTTP Request`.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Role in a plan.
    pub fn role(self) -> Role {
        self.row().role
    }

    /// Returns the level of support.
    pub fn tier(self) -> Tier {
        self.row().tier
    }

    /// All kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = ElementKind> {
        kinds::ROWS.iter().map(|row| row.kind)
    }

    /// Its row of the table.
    pub fn row(self) -> &'static ElementRow {
        &kinds::ROWS[self as usize]
    }
}

/// Kind of an element by its tag, else by its class. The GUI class distinguishes kinds that share a
/// class; `guiclass` is without its package.
pub fn kind(tag: &str, testclass: &str, guiclass: &str) -> Option<ElementKind> {
    let kinds = by_class(tag).or_else(|| by_class(testclass))?;
    let of_form = kinds.iter().find(|kind| kind.row().guiclasses.contains(&guiclass));
    of_form.or(kinds.first()).copied()
}

static BY_NAME: LazyLock<HashMap<&str, Vec<ElementKind>>> = LazyLock::new(|| {
    let mut kinds: HashMap<&str, Vec<ElementKind>> = HashMap::new();
    for row in kinds::ROWS {
        row.classes.iter().for_each(|class| kinds.entry(class).or_default().push(row.kind));
    }
    kinds
});

fn by_class(class: &str) -> Option<&'static [ElementKind]> {
    const JMETER: &str = "org.apache.jmeter.";
    let alias = if class.starts_with(JMETER) { class.rsplit('.').next()? } else { class };
    BY_NAME.get(class).or_else(|| BY_NAME.get(alias)).map(Vec::as_slice)
}

#[cfg(test)]
mod tests;
