//! What to ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One request, as the user wrote it. URL, header values and a text body may hold placeholders such as `{n}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The name under which its samples are reported; the URL where none was given.
    pub label: String,
    /// GET, POST, …
    pub method: String,
    /// An absolute http or https URL.
    pub url: String,
    /// Header names and values, in the order of the wire. Host, Content-Length and Connection are added where absent.
    pub headers: Vec<(String, String)>,
    /// What is sent behind the head.
    pub body: Body,
    /// How often it is asked, against the others of a list.
    pub weight: u32,
    /// All of its bytes, head and body, sent as they are in place of what the other fields say, without placeholders; null:
    /// brunt writes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<Vec<u8>>,
    /// What is made of its reply: a number of the plan's policies.
    #[serde(default, skip_serializing_if = "is_first")]
    pub reply_policy: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_first(number: &u32) -> bool {
    *number == 0
}

impl Request {
    /// A GET of this URL, reported under it.
    pub fn get(url: &str) -> Self {
        let (label, method, url) = (url.to_owned(), "GET".to_owned(), url.to_owned());
        Self { label, method, url, headers: Vec::new(), body: Body::None, weight: 1, verbatim: None, reply_policy: 0 }
    }
}

/// What is sent behind the head of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Nothing; no Content-Length either.
    #[default]
    None,
    /// Text; placeholders are filled in.
    Text(String),
    /// Bytes, sent as they are.
    Bytes(Vec<u8>),
}
