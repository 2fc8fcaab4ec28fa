//! Prints the effective settings (`-C`).

use super::settings::{Reps, SiegeFormat, SiegeSettings, VERSION};
use std::fmt::Write;

/// Formats the settings, one per line.
pub fn config(settings: &SiegeSettings) -> String {
    let mut out = format!(
        "CURRENT  SIEGE  CONFIGURATION\n{}\nEdit the resource file to change the settings.\n{}\n",
        settings.user_agent,
        "-".repeat(46)
    );
    for (name, value) in rows(settings) {
        let _ = writeln!(out, "{:32}{value}", format!("{name}:"));
    }
    if !settings.nofollow.is_empty() {
        out += "no-follow:\n";
        settings.nofollow.iter().for_each(|host| _ = writeln!(out, " - {host}"));
    }

    let logins: Vec<_> = settings.logins.iter().map(credentials).collect();
    let proxy_login = settings.proxy_login.as_ref().map(credentials).unwrap_or_default();
    let _ = writeln!(out, "{:32}{proxy_login}", "proxy auth:");
    let ends = if logins.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{:32}{}{ends}", "www auth:", logins.join(&format!("\n{:32}", "")));
    out
}

fn credentials(login: &super::urls::Login) -> String {
    format!(
        "credentials:  {}:{}:{}",
        login.user,
        login.password,
        login.realm.as_deref().unwrap_or("any")
    )
}

fn number_or_na(number: Option<u64>, unit: &str) -> String {
    number.map_or_else(|| "n/a".to_owned(), |number| format!("{number}{unit}"))
}

fn rows(s: &SiegeSettings) -> Vec<(&'static str, String)> {
    let json = s.form() == SiegeFormat::Json;

    let reps = match s.reps.filter(|_| s.time.is_none()) {
        Some(Reps::Times(n)) => n.to_string(),
        Some(Reps::Once) => "once".to_owned(),
        None => "n/a".to_owned(),
    };
    let delay = s.pause();
    vec![
        ("version", VERSION.to_owned()),
        ("verbose", (s.verbose && !json && !s.quiet).to_string()),
        ("color", s.color.to_string()),
        ("quiet", (s.quiet || json).to_string()),
        ("debug", s.debug.to_string()),
        ("protocol", if s.http10 { "HTTP/1.0" } else { "HTTP/1.1" }.to_owned()),
        ("HTML parser", if s.parser { "enabled" } else { "disabled" }.to_owned()),
        ("get method", s.gmethod.unwrap_or("HEAD").to_owned()),
        ("connection", if s.keep_alive { "keep-alive" } else { "close" }.to_owned()),
        ("concurrent users", s.concurrent.max(1).to_string()),
        ("time to run", number_or_na(s.time.map(|t| t.as_secs()), " seconds")),
        ("repetitions", reps),
        ("socket timeout", s.timeout.to_string()),
        ("cache enabled", s.cache.to_string()),
        ("accept-encoding", s.accept_encoding.clone()),
        ("delay", format!("{delay:.3} sec{}", if delay >= 1.0 { "s" } else { "" })),
        ("internet simulation", s.internet.to_string()),
        ("benchmark mode", s.benchmark.to_string()),
        ("failures until abort", s.failures.to_string()),
        ("named URL", s.url.clone().unwrap_or_else(|| "none".into())),
        ("URLs file", s.file.clone()),
        ("thread limit", s.limit.to_string()),
        ("logging", s.logging.to_string()),
        ("log file", s.logfile.clone()),
        ("resource file", s.rc.display().to_string()),
        ("timestamped output", s.timestamp.to_string()),
        ("comma separated output", s.csv.to_string()),
        ("allow redirects", s.follow.to_string()),
        ("allow zero byte data", s.zero_data_ok.to_string()),
        ("allow chunked encoding", s.chunked.to_string()),
        ("upload unique files", s.unique.to_string()),
        ("json output", s.json.to_string()),
    ]
}
