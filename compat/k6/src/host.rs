//! The part of a script's world that is outside of its JavaScript: what the modules in `js/` call.

use crate::archive::{Archive, FileBytes};
use crate::registry::Registry;
use crate::user_side::UserSide;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Where the modules and files of a script come from.
pub enum Sources {
    /// The file system. The archive receives each file.
    FileSystem(RefCell<Archive>),
    /// An archive that is complete.
    Archive(Arc<Archive>),
}

/// The world of one evaluation of a script.
pub struct Host {
    /// Source of modules and files.
    pub sources: Sources,
    /// Metrics and lines of the console.
    pub registry: Rc<Registry>,
    /// Variables of the environment.
    pub env: Arc<Vec<(String, String)>>,
    /// True while the script's modules are evaluated.
    pub is_init: Cell<bool>,
    /// The virtual user; None if only the init code, or the code of the summary is evaluated.
    pub user: Option<UserSide>,
}

impl Host {
    /// Returns the text of a module, by its absolute path.
    pub fn module(&self, name: &str) -> Result<String, String> {
        match &self.sources {
            Sources::Archive(archive) => archive
                .modules
                .get(name)
                .cloned()
                .ok_or_else(|| format!("`{name}` was not read when the script was checked: import it at the top of a module")),
            Sources::FileSystem(archive) => {
                // Types could be removed by a library, which none of the others here needs.
                let ending = Path::new(name).extension().and_then(|end| end.to_str());
                if ending == Some("ts") {
                    return Err(format!("{name}: TypeScript is not read; write `esbuild {name} --outfile=NAME.js` and run its output"));
                }
                let text = brunt_files::read_text(Path::new(name)).map_err(|error| {
                    format!("cannot read the module {name}: {error}; write its path with its ending, relative to the module that imports it")
                })?;
                archive.borrow_mut().modules.insert(name.to_owned(), text.clone());
                Ok(text)
            }
        }
    }

    /// Returns the content of a file, by its absolute path.
    pub fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        match &self.sources {
            Sources::Archive(archive) => archive
                .files
                .get(path)
                .map(|file| file.0.clone())
                .ok_or_else(|| format!("open(): `{path}` was not read when the script was checked: open the same files in each user")),
            Sources::FileSystem(archive) => {
                let bytes = brunt_files::read(Path::new(path))
                    .map_err(|error| format!("open(): cannot read {path}: {error}"))?;
                // Agents have no access to the files of this machine.
                archive.borrow_mut().files.insert(path.to_owned(), FileBytes(bytes.clone()));
                Ok(bytes)
            }
        }
    }

    /// Calls a function with the elements of a shared array, if it exists.
    pub fn shared<T>(&self, name: &str, read: impl FnOnce(&[String]) -> T) -> Option<T> {
        match &self.sources {
            Sources::Archive(archive) => archive.shared.get(name).map(|array| read(array)),
            Sources::FileSystem(archive) => {
                archive.borrow().shared.get(name).map(|array| read(array))
            }
        }
    }

    /// Adds a line of the console.
    pub fn log(&self, level: &str, text: &str) {
        let text = serde_json::Value::from(text);
        self.registry.line(format!("level={level} msg={text}"));
    }
}
