//! The table of curl's options.

/// Effect of an option on the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Handled by `curl::Reader`.
    Used,
    /// No effect on the plan, for example the destination of the reply.
    Ignored,
    /// Sets a key of `connection`; handled by `curl::Reader`.
    Connection,
    /// Changes how a request is sent, but plans have no equivalent: a comment names the option.
    Missing,
    /// Changes the server or the credentials, but plans have no equivalent: the import fails.
    Refused,
}

/// An option of curl.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurlOption {
    /// Letter of the option; a space if it has none.
    pub(super) letter: char,
    /// Long name, without `--`.
    pub(super) name: &'static str,
    pub(super) has_value: bool,
    pub(super) meaning: Meaning,
}

const fn used(letter: char, name: &'static str, has_value: bool) -> CurlOption {
    CurlOption { letter, name, has_value, meaning: Meaning::Used }
}

const fn ignored(letter: char, name: &'static str, has_value: bool) -> CurlOption {
    CurlOption { letter, name, has_value, meaning: Meaning::Ignored }
}

const fn connection(letter: char, name: &'static str, has_value: bool) -> CurlOption {
    CurlOption { letter, name, has_value, meaning: Meaning::Connection }
}

const fn refused(letter: char, name: &'static str, has_value: bool) -> CurlOption {
    CurlOption { letter, name, has_value, meaning: Meaning::Refused }
}

const fn missing(letter: char, name: &'static str, has_value: bool) -> CurlOption {
    CurlOption { letter, name, has_value, meaning: Meaning::Missing }
}

pub(super) const OPTIONS: [CurlOption; 139] = [
    used('X', "request", true),
    used('H', "header", true),
    used('d', "data", true),
    used(' ', "data-ascii", true),
    used(' ', "data-raw", true),
    used(' ', "data-binary", true),
    used(' ', "data-urlencode", true),
    used(' ', "json", true),
    used(' ', "url-query", true),
    used('F', "form", true),
    used(' ', "form-string", true),
    used('T', "upload-file", true),
    used('G', "get", false),
    used('I', "head", false),
    used('u', "user", true),
    used(' ', "oauth2-bearer", true),
    used('b', "cookie", true),
    used('A', "user-agent", true),
    used('e', "referer", true),
    used('r', "range", true),
    connection('k', "insecure", false),
    used('L', "location", false),
    used(' ', "location-trusted", false),
    used(' ', "max-redirs", true),
    connection('x', "proxy", true),
    used('m', "max-time", true),
    connection(' ', "connect-timeout", true),
    connection(' ', "resolve", true),
    connection('0', "http1.0", false),
    connection(' ', "cacert", true),
    connection('E', "cert", true),
    connection(' ', "key", true),
    connection(' ', "pass", true),
    connection(' ', "cert-type", true),
    connection(' ', "key-type", true),
    connection(' ', "tls-max", true),
    connection(' ', "tlsv1.2", false),
    connection(' ', "tlsv1.3", false),
    connection(' ', "unix-socket", true),
    used(' ', "url", true),
    used(' ', "compressed", false),
    used(':', "next", false),
    used(' ', "basic", false),
    connection(' ', "http1.1", false),
    ignored('o', "output", true),
    ignored('O', "remote-name", false),
    ignored('J', "remote-header-name", false),
    ignored(' ', "output-dir", true),
    ignored(' ', "create-dirs", false),
    ignored('s', "silent", false),
    ignored('S', "show-error", false),
    ignored('v', "verbose", false),
    ignored('i', "include", false),
    ignored(' ', "show-headers", false),
    ignored('w', "write-out", true),
    ignored('D', "dump-header", true),
    ignored('c', "cookie-jar", true),
    ignored('j', "junk-session-cookies", false),
    ignored('f', "fail", false),
    ignored(' ', "fail-with-body", false),
    ignored(' ', "fail-early", false),
    ignored('#', "progress-bar", false),
    ignored('N', "no-buffer", false),
    used('g', "globoff", false),
    ignored('q', "disable", false),
    ignored('4', "ipv4", false),
    ignored('6', "ipv6", false),
    ignored('Z', "parallel", false),
    ignored(' ', "parallel-max", true),
    used(' ', "path-as-is", false),
    ignored(' ', "retry", true),
    ignored(' ', "retry-delay", true),
    ignored(' ', "retry-max-time", true),
    ignored(' ', "retry-all-errors", false),
    ignored(' ', "retry-connrefused", false),
    ignored(' ', "keepalive-time", true),
    ignored(' ', "no-keepalive", false),
    ignored(' ', "tcp-nodelay", false),
    ignored(' ', "trace", true),
    ignored(' ', "trace-ascii", true),
    ignored(' ', "trace-time", false),
    ignored(' ', "stderr", true),
    ignored(' ', "max-filesize", true),
    ignored(' ', "raw", false),
    missing(' ', "post301", false),
    missing(' ', "post302", false),
    missing(' ', "post303", false),
    ignored(' ', "proto", true),
    ignored(' ', "proto-redir", true),
    ignored('R', "remote-time", false),
    ignored(' ', "remote-name-all", false),
    ignored(' ', "remove-on-error", false),
    ignored(' ', "clobber", false),
    ignored(' ', "create-file-mode", true),
    ignored(' ', "etag-save", true),
    ignored(' ', "xattr", false),
    ignored(' ', "progress-meter", false),
    ignored(' ', "styled-output", false),
    ignored(' ', "libcurl", true),
    ignored('Y', "speed-limit", true),
    ignored('y', "speed-time", true),
    ignored(' ', "expect100-timeout", true),
    ignored(' ', "happy-eyeballs-timeout-ms", true),
    ignored(' ', "parallel-immediate", false),
    ignored(' ', "ssl-no-revoke", false),
    ignored(' ', "ssl-reqd", false),
    connection(' ', "http2", false),
    connection(' ', "http2-prior-knowledge", false),
    connection(' ', "http3", false),
    used(' ', "digest", false),
    used(' ', "ntlm", false),
    used(' ', "negotiate", false),
    used(' ', "anyauth", false),
    connection('U', "proxy-user", true),
    connection(' ', "interface", true),
    missing(' ', "limit-rate", true),
    refused(' ', "connect-to", true),
    refused(' ', "socks4", true),
    refused(' ', "socks4a", true),
    refused(' ', "socks5", true),
    refused(' ', "socks5-hostname", true),
    refused(' ', "preproxy", true),
    refused(' ', "aws-sigv4", true),
    refused('n', "netrc", false),
    refused(' ', "netrc-optional", false),
    refused(' ', "netrc-file", true),
    refused('K', "config", true),
    refused('p', "proxytunnel", false),
    refused(' ', "request-target", true),
    missing(' ', "ciphers", true),
    missing(' ', "noproxy", true),
    missing('C', "continue-at", true),
    missing('z', "time-cond", true),
    missing(' ', "etag-compare", true),
    missing(' ', "tlsv1", false),
    missing(' ', "tlsv1.0", false),
    missing(' ', "tlsv1.1", false),
    missing(' ', "capath", true),
    missing(' ', "tcp-fastopen", false),
];

/// Finds an option by its long name. Like curl, it accepts an unambiguous prefix.
pub(super) fn long(name: &str) -> Option<&'static CurlOption> {
    let mut matches = OPTIONS.iter().filter(|option| option.name.starts_with(name));
    OPTIONS.iter().find(|option| option.name == name).or_else(|| {
        match (matches.next(), matches.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    })
}

/// Finds an option by its letter.
pub(super) fn short(letter: char) -> Option<&'static CurlOption> {
    OPTIONS.iter().find(|option| option.letter == letter && letter != ' ')
}
