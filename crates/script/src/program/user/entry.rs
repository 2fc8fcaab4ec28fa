//! Fills in the texts of a listed request for a user.

use super::{CompiledRequest, WorkerScript};
use crate::texts::context::UserContext;
use crate::texts::pending::{RequestTexts, SentParts};
use crate::texts::template::Template;
use brunt_model::request::JsonMessage;
use brunt_model::{Body, BodyFragment, Request};
use brunt_wire::Transport;
use std::borrow::Cow;

/// The texts of an entry for one request of a user.
pub struct EntryTexts<'e, T: Transport> {
    pub script: &'e WorkerScript<T>,
    /// The request of the plan.
    pub request: &'e Request,
    pub compiled: &'e CompiledRequest,
    /// Number of the request in the run.
    pub n: u64,
    /// The user that sends it.
    pub user: Option<&'e UserContext>,
}

impl<'e, T: Transport> EntryTexts<'e, T> {
    fn text(&self, template: Option<&'e Template>, plan_text: &'e str) -> Cow<'e, str> {
        let Some(template) = template else { return Cow::Borrowed(plan_text) };
        match template.as_constant() {
            Some(constant) => Cow::Borrowed(constant),
            None => Cow::Owned(self.script.text(template, self.n, self.user)),
        }
    }

    /// Fills in a text that is sent, so that its variables must have values.
    fn sent_text(&self, template: Option<&'e Template>, plan_text: &'e str) -> Cow<'e, str> {
        // A label or a condition of the step may have been filled in before.
        let unset_variables = &self.script.context.unset_variables;
        unset_variables.of_request(|| self.text(template, plan_text))
    }

    /// Fills in all texts. The order matters, because functions in them have side effects.
    pub fn parts(&self) -> SentParts<'e> {
        let label = self.filled_label();
        let url = self.filled_url();
        let headers = self.headers();
        let body = self.body();
        SentParts { label, method: self.method(), url, headers, body }
    }

    fn filled_label(&self) -> Cow<'e, str> {
        self.text(self.compiled.templates.as_ref().map(|all| &all.label), &self.request.label)
    }

    fn filled_url(&self) -> Cow<'e, str> {
        self.sent_text(self.compiled.templates.as_ref().map(|all| &all.url), &self.request.url)
    }
}

impl<T: Transport> RequestTexts for EntryTexts<'_, T> {
    fn label(&self) -> String {
        self.filled_label().into_owned()
    }

    fn method(&self) -> String {
        self.request.method.clone()
    }

    fn url(&self) -> String {
        self.filled_url().into_owned()
    }

    fn headers(&self) -> Vec<(String, String)> {
        let Some(templates) = &self.compiled.templates else { return self.request.headers.clone() };
        templates
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), self.sent_text(Some(value), "").into_owned()))
            .collect()
    }

    fn body(&self) -> Body {
        let templates = self.compiled.templates.iter().flat_map(|all| &all.bodies);
        let mut texts = templates.map(|template| self.sent_text(Some(template), "").into_owned());
        match &self.request.body {
            Body::Mixed(fragments) => {
                let bytes = fragments.iter().flat_map(|fragment| match fragment {
                    BodyFragment::Text(_) => texts.next().unwrap_or_default().into_bytes(),
                    BodyFragment::Bytes(bytes) => bytes.clone(),
                });
                Body::from_bytes(bytes.collect())
            }
            body => match (texts.next(), body) {
                (Some(json), Body::Message(message)) => {
                    Body::Message(JsonMessage { json, ..message.clone() })
                }
                (Some(text), _) => Body::from_text(text),
                (None, _) => body.clone(),
            },
        }
    }

    fn has_body(&self) -> bool {
        self.request.body != Body::None
    }

    fn content_type(&self) -> String {
        let kind = self
            .request
            .headers
            .iter()
            .find(|header| header.0.eq_ignore_ascii_case("content-type"));
        kind.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}
