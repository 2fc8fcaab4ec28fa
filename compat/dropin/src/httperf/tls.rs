//! TLS settings of httperf.

use super::args::HttperfArgs;
use brunt_model::plan::{TlsSettings, TlsVersion};

/// Values of `--ssl-protocol`. Older versions are known but unsupported.
const PROTOCOLS: [(&str, &[TlsVersion]); 3] =
    [("tlsv1_2", &[TlsVersion::V12]), ("tlsv1_3", &[TlsVersion::V13]), ("auto", &[])];

/// Returns the TLS settings, and a note on an option that cannot be honored.
pub fn settings(args: &HttperfArgs) -> (TlsSettings, Option<String>) {
    let requested =
        args.ssl_protocol.as_ref().map(|name| name.to_ascii_lowercase().replace('.', "_"));
    let versions = requested
        .as_ref()
        .and_then(|requested| PROTOCOLS.iter().find(|(name, _)| name == requested));
    let protocol_note = requested.filter(|_| versions.is_none()).map(|name| {
        format!("--ssl-protocol={name}: brunt speaks TLS 1.2 and 1.3 only; both are offered")
    });
    let (ciphers, unknown) =
        args.ssl_ciphers.as_deref().map_or((Vec::new(), None), crate::ciphers::parse_list);
    let tls = TlsSettings {
        cacert: args.ssl_ca_file.clone(),
        cert: args.ssl_certificate.clone(),
        // The file of the certificate may contain the key, too.
        key: args.ssl_key.clone().or_else(|| args.ssl_certificate.clone()),
        key_password: None,
        // By default, httperf verifies no certificate.
        insecure: !args.ssl_verify,
        sni: args.tls_server_name.clone(),
        no_resumption: args.ssl_no_reuse,
        early_data: false,
        // httperf 0.9.0 sends no SNI.
        no_sni: args.tls_server_name.is_none() && !args.ssl_verify,
        versions: versions.map(|(_, versions)| versions.to_vec()).unwrap_or_default(),
        ciphers,
        groups: Vec::new(),
    };
    let cipher_note = unknown.map(|name| {
        format!("--ssl-ciphers {name}: no such cipher suite here; those that are known are offered")
    });
    (tls, protocol_note.or(cipher_note))
}
