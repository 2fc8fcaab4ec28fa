//! Converts controllers to steps.

use super::scope::TurnEffect;
use super::{ElementScope, PlanReader, texts};
use crate::document::JmxDocument;
use crate::element::TestElement;
use crate::error::JmxError;
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

    /// Like [`body`](Self::body), for a transaction. With sample records, it also counts the
    /// ends of its controllers.
    fn transaction_body(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        if self.context.records.is_none()
            || self.flag(element, "TransactionController.parent", false)
        {
            return self.body(element, scope);
        }
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
                let times = self.text(element, "LoopController.loops");
                let times = if Self::is_constant(&times) {
                    let number = self.whole_number_of(element, "LoopController.loops", &times);
                    // A negative number means no limit.
                    (number >= 0.0).then_some(Rounds::Number(number as u64))
                } else {
                    Some(Rounds::Text(times))
                };
                let (before, steps) = self.numbered_body(element, scope)?;
                let steps =
                    before.into_iter().chain([ScenarioStep::Loop { times, steps }]).collect();
                // Without `continue_forever`, a loop runs its rounds only once per
                // iteration, unless it is in an interleave controller of style 0, where each
                // turn starts it again.
                let is_once = !self.flag(element, "LoopController.continue_forever", true);
                Ok(if is_once && scope.turns != TurnEffect::Restart {
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
            ElementKind::IfController => {
                let condition = self.if_condition(element);
                let then = self.body(element, scope)?;
                Ok(vec![ScenarioStep::If { condition, then, otherwise: Vec::new() }])
            }
            ElementKind::WhileController => {
                let text = self.text(element, "WhileController.condition");
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
                let separator = if self.flag(element, "ForeachController.useSeparator", true) {
                    "_"
                } else {
                    ""
                };
                let values = LoopValues::Numbered {
                    prefix: format!(
                        "{}{separator}",
                        self.text(element, "ForeachController.inputVal")
                    ),
                    after: self.text(element, "ForeachController.startIndex"),
                    last: self.text(element, "ForeachController.endIndex"),
                };
                let variable = self.value(element, "ForeachController.returnVal");
                let (before, steps) = self.numbered_body(element, scope)?;
                Ok(before
                    .into_iter()
                    .chain([ScenarioStep::ForEach { variable, values, steps }])
                    .collect())
            }
            ElementKind::SwitchController => {
                let value = self.text(element, "SwitchController.value");
                let steps = self.round_start(element)?;
                let cases = cases(self.units(element, scope)?);
                Ok(steps.into_iter().chain([ScenarioStep::Switch { value, cases }]).collect())
            }
            ElementKind::RandomController => self.choose(element, scope, ListOrder::Random),
            ElementKind::InterleaveController => {
                let all = self.flag(element, "InterleaveControl.accrossThreads", false);
                self.choose(
                    element,
                    scope,
                    if all { ListOrder::Sequence } else { ListOrder::WalkTogether },
                )
            }
            ElementKind::RandomOrderController => {
                let steps = self.round_start(element)?;
                let branches =
                    self.units(element, scope)?.into_iter().map(|(_, steps)| steps).collect();
                Ok(steps.into_iter().chain([ScenarioStep::Shuffle(branches)]).collect())
            }
            ElementKind::ThroughputController => {
                let style = self.number(element, "ThroughputController.style", 0.0)?;
                let percent = style >= 1.0;
                let value = if percent { "percentThroughput" } else { "maxThroughput" };
                let share = ConditionShare {
                    value: self.text(element, &format!("ThroughputController.{value}")),
                    percent,
                    per_user: self.flag(element, "ThroughputController.perThread", false),
                };
                let then = self.body(element, scope)?;
                Ok(vec![ScenarioStep::If {
                    condition: Condition::Share(share),
                    then,
                    otherwise: Vec::new(),
                }])
            }
            ElementKind::RuntimeController => {
                let seconds = self.text(element, "RunTime.seconds");
                let steps = self.body(element, scope)?;
                Ok(vec![ScenarioStep::During { seconds, steps }])
            }
            ElementKind::CriticalSectionController => {
                let name = self.text(element, "CriticalSectionController.lockName");
                let steps = self.body(element, scope)?;
                Ok(vec![ScenarioStep::Lock { name, steps }])
            }
            ElementKind::TransactionController => self.transaction(element, scope),
            ElementKind::ParallelController => self.parallel(element, scope),
            ElementKind::WeightedSwitchController => self.weighted(element, scope),
            ElementKind::ParameterizedController => {
                let variables = element.properties().element("Arguments.arguments");
                let nested = element.properties().element("VariablesContainer").or(variables);
                let set = nested.iter().flat_map(super::data::pairs).map(|(variable, value)| {
                    ScenarioStep::Set { variable, value: self.before.folded(&value) }
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

    fn if_condition(&self, element: TestElement<'_>) -> Condition {
        let text = self.text(element, "IfController.condition");
        if text.trim() == LAST_SAMPLE {
            return Condition::Succeeded;
        }
        if self.flag(element, "IfController.useExpression", false) {
            return Condition::True(text);
        }
        match text.trim() {
            "true" | "false" => Condition::True(text),
            _ => Condition::True(call_of("javaScript", &[&text]).unwrap_or(text)),
        }
    }

    fn choose(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
        order: ListOrder,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        // Style 0: in each turn, a child controller runs only one of its samplers.
        let style = self.number(element, "InterleaveControl.style", 0.0)?;
        let has_controllers =
            element.enabled_children().any(|child| child.role() == Role::Controller);
        let (portion, turns) = match style {
            style if style < 1.0 && has_controllers => (Portion::Turn, TurnEffect::Restart),
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
        let included = self.flag(element, "TransactionController.includeTimers", true);
        let parent = self.flag(element, "TransactionController.parent", false);
        let is_empty = !leads_to_sampler(element);
        let transaction = ScenarioStep::Transaction {
            name: self.before.folded(&element.name()),
            pauses: if included { Pauses::Included } else { Pauses::Excluded },
            parent,
            steps: self.transaction_body(element, scope)?,
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
        let rows: Vec<Vec<String>> = element
            .properties()
            .items("weights")
            .map(|row| row.items().map(|cell| self.before.text(&cell.text())).collect())
            .collect();
        let random = self.flag(element, "randomChoice", false);
        let mut steps = self.round_start(element)?;
        let units = self.units(element, scope)?;
        let branches: Vec<Branch> = units
            .into_iter()
            .map(|(name, steps)| Branch { weight: weight(&rows, &name), steps })
            .collect();
        if branches.iter().any(|branch| branch.weight > 0) {
            let order = if random { ListOrder::Random } else { ListOrder::Sequence };
            steps.push(ScenarioStep::Choose { order, portion: Portion::Whole, branches });
        }
        Ok(steps)
    }

    /// Converts a Parallel Controller. Steps that cannot run in parallel run before it.
    fn parallel(
        &mut self,
        element: TestElement<'_>,
        scope: &ElementScope<'_>,
    ) -> Result<Vec<ScenarioStep>, JmxError> {
        const MOST: f64 = 6.0;
        let limited = self.flag(element, "LIMIT_MAX_THREAD_NUMBER", false);
        let most = if limited {
            self.number(element, "MAX_THREAD_NUMBER", MOST)?
        } else {
            f64::from(u16::MAX)
        };
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
        let file = format!("{prefix}{}", self.value(element, "IncludeController.includepath"));
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
        self.refuse_unsupported(&document)?;
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

/// Weight of a child in the table of a Weighted Switch Controller; 0 if absent.
fn weight(rows: &[Vec<String>], name: &str) -> u32 {
    let row = rows.iter().find(|row| row.first().is_some_and(|cell| cell == name));
    row.and_then(|row| row.get(1)).and_then(|cell| cell.trim().parse().ok()).unwrap_or(0)
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
