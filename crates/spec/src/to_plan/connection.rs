//! Creates the connection settings of a plan, and refuses settings that exclude each other.

use crate::System;
use crate::error::{Result, require};
use crate::grpc;
use crate::settings::{HttpSettings, RunSettings};
use brunt_model::plan::{ConnectionSettings, HttpVersion, TlsSettings, TlsVersion};
use std::path::Path;

/// Creates the connection settings of the plan. With `http: auto`, the server is asked for its
/// versions.
pub(super) fn connection(run: &RunSettings, system: &System) -> Result<ConnectionSettings> {
    check_certificates(run)?;
    let http = check_expected_http(run, http_version(run, system)?)?;
    let authority = run.http.authority.as_deref();
    require!(run.sources, authority.is_none() || run.calls_grpc(), |names| {
        let (authority, grpc) = (names.name_of("authority"), names.name_of("grpc"));
        format!(
            "{authority} is for calls of gRPC; add {grpc} package.Service/Method, or set the header Host"
        )
    });
    let sni = run.connection.tls.sni.clone();
    let sni = sni.or_else(|| authority.map(|name| grpc::server_name(name).to_owned()));
    let versions = tls_versions(run, http)?;
    let tls = TlsSettings { versions, sni, ..run.connection.tls.clone() };
    Ok(ConnectionSettings {
        http,
        requests_per_connection: requests_per_connection(run)?,
        tls,
        ..run.connection.clone()
    })
}

/// Returns the versions of TLS to offer; empty: all. Each needs one of the cipher suites.
fn tls_versions(run: &RunSettings, http: HttpVersion) -> Result<Vec<TlsVersion>> {
    let HttpSettings { tls_min, tls_max, .. } = run.http;
    let all = [TlsVersion::V12, TlsVersion::V13];
    let versions: Vec<TlsVersion> = all
        .into_iter()
        .filter(|version| {
            (tls_min != Some(TlsVersion::V13) || *version == TlsVersion::V13)
                && (tls_max != Some(TlsVersion::V12) || *version == TlsVersion::V12)
        })
        .collect();
    require!(run.sources, !versions.is_empty(), |names| {
        let (min, max) = (names.name_of("tls-min"), names.name_of("tls-max"));
        format!("{min} 1.3 is above {max} 1.2; write {max} 1.3, or leave one of them out")
    });
    require!(
        run.sources,
        http != HttpVersion::V3 || versions.contains(&TlsVersion::V13),
        |names| {
            format!(
                "HTTP/3 needs TLS 1.3; leave {} out, or write --http 2",
                names.name_of("tls-max")
            )
        }
    );
    let ciphers = &run.connection.tls.ciphers;
    let has_cipher = versions
        .iter()
        .filter(|version| http != HttpVersion::V3 || **version == TlsVersion::V13)
        .any(|version| {
            // The library begins the names of suites of TLS 1.3 like this.
            ciphers.iter().any(|suite| suite.starts_with("TLS13_") == (*version == TlsVersion::V13))
        });
    require!(run.sources, ciphers.is_empty() || has_cipher, |names| {
        format!(
            "{}: no suite is for the offered versions of TLS; add one such as {}",
            names.name_of("ciphers"),
            if versions.contains(&TlsVersion::V13) {
                "TLS_AES_128_GCM_SHA256"
            } else {
                "ECDHE-RSA-AES128-GCM-SHA256"
            }
        )
    });
    Ok(if tls_min.is_none() && tls_max.is_none() { Vec::new() } else { versions })
}

/// The HTTP version of the run. Without one in the settings: HTTP/2 for gRPC, otherwise HTTP/1.1.
/// With `auto`: the best one that the server offers.
fn http_version(run: &RunSettings, system: &System) -> Result<HttpVersion> {
    if run.http.is_auto {
        require!(run.sources, run.http.versions.is_empty() && !run.calls_grpc(), |names| {
            format!(
                "{}: auto must be the only value, and excludes gRPC, which needs HTTP/2",
                names.name_of("http")
            )
        });
        return (system.best_http_version)(run).map_err(|why| {
            run.sources.refuse(|names| {
                format!("{}: auto asks the server, and there was no answer ({why}); start it, or write a version, such as 2", names.name_of("http"))
            })
        });
    }
    match *run.http.versions {
        // gRPC is defined over HTTP/2 only.
        [] if run.calls_grpc() => Ok(HttpVersion::V2),
        [] => Ok(HttpVersion::V1_1),
        [version] if run.calls_grpc() && version != HttpVersion::V2 => {
            Err(run.sources.refuse(|names| format!("gRPC needs HTTP/2; leave {} out", names.name_of("http"))))
        }
        [version] => Ok(version),
        _ => Err(run.sources.refuse(|names| {
            format!(
                "{}: one run has one version; to compare them, write brunt compare --http 1.1,2 URL",
                names.name_of("http")
            )
        })),
    }
}

/// Returns the HTTP version if `expect-http` is empty or contains it.
fn check_expected_http(run: &RunSettings, version: HttpVersion) -> Result<HttpVersion> {
    let expected = &run.checks.expect_http;
    require!(run.sources, expected.is_empty() || expected.contains(&version), |names| {
        let expect = names.name_of("expect-http");
        let http = names.name_of("http");
        if run.http.is_auto {
            format!("{expect}: the best that the server offers is {version}; see brunt check URL")
        } else {
            format!("{expect}: {http} is {version}; write a good version there, or auto")
        }
    });
    Ok(version)
}

/// Number of requests after which a connection is closed; 1 without keep-alive, None without a
/// limit.
fn requests_per_connection(run: &RunSettings) -> Result<Option<u64>> {
    match (run.http.no_keepalive, run.connection.requests_per_connection) {
        // Both settings mean the same, so giving both is no contradiction.
        (true, None | Some(1)) => Ok(Some(1)),
        (true, Some(n)) => Err(run.sources.refuse(|names| {
            let closes = names.name_of("no-keepalive");
            let several = names.name_of("requests-per-connection");
            format!("{closes} means one request a connection, and {several} {n} means {n}; write one of them")
        })),
        (false, n) => Ok(n),
    }
}

/// Checks that a client certificate has a key, and that the password opens it. The files of a
/// folder are checked when the run begins.
fn check_certificates(run: &RunSettings) -> Result<()> {
    let tls = &run.connection.tls;
    // The files of a folder contain certificate and key, so a separate key has no certificate.
    let is_folder = tls.cert.as_deref().is_some_and(Path::is_dir);
    require!(run.sources, !is_folder || tls.key.is_none(), |names| {
        let cert = names.name_of("cert");
        let key = names.name_of("key");
        format!(
            "{key} is for one certificate, but {cert} is a folder: leave {key} out, and write each key into the file of its certificate"
        )
    });
    require!(run.sources, tls.key.is_none() || tls.cert.is_some(), |names| {
        let key = names.name_of("key");
        format!(
            "{key} needs its certificate; add {} FILE (the same FILE if it holds both)",
            names.name_of("cert")
        )
    });
    // Only here is the password known with its file.
    brunt_wire::tls::identity(tls).map(drop).map_err(|error| {
        run.sources.refuse(|names| {
            let lacks_file = tls.key.is_none();
            let cert = names.name_of(if lacks_file { "cert" } else { "key" });
            format!("{cert}: {error}")
        })
    })
}
