//! Converts post-processors to actions on a reply.

use super::json_paths::translated_filters;
use super::patterns::{error_of, translated};
use super::texts::{error_at, number_of};
use super::{ElementScope, PlanReader};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use brunt_languages::LANGUAGES;
use brunt_model::ReplyPolicy;
use brunt_model::extract::{
    ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart, SampleScope,
};
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::EndScope;
use brunt_script::template::call_of;

/// Properties with a match number.
const NUMBERS: [&str; 7] = [
    "RegexExtractor.match_number",
    "BoundaryExtractor.match_number",
    "HtmlExtractor.match_number",
    "XPathExtractor.matchNumber",
    "XPathExtractor2.matchNumber",
    "JMESExtractor.matchNumber",
    "JSONPostProcessor.match_numbers",
];

/// Properties that select a variable as the source.
const SCOPE: [&str; 2] = ["Sample.scope", "Scope.variable"];

impl PlanReader<'_> {
    /// Adds the elements in scope of a sampler to a policy: post-processors, listeners with
    /// a script, then assertions.
    ///
    /// # Errors
    ///
    /// Fails on an element with an invalid setting.
    pub(super) fn reactions(
        &mut self,
        scope: &ElementScope<'_>,
        mut policy: ReplyPolicy,
    ) -> Result<ReplyPolicy, JmxError> {
        if self.reads_previous {
            policy.actions.push(ReplyAction::Keep);
        }
        for element in &scope.post_processors {
            let length = policy.actions.len();
            self.post_processor(*element, &mut policy)?;
            let added = policy.actions.split_off(length);
            policy
                .actions
                .extend(added.into_iter().filter_map(|action| self.valid_action(*element, action)));
        }
        for element in &scope.listeners {
            policy
                .actions
                .extend(self.script(*element, "script")?.script().map(ReplyAction::Script));
        }
        for element in &scope.assertions {
            let Some(assertion) = self.assertion(*element)? else { continue };
            match brunt_script::check::assertion(&assertion, LANGUAGES) {
                Ok(()) => policy.assertions.push(assertion),
                Err(error) if self.context.lenient => {
                    self.notice(format!("{}: left out, {error}", element.place()));
                }
                Err(error) => return Err(error_at(*element, &error.to_string())),
            }
        }
        Ok(policy)
    }

    /// Returns a valid action unchanged. JMeter logs an invalid extractor and sets the
    /// variable to its default.
    fn valid_action(
        &mut self,
        element: TestElement<'_>,
        action: ReplyAction,
    ) -> Option<ReplyAction> {
        let is_regex = element.kind() == Some(ElementKind::RegexExtractor);
        let oro_error =
            is_regex.then(|| error_of(&self.text(element, "RegexExtractor.regex"))).flatten();
        let checked =
            brunt_script::check::action(&action, LANGUAGES).map_err(|error| error.to_string());
        let Err(error) = oro_error.map_or(checked, |error| Err(error.to_owned())) else {
            return Some(action);
        };
        self.notice(format!("{}: it never matches, {error}", element.place()));
        match action {
            ReplyAction::Extract(Extractor { variable, default: Some(value), .. }) => {
                Some(ReplyAction::Set { variable, value })
            }
            _ => None,
        }
    }

    /// Adds a notice for a match number in a variable that is set only during the run.
    fn notice_unknown_numbers(&mut self, element: TestElement<'_>) {
        for name in NUMBERS {
            let value = self.value(element, name);
            if value.contains("${") {
                let message = format!(
                    "match number `{value}` is known in the run alone; the first match is taken"
                );
                self.notice(format!("{}: {message}", element.place()));
            }
        }
    }

    fn post_processor(
        &mut self,
        element: TestElement<'_>,
        policy: &mut ReplyPolicy,
    ) -> Result<(), JmxError> {
        self.notice_unknown_numbers(element);
        let actions = &mut policy.actions;
        match element.kind() {
            Some(ElementKind::RegexExtractor) => {
                let template = self.text(element, "RegexExtractor.template");
                let from = ExtractFrom::Regex {
                    pattern: translated(&self.text(element, "RegexExtractor.regex")),
                    group: 0,
                    template: Some(if template.is_empty() { "$1$".to_owned() } else { template }),
                };
                let part =
                    self.source_part(element, &self.value(element, "RegexExtractor.useHeaders"));
                actions.push(self.extractor(element, "RegexExtractor", from, part)?);
            }
            Some(ElementKind::BoundaryExtractor) => {
                let from = ExtractFrom::Boundary {
                    left: self.text(element, "BoundaryExtractor.lboundary"),
                    right: self.text(element, "BoundaryExtractor.rboundary"),
                };
                let part =
                    self.source_part(element, &self.value(element, "BoundaryExtractor.useHeaders"));
                actions.push(self.extractor(element, "BoundaryExtractor", from, part)?);
            }
            Some(ElementKind::HtmlExtractor) => {
                let from = ExtractFrom::Css {
                    selector: self.text(element, "HtmlExtractor.expr"),
                    attribute: self.text(element, "HtmlExtractor.attribute"),
                };
                let part = self.source_part(element, "");
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
                    ExtractFrom::QualifiedXpath(self.qualified_path(
                        element,
                        &path,
                        &format!("{prefix}.namespaces"),
                    ))
                };
                let part = self.source_part(element, "");
                let number = self.value(element, &format!("{prefix}.matchNumber"));
                let extractor = Extractor {
                    variable: self.value(element, &format!("{prefix}.refname")),
                    from,
                    part,
                    samples: self.samples(element),
                    // XPath extractors take all matches by default.
                    take: take(element, &number, -1)?,
                    sets_more: true,
                    default: Some(self.text(element, &format!("{prefix}.default"))),
                };
                let is_all = extractor.take == MatchChoice::All;
                actions.push(ReplyAction::Extract(extractor.clone()));
                if is_all {
                    // JMeter sets the variable itself to the first match.
                    let first =
                        Extractor { take: MatchChoice::First, sets_more: false, ..extractor };
                    actions.push(ReplyAction::Extract(first));
                }
            }
            Some(ElementKind::JmesPathExtractor) => {
                let number = self.value(element, "JMESExtractor.matchNumber");
                actions.push(ReplyAction::Extract(Extractor {
                    variable: self.text(element, "JMESExtractor.referenceName").trim().to_owned(),
                    from: ExtractFrom::JmesPath(self.text(element, "JMESExtractor.jmesPathExpr")),
                    part: self.source_part(element, ""),
                    // A JMESPath extractor searches only the main sample.
                    samples: SampleScope::Main,
                    take: take(element, &number, 0)?,
                    sets_more: true,
                    default: Some(self.text(element, "JMESExtractor.defaultValue")),
                }));
            }
            Some(ElementKind::JsonExtractor) => self.json(element, actions)?,
            Some(ElementKind::JsonPathExtractorPlugin) => {
                actions.push(self.json_path_plugin(element));
            }
            Some(
                ElementKind::Jsr223PostProcessor
                | ElementKind::BeanShellPostProcessor
                | ElementKind::BsfPostProcessor,
            ) => {
                actions.extend(self.script(element, "script")?.script().map(ReplyAction::Script));
            }
            Some(ElementKind::ResultAction) => {
                let ends = self.failure_of(element)?;
                policy.failure_ends =
                    if ends == EndScope::Nothing { policy.failure_ends } else { ends };
            }
            Some(ElementKind::FifoPut) => {
                let queue = self.text(element, "FifoName");
                let value = self.text(element, "Value");
                if let Some(call) = call_of("fifoPut", &[&queue, &value]) {
                    // Only the effect of the call on the queue matters; nothing reads the variable.
                    actions.push(ReplyAction::Set { variable: "fifoPut".into(), value: call });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An XPath with the namespaces of its prefixes. The property has one `prefix=URI` per line.
    pub(super) fn qualified_path(
        &self,
        element: TestElement<'_>,
        path: &str,
        namespaces: &str,
    ) -> QualifiedXpath {
        let lines = self.text(element, namespaces);
        let pairs = lines.lines().filter_map(|line| line.split_once('='));
        let namespaces =
            pairs.map(|(prefix, uri)| (prefix.trim().to_owned(), uri.trim().to_owned())).collect();
        QualifiedXpath { path: self.text(element, path), namespaces }
    }

    fn extractor(
        &self,
        element: TestElement<'_>,
        prefix: &str,
        from: ExtractFrom,
        part: ReplyPart,
    ) -> Result<ReplyAction, JmxError> {
        let default = self.text(element, &format!("{prefix}.default"));
        let empty = self.flag(element, &format!("{prefix}.default_empty_value"), false);
        let number = self.value(element, &format!("{prefix}.match_number"));
        let variable = self.text(element, &format!("{prefix}.refname"));
        Ok(ReplyAction::Extract(Extractor {
            variable: variable.trim().to_owned(),
            from,
            part,
            samples: self.samples(element),
            take: take(element, &number, 0)?,
            sets_more: true,
            default: (!default.is_empty() || empty).then_some(default),
        }))
    }

    /// Samples of a redirect chain to search.
    fn samples(&self, element: TestElement<'_>) -> SampleScope {
        match self.value(element, SCOPE[0]).as_str() {
            "all" => SampleScope::All,
            "children" => SampleScope::Children,
            _ => SampleScope::Main,
        }
    }

    /// Source of an extractor: a variable, or the part of the reply that a property names.
    fn source_part(&self, element: TestElement<'_>, part: &str) -> ReplyPart {
        let [scope, variable] = SCOPE;
        if self.value(element, scope) == "variable" {
            return ReplyPart::Variable(self.value(element, variable));
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

    /// Converts the JSON Path Extractor plugin.
    fn json_path_plugin(&self, element: TestElement<'_>) -> ReplyAction {
        let part = if self.value(element, "SUBJECT") == "VAR" {
            ReplyPart::Variable(self.value(element, "SRC_VARNAME"))
        } else {
            ReplyPart::Body
        };
        ReplyAction::Extract(Extractor {
            variable: self.value(element, "VAR"),
            from: ExtractFrom::JsonPath(json_path(&self.text(element, "JSONPATH"))),
            part,
            samples: SampleScope::Main,
            take: MatchChoice::First,
            sets_more: true,
            default: Some(self.text(element, "DEFAULT")),
        })
    }

    /// Converts a JSON Extractor, which sets several variables, each with its path,
    /// match number and default.
    fn json(
        &mut self,
        element: TestElement<'_>,
        actions: &mut Vec<ReplyAction>,
    ) -> Result<(), JmxError> {
        let names = semicolon_list(&self.value(element, "JSONPostProcessor.referenceNames"));
        let paths = semicolon_list(&self.text(element, "JSONPostProcessor.jsonPathExprs"));
        let numbers = semicolon_list(&self.value(element, "JSONPostProcessor.match_numbers"));
        let defaults = semicolon_list(&self.text(element, "JSONPostProcessor.defaultValues"));
        if names.len() != paths.len() {
            let message = format!(
                "it has {} names and {} paths; write as many of each",
                names.len(),
                paths.len()
            );
            return Err(error_at(element, &message));
        }
        let part = self.source_part(element, "");
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
                && take == MatchChoice::All
                && let Some(value) = call_of("joined", &[name.as_str(), ","])
            {
                actions.push(ReplyAction::Set { variable: format!("{name}_ALL"), value });
            }
        }
        Ok(())
    }
}

/// Which match to use: 0 is random, negative is all.
fn take(element: TestElement<'_>, text: &str, default: i64) -> Result<MatchChoice, JmxError> {
    if text.contains("${") {
        return Ok(MatchChoice::Number(1));
    }
    Ok(match number_of(element, "match_number", text, default as f64)? as i64 {
        // In JMeter, match number 0 is a random match and a negative number is all matches.
        0 => MatchChoice::Random,
        number if number < 0 => MatchChoice::All,
        number => MatchChoice::Number(u32::try_from(number).unwrap_or(u32::MAX)),
    })
}

/// Parts of a list without empty ones at its end, which Java's `split` drops.
fn semicolon_list(text: &str) -> Vec<String> {
    text.trim_end_matches([';', ' ']).split(';').map(|part| part.trim().to_owned()).collect()
}

/// Completes a JSON path that has no `$`, and converts its filters to RFC 9535.
pub(super) fn json_path(path: &str) -> String {
    let path = path.trim();
    // In a text with expressions, a literal dollar sign has a backslash.
    let is_whole = path.is_empty() || path.starts_with('$') || path.starts_with(r"\$");
    translated_filters(&if is_whole { path.to_owned() } else { format!("$.{path}") })
}
