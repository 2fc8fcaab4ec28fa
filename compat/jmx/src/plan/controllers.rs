//! Converts controllers to steps.

use super::scope::TurnEffect;
use super::{ElementScope, PlanReader, texts};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
use crate::support::kinds::{
    CriticalSectionController, ForeachController, IfController, IncludeController,
    InterleaveController, LoopController, ParallelController, ParameterizedController,
    RandomController, RuntimeController, SwitchController, ThroughputController,
    TransactionController, WeightedSwitchController, WhileController,
};
use crate::support::{ElementKind, Role};
use brunt_model::scenario::{
    Branch, ConcurrencyMode, Condition, ConditionShare, EndScope, ListOrder, LoopValues, Pauses,
    Portion, Rounds, ScenarioStep, SwitchCase, TransactionCount,
};
use brunt_script::template::call_of;

/// The variable that is true if the last sample passed.
const LAST_SAMPLE: &str = "${JMeterThread.last_sample_ok}";

/// Name and steps of each child of a controller that runs.
type Units = Vec<(String, Vec<ScenarioStep>)>;

impl PlanReader<'_> {
    /// Steps of one round of a controller: assignments, then its children in order.
    ///
    /// # Errors
    ///
    /// Fails on an invalid child.
    pub(super) fn body(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let mut steps = self.round_start(element)?;
        for (_, unit) in self.units(element, scope)? {
            steps.extend(unit);
        }
        Ok(steps)
    }

    /// Like [`body`](Self::body), for a transaction with sample records: it also counts the ends of
    /// its controllers.
    fn transaction_body(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let mut steps = self.round_start(element)?;
        let roles = element.enabled_children().map(|child| child.role());
        let roles = roles.filter(|role| matches!(role, Role::Sampler | Role::Controller));
        for ((_, unit), role) in self.units(element, scope)?.into_iter().zip(roles) {
            steps.extend(unit);
            if role == Role::Controller {
                steps.push(ScenarioStep::CountInTransactions(TransactionCount::ControllerEnd));
            }
        }
        Ok(steps)
    }

    fn units(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Units, JmxError> {
        let scope = scope.with(element);
        let mut units = Vec::new();
        for child in element.enabled_children() {
            if let Some(steps) = self.unit(child, &scope)? {
                units.push((child.name().into_owned(), steps));
            }
        }
        Ok(units)
    }

    /// Steps of a child; None if the child does not run as a step.
    fn unit(
        &mut self,
        child: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Option<Vec<ScenarioStep>>, JmxError> {
        let is_resumable = scope.turns == TurnEffect::Restart && !is_loop(child);
        Ok(match child.role() {
            Role::Sampler => {
                let ends_turn =
                    (scope.turns != TurnEffect::None).then_some(ScenarioStep::Stop(EndScope::Turn));
                Some(self.sampler(child, scope)?.into_iter().chain(ends_turn).collect())
            }
            Role::Controller if is_resumable => {
                let scope = ElementScope { turns: TurnEffect::Resume, ..scope.clone() };
                let steps = self.nested(child, |reader| reader.controller(child, &scope))?;
                Some(vec![ScenarioStep::Resumable(steps)])
            }
            Role::Controller => Some(self.nested(child, |reader| reader.controller(child, scope))?),
            _ => None,
        })
    }

    /// Converts a controller to steps.
    fn controller(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let Some(kind) = element.kind() else { return Ok(Vec::new()) };
        match kind {
            // It runs where a module controller or include controller refers to it.
            ElementKind::TestFragment => Ok(Vec::new()),
            ElementKind::LoopController => {
                let LoopController { loops, continues_forever } = self.fields(element)?;
                let times = if Self::is_constant(&loops) {
                    let number = self.whole_number_of(element, "loops", &loops);
                    // A negative number means no limit.
                    (number >= 0.0).then_some(Rounds::Number(number as u64))
                } else {
                    Some(Rounds::Text(loops))
                };
                let (before, steps) = self.numbered_body(element, scope)?;
                let steps =
                    before.into_iter().chain([ScenarioStep::Loop { times, steps }]).collect();
                // Without `continue_forever`, a loop runs its rounds only once per
                // iteration, unless it is in an interleave controller of style 0, where each
                // turn starts it again.
                Ok(if !continues_forever && scope.turns != TurnEffect::Restart {
                    vec![ScenarioStep::Once(steps)]
                } else {
                    steps
                })
            }
            ElementKind::OnceOnlyController => {
                let steps = self.body(element, scope)?;
                Ok(vec![if is_notified_of_rounds(element) {
                    ScenarioStep::OncePerLoop(steps)
                } else {
                    ScenarioStep::Once(steps)
                }])
            }
            ElementKind::IfController => self.if_controller(element, scope),
            ElementKind::WhileController => {
                let WhileController { condition: text } = self.fields(element)?;
                // JMeter increments the round number before it evaluates the condition.
                let index = format!("${{{}}}", self.index_name(element));
                let next = call_of("intSum", &[&index, "1"]).unwrap_or_default();
                let text = text.replace(&index, &next);
                let condition = match text.trim() {
                    "" | "LAST" => Condition::Succeeded,
                    _ => Condition::Not(Box::new(Condition::False(text.clone()))),
                };
                let (before, steps) = self.numbered_body(element, scope)?;
                // JMeter evaluates the condition twice per round, and a function that counts or
                // draws may then return another value.
                let repeat = ScenarioStep::While { condition, steps, twice: text.contains("${__") };
                // JMeter evaluates a blank condition after the first round.
                let repeat = match (text.trim(), repeat) {
                    ("", ScenarioStep::While { condition, steps, .. }) => {
                        let stop = ScenarioStep::If {
                            condition: Condition::Not(Box::new(condition)),
                            then: vec![ScenarioStep::Stop(EndScope::Loop)],
                            otherwise: Vec::new(),
                        };
                        ScenarioStep::Loop {
                            times: None,
                            steps: steps.into_iter().chain([stop]).collect(),
                        }
                    }
                    (_, repeat) => repeat,
                };
                Ok(before.into_iter().chain([repeat]).collect())
            }
            ElementKind::ForeachController => {
                let ForeachController { input, after, last, variable, has_separator } =
                    self.fields(element)?;
                let separator = if has_separator { "_" } else { "" };
                let values =
                    LoopValues::Numbered { prefix: format!("{input}{separator}"), after, last };
                let (before, steps) = self.numbered_body(element, scope)?;
                Ok(before
                    .into_iter()
                    .chain([ScenarioStep::ForEach { variable, values, steps }])
                    .collect())
            }
            ElementKind::SwitchController => {
                let SwitchController { value } = self.fields(element)?;
                let steps = self.round_start(element)?;
                let cases = cases(self.units(element, scope)?);
                Ok(steps.into_iter().chain([ScenarioStep::Switch { value, cases }]).collect())
            }
            ElementKind::RandomController => {
                let RandomController { style } = self.fields(element)?;
                self.choose(element, scope, ListOrder::Random, style)
            }
            ElementKind::InterleaveController => {
                let InterleaveController { style, is_shared } = self.fields(element)?;
                let order = if is_shared { ListOrder::Sequence } else { ListOrder::WalkTogether };
                self.choose(element, scope, order, style)
            }
            ElementKind::RandomOrderController => {
                let steps = self.round_start(element)?;
                let branches =
                    self.units(element, scope)?.into_iter().map(|(_, steps)| steps).collect();
                Ok(steps.into_iter().chain([ScenarioStep::Shuffle(branches)]).collect())
            }
            ElementKind::ThroughputController => {
                let ThroughputController { style, percent, executions, is_per_user } =
                    self.fields(element)?;
                let is_percent = style >= 1;
                let share = ConditionShare {
                    value: if is_percent { percent } else { executions },
                    percent: is_percent,
                    per_user: is_per_user,
                };
                let then = self.body(element, scope)?;
                Ok(vec![ScenarioStep::If {
                    condition: Condition::Share(share),
                    then,
                    otherwise: Vec::new(),
                }])
            }
            ElementKind::RuntimeController => {
                let RuntimeController { seconds } = self.fields(element)?;
                let steps = self.body(element, scope)?;
                Ok(vec![ScenarioStep::During { seconds, steps }])
            }
            ElementKind::CriticalSectionController => {
                let CriticalSectionController { lock: name } = self.fields(element)?;
                let steps = self.body(element, scope)?;
                Ok(vec![ScenarioStep::Lock { name, steps }])
            }
            ElementKind::TransactionController => self.transaction(element, scope),
            ElementKind::ParallelController => self.parallel(element, scope),
            ElementKind::WeightedSwitchController => self.weighted(element, scope),
            ElementKind::ParameterizedController => {
                let ParameterizedController { variables, older } = self.fields(element)?;
                let variables = if variables.is_empty() { older } else { variables };
                let set = variables.into_iter().map(|(variable, value)| ScenarioStep::Set {
                    variable,
                    value: self.before.folded(&value),
                });
                let set: Vec<ScenarioStep> = set.collect();
                Ok(set.into_iter().chain(self.body(element, scope)?).collect())
            }
            ElementKind::ModuleController => self.module(element, scope),
            ElementKind::IncludeController => self.include(element, scope),
            _ => self.body(element, scope),
        }
    }

    /// Converts the body of a loop: the steps before the loop, and the steps of a
    /// round, which increments `__jm__NAME__idx`.
    fn numbered_body(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<(Vec<ScenarioStep>, Vec<ScenarioStep>), JmxError> {
        let steps = self.body(element, scope)?;
        // Most plans never read the round number.
        if !self.reads_rounds {
            return Ok((Vec::new(), steps));
        }
        let variable = self.index_name(element);
        let next = call_of("intSum", &[&format!("${{{variable}}}"), "1"]).unwrap_or_default();
        let initial = ScenarioStep::Set { variable: variable.clone(), value: "-1".to_owned() };
        let increment = ScenarioStep::Set { variable, value: next };
        Ok((vec![initial], [increment].into_iter().chain(steps).collect()))
    }

    /// Name of the variable with a loop's round number.
    fn index_name(&self, element: TestElement<'_>) -> String {
        format!("__jm__{}__idx", self.before.text(&element.name()))
    }

    fn if_controller(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let IfController { condition: text, is_expression, evaluates_all } =
            self.fields(element)?;
        let condition = match text.trim() {
            LAST_SAMPLE => Condition::Succeeded,
            "true" | "false" => Condition::True(text),
            _ if is_expression => Condition::True(text),
            _ => Condition::True(call_of("javaScript", &[&text]).unwrap_or(text)),
        };
        let first = self.round_start(element)?;
        let mut units: Vec<Vec<ScenarioStep>> =
            self.units(element, scope)?.into_iter().map(|(_, unit)| unit).collect();
        if !evaluates_all {
            units = vec![units.concat()];
        } else if element.enabled_children().any(|child| child.role() == Role::Controller) {
            self.notice(format!(
                "{}: the condition is evaluated before each child, not before each sampler within a child",
                element.place()
            ));
        }
        if units.is_empty() {
            units.push(Vec::new());
        }
        units[0].splice(0..0, first);
        // If the condition does not hold before a child, the rest is skipped.
        Ok(units.into_iter().rev().fold(Vec::new(), |rest, mut then| {
            then.extend(rest);
            vec![ScenarioStep::If { condition: condition.clone(), then, otherwise: Vec::new() }]
        }))
    }

    fn choose(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
        order: ListOrder,
        style: i64,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let has_controllers =
            element.enabled_children().any(|child| child.role() == Role::Controller);
        let (portion, turns) = match style {
            // In each turn, a child controller runs only one of its samplers.
            style if style < 1 && has_controllers => (Portion::Turn, TurnEffect::Restart),
            _ => (Portion::Nonempty, scope.turns),
        };
        let mut steps = self.round_start(element)?;
        let inner = ElementScope { turns, ..scope.with(element) };
        let mut branches = Vec::new();
        for child in element.enabled_children() {
            let Some(steps) = self.unit(child, &inner)? else { continue };
            let is_block = portion == Portion::Nonempty && child.role() == Role::Controller;
            let steps = if is_block {
                vec![ScenarioStep::Group { name: child.name().into_owned(), steps }]
            } else {
                steps
            };
            branches.push(Branch { weight: 1, steps });
        }
        if !branches.is_empty() {
            steps.push(ScenarioStep::Choose { order, portion, branches });
        }
        Ok(steps)
    }

    /// Converts a transaction. One without samplers makes one sample per thread.
    fn transaction(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let TransactionController { has_parent: parent, includes_timers } = self.fields(element)?;
        let is_empty = !leads_to_sampler(element);
        let transaction = ScenarioStep::Transaction {
            name: self.before.folded(&element.name()),
            pauses: if includes_timers { Pauses::Included } else { Pauses::Excluded },
            parent,
            steps: if parent || self.context.records.is_none() {
                self.body(element, scope)?
            } else {
                self.transaction_body(element, scope)?
            },
        };
        // After a complete parent sample, JMeter asks the controller again for a sampler,
        // which ends the turn.
        let ends_turn = (parent && scope.turns != TurnEffect::None)
            .then_some(ScenarioStep::Stop(EndScope::Turn));
        let steps: Vec<ScenarioStep> = [transaction].into_iter().chain(ends_turn).collect();
        Ok(if is_empty { vec![ScenarioStep::Once(steps)] } else { steps })
    }

    fn weighted(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let WeightedSwitchController { weights, is_random } = self.fields(element)?;
        let mut steps = self.round_start(element)?;
        let units = self.units(element, scope)?;
        let branches: Vec<Branch> = units
            .into_iter()
            .map(|(name, steps)| Branch { weight: self.weight(&weights, &name), steps })
            .collect();
        if branches.iter().any(|branch| branch.weight > 0) {
            let order = if is_random { ListOrder::Random } else { ListOrder::Sequence };
            steps.push(ScenarioStep::Choose { order, portion: Portion::Whole, branches });
        }
        Ok(steps)
    }

    /// Weight of a child in the table of a Weighted Switch Controller; 0 if absent.
    fn weight(&self, rows: &[Vec<String>], name: &str) -> u32 {
        let row =
            rows.iter().find(|row| row.first().is_some_and(|cell| self.before.text(cell) == name));
        let weight = row.and_then(|row| row.get(1)).map(|cell| self.before.text(cell));
        weight.and_then(|weight| weight.trim().parse().ok()).unwrap_or(0)
    }

    /// Converts a Parallel Controller. Steps that cannot run in parallel run before it.
    fn parallel(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let ParallelController { is_limited, most } = self.fields(element)?;
        let most = if is_limited { most } else { f64::from(u16::MAX) };
        let mut before = Vec::new();
        let mut together = Vec::new();
        for step in self.body(element, scope)? {
            match step {
                ScenarioStep::Request(_)
                | ScenarioStep::Set { .. }
                | ScenarioStep::Row(_)
                | ScenarioStep::Count(_) => together.push(step),
                other if is_pause(&other) => {
                    self.notice(format!("{}: pauses within it are left out", element.place()));
                }
                other => {
                    if !matches!(other, ScenarioStep::Script(_) | ScenarioStep::PauseByScript(_)) {
                        self.notice(format!(
                            "{}: controllers within it run before its requests",
                            element.place()
                        ));
                    }
                    before.push(other);
                }
            }
        }
        if !together.is_empty() {
            before.push(ScenarioStep::Together {
                manner: ConcurrencyMode::Parallel(most.max(1.0) as u32),
                steps: together,
            });
        }
        Ok(before)
    }

    /// Converts a Module Controller: the target controller runs in its place.
    fn module(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let path: Vec<String> = element
            .properties()
            .items("ModuleController.node_path")
            .map(|name| name.text().into_owned())
            .collect();
        let Some(target) = find(element.document(), &path) else {
            let message = format!(
                "{}: there is no controller `{}`; choose an existing one",
                element.title(),
                path.join(" > ")
            );
            return Err(JmxError::on_line(element.line(), message));
        };
        // The siblings of the module controller apply to the target, too.
        let scope = scope.with(element);
        self.nested(target, |reader| match target.kind() {
            Some(ElementKind::TestFragment) => reader.body(target, &scope),
            _ => reader.controller(target, &scope),
        })
    }

    fn include(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        let prefix = self.before.text("${__P(includecontroller.prefix,)}");
        let IncludeController { file } = self.fields(element)?;
        let file = format!("{prefix}{file}");
        let file = file.trim();
        if file.is_empty() {
            self.notice(format!("{}: left out, it names no file", element.place()));
            return Ok(Vec::new());
        }
        self.notice_replacement(element, file);
        let bytes = match self.context.folder.read(file) {
            Ok(bytes) => bytes,
            Err(error) if self.context.lenient => {
                self.notice(format!("{}: left out, {file}: {error}", element.place()));
                return Ok(Vec::new());
            }
            Err(error) => return Err(include_error(element, file, &error.to_string())),
        };
        let document = JmxDocument::parse(&bytes)
            .map_err(|error| include_error(element, file, &error.to_string()))?;
        self.check_elements(&document)?;
        self.reads_rounds |= reads_rounds(&document);
        self.reads_previous |= super::samplers::reads_previous(&document);
        let mut steps = Vec::new();
        let fragments =
            document.all_elements().filter(|one| one.kind() == Some(ElementKind::TestFragment));
        for fragment in fragments {
            steps.extend(self.nested(element, |reader| reader.body(fragment, scope))?);
        }
        Ok(steps)
    }
}

fn include_error(element: TestElement<'_>, file: &str, error: &str) -> JmxError {
    JmxError::on_line(
        element.line(),
        format!("{}: {file}: {error}; name an existing plan", element.title()),
    )
}

/// True if the document may read a loop's round number, `${__jm__NAME__idx}`.
pub(super) fn reads_rounds(document: &JmxDocument) -> bool {
    document.all_elements().any(|element| texts::mentions(document, element, "__jm__"))
}

/// True if the controller may contain a sampler.
fn leads_to_sampler(controller: TestElement<'_>) -> bool {
    controller.enabled_children().any(|child| match child.role() {
        Role::Sampler => true,
        Role::Controller => {
            matches!(
                child.kind(),
                Some(ElementKind::ModuleController | ElementKind::IncludeController)
            ) || leads_to_sampler(child)
        }
        _ => false,
    })
}

/// True for a controller that restarts each time its parent starts.
fn is_loop(element: TestElement<'_>) -> bool {
    use ElementKind::{ForeachController, LoopController, OnceOnlyController, WhileController};
    match element.kind() {
        Some(LoopController | WhileController | ForeachController) => true,
        Some(OnceOnlyController) => is_notified_of_rounds(element),
        _ => false,
    }
}

/// True if the parent notifies its children at the start of each round, as only JMeter's loops do.
fn is_notified_of_rounds(element: TestElement<'_>) -> bool {
    use ElementKind::{LoopController, RuntimeController, WhileController};
    let around = element.parent().and_then(|parent| parent.kind());
    matches!(around, Some(LoopController | WhileController | RuntimeController))
}

pub(super) fn is_pause(step: &ScenarioStep) -> bool {
    matches!(
        step,
        ScenarioStep::Think(_)
            | ScenarioStep::Pause(_)
            | ScenarioStep::Pace(_)
            | ScenarioStep::Meet { .. }
    )
}

/// Converts children to cases. A switch selects a child by number or name, the first for an
/// empty value, else `default`.
fn cases(units: Units) -> Vec<SwitchCase> {
    let cases = units.into_iter().enumerate().map(|(number, (name, steps))| {
        let is_default = name.eq_ignore_ascii_case("default");
        let mut names = vec![number.to_string(), brunt_script::template::plain(&name)];
        if number == 0 {
            names.push(String::new());
        }
        (is_default, SwitchCase { names, steps })
    });
    let (default, mut cases): (Vec<_>, Vec<_>) = cases.partition(|(is_default, _)| *is_default);
    let other = default
        .first()
        .map(|(_, case)| (true, SwitchCase { names: Vec::new(), steps: case.steps.clone() }));
    cases.extend(default);
    cases.extend(other);
    cases.into_iter().map(|(_, case)| case).collect()
}

/// Finds an element by its path of names from the outermost. The path may begin with names
/// of JMeter's own tree.
fn find<'d>(document: &'d JmxDocument, path: &[String]) -> Option<TestElement<'d>> {
    let plan = document.test_plan()?;
    let second_is_plan = path.get(1).is_some_and(|name| *name == plan.name());
    let from = if second_is_plan {
        2
    } else {
        path.iter().position(|name| *name == plan.name()).map_or(0, |index| index + 1)
    };
    let mut all = vec![plan];
    for name in path.get(from..)? {
        all = all
            .iter()
            .flat_map(TestElement::children)
            .filter(|child| child.name() == name.as_str())
            .collect();
    }
    all.into_iter().find(|element| matches!(element.role(), Role::Controller | Role::ThreadGroup))
}
