//! The modules, data files and shared arrays of a script, as it travels with a plan.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that a script has read in its init code. With it, another process evaluates the script without files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// Name of the script's first module.
    pub entry: String,
    /// Texts of modules by name: an absolute path.
    pub modules: BTreeMap<String, String>,
    /// Contents of the files that `open()` has read, by absolute path.
    pub files: BTreeMap<String, FileBytes>,
    /// Elements of each `SharedArray` as JSON, by the name of the array.
    pub shared: BTreeMap<String, Vec<String>>,
}

/// The content of a file: in JSON as base64.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
// A list of numbers would take four times the space.
#[serde(try_from = "String", into = "String")]
pub struct FileBytes(pub Vec<u8>);

impl From<FileBytes> for String {
    fn from(bytes: FileBytes) -> Self {
        STANDARD.encode(bytes.0)
    }
}

impl TryFrom<String> for FileBytes {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        STANDARD.decode(text).map(Self)
    }
}
