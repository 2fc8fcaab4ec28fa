//! Decrypts private keys (PKCS #8) and files of PKCS #12 with their password.

use super::files::{BadTlsFile, Identity};
use p12_keystore::error::Error as Pkcs12Error;
use p12_keystore::{Certificate, CertificateBag, Pkcs12Archive};
use pkcs5::EncryptionScheme;
use pkcs5::pbes2::Kdf;
use pkcs8::EncryptedPrivateKeyInfoRef;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::Path;

/// Maximum number of iterations of PBKDF2 (RFC 8018 section 5.2), about ten times the number that
/// OWASP recommends in 2025. More would only delay the run.
const MAX_ITERATIONS: u32 = 10_000_000;

/// Maximum memory for scrypt (RFC 7914 section 2), in bytes.
const MAX_SCRYPT_MEMORY: u64 = 1 << 30;

const WRONG_PASSWORD: &str = "the password is wrong";
const PASSWORD_OPTION: &str = "--key-password @FILE with the password in FILE (connection.key_password \
                               in plans, javax.net.ssl.keyStorePassword in JMeter)";

/// Decrypts a private key, an `EncryptedPrivateKeyInfo` in DER (RFC 5958 section 3).
pub(super) fn decrypt_key(
    path: &Path,
    der: &[u8],
    password: Option<&str>,
) -> Result<PrivateKeyDer<'static>, BadTlsFile> {
    let info = EncryptedPrivateKeyInfoRef::try_from(der).map_err(|error| {
        BadTlsFile::new(
            format!("the file has no private key whose encryption brunt knows: {error}"),
            conversion(path),
        )
    })?;
    let Some(password) = password else {
        return Err(BadTlsFile::new(
            "the private key is encrypted",
            format!("{PASSWORD_OPTION}, or convert it: {}", conversion(path)),
        ));
    };
    if is_too_expensive(&info.encryption_algorithm) {
        return Err(too_expensive(path));
    }
    let decrypted = info
        .encryption_algorithm
        .decrypt(password, info.encrypted_data.as_bytes())
        .map_err(|error| match error {
            pkcs5::Error::DecryptFailed => wrong_password(),
            error => BadTlsFile::new(
                format!("the private key is encrypted in a way that brunt does not read: {error}"),
                conversion(path),
            ),
        })?;
    // With a wrong password, one of 256 texts has a padding that seems valid, but is no key.
    if pkcs8::PrivateKeyInfoRef::try_from(&*decrypted).is_err() {
        return Err(wrong_password());
    }
    Ok(PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(decrypted)))
}

/// Reads certificate and key of a file of PKCS #12 (RFC 7292). Some of these files have the empty
/// password, so they need none.
pub(super) fn open_pkcs12(
    path: &Path,
    bytes: &[u8],
    password: Option<&str>,
) -> Result<Identity, BadTlsFile> {
    let mut archive = Pkcs12Archive::from_pkcs12(bytes, password.unwrap_or_default()).map_err(
        |error| match error {
            Pkcs12Error::MacError(_) | Pkcs12Error::UnpadError | Pkcs12Error::Pkcs5Error(_)
                if password.is_none() =>
            {
                BadTlsFile::new("the file is PKCS #12 with a password", PASSWORD_OPTION)
            }
            Pkcs12Error::MacError(_) | Pkcs12Error::UnpadError | Pkcs12Error::Pkcs5Error(_) => {
                wrong_password()
            }
            Pkcs12Error::InvalidParameters => too_expensive(path),
            error => BadTlsFile::new(
                format!("the file of PKCS #12 cannot be read: {error}"),
                pkcs12_conversion(path),
            ),
        },
    )?;
    if archive.keys.len() != 1 {
        let number = archive.keys.len();
        return Err(BadTlsFile::new(
            format!("the file of PKCS #12 has {number} private keys"),
            "a file with one key and its certificate",
        ));
    }
    let bag = archive.keys.remove(0);
    let id = bag.local_key_id.as_ref().map(AsRef::as_ref);
    // The certificate of a key has its local key id (RFC 7292 section 4.2).
    let own = archive.certs.iter().find(|bag| id.is_some() && bag.local_key_id.as_deref() == id);
    let Some(own) = own.or(archive.certs.first()) else {
        return Err(BadTlsFile::new(
            "the file of PKCS #12 has no certificate",
            "a file with one key and its certificate",
        ));
    };
    let chain = chain(&own.cert, &archive.certs);
    let key = PrivatePkcs8KeyDer::from(bag.key.as_der().to_vec());
    Ok(Identity { chain, key: PrivateKeyDer::Pkcs8(key) })
}

/// Returns a certificate, followed by its issuers without the self-signed one, which servers know.
fn chain<'c>(own: &'c Certificate, all: &'c [CertificateBag]) -> Vec<CertificateDer<'static>> {
    let mut chain = vec![own];
    while let Some(&last) = chain.last() {
        let issuer = all.iter().map(|bag| &bag.cert).find(|other| {
            other.subject() == last.issuer()
                && other.subject() != other.issuer()
                && !chain.contains(other)
        });
        let Some(issuer) = issuer else { break };
        chain.push(issuer);
    }
    chain.iter().map(|one| CertificateDer::from(one.as_der().to_vec())).collect()
}

fn is_too_expensive(scheme: &EncryptionScheme) -> bool {
    match scheme.pbes2().map(|parameters| &parameters.kdf) {
        Some(Kdf::Pbkdf2(parameters)) => parameters.iteration_count > MAX_ITERATIONS,
        Some(Kdf::Scrypt(parameters)) => {
            // 128 × N × r bytes (RFC 7914 section 5).
            let memory = parameters
                .cost_parameter
                .saturating_mul(u64::from(parameters.block_size))
                .saturating_mul(128);
            memory > MAX_SCRYPT_MEMORY
        }
        _ => false,
    }
}

fn too_expensive(path: &Path) -> BadTlsFile {
    BadTlsFile::new(
        "the password of the file needs too much computation (its number of iterations or memory)",
        conversion(path),
    )
}

fn wrong_password() -> BadTlsFile {
    BadTlsFile::new(WRONG_PASSWORD, PASSWORD_OPTION)
}

/// Returns commands that decrypt a private key.
pub(super) fn conversion(path: &Path) -> String {
    format!("openssl pkey -in {} -out key.pem, and then --key key.pem", path.display())
}

fn pkcs12_conversion(path: &Path) -> String {
    format!("openssl pkcs12 -in {} -nodes -out both.pem, and then --cert both.pem", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use p12_keystore::{KeyStore, KeyStoreEntry, Pkcs12ImportPolicy, PrivateKey, PrivateKeyChain};
    use pkcs5::pbes2::Parameters;
    use pkcs8::EncryptedPrivateKeyInfoOwned;
    use pkcs8::der::Encode;
    use pkcs8::der::asn1::OctetString;

    const PATH: &str = "key.pem";

    fn own() -> rcgen::CertifiedKey<rcgen::KeyPair> {
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
    }

    fn encrypted(key: &[u8], iterations: u32) -> Vec<u8> {
        let parameters =
            Parameters::generate_pbkdf2_sha256_aes256cbc(iterations, b"salt5678", [7; 16]).unwrap();
        let data = parameters.encrypt("open sesame", key).unwrap();
        let info = EncryptedPrivateKeyInfoOwned {
            encryption_algorithm: parameters.into(),
            encrypted_data: OctetString::new(data).unwrap(),
        };
        info.to_der().unwrap()
    }

    fn key_of(der: &[u8], password: Option<&str>) -> Result<PrivateKeyDer<'static>, BadTlsFile> {
        decrypt_key(Path::new(PATH), der, password)
    }

    #[test]
    fn an_encrypted_key_needs_its_password() {
        let key = own().signing_key.serialize_der();
        let der = encrypted(&key, 10);
        assert_eq!(key_of(&der, Some("open sesame")).unwrap().secret_der(), key);
        let missing = key_of(&der, None).unwrap_err();
        assert_eq!(missing.problem, "the private key is encrypted");
        assert!(missing.instead.starts_with("--key-password @FILE"), "{missing}");
        for number in 0..600 {
            // Some wrong passwords lead to a valid padding by chance.
            let wrong = key_of(&der, Some(&format!("guess {number}"))).unwrap_err();
            assert_eq!(wrong.problem, WRONG_PASSWORD);
        }
    }

    #[test]
    fn a_file_cannot_demand_endless_computation() {
        let key = own().signing_key.serialize_der();
        let parameters = Parameters::generate_pbkdf2_sha256_aes256cbc(10, b"salt5678", [7; 16]);
        let mut parameters = parameters.unwrap();
        if let Kdf::Pbkdf2(kdf) = &mut parameters.kdf {
            kdf.iteration_count = MAX_ITERATIONS + 1;
        }
        let info = EncryptedPrivateKeyInfoOwned {
            encryption_algorithm: parameters.into(),
            encrypted_data: OctetString::new(key).unwrap(),
        };
        let error = key_of(&info.to_der().unwrap(), Some("open sesame")).unwrap_err();
        assert!(error.problem.contains("too much computation"), "{error}");
    }

    #[test]
    fn pkcs12_has_certificate_key_and_issuers() {
        let own = own();
        let key = own.signing_key.serialize_der();
        let chain = PrivateKeyChain::new(
            "1",
            PrivateKey::from_der(&key).unwrap(),
            [Certificate::from_der(own.cert.der()).unwrap()],
        );
        let mut store = KeyStore::new();
        store.add_entry("client", KeyStoreEntry::PrivateKeyChain(chain.clone()));
        let bytes = store
            .writer("open sesame")
            .encryption_iterations(10)
            .mac_iterations(10)
            .write()
            .unwrap();
        KeyStore::from_pkcs12(&bytes, "open sesame", Pkcs12ImportPolicy::Strict).unwrap();
        let path = Path::new("both.p12");
        let identity = open_pkcs12(path, &bytes, Some("open sesame")).unwrap();
        assert_eq!(identity.key.secret_der(), key);
        assert_eq!(identity.chain, [own.cert.der().clone()]);
        let wrong = open_pkcs12(path, &bytes, Some("guess")).unwrap_err();
        assert_eq!(wrong.problem, WRONG_PASSWORD);
        let missing = open_pkcs12(path, &bytes, None).unwrap_err();
        assert_eq!(missing.problem, "the file is PKCS #12 with a password");
        store.add_entry("second", KeyStoreEntry::PrivateKeyChain(chain));
        let bytes = store.writer("").encryption_iterations(10).mac_iterations(10).write().unwrap();
        let two = open_pkcs12(path, &bytes, None).unwrap_err();
        assert!(two.problem.contains("2 private keys"), "{two}");
    }
}
