//! Which headers and fields are secret: the one table of it.

/// Headers that are secret.
const HEADERS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "cookie2",
    "set-cookie",
    "set-cookie2",
    "x-amz-security-token",
    "authentication-info",
];

/// A header is secret where its name, in lower case and without `-` and `_`, holds one of these.
const IN_HEADERS: [&str; 13] = [
    "token",
    "secret",
    "apikey",
    "auth",
    "session",
    "password",
    "passwd",
    "credential",
    "signature",
    "jwt",
    "accesskey",
    "csrf",
    "xsrf",
];

/// Headers that only look secret.
const NO_SECRETS: [&str; 3] = ["wwwauthenticate", "proxyauthenticate", "authority"];

/// Fields of queries, forms, JSON and XML that are secret, in lower case and without `-` and `_`.
const FIELDS: [&str; 23] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "pw",
    "pin",
    "otp",
    "key",
    "auth",
    "authorization",
    "code",
    "assertion",
    "samlresponse",
    "samlrequest",
    "sig",
    "hmac",
    "session",
    "sid",
    "phpsessid",
    "cookie",
    "bearer",
    "ticket",
];

/// A field is secret where its name holds one of these.
const IN_FIELDS: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "signature",
    "credential",
    "sessionid",
    "sessid",
    "jwt",
    "csrf",
    "xsrf",
];

/// Whether the value of this header is a secret.
pub fn is_secret_header(name: &str) -> bool {
    let lower = name.trim().to_ascii_lowercase();
    let bare = bare(&lower);
    HEADERS.contains(&&*lower)
        || (!NO_SECRETS.contains(&&*bare)
            && !bare.contains("author")
            && IN_HEADERS.iter().any(|part| bare.contains(part)))
}

/// Whether the value of this field of a query, form, JSON object or XML document is a secret.
pub fn is_secret_field(name: &str) -> bool {
    let bare = bare(&last_part(name).to_ascii_lowercase());
    FIELDS.contains(&&*bare) || holds_secret(&bare)
}

/// The same in free text, where common words such as `code` or `key` mean something else.
pub(super) fn is_secret_in_prose(name: &str) -> bool {
    let bare = bare(&last_part(name).to_ascii_lowercase());
    matches!(&*bare, "pwd" | "authorization" | "proxyauthorization" | "cookie" | "setcookie" | "phpsessid" | "xauth")
        || holds_secret(&bare)
}

/// `max_tokens` is a count.
fn holds_secret(bare: &str) -> bool {
    !bare.ends_with("tokens") && IN_FIELDS.iter().any(|part| bare.contains(part))
}

/// Of `user[password]`, `user.password` and `soap:Password` the last part.
fn last_part(name: &str) -> &str {
    let name = name.trim_end_matches("[]").trim_end_matches("%5B%5D").trim_end_matches("%5b%5d");
    let name = name.trim_end_matches(']').trim_end_matches("%5D").trim_end_matches("%5d");
    let begin = ["[", "%5B", "%5b", ".", ":"].iter().filter_map(|mark| Some(name.rfind(mark)? + mark.len())).max();
    &name[begin.unwrap_or(0)..]
}

fn bare(lower: &str) -> String {
    lower.chars().filter(|c| !"-_ ".contains(*c)).collect()
}
