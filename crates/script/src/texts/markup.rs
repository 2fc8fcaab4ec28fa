//! CSS selectors and `XPath` expressions on bodies; in a program that is built without them, each is an error before the load.

#[cfg(feature = "dom")]
pub use with_dom::{CssSelector, QualifiedPath, XPath, check_xml};
#[cfg(not(feature = "dom"))]
pub use without_dom::{CssSelector, QualifiedPath, XPath, check_xml};

#[cfg(feature = "dom")]
mod with_dom {
    use brunt_dom::Document;
    use brunt_model::extract::QualifiedXpath;

    /// A CSS selector.
    #[derive(Debug)]
    pub struct CssSelector(brunt_dom::Selector);

    /// An `XPath` 1.0 expression.
    #[derive(Debug)]
    pub struct XPath(brunt_dom::XPath);

    /// A namespace-aware `XPath` 1.0 expression.
    #[derive(Debug)]
    pub struct QualifiedPath(brunt_dom::XPath);

    impl CssSelector {
        /// Parses a selector.
        ///
        /// # Errors
        ///
        /// It is none.
        pub fn parse(selector: &str) -> Result<Self, String> {
            brunt_dom::Selector::parse(selector).map(Self).map_err(|error| error.to_string())
        }

        /// The attribute of each element that it finds in HTML, or its text where the attribute has no name. A page that is too
        /// much work has no matches.
        pub fn values(&self, html: &str, attribute: &str) -> Vec<String> {
            let attribute = Some(attribute).filter(|attribute| !attribute.is_empty());
            Document::html(html).css(&self.0, attribute).unwrap_or_default()
        }
    }

    impl XPath {
        /// Parses an expression.
        ///
        /// # Errors
        ///
        /// It is none.
        pub fn parse(path: &str) -> Result<Self, String> {
            brunt_dom::XPath::parse(path).map(Self).map_err(|error| error.to_string())
        }

        /// The values that it selects in XML, or in HTML.
        pub fn values(&self, text: &str) -> Vec<String> {
            tree(text).xpath(&self.0).map(|found| found.values()).unwrap_or_default()
        }

        /// Whether it finds something, or is true.
        pub fn holds(&self, text: &str) -> bool {
            tree(text).xpath(&self.0).is_ok_and(|found| found.as_bool())
        }
    }

    impl QualifiedPath {
        /// Parses a namespace-aware expression.
        ///
        /// # Errors
        ///
        /// It is none, or a prefix has no URI.
        pub fn parse(path: &QualifiedXpath) -> Result<Self, String> {
            let QualifiedXpath { path, namespaces } = path;
            brunt_dom::XPath::with_namespaces(path, namespaces).map(Self).map_err(|error| error.to_string())
        }

        /// The values that it selects in XML.
        pub fn values(&self, xml: &str) -> Vec<String> {
            let document = Document::xml(xml).ok();
            let result = document.as_ref().and_then(|document| document.xpath(&self.0).ok());
            result.map(|result| result.values()).unwrap_or_default()
        }

        /// Whether it selects a node of the XML, or is true.
        pub fn holds(&self, xml: &str) -> bool {
            let document = Document::xml(xml).ok();
            document.is_some_and(|document| document.xpath(&self.0).is_ok_and(|found| found.as_bool()))
        }
    }

    /// A text as XML, or as HTML where it is none.
    fn tree(text: &str) -> Document {
        Document::xml(text).unwrap_or_else(|_| Document::html(text))
    }

    /// Reads a text as XML.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn check_xml(text: &str) -> Result<(), String> {
        Document::xml(text).map(|_| ()).map_err(|error| error.to_string())
    }
}

#[cfg(not(feature = "dom"))]
mod without_dom {
    use brunt_model::extract::QualifiedXpath;

    /// Never made.
    #[derive(Debug)]
    pub enum CssSelector {}

    /// Never made.
    #[derive(Debug)]
    pub enum XPath {}

    /// Never made.
    #[derive(Debug)]
    pub enum QualifiedPath {}

    fn not_built<T>(what: &str) -> Result<T, String> {
        let how = "released programs have it, and `cargo build --release -p brunt-cli` builds one";
        Err(format!("this brunt was built without {what}; {how}"))
    }

    impl CssSelector {
        /// Refuses it.
        ///
        /// # Errors
        ///
        /// Always.
        pub fn parse(_: &str) -> Result<Self, String> {
            not_built("CSS selectors")
        }

        /// Nothing.
        pub fn values(&self, _: &str, _: &str) -> Vec<String> {
            match *self {}
        }
    }

    impl XPath {
        /// Refuses it.
        ///
        /// # Errors
        ///
        /// Always.
        pub fn parse(_: &str) -> Result<Self, String> {
            not_built("XPath")
        }

        /// Nothing.
        pub fn values(&self, _: &str) -> Vec<String> {
            match *self {}
        }

        /// Nothing.
        pub fn holds(&self, _: &str) -> bool {
            match *self {}
        }
    }

    impl QualifiedPath {
        /// Refuses it.
        ///
        /// # Errors
        ///
        /// Always.
        pub fn parse(_: &QualifiedXpath) -> Result<Self, String> {
            not_built("XPath")
        }

        /// Nothing.
        pub fn values(&self, _: &str) -> Vec<String> {
            match *self {}
        }

        /// Nothing.
        pub fn holds(&self, _: &str) -> bool {
            match *self {}
        }
    }

    /// Refuses it.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn check_xml(_: &str) -> Result<(), String> {
        not_built("XML assertions")
    }
}
