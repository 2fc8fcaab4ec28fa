//! Parts of plans that lack something, and what JMeter makes of them.

use super::*;
use brunt_model::extract::SampleScope;
use brunt_model::scenario::{SampleMaker, ScriptSample};

#[test]
fn missing_files_fail_at_their_sampler() {
    let file = r#"<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
        <elementProp name="f" elementType="HTTPFileArg"><stringProp name="File.path">PATH</stringProp>
        <stringProp name="File.paramname">f</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy>"#;
    let upload = |method: &str, path: &str| {
        http("r", &[("HTTPSampler.method", method)], "")
            .replace("</HTTPSamplerProxy>", &file.replace("PATH", path))
    };
    let steps = |within: &str| scenario("", within).0.steps;
    let failure = |steps: Vec<ScenarioStep>| match steps.into_iter().next_back() {
        Some(ScenarioStep::Sample(ScriptSample {
            label,
            maker: SampleMaker::Fixed(fixed),
            ..
        })) => {
            assert!(!fixed.success, "{fixed:?}");
            (label, fixed.code, fixed.message)
        }
        other => panic!("{other:?}"),
    };
    let (label, code, message) = failure(steps(&upload("POST", "none.pdf")));
    assert_eq!((&*label, &*code), ("r", "Non HTTP response code: java.io.FileNotFoundException"));
    assert!(message.ends_with("none.pdf (No such file or directory)"), "{message}");
    assert!(matches!(steps(&upload("GET", "none.pdf"))[..], [ScenarioStep::Request(0)]));
    let dynamic = scenario("", &upload("POST", "${name}.pdf")).0.requests.remove(0).body;
    assert!(
        matches!(&dynamic, Body::Text(text) if text.contains("${__FileToString(${name}.pdf)}")),
        "{dynamic:?}"
    );
    let slash = element("HTTPSamplerProxy", "r", &[("HTTPSampler.domain", "http://host")], "");
    let (label, code, _) = failure(steps(&slash));
    assert_eq!((&*label, &*code), ("", "Non HTTP response code: java.net.MalformedURLException"));
    let script = |language: &str, file: &str, text: &str| {
        let all = [("scriptLanguage", language), ("filename", file), ("script", text)];
        let (label, code, message) = failure(steps(&element("JSR223Sampler", "s", &all, "")));
        assert_eq!((&*label, &*code), ("s", "500"));
        assert!(
            message.starts_with("javax.script.ScriptException: ") || language == "beanshell",
            "{message}"
        );
        message
    };
    assert!(script("groovy", "none.groovy", "").contains("Script file"), "its file is missing");
    let foreign = "import io.jsonwebtoken.Jwts\nJwts.builder()";
    assert!(script("groovy", "", foreign).contains("unable to resolve class io.jsonwebtoken.Jwts"));
    assert!(
        script("beanshell", "", "import com.a.B;\nnew B();")
            .contains("Class: B not found in namespace")
    );
    let of_jmeter = "import org.apache.http.client.methods.HttpGet\nnew HttpGet('x')";
    assert!(
        script("groovy", "", of_jmeter)
            .contains("import of org.apache.http.client.methods.HttpGet is not known")
    );
    let missing = |class: &str| element(class, "s", &[("filename", "none.groovy")], "");
    assert!(matches!(
        steps(&http("r", &[], &missing("JSR223PreProcessor")))[..],
        [ScenarioStep::Request(0)]
    ));
    let (_, policies) = scenario("", &http("r", &[], &missing("JSR223Assertion")));
    let AssertionTest::Text(never) = &policies[1].assertions[0].test else {
        panic!("{policies:?}")
    };
    assert!(
        never.message.starts_with("script `s`: javax.script.ScriptException: Script file"),
        "{never:?}"
    );
}

#[test]
fn a_host_header_has_the_port_of_the_url() {
    let host = |port: &str, value: &str| {
        let header = format!(
            r#"<HeaderManager testclass="HeaderManager"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header">
            <stringProp name="Header.name">host</stringProp><stringProp name="Header.value">{value}</stringProp></elementProp>
            </collectionProp></HeaderManager><hashTree/>"#
        );
        let request =
            scenario("", &http("r", &[("HTTPSampler.port", port)], &header)).0.requests.remove(0);
        header_value(&request)
    };
    assert_eq!(host("8080", "other"), "other:8080");
    assert_eq!(host("8080", "other:81"), "other:81");
    assert_eq!(host("80", "other"), "other");
    assert_eq!(host("", "other"), "other");
}

fn header_value(request: &Request) -> String {
    header(request, "host").unwrap_or_default().to_owned()
}

#[test]
fn assertions_with_malformed_patterns_fail() {
    let list = |pattern: &str| {
        format!(
            r#"<ResponseAssertion testclass="ResponseAssertion" testname="a"><collectionProp name="Asserion.test_strings">
            <stringProp name="1">{pattern}</stringProp></collectionProp></ResponseAssertion><hashTree/>"#
        )
    };
    let test = |pattern: &str| {
        let (scenario, policies) = scenario("", &http("r", &[], &list(pattern)));
        let policy = &policies[scenario.requests[0].reply_policy as usize];
        match &policy.assertions[0].test {
            AssertionTest::Text(test) => test.clone(),
            other => panic!("{other:?}"),
        }
    };
    let failing = test("(open");
    assert!(
        failing.message.ends_with("Invalid expression: (open\nUnmatched parentheses."),
        "{failing:?}"
    );
    assert_eq!((failing.is, failing.part), (TextMatch::Equals, ReplyPart::Status));
    assert_eq!(test("[a-z]+").message, "");
}

#[test]
fn transactions_without_samplers_have_one_sample() {
    let transaction = |parent: &str, within: &str| {
        element("TransactionController", "t", &[("TransactionController.parent", parent)], within)
    };
    let steps = |within: &str| scenario("", &format!("{}{within}", http("r", &[], ""))).0.steps;
    let idle = http("off", &[], "").replacen(
        "<HTTPSamplerProxy",
        "<HTTPSamplerProxy enabled=\"false\"",
        1,
    );
    for (parent, within) in [("false", &*idle), ("true", "")] {
        let once = steps(&transaction(parent, within));
        assert!(
            matches!(&once[..], [ScenarioStep::Request(0), ScenarioStep::Once(steps)] if matches!(steps[..], [ScenarioStep::Transaction { .. }]))
        );
    }
    assert!(matches!(
        steps(&transaction("false", &http("in", &[], "")))[..],
        [_, ScenarioStep::Transaction { .. }]
    ));
}

#[test]
fn extractors_search_chains_of_redirects() {
    let extractor = |scope: &str| {
        let all = [
            ("RegexExtractor.refname", "v"),
            ("RegexExtractor.regex", "a"),
            ("Sample.scope", scope),
        ];
        let (scenario, policies) =
            scenario("", &http("r", &[], &element("RegexExtractor", "x", &all, "")));
        match &policies[scenario.requests[0].reply_policy as usize].actions[0] {
            ReplyAction::Extract(extractor) => extractor.samples,
            other => panic!("{other:?}"),
        }
    };
    let scopes = ["", "all", "children", "variable"].map(extractor);
    assert_eq!(
        scopes,
        [SampleScope::Main, SampleScope::All, SampleScope::Children, SampleScope::Main]
    );
}

#[test]
fn variables_of_the_same_element_are_independent() {
    let list = |all: &[(&str, &str)]| {
        let one = |(name, value): &(&str, &str)| {
            format!(
                r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
                <stringProp name="Argument.value">{value}</stringProp></elementProp>"#
            )
        };
        let all: String = all.iter().map(one).collect();
        format!(
            r#"<Arguments testclass="Arguments"><collectionProp name="Arguments.arguments">{all}</collectionProp></Arguments><hashTree/>"#
        )
    };
    let first =
        list(&[("host", "h"), ("url", "${host}/p"), ("own", "${own}"), ("n", "${__P(n,${host})}")]);
    let second = list(&[("host", "${host}2"), ("whole", "${host}+${url}")]);
    let variables = scenario(&(first + &second), &http("r", &[], "")).0.variables;
    let value = |name: &str| {
        variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    };
    // Texts that users fill in: a backslash keeps what it stands before.
    let expected = ["h2", r"\${host}/p", r"\${own}", r"\${host}", r"h+\${host}/p"];
    assert_eq!(["host", "url", "own", "n", "whole"].map(value), expected.map(Some));
}
