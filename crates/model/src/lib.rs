//! The words of brunt and their written forms: no I/O, no clock, and no defaults, which are the command's.
//!
//! Every way in makes a [`Plan`]; the engine turns a Plan into [`Event`]s; every way out folds Events into a [`Run`].
//! * [`time`]: instants since the run began, durations as seconds, the trait [`Clock`]. [`numbers`]: numbers as text.
//! * [`request`], [`scenario`], [`load`], [`plan`]: a run in full. [`reply_policy`], [`extract`], [`modifier`]: how replies are used.
//! * [`outcome`], [`sample`]: what became of one request, and when; failed checks. [`record`]: a sample as JMeter's result files list it.
//! * [`tally`], [`transaction`], [`snapshot`], [`spread`]: mergeable sums of samples, of transactions, and of when they came.
//! * [`event`], [`codec`]: what leaves the engine, and its bytes. [`part`]: what processes of one run say to each other.
//! * [`run`], [`series`], [`history`]: the fold of all events. [`reading_names`], [`secret`]: names. [`live_output`]: where figures are sent meanwhile.
//! * [`objective`]: a bound on a figure of a run; [`reached`]: whether it is met. [`goal`]: how sure a figure is to be before the end.
//! * [`experiment`], [`probe_spec`]: many runs, fully resolved; what is read of a server meanwhile. [`study`]: what they came to.
//! * [`finding`], [`analysis`]: what was decided about a run, and about a sweep. [`question`], [`answer`], [`comparison`]: the same of experiments.

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
pub use part::{Account, Assignment, Part, PartCommand};
pub use plan::{HandedOn, Plan, Population, StageKind, TestStage};
pub use probe_spec::{ProbeSpec, Probed};
pub use question::{Compare, Find, Measure, Question};
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
