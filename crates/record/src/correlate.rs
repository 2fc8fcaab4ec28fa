//! Compares two recordings of the same actions. A value that differs, and that an earlier reply contains in both, is
//! dynamic: an extractor takes it from that reply.
//!
//! * Requests are paired by method and path, in order (`align`). Each value of a pair has a place (`places`).
//! * Equal values are never changed.
//! * An extractor is written only if it yields the value of each recording from the reply of that recording
//!   (`locate`), and if no request before that reply contains the value.
//! * A value without such a reply is listed with a hint: a time, an identifier of the browser, or unknown.

mod align;
mod locate;
mod places;
mod tokens;

use crate::error::RecordError;
use crate::options::PlanOptions;
use crate::recording::Recording;
use brunt_har::Names;
use brunt_har::recording::{self, Flow};
use brunt_har::text::{self, identifier};
use brunt_model::extract::{Extractor, MatchChoice};
use brunt_model::secret::is_secret_parameter;
use locate::{Located, ReplyPair, ValuePair, occurs};
use places::{Place, PlaceKind};
use std::collections::HashMap;
use tokens::{Token, TokenLevel, WordIndex};

/// Maximum number of replies that are listed for one value.
const MAX_SOURCES: usize = 6;

/// Minimum length of a value that is traced by its equality alone.
const MIN_PROOF: usize = 4;

/// Minimum length of such a value without digits, which could be a word of the page.
const MIN_WORD_PROOF: usize = 8;

/// Names without a meaning.
const GENERIC_NAMES: [&str; 10] =
    ["id", "value", "content", "href", "src", "text", "body", "data", "key", "location"];

/// Result of the comparison of two recordings.
#[derive(Debug, Clone, Default)]
pub struct Correlation {
    /// Values with an extractor, in the order of their first use.
    pub values: Vec<CorrelatedValue>,
    /// Values that differ, without an extractor.
    pub differences: Vec<Difference>,
    /// Number of requests that both recordings have.
    pub paired: usize,
    /// Requests of the first recording that the second one lacks.
    pub only_first: Vec<String>,
    /// Requests of the second recording that the first one lacks.
    pub only_second: Vec<String>,
}

impl Correlation {
    /// Lists the values with their origins, ambiguities, and the values without an extractor. Values themselves are
    /// not shown, because they may be secrets.
    pub fn report(&self) -> String {
        let mut lines = vec![
            format!("requests in both recordings: {}", self.paired),
            format!("values that differ and come from earlier replies: {}", self.values.len()),
        ];
        for value in &self.values {
            let extractor = &value.extractor;
            let variable = &extractor.variable;
            lines.push(format!("  ${{{variable}}}  {} of {}", describe(extractor), value.source));
            lines.extend(value.ambiguities.iter().map(|text| format!("    ambiguous: {text}")));
        }
        if !self.differences.is_empty() {
            let count = self.differences.len();
            lines.push(format!("values that differ, without an extractor: {count}"));
        }
        for difference in &self.differences {
            let place = difference.uses.first().map_or("", String::as_str);
            lines.push(format!("  {place}: {}", difference.hint.advice()));
        }
        for (requests, recording) in [(&self.only_first, "first"), (&self.only_second, "second")] {
            if !requests.is_empty() {
                lines.push(format!("only in the {recording} recording: {}", requests.join(", ")));
            }
        }
        lines.join("\n") + "\n"
    }
}

/// A value that a reply sets.
#[derive(Debug, Clone)]
pub struct CorrelatedValue {
    /// Extractor, with the name of the variable.
    pub extractor: Extractor,
    /// Value in the first recording.
    pub first: String,
    /// Value in the second recording.
    pub second: String,
    /// Request with the reply.
    pub source: String,
    /// Requests with the value, and its place.
    pub uses: Vec<String>,
    /// Reasons why another extractor is possible; empty if the origin is unambiguous.
    pub ambiguities: Vec<String>,
}

/// A value that differs between the recordings, without an extractor.
#[derive(Debug, Clone)]
pub struct Difference {
    /// Value in the first recording.
    pub first: String,
    /// Value in the second recording.
    pub second: String,
    /// Requests with the value, and its place.
    pub uses: Vec<String>,
    /// Probable origin.
    pub hint: DifferenceHint,
}

/// Probable origin of a value without an extractor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferenceHint {
    /// Milliseconds or seconds since 1970, or a date.
    Time,
    /// A UUID that the browser generated.
    Uuid,
    /// An earlier reply has the value, but the value is too short to prove its origin.
    TooShort {
        /// Request with the reply, and the extractor.
        source: String,
    },
    /// No earlier reply has the value.
    Unknown,
}

impl DifferenceHint {
    /// Advice for the plan; empty if there is none.
    pub fn advice(&self) -> String {
        match self {
            Self::Time => "looks like a time: write ${time()} if the server checks it".to_owned(),
            Self::Uuid => "looks like a UUID of the browser: write ${uuid()}".to_owned(),
            Self::TooShort { source } => {
                format!("possible origin, not proven because the value is short: {source}")
            }
            Self::Unknown => "no earlier reply has it".to_owned(),
        }
    }
}

/// Compares two recordings of the same actions.
///
/// # Errors
///
/// [`RecordError::Import`] if a recording has no valid HAR.
pub fn correlate(
    first: &Recording,
    second: &Recording,
    options: &PlanOptions,
) -> Result<Correlation, RecordError> {
    let import = options.import("the first recording");
    let mut flows = recording::flows(first.har(), &import)?;
    let others = recording::flows(second.har(), &options.import("the second recording"))?;
    Ok(correlate_flows(&mut flows, &others, &mut Names::default()))
}

/// Adds extractors to the requests of the first recording, and replaces values by variables.
pub(crate) fn correlate_flows(
    first: &mut [Flow],
    second: &[Flow],
    names: &mut Names,
) -> Correlation {
    let partners = align::align(first, second);
    let mut search = Search::new(first, second, &partners);
    let replacements = search.replacements();
    let Search { mut result, values, .. } = search;
    for (value, found) in result.values.iter_mut().zip(&values) {
        let variable = names.take(&found.name);
        value.extractor = found.located.extractor(&variable);
    }
    for (value, found) in result.values.iter().zip(&values) {
        let flow = &mut first[found.source];
        flow.request.extract.push(value.extractor.clone());
        let variable = &value.extractor.variable;
        flow.comments.extend(value.ambiguities.iter().map(|text| format!("`{variable}`: {text}")));
    }
    for flow in first.iter_mut() {
        hide_values(&mut flow.comments, &result.values, &values);
    }
    let correlated = result.values.clone();
    for value in &mut result.values {
        hide_values(&mut value.uses, &correlated, &values);
        hide_values(std::slice::from_mut(&mut value.source), &correlated, &values);
    }
    for difference in &mut result.differences {
        hide_values(&mut difference.uses, &correlated, &values);
    }
    hide_values(&mut result.only_first, &correlated, &values);
    hide_values(&mut result.only_second, &correlated, &values);
    for (flow, replacements) in first.iter_mut().zip(replacements) {
        places::each(&mut flow.request, &mut |place, text| {
            let parts = replacements.get(place)?;
            Some(replaced(place, text, parts, &result.values, &values))
        });
    }
    result
}

/// Replaces dynamic values in comments and labels, since they may be secrets.
fn hide_values(comments: &mut [String], correlated: &[CorrelatedValue], values: &[FoundValue]) {
    for comment in comments {
        for (value, origin) in correlated.iter().zip(values) {
            let variable = format!("${{{}}}", value.extractor.variable);
            for text in [&value.first, &value.second] {
                if is_proof(&origin.pair) && occurs(comment, text) {
                    *comment = comment.replace(text, &variable);
                }
            }
        }
    }
}

/// Replaces parts of a value by variables.
fn replaced(
    place: &Place,
    text: &str,
    parts: &[Replacement],
    correlated: &[CorrelatedValue],
    values: &[FoundValue],
) -> String {
    let mut out = String::new();
    let mut position = 0;
    for part in parts {
        let variable = &correlated[part.value].extractor.variable;
        // A variable inside a JSON string would be a text.
        if place.is_number {
            return text::number_variable(variable);
        }
        out.push_str(&text[position..part.token.start]);
        let decoder = values[part.value].located.decoder;
        let expression = match decoder {
            Some(function) => format!("{function}(${{{variable}}})"),
            None => variable.clone(),
        };
        out.push_str(&text::variable(&expression));
        position = part.token.end;
    }
    out.push_str(&text[position..]);
    out
}

/// A part of a value that a variable replaces.
#[derive(Debug, Clone)]
struct Replacement {
    token: Token,
    /// Index of the value.
    value: usize,
}

/// A value with its reply and extractor.
struct FoundValue {
    pair: ValuePair,
    source: usize,
    located: Located,
    name: String,
}

/// Outcome of the search for a pair of values.
#[derive(Clone)]
enum Outcome {
    Found(usize),
    TooShort(String),
    None,
}

type Replacements = HashMap<Place, Vec<Replacement>>;

/// The search for the origins of all values.
struct Search<'f> {
    first: &'f [Flow],
    second: &'f [Flow],
    partners: &'f [Option<usize>],
    first_values: Vec<Vec<(Place, String)>>,
    second_values: Vec<Vec<(Place, String)>>,
    first_words: Vec<WordIndex>,
    second_words: Vec<WordIndex>,
    outcomes: HashMap<ValuePair, Outcome>,
    values: Vec<FoundValue>,
    result: Correlation,
}

impl<'f> Search<'f> {
    fn new(first: &'f [Flow], second: &'f [Flow], partners: &'f [Option<usize>]) -> Self {
        let paired: Vec<usize> = partners.iter().flatten().copied().collect();
        let only_first = first.iter().zip(partners).filter(|(_, partner)| partner.is_none());
        let only_second = second.iter().enumerate().filter(|(index, _)| !paired.contains(index));
        let result = Correlation {
            paired: paired.len(),
            only_first: only_first.map(|(flow, _)| label(flow)).collect(),
            only_second: only_second.map(|(_, flow)| label(flow)).collect(),
            ..Correlation::default()
        };
        Self {
            first,
            second,
            partners,
            first_values: all_values(first),
            second_values: all_values(second),
            first_words: first.iter().map(locate::words).collect(),
            second_words: second.iter().map(locate::words).collect(),
            outcomes: HashMap::new(),
            values: Vec::new(),
            result,
        }
    }

    /// Searches the origins of all values, and returns the replacements of each request.
    fn replacements(&mut self) -> Vec<Replacements> {
        let mut all: Vec<Replacements> = vec![Replacements::new(); self.first.len()];
        for (index, replacements) in all.iter_mut().enumerate() {
            let Some(partner) = self.partners[index] else { continue };
            let others: HashMap<Place, String> =
                self.second_values[partner].iter().cloned().collect();
            for (place, value) in self.first_values[index].clone() {
                let Some(other) = others.get(&place).filter(|other| **other != value) else {
                    continue;
                };
                // `Referer` repeats an earlier URL, whose values are replaced there.
                if place.kind != PlaceKind::Referer {
                    let parts = self.parts(index, &place, &value, other);
                    insert(replacements, place, &value, parts);
                }
            }
        }
        // Values that are known to be dynamic, at places that only the first recording has.
        for (index, replacements) in all.iter_mut().enumerate() {
            let others: HashMap<Place, String> = match self.partners[index] {
                Some(partner) => self.second_values[partner].iter().cloned().collect(),
                None => HashMap::new(),
            };
            for (place, value) in self.first_values[index].clone() {
                let is_equal = others.get(&place).is_some_and(|other| *other == value);
                let is_comparable = others.contains_key(&place) && place.kind != PlaceKind::Referer;
                if !is_equal && !is_comparable {
                    let parts = self.known_parts(index, &place, &value);
                    insert(replacements, place, &value, parts);
                }
            }
        }
        all
    }

    /// Parts of a value that differ and have an origin. The other parts are listed as differences.
    fn parts(&mut self, index: usize, place: &Place, value: &str, other: &str) -> Vec<Replacement> {
        // The digits of a number are no words.
        let levels = if place.is_number { &TokenLevel::ALL[..1] } else { &TokenLevel::ALL[..] };
        let mut open = vec![(Token { start: 0, end: value.len() }, other.to_owned())];
        let mut parts = Vec::new();
        for level in levels {
            let mut rest = Vec::new();
            for (token, other) in open {
                let text = &value[token.start..token.end];
                let Some(tokens) = tokens::differences(text, &other, *level) else {
                    rest.push((token, other));
                    continue;
                };
                for (inner, first, second) in tokens {
                    let inner =
                        Token { start: token.start + inner.start, end: token.start + inner.end };
                    let pair = ValuePair { first, second };
                    match self.outcome(index, place, &pair) {
                        Outcome::Found(value) => parts.push(Replacement { token: inner, value }),
                        Outcome::TooShort(_) | Outcome::None => rest.push((inner, pair.second)),
                    }
                }
            }
            open = rest;
        }
        // A value without any origin is listed as a whole.
        let is_partial = !parts.is_empty();
        let tokens: Vec<ValuePair> = open
            .into_iter()
            .map(|(token, second)| ValuePair {
                first: value[token.start..token.end].to_owned(),
                second,
            })
            .collect();
        let pairs = if is_partial || tokens.is_empty() {
            tokens
        } else {
            let whole = ValuePair { first: value.to_owned(), second: other.to_owned() };
            let short = tokens.iter().find_map(|pair| match self.outcomes.get(pair) {
                Some(Outcome::TooShort(source)) => Some(source.clone()),
                _ => None,
            });
            if let Some(source) = short {
                self.outcomes.insert(whole.clone(), Outcome::TooShort(source));
            }
            vec![whole]
        };
        for pair in pairs {
            self.add_difference(index, place, pair);
        }
        for part in &parts {
            let text = use_text(&self.first[index], place);
            self.result.values[part.value].uses.push(text);
        }
        parts.sort_by_key(|part| part.token.start);
        parts
    }

    /// Parts of a value that are equal to values with an origin before this request.
    fn known_parts(&mut self, index: usize, place: &Place, value: &str) -> Vec<Replacement> {
        let levels = if place.is_number { &TokenLevel::ALL[..1] } else { &TokenLevel::ALL[..] };
        for level in levels {
            let mut parts = Vec::new();
            for token in tokens::tokens(value, *level) {
                let text = &value[token.start..token.end];
                let value = self.values.iter().position(|known| {
                    known.pair.first == text && known.source < index && is_proof(&known.pair)
                });
                parts.extend(value.map(|value| Replacement { token, value }));
            }
            if !parts.is_empty() {
                for part in &parts {
                    let text = use_text(&self.first[index], place);
                    self.result.values[part.value].uses.push(text);
                }
                return parts;
            }
        }
        Vec::new()
    }

    fn outcome(&mut self, index: usize, place: &Place, pair: &ValuePair) -> Outcome {
        if let Some(known) = self.outcomes.get(pair) {
            return known.clone();
        }
        let outcome = self.search(index, place, pair);
        self.outcomes.insert(pair.clone(), outcome.clone());
        outcome
    }

    /// Searches the earlier replies for a value.
    fn search(&mut self, index: usize, place: &Place, pair: &ValuePair) -> Outcome {
        if pair.first.is_empty() || pair.second.is_empty() {
            return Outcome::None;
        }
        // A value that a request contains before its reply is not from that reply, but from the browser.
        let first_use = first_use_of(&self.first_values, &pair.first).min(index);
        let second_use = first_use_of(&self.second_values, &pair.second);
        let mut sources: Vec<(usize, Located)> = Vec::new();
        for source in 0..first_use {
            let Some(partner) = self.partners[source].filter(|partner| *partner < second_use)
            else {
                continue;
            };
            // A plan requests resources in parallel, and extractors do not search such replies.
            if self.first[source].is_resource {
                continue;
            }
            let may_contain = self.first_words[source].may_contain(&pair.first)
                && self.second_words[partner].may_contain(&pair.second);
            if !may_contain {
                continue;
            }
            let replies = ReplyPair { first: &self.first[source], second: &self.second[partner] };
            sources.extend(replies.locate(pair).map(|located| (source, located)));
            if sources.len() == MAX_SOURCES {
                break;
            }
        }
        // Of equally robust extractors, the first reply: later ones may only repeat the value.
        let best = sources
            .iter()
            .enumerate()
            .min_by_key(|(_, (source, one))| (one.matches > 1, one.rank / 3, *source))
            .map(|(position, _)| position);
        let Some(best) = best else { return Outcome::None };
        let (source, located) = sources.remove(best);
        if !is_proof(pair) && !has_same_name(place, &located) {
            let text = format!("{} of {}", description(&located), label(&self.first[source]));
            return Outcome::TooShort(text);
        }
        let mut ambiguities: Vec<String> = sources
            .iter()
            .map(|(source, other)| {
                let label = label(&self.first[*source]);
                format!("the reply to {label} has the same value ({})", description(other))
            })
            .collect();
        if located.matches > 1 {
            let number = match located.take {
                MatchChoice::Number(number) => number,
                _ => 1,
            };
            ambiguities.push(format!(
                "the extractor has {} matches, of which number {number} is taken",
                located.matches
            ));
        }
        self.result.values.push(CorrelatedValue {
            extractor: located.extractor(""),
            first: pair.first.clone(),
            second: pair.second.clone(),
            source: label(&self.first[source]),
            uses: Vec::new(),
            ambiguities,
        });
        let name = variable_name(place, &located);
        self.values.push(FoundValue { pair: pair.clone(), source, located, name });
        Outcome::Found(self.values.len() - 1)
    }

    fn add_difference(&mut self, index: usize, place: &Place, pair: ValuePair) {
        let text = use_text(&self.first[index], place);
        let difference = self
            .result
            .differences
            .iter_mut()
            .find(|known| known.first == pair.first && known.second == pair.second);
        if let Some(difference) = difference {
            difference.uses.push(text);
            return;
        }
        let hint = match (hint(&pair), self.outcomes.get(&pair)) {
            (DifferenceHint::Unknown, Some(Outcome::TooShort(source))) => {
                DifferenceHint::TooShort { source: source.clone() }
            }
            (hint, _) => hint,
        };
        let ValuePair { first, second } = pair;
        self.result.differences.push(Difference { first, second, uses: vec![text], hint });
    }
}

fn all_values(flows: &[Flow]) -> Vec<Vec<(Place, String)>> {
    flows.iter().map(|flow| places::values(&flow.request)).collect()
}

fn insert(replacements: &mut Replacements, place: Place, value: &str, parts: Vec<Replacement>) {
    // A secret that is replaced in part would be copied to the plan with its other part.
    let is_partial_secret = is_secret_parameter(&place.field) && has_rest(value, &parts);
    if !parts.is_empty() && !is_partial_secret {
        replacements.insert(place, parts);
    }
}

/// True if a value has letters or digits besides its replaced parts and the scheme before them, such as `Bearer`.
fn has_rest(value: &str, parts: &[Replacement]) -> bool {
    let mut position = 0;
    let mut rest = String::new();
    for part in parts {
        rest.push_str(&value[position..part.token.start]);
        position = part.token.end;
    }
    rest.push_str(&value[position..]);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    rest.contains(|c: char| c.is_alphanumeric())
}

/// Index of the first request with a value; the number of requests if none has it.
fn first_use_of(requests: &[Vec<(Place, String)>], value: &str) -> usize {
    let position = requests.iter().position(|values| {
        values.iter().any(|(place, text)| place.kind != PlaceKind::Referer && occurs(text, value))
    });
    position.unwrap_or(requests.len())
}

/// True if the equality of such values in a reply and a later request of both recordings cannot be a coincidence.
fn is_proof(pair: &ValuePair) -> bool {
    [&pair.first, &pair.second].into_iter().all(|value| {
        let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
        value.len() >= if has_digit { MIN_PROOF } else { MIN_WORD_PROOF }
    })
}

/// True if the value has the same name in the request and in the reply.
fn has_same_name(place: &Place, located: &Located) -> bool {
    let [field, name] = [&place.field, &located.name]
        .map(|name| identifier(name).to_ascii_lowercase().replace('_', ""));
    let field = if place.kind == PlaceKind::Path {
        field.strip_suffix("id").unwrap_or(&field)
    } else {
        &field
    };
    field.len() >= 2 && !name.is_empty() && (name.contains(field) || field == name)
}

/// Name of a variable: that of the field, or that in the reply for a segment of a path.
fn variable_name(place: &Place, located: &Located) -> String {
    // A segment and a body have no name. That of a segment is made of the segment before it, such as `order_id`.
    let is_unnamed = matches!(place.kind, PlaceKind::Path | PlaceKind::Text);
    let repeats_segment = place.kind == PlaceKind::Path && has_same_name(place, located);
    let names = if is_unnamed && !repeats_segment {
        [&located.name, &place.field]
    } else {
        [&place.field, &located.name]
    };
    let name = names.into_iter().find(|name| !is_generic_name(name)).unwrap_or(&place.field);
    let name = snake_case(name);
    name.strip_prefix("x-").unwrap_or(&name).to_owned()
}

/// Writes `cartId` as `cart_id`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut is_lower = false;
    for character in name.chars() {
        if is_lower && character.is_ascii_uppercase() {
            out.push('_');
        }
        is_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        out.push(character.to_ascii_lowercase());
    }
    out
}

fn is_generic_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name.len() < 2 || name.len() > 40 || GENERIC_NAMES.contains(&lower.as_str())
}

/// Probable origin of a value that no reply has.
fn hint(pair: &ValuePair) -> DifferenceHint {
    if is_uuid(&pair.first) && is_uuid(&pair.second) {
        DifferenceHint::Uuid
    } else if is_time(&pair.first) && is_time(&pair.second) {
        DifferenceHint::Time
    } else {
        DifferenceHint::Unknown
    }
}

/// True for 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.trim_matches(['{', '}']).split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// True for a date, or for seconds, milliseconds or microseconds since 1970 between 2001 and 2286.
fn is_time(text: &str) -> bool {
    let digits = text.split('.').next().unwrap_or_default();
    let is_number = matches!(digits.len(), 10 | 13 | 16)
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    let is_date = text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(position, byte)| match position {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_number || is_date
}

/// Description of an extractor.
fn description(located: &Located) -> String {
    describe(&located.extractor("value"))
}

/// Description of an extractor, such as `JSONPath $.id`.
pub fn describe(extractor: &Extractor) -> String {
    use brunt_model::extract::ExtractFrom as From;
    match &extractor.from {
        From::JsonPath(path) => format!("JSONPath {path}"),
        From::JmesPath(path) => format!("JMESPath {path}"),
        From::Regex { pattern, .. } => format!("regular expression {pattern}"),
        From::Boundary { left, right } => format!("text between `{left}` and `{right}`"),
        From::Css { selector, attribute } if attribute.is_empty() => {
            format!("CSS selector {selector}")
        }
        From::Css { selector, attribute } => {
            format!("attribute {attribute} of CSS selector {selector}")
        }
        From::Xpath(path) => format!("XPath {path}"),
        From::QualifiedXpath(path) => format!("XPath {}", path.path),
        From::Header(name) => format!("header field {name}"),
        From::Cookie(name) => format!("cookie {name}"),
    }
}

/// Method and path of a request.
fn label(flow: &Flow) -> String {
    let path: String = flow.request.path.chars().take(80).collect();
    format!("{} {path}", flow.request.method)
}

fn use_text(flow: &Flow, place: &Place) -> String {
    format!("{}, {place}", label(flow))
}
