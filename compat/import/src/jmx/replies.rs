//! Converts extractors, scripts and checks of a request.

use super::Writer;
use brunt_har::text::Braces;
use brunt_har::write::Keys;
use brunt_model::ReplyPolicy;
use brunt_model::extract::{ExtractFrom, Extractor, MatchChoice, QualifiedXpath, ReplyPart};
use brunt_model::reply_policy::{
    Assertion, AssertionTest, ExpectedJson, NumberComparison, ReplyAction, TextAssertion, TextMatch,
};
use brunt_script::expression::{self, TextPart};
use brunt_script::functions;
use brunt_spec::plan::Yaml;
use brunt_spec::plan::scenario::extractors;

/// A check of a plan file.
#[derive(Default)]
struct Check {
    /// Lists of texts by key.
    texts: Vec<(&'static str, Vec<String>)>,
    /// Expected values by their `JSONPath`.
    json: Keys,
    /// Texts by header field.
    headers: Keys,
    /// Further keys of the check.
    others: Keys,
}

impl Check {
    fn push(&mut self, key: &'static str, text: String) {
        match self.texts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, texts)) => texts.push(text),
            None => self.texts.push((key, vec![text])),
        }
    }
}

impl Writer<'_> {
    /// Writes the keys `until` and `reply_events` of a WebSocket message.
    pub(super) fn await_keys(&mut self, policy: &ReplyPolicy, place: &str, keys: &mut Keys) {
        let mut check = Check::default();
        for condition in &policy.until {
            if let Err(why) = self.assertion(condition, place, &mut check) {
                self.notice(format!(
                    "{place}: a condition of the awaited message is left out, {why}"
                ));
            }
        }
        let has_inverse = check.texts.iter().any(|(key, _)| key.ends_with("_not"));
        if has_inverse {
            let wrong = "a plan file can select the awaited messages, but not the skipped ones";
            self.notice(format!("{place}: a filter of messages is left out, {wrong}"));
        }
        let texts = check.texts.into_iter().filter(|(key, _)| !key.ends_with("_not"));
        let until: Keys = texts.map(|(key, texts)| (key.to_owned(), Yaml::texts(texts))).collect();
        if !until.is_empty() {
            keys.push(("until".into(), Yaml::Map(until)));
        }
        if policy.events.is_some_and(|events| events.most == Some(0)) {
            keys.push(("reply_events".into(), Yaml::text("messages,0")));
        }
    }

    /// Writes the keys `extract`, `after` and `check` of a request.
    pub(super) fn reactions(&mut self, policy: &ReplyPolicy, place: &str, keys: &mut Keys) {
        let mut extract = Keys::new();
        let mut after = Vec::new();
        for action in &policy.actions {
            match action {
                ReplyAction::Extract(extractor) => {
                    if !after.is_empty() {
                        let place = self.extractor_place(&extractor.variable, place);
                        self.notice(format!(
                            "{place}: it is carried out before the scripts of its request"
                        ));
                    }
                    self.extractor(extractor, place, &mut extract);
                }
                ReplyAction::Script(script) => after.extend(self.script(script, place)),
                ReplyAction::Set { variable, value } => {
                    let value = self.plain(value);
                    self.following_steps.push(Yaml::map([(
                        "set",
                        Yaml::Map(vec![(variable.clone(), Yaml::Text(value))]),
                    )]));
                }
                ReplyAction::Keep => {}
            }
        }
        if !extract.is_empty() {
            keys.push(("extract".into(), Yaml::Map(extract)));
        }
        if !after.is_empty() {
            keys.push(("after".into(), Yaml::texts(after)));
        }
        let mut check = Check::default();
        for assertion in &policy.assertions {
            if let Err(why) = self.assertion(assertion, place, &mut check) {
                let place = self.element_place(&assertion.name, place);
                self.notice(format!("{place}: left out, {why}"));
            }
        }
        // The order in which plan files list them.
        let order =
            ["status", "contains", "contains_not", "matches", "matches_not", "exists", "script"];
        check.texts.sort_by_key(|(key, _)| order.iter().position(|known| known == key));
        let mut all: Keys = check
            .texts
            .into_iter()
            .map(|(key, texts)| (key.to_owned(), Yaml::texts(texts)))
            .collect();
        for (name, keys) in [("json", check.json), ("header", check.headers)] {
            if !keys.is_empty() {
                all.push((name.into(), Yaml::Map(keys)));
            }
        }
        all.extend(check.others);
        if !all.is_empty() {
            keys.push(("check".into(), Yaml::Map(all)));
        }
    }

    fn extractor(&mut self, extractor: &Extractor, place: &str, extract: &mut Keys) {
        let Extractor { variable, from, take, .. } = extractor;
        let extractor_place = self.extractor_place(variable, place);
        if variable.trim().is_empty() {
            self.notice(format!("{extractor_place}: left out, it names no variable"));
            return;
        }
        if extract.iter().any(|(known, _)| known == variable) {
            if *take != MatchChoice::First {
                self.notice(format!(
                    "{extractor_place}: left out, `{variable}` is taken out of this reply already"
                ));
            }
            return;
        }
        if let ExtractFrom::QualifiedXpath(QualifiedXpath { path, .. }) = from {
            self.notice(format!(
                "{extractor_place}: a plan file has no namespaces; the prefixes of `{path}` match as written"
            ));
        }
        let Some(value) = extractors::write(extractor, &mut |text| self.plain(text)) else {
            self.notice(format!(
                "{extractor_place}: left out, a plan file extracts from replies only"
            ));
            self.declared.push((variable.clone(), String::new()));
            return;
        };
        extract.push((variable.clone(), value));
    }

    /// Adds an assertion to a check. The error explains why a check cannot express it.
    fn assertion(
        &mut self,
        assertion: &Assertion,
        place: &str,
        check: &mut Check,
    ) -> Result<(), String> {
        match &assertion.test {
            AssertionTest::Text(text) => self.text_assertion(text, check)?,
            AssertionTest::Duration(millis) => {
                let millis: u64 = constant(millis)?;
                check.others.push(("max_time".into(), Yaml::text(format!("{millis}ms"))));
            }
            AssertionTest::Size { part, is, bytes } => {
                if *part != Some(ReplyPart::Body) {
                    return Err("a plan file knows the size of the body only".into());
                }
                let bytes: u64 = constant(bytes)?;
                let (least, most) = match is {
                    NumberComparison::Equal => (Some(bytes), Some(bytes)),
                    NumberComparison::NotEqual => {
                        return Err("a plan file has no size that is not the one".into());
                    }
                    NumberComparison::Greater => (Some(bytes + 1), None),
                    NumberComparison::AtLeast => (Some(bytes), None),
                    NumberComparison::Less => (None, Some(bytes.saturating_sub(1))),
                    NumberComparison::AtMost => (None, Some(bytes)),
                };
                for (name, bytes) in [("min_size", least), ("max_size", most)] {
                    check.others.extend(
                        bytes.map(|bytes| (name.to_owned(), Yaml::text(bytes.to_string()))),
                    );
                }
            }
            AssertionTest::Json { path, expected, invert } => {
                let path = self.plain(path);
                match expected {
                    _ if *invert => {
                        return Err("a plan file has no JSON that is not there".to_owned());
                    }
                    None => check.push("exists", path),
                    Some(expected) => {
                        let value = match expected {
                            ExpectedJson::Null => Yaml::text("null"),
                            ExpectedJson::Value(value) => Yaml::Text(self.plain(value)),
                            ExpectedJson::Pattern(pattern) if is_plain(pattern) => {
                                Yaml::Text(self.plain(pattern))
                            }
                            ExpectedJson::Pattern(_) => {
                                check.push("exists", path);
                                return Err(
                                    "only the existence of the path is checked; a plan file compares JSON with values"
                                        .into(),
                                );
                            }
                        };
                        add_once(&mut check.json, path, value)?;
                    }
                }
            }
            AssertionTest::JmesPath { .. } => {
                return Err("a plan file checks no JMESPath; extract a variable by it".into());
            }
            AssertionTest::Xpath { path, invert: false } => {
                if check.others.iter().any(|(name, _)| name == "xpath") {
                    return Err("a check has one XPath".into());
                }
                check.others.push(("xpath".into(), Yaml::Text(self.plain(path))));
            }
            AssertionTest::Xpath { .. } | AssertionTest::QualifiedXpath { invert: true, .. } => {
                return Err("a plan file has no XPath that must not hold".into());
            }
            AssertionTest::QualifiedXpath { path, invert: false } => {
                return Err(format!("a plan file has no namespaces for the XPath `{}`", path.path));
            }
            AssertionTest::Xml => {
                return Err("a plan file does not check whether a body is XML".into());
            }
            AssertionTest::Md5(_) => return Err("a plan file has no MD5 sums".into()),
            AssertionTest::Script(script) => {
                if let Some(source) = self.script(script, place) {
                    check.push("script", source);
                }
            }
        }
        Ok(())
    }

    fn text_assertion(&mut self, text: &TextAssertion, check: &mut Check) -> Result<(), String> {
        let TextAssertion { part, patterns, is, not, any, ignore_status, .. } = text;
        if *ignore_status && *part != ReplyPart::Status {
            // Any status is good. Without this, an error status would fail the request.
            check.push("status", "1xx,2xx,3xx,4xx,5xx".to_owned());
        }
        match part {
            ReplyPart::Body | ReplyPart::UnescapedBody => {}
            // JMeter's response headers begin with the status line.
            ReplyPart::Headers if let Some(status) = status_line(text) => {
                check.push("status", status);
                return Ok(());
            }
            ReplyPart::Status if let Ok(words) = status(text) => {
                check.push("status", words);
                return Ok(());
            }
            ReplyPart::Headers if !not && !any && *is == TextMatch::Substring => {
                for pattern in patterns {
                    let Some((name, value)) = pattern.split_once(':') else {
                        return Err("a plan file checks header fields by name".into());
                    };
                    let value = self.text(value.trim(), Braces::Plain);
                    add_once(&mut check.headers, name.trim().to_owned(), Yaml::Text(value))?;
                }
                return Ok(());
            }
            // Only Groovy is written, and a scenario has one language.
            _ if self.is_javascript => {
                return Err("a plan file checks bodies, statuses and header fields only".into());
            }
            _ => {
                let script = script_of(text)
                    .ok_or("a plan file checks bodies, statuses and header fields only")?;
                check.push("script", super::texts::escape_dollars(&script));
                return Ok(());
            }
        }

        if *is == TextMatch::Substring && (!any || patterns.len() == 1) {
            for pattern in patterns {
                let pattern = self.plain(pattern);
                check.push(if *not { "contains_not" } else { "contains" }, pattern);
            }
            return Ok(());
        }
        let expressions = patterns.iter().map(|pattern| match is {
            TextMatch::Contains => pattern.clone(),
            // JMeter's Matches covers the whole text; the check of a plan file searches in it.
            TextMatch::Matches => format!(r"\A(?:{pattern})\z"),
            TextMatch::Equals => format!(r"\A{}\z", as_regex(pattern)),
            TextMatch::Substring => as_regex(pattern),
        });
        let key = if *not { "matches_not" } else { "matches" };
        let expressions: Vec<String> = expressions.collect();
        if *any && expressions.len() > 1 {
            let all: Vec<String> = expressions.iter().map(|one| format!("(?:{one})")).collect();
            let all = self.plain(&all.join("|"));
            check.push(key, all);
        } else {
            for one in expressions {
                let one = self.plain(&one);
                check.push(key, one);
            }
        }
        Ok(())
    }
}

/// Writes an assertion as a Groovy script, for parts of a reply without a key in `check`. None if
/// its texts contain variables.
fn script_of(text: &TextAssertion) -> Option<String> {
    let part = match &text.part {
        ReplyPart::Body | ReplyPart::UnescapedBody => "prev.getResponseDataAsString()",
        ReplyPart::Headers => "prev.getResponseHeaders()",
        ReplyPart::RequestHeaders => "prev.getRequestHeaders()",
        ReplyPart::Status => "prev.getResponseCode()",
        ReplyPart::Message => "prev.getResponseMessage()",
        ReplyPart::Url => "prev.getUrlAsString()",
        ReplyPart::SamplerData | ReplyPart::RequestBody => return None,
        ReplyPart::Variable(name) => {
            return script_with(text, &format!("(vars.get({}) ?: '')", quoted(name)));
        }
    };
    script_with(text, part)
}

fn script_with(text: &TextAssertion, part: &str) -> Option<String> {
    if text.patterns.iter().any(|pattern| pattern.contains("${")) {
        return None;
    }
    let conditions: Vec<String> =
        text.patterns.iter().map(|pattern| groovy_condition(text.is, pattern)).collect();
    let joined = match (text.any, text.not) {
        (true, false) => conditions.join(" || "),
        (false, false) => conditions.join(" && "),
        (_, true) => format!("!({})", conditions.join(" || ")),
    };
    Some(format!("def text = {part}\nif (!({joined})) {{ AssertionResult.setFailure(true) }}"))
}

fn groovy_condition(is: TextMatch, pattern: &str) -> String {
    let pattern = quoted(pattern);
    match is {
        TextMatch::Substring => format!("text.contains({pattern})"),
        TextMatch::Equals => format!("text == {pattern}"),
        TextMatch::Contains => format!("(text =~ {pattern}).find()"),
        TextMatch::Matches => format!("(text ==~ {pattern})"),
    }
}

/// Quotes a text for Groovy.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'").replace('\n', r"\n"))
}

/// The status of an assertion on a status line such as `HTTP/1.1 200 OK`.
fn status_line(text: &TextAssertion) -> Option<String> {
    let [pattern] = &text.patterns[..] else { return None };
    let is_search = matches!(text.is, TextMatch::Substring | TextMatch::Contains) && !text.not;
    let rest = pattern.trim_start_matches('^').strip_prefix("HTTP/1.1 ").filter(|_| is_search)?;
    let (status, phrase) = rest.split_at_checked(3)?;
    let is_status = status.bytes().all(|byte| byte.is_ascii_digit());
    let is_phrase = phrase.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
    (is_status && is_phrase).then(|| status.to_owned())
}

/// The statuses that an assertion accepts.
fn status(text: &TextAssertion) -> Result<String, String> {
    let cannot = "a plan file lists the statuses that are good";
    if text.not {
        return Err(cannot.to_owned());
    }

    let alternatives = text.patterns.iter().flat_map(|pattern| {
        let inner = pattern.trim().trim_start_matches('^').trim_end_matches('$');
        let inner =
            inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
        inner.split('|').map(str::to_owned).collect::<Vec<_>>()
    });
    let words: Option<Vec<String>> =
        alternatives.map(|pattern| status_or_class(text.is, &pattern)).collect();
    let words = words.filter(|words| !words.is_empty()).ok_or(cannot)?;
    if text.patterns.len() > 1 && !text.any {
        return Err(cannot.to_owned());
    }
    Ok(words.join(","))
}

/// A status, or a class such as `2xx`, that a pattern accepts.
fn status_or_class(is: TextMatch, pattern: &str) -> Option<String> {
    let pattern = pattern.trim().trim_start_matches('^').trim_end_matches('$');
    let is_number = pattern.len() == 3 && pattern.bytes().all(|byte| byte.is_ascii_digit());
    let class = pattern.chars().next().filter(|first| ('1'..='5').contains(first));
    match (class, pattern.get(1..)) {
        _ if is_number => Some(pattern.to_owned()),
        (
            Some(class),
            Some(r"\d\d" | r"\d{2}" | r"[0-9][0-9]" | r"[0-9]{2}" | ".." | ".*" | r"\d*" | r"\d+"),
        ) => Some(format!("{class}xx")),
        (Some(class), Some("")) if is == TextMatch::Contains || is == TextMatch::Substring => {
            Some(format!("{class}xx"))
        }
        _ => None,
    }
}

/// Parses a number that does not depend on the run.
fn constant<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is no whole number that is known before the run"))
}

/// Adds a check of a path or header field. A plan file compares each with a single text.
fn add_once(checks: &mut Keys, name: String, value: Yaml) -> Result<(), String> {
    if checks.iter().any(|(known, other)| *known == name && *other != value) {
        return Err(format!("a check compares `{name}` with one text"));
    }
    if !checks.iter().any(|(known, _)| *known == name) {
        checks.push((name, value));
    }
    Ok(())
}

fn is_plain(pattern: &str) -> bool {
    !pattern.contains("${")
        && pattern
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '@' | ':' | '/' | ','))
}

/// Escapes a text as a regular expression. Expressions in it are escaped at run time.
fn as_regex(text: &str) -> String {
    let has_expressions = text.contains("${");
    let parts = expression::parse(text).into_iter().map(|stretch| match stretch {
        TextPart::Literal(text) => functions::escaped_regex(&text),
        TextPart::Variable { written, .. } | TextPart::Call { written, .. } => {
            format!("${{escapeOroRegexpChars({written})}}")
        }
    });
    let all: String = parts.collect();
    // In a text with expressions, a backslash escapes the next character.
    if has_expressions { all.replace('\\', r"\\") } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(patterns: &[&str], is: TextMatch) -> Option<String> {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let any = patterns.len() > 1;
        let (part, message) = (ReplyPart::Status, String::new());
        status(&TextAssertion {
            part,
            patterns,
            is,
            not: false,
            any,
            ignore_status: false,
            message,
        })
        .ok()
    }

    #[test]
    fn patterns_of_statuses_become_status_lists() {
        assert_eq!(statuses(&["200"], TextMatch::Equals).as_deref(), Some("200"));
        assert_eq!(statuses(&["200|30[12]"], TextMatch::Matches), None);
        assert_eq!(statuses(&["^(200|3..)$"], TextMatch::Matches).as_deref(), Some("200,3xx"));
        assert_eq!(statuses(&["200", "302"], TextMatch::Equals).as_deref(), Some("200,302"));
        assert_eq!(statuses(&["2"], TextMatch::Contains).as_deref(), Some("2xx"));
    }
}
