//! Expressions of Apache Commons JEXL 3, as conditions of JMeter plans have them.
//!
//! Literals, lists, comparisons (`==` `eq` `<` `lt` `=~` `=^` `=$` …), `and or not`, arithmetic, `? :`, `?:`, `empty`, `size`, methods of
//! strings, and the objects `vars`, `props`, `ctx`, `log`, `sampleResult`. Values are compared as JEXL's strict arithmetic does.
//!
//! Out of scope: statements, loops, assignments, objects of Java (`new`).

mod operators;
mod parser;
mod texts;
mod tokens;

use crate::texts::context::UserContext;
use crate::texts::pattern::Pattern;
use crate::texts::script::{ScriptCode, ScriptOutcome, ScriptView};
use brunt_model::SampleRecord;
use parser::Node;

/// An expression, parsed.
#[derive(Debug)]
pub struct Expression {
    root: Node,
}

/// What an expression computes with.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(String),
    List(Vec<Value>),
}

/// The objects that expressions reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    Vars,
    Props,
    Context,
    Log,
    Sample,
    Undefined,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// It cannot be read, or has what is out of scope.
    pub fn parse(source: &str) -> Result<Self, String> {
        parser::parse(source).map(|root| Self { root })
    }
}

impl ScriptCode for Expression {
    fn run(&self, user: &UserContext, _: ScriptView<'_, '_>, _: &str, _: &str) -> Result<ScriptOutcome, String> {
        Ok(ScriptOutcome { value: self.text(user)?, ..ScriptOutcome::default() })
    }

    fn text(&self, user: &UserContext) -> Result<Option<String>, String> {
        let value = evaluate(&self.root, user)?;
        Ok((value != Value::Null).then(|| value.text()))
    }
}

fn evaluate(node: &Node, user: &UserContext) -> Result<Value, String> {
    Ok(match node {
        Node::Literal(value) => value.clone(),
        Node::List(items) => Value::List(items.iter().map(|item| evaluate(item, user)).collect::<Result<_, String>>()?),
        Node::ThreadName => Value::Text(format!("{} 1-{}", user.worker.population, user.number + 1)),
        Node::Not(operand) => Value::Bool(!evaluate(operand, user)?.is_true()),
        Node::Negative(operand) => match evaluate(operand, user)? {
            Value::Int(number) => Value::Int(number.wrapping_neg()),
            other => Value::Real(-other.real()?),
        },
        Node::Empty(operand) => Value::Bool(evaluate(operand, user).map_or(true, |value| value.is_empty())),
        Node::Size(operand) => Value::Int(evaluate(operand, user)?.size()),
        Node::And(left, right) => Value::Bool(evaluate(left, user)?.is_true() && evaluate(right, user)?.is_true()),
        Node::Or(left, right) => Value::Bool(evaluate(left, user)?.is_true() || evaluate(right, user)?.is_true()),
        Node::Choice(condition, yes, no) => {
            evaluate(if evaluate(condition, user)?.is_true() { yes } else { no }, user)?
        }
        Node::Otherwise(value, otherwise) => match evaluate(value, user) {
            Ok(value) if value.is_true() => value,
            _ => evaluate(otherwise, user)?,
        },
        Node::Binary(operator, left, right) => operator.apply(&evaluate(left, user)?, &evaluate(right, user)?)?,
        Node::Method(subject, name, arguments) => {
            let subject = evaluate(subject, user)?;
            texts::call(&subject, name, &all(arguments, user)?)?
        }
        Node::Object(object, name, arguments) => of_object(*object, name, &all(arguments, user)?, user)?,
    })
}

fn all(nodes: &[Node], user: &UserContext) -> Result<Vec<Value>, String> {
    nodes.iter().map(|node| evaluate(node, user)).collect()
}

/// The names of an object's methods.
fn methods_of(object: Object) -> &'static [&'static str] {
    match object {
        Object::Vars => &["get", "put", "remove"],
        Object::Props => &["get", "getProperty", "put", "setProperty", "remove", "containsKey"],
        Object::Context => &["getThreadNum", "getThreadGroup"],
        Object::Log => &["info", "debug", "warn", "error", "trace"],
        Object::Sample | Object::Undefined => &[
            "getResponseCode",
            "getResponseMessage",
            "getResponseDataAsString",
            "getResponseHeaders",
            "getRequestHeaders",
            "getSampleLabel",
            "getUrlAsString",
            "isSuccessful",
            "isResponseCodeOK",
            "getTime",
            "getLatency",
            "getConnectTime",
            "getBytesAsLong",
        ],
    }
}

fn of_object(object: Object, name: &str, arguments: &[Value], user: &UserContext) -> Result<Value, String> {
    let text = |number: usize| arguments.get(number).map_or_else(String::new, Value::text);
    let optional = |text: Option<String>| text.map_or(Value::Null, Value::Text);
    let commons = &user.worker.commons;
    Ok(match (object, name, arguments.len()) {
        (Object::Vars, "get", 1) => optional(user.variables.borrow().get(&text(0)).map(str::to_owned)),
        (Object::Vars, "put", 2) => {
            user.variables.borrow_mut().set(&text(0), &text(1));
            Value::Null
        }
        (Object::Vars, "remove", 1) => {
            user.variables.borrow_mut().remove(&text(0));
            Value::Null
        }
        (Object::Props, "get" | "getProperty", 1) => optional(commons.property(&text(0))),
        (Object::Props, "getProperty", 2) => Value::Text(commons.property(&text(0)).unwrap_or_else(|| text(1))),
        (Object::Props, "put" | "setProperty", 2) => optional(commons.set_property(&text(0), Some(&text(1)))),
        (Object::Props, "remove", 1) => optional(commons.set_property(&text(0), None)),
        (Object::Props, "containsKey", 1) => Value::Bool(commons.property(&text(0)).is_some()),
        (Object::Context, "getThreadNum", 0) => Value::Int(user.number as i64),
        (Object::Context, "getThreadGroup", 0) => Value::Text(user.worker.population.clone()),
        (Object::Sample, name, 0) => of_sample(name, user.last.borrow().as_deref().ok_or("there was no sample")?),
        (Object::Undefined, _, _) => return Err("`prev` is not defined in JEXL; write sampleResult".into()),
        (Object::Log, _, 1..) => {
            user.trace(|tracing| tracing.note(&format!("log: {}", text(0))));
            Value::Null
        }
        (Object::Log, _, 0) => Value::Null,
        (_, name, count) => return Err(format!("`{name}` does not take {count} arguments")),
    })
}

/// What a method of the last sample returns.
fn of_sample(name: &str, sample: &SampleRecord) -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    let optional = |part: &Option<String>| text(part.as_deref().unwrap_or_default());
    let number = |number: u64| Value::Int(number as i64);
    let details = &sample.details;
    match name {
        "getResponseCode" => text(&sample.code),
        "getResponseMessage" => text(&sample.message),
        "getResponseDataAsString" => optional(&details.body),
        "getResponseHeaders" => optional(&details.response_headers),
        "getRequestHeaders" => optional(&details.request_headers),
        "getSampleLabel" => text(&sample.label),
        "getUrlAsString" => optional(&sample.url),
        "getTime" => number(sample.elapsed_millis),
        "getLatency" => number(sample.latency_millis),
        "getConnectTime" => number(sample.connect_millis),
        "getBytesAsLong" => number(sample.bytes),
        _ => Value::Bool(sample.success),
    }
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(flag) => flag.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Real(number) => real_text(*number),
            Self::Text(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::text).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(flag) => *flag,
            Self::Int(number) => *number != 0,
            Self::Real(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty() && text != "false",
            Self::List(items) => !items.is_empty(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            _ => false,
        }
    }

    fn size(&self) -> i64 {
        match self {
            Self::Null => 0,
            Self::Text(text) => text.encode_utf16().count() as i64,
            Self::List(items) => items.len() as i64,
            _ => 1,
        }
    }

    fn real(&self) -> Result<f64, String> {
        match self {
            Self::Int(number) => Ok(*number as f64),
            Self::Real(number) => Ok(*number),
            Self::Bool(flag) => Ok(f64::from(u8::from(*flag))),
            Self::Text(text) if text.is_empty() => Ok(f64::NAN),
            Self::Text(text) => text.trim().parse().map_err(|_| no_number(self)),
            Self::Null | Self::List(_) => Err(no_number(self)),
        }
    }

    fn int(&self) -> Result<i64, String> {
        match self {
            Self::Int(number) => Ok(*number),
            Self::Text(text) if text.is_empty() => Ok(0),
            Self::Text(text) if text.trim().parse::<i64>().is_ok() => Ok(text.trim().parse().unwrap_or_default()),
            other => other.real().map(|number| number as i64),
        }
    }
}

fn no_number(value: &Value) -> String {
    match value {
        Value::Null => "a value is null where a number is needed".into(),
        other => format!("`{}` is no number", other.text()),
    }
}

/// As Java writes a `double`.
fn real_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    if number == 0.0 || number.is_nan() || (1e-3..1e7).contains(&number.abs()) {
        return format!("{number:?}");
    }
    let text = format!("{number:E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

/// Whether a regular expression matches the whole of a text.
fn matches(text: &str, pattern: &str) -> Result<bool, String> {
    Pattern::whole(pattern).map(|pattern| pattern.is_found(text))
}

#[cfg(test)]
mod tests;
