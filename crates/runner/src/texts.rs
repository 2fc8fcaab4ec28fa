//! Messages of results of experiments, in each language: `texts/en` and `texts/zh`.

use brunt_model::text::Catalog;

/// The messages of this crate. `brunt_model::text` has those that several crates use.
pub static RUNNER: Catalog = Catalog::new(
    include_str!("../texts/en/experiments.ftl"),
    include_str!("../texts/zh/experiments.ftl"),
);

/// Creates a [`Text`](brunt_model::Text) of a message of this crate, as `brunt_model::text!` does of common ones.
macro_rules! message {
    ($($message:tt)*) => {
        ::brunt_model::text::of_catalog!(in $crate::texts::RUNNER, $($message)*)
    };
}
pub(crate) use message;
