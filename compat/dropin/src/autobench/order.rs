//! Messages between `autobench_admin` and `autobenchd`: lines of text over TCP, as in autobench.
//!
//! ```text
//! admin   arguments of httperf's, an instant in Unix seconds, END_AB
//! daemon  ACCEPTED; when the test is over BENCH_COMPLETE, lines of name:value, END_DATA; without a reply, BENCH_FAILED
//! ```
//!
//! With a shared secret, the admin first sends `BRUNT_AUTH`, the daemon replies `NONCE` and a
//! number, and the admin sends `PROOF` and the proof of its order. All other lines are the same.
//!
//! This module opens no connection and starts no test.

use super::super::getopt::Argument;
use super::super::getopt::long::{LongItem, LongOptions, OptionRow};
use super::figures::AutobenchFigures;
use super::number::perl;
use std::io::{self, BufRead, Read as _};

/// Last line of an order.
pub const END: &str = "END_AB";
/// The daemon accepts the order.
pub const ACCEPTED: &str = "ACCEPTED";
/// Last line of the results.
pub const END_DATA: &str = "END_DATA";
/// First line of the results.
pub const COMPLETE: &str = "BENCH_COMPLETE";
/// The test had no reply, so there are no results.
pub const FAILED: &str = "BENCH_FAILED";
/// The daemon rejects the order, with the reason; brunt only.
pub const REFUSED: &str = "REFUSED";
/// The admin requests authentication; brunt only.
pub const AUTH: &str = "BRUNT_AUTH";
/// The daemon's nonce; brunt only.
pub const NONCE: &str = "NONCE";
/// The admin's proof; brunt only.
pub const PROOF: &str = "PROOF";
/// Longest line, in bytes.
const MAX_LINE_BYTES: u64 = 16 * 1024;

/// An order of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOrder {
    /// Command line of httperf, quoted for a shell.
    pub arguments: String,
    /// Start of the test, in Unix seconds.
    pub start: u64,
}

impl TestOrder {
    /// The order's lines without the last one. The proof covers this text.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.arguments, self.start)
    }
}

/// Names of the results in the protocol, in the order of the columns, including `percent_errors`.
pub const NAMES: [&str; 14] = [
    "req_rate",
    "conn_rate",
    "rep_rate_min",
    "rep_rate_avg",
    "rep_rate_max",
    "rep_rate_stdv",
    "rep_time",
    "net_io",
    "percent_errors",
    "status_100",
    "status_200",
    "status_300",
    "status_400",
    "status_500",
];

/// Formats the results; None without replies.
pub fn results(figures: &AutobenchFigures) -> Option<String> {
    // Without replies, the percentage is undefined.
    let percent = perl(figures.errors_in_percent()?);
    let values = figures
        .texts
        .iter()
        .cloned()
        .chain([percent])
        .chain(figures.statuses.map(|n| n.to_string()));
    let counts = [("replies", figures.replies.to_string()), ("errors", figures.errors.to_string())];
    let lines = NAMES
        .into_iter()
        .zip(values)
        .chain(counts)
        .map(|(name, value)| format!("{name}:{value}\n"));
    Some(format!("{COMPLETE}\n{}{END_DATA}\n", lines.collect::<String>()))
}

/// Parses the results of one machine, in the order of [`NAMES`]. Unknown names are ignored.
pub fn parse_results(lines: &[String]) -> Result<[f64; 14], String> {
    let mut values = [0.0; 14];
    for (value, name) in values.iter_mut().zip(NAMES) {
        let pair = lines
            .iter()
            .filter_map(|line| line.split_once(':'))
            .find(|(known, _)| known.trim() == name);
        let number = pair
            .and_then(|(_, text)| text.trim().parse().ok())
            .filter(|number: &f64| number.is_finite());
        *value = number.ok_or_else(|| format!("its results have no number {name}"))?;
    }
    Ok(values)
}

/// Merges the results of all machines by autobench's rules.
///
/// Means for the response time and the percentage of errors, sums for everything else, even for
/// minimum and maximum rates and deviations.
pub fn merge(all: &[[f64; 14]]) -> [f64; 14] {
    std::array::from_fn(|index| {
        let sum: f64 = all.iter().map(|values| values[index]).sum();
        if matches!(NAMES[index], "rep_time" | "percent_errors") {
            sum / all.len().max(1) as f64
        } else {
            sum
        }
    })
}

/// Reads a line without its end; None at the end of the stream.
pub fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    // A peer must not be able to fill the memory.
    if reader.take(MAX_LINE_BYTES).read_line(&mut text)? == 0 {
        return Ok(None);
    }
    if !text.ends_with('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "unterminated line"));
    }
    Ok(Some(text.trim_end().to_owned()))
}

const fn row(long: &'static str, argument: Argument) -> OptionRow<()> {
    OptionRow { short: None, long, argument, effect: () }
}

/// The options of httperf that a remote order may use. Excluded are options that read or write
/// files or show replies.
const ALLOWED: &[OptionRow<()>] = &[
    row("add-header", Argument::Required),
    row("burst-length", Argument::Required),
    row("client", Argument::Required),
    row("close-with-reset", Argument::None),
    row("failure-status", Argument::Required),
    row("hog", Argument::None),
    row("http-version", Argument::Required),
    row("max-connections", Argument::Required),
    row("max-piped-calls", Argument::Required),
    row("method", Argument::Required),
    row("no-host-hdr", Argument::None),
    row("num-calls", Argument::Required),
    row("num-conns", Argument::Required),
    row("period", Argument::Required),
    row("port", Argument::Required),
    row("rate", Argument::Required),
    row("recv-buffer", Argument::Required),
    row("retry-on-failure", Argument::None),
    row("send-buffer", Argument::Required),
    row("server", Argument::Required),
    row("server-name", Argument::Required),
    row("session-cookies", Argument::None),
    row("ssl", Argument::None),
    row("ssl-ciphers", Argument::Required),
    row("ssl-no-reuse", Argument::None),
    row("think-timeout", Argument::Required),
    row("timeout", Argument::Required),
    row("uri", Argument::Required),
    row("wsess", Argument::Required),
    row("wset", Argument::Required),
];

/// Parses the arguments of an order. The error gives the reason for a refusal.
pub fn words(arguments: &str) -> Result<Vec<String>, String> {
    let arguments = shlex::split(arguments).ok_or("a quote is open")?;
    let mut long = LongOptions::new(&arguments, ALLOWED);
    let mut words = Vec::new();
    while let Some(read) = long.next() {
        match read {
            LongItem::Option(row, value) => {
                words.push(format!("--{}", row.long));
                words.extend(value.map(str::to_owned));
            }
            LongItem::BruntOption(word) => {
                return Err(format!("--brunt-{word} is not accepted from a remote host"));
            }
            LongItem::OptionError(wrong) => {
                return Err(format!("{wrong}, or it is not accepted from a remote host"));
            }
        }
    }
    match long.others().first() {
        Some(other) => Err(format!("unknown option {other}")),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_arguments_are_accepted() {
        let arguments = words(
            "--server h --uri \"/a b\" --num-conn 10 --num-call 1 --timeout 5 --rate 3.5 --port 80",
        )
        .unwrap();
        let joined =
            "--server|h|--uri|/a b|--num-conns|10|--num-calls|1|--timeout|5|--rate|3.5|--port|80";
        assert_eq!(arguments.join("|"), joined);
        for (arguments, why) in [
            ("--wlog y,/etc/passwd", "--wlog"),
            ("--print-reply", "--print-reply"),
            ("--server h; rm -r /", "invalid option -- 'r'"),
            ("--server h; reboot", "unknown option reboot"),
            ("--server `id`x y", "unknown option y"),
            ("--uri \"x", "quote"),
            ("--brunt-json f", "remote"),
            ("--wsesslog 1,1,f", "--wsesslog"),
        ] {
            let told = words(arguments).unwrap_err();
            assert!(told.contains(why), "{arguments}: {told}");
        }
    }

    #[test]
    fn rates_are_added_and_times_are_not() {
        let one: [f64; 14] = std::array::from_fn(|at| at as f64);
        let together = merge(&[one, one]);
        assert_eq!(
            together,
            std::array::from_fn(|at| if at == 6 || at == 8 { at as f64 } else { 2.0 * at as f64 })
        );
    }

    #[test]
    fn results_are_read_in_any_order() {
        let mut lines: Vec<String> =
            NAMES.iter().enumerate().map(|(at, name)| format!("{name}:{at}.5")).collect();
        lines.reverse();
        lines.push("replies:7".into());
        assert_eq!(parse_results(&lines).unwrap(), std::array::from_fn(|at| at as f64 + 0.5));
        lines.retain(|line| !line.starts_with("net_io"));
        assert_eq!(parse_results(&lines).unwrap_err(), "its results have no number net_io");
    }

    #[test]
    fn an_unterminated_line_is_not_awaited() {
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert!(line(&mut endless).is_err());
        assert_eq!(line(&mut &b"a b\r\nc\n"[..]).unwrap().as_deref(), Some("a b"));
        assert_eq!(line(&mut &b""[..]).unwrap(), None);
    }
}
