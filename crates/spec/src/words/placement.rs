//! Places of agents, such as `ssh:a,b` and `local:4`, and hosts that may be loaded.

use super::named::{NamedValue, Suggestion, value_named};
use brunt_model::Placement;
use brunt_model::fleet::AgentGroup;
use brunt_script::WordError;
use std::collections::BTreeSet;
use url::Host;

const PLACES: &str = "ssh:HOST,HOST… for an agent on each host, k8s:N for N pods, nats:N for N agents that wait, or local:N for N processes of \
     this machine";

/// Parser of the places after the kind of agents.
type ReadPlaces = fn(&str) -> Result<Placement, String>;

/// Kinds of agents.
const KINDS: [NamedValue<ReadPlaces>; 4] = [
    NamedValue {
        names: &["ssh"],
        about: "an agent on each of these hosts",
        value: |places| hosts(places).map(Placement::Ssh),
    },
    NamedValue {
        names: &["local"],
        about: "processes of this machine",
        value: |places| number(places).map(Placement::Local),
    },
    NamedValue {
        names: &["k8s"],
        about: "pods of Kubernetes",
        value: |places| number(places).map(Placement::Kubernetes),
    },
    NamedValue {
        names: &["nats"],
        about: "agents that wait on NATS",
        value: |places| number(places).map(Placement::Nats),
    },
];

/// Maximum number of agents.
const MAX_AGENTS: usize = 1000;

/// Parses the places of agents.
pub fn parse(word: &str) -> Result<Placement, WordError> {
    let wrong = |what: &str| WordError::new(word, what, PLACES);
    let (kind, places) = word
        .trim()
        .split_once(':')
        .ok_or_else(|| wrong("it does not say how agents are started"))?;
    let read = value_named(&KINDS, kind);
    let read = read.ok_or_else(|| wrong(&format!("`{kind}` is no way to start agents")))?;
    let placement = read(places).map_err(|what| wrong(&what))?;
    if placement.agents() > MAX_AGENTS {
        return Err(wrong(&format!("more than {MAX_AGENTS} agents")));
    }
    Ok(placement)
}

/// Returns the begins of values that shells propose.
pub fn suggestions() -> Vec<Suggestion> {
    // Each is the begin of a value: a number or hosts follow.
    KINDS.iter().map(|row| Suggestion::new(format!("{}:", row.names[0]), row.about)).collect()
}

fn number(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "no number of agents".into())
}

fn hosts(places: &str) -> Result<Vec<String>, String> {
    let hosts: Vec<String> = places.split(',').map(|host| host.trim().to_owned()).collect();
    if hosts.iter().any(String::is_empty) {
        return Err("a host has no name".into());
    }
    // ssh would take it for an option.
    if let Some(host) = hosts.iter().find(|host| host.starts_with('-')) {
        return Err(format!("`{host}` is no host"));
    }
    // Each is reported by its name.
    let mut seen = BTreeSet::new();
    match hosts.iter().find(|host| !seen.insert(host.as_str())) {
        Some(host) => Err(format!("the host `{host}` occurs twice")),
        None => Ok(hosts),
    }
}

/// Parses the URLs of NATS servers.
///
/// # Errors
///
/// [`WordError`] if one is no such URL, or contains a user.
pub fn nats_servers(word: &str) -> Result<String, WordError> {
    const SERVERS: &str = "URLs such as nats://host:4222 or tls://host:4222, separated by commas";
    for url in word.split(',') {
        // What precedes an `@` may be a password.
        let shown = if word.contains('@') { "the URL" } else { word };
        let parsed = url::Url::parse(url.trim())
            .map_err(|error| WordError::new(shown, error.to_string(), SERVERS))?;
        if !matches!(parsed.scheme(), "nats" | "tls") || !parsed.has_host() {
            return Err(WordError::new(shown, "it is no URL of NATS", SERVERS));
        }
        // Plans are stored and shown.
        if !parsed.username().is_empty() || parsed.password().is_some() {
            let users = "URLs without a user, and --nats-nkey FILE with the seed of an nkey";
            return Err(WordError::new("the URL", "it contains a user", users));
        }
    }
    Ok(word.to_owned())
}

/// Parses the name of a fleet, which becomes part of NATS' subjects.
///
/// # Errors
///
/// [`WordError`] if it has other characters.
pub fn fleet_name(word: &str) -> Result<String, WordError> {
    let is_name = !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    is_name.then(|| word.to_owned()).ok_or_else(|| {
        WordError::new(word, "it is no name of a fleet", "letters, digits, `-` and `_`")
    })
}

/// Parses a label of Kubernetes with its value.
///
/// # Errors
///
/// [`WordError`] without `=`.
pub fn label(word: &str) -> Result<(String, String), WordError> {
    let pair = word.split_once('=').filter(|(label, _)| !label.is_empty());
    pair.map(|(label, value)| (label.to_owned(), value.to_owned()))
        .ok_or_else(|| WordError::new(word, "it is no label", "LABEL=VALUE"))
}

/// Parses a group of agents.
///
/// # Errors
///
/// [`WordError`] if the value is not of the form `NAME=AGENT,AGENT`.
pub fn group(word: &str) -> Result<AgentGroup, WordError> {
    let wrong = |what: &str| WordError::new(word, what, "NAME=AGENT,AGENT, such as eu=load1,load2");
    let (name, agents) = word.split_once('=').ok_or_else(|| wrong("it has no name"))?;
    let agents: Vec<String> = agents.split(',').map(|agent| agent.trim().to_owned()).collect();
    if name.trim().is_empty() || agents.iter().any(String::is_empty) {
        return Err(wrong("a name is empty"));
    }
    Ok(AgentGroup { name: name.trim().to_owned(), agents })
}

/// Minimum length of a token, so that none is found in other files by chance.
const MIN_TOKEN: usize = 8;

/// Parses the token by which hosts consent to be loaded.
///
/// # Errors
///
/// [`WordError`] if the value is too short, or no single word.
pub fn token(word: &str) -> Result<String, WordError> {
    let is_token = word.len() >= MIN_TOKEN && word.chars().all(|c| c.is_ascii_graphic());
    is_token.then(|| word.to_owned()).ok_or_else(|| {
        WordError::new(
            word,
            "it is no token",
            "at least 8 letters, digits or signs, without blanks",
        )
    })
}

/// Parses a host that may be loaded. Names are in lower case, and addresses in their usual form, as
/// in URLs.
pub fn host(word: &str) -> Result<String, WordError> {
    const HOST: &str =
        "a host as in a URL, without scheme and port, such as shop.example or 192.0.2.7";
    let wrong = |what: &str| WordError::new(word, what, HOST);
    let word = word.trim();
    if word.contains("://") || word.contains('/') {
        return Err(wrong("a URL is no host"));
    }
    let unbracketed =
        word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(word);
    if let Ok(address) = unbracketed.parse::<std::net::IpAddr>() {
        return Ok(address.to_canonical().to_string());
    }
    match Host::parse(word).map_err(|error| wrong(&error.to_string()))? {
        Host::Domain(name) => Ok(name.trim_end_matches('.').to_owned()),
        Host::Ipv4(address) => Ok(address.to_string()),
        Host::Ipv6(address) => Ok(std::net::IpAddr::from(address).to_canonical().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        assert_eq!(parse("local:4"), Ok(Placement::Local(4)));
        assert_eq!(parse("k8s:20"), Ok(Placement::Kubernetes(20)));
        assert_eq!(parse("nats:3"), Ok(Placement::Nats(3)));
        let hosts = vec!["a".to_owned(), "root@b.example".to_owned()];
        assert_eq!(parse("ssh:a, root@b.example"), Ok(Placement::Ssh(hosts)));
        for (word, what) in [
            ("4", "it does not say how agents are started"),
            ("docker:4", "`docker` is no way to start agents"),
            ("k8s:-1", "no number of agents"),
            ("local:0", "no number of agents"),
            ("local:x", "no number of agents"),
            ("local:2000", "more than 1000 agents"),
            ("ssh:", "a host has no name"),
            ("ssh:a,,b", "a host has no name"),
            ("ssh:a,a", "the host `a` occurs twice"),
            ("ssh:-oProxyCommand=x", "`-oProxyCommand=x` is no host"),
        ] {
            let error = parse(word).unwrap_err().to_string();
            assert!(error.contains(what), "{word}: {error}");
        }
    }

    #[test]
    fn servers_of_nats_have_no_user_in_their_urls() {
        let servers = "nats://a:4222,tls://b.example:4222";
        assert_eq!(nats_servers(servers), Ok(servers.to_owned()));
        for (word, what) in [
            ("a:4222", "it is no URL of NATS"),
            ("http://a", "it is no URL of NATS"),
            ("nats://user:hunter2@a", "it contains a user"),
            ("nats://user:hunter2@a:99999", "invalid port"),
            ("user:hunter2@a", "it is no URL of NATS"),
            ("", "relative URL without a base"),
        ] {
            let error = nats_servers(word).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains("hunter2"), "{word}: {error}");
        }
        assert!(fleet_name("lab-1_b").is_ok() && fleet_name("a.b").is_err());
        assert_eq!(label("pool=load"), Ok(("pool".into(), "load".into())));
        assert!(label("pool").is_err());
        let agents = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(group("eu=a, b"), Ok(AgentGroup { name: "eu".into(), agents }));
        for wrong in ["a,b", "=a", "eu=", "eu=a,,b"] {
            assert!(group(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hosts_have_one_form() {
        for (word, form) in [
            ("Shop.Example", "shop.example"),
            ("shop.example.", "shop.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("127.0.0.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("::1", "::1"),
            ("[::ffff:192.0.2.7]", "192.0.2.7"),
        ] {
            assert_eq!(host(word), Ok(form.to_owned()), "{word}");
        }
        assert!(host("http://a/").unwrap_err().to_string().contains("a URL is no host"));
        assert!(host("a b").is_err());
    }
}
