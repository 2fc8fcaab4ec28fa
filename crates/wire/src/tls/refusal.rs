//! Explains why a TLS handshake failed, with a remedy if one is known.

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
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
    /// The server refuses the client certificate.
    ClientCertificate,
    /// The server supports no version of TLS that is offered.
    NoTlsVersion,
    /// The server supports no cipher suite or key exchange group that is offered, or requires
    /// something that its alert does not name.
    NoParameters,
    /// The server does not know the server name (SNI).
    UnknownName,
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
            (HandshakeFailureCause::NoTlsVersion, _) => {
                format!("the server offers no version of TLS that was offered{}", alert_of(tls))
            }
            (_, Error::InvalidCertificate(wrong)) => wrong.to_string(),
            (_, Error::AlertReceived(alert)) => {
                format!("the server refuses the handshake (alert {})", alert_name(*alert))
            }
            _ => tls.to_string(),
        };
        Self { cause, what }
    }
}

/// Returns the name of a received alert, in parentheses.
fn alert_of(error: &Error) -> String {
    let Error::AlertReceived(alert) = error else { return String::new() };
    format!(" (alert {})", alert_name(*alert))
}

/// Returns the name of an alert in the standards (RFC 8446 section 6), such as `bad_certificate`.
fn alert_name(alert: AlertDescription) -> String {
    let Some(camel) = alert.as_str() else { return u8::from(alert).to_string() };
    let letters: Vec<char> = camel.chars().collect();
    let mut name = String::new();
    for (place, letter) in letters.iter().enumerate() {
        let follows_small = place > 0 && letters[place - 1].is_lowercase();
        let precedes_small = letters.get(place + 1).is_some_and(|next| next.is_lowercase());
        // `UnknownPSKIdentity`: abbreviations are words.
        if place > 0 && letter.is_uppercase() && (follows_small || precedes_small) {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    // The library spells it like this.
    name.replace("unrecognised", "unrecognized")
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
            Error::AlertReceived(
                AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied,
            ) => Self::ClientCertificate,
            Error::AlertReceived(AlertDescription::ProtocolVersion)
            | Error::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            ) => Self::NoTlsVersion,
            Error::AlertReceived(
                AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity,
            ) => Self::NoParameters,
            Error::AlertReceived(AlertDescription::UnrecognisedName) => Self::UnknownName,
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
        match self {
            Self::OwnAuthority
            | Self::UnknownIssuer
            | Self::WrongName
            | Self::Expired
            | Self::NotYetValid
            | Self::Certificate => true,
            Self::CertificateRequired
            | Self::ClientCertificate
            | Self::NoTlsVersion
            | Self::NoParameters
            | Self::UnknownName
            | Self::NotTls
            | Self::NoVersion
            | Self::Other => false,
        }
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
            Self::ClientCertificate => {
                "; write a certificate that the server accepts: --cert FILE --key FILE"
            }
            Self::NoTlsVersion => {
                "; brunt's TLS library (rustls) has TLS 1.2 and 1.3: offer both, or enable one in the server"
            }
            Self::NoParameters => {
                "; mostly no cipher suite in common: brunt's TLS library (rustls) has AES-GCM and ChaCha20 with ECDHE \
                 only; or the server requires a client certificate (--cert FILE --key FILE)"
            }
            Self::UnknownName => "; write a server name that it knows: --sni NAME",
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
            (
                Error::AlertReceived(AlertDescription::UnknownCA),
                HandshakeFailureCause::ClientCertificate,
            ),
            (
                Error::AlertReceived(AlertDescription::ProtocolVersion),
                HandshakeFailureCause::NoTlsVersion,
            ),
            (
                Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
                HandshakeFailureCause::NoTlsVersion,
            ),
            (
                Error::AlertReceived(AlertDescription::HandshakeFailure),
                HandshakeFailureCause::NoParameters,
            ),
            (
                Error::AlertReceived(AlertDescription::UnrecognisedName),
                HandshakeFailureCause::UnknownName,
            ),
            (Error::HandshakeNotComplete, HandshakeFailureCause::Other),
        ] {
            assert_eq!(refusal(error.clone()).cause, cause, "{error}");
        }
        assert_eq!(HandshakeFailure::from_error(&io::Error::other("closed")).to_string(), "closed");
    }

    #[test]
    fn each_alert_has_the_name_of_the_standard() {
        // RFC 8446 section 6, RFC 5246 section 7.2.
        for (number, name) in [
            (10, "unexpected_message"),
            (20, "bad_record_mac"),
            (22, "record_overflow"),
            (40, "handshake_failure"),
            (42, "bad_certificate"),
            (43, "unsupported_certificate"),
            (44, "certificate_revoked"),
            (45, "certificate_expired"),
            (46, "certificate_unknown"),
            (47, "illegal_parameter"),
            (48, "unknown_ca"),
            (49, "access_denied"),
            (50, "decode_error"),
            (51, "decrypt_error"),
            (70, "protocol_version"),
            (71, "insufficient_security"),
            (80, "internal_error"),
            (86, "inappropriate_fallback"),
            (90, "user_canceled"),
            (109, "missing_extension"),
            (110, "unsupported_extension"),
            (112, "unrecognized_name"),
            (113, "bad_certificate_status_response"),
            (115, "unknown_psk_identity"),
            (116, "certificate_required"),
            (120, "no_application_protocol"),
            (250, "250"),
        ] {
            let alert = AlertDescription::from(number);
            assert_eq!(alert_name(alert), name);
            let text = refusal(Error::AlertReceived(alert)).to_string();
            assert!(text.contains(name), "{text}");
        }
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
