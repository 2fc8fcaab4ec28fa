//! Extractors: what is looked for in a reply, one form for each way, in [`WAYS`].

use super::expected;
use super::forms::{Defined, FormKeys, FormTable, schemas};
use crate::error::{Result, SpecError};
use crate::plan::words::{Nested, Scalar};
use crate::plan::{Entry, Node, Value, read};
use brunt_model::extract::{ExtractFrom, Extractor, ReplyPart, SampleScope, Take};
use brunt_script::functions;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
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

static TABLE: LazyLock<FormTable> =
    LazyLock::new(|| FormTable::new("map below `extract`", WAYS.iter().map(|way| &way.keys)));

/// A way to look for something in a reply, as plan files have it.
trait ExtractorForm: DeserializeOwned + JsonSchema {
    /// Its keys.
    const KEYS: FormKeys;

    fn read(self) -> ExtractFrom;
}

/// A row of [`WAYS`].
struct Way {
    keys: FormKeys,
    read: fn(&Node) -> Result<ExtractFrom>,
}

impl Way {
    const fn of<F: ExtractorForm>() -> Self {
        Self { keys: F::KEYS.with(&[CommonKeys::json_schema]), read: |node| Ok(read::<F>(node)?.read()) }
    }
}

/// Keys of all extractors.
#[derive(Deserialize, JsonSchema)]
struct CommonKeys {
    /// What is searched. Default: the body.
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

/// An extractor in the JSON Schema: a `JSONPath`, or a map.
pub(super) struct ExtractForm;

impl JsonSchema for ExtractForm {
    fn schema_name() -> Cow<'static, str> {
        "Extract".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut forms = vec![generator.subschema_for::<Scalar>().to_value()];
        forms.extend(schemas(WAYS.iter().map(|way| &way.keys), generator));
        json_schema!({ "description": "What is looked for in a reply: a `JSONPath`, or a map.", "anyOf": forms })
    }
}

impl Nested<BTreeMap<String, ExtractForm>> {
    /// Reads the extractors of a step.
    pub(super) fn read(&self, node: &Node) -> Result<Vec<Extractor>> {
        if !matches!(node.value, Value::Map(_)) {
            return Err(expected(&node.at, "", "a map", "variables below it, such as `id: $.id`"));
        }
        let one = |entry: &Entry| extractor(entry).map_err(|error| error.within(&entry.key, &entry.node.at));
        node.entries().iter().map(one).collect()
    }
}

fn extractor(entry: &Entry) -> Result<Extractor> {
    let mut extractor = Extractor {
        variable: entry.key.clone(),
        from: ExtractFrom::JsonPath(String::new()),
        part: ReplyPart::Body,
        samples: SampleScope::Main,
        take: Take::First,
        default: None,
        sets_more: false,
    };
    if let Some(path) = entry.node.text() {
        extractor.from = ExtractFrom::JsonPath(path.to_owned());
        return Ok(extractor);
    }
    let Defined::Kind(way, _) = TABLE.find(&entry.node)? else {
        let wrong = "one of json, jmespath, regex, between, css, xpath, header and cookie says what is looked for; write one such as {json: $.id}";
        return Err(SpecError::new(&entry.node.at, "", wrong));
    };
    extractor.from = (WAYS[way].read)(&entry.node)?;
    let common: CommonKeys = read(&entry.node)?;
    extractor.part = common.r#in.map_or(ReplyPart::Body, Part::read);
    if let Some(word) = &common.take {
        extractor.take = take(&word.0).map_err(|error| error.within("take", &entry.node.at))?;
    }
    extractor.default = common.default.map(|default| default.0);
    Ok(extractor)
}

fn take(word: &str) -> Result<Take> {
    match word {
        "first" => Ok(Take::First),
        "last" => Ok(Take::Last),
        "random" => Ok(Take::Random),
        "all" => Ok(Take::All),
        number => match number.parse() {
            Ok(number) if number > 0 => Ok(Take::Number(number)),
            _ => {
                let wrong = format!("`{number}` is no match; write first, last, random, all, or a number from 1");
                Err(SpecError::told(wrong))
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["json"]);

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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["jmespath"]);

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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["regex"]);

    fn read(self) -> ExtractFrom {
        let pattern = self.regex.0;
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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["between"]);

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
    /// The attribute of the element whose value is taken. Default: its text.
    attribute: Option<Scalar>,
}

impl ExtractorForm for CssExtractor {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["css"]);

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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["xpath"]);

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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["header"]);

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
    const KEYS: FormKeys = FormKeys::of::<Self>(&["cookie"]);

    fn read(self) -> ExtractFrom {
        ExtractFrom::Cookie(self.cookie.0)
    }
}
