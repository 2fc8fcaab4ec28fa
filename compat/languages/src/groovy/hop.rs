//! Earlier samples as scripts in Groovy see them.

use brunt_groovy::Sample;
use brunt_model::SampleRecord;
use brunt_script::scripting::sampler_data;
use std::borrow::Cow;

/// A request of a redirect chain, or the previous sample.
pub struct Hop<'s>(pub &'s SampleRecord);

fn text(text: Option<&String>) -> Cow<'_, str> {
    Cow::Borrowed(text.map_or("", String::as_str))
}

impl Sample for Hop<'_> {
    fn label(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0.label)
    }

    fn code(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0.code)
    }

    fn message(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0.message)
    }

    fn body(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.0.details.body.as_deref().unwrap_or_default().as_bytes())
    }

    fn response_headers(&self) -> Cow<'_, str> {
        text(self.0.details.response_headers.as_ref())
    }

    fn request_headers(&self) -> Cow<'_, str> {
        text(self.0.details.request_headers.as_ref())
    }

    fn request_data(&self) -> Cow<'_, str> {
        match self.0.details.method.as_deref() {
            // Requests of these methods have no body, so JMeter reports no data.
            Some("GET" | "HEAD" | "OPTIONS" | "TRACE") => "".into(),
            _ => text(self.0.details.query.as_ref()),
        }
    }

    fn sampler_data(&self) -> Cow<'_, str> {
        let (Some(method), Some(url)) = (&self.0.details.method, &self.0.url) else {
            return self.request_data();
        };
        let cookies = self.0.details.cookies.as_deref().unwrap_or_default();
        sampler_data(method, url, &self.request_data(), cookies).into()
    }

    fn method(&self) -> Cow<'_, str> {
        text(self.0.details.method.as_ref())
    }

    fn url(&self) -> Cow<'_, str> {
        text(self.0.url.as_ref())
    }

    fn content_type(&self) -> Cow<'_, str> {
        let fields = self.0.details.response_headers.iter().flat_map(|headers| headers.lines());
        let field = fields
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        field.map_or("", |(_, value)| value.trim()).into()
    }

    fn thread_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0.thread_name)
    }

    fn elapsed_ms(&self) -> i64 {
        self.0.elapsed_millis as i64
    }

    fn latency_ms(&self) -> i64 {
        self.0.latency_millis as i64
    }

    fn connect_ms(&self) -> i64 {
        self.0.connect_millis as i64
    }

    fn start_ms(&self) -> i64 {
        self.0.start_unix_millis as i64
    }

    fn end_ms(&self) -> i64 {
        self.start_ms() + self.elapsed_ms()
    }

    fn received_bytes(&self) -> i64 {
        self.0.bytes as i64
    }

    fn sent_bytes(&self) -> i64 {
        self.0.sent_bytes as i64
    }

    fn success(&self) -> bool {
        self.0.success
    }
}
