//! What each format becomes: the plans of the inputs in `dev/tests/data/import`, and what is said of inputs that are wrong.

use brunt_import::{EnvironmentFile, ImportFormat, ImportOptions, import};
use brunt_model::Body;
use brunt_spec::System;
use brunt_spec::plan_file::load;
use std::fmt::Write;

pub fn options() -> ImportOptions {
    ImportOptions { file: "input".into(), ..ImportOptions::default() }
}

/// The requests of the plan that a list of texts in curl's command lines comes to, as the scenario has them.
pub fn requests(format: ImportFormat, text: &str) -> Vec<(String, Body)> {
    let plan = import(format, text, &options()).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, &plan).expect("a plan");
    let system = System {
        environment: |name| Some(format!("<{name}>")),
        languages: brunt_languages::LANGUAGES,
        ..System::bare(20_000, 4, Some(28_232), 99)
    };
    let loaded =
        load(&path, &[], "/tmp/d", &system).unwrap_or_else(|error| panic!("{error}\n{plan}"));
    let scenario = &loaded.experiment.contenders[0].steps[0].plan.main().scenario;
    scenario
        .requests
        .iter()
        .map(|request| (format!("{} {}", request.method, request.url), request.body.clone()))
        .collect()
}

#[test]
fn secrets_become_environment_variables() {
    let curl =
        "curl -u ann:geheim 'http://127.0.0.1/a?api_key=geheim2&x=%20' -d 'password=geheim3&n=1'";
    let plan = import(ImportFormat::Curl, curl, &options()).unwrap();
    assert!(!plan.contains("geheim"), "{plan}");
    let (url, body) = requests(ImportFormat::Curl, curl).remove(0);
    assert_eq!(url, "POST http://127.0.0.1/a?api_key=%3CAPI_KEY%3E&x=+");
    assert_eq!(body, Body::Text("password=%3CPASSWORD_2%3E&n=1".into()));
}

#[test]
fn invalid_inputs_are_reported_with_their_position() {
    let cases = [
        (ImportFormat::Curl, "curl -H 'a: b'"),
        (ImportFormat::Curl, "\ncurl http://h/ --frobnicate"),
        (ImportFormat::Curl, "curl http://h/ -d 'x"),
        (ImportFormat::Curl, "wget http://h/"),
        (ImportFormat::Curl, "curl http://h/ -m soon"),
        (ImportFormat::Curl, "curl ftp://h/"),
        (ImportFormat::Curl, "curl http://h/ -H \"$FIELD\""),
        (ImportFormat::Curl, "curl http://h/ -H \"$NAME: x\""),
        (ImportFormat::Curl, "curl http://h/ -X \"$METHOD\""),
        (ImportFormat::Curl, "curl http://h/ -u \"$KEY\""),
        (ImportFormat::Curl, "curl http://h/ -b \"$COOKIES\""),
        (ImportFormat::Curl, "curl http://h/ -T \"$FILE\""),
        (ImportFormat::Curl, "curl http://h/ -d @-"),
        (ImportFormat::Curl, "cat f |\ncurl http://h/ -d @-"),
        (ImportFormat::Curl, "curl \"http://h/${A:-b}\""),
        (ImportFormat::Curl, "curl \\\n \"http://h/$1\""),
        (ImportFormat::Curl, "curl http://h/$(date)"),
        (ImportFormat::Curl, "T=$(curl http://h/ | grep x)"),
        (ImportFormat::Curl, ""),
        (ImportFormat::Urls, "http://h/\n$(NAME)/x"),
        (ImportFormat::Urls, "http://h/ fetch"),
        (ImportFormat::Urls, "[0] http://h/"),
        (ImportFormat::Har, "{"),
        (ImportFormat::Har, "{}"),
        (ImportFormat::Har, r#"{"log": {"entries": [{}]}}"#),
        (ImportFormat::Har, r#"{"log": {"entries": [{"request": {"url": 5}}]}}"#),
        (ImportFormat::Har, r#"{"log": {"entries": []}}"#),
        (ImportFormat::Postman, r#"{"info": {}}"#),
        (ImportFormat::Postman, r#"{"item": [{"name": "a"}]}"#),
        (ImportFormat::Postman, r#"{"item": [{"request": {"url": "ftp://h/"}}]}"#),
        (ImportFormat::Openapi, "a: 1"),
        (ImportFormat::Openapi, "openapi: 3.0.0\n"),
        (ImportFormat::Openapi, "openapi: 3.1.0\nwebhooks: {}\n"),
        (ImportFormat::Openapi, "openapi: 3.1.0\npaths: {}\n"),
        (
            ImportFormat::Openapi,
            "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: 'b.yaml#/x'}]}}}",
        ),
        (
            ImportFormat::Openapi,
            "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/x'}]}}}",
        ),
        (ImportFormat::Openapi, "openapi: [\n"),
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
    input:1: `-H $FIELD` has a variable in the name of the field; write the name, such as -H 'X-Token: $TOKEN'
    input:1: `-H $NAME` has a variable in the name of the field; write the name, such as -H 'X-Token: $TOKEN'
    input:1: a variable replaces the method in `-X $METHOD`; write the method
    input:1: a variable replaces name and password in `-u $KEY`; write both, such as -u "$NAME:$PASSWORD"
    input:1: a variable replaces cookies or a file of them in `-b $COOKIES`; write -H "Cookie: $COOKIES" if it holds cookies
    input:1: `-T $FILE` adds the name of the file to the URL, but the name is a variable; write the URL with the name of the file
    input:1: standard input is the body; write the body, or the name of a file after @
    input:2: standard input is the body; write the body, or the name of a file after @
    input:1: it contains an expansion of the shell, such as ${NAME:-default}; write its value, or a variable such as $TOKEN
    input:2: it contains an argument of a script, such as $1; write its value, or a variable such as $TOKEN
    input:1: it contains the output of another command; write its value, or a variable such as $TOKEN
    input:1: `T=` is not curl; write a command line that begins with curl
    input: no request; at least one is expected
    input:2: `NAME` has no value here; write NAME = value on a line above, or \$ for a plain dollar
    input:1: `fetch` after the URL is no method; write one such as POST, or %20 for a space in the URL
    input:1: `[0]` is no weight; write one such as [3] http://127.0.0.1/a
    input:1:1: invalid JSON: EOF while parsing an object; the whole file is expected as it was exported
    input: $: `log` is missing; a recording (HAR 1.2) is expected
    input: all requests are left out: entries without a request (1); at least one is expected
    input: all requests are left out: requests without a URL (1); at least one is expected
    input: no request; at least one is expected
    input: $: `item` is missing; a collection of Postman, 2.0 or 2.1, is expected
    input: all requests are left out: a ($.item[0]): it is neither a request nor a folder; at least one is expected
    input: all requests are left out:  ($.item[0]): `ftp` is not http or https; at least one is expected
    input: $: the description has no version; `openapi: 3.…` or `swagger: "2.0"` is expected
    input: $: `paths` is missing; a map of operations is expected
    input: $: the description has only `webhooks`, which the server sends itself; a description with `paths` is expected
    input: $.paths: there is no operation; at least one is expected
    input: $.paths./a.get.parameters[0]: `b.yaml#/x` is in another file, which cannot be read; put the file beside the description, or bundle both into one file
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
    let (url, body) = requests(ImportFormat::Openapi, api).remove(0);
    assert_eq!(
        (url.as_str(), body),
        ("POST http://127.0.0.1/a", Body::Text(r#"{"id":1,"b":{"id":1,"c":"x"}}"#.into()))
    );
}

#[test]
fn operations_are_selected_by_tag_and_method() {
    let api = "swagger: '2.0'\nhost: 127.0.0.1:81\nschemes: [http]\nbasePath: /v1\npaths:\n  /a:\n    get: {tags: [x]}\n    \
               post: {tags: [y], parameters: [{in: formData, name: f, type: string}]}\n  /b: {get: {tags: [y]}}\n";
    let chosen = |options: ImportOptions| {
        let plan =
            import(ImportFormat::Openapi, api, &ImportOptions { file: "input".into(), ..options })
                .unwrap();
        plan.lines()
            .filter_map(|line| line.trim().strip_prefix("- ").map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        chosen(ImportOptions { tags: vec!["x".into()], ..ImportOptions::default() }),
        ["get: /a"]
    );
    let only = |method: &str, path: &str| ImportOptions {
        only: vec![(method.into(), path.into())],
        ..ImportOptions::default()
    };
    assert_eq!(chosen(only("GET", "")), ["name: x", "get: /a", "name: y", "get: /b"]);
    assert_eq!(chosen(only("", "/b")), ["get: /b"]);
    let sent = requests(ImportFormat::Openapi, api);
    assert_eq!(sent[1], ("POST http://127.0.0.1:81/v1/a".into(), Body::Text("f=f".into())));
}

#[test]
fn another_server_can_be_given() {
    let there = ImportOptions { base: Some("http://127.0.0.1:9".into()), ..options() };
    let plan = import(
        ImportFormat::Curl,
        "curl https://shop.example/a https://other.example/b https://shop.example/c",
        &there,
    )
    .unwrap();
    assert!(
        plan.contains("base: http://127.0.0.1:9 ") && plan.contains("other: https://other.example"),
        "{plan}"
    );
    assert!(plan.contains("- get: /a") && plan.contains("- get: ${other}/b"), "{plan}");
}

#[test]
fn messages_of_websockets_become_steps() {
    let har = r#"{"log": {"entries": [
        {"startedDateTime": "2026-01-01T00:00:00Z", "request": {"method": "GET", "url": "http://127.0.0.1/a"},
            "response": {"status": 200}},
        {"startedDateTime": "2026-01-01T00:00:01Z", "_resourceType": "websocket",
            "request": {"method": "GET", "url": "ws://127.0.0.1/feed", "headers": [{"name": "Origin", "value": "http://127.0.0.1"},
                {"name": "Sec-WebSocket-Protocol", "value": "v1"}, {"name": "Sec-WebSocket-Key", "value": "x"}]},
            "response": {"status": 101}, "_webSocketMessages": [
                {"type": "receive", "time": 1767225601.1, "opcode": 1, "data": "hello"},
                {"type": "send", "time": 1767225601.2, "opcode": 1, "data": "one"},
                {"type": "send", "time": 1767225601.3, "opcode": 1, "data": "{\"b\":2}"},
                {"type": "receive", "time": 1767225601.4, "opcode": 1, "data": "reply"},
                {"type": "receive", "time": 1767225601.5, "opcode": 1, "data": "push"},
                {"type": "send", "time": 1767225601.6, "opcode": 1, "data": ""},
                {"type": "send", "time": 1767225601.7, "opcode": 2, "data": "AAA="}]},
        {"startedDateTime": "2026-01-01T00:00:02Z", "request": {"method": "GET", "url": "wss://other.example/"}}]}}"#;
    let plan = import(ImportFormat::Har, har, &options()).unwrap();
    for part in
        ["Sec-WebSocket-Protocol: v1", "the server sent 1 further messages", "other.example (1)"]
    {
        assert!(plan.contains(part), "{part}:\n{plan}");
    }
    assert_eq!(plan.matches("left out: a message that is empty").count(), 2, "{plan}");
    assert_eq!(plan.matches("reply_events: messages,0").count(), 1, "{plan}");
    let sent: Vec<(String, Body)> = requests(ImportFormat::Har, har);
    let lines: Vec<&str> = sent.iter().map(|(line, _)| line.as_str()).collect();
    let socket = "ws://127.0.0.1/feed";
    let expected = [
        "GET http://127.0.0.1/a".to_owned(),
        format!("OPEN {socket}"),
        format!("AWAIT {socket}"),
        format!("SEND {socket}"),
        format!("SEND {socket}"),
    ];
    assert_eq!(lines, expected, "{plan}");
    assert_eq!(sent[4].1, Body::Text(r#"{"b":2}"#.into()), "{plan}");
}

#[test]
fn a_malformed_part_is_omitted_and_named() {
    let har = r#"{"log": {"entries": [{}, {"request": {"url": 5}}, {"request": {"url": "x y"}}, {"request": {"url": "data:,x"}},
        {"request": {"method": "PURGE", "url": "http://127.0.0.1/a?"}},
        {"request": {"method": "POST", "url": "http://127.0.0.1/b", "postData": {"mimeType": "application/x-www-form-urlencoded",
            "params": [{"name": "a", "value": "1 +"}]}}}]}}"#;
    let plan = import(ImportFormat::Har, har, &options()).unwrap();
    for reason in [
        "entries without a request",
        "requests without a URL",
        "requests whose URL is malformed",
        "requests that are not http",
    ] {
        assert!(plan.contains(&format!("# Left out: {reason} (1).")), "{plan}");
    }
    let sent = requests(ImportFormat::Har, har);
    assert_eq!(sent[0], ("PURGE http://127.0.0.1/a?".into(), Body::None));
    assert_eq!(sent[1], ("POST http://127.0.0.1/b".into(), Body::Text("a=1++".into())));
    let postman = r#"{"item": [{"name": "one"}, {"name": "two", "request": {"url": ""}}, {"name": "three", "request": "ftp://h/"},
        {"name": "four", "request": {"method": "LINK", "header": "A: b\nC: d", "url": {"raw": "http://127.0.0.1//x?q=a+b&n",
            "query": [{"key": "q", "value": "a+b"}, {"key": "n", "value": null}]}}}]}"#;
    let plan = import(ImportFormat::Postman, postman, &options()).unwrap();
    for reason in [
        "one ($.item[0]): it is neither a request nor a folder",
        "two ($.item[1]): it has no URL",
        "three ($.item[2]): `ftp` is not http or https",
        "headers: {A: b, C: d}",
    ] {
        assert!(plan.contains(reason), "{plan}");
    }
    assert_eq!(requests(ImportFormat::Postman, postman)[0].0, "LINK http://127.0.0.1//x?q=a+b&n");
}

#[test]
fn kinds_of_credentials_and_proxies_are_imported() {
    let told = |options: &str| {
        let line = format!("curl http://127.0.0.1/ {options}");
        import(
            ImportFormat::Curl,
            &line,
            &ImportOptions { file: "input".into(), ..ImportOptions::default() },
        )
        .unwrap_or_else(|error| error.to_string())
    };
    assert!(told("-u ann:geheim --digest").contains("digest: ann:${password}"));
    assert!(told("-u ann:geheim --basic").contains("basic: ann:${password}"));
    for way in ["--ntlm", "--negotiate", "--anyauth", "--basic --digest"] {
        let told = told(&format!("-u ann:geheim {way}"));
        assert!(
            told.contains("is a way of authentication that plans do not have")
                && !told.contains("geheim"),
            "{told}"
        );
    }
    for proxy in [
        "socks5://127.0.0.1",
        "https://127.0.0.1:1",
        "http://ann:geheim@127.0.0.1:1",
        "127.0.0.1:1 -U ann:geheim",
    ] {
        let told = told(&format!("-x {proxy}"));
        assert!(
            told.contains("proxy") && !told.contains("steps:") && !told.contains("geheim"),
            "{told}"
        );
    }
    assert!(told("-x 127.0.0.1").contains("proxy: http://127.0.0.1:1080"));
    assert!(told("--http2-prior-knowledge").contains("http: 2"));
    for option in ["--socks5 h:1", "--connect-to ::h:1"] {
        assert!(told(option).contains("sends the request another way than a plan can"), "{option}");
    }
}

#[test]
fn urls_given_in_parts_are_imported() {
    let urls = [
        "http://127.0.0.1//x",
        "http://127.0.0.1/?",
        "http://127.0.0.1/a//b/?x=1&&y",
        "http://127.0.0.1/%2f;p?a=b+c",
    ];
    let lists = [
        (ImportFormat::Urls, urls.join("\n")),
        (ImportFormat::Curl, urls.map(|url| format!("curl '{url}'\n")).concat()),
        (
            ImportFormat::Postman,
            format!(
                r#"{{"item": [{}]}}"#,
                urls.map(|url| format!(r#"{{"request": "{url}"}}"#)).join(",")
            ),
        ),
    ];
    for (format, text) in lists {
        let sent: Vec<String> = requests(format, &text).into_iter().map(|(sent, _)| sent).collect();
        assert_eq!(sent, urls.map(|url| format!("GET {url}")), "{format:?}");
    }
    let plan =
        import(ImportFormat::Curl, "curl \"$URL\"; curl \"$URL/b\"; curl \"$URL?c\"", &options())
            .unwrap();
    for step in ["- get: ${URL}\n", "- get: ${URL}/b\n", "- get: ${URL}?c\n"] {
        assert!(plan.contains(step), "{step}{plan}");
    }
}

#[test]
fn the_password_of_a_certificate_of_curl_is_a_variable() {
    for (arguments, expected) in [
        ("-E c.p12:Zq7Canary", "cert: c.p12"),
        ("--cert c.pem --key k.pem --pass Zq7Canary", "key: k.pem"),
        (r"-E 'c\:d.pem:Zq7Canary' --cert-type P12", "cert: c:d.pem"),
    ] {
        let plan = format!("curl {arguments} https://127.0.0.1/");
        let plan = import(ImportFormat::Curl, &plan, &options()).unwrap();
        for text in [expected, "key_password: ${key_password}", "${env.KEY_PASSWORD}"] {
            assert!(plan.contains(text), "{arguments}: no {text} in\n{plan}");
        }
        assert!(!plan.contains("Canary"), "{plan}");
    }
    let versions = "curl --tlsv1.3 --tls-max 1.3 -E c.pem https://127.0.0.1/";
    let plan = import(ImportFormat::Curl, versions, &options()).unwrap();
    assert!(plan.contains("tls_min: 1.3") && plan.contains("tls_max: 1.3"), "{plan}");
    assert!(!plan.contains("key_password"), "{plan}");
    let two =
        "curl -E c.pem:Zq7Canary https://127.0.0.1/; curl -E c.pem:Zq8Canary https://127.0.0.1/b";
    let plan = import(ImportFormat::Curl, two, &options()).unwrap();
    assert!(!plan.contains("Canary"), "{plan}");
    let token = import(ImportFormat::Curl, "curl -E pkcs11:x https://127.0.0.1/", &options());
    assert!(token.unwrap_err().to_string().contains("write a file in PEM, DER or PKCS #12"));
}

#[test]
fn braces_of_a_body_are_sent_as_they_are() {
    for body in [
        "{{id}}",
        "{uuid} {uuidd} {N}",
        r#"{"a": "{{ x }}", "n": {"n": 1}}"#,
        "{{n}}",
        "{random:x}",
    ] {
        let script = format!("curl http://127.0.0.1/ --data-raw '{body}'");
        let plan = import(ImportFormat::Curl, &script, &options()).unwrap();
        let expected = [("POST http://127.0.0.1/".to_owned(), Body::Text(body.to_owned().into()))];
        let sent = requests(ImportFormat::Curl, &script);
        let sent = sent.into_iter().map(|(line, body)| (line, unescaped(body)));
        assert_eq!(sent.collect::<Vec<_>>(), expected, "{plan}");
    }
}

/// The body that is sent: the plan has a backslash before a brace that would be a placeholder.
fn unescaped(body: Body) -> Body {
    match body {
        Body::Text(text) => Body::Text(text.replace("\\{", "{").into()),
        body => body,
    }
}

#[test]
fn shell_syntax_around_curl_changes_no_request() {
    let script = "\
echo begin
curl http://127.0.0.1/a > a.json && curl -s 2>/dev/null http://127.0.0.1/b -H 'X-A: 1' | \\
  jq '.[] |
    .id' | grep \"$(date)\"
export A=1; curl http://127.0.0.1/c>c.json || exit 1
curl http://127.0.0.1/d -H 'Content-Type: application/json' -d @- <<END | jq .
{
  \"a\": \"b\"
}
END
curl http://127.0.0.1/e --data-binary @- <<'END'
$A
END
curl http://127.0.0.1/f --data-urlencode x@- <<< 'a b'
for i in 1 2; do if ! curl http://127.0.0.1/g; then exit; fi; done
";
    let plan = import(ImportFormat::Curl, script, &options()).unwrap().replace("\n#  ", "");
    let note = "# Left out: commands that are not curl: `echo` (line 1), `exit` (line 5), \
                `for` (line 15), `exit` (line 15), `fi` (line 15), `done` (line 15).";
    assert!(plan.contains(note) && plan.contains("X-A: 1"), "{plan}");
    let text = |text: &str| Body::Text(text.into());
    let expected = [
        ("GET http://127.0.0.1/a", Body::None),
        ("GET http://127.0.0.1/b", Body::None),
        ("GET http://127.0.0.1/c", Body::None),
        ("POST http://127.0.0.1/d", text("{  \"a\": \"b\"}")),
        ("POST http://127.0.0.1/e", text("$A\n")),
        ("POST http://127.0.0.1/f", text("x=a+b%0A")),
        ("GET http://127.0.0.1/g", Body::None),
    ];
    assert_eq!(
        requests(ImportFormat::Curl, script),
        expected.map(|(line, body)| (line.to_owned(), body))
    );
}

#[test]
fn differing_parts_of_a_request_are_reported() {
    let flat = |plan: String| {
        plan.split_whitespace().filter(|word| *word != "#").collect::<Vec<_>>().join(" ")
    };
    let curl = |line: &str| flat(import(ImportFormat::Curl, line, &options()).unwrap());
    let plan = curl("curl \"$BASE/<id>?q={a}\" -g");
    assert!(
        plan.contains("curl asks for /<id>?q={a}, and this plan for /%3Cid%3E?q=%7Ba%7D"),
        "{plan}"
    );
    let plan = curl("curl http://127.0.0.1/ -F \"f=@$FILE\"");
    assert!(
        plan.contains(
            "the type of the part `f` is a guess: curl derives it from the value of $FILE"
        ),
        "{plan}"
    );
    let plan = curl("curl http://127.0.0.1/ -e 'http://127.0.0.1/b?c=d&token=geheim#e'");
    assert!(plan.contains("${base}/b?c=d&token=${token}"), "{plan}");
    let plan = curl(
        "curl -L -X POST http://127.0.0.1/ -H Host: -e 'http://127.0.0.1/a;auto' --resolve $HOST:80:127.0.0.1",
    );
    for note in [
        "Redirects: after 301",
        "left out: -H Host:",
        "left out: ;auto of -e",
        "[\"${HOST}:80:127.0.0.1\"]",
    ] {
        assert!(plan.contains(note), "{note}\n{plan}");
    }
    assert!(!curl("curl -L -d a=b http://127.0.0.1/").contains("Redirects:"));
    let plan = curl("curl http://127.0.0.1/ -H 'Cookie: a=1' -b b=2");
    assert!(!plan.contains("cookie_2"), "{plan}");
    let har = r#"{"log": {"entries": [
        {"request": {"url": "http://127.0.0.1/a", "queryString": [{"name": "q", "value": "x y"}, {"name": "q", "value": ""}]}},
        {"request": {"url": "http://127.0.0.1/b?c={d}", "queryString": [{"name": "c", "value": "{d}"}, {"name": "e", "value": ""}]}},
        {"request": {"method": "POST", "url": "http://127.0.0.1/c", "postData": {"mimeType": "multipart/form-data",
            "params": [{"name": "f", "fileName": "a.pdf", "contentType": "application/pdf", "value": "(binary)"}]}}}]}}"#;
    assert_eq!(requests(ImportFormat::Har, har)[0].0, "GET http://127.0.0.1/a?q=x+y&q=");
    let plan = flat(import(ImportFormat::Har, har, &options()).unwrap());
    for note in [
        "the recording asks for /b?c={d}, and this plan for /b?c=%7Bd%7D",
        "left out: parameters of queryString that the URL does not have: e",
        "`f` was the file a.pdf, whose content is a placeholder; write {file: …, type: application/pdf} to",
    ] {
        assert!(plan.contains(note), "{note}\n{plan}");
    }
    let Body::Text(sent) = &requests(ImportFormat::Har, har)[2].1 else { panic!("{plan}") };
    assert!(
        sent.contains("name=\"f\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\ncontent of a.pdf\r\n"),
        "{plan}"
    );
}

#[test]
fn the_icon_of_a_site_and_its_redirects_are_no_steps() {
    let entry = |url: &str, kind: &str, status: u16, location: &str| {
        format!(
            r#"{{"request": {{"url": "http://127.0.0.1{url}"}}, "_resourceType": "{kind}", "response": {{"status": {status},
            "headers": [{{"name": "Location", "value": "{location}"}}], "content": {{"mimeType": "text/html"}}}}}}"#
        )
    };
    let entries = [
        entry("/", "document", 200, ""),
        entry("/favicon.ico", "other", 302, "/login?next=/favicon.ico"),
        entry("/login?next=/favicon.ico", "other", 302, "/login/form"),
        entry("/login/form", "other", 200, ""),
        entry("/logo.png", "image", 301, "/cdn/logo"),
        entry("/cdn/logo", "other", 200, ""),
        // The same page, opened by the user.
        entry("/login/form", "document", 200, ""),
    ];
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(", "));
    let paths: Vec<String> =
        requests(ImportFormat::Har, &har).into_iter().map(|(request, ..)| request).collect();
    assert_eq!(paths, ["GET http://127.0.0.1/", "GET http://127.0.0.1/login/form"]);
    let plan = import(ImportFormat::Har, &har, &options()).unwrap();
    assert!(plan.contains("--resources keeps (5)"), "{plan}");
}

#[test]
fn secrets_in_forms_of_other_parts_are_hidden() {
    let form =
        "--X\r\nContent-Disposition: form-data; name=\"password\"; x=y\r\n\r\ngeheim\r\n--X--\r\n";
    let line = format!(
        "curl http://127.0.0.1/ -H 'Content-Type: multipart/form-data; boundary=X' --data-binary $'{}'",
        form.replace("\r\n", "\\r\\n")
    );
    let plan = import(ImportFormat::Curl, &line, &options()).unwrap();
    assert!(!plan.contains("geheim"), "{plan}");
    assert_eq!(
        requests(ImportFormat::Curl, &line)[0].1,
        Body::from_text(form.replace("geheim", "<PASSWORD>"))
    );
}

#[test]
fn requests_equal_those_of_postman() {
    let item = |method: &str, rest: &str| {
        format!(
            r#"{{"request": {{"method": "{method}", "url": "http://127.0.0.1/{method}", "body": {{"mode": "raw", "raw": "x"}}}}{rest}}}"#
        )
    };
    let keep = r#", "protocolProfileBehavior": {"disableBodyPruning": true}"#;
    let collection = |items: &[String]| format!(r#"{{"item": [{}]}}"#, items.join(", "));
    let pruned = collection(&[item("GET", ""), item("POST", ""), item("PURGE", keep)]);
    let bodies: Vec<Body> =
        requests(ImportFormat::Postman, &pruned).into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies, [Body::None, Body::Text("x".into()), Body::Text("x".into())]);
    let plan = import(ImportFormat::Postman, &pruned, &options()).unwrap();
    assert!(plan.contains("# left out: the body, which Postman does not send with GET"), "{plan}");
    let with = |auth: &str| {
        let text = format!(
            r#"{{"item": [{{"request": {{"url": "http://127.0.0.1/", "auth": {auth}, "header": [
            {{"key": "Host", "value": "h"}}, {{"key": "Content-Length", "value": "<calculated when request is sent>"}}]}}}}]}}"#
        );
        import(ImportFormat::Postman, &text, &options()).unwrap()
    };
    let digest = with(
        r#"{"type": "digest", "digest": [{"key": "username", "value": "ann"}, {"key": "password", "value": "geheim"}]}"#,
    );
    assert!(digest.contains("digest: ann:${password}") && digest.contains("{Host: h}"), "{digest}");
    let token =
        with(r#"{"type": "oauth2", "oauth2": [{"key": "accessToken", "value": "geheim"}]}"#);
    assert!(token.contains("bearer: ${token}") && !token.contains("geheim"), "{token}");
}

#[test]
fn invalid_header_fields_are_omitted() {
    let line = "curl http://127.0.0.1/ -H 'a b: c' -H $'X: a\\x01b' -H $'Y: a\\tb' -H 'ü: x'";
    assert_eq!(requests(ImportFormat::Curl, line)[0].0, "GET http://127.0.0.1/");
    let plan = import(ImportFormat::Curl, line, &options()).unwrap();
    for name in ["a b", "X", "ü"] {
        let note = format!(
            "# Left out: the header field `{name}` (1), whose name or value HTTP does not allow."
        );
        assert!(plan.contains(&note), "{plan}");
    }
    assert!(plan.contains("Y: "), "{plan}");
}

/// A recording of requests `(URL, fields of the request, reply)`.
fn recording(entries: &[(&str, &str, &str)]) -> String {
    let entries = entries.iter().enumerate().map(|(second, (url, fields, reply))| {
        format!(
            r#"{{"startedDateTime": "2026-01-01T00:00:{second:02}Z", "pageref": "p",
                "request": {{"method": "GET", "url": "http://127.0.0.1{url}"{fields}}}, "response": {{"status": 200, "content": {reply}}}}}"#
        )
    });
    format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.collect::<Vec<_>>().join(","))
}

#[test]
fn no_value_is_used_in_the_group_that_sets_it() {
    let names = r#"{"mimeType": "text/css", "text": "url(q1w2e3r4t5)"}"#;
    let har = recording(&[
        ("/page", "", r#"{"mimeType": "text/html", "text": "<p>"}"#),
        ("/a.css", "", names),
        ("/images/q1w2e3r4t5", "", r#"{"mimeType": "image/png"}"#),
        ("/app.3f2a1b9c.js", "", r#"{"mimeType": "text/javascript"}"#),
        ("/later/q1w2e3r4t5", "", r#"{"mimeType": "text/html"}"#),
    ]);
    let with_resources = ImportOptions { resources: true, ..options() };
    let plan = import(ImportFormat::Har, &har, &with_resources).unwrap();
    for expected in
        ["parallel:", "get: /images/q1w2e3r4t5", "get: /later/q1w2e3r4t5", "/app.3f2a1b9c.js"]
    {
        assert!(plan.contains(expected), "{expected}:\n{plan}");
    }
}

#[test]
fn values_of_other_types_and_encodings_are_kept() {
    let body = |fields: &str| {
        let har = recording(&[("/a", &format!(r#", "postData": {{{fields}}}"#), "{}")]);
        requests(ImportFormat::Har, &har).remove(0).1
    };
    let form = r#""mimeType": "application/x-www-form-urlencoded", "params": [
        {"name": "n", "value": 5}, {"name": "t", "value": true}, {"name": "l", "value": [1]}, {"name": "z", "value": null}]"#;
    assert_eq!(body(form), Body::Text("n=5&t=true&l=%5B1%5D&z=".into()));
    let json = r#""mimeType": "application/json", "text": {"a": 1}"#;
    assert_eq!(body(json), Body::Text(r#"{"a":1}"#.into()));
    let encoded = r#""mimeType": "text/plain", "encoding": "base64", "text": "YWJj""#;
    assert_eq!(body(encoded), Body::Text("abc".into()));
    let bytes = recording(&[(
        "/a",
        r#", "postData": {"mimeType": "x/y", "encoding": "base64", "text": "/w=="}"#,
        "{}",
    )]);
    let plan = import(ImportFormat::Har, &bytes, &options()).unwrap();
    assert!(plan.contains("# left out: the body of 1 bytes, which is no text"), "{plan}");
}

#[test]
fn variables_that_the_shell_sets_are_filled_in() {
    let sent = |text: &str| -> Vec<String> {
        requests(ImportFormat::Curl, text).into_iter().map(|(url, _)| url).collect()
    };
    let text = "export BASE=http://127.0.0.1:1/api ID='a b'\nPAGE=\"$BASE/p\"\ncurl $BASE/x\ncurl \"$PAGE\" -d A=2\nBASE=http://127.0.0.1:2\n\
                curl $BASE/y\nA=1 curl http://127.0.0.1:3/$A";
    let expected = [
        "GET http://127.0.0.1:1/api/x",
        "POST http://127.0.0.1:1/api/p",
        "GET http://127.0.0.1:2/y",
        "GET http://127.0.0.1:3/%3CA%3E",
    ];
    assert_eq!(sent(text), expected);
    let secret = import(
        ImportFormat::Curl,
        "export TOKEN=geheim\ncurl -H \"X: $TOKEN\" http://127.0.0.1/",
        &options(),
    );
    let secret = secret.unwrap();
    assert!(secret.contains("TOKEN: ${env.TOKEN}") && !secret.contains("geheim"), "{secret}");
    // The value is the output of another command.
    let other = import(ImportFormat::Curl, "B=/a\nB=$(date)\ncurl http://127.0.0.1/$B", &options())
        .unwrap();
    assert!(
        other.contains("${env.B}")
            && other.contains("# Left out: commands that are not curl: `B=`"),
        "{other}"
    );
}

#[test]
fn a_value_from_another_curl_command_becomes_an_extractor() {
    let text = "export TOKEN=$(curl -s -d 'u=a' http://127.0.0.1/login | jq -r '.data[0].token')\n\
                ID=`curl http://127.0.0.1/id`\ncurl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1/x/$ID";
    let plan = import(ImportFormat::Curl, text, &options()).unwrap();
    assert!(!plan.contains("Left out") && !plan.contains("env."), "{plan}");
    assert!(plan.contains("post: /login") && plan.contains("get: /id"), "{plan}");
    assert!(plan.contains("TOKEN:") && plan.contains("$.data[0].token"), "{plan}");
    assert!(plan.contains("bearer: ${TOKEN}") && plan.contains("/x/${ID}"), "{plan}");
    // A filter that brunt does not have is named.
    let other = "T=$(curl http://127.0.0.1/a | grep -o x)\ncurl http://127.0.0.1/$T";
    let other = import(ImportFormat::Curl, other, &options()).unwrap();
    assert!(other.contains("# Left out: commands that are not curl: `T=`"), "{other}");
}

#[test]
fn an_environment_of_postman_sets_variables() {
    let collection = r#"{"info": {"name": "n"}, "variable": [{"key": "host", "value": "http://127.0.0.1:1"}],
        "item": [{"name": "a", "request": {"method": "", "url": {"raw": "{{host}}/users/:id/{{kind}}?f={{$randomFirstName}}&d={{$randomIP}}",
        "variable": [{"id": "id", "value": "7"}]}, "header": [{"key": "X-Key", "value": "{{key}}"}]}}]}"#;
    let environment = r#"{"name": "e", "values": [{"key": "host", "value": "http://127.0.0.1:2", "enabled": true},
        {"key": "kind", "value": "new"}, {"key": "kind", "value": "old", "enabled": false},
        {"key": "key", "value": "geheim", "type": "secret"}]}"#;
    let with = |text: &str| {
        let environment = EnvironmentFile { file: "e.json".to_owned(), text: text.to_owned() };
        ImportOptions { environment: Some(environment), ..options() }
    };
    let plan = import(ImportFormat::Postman, collection, &with(environment)).unwrap();
    assert!(plan.contains("http://127.0.0.1:2") && !plan.contains("127.0.0.1:1"), "{plan}");
    assert!(plan.contains("get: /users/7/${kind}") && plan.contains("kind: new"), "{plan}");
    assert!(plan.contains("${chooseRandom(Anna,") && plan.contains("${random(1,223)}."), "{plan}");
    assert!(plan.contains("${env.KEY}") && !plan.contains("geheim"), "{plan}");
    let error = import(ImportFormat::Postman, collection, &with("{}")).unwrap_err().to_string();
    assert!(error.starts_with("e.json") && error.contains("`values` is missing"), "{error}");
}
