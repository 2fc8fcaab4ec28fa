//! siege's settings, from siegerc and the command line: one row of [`DIRECTIVES`] each.
//!
//! A directive of siegerc and an option with the same meaning share one row.

use super::urls::Login;
use crate::brunt_options::BruntOptions;
use crate::getopt::atoi;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// Default User-Agent, that of the reproduced siege release.
pub const USER_AGENT: &str = "Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/4.0.7";
/// siege release that is reproduced.
pub const VERSION: &str = "4.0.7";
/// Path of Debian's log file.
const DEFAULT_LOG: &str = "/var/log/log/siege.log";

/// siege's settings, each from the directive of the same name unless noted. The default
/// is siege's built-in value.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of siege's
pub struct SiegeSettings {
    pub verbose: bool,
    pub color: bool,
    pub quiet: bool,
    pub debug: bool,
    pub json: bool,
    pub show_logfile: bool,
    pub logging: bool,
    pub logfile: String,
    /// `-m`.
    pub mark: Option<String>,
    /// Method of `-g`, if set.
    pub gmethod: Option<&'static str>,
    pub parser: bool,
    pub nofollow: Vec<String>,
    pub csv: bool,
    pub timestamp: bool,
    pub fullurl: bool,
    pub display_id: bool,
    /// Maximum number of users.
    pub limit: u64,
    pub http10: bool,
    pub chunked: bool,
    pub cache: bool,
    pub keep_alive: bool,
    pub concurrent: u64,
    pub time: Option<Duration>,
    pub reps: Option<Reps>,
    /// Longest pause of a user, in seconds.
    pub delay: f64,
    pub internet: bool,
    pub benchmark: bool,
    pub file: String,
    pub url: Option<String>,
    /// Timeout of a request, in seconds.
    pub timeout: i64,
    /// Number of failed transactions that ends the run.
    pub failures: u64,
    pub expire_session: bool,
    pub user_agent: String,
    pub accept_encoding: String,
    /// `-H`, in order.
    pub headers: Vec<String>,
    pub url_escaping: bool,
    pub unique: bool,
    pub logins: Vec<Login>,
    pub attempts: i64,
    pub login_urls: Vec<String>,
    pub proxy_host: Option<String>,
    pub proxy_port: i64,
    pub proxy_login: Option<Login>,
    /// Whether redirects are followed.
    pub follow: bool,
    pub zero_data_ok: bool,
    pub ssl_cert: Option<PathBuf>,
    pub ssl_key: Option<PathBuf>,
    pub content_type: Option<String>,
    /// `-g` or `-p`.
    pub look: Option<Look>,
    /// Variables defined in siegerc.
    pub variables: HashMap<String, String>,
    pub rc: PathBuf,
    /// Format of the report; None means that `json` decides.
    pub format: Option<SiegeFormat>,
    pub brunt_options: BruntOptions,
}

/// Number of requests of each user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reps {
    /// A number of URLs.
    Times(u64),
    /// The whole list of URLs once.
    Once,
}

/// Modes that send one request and print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Prints the heads of request and reply (`-g`).
    Heads,
    /// Prints the head of the request and the body of the reply (`-p`).
    Page,
}

/// Formats of siege's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiegeFormat {
    /// Times in seconds, as in siege up to 4.1.6.
    Seconds,
    /// Times in milliseconds and narrower counts, as in siege from 4.1.7.
    Millis,
    Json,
}

impl SiegeFormat {
    /// Parses the name of a format.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "4.0" => Ok(Self::Seconds),
            "4.1.7" | "4.1" => Ok(Self::Millis),
            "json" => Ok(Self::Json),
            _ => Err(format!(
                "--brunt-siege-format {name}: write 4.0 (seconds), 4.1.7 (milliseconds) or json"
            )),
        }
    }
}

impl Default for SiegeSettings {
    fn default() -> Self {
        Self {
            verbose: false,
            color: true,
            quiet: false,
            debug: false,
            json: false,
            show_logfile: false,
            logging: false,
            logfile: DEFAULT_LOG.into(),
            mark: None,
            gmethod: None,
            parser: false,
            nofollow: Vec::new(),
            csv: false,
            timestamp: false,
            fullurl: false,
            display_id: false,
            limit: 255,
            http10: true,
            chunked: false,
            cache: false,
            keep_alive: false,
            concurrent: 1,
            time: None,
            reps: None,
            delay: 0.0,
            internet: false,
            benchmark: false,
            file: "/etc/siege/urls.txt".into(),
            url: None,
            timeout: 30,
            failures: 1024,
            expire_session: false,
            user_agent: USER_AGENT.into(),
            accept_encoding: "*".into(),
            headers: Vec::new(),
            url_escaping: true,
            unique: true,
            logins: Vec::new(),
            attempts: 5,
            login_urls: Vec::new(),
            proxy_host: None,
            proxy_port: 3128,
            proxy_login: None,
            follow: true,
            zero_data_ok: true,
            ssl_cert: None,
            ssl_key: None,
            content_type: None,
            look: None,
            variables: HashMap::new(),
            rc: PathBuf::new(),
            format: None,
            brunt_options: BruntOptions::default(),
        }
    }
}

/// Effect of a directive.
type OptionEffect = fn(&mut SiegeSettings, &str);

/// One row for each directive: its name and its effect.
const DIRECTIVES: &[(&str, OptionEffect)] = &[
    ("verbose", |s, v| s.verbose = is_on(v)),
    ("color", |s, v| s.color = is_on(v)),
    ("quiet", |s, v| s.quiet = is_on(v)),
    ("debug", |s, v| s.debug = is_on(v)),
    ("json_output", |s, v| s.json = is_on(v)),
    ("show-logfile", |s, v| s.show_logfile = is_on(v)),
    ("logging", |s, v| s.logging = is_on(v)),
    ("logfile", |s, v| v.clone_into(&mut s.logfile)),
    ("gmethod", |s, v| {
        s.gmethod = Some(if v.eq_ignore_ascii_case("get") { "GET" } else { "HEAD" });
    }),
    ("parser", |s, v| s.parser = is_on(v)),
    ("nofollow", |s, v| s.nofollow.push(v.to_owned())),
    ("csv", |s, v| s.csv = is_on(v)),
    ("timestamp", |s, v| s.timestamp = is_on(v)),
    ("fullurl", |s, v| s.fullurl = is_on(v)),
    ("display-id", |s, v| s.display_id = is_on(v)),
    ("limit", |s, v| s.limit = count(v)),
    ("protocol", |s, v| s.http10 = !v.eq_ignore_ascii_case("http/1.1")),
    ("chunked", |s, v| s.chunked = is_on(v)),
    ("cache", |s, v| s.cache = is_on(v)),
    ("connection", |s, v| s.keep_alive = v.eq_ignore_ascii_case("keep-alive")),
    ("concurrent", |s, v| s.concurrent = count(v)),
    ("time", SiegeSettings::set_time),
    ("reps", |s, v| s.reps = Some(if v == "once" { Reps::Once } else { Reps::Times(count(v)) })),
    ("delay", |s, v| {
        s.delay = v.parse().ok().filter(|d: &f64| d.is_finite() && *d >= 0.0).unwrap_or(0.0);
    }),
    ("internet", |s, v| s.internet = is_on(v)),
    ("benchmark", |s, v| s.benchmark = is_on(v)),
    ("file", |s, v| v.clone_into(&mut s.file)),
    ("url", |s, v| s.url = Some(v.to_owned())),
    ("timeout", |s, v| s.timeout = atoi(v)),
    ("failures", |s, v| s.failures = count(v)),
    ("expire-session", |s, v| s.expire_session = is_on(v)),
    ("user-agent", |s, v| v.clone_into(&mut s.user_agent)),
    ("accept-encoding", |s, v| v.clone_into(&mut s.accept_encoding)),
    ("header", |s, v| s.headers.push(v.to_owned())),
    ("url-escaping", |s, v| s.url_escaping = is_on(v)),
    ("unique", |s, v| s.unique = is_on(v)),
    ("login", |s, v| s.logins.extend(Login::parse(v))),
    ("username", |s, v| s.logins.extend(Login::parse(v))),
    ("attempts", |s, v| s.attempts = atoi(v)),
    ("login-url", |s, v| s.login_urls.push(v.to_owned())),
    ("proxy-host", |s, v| s.proxy_host = Some(v.to_owned()).filter(|host| !host.is_empty())),
    ("proxy-port", |s, v| s.proxy_port = atoi(v)),
    ("proxy-login", |s, v| s.proxy_login = Login::parse(v)),
    ("follow-location", |s, v| s.follow = is_on(v)),
    ("zero-data-ok", |s, v| s.zero_data_ok = is_on(v)),
    ("ssl-cert", |s, v| s.ssl_cert = Some(v.into())),
    ("ssl-key", |s, v| s.ssl_key = Some(v.into())),
];

/// Directives without effect in brunt.
const IGNORED: [&str; 6] =
    ["spinner", "cookies", "ftp-login", "ssl-timeout", "ssl-ciphers", "signature"];

impl SiegeSettings {
    /// Sets a directive. Any other name defines a variable.
    pub fn set(&mut self, name: &str, value: &str) {
        match DIRECTIVES.iter().find(|row| row.0.eq_ignore_ascii_case(name)) {
            Some((_, effect)) => effect(self, value),
            None if IGNORED.contains(&name) => {}
            None => _ = self.variables.insert(name.to_owned(), value.to_owned()),
        }
    }

    fn set_time(&mut self, value: &str) {
        let number = count(value);
        let seconds =
            match value.chars().find(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()) {
                Some('s') => 1,
                Some('h') => 3600,
                // Without a unit, siege counts minutes.
                _ => 60,
            };
        self.time = (number > 0).then(|| Duration::from_secs(number.saturating_mul(seconds)));
    }

    /// Format of the report.
    pub fn form(&self) -> SiegeFormat {
        self.format.unwrap_or(if self.json { SiegeFormat::Json } else { SiegeFormat::Seconds })
    }

    /// Longest pause between two URLs, in seconds.
    pub fn pause(&self) -> f64 {
        if self.benchmark || self.look.is_some() { 0.0 } else { self.delay }
    }

    /// True if a line is printed for each transaction.
    pub fn shows_lines(&self) -> bool {
        self.verbose && !self.quiet && self.form() != SiegeFormat::Json && self.look.is_none()
    }
}

fn is_on(value: &str) -> bool {
    ["true", "on", "yes"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn count(value: &str) -> u64 {
    atoi(value).max(0) as u64
}
