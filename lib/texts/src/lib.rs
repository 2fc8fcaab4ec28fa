//! Texts for people in several languages, from catalogs in the syntax of Fluent.
//!
//! [`text!`] makes a [`Text`] of a message of a [`Catalog`]. A text reads as its English form; [`Text::in_language`]
//! returns the same text in another language. Texts without a message, such as names and figures, are the same in all
//! languages. Out of scope: the messages, which are in the crates that use them.
//!
//! * [`text`](mod@text): a message with its arguments; [`text::catalog`]: the messages of all languages.
//! * [`language`]: the languages.

pub mod language;
pub mod text;

pub use language::Language;
pub use text::catalog::{Catalog, count};
pub use text::{Argument, Text, Value};

/// Creates a [`Text`] of a message of a catalog, by its id and arguments:
/// `text!(in CATALOG, "too-short", time = seconds(t), replies)`.
#[macro_export]
macro_rules! text {
    (@value $name:ident) => { $crate::Value::from($name) };
    (@value $name:ident $value:expr) => { $crate::Value::from($value) };
    (in $catalog:expr, $id:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::Text::of_catalog(
            &$catalog,
            $id,
            vec![$((stringify!($name).into(), $crate::text!(@value $name $($value)?))),*],
        )
    };
}
