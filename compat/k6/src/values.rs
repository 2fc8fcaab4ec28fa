//! Values of scripts in Rust, and exceptions.

use rquickjs::{Ctx, Error, Exception, FromJs, Function, Object, Result, Value};

/// The bytes of a text, an `ArrayBuffer` or a typed array.
pub struct Bytes(pub Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        if let Some(text) = value.as_string() {
            return Ok(Self(text.to_string()?.into_bytes()));
        }
        let is_buffer = value
            .as_object()
            .is_some_and(|object| object.is_array_buffer() || object.is_typed_array::<u8>());
        if is_buffer {
            let natives: Object<'js> = ctx.globals().get("__brunt")?;
            let characters: Function<'js> = natives.get("characters")?;
            let text: String = characters.call((value,))?;
            return Ok(Self(text.chars().map(|c| c as u8).collect()));
        }
        Err(thrown(ctx, "a text or an ArrayBuffer is needed"))
    }
}

/// Reads tags: an object with texts, numbers and booleans.
pub fn tags_of(tags: Option<Object<'_>>) -> Result<Vec<(String, String)>> {
    let Some(tags) = tags else { return Ok(Vec::new()) };
    let mut list = Vec::new();
    for entry in tags.props::<String, Value<'_>>() {
        let (name, value) = entry?;
        list.push((name, text_of(&value)?));
    }
    Ok(list)
}

/// Returns the text of a text, number or boolean.
fn text_of(value: &Value<'_>) -> Result<String> {
    if let Some(text) = value.as_string() {
        return text.to_string();
    }
    if let Some(number) = value.as_number() {
        return Ok(number.to_string());
    }
    Ok(value.as_bool().map_or_else(String::new, |value| value.to_string()))
}

/// An exception with a message.
pub fn thrown(ctx: &Ctx<'_>, message: &str) -> Error {
    Exception::throw_message(ctx, message)
}
