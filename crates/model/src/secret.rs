//! Recognizes names of headers, fields and variables with secret values. All code that redacts or
//! hides values uses it. The store's redactor replaces the values.

use std::borrow::Cow;

/// Prefix of the hash that replaces a secret value.
pub const REDACTED: &str = "redacted:";

/// Text that a name of a secret contains.
#[derive(Clone, Copy)]
enum NamePattern {
    /// The whole name.
    Whole(&'static str),
    /// The last word of the name, such as `pass` of `smtp_pass` and `smtpPass`.
    LastWord(&'static str),
    /// Any part of the name, unless its last word is one of [`DESCRIPTIONS`].
    Part(&'static str),
}

/// Kind of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameKind {
    /// A field of a form, JSON object or XML document, a variable, or a column of a data file.
    Field,
    /// A header field.
    Header,
    /// A parameter of a URL.
    Parameter,
}

use NameKind::{Field, Header, Parameter};
use NamePattern::{LastWord, Part, Whole};

/// Kinds of names to which a row applies.
const ALL: &[NameKind] = &[Field, Header, Parameter];
const IN_DATA: &[NameKind] = &[Field, Parameter];
const IN_HEADERS: &[NameKind] = &[Header];
const IN_URLS: &[NameKind] = &[Parameter];

/// All names of secrets, in lower case and without separators.
const NAMES: &[(NamePattern, &[NameKind])] = &[
    (Part("password"), ALL),
    (Part("passwd"), ALL),
    (Part("passphrase"), ALL),
    (Part("passcode"), ALL),
    (Part("secret"), ALL),
    (Part("token"), ALL),
    (Part("apikey"), ALL),
    (Part("accesskey"), ALL),
    (Part("accountkey"), ALL),
    (Part("adminkey"), ALL),
    (Part("encryptionkey"), ALL),
    (Part("functionskey"), ALL),
    (Part("masterkey"), ALL),
    (Part("privatekey"), ALL),
    (Part("sharedkey"), ALL),
    (Part("signingkey"), ALL),
    (Part("storagekey"), ALL),
    (Part("subscriptionkey"), ALL),
    (Part("connectionstring"), ALL),
    (Part("signature"), ALL),
    (Part("credential"), ALL),
    (Part("sessionid"), ALL),
    (Part("sessid"), ALL),
    // The value of such a field of a page is useless without its cookie, and plans extract it.
    (Part("csrf"), IN_HEADERS),
    (Part("xsrf"), IN_HEADERS),
    (Part("auth"), IN_HEADERS),
    (Part("session"), IN_HEADERS),
    (Part("jwt"), IN_HEADERS),
    (LastWord("pass"), ALL),
    (LastWord("pwd"), ALL),
    (LastWord("pw"), ALL),
    (LastWord("pin"), ALL),
    (LastWord("otp"), ALL),
    (LastWord("totp"), ALL),
    (LastWord("sig"), ALL),
    (LastWord("hmac"), ALL),
    (LastWord("jwt"), ALL),
    (LastWord("assertion"), ALL),
    (LastWord("bearer"), ALL),
    (LastWord("cvv"), ALL),
    (LastWord("cvc"), ALL),
    (LastWord("cookie"), ALL),
    (Whole("cookie2"), ALL),
    (Whole("setcookie2"), ALL),
    (Whole("dpop"), ALL),
    (Whole("auth"), IN_DATA),
    (Whole("authorization"), IN_DATA),
    (Whole("proxyauthorization"), IN_DATA),
    (Whole("xauth"), IN_DATA),
    (Whole("samlresponse"), ALL),
    (Whole("samlrequest"), ALL),
    (Whole("session"), ALL),
    (Whole("sid"), ALL),
    (Whole("ticket"), ALL),
    (Whole("proxypass"), ALL),
    (Whole("userpass"), ALL),
    (Whole("cardnumber"), ALL),
    (Whole("codeverifier"), ALL),
    // Google's APIs, for example, take their API key as the parameter `key`. A field `key` of a
    // form or JSON object is usually no secret.
    (Whole("key"), IN_URLS),
];

/// Headers that contain such a part but are not secret: challenges of servers, the authority, and
/// the CORS switch.
const PUBLIC_HEADERS: [&str; 4] =
    ["wwwauthenticate", "proxyauthenticate", "authority", "accesscontrolallowcredentials"];

/// Words with the letters of a secret's name, but another meaning.
const OTHER_WORDS: [&str; 12] = [
    // Units of language models, such as in `max_tokens` and `tokens_used`.
    "tokens",
    "tokenize",
    "tokenized",
    "tokenizer",
    "tokenization",
    "secretary",
    "secretaries",
    "secretariat",
    "author",
    "authors",
    "authority",
    "authored",
];

/// Last words of names whose values are no secrets, although the names contain a part such as
/// `token`: `token_type`, `passwordPolicy`.
const DESCRIPTIONS: [&str; 44] = [
    "type",
    "count",
    "counts",
    "name",
    "url",
    "uri",
    "endpoint",
    "path",
    "file",
    "expires",
    "expiry",
    "expiration",
    "expired",
    "in",
    "at",
    "ttl",
    "lifetime",
    "length",
    "size",
    "policy",
    "hint",
    "enabled",
    "required",
    "valid",
    "status",
    "limit",
    "bucket",
    "algorithm",
    "method",
    "version",
    "format",
    "label",
    "strength",
    "changed",
    "age",
    "rules",
    "issuer",
    "scope",
    "used",
    "remaining",
    "budget",
    "usage",
    "cost",
    "error",
];

/// True if the value of this header is a secret.
pub fn is_secret_header(name: &str) -> bool {
    !PUBLIC_HEADERS.contains(&&*bare(name)) && is_secret(name, Header)
}

/// True if the value of this variable or field is a secret. Fields are those of forms, JSON
/// objects and XML documents. Of `user[password]`, `user.password` and `soap:Password`, only
/// the last part counts.
pub fn is_secret_field(name: &str) -> bool {
    is_secret(last_part(&decoded(name)), Field)
}

/// True if the value of this parameter of a URL is a secret. A parameter `key` in a URL is usually
/// an API key; a field `key` of a form or JSON object is usually no secret.
pub fn is_secret_parameter(name: &str) -> bool {
    is_secret(last_part(&decoded(name)), Parameter)
}

/// True if the last name in a path of JSON or XML is that of a secret, such as `$.auth.access_token`,
/// `data['token']` or `//user/@password`.
pub fn is_secret_path(path: &str) -> bool {
    let mut names = path.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c));
    // Indexes, and functions such as `text()`, are no names.
    let last = names.rfind(|name| {
        name.contains(char::is_alphabetic) && !["text", "string", "length", "value"].contains(name)
    });
    last.is_some_and(is_secret_field)
}

/// True for a parameter that shows that a `code` in the same URL is an authorization code of
/// OAuth (RFC 6749, 4.1). One such parameter is enough; `code` itself is none.
pub fn is_of_oauth(name: &str) -> bool {
    ["state", "grant_type", "redirect_uri", "client_id"].contains(&name)
}

fn is_secret(name: &str, kind: NameKind) -> bool {
    let whole = bare(name);
    let words = words(name);
    let last_word = words.last().map_or("", String::as_str);
    let is_described = DESCRIPTIONS.contains(&last_word);
    // Other words are left out, so that `tokens_used` contains no `token`.
    let parts = if words.iter().any(|word| OTHER_WORDS.contains(&word.as_str())) {
        words
            .iter()
            .filter(|word| !OTHER_WORDS.contains(&word.as_str()))
            .map(String::as_str)
            .collect()
    } else {
        whole.clone()
    };
    let mut rows = NAMES.iter().filter(|(_, kinds)| kinds.contains(&kind));
    rows.any(|(pattern, _)| match pattern {
        Whole(text) => whole == *text,
        LastWord(text) => last_word == *text,
        Part(text) => !is_described && parts.contains(text),
    })
}

/// Returns the words of a name in lower case: `client_assertion`, `clientAssertion` and
/// `Client-Assertion` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let begins = !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower);
        if begins {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Decodes the letters of a percent-encoded name: `pass%77ord` is `password`.
fn decoded(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return Cow::Borrowed(name);
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(|_| *first == b'%') {
            bytes.push(code);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Last part of a structured name, such as `password` of `user[password]`, `user.password` and
/// `soap:password`.
fn last_part(name: &str) -> &str {
    // PHP reads repeated fields from names such as `token[]`.
    let name = name.trim_end_matches("[]").trim_end_matches(']');
    let begin = name.rfind(['[', '.', ':']).map_or(0, |at| at + 1);
    &name[begin..]
}

/// Converts a name to lower case and removes `-`, `_` and spaces.
fn bare(name: &str) -> String {
    // `X-Api-Key`, `x_api_key` and `apikey` are the same name.
    name.trim().chars().filter(|c| !"-_ ".contains(*c)).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secret_fields() {
        for name in [
            "Password",
            "user[password]",
            "user.passWord",
            "soap:Password",
            "access_token",
            "refreshToken",
            "apiKey",
            "api_key",
            "PIN",
            "client-secret",
            "proxyPass",
            "HTTPSampler.proxyPass",
            "PHPSESSID",
            "user_password[]",
            "X-Api-Key",
            "DB_PASSWORD",
            "authenticity_token",
            "csrf_token",
            "JSESSIONID",
            "cvv",
            "client_assertion",
            "totp",
            "smtp_pass",
            "smtpPass",
            "signing_key",
            "connection_string",
            "ConnectionString",
            "pass%77ord",
            "user%5Bpassword%5D",
            "Set-Cookie",
        ] {
            assert!(is_secret_field(name), "{name}");
        }
        for name in [
            "name",
            "spinner",
            "page",
            "Accept",
            "passenger",
            "author",
            "code",
            "key",
            "max_tokens",
            "maxTokens",
            "token_type",
            "tokenType",
            "passwordPolicy",
            "secretary",
            "expires_in",
            "password_hint",
            "token_count",
            "authors",
            "compass",
            "tokens_used",
            "tokensUsed",
            "total_tokens",
            "signature_method",
            "bypass",
            "mapping",
            "design",
            "signal",
            "basis",
        ] {
            assert!(!is_secret_field(name), "{name}");
        }
    }

    #[test]
    fn names_of_secret_headers() {
        for name in [
            "X-API-Key",
            "x_api_key",
            "X-Session-Id",
            "X-Amz-Security-Token",
            "X-Vault-Token",
            "Proxy-Authorization",
            "Authorization",
            "Cookie",
            "Set-Cookie",
            "Authentication-Info",
            "X-CSRF-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Functions-Key",
            "X-Master-Key",
            "DPoP",
            "X-Pin",
            "X-Otp",
            "X-Sig",
        ] {
            assert!(is_secret_header(name), "{name}");
        }
        for name in [
            "WWW-Authenticate",
            "X-Author",
            ":authority",
            "Accept",
            "Content-Type",
            "Access-Control-Allow-Credentials",
            "Idempotency-Key",
            "Sec-WebSocket-Key",
            "X-Token-Type",
            "Author",
            "Authors",
        ] {
            assert!(!is_secret_header(name), "{name}");
        }
    }

    #[test]
    fn a_key_is_a_secret_only_in_urls() {
        assert!(
            is_secret_parameter("key") && !is_secret_field("key") && !is_secret_parameter("code")
        );
    }

    #[test]
    fn a_path_is_secret_by_its_last_name() {
        for path in [
            "$.access_token",
            "$.a[0]['password']",
            "data.token",
            "//user/@password",
            "//password/text()",
        ] {
            assert!(is_secret_path(path), "{path}");
        }
        for path in
            ["$.token.type", "$.items[0].id", "$", "//tokens", "$.token_type", "length(items)"]
        {
            assert!(!is_secret_path(path), "{path}");
        }
    }
}
