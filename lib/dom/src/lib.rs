//! Parses HTML and XML as trees, and extracts values by XPath 1.0 and CSS selectors.
//!
//! ```
//! use brunt_dom::{Document, Selector, XPath};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let page = Document::html("<form><input name=csrf value=a1b2><a href='/next'>Next</a></form>");
//! let token = XPath::parse("//input[@name='csrf']/@value")?;
//! assert_eq!(page.xpath(&token)?.values(), ["a1b2"]);
//! assert_eq!(page.css(&Selector::parse("form > a")?, Some("href"))?, ["/next"]);
//! # Ok(())
//! # }
//! ```
//!
//! Replies and expressions may be hostile. The depth of an expression is bounded, and no code
//! recurses into a document. Parsing and evaluation take a number of steps that is bounded by the
//! size of the document, or end with a [`WorkLimit`].
//!
//! * [`Document`]: the tree, parsed by `html` with `html5ever` and by `xml` with `quick-xml`.
//!   `markup`: writes nodes as markup.
//! * [`XPath`]: expressions, and [`XPathResult`].
//! * [`Selector`]: CSS selectors.
//! * [`Element`]: iteration over elements.
//!
//! Out of scope: character sets (the caller decodes the text), scripts, DTDs and
//! their entities, XPath variables.

mod document;
mod element;
mod error;
mod html;
mod markup;
mod selector;
mod xml;
mod xpath;

pub use document::Document;
pub use element::{Content, Element};
pub use error::{DomError, ExpressionError, WorkLimit};
pub use selector::Selector;
pub use xpath::{XPath, XPathKind, XPathResult};

/// Maximum size of the text or markup of a result, in bytes.
const MAX_RESULT: usize = 64 << 20;
