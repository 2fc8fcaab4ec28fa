//! Rewrites descriptors of Protobuf editions in the syntax that the library supports.
//!
//! A field of an edition has explicit presence by default, as in proto2, and is encoded in the
//! same way; a decoder accepts packed and unpacked lists. Only fields with delimited encoding
//! differ, and are refused.

use prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use std::borrow::Cow;

/// `syntax` of a file of an edition.
const EDITIONS: &str = "editions";
/// `FeatureSet.MessageEncoding.DELIMITED`.
const DELIMITED: i32 = 2;

/// The parts of a `FileDescriptorSet` that contain features of editions.
#[derive(Clone, PartialEq, Message)]
struct EditionSet {
    #[prost(message, repeated, tag = "1")]
    files: Vec<EditionFile>,
}

#[derive(Clone, PartialEq, Message)]
struct EditionFile {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<EditionMessage>,
    #[prost(message, repeated, tag = "7")]
    extensions: Vec<EditionField>,
    #[prost(message, optional, tag = "8")]
    options: Option<FileOptions>,
    #[prost(string, tag = "12")]
    syntax: String,
}

#[derive(Clone, PartialEq, Message)]
struct FileOptions {
    #[prost(message, optional, tag = "50")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, Message)]
struct EditionMessage {
    #[prost(message, repeated, tag = "2")]
    fields: Vec<EditionField>,
    #[prost(message, repeated, tag = "3")]
    nested: Vec<EditionMessage>,
    #[prost(message, repeated, tag = "6")]
    extensions: Vec<EditionField>,
}

#[derive(Clone, PartialEq, Message)]
struct EditionField {
    #[prost(message, optional, tag = "8")]
    options: Option<FieldOptions>,
}

#[derive(Clone, PartialEq, Message)]
struct FieldOptions {
    #[prost(message, optional, tag = "21")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, Message)]
struct Features {
    #[prost(int32, tag = "5")]
    message_encoding: i32,
}

impl EditionFile {
    fn has_delimited_fields(&self) -> bool {
        let features = self.options.as_ref().and_then(|options| options.features.as_ref());
        features.is_some_and(|features| features.message_encoding == DELIMITED)
            || self.extensions.iter().any(EditionField::is_delimited)
            || self.messages.iter().any(EditionMessage::has_delimited_fields)
    }
}

impl EditionMessage {
    fn has_delimited_fields(&self) -> bool {
        self.fields.iter().chain(&self.extensions).any(EditionField::is_delimited)
            || self.nested.iter().any(Self::has_delimited_fields)
    }
}

impl EditionField {
    fn is_delimited(&self) -> bool {
        let features = self.options.as_ref().and_then(|options| options.features.as_ref());
        features.is_some_and(|features| features.message_encoding == DELIMITED)
    }
}

/// Rewrites the files of editions in a `FileDescriptorSet`.
///
/// # Errors
///
/// Describes a file that has fields with delimited encoding.
pub fn without_editions(set: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    // Malformed bytes get their error when they are decoded.
    let Ok(EditionSet { files }) = EditionSet::decode(set) else { return Ok(Cow::Borrowed(set)) };
    let mut edition_files = files.iter().filter(|file| file.syntax == EDITIONS).peekable();
    if edition_files.peek().is_none() {
        return Ok(Cow::Borrowed(set));
    }
    if let Some(file) = edition_files.find(|file| file.has_delimited_fields()) {
        return Err(format!(
            "`{}` has fields with delimited encoding (features.message_encoding = DELIMITED), which brunt does not encode; \
             write a copy of the file without this feature",
            file.name
        ));
    }
    let Ok(mut set) = FileDescriptorSet::decode(set) else { return Ok(Cow::Borrowed(set)) };
    for file in set.file.iter_mut().filter(|file| file.syntax.as_deref() == Some(EDITIONS)) {
        file.syntax = Some("proto2".to_owned());
    }
    Ok(Cow::Owned(set.encode_to_vec()))
}
