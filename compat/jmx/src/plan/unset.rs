//! Finds variables that requests, timers and loops read but nothing in the plan sets.

use super::texts::{names, scalars};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::support::{ElementKind, Role};

/// Maximum number of notices.
const MOST: usize = 10;

/// Prefixes of JMeter's own variables.
const BUILT_IN: [&str; 5] = ["__", "JMeterThread.", "START.", "TESTSTART.", "COOKIE_"];

/// One notice for each variable that is read but never set, with the place. None if the plan may
/// set variables whose names are known only during the run.
pub fn notices(document: &JmxDocument) -> Vec<String> {
    let all: Vec<TestElement<'_>> = document.all_elements().collect();
    if all.iter().any(|element| sets_any(document, *element)) {
        return Vec::new();
    }
    let mut notices: Vec<(String, String)> = Vec::new();
    for reader in document.enabled_elements().filter(is_checked) {
        for text in scalars(document, reader) {
            for name in variables(&text) {
                let is_listed = notices.iter().any(|(listed, _)| listed == name);
                let is_set = !is_listed
                    && all.iter().any(|element| {
                        may_set(document, *element, name) || may_set(document, *element, stem(name))
                    });
                if !is_listed && !is_set {
                    let problem = format!(
                        "`${{{name}}}` has no value, since nothing in the plan sets `{name}`"
                    );
                    notices.push((name.to_owned(), format!("{}: {problem}", reader.place())));
                }
            }
        }
    }
    notices.into_iter().take(MOST).map(|(_, notice)| notice).collect()
}

/// True for elements whose variables are checked: requests, timers and loops.
fn is_checked(element: &TestElement<'_>) -> bool {
    is_request(element)
        || element.role() == Role::Timer
        || element.kind() == Some(ElementKind::LoopController)
}

fn is_request(element: &TestElement<'_>) -> bool {
    matches!(
        element.kind(),
        Some(ElementKind::HttpSampler | ElementKind::GraphQlSampler | ElementKind::Http2Sampler)
    )
}

/// Variables that a text reads: `${name}`.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let parts =
        text.split("${").skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    parts.filter(|name| is_plain_name(name))
}

fn is_plain_name(name: &str) -> bool {
    let mut letters = name.chars();
    !name.is_empty()
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-'))
        && !BUILT_IN.iter().any(|prefix| name.starts_with(prefix))
}

/// Base name of a variable that an extractor derives: `id` of `id_1`,
/// `id_g1`, `id_1_g1` and `id_matchNr`.
fn stem(name: &str) -> &str {
    let Some((begin, end)) = name.rsplit_once('_') else { return name };
    let digits = end.strip_prefix('g').unwrap_or(end);
    let is_numbered = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_numbered || matches!(end, "matchNr" | "ALL" | "n") { stem(begin) } else { name }
}

/// True if an element contains the name of a variable outside a reference to it.
fn may_set(document: &JmxDocument, element: TestElement<'_>, name: &str) -> bool {
    // Parameters of requests often have the name of the variable, but functions in a
    // request may set one.
    let is_request = is_request(&element);
    scalars(document, element)
        .iter()
        .any(|text| (!is_request || text.contains("${__")) && names(text, name))
}

/// True if an element may set variables of any name.
fn sets_any(document: &JmxDocument, element: TestElement<'_>) -> bool {
    let is_unknown = element.kind().is_none() && !matches!(element.role(), Role::Listener);
    is_unknown
        || element.kind() == Some(ElementKind::IncludeController)
        || has_names_in_file(element)
        || scalars(document, element).iter().any(|text| puts_any(text))
}

/// True for a data set whose first row has the names of its variables.
fn has_names_in_file(element: TestElement<'_>) -> bool {
    let kinds = [ElementKind::CsvDataSet, ElementKind::RandomCsvDataSet];
    element.kind().is_some_and(|kind| kinds.contains(&kind))
        && element.properties().text("variableNames").is_none_or(|names| names.trim().is_empty())
}

/// True if a script sets a variable whose name is not a literal.
fn puts_any(script: &str) -> bool {
    let puts = script
        .split(".put")
        .skip(1)
        .filter_map(|rest| rest.split_once('(').map(|(_, rest)| rest.trim_start()));
    script.contains("vars[")
        || script.contains("evaluate(")
        || puts.into_iter().any(|arguments| !begins_with_literal(arguments))
}

fn begins_with_literal(arguments: &str) -> bool {
    let literal = arguments.strip_prefix(['"', '\'']).and_then(|rest| rest.split_once(['"', '\'']));
    literal.is_some_and(|(name, after)| {
        !name.contains('$') && after.trim_start().starts_with([',', ')'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(elements: &str) -> Vec<String> {
        let text = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>
            <ThreadGroup testclass="ThreadGroup" testname="g"/><hashTree>{elements}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
        );
        notices(&JmxDocument::parse(text.as_bytes()).unwrap())
    }

    fn request(path: &str) -> String {
        format!(
            r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="r"><stringProp name="HTTPSampler.path">{path}</stringProp>
            <stringProp name="Argument.name">id</stringProp></HTTPSamplerProxy><hashTree/>"#
        )
    }

    fn element(tag: &str, text: &str) -> String {
        format!(
            r#"<{tag} testclass="{tag}" testname="e"><stringProp name="x">{text}</stringProp></{tag}><hashTree/>"#
        )
    }

    #[test]
    fn unset_variables_are_reported_once() {
        let both = told(
            &(request("/${id}") + &request("/${id}/${__P(n)}/${JMeterThread.last_sample_ok}")),
        );
        assert_eq!(both.len(), 1, "{both:?}");
        let place = "line 2: HTTP Request \"r\" in Thread Group \"g\": `${id}` has no value";
        assert!(both[0].starts_with(place), "{both:?}");
    }

    #[test]
    fn variables_that_elements_or_scripts_may_set_are_not_reported() {
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
        assert_eq!(
            told(
                &(request("/${id}") + &element("JSR223PreProcessor", "vars.put(\"other\", \"1\")"))
            )
            .len(),
            1
        );
    }
}
