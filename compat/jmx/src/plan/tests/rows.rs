//! Plans with drawn values of all properties of all kinds: each property is read or named in a notice, and what is read can be
//! exported.

use super::*;
use crate::export::{ExportOptions, Item, write};
use crate::forms::{ItemForm, PropertyForm};
use crate::markup::Prop;
use crate::support::ElementRow;
use std::fs;
use tempfile::TempDir;

// These texts mean the same: a sample that takes no time waits for none.
const NO_TIME: &str = "elapsed: \"\", latency: \"\", connect: \"\", waits: false";
const ZERO: &str = "elapsed: \"0\", latency: \"\", connect: \"\", waits: true";

/// Draws until a property has an effect.
const DRAWS: usize = 300;
/// Exported plans of a kind.
const PLANS: usize = 4;

const TEXTS: [&str; 14] = [
    "",
    "a",
    "b",
    "1",
    "20",
    "h",
    "/",
    "http://h/",
    "a=b",
    "-1",
    "S",
    "VAR",
    "ignoreCookies",
    "Status",
];
const NUMBERS: [&str; 11] = ["", "0", "1", "2", "3", "5", "6", "16", "40", "-1", "abc"];

/// Kinds that depend on other files or elements of the plan.
const DEPENDENT: [ElementKind; 2] = [ElementKind::IncludeController, ElementKind::VariablesFromCsv];

/// Numbers of a linear congruential generator (Knuth, MMIX).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// Drawn value of a property.
    fn property(&mut self, row: &PropertyRow) -> Prop {
        let name = row.name();
        let known = [row.initial.unwrap_or_default(), row.absent];
        let text = match row.form {
            PropertyForm::List => {
                let texts = (0..self.below(3)).map(|_| Prop::text("", self.one(&TEXTS)));
                return Prop::List(name.to_owned(), texts.collect());
            }
            PropertyForm::Table => {
                let cells = [2, 3, 5][self.below(3)];
                let mut rows = Vec::new();
                for _ in 0..self.below(4) {
                    let row = (0..cells).map(|_| Prop::text("", self.one(&["1", "2", "20", "a"])));
                    rows.push(Prop::List(String::new(), row.collect()));
                }
                return Prop::List(name.to_owned(), rows);
            }
            PropertyForm::Pairs(form) | PropertyForm::Items(form) => {
                let items = (0..self.below(3)).map(|_| self.item(form));
                return Prop::List(name.to_owned(), items.collect());
            }
            PropertyForm::Flag => self.one(&["true", "false"]),
            PropertyForm::Choice(words) if self.below(4) > 0 => self.one(words),
            _ if self.below(3) == 0 => self.one(&known),
            PropertyForm::Number => self.one(&NUMBERS),
            PropertyForm::Text | PropertyForm::Lines | PropertyForm::Choice(_) => self.one(&TEXTS),
        };
        Prop::Scalar(row.tag, name.to_owned(), text.to_owned())
    }

    fn item(&mut self, form: ItemForm) -> Prop {
        let properties: Vec<Prop> = form.properties.iter().map(|row| self.property(row)).collect();
        Prop::Element(self.one(&["a", "b"]).to_owned(), form.class, "", properties)
    }

    fn properties(&mut self, row: &ElementRow) -> Vec<(&'static str, Prop)> {
        let rows = row.properties.unwrap_or_default().iter();
        rows.map(|row| (row.path, self.property(row))).collect()
    }
}

/// A plan with an element at a place for its role.
fn plan_with(row: &ElementRow, properties: Vec<(&'static str, Prop)>) -> String {
    let markup = |kind: ElementKind, properties: Vec<(&'static str, Prop)>| {
        let item = Item::of(kind, kind.title(), properties).markup();
        item.strip_suffix("<hashTree/>").expect("a tree").to_owned()
    };
    let element = |kind: ElementKind| {
        let rows = kind.row().properties.unwrap_or_default();
        markup(kind, rows.iter().filter_map(PropertyRow::initial).collect())
    };
    let own = markup(row.kind, properties);
    let sampler = |name: &str| {
        if row.kind == ElementKind::HttpDefaults {
            return markup(ElementKind::HttpSampler, Vec::new()) + "<hashTree/>";
        }
        element(ElementKind::HttpSampler).replace(ElementKind::HttpSampler.title(), name).replace(
            "<stringProp name=\"HTTPSampler.path\">/<",
            &format!("<stringProp name=\"HTTPSampler.path\">http://h/{name}<"),
        ) + "<hashTree/>"
    };
    let samplers = sampler("a") + &sampler("b");
    let (plan, group, content) = match row.role {
        Role::Plan => (own, element(ElementKind::ThreadGroup), samplers),
        Role::ThreadGroup => (element(ElementKind::TestPlan), own, samplers),
        Role::Controller => (
            element(ElementKind::TestPlan),
            element(ElementKind::ThreadGroup),
            format!("{own}<hashTree>{samplers}</hashTree>"),
        ),
        _ => (
            element(ElementKind::TestPlan),
            element(ElementKind::ThreadGroup),
            format!("{own}<hashTree/>{samplers}"),
        ),
    };
    let second = element(ElementKind::ThreadGroup);
    let last = element(ElementKind::TearDownThreadGroup);
    format!(
        "<jmeterTestPlan version=\"1.2\"><hashTree>{plan}<hashTree>{group}<hashTree>{content}</hashTree>\
         {second}<hashTree>{}</hashTree>{last}<hashTree>{}</hashTree></hashTree></hashTree></jmeterTestPlan>",
        sampler("c"),
        sampler("d")
    )
}

/// A folder with files that texts name.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for name in ["a", "b", "1", "20", "h"] {
        fs::write(folder.path().join(name), "1").expect("a file");
    }
    folder
}

fn run_with(folder: &TempDir, text: &str) -> Result<TestRun, JmxError> {
    let document = JmxDocument::parse(text.as_bytes()).expect("a plan");
    with(&[], folder.path(), |context| read(&document, context))
}

/// What a plan means, without its clock and the lines of its elements.
fn meaning(run: &Result<TestRun, JmxError>) -> String {
    let run = match run {
        Ok(run) => run,
        Err(error) => return error.to_string(),
    };
    format!("{} {:?}", plans(run), run.notices)
}

fn plans(run: &TestRun) -> String {
    let mut stages = run.stages.clone();
    for population in stages.iter_mut().flat_map(|stage| &mut stage.plan.populations) {
        population.scenario.variables.retain(|(name, _)| !name.contains("START"));
        population.scenario.properties.clear();
        let mut requests = population.scenario.requests.to_vec();
        for request in &mut requests {
            request.headers.sort();
        }
        population.scenario.requests = requests.into();
    }
    let text = format!("{stages:?}")
        .replace("CountInTransactions(Sampler), ", "")
        .replace("Pause(\"0\"), ", "")
        .replace(NO_TIME, ZERO)
        .replace("body: Text(Shared(\"\"))", "body: None")
        .replace("encoding: \"\"", "encoding: \"UTF-8\"");
    let mut parts = text.split("line ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("line ");
        out.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }
    out
}

fn rows() -> impl Iterator<Item = &'static ElementRow> {
    crate::forms::forms().filter(|row| !DEPENDENT.contains(&row.kind))
}

#[test]
fn each_property_is_read_or_named_in_a_notice() {
    let folder = folder();
    let mut draw = Draw(1);
    let mut wrong = Vec::new();
    for row in rows() {
        for (index, property) in row.properties.unwrap_or_default().iter().enumerate() {
            if property.ignored.is_some_and(|ignored| ignored.harmless.is_none()) {
                continue;
            }
            let has_effect = (0..DRAWS).any(|_| {
                let mut properties = draw.properties(row);
                let one = meaning(&run_with(&folder, &plan_with(row, properties.clone())));
                properties[index].1 = draw.property(property);
                one != meaning(&run_with(&folder, &plan_with(row, properties)))
            });
            if !has_effect {
                wrong.push(format!("{:?}: {}", row.kind, property.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn elements_that_are_read_can_be_exported() {
    let folder = folder();
    let mut draw = Draw(2);
    let mut wrong = Vec::new();
    for row in rows() {
        for _ in 0..PLANS {
            let text = plan_with(row, draw.properties(row));
            let Ok(first) = run_with(&folder, &text) else { continue };
            let populations = &first.stages[0].plan.populations;
            let mut requests = populations.iter().flat_map(|one| one.scenario.requests.iter());
            // A URL of another scheme is no URL in JMeter either.
            if requests.any(|request| !request.url.starts_with("http://h")) {
                continue;
            }
            let options = ExportOptions { name: "Test Plan".into(), folder: folder.path().into() };
            let exported = write(&first.stages[0].plan, &options);
            let only = TestRun { stages: vec![first.stages[0].clone()], ..first };
            let second = match run_with(&folder, &exported.jmx) {
                Ok(second) => second,
                Err(error) => {
                    wrong.push(format!("{:?}: {error}\n{text}\n{}", row.kind, exported.jmx));
                    break;
                }
            };
            let again = write(&second.stages[0].plan, &options);
            let third = run_with(&folder, &again.jmx).expect("a plan");
            let is_written = exported.jmx.contains(&format!("<{} ", row.classes[0]));
            let is_equal = if is_written {
                plans(&only) == plans(&second)
            } else {
                plans(&second) == plans(&third)
            };
            if !is_equal && exported.notices.is_empty() {
                wrong.push(format!(
                    "{:?}\n{text}\n{}\n{}\n{}",
                    row.kind,
                    exported.jmx,
                    plans(&only),
                    plans(&second)
                ));
                break;
            }
        }
    }
    let first: Vec<&str> = wrong.iter().map(|one| one.lines().next().unwrap_or_default()).collect();
    assert!(wrong.is_empty(), "{}\n\n{}", first.join("\n"), wrong.join("\n\n"));
}
