//! How connections are made and kept.

use crate::args::RunArgs;
use crate::args::connection::ConnectionArgs;
use anyhow::{Result, bail};
use brunt_model::plan::{Connection, Tls};

/// The connection part of the plan.
pub(super) fn connection(run: &RunArgs) -> Result<Connection> {
    let args = &run.connection;
    Ok(Connection {
        http10: args.http10,
        requests_per_connection: requests_per_connection(args)?,
        streams: 1,
        retry_stale: args.retry_stale,
        connect_rate: run.load.connect_rate,
        resolve: args.resolve.clone(),
        resolve_every: args.resolve_every,
        proxy: args.proxy.clone(),
        unix_socket: args.unix_socket.clone(),
        source: args.source.clone(),
        receive_rate: args.receive_rate,
        tls: tls(args)?,
        ..Connection::plain(args.timeout, args.connect_timeout)
    })
}

fn requests_per_connection(args: &ConnectionArgs) -> Result<Option<u64>> {
    match (args.no_keepalive, args.requests_per_connection) {
        (true, None | Some(1)) => Ok(Some(1)),
        (true, Some(n)) => bail!(
            "--no-keepalive means one request a connection, and --requests-per-connection {n} means {n}; write one of them"
        ),
        (false, n) => Ok(n),
    }
}

fn tls(args: &ConnectionArgs) -> Result<Tls> {
    match (&args.cert, &args.key) {
        (Some(_), None) => bail!("--cert needs its private key; add --key FILE (the same FILE if it holds both)"),
        (None, Some(_)) => bail!("--key needs its certificate; add --cert FILE (the same FILE if it holds both)"),
        _ => {}
    }
    Ok(Tls {
        cacert: args.cacert.clone(),
        cert: args.cert.clone(),
        key: args.key.clone(),
        insecure: args.insecure,
        sni: args.sni.clone(),
        no_resumption: args.no_tls_resumption,
        no_sni: false,
        versions: Vec::new(),
        ciphers: Vec::new(),
    })
}
