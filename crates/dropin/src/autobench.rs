//! autobench: its options, its configuration file, its table; and on many machines, `autobench_admin` and `autobenchd`.
//!
//! * [`keys`], [`conf`], [`settings`]: what is asked, of the command line and of `~/.autobench.conf`.
//! * [`tester`]: who answers an httperf command line with the text of its report. [`figures`]: what is read of that text.
//! * [`sweep`]: one test after the other. [`table`], [`number`]: how it is written.
//! * [`mod@admin`], [`mod@daemon`]: the same from many machines. [`order`]: what they say to each other; [`secret`]: who may give them.
//!
//! Out of scope: an engine, and a reader of HTTP. Every figure comes from httperf's text, ours or the real one's.

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
use figures::Figures;
use keys::KeyScope;
use settings::{Host, Settings};
use std::sync::Arc;
use table::COLUMNS;
use tester::Tester;

/// What a Perl script that dies ends with.
const DIED: u8 = 255;
/// What stands among the errors of a test without a reply, in per cent.
const NO_REPLY: f64 = 101.0;

/// The one of our options that is good beside another httperf, too.
const NO_NOTES: &str = "no-notes";

/// Why nothing, or nothing more, is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// All that was asked for was said; this on stdout.
    Said(String),
    /// Something is wrong; this on stderr.
    Died(String),
}

impl From<String> for End {
    fn from(why: String) -> Self {
        Self::Died(why)
    }
}

impl End {
    /// Tells it; how the process is to exit.
    fn tell(&self, called: &str, caller: &Caller) -> u8 {
        match self {
            Self::Said(text) => {
                caller.out(text);
                0
            }
            Self::Died(why) => {
                caller.err_line(&format!("{called}: {why}"));
                DIED
            }
        }
    }
}

/// Carries out a command line of autobench's: the name under which it was called, and what it is told; the exit code.
pub fn run(called: &str, words: &[String], caller: &Arc<Caller>) -> u8 {
    measure(called, words, caller).map_or_else(|end| end.tell(called, caller), |()| 0)
}

fn measure(called: &str, words: &[String], caller: &Arc<Caller>) -> Result<(), End> {
    let settings = settings::read(called, words, KeyScope::Autobench, caller)?;
    sweep::resolve(&settings)?;
    let tester = tester::tester(&settings, caller)?;
    let mut tests = Tests { settings: &settings, tester, caller, unsampled: 0 };
    let swept = sweep::sweep(&settings, &COLUMNS, caller, &mut |host, rate| tests.test(host, rate));
    if tests.unsampled > 0 && !settings.is_aside(NO_NOTES) {
        caller.err_line(&format!(
            "brunt: {} of the tests were shorter than the five seconds that httperf takes for a sample of replies: their \
             min, avg and max are 0.0 and mean nothing; write --const_test_time",
            tests.unsampled
        ));
    }
    swept
}

/// The tests of a sweep.
struct Tests<'a> {
    settings: &'a Settings,
    tester: Box<dyn Tester>,
    caller: &'a Caller,
    /// How many had replies, and no sample of them.
    unsampled: u64,
}

impl Tests<'_> {
    /// One test, as the cells of its host.
    fn test(&mut self, host: &Host, rate: f64) -> Result<Vec<String>, End> {
        let settings = self.settings;
        let words = sweep::words(settings, host, rate, settings.connections.at(rate));
        if settings.debug {
            self.caller.err_line(&self.tester.named(&words));
        }
        let ours: Vec<String> = settings.side.iter().map(|aside| aside.word(host, rate)).collect();
        let text = self.tester.report(&words, &ours)?;
        if !settings.quiet {
            self.caller.out(&text);
        }
        let figures = Figures::read(&text).map_err(|missing| {
            format!("httperf's report at rate {} has no line `{missing}`; --debug shows its words", number::perl(rate))
        })?;
        if figures.replies == 0 {
            self.caller.err_line(&format!("Zero replies received, test invalid: rate {}", number::perl(rate)));
        } else if figures.max_reply_rate() == "0.0" {
            self.unsampled += 1;
        }
        let errors = number::perl(figures.errors_in_percent().unwrap_or(NO_REPLY));
        Ok(figures.texts.into_iter().chain([errors]).collect())
    }
}
