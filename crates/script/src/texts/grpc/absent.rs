//! Stubs of a program without gRPC.

use super::{MessageRules, MessageSource};
use brunt_model::Body;
use std::convert::Infallible;

const NOT_BUILT: &str = "this brunt was built without gRPC; build it with the feature `grpc`";

/// The services of a plan. No value exists.
#[derive(Debug)]
pub struct Services(Infallible);

impl Services {
    /// Refuses descriptors, because the program was built without gRPC.
    ///
    /// # Errors
    ///
    /// Always, because the feature is missing.
    pub fn decode(_: &[u8]) -> Result<Self, String> {
        Err(NOT_BUILT.to_owned())
    }

    /// Refuses descriptors, because the program was built without gRPC.
    ///
    /// # Errors
    ///
    /// Always, because the feature is missing.
    pub fn merged(_: &[u8], _: &[u8]) -> Result<Vec<u8>, String> {
        Err(NOT_BUILT.to_owned())
    }

    /// Never called, because no value exists.
    ///
    /// # Errors
    ///
    /// Never: there are no services.
    pub fn body(&self, _: &str, _: MessageSource<'_>, _: MessageRules) -> Result<Body, String> {
        match self.0 {}
    }

    /// Never called, because no value exists.
    ///
    /// # Errors
    ///
    /// Never: there are no services.
    pub fn describe(&self, _: Option<&str>) -> Result<String, String> {
        match self.0 {}
    }

    /// Never called, because no value exists.
    pub fn reply(&self, _: &str, _: &[u8]) -> Option<String> {
        match self.0 {}
    }

    /// Never called, because no value exists.
    pub fn request(&self, _: &str, _: &[u8]) -> Option<String> {
        match self.0 {}
    }
}
