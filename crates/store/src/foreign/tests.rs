//! Tests files in the formats of the tools.

#![allow(clippy::format_push_string, clippy::format_collect)] // a few small texts, made once

use super::values::duration;
use super::{File, ForeignError, RESULT_READERS, check_objectives, read};
use brunt_model::objective::{Metric, Objective, Relation};
use brunt_model::{LoadUnit, Observation, Observations};
use proptest::prelude::*;

fn file(name: &str, text: &str) -> File {
    File { name: name.into(), text: text.into() }
}

fn one(name: &str, text: &str) -> Observations {
    read(&[file(name, text)], &[]).unwrap()
}

fn refused(name: &str, text: &str) -> String {
    read(&[file(name, text)], &[]).unwrap_err().to_string()
}

fn p(observation: &Observation, q: f64) -> Option<f64> {
    observation.quantiles.iter().find(|known| known.quantile == q).map(|known| known.seconds)
}

fn near(figure: Option<f64>, to: f64) -> bool {
    figure.is_some_and(|figure| (figure - to).abs() < 1e-9)
}

const E1: &str = include_str!("../../../../dev/tests/data/e1-dynamic.tsv");

#[test]
fn the_table_of_an_experiment_of_2011_is_read() {
    let e1 = one("e1-dynamic.tsv", E1);
    assert_eq!(
        (&e1.contenders[..], e1.unit),
        (&["nginx".to_owned(), "apache".to_owned()][..], LoadUnit::PerSecond)
    );
    assert_eq!(e1.observations.len(), 40);
    let at_80: Vec<_> = e1
        .observations
        .iter()
        .filter(|o| o.load == 80.0)
        .map(|o| (o.contender, o.achieved))
        .collect();
    assert_eq!(at_80, [(0, 23.9), (1, 31.2)]);
    assert_eq!(e1.observations[39].mean, Some(1.9045));
    assert!(e1.notes.iter().any(|note| note.starts_with("one value per step")));
}

/// The table in the examples of the Universal Scalability Law: users and throughput only.
#[test]
fn a_published_table_of_users_and_throughput_is_read() {
    for header in [
        "N X",
        "N,X",
        "users throughput",
        "threads\tX",
        "clients;tps",
        "concurrency rps",
        "Users QPS",
    ] {
        let divider = header.chars().find(|c| [' ', ',', ';', '\t'].contains(c)).unwrap();
        let rows: String = [(1, 955.16), (2, 1878.91), (4, 3548.68)]
            .map(|(n, x)| format!("{n}{divider}{x}\n"))
            .concat();
        let all = one("usl.txt", &format!("{header}\n{rows}"));
        assert_eq!(
            (all.unit, all.observations.len()),
            (LoadUnit::Users { think: None }, 3),
            "{header}"
        );
        assert_eq!(
            (all.observations[1].load, all.observations[1].achieved),
            (2.0, 1878.91),
            "{header}"
        );
        assert_eq!(all.contenders, ["usl"], "{header}");
    }
    // Two columns of this kind are two contenders.
    assert_eq!(one("a.csv", "users,tps,qps\n1,2,3\n").contenders, ["tps", "qps"]);
}

#[test]
fn the_csv_of_a_study_is_read() {
    let head = "contender,repetition,step,load,id,started,measured_seconds,offered_per_second,throughput_per_second,\
                error_share,response_mean_seconds,response_p99_seconds,response_at_least,verdict,interrupted";
    let rows = "\"'=a, \"\"b\"\"\",1,1,10,x,t,10,,100.5,0.01,0.1,0.4,p99,ok,false\nnginx,2,1,10,x,t,10,,99,0,0.1,,,limited,true\n";
    let all = one("study.csv", &format!("{head}\n{rows}"));
    assert_eq!(
        (&all.contenders[..], all.unit),
        (&["=a, \"b\"".to_owned(), "nginx".into()][..], LoadUnit::Users { think: None })
    );
    let first = &all.observations[0];
    assert_eq!(
        (first.load, first.achieved, first.errors, first.mean),
        (10.0, 100.5, Some(0.01), Some(0.1))
    );
    assert!(first.quantiles.iter().any(|q| q.quantile == 0.99 && q.at_least && q.seconds == 0.4));
    assert!(all.observations[1].cut_short && all.observations[1].quantiles.is_empty());
    let open =
        one("study.csv", &format!("{head}\nnginx,1,1,10,x,t,10,10.1,10,0,0.1,0.2,,ok,false\n"));
    assert_eq!((open.unit, open.observations[0].offered), (LoadUnit::PerSecond, Some(10.1)));
    assert!(
        refused("study.csv", &format!("{head}\nnginx,1\n")).contains("15 columns are expected")
    );
}

#[test]
fn tables_of_one_contender_are_named_by_their_file() {
    let table = "users,achieved,response_ms,p99_ms,errors_percent\n10,100,50,90,0\n10,110,51,-,1\n20,120,80,200,2\n";
    let all = read(&[file("r/nginx-1.csv", table), file("r/apache-1.csv", table)], &[]).unwrap();
    assert_eq!(
        (&all.contenders[..], all.unit),
        (&["nginx".into(), "apache".into()][..], LoadUnit::Users { think: None })
    );
    let repetitions: Vec<u32> = all.observations.iter().map(|o| o.repetition).collect();
    assert_eq!(repetitions, [0, 1, 0, 0, 1, 0]);
    assert_eq!((p(&all.observations[0], 0.99), p(&all.observations[1], 0.99)), (Some(0.09), None));
    assert_eq!(all.observations[2].errors, Some(0.02));
    assert!(refused("a.csv", "offered,nginx_ms\n1,2\n").contains("`nginx` has no throughput"));
    assert!(refused("a.csv", "offered,nginx\n1,x\n").contains("line 2: `x` is no number"));
    assert!(refused("a.csv", "offered nginx\n1\n").contains("its header requires 2 columns"));
}

#[test]
fn files_of_autobench_are_read() {
    let columns = "req_rate_A con_rate_A min_rep_rate_A avg_rep_rate_A max_rep_rate_A stddev_rep_rate_A resp_time_A net_io_A \
                   errors_A";
    let header = format!("dem_req_rate {columns} {}", columns.replace("_A", "_B"));
    let row =
        "100 99.9 10.0 97.0 98.5 99.0 0.5 12.5 40.1 0 100 50.0 10.0 0.0 0.0 0.0 0.0 40.0 2.2 25";
    let dead =
        "200 99.9 10.0 97.0 98.5 99.0 0.5 12.5 40.1 0 200 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 101";
    let tsv = format!("{header}\n{row}\n{dead}\n").replace(' ', "\t");
    // A row of the real autobench contains its rate once.
    let tsv = tsv.replace("\t0\t100\t50.0", "\t0\t50.0").replace("\t0\t200\t0.0", "\t0\t0.0");
    for text in [tsv.clone(), tsv.replace('\t', ",")] {
        let all = one("result.tsv", &text);
        assert_eq!(all.contenders, ["A", "B"]);
        let [a, b, _, dead] = &all.observations[..] else { panic!("{all:?}") };
        assert_eq!(
            (a.load, a.offered, a.achieved, a.mean),
            (100.0, Some(100.0), 98.5, Some(0.0125))
        );
        // 25 errors and 100 replies: a fifth of all requests failed.
        assert_eq!((b.achieved, b.errors), (40.0, Some(0.2)));
        assert_eq!((dead.achieved, dead.errors, dead.mean), (0.0, Some(1.0), None));
        assert!(all.notes.iter().any(|note| note.contains("shorter than 5 s")));
    }
    assert!(refused("r.tsv", "dem_req_rate\treq_rate_A\n100\tx\n").contains("line 2"));
}

#[test]
fn files_of_requests_of_ab_are_read() {
    let mut text = "starttime\tseconds\tctime\tdtime\tttime\twait\n".to_owned();
    for n in 0..1000 {
        // 100 per second of 50 ms each: 5 are in flight.
        text += &format!("Fri Nov 20 15:09:05 2026\t{}\t0\t50\t50\t49\n", 1_795_000_000 + n / 100);
    }
    let all = one("nginx-5.tsv", &text);
    let trial = &all.observations[0];
    assert_eq!((all.contenders[0].as_str(), trial.load, trial.achieved), ("nginx", 5.0, 100.0));
    assert_eq!((p(trial, 0.99), p(trial, 0.999), trial.errors), (Some(0.05), Some(0.05), None));
    assert_eq!(trial.blocks.len(), 8);
    assert!(trial.blocks.iter().all(|block| block.completed == 100 && near(block.mean, 0.05)));
    // A number in the name that cannot be the load is ignored.
    assert_eq!(one("nginx-4.tsv", &text).observations[0].load, 4.0);
    assert_eq!(one("nginx-1.tsv", &text).observations[0].load, 5.0);
    let short: String = text.lines().take(50).map(|line| format!("{line}\n")).collect();
    assert!(refused("a.tsv", &short).contains("whole seconds"));
}

#[test]
fn files_of_percentages_of_ab_are_read() {
    let rows: String = (0..=100).map(|percent| format!("{percent},{percent}.000\n")).collect();
    let text = format!("Percentage served,Time in ms\n{rows}");
    let all = read(&[file("nginx-100.csv", &text), file("nginx-200.csv", &text)], &[]).unwrap();
    assert_eq!(all.contenders, ["nginx"]);
    let trial = &all.observations[0];
    assert_eq!((trial.load, trial.max, p(trial, 0.99)), (100.0, Some(0.1), Some(0.099)));
    // 0 ms to 99 ms, each for a hundredth of the requests.
    assert!(near(trial.mean, 0.0495) && near(Some(trial.achieved), 100.0 / 0.0495));
    assert!(refused("nginx.csv", &text).contains("file's name"));
}

#[test]
fn logs_and_json_of_siege_are_read() {
    let log = "      Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time,  Trans Rate,  Throughput,  Concurrent,    \
               OKAY,   Failed\n**** nginx ****\n2014-05-01 10:00:00,   4867,      10.00,           0,       0.02,      \
               486.85,        0.00,        9.70,    4867,       0\n2014-05-01 10:01:00,      0,       0.00,           0,\
               \u{20}      -nan,         inf,        0.00,        0.00,       0,       0\n";
    let all = one("siege.log", log);
    assert_eq!(all.observations.len(), 1);
    let trial = &all.observations[0];
    assert_eq!(
        (trial.load, trial.achieved, trial.mean, trial.errors),
        (9.7, 486.85, Some(0.02), Some(0.0))
    );
    assert!(all.notes.iter().any(|note| note.starts_with("1 rows without figures")));
    let json = r#"{ "transactions": 870, "availability": 87.00, "elapsed_time": 5.04, "data_transferred": 1.0,
        "response_time": 0.05, "transaction_rate": 172.56, "throughput": 0.1, "concurrency": 8.60,
        "successful_transactions": 870, "failed_transactions": 130, "longest_transaction": 28.45,
        "shortest_transaction": 0.01 }
        LOG FILE: /root/siege.log"#;
    let trial = &one("siege.json", json).observations[0];
    assert_eq!((trial.errors, trial.max, trial.load), (Some(0.13), Some(28.45), 8.6));
}

/// Figures that a file must have.
struct Expected {
    file: &'static str,
    text: &'static str,
    load: f64,
    is_rate: bool,
    achieved: f64,
    mean: f64,
    /// A quantile and its seconds.
    quantile: Option<(f64, f64)>,
    errors: f64,
    has_blocks: bool,
}

macro_rules! corpus {
    ($file:literal) => {
        include_str!(concat!("../../../../dev/fuzz/corpus/results/", $file))
    };
}

/// Files of the tools. Those of ab, wrk, h2load, hey, vegeta and Locust are as the tools wrote them;
/// their figures are those that the tools print, or sums of the rows.
#[test]
fn files_of_other_tools_are_read() {
    let blank = Expected {
        file: "",
        text: "",
        load: 2.0,
        is_rate: false,
        achieved: 100.0,
        mean: 0.02,
        quantile: None,
        errors: 0.0,
        has_blocks: false,
    };
    for expected in [
        Expected {
            file: "wrk.txt",
            text: corpus!("wrk.txt"),
            achieved: 44.95,
            mean: 0.0437,
            quantile: Some((0.99, 0.04802)),
            ..blank
        },
        Expected {
            file: "ab-report.txt",
            text: corpus!("ab-report.txt"),
            achieved: 369.91,
            mean: 0.005_407,
            quantile: Some((0.98, 0.009)),
            errors: 1.0,
            ..blank
        },
        Expected {
            file: "h2load-2.tsv",
            text: corpus!("h2load.tsv"),
            achieved: 47.818,
            mean: 0.041_815,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "hey.csv",
            text: corpus!("hey.csv"),
            achieved: 50.569,
            mean: 0.039_495,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "k6.json",
            text: corpus!("k6.json"),
            load: 3.0,
            achieved: 39.0 / 3.92,
            quantile: Some((0.5, 0.02)),
            errors: 0.05,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "k6.csv",
            text: corpus!("k6.csv"),
            load: 3.0,
            achieved: 39.0 / 3.02,
            errors: 0.05,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "k6-summary.json",
            text: corpus!("k6-summary.json"),
            quantile: Some((0.999, 0.08)),
            errors: 0.01,
            ..blank
        },
        Expected {
            file: "gatling.log",
            text: corpus!("gatling.log"),
            achieved: 39.0 / 3.92,
            errors: 0.05,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "gatling-2.json",
            text: corpus!("gatling-statistics.json"),
            quantile: Some((0.95, 0.04)),
            errors: 0.01,
            ..blank
        },
        Expected {
            file: "locust-history.csv",
            text: corpus!("locust-history.csv"),
            load: 3.0,
            achieved: 57.0,
            mean: 0.002_148,
            quantile: Some((0.5, 0.002)),
            errors: 113.0 / 228.0,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "locust-stats.csv",
            text: corpus!("locust-stats.csv"),
            load: 1.0,
            achieved: 57.01,
            mean: 0.002_148,
            quantile: Some((0.99, 0.019)),
            errors: 113.0 / 228.0,
            ..blank
        },
        Expected {
            file: "vegeta.json",
            text: corpus!("vegeta.json"),
            load: 48.0,
            is_rate: true,
            achieved: 49.387,
            mean: 0.026_624,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "vegeta.csv",
            text: corpus!("vegeta.csv"),
            load: 48.0,
            is_rate: true,
            achieved: 49.387,
            mean: 0.026_624,
            has_blocks: true,
            ..blank
        },
        Expected {
            file: "vegeta-report.json",
            text: corpus!("vegeta-report.json"),
            load: 50.0,
            is_rate: true,
            achieved: 49.98,
            mean: 0.029_463,
            quantile: Some((0.95, 0.044_882)),
            ..blank
        },
        Expected {
            file: "vegeta-report.txt",
            text: corpus!("vegeta-report.txt"),
            load: 50.0,
            is_rate: true,
            achieved: 49.98,
            mean: 0.029_463,
            quantile: Some((0.95, 0.044_882)),
            ..blank
        },
        Expected {
            file: "oha.json",
            text: corpus!("oha.json"),
            quantile: Some((0.999, 0.085)),
            errors: 0.01,
            ..blank
        },
        Expected {
            file: "fortio.json",
            text: corpus!("fortio.json"),
            load: 100.0,
            is_rate: true,
            achieved: 99.5 * 398.0 / 400.0,
            quantile: Some((0.999, 0.085)),
            errors: 0.01,
            ..blank
        },
    ] {
        let all = one(expected.file, expected.text);
        let [trial] = &all.observations[..] else { panic!("{all:?}") };
        let name = expected.file;
        assert_eq!(matches!(all.unit, LoadUnit::PerSecond), expected.is_rate, "{name}");
        assert_eq!(trial.load, expected.load, "{name}");
        assert!(is_close(trial.achieved, expected.achieved), "{name}: {}", trial.achieved);
        assert!(is_close(trial.mean.unwrap(), expected.mean), "{name}: {:?}", trial.mean);
        assert!(
            (trial.errors.unwrap() - expected.errors).abs() < 1e-9,
            "{name}: {:?}",
            trial.errors
        );
        if let Some((quantile, seconds)) = expected.quantile {
            assert!(p(trial, quantile).is_some_and(|figure| is_close(figure, seconds)), "{name}");
        }
        assert_eq!(!trial.blocks.is_empty(), expected.has_blocks, "{name}");
        // A file that ends in the middle of a row lacks this row only.
        if expected.has_blocks {
            let cut =
                one(name, expected.text.trim_end().trim_end_matches(|c| c != '\n').trim_end());
            assert_eq!(cut.unit, all.unit, "{name}");
            let torn = &expected.text[..expected.text.trim_end().len() - 30];
            assert_eq!(one(name, torn).contenders, all.contenders, "{name}");
        }
    }
}

/// True if two figures have the same first three digits, or nearly so.
fn is_close(figure: f64, expected: f64) -> bool {
    (figure / expected - 1.0).abs() < 5e-3
}

#[test]
fn rows_that_cannot_be_read_are_counted() {
    let torn = corpus!("k6.json").replace("\"vus\",\"type\"", "\"vus").replacen(
        "20.0,\"tags",
        "\"x\",\"tags",
        1,
    );
    let all = one("k6.json", &torn);
    let note = "rows left out because they cannot be read: 2 of 41; the first is in line 3";
    assert!(all.notes.iter().any(|text| &**text == note), "{:?}", all.notes);
    let header = "starttime\tseconds\tctime\tdtime\tttime\twait\n";
    assert!(refused("a.tsv", &format!("{header}x\ty\n")).contains("line 2: six columns"));
}

#[test]
fn texts_for_the_terminal_are_refused_with_the_command_that_writes_results() {
    for (text, tool, remedy) in [
        ("http_req_duration..............: avg=1ms\niterations.....: 1", "k6", "--out json"),
        ("Type Name  # reqs  # fails |\nAggregated 1", "Locust", "--csv"),
        ("finished in 2.2s, 4.1 req/s\ntime for request: 1us", "h2load", "--log-file"),
        ("summary =  8 in 00:00:01 = 8/s Avg: 1 Min: 1 Max: 1 Err: 0", "JMeter", "-l result.jtl"),
        ("Summary:\n Requests/sec: 1\nResponse time histogram:", "hey", "-o csv"),
        ("Transaction rate: 1 trans/sec\nAvailability: 100.00 %", "siege", "--json-output"),
    ] {
        let message = refused("out.txt", text);
        assert!(message.contains(&format!("output of {tool}")), "{message}");
        assert!(message.contains(remedy), "{message}");
    }
}

#[test]
fn durations_of_go_and_wrk_are_parsed() {
    for (word, seconds) in [
        ("635.91us", 635.91e-6),
        ("1m30.5s", 90.5),
        ("980.9µs", 980.9e-6),
        ("2h", 7200.0),
        ("0s", 0.0),
    ] {
        assert!(near(duration(word), seconds), "{word}");
    }
    for word in ["", "1", "s", "1x", "-1s", "1.s.2"] {
        assert_eq!(duration(word), None, "{word}");
    }
}

#[test]
fn json_of_brunt_is_read() {
    let plan = serde_json::to_value(crate::tests::world::plan()).unwrap();
    let text = serde_json::json!({
        "version": 1, "plan": plan, "throughput_per_second": 49.0, "measured_seconds": 2.0, "interrupted": false,
        "requests": {"planned": 100, "begun": 98, "dropped": 2, "errors": 4},
        "response_time_seconds": {"mean": 0.02, "min": 0.01, "max": 0.09, "p50": 0.02, "p99": 0.08, "at_least": ["p99"]},
        "verdict": {"state": "limited"},
        "series": [
            {"phase": "warmup", "from_seconds": -1.0, "to_seconds": 0.0, "planned": 9, "completed": 9},
            {"phase": "measure", "from_seconds": 0.0, "to_seconds": 0.5, "planned": 25, "completed": 24},
            {"phase": "measure", "from_seconds": 0.5, "to_seconds": 1.0, "planned": 25, "completed": 25}]
    });
    let all = one("run.json", &text.to_string());
    let trial = &all.observations[0];
    assert_eq!((trial.load, trial.offered, trial.errors), (50.0, Some(50.0), Some(0.04)));
    assert_eq!((trial.blocks.len(), trial.blocks[0].completed), (1, 49));
    assert!(trial.quantiles[1].at_least && !trial.quantiles[0].at_least);
    assert_eq!(trial.verdict, Some(brunt_model::finding::State::Limited));
    // An analyzed study is read without changes.
    let again = one("sweep.json", &serde_json::json!({"observations": &all}).to_string());
    assert_eq!(again, all);
}

#[test]
fn bounds_are_compared_with_the_available_figures() {
    let mut all = one("nginx.csv", "rate,achieved,p99_ms\n10,10,900\n20,15,-\n");
    let p99 = Objective {
        metric: Metric::Quantile(0.99),
        step: None,
        relation: Relation::Below,
        bound: 1.0,
    };
    let errors =
        Objective { metric: Metric::Errors, step: None, relation: Relation::Below, bound: 0.01 };
    check_objectives(&mut all, &[p99, errors]);
    assert_eq!(all.observations[0].objectives, [Some(true), None]);
    assert_eq!(all.observations[1].objectives, [None, None]);
}

#[test]
fn unknown_formats_are_refused_with_a_list_of_known_ones() {
    for text in ["", "hello\nworld", "{}", "a,b,c\n1,2,3\n", "<html>", "\u{feff}"] {
        let said = refused("x.txt", text);
        assert!(RESULT_READERS.iter().all(|reader| said.contains(reader.about)), "{said}");
    }
    let mixed = [file("a.csv", "users,achieved\n1,2\n"), file("b.csv", "rate,achieved\n1,2\n")];
    assert_eq!(read(&mixed, &[]), Err(ForeignError::Mixed("b.csv".into())));
    assert_eq!(read(&[], &[]), Err(ForeignError::Nothing));
}

const BEGINNINGS: [&str; 9] = [
    "",
    "starttime\tseconds\tctime\tdtime\tttime\twait\n",
    "Percentage served,Time in ms\n",
    "dem_req_rate\treq_rate_A\tavg_rep_rate_A\terrors_A\n",
    "      Date & Time,  Trans\n",
    "RUN\tshop\tshop\t1\t \t3.9\nREQUEST\t",
    "metric_name,timestamp,metric_value\nhttp_req_duration,",
    "offered,nginx,nginx_ms\n",
    "{\"plan\": {}, \"throughput_per_second\": 1, ",
];

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_panic(
        beginning in 0..BEGINNINGS.len(),
        rest in "([0-9.,\t\n-]|\\PC|1e300|nan|<sample t=\"1\" ts=\"|\"/>){0,60}",
    ) {
        let _ = read(&[file("a-1.csv", &format!("{}{rest}", BEGINNINGS[beginning]))], &[]);
    }

    #[test]
    fn any_numbers_are_parsed_or_refused(
        beginning in 1..8_usize,
        rows in proptest::collection::vec(proptest::collection::vec(any::<f64>(), 1..7), 1..9),
    ) {
        let divider = if BEGINNINGS[beginning].contains('\t') { "\t" } else { "," };
        let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(divider) + "\n";
        let text: String = rows.iter().map(line).collect();
        if let Ok(all) = read(&[file("a-1.csv", &format!("{}{text}", BEGINNINGS[beginning]))], &[]) {
            prop_assert!(all.observations.iter().all(|o| o.load.is_finite() && !o.achieved.is_nan()));
        }
    }
}
