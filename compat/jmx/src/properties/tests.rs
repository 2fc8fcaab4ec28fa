use super::*;
use proptest::prelude::*;

fn pairs(text: &str) -> Vec<(String, String)> {
    parse(text).unwrap()
}

/// Java's documentation of `Properties.load` has these cases.
#[test]
fn java_properties_files_are_parsed() {
    let cases: [(&str, &[(&str, &str)]); 9] = [
        ("Truth = Beauty\n Truth:Beauty\nTruth    :Beauty", &[("Truth", "Beauty"); 3]),
        (
            "fruits apple, banana, pear, \\\r\n    cantaloupe\r\n",
            &[("fruits", "apple, banana, pear, cantaloupe")],
        ),
        ("cheeses\n", &[("cheeses", "")]),
        ("# no\n  ! no\n\n \t\na=1#2", &[("a", "1#2")]),
        ("\\:\\=\\ k=v", &[(":= k", "v")]),
        ("a=\\t\\n\\\\x\\q\\u00e9\\ud83d\\uDE00 ", &[("a", "\t\n\\xq\u{e9}\u{1F600} ")]),
        ("a=b\\\\\nc=d", &[("a", "b\\"), ("c", "d")]),
        ("a==b\rb: :c", &[("a", "=b"), ("b", ":c")]),
        ("a\\\n#b=c", &[("a#b", "c")]),
    ];
    for (text, expected) in cases {
        let expected: Vec<_> =
            expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        assert_eq!(pairs(text), expected, "{text}");
    }
}

#[test]
fn broken_escapes_name_their_line() {
    assert_eq!(
        parse("\na=\\u12x4").unwrap_err().to_string(),
        "line 2: `\\u12x4` needs four hexadecimal digits; write `\\\\u` for a backslash"
    );
}

#[test]
fn other_encodings_are_read_as_in_java() {
    assert_eq!(decode("é".as_bytes()), "é");
    assert_eq!(decode(b"\xE9"), "é");
}

#[test]
fn later_sources_override_earlier_ones() {
    let files = |name: &str| -> Option<Vec<u8>> {
        let text = match name {
            "base.properties" => "a=base\nb=base\nuser.properties=mine.properties",
            "mine.properties" => "b=user\nc=user",
            "system.properties" => "s=file",
            "more.properties" => "c=more\nd=more",
            _ => return None,
        };
        Some(text.into())
    };
    let options = |line: &str| CliOptions::parse(line.split(' ').map(str::to_owned)).unwrap();
    let all = RunProperties::load(
        &options("-n -t x.jmx -p base.properties -Jc=first -q more.properties -Jd=last -Ds=own -Ga=1 -Ja"),
        files,
    )
    .unwrap();
    let expected =
        [("b", "user"), ("c", "more"), ("d", "last"), ("user.properties", "mine.properties")];
    assert_eq!(all.jmeter, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    assert_eq!((all.system["s"].as_str(), all.global["a"].as_str()), ("own", "1"));
    let missing = RunProperties::load(&options("-n -t x.jmx -q none.properties"), files)
        .unwrap_err()
        .to_string();
    assert_eq!(missing, "`-q none.properties`: the file cannot be read");
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>(), odd in "[\\\\=: \nua0#!é]{0,30}") {
        let _ = (parse(&text), parse(&odd));
    }
}
