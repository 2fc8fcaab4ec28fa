//! Reads the arguments of `autobenchd`, and opens the port where it may listen.

use super::super::super::getopt::Takes;
use super::super::super::getopt::long::{Long, Read, Row};
use super::super::End;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;

/// The arguments of the daemon.
#[derive(Debug, Default)]
pub struct DaemonArgs {
    port: Option<u16>,
    bind: Option<String>,
    help: bool,
    open: bool,
    /// How much is told on stderr.
    pub verbosity: Verbosity,
    /// Another httperf in place of our own.
    pub httperf: Option<PathBuf>,
    /// The file of the secret.
    pub secret: Option<PathBuf>,
}

/// How much is told on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing.
    #[default]
    Silent,
    /// Who orders, and what comes of it.
    Progress,
    /// What httperf says, too.
    Reports,
}

type OptionEffect = fn(&mut DaemonArgs, &str) -> Result<(), String>;

const fn row(long: &'static str, takes: Takes, does: OptionEffect) -> Row<OptionEffect> {
    Row { short: None, long, takes, does }
}

const ROWS: &[Row<OptionEffect>] = &[
    row("port", Takes::Value, |args, text| {
        let port = text.parse().map_err(|_| format!("--port {text}: write a port from 0 to 65535"))?;
        args.port = Some(port);
        Ok(())
    }),
    row("bindaddr", Takes::Value, |args, text| {
        args.bind = Some(text.to_owned());
        Ok(())
    }),
    row("verbose", Takes::Nothing, |args, _| {
        args.verbosity = args.verbosity.max(Verbosity::Progress);
        Ok(())
    }),
    row("debug", Takes::Nothing, |args, _| {
        args.verbosity = Verbosity::Reports;
        Ok(())
    }),
    row("help", Takes::Nothing, |args, _| {
        args.help = true;
        Ok(())
    }),
    row("httperf", Takes::Value, |args, text| {
        args.httperf = Some(PathBuf::from(text));
        Ok(())
    }),
];

const USAGE: &str = "  --port N              port to listen on (4600)
  --bindaddr ADDRESS    address to listen on (0.0.0.0 with a secret, else 127.0.0.1)
  --verbose             log to stderr
  --debug               log httperf's output, too
  --httperf PATH        path of httperf, in place of brunt's own
  --brunt-secret FILE   accept orders only from clients with the same secret
  --brunt-open          listen on any address without a secret
";

/// Reads the words behind the name under which it was called.
pub fn read(called: &str, words: &[String]) -> Result<DaemonArgs, End> {
    let mut args = DaemonArgs::default();
    let mut long = Long::new(words, ROWS);
    while let Some(read) = long.next() {
        match read {
            Read::Option(row, value) => (row.does)(&mut args, value.unwrap_or_default())?,
            Read::Ours("open") => args.open = true,
            Read::Ours(word) if word.split('=').next() == Some("secret") => {
                let file = word.split_once('=').map(|(_, file)| file).or_else(|| long.take_word());
                let file = file.ok_or_else(|| "--brunt-secret has a value; write the file's name behind".to_owned())?;
                args.secret = Some(PathBuf::from(file));
            }
            Read::Ours(word) => return Err(End::Died(format!("unknown option --brunt-{word}\n{USAGE}"))),
            Read::OptionError(wrong) => return Err(End::Died(format!("{wrong}\n{USAGE}"))),
        }
    }
    if let Some(other) = long.others().first() {
        return Err(End::Died(format!("{other}: write options only\n{USAGE}")));
    }
    if args.help {
        return Err(End::Said(format!("usage: {called} [OPTIONS]\n{USAGE}")));
    }
    Ok(args)
}

/// Opens the port, where that is safe or was plainly asked for.
pub fn listen(args: &DaemonArgs, secret: bool) -> Result<TcpListener, String> {
    let port = args.port.unwrap_or(4600);
    let addresses: Vec<SocketAddr> = match &args.bind {
        Some(name) => {
            let found = (name.as_str(), port).to_socket_addrs();
            found.map_err(|error| format!("--bindaddr {name}: {error}"))?.collect()
        }
        None if secret || args.open => vec![(Ipv4Addr::UNSPECIFIED, port).into()],
        None => vec![(Ipv4Addr::LOCALHOST, port).into()],
    };
    if !secret && !args.open && addresses.iter().any(|address| !is_here(address.ip())) {
        return Err("anyone who can reach this port can make this machine send load to any server; write \
                    --brunt-secret FILE here and for autobench_admin, or --brunt-open on a trusted network"
            .into());
    }
    let listener = TcpListener::bind(&addresses[..]).map_err(|error| format!("port {port}: {error}"))?;
    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
    Ok(listener)
}

fn is_here(address: IpAddr) -> bool {
    address.is_loopback()
}
