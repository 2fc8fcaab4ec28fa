//! Tests one form of each place of a secret, and texts that only look like secrets.

use crate::Redactor;
use crate::redact::tests::CANARY;

/// A function that redacts a text.
type Redaction = fn(&Redactor, &str) -> String;

fn header(redactor: &Redactor, line: &str) -> String {
    let (name, value) = line.split_once(": ").expect("a header line");
    format!("{name}: {}", redactor.header(name, value))
}

fn data(redactor: &Redactor, text: &str) -> String {
    let mut tree = serde_json::from_str(text).expect("JSON");
    redactor.data(&mut tree);
    tree.to_string()
}

/// Texts with a secret in place of `%`.
const PLANTED: [(Redaction, &str); 66] = [
    (Redactor::url, "http://h/a?pass%77ord=%%"),
    (Redactor::url, "http://h/a?user%5Bpassword%5D=%%"),
    (Redactor::url, "http://h/a;token=%%?b=1"),
    (Redactor::url, "http://h/a?b=1;token=%%"),
    (Redactor::url, "http://h/a?client_assertion=%%"),
    (Redactor::url, "http://h/a?X-Amz-Signature=%%"),
    (Redactor::url, "http://h/a?sig=%%&se=2026"),
    (Redactor::url, "/a?key=%%"),
    (Redactor::url, "http://u:%%@h/"),
    (Redactor::url, "http://h/#access_token=%%"),
    (Redactor::label, "GET /a?totp=%%"),
    (Redactor::label, "POST http://h/a;jsessionid=%%"),
    (header, "X-Functions-Key: %%"),
    (header, "X-Master-Key: %%"),
    (header, "DPoP: %%"),
    (header, "X-Pin: %%"),
    (header, "X-Otp: %%"),
    (header, "X-Sig: %%"),
    (header, "X-Hub-Signature-256: sha256=%%"),
    (header, "Authorization: DPoP %%"),
    (header, "X-Smtp-Pass: %%"),
    (header, "Cookie: sid=%%"),
    (header, "Ocp-Apim-Subscription-Key: %%"),
    (Redactor::body, "client_assertion=%%&a=1"),
    (Redactor::body, "a=1;smtp_pass=%%"),
    (Redactor::body, "{\"totp\": \"%%\"}"),
    (Redactor::body, "{\"smtp_pass\": \"%%\"}"),
    (Redactor::body, "{\"signing_key\": \"%%\"}"),
    (Redactor::body, "{\"signingKey\": \"%%\"}"),
    (Redactor::body, "{\"connection_string\": \"Server=h;Pwd=%%\"}"),
    (Redactor::body, "{\"ConnectionString\": \"%%\"}"),
    (Redactor::body, "{\"a\": \"{\\\"password\\\": \\\"%%\\\"}\"}"),
    (
        Redactor::body,
        "{\"a\": \"{\\\"b\\\": \\\"{\\\\\\\"token\\\\\\\": \\\\\\\"%%\\\\\\\"}\\\"}\"}",
    ),
    (Redactor::body, "{\"a\": \"<x password=\\\"%%\\\"/>\"}"),
    (
        Redactor::body,
        "{\"query\": \"mutation { login(user: \\\"anna\\\", password: \\\"%%\\\") { id } }\"}",
    ),
    (Redactor::body, "mutation { login(password: \"%%\") { id } }"),
    (Redactor::body, "mutation { login(secret: \"\"\"%%\"\"\") { id } }"),
    (Redactor::body, "{\"password\": \"%%"),
    (Redactor::body, "<user name=\"anna\" password=\"%%\"/>"),
    (Redactor::body, "<user password='%%'></user>"),
    (Redactor::body, "<password><![CDATA[%%]]></password>"),
    (Redactor::body, "<property name=\"password\" value=\"%%\"/>"),
    (Redactor::body, "<property name=\"password\">%%</property>"),
    (Redactor::body, "<meta name=\"csrf-token\" content=\"%%\">"),
    (Redactor::body, "<soap:Password>\n  %%\n</soap:Password>"),
    (Redactor::body, "-----BEGIN PRIVATE KEY-----\n%%\n-----END PRIVATE KEY-----\n"),
    (Redactor::body, "-----BEGIN RSA PRIVATE KEY-----\\n%%"),
    (Redactor::text, "vars.put(\"password\", \"%%\")"),
    (Redactor::text, "vars.put('password','%%')"),
    (Redactor::text, "props[\"api_key\"] = \"%%\""),
    (Redactor::text, "def password = \"%%\""),
    (
        Redactor::text,
        "<stringProp name=\"Argument.name\">password</stringProp>\n<stringProp name=\"Argument.value\">%%</stringProp>",
    ),
    (Redactor::text, "<stringProp name=\"HTTPSampler.proxyPass\">%%</stringProp>"),
    (Redactor::text, "found {\"access_token\": \"%%"),
    (Redactor::plan_text, "variables:\n  smtp_pass: %%\n"),
    (Redactor::plan_text, "- script: |\n    vars.put(\"token\", \"%%\");\n"),
    (data, "[[\"password\", \"%%\"], [\"user\", \"anna\"]]"),
    (data, "{\"variables\": [{\"name\": \"totp\", \"value\": \"%%\"}]}"),
    (data, "{\"source\": \"vars.put(\\\"password\\\", \\\"%%\\\")\"}"),
    (data, "{\"json\": {\"$.access_token\": \"%%\"}}"),
    (Redactor::command, "curl -E cert.pem:%% https://h/"),
    (Redactor::command, "curl --cert cert.pem:%% https://h/"),
    (Redactor::command, "brunt import curl 'curl -E cert.pem:%% https://h/'"),
    (
        Redactor::command,
        "brunt http://h/ --data '-----BEGIN EC PRIVATE KEY-----\n%%\n-----END EC PRIVATE KEY-----'",
    ),
    (Redactor::shell, "curl -E cert.pem:%% https://h/"),
    (Redactor::shell, "curl --proxy-user anna:%% https://h/"),
];

/// Texts without a secret.
const INNOCENT: [(Redaction, &str); 62] = [
    (Redactor::text, "open the demo"),
    (Redactor::text, "20 errors"),
    (Redactor::text, "brunt: nothing was measured"),
    (Redactor::text, "the password was not accepted"),
    (Redactor::text, "tokens_used: 5"),
    (Redactor::text, "{\"tokens_used\": 512, \"total_tokens\": 1024}"),
    (Redactor::text, "{\"tokensUsed\": 512}"),
    (Redactor::text, "{\"token_type\": \"bearer-like\"}"),
    (Redactor::text, "{\"password_policy\": \"strict\"}"),
    (Redactor::text, "{\"passwordChangedAt\": \"2026-01-01\"}"),
    (Redactor::text, "{\"signature_version\": \"v4\"}"),
    (Redactor::text, "{\"signature_method\": \"HMAC-SHA1\"}"),
    (Redactor::text, "{\"author\": \"anna\", \"authors\": [\"bo\"]}"),
    (Redactor::text, "{\"secretary\": \"anna\"}"),
    (Redactor::text, "{\"passenger\": \"anna\", \"compass\": \"north\"}"),
    (Redactor::text, "{\"mapping\": \"a\", \"spinning\": \"b\"}"),
    (Redactor::text, "{\"design\": \"a\", \"signal\": \"b\"}"),
    (Redactor::text, "{\"tokenizer\": \"words\"}"),
    (Redactor::text, "{\"key\": \"a\", \"keys\": [\"b\"]}"),
    (Redactor::text, "{\"code\": 5, \"state\": \"ok\"}"),
    (Redactor::text, "{\"sessions\": 12, \"session_count\": 3}"),
    (Redactor::text, "{\"cookies\": \"kept\"}"),
    (Redactor::text, "vars.put(\"user\", \"anna\")"),
    (Redactor::text, "check(\"status\", \"200\")"),
    (Redactor::text, "<user name=\"anna\" role=\"admin\"/>"),
    (Redactor::text, "<input type=\"password\" name=\"password\"/>"),
    (Redactor::text, "<label for=\"password\">Password</label>"),
    (Redactor::text, "<property name=\"rate\" value=\"5\"/>"),
    (Redactor::text, "write --bearer <token> or nothing"),
    (Redactor::text, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
    (Redactor::text, "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"),
    (Redactor::text, "login(user: \"anna\")"),
    (Redactor::text, "plan.yaml:3:9: token: `x`: not a number"),
    (Redactor::text, "p99 of \"token\" is 5 ms"),
    (Redactor::text, "GET /token: 5 of 10 failed"),
    (Redactor::text, "step `sign-in` took 3 s"),
    (Redactor::label, "GET /tokens/5"),
    (Redactor::label, "POST /password/reset"),
    (Redactor::label, "log in with ${password}"),
    (Redactor::label, "open the demo"),
    (Redactor::url, "http://h/a?page=2&sort=name"),
    (Redactor::url, "http://h/a;v=2?b=1"),
    (Redactor::url, "http://h/a?b=1;c=2"),
    (Redactor::url, "http://h/a?max_tokens=5"),
    (Redactor::url, "http://h/password?step=2"),
    (Redactor::url, "http://h/a?code=404"),
    (Redactor::body, "a=1;b=2"),
    (Redactor::body, "name=anna&page=2"),
    (Redactor::body, "{\"text\": \"a \\\"quoted\\\" word\"}"),
    (Redactor::body, "{\"a\": \"{\\\"b\\\": \\\"c\\\"}\"}"),
    (Redactor::body, "query { user(name: \"anna\") { id } }"),
    (header, "Idempotency-Key: 5"),
    (header, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
    (header, "Sec-WebSocket-Version: 13"),
    (header, "X-Token-Type: opaque"),
    (header, "Author: anna"),
    (header, "Surrogate-Key: a b"),
    (header, "Accept: text/html"),
    (header, "X-Mapping: a"),
    (data, "{\"rate\":\"3\",\"tokens_used\":5}"),
    (Redactor::command, "brunt http://h/ --cert cert.pem --key key.pem"),
    (Redactor::command, "curl -X POST https://h/"),
];

#[test]
fn a_secret_is_replaced_at_each_place() {
    for (redact, form) in PLANTED {
        let text = form.replace("%%", CANARY);
        let shown = redact(&Redactor::new(b"a key of tests"), &text);
        assert!(!shown.contains(CANARY), "{text}\nis shown as\n{shown}");
        let again = redact(&Redactor::new(b"another key"), &shown);
        assert_eq!(again, shown, "redaction of redacted data changes nothing");
    }
}

#[test]
fn texts_without_a_secret_are_unchanged() {
    for (redact, text) in INNOCENT {
        let redactor = Redactor::new(b"a key of tests");
        // Secrets that are words, or short, are only replaced at their own places.
        for word in ["open", "errors", "nothing", "demo", "anna", "password", "2", "accepted"] {
            redactor.secret(word);
        }
        assert_eq!(redact(&redactor, text), text);
    }
}
