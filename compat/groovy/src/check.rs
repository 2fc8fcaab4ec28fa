//! Finds classes that a script names but this crate lacks, without running it.

use crate::classes::{by_full_name, by_simple_name};
use crate::syntax::ast::{Code, Import};

/// Packages of annotations and types without effect in an interpreter.
const HARMLESS: [&str; 5] = [
    "groovy.transform.",
    "groovy.lang.",
    "java.util.function.",
    "java.lang.annotation.",
    "groovy.util.logging.",
];

/// Unknown classes, with their lines.
pub(crate) fn unsupported(code: &Code) -> Vec<(u32, String)> {
    let mut unsupported: Vec<(u32, String)> = Vec::new();
    for import in &code.imports {
        if !is_known(import) && !defines(code, &import.alias) {
            unsupported.push((import.line, format!("import of {}", import.path)));
        }
    }
    for (line, name) in &code.class_uses {
        let is_imported = code.imports.iter().any(|import| import.alias == *name);
        let outer = name.split('.').next().unwrap_or(name);
        let is_known = if name.contains('.') {
            by_full_name(name).is_some() || by_simple_name(outer).is_some()
        } else {
            by_simple_name(name).is_some()
        };
        // A type parameter is one capital letter.
        if is_known || is_imported || defines(code, name) || defines(code, outer) || name.len() <= 1
        {
            continue;
        }
        unsupported.push((*line, format!("class {name}")));
    }
    unsupported.sort();
    unsupported.dedup();
    unsupported
}

/// True if the script itself defines the class.
fn defines(code: &Code, name: &str) -> bool {
    code.classes.iter().any(|class| *class.name == *name)
}

fn is_known(import: &Import) -> bool {
    if import.is_wild && !import.is_static {
        // A whole package: each class is checked at its use.
        return true;
    }
    let path = &*import.path;
    if HARMLESS.iter().any(|package| path.starts_with(package)) || by_full_name(path).is_some() {
        return true;
    }
    // `import static a.B.c`, and nested classes.
    path.rsplit_once('.').is_some_and(|(outer, _)| by_full_name(outer).is_some())
}
