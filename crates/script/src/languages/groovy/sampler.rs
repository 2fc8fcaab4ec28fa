//! `sampler` as scripts in Groovy see it: the request that is about to be sent, or that was.

use crate::texts::pending::{RequestArgument, RequestPart, RequestTexts};
use crate::texts::script::Sampler;
use crate::texts::searched::Searched;
use brunt_groovy::{Argument, Header, Request, UrlPart};
use brunt_model::Body;
use std::borrow::Cow;

/// A request. Changes of one that was sent are lost.
pub struct ScriptSampler<'s>(pub Sampler<'s>);

fn part_of(part: UrlPart) -> Option<RequestPart> {
    Some(match part {
        UrlPart::Protocol => RequestPart::Protocol,
        UrlPart::Domain => RequestPart::Domain,
        UrlPart::Port => RequestPart::Port,
        UrlPart::Path => RequestPart::Path,
        UrlPart::Method => RequestPart::Method,
        UrlPart::Name => RequestPart::Name,
        UrlPart::Encoding => return None,
    })
}

impl Request for ScriptSampler<'_> {
    fn part(&self, part: UrlPart) -> Cow<'_, str> {
        let Sampler { pending, texts } = &self.0;
        part_of(part).map_or("", |part| pending.part(part, *texts)).into()
    }

    fn set_part(&mut self, part: UrlPart, value: &str) {
        let Sampler { pending, texts } = &mut self.0;
        if let Some(part) = part_of(part) {
            pending.set_part(part, value, *texts);
        }
    }

    fn arguments(&self) -> Vec<Argument> {
        let of = |RequestArgument { name, value, encode, .. }: RequestArgument| Argument { name, value, encode };
        self.0.pending.arguments(self.0.texts).iter().cloned().map(of).collect()
    }

    fn set_arguments(&mut self, arguments: Vec<Argument>) {
        let of = |Argument { name, value, encode }: Argument| RequestArgument { name, value, encode, is_bare: false };
        self.0.pending.set_arguments(arguments.into_iter().map(of).collect(), self.0.texts);
    }

    fn raw_body(&self) -> bool {
        self.0.pending.is_raw(self.0.texts)
    }

    fn set_raw_body(&mut self, raw: bool) {
        self.0.pending.set_raw(raw, self.0.texts);
    }

    fn headers(&self) -> Vec<Header> {
        let of = |(name, value): (String, String)| Header { name, value };
        self.0.pending.headers(self.0.texts).iter().cloned().map(of).collect()
    }

    fn set_headers(&mut self, headers: Vec<Header>) {
        let headers = headers.into_iter().map(|Header { name, value }| (name, value));
        self.0.pending.set_headers(headers.collect(), self.0.texts);
    }

    fn url(&self) -> String {
        self.0.pending.whole_url(self.0.texts)
    }
}

/// A request that was sent; of a sample that is none, its label.
impl RequestTexts for Searched<'_> {
    fn label(&self) -> String {
        Self::label(self)
    }

    fn method(&self) -> String {
        self.request.parts().map(|parts| parts.method.clone()).unwrap_or_default()
    }

    fn url(&self) -> String {
        self.request.url().to_owned()
    }

    fn headers(&self) -> Vec<(String, String)> {
        self.request.parts().map(|parts| parts.headers.clone()).unwrap_or_default()
    }

    fn body(&self) -> Body {
        self.request.parts().map(|parts| parts.body.clone()).unwrap_or_default()
    }

    fn has_body(&self) -> bool {
        self.request.parts().is_some_and(|parts| parts.body != Body::None)
    }

    fn content_type(&self) -> String {
        let headers = self.request.parts().map(|parts| parts.headers.as_slice()).unwrap_or_default();
        let kind = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        kind.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}
