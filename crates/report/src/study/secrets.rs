//! Passwords in URLs: a report is handed on, and they are nobody's business.

use brunt_model::ProbeSpec;

/// A probe's settings, without passwords.
pub fn without_passwords_in(probe: &ProbeSpec) -> ProbeSpec {
    let mut probe = probe.clone();
    if let Some(url) = probe.what.url_mut() {
        *url = without_passwords(url);
    }
    probe
}

/// The text with `://user:password@` as `://user:…@`.
pub fn without_passwords(text: &str) -> String {
    let mut parts = text.split("://");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("://");
        let authority = part.split(|c: char| "/?#'\"`".contains(c) || c.is_whitespace()).next().unwrap_or_default();
        match authority.rsplit_once('@').and_then(|(user, _)| Some((user.len(), user.split_once(':')?.0))) {
            // A hash in its place is no password.
            _ if authority.contains("redacted:") => out.push_str(part),
            Some((end, user)) => out.extend([user, ":…", &part[end..]]),
            None => out.push_str(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_left_out_wherever_a_url_stands() {
        let text = "- tomcat: \"http://admin:s3:cr@t@127.0.0.1:80/x@y\"\nbase: http://127.0.0.1:80/a:b@c, ftp://me@h/";
        let shown = "- tomcat: \"http://admin:…@127.0.0.1:80/x@y\"\nbase: http://127.0.0.1:80/a:b@c, ftp://me@h/";
        assert_eq!(without_passwords(text), shown);
    }
}
