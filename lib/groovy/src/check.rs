//! Finds classes that a script names and this crate lacks, without running it.

use crate::classes::{by_full_name, by_simple_name};
use crate::syntax::ast::{Code, Import};

/// Packages of annotations and types that say nothing to an interpreter.
const HARMLESS: [&str; 5] =
    ["groovy.transform.", "groovy.lang.", "java.util.function.", "java.lang.annotation.", "groovy.util.logging."];

/// Classes that are not known, with their lines.
pub(crate) fn unsupported(code: &Code) -> Vec<(u32, String)> {
    let own = |name: &str| code.classes.iter().any(|class| *class.name == *name);
    let mut found: Vec<(u32, String)> = Vec::new();
    for import in &code.imports {
        if !is_known(import) && !own(&import.alias) {
            found.push((import.line, format!("import of {}", import.path)));
        }
    }
    for (line, name) in &code.named {
        let imported = code.imports.iter().any(|import| import.alias == *name);
        let outer = name.split('.').next().unwrap_or(name);
        let known = if name.contains('.') {
            by_full_name(name).is_some() || by_simple_name(outer).is_some()
        } else {
            by_simple_name(name).is_some()
        };
        // A type parameter is one capital letter.
        if known || imported || own(name) || own(outer) || name.len() <= 1 {
            continue;
        }
        found.push((*line, format!("class {name}")));
    }
    found.sort();
    found.dedup();
    found
}

fn is_known(import: &Import) -> bool {
    if import.is_wild && !import.is_static {
        // A package: what is used of it is looked at where it is named.
        return true;
    }
    let path = &*import.path;
    if HARMLESS.iter().any(|package| path.starts_with(package)) || by_full_name(path).is_some() {
        return true;
    }
    // `import static a.B.c`, and classes within classes.
    path.rsplit_once('.').is_some_and(|(outer, _)| by_full_name(outer).is_some())
}
