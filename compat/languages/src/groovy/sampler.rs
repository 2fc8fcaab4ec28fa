//! Implements `sampler` of Groovy scripts: the next request, or the last one that was sent.

use brunt_groovy::{Argument, Header, Request, UrlPart};
use brunt_script::scripting::{RequestArgument, RequestPart, ScriptedRequest};
use std::borrow::Cow;

/// A request. Changes of a request that was already sent have no effect.
pub struct ScriptSampler<'s>(pub ScriptedRequest<'s>);

fn request_part(part: UrlPart) -> Option<RequestPart> {
    Some(match part {
        UrlPart::Protocol => RequestPart::Protocol,
        UrlPart::Domain => RequestPart::Domain,
        UrlPart::Port => RequestPart::Port,
        UrlPart::Path => RequestPart::Path,
        UrlPart::Method => RequestPart::Method,
        UrlPart::Name => RequestPart::Name,
        // A request has no separate encoding.
        UrlPart::Encoding => return None,
    })
}

impl Request for ScriptSampler<'_> {
    fn part(&self, part: UrlPart) -> Cow<'_, str> {
        let ScriptedRequest { pending, texts } = &self.0;
        request_part(part).map_or("", |part| pending.part(part, *texts)).into()
    }

    fn set_part(&mut self, part: UrlPart, value: &str) {
        let ScriptedRequest { pending, texts } = &mut self.0;
        if let Some(part) = request_part(part) {
            pending.set_part(part, value, *texts);
        }
    }

    fn arguments(&self) -> Vec<Argument> {
        let arguments = self.0.pending.arguments(self.0.texts).iter().cloned();
        arguments
            .map(|RequestArgument { name, value, encode, .. }| Argument { name, value, encode })
            .collect()
    }

    fn set_arguments(&mut self, arguments: Vec<Argument>) {
        let arguments = arguments.into_iter();
        let arguments = arguments.map(|Argument { name, value, encode }| RequestArgument {
            name,
            value,
            encode,
            is_bare: false,
        });
        self.0.pending.set_arguments(arguments.collect(), self.0.texts);
    }

    fn raw_body(&self) -> bool {
        self.0.pending.is_raw(self.0.texts)
    }

    fn set_raw_body(&mut self, raw: bool) {
        self.0.pending.set_raw(raw, self.0.texts);
    }

    fn headers(&self) -> Vec<Header> {
        let headers = self.0.pending.headers(self.0.texts).iter().cloned();
        headers.map(|(name, value)| Header { name, value }).collect()
    }

    fn set_headers(&mut self, headers: Vec<Header>) {
        let headers = headers.into_iter().map(|Header { name, value }| (name, value));
        self.0.pending.set_headers(headers.collect(), self.0.texts);
    }

    fn url(&self) -> String {
        self.0.pending.whole_url(self.0.texts)
    }
}
