//! A description and the other files that it refers to.

use crate::{ImportOptions, yaml};
use brunt_har::error::ImportError;
use brunt_har::json::{self, JsonNode};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Maximum number of files of a description.
const MAX_FILES: usize = 500;
/// Maximum length of a chain of references, which may be cyclic.
const MAX_REFERENCES: usize = 12;

/// All files of a description.
#[derive(Debug)]
pub(super) struct Document {
    /// The main file first. References to other files, and within them, are rewritten to
    /// `NUMBER#POINTER`, with the number of the file here.
    files: Vec<Value>,
}

impl Document {
    /// Reads a description, and the files that it refers to as far as `options` allow reading files.
    pub(super) fn read(text: &str, options: &ImportOptions) -> Result<Self, ImportError> {
        let mut files = vec![parse(text, &options.file)?];
        // A page of the studio has the text of the description only.
        let Some(read_file) = options.read_file else { return Ok(Self { files }) };
        let mut paths = vec![PathBuf::from(&options.file)];
        let mut number = 0;
        while number < files.len() {
            let folder = paths[number].parent().unwrap_or(Path::new("")).to_owned();
            let mut file = std::mem::take(&mut files[number]);
            for_each_reference(&mut file, &mut |reference| {
                let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
                let target = if name.is_empty() {
                    number
                } else {
                    let path = normal(&folder.join(name));
                    match paths.iter().position(|known| *known == path) {
                        Some(known) => known,
                        None if paths.len() >= MAX_FILES || name.contains("://") => return None,
                        None => {
                            let text = read_file(&path).ok()?;
                            files.push(parse(&text, &path.display().to_string()).ok()?);
                            paths.push(path);
                            files.len() - 1
                        }
                    }
                };
                // References within the main file stay as they are, because errors show them.
                (target > 0 || number > 0).then(|| format!("{target}#{pointer}"))
            });
            files[number] = file;
            number += 1;
        }
        Ok(Self { files })
    }

    /// The main file.
    pub(super) fn root(&self) -> &Value {
        &self.files[0]
    }

    /// Target of a reference; None if it does not exist or is in a file that was not read.
    pub(super) fn target(&self, reference: &str) -> Option<&Value> {
        let (number, pointer) = reference.split_once('#')?;
        let file = if number.is_empty() {
            self.root()
        } else {
            self.files.get(number.parse::<usize>().ok()?)?
        };
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
        file.pointer(&pointer)
    }

    /// Follows references. Null if a target is missing, or after [`MAX_REFERENCES`].
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let mut value = value;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = value["$ref"].as_str() else { return value };
            let Some(target) = self.target(reference) else { return &Value::Null };
            value = target;
        }
        &Value::Null
    }

    /// Returns a value, or the target of its reference.
    ///
    /// # Errors
    ///
    /// The target does not exist.
    pub(super) fn need<'a>(&'a self, at: &JsonNode<'a>) -> Result<&'a Value, ImportError> {
        let reference = at.text("$ref");
        match self.resolve(at.value) {
            Value::Null if reference.starts_with('#') => Err(at.error(
                format!("`{reference}` leads nowhere"),
                "a reference to a part of this file is expected",
            )),
            Value::Null if !reference.is_empty() => Err(at.error(
                format!("`{reference}` is in another file, which cannot be read"),
                "put the file beside the description, or bundle both into one file",
            )),
            value => Ok(value),
        }
    }
}

fn parse(text: &str, file: &str) -> Result<Value, ImportError> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    if is_json { json::parse(text, file) } else { yaml::parse(text, file) }
}

/// Replaces each reference for which `change` returns another.
fn for_each_reference(value: &mut Value, change: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_reference(item, change)),
        Value::Object(entries) => {
            for (name, value) in entries {
                match value {
                    Value::String(reference) if name == "$ref" => {
                        if let Some(changed) = change(reference) {
                            *reference = changed;
                        }
                    }
                    value => for_each_reference(value, change),
                }
            }
        }
        _ => {}
    }
}

/// A path without `.` and `..`, so that a file has one path.
fn normal(path: &Path) -> PathBuf {
    use std::path::Component::{CurDir, Normal, ParentDir};
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            CurDir => {}
            ParentDir if matches!(normal.components().next_back(), Some(Normal(_))) => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
