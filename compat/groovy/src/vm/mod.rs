//! Evaluates the syntax tree of a script.

mod arithmetic;
mod assign;
mod call;
mod convert;
mod equality;
mod eval;
mod exec;
mod instances;
mod iterate;
mod member;
mod text;

pub(crate) use arithmetic::compare_plain;
pub(crate) use convert::{big_of, double_of, double_of_text, long_of};
pub(crate) use text::number_text;

use crate::budget::Budget;
use crate::error::{Eval, Fault, RunError, Throwable, throw};
use crate::host::Host;
use crate::syntax::ast::{Code, Name};
use crate::value::{Value, free};
use indexmap::IndexMap;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Maximum stack of a run, in bytes. Frames of debug builds are several times larger than
/// those of release builds.
const STACK: usize = 700 << 10;

/// Maximum nesting of calls, whatever stack they use.
const CALLS: u32 = 1_000;

/// Maximum nesting of values that are formatted or compared.
pub(crate) const NESTING: u32 = 100;

/// Variables of one call of a function.
pub(crate) struct Frame {
    pub slots: RefCell<Vec<Value>>,
    pub parent: Option<Rc<Frame>>,
    pub globals: Rc<Globals>,
    /// Object or class of the current method.
    pub this: Value,
    /// Object of `with`, which resolves unknown names.
    pub delegate: Value,
}

impl Frame {
    /// Moves all values of the frame to the list.
    pub fn release(&mut self, to: &mut Vec<Value>) {
        to.append(self.slots.get_mut());
        to.push(std::mem::take(&mut self.this));
        to.push(std::mem::take(&mut self.delegate));
    }
}

/// Variables that all functions of a script share.
pub(crate) struct Globals {
    pub code: Arc<Code>,
    pub values: RefCell<Vec<Option<Value>>>,
    /// Static fields by class.
    pub statics: RefCell<HashMap<Name, IndexMap<Name, Value>>>,
}

/// One run of a script.
pub(crate) struct Vm<'h> {
    pub host: &'h mut dyn Host,
    pub budget: &'h mut Budget,
    pub line: u32,
    pub dialect: crate::script::Dialect,
    /// True to format maps as `{a=1}`.
    pub java_maps: bool,
    depth: u32,
    stack: usize,
    /// Shared variables of the running script.
    pub active_globals: Option<Rc<Globals>>,
    /// Frames that closures reference.
    frames: Vec<Weak<Frame>>,
    /// Classes whose constructors are active, innermost last.
    pub constructing: Vec<Arc<crate::syntax::ast::ClassDef>>,
    /// True if an object that references variables of this run outlives it.
    pub has_escaped: bool,
    pub patterns: HashMap<Rc<str>, Arc<fancy_regex::Regex>>,
    /// Target of `print` in `BeanShell` after `this.interpreter.setOut(stream)`; null for the log.
    pub output: Value,
}

/// Runs a script. `finish` converts its value before the variables are released.
pub(crate) fn run<T>(
    code: &Arc<Code>,
    host: &mut dyn Host,
    budget: &mut Budget,
    finish: impl FnOnce(&mut Vm, Value) -> Eval<T>,
) -> Result<T, RunError> {
    let globals = Rc::new(Globals {
        code: Arc::clone(code),
        values: RefCell::new(vec![None; code.globals.len()]),
        statics: RefCell::default(),
    });
    let mut vm = Vm {
        host,
        budget,
        line: 0,
        dialect: code.dialect,
        // BeanShell has Java's `toString` only.
        java_maps: code.dialect == crate::script::Dialect::BeanShell,
        depth: 0,
        stack: stack_address(),
        active_globals: Some(Rc::clone(&globals)),
        frames: Vec::new(),
        constructing: Vec::new(),
        has_escaped: false,
        patterns: HashMap::new(),
        output: Value::Null,
    };
    let result = vm.main(&globals).and_then(|value| finish(&mut vm, value));
    let result = result.map_err(|fault| vm.error(*fault));
    vm.clean(&globals);
    result
}

/// Approximate current stack address.
#[inline(never)]
pub(crate) fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here) as usize
}

impl Vm<'_> {
    fn main(&mut self, globals: &Rc<Globals>) -> Eval<Value> {
        let main = Arc::clone(&globals.code.main);
        let frame = self.frame(Rc::clone(globals), None, main.slots, Value::Null);
        self.body(&main, &frame)
    }

    /// Runs another script within this run.
    pub fn run_inner(&mut self, code: &Arc<Code>) -> Eval<Value> {
        let values = RefCell::new(vec![None; code.globals.len()]);
        let globals =
            Rc::new(Globals { code: Arc::clone(code), values, statics: RefCell::default() });
        let outer_globals = self.active_globals.replace(Rc::clone(&globals));
        let result = self.nested(|vm| vm.main(&globals));
        self.active_globals = outer_globals;
        result
    }

    /// Keeps the variables of a result that is a closure; other results need none.
    pub fn keep_result(&mut self, value: Value) -> Value {
        self.has_escaped |= matches!(value, Value::Closure(_));
        value
    }

    /// Creates a frame with null variables.
    pub fn frame(
        &mut self,
        globals: Rc<Globals>,
        parent: Option<Rc<Frame>>,
        slots: u16,
        this: Value,
    ) -> Rc<Frame> {
        let slots = RefCell::new(vec![Value::Null; usize::from(slots)]);
        Rc::new(Frame { slots, parent, globals, this, delegate: Value::Null })
    }

    /// Records a frame that a closure references.
    pub fn track_frame(&mut self, frame: &Rc<Frame>) {
        // A loop that creates closures records the same frame repeatedly, so the
        // last four are enough.
        let is_tracked = self
            .frames
            .iter()
            .rev()
            .take(4)
            .any(|tracked| std::ptr::eq(tracked.as_ptr(), Rc::as_ptr(frame)));
        if !is_tracked {
            self.frames.push(Rc::downgrade(frame));
        }
    }

    /// Breaks reference cycles of closures and the variables that hold them.
    fn clean(&mut self, globals: &Rc<Globals>) {
        // An object that outlives the run may still use its variables.
        if self.has_escaped {
            return;
        }
        let mut values = Vec::new();
        for frame in self.frames.drain(..).filter_map(|frame| frame.upgrade()) {
            values.append(&mut frame.slots.borrow_mut());
        }
        values.extend(globals.values.borrow_mut().drain(..).flatten());
        values.extend(
            globals.statics.borrow_mut().drain().flat_map(|(_, fields)| fields.into_values()),
        );
        free(values);
    }

    /// Counts operations. Fails if the budget is exhausted.
    pub fn tick(&mut self, count: usize) -> Eval<()> {
        if self.budget.take_operations(count as u64) {
            return Ok(());
        }
        Err(Box::new(Fault::Budget(
            "script stopped: it used up its operations; look for an endless loop".to_owned(),
        )))
    }

    /// Counts bytes of strings and collections. Fails if the budget is exhausted.
    pub fn alloc(&mut self, bytes: usize) -> Eval<()> {
        if self.budget.take_bytes(bytes as u64) {
            return Ok(());
        }
        Err(Box::new(Fault::Budget(
            "script stopped: it used up its memory; make smaller strings and lists".to_owned(),
        )))
    }

    /// Creates a text and counts its bytes.
    pub fn string(&mut self, text: impl AsRef<str>) -> Eval<Value> {
        let text = text.as_ref();
        self.alloc(text.len() + 16)?;
        Ok(Value::str(text))
    }

    /// Creates a list and counts its bytes.
    pub fn new_list(&mut self, items: Vec<Value>) -> Eval<Value> {
        self.alloc(items.len() * 24 + 32)?;
        Ok(Value::list(items))
    }

    /// Runs one call deeper. Fails beyond the maximum nesting.
    pub fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        if self.depth >= CALLS || self.stack.abs_diff(stack_address()) > STACK {
            return Err(throw("java.lang.StackOverflowError", "calls or values nest too deeply"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Converts a fault to the public error.
    fn error(&mut self, fault: Fault) -> RunError {
        let line = self.line;
        match fault {
            Fault::Budget(message) => RunError::Budget { message, line },
            Fault::Thrown(value) => {
                let throwable_line =
                    value.downcast::<Throwable>().map_or(0, |throwable| throwable.line);
                let line = if throwable_line == 0 { line } else { throwable_line };
                let class = self.class_name(&value);
                let message = self.message_of(&value);
                RunError::Thrown { class, message, line }
            }
        }
    }

    /// Message of an exception.
    pub fn message_of(&mut self, value: &Value) -> String {
        match value {
            Value::Instance(instance) => match instance.fields.borrow().get("message") {
                Some(Value::Str(text)) => text.to_string(),
                _ => String::new(),
            },
            other => other
                .downcast::<Throwable>()
                .and_then(|throwable| throwable.message.as_ref().map(ToString::to_string))
                .unwrap_or_default(),
        }
    }

    /// Compiles a pattern once per run.
    pub fn pattern(&mut self, text: &str) -> Eval<Arc<fancy_regex::Regex>> {
        if let Some(pattern) = self.patterns.get(text) {
            return Ok(Arc::clone(pattern));
        }
        self.tick(100 + text.len())?;
        let rust = crate::classes::regex::translate(text);
        let compiled =
            // Bounds the time of a match and the size of the compiled pattern.
            fancy_regex::RegexBuilder::new(&rust).backtrack_limit(200_000).delegate_size_limit(4 << 20).build();
        match compiled {
            Ok(pattern) => {
                let pattern = Arc::new(pattern);
                // Bounds the memory of the cache.
                if self.patterns.len() < 200 {
                    self.patterns.insert(text.into(), Arc::clone(&pattern));
                }
                Ok(pattern)
            }
            Err(error) => {
                Err(throw("java.util.regex.PatternSyntaxException", format!("{error} in `{text}`")))
            }
        }
    }
}
