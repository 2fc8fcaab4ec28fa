//! Encodes requests in HTTP/3.

use super::{frame, qpack};
use crate::origin::OriginId;
use crate::request::fields::RequestFields;
use crate::request::{BadRequest, Prepared, RequestParts, Tags};
use brunt_model::Body;
use brunt_model::plan::HttpVersion;
use bytes::Bytes;
use std::rc::Rc;

/// Encodes a request.
///
/// # Errors
///
/// If a header field contains a character that is not allowed, or if the URL is not https.
pub fn prepare(
    parts: Rc<RequestParts>,
    origin: OriginId,
    tags: Tags,
) -> Result<Prepared, BadRequest> {
    if parts.url.scheme() != "https" {
        return Err(BadRequest::NoTls(parts.url.to_string()));
    }
    let mut request = Prepared::with_fields(parts, origin, tags, HttpVersion::V3)?;
    if let (Some(fields), Some(parts)) = (&request.h2, &request.parts) {
        request.h3 = head_frames(fields, &parts.body);
    }
    Ok(request)
}

/// Returns the frame of a request's head, and the frame header of its body. They were encoded in
/// advance, unless a line was added since.
pub(super) fn request_frames(request: &Prepared, fields: &RequestFields, body: &Body) -> Bytes {
    if request.h3.is_empty() { head_frames(fields, body) } else { request.h3.clone() }
}

/// Returns the bytes of a body, which are not copied if all requests share them.
pub(super) fn body_bytes(body: &Body) -> Bytes {
    Bytes::from_owner(OwnedBody(body.clone()))
}

struct OwnedBody(Body);

impl AsRef<[u8]> for OwnedBody {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes().unwrap_or_default()
    }
}

/// Encodes the frame of a request's head, and the frame header of its body.
fn head_frames(fields: &RequestFields, body: &Body) -> Bytes {
    let mut block = Vec::with_capacity(64);
    let mut out = Vec::with_capacity(80);
    qpack::encode(fields.list.iter(), &mut block);
    frame::put_number(&mut out, frame::HEADERS);
    frame::put_number(&mut out, block.len() as u64);
    out.extend_from_slice(&block);
    if fields.has_body {
        frame::put_number(&mut out, frame::DATA);
        frame::put_number(&mut out, body.bytes().map_or(0, <[u8]>::len) as u64);
    }
    out.into()
}
