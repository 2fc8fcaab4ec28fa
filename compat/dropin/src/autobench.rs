//! Implements `autobench` (options, configuration file, table), `autobench_admin` and `autobenchd`.
//!
//! * [`keys`], [`conf`], [`settings`]: settings from the command line and `~/.autobench.conf`.
//! * [`tester`]: runs an httperf command line and returns its
//!   report. [`figures`]: reads that report.
//! * [`sweep`]: runs one test per rate. [`table`], [`number`]: format the results.
//! * [`mod@admin`], [`mod@daemon`]: the same from several machines. [`order`]:
//!   their messages to each other.
//! * [`secret`]: authenticates these messages.
//!
//! Out of scope: an engine, and a parser of HTTP. Every figure comes from the report of brunt's
//! httperf or of the real one.

mod admin;
mod conf;
mod daemon;
mod figures;
mod keys;
mod number;
mod order;
mod secret;
mod settings;
mod sweep;
mod table;
mod tester;

pub use admin::run as admin;
pub use daemon::run as daemon;

use crate::caller::Caller;
use figures::AutobenchFigures;
use keys::KeyScope;
use settings::{AutobenchSettings, TestedHost};
use std::sync::Arc;
use table::COLUMNS;
use tester::Tester;

/// Exit code of a Perl script that dies.
const DIED: u8 = 255;
/// The one brunt option that also makes sense with a different httperf.
const NO_NOTES: &str = "no-notes";

/// Why no test, or no further test, is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// Everything requested was printed. The text goes to stdout.
    Output(String),
    /// An error. The text goes to stderr.
    Error(String),
}

impl From<String> for StopReason {
    fn from(why: String) -> Self {
        Self::Error(why)
    }
}

impl StopReason {
    /// Prints the text and returns the exit code.
    fn report(&self, program_name: &str, caller: &Caller) -> u8 {
        match self {
            Self::Output(text) => {
                caller.out(text);
                0
            }
            Self::Error(why) => {
                caller.err_line(&format!("{program_name}: {why}"));
                DIED
            }
        }
    }
}

/// Runs an autobench command line and returns the exit code. `program_name` is the
/// name that the user typed.
pub fn run(program_name: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    measure(program_name, words, caller).map_or_else(|end| end.report(program_name, caller), |()| 0)
}

fn measure(program_name: &str, words: &[String], caller: &Arc<Caller>) -> Result<(), StopReason> {
    let settings = settings::read(program_name, words, KeyScope::Autobench, caller)?;
    sweep::resolve(&settings)?;
    let tester = tester::tester(&settings, caller)?;
    let mut tests = Tests { settings: &settings, tester, caller, unsampled: 0 };
    let swept = sweep::sweep(&settings, &COLUMNS, caller, &mut |host, rate| {
        Ok(tests.figures(host, rate)?.cells())
    });
    if tests.unsampled > 0 && !settings.has_brunt_option(NO_NOTES) {
        caller.err_line(&format!(
            "brunt: {} of the tests were shorter than the five seconds that httperf takes for a sample of replies: their \
             min, avg and max are 0.0 and mean nothing; write --const_test_time",
            tests.unsampled
        ));
    }
    swept
}

/// Runs the tests of a sweep.
struct Tests<'a> {
    settings: &'a AutobenchSettings,
    tester: Box<dyn Tester>,
    caller: &'a Caller,
    /// Number of tests with replies but without a reply-rate sample.
    unsampled: u64,
}

impl Tests<'_> {
    /// Runs one test and returns its figures.
    fn figures(&mut self, host: &TestedHost, rate: f64) -> Result<AutobenchFigures, StopReason> {
        let settings = self.settings;
        let words = sweep::words(settings, host, rate, settings.connections.count_at(rate));
        if settings.debug {
            self.caller.err_line(&self.tester.command_line(&words));
        }
        let brunt_options: Vec<String> =
            settings.brunt_options.iter().map(|option| option.word(host, rate)).collect();
        let text = self.tester.report(&words, &brunt_options)?;
        if !settings.quiet {
            self.caller.out(&text);
        }
        let figures = AutobenchFigures::read(&text).map_err(|missing| {
            format!(
                "httperf's report at rate {} has no line `{missing}`; --debug shows its words",
                number::perl(rate)
            )
        })?;
        if figures.replies == 0 {
            self.caller.err_line(&format!(
                "Zero replies received, test invalid: rate {}",
                number::perl(rate)
            ));
        } else if figures.max_reply_rate() == "0.0" {
            // httperf samples every five seconds. A shorter test has no sample.
            self.unsampled += 1;
        }
        Ok(figures)
    }
}
