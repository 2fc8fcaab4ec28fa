//! What a closed loop hides, and the command of the open loop that would show it.

use crate::figures::round3;
use crate::layout::clean;
use brunt_model::scenario::TextRules;
use brunt_model::{Body, Load, Plan, Run};

/// The command of an open loop at the throughput of this closed one.
pub fn open_loop(run: &Run) -> Option<String> {
    let plan = run.plan.as_ref().filter(|p| matches!(p.only().map(|only| &only.load), Some(Load::Closed { .. })))?;
    // A plan of JMeter says its load itself.
    let is_said = plan.main().scenario.texts == TextRules::Jmeter;
    (run.flow.completed > 0 && !is_said).then(|| open_command(run, plan, run.throughput()))
}

fn open_command(run: &Run, plan: &Plan, throughput: f64) -> String {
    let rate = round3(throughput);
    if let Some(command) = without_connections(&run.environment.command) {
        return clean(&format!("{command} -r {rate}"));
    }
    match plan.main().scenario.requests.as_slice() {
        [r] if r.method == "GET" && r.body == Body::None && r.headers.is_empty() => {
            format!("brunt -r {rate} {}", quoted(&clean(&r.url)))
        }
        _ => format!("the same command with -r {rate} in place of the connections"),
    }
}

/// The command line of a closed loop without what only a closed loop has; None where it is not known or looks unusual.
fn without_connections(command: &str) -> Option<String> {
    let mut words = command.split(' ').filter(|w| !w.is_empty());
    let program = words.next()?.rsplit('/').next()?;
    let mut kept = vec![program];
    while let Some(word) = words.next() {
        match word {
            "-c" | "--connections" | "--think" => drop(words.next()?),
            _ if ["-c", "--connections=", "--think="].iter().any(|o| word.starts_with(o)) => {}
            _ => kept.push(word),
        }
    }
    (program == "brunt").then(|| kept.join(" "))
}

/// As a shell needs it.
fn quoted(url: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "/:.-_~%=,+@".contains(c);
    if url.chars().all(safe) { url.into() } else { format!("'{}'", url.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_command_is_the_closed_one_without_its_users() {
        let open = |command| without_connections(command);
        assert_eq!(open("./brunt http://h/ -c 64 -d 5s").as_deref(), Some("brunt http://h/ -d 5s"));
        assert_eq!(
            open("brunt --think 1s -c64 --connect-rate 9 'http://h/a b'").as_deref(),
            Some("brunt --connect-rate 9 'http://h/a b'")
        );
        assert_eq!(open("brunt-x http://h/"), None);
        assert_eq!(open(""), None);
    }
}
