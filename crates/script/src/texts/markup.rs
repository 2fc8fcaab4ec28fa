//! Searches bodies with CSS selectors and `XPath` expressions. In a program that was built without
//! them, each is an error before the load.

#[cfg(feature = "dom")]
pub use with_dom::{CssSelector, QualifiedPath, XPath, check_xml};
#[cfg(not(feature = "dom"))]
pub use without_dom::{CssSelector, QualifiedPath, XPath, check_xml};

#[cfg(feature = "dom")]
mod with_dom {
    use brunt_dom::Document;
    use brunt_model::extract::QualifiedXpath;

    /// A CSS selector with its matching code.
    #[derive(Debug)]
    pub struct CssSelector(brunt_dom::Selector);

    /// An `XPath` 1.0 expression.
    #[derive(Debug)]
    pub struct XPath(brunt_dom::XPath);

    /// A namespace-aware `XPath` 1.0 expression.
    #[derive(Debug)]
    pub struct QualifiedPath(brunt_dom::XPath);

    impl CssSelector {
        /// Parses the text of a selector.
        ///
        /// # Errors
        ///
        /// The selector is malformed.
        pub fn parse(selector: &str) -> Result<Self, String> {
            brunt_dom::Selector::parse(selector).map(Self).map_err(|error| error.to_string())
        }

        /// Returns the attribute of each matching element in HTML, or its text if the attribute
        /// name is empty. A page that takes too much work has no matches.
        pub fn values(&self, html: &str, attribute: &str) -> Vec<String> {
            let attribute = Some(attribute).filter(|attribute| !attribute.is_empty());
            Document::html(html).css(&self.0, attribute).unwrap_or_default()
        }
    }

    impl XPath {
        /// Parses the text of an expression.
        ///
        /// # Errors
        ///
        /// The expression is malformed.
        pub fn parse(path: &str) -> Result<Self, String> {
            brunt_dom::XPath::parse(path).map(Self).map_err(|error| error.to_string())
        }

        /// Returns the selected values in XML or HTML.
        pub fn values(&self, text: &str) -> Vec<String> {
            tree(text).xpath(&self.0).map(|result| result.values()).unwrap_or_default()
        }

        /// True if it selects a node, or is true.
        pub fn holds(&self, text: &str) -> bool {
            tree(text).xpath(&self.0).is_ok_and(|result| result.as_bool())
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
            brunt_dom::XPath::with_namespaces(path, namespaces)
                .map(Self)
                .map_err(|error| error.to_string())
        }

        /// Returns the selected values in XML.
        pub fn values(&self, xml: &str) -> Vec<String> {
            let document = Document::xml(xml).ok();
            let result = document.as_ref().and_then(|document| document.xpath(&self.0).ok());
            result.map(|result| result.values()).unwrap_or_default()
        }

        /// True if it selects a node of the XML, or is true.
        pub fn holds(&self, xml: &str) -> bool {
            let document = Document::xml(xml).ok();
            document.is_some_and(|document| {
                document.xpath(&self.0).is_ok_and(|result| result.as_bool())
            })
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
