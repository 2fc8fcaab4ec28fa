//! Scenarios that are read, written and read again are the same.
//!
//! Exceptions, which the plans here do not have: pauses below 1 ms or of parts of one, a
//! pause `${uniform(…)}` (it becomes a range), empty lists of steps, `{not: failed}` (it
//! becomes `succeeded`), and `choose` with `order: user` of one branch (it becomes the
//! steps of that branch).

use super::{InexpressiblePart, Wording};
use crate::System;
use crate::plan::scenario::{extractors, items, steps, with_any_steps};
use crate::plan::{FillInputs, PlanNode, PlanTree, PlanValue, Yaml, parse};
use crate::settings::{PlannedScenario, RunSettings};
use brunt_model::Body;
use brunt_model::reply_policy::ReplyAction;
use brunt_model::scenario::{ScenarioStep, Script};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const SYSTEM: System = System::bare(20_000, 4, Some(28_232), 99);

/// Wording of a scenario that was read from a plan file, so its texts need no conversion.
struct SameTexts<'p>(&'p PlannedScenario);

impl Wording for SameTexts<'_> {
    fn text(&mut self, text: &str) -> String {
        text.replace("$$", "$$$$")
    }

    fn request(&mut self, number: u32) -> Vec<Yaml> {
        let request = &self.0.scenario.requests[number as usize];
        let url = self.text(&request.url);
        let mut keys = steps::method_and_url(&request.method, request.is_websocket(), url);
        keys.push(("name".to_owned(), Yaml::Text(self.text(&request.label))));
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Yaml::Text(self.text(value))));
        keys.push(("headers".to_owned(), Yaml::Map(headers.collect())));
        if let Body::Text(text) = &request.body {
            keys.push(("data".to_owned(), Yaml::Text(self.text(text))));
        }
        let policy = &self.0.policies[request.reply_policy as usize];
        let extractors = policy.actions.iter().filter_map(|action| match action {
            ReplyAction::Extract(extractor) => Some((
                extractor.variable.clone(),
                extractors::write(extractor, &mut |text| self.text(text))?,
            )),
            ReplyAction::Script(_) | ReplyAction::Set { .. } | ReplyAction::Keep => None,
        });
        keys.push(("extract".to_owned(), Yaml::Map(extractors.collect())));
        vec![Yaml::Map(keys)]
    }

    fn script(&mut self, script: &Script) -> Vec<Yaml> {
        vec![steps::script(self.text(&script.source))]
    }

    fn data_file(&mut self, number: u32) -> Option<String> {
        Some(self.0.scenario.data[number as usize].file.clone())
    }

    fn lose(&mut self, loss: InexpressiblePart<'_>) {
        panic!("a plan file can say it: {loss:?}");
    }
}

fn read(scenario: &PlanNode) -> Option<PlannedScenario> {
    with_any_steps(scenario, &RunSettings::default(), Path::new("/plans"), &SYSTEM).ok()
}

/// The scenario as it was read, the same one with rewritten steps, and their text. None if the
/// scenario cannot be read.
fn written(scenario: &PlanNode) -> Option<(PlannedScenario, PlannedScenario, String)> {
    let first = read(scenario)?;
    let files = scenario.child("data").map_or(&[][..], items).iter();
    let files = files
        .filter(|file| file.child("on_demand").and_then(PlanNode::text) != Some("true"))
        .count();
    let written = Yaml::List(steps::write(&first.scenario.steps[files..], &mut SameTexts(&first)));
    let text = Yaml::map([("steps", written)]).write();
    // The text of a plan file is filled in before its scenario is read.
    let written = parse(&text.replace("$$", "$"), "written")
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut again = scenario.clone();
    let PlanValue::Map(entries) = &mut again.value else { return None };
    entries.retain(|entry| entry.key != "steps" && entry.key != "headers");
    entries.extend(written.entries().iter().cloned());
    let second = with_any_steps(&again, &RunSettings::default(), Path::new("/plans"), &SYSTEM);
    Some((first, second.unwrap_or_else(|error| panic!("{error}\n{text}")), text))
}

/// Checks that a scenario is the same after it was written; false if it cannot be read.
fn check(scenario: &PlanNode) -> bool {
    let Some((first, second, text)) = written(scenario) else { return false };
    assert_eq!(
        without_places(&first.scenario.steps),
        without_places(&second.scenario.steps),
        "{text}"
    );
    for (one, other) in first.scenario.requests.iter().zip(&second.scenario.requests) {
        let extractors = |planned: &PlannedScenario, number: u32| {
            let actions = planned.policies[number as usize].actions.iter();
            actions
                .filter(|action| matches!(action, ReplyAction::Extract(_)))
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            extractors(&first, one.reply_policy),
            extractors(&second, other.reply_policy),
            "{text}"
        );
        let mut other = other.clone();
        other.reply_policy = one.reply_policy;
        assert_eq!(*one, other, "{text}");
    }
    true
}

/// Steps as JSON, without the names of scripts, which contain the places of the steps.
fn without_places(steps: &[ScenarioStep]) -> serde_json::Value {
    let mut value = serde_json::to_value(steps).expect("JSON");
    remove_names(&mut value);
    value
}

fn remove_names(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(entries) => {
            if let Some(script) =
                entries.get_mut("script").and_then(serde_json::Value::as_object_mut)
            {
                script.remove("name");
            }
            entries.values_mut().for_each(remove_names);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(remove_names),
        _ => {}
    }
}

/// The scenarios of a plan file, filled in.
fn scenarios(text: &str) -> Vec<PlanNode> {
    let ports = BTreeMap::new();
    let given = FillInputs {
        ports: &ports,
        dir: "/tmp/d",
        plan_dir: "/plans",
        environment: &|_| Some("x".into()),
    };
    let planned =
        PlanTree::parse(text, "plan.yaml", &[]).and_then(|draft| draft.resolve(given, "plan"));
    let Ok(planned) = planned else { return Vec::new() };
    let populations = planned.contenders.into_iter().flat_map(|contender| contender.populations);
    populations.filter_map(|population| population.scenario).collect()
}

#[test]
fn scenarios_of_the_docs_and_examples_round_trip() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = |path: &str| {
        std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let login = crate::plan::scenario::tests::LOGIN.replace('\n', "\n  ");
    let mut plans =
        vec![format!("vars: {{host: 127.0.0.1:80}}\nload: {{users: 2}}\nscenario:\n  {login}\n")];
    for folder in ["examples", "dev/fuzz/corpus/plan", "dev/bench/scenarios"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of plans").flatten();
        let files = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "yaml"));
        plans.extend(files.map(|path| std::fs::read_to_string(path).expect("a plan")));
    }
    for page in ["docs/scenarios.md", "docs/import.md", "docs/http2.md", "docs/plan.md"] {
        let page = text(page);
        plans.extend(
            page.split("```yaml\n")
                .skip(1)
                .filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())),
        );
    }
    let count = plans.iter().flat_map(|plan| scenarios(plan)).filter(check).count();
    assert!(count > 5, "{count} scenarios");
}

fn text() -> impl Strategy<Value = Yaml> {
    prop_oneof!["[a-z]{1,5}", "[a-z ]{0,3}\\$\\{[a-z]{1,4}\\}", "[ -#%-~äß]{1,12}"]
        .prop_map(Yaml::json_text)
}

fn map(keys: Vec<(&str, Yaml)>) -> Yaml {
    Yaml::Map(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn condition() -> impl Strategy<Value = Yaml> {
    let pair = || proptest::collection::vec(text(), 2).prop_map(Yaml::List);
    let one = prop_oneof![
        Just(Yaml::text("${x}")),
        prop_oneof![Just("200"), Just("2xx"), Just("200,404-407")]
            .prop_map(|word| Yaml::map([("status", Yaml::text(word))])),
        pair().prop_map(|pair| Yaml::map([("equal", pair)])),
        pair().prop_map(|pair| Yaml::map([("matches", pair)])),
    ];
    prop_oneof![
        Just(Yaml::text("failed")),
        one.clone(),
        one.prop_map(|one| Yaml::map([("not", one)]))
    ]
}

fn extractor() -> impl Strategy<Value = Yaml> {
    let way = prop_oneof![
        text().prop_map(|path| vec![("json", path)]),
        text().prop_map(|path| vec![("jmespath", path)]),
        (text(), 0..3_u32).prop_map(|(regex, group)| vec![
            ("regex", regex),
            ("group", Yaml::text(group.to_string()))
        ]),
        Just(vec![("regex", Yaml::text("(a)(b)")), ("template", Yaml::text("$2$-$1$"))]),
        proptest::collection::vec(text(), 2).prop_map(|sides| vec![("between", Yaml::List(sides))]),
        Just(vec![("css", Yaml::text("a.b")), ("attribute", Yaml::text("href"))]),
        text().prop_map(|path| vec![("xpath", path)]),
        Just(vec![("header", Yaml::text("Location"))]),
        Just(vec![("cookie", Yaml::text("sid"))]),
    ];
    let word = |words: &'static [&'static str]| {
        proptest::option::of(proptest::sample::select(words).prop_map(Yaml::text))
    };
    let part = word(&["unescaped_body", "headers", "status", "message", "url", "request_headers"]);
    (way, part, word(&["last", "random", "all", "3"]), proptest::option::of(text())).prop_map(
        |(mut keys, part, take, default)| {
            keys.extend(part.map(|part| ("in", part)));
            keys.extend(take.map(|take| ("take", take)));
            keys.extend(default.map(|default| ("default", default)));
            map(keys)
        },
    )
}

fn request() -> impl Strategy<Value = Yaml> {
    (prop_oneof![Just("get"), Just("post"), Just("delete")], text(), extractor()).prop_map(
        |(method, name, extractor)| {
            map(vec![
                (method, Yaml::text("http://127.0.0.1/a?b=${c}")),
                ("name", name),
                ("extract", Yaml::map([("id", extractor)])),
            ])
        },
    )
}

fn leaf() -> impl Strategy<Value = Yaml> {
    let think = prop_oneof![
        Just("1s"),
        Just("100ms..2s"),
        Just("normal 2s 250ms"),
        Just("exponential 3s"),
        Just("${pause}")
    ];
    let scope = prop_oneof![
        Just("turn"),
        Just("round"),
        Just("loop"),
        Just("iteration"),
        Just("user"),
        Just("run")
    ];
    let rate = prop_oneof![Just("10/s"), Just("600/min"), Just("${rate}/min")];
    let by = prop_oneof![
        Just("user"),
        Just("share_of_all"),
        Just("share_of_population"),
        Just("all"),
        Just("population")
    ];
    let counter = |(start, format, per_user): (u8, bool, bool)| {
        let mut keys = vec![
            ("start", Yaml::text(start.to_string())),
            ("per_user", Yaml::text(per_user.to_string())),
        ];
        keys.extend(format.then(|| ("format", Yaml::text("000"))));
        Yaml::map([("count", Yaml::map([("n", map(keys))]))])
    };
    prop_oneof![
        4 => request(),
        1 => think.prop_map(|word| Yaml::map([("think", Yaml::text(word))])),
        1 => scope.prop_map(|word| Yaml::map([("stop", Yaml::text(word))])),
        1 => (rate, by).prop_map(|(rate, by)| Yaml::map([("pace", Yaml::text(rate)), ("by", Yaml::text(by))])),
        1 => (0..3_u32).prop_map(|users| Yaml::map([("meet", Yaml::text(users.to_string()))])),
        1 => text().prop_map(|value| Yaml::map([("set", Yaml::map([("v", value)]))])),
        1 => (any::<u8>(), any::<bool>(), any::<bool>()).prop_map(counter),
        1 => Just(Yaml::map([("row", Yaml::text("users.csv"))])),
        1 => text().prop_map(|source| Yaml::map([("script", source)])),
    ]
}

fn step() -> impl Strategy<Value = Yaml> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let steps = || proptest::collection::vec(inner.clone(), 1..4).prop_map(Yaml::List);
        let around = |key: &'static str, value: BoxedStrategy<Yaml>| {
            (value, steps())
                .prop_map(move |(value, steps)| Yaml::map([(key, value), ("steps", steps)]))
        };
        let times = prop_oneof![Just("3"), Just("forever"), Just("${n}")].prop_map(Yaml::text);
        let time =
            prop_oneof![Just("10s"), Just("1500ms"), Just("${seconds}")].prop_map(Yaml::text);
        let values = prop_oneof![
            Just(Yaml::text("id_*")),
            proptest::collection::vec(text(), 1..3).prop_map(Yaml::List)
        ];
        let order = prop_oneof![Just("random"), Just("sequence"), Just("walk_together")]
            .prop_map(Yaml::text);
        let portion =
            prop_oneof![Just("whole"), Just("nonempty"), Just("turn")].prop_map(Yaml::text);
        let branch = (1..5_u32, steps()).prop_map(|(weight, steps)| {
            Yaml::map([("weight", Yaml::text(weight.to_string())), ("steps", steps)])
        });
        prop_oneof![
            (text(), any::<bool>(), steps()).prop_map(|(name, with_pauses, steps)| Yaml::map([
                ("transaction", name),
                ("with_pauses", Yaml::text(with_pauses.to_string())),
                ("steps", steps)
            ])),
            (text(), steps())
                .prop_map(|(name, steps)| Yaml::map([("name", name), ("group", steps)])),
            around("loop", times.boxed()),
            around("while", condition().boxed()),
            around("during", time.boxed()),
            around("lock", text().boxed()),
            around("for_each", values.prop_map(|values| Yaml::map([("v", values)])).boxed()),
            (condition(), steps(), steps()).prop_map(|(condition, then, other)| Yaml::map([
                ("if", condition),
                ("steps", then),
                ("else", other)
            ])),
            (text(), steps(), steps()).prop_map(|(value, one, other)| Yaml::map([
                ("switch", value),
                ("cases", Yaml::map([("a", one), ("default", other)]))
            ])),
            (proptest::collection::vec(branch, 1..3), order, portion).prop_map(
                |(branches, order, portion)| Yaml::map([
                    ("choose", Yaml::List(branches)),
                    ("order", order),
                    ("portion", portion)
                ])
            ),
            proptest::collection::vec(steps(), 1..3)
                .prop_map(|lists| Yaml::map([("shuffle", Yaml::List(lists))])),
            (1..9_u32, proptest::collection::vec(request(), 1..3)).prop_map(|(most, requests)| {
                Yaml::map([
                    ("parallel", Yaml::text(most.to_string())),
                    ("steps", Yaml::List(requests)),
                ])
            }),
            steps().prop_map(|steps| Yaml::map([("once", steps)])),
            steps().prop_map(|steps| Yaml::map([("resumable", steps)])),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn generated_scenarios_round_trip(steps in proptest::collection::vec(step(), 1..5)) {
        let scenario = Yaml::map([
            ("data", Yaml::List(vec![Yaml::map([("file", Yaml::text("users.csv")), ("on_demand", Yaml::text("true"))])])),
            ("steps", Yaml::List(steps)),
        ]);
        let text = scenario.write();
        prop_assert!(check(&parse(&text, "p").expect("a plan")), "{}", text);
    }
}
