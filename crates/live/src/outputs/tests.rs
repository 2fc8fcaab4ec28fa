//! Sends the figures of known events to systems that accept or refuse them.

use super::*;
use brunt_model::live_output::GraphiteSink;
use brunt_model::live_output::LabelFilter;
use brunt_model::{Phase, Snapshot};
use std::io::Read;
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Starts a server for Graphite's protocol. The channel has the text of each connection.
fn graphite() -> (LiveOutput, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (say, received) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut text = String::new();
            stream.unwrap().read_to_string(&mut text).unwrap();
            if say.send(text).is_err() {
                break;
            }
        }
    });
    (output(port), received)
}

fn output(port: u16) -> LiveOutput {
    LiveOutput {
        sink: LiveSink::Graphite(GraphiteSink {
            host: "127.0.0.1".into(),
            port,
            prefix: "p.".into(),
        }),
        interval: Duration::from_secs(1),
        percentiles: Vec::new(),
        labels: LabelFilter::All,
    }
}

fn listening(outputs: &[LiveOutput]) -> (LiveOutputs, Arc<Mutex<Vec<String>>>) {
    let notifications = Arc::<Mutex<Vec<String>>>::default();
    let sink = Arc::clone(&notifications);
    let redactor = Arc::new(Redactor::with_random_key());
    let notify = Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()));
    (LiveOutputs::new(outputs, redactor, notify).unwrap(), notifications)
}

fn started() -> Event {
    Event::Started {
        plan: Box::new(brunt_generator::exchange::plan()),
        environment: Box::default(),
        unix_seconds: 1000.0,
    }
}

fn snapshot(second: u64, good: u64) -> Event {
    let to = Tick::ZERO + Duration::from_secs(second);
    let mut snapshot = Snapshot { to, phase: Phase::Measure, ..Snapshot::default() };
    let tally = &mut snapshot.measured;
    (tally.begun, tally.completed, tally.good) = (good, good, good);
    Event::Snapshot(Box::new(snapshot))
}

/// The sum of the counts of all requests.
fn sum_of_counts(received: &str) -> u64 {
    let counts = received.lines().filter_map(|line| line.strip_prefix("p.all.a.count "));
    counts.map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn runs_of_a_test_are_sent_one_after_the_other() {
    let (output, received) = graphite();
    let (mut outputs, notifications) = listening(&[output]);
    for run in 1..=2 {
        outputs.on_event(&started());
        for second in 1..=3 {
            outputs.on_event(&snapshot(second, run * 10 + second));
        }
        assert_eq!(outputs.end(Tick::ZERO), []);
    }
    outputs.finish();
    let (mut all, sum) = (String::new(), 11 + 12 + 13 + 21 + 22 + 23);
    while sum_of_counts(&all) < sum {
        all += &received.recv_timeout(Duration::from_secs(30)).unwrap();
    }
    assert_eq!(sum_of_counts(&all), sum, "{all}");
    assert!(notifications.lock().unwrap().is_empty());
}

#[test]
fn an_unreachable_system_is_reported_once_and_counted() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (mut outputs, notifications) = listening(&[output(port)]);
    outputs.on_event(&started());
    for second in 1..=4 {
        outputs.on_event(&snapshot(second, 1));
    }
    let warnings = outputs.end(Tick(7));
    let [Event::Warning(warning)] = &warnings[..] else { panic!("{warnings:?}") };
    let text = &warning.text;
    assert!(
        text.starts_with("44 of 44 lines of figures did not reach Graphite at 127.0.0.1:"),
        "{text}"
    );
    assert!(text.to_lowercase().contains("refused") && warning.at == Tick(7), "{text}");
    outputs.finish();
    let notifications = notifications.lock().unwrap();
    assert!(
        notifications.len() == 1 && notifications[0].ends_with("the run continues"),
        "{notifications:?}"
    );
}

#[test]
fn lines_wait_for_a_system_that_starts_later() {
    let (output, received) = graphite();
    let LiveSink::Graphite(sink) = &output.sink else { panic!() };
    let (notify, delivered) = (Arc::new(|_: &str| {}), Arc::<Mutex<DeliveryCounts>>::default());
    let absent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut sender =
        Sender::new(&super::tests::output(absent).sink, Arc::clone(&delivered), notify);
    sender.push(vec!["a 1 1".into()]);
    sender.send();
    assert!(delivered.lock().unwrap().is_failing);
    sender.direct_to(&LiveSink::Graphite(sink.clone()));
    sender.push(vec!["b 2 2".into()]);
    sender.send();
    assert_eq!(received.recv().unwrap(), "a 1 1\nb 2 2\n");
    let taken = delivered.lock().unwrap().take();
    assert_eq!((taken.all, taken.arrived, taken.is_failing), (2, 2, false));
}

#[test]
fn the_number_of_waiting_lines_is_limited() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let delivered = Arc::<Mutex<DeliveryCounts>>::default();
    let mut sender =
        Sender::new(&output(port).sink, Arc::clone(&delivered), Arc::new(|_: &str| {}));
    for n in 0..3 {
        sender.push((0..9000).map(|m| format!("{n}.{m} 1 1")).collect());
        sender.send();
        assert_eq!(sender.waiting(), if n == 0 { 9000 } else { 10_000 });
    }
    let (taking, received) = graphite();
    sender.direct_to(&taking.sink);
    sender.push((0..20_000).map(|m| format!("3.{m} 1 1")).collect());
    sender.send();
    let text = received.recv().unwrap();
    let last = (text.lines().count(), text.lines().next(), text.lines().next_back());
    assert_eq!(last, (30_000, Some("1.8000 1 1"), Some("3.19999 1 1")));
    let taken = delivered.lock().unwrap().take();
    assert_eq!((taken.all, taken.arrived), (47_000, 30_000));
}

#[test]
fn a_malformed_regular_expression_is_refused() {
    let wrong = LiveOutput { labels: LabelFilter::Matching("(".into()), ..output(1) };
    let refused =
        LiveOutputs::new(&[wrong], Arc::new(Redactor::with_random_key()), Arc::new(|_: &str| {}));
    let error_text = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error_text.starts_with("the regular expression for labels"), "{error_text}");
}
