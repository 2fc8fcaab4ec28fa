//! Compiles extractors, finds their matches in a reply, and sets their variables.

use crate::ScriptError;
use crate::replies::jmes::JmesPath;
use crate::texts::compiled::Texts;
use crate::texts::json::{CompiledPath, text};
use crate::texts::markup::{CssSelector, QualifiedPath, XPath};
use crate::texts::pattern::{GroupTemplate, Groups, Pattern};
use crate::texts::reply_view::ReplyView;
use crate::texts::tracing::{part_name, shown};
use crate::texts::variables::Variables;
use brunt_model::extract::{
    ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart, SampleScope,
};
use rand::{Rng, RngExt};
use serde_json::Value;

/// Maximum number of matches that one extractor takes.
const MAX_MATCHES: usize = 100_000;

/// An extractor with a compiled expression or path.
#[derive(Debug)]
pub struct CompiledExtractor {
    variable: String,
    finder: Finder,
    part: ReplyPart,
    samples: SampleScope,
    take: MatchChoice,
    default: Option<String>,
    sets_more: bool,
}

#[derive(Debug)]
pub(super) enum Finder {
    /// An expression, and the text that is made of its groups.
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
    /// True for `null` of JSON, which JMeter treats as no match.
    is_null: bool,
}

impl From<String> for Match {
    fn from(value: String) -> Self {
        Self { value, groups: Vec::new(), is_null: false }
    }
}

impl Match {
    fn from_json(value: &Value) -> Self {
        Self { is_null: value.is_null(), ..text(value).into() }
    }
}

fn extractor_error(variable: &str, why: &str) -> ScriptError {
    ScriptError::Scenario(format!("extractor of `{variable}`: {why}"))
}

impl CompiledExtractor {
    /// Compiles the expression or path of an extractor.
    ///
    /// # Errors
    ///
    /// The expression or path is malformed.
    pub fn new(extractor: &Extractor) -> Result<Self, ScriptError> {
        let Extractor { variable, from, part, samples, take, sets_more, default } = extractor;
        if *take == MatchChoice::Number(0) {
            return Err(extractor_error(variable, "matches are numbered from 1; write 1 or above"));
        }
        Ok(Self {
            variable: variable.clone(),
            finder: Finder::new(from).map_err(|why| extractor_error(variable, &why))?,
            part: part.clone(),
            samples: *samples,
            take: *take,
            default: default.clone(),
            sets_more: *sets_more,
        })
    }

    /// Sets its variables from a reply. Returns the number of matches that it took.
    pub fn set<R: Rng + ?Sized>(&self, reply_view: &ReplyView<'_>, random: &mut R) -> usize {
        let matches = self.finder.find(reply_view, &self.part, self.samples, self.take, random);
        let mut variables = reply_view.user.variables.borrow_mut();
        match self.take {
            MatchChoice::All => self.set_all(&matches, &mut variables),
            _ => self.set_one(&matches, &mut variables),
        }
        if self.take == MatchChoice::All {
            matches.count
        } else {
            usize::from(matches.chosen.is_some())
        }
    }

    fn set_one(&self, matches: &Matches, variables: &mut Variables) {
        let name = &self.variable;
        if self.sets_more {
            match &self.finder {
                Finder::Regex(..) => set_groups(name, matches.chosen.as_ref(), variables),
                _ => variables.set(&format!("{name}_matchNr"), &matches.count.to_string()),
            }
        }
        let chosen = matches.chosen.as_ref();
        let nonnull = chosen.filter(|one| !one.is_null).map(|one| &one.value);
        let value = nonnull.or(self.default.as_ref()).or(chosen.map(|null| &null.value));
        if let Some(value) = value {
            variables.set(name, value);
        }
    }

    fn set_all(&self, matches: &Matches, variables: &mut Variables) {
        let name = &self.variable;
        let counter = format!("{name}_matchNr");
        let before: usize =
            variables.get(&counter).and_then(|count| count.parse().ok()).unwrap_or(0);
        variables.set(&counter, &matches.all.len().to_string());
        let has_groups = self.sets_more && matches!(self.finder, Finder::Regex(..));
        for (number, one) in matches.all.iter().enumerate() {
            let name = format!("{name}_{}", number + 1);
            variables.set(&name, &one.value);
            if has_groups {
                set_groups(&name, Some(one), variables);
            }
        }
        // Removes the variables of further matches in an earlier reply.
        for number in matches.all.len()..before.min(MAX_MATCHES) {
            let name = format!("{name}_{}", number + 1);
            variables.remove(&name);
            if has_groups {
                set_groups(&name, None, variables);
            }
        }
        // JMeter's JSON extractors use the default only if nothing matches.
        let is_json = matches!(self.finder, Finder::JsonPath(_) | Finder::JmesPath(_));
        if matches.all.is_empty() || !is_json {
            self.default.iter().for_each(|value| variables.set(name, value));
        }
    }
}

/// Sets the groups of a match and their number, as JMeter's regular expression extractor does.
/// Removes those of the previous match.
fn set_groups(name: &str, found_match: Option<&Match>, variables: &mut Variables) {
    let counter = format!("{name}_g");
    let before: usize = variables.get(&counter).and_then(|count| count.parse().ok()).unwrap_or(0);
    (0..=before.min(1000)).for_each(|group| variables.remove(&format!("{name}_g{group}")));
    variables.remove(&counter);
    let Some(Match { groups, .. }) = found_match.filter(|one| !one.groups.is_empty()) else {
        return;
    };
    variables.set(&counter, &(groups.len() - 1).to_string());
    for (number, group) in groups.iter().enumerate() {
        variables.set(&format!("{name}_g{number}"), group.as_deref().unwrap_or_default());
    }
}

/// The matches of an extractor in a reply.
struct Matches {
    /// Number of matches, if they were counted.
    count: usize,
    /// The match that is taken.
    chosen: Option<Match>,
    /// All matches, if all are taken.
    all: Vec<Match>,
}

impl Finder {
    pub(super) fn new(from: &ExtractFrom) -> Result<Self, String> {
        Ok(match from {
            ExtractFrom::Regex { pattern, group, template } => {
                let regex = Pattern::new(pattern)?;
                let group = *group as usize;
                let groups = regex.groups();
                if group >= groups {
                    return Err(format!(
                        "`{pattern}` has no group {group}; write at most {}",
                        groups - 1
                    ));
                }
                Self::Regex(
                    regex,
                    template
                        .as_deref()
                        .map_or_else(|| GroupTemplate::group(group), GroupTemplate::new),
                )
            }
            ExtractFrom::Boundary { left, right } => {
                // An empty boundary is the begin or the end of the text.
                let left = if left.is_empty() { r"\A".to_owned() } else { regex::escape(left) };
                let right = if right.is_empty() { r"\z".to_owned() } else { regex::escape(right) };
                Self::Regex(
                    Pattern::new(&format!("{left}((?s:.)*?){right}"))?,
                    GroupTemplate::group(1),
                )
            }
            ExtractFrom::JsonPath(path) => Self::JsonPath(CompiledPath::new(path)?),
            ExtractFrom::JmesPath(path) => Self::JmesPath(JmesPath::parse(path)?),
            ExtractFrom::Css { selector, attribute } => {
                Self::Css(CssSelector::parse(selector)?, attribute.clone())
            }
            ExtractFrom::Xpath(path) => Self::Xpath(XPath::parse(path)?),
            ExtractFrom::QualifiedXpath(path) => Self::QualifiedXpath(QualifiedPath::parse(path)?),
            ExtractFrom::Header(name) => Self::Header(name.clone()),
            ExtractFrom::Cookie(name) => Self::Cookie(name.clone()),
        })
    }

    /// Returns all values in a body; none if it searches other parts of a reply.
    pub(super) fn values(&self, body: &str) -> Vec<String> {
        match self {
            Self::Regex(pattern, template) => {
                let matches = pattern.find_all(body, MAX_MATCHES);
                matches.iter().map(|groups| template.text(groups)).collect()
            }
            Self::JsonPath(path) => {
                let json: Option<Value> = serde_json::from_str(body).ok();
                json.iter().flat_map(|json| path.all(json)).map(text).collect()
            }
            Self::Css(selector, attribute) => selector.values(body, attribute),
            Self::Xpath(path) => path.values(body),
            Self::QualifiedXpath(path) => path.values(body),
            Self::JmesPath(_) | Self::Header(_) | Self::Cookie(_) => Vec::new(),
        }
    }

    fn find<R: Rng + ?Sized>(
        &self,
        reply_view: &ReplyView<'_>,
        part: &ReplyPart,
        samples: SampleScope,
        take: MatchChoice,
        random: &mut R,
    ) -> Matches {
        match self {
            Self::Regex(pattern, template) => {
                let texts = reply_view.parts(part, samples);
                let most = match take {
                    MatchChoice::First => 1,
                    MatchChoice::Number(number) => number as usize,
                    MatchChoice::Last | MatchChoice::Random | MatchChoice::All => MAX_MATCHES,
                };
                let matches = texts.iter().flat_map(|text| pattern.find_all(text, most));
                choose(
                    matches.map(|groups| Match {
                        value: template.text(&groups),
                        groups,
                        is_null: false,
                    }),
                    take,
                    random,
                )
            }
            Self::JsonPath(path) => {
                let is_main = *part == ReplyPart::Body && samples.is_main();
                // Such a path is followed through the text, without a tree; see `json`.
                if let Some(steps) = path.steps().filter(|_| is_main) {
                    return choose(
                        reply_view.json_at(steps).iter().map(|value| Match::from_json(value)),
                        take,
                        random,
                    );
                }
                let texts = if is_main { Vec::new() } else { reply_view.parts(part, samples) };
                let others: Vec<Value> =
                    texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
                let json = if is_main { reply_view.json() } else { None };
                choose(
                    json.into_iter()
                        .chain(&others)
                        .flat_map(|json| path.all(json))
                        .map(Match::from_json),
                    take,
                    random,
                )
            }
            Self::JmesPath(path) => {
                let value = match part {
                    ReplyPart::Body => reply_view.json().map(|json| path.search(json)),
                    _ => serde_json::from_str(&reply_view.part(part))
                        .ok()
                        .map(|json: Value| path.search(&json)),
                };
                let all = match value {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(items)) => items,
                    Some(one) => vec![one],
                };
                // JMeter takes the only value, whatever its number.
                let take = if all.len() == 1 && take != MatchChoice::All {
                    MatchChoice::First
                } else {
                    take
                };
                choose(all.iter().map(|value| text(value).into()), take, random)
            }
            Self::Css(selector, attribute) => {
                let texts = reply_view.parts(part, samples);
                let values = texts.iter().flat_map(|text| selector.values(text, attribute));
                choose(values.map(Match::from), take, random)
            }
            Self::Xpath(path) => {
                let texts = reply_view.parts(part, samples);
                let values = texts.iter().flat_map(|text| path.values(text));
                choose(values.map(Match::from), take, random)
            }
            Self::QualifiedXpath(path) => {
                let texts = reply_view.parts(part, samples);
                let values = texts.iter().flat_map(|text| path.values(text));
                choose(values.map(Match::from), take, random)
            }
            Self::Header(name) => {
                let fields =
                    reply_view.fields().iter().filter(|field| field.0.eq_ignore_ascii_case(name));
                choose(fields.map(|field| field.1.clone().into()), take, random)
            }
            Self::Cookie(name) => {
                let set = reply_view
                    .fields()
                    .iter()
                    .filter(|field| field.0.eq_ignore_ascii_case("set-cookie"));
                let values =
                    set.filter_map(|field| cookie(&field.1)).filter(|cookie| cookie.0 == name);
                choose(values.map(|cookie| cookie.1.to_owned().into()), take, random)
            }
        }
    }
}

fn choose<R: Rng + ?Sized>(
    matches: impl Iterator<Item = Match>,
    take: MatchChoice,
    random: &mut R,
) -> Matches {
    let mut all: Vec<Match> = matches.collect();
    let count = all.len();
    let index = match take {
        MatchChoice::All => return Matches { count, chosen: None, all },
        MatchChoice::First => Some(0),
        MatchChoice::Last => count.checked_sub(1),
        MatchChoice::Number(number) => (number as usize).checked_sub(1),
        MatchChoice::Random => (count > 0).then(|| random.random_range(0..count)),
    };
    let chosen = index.filter(|index| *index < count).map(|index| all.swap_remove(index));
    Matches { count, chosen, all: Vec::new() }
}

/// Parses name and value of a Set-Cookie field (RFC 6265 section 5.2).
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
            ExtractFrom::Boundary { left, right } => {
                ExtractFrom::Boundary { left: fill(left), right: fill(right) }
            }
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

/// Describes the search of an extractor, such as `json $.token`.
pub fn description_of(extractor: &Extractor) -> String {
    let from = match &extractor.from {
        ExtractFrom::Regex { pattern, .. } => format!("regex {pattern}"),
        ExtractFrom::Boundary { left, right } => format!("between `{left}` and `{right}`"),
        ExtractFrom::JsonPath(path) => format!("json {path}"),
        ExtractFrom::JmesPath(path) => format!("jmespath {path}"),
        ExtractFrom::Css { selector, attribute } if attribute.is_empty() => {
            format!("css {selector}")
        }
        ExtractFrom::Css { selector, attribute } => {
            format!("css {selector}, attribute {attribute}")
        }
        ExtractFrom::Xpath(path) | ExtractFrom::QualifiedXpath(QualifiedXpath { path, .. }) => {
            format!("xpath {path}")
        }
        ExtractFrom::Header(name) => format!("header {name}"),
        ExtractFrom::Cookie(name) => format!("cookie {name}"),
    };
    let take = match extractor.take {
        MatchChoice::First => String::new(),
        MatchChoice::Last => ", last".into(),
        MatchChoice::Number(number) => format!(", match {number}"),
        MatchChoice::Random => ", any".into(),
        MatchChoice::All => ", all".into(),
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
