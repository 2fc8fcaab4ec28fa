//! Evaluates assignments to variables, properties and elements.

use super::{Frame, Vm};
use crate::error::Eval;
use crate::syntax::ast::{Assignment, Expr, Operator, Post, Reach, Type};
use crate::value::Value;
use std::rc::Rc;

/// Target of an assignment. Its object and index are evaluated only once.
enum Place {
    Local(u16, u16),
    Global(u32),
    Property(Value, Rc<str>, Reach),
    Index(Value, Value),
}

impl Vm<'_> {
    pub fn assign(&mut self, assignment: &Assignment, frame: &Rc<Frame>) -> Eval<Value> {
        if !assignment.many.is_empty() {
            return self.assign_many(assignment, frame);
        }
        let place = self.place_of(&assignment.target, frame)?;
        if assignment.elvis {
            let old = self.read(&place, frame)?;
            if self.truth(&old)? {
                return Ok(old);
            }
        }
        let value = match assignment.operator {
            None => self.eval(&assignment.value, frame)?,
            Some(operator) => {
                // Java reads the left operand before it evaluates the right one.
                let old = self.read(&place, frame)?;
                let right = self.eval(&assignment.value, frame)?;
                let value = self.operate(operator, &old, &right)?;
                if operator == Operator::ShiftLeft { value } else { self.compound(&old, value)? }
            }
        };
        let value = self.coerce(value, &assignment.ty)?;
        self.write_place(&place, frame, value.clone())?;
        Ok(value)
    }

    /// In Java, `x /= 2` keeps the type of `x`.
    fn compound(&mut self, old: &Value, value: Value) -> Eval<Value> {
        if self.dialect == crate::Dialect::BeanShell
            && let (Value::Int(_), Value::Double(_)) = (old, &value)
        {
            return self.cast(value, &Type::Int);
        }
        Ok(value)
    }

    fn assign_many(&mut self, assignment: &Assignment, frame: &Rc<Frame>) -> Eval<Value> {
        let value = self.eval(&assignment.value, frame)?;
        let mut items = self.items(&value)?.into_iter();
        for target in &assignment.many {
            let place = self.place_of(target, frame)?;
            self.write_place(&place, frame, items.next().unwrap_or_default())?;
        }
        Ok(value)
    }

    /// Evaluates `x++` and similar operators. `before` selects the old value as result.
    pub fn step(
        &mut self,
        target: &Expr,
        step: i32,
        before: bool,
        frame: &Rc<Frame>,
    ) -> Eval<Value> {
        let place = self.place_of(target, frame)?;
        let old = self.read(&place, frame)?;
        let new = match &old {
            Value::Int(number) => Value::Int(number.wrapping_add(step)),
            // In Groovy, `++` calls `next()`.
            Value::Str(_) | Value::Instance(_) => {
                self.call_method(&old, if step > 0 { "next" } else { "previous" }, &[])?
            }
            Value::Char(letter) => Value::Char(
                char::from_u32((*letter as u32).wrapping_add_signed(step)).unwrap_or('\u{fffd}'),
            ),
            _ => self.operate(Operator::Add, &old, &Value::Int(step))?,
        };
        self.write_place(&place, frame, new.clone())?;
        Ok(if before { old } else { new })
    }

    fn place_of(&mut self, target: &Expr, frame: &Rc<Frame>) -> Eval<Place> {
        match target {
            Expr::Local(depth, slot) => Ok(Place::Local(*depth, *slot)),
            Expr::Global(global) => Ok(Place::Global(*global)),
            Expr::Postfix(base, posts) => {
                let Some((last, before)) = posts.split_last() else { return Ok(Place::Global(0)) };
                let object = self.postfix_value(base, before, frame)?;
                match last {
                    Post::Property(reach, name, line) => {
                        self.line = *line;
                        Ok(Place::Property(object, (&**name).into(), *reach))
                    }
                    Post::DynamicProperty(reach, name, _) => {
                        let name = self.eval(name, frame)?;
                        Ok(Place::Property(object, self.text(&name)?, *reach))
                    }
                    Post::Index(arguments, line) => {
                        let mut arguments = self.arguments(arguments, frame)?;
                        self.line = *line;
                        let index = if arguments.len() == 1 {
                            arguments.remove(0)
                        } else {
                            Value::list(arguments)
                        };
                        Ok(Place::Index(object, index))
                    }
                    _ => Ok(Place::Global(0)),
                }
            }
            // The parser rejects other targets.
            _ => Ok(Place::Global(0)),
        }
    }

    fn read(&mut self, place: &Place, frame: &Rc<Frame>) -> Eval<Value> {
        match place {
            Place::Local(depth, slot) => Ok(self.local(frame, *depth, *slot)),
            Place::Global(global) => self.global(frame, *global),
            Place::Property(object, name, Reach::Safe) if object.is_null() => {
                let _ = name;
                Ok(Value::Null)
            }
            Place::Property(object, name, _) => self.property(object, name),
            Place::Index(object, index) => self.index(object, index),
        }
    }

    fn write_place(&mut self, place: &Place, frame: &Rc<Frame>, value: Value) -> Eval<()> {
        match place {
            Place::Local(depth, slot) => {
                self.set_local(frame, *depth, *slot, value);
                Ok(())
            }
            Place::Global(global) => self.set_global(frame, *global, value),
            Place::Property(object, _, Reach::Safe) if object.is_null() => Ok(()),
            Place::Property(object, name, _) => self.set_property(object, name, &value),
            Place::Index(object, index) => self.set_index(object, index, value),
        }
    }
}
