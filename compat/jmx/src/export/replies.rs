//! Exports reply policies as extractors, scripts and assertions.

use super::xml::{Item, Prop, arguments};
use super::{Place, PlanWriter, part};
use brunt_model::ReplyPolicy;
use brunt_model::extract::{ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart};
use brunt_model::plan::StatusRange;
use brunt_model::reply_policy::{
    Assertion, AssertionTest, ExpectedJson, NumberComparison, ReplyAction, TextAssertion, TextMatch,
};
use brunt_model::scenario::{EndScope, FixedSample, Script, ScriptLanguage};

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
        for action in &policy.actions {
            match action {
                ReplyAction::Extract(extractor) => items.extend(self.extractor(extractor, label)),
                ReplyAction::Script(script) => {
                    items.push(self.script("JSR223PostProcessor", script));
                }
                ReplyAction::Set { variable, value } => {
                    items.push(self.set("JSR223PostProcessor", variable, value));
                }
                ReplyAction::Keep => {}
            }
        }
        let statuses = &policy.checks.status;
        // JMeter itself accepts 200 to 399.
        if !statuses.is_empty() && statuses != &[StatusRange { least: 200, most: 399 }] {
            items.push(status(statuses));
        }
        if let Some(body) = &policy.checks.body {
            items.push(response(
                "body",
                "Assertion.response_data",
                std::slice::from_ref(body),
                CONTAINS,
                false,
                "",
            ));
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
            let handler =
                Item::new("ResultAction", "ResultActionGui", "Result Status Action Handler");
            items.extend(action.map(|action| handler.number("OnError.action", action)));
        }
        items
    }

    fn extractor(&mut self, extractor: &Extractor, label: &str) -> Option<Item> {
        let Extractor { variable, from, default, .. } = extractor;
        let default_text =
            default.as_ref().map(|default| self.text(default, Place::Text)).unwrap_or_default();
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
        let (reply_part, _) = part(&extractor.part).unwrap_or(("false", ""));
        let item = match from {
            ExtractFrom::Regex { pattern, group, template } => {
                let template = template.clone().unwrap_or_else(|| format!("${group}$"));
                let template = if template.contains("${") {
                    self.text(&template, Place::Text)
                } else {
                    template
                };
                let pattern = self.text(pattern, Place::Text);
                regex_extractor(extractor, pattern, &template, reply_part, &default_text, &number)
            }
            ExtractFrom::Header(name) => {
                // Field names are case-insensitive, and `^` has to match at each line.
                let pattern =
                    format!(r"(?mi)^{}:[ \t]*(.*)", brunt_script::functions::escaped_regex(name));
                let pattern = self.text(&pattern, Place::Text);
                regex_extractor(extractor, pattern, "$1$", "true", &default_text, &number)
            }
            ExtractFrom::Cookie(name) => {
                let name = brunt_script::functions::escaped_regex(name);
                let pattern =
                    self.text(&format!(r"(?mi)^Set-Cookie:[ \t]*{name}=([^;\r\n]*)"), Place::Text);
                regex_extractor(extractor, pattern, "$1$", "true", &default_text, &number)
            }
            ExtractFrom::Boundary { left, right } => {
                Item::new("BoundaryExtractor", "BoundaryExtractorGui", variable)
                    .text("BoundaryExtractor.useHeaders", reply_part)
                    .text("BoundaryExtractor.refname", variable)
                    .text("BoundaryExtractor.lboundary", self.text(left, Place::Text))
                    .text("BoundaryExtractor.rboundary", self.text(right, Place::Text))
                    .text("BoundaryExtractor.default", &default_text)
                    .flag("BoundaryExtractor.default_empty_value", default.as_deref() == Some(""))
                    .text("BoundaryExtractor.match_number", &number)
            }
            ExtractFrom::JsonPath(path) => {
                Item::new("JSONPostProcessor", "JSONPostProcessorGui", variable)
                    .text("JSONPostProcessor.referenceNames", variable)
                    .text("JSONPostProcessor.jsonPathExprs", self.text(path, Place::Text))
                    .text("JSONPostProcessor.match_numbers", &number)
                    .text("JSONPostProcessor.defaultValues", &default_text)
            }
            ExtractFrom::JmesPath(path) => {
                Item::new("JMESPathExtractor", "JMESPathExtractorGui", variable)
                    .text("JMESExtractor.referenceName", variable)
                    .text("JMESExtractor.jmesPathExpr", self.text(path, Place::Text))
                    .text("JMESExtractor.matchNumber", &number)
                    .text("JMESExtractor.defaultValue", &default_text)
            }
            ExtractFrom::Css { selector, attribute } => {
                Item::new("HtmlExtractor", "HtmlExtractorGui", variable)
                    .text("HtmlExtractor.refname", variable)
                    .text("HtmlExtractor.expr", self.text(selector, Place::Text))
                    .text("HtmlExtractor.attribute", attribute)
                    .text("HtmlExtractor.default", &default_text)
                    .flag("HtmlExtractor.default_empty_value", default.as_deref() == Some(""))
                    .text("HtmlExtractor.match_number", &number)
                    .text("HtmlExtractor.extractor_impl", "")
            }
            ExtractFrom::QualifiedXpath(path) => {
                Item::new("XPath2Extractor", "XPath2ExtractorGui", variable)
                    .text("XPathExtractor2.default", &default_text)
                    .text("XPathExtractor2.refname", variable)
                    .text("XPathExtractor2.matchNumber", &number)
                    .text("XPathExtractor2.xpathQuery", self.text(&path.path, Place::Text))
                    .text(
                        "XPathExtractor2.namespaces",
                        self.text(&namespace_lines(path), Place::Text),
                    )
                    .flag("XPathExtractor2.fragment", false)
            }
            ExtractFrom::Xpath(path) => Item::new("XPathExtractor", "XPathExtractorGui", variable)
                .text("XPathExtractor.default", &default_text)
                .text("XPathExtractor.refname", variable)
                .text("XPathExtractor.matchNumber", &number)
                .text("XPathExtractor.xpathQuery", self.text(path, Place::Text))
                .flag("XPathExtractor.validate", false)
                // Without it, JMeter refuses HTML that is not well-formed XML.
                .flag("XPathExtractor.tolerant", true)
                .flag("XPathExtractor.namespace", false),
        };
        Some(match &extractor.part {
            ReplyPart::Variable(name) => {
                item.text("Sample.scope", "variable").text("Scope.variable", name)
            }
            _ => item,
        })
    }

    fn assertion(&mut self, assertion: &Assertion, label: &str) -> Option<Item> {
        let name = &assertion.name;
        Some(match &assertion.test {
            AssertionTest::Text(text) => return self.text_assertion(text, name, label),
            AssertionTest::Duration(millis) => {
                Item::new("DurationAssertion", "DurationAssertionGui", name)
                    .text("DurationAssertion.duration", self.text(millis, Place::Text))
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
                Item::new("SizeAssertion", "SizeAssertionGui", name)
                    .text("Assertion.test_field", field)
                    .text("SizeAssertion.size", self.text(bytes, Place::Text))
                    .number("SizeAssertion.operator", operator)
            }
            AssertionTest::Json { path, expected, invert }
            | AssertionTest::JmesPath { path, expected, invert } => {
                let is_json_path = matches!(assertion.test, AssertionTest::Json { .. });
                let (class, form, property) = if is_json_path {
                    ("JSONPathAssertion", "JSONPathAssertionGui", "JSON_PATH")
                } else {
                    ("JMESPathAssertion", "JMESPathAssertionGui", "JMES_PATH")
                };
                let value = match expected {
                    Some(ExpectedJson::Value(value) | ExpectedJson::Pattern(value)) => {
                        self.text(value, Place::Text)
                    }
                    Some(ExpectedJson::Null) | None => String::new(),
                };
                Item::new(class, form, name)
                    .text(property, self.text(path, Place::Text))
                    .text("EXPECTED_VALUE", value)
                    .flag("JSONVALIDATION", expected.is_some())
                    .flag("EXPECT_NULL", matches!(expected, Some(ExpectedJson::Null)))
                    .flag("INVERT", *invert)
                    .flag("ISREGEX", matches!(expected, Some(ExpectedJson::Pattern(_))))
            }
            AssertionTest::Xpath { path, invert } => {
                Item::new("XPathAssertion", "XPathAssertionGui", name)
                    .flag("XPath.negate", *invert)
                    .text("XPath.xpath", self.text(path, Place::Text))
                    .flag("XPath.validate", false)
                    .flag("XPath.whitespace", false)
                    .flag("XPath.tolerant", true)
                    .flag("XPath.namespace", false)
            }
            AssertionTest::QualifiedXpath { path, invert } => {
                Item::new("XPath2Assertion", "XPath2AssertionGui", name)
                    .flag("XPath.negate", *invert)
                    .text("XPath.xpath", self.text(&path.path, Place::Text))
                    .text("XPath.namespaces", self.text(&namespace_lines(path), Place::Text))
            }
            AssertionTest::Xml => Item::new("XMLAssertion", "XMLAssertionGui", name),
            AssertionTest::Md5(sum) => Item::new("MD5HexAssertion", "MD5HexAssertionGUI", name)
                .text("MD5HexAssertion.size", self.text(sum, Place::Text)),
            AssertionTest::Script(script) => self.script("JSR223Assertion", script),
        })
    }

    fn text_assertion(&mut self, text: &TextAssertion, name: &str, label: &str) -> Option<Item> {
        let mut kind = match text.is {
            TextMatch::Substring => SUBSTRING,
            TextMatch::Equals => EQUALS,
            TextMatch::Contains => CONTAINS,
            TextMatch::Matches => MATCHES,
        };
        let mut patterns: Vec<String> =
            text.patterns.iter().map(|pattern| self.text(pattern, Place::Text)).collect();
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
        let message = self.text(&text.message, Place::Text);
        let (field, variable) = match (part(&text.part), &text.part) {
            (Some((_, field)), _) => (field, None),
            (None, ReplyPart::Variable(name)) => ("Assertion.response_data", Some(name)),
            (None, _) => {
                self.notice(format!(
                    "request \"{label}\": the check `{name}` is left out; JMeter does not look at the body of a request"
                ));
                return None;
            }
        };
        let item = response(name, field, &patterns, kind, text.ignore_status, &message);
        Some(match variable {
            Some(name) => item.text("Assertion.scope", "variable").text("Scope.variable", name),
            None => item,
        })
    }

    /// Exports a script element.
    pub(super) fn script(&mut self, class: &'static str, script: &Script) -> Item {
        let language = match script.language {
            ScriptLanguage::Groovy => "groovy",
            ScriptLanguage::Beanshell => "beanshell",
            ScriptLanguage::Javascript => "javascript",
            ScriptLanguage::Jexl => "jexl3",
        };
        let parameters = self.text(&script.parameters, Place::Text);
        Item::new(class, "TestBeanGUI", &script.name)
            .text("scriptLanguage", language)
            .text("parameters", parameters)
            .text("filename", "")
            // JMeter then compiles the script only once.
            .text("cacheKey", "true")
            .text("script", &script.source)
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
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value));
        Item::new("JavaSampler", "JavaTestSamplerGui", "")
            .with(arguments("arguments", &pairs))
            .text("classname", "org.apache.jmeter.protocol.java.test.JavaTest")
    }

    /// Exports a script that assigns a text to a variable.
    pub(super) fn set(&mut self, class: &'static str, variable: &str, value: &str) -> Item {
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
        self.script(class, &script)
    }
}

/// Exports an extractor by regular expression.
fn regex_extractor(
    extractor: &Extractor,
    pattern: String,
    template: &str,
    part: &str,
    default_text: &str,
    number: &str,
) -> Item {
    Item::new("RegexExtractor", "RegexExtractorGui", &extractor.variable)
        .text("RegexExtractor.useHeaders", part)
        .text("RegexExtractor.refname", &extractor.variable)
        .text("RegexExtractor.regex", pattern)
        .text("RegexExtractor.template", template)
        .text("RegexExtractor.default", default_text)
        .flag("RegexExtractor.default_empty_value", extractor.default.as_deref() == Some(""))
        .text("RegexExtractor.match_number", number)
}

/// The inner pattern of `\A(?:…)\z`, which matches a whole text.
fn whole_text_pattern(pattern: &str) -> Option<String> {
    Some(pattern.strip_prefix(r"\A(?:")?.strip_suffix(r")\z")?.to_owned())
}

fn is_nonzero(millis: &str) -> bool {
    !matches!(millis.trim(), "" | "0")
}

fn response(
    name: &str,
    field: &str,
    patterns: &[String],
    kind: i64,
    ignore_status: bool,
    message: &str,
) -> Item {
    let patterns = patterns.iter().enumerate();
    let patterns =
        patterns.map(|(number, pattern)| Prop::Text(number.to_string(), pattern.clone())).collect();
    Item::new("ResponseAssertion", "AssertionGui", name)
        // JMeter itself misspells this property.
        .with(Prop::List("Asserion.test_strings".into(), patterns))
        .text("Assertion.custom_message", message)
        .text("Assertion.test_field", field)
        .flag("Assertion.assume_success", ignore_status)
        .number("Assertion.test_type", kind)
}

/// An assertion of the accepted statuses, which replaces JMeter's check of the status.
fn status(ranges: &[StatusRange]) -> Item {
    let patterns = ranges.iter().flat_map(|range| match (range.least, range.most) {
        (least, most) if least == most => vec![least.to_string()],
        (least, most) if least % 100 == 0 && most == least + 99 => {
            vec![format!(r"{}\d\d", least / 100)]
        }
        // Status codes have three digits.
        (least, most) => (least..=most.min(999)).map(|status| status.to_string()).collect(),
    });
    let patterns: Vec<String> = patterns.collect();
    response("status", "Assertion.response_code", &patterns, MATCHES | OR, true, "")
}

/// Namespaces of a path in JMeter's format: `prefix=URI`, one per line.
fn namespace_lines(path: &QualifiedXpath) -> String {
    let lines: Vec<String> =
        path.namespaces.iter().map(|(prefix, uri)| format!("{prefix}={uri}")).collect();
    lines.join("\n")
}
