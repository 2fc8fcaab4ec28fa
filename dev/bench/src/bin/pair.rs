//! Compares two builds of brunt by their CPU time per request: `brunt-bench-pair
//! --old PATH --new PATH`.
//!
//! The two builds run in turn (old new, new old, …) against the suite's nginx until the ratio is
//! precise enough: its 95 % confidence interval has a half width of 0.5 %. If the rounds are used
//! up first, the result is "inconclusive". `brunt-bench` compares brunt with other tools.

use anyhow::{Context, Result, bail};
use brunt_bench::cases::{BenchCase, CASES, named};
use brunt_bench::child::InterruptFlag;
use brunt_bench::machine;
use brunt_bench::maths::Ratio;
use brunt_bench::measure::Stand;
use brunt_bench::nginx::BenchNginx;
use brunt_bench::output;
use brunt_bench::table;
use brunt_bench::tools::{BenchTool, Toolbox};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Minimum number of rounds before an interval is used.
// An interval of a few rounds can be narrow by chance.
const LEAST_ROUNDS: usize = 8;

/// Compare two builds of brunt by their CPU time per request.
#[derive(Debug, Parser)]
#[command(name = "brunt-bench-pair")]
struct Options {
    /// The build to compare with
    #[arg(long, value_name = "PATH")]
    old: PathBuf,
    /// The build to measure
    #[arg(long, value_name = "PATH")]
    new: PathBuf,
    /// Only this case (repeatable) [default: every closed and open loop]
    #[arg(long, value_name = "NAME", value_parser = CASES.map(|case| case.name))]
    case: Vec<String>,
    /// Report a case as inconclusive after this many rounds
    #[arg(long, default_value_t = 60, value_name = "N")]
    rounds: usize,
    /// Length of one run in seconds
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Half width of the ratio's 95 % confidence interval at which a case ends, in percent
    #[arg(long, default_value_t = 0.5, value_name = "PERCENT")]
    half_width: f64,
    /// Maximum increase of the new build's CPU time, in percent
    #[arg(long, default_value_t = 1.0, value_name = "PERCENT")]
    worse: f64,
    /// Write the page here, as Markdown
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Result of one case.
struct Outcome {
    case: BenchCase,
    rounds: usize,
    ratio: Ratio,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    NotWorse,
    Worse,
    Inconclusive,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::NotWorse => "not worse",
            Self::Worse => "**worse**",
            Self::Inconclusive => "inconclusive",
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    output::exit_code("brunt-bench-pair", run(&options).map(|verdicts| exit_code(&verdicts)))
}

fn exit_code(verdicts: &[Verdict]) -> ExitCode {
    // An inconclusive case does not show that the new build is as good.
    let is_worse = verdicts.iter().any(|verdict| *verdict != Verdict::NotWorse);
    ExitCode::from(u8::from(is_worse))
}

fn run(options: &Options) -> Result<Vec<Verdict>> {
    machine::raise_file_limit()?;
    let interrupt = InterruptFlag::install()?;
    let stand = Stand {
        server: BenchNginx::start(&interrupt)?,
        toolbox: Toolbox::default(),
        interrupt,
        scratch: tempfile::tempdir()?,
        seconds: options.seconds,
        pinned: false,
    };
    let mut outcomes = Vec::new();
    for case in cases(options) {
        let outcome = compare(&stand, case, options)?;
        output::progress(&cells(&outcome, options).join("  "));
        outcomes.push(outcome);
    }
    let page = page(&outcomes, options);
    output::result(&page);
    if let Some(file) = &options.out {
        std::fs::write(file, page).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(outcomes.iter().map(|outcome| verdict(outcome, options)).collect())
}

fn cases(options: &Options) -> Vec<BenchCase> {
    if options.case.is_empty() {
        return CASES.into_iter().filter(BenchCase::is_of_rounds).collect();
    }
    options.case.iter().filter_map(|name| named(name).copied()).collect()
}

fn compare(stand: &Stand, case: BenchCase, options: &Options) -> Result<Outcome> {
    let mut ratios = Vec::new();
    loop {
        let round = ratios.len();
        let mut builds = [&options.old, &options.new];
        // Each build is first in every other round, so that a drift of the machine cancels out.
        if round % 2 == 1 {
            builds.reverse();
        }
        let [first, second] = builds.map(|build| cpu_per_request(stand, &case, build));
        let (old, new) = if round % 2 == 1 { (second?, first?) } else { (first?, second?) };
        ratios.push(new / old);
        let ratio = Ratio::of(&ratios).filter(|_| ratios.len() >= LEAST_ROUNDS.min(options.rounds));
        if let Some(ratio) = ratio
            && (ratio.half_width() * 100.0 <= options.half_width || ratios.len() >= options.rounds)
        {
            return Ok(Outcome { case, rounds: ratios.len(), ratio });
        }
    }
}

fn cpu_per_request(stand: &Stand, case: &BenchCase, build: &Path) -> Result<f64> {
    let Some(run) = stand.measure_with(case, BenchTool::Brunt, build, 0) else {
        bail!("{} has no rounds", case.name);
    };
    let observed = run.with_context(|| format!("{} with {}", case.name, build.display()))?.observed;
    // A run without requests must not divide by 0.
    Ok(observed.cpu_seconds() / observed.requests.max(1) as f64)
}

fn verdict(outcome: &Outcome, options: &Options) -> Verdict {
    if outcome.ratio.half_width() * 100.0 > options.half_width {
        return Verdict::Inconclusive;
    }
    let is_worse = outcome.ratio.estimate > 1.0 + options.worse / 100.0;
    if is_worse { Verdict::Worse } else { Verdict::NotWorse }
}

fn page(outcomes: &[Outcome], options: &Options) -> String {
    let rows: Vec<_> = outcomes.iter().map(|outcome| cells(outcome, options)).collect();
    let headings = ["case", "rounds", "CPU per request, new ÷ old", "95 % CI", "verdict"];
    format!(
        "Paired rounds of {} s, both builds in turn; a case ends at a half width of {} %, or after {} rounds.\n\n{}",
        options.seconds,
        options.half_width,
        options.rounds,
        table::render(&headings, &rows)
    )
}

fn cells(outcome: &Outcome, options: &Options) -> Vec<String> {
    let Ratio { estimate, low, high } = outcome.ratio;
    vec![
        outcome.case.name.to_owned(),
        outcome.rounds.to_string(),
        format!("{estimate:.4}"),
        format!("{low:.4}–{high:.4}"),
        verdict(outcome, options).name().to_owned(),
    ]
}
