//! Writes the counts of connections as JSON, and their schema. The figures come from
//! the counters of [`Flow`].

use brunt_model::snapshot::flow::{FigureKind, FigureValue, FlowCounter, FlowFigure};
use brunt_model::{Flow, Run};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Counts of connections in the whole run, setup and warm-up included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionTotals(Map<String, Value>);

impl From<&Run> for ConnectionTotals {
    fn from(run: &Run) -> Self {
        let values = figures().map(|(counter, figure)| {
            (figure.key.to_owned(), json_of(counter.value_of(figure, run)))
        });
        Self(values.collect())
    }
}

impl JsonSchema for ConnectionTotals {
    fn schema_name() -> Cow<'static, str> {
        "ConnectionTotals".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let properties =
            figures().map(|(counter, figure)| (figure.key.to_owned(), property(counter, figure)));
        json_schema!({
            "type": "object",
            "properties": properties.collect::<Map<_, _>>(),
            "required": figures().map(|(_, figure)| figure.key).collect::<Vec<_>>(),
            "description": "Counts of connections in the whole run, setup and warm-up included.",
        })
    }
}

fn figures() -> impl Iterator<Item = (&'static FlowCounter, &'static FlowFigure)> {
    Flow::COUNTERS
        .iter()
        .flat_map(|counter| counter.figures.iter().map(move |figure| (counter, figure)))
}

fn json_of(value: FigureValue) -> Value {
    match value {
        FigureValue::Count(count) => json!(count),
        FigureValue::Seconds(seconds) => json!(seconds),
        FigureValue::Unknown => Value::Null,
    }
}

fn property(counter: &FlowCounter, figure: &FlowFigure) -> Value {
    let description = counter.description_of(figure);
    match figure.kind {
        FigureKind::WholeRun | FigureKind::MeasuredTime | FigureKind::Peak => {
            json!({"type": "integer", "format": "uint64", "minimum": 0, "description": description})
        }
        FigureKind::Seconds => {
            json!({"type": "number", "format": "double", "description": description})
        }
        FigureKind::MeanSeconds(_) => {
            json!({"type": ["number", "null"], "format": "double", "description": description})
        }
    }
}
