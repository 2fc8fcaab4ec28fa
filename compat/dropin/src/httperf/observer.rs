//! Prints the exchanges of `--print-request` and `--print-reply`: heads line
//! by line, bodies, and sizes.

use super::args::{HttperfArgs, PrintParts};
use super::output::ReportOutput;
use crate::witness::Witness;
use brunt_wire::tls::Handshake;
use brunt_wire::{Prepared, ReplyDetails};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The witness that prints exchanges.
pub struct ExchangePrinter {
    request: Option<PrintParts>,
    reply: Option<PrintParts>,
    output: Arc<ReportOutput>,
    request_count: AtomicU64,
    reply_count: AtomicU64,
}

impl ExchangePrinter {
    /// Creates a printer if an option requests it.
    pub fn new(args: &HttperfArgs, output: &Arc<ReportOutput>) -> Option<Arc<Self>> {
        let request = args.print_request;
        let reply = args.print_reply;
        let printer = Self {
            request,
            reply,
            output: Arc::clone(output),
            request_count: AtomicU64::default(),
            reply_count: AtomicU64::default(),
        };
        (request.is_some() || reply.is_some()).then(|| Arc::new(printer))
    }
}

impl Witness for ExchangePrinter {
    fn on_handshake(&self, _: &Handshake) {}

    fn needs_heads(&self) -> bool {
        true
    }

    fn on_request(&self, request: &Prepared) {
        let Some(parts) = self.request else { return };
        let number = self.request_count.fetch_add(1, Ordering::Relaxed);
        let bytes = request.bytes();
        let head = head_of(&bytes);
        let mut out = if parts.header { lines(&format!("SH{number}:"), head) } else { Vec::new() };
        let body = bytes.len() - head.len();
        out.extend(format!("SS{number}: header {} content {body}\n", head.len()).bytes());
        self.output.write(&out);
    }

    fn on_reply(&self, _: &Prepared, details: &ReplyDetails) {
        let Some(parts) = self.reply else { return };
        let number = self.reply_count.fetch_add(1, Ordering::Relaxed);
        let head = head_of(&details.first_bytes);
        let mut out = if parts.header { lines(&format!("RH{number}:"), head) } else { Vec::new() };
        if parts.body && !details.body.is_empty() {
            // A line break at the end does not start another line.
            let body = details.body.strip_suffix(b"\n").unwrap_or(&details.body);
            out.extend(body.split(|byte| *byte == b'\n').flat_map(|line| body_line(number, line)));
        }
        // As in the report: the two bytes of the last line.
        let footer = if is_chunked(head) { 2 } else { 0 };
        out.extend(
            format!(
                "RS{number}: header {} content {} footer {footer}\n",
                head.len(),
                details.body.len()
            )
            .bytes(),
        );
        self.output.write(&out);
    }
}

/// The bytes up to and including the blank line.
fn head_of(bytes: &[u8]) -> &[u8] {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(bytes, |end| &bytes[..end + 4])
}

/// Prefixes each line of a head. Like httperf, it keeps the carriage returns.
fn lines(mark: &str, head: &[u8]) -> Vec<u8> {
    head.split_inclusive(|byte| *byte == b'\n')
        .flat_map(|line| [mark.as_bytes(), line].concat())
        .collect()
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
        assert!(
            is_chunked(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                && !is_chunked(head)
        );
    }
}
