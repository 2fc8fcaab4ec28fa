//! What came back instead of the pages that were meant.

use super::Remark;
use super::facts::{Facts, Interval};
use brunt_model::numbers::{bytes, count, percent, seconds};
use brunt_model::outcome::{CLOSE_STATUS, GRPC_STATUS, status_text};
use brunt_model::reached::Replies;
use brunt_model::{Failure, Tally};

/// Fewer than this share are strays.
const STRAYS: f64 = 0.01;
/// From this share on the figures are no longer those of pages.
const MANY: f64 = 0.1;
/// A mean length that moves by less is nothing to look at.
const DRIFT: f64 = 0.1;
/// How many standard errors apart two means must lie: by chance they do so once in 15,000 runs.
const STANDARD_ERRORS: f64 = 4.0;

/// Not one good reply: nothing was measured, or nothing but errors.
pub fn nothing_good(facts: &Facts) -> Option<Remark> {
    let failures = facts.run.failures_told();
    let failures = if failures.is_empty() { String::new() } else { format!(" ({failures})") };
    let said = match facts.run.replies() {
        Replies::None if facts.total().begun == 0 => return None,
        Replies::None => Remark::warning(format!("Nothing was measured: no reply came{failures}."))
            .remedy("send one request first: brunt check URL"),
        Replies::NoneGood => {
            let replies = count(facts.total().completed);
            Remark::warning(format!("None of {replies} replies was good{failures}: this measures the server's errors."))
                .remedy("send one request first: brunt check URL; set the expected status with --expect-status")
        }
        Replies::SomeGood => return None,
    };
    Some(said)
}

/// Requests that ended without a whole reply.
pub fn no_reply(facts: &Facts) -> Option<Remark> {
    let total = facts.total();
    let (failed, begun) = (total.failed(), total.begun);
    if begun == 0 || (failed as f64) < MANY * begun as f64 {
        return None;
    }
    let kinds = Failure::all().filter(|f| ![Failure::Check, Failure::Dropped, Failure::Cut].contains(f));
    let most = kinds.max_by_key(|f| total.failed_by(*f))?;
    let said = format!(
        "{} of the requests got no whole reply (most often: {}, {} times): throughput and times are of the rest only.",
        percent(failed as f64 / begun as f64),
        most.row().name,
        count(total.failed_by(most))
    );
    Some(Remark::warning(said).remedy(most.row().remedy))
}

/// Replies whose status says that they are errors, where nobody asked for such.
pub fn errors(facts: &Facts) -> Option<Remark> {
    let total = facts.total();
    let wrong = statuses(total, |status| !facts.plan.policy().checks.expects(status));
    let (many, most) = (wrong.iter().map(|s| s.1).sum::<u64>(), wrong.iter().max_by_key(|s| s.1)?.0);
    let share = many as f64 / total.completed as f64;
    if share < STRAYS {
        return None;
    }
    let said = format!(
        "{} of the replies were errors or redirects ({}). They count for throughput and times{}, but not for goodput.",
        percent(share),
        mix(&wrong),
        beside_good(total)
    );
    Some(Remark::warning(said).remedy(status_remedy(most)))
}

/// How long errors took, where there is something to set it beside.
fn beside_good(total: &Tally) -> String {
    let good = total.response_good();
    if good.is_empty() || total.not_good.is_empty() {
        return String::new();
    }
    format!(" (mean {}, against {} of good ones)", seconds(total.not_good.mean() / 1e9), seconds(good.mean() / 1e9))
}

/// What to do about replies of this status.
pub fn status_remedy(status: u16) -> &'static str {
    match status {
        CLOSE_STATUS.. => "look at the server's log; `--expect-status 'close 4000'` makes a close code a good outcome",
        GRPC_STATUS.. => "look at the server's log; brunt run … --trace shows one call with its grpc-message",
        300..=399 => "request their target URLs, or use --follow N",
        401 | 403 | 407 => "send credentials: --basic, --bearer or --cookie",
        404 | 410 => "check the URLs: an error page is faster than a real page",
        429 => "the server limits the rate of one client; lift this limit for the test",
        502 | 504 => "check the upstream of the server: it did not answer in time",
        503 => "check the server's error log: it rejects overload; reduce the load",
        500..=599 => "check the server's error log",
        405 => "the path does not take this method: see -X",
        _ => "look at a reply with curl",
    }
}

/// Redirects that count as good replies.
pub fn redirects(facts: &Facts) -> Option<Remark> {
    if !facts.plan.policy().checks.status.is_empty() {
        return None;
    }
    let total = facts.total();
    let redirects = statuses(total, |status| (300..400).contains(&status) && status != 304);
    let ended_there = redirects.iter().map(|s| s.1).sum::<u64>().saturating_sub(total.redirects);
    let share = ended_there as f64 / total.completed.max(1) as f64;
    if share < STRAYS {
        return None;
    }
    let said = format!(
        "{} of the replies were redirects ({}): the run measures redirects instead of pages.",
        percent(share),
        mix(&redirects)
    );
    let said = if share < MANY { Remark::note(said) } else { Remark::warning(said) };
    Some(said.remedy(status_remedy(302)))
}

fn statuses(total: &Tally, which: impl Fn(u16) -> bool) -> Vec<(u16, u64)> {
    total.statuses.sorted().into_iter().filter(|s| which(s.0)).collect()
}

fn mix(statuses: &[(u16, u64)]) -> String {
    statuses
        .iter()
        .map(|(status, n)| format!("{} × {}", count(*n), status_text(*status)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Replies grew or shrank while the same was asked.
pub fn length_drift(facts: &Facts) -> Option<Remark> {
    // A list may have its long pages at its end, and a placeholder may ask for other things as it counts on.
    let [request] = facts.plan.main().scenario.requests.as_slice() else { return None };
    if request.url.contains('{') {
        return None;
    }
    let (first, last) = (Length::of(facts.part(0.0, 1.0 / 3.0))?, Length::of(facts.part(2.0 / 3.0, 1.0))?);
    let apart = (last.mean - first.mean).abs();
    let by_chance = STANDARD_ERRORS * (first.error.powi(2) + last.error.powi(2)).sqrt();
    if apart <= DRIFT * first.mean.max(last.mean) || apart <= by_chance {
        return None;
    }
    let said = format!(
        "The replies changed in size: {} each in the first third of the run, {} in the last.",
        bytes(first.mean),
        bytes(last.mean)
    );
    let remedy = "check late replies with curl for error pages or empty pages; --expect-same-length counts them";
    Some(Remark::warning(said).remedy(remedy))
}

/// The mean length of replies, and its standard error, from the means of intervals.
struct Length {
    mean: f64,
    error: f64,
}

impl Length {
    /// None with too little to tell.
    fn of(intervals: &[Interval]) -> Option<Self> {
        let answered = intervals.iter().filter(|i| i.flow.completed > 0);
        let means: Vec<f64> = answered.map(|i| i.flow.bytes_received as f64 / i.flow.completed as f64).collect();
        if means.len() < 4 {
            return None;
        }
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Some(Self { mean, error: (variance / n).sqrt() })
    }
}
