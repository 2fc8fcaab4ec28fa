//! A finished recording, as HAR 1.2.

use crate::error::RecordError;
use brunt_har::{HarOptions, recording};

/// The requests of a browser, with their replies.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Name for messages: a URL or a file.
    pub name: String,
    /// Parts that were cut or could not be read, with reasons and counts.
    pub cuts: Vec<String>,
    har: String,
}

impl Recording {
    pub(crate) fn new(name: String, har: String, cuts: Vec<String>) -> Self {
        Self { name, cuts, har }
    }

    /// Reads a recording that was saved as HAR.
    ///
    /// # Errors
    ///
    /// [`RecordError::Import`] with its line or JSON path if it is not a HAR.
    pub fn from_har(name: &str, text: &str) -> Result<Self, RecordError> {
        // A byte order mark is not part of the text.
        let text = brunt_har::text::clean(text.strip_prefix('\u{feff}').unwrap_or(text));
        recording::flows(&text, &HarOptions { file: name.to_owned(), ..HarOptions::default() })?;
        Ok(Self::new(name.to_owned(), text.into_owned(), Vec::new()))
    }

    /// The recording as HAR 1.2.
    pub fn har(&self) -> &str {
        &self.har
    }
}
