//! Exports choices between steps as controllers.

use super::super::xml::Item;
use super::super::{Place, PlanWriter};
use super::simple;
use crate::support::ElementKind;
use crate::support::kinds::{
    InterleaveController, RandomController, RandomOrderController, SwitchController,
};
use brunt_model::Population;
use brunt_model::scenario::{Branch, ConditionShare, ListOrder, Portion, ScenarioStep, SwitchCase};

/// Groups the elements of a branch into one element.
fn single_item(mut children: Vec<Item>, number: usize) -> Item {
    // JMeter takes each child of such a controller as a branch.
    match children.len() {
        1 => children.remove(0),
        _ => simple(&format!("branch {number}"), children),
    }
}

fn is_number(name: &str) -> bool {
    name.parse::<u32>().is_ok()
}

impl PlanWriter<'_> {
    /// Exports the choice of one request from the list.
    pub(super) fn next(&mut self, order: ListOrder, population: &Population) -> Vec<Item> {
        let requests = &population.scenario.requests;
        let weighted = requests.iter().enumerate().filter(|(_, request)| request.weight > 0);
        let branches: Vec<Branch> = weighted
            .map(|(number, request)| Branch {
                weight: request.weight,
                steps: vec![ScenarioStep::Request(number as u32)],
            })
            .collect();
        match &branches[..] {
            [only] => self.steps(&only.steps, population, false),
            _ => self.choose(order, Portion::Whole, &branches, population),
        }
    }

    pub(super) fn choose(
        &mut self,
        order: ListOrder,
        portion: Portion,
        branches: &[Branch],
        population: &Population,
    ) -> Vec<Item> {
        if portion == Portion::Turn {
            let name = &population.name;
            self.notice(format!(
                "population {name}: in JMeter each sampler ends the turn of its branch"
            ));
        }
        // One branch with an empty alternative runs in a share of the
        // rounds: a Throughput Controller.
        if let ([branch, rest], ListOrder::Sequence | ListOrder::WalkTogether) = (branches, order)
            && rest.steps.is_empty()
        {
            let percent =
                100.0 * f64::from(branch.weight) / f64::from(branch.weight + rest.weight).max(1.0);
            let share = ConditionShare {
                value: percent.to_string(),
                percent: true,
                per_user: order == ListOrder::WalkTogether,
            };
            let children = self.steps(&branch.steps, population, false);
            return vec![self.throughput(share).over(children)];
        }
        let children = branches.iter().enumerate().map(|(number, branch)| {
            single_item(self.steps(&branch.steps, population, false), number + 1)
        });
        let children: Vec<Item> = children.collect();
        let is_even = branches.iter().all(|branch| branch.weight == branches[0].weight);
        let style = match portion {
            Portion::Whole | Portion::Nonempty => 1,
            Portion::Turn => 0,
        };
        let item = match order {
            ListOrder::Random if is_even => {
                self.unnamed(ElementKind::RandomController, RandomController { style })
            }
            ListOrder::Random => {
                let all: u64 = branches.iter().map(|branch| u64::from(branch.weight)).sum();
                let mut limit = 0;
                let tests = branches.iter().enumerate().map(|(number, branch)| {
                    limit += u64::from(branch.weight);
                    if number + 1 == branches.len() {
                        number.to_string()
                    } else {
                        format!("n < {limit} ? {number} : ")
                    }
                });
                let tests: String = tests.collect();
                let value = format!("${{__groovy(int n = new Random().nextInt({all}); {tests},)}}");
                let kind = ElementKind::SwitchController;
                self.item(kind, "by weight", SwitchController { value })
            }
            order => {
                if !is_even {
                    self.notice(format!(
                        "population {}: branches that take turns have equal weights in JMeter",
                        population.name
                    ));
                }
                if !matches!(order, ListOrder::Sequence | ListOrder::WalkTogether) {
                    self.notice(format!(
                        "population {}: each thread goes through its branches from the first on",
                        population.name
                    ));
                }
                let is_shared = order == ListOrder::Sequence;
                let fields = InterleaveController { style, is_shared };
                self.unnamed(ElementKind::InterleaveController, fields)
            }
        };
        vec![item.over(children)]
    }

    pub(super) fn shuffle(
        &mut self,
        branches: &[Vec<ScenarioStep>],
        population: &Population,
    ) -> Item {
        let children = branches
            .iter()
            .enumerate()
            .map(|(number, steps)| single_item(self.steps(steps, population, false), number + 1));
        let children = children.collect();
        self.unnamed(ElementKind::RandomOrderController, RandomOrderController {}).over(children)
    }

    pub(super) fn switch(
        &mut self,
        value: &str,
        cases: &[SwitchCase],
        population: &Population,
    ) -> Item {
        let value = self.text(value, Place::Text);
        let children = self.cases(cases, population);
        self.unnamed(ElementKind::SwitchController, SwitchController { value }).over(children)
    }

    fn cases(&mut self, cases: &[SwitchCase], population: &Population) -> Vec<Item> {
        let has_default = cases.iter().any(|case| case.names.is_empty());
        let mut items = Vec::new();
        for case in cases {
            // Two children would have the name `default`, which JMeter selects for all other
            // values.
            if has_default && case.names.iter().any(|name| name.eq_ignore_ascii_case("default")) {
                continue;
            }
            let non_number = case.names.iter().find(|name| !name.is_empty() && !is_number(name));
            let name = non_number.or(case.names.first()).map_or("default", String::as_str);
            if case
                .names
                .iter()
                .filter(|name| is_number(name))
                .any(|number| *number != items.len().to_string())
            {
                self.notice(format!(
                    "population {}: a Switch Controller takes numbers as places, from 0: case {name}",
                    population.name
                ));
            }
            let children = self.steps(&case.steps, population, false);
            let name = self.text(name, Place::Text);
            // A Switch Controller selects its child by name.
            let has_case_name = children.len() == 1 && children[0].name == name;
            items.push(if has_case_name {
                single_item(children, 1)
            } else {
                simple(&name, children)
            });
        }
        items
    }
}
