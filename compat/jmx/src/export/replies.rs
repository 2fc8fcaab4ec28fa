//! Exports reply policies as extractors, scripts and assertions.

use super::xml::Item;
use super::{Place, PlanWriter, part};
use crate::support::ElementKind;
use crate::support::kinds::{
    BoundaryExtractor, DurationAssertion, HtmlExtractor, JavaSampler, JmesPathAssertion,
    JmesPathExtractor, JsonAssertion, JsonExtractor, Jsr223Sampler, Md5Assertion, RegexExtractor,
    ResponseAssertion, ResultAction, SizeAssertion, XmlAssertion, Xpath2Assertion, Xpath2Extractor,
    XpathAssertion, XpathExtractor,
};
use brunt_model::ReplyPolicy;
use brunt_model::extract::{
    ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart, SampleScope,
};
use brunt_model::plan::StatusRange;
use brunt_model::reply_policy::{
    Assertion, AssertionTest, ExpectedJson, NumberComparison, ReplyAction, TextAssertion, TextMatch,
};
use brunt_model::scenario::{EndScope, FixedSample, Script, ScriptLanguage};
use brunt_script::template::call_of;

// Bits of `Assertion.test_type`.
const MATCHES: i64 = 1;
const CONTAINS: i64 = 2;
const NOT: i64 = 4;
const EQUALS: i64 = 8;
const SUBSTRING: i64 = 16;
const OR: i64 = 32;

impl PlanWriter<'_> {
    /// Exports the elements that process the reply to a request.
    pub(super) fn reactions(&mut self, policy: &ReplyPolicy, label: &str) -> Vec<Item> {
        let mut items = Vec::new();
        for (index, action) in policy.actions.iter().enumerate() {
            let previous = index.checked_sub(1).and_then(|index| policy.actions.get(index));
            // The extractor before it does it in JMeter.
            if previous.is_some_and(|previous| is_part_of(action, previous)) {
                continue;
            }
            match action {
                ReplyAction::Extract(extractor) => {
                    let next = policy.actions.get(index + 1);
                    let joins = next.is_some_and(|next| is_part_of(next, action));
                    items.extend(self.extractor(extractor, joins, label));
                }
                ReplyAction::Script(script) => {
                    items.push(self.script(ElementKind::Jsr223PostProcessor, script));
                }
                ReplyAction::Set { variable, value } => {
                    items.push(self.set(ElementKind::Jsr223PostProcessor, variable, value));
                }
                ReplyAction::Keep => {}
            }
        }
        let statuses = &policy.checks.status;
        // JMeter itself accepts 200 to 399.
        if !statuses.is_empty() && statuses != &[StatusRange { least: 200, most: 399 }] {
            items.push(self.status(statuses));
        }
        if let Some(body) = &policy.checks.body {
            let text = TextAssertion {
                part: ReplyPart::Body,
                patterns: vec![body.clone()],
                is: TextMatch::Contains,
                not: false,
                any: false,
                ignore_status: false,
                message: String::new(),
            };
            items.extend(self.text_assertion(&text, "body", label));
        }
        if policy.checks.same_length {
            self.notice(format!(
                "request \"{label}\": JMeter does not compare the lengths of replies"
            ));
        }
        for assertion in &policy.assertions {
            items.extend(self.assertion(assertion, label));
        }
        if policy.failure_ends != self.group_ends {
            let action = match policy.failure_ends {
                EndScope::Nothing | EndScope::Turn => None,
                EndScope::User => Some(1),
                EndScope::Run => Some(2),
                EndScope::Iteration => Some(4),
                EndScope::Round => Some(5),
                EndScope::Loop => Some(6),
            };
            items
                .extend(action.map(|action| {
                    self.unnamed(ElementKind::ResultAction, ResultAction { action })
                }));
        }
        items
    }

    fn extractor(&mut self, extractor: &Extractor, joins: bool, label: &str) -> Option<Item> {
        let Extractor { variable, from, default, .. } = extractor;
        let is_default_empty = default.as_deref() == Some("");
        let variable = variable.clone();
        let default = default.clone().unwrap_or_default();
        let number = match extractor.take {
            MatchChoice::First => "1".to_owned(),
            MatchChoice::Random => "0".to_owned(),
            MatchChoice::All => "-1".to_owned(),
            MatchChoice::Number(number) => number.to_string(),
            MatchChoice::Last => {
                self.notice(format!(
                    "request \"{label}\": {variable} gets the first match; JMeter does not take the last"
                ));
                "1".to_owned()
            }
        };
        let is_known =
            matches!(extractor.part, ReplyPart::Variable(_)) || part(&extractor.part).is_some();
        if !is_known {
            self.notice(format!(
                "request \"{label}\": {variable} is left out; JMeter does not search the body of a request"
            ));
            return None;
        }
        let (field, _) = part(&extractor.part).unwrap_or(("false", ""));
        let field = field.to_owned();
        let (scope, source) = match (&extractor.part, extractor.samples) {
            (ReplyPart::Variable(name), _) => ("variable", name.clone()),
            (_, SampleScope::All) => ("all", String::new()),
            (_, SampleScope::Children) => ("children", String::new()),
            (_, SampleScope::Main) => ("", String::new()),
        };
        let scope = scope.to_owned();
        let name = variable.clone();
        Some(match from {
            ExtractFrom::Regex { pattern, group, template } => {
                let template = template.clone().unwrap_or_else(|| format!("${group}$"));
                let template = if template.contains("${") {
                    self.text(&template, Place::Text)
                } else {
                    template
                };
                let fields = RegexExtractor {
                    variable,
                    pattern: pattern.clone(),
                    template,
                    number,
                    default,
                    is_default_empty,
                    field,
                    scope,
                    source,
                };
                self.item(ElementKind::RegexExtractor, name, fields)
            }
            ExtractFrom::Header(header) => {
                let header = brunt_script::functions::escaped_regex(header);
                // Field names are case-insensitive, and `^` has to match at each line.
                let pattern = format!(r"(?mi)^{header}:[ \t]*(.*)");
                let from = ExtractFrom::Regex { pattern, group: 1, template: None };
                return self.header_extractor(extractor, from, label);
            }
            ExtractFrom::Cookie(cookie) => {
                let cookie = brunt_script::functions::escaped_regex(cookie);
                let pattern = format!(r"(?mi)^Set-Cookie:[ \t]*{cookie}=([^;\r\n]*)");
                let from = ExtractFrom::Regex { pattern, group: 1, template: None };
                return self.header_extractor(extractor, from, label);
            }
            ExtractFrom::Boundary { left, right } => {
                let fields = BoundaryExtractor {
                    variable,
                    left: left.clone(),
                    right: right.clone(),
                    number,
                    default,
                    is_default_empty,
                    field,
                    scope,
                    source,
                };
                self.item(ElementKind::BoundaryExtractor, name, fields)
            }
            ExtractFrom::JsonPath(path) => {
                let fields = JsonExtractor {
                    names: variable,
                    paths: path.clone(),
                    numbers: number,
                    defaults: default,
                    joins,
                    scope,
                    source,
                };
                self.item(ElementKind::JsonExtractor, name, fields)
            }
            ExtractFrom::JmesPath(path) => {
                let path = path.clone();
                let fields = JmesPathExtractor { variable, path, number, default, scope, source };
                self.item(ElementKind::JmesPathExtractor, name, fields)
            }
            ExtractFrom::Css { selector, attribute } => {
                let fields = HtmlExtractor {
                    variable,
                    selector: selector.clone(),
                    attribute: attribute.clone(),
                    number,
                    default,
                    is_default_empty,
                    scope,
                    source,
                };
                self.item(ElementKind::HtmlExtractor, name, fields)
            }
            ExtractFrom::QualifiedXpath(path) => {
                let fields = Xpath2Extractor {
                    variable,
                    path: path.path.clone(),
                    namespaces: namespace_lines(path),
                    number,
                    default,
                    scope,
                    source,
                };
                self.item(ElementKind::Xpath2Extractor, name, fields)
            }
            ExtractFrom::Xpath(path) => {
                let path = path.clone();
                let fields = XpathExtractor { variable, path, number, default, scope, source };
                self.item(ElementKind::XpathExtractor, name, fields)
            }
        })
    }

    /// Exports an extractor that searches the header fields of the reply.
    fn header_extractor(
        &mut self,
        extractor: &Extractor,
        from: ExtractFrom,
        label: &str,
    ) -> Option<Item> {
        let part = ReplyPart::Headers;
        self.extractor(&Extractor { from, part, ..extractor.clone() }, false, label)
    }

    fn assertion(&mut self, assertion: &Assertion, label: &str) -> Option<Item> {
        let name = &assertion.name;
        Some(match &assertion.test {
            AssertionTest::Text(text) => return self.text_assertion(text, name, label),
            AssertionTest::Duration(millis) => {
                let fields = DurationAssertion { millis: millis.clone() };
                self.item(ElementKind::DurationAssertion, name, fields)
            }
            AssertionTest::Size { part, is, bytes } => {
                let operator = match is {
                    NumberComparison::Equal => 1,
                    NumberComparison::NotEqual => 2,
                    NumberComparison::Greater => 3,
                    NumberComparison::Less => 4,
                    NumberComparison::AtLeast => 5,
                    NumberComparison::AtMost => 6,
                };
                let field = match part {
                    Some(ReplyPart::Body | ReplyPart::UnescapedBody) => {
                        "SizeAssertion.response_data"
                    }
                    Some(ReplyPart::Headers) => "SizeAssertion.response_headers",
                    Some(ReplyPart::Status) => "SizeAssertion.response_code",
                    Some(ReplyPart::Message) => "SizeAssertion.response_message",
                    _ => "SizeAssertion.response_network_size",
                };
                let fields =
                    SizeAssertion { bytes: bytes.clone(), operator, field: field.to_owned() };
                self.item(ElementKind::SizeAssertion, name, fields)
            }
            AssertionTest::Json { path, expected, invert } => {
                let (has_value, is_pattern, is_null, value) = expectation(expected.as_ref());
                let fields = JsonAssertion {
                    path: path.clone(),
                    has_value,
                    is_pattern,
                    value,
                    is_null,
                    is_inverted: *invert,
                };
                self.item(ElementKind::JsonAssertion, name, fields)
            }
            AssertionTest::JmesPath { path, expected, invert } => {
                let (has_value, is_pattern, is_null, value) = expectation(expected.as_ref());
                let fields = JmesPathAssertion {
                    path: path.clone(),
                    has_value,
                    is_pattern,
                    value,
                    is_null,
                    is_inverted: *invert,
                };
                self.item(ElementKind::JmesPathAssertion, name, fields)
            }
            AssertionTest::Xpath { path, invert } => {
                let fields = XpathAssertion { path: path.clone(), is_inverted: *invert };
                self.item(ElementKind::XpathAssertion, name, fields)
            }
            AssertionTest::QualifiedXpath { path, invert } => {
                let fields = Xpath2Assertion {
                    path: path.path.clone(),
                    namespaces: namespace_lines(path),
                    is_inverted: *invert,
                };
                self.item(ElementKind::Xpath2Assertion, name, fields)
            }
            AssertionTest::Xml => self.item(ElementKind::XmlAssertion, name, XmlAssertion {}),
            AssertionTest::Md5(sum) => {
                self.item(ElementKind::Md5Assertion, name, Md5Assertion { sum: sum.clone() })
            }
            AssertionTest::Script(script) => self.script(ElementKind::Jsr223Assertion, script),
        })
    }

    fn text_assertion(&mut self, text: &TextAssertion, name: &str, label: &str) -> Option<Item> {
        let mut kind = match text.is {
            TextMatch::Substring => SUBSTRING,
            TextMatch::Equals => EQUALS,
            TextMatch::Contains => CONTAINS,
            TextMatch::Matches => MATCHES,
        };
        let mut patterns = text.patterns.clone();
        // JMeter has a test of the whole text, which is an anchored pattern in brunt.
        if kind == CONTAINS
            && let Some(all) = patterns
                .iter()
                .map(|pattern| whole_text_pattern(pattern))
                .collect::<Option<Vec<_>>>()
            && !all.is_empty()
        {
            patterns = all;
            kind = MATCHES;
        }
        kind |= if text.not { NOT } else { 0 } | if text.any { OR } else { 0 };
        let (field, variable) = match (part(&text.part), &text.part) {
            (Some((_, field)), _) => (field, None),
            (None, ReplyPart::Variable(name)) => ("Assertion.response_data", Some(name.clone())),
            (None, _) => {
                self.notice(format!(
                    "request \"{label}\": the check `{name}` is left out; JMeter does not look at the body of a request"
                ));
                return None;
            }
        };
        let scope = if variable.is_some() { "variable" } else { "" };
        let fields = ResponseAssertion {
            patterns,
            kind,
            field: field.to_owned(),
            ignores_status: text.ignore_status,
            message: text.message.clone(),
            scope: scope.to_owned(),
            source: variable.unwrap_or_default(),
        };
        Some(self.item(ElementKind::ResponseAssertion, name, fields))
    }

    /// An assertion of the accepted statuses, which replaces JMeter's check of the status.
    fn status(&mut self, ranges: &[StatusRange]) -> Item {
        let patterns = ranges.iter().flat_map(|range| match (range.least, range.most) {
            (least, most) if least == most => vec![least.to_string()],
            (least, most) if least % 100 == 0 && most == least + 99 => {
                vec![format!(r"{}\d\d", least / 100)]
            }
            // Status codes have three digits.
            (least, most) => (least..=most.min(999)).map(|status| status.to_string()).collect(),
        });
        let fields = ResponseAssertion {
            patterns: patterns.collect(),
            kind: MATCHES | OR,
            field: "Assertion.response_code".to_owned(),
            ignores_status: true,
            message: String::new(),
            scope: String::new(),
            source: String::new(),
        };
        self.item(ElementKind::ResponseAssertion, "status", fields)
    }

    /// Exports a script element.
    pub(super) fn script(&mut self, kind: ElementKind, script: &Script) -> Item {
        let language = match script.language {
            ScriptLanguage::Groovy => "groovy",
            ScriptLanguage::Beanshell => "beanshell",
            ScriptLanguage::Javascript => "javascript",
            ScriptLanguage::Jexl => "jexl3",
        };
        let fields = Jsr223Sampler {
            language: language.to_owned(),
            source: script.source.clone(),
            parameters: script.parameters.clone(),
            file: String::new(),
        };
        self.item(kind, &*script.name, fields)
    }

    /// Exports a fixed sample as a Java Request of JMeter's own class.
    pub(super) fn fixed_sample(&mut self, label: &str, fixed: &FixedSample) -> Item {
        if is_nonzero(&fixed.latency) || is_nonzero(&fixed.connect) {
            self.notice(format!(
                "sample {label}: latency and connect time are left out, a Java Request has none"
            ));
        }
        if is_nonzero(&fixed.elapsed) && !fixed.waits {
            self.notice(format!(
                "sample {label}: its time is left out, a Java Request lasts as long as it sleeps"
            ));
        }
        let elapsed =
            if fixed.waits { self.text(&fixed.elapsed, Place::Text) } else { String::new() };
        let pairs = [
            ("Sleep_Time", if elapsed.is_empty() { "0".to_owned() } else { elapsed }),
            // Without a mask, JMeter adds no random time.
            ("Sleep_Mask", "0".to_owned()),
            ("ResponseCode", self.text(&fixed.code, Place::Text)),
            ("ResponseMessage", self.text(&fixed.message, Place::Text)),
            ("Status", if fixed.success { "OK".to_owned() } else { "failed".to_owned() }),
            ("ResultData", self.text(&fixed.body, Place::Text)),
        ];
        let fields = JavaSampler {
            class: "org.apache.jmeter.protocol.java.test.JavaTest".to_owned(),
            arguments: pairs.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        self.item(ElementKind::JavaSampler, "", fields)
    }

    /// Exports a script that assigns a text to a variable.
    pub(super) fn set(&mut self, kind: ElementKind, variable: &str, value: &str) -> Item {
        let script = Script {
            name: format!("set {variable}"),
            language: ScriptLanguage::Groovy,
            source: format!(
                "vars.put(\"{}\", Parameters)",
                variable.replace('\\', r"\\").replace('"', "\\\"")
            ),
            // JMeter evaluates parameters before the script runs.
            parameters: value.to_owned(),
        };
        self.script(kind, &script)
    }
}

/// True if an extractor of JMeter has the effect of the action after it: the first match of an XPath, and the list of all matches
/// of a JSON path.
fn is_part_of(action: &ReplyAction, previous: &ReplyAction) -> bool {
    let ReplyAction::Extract(extractor) = previous else { return false };
    let takes_all = extractor.take == MatchChoice::All;
    match (&extractor.from, action) {
        (ExtractFrom::Xpath(_) | ExtractFrom::QualifiedXpath(_), ReplyAction::Extract(first)) => {
            let take = MatchChoice::First;
            takes_all && *first == Extractor { take, sets_more: false, ..extractor.clone() }
        }
        (ExtractFrom::JsonPath(_), ReplyAction::Set { variable, value }) => {
            let name = &extractor.variable;
            let joined = call_of("joined", &[name, ","]);
            takes_all && *variable == format!("{name}_ALL") && joined.as_ref() == Some(value)
        }
        _ => false,
    }
}

/// Properties of an expected value: whether there is one, is a pattern and is null, and its text.
fn expectation(expected: Option<&ExpectedJson>) -> (bool, bool, bool, String) {
    match expected {
        None => (false, false, false, String::new()),
        Some(ExpectedJson::Null) => (true, false, true, String::new()),
        Some(ExpectedJson::Value(value)) => (true, false, false, value.clone()),
        Some(ExpectedJson::Pattern(value)) => (true, true, false, value.clone()),
    }
}

/// The inner pattern of `\A(?:…)\z`, which matches a whole text.
fn whole_text_pattern(pattern: &str) -> Option<String> {
    Some(pattern.strip_prefix(r"\A(?:")?.strip_suffix(r")\z")?.to_owned())
}

fn is_nonzero(millis: &str) -> bool {
    !matches!(millis.trim(), "" | "0")
}

/// Namespaces of a path in JMeter's format: `prefix=URI`, one per line.
fn namespace_lines(path: &QualifiedXpath) -> String {
    let lines: Vec<String> =
        path.namespaces.iter().map(|(prefix, uri)| format!("{prefix}={uri}")).collect();
    lines.join("\n")
}
