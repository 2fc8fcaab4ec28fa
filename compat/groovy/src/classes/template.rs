//! `SimpleTemplateEngine`, `GStringTemplateEngine`. A template becomes a script
//! that writes its text.

use super::{Class, bytes_of, io, text_at};
use crate::Dialect;
use crate::error::{Eval, throw};
use crate::syntax::ast::Code;
use crate::value::{MapKind, Native, Value};
use crate::vm::Vm;
use std::any::Any;
use std::sync::Arc;

pub(super) static CLASSES: &[Class] = &[
    Class::with_constructor("groovy.text.SimpleTemplateEngine", make),
    Class::with_constructor("groovy.text.GStringTemplateEngine", make),
];

struct Engine;

/// A template, parsed to a script.
struct Template(Arc<Code>);

fn make(_vm: &mut Vm, _class: &str, _arguments: &[Value]) -> Eval<Value> {
    Ok(Value::native(Engine))
}

impl Native for Engine {
    fn class_name(&self) -> &'static str {
        "groovy.text.SimpleTemplateEngine"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if name != "createTemplate" {
            return Ok(None);
        }
        let text = match arguments.first() {
            Some(source @ Value::Native(_)) => match io::content(vm, source)? {
                Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                None => String::from_utf8_lossy(&bytes_of(vm, source)?).into_owned(),
            },
            _ => text_at(vm, arguments, 0)?.to_string(),
        };
        vm.tick(text.len())?;
        let code = crate::syntax::parse(&script(&text), Dialect::Groovy).map_err(|error| {
            throw(
                "groovy.lang.GroovyRuntimeException",
                format!("Failed to parse template script: {error}"),
            )
        })?;
        Ok(Some(Value::native(Template(Arc::new(code)))))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Converts a template to a script: a closure that appends texts to `out`.
fn script(template: &str) -> String {
    const OUT: &str = "out << \"\"\"";
    const END: &str = "\"\"\";";
    let mut script = String::from("{ -> ");
    let mut rest = template;
    while !rest.is_empty() {
        let (text, tag) = rest.split_once("<%").unwrap_or((rest, ""));
        if !text.is_empty() {
            // Quotes within `${…}` are not escaped.
            script.extend([OUT, &quote(text), END]);
        }
        let (code, after) = tag.split_once("%>").unwrap_or((tag, ""));
        match code.strip_prefix('=') {
            Some(value) => script.extend([OUT, "${", value.trim(), "}", END]),
            None if code.is_empty() => {}
            None => script.extend([code, ";"]),
        }
        rest = after;
    }
    script + " }"
}

/// Escapes a text for triple quotes; `$` keeps its meaning.
fn quote(text: &str) -> String {
    let mut quoted = String::new();
    let mut depth = 0_u32;
    let mut before = ' ';
    for letter in text.chars() {
        match letter {
            '{' if before == '$' || depth > 0 => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '"' if depth == 0 => quoted.push('\\'),
            _ => {}
        }
        quoted.push(letter);
        before = letter;
    }
    quoted
}

impl Native for Template {
    fn class_name(&self) -> &'static str {
        "groovy.text.SimpleTemplateEngine$SimpleTemplate"
    }

    fn call(&self, vm: &mut Vm, name: &str, arguments: &[Value]) -> Eval<Option<Value>> {
        if name != "make" {
            return Ok(None);
        }
        let (binding, map) = Value::map(MapKind::Linked);
        if let Some(Value::Map(initial)) = arguments.first() {
            for (key, value) in initial.pairs() {
                vm.put(&map, key, value)?;
            }
        }
        let out = super::builder::make(vm, "java.lang.StringBuilder", &[])?;
        vm.put(&map, Value::str("out"), out.clone())?;
        let closure = vm.run_inner(&self.0)?;
        vm.call_method(&closure, "setDelegate", &[binding])?;
        vm.call_closure(&closure, &[])?;
        let text = vm.text(&out)?;
        Ok(Some(Value::Str(text)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
