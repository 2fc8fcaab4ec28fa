//! Parses XML with `quick-xml`, and checks the rest: a single root
//! element, names, duplicate attributes.

#[cfg(test)]
mod tests;

use crate::document::{Builder, Document, MAX_BYTES};
use crate::error::DomError;
use quick_xml::XmlVersion;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::HashSet;

/// Message of an error within an event.
type Fault = String;

pub(crate) fn parse(source: &str) -> Result<Document, DomError> {
    // A byte order mark is no part of the document.
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if source.len() > MAX_BYTES {
        return Err(error_at(source, 0, format!("the document has more than {MAX_BYTES} bytes")));
    }
    // The reader accepts characters that XML 1.0, section 2.2, forbids.
    if let Some((offset, letter)) = source.char_indices().find(|(_, letter)| is_illegal(*letter)) {
        return Err(error_at(
            source,
            offset,
            format!("the character U+{:04X} is not allowed in XML", u32::from(letter)),
        ));
    }
    let mut reader = Reader::from_str(source);
    // By default, the reader accepts `--` within comments.
    reader.config_mut().check_comments = true;
    let mut builder = Builder::xml();
    let mut has_root = false;
    loop {
        let start = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| {
            error_at(source, reader.error_position() as usize, error.to_string())
        })?;
        if matches!(event, Event::Eof) {
            return finish(source, builder, has_root);
        }
        add(event, start == 0, &mut builder, &mut has_root)
            .map_err(|message| error_at(source, start, message))?;
    }
}

fn is_illegal(letter: char) -> bool {
    (letter < ' ' && !"\t\n\r".contains(letter)) || "\u{fffe}\u{ffff}".contains(letter)
}

fn finish(source: &str, builder: Builder, has_root: bool) -> Result<Document, DomError> {
    match (builder.depth(), has_root) {
        (0, true) => Ok(builder.finish()),
        (0, false) => Err(error_at(source, source.len(), "the document has no root element")),
        (open, _) => Err(error_at(
            source,
            source.len(),
            format!("the document ends within {open} open elements"),
        )),
    }
}

fn add(
    event: Event<'_>,
    is_first: bool,
    builder: &mut Builder,
    has_root: &mut bool,
) -> Result<(), Fault> {
    let is_outside = builder.depth() == 0;
    match event {
        Event::Start(tag) => open(&tag, builder, has_root)?,
        Event::Empty(tag) => {
            open(&tag, builder, has_root)?;
            builder.close();
        }
        Event::End(_) => builder.close(),
        Event::Text(text)
            if is_outside && text.trim_matches([' ', '\t', '\n', '\r']).is_empty() => {}
        Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) if is_outside => {
            return Err("text outside of the root element".to_owned());
        }
        // The reader accepts `]]>` in text, which is not well-formed.
        Event::Text(text) if text.contains("]]>") => {
            return Err("`]]>` in text: write `]]&gt;`".to_owned());
        }
        Event::Text(text) => builder.text(&text.xml10_content()),
        Event::CData(text) => builder.text(&text.xml10_content()),
        Event::GeneralRef(name) => builder.text(&resolve(&name)?),
        Event::Comment(text) => builder.comment(&text.xml10_content()),
        Event::PI(instruction) => {
            check_name(instruction.target())?;
            if instruction.target().eq_ignore_ascii_case("xml") {
                return Err("an XML declaration may only stand at the very start".to_owned());
            }
            builder.instruction(instruction.target(), instruction.content().trim_start());
        }
        Event::Decl(_) if !is_first => {
            return Err("an XML declaration may only stand at the very start".to_owned());
        }
        Event::DocType(_) if *has_root => {
            return Err("a DOCTYPE must stand before the root element".to_owned());
        }
        Event::Decl(_) | Event::DocType(_) | Event::Eof => {}
    }
    Ok(())
}

fn open(tag: &BytesStart<'_>, builder: &mut Builder, has_root: &mut bool) -> Result<(), Fault> {
    let element = tag.name().into_inner();
    if builder.depth() == 0 && *has_root {
        return Err(format!("`<{element}>` is a second root element; XML has one"));
    }
    *has_root = true;
    check_name(element)?;
    builder.open(element);
    let mut names = HashSet::new();
    // The check of the reader compares each name with all others; the set below takes linear time.
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| format!("in `<{element}>`: {error}"))?;
        let name = attribute.key.into_inner();
        check_name(name)?;
        // The reader accepts attributes without white space between them.
        let before = name.as_ptr().addr().saturating_sub(tag.attributes_raw().as_ptr().addr() + 1);
        if !tag.attributes_raw().as_bytes().get(before).is_some_and(u8::is_ascii_whitespace) {
            return Err(format!("no space before the attribute `{name}` of `<{element}>`"));
        }
        if !names.insert(name.to_owned()) {
            return Err(format!("`<{element}>` has the attribute `{name}` twice"));
        }
        builder.attribute(
            name,
            &value(&attribute).map_err(|reason| format!("in the attribute `{name}`: {reason}"))?,
        );
    }
    Ok(())
}

fn value(attribute: &Attribute<'_>) -> Result<String, Fault> {
    // The reader accepts `<` in values, which is not well-formed.
    if attribute.value.contains('<') {
        return Err("`<` in a value: write `&lt;`".to_owned());
    }
    let value = attribute.normalized_value(XmlVersion::Explicit1_0);
    Ok(value.map_err(|error| error.to_string())?.into_owned())
}

/// Returns the text of the entity reference `&name;`.
fn resolve(name: &str) -> Result<String, Fault> {
    let reference = format!("&{name};");
    let text = quick_xml::escape::unescape(&reference).map(std::borrow::Cow::into_owned);
    text.map_err(|_| format!("`{reference}` is not known: use `&lt;`, `&gt;`, `&amp;`, `&apos;`, `&quot;` or a number"))
}

fn check_name(name: &str) -> Result<(), Fault> {
    if name.starts_with(is_name_start) && name.chars().all(is_name_character) {
        return Ok(());
    }
    Err(format!("`{name}` is not a name"))
}

fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || "_:".contains(letter) || !letter.is_ascii()
}

fn is_name_character(letter: char) -> bool {
    is_name_start(letter) || letter.is_numeric() || "-.".contains(letter)
}

/// Creates an error at a byte offset.
fn error_at(source: &str, offset: usize, message: impl Into<String>) -> DomError {
    let before = &source[..source.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    DomError { line, column: before[line_start..].chars().count() + 1, message: message.into() }
}
