//! Converts assertions to checks of the response.

use super::PlanReader;
use super::extractors::json_path;
use super::failing::{PlanScript, failing_assertion};
use super::patterns::translated;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::ElementKind;
use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{
    Assertion, AssertionTest, ExpectedJson, NumberComparison, TextAssertion, TextMatch,
};

impl PlanReader<'_> {
    /// Converts an assertion; None if it has no effect.
    ///
    /// # Errors
    ///
    /// Fails on an invalid setting.
    pub(super) fn assertion(
        &mut self,
        element: TestElement<'_>,
    ) -> Result<Option<Assertion>, JmxError> {
        let test = match element.kind() {
            Some(ElementKind::ResponseAssertion) => self.response(element)?,
            Some(ElementKind::DurationAssertion) => {
                AssertionTest::Duration(self.text(element, "DurationAssertion.duration"))
            }
            Some(ElementKind::SizeAssertion) => self.size(element)?,
            Some(ElementKind::JsonAssertion) => self.json_assertion(element),
            Some(ElementKind::JmesPathAssertion) => AssertionTest::JmesPath {
                path: self.text(element, "JMES_PATH"),
                expected: self.expected_json(element),
                invert: self.flag(element, "INVERT", false),
            },
            Some(ElementKind::XpathAssertion) => AssertionTest::Xpath {
                path: self.text(element, "XPath.xpath"),
                invert: self.flag(element, "XPath.negate", false),
            },
            Some(ElementKind::Xpath2Assertion) => AssertionTest::QualifiedXpath {
                path: self.qualified_path(element, "XPath.xpath", "XPath.namespaces"),
                invert: self.flag(element, "XPath.negate", false),
            },
            Some(ElementKind::XmlAssertion) => AssertionTest::Xml,
            Some(ElementKind::Md5Assertion) => {
                AssertionTest::Md5(self.text(element, "MD5HexAssertion.size"))
            }
            Some(
                ElementKind::Jsr223Assertion
                | ElementKind::BeanShellAssertion
                | ElementKind::BsfAssertion,
            ) => {
                let is_beanshell = element.kind() == Some(ElementKind::BeanShellAssertion);
                let source = if is_beanshell { "BeanShellAssertion.query" } else { "script" };
                match self.script(element, source)? {
                    PlanScript::Readable(script) => AssertionTest::Script(script),
                    PlanScript::Failing { exception } => failing_assertion(
                        &format!("script `{}`: {exception}", element.name()),
                        false,
                    ),
                    PlanScript::LeftOut => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Assertion { name: element.name().into_owned(), test }))
    }

    fn response(&mut self, element: TestElement<'_>) -> Result<AssertionTest, JmxError> {
        const MATCHES: i64 = 1;
        const NOT: i64 = 4;
        const EQUALS: i64 = 8;
        const SUBSTRING: i64 = 16;
        const OR: i64 = 32;
        // JMeter's default is 2, Contains.
        let kind = self.number(element, "Assertion.test_type", 2.0)? as i64;
        let is = match kind {
            kind if kind & EQUALS > 0 => TextMatch::Equals,
            kind if kind & SUBSTRING > 0 => TextMatch::Substring,
            kind if kind & MATCHES > 0 => TextMatch::Matches,
            _ => TextMatch::Contains,
        };
        let properties = element.properties();
        let is_expression = matches!(is, TextMatch::Contains | TextMatch::Matches);
        let patterns: Vec<String> =
            // JMeter itself misspells this property.
            properties.items("Asserion.test_strings").map(|item| self.before.folded(&item.text())).collect();
        if is_expression && let Some(failing) = self.without_pattern(element, &patterns) {
            return Ok(failing);
        }
        let patterns =
            patterns.into_iter().map(|text| if is_expression { translated(&text) } else { text });
        let field = self.value(element, "Assertion.test_field");
        let part = match field.rsplit('.').next().unwrap_or_default() {
            _ if self.value(element, "Assertion.scope") == "variable" => {
                ReplyPart::Variable(self.value(element, "Scope.variable"))
            }
            "response_code" => ReplyPart::Status,
            "response_message" => ReplyPart::Message,
            "response_headers" => ReplyPart::Headers,
            "request_headers" => ReplyPart::RequestHeaders,
            "request_data" => ReplyPart::SamplerData,
            // Despite its name, JMeter's field is the URL.
            "sample_label" => ReplyPart::Url,
            _ => ReplyPart::Body,
        };
        Ok(AssertionTest::Text(TextAssertion {
            part,
            patterns: patterns.collect(),
            is,
            not: kind & NOT > 0,
            any: kind & OR > 0,
            ignore_status: self.flag(element, "Assertion.assume_success", false),
            message: self.text(element, "Assertion.custom_message"),
        }))
    }

    fn size(&self, element: TestElement<'_>) -> Result<AssertionTest, JmxError> {
        let is = match self.number(element, "SizeAssertion.operator", 1.0)? as i64 {
            2 => NumberComparison::NotEqual,
            3 => NumberComparison::Greater,
            4 => NumberComparison::Less,
            5 => NumberComparison::AtLeast,
            6 => NumberComparison::AtMost,
            _ => NumberComparison::Equal,
        };
        let field = self.value(element, "Assertion.test_field");
        let part = match field.rsplit('.').next().unwrap_or_default() {
            "response_data" => Some(ReplyPart::Body),
            "response_headers" => Some(ReplyPart::Headers),
            "response_code" => Some(ReplyPart::Status),
            "response_message" => Some(ReplyPart::Message),
            _ => None,
        };
        Ok(AssertionTest::Size { part, is, bytes: self.text(element, "SizeAssertion.size") })
    }

    fn expected_json(&self, element: TestElement<'_>) -> Option<ExpectedJson> {
        let validates = self.flag(element, "JSONVALIDATION", false);
        let value = self.text(element, "EXPECTED_VALUE");
        match validates {
            false => None,
            true if self.flag(element, "EXPECT_NULL", false) => Some(ExpectedJson::Null),
            true if self.flag(element, "ISREGEX", true) => Some(ExpectedJson::Pattern(value)),
            true => Some(ExpectedJson::Value(value)),
        }
    }

    fn json_assertion(&self, element: TestElement<'_>) -> AssertionTest {
        AssertionTest::Json {
            path: json_path(&self.text(element, "JSON_PATH")),
            expected: self.expected_json(element),
            invert: self.flag(element, "INVERT", false),
        }
    }
}
