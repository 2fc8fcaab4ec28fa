//! Evaluates and checks the header fields of a reply (RFC 9113 section 8.2, RFC 9114 section 4.2).

use brunt_model::outcome::{CallErrorFields, MalformedReply};

/// The evaluated header fields of a reply.
#[derive(Debug, Default)]
pub struct ReplyFields {
    pub status: Option<u16>,
    pub announced: Option<u64>,
    pub grpc_status: Option<u16>,
    /// Message and details of the status of gRPC; None for most replies.
    pub call_error: Option<Box<CallErrorFields>>,
    pub encoded: bool,
    /// True if a field that is not a pseudo-header was received.
    has_regular: bool,
    pub has_pseudo: bool,
    pub error: Option<MalformedReply>,
    pub size: usize,
}

impl ReplyFields {
    /// Evaluates a field.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        self.size += name.len() + value.len();
        if name.first() == Some(&b':') {
            self.has_pseudo = true;
            let status = three_digits(value).filter(|_| name == b":status" && !self.has_regular);
            match status {
                Some(status) if self.status.is_none() => self.status = Some(status),
                _ => self.error = Some(MalformedReply::PseudoHeader),
            }
            return;
        }
        self.has_regular = true;
        let is_valid_name = !name.is_empty() && name.iter().copied().all(is_name_byte);
        if !is_valid_name || !value.iter().copied().all(is_value_byte) {
            self.error = Some(MalformedReply::HeaderField);
        }
        match name {
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding"
            | b"upgrade" => {
                self.error = Some(MalformedReply::HeaderField);
            }
            b"content-length" => match number(value) {
                Some(length) if self.announced.is_none_or(|other| other == length) => {
                    self.announced = Some(length);
                }
                _ => self.error = Some(MalformedReply::ContentLength),
            },
            b"grpc-status" => {
                self.grpc_status = number(value).and_then(|code| u16::try_from(code).ok());
            }
            b"grpc-message" => self.error_fields().message = value.to_vec(),
            b"grpc-status-details-bin" => self.error_fields().details = value.to_vec(),
            b"content-encoding" => self.encoded |= !value.eq_ignore_ascii_case(b"identity"),
            _ => {}
        }
    }
}

impl ReplyFields {
    fn error_fields(&mut self) -> &mut CallErrorFields {
        self.call_error.get_or_insert_default()
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && byte != b':'
}

fn is_value_byte(byte: u8) -> bool {
    !matches!(byte, 0 | b'\r' | b'\n')
}

fn three_digits(value: &[u8]) -> Option<u16> {
    let status = number(value).filter(|_| value.len() == 3)?;
    u16::try_from(status).ok().filter(|status| *status >= 100)
}

fn number(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}
