//! Messages of reports, in each language: `texts/en` and `texts/zh`.

use brunt_model::text::Catalog;

/// The messages of this crate. `brunt_model::text` has those that several crates use.
pub static REPORT: Catalog = Catalog::new(
    concat!(include_str!("../texts/en/report.ftl"), include_str!("../texts/en/history.ftl")),
    concat!(include_str!("../texts/zh/report.ftl"), include_str!("../texts/zh/history.ftl")),
);

/// Creates a [`Text`](brunt_model::Text) of a message of this crate, as `brunt_model::text!` does of common ones.
macro_rules! message {
    ($($message:tt)*) => {
        ::brunt_model::text::of_catalog!(in $crate::texts::REPORT, $($message)*)
    };
}
pub(crate) use message;
