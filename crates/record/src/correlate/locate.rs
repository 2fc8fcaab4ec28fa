//! Finds extractors that yield a value from a reply in both recordings.

mod context;
mod json;
mod markup;

use super::tokens::WordIndex;
use brunt_har::recording::{Flow, Reply};
use brunt_model::extract::{ExtractFrom, Extractor, MatchChoice, ReplyPart};
use brunt_script::proposals::values;
use brunt_script::unescaped;
use std::collections::HashSet;
use url::Position;

/// Maximum length of a body that is searched, in bytes.
const MAX_BODY_BYTES: usize = 8 << 20;

/// Header fields without values for later requests.
const CONNECTION_FIELDS: [&str; 8] = [
    "date",
    "set-cookie",
    "content-length",
    "content-type",
    "last-modified",
    "expires",
    "age",
    "server",
];

/// The same value in two recordings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ValuePair {
    pub(super) first: String,
    pub(super) second: String,
}

impl ValuePair {
    fn map(&self, encode: impl Fn(&str) -> String) -> Self {
        Self { first: encode(&self.first), second: encode(&self.second) }
    }
}

/// An extractor that yields the value in both recordings.
#[derive(Debug, Clone)]
pub(super) struct Located {
    pub(super) from: ExtractFrom,
    pub(super) part: ReplyPart,
    pub(super) take: MatchChoice,
    /// Rank by robustness; 0 is the best.
    pub(super) rank: u8,
    /// Name in the reply: a key, an attribute, a header field; empty if there is none.
    pub(super) name: String,
    /// Number of different values that it finds.
    pub(super) matches: usize,
    /// Function that decodes the extracted text.
    pub(super) decoder: Option<&'static str>,
}

impl Located {
    /// The extractor that sets this variable.
    pub(super) fn extractor(&self, variable: &str) -> Extractor {
        let mut extractor = Extractor::new(variable, self.from.clone());
        extractor.part = self.part.clone();
        extractor.take = self.take;
        extractor
    }

    fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}

/// The words of a reply: of its body, header fields and URL.
pub(super) fn words(flow: &Flow) -> WordIndex {
    let body = unescaped(body(&flow.reply));
    let fields = flow.reply.headers.iter().map(|(_, value)| value.as_str());
    let url = flow.redirected.as_ref().map(url::Url::as_str);
    WordIndex::new(fields.chain(url).chain([&*body]))
}

/// The replies of a request in both recordings.
#[derive(Clone, Copy)]
pub(super) struct ReplyPair<'r> {
    pub(super) first: &'r Flow,
    pub(super) second: &'r Flow,
}

impl ReplyPair<'_> {
    /// Returns the best extractor of a value; None if a reply does not have it at the same place.
    pub(super) fn locate(&self, value: &ValuePair) -> Option<Located> {
        self.all(value).into_iter().min_by_key(|one| (one.matches > 1, one.rank))
    }

    fn all(&self, value: &ValuePair) -> Vec<Located> {
        let mut all = self.in_headers(value);
        all.extend(self.in_url(value));
        let [first, second] = [&self.first.reply, &self.second.reply].map(body);
        if first.is_empty() || second.is_empty() {
            return all;
        }
        let plain = occurs(first, &value.first) && occurs(second, &value.second);
        all.extend(json::paths(first, second, value));
        let has_markup = first.contains('<') && second.contains('<');
        let [unescaped_first, unescaped_second] = [first, second].map(unescaped);
        let escaped =
            occurs(&unescaped_first, &value.first) && occurs(&unescaped_second, &value.second);
        if has_markup && escaped {
            let proposals = markup::selectors(first, &value.first).into_iter();
            all.extend(proposals.filter_map(|(from, name)| {
                Some(Located { name, ..verified(from, ReplyPart::Body, [first, second], value)? })
            }));
        }
        if plain {
            all.extend(context::expression(first, second, value, &ReplyPart::Body));
        } else if has_markup && escaped {
            let texts = [&*unescaped_first, &*unescaped_second];
            all.extend(context::expression(texts[0], texts[1], value, &ReplyPart::UnescapedBody));
        }
        // A decoder makes the plan harder to read.
        if all.is_empty() {
            all.extend(encoded(first, second, value));
        }
        all
    }

    fn in_headers(&self, value: &ValuePair) -> Vec<Located> {
        let mut all = Vec::new();
        let [first, second] = [&self.first.reply, &self.second.reply];
        let mut names = HashSet::new();
        for (name, text) in &first.headers {
            let lower = name.to_ascii_lowercase();
            if lower == "set-cookie" {
                let cookie = text.split(['=', ';']).next().unwrap_or_default().trim();
                let matches_both = cookie_value(first, cookie) == Some(value.first.as_str())
                    && cookie_value(second, cookie) == Some(value.second.as_str());
                if matches_both {
                    let from = ExtractFrom::Cookie(cookie.to_owned());
                    all.push(located(from, ReplyPart::Body).rank(4).named(cookie));
                }
            }
            if CONNECTION_FIELDS.contains(&lower.as_str()) || !names.insert(lower.clone()) {
                continue;
            }
            let other = second.header(name);
            if *text == value.first && other == value.second {
                let from = ExtractFrom::Header(name.clone());
                all.push(located(from, ReplyPart::Body).rank(1).named(name));
            } else if let Some(found) = context::in_header(name, text, other, value) {
                all.push(found.rank(5).named(name));
            }
        }
        all
    }

    /// An extractor from the URL to which redirects led.
    fn in_url(&self, value: &ValuePair) -> Option<Located> {
        let first = self.first.redirected.as_ref()?;
        let second = self.second.redirected.as_ref()?;
        // Host and port differ if the plan measures another server.
        let [first_path, second_path] = [first, second].map(|url| &url[Position::BeforePath..]);
        let path = context::expression(first_path, second_path, value, &ReplyPart::Url)?;
        let texts = [first.as_str(), second.as_str()];
        let extractor = verified(path.from, ReplyPart::Url, texts, value)?;
        Some(extractor.rank(2).named(&path.name))
    }
}

impl Located {
    fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }
}

fn located(from: ExtractFrom, part: ReplyPart) -> Located {
    Located {
        from,
        part,
        take: MatchChoice::First,
        rank: 3,
        name: String::new(),
        matches: 1,
        decoder: None,
    }
}

/// Returns the extractor if the match with the same number is the value in both texts.
fn verified(
    from: ExtractFrom,
    part: ReplyPart,
    texts: [&str; 2],
    value: &ValuePair,
) -> Option<Located> {
    let first = values(&from, texts[0]);
    let second = values(&from, texts[1]);
    let position =
        first.iter().zip(&second).position(|(a, b)| *a == value.first && *b == value.second)?;
    let mut extractor = located(from, part);
    if position > 0 {
        extractor.take = MatchChoice::Number(position as u32 + 1);
    }
    let [first, second] = [first, second].map(|all| all.into_iter().collect::<HashSet<_>>().len());
    extractor.matches = first.max(second);
    Some(extractor)
}

/// Encodes a value as a reply may contain it.
type Encoding = fn(&str) -> String;

/// Finds a value that the reply contains in an encoded form.
fn encoded(first: &str, second: &str, value: &ValuePair) -> Option<Located> {
    let forms: [(&'static str, Encoding); 5] = [
        ("urldecode", |text| brunt_script::template::form_encoded(text)),
        ("urldecode", percent_encoded),
        ("urldecode", |text| percent_encoded(text).replace("%2F", "/")),
        ("unescape", |text| json_escaped(text)),
        ("unescape", |text| json_escaped(text).replace('/', "\\/")),
    ];
    forms.into_iter().find_map(|(decoder, encode)| {
        let encoded = value.map(encode);
        if encoded == *value {
            return None;
        }
        let extractor = context::expression(first, second, &encoded, &ReplyPart::Body)?;
        Some(Located { decoder: Some(decoder), ..extractor.rank(7) })
    })
}

fn percent_encoded(text: &str) -> String {
    const RESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    percent_encoding::utf8_percent_encode(text, RESERVED).to_string()
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// True if a text contains a value that is not part of a longer word.
pub(super) fn occurs(text: &str, value: &str) -> bool {
    occurrences(text, value).next().is_some()
}

/// Positions of a value in a text, except within longer words.
fn occurrences<'t>(text: &'t str, value: &'t str) -> impl Iterator<Item = usize> + 't {
    let begins_word = value.starts_with(|c: char| c.is_alphanumeric());
    let ends_word = value.ends_with(|c: char| c.is_alphanumeric());
    let places = (!value.is_empty()).then(|| text.match_indices(value)).into_iter().flatten();
    places.map(|(position, _)| position).filter(move |position| {
        let before = text[..*position].chars().next_back();
        let after = text[position + value.len()..].chars().next();
        let extends_before = begins_word && before.is_some_and(char::is_alphanumeric);
        let extends_after = ends_word && after.is_some_and(char::is_alphanumeric);
        !extends_before && !extends_after
    })
}

fn body(reply: &Reply) -> &str {
    if reply.body.len() > MAX_BODY_BYTES { "" } else { &reply.body }
}

fn cookie_value<'r>(reply: &'r Reply, cookie: &str) -> Option<&'r str> {
    let fields = reply.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    fields
        .filter_map(|(_, field)| field.split(';').next()?.split_once('='))
        .find_map(|(name, value)| (name.trim() == cookie).then_some(value.trim()))
}
