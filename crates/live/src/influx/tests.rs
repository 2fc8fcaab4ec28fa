//! Lines against those that Apache JMeter 5.6.3 writes for the same figures.

use super::super::fold::Traffic;
use super::*;
use std::collections::BTreeMap;

fn sink(url: &str) -> InfluxSink {
    InfluxSink {
        url: url.into(),
        token: None,
        measurement: "jmeter".into(),
        application: "my shop".into(),
        title: "Test name".into(),
        event_tags: "a b".into(),
        tags: vec![("env".into(), "x=y".into())],
    }
}

fn lines(wanted: LabelSelection) -> InfluxLines {
    InfluxLines::new(&sink("http://h/write?db=x"), wanted, vec![90.0, 99.9])
}

fn times(millis: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for millis in millis {
        histogram.record(millis * 1_000_000);
    }
    histogram
}

fn figures(ok: &[u64], ko: &[u64]) -> LiveFigures {
    LiveFigures {
        ok: ok.len() as u64,
        ko: ko.len() as u64,
        ok_times: times(ok),
        ko_times: times(ko),
        traffic: Some(Traffic { hits: 3, sent: 30, received: 300 }),
        errors: if ko.is_empty() {
            Vec::new()
        } else {
            vec![("500".into(), "Internal Server Error".into(), ko.len() as u64)]
        },
    }
}

fn interval(named: &[(&str, LiveFigures)]) -> LiveInterval {
    LiveInterval {
        unix_seconds: 1_795_598_568.355,
        all: figures(&[0, 0], &[0]),
        named: named
            .iter()
            .map(|(name, figures)| ((*name).to_owned(), figures.clone()))
            .collect::<BTreeMap<_, _>>(),
        users: UserCounts { min: 1, max: 3, mean: 2, started: 4, ended: 1 },
    }
}

#[test]
fn lines_are_those_of_jmeter() {
    let named = [("a, b=c", figures(&[0], &[])), ("bad", figures(&[], &[0]))];
    let lines = lines(LabelSelection::All).of(&interval(&named));
    assert_eq!(
        lines,
        [
            r"jmeter,application=my\ shop,transaction=all,statut=all,env=x\=y count=3,countError=1,avg=0.0,min=0.0,max=0.0,hit=3,sb=30,rb=300,pct90.0=0.0,pct99.9=0.0 1795598568355000000",
            r"jmeter,application=my\ shop,transaction=a\,\ b\=c,statut=all,env=x\=y count=1,avg=0.0,min=0.0,max=0.0,hit=3,sb=30,rb=300,pct90.0=0.0,pct99.9=0.0 1795598568355000000",
            r"jmeter,application=my\ shop,transaction=a\,\ b\=c,statut=ok,env=x\=y count=1,avg=0.0,min=0.0,max=0.0,hit=3,sb=30,rb=300,pct90.0=0.0,pct99.9=0.0 1795598568355000000",
            r"jmeter,application=my\ shop,transaction=bad,statut=all,env=x\=y count=1,avg=0.0,min=0.0,max=0.0,hit=3,sb=30,rb=300,pct90.0=0.0,pct99.9=0.0 1795598568355000000",
            r"jmeter,application=my\ shop,transaction=bad,statut=ko,env=x\=y count=1,avg=0.0,min=0.0,max=0.0,hit=3,sb=30,rb=300,pct90.0=0.0,pct99.9=0.0 1795598568355000000",
            r"jmeter,application=my\ shop,transaction=bad,responseCode=500,responseMessage=Internal\ Server\ Error,env=x\=y count=1 1795598568355000000",
            r"jmeter,application=my\ shop,transaction=internal,env=x\=y minAT=1,maxAT=3,meanAT=2,startedT=4,endedT=1 1795598568355000000",
        ]
    );
}

#[test]
fn times_are_milliseconds() {
    let mut fields = String::new();
    super::times(&mut fields, &times(&[4]));
    let value = |name: &str| -> f64 {
        fields
            .split(',')
            .find_map(|field| field.strip_prefix(name))
            .and_then(|text| text.parse().ok())
            .unwrap()
    };
    for name in ["avg=", "min=", "max="] {
        assert!((value(name) - 4.0).abs() < 0.01, "{fields}");
    }
    assert_eq!(millis(1_234_567.8), "1.235");
    assert_eq!(millis(2e15), "2.0E9");
}

#[test]
fn the_test_begins_and_ends_once() {
    let mut lines = lines(LabelSelection::None);
    assert!(lines.end(1.0).is_empty());
    assert_eq!(
        lines.begin(1.5),
        [
            r#"events,application=my\ shop,title=ApacheJMeter,env=x\=y,tags=a\ b text="Test name started" 1500000000"#
        ]
    );
    assert!(lines.begin(2.0).is_empty());
    assert!(lines.end(2.0)[0].ends_with(r#"text="Test name ended" 2000000000"#));
    let quoted = InfluxSink { title: "a \"b\"\nc\\".into(), ..sink("") };
    let line = InfluxLines::new(&quoted, LabelSelection::None, Vec::new()).begin(0.0).remove(0);
    assert!(line.contains(r#"text="a \"b\" c\\ started""#), "{line}");
}

#[test]
fn names_are_escaped() {
    for (name, written) in [
        ("a b", r"a\ b"),
        (" a,b ", r"a\,b"),
        ("a=b", r"a\=b"),
        ("a\nb", r"a\nb"),
        ("a\tb\rc", r"a\ b\ c"),
        (r"C:\", "C:/"),
        (r"a\b", r"a\b"),
        ("é\"x\"", "é\"x\""),
    ] {
        assert_eq!(escaped(name), written, "{name:?}");
    }
    assert_eq!(tag("transaction", "  "), "", "no tag may be empty");
}

#[test]
fn labels_are_chosen_and_percentiles_may_be_none() {
    let named = [("login", figures(&[1], &[])), ("shop", figures(&[1], &[]))];
    let of = |wanted| lines(wanted).of(&interval(&named)).len();
    assert_eq!(of(LabelSelection::None), 2);
    assert_eq!(of(LabelSelection::Named(vec!["shop".into()])), 4);
    let found = brunt_script::pattern::Pattern::new("log|shop").unwrap();
    assert_eq!(of(LabelSelection::Pattern(found)), 6);
    let none = InfluxLines::new(&sink(""), LabelSelection::None, Vec::new());
    assert!(!none.of(&interval(&[]))[0].contains("pct"));
    let idle = LiveInterval { unix_seconds: 1.0, ..LiveInterval::default() };
    assert_eq!(none.of(&idle).len(), 1, "nothing ended: users alone");
}

#[test]
fn the_precision_of_the_url_is_preserved() {
    for (url, time) in
        [("http://h/write?db=x&precision=s", 12), ("http://h/write?precision=ms&db=x", 12_345)]
    {
        assert_eq!(
            InfluxLines::new(&sink(url), LabelSelection::None, Vec::new()).time(12.345),
            time,
            "{url}"
        );
    }
}
