//! Reads certificates and private keys from files, in PEM or DER.

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
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
    fn new(problem: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { problem: problem.into(), instead: instead.into() }
    }
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
            Self::Key => {
                "the name of a file with a private key (-----BEGIN PRIVATE KEY-----, or DER)"
            }
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
/// Marks an encrypted key in PEM: those of PKCS #8, and the older form of OpenSSL.
const ENCRYPTED_PEM: [&[u8]; 2] = [b"-----BEGIN ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];

/// Reads all certificates of a file.
///
/// # Errors
///
/// If the file cannot be read, or contains none.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadTlsFile> {
    let content = Content::Certificate;
    let bytes = read(path, content)?;
    if !has(&bytes, PEM) {
        let is_certificate =
            webpki::EndEntityCert::try_from(&CertificateDer::from(&*bytes)).is_ok();
        return if is_certificate {
            Ok(vec![CertificateDer::from(bytes)])
        } else {
            Err(not_readable(path, &bytes, content))
        };
    }
    let all = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let all = all.map_err(|error| {
        BadTlsFile::new(format!("the file is damaged: {error}"), content.file())
    })?;
    if all.is_empty() { Err(BadTlsFile::new(content.missing(), content.file())) } else { Ok(all) }
}

/// Reads the private key of a file.
///
/// # Errors
///
/// If the file cannot be read, contains none, or its key is encrypted.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, BadTlsFile> {
    let content = Content::Key;
    let bytes = read(path, content)?;
    if !has(&bytes, PEM) {
        // A key begins with its version, 0 or 1 (RFC 5958 section 2, RFC 8017 appendix A.1.2,
        // RFC 5915 section 3). The library accepts other content as well.
        let is_key = matches!(first_element(&bytes), Some([0x02, 0x01, 0x00 | 0x01, ..]));
        let key = PrivateKeyDer::try_from(bytes.clone()).ok().filter(|_| is_key);
        return key.ok_or_else(|| not_readable(path, &bytes, content));
    }
    if ENCRYPTED_PEM.iter().any(|mark| has(&bytes, mark)) {
        return Err(encrypted(path));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| match error {
        rustls_pki_types::pem::Error::NoItemsFound => {
            BadTlsFile::new(content.missing(), content.file())
        }
        error => BadTlsFile::new(format!("the file is damaged: {error}"), content.file()),
    })
}

fn read(path: &Path, content: Content) -> Result<Vec<u8>, BadTlsFile> {
    if path.is_dir() {
        return Err(BadTlsFile::new("that is a folder", content.file()));
    }
    std::fs::read(path)
        .map_err(|error| BadTlsFile::new(format!("cannot be read: {error}"), content.file()))
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Explains a file that is neither PEM nor the content in DER.
fn not_readable(path: &Path, bytes: &[u8], content: Content) -> BadTlsFile {
    // A SEQUENCE (X.690 section 8.9) with the version 3 is PKCS #12 (RFC 7292 section 4), and one
    // that begins with another SEQUENCE is an encrypted key (RFC 5958 section 3) or a certificate.
    match first_element(bytes) {
        Some([0x02, 0x01, 0x03, ..]) => {
            let shown = path.display();
            BadTlsFile::new(
                "the file is PKCS #12, which brunt does not read",
                format!(
                    "openssl pkcs12 -in {shown} -out both.pem -nodes, and then --cert both.pem --key both.pem"
                ),
            )
        }
        Some([0x30, ..]) if matches!(content, Content::Key) && !is_certificate(bytes) => {
            encrypted(path)
        }
        _ => BadTlsFile::new(content.missing(), content.file()),
    }
}

fn is_certificate(bytes: &[u8]) -> bool {
    webpki::EndEntityCert::try_from(&CertificateDer::from(bytes)).is_ok()
}

fn encrypted(path: &Path) -> BadTlsFile {
    BadTlsFile::new(
        "the private key is encrypted, and brunt asks for no password",
        format!("openssl pkey -in {} -out key.pem, and then --key key.pem", path.display()),
    )
}

/// Returns the content of a SEQUENCE in DER.
fn first_element(bytes: &[u8]) -> Option<&[u8]> {
    let [0x30, length, rest @ ..] = bytes else { return None };
    match length {
        0..=0x7f => Some(rest),
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
        let older = b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nMIIB\n-----END RSA PRIVATE KEY-----\n";
        // EncryptedPrivateKeyInfo with the algorithm PBES2, and a PFX.
        let encrypted_der = b"\x30\x82\x01\x00\x30\x57\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d";
        let pkcs12 = b"\x30\x82\x09\x00\x02\x01\x03\x30\x82";
        let rows: [(&str, &[u8], &str); 6] = [
            ("encrypted.pem", encrypted, "is encrypted"),
            ("older.pem", older, "is encrypted"),
            ("encrypted.der", encrypted_der, "is encrypted"),
            ("both.p12", pkcs12, "PKCS #12"),
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
        }
    }
}
