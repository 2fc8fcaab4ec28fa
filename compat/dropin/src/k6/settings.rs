//! Options of the command line, of a file and of the environment, in k6's order of precedence.

use crate::brunt_options::BruntOptions;
use crate::caller::Caller;
use brunt_k6::options::Options;
use serde_json::{Map, Value, json};

/// Settings of a command line.
#[derive(Debug, Default)]
pub struct K6Settings {
    /// What the command does.
    pub mode: K6Mode,
    /// File of the script.
    pub script: String,
    /// Variables of `__ENV`.
    pub env: Vec<(String, String)>,
    /// Options of the file, the environment and the command line, in this order.
    pub options: Vec<Options>,
    /// File of the summary in JSON.
    pub summary_export: Option<String>,
    /// True: no summary is shown.
    pub hides_summary: bool,
    /// True: only the summary is shown.
    pub quiet: bool,
    /// Notes on options without effect.
    pub notes: Vec<String>,
    /// Options of brunt.
    pub brunt_options: BruntOptions,
}

/// What a command does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum K6Mode {
    /// Runs a script.
    #[default]
    Run,
    /// Shows the options of a script.
    Inspect,
    /// Shows the version.
    Version,
    /// Shows the options of the command line.
    Help,
}

/// An option: its names, and how its value becomes an option in JSON.
struct Row {
    long: &'static str,
    short: Option<char>,
    effect: Effect,
}

enum Effect {
    /// A switch.
    Switch(&'static str),
    /// A number.
    Number(&'static str),
    /// A text, such as a duration.
    Text(&'static str),
    /// Texts, separated by commas.
    List(&'static str),
    /// A switch of the command.
    Own(fn(&mut K6Settings)),
    /// A value of the command.
    Value(fn(&mut Parsed, &str) -> Result<(), String>),
    /// No effect, since it is the default.
    Default,
    /// No effect, with a note.
    Ignored { has_value: bool },
}

/// Settings while they are read.
struct Parsed {
    settings: K6Settings,
    options: Map<String, Value>,
    config: Option<String>,
}

const fn row(long: &'static str, short: Option<char>, effect: Effect) -> Row {
    Row { long, short, effect }
}

const ROWS: &[Row] = &[
    row("vus", Some('u'), Effect::Number("vus")),
    row("duration", Some('d'), Effect::Text("duration")),
    row("iterations", Some('i'), Effect::Number("iterations")),
    row("stage", Some('s'), Effect::Value(stage)),
    row("env", Some('e'), Effect::Value(env)),
    row(
        "config",
        Some('c'),
        Effect::Value(|parsed, file| {
            parsed.config = Some(file.to_owned());
            Ok(())
        }),
    ),
    row("tag", None, Effect::Value(tag)),
    row("no-setup", None, Effect::Switch("noSetup")),
    row("no-teardown", None, Effect::Switch("noTeardown")),
    row("no-thresholds", None, Effect::Switch("noThresholds")),
    row("no-summary", None, Effect::Own(|settings| settings.hides_summary = true)),
    row(
        "summary-export",
        None,
        Effect::Value(|parsed, file| {
            parsed.settings.summary_export = Some(file.to_owned());
            Ok(())
        }),
    ),
    row("summary-trend-stats", None, Effect::List("summaryTrendStats")),
    row("summary-time-unit", None, Effect::Text("summaryTimeUnit")),
    row(
        "summary-mode",
        None,
        Effect::Value(|parsed, mode| {
            match mode {
                "disabled" => parsed.settings.hides_summary = true,
                "compact" => {}
                "full" | "legacy" => {
                    let note = format!("--summary-mode {mode}: the compact summary is shown");
                    parsed.settings.notes.push(note);
                }
                _ => return Err(format!("--summary-mode {mode}: write compact, full or disabled")),
            }
            Ok(())
        }),
    ),
    row("quiet", Some('q'), Effect::Own(|settings| settings.quiet = true)),
    row("user-agent", None, Effect::Text("userAgent")),
    row("max-redirects", None, Effect::Number("maxRedirects")),
    row("batch", None, Effect::Number("batch")),
    row("batch-per-host", None, Effect::Number("batchPerHost")),
    row("insecure-skip-tls-verify", None, Effect::Switch("insecureSkipTLSVerify")),
    row("no-connection-reuse", None, Effect::Switch("noConnectionReuse")),
    row("no-vu-connection-reuse", None, Effect::Switch("noVUConnectionReuse")),
    row("discard-response-bodies", None, Effect::Switch("discardResponseBodies")),
    row("min-iteration-duration", None, Effect::Text("minIterationDuration")),
    row("throw", Some('w'), Effect::Switch("throw")),
    row("rps", None, Effect::Number("rps")),
    row("execution-segment", None, Effect::Text("executionSegment")),
    row("local-ips", None, Effect::Text("localIPs")),
    row("blacklist-ip", None, Effect::Text("blacklistIPs")),
    row("block-hostnames", None, Effect::Text("blockHostnames")),
    row("help", Some('h'), Effect::Own(|settings| settings.mode = K6Mode::Help)),
    row("verbose", Some('v'), Effect::Ignored { has_value: false }),
    row("include-system-env-vars", None, Effect::Default),
    row("no-usage-report", None, Effect::Default),
    row("no-color", None, Effect::Default),
    row("linger", Some('l'), Effect::Ignored { has_value: false }),
    row("compatibility-mode", None, Effect::Ignored { has_value: true }),
    row("type", Some('t'), Effect::Ignored { has_value: true }),
    row("log-format", None, Effect::Ignored { has_value: true }),
    row("log-output", None, Effect::Ignored { has_value: true }),
    row("address", Some('a'), Effect::Ignored { has_value: true }),
    row("dns", None, Effect::Ignored { has_value: true }),
    row("system-tags", None, Effect::Ignored { has_value: true }),
    row(
        "out",
        Some('o'),
        Effect::Value(|_, out| {
            Err(format!(
                "--out {out} is not supported: write --brunt-json FILE, or the option -o of brunt"
            ))
        }),
    ),
];

fn stage(parsed: &mut Parsed, text: &str) -> Result<(), String> {
    let wrong = || format!("--stage {text}: write TIME:USERS, such as 30s:10");
    let stages = text.split(',').map(|stage| {
        let (time, users) = stage.split_once(':').ok_or_else(wrong)?;
        let target: u64 = users.trim().parse().map_err(|_| wrong())?;
        Ok(json!({"duration": time.trim(), "target": target}))
    });
    let stages = stages.collect::<Result<Vec<_>, String>>()?;
    match parsed.options.get_mut("stages").and_then(Value::as_array_mut) {
        Some(list) => list.extend(stages),
        None => {
            parsed.options.insert("stages".into(), stages.into());
        }
    }
    Ok(())
}

fn env(parsed: &mut Parsed, text: &str) -> Result<(), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value.to_owned()),
        None => return Err(format!("--env {text}: write NAME=VALUE")),
    };
    // The last value of a name counts.
    parsed.settings.env.retain(|(own, _)| own != name);
    parsed.settings.env.push((name.to_owned(), value));
    Ok(())
}

fn tag(parsed: &mut Parsed, text: &str) -> Result<(), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("--tag {text}: write NAME=VALUE"))?;
    let tags = parsed.options.entry("tags").or_insert_with(|| json!({}));
    tags[name] = value.into();
    Ok(())
}

/// Options that the environment can set.
const VARIABLES: &[(&str, &str)] = &[
    ("K6_VUS", "vus"),
    ("K6_DURATION", "duration"),
    ("K6_ITERATIONS", "iterations"),
    ("K6_STAGES", "stage"),
    ("K6_MAX_REDIRECTS", "max-redirects"),
    ("K6_BATCH", "batch"),
    ("K6_USER_AGENT", "user-agent"),
    ("K6_INSECURE_SKIP_TLS_VERIFY", "insecure-skip-tls-verify"),
    ("K6_NO_CONNECTION_REUSE", "no-connection-reuse"),
    ("K6_DISCARD_RESPONSE_BODIES", "discard-response-bodies"),
    ("K6_MIN_ITERATION_DURATION", "min-iteration-duration"),
    ("K6_THROW", "throw"),
    ("K6_NO_SETUP", "no-setup"),
    ("K6_NO_TEARDOWN", "no-teardown"),
    ("K6_NO_THRESHOLDS", "no-thresholds"),
    ("K6_NO_SUMMARY", "no-summary"),
    ("K6_SUMMARY_EXPORT", "summary-export"),
    ("K6_SUMMARY_TREND_STATS", "summary-trend-stats"),
    ("K6_SUMMARY_TIME_UNIT", "summary-time-unit"),
    ("K6_CONFIG", "config"),
    ("K6_RPS", "rps"),
    ("K6_OUT", "out"),
];

/// Reads a command line.
///
/// # Errors
///
/// A word is unknown, or a value is wrong; the text says what to write.
pub fn parse(words: &[String], caller: &Caller) -> Result<K6Settings, String> {
    let (mode, rest) = match words.split_first() {
        None => (K6Mode::Help, words),
        Some((word, rest)) => match word.as_str() {
            "run" => (K6Mode::Run, rest),
            "inspect" => (K6Mode::Inspect, rest),
            "version" => (K6Mode::Version, rest),
            "help" | "-h" | "--help" => (K6Mode::Help, rest),
            "archive" | "cloud" | "new" | "login" | "pause" | "resume" | "scale" | "stats"
            | "status" => {
                return Err(format!(
                    "`{word}` is not supported; there are run, inspect and version"
                ));
            }
            _ => return Err(format!("`{word}` is no command; write `run SCRIPT`")),
        },
    };
    let mut from_environment = new_parsed();
    for (variable, long) in VARIABLES {
        // An empty variable is the usual way to switch one off.
        if let Some(value) = caller.variable(variable).filter(|value| !value.is_empty()) {
            let row = find(long).ok_or("an option of the environment is unknown")?;
            apply(row, Some(&value), &mut from_environment, variable)?;
        }
    }
    let mut parsed = new_parsed();
    parsed.settings = from_environment.settings;
    parsed.settings.mode = mode;
    parsed.settings.env = (caller.all_variables)();
    let mut scripts = Vec::new();
    let mut words = rest.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some(own) = word.strip_prefix("--brunt-") {
            parsed.settings.brunt_options.take(own, || words.next())?;
        } else if word == "-" || !word.starts_with('-') {
            scripts.push(word);
        } else {
            let (name, joined) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
            let row = match name.strip_prefix("--") {
                Some(long) => find(long).map(|row| (row, joined)),
                None => short(word),
            };
            let (row, joined) =
                row.ok_or_else(|| format!("the option {name} is unknown; --help lists all"))?;
            let value = if row.has_value() {
                let next = joined.or_else(|| words.next());
                Some(next.ok_or_else(|| format!("{name} needs a value"))?)
            } else {
                joined
            };
            apply(row, value, &mut parsed, name)?;
        }
    }
    let Parsed { mut settings, options, config } = parsed;
    if matches!(settings.mode, K6Mode::Help | K6Mode::Version) {
        return Ok(settings);
    }
    match &scripts[..] {
        ["-"] => return Err("a script on standard input is not read; write its file".into()),
        [script] => (*script).clone_into(&mut settings.script),
        [] => return Err("the script is missing; write `run SCRIPT`".into()),
        [_, second, ..] => {
            return Err(format!("one script is expected; `{second}` is a second one"));
        }
    }
    let config = config.or(from_environment.config);
    if let Some(file) = config {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("--config: cannot read {file}: {error}"))?;
        settings.options.push(Options::parse(&text, &file)?);
    }
    settings.options.push(Options(from_environment.options));
    settings.options.push(Options(options));
    Ok(settings)
}

fn new_parsed() -> Parsed {
    Parsed { settings: K6Settings::default(), options: Map::new(), config: None }
}

fn find(long: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.long == long)
}

/// A short option, with its value if it is in the same word.
fn short(word: &str) -> Option<(&'static Row, Option<&str>)> {
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    let row = ROWS.iter().find(|row| row.short == Some(letter))?;
    let rest = letters.as_str();
    // Both `-u5` and `-u=5` are common.
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    Some((row, (!rest.is_empty()).then_some(rest)))
}

impl Row {
    fn has_value(&self) -> bool {
        match self.effect {
            Effect::Switch(_) | Effect::Own(_) | Effect::Default => false,
            Effect::Number(_) | Effect::Text(_) | Effect::List(_) | Effect::Value(_) => true,
            Effect::Ignored { has_value } => has_value,
        }
    }
}

fn apply(row: &Row, value: Option<&str>, parsed: &mut Parsed, name: &str) -> Result<(), String> {
    let text = value.unwrap_or_default();
    let is_off = value == Some("false");
    match &row.effect {
        Effect::Switch(option) => {
            parsed.options.insert((*option).to_owned(), Value::Bool(!is_off));
        }
        Effect::Number(option) => {
            let number: u64 = text
                .trim()
                .parse()
                .map_err(|_| format!("{name} {text}: a whole number is needed"))?;
            parsed.options.insert((*option).to_owned(), number.into());
        }
        Effect::Text(option) => {
            parsed.options.insert((*option).to_owned(), text.into());
        }
        Effect::List(option) => {
            let list: Vec<&str> = text.split(',').map(str::trim).collect();
            parsed.options.insert((*option).to_owned(), list.into());
        }
        Effect::Own(effect) => {
            if !is_off {
                effect(&mut parsed.settings);
            }
        }
        Effect::Value(effect) => effect(parsed, text)?,
        Effect::Default => {}
        Effect::Ignored { .. } => {
            parsed.settings.notes.push(format!("the option {name} has no effect"));
        }
    }
    Ok(())
}
