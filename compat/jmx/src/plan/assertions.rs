//! Converts assertions to checks of the response.

use super::PlanReader;
use super::extractors::{json_path, qualified_path};
use super::failing::{PlanScript, failing_assertion};
use super::patterns::translated;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::fields::whole_number;
use crate::support::ElementKind;
use crate::support::kinds::{
    DurationAssertion, JmesPathAssertion, JsonAssertion, Md5Assertion, ResponseAssertion,
    SizeAssertion, Xpath2Assertion, XpathAssertion,
};
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
                let DurationAssertion { millis } = self.fields(element)?;
                // JMeter reads an invalid number as 0, which is no limit.
                let is_limit = whole_number(&self.before.text(&millis));
                if Self::is_constant(&millis) && is_limit.is_none_or(|millis| millis <= 0.0) {
                    return Ok(None);
                }
                AssertionTest::Duration(millis)
            }
            Some(ElementKind::SizeAssertion) => match self.size(element)? {
                Some(test) => test,
                None => return Ok(None),
            },
            Some(ElementKind::JsonAssertion) => {
                let of: JsonAssertion = self.fields(element)?;
                let expected = expected_json(of.has_value, of.is_null, of.is_pattern, of.value);
                AssertionTest::Json { path: json_path(&of.path), expected, invert: of.is_inverted }
            }
            Some(ElementKind::JmesPathAssertion) => {
                let of: JmesPathAssertion = self.fields(element)?;
                let expected = expected_json(of.has_value, of.is_null, of.is_pattern, of.value);
                AssertionTest::JmesPath { path: of.path, expected, invert: of.is_inverted }
            }
            Some(ElementKind::XpathAssertion) => {
                let XpathAssertion { path, is_inverted: invert } = self.fields(element)?;
                AssertionTest::Xpath { path, invert }
            }
            Some(ElementKind::Xpath2Assertion) => {
                let Xpath2Assertion { path, namespaces, is_inverted: invert } =
                    self.fields(element)?;
                // JMeter checks nothing.
                if path.is_empty() {
                    return Ok(None);
                }
                AssertionTest::QualifiedXpath { path: qualified_path(path, &namespaces), invert }
            }
            Some(ElementKind::XmlAssertion) => AssertionTest::Xml,
            Some(ElementKind::Md5Assertion) => {
                let Md5Assertion { sum } = self.fields(element)?;
                AssertionTest::Md5(sum)
            }
            Some(
                ElementKind::Jsr223Assertion
                | ElementKind::BeanShellAssertion
                | ElementKind::BsfAssertion,
            ) => match self.script(element)? {
                PlanScript::Readable(script) => AssertionTest::Script(script),
                PlanScript::Failing { exception } => {
                    failing_assertion(&format!("script `{}`: {exception}", element.name()), false)
                }
                PlanScript::LeftOut => return Ok(None),
            },
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
        let of: ResponseAssertion = self.fields(element)?;
        let kind = of.kind;
        let is = match kind {
            kind if kind & EQUALS > 0 => TextMatch::Equals,
            kind if kind & SUBSTRING > 0 => TextMatch::Substring,
            kind if kind & MATCHES > 0 => TextMatch::Matches,
            _ => TextMatch::Contains,
        };
        let is_expression = matches!(is, TextMatch::Contains | TextMatch::Matches);
        if is_expression
            && let Some(failing) = self.without_pattern(element, &of.patterns, of.ignores_status)
        {
            return Ok(failing);
        }
        let patterns = of
            .patterns
            .into_iter()
            .map(|text| if is_expression { translated(&text) } else { text });
        if matches!(&*of.scope, "all" | "children") {
            self.notice(format!("{}: it applies to the main sample alone", element.place()));
        }
        let part = match of.field.rsplit('.').next().unwrap_or_default() {
            _ if of.scope == "variable" => ReplyPart::Variable(of.source),
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
            ignore_status: of.ignores_status,
            message: of.message,
        }))
    }

    fn size(&mut self, element: TestElement<'_>) -> Result<Option<AssertionTest>, JmxError> {
        let SizeAssertion { bytes, operator, field } = self.fields(element)?;
        let is = match operator {
            2 => NumberComparison::NotEqual,
            3 => NumberComparison::Greater,
            4 => NumberComparison::Less,
            5 => NumberComparison::AtLeast,
            6 => NumberComparison::AtMost,
            _ => NumberComparison::Equal,
        };
        let part = match field.rsplit('.').next().unwrap_or_default() {
            "response_data" => Some(ReplyPart::Body),
            "response_headers" => Some(ReplyPart::Headers),
            "response_code" => Some(ReplyPart::Status),
            "response_message" => Some(ReplyPart::Message),
            _ => None,
        };
        if Self::is_constant(&bytes) {
            match whole_number(&bytes) {
                None => {
                    let exception = "java.lang.NumberFormatException: For input string:";
                    let message = format!("{exception} \"{bytes}\"");
                    return Ok(Some(self.always_failing(element, &message)));
                }
                Some(number) if number < 0.0 => {
                    // Each size is larger.
                    let holds = matches!(
                        is,
                        NumberComparison::NotEqual
                            | NumberComparison::Greater
                            | NumberComparison::AtLeast
                    );
                    let message = format!("The result was the wrong size: it is above {bytes}");
                    return Ok((!holds).then(|| self.always_failing(element, &message)));
                }
                Some(_) => {}
            }
        }
        Ok(Some(AssertionTest::Size { part, is, bytes }))
    }
}

/// The expected value at a path; None if the path has to exist alone.
fn expected_json(
    has_value: bool,
    is_null: bool,
    is_pattern: bool,
    value: String,
) -> Option<ExpectedJson> {
    has_value.then_some(match (is_null, is_pattern) {
        (true, _) => ExpectedJson::Null,
        (false, true) => ExpectedJson::Pattern(value),
        (false, false) => ExpectedJson::Value(value),
    })
}
