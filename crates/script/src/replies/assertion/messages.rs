//! What JMeter says of a text that is not as an assertion wants it.

use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::TextMatch;

/// Of equal characters before and behind a difference so many are shown.
const MOST_EQUAL: usize = 100;

/// The message for a `JMESPath` whose value is not as wanted: what it would have to be; None: there.
pub fn of_jmes_path(path: &str, expected: Option<String>, invert: bool) -> String {
    let not = if invert { " not" } else { "" };
    match expected {
        None => format!("JMESPATH {path} expected{not} to exist"),
        Some(expected) => format!("Value expected{not} to {expected}"),
    }
}

/// The message for a pattern that the text fails; `any`: the pattern is one of which one would be enough.
pub fn told(part: &ReplyPart, (is, not, any): (TextMatch, bool, bool), (pattern, text): (&str, &str)) -> String {
    let part = match part {
        ReplyPart::Body | ReplyPart::UnescapedBody => "text".into(),
        ReplyPart::Headers => "headers".into(),
        ReplyPart::Status => "code".into(),
        ReplyPart::Message => "message".into(),
        ReplyPart::Url => "URL".into(),
        ReplyPart::RequestHeaders => "request headers".into(),
        ReplyPart::RequestBody | ReplyPart::SamplerData => "request data".into(),
        ReplyPart::Variable(name) => format!("variable({name})"),
    };
    let verb = match is {
        TextMatch::Substring | TextMatch::Contains => "contain",
        TextMatch::Equals => "equal",
        TextMatch::Matches => "match",
    };
    let not = if not { "not " } else { "" };
    // JMeter has no words for patterns of which one is enough.
    let expected = if any { "something using".into() } else { format!("{not}to {verb}") };
    let pattern = if is == TextMatch::Equals { difference(text, pattern) } else { pattern.to_owned() };
    format!("Test failed: {part} expected {expected} /{pattern}/")
}

/// Where a text begins and ends to differ from the one that was expected.
fn difference(received: &str, expected: &str) -> String {
    let (one, other): (Vec<char>, Vec<char>) = (received.chars().collect(), expected.chars().collect());
    let begins = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let room = one.len().min(other.len()).saturating_sub(begins + 1);
    let same = one.iter().rev().zip(other.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let (before, behind) = (ending(&one[..begins]), beginning(&one[one.len() - same..]));
    let [one, other] = [one, other].map(|text| beginning(&text[begins..text.len() - same]));
    let width = one.chars().count().max(other.chars().count());
    let shown = |text: &str| format!("{before}[[[{text:width$}]]]{behind}");
    format!("\n\n****** received  : {}\n\n****** comparison: {}\n\n", shown(&one), shown(&other))
}

fn beginning(text: &[char]) -> String {
    let cut = if text.len() > MOST_EQUAL { "..." } else { "" };
    text.iter().take(MOST_EQUAL).collect::<String>() + cut
}

fn ending(text: &[char]) -> String {
    match text.len().checked_sub(MOST_EQUAL) {
        None | Some(0) => text.iter().collect(),
        Some(left_out) => format!("...{}", text[left_out..].iter().collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_told_as_jmeter_does() {
        let body = |is, not| told(&ReplyPart::Body, (is, not, false), ("pat", "x"));
        assert_eq!(body(TextMatch::Substring, false), "Test failed: text expected to contain /pat/");
        assert_eq!(body(TextMatch::Matches, true), "Test failed: text expected not to match /pat/");
        let any = told(&ReplyPart::Body, (TextMatch::Contains, false, true), ("pat", "x"));
        assert_eq!(any, "Test failed: text expected something using /pat/");
        let variable = ReplyPart::Variable("v".into());
        assert_eq!(
            told(&variable, (TextMatch::Contains, false, false), ("a", "b")),
            "Test failed: variable(v) expected to contain /a/"
        );
        assert_eq!(
            told(&ReplyPart::Status, (TextMatch::Equals, false, false), ("201", "200")),
            "Test failed: code expected to equal /\n\n****** received  : 20[[[0]]]\n\n****** comparison: 20[[[1]]]\n\n/"
        );
    }

    #[test]
    fn a_difference_is_shown_within_what_is_equal() {
        let shown = |one: &str, other: &str| difference(one, other);
        assert_eq!(
            shown("abXcd", "abYYcd"),
            "\n\n****** received  : ab[[[X ]]]cd\n\n****** comparison: ab[[[YY]]]cd\n\n"
        );
        assert_eq!(shown("a", ""), "\n\n****** received  : [[[a]]]\n\n****** comparison: [[[ ]]]\n\n");
        let long = "x".repeat(120);
        let expected = format!("...{}[[[a]]]", "x".repeat(100));
        assert!(shown(&format!("{long}a"), &format!("{long}b")).contains(&expected));
    }
}
