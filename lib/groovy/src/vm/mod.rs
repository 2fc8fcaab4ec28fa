//! Evaluates the tree of a script.

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
pub(crate) use convert::{big_of, double_of, long_of};
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

/// Bytes of stack that one run may use. Frames of debug builds are several times those of release builds.
const STACK: usize = 700 << 10;

/// How deep calls may nest, whatever they use of the stack.
const CALLS: u32 = 1_000;

/// How deep values may nest where they are shown or compared.
pub(crate) const NESTING: u32 = 100;

/// The variables of one call of a function.
pub(crate) struct Frame {
    pub slots: RefCell<Vec<Value>>,
    pub parent: Option<Rc<Frame>>,
    pub globals: Rc<Globals>,
    /// The object whose method this is, or the class.
    pub this: Value,
    /// Whom unknown names are asked of: the object of `with`.
    pub delegate: Value,
}

impl Frame {
    /// Moves out what the frame holds.
    pub fn release(&mut self, to: &mut Vec<Value>) {
        to.append(self.slots.get_mut());
        to.push(std::mem::take(&mut self.this));
        to.push(std::mem::take(&mut self.delegate));
    }
}

/// The variables that all functions of a script share.
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
    /// Whether maps are shown as `{a=1}`.
    pub java_maps: bool,
    depth: u32,
    stack: usize,
    /// What the functions of the script share.
    pub home: Option<Rc<Globals>>,
    /// Frames that closures may keep alive.
    frames: Vec<Weak<Frame>>,
    /// The classes whose constructors run, the innermost last.
    pub constructing: Vec<Arc<crate::syntax::ast::ClassDef>>,
    /// Whether an object with variables of this run outlives it.
    pub escaped: bool,
    pub patterns: HashMap<Rc<str>, Arc<fancy_regex::Regex>>,
    /// Where `print` of `BeanShell` writes after `this.interpreter.setOut(stream)`; null: to the log.
    pub output: Value,
}

/// Runs a script, and makes something of its value while the run still stands.
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
        java_maps: code.dialect == crate::script::Dialect::BeanShell,
        depth: 0,
        stack: stack_address(),
        home: Some(Rc::clone(&globals)),
        frames: Vec::new(),
        constructing: Vec::new(),
        escaped: false,
        patterns: HashMap::new(),
        output: Value::Null,
    };
    let result = vm.main(&globals).and_then(|value| finish(&mut vm, value));
    let result = result.map_err(|fault| vm.error(*fault));
    vm.clean(&globals);
    result
}

/// Roughly where the stack ends now.
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

    /// Runs another script within this one.
    pub fn run_inner(&mut self, code: &Arc<Code>) -> Eval<Value> {
        let values = RefCell::new(vec![None; code.globals.len()]);
        let globals = Rc::new(Globals { code: Arc::clone(code), values, statics: RefCell::default() });
        let home = self.home.replace(Rc::clone(&globals));
        let result = self.deeper(|vm| vm.main(&globals));
        self.home = home;
        result
    }

    /// A result that is a closure stays usable for no longer than the run; everything else is kept.
    pub fn detached(&mut self, value: Value) -> Value {
        self.escaped |= matches!(value, Value::Closure(_));
        value
    }

    /// A new frame.
    pub fn frame(&mut self, globals: Rc<Globals>, parent: Option<Rc<Frame>>, slots: u16, this: Value) -> Rc<Frame> {
        let slots = RefCell::new(vec![Value::Null; usize::from(slots)]);
        Rc::new(Frame { slots, parent, globals, this, delegate: Value::Null })
    }

    /// Remembers a frame that a closure keeps.
    pub fn keep(&mut self, frame: &Rc<Frame>) {
        // A loop that makes closures keeps one frame, again and again.
        let known = self.frames.iter().rev().take(4).any(|own| std::ptr::eq(own.as_ptr(), Rc::as_ptr(frame)));
        if !known {
            self.frames.push(Rc::downgrade(frame));
        }
    }

    /// Breaks the circles of closures and the variables that hold them.
    fn clean(&mut self, globals: &Rc<Globals>) {
        if self.escaped {
            return;
        }
        let mut held = Vec::new();
        for frame in self.frames.drain(..).filter_map(|frame| frame.upgrade()) {
            held.append(&mut frame.slots.borrow_mut());
        }
        held.extend(globals.values.borrow_mut().drain(..).flatten());
        held.extend(globals.statics.borrow_mut().drain().flat_map(|(_, fields)| fields.into_values()));
        free(held);
    }

    /// Counts operations.
    pub fn tick(&mut self, count: usize) -> Eval<()> {
        if self.budget.take_operations(count as u64) {
            return Ok(());
        }
        Err(Box::new(Fault::Budget("script stopped: it used up its operations; look for an endless loop".to_owned())))
    }

    /// Counts bytes of strings and collections.
    pub fn alloc(&mut self, bytes: usize) -> Eval<()> {
        if self.budget.take_bytes(bytes as u64) {
            return Ok(());
        }
        Err(Box::new(Fault::Budget("script stopped: it used up its memory; make smaller strings and lists".to_owned())))
    }

    /// Counts a text and makes it a value.
    pub fn string(&mut self, text: impl AsRef<str>) -> Eval<Value> {
        let text = text.as_ref();
        self.alloc(text.len() + 16)?;
        Ok(Value::str(text))
    }

    /// Counts a list and makes it a value.
    pub fn new_list(&mut self, items: Vec<Value>) -> Eval<Value> {
        self.alloc(items.len() * 24 + 32)?;
        Ok(Value::list(items))
    }

    /// Goes one call deeper.
    pub fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        if self.depth >= CALLS || self.stack.abs_diff(stack_address()) > STACK {
            return Err(throw("java.lang.StackOverflowError", "calls or values nest too deeply"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// What the caller is told.
    fn error(&mut self, fault: Fault) -> RunError {
        let line = self.line;
        match fault {
            Fault::Budget(message) => RunError::Budget { message, line },
            Fault::Thrown(value) => {
                let own = value.downcast::<Throwable>().map_or(0, |throwable| throwable.line);
                let line = if own == 0 { line } else { own };
                let class = self.class_name(&value);
                let message = self.message_of(&value);
                RunError::Thrown { class, message, line }
            }
        }
    }

    /// The message of an exception.
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

    /// A pattern, compiled once per run.
    pub fn pattern(&mut self, text: &str) -> Eval<Arc<fancy_regex::Regex>> {
        if let Some(known) = self.patterns.get(text) {
            return Ok(Arc::clone(known));
        }
        self.tick(100 + text.len())?;
        let rust = crate::classes::regex::translated(text);
        let built = fancy_regex::RegexBuilder::new(&rust).backtrack_limit(200_000).delegate_size_limit(4 << 20).build();
        match built {
            Ok(pattern) => {
                let pattern = Arc::new(pattern);
                if self.patterns.len() < 200 {
                    self.patterns.insert(text.into(), Arc::clone(&pattern));
                }
                Ok(pattern)
            }
            Err(error) => Err(throw("java.util.regex.PatternSyntaxException", format!("{error} in `{text}`"))),
        }
    }
}
