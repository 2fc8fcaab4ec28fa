//! Runs command lines that were published with measurements, changed only in the name of the server
//! and the duration. They must produce their files.

use super::both::ours;
use super::false_httperf::Home;
use crate::world::{Nginx, command, nginx};
use std::fs;
use std::process::Command;

/// Starts an nginx with the pages of the publications.
fn server(test: &str) -> Option<Nginx> {
    let nginx = nginx(&format!("compat::published::{test}"), "")?;
    write_page(&nginx, "logo.gif", 2_500);
    write_page(&nginx, "page.html", 123_784);
    Some(nginx)
}

fn write_page(nginx: &Nginx, name: &str, bytes: usize) {
    fs::write(nginx.dir.path().join("www").join(name), vec![b'x'; bytes]).expect("a page");
}

/// nginx compared with Apache, 2010: thirty rates, a table and a chart, with the names installed as
/// links.
#[test]
fn a_published_sweep_gives_a_table_and_a_chart() {
    let Some(nginx) = server("a_published_sweep_gives_a_table_and_a_chart") else { return };
    let home = Home::new("");
    let bin = home.path("bin");
    fs::create_dir(&bin).expect("a directory");
    assert!(command("install-names").arg(&bin).output().expect("brunt").status.success());
    run_link(
        &home,
        &bin,
        &format!(
            "autobench --single_host --host1=127.0.0.1 --port1={} --uri1=/logo.gif --quiet --low_rate=50 --high_rate=1500 \
         --rate_step=50 --num_call=1 --num_conn=20 --timeout=10 --file result.tsv",
            nginx.port
        ),
    );
    let table = fs::read_to_string(home.path("result.tsv")).expect("the table");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((rows.len(), rows.iter().all(|row| row.len() == 10)), (31, true), "{table}");
    let demanded: Vec<u32> = rows[1..].iter().map(|row| row[0].parse().expect("a rate")).collect();
    assert_eq!(demanded, (1..=30).map(|n| 50 * n).collect::<Vec<_>>());
    assert!(rows[1..].iter().all(|row| row[9] == "0"), "{table}");
    run_link(&home, &bin, "bench2graph result.tsv result.png 1 3 7 9");
    assert!(fs::read(home.path("result.png")).expect("a picture").starts_with(b"\x89PNG"));
    let output = command("analyse").arg(home.path("result.tsv")).output().expect("brunt");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1,500"), "{output:?}");
}

fn run_link(home: &Home, bin: &std::path::Path, line: &str) {
    let (name, words) = line.split_once(' ').expect("words");
    let mut linked = Command::new(bin.join(name));
    linked.args(words.split_whitespace()).env("HOME", home.dir.path()).current_dir(home.dir.path());
    let out = linked.output().expect("a link");
    assert!(out.status.success() && out.stdout.is_empty(), "{line}: {out:?}");
}

/// nginx with a page of 123,784 bytes, 2010, with and without keep-alive.
#[test]
fn a_published_ab_run_gives_its_files() {
    let Some(nginx) = server("a_published_ab_run_gives_its_files") else { return };
    let home = Home::new("");
    let [csv, tsv] = ["result.csv", "result.tsv"].map(|name| home.path(name));
    for more in [&["-k"][..], &[]] {
        let files =
            ["-e", &csv.display().to_string(), "-g", &tsv.display().to_string()].map(str::to_owned);
        let url = nginx.url_of("/page.html");
        let words = ["-n", "2000", "-c", "500"].into_iter().chain(more.iter().copied());
        let words: Vec<&str> =
            words.chain(files.iter().map(String::as_str)).chain([&*url]).collect();
        let output = ours("ab", &words);
        assert_eq!(
            (output.field("Document Length:"), output.field("Complete requests:")),
            ("123784 bytes", "2000")
        );
        assert_eq!(
            (output.code, output.field("Failed requests:")),
            (Some(0), "0"),
            "{}",
            output.err
        );
        assert_eq!((line_count(&csv), line_count(&tsv)), (102, 2001));
    }
}

fn line_count(path: &std::path::Path) -> usize {
    fs::read_to_string(path).expect("a file").lines().count()
}
