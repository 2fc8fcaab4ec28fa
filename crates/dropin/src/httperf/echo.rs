//! The command line as httperf repeats it: what holds, in an order of its own, and not what was typed.

use super::args::{Args, PrintParts, Workload, short};

/// The first line of the report.
pub fn line(called: &str, args: &Args) -> String {
    let name = called.rsplit('/').next().unwrap_or(called);
    let words = [vec![name.to_owned()], how(args), whom(args), connections(args), requests(args)].concat();
    words.join(" ") + "\n"
}

fn when(holds: bool, word: impl Into<String>) -> Option<String> {
    holds.then(|| word.into())
}

fn how(args: &Args) -> Vec<String> {
    let seconds = |name: &str, value: f64| when(value > 0.0, format!("--{name}={}", short(value)));
    [
        when(args.verbosity > 0, "--verbose"),
        shown("print-reply", args.print_reply),
        shown("print-request", args.print_request),
        when(args.hog, "--hog"),
        when(args.close_with_reset, "--close-with-reset"),
        seconds("think-timeout", args.think_timeout),
        seconds("timeout", args.timeout),
        seconds("runtime", args.runtime.unwrap_or(0.0)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn shown(name: &str, shown: Option<PrintParts>) -> Option<String> {
    Some(match shown? {
        PrintParts { header: true, body: true } => format!("--{name}"),
        PrintParts { header: true, .. } => format!("--{name}=header"),
        PrintParts { .. } => format!("--{name}=body"),
    })
}

fn whom(args: &Args) -> Vec<String> {
    let (id, clients) = args.client;
    let (major, minor) = args.http_version;
    [
        Some(format!("--client={id}/{clients}")),
        Some(format!("--server={}", args.server)),
        args.server_name.as_ref().map(|name| format!("--server_name={name}")),
        Some(format!("--port={}", args.port())),
        Some(format!("--uri={}", args.uri)),
        args.failure_status.map(|status| format!("--failure-status={status}")),
        when((major, minor) != (1, 1), format!("--http-version={major}.{minor}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn connections(args: &Args) -> Vec<String> {
    let piped = args.max_piped_calls.filter(|n| *n > 0 && *n != 32);
    [
        when(!matches!(args.max_connections, 0 | 4), format!("--max-connections={}", args.max_connections)),
        piped.map(|n| format!("--max-piped-calls={n}")),
        args.period.written(),
        when(args.send_buffer > 0, format!("--send-buffer={}", args.send_buffer)),
        when(args.retry_on_failure, "--retry-on-failure"),
        when(args.recv_buffer > 0, format!("--recv-buffer={}", args.recv_buffer)),
        when(args.session_cookies, "--session-cookies"),
        when(args.ssl, "--ssl"),
        args.ssl_ciphers.as_ref().map(|list| format!("--ssl-ciphers={list}")),
        when(args.ssl_no_reuse, "--ssl-no-reuse"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn requests(args: &Args) -> Vec<String> {
    let workload = match &args.workload {
        Workload::Plain => format!("--num-conns={} --num-calls={}", args.num_conns, args.num_calls),
        Workload::Sessions(sessions, calls, think) => format!("--wsess={sessions},{calls},{think:.3}"),
        Workload::Log(sessions, think, file) => format!("--wsesslog={sessions},{think:.3},{file}"),
    };
    [
        args.add_header.as_ref().map(|text| format!("--add-header='{text}'")),
        when(args.method != "GET", format!("--method={}", args.method)),
        Some(workload),
        when(args.burst_length != 1, format!("--burst-length={}", args.burst_length)),
        args.wset.map(|(files, share)| format!("--wset={files},{share:.3}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}
