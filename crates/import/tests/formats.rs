//! What each format becomes: the plans of the inputs in `tests/data/import`, and what is said of inputs that are wrong.

use brunt_import::{Format, Options, import};
use brunt_model::Body;
use brunt_spec::System;
use brunt_spec::plan_file::load;
use std::fmt::Write;

fn options() -> Options {
    Options { file: "input".into(), ..Options::default() }
}

/// The requests of the plan that a list of texts in curl's command lines comes to, as the scenario has them.
fn requests(format: Format, text: &str) -> Vec<(String, Body)> {
    let plan = import(format, text, &options()).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, &plan).expect("a plan");
    let system = System { environment: |name| Some(format!("<{name}>")), ..System::bare(20_000, 4, Some(28_232), 99) };
    let loaded = load(&path, &[], "/tmp/d", &system).unwrap_or_else(|error| panic!("{error}\n{plan}"));
    let scenario = &loaded.experiment.contenders[0].steps[0].plan.main().scenario;
    scenario
        .requests
        .iter()
        .map(|request| (format!("{} {}", request.method, request.url), request.body.clone()))
        .collect()
}

#[test]
fn values_of_the_environment_stand_in_for_secrets() {
    let curl = "curl -u ann:geheim 'http://127.0.0.1/a?api_key=geheim2&x=%20' -d 'password=geheim3&n=1'";
    let plan = import(Format::Curl, curl, &options()).unwrap();
    assert!(!plan.contains("geheim"), "{plan}");
    let (url, body) = requests(Format::Curl, curl).remove(0);
    assert_eq!(url, "POST http://127.0.0.1/a?api_key=%3CAPI_KEY%3E&x=+");
    assert_eq!(body, Body::Text("password=%3CPASSWORD_2%3E&n=1".into()));
}

#[test]
fn wrong_inputs_are_told_with_their_place() {
    let cases = [
        (Format::Curl, "curl -H 'a: b'"),
        (Format::Curl, "\ncurl http://h/ --frobnicate"),
        (Format::Curl, "curl http://h/ -d 'x"),
        (Format::Curl, "wget http://h/"),
        (Format::Curl, "curl http://h/ -m soon"),
        (Format::Curl, "curl ftp://h/"),
        (Format::Curl, ""),
        (Format::Urls, "http://h/\n$(NAME)/x"),
        (Format::Urls, "http://h/ fetch"),
        (Format::Urls, "[0] http://h/"),
        (Format::Har, "{"),
        (Format::Har, "{}"),
        (Format::Har, r#"{"log": {"entries": [{}]}}"#),
        (Format::Har, r#"{"log": {"entries": [{"request": {"url": 5}}]}}"#),
        (Format::Har, r#"{"log": {"entries": []}}"#),
        (Format::Postman, r#"{"info": {}}"#),
        (Format::Postman, r#"{"item": [{"name": "a"}]}"#),
        (Format::Postman, r#"{"item": [{"request": {"url": "ftp://h/"}}]}"#),
        (Format::Openapi, "a: 1"),
        (Format::Openapi, "openapi: 3.0.0\n"),
        (Format::Openapi, "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: 'b.yaml#/x'}]}}}"),
        (Format::Openapi, "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/x'}]}}}"),
        (Format::Openapi, "openapi: [\n"),
    ];
    let mut told = String::new();
    for (format, text) in cases {
        let _ = writeln!(told, "{}", import(format, text, &options()).unwrap_err());
    }
    insta::assert_snapshot!(told, @r#"
    input:1: the command has no URL; write one such as http://127.0.0.1:8080/
    input:2: curl's option `--frobnicate` is unknown here; leave it out
    input:1: the quote `'` is not closed; write `'` at the end of the text
    input:1: `wget` is not curl; write a command line that begins with curl
    input:1: `soon` is no time; write seconds, such as 2.5
    input:1: `ftp` is not http or https; write a URL such as http://127.0.0.1:8080/path
    input: no request; at least one is expected
    input:2: `NAME` has no value here; write NAME = value on a line above, or \$ for a plain dollar
    input:1: `fetch` behind the URL is no method; write one such as POST, or %20 for a space in the URL
    input:1: `[0]` is no weight; write one such as [3] http://127.0.0.1/a
    input:1:1: invalid JSON: EOF while parsing an object; the whole file is expected as it was exported
    input: $: `log` is missing; a recording (HAR 1.2) is expected
    input: no request is left: Left out: 1 entries without a request.; at least one is expected
    input: no request is left: Left out: 1 requests without a URL.; at least one is expected
    input: no request; at least one is expected
    input: $: `item` is missing; a collection of Postman, 2.0 or 2.1, is expected
    input: no request is left: Left out: a ($.item[0]): it is neither a request nor a folder.; at least one is expected
    input: no request is left: Left out:  ($.item[0]): `ftp` is not http or https.; at least one is expected
    input: $: the description has no version; `openapi: 3.…` or `swagger: "2.0"` is expected
    input: $: `paths` is missing; a map of operations is expected
    input: $.paths./a.get.parameters[0]: `b.yaml#/x` is in another file; bundle the description into one file
    input: $.paths./a.get.parameters[0]: `#/x` leads nowhere; a reference to a part of this file is expected
    input:2: invalid YAML: while parsing a node, did not find expected node content; check the indentation, quotes and brackets here and above
    "#);
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let api = r##"{"openapi": "3.0.0", "servers": [{"url": "http://127.0.0.1"}], "paths": {"/a": {"post": {"requestBody": {"content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}}},
        "components": {"schemas": {"A": {"properties": {"id": {"type": "integer"}, "b": {"$ref": "#/components/schemas/B"}}},
        "B": {"allOf": [{"$ref": "#/components/schemas/A"}, {"properties": {"c": {"type": "string", "enum": ["x"]}}}]}}}}"##;
    let (url, body) = requests(Format::Openapi, api).remove(0);
    assert_eq!((url.as_str(), body), ("POST http://127.0.0.1/a", Body::Text(r#"{"id":1,"b":{"c":"x"}}"#.into())));
}

#[test]
fn descriptions_are_chosen_from_by_tag_and_method() {
    let api = "swagger: '2.0'\nhost: 127.0.0.1:81\nschemes: [http]\nbasePath: /v1\npaths:\n  /a:\n    get: {tags: [x]}\n    \
               post: {tags: [y], parameters: [{in: formData, name: f, type: string}]}\n  /b: {get: {tags: [y]}}\n";
    let chosen = |options: Options| {
        let plan = import(Format::Openapi, api, &Options { file: "input".into(), ..options }).unwrap();
        plan.lines().filter_map(|line| line.trim().strip_prefix("- ").map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(chosen(Options { tags: vec!["x".into()], ..Options::default() }), ["get: /a"]);
    let only = |method: &str, path: &str| Options { only: vec![(method.into(), path.into())], ..Options::default() };
    assert_eq!(chosen(only("GET", "")), ["name: x", "get: /a", "name: y", "get: /b"]);
    assert_eq!(chosen(only("", "/b")), ["get: /b"]);
    let sent = requests(Format::Openapi, api);
    assert_eq!(sent[1], ("POST http://127.0.0.1:81/v1/a".into(), Body::Text("f=text".into())));
}

#[test]
fn another_server_may_be_named() {
    let there = Options { base: Some("http://127.0.0.1:9".into()), ..options() };
    let plan =
        import(Format::Curl, "curl https://shop.example/a https://other.example/b https://shop.example/c", &there)
            .unwrap();
    assert!(plan.contains("base: http://127.0.0.1:9 ") && plan.contains("other: https://other.example"), "{plan}");
    assert!(plan.contains("- get: /a") && plan.contains("- get: ${other}/b"), "{plan}");
}

#[test]
fn one_bad_part_is_left_out_and_named() {
    let har = r#"{"log": {"entries": [{}, {"request": {"url": 5}}, {"request": {"url": "x y"}}, {"request": {"url": "data:,x"}},
        {"request": {"method": "PURGE", "url": "http://127.0.0.1/a?"}},
        {"request": {"method": "POST", "url": "http://127.0.0.1/b", "postData": {"mimeType": "application/x-www-form-urlencoded",
            "params": [{"name": "a", "value": "1 +"}]}}}]}}"#;
    let plan = import(Format::Har, har, &options()).unwrap();
    for reason in [
        "entries without a request",
        "requests without a URL",
        "requests whose URL is malformed",
        "requests that are not http",
    ] {
        assert!(plan.contains(&format!("# Left out: 1 {reason}.")), "{plan}");
    }
    let sent = requests(Format::Har, har);
    assert_eq!(sent[0], ("PURGE http://127.0.0.1/a?".into(), Body::None));
    assert_eq!(sent[1], ("POST http://127.0.0.1/b".into(), Body::Text("a=1++".into())));
    let postman = r#"{"item": [{"name": "one"}, {"name": "two", "request": {"url": ""}}, {"name": "three", "request": "ftp://h/"},
        {"name": "four", "request": {"method": "LINK", "header": "A: b\nC: d", "url": {"raw": "http://127.0.0.1//x?q=a+b&n",
            "query": [{"key": "q", "value": "a+b"}, {"key": "n", "value": null}]}}}]}"#;
    let plan = import(Format::Postman, postman, &options()).unwrap();
    for reason in [
        "one ($.item[0]): it is neither a request nor a folder",
        "two ($.item[1]): it has no URL",
        "three ($.item[2]): `ftp` is not http or https",
        "headers: {A: b, C: d}",
    ] {
        assert!(plan.contains(reason), "{plan}");
    }
    assert_eq!(requests(Format::Postman, postman)[0].0, "LINK http://127.0.0.1//x?q=a+b&n");
}

#[test]
fn credentials_and_proxies_keep_their_kind() {
    let told = |options: &str| {
        let line = format!("curl http://127.0.0.1/ {options}");
        import(Format::Curl, &line, &Options { file: "input".into(), ..Options::default() })
            .unwrap_or_else(|error| error.to_string())
    };
    assert!(told("-u ann:geheim --digest").contains("digest: ann:${password}"));
    assert!(told("-u ann:geheim --basic").contains("basic: ann:${password}"));
    for way in ["--ntlm", "--negotiate", "--anyauth", "--basic --digest"] {
        let told = told(&format!("-u ann:geheim {way}"));
        assert!(
            told.contains("is a way of authentication that plans do not have") && !told.contains("geheim"),
            "{told}"
        );
    }
    for proxy in
        ["socks5://127.0.0.1", "https://127.0.0.1:1", "http://ann:geheim@127.0.0.1:1", "127.0.0.1:1 -U ann:geheim"]
    {
        let told = told(&format!("-x {proxy}"));
        assert!(told.contains("proxy") && !told.contains("steps:") && !told.contains("geheim"), "{told}");
    }
    assert!(told("-x 127.0.0.1").contains("proxy: http://127.0.0.1:1080"));
    assert!(told("--http2-prior-knowledge").contains("http: 2"));
    for option in ["--socks5 h:1", "--connect-to ::h:1"] {
        assert!(told(option).contains("sends the request another way than a plan can"), "{option}");
    }
}

#[test]
fn urls_from_parts_are_kept() {
    let urls =
        ["http://127.0.0.1//x", "http://127.0.0.1/?", "http://127.0.0.1/a//b/?x=1&&y", "http://127.0.0.1/%2f;p?a=b+c"];
    let lists = [
        (Format::Urls, urls.join("\n")),
        (Format::Curl, urls.map(|url| format!("curl '{url}'\n")).concat()),
        (
            Format::Postman,
            format!(r#"{{"item": [{}]}}"#, urls.map(|url| format!(r#"{{"request": "{url}"}}"#)).join(",")),
        ),
    ];
    for (format, text) in lists {
        let sent: Vec<String> = requests(format, &text).into_iter().map(|(sent, _)| sent).collect();
        assert_eq!(sent, urls.map(|url| format!("GET {url}")), "{format:?}");
    }
    let plan = import(Format::Curl, "curl \"$URL\"; curl \"$URL/b\"; curl \"$URL?c\"", &options()).unwrap();
    for step in ["- get: ${URL}\n", "- get: ${URL}/b\n", "- get: ${URL}?c\n"] {
        assert!(plan.contains(step), "{step}{plan}");
    }
}
