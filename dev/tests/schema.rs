//! Validates JSON against a schema; nothing is fetched.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

const NAME: &str = "schema.json";

/// A compiled schema.
pub struct SchemaValidator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl SchemaValidator {
    /// Compiles a schema. Panics if it is invalid.
    pub fn new(schema: Value) -> Self {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.add_resource(NAME, schema).expect("a schema");
        let index = compiler.compile(NAME, &mut schemas).expect("a valid schema");
        Self { schemas, index }
    }

    /// Returns all errors with their places, if the value does not match the schema.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.index).map_err(|error| error.to_string())
    }
}
