//! Creates certificate authorities and certificates.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use std::fs;
use std::path::{Path, PathBuf};

/// A certificate authority that only these tests trust. Its certificate is a file.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    dir: PathBuf,
    /// Path of its certificate.
    pub pem: String,
}

/// A certificate and its key, in files.
pub struct CertificateFiles {
    pub cert: String,
    pub key: String,
}

impl Authority {
    /// Creates an authority with its files in `dir`.
    pub fn new(dir: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().expect("a key");
        let pem = write(dir, "ca", &params.self_signed(&key).expect("a certificate").pem());
        Self { issuer: Issuer::new(params, key), dir: dir.to_owned(), pem }
    }

    /// Creates a certificate for a name.
    pub fn certify(&self, name: &str) -> CertificateFiles {
        self.certify_until(name, 4096)
    }

    /// Creates a certificate for a name that is valid until the first day of a year.
    pub fn certify_until(&self, name: &str, year: i32) -> CertificateFiles {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        params.not_after = date_time_ymd(year, 1, 1);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let cert = params.signed_by(&key, &self.issuer).expect("a certificate");
        CertificateFiles {
            cert: write(&self.dir, &format!("{name}.cert"), &cert.pem()),
            key: write(&self.dir, &format!("{name}.key"), &key.serialize_pem()),
        }
    }
}

/// Creates a self-signed certificate. As an authority it equals the result of `openssl req -x509`.
pub fn self_signed(dir: &Path, name: &str, is_ca: IsCa) -> CertificateFiles {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
    params.is_ca = is_ca;
    let key = KeyPair::generate().expect("a key");
    let cert = params.self_signed(&key).expect("a certificate");
    CertificateFiles {
        cert: write(dir, "own.cert", &cert.pem()),
        key: write(dir, "own.key", &key.serialize_pem()),
    }
}

fn write(dir: &Path, name: &str, pem: &str) -> String {
    let file = dir.join(name);
    fs::write(&file, pem).expect("a file");
    file.display().to_string()
}
