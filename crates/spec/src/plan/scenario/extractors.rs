//! Extractors. Each way to search a reply has a form, and a row in `WAYS`.

use super::expected;
use super::forms::{FormKeys, FormMatch, FormTable, schemas};
use crate::error::{Result, SpecError};
use crate::plan::words::{Nested, Scalar};
use crate::plan::{NamedNode, PlanNode, PlanValue, Yaml, read};
use brunt_model::extract::{ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart};
use brunt_script::functions;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The ways to look for something in a reply.
static WAYS: [Way; 8] = [
    Way::of::<JsonExtractor>(),
    Way::of::<JmesPathExtractor>(),
    Way::of::<RegexExtractor>(),
    Way::of::<BetweenExtractor>(),
    Way::of::<CssExtractor>(),
    Way::of::<XpathExtractor>(),
    Way::of::<HeaderExtractor>(),
    Way::of::<CookieExtractor>(),
];

pub(in crate::plan) static TABLE: LazyLock<FormTable> =
    LazyLock::new(|| FormTable::new("map below `extract`", WAYS.iter().map(|way| &way.keys)));

/// A way to look for something in a reply, as plan files have it.
trait ExtractorForm: DeserializeOwned + JsonSchema {
    /// Keys of the map, and those that define it.
    const KEYS: FormKeys;

    fn read(self) -> ExtractFrom;
}

/// A row of [`WAYS`].
struct Way {
    keys: FormKeys,
    read: fn(&PlanNode) -> Result<ExtractFrom>,
}

impl Way {
    const fn of<F: ExtractorForm>() -> Self {
        Self {
            keys: F::KEYS.and(CommonKeys::json_schema),
            read: |node| Ok(read::<F>(node)?.read()),
        }
    }
}

/// Keys of all extractors.
#[derive(Deserialize, JsonSchema)]
struct CommonKeys {
    /// The part of the reply to search. Default: the body.
    r#in: Option<Part>,
    /// Which of several matches is taken: `first`, `last`, `random`, `all` or a number from 1. Default: first.
    take: Option<Scalar>,
    /// The value where there is no match. Default: the variable keeps its value.
    default: Option<Scalar>,
}

/// A part of a reply, or of its request.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Part {
    /// The body.
    Body,
    /// The body without the escapes of HTML.
    UnescapedBody,
    /// The status line and the header fields.
    Headers,
    /// The status.
    Status,
    /// The phrase after the status.
    Message,
    /// The URL that it came from.
    Url,
    /// The header fields of the request.
    RequestHeaders,
}

impl Part {
    fn read(self) -> ReplyPart {
        match self {
            Self::Body => ReplyPart::Body,
            Self::UnescapedBody => ReplyPart::UnescapedBody,
            Self::Headers => ReplyPart::Headers,
            Self::Status => ReplyPart::Status,
            Self::Message => ReplyPart::Message,
            Self::Url => ReplyPart::Url,
            Self::RequestHeaders => ReplyPart::RequestHeaders,
        }
    }
}

/// Extractors by variable in the JSON Schema.
pub(super) struct ExtractMap;

impl JsonSchema for ExtractMap {
    fn schema_name() -> Cow<'static, str> {
        "Extractors".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<ExtractForm>() })
    }
}

/// An extractor in the JSON Schema: a `JSONPath`, or a map.
struct ExtractForm;

impl JsonSchema for ExtractForm {
    fn schema_name() -> Cow<'static, str> {
        "Extract".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut forms = vec![generator.subschema_for::<Scalar>().to_value()];
        forms.extend(schemas(WAYS.iter().map(|way| &way.keys), generator));
        json_schema!({ "description": "The searched value of a reply: a `JSONPath`, or a map.", "anyOf": forms })
    }
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<ExtractMap> {
    /// Reads the extractors of a step.
    pub(super) fn read(&self, node: &PlanNode) -> Result<Vec<Extractor>> {
        if !matches!(node.value, PlanValue::Map(_)) {
            return Err(expected(&node.at, "", "a map", "variables below it, such as `id: $.id`"));
        }
        let entries = node.entries().iter();
        entries
            .map(|entry| extractor(entry).map_err(|error| error.within(&entry.key, &entry.node.at)))
            .collect()
    }
}

/// Reads an extractor, an entry below `extract`.
pub(super) fn extractor(entry: &NamedNode) -> Result<Extractor> {
    if let Some(path) = entry.node.text() {
        return Ok(Extractor::new(&entry.key, ExtractFrom::JsonPath(path.to_owned())));
    }
    let FormMatch::Kind(way, _) = TABLE.find(&entry.node)? else {
        let wrong = "one of json, jmespath, regex, between, css, xpath, header and cookie is needed; write one such as {json: $.id}";
        return Err(SpecError::new(&entry.node.at, "", wrong));
    };
    let mut extractor = Extractor::new(&entry.key, (WAYS[way].read)(&entry.node)?);
    // The forms have no common part in serde, so the map is read twice.
    let common: CommonKeys = read(&entry.node)?;
    extractor.part = common.r#in.map_or(ReplyPart::Body, Part::read);
    if let Some(word) = &common.take {
        extractor.take = take(&word.0).map_err(|error| error.within("take", &entry.node.at))?;
    }
    extractor.default = common.default.map(|default| default.0);
    Ok(extractor)
}

fn take(word: &str) -> Result<MatchChoice> {
    match word {
        "first" => Ok(MatchChoice::First),
        "last" => Ok(MatchChoice::Last),
        "random" => Ok(MatchChoice::Random),
        "all" => Ok(MatchChoice::All),
        number => match number.parse() {
            Ok(number) if number > 0 => Ok(MatchChoice::Number(number)),
            _ => {
                let wrong = format!(
                    "`{number}` is no match; write first, last, random, all, or a number from 1"
                );
                Err(SpecError::unplaced(wrong))
            }
        },
    }
}

/// A `JSONPath`.
#[derive(Deserialize, JsonSchema)]
struct JsonExtractor {
    /// A `JSONPath` (RFC 9535) in the body.
    json: Scalar,
}

impl ExtractorForm for JsonExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["json"], "json: $.id");

    fn read(self) -> ExtractFrom {
        ExtractFrom::JsonPath(self.json.0)
    }
}

/// A `JMESPath`.
#[derive(Deserialize, JsonSchema)]
struct JmesPathExtractor {
    /// A `JMESPath` in a JSON body.
    jmespath: Scalar,
}

impl ExtractorForm for JmesPathExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["jmespath"], "jmespath: id");

    fn read(self) -> ExtractFrom {
        ExtractFrom::JmesPath(self.jmespath.0)
    }
}

/// A regular expression.
#[derive(Deserialize, JsonSchema)]
struct RegexExtractor {
    /// A regular expression in the body.
    regex: Scalar,
    /// The group that is taken. Default: 1 where there is one, else the whole match.
    group: Option<u32>,
    /// The text made of the groups of a match, such as `$1$-$2$`.
    template: Option<Scalar>,
}

impl ExtractorForm for RegexExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["regex"], "regex: id=(\\d+)");

    fn read(self) -> ExtractFrom {
        let pattern = self.regex.0;
        // With a group in the pattern, its content is nearly always wanted, not the whole match.
        let group = self.group.unwrap_or_else(|| u32::from(functions::has_group(&pattern)));
        ExtractFrom::Regex { pattern, group, template: self.template.map(|template| template.0) }
    }
}

/// The text between two others.
#[derive(Deserialize, JsonSchema)]
struct BetweenExtractor {
    /// The texts before and after it in the body.
    between: [Scalar; 2],
}

impl ExtractorForm for BetweenExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["between"], "between: [\"id=\", \"&\"]");

    fn read(self) -> ExtractFrom {
        let [left, right] = self.between;
        ExtractFrom::Boundary { left: left.0, right: right.0 }
    }
}

/// A CSS selector.
#[derive(Deserialize, JsonSchema)]
struct CssExtractor {
    /// A CSS selector in an HTML body.
    css: Scalar,
    /// The attribute to take. Default: the text of the element.
    attribute: Option<Scalar>,
}

impl ExtractorForm for CssExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["css"], "css: input[name=token]");

    fn read(self) -> ExtractFrom {
        ExtractFrom::Css { selector: self.css.0, attribute: self.attribute.unwrap_or_default().0 }
    }
}

/// An `XPath`.
#[derive(Deserialize, JsonSchema)]
struct XpathExtractor {
    /// An `XPath` (1.0) in a body of XML or HTML.
    xpath: Scalar,
}

impl ExtractorForm for XpathExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["xpath"], "xpath: //input/@value");

    fn read(self) -> ExtractFrom {
        ExtractFrom::Xpath(self.xpath.0)
    }
}

/// A header field.
#[derive(Deserialize, JsonSchema)]
struct HeaderExtractor {
    /// The name of a header field.
    header: Scalar,
}

impl ExtractorForm for HeaderExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["header"], "header: Location");

    fn read(self) -> ExtractFrom {
        ExtractFrom::Header(self.header.0)
    }
}

/// A cookie.
#[derive(Deserialize, JsonSchema)]
struct CookieExtractor {
    /// The name of a cookie that the reply sets.
    cookie: Scalar,
}

impl ExtractorForm for CookieExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["cookie"], "cookie: session");

    fn read(self) -> ExtractFrom {
        ExtractFrom::Cookie(self.cookie.0)
    }
}

/// Writes an extractor, as a `JSONPath` or as a map. `text` converts a text to the syntax of plan
/// files. Returns None if plan files have no word for the part of the reply.
pub fn write(extractor: &Extractor, text: &mut dyn FnMut(&str) -> String) -> Option<Yaml> {
    let mut keys = write_from(&extractor.from, text);
    let part = match &extractor.part {
        ReplyPart::Body => None,
        ReplyPart::UnescapedBody => Some("unescaped_body"),
        ReplyPart::Headers => Some("headers"),
        ReplyPart::Status => Some("status"),
        ReplyPart::Message => Some("message"),
        ReplyPart::Url => Some("url"),
        ReplyPart::RequestHeaders => Some("request_headers"),
        // Only plans of JMeter search these parts.
        ReplyPart::RequestBody | ReplyPart::SamplerData | ReplyPart::Variable(_) => return None,
    };
    keys.extend(part.map(|part| ("in", Yaml::text(part))));
    let take = match extractor.take {
        // The default is not written.
        MatchChoice::First | MatchChoice::Number(1) => None,
        MatchChoice::Last => Some("last".to_owned()),
        MatchChoice::Random => Some("random".to_owned()),
        MatchChoice::All => Some("all".to_owned()),
        MatchChoice::Number(number) => Some(number.to_string()),
    };
    keys.extend(take.map(|take| ("take", Yaml::Text(take))));
    keys.extend(extractor.default.as_ref().map(|default| ("default", Yaml::Text(text(default)))));
    match &keys[..] {
        [("json", path)] => Some(path.clone()),
        _ => {
            Some(Yaml::Map(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
        }
    }
}

fn write_from(
    from: &ExtractFrom,
    text: &mut dyn FnMut(&str) -> String,
) -> Vec<(&'static str, Yaml)> {
    match from {
        ExtractFrom::JsonPath(path) => vec![("json", Yaml::Text(text(path)))],
        ExtractFrom::JmesPath(path) => vec![("jmespath", Yaml::Text(text(path)))],
        ExtractFrom::Regex { pattern, group, template } => {
            let mut keys = vec![("regex", Yaml::Text(text(pattern)))];
            keys.extend(write_group(pattern, *group, template.as_deref(), text));
            keys
        }
        ExtractFrom::Boundary { left, right } => {
            vec![("between", Yaml::List([left, right].map(|side| Yaml::Text(text(side))).into()))]
        }
        ExtractFrom::Css { selector, attribute } => {
            let mut keys = vec![("css", Yaml::Text(text(selector)))];
            keys.extend((!attribute.is_empty()).then(|| ("attribute", Yaml::text(attribute))));
            keys
        }
        // A plan file declares no namespaces: prefixes match as they are written.
        ExtractFrom::Xpath(path) | ExtractFrom::QualifiedXpath(QualifiedXpath { path, .. }) => {
            vec![("xpath", Yaml::Text(text(path)))]
        }
        ExtractFrom::Header(name) => vec![("header", Yaml::text(name))],
        ExtractFrom::Cookie(name) => vec![("cookie", Yaml::text(name))],
    }
}

/// The key `group` or `template`; None if the default group is meant.
fn write_group(
    pattern: &str,
    group: u32,
    template: Option<&str>,
    text: &mut dyn FnMut(&str) -> String,
) -> Option<(&'static str, Yaml)> {
    let only_group = match template {
        None => Some(group),
        // JMeter's usual template `$1$` is the same as group 1.
        Some(template) => {
            template.strip_prefix('$').and_then(|rest| rest.strip_suffix('$')?.parse().ok())
        }
    };
    match (only_group, template) {
        (Some(number), _) if number == u32::from(functions::has_group(pattern)) => None,
        (Some(number), None) | (Some(number @ 0), _) => {
            Some(("group", Yaml::text(number.to_string())))
        }
        (_, Some(template)) => Some(("template", Yaml::Text(text(template)))),
        (None, None) => None,
    }
}
