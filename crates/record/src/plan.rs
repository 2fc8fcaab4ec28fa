//! Converts a recording to the text of a plan file, with extractors if there is a second recording.

use crate::correlate::{Correlation, correlate_flows};
use crate::error::RecordError;
use crate::options::PlanOptions;
use crate::recording::Recording;
use brunt_har::{recording, write};
use url::Url;

/// Maximum number of lines for values that differ, in the comments of a plan.
const MAX_NOTES: usize = 20;

/// A plan file, and the comparison that its extractors come from.
#[derive(Debug, Clone)]
pub struct RecordedPlan {
    /// Text of the plan file.
    pub text: String,
    /// Comparison with the second recording; None without one.
    pub correlation: Option<Correlation>,
    /// Requests that the plan lacks, with reasons and counts.
    pub left_out: Vec<String>,
}

/// Converts a recording. `second` is another recording of the same actions. Without it, extractors are only written
/// for values that look generated.
///
/// # Errors
///
/// [`RecordError::Import`] if a recording has no request, or is too large for a plan file.
pub fn plan(
    first: &Recording,
    second: Option<&Recording>,
    options: &PlanOptions,
) -> Result<RecordedPlan, RecordError> {
    let import = options.import(&first.name);
    let mut correlation = None;
    let mut plan = match second {
        None => recording::read(first.har(), &import)?,
        Some(second) => {
            let others = recording::flows(second.har(), &options.import(&second.name))?;
            recording::read_with(first.har(), &import, |flows, names| {
                correlation = Some(correlate_flows(flows, &others, names));
            })?
        }
    };
    plan.about = format!("Recorded by `brunt record`: {}.", without_secrets(&first.name));
    // `brunt import har` has another name for this option.
    for part in &mut plan.left_out {
        *part = part.replace("--resources keeps", "--keep-static keeps");
    }
    plan.left_out.extend(first.cuts.iter().cloned());
    plan.notes.extend(correlation.iter().flat_map(notes));
    let text = write::yaml(&plan, &first.name)?;
    Ok(RecordedPlan { text, correlation, left_out: plan.left_out })
}

/// Returns the name of a recording. A URL may have secrets in its user information and its query.
fn without_secrets(name: &str) -> String {
    let Ok(mut url) = Url::parse(name) else { return name.to_owned() };
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !has_user && url.query().is_none() && url.fragment().is_none() {
        return name.to_owned();
    }
    // Both fail only for URLs without a host, which have no user information.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Host of a URL; None if it has none, or another scheme than HTTP.
pub fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| url.scheme().starts_with("http"))?;
    url.host_str().map(str::to_owned)
}

/// Comments at the top of a plan. They contain no values, because values may be secrets.
fn notes(correlation: &Correlation) -> Vec<String> {
    let mut notes = vec![format!(
        "Compared with a second recording. Requests in both: {}. Values that differ and come from earlier replies: {}.",
        correlation.paired,
        correlation.values.len()
    )];
    let missing = [&correlation.only_first, &correlation.only_second];
    for (requests, recording) in missing.into_iter().zip(["first", "second"]) {
        if !requests.is_empty() {
            let shown: Vec<&str> = requests.iter().take(5).map(String::as_str).collect();
            let more = requests.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("Only in the {recording} recording: {}{more}.", shown.join(", ")));
        }
    }
    for difference in correlation.differences.iter().take(MAX_NOTES) {
        let place = difference.uses.first().map_or("", String::as_str);
        notes
            .push(format!("Differs, without an extractor: {place} ({})", difference.hint.advice()));
    }
    let more = correlation.differences.len().saturating_sub(MAX_NOTES);
    notes.extend((more > 0).then(|| format!("{more} more values differ, without an extractor.")));
    notes
}
