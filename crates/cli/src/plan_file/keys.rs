//! Which key of a plan file is which option of `brunt run`.

use brunt_spec::plan::{Node, Setting, Value, json};
use std::path::Path;

/// A key and its option.
#[derive(Debug)]
#[allow(clippy::struct_field_names, reason = "a key is what it is called in the plan")]
pub struct Key {
    /// The key, as [`Setting`] has it.
    pub key: &'static str,
    /// The option; empty: the URL, which is none.
    pub option: &'static str,
    takes: Takes,
}

/// What becomes of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// It is the option's value.
    Value,
    /// It is the URL.
    Url,
    /// The name of a file, from the folder of the plan.
    File,
    /// A text, or `@` and the name of a file.
    Data,
    /// The option stands for each value of a list.
    Each,
    /// Lists are written with commas.
    Commas,
    /// Lists are sweeps.
    Loads,
    /// The option stands where it is true.
    IfTrue,
    /// The option stands where it is false.
    IfFalse,
    /// The option stands for each name and value, with this between them.
    Pairs(&'static str),
    /// It is sent as JSON.
    Json,
}

const fn key(key: &'static str, option: &'static str, takes: Takes) -> Key {
    Key { key, option, takes }
}

/// Keys that say the same as an option.
pub const KEYS: [Key; 48] = [
    key("script.request.url", "", Takes::Url),
    key("script.request.method", "--method", Takes::Value),
    key("script.request.headers", "--header", Takes::Pairs(": ")),
    key("script.request.data", "--data", Takes::Data),
    key("script.request.form", "--form", Takes::Pairs("=")),
    key("script.request.json", "--data", Takes::Json),
    key("script.urls", "--urls", Takes::File),
    key("script.order", "--order", Takes::Value),
    key("script.follow", "--follow", Takes::Value),
    key("load.rate", "--rate", Takes::Loads),
    key("load.users", "--connections", Takes::Loads),
    key("load.connections", "--connections", Takes::Value),
    key("load.arrivals", "--arrivals", Takes::Value),
    key("load.think", "--think", Takes::Value),
    key("load.max_in_flight", "--max-in-flight", Takes::Value),
    key("load.duration", "--duration", Takes::Value),
    key("load.requests", "--requests", Takes::Value),
    key("load.warmup", "--warmup", Takes::Value),
    key("load.grace", "--grace", Takes::Value),
    key("load.threads", "--threads", Takes::Value),
    key("load.processes", "--processes", Takes::Value),
    key("load.precise", "--precise", Takes::IfTrue),
    key("load.connect_rate", "--connect-rate", Takes::Value),
    key("load.until", "--until", Takes::Each),
    key("load.max_duration", "--max-duration", Takes::Value),
    key("load.seed", "--seed", Takes::Value),
    key("connection.keepalive", "--no-keepalive", Takes::IfFalse),
    key("connection.requests_per_connection", "--requests-per-connection", Takes::Value),
    key("connection.retry_stale", "--retry-stale", Takes::IfTrue),
    key("connection.http1.0", "--http1.0", Takes::IfTrue),
    key("connection.timeout", "--timeout", Takes::Value),
    key("connection.connect_timeout", "--connect-timeout", Takes::Value),
    key("connection.receive_rate", "--receive-rate", Takes::Value),
    key("connection.cacert", "--cacert", Takes::File),
    key("connection.cert", "--cert", Takes::File),
    key("connection.key", "--key", Takes::File),
    key("connection.insecure", "--insecure", Takes::IfTrue),
    key("connection.sni", "--sni", Takes::Value),
    key("connection.tls_resumption", "--no-tls-resumption", Takes::IfFalse),
    key("connection.resolve", "--resolve", Takes::Each),
    key("connection.resolve_every", "--resolve-every", Takes::Value),
    key("connection.proxy", "--proxy", Takes::Value),
    key("connection.unix_socket", "--unix-socket", Takes::File),
    key("connection.source", "--source", Takes::Commas),
    key("checks.status", "--expect-status", Takes::Each),
    key("checks.body", "--expect-body", Takes::Value),
    key("checks.same_length", "--expect-same-length", Takes::IfTrue),
    key("objectives", "--objective", Takes::Each),
];

/// Reports: an option too, but of the whole experiment.
pub const OUTPUTS: Key = key("outputs", "--output", Takes::Each);

/// Keys that are no options: what relative URLs are of, and what tells the requests of a mix apart.
pub const BESIDE: [&str; 3] = ["script.base", "script.request.label", "script.request.weight"];

impl Key {
    /// The row of a key.
    pub fn of(name: &str) -> Option<&'static Self> {
        const LAST: &Key = &OUTPUTS;
        KEYS.iter().chain([LAST]).find(|row| row.key == name)
    }

    /// The words of the command line that say the same. `folder` is that of the plan.
    pub fn words(&self, node: &Node, folder: &Path) -> Vec<String> {
        let text = node.text().unwrap_or_default();
        let file = |name: &str| folder.join(name).display().to_string();
        let one = |value: &str| vec![format!("{}={value}", self.option)];
        let switch = |wanted: &str| if text == wanted { vec![self.option.to_owned()] } else { Vec::new() };
        match self.takes {
            Takes::Url => Vec::new(),
            Takes::File => one(&file(text)),
            Takes::Data => match text.strip_prefix('@') {
                Some(name) if name != "-" && !name.is_empty() => one(&format!("@{}", file(name))),
                _ => one(text),
            },
            Takes::Each => texts(node).iter().flat_map(|text| one(text)).collect(),
            Takes::Commas => one(&texts(node).join(",")),
            Takes::Loads if matches!(node.value, Value::List(_)) => one(&format!("[{}]", texts(node).join(","))),
            Takes::Value | Takes::Loads => one(text),
            Takes::IfTrue => switch("true"),
            Takes::IfFalse => switch("false"),
            Takes::Pairs(between) => {
                let pair =
                    |name: &str, node: &Node| one(&format!("{name}{between}{}", node.text().unwrap_or_default()));
                node.entries().iter().flat_map(|entry| pair(&entry.key, &entry.node)).collect()
            }
            Takes::Json => one(&json(node).to_string()),
        }
    }

    /// How the plan says what the option says.
    pub fn shown(&self) -> String {
        match self.takes {
            Takes::IfTrue => format!("{}: true", self.key),
            Takes::IfFalse => format!("{}: false", self.key),
            _ => self.key.to_owned(),
        }
    }

    /// Whether a request whose body comes from here has a type of its own.
    pub fn is_json(&self) -> bool {
        self.takes == Takes::Json
    }
}

/// A single value as a list of one.
pub fn texts(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::List(nodes) => nodes.iter().filter_map(Node::text).collect(),
        _ => node.text().into_iter().collect(),
    }
}

/// The setting of a key, where the plan has one.
pub fn find<'a>(settings: &'a [Setting], key: &str) -> Option<&'a Setting> {
    settings.iter().find(|setting| setting.key == key)
}
