//! Tests 20,000 random texts: none with a secret shows it, and none without one changes.

use crate::Redactor;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// Words of names, paths and messages, many of which look like names of secrets.
const WORDS: [&str; 23] = [
    "auth",
    "token",
    "login",
    "session",
    "code",
    "key",
    "cookie",
    "password",
    "secret",
    "bearer",
    "basic",
    "flow",
    "plan",
    "checkout",
    "signature",
    "pin",
    "pass",
    "user",
    "oauth",
    "api",
    "rate",
    "refresh",
    "ticket",
];

/// Names of secret fields.
const FIELDS: [&str; 18] = [
    "password",
    "Passwd",
    "api_key",
    "accessToken",
    "client-secret",
    "refresh_token",
    "session_id",
    "csrf_token",
    "pwd",
    "jwt",
    "DB_PASSWORD",
    "X-Api-Key",
    "client_assertion",
    "totp",
    "smtp_pass",
    "signing_key",
    "connectionString",
    "user_pin",
];

/// Names of other fields.
const PUBLIC: [&str; 15] = [
    "code",
    "status",
    "author",
    "max_tokens",
    "token_type",
    "page",
    "username",
    "passenger",
    "expires_in",
    "tokenCount",
    "sort",
    "keyboard",
    "tokens_used",
    "passwordChangedAt",
    "spinner",
];

/// A function that redacts a text.
type Redaction = fn(&Redactor, &str) -> String;

/// A form of a text, and the function that redacts it. `F` is a field, `V` its value, `P` a
/// public field, `N` a name, `U` a path.
const FORMS: [(&str, Redaction); 24] = [
    ("http://127.0.0.1:8080/U?a=1&F=V&b=2", Redactor::url),
    ("GET http://h/U?F=V", Redactor::label),
    ("cannot connect to http://h/U?F=V: connection refused", Redactor::text),
    ("N.yaml:6:13: check: found {\"P\": 1, \"F\": \"V\"}, expected 200", Redactor::text),
    ("{\"N\": {\"U\": true, \"F\": \"V\"}}", Redactor::body),
    ("{\"F\":[\"V\",\"V\"],\"note\":\"N: U\"}", Redactor::body),
    ("<a><P>U</P><F kind=\"x\">V</F></a>", Redactor::body),
    ("user=anna&F=V&x=1", Redactor::body),
    ("--b\r\nContent-Disposition: form-data; name=\"F\"\r\n\r\nV\r\n--b--", Redactor::body),
    ("name: \"N: U\"\nvariables:\n  F: V\nscenario:\n- get: /U\n", Redactor::plan_text),
    ("name: N\nset: {rate: 5, F: \"V\"}\n# N: U\n", Redactor::plan_text),
    ("scenario:\n- post: /U\n  label: 'N: U'\n  json: {\"F\": \"V\"}\n", Redactor::plan_text),
    ("F=V ./start N.sh --plan N.yaml", Redactor::shell),
    ("./start --F=V --config=N/U.toml", Redactor::shell),
    ("brunt jmeter -n -t N.jmx -JF=V", Redactor::command),
    ("brunt run N.yaml --set F=V", Redactor::command),
    ("brunt compare N=http://h/U?F=V U=http://i/", Redactor::command),
    ("/U;F=V?a=1", Redactor::url),
    ("<user P=\"U\" F=\"V\"/>", Redactor::body),
    ("<property name=\"F\" value=\"V\"/><x>N</x>", Redactor::body),
    ("{\"note\": \"{\\\"F\\\": \\\"V\\\", \\\"P\\\": 1}\"}", Redactor::body),
    ("vars.put(\"F\", \"V\"); log.info(\"N\")", Redactor::text),
    ("a=1;F=V;b=N", Redactor::body),
    ("brunt http://h/U --json '{\"F\": \"V\"}' -o html=N.html", Redactor::command),
];

/// Forms of a message that contains a known secret, or names and paths.
const MESSAGES: [&str; 8] = [
    "N.yaml:3:9: F: `V`: not a number; write F: NUMBER",
    "`V` is no file; write --bearer @FILE",
    "variables.F: the text V cannot be read",
    "N: U: the reply has no V",
    "request \"N: U\" failed: found V, expected 200",
    "N: U, F: 5 of 10 failed",
    "server V answered 401: token missing, session expired",
    "stored as N-U; code=1, key=up, V",
];

fn pick(random: &mut StdRng, words: &[&str]) -> String {
    (*words.choose(random).expect("words")).to_owned()
}

fn name(random: &mut StdRng) -> String {
    let number = random.random_range(2..4);
    (0..number).map(|_| pick(random, &WORDS)).collect::<Vec<_>>().join("-")
}

fn secret(random: &mut StdRng) -> String {
    let letters = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.";
    let length = random.random_range(7..40);
    let middle: String =
        (0..length).map(|_| char::from(*letters.choose(random).expect("letters"))).collect();
    format!("Z{middle}9")
}

fn filled(form: &str, field: &str, value: &str, random: &mut StdRng) -> String {
    let path = name(random);
    let name = name(random);
    let public = pick(random, &PUBLIC);
    let one = |letter: char| match letter {
        'F' => field.to_owned(),
        'V' => value.to_owned(),
        'N' => name.clone(),
        'P' => public.clone(),
        'U' => path.clone(),
        other => other.to_string(),
    };
    // Letters of options and words stay.
    let is_letter = |at: usize| {
        let around =
            [at.checked_sub(1).and_then(|at| form.as_bytes().get(at)), form.as_bytes().get(at + 1)];
        !around.into_iter().flatten().any(|b| b.is_ascii_uppercase() && *b != b'J')
    };
    form.char_indices()
        .map(|(at, letter)| if is_letter(at) { one(letter) } else { letter.to_string() })
        .collect()
}

#[test]
fn secrets_are_redacted_and_other_texts_are_unchanged() {
    let mut random = StdRng::seed_from_u64(20_261_125);
    for number in 0..20_000 {
        let redactor = Redactor::new(b"a key of tests");
        let is_planted = number % 2 == 0;
        let value = if is_planted {
            secret(&mut random)
        } else {
            pick(&mut random, &["12", "open", "a-b", "${env:TOKEN}", "8080"])
        };
        let is_message = random.random_bool(0.3);
        let is_secret_field = is_planted || value.starts_with('$') || is_message;
        let field =
            if is_secret_field { pick(&mut random, &FIELDS) } else { pick(&mut random, &PUBLIC) };
        let (form, redact) = if is_message {
            (pick(&mut random, &MESSAGES), Redactor::text as Redaction)
        } else {
            FORMS.choose(&mut random).map(|row| (row.0.to_owned(), row.1)).expect("forms")
        };
        if is_message && is_planted {
            redactor.plan_text(&format!("variables: {{{field}: {value}}}"));
        }
        let text = filled(&form, &field, &value, &mut random);
        let shown = redact(&redactor, &text);
        if is_planted {
            assert!(
                !shown.contains(&value),
                "{number}: `{value}` of\n{text}\nis shown in\n{shown}"
            );
        } else {
            assert_eq!(shown, text, "{number}");
        }
        assert_eq!(
            redact(&redactor, &shown),
            shown,
            "{number}: redaction of redacted data changes nothing"
        );
    }
}
