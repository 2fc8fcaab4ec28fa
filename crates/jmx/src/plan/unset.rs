//! Finds variables that requests, timers and loops read and nothing in a plan sets.

use super::texts::{names, scalars};
use crate::document::Document;
use crate::element::TestElement;
use crate::support::{ElementKind, Role};

/// More are not told.
const MOST: usize = 10;

/// Variables of JMeter itself begin so.
const BUILT_IN: [&str; 5] = ["__", "JMeterThread.", "START.", "TESTSTART.", "COOKIE_"];

/// One line for each variable that one of them reads and nothing sets, with its place. None of them where the plan may set variables
/// whose names are known in the run alone.
pub fn notices(document: &Document) -> Vec<String> {
    let all: Vec<TestElement<'_>> = document.all_elements().collect();
    if all.iter().any(|element| sets_any(document, *element)) {
        return Vec::new();
    }
    let mut told: Vec<(String, String)> = Vec::new();
    for reader in document.enabled_elements().filter(is_told) {
        for text in scalars(document, reader) {
            for name in variables(&text) {
                let is_known = told.iter().any(|(known, _)| known == name);
                let sets = |name: &str| all.iter().any(|element| may_set(document, *element, name));
                if !is_known && !sets(name) && !sets(stem(name)) {
                    let what = format!("`${{{name}}}` has no value, since nothing in the plan sets `{name}`");
                    told.push((name.to_owned(), format!("{}: {what}", reader.place())));
                }
            }
        }
    }
    told.into_iter().take(MOST).map(|(_, notice)| notice).collect()
}

/// Whether variables without a value are told of an element: of requests, timers and loops.
fn is_told(element: &TestElement<'_>) -> bool {
    is_request(element) || element.role() == Role::Timer || element.kind() == Some(ElementKind::LoopController)
}

fn is_request(element: &TestElement<'_>) -> bool {
    matches!(element.kind(), Some(ElementKind::HttpSampler | ElementKind::GraphQlSampler | ElementKind::Http2Sampler))
}

/// The variables that a text reads: `${name}`.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("${").skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    let is_plain = |name: &&str| {
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
        !name.is_empty() && name.chars().all(is_name) && !BUILT_IN.iter().any(|begin| name.starts_with(begin))
    };
    parts.filter(is_plain)
}

/// The name that an element sets, of those that it makes of it: `id` of `id_1`, `id_g1`, `id_1_g1` and `id_matchNr`.
fn stem(name: &str) -> &str {
    let Some((begin, end)) = name.rsplit_once('_') else { return name };
    let digits = end.strip_prefix('g').unwrap_or(end);
    let is_numbered = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_numbered || matches!(end, "matchNr" | "ALL" | "n") { stem(begin) } else { name }
}

/// Whether an element names a variable anywhere but where it reads it.
fn may_set(document: &Document, element: TestElement<'_>, name: &str) -> bool {
    // Parameters of requests often have the name of the variable; functions of a request may set one.
    let counts = |text: &str| !is_request(&element) || text.contains("${__");
    scalars(document, element).iter().any(|text| counts(text) && names(text, name))
}

/// Whether an element may set variables of any name.
fn sets_any(document: &Document, element: TestElement<'_>) -> bool {
    let is_unknown = element.kind().is_none() && !matches!(element.role(), Role::Listener);
    let names_columns = || {
        let kinds = [ElementKind::CsvDataSet, ElementKind::RandomCsvDataSet];
        element.kind().is_some_and(|kind| kinds.contains(&kind))
            && element.properties().text("variableNames").is_none_or(|names| names.trim().is_empty())
    };
    let by_script = || scalars(document, element).iter().any(|text| puts_any(text));
    is_unknown || element.kind() == Some(ElementKind::IncludeController) || names_columns() || by_script()
}

/// Whether a script sets a variable whose name is no plain text.
fn puts_any(script: &str) -> bool {
    let puts = script.split(".put").skip(1).filter_map(|rest| rest.split_once('(').map(|(_, rest)| rest.trim_start()));
    let is_plain = |rest: &str| {
        let quoted = rest.strip_prefix(['"', '\'']).and_then(|rest| rest.split_once(['"', '\'']));
        quoted.is_some_and(|(name, behind)| !name.contains('$') && behind.trim_start().starts_with([',', ')']))
    };
    script.contains("vars[") || script.contains("evaluate(") || puts.into_iter().any(|rest| !is_plain(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(elements: &str) -> Vec<String> {
        let text = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>
            <ThreadGroup testclass="ThreadGroup" testname="g"/><hashTree>{elements}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
        );
        notices(&Document::parse(text.as_bytes()).unwrap())
    }

    fn request(path: &str) -> String {
        format!(
            r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="r"><stringProp name="HTTPSampler.path">{path}</stringProp>
            <stringProp name="Argument.name">id</stringProp></HTTPSamplerProxy><hashTree/>"#
        )
    }

    fn element(tag: &str, text: &str) -> String {
        format!(r#"<{tag} testclass="{tag}" testname="e"><stringProp name="x">{text}</stringProp></{tag}><hashTree/>"#)
    }

    #[test]
    fn variables_that_nothing_sets_are_told_once() {
        let both = told(&(request("/${id}") + &request("/${id}/${__P(n)}/${JMeterThread.last_sample_ok}")));
        assert_eq!(both.len(), 1, "{both:?}");
        let place = "line 2: HTTP Request \"r\" in Thread Group \"g\": `${id}` has no value";
        assert!(both[0].starts_with(place), "{both:?}");
    }

    #[test]
    fn what_elements_or_scripts_may_set_is_not_told() {
        for (path, tag, text) in [
            ("/${id}", "RegexExtractor", "id"),
            ("/${id_1_g2}", "RegexExtractor", "id"),
            ("/${id_matchNr}", "JSONPostProcessor", "other;id"),
            ("/${id_1}", "Arguments", "id_1"),
            ("/${id}", "JSR223PreProcessor", "vars.put(\"id\", \"1\")"),
            ("/${id}", "JSR223PreProcessor", "vars.put(name, \"1\")"),
            ("/${id}", "JSR223PreProcessor", "vars.put(\"i\" + \"d\", \"1\")"),
            ("/${id}", "CSVDataSet", "file.csv"),
            ("/${id}/${__time(,id)}", "DebugSampler", ""),
            ("/${id}", "com.acme.Config", "1"),
        ] {
            let all = told(&(request(path) + &element(tag, text)));
            assert!(all.is_empty(), "{path} {text}: {all:?}");
        }
        assert_eq!(told(&(request("/${id}") + &element("JSR223PreProcessor", "vars.put(\"other\", \"1\")"))).len(), 1);
    }
}
