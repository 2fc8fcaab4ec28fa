//! Writes a run or a study as a JSON document. The types and the meaning of each key are
//! in [`crate::result`] and [`crate::study`].

use crate::result::ResultDocument;
use crate::study::StudyDocument;
use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

/// Writes the run as indented JSON.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &ResultDocument::new(run, judgement))?;
    writeln!(out)
}

/// Writes the study as indented JSON.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &StudyDocument::new(study, analysis))?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{self, RunBuilder};
    use base64::Engine as _;
    use serde_json::Value;

    fn json(run: &Run) -> Value {
        let mut out = Vec::new();
        write(run, &Judgement::default(), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_result_round_trips() {
        let document = ResultDocument::new(&story::overloaded().run(), &Judgement::default());
        let read: ResultDocument =
            serde_json::from_value(json(&story::overloaded().run())).unwrap();
        assert_eq!(read.requests, document.requests);
        assert_eq!(read.plan, document.plan);
        assert_eq!(read.failure_time_seconds.len(), 2);
        assert_eq!(read.series.len(), 11);
    }

    #[test]
    fn figures_equal_those_of_the_run() {
        let v = json(&story::overloaded().run());
        assert_eq!(v["version"], 1);
        assert_eq!(v["started"], "2026-07-01T12:00:00.250Z");
        assert_eq!(v["outcomes"], serde_json::json!({"200": 1881, "503": 19}));
        assert_eq!(
            v["failures"],
            serde_json::json!({"reset": 7, "timeout": 10, "dropped": 80, "cut": 3})
        );
        let counts =
            ["planned", "begun", "completed", "good", "failed", "cut", "dropped", "errors"];
        let counts = counts.map(|key| v["requests"][key].as_u64().unwrap());
        assert_eq!(counts, [2000, 1920, 1900, 1881, 17, 3, 80, 119]);
        assert_eq!(
            v["response_time_seconds"]["at_least"],
            serde_json::json!(["p99", "p99_9", "max"])
        );
        assert_eq!(v["response_time_seconds"]["censored"], 93);
        assert!(v["service_time_seconds"].get("at_least").is_none());
        assert_eq!(v["phases_seconds"]["tls"], Value::Null);
        assert_eq!(v["labels"][0]["requests"], v["requests"]);
        assert_eq!(v["labels"][0]["throughput_per_second"], v["throughput_per_second"]);
    }

    #[test]
    fn hdrhistogram_reads_the_histogram() {
        let v = json(&story::closed().run());
        let times = &v["response_time_seconds"];
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(times["histogram"].as_str().unwrap())
            .unwrap();
        let read: hdrhistogram::Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        assert_eq!(read.len(), times["count"].as_u64().unwrap());
        let (theirs, ours) =
            (read.value_at_quantile(0.99) as f64 / 1e9, times["p99"].as_f64().unwrap());
        assert!((theirs / ours - 1.0).abs() < 0.001, "{theirs} {ours}");
    }

    #[test]
    fn labels_have_separate_figures() {
        let mut story = RunBuilder::closed(2.0).labels(&["/a", "/b"]);
        story.reply(0, 500, 200);
        story.reply(1, 700, 404).label = 1;
        let v = json(&story.run());
        let labels: Vec<_> =
            v["labels"].as_array().unwrap().iter().map(|l| (&l["label"], &l["errors"])).collect();
        assert_eq!(labels, [(&"/a".into(), &0.into()), (&"/b".into(), &1.into())]);
    }

    #[test]
    fn the_series_begins_with_the_measured_time() {
        use brunt_model::{Event, Phase, Snapshot, Tick};
        let warm = Snapshot {
            from: Tick(0),
            to: Tick(500_000_000),
            phase: Phase::Warmup,
            ..Snapshot::default()
        };
        let cold = Snapshot {
            from: warm.to,
            to: Tick(1_500_000_000),
            phase: Phase::Measure,
            ..Snapshot::default()
        };
        let run = Run::of(&[
            Event::Stage { at: warm.to, phase: Phase::Measure },
            Event::Snapshot(warm.into()),
            Event::Snapshot(cold.into()),
        ]);
        let v = json(&run);
        let ends = [0, 1]
            .map(|i| (v["series"][i]["from_seconds"].as_f64().unwrap(), &v["series"][i]["phase"]));
        assert_eq!(ends, [(-0.5, &"warmup".into()), (0.0, &"measure".into())]);
    }

    #[test]
    fn the_json_matches_its_schema() {
        let schema = (crate::SCHEMAS[0].schema)();
        let runs = [
            json(&story::closed().run()),
            json(&story::overloaded().run()),
            json(&story::fleet(4, Some(2))),
            json(&Run::default()),
        ];
        for run in runs {
            conforms(&run, &schema, &schema).unwrap();
        }
        let mut broken = json(&Run::default());
        broken["requests"].as_object_mut().unwrap().remove("good");
        assert_eq!(conforms(&broken, &schema, &schema), Err("good is missing".into()));
    }

    #[test]
    fn the_schema_describes_every_key() {
        let schema = (crate::SCHEMAS[0].schema)();
        let ours = [
            "RequestCounts",
            "Times",
            "IntervalRow",
            "LabelRow",
            "ConnectionTotals",
            "Generator",
            "PhaseRow",
            "EnvironmentSection",
            "AgentDocument",
        ];
        let objects = ours.iter().map(|name| &schema["$defs"][name]).chain([&schema]);
        for object in objects {
            let properties = object["properties"].as_object().unwrap();
            assert!(!properties.is_empty());
            for (key, property) in properties {
                assert!(property["description"].is_string(), "{key} has no description");
            }
        }
    }

    /// Checks the parts of JSON Schema that schemars writes: references, choices, types, required
    /// and known keys.
    fn conforms(v: &Value, schema: &Value, root: &Value) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            return conforms(v, root.pointer(&reference[1..]).unwrap(), root);
        }
        if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            let tried: Vec<_> = choices.iter().map(|c| conforms(v, c, root)).collect();
            return if tried.iter().any(Result::is_ok) { Ok(()) } else { tried[0].clone() };
        }
        if !schema["type"].is_null() && !types(&schema["type"]).contains(&kind(v)) {
            return Err(format!("{v} is no {}", schema["type"]));
        }
        v.as_array()
            .into_iter()
            .flatten()
            .try_for_each(|item| conforms(item, &schema["items"], root))?;
        v.as_object().map_or(Ok(()), |object| object_conforms(object, schema, root))
    }

    fn object_conforms(
        v: &serde_json::Map<String, Value>,
        schema: &Value,
        root: &Value,
    ) -> Result<(), String> {
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            v.get(key).ok_or(format!("{key} is missing"))?;
        }
        for (key, value) in v.iter().filter(|_| !schema["type"].is_null()) {
            let known = schema["properties"].get(key).or(schema.get("additionalProperties"));
            conforms(value, known.ok_or(format!("{key} is unknown"))?, root)?;
        }
        Ok(())
    }

    fn types(t: &Value) -> Vec<&str> {
        t.as_array().map_or(t.as_str().into_iter().collect(), |all| {
            all.iter().filter_map(Value::as_str).collect()
        })
    }

    fn kind(v: &Value) -> &'static str {
        match v {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(n) if n.is_u64() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    #[test]
    fn a_study_round_trips() {
        let (study, analysis) = story::sweep_of(&[120.0, 480.0], 1);
        let mut out = Vec::new();
        write_study(&study, &analysis, &mut out).unwrap();
        let read: StudyDocument = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            (read.trials.len(), read.planned_trials, read.id.as_deref()),
            (4, 4, Some("k7mq"))
        );
        let (light, heavy) = (&read.trials[0], &read.trials[1]);
        assert_eq!(
            (light.contender.as_str(), light.repetition, light.step, light.load),
            ("nginx", 1, 1, 120.0)
        );
        assert!(
            (light.throughput_per_second - 120.0).abs() < 1.0
                && heavy.throughput_per_second < 370.0
        );
        assert_eq!(light.objectives.iter().map(|o| o.met).collect::<Vec<_>>(), [true, true]);
        assert!(!heavy.objectives[0].met && heavy.readings["php-fpm:www"]["workers.busy"] > 17.0);
        assert_eq!(read.analysis.findings, analysis.findings);
    }
}
