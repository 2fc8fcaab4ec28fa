//! The first line of httperf's report: the effective options, in a fixed order.

use super::args::{HttperfArgs, PrintParts, Workload, short};

pub fn line(program_name: &str, args: &HttperfArgs) -> String {
    let name = program_name.rsplit('/').next().unwrap_or(program_name);
    let words = [
        vec![name.to_owned()],
        general_options(args),
        server_options(args),
        connections(args),
        requests(args),
    ]
    .concat();
    words.join(" ") + "\n"
}

fn option_if(holds: bool, word: impl Into<String>) -> Option<String> {
    holds.then(|| word.into())
}

fn general_options(args: &HttperfArgs) -> Vec<String> {
    let duration =
        |name: &str, value: f64| option_if(value > 0.0, format!("--{name}={}", short(value)));
    [
        option_if(args.verbosity > 0, "--verbose"),
        print_option("print-reply", args.print_reply),
        print_option("print-request", args.print_request),
        option_if(args.hog, "--hog"),
        option_if(args.close_with_reset, "--close-with-reset"),
        duration("think-timeout", args.think_timeout),
        duration("timeout", args.timeout),
        duration("runtime", args.runtime.unwrap_or(0.0)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn print_option(name: &str, parts: Option<PrintParts>) -> Option<String> {
    Some(match parts? {
        PrintParts { header: true, body: true } => format!("--{name}"),
        PrintParts { header: true, .. } => format!("--{name}=header"),
        PrintParts { .. } => format!("--{name}=body"),
    })
}

fn server_options(args: &HttperfArgs) -> Vec<String> {
    let (id, clients) = args.client;
    let (major, minor) = args.http_version;
    [
        Some(format!("--client={id}/{clients}")),
        Some(format!("--server={}", args.server)),
        args.server_name.as_ref().map(|name| format!("--server_name={name}")),
        Some(format!("--port={}", args.port())),
        Some(format!("--uri={}", args.uri)),
        args.failure_status.map(|status| format!("--failure-status={status}")),
        option_if((major, minor) != (1, 1), format!("--http-version={major}.{minor}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn connections(args: &HttperfArgs) -> Vec<String> {
    // httperf prints only values that differ from its defaults.
    let piped = args.max_piped_calls.filter(|n| *n > 0 && *n != 32);
    [
        option_if(
            !matches!(args.max_connections, 0 | 4),
            format!("--max-connections={}", args.max_connections),
        ),
        piped.map(|n| format!("--max-piped-calls={n}")),
        args.period.option(),
        option_if(args.send_buffer > 0, format!("--send-buffer={}", args.send_buffer)),
        option_if(args.retry_on_failure, "--retry-on-failure"),
        option_if(args.recv_buffer > 0, format!("--recv-buffer={}", args.recv_buffer)),
        option_if(args.session_cookies, "--session-cookies"),
        option_if(args.ssl, "--ssl"),
        args.ssl_ciphers.as_ref().map(|list| format!("--ssl-ciphers={list}")),
        option_if(args.ssl_no_reuse, "--ssl-no-reuse"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn requests(args: &HttperfArgs) -> Vec<String> {
    let workload = match &args.workload {
        Workload::Plain => format!("--num-conns={} --num-calls={}", args.num_conns, args.num_calls),
        Workload::Sessions(sessions, calls, think) => {
            format!("--wsess={sessions},{calls},{think:.3}")
        }
        Workload::Log(sessions, think, file) => format!("--wsesslog={sessions},{think:.3},{file}"),
    };
    [
        args.add_header.as_ref().map(|text| format!("--add-header='{text}'")),
        option_if(args.method != "GET", format!("--method={}", args.method)),
        Some(workload),
        option_if(args.burst_length != 1, format!("--burst-length={}", args.burst_length)),
        args.wset.map(|(files, share)| format!("--wset={files},{share:.3}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}
