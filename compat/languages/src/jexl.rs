//! Evaluates expressions of Apache Commons JEXL 3, which conditions of JMeter plans use.
//!
//! Supported: literals, lists, comparisons (`==` `eq` `<` `lt` `=~` `=^` `=$` …), `and or not`,
//! arithmetic, `? :`, `?:`, `empty`, `size`, methods of strings, and the objects `vars`, `props`,
//! `ctx`, `log`, `sampleResult`. Values are compared by JEXL's strict arithmetic.
//!
//! Out of scope: statements, loops, assignments, Java objects (`new`).

mod operators;
mod parser;
mod texts;
mod tokens;

use brunt_model::SampleRecord;
use brunt_model::scenario::ScriptLanguage;
use brunt_script::pattern::Pattern;
use brunt_script::scripting::{LanguageRow, ScriptCode, ScriptOutcome, ScriptView, UserContext};
use parser::JexlNode;
use std::sync::Arc;

/// JEXL as a language of scripts.
pub const ROW: LanguageRow = LanguageRow {
    language: ScriptLanguage::Jexl,
    parse: |source, _| Ok(Arc::new(Expression::parse(source)?)),
};

/// A parsed expression, ready for evaluation.
#[derive(Debug)]
pub struct Expression {
    root: JexlNode,
}

/// A value of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(String),
    List(Vec<Value>),
}

/// A JMeter object that expressions can use.
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
    /// Parses the text of an expression.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, or out of scope.
    pub fn parse(source: &str) -> Result<Self, String> {
        parser::parse(source).map(|root| Self { root })
    }
}

impl ScriptCode for Expression {
    fn run(
        &self,
        user: &UserContext,
        _: ScriptView<'_, '_>,
        _: &str,
        _: &str,
    ) -> Result<ScriptOutcome, String> {
        Ok(ScriptOutcome { value: self.text(user)?, ..ScriptOutcome::default() })
    }

    fn text(&self, user: &UserContext) -> Result<Option<String>, String> {
        let value = evaluate(&self.root, user)?;
        Ok((value != Value::Null).then(|| value.text()))
    }
}

fn evaluate(node: &JexlNode, user: &UserContext) -> Result<Value, String> {
    Ok(match node {
        JexlNode::Literal(value) => value.clone(),
        JexlNode::List(items) => Value::List(
            items.iter().map(|item| evaluate(item, user)).collect::<Result<_, String>>()?,
        ),
        JexlNode::ThreadName => {
            Value::Text(format!("{} 1-{}", user.worker.population, user.number + 1))
        }
        JexlNode::Not(operand) => Value::Bool(!evaluate(operand, user)?.is_true()),
        JexlNode::Negative(operand) => match evaluate(operand, user)? {
            Value::Int(number) => Value::Int(number.wrapping_neg()),
            other => Value::Real(-other.real()?),
        },
        // An operand without a value is empty.
        JexlNode::Empty(operand) => {
            Value::Bool(evaluate(operand, user).map_or(true, |value| value.is_empty()))
        }
        JexlNode::Size(operand) => Value::Int(evaluate(operand, user)?.size()),
        JexlNode::And(left, right) => {
            Value::Bool(evaluate(left, user)?.is_true() && evaluate(right, user)?.is_true())
        }
        JexlNode::Or(left, right) => {
            Value::Bool(evaluate(left, user)?.is_true() || evaluate(right, user)?.is_true())
        }
        JexlNode::Choice(condition, yes, no) => {
            evaluate(if evaluate(condition, user)?.is_true() { yes } else { no }, user)?
        }
        JexlNode::Otherwise(value, otherwise) => match evaluate(value, user) {
            Ok(value) if value.is_true() => value,
            _ => evaluate(otherwise, user)?,
        },
        JexlNode::Binary(operator, left, right) => {
            operator.apply(&evaluate(left, user)?, &evaluate(right, user)?)?
        }
        JexlNode::Method(subject, name, arguments) => {
            let subject = evaluate(subject, user)?;
            texts::call(&subject, name, &all(arguments, user)?)?
        }
        JexlNode::Object(object, name, arguments) => {
            call_object(*object, name, &all(arguments, user)?, user)?
        }
    })
}

fn all(nodes: &[JexlNode], user: &UserContext) -> Result<Vec<Value>, String> {
    nodes.iter().map(|node| evaluate(node, user)).collect()
}

/// Names of an object's methods.
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

fn call_object(
    object: Object,
    name: &str,
    arguments: &[Value],
    user: &UserContext,
) -> Result<Value, String> {
    let first = arguments.first().map_or_else(String::new, Value::text);
    let second = arguments.get(1).map_or_else(String::new, Value::text);
    let shared_state = &user.worker.shared_state;
    Ok(match (object, name, arguments.len()) {
        (Object::Vars, "get", 1) => {
            Value::optional(user.variables.borrow().get(&first).map(str::to_owned))
        }
        (Object::Vars, "put", 2) => {
            user.variables.borrow_mut().set(&first, &second);
            Value::Null
        }
        (Object::Vars, "remove", 1) => {
            user.variables.borrow_mut().remove(&first);
            Value::Null
        }
        (Object::Props, "get" | "getProperty", 1) => Value::optional(shared_state.property(&first)),
        (Object::Props, "getProperty", 2) => {
            Value::Text(shared_state.property(&first).unwrap_or(second))
        }
        (Object::Props, "put" | "setProperty", 2) => {
            Value::optional(shared_state.set_property(&first, Some(&second)))
        }
        (Object::Props, "remove", 1) => Value::optional(shared_state.set_property(&first, None)),
        (Object::Props, "containsKey", 1) => Value::Bool(shared_state.property(&first).is_some()),
        (Object::Context, "getThreadNum", 0) => Value::Int(user.number as i64),
        (Object::Context, "getThreadGroup", 0) => Value::Text(user.worker.population.clone()),
        (Object::Sample, name, 0) => {
            sample_method(name, user.last.borrow().as_deref().ok_or("there was no sample")?)
        }
        (Object::Undefined, _, _) => {
            return Err("`prev` is not defined in JEXL; write sampleResult".into());
        }
        (Object::Log, _, 1..) => {
            user.trace(|tracing| tracing.note(&format!("log: {first}")));
            Value::Null
        }
        (Object::Log, _, 0) => Value::Null,
        (_, name, count) => return Err(format!("`{name}` does not take {count} arguments")),
    })
}

/// Returns the value of a method of the last sample.
fn sample_method(name: &str, sample: &SampleRecord) -> Value {
    let details = &sample.details;
    match name {
        "getResponseCode" => Value::Text(sample.code.clone()),
        "getResponseMessage" => Value::Text(sample.message.clone()),
        "getResponseDataAsString" => Value::Text(details.body.clone().unwrap_or_default()),
        "getResponseHeaders" => Value::Text(details.response_headers.clone().unwrap_or_default()),
        "getRequestHeaders" => Value::Text(details.request_headers.clone().unwrap_or_default()),
        "getSampleLabel" => Value::Text(sample.label.clone()),
        "getUrlAsString" => Value::Text(sample.url.clone().unwrap_or_default()),
        "getTime" => Value::Int(sample.elapsed_millis as i64),
        "getLatency" => Value::Int(sample.latency_millis as i64),
        "getConnectTime" => Value::Int(sample.connect_millis as i64),
        "getBytesAsLong" => Value::Int(sample.bytes as i64),
        _ => Value::Bool(sample.success),
    }
}

impl Value {
    fn optional(text: Option<String>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }

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
            // Java counts UTF-16 units.
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
            Self::Text(text) if text.trim().parse::<i64>().is_ok() => {
                Ok(text.trim().parse().unwrap_or_default())
            }
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

/// Formats a number as Java formats a `double`.
fn real_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    // For these magnitudes, Java's format is that of Rust's `{:?}`.
    if number == 0.0 || number.is_nan() || (1e-3..1e7).contains(&number.abs()) {
        return format!("{number:?}");
    }
    let text = format!("{number:E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    // Java always writes a fraction in the mantissa.
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

/// True if a regular expression matches the whole text.
fn matches(text: &str, pattern: &str) -> Result<bool, String> {
    Pattern::whole(pattern).map(|pattern| pattern.is_found(text))
}

#[cfg(test)]
mod tests;
