//! Maps errors of the system to failures.

use brunt_model::Failure;
use brunt_model::outcome::MalformedReply;
use rustix::io::Errno;
use rustls::{AlertDescription, Error};
use std::io;

/// Returns the failure for an error while connecting.
pub fn connect_failure(error: &io::Error) -> Failure {
    match Errno::from_io_error(error) {
        // AGAIN: the backlog of a Unix socket is full.
        Some(Errno::CONNREFUSED | Errno::NOENT | Errno::AGAIN) => Failure::Refused,
        Some(Errno::TIMEDOUT) => Failure::ConnectTimeout,
        Some(
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::ACCESS | Errno::PERM,
        ) => Failure::Unreachable,
        Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Failure::PortsExhausted,
        Some(Errno::MFILE | Errno::NFILE) => Failure::FdsExhausted,
        Some(Errno::CONNRESET | Errno::PIPE) => Failure::Reset,
        _ => Failure::System,
    }
}

/// Returns the failure for an error on an open connection.
pub fn stream_failure(error: &io::Error) -> Failure {
    match Errno::from_io_error(error) {
        Some(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED | Errno::NOTCONN) => {
            Failure::Reset
        }
        Some(Errno::TIMEDOUT) => Failure::Timeout,
        Some(Errno::CONNREFUSED) => Failure::Refused,
        _ if error.kind() == io::ErrorKind::InvalidData => Failure::Tls,
        _ if error.kind() == io::ErrorKind::UnexpectedEof => Failure::ClosedEarly,
        _ => Failure::System,
    }
}

/// Returns the alert with which the server ended TLS on an open connection.
pub fn tls_cause(error: &io::Error) -> Option<MalformedReply> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            Some(MalformedReply::TlsCertificateRequired)
        }
        Error::AlertReceived(_) => Some(MalformedReply::TlsAlert),
        _ => None,
    }
}
