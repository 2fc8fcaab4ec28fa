//! Requests that are drawn at random, written, and read again are the same.

use super::*;
use crate::plan::{BodyPiece, ImportedBody, MultipartPart, Variable};
use crate::text::variable;
use brunt_model::extract::{ExtractFrom, Extractor};
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::{Pauses, ScenarioStep};
use brunt_model::{Body, Plan, Request};
use brunt_script::expression::{self, TextPart};
use brunt_script::template::{Piece, pieces};
use brunt_spec::System;
use brunt_spec::plan_file::load;
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::Value;
use url::Url;

/// Value of all variables. It is the same in a URL, in a form, and in JSON.
const VALUE: &str = "V";

/// A text with a variable of the plan, or of the user, or without any.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => r"[-$\\{}#:,'\[\]&*!|>%@`~a-z0-9=?+;/. é\u{22}]{0,8}",
        1 => Just("${user}".to_owned()),
        1 => Just("$${fixed}".to_owned()),
        1 => Just("{n}".to_owned()),
        2 => Just(variable("user")),
        2 => Just(variable("fixed")),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// The text that is expected, with the values of variables.
fn expected(text: &str) -> String {
    let pieces = text::pieces(text).into_iter();
    let parts = pieces.map(|piece| match piece {
        TextPiece::Literal(text) => text,
        TextPiece::Variable(_) => VALUE,
    });
    parts.collect()
}

/// The text that a run sends.
fn sent(text: &str) -> String {
    if !text.contains("${") {
        return without_backslashes(text);
    }
    let parts = expression::parse(text).into_iter().map(|part| match part {
        TextPart::Literal(text) => without_backslashes(&text),
        TextPart::Variable { .. } | TextPart::Call { .. } => VALUE.to_owned(),
    });
    parts.collect()
}

fn without_backslashes(text: &str) -> String {
    let parts = pieces(text).expect("placeholders").into_iter().map(|piece| match piece {
        Piece::Literal(text) => text.to_owned(),
        Piece::Placeholder(text) => format!("<{text}>"),
    });
    parts.collect()
}

fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((text(), text()), 1..4)
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn body() -> impl Strategy<Value = ImportedBody> {
    let part = prop_oneof![
        text().prop_map(MultipartPart::Text),
        text().prop_map(|text| MultipartPart::TypedText { text, kind: "text/plain".to_owned() }),
        text().prop_map(|text| MultipartPart::SentFile {
            text,
            filename: "a.txt".to_owned(),
            kind: None
        }),
    ];
    prop_oneof![
        Just(ImportedBody::None),
        text().prop_map(ImportedBody::Text),
        prop::collection::vec(text().prop_map(BodyPiece::Text), 1..3)
            .prop_map(ImportedBody::Pieces),
        json_value().prop_map(|value| ImportedBody::Json(value, None)),
        fields().prop_map(|fields| ImportedBody::Form(fields, None)),
        prop::collection::vec(("[a-z]{1,3}", part), 1..4).prop_map(ImportedBody::Multipart),
    ]
}

fn request() -> impl Strategy<Value = ImportedRequest> {
    let method = prop_oneof![Just("GET"), Just("POST"), Just("PURGE"), Just("get")];
    let query = prop_oneof![Just(Vec::new()), fields()];
    // Readers put no variables into extractors.
    let between = (text(), text()).prop_map(|(left, right)| (expected(&left), expected(&right)));
    (method, text(), query, text(), body(), prop::option::of(text()), between).prop_map(
        |(method, path, query, field, body, name, (left, right))| ImportedRequest {
            name,
            method: method.to_owned(),
            server: "http://127.0.0.1:1".to_owned(),
            path: format!("/p{}", text::encode_part(&path)),
            query,
            headers: vec![("X-Field".to_owned(), field)],
            body,
            extract: vec![Extractor::new("user", ExtractFrom::Boundary { left, right })],
            ..ImportedRequest::default()
        },
    )
}

fn read_again(plan: &ImportedPlan) -> (String, Plan) {
    let text = yaml(plan, "input").expect("a plan");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, &text).expect("a file");
    let system = System { environment: |_| None, ..System::bare(20_000, 4, Some(28_232), 99) };
    let loaded =
        load(&path, &[], "/tmp/d", &system).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let planned = loaded.experiment.contenders[0].steps[0].plan.clone();
    (text, planned)
}

fn decoded_fields(encoded: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(encoded.as_bytes()).into_owned().collect()
}

fn expected_fields(fields: &[(String, String)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| (expected(name), expected(value))).collect()
}

fn expected_json(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(expected(text)),
        Value::Array(items) => items.iter().map(expected_json).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(name, value)| (expected(name), expected_json(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn check_body(imported: &ImportedBody, body: &Body, plan: &str) {
    let body = match body {
        Body::None => None,
        Body::Text(text) => Some(sent(text)),
        other => panic!("{other:?}\n{plan}"),
    };
    match imported {
        ImportedBody::None => assert_eq!(body, None, "{plan}"),
        ImportedBody::Text(text) => assert_eq!(body, Some(expected(text)), "{plan}"),
        ImportedBody::Pieces(pieces) => {
            let texts = pieces.iter().map(|piece| match piece {
                BodyPiece::Text(text) => expected(text),
                BodyPiece::File { .. } => String::new(),
            });
            assert_eq!(body, Some(texts.collect()), "{plan}");
        }
        ImportedBody::Json(value, _) => {
            let read: Value = serde_json::from_str(&body.expect("a body")).expect("JSON");
            assert_eq!(read, expected_json(value), "{plan}");
        }
        ImportedBody::Form(fields, _) => {
            assert_eq!(decoded_fields(&body.expect("a body")), expected_fields(fields), "{plan}");
        }
        ImportedBody::Multipart(parts) => {
            let body = body.expect("a body");
            let contents: Vec<&str> = body
                .split("\r\n\r\n")
                .skip(1)
                .map(|rest| rest.rsplit_once("\r\n--").map_or(rest, |(content, _)| content))
                .collect();
            let texts: Vec<String> = parts
                .iter()
                .map(|(_, part)| match part {
                    MultipartPart::Text(text)
                    | MultipartPart::TypedText { text, .. }
                    | MultipartPart::SentFile { text, .. } => expected(text),
                    MultipartPart::File { .. } => String::new(),
                })
                .collect();
            assert_eq!(contents, texts, "{plan}");
        }
        ImportedBody::File(_) => {}
    }
}

fn check(imported: &ImportedRequest, request: &Request, plan: &str) {
    assert_eq!(request.method, imported.method, "{plan}");
    let url = Url::parse(&sent(&request.url)).expect("a URL");
    let path = percent_decode_str(&imported.path).decode_utf8_lossy();
    let read = percent_decode_str(url.path()).decode_utf8_lossy();
    assert_eq!(read, expected(&path), "{plan}");
    let query = decoded_fields(url.query().unwrap_or_default());
    assert_eq!(query, expected_fields(&imported.query), "{plan}");
    let field = request.headers.iter().find(|(name, _)| name == "X-Field").expect("a field");
    assert_eq!(sent(&field.1), expected(imported.headers[0].1.trim()), "{plan}");
    check_body(&imported.body, &request.body, plan);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn written_requests_are_read_back(
        all in prop::collection::vec(request(), 1..4),
        names in (text(), text()),
        comment: String,
    ) {
        let mut plan = ImportedPlan {
            vars: vec![Variable {
                name: "fixed".to_owned(),
                value: Constant::Text(VALUE.to_owned()),
                comment: comment.clone(),
            }],
            user_vars: vec![("user".to_owned(), VALUE.to_owned())],
            notes: vec![comment.clone()],
            ..ImportedPlan::default()
        };
        let steps: Vec<ScenarioStep> =
            all.iter().map(|one| plan.requests.add(vec![comment.clone()], one.clone())).collect();
        let steps = vec![ScenarioStep::Group { name: names.0, steps }];
        plan.steps = vec![
            plan.requests.add_comments(vec![comment]),
            ScenarioStep::Transaction { name: names.1, pauses: Pauses::Excluded, parent: false, steps },
        ];
        let (text, planned) = read_again(&plan);
        let requests = &planned.main().scenario.requests;
        prop_assert_eq!(requests.len(), all.len(), "{}", text);
        for (imported, request) in all.iter().zip(requests) {
            check(imported, request, &text);
            let policy = &planned.reply_policies[request.reply_policy as usize];
            let ReplyAction::Extract(extractor) = &policy.actions[0] else { panic!("{text}") };
            let ExtractFrom::Boundary { left, right } = &extractor.from else { panic!("{text}") };
            let ExtractFrom::Boundary { left: a, right: b } = &imported.extract[0].from else { panic!() };
            prop_assert_eq!([sent_pattern(left), sent_pattern(right)], [a.clone(), b.clone()], "{}", text);
        }
    }
}

/// A text of an extractor as it is searched for. It has no placeholders.
fn sent_pattern(text: &str) -> String {
    let parts = expression::parse(text).into_iter().map(|part| match part {
        TextPart::Literal(text) => text,
        TextPart::Variable { .. } | TextPart::Call { .. } => VALUE.to_owned(),
    });
    parts.collect()
}
