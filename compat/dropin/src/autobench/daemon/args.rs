//! Parses the arguments of `autobenchd` and opens its port.

use super::super::super::getopt::Argument;
use super::super::super::getopt::long::{LongItem, LongOptions, OptionRow};
use super::super::StopReason;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;

/// Command-line arguments of the daemon.
#[derive(Debug, Default)]
pub struct DaemonArgs {
    port: Option<u16>,
    bind: Option<String>,
    help: bool,
    open: bool,
    pub verbosity: DaemonVerbosity,
    /// Path of httperf; None means brunt's own.
    pub httperf: Option<PathBuf>,
    /// File with the secret.
    pub secret: Option<PathBuf>,
}

/// Amount of output on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DaemonVerbosity {
    #[default]
    Silent,
    /// Connections, orders and their results.
    Progress,
    Reports,
}

type OptionEffect = fn(&mut DaemonArgs, &str) -> Result<(), String>;

const fn row(
    long: &'static str,
    argument: Argument,
    effect: OptionEffect,
) -> OptionRow<OptionEffect> {
    OptionRow { short: None, long, argument, effect }
}

const ROWS: &[OptionRow<OptionEffect>] = &[
    row("port", Argument::Required, |args, text| {
        let port =
            text.parse().map_err(|_| format!("--port {text}: write a port from 0 to 65535"))?;
        args.port = Some(port);
        Ok(())
    }),
    row("bindaddr", Argument::Required, |args, text| {
        args.bind = Some(text.to_owned());
        Ok(())
    }),
    row("verbose", Argument::None, |args, _| {
        args.verbosity = args.verbosity.max(DaemonVerbosity::Progress);
        Ok(())
    }),
    row("debug", Argument::None, |args, _| {
        args.verbosity = DaemonVerbosity::Reports;
        Ok(())
    }),
    row("help", Argument::None, |args, _| {
        args.help = true;
        Ok(())
    }),
    row("httperf", Argument::Required, |args, text| {
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

/// Parses the arguments that follow the program's name.
pub fn read(program_name: &str, words: &[String]) -> Result<DaemonArgs, StopReason> {
    let mut args = DaemonArgs::default();
    let mut long = LongOptions::new(words, ROWS);
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(row, value) => (row.effect)(&mut args, value.unwrap_or_default())?,
            LongItem::BruntOption("open") => args.open = true,
            LongItem::BruntOption(word) if word.split('=').next() == Some("secret") => {
                let file = word.split_once('=').map(|(_, file)| file).or_else(|| long.take_word());
                let file = file.ok_or_else(|| {
                    "--brunt-secret needs a value; write the name of a file after it".to_owned()
                })?;
                args.secret = Some(PathBuf::from(file));
            }
            LongItem::BruntOption(word) => {
                return Err(StopReason::Error(format!("unknown option --brunt-{word}\n{USAGE}")));
            }
            LongItem::OptionError(wrong) => {
                return Err(StopReason::Error(format!("{wrong}\n{USAGE}")));
            }
        }
    }
    if let Some(other) = long.others().first() {
        return Err(StopReason::Error(format!("{other}: write options only\n{USAGE}")));
    }
    if args.help {
        return Err(StopReason::Output(format!("usage: {program_name} [OPTIONS]\n{USAGE}")));
    }
    Ok(args)
}

/// Opens the port. Other addresses than loopback need a secret or `--brunt-open`.
pub fn listen(args: &DaemonArgs, secret: bool) -> Result<TcpListener, String> {
    let port = args.port.unwrap_or(4600);
    let addresses: Vec<SocketAddr> = match &args.bind {
        Some(name) => {
            let addresses = (name.as_str(), port).to_socket_addrs();
            addresses.map_err(|error| format!("--bindaddr {name}: {error}"))?.collect()
        }
        None if secret || args.open => vec![(Ipv4Addr::UNSPECIFIED, port).into()],
        None => vec![(Ipv4Addr::LOCALHOST, port).into()],
    };
    if !secret && !args.open && addresses.iter().any(|address| !is_local(address.ip())) {
        return Err("anyone who can reach this port can make this machine send load to any server; write \
                    --brunt-secret FILE here and for autobench_admin, or --brunt-open on a trusted network"
            .into());
    }
    let listener =
        TcpListener::bind(&addresses[..]).map_err(|error| format!("port {port}: {error}"))?;
    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
    Ok(listener)
}

fn is_local(address: IpAddr) -> bool {
    address.is_loopback()
}
