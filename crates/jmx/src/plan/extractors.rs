//! Post-processors as what a user does with a reply.

use super::json_paths::translated_filters;
use super::patterns::{error_of, translated};
use super::texts::{number_of, wrong_at};
use super::{Reader, Scope};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use brunt_model::ReplyPolicy;
use brunt_model::extract::{ExtractFrom, Extractor, QualifiedXpath, ReplyPart, SampleScope, Take};
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::Scope as Over;
use brunt_script::template::call_of;

/// Properties with the number of the match that is taken.
const NUMBERS: [&str; 7] = [
    "RegexExtractor.match_number",
    "BoundaryExtractor.match_number",
    "HtmlExtractor.match_number",
    "XPathExtractor.matchNumber",
    "XPathExtractor2.matchNumber",
    "JMESExtractor.matchNumber",
    "JSONPostProcessor.match_numbers",
];

/// Properties that name what is searched where it is a variable.
const SCOPE: [&str; 2] = ["Sample.scope", "Scope.variable"];

impl Reader<'_> {
    /// The policy with what is in scope of a sampler: post-processors, then assertions.
    ///
    /// # Errors
    ///
    /// One of them makes no sense.
    pub(super) fn reactions(&mut self, scope: &Scope<'_>, mut policy: ReplyPolicy) -> Result<ReplyPolicy, JmxError> {
        if self.reads_previous {
            policy.actions.push(ReplyAction::Keep);
        }
        for element in &scope.behind {
            let known = policy.actions.len();
            self.post_processor(*element, &mut policy)?;
            let added = policy.actions.split_off(known);
            policy.actions.extend(added.into_iter().filter_map(|action| self.sensible(*element, action)));
        }
        for element in &scope.listeners {
            policy.actions.extend(self.script(*element, "script")?.script().map(ReplyAction::Script));
        }
        for element in &scope.assertions {
            let Some(assertion) = self.assertion(*element)? else { continue };
            match brunt_script::check::assertion(&assertion) {
                Ok(()) => policy.assertions.push(assertion),
                Err(error) if self.surroundings.lenient => {
                    self.notice(format!("{}: left out, {error}", element.place()));
                }
                Err(error) => return Err(wrong_at(*element, &error.to_string())),
            }
        }
        Ok(policy)
    }

    /// An extractor that can be read. Of another one JMeter says so in its log, and gives the variable its default.
    fn sensible(&mut self, element: TestElement<'_>, action: ReplyAction) -> Option<ReplyAction> {
        let is_regex = element.kind() == Some(ElementKind::RegexExtractor);
        let wrong = is_regex.then(|| error_of(&self.text(element, "RegexExtractor.regex"))).flatten();
        let checked = brunt_script::check::action(&action).map_err(|error| error.to_string());
        let Err(error) = wrong.map_or(checked, |wrong| Err(wrong.to_owned())) else { return Some(action) };
        self.notice(format!("{}: it never matches, {error}", element.place()));
        match action {
            ReplyAction::Extract(Extractor { variable, default: Some(value), .. }) => {
                Some(ReplyAction::Set { variable, value })
            }
            _ => None,
        }
    }

    /// Says where the number of a match is a variable that users set.
    fn tell_unknown_number(&mut self, element: TestElement<'_>) {
        for name in NUMBERS {
            let filled = self.filled(element, name);
            if filled.contains("${") {
                let told = format!("match number `{filled}` is known in the run alone; the first match is taken");
                self.notice(format!("{}: {told}", element.place()));
            }
        }
    }

    fn post_processor(&mut self, element: TestElement<'_>, policy: &mut ReplyPolicy) -> Result<(), JmxError> {
        self.tell_unknown_number(element);
        let actions = &mut policy.actions;
        match element.kind() {
            Some(ElementKind::RegexExtractor) => {
                let template = self.text(element, "RegexExtractor.template");
                let from = ExtractFrom::Regex {
                    pattern: translated(&self.text(element, "RegexExtractor.regex")),
                    group: 0,
                    template: Some(if template.is_empty() { "$1$".to_owned() } else { template }),
                };
                let part = self.searched(element, &self.filled(element, "RegexExtractor.useHeaders"));
                actions.push(self.extractor(element, "RegexExtractor", from, part)?);
            }
            Some(ElementKind::BoundaryExtractor) => {
                let from = ExtractFrom::Boundary {
                    left: self.text(element, "BoundaryExtractor.lboundary"),
                    right: self.text(element, "BoundaryExtractor.rboundary"),
                };
                let part = self.searched(element, &self.filled(element, "BoundaryExtractor.useHeaders"));
                actions.push(self.extractor(element, "BoundaryExtractor", from, part)?);
            }
            Some(ElementKind::HtmlExtractor) => {
                let from = ExtractFrom::Css {
                    selector: self.text(element, "HtmlExtractor.expr"),
                    attribute: self.text(element, "HtmlExtractor.attribute"),
                };
                let part = self.searched(element, "");
                actions.push(self.extractor(element, "HtmlExtractor", from, part)?);
            }
            Some(ElementKind::XpathExtractor | ElementKind::Xpath2Extractor) => {
                let prefix = if element.kind() == Some(ElementKind::XpathExtractor) {
                    "XPathExtractor"
                } else {
                    "XPathExtractor2"
                };
                let path = format!("{prefix}.xpathQuery");
                let from = if element.kind() == Some(ElementKind::XpathExtractor) {
                    ExtractFrom::Xpath(self.text(element, &path))
                } else {
                    ExtractFrom::QualifiedXpath(self.qualified_path(element, &path, &format!("{prefix}.namespaces")))
                };
                let part = self.searched(element, "");
                let number = self.filled(element, &format!("{prefix}.matchNumber"));
                let extractor = Extractor {
                    variable: self.filled(element, &format!("{prefix}.refname")),
                    from,
                    part,
                    samples: self.samples(element),
                    take: take(element, &number, -1)?,
                    sets_more: true,
                    default: Some(self.text(element, &format!("{prefix}.default"))),
                };
                let is_all = extractor.take == Take::All;
                actions.push(ReplyAction::Extract(extractor.clone()));
                if is_all {
                    // The variable itself gets the first of them.
                    let first = Extractor { take: Take::First, sets_more: false, ..extractor };
                    actions.push(ReplyAction::Extract(first));
                }
            }
            Some(ElementKind::JmesPathExtractor) => {
                let number = self.filled(element, "JMESExtractor.matchNumber");
                actions.push(ReplyAction::Extract(Extractor {
                    variable: self.text(element, "JMESExtractor.referenceName").trim().to_owned(),
                    from: ExtractFrom::JmesPath(self.text(element, "JMESExtractor.jmesPathExpr")),
                    part: self.searched(element, ""),
                    samples: SampleScope::Main,
                    take: take(element, &number, 0)?,
                    sets_more: true,
                    default: Some(self.text(element, "JMESExtractor.defaultValue")),
                }));
            }
            Some(ElementKind::JsonExtractor) => self.json(element, actions)?,
            Some(ElementKind::JsonPathExtractorPlugin) => actions.push(self.json_path_plugin(element)),
            Some(
                ElementKind::Jsr223PostProcessor | ElementKind::BeanShellPostProcessor | ElementKind::BsfPostProcessor,
            ) => {
                actions.extend(self.script(element, "script")?.script().map(ReplyAction::Script));
            }
            Some(ElementKind::ResultAction) => {
                let ends = self.failure_of(element)?;
                policy.failure_ends = if ends == Over::Nothing { policy.failure_ends } else { ends };
            }
            Some(ElementKind::FifoPut) => {
                let (queue, value) = (self.text(element, "FifoName"), self.text(element, "Value"));
                if let Some(call) = call_of("fifoPut", &[&queue, &value]) {
                    actions.push(ReplyAction::Set { variable: "fifoPut".into(), value: call });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An XPath, and the namespaces that a property gives its prefixes: `prefix=URI`, one a line.
    pub(super) fn qualified_path(&self, element: TestElement<'_>, path: &str, namespaces: &str) -> QualifiedXpath {
        let lines = self.text(element, namespaces);
        let pairs = lines.lines().filter_map(|line| line.split_once('='));
        let namespaces = pairs.map(|(prefix, uri)| (prefix.trim().to_owned(), uri.trim().to_owned())).collect();
        QualifiedXpath { path: self.text(element, path), namespaces }
    }

    fn extractor(
        &self,
        element: TestElement<'_>,
        prefix: &str,
        from: ExtractFrom,
        part: ReplyPart,
    ) -> Result<ReplyAction, JmxError> {
        let name = |property: &str| format!("{prefix}.{property}");
        let default = self.text(element, &name("default"));
        let empty = self.flag(element, &name("default_empty_value"), false);
        let number = self.filled(element, &name("match_number"));
        Ok(ReplyAction::Extract(Extractor {
            variable: self.text(element, &name("refname")).trim().to_owned(),
            from,
            part,
            samples: self.samples(element),
            take: take(element, &number, 0)?,
            sets_more: true,
            default: (!default.is_empty() || empty).then_some(default),
        }))
    }

    /// Which samples of a chain of redirects are searched.
    fn samples(&self, element: TestElement<'_>) -> SampleScope {
        match self.filled(element, SCOPE[0]).as_str() {
            "all" => SampleScope::All,
            "children" => SampleScope::Children,
            _ => SampleScope::Main,
        }
    }

    /// What is searched: a variable, or the part that a property names.
    fn searched(&self, element: TestElement<'_>, part: &str) -> ReplyPart {
        let [scope, variable] = SCOPE;
        if self.filled(element, scope) == "variable" {
            return ReplyPart::Variable(self.filled(element, variable));
        }
        match part.trim() {
            "true" => ReplyPart::Headers,
            "request_headers" => ReplyPart::RequestHeaders,
            "URL" => ReplyPart::Url,
            "code" => ReplyPart::Status,
            "message" => ReplyPart::Message,
            "unescaped" => ReplyPart::UnescapedBody,
            _ => ReplyPart::Body,
        }
    }

    /// The extractor of a plugin.
    fn json_path_plugin(&self, element: TestElement<'_>) -> ReplyAction {
        let part = if self.filled(element, "SUBJECT") == "VAR" {
            ReplyPart::Variable(self.filled(element, "SRC_VARNAME"))
        } else {
            ReplyPart::Body
        };
        ReplyAction::Extract(Extractor {
            variable: self.filled(element, "VAR"),
            from: ExtractFrom::JsonPath(json_path(&self.text(element, "JSONPATH"))),
            part,
            samples: SampleScope::Main,
            take: Take::First,
            sets_more: true,
            default: Some(self.text(element, "DEFAULT")),
        })
    }

    /// Several variables, each with its path, number and default.
    fn json(&mut self, element: TestElement<'_>, actions: &mut Vec<ReplyAction>) -> Result<(), JmxError> {
        let names = semicolon_list(&self.filled(element, "JSONPostProcessor.referenceNames"));
        let paths = semicolon_list(&self.text(element, "JSONPostProcessor.jsonPathExprs"));
        let numbers = semicolon_list(&self.filled(element, "JSONPostProcessor.match_numbers"));
        let defaults = semicolon_list(&self.text(element, "JSONPostProcessor.defaultValues"));
        if names.len() != paths.len() {
            let wrong = format!("it has {} names and {} paths; write as many of each", names.len(), paths.len());
            return Err(wrong_at(element, &wrong));
        }
        let part = self.searched(element, "");
        let concat = self.flag(element, "JSONPostProcessor.compute_concat", false);
        for (number, (name, path)) in names.iter().zip(&paths).enumerate() {
            let take = take(element, numbers.get(number).map_or("", String::as_str), 0)?;
            actions.push(ReplyAction::Extract(Extractor {
                variable: name.clone(),
                from: ExtractFrom::JsonPath(json_path(path)),
                part: part.clone(),
                samples: self.samples(element),
                take,
                sets_more: true,
                default: Some(defaults.get(number).cloned().unwrap_or_default()),
            }));
            if concat
                && take == Take::All
                && let Some(value) = call_of("joined", &[name.as_str(), ","])
            {
                actions.push(ReplyAction::Set { variable: format!("{name}_ALL"), value });
            }
        }
        Ok(())
    }
}

/// Which match is taken: 0 any, -1 all.
fn take(element: TestElement<'_>, written: &str, absent: i64) -> Result<Take, JmxError> {
    if written.contains("${") {
        return Ok(Take::Number(1));
    }
    Ok(match number_of(element, "match_number", written, absent as f64)? as i64 {
        0 => Take::Random,
        number if number < 0 => Take::All,
        number => Take::Number(u32::try_from(number).unwrap_or(u32::MAX)),
    })
}

/// The parts of a list, without empty ones at its end: Java's `split` drops those.
fn semicolon_list(text: &str) -> Vec<String> {
    text.trim_end_matches([';', ' ']).split(';').map(|part| part.trim().to_owned()).collect()
}

/// A path without `$` begins at the root; filters are those of RFC 9535.
pub(super) fn json_path(path: &str) -> String {
    let path = path.trim();
    // Beside expressions, a dollar sign that stands for itself has a backslash.
    let is_whole = path.is_empty() || path.starts_with('$') || path.starts_with(r"\$");
    translated_filters(&if is_whole { path.to_owned() } else { format!("$.{path}") })
}
