//! What makes a reply, and the run, good.

use super::values;
use brunt_model::Objective;
use brunt_model::plan::StatusRange;
use brunt_spec::words::{objective, status};
use clap::Args;

/// What makes a reply, and the run, good.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// Statuses that are good, such as 200,201,300-399,2xx; repeatable [default: all below 400]
    #[arg(long, value_name = "LIST", value_parser = status::parse)]
    pub expect_status: Vec<Vec<StatusRange>>,

    /// What the body of a good reply matches; a match must lie within 256 kB of the decoded body
    #[arg(long, value_name = "REGEX", value_parser = values::regex)]
    pub expect_body: Option<String>,

    /// Every body as long as the first good one of its label
    #[arg(long)]
    pub expect_same_length: bool,

    /// Bounds, such as 'p99 < 50ms, errors < 0.1%, goodput > 1000/s'; exit code 4 if missed; repeatable
    #[arg(long = "objective", value_name = "BOUNDS", value_parser = objective::parse)]
    pub objectives: Vec<Vec<Objective>>,

    /// Exit code 6 where the generator was the limit; without it, that is only told
    #[arg(long)]
    pub strict: bool,
}
