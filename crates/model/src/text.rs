//! Texts for people, in each language: the messages of this crate, those of logs, and those that several crates use.
//!
//! [`text!`](crate::text!) makes a [`Text`] of a message of `texts/en` and `texts/zh`. Other crates have further messages.

#[doc(hidden)]
pub use brunt_texts::text as of_catalog;
pub use brunt_texts::{Catalog, Language, Text, Value};

/// The messages of failures and logs, and those that several crates use.
pub static MESSAGES: Catalog = Catalog::new(
    concat!(
        include_str!("../texts/en/common.ftl"),
        include_str!("../texts/en/failures.ftl"),
        include_str!("../texts/en/log.ftl"),
    ),
    concat!(
        include_str!("../texts/zh/common.ftl"),
        include_str!("../texts/zh/failures.ftl"),
        include_str!("../texts/zh/log.ftl"),
    ),
);

/// Creates a [`Text`] of a message, by its id and arguments: `text!("of-run", run = name, sentence)`.
#[macro_export]
macro_rules! text {
    ($($message:tt)*) => {
        $crate::text::of_catalog!(in $crate::text::MESSAGES, $($message)*)
    };
}

/// Joins clauses to one text: `a; b; c`.
pub fn series(mut clauses: Vec<Text>) -> Text {
    if clauses.len() == 1 {
        clauses.remove(0)
    } else {
        text!("series", clauses = Value::Series(clauses))
    }
}
