//! Recovers the parts of request texts, with their expressions: the fields of a form, and the
//! account of Basic credentials.

use crate::texts::expression::{self, TextPart};
use crate::texts::template::expression_text;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

/// Returns the fields of an encoded form. None if a part is not encoded, or a field has no name.
pub fn form(text: &str) -> Option<Vec<(String, String)>> {
    let mut fields: Vec<[Vec<TextPart>; 2]> = vec![[Vec::new(), Vec::new()]];
    let mut side = 0;
    for stretch in expression::parse(text) {
        match stretch {
            TextPart::Literal(text) => {
                for (number, field) in text.split('&').enumerate() {
                    if number > 0 {
                        fields.push([Vec::new(), Vec::new()]);
                        side = 0;
                    }
                    for (number, half) in field.splitn(2 - side, '=').enumerate() {
                        side += number;
                        let half = half.replace('+', " ");
                        let decoded = percent_decode_str(&half).decode_utf8().ok()?.into_owned();
                        if !decoded.is_empty() {
                            fields.last_mut()?[side].push(TextPart::Literal(decoded));
                        }
                    }
                }
            }
            // Written by `encode_form_expressions`.
            TextPart::Call { name, mut arguments, .. }
                if name == "urlencode" && arguments.len() == 1 =>
            {
                fields.last_mut()?[side].append(&mut arguments[0]);
            }
            _ => return None,
        }
    }
    let fields: Vec<(String, String)> = fields
        .iter()
        .map(|[name, value]| (expression_text(name), expression_text(value)))
        .collect();
    fields.iter().all(|(name, _)| !name.is_empty()).then_some(fields)
}

/// Returns `NAME:PASSWORD` from the value of a field Authorization. None if it is not Basic.
pub fn basic(value: &str) -> Option<String> {
    let (scheme, credentials) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    if let [TextPart::Call { name, arguments, .. }] = &expression::parse(credentials.trim())[..] {
        let [pair] = &arguments[..] else { return None };
        return name.starts_with("base64").then(|| expression_text(pair));
    }
    let bytes = STANDARD.decode(credentials.trim()).ok()?;
    String::from_utf8(bytes).ok().filter(|pair| pair.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_decoded_with_their_expressions() {
        let pairs = |text: &str| {
            form(text)
                .map(|all| all.into_iter().map(|(a, b)| format!("{a}={b}")).collect::<Vec<_>>())
        };
        assert_eq!(
            pairs("a=b+c&d=%26${urlencode(${x})}"),
            Some(vec!["a=b c".into(), "d=&${x}".into()])
        );
        assert_eq!(pairs("a=1&a=2&b==c"), Some(vec!["a=1".into(), "a=2".into(), "b==c".into()]));
        assert_eq!((pairs("a=${x}"), pairs("=1"), pairs("a=%ff")), (None, None, None));
    }

    #[test]
    fn basic_is_decoded_or_taken_out_of_its_function() {
        assert_eq!(basic("Basic YTpi").as_deref(), Some("a:b"));
        assert_eq!(basic("basic ${base64(a:${pw})}").as_deref(), Some("a:${pw}"));
        assert_eq!(
            (basic("Basic YQ=="), basic("Bearer YTpi"), basic("Basic ${x(a)}")),
            (None, None, None)
        );
    }
}
