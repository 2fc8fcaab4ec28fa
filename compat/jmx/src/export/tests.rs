//! Texts and whole plans, read again.

use super::*;
use crate::document::JmxDocument;
use crate::plan::{PlanContext, PlanFolder};
use crate::properties::PropertyMap;
use brunt_model::load::{Arrivals, LoadShape, ThinkTime};
use brunt_model::plan::{ConnectionSettings, RecordSettings};
use brunt_model::reply_policy::{Redirects, TextMatch};
use brunt_model::scenario::{
    Branch, Condition, FixedSample, ListOrder, Portion, Rounds, SampleMaker, Script,
    ScriptLanguage, ScriptSample,
};
use brunt_model::{Body, Load, Request, Stop, TestStage};
use std::path::Path;
use std::time::Duration;

fn plan(requests: Vec<Request>, steps: Vec<ScenarioStep>, policy: ReplyPolicy, load: Load) -> Plan {
    let scenario = Scenario { texts: TextRules::Expressions, ..Scenario::of(requests, steps) };
    let stop = Stop {
        iterations_per_user: Some(3),
        duration: None,
        ..Stop::after(Duration::ZERO, Duration::from_secs(1))
    };
    Plan {
        populations: Population::only(load, scenario, stop),
        reply_policies: vec![policy],
        connection: ConnectionSettings::plain(Duration::from_secs(30), Duration::from_secs(10)),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: Duration::from_secs(1),
            labels: 10,
            samples: false,
            records: None,
        },
        seed: 1,
        threads: 1,
        processes: 1,
        precise: false,
        allowed_targets: Vec::new(),
        fleet: None,
        stages: Vec::new(),
    }
}

fn users(number: f64) -> Load {
    Load::Closed { users: LoadShape::constant(number), think: ThinkTime::NONE }
}

/// The same plan, written and read again.
fn again(plan: &Plan) -> (Plan, ExportedPlan) {
    let exported =
        write(plan, &ExportOptions { name: "a \"b\" & <c>".into(), folder: PathBuf::new() });
    let document = JmxDocument::parse(exported.jmx.as_bytes()).expect("a .jmx");
    assert_eq!(document.unsupported().len(), 0);
    let context = PlanContext {
        properties: &PropertyMap::new(),
        folder: &PlanFolder::new(Path::new("."), &[]),
        resolve_all: None,
        scale: 1.0,
        max_duration: None,
        lenient: false,
        records: None,
        seed: 1,
        threads: 1,
    };
    let run = crate::plan::read(&document, &context).expect("a plan");
    (run.stages[0].plan.clone(), exported)
}

#[test]
fn texts_are_exported_as_in_jmeter() {
    let plan = plan(
        vec![Request::get("http://h/")],
        vec![ScenarioStep::Request(0)],
        ReplyPolicy::default(),
        users(1.0),
    );
    let options = ExportOptions::default();
    let mut writer = PlanWriter {
        options: &options,
        plan: &plan,
        notices: IndexSet::new(),
        rules: TextRules::Expressions,
        group_ends: EndScope::Nothing,
    };
    for (text, expected) in [
        ("a\\b $5", "a\\b $5"),
        ("${random(1,9)}-${x}\\d", "${__Random(1,9)}-${x}\\\\d"),
        (
            "{n} {uuid} {random:1..3} \\{n} {m}",
            "${__counter(FALSE,)} ${__UUID()} ${__Random(1,3,)} {n} {m}",
        ),
        ("${uppercase(a\\,b)}", "${__changeCase(a\\,b,UPPER,)}"),
        (
            "${base64(ann:${pw})}",
            "${__groovy(('ann:' + (vars.get('pw') ?: '')).bytes.encodeBase64().toString(),)}",
        ),
        (
            "${formatted(${random(1,9)},'N'#\\,##0)}",
            r"${__groovy(new java.text.DecimalFormat('\\'N\\'#\,##0').format(('${__Random(1,9)}') as long),)}",
        ),
        (
            "${base64(${base64(a\\,b)}x)}",
            r"${__groovy(('${__groovy(('a\,b').bytes.encodeBase64().toString(),)}' + 'x').bytes.encodeBase64().toString(),)}",
        ),
        ("${time()}${user()}", "${__time(,)}${__threadNum()}"),
        ("\\${x}", "\\${x}"),
    ] {
        assert_eq!(writer.text(text, Place::Request), expected, "{text}");
    }
    assert!(writer.notices.is_empty(), "{:?}", writer.notices);
    writer.text("${fifoSize(a,b)}", Place::Text);
    assert_eq!(writer.notices.len(), 1, "{:?}", writer.notices);
}

#[test]
fn requests_and_their_replies_round_trip() {
    let request = Request {
        label: "log in <&>".into(),
        method: "POST".into(),
        url: "https://h:81/a?b=c&d=${x}".into(),
        headers: vec![
            ("Content-Type".into(), "application/x-www-form-urlencoded".into()),
            ("X-A".into(), "\"1\" & 2".into()),
        ],
        body: Body::Text("name=a+b&x=${urlencode(${x})}".into()),
        ..Request::get("http://h/")
    };
    let text = brunt_model::reply_policy::TextAssertion {
        part: ReplyPart::Headers,
        patterns: vec![r"\A(?:a|b)\z".into()],
        is: TextMatch::Contains,
        not: true,
        any: false,
        ignore_status: false,
        message: String::new(),
    };
    let extractor = brunt_model::extract::Extractor {
        variable: "x".into(),
        from: brunt_model::extract::ExtractFrom::Boundary { left: "<".into(), right: ">".into() },
        part: ReplyPart::Headers,
        samples: brunt_model::extract::SampleScope::Main,
        take: brunt_model::extract::MatchChoice::All,
        sets_more: false,
        default: Some(String::new()),
    };
    let policy = ReplyPolicy {
        redirects: Redirects { most: 5, ..Redirects::default() },
        cookies: Cookies::Kept,
        actions: vec![ReplyAction::Extract(extractor)],
        assertions: vec![brunt_model::reply_policy::Assertion {
            name: "head".into(),
            test: AssertionTest::Text(text),
        }],
        failure_ends: EndScope::Iteration,
        timeout: Some(Duration::from_millis(1500)),
        ..ReplyPolicy::default()
    };
    let (read, exported) =
        again(&plan(vec![request], vec![ScenarioStep::Request(0)], policy, users(4.0)));
    assert_eq!(exported.notices, Vec::<String>::new());
    let population = read.main();
    assert_eq!(population.stop.iterations_per_user, Some(3));
    assert_eq!(population.load.peak(), 4.0);
    let request = &population.scenario.requests[0];
    assert_eq!((request.label.as_str(), request.method.as_str()), ("log in <&>", "POST"));
    assert_eq!(request.url, "https://h:81/a?b=c&d=${x}");
    assert_eq!(request.body, Body::Text("name=a+b&x=${urlencode(${x})}".into()));
    assert!(request.headers.contains(&("X-A".into(), "\"1\" & 2".into())), "{:?}", request.headers);
    let policy = &read.reply_policies[request.reply_policy as usize];
    assert_eq!((policy.redirects.most, policy.cookies), (20, Cookies::Kept));
    assert_eq!(
        (policy.failure_ends, policy.timeout),
        (EndScope::Iteration, Some(Duration::from_millis(1500)))
    );
    let ReplyAction::Extract(read) = &policy.actions[0] else { panic!("{:?}", policy.actions) };
    assert_eq!(
        (read.variable.as_str(), &read.part, read.take),
        ("x", &ReplyPart::Headers, brunt_model::extract::MatchChoice::All)
    );
    let AssertionTest::Text(text) = &policy.assertions[0].test else {
        panic!("{:?}", policy.assertions)
    };
    assert_eq!(
        (&text.patterns[..], text.is, text.not),
        (&["a|b".to_owned()][..], TextMatch::Matches, true)
    );
}

#[test]
fn steps_round_trip() {
    let requests = (0..3).map(|number| Request::get(&format!("http://h/{number}"))).collect();
    let steps = vec![
        ScenarioStep::Set { variable: "a".into(), value: "b ${c}".into() },
        ScenarioStep::Loop {
            times: Some(Rounds::Number(2)),
            steps: vec![ScenarioStep::Request(0)],
        },
        ScenarioStep::If {
            condition: Condition::Succeeded,
            then: vec![ScenarioStep::Request(1)],
            otherwise: vec![ScenarioStep::Request(2)],
        },
        ScenarioStep::Choose {
            order: ListOrder::Random,
            portion: Portion::Whole,
            branches: vec![
                Branch { weight: 1, steps: vec![ScenarioStep::Request(0)] },
                Branch { weight: 1, steps: vec![ScenarioStep::Request(1)] },
            ],
        },
        ScenarioStep::Pause("${gaussian(2,5)}".into()),
        ScenarioStep::Request(2),
        ScenarioStep::Stop(EndScope::User),
    ];
    let (read, exported) = again(&plan(requests, steps, ReplyPolicy::default(), users(1.0)));
    assert_eq!(exported.notices, Vec::<String>::new());
    let scenario = &read.main().scenario;
    assert!(
        matches!(&scenario.steps[0], ScenarioStep::Script(script) if script.parameters == "b ${c}"),
        "{:?}",
        scenario.steps
    );
    let has = |is: &dyn Fn(&ScenarioStep) -> bool| ScenarioStep::any(&scenario.steps, is);
    assert!(has(&|step| matches!(step, ScenarioStep::Loop { times: Some(Rounds::Number(2)), .. })));
    assert!(has(&|step| matches!(step, ScenarioStep::Switch { cases, .. } if cases.len() == 2)));
    assert!(has(&|step| matches!(step, ScenarioStep::Choose { order: ListOrder::Random, .. })));
    assert!(has(&|step| matches!(step, ScenarioStep::Pause(text) if text.contains("gaussian"))));
    assert!(has(&|step| matches!(step, ScenarioStep::Stop(EndScope::User))));
}

#[test]
fn fixed_samples_and_scripted_pauses_round_trip() {
    let mut waiting = FixedSample {
        success: true,
        code: "200".into(),
        body: "it's ${c}".into(),
        waits: true,
        ..FixedSample::default()
    };
    waiting.elapsed = "25".into();
    let sample = |label: &str, fixed: &FixedSample| {
        ScenarioStep::Sample(ScriptSample {
            label: label.into(),
            maker: SampleMaker::Fixed(fixed.clone()),
            reply_policy: 0,
        })
    };
    let pause = Script {
        name: "pause".into(),
        language: ScriptLanguage::Groovy,
        source: "return 15".into(),
        parameters: String::new(),
    };
    let failing = FixedSample::failure("500".into(), "no (".into());
    let steps = vec![
        sample("waits", &waiting),
        sample("fails", &failing),
        ScenarioStep::PauseByScript(pause.clone()),
        ScenarioStep::Request(0),
    ];
    let plan = plan(vec![Request::get("http://h/")], steps, ReplyPolicy::default(), users(1.0));
    let (read, exported) = again(&plan);
    assert_eq!(exported.notices, Vec::<String>::new());
    let mut samples = Vec::new();
    let mut scripts = Vec::new();
    ScenarioStep::each(&read.main().scenario.steps, &mut |step| match step {
        ScenarioStep::Sample(ScriptSample { label, maker: SampleMaker::Fixed(fixed), .. }) => {
            samples.push((label.clone(), fixed.clone()));
        }
        ScenarioStep::PauseByScript(script) => scripts.push(script.source.clone()),
        _ => {}
    });
    let part = FixedSample { elapsed: "9".into(), latency: "3".into(), ..failing.clone() };
    let (_, exported) = again(&self::plan(
        vec![Request::get("http://h/")],
        vec![sample("part", &part)],
        ReplyPolicy::default(),
        users(1.0),
    ));
    assert_eq!(
        exported.notices,
        [
            "sample part: latency and connect time are left out, a Java Request has none",
            "sample part: its time is left out, a Java Request lasts as long as it sleeps"
        ]
    );
    let failing = FixedSample { elapsed: "0".into(), waits: true, ..failing };
    assert_eq!(samples, [("waits".to_owned(), waiting), ("fails".to_owned(), failing)]);
    assert_eq!(scripts, [pause.source]);
}

#[test]
fn rates_are_open_models() {
    let stages = vec![
        brunt_model::LoadStage { from: 1.0, to: 5.0, duration: Some(Duration::from_secs(4)) },
        brunt_model::LoadStage { from: 5.0, to: 5.0, duration: None },
    ];
    let (arrivals, connections, max_in_flight) = (Arrivals::Even, None, 10);
    let load = Load::Open { rate: LoadShape { stages }, arrivals, connections, max_in_flight };
    let mut plan = plan(
        vec![Request::get("http://h/")],
        vec![ScenarioStep::Request(0)],
        ReplyPolicy::default(),
        load,
    );
    plan.main_mut().stop.duration = Some(Duration::from_secs(10));
    let (read, exported) = again(&plan);
    let schedule = "rate(1/sec) even_arrivals(4 sec) rate(5/sec) rate(5/sec) even_arrivals(6 sec) pause(1 sec)";
    assert!(exported.jmx.contains(schedule), "{}", exported.jmx);
    let Load::Open { rate, .. } = &read.main().load else { panic!("{:?}", read.main().load) };
    assert_eq!(rate.to_string(), "1..5/4s,5/6s,0/1s");
}

#[test]
fn stages_are_thread_groups_that_pass_variables_on() {
    let get = |path: &str| vec![Request::get(&format!("http://h/{path}"))];
    let stage = |kind, path: &str, users_of_it: f64| {
        let mut plan = plan(
            get(path),
            vec![ScenarioStep::Request(0)],
            ReplyPolicy::default(),
            users(users_of_it),
        );
        plan.main_mut().name = path.to_owned();
        TestStage { kind, plan, runs_after_stop: true, places: Vec::new() }
    };
    let mut plan =
        plan(get("a/${token}"), vec![ScenarioStep::Request(0)], ReplyPolicy::default(), users(4.0));
    plan.stages = vec![stage(StageKind::Setup, "s", 2.0), stage(StageKind::Teardown, "t", 1.0)];
    plan.main_mut().scenario.inherited_variables.values =
        vec![("token".into(), String::new()), ("unread".into(), String::new())];
    let exported = write(&plan, &ExportOptions { name: "n".into(), folder: PathBuf::new() });
    assert_eq!(exported.notices, Vec::<String>::new());
    let (read, _) = again(&plan);
    assert_eq!((read.main().name.as_str(), read.main().load.peak()), ("s", 2.0), "setup is first");
    for part in [
        "<SetupThreadGroup guiclass=\"SetupThreadGroupGui\" testclass=\"SetupThreadGroup\" testname=\"s\"",
        "<PostThreadGroup guiclass=\"PostThreadGroupGui\" testclass=\"PostThreadGroup\" testname=\"t\"",
        "props.put('token', vars.get('token') ?: '')",
        "vars.put('token', props.get('token'))",
    ] {
        assert!(
            exported.jmx.replace("&apos;", "'").contains(part),
            "{part} is not in\n{}",
            exported.jmx
        );
    }
    assert!(!exported.jmx.contains("unread"));
}
