//! HTML and XML as a tree; values by XPath 1.0 and CSS selectors.
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
//! Replies and expressions may be hostile: the depth of an expression is bounded, no code recurses into a document, and reading
//! and evaluating take a number of steps that grows with the size of the document, or end with a [`WorkLimit`].
//!
//! * [`Document`]: the tree, read by `html` with `html5ever` and by `xml` with `quick-xml`. `markup`: nodes as markup again.
//! * [`XPath`]: expressions, and [`XPathResult`].
//! * [`Selector`]: CSS selectors.
//! * [`Element`]: elements one by one.
//!
//! Out of scope: character sets (text is handed in decoded), scripts, DTDs and their entities, XPath variables.

mod document;
mod element;
mod error;
mod html;
mod markup;
mod selector;
mod xml;
mod xpath;

pub use document::Document;
pub use element::Element;
pub use error::{DomError, ExpressionError, WorkLimit};
pub use selector::Selector;
pub use xpath::{XPath, XPathKind, XPathResult};

/// Bytes of text or markup that a result may have.
const MAX_RESULT: usize = 64 << 20;
