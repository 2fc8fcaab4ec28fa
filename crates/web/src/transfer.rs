//! Transfer of archives between the network and temporary files, with bounded size and time.

use crate::layout::Problem;
use crate::shared::{READ_TIMEOUT, Shared};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Maximum time until a transfer may begin, and of a whole archive.
const MAX_WAIT: Duration = Duration::from_secs(20);
const MAX_TRANSFER: Duration = Duration::from_mins(15);

/// Bytes of a write to the disk, and of a part of a reply.
const PART_BYTES: usize = 256 << 10;

/// Waits until a transfer may begin.
///
/// # Errors
///
/// There are too many transfers.
pub async fn place(shared: &Shared) -> Result<OwnedSemaphorePermit, Problem> {
    let places = Arc::clone(&shared.transfers);
    let place = timeout(MAX_WAIT, places.acquire_owned()).await;
    place.ok().and_then(Result::ok).ok_or_else(|| Problem {
        status: StatusCode::SERVICE_UNAVAILABLE,
        text: "Other archives are being transferred; try again in a minute.".into(),
    })
}

/// Creates a file beside the store, which is removed when it is dropped.
///
/// # Errors
///
/// The disk does not allow it.
pub fn temporary_file(shared: &Shared) -> Result<NamedTempFile, Problem> {
    // On the disk of the store: an archive may be larger than the memory of `/tmp`.
    NamedTempFile::new_in(shared.directory.join("incoming"))
        .map_err(|error| Problem::internal(&error))
}

/// Writes the content of a request to a temporary file.
///
/// # Errors
///
/// It is too large or too slow, or the disk is full.
pub async fn receive(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    body: Body,
    max_bytes: u64,
) -> Result<NamedTempFile, Problem> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    // An early refusal saves the transfer.
    let length: u64 = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > max_bytes {
        return Err(too_large(max_bytes));
    }
    let shared = Arc::clone(shared);
    let file = spawn_blocking(move || temporary_file(&shared)).await;
    let file = file.map_err(|error| Problem::internal(&error))??;
    let received = timeout(MAX_TRANSFER, write_body(body, file, max_bytes)).await;
    received.unwrap_or_else(|_| Err(too_slow()))
}

async fn write_body(
    body: Body,
    mut file: NamedTempFile,
    max_bytes: u64,
) -> Result<NamedTempFile, Problem> {
    let mut body = body.into_data_stream();
    let mut total = 0;
    let mut parts: Vec<Bytes> = Vec::new();
    let mut waiting = 0;
    loop {
        // A peer that sends nothing must not keep its place for the time of a whole archive.
        let part = timeout(READ_TIMEOUT, body.next()).await.map_err(|_| too_slow())?;
        let is_end = part.is_none();
        if let Some(part) = part {
            let part = part.map_err(|_| {
                Problem::bad_request("The connection broke before the end of the archive.")
            })?;
            total += part.len() as u64;
            waiting += part.len();
            parts.push(part);
        }
        // A length in the head is only a claim, and chunks have none.
        if total > max_bytes {
            return Err(too_large(max_bytes));
        }
        // Each write needs another thread, and a TLS record has at most 16 KiB (RFC 8446, 5.1).
        if is_end || waiting >= PART_BYTES {
            file = write_parts(file, std::mem::take(&mut parts)).await?;
            waiting = 0;
        }
        if is_end {
            return Ok(file);
        }
    }
}

/// Writes on another thread: a slow disk must not delay other visitors.
async fn write_parts(mut file: NamedTempFile, parts: Vec<Bytes>) -> Result<NamedTempFile, Problem> {
    let written = spawn_blocking(move || {
        parts.iter().try_for_each(|part| file.write_all(part)).map(|()| file)
    });
    let written = written.await.map_err(|error| Problem::internal(&error))?;
    written.map_err(|error| Problem::internal(&error))
}

fn too_large(max_bytes: u64) -> Problem {
    Problem {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        text: format!("An archive has at most {max_bytes} bytes.").into(),
    }
}

fn too_slow() -> Problem {
    Problem {
        status: StatusCode::REQUEST_TIMEOUT,
        text: "The archive did not come in time.".into(),
    }
}

/// A file without a name, and its length.
pub struct UnnamedFile {
    file: File,
    length: u64,
}

impl UnnamedFile {
    /// Opens a file again, whose name is removed when `file` is dropped.
    ///
    /// # Errors
    ///
    /// The disk does not allow it.
    pub fn of(file: &NamedTempFile) -> io::Result<Self> {
        let length = file.as_file().metadata()?.len();
        Ok(Self { file: file.reopen()?, length })
    }
}

/// Returns a file as a reply, in parts.
pub fn send(file: UnnamedFile, place: OwnedSemaphorePermit) -> Response {
    let UnnamedFile { file, length } = file;
    let media_type = HeaderValue::from_static("application/octet-stream");
    let headers =
        [(header::CONTENT_TYPE, media_type), (header::CONTENT_LENGTH, HeaderValue::from(length))];
    (headers, Body::from_stream(parts(file, place))).into_response()
}

fn parts(file: File, place: OwnedSemaphorePermit) -> impl Stream<Item = io::Result<Bytes>> {
    // The sender is dropped with the stream.
    let (stream_end, ended) = oneshot::channel::<()>();
    tokio::spawn(async move {
        // A peer that takes a byte now and then must not keep its place.
        let _ = timeout(MAX_TRANSFER, ended).await;
        drop(place);
    });
    stream::try_unfold(Some((file, stream_end)), async |state| {
        let Some((mut file, stream_end)) = state else { return Ok(None) };
        // A read of a regular file can block, and epoll(7) does not support it.
        let read = spawn_blocking(move || {
            let mut part = Vec::new();
            Read::by_ref(&mut file).take(PART_BYTES as u64).read_to_end(&mut part)?;
            Ok::<_, io::Error>((part, file))
        });
        let (part, file) = read.await.map_err(io::Error::other)??;
        if part.is_empty() {
            return Ok(None);
        }
        Ok(Some((Bytes::from(part), Some((file, stream_end)))))
    })
}
