//! Keys of a plan file that are settings. The table of settings has their names and the
//! kinds of their values.
//!
//! A [`Section`] is a map of such keys, which serde reads and schemars describes.

use super::words::{Scalar, ScalarList, ScalarOr};
use crate::settings::{
    ArgumentContent, CompareSettings, ExperimentSettings, RunSettings, SearchSettings, SettingKey,
    SettingRow, SettingTable, ValueForm, Visibility, rows,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

/// A key of a plan file.
#[derive(Debug, Clone)]
pub struct PlanKey {
    /// The whole key, such as `load.rate`.
    pub path: &'static str,
    /// Description of the key.
    pub about: String,
    /// Default value, or a description of it.
    pub default: Option<String>,
    /// Kind of its value.
    pub form: Form,
    /// Option of the command line with the same meaning.
    pub option: Option<&'static str>,
    /// Visibility in help and docs.
    pub visibility: Visibility,
}

/// The kind of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A single scalar value.
    Scalar,
    /// A single value, or a list of them.
    ScalarList,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false; the option is set if the value is this one.
    Switch(bool),
    /// A whole number, unsigned.
    Number,
    /// Single values by name.
    Map,
    /// Any value of YAML.
    Any,
    /// A request: a URL or a map.
    Request,
    /// A list of requests.
    Requests,
}

/// Keys that no option has: path, form, description and default.
// A command line has one URL as an argument, so these keys have no option.
const WITHOUT_OPTION: [(&str, Form, &str, Option<&str>); 6] = [
    ("script.base", Form::Scalar, "Server of relative URLs, such as `http://127.0.0.1:8080`", None),
    ("script.request", Form::Request, "One request: a URL, or a map", None),
    (
        "script.requests",
        Form::Requests,
        "Several requests, each with a frequency proportional to its weight",
        None,
    ),
    (
        "script.request.url",
        Form::Scalar,
        "URL to request, with placeholders: `{n}`, `{uuid}`, `{random:1..9}`, `{csv:FILE:column}`",
        None,
    ),
    (
        "script.request.label",
        Form::Scalar,
        "Label under which its figures are summed",
        Some("its URL"),
    ),
    ("script.request.weight", Form::Number, "Relative frequency within the list", Some("1")),
];

/// The sections, with the names of their schemas and their descriptions. A key belongs to the first
/// section that it begins with.
// The longer path first: `script.request.url` also begins with `script`.
pub(super) const SECTIONS: [(&str, &str, &str); 8] = [
    ("script.request", "Request", "One request."),
    ("script", "Script", "Requests to send: one of `request`, `requests` and `urls`."),
    ("load", "Load", "Load, and the conditions that end the run, with the options of `brunt run`."),
    ("connection", "Connection", "Connection settings, with the options of `brunt run`."),
    ("checks", "Checks", "Conditions for a good reply."),
    ("find", "Search", "Search for the capacity, with the options of `brunt find`."),
    (
        "compare",
        "Compare",
        "Comparison of each contender with the first, with the options of `brunt compare`. `repetitions` is the maximum \
         number of repetitions.",
    ),
    ("fleet", "Fleet", "Agents, with the options of `brunt run`."),
];

/// Checks the keys and values of a map. The settings read the values later. `NUMBER` is the index
/// of the section in [`SECTIONS`].
#[derive(Debug, Clone, Copy, Default)]
// A number, because a const generic cannot be a text.
pub struct Section<const NUMBER: usize>;

pub type RequestSection = Section<0>;
pub type ScriptSection = Section<1>;
pub type LoadSection = Section<2>;
pub type ConnectionSection = Section<3>;
pub type ChecksSection = Section<4>;
pub type FindSection = Section<5>;
pub type CompareSection = Section<6>;
pub type FleetSection = Section<7>;

static KEYS: LazyLock<Vec<PlanKey>> = LazyLock::new(|| {
    let others = WITHOUT_OPTION.iter().map(|(path, form, about, default)| PlanKey {
        path,
        about: (*about).to_owned(),
        default: default.map(str::to_owned),
        form: *form,
        option: None,
        visibility: Visibility::Yes,
    });
    let of_commands = keys_of::<SearchSettings>()
        .chain(keys_of::<CompareSettings>())
        .chain(keys_of::<ExperimentSettings>());
    others.chain(keys_of::<RunSettings>()).chain(of_commands).collect()
});

/// All keys that are settings, and the keys among them that have no option.
pub fn plan_keys() -> &'static [PlanKey] {
    &KEYS
}

fn keys_of<S: SettingTable>() -> impl Iterator<Item = PlanKey> {
    S::rows().flat_map(|row| row.keys.iter().map(|key| PlanKey::new(row, key)))
}

impl PlanKey {
    fn new<S>(row: &SettingRow<S>, key: &SettingKey) -> Self {
        let form = match (key.value_form, row.content) {
            (ValueForm::Value, ArgumentContent::Choice(words)) => Form::Choice(words),
            (ValueForm::Value | ValueForm::File | ValueForm::Data, _) => Form::Scalar,
            (ValueForm::Each | ValueForm::Commas | ValueForm::Loads, _) => Form::ScalarList,
            (ValueForm::IfTrue, _) => Form::Switch(true),
            (ValueForm::IfFalse, _) => Form::Switch(false),
            (ValueForm::Pairs(_), _) => Form::Map,
            (ValueForm::Json, _) => Form::Any,
        };
        let default = match (key.default, form) {
            (Some(default), _) => Some(default.to_owned()),
            // A switch without a default is off on the command line.
            (None, Form::Switch(on)) => Some((!on).to_string()),
            (None, _) => row.default_text().map(|text| in_keys(&text, key.key)),
        };
        let about = key.about.map_or_else(|| row.help.text(), str::to_owned);
        Self {
            path: key.key,
            about: in_keys(&about, key.key),
            default,
            form,
            option: Some(row.option),
            visibility: row.visibility,
        }
    }

    /// Name of the key within its section.
    pub fn name(&self) -> &'static str {
        self.within().map_or(self.path, |(_, name)| name)
    }

    /// Section of the key; None at the top of a plan.
    pub fn section(&self) -> Option<&'static str> {
        self.within().map(|(number, _)| SECTIONS[number].0)
    }

    fn within(&self) -> Option<(usize, &'static str)> {
        within(self.path)
    }

    /// Description of the key in the schema.
    pub(super) fn description(&self) -> String {
        let condition = match self.form {
            Form::Switch(true) => "`true`: ",
            Form::Switch(false) => "`false`: ",
            _ => "",
        };
        let default = self.default.as_ref().map(|default| format!(" Default: {default}."));
        format!("{condition}{}.{}", self.about, default.unwrap_or_default())
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = match self.form {
            Form::Scalar => generator.subschema_for::<Option<Scalar>>(),
            Form::ScalarList => generator.subschema_for::<Option<ScalarList>>(),
            Form::Choice(words) => {
                let words = words.iter().map(|word| json!(word)).chain([Value::Null]);
                json_schema!({ "enum": words.collect::<Vec<_>>() })
            }
            Form::Switch(_) => generator.subschema_for::<Option<bool>>(),
            Form::Number => generator.subschema_for::<Option<u32>>(),
            Form::Map => generator.subschema_for::<Option<BTreeMap<String, Scalar>>>(),
            Form::Any => json_schema!({}),
            Form::Request => generator.subschema_for::<Option<ScalarOr<RequestSection>>>(),
            Form::Requests => generator.subschema_for::<Option<Vec<ScalarOr<RequestSection>>>>(),
        };
        schema.insert("description".into(), json!(self.description()));
        schema
    }
}

/// Index of the section of a key, and the name of the key there; None at the top of a plan.
fn within(path: &str) -> Option<(usize, &str)> {
    SECTIONS.iter().enumerate().find_map(|(number, (section, ..))| {
        let name = path.strip_prefix(section)?.strip_prefix('.')?;
        Some((number, name))
    })
}

/// Converts the help of an option to a description of the key `path`. Options become keys, without
/// the name of the section if they are in the same one.
fn in_keys(help: &str, path: &str) -> String {
    let own_section = within(path).map(|(section, _)| section);
    let mut parts = help.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Options consist of small letters and `-`.
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        let key = rows::key_of(option).map(|key| match within(key.key) {
            Some((section, name)) if Some(section) == own_section => name,
            _ => key.key,
        });
        match key {
            Some(key) => text += key,
            None => text.extend(["--", option]),
        }
        text += rest;
    }
    text
}

impl<const NUMBER: usize> Section<NUMBER> {
    fn keys() -> impl Iterator<Item = (&'static str, &'static PlanKey)> {
        let section_keys = KEYS.iter().filter_map(|key| Some((key.within()?, key)));
        section_keys
            .filter(|((section, _), _)| *section == NUMBER)
            .map(|((_, name), key)| (name, key))
    }
}

impl<const NUMBER: usize> JsonSchema for Section<NUMBER> {
    fn schema_name() -> Cow<'static, str> {
        SECTIONS[NUMBER].1.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> = Self::keys()
            .map(|(name, key)| (name.to_owned(), key.schema(generator).to_value()))
            .collect();
        json_schema!({
            "type": "object",
            "description": SECTIONS[NUMBER].2,
            "additionalProperties": false,
            "properties": properties,
        })
    }
}

impl<'de, const NUMBER: usize> Deserialize<'de> for Section<NUMBER> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("", names(NUMBER), Self)
    }
}

impl<'de, const NUMBER: usize> Visitor<'de> for Section<NUMBER> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while let Some(key) = map.next_key_seed(NameOf::<NUMBER>)? {
            map.next_value_seed(ValueOf(key))?;
        }
        Ok(self)
    }
}

/// Reads the name of a key of a section.
struct NameOf<const NUMBER: usize>;

impl<'de, const NUMBER: usize> DeserializeSeed<'de> for NameOf<NUMBER> {
    type Value = &'static PlanKey;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<const NUMBER: usize> Visitor<'_> for NameOf<NUMBER> {
    type Value = &'static PlanKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let mut keys = Section::<NUMBER>::keys();
        keys.find_map(|(name, key)| (name == text).then_some(key))
            .ok_or_else(|| E::unknown_field(text, names(NUMBER)))
    }
}

/// The names of the keys of a section.
fn names(number: usize) -> &'static [&'static str] {
    // `unknown_field` requires static names.
    static NAMES: LazyLock<[Vec<&str>; SECTIONS.len()]> = LazyLock::new(|| {
        std::array::from_fn(|number| {
            KEYS.iter()
                .filter_map(PlanKey::within)
                .filter(|within| within.0 == number)
                .map(|within| within.1)
                .collect()
        })
    });
    &NAMES[number]
}

/// Checks the kind of a key's value.
struct ValueOf(&'static PlanKey);

impl<'de> DeserializeSeed<'de> for ValueOf {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0.form {
            Form::Scalar => Option::<Scalar>::deserialize(deserializer).map(drop),
            Form::ScalarList => Option::<ScalarList>::deserialize(deserializer).map(drop),
            Form::Choice(words) => match Option::<Scalar>::deserialize(deserializer)? {
                Some(Scalar(word)) if !words.contains(&&*word) => {
                    Err(D::Error::unknown_variant(&word, words))
                }
                _ => Ok(()),
            },
            Form::Switch(_) => Option::<bool>::deserialize(deserializer).map(drop),
            Form::Number => Option::<u32>::deserialize(deserializer).map(drop),
            Form::Map => Option::<BTreeMap<String, Scalar>>::deserialize(deserializer).map(drop),
            // The values are only checked here; `setting_keys` reads them from the tree.
            Form::Any => IgnoredAny::deserialize(deserializer).map(drop),
            Form::Request => {
                Option::<ScalarOr<RequestSection>>::deserialize(deserializer).map(drop)
            }
            Form::Requests => {
                Option::<Vec<ScalarOr<RequestSection>>>::deserialize(deserializer).map(drop)
            }
        }
    }
}
