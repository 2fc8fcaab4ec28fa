//! Elements as JMeter's window writes them.

use super::*;
use crate::JmxDocument;
use crate::plan::tests::{ONE_LOOP, with};
use crate::plan::{PlanContext, TestRun, read, read_unevaluated};
use std::path::Path;

const PACKAGE: &str = "org.apache.jmeter.visualizers.backend";

fn plan(class: &str, arguments: &[(&str, &str)]) -> JmxDocument {
    let argument = |(name, value): &(&str, &str)| {
        format!(
            r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
            <stringProp name="Argument.value">{value}</stringProp></elementProp>"#
        )
    };
    let arguments: String = arguments.iter().map(argument).collect();
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="Plan"/><hashTree>
        <ThreadGroup testclass="ThreadGroup" testname="Users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
        {ONE_LOOP}</ThreadGroup><hashTree><HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="r">
        <stringProp name="HTTPSampler.domain">h</stringProp></HTTPSamplerProxy><hashTree/></hashTree>
        <BackendListener testclass="BackendListener" testname="live"><elementProp name="arguments" elementType="Arguments">
        <collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>
        <stringProp name="classname">{class}</stringProp></BackendListener><hashTree/>
        </hashTree></hashTree></jmeterTestPlan>"#
    );
    JmxDocument::parse(text.as_bytes()).unwrap()
}

fn run(
    document: &JmxDocument,
    properties: &[(&str, &str)],
    change: fn(&mut PlanContext<'_>),
) -> TestRun {
    with(properties, Path::new("."), |context| {
        change(context);
        read(document, context).unwrap()
    })
}

fn influx(arguments: &[(&str, &str)]) -> JmxDocument {
    let sender = format!("{PACKAGE}.influxdb.HttpMetricsSender");
    let common = [
        ("influxdbMetricsSender", sender.as_str()),
        ("influxdbUrl", "http://${__P(influx,i)}:8086/write?db=x"),
    ];
    plan(&format!("{PACKAGE}.influxdb.{INFLUX}"), &[&common, arguments].concat())
}

fn note(document: &JmxDocument) -> String {
    let run = run(document, &[], |_| {});
    assert!(run.live_outputs.is_empty(), "{:?}", run.live_outputs);
    run.notices.join("\n")
}

#[test]
fn an_element_for_influxdb_becomes_a_live_output() {
    let document = influx(&[
        ("application", "shop ${__P(of,)}"),
        ("measurement", "m"),
        ("summaryOnly", "false"),
        ("samplersRegex", "^T.*"),
        ("percentiles", "99;95; 90.5;x;"),
        ("testTitle", "Evening"),
        ("eventTags", "a b"),
        ("influxdbToken", "secret"),
        ("TAG_env", "prod"),
    ]);
    let of_run = run(&document, &[("influx", "db.example"), ("of", "one")], |_| {});
    let [output] = &of_run.live_outputs[..] else { panic!("{:?}", of_run.notices) };
    let LiveSink::Influx(sink) = &output.sink else { panic!("{output:?}") };
    assert_eq!(sink.url, "http://db.example:8086/write?db=x");
    assert_eq!(sink.token, Some(AccessToken("secret".into())));
    let texts =
        [&sink.application, &sink.measurement, &sink.title, &sink.event_tags].map(String::as_str);
    assert_eq!(texts, ["shop one", "m", "Evening", "a b"]);
    assert_eq!(sink.tags, [("env".into(), "prod".into())]);
    assert_eq!(output.labels, LabelFilter::Containing("^T.*".into()));
    assert_eq!(
        (output.interval, &output.percentiles[..]),
        (Duration::from_secs(5), &[99.0, 95.0, 90.5][..])
    );
    assert!(of_run.notices.is_empty(), "{:?}", of_run.notices);
    let fast = run(&document, &[("backend_influxdb.send_interval", "2")], |_| {});
    assert_eq!(fast.live_outputs[0].interval, Duration::from_secs(2));
    let labels = |arguments: &[(&str, &str)]| {
        run(&influx(arguments), &[], |_| {}).live_outputs[0].labels.clone()
    };
    assert_eq!(labels(&[("samplersRegex", ".*")]), LabelFilter::All);
    assert_eq!(labels(&[("summaryOnly", "true")]), LabelFilter::None);
}

#[test]
fn an_element_for_graphite_becomes_a_live_output() {
    let class = format!("{PACKAGE}.graphite.{GRAPHITE}");
    let output = |arguments: &[(&str, &str)]| {
        run(&plan(&class, &[&[("graphiteHost", "g")], arguments].concat()), &[], |_| {})
            .live_outputs
            .remove(0)
    };
    let usual = output(&[]);
    let sink = GraphiteSink { host: "g".into(), port: 2003, prefix: "jmeter.".into() };
    assert_eq!(
        (usual.sink, usual.labels, usual.interval),
        (LiveSink::Graphite(sink), LabelFilter::None, Duration::from_secs(1))
    );
    let some = output(&[
        ("summaryOnly", "false"),
        ("samplersList", "a b;c"),
        ("rootMetricsPrefix", "p."),
        ("graphitePort", "9"),
    ]);
    assert_eq!(some.labels, LabelFilter::Named(vec!["a b".into(), "c".into()]));
    assert_eq!(
        some.sink,
        LiveSink::Graphite(GraphiteSink { host: "g".into(), port: 9, prefix: "p.".into() })
    );
    let regex = output(&[
        ("summaryOnly", "false"),
        ("samplersList", "T.*"),
        ("useRegexpForSamplersList", "true"),
    ]);
    assert_eq!(regex.labels, LabelFilter::Matching("T.*".into()));
}

#[test]
fn elements_that_send_nothing_are_named() {
    for (document, told) in [
        (plan("org.example.Third", &[]), "no figures are sent by its class `org.example.Third`"),
        (
            influx(&[("influxdbMetricsSender", "a.UdpMetricsSender")]),
            "by the class `a.UdpMetricsSender`",
        ),
        (
            influx(&[("influxdbUrl", "http://host_to_change:8086/write?db=jmeter")]),
            "still JMeter's example",
        ),
        (influx(&[("influxdbUrl", "i:8086")]), "not an http or https URL"),
        (influx(&[("samplersRegex", "(")]), "its samplersRegex is no regular expression"),
        (plan(GRAPHITE, &[]), "its graphiteHost is empty"),
        (
            plan(GRAPHITE, &[("graphiteHost", "g"), ("graphitePort", "x")]),
            "its graphitePort is not a number",
        ),
        (
            plan(
                GRAPHITE,
                &[
                    ("graphiteHost", "g"),
                    ("graphiteMetricsSender", "a.PickleGraphiteMetricsSender"),
                ],
            ),
            "by the class `a.PickleGraphiteMetricsSender`",
        ),
    ] {
        let note = note(&document);
        assert!(
            note.contains("Backend Listener \"live\": left out") && note.contains(told),
            "{note}"
        );
    }
}

#[test]
fn a_plan_against_another_address_sends_nothing_to_real_systems() {
    let run = run(&influx(&[]), &[], |context| {
        let address = "127.0.0.1:1".parse().unwrap();
        context.resolve_all = Some(brunt_model::plan::ResolveAll { address, tls: false });
    });
    assert!(run.live_outputs.is_empty());
    let note = run.notices.join("\n");
    assert!(
        note.contains("Backend Listener \"live\": left out") && note.contains("`-o influx=URL`"),
        "{note}"
    );
}

#[test]
fn an_unevaluated_plan_reports_that_nothing_is_sent() {
    let document = influx(&[("influxdbUrl", "http://i:8086/write?db=x&amp;p=hunter2")]);
    let run =
        with(&[], Path::new("."), |context| read_unevaluated(&document, context).unwrap().run);
    assert!(run.live_outputs.is_empty());
    let note = run.notices.join("\n");
    assert!(
        note.contains("InfluxDB at http://i:8086/write") && !note.contains("hunter2"),
        "{note}"
    );
}
