//! What `autobench_admin` and `autobenchd` say to each other: lines of text over TCP, as of old.
//!
//! ```text
//! admin   arguments of httperf's, an instant in Unix seconds, END_AB
//! daemon  ACCEPTED; when the test is over BENCH_COMPLETE, lines of name:value, END_DATA; without a reply, BENCH_FAILED
//! ```
//!
//! Where a secret is shared, the admin first says `BRUNT_AUTH`, the daemon `NONCE` and a number, and the admin `PROOF` and
//! what proves its order; all other lines are the same. It opens no connection and starts no test.

use super::super::getopt::Takes;
use super::super::getopt::long::{Long, Read, Row};
use super::figures::Figures;
use super::number::perl;
use std::io::{self, BufRead, Read as _};

/// Ends an order.
pub const END: &str = "END_AB";
/// The order is understood.
pub const ACCEPTED: &str = "ACCEPTED";
/// Ends the results.
pub const END_DATA: &str = "END_DATA";
/// Begins the results.
pub const COMPLETE: &str = "BENCH_COMPLETE";
/// There are none.
pub const FAILED: &str = "BENCH_FAILED";
/// The order is not taken, and why; ours only.
pub const REFUSED: &str = "REFUSED";
/// The admin wants to prove itself; ours only.
pub const AUTH: &str = "BRUNT_AUTH";
/// The daemon's number; ours only.
pub const NONCE: &str = "NONCE";
/// The admin's proof; ours only.
pub const PROOF: &str = "PROOF";
/// No line of either is longer, in bytes.
const LONGEST: u64 = 16 * 1024;

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// httperf's command line, quoted for a shell.
    pub arguments: String,
    /// When it is to begin, in Unix seconds.
    pub start: u64,
}

impl Order {
    /// Its lines, without the last one: what a proof is of.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.arguments, self.start)
    }
}

/// Results by their names on the wire, in the order of the columns; `percent_errors` is among them.
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

/// The results as they are sent; None: no reply came, so there are none.
pub fn results(figures: &Figures) -> Option<String> {
    let percent = perl(figures.errors_in_percent()?);
    let values = figures.texts.iter().cloned().chain([percent]).chain(figures.statuses.map(|n| n.to_string()));
    let counts = [("replies", figures.replies.to_string()), ("errors", figures.errors.to_string())];
    let lines = NAMES.into_iter().zip(values).chain(counts).map(|(name, value)| format!("{name}:{value}\n"));
    Some(format!("{COMPLETE}\n{}{END_DATA}\n", lines.collect::<String>()))
}

/// Results of one machine, in the order of [`NAMES`]; or which is missing. Names that are not known are let pass.
pub fn understood(lines: &[String]) -> Result<[f64; 14], String> {
    let mut values = [0.0; 14];
    for (value, name) in values.iter_mut().zip(NAMES) {
        let found = lines.iter().filter_map(|line| line.split_once(':')).find(|(known, _)| known.trim() == name);
        let number = found.and_then(|(_, text)| text.trim().parse().ok()).filter(|number: &f64| number.is_finite());
        *value = number.ok_or_else(|| format!("its results have no number {name}"))?;
    }
    Ok(values)
}

/// The results of all machines together, as of old: sums, of the least and the greatest rates and of deviations too; means
/// of the response time and of the errors in per cent.
pub fn merged(all: &[[f64; 14]]) -> [f64; 14] {
    std::array::from_fn(|at| {
        let sum: f64 = all.iter().map(|values| values[at]).sum();
        if matches!(NAMES[at], "rep_time" | "percent_errors") { sum / all.len().max(1) as f64 } else { sum }
    })
}

/// A line, without its end; None: nobody will say any more.
pub fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    if reader.take(LONGEST).read_line(&mut text)? == 0 {
        return Ok(None);
    }
    if !text.ends_with('\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "unterminated line"));
    }
    Ok(Some(text.trim_end().to_owned()))
}

const fn row(long: &'static str, takes: Takes) -> Row<()> {
    Row { short: None, long, takes, does: () }
}

/// The options of httperf that a remote order may use: nothing that reads or writes a file, and nothing that shows what servers say.
const ALLOWED: &[Row<()>] = &[
    row("add-header", Takes::Value),
    row("burst-length", Takes::Value),
    row("client", Takes::Value),
    row("close-with-reset", Takes::Nothing),
    row("failure-status", Takes::Value),
    row("hog", Takes::Nothing),
    row("http-version", Takes::Value),
    row("max-connections", Takes::Value),
    row("max-piped-calls", Takes::Value),
    row("method", Takes::Value),
    row("no-host-hdr", Takes::Nothing),
    row("num-calls", Takes::Value),
    row("num-conns", Takes::Value),
    row("period", Takes::Value),
    row("port", Takes::Value),
    row("rate", Takes::Value),
    row("recv-buffer", Takes::Value),
    row("retry-on-failure", Takes::Nothing),
    row("send-buffer", Takes::Value),
    row("server", Takes::Value),
    row("server-name", Takes::Value),
    row("session-cookies", Takes::Nothing),
    row("ssl", Takes::Nothing),
    row("ssl-ciphers", Takes::Value),
    row("ssl-no-reuse", Takes::Nothing),
    row("think-timeout", Takes::Value),
    row("timeout", Takes::Value),
    row("uri", Takes::Value),
    row("wsess", Takes::Value),
    row("wset", Takes::Value),
];

/// The words of an order's arguments; or why they are not carried out.
pub fn words(arguments: &str) -> Result<Vec<String>, String> {
    let given = shlex::split(arguments).ok_or("a quote is open")?;
    let mut long = Long::new(&given, ALLOWED);
    let mut words = Vec::new();
    while let Some(read) = long.next() {
        match read {
            Read::Option(row, value) => {
                words.push(format!("--{}", row.long));
                words.extend(value.map(str::to_owned));
            }
            Read::Ours(word) => return Err(format!("--brunt-{word} is not accepted from a remote host")),
            Read::OptionError(wrong) => return Err(format!("{wrong}, or it is not accepted from a remote host")),
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
    fn arguments_are_those_that_harm_nobody_here() {
        let taken =
            words("--server h --uri \"/a b\" --num-conn 10 --num-call 1 --timeout 5 --rate 3.5 --port 80").unwrap();
        let joined = "--server|h|--uri|/a b|--num-conns|10|--num-calls|1|--timeout|5|--rate|3.5|--port|80";
        assert_eq!(taken.join("|"), joined);
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
        let together = merged(&[one, one]);
        assert_eq!(together, std::array::from_fn(|at| if at == 6 || at == 8 { at as f64 } else { 2.0 * at as f64 }));
    }

    #[test]
    fn results_are_read_in_any_order() {
        let mut lines: Vec<String> = NAMES.iter().enumerate().map(|(at, name)| format!("{name}:{at}.5")).collect();
        lines.reverse();
        lines.push("replies:7".into());
        assert_eq!(understood(&lines).unwrap(), std::array::from_fn(|at| at as f64 + 0.5));
        lines.retain(|line| !line.starts_with("net_io"));
        assert_eq!(understood(&lines).unwrap_err(), "its results have no number net_io");
    }

    #[test]
    fn a_line_that_does_not_end_is_not_waited_for() {
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert!(line(&mut endless).is_err());
        assert_eq!(line(&mut &b"a b\r\nc\n"[..]).unwrap().as_deref(), Some("a b"));
        assert_eq!(line(&mut &b""[..]).unwrap(), None);
    }
}
