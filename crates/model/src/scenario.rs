//! Scenarios of virtual users: a tree of steps over a list of requests.
//!
//! An iteration is one arrival of an open loop, or one round of a closed loop. It executes the
//! steps in order, and ends after the last one. `script` compiles the tree to a flat program.

mod choice;
mod request_list;
mod samples;
mod texts;

use crate::Request;
use crate::load::ThinkTime;
use crate::modifier::RequestModifier;
pub use choice::{Branch, ListOrder, Portion};
pub use request_list::RequestList;
pub use samples::{FixedSample, SampleMaker, ScriptSample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use texts::{StageVariables, TextRules};

/// Behavior of a virtual user in each iteration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// Requests that steps choose from; never empty.
    #[schemars(with = "Vec<Request>")]
    pub requests: RequestList,
    /// Steps of one iteration, in order.
    pub steps: Vec<ScenarioStep>,
    /// Program that makes the steps of an iteration, in place of `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<UserProgram>,
    /// Rules for placeholders in texts of requests and steps.
    #[serde(default)]
    pub texts: TextRules,
    /// Initial variables of each user: name and text. They are evaluated once before
    /// the load, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, String)>,
    /// Properties that functions and scripts of all users can read and change: name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<(String, String)>,
    /// Initial variables of each user that an earlier stage sets.
    #[serde(default, skip_serializing_if = "StageVariables::is_empty")]
    pub inherited_variables: StageVariables,
    /// Data files that [`ScenarioStep::Row`] reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataFile>,
    /// Folders from which functions may read files; relative names belong to the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Descriptors of the called gRPC services, as a `FileDescriptorSet`; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<u8>,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioStep {
    /// The request with this index in the list, from 0.
    Request(u32),
    /// The next request of the list. Requests of weight 0 are never next.
    Next(ListOrder),
    /// Requests that do not wait for each other's replies. The replies are checked. Cookies,
    /// credentials, page elements and versions are neither taken from them nor sent with them.
    Together {
        /// Way in which they are sent.
        manner: ConcurrencyMode,
        /// Requests, and loops and choices of requests.
        steps: Vec<ScenarioStep>,
    },
    /// A named group of steps, without timing.
    Group {
        /// Name of the group.
        name: String,
        /// Steps of the group.
        steps: Vec<ScenarioStep>,
    },
    /// Steps that are timed together: from the planned instant of the first request to the
    /// last byte of the last. The transaction ends after its steps, or if a stop or a
    /// failure ends the iteration. It fails if one of its requests fails. It is not a
    /// request, so no total includes it.
    Transaction {
        /// Name of the transaction in reports.
        name: String,
        /// Whether pauses between its requests are included in its time.
        #[serde(default)]
        pauses: Pauses,
        /// True: records contain its samples as parts of it, not separately.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parent: bool,
        /// Steps of the transaction.
        steps: Vec<ScenarioStep>,
    },
    /// Increases the number of samples that JMeter's records show for transactions, without a
    /// sample. It is not timed.
    // JMeter counts them in the message of a transaction: `Number of samples in transaction : 3`.
    CountInTransactions(TransactionCount),
    /// Repeats steps a number of times.
    Loop {
        /// Number of rounds; null: until the iteration is stopped.
        times: Option<Rounds>,
        /// Steps of one round.
        steps: Vec<ScenarioStep>,
    },
    /// Repeats steps while the condition holds before each round.
    While {
        /// Condition for another round.
        condition: Condition,
        /// True: the condition is evaluated twice between two rounds and must hold both
        /// times, as in JMeter.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        twice: bool,
        /// Steps of one round.
        steps: Vec<ScenarioStep>,
    },
    /// Executes one of two lists of steps.
    If {
        /// Condition that selects the list.
        condition: Condition,
        /// Steps if the condition holds.
        then: Vec<ScenarioStep>,
        /// Steps if the condition does not hold.
        #[serde(default, rename = "else", skip_serializing_if = "Vec::is_empty")]
        otherwise: Vec<ScenarioStep>,
    },
    /// Executes steps once for each value.
    ForEach {
        /// Variable with the current value; `${NAME}` in a text is replaced by it.
        variable: String,
        /// Values of the variable, in order.
        values: LoopValues,
        /// Steps for each value.
        steps: Vec<ScenarioStep>,
    },
    /// Executes the first case with a name equal to the text; none if there is no such case.
    Switch {
        /// Text that selects the case.
        value: String,
        /// Cases in their order.
        cases: Vec<SwitchCase>,
    },
    /// Executes all these lists of steps, in a new random order each time.
    Shuffle(Vec<Vec<ScenarioStep>>),
    /// Repeats steps for a time; the round that is active at its end is the last.
    During {
        /// A text: number of seconds.
        seconds: String,
        /// Steps of one round.
        steps: Vec<ScenarioStep>,
    },
    /// Executes steps while no other user of the run executes steps with the same lock.
    Lock {
        /// A text: name of the lock.
        name: String,
        /// Steps that need the lock.
        steps: Vec<ScenarioStep>,
    },
    /// Executes the steps of one branch.
    Choose {
        /// Order of the branches.
        order: ListOrder,
        /// Portion of the branch that is executed.
        #[serde(default, skip_serializing_if = "Portion::is_whole")]
        portion: Portion,
        /// Branches of the choice; never empty.
        branches: Vec<Branch>,
    },
    /// Steps in a choice with branches that take turns. They continue where their last turn ended.
    /// After the last step, they start again when the choice reaches them again. Between their
    /// turns, the rounds of their loops and their transactions are preserved.
    Resumable(Vec<ScenarioStep>),
    /// A pause; the next request is due after it.
    Think(ThinkTime),
    /// A pause of a number of milliseconds, given as a text; 0 if it is not a number.
    Pause(String),
    /// Runs a script, then pauses. The value of the script is the length in milliseconds; no number
    /// is 0.
    PauseByScript(Script),
    /// A pause that limits users to a rate.
    Pace(RatePause),
    /// Waits until a number of users of the population wait here.
    // JMeter's Synchronizing Timer.
    Meet {
        /// A text: number of users; 0: all users of the population.
        users: String,
        /// A text: maximum wait in milliseconds, after which the users continue; 0: no maximum.
        timeout: String,
    },
    /// Sets a variable to a text.
    Set {
        /// Name of the variable.
        variable: String,
        /// New value of the variable.
        value: String,
    },
    /// Sets variables to the cells of the next row of the data file with this number.
    Row(u32),
    /// Sets a variable to the next number of a counter.
    Count(VariableCounter),
    /// Runs a script of the user.
    Script(Script),
    /// Changes the next request before it is sent.
    Modify(RequestModifier),
    /// A sample without a request: it is listed among samples, but no total includes it.
    Sample(ScriptSample),
    /// Executes steps only in the first iteration of each user.
    Once(Vec<ScenarioStep>),
    /// Executes steps only once each time that the innermost enclosing loop begins.
    OncePerLoop(Vec<ScenarioStep>),
    /// Ends a part of the run.
    Stop(EndScope),
}

impl ScenarioStep {
    /// Returns the lists of steps in the step.
    pub fn inner(&self) -> Vec<&[Self]> {
        match self {
            Self::Together { steps, .. }
            | Self::Group { steps, .. }
            | Self::Transaction { steps, .. }
            | Self::Loop { steps, .. }
            | Self::While { steps, .. }
            | Self::ForEach { steps, .. }
            | Self::During { steps, .. }
            | Self::Lock { steps, .. }
            | Self::Resumable(steps)
            | Self::OncePerLoop(steps)
            | Self::Once(steps) => vec![steps],
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Switch { cases, .. } => cases.iter().map(|case| &case.steps[..]).collect(),
            Self::Shuffle(branches) => branches.iter().map(|steps| &steps[..]).collect(),
            Self::Choose { branches, .. } => {
                branches.iter().map(|branch| &branch.steps[..]).collect()
            }
            Self::Request(_)
            | Self::Next(_)
            | Self::CountInTransactions(_)
            | Self::Think(_)
            | Self::Pause(_)
            | Self::PauseByScript(_)
            | Self::Pace(_)
            | Self::Meet { .. }
            | Self::Set { .. }
            | Self::Row(_)
            | Self::Count(_)
            | Self::Script(_)
            | Self::Modify(_)
            | Self::Sample(_)
            | Self::Stop(_) => Vec::new(),
        }
    }

    /// True if `is` holds for a step of a list, or for a step in one of them.
    pub fn any(steps: &[Self], is: &dyn Fn(&Self) -> bool) -> bool {
        steps
            .iter()
            .any(|step| is(step) || step.inner().into_iter().any(|inner| Self::any(inner, is)))
    }

    /// Calls a function with each step of a list, and then with the steps in it.
    pub fn each(steps: &[Self], visit: &mut dyn FnMut(&Self)) {
        for step in steps {
            visit(step);
            step.inner().into_iter().for_each(|inner| Self::each(inner, visit));
        }
    }
}

/// Number of rounds of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Rounds {
    /// A fixed number of rounds.
    Number(u64),
    /// A text with the number, evaluated when the loop begins; 0 if it is not a number, unlimited
    /// if it is negative.
    // JMeter accepts functions and variables as the loop count.
    Text(String),
}

impl From<u64> for Rounds {
    fn from(times: u64) -> Self {
        Self::Number(times)
    }
}

/// Values of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LoopValues {
    /// These texts, in order.
    List(Vec<String>),
    /// Values of numbered variables, such as `id_1`, `id_2`, …, up to the first without a value.
    Numbered {
        /// Part of the variables' names before the number.
        prefix: String,
        /// A text: number before the first one; empty: 0.
        #[serde(default)]
        // JMeter's ForEach Controller excludes the start index and includes the end index.
        after: String,
        /// A text: last number; empty: no limit.
        #[serde(default)]
        last: String,
    },
}

/// A case of a switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SwitchCase {
    /// Names of the case; empty: the default case.
    pub names: Vec<String>,
    /// Steps of the case.
    pub steps: Vec<ScenarioStep>,
}

/// A data file with values of variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataFile {
    /// File name; a text that is evaluated before the load.
    pub file: String,
    /// Format of the file.
    pub format: DataFormat,
    /// Encoding, such as ISO-8859-1; empty: UTF-8. A byte order mark has priority.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub encoding: String,
    /// Variables of the columns; empty: the names in the first line, or of the JSON members.
    #[serde(default)]
    pub names: Vec<String>,
    /// True: the first line contains no data.
    #[serde(default)]
    pub skip_first: bool,
    /// Users that share the rows.
    #[serde(default)]
    pub shared: Sharing,
    /// Order of the rows.
    #[serde(default)]
    pub order: RowOrder,
    /// Behavior after the last row.
    #[serde(default)]
    pub at_end: DataEnd,
}

/// The format of a data file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataFormat {
    /// Columns that are separated by delimiters.
    Csv {
        /// A single character between cells.
        delimiter: char,
        /// True: cells may be in double quotes.
        quoted: bool,
    },
    /// One JSON object per line; its members are the columns.
    JsonLines,
}

/// Users that share the rows of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// All users of the run; each row is used once.
    #[default]
    All,
    /// The users of each population.
    Population,
    /// Each user separately: every user gets all rows.
    User,
}

/// Order of the rows of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// In the order of the file.
    #[default]
    Sequence,
    /// Random, drawn from the run's seed.
    Random,
}

/// Behavior after the last row of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataEnd {
    /// Starts again with the first row.
    #[default]
    Again,
    /// Stops the user for good.
    StopUser,
    /// Stops the whole run.
    StopRun,
    /// Sets variables to `<EOF>`, as in JMeter.
    // JMeter does so if a data set neither recycles its file nor stops the thread.
    Eof,
}

/// A counter that sets a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VariableCounter {
    /// Name of the variable.
    pub variable: String,
    /// A text: first number; empty: 0.
    pub start: String,
    /// A text: increment; empty: 1.
    pub step: String,
    /// A text: greatest number, after which it starts again; empty: no limit.
    pub end: String,
    /// Number format of Java's `DecimalFormat`, such as `000`; empty: plain digits.
    pub format: String,
    /// True: each user has a separate counter.
    pub per_user: bool,
    /// True: starts again with each iteration; only for separate counters.
    pub resets: bool,
}

/// A pause that limits users to a rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RatePause {
    /// A text: maximum number of passes per minute.
    pub per_minute: String,
    /// Users that the rate applies to.
    pub by: PaceScope,
    /// Name that pauses with a common rate share; empty: this pause alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shared: String,
    /// Consecutive rates for all users of the run together, instead of `per_minute`. After the last
    /// one the run ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<PaceStage>,
}

/// A stage of a rate's schedule; numbers are texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaceStage {
    /// Rate per second at the beginning of the stage.
    pub from: String,
    /// Rate per second at the end of the stage.
    pub to: String,
    /// Length of the stage, in seconds.
    pub seconds: String,
}

/// Users that a rate applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaceScope {
    /// Each user is limited separately.
    User,
    /// Each user gets an equal share of the rate, by the number of users in the run.
    ShareOfAll,
    /// Each user gets an equal share of the rate, by the number of users in its population.
    ShareOfPopulation,
    /// All users of the run together.
    All,
    /// All users of the population together.
    Population,
}

/// A script in one of the supported languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Script {
    /// Name of the script in messages.
    pub name: String,
    /// Language of the script.
    pub language: ScriptLanguage,
    /// Source code. By JMeter's rules, `${…}` in it is replaced before it is parsed.
    pub source: String,
    /// A text: parameters of the script.
    #[serde(default)]
    pub parameters: String,
}

/// A program that makes the steps of each iteration of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserProgram {
    /// Kind of the program.
    pub kind: ProgramKind,
    /// The program with everything that it needs, in a form that its kind defines.
    pub source: String,
}

/// The kind of a user's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramKind {
    /// A script of k6 with its modules and data.
    K6,
}

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScriptLanguage {
    /// Groovy, and Java as far as it is a subset.
    Groovy,
    /// `BeanShell`.
    Beanshell,
    /// ECMAScript.
    Javascript,
    /// Apache JEXL.
    Jexl,
}

/// Way of sending requests that do not wait for each other's replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConcurrencyMode {
    /// Pipelining (RFC 9112 section 9.3.2): all at once on one connection, with replies in order.
    /// If one has no reply, the later ones have none either.
    Pipelined,
    /// Parallel: each on a separate lane, with this many at most. Lanes are connections, or streams
    /// of one connection. Cookies of redirects are stored.
    Parallel(u32),
}

/// Additional counts of JMeter in a transaction, without a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransactionCount {
    /// A sampler without a sample, such as a pause; counted in all enclosing transactions.
    Sampler,
    /// The end of a controller that a sampler follows; counted in the innermost transaction.
    ControllerEnd,
}

/// Whether the pauses of a user are part of the time of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pauses {
    /// Pauses are not included.
    #[default]
    Excluded,
    /// Pauses are part of it.
    Included,
}

/// Condition of a step, often about the user's last request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The last request failed: no complete reply, or a failed check.
    Failed,
    /// The last reply is complete, and no check failed. Also true before the first request.
    Succeeded,
    /// The status of the last reply is in this range, inclusive.
    Status(u16, u16),
    /// The variable has this value.
    Equals(String, String),
    /// The texts are equal.
    Same(String, String),
    /// At least one of these conditions holds.
    Any(Vec<Condition>),
    /// The text is `true`, in upper or lower case.
    True(String),
    /// The text is `false`, in upper or lower case.
    False(String),
    /// The regular expression matches somewhere in the text.
    Matches(String, String),
    /// True for a share of the evaluations.
    Share(ConditionShare),
    /// The other condition does not hold.
    Not(Box<Condition>),
}

/// Share of the evaluations of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionShare {
    /// A text: a number.
    pub value: String,
    /// True: the number is a percentage. False: it is a total number of times.
    // JMeter's Throughput Controller has both modes: percent and total executions.
    pub percent: bool,
    /// True: evaluations are counted for each user separately.
    pub per_user: bool,
}

/// Part of a run that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndScope {
    /// The run continues unchanged.
    #[default]
    Nothing,
    /// The turn of the innermost choice with turns, and of such choices around it.
    Turn,
    /// The round of the innermost loop; without a loop, the iteration.
    Round,
    /// The innermost loop; without a loop, the iteration, and in a JMeter plan the user.
    Loop,
    /// The user's current iteration.
    Iteration,
    /// The user, which does nothing more. In an open loop each arrival is a user,
    /// so its iteration ends.
    User,
    /// The run, in all its processes: no further request begins.
    Run,
}

impl Scenario {
    /// Creates a scenario that repeats one request.
    pub fn one(request: Request) -> Self {
        Self::list(vec![request], ListOrder::Sequence)
    }

    /// Creates a scenario with one request of a list per iteration.
    pub fn list(requests: Vec<Request>, order: ListOrder) -> Self {
        Self::of(requests, vec![ScenarioStep::Next(order)])
    }

    /// Creates a scenario from requests and steps.
    pub fn of(requests: Vec<Request>, steps: Vec<ScenarioStep>) -> Self {
        Self { requests: requests.into(), steps, ..Self::default() }
    }

    /// Returns the order of the list if an iteration is one request of it.
    pub fn order(&self) -> Option<ListOrder> {
        // A step that is executed only once does not change the later iterations.
        match &self.steps[..] {
            [ScenarioStep::Next(order)] | [ScenarioStep::Once(_), ScenarioStep::Next(order)] => {
                Some(*order)
            }
            _ => None,
        }
    }
}
