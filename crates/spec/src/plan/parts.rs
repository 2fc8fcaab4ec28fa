//! The parts of a plan file that have keys of their own: sections, steps, populations and others. Editors show them as a tree
//! with a form for each.
//!
//! The keys and their descriptions come from the types and tables that read a plan, so a form never differs from them.

use super::node::{PlanNode, PlanValue};
use super::scenario::checks::StepCheck;
use super::scenario::keys::{DataFileKeys, ScenarioKeys, StageLoad};
use super::scenario::{extractors, steps};
use super::sections::{Form, PlanKey, SECTIONS, plan_keys};
use super::vary::OF_THE_WHOLE;
use super::written::{HookLevels, PopulationKeys, ServerKeys, Written};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// A part of a plan file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPart {
    /// The whole file.
    Plan,
    /// Overrides of the plan, such as those of a contender.
    Override,
    /// A map of settings, by its name, such as `load`.
    Section(&'static str),
    /// A population.
    Population,
    /// Steps and settings of the users.
    Scenario,
    /// Steps before or after the load.
    Stage,
    /// A step.
    Step,
    /// Steps in a list without further keys.
    StepList,
    /// One of several lists of steps, chosen by weight.
    Branch,
    /// One of several lists of steps, chosen by a text.
    Case,
    /// A data file.
    DataFile,
    /// An extractor of a request.
    Extractor,
    /// Checks of a request.
    Check,
    /// The server that brunt starts.
    Server,
    /// Commands before and after parts of the experiment.
    Hooks,
    /// Commands before, or after, parts of the experiment.
    HookLevels,
    /// A probe.
    Probe,
    /// Overrides by name, such as the levels of a factor.
    Overrides,
}

/// A kind of a part that can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartKind {
    /// Name of the kind, such as `get`.
    pub name: String,
    /// Description of the kind.
    pub about: String,
    /// A part of this kind with its required keys, as YAML.
    pub example: String,
}

/// A key of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct PartKey {
    /// Name of the key within the part.
    pub name: String,
    /// Description of the key.
    pub about: String,
    /// Default value, or a description of it; None if the description has it.
    pub default: Option<String>,
    /// Form of the value.
    pub form: KeyForm,
}

/// The form of a value in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyForm {
    /// A single value.
    Text,
    /// A text that may have several lines.
    Lines,
    /// One of these words.
    Choice(Vec<String>),
    /// True or false.
    Switch,
    /// A whole number.
    Number,
    /// Single values, in order.
    List,
    /// Single values by name.
    Pairs,
    /// Any value.
    Yaml,
}

/// A list or map of parts within a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartContainer {
    /// Key of the container within the part; empty if the part itself is the container.
    pub key: String,
    /// The parts in it.
    pub part: PlanPart,
    /// Form of the container.
    pub form: ContainerForm,
}

/// The form of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerForm {
    /// The part is the value of the key.
    Single,
    /// A list of parts.
    List,
    /// Parts by name.
    Map,
}

/// Keys with texts that often have several lines.
const LONG_TEXTS: [&str; 6] = ["about", "body", "data", "script", "after", "graphql"];

impl PlanPart {
    /// Word for the part in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Override => "override",
            Self::Section(name) => name,
            Self::Population => "population",
            Self::Scenario => "scenario",
            Self::Stage => "stage",
            Self::Step => "step",
            Self::StepList => "steps",
            Self::Branch => "branch",
            Self::Case => "case",
            Self::DataFile => "data file",
            Self::Extractor => "extractor",
            Self::Check => "check",
            Self::Server => "server",
            Self::Hooks | Self::HookLevels => "hooks",
            Self::Probe => "probe",
            Self::Overrides => "overrides",
        }
    }

    /// Lists and maps of other parts in a part with this content, in the order of its text.
    pub fn containers(self, node: &PlanNode) -> Vec<PartContainer> {
        let whole = |part, form| vec![PartContainer { key: String::new(), part, form }];
        match (self, &node.value) {
            (Self::Stage | Self::StepList, PlanValue::List(_)) => {
                whole(Self::Step, ContainerForm::List)
            }
            (Self::Overrides, _) => whole(Self::Override, ContainerForm::Map),
            (_, PlanValue::Map(entries)) => {
                entries.iter().filter_map(|entry| self.container(&entry.key, &entry.node)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The container that a key has; None if the key has a value.
    pub fn container(self, key: &str, value: &PlanNode) -> Option<PartContainer> {
        let (part, form) = match self {
            Self::Plan | Self::Override | Self::Population => match key {
                "scenario" => (Self::Scenario, ContainerForm::Single),
                "setup" | "teardown" => (Self::Stage, ContainerForm::Single),
                "server" => (Self::Server, ContainerForm::Single),
                "hooks" => (Self::Hooks, ContainerForm::Single),
                "populations" => (Self::Population, ContainerForm::Map),
                "contenders" => (Self::Override, ContainerForm::Map),
                "factors" | "choose" => (Self::Overrides, ContainerForm::Map),
                "probes" => (Self::Probe, ContainerForm::List),
                _ => (Self::Section(section(key)?), ContainerForm::Single),
            },
            Self::Section("script") => match key {
                "request" => (Self::Section("script.request"), ContainerForm::Single),
                "requests" => (Self::Section("script.request"), ContainerForm::List),
                _ => return None,
            },
            Self::Hooks => (Self::HookLevels, ContainerForm::Single),
            Self::Scenario | Self::Stage => match key {
                "steps" => (Self::Step, ContainerForm::List),
                "data" => (Self::DataFile, ContainerForm::List),
                _ => return None,
            },
            Self::Branch | Self::Case if key == "steps" => (Self::Step, ContainerForm::List),
            Self::Step => match (key, &value.value) {
                ("steps" | "else" | "group" | "once" | "resumable", _) => {
                    (Self::Step, ContainerForm::List)
                }
                ("shuffle", _) => (Self::StepList, ContainerForm::List),
                ("choose", _) => (Self::Branch, ContainerForm::List),
                ("cases", PlanValue::List(_)) => (Self::Case, ContainerForm::List),
                ("cases", _) => (Self::StepList, ContainerForm::Map),
                ("extract", _) => (Self::Extractor, ContainerForm::Map),
                ("check", _) => (Self::Check, ContainerForm::Single),
                _ => return None,
            },
            _ => return None,
        };
        Some(PartContainer { key: key.to_owned(), part, form })
    }

    /// Kinds of the part that can be added to a container, in the order of the docs.
    pub fn kinds(self) -> Vec<PartKind> {
        let only = |example: &str| {
            let name = self.noun().to_owned();
            vec![PartKind { name, about: String::new(), example: example.to_owned() }]
        };
        match self {
            Self::Step => steps::TABLE.kinds(),
            Self::Extractor => extractors::TABLE.kinds(),
            Self::Branch => only("{weight: 1, steps: []}"),
            Self::Case => only("{names: [text], steps: []}"),
            Self::StepList => only("[]"),
            Self::DataFile => only("users.csv"),
            Self::Probe => only("host"),
            Self::Population => only("{load: {users: 1}}"),
            Self::Section("script.request") => only("{url: /}"),
            // Nothing is overridden yet.
            Self::Override | Self::Overrides => only("{}"),
            Self::Plan
            | Self::Section(_)
            | Self::Scenario
            | Self::Stage
            | Self::Check
            | Self::Server
            | Self::Hooks
            | Self::HookLevels => Vec::new(),
        }
    }

    /// Key that defines the kind of a step or extractor with this content.
    pub fn kind_key(self, node: &PlanNode) -> Option<&'static str> {
        let table = match self {
            Self::Step => &steps::TABLE,
            Self::Extractor => &extractors::TABLE,
            _ => return None,
        };
        table.defining_keys().find(|key| node.child(key).is_some())
    }

    /// Kinds of the containers that a part with this content lacks.
    pub fn missing(self, node: &PlanNode) -> Vec<PartKind> {
        let examples: &[(&str, &str)] = match self {
            // Populations and overrides have some of these keys.
            Self::Plan | Self::Override | Self::Population => &[
                ("scenario", "{base: 'http://127.0.0.1:8080', steps: [{get: /}]}"),
                ("script", "{request: 'http://127.0.0.1:8080/'}"),
                ("load", "{}"),
                ("connection", "{}"),
                ("checks", "{}"),
                ("populations", "{users: {}}"),
                ("setup", "[]"),
                ("teardown", "[]"),
                ("find", "{}"),
                ("compare", "{}"),
                ("contenders", "{base: {}}"),
                ("factors", "{factor: {level: {}}}"),
                ("server", "{start: './server', ready: 'http://127.0.0.1:8080/'}"),
                ("probes", "[host]"),
                ("hooks", "{}"),
                ("fleet", "{}"),
            ],
            Self::Scenario | Self::Stage => &[("steps", "[]"), ("data", "[users.csv]")],
            Self::Branch | Self::Case => &[("steps", "[]")],
            Self::Step => &[
                ("steps", "[]"),
                ("extract", "{id: $.id}"),
                ("check", "{status: 200}"),
                ("else", "[]"),
            ],
            Self::Hooks => &[("before", "{}"), ("after", "{}")],
            _ => &[],
        };
        let keys = self.all_keys(node);
        let absent = examples.iter().filter(|(key, _)| node.child(key).is_none());
        let kinds = absent.filter_map(|(name, example)| {
            // A kind of step has certain keys only.
            let key = keys.iter().find(|known| known.name == *name)?;
            Some(PartKind {
                name: (*name).to_owned(),
                about: key.about.clone(),
                example: (*example).to_owned(),
            })
        });
        kinds.collect()
    }

    /// Keys with values, without those that are containers of parts.
    pub fn keys(self, node: &PlanNode) -> Vec<PartKey> {
        let empty = PlanNode::empty(node.at.clone());
        let mut keys = self.all_keys(node);
        keys.retain(|key| {
            self.container(&key.name, node.child(&key.name).unwrap_or(&empty)).is_none()
        });
        keys
    }

    /// All keys of a part with this content.
    fn all_keys(self, node: &PlanNode) -> Vec<PartKey> {
        match self {
            Self::Plan => with_settings(PartKey::of::<Written>()),
            Self::Override => {
                let mut keys = with_settings(PartKey::of::<Written>());
                keys.retain(|key| !OF_THE_WHOLE.contains(&key.name.as_str()));
                keys
            }
            Self::Section(section) => {
                let keys = plan_keys().iter().filter(|key| key.section() == Some(section));
                keys.map(PartKey::from).collect()
            }
            Self::Population => PartKey::of::<PopulationKeys>(),
            Self::Scenario => PartKey::of::<ScenarioKeys>(),
            Self::Stage => {
                let mut keys = PartKey::of::<StageLoad>();
                keys.extend(PartKey::of::<ScenarioKeys>());
                keys
            }
            Self::Step => steps::TABLE.keys(node).unwrap_or_default(),
            Self::Extractor => extractors::TABLE.keys(node).unwrap_or_default(),
            Self::Branch => steps::branch_keys(),
            Self::Case => steps::case_keys(),
            Self::DataFile => PartKey::of::<DataFileKeys>(),
            Self::Check => PartKey::of::<StepCheck>(),
            Self::Server => PartKey::of::<ServerKeys>(),
            Self::Hooks => PartKey::of::<super::written::Hooks>(),
            Self::HookLevels => PartKey::of::<HookLevels>(),
            Self::Probe | Self::StepList | Self::Overrides => Vec::new(),
        }
    }
}

/// The static name of a section.
fn section(key: &str) -> Option<&'static str> {
    SECTIONS.iter().map(|(name, ..)| *name).find(|name| *name == key)
}

/// Completes keys at the top of a plan that are settings by their rows.
fn with_settings(mut keys: Vec<PartKey>) -> Vec<PartKey> {
    for key in &mut keys {
        if let Some(row) = plan_keys().iter().find(|row| row.path == key.name) {
            *key = PartKey::from(row);
        }
    }
    keys
}

impl From<&PlanKey> for PartKey {
    fn from(key: &PlanKey) -> Self {
        let form = match key.form {
            Form::Scalar => KeyForm::Text,
            Form::ScalarList => KeyForm::List,
            Form::Choice(words) => {
                KeyForm::Choice(words.iter().map(|word| (*word).to_owned()).collect())
            }
            Form::Switch(_) => KeyForm::Switch,
            Form::Number => KeyForm::Number,
            Form::Map => KeyForm::Pairs,
            Form::Any | Form::Request | Form::Requests => KeyForm::Yaml,
        };
        Self {
            name: key.name().to_owned(),
            about: key.about.clone(),
            default: key.default.clone(),
            form: form.of_key(key.name()),
        }
    }
}

impl PartKey {
    /// Keys of a type.
    pub(super) fn of<T: JsonSchema>() -> Vec<Self> {
        let mut generator = SchemaGenerator::default();
        let mut schema = T::json_schema(&mut generator);
        let properties = schema.remove("properties").unwrap_or_default();
        let Value::Object(properties) = properties else { return Vec::new() };
        Self::of_properties(properties, generator.definitions())
    }

    /// Keys from the properties of a map in a JSON Schema.
    pub(super) fn of_properties(
        properties: Map<String, Value>,
        definitions: &Map<String, Value>,
    ) -> Vec<Self> {
        let keys = properties.into_iter().map(|(name, schema)| Self {
            about: description(schema.get("description")),
            default: None,
            form: KeyForm::of_schema(&schema, definitions).of_key(&name),
            name,
        });
        keys.collect()
    }
}

/// The text of a description in a JSON Schema; empty if there is none.
pub(super) fn description(schema: Option<&Value>) -> String {
    schema.and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl KeyForm {
    /// The form of a key with this name.
    fn of_key(self, name: &str) -> Self {
        if self == Self::Text && LONG_TEXTS.contains(&name) { Self::Lines } else { self }
    }

    fn of_schema(schema: &Value, definitions: &Map<String, Value>) -> Self {
        let schema = resolve(schema, definitions);
        if let Some(words) = words(schema) {
            return Self::Choice(words);
        }
        if let Some(any) = schema["anyOf"].as_array() {
            let forms: Vec<Self> = any
                .iter()
                .filter(|one| one["type"] != "null")
                .map(|one| Self::of_schema(one, definitions))
                .collect();
            return match &forms[..] {
                [form] => form.clone(),
                // A single value, or a list of them.
                [Self::Text, Self::List] => Self::List,
                _ => Self::Yaml,
            };
        }
        let types = types(schema);
        match types.first() {
            // A single value is also accepted as a list.
            Some(&"string") => Self::Text,
            Some(&"boolean") => Self::Switch,
            Some(&"integer") => Self::Number,
            Some(&"array") if Self::of_schema(&schema["items"], definitions) == Self::Text => {
                Self::List
            }
            Some(&"object")
                if Self::of_schema(&schema["additionalProperties"], definitions) == Self::Text =>
            {
                Self::Pairs
            }
            _ => Self::Yaml,
        }
    }
}

/// The words of an enumeration; None for other schemas.
fn words(schema: &Value) -> Option<Vec<String>> {
    if let Some(words) = schema["enum"].as_array() {
        return Some(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    let variants = schema["oneOf"].as_array()?;
    variants.iter().map(|variant| variant["const"].as_str().map(str::to_owned)).collect()
}

fn types(schema: &Value) -> Vec<&str> {
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.into_iter().filter(|one| *one != "null").collect()
}

/// The schema that a reference points to.
fn resolve<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    let target = name.and_then(|name| definitions.get(name));
    target.map_or(schema, |target| resolve(target, definitions))
}
