//! Tests of single rules of the import. `tests/it/jmx_plans.rs` imports whole plans.

use super::*;

fn sampler(name: &str, properties: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="{name}">{properties}</HTTPSamplerProxy><hashTree>{below}</hashTree>"#
    )
}

fn imported(variables: &str, group: &str) -> JmxImport {
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p">
        <elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
        {variables}</collectionProp></elementProp></TestPlan><hashTree>
        <ThreadGroup testclass="ThreadGroup" testname="g"><intProp name="ThreadGroup.num_threads">2</intProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
        <boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">1</intProp></elementProp>
        </ThreadGroup>
        <hashTree>{group}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    );
    let options = JmxOptions { file: "p.jmx".into(), ..JmxOptions::default() };
    read(text.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn variable(name: &str, value: &str) -> String {
    format!(
        r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
        <stringProp name="Argument.value">{value}</stringProp></elementProp>"#
    )
}

const HOST: &str = r#"<stringProp name="HTTPSampler.domain">${host}</stringProp><stringProp name="HTTPSampler.port">${port}</stringProp>"#;

#[test]
fn constant_variables_become_variables_of_the_plan() {
    let variables = [
        variable("host", "${__P(host,h)}"),
        variable("port", "81"),
        variable("at", "${__time(,)}"),
        variable("password", "x"),
    ];
    let path = r#"<stringProp name="HTTPSampler.path">/a?t=${at}&amp;token=geheim</stringProp>"#;
    let plan = imported(&variables.concat(), &sampler("r", &format!("{HOST}{path}"), "")).plan;
    for part in [
        "host: h\n",
        "port: 81\n",
        "base: http://${host}:${port}\n",
        "password: ${env.PASSWORD}\n",
        "variables: {at: \"${__time(,)}\"}",
        "- get: /a?t=${at}&token=${urlencode(${token})}\n",
        "token: ${env.TOKEN}\n",
        "load: {users: \"2\", iterations: 1, requests: 2}",
    ] {
        assert!(
            plan.contains(part) || plan.contains(&part.replace("\"2\"", "2")),
            "{part}\n{plan}"
        );
    }
    assert!(!plan.contains("geheim"), "{plan}");
}

#[test]
fn unset_variables_stay_unchanged_with_a_notice() {
    let import = imported(
        "",
        &sampler("r", r#"<stringProp name="HTTPSampler.path">http://h/${x}/{n}</stringProp>"#, ""),
    );
    assert!(import.plan.contains(r"get: /\${x}/\{n}"), "{}", import.plan);
    assert!(
        import.notices[0]
            .contains("HTTP Request \"r\" in Thread Group \"g\": nothing sets the variable `x`"),
        "{:?}",
        import.notices
    );
}

#[test]
fn scripts_read_variables_by_name() {
    let script = r#"<JSR223PostProcessor testclass="JSR223PostProcessor" testname="s"><stringProp name="script">def a = "${name}-${b}"; vars.put('c', '${name}')</stringProp></JSR223PostProcessor><hashTree/>"#;
    let user = r#"<RegexExtractor testclass="RegexExtractor" testname="e"><stringProp name="RegexExtractor.refname">name</stringProp>
        <stringProp name="RegexExtractor.regex">(.)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
        <stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;
    let path = r#"<stringProp name="HTTPSampler.path">http://h/</stringProp>"#;
    let plan = imported("", &sampler("r", path, &format!("{user}{script}"))).plan;
    let expected =
        r#"def a = \"${vars.get('name')}-${b}\"; vars.put('c', '' + vars.get('name') + '')"#;
    assert!(plan.contains(expected) || plan.contains(&expected.replace("\\\"", "\"")), "{plan}");
}

/// Imports a plan with thread groups of these classes, names, numbers of threads and of loops. Each
/// requests the path with its name.
fn of_groups(groups: &[(&str, &str, u32, u32)]) -> JmxImport {
    let group = |(class, name, threads, loops): &(&str, &str, u32, u32)| {
        let path = format!(
            r#"<stringProp name="HTTPSampler.domain">h</stringProp><stringProp name="HTTPSampler.path">/{name}</stringProp>"#
        );
        format!(
            r#"<{class} testclass="{class}" testname="{name}"><intProp name="ThreadGroup.num_threads">{threads}</intProp>
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
            <boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">{loops}</intProp></elementProp></{class}><hashTree>{}</hashTree>"#,
            sampler(name, &path, "")
        )
    };
    let groups: String = groups.iter().map(group).collect();
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>"#
    );
    read(text.as_bytes(), &JmxOptions { file: "p.jmx".into(), ..JmxOptions::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn setup_and_teardown_groups_are_stages() {
    let main = ("ThreadGroup", "m", 2, 1);
    let JmxImport { plan, notices } = of_groups(&[
        ("PostThreadGroup", "after", 1, 1),
        main,
        ("SetupThreadGroup", "before", 3, 2),
    ]);
    assert_eq!(notices, Vec::<String>::new());
    let stage = "setup:\n  users: 3\n  iterations: 2\n  on_failure: continue\n  base: ${base}\n";
    let at = |part: &str| plan.find(part).unwrap_or_else(|| panic!("{part} is not in\n{plan}"));
    let order = [
        at(stage),
        at("- get: /before\n"),
        at("teardown:\n"),
        at("- get: /after\n"),
        at("load:"),
        at("- get: /m\n"),
    ];
    assert!(order.is_sorted(), "{plan}");
}

#[test]
fn several_groups_of_a_stage_become_one_user() {
    let main = ("ThreadGroup", "m", 2, 1);
    let JmxImport { plan, notices } =
        of_groups(&[("SetupThreadGroup", "a", 1, 1), ("SetupThreadGroup", "b", 3, 2), main]);
    assert!(
        notices.len() == 2
            && notices[1].contains("\"b\": one user carries it out and the others of its kind"),
        "{notices:?}"
    );
    for part in ["- name: a\n", "- name: b\n", "group:\n", "loop: \"6\"", "- get: /b\n"] {
        assert!(
            plan.contains(part) || plan.contains(&part.replace('"', "")),
            "{part} is not in\n{plan}"
        );
    }
    assert!(!plan.contains("users: 3"), "{plan}");
}

#[test]
fn errors_of_invalid_inputs_have_one_line() {
    let options = JmxOptions { file: "p.jmx".into(), ..JmxOptions::default() };
    for (text, told) in [
        ("", "p.jmx"),
        ("<jmeterTestPlan", "p.jmx:1"),
        ("<jmeterTestPlan><hashTree/></jmeterTestPlan>", "no Test Plan"),
        (
            "<jmeterTestPlan><hashTree><TestPlan testclass=\"TestPlan\"/><hashTree/></hashTree></jmeterTestPlan>",
            "no thread group",
        ),
    ] {
        let error = read(text.as_bytes(), &options).unwrap_err().to_string();
        assert!(error.contains(told) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn any_method_is_imported() {
    let properties = r#"<stringProp name="HTTPSampler.path">http://h/</stringProp><stringProp name="HTTPSampler.method">PROPFIND</stringProp>"#;
    let import = imported("", &sampler("r", properties, ""));
    assert!(import.plan.contains("- request: /\n    method: PROPFIND\n"), "{}", import.plan);
    assert!(
        !import.notices.iter().any(|notice| notice.contains("PROPFIND")),
        "{:?}",
        import.notices
    );
}
