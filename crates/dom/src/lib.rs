//! HTML and XML as a tree; values by XPath 1.0 and CSS selectors.

mod document;
mod error;
mod html;
mod markup;
mod xml;
mod xpath;

pub use document::Document;
pub use error::{DomError, ExpressionError, WorkLimit};
pub use xpath::{XPath, XPathKind, XPathResult};

/// Bytes of text or markup that a result may have.
const MAX_RESULT: usize = 64 << 20;
