//! Checks requests as the server receives them: every option that changes them.

use crate::world::odd::page;
use crate::world::{
    BruntOutput, ScriptedServer, command, lab, measure, measure_words, nginx, serve_reply, start,
};
use std::collections::HashSet;
use std::fs::{self, File};
use tempfile::TempDir;

/// Runs brunt against a server. Returns its requests and the report.
fn requests_of(words: &[&str]) -> (Vec<String>, BruntOutput) {
    let server = serve_reply(page("ok"));
    let url = server.url_of("/path");
    let words: Vec<&str> =
        words.iter().map(|w| if *w == "URL" { url.as_str() } else { w }).collect();
    let ran = measure_words(&[&words[..], &["-c", "2"]].concat()).assert_all_good();
    (server.requests(), ran)
}

/// Runs `-n 3` with these words. Asserts that all requests are equal, and returns one.
fn single_request(words: &[&str]) -> String {
    let (requests, _) = requests_of(&[&["URL", "-n", "3"], words].concat());
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| *request == requests[0]), "{requests:?}");
    requests[0].clone()
}

#[test]
fn a_plain_request_has_few_headers() {
    let request = single_request(&[]);
    let host = request.lines().find_map(|l| l.strip_prefix("Host: 127.0.0.1:"));
    assert!(request.starts_with("GET /path HTTP/1.1\r\n") && host.is_some(), "{request}");
    assert!(request.contains("\r\nUser-Agent: brunt/"), "{request}");
    assert_eq!(request.lines().count(), 4, "{request}");
}

#[test]
fn methods_and_headers_are_sent() {
    let request = single_request(&[
        "-X",
        "DELETE",
        "-H",
        "X-One: 1",
        "-H",
        "Accept: text/plain",
        "--user-agent",
        "it/1 (test)",
    ]);
    assert!(request.starts_with("DELETE /path HTTP/1.1\r\n"), "{request}");
    for line in ["X-One: 1", "Accept: text/plain", "User-Agent: it/1 (test)"] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line}: {request}");
    }
    assert!(single_request(&["-H", "Host: other.test"]).contains("\r\nHost: other.test\r\n"));
}

#[test]
fn bodies_are_sent() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("body.json");
    fs::write(&file, "{\"a\":[1,2]}\n").expect("a body");
    let text = single_request(&["--data", "a=b c"]);
    assert!(
        text.starts_with("POST /path ") && text.ends_with("Content-Length: 5\r\n\r\na=b c"),
        "{text}"
    );
    assert!(text.contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"), "{text}");
    let json = single_request(&[
        "-X",
        "PUT",
        "--data",
        &format!("@{}", file.display()),
        "-H",
        "Content-Type: application/json",
    ]);
    assert!(json.starts_with("PUT ") && json.ends_with("\r\n\r\n{\"a\":[1,2]}\n"), "{json}");
    assert_eq!(json.matches("Content-Type").count(), 1, "{json}");
    let form = single_request(&["--form", "name=Anna B", "--form", "x=1&2"]);
    assert!(form.ends_with("\r\n\r\nname=Anna+B&x=1%262"), "{form}");
}

#[test]
fn a_body_is_read_from_standard_input() {
    let dir = TempDir::new().expect("a directory");
    let server = serve_reply(page("ok"));
    let file = dir.path().join("body");
    fs::write(&file, "from elsewhere").expect("a body");
    let mut command = command(&format!("{} -n 2 --data @-", server.url_of("/")));
    start(command.stdin(File::open(file).expect("the body"))).finish().assert_all_good();
    assert!(
        server.requests().iter().all(|r| r.ends_with("\r\n\r\nfrom elsewhere")),
        "{:?}",
        server.requests()
    );
}

#[test]
fn cookies_and_credentials_are_sent() {
    assert!(
        single_request(&["--cookie", "a=1", "--cookie", "b=2"])
            .contains("\r\nCookie: a=1; b=2\r\n")
    );
    // RFC 7617, section 2.
    let basic = single_request(&["--basic", "Aladdin:open sesame"]);
    assert!(basic.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), "{basic}");
    assert!(
        single_request(&["--bearer", "abc.def"]).contains("\r\nAuthorization: Bearer abc.def\r\n")
    );
}

#[test]
fn compressed_replies_are_decompressed_for_checks() {
    let Some(nginx) = nginx(
        "compressed_replies_are_decompressed_for_checks",
        "gzip on; gzip_types text/plain; default_type text/plain;",
    ) else {
        return;
    };
    let url = nginx.url_of("/page.txt");
    let words =
        [url.as_str(), "-n", "20", "--expect-body", "^(a text that is worth packing\n){200}$"];
    let plain = measure_words(&words).assert_all_good();
    let packed = measure_words(&[&words[..], &["--compressed"]].concat()).assert_all_good();
    let [plain, packed] = [plain, packed].map(|ran| ran.number("/bytes/received"));
    assert!(packed < plain / 5, "{packed} of {plain}");
}

#[test]
fn urls_are_read_from_a_file() {
    let dir = TempDir::new().expect("a directory");
    let server = serve_reply(page("ok"));
    let file = dir.path().join("urls");
    let lines = [
        "# a comment",
        "HOST=URL",
        "$(HOST)/one",
        "[2] /two",
        "${HOST}/three POST a=1&b=2",
        "/four DELETE",
    ];
    fs::write(&file, lines.join("\n").replace("URL", &server.url_of(""))).expect("a list");
    let ran = measure(&format!("{} -c 1 -n 10 --urls {}", server.url_of("/"), file.display()))
        .assert_all_good();
    let requests = server.requests();
    let lines: Vec<_> = requests
        .iter()
        .map(|r| r.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1"))
        .collect();
    let round = ["GET /one", "GET /two", "GET /two", "POST /three", "DELETE /four"];
    assert_eq!(lines, [round, round].concat());
    assert!(requests[3].ends_with("\r\n\r\na=1&b=2"), "{}", requests[3]);
    assert_eq!(ran.label("/two")["requests"]["completed"], 4);
    assert_eq!(ran.value("/labels").as_array().map(Vec::len), Some(4));
    ran.assert_text(&["/one", "/two", "/three"]);
}

#[test]
fn urls_in_random_order_keep_their_weights() {
    let dir = TempDir::new().expect("a directory");
    let server = serve_reply(page("ok"));
    let file = dir.path().join("urls");
    fs::write(&file, "/rare\n[9] /often\n").expect("a list");
    let ran = measure(&format!(
        "{} -c 2 -n 500 --urls {} --order random",
        server.url_of("/"),
        file.display()
    ))
    .assert_all_good();
    let rare = ran.label("/rare")["requests"]["completed"].as_u64().expect("a count");
    // Six standard deviations of a binomial number (500, 0.1).
    assert!(rare.abs_diff(50) < 41, "{rare}");
    let labels = ran.value("/labels").as_array().expect("labels");
    assert_eq!(labels.iter().filter_map(|l| l["requests"]["completed"].as_u64()).sum::<u64>(), 500);
}

#[test]
fn labels_beyond_the_limit_are_summed() {
    let dir = TempDir::new().expect("a directory");
    let lab = lab("");
    let file = dir.path().join("urls");
    let urls: Vec<_> = (0..20).map(|n| format!("/page/{n}")).collect();
    fs::write(&file, urls.join("\n")).expect("a list");
    let ran = measure(&format!("{} -n 100 --labels 5 --urls {}", lab.url_of("/"), file.display()))
        .assert_all_good();
    let labels = ran.value("/labels").as_array().expect("labels");
    assert!(labels.len() <= 6, "{}", labels.len());
    assert!(ran.label("(other)")["requests"]["completed"].as_u64() >= Some(70));
    assert!(
        ran.value("/warnings").to_string().contains("more than 5 labels"),
        "{}",
        ran.value("/warnings")
    );
    ran.assert_text(&["(other)", "--labels"]);
}

/// Paths of requests with a placeholder in the URL.
fn paths(url: &str, n: u64) -> Vec<String> {
    let server: ScriptedServer = serve_reply(page("ok"));
    measure(&format!("{} -c 3 -n {n}", server.url_of(url))).assert_all_good();
    server
        .requests()
        .iter()
        .map(|r: &String| r.split(' ').nth(1).unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn numbers_of_requests_are_unique_and_in_order() {
    let requests: HashSet<_> = paths("/?n={n}", 50).into_iter().collect();
    assert_eq!(requests, (0..50).map(|n| format!("/?n={n}")).collect());
}

#[test]
fn uuids_are_unique() {
    let requests: HashSet<_> = paths("/{uuid}", 50).into_iter().collect();
    assert_eq!(requests.len(), 50);
    assert!(requests.iter().all(|p| p.len() == 37 && p.as_bytes()[15] == b'4'), "{requests:?}");
}

#[test]
fn random_numbers_are_within_their_bounds() {
    let requests = paths("/{random:3..5}", 100);
    let different: HashSet<_> = requests.iter().map(String::as_str).collect();
    assert_eq!(different, ["/3", "/4", "/5"].into());
}

#[test]
fn rows_of_a_file_are_used_in_turn() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("users.csv");
    fs::write(&file, "name,id\nanna,1\n\"b, c\",2\n").expect("rows");
    let requests = paths(&format!("/{{csv:{0}:name}}/{{csv:{0}:id}}", file.display()), 6);
    assert_eq!(
        (occurrences(&requests, "/anna/1"), occurrences(&requests, "/b,%20c/2")),
        (3, 3),
        "{requests:?}"
    );
}

fn occurrences(paths: &[String], path: &str) -> usize {
    paths.iter().filter(|s| *s == path).count()
}

#[test]
fn placeholders_are_replaced_in_headers_and_bodies() {
    let (requests, ran) =
        requests_of(&["URL", "-n", "4", "-H", "X-Id: {n}", "--data", "id={n}&{plain}"]);
    for n in 0..4 {
        let mine = requests
            .iter()
            .filter(|r| r.contains(&format!("\r\nX-Id: {n}\r\n")))
            .collect::<Vec<_>>();
        assert!(
            mine.len() == 1 && mine[0].ends_with(&format!("\r\n\r\nid={n}&{{plain}}")),
            "{mine:?}"
        );
    }
    assert_eq!(ran.value("/labels").as_array().map(Vec::len), Some(1));
}

#[test]
fn redirects_are_followed_as_far_as_allowed() {
    let lab = lab("--service const:3ms");
    let all = measure(&redirect_line(&lab, 5)).assert_all_good();
    assert_eq!((all.count("redirects"), all.status(200)), (60, 20));
    // The response time covers the chain: four times the service time.
    assert!(all.figure("/response_time_seconds/min") >= 0.012);
    // The chain is one request of its label, and its hops are listed below it.
    let step = all.label("/redirect/3");
    assert_eq!((&step["requests"]["completed"], &step["errors"]), (&20.into(), &0.into()));
    assert_eq!(step["response_time_seconds"]["min"], *all.value("/response_time_seconds/min"));
    let hops = step["hops"].as_array().expect("hops");
    assert_eq!(hops.len(), 4);
    let last = hops
        .iter()
        .find(|hop| hop["label"].as_str().is_some_and(|label| label.ends_with("/redirect/1")));
    let last = last.expect("a hop");
    assert_eq!((&last["requests"]["completed"], &last["errors"]), (&20.into(), &0.into()));
    assert!(last["response_time_seconds"]["min"].as_f64() >= Some(0.003));
    let some = measure(&redirect_line(&lab, 2)).assert_all_good();
    assert_eq!((some.count("redirects"), some.status(302)), (40, 20));
    let none = measure(&redirect_line(&lab, 0)).assert_all_good();
    assert_eq!((none.count("redirects"), none.status(302)), (0, 20));
}

fn redirect_line(lab: &crate::world::Lab, follow: u32) -> String {
    format!("{} -c 2 -n 20 --follow {follow}", lab.url_of("/redirect/3"))
}

#[test]
fn a_redirect_keeps_the_parts_that_its_status_allows() {
    let elsewhere = serve_reply(page("ok"));
    for (status, first_line, body) in [("307", "POST /to", "a=1"), ("303", "GET /to", "")] {
        let to = format!(
            "HTTP/1.1 {status} Go\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
            elsewhere.url_of("/to")
        );
        let server = serve_reply(to);
        let url = server.url_of("/from");
        let words = [
            "-n", "1", "-c", "1", "--follow", "1", "-H", "X-One: 1", "--bearer", "secret",
            "--data", "a=1",
        ];
        measure_words(&[&[url.as_str()], &words[..]].concat()).assert_all_good();
        let requests = elsewhere.requests().pop().expect("a request");
        assert!(
            requests.starts_with(first_line) && requests.contains("\r\nX-One: 1\r\n"),
            "{status}: {requests}"
        );
        assert!(
            requests.ends_with(&format!("\r\n\r\n{body}")) && !requests.contains("Authorization"),
            "{status}: {requests}"
        );
        assert!(server.requests()[0].contains("\r\nAuthorization: Bearer secret\r\n"));
    }
}

#[test]
fn slow_readers_read_slowly() {
    let Some(nginx) = nginx("slow_readers_read_slowly", "") else { return };
    let ran = measure(&format!("{} -c 2 -n 2 --receive-rate 100k", nginx.url_of("/long")))
        .assert_all_good();
    assert!(
        ran.figure("/service_time_seconds/min") >= 1.5,
        "{}",
        ran.figure("/service_time_seconds/min")
    );
}
