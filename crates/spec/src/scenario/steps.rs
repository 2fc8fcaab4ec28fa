//! Steps.

use super::{Reader, expected, items, texts, written};
use crate::error::{Result, SpecError, nearest};
use crate::plan::{Entry, Node, Value, read};
use crate::words::{duration, number, status, think};
use brunt_model::scenario::{
    Branch, Case, Condition, Counter, Manner, Order, Pace, PaceOf, Pauses, Portion, Rounds, Scope, Step, Values,
};
use std::time::Duration;

/// The kind of a step in a plan file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Request,
    Call,
    Think,
    Pace,
    Count,
    Transaction,
    Group,
    Loop,
    While,
    During,
    ForEach,
    If,
    Switch,
    Choose,
    Resumable,
    Shuffle,
    Parallel,
    Lock,
    Once,
    Stop,
    Set,
    Row,
    Meet,
    Script,
}

/// The keys that define a step.
const KINDS: [(&str, StepKind); 37] = [
    ("get", StepKind::Request),
    ("post", StepKind::Request),
    ("put", StepKind::Request),
    ("patch", StepKind::Request),
    ("delete", StepKind::Request),
    ("head", StepKind::Request),
    ("options", StepKind::Request),
    ("request", StepKind::Request),
    ("open", StepKind::Request),
    ("send", StepKind::Request),
    ("await", StepKind::Request),
    ("ping", StepKind::Request),
    ("close", StepKind::Request),
    ("migrate", StepKind::Request),
    ("grpc", StepKind::Call),
    ("think", StepKind::Think),
    ("pace", StepKind::Pace),
    ("count", StepKind::Count),
    ("transaction", StepKind::Transaction),
    ("group", StepKind::Group),
    ("loop", StepKind::Loop),
    ("while", StepKind::While),
    ("during", StepKind::During),
    ("for_each", StepKind::ForEach),
    ("if", StepKind::If),
    ("switch", StepKind::Switch),
    ("choose", StepKind::Choose),
    ("resumable", StepKind::Resumable),
    ("shuffle", StepKind::Shuffle),
    ("parallel", StepKind::Parallel),
    ("lock", StepKind::Lock),
    ("once", StepKind::Once),
    ("stop", StepKind::Stop),
    ("set", StepKind::Set),
    ("row", StepKind::Row),
    ("meet", StepKind::Meet),
    ("script", StepKind::Script),
];

impl Reader<'_> {
    /// The steps of a list.
    pub(super) fn steps(&mut self, node: &Node, path: &str) -> Result<Vec<Step>> {
        let Value::List(nodes) = &node.value else {
            return Err(expected(&node.at, path, "a list of steps", "each in a line `- get: URL`"));
        };
        let mut steps = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let path = format!("{path}[{number}]");
            self.step(node, &path, &mut steps)
                .map_err(|error| if error.path.is_empty() { error.within(&path, &node.at) } else { error })?;
        }
        Ok(steps)
    }

    /// A step; what it comes to is appended.
    fn step(&mut self, node: &Node, path: &str, steps: &mut Vec<Step>) -> Result<()> {
        let written: written::Step = read(node)?;
        let (entry, kind) = step_kind(node)?;
        let at = |key: &str| format!("{path}.{key}");
        let step = match kind {
            StepKind::Request => {
                let number = self.request(entry, node, &written).map_err(|error| error.within(path, &node.at))?;
                Step::Request(number)
            }
            StepKind::Call => {
                let number = self.call(entry, node, &written).map_err(|error| error.within(path, &node.at))?;
                Step::Request(number)
            }
            StepKind::Think => pause(text(entry)?).map_err(|error| error.within("think", &entry.node.at))?,
            StepKind::Pace => {
                Step::Pace(pace(entry, written.by).map_err(|error| error.within("pace", &entry.node.at))?)
            }
            StepKind::Count => {
                for counted in entry.node.entries() {
                    steps.push(Step::Count(counter(counted).map_err(|error| error.within("count", &counted.node.at))?));
                }
                return Ok(());
            }
            StepKind::Transaction => {
                let pauses = if written.with_pauses.unwrap_or(false) { Pauses::Included } else { Pauses::Excluded };
                let name = text(entry)?.to_owned();
                Step::Transaction { name, pauses, parent: false, steps: self.inner(node, path)? }
            }
            StepKind::Group => {
                let name = written.name.map(|name| name.0).unwrap_or_default();
                Step::Group { name, steps: self.steps(&entry.node, &at("group"))? }
            }
            StepKind::Loop => Step::Loop { times: times(entry)?, steps: self.inner(node, path)? },
            StepKind::While => {
                Step::While { condition: condition(&entry.node)?, twice: false, steps: self.inner(node, path)? }
            }
            StepKind::During => {
                let time = text(entry)?;
                let seconds = match duration::parse(time) {
                    Ok(time) => time.as_secs_f64().to_string(),
                    Err(_) if time.contains("${") => time.to_owned(),
                    Err(error) => return Err(SpecError::from(error).within("during", &entry.node.at)),
                };
                Step::During { seconds, steps: self.inner(node, path)? }
            }
            StepKind::ForEach => self.for_each(entry, node, path)?,
            StepKind::If => {
                let condition = condition(&entry.node)?;
                let otherwise = node.child("else").map(|node| self.steps(node, &at("else"))).transpose()?;
                Step::If { condition, then: self.inner(node, path)?, otherwise: otherwise.unwrap_or_default() }
            }
            StepKind::Switch => self.switch(entry, node, path)?,
            StepKind::Choose => {
                let order = match written.order {
                    None | Some(written::ChoiceOrder::Random) => Order::Random,
                    Some(written::ChoiceOrder::Sequence) => Order::Sequence,
                    Some(written::ChoiceOrder::WalkTogether) => Order::WalkTogether,
                    Some(written::ChoiceOrder::User) => Order::User,
                };
                let portion = match written.portion {
                    None | Some(written::Portion::Whole) => Portion::Whole,
                    Some(written::Portion::Nonempty) => Portion::Nonempty,
                    Some(written::Portion::Turn) => Portion::Turn,
                };
                Step::Choose { order, portion, branches: self.branches(&entry.node, &at("choose"))? }
            }
            StepKind::Shuffle => {
                let one = |(number, node)| self.steps(node, &format!("{path}.shuffle[{number}]"));
                Step::Shuffle(items(&entry.node).iter().enumerate().map(one).collect::<Result<_>>()?)
            }
            StepKind::Parallel => {
                let most = whole(entry)?;
                Step::Together { manner: Manner::Parallel(most), steps: self.inner(node, path)? }
            }
            StepKind::Lock => Step::Lock { name: text(entry)?.to_owned(), steps: self.inner(node, path)? },
            StepKind::Resumable => Step::Resumable(self.steps(&entry.node, &at("resumable"))?),
            StepKind::Once => Step::Once(self.steps(&entry.node, &at("once"))?),
            StepKind::Stop => Step::Stop(match written.stop {
                Some(written::Stop::Turn) => Scope::Turn,
                Some(written::Stop::Round) => Scope::Round,
                Some(written::Stop::Loop) => Scope::Loop,
                None | Some(written::Stop::Iteration) => Scope::Iteration,
                Some(written::Stop::User) => Scope::User,
                Some(written::Stop::Run) => Scope::Run,
            }),
            StepKind::Set => {
                let all = texts(&entry.node, &at("set"))?.into_iter();
                steps.extend(all.map(|(variable, value)| Step::Set { variable, value }));
                return Ok(());
            }
            StepKind::Row => self.row(entry)?,
            StepKind::Script => Step::Script(self.script(path, text(entry)?)),
            StepKind::Meet => Step::Meet { users: text(entry)?.to_owned(), timeout: String::new() },
        };
        steps.push(step);
        Ok(())
    }

    /// The steps of a step.
    fn inner(&mut self, node: &Node, path: &str) -> Result<Vec<Step>> {
        let steps = node
            .child("steps")
            .ok_or_else(|| SpecError::new(&node.at, "", "its `steps` are missing; write a list of them below it"))?;
        self.steps(steps, &format!("{path}.steps"))
    }

    fn for_each(&mut self, kind: &Entry, node: &Node, path: &str) -> Result<Step> {
        let [entry] = kind.node.entries() else {
            let instead = "one such as `for_each: {item: [a, b]}`";
            return Err(expected(&kind.node.at, "", "a variable and its values", instead));
        };
        let values: Option<Vec<String>> =
            items(&entry.node).iter().map(|value| Some(value.text()?.to_owned())).collect();
        let values = values.ok_or_else(|| expected(&entry.node.at, "", "a list of values", "one such as [a, b]"))?;
        // A single text with a star stands for numbered variables.
        let values = match &values[..] {
            [one] if one.ends_with("_*") => {
                let (after, last) = (String::new(), String::new());
                Values::Numbered { prefix: one.trim_end_matches('*').to_owned(), after, last }
            }
            _ => Values::List(values),
        };
        Ok(Step::ForEach { variable: entry.key.clone(), values, steps: self.inner(node, path)? })
    }

    fn switch(&mut self, kind: &Entry, node: &Node, path: &str) -> Result<Step> {
        let cases = node.child("cases").ok_or_else(|| {
            SpecError::new(
                &node.at,
                "",
                "its `cases` are missing; write steps by text below it, such as `cases: {a: [...]}`",
            )
        })?;
        let cases = if let Value::List(nodes) = &cases.value {
            let one = |(number, node)| self.case(node, &format!("{path}.cases[{number}]"));
            nodes.iter().enumerate().map(one).collect::<Result<_>>()?
        } else {
            let one = |entry: &Entry| {
                let names = if entry.key == "default" { Vec::new() } else { vec![entry.key.clone()] };
                Ok(Case { names, steps: self.steps(&entry.node, &format!("{path}.cases.{}", entry.key))? })
            };
            cases.entries().iter().map(one).collect::<Result<_>>()?
        };
        Ok(Step::Switch { value: text(kind)?.to_owned(), cases })
    }

    fn case(&mut self, node: &Node, path: &str) -> Result<Case> {
        let within = |error: SpecError| error.within(path, &node.at);
        let written: written::Case = read(node).map_err(within)?;
        let names = written.names.into_iter().map(|name| name.0).collect();
        Ok(Case { names, steps: self.inner(node, path).map_err(within)? })
    }

    fn branches(&mut self, node: &Node, path: &str) -> Result<Vec<Branch>> {
        let Value::List(nodes) = &node.value else {
            return Err(expected(&node.at, path, "a list", "each branch in a line `- {weight: 3, steps: [...]}`"));
        };
        let branch = |(number, node): (usize, &Node)| {
            let path = format!("{path}[{number}]");
            let written: written::Branch = read(node).map_err(|error| error.within(&path, &node.at))?;
            let steps = self.inner(node, &path).map_err(|error| error.within(&path, &node.at))?;
            Ok(Branch { weight: written.weight.unwrap_or(1), steps })
        };
        nodes.iter().enumerate().map(branch).collect()
    }

    fn row(&self, kind: &Entry) -> Result<Step> {
        let file = self.file(text(kind)?);
        let number = self.data.iter().position(|known| known.file == file).ok_or_else(|| {
            let wrong = format!(
                "`{}` is none of the files below scenario.data; write one of them",
                text(kind).unwrap_or_default()
            );
            SpecError::new(&kind.node.at, "row", wrong)
        })?;
        Ok(Step::Row(number as u32))
    }
}

/// Returns the entry that defines a step, and the kind of its key.
fn step_kind(node: &Node) -> Result<(&Entry, StepKind)> {
    let mut kinds = node.entries().iter().filter_map(|entry| Some((entry, kind_of_key(&entry.key)?)));
    match (kinds.next(), kinds.next()) {
        (Some(one), None) => Ok(one),
        (Some((one, _)), Some((other, _))) => {
            let wrong = format!("`{}` stands beside `{}`; write each in a step of its own", other.key, one.key);
            Err(SpecError::new(&other.at, "", wrong))
        }
        (None, _) => {
            let keys: Vec<&str> = node.entries().iter().map(|entry| entry.key.as_str()).collect();
            let near = keys.iter().find_map(|key| nearest(key, KINDS.map(|(key, _)| key)));
            let instead =
                near.map_or_else(|| "one such as `get: URL` or `think: 1s`".to_owned(), |near| format!("`{near}`"));
            Err(SpecError::new(&node.at, "", format!("no key says what this step does; write {instead}")))
        }
    }
}

fn kind_of_key(key: &str) -> Option<StepKind> {
    KINDS.iter().find(|(known, _)| *known == key).map(|(_, kind)| *kind)
}

fn text(entry: &Entry) -> Result<&str> {
    entry.node.text().ok_or_else(|| expected(&entry.node.at, &entry.key, "a single value", "one"))
}

fn whole(entry: &Entry) -> Result<u32> {
    let text = text(entry)?;
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| {
        SpecError::new(
            &entry.node.at,
            entry.key.as_str(),
            format!("`{text}`: not a whole number above 0; write one such as 6"),
        )
    })
}

fn times(entry: &Entry) -> Result<Option<Rounds>> {
    let text = text(entry)?;
    match (text, text.parse()) {
        ("forever", _) => Ok(None),
        (_, Ok(times)) => Ok(Some(Rounds::Number(times))),
        (text, _) if text.contains("${") => Ok(Some(Rounds::Text(text.to_owned()))),
        (text, _) => {
            let wrong = format!("`{text}`: not a whole number; write one such as 3, or `forever`");
            Err(SpecError::new(&entry.node.at, "loop", wrong))
        }
    }
}

/// A pause: from one time to another, or drawn from a distribution.
fn pause(text: &str) -> Result<Step> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let millis = |word: &str| Ok::<_, SpecError>(duration::parse(word)?.as_secs_f64() * 1e3);
    match words[..] {
        ["normal", mean, deviation] => {
            Ok(Step::Pause(format!("${{gaussian({},{})}}", millis(deviation)?, millis(mean)?)))
        }
        ["exponential", mean] => Ok(Step::Pause(format!("${{exponential({})}}", millis(mean)?))),
        _ if text.contains("${") => Ok(Step::Pause(text.to_owned())),
        _ => Ok(Step::Think(think::parse(text)?)),
    }
}

/// A pause that keeps users to a rate.
fn pace(entry: &Entry, by: Option<PaceOf>) -> Result<Pace> {
    let text = text(entry)?;
    let (number, unit) = text.rsplit_once('/').ok_or_else(|| no_rate(entry, text))?;
    let (number, unit) = (number.trim(), unit.trim());
    let minutes = match unit {
        "s" => 60.0,
        "min" | "m" => 1.0,
        "h" => 1.0 / 60.0,
        _ => return Err(no_rate(entry, text)),
    };
    let per_minute = if !number.contains("${") {
        let per_minute = number::number(number).map(|number| number * minutes);
        per_minute.filter(|rate| rate.is_finite()).ok_or_else(|| no_rate(entry, text))?.to_string()
    } else if minutes == 1.0 {
        number.to_owned()
    } else {
        let instead = format!("`{text}`: an expression is a rate per minute; write {number}/min");
        return Err(SpecError::new(&entry.node.at, "", instead));
    };
    Ok(Pace { per_minute, by: by.unwrap_or(PaceOf::User), shared: String::new(), schedule: Vec::new() })
}

fn no_rate(entry: &Entry, text: &str) -> SpecError {
    SpecError::new(&entry.node.at, "", format!("`{text}` is no rate; write one such as 10/s or 600/min"))
}

fn counter(entry: &Entry) -> Result<Counter> {
    let written: written::Counter = read(&entry.node).map_err(|error| error.within(&entry.key, &entry.node.at))?;
    let written::Counter { start, step, end, format, per_user, resets } = written;
    let (variable, start, step, end, format) = (entry.key.clone(), start.0, step.0, end.0, format.0);
    Ok(Counter { variable, start, step, end, format, per_user, resets })
}

/// A condition.
fn condition(node: &Node) -> Result<Condition> {
    match node.text() {
        Some("failed") => return Ok(Condition::Failed),
        Some("succeeded") => return Ok(Condition::Succeeded),
        Some(text) if text.contains("${") => return Ok(Condition::True(text.to_owned())),
        Some(text) => {
            let instead = "`failed`, `succeeded`, or a map such as {equal: [\"${a}\", b]}";
            return Err(SpecError::new(&node.at, "", format!("`{text}` is no condition; write {instead}")));
        }
        None => {}
    }
    let written: written::Condition = read(node)?;
    let not =
        node.child("not").map(|node| condition(node).map_err(|error| error.within("not", &node.at))).transpose()?;
    let pair = |[a, b]: [crate::plan::words::Scalar; 2]| (a.0, b.0);
    let all = [
        written.status.map(|words| status::parse(&words.0.join(",")).map(|ranges| statuses(&ranges))).transpose()?,
        written.equal.map(pair).map(|(one, other)| Condition::Same(one, other)),
        written.matches.map(pair).map(|(text, pattern)| Condition::Matches(text, pattern)),
        written.is_true.map(|text| Condition::True(text.0)),
        written.failed.map(|failed| if failed { Condition::Failed } else { Condition::Succeeded }),
        not.map(|not| Condition::Not(Box::new(not))),
    ];
    let mut all = all.into_iter().flatten();
    match (all.next(), all.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(SpecError::new(&node.at, "", "a condition has one key; write one such as {status: 200}")),
    }
}

fn statuses(ranges: &[brunt_model::plan::StatusRange]) -> Condition {
    let one = |range: &brunt_model::plan::StatusRange| Condition::Status(range.least, range.most);
    match ranges {
        [range] => one(range),
        // One of several: not none of them.
        _ => Condition::Any(ranges.iter().map(one).collect()),
    }
}

/// A time limit of a plan, in milliseconds, as a text.
pub(super) fn millis(time: Duration) -> String {
    time.as_millis().to_string()
}
