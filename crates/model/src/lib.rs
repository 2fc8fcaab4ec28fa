//! The shared types of brunt, and their encodings. No I/O, no clock, and no defaults (see `spec`).
//!
//! A front end creates a [`Plan`], the engine [`Event`]s of it, and outputs fold these to a [`Run`].
//! * [`request`], [`scenario`], [`load`], [`plan`], [`reply_policy`], [`extract`], [`modifier`]: a run. [`outcome`], [`sample`], [`record`]: one request, and its form in JMeter's result files.
//! * [`tally`], [`transaction`], [`snapshot`], [`spread`]: mergeable sums of samples. [`event`], [`codec`]: output of the engine. [`run`], [`series`], [`history`], [`live_output`]: all events folded; figures during a run. [`part`], [`agent`], [`fleet`]: shares of agents.
//! * [`objective`], [`reached`], [`goal`]: bounds on figures, and the precision that ends a run. [`finding`], [`analysis`], [`question`], [`answer`], [`comparison`]: conclusions.
//! * [`metric`]: figures of scripts. [`experiment`], [`probe_spec`], [`study`]: many runs, readings of a server, and the results. [`run_history`]: comparable runs over months. [`mod@text`], [`numbers`], [`reading_names`]: texts for people, numbers as text, names of readings. [`time`], [`secret`], [`sync`]: instants, secrets, locks.

pub mod agent;
pub mod analysis;
pub mod answer;
pub mod codec;
pub mod comparison;
pub mod environment;
pub mod event;
pub mod experiment;
pub mod extract;
pub mod finding;
pub mod fleet;
pub mod goal;
pub mod history;
pub mod live_output;
pub mod load;
pub mod metric;
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
pub mod run_history;
pub mod sample;
pub mod scenario;
pub mod secret;
pub mod series;
pub mod snapshot;
pub mod spread;
pub mod study;
pub mod sync;
pub mod system_error;
pub mod tally;
pub mod text;
pub mod time;
pub mod transaction;

pub use analysis::{Analysis, Bottleneck, Observation, Observations};
pub use answer::{CapacityResult, Estimate};
pub use comparison::Comparison;
pub use environment::{AgentEnvironment, DataFileFacts, Environment, Route};
pub use event::{Event, Finish, LostProcess, Mark, Phase, Reading, Warning};
pub use experiment::{Contender, Experiment, LoadUnit, TrialIndex};
pub use finding::{Finding, Judgement, Verdict};
pub use fleet::{AgentFacts, ClockOffset, FleetSettings, Placement};
pub use load::{Arrivals, Load, LoadShape, LoadStage, Stop, ThinkTime};
pub use objective::Objective;
pub use outcome::{CheckFailure, Failure, Outcome};
pub use part::{PartCommand, ProcessMessage, ProcessPart, ProcessShares};
pub use plan::{Plan, Population, StageKind, StageOutput, TestStage};
pub use probe_spec::{ProbeSpec, Probed};
pub use question::{CapacitySearch, ComparisonSettings, Measure, Question};
pub use record::{AssertionRecord, DataType, RecordDetails, SampleRecord};
pub use reply_policy::ReplyPolicy;
pub use request::{Body, BodyFragment, Request};
pub use run::Run;
pub use sample::Sample;
pub use scenario::{Scenario, StageVariables};
pub use snapshot::{Flow, Snapshot};
pub use study::{Study, Trial};
pub use tally::Tally;
pub use text::{Language, Text};
pub use time::{Clock, Tick};
pub use transaction::TransactionTally;
