//! Recognizes names of headers, fields and parameters with secret values. All code that redacts or
//! hides values uses it. The store's redactor replaces the values.

/// Prefix of the hash that replaces a secret value.
pub const REDACTED: &str = "redacted:";

/// Secret headers without any of the parts below in their names.
const HEADERS: [&str; 4] = ["cookie", "cookie2", "setcookie", "setcookie2"];

/// Parts of header names. A header is secret if its name, as [`bare`] returns it, contains one of
/// them.
const IN_HEADERS: [&str; 14] = [
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
    "subscriptionkey",
];

/// Headers that contain such a part but are not secret: challenges of servers, the authority, and
/// the CORS switch.
const PUBLIC_HEADERS: [&str; 4] =
    ["wwwauthenticate", "proxyauthenticate", "authority", "accesscontrolallowcredentials"];

/// Complete names of secret fields, as [`bare`] returns them.
const FIELDS: [&str; 28] = [
    "pwd",
    "pass",
    "pw",
    "pin",
    "otp",
    "jwt",
    "auth",
    "authorization",
    "proxyauthorization",
    "assertion",
    "samlresponse",
    "samlrequest",
    "sig",
    "hmac",
    "session",
    "sid",
    "sessid",
    "cookie",
    "setcookie",
    "bearer",
    "ticket",
    "xauth",
    "proxypass",
    "userpass",
    "cvv",
    "cvc",
    "cardnumber",
    "codeverifier",
];

/// Parts of field names. A field is secret if its name contains one of them and does not end in one
/// of [`DESCRIPTIONS`].
const IN_FIELDS: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "signature",
    "credential",
    "sessionid",
    "sessid",
    "csrf",
    "xsrf",
];

/// Last words of field names whose values are no secrets, although the names contain a part such as
/// `token`: `token_type`, `passwordPolicy`, `max_tokens`, `secretary`.
const DESCRIPTIONS: [&str; 31] = [
    // Limits of language models, such as `max_tokens`.
    "tokens",
    "tokenizer",
    // Only the letters are those of `secret`.
    "secretary",
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
];

/// True if the value of this header is a secret.
pub fn is_secret_header(name: &str) -> bool {
    let bare = bare(name);
    HEADERS.contains(&&*bare)
        || (!PUBLIC_HEADERS.contains(&&*bare)
            // `Author` is no secret, `Authorization` is.
            && (bare.contains("authoriz") || !bare.contains("author"))
            && IN_HEADERS.iter().any(|part| bare.contains(part)))
}

/// True if the value of this variable or field is a secret. Fields are those of forms, JSON
/// objects and XML documents. Of `user[password]`, `user.password` and `soap:Password`, only
/// the last part counts.
pub fn is_secret_field(name: &str) -> bool {
    let name = last_part(name);
    let bare = bare(name);
    FIELDS.contains(&&*bare)
        || (IN_FIELDS.iter().any(|part| bare.contains(part)) && !ends_in_description(name))
}

/// True if the value of this parameter of a URL is a secret. A parameter `key` in a URL is usually
/// an API key; a field `key` of a form or JSON object is usually no secret.
pub fn is_secret_parameter(name: &str) -> bool {
    // Google's APIs, for example, take their API key as the parameter `key`.
    is_secret_field(name) || bare(last_part(name)) == "key"
}

/// True for a parameter that shows that a `code` in the same URL is an authorization code of
/// OAuth (RFC 6749, 4.1). One such parameter is enough; `code` itself is none.
pub fn is_of_oauth(name: &str) -> bool {
    ["state", "grant_type", "redirect_uri", "client_id"].contains(&name)
}

/// True if the name ends in one of [`DESCRIPTIONS`]: then its value is not itself a secret.
fn ends_in_description(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    // The last word begins at an upper-case letter or after a separator.
    let begin = name.rfind(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let last_word = match begin {
        Some(at) if name[at..].starts_with(|c: char| c.is_ascii_uppercase()) => &name[at..],
        Some(at) => name[at..].trim_start_matches(|c: char| !c.is_ascii_alphanumeric()),
        None => name,
    };
    let last_part = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(name);
    [last_word, last_part].iter().any(|word| DESCRIPTIONS.contains(&&*word.to_ascii_lowercase()))
}

/// Last part of a structured name, such as `password` of `user[password]`, `user.password` and
/// `soap:password`. The brackets may be percent-encoded.
fn last_part(name: &str) -> &str {
    // PHP reads repeated fields from names such as `token[]`.
    let name = name.trim_end_matches("[]").trim_end_matches("%5B%5D").trim_end_matches("%5b%5d");
    let name = name.trim_end_matches(']').trim_end_matches("%5D").trim_end_matches("%5d");
    let begin = ["[", "%5B", "%5b", ".", ":"]
        .iter()
        .filter_map(|mark| Some(name.rfind(mark)? + mark.len()))
        .max();
    &name[begin.unwrap_or(0)..]
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
}
