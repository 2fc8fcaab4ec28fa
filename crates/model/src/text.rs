//! Texts for people, in each language: the messages of this crate, and of those above it.
//!
//! [`text!`](crate::text!) makes a [`Text`] of a message of `texts/en` and `texts/zh`.

#[doc(hidden)]
pub use brunt_texts::text as of_catalog;
pub use brunt_texts::{Catalog, Language, Text, Value};

/// The messages of findings, verdicts, conclusions, reports and logs.
pub static MESSAGES: Catalog = Catalog::new(
    concat!(
        include_str!("../texts/en/findings.ftl"),
        include_str!("../texts/en/failures.ftl"),
        include_str!("../texts/en/experiments.ftl"),
        include_str!("../texts/en/history.ftl"),
        include_str!("../texts/en/log.ftl"),
        include_str!("../texts/en/report.ftl"),
    ),
    concat!(
        include_str!("../texts/zh/findings.ftl"),
        include_str!("../texts/zh/failures.ftl"),
        include_str!("../texts/zh/experiments.ftl"),
        include_str!("../texts/zh/history.ftl"),
        include_str!("../texts/zh/log.ftl"),
        include_str!("../texts/zh/report.ftl"),
    ),
);

/// Creates a [`Text`] of a message, by its id and arguments: `text!("too-short", time = seconds(t), replies)`.
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
