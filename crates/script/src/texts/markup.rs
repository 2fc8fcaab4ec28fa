//! Searches bodies with CSS selectors and `XPath` expressions. In a program that was built without
//! them, each is an error before the load.

#[cfg(feature = "dom")]
pub use with_dom::{CssSelector, QualifiedPath, XPath, check_xml};
#[cfg(not(feature = "dom"))]
pub use without_dom::{CssSelector, QualifiedPath, XPath, check_xml};

#[cfg(feature = "dom")]
mod with_dom {
    use crate::texts::exceeded::{self, SearchLimit};
    use brunt_dom::{Document, WorkLimit, XPathResult};
    use brunt_model::extract::QualifiedXpath;

    /// An expression with its source.
    #[derive(Debug)]
    struct Expression<E> {
        parsed: E,
        source: String,
    }

    impl<E> Expression<E> {
        fn new<R: ToString>(parsed: Result<E, R>, source: &str) -> Result<Self, String> {
            let parsed = parsed.map_err(|error| error.to_string())?;
            Ok(Self { parsed, source: source.to_owned() })
        }

        /// Returns the result of a search; None if it took too much work, which is noted.
        fn result<T>(&self, result: Result<T, WorkLimit>) -> Option<T> {
            if result.is_err() {
                exceeded::note(SearchLimit::Document, &self.source);
            }
            result.ok()
        }
    }

    impl Expression<brunt_dom::XPath> {
        fn values(&self, document: &Document) -> Vec<String> {
            self.search(document).map(|result| result.values()).unwrap_or_default()
        }

        /// True if it selects a node, or is true.
        fn holds(&self, document: &Document) -> bool {
            self.search(document).is_some_and(|result| result.as_bool())
        }

        fn search<'d>(&self, document: &'d Document) -> Option<XPathResult<'d>> {
            self.result(document.xpath(&self.parsed))
        }
    }

    /// A CSS selector with its matching code.
    #[derive(Debug)]
    pub struct CssSelector(Expression<brunt_dom::Selector>);

    /// An `XPath` 1.0 expression.
    #[derive(Debug)]
    pub struct XPath(Expression<brunt_dom::XPath>);

    /// A namespace-aware `XPath` 1.0 expression.
    #[derive(Debug)]
    pub struct QualifiedPath(Expression<brunt_dom::XPath>);

    impl CssSelector {
        /// Parses the text of a selector.
        pub fn parse(selector: &str) -> Result<Self, String> {
            Expression::new(brunt_dom::Selector::parse(selector), selector).map(Self)
        }

        /// Returns the attribute of each matching element in HTML, or its text if the attribute
        /// name is empty. A page that takes too much work has no matches, which is noted.
        pub fn values(&self, html: &str, attribute: &str) -> Vec<String> {
            let attribute = Some(attribute).filter(|attribute| !attribute.is_empty());
            let values = Document::html(html).css(&self.0.parsed, attribute);
            self.0.result(values).unwrap_or_default()
        }
    }

    impl XPath {
        /// Parses the text of an expression.
        pub fn parse(path: &str) -> Result<Self, String> {
            Expression::new(brunt_dom::XPath::parse(path), path).map(Self)
        }

        /// Returns the selected values in XML or HTML.
        pub fn values(&self, text: &str) -> Vec<String> {
            self.0.values(&tree(text))
        }

        /// True if it selects a node, or is true.
        pub fn holds(&self, text: &str) -> bool {
            self.0.holds(&tree(text))
        }
    }

    impl QualifiedPath {
        /// Parses a namespace-aware expression.
        ///
        /// # Errors
        ///
        /// The expression is malformed, or a prefix has no URI.
        pub fn parse(path: &QualifiedXpath) -> Result<Self, String> {
            let QualifiedXpath { path, namespaces } = path;
            Expression::new(brunt_dom::XPath::with_namespaces(path, namespaces), path).map(Self)
        }

        /// Returns the selected values in XML.
        pub fn values(&self, xml: &str) -> Vec<String> {
            let document = Document::xml(xml);
            document.map(|document| self.0.values(&document)).unwrap_or_default()
        }

        /// True if it selects a node of the XML, or is true.
        pub fn holds(&self, xml: &str) -> bool {
            Document::xml(xml).is_ok_and(|document| self.0.holds(&document))
        }
    }

    /// Parses a text as XML, or as HTML if that fails.
    fn tree(text: &str) -> Document {
        Document::xml(text).unwrap_or_else(|_| Document::html(text))
    }

    /// Checks the XML of a text.
    ///
    /// # Errors
    ///
    /// It is malformed: the parser's message.
    pub fn check_xml(text: &str) -> Result<(), String> {
        Document::xml(text).map(|_| ()).map_err(|error| error.to_string())
    }
}

#[cfg(not(feature = "dom"))]
mod without_dom {
    use brunt_model::extract::QualifiedXpath;

    /// No value exists in this program.
    #[derive(Debug)]
    pub enum CssSelector {}

    /// No value exists in this program.
    #[derive(Debug)]
    pub enum XPath {}

    /// No value exists in this program.
    #[derive(Debug)]
    pub enum QualifiedPath {}

    fn not_built<T>(feature: &str) -> Result<T, String> {
        let how = "released programs have it, and `cargo build --release -p brunt-cli` builds one";
        Err(format!("this brunt was built without {feature}; {how}"))
    }

    impl CssSelector {
        /// Refuses the selector: this program cannot evaluate it.
        ///
        /// # Errors
        ///
        /// Always, because the feature is missing.
        pub fn parse(_: &str) -> Result<Self, String> {
            not_built("CSS selectors")
        }

        /// Never called, because no value exists.
        pub fn values(&self, _: &str, _: &str) -> Vec<String> {
            match *self {}
        }
    }

    impl XPath {
        /// Refuses the expression: this program cannot evaluate it.
        ///
        /// # Errors
        ///
        /// Always, because the feature is missing.
        pub fn parse(_: &str) -> Result<Self, String> {
            not_built("XPath")
        }

        /// Never called, because no value exists.
        pub fn values(&self, _: &str) -> Vec<String> {
            match *self {}
        }

        /// Never called, because no value exists.
        pub fn holds(&self, _: &str) -> bool {
            match *self {}
        }
    }

    impl QualifiedPath {
        /// Refuses the expression: this program cannot evaluate it.
        ///
        /// # Errors
        ///
        /// Always, because the feature is missing.
        pub fn parse(_: &QualifiedXpath) -> Result<Self, String> {
            not_built("XPath")
        }

        /// Never called, because no value exists.
        pub fn values(&self, _: &str) -> Vec<String> {
            match *self {}
        }

        /// Never called, because no value exists.
        pub fn holds(&self, _: &str) -> bool {
            match *self {}
        }
    }

    /// Refuses the assertion: this program cannot parse XML.
    ///
    /// # Errors
    ///
    /// Always, because the feature is missing.
    pub fn check_xml(_: &str) -> Result<(), String> {
        not_built("XML assertions")
    }
}

#[cfg(all(test, feature = "dom"))]
mod tests {
    use super::*;
    use crate::texts::exceeded;

    #[test]
    fn a_search_that_takes_too_much_work_is_noted() {
        let page = format!("<a>{}</a>", "<b>x</b>".repeat(20_000));
        let path = "//*[count(preceding::*) = 0]";
        let is_noted = || exceeded::remarks().iter().any(|remark| remark.contains(path));
        let quick = XPath::parse("//b[2]").expect("an expression");
        assert_eq!(quick.values(&page), ["x"]);
        assert!(!is_noted());
        let slow = XPath::parse(path).expect("an expression");
        assert_eq!(slow.values(&page), Vec::<String>::new());
        assert!(is_noted());
    }
}
