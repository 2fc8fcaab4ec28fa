//! The pages in both languages: Chinese pages have no English labels, and English pages no Chinese ones.

use super::{Studio, ids, run, two_runs};
use crate::world::lab::lab;
use crate::world::odd::{page, serve_connections, serve_reply};
use crate::world::wait_until;
use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;

/// Header of a browser that prefers Chinese.
const CHINESE: &str = "Accept-Language: zh-CN,zh;q=0.9,en;q=0.8\r\n";

/// Words that are the same in Chinese: names, units, and terms that are not translated.
const NAMES: &str = "brunt Studio studio English URL UTC HAR curl OpenAPI Postman JMeter JSON XML HTML UTF-8 Enter OK min \
                     ms kB MB yaml text/html Accept json regex not-kept new lt GET delay User-Agent";

/// Texts that a viewer of a page sees or hears, without code, bodies and names in lists.
fn visible_texts(html: &str) -> Vec<String> {
    // The content of a report is not a text of the studio.
    let html = html.split_once("<main id=\"still\">").map_or(html, |(strip, _)| strip);
    let mut html = html.to_owned();
    for name in ["script", "noscript", "style", "code", "pre", "textarea", "datalist"] {
        let element = Regex::new(&format!("(?s)<{name}[ >].*?</{name}>")).expect("valid");
        html = element.replace_all(&html, "").into_owned();
    }
    let text = Regex::new(">([^<>]+)<").expect("valid");
    let attribute = Regex::new(
        "(?:aria-label|placeholder|title|data-(?:age|silent|over|load|play|pause))=\"([^\"]*)\"",
    )
    .expect("valid");
    let found = text.captures_iter(&html).chain(attribute.captures_iter(&html));
    let texts = found.map(|text| text[1].trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter))
}

/// A text without URLs, options, quoted words and processes.
fn without_code(text: &str) -> String {
    // A process has its number, or its use of processors, behind it.
    let code = "`[^`]*`|https?://\\S*|--?[a-z][a-z-]*(?:[ =][A-Z]+)?|[^\\s：（]+ (?:\\(pid [0-9]+\\)|[0-9]+\\.[0-9])";
    let code = Regex::new(code).expect("valid");
    code.replace_all(text, "").into_owned()
}

/// English words of a text, without the names in it.
fn english_words(text: &str, names: &[String]) -> Vec<String> {
    let mut text = text.to_owned();
    for name in names {
        text = text.replace(name.as_str(), "");
    }
    let word = Regex::new("[A-Za-z][A-Za-z-]+").expect("valid");
    word.find_iter(&text).map(|word| word.as_str().to_owned()).collect()
}

/// A studio with two runs, a plan file and two tries of it.
pub struct Pages {
    pub studio: Studio,
    /// Line of the head with the cookie.
    pub cookie: String,
    /// Names from data, the longest first.
    names: Vec<String>,
    /// Addresses of pages.
    pub targets: Vec<String>,
    pub token: String,
    /// Path of the plan file.
    pub plan: String,
}

impl Pages {
    pub fn start() -> Self {
        let dir = two_runs();
        let ids = ids(dir.path());
        let server = serve_reply(page("{\"token\": \"tok-81\"}"));
        let plan = dir.path().join("shop.yaml").display().to_string();
        let steps = format!("  - get: {}\n    name: home\n", server.url_of("/"));
        let extract = "    extract: {token: {json: $.token}}\n    check: {contains: absent}\n";
        fs::write(
            &plan,
            format!("load: {{users: 1, requests: 3}}\nscenario:\n  steps:\n{steps}{extract}"),
        )
        .expect("a plan");
        let studio = Studio::start(dir);
        let cookie = studio.admit();
        let token = studio.get_with("/start?target=http://127.0.0.1:9/", &cookie).form_token();
        for _ in 0..2 {
            let started = studio.post("/tries", &cookie, &format!("token={token}&file={plan}"));
            let path = started.location();
            wait_until("the end of the try", || {
                !studio.get_with(&path, &cookie).head.contains("refresh: 1")
            });
        }
        let own = studio.get_with(&format!("/runs/{}", ids[0]), &cookie).body;
        let replay = Regex::new("href=\"(/runs/([a-z0-9]{7})\\?at=)0\"").expect("valid");
        let replay = replay.captures(&own).expect("a replay");
        let list: serde_json::Value =
            serde_json::from_str(&studio.command("runs --json")).expect("JSON");
        let what = list.as_array().expect("a list").iter().map(|item| &item["what"]);
        let mut names: Vec<String> =
            what.map(|what| what.as_str().expect("a text").to_owned()).collect();
        names.extend(ids.clone());
        names.extend([replay[2].to_owned(), plan.clone(), "home".to_owned(), "token".to_owned()]);
        // Messages of a check, which the trace of a run has in English, and its keys in the plan.
        let check = ["Test failed: text expected to contain", "absent", "contains", "status"];
        names.extend(check.map(str::to_owned));
        names.extend(NAMES.split_whitespace().map(str::to_owned));
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let targets = [
            "/".to_owned(),
            "/?q=not-kept".to_owned(),
            "/start".to_owned(),
            "/start?target=http://127.0.0.1:9/".to_owned(),
            format!("/start?target={plan}"),
            format!("/edit?file={plan}"),
            "/import".to_owned(),
            "/retention".to_owned(),
            "/retention?older-than=9d".to_owned(),
            "/retention?older-than=1ms".to_owned(),
            format!("/runs/{}", ids[0]),
            format!("{}1", &replay[1]),
            format!("/compare?id={}&id={}", ids[0], ids[1]),
            format!("/compare?id={}", ids[0]),
            "/tries/2?sample=1".to_owned(),
            "/tries/2?sample=1&view=tree&search=tok".to_owned(),
            "/tries/2?sample=1&selected=tok-81".to_owned(),
            "/tries/2?with=1".to_owned(),
            "/tries/77".to_owned(),
            "/absent".to_owned(),
            "/history".to_owned(),
            "/history?measure=throughput&last=1".to_owned(),
            "/record".to_owned(),
        ];
        Self { studio, cookie, names, targets: targets.to_vec(), token, plan }
    }

    /// Bodies of all pages, each with its address.
    fn bodies(&self, lines: &str) -> Vec<(String, String)> {
        let lines = format!("{}{lines}", self.cookie);
        let of_form = format!("token={}&file=new.yaml&text=curl+http://127.0.0.1:9/", self.token);
        let form = self.studio.post("/import", &lines, &of_form);
        let pages = self.targets.iter();
        let pages = pages.map(|target| (target.clone(), self.studio.get_with(target, &lines).body));
        pages.chain([("/import, sent".to_owned(), form.body)]).collect()
    }
}

#[test]
fn each_page_is_in_the_language_of_its_viewer() {
    let pages = Pages::start();
    // Viewers of a run share its pages, but not those in the other language.
    for (target, body) in pages.bodies("Accept-Language: de\r\n") {
        assert!(body.contains("<html lang=\"en\">"), "{target}: {body}");
        for text in visible_texts(&body) {
            assert!(!is_chinese(&text) || text == "中文", "{target}: {text}");
        }
    }
    let cells = Regex::new("(?s)<section class=\"differences\".*?</section>").expect("valid");
    let values = Regex::new("(?s)<details>.*</details>").expect("valid");
    let rows = Regex::new("(?s)<tbody>.*?</tbody>").expect("valid");
    let mut wrong = Vec::new();
    for (target, body) in pages.bodies(CHINESE) {
        assert!(body.contains("<html lang=\"zh\">"), "{target}: {body}");
        // Places in plans have the names of the JSON reports.
        let body = cells.replace(&body, |section: &regex::Captures| {
            let values = values.replace(&section[0], |values: &regex::Captures| {
                rows.replace_all(&values[0], "").into_owned()
            });
            values.into_owned()
        });
        let texts = visible_texts(&body);
        assert!(texts.iter().any(|text| is_chinese(text)), "{target}: {body}");
        for text in texts {
            let words = english_words(&without_code(&text), &pages.names);
            if !words.is_empty() || text.contains(['{', '}']) && !target.contains("view=tree") {
                wrong.push(format!("{target}: {words:?} in {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words in texts about experiments that are the same in Chinese: names of the experiments, units, methods and keys.
const NAMES_OF_EXPERIMENTS: &str = "fast slow compare gt USL MSER-5 Poisson kB MB OK";

/// Keys of the data of a page whose values are texts for people.
const TEXT_KEYS: [&str; 16] = [
    "about",
    "arithmetic",
    "caution",
    "check_failures",
    "conclusion",
    "differences",
    "drift",
    "failed",
    "how",
    "label",
    "limited",
    "method",
    "remedy",
    "sentence",
    "warnings",
    "why",
];

/// Texts for people in the data of a page.
fn texts_of_data(body: &str) -> Vec<String> {
    let data = Regex::new("(?s)<script type=\"application/json\" id=\"[^\"]*\">(.*?)</script>")
        .expect("valid");
    let mut texts = Vec::new();
    for found in data.captures_iter(body) {
        collect_texts(&serde_json::from_str(&found[1]).expect("JSON"), false, &mut texts);
    }
    texts
}

fn collect_texts(value: &serde_json::Value, is_text: bool, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) if is_text => texts.push(text.clone()),
        serde_json::Value::Array(items) => {
            for item in items {
                collect_texts(item, is_text, texts);
            }
        }
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                collect_texts(member, TEXT_KEYS.contains(&key.as_str()), texts);
            }
        }
        _ => {}
    }
}

/// Words with Latin letters in the Chinese texts of findings, such as SIGSTOP. The machine decides which findings a run has.
fn words_of_findings() -> BTreeSet<String> {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates");
    let folders = ["model", "judge", "report", "search", "runner"];
    let files = folders
        .into_iter()
        .flat_map(|name| fs::read_dir(format!("{crates}/{name}/texts/zh")).expect("texts"));
    let texts: String = files
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("a text"))
        .collect();
    let values = texts.lines().filter(|line| is_chinese(line) && !line.starts_with('#'));
    let values = values.map(|line| line.split_once('=').map_or(line, |(_, value)| value));
    let argument = Regex::new(r"\{[^}]*\}").expect("valid");
    let values = values.map(|value| without_code(&argument.replace_all(value, "")));
    values.flat_map(|value| english_words(&value, &[])).collect()
}

#[test]
fn the_pages_of_experiments_are_in_the_language_of_their_viewer() {
    let dir = TempDir::new().expect("a directory");
    let lab = lab("");
    let fast = lab.url_of("/delay/1ms");
    let slow = lab.url_of("/delay/9ms");
    // More labels than are kept, and a server whose second reply is not HTTP.
    let urls = dir.path().join("urls");
    fs::write(&urls, "/delay/1ms\n/delay/2ms\n".repeat(2)).expect("a file");
    let garbage = serve_connections(|mut client| {
        for reply in [&*page("x"), "220 mail.example ESMTP\r\n\r\n"] {
            if client.request().is_none() || !client.write(reply.as_bytes()) {
                return;
            }
        }
    });
    for line in [
        format!("sweep fast={fast} slow={slow} -c 1,2 -d 1s --objective p99<1s"),
        format!(
            "find {fast} --time-budget 12s --trial-duration 1s --overload no --start-load 200 --max-load 400 --cooldown 0s \
             --objective p99<1s --require capacity>=90"
        ),
        format!("compare fast={fast} slow={slow} -r 40 -d 300ms --repeat 8"),
        format!("{slow} -n 20 -c 2 -q --expect-body absent"),
        format!("{} -n 20 -c 2 -q --urls {} --labels 1", slow, urls.display()),
        format!("{} -n 20 -c 2 -q", garbage.url_of("/")),
    ] {
        run(dir.path(), &line);
    }
    let items = ids(dir.path());
    let studio = Studio::start(dir);
    let lines = format!("{}{CHINESE}", studio.admit());
    let mut names: Vec<String> = items.clone();
    names.extend([fast, slow].map(|url| url.trim_start_matches("http://").to_owned()));
    names.extend(NAMES_OF_EXPERIMENTS.split_whitespace().map(str::to_owned));
    let host = |url: String| url.trim_start_matches("http://").to_owned();
    names.extend([host(garbage.url_of("/")), host(garbage.url_of(""))]);
    names.extend(["absent", "(other)", "/delay/1ms", "/delay/2ms"].map(str::to_owned));
    names.extend(NAMES.split_whitespace().map(str::to_owned));
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let known = words_of_findings();
    let content = Regex::new("(?s)<main [^>]*>(.*?)</main>").expect("valid");
    let mut wrong = Vec::new();
    let mut bodies = String::new();
    let mut targets: Vec<String> = items.iter().map(|id| format!("/runs/{id}")).collect();
    targets.push("/history?measure=capacity".to_owned());
    for target in targets {
        let body = studio.get_with(&target, &lines).body;
        assert!(body.contains("<html lang=\"zh\">"), "{target}: {body}");
        let main =
            content.captures(&body).map_or(String::new(), |main| format!("<p>{}</p>", &main[1]));
        let texts = [visible_texts(&main), texts_of_data(&body)].concat();
        assert!(texts.iter().any(|text| is_chinese(text)), "{target}: {body}");
        bodies += &body;
        for text in texts {
            let mut words = english_words(&without_code(&text), &names);
            words.retain(|word| !known.contains(word));
            if !words.is_empty() {
                wrong.push(format!("{target}: {words:?} in {text}"));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A condition and the value found, a warning, and a cause, which the logs have in English.
    for text in ["响应体 匹配", "没有匹配", "标签超过 1 个", "× 状态行不是 HTTP/1.x"]
    {
        assert!(bodies.contains(text), "{text}");
    }
}

#[test]
fn a_language_is_chosen_on_each_page_and_kept() {
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let start = studio.get_with("/start?target=http://127.0.0.1:9/", &cookie);
    assert!(
        start.body.contains("<button name=\"language\" value=\"zh\" lang=\"zh\">中文</button>")
    );
    let token = start.form_token();
    let choose = |line: &str| studio.post("/language", &cookie, line);
    let chosen = choose(&format!("token={token}&language=zh&address=/start?target=x"));
    assert_eq!((chosen.status, &*chosen.location()), (303, "/start?target=x"));
    let set = "set-cookie: brunt-language=zh; path=/; httponly; samesite=strict; max-age=31536000";
    assert!(chosen.head.contains(set), "{}", chosen.head);
    let both = format!("{}; brunt-language=zh\r\n", cookie.trim_end());
    let list = studio.get_with("/", &both);
    assert!(list.status == 200 && list.body.contains("<html lang=\"zh\">"), "{}", list.body);
    assert!(list.body.contains("lang=\"en\">English</button>"), "{}", list.body);
    for (line, status) in [
        ("language=zh".to_owned(), 403),
        (format!("token={token}&language=tlh"), 400),
        (format!("token={token}"), 400),
    ] {
        assert_eq!(choose(&line).status, status, "{line}");
    }
    let foreign = choose(&format!("token={token}&language=en&address=//evil.example/"));
    assert_eq!(foreign.location(), "/");
    // Also a browser that is not admitted reads the reason.
    let refused = studio.get_with("/", CHINESE);
    assert!(refused.status == 401 && is_chinese(&refused.body), "{}", refused.body);
}
