//! TLS of ab: the settings of `-f` and `-Z`, and OpenSSL's names for the negotiated parameters.

use super::args::AbArgs;
use super::print::TlsLines;
use super::request::starts_with_name;
use crate::ciphers::{is_known_to_openssl, openssl_name, parse_list};
use brunt_model::plan::{TlsSettings, TlsVersion};
use brunt_wire::tls::Handshake;
use std::fs;
use std::net::IpAddr;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

/// Values of `-f`. OpenSSL's older versions are known but unsupported; a handshake
/// that allows only those fails.
const PROTOCOLS: [(&str, &[TlsVersion]); 3] = [
    ("TLS1.2", &[TlsVersion::V12]),
    ("TLS1.3", &[TlsVersion::V13]),
    ("ALL", &[TlsVersion::V12, TlsVersion::V13]),
];

/// TLS settings of a run.
pub struct RequestedTls {
    /// Settings of the plan.
    pub settings: TlsSettings,
    /// Note on a cipher suite that is not available.
    pub note: Option<String>,
}

/// Returns the TLS settings, or the message with which ab ends.
pub fn tls_settings(args: &AbArgs) -> Result<RequestedTls, String> {
    if let Some(path) = &args.certificate {
        let pem = fs::read_to_string(path).unwrap_or_default();
        for (kind, mark) in
            [("certificate", "-----BEGIN CERTIFICATE"), ("private key", "PRIVATE KEY-----")]
        {
            if !pem.contains(mark) {
                return Err(format!("unable to get {kind} from '{}'\n", path.display()));
            }
        }
    }
    let versions = args.protocol.as_ref().and_then(|protocol| {
        PROTOCOLS
            .iter()
            .find(|(name, _)| starts_with_name(protocol, name))
            .map(|(_, versions)| versions.to_vec())
    });
    let old = args
        .protocol
        .as_deref()
        .filter(|protocol| versions.is_none() && starts_with_name(protocol, "TLS1"));
    if let Some(protocol) = old.filter(|_| args.target.https) {
        // OpenSSL 3 accepts these versions but rejects all of their suites: every handshake of ab
        // fails.
        return Err(format!(
            "SSL handshake failed (1).\n-f {protocol}: TLS 1.2 and 1.3 are spoken; write -f TLS1.2\n"
        ));
    }
    let (ciphers, note) = args.ciphers.as_deref().map_or((Vec::new(), None), ciphers);
    let settings = TlsSettings {
        cert: args.certificate.clone(),
        key: args.certificate.clone(),
        // ab verifies no certificate.
        insecure: true,
        sni: server_name(args),
        no_resumption: true,
        no_sni: args.no_sni,
        versions: versions.unwrap_or_default(),
        ciphers,
        ..TlsSettings::default()
    };
    // A keyword such as HIGH means many suites. Then all are offered.
    match &args.ciphers {
        Some(list) if !is_known_to_openssl(list) => {
            Err(format!("error setting ciphersuite list [{list}]\n"))
        }
        _ => Ok(RequestedTls { settings, note }),
    }
}

/// Server name for SNI: from a custom Host header, otherwise from the URL. None for
/// an address or with `-I`.
pub fn server_name(args: &AbArgs) -> Option<String> {
    let host = args
        .headers
        .iter()
        .find(|line| starts_with_name(line, "Host:"))
        .map(|line| line[5..].trim());
    // The header may contain a port.
    let name = host.map_or(&*args.target.host, |host| host.split(':').next().unwrap_or(host));
    (!args.no_sni && name.parse::<IpAddr>().is_err()).then(|| name.to_owned())
}

/// Returns the suites of `list`, and a note on a name that matches no suite.
fn ciphers(list: &str) -> (Vec<String>, Option<String>) {
    let (found, unknown) = parse_list(list);
    (
        found,
        unknown.map(|name| {
            format!("-Z {name}: no such cipher suite here; those that are known are offered")
        }),
    )
}

/// Describes a handshake for the report.
pub fn report_tls(handshake: &Handshake) -> TlsLines {
    let suite = handshake.cipher.clone().unwrap_or_default();
    let version = handshake.version.clone().unwrap_or_default();
    let protocol = format!(
        "{version},{},{},{}",
        openssl_name(&suite),
        key_bits(handshake),
        cipher_bits(&suite)
    );
    TlsLines {
        protocol: Some(protocol),
        temporary_key: handshake.group.as_deref().map(temporary_key),
        server_name: None,
    }
}

fn key_bits(handshake: &Handshake) -> usize {
    let der = handshake.certificates.first();
    let certificate = der.and_then(|der| X509Certificate::from_der(der).ok());
    let key =
        certificate.as_ref().and_then(|(_, certificate)| certificate.public_key().parsed().ok());
    match key {
        Some(PublicKey::RSA(key)) => key.key_size(),
        Some(PublicKey::EC(key)) => key.key_size(),
        // Ed25519, which the parser does not support.
        Some(_) => 253,
        None => 0,
    }
}

fn cipher_bits(suite: &str) -> u32 {
    // ChaCha20 has 256 bits, too.
    if suite.contains("AES_128") { 128 } else { 256 }
}

fn temporary_key(group: &str) -> String {
    match group {
        // ab's texts for these groups.
        "X25519" => "X25519 253 bits".into(),
        "secp256r1" => "ECDH prime256v1 256 bits".into(),
        "secp384r1" => "ECDH secp384r1 384 bits".into(),
        "secp521r1" => "ECDH secp521r1 521 bits".into(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_cipher_names_are_reported() {
        let (found, unknown) = ciphers("ECDHE-RSA-AES256-GCM-SHA384:HIGH");
        assert_eq!(found, ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]);
        assert!(unknown.unwrap().starts_with("-Z HIGH"));
    }
}
