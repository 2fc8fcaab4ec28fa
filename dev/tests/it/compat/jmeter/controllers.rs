//! Compares randomly nested controllers with Apache JMeter: the same samples in the same order.
//!
//! Out of scope: random controllers, and those that end after a number of executions.

use super::result_file::TestSamples;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Number of loops of each thread group.
const LOOPS: u32 = 5;

/// An element of a thread group.
#[derive(Debug, Clone)]
pub enum GroupElement {
    /// A request that gets a reply.
    Request,
    /// A request that fails.
    Failing,
    /// A Flow Control Action by its number in JMeter: 1 pause, 3 next loop of the thread, 4 next
    /// round of the loop, 5 end of the loop.
    Action(u32),
    /// A controller with its children.
    Controller(Controller, Vec<GroupElement>),
}

/// A controller.
#[derive(Debug, Clone, Copy)]
pub enum Controller {
    Simple,
    Transaction,
    /// A Transaction Controller with "Generate parent sample".
    Parent,
    Loop(u32),
    /// An If Controller whose condition holds in every n-th loop of the thread; never if it is 0.
    If(u32),
    Once,
    /// An Interleave Controller of this style: 0 ignores blocks.
    Interleave(u32),
    /// A Switch Controller with this value.
    Switch(u32),
    /// A `ForEach` Controller over two values.
    Each,
    Critical,
}

/// Kinds of elements in the groups of a plan. Some are not combined, because JMeter itself counts
/// them unpredictably.
#[derive(Debug, Clone, Copy)]
pub enum Kinds {
    /// All controllers, and pauses.
    All,
    /// Failing requests, and the actions on errors; no parent samples.
    Failing,
    /// Flow Control Actions, without parent samples and Interleave Controllers that ignore blocks.
    Actions,
}

impl Kinds {
    fn leaf(self) -> BoxedStrategy<GroupElement> {
        match self {
            Self::All => prop_oneof![12 => Just(GroupElement::Request), 1 => Just(GroupElement::Action(1))].boxed(),
            Self::Failing => {
                prop_oneof![7 => Just(GroupElement::Request), 1 => Just(GroupElement::Failing)].boxed()
            }
            Self::Actions => {
                prop_oneof![14 => Just(GroupElement::Request), 1 => (3..=5_u32).prop_map(GroupElement::Action)]
                    .boxed()
            }
        }
    }

    fn controller(self) -> BoxedStrategy<Controller> {
        use Controller::{
            Critical, Each, If, Interleave, Loop, Once, Parent, Simple, Switch, Transaction,
        };
        let plain = prop_oneof![
            Just(Simple),
            (1..=3_u32).prop_map(Loop),
            prop_oneof![Just(0), Just(1), Just(2), Just(3)].prop_map(If),
            Just(Once),
            Just(Interleave(1)),
            (0..=3_u32).prop_map(Switch),
            Just(Each),
        ];
        match self {
            Self::All => prop_oneof![
                7 => plain,
                1 => Just(Transaction),
                1 => Just(Parent),
                2 => Just(Interleave(0)),
                1 => Just(Critical)
            ]
            .boxed(),
            Self::Failing | Self::Actions => {
                prop_oneof![7 => plain, 1 => Just(Transaction)].boxed()
            }
        }
    }

    fn nodes(self) -> impl Strategy<Value = Vec<GroupElement>> {
        let node = self.leaf().prop_recursive(3, 24, 3, move |inner| {
            (self.controller(), prop::collection::vec(inner, 1..=3))
                .prop_map(|(controller, nodes)| GroupElement::Controller(controller, nodes))
        });
        prop::collection::vec(node, 1..=2)
    }
}

/// Returns a plan of a number of thread groups.
pub fn plan(kinds: Kinds, seed: u8, groups: usize) -> String {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let ends: &[&str] = match kinds {
        Kinds::Failing => &["continue", "startnextloop", "stopthread"],
        Kinds::All | Kinds::Actions => &["continue"],
    };
    let mut text = String::from(BEGIN);
    for number in 0..groups {
        let nodes = kinds.nodes().new_tree(&mut runner).expect("a tree").current();
        let _ = write!(
            text,
            r#"<ThreadGroup guiclass="" testclass="ThreadGroup" testname="g{number}"><stringProp name="ThreadGroup.on_sample_error">{}</stringProp>
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp
            name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">{LOOPS}</stringProp>
            </elementProp><stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
            </ThreadGroup><hashTree>{}"#,
            ends[number % ends.len()],
            element(
                "CounterConfig",
                "count",
                &[("start", "1"), ("incr", "1"), ("name", "n")],
                "CounterConfig."
            ),
        );
        let mut names = Names { group: number, next: 0 };
        for node in &nodes {
            names.write(node, &mut text);
        }
        text.push_str("</hashTree>");
    }
    text + "</hashTree></hashTree></jmeterTestPlan>"
}

const BEGIN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="" testclass="TestPlan" testname="controllers"><boolProp name="TestPlan.serialize_threadgroups">true</boolProp>
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="v_1" elementType="Argument"><stringProp name="Argument.name">v_1</stringProp>
<stringProp name="Argument.value">p</stringProp></elementProp>
<elementProp name="v_2" elementType="Argument"><stringProp name="Argument.name">v_2</stringProp>
<stringProp name="Argument.value">q</stringProp></elementProp></collectionProp></elementProp></TestPlan><hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="defaults">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(lab)}</stringProp>
<stringProp name="HTTPSampler.path">/</stringProp></ConfigTestElement><hashTree/>"#;

/// Labels and messages of the samples of each thread group, in their order.
pub fn by_group(file: &TestSamples) -> BTreeMap<String, Vec<String>> {
    let label = file.column("label");
    let message = file.column("responseMessage");
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for sample in &file.samples {
        let group = sample[label].split(' ').next().unwrap_or_default();
        groups
            .entry(group.to_owned())
            .or_default()
            .push(format!("{} {}", sample[label], sample[message]));
    }
    groups
}

/// Returns an element without children.
fn element(tag: &str, name: &str, texts: &[(&str, &str)], prefix: &str) -> String {
    let texts: Vec<String> = texts
        .iter()
        .map(|(key, value): &(&str, &str)| {
            format!(r#"<stringProp name="{prefix}{key}">{value}</stringProp>"#)
        })
        .collect();
    let texts = texts.concat();
    format!(r#"<{tag} guiclass="" testclass="{tag}" testname="{name}">{texts}</{tag}><hashTree/>"#)
}

/// Generates the names of the elements of a thread group.
struct Names {
    group: usize,
    next: u32,
}

impl Names {
    fn write(&mut self, node: &GroupElement, text: &mut String) {
        self.next += 1;
        let name = |kind: &str| format!("{} {kind} {}", self.group, self.next);
        match node {
            GroupElement::Request => {
                text.push_str(&element(
                    "HTTPSamplerProxy",
                    &name("request"),
                    &[("method", "GET")],
                    "HTTPSampler.",
                ));
            }
            GroupElement::Failing => {
                let texts = [("method", "GET"), ("port", "${__P(closed)}")];
                text.push_str(&element(
                    "HTTPSamplerProxy",
                    &name("failing"),
                    &texts,
                    "HTTPSampler.",
                ));
            }
            GroupElement::Action(action) => {
                let texts = [("action", &*action.to_string()), ("target", "0"), ("duration", "0")];
                text.push_str(&element("TestAction", &name("action"), &texts, "ActionProcessor."));
            }
            GroupElement::Controller(controller, nodes) => {
                let (tag, texts) = properties(*controller);
                let begin = element(
                    tag,
                    &name(tag),
                    &texts.iter().map(|(key, value)| (*key, &**value)).collect::<Vec<_>>(),
                    "",
                );
                text.push_str(begin.strip_suffix("<hashTree/>").unwrap_or(&begin));
                text.push_str("<hashTree>");
                for node in nodes {
                    self.write(node, text);
                }
                text.push_str("</hashTree>");
            }
        }
    }
}

/// Element and properties of a controller.
fn properties(controller: Controller) -> (&'static str, Vec<(&'static str, String)>) {
    match controller {
        Controller::Simple => ("GenericController", Vec::new()),
        Controller::Transaction => transaction_properties("false"),
        Controller::Parent => transaction_properties("true"),
        Controller::Loop(times) => {
            ("LoopController", vec![("LoopController.loops", times.to_string())])
        }
        Controller::If(every) => {
            let condition = if every == 0 {
                "false".to_owned()
            } else {
                format!("${{__jexl3(${{n}} % {every} == 0)}}")
            };
            let texts = vec![
                ("IfController.condition", condition),
                ("IfController.useExpression", "true".to_owned()),
            ];
            ("IfController", texts)
        }
        Controller::Once => ("OnceOnlyController", Vec::new()),
        Controller::Interleave(style) => {
            ("InterleaveControl", vec![("InterleaveControl.style", style.to_string())])
        }
        Controller::Switch(value) => {
            ("SwitchController", vec![("SwitchController.value", value.to_string())])
        }
        Controller::Each => {
            let texts = [("ForeachController.inputVal", "v"), ("ForeachController.returnVal", "x")];
            ("ForeachController", texts.map(|(key, value)| (key, value.to_owned())).into())
        }
        Controller::Critical => (
            "CriticalSectionController",
            vec![("CriticalSectionController.lockName", "l".to_owned())],
        ),
    }
}

fn transaction_properties(parent: &str) -> (&'static str, Vec<(&'static str, String)>) {
    let texts = [
        ("TransactionController.parent", parent),
        ("TransactionController.includeTimers", "false"),
    ];
    ("TransactionController", texts.map(|(key, value)| (key, value.to_owned())).into())
}
