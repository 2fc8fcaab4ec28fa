//! What virtual users make of replies before they go on, as a browser does.

use crate::Request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a user makes of replies, each request that follows from one being a request of its own, with a sample of its own.
/// Cookies are always kept, by each user its own. There are no placeholders in the requests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Browsing {
    /// What is asked by a user once, before all else: by user i the i-th of them, from the beginning again after the last.
    pub first: Vec<Request>,
    /// Redirects followed one after the other, at most.
    pub redirects: u32,
    /// What pages are made of is asked for too; null: it is not.
    pub elements: Option<Elements>,
    /// Who we are, where a server or proxy wants to know.
    pub credentials: Vec<Credentials>,
    /// How often one request is asked in all while the reply is 401 or 407, with credentials where some are known.
    pub attempts: u32,
    /// What was got before is asked for only if it has changed since.
    pub revalidate: bool,
    /// Cookies are forgotten whenever the list of requests was gone through.
    pub forgetful: bool,
}

/// What pages are made of: images, style sheets, scripts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Elements {
    /// None are asked for of hosts whose names hold one of these.
    pub not_from: Vec<String>,
}

/// Who we are, where a server wants to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credentials {
    /// For this realm; null: for any that has none of its own.
    pub realm: Option<String>,
    /// The name.
    pub user: String,
    /// The password.
    pub password: String,
}
