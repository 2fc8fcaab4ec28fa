//! Reads scenarios of plan files: their plans, and the errors of invalid ones.

use crate::System;
use crate::plan_file::load;
use brunt_model::extract::{ExtractFrom, MatchChoice, ReplyPart};
use brunt_model::reply_policy::{AssertionTest, Cookies, ReplyAction};
use brunt_model::scenario::{
    ConcurrencyMode, Condition, DataEnd, EndScope, ListOrder, PaceScope, RatePause, Rounds,
    ScenarioStep, ScriptLanguage, TextRules, VariableCounter,
};
use brunt_model::{Body, Plan};
use std::time::Duration;

const SYSTEM: System = System::bare(20_000, 4, Some(28_232), 99);

/// Plan of a scenario. Files with data are in the same folder.
fn plan_of(scenario: &str) -> Result<Plan, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    let indented = scenario.replace('\n', "\n  ");
    std::fs::write(
        &path,
        format!("vars: {{host: 127.0.0.1:80}}\nload: {{users: 2}}\nscenario:\n  {indented}\n"),
    )
    .unwrap();
    std::fs::write(folder.path().join("users.csv"), "name,password\nann,a\nbob,b\n").unwrap();
    std::fs::write(folder.path().join("ragged.csv"), "name,password\nann,a\nbob,b,x\n").unwrap();
    std::fs::write(folder.path().join("latin.csv"), b"name\nM\xfcller\n").unwrap();
    std::fs::write(folder.path().join("photo.bin"), [0xff, 0, 1]).unwrap();
    let named = |error: crate::SpecError| {
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    };
    let loaded = load(&path, &[], "/tmp/d", &SYSTEM).map_err(named)?;
    Ok(loaded.experiment.contenders[0].steps[0].plan.clone())
}

fn well(scenario: &str) -> Plan {
    plan_of(scenario).unwrap_or_else(|error| panic!("{scenario}\n{error}"))
}

pub(super) const LOGIN: &str = r#"base: http://${host}
data: [users.csv, {file: users.csv, columns: [a, b], shared: user, at_end: stop_user}]
variables: {id: "${random(1,9)}"}
headers: {X-All: "1", Accept: text/html}
steps:
- get: /login
  name: login page
  extract: {token: {regex: 'csrf" value="(\w+)'}, all: {json: '$.items[*].id', take: all}, id: $.id}
  check: {status: 200, contains: Welcome, json: {$.ok: true}, max_time: 500ms}
- post: /login?next=/
  query: {from: "a b"}
  headers: {accept: application/json}
  form: {name: "${name}", password: "${password}&", token: "${token}"}
  on_failure: iteration
- think: 1s..2s
- transaction: shop
  steps:
  - loop: 3
    steps: [{get: "/item/${id}"}, {think: normal 1s 100ms}]
  - if: {status: 404}
    steps: [{stop: iteration}]
    else: [{put: "http://other/", json: {id: "${id}", n: 1}}]
- choose: [{weight: 3, steps: [{get: /a}]}, {steps: [{delete: /b}]}]
- parallel: 6
  steps: [{get: /1}, {get: /2}]
- for_each: {item: all_*}
  steps: [{get: "/${item}"}]"#;

#[test]
fn each_kind_of_step_is_parsed() {
    let plan = well(LOGIN);
    let scenario = &plan.main().scenario;
    assert_eq!(scenario.texts, TextRules::Expressions);
    assert_eq!(scenario.variables, [("id".to_owned(), "${random(1,9)}".to_owned())]);
    assert_eq!((scenario.data.len(), scenario.data[1].at_end), (2, DataEnd::StopUser));
    let asked: Vec<String> = scenario
        .requests
        .iter()
        .map(|request| format!("{} {} {}", request.label, request.method, request.url))
        .collect();
    assert_eq!(
        asked[..4],
        [
            "login page GET http://127.0.0.1/login",
            "POST /login?next=/ POST http://127.0.0.1/login?next=/&from=a+b",
            r"/item/\${id} GET http://127.0.0.1:80/item/${id}",
            "PUT http://other/ PUT http://other/",
        ]
    );
    let form = "name=${urlencode(${name})}&password=${urlencode(${password})}%26&token=${urlencode(${token})}";
    assert_eq!(scenario.requests[1].body, Body::Text(form.into()));
    assert_eq!(
        scenario.requests[3].body,
        Body::Text(r#"{"id":"${escapeJson(${id})}","n":1}"#.into())
    );
    let headers = |n: usize| {
        scenario.requests[n].headers.iter().map(|(name, value)| format!("{name}: {value}"))
    };
    let all: Vec<String> = headers(1).collect();
    assert_eq!(
        all[..3],
        ["accept: application/json", "X-All: 1", "Content-Type: application/x-www-form-urlencoded"]
    );
    let steps = &scenario.steps;
    assert_eq!(steps[..3], [ScenarioStep::Row(0), ScenarioStep::Row(1), ScenarioStep::Request(0)]);
    let ScenarioStep::Transaction { name, steps: shop, .. } = &steps[5] else {
        panic!("{:?}", steps[5])
    };
    let ScenarioStep::Loop { times: Some(Rounds::Number(3)), steps: items } = &shop[0] else {
        panic!("{shop:?}")
    };
    assert_eq!(
        (name.as_str(), &items[1]),
        ("shop", &ScenarioStep::Pause("${gaussian(100,1000)}".into()))
    );
    let ScenarioStep::If { condition, then, otherwise } = &shop[1] else { panic!("{shop:?}") };
    assert_eq!(*condition, Condition::Status(404, 404));
    assert_eq!(
        (&then[..], &otherwise[..]),
        (&[ScenarioStep::Stop(EndScope::Iteration)][..], &[ScenarioStep::Request(3)][..])
    );
    let ScenarioStep::Choose { order: ListOrder::Random, branches, .. } = &steps[6] else {
        panic!("{:?}", steps[6])
    };
    assert_eq!(branches.iter().map(|branch| branch.weight).collect::<Vec<_>>(), [3, 1]);
    assert!(
        matches!(&steps[7], ScenarioStep::Together { manner: ConcurrencyMode::Parallel(6), steps } if steps.len() == 2)
    );
}

#[test]
fn reply_policies_follow_the_keys_of_the_step() {
    let plan = well(LOGIN);
    let policy = |request: usize| {
        &plan.reply_policies[plan.main().scenario.requests[request].reply_policy as usize]
    };
    let of = |action: &ReplyAction| match action {
        ReplyAction::Extract(extractor) => {
            (extractor.variable.clone(), extractor.from.clone(), extractor.take)
        }
        other => panic!("{other:?}"),
    };
    let regex =
        ExtractFrom::Regex { pattern: r#"csrf" value="(\w+)"#.into(), group: 1, template: None };
    let found: Vec<_> = policy(0).actions.iter().map(of).collect();
    assert_eq!(
        found,
        [
            ("token".to_owned(), regex, MatchChoice::First),
            ("all".to_owned(), ExtractFrom::JsonPath("$.items[*].id".into()), MatchChoice::All),
            ("id".to_owned(), ExtractFrom::JsonPath("$.id".into()), MatchChoice::First),
        ]
    );
    let names: Vec<&str> =
        policy(0).assertions.iter().map(|assertion| assertion.name.as_str()).collect();
    assert_eq!(names, ["contains", "$.ok", "max_time"]);
    assert_eq!(policy(0).assertions[2].test, AssertionTest::Duration("500".into()));
    assert_eq!(policy(0).checks.status.len(), 1);
    assert_eq!(
        (policy(1).failure_ends, policy(1).cookies, policy(1).redirects.most),
        (EndScope::Iteration, Cookies::Kept, 10)
    );
    // Requests without keys about replies share a policy.
    assert_eq!(
        plan.main().scenario.requests[2].reply_policy,
        plan.main().scenario.requests[3].reply_policy
    );
    let limited =
        well("cookies: false\nfollow: 0\nsteps: [{get: 'http://127.0.0.1/', timeout: 2s}]");
    let policy = &limited.reply_policies[0];
    assert_eq!(
        (policy.cookies, policy.redirects.most, policy.timeout),
        (Cookies::Ignored, 0, Some(Duration::from_secs(2)))
    );
}

#[test]
fn scripts_are_in_the_language_of_the_scenario() {
    let steps = "steps: [{script: 'vars.put(\"a\", 1)'}, {get: http://h/, after: prev.status, check: {script: 'fail(1)'}}]";
    let plan = well(&format!("language: javascript\n{steps}"));
    let script = |step: &ScenarioStep| matches!(step, ScenarioStep::Script(script) if script.language == ScriptLanguage::Javascript);
    assert!(script(&plan.populations[0].scenario.steps[0]));
    let policy = &plan.reply_policies.last().unwrap();
    assert!(
        matches!(&policy.assertions[0].test, AssertionTest::Script(script) if script.language == ScriptLanguage::Javascript)
    );
    assert!(plan_of("language: lua\nsteps: [{get: http://h/}]").unwrap_err().contains("language"));
    let broken = plan_of("language: javascript\nsteps: [{script: 'let = ;'}, {get: http://h/}]")
        .unwrap_err();
    assert!(broken.contains("SyntaxError"), "{broken}");
}

#[test]
fn files_are_read_from_the_folder_of_the_plan() {
    let plan = well("steps: [{get: 'http://h/?${StringFromFile(users.csv)}'}]");
    assert_eq!(plan.populations[0].scenario.folders.len(), 1);
    assert!(well("steps: [{get: http://h/}]").populations[0].scenario.folders.is_empty());
}

#[test]
fn bodies_of_each_kind() {
    let body = |keys: &str| {
        let plan = well(&format!("steps:\n- post: http://127.0.0.1/\n  {keys}"));
        let request = plan.main().scenario.requests[0].clone();
        let kind = request
            .headers
            .iter()
            .find(|header| header.0 == "Content-Type")
            .map(|header| header.1.clone());
        (request.body, kind.unwrap_or_default())
    };
    assert_eq!(body("data: x"), (Body::Text("x".into()), String::new()));
    assert_eq!(
        body("file: photo.bin"),
        (Body::from_bytes(vec![0xff, 0, 1]), "application/octet-stream".into())
    );
    assert_eq!(body("file: users.csv").1, "text/csv");
    let (Body::Bytes(parts), kind) = body("multipart: {note: hi, photo: {file: photo.bin}}") else {
        panic!()
    };
    let parts = String::from_utf8_lossy(&parts).into_owned();
    let boundary = kind.rsplit_once('=').unwrap().1;
    assert!(parts.starts_with(&format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n"
    )));
    assert!(parts.contains(
        "name=\"photo\"; filename=\"photo.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    ));
    assert!(parts.ends_with(&format!("\r\n--{boundary}--\r\n")));
}

#[test]
fn invalid_values_are_reported_with_their_position() {
    for (scenario, expected) in [
        ("steps: []", "plan.yaml:4:10: scenario.steps: none of its steps is a request"),
        ("follow: 3", "plan.yaml:4:3: scenario: it has no `steps`; write a list of them"),
        ("steps: [{get: /a}]", "scenario.steps[0].get: `/a` is no URL; write http://… before it"),
        ("steps: [{gett: http://h/}]", "write get"),
        (
            "steps: [{ping: http://h/}]",
            "`ping` is for a WebSocket, but the URL is `http://h/`; write a URL of ws:// or wss://",
        ),
        ("steps: [{migrate: https://h/, data: x}]", "write a URL of https:// and no body"),
        (
            "steps: [{close: ws://h/, data: x}]",
            "`close` sends no message; leave the body out, or write send",
        ),
        (
            "steps: [{get: http://h/, post: http://h/}]",
            "`post` and `get` are in one step; write each in a separate step",
        ),
        (
            "steps: [{think: 1s, name: x}]",
            "plan.yaml:4:23: scenario.steps[0].name: a step with `think` has no key `name`; leave it out, or write it with `get`, `grpc` or `group`",
        ),
        (
            "steps: [{loop: 2, steps: [], weight: 3}]",
            "scenario.steps[0].weight: unknown key; write ",
        ),
        (
            "steps: [{get: http://h/, until: x}]",
            "scenario.steps[0].until: `get` awaits no message; write `until` with send or await",
        ),
        (
            "steps: [{get: http://h/, extract: {a: {json: $.x, group: 1}}}]",
            "scenario.steps[0].extract.a.group: a map below `extract` with `json` has no key `group`; leave it out, or write it with `regex`",
        ),
        (
            "steps: [{if: failed, steps: [{switch: a, cases: [{steps: [{loop: x, steps: []}]}]}]}]",
            "scenario.steps[0].steps[0].cases[0].steps[0].loop: `x`: not a whole number",
        ),
        (
            "steps: [{get: http://h/, extract: x}]",
            "scenario.steps[0].extract: this is not a map; write variables below it, such as `id: $.id`",
        ),
        (
            "steps: [{get: http://h/, check: {json: x}}]",
            "scenario.steps[0].check.json: this is not a map; write values by JSONPath",
        ),
        (
            "steps: [{choose: [{weight: 1}]}]",
            "scenario.steps[0].choose[0]: its `steps` are missing",
        ),
        ("steps: [{name: x}]", "no key names the kind of this step; write one such as"),
        (
            "steps: [{get: 'http://h/${nam}'}]",
            "scenario: `${nam}`: no step, extractor or data file sets this variable",
        ),
        ("data: users.csv\nsteps: [{get: 'http://h/${nam}'}]", "write one of ${name} ${password}"),
        ("steps: [{get: 'http://h/${randon(1,2)}'}]", "there is no function `randon`"),
        ("steps: [{get: 'http://h/${random(1)}'}]", "does not take 1 arguments; write 2 to 3"),
        (
            "steps: [{get: 'http://h/${env.NOWHERE}'}]",
            "the environment variable NOWHERE is not set",
        ),
        ("data: no.csv\nsteps: [{get: http://h/}]", "cannot read no.csv"),
        (
            "steps: [{get: http://h/, extract: {a: {regex: '('}}}]",
            "plan.yaml:4:49: scenario.steps[0].extract.a.regex: extractor of `a`: ",
        ),
        (
            "steps:\n- get: http://h/\n- get: http://h/\n  extract: {a: $.x, b: '$.['}",
            "plan.yaml:7:26: scenario.steps[1].extract.b: extractor of `b`: ",
        ),
        (
            "steps: [{get: http://h/, extract: {a: {css: 'a['}}}]",
            "plan.yaml:4:47: scenario.steps[0].extract.a.css: ",
        ),
        (
            "steps: [{get: http://h/, extract: {a: {xpath: '//['}}}]",
            "plan.yaml:4:49: scenario.steps[0].extract.a.xpath: ",
        ),
        (
            "steps: [{get: http://h/, check: {matches: [a, '(']}}]",
            "plan.yaml:4:49: scenario.steps[0].check.matches: ",
        ),
        (
            "steps: [{get: http://h/, check: {matches_not: '['}}]",
            "plan.yaml:4:49: scenario.steps[0].check.matches_not: ",
        ),
        (
            "steps: [{get: http://h/, check: {json: {'$.[': 1}}}]",
            "plan.yaml:4:43: scenario.steps[0].check.json: ",
        ),
        (
            "steps: [{get: http://h/, check: {exists: [$.a, '$.[']}}]",
            "plan.yaml:4:50: scenario.steps[0].check.exists: ",
        ),
        (
            "steps: [{get: http://h/, check: {xpath: '//['}}]",
            "plan.yaml:4:43: scenario.steps[0].check.xpath: ",
        ),
        (
            "steps: [{get: http://h/}, {if: {matches: [a, '(']}, steps: [{get: http://h/}]}]",
            "plan.yaml:4:48: scenario.steps[1].if.matches: ",
        ),
        (
            "language: javascript\nsteps: [{get: http://h/}, {script: 'def ('}]",
            "plan.yaml:5:38: scenario.steps[1].script: script `",
        ),
        (
            "language: javascript\nsteps: [{get: http://h/, after: ['1', 'def (']}]",
            "plan.yaml:5:41: scenario.steps[0].after: script `",
        ),
        (
            "language: javascript\nsteps: [{get: http://h/, check: {script: 'def ('}}]",
            "plan.yaml:5:44: scenario.steps[0].check.script: script `",
        ),
        ("steps: [{get: http://h/, wieght: ~}]", "scenario.steps[0].wieght: unknown key"),
        (
            "steps: [{loop: 2, steps: [{get: http://h/, check: {statuss: ~}}]}]",
            "check.statuss: unknown key; write status",
        ),
        ("stesp: ~\nsteps: [{get: http://h/}]", "scenario.stesp: unknown key; write steps"),
        (
            "data: {file: users.csv, colums: ~}\nsteps: [{get: http://h/}]",
            "colums: unknown key; write columns",
        ),
        (
            "steps: [{get: 'http://h/{id}'}]",
            "plan.yaml:4:17: scenario.steps[0].get: `{id}`: unknown placeholder; write {n}",
        ),
        ("steps: [{get: 'http://h/${random(1,9)}/{id}'}]", "`{id}`: unknown placeholder"),
        ("steps: [{get: 'http://h/{{id}}'}]", "unknown placeholder"),
        (
            "steps: [{post: http://h/, data: 'a {{id}}'}]",
            "`{{id}}`: no placeholder has double braces",
        ),
        ("steps: [{post: http://h/, json: {a: '{uuidd}'}}]", "`{uuidd}`: unknown placeholder"),
        ("steps: [{get: http://h/, headers: {a: '{{id}}'}}]", "double braces"),
        ("headers: {a: '{uuidd}'}\nsteps: [{get: http://h/}]", "`{uuidd}`: unknown placeholder"),
        (
            "steps: [{get: http://h/, extract: {a: {regex: x, json: y}}}]",
            "one of json, jmespath, regex, between, css, xpath, header and cookie",
        ),
        (
            "steps: [{loop: many, steps: [{get: http://h/}]}]",
            "loop: `many`: not a whole number; write one such as 3",
        ),
        ("steps: [{transaction: t}]", "its `steps` are missing"),
        (
            "steps: [{parallel: 2, steps: [{think: 1s}, {get: http://h/}]}]",
            "a pause is not allowed among requests",
        ),
        (
            "steps: [{get: http://h/}, {if: maybe, steps: []}]",
            "`maybe` is no condition; write `failed`",
        ),
        (
            "data: ragged.csv\nsteps: [{get: http://h/}]",
            "ragged.csv:3: `row`: this row has 3 cells and the first one 2; write",
        ),
        (
            "data: latin.csv\nsteps: [{get: http://h/}]",
            "latin.csv:2: `line`: this is not UTF-8; write the file in UTF-8",
        ),
        (
            "data: {file: users.csv, columns: [a, b, c]}\nsteps: [{get: http://h/}]",
            "`c`: the rows of users.csv have 2 cells, so that none is left for this column",
        ),
        (
            "headers: {'X Y': a}\nsteps: [{get: http://h/}]",
            "scenario.headers.X Y: `X Y`: not a header name; write 'Name: value'",
        ),
        ("steps: [{get: http://h/, headers: {'a:': b}}]", "`a:`: not a header name"),
        (
            "steps: [{get: http://h/, headers: {a: \"b\\nc\"}}]",
            "it holds a line break or control character",
        ),
        ("steps: [{get: http://h/, basic: ann}]", "name or colon is missing; write USER:PASS"),
        (
            "steps: [{get: http://h/, bearer: \"a\\nb\"}]",
            "it holds a line break or control character",
        ),
        (
            "base: http://h\nsteps: [{pace: 600}, {get: /}]",
            "`600` is no rate; write one such as 10/s or 600/min",
        ),
        ("base: http://h\nsteps: [{pace: 1e3/s}, {get: /}]", "`1e3/s` is no rate"),
        (
            "base: http://h\nsteps: [{pace: '${x}'}, {get: /}]",
            "`${x}` is no rate; write one such as 10/s",
        ),
        (
            "base: http://h\nsteps: [{pace: '${x}/s'}, {get: /}]",
            "`${x}/s`: an expression is a rate per minute; write ${x}/min",
        ),
        ("steps: [{get: http://h/, check: {min_size: 10q}}]", "`q` is not a unit of bytes"),
        (
            "steps: [{post: http://h/, data: a, json: {}}]",
            "`data` is the body already; write one of them",
        ),
    ] {
        let error_text = plan_of(scenario).expect_err(scenario);
        assert!(error_text.contains(expected), "{scenario}\n{error_text}");
    }
}

#[test]
fn a_dollar_sign_can_be_escaped() {
    let plan = well(r"steps: [{post: 'http://127.0.0.1/', data: 'costs $5, $${x} \${y}'}]");
    assert_eq!(plan.main().scenario.requests[0].body, Body::Text(r"costs $5, \${x} \${y}".into()));
}

#[test]
fn expressions_of_json_become_texts_or_values_as_they_are_quoted() {
    let plan = well(
        r#"steps: [{post: 'http://127.0.0.1/', json: {id: ${id}, name: "${id}", 'k ${id}': [a\b, 01, 1, ~]}}]
variables: {id: 7}"#,
    );
    let expected = r#"{"id":${json(${id})},"name":"${escapeJson(${id})}","k ${escapeJson(${id})}":["a\\\\b","01",1,null]}"#;
    assert_eq!(plan.main().scenario.requests[0].body, Body::Text(expected.into()));
}

#[test]
fn rates_counters_and_more_of_requests_are_read() {
    let plan = well(
        r#"base: http://${host}
language: javascript
cookies: iteration
data: [{file: users.csv, columns: [a, b], skip_first: true, on_demand: true, at_end: eof}]
steps:
- count: {n: {start: 5, end: 9, format: "000", per_user: true}}
- pace: 2/s
  by: all
- row: users.csv
- get: /
  follow: 0
  resources: true
  digest: ann:x
  extract: {a: {regex: "(b)(c)", template: $2$-$1$, in: headers}}
  after: ['vars.put("x", "1")', 'vars.put("y", "2")']
  check: {exists: [$.a, $.b], matches_not: nothing}
- switch: "${a}"
  cases: [{names: [a, "1"], steps: [{get: /a}]}, {steps: [{get: /b}]}]
- choose: [{steps: [{get: /c}]}]
  order: user"#,
    );
    let scenario = &plan.main().scenario;
    let counter = VariableCounter {
        variable: "n".into(),
        start: "5".into(),
        step: String::new(),
        end: "9".into(),
        format: "000".into(),
        per_user: true,
        resets: false,
    };
    let pace = RatePause {
        per_minute: "120".into(),
        by: PaceScope::All,
        shared: String::new(),
        schedule: Vec::new(),
    };
    assert_eq!(
        scenario.steps[..3],
        [ScenarioStep::Count(counter), ScenarioStep::Pace(pace), ScenarioStep::Row(0)]
    );
    assert!(
        scenario.data[0].skip_first && scenario.data[0].at_end == DataEnd::Eof,
        "{:?}",
        scenario.data
    );
    let policy = &plan.reply_policies[scenario.requests[0].reply_policy as usize];
    assert_eq!((policy.redirects.most, policy.cookies), (0, Cookies::KeptForAnIteration));
    assert_eq!((policy.credentials[0].user.as_str(), policy.repeats_unauthorized), ("ann", 1));
    assert!(
        policy.elements.is_some() && policy.actions.len() == 3 && policy.assertions.len() == 3,
        "{policy:?}"
    );
    let ReplyAction::Extract(extractor) = &policy.actions[0] else { panic!("{policy:?}") };
    assert_eq!(extractor.part, ReplyPart::Headers);
    let ScenarioStep::Switch { cases, .. } = &scenario.steps[4] else {
        panic!("{:?}", scenario.steps)
    };
    assert_eq!(cases.iter().map(|case| case.names.len()).collect::<Vec<_>>(), [2, 0]);
    assert!(matches!(scenario.steps[5], ScenarioStep::Choose { order: ListOrder::User, .. }));
    for (wrong, error_text) in [
        (
            "base: http://h\ncache: often\nsteps: [{get: /}]",
            "`often`: write true, false or revalidate",
        ),
        (
            "data: users.csv\nsteps: [{get: http://h/, digest: '${name}:x'}]",
            "variables of users cannot stand here",
        ),
        (
            "base: http://h\nsteps: [{pace: often}, {get: /}]",
            "`often` is no rate; write one such as 10/s",
        ),
        (
            "base: http://h\ncookies: maybe\nsteps: [{get: /}]",
            "scenario.cookies: `maybe`: write true, false or iteration",
        ),
        ("base: http://h\nsteps: [{count: {n: {end: 5, by: 1}}}, {get: /}]", "by: unknown key"),
    ] {
        let error = plan_of(wrong).unwrap_err();
        assert!(error.contains(error_text), "{wrong}\n{error}");
    }
}

#[test]
fn an_error_causes_no_further_errors() {
    let missing =
        plan_of("base: http://h\ndata: [{file: no-such.csv}]\nsteps: [{get: /a}]").unwrap_err();
    assert!(
        missing.starts_with("plan.yaml:5:17: scenario: cannot read ")
            && !missing.contains("no URL"),
        "{missing}"
    );
    let unset = plan_of("base: http://h\nsteps:\n- get: /a\n- get: /b?x=${nowhere}").unwrap_err();
    assert!(
        unset.starts_with("plan.yaml:7:10: scenario: `${nowhere}`") && !unset.contains("no key"),
        "{unset}"
    );
}
