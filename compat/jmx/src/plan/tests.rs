//! Plans become runs: what each element turns into, and that all public plans do.

mod lacking;
mod rows;
mod samples;

use super::*;
use crate::tests::real_plans;
use brunt_languages::LANGUAGES;
use brunt_model::extract::{ExtractFrom, MatchChoice, ReplyPart};
use brunt_model::load::Load;
use brunt_model::plan::ConnectionLifetime;
use brunt_model::reply_policy::{AssertionTest, Cookies, ReplyAction, TextMatch};
use brunt_model::scenario::{
    Branch, Condition, EndScope as Over, ListOrder, Pauses, Portion, Rounds, ScenarioStep,
};
use brunt_model::{Body, Request, Scenario, StageOutput};
use brunt_script::CompiledScript;
use std::path::Path;

pub(super) fn with<T>(
    properties: &[(&str, &str)],
    folder: &Path,
    use_it: impl Fn(&mut PlanContext<'_>) -> T,
) -> T {
    let properties =
        properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let folder = PlanFolder::new(folder, &[]);
    let mut context = PlanContext {
        properties: &properties,
        folder: &folder,
        resolve_all: None,
        scale: 1.0,
        max_duration: None,
        lenient: false,
        records: None,
        seed: 1,
        threads: 1,
    };
    use_it(&mut context)
}

/// The loop of a thread group, as JMeter's forms write it.
pub(super) const ONE_LOOP: &str = r#"<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp>
    <stringProp name="LoopController.loops">1</stringProp></elementProp>"#;

/// A plan with this in its Test Plan, and this in its only thread group.
fn plan(beside: &str, within: &str) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="Plan"/><hashTree>{beside}
        <ThreadGroup testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.num_threads">${{__P(n,3)}}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">30</stringProp>{ONE_LOOP}</ThreadGroup><hashTree>{within}</hashTree>
        </hashTree></hashTree></jmeterTestPlan>"#
    )
}

fn run_of(text: &str) -> Result<TestRun, JmxError> {
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    with(&[], Path::new("."), |context| read(&document, context))
}

fn scenario(beside: &str, within: &str) -> (Scenario, Vec<ReplyPolicy>) {
    let mut run = run_of(&plan(beside, within)).unwrap();
    let mut plan = run.stages.remove(0).plan;
    CompiledScript::all(&plan, LANGUAGES).unwrap();
    (plan.populations.remove(0).scenario, plan.reply_policies)
}

#[test]
fn samplers_of_http_2_are_requests_over_it() {
    let sampler = |tag: &str| {
        element(tag, "h2", &[("HTTPSampler.domain", "h"), ("HTTPSampler.path", "/a")], "")
    };
    let http =
        |tag: &str| run_of(&plan("", &sampler(tag))).unwrap().stages.remove(0).plan.connection.http;
    assert_eq!(http("HTTPSamplerProxy"), HttpVersion::V1_1);
    assert_eq!(http("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler"), HttpVersion::V2);
}

#[test]
fn a_beanshell_script_can_read_the_files_that_it_names() {
    let document = JmxDocument::parse(plan("", "").as_bytes()).unwrap();
    let whole = |script: &str| {
        with(&[], Path::new(env!("CARGO_MANIFEST_DIR")), |context| {
            PlanReader::new(&document, context).with_sources(script)
        })
    };
    let file = include_str!("../../Cargo.toml");
    assert_eq!(whole("a(); source(\"Cargo.toml\"); b();"), format!("a(); {file}\n b();"));
    for other in [
        "source(\"none.bsh\");",
        "resource(\"Cargo.toml\");",
        "source(name);",
        "source(\"Cargo.toml",
        "",
    ] {
        assert_eq!(whole(other), other);
    }
}

#[test]
fn variables_come_from_files() {
    let file = |name: &str, skipped: &str| {
        let properties = [
            ("filename", name),
            ("delimiter", "="),
            ("variablesPrefix", "v."),
            ("skipLines", skipped),
        ];
        plan(
            &element("kg.apc.jmeter.config.VariablesFromCSV", "file", &properties, ""),
            "<DebugSampler/>",
        )
    };
    let run = |text: &str| {
        let document = JmxDocument::parse(text.as_bytes()).unwrap();
        with(&[], Path::new(env!("CARGO_MANIFEST_DIR")), |context| read(&document, context))
    };
    // A line without an equals sign, which is one column.
    let variables = run(&file("C:\\none\\Cargo.toml", "0"))
        .unwrap()
        .stages
        .remove(0)
        .plan
        .populations
        .remove(0)
        .scenario
        .variables;
    assert!(variables.contains(&("v.[package]".to_owned(), String::new())), "{variables:?}");
    assert!(
        variables.contains(&("v.name ".to_owned(), " \"brunt-jmx\"".to_owned())),
        "{variables:?}"
    );
    let message = run(&file("none.csv", "0")).unwrap_err().to_string();
    assert!(
        message.contains("the file none.csv cannot be read") && message.contains("put it there"),
        "{message}"
    );
}

#[test]
fn hosts_have_the_addresses_of_the_plan() {
    let resolved = |address: &str| {
        let hosts = format!(
            r#"<DNSCacheManager testname="dns"><collectionProp name="DNSCacheManager.hosts"><elementProp name="" elementType="StaticHost">
            <stringProp name="StaticHost.Name">${{name}}</stringProp><stringProp name="StaticHost.Address">{address}</stringProp>
            </elementProp></collectionProp></DNSCacheManager><hashTree/>"#
        );
        let set = element("Arguments", "set", &[], "");
        let set = set
            .replace("></Arguments>", &format!(">{}</Arguments>", variable("name", "a.example")));
        let document =
            JmxDocument::parse(plan(&(set + &hosts), "<DebugSampler/>").as_bytes()).unwrap();
        with(&[], Path::new("."), |context| read(&document, context))
    };
    let all = resolved("192.0.2.1, ::1").unwrap().stages.remove(0).plan.connection.resolve;
    assert!(
        all[0].is_of("A.example", 80)
            && all[1].is_of("a.example", 8443)
            && !all[0].is_of("b.example", 80),
        "{all:?}"
    );
    assert_eq!(all[1].address.to_string(), "::1");
    let message = resolved("elsewhere").unwrap_err().to_string();
    assert!(
        message.contains("the address of a.example is elsewhere, which is no IP address"),
        "{message}"
    );
}

/// The list of a variable's name and value, as User Defined Variables have it.
fn variable(name: &str, value: &str) -> String {
    format!(
        r#"<collectionProp name="Arguments.arguments"><elementProp name="{name}" elementType="Argument">
        <stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp>
        </elementProp></collectionProp>"#
    )
}

/// An element with text properties.
fn element(tag: &str, name: &str, properties: &[(&str, &str)], children: &str) -> String {
    let properties = properties
        .iter()
        .map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>"));
    let properties: String = properties.collect();
    format!(
        "<{tag} testclass=\"{tag}\" testname=\"{name}\">{properties}</{tag}><hashTree>{children}</hashTree>"
    )
}

fn http(name: &str, properties: &[(&str, &str)], children: &str) -> String {
    let mut all = vec![("HTTPSampler.domain", "host")];
    all.extend(properties);
    element("HTTPSamplerProxy", name, &all, children)
}

fn arguments(all: &[(&str, &str, bool)]) -> String {
    let one = |(name, value, encode): &(&str, &str, bool)| {
        format!(
            r#"<elementProp name="{name}" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">{encode}</boolProp>
            <stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.name">{name}</stringProp></elementProp>"#
        )
    };
    let all: String = all.iter().map(one).collect();
    format!(
        r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{all}
        </collectionProp></elementProp>"#
    )
}

fn with_arguments(properties: &[(&str, &str)], all: &[(&str, &str, bool)]) -> Request {
    let sampler = http("r", properties, "");
    let sampler =
        sampler.replace("</HTTPSamplerProxy>", &format!("{}</HTTPSamplerProxy>", arguments(all)));
    scenario("", &sampler).0.requests.remove(0)
}

fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request
        .headers
        .iter()
        .find(|header| header.0.eq_ignore_ascii_case(name))
        .map(|header| header.1.as_str())
}

#[test]
fn urls_are_made_of_the_sampler_and_its_defaults() {
    let url = |properties: &[(&str, &str)]| {
        scenario("", &http("r", properties, "")).0.requests.remove(0).url
    };
    assert_eq!(url(&[]), "http://host");
    assert_eq!(
        url(&[("HTTPSampler.path", "a b"), ("HTTPSampler.port", "80")]),
        "http://host/a%20b"
    );
    assert_eq!(
        url(&[("HTTPSampler.protocol", "HTTPS"), ("HTTPSampler.port", "8443")]),
        "https://host:8443"
    );
    assert_eq!(url(&[("HTTPSampler.path", "https://other/x")]), "https://other/x");
    let local = [("HTTPSampler.domain", "::1"), ("HTTPSampler.port", "81")];
    assert_eq!(
        scenario("", &element("HTTPSamplerProxy", "r", &local, "")).0.requests[0].url,
        "http://[::1]:81"
    );
    assert_eq!(
        url(&[("HTTPSampler.port", "${p}"), ("HTTPSampler.path", "/x")]),
        "${__requestUrl(,host,${p},/x)}"
    );
    let defaults = r#"<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="d">
        <stringProp name="HTTPSampler.domain">other</stringProp><stringProp name="HTTPSampler.port">81</stringProp>
        <stringProp name="HTTPSampler.path">/default</stringProp></ConfigTestElement><hashTree/>"#;
    let own = element("HTTPSamplerProxy", "r", &[("HTTPSampler.path", "/own")], "");
    assert_eq!(scenario(defaults, &own).0.requests[0].url, "http://other:81/own");
    let none = element("HTTPSamplerProxy", "r", &[], "");
    assert_eq!(scenario(defaults, &none).0.requests[0].url, "http://other:81/default");
    let told = run_of(&plan("", &none)).unwrap().notices.join("\n");
    assert!(told.contains("each sample fails, it has no server name"), "{told}");
}

#[test]
fn parameters_become_a_query_a_form_or_a_body() {
    let all = [("a b", "1&amp;2", true), ("c", "x%20y", false), ("", "unnamed", false)];
    let get = with_arguments(&[("HTTPSampler.path", "/p?q=1")], &all);
    assert_eq!(get.url, "http://host/p?q=1&a+b=1%262&c=x%20y");
    let post = with_arguments(&[("HTTPSampler.method", "POST")], &all);
    assert_eq!(post.body, Body::Text("a+b=1%262&c=x+y".into()));
    assert_eq!(
        header(&post, "content-type"),
        Some("application/x-www-form-urlencoded; charset=UTF-8")
    );
    let raw = with_arguments(
        &[("HTTPSampler.method", "POST")],
        &[("", "{\"id\": ", false), ("", "${id}}", false)],
    );
    assert_eq!(raw.body, Body::Text("{\"id\": ${id}}".into()));
    assert_eq!(header(&raw, "content-type"), Some("text/plain; charset=UTF-8"));
    let encoded = with_arguments(&[], &[("v", "${x} y", true)]);
    assert_eq!(encoded.url, "http://host?v=${urlencode(${x})}+y");
    let multipart = with_arguments(
        &[("HTTPSampler.method", "POST"), ("HTTPSampler.DO_MULTIPART_POST", "true")],
        &[("f", "v", false)],
    );
    assert!(
        header(&multipart, "content-type").unwrap().starts_with("multipart/form-data; boundary=")
    );
}

#[test]
fn header_fields_are_merged_by_name() {
    let manager = |all: &[(&str, &str)]| {
        let one = |(name, value): &(&str, &str)| {
            format!(
                r#"<elementProp name="" elementType="Header"><stringProp name="Header.name">{name}</stringProp>
                <stringProp name="Header.value">{value}</stringProp></elementProp>"#
            )
        };
        let all: String = all.iter().map(one).collect();
        format!(
            r#"<HeaderManager testclass="HeaderManager" testname="h"><collectionProp name="HeaderManager.headers">{all}
            </collectionProp></HeaderManager><hashTree/>"#
        )
    };
    let outer = manager(&[("Accept", "outer"), ("X-A", "1"), ("Content-Length", "5")]);
    let inner = manager(&[("accept", "inner")]);
    let request = scenario(&outer, &http("r", &[], &inner)).0.requests.remove(0);
    assert_eq!((header(&request, "accept"), header(&request, "x-a")), (Some("inner"), Some("1")));
    assert_eq!(header(&request, "content-length"), None);
}

#[test]
fn constant_variables_are_replaced_before_the_run() {
    let variables = r#"<Arguments testclass="Arguments" testname="v"><collectionProp name="Arguments.arguments">
        <elementProp name="host" elementType="Argument"><stringProp name="Argument.name">base</stringProp>
        <stringProp name="Argument.value">${__P(base,h)}</stringProp></elementProp>
        <elementProp name="id" elementType="Argument"><stringProp name="Argument.name">id</stringProp>
        <stringProp name="Argument.value">1</stringProp></elementProp></collectionProp></Arguments><hashTree/>"#;
    let extractor = element(
        "RegexExtractor",
        "e",
        &[("RegexExtractor.refname", "id"), ("RegexExtractor.regex", "x")],
        "",
    );
    let sampler = element(
        "HTTPSamplerProxy",
        "r",
        &[("HTTPSampler.domain", "${base}"), ("HTTPSampler.path", "/${id}")],
        &extractor,
    );
    let (scenario, _) = scenario(variables, &sampler);
    assert_eq!(scenario.requests[0].url, "http://h/${id}");
    assert!(scenario.variables.contains(&("id".into(), "1".into())), "{:?}", scenario.variables);
}

#[test]
fn a_plan_has_the_name_of_its_file() {
    let document =
        JmxDocument::parse(plan("", &http("${__TestPlanName}", &[], "")).as_bytes()).unwrap();
    let folder = PlanFolder::for_plan(Path::new("plans/shop.jmx"), &[]);
    let run = with(&[], Path::new("."), |context| {
        let context = PlanContext { folder: &folder, records: None, ..*context };
        read(&document, &context).unwrap()
    });
    assert_eq!(run.stages[0].plan.main().scenario.requests[0].label, "shop.jmx");
}

#[test]
fn controllers_become_steps() {
    let request = http("r", &[], "");
    let steps = |within: &str| scenario("", within).0.steps;
    let one = |tag: &str, properties: &[(&str, &str)]| {
        steps(&element(tag, "c", properties, &request)).remove(0)
    };
    assert!(matches!(
        one("LoopController", &[("LoopController.loops", "2")]),
        ScenarioStep::Loop { times: Some(Rounds::Number(2)), .. }
    ));
    assert!(matches!(
        one("LoopController", &[("LoopController.loops", "-1")]),
        ScenarioStep::Loop { times: None, .. }
    ));
    assert!(
        matches!(one("OnceOnlyController", &[]), ScenarioStep::Once(steps) if steps == [ScenarioStep::Request(0)])
    );
    let condition = [("IfController.condition", "${x}"), ("IfController.useExpression", "true")];
    assert!(
        matches!(one("IfController", &condition), ScenarioStep::If { condition: Condition::True(text), .. } if text == "${x}")
    );
    assert!(matches!(
        one("WhileController", &[("WhileController.condition", "${x}")]),
        ScenarioStep::While { .. }
    ));
    assert!(matches!(one("WhileController", &[]), ScenarioStep::Loop { times: None, .. }));
    assert!(matches!(
        one("RandomController", &[]),
        ScenarioStep::Choose { order: ListOrder::Random, .. }
    ));
    assert!(matches!(
        one("InterleaveControl", &[]),
        ScenarioStep::Choose { order: ListOrder::WalkTogether, .. }
    ));
    assert!(matches!(one("RandomOrderController", &[]), ScenarioStep::Shuffle(_)));
    let turns =
        element("InterleaveControl", "c", &[], &element("GenericController", "g", &[], &request));
    let within = vec![ScenarioStep::Resumable(vec![
        ScenarioStep::Request(0),
        ScenarioStep::Stop(Over::Turn),
    ])];
    let branches = vec![Branch { weight: 1, steps: within }];
    assert_eq!(
        steps(&turns),
        [ScenarioStep::Choose { order: ListOrder::WalkTogether, portion: Portion::Turn, branches }]
    );
    let blocks = [("InterleaveControl.style", "1")];
    let blocks = element(
        "InterleaveControl",
        "c",
        &blocks,
        &element("GenericController", "g", &[], &request),
    );
    assert!(matches!(
        &steps(&blocks)[..],
        [ScenarioStep::Choose { portion: Portion::Nonempty, .. }]
    ));
    assert!(matches!(one("RunTime", &[("RunTime.seconds", "5")]), ScenarioStep::During { .. }));
    assert!(matches!(one("CriticalSectionController", &[]), ScenarioStep::Lock { .. }));
    assert!(matches!(one("GenericController", &[]), ScenarioStep::Request(0)));
    let transaction = one("TransactionController", &[("TransactionController.parent", "true")]);
    assert!(matches!(
        transaction,
        ScenarioStep::Transaction { pauses: Pauses::Included, parent: true, .. }
    ));
    let each = [("ForeachController.inputVal", "id"), ("ForeachController.returnVal", "one")];
    assert!(
        matches!(one("ForeachController", &each), ScenarioStep::ForEach { variable, .. } if variable == "one")
    );
    let ScenarioStep::Switch { cases, .. } =
        one("SwitchController", &[("SwitchController.value", "${x}")])
    else {
        panic!()
    };
    assert_eq!(cases[0].names, ["0", "r", ""]);
    let stop = element("TestAction", "a", &[("ActionProcessor.action", "5")], "");
    assert!(matches!(
        &steps(&format!("{request}{stop}"))[..],
        [ScenarioStep::Request(0), _, ScenarioStep::Stop(Over::Loop)]
    ));
}

#[test]
fn rounds_of_loops_are_numbered_where_the_plan_reads_the_number() {
    let of = |path: &str| {
        let inner = http("r", &[("HTTPSampler.path", path)], "");
        scenario("", &element("LoopController", "twice", &[("LoopController.loops", "2")], &inner))
            .0
            .steps
    };
    assert!(matches!(&of("/")[..], [ScenarioStep::Loop { .. }]));
    let numbered = of("/${__jm__twice__idx}");
    let [ScenarioStep::Set { variable, value }, ScenarioStep::Loop { steps, .. }] = &numbered[..]
    else {
        panic!("{numbered:?}")
    };
    assert_eq!((variable.as_str(), value.as_str()), ("__jm__twice__idx", "-1"));
    assert!(
        matches!(&steps[0], ScenarioStep::Set { value, .. } if value == "${__intSum(${__jm__twice__idx},1)}"),
        "{steps:?}"
    );
}

#[test]
fn a_module_runs_its_target_with_the_surrounding_elements() {
    let fragment = element("TestFragmentController", "f", &[], &http("in fragment", &[], ""));
    let module = r#"<ModuleController testclass="ModuleController" testname="m"><collectionProp name="ModuleController.node_path">
        <stringProp name="1">Test Plan</stringProp><stringProp name="2">Plan</stringProp><stringProp name="3">f</stringProp>
        </collectionProp></ModuleController><hashTree/>"#;
    let (scenario, _) = scenario(&fragment, module);
    assert_eq!(scenario.requests[0].label, "in fragment");
    let told = run_of(&plan("", module)).unwrap_err().to_string();
    assert!(told.contains("there is no controller `Test Plan > Plan > f`"), "{told}");
    let circle = module.replace(
        "<stringProp name=\"3\">f</stringProp>",
        "<stringProp name=\"3\">Users</stringProp>",
    );
    let told = run_of(&plan("", &circle)).unwrap_err().to_string();
    assert!(told.contains("controllers within each other"), "{told}");
}

#[test]
fn elements_in_scope_become_a_reply_policy_and_pauses() {
    let timer = element("ConstantTimer", "t", &[("ConstantTimer.delay", "300")], "");
    let cookies = element("CookieManager", "c", &[], "");
    let extractor = element(
        "RegexExtractor",
        "e",
        &[
            ("RegexExtractor.refname", "token"),
            ("RegexExtractor.regex", "t=(.+?)&amp;"),
            ("RegexExtractor.useHeaders", "true"),
            ("RegexExtractor.match_number", "-1"),
            ("RegexExtractor.default", "none"),
        ],
        "",
    );
    let assertion = r#"<ResponseAssertion testclass="ResponseAssertion" testname="a"><collectionProp name="Asserion.test_strings">
        <stringProp name="49586">200</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_code</stringProp>
        <intProp name="Assertion.test_type">40</intProp></ResponseAssertion><hashTree/>"#;
    let follows =
        [("HTTPSampler.follow_redirects", "true"), ("HTTPSampler.response_timeout", "2500")];
    let (scenario, policies) = scenario(
        &format!("{cookies}{timer}"),
        &http("r", &follows, &format!("{extractor}{assertion}")),
    );
    assert_eq!(scenario.steps, [ScenarioStep::Pause("300".into()), ScenarioStep::Request(0)]);
    let policy = &policies[scenario.requests[0].reply_policy as usize];
    assert_eq!((policy.cookies, policy.redirects.most), (Cookies::Kept, 20));
    assert_eq!(policy.timeout, Some(Duration::from_millis(2500)));
    let [ReplyAction::Extract(extractor)] = &policy.actions[..] else { panic!() };
    assert_eq!((&extractor.part, extractor.take), (&ReplyPart::Headers, MatchChoice::All));
    assert!(
        matches!(&extractor.from, ExtractFrom::Regex { template: Some(template), .. } if template == "$1$")
    );
    let AssertionTest::Text(text) = &policy.assertions[0].test else { panic!() };
    assert_eq!(
        (text.is, text.any, text.not, &text.part),
        (TextMatch::Equals, true, false, &ReplyPart::Status)
    );
}

#[test]
fn the_concatenation_follows_the_values_of_a_json_extractor() {
    let extractor = r#"<JSONPostProcessor testclass="JSONPostProcessor" testname="e">
        <stringProp name="JSONPostProcessor.referenceNames">id;name</stringProp>
        <stringProp name="JSONPostProcessor.jsonPathExprs">$..id;$..name</stringProp>
        <stringProp name="JSONPostProcessor.match_numbers">-1;1</stringProp>
        <boolProp name="JSONPostProcessor.compute_concat">true</boolProp></JSONPostProcessor><hashTree/>"#;
    let (scenario, policies) = scenario("", &http("r", &[], extractor));
    let actions = &policies[scenario.requests[0].reply_policy as usize].actions;
    let [ReplyAction::Extract(_), ReplyAction::Set { variable, value }, ReplyAction::Extract(_)] =
        &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!((variable.as_str(), value.as_str()), ("id_ALL", "${__joined(id,\\,)}"));
}

#[test]
fn threads_begin_within_their_ramp() {
    let text = plan("", &http("r", &[], ""));
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    let users = |scale: f64| {
        let run = with(&[("n", "10")], Path::new("."), |context| {
            context.scale = scale;
            read(&document, context)
        });
        let population = run.unwrap().stages.remove(0).plan.populations.remove(0);
        let Load::Closed { users, .. } = population.load else { panic!() };
        assert_eq!(population.stop.iterations_per_user, Some(1));
        users
    };
    let ten = users(1.0);
    // JMeter begins thread i at i times the ramp by their number: 0, 3, 6, … seconds.
    for (seconds, expected) in
        [(0.0, 1.0), (2.9, 1.0), (3.01, 2.0), (26.9, 9.0), (27.01, 10.0), (100.0, 10.0)]
    {
        assert_eq!(ten.at(Duration::from_secs_f64(seconds)).floor(), expected, "{seconds}");
    }
    assert_eq!((users(0.5).peak(), users(0.01).peak()), (5.0, 1.0));
    let none = plan("", &http("r", &[], "")).replace("${__P(n,3)}", "many");
    let told = run_of(&none).unwrap_err().to_string();
    let reason =
        "num_threads is `many`, which is no number; 0 is taken, as in JMeter; write a number";
    assert!(told.contains("no thread group with threads") && told.contains(reason), "{told}");
}

#[test]
fn a_new_user_each_iteration_has_new_connections_and_cookies() {
    let by_group = [("CookieManager.controlledByThreadGroup", "true")];
    let text = plan(&element("CookieManager", "c", &by_group, ""), &http("r", &[], "")).replace(
        "<stringProp name=\"ThreadGroup.ramp_time\">",
        "<boolProp name=\"ThreadGroup.same_user_on_next_iteration\">false</boolProp><stringProp name=\"ThreadGroup.ramp_time\">",
    );
    let plan = run_of(&text).unwrap().stages.remove(0).plan;
    assert_eq!(plan.connection.keep, ConnectionLifetime::Run);
    let own = plan.populations[0].connection.as_ref().unwrap();
    assert_eq!(own.keep, ConnectionLifetime::IterationOrClose);
    assert!(plan.reply_policies.iter().any(|policy| policy.cookies == Cookies::KeptForAnIteration));
}

#[test]
fn each_thread_group_of_a_stage_starts_with_the_properties_of_the_previous_one() {
    let sampler = http("r", &[], "");
    let other = element("ThreadGroup", "Others", &[("ThreadGroup.num_threads", "2")], &sampler);
    let other = other.replace("</ThreadGroup>", &format!("{ONE_LOOP}</ThreadGroup>"));
    let document = JmxDocument::parse(plan(&other, &sampler).as_bytes()).unwrap();
    let properties = [("n", "2"), ("old", "1")];
    let run = with(&properties, Path::new("."), |context| {
        context.threads = 8;
        read(&document, context).unwrap()
    });
    let [stage] = &run.stages[..] else { panic!("{run:?}") };
    let mut stage = stage.clone();
    let changed = [("n".to_owned(), "5".to_owned())];
    stage.plan.apply_stage_output(&StageOutput {
        properties: changed.to_vec(),
        ..StageOutput::default()
    });
    let compiled = CompiledScript::all(&stage.plan, LANGUAGES).unwrap();
    assert_eq!((compiled.len(), compiled[1].stage_output().properties), (2, changed.to_vec()));
    stage.limit_threads();
    assert_eq!((stage.peak_users(), stage.plan.threads), (4, 4));
}

#[test]
fn rows_of_ultimate_groups_are_summed() {
    let group = r#"<kg.apc.jmeter.threads.UltimateThreadGroup testclass="kg.apc.jmeter.threads.UltimateThreadGroup" testname="u">
        <collectionProp name="ultimatethreadgroupdata"><collectionProp name="1"><stringProp name="1">10</stringProp>
        <stringProp name="2">5</stringProp><stringProp name="3">10</stringProp><stringProp name="4">20</stringProp>
        <stringProp name="5">0</stringProp></collectionProp><collectionProp name="2"><stringProp name="1">4</stringProp>
        <stringProp name="2">0</stringProp><stringProp name="3">0</stringProp><stringProp name="4">15</stringProp>
        <stringProp name="5">10</stringProp></collectionProp></collectionProp></kg.apc.jmeter.threads.UltimateThreadGroup>"#;
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="Plan"/><hashTree>{group}<hashTree>{}</hashTree>
        </hashTree></hashTree></jmeterTestPlan>"#,
        http("r", &[], "")
    );
    let population = run_of(&text).unwrap().stages.remove(0).plan.populations.remove(0);
    let Load::Closed { users, .. } = population.load else { panic!() };
    for (seconds, expected) in
        [(0, 4.0), (5, 4.0), (10, 9.0), (15, 14.0), (20, 12.0), (25, 10.0), (34, 10.0)]
    {
        assert_eq!(users.at(Duration::from_secs(seconds)), expected, "{seconds}");
    }
    assert_eq!(population.stop.duration, Some(Duration::from_secs(35)));
}

/// What JMeter 5.6.3 makes of numbers that are none (dev/tests/data/jmeter/numbers.jmx): 0, or the port of the protocol.
#[test]
fn malformed_numbers_are_those_of_jmeter_with_a_warning() {
    let timer = element("ConstantTimer", "t", &[("ConstantTimer.delay", "1.5")], "");
    let fields = [
        ("HTTPSampler.port", "2x"),
        ("HTTPSampler.connect_timeout", "abc"),
        ("HTTPSampler.response_timeout", " 2"),
    ];
    let inner = element(
        "LoopController",
        "l",
        &[("LoopController.loops", "${nobody}")],
        &http("in", &[], ""),
    );
    let text = plan("", &format!("{}{inner}", http("r", &fields, &timer)));
    let text = text.replace(
        "<stringProp name=\"ThreadGroup.ramp_time\">30<",
        "<stringProp name=\"ThreadGroup.ramp_time\">3s<",
    );
    let run = run_of(&text).unwrap();
    for (place, expected) in [
        (
            "Thread Group",
            "ramp_time is `3s`, which is no number; 0 is taken, as in JMeter; write a number",
        ),
        (
            "Constant Timer \"t\"",
            "delay is `1.5`, which is no whole number; 0 is taken, as in JMeter; write it without spaces",
        ),
        (
            "HTTP Request \"r\"",
            "port is `2x`, which is no number; the port of the protocol is taken, as in JMeter",
        ),
        ("HTTP Request \"r\"", "connect_timeout is `abc`, which is no number; 0 is taken"),
        ("HTTP Request \"r\"", "response_timeout is ` 2`, which is no whole number; 0 is taken"),
        (
            "Loop Controller \"l\"",
            "`${nobody}` has no value, since nothing in the plan sets `nobody`",
        ),
    ] {
        assert!(
            run.notices.iter().any(|note| note.contains(place) && note.contains(expected)),
            "{expected}: {:#?}",
            run.notices
        );
    }
    let stage = &run.stages[0].plan;
    let population = &stage.populations[0];
    assert_eq!(population.scenario.requests[0].url, "http://host");
    assert!(
        population.scenario.steps.contains(&ScenarioStep::Pause("0".into())),
        "{:?}",
        population.scenario.steps
    );
    let policy = &stage.reply_policies[population.scenario.requests[0].reply_policy as usize];
    assert_eq!(policy.timeout, None);
}

#[test]
fn unsupported_elements_are_refused_or_omitted() {
    let jdbc = element("JDBCSampler", "orders", &[], "");
    let text = plan("", &format!("{jdbc}{}", http("r", &[], "")));
    let told = run_of(&text).unwrap_err().to_string();
    assert!(
        told.contains("not supported: line ") && told.contains("JDBC Request \"orders\""),
        "{told}"
    );
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    let run = with(&[], Path::new("."), |context| {
        context.lenient = true;
        read(&document, context)
    });
    let run = run.unwrap();
    assert_eq!(
        (run.notices.len(), run.stages[0].plan.populations[0].scenario.requests.len()),
        (1, 1)
    );
    let saver = element("ResultSaver", "replies", &[("FileSaver.filename", "reply")], "");
    let told = run_of(&plan(&saver, &http("r", &[], ""))).unwrap().notices.join("\n");
    assert!(
        told.contains("Save Responses to a file \"replies\": left out")
            && told.contains("response_data=true"),
        "{told}"
    );
    let csv = element("CSVDataSet", "d", &[("filename", "nowhere.csv")], "");
    let told = run_of(&plan(&csv, &http("r", &[], ""))).unwrap_err().to_string();
    assert!(
        told.contains("CSV Data Set Config \"d\": the data file nowhere.csv cannot be read"),
        "{told}"
    );
}

/// Public plans that lack data files of a Data Set, or values for words that stand for numbers.
const INCOMPLETE: [&str; 4] =
    ["09-wso2-apim", "36-sunbird-form-read", "39-sunbird-content-search", "58-fx-apache-adv-web"];

#[test]
fn public_plans_are_read() {
    for (name, bytes) in real_plans() {
        let document = JmxDocument::parse(&bytes).unwrap();
        let run = with(&[], &crate::tests::directory().join(&name), |context| {
            let address = "127.0.0.1:1".parse().unwrap();
            context.resolve_all = Some(ResolveAll { address, tls: false });
            read(&document, context)
        });
        assert_eq!(run.is_err(), INCOMPLETE.contains(&name.as_str()), "{name}: {run:?}");
        for stage in run.map(|run| run.stages).unwrap_or_default() {
            CompiledScript::all(&stage.plan, LANGUAGES)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn thread_groups_without_loops_or_duration_send_nothing() {
    let whole = plan("", &http("r", &[], ""));
    let told = |from: &str, to: &str| {
        run_of(&whole.replace(from, to)).map(|run| run.stages[0].plan.populations[0].stop)
    };
    let count = |from: &str, to: &str| told(from, to).unwrap().iterations_per_user;
    let loops = "<stringProp name=\"LoopController.loops\">1</stringProp>";
    let of =
        |loops: &str| format!("<stringProp name=\"LoopController.loops\">{loops}</stringProp>");
    assert_eq!(
        (count("", ""), count(loops, &of("7")), count(loops, &of("-1"))),
        (Some(1), Some(7), None)
    );
    // As JMeter's loop begins: it goes on.
    let ends = "<boolProp name=\"LoopController.continue_forever\">false</boolProp>";
    assert_eq!(count(ends, ""), None);
    let scheduled = |duration: &str| {
        format!(
            "<boolProp name=\"ThreadGroup.scheduler\">true</boolProp>{duration}<stringProp name=\"ThreadGroup.ramp"
        )
    };
    let ramp = "<stringProp name=\"ThreadGroup.ramp";
    for (from, to) in
        [(loops, &*of("0")), (loops, &of("")), (loops, ""), (ONE_LOOP, ""), (ramp, &scheduled(""))]
    {
        assert!(told(from, to).is_err(), "{to}");
    }
    assert!(
        told(ramp, &scheduled("<stringProp name=\"ThreadGroup.duration\">5</stringProp>")).is_ok()
    );
}
