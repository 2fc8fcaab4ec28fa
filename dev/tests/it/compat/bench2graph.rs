//! Tests bench2graph: charts of a table of autobench.

use super::both::ToolOutput;
use super::false_httperf::Home;
use std::fs;
use std::io::Write;
use std::process::Stdio;

const HEAD: &str = "dem_req_rate\treq_rate_h\tcon_rate_h\tmin_rep_rate_h\tavg_rep_rate_h\tmax_rep_rate_h\tstddev_rep_rate_h\t\
                    resp_time_h\tnet_io_h\terrors_h";

fn home() -> Home {
    let home = Home::new("");
    let rows = "50\t50.0\t50.0\t49.8\t50.0\t50.2\t0.2\t0.6\t161.6\t0\n100\t99.8\t99.8\t99.0\t99.8\t100.2\t0.5\t0.7\t323.0\t0\n";
    fs::write(home.path("result.tsv"), format!("{HEAD}\n{rows}")).expect("a table");
    fs::write(home.path("other.tsv"), format!("{}\n{rows}", HEAD.replace("_h", "_g")))
        .expect("a table");
    home
}

/// The name of a file determines its format; nothing is printed.
#[test]
fn charts_have_the_format_of_their_names() {
    let home = home();
    for (line, begins) in [
        ("result.tsv result.png 1 3 7 9", &b"\x89PNG\r\n\x1a\n"[..]),
        ("result.tsv result.svg", b"<svg "),
        ("result.tsv result.ps 3 5 6", b"%!PS-Adobe-3.0 EPSF-3.0\n"),
        ("result.tsv result", b"%!PS"),
    ] {
        let output = home.run("bench2graph", line);
        assert_eq!((output.code, &*output.out, &*output.err), (Some(0), "", ""), "{line}");
        let file = line.split(' ').nth(1).expect("a name");
        assert!(fs::read(home.path(file)).expect("a chart").starts_with(begins), "{line}");
    }
}

#[test]
fn axes_have_labels_and_lines_have_the_names_of_columns() {
    let home = home();
    home.run("bench2graph", "result.tsv times.svg 8 --title Times --with other.tsv");
    let text = fs::read_to_string(home.path("times.svg")).expect("a chart");
    let shown = [
        "demanded requests per second",
        "response time in ms",
        "resp_time_h",
        "resp_time_g",
        ">Times<",
    ];
    assert!(shown.iter().all(|word| text.contains(word)) && !text.contains("req_rate_h"), "{text}");
    home.run("bench2graph", "result.tsv all.svg");
    let text = fs::read_to_string(home.path("all.svg")).expect("a chart");
    let shown = ["per second, ms, KB/s, %", "resp_time_h [ms]", ">result<"];
    assert!(shown.iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn the_title_is_prompted_for_on_request() {
    let home = home();
    let mut command = home.command("bench2graph", "result.tsv asked.svg --ask");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("brunt");
    child.stdin.take().expect("a way in").write_all(b"Two <servers>\n").expect("a title");
    let output = ToolOutput::from_output(&child.wait_with_output().expect("its end"));
    assert_eq!((output.code, &*output.out), (Some(0), "Enter the title : "));
    assert!(
        fs::read_to_string(home.path("asked.svg"))
            .expect("a chart")
            .contains(">Two &lt;servers&gt;<")
    );
}

#[test]
fn invalid_options_end_as_in_the_original() {
    let home = home();
    fs::write(home.path("there.png"), "theirs").expect("a file");
    fs::write(home.path("mixed.tsv"), format!("{HEAD}\nMaximum connect burst length: 1\n"))
        .expect("a file");
    for (line, code, expected) in [
        ("", 1, "usage: bench2graph TABLE CHART"),
        ("result.tsv", 1, "usage: bench2graph TABLE CHART"),
        ("none.tsv x.png", 2, "Incorrect file format: none.tsv is no file"),
        (". x.png", 2, "Incorrect file format"),
        ("mixed.tsv x.png", 2, "Incorrect file format: mixed.tsv: line 2 is not 10 numbers"),
        ("result.tsv there.png", 3, "there.png exists"),
        ("result.tsv x.png 11", 1, "column 11: write numbers from 2 to 10"),
        ("result.tsv x.png resp", 1, "column resp: write numbers from 2 to 10"),
        ("result.tsv x.png 1", 1, "x-axis"),
        ("result.tsv none/x.png", 1, "none/x.png: No such file"),
    ] {
        let output = home.run("bench2graph", line);
        assert!(
            output.code == Some(code) && output.err.contains(expected),
            "{line}: {:?} {}",
            output.code,
            output.err
        );
        assert!(!home.path("x.png").exists());
    }
    assert_eq!(fs::read_to_string(home.path("there.png")).expect("the file"), "theirs");
}
