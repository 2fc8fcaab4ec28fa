//! Extractors of a reply policy, compiled: what they find in a reply.

use crate::ScriptError;
use brunt_model::extract::{ExtractFrom, Extractor, Take};
use brunt_wire::Reply;
use rand::{Rng, RngExt};
use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;
use std::cell::OnceCell;

/// An extractor whose variable has a number.
#[derive(Debug)]
pub struct CompiledExtractor {
    variable: usize,
    finder: Finder,
    take: Take,
    default: Option<String>,
}

/// A reply that extractors search; its body is parsed as JSON once, if at all.
pub struct SearchedReply<'a> {
    reply: &'a Reply,
    json: OnceCell<Option<Value>>,
}

impl<'a> SearchedReply<'a> {
    /// A reply that was not searched yet.
    pub fn new(reply: &'a Reply) -> Self {
        Self { reply, json: OnceCell::new() }
    }

    fn json(&self, body: &[u8]) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_slice(body).ok()).as_ref()
    }
}

#[derive(Debug)]
enum Finder {
    /// A group of an expression.
    Regex(Regex, usize),
    JsonPath(JsonPath),
    Header(String),
    Cookie(String),
}

impl CompiledExtractor {
    /// Compiles an extractor; `variable` is the number of its variable.
    pub fn new(extractor: &Extractor, variable: usize) -> Result<Self, ScriptError> {
        let Extractor { from, take, default, .. } = extractor;
        let refuse = |why: String| ScriptError::Scenario(format!("extractor of `{}`: {why}", extractor.variable));
        if *take == Take::Number(0) {
            return Err(refuse("matches are numbered from 1; write 1 or above".into()));
        }
        let finder = Finder::new(from).map_err(refuse)?;
        Ok(Self { variable, finder, take: *take, default: default.clone() })
    }

    /// Sets its variable from a reply; None: no whole reply came.
    pub fn set<R: Rng>(&self, reply: Option<&SearchedReply>, variables: &mut [String], random: &mut R) {
        let found = reply.and_then(|reply| self.finder.find(reply, self.take, random));
        if let Some(value) = found.or_else(|| self.default.clone()) {
            variables[self.variable] = value;
        }
    }
}

impl Finder {
    fn new(from: &ExtractFrom) -> Result<Self, String> {
        Ok(match from {
            ExtractFrom::Regex { pattern, group } => {
                let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
                let (group, groups) = (*group as usize, regex.captures_len());
                if group >= groups {
                    return Err(format!("`{pattern}` has no group {group}; write at most {}", groups - 1));
                }
                Self::Regex(regex, group)
            }
            ExtractFrom::Boundary { left, right } => {
                let left = if left.is_empty() { r"\A".to_owned() } else { regex::escape(left) };
                let right = if right.is_empty() { r"\z".to_owned() } else { regex::escape(right) };
                let regex = Regex::new(&format!("{left}((?s-u:.)*?){right}")).map_err(|error| error.to_string())?;
                Self::Regex(regex, 1)
            }
            ExtractFrom::JsonPath(path) => Self::JsonPath(JsonPath::parse(path).map_err(|error| error.to_string())?),
            ExtractFrom::Header(name) => Self::Header(name.clone()),
            ExtractFrom::Cookie(name) => Self::Cookie(name.clone()),
        })
    }

    fn find<R: Rng>(&self, searched: &SearchedReply, take: Take, random: &mut R) -> Option<String> {
        let kept = searched.reply.kept.as_ref()?;
        let fields = || kept.head.iter().flat_map(|head| &head.1);
        match self {
            Self::Regex(regex, group) => {
                let groups = regex.captures_iter(&kept.body).filter_map(|found| found.get(*group));
                pick(groups, take, random).map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned())
            }
            Self::JsonPath(path) => {
                let json = searched.json(&kept.body)?;
                pick(path.query(json).into_iter(), take, random).map(text)
            }
            Self::Header(name) => {
                let values = fields().filter(|field| field.0.eq_ignore_ascii_case(name)).map(|field| &field.1);
                pick(values, take, random).cloned()
            }
            Self::Cookie(name) => {
                let set = fields().filter(|field| field.0.eq_ignore_ascii_case("set-cookie"));
                let values = set.filter_map(|field| cookie(&field.1)).filter(|cookie| cookie.0 == name);
                pick(values, take, random).map(|cookie| cookie.1.to_owned())
            }
        }
    }
}

fn pick<T, R: Rng>(mut matches: impl Iterator<Item = T>, take: Take, random: &mut R) -> Option<T> {
    match take {
        Take::First => matches.next(),
        Take::Last => matches.last(),
        Take::Number(number) => matches.nth((number as usize).checked_sub(1)?),
        Take::Random => {
            let mut all: Vec<T> = matches.collect();
            (!all.is_empty()).then(|| all.swap_remove(random.random_range(0..all.len())))
        }
    }
}

/// Name and value of a Set-Cookie field (RFC 6265 section 5.2).
fn cookie(field: &str) -> Option<(&str, &str)> {
    let (name, value) = field.split(';').next()?.split_once('=')?;
    Some((name.trim(), value.trim()))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_wire::Kept;
    use brunt_wire::h1::parse::{Framing, Head};
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    const BODY: &str = r#"<input name="csrf" value="a1"> <input name="csrf" value="b2">"#;
    const JSON: &str = r#"{"items": [{"id": 7, "name": "x"}, {"id": 8, "name": "y z"}], "ok": true}"#;

    fn reply(body: &str) -> Reply {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = vec![
            field("Location", "/next"),
            field("Set-Cookie", "sid=one; Path=/"),
            field("set-cookie", "other=2"),
            field("set-cookie", "sid=two; HttpOnly"),
        ];
        let head =
            Head { status: 200, version_minor: 1, framing: Framing::None, keep_alive: true, length: 0, encoded: false };
        let kept = Kept { body: body.into(), head: Some((head, fields)), ..Kept::default() };
        Reply { status: 200, kept: Some(Box::new(kept)), ..Reply::default() }
    }

    /// What a variable that was `old` becomes.
    fn found(body: &str, from: ExtractFrom, take: Take, default: Option<&str>) -> String {
        let extractor = Extractor { variable: "v".into(), from, take, default: default.map(str::to_owned) };
        let compiled = CompiledExtractor::new(&extractor, 0).unwrap();
        let mut variables = ["old".to_owned()];
        compiled.set(Some(&SearchedReply::new(&reply(body))), &mut variables, &mut Pcg64Mcg::seed_from_u64(1));
        let [value] = variables;
        value
    }

    #[test]
    fn each_kind_finds_its_matches() {
        let regex = |group| ExtractFrom::Regex { pattern: r#"value="(\w)(\d)""#.into(), group };
        let between = |left: &str, right: &str| ExtractFrom::Boundary { left: left.into(), right: right.into() };
        let path = |path: &str| ExtractFrom::JsonPath(path.into());
        let (header, cookie) = (ExtractFrom::Header("location".into()), ExtractFrom::Cookie("sid".into()));
        for (body, from, take, expected) in [
            (BODY, regex(1), Take::First, "a"),
            (BODY, regex(0), Take::Last, "value=\"b2\""),
            (BODY, regex(2), Take::Number(2), "2"),
            (BODY, regex(2), Take::Number(3), "old"),
            (BODY, between("value=\"", "\""), Take::First, "a1"),
            (BODY, between("value=\"", "\""), Take::Last, "b2"),
            ("a+b\nc", between("+", ""), Take::First, "b\nc"),
            ("a+b\nc", between("", "+"), Take::First, "a"),
            (BODY, between("(", ")"), Take::First, "old"),
            (JSON, path("$.items[*].id"), Take::Last, "8"),
            (JSON, path("$.items[?@.id == 8].name"), Take::First, "y z"),
            (JSON, path("$.ok"), Take::First, "true"),
            (JSON, path("$.items[0]"), Take::First, r#"{"id":7,"name":"x"}"#),
            (BODY, path("$.ok"), Take::First, "old"),
            ("", header, Take::First, "/next"),
            ("", cookie.clone(), Take::First, "one"),
            ("", cookie, Take::Last, "two"),
        ] {
            assert_eq!(found(body, from.clone(), take, None), expected, "{from:?} {take:?}");
        }
    }

    #[test]
    fn what_is_not_found_becomes_the_default() {
        let from = || ExtractFrom::Header("x-none".into());
        assert_eq!(found("", from(), Take::Random, Some("none")), "none");
        assert_eq!(found("", from(), Take::Random, None), "old");
        let one_of = found(BODY, ExtractFrom::Regex { pattern: r"[ab]\d".into(), group: 0 }, Take::Random, None);
        assert!(["a1", "b2"].contains(&&*one_of), "{one_of}");
    }

    #[test]
    fn extractors_that_make_no_sense_are_refused() {
        let refused = |from, take| {
            let extractor = Extractor { variable: "v".into(), from, take, default: None };
            CompiledExtractor::new(&extractor, 0).unwrap_err().to_string()
        };
        let regex = |group| ExtractFrom::Regex { pattern: "(a)".into(), group };
        assert_eq!(refused(regex(2), Take::First), "extractor of `v`: `(a)` has no group 2; write at most 1");
        assert!(refused(regex(1), Take::Number(0)).ends_with("numbered from 1; write 1 or above"));
        assert!(refused(ExtractFrom::JsonPath("items".into()), Take::First).starts_with("extractor of `v`: "));
    }
}
