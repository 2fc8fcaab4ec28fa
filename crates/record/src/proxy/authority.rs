//! The certificate authority of the proxy. Its key is made on this machine, and is in no trust store.
//!
//! One file has the key and the certificate, so that both are replaced at once. A second file has the certificate
//! only, for clients.

use crate::error::RecordError;
use aws_lc_rs::rand;
use brunt_engine::clock::unix_seconds;
use brunt_model::numbers::hexadecimal;
use brunt_model::sync::IgnorePoison;
use chrono::{DateTime, Datelike};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SerialNumber, date_time_ymd,
};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Name of the file with the certificate, for clients.
pub const CERTIFICATE_FILE: &str = "brunt-ca.pem";

/// Name of the file with the private key and the certificate.
pub const KEY_FILE: &str = "brunt-ca-key.pem";

const DAY_SECONDS: f64 = 86_400.0;

/// Validity of the authority, in days.
const AUTHORITY_DAYS: f64 = 365.0;

/// Days before its end at which an authority is replaced. Certificates of hosts end within this time.
const RENEWAL_DAYS: f64 = 30.0;

/// Maximum number of certificates of hosts that are kept.
const MAX_CERTIFICATES: usize = 1000;

/// Maximum length of a common name in X.509.
const MAX_COMMON_NAME: usize = 64;

/// An authority that makes certificates of hosts.
pub struct CertificateAuthority {
    file: PathBuf,
    is_new: bool,
    certificate: CertificateDer<'static>,
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    /// Key of the certificates of all hosts. It ends with the process.
    host_key: KeyPair,
    host_signer: Arc<dyn SigningKey>,
    certificates: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl CertificateAuthority {
    /// Reads the authority of a directory. Makes one if there is none, or if it ends within 30 days.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, other users can read the key, or the files do not belong together.
    pub fn open(directory: &Path) -> Result<Self, RecordError> {
        let key_file = directory.join(KEY_FILE);
        let mut is_new = false;
        let mut pem = read_key_file(&key_file)?;
        if pem.as_deref().map(|pem| end_of(&key_file, pem)).transpose()?.is_none_or(is_near) {
            let is_renewal = pem.is_some();
            create(directory, &key_file, is_renewal)?;
            pem = read_key_file(&key_file)?;
            is_new = true;
        }
        let pem = pem.ok_or_else(|| file_error(&key_file, "the file was removed meanwhile"))?;
        let certificate = certificate_of(&key_file, &pem)?;
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| file_error(&key_file, &error.to_string()))?;
        let key = KeyPair::try_from(&key).map_err(|error| rcgen_error(&key_file, &error))?;
        ensure_pair(&key_file, &certificate, &key)?;
        let issuer = Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|error| rcgen_error(&key_file, &error))?;
        let file = directory.join(CERTIFICATE_FILE);
        let certificate_pem = certificate_part(&pem);
        // Also if it was removed or changed.
        if fs::read_to_string(&file).ok().as_deref() != Some(&certificate_pem) {
            write(directory, &file, &certificate_pem, 0o644, true)?;
        }
        let host_key = KeyPair::generate().map_err(|error| rcgen_error(&key_file, &error))?;
        let host_signer = PrivateKeyDer::try_from(host_key.serialize_der())
            .ok()
            .and_then(|key| rustls::crypto::aws_lc_rs::sign::any_supported_type(&key).ok())
            .ok_or_else(|| file_error(&key_file, "the TLS library refuses a new key"))?;
        Ok(Self {
            file,
            is_new,
            certificate,
            pem: certificate_pem,
            issuer,
            host_key,
            host_signer,
            certificates: Mutex::default(),
        })
    }

    /// Path of the certificate, for clients.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// True if the certificate was made now, so that no client has it yet.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The certificate in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// SHA-256 of the certificate, as browsers show it.
    pub fn fingerprint(&self) -> String {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &self.certificate);
        let bytes = digest.as_ref().iter().map(|byte| format!("{byte:02X}"));
        bytes.collect::<Vec<_>>().join(":")
    }

    /// Returns a certificate for a host name or an IP address; None if no certificate can have this name.
    pub fn certificate_for(&self, host: &str) -> Option<Arc<CertifiedKey>> {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let mut certificates = self.certificates.lock().ignore_poison();
        if let Some(certificate) = certificates.get(&host) {
            return Some(Arc::clone(certificate));
        }
        let certificate = self.sign(&host)?;
        // A client may ask for any number of names.
        if certificates.len() >= MAX_CERTIFICATES {
            certificates.clear();
        }
        certificates.insert(host, Arc::clone(&certificate));
        Some(certificate)
    }

    fn sign(&self, host: &str) -> Option<Arc<CertifiedKey>> {
        let mut params = CertificateParams::new([host.to_owned()]).ok()?;
        let common = if host.len() <= MAX_COMMON_NAME { host } else { "brunt record" };
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, common);
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        set_validity(&mut params, RENEWAL_DAYS - 1.0);
        // By default, the number is that of the key, and browsers refuse a second certificate with it.
        params.serial_number = Some(SerialNumber::from_slice(&random_number()?));
        let certificate = params.signed_by(&self.host_key, &self.issuer).ok()?;
        let chain = vec![certificate.der().clone()];
        Some(Arc::new(CertifiedKey::new(chain, Arc::clone(&self.host_signer))))
    }
}

/// Makes an authority, and writes its key and certificate.
fn create(directory: &Path, file: &Path, is_renewal: bool) -> Result<(), RecordError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(directory).map_err(|error| file_error(directory, &error.to_string()))?;
    let number = random_number()
        .ok_or_else(|| file_error(file, "the system provides no random numbers for a key"))?;
    let key = KeyPair::generate().map_err(|error| rcgen_error(file, &error))?;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    // Browsers list authorities by name, and those of several machines differ.
    let name = format!("brunt record CA {}", hexadecimal(&number[..4]));
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, "brunt");
    // It makes no further authorities, and certificates of servers only.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    set_validity(&mut params, AUTHORITY_DAYS);
    params.serial_number = Some(SerialNumber::from_slice(&number));
    let certificate = params.self_signed(&key).map_err(|error| rcgen_error(file, &error))?;
    let text = format!("{}{}", key.serialize_pem(), certificate.pem());
    write(directory, file, &text, 0o600, is_renewal)
}

/// Writes a file at once. Without `replaces`, a file that another process has written meanwhile stays.
fn write(
    directory: &Path,
    file: &Path,
    text: &str,
    mode: u32,
    replaces: bool,
) -> Result<(), RecordError> {
    let written = NamedTempFile::new_in(directory).and_then(|mut temporary| {
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
        temporary.write_all(text.as_bytes())?;
        temporary.as_file().sync_all()?;
        let persisted =
            if replaces { temporary.persist(file) } else { temporary.persist_noclobber(file) };
        match persisted {
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(()),
            other => other.map(|_| ()).map_err(|error| error.error),
        }
    });
    written.map_err(|error| file_error(file, &error.to_string()))
}

/// Reads the file with the key; None if there is none.
fn read_key_file(file: &Path) -> Result<Option<String>, RecordError> {
    let mut opened = match File::open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| file_error(file, &error.to_string()))?,
    };
    let metadata = opened.metadata().map_err(|error| file_error(file, &error.to_string()))?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(RecordError::ProxyFile {
            path: file.display().to_string(),
            reason: format!(
                "other users can use this private key (mode {mode:03o}), and could then read the traffic of all \
                 clients that trust it"
            ),
            remedy: "remove it from these clients, remove the file, and start again".to_owned(),
        });
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(RecordError::ProxyFile {
            path: file.display().to_string(),
            reason: "the private key belongs to another user".to_owned(),
            remedy: "write another directory: --ca-dir DIR".to_owned(),
        });
    }
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(|error| file_error(file, &error.to_string()))?;
    Ok(Some(text))
}

fn certificate_of(file: &Path, pem: &str) -> Result<CertificateDer<'static>, RecordError> {
    CertificateDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| file_error(file, &format!("no certificate: {error}")))
}

/// Returns the certificate in a text with key and certificate; empty if it has none.
fn certificate_part(pem: &str) -> String {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    // In a file that a user made, the key may follow, and must not be published.
    let content = pem.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    content.map_or(String::new(), |(content, _)| format!("{BEGIN}{content}{END}\n"))
}

/// End of the certificate, in seconds since 1970.
fn end_of(file: &Path, pem: &str) -> Result<f64, RecordError> {
    let certificate = certificate_of(file, pem)?;
    let parsed = X509Certificate::from_der(&certificate);
    let (_, parsed) = parsed.map_err(|error| file_error(file, &error.to_string()))?;
    Ok(parsed.validity().not_after.timestamp() as f64)
}

/// True if a certificate with this end must be replaced.
fn is_near(end: f64) -> bool {
    end < unix_seconds() + RENEWAL_DAYS * DAY_SECONDS
}

fn ensure_pair(
    file: &Path,
    certificate: &CertificateDer<'_>,
    key: &KeyPair,
) -> Result<(), RecordError> {
    let parsed = X509Certificate::from_der(certificate);
    let (_, parsed) = parsed.map_err(|error| file_error(file, &error.to_string()))?;
    if *parsed.public_key().subject_public_key.data != *key.public_key_raw() {
        return Err(file_error(file, "the private key does not belong to the certificate"));
    }
    Ok(())
}

/// Random serial number: positive, 16 bytes.
fn random_number() -> Option<[u8; 16]> {
    let mut number = [0; 16];
    rand::fill(&mut number).ok()?;
    number[0] = number[0] & 0x3f | 0x40;
    Some(number)
}

/// Sets the validity of a certificate: whole days, from yesterday.
fn set_validity(params: &mut CertificateParams, days: f64) {
    let now = unix_seconds();
    // The clocks of clients differ.
    let start = DateTime::from_timestamp((now - DAY_SECONDS) as i64, 0).unwrap_or_default();
    let end = DateTime::from_timestamp((now + days * DAY_SECONDS) as i64, 0).unwrap_or_default();
    params.not_before = date_time_ymd(start.year(), start.month() as u8, start.day() as u8);
    params.not_after = date_time_ymd(end.year(), end.month() as u8, end.day() as u8);
}

fn file_error(file: &Path, reason: &str) -> RecordError {
    RecordError::ProxyFile {
        path: file.display().to_string(),
        reason: reason.to_owned(),
        remedy:
            "remove the file to get a new certificate, or write another directory: --ca-dir DIR"
                .to_owned(),
    }
}

fn rcgen_error(file: &Path, error: &rcgen::Error) -> RecordError {
    file_error(file, &error.to_string())
}
