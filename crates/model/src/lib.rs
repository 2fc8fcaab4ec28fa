//! The shared types of brunt, and their encodings. No I/O, no clock and no
//! defaults; `spec` has those.
//!
//! Every front end creates a [`Plan`]; the engine turns it into [`Event`]s; every output folds
//! events into a [`Run`].
//! * [`time`]: instants since the run began, durations as seconds, the trait [`Clock`].
//!   [`numbers`]: numbers as text.
//! * [`request`], [`scenario`], [`load`], [`plan`]: a complete run. [`reply_policy`], [`extract`],
//!   [`modifier`]: how replies are used.
//! * [`outcome`], [`sample`]: the outcome and the instants of a request; failed checks. [`record`]:
//!   a sample in the form of JMeter's result files.
//! * [`tally`], [`transaction`], [`snapshot`], [`spread`]: mergeable sums of samples and
//!   transactions, and the spacing of arrivals.
//! * [`event`], [`codec`]: the output of the engine, and its encoding. [`part`]: messages between
//!   the processes of one run.
//! * [`run`], [`series`], [`history`]: the fold of all events. [`reading_names`], [`secret`]:
//!   names. [`live_output`]: destinations of figures during a run.
//! * [`objective`]: a bound on a figure of a run; [`reached`]: whether it is met. [`goal`]: the
//!   precision at which a run ends early.
//! * [`experiment`], [`probe_spec`]: many runs, fully resolved; the readings of a server.
//!   [`study`]: the results of an experiment.
//! * [`finding`], [`analysis`]: decisions about a run, and about a sweep. [`question`], [`answer`],
//!   [`comparison`]: the same for experiments.

pub mod analysis;
pub mod answer;
pub mod codec;
pub mod comparison;
pub mod environment;
pub mod event;
pub mod experiment;
pub mod extract;
pub mod finding;
pub mod goal;
pub mod history;
pub mod live_output;
pub mod load;
pub mod modifier;
pub mod numbers;
pub mod objective;
pub mod outcome;
pub mod part;
pub mod plan;
pub mod probe_spec;
pub mod question;
pub mod reached;
pub mod reading_names;
pub mod record;
pub mod reply_policy;
pub mod request;
pub mod run;
pub mod sample;
pub mod scenario;
pub mod secret;
pub mod series;
pub mod snapshot;
pub mod spread;
pub mod study;
pub mod system_error;
pub mod tally;
pub mod time;
pub mod transaction;

pub use analysis::{Analysis, Bottleneck, Observation, Observations};
pub use answer::{Answer, Estimate};
pub use comparison::Comparison;
pub use environment::{Environment, Route};
pub use event::{Event, Finish, Loss, Phase, Reading, Warning};
pub use experiment::{Contender, Experiment, LoadUnit, TrialIndex};
pub use finding::{Finding, Judgement, Verdict};
pub use load::{Arrivals, Load, Shape, Stage, Stop, Think};
pub use objective::Objective;
pub use outcome::{CheckFailure, Failure, Outcome};
pub use part::{Assignment, PartCommand, ProcessMessage, ProcessPart};
pub use plan::{Plan, Population, StageKind, StageOutput, TestStage};
pub use probe_spec::{ProbeSpec, Probed};
pub use question::{CapacitySearch, Compare, Measure, Question};
pub use record::{AssertionRecord, DataType, RecordDetails, SampleRecord};
pub use reply_policy::ReplyPolicy;
pub use request::{Body, BodyFragment, Request};
pub use run::Run;
pub use sample::Sample;
pub use scenario::{Scenario, StageVariables};
pub use snapshot::{Flow, Snapshot};
pub use study::{Study, Trial};
pub use tally::Tally;
pub use time::{Clock, Tick};
pub use transaction::TransactionTally;
