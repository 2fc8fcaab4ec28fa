//! Settings of connections: protocols, reuse, timeouts, TLS and addresses.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, on, set, whole};
use crate::settings::{
    ArgumentContent, Occurrence, RunSettings, SettingKey, ValueForm, Visibility,
};
use crate::words::WordError;
use crate::words::named::Suggestion;
use crate::words::values::secrets;
use crate::words::{bytes, duration, values};
use brunt_model::plan::HttpVersion;

type S = RunSettings;

const CONNECTION: &str = "Connection";

/// Rows under the heading of connections.
pub static ROWS: [Row<RunSettings>; 31] = [
    Row::switch("no-keepalive", "A new connection for each request", |_, _| {
        Ok(on(|s: &mut S| s.http.no_keepalive = true))
    })
    .under(CONNECTION)
    .keys(&[SettingKey::new("connection.keepalive", ValueForm::IfFalse)]),
    Row::value("requests-per-connection", "N", "Maximum number of requests on one connection", |w, _| {
        set(whole(w, 1, u64::MAX), |s: &mut S, v| s.connection.requests_per_connection = Some(v))
    })
    .under(CONNECTION)
    .otherwise("no limit")
    .keys(&[SettingKey::new("connection.requests_per_connection", ValueForm::Value)]),
    Row::switch("retry-stale", "Retry if a kept-alive connection turns out to be closed", |_, _| {
        Ok(on(|s: &mut S| s.connection.retry_stale = true))
    })
    .under(CONNECTION)
    .keys(&[SettingKey::new("connection.retry_stale", ValueForm::IfTrue)]),
    Row {
        kind: Occurrence::List,
        ..Row::value(
            "http",
            "VERSION[,VERSION…]",
            "HTTP version: 1.0, 1.1, 2, 3, or auto for the best that the server offers; several are compared (brunt \
             compare --http 1.1,2,3 URL)",
            |w, _| match w {
                // The server is asked later, by `to_plan`, once its URL is known.
                "auto" => Ok(on(|s: &mut S| s.http.is_auto = true)),
                _ => set(values::http_version(w), add_version),
            },
        )
        .under(CONNECTION)
        .suggestions(suggested_http)
    .otherwise("1.1")
        .keys(&[SettingKey::new("connection.http", ValueForm::Value)
            .about("HTTP version: 1.0, 1.1, 2, 3, or auto for the best that the server offers")])
    },
    Row {
        visibility: Visibility::No,
        ..Row::switch("http1.0", "HTTP/1.0 instead of HTTP/1.1", |_, _| {
            Ok(on(|s: &mut S| s.http.versions = vec![HttpVersion::V1_0]))
        })
        .under(CONNECTION)
        .keys(&[SettingKey::new("connection.http1.0", ValueForm::IfTrue)])
    },
    Row::value("streams", "N", "HTTP/2 and 3: requests in flight on each connection", |w, _| {
        set(whole(w, 1, 1 << 20), |s: &mut S, v| s.connection.streams = v)
    })
    .under(CONNECTION)
    .default("1")
    .keys(&[SettingKey::new("connection.streams", ValueForm::Value)]),
    Row {
        visibility: Visibility::No,
        ..Row::switch("h2c", "HTTP/2 over http://, by prior knowledge", |_, _| {
            Ok(on(|s: &mut S| add_version(s, HttpVersion::V2)))
        })
        .under(CONNECTION)
        .keys(&[SettingKey::new("connection.h2c", ValueForm::IfTrue)])
    },
    Row::switch("h2c-upgrade", "HTTP/2 over http:// that begins as HTTP/1.1 with `Upgrade: h2c`", |_, _| {
        Ok(on(|s: &mut S| {
            add_version(s, HttpVersion::V2);
            s.connection.h2c_upgrade = true;
        }))
    })
    .under(CONNECTION)
    .keys(&[SettingKey::new("connection.h2c_upgrade", ValueForm::IfTrue)]),
    Row::value(
        "connections-per-origin",
        "N",
        "Connections of each user to an origin, all in use at once: each user \
         has N times as many requests in flight",
        |w, _| set(whole(w, 1, 1 << 16), |s: &mut S, v| s.connection.connections_per_origin = v),
    )
    .under(CONNECTION)
    .default("1")
    .keys(&[SettingKey::new("connection.connections_per_origin", ValueForm::Value)]),
    Row::value(
        "timeout",
        "TIME",
        "Timeout of a request, from connecting or sending to the last byte of the reply",
        |w, _| set(duration::positive(w), |s: &mut S, v| s.connection.timeout = v),
    )
    .under(CONNECTION)
    // curl's names.
    .aliases(&["m", "max-time"])
    .content(ArgumentContent::Number)
    .default(defaults::TIMEOUT)
    .keys(&[SettingKey::new("connection.timeout", ValueForm::Value)]),
    Row::value("connect-timeout", "TIME", "Timeout of name resolution, connect and TLS handshake together", |w, _| {
        set(duration::positive(w), |s: &mut S, v| s.connection.connect_timeout = v)
    })
    .under(CONNECTION)
    .default(defaults::CONNECT_TIMEOUT)
    .keys(&[SettingKey::new("connection.connect_timeout", ValueForm::Value)]),
    Row::value("receive-rate", "BYTES", "Bytes/s each connection reads, such as 10k", |w, _| {
        set(bytes::rate(w), |s: &mut S, v| s.connection.receive_rate = Some(v))
    })
    .under(CONNECTION)
    .otherwise("no limit")
    .keys(&[SettingKey::new("connection.receive_rate", ValueForm::Value)]),
    Row::value("cacert", "FILE", "Certificates to trust, as PEM or DER: authorities, or the server's own", |w, _| {
        set(values::certificates(w), |s: &mut S, v| s.connection.tls.cacert = Some(v))
    })
    .under(CONNECTION)
    .otherwise("the system's")
    .content(ArgumentContent::Path)
    .keys(&[SettingKey::new("connection.cacert", ValueForm::File)]),
    Row::value(
        "cert",
        "FILE",
        "Our own certificate, as PEM, DER or PKCS #12; a folder: users take its .pem and .p12 files \
         in turn, each with certificate and key",
        |w, _| set(values::certificate_or_folder(w), |s: &mut S, v| s.connection.tls.cert = Some(v)),
    )
    .under(CONNECTION)
    .content(ArgumentContent::Path)
    .keys(&[SettingKey::new("connection.cert", ValueForm::File)]),
    Row::value("key", "FILE", "The private key of --cert, as PEM or DER", |w, _| {
        set(values::private_key(w), |s: &mut S, v| s.connection.tls.key = Some(v))
    })
    .under(CONNECTION)
    .content(ArgumentContent::Path)
    .otherwise("in the file of --cert")
    .keys(&[SettingKey::new("connection.key", ValueForm::File)]),
    Row {
        needs: Some("cert"),
        ..Row::value(
            "key-password",
            "PASS|@FILE",
            "Password of an encrypted key or of PKCS #12, or the content of FILE",
            |w, env| set(secrets::bearer(w, env), |s: &mut S, v| s.connection.tls.key_password = Some(v)),
        )
        .under(CONNECTION)
        // curl's name.
        .aliases(&["pass"])
        .keys(&[SettingKey::new("connection.key_password", ValueForm::Data)])
    },
    Row::switch("insecure", "Trust any certificate of the server", |_, _| {
        Ok(on(|s: &mut S| s.connection.tls.insecure = true))
    })
    .under(CONNECTION)
    .short('k')
    .keys(&[SettingKey::new("connection.insecure", ValueForm::IfTrue)]),
    Row::value("sni", "NAME", "Server name of the TLS handshake", |w, _| {
        set(values::text(w), |s: &mut S, v| s.connection.tls.sni = Some(v))
    })
    .under(CONNECTION)
    .otherwise("the URL's host")
    .keys(&[SettingKey::new("connection.sni", ValueForm::Value)]),
    Row::value(
        "authority",
        "HOST[:PORT]",
        "gRPC: the server's name in calls (`:authority`), and in the TLS handshake unless --sni sets it",
        |w, _| set(values::authority(w), |s: &mut S, v| s.http.authority = Some(v)),
    )
    .under(CONNECTION)
    .otherwise("the URL's host and port")
    .keys(&[SettingKey::new("connection.authority", ValueForm::Value)]),
    Row::switch("no-tls-resumption", "A full TLS handshake for each connection", |_, _| {
        Ok(on(|s: &mut S| s.connection.tls.no_resumption = true))
    })
    .under(CONNECTION)
    .keys(&[SettingKey::new("connection.tls_resumption", ValueForm::IfFalse)]),
    Row::value("tls-min", "VERSION", "Lowest TLS version to offer: 1.2 or 1.3", |w, _| {
        set(values::tls_version(w), |s: &mut S, v| s.http.tls_min = Some(v))
    })
    .under(CONNECTION)
    .suggestions(values::suggested_tls_versions)
    .otherwise("1.2")
    .keys(&[SettingKey::new("connection.tls_min", ValueForm::Value)]),
    Row::value("tls-max", "VERSION", "Highest TLS version to offer: 1.2 or 1.3", |w, _| {
        set(values::tls_version(w), |s: &mut S, v| s.http.tls_max = Some(v))
    })
    .under(CONNECTION)
    .suggestions(values::suggested_tls_versions)
    .otherwise("1.3")
    .keys(&[SettingKey::new("connection.tls_max", ValueForm::Value)]),
    Row::value("ciphers", "LIST", "Cipher suites of TLS, best first", |w, _| {
        set(values::tls_ciphers(w), |s: &mut S, v| s.connection.tls.ciphers = v)
    })
    .under(CONNECTION)
    .suggestions(values::suggested_ciphers)
    .otherwise("all")
    .keys(&[SettingKey::new("connection.ciphers", ValueForm::Value)]),
    Row::value("tls-groups", "LIST", "Key exchange groups of TLS, best first", |w, _| {
        set(values::tls_groups(w), |s: &mut S, v| s.connection.tls.groups = v)
    })
    .under(CONNECTION)
    .otherwise("X25519MLKEM768,X25519,secp256r1,secp384r1")
    .keys(&[SettingKey::new("connection.tls_groups", ValueForm::Value)]),
    Row::switch(
        "early-data",
        "HTTP/3: send GET requests with the first packets of a resumed connection (0-RTT)",
        |_, _| Ok(on(|s: &mut S| s.connection.tls.early_data = true)),
    )
    .under(CONNECTION)
    .keys(&[SettingKey::new("connection.early_data", ValueForm::IfTrue)]),
    Row::repeated("resolve", "HOST:PORT:ADDR", "Connect to ADDR for HOST:PORT", |w, _| {
        set(values::resolve(w), |s: &mut S, v| s.connection.resolve.push(v))
    })
    .under(CONNECTION)
    .keys(&[
        SettingKey::new("connection.resolve", ValueForm::Each).about("Connect to ADDR for HOST:PORT, each HOST:PORT:ADDR")
    ]),
    Row {
        // Each of these also determines the destination of connections.
        excludes: &["proxy", "resolve", "unix-socket"],
        ..Row::value(
            "resolve-all",
            "ADDR:PORT[,tls]",
            "Connect to ADDR:PORT for all URLs, without TLS or, with `,tls`, with TLS",
            |w, _| set(values::resolve_all(w), |s: &mut S, v| s.connection.resolve_all = Some(v)),
        )
        .under(CONNECTION)
        .keys(&[SettingKey::new("connection.resolve_all", ValueForm::Value)
            .about("Connect to this address for all URLs: 127.0.0.1:8080 without TLS, or 127.0.0.1:8443,tls")])
    },
    Row::value("resolve-every", "TIME", "Re-resolve DNS at this interval", |w, _| {
        set(duration::positive(w), |s: &mut S, v| s.connection.resolve_every = Some(v))
    })
    .under(CONNECTION)
    .otherwise("once for the run")
    .keys(&[SettingKey::new("connection.resolve_every", ValueForm::Value)]),
    Row::value("proxy", "URL", "An HTTP proxy, as HOST:PORT or `http://HOST:PORT`", |w, env| {
        set(values::proxy(w, env), |s: &mut S, v| s.connection.proxy = Some(v))
    })
    .under(CONNECTION)
    .aliases(&["x"])
    .keys(&[SettingKey::new("connection.proxy", ValueForm::Value)]),
    Row {
        // A Unix socket has no addresses, ports and names.
        excludes: &["proxy", "resolve", "resolve-every", "source"],
        ..Row::value("unix-socket", "PATH", "Connect to this Unix socket, whatever the URL's host", |w, _| {
            set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.connection.unix_socket = Some(v))
        })
        .under(CONNECTION)
        .content(ArgumentContent::Path)
        .keys(&[SettingKey::new("connection.unix_socket", ValueForm::File)])
    },
    Row {
        kind: Occurrence::List,
        ..Row::value("source", "ADDR[,ADDR…]", "Local addresses to connect from, in turn", |w, _| {
            set(values::address(w), |s: &mut S, v| s.connection.source.push(v))
        })
        .under(CONNECTION)
        .keys(&[SettingKey::new("connection.source", ValueForm::Commas)])
    },
];

/// Returns the values of `--http` that shells propose.
fn suggested_http() -> Vec<Suggestion> {
    let mut all = values::suggested_http_versions();
    all.push(Suggestion::new("auto", "the best version that the server offers"));
    all
}

/// Adds a version of HTTP unless it is named already.
fn add_version(settings: &mut S, version: HttpVersion) {
    if !settings.http.versions.contains(&version) {
        settings.http.versions.push(version);
    }
}
