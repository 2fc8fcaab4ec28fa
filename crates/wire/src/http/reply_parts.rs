//! Selects the parts of replies that a policy needs.

use crate::{WantedDetails, WantedFields};
use brunt_model::ReplyPolicy;
use brunt_model::plan::{ListenerRecords, RecordDetail};
use brunt_model::reply_policy::{Cookies, Events, RedirectRules};
use regex::bytes::Regex;

/// The parts of replies that a policy needs.
pub struct ReplyParts {
    pub wants: WantedDetails,
    /// The pattern to search the body for.
    pub pattern: Option<Regex>,
    /// The format and limits of its events, if the reply is split into events.
    pub events: Option<Events>,
}

impl ReplyParts {
    /// Selects the parts for a policy.
    ///
    /// # Errors
    ///
    /// If the pattern for bodies is no regular expression.
    pub fn new(
        policy: &ReplyPolicy,
        listeners: Option<&ListenerRecords>,
    ) -> Result<Self, regex::Error> {
        let records = listeners.map(|listeners| listeners.detail);
        let needs_location =
            policy.redirects.most > 0 && policy.redirects.rules != RedirectRules::Siege;
        let needs_all = records == Some(RecordDetail::Full);
        let wants = WantedDetails {
            body: policy.needs_body() || !policy.until.is_empty() || needs_all,
            matches: policy.checks.body.is_some(),
            page: policy.elements.is_some(),
            location: needs_location,
            server: false,
            head: policy.needs_fields() || needs_all,
            status_line: records.is_some(),
            fields: wanted_fields(policy, records),
            cookie: policy.cookies == Cookies::Newest,
            skipped: listeners.is_some_and(|listeners| listeners.trace),
        };
        Ok(Self {
            wants,
            pattern: policy.checks.body.as_deref().map(Regex::new).transpose()?,
            events: policy.events,
        })
    }
}

fn wanted_fields(policy: &ReplyPolicy, records: Option<RecordDetail>) -> WantedFields {
    if policy.needs_fields() || records == Some(RecordDetail::Full) {
        WantedFields::All
    } else if policy.needs_page() || records.is_some() {
        WantedFields::Page
    } else if policy.needs_head() {
        WantedFields::Following
    } else {
        WantedFields::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::extract::{ExtractFrom, Extractor, MatchChoice, ReplyPart};
    use brunt_model::reply_policy::ReplyAction;

    fn wants(from: ExtractFrom) -> WantedDetails {
        let extractor = Extractor {
            variable: "v".into(),
            from,
            take: MatchChoice::First,
            default: None,
            part: ReplyPart::Body,
            samples: brunt_model::extract::SampleScope::Main,
            sets_more: false,
        };
        let policy = ReplyPolicy {
            actions: vec![ReplyAction::Extract(extractor)],
            ..ReplyPolicy::default()
        };
        ReplyParts::new(&policy, None).expect("no pattern").wants
    }

    #[test]
    fn replies_are_recorded_as_far_as_extractors_need() {
        let body = WantedDetails { body: true, ..WantedDetails::default() };
        assert_eq!(wants(ExtractFrom::JsonPath("$".into())), body);
        let head =
            WantedDetails { head: true, fields: WantedFields::All, ..WantedDetails::default() };
        assert_eq!(wants(ExtractFrom::Cookie("sid".into())), head);
        let nothing = ReplyParts::new(&ReplyPolicy::default(), None).expect("no pattern").wants;
        assert_eq!(nothing, WantedDetails::default());
    }
}
