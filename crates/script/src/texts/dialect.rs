//! The differences between scenarios with placeholders, with expressions, and from JMeter.

use crate::texts::java_uri;
use brunt_model::scenario::TextRules;
use std::borrow::Cow;

/// The rules for the texts and steps of a scenario. No other module compares them.
#[derive(Debug, Clone, Copy, Default)]
pub enum Dialect {
    /// Texts with `{n}`, `{uuid}` and similar placeholders.
    #[default]
    Placeholders,
    /// Also `${…}` with variables and functions.
    Expressions,
    /// Texts with only `${…}`, and JMeter's behavior.
    Jmeter,
}

impl From<TextRules> for Dialect {
    fn from(rules: TextRules) -> Self {
        match rules {
            TextRules::Placeholders => Self::Placeholders,
            TextRules::Expressions => Self::Expressions,
            TextRules::Jmeter => Self::Jmeter,
        }
    }
}

/// Rules for texts and files.
impl Dialect {
    /// True if texts have placeholders such as `{n}`.
    pub fn has_placeholders(self) -> bool {
        !self.is_jmeter()
    }

    /// True if texts have expressions such as `${name}`.
    pub fn has_expressions(self) -> bool {
        match self {
            Self::Placeholders => false,
            Self::Expressions | Self::Jmeter => true,
        }
    }

    /// True if an unknown expression remains in the text. Otherwise it is an error before the load.
    pub fn keeps_unknown_expressions(self) -> bool {
        self.is_jmeter()
    }

    /// True if values in URLs and bodies are encoded. JMeter sends them unchanged.
    pub fn encodes_values(self) -> bool {
        !self.is_jmeter()
    }

    /// True if the expressions in the source of a script are filled in before it is parsed.
    pub fn fills_in_scripts(self) -> bool {
        self.is_jmeter()
    }

    /// True if a data file may have arbitrary bytes and rows. Otherwise a damaged file is an
    /// error before the load.
    pub fn reads_any_rows(self) -> bool {
        self.is_jmeter()
    }
}

/// Rules for requests and replies.
impl Dialect {
    /// Returns the reason why a valid URL is refused.
    pub fn url_refusal(self, url: &str) -> Option<String> {
        if self.is_jmeter() { java_uri::refusal(url) } else { None }
    }

    /// Returns the URL to parse. JMeter encodes spaces of a path.
    pub fn encode_spaces(self, url: Cow<'_, str>) -> Cow<'_, str> {
        if self.is_jmeter() && url.contains(' ') { url.replace(' ', "%20").into() } else { url }
    }

    /// True if the credentials of a challenge apply to one request only.
    pub fn forgets_challenges(self) -> bool {
        self.is_jmeter()
    }

    /// True if the sample of a request without a reply has a body with a
    /// description of the failure.
    pub fn describes_failures(self) -> bool {
        self.is_jmeter()
    }

    /// True if an exception has no effect in a script that makes no sample and asserts nothing.
    pub fn ignores_exceptions(self) -> bool {
        self.is_jmeter()
    }
}

/// Rules for steps and loops.
impl Dialect {
    /// True if a user itself is a loop: the end of a loop outside of loops ends the
    /// user, not the iteration.
    pub fn has_loop_of_user(self) -> bool {
        self.is_jmeter()
    }

    /// True if steps within a condition lose their position if the condition does not hold, or if
    /// they are not completed.
    pub fn forgets_within_conditions(self) -> bool {
        self.is_jmeter()
    }

    /// True if steps that run once begin again if they were not completed.
    pub fn repeats_unfinished_once(self) -> bool {
        self.is_jmeter()
    }

    /// True if a value that matches no case of a switch selects the first one.
    pub fn selects_first_case(self, value: &str) -> bool {
        self.is_jmeter() && value.trim().parse::<i64>().is_ok()
    }

    fn is_jmeter(self) -> bool {
        match self {
            Self::Placeholders | Self::Expressions => false,
            Self::Jmeter => true,
        }
    }
}
