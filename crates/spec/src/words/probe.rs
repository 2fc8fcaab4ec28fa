//! Values of `--probe`: `WHAT` or `WHAT=WHICH`.

use super::duration;
use super::named::Suggestion;
use crate::defaults;
use brunt_model::probe_spec::{ProbeAccess, ProbeSpec, Probed, Select};
use brunt_script::WordError;

/// A kind of probe: its word, the parser of the value after `=`, and an example.
struct Row {
    word: &'static str,
    about: &'static str,
    example: &'static str,
    read: fn(&str) -> Option<Probed>,
}

const ROWS: &[Row] = &[
    Row {
        word: "host",
        about: "a machine, by ssh",
        example: "host, or host=user@machine by ssh",
        read: |which| Some(Probed::Host { via: via(which) }),
    },
    Row {
        word: "process",
        about: "processes of this name",
        example: "process=nginx",
        read: |which| processes(Select::Name(which.into())),
    },
    Row {
        word: "pid",
        about: "a process and its children",
        example: "pid=4711",
        read: |which| processes(Select::Pid(which.parse().ok()?)),
    },
    Row {
        word: "pid-file",
        about: "the process whose id is in this file",
        example: "pid-file=/run/nginx.pid",
        read: |which| processes(Select::PidFile(which.into())),
    },
    Row {
        word: "port",
        about: "the process that listens on this port",
        example: "port=8080",
        read: |which| processes(Select::Port(which.parse().ok()?)),
    },
    Row {
        word: "cgroup",
        about: "processes of a control group",
        example: "cgroup=system.slice/nginx.service",
        read: |which| processes(Select::Cgroup(which.into())),
    },
    Row {
        word: "nginx",
        about: "status page of nginx",
        example: "nginx=http://127.0.0.1/status",
        read: |url| page(url, |url| Probed::Nginx { url, connections: None }),
    },
    Row {
        word: "apache",
        about: "status page of Apache httpd",
        example: "apache=http://127.0.0.1/server-status?auto",
        read: |url| page(url, |url| Probed::Apache { url }),
    },
    Row {
        word: "php-fpm",
        about: "status page of php-fpm",
        example: "php-fpm=http://127.0.0.1/fpm-status?json",
        read: |url| page(url, |url| Probed::PhpFpm { url }),
    },
    Row {
        word: "tomcat",
        about: "status page of Tomcat",
        example: "tomcat=http://127.0.0.1:8080/manager/status?XML=true",
        read: |url| page(url, |url| Probed::Tomcat { url }),
    },
    Row {
        word: "haproxy",
        about: "statistics of HAProxy",
        example: "haproxy=http://127.0.0.1:8404/stats;csv",
        read: |url| page(url, |url| Probed::Haproxy { url }),
    },
    Row {
        word: "prometheus",
        about: "metrics of an exporter",
        example: "prometheus=http://127.0.0.1:9100/metrics",
        read: |url| page(url, |url| Probed::Prometheus { url, metrics: Vec::new() }),
    },
];

/// Returns the values that shells propose.
pub fn suggestions() -> Vec<Suggestion> {
    // The only kind without a value.
    let this_machine = Suggestion::new("host", "this machine");
    let sources = ROWS.iter().map(|row| Suggestion::new(format!("{}=", row.word), row.about));
    std::iter::once(this_machine).chain(sources).collect()
}

/// Parses a value of `--probe`.
pub fn parse(word: &str) -> Result<ProbeSpec, WordError> {
    let (kind, which) = word.split_once('=').unwrap_or((word, ""));
    let Some(row) = ROWS.iter().find(|row| row.word == kind) else {
        let all: Vec<_> = ROWS.iter().map(|row| row.word).collect();
        return Err(WordError::new(word, "unknown probe", format!("one of {}", all.join(", "))));
    };
    // `host` alone is this machine.
    let is_missing = which.is_empty() && kind != "host";
    let source = (row.read)(which).filter(|_| !is_missing);
    let what = source.ok_or_else(|| {
        WordError::new(word, "the source to read is missing or wrong", row.example)
    })?;
    let name = if which.is_empty() { "local".to_owned() } else { short_name(which).to_owned() };
    Ok(ProbeSpec { name, what, interval: duration::parse(defaults::PROBE_INTERVAL)? })
}

fn via(host: &str) -> ProbeAccess {
    if host.is_empty() {
        ProbeAccess::Local
    } else {
        ProbeAccess::Ssh { host: host.into(), options: Vec::new() }
    }
}

// Returns an Option like the other parsers of the table.
#[allow(clippy::unnecessary_wraps)]
fn processes(select: Select) -> Option<Probed> {
    Some(Probed::Processes { select, via: ProbeAccess::Local })
}

fn page(url: &str, probed: impl Fn(String) -> Probed) -> Option<Probed> {
    let scheme = ["http://", "https://"]
        .iter()
        .any(|scheme| url.len() > scheme.len() && url.starts_with(scheme));
    scheme.then(|| probed(url.to_owned()))
}

/// Host and port of a URL; any other value unchanged.
fn short_name(which: &str) -> &str {
    let authority = which
        .split_once("://")
        .map_or(which, |(_, rest)| rest.split(['/', '?']).next().unwrap_or(rest));
    // Names of sources are stored and shown, and a URL may contain a password.
    authority.rsplit_once('@').filter(|_| authority != which).map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_read_by_its_example() {
        for row in ROWS {
            let word = row.example.split(',').next().unwrap();
            assert!(parse(word).is_ok(), "{word}");
        }
        let source = |word| parse(word).unwrap().source();
        assert_eq!(source("host"), "host:local");
        assert_eq!(source("host=me@there"), "host:me@there");
        assert_eq!(source("process=php-fpm8.4"), "process:php-fpm8.4");
        assert_eq!(
            source("tomcat=http://admin:x@127.0.0.1:8080/manager/status?XML=true"),
            "tomcat:127.0.0.1:8080"
        );
    }

    #[test]
    fn errors_of_invalid_options_show_valid_values() {
        let message = |word| parse(word).unwrap_err().to_string();
        assert!(
            message("cpu").contains("unknown probe; write one of host, process, pid,"),
            "{}",
            message("cpu")
        );
        for (word, example) in [
            ("nginx", "nginx=http"),
            ("nginx=/status", "nginx=http"),
            ("pid=x", "pid=4711"),
            ("port=70000", "port=8080"),
            ("process=", "process=nginx"),
        ] {
            assert!(message(word).contains(&format!("write {example}")), "{}", message(word));
        }
    }
}
