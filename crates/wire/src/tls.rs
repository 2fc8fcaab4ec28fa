//! Configures TLS: trusted authorities, client certificates, and session resumption.
//!
//! * `files`: reads certificates and keys. `encryption`: decrypts them. `refusal`: explains why a
//!   handshake failed.

mod encryption;
pub mod files;
mod refusal;

use brunt_model::plan::{HttpVersion, TlsSettings, TlsVersion};
use files::{BadTlsFile, Identity};
pub use refusal::{HandshakeFailure, HandshakeFailureCause};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::aws_lc_rs::{ALL_KX_GROUPS, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind, InconsistentKeys,
    KeyLogFile, RootCertStore, SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum BadTls {
    /// A file contains no certificate or key that can be used.
    #[error("{0}: {1}")]
    File(String, BadTlsFile),
    /// A folder of certificates cannot be used.
    #[error(
        "{0}: {1}; write a folder with .pem or .p12 files, each with a certificate and its key"
    )]
    Folder(String, String),
    /// The named cipher suite is unknown.
    #[error(
        "{0} is no cipher suite that is known here; write one such as TLS13_AES_128_GCM_SHA256"
    )]
    Cipher(String),
    /// The named key exchange group is unknown.
    #[error("`{0}` is not a known key exchange group; write some of {names}", names = groups().join(", "))]
    Group(String),
    /// The file of `SSLKEYLOGFILE` cannot be written.
    #[error("SSLKEYLOGFILE: {0} cannot be written ({1}); name a file that can be, or unset it")]
    KeyLog(String, std::io::Error),
    /// The TLS library refuses the settings.
    #[error("TLS")]
    Refused(#[from] Error),
}

/// The TLS settings of the clients of a run: one for all, or one for each certificate of a folder.
/// Connections with the same settings resume each other's sessions.
pub struct TlsClients(Vec<Arc<ClientConfig>>);

impl TlsClients {
    /// Reads certificates and keys. If the certificate is a folder, each of its files in PEM or
    /// PKCS #12 contains one with its key.
    ///
    /// # Errors
    ///
    /// [`BadTls`] if a certificate or key cannot be read or used.
    pub fn new(tls: &TlsSettings, http: HttpVersion) -> Result<Self, BadTls> {
        let Some(folder) = tls.cert.as_deref().filter(|cert| cert.is_dir()) else {
            return Ok(Self(vec![Arc::new(config(tls, http)?)]));
        };
        let common = config(&TlsSettings { cert: None, key: None, ..tls.clone() }, http)?;
        let files = identity_files(folder)?;
        files
            .iter()
            .map(|path| folder_client(&common, tls, folder, path))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Number of different settings.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the settings of the client with this number. Clients use the certificates in turn.
    pub fn config(&self, client: u64) -> &Arc<ClientConfig> {
        &self.0[(client % self.0.len() as u64) as usize]
    }
}

/// Maximum number of sessions that each client of a folder of certificates may resume.
const SESSIONS_PER_CLIENT: usize = 4;

/// Returns the settings of a client with the certificate and key in one file of a folder.
fn folder_client(
    common: &ClientConfig,
    tls: &TlsSettings,
    folder: &Path,
    path: &Path,
) -> Result<Arc<ClientConfig>, BadTls> {
    let identity = files::identity(path, tls.key_password.as_deref());
    let identity = identity.map_err(|wrong| BadTls::File(path.display().to_string(), wrong))?;
    let resolver = certificate_resolver(identity, common.crypto_provider()).map_err(|error| {
        folder_error(folder, &format!("{} cannot be used: {error}", path.display()))
    })?;
    let mut config = common.clone();
    config.client_auth_cert_resolver = resolver;
    if !tls.no_resumption {
        // A session belongs to the client that created it.
        config.resumption = Resumption::in_memory_sessions(SESSIONS_PER_CLIENT);
    }
    Ok(Arc::new(config))
}

/// Returns the certificate that a client sends to servers which ask for one. The library's own
/// constructor refuses certificates of version 1, which `openssl x509 -req` writes without
/// extensions, and which servers accept.
fn certificate_resolver(
    identity: Identity,
    provider: &CryptoProvider,
) -> Result<Arc<SingleCertAndKey>, Error> {
    let Identity { chain, key } = identity;
    let certified = CertifiedKey::new(chain, provider.key_provider.load_private_key(key)?);
    match certified.keys_match() {
        Err(error @ Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(error),
        _ => Ok(Arc::new(SingleCertAndKey::from(certified))),
    }
}

/// Endings of files in a folder of certificates.
const IDENTITY_ENDINGS: [&str; 3] = ["pem", "p12", "pfx"];

/// Returns the files with certificates of a folder, sorted by name.
fn identity_files(folder: &Path) -> Result<Vec<PathBuf>, BadTls> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| folder_error(folder, &error.to_string()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| {
        path.extension().is_some_and(|ending| {
            IDENTITY_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        })
    });
    // readdir(3) has no order, and each run must give a client the same certificate.
    files.sort();
    if files.is_empty() {
        return Err(folder_error(folder, "no file in it ends with .pem, .p12 or .pfx"));
    }
    Ok(files)
}

fn folder_error(folder: &Path, why: &str) -> BadTls {
    BadTls::Folder(folder.display().to_string(), why.to_owned())
}

/// Returns the settings of clients that share one certificate, or have none.
fn config(tls: &TlsSettings, http: HttpVersion) -> Result<ClientConfig, BadTls> {
    let provider = Arc::new(provider(tls, http)?);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&versions(&tls.versions))?;
    let trust = trust(tls, &provider)?;
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { provider, trust }));
    let mut config = match identity(tls)? {
        Some(identity) => {
            let resolver = certificate_resolver(identity, builder.crypto_provider())?;
            builder.with_client_cert_resolver(resolver)
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = alpn(http).iter().map(|name| name.as_bytes().to_vec()).collect();
    config.enable_sni = !tls.no_sni;
    if tls.no_resumption {
        config.resumption = Resumption::disabled();
    }
    if let Some(path) = std::env::var_os("SSLKEYLOGFILE") {
        // The library reports no error for a file that it cannot write.
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(&path);
        opened.map_err(|error| BadTls::KeyLog(path.display().to_string(), error))?;
        config.key_log = Arc::new(KeyLogFile::new());
    }
    Ok(config)
}

/// Reads the certificate and the key of the client; None if it has none, or a folder of them.
/// Without a file of its own, the key is in that of the certificate.
///
/// # Errors
///
/// [`BadTls::File`] if a file cannot be read, lacks its content, or the password is wrong.
pub fn identity(tls: &TlsSettings) -> Result<Option<Identity>, BadTls> {
    let Some(certificate) = tls.cert.as_deref().filter(|certificate| !certificate.is_dir()) else {
        return Ok(None);
    };
    let key = tls.key.as_deref().unwrap_or(certificate);
    files::identity_of(certificate, key, tls.key_password.as_deref())
        .map(Some)
        .map_err(|(path, wrong)| BadTls::File(path.display().to_string(), wrong))
}

/// Returns the names of all supported cipher suites, such
/// as `TLS13_AES_128_GCM_SHA256`, best first.
pub fn suites() -> Vec<&'static str> {
    let suites = rustls::crypto::aws_lc_rs::default_provider().cipher_suites;
    suites.iter().filter_map(|suite| suite.suite().as_str()).collect()
}

/// Returns the suite that rustls, IANA or OpenSSL calls like this, in any case.
pub fn suite_named(name: &str) -> Option<&'static str> {
    suites().into_iter().find(|suite| {
        let other_names = [suite.replacen("TLS13_", "TLS_", 1), openssl_name(suite)];
        suite.eq_ignore_ascii_case(name)
            || other_names.iter().any(|other| other.eq_ignore_ascii_case(name))
    })
}

/// Returns OpenSSL's name of a suite: `TLS_AES_256_GCM_SHA384`, `ECDHE-RSA-AES256-GCM-SHA384`.
pub fn openssl_name(suite: &str) -> String {
    if let Some(name) = suite.strip_prefix("TLS13_") {
        return format!("TLS_{name}");
    }
    let name = suite
        .trim_start_matches("TLS_")
        .replace("_WITH_", "_")
        .trim_end_matches("_SHA256")
        .to_owned();
    // OpenSSL leaves SHA256 out of the names of ChaCha20 suites.
    let sha =
        if suite.contains("CHACHA20") || !suite.ends_with("_SHA256") { "" } else { "_SHA256" };
    format!("{name}{sha}").replace("AES_", "AES").replace('_', "-")
}

/// Returns the names of all key exchange groups, such as `X25519`, in the library's order.
pub fn groups() -> Vec<&'static str> {
    ALL_KX_GROUPS.iter().filter_map(|group| group.name().as_str()).collect()
}

/// Returns the key exchange groups that are offered, best first. The first one gets a key share in
/// the first message, and so does its classical part if it is a hybrid. Browsers use the same
/// order, so servers that prefer `X25519MLKEM768` need no further round trip.
fn offered_groups(names: &[String]) -> Result<Vec<&'static dyn SupportedKxGroup>, BadTls> {
    if names.is_empty() {
        return Ok(vec![
            kx_group::X25519MLKEM768,
            kx_group::X25519,
            kx_group::SECP256R1,
            kx_group::SECP384R1,
        ]);
    }
    names.iter().map(|name| group_named(name).ok_or_else(|| BadTls::Group(name.clone()))).collect()
}

fn group_named(name: &str) -> Option<&'static dyn SupportedKxGroup> {
    let mut groups = ALL_KX_GROUPS.iter().copied();
    groups.find(|group| group.name().as_str().is_some_and(|other| other.eq_ignore_ascii_case(name)))
}

/// The suite of TLS 1.3 with AES and 128 bits.
const AES_128: &str = "TLS13_AES_128_GCM_SHA256";

/// Returns the crypto provider, limited to the named cipher suites and groups, in this order. Over
/// QUIC, AES with 128 bits comes first, as in browsers: some servers fail with 256 bits after an
/// update of keys.
fn provider(tls: &TlsSettings, http: HttpVersion) -> Result<CryptoProvider, BadTls> {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.kx_groups = offered_groups(&tls.groups)?;
    if http == HttpVersion::V3 {
        let is_aes_128 = |suite: &SupportedCipherSuite| suite.suite().as_str() == Some(AES_128);
        provider.cipher_suites.sort_by_key(|suite| !is_aes_128(suite));
    }
    let ciphers = &tls.ciphers;
    if !ciphers.is_empty() {
        let all = std::mem::take(&mut provider.cipher_suites);
        for name in ciphers {
            let suite = all.iter().find(|suite| suite.suite().as_str() == Some(name));
            provider.cipher_suites.push(*suite.ok_or_else(|| BadTls::Cipher(name.clone()))?);
        }
    }
    Ok(provider)
}

/// True if TLS 1.3 is offered, with one of its cipher suites.
#[cfg(feature = "http3")]
pub(crate) fn offers_tls13(tls: &TlsSettings) -> bool {
    let has_version = tls.versions.is_empty() || tls.versions.contains(&TlsVersion::V13);
    // The library begins the names of suites of TLS 1.3 like this.
    let mut suites = tls.ciphers.iter().filter(|name| name.starts_with("TLS13_"));
    has_version && (tls.ciphers.is_empty() || suites.next().is_some())
}

fn versions(requested: &[TlsVersion]) -> Vec<&'static SupportedProtocolVersion> {
    let all: [(TlsVersion, &'static SupportedProtocolVersion); 2] =
        [(TlsVersion::V13, &rustls::version::TLS13), (TlsVersion::V12, &rustls::version::TLS12)];
    all.into_iter()
        .filter(|(version, _)| requested.is_empty() || requested.contains(version))
        .map(|(_, version)| version)
        .collect()
}

/// Creates a connection that requests `host`, or the name that the plan sets in its place.
///
/// # Errors
///
/// The reason in words, if the name is invalid.
pub fn connection(
    config: &Arc<ClientConfig>,
    tls: &TlsSettings,
    host: &str,
) -> Result<Box<ClientConnection>, String> {
    let name = tls.sni.as_deref().unwrap_or(host).to_owned();
    let name = ServerName::try_from(name).map_err(|e| format!("{host}: {e}"))?;
    ClientConnection::new(Arc::clone(config), name).map(Box::new).map_err(|e| e.to_string())
}

/// The result of a handshake.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handshake {
    /// TLS version, such as `TLSv1.3`.
    pub version: Option<String>,
    /// Cipher suite, such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: Option<String>,
    /// Key exchange group, such as `X25519`.
    pub group: Option<String>,
    /// Protocol chosen by ALPN, such as `http/1.1`; None if the server chose none.
    pub alpn: Option<String>,
    /// The server's certificates in DER, in the order sent, its own first. For a resumed session,
    /// those of the first session.
    pub certificates: Vec<Vec<u8>>,
    /// True if an earlier session was resumed.
    pub resumed: bool,
    /// True if the server requested a further key share (`HelloRetryRequest`), which
    /// took another round trip.
    pub retried: bool,
}

/// Returns the protocols offered by ALPN for an HTTP version, best first.
pub fn alpn(http: HttpVersion) -> &'static [&'static str] {
    match http {
        HttpVersion::V1_0 | HttpVersion::V1_1 => &["http/1.1"],
        HttpVersion::V2 => &["h2"],
        HttpVersion::V3 => &["h3"],
    }
}

/// Returns the result of a connection's handshake.
pub fn handshake(connection: &ClientConnection) -> Handshake {
    let certificates = connection.peer_certificates().unwrap_or_default();
    Handshake {
        version: connection
            .protocol_version()
            .and_then(|v| v.as_str())
            .map(|v| v.replace('_', ".")),
        cipher: connection
            .negotiated_cipher_suite()
            .and_then(|c| c.suite().as_str())
            .map(str::to_owned),
        group: connection
            .negotiated_key_exchange_group()
            .and_then(|g| g.name().as_str())
            .map(str::to_owned),
        alpn: connection.alpn_protocol().map(|p| String::from_utf8_lossy(p).into_owned()),
        certificates: certificates.iter().map(|c| c.as_ref().to_vec()).collect(),
        resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        retried: connection.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest),
    }
}

fn trust(tls: &TlsSettings, provider: &Arc<CryptoProvider>) -> Result<Trust, BadTls> {
    if tls.insecure {
        return Ok(Trust::Any);
    }
    let trusted = tls.cacert.as_deref().map(certificates).transpose()?;
    let roots = Arc::new(roots(trusted.as_deref())?);
    let authorities = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
        .build()
        .map_err(|e| BadTls::Refused(Error::General(e.to_string())))?;
    Ok(Trust::Known { authorities, trusted: trusted.unwrap_or_default() })
}

fn roots(cacert: Option<&[CertificateDer<'static>]>) -> Result<RootCertStore, BadTls> {
    let mut store = RootCertStore::empty();
    if let Some(trusted) = cacert {
        for certificate in trusted {
            // With --cacert, the system's authorities are not trusted.
            store.add(certificate.clone())?;
        }
        return Ok(store);
    }
    // Unreadable certificates of the system are skipped: a handshake that needs one reports it.
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Ok(store)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadTls> {
    files::certificates(path).map_err(|wrong| BadTls::File(path.display().to_string(), wrong))
}

/// Seeds this thread's random number generator. Its first use takes tens of milliseconds of CPU,
/// which would count as handshake time of each worker's first connection.
pub fn seed_random_numbers() {
    let mut byte = [0];
    // If it fails here, it fails again in the handshake, which reports it.
    let _ = rustls::crypto::aws_lc_rs::default_provider().secure_random.fill(&mut byte);
}

/// Decides whether a server's certificate is trusted. Signatures are always checked.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    trust: Trust,
}

/// The certificates that are trusted.
#[derive(Debug)]
enum Trust {
    /// `--insecure`: all certificates.
    Any,
    /// Those signed by known authorities, and those in the file of `--cacert`, self-signed or not.
    Known { authorities: Arc<WebPkiServerVerifier>, trusted: Vec<CertificateDer<'static>> },
}

thread_local! {
    /// Result of the last certificate check on this thread.
    static VERDICT: RefCell<Option<Result<(), Error>>> = const { RefCell::new(None) };
}

/// Takes the result of the certificate check in the handshake that this thread has just continued.
/// None if there was no check, as when a session is resumed. The QUIC library reports neither.
#[cfg(feature = "http3")]
pub(crate) fn take_verdict() -> Option<Result<(), Error>> {
    VERDICT.take()
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.verify(certificate, chain, name, ocsp, now);
        VERDICT.set(Some(verified.as_ref().map(|_| ()).map_err(Clone::clone)));
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl Verifier {
    /// Checks a certificate. One that the user trusts explicitly needs no known authority.
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Trust::Known { authorities, trusted } = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(certificate, chain, name, ocsp, now) {
            // webpki has checked the validity period before it reports these errors.
            Err(error)
                if lacks_authority(&error)
                    && trusted.iter().any(|trusted| trusted == certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }
}

/// True if no known authority signed the server's certificate.
fn lacks_authority(error: &Error) -> bool {
    matches!(
        HandshakeFailureCause::from_error(error),
        HandshakeFailureCause::UnknownIssuer | HandshakeFailureCause::OwnAuthority
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tls: TlsSettings) -> Result<Arc<ClientConfig>, BadTls> {
        TlsClients::new(&TlsSettings { insecure: true, ..tls }, HttpVersion::V1_1)
            .map(|clients| Arc::clone(clients.config(0)))
    }

    #[test]
    fn suites_are_offered_in_the_requested_order() {
        let requested = ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS13_AES_128_GCM_SHA256"]
            .map(str::to_owned)
            .to_vec();
        let config =
            of(TlsSettings { ciphers: requested.clone(), ..TlsSettings::default() }).unwrap();
        let suites = &config.crypto_provider().cipher_suites;
        assert_eq!(suites.iter().filter_map(|s| s.suite().as_str()).collect::<Vec<_>>(), requested);
        assert!(requested.iter().all(|name| super::suites().contains(&name.as_str())));
    }

    #[test]
    fn aes_128_is_offered_first_over_quic() {
        let provider = super::provider(&TlsSettings::default(), HttpVersion::V3).unwrap();
        assert_eq!(provider.cipher_suites[0].suite().as_str(), Some(super::AES_128));
    }

    #[test]
    fn suites_have_the_names_of_iana_and_openssl() {
        for (name, suite) in [
            ("TLS_AES_128_GCM_SHA256", Some("TLS13_AES_128_GCM_SHA256")),
            ("tls13_aes_256_gcm_sha384", Some("TLS13_AES_256_GCM_SHA384")),
            ("ECDHE-RSA-AES128-GCM-SHA256", Some("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")),
            (
                "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                Some("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
            ),
            ("AES128-SHA", None),
            ("", None),
        ] {
            assert_eq!(suite_named(name), suite, "{name}");
        }
    }

    #[test]
    fn groups_are_offered_in_the_requested_order_or_that_of_browsers() {
        let names = |groups: &[&str]| {
            let groups = groups.iter().map(|name| (*name).to_owned()).collect();
            let config = of(TlsSettings { groups, ..TlsSettings::default() }).unwrap();
            let offered = &config.crypto_provider().kx_groups;
            offered.iter().filter_map(|group| group.name().as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["X25519MLKEM768", "X25519", "secp256r1", "secp384r1"]);
        assert_eq!(names(&["SECP384R1", "x25519"]), ["secp384r1", "X25519"]);
        let unknown = of(TlsSettings { groups: vec!["P-256".into()], ..TlsSettings::default() })
            .unwrap_err()
            .to_string();
        assert!(
            unknown.starts_with("`P-256` is not a known key exchange group; write some of "),
            "{unknown}"
        );
        assert!(unknown.contains("secp256r1, secp384r1"), "{unknown}");
    }

    #[test]
    fn unknown_and_impossible_tls_settings_are_reported() {
        let none = of(TlsSettings { ciphers: vec!["RC4-MD5".into()], ..TlsSettings::default() });
        assert!(
            none.unwrap_err().to_string().contains("RC4-MD5 is no cipher suite that is known here")
        );
        let wrong = TlsSettings {
            ciphers: vec!["TLS13_AES_128_GCM_SHA256".into()],
            versions: vec![TlsVersion::V12],
            ..TlsSettings::default()
        };
        assert!(
            matches!(of(wrong), Err(BadTls::Refused(_))),
            "a suite of 1.3 alone, and 1.2 alone"
        );
    }

    #[test]
    fn the_server_name_is_sent_unless_disabled() {
        assert!(of(TlsSettings::default()).unwrap().enable_sni);
        assert!(!of(TlsSettings { no_sni: true, ..TlsSettings::default() }).unwrap().enable_sni);
    }
}
