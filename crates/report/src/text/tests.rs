use crate::story::{self, Story};
use brunt_model::objective::{Metric, Relation};
use brunt_model::{Body, Failure, Finish, Judgement, Load, Objective, Run, Shape, Stage, Think, Tick};
use insta::assert_snapshot;
use proptest::prelude::*;
use std::time::Duration;

fn text_of(run: &Run) -> String {
    let mut out = Vec::new();
    super::write(run, &Judgement::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn text(story: &Story) -> String {
    text_of(&story.run())
}

#[test]
fn a_closed_loop() {
    assert_snapshot!(text(&story::closed()), @r"
    GET http://127.0.0.1:8080/

    Load         closed loop, 64 connections, no think time
    Duration     10 s
    Server       nginx/1.26.3 at 127.0.0.1

    Throughput   100 requests/s
    Goodput      100 requests/s
    Requests     1,000 completed (all good)
    Bytes        25.0 kB/s received (250 kB), 8.00 kB/s sent (80.0 kB)

    Times                p50      p75      p90      p95      p99    p99.9      max
    response time     549 µs   861 µs  1.11 ms  1.20 ms  1.28 ms  1.30 ms  1.30 ms
    service time      539 µs   851 µs  1.10 ms  1.19 ms  1.27 ms  1.29 ms  1.29 ms
    lag              2.00 µs  2.00 µs  2.00 µs  2.00 µs  2.00 µs  2.00 µs  2.00 µs
    connection time  8.00 µs  8.00 µs  8.00 µs  8.00 µs        –        –  8.00 µs
    response time: planned -> last byte; service time: sent -> last byte; lag: free -> begun,
    brunt's own lateness; connection time: begun -> sent, where one was opened

    Closed loop  A closed loop cannot see queueing before its users.
                 Open loop at this throughput: brunt -r 100 http://127.0.0.1:8080/

    Phases          p50      p99      max  count
    connect     6.00 µs        –  6.00 µs     64
    first byte   484 µs  1.14 ms  1.16 ms  1,000
    receive     55.0 µs   128 µs   130 µs  1,000

    Outcomes
      200  1,000  100 %

    Connections  64 opened, 936 requests on a used one, at most 64 open at once

    Response times of 1,000 requests
         up to    share  cumulative
        315 µs   12.3 %      12.3 %  █████████████████████████▍
        400 µs   19.4 %      31.7 %  ████████████████████████████████████████
        500 µs   13.1 %      44.8 %  ███████████████████████████
        630 µs   12.7 %      57.5 %  ██████████████████████████▏
        800 µs   13.3 %      70.8 %  ███████████████████████████▍
       1.00 ms   12.9 %      83.7 %  ██████████████████████████▋
       1.25 ms   13.8 %      97.5 %  ████████████████████████████▌
       1.30 ms   2.50 %       100 %  █████▏

    Generator    CPU 0.123 s user + 0.456 s system, 579 µs per request, 6 % of a core, 12.3 MB of
                 memory at most, 2 threads
    ");
}

#[test]
fn an_open_loop_that_the_server_cannot_bear() {
    let mut story = story::overloaded();
    let bound = |metric, relation, bound| Objective { metric, relation, bound };
    story.plan.objectives = vec![
        bound(Metric::Quantile(0.5), Relation::Below, 0.5),
        bound(Metric::Quantile(0.99), Relation::AtMost, 3.0),
        bound(Metric::Errors, Relation::Below, 0.01),
        bound(Metric::Goodput, Relation::AtLeast, 150.0),
    ];
    assert_snapshot!(text(&story), @r"
    GET http://127.0.0.1:8080/

    Load         open loop, Poisson arrivals, 200/s over at most 50 connections
    Duration     10 s
    Server       nginx/1.26.3 at 127.0.0.1

    Throughput   185 requests/s of 195/s planned
    Goodput      183 requests/s
    Requests     2,000 planned, 1,920 begun, 1,900 completed, 1,881 good, 17 failed, 3 cut off, 80
                 dropped
    Bytes        46.3 kB/s received (463 kB), 15.6 kB/s sent (156 kB)

    Times              p50      p75      p90      p95       p99     p99.9       max
    response time   400 ms   599 ms   718 ms   758 ms  ≥ 2.00 s  ≥ 2.00 s  ≥ 2.00 s
    service time   96.3 ms   144 ms   173 ms   182 ms    190 ms    2.00 s    2.00 s
    queue wait      282 ms   426 ms   512 ms   541 ms    564 ms    570 ms    570 ms
    lag            1.50 µs  1.50 µs  1.50 µs  1.50 µs   2.00 µs   2.00 µs   2.00 µs
    response time: planned -> last byte; service time: sent -> last byte; queue wait: planned -> a
    connection was free; lag: free -> begun, brunt's own lateness
    ≥: so many requests were dropped, cut off or timed out that the true figure is this or more

    Phases          p50      p99      max  count
    first byte  57.8 ms   114 ms   115 ms  1,900
    receive     38.1 ms  75.3 ms  76.0 ms  1,900

    Outcomes
      200               1,881  94.0 %
      503                  19  0.95 %
      connection reset      7  0.35 %   the server reset the connection before a whole reply came;
                                        look into the server's error log; a crash, a limit or a full
                                        accept queue does this (after 4.50 ms p50, 7.50 ms max)
      response timeout     10  0.50 %   no whole reply within the timeout; the server is overloaded
                                        or hangs; --timeout sets how long to wait
      dropped              80  4.00 %   due by the schedule, but never begun; the server is slower
                                        than the load: lower --rate, or raise --max-in-flight or
                                        --connections
      cut off               3  0.15 %   not finished when the run ended; a longer --grace lets them
                                        finish (after 1.00 s p50, 1.00 s max)

    Connections  0 opened, 1,920 requests on a used one, at most 64 open at once

    Response times of 1,910 requests
         up to    share  cumulative
       2.00 ms   0.16 %      0.16 %  ▏
       5.00 ms   0.42 %      0.58 %  ▍
       10.0 ms   0.63 %      1.20 %  ▋
       20.0 ms   1.31 %      2.51 %  █▍
       50.0 ms   3.93 %      6.44 %  ████
        100 ms   6.54 %      13.0 %  ██████▋
        200 ms   13.1 %      26.1 %  █████████████▍
        500 ms   39.3 %      65.3 %  ████████████████████████████████████████
        1.00 s   34.1 %      99.5 %  ██████████████████████████████████▊
        2.00 s   0.52 %       100 %  ▌
    among them 10 that timed out, at the time when brunt gave up
    not shown: 83 dropped or cut off, whose times nobody knows

    Objectives
      met      p50 < 500ms: 400 ms
      MISSED   p99 <= 3s: ≥ 2.00 s
      MISSED   errors < 1%: 5.95 %
      met      goodput >= 150/s: 183/s

    note: the generator had no CPU to spare in 12 % of the time; response times may be too long by
          up to 1 ms
    ");
}

#[test]
fn nothing_measured() {
    let mut story = Story::closed(8.0);
    for i in 0..400 {
        story.failure(i * 20, 45 + i % 7, Failure::Refused);
    }
    assert_snapshot!(text(&story), @r"
    GET http://127.0.0.1:8080/

    Load         closed loop, 8 connections, no think time
    Duration     10 s
    Server       nginx/1.26.3 at 127.0.0.1

    Nothing could be measured: all 400 requests ended as 'connection refused': nobody listens on
    that port; is the server running, and on this port? Under load: its accept queue is full and
    tcp_abort_on_overflow is set.
    ");
    story.failure(9000, 100, Failure::Tls);
    let several = text(&story);
    assert!(several.contains("measured: 400 of 401 requests ended as 'connection refused'"), "{several}");
    assert!(several.contains("\n  TLS handshake failed    1  0.25 %   no secure connection"), "{several}");
}

#[test]
fn nothing_measured_for_a_reason_that_the_engine_knows() {
    let mut story = Story::open(10.0, None);
    story.finish = Finish { at: Tick(0), interrupted: false, error: Some("no worker could be started.".into()) };
    let text = text(&story);
    assert!(text.contains("\nNothing could be measured: no worker could be started.\n"), "{text}");
    assert!(!text.contains("Throughput") && !text.contains("Times"), "{text}");
}

#[test]
fn several_labels_of_a_run_that_was_interrupted() {
    let names: Vec<String> = (0..22).map(|i| format!("http://127.0.0.1:8080/shop/category/{i}/item.html")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut story = Story::of(Load::Closed {
        users: Shape {
            stages: vec![
                Stage { from: 0.0, to: 500.0, duration: Some(Duration::from_secs(30)) },
                Stage { from: 500.0, to: 500.0, duration: Some(Duration::from_mins(2)) },
            ],
        },
        think: Think { least: Duration::from_secs(1), most: Duration::from_secs(3) },
    })
    .labels(&names);
    story.plan.main_mut().stop.duration = Some(Duration::from_secs(150));
    story.plan.main_mut().stop.warmup = Duration::from_secs(5);
    for i in 0..2300 {
        let label = i % 23 % 22;
        let status = if label == 3 && i % 5 == 0 { 500 } else { 200 };
        story.reply(i * 4, 400 + label * 30 + i % 11, status).label = label as u32;
    }
    story.finish.interrupted = true;
    assert_snapshot!(text(&story), @r"
    22 URLs, in sequence

    Load         closed loop, users 0 to 500 over 30 s, then 500 for 2 min, think time 1 s to 3 s
    Duration     2 min 30 s, after 5 s of warm-up
    Server       nginx/1.26.3 at 127.0.0.1

    Throughput   230 requests/s
    Goodput      228 requests/s
    Requests     2,300 completed, 2,280 good
    Bytes        57.5 kB/s received (575 kB), 18.4 kB/s sent (184 kB)

    Times              p50      p75      p90      p95      p99    p99.9      max
    response time   705 µs   882 µs   977 µs  1.01 ms  1.04 ms  1.04 ms  1.04 ms
    service time    695 µs   872 µs   967 µs   999 µs  1.03 ms  1.03 ms  1.03 ms
    lag            2.00 µs  2.00 µs  2.00 µs  2.00 µs  2.00 µs  2.00 µs  2.00 µs
    response time: planned -> last byte; service time: sent -> last byte; lag: free -> begun,
    brunt's own lateness

    Closed loop  A closed loop cannot see queueing before its users.
                 Open loop at this throughput: the same command with -r 230 in place of the
                 connections

    Phases          p50     p99     max  count
    first byte   624 µs  924 µs  926 µs  2,300
    receive     71.0 µs  104 µs  104 µs  2,300

    Outcomes
      200  2,280  99.1 %
      500     20  0.87 %

    Connections  0 opened, 2,300 requests on a used one, at most 64 open at once

    Labels                                    completed  per second  errors     p50     p99     max
    http://127.0.0.1:80...tegory/0/item.html        200        20.0       0  405 µs  410 µs  410 µs
    http://127.0.0.1:80...tegory/1/item.html        100        10.0       0  435 µs  440 µs  440 µs
    http://127.0.0.1:80...tegory/2/item.html        100        10.0       0  465 µs  470 µs  470 µs
    http://127.0.0.1:80...tegory/3/item.html        100        10.0      20  495 µs  500 µs  500 µs
    http://127.0.0.1:80...tegory/4/item.html        100        10.0       0  525 µs  530 µs  530 µs
    http://127.0.0.1:80...tegory/5/item.html        100        10.0       0  555 µs  560 µs  560 µs
    http://127.0.0.1:80...tegory/6/item.html        100        10.0       0  585 µs  590 µs  590 µs
    http://127.0.0.1:80...tegory/7/item.html        100        10.0       0  615 µs  620 µs  620 µs
    http://127.0.0.1:80...tegory/8/item.html        100        10.0       0  645 µs  650 µs  650 µs
    http://127.0.0.1:80...tegory/9/item.html        100        10.0       0  675 µs  680 µs  680 µs
    http://127.0.0.1:80...egory/10/item.html        100        10.0       0  705 µs  710 µs  710 µs
    http://127.0.0.1:80...egory/11/item.html        100        10.0       0  735 µs  740 µs  740 µs
    http://127.0.0.1:80...egory/12/item.html        100        10.0       0  765 µs  770 µs  770 µs
    http://127.0.0.1:80...egory/13/item.html        100        10.0       0  795 µs  800 µs  800 µs
    http://127.0.0.1:80...egory/14/item.html        100        10.0       0  825 µs  830 µs  830 µs
    http://127.0.0.1:80...egory/15/item.html        100        10.0       0  855 µs  860 µs  860 µs
    http://127.0.0.1:80...egory/16/item.html        100        10.0       0  885 µs  890 µs  890 µs
    http://127.0.0.1:80...egory/17/item.html        100        10.0       0  915 µs  920 µs  920 µs
    http://127.0.0.1:80...egory/18/item.html        100        10.0       0  945 µs  950 µs  950 µs
    http://127.0.0.1:80...egory/19/item.html        100        10.0       0  975 µs  980 µs  980 µs
    and 2 more

    Response times of 2,300 requests
         up to    share  cumulative
        500 µs   21.3 %      21.3 %  ████████████████████████████████████████
        600 µs   13.4 %      34.8 %  █████████████████████████▏
        700 µs   13.0 %      47.8 %  ████████████████████████▌
        800 µs   17.0 %      64.8 %  ███████████████████████████████▉
        900 µs   13.4 %      78.3 %  █████████████████████████▏
       1.00 ms   13.0 %      91.3 %  ████████████████████████▌
       1.04 ms   8.70 %       100 %  ████████████████▎

    interrupted after 10 s of 2 min 30 s: the figures are of the time until then
    ");
}

#[test]
fn what_was_asked_is_said_in_words() {
    let mut story = Story::open(0.5, None);
    story.plan.main_mut().scenario.requests[0].method = "POST".into();
    story.plan.main_mut().scenario.requests[0].body = Body::Text("x=1".into());
    story.plan.connection.requests_per_connection = Some(1);
    story.plan.main_mut().stop.requests = Some(100);
    story.plan.main_mut().stop.duration = None;
    story.reply(1, 1, 200);
    let text = text(&story);
    assert!(text.starts_with("POST http://127.0.0.1:8080/ with a body of 3 B\n"), "{text}");
    let load = "open loop, Poisson arrivals, 0.5/s, as many connections as it takes, a new connection for each request";
    assert!(text.replace("\n             ", " ").contains(load), "{text}");
    assert!(text.contains("Duration     100 requests in 10 s\n"), "{text}");
}

#[test]
fn a_url_is_quoted_as_a_shell_needs_it() {
    let mut story = Story::closed(1.0);
    story.plan.main_mut().scenario.requests[0].url = "http://127.0.0.1/?a=1&b='2'".into();
    story.reply(0, 1000, 200);
    assert!(text(&story).contains(r"brunt -r 0.1 'http://127.0.0.1/?a=1&b='\''2'\'''"));
}

/// A story of whatever samples: (planned at, took, outcome, label).
fn told(samples: &[(u64, u64, usize, u32)], open: bool, labels: &[&str]) -> Story {
    let story = if open { Story::open(100.0, Some(3)) } else { Story::closed(3.0) };
    let mut story = story.labels(labels);
    for (at, micros, outcome, label) in samples {
        let sample = match Failure::all().nth(*outcome) {
            Some(failure) => story.failure(*at, *micros, failure),
            None => story.reply(*at, *micros, [200, 302, 404, 503][outcome % 4]),
        };
        sample.label = *label;
    }
    story
}

proptest! {
    #[test]
    fn any_run_can_be_written(
        samples in prop::collection::vec((0u64..12_000, 0u64..20_000_000, 0usize..25, 0u32..4), 0..40),
        open in any::<bool>(),
        labels in 1usize..4,
        kept in any::<u64>(),
    ) {
        let events = told(&samples, open, &["/a", "/b", "/c\x1b[2J"][..labels]).events();
        let some = events.iter().enumerate().filter(|(i, _)| kept >> (i % 64) & 1 == 1).map(|e| e.1);
        for run in [Run::of(&events), Run::of(some)] {
            let text = text_of(&run);
            prop_assert!(text.lines().all(|l| l.chars().count() <= crate::layout::WIDTH), "{}", text);
            prop_assert!(!text.contains(['\x1b', '\r']) && !text.contains("NaN") && !text.contains("\n\n\n"));
            // Pictures take their time, and are drawn from what SVG is written from.
            for format in crate::REPORTS.iter().filter(|format| format.name != "png") {
                (format.write)(&run, &Judgement::default(), &mut Vec::new()).unwrap();
            }
        }
    }
}

#[test]
fn a_study_of_two_contenders() {
    let (study, analysis) = story::sweep_of(&(1..=12).map(|n| f64::from(n) * 40.0).collect::<Vec<_>>(), 3);
    let mut out = Vec::new();
    super::write_study(&study, &analysis, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 96));
    assert_snapshot!(text, @r"
    e1-php: nginx and Apache in front of php-fpm with 20 children

    Trials       72 of 72: 2 contenders × 12 loads × 3 repetitions, interleaved, 10 s each
    Contenders   nginx, apache
    Begun        2026-07-01T12:00:00.250Z, kept as k7mq
    Generator    brunt 0.1.0, 2 cores

    Findings
    ! 3 repetitions: no 95 % interval over repetitions can be given, ranges are shown as ranges
      -> --repeat 6
    - nginx carries 360/s before throughput stops growing, apache 300/s

    Limits
    Definition                     nginx              apache
    knee              288/s [274 to 302]  240/s [228 to 252]
    saturation point  360/s [353 to 367]  300/s [294 to 306]
    99 % achieved                  360/s               280/s
    p99 < 1s                       320/s               240/s
    p99 < 10 s                  not seen            not seen
    - knee: Kneedle on the smoothed mean, 40 to 480/s
    - saturation point: throughput is level from 360/s on
    - 99 % achieved: the last such load
    - p99 < 1s: at all steps up to it
    - p99 < 10 s: it holds at every load that was measured

    nginx
    load, /s  offered  achieved     mean      p50       p95       p99  errors   CPU   flags
    40           40.0      40.0  9.02 ms  7.92 ms   16.1 ms   21.6 ms     0 %  0.18
    80           80.0      80.0  10.3 ms  9.07 ms   18.6 ms   24.7 ms     0 %  0.36
    120           120       120  12.1 ms  10.6 ms   21.8 ms   29.3 ms     0 %  0.54
    160           160       160  14.6 ms  12.8 ms   26.3 ms   35.4 ms     0 %  0.73
    200           200       200  18.5 ms  16.2 ms   33.2 ms   44.6 ms     0 %  0.91   outlier
    240           240       240  25.0 ms  22.0 ms   45.0 ms   60.4 ms     0 %  1.09
    280           280       279  38.8 ms  34.0 ms   69.8 ms   94.0 ms     0 %  1.27
    320           320       317  86.0 ms  75.5 ms    155 ms    209 ms     0 %  1.45
    360           360       343   369 ms   351 ms    598 ms    764 ms  1.06 %  1.55
    400           400       343   899 ms   936 ms  ≥ 2.05 s  ≥ 2.05 s  6.33 %  1.55
    440           440       343   1.33 s   1.50 s  ≥ 2.82 s  ≥ 2.82 s  14.8 %  1.55
    480           480       343   1.69 s   2.07 s  ≥ 3.46 s  ≥ 3.46 s  21.9 %  1.55

    apache
    load, /s  offered  achieved     mean      p50       p95       p99  errors   CPU
    40           40.0      40.0  11.0 ms  9.65 ms   19.7 ms   26.3 ms     0 %  0.22
    80           80.0      79.9  13.0 ms  11.4 ms   23.5 ms   31.2 ms     0 %  0.44
    120           120       120  16.0 ms  14.1 ms   28.9 ms   38.8 ms     0 %  0.65
    160           160       160  20.8 ms  18.3 ms   37.4 ms   50.3 ms     0 %  0.87
    200           200       199  29.7 ms  26.1 ms   53.4 ms   71.8 ms     0 %  1.09
    240           240       239  51.7 ms  45.4 ms   93.0 ms    125 ms     0 %  1.31
    280           280       274   199 ms   175 ms    359 ms    484 ms     0 %  1.52
    320           320       285   749 ms   757 ms    1.23 s  ≥ 1.86 s  2.78 %  1.55
    360           360       285   1.30 s   1.44 s  ≥ 2.75 s  ≥ 2.75 s  13.6 %  1.55
    400           400       285   1.73 s   2.12 s  ≥ 3.51 s  ≥ 3.51 s  22.2 %  1.55
    440           440       285   2.09 s   2.80 s  ≥ 4.17 s  ≥ 4.17 s  29.3 %  1.55
    480           480       285   2.39 s   3.48 s  ≥ 4.73 s  ≥ 4.73 s  35.2 %  1.55

    Bottleneck
    - nginx: all 20 php-fpm children busy, 35 requests queued
    - nginx, beside that: CPU of the machine at 92 %
    - apache: all 20 php-fpm children busy, 35 requests queued
    - apache, beside that: CPU of the machine at 92 %

    Looked at       source                            figure  value     a cause
    nginx      php-fpm:www  workers.busy, share of the limit   1.00  from 0.980
    apache     php-fpm:www  workers.busy, share of the limit   1.00  from 0.980

    Notes
    - apache, repetition 2: nothing was read of process:apache for 3 s

    Method
    - Load: an open loop; arrivals come by a schedule that does not wait for replies.
    - Response time: from the instant at which a request was due to its last byte; dropped, cut and
      timed-out requests count as slower than every reply.
    - Bands are the lowest and the highest trial around their median: fewer than six repetitions
      carry no 95 % interval.
    - Knee: where the smoothed response time bends upwards most over the measured range (Kneedle).
    - Saturation point: the throughput that does not grow any more with the load.
    - Load kept: the last load of which at least 99 % was achieved.
    - Objectives: the highest load up to which each holds at every step.
    - 1-3-10: the highest loads whose p99 stays below 1, 3 and 10 s, Nielsen's limits of patience.
    ");
}
