//! Builds the commands that remedies name: the command line of the run with a changed setting.
//!
//! Each is in backticks. Text that begins with `-` is an option to add to the command line. Text
//! that begins with `brunt` is a whole command line. brunt refuses an option that is given twice,
//! so an option that is already there is replaced in its place.

use crate::texts::message;
use brunt_model::Text;
use brunt_model::secret::REDACTED;

/// The way in which a run was started. It decides how a remedy changes a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrontEnd {
    /// Options of `brunt`.
    Options,
    /// A plan file; `--set` changes its keys.
    PlanFile,
    /// A search, which chooses loads and times, or options or a plan of another tool. No
    /// setting can be changed.
    Fixed,
}

/// A setting, by its option and by its key in plan files.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Such as `-d`.
    pub option: &'static str,
    /// Such as `--duration`; the same as `option` if there is no short one.
    pub long: &'static str,
    /// Such as `load.duration`.
    pub key: &'static str,
}

/// Measured time.
pub const DURATION: Setting = Setting { option: "-d", long: "--duration", key: "load.duration" };
/// Maximum measured time of a run with goals.
pub const MAX_DURATION: Setting =
    Setting { option: "--max-duration", long: "--max-duration", key: "load.max_duration" };
/// Number of requests.
pub const REQUESTS: Setting = Setting { option: "-n", long: "--requests", key: "load.requests" };
/// Arrivals per second.
pub const RATE: Setting = Setting { option: "-r", long: "--rate", key: "load.rate" };
/// Load before the measured time.
pub const WARMUP: Setting = Setting { option: "--warmup", long: "--warmup", key: "load.warmup" };
/// Repetitions of each trial.
pub const REPEAT: Setting = Setting { option: "--repeat", long: "--repeat", key: "repetitions" };

/// Continues an interrupted experiment.
pub const RESUME: &str = "--resume";

/// Tools that brunt replaces; the name is the first argument, as in `brunt ab …`.
const OTHER_TOOLS: [&str; 6] = ["ab", "siege", "httperf", "autobench", "bench2graph", "jmeter"];

/// The command line of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunCommand<'a> {
    line: &'a str,
    front_end: FrontEnd,
}

impl<'a> RunCommand<'a> {
    /// Parses the command line of a run.
    pub fn parse(line: &'a str) -> Self {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let is_brunt =
            words.next().is_some_and(|program| program.rsplit('/').next() == Some("brunt"));
        let mut rest = words.clone();
        let front_end = match words.next() {
            _ if !is_brunt => FrontEnd::Fixed,
            Some(tool) if OTHER_TOOLS.contains(&tool) => FrontEnd::Fixed,
            _ if rest.clone().any(|word| is_file(word, ".yaml") || is_file(word, ".yml")) => {
                FrontEnd::PlanFile
            }
            _ if rest.any(|word| is_file(word, ".jmx")) => FrontEnd::Fixed,
            _ => FrontEnd::Options,
        };
        Self { line, front_end }
    }

    /// Returns the command line of a search, for a run that is one of its trials.
    pub fn for_search(line: &'a str) -> Self {
        Self { line, front_end: FrontEnd::Fixed }
    }

    /// Returns the advice with the setting to change, or the advice alone if none can be changed.
    pub fn advise(self, advice: Text, setting: Setting, value: &str) -> Text {
        let replaced = match self.front_end {
            FrontEnd::Options => self.with_option(setting, value),
            FrontEnd::PlanFile => self.with_key(setting.key, value),
            FrontEnd::Fixed => return advice,
        };
        let command = match (replaced.map(|line| executable(&line)), self.front_end) {
            (Some(Some(command)), _) => command,
            (Some(None), _) => format!("{} {value}", setting.option),
            (None, FrontEnd::PlanFile) => format!("`--set {}={value}`", setting.key),
            (None, _) => format!("`{} {value}`", setting.option),
        };
        message!("advice-with-command", advice, command)
    }

    /// Returns the command line with another value of an option; None if it does
    /// not have the option.
    fn with_option(self, setting: Setting, value: &str) -> Option<String> {
        let words = self.words();
        let index = words.iter().position(|word| has_option(word, setting))?;
        let is_value_separate = [setting.option, setting.long].contains(&words[index]);
        // An option with a separate value takes two words.
        let rest = index + 1 + usize::from(is_value_separate);
        let changed = format!("{} {value}", setting.option);
        Some(Self::joined(&words[..index], &changed, words.get(rest..).unwrap_or_default()))
    }

    /// Returns the command line with another value of a key after `--set`; None if it does
    /// not have the key.
    fn with_key(self, key: &str, value: &str) -> Option<String> {
        let words = self.words();
        let index = words.iter().position(|word| {
            let pair = word.strip_prefix("--set=").unwrap_or(word).trim_matches('\'');
            pair.split_once('=').is_some_and(|(name, _)| name == key)
        })?;
        let option = if words[index].starts_with("--set=") { "--set=" } else { "" };
        Some(Self::joined(&words[..index], &format!("{option}{key}={value}"), &words[index + 1..]))
    }

    fn joined(before: &[&str], changed: &str, after: &[&str]) -> String {
        let words: Vec<&str> =
            before.iter().copied().chain([changed]).chain(after.iter().copied()).collect();
        ["brunt"].into_iter().chain(words.into_iter().skip(1)).collect::<Vec<_>>().join(" ")
    }

    /// The words of the command line with their quotes.
    fn words(self) -> Vec<&'a str> {
        let mut is_quoted = false;
        let is_gap = |letter: char| {
            is_quoted ^= letter == '\'';
            letter == ' ' && !is_quoted
        };
        self.line.split(is_gap).filter(|word| !word.is_empty()).collect()
    }

    /// Returns the advice with the option to add, or the advice alone if no setting can be changed.
    pub fn append(self, advice: Text, option: &str) -> Text {
        let command = match self.front_end {
            FrontEnd::Fixed => None,
            _ if self.words().contains(&option) => executable(&self.line_of_brunt()),
            FrontEnd::Options | FrontEnd::PlanFile => Some(format!("`{option}`")),
        };
        match command {
            Some(command) => message!("advice-with-command", advice, command),
            None => advice,
        }
    }

    /// Returns the command of an open loop in place of this closed one. None if no setting can be
    /// changed, or the command line holds secrets.
    pub fn open_loop(self, rate: f64) -> Option<String> {
        match self.front_end {
            FrontEnd::Options => executable(&format!("{} -r {rate}", self.without_users())),
            FrontEnd::PlanFile => {
                let users = self.with_key("load.users", "null");
                let line = users
                    .unwrap_or_else(|| format!("{} --set load.users=null", self.line_of_brunt()));
                executable(&format!("{line} --set load.rate={rate}"))
            }
            FrontEnd::Fixed => None,
        }
    }

    /// Returns the command line without the options that only a closed loop has.
    fn without_users(self) -> String {
        let mut words = self.words().into_iter().skip(1);
        let mut rest = vec!["brunt"];
        while let Some(word) = words.next() {
            match word {
                "-c" | "--connections" | "--think" => drop(words.next()),
                _ if ["-c", "--connections=", "--think="]
                    .iter()
                    .any(|option| word.starts_with(option)) => {}
                _ => rest.push(word),
            }
        }
        rest.join(" ")
    }

    /// Returns the command line with `brunt` in place of the path of the program.
    fn line_of_brunt(self) -> String {
        let words = self.line.split_once(' ').map_or("", |(_, words)| words);
        format!("brunt {words}")
    }
}

/// True if a word is a file of this type and no URL.
fn is_file(word: &str, ending: &str) -> bool {
    word.trim_matches('\'').ends_with(ending) && !word.contains("://")
}

/// True if a word of a command line is this option, with or without its value.
fn has_option(word: &str, setting: Setting) -> bool {
    let is_long_with_value =
        word.strip_prefix(setting.long).is_some_and(|rest| rest.starts_with('='));
    let is_short_with_value = !setting.option.starts_with("--") && word.starts_with(setting.option);
    word == setting.option || word == setting.long || is_long_with_value || is_short_with_value
}

/// Returns the command line in backticks; None if it holds redacted secrets and cannot be executed.
fn executable(line: &str) -> Option<String> {
    (!line.contains(REDACTED)).then(|| format!("`{line}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_the_open_loop_has_no_users() {
        for (closed, open) in [
            ("./brunt http://h/ -c 64 -d 5s", "`brunt http://h/ -d 5s -r 391`"),
            (
                "brunt --think 1s -c64 --connect-rate 9 'http://h/a b'",
                "`brunt --connect-rate 9 'http://h/a b' -r 391`",
            ),
            (
                "brunt run plan.yaml -q",
                "`brunt run plan.yaml -q --set load.users=null --set load.rate=391`",
            ),
        ] {
            assert_eq!(RunCommand::parse(closed).open_loop(391.0).as_deref(), Some(open));
        }
        for other in ["ab -n 9 http://h/", "brunt run plan.jmx", "brunt-x http://h/", ""] {
            assert_eq!(RunCommand::parse(other).open_loop(391.0), None, "{other}");
        }
    }

    #[test]
    fn advice_has_the_form_of_the_command_of_the_run() {
        for (line, advice) in [
            ("brunt http://h/openapi.yaml", "run longer: `-d 10s`"),
            ("brunt run 'my plan.yaml'", "run longer: `--set load.duration=10s`"),
            ("siege -c 1 http://h/", "run longer"),
        ] {
            assert_eq!(
                RunCommand::parse(line).advise("run longer".into(), DURATION, "10s"),
                advice
            );
        }
    }

    #[test]
    fn no_command_has_hidden_secrets_or_options_of_another_tool() {
        let hidden = RunCommand::parse("brunt http://h/ -d 5s --bearer redacted:3dd995");
        assert_eq!(hidden.advise("run longer".into(), DURATION, "10s"), "run longer: -d 10s");
        assert_eq!(hidden.advise("lower the rate".into(), RATE, "5"), "lower the rate: `-r 5`");
        assert_eq!(hidden.open_loop(5.0), None);
        let siege = RunCommand::parse("brunt siege -r 10 http://h/");
        assert_eq!(
            (siege.advise("lower the rate".into(), RATE, "5"), siege.open_loop(5.0)),
            ("lower the rate".into(), None)
        );
    }

    #[test]
    fn an_existing_option_is_replaced() {
        for (line, advice) in [
            ("./brunt http://h/ -d 5s -c 9", "run longer: `brunt http://h/ -d 10s -c 9`"),
            ("brunt -d5s http://h/", "run longer: `brunt -d 10s http://h/`"),
            ("brunt http://h/ --duration=5s", "run longer: `brunt http://h/ -d 10s`"),
            ("brunt http://h/ --duration 5s -q", "run longer: `brunt http://h/ -d 10s -q`"),
            ("brunt --data 'x -d 7' http://h/", "run longer: `-d 10s`"),
            ("brunt http://h/ --data -x", "run longer: `-d 10s`"),
            (
                "brunt run plan.yaml --set load.duration=2s -q",
                "run longer: `brunt run plan.yaml --set load.duration=10s -q`",
            ),
            (
                "brunt run plan.yaml --set=load.duration=2s",
                "run longer: `brunt run plan.yaml --set=load.duration=10s`",
            ),
        ] {
            assert_eq!(
                RunCommand::parse(line).advise("run longer".into(), DURATION, "10s"),
                advice,
                "{line}"
            );
        }
        assert_eq!(
            RunCommand::parse("brunt sweep http://h/ --resume")
                .append("complete it".into(), RESUME),
            "complete it: `brunt sweep http://h/ --resume`"
        );
        assert_eq!(
            RunCommand::parse("brunt run p.yaml --set load.users=9").open_loop(5.0).as_deref(),
            Some("`brunt run p.yaml --set load.users=null --set load.rate=5`")
        );
    }
}
