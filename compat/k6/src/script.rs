//! A script before and after the load: its init code, its options, and its own summary.

use crate::archive::Archive;
use crate::host::{Host, Sources};
use crate::kinds::Declaration;
use crate::machine::{Machine, Thrown};
use crate::options::{Options, text_of};
use crate::registry::Registry;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Stack of the init code, in bytes. It runs on the stack of the caller.
const STACK: usize = 512 << 10;

/// A script after its init code.
pub struct K6Script {
    machine: Machine,
    host: Rc<Host>,
}

impl K6Script {
    /// Evaluates the init code of a script.
    ///
    /// # Errors
    ///
    /// A module cannot be read, or its code throws.
    pub fn read(path: &Path, env: Vec<(String, String)>) -> Result<Self, String> {
        let absolute = std::path::absolute(path)
            .map_err(|error| format!("cannot read the script {}: {error}", path.display()))?;
        let entry = absolute.to_string_lossy().into_owned();
        let archive = Archive { entry: entry.clone(), ..Archive::default() };
        // Without a user, all actions are refused.
        let host = Rc::new(Host {
            sources: Sources::FileSystem(RefCell::new(archive)),
            registry: Rc::new(Registry::new(Vec::new())),
            env: Arc::new(env),
            is_init: Cell::new(true),
            user: None,
        });
        let machine = Machine::new(&host, &entry, STACK).map_err(|Thrown(why)| why)?;
        Ok(Self { machine, host })
    }

    /// The options that the script exports.
    ///
    /// # Errors
    ///
    /// They are no object.
    pub fn options(&self) -> Result<Options, String> {
        match self.machine.json("options").map_err(|Thrown(why)| why)? {
            Some(json) => Options::parse(&json, "the options of the script"),
            None => Ok(Options::default()),
        }
    }

    /// True if the script exports a function of this name.
    pub fn has_function(&self, name: &str) -> bool {
        self.machine.has_function(name)
    }

    /// What the init code has read.
    pub fn archive(&self) -> Archive {
        match &self.host.sources {
            Sources::FileSystem(archive) => archive.borrow().clone(),
            Sources::Archive(archive) => Archive::clone(archive),
        }
    }

    /// The metrics of the script, and those that every script has.
    pub fn declarations(&self) -> Vec<Declaration> {
        self.host.registry.declarations()
    }

    /// Lines that the script has printed since the last call.
    pub fn lines(&self) -> Vec<String> {
        self.host.registry.take().lines
    }

    /// Calls `handleSummary`. Returns the name of each output, and its text. None: the script has no such
    /// function.
    ///
    /// # Errors
    ///
    /// The function throws, or returns no object with texts.
    pub fn handle_summary(&self, data: &Value) -> Option<Result<Vec<(String, String)>, String>> {
        let name = "handleSummary";
        if !self.has_function(name) {
            return None;
        }
        let called = self.machine.json_of_call(name, &[&data.to_string()], &|_| false);
        Some(called.map_err(|Thrown(why)| why).and_then(|json| {
            let wrong = "handleSummary() must return an object: the names of files, `stdout` or `stderr`, each with a text";
            let value = serde_json::from_str(&json.unwrap_or_default()).map_err(|_| wrong)?;
            let Value::Object(map) = value else { return Err(wrong.to_owned()) };
            Ok(map.iter().map(|(name, value)| (name.clone(), text_of(value))).collect())
        }))
    }
}
