//! Exports conditions as expressions, and conditional steps as controllers.

use super::super::texts::groovy_call;
use super::super::xml::Item;
use super::super::{Place, PlanWriter};
use super::simple;
use crate::support::ElementKind;
use crate::support::kinds::{
    IfController, SwitchController, ThroughputController, WhileController,
};
use brunt_model::Population;
use brunt_model::scenario::{Condition, ConditionShare, ScenarioStep};

/// Pattern in an imported condition that is true for anything except `false`.
const FALSE: &str = r"(?i)^\s*false\s*$";

impl PlanWriter<'_> {
    pub(super) fn while_loop(&mut self, condition: &Condition) -> Item {
        let condition = match condition {
            Condition::Succeeded => "LAST".to_owned(),
            Condition::Not(inner) => match &**inner {
                Condition::Matches(text, pattern) if pattern == FALSE => {
                    self.text(text, Place::Text)
                }
                Condition::False(text) => self.text(text, Place::Text),
                _ => self.condition(condition),
            },
            condition => self.condition(condition),
        };
        self.unnamed(ElementKind::WhileController, WhileController { condition })
    }

    /// Exports steps with a condition, and an alternative if there is one.
    pub(super) fn conditional(
        &mut self,
        condition: &Condition,
        then: &[ScenarioStep],
        otherwise: &[ScenarioStep],
        population: &Population,
    ) -> Item {
        if let Condition::Share(share) = condition {
            let item = self.throughput(share.clone());
            return self.nest(item, then, population);
        }
        let condition = self.condition(condition);
        if otherwise.is_empty() {
            let item = self.unnamed(
                ElementKind::IfController,
                IfController { condition, is_expression: true, evaluates_all: false },
            );
            return self.nest(item, then, population);
        }
        let inner = condition.strip_prefix("${__groovy(").and_then(|rest| rest.strip_suffix(",)}"));
        let source = inner.map_or_else(
            || format!("'{condition}'.trim().equalsIgnoreCase('true')"),
            str::to_owned,
        );
        let value = format!("${{__groovy(({source}) ? 'then' : 'else',)}}");
        let then = self.steps(then, population, false);
        let otherwise = self.steps(otherwise, population, false);
        let branches = vec![simple("then", then), simple("else", otherwise)];
        let kind = ElementKind::SwitchController;
        self.item(kind, "If and else", SwitchController { value }).over(branches)
    }

    /// A controller that runs in a share of the rounds.
    pub(super) fn throughput(&mut self, share: ConditionShare) -> Item {
        let ConditionShare { value, percent: is_percent, per_user } = share;
        let (percent, executions) =
            if is_percent { (value, "1".to_owned()) } else { ("100".to_owned(), value) };
        let fields = ThroughputController {
            style: i64::from(is_percent),
            percent,
            executions,
            is_per_user: per_user,
        };
        self.unnamed(ElementKind::ThroughputController, fields)
    }

    /// Exports a condition as a text that evaluates to `true` if it holds.
    fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::True(text) => self.text(text, Place::Text),
            Condition::Succeeded => "${JMeterThread.last_sample_ok}".to_owned(),
            other => {
                let source = self.groovy_condition(other);
                groovy_call(&source)
            }
        }
    }

    fn groovy_condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Failed => "vars.get('JMeterThread.last_sample_ok') == 'false'".to_owned(),
            Condition::Succeeded => "vars.get('JMeterThread.last_sample_ok') != 'false'".to_owned(),
            // In JMeter, the code of a failed connection is a text and not a number.
            Condition::Status(least, most) => {
                format!(
                    "(prev != null && prev.getResponseCode().isInteger() && prev.getResponseCode().toInteger() >= {least} && prev.getResponseCode().toInteger() <= {most})"
                )
            }
            Condition::Equals(variable, value) => {
                format!(
                    "{} == {}",
                    self.groovy_text(&format!("${{{variable}}}")),
                    self.groovy_text(value)
                )
            }
            Condition::Same(one, other) => {
                format!("({}) == ({})", self.groovy_text(one), self.groovy_text(other))
            }
            Condition::Any(all) => {
                let all: Vec<String> = all.iter().map(|one| self.groovy_condition(one)).collect();
                format!("({})", all.join(" || "))
            }
            Condition::True(text) => {
                format!("({}).trim().equalsIgnoreCase('true')", self.groovy_text(text))
            }
            Condition::False(text) => {
                format!("({}).trim().equalsIgnoreCase('false')", self.groovy_text(text))
            }
            Condition::Matches(text, pattern) => {
                format!("(({}) =~ ({})).find()", self.groovy_text(text), self.groovy_text(pattern))
            }
            Condition::Not(inner) => format!("!({})", self.groovy_condition(inner)),
            Condition::Share(_) => "true".to_owned(),
        }
    }
}
