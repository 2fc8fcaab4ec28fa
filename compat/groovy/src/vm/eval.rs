//! Evaluates the expressions of a script.

use super::exec::{Flow, set_slot};
use super::{Frame, Vm};
use crate::decimal::Decimal;
use crate::error::{Eval, throw};
use crate::syntax::ast::{Argument, Expr, Function, Operator, Piece, Post, Reach, Type};
use crate::value::{Callable, ClassRef, Closure, ListKind, MapKind, Range, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of elements of a range that is converted to a list.
const RANGE: i64 = 50_000_000;

impl Vm<'_> {
    pub fn eval(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Eval<Value> {
        self.tick(1)?;
        match expression {
            Expr::Null => Ok(Value::Null),
            Expr::Bool(flag) => Ok(Value::Bool(*flag)),
            Expr::Int(number) => Ok(Value::Int(*number)),
            Expr::Long(number) => Ok(Value::Long(*number)),
            Expr::Float(number) => Ok(Value::Float(*number)),
            Expr::Double(number) => Ok(Value::Double(*number)),
            Expr::Char(letter) => Ok(Value::Char(*letter)),
            Expr::Text(text) => self.string(text),
            Expr::Local(depth, slot) => Ok(self.local(frame, *depth, *slot)),
            Expr::Global(global) => self.global(frame, *global),
            Expr::This if frame.this.is_null() => Ok(crate::jmeter::script_object(self)),
            Expr::This | Expr::Super => Ok(frame.this.clone()),
            // Only these expressions cannot nest further.
            other => self.nested(|vm| vm.eval_nested(other, frame)),
        }
    }

    fn eval_nested(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Eval<Value> {
        match expression {
            Expr::Chain(first, rest) => self.chain(first, rest, frame),
            Expr::And(all) => {
                for one in all {
                    if !self.eval_truth(one, frame)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Ok(Value::Bool(true))
            }
            Expr::Or(all) => {
                for one in all {
                    if self.eval_truth(one, frame)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Ok(Value::Bool(false))
            }
            Expr::Not(value) => Ok(Value::Bool(!self.eval_truth(value, frame)?)),
            Expr::Ternary(parts) => {
                let branch = if self.eval_truth(&parts.0, frame)? { &parts.1 } else { &parts.2 };
                self.eval(branch, frame)
            }
            Expr::Elvis(parts) => {
                let value = self.eval(&parts.0, frame)?;
                if self.truth(&value)? { Ok(value) } else { self.eval(&parts.1, frame) }
            }
            Expr::Postfix(base, posts) => self.postfix_value(base, posts, frame),
            Expr::Call(call) => self.call_name(call, frame),
            Expr::Assign(assignment) => self.assign(assignment, frame),
            Expr::Step(target, step, before) => self.step(target, *step, *before, frame),
            Expr::New(new) => self.new_object(new, frame),
            other => self.eval_literal(other, frame),
        }
    }

    fn eval_literal(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Eval<Value> {
        match expression {
            Expr::Template(pieces) => self.template(pieces, frame),
            Expr::List(items) => {
                let items = self.arguments(items, frame)?;
                self.new_list(items)
            }
            Expr::Array(items) => {
                let items =
                    items.iter().map(|item| self.eval(item, frame)).collect::<Eval<Vec<_>>>()?;
                self.alloc(items.len() * 24)?;
                Ok(Value::array(items))
            }
            Expr::Map(pairs) => self.map_literal(pairs, frame),
            Expr::Range(ends, exclusive) => {
                let from = self.eval(&ends.0, frame)?;
                let to = self.eval(&ends.1, frame)?;
                self.range(&from, &to, *exclusive)
            }
            Expr::Closure(function) => Ok(self.closure(function, frame)),
            Expr::Negate(value) => {
                let value = self.eval(value, frame)?;
                self.negate(&value)
            }
            Expr::Plus(value) => self.eval(value, frame),
            Expr::Invert(value) => {
                let value = self.eval(value, frame)?;
                self.invert(&value)
            }
            Expr::Cast(ty, value) => {
                let value = self.eval(value, frame)?;
                self.cast(value, ty)
            }
            Expr::As(value, ty) => {
                let value = self.eval(value, frame)?;
                self.convert_as(value, ty, frame)
            }
            Expr::InstanceOf(value, ty, negated) => {
                let value = self.eval(value, frame)?;
                Ok(Value::Bool(self.is_of_type(&value, ty) != *negated))
            }
            Expr::NewArray(ty, sizes) => {
                let sizes =
                    sizes.iter().map(|size| self.eval(size, frame)).collect::<Eval<Vec<_>>>()?;
                let sizes =
                    sizes.iter().map(|size| self.to_long(size)).collect::<Eval<Vec<_>>>()?;
                self.new_array(ty, &sizes)
            }
            Expr::BigInt(digits) => Ok(digits.parse().map_or(Value::Null, Value::big)),
            Expr::Decimal(digits) => Ok(Decimal::parse(digits).map_or(Value::Null, Value::decimal)),
            Expr::Switch(statement) => match self.statement(statement, frame)? {
                Flow::Normal(value) | Flow::Return(value) => Ok(value),
                _ => Ok(Value::Null),
            },
            _ => Ok(Value::Null),
        }
    }

    pub fn eval_truth(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Eval<bool> {
        let value = self.eval(expression, frame)?;
        self.truth(&value)
    }

    /// Reads a local variable from a frame a number of steps outwards.
    #[allow(clippy::unused_self)]
    pub fn local(&self, frame: &Rc<Frame>, depth: u16, slot: u16) -> Value {
        let frame = outer(frame, depth);
        frame
            .and_then(|frame| frame.slots.borrow().get(usize::from(slot)).cloned())
            .unwrap_or_default()
    }

    fn chain(
        &mut self,
        first: &Expr,
        rest: &[(Operator, u32, Expr)],
        frame: &Rc<Frame>,
    ) -> Eval<Value> {
        let mut value = self.eval(first, frame)?;
        for (operator, line, right) in rest {
            let right = self.eval(right, frame)?;
            self.line = *line;
            value = self.operate(*operator, &value, &right)?;
        }
        Ok(value)
    }

    fn template(&mut self, pieces: &[Piece], frame: &Rc<Frame>) -> Eval<Value> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Value(value) => {
                    let value = self.eval(value, frame)?;
                    let value =
                        // `${-> value}` is a closure without parameters.
                        if matches!(value, Value::Closure(_)) { self.call_closure(&value, &[])? } else { value };
                    text.push_str(&self.text(&value)?);
                }
            }
        }
        self.string(text)
    }

    /// Evaluates arguments or elements, including spread lists. Named arguments become one
    /// map before all others.
    pub fn arguments(&mut self, arguments: &[Argument], frame: &Rc<Frame>) -> Eval<Vec<Value>> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut named_arguments: Option<Rc<crate::value::Map>> = None;
        for argument in arguments {
            match argument {
                Argument::Plain(value) => values.push(self.eval(value, frame)?),
                Argument::Spread(value) => {
                    let value = self.eval(value, frame)?;
                    values.extend(self.items(&value)?);
                }
                Argument::Named(key, value) => {
                    let key = self.eval(key, frame)?;
                    let value = self.eval(value, frame)?;
                    named_arguments
                        .get_or_insert_with(|| Value::map(MapKind::Linked).1)
                        .insert(key, value);
                }
            }
        }
        if let Some(map) = named_arguments {
            values.insert(0, Value::Map(map));
        }
        Ok(values)
    }

    fn map_literal(&mut self, pairs: &[(Expr, Expr)], frame: &Rc<Frame>) -> Eval<Value> {
        let (value, map) = Value::map(MapKind::Linked);
        self.alloc(64 + pairs.len() * 64)?;
        for (key, item) in pairs {
            // The parser gives this key to `*: map`, because no other entry can have it.
            if matches!(key, Expr::Super) {
                if let Value::Map(other) = self.eval(item, frame)? {
                    for (key, item) in other.pairs() {
                        map.insert(key, item);
                    }
                }
                continue;
            }
            let key = self.eval(key, frame)?;
            let item = self.eval(item, frame)?;
            map.insert(key, item);
        }
        Ok(value)
    }

    fn range(&mut self, from: &Value, to: &Value, exclusive: bool) -> Eval<Value> {
        if let (Value::Str(a), Value::Str(b)) = (from, to) {
            let (Some(a), Some(b)) = (a.chars().next(), b.chars().next()) else {
                return Err(throw(
                    "java.lang.IllegalArgumentException",
                    "a range of texts needs one letter at each end",
                ));
            };
            let end = b as u32 - u32::from(exclusive && b as u32 > 0);
            let letters: Vec<Value> = if a <= b {
                (a as u32..=end)
                    .filter_map(char::from_u32)
                    .map(|letter| Value::str(letter.to_string()))
                    .collect()
            } else {
                (b as u32..=a as u32)
                    .rev()
                    .filter_map(char::from_u32)
                    .map(|letter| Value::str(letter.to_string()))
                    .collect()
            };
            return self.new_list(letters);
        }
        let from = self.to_long(from)?;
        let mut to = self.to_long(to)?;
        let empty = exclusive && from == to;
        if exclusive && !empty {
            to += if from < to { -1 } else { 1 };
        }
        Ok(Value::Range(Rc::new(Range { from, to, empty })))
    }

    /// Elements of a range. Fails if there are too many.
    pub fn range_items(&mut self, range: &Range) -> Eval<Vec<Value>> {
        let length = range.len();
        if length as u64 > RANGE as u64 {
            return Err(throw(
                "java.lang.OutOfMemoryError",
                format!("a range of {length} elements is too long for a list"),
            ));
        }
        self.tick(length)?;
        self.alloc(length * 24)?;
        Ok((0..length).map(|index| range.at(index)).collect())
    }

    fn closure(&mut self, function: &Arc<Function>, frame: &Rc<Frame>) -> Value {
        self.track_frame(frame);
        let code = Callable::Script(Arc::clone(function), Rc::clone(frame));
        Value::Closure(Rc::new(Closure { code, delegate: RefCell::default() }))
    }

    /// Evaluates a value with its suffixes.
    pub fn postfix_value(&mut self, base: &Expr, posts: &[Post], frame: &Rc<Frame>) -> Eval<Value> {
        let (mut value, posts) = self.base(base, posts, frame)?;
        // `this(…)` in a constructor calls another constructor.
        if let (Expr::This, [Post::Call(arguments, _)], false) =
            (base, posts, self.constructing.is_empty())
        {
            let arguments = self.arguments(arguments, frame)?;
            return self.call_constructor("this", frame, &arguments).map(|()| Value::Null);
        }
        let mut first = matches!(base, Expr::Super);
        for post in posts {
            if value.is_null() && is_safe(post) {
                continue;
            }
            value = if first {
                self.super_call(&value, post, frame)?
            } else {
                self.post(&value, post, frame)?
            };
            first = false;
        }
        Ok(value)
    }

    /// Evaluates the value before the suffixes. A qualified class such as
    /// `java.util.Date` consumes its suffixes.
    fn base<'p>(
        &mut self,
        base: &Expr,
        posts: &'p [Post],
        frame: &Rc<Frame>,
    ) -> Eval<(Value, &'p [Post])> {
        let Expr::Global(global) = base else { return Ok((self.eval(base, frame)?, posts)) };
        if let Some(value) = self.find_global(frame, *global)? {
            return Ok((value, posts));
        }
        let mut name = frame.globals.code.globals[*global as usize].to_string();
        for (index, post) in posts.iter().enumerate() {
            let Post::Property(Reach::Plain, part, _) = post else { break };
            name.push('.');
            name.push_str(part);
            if part.starts_with(char::is_uppercase) {
                let class = crate::classes::by_full_name(&name)
                    .map_or(ClassRef::Unknown(name.into()), ClassRef::Known);
                return Ok((Value::Class(class), &posts[index + 1..]));
            }
        }
        self.global(frame, *global).map(|value| (value, posts))
    }

    fn post(&mut self, value: &Value, post: &Post, frame: &Rc<Frame>) -> Eval<Value> {
        match post {
            Post::Property(reach, name, line) => {
                self.line = *line;
                self.reach_property(value, *reach, name)
            }
            Post::DynamicProperty(reach, name, line) => {
                let name = self.eval(name, frame)?;
                let name = self.text(&name)?;
                self.line = *line;
                self.reach_property(value, *reach, &name)
            }
            Post::Method(reach, name, arguments, line) => {
                let arguments = self.arguments(arguments, frame)?;
                self.line = *line;
                self.reach_method(value, *reach, name, &arguments)
            }
            Post::DynamicMethod(reach, name, arguments, line) => {
                let name = self.eval(name, frame)?;
                let name = self.text(&name)?;
                let arguments = self.arguments(arguments, frame)?;
                self.line = *line;
                self.reach_method(value, *reach, &name, &arguments)
            }
            Post::Index(arguments, line) => {
                let mut arguments = self.arguments(arguments, frame)?;
                self.line = *line;
                let index =
                    if arguments.len() == 1 { arguments.remove(0) } else { Value::list(arguments) };
                self.index(value, &index)
            }
            Post::Call(arguments, line) => {
                let arguments = self.arguments(arguments, frame)?;
                self.line = *line;
                match value {
                    Value::Closure(_) => self.call_closure(value, &arguments),
                    _ => self.call_method(value, "call", &arguments),
                }
            }
            Post::Reference(name) => {
                // A class object constructs an object when it is called, so it needs no closure.
                if &**name == "new" {
                    return Ok(value.clone());
                }
                let code = Callable::Method(value.clone(), (&**name).into());
                Ok(Value::Closure(Rc::new(Closure { code, delegate: RefCell::default() })))
            }
        }
    }

    fn reach_property(&mut self, value: &Value, reach: Reach, name: &str) -> Eval<Value> {
        if reach != Reach::Spread {
            return self.property(value, name);
        }
        let mut results = Vec::new();
        for item in self.items(value)? {
            results.push(if item.is_null() { Value::Null } else { self.property(&item, name)? });
        }
        self.new_list(results)
    }

    fn reach_method(
        &mut self,
        value: &Value,
        reach: Reach,
        name: &str,
        arguments: &[Value],
    ) -> Eval<Value> {
        if reach != Reach::Spread {
            return self.call_method(value, name, arguments);
        }
        let mut results = Vec::new();
        for item in self.items(value)? {
            results.push(if item.is_null() {
                Value::Null
            } else {
                self.call_method(&item, name, arguments)?
            });
        }
        self.new_list(results)
    }

    /// Creates an array with Java's initial values.
    pub fn new_array(&mut self, ty: &Type, sizes: &[i64]) -> Eval<Value> {
        let (first, rest) =
            sizes.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        let length = usize::try_from(first)
            .map_err(|_| throw("java.lang.NegativeArraySizeException", first.to_string()))?;
        self.alloc(length.saturating_mul(if *ty == Type::Byte { 1 } else { 24 }))?;
        self.tick(length)?;
        if !rest.is_empty() {
            let rows = (0..length).map(|_| self.new_array(ty, rest)).collect::<Eval<Vec<_>>>()?;
            return Ok(Value::array(rows));
        }
        let item = match ty {
            Type::Byte => return Ok(Value::bytes(vec![0; length])),
            Type::Int | Type::Short => Value::Int(0),
            Type::Long => Value::Long(0),
            Type::Double => Value::Double(0.0),
            Type::Float => Value::Float(0.0),
            Type::Boolean => Value::Bool(false),
            Type::Char => Value::Char('\0'),
            _ => Value::Null,
        };
        Ok(Value::listing(ListKind::Array, vec![item; length]))
    }

    /// Sets a local variable of a frame a number of steps outwards.
    #[allow(clippy::unused_self)]
    pub fn set_local(&self, frame: &Rc<Frame>, depth: u16, slot: u16, value: Value) {
        if let Some(frame) = outer(frame, depth) {
            set_slot(frame, slot, value);
        }
    }
}

/// The frame a number of steps outwards.
fn outer(frame: &Rc<Frame>, depth: u16) -> Option<&Rc<Frame>> {
    let mut frame = frame;
    for _ in 0..depth {
        frame = frame.parent.as_ref()?;
    }
    Some(frame)
}

fn is_safe(post: &Post) -> bool {
    matches!(
        post,
        Post::Property(Reach::Safe, ..)
            | Post::DynamicProperty(Reach::Safe, ..)
            | Post::Method(Reach::Safe, ..)
            | Post::DynamicMethod(Reach::Safe, ..)
    )
}
