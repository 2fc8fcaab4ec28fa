//! Tests autobench: the arguments that it passes to httperf, and the table that it computes from
//! its reports.

use super::both::both;
use super::false_httperf::{Home, report};
use crate::world::nginx;
use std::fs;

/// Columns of a host.
const COLUMNS: [&str; 9] = [
    "req_rate",
    "con_rate",
    "min_rep_rate",
    "avg_rep_rate",
    "max_rep_rate",
    "stddev_rep_rate",
    "resp_time",
    "net_io",
    "errors",
];

fn head(hosts: &[&str], divider: &str) -> String {
    let names: Vec<String> = hosts
        .iter()
        .map(|host: &&str| COLUMNS.map(|column| format!("{column}_{host}")).join(divider))
        .collect();
    format!("dem_req_rate{divider}{}", names.join(divider))
}

#[test]
fn the_configuration_file_is_created_first() {
    let home = Home::new("");
    fs::remove_file(home.path(".autobench.conf")).expect("gone");
    let output = home.run("autobench", "--version");
    assert_eq!(
        (output.code, &*output.out),
        (Some(0), "Installation complete - please rerun autobench\n")
    );
    let conf = fs::read_to_string(home.path(".autobench.conf")).expect("a file");
    assert!(
        conf.contains("\nhost1 = testhost1\n") && conf.contains("\nclients = localhost:4600\n")
    );
    assert_eq!(home.run("autobench", "--version").out, "autobench 2.1.2\n");
    assert_eq!(fs::read_to_string(home.path(".autobench.conf")).expect("a file"), conf);
}

#[test]
fn two_hosts_have_nineteen_columns_and_are_tested_in_turn() {
    let home = Home::new("host1 = 127.0.0.1\nhost2 = localhost\nuri2 = /b c\nport2 = 81\n");
    let httperf = home.httperf(&report(38, 2));
    let line = format!(
        "--httperf {httperf} --low_rate 10 --high_rate 35 --rate_step=10 --num_conn 20 --num_call 2 --quiet"
    );
    let output = home.run("autobench", &line);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let cells = "21.0\t10.5\t19.8\t20.0\t20.4\t0.2\t12.3\t8.7\t5.26315789473684";
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(
        lines,
        [
            head(&["127.0.0.1", "localhost"], "\t"),
            row_of_two_hosts(cells, 20),
            row_of_two_hosts(cells, 40),
            row_of_two_hosts(cells, 60)
        ]
    );
    let arguments = home.arguments();
    let first = "[--server][127.0.0.1][--uri][/][--num-conn][20][--num-call][2][--timeout][5][--rate][10][--port][80]";
    let second = "[--server][localhost][--uri][/b c][--num-conn][20][--num-call][2][--timeout][5][--rate][10][--port][81]";
    assert_eq!((arguments.len(), &*arguments[0], &*arguments[1]), (6, first, second));
    assert!(arguments[5].contains("[localhost]") && arguments[5].contains("[--rate][30]"));
    assert_eq!(output.err, "");
}

fn row_of_two_hosts(cells: &str, demanded: u32) -> String {
    format!("{demanded}\t{cells}\t{cells}")
}

#[test]
fn the_command_line_overrides_the_file_which_may_pass_options() {
    let conf = "single_host = 1\nhost1=127.0.0.1\nlow_rate = 7\nhigh_rate = 7\nhttperf_add-header = \"X-One: 1\\n\"\n\
                httperf_hog = NULL\ntimeout=5\ntimeout = 6\nnonsense\nno_such = 1\n";
    let home = Home::new(conf);
    let httperf = home.httperf(&report(40, 0));
    let output = home.run(
        "autobench",
        &format!("--httperf {httperf} --NUM_CONN=20 -num_call 1 --rate 7 --debug --output_fmt csv"),
    );
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(
        home.arguments()[0]
            .ends_with("[--timeout][6][--rate][7][--port][80][--add-header][X-One: 1\\n][--hog]")
    );
    assert!(
        output.out.ends_with("\n7,21.0,10.5,19.8,20.0,20.4,0.2,12.3,8.7,0\n"),
        "{}",
        output.out
    );
    for arguments in
        ["line 8: timeout is given twice", "line 9: `nonsense`", "line 10: unknown key no_such"]
    {
        assert!(output.err.contains(arguments), "{}", output.err);
    }
    assert!(output.err.contains("--num-conn 20 --num-call 1"), "{}", output.err);
}

#[test]
fn a_test_may_have_a_fixed_duration() {
    let home = Home::new("host1 = 127.0.0.1\n");
    let httperf = home.httperf(&report(40, 0));
    let output = home.run(
        "autobench",
        &format!("--single_host --httperf {httperf} --quiet --const_test_time 12 --low_rate 1.5 --high_rate 3 --rate_step 1.5"),
    );
    assert_eq!(output.code, Some(0), "{}", output.err);
    assert!(output.out.contains("\n15\t") && output.out.contains("\n30\t"), "{}", output.out);
    home.httperf(
        &report(40, 0)
            .replace("19.8 avg 20.0 max 20.4 stddev 0.2 (3", "0.0 avg 0.0 max 0.0 stddev 0.0 (0"),
    );
    let line = format!("--single_host --httperf {httperf} --quiet --low_rate 1 --high_rate 1");
    let output = home.run("autobench", &line);
    assert!(output.err.starts_with("brunt: 1 of the tests were shorter"), "{}", output.err);
    assert_eq!(home.run("autobench", &format!("{line} --brunt-no-notes")).err, "");
    let arguments = home.arguments();
    assert!(
        arguments[0].contains("[--num-conn][18]") && arguments[1].contains("[--num-conn][36]"),
        "{arguments:?}"
    );
}

#[test]
fn a_test_without_a_reply_is_reported_and_the_next_one_runs() {
    let home = Home::new("host1 = 127.0.0.1\n");
    let httperf = home.httperf(&report(0, 20));
    let line = format!(
        "--single_host --httperf {httperf} --quiet --low_rate 10 --high_rate 20 --file table.csv --output_fmt csv"
    );
    let output = home.run("autobench", &line);
    assert_eq!((output.code, &*output.out), (Some(0), ""), "{}", output.err);
    assert!(
        output.err.contains("Zero replies received, test invalid: rate 10\n"),
        "{}",
        output.err
    );
    let table = fs::read_to_string(home.path("table.csv")).expect("the table");
    assert_eq!(table.lines().filter(|line| line.ends_with(",101")).count(), 2, "{table}");
}

/// Two parsers of its output. One finds columns by prefixes of their names. The other requires nine
/// commas in each row, and the CPU line of httperf between rows.
#[test]
fn parsers_find_rows_among_reports() {
    let home = Home::new("host1 = 127.0.0.1\n");
    let httperf = home.httperf(&report(38, 2));
    let line =
        format!("--single_host --httperf {httperf} --low_rate 10 --high_rate 20 --output_fmt csv");
    let output = home.run("autobench", &line);
    let rows: Vec<Vec<&str>> = output
        .out
        .lines()
        .filter(|l| l.matches(',').count() == 9)
        .map(|l| l.split(',').collect())
        .collect();
    let seconds = output
        .out
        .lines()
        .filter_map(|l| l.strip_prefix("CPU time [s]: user ")?.split(" (user").next());
    assert_eq!(
        (rows.len(), seconds.collect::<Vec<_>>()),
        (3, vec!["0.05 system 0.14"; 2]),
        "{}",
        output.out
    );
    let column =
        |name: &str| rows[0].iter().position(|cell| cell.starts_with(name)).expect("a column");
    let cells =
        ["avg_rep_rate_", "errors_", "resp_time_", "net_io_"].map(|name| rows[2][column(name)]);
    assert_eq!(cells, ["20.0", "5.26315789473684", "12.3", "8.7"]);
}

#[test]
fn invalid_options_are_reported_before_the_load() {
    let home = Home::new("host1 = 127.0.0.1\nsingle_host = 1\n");
    let httperf = home.httperf(&report(40, 0));
    for (line, arguments) in [
        ("--low_rate 5 --high_rate 1", "high_rate 1 is below low_rate 5; exchange them"),
        ("--rate_step 0", "rate_step 0: write a number above 0"),
        ("--rate_step 1e-9", "write a larger one"),
        ("--num_conn 2.5", "num_conn 2.5: write a whole number"),
        ("--const_test_time 9", "write 10 seconds or more"),
        ("--output_fmt xml", "output_fmt xml: write tsv or csv"),
        ("--port1 0", "port1 0: write a port from 1 to 65535"),
        ("--host1 no-such-name.invalid", "no-such-name.invalid has no address"),
        ("--file /nonexistent/table", "/nonexistent/table cannot be written"),
        ("--clients a:1", "unrecognized option '--clients'"),
        ("--num 5", "option '--num' is ambiguous; possibilities: '--num_conn' '--num_call'"),
        ("more", "more: write options only"),
        ("--brunt-nope", "unknown option --brunt-nope"),
        ("--brunt-json run.json", "knows no --brunt- options; leave out"),
    ] {
        let output = home.run("autobench", &format!("--httperf {httperf} {line}"));
        assert!(
            output.code == Some(255) && output.err.contains(arguments),
            "{line}: {:?} {}",
            output.code,
            output.err
        );
    }
    assert!(home.arguments().is_empty());
    let output = home.run("autobench", "--httperf /nonexistent/httperf");
    assert!(
        output.code == Some(255) && output.err.contains("name another with --httperf PATH"),
        "{}",
        output.err
    );
    let output = home.run("autobench", &format!("--httperf {}", home.script("echo no report")));
    assert!(output.code == Some(255) && output.err.contains("has no line `"), "{}", output.err);
}

/// Runs the command line of E1, with fewer and higher rates, with the real httperf and with the
/// drop-in.
#[test]
fn both_httperfs_give_the_same_columns() {
    let test = "compat::autobench::both_httperfs_give_the_same_columns";
    let Some(nginx) = nginx(test, "") else { return };
    if both(test, "httperf").is_none() {
        return;
    }
    let home = Home::new("");
    let line = format!(
        "--single_host --host1=127.0.0.1 --port1={} --uri1=/index.html --quiet --low_rate=100 --high_rate=200 --rate_step=100 \
         --num_call=1 --num_conn=100 --timeout=10 --file result.tsv",
        nginx.port
    );
    let real = run_and_read_table(&home, &line, "--httperf /usr/bin/httperf");
    let ours = run_and_read_table(&home, &line, "");
    assert_eq!((real.len(), &real[0]), (3, &ours[0]));
    for (real, ours) in real.iter().zip(&ours).skip(1) {
        assert_eq!((have_decimals(real), &real[0]), (have_decimals(ours), &ours[0]));
        // Scheduled rates depend on the machine only if it is far too slow for them.
        for column in [1, 2] {
            let [real, ours]: [f64; 2] =
                [&real[column], &ours[column]].map(|cell| cell.parse().expect("a number"));
            assert!((real / ours - 1.0).abs() < 0.3, "{real} {ours}");
        }
        assert_eq!((&real[9], &ours[9]), (&"0".to_owned(), &"0".to_owned()));
    }
}

fn run_and_read_table(home: &Home, line: &str, more: &str) -> Vec<Vec<String>> {
    let output = home.run("autobench", &format!("{line} {more}"));
    assert_eq!((output.code, &*output.out), (Some(0), ""), "{}", output.err);
    let text = fs::read_to_string(home.path("result.tsv")).expect("the table");
    text.lines()
        .map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>())
        .collect::<Vec<_>>()
}

fn have_decimals(cells: &[String]) -> Vec<bool> {
    cells.iter().map(|cell| cell.contains('.')).collect::<Vec<_>>()
}

/// Each test writes the figures that the old table lacks.
#[test]
fn each_test_has_a_side_file() {
    let Some(nginx) = nginx("compat::autobench::each_test_has_a_side_file", "") else { return };
    let home = Home::new("");
    let line = format!(
        "--single_host --host1 127.0.0.1 --port1 {} --quiet --low_rate 100 --high_rate 150 --rate_step 50 --num_call 2 \
         --num_conn 20 --output_fmt csv --brunt-json run.json --brunt-no-notes",
        nginx.port
    );
    let output = home.run("autobench", &line);
    assert_eq!(
        (output.code, output.out.lines().count(), &*output.err),
        (Some(0), 3, ""),
        "{}",
        output.out
    );
    for rate in [100, 150] {
        let text = fs::read_to_string(home.path(&format!("run-127.0.0.1-{rate}.json")))
            .expect("a side file");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["requests"]["good"], 40, "{text}");
    }
}
