use super::*;
use crate::texts::script::Languages;
use brunt_model::scenario::TextRules;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::io::Write as _;

fn rendered_in(text: &str, place: TextPosition, n: u64) -> String {
    let mut feeds = Feeds::default();
    let template = Template::compile(text, place, &mut feeds).unwrap();
    let mut out = String::new();
    let rng = &mut Pcg64Mcg::seed_from_u64(7);
    template.render(&mut RenderContext { n, rng, feeds: &feeds, user: None }, &mut out);
    out
}

fn rendered(text: &str, n: u64) -> String {
    rendered_in(text, TextPosition::Text, n)
}

#[test]
fn only_placeholders_are_replaced() {
    for (text, becomes) in [
        ("", ""),
        ("plain", "plain"),
        ("/item/{n}?again={n}", "/item/42?again=42"),
        ("{{n}}", "{42}"),
        (r"\{n}", "{n}"),
        (r"a\{n}b{n}", "a{n}b42"),
        (r"\{random:nonsense}", "{random:nonsense}"),
        (r"\\{n}", r"\{n}"),
        (r"\{x}\", r"\{x}\"),
        (r"\{{id}}", "{{id}}"),
        ("{{}} {{1}} {{a b}} {{x} }", "{{}} {{1}} {{a b}} {{x} }"),
        (r#"{"n": {n}, "deep": {"uuid": 1}}"#, r#"{"n": 42, "deep": {"uuid": 1}}"#),
        ("{ n } {name} {random} {csv} {uuid", "{ n } {name} {random} {csv} {uuid"),
        ("{random:5..5}{random:-3..-3}", "5-3"),
        ("ß{n}ß", "ß42ß"),
        ("{", "{"),
        (r"\", r"\"),
    ] {
        assert_eq!(rendered(text, 42), becomes, "{text}");
    }
}

#[test]
fn constant_texts_are_recognized() {
    let mut feeds = Feeds::default();
    let mut compile = |text| Template::compile(text, TextPosition::Text, &mut feeds).unwrap();
    assert_eq!(compile("").as_constant(), Some(""));
    assert_eq!(compile(r#"{"a": 1}"#).as_constant(), Some(r#"{"a": 1}"#));
    assert_eq!(compile(r"a\{n}b").as_constant(), Some("a{n}b"));
    assert!(compile("a").is_constant());
    assert!(!compile("{n}").is_constant());
    assert!(
        has_placeholders("a{uuid}")
            && has_placeholders("{random:")
            && !has_placeholders(r"{a}\{n}")
    );
}

#[test]
fn uuids_are_of_version_4_and_come_from_the_seed() {
    let both = rendered("{uuid} {uuid}", 0);
    let (a, b) = both.split_once(' ').unwrap();
    assert_ne!(a, b);
    assert_eq!(both, rendered("{uuid} {uuid}", 1));
    for uuid in [a, b] {
        let lengths: Vec<_> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&uuid[14..15], "4");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }
}

#[test]
fn random_numbers_include_both_bounds() {
    let all = rendered(&"{random:1..3} ".repeat(200), 0);
    for value in ["1", "2", "3"] {
        assert!(all.split(' ').any(|v| v == value));
    }
    assert!(all.split_whitespace().all(|v| ["1", "2", "3"].contains(&v)));
    rendered("{random:-9223372036854775808..9223372036854775807}", 0);
}

#[test]
fn cells_are_encoded_by_their_position() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all("name,age\nJo ß#,1\na/b?c=1&d=%20,2\n".as_bytes()).unwrap();
    let text = format!("{{csv:{0}:name}}/{{csv:{0}:age}}", file.path().display());
    assert_eq!(rendered_in(&text, TextPosition::Url, 0), "Jo%20%C3%9F%23/1");
    assert_eq!(rendered_in(&text, TextPosition::Url, 3), "a/b?c=1&d=%20/2");
    assert_eq!(rendered_in(&text, TextPosition::Text, 0), "Jo ß#/1");
    let header = |v: &str| [("content-TYPE".to_owned(), v.to_owned())];
    assert_eq!(
        TextPosition::of_body(&header("application/x-www-form-urlencoded; charset=utf-8")),
        TextPosition::Url
    );
    assert_eq!(TextPosition::of_body(&header("application/json")), TextPosition::Text);
}

#[test]
fn line_breaks_in_cells_are_refused_in_headers() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"ok\n\"a\r\nEvil: 1\"\n").unwrap();
    let text = format!("{{csv:{}:1}}", file.path().display());
    let told = Template::compile(&text, TextPosition::Header, &mut Feeds::default())
        .unwrap_err()
        .to_string();
    assert!(told.contains("write the cell without it"), "{told}");
    assert!(Template::compile(&text, TextPosition::Text, &mut Feeds::default()).is_ok());
}

#[test]
fn errors_of_malformed_placeholders_show_valid_ones() {
    for (text, remedy) in [
        (
            "{random:9..1}",
            "the lower number comes first; write {random:1..100}, or \\{random:9..1} for plain text",
        ),
        ("{random:}", "two whole numbers are needed; write {random:1..100}"),
        ("{random:1-5}", "write {random:1..100}"),
        ("{random:0.5..1}", "write {random:1..100}"),
        ("a {random:1..5", "its `}` is missing; write {random:1..100}"),
        ("{csv:users.csv}", "a file and a column are needed; write {csv:users.csv:name}"),
        ("{csv::a}", "write {csv:users.csv:name}"),
        ("{csv:/no/such.csv:a}", "cannot read /no/such.csv"),
        (r#"{"id": {uuidd}}"#, r"unknown placeholder; write {uuid}, or \{uuidd} for plain text"),
        ("{randm:1..9}", "write {random:1..9}"),
        ("{N}", "write {n}"),
        ("{CSV:a.csv:b}", "write {csv:FILE:column}"),
        (
            r#"{"id": "{{id}}"}"#,
            r"`{{id}}`: no placeholder has double braces; write {csv:FILE:column}, {n} or {uuid}, or ${name} in a scenario, or \{{id}} for plain text",
        ),
        ("{{ user.name }}", "no placeholder has double braces"),
        ("{{$guid}}", "no placeholder has double braces"),
    ] {
        let told = Template::compile(text, TextPosition::Text, &mut Feeds::default())
            .unwrap_err()
            .to_string();
        assert!(told.contains(remedy), "{text}: {told}");
    }
}

#[test]
fn braces_that_are_far_from_a_placeholder_are_literal() {
    for text in [
        r#"{"n": 1, "uuid": {"a": {}}}"#,
        "query {user {id name}} {x} {user} {car:1} {bar: 2}",
        r"\\d{2,3} {uuid4: 1}",
    ] {
        assert_eq!(rendered(text, 0), text);
    }
    assert_eq!(rendered(r"\{N} \{uuidd} \{{id}}", 0), "{N} {uuidd} {{id}}");
}

#[test]
fn encoding_does_not_change_placeholders() {
    assert_eq!(encode_url("/a b/{n}?x={y}&z={uuid}").unwrap(), "/a%20b/{n}?x=%7By%7D&z={uuid}");
    assert_eq!(encode_url(r"/\{n}").unwrap(), "/%7Bn%7D");
    assert_eq!(encode_form("a b&c={n}").unwrap(), "a+b%26c%3D{n}");
}

proptest! {
    #[test]
    fn nothing_panics(text: String) {
        let _ = Template::compile(&text, TextPosition::Url, &mut Feeds::default());
        let _ = (has_placeholders(&text), encode_url(&text), encode_form(&text));
    }

    #[test]
    fn texts_similar_to_placeholders_do_not_panic(text in r"(\\|\{|\}|n|uuid|random:|csv:|\.\.|[0-9ß]){0,12}") {
        let _ = Template::compile(&text, TextPosition::Header, &mut Feeds::default());
    }

    #[test]
    fn a_text_without_braces_is_unchanged(text in r"[^{]*") {
        prop_assert_eq!(rendered(&text, 1), text);
    }
}

/// Returns the text of JSON stretches, for a user with this value of the variable `v`.
fn json_of(stretches: &[TextPart], value: &str) -> serde_json::Value {
    let user = crate::testing::user();
    user.variables.borrow_mut().set("v", value);
    let mut feeds = Feeds::with_variables(
        TextRules::Expressions,
        crate::texts::variables::VariableNames::default(),
        Languages::CORE,
    );
    let template =
        Template::compile(&expression_text(stretches), TextPosition::Text, &mut feeds).unwrap();
    let rng = &mut Pcg64Mcg::seed_from_u64(7);
    let text = template.text(&mut RenderContext { n: 42, rng, feeds: &feeds, user: Some(&user) });
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

proptest! {
    #[test]
    fn texts_in_json_may_contain_any_value(before in r#"[a-z"\\$ \n]{0,6}"#, value in r#"[a-z0-9"\\{}$\n,]{0,8}"#) {
        let written = format!("{}${{V(v)}}", before.replace('\\', r"\\").replace('$', r"\$"));
        prop_assert_eq!(json_of(&json_text_stretches(&written), &value), format!("{before}{value}"));
    }

    #[test]
    fn a_single_expression_in_json_has_the_type_of_its_value(number: i32, is_true: bool, text in r#"[a-z"\\\[ ]{0,6}"#) {
        let stretch = [json_value_stretch("${V(v)}").unwrap()];
        prop_assert_eq!(json_of(&stretch, &number.to_string()), number);
        prop_assert_eq!(json_of(&stretch, &is_true.to_string()), is_true);
        let expected = serde_json::from_str(&text).ok().filter(|value: &serde_json::Value| !value.is_string());
        prop_assert_eq!(json_of(&stretch, &text), expected.unwrap_or_else(|| text.as_str().into()));
    }
}

#[test]
fn json_has_lists_null_and_placeholders() {
    let stretch = [json_value_stretch("${V(v)}").unwrap()];
    for value in ["null", "[1, \"a\"]", "{\"a\": 1}"] {
        assert_eq!(
            json_of(&stretch, value),
            serde_json::from_str::<serde_json::Value>(value).unwrap()
        );
    }
    assert_eq!(json_of(&stretch, "01234"), "01234");
    assert_eq!(json_of(&json_text_stretches(r#"{n} \{n} "${V(v)}""#), "é"), r#"42 {n} "é""#);
    assert!(json_value_stretch("a").is_none() && json_value_stretch("${a}${b}").is_none());
}
