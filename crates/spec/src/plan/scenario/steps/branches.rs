//! Steps that choose between lists of steps: `if`, `switch`, `choose` and `shuffle`.

use super::blocks::list_alone;
use super::conditions::{self, ConditionForm};
use super::{StepForm, StepList, StepNode, StepSchema, write};
use crate::error::{Result, SpecError};
use crate::plan::parts::PartKey;
use crate::plan::scenario::forms::FormKeys;
use crate::plan::scenario::write::{InexpressiblePart, Wording};
use crate::plan::scenario::{ScenarioReader, expected, items};
use crate::plan::words::{Nested, Scalar};
use crate::plan::{PlanNode, PlanValue, Yaml, read};
use brunt_model::scenario::{
    Branch, Condition, ConditionShare, ListOrder, Portion, ScenarioStep, SwitchCase,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Steps that are carried out where a condition holds.
#[derive(Deserialize, JsonSchema)]
pub struct IfStep {
    /// The condition.
    r#if: Nested<ConditionForm>,
    /// The steps if it holds.
    steps: StepList,
    /// The steps if it does not hold.
    r#else: Option<StepList>,
}

impl StepForm for IfStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["if"], "{if: succeeded, steps: []}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let condition = self.r#if.read(&step.key.node).map_err(|error| step.error(error))?;
        let otherwise =
            self.r#else.map(|steps| steps.read(reader, step.node, "else")).transpose()?;
        let then = self.steps.read(reader, step.node, "steps")?;
        Ok(vec![ScenarioStep::If { condition, then, otherwise: otherwise.unwrap_or_default() }])
    }
}

/// Writes a branch. Without steps, there is none.
pub fn write_if(
    condition: &Condition,
    then: &[ScenarioStep],
    otherwise: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    let condition = conditions::write(condition, wording);
    let then = write(then, wording);
    let otherwise = write(otherwise, wording);
    if then.is_empty() && otherwise.is_empty() {
        return Vec::new();
    }
    let mut keys = vec![("if".to_owned(), condition), ("steps".to_owned(), Yaml::List(then))];
    if !otherwise.is_empty() {
        keys.push(("else".to_owned(), Yaml::List(otherwise)));
    }
    vec![Yaml::Map(keys)]
}

/// Writes steps that run in a share of the rounds, as branches of a choice in sequence, weighted by
/// a percentage.
pub fn write_share(
    share: &ConditionShare,
    then: &[ScenarioStep],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    let steps = write(then, wording);
    if steps.is_empty() {
        return steps;
    }
    let percentage = share.value.trim().parse::<f64>().ok().filter(|_| share.percent);
    match percentage.map(|value| value.round().clamp(0.0, 100.0) as u32) {
        Some(0) => Vec::new(),
        Some(percentage @ 1..100) => {
            // Small weights are easier to read: 75 % is 3 to 1.
            let divisors = [50, 25, 20, 10, 5, 4, 2].into_iter();
            let divisor =
                divisors.filter(|by| percentage % by == 0 && 100 % by == 0).max().unwrap_or(1);
            let branches =
                [(percentage / divisor, steps), ((100 - percentage) / divisor, Vec::new())];
            // JMeter's Throughput Controller counts its executions, so the choice takes turns, too.
            let order =
                if share.per_user { ChoiceOrder::WalkTogether } else { ChoiceOrder::Sequence };
            let branches = branches.into_iter().map(|(weight, steps)| branch(weight, steps));
            vec![Yaml::map([
                ("choose", Yaml::List(branches.collect())),
                ("order", Yaml::text(order.word())),
            ])]
        }
        Some(_) => steps,
        None => {
            wording.lose(InexpressiblePart::Share(share));
            steps
        }
    }
}

/// One of several lists of steps, chosen by a text.
#[derive(Deserialize, JsonSchema)]
pub struct SwitchStep {
    /// The text.
    switch: Scalar,
    /// Steps by text, `default` where no other is taken; or a list of maps with `names` and `steps`.
    cases: Nested<Cases>,
}

/// The cases of a switch.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
enum Cases {
    /// Steps by text.
    Map(BTreeMap<String, Vec<StepSchema>>),
    /// A list.
    List(Vec<CaseForm>),
}

/// One of the cases of a switch.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CaseForm {
    /// The texts that take it; none: it is taken where no other is.
    #[serde(default)]
    names: Vec<Scalar>,
    /// Its steps.
    steps: StepList,
}

impl StepForm for SwitchStep {
    const KEYS: FormKeys =
        FormKeys::of::<Self>(&["switch"], "{switch: \"${name}\", cases: {default: []}}");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let cases = self.cases.read(reader, step.node)?;
        Ok(vec![ScenarioStep::Switch { value: self.switch.0, cases }])
    }
}

/// Returns the step of a switch as a plan file has it.
pub fn write_switch(value: &str, cases: &[SwitchCase], wording: &mut dyn Wording) -> Yaml {
    let value = wording.text(value);
    let cases = cases.iter().map(|case| write_case(case, wording)).collect();
    Yaml::map([("switch", Yaml::Text(value)), ("cases", Yaml::List(cases))])
}

fn write_case(case: &SwitchCase, wording: &mut dyn Wording) -> Yaml {
    let names: Vec<Yaml> = case.names.iter().map(|name| Yaml::Text(wording.text(name))).collect();
    let steps = Yaml::List(write(&case.steps, wording));
    if names.is_empty() {
        Yaml::map([("steps", steps)])
    } else {
        Yaml::map([("names", Yaml::List(names)), ("steps", steps)])
    }
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<Cases> {
    fn read(&self, reader: &mut ScenarioReader<'_>, step: &PlanNode) -> Result<Vec<SwitchCase>> {
        let cases = step.child("cases").ok_or_else(|| {
            let wrong = "its `cases` are missing; write steps by text below it, such as `cases: {a: [...]}`";
            SpecError::new(&step.at, "", wrong)
        })?;
        match &cases.value {
            PlanValue::List(nodes) => {
                nodes.iter().enumerate().map(|(number, node)| case(reader, node, number)).collect()
            }
            PlanValue::Map(entries) => {
                let mut cases = Vec::new();
                for entry in entries {
                    // A case without names is the default case.
                    let names =
                        if entry.key == "default" { Vec::new() } else { vec![entry.key.clone()] };
                    cases.push(SwitchCase {
                        names,
                        steps: reader.steps(&entry.node, &format!("cases.{}", entry.key))?,
                    });
                }
                Ok(cases)
            }
            PlanValue::Null | PlanValue::Text { .. } => Err(expected(
                &cases.at,
                "cases",
                "a map or a list",
                "steps by text, such as `{a: [...]}`",
            )),
        }
    }
}

fn case(reader: &mut ScenarioReader<'_>, node: &PlanNode, number: usize) -> Result<SwitchCase> {
    let path = format!("cases[{number}]");
    let form: CaseForm = read(node).map_err(|error| error.within(&path, &node.at))?;
    let names = form.names.into_iter().map(|name| name.0).collect();
    Ok(SwitchCase { names, steps: form.steps.read(reader, node, &format!("{path}.steps"))? })
}

/// Keys of a branch of `choose`.
pub fn branch_keys() -> Vec<PartKey> {
    PartKey::of::<BranchForm>()
}

/// Keys of a case of `switch`.
pub fn case_keys() -> Vec<PartKey> {
    PartKey::of::<CaseForm>()
}

/// One of several lists of steps, chosen by weight or in turn.
#[derive(Deserialize, JsonSchema)]
pub struct ChooseStep {
    /// The lists, each a map with `steps` and `weight`.
    choose: Nested<Vec<BranchForm>>,
    /// Which is next. Default: random.
    order: Option<ChoiceOrder>,
    /// How much of it is carried out. Default: whole.
    portion: Option<Portion>,
}

/// One of several lists of steps.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BranchForm {
    /// How often it is taken, relative to the others. Default: 1.
    weight: Option<u32>,
    /// Its steps.
    steps: StepList,
}

/// Which of several lists of steps is next.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ChoiceOrder {
    /// Any, by weight.
    Random,
    /// One after the other, all users together.
    Sequence,
    /// One after the other, each user by itself.
    WalkTogether,
    /// Always the same for one user: the first user has the first, and so on round.
    User,
}

impl ChoiceOrder {
    fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sequence => "sequence",
            Self::WalkTogether => "walk_together",
            Self::User => "user",
        }
    }
}

impl StepForm for ChooseStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["choose"], "choose: [{weight: 1, steps: []}]");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        let order = match self.order.unwrap_or(ChoiceOrder::Random) {
            ChoiceOrder::Random => ListOrder::Random,
            ChoiceOrder::Sequence => ListOrder::Sequence,
            ChoiceOrder::WalkTogether => ListOrder::WalkTogether,
            ChoiceOrder::User => ListOrder::User,
        };
        let branches = self.choose.read(reader, &step.key.node)?;
        Ok(vec![ScenarioStep::Choose {
            order,
            portion: self.portion.unwrap_or_default(),
            branches,
        }])
    }
}

/// Returns the steps of a choice as a plan file has them.
pub fn write_choose(
    order: ListOrder,
    portion: Portion,
    branches: &[Branch],
    wording: &mut dyn Wording,
) -> Vec<Yaml> {
    if let (ListOrder::User, [only]) = (order, branches) {
        return write(&only.steps, wording);
    }
    let branches = branches.iter().map(|one| branch(one.weight, write(&one.steps, wording)));
    let mut keys = vec![("choose".to_owned(), Yaml::List(branches.collect()))];
    let order = match order {
        ListOrder::Random => None,
        ListOrder::User => Some(ChoiceOrder::User),
        // Choices of plan files have no staggered start.
        ListOrder::Walk | ListOrder::WalkTogether => Some(ChoiceOrder::WalkTogether),
        ListOrder::Sequence | ListOrder::Slow(_) => Some(ChoiceOrder::Sequence),
    };
    keys.extend(order.map(|order| ("order".to_owned(), Yaml::text(order.word()))));
    let portion = match portion {
        Portion::Whole => None,
        Portion::Nonempty => Some("nonempty"),
        Portion::Turn => Some("turn"),
    };
    keys.extend(portion.map(|portion| ("portion".to_owned(), Yaml::text(portion))));
    vec![Yaml::Map(keys)]
}

fn branch(weight: u32, steps: Vec<Yaml>) -> Yaml {
    let steps = ("steps", Yaml::List(steps));
    match weight {
        1 => Yaml::map([steps]),
        _ => Yaml::map([("weight", Yaml::text(weight.to_string())), steps]),
    }
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<Vec<BranchForm>> {
    fn read(&self, reader: &mut ScenarioReader<'_>, node: &PlanNode) -> Result<Vec<Branch>> {
        let PlanValue::List(nodes) = &node.value else {
            let instead = "each branch in a line `- {weight: 3, steps: [...]}`";
            return Err(expected(&node.at, "choose", "a list", instead));
        };
        let mut branches = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let path = format!("choose[{number}]");
            let form: BranchForm = read(node).map_err(|error| error.within(&path, &node.at))?;
            let steps = form.steps.read(reader, node, &format!("{path}.steps"))?;
            branches.push(Branch { weight: form.weight.unwrap_or(1), steps });
        }
        Ok(branches)
    }
}

/// Lists of steps that are all carried out, in random order.
#[derive(Deserialize, JsonSchema)]
pub struct ShuffleStep {
    /// The lists.
    shuffle: Nested<Vec<Vec<StepSchema>>>,
}

impl StepForm for ShuffleStep {
    const KEYS: FormKeys = FormKeys::of::<Self>(&["shuffle"], "shuffle: [[]]");

    fn read(
        self,
        reader: &mut ScenarioReader<'_>,
        step: &StepNode<'_>,
    ) -> Result<Vec<ScenarioStep>> {
        Ok(vec![ScenarioStep::Shuffle(self.shuffle.read(reader, &step.key.node)?)])
    }
}

/// Writes lists of steps in random order. Without lists, there is no step.
pub fn write_shuffle(lists: &[Vec<ScenarioStep>], wording: &mut dyn Wording) -> Vec<Yaml> {
    let lists = lists.iter().map(|steps| Yaml::List(write(steps, wording))).collect();
    list_alone("shuffle", lists)
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<Vec<Vec<StepSchema>>> {
    fn read(
        &self,
        reader: &mut ScenarioReader<'_>,
        node: &PlanNode,
    ) -> Result<Vec<Vec<ScenarioStep>>> {
        let lists = items(node).iter().enumerate();
        lists.map(|(number, node)| reader.steps(node, &format!("shuffle[{number}]"))).collect()
    }
}
