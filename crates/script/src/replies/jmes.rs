//! `JMESPath` expressions, and what they find in JSON.

use serde_json::Value;

/// An expression, compiled.
#[derive(Debug)]
pub struct JmesPath {
    #[cfg(feature = "jmespath")]
    expression: jmespath::Expression<'static>,
}

impl JmesPath {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// Why it is none.
    #[cfg(feature = "jmespath")]
    pub fn parse(text: &str) -> Result<Self, String> {
        let told = |error: jmespath::JmespathError| format!("`{text}` is no JMESPath: {}", error.reason);
        jmespath::compile(text.trim()).map(|expression| Self { expression }).map_err(told)
    }

    /// The same without the feature: it is refused.
    ///
    /// # Errors
    ///
    /// This program was built without it.
    #[cfg(not(feature = "jmespath"))]
    pub fn parse(_: &str) -> Result<Self, String> {
        let how = "released programs have it, and `cargo build --release -p brunt-cli` builds one";
        Err(format!("this brunt was built without JMESPath; {how}"))
    }

    /// What it finds; null: nothing, or a function that cannot be called so.
    #[cfg(feature = "jmespath")]
    pub fn search(&self, json: &Value) -> Value {
        let found = self.expression.search(json).ok().and_then(|found| serde_json::to_value(&*found).ok());
        found.unwrap_or_default()
    }

    /// The same without the feature.
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
    fn values_are_found_as_they_are_written() {
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
            assert_eq!(JmesPath::parse(path).unwrap().search(&json).to_string(), expected, "{path}");
        }
        assert!(JmesPath::parse("a[").unwrap_err().starts_with("`a[` is no JMESPath: "));
    }
}
