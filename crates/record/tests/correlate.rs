//! Compares synthetic recordings: values at random places, in replies of random forms, with decoys.

#![allow(clippy::unwrap_used, reason = "a failed test shows the place")]

use brunt_record::correlate::DifferenceHint;
use brunt_record::{Correlation, PlanOptions, Recording, plan};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A request and its reply.
struct Step {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<(&'static str, String)>,
    reply_headers: Vec<(&'static str, String)>,
    reply: (&'static str, String),
}

impl Step {
    fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.into(),
            headers: Vec::new(),
            body: None,
            reply_headers: Vec::new(),
            reply: ("text/html", "<p>ok</p>".to_owned()),
        }
    }

    fn post(path: impl Into<String>, media_type: &'static str, body: String) -> Self {
        Self { method: "POST", body: Some((media_type, body)), ..Self::get(path) }
    }

    fn json(self, reply: &Value) -> Self {
        Self { reply: ("application/json", reply.to_string()), ..self }
    }

    fn html(self, reply: impl Into<String>) -> Self {
        Self { reply: ("text/html", reply.into()), ..self }
    }
}

fn har(steps: &[Step]) -> String {
    let pairs = |fields: &[(&'static str, String)]| -> Value {
        fields.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    let entries: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let mut request = json!({
                "method": step.method,
                "url": format!("http://127.0.0.1:8080{}", step.path),
                "headers": pairs(&step.headers),
            });
            if let Some((media_type, body)) = &step.body {
                request["postData"] = json!({"mimeType": media_type, "text": body});
            }
            json!({
                "startedDateTime": format!("2026-01-01T00:{:02}:{:02}.000Z", index / 60, index % 60),
                "time": 10,
                "request": request,
                "response": {
                    "status": 200,
                    "headers": pairs(&step.reply_headers),
                    "content": {"mimeType": step.reply.0, "text": step.reply.1},
                },
            })
        })
        .collect();
    json!({"log": {"entries": entries}}).to_string()
}

fn compare(first: &[Step], second: &[Step]) -> (String, Correlation) {
    let first = Recording::from_har("first.har", &har(first)).unwrap();
    let second = Recording::from_har("second.har", &har(second)).unwrap();
    let made = plan::plan(&first, Some(&second), &PlanOptions::default()).unwrap();
    (made.text, made.correlation.unwrap())
}

fn pairs(correlation: &Correlation) -> BTreeSet<(String, String)> {
    correlation.values.iter().map(|one| (one.first.clone(), one.second.clone())).collect()
}

/// A value of a random form.
fn draw(random: &mut impl Rng) -> String {
    let text = |random: &mut dyn FnMut(usize) -> usize, letters: &[u8], length: usize| -> String {
        (0..length).map(|_| letters[random(letters.len())] as char).collect()
    };
    let mut below = |most: usize| random.random_range(0..most);
    match below(6) {
        0 => (100_000 + below(800_000)).to_string(),
        1 => text(&mut below, b"0123456789abcdef", 32),
        2 => format!(
            "{}-{}",
            text(&mut below, b"abcdefgh0123456", 8),
            text(&mut below, b"0123456789", 4)
        ),
        3 => format!("{}==", text(&mut below, b"ABCDEFGHabcdefgh0123456789+/", 22)),
        4 => format!(
            "{}.{}",
            text(&mut below, b"ABCDEFabcdef0123", 12),
            text(&mut below, b"ABCDEFabcdef_-", 15)
        ),
        _ => format!(
            "{}&<{}>\"",
            text(&mut below, b"abc0123456789", 8),
            text(&mut below, b"xyz789", 5)
        ),
    }
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn url_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// A reply with the value in a form of this number, and with `noise`, which differs between recordings.
fn reply(step: Step, form: usize, name: &str, value: &str, noise: &str) -> Step {
    let is_plain = !value.contains(['&', '<', '"']);
    match form % 7 {
        0 => step.json(&json!({"time": noise, name: value, "other": "x"})),
        1 => step.json(&json!({"data": {"list": [{"k": 1}, {"deep": {name: value}}]}, "n": noise})),
        2 => step.html(format!(
            "<p>{noise}</p><form><input type='hidden' name=\"{name}\" value=\"{}\"></form>",
            html_escaped(value)
        )),
        3 => {
            step.html(format!("<i>{noise}</i><div data-{name}=\"{}\"></div>", html_escaped(value)))
        }
        4 if is_plain => {
            step.html(format!("<script>a('{noise}');var {name} = \"{value}\";</script>"))
        }
        5 if is_plain => Step { reply_headers: vec![("X-Reply-Value", value.to_owned())], ..step },
        6 => step.html(format!(
            "<p>{noise}</p><a href='/go?{name}={}&amp;x=1'>go</a>",
            url_encoded(value)
        )),
        _ => step.json(&json!({ name: value })),
    }
}

/// A request that sends the value at a place of this number.
fn request(place: usize, path: &str, name: &str, value: &str) -> Step {
    let is_path = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_header = !value.contains(['&', '<', '"']);
    match place % 6 {
        0 if is_path => Step::get(format!("{path}/item/{value}")),
        1 => Step::get(format!("{path}?{name}={}&fixed=abc12345", url_encoded(value))),
        2 => Step::post(
            path,
            "application/x-www-form-urlencoded",
            format!("fixed=abc12345&{name}={}", url_encoded(value)),
        ),
        3 => Step::post(path, "application/json", json!({"a": [1, {name: value}]}).to_string()),
        4 if is_header => Step { headers: vec![("X-Value", value.to_owned())], ..Step::get(path) },
        5 if is_header => {
            Step { headers: vec![("Authorization", format!("Bearer {value}"))], ..Step::get(path) }
        }
        _ => Step::get(format!("{path}?v={}", url_encoded(value))),
    }
}

#[test]
fn planted_values_are_found_at_random_places_and_no_others() {
    let mut planted_count = 0;
    for seed in 0..300 {
        let mut random = Pcg64::seed_from_u64(seed);
        let count = random.random_range(1..9_usize);
        let mut steps = [Vec::new(), Vec::new()];
        let mut planted = BTreeSet::new();
        let mut decoys = 0;
        for number in 0..count {
            let name = format!("field{}", (b'a' + number as u8) as char);
            // Values of one form, as a server draws them.
            let form_seed = random.random::<u64>();
            let mut draw_random = Pcg64::seed_from_u64(form_seed);
            let first = draw(&mut draw_random);
            let second = loop {
                let value = draw(&mut random);
                if value != first
                    && value.len() == first.len()
                    && value.contains('&') == first.contains('&')
                {
                    break value;
                }
            };
            let [form, place] = [random.random_range(0..7_usize), random.random_range(0..6_usize)];
            let is_echoed = random.random_bool(0.2);
            let gap = random.random_range(0..3_usize);
            for (steps, value) in steps.iter_mut().zip([&first, &second]) {
                let noise = format!("n{}", random.random::<u32>());
                steps.push(reply(Step::get(format!("/page{number}")), form, &name, value, &noise));
                steps.extend((0..gap).map(|gap| Step::get(format!("/gap{number}/{gap}"))));
                steps.push(request(place, &format!("/use{number}"), &name, value));
                // A reply that repeats the value, after its first use.
                if is_echoed {
                    let echo = Step::get(format!("/echo{number}"));
                    steps.push(echo.json(&json!({"echo": value})));
                }
                // A value of the client, which a later reply repeats, and which is sent again.
                let client = format!("c{:016x}", random.random::<u64>());
                steps.push(
                    Step::get(format!("/client{number}?rid={client}"))
                        .json(&json!({"rid": client})),
                );
                steps.push(Step::get(format!("/client{number}/again?rid={client}")));
            }
            decoys += 1;
            planted.insert((first, second));
        }
        // Requests that only one recording has.
        let place = random.random_range(0..steps[0].len());
        steps[0].insert(place, Step::get("/only/first?x=1234567"));
        let [first, second] = &steps;
        let (text, correlation) = compare(first, second);
        assert_eq!(pairs(&correlation), planted, "seed {seed}\n{text}\n{correlation:#?}");
        assert_eq!(
            correlation.differences.len(),
            decoys,
            "seed {seed}: {:#?}",
            correlation.differences
        );
        assert_eq!(
            text.matches("fixed=abc12345").count() + text.matches("fixed: abc12345").count(),
            har(first).matches("fixed=abc12345").count(),
            "seed {seed}\n{text}"
        );
        assert_eq!(correlation.only_first.len(), 1);
        planted_count += planted.len();
    }
    println!("{planted_count} planted values found, 0 others");
}

#[test]
fn equal_values_stay_and_a_second_source_is_an_ambiguity() {
    let steps = |token: &str| {
        vec![
            Step::get("/")
                .html(format!("<meta name=\"token\" content=\"{token}\"><b>constant99</b>")),
            Step::get("/config").json(&json!({"token": token, "fixed": "constant99"})),
            Step::get(format!("/use?token={token}&fixed=constant99")),
        ]
    };
    let (text, correlation) = compare(&steps("aaaa1111bbbb"), &steps("cccc2222dddd"));
    assert_eq!(correlation.values.len(), 1, "{correlation:#?}");
    let value = &correlation.values[0];
    assert_eq!(value.ambiguities.len(), 1, "{value:#?}");
    assert_eq!(value.extractor.variable, "token");
    assert!(text.contains("${token}") && text.contains("constant99"), "{text}");
    assert!(!text.contains("aaaa1111bbbb"), "{text}");
    let again = compare(&steps("aaaa1111bbbb"), &steps("cccc2222dddd"));
    assert_eq!(again.0, text, "the choice is deterministic");
}

#[test]
fn values_without_an_earlier_reply_are_listed_with_a_hint() {
    let steps = |time: &str, uuid: &str, page: &str| {
        vec![
            Step::get(format!("/?t={time}")).json(&json!({"page": page})),
            Step::get(format!("/a?t={time}&id={uuid}")),
            Step::get(format!("/b?offset={page}")),
        ]
    };
    let (text, correlation) = compare(
        &steps("1732777123456", "0b8f3a1c-1234-4abc-8def-0123456789ab", "3"),
        &steps("1732777199999", "77aa3a1c-9999-4abc-8def-abcdef012345", "7"),
    );
    assert_eq!(correlation.values.len(), 0, "{correlation:#?}");
    let hints: Vec<&DifferenceHint> =
        correlation.differences.iter().map(|difference| &difference.hint).collect();
    assert_eq!(hints[..2], [&DifferenceHint::Time, &DifferenceHint::Uuid]);
    assert!(matches!(hints[2], DifferenceHint::TooShort { .. }), "{hints:?}");
    assert!(text.contains("offset=3"), "{text}");
}

#[test]
fn an_item_of_a_list_is_found_by_its_name_if_its_position_changes() {
    let steps = |id: &str, others: usize| {
        let mut list: Vec<Value> = (0..others)
            .map(|number| json!({"id": format!("q{number}777"), "name": format!("other {number}")}))
            .collect();
        list.push(json!({"id": id, "name": "Table"}));
        list.push(json!({"id": "z99999", "name": "Last"}));
        vec![Step::get("/list").json(&json!({"items": list})), Step::get(format!("/items/{id}"))]
    };
    let (text, correlation) = compare(&steps("id55501", 2), &steps("id66602", 4));
    assert_eq!(correlation.values.len(), 1, "{correlation:#?}");
    assert!(text.contains("$.items[?@.name=='Table'].id"), "{text}");
    assert!(text.contains("/items/${item_id}"), "{text}");
}

#[test]
fn a_value_of_the_browser_that_a_reply_repeats_has_no_extractor() {
    let steps = |path: &str, rid: &str| {
        vec![
            Step::get(format!("{path}?rid={rid}")),
            Step::get("/status").json(&json!({"rid": rid})),
            Step::get(format!("/use?rid={rid}")),
        ]
    };
    // The first requests are not paired, so only their texts show that the browser knows the value.
    let (text, correlation) =
        compare(&steps("/alpha", "aaaa11112222"), &steps("/beta", "bbbb33334444"));
    assert_eq!(correlation.values.len(), 0, "{correlation:#?}");
    assert_eq!(correlation.differences.len(), 1, "{correlation:#?}");
    assert!(text.contains("/use?rid=aaaa11112222"), "{text}");
}

#[test]
fn a_place_that_differs_between_the_recordings_gives_no_extractor() {
    let steps = |ids: [&str; 3], id: &str| {
        let list: Vec<Value> = ids.into_iter().map(|id| json!({"id": id})).collect();
        vec![Step::get("/list").json(&json!(list)), Step::get(format!("/items/{id}"))]
    };
    let (text, correlation) = compare(
        &steps(["aaa111", "bbb222", "ccc333"], "aaa111"),
        &steps(["ddd444", "eee555", "fff666"], "eee555"),
    );
    assert_eq!(correlation.values.len(), 0, "{correlation:#?}");
    assert_eq!(correlation.differences.len(), 1, "{correlation:#?}");
    assert!(text.contains("/items/aaa111"), "{text}");
}

#[test]
fn a_recording_compared_with_itself_has_no_dynamic_values() {
    let steps = || {
        vec![
            Step::get("/").json(&json!({"token": "a1b2c3d4e5f6"})),
            Step::get("/use?token=a1b2c3d4e5f6"),
        ]
    };
    let (text, correlation) = compare(&steps(), &steps());
    assert!(correlation.values.is_empty() && correlation.differences.is_empty());
    assert!(text.contains("Requests in both: 2."), "{text}");
}

#[test]
fn two_dynamic_segments_in_a_row_are_both_found() {
    let steps = |one: &str, two: &str| {
        let reply = json!({"tenant": one, "order": two, "shop": "constant-77"});
        vec![Step::get("/start").json(&reply), Step::get(format!("/t/{one}/{two}/constant-77"))]
    };
    let (text, correlation) =
        compare(&steps("8f3a91cc", "7b21d0ee"), &steps("11aa22bb", "99ee88dd"));
    let found: Vec<&str> = correlation.values.iter().map(|value| value.first.as_str()).collect();
    assert_eq!(found, ["8f3a91cc", "7b21d0ee"], "{text}");
    assert!(text.contains("/constant-77") && !text.contains("7b21d0ee"), "{text}");
    assert!(!correlation.report().contains("8f3a91cc"), "{}", correlation.report());
}

#[test]
fn a_secret_is_never_copied_with_its_other_part() {
    let steps = |user: &str, rest: &str| {
        let mut step = Step::get("/account");
        step.headers = vec![("X-Auth-Token", format!("{user}:{rest}"))];
        vec![Step::get("/start").json(&json!({"userId": user})), step]
    };
    let (text, _) = compare(&steps("471123", "9f8e7d6c5b4a"), &steps("582234", "0a1b2c3d4e5f"));
    assert!(!text.contains("9f8e7d6c5b4a"), "{text}");
}
