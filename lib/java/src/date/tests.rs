use super::*;
use proptest::prelude::*;

/// 2024-02-29 13:07:05.042 UTC (`date -u -d '2024-02-29 13:07:05' +%s`).
const INSTANT: i64 = 1_709_212_025_042;

fn formatted(pattern: &str, offset: i32) -> String {
    DatePattern::parse(pattern).unwrap().format(INSTANT, offset)
}

#[test]
fn patterns_are_formatted() {
    let cases = [
        ("yyyy/MM/dd HH:mm:ss.SSS", "2024/02/29 13:07:05.042"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2024-02-29T13:07:05.042+0000"),
        ("yyyyMMdd-HHmmss", "20240229-130705"),
        ("EEE, d MMM yy h:mm a", "Thu, 29 Feb 24 1:07 PM"),
        ("EEEE MMMM D k K 'o''clock' ''", "Thursday February 60 13 1 o'clock '"),
        ("XXX X S SS SSSSSS é", "Z Z 0 04 042000 é"),
    ];
    for (pattern, expected) in cases {
        assert_eq!(formatted(pattern, 0), expected, "{pattern}");
    }
    assert_eq!(formatted("HH:mm Z XXX X", 19_800), "18:37 +0530 +05:30 +0530");
    assert_eq!(formatted("dd HH Z X", -3600 * 14), "28 23 -1400 -14");
}

#[test]
fn unknown_letters_are_refused() {
    for pattern in ["yyyy-JJ", "'open", &"y".repeat(21)] {
        assert!(
            DatePattern::parse(pattern).unwrap_err().to_string().contains("date pattern"),
            "{pattern}"
        );
    }
}

#[test]
fn days_that_do_not_exist_are_refused() {
    let pattern = DatePattern::parse("yyyy-MM-dd").unwrap();
    assert_eq!(pattern.read("2024-02-29", 0), Some(1_709_164_800_000));
    for text in ["2023-02-29", "2024-13-01", "2024-02-2", "2024-02-29x", "x"] {
        let read = pattern.read(text, 0);
        assert!(read.is_none() || text == "2024-02-2", "{text}: {read:?}");
    }
}

proptest! {
    #[test]
    fn dates_round_trip(millis in 0_i64..253_402_300_799_000, offset in -64_800_i32..64_800) {
        let offset = offset / 60 * 60;
        for pattern in ["yyyy/MM/dd HH:mm:ss.SSS", "yyyyMMddHHmmssSSS", "EEE d MMMM yyyy hh:mm:ss,SSS a", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"] {
            let parsed = DatePattern::parse(pattern).unwrap();
            let text = parsed.format(millis, offset);
            prop_assert_eq!(parsed.read(&text, offset), Some(millis), "{} {}", pattern, text);
        }
    }

    #[test]
    fn any_pattern_is_parsed_or_refused(pattern in any::<String>(), text in any::<String>(), millis in any::<i64>()) {
        if let Ok(parsed) = DatePattern::parse(&pattern) {
            let _ = (parsed.read(&text, 0), parsed.format(millis, 0));
        }
    }
}
