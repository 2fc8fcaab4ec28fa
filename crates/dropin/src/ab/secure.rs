//! TLS in ab's words: which names OpenSSL has for what was agreed on, and what `-f` and `-Z` ask for.

use super::args::Args;
use super::print::Tls;
use super::request::begins;
use crate::ciphers::{is_known_to_openssl, known, openssl_name};
use brunt_model::plan::{Tls as Wanted, TlsVersion};
use brunt_wire::tls::Handshake;
use std::fs;
use std::net::IpAddr;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

/// What `-f` takes. OpenSSL's older versions are known and not spoken: a handshake that allows nothing else fails.
const PROTOCOLS: [(&str, &[TlsVersion]); 3] =
    [("TLS1.2", &[TlsVersion::V12]), ("TLS1.3", &[TlsVersion::V13]), ("ALL", &[TlsVersion::V12, TlsVersion::V13])];

/// How TLS is to be spoken, and what of the wish cannot be met; or what ab says and ends of.
pub fn wanted(args: &Args) -> Result<(Wanted, Option<String>), String> {
    if let Some(path) = &args.certificate {
        let pem = fs::read_to_string(path).unwrap_or_default();
        for (what, mark) in [("certificate", "-----BEGIN CERTIFICATE"), ("private key", "PRIVATE KEY-----")] {
            if !pem.contains(mark) {
                return Err(format!("unable to get {what} from '{}'\n", path.display()));
            }
        }
    }
    let versions = args.protocol.as_ref().and_then(|asked| {
        PROTOCOLS.iter().find(|(name, _)| begins(asked, name)).map(|(_, versions)| versions.to_vec())
    });
    let old = args.protocol.as_deref().filter(|asked| versions.is_none() && begins(asked, "TLS1"));
    if let Some(asked) = old.filter(|_| args.target.https) {
        // OpenSSL 3 has these versions and allows none of their suites: each handshake of ab's fails.
        return Err(format!("SSL handshake failed (1).\n-f {asked}: TLS 1.2 and 1.3 are spoken; write -f TLS1.2\n"));
    }
    let (ciphers, unknown) = args.ciphers.as_deref().map_or((Vec::new(), None), ciphers);
    let wanted = Wanted {
        cert: args.certificate.clone(),
        key: args.certificate.clone(),
        insecure: true,
        sni: server_name(args),
        no_resumption: true,
        no_sni: args.no_sni,
        versions: versions.unwrap_or_default(),
        ciphers,
        ..Wanted::default()
    };
    // Words such as HIGH stand for many suites: then all are offered.
    match &args.ciphers {
        Some(list) if !is_known_to_openssl(list) => Err(format!("error setting ciphersuite list [{list}]\n")),
        _ => Ok((wanted, unknown)),
    }
}

/// The name that is asked for: of an own Host header, or of the URL; None for an address, and where none is wanted.
pub fn server_name(args: &Args) -> Option<String> {
    let own = args.headers.iter().find(|line| begins(line, "Host:")).map(|line| line[5..].trim());
    let name = own.map_or(&*args.target.host, |own| own.split(':').next().unwrap_or(own));
    (!args.no_sni && name.parse::<IpAddr>().is_err()).then(|| name.to_owned())
}

/// The suites that OpenSSL's names stand for; and what is told of a name that stands for none.
fn ciphers(list: &str) -> (Vec<String>, Option<String>) {
    let (found, unknown) = known(list);
    (found, unknown.map(|name| format!("-Z {name}: no such cipher suite here; those that are known are offered")))
}

/// What the report says of a handshake.
pub fn told(handshake: &Handshake) -> Tls {
    let suite = handshake.cipher.clone().unwrap_or_default();
    let version = handshake.version.clone().unwrap_or_default();
    let protocol = format!("{version},{},{},{}", openssl_name(&suite), key_bits(handshake), cipher_bits(&suite));
    Tls { protocol: Some(protocol), temporary_key: handshake.group.as_deref().map(temporary_key), server_name: None }
}

fn key_bits(handshake: &Handshake) -> usize {
    let der = handshake.certificates.first();
    let certificate = der.and_then(|der| X509Certificate::from_der(der).ok());
    let key = certificate.as_ref().and_then(|(_, certificate)| certificate.public_key().parsed().ok());
    match key {
        Some(PublicKey::RSA(key)) => key.key_size(),
        Some(PublicKey::EC(key)) => key.key_size(),
        // Ed25519, which the parser does not know.
        Some(_) => 253,
        None => 0,
    }
}

fn cipher_bits(suite: &str) -> u32 {
    if suite.contains("AES_128") { 128 } else { 256 }
}

fn temporary_key(group: &str) -> String {
    match group {
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
    fn what_is_unknown_is_told() {
        let (found, unknown) = ciphers("ECDHE-RSA-AES256-GCM-SHA384:HIGH");
        assert_eq!(found, ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]);
        assert!(unknown.unwrap().starts_with("-Z HIGH"));
    }
}
