//! Replies in events: `sse`, `lines` or `messages`, then a maximum number and a maximum
//! time, such as `sse,20,10s`.

use super::duration;
use super::named::{self, NamedValue, Suggestion, value_named};
use brunt_model::reply_policy::{EventFormat, Events};
use brunt_script::WordError;

/// Formats of events, by word.
const FORMATS: [NamedValue<EventFormat>; 3] = [
    NamedValue { names: &["sse"], about: "server-sent events", value: EventFormat::ServerSent },
    NamedValue { names: &["lines"], about: "one event per line", value: EventFormat::Lines },
    NamedValue {
        names: &["messages"],
        about: "messages of WebSocket or gRPC",
        value: EventFormat::Messages,
    },
];

const INSTEAD: &str =
    "sse, lines or messages, then how many at most and for how long, such as sse,20,10s";

/// Parses the events of a reply.
pub fn parse(word: &str) -> Result<Events, WordError> {
    let mut parts = word.split(',').map(str::trim);
    let Some(format) = parts.next().and_then(|name| value_named(&FORMATS, name)) else {
        return Err(WordError::new(word, "is no kind of event", INSTEAD));
    };
    let mut events = Events { format, most: None, longest: None };
    for part in parts {
        match part.parse() {
            Ok(most) if events.most.is_none() => events.most = Some(most),
            // A number without a unit is the count, so a time needs its unit.
            _ if events.longest.is_none() => events.longest = Some(duration::with_unit(part)?),
            _ => return Err(WordError::new(word, "has one part twice", INSTEAD)),
        }
    }
    Ok(events)
}

/// Returns the values that shells propose.
pub fn suggestions() -> Vec<Suggestion> {
    named::suggestions(&FORMATS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn valid_values_are_parsed() {
        let events = |format, most, longest| Ok(Events { format, most, longest });
        assert_eq!(parse("sse"), events(EventFormat::ServerSent, None, None));
        assert_eq!(parse("lines, 5"), events(EventFormat::Lines, Some(5), None));
        assert_eq!(parse("messages,0"), events(EventFormat::Messages, Some(0), None));
        let ten = Some(Duration::from_secs(10));
        assert_eq!(parse("sse,10s"), events(EventFormat::ServerSent, None, ten));
        assert_eq!(parse("sse,10s,20"), events(EventFormat::ServerSent, Some(20), ten));
    }

    #[test]
    fn errors_show_valid_values() {
        for (word, message) in [
            ("", "sse,20,10s"),
            ("json", "no kind of event"),
            ("sse,5,6", "a unit"),
            ("sse,1s,2s", "twice"),
        ] {
            let error = parse(word).unwrap_err().to_string();
            assert!(error.contains(message), "{word}: {error}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = parse(&word);
        }
    }
}
