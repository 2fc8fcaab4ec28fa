//! Executes the statements of a script.

use super::{Frame, Vm};
use crate::error::{Eval, Fault, Throwable, throw};
use crate::syntax::ast::{
    Case, Catch, Expr, ForParts, Function, Name, Stmt, StmtKind, TryParts, Type,
};
use crate::value::Value;
use std::rc::Rc;

/// Result of a statement.
pub(crate) enum Flow {
    /// It ended normally, with the value of an expression.
    Normal(Value),
    Return(Value),
    Break(Option<Name>),
    Continue(Option<Name>),
}

/// Action of a loop after a round.
enum LoopAction {
    Repeat,
    End,
    /// Leaves the loop and passes the flow on to the enclosing statement.
    Leave(Flow),
}

/// Action of a loop with this label after its body ended.
fn loop_action(flow: Flow, label: Option<&Name>) -> LoopAction {
    match flow {
        Flow::Normal(_) => LoopAction::Repeat,
        Flow::Break(target) if targets_loop(target.as_ref(), label) => LoopAction::End,
        Flow::Continue(target) if targets_loop(target.as_ref(), label) => LoopAction::Repeat,
        other => LoopAction::Leave(other),
    }
}

fn targets_loop(target: Option<&Name>, label: Option<&Name>) -> bool {
    target.is_none() || target == label
}

impl Vm<'_> {
    /// Runs the body of a function. Returns the value of `return` or of its last statement.
    pub fn body(&mut self, function: &Function, frame: &Rc<Frame>) -> Eval<Value> {
        match self.statements(&function.body, frame)? {
            Flow::Normal(value) | Flow::Return(value) => Ok(value),
            Flow::Break(_) | Flow::Continue(_) => Ok(Value::Null),
        }
    }

    pub fn statements(&mut self, statements: &[Stmt], frame: &Rc<Frame>) -> Eval<Flow> {
        let mut last = Value::Null;
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::Normal(value) => last = value,
                other => return Ok(other),
            }
        }
        Ok(Flow::Normal(last))
    }

    pub fn statement(&mut self, statement: &Stmt, frame: &Rc<Frame>) -> Eval<Flow> {
        self.tick(1)?;
        self.line = statement.line;
        match &statement.kind {
            StmtKind::Expr(expression) => Ok(Flow::Normal(self.eval(expression, frame)?)),
            StmtKind::Let(variables) => self.declare(variables, frame),
            StmtKind::LetMany(slots, value) => self.declare_many(slots, value, frame),
            StmtKind::If(condition, then, other) => {
                if self.condition(condition, frame)? {
                    self.statement(then, frame)
                } else if let Some(other) = other {
                    self.statement(other, frame)
                } else {
                    Ok(Flow::Normal(Value::Null))
                }
            }
            StmtKind::Block(body) => self.statements(body, frame),
            StmtKind::Return(value) => Ok(Flow::Return(match value {
                Some(value) => self.eval(value, frame)?,
                None => Value::Null,
            })),
            StmtKind::Break(label) => Ok(Flow::Break(label.clone())),
            StmtKind::Continue(label) => Ok(Flow::Continue(label.clone())),
            StmtKind::Nothing => Ok(Flow::Normal(Value::Null)),
            StmtKind::While(label, condition, body) => {
                self.while_loop(label.as_ref(), condition, body, frame)
            }
            StmtKind::DoWhile(label, body, condition) => {
                self.do_loop(label.as_ref(), body, condition, frame)
            }
            StmtKind::For(label, parts) => self.for_loop(label.as_ref(), parts, frame),
            StmtKind::ForIn(label, slot, ty, values, body) => {
                self.for_each(label.as_ref(), *slot, ty, values, body, frame)
            }
            StmtKind::Switch(value, cases) => self.switch(value, cases, frame),
            StmtKind::Throw(value) => {
                let value = self.eval(value, frame)?;
                Err(self.throw_value(value))
            }
            StmtKind::Try(parts) => self.try_statement(parts, frame),
            StmtKind::Assert(condition, message, text) => {
                self.assert(condition, message.as_ref(), text, frame)
            }
        }
    }

    fn condition(&mut self, condition: &Expr, frame: &Rc<Frame>) -> Eval<bool> {
        let value = self.eval(condition, frame)?;
        self.truth(&value)
    }

    fn declare(
        &mut self,
        variables: &[(u16, Type, Option<Expr>)],
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        for (slot, ty, value) in variables {
            let value = match value {
                Some(value) => {
                    let value = self.eval(value, frame)?;
                    self.coerce(value, ty)?
                }
                None => Value::Null,
            };
            set_slot(frame, *slot, value);
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn declare_many(
        &mut self,
        slots: &[(u16, Type)],
        value: &Expr,
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        let value = self.eval(value, frame)?;
        let mut items = self.items(&value)?.into_iter();
        for (slot, ty) in slots {
            let item = items.next().unwrap_or_default();
            let item = self.coerce(item, ty)?;
            set_slot(frame, *slot, item);
        }
        Ok(Flow::Normal(value))
    }

    fn while_loop(
        &mut self,
        label: Option<&Name>,
        condition: &Expr,
        body: &Stmt,
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        while self.condition(condition, frame)? {
            self.tick(1)?;
            match loop_action(self.statement(body, frame)?, label) {
                LoopAction::Repeat => {}
                LoopAction::End => break,
                LoopAction::Leave(flow) => return Ok(flow),
            }
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn do_loop(
        &mut self,
        label: Option<&Name>,
        body: &Stmt,
        condition: &Expr,
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        loop {
            match loop_action(self.statement(body, frame)?, label) {
                LoopAction::Repeat => {}
                LoopAction::End => break,
                LoopAction::Leave(flow) => return Ok(flow),
            }
            if !self.condition(condition, frame)? {
                break;
            }
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn for_loop(
        &mut self,
        label: Option<&Name>,
        parts: &ForParts,
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        for statement in &parts.before {
            self.statement(statement, frame)?;
        }
        loop {
            self.tick(1)?;
            if let Some(condition) = &parts.condition
                && !self.condition(condition, frame)?
            {
                break;
            }
            match loop_action(self.statement(&parts.body, frame)?, label) {
                LoopAction::Repeat => {}
                LoopAction::End => break,
                LoopAction::Leave(flow) => return Ok(flow),
            }
            for expression in &parts.after {
                self.eval(expression, frame)?;
            }
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn for_each(
        &mut self,
        label: Option<&Name>,
        slot: u16,
        ty: &Type,
        values: &Expr,
        body: &Stmt,
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        let values = self.eval(values, frame)?;
        let mut walk = self.walk(&values)?;
        while let Some(item) = walk.next() {
            self.tick(1)?;
            let item = self.coerce(item, ty)?;
            set_slot(frame, slot, item);
            match loop_action(self.statement(body, frame)?, label) {
                LoopAction::Repeat => {}
                LoopAction::End => break,
                LoopAction::Leave(flow) => return Ok(flow),
            }
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn switch(&mut self, value: &Expr, cases: &[Case], frame: &Rc<Frame>) -> Eval<Flow> {
        let value = self.eval(value, frame)?;
        let mut begin = None;
        for (index, case) in cases.iter().enumerate() {
            if let Some(label) = &case.label {
                let label = self.eval_label(label, frame)?;
                if self.is_case(&label, &value)? {
                    begin = Some(index);
                    break;
                }
            }
        }
        // `default` applies only if no case does, whatever its position.
        let begin = begin.or_else(|| cases.iter().position(|case| case.label.is_none()));
        let mut last = Value::Null;
        for case in cases.iter().skip(begin.unwrap_or(cases.len())) {
            match self.statements(&case.body, frame)? {
                Flow::Normal(value) => last = value,
                // Without a label, `break` leaves the `switch` and not a loop around it.
                Flow::Break(None) => break,
                other => return Ok(other),
            }
            if case.closed {
                break;
            }
        }
        Ok(Flow::Normal(last))
    }

    /// Evaluates a label, which may be the bare name of an enum constant.
    fn eval_label(&mut self, label: &Expr, frame: &Rc<Frame>) -> Eval<Value> {
        if let Expr::Global(global) = label {
            let name = &frame.globals.code.globals[*global as usize];
            if let Some(constant) = self.enum_constant(frame, name)? {
                return Ok(constant);
            }
        }
        self.eval(label, frame)
    }

    /// True if a value matches the label of a case.
    pub fn is_case(&mut self, label: &Value, value: &Value) -> Eval<bool> {
        match label {
            Value::Class(class) => Ok(self.is_instance(value, class.name())),
            Value::Range(_) | Value::List(_) | Value::Set(_) => self.contains(label, value),
            Value::Map(map) => Ok(map.get(value).is_some()),
            Value::Closure(_) => {
                let result = self.call_closure(label, std::slice::from_ref(value))?;
                self.truth(&result)
            }
            Value::Native(object) if object.class_name() == "java.util.regex.Pattern" => {
                let text = self.text(value)?;
                let matcher = self.call_method(label, "matcher", &[Value::Str(text)])?;
                let is_match = self.call_method(&matcher, "matches", &[])?;
                self.truth(&is_match)
            }
            _ => self.equals(label, value),
        }
    }

    /// Creates the fault of `throw value`.
    fn throw_value(&mut self, value: Value) -> Box<Fault> {
        if value.is_null() {
            return throw("java.lang.NullPointerException", "null is thrown");
        }
        if let Some(throwable) = value.downcast::<Throwable>()
            && throwable.line == 0
        {
            let mut copy = throwable.copy();
            copy.line = self.line;
            return Box::new(Fault::Thrown(Value::native(copy)));
        }
        Box::new(Fault::Thrown(value))
    }

    fn try_statement(&mut self, parts: &TryParts, frame: &Rc<Frame>) -> Eval<Flow> {
        let mut result = self.try_body(parts, frame);
        if let Err(fault) = result {
            result = match *fault {
                Fault::Thrown(value) => self.catch(&parts.catches, value, frame),
                // A script cannot catch the end of its budget.
                Fault::Budget(message) => return Err(Box::new(Fault::Budget(message))),
            };
        }
        let Some(finally) = &parts.finally else { return result };
        let line = self.line;
        match self.statements(finally, frame)? {
            Flow::Normal(_) => {
                // The message of a fault shows the line of its cause, not that of `finally`.
                self.line = line;
                result
            }
            // As in Java, a `return` in `finally` replaces the result.
            other => Ok(other),
        }
    }

    fn try_body(&mut self, parts: &TryParts, frame: &Rc<Frame>) -> Eval<Flow> {
        for resource in &parts.resources {
            self.statement(resource, frame)?;
        }
        let result = self.statements(&parts.body, frame);
        // As in Java, the last resource is closed first, and before `catch` runs.
        for slot in parts.resource_slots.iter().rev() {
            let resource =
                frame.slots.borrow().get(usize::from(*slot)).cloned().unwrap_or_default();
            if !resource.is_null() {
                self.call_method(&resource, "close", &[])?;
            }
        }
        result
    }

    fn catch(&mut self, catches: &[Catch], value: Value, frame: &Rc<Frame>) -> Eval<Flow> {
        let value = self.with_line(value);
        for catch in catches {
            let is_match = (catch.classes.iter()).any(|class| {
                matches!(&**class, "Object" | "Throwable") || self.is_instance(&value, class)
            });
            // In Groovy, `catch (e)` catches exceptions, but no errors.
            if is_match || (catch.classes.is_empty() && self.is_instance(&value, "Exception")) {
                set_slot(frame, catch.slot, value);
                return self.statements(&catch.body, frame);
            }
        }
        Err(Box::new(Fault::Thrown(value)))
    }

    /// Adds the current line to an exception of the library that has none.
    fn with_line(&self, value: Value) -> Value {
        match value.downcast::<Throwable>() {
            Some(throwable) if throwable.line == 0 => {
                let mut copy = throwable.copy();
                copy.line = self.line;
                Value::native(copy)
            }
            _ => value,
        }
    }

    fn assert(
        &mut self,
        condition: &Expr,
        message: Option<&Expr>,
        text: &str,
        frame: &Rc<Frame>,
    ) -> Eval<Flow> {
        if self.condition(condition, frame)? {
            return Ok(Flow::Normal(Value::Null));
        }
        let failure_text = match message {
            Some(message) => {
                let message = self.eval(message, frame)?;
                format!("{}. Expression: {text}", self.text(&message)?)
            }
            None => format!("assert {text}"),
        };
        let class = if message.is_some() {
            "java.lang.AssertionError"
        } else {
            "org.codehaus.groovy.runtime.powerassert.PowerAssertionError"
        };
        Err(throw(class, failure_text))
    }
}

/// Sets a local variable of a frame.
pub(super) fn set_slot(frame: &Frame, slot: u16, value: Value) {
    let old = frame
        .slots
        .borrow_mut()
        .get_mut(usize::from(slot))
        .map(|current| std::mem::replace(current, value));
    // Dropped only after the borrow ends, because a drop may access the frame.
    drop(old);
}
