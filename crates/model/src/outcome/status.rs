//! Represents statuses of HTTP and gRPC and close codes of WebSockets as one
//! number, and names them.

/// Offset of gRPC statuses: 1,000 is OK, 1,014 is UNAVAILABLE.
// HTTP statuses have three digits, so 1,000 is the first free number.
pub const GRPC_STATUS: u16 = 1000;

/// Status of a gRPC call that was canceled: `CANCELLED`.
pub const CANCELLED_STATUS: u16 = GRPC_STATUS + 1;

/// Status of a gRPC call that its deadline ended: `DEADLINE_EXCEEDED`.
pub const DEADLINE_STATUS: u16 = GRPC_STATUS + 4;

/// Offset of WebSocket close codes: 21,008 is 1008, a policy violation.
// Close codes are 1,000 to 4,999 and would overlap with gRPC statuses.
pub const CLOSE_STATUS: u16 = 20_000;

/// Maximum code of gRPC. Larger ones, which do not exist, would look like close codes.
const MAX_GRPC_CODE: u16 = 9_999;

/// Close codes of RFC 6455 section 7.4.1 and its registry.
const CLOSE_NAMES: [(u16, &str); 13] = [
    (1000, "normal closure"),
    (1001, "going away"),
    (1002, "protocol error"),
    (1003, "unsupported data"),
    // 1004, 1006 and 1015 are missing: RFC 6455 reserves them, and they never occur in a frame.
    (1005, "no code"),
    (1007, "invalid data"),
    (1008, "policy violation"),
    (1009, "message too big"),
    (1010, "extension missing"),
    (1011, "internal error"),
    (1012, "service restart"),
    (1013, "try again later"),
    (1014, "bad gateway"),
];

/// Names of the gRPC statuses, from 0 on.
const GRPC_NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// Returns the outcome status of the gRPC status with this name, such as `NOT_FOUND`.
pub fn grpc_status(name: &str) -> Option<u16> {
    let code = GRPC_NAMES.iter().position(|known| *known == name)?;
    Some(GRPC_STATUS + code as u16)
}

/// Returns the status of an outcome with this gRPC code.
pub fn grpc_code_status(code: u16) -> u16 {
    GRPC_STATUS + code.min(MAX_GRPC_CODE)
}

/// Formats a status: `404`, `grpc 14 UNAVAILABLE`, or `close 1008 policy violation`.
pub fn status_text(status: u16) -> String {
    if let Some(code) = status.checked_sub(CLOSE_STATUS) {
        let name = CLOSE_NAMES.iter().find(|known| known.0 == code).map_or("", |known| known.1);
        // Codes from 3,000 on belong to libraries and applications, and have no name here.
        return format!("close {code} {name}").trim_end().to_owned();
    }
    match status.checked_sub(GRPC_STATUS) {
        None => status.to_string(),
        Some(code) => {
            let name = GRPC_NAMES.get(usize::from(code)).copied().unwrap_or("(unknown)");
            format!("grpc {code} {name}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_status_has_its_text() {
        for (status, text) in [
            (404, "404"),
            (1000, "grpc 0 OK"),
            (CANCELLED_STATUS, "grpc 1 CANCELLED"),
            (DEADLINE_STATUS, "grpc 4 DEADLINE_EXCEEDED"),
            (grpc_code_status(14), "grpc 14 UNAVAILABLE"),
            (grpc_code_status(u16::MAX), "grpc 9999 (unknown)"),
            (21_008, "close 1008 policy violation"),
            (24_000, "close 4000"),
        ] {
            assert_eq!(status_text(status), text);
        }
    }
}
