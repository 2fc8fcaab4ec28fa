//! Texts of the studio's pages, in the language of the reader.

use brunt_model::text::catalog::Catalog;

/// The messages of the studio.
pub static STUDIO: Catalog = Catalog::new(
    include_str!("../texts/en/studio.ftl"),
    include_str!("../texts/zh/studio.ftl"),
);
