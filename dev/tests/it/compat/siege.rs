//! Compares the reports of the drop-in `siege` with those of the real siege: lines, widths, labels
//! and units.

use super::both::{ToolPair, both, over_tls};
use crate::world::{Nginx, nginx};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A siegerc with the required settings; all others have the defaults of siege.
pub const PLAIN: &str =
    "protocol = HTTP/1.1\naccept-encoding = gzip, deflate\nchunked = true\ncolor = off\n";

/// Writes a siegerc to a directory.
pub fn rc(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, text).expect("a siegerc");
    path.display().to_string()
}

/// Masks measured numbers and dates of a report. The width of numbers with two decimals remains.
pub fn mask(text: &str) -> String {
    text.lines().map(|line| mask_line(line) + "\n").collect()
}

fn mask_line(line: &str) -> String {
    if ["Availability", "Data transferred", "\t\"availability", "\t\"data_transferred"]
        .iter()
        .any(|l| line.starts_with(l))
    {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let tail = &rest[blanks..];
        let length =
            tail.find(|c: char| !c.is_ascii_digit() && !".-:".contains(c)).unwrap_or(tail.len());
        let word = tail[..length].trim_end_matches(['.', '-', ':']);
        if word.is_empty() {
            let step = if blanks > 0 { blanks } else { first.len_utf8() };
            out.push_str(&rest[..step]);
            rest = &rest[step..];
            continue;
        }
        let hundredths = word
            .split_once('.')
            .is_some_and(|(_, d)| d.len() == 2 && d.bytes().all(|b| b.is_ascii_digit()));
        let is_date = word.len() >= 8 && word[1..].contains(['-', ':']) && !word.contains('.');
        let masked = match (hundredths, is_date) {
            (true, _) => format!("<{} wide>", blanks + word.len()),
            (_, true) => " ".repeat(blanks) + "<when>",
            _ => rest[..blanks + word.len()].to_owned(),
        };
        out.push_str(&masked);
        rest = &rest[blanks + word.len()..];
    }
    out
}

/// Both tools, an nginx and a directory. Skips the test and returns None if one of them is missing.
fn ready(test: &str) -> Option<(ToolPair, Nginx, TempDir)> {
    let directives = "location /gone { return 404 nothing; } location /broken { return 503 broken; } \
                      location /post { return 200 taken; } location /away { return 302 /; } types { text/html html; }";
    let nginx = nginx(test, directives)?;
    let page =
        "<html><body><img src=\"/long\"><script src='a.js'></script><img src=/gone></body></html>";
    fs::write(nginx.dir.path().join("www/page.html"), page).expect("a page");
    fs::write(nginx.dir.path().join("www/a.js"), "1;").expect("a script");
    Some((both(test, "siege")?, nginx, TempDir::new().expect("a directory")))
}

fn agree(siege: &ToolPair, rc: &str, lines: &[&str], url: &str) {
    for line in lines {
        let words: Vec<&str> =
            ["-R", rc].into_iter().chain(line.split_whitespace()).chain([url]).collect();
        siege.agree_masked(&words, mask);
    }
}

#[test]
fn reports_are_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::reports_are_the_same") else { return };
    let plain = rc(dir.path(), "plain", PLAIN);
    let lines =
        ["-c1 -r1", "-c 3 -r 5 -b", "--concurrent=2 --reps 3", "--conc 2 --re=once", "-q -c1 -r2"];
    agree(&siege, &plain, &lines, &nginx.url_of("/"));
    agree(&siege, &plain, &["-c1 -r3", "-c1 -r1 -v"], &nginx.url_of("/gone"));
    agree(&siege, &plain, &["-c1 -r3", "-c2 -r1 -v"], &nginx.url_of("/broken"));
    agree(&siege, &plain, &["-c1 -r2 -v", "-c1 -r1 --no-follow -v"], &nginx.url_of("/away"));
    agree(&siege, &plain, &["-c1 -r1"], &nginx.url_of("/long"));
    agree(&siege, &plain, &["-c1 -r2 -v"], &format!("{} POST a=b", nginx.url_of("/post")));
}

#[test]
fn reports_over_tls_and_through_a_proxy_are_the_same() {
    let test = "compat::siege::reports_over_tls_and_through_a_proxy_are_the_same";
    let Some((siege, nginx, dir)) = ready(test) else { return };
    let Some((secure, _certificates)) = over_tls(test) else { return };
    let plain = rc(dir.path(), "plain", PLAIN);
    let url = format!("https://127.0.0.1:{}/", secure.port);
    agree(&siege, &plain, &["-c1 -r2 -v", "-c 3 -r 5 -b"], &url);
    let proxy = rc(
        dir.path(),
        "proxy",
        &format!("{PLAIN}proxy-host = 127.0.0.1\nproxy-port = {}\n", nginx.port),
    );
    agree(&siege, &proxy, &["-c1 -r2 -v", "-c2 -r1"], "http://nobody.invalid/long");
}

#[test]
fn json_is_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::json_is_the_same") else { return };
    let json = rc(dir.path(), "json", &format!("{PLAIN}verbose = true\njson_output = true\n"));
    agree(
        &siege,
        &json,
        &["-c1 -r2", "-c2 -r once", "-v -c1 -r1", "-t3S -c1 --no-parser -d 99999"],
        &nginx.url_of("/"),
    );
    let plain = rc(dir.path(), "plain", PLAIN);
    agree(&siege, &plain, &["-j -c1 -r2", "--json-output -c1 -r1 -b"], &nginx.url_of("/gone"));
    let output = siege.ours(&["-R", &json, "-c2", "-r3", &nginx.url_of("/")]);
    let value: serde_json::Value = serde_json::from_str(&output.out).expect("JSON");
    assert_eq!(
        (value["transactions"].as_u64(), value["availability"].as_f64()),
        (Some(6), Some(100.0))
    );
}

#[test]
fn lines_are_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::lines_are_the_same") else { return };
    for (i, more) in [
        "",
        "csv = true",
        "timestamp = true",
        "display-id = true",
        "fullurl = true",
        "csv = true\ndisplay-id = true\ntimestamp = true\nfullurl = true",
    ]
    .into_iter()
    .enumerate()
    {
        for color in ["on", "off"] {
            let text = format!("{PLAIN}verbose = true\n{more}\n")
                .replace("color = off", &format!("color = {color}"));
            let rc = rc(dir.path(), &format!("lines{i}{color}"), &text);
            for path in ["/", "/gone", "/away", "/broken"] {
                siege.agree_masked(&["-R", &rc, "-c1", "-r1", &nginx.url_of(path)], mask);
            }
        }
    }
    let csv = rc(dir.path(), "marked", &format!("{PLAIN}verbose = true\ncsv = true\n"));
    let log = dir.path().join("log").display().to_string();
    siege.agree_masked(
        &["-R", &csv, "-c1", "-r1", "-m", "a mark", &format!("-l{log}"), &nginx.url_of("/")],
        mask,
    );
}

#[test]
fn pages_are_parsed_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::pages_are_parsed_the_same") else {
        return;
    };
    let rc = rc(
        dir.path(),
        "parser",
        &format!("{PLAIN}verbose = true\nparser = true\nnofollow = an.example\n"),
    );
    agree(&siege, &rc, &["-c1 -r1", "-c1 -r2", "-c1 -r1 --no-parser"], &nginx.url_of("/page.html"));
}

#[test]
fn lists_are_requested_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::lists_are_requested_the_same") else {
        return;
    };
    let plain = rc(dir.path(), "plain", &format!("{PLAIN}verbose = true\n"));
    let list = dir.path().join("urls");
    let text = format!(
        "# a list\nHOST=127.0.0.1:{}\nNAME=value\nhttp://$(HOST)/\n${{HOST}}/post POST a=$(NAME)&b=$(NOTHING_SUCH)\n\n  http://$(HOST)/gone  \nhttp://$(HOST)/long\n",
        nginx.port
    );
    fs::write(&list, text).expect("a list");
    let list = list.display().to_string();
    for line in ["-c1 -r5", "-c1 -r once", "-c1 -r1", "-r 4 -c 1 -b"] {
        let words: Vec<&str> =
            ["-R", &plain, "-f", &list].into_iter().chain(line.split_whitespace()).collect();
        siege.agree_masked(&words, mask);
    }
    // The order of several users is random, so only the set of requests is compared.
    for line in ["-c2 -r4", "-c3 -r2", "-c2 -r once", "-c8 -r1"] {
        let words: Vec<&str> =
            ["-R", &plain, "-f", &list].into_iter().chain(line.split_whitespace()).collect();
        assert_eq!(
            sorted_lines(&siege.real(&words).out),
            sorted_lines(&siege.ours(&words).out),
            "{line}"
        );
    }
}

fn sorted_lines(out: &str) -> Vec<String> {
    let masked = mask(out);
    let mut lines: Vec<String> = masked.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn one_request_is_shown_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::one_request_is_shown_the_same") else {
        return;
    };
    let plain = rc(dir.path(), "plain", PLAIN);
    for path in ["/", "/gone", "/post"] {
        for option in ["-g", "-p", "--get"] {
            siege.agree_masked(&["-R", &plain, option, &nginx.url_of(path)], without_date);
        }
    }
    let get = rc(dir.path(), "get", &format!("{PLAIN}gmethod = GET\n"));
    siege.agree_masked(&["-R", &get, "-g", &nginx.url_of("/")], without_date);
}

fn without_date(text: &str) -> String {
    mask(text).lines().filter(|l| !l.starts_with("Date:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_log_is_the_same() {
    let Some((siege, nginx, dir)) = ready("compat::siege::the_log_is_the_same") else { return };
    let plain = rc(dir.path(), "plain", PLAIN);
    let [real, ours] = ["real", "ours"].map(|name| dir.path().join(name).display().to_string());
    for more in [&["-c1", "-r2"][..], &["-c1", "-r1", "-m", "a mark"]] {
        for log in [&real, &ours] {
            let log_to = format!("--log={log}");
            let url = nginx.url_of("/long");
            let words: Vec<&str> = ["-R", &plain, &log_to]
                .into_iter()
                .chain(more.iter().copied())
                .chain([&*url])
                .collect();
            let output = if log == &real { siege.real(&words) } else { siege.ours(&words) };
            assert_eq!((output.code, output.out.as_str()), (Some(0), ""));
        }
    }
    let [real, ours] = [real, ours].map(|log| fs::read_to_string(log).expect("a log"));
    let columns = |log: &str| {
        log.lines().map(|row| row.split(',').map(str::len).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(columns(&real), columns(&ours), "{real}{ours}");
    assert_eq!(real.lines().next(), ours.lines().next());
    let log = rc(
        dir.path(),
        "logging",
        &format!(
            "{PLAIN}logging = true\nshow-logfile = true\nlogfile = {}/x\n",
            dir.path().display()
        ),
    );
    agree(&siege, &log, &["-c1 -r1"], &nginx.url_of("/"));
}

#[test]
fn usage_and_settings_are_the_same() {
    let Some(siege) = both("compat::siege::usage_and_settings_are_the_same", "siege") else {
        return;
    };
    let dir = TempDir::new().expect("a directory");
    let plain = rc(dir.path(), "plain", PLAIN);
    let rich = format!(
        "{PLAIN}verbose = true\nparser = true\nnofollow = a.example\nnofollow = b.example\nlimit = 20\nconcurrent = 7\n\
         time = 2M\ndelay = 1.5\ninternet = true\ntimeout = 9\nfailures = 3\nlogging = true\nlogfile = $(HOME)/x.log\n\
         connection = keep-alive\ncache = true\nlogin = a:b\nNAME = here\nurl = http://${{NAME}}/\ngmethod = GET\n\
         follow-location = false\nzero-data-ok = false\nuser-agent = me\n"
    );
    let rich = rc(dir.path(), "rich", &rich);
    let json = rc(
        dir.path(),
        "json",
        "json_output = true\nverbose = true\nprotocol: HTTP/1.1 # a comment\nbenchmark = true\n",
    );
    for words in [
        &["-V"][..],
        &["--version", "nonsense"],
        &["-R", &plain, "-C"],
        &["-R", &rich, "-C"],
        &["-R", &json, "-C"],
        &[
            "-R",
            &plain,
            "-C",
            "-c",
            "9",
            "-t",
            "30s",
            "-d2",
            "-A",
            "an agent",
            "-f",
            "list",
            "http://h/",
        ],
        &["-R", &plain, "-C", "-r", "4", "-i", "-b", "--no-parser", "--no-follow", "-v"],
        &["-R", &plain, "-C", "-t1H", "-llogfile"],
        &["-R", "/nonexistent/rc", "-c1", "-r1", "http://h/"],
        &["-R", &plain, "-c1", "-r1", "-H", "nonsense", "http://h/"],
    ] {
        siege.agree(words);
    }
    // Only the first lines of the usage equal those of siege.
    for words in [
        &["-h"][..],
        &["-R", &plain],
        &["-R", &plain, "-c"],
        &["-R", &plain, "-c1", "-f", "/nonexistent"],
    ] {
        let real = siege.real(words);
        let ours = siege.ours(words);
        assert_eq!(
            (first_lines(&real.out), real.err, real.code),
            (first_lines(&ours.out), ours.err, ours.code),
            "{words:?}"
        );
    }
}

fn first_lines(out: &str) -> Vec<String> {
    out.lines().take(4).map(str::to_owned).collect::<Vec<_>>()
}

#[test]
fn masks_hide_only_measured_numbers() {
    assert_eq!(mask("Elapsed time:\t\t        0.02 secs"), "Elapsed time:\t\t<12 wide> secs\n");
    assert_eq!(mask("Elapsed time:\t\t      113.02 secs"), "Elapsed time:\t\t<12 wide> secs\n");
    assert_eq!(mask("Transactions:\t\t           1 hits"), "Transactions:\t\t           1 hits\n");
    assert_eq!(mask("[Sat, 2026-11-21 20:07:07] x"), "[Sat, <when> <when>] x\n");
    assert_eq!(
        mask("HTTP/1.1,200,  0.01,      5,/a,0,2026-11-21 20:07:07"),
        "HTTP/1.1,200,<6 wide>,      5,/a,0,<when> <when>\n"
    );
    assert_eq!(mask("Siege/4.0.7 127.0.0.1:80"), "Siege/4.0.7 127.0.0.1:80\n");
}
