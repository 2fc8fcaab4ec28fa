//! Reads a certificate for the report.

use super::facts::CertificateFacts;
use std::net::IpAddr;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

const DAY: f64 = 86_400.0;

/// Reads a DER certificate. `unix_seconds` is the current time. None if `der` is not a certificate.
pub fn read(der: &[u8], unix_seconds: f64) -> Option<CertificateFacts> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let validity = certificate.validity();
    let ends = validity.not_after.timestamp() as f64;
    Some(CertificateFacts {
        subject: certificate.subject().to_string(),
        issuer: certificate.issuer().to_string(),
        names: names(&certificate),
        valid_from: validity.not_before.to_datetime().date().to_string(),
        valid_to: validity.not_after.to_datetime().date().to_string(),
        days_left: ((ends - unix_seconds) / DAY).floor() as i64,
        // The signature is not verified: equal names suffice for advice.
        self_signed: certificate.subject() == certificate.issuer(),
    })
}

fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let extension = certificate.subject_alternative_name().ok().flatten();
    let names = extension.iter().flat_map(|e| &e.value.general_names);
    names.filter_map(name).collect()
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => Some(IpAddr::from(<[u8; 4]>::try_from(*bytes).ok()?).to_string()),
            16 => Some(IpAddr::from(<[u8; 16]>::try_from(*bytes).ok()?).to_string()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

    #[test]
    fn names_and_days_are_read() {
        let mut params = CertificateParams::new(vec!["a.test".into(), "127.0.0.1".into()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "a.test");
        (params.not_before, params.not_after) =
            (date_time_ymd(2020, 1, 1), date_time_ymd(2020, 1, 31));
        let der = params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec();
        // 2020-01-01 00:00 UTC is 1577836800 (`date -u -d 2020-01-01 +%s`).
        let read_at = |day: f64| read(&der, 1_577_836_800.0 + day * DAY).unwrap();
        let read = read_at(9.5);
        assert!(read.subject.contains("CN=a.test"), "{}", read.subject);
        assert_eq!(read.names, ["a.test", "127.0.0.1"]);
        assert_eq!((&*read.valid_from, &*read.valid_to), ("2020-01-01", "2020-01-31"));
        assert_eq!((read.days_left, read.self_signed), (20, true));
        assert_eq!(read_at(31.0).days_left, -1);
    }

    #[test]
    fn malformed_certificates_are_none() {
        assert_eq!(read(b"nothing", 0.0), None);
    }
}
