//! Exception classes and their hierarchy.

use super::Class;
use crate::error::{Eval, Throwable};
use crate::host::LogLevel;
use crate::value::{Native, Value};
use crate::vm::Vm;
use std::any::Any;

/// Full names of frequent classes, each with the simple name of its parent class, which has a
/// row in one of the tables. The parent of `Throwable` is empty.
static FREQUENT_CLASSES: [(&str, &str); 56] = [
    ("java.lang.Throwable", ""),
    ("java.lang.Exception", "Throwable"),
    ("java.lang.Error", "Throwable"),
    ("java.lang.RuntimeException", "Exception"),
    ("java.lang.IllegalArgumentException", "RuntimeException"),
    ("java.lang.IllegalStateException", "RuntimeException"),
    ("java.lang.UnsupportedOperationException", "RuntimeException"),
    ("java.lang.NullPointerException", "RuntimeException"),
    ("java.lang.ClassCastException", "RuntimeException"),
    ("java.lang.ArithmeticException", "RuntimeException"),
    ("java.lang.IndexOutOfBoundsException", "RuntimeException"),
    ("java.lang.ArrayIndexOutOfBoundsException", "IndexOutOfBoundsException"),
    ("java.lang.StringIndexOutOfBoundsException", "IndexOutOfBoundsException"),
    ("java.lang.NegativeArraySizeException", "RuntimeException"),
    ("java.lang.NumberFormatException", "IllegalArgumentException"),
    ("java.lang.SecurityException", "RuntimeException"),
    ("java.lang.InterruptedException", "Exception"),
    ("java.lang.CloneNotSupportedException", "Exception"),
    ("java.lang.ReflectiveOperationException", "Exception"),
    ("java.lang.ClassNotFoundException", "ReflectiveOperationException"),
    ("java.lang.NoSuchMethodException", "ReflectiveOperationException"),
    ("java.lang.NoSuchFieldException", "ReflectiveOperationException"),
    ("java.lang.InstantiationException", "ReflectiveOperationException"),
    ("java.lang.AssertionError", "Error"),
    ("java.lang.StackOverflowError", "Error"),
    ("java.lang.OutOfMemoryError", "Error"),
    ("java.lang.NoClassDefFoundError", "Error"),
    ("org.codehaus.groovy.runtime.powerassert.PowerAssertionError", "AssertionError"),
    ("groovy.lang.GroovyRuntimeException", "RuntimeException"),
    ("groovy.lang.MissingPropertyException", "GroovyRuntimeException"),
    ("groovy.lang.MissingMethodException", "GroovyRuntimeException"),
    ("groovy.lang.ReadOnlyPropertyException", "MissingPropertyException"),
    ("org.codehaus.groovy.runtime.typehandling.GroovyCastException", "ClassCastException"),
    ("groovy.json.JsonException", "RuntimeException"),
    ("org.json.JSONException", "RuntimeException"),
    ("org.xml.sax.SAXException", "Exception"),
    ("org.xml.sax.SAXParseException", "SAXException"),
    ("java.util.NoSuchElementException", "RuntimeException"),
    ("java.util.InputMismatchException", "NoSuchElementException"),
    ("java.util.ConcurrentModificationException", "RuntimeException"),
    ("java.util.EmptyStackException", "RuntimeException"),
    ("java.util.IllegalFormatException", "IllegalArgumentException"),
    ("java.util.MissingResourceException", "RuntimeException"),
    ("java.util.regex.PatternSyntaxException", "IllegalArgumentException"),
    ("java.util.concurrent.TimeoutException", "Exception"),
    ("java.util.concurrent.ExecutionException", "Exception"),
    ("java.io.IOException", "Exception"),
    ("java.io.FileNotFoundException", "IOException"),
    ("java.io.UnsupportedEncodingException", "IOException"),
    ("java.io.UncheckedIOException", "RuntimeException"),
    ("java.net.MalformedURLException", "IOException"),
    ("java.net.URISyntaxException", "Exception"),
    ("java.security.NoSuchAlgorithmException", "GeneralSecurityException"),
    ("java.text.ParseException", "Exception"),
    ("java.time.DateTimeException", "RuntimeException"),
    ("java.time.format.DateTimeParseException", "DateTimeException"),
];

/// Further classes, in the same form.
static OTHER_CLASSES: [(&str, &str); 15] = [
    ("java.lang.reflect.InvocationTargetException", "Exception"),
    ("java.net.SocketTimeoutException", "IOException"),
    ("java.net.UnknownHostException", "IOException"),
    ("java.security.GeneralSecurityException", "Exception"),
    ("java.security.InvalidKeyException", "GeneralSecurityException"),
    ("java.security.InvalidAlgorithmParameterException", "GeneralSecurityException"),
    ("java.security.InvalidParameterException", "IllegalArgumentException"),
    ("javax.crypto.IllegalBlockSizeException", "GeneralSecurityException"),
    ("javax.crypto.BadPaddingException", "GeneralSecurityException"),
    ("java.io.EOFException", "IOException"),
    ("java.util.zip.ZipException", "IOException"),
    ("org.apache.jorphan.util.JMeterStopThreadException", "RuntimeException"),
    ("org.apache.jorphan.util.JMeterException", "Exception"),
    ("javax.script.ScriptException", "Exception"),
    ("org.codehaus.groovy.control.MultipleCompilationErrorsException", "RuntimeException"),
];

fn rows() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    FREQUENT_CLASSES.iter().chain(&OTHER_CLASSES)
}

/// Entries for the table of all classes.
pub(super) fn classes() -> impl Iterator<Item = &'static Class> {
    static CLASSES: std::sync::OnceLock<Vec<Class>> = std::sync::OnceLock::new();
    CLASSES
        .get_or_init(|| rows().map(|(name, _)| Class::with_constructor(name, make)).collect())
        .iter()
}

/// Name of a class without its package or outer class.
fn simple(name: &str) -> &str {
    name.rsplit(['.', '$']).next().unwrap_or(name)
}

/// True if `class` (a full or simple name) is `ancestor` (a simple name) or a subclass of it. All
/// classes are subclasses of `Object`.
pub(crate) fn is_a(class: &str, ancestor: &str) -> bool {
    let mut current = simple(class);
    // The bound ends the walk even if the tables had a cycle.
    for _ in 0..12 {
        if current == ancestor || ancestor == "Object" {
            return true;
        }
        match rows().find(|(name, _)| simple(name) == current) {
            Some((_, "")) | None => return false,
            Some((_, parent)) => current = parent,
        }
    }
    false
}

/// True if a value can be the cause of an exception: an exception of the library, or an object of a
/// class of the script.
fn is_cause(value: &Value) -> bool {
    matches!(value, Value::Instance(_)) || value.downcast::<Throwable>().is_some()
}

/// Constructor of all exceptions: `new X(message)`, `new X(message, cause)`, `new X(cause)`. With a
/// cause only, its text is the message.
fn make(vm: &mut Vm, class: &str, arguments: &[Value]) -> Eval<Value> {
    let message = match arguments.first() {
        None | Some(Value::Null) => None,
        Some(value) => Some(vm.text(value)?),
    };
    let cause = arguments.iter().find(|value| is_cause(value)).cloned().unwrap_or_default();
    Ok(Value::native(Throwable { class: class.into(), message, cause, line: vm.line }))
}

impl Native for Throwable {
    fn class_name(&self) -> &str {
        &self.class
    }

    fn call(&self, vm: &mut Vm, name: &str, _arguments: &[Value]) -> Eval<Option<Value>> {
        Ok(Some(match name {
            "getMessage" | "getLocalizedMessage" => {
                self.message.clone().map_or(Value::Null, Value::Str)
            }
            "getCause" => self.cause.clone(),
            "printStackTrace" => {
                let text = self.text(vm)?.unwrap_or_default();
                vm.host.log(LogLevel::Error, &text);
                Value::Null
            }
            "getStackTrace" | "getSuppressed" => Value::array(Vec::new()),
            "initCause" | "addSuppressed" | "fillInStackTrace" | "setStackTrace" => Value::Null,
            "getLineNumber" => Value::Int(self.line as i32),
            _ => return Ok(None),
        }))
    }

    fn text(&self, _vm: &mut Vm) -> Eval<Option<String>> {
        Ok(Some(match &self.message {
            Some(message) => format!("{}: {message}", self.class),
            None => self.class.to_string(),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
