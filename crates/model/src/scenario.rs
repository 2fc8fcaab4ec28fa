//! What a virtual user does: a tree of steps over a list of requests.
//!
//! An iteration is one arrival of an open loop, or one round of a closed one. It carries out the steps in order, and is over
//! behind the last. `script` compiles the tree to a flat program.

mod choice;
mod request_list;
mod samples;
mod texts;

use crate::Request;
use crate::load::Think;
use crate::modifier::RequestModifier;
pub use choice::{Branch, Order, Portion};
pub use request_list::RequestList;
pub use samples::{FixedSample, SampleMaker, ScriptSample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use texts::{StageVariables, TextRules};

/// What a virtual user does in each iteration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// The list of requests that steps choose from; never empty.
    #[schemars(with = "Vec<Request>")]
    pub requests: RequestList,
    /// One iteration, in order.
    pub steps: Vec<Step>,
    /// How the texts of its requests and steps are read.
    #[serde(default)]
    pub texts: TextRules,
    /// The variables that each user begins with: name and text, filled in once before the load, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, String)>,
    /// The properties that functions and scripts of all users read, and may change: name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<(String, String)>,
    /// The variables that a stage before sets, with which each user begins.
    #[serde(default, skip_serializing_if = "StageVariables::is_empty")]
    pub handed: StageVariables,
    /// The data files that [`Step::Row`] reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataFile>,
    /// The folders below which functions may read files; relative names are looked for from the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// The descriptors of the gRPC services that are called: a `FileDescriptorSet`; empty: none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<u8>,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The request of this number in the list, from 0.
    Request(u32),
    /// The next request of the list; those of weight 0 are never next.
    Next(Order),
    /// Requests that do not wait for each other's replies. Their replies are checked; cookies, credentials, page elements and
    /// versions are neither taken from them nor sent with them.
    Together {
        /// How they are sent.
        manner: Manner,
        /// What is asked: requests, and loops and choices of requests.
        steps: Vec<Step>,
    },
    /// Steps that belong together. A group is not timed.
    Group {
        /// Its name.
        name: String,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Steps that are timed together, from when the first request among them is due to the last byte of the last. It is over
    /// behind its steps, or where a stop or a failure ends the iteration within them; it failed where one of its requests did.
    /// It is no request: no total counts it.
    Transaction {
        /// Under which it is reported.
        name: String,
        /// Whether pauses between its requests count.
        #[serde(default)]
        pauses: Pauses,
        /// Records list its samples within it, and not by themselves.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parent: bool,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// One more in the number of samples that records of JMeter give transactions, though it is no sample. It is not timed.
    CountInTransactions(Counted),
    /// Repeats steps.
    Loop {
        /// How often; null: until the iteration is stopped.
        times: Option<Rounds>,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// These steps again and again, as long as the condition holds before them.
    While {
        /// When they are carried out once more.
        condition: Condition,
        /// As in JMeter, the condition is looked at twice between two rounds, and must hold both times.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        twice: bool,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// One of two lists of steps.
    If {
        /// Which of them.
        condition: Condition,
        /// Where it holds.
        then: Vec<Step>,
        /// Where it does not.
        #[serde(default, rename = "else", skip_serializing_if = "Vec::is_empty")]
        otherwise: Vec<Step>,
    },
    /// These steps once for each value.
    ForEach {
        /// The variable that is set; `${NAME}` in a text stands for it.
        variable: String,
        /// Its values, in order.
        values: Values,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// The steps of the first case whose name is the text; none where there is no such case.
    Switch {
        /// The text.
        value: String,
        /// The cases.
        cases: Vec<Case>,
    },
    /// All of these lists of steps, in an order that is drawn anew each time.
    Shuffle(Vec<Vec<Step>>),
    /// These steps again and again for so many seconds; the one under way then is the last.
    During {
        /// A text with a number of seconds.
        seconds: String,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// These steps, while no other user of the run is within steps of the same lock.
    Lock {
        /// A text with the name of the lock.
        name: String,
        /// What is done within it.
        steps: Vec<Step>,
    },
    /// The steps of one branch.
    Choose {
        /// Which branch is next.
        order: Order,
        /// How much of it is carried out.
        #[serde(default, skip_serializing_if = "Portion::is_whole")]
        portion: Portion,
        /// The branches; never empty.
        branches: Vec<Branch>,
    },
    /// Steps within a choice whose branches take turns: they go on behind where their last turn ended. Behind the last they begin
    /// anew when the choice comes to them again. Between their turns they keep the rounds of their loops, and their transactions.
    Resumable(Vec<Step>),
    /// A pause; the next request is due behind it.
    Think(Think),
    /// A pause of as many milliseconds as a text says; of none where it is no number.
    Pause(String),
    /// A script, then a pause. The value of the script is its length in milliseconds; no number is 0.
    PauseByScript(Script),
    /// A pause that keeps users to a rate.
    Pace(Pace),
    /// Waits until so many users of the population wait here.
    Meet {
        /// A text with their number; 0: all users of the population.
        users: String,
        /// A text with the milliseconds after which they go on all the same; 0: never.
        timeout: String,
    },
    /// A variable gets a text.
    Set {
        /// The variable.
        variable: String,
        /// The text.
        value: String,
    },
    /// Variables get the cells of the next row of the data file of this number.
    Row(u32),
    /// A variable gets the next number of a counter.
    Count(Counter),
    /// A script is run.
    Script(Script),
    /// The next request is changed before it is sent.
    Modify(RequestModifier),
    /// A sample that is no request: it is listed among samples, and counts in no total.
    Sample(ScriptSample),
    /// These steps in the first iteration of each user, and never again.
    Once(Vec<Step>),
    /// Steps that are carried out the first time that the innermost loop around them comes to them, each time it begins.
    OncePerLoop(Vec<Step>),
    /// Something is over.
    Stop(Scope),
}

impl Step {
    /// The lists of steps within it.
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
            Self::Choose { branches, .. } => branches.iter().map(|branch| &branch.steps[..]).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a step of a list, or one within it, is so.
    pub fn any(steps: &[Self], is: &dyn Fn(&Self) -> bool) -> bool {
        steps.iter().any(|step| is(step) || step.inner().into_iter().any(|inner| Self::any(inner, is)))
    }

    /// Calls a function with each step of a list, and then with those within it.
    pub fn each(steps: &[Self], visit: &mut dyn FnMut(&Self)) {
        for step in steps {
            visit(step);
            step.inner().into_iter().for_each(|inner| Self::each(inner, visit));
        }
    }
}

/// How often something is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Rounds {
    /// A fixed number of rounds.
    Number(u64),
    /// As often as a text says when the loop begins; not at all where it is no number, and for ever where it is below 0.
    Text(String),
}

impl From<u64> for Rounds {
    fn from(times: u64) -> Self {
        Self::Number(times)
    }
}

/// The values of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Values {
    /// These texts.
    List(Vec<String>),
    /// Those of numbered variables, such as `id_1`, `id_2`, …, up to the first that has no value.
    Numbered {
        /// What stands before the number.
        prefix: String,
        /// A text: the number before the first; empty: 0.
        #[serde(default)]
        after: String,
        /// A text: the last number; empty: there is none.
        #[serde(default)]
        last: String,
    },
}

/// One of the cases of a switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Its names; empty: it is taken where no other is.
    pub names: Vec<String>,
    /// What is done.
    pub steps: Vec<Step>,
}

/// A data file whose rows set variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataFile {
    /// The file; a text that is filled in before the load.
    pub file: String,
    /// Its format.
    pub format: DataFormat,
    /// The name of its encoding, such as ISO-8859-1; empty: UTF-8. A byte order mark has priority.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub encoding: String,
    /// The variables of its columns; empty: the names in its first line, or of its JSON members.
    #[serde(default)]
    pub names: Vec<String>,
    /// The first line is no data.
    #[serde(default)]
    pub skip_first: bool,
    /// Whose rows they are.
    #[serde(default)]
    pub shared: Sharing,
    /// Which row is next.
    #[serde(default)]
    pub order: RowOrder,
    /// What happens behind the last row.
    #[serde(default)]
    pub at_end: DataEnd,
}

/// The format of a data file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataFormat {
    /// Columns between delimiters.
    Csv {
        /// The delimiter, one character.
        delimiter: char,
        /// Cells may stand in double quotes.
        quoted: bool,
    },
    /// One JSON object a line; its members are the columns.
    JsonLines,
}

/// Whose rows those of a data file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// All users of the run take them in turn, each row for one.
    #[default]
    All,
    /// The users of each population do.
    Population,
    /// Each user has all of them for itself.
    User,
}

/// Which row of a data file is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// The one behind the last that was taken.
    #[default]
    Sequence,
    /// Any, drawn from the run's seed.
    Random,
}

/// What happens behind the last row of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataEnd {
    /// It begins again.
    #[default]
    Again,
    /// The user does nothing more.
    StopUser,
    /// The run is over.
    StopRun,
    /// Variables become `<EOF>`, as in JMeter.
    Eof,
}

/// A variable that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// The variable.
    pub variable: String,
    /// A text: the first number; empty: 0.
    pub start: String,
    /// A text: how much is added each time; empty: 1.
    pub step: String,
    /// A text: the greatest number, behind which it begins again; empty: there is none.
    pub end: String,
    /// How it is written, in Java's `DecimalFormat`, such as `000`; empty: as it is.
    pub format: String,
    /// Each user counts for itself.
    pub per_user: bool,
    /// It begins again with each iteration; only where each user counts for itself.
    pub resets: bool,
}

/// A pause that keeps users to a rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// A text: how often a minute it may be passed.
    pub per_minute: String,
    /// By whom.
    pub by: PaceOf,
    /// Pauses of the same name keep users to one rate; empty: this one alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shared: String,
    /// In place of `per_minute`: rates that follow each other, for all users of the run together. Behind the last the run is over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<PaceStage>,
}

/// A part of a rate's schedule: numbers as texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaceStage {
    /// How often a second at its beginning.
    pub from: String,
    /// How often a second at its end.
    pub to: String,
    /// How long, in seconds.
    pub seconds: String,
}

/// Who is kept to a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaceOf {
    /// Each user.
    User,
    /// Each user to its share of the rate, going by how many there are in the run.
    ShareOfAll,
    /// The same by how many there are in its population.
    ShareOfPopulation,
    /// All users of the run together.
    All,
    /// All users of the population together.
    Population,
}

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Script {
    /// Its name in messages.
    pub name: String,
    /// Its language.
    pub language: ScriptLanguage,
    /// Its source. In JMeter's rules a text in which `${…}` is filled in before it is read.
    pub source: String,
    /// A text with its parameters.
    #[serde(default)]
    pub parameters: String,
}

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScriptLanguage {
    /// Groovy, and what of Java is like it.
    Groovy,
    /// `BeanShell`.
    Beanshell,
    /// ECMAScript.
    Javascript,
    /// Apache JEXL.
    Jexl,
}

/// How requests are sent that do not wait for each other's replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// All at once on one connection, and their replies awaited in order (pipelining, RFC 9112 section 9.3.2). Where one has
    /// no reply, those behind it have none either.
    Pipelined,
    /// Each on a lane of its own, at most so many at a time: on as many connections, or streams of one. Cookies that a redirect
    /// among them sets are kept.
    Parallel(u32),
}

/// What JMeter counts in a transaction beside its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// A sampler without a sample, such as a pause: in all transactions around it.
    Sampler,
    /// The end of a controller, where a sampler follows it: in the innermost transaction.
    ControllerEnd,
}

/// Whether the pauses of a user are a part of the time of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pauses {
    /// They are not.
    #[default]
    Excluded,
    /// They are.
    Included,
}

/// What a user knows of its last request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It failed: no whole reply came, or a check failed.
    Failed,
    /// A whole reply came, and no check failed. Holds before the first request, too.
    Succeeded,
    /// The reply had a status from the first to the second, both included.
    Status(u16, u16),
    /// A variable has this value.
    Equals(String, String),
    /// Two texts are the same.
    Same(String, String),
    /// One of these holds.
    Any(Vec<Condition>),
    /// A text is `true`, in any case.
    True(String),
    /// A text is `false`, in any case.
    False(String),
    /// A text matches a regular expression somewhere.
    Matches(String, String),
    /// A share of the times that the condition is evaluated.
    Share(Share),
    /// The other does not hold.
    Not(Box<Condition>),
}

/// A share of the times that something is passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// A text with a number.
    pub value: String,
    /// Whether it is percent; otherwise it is how often at all.
    pub percent: bool,
    /// Each user counts for itself.
    pub per_user: bool,
}

/// What is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Nothing.
    #[default]
    Nothing,
    /// The turn of the innermost choice whose branches take turns, and with it that of such a choice around it; there is one.
    Turn,
    /// This round of the innermost loop; of none, the iteration.
    Round,
    /// The innermost loop; where there is none, the iteration, and in a plan of JMeter the user.
    Loop,
    /// The iteration.
    Iteration,
    /// The user: it does nothing more. In an open loop each arrival is a user, so that the iteration is over.
    User,
    /// The run, in all of its processes: no further request is begun.
    Run,
}

impl Scenario {
    /// The same request in each iteration.
    pub fn one(request: Request) -> Self {
        Self::list(vec![request], Order::Sequence)
    }

    /// One request of a list each iteration.
    pub fn list(requests: Vec<Request>, order: Order) -> Self {
        Self::of(requests, vec![Step::Next(order)])
    }

    /// These steps over these requests.
    pub fn of(requests: Vec<Request>, steps: Vec<Step>) -> Self {
        Self { requests: requests.into(), steps, ..Self::default() }
    }

    /// The order in which its list is gone through, where one iteration is one request of it.
    pub fn order(&self) -> Option<Order> {
        let of = |step: &Step| if let Step::Next(order) = step { Some(*order) } else { None };
        match &self.steps[..] {
            [step] | [Step::Once(_), step] => of(step),
            _ => None,
        }
    }
}
