//! Explains why a TLS handshake failed, with a remedy if one is known.

use rustls::{AlertDescription, CertificateError, Error};
use std::fmt;
use std::io;

/// A failed handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeFailure {
    /// Its kind of cause.
    pub cause: HandshakeFailureCause,
    /// The cause in words. For a certificate, only its defect.
    pub what: String,
}

/// Why a handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeFailureCause {
    /// The server sends the certificate of an authority, such as one made by `openssl req -x509`.
    OwnAuthority,
    /// No trusted authority signed the certificate.
    UnknownIssuer,
    /// The certificate is for other names.
    WrongName,
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate has another defect.
    Certificate,
    /// The server requires a client certificate.
    CertificateRequired,
    /// The server does not support TLS on this port.
    NotTls,
    /// The server does not support the HTTP version that was offered (ALPN).
    NoVersion,
    /// Any other cause.
    Other,
}

impl HandshakeFailure {
    /// Explains the error of a handshake.
    pub fn from_error(error: &io::Error) -> Self {
        let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
            return Self { cause: HandshakeFailureCause::Other, what: error.to_string() };
        };
        Self::from_tls(tls)
    }

    /// Explains an error of TLS.
    pub fn from_tls(tls: &Error) -> Self {
        let cause = HandshakeFailureCause::from_error(tls);
        let what = match (cause, tls) {
            (HandshakeFailureCause::OwnAuthority, _) => "self-signed (CaUsedAsEndEntity)".into(),
            (HandshakeFailureCause::UnknownIssuer, _) => {
                "issuer not trusted (UnknownIssuer)".into()
            }
            (HandshakeFailureCause::CertificateRequired, _) => {
                "the server requires a client certificate (alert certificate_required)".into()
            }
            (HandshakeFailureCause::NoVersion, _) => {
                "the server does not offer this version of HTTP (no_application_protocol)".into()
            }
            (HandshakeFailureCause::NotTls, _) => {
                "the server does not speak TLS on this port".into()
            }
            (_, Error::InvalidCertificate(wrong)) => wrong.to_string(),
            _ => tls.to_string(),
        };
        Self { cause, what }
    }
}

impl fmt::Display for HandshakeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.cause.is_distrust() { "invalid server certificate: " } else { "" };
        write!(f, "{prefix}{}{}", self.what, self.cause.hint())
    }
}

impl HandshakeFailureCause {
    pub(super) fn from_error(error: &Error) -> Self {
        match error {
            Error::InvalidMessage(_) => Self::NotTls,
            Error::AlertReceived(AlertDescription::CertificateRequired) => {
                Self::CertificateRequired
            }
            Error::NoApplicationProtocol
            | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => Self::NoVersion,
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => Self::UnknownIssuer,
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => Self::WrongName,
            Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            ) => Self::Expired,
            Error::InvalidCertificate(
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
            ) => Self::NotYetValid,
            Error::InvalidCertificate(CertificateError::Other(other))
                if matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)) =>
            {
                Self::OwnAuthority
            }
            Error::InvalidCertificate(_) => Self::Certificate,
            _ => Self::Other,
        }
    }

    /// True if the server's certificate is the cause.
    pub fn is_distrust(self) -> bool {
        !matches!(self, Self::CertificateRequired | Self::NotTls | Self::NoVersion | Self::Other)
    }

    /// Returns the remedy, to be appended to the cause. Empty if none is known.
    pub fn hint(self) -> &'static str {
        match self {
            Self::OwnAuthority | Self::UnknownIssuer | Self::Certificate => {
                "; trust it with --cacert FILE, or skip the check with --insecure"
            }
            Self::WrongName => {
                "; set one of its names with --sni NAME, or skip the check with --insecure"
            }
            Self::Expired => "; renew it, or skip the check with --insecure",
            Self::NotYetValid => {
                "; compare the clocks of both machines, or skip the check with --insecure"
            }
            Self::CertificateRequired => "; add --cert FILE --key FILE",
            Self::NoVersion => "; write --http 1.1",
            Self::NotTls => "; write http:// or ws:// for a server without TLS",
            Self::Other => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{InvalidMessage, OtherError};
    use std::sync::Arc;

    fn refusal(error: Error) -> HandshakeFailure {
        HandshakeFailure::from_error(&io::Error::new(io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn causes_are_recognized_by_type() {
        let own = CertificateError::Other(OtherError(Arc::new(webpki::Error::CaUsedAsEndEntity)));
        let other =
            CertificateError::Other(OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity"))));
        for (error, cause) in [
            (Error::InvalidCertificate(own), HandshakeFailureCause::OwnAuthority),
            (Error::InvalidCertificate(other), HandshakeFailureCause::Certificate),
            (
                Error::InvalidCertificate(CertificateError::UnknownIssuer),
                HandshakeFailureCause::UnknownIssuer,
            ),
            (
                Error::InvalidCertificate(CertificateError::NotValidForName),
                HandshakeFailureCause::WrongName,
            ),
            (Error::InvalidCertificate(CertificateError::Expired), HandshakeFailureCause::Expired),
            (
                Error::InvalidMessage(InvalidMessage::InvalidContentType),
                HandshakeFailureCause::NotTls,
            ),
            (
                Error::AlertReceived(AlertDescription::NoApplicationProtocol),
                HandshakeFailureCause::NoVersion,
            ),
            (
                Error::AlertReceived(AlertDescription::CertificateRequired),
                HandshakeFailureCause::CertificateRequired,
            ),
            (Error::HandshakeNotComplete, HandshakeFailureCause::Other),
        ] {
            assert_eq!(refusal(error.clone()).cause, cause, "{error}");
        }
        assert_eq!(HandshakeFailure::from_error(&io::Error::other("closed")).to_string(), "closed");
    }

    #[test]
    fn an_untrusted_certificate_is_reported_with_advice() {
        let text = refusal(Error::InvalidCertificate(CertificateError::UnknownIssuer)).to_string();
        assert!(text.starts_with("invalid server certificate: issuer not trusted"), "{text}");
        assert!(
            text.ends_with("; trust it with --cacert FILE, or skip the check with --insecure"),
            "{text}"
        );
    }
}
