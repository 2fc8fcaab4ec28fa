//! Elements that fail each time they run, as in JMeter: missing files, classes of libraries that
//! JMeter lacks, and invalid regular expressions. Each has a notice.

use super::PlanReader;
use super::patterns::{error_of, translated};
use super::requests::InvalidHost;
use crate::element::TestElement;
use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{AssertionTest, TextAssertion, TextMatch};
use brunt_model::scenario::{FixedSample, SampleMaker, Script, ScriptLanguage};
use brunt_script::sample_message;
use brunt_script::template::plain;
use std::path::{Path, PathBuf};

/// A text that occurs in no reply.
const NEVER: &str = "\u{0}";

/// The script of an element.
pub(super) enum PlanScript {
    /// The script parses without errors.
    Readable(Script),
    /// The script fails each time it runs, with this exception and message.
    Failing { exception: String },
    /// The script is omitted.
    LeftOut,
}

impl PlanScript {
    /// The script of a processor or timer. A failing one has no effect in JMeter.
    pub(super) fn script(self) -> Option<Script> {
        match self {
            Self::Readable(script) => Some(script),
            Self::Failing { .. } | Self::LeftOut => None,
        }
    }
}

/// Source of the sample of a script sampler.
impl From<PlanScript> for SampleMaker {
    fn from(script: PlanScript) -> Self {
        let exception = match script {
            PlanScript::Readable(script) => return Self::Script(script),
            PlanScript::Failing { exception } => exception,
            PlanScript::LeftOut => {
                "java.lang.RuntimeException: the script cannot be read".to_owned()
            }
        };
        Self::Fixed(FixedSample::failure("500".into(), plain(&sample_message(&exception))))
    }
}

impl PlanReader<'_> {
    /// Sample of a request with a missing file.
    pub(super) fn without_upload(&mut self, sampler: TestElement<'_>, file: &Path) -> SampleMaker {
        let file = file.display().to_string();
        self.notice(format!("{}: each sample fails, {file} is not there", sampler.place()));
        unsent("java.io.FileNotFoundException", &format!("{file} (No such file or directory)"))
    }

    /// Sample of a request with an invalid host.
    pub(super) fn failure_for_host(
        &mut self,
        sampler: TestElement<'_>,
        host_error: &InvalidHost,
    ) -> SampleMaker {
        let (reason, exception, message) = match host_error {
            InvalidHost::Slash => (
                "each sample fails and has no label, as in JMeter: its server name has a slash; write the host alone",
                "java.net.MalformedURLException",
                "Illegal character found in host: '/'".to_owned(),
            ),
            InvalidHost::None { url } => (
                "each sample fails, it has no server name; write one into it or into the HTTP Request Defaults around it",
                "org.apache.http.client.ClientProtocolException",
                format!("URI does not specify a valid host name: {url}"),
            ),
        };
        self.notice(format!("{}: {reason}", sampler.place()));
        unsent(exception, &message)
    }

    /// Path of a missing script file. None if the file exists, is not accessible,
    /// or is not configured.
    pub(super) fn missing_script(&self, file: &str) -> Option<PathBuf> {
        let is_left_out = file.is_empty() || file.contains("${") || self.context.lenient;
        if is_left_out { None } else { self.context.folder.missing_upload(file) }
    }

    /// A script whose file is missing.
    pub(super) fn without_script(&mut self, element: TestElement<'_>, file: &Path) -> PlanScript {
        let file = file.display().to_string();
        self.notice(format!(
            "{}: the script fails each time, {file} is not there",
            element.place()
        ));
        let name = element.name();
        PlanScript::Failing {
            exception: format!(
                "javax.script.ScriptException: Script file '{file}' is not a file for element: {name}"
            ),
        }
    }

    /// A script with a syntax error, which fails each time it runs, as in JMeter.
    pub(super) fn unreadable_script(
        &mut self,
        element: TestElement<'_>,
        reason: &str,
    ) -> PlanScript {
        self.notice(format!("{}: the script fails each time, {reason}", element.place()));
        PlanScript::Failing { exception: format!("javax.script.ScriptException: {reason}") }
    }

    /// A script that needs a class of a library that is not part of Apache JMeter.
    pub(super) fn without_class(
        &mut self,
        element: TestElement<'_>,
        script: &Script,
        class: &str,
    ) -> PlanScript {
        let reason = "it is of a library that neither brunt nor Apache JMeter has";
        self.notice(format!(
            "{}: the script fails each time, {class} is not known: {reason}",
            element.place()
        ));
        if script.language == ScriptLanguage::Beanshell {
            let name = class.rsplit('.').next().unwrap_or(class);
            let exception = format!(
                "org.apache.jorphan.util.JMeterException: Class: {name} not found in namespace"
            );
            return PlanScript::Failing { exception };
        }
        PlanScript::Failing {
            exception: format!(
                "org.codehaus.groovy.control.MultipleCompilationErrorsException: startup failed:\n\
                 Script1.groovy: unable to resolve class {class}\n\n1 error\n"
            ),
        }
    }

    /// An assertion that fails each time with this message, as in JMeter.
    pub(super) fn always_failing(
        &mut self,
        element: TestElement<'_>,
        message: &str,
    ) -> AssertionTest {
        self.notice(format!("{}: the assertion fails each time, {message}", element.place()));
        failing_assertion(message, false)
    }

    /// An assertion that always fails, if one of its patterns is invalid.
    pub(super) fn without_pattern(
        &mut self,
        element: TestElement<'_>,
        patterns: &[String],
        ignores_status: bool,
    ) -> Option<AssertionTest> {
        let constants = patterns.iter().filter(|pattern| !pattern.contains("${"));
        let (invalid_pattern, reason) = constants.into_iter().find_map(|pattern| {
            let error = error_of(pattern).map(str::to_owned);
            let reason =
                error.or_else(|| brunt_script::check::pattern(&translated(pattern)).err())?;
            Some((pattern, reason))
        })?;
        self.notice(format!(
            "{}: the assertion fails each time, `{invalid_pattern}` is no regular expression: {reason}",
            element.place()
        ));
        let exception = "org.apache.oro.text.MalformedCachePatternException";
        let message = format!(
            "Bad test configuration {exception}: Invalid expression: {invalid_pattern}\n{reason}"
        );
        Some(failing_assertion(&message, ignores_status))
    }
}

/// An assertion that always fails.
pub(super) fn failing_assertion(message: &str, ignores_status: bool) -> AssertionTest {
    AssertionTest::Text(TextAssertion {
        part: ReplyPart::Status,
        patterns: vec![NEVER.to_owned()],
        is: TextMatch::Equals,
        not: false,
        any: false,
        ignore_status: ignores_status,
        message: plain(message),
    })
}

/// Sample of a request that an exception prevented.
fn unsent(exception: &str, message: &str) -> SampleMaker {
    SampleMaker::Fixed(FixedSample::failure(
        format!("Non HTTP response code: {exception}"),
        format!("Non HTTP response message: {message}"),
    ))
}
