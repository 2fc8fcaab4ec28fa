//! What `--print-request` and `--print-reply` show: heads line by line, bodies, and how long they are.

use super::args::{Args, PrintParts};
use super::paper::Paper;
use brunt_runner::witness::Witness;
use brunt_wire::tls::Handshake;
use brunt_wire::{Kept, Prepared};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Who looks on.
pub struct Onlooker {
    request: Option<PrintParts>,
    reply: Option<PrintParts>,
    paper: Arc<Paper>,
    asked: AtomicU64,
    replied: AtomicU64,
}

impl Onlooker {
    /// When there is something to show.
    pub fn of(args: &Args, paper: &Arc<Paper>) -> Option<Arc<Self>> {
        let (request, reply) = (args.print_request, args.print_reply);
        let (asked, replied) = (AtomicU64::default(), AtomicU64::default());
        let paper = Arc::clone(paper);
        (request.is_some() || reply.is_some()).then(|| Arc::new(Self { request, reply, paper, asked, replied }))
    }
}

impl Witness for Onlooker {
    fn agreed(&self, _: &Handshake) {}

    fn wants_heads(&self) -> bool {
        true
    }

    fn asked(&self, request: &Prepared) {
        let Some(shown) = self.request else { return };
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let bytes = request.bytes();
        let head = head_of(&bytes);
        let mut out = if shown.header { lines(&format!("SH{number}:"), head) } else { Vec::new() };
        let body = bytes.len() - head.len();
        out.extend(format!("SS{number}: header {} content {body}\n", head.len()).bytes());
        self.paper.write(&out);
    }

    fn replied(&self, _: &Prepared, kept: &Kept) {
        let Some(shown) = self.reply else { return };
        let number = self.replied.fetch_add(1, Ordering::Relaxed);
        let head = head_of(&kept.first_bytes);
        let mut out = if shown.header { lines(&format!("RH{number}:"), head) } else { Vec::new() };
        if shown.body && !kept.body.is_empty() {
            let body = kept.body.strip_suffix(b"\n").unwrap_or(&kept.body);
            out.extend(body.split(|byte| *byte == b'\n').flat_map(|line| body_line(number, line)));
        }
        let footer = if is_chunked(head) { 2 } else { 0 };
        out.extend(format!("RS{number}: header {} content {} footer {footer}\n", head.len(), kept.body.len()).bytes());
        self.paper.write(&out);
    }
}

/// The bytes up to the blank line, with it.
fn head_of(bytes: &[u8]) -> &[u8] {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(bytes, |end| &bytes[..end + 4])
}

/// The lines of a head, as they are: httperf prints their carriage returns, too.
fn lines(mark: &str, head: &[u8]) -> Vec<u8> {
    head.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [mark.as_bytes(), line].concat()).collect()
}

fn body_line(number: u64, line: &[u8]) -> Vec<u8> {
    [format!("RB{number}:").as_bytes(), line, b"\n"].concat()
}

fn is_chunked(head: &[u8]) -> bool {
    String::from_utf8_lossy(head).to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_shown_line_by_line() {
        let head = head_of(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody");
        assert_eq!(lines("RH0:", head), b"RH0:HTTP/1.1 200 OK\r\nRH0:A: b\r\nRH0:\r\n");
        assert!(is_chunked(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") && !is_chunked(head));
    }
}
