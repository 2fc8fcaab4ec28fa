//! Records of samples, made by compiled scenarios that the engine carries out on a fake clock.

use crate::world::{Fake, PAUSE, after_100ms, closed, ms, plan};
use brunt_engine::{RunControl, run};
use brunt_languages::LANGUAGES;
use brunt_model::plan::ListenerRecords;
use brunt_model::reply_policy::{
    Assertion, AssertionTest, NumberComparison, RedirectRules, Redirects, ReplyAction,
};
use brunt_model::scenario::{
    ConcurrencyMode, Condition, EndScope, FixedSample, Pauses, SampleMaker, ScenarioStep, Script,
    ScriptLanguage, ScriptSample, TextRules,
};
use brunt_model::{Environment, Event, Failure, Plan, ReplyPolicy, SampleRecord, Stop, Tick};
use brunt_script::CompiledScript;
use brunt_wire::fake::SimulatedReaction;
use std::time::Duration;

/// The records of one iteration of one user, and the requests that were counted.
fn records(plan: Plan, answer: fn(u64, Tick) -> SimulatedReaction) -> (Vec<SampleRecord>, u64) {
    let mut plan = plan.with_stop(Stop {
        duration: None,
        iterations_per_user: Some(1),
        ..Stop::after(Duration::from_mins(1), Duration::from_secs(5))
    });
    plan.record.records = Some(ListenerRecords {
        variables: vec!["v".into(), "w".into()],
        ..ListenerRecords::default()
    });
    let world = Fake { scripts: CompiledScript::all(&plan, LANGUAGES).expect("a script"), answer };
    let (mut all, mut seen) = (Vec::new(), brunt_model::Run::default());
    let mut hear = |event: &Event| {
        seen.fold(event);
        if let Event::Records(records) = event {
            all.extend(records.iter().cloned());
        }
    };
    run(&plan, Environment::default(), &world, &RunControl::default(), &mut hear).expect("a run");
    let broken: Vec<_> =
        brunt_judge::conservation::checks(&seen).into_iter().filter(|check| !check.holds).collect();
    assert_eq!(broken, []);
    (all, seen.total.begun)
}

/// Label, start behind the first, elapsed, latency, idle, code, message, and the labels within it.
fn told(records: &[SampleRecord]) -> Vec<String> {
    let zero = records.iter().map(|one| one.start_unix_millis).min().unwrap_or_default();
    let told = |one: &SampleRecord| {
        let SampleRecord {
            label, elapsed_millis, latency_millis, idle_millis, code, message, ..
        } = one;
        let start = one.start_unix_millis - zero;
        let idle = if *idle_millis > 0 { format!(" idle {idle_millis}") } else { String::new() };
        let failed = if one.success { "" } else { " failed" };
        let why = one.failure_message.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let within: Vec<&str> = one.sub_results.iter().map(|sub| sub.label.as_str()).collect();
        let within =
            if within.is_empty() { String::new() } else { format!(" [{}]", within.join(" ")) };
        format!(
            "{label} {start}+{elapsed_millis}/{latency_millis}{idle} {code} {message}{failed}{why}{within}"
        )
    };
    records.iter().map(told).collect()
}

fn jmeter(steps: Vec<ScenarioStep>) -> Plan {
    let mut plan = plan(closed(1.0), 60, steps);
    let scenario = &mut plan.main_mut().scenario;
    scenario.texts = TextRules::Jmeter;
    scenario.variables = vec![("v".into(), "1".into()), ("b".into(), "2".into())];
    scenario.requests[0].label = "A ${v}".into();
    scenario.requests[1].label = "B".into();
    plan
}

fn script(source: &str) -> Script {
    let (language, parameters) = (ScriptLanguage::Groovy, String::new());
    Script { name: "script".into(), language, source: source.into(), parameters }
}

fn sample(label: &str, source: Option<&str>) -> ScenarioStep {
    let maker = source.map_or(SampleMaker::Variables, |source| SampleMaker::Script(script(source)));
    ScenarioStep::Sample(ScriptSample { label: label.into(), maker, reply_policy: 0 })
}

#[test]
fn a_request_is_one_record() {
    let (records, _) = records(
        jmeter(vec![PAUSE, ScenarioStep::Request(0), PAUSE, ScenarioStep::Request(1)]),
        after_100ms,
    );
    assert_eq!(told(&records), ["A 1 0+100/100 200 OK", "B 400+100/100 200 OK"]);
    let one = &records[0];
    assert_eq!((one.thread_name.as_str(), one.group_threads, one.all_threads), ("main 1-1", 1, 1));
    assert_eq!((one.bytes, one.sent_bytes, one.sample_count, one.error_count), (1000, 100, 1, 0));
    assert_eq!(
        (one.url.as_deref(), one.variables.join(",").as_str()),
        (Some("http://h/a"), "1,null")
    );
    assert!(one.is_http && one.assertions.is_empty() && one.start_unix_millis > 1_700_000_000_000);
}

#[test]
fn a_fixed_sample_is_a_record_with_its_parts() {
    let fixed = FixedSample {
        success: true,
        code: "2${b}".into(),
        message: "fine".into(),
        body: "four".into(),
        elapsed: "50".into(),
        latency: "20".into(),
        connect: "10".into(),
        waits: true,
    };
    let step = |label: &str, fixed: FixedSample| {
        ScenarioStep::Sample(ScriptSample {
            label: label.into(),
            maker: SampleMaker::Fixed(fixed),
            reply_policy: 0,
        })
    };
    let steps = vec![
        step("waits", fixed.clone()),
        step("does not wait", FixedSample { waits: false, ..fixed }),
        ScenarioStep::PauseByScript(script("return 30.5")),
        step("fails", FixedSample::failure("500".into(), "no".into())),
    ];
    let (records, _) = records(jmeter(steps), after_100ms);
    let all =
        ["waits 0+50/20 22 fine", "does not wait 50+50/20 22 fine", "fails 80+0/0 500 no failed"];
    assert_eq!(told(&records), all);
    assert_eq!((records[0].connect_millis, records[0].bytes), (10, 4));
}

#[test]
fn failures_and_bad_urls_are_records() {
    let fails = |n, now: Tick| {
        if n == 0 { SimulatedReaction::Never } else { SimulatedReaction::Reply(503, now + ms(10)) }
    };
    let mut plan =
        jmeter(vec![ScenarioStep::Request(0), ScenarioStep::Request(1), ScenarioStep::Request(2)]);
    plan.reply_policies[0].timeout = Some(ms(50));
    let scenario = &mut plan.main_mut().scenario;
    scenario
        .requests
        .push(brunt_model::Request { label: "C".into(), ..brunt_model::Request::get("${none}/c") });
    let (records, _) = records(plan, fails);
    let no_reply = "Non HTTP response code: java.net.SocketTimeoutException Non HTTP response message: Read timed out";
    let told = told(&records);
    assert_eq!(told[0], format!("A 1 0+50/0 {no_reply} failed"));
    assert_eq!(told[1], "B 50+10/10 503 Service Unavailable failed");
    assert!(
        told[2].starts_with("C 60+0/0 Non HTTP response code: java.net.URISyntaxException Non"),
        "{}",
        told[2]
    );
    assert_eq!(records[1].error_count, 1);
}

#[test]
fn redirects_are_within_the_record_of_their_request() {
    let redirects = |n, now: Tick| match n {
        0 => SimulatedReaction::Redirect("/x", now + ms(10)),
        1 => SimulatedReaction::Redirect("/y", now + ms(20)),
        _ => SimulatedReaction::Reply(404, now + ms(30)),
    };
    let mut plan = jmeter(vec![ScenarioStep::Request(0)]);
    plan.reply_policies[0].redirects = Redirects { most: 5, rules: RedirectRules::Jmeter };
    let (records, requests) = records(plan, redirects);
    assert_eq!(told(&records), ["A 1 0+60/10 404 Not Found failed [A 1-0 A 1-1 A 1-2]"]);
    assert_eq!(
        (records[0].url.as_deref(), records[0].bytes, requests),
        (Some("http://h/y"), 3000, 1)
    );
    let hops = &records[0].sub_results;
    assert_eq!(
        told(hops),
        [
            "A 1-0 0+10/10 302 Found",
            "A 1-1 10+20/20 302 Found",
            "A 1-2 30+30/30 404 Not Found failed"
        ]
    );
    assert_eq!(hops[1].url.as_deref(), Some("http://h/x"));
}

#[test]
fn scripts_see_each_request_of_a_chain_of_redirects() {
    let redirects = |n, now: Tick| match n {
        0 => SimulatedReaction::Redirect("/x", now + ms(10)),
        _ => SimulatedReaction::Reply(200, now + ms(30)),
    };
    let mut plan = jmeter(vec![ScenarioStep::Request(0)]);
    plan.reply_policies[0].redirects = Redirects { most: 5, rules: RedirectRules::Jmeter };
    let source = "vars.put('v', prev.getSubResults().collect { it.sampleLabel + ' ' + it.responseCode + ' ' + it.time + ' ' + \
                  it.urlAsString }.join('; ') + ' ' + prev.subResults[0].responseHeaders.readLines()[0])";
    plan.reply_policies[0].actions = vec![ReplyAction::Script(script(source))];
    let (records, _) = records(plan, redirects);
    let seen = "A 1-0 302 10 http://h/a; A 1-1 200 30 http://h/x HTTP/1.1 302 Found";
    assert_eq!(records[0].variables[0], seen);
    assert!(
        records[0]
            .sub_results
            .iter()
            .all(|hop| hop.details == brunt_model::RecordDetails::default())
    );
}

#[test]
fn records_have_the_failure_messages_of_assertions() {
    let text = |patterns: &str| {
        let mut assertion = serde_json::json!({"part": "status", "is": "equals"});
        assertion["patterns"] = serde_json::json!([patterns]);
        AssertionTest::Text(serde_json::from_value(assertion).expect("an assertion"))
    };
    let named = |name: &str, test| Assertion { name: name.into(), test };
    let mut plan = jmeter(vec![ScenarioStep::Request(0)]);
    let size = AssertionTest::Size { part: None, is: NumberComparison::Less, bytes: "10".into() };
    plan.reply_policies[0].assertions =
        vec![named("ok", text("200")), named("size", size), named("no", text("201"))];
    let (records, _) = records(plan, after_100ms);
    let why = "The result was the wrong size: It was 1000 bytes, but should have been less than 10 bytes.";
    assert_eq!(told(&records), [format!("A 1 0+100/100 200 OK failed ({why})")]);
    let failed: Vec<(&str, bool)> =
        records[0].assertions.iter().map(|one| (one.name.as_str(), one.failure)).collect();
    assert_eq!(failed, [("ok", false), ("size", true), ("no", true)]);
}

#[test]
fn scripts_change_records_and_drop_them() {
    let policy = |source: &str| ReplyPolicy {
        actions: vec![ReplyAction::Script(script(source))],
        ..ReplyPolicy::default()
    };
    let mut plan = jmeter(vec![ScenarioStep::Request(0), ScenarioStep::Request(1)]);
    plan.reply_policies = vec![
        policy(
            "prev.setSampleLabel('new'); prev.setResponseCode('599'); prev.setResponseMessage('odd'); prev.setSuccessful(false)",
        ),
        policy("prev.setIgnore()"),
    ];
    plan.main_mut().scenario.requests[1].reply_policy = 1;
    let (records, requests) = records(plan, after_100ms);
    assert_eq!((told(&records), requests), (vec!["new 0+100/100 599 odd failed".to_owned()], 2));
}

#[test]
fn transactions_are_records_after_or_around_their_samples() {
    let transaction = |parent, pauses| ScenarioStep::Transaction {
        name: "T".into(),
        pauses,
        parent,
        steps: vec![PAUSE, ScenarioStep::Request(0), ScenarioStep::Request(1)],
    };
    let message = "Number of samples in transaction : 2, number of failing samples : 1";
    let fails =
        |n, now: Tick| SimulatedReaction::Reply(if n % 2 == 0 { 200 } else { 500 }, now + ms(100));
    let (a, b) = ("A 1 300+100/100 200 OK", "B 400+100/100 500 Internal Server Error failed");
    let (all, _) = records(jmeter(vec![transaction(false, Pauses::Excluded)]), fails);
    assert_eq!(told(&all), [a, b, &format!("T 0+200/200 idle 300  {message} failed")]);
    let (all, _) = records(jmeter(vec![transaction(false, Pauses::Included)]), fails);
    assert_eq!(told(&all), [a, b, &format!("T 0+500/200  {message} failed")]);
    let (all, _) = records(jmeter(vec![transaction(true, Pauses::Included)]), fails);
    assert_eq!(told(&all), [format!("T 0+500/0 500 {message} failed [A 1 B]")]);
    assert!(all[0].is_transaction && !all[0].is_http && all[0].url.is_none());
}

#[test]
fn a_failure_that_ends_the_iteration_ends_its_transactions() {
    let steps = vec![ScenarioStep::Request(0), ScenarioStep::Request(1)];
    let transaction = ScenarioStep::Transaction {
        name: "T".into(),
        pauses: Pauses::Excluded,
        parent: false,
        steps,
    };
    let mut plan = jmeter(vec![transaction]);
    plan.reply_policies[0].failure_ends = EndScope::Iteration;
    let (records, _) =
        records(plan, |_, now| SimulatedReaction::Fails(Failure::Reset, now + ms(10)));
    let message = "Number of samples in transaction : 1, number of failing samples : 1";
    assert_eq!(told(&records)[1..], [format!("T 0+10/10  {message} failed")]);
}

#[test]
fn a_transaction_before_the_first_sampler_is_not_recorded() {
    let empty = |name: &str| ScenarioStep::Transaction {
        name: name.into(),
        pauses: Pauses::Excluded,
        parent: false,
        steps: Vec::new(),
    };
    let (records, _) =
        records(jmeter(vec![empty("first"), ScenarioStep::Request(0), empty("T")]), after_100ms);
    let labels: Vec<&str> = records.iter().map(|record| record.label.as_str()).collect();
    assert_eq!(labels[..2], ["A 1", "T"]);
}

#[test]
fn scripts_make_samples_that_count_in_no_total() {
    let if_failed = ScenarioStep::If {
        condition: Condition::Failed,
        then: vec![sample("after", None)],
        otherwise: Vec::new(),
    };
    let steps = vec![
        sample("Debug", None),
        sample(
            "S ${v}",
            Some("SampleResult.setResponseData('abc', 'UTF-8'); vars.put('v', '7'); null"),
        ),
        ScenarioStep::Request(0),
        sample(
            "bad",
            Some(
                "Thread.sleep(40); SampleResult.setSuccessful(false); SampleResult.setResponseCode('9'); 'x'",
            ),
        ),
        sample("thrown", Some("throw new RuntimeException('no')")),
        if_failed,
        sample("ignored", Some("SampleResult.setIgnore()")),
    ];
    let (records, requests) = records(jmeter(steps), after_100ms);
    let told = told(&records);
    assert_eq!(
        told[..4],
        [
            "Debug 0+0/0 200 OK",
            "S 1 0+0/0 200 OK",
            "A 7 0+100/100 200 OK",
            "bad 100+40/0 9 OK failed"
        ]
    );
    let thrown =
        "thrown 140+0/0 500 javax.script.ScriptException: java.lang.RuntimeException: no failed";
    assert_eq!(told[4..], [thrown, "after 140+0/0 200 OK"]);
    assert_eq!((requests, records[0].bytes, records[1].bytes, records[3].bytes), (1, 26, 3, 1));
    assert!(
        !records[0].is_http && records[0].url.is_none() && records[0].variables == ["1", "null"]
    );
}

#[test]
fn an_iteration_may_have_only_samples_or_nothing() {
    let (alone, requests) = records(jmeter(vec![sample("S", Some("1"))]), after_100ms);
    assert_eq!((told(&alone), requests), (vec!["S 0+0/0 200 OK".to_owned()], 0));
    let never = ScenarioStep::If {
        condition: Condition::Failed,
        then: vec![ScenarioStep::Request(0)],
        otherwise: Vec::new(),
    };
    assert_eq!(records(jmeter(vec![never]), after_100ms), (Vec::new(), 0));
}

#[test]
fn requests_of_a_parallel_step_have_separate_records() {
    for manner in [ConcurrencyMode::Parallel(2), ConcurrencyMode::Pipelined] {
        let steps = vec![ScenarioStep::Request(0), ScenarioStep::Request(1)];
        let (records, _) =
            records(jmeter(vec![ScenarioStep::Together { manner, steps }]), after_100ms);
        let mut labels: Vec<&str> = records.iter().map(|one| one.label.as_str()).collect();
        labels.sort_unstable();
        assert_eq!(labels, ["A 1", "B"], "{manner:?}");
    }
}
