//! Compares the reports of the drop-in `ab` with those of the real ab: lines, widths, labels and
//! units.

use super::both::{ToolPair, both, over_tls};
use crate::world::{Nginx, nginx};
use std::fs;

/// Both tools, and an nginx. Skips the test and returns None if one of them is missing.
fn ready(test: &str) -> Option<(ToolPair, Nginx)> {
    let nginx =
        nginx(test, "location /gone { return 404 nothing; } location /post { return 200 taken; }")?;
    Some((both(test, "ab")?, nginx))
}

fn agree(ab: &ToolPair, url: &str, lines: &[&str]) {
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().chain([url]).collect();
        ab.agree(&words);
    }
}

#[test]
fn reports_are_the_same() {
    let Some((ab, nginx)) = ready("compat::ab::reports_are_the_same") else { return };
    agree(
        &ab,
        &nginx.url_of("/"),
        &[
            "",
            "-n 10",
            "-n 200 -c 4",
            "-n 200 -c 4 -q",
            "-qn151",
            "-k -n 60 -c 6",
            "-k -n 2000 -c 10",
            "-n 20 -d",
            "-n 20 -S",
            "-n 20 -S -d",
            "-n 20 -l",
            "-n 20 -i",
            "-n 20 -k -i",
            "-m OPTIONS -n 3",
            "-n 20 -r -s 5",
            "-t 5 -n 30",
            "-n 5 -b 4096",
            "-n 5 -B 127.0.0.1",
            "-n 5 -H X:y -C a=b -A u:p -P u:p",
            "-J",
        ],
    );
    agree(&ab, &nginx.url_of("/long"), &["-n 30 -c 3", "-k -n 30"]);
    agree(&ab, &nginx.url_of("/gone"), &["-n 10", "-n 10 -k", "-w -n 10"]);
    let localhost = format!("localhost:{}/", nginx.port);
    agree(&ab, &localhost, &["-n 10"]);
}

#[test]
fn tables_are_the_same() {
    let Some((ab, nginx)) = ready("compat::ab::tables_are_the_same") else { return };
    let lines = [
        "-w",
        "-w -n 20 -k",
        "-x border=1 -y class=r -z class=c -n 3",
        "-w -n 200",
        "-w -n 5 -l -S -d -v 2",
    ];
    agree(&ab, &nginx.url_of("/"), &lines);
}

#[test]
fn bodies_are_sent_and_counted_the_same() {
    let Some((ab, nginx)) = ready("compat::ab::bodies_are_sent_and_counted_the_same") else {
        return;
    };
    let file = nginx.dir.path().join("body");
    fs::write(&file, "name=value&other=thing").expect("a file");
    let file = file.display();
    let lines = [
        "-p FILE -n 5",
        "-p FILE -T application/x-www-form-urlencoded -n 5 -k",
        "-u FILE -n 3",
        "-p FILE -m PATCH -w",
    ];
    let lines = lines.map(|line| line.replace("FILE", &file.to_string()));
    agree(&ab, &nginx.url_of("/post"), &lines.each_ref().map(String::as_str));
}

#[test]
fn heads_are_shown_the_same() {
    let Some((ab, nginx)) = ready("compat::ab::heads_are_shown_the_same") else { return };
    agree(&ab, &nginx.url_of("/"), &["-v 1", "-v 2", "-v 3 -n 2", "-v 4 -n 2 -k", "-v 2 -n 160"]);
    agree(&ab, &nginx.url_of("/gone"), &["-v 3 -n 2"]);
}

#[test]
fn tls_parameters_are_reported_the_same() {
    let test = "compat::ab::tls_parameters_are_reported_the_same";
    let Some((nginx, _certificates)) = over_tls(test) else { return };
    let Some(ab) = both(test, "ab") else { return };
    let lines = [
        "-n 3",
        "-n 3 -f TLS1.2",
        "-n 3 -f tls1.3",
        "-n 3 -I",
        "-n 10 -c 2 -k",
        "-n 3 -H Host:other.test",
        "-w",
    ];
    agree(&ab, &nginx.secure("/"), &lines);
    agree(&ab, &nginx.secure("/"), &["-f TLS1.2 -Z ECDHE-ECDSA-AES128-GCM-SHA256"]);
    agree(&ab, &format!("https://127.0.0.1:{}/", nginx.port), &["-n 3"]);
}

#[test]
fn usage_is_the_same() {
    let Some(ab) = both("compat::ab::usage_is_the_same", "ab") else { return };
    for line in [
        "",
        "-h",
        "-V",
        "-n",
        "http://127.0.0.1",
        "a/ b/",
        "-n 0 a/",
        "-n x a/",
        "-c 3 -n 2 a/",
        "-c -1 a/",
        "-t 1 -c 60000 a/",
        "-c 300000 -n 400000 a/",
        "-p /nonexistent a/",
        "-u /nonexistent a/",
        "-m GET -p /dev/null a/",
        "-i -p /dev/null a/",
        "-p /dev/null -u /dev/null a/",
        "-p /dev/null -i a/",
        "http://127.0.0.1:99999/",
        "-Jk a/",
        "-qh",
        "-kV",
    ] {
        ab.agree(&line.split_whitespace().collect::<Vec<_>>());
    }
}

#[test]
fn the_requested_number_or_time_is_measured() {
    let Some((ab, nginx)) = ready("compat::ab::the_requested_number_or_time_is_measured") else {
        return;
    };
    let url = nginx.url_of("/");
    let before = nginx.requests();
    let output = ab.ours(&["-n", "500", "-c", "7", "-k", &url]);
    assert_eq!(
        (output.field("Complete requests:"), nginx.requests() - before),
        ("500", 500),
        "{}",
        output.err
    );
    let output = ab.ours(&["-t", "1", "-c", "3", &url]);
    let seconds: f64 = output
        .field("Time taken for tests:")
        .trim_end_matches(" seconds")
        .parse()
        .expect("seconds");
    assert!(seconds >= 1.0 && output.code == Some(0), "{}", output.out);
}
