//! The table of httperf's options: those of 0.9.0 and the additions of 0.9.1.

use super::{HttperfArgs, HttperfExit, Period, PrintParts, Workload, numbers};
use crate::getopt::Argument;
use crate::getopt::long::OptionRow;

/// Effect of an option. The value is empty if there is none.
pub type HttperfOption = fn(&mut HttperfArgs, &str) -> Result<(), HttperfExit>;

const fn row(
    short: Option<char>,
    long: &'static str,
    argument: Argument,
    effect: HttperfOption,
) -> OptionRow<HttperfOption> {
    OptionRow { short, long, argument, effect }
}

const fn flag(long: &'static str, effect: HttperfOption) -> OptionRow<HttperfOption> {
    row(None, long, Argument::None, effect)
}

const fn value(long: &'static str, effect: HttperfOption) -> OptionRow<HttperfOption> {
    row(None, long, Argument::Required, effect)
}

macro_rules! set {
    ($args:ident, $value:ident => $set:expr) => {
        |$args: &mut HttperfArgs, $value: &str| {
            $set;
            Ok(())
        }
    };
}

/// One row for each option, in the order in which the C library lists ambiguous names.
pub const OPTIONS: &[OptionRow<HttperfOption>] = &[
    value("add-header", set!(args, value => args.add_header = Some(value.to_owned()))),
    value("burst-length", |args, value| {
        args.burst_length = numbers::whole(value, "burst-length")?.max(0) as u64;
        if args.burst_length == 0 {
            Err(HttperfExit::message(format!("illegal burst-length {value}")))
        } else {
            Ok(())
        }
    }),
    value("client", |args, value| {
        args.client = numbers::client(value)?;
        Ok(())
    }),
    flag("close-with-reset", set!(args, _value => args.close_with_reset = true)),
    row(Some('d'), "debug", Argument::Required, set!(args, _value => args.debug = true)),
    value("failure-status", |args, value| {
        args.failure_status = Some(numbers::whole(value, "failure status")?.clamp(0, 999) as u16);
        Ok(())
    }),
    row(Some('h'), "help", Argument::None, |_, _| Err(HttperfExit::Help)),
    flag("hog", set!(args, _value => args.hog = true)),
    value("http-version", HttperfArgs::set_version),
    value("max-connections", |args, value| {
        args.max_connections = numbers::whole(value, "max. # of connection")?.max(0) as u64;
        Ok(())
    }),
    value("max-piped-calls", |args, value| {
        args.max_piped_calls = Some(numbers::whole(value, "max. # of piped calls")?.max(0) as u64);
        Ok(())
    }),
    value("method", set!(args, value => value.clone_into(&mut args.method))),
    flag("no-host-hdr", set!(args, _value => args.no_host_hdr = true)),
    value("num-calls", |args, value| {
        args.num_calls = numbers::count(value, "calls")?;
        Ok(())
    }),
    value("num-conns", |args, value| {
        args.num_conns = numbers::count(value, "connections")?;
        Ok(())
    }),
    value("period", |args, value| {
        args.period = Period::parse(value)?;
        Ok(())
    }),
    value("port", |args, value| {
        let port = numbers::whole(value, "port number")?;
        args.port = Some(
            u16::try_from(port)
                .map_err(|_| HttperfExit::message(format!("illegal port number {value}")))?,
        );
        Ok(())
    }),
    row(
        None,
        "print-reply",
        Argument::Optional,
        set!(args, value => args.print_reply = Some(PrintParts::parse(value))),
    ),
    row(
        None,
        "print-request",
        Argument::Optional,
        set!(args, value => args.print_request = Some(PrintParts::parse(value))),
    ),
    value("rate", |args, value| {
        args.period = Period::of_rate(numbers::real(value, "request rate")?);
        Ok(())
    }),
    value("recv-buffer", |args, value| {
        args.recv_buffer = numbers::whole(value, "receive buffer size")?;
        Ok(())
    }),
    flag("retry-on-failure", set!(args, _value => args.retry_on_failure = true)),
    value("send-buffer", |args, value| {
        args.send_buffer = numbers::whole(value, "send buffer size")?;
        Ok(())
    }),
    value("server", set!(args, value => value.clone_into(&mut args.server))),
    value("server-name", set!(args, value => args.server_name = Some(value.to_owned()))),
    flag("session-cookies", set!(args, _value => args.session_cookies = true)),
    flag("ssl", set!(args, _value => args.ssl = true)),
    value("ssl-ciphers", set!(args, value => args.ssl_ciphers = Some(value.to_owned()))),
    flag("ssl-no-reuse", set!(args, _value => args.ssl_no_reuse = true)),
    value("think-timeout", |args, value| {
        args.think_timeout = numbers::real(value, "think timeout value")?.max(0.0);
        Ok(())
    }),
    value("timeout", |args, value| {
        args.timeout = numbers::real(value, "connect timeout")?.max(0.0);
        Ok(())
    }),
    value("uri", set!(args, value => value.clone_into(&mut args.uri))),
    row(Some('v'), "verbose", Argument::None, set!(args, _value => args.verbosity += 1)),
    row(Some('V'), "version", Argument::None, |_, _| Err(HttperfExit::Version)),
    value("wlog", |args, value| {
        args.wlog = Some(numbers::wlog(value));
        Ok(())
    }),
    value("wsess", |args, value| {
        args.workload = Workload::wsess(value)?;
        Ok(())
    }),
    value("wsesslog", |args, value| {
        args.workload = Workload::wsesslog(value)?;
        Ok(())
    }),
    value("wset", |args, value| {
        args.wset = Some(numbers::wset(value)?);
        Ok(())
    }),
    // Additions of 0.9.1.
    value("runtime", |args, value| {
        args.runtime = Some(numbers::real(value, "runtime")?.max(0.0));
        Ok(())
    }),
    value("add-header-file", |args, value| {
        let read = std::fs::read_to_string(value);
        args.header_file = read.map_err(|_| HttperfExit::message(format!("can't open {value}")))?;
        Ok(())
    }),
    value("myaddr", |args, value| {
        args.sources = numbers::addresses(value)?;
        Ok(())
    }),
    flag("use-timer-cache", |_, _| Ok(())),
    value("tls-server-name", set!(args, value => args.tls_server_name = Some(value.to_owned()))),
    value("ssl-protocol", set!(args, value => args.ssl_protocol = Some(value.to_owned()))),
    value("ssl-certificate", set!(args, value => args.ssl_certificate = Some(value.into()))),
    value("ssl-key", set!(args, value => args.ssl_key = Some(value.into()))),
    value("ssl-ca-file", set!(args, value => args.ssl_ca_file = Some(value.into()))),
    row(
        None,
        "ssl-verify",
        Argument::Optional,
        set!(args, value => args.ssl_verify = value != "n" && value != "no"),
    ),
];
