//! Parses YAML to JSON values: maps, lists and scalars of the core schema. Documents that need much
//! memory or stack are refused.

use brunt_har::error::ImportError;
use brunt_har::text::clean;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;

/// Maximum depth, and maximum number of values, including those of aliases.
const MAX_DEPTH: usize = 100;
const MAX_VALUES: usize = 3_000_000;

pub(crate) fn parse(text: &str, file: &str) -> Result<Value, ImportError> {
    let mut builder = Builder { open: Vec::new(), anchors: HashMap::new(), size: 0, root: None };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let wrong = format!("invalid YAML: {}", error.info());
            ImportError::at_line(
                file,
                error.marker().line(),
                wrong,
                "check the indentation, quotes and brackets here and above",
            )
        })?;
        let line = span.start.line();
        builder
            .take(event)
            .map_err(|(wrong, instead)| ImportError::at_line(file, line, wrong, instead))?;
        // Further documents in the file are ignored.
        if builder.root.is_some() {
            break;
        }
    }
    builder.root.ok_or_else(|| {
        ImportError::new(file, "the file is empty", "a description in YAML or JSON is expected")
    })
}

type Problem = (&'static str, &'static str);

struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, (Value, usize)>,
    size: usize,
    root: Option<Value>,
}

/// A list or map that is not closed yet.
struct Open {
    value: Value,
    key: Option<String>,
    anchor: usize,
    /// Number of values before it.
    values_before: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                self.count(1)?;
                self.close(scalar(&text, style), anchor, 1)
            }
            Event::SequenceStart(anchor, _) => self.begin(Value::Array(Vec::new()), anchor),
            Event::MappingStart(anchor, _) => self.begin(Value::Object(Map::new()), anchor),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    self.count(1)?;
                    let size = self.size - open.values_before;
                    self.close(open.value, open.anchor, size)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let (value, size) = self
                    .anchors
                    .get(&anchor)
                    .cloned()
                    .ok_or(("the alias refers to its own parent", "write its value"))?;
                // An alias repeats all values of its anchor. A few nested ones could exceed any
                // memory.
                self.count(size)?;
                self.close(value, 0, size)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, value: Value, anchor: usize) -> Result<(), Problem> {
        if self.open.len() >= MAX_DEPTH {
            return Err((
                "more than 100 levels within each other",
                "a flatter document is expected",
            ));
        }
        self.open.push(Open { value, key: None, anchor, values_before: self.size });
        Ok(())
    }

    /// Counts values of the document against the limit.
    fn count(&mut self, values: usize) -> Result<(), Problem> {
        self.size += values;
        if self.size > MAX_VALUES {
            return Err((
                "the document has more than 3 million values",
                "a part of it is expected",
            ));
        }
        Ok(())
    }

    /// Adds a value with `size` values to the innermost open list or map.
    fn close(&mut self, value: Value, anchor: usize, size: usize) -> Result<(), Problem> {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match (&mut open.value, open.key.take()) {
            (Value::Array(items), _) => items.push(value),
            (Value::Object(entries), Some(key)) => drop(entries.insert(key, value)),
            (_, _) => {
                open.key = Some(match value {
                    Value::String(text) => text,
                    Value::Array(_) | Value::Object(_) => {
                        return Err(("a name is a list or a map", "write `name: value`"));
                    }
                    other => other.to_string(),
                });
            }
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    // A quoted scalar is a text, even if it looks like a number.
    if style != ScalarStyle::Plain {
        return Value::from(clean(text));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let number = is_number.then(|| {
        let whole = text.parse::<i64>().ok().map(Number::from);
        whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
    });
    number.flatten().map_or_else(|| Value::from(text), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_is_read_as_json() {
        let text = "a: &x {b: 1, c: '1'}\nd: *x\n200: [true, ~, 1.5, -3, 2026-01-01]\n";
        let expected = json!({"a": {"b": 1, "c": "1"}, "d": {"b": 1, "c": "1"}, "200": [true, null, 1.5, -3, "2026-01-01"]});
        assert_eq!(parse(text, "f").unwrap(), expected);
        assert!(parse("a: [", "f").unwrap_err().to_string().starts_with("f:"));
        assert!(parse(&format!("{}{}", "[".repeat(3000), "]".repeat(3000)), "f").is_err());
        let nested = format!("{}x{}", "[".repeat(99), "]".repeat(99));
        assert_eq!(parse(&nested, "f").unwrap().to_string().len(), 2 * 99 + 3);
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            bomb = format!("{bomb}a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "));
        }
        assert!(parse(&bomb, "f").unwrap_err().to_string().contains("3 million values"));
    }
}
