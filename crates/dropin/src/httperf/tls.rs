//! How TLS is to be spoken.

use super::args::Args;
use brunt_model::plan::{Tls, TlsVersion};

/// What `--ssl-protocol` takes. Older versions are known and not spoken.
const PROTOCOLS: [(&str, &[TlsVersion]); 3] =
    [("tlsv1_2", &[TlsVersion::V12]), ("tlsv1_3", &[TlsVersion::V13]), ("auto", &[])];

/// How TLS is to be spoken, and what of the wish cannot be met.
pub fn wanted(args: &Args) -> (Tls, Option<String>) {
    let asked = args.ssl_protocol.as_ref().map(|name| name.to_ascii_lowercase().replace('.', "_"));
    let versions = asked.as_ref().and_then(|asked| PROTOCOLS.iter().find(|(name, _)| name == asked));
    let old = asked.filter(|_| versions.is_none());
    let told = old.map(|asked| format!("--ssl-protocol={asked}: brunt speaks TLS 1.2 and 1.3 only; both are offered"));
    let (ciphers, unknown) = args.ssl_ciphers.as_deref().map_or((Vec::new(), None), crate::ciphers::known);
    let tls = Tls {
        cacert: args.ssl_ca_file.clone(),
        cert: args.ssl_certificate.clone(),
        key: args.ssl_key.clone().or_else(|| args.ssl_certificate.clone()),
        insecure: !args.ssl_verify,
        sni: args.tls_server_name.clone(),
        no_resumption: args.ssl_no_reuse,
        early_data: false,
        // httperf 0.9.0 names nobody.
        no_sni: args.tls_server_name.is_none() && !args.ssl_verify,
        versions: versions.map(|(_, versions)| versions.to_vec()).unwrap_or_default(),
        ciphers,
        groups: Vec::new(),
    };
    (
        tls,
        told.or_else(|| {
            unknown.map(|name| {
                format!("--ssl-ciphers {name}: no such cipher suite here; those that are known are offered")
            })
        }),
    )
}
