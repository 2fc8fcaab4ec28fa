//! What a virtual user does: a tree of steps over a list of requests.
//!
//! An iteration is one arrival of an open loop, or one round of a closed one. It carries out the steps in order, and is over
//! behind the last. `script` compiles the tree to a flat program.

use crate::Request;
use crate::load::Think;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a virtual user does in each iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// The list of requests that steps choose from; never empty.
    pub requests: Vec<Request>,
    /// One iteration, in order.
    pub steps: Vec<Step>,
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
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Repeats steps.
    Loop {
        /// How often; null: until the iteration is stopped.
        times: Option<u64>,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// These steps again and again, as long as the condition holds before them.
    While {
        /// When they are carried out once more.
        condition: Condition,
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
        /// The variable that is set; `{var:NAME}` in a request stands for it.
        variable: String,
        /// Its values, in order.
        values: Vec<String>,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// The steps of one branch.
    Choose {
        /// Which branch is next.
        order: Order,
        /// The branches; never empty.
        branches: Vec<Branch>,
    },
    /// A pause; the next request is due behind it.
    Think(Think),
    /// These steps in the first iteration of each user, and never again.
    Once(Vec<Step>),
    /// Something is over.
    Stop(Scope),
}

/// One of the branches of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// How often it is taken, against the others.
    pub weight: u32,
    /// What it is.
    pub steps: Vec<Step>,
}

/// Which request of a list, or branch of a choice, is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after the other, all users together, each as often in a round as its weight says.
    Sequence,
    /// Drawn by weight.
    Random,
    /// Each user goes through the list by itself, one after the other; user i of n begins at i times the whole part of the
    /// list's length divided by n.
    Walk,
    /// Each user goes through the list by itself, from its beginning.
    WalkTogether,
    /// Always the same for one user: user i has the i-th, counted round.
    User,
    /// Request n of the run is number ⌊(n + 1) · s⌋ of the list, over and over, where s is so many millionths: a new one
    /// every 1/s requests.
    Slow(u32),
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
    /// The other does not hold.
    Not(Box<Condition>),
}

/// What is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Nothing.
    #[default]
    Nothing,
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
        Self { requests, steps: vec![Step::Next(order)] }
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
