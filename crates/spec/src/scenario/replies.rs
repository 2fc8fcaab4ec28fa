//! What is made of the replies of steps: extractors and checks.

use super::{Reader, scope, texts, written};
use crate::error::{Result, SpecError};
use crate::plan::words::ScalarList;
use crate::plan::{Entry, Node, json, read};
use crate::words::status;
use brunt_model::ReplyPolicy;
use brunt_model::extract::{ExtractFrom, Extractor, ReplyPart, Take};
use brunt_model::reply_policy::{
    Assertion, AssertionTest, Comparison, Credentials, Elements, ExpectedJson, ReplyAction, TextAssertion, TextMatch,
};
use brunt_script::functions;

impl Reader<'_> {
    /// The policy of a request; its number.
    pub(super) fn policy(&mut self, node: &Node, step: &written::Step) -> Result<u32> {
        let mut policy = self.policy.clone();
        if let Some(on_failure) = step.on_failure {
            policy.failure_ends = scope(on_failure);
        }
        policy.timeout = step.timeout.map(|time| time.0);
        if let Some(follow) = step.follow {
            policy.redirects.most = follow;
        }
        policy.elements = step.resources.unwrap_or(false).then(Elements::default);
        policy.events = step.reply_events.map(|events| events.0);
        if let Some((user, password)) = step.digest.as_ref().map(|pair| pair.0.split_once(':').unwrap_or((&pair.0, "")))
        {
            let (user, password) = (user.to_owned(), password.to_owned());
            if user.contains("${") || password.contains("${") {
                let wrong = "variables of users cannot stand here; write the name and the password, or ${env.NAME}";
                return Err(SpecError::new(&node.at, "digest", wrong));
            }
            policy.credentials.push(Credentials { realm: None, user, password });
            policy.repeats_unauthorized = 1;
        }
        if let Some(extract) = node.child("extract") {
            let one = |entry: &Entry| extractor(entry).map_err(|error| error.within("extract", &entry.node.at));
            let all = extract.entries().iter().map(one).collect::<Result<Vec<_>>>()?;
            policy.actions.extend(all.into_iter().map(ReplyAction::Extract));
        }
        if let Some(until) = node.child("until") {
            policy.until = awaited(until).map_err(|error| error.within("until", &until.at))?;
        }
        for script in step.after.iter().flat_map(|scripts| &scripts.0) {
            policy.actions.push(ReplyAction::Script(self.script("after", script)));
        }
        if let (Some(check), Some(node)) = (&step.check, node.child("check")) {
            checks(check, node, &mut policy).map_err(|error| error.within("check", &node.at))?;
            for script in check.script.iter().flat_map(|scripts| &scripts.0) {
                let test = AssertionTest::Script(self.script("check", script));
                policy.assertions.push(Assertion { name: "script".into(), test });
            }
        }
        let known = self.policies.iter().position(|known| *known == policy);
        Ok(known.unwrap_or_else(|| {
            self.policies.push(policy);
            self.policies.len() - 1
        }) as u32)
    }
}

fn extractor(entry: &Entry) -> Result<Extractor> {
    let variable = entry.key.clone();
    let within = |error: SpecError| error.within(&entry.key, &entry.node.at);
    let plain = |from| Extractor {
        variable: variable.clone(),
        from,
        part: ReplyPart::Body,
        samples: brunt_model::extract::SampleScope::Main,
        take: Take::First,
        default: None,
        sets_more: false,
    };
    if let Some(path) = entry.node.text() {
        return Ok(plain(ExtractFrom::JsonPath(path.to_owned())));
    }
    let written: written::Extract = read(&entry.node).map_err(within)?;
    let group = |pattern: &str| written.group.unwrap_or_else(|| u32::from(functions::has_group(pattern)));
    let attribute = written.attribute.map(|attribute| attribute.0).unwrap_or_default();
    let template = written.template.map(|template| template.0);
    let part = written.part.map_or(ReplyPart::Body, part_of);
    let ways = [
        written.json.map(|path| ExtractFrom::JsonPath(path.0)),
        written.jmespath.map(|path| ExtractFrom::JmesPath(path.0)),
        written.regex.map(|regex| ExtractFrom::Regex { group: group(&regex.0), pattern: regex.0, template }),
        written.between.map(|[left, right]| ExtractFrom::Boundary { left: left.0, right: right.0 }),
        written.css.map(|selector| ExtractFrom::Css { selector: selector.0, attribute: attribute.clone() }),
        written.xpath.map(|path| ExtractFrom::Xpath(path.0)),
        written.header.map(|name| ExtractFrom::Header(name.0)),
        written.cookie.map(|name| ExtractFrom::Cookie(name.0)),
    ];
    let mut ways = ways.into_iter().flatten();
    let (Some(from), None) = (ways.next(), ways.next()) else {
        let wrong = "one of json, jmespath, regex, between, css, xpath, header and cookie says what is looked for; write one such as {json: $.id}";
        return Err(within(SpecError::new(&entry.node.at, "", wrong)));
    };
    let take = match written.take.as_ref().map(|take| take.0.as_str()) {
        None | Some("first") => Take::First,
        Some("last") => Take::Last,
        Some("random") => Take::Random,
        Some("all") => Take::All,
        Some(number) => match number.parse() {
            Ok(number) if number > 0 => Take::Number(number),
            _ => {
                let wrong = format!("`{number}` is no match; write first, last, random, all, or a number from 1");
                return Err(within(SpecError::new(&entry.node.at, "take", wrong)));
            }
        },
    };
    Ok(Extractor { take, part, default: written.default.map(|default| default.0), ..plain(from) })
}

fn part_of(part: written::Part) -> ReplyPart {
    match part {
        written::Part::Body => ReplyPart::Body,
        written::Part::UnescapedBody => ReplyPart::UnescapedBody,
        written::Part::Headers => ReplyPart::Headers,
        written::Part::Status => ReplyPart::Status,
        written::Part::Message => ReplyPart::Message,
        written::Part::Url => ReplyPart::Url,
        written::Part::RequestHeaders => ReplyPart::RequestHeaders,
    }
}

/// The conditions of an awaited message.
fn awaited(node: &Node) -> Result<Vec<Assertion>> {
    let check = if let Some(text) = node.text() {
        written::StepCheck { contains: Some(ScalarList(vec![text.to_owned()])), ..written::StepCheck::default() }
    } else {
        let written::Until { contains, matches, exists, .. } = read(node)?;
        written::StepCheck { contains, matches, exists, ..written::StepCheck::default() }
    };
    let mut policy = ReplyPolicy::default();
    checks(&check, node, &mut policy)?;
    if policy.assertions.is_empty() {
        return Err(SpecError::new(
            &node.at,
            "",
            "no condition; write a text, or a map such as {json: {$.type: done}}",
        ));
    }
    Ok(policy.assertions)
}

fn checks(check: &written::StepCheck, node: &Node, policy: &mut ReplyPolicy) -> Result<()> {
    if let Some(words) = &check.status {
        policy.checks.status = status::parse(&words.0.join(","))?;
    }
    let mut add = |name: &str, test: AssertionTest| policy.assertions.push(Assertion { name: name.to_owned(), test });
    let text_of = |part, patterns, is, not| {
        let message = String::new();
        AssertionTest::Text(TextAssertion { part, patterns, is, not, any: false, ignore_status: false, message })
    };
    let text = |patterns: &ScalarList, is, not| text_of(ReplyPart::Body, patterns.0.clone(), is, not);
    if let Some(texts) = &check.contains {
        add("contains", text(texts, TextMatch::Substring, false));
    }
    if let Some(texts) = &check.contains_not {
        add("contains_not", text(texts, TextMatch::Substring, true));
    }
    if let Some(texts) = &check.matches {
        add("matches", text(texts, TextMatch::Contains, false));
    }
    if let Some(texts) = &check.matches_not {
        add("matches_not", text(texts, TextMatch::Contains, true));
    }
    for path in check.exists.iter().flat_map(|paths| &paths.0) {
        add(path, AssertionTest::Json { path: path.clone(), expected: None, invert: false });
    }
    for entry in node.child("json").map(Node::entries).unwrap_or_default() {
        let expected = match json(&entry.node) {
            serde_json::Value::Null => ExpectedJson::Null,
            serde_json::Value::String(text) => ExpectedJson::Value(text),
            other => ExpectedJson::Value(other.to_string()),
        };
        add(&entry.key, AssertionTest::Json { path: entry.key.clone(), expected: Some(expected), invert: false });
    }
    for (name, value) in node.child("header").map(|node| texts(node, "header")).transpose()?.unwrap_or_default() {
        let pattern = format!(r"(?mi)^{}:.*{}", functions::escaped_regex(&name), functions::escaped_regex(&value));
        add(&name, text_of(ReplyPart::Headers, vec![pattern], TextMatch::Contains, false));
    }
    if let Some(path) = &check.xpath {
        add("xpath", AssertionTest::Xpath { path: path.0.clone(), invert: false });
    }
    if let Some(time) = check.max_time {
        add("max_time", AssertionTest::Duration(super::steps::millis(time.0)));
    }
    let sizes = [(check.min_size, Comparison::AtLeast, "min_size"), (check.max_size, Comparison::AtMost, "max_size")];
    for (bytes, is, name) in sizes {
        if let Some(bytes) = bytes {
            add(name, AssertionTest::Size { part: Some(ReplyPart::Body), is, bytes: bytes.0.to_string() });
        }
    }
    Ok(())
}
