//! Extractors, compiled: what they find in a reply, and the variables that they set.

use crate::ScriptError;
use crate::replies::jmes::JmesPath;
use crate::texts::compiled::Texts;
use crate::texts::json::{CompiledPath, text};
use crate::texts::markup::{CssSelector, QualifiedPath, XPath};
use crate::texts::pattern::{GroupTemplate, Groups, Pattern};
use crate::texts::searched::Searched;
use crate::texts::tracing::{part_name, shown};
use crate::texts::variables::Variables;
use brunt_model::extract::{ExtractFrom, Extractor, QualifiedXpath, ReplyPart, SampleScope, Take};
use rand::{Rng, RngExt};
use serde_json::Value;

/// Matches that one extractor takes, at most.
const MOST_MATCHES: usize = 100_000;

/// An extractor.
#[derive(Debug)]
pub struct CompiledExtractor {
    variable: String,
    finder: Finder,
    part: ReplyPart,
    samples: SampleScope,
    take: Take,
    default: Option<String>,
    sets_more: bool,
}

#[derive(Debug)]
enum Finder {
    /// What is made of the groups of an expression.
    Regex(Pattern, GroupTemplate),
    JsonPath(CompiledPath),
    JmesPath(JmesPath),
    Css(CssSelector, String),
    Xpath(XPath),
    QualifiedXpath(QualifiedPath),
    Header(String),
    Cookie(String),
}

/// A match: its value, and the groups of an expression.
struct Match {
    value: String,
    groups: Groups,
    /// `null` of JSON, which JMeter takes for no match.
    is_null: bool,
}

impl From<String> for Match {
    fn from(value: String) -> Self {
        Self { value, groups: Vec::new(), is_null: false }
    }
}

impl CompiledExtractor {
    /// Compiles an extractor.
    ///
    /// # Errors
    ///
    /// What it looks for makes no sense.
    pub fn new(extractor: &Extractor) -> Result<Self, ScriptError> {
        let Extractor { variable, from, part, samples, take, sets_more, default } = extractor;
        let refuse = |why: String| ScriptError::Scenario(format!("extractor of `{variable}`: {why}"));
        if *take == Take::Number(0) {
            return Err(refuse("matches are numbered from 1; write 1 or above".into()));
        }
        Ok(Self {
            variable: variable.clone(),
            finder: Finder::new(from).map_err(refuse)?,
            part: part.clone(),
            samples: *samples,
            take: *take,
            default: default.clone(),
            sets_more: *sets_more,
        })
    }

    /// Sets its variables from a reply; how many matches it took.
    pub fn set<R: Rng + ?Sized>(&self, searched: &Searched<'_>, random: &mut R) -> usize {
        let found = self.finder.find(searched, (&self.part, self.samples), self.take, random);
        let mut variables = searched.user.variables.borrow_mut();
        match self.take {
            Take::All => self.set_all(&found, &mut variables),
            _ => self.set_one(&found, &mut variables),
        }
        if self.take == Take::All { found.count } else { usize::from(found.chosen.is_some()) }
    }

    fn set_one(&self, found: &Found, variables: &mut Variables) {
        let name = &self.variable;
        if self.sets_more {
            match &self.finder {
                Finder::Regex(..) => set_groups(name, found.chosen.as_ref(), variables),
                _ => variables.set(&format!("{name}_matchNr"), &found.count.to_string()),
            }
        }
        let chosen = found.chosen.as_ref();
        let known = chosen.filter(|found| !found.is_null).map(|found| &found.value);
        let value = known.or(self.default.as_ref()).or(chosen.map(|null| &null.value));
        if let Some(value) = value {
            variables.set(name, value);
        }
    }

    fn set_all(&self, found: &Found, variables: &mut Variables) {
        let name = &self.variable;
        let counter = format!("{name}_matchNr");
        let before: usize = variables.get(&counter).and_then(|count| count.parse().ok()).unwrap_or(0);
        variables.set(&counter, &found.all.len().to_string());
        let has_groups = self.sets_more && matches!(self.finder, Finder::Regex(..));
        for (number, found) in found.all.iter().enumerate() {
            let name = format!("{name}_{}", number + 1);
            variables.set(&name, &found.value);
            if has_groups {
                set_groups(&name, Some(found), variables);
            }
        }
        for number in found.all.len()..before.min(MOST_MATCHES) {
            let name = format!("{name}_{}", number + 1);
            variables.remove(&name);
            if has_groups {
                set_groups(&name, None, variables);
            }
        }
        // JMeter's extractors of JSON have the default only where nothing matches.
        let is_json = matches!(self.finder, Finder::JsonPath(_) | Finder::JmesPath(_));
        if found.all.is_empty() || !is_json {
            self.default.iter().for_each(|value| variables.set(name, value));
        }
    }
}

/// As JMeter's regular expression extractor: the groups of a match, and how many there are.
fn set_groups(name: &str, found: Option<&Match>, variables: &mut Variables) {
    let counter = format!("{name}_g");
    let before: usize = variables.get(&counter).and_then(|count| count.parse().ok()).unwrap_or(0);
    (0..=before.min(1000)).for_each(|group| variables.remove(&format!("{name}_g{group}")));
    variables.remove(&counter);
    let Some(Match { groups, .. }) = found.filter(|found| !found.groups.is_empty()) else { return };
    variables.set(&counter, &(groups.len() - 1).to_string());
    for (number, group) in groups.iter().enumerate() {
        variables.set(&format!("{name}_g{number}"), group.as_deref().unwrap_or_default());
    }
}

/// What was found.
struct Found {
    /// How many matches there are, where they were counted.
    count: usize,
    /// The one that is taken.
    chosen: Option<Match>,
    /// All, where all are taken.
    all: Vec<Match>,
}

impl Finder {
    fn new(from: &ExtractFrom) -> Result<Self, String> {
        Ok(match from {
            ExtractFrom::Regex { pattern, group, template } => {
                let regex = Pattern::new(pattern)?;
                let (group, groups) = (*group as usize, regex.groups());
                if group >= groups {
                    return Err(format!("`{pattern}` has no group {group}; write at most {}", groups - 1));
                }
                Self::Regex(regex, template.as_deref().map_or_else(|| GroupTemplate::group(group), GroupTemplate::new))
            }
            ExtractFrom::Boundary { left, right } => {
                let left = if left.is_empty() { r"\A".to_owned() } else { regex::escape(left) };
                let right = if right.is_empty() { r"\z".to_owned() } else { regex::escape(right) };
                Self::Regex(Pattern::new(&format!("{left}((?s:.)*?){right}"))?, GroupTemplate::group(1))
            }
            ExtractFrom::JsonPath(path) => Self::JsonPath(CompiledPath::new(path)?),
            ExtractFrom::JmesPath(path) => Self::JmesPath(JmesPath::parse(path)?),
            ExtractFrom::Css { selector, attribute } => Self::Css(CssSelector::parse(selector)?, attribute.clone()),
            ExtractFrom::Xpath(path) => Self::Xpath(XPath::parse(path)?),
            ExtractFrom::QualifiedXpath(path) => Self::QualifiedXpath(QualifiedPath::parse(path)?),
            ExtractFrom::Header(name) => Self::Header(name.clone()),
            ExtractFrom::Cookie(name) => Self::Cookie(name.clone()),
        })
    }

    fn find<R: Rng + ?Sized>(
        &self,
        searched: &Searched<'_>,
        (part, samples): (&ReplyPart, SampleScope),
        take: Take,
        random: &mut R,
    ) -> Found {
        match self {
            Self::Regex(pattern, template) => {
                let texts = searched.parts(part, samples);
                let most = match take {
                    Take::First => 1,
                    Take::Number(number) => number as usize,
                    Take::Last | Take::Random | Take::All => MOST_MATCHES,
                };
                let matches = texts.iter().flat_map(|text| pattern.find_all(text, most));
                choose(
                    matches.map(|groups| Match { value: template.text(&groups), groups, is_null: false }),
                    take,
                    random,
                )
            }
            Self::JsonPath(path) => {
                let found = |value: &Value| Match { is_null: value.is_null(), ..text(value).into() };
                let is_main = *part == ReplyPart::Body && samples.is_main();
                if let Some(steps) = path.steps().filter(|_| is_main) {
                    return choose(searched.json_at(steps).iter().map(|value| found(value)), take, random);
                }
                let texts = if is_main { Vec::new() } else { searched.parts(part, samples) };
                let others: Vec<Value> = texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
                let json = if is_main { searched.json() } else { None };
                choose(json.into_iter().chain(&others).flat_map(|json| path.all(json)).map(found), take, random)
            }
            Self::JmesPath(path) => {
                let other = || serde_json::from_str(&searched.part(part)).ok();
                let found = match part {
                    ReplyPart::Body => searched.json().map(|json| path.search(json)),
                    _ => other().map(|json: Value| path.search(&json)),
                };
                let all = match found {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(items)) => items,
                    Some(one) => vec![one],
                };
                // JMeter takes the only value, whatever its number.
                let take = if all.len() == 1 && take != Take::All { Take::First } else { take };
                choose(all.iter().map(|value| text(value).into()), take, random)
            }
            Self::Css(selector, attribute) => {
                let texts = searched.parts(part, samples);
                let values = texts.iter().flat_map(|text| selector.values(text, attribute));
                choose(values.map(Match::from), take, random)
            }
            Self::Xpath(path) => {
                let texts = searched.parts(part, samples);
                let values = texts.iter().flat_map(|text| path.values(text));
                choose(values.map(Match::from), take, random)
            }
            Self::QualifiedXpath(path) => {
                let texts = searched.parts(part, samples);
                let values = texts.iter().flat_map(|text| path.values(text));
                choose(values.map(Match::from), take, random)
            }
            Self::Header(name) => {
                let fields = searched.fields().iter().filter(|field| field.0.eq_ignore_ascii_case(name));
                choose(fields.map(|field| field.1.clone().into()), take, random)
            }
            Self::Cookie(name) => {
                let set = searched.fields().iter().filter(|field| field.0.eq_ignore_ascii_case("set-cookie"));
                let values = set.filter_map(|field| cookie(&field.1)).filter(|cookie| cookie.0 == name);
                choose(values.map(|cookie| cookie.1.to_owned().into()), take, random)
            }
        }
    }
}

fn choose<R: Rng + ?Sized>(matches: impl Iterator<Item = Match>, take: Take, random: &mut R) -> Found {
    let mut all: Vec<Match> = matches.collect();
    let count = all.len();
    let at = match take {
        Take::All => return Found { count, chosen: None, all },
        Take::First => Some(0),
        Take::Last => count.checked_sub(1),
        Take::Number(number) => (number as usize).checked_sub(1),
        Take::Random => (count > 0).then(|| random.random_range(0..count)),
    };
    let chosen = at.filter(|at| *at < count).map(|at| all.swap_remove(at));
    Found { count, chosen, all: Vec::new() }
}

/// Name and value of a Set-Cookie field (RFC 6265 section 5.2).
fn cookie(field: &str) -> Option<(&str, &str)> {
    let (name, value) = field.split(';').next()?.split_once('=')?;
    Some((name.trim(), value.trim()))
}

impl Texts for Extractor {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        let from = match &self.from {
            ExtractFrom::Regex { pattern, group, template } => ExtractFrom::Regex {
                pattern: fill(pattern),
                group: *group,
                template: template.as_deref().map(&mut *fill),
            },
            ExtractFrom::Boundary { left, right } => ExtractFrom::Boundary { left: fill(left), right: fill(right) },
            ExtractFrom::JsonPath(path) => ExtractFrom::JsonPath(fill(path)),
            ExtractFrom::JmesPath(path) => ExtractFrom::JmesPath(fill(path)),
            ExtractFrom::Css { selector, attribute } => {
                ExtractFrom::Css { selector: fill(selector), attribute: fill(attribute) }
            }
            ExtractFrom::Xpath(path) => ExtractFrom::Xpath(fill(path)),
            ExtractFrom::QualifiedXpath(path) => ExtractFrom::QualifiedXpath(path.map_texts(fill)),
            ExtractFrom::Header(name) => ExtractFrom::Header(fill(name)),
            ExtractFrom::Cookie(name) => ExtractFrom::Cookie(fill(name)),
        };
        Self {
            variable: fill(&self.variable),
            from,
            part: self.part.map_texts(fill),
            samples: self.samples,
            take: self.take,
            default: self.default.as_deref().map(fill),
            sets_more: self.sets_more,
        }
    }
}

/// What an extractor looks for, such as `json $.token`.
pub fn description_of(extractor: &Extractor) -> String {
    let from = match &extractor.from {
        ExtractFrom::Regex { pattern, .. } => format!("regex {pattern}"),
        ExtractFrom::Boundary { left, right } => format!("between `{left}` and `{right}`"),
        ExtractFrom::JsonPath(path) => format!("json {path}"),
        ExtractFrom::JmesPath(path) => format!("jmespath {path}"),
        ExtractFrom::Css { selector, attribute } if attribute.is_empty() => format!("css {selector}"),
        ExtractFrom::Css { selector, attribute } => format!("css {selector}, attribute {attribute}"),
        ExtractFrom::Xpath(path) | ExtractFrom::QualifiedXpath(QualifiedXpath { path, .. }) => format!("xpath {path}"),
        ExtractFrom::Header(name) => format!("header {name}"),
        ExtractFrom::Cookie(name) => format!("cookie {name}"),
    };
    let take = match extractor.take {
        Take::First => String::new(),
        Take::Last => ", last".into(),
        Take::Number(number) => format!(", match {number}"),
        Take::Random => ", any".into(),
        Take::All => ", all".into(),
    };
    let part = match &extractor.part {
        ReplyPart::Body => String::new(),
        part if extractor.from.searches() => format!(" in the {}", part_name(part)),
        _ => String::new(),
    };
    shown(&from) + &part + &take
}

#[cfg(test)]
mod tests;
