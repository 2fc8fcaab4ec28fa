//! Converts post-processors to actions on a reply.

use super::json_paths::translated_filters;
use super::patterns::{error_of, translated};
use super::texts::{error_at, number_of};
use super::{ElementScope, PlanReader};
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use crate::support::kinds::{
    BoundaryExtractor, FifoPut, HtmlExtractor, JmesPathExtractor, JsonExtractor,
    JsonPathExtractorPlugin, RegexExtractor, ResultAction, Xpath2Extractor, XpathExtractor,
};
use brunt_languages::LANGUAGES;
use brunt_model::ReplyPolicy;
use brunt_model::extract::{
    ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart, SampleScope,
};
use brunt_model::reply_policy::{Assertion, AssertionTest, ReplyAction};
use brunt_model::scenario::EndScope;
use brunt_script::template::call_of;

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
            policy.actions.extend(self.script(*element)?.script().map(ReplyAction::Script));
        }
        for element in &scope.assertions {
            let Some(assertion) = self.assertion(*element)? else { continue };
            match brunt_script::check::assertion(&assertion, LANGUAGES) {
                Ok(()) => policy.assertions.push(assertion),
                Err(error) => {
                    // JMeter inverts the failure of a path of JSON, too.
                    if let AssertionTest::Json { invert: true, .. }
                    | AssertionTest::JmesPath { invert: true, .. } = &assertion.test
                    {
                        self.notice(format!("{}: it always holds, {error}", element.place()));
                        continue;
                    }
                    let test = self.always_failing(*element, &error.to_string());
                    policy.assertions.push(Assertion { test, ..assertion });
                }
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
        let oro_error = match element.kind() {
            Some(ElementKind::RegexExtractor) => {
                let pattern = self.fields(element).map(|RegexExtractor { pattern, .. }| pattern);
                pattern.ok().and_then(|pattern| error_of(&pattern))
            }
            _ => None,
        };
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

    fn post_processor(
        &mut self,
        element: TestElement<'_>,
        policy: &mut ReplyPolicy,
    ) -> Result<(), JmxError> {
        let actions = &mut policy.actions;
        match element.kind() {
            Some(ElementKind::RegexExtractor) => {
                let of: RegexExtractor = self.fields(element)?;
                let from = ExtractFrom::Regex {
                    pattern: translated(&of.pattern),
                    group: 0,
                    template: Some(of.template),
                };
                let part = source_part(&of.scope, of.source, &of.field);
                let default = optional_default(of.default, of.is_default_empty);
                let common = self.common(element, &of.variable, &of.number, &of.scope)?;
                actions.push(ReplyAction::Extract(Extractor { from, part, default, ..common }));
            }
            Some(ElementKind::BoundaryExtractor) => {
                let of: BoundaryExtractor = self.fields(element)?;
                let from = ExtractFrom::Boundary { left: of.left, right: of.right };
                let part = source_part(&of.scope, of.source, &of.field);
                let default = optional_default(of.default, of.is_default_empty);
                let common = self.common(element, &of.variable, &of.number, &of.scope)?;
                actions.push(ReplyAction::Extract(Extractor { from, part, default, ..common }));
            }
            Some(ElementKind::HtmlExtractor) => {
                let of: HtmlExtractor = self.fields(element)?;
                let from = ExtractFrom::Css { selector: of.selector, attribute: of.attribute };
                let part = source_part(&of.scope, of.source, "");
                let default = optional_default(of.default, of.is_default_empty);
                let common = self.common(element, &of.variable, &of.number, &of.scope)?;
                actions.push(ReplyAction::Extract(Extractor { from, part, default, ..common }));
            }
            Some(ElementKind::XpathExtractor) => {
                let of: XpathExtractor = self.fields(element)?;
                let from = ExtractFrom::Xpath(of.path);
                let part = source_part(&of.scope, of.source, "");
                let default = Some(of.default);
                let common = self.common(element, &of.variable, &of.number, &of.scope)?;
                actions.extend(xpath(Extractor { from, part, default, ..common }));
            }
            Some(ElementKind::Xpath2Extractor) => {
                let of: Xpath2Extractor = self.fields(element)?;
                let from = ExtractFrom::QualifiedXpath(qualified_path(of.path, &of.namespaces));
                let part = source_part(&of.scope, of.source, "");
                let default = Some(of.default);
                let common = self.common(element, &of.variable, &of.number, &of.scope)?;
                actions.extend(xpath(Extractor { from, part, default, ..common }));
            }
            Some(ElementKind::JmesPathExtractor) => {
                let of: JmesPathExtractor = self.fields(element)?;
                if matches!(&*of.scope, "all" | "children") {
                    self.notice(format!("{}: it searches the main sample alone", element.place()));
                }
                let from = ExtractFrom::JmesPath(of.path);
                let part = source_part(&of.scope, of.source, "");
                let default = Some(of.default);
                let common = self.common(element, &of.variable, &of.number, "")?;
                actions.push(ReplyAction::Extract(Extractor { from, part, default, ..common }));
            }
            Some(ElementKind::JsonExtractor) => self.json(element, actions)?,
            Some(ElementKind::JsonPathExtractorPlugin) => {
                let of: JsonPathExtractorPlugin = self.fields(element)?;
                let from = ExtractFrom::JsonPath(json_path(&of.path));
                let scope = if of.subject == "VAR" { "variable" } else { "" };
                let part = source_part(scope, of.source, "");
                let take = MatchChoice::First;
                let default = Some(of.default);
                let common = self.common(element, &of.variable, "1", "")?;
                let extractor = Extractor { from, part, take, default, ..common };
                actions.push(ReplyAction::Extract(extractor));
            }
            Some(
                ElementKind::Jsr223PostProcessor
                | ElementKind::BeanShellPostProcessor
                | ElementKind::BsfPostProcessor,
            ) => {
                actions.extend(self.script(element)?.script().map(ReplyAction::Script));
            }
            Some(ElementKind::ResultAction) => {
                let ResultAction { action } = self.fields(element)?;
                let ends = match action {
                    1 => EndScope::User,
                    2 | 3 => EndScope::Run,
                    4 => EndScope::Iteration,
                    5 => EndScope::Round,
                    6 => EndScope::Loop,
                    _ => EndScope::Nothing,
                };
                policy.failure_ends =
                    if ends == EndScope::Nothing { policy.failure_ends } else { ends };
            }
            Some(ElementKind::FifoPut) => {
                let FifoPut { queue, value } = self.fields(element)?;
                if let Some(call) = call_of("fifoPut", &[&queue, &value]) {
                    // Only the effect of the call on the queue matters; nothing reads the variable.
                    actions.push(ReplyAction::Set { variable: "fifoPut".into(), value: call });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Converts a JSON Extractor, which sets several variables, each with its path,
    /// match number and default.
    fn json(
        &mut self,
        element: TestElement<'_>,
        actions: &mut Vec<ReplyAction>,
    ) -> Result<(), JmxError> {
        let JsonExtractor { names, paths, numbers, defaults, joins, scope, source } =
            self.fields(element)?;
        let [names, paths, numbers, defaults] =
            [names, paths, numbers, defaults].map(|list| semicolon_list(&list));
        if names.len() != paths.len() {
            let message = format!(
                "it has {} names and {} paths; write as many of each",
                names.len(),
                paths.len()
            );
            return Err(error_at(element, &message));
        }
        let part = source_part(&scope, source, "");
        for (number, (name, path)) in names.iter().zip(&paths).enumerate() {
            let take = self.take(element, numbers.get(number).map_or("", String::as_str))?;
            actions.push(ReplyAction::Extract(Extractor {
                variable: name.clone(),
                from: ExtractFrom::JsonPath(json_path(path)),
                part: part.clone(),
                samples: samples(&scope),
                take,
                sets_more: true,
                default: Some(defaults.get(number).cloned().unwrap_or_default()),
            }));
            if joins
                && take == MatchChoice::All
                && let Some(value) = call_of("joined", &[name.as_str(), ","])
            {
                actions.push(ReplyAction::Set { variable: format!("{name}_ALL"), value });
            }
        }
        Ok(())
    }

    /// An extractor without its source and default.
    fn common(
        &mut self,
        element: TestElement<'_>,
        variable: &str,
        number: &str,
        scope: &str,
    ) -> Result<Extractor, JmxError> {
        Ok(Extractor {
            variable: variable.trim().to_owned(),
            from: ExtractFrom::Xpath(String::new()),
            part: ReplyPart::Body,
            samples: samples(scope),
            take: self.take(element, number)?,
            sets_more: true,
            default: None,
        })
    }

    /// Which match to use. The first one, with a notice, for a number that is set only during the run.
    fn take(&mut self, element: TestElement<'_>, text: &str) -> Result<MatchChoice, JmxError> {
        if text.contains("${") {
            let message = format!(
                "match number `{text}` is known in the run alone; the first match is taken"
            );
            self.notice(format!("{}: {message}", element.place()));
            return Ok(MatchChoice::Number(1));
        }
        Ok(match number_of(element, "match_number", text, 0.0)? as i64 {
            // In JMeter, match number 0 is a random match and a negative number is all matches.
            0 => MatchChoice::Random,
            number if number < 0 => MatchChoice::All,
            number => MatchChoice::Number(u32::try_from(number).unwrap_or(u32::MAX)),
        })
    }
}

/// The default of an extractor. Without one, a variable stays as it is.
fn optional_default(default: String, is_empty: bool) -> Option<String> {
    (!default.is_empty() || is_empty).then_some(default)
}

/// Actions of an XPath extractor. For all matches, JMeter sets the variable itself to the first one.
fn xpath(extractor: Extractor) -> Vec<ReplyAction> {
    let first = (extractor.take == MatchChoice::All).then(|| Extractor {
        take: MatchChoice::First,
        sets_more: false,
        ..extractor.clone()
    });
    std::iter::once(extractor).chain(first).map(ReplyAction::Extract).collect()
}

/// An XPath with the namespaces of its prefixes, one `prefix=URI` per line.
pub(super) fn qualified_path(path: String, namespaces: &str) -> QualifiedXpath {
    let pairs = namespaces.lines().filter_map(|line| line.split_once('='));
    let namespaces =
        pairs.map(|(prefix, uri)| (prefix.trim().to_owned(), uri.trim().to_owned())).collect();
    QualifiedXpath { path, namespaces }
}

/// Samples of a redirect chain to search.
fn samples(scope: &str) -> SampleScope {
    match scope {
        "all" => SampleScope::All,
        "children" => SampleScope::Children,
        _ => SampleScope::Main,
    }
}

/// Source of an extractor: a variable, or a part of the reply.
fn source_part(scope: &str, variable: String, part: &str) -> ReplyPart {
    match part.trim() {
        _ if scope == "variable" => ReplyPart::Variable(variable),
        "true" => ReplyPart::Headers,
        "request_headers" => ReplyPart::RequestHeaders,
        "URL" => ReplyPart::Url,
        "code" => ReplyPart::Status,
        "message" => ReplyPart::Message,
        "unescaped" => ReplyPart::UnescapedBody,
        _ => ReplyPart::Body,
    }
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
