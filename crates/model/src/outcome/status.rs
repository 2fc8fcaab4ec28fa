//! Statuses of HTTP and of gRPC as one number, and their names.

/// Statuses from this one on are those of gRPC, counted from it: 1,000 is OK, 1,014 is UNAVAILABLE.
pub const GRPC_STATUS: u16 = 1000;

/// The statuses of gRPC, from 0 on.
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

/// The status of gRPC of this name, such as `NOT_FOUND`, as a status of an outcome.
pub fn grpc_status(name: &str) -> Option<u16> {
    let code = GRPC_NAMES.iter().position(|known| *known == name)?;
    Some(GRPC_STATUS + code as u16)
}

/// A status for a reader: `404`, or `grpc 14 UNAVAILABLE`.
pub fn status_text(status: u16) -> String {
    match status.checked_sub(GRPC_STATUS) {
        None => status.to_string(),
        Some(code) => {
            let name = GRPC_NAMES.get(usize::from(code)).copied().unwrap_or("(unknown)");
            format!("grpc {code} {name}")
        }
    }
}
