//! Commands that remedies name: the command line of the run with a setting changed.
//!
//! Each is in backticks. Text that begins with `-` is an option to add to the command line, or to change if it is there. Text that
//! begins with `brunt` is a whole command line.

/// How a run was started. It decides how a remedy changes a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrontEnd {
    /// Options of `brunt`.
    Options,
    /// A plan file; `--set` changes its keys.
    PlanFile,
    /// Options or a plan of another tool, for which brunt has no command.
    OtherTool,
}

/// A setting, by its option and by its key in plan files.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Such as `-d`.
    pub option: &'static str,
    /// Such as `load.duration`.
    pub key: &'static str,
}

/// Measured time.
pub const DURATION: Setting = Setting { option: "-d", key: "load.duration" };
/// Number of requests.
pub const REQUESTS: Setting = Setting { option: "-n", key: "load.requests" };
/// Arrivals per second.
pub const RATE: Setting = Setting { option: "-r", key: "load.rate" };
/// Load before the measured time.
pub const WARMUP: Setting = Setting { option: "--warmup", key: "load.warmup" };
/// Repetitions of each trial.
pub const REPEAT: Setting = Setting { option: "--repeat", key: "repetitions" };

/// Continues an interrupted experiment.
pub const RESUME: &str = "--resume";

/// The command line of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunCommand<'a> {
    line: &'a str,
    front_end: FrontEnd,
}

impl<'a> RunCommand<'a> {
    /// Reads the command line of a run.
    pub fn of(line: &'a str) -> Self {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let is_brunt = words.next().is_some_and(|program| program.rsplit('/').next() == Some("brunt"));
        let is_file = |word: &str, ending: &str| word.trim_matches('\'').ends_with(ending) && !word.contains("://");
        let front_end = match is_brunt {
            true if words.clone().any(|word| is_file(word, ".yaml") || is_file(word, ".yml")) => FrontEnd::PlanFile,
            true if words.any(|word| is_file(word, ".jmx")) => FrontEnd::OtherTool,
            true => FrontEnd::Options,
            false => FrontEnd::OtherTool,
        };
        Self { line, front_end }
    }

    /// Returns the advice with the setting to change; the advice alone for options or a plan of another tool.
    pub fn advise(self, advice: &str, setting: Setting, value: &str) -> String {
        match self.front_end {
            FrontEnd::Options => format!("{advice}: `{} {value}`", setting.option),
            FrontEnd::PlanFile => format!("{advice}: `--set {}={value}`", setting.key),
            FrontEnd::OtherTool => advice.to_owned(),
        }
    }

    /// Returns the advice with the option to add; the advice alone for options or a plan of another tool.
    pub fn append(self, advice: &str, option: &str) -> String {
        match self.front_end {
            FrontEnd::Options | FrontEnd::PlanFile => format!("{advice}: `{option}`"),
            FrontEnd::OtherTool => advice.to_owned(),
        }
    }

    /// The command of an open loop in place of this closed one; None where another tool's options or plan set the load.
    pub fn open_loop(self, rate: f64) -> Option<String> {
        match self.front_end {
            FrontEnd::Options => Some(format!("`{} -r {rate}`", self.without_users())),
            FrontEnd::PlanFile => {
                Some(format!("`{} --set load.users=null --set load.rate={rate}`", self.line_of_brunt()))
            }
            FrontEnd::OtherTool => None,
        }
    }

    /// The command line without what only a closed loop has.
    fn without_users(self) -> String {
        let line = self.line_of_brunt();
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let mut rest = Vec::new();
        while let Some(word) = words.next() {
            match word {
                "-c" | "--connections" | "--think" => drop(words.next()),
                _ if ["-c", "--connections=", "--think="].iter().any(|option| word.starts_with(option)) => {}
                _ => rest.push(word),
            }
        }
        rest.join(" ")
    }

    /// The command line with `brunt` in place of the path of the program.
    fn line_of_brunt(self) -> String {
        let words = self.line.split_once(' ').map_or("", |(_, words)| words);
        format!("brunt {words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_loop_is_the_closed_one_without_its_users() {
        for (closed, open) in [
            ("./brunt http://h/ -c 64 -d 5s", "`brunt http://h/ -d 5s -r 391`"),
            ("brunt --think 1s -c64 --connect-rate 9 'http://h/a b'", "`brunt --connect-rate 9 'http://h/a b' -r 391`"),
            ("brunt run plan.yaml -q", "`brunt run plan.yaml -q --set load.users=null --set load.rate=391`"),
        ] {
            assert_eq!(RunCommand::of(closed).open_loop(391.0).as_deref(), Some(open));
        }
        for other in ["ab -n 9 http://h/", "brunt run plan.jmx", "brunt-x http://h/", ""] {
            assert_eq!(RunCommand::of(other).open_loop(391.0), None, "{other}");
        }
    }

    #[test]
    fn a_setting_is_changed_the_way_in_which_the_run_was_started() {
        for (line, advice) in [
            ("brunt http://h/openapi.yaml", "run longer: `-d 10s`"),
            ("brunt run 'my plan.yaml'", "run longer: `--set load.duration=10s`"),
            ("siege -c 1 http://h/", "run longer"),
        ] {
            assert_eq!(RunCommand::of(line).advise("run longer", DURATION, "10s"), advice);
        }
    }
}
