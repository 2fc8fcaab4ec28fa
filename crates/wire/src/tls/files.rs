//! Reads certificates and private keys from files in PEM, DER or PKCS #12.

use super::encryption;
use base64::Engine as _;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// Why no certificate or key could be read from a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; write {instead}")]
pub struct BadTlsFile {
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub instead: String,
}

impl BadTlsFile {
    pub(super) fn new(problem: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { problem: problem.into(), instead: instead.into() }
    }
}

/// Certificate and private key of a client.
#[derive(Debug)]
pub struct Identity {
    /// The client's certificate, then those of its issuers.
    pub chain: Vec<CertificateDer<'static>>,
    /// The private key of the first certificate.
    pub key: PrivateKeyDer<'static>,
}

/// A file with certificates.
enum CertificateFile {
    /// All certificates of PEM or DER.
    Plain(Vec<CertificateDer<'static>>),
    /// PKCS #12, with a certificate and its key.
    Pkcs12(Vec<u8>),
}

/// A file with a private key.
enum KeyFile {
    /// The key in PEM or DER.
    Plain(PrivateKeyDer<'static>),
    /// An encrypted key: an `EncryptedPrivateKeyInfo` in DER.
    Encrypted(Vec<u8>),
    /// PKCS #12, with a certificate and its key.
    Pkcs12(Vec<u8>),
}

/// The content that is expected in a file.
#[derive(Clone, Copy)]
enum Content {
    Certificate,
    Key,
}

impl Content {
    fn file(self) -> &'static str {
        match self {
            Self::Certificate => {
                "the name of a file with a certificate (-----BEGIN CERTIFICATE-----, or DER)"
            }
            // The dashes of PEM would look like a key, which messages hide.
            Self::Key => "the name of a file with a private key in PEM (BEGIN PRIVATE KEY) or DER",
        }
    }

    fn missing(self) -> &'static str {
        match self {
            Self::Certificate => "the file contains no certificate",
            Self::Key => "the file contains no private key",
        }
    }
}

/// Begin of each object in PEM. PEM files may begin with text, such as the output of `openssl x509
/// -text` (RFC 7468).
const PEM: &[u8] = b"-----BEGIN ";
/// Marks an encrypted key of PKCS #8 in PEM (RFC 7468 section 11).
const ENCRYPTED_KEY: [&str; 2] =
    ["-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----"];
/// Marks a key that OpenSSL encrypted in its own way, before PKCS #8.
const OPENSSL_ENCRYPTED: &[u8] = b"Proc-Type: 4,ENCRYPTED";

/// Begin of a Java keystore.
const JAVA_KEYSTORE: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];

/// Reads all certificates of a file.
///
/// # Errors
///
/// If the file cannot be read, or contains none.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadTlsFile> {
    match certificate_file(path)? {
        CertificateFile::Plain(all) => Ok(all),
        CertificateFile::Pkcs12(_) => Err(BadTlsFile::new(
            "the file is PKCS #12, which is only read for the client's own certificate",
            format!(
                "openssl pkcs12 -in {} -nokeys -out certificates.pem, and then that file",
                path.display()
            ),
        )),
    }
}

/// Reads a private key that is not encrypted.
///
/// # Errors
///
/// If the file cannot be read, contains none, or its key is encrypted.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, BadTlsFile> {
    decrypted_key(path, None)
}

/// Checks that a file has a certificate. In a file of PKCS #12, it needs its password.
///
/// # Errors
///
/// If the file cannot be read, or contains none.
pub fn check_certificate(path: &Path) -> Result<(), BadTlsFile> {
    certificate_file(path).map(drop)
}

/// Checks that a file has a private key. An encrypted one needs its password.
///
/// # Errors
///
/// If the file cannot be read, or contains none.
pub fn check_key(path: &Path) -> Result<(), BadTlsFile> {
    key_file(path).map(drop)
}

/// Reads certificate and key of a client from one file. The password is that of the key, or of the
/// file if it is PKCS #12.
///
/// # Errors
///
/// If the file cannot be read, lacks one of them, or the password is wrong.
pub fn identity(path: &Path, password: Option<&str>) -> Result<Identity, BadTlsFile> {
    match certificate_file(path)? {
        CertificateFile::Plain(chain) => {
            Ok(Identity { chain, key: decrypted_key(path, password)? })
        }
        CertificateFile::Pkcs12(bytes) => encryption::open_pkcs12(path, &bytes, password),
    }
}

/// Reads the certificate and the key of a client from two files.
///
/// # Errors
///
/// The path of the file that cannot be read, lacks its content, or has another password.
pub fn identity_of<'p>(
    certificate: &'p Path,
    key: &'p Path,
    password: Option<&str>,
) -> Result<Identity, (&'p Path, BadTlsFile)> {
    if certificate == key {
        return identity(certificate, password).map_err(|error| {
            let instead = if error.problem == Content::Key.missing() {
                "--key FILE with its private key (key `connection.key` of plans)".to_owned()
            } else {
                error.instead
            };
            (certificate, BadTlsFile { instead, ..error })
        });
    }
    let chain = match certificate_file(certificate).map_err(|error| (certificate, error))? {
        CertificateFile::Plain(chain) => chain,
        CertificateFile::Pkcs12(bytes) => {
            encryption::open_pkcs12(certificate, &bytes, password)
                .map_err(|error| (certificate, error))?
                .chain
        }
    };
    let key = decrypted_key(key, password).map_err(|error| (key, error))?;
    Ok(Identity { chain, key })
}

fn decrypted_key(
    path: &Path,
    password: Option<&str>,
) -> Result<PrivateKeyDer<'static>, BadTlsFile> {
    match key_file(path)? {
        KeyFile::Plain(key) => Ok(key),
        KeyFile::Encrypted(der) => encryption::decrypt_key(path, &der, password),
        KeyFile::Pkcs12(bytes) => {
            encryption::open_pkcs12(path, &bytes, password).map(|identity| identity.key)
        }
    }
}

fn certificate_file(path: &Path) -> Result<CertificateFile, BadTlsFile> {
    let content = Content::Certificate;
    let bytes = read(path, content)?;
    if !has(&bytes, PEM) {
        if is_certificate(&bytes) {
            return Ok(CertificateFile::Plain(vec![CertificateDer::from(bytes)]));
        }
        return if is_pkcs12(&bytes) {
            Ok(CertificateFile::Pkcs12(bytes))
        } else {
            Err(not_readable(path, &bytes, content))
        };
    }
    let all = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let all = all.map_err(|error| damaged(&error, content))?;
    if all.is_empty() {
        return Err(BadTlsFile::new(content.missing(), content.file()));
    }
    Ok(CertificateFile::Plain(all))
}

fn key_file(path: &Path) -> Result<KeyFile, BadTlsFile> {
    let content = Content::Key;
    let bytes = read(path, content)?;
    if !has(&bytes, PEM) {
        // A key begins with its version, 0 or 1 (RFC 5958 section 2, RFC 8017 appendix A.1.2,
        // RFC 5915 section 3). The library accepts other content as well.
        let is_key = matches!(first_element(&bytes), Some([0x02, 0x01, 0x00 | 0x01, ..]));
        if is_key && let Ok(key) = PrivateKeyDer::try_from(bytes.clone()) {
            return Ok(KeyFile::Plain(key));
        }
        return match first_element(&bytes) {
            _ if is_pkcs12(&bytes) => Ok(KeyFile::Pkcs12(bytes)),
            // An encrypted key begins with another SEQUENCE (RFC 5958 section 3), as does a
            // certificate.
            Some([0x30, ..]) if !is_certificate(&bytes) => Ok(KeyFile::Encrypted(bytes)),
            _ => Err(not_readable(path, &bytes, content)),
        };
    }
    if has(&bytes, OPENSSL_ENCRYPTED) {
        return Err(BadTlsFile::new(
            "the private key is encrypted in the older way of OpenSSL (Proc-Type: 4,ENCRYPTED), \
             which brunt does not read",
            encryption::conversion(path),
        ));
    }
    if let Some(text) = encrypted_pem(&bytes) {
        let text: String = text.split_whitespace().collect();
        let der = base64::engine::general_purpose::STANDARD.decode(text);
        return der.map(KeyFile::Encrypted).map_err(|error| damaged(&error, content));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map(KeyFile::Plain).map_err(|error| match error {
        rustls_pki_types::pem::Error::NoItemsFound => {
            BadTlsFile::new(content.missing(), content.file())
        }
        error => damaged(&error, content),
    })
}

/// Returns the text of an encrypted key in PEM, in Base64.
fn encrypted_pem(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let [begin, end] = ENCRYPTED_KEY;
    let start = position(bytes, begin.as_bytes())? + begin.len();
    let rest = &bytes[start..];
    let length = position(rest, end.as_bytes()).unwrap_or(rest.len());
    Some(String::from_utf8_lossy(&rest[..length]))
}

/// Explains a file that is neither PEM nor DER.
fn not_readable(path: &Path, bytes: &[u8], content: Content) -> BadTlsFile {
    if bytes.starts_with(&JAVA_KEYSTORE) {
        return BadTlsFile::new(
            "the file is a Java keystore (JKS), which brunt does not read",
            format!(
                "keytool -importkeystore -srckeystore {} -destkeystore both.p12 -deststoretype \
                 PKCS12, and then both.p12",
                path.display()
            ),
        );
    }
    BadTlsFile::new(content.missing(), content.file())
}

fn damaged(error: &dyn fmt::Display, content: Content) -> BadTlsFile {
    BadTlsFile::new(format!("the file is damaged: {error}"), content.file())
}

fn read(path: &Path, content: Content) -> Result<Vec<u8>, BadTlsFile> {
    if path.is_dir() {
        return Err(BadTlsFile::new("that is a folder", content.file()));
    }
    brunt_files::read(path)
        .map_err(|error| BadTlsFile::new(format!("cannot be read: {error}"), content.file()))
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    position(bytes, part).is_some()
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// True for a SEQUENCE (X.690 section 8.9) with the version 3 (RFC 7292 section 4).
fn is_pkcs12(bytes: &[u8]) -> bool {
    matches!(first_element(bytes), Some([0x02, 0x01, 0x03, ..]))
}

fn is_certificate(bytes: &[u8]) -> bool {
    webpki::EndEntityCert::try_from(&CertificateDer::from(bytes)).is_ok()
}

/// Returns the content of a SEQUENCE in DER.
fn first_element(bytes: &[u8]) -> Option<&[u8]> {
    let [0x30, length, rest @ ..] = bytes else { return None };
    match length {
        // 0x80 is the indefinite length of BER, which some programs write PKCS #12 with.
        0..=0x80 => Some(rest),
        // The low bits are the number of bytes of the length.
        0x81..=0x84 => rest.get(usize::from(length & 0x0f)..),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::path::PathBuf;

    struct File(PathBuf);

    impl Drop for File {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn file(name: &str, bytes: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!("brunt-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        File(path)
    }

    #[test]
    fn pem_and_der_are_read() {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (own.cert.der(), own.signing_key.serialize_der());
        let pem = format!("a text\n{}{}", own.cert.pem(), own.signing_key.serialize_pem());
        let both = file("both.pem", pem.as_bytes());
        assert_eq!(certificates(&both.0), Ok(vec![certificate.clone()]));
        assert_eq!(private_key(&both.0).unwrap().secret_der(), key);
        assert_eq!(certificates(&file("a.der", certificate).0), Ok(vec![certificate.clone()]));
        assert_eq!(private_key(&file("key.der", &key).0).unwrap().secret_der(), key);
    }

    #[test]
    fn other_files_are_explained() {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let encrypted =
            b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let damaged =
            b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n%%\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let older = b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nMIIB\n-----END RSA PRIVATE KEY-----\n";
        // EncryptedPrivateKeyInfo with the algorithm PBES2, and a PFX.
        let encrypted_der = b"\x30\x82\x01\x00\x30\x57\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d";
        let pkcs12 = b"\x30\x82\x09\x00\x02\x01\x03\x30\x82";
        let rows: [(&str, &[u8], &str); 8] = [
            ("encrypted.pem", encrypted, "no private key whose encryption brunt knows"),
            ("damaged.pem", damaged, "the file is damaged"),
            ("older.pem", older, "Proc-Type: 4,ENCRYPTED"),
            ("encrypted.der", encrypted_der, "no private key whose encryption brunt knows"),
            ("both.p12", pkcs12, "PKCS #12"),
            ("store.jks", b"\xfe\xed\xfe\xed\x00\x00\x00\x02", "Java keystore"),
            ("text", b"no key", "contains no private key"),
            ("certificate.der", own.cert.der(), "contains no private key"),
        ];
        for (name, bytes, expected) in rows {
            let error = private_key(&file(name, bytes).0).unwrap_err();
            assert!(error.problem.contains(expected), "{name}: {error}");
            assert!(!error.instead.is_empty(), "{name}");
        }
        let key = file("only-key.pem", own.signing_key.serialize_pem().as_bytes());
        let rows = [("PKCS #12", file("c.p12", pkcs12)), ("contains no certificate", key)];
        for (expected, file) in rows {
            let error = certificates(&file.0).unwrap_err();
            assert!(error.problem.contains(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let file = file("any", &bytes);
            prop_assert!(certificates(&file.0).is_err());
            // A few bytes suffice to look like a key; its use then fails.
            let _ = private_key(&file.0);
            let _ = identity(&file.0, Some("x"));
        }
    }
}
