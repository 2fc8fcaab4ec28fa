//! A program without gRPC.

use super::MessageRules;
use brunt_model::Body;
use std::convert::Infallible;

const WITHOUT: &str = "this brunt was built without gRPC; build it with the feature `grpc`";

/// The services of a plan: there are none.
#[derive(Debug)]
pub struct Services(Infallible);

impl Services {
    /// See the module.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn decode(_: &[u8]) -> Result<Self, String> {
        Err(WITHOUT.to_owned())
    }

    /// See the module.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn merged(_: &[u8], _: &[u8]) -> Result<Vec<u8>, String> {
        Err(WITHOUT.to_owned())
    }

    /// See the module.
    ///
    /// # Errors
    ///
    /// Never: there are no services.
    pub fn body(&self, _: &str, _: &[u8], _: MessageRules) -> Result<Body, String> {
        match self.0 {}
    }

    /// See the module.
    ///
    /// # Errors
    ///
    /// Never: there are no services.
    pub fn describe(&self, _: Option<&str>) -> Result<String, String> {
        match self.0 {}
    }

    /// See the module.
    pub fn reply(&self, _: &str, _: &[u8]) -> Option<String> {
        match self.0 {}
    }

    /// See the module.
    pub fn request(&self, _: &str, _: &[u8]) -> Option<String> {
        match self.0 {}
    }
}
