//! The recording of `brunt record --proxy`: starts the proxy, and explains how clients use it.

use super::RecordArgs;
use crate::args::store::{data_directory, variable};
use crate::exit::{CommandError, runtime_error, usage_error};
use crate::screen;
use anyhow::anyhow;
use brunt_record::proxy::{CertificateAuthority, WELCOME_HOST};
use brunt_record::{ProxyCredentials, ProxyOptions, ProxyRecorder, RecordError, Recording};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Address without `--proxy ADDRESS`. Another port is used if it is not free.
const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// User of a proxy that other machines can reach.
const DEFAULT_USER: &str = "brunt";

/// Interval in which messages are printed, and the end of the recording is checked.
const INTERVAL: Duration = Duration::from_millis(200);

/// Number of intervals between two numbers of requests.
const COUNT_INTERVALS: u32 = 50;

/// Address of `--proxy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyAddress(Option<SocketAddr>);

impl FromStr for ProxyAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // clap has this value for the option without a value (`default_missing_value`).
        if text == "default" {
            return Ok(Self(None));
        }
        let port = text.parse().map(|port: u16| SocketAddr::new(DEFAULT_ADDRESS.ip(), port));
        let address =
            port.or_else(|_| text.replacen("localhost:", "127.0.0.1:", 1).parse::<SocketAddr>());
        let expected = "expected a port, or an IP address with a port, such as 127.0.0.1:8080";
        address.map(|address| Self(Some(address))).map_err(|_| expected.to_owned())
    }
}

/// Starts the proxy, and prints how clients use it.
pub fn start(args: &RecordArgs, address: ProxyAddress) -> Result<ProxyRecorder, CommandError> {
    let address = address.0;
    let directory = match &args.ca_dir {
        Some(directory) => directory.clone(),
        None => directory(variable).ok_or_else(|| {
            usage_error(anyhow!(
                "neither HOME nor XDG_DATA_HOME is set, so the proxy's certificate has no place; write --ca-dir DIR"
            ))
        })?,
    };
    let mut options = ProxyOptions::new(address.unwrap_or(DEFAULT_ADDRESS), directory);
    options.accepts_any_certificate = args.insecure;
    options.cacert.clone_from(&args.cacert);
    options.credentials = credentials(args, options.address)?;
    let proxy = match ProxyRecorder::start(&options) {
        Err(RecordError::Listen { reason, .. })
            if address.is_none() && reason.kind() == ErrorKind::AddrInUse =>
        {
            // Port 8080 is often that of the server that is recorded.
            options.address.set_port(0);
            ProxyRecorder::start(&options)
        }
        other => other,
    };
    let proxy = proxy.map_err(usage_error)?;
    explain(&proxy, options.credentials.as_ref());
    Ok(proxy)
}

/// User name and password, which a proxy that other machines can reach always has.
fn credentials(
    args: &RecordArgs,
    address: SocketAddr,
) -> Result<Option<ProxyCredentials>, CommandError> {
    let credentials = match &args.proxy_user {
        Some(text) => ProxyCredentials::parse(text).map(Some),
        None if address.ip().is_loopback() => Ok(None),
        None => ProxyCredentials::generate(DEFAULT_USER).map(Some),
    };
    credentials.map_err(|reason| usage_error(anyhow!("--proxy-user: {reason}")))
}

fn explain(proxy: &ProxyRecorder, credentials: Option<&ProxyCredentials>) {
    let address = proxy.address();
    let file = proxy.authority().file().display();
    // No client can connect to the address 0.0.0.0.
    let shown = if address.ip().is_unspecified() {
        format!("ADDRESS-OF-THIS-MACHINE:{}", address.port())
    } else {
        address.to_string()
    };
    let user = credentials.map(|credentials| format!(" --proxy-user {}", credentials.user()));
    let user = user.unwrap_or_default();
    screen::print_line(&format!("brunt: the proxy listens at {address}"));
    if !address.ip().is_loopback() {
        screen::print_line(
            "brunt: warning: other machines can reach the proxy. With its password, they can send requests from this \
             machine, also to servers that listen on 127.0.0.1",
        );
    }
    if let Some(credentials) = credentials {
        screen::print_line(&format!("brunt: user name of clients: {}", credentials.user()));
        if let Some(password) = credentials.generated_password() {
            screen::print_line(&format!("brunt: password of clients: {password}"));
        }
    }
    explain_certificate(proxy.authority());
    screen::print_line(&format!(
        "brunt:   curl:     curl --proxy http://{shown}{user} --cacert {file} https://…"
    ));
    screen::print_line(&format!(
        "brunt:   phones:   set the proxy in the Wi-Fi settings, and open http://{WELCOME_HOST}/"
    ));
    screen::print_line(&format!(
        "brunt:   Firefox:  set the proxy in Settings, Network Settings, and open http://{WELCOME_HOST}/"
    ));
}

fn explain_certificate(authority: &CertificateAuthority) {
    let file = authority.file().display();
    screen::print_line(&if authority.is_new() {
        format!("brunt: a certificate was made for HTTPS: {file}")
    } else {
        format!("brunt: certificate for HTTPS: {file}")
    });
    screen::print_line(
        "brunt: it is in no trust store. Give it to the program that you record, and remove it there afterwards",
    );
}

/// Records until a signal.
pub fn record_once(
    args: &RecordArgs,
    proxy: &ProxyRecorder,
    stopped: &AtomicBool,
) -> Result<Recording, CommandError> {
    screen::print_line("brunt: recording; press Ctrl-C to end it");
    let mut printed_count = 0;
    let mut intervals = 0;
    while !stopped.load(Ordering::Relaxed) {
        thread::sleep(INTERVAL);
        print_notices(proxy);
        intervals += 1;
        let count = proxy.count();
        if intervals % COUNT_INTERVALS == 0 && count != printed_count {
            printed_count = count;
            screen::print_line(&format!("brunt: requests so far: {count}"));
        }
    }
    print_notices(proxy);
    let count = proxy.count();
    if count == 0 {
        return Err(runtime_error(anyhow!(
            "no request was recorded; check that the program uses the proxy, and trusts its certificate"
        )));
    }
    screen::print_line(&format!("brunt: requests of this recording: {count}"));
    Ok(proxy.take_recording(args.url.as_deref().unwrap_or("proxy")))
}

fn print_notices(proxy: &ProxyRecorder) {
    for notice in proxy.take_notices() {
        screen::print_line(&format!("brunt: {notice}"));
    }
}

/// Directory of the certificate, as of other data of the user.
fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    data_directory(variable).map(|data| data.join("brunt-record"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_or_an_ip_address_with_a_port() {
        let address = |text: &str| text.parse::<ProxyAddress>().map(|address| address.0);
        assert_eq!(address("default"), Ok(None));
        assert_eq!(address("9000"), Ok(Some(SocketAddr::from(([127, 0, 0, 1], 9000)))));
        assert_eq!(address("localhost:0"), Ok(Some(SocketAddr::from(([127, 0, 0, 1], 0)))));
        assert_eq!(address("0.0.0.0:81"), Ok(Some(SocketAddr::from(([0, 0, 0, 0], 81)))));
        assert!(address("[::1]:81").is_ok_and(|address| address.is_some()));
        for wrong in ["http://127.0.0.1:80", "example.org:80", "70000", ":80", ""] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_certificate_is_in_the_users_data() {
        let variables = |set: &'static [(&str, &str)]| {
            directory(|name| set.iter().find(|row| row.0 == name).map(|row| row.1.into()))
        };
        assert_eq!(variables(&[]), None);
        let home = variables(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "relative")]);
        assert_eq!(home, Some("/home/a/.local/share/brunt-record".into()));
        assert_eq!(variables(&[("XDG_DATA_HOME", "/data")]), Some("/data/brunt-record".into()));
    }
}
