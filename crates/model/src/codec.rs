//! Encodes and decodes events: for the event log on disk, and for messages of agents (`agent`).
//!
//! A log consists of the eight bytes [`MAGIC`], followed by frames: length (u32, little endian) ·
//! CRC-32 of the payload (u32) · payload (one [`Event`], as a protobuf message of
//! `docs/event-log.proto`). Length and CRC show whether the last frame is incomplete; all frames
//! before it are valid. Only the version of [`MAGIC`] can be read. A new field or kind of the
//! messages needs no new version. The store manages the files.

mod agent;
pub mod texts;
pub(crate) mod wire;

use crate::Event;
use prost::Message;
use std::io::{self, Read, Write};

pub use agent::{
    read_agent_message, read_controller_message, write_agent_message, write_controller_message,
};
pub use wire::Decoded;

/// The first bytes of a log; the last two are the version of its events.
pub const MAGIC: &[u8; 8] = b"BRUNT\x0005";
/// Maximum length of a frame. A longer length means that the log is damaged.
const MAX_FRAME: u32 = 256 << 20;

/// Length of the part of [`MAGIC`] that names the kind of file; the version follows.
const KIND_LENGTH: usize = 6;

/// Checks the first bytes of a log.
///
/// # Errors
///
/// [`LogError::NotALog`] if the file is of another kind, [`LogError::OtherVersion`] if its version
/// is not that of `expected`.
pub fn check_magic(found: &[u8; 8], expected: &[u8; 8]) -> Result<(), LogError> {
    let (kind, version) = found.split_at(KIND_LENGTH);
    let (expected_kind, expected_version) = expected.split_at(KIND_LENGTH);
    // The kind comes first: another kind of file has no version.
    if kind != expected_kind {
        return Err(LogError::NotALog);
    }
    if version == expected_version {
        return Ok(());
    }
    Err(LogError::OtherVersion {
        found: String::from_utf8_lossy(version).into_owned(),
        readable: String::from_utf8_lossy(expected_version).into_owned(),
    })
}

/// Error that ends the reading of a log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file does not begin with [`MAGIC`].
    #[error("unsupported file format: not an event log of brunt")]
    NotALog,
    /// The file is an event log of another version.
    #[error(
        "event log of version `{}`; this brunt reads version `{readable}`. Read it with the brunt that wrote it",
        found.escape_default()
    )]
    OtherVersion {
        /// Version in the file.
        found: String,
        /// Version that this brunt reads.
        readable: String,
    },
    /// A frame is incomplete or damaged, after this number of valid events.
    #[error("the event log is damaged after {0} events; those before are whole")]
    Torn(u64),
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes events to a log.
pub struct LogWriter<W> {
    out: W,
}

impl<W: Write> LogWriter<W> {
    /// Starts a log with its first bytes.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out })
    }

    /// Appends one event and flushes the output.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        self.out.write_all(&frame(&encode(event)?)?)?;
        // A killed run leaves all its events only if each is flushed.
        self.out.flush()
    }
}

/// Reads the events of a log, up to the first incomplete one.
pub struct LogReader<R> {
    from: R,
    read: u64,
    skipped: u64,
}

impl<R: Read> LogReader<R> {
    /// Opens a log and checks its first bytes.
    ///
    /// # Errors
    ///
    /// `from` cannot be read, is not an event log, or has another version.
    pub fn new(mut from: R) -> Result<Self, LogError> {
        let mut magic = [0; 8];
        // A file shorter than the magic number is no log either.
        from.read_exact(&mut magic).map_err(|_| LogError::NotALog)?;
        check_magic(&magic, MAGIC)?;
        Ok(Self { from, read: 0, skipped: 0 })
    }

    /// Reads the next event of a known kind; None at the end.
    ///
    /// # Errors
    ///
    /// The log cannot be read, or the payload of a valid frame is not an event.
    pub fn next_event(&mut self) -> Result<Option<Event>, LogError> {
        loop {
            let torn = LogError::Torn(self.read);
            let payload = match read_frame(&mut self.from)? {
                Frame::End => return Ok(None),
                Frame::Torn => return Err(torn),
                Frame::Whole(payload) => payload,
            };
            self.read += 1;
            match decode(&payload).ok_or(torn)? {
                Decoded::Known(event) => return Ok(Some(event)),
                // A later version may add kinds, so an unknown one is counted and is no error.
                Decoded::Unknown => self.skipped += 1,
            }
        }
    }

    /// Number of events skipped so far, since a later version wrote them and their kind is unknown.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Encodes an event as the payload of a frame.
///
/// # Errors
///
/// The plan or the environment of the event cannot be encoded as JSON.
pub fn encode(event: &Event) -> io::Result<Vec<u8>> {
    Ok(wire::event_message(event)?.encode_to_vec())
}

/// Decodes an event; None if the payload is damaged.
pub fn decode(payload: &[u8]) -> Option<Decoded<Event>> {
    wire::event(wire::Event::decode(payload).ok()?)
}

/// Adds length and CRC in front of a payload.
///
/// # Errors
///
/// The payload exceeds the maximum length.
pub fn frame(payload: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(payload.len())
        .ok()
        .filter(|length| *length <= MAX_FRAME)
        .ok_or_else(too_long)?;
    let mut frame = Vec::with_capacity(payload.len() + 8);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    frame.extend_from_slice(payload);
    Ok(frame)
}

/// Result of reading a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// The payload of a valid frame.
    Whole(Vec<u8>),
    /// The frame is incomplete or damaged.
    Torn,
    /// The input has ended.
    End,
}

/// Reads the next frame.
pub fn read_frame(from: &mut impl Read) -> io::Result<Frame> {
    let mut head = [0; 8];
    match read_full(from, &mut head)? {
        0 => return Ok(Frame::End),
        8 => {}
        _ => return Ok(Frame::Torn),
    }
    let [a, b, c, d, e, f, g, h] = head;
    let length = u32::from_le_bytes([a, b, c, d]);
    let crc = u32::from_le_bytes([e, f, g, h]);
    let mut payload = Vec::new();
    // `take` allocates as the data arrives, so a damaged length does not allocate 256 MiB.
    let received =
        from.by_ref().take(u64::from(length.min(MAX_FRAME))).read_to_end(&mut payload)?;
    let is_valid = received == length as usize && crc32fast::hash(&payload) == crc;
    Ok(if is_valid { Frame::Whole(payload) } else { Frame::Torn })
}

fn too_long() -> io::Error {
    io::Error::other("an event of more than 256 MiB")
}

/// Reads until the buffer is full or the input ends. Returns the number of bytes.
// `read_exact` leaves the number of bytes read unspecified after an error. Here 0 bytes are the end
// of the log, and fewer than requested are a torn frame.
fn read_full(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match from.read(&mut into[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mark, Plan, Snapshot, Tick, Warning};

    fn plan() -> Plan {
        let text = r#"{
            "populations": [{"name": "main", "scenario": {"requests": [{"label": "/", "method": "GET", "url": "http://h/",
                "headers": [["A", "b"]], "body": {"text": "x"}, "weight": 1}], "steps": [{"next": "sequence"}]},
            "load": {"model": "open", "rate": {"stages": [{"from": 0.5, "to": 2.0, "duration_seconds": 1.0}]},
                "arrivals": {"burst": 3}, "connections": null, "max_in_flight": 9},
            "stop": {"warmup_seconds": 0.0, "duration_seconds": 1.0, "requests": null, "grace_seconds": 5.0}}],
            "connection": {"http": "1.1", "requests_per_connection": 1, "retry_stale": true, "timeout_seconds": 30.0,
                "connect_timeout_seconds": 10.0, "connect_rate": 5000, "resolve": [], "resolve_every_seconds": null,
                "proxy": null, "unix_socket": null, "source": ["127.0.0.2"], "receive_rate": null, "tls":
                {"cacert": null, "cert": null, "key": null, "insecure": true, "sni": null, "no_resumption": false}},
            "reply_policies": [{"checks": {"status": [{"least": 200, "most": 299}], "body": null, "same_length": false}}],
            "objectives": [{"metric": {"quantile": 0.99}, "relation": "below", "bound": 0.05}],
            "record": {"interval_seconds": 0.1, "labels": 1000, "samples": false}, "seed": 7, "threads": 1, "processes": 1, "precise": false}"#;
        serde_json::from_str(text).unwrap()
    }

    fn events() -> Vec<Event> {
        let mut snapshot = Snapshot { from: Tick(5), to: Tick(9), ..Snapshot::default() };
        snapshot.measured.response.record(123_456_789);
        snapshot.label(3).statuses.add(404, 7);
        vec![
            Event::Started {
                plan: Box::new(plan()),
                environment: Box::default(),
                unix_seconds: 1.5,
            },
            Event::Label { id: 0, name: "/".into(), hop_of: None },
            Event::Snapshot(Box::new(snapshot)),
            Event::Warning(Warning { at: Tick(10), text: "slow".into() }),
            Event::Mark(Mark { at: Tick(12), text: "deployed".into() }),
        ]
    }

    fn log() -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = LogWriter::new(&mut out).unwrap();
        for e in events() {
            writer.write(&e).unwrap();
        }
        out
    }

    fn read_all(bytes: &[u8]) -> (Vec<Event>, Option<LogError>) {
        let mut reader = LogReader::new(bytes).unwrap();
        let mut got = Vec::new();
        loop {
            match reader.next_event() {
                Ok(Some(e)) => got.push(e),
                Ok(None) => return (got, None),
                Err(e) => return (got, Some(e)),
            }
        }
    }

    #[test]
    fn written_data_are_read_back() {
        let (got, error) = read_all(&log());
        assert!(error.is_none());
        assert_eq!(got, events());
    }

    #[test]
    fn a_truncated_log_gives_its_complete_events() {
        let whole = log();
        for cut in 8..whole.len() {
            let (got, _) = read_all(&whole[..cut]);
            assert!(events().starts_with(&got));
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let (got, error) = read_all(&flipped);
        assert_eq!(got.len(), 4);
        assert!(matches!(error, Some(LogError::Torn(4))));
    }

    #[test]
    fn other_files_are_refused() {
        assert!(matches!(LogReader::new(&b"GIF89a......"[..]), Err(LogError::NotALog)));
    }
}
