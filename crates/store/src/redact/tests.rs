mod generated;
mod planted;

use super::*;
use brunt_model::Plan;

const CANARY: &str = "Zq7CanarY9x";

fn redactor() -> Redactor {
    Redactor::new(b"a key of tests")
}

/// A function that redacts a text.
type Redaction = fn(&Redactor, &str) -> String;

/// Texts of one form, each separate. `%` is replaced by the secret.
fn finds(redact: Redaction, texts: &[&str]) {
    for text in texts {
        let shown = redact(&redactor(), &text.replace('%', CANARY));
        assert!(!shown.contains(CANARY) && shown.contains(REDACTED), "{text}: {shown}");
        assert_eq!(
            redact(&redactor(), &shown),
            shown,
            "redaction of redacted data changes nothing"
        );
    }
}

#[test]
fn free_text_loses_credentials_and_fields_of_data() {
    finds(
        Redactor::text,
        &[
            "http://anna:%@h/x",
            "http://%@h/x",
            "https://%:@api.h/x",
            "http://h/x?token=%",
            "http://h/x?a=1&access_token=%&b=2",
            "http://h/x?key=%",
            "http://h/x#id_token=%",
            "http://h/x;jsessionid=%?a=1",
            "/x?sig=%",
            "http://h/?to=http://i/?password=%",
            "\"password\": \"%\"",
            "{\"user\": {\"name\": \"anna\", \"api_key\": \"%\"}}",
            "{\"list\": [{\"password\":\"%\"}]}",
            "{\"tokens\": 5, \"refreshToken\": [\"%\", \"b\"]}",
            "<soap:Password type=\"x\">%</soap:Password>",
            "Authorization: Bearer %",
            "header: Cookie: sid=%; theme=dark",
            "Set-Cookie: sid=%; Path=/; HttpOnly",
            "sent Bearer % to it",
        ],
    );
}

#[test]
fn urls_lose_authorization_codes() {
    finds(
        Redactor::url,
        &["http://h/cb?code=%&state=1", "/x?sig=%", "http://h/?to=http://i/?password=%"],
    );
}

#[test]
fn bodies_lose_the_values_of_secret_fields() {
    finds(
        Redactor::body,
        &[
            "user=anna&password=%&x=1",
            "password=%",
            "grant_type=authorization_code&code=%",
            "{\"a\": 1, \"password\": \"%\"}",
            "--f\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n%\r\n--f--",
            "user: anna\npassword: %\n",
        ],
    );
}

#[test]
fn plan_files_lose_the_values_of_secret_keys() {
    finds(
        Redactor::plan_text,
        &[
            "    X-Auth-Token: \"%\"",
            "  headers: {X-Api-Key: %}",
            "vars:\n  secret: %\n  rate: 5",
            "    - password: % # of anna\n",
            "basic: anna:%\n",
            "bearer: %",
            "set: {rate: 5, token: %}",
            "run: DB_PASSWORD=% ./server",
            "before: [\"curl -H 'X-Api-Key: %' http://h/\"]",
        ],
    );
}

#[test]
fn commands_lose_their_secrets() {
    finds(
        Redactor::shell,
        &[
            "curl -H 'X-Api-Key: %' http://h/",
            "DB_PASSWORD=% ./server",
            "curl -u anna:% http://h/",
            "login --password % --user anna",
            "login --token=% && echo done",
        ],
    );
}

#[test]
fn the_password_of_influxdb_is_redacted_and_pages_are_not() {
    let command = "brunt 'http://h/?p=2' -o 'influx=http://h/write?db=x&p=hunter2'";
    let redacted = redactor().command(command);
    assert!(redacted.contains("http://h/?p=2") && !redacted.contains("hunter2"), "{redacted}");
    assert!(redacted.contains("db=x&p=redacted:"), "{redacted}");
}

#[test]
fn messages_and_names_are_unchanged() {
    for text in [
        "plan.yaml:6:13: form.password: ${env.PASSWORD}: the environment variable PASSWORD is not set",
        "my-auth-plan.yaml:6:13: load.rate: `x`: not a number",
        "auth-flow: log in, then buy",
        "variables.token: expected a text; write `token: TEXT`",
        "http://127.0.0.1:8080/a/b?page=2&sort=name",
        "GET /status?code=404",
        "exit code=1, key=up",
        "the server closed 5 connections: basic authentication was not asked for",
        "name: e1\nload:\n  rate: 100\nconnection:\n  key: key.pem\n",
        "{\"max_tokens\": 100, \"author\": \"x\", \"code\": 5, \"key\": \"a\"}",
        "X-Author: anna",
        "Authorization: Bearer ${env:TOKEN}",
        "write --bearer TOKEN, or Authorization: Bearer <token>",
        "http://h/?token={csv:tokens.csv:t}",
        "GET http://h/ and POST http://h/",
    ] {
        assert_eq!(redactor().text(text), text);
        assert_eq!(redactor().label(text), text);
    }
    let plan = "scenario:\n- get: /a\n  label: \"auth-flow: a\"\n  extract: {token: $.auth.token}\nchecks: {status: 200}\n";
    assert_eq!(redactor().plan_text(plan), plan);
}

#[test]
fn headers_without_secrets_are_unchanged() {
    let of = |name, value| {
        redactor()
            .header(name, value)
            .replace(|c: char| c.is_ascii_hexdigit() && c.is_ascii_digit(), "#")
    };
    assert!(of("Authorization", "Bearer abc").starts_with("Bearer redacted:"));
    assert!(of("cookie", "a=1; b=2").starts_with("a=redacted:"));
    assert_eq!(redactor().header("Accept", "text/html"), "text/html");
    assert!(redactor().header("Set-Cookie", "a=1; Path=/").ends_with("; Path=/"));
}

#[test]
fn command_lines_are_redacted_by_their_options() {
    for words in [
        &["brunt", "http://h/", "-H", "X-Api-Key: %"][..],
        &["brunt", "http://h/", "-HX-Api-Key: %"],
        &["brunt", "http://h/", "--header=Authorization: Bearer %"],
        &["brunt", "http://h/", "--basic", "anna:%"],
        &["brunt", "http://h/", "--basic=anna:%"],
        &["brunt", "http://h/", "--bearer=%"],
        &["brunt", "http://h/", "--cookie", "sid=%"],
        &["brunt", "http://h/", "--data", "password=%"],
        &["brunt", "http://h/", "--form", "password=%"],
        &["brunt", "http://h/", "--data", "{\"password\": \"a, b %\"}"],
        &["brunt", "anna:%@h/x"],
        &["brunt", "compare", "A=http://anna:%@h/", "B=http://h/?token=%"],
        &["brunt", "run", "plan.yaml", "--set", "token=%"],
        &["brunt", "http://h/", "--proxy", "http://u:%@p:1/"],
        &["brunt", "ab", "-A", "anna:%", "-Cs=%", "-P", "a:%", "http://h/"],
        &[
            "httperf",
            "--server",
            "h",
            "--add-header",
            "Authorization: Bearer %\\n",
            "--uri",
            "/x?token=%",
        ],
        &["siege", "-H", "Cookie: a=%", "http://h/"],
        &["brunt", "jmeter", "-n", "-t", "my-auth-plan.jmx", "-Jpassword=%"],
        &["brunt", "jmeter", "-J", "api.token=%"],
        &["brunt", "run", "plan.yaml", "--set=variables.password=%"],
        &["brunt", "http://h/", "--json", "{\"token\": \"%\"}"],
    ] {
        let words: Vec<String> = words.iter().map(|word| word.replace('%', CANARY)).collect();
        let shown = redactor().command(&shell_words(words.clone()));
        assert!(!shown.contains(CANARY) && shown.contains(REDACTED), "{words:?}: {shown}");
    }
    let same = "brunt http://h/ --key=key.pem --header-file=h.txt -H @h.txt --bearer @t '--basic=${env:USER}' -c 5";
    let of = redactor();
    assert!(
        of.command(same)
            .starts_with("brunt http://h/ --key=key.pem --header-file=h.txt -H @h.txt --bearer @t")
    );
}

#[test]
fn equal_secrets_have_equal_hashes_by_their_key() {
    let (ours, theirs) = (redactor(), Redactor::with_random_key());
    assert_eq!(ours.secret(CANARY), ours.secret(CANARY));
    assert_ne!(ours.secret(CANARY), ours.secret("another"));
    assert_ne!(ours.secret(CANARY), theirs.secret(CANARY));
    assert_eq!(ours.secret(&ours.secret(CANARY)), ours.secret(CANARY));
}

#[test]
fn a_known_secret_is_found_in_free_text() {
    let of = redactor();
    of.header("X-Api-Key", CANARY);
    assert!(!of.text(&format!("vars:\n  mine: {CANARY}\n")).contains(CANARY));
    assert_eq!(of.text("nothing of it"), "nothing of it");
}

fn plan(port: u16, token: &str) -> Plan {
    let text = format!(
        r#"{{"populations": [{{"name": "main", "scenario": {{"requests": [{{"label": "/", "method": "GET",
        "url": "http://h:{port}/?key={token}", "headers": [["X-Api-Key", "{token}"], ["Cookie", "a={token}-c"]], "body": {{"text": "password={token}-b"}}, "weight": 1}}],
        "steps": [{{"next": "sequence"}}]}},
        "load": {{"model": "open", "rate": {{"stages": [{{"from": 0.5, "to": 2.0, "duration_seconds": 1.0}}]}},
        "arrivals": {{"burst": 3}}, "connections": null, "max_in_flight": 9}},
        "stop": {{"warmup_seconds": 0.0, "duration_seconds": 1.0, "requests": null, "grace_seconds": 5.0}}}}],
        "connection": {{"http": "1.1", "requests_per_connection": 1, "retry_stale": true, "timeout_seconds": 30.0,
        "connect_timeout_seconds": 10.0, "connect_rate": 5000, "resolve": [], "resolve_every_seconds": null,
        "proxy": null, "unix_socket": null, "source": [], "receive_rate": null, "tls":
        {{"cacert": null, "cert": null, "key": null, "insecure": true, "sni": null, "no_resumption": false}}}},
        "reply_policies": [{{"checks": {{"status": [], "body": null, "same_length": false}}}}], "objectives": [],
        "record": {{"interval_seconds": 0.1, "labels": 1000, "samples": false}}, "seed": 7, "threads": 1, "processes": 1, "precise": false}}"#
    );
    serde_json::from_str(&text).unwrap()
}

#[test]
fn secrets_are_put_back_before_a_plan_is_sent_again() {
    let mut stored = plan(80, CANARY);
    redactor().plan(&mut stored);
    assert!(!serde_json::to_string(&stored).unwrap().contains(CANARY));
    // Another port with the same secret, and a secret that was changed in the meantime.
    for asked in [plan(81, CANARY), plan(80, "changed-meanwhile")] {
        let restored = redactor().restored(&stored, &asked, Redactor::plan).unwrap();
        assert_eq!(
            restored.main().scenario.requests[0].headers,
            asked.main().scenario.requests[0].headers
        );
        assert_eq!(
            restored.main().scenario.requests[0].body,
            asked.main().scenario.requests[0].body
        );
        assert!(restored.main().scenario.requests[0].url.starts_with("http://h:80/?key="));
        assert!(restore::redacted_places(&restored).is_empty());
    }
}

#[test]
fn long_bodies_are_omitted_and_named_as_missing() {
    let texts = |length: usize| {
        let text = "x".repeat(length);
        [brunt_model::Body::from_text(text.clone()), brunt_model::Body::from_bytes(text.into())]
    };
    for length in [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20] {
        for body in texts(length) {
            let mut stored = plan(80, CANARY);
            stored.main_mut().scenario.requests[0].headers.clear();
            stored.main_mut().scenario.requests[0].url = "http://h:80/".into();
            stored.main_mut().scenario.requests[0].body = body.clone();
            let asked = stored.clone();
            redactor().plan(&mut stored);
            let is_omitted = length > 1 << 20;
            let size = serde_json::to_string(&stored).unwrap().len();
            assert_eq!(size < length, is_omitted, "{length}");
            let missing: &[&str] = if is_omitted { &["body"] } else { &[] };
            assert_eq!(restore::redacted_places(&stored), missing);
            // Equal bodies have equal digests, so that stored plans can be compared.
            let mut again = asked.clone();
            redactor().plan(&mut again);
            assert_eq!(again, stored);
        }
    }
}

#[test]
fn a_secret_that_is_missing_is_named() {
    let mut stored = plan(80, CANARY);
    redactor().plan(&mut stored);
    let mut asked = plan(80, CANARY);
    asked.main_mut().scenario.requests[0].headers.clear();
    asked.main_mut().scenario.requests[0].body = brunt_model::Body::None;
    asked.main_mut().scenario.requests[0].url = "http://h:80/".into();
    let missing = redactor().restored(&stored, &asked, Redactor::plan).unwrap_err();
    assert_eq!(missing, ["url", "header `X-Api-Key`", "header `Cookie`", "body"]);
    assert_eq!(restore::redacted_places(&stored), missing);
}

#[test]
fn requests_as_they_are_sent_are_redacted_too() {
    let bytes = format!(
        "POST /x?token={CANARY} HTTP/1.0\r\nCookie: a={CANARY}\r\nHost: h\r\n\r\npassword={CANARY}"
    );
    let shown = String::from_utf8(redactor().request(bytes.as_bytes())).unwrap();
    assert!(
        !shown.contains(CANARY) && shown.contains("Host: h\r\n\r\npassword=redacted:"),
        "{shown}"
    );
}

#[test]
fn a_shown_sample_contains_no_secret() {
    use brunt_model::record::{EvaluationKind, SampleTrace, TracedEvaluation, VariableChange};
    let redactor = Redactor::with_random_key();
    redactor.secret("hunter2hunter2");
    let told = || "says hunter2hunter2".to_owned();
    let look = |by, is_good| TracedEvaluation {
        by,
        name: "a".into(),
        wanted: told(),
        found: told(),
        is_good,
    };
    let trace = SampleTrace {
        request:
            "POST /login HTTP/1.1\r\nCookie: session=abcdefghij\r\n\r\npassword=hunter2hunter2"
                .into(),
        notes: vec![told()],
        changed: vec![VariableChange {
            name: "token".into(),
            from: None,
            to: Some("abcdefghij".into()),
        }],
        evaluations: vec![
            look(EvaluationKind::Extractor, true),
            look(EvaluationKind::Extractor, false),
            look(EvaluationKind::Check, true),
        ],
        ..SampleTrace::default()
    };
    let mut record = brunt_model::SampleRecord {
        failure_message: Some(told()),
        trace: Some(Box::new(trace)),
        ..brunt_model::SampleRecord::default()
    };
    record.details.response_headers =
        Some("HTTP/1.1 200 OK\nSet-Cookie: session=abcdefghij; Path=/\n".into());
    record.details.body = Some(told());
    record.details.query = Some(told());
    record.details.cookies = Some("session=abcdefghij".into());
    record.details.request_headers = Some("Cookie: session=abcdefghij\n".into());
    record.details.redirect_location = Some("/next?token=abcdefghij".into());
    record.url = Some("http://a.example/?token=abcdefghij".into());
    record.message = told();
    record.variables = vec![told()];
    record.assertions = vec![brunt_model::AssertionRecord {
        message: Some(told()),
        ..brunt_model::AssertionRecord::default()
    }];
    record.sub_results = vec![record.clone()];
    redactor.record(&mut record);
    let shown = format!("{record:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("abcdefghij"), "{shown}");
}

#[test]
fn inherited_variables_and_stages_are_redacted() {
    use brunt_model::{StageKind, TestStage};
    let mut asked = plan(80, "");
    asked.main_mut().scenario.inherited_variables.values =
        vec![("sid".into(), CANARY.into()), ("unset".into(), String::new())];
    let stage = TestStage {
        kind: StageKind::Setup,
        plan: plan(80, CANARY),
        runs_after_stop: true,
        places: Vec::new(),
    };
    asked.stages.push(stage);
    redactor().plan(&mut asked);
    assert!(!format!("{asked:?}").contains(CANARY), "{asked:?}");
    assert_eq!(asked.main().scenario.inherited_variables.values[1].1, "");
}
