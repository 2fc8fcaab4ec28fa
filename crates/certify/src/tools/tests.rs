//! Tests of the parsers: outputs of the tools that were available, and texts from the
//! documentation of the others.

use super::*;

fn read(tool: &ScoredTool, out: &str, file: &str) -> CertifiedFigures {
    (tool.read)(&ToolReport { out: out.into(), file: file.into() })
        .unwrap_or_else(|why| panic!("{}: {why}", tool.name))
}

fn reported(p50: f64, p90: f64, p99: f64) -> CertifiedFigures {
    CertifiedFigures {
        p50: Some(p50),
        p90: Some(p90),
        p99: Some(p99),
        ..CertifiedFigures::default()
    }
}

/// Compares figures except for the last digits.
fn same(reported: &CertifiedFigures, expected: &CertifiedFigures) {
    for key in &crate::figures::KEYS {
        match ((key.value)(reported), (key.value)(expected)) {
            (Some(a), Some(b)) if (a - b).abs() <= b.abs() * 1e-9 => {}
            (None, None) => {}
            (a, b) => panic!("{}: {a:?}, expected {b:?}", key.name),
        }
    }
}

#[test]
fn similar_names_are_distinguished_and_unknown_ones_refused() {
    for (number_at, tool) in TOOLS.iter().enumerate() {
        assert!(TOOLS[..number_at].iter().all(|other| other.name != tool.name));
        assert!(
            (tool.read)(&ToolReport::default()).is_err(),
            "{} reads figures from nothing",
            tool.name
        );
        assert!(!tool.ways.is_empty());
    }
}

#[test]
fn every_tool_gets_load_and_target() {
    for tool in TOOLS {
        for way in tool.ways {
            let asked = (tool.command)(&job(*way));
            let all = format!("{} {:?}", asked.words.join(" "), asked.files);
            assert!(all.contains("127.0.0.1") && all.contains("8080"), "{}: {all}", tool.name);
            let load = if *way == LoadMode::Open { ["1000", "50"] } else { ["5", "-c5"] };
            assert!(load.iter().any(|number| all.contains(number)), "{} {way:?}: {all}", tool.name);
        }
    }
}

#[test]
fn commands_of_the_installed_tools() {
    let line = |tool: &ScoredTool, way| (tool.command)(&job(way)).words.join(" ");
    assert_eq!(
        line(&brunt::TOOL, LoadMode::Open),
        "brunt run http://127.0.0.1:8080/ -r 1000 --arrivals even -d 10s -q --no-store -o json=brunt.json"
    );
    assert_eq!(
        line(&brunt::HTTP3, LoadMode::Open),
        "brunt run https://127.0.0.1:8080/ --http 3 --insecure -c 4 --streams 16 -r 1000 --arrivals even -d 10s -q --no-store \
         -o json=brunt.json"
    );
    assert_eq!(
        line(&brunt::WEBSOCKET, LoadMode::Closed),
        "brunt run ws://127.0.0.1:8080/ --data x -c 5 -d 10s -q --no-store -o json=brunt.json"
    );
    assert_eq!(
        line(&brunt::GRPC, LoadMode::Closed),
        "brunt run http://127.0.0.1:8080/ --grpc lab.Lab/Call --proto lab.proto -c 1 --streams 5 -d 10s -q --no-store \
         -o json=brunt.json"
    );
    assert_eq!(
        line(&brunt::WEBSOCKET_HTTP2, LoadMode::Open),
        "brunt run ws://127.0.0.1:8080/ --http 2 --data x -c 4 --streams 16 -r 1000 --arrivals even -d 10s -q --no-store \
         -o json=brunt.json"
    );
    assert_eq!(
        line(&wrk::TOOL, LoadMode::Closed),
        "wrk -t1 -c5 -d10s --timeout 20s --latency http://127.0.0.1:8080/"
    );
    assert!(
        line(&ab::TOOL, LoadMode::Closed).contains("-t 10 -n 1000000"),
        "-t sets -n, so it comes first"
    );
    assert!(line(&h2load::TOOL, LoadMode::Open).contains("-c20 --rps=50 "));
    assert!(!line(&h2load::TOOL, LoadMode::Closed).contains("rps"));
    assert!(
        line(&wrk2::TOOL, LoadMode::Open).contains("-d20s -R1000"),
        "ten seconds more to calibrate"
    );
}

#[test]
fn brunt_json() {
    let json = r#"{"requests": {"failed": 7}, "throughput_per_second": 210.0, "outcomes": {"200": 200, "503": 3, "404": 1},
        "response_time_seconds": {"mean": 0.006, "p50": 0.005, "p90": 0.007, "p99": 0.01, "p99_9": 0.02, "max": 0.03}}"#;
    let expected = CertifiedFigures {
        p99_9: Some(0.02),
        max: Some(0.03),
        mean: Some(0.006),
        throughput: Some(210.0),
        ..reported(0.005, 0.007, 0.01)
    };
    same(&read(&brunt::TOOL, "", json), &expected.clone().with_errors(7.0, 4.0));
    let calls = json.replace(
        r#""200": 200, "503": 3, "404": 1"#,
        r#""grpc 0 OK": 200, "grpc 14 UNAVAILABLE": 3"#,
    );
    same(&read(&brunt::GRPC, "", &calls), &expected.with_errors(7.0, 3.0));
}

const WRK: &str = "\
Running 2s test @ http://127.0.0.1:34133/
  1 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.05ms   16.22us   5.21ms   78.87%
    Req/Sec   791.40     17.68   808.00     75.00%
  Latency Distribution
     50%    5.05ms
     75%    5.06ms
     90%    5.07ms
     99%    1.10s
  1576 requests in 2.00s, 104.82KB read
";

#[test]
fn wrk_text() {
    let expected = CertifiedFigures {
        mean: Some(0.00505),
        max: Some(0.00521),
        throughput: Some(787.9),
        ..reported(0.00505, 0.00507, 1.1)
    };
    let good = format!("{WRK}Requests/sec:    787.90\nTransfer/sec:     52.40KB\n");
    same(&read(&wrk::TOOL, &good, ""), &expected.clone().with_errors(0.0, 0.0));
    let bad = format!(
        "{WRK}  Socket errors: connect 0, read 36, write 1, timeout 0\n  Non-2xx or 3xx responses: 10\n\
         Requests/sec:    787.90\n"
    );
    same(&read(&wrk::TOOL, &bad, ""), &expected.with_errors(37.0, 10.0));
}

#[test]
fn wrk2_text() {
    let out = "\
Running 20s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread calibration: mean lat.: 1.2ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.05ms    1.22ms  25.21ms   78.87%
    Req/Sec     1.05k    17.68     1.11k    75.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    5.05ms
 75.000%    6.00ms
 90.000%    7.07ms
 99.000%   10.10ms
 99.900%   20.20ms
 99.990%   25.00ms
 99.999%   25.22ms
100.000%   25.22ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)
       1.000     0.000000            1         1.00
  10000 requests in 10.00s, 1.14MB read
Requests/sec:   1000.04
Transfer/sec:    116.23KB
";
    let expected = CertifiedFigures {
        p99_9: Some(0.0202),
        max: Some(0.02522),
        mean: Some(0.00605),
        throughput: Some(1000.04),
        ..reported(0.00505, 0.00707, 0.0101)
    };
    same(&read(&wrk2::TOOL, out, ""), &expected.with_errors(0.0, 0.0));
}

#[test]
fn ab_text_and_percentiles() {
    let out = "\
Document Length:        10 bytes

Complete requests:      1603
Failed requests:        121
   (Connect: 0, Receive: 36, Length: 48, Exceptions: 37)
Non-2xx responses:      16
Requests per second:    800.50 [#/sec] (mean)
Time per request:       4.997 [ms] (mean)
Time per request:       1.249 [ms] (mean, across all concurrent requests)
";
    let csv =
        "Percentage served,Time in ms\n0,0.023\n5,0.1\n50,5.050\n90,5.090\n99,5.170\n100,5.275\n";
    let expected = CertifiedFigures {
        mean: Some(0.004_997),
        max: Some(0.005_275),
        throughput: Some(800.5),
        ..reported(0.00505, 0.00509, 0.00517)
    };
    same(&read(&ab::TOOL, out, csv), &expected.with_errors(48.0, 16.0));
}

#[test]
fn siege_json() {
    let out = "New configuration template added to /x/.siege\n{\t\"transactions\":\t\t\t        1523,\n\
        \t\"elapsed_time\":\t\t\t        2.00,\n\t\"response_time\":\t\t        0.01,\n\
        \t\"transaction_rate\":\t\t      761.50,\n\t\"failed_transactions\":\t\t          56,\n\
        \t\"longest_transaction\":\t\t        0.11,\n\t\"shortest_transaction\":\t\t        0.00\n}\n";
    let expected = CertifiedFigures {
        mean: Some(0.01),
        max: Some(0.11),
        throughput: Some(761.5),
        errors: Some(56.0),
        ..CertifiedFigures::default()
    };
    same(&read(&siege::TOOL, out, ""), &expected);
}

#[test]
fn httperf_text_and_histogram() {
    let out = "\
Maximum connect burst length: 3

Connection lifetime histogram (time in ms):
             0.5 50
             1.5 40
             :
            19.5 9
            87.5 1

Total: connections 110 requests 110 replies 100 test-duration 2.000 s

Connection rate: 497.2 conn/s (2.0 ms/conn, <=9 concurrent connections)
Connection time [ms]: min 0.2 avg 5.5 max 87.9 median 3.5 stddev 6.6
Connection time [ms]: connect 0.0
Reply status: 1xx=0 2xx=91 3xx=0 4xx=2 5xx=7

Errors: total 10 client-timo 0 socket-timo 0 connrefused 0 connreset 10
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
";
    let expected = CertifiedFigures {
        p99_9: Some(0.0875),
        max: Some(0.0879),
        mean: Some(0.0055),
        throughput: Some(50.0),
        ..reported(0.0005, 0.0015, 0.0195)
    };
    same(&read(&httperf::TOOL, out, ""), &expected.with_errors(10.0, 9.0));
}

#[test]
fn h2load_text_and_log() {
    let out = "\
finished in 2.00s, 105.50 req/s, 7.04KB/s
requests: 211 total, 214 started, 211 done, 207 succeeded, 4 failed, 3 errored, 0 timeout
status codes: 207 2xx, 0 3xx, 1 4xx, 4 5xx
                     min         max         mean         sd        +/- sd
time for request:     5.06ms      5.29ms      5.09ms        35us    90.05%
";
    let log =
        "1795233737179543\t200\t1000\n1795233737179532\t503\t3000\n1795233737179539\t-1\t90\n";
    let expected = CertifiedFigures {
        p99_9: Some(0.003),
        max: Some(0.003),
        mean: Some(0.002),
        throughput: Some(105.5),
        ..reported(0.001, 0.003, 0.003)
    };
    same(&read(&h2load::TOOL, out, log), &expected.with_errors(3.0, 5.0));
}

#[test]
fn oha_json() {
    let out = r#"{"summary": {"successRate": 0.97, "total": 10.0, "slowest": 0.5, "fastest": 0.005, "average": 0.006,
        "requestsPerSec": 1000.2}, "latencyPercentiles": {"p10": 0.004, "p50": 0.005, "p90": 0.007, "p99": 0.01,
        "p99.9": 0.02}, "statusCodeDistribution": {"200": 9900, "503": 40},
        "errorDistribution": {"aborted due to deadline": 12, "connection closed before message completed": 30}}"#;
    let expected = CertifiedFigures {
        p99_9: Some(0.02),
        max: Some(0.5),
        mean: Some(0.006),
        throughput: Some(1000.2),
        ..reported(0.005, 0.007, 0.01)
    };
    same(&read(&oha::TOOL, out, ""), &expected.with_errors(30.0, 40.0));
}

#[test]
fn k6_summary() {
    let file = r#"{"http_reqs": {"type": "counter", "contains": "default", "values": {"count": 10000, "rate": 999.9}},
        "http_req_duration": {"type": "trend", "contains": "time", "values": {"avg": 6, "med": 5, "p(90)": 7, "p(99)": 10,
        "p(99.9)": 20, "max": 500}}, "without_reply": {"type": "counter", "values": {"count": 12, "rate": 1.2}}}"#;
    let expected = CertifiedFigures {
        p99_9: Some(0.02),
        max: Some(0.5),
        mean: Some(0.006),
        throughput: Some(999.9),
        ..reported(0.005, 0.007, 0.01)
    };
    same(&read(&k6::TOOL, "", file), &expected.with_errors(12.0, 0.0));
}

#[test]
fn vegeta_json_and_plot() {
    let out = r#"{"latencies": {"total": 6e10, "mean": 6000000, "50th": 5000000, "90th": 7000000, "95th": 8000000,
        "99th": 10000000, "max": 500000000, "min": 4000000}, "requests": 10000, "rate": 1000.1, "throughput": 990.5,
        "success": 0.97, "status_codes": {"0": 200, "200": 9700, "503": 100}, "errors": ["EOF"]}"#;
    let hdr = "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n4.0 0.000000 0 1.000000\n\
        15.5 0.990000 9900 100\n20.000000 0.999000 9990 1000.000000\n30.1 0.999900 9999 10000\n";
    let expected = CertifiedFigures {
        p99_9: Some(0.02),
        max: Some(0.5),
        mean: Some(0.006),
        throughput: Some(990.5),
        ..reported(0.005, 0.007, 0.01)
    };
    same(&read(&vegeta::TOOL, out, hdr), &expected.with_errors(200.0, 100.0));
}

#[test]
fn hey_text() {
    let out = "
Summary:
  Total:\t10.0045 secs
  Slowest:\t0.5000 secs
  Fastest:\t0.0050 secs
  Average:\t0.0060 secs
  Requests/sec:\t999.5500

Latency distribution:
  10%% in 0.0050 secs
  50%% in 0.0051 secs
  90%% in 0.0070 secs
  99%% in 0.0100 secs

Status code distribution:
  [200]\t9900 responses
  [503]\t40 responses

Error distribution:
  [12]\tGet \"http://127.0.0.1:8080/\": EOF
  [30]\tGet \"http://127.0.0.1:8080/\": read: connection reset by peer
";
    let expected = CertifiedFigures {
        max: Some(0.5),
        mean: Some(0.006),
        throughput: Some(999.55),
        ..reported(0.0051, 0.007, 0.01)
    };
    same(&read(&hey::TOOL, out, ""), &expected.clone().with_errors(42.0, 40.0));
    same(&read(&hey::TOOL, &out.replace("%%", "%"), ""), &expected.with_errors(42.0, 40.0));
}

#[test]
fn bombardier_json() {
    let out = r#"{"spec": {"numberOfConnections": 5, "testType": "timed"}, "result": {"bytesRead": 1, "bytesWritten": 1,
        "timeTakenSeconds": 10.0, "req1xx": 0, "req2xx": 9900, "req3xx": 0, "req4xx": 0, "req5xx": 100, "others": 30,
        "errors": [{"description": "EOF", "count": 30}], "latency": {"mean": 6000.5, "stddev": 1, "max": 500000,
        "percentiles": {"50": 5000, "75": 6000, "90": 7000, "95": 8000, "99": 10000}},
        "rps": {"mean": 999, "stddev": 1, "max": 1100}}}"#;
    let expected = CertifiedFigures {
        max: Some(0.5),
        mean: Some(0.006_000_5),
        throughput: Some(1000.0),
        ..reported(0.005, 0.007, 0.01)
    };
    same(&read(&bombardier::TOOL, out, ""), &expected.with_errors(30.0, 100.0));
}

#[test]
fn jmeter_log() {
    let log = "timeStamp,elapsed,responseCode,dataType,success,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect\n\
        1000,5,200,text,true,100,118,1,1,5,0,1\n\
        1500,500,503,text,false,100,118,1,1,5,0,0\n\
        1600,1,Non HTTP response code: java.net.SocketException,text,false,100,0,1,1,0,0,0\n";
    let expected = CertifiedFigures {
        p99_9: Some(0.5),
        max: Some(0.5),
        mean: Some(0.2525),
        throughput: Some(2.0),
        ..reported(0.005, 0.5, 0.5)
    };
    same(&read(&jmeter::TOOL, "", log), &expected.with_errors(1.0, 1.0));
}
