//! Parts of plans that fail each time they run, as in JMeter: files that are missing, classes of libraries that JMeter lacks, and
//! invalid regular expressions. A note names each.

use super::Reader;
use super::patterns::{error_of, translated};
use super::requests::WrongHost;
use crate::element::TestElement;
use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{AssertionTest, TextAssertion, TextMatch};
use brunt_model::scenario::{FixedSample, SampleMaker, Script, ScriptLanguage};
use brunt_script::sample_message;
use brunt_script::template::plain;
use std::path::{Path, PathBuf};

/// A text that no reply has.
const NEVER: &str = "\u{0}";

/// The script of an element.
pub(super) enum PlanScript {
    /// It can be read.
    Readable(Script),
    /// It fails each time that it runs, with this exception and its message.
    Failing { exception: String },
    /// It is left out.
    LeftOut,
}

impl PlanScript {
    /// The script of a processor or a timer. One that fails changes nothing in JMeter.
    pub(super) fn script(self) -> Option<Script> {
        match self {
            Self::Readable(script) => Some(script),
            Self::Failing { .. } | Self::LeftOut => None,
        }
    }
}

/// The maker of the sample of a script sampler.
impl From<PlanScript> for SampleMaker {
    fn from(script: PlanScript) -> Self {
        let exception = match script {
            PlanScript::Readable(script) => return Self::Script(script),
            PlanScript::Failing { exception } => exception,
            PlanScript::LeftOut => "java.lang.RuntimeException: the script cannot be read".to_owned(),
        };
        Self::Fixed(FixedSample::failure("500".into(), plain(&sample_message(&exception))))
    }
}

impl Reader<'_> {
    /// Makes the sample of a request whose file is not there.
    pub(super) fn without_upload(&mut self, sampler: TestElement<'_>, file: &Path) -> SampleMaker {
        let file = file.display().to_string();
        self.notice(format!("{}: each sample fails, {file} is not there", sampler.place()));
        unsent("java.io.FileNotFoundException", &format!("{file} (No such file or directory)"))
    }

    /// Makes the sample of a request whose host leads nowhere.
    pub(super) fn with_wrong_host(&mut self, sampler: TestElement<'_>, wrong: &WrongHost) -> SampleMaker {
        let (why, exception, message) = match wrong {
            WrongHost::Slash => (
                "each sample fails and has no label, as in JMeter: its server name has a slash; write the host alone",
                "java.net.MalformedURLException",
                "Illegal character found in host: '/'".to_owned(),
            ),
            WrongHost::None { url } => (
                "each sample fails, it has no server name; write one into it or into the HTTP Request Defaults around it",
                "org.apache.http.client.ClientProtocolException",
                format!("URI does not specify a valid host name: {url}"),
            ),
        };
        self.notice(format!("{}: {why}", sampler.place()));
        unsent(exception, &message)
    }

    /// Where the file of a script would be that is not there; None: it is there, may not be read, or none is named.
    pub(super) fn missing_script(&self, file: &str) -> Option<PathBuf> {
        let is_left_out = file.is_empty() || file.contains("${") || self.surroundings.lenient;
        if is_left_out { None } else { self.surroundings.folder.missing_upload(file) }
    }

    /// A script whose file is not there.
    pub(super) fn without_script(&mut self, element: TestElement<'_>, file: &Path) -> PlanScript {
        let file = file.display().to_string();
        self.notice(format!("{}: the script fails each time, {file} is not there", element.place()));
        let name = element.name();
        PlanScript::Failing {
            exception: format!("javax.script.ScriptException: Script file '{file}' is not a file for element: {name}"),
        }
    }

    /// A script that cannot be read: as in JMeter, it fails each time that it runs.
    pub(super) fn unreadable_script(&mut self, element: TestElement<'_>, why: &str) -> PlanScript {
        self.notice(format!("{}: the script fails each time, {why}", element.place()));
        PlanScript::Failing { exception: format!("javax.script.ScriptException: {why}") }
    }

    /// A script that needs a class of a library that Apache JMeter does not bring along.
    pub(super) fn without_class(&mut self, element: TestElement<'_>, script: &Script, class: &str) -> PlanScript {
        let why = "it is of a library that neither brunt nor Apache JMeter has";
        self.notice(format!("{}: the script fails each time, {class} is not known: {why}", element.place()));
        if script.language == ScriptLanguage::Beanshell {
            let name = class.rsplit('.').next().unwrap_or(class);
            let exception = format!("org.apache.jorphan.util.JMeterException: Class: {name} not found in namespace");
            return PlanScript::Failing { exception };
        }
        PlanScript::Failing {
            exception: format!(
                "org.codehaus.groovy.control.MultipleCompilationErrorsException: startup failed:\n\
                 Script1.groovy: unable to resolve class {class}\n\n1 error\n"
            ),
        }
    }

    /// An assertion that never holds, where one of its patterns is none.
    pub(super) fn without_pattern(&mut self, element: TestElement<'_>, written: &[String]) -> Option<AssertionTest> {
        let is_known = |pattern: &&String| !pattern.contains("${");
        let (wrong, why) = written.iter().filter(is_known).find_map(|pattern| {
            let checked = || brunt_script::check::pattern(&translated(pattern)).err();
            let why = error_of(pattern).map(str::to_owned).or_else(checked)?;
            Some((pattern, why))
        })?;
        self.notice(format!(
            "{}: the assertion fails each time, `{wrong}` is no regular expression: {why}",
            element.place()
        ));
        let exception = "org.apache.oro.text.MalformedCachePatternException";
        let message = format!("Bad test configuration {exception}: Invalid expression: {wrong}\n{why}");
        let ignores_status = self.flag(element, "Assertion.assume_success", false);
        Some(failing_assertion(&message, ignores_status))
    }
}

/// An assertion that never holds.
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

/// Makes the sample of a request that an exception kept from being sent.
fn unsent(exception: &str, message: &str) -> SampleMaker {
    SampleMaker::Fixed(FixedSample::failure(
        format!("Non HTTP response code: {exception}"),
        format!("Non HTTP response message: {message}"),
    ))
}
