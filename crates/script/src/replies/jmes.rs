//! Compiles `JMESPath` expressions, and searches JSON with them.

use serde_json::Value;

/// An expression, compiled once for many searches.
#[derive(Debug)]
pub struct JmesPath {
    #[cfg(feature = "jmespath")]
    expression: jmespath::Expression<'static>,
}

impl JmesPath {
    /// Compiles the text of an expression.
    #[cfg(feature = "jmespath")]
    pub fn parse(text: &str) -> Result<Self, String> {
        let compiled = jmespath::compile(text.trim());
        let compiled =
            compiled.map_err(|error| format!("`{text}` is no JMESPath: {}", error.reason));
        compiled.map(|expression| Self { expression })
    }

    /// Refuses the expression, because the program was built without the feature.
    ///
    /// # Errors
    ///
    /// Always, because the feature is missing.
    #[cfg(not(feature = "jmespath"))]
    pub fn parse(_: &str) -> Result<Self, String> {
        let how = "released programs have it, and `cargo build --release -p brunt-cli` builds one";
        Err(format!("this brunt was built without JMESPath; {how}"))
    }

    /// Returns the value at the path. Null if there is none, or a function does
    /// not accept its arguments.
    #[cfg(feature = "jmespath")]
    pub fn search(&self, json: &Value) -> Value {
        let value =
            self.expression.search(json).ok().and_then(|value| serde_json::to_value(&*value).ok());
        value.unwrap_or_default()
    }

    /// Never called: without the feature no expression is compiled.
    #[cfg(not(feature = "jmespath"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub fn search(&self, _: &Value) -> Value {
        Value::Null
    }
}

#[cfg(test)]
#[cfg(feature = "jmespath")]
mod tests {
    use super::*;

    #[test]
    fn values_are_extracted_in_their_spelling() {
        let json = r#"{"a": [{"id": 1, "n": "x"}, {"id": 2.5, "n": "y"}], "none": null, "big": 12345678901234}"#;
        let json: Value = serde_json::from_str(json).unwrap();
        for (path, expected) in [
            ("a[0].id", "1"),
            ("a[*].id", "[1,2.5]"),
            ("a[?n=='y'].id | [0]", "2.5"),
            ("a[].n", r#"["x","y"]"#),
            ("length(a)", "2"),
            ("none", "null"),
            ("missing.x", "null"),
            ("big", "12345678901234"),
            ("length(big)", "null"),
        ] {
            assert_eq!(
                JmesPath::parse(path).unwrap().search(&json).to_string(),
                expected,
                "{path}"
            );
        }
        assert!(JmesPath::parse("a[").unwrap_err().starts_with("`a[` is no JMESPath: "));
    }
}
