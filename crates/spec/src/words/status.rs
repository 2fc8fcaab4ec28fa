//! Good statuses: `200`, `200,201`, `300-399`, `2xx`; of gRPC: `OK`, `NOT_FOUND`; of a WebSocket
//! that the server closes: `close 4000`.

use brunt_model::outcome::{CLOSE_STATUS, grpc_status};
use brunt_model::plan::StatusRange;
use brunt_script::WordError;

const INSTEAD: &str = "statuses from 100 to 999 such as 200, 300-399 or 2xx, of gRPC such as OK, or close codes such as `close 4000`, with commas between them";

/// Parses a list of statuses, ranges and classes.
pub fn parse(word: &str) -> Result<Vec<StatusRange>, WordError> {
    word.split(',').map(|part| range(part.trim())).collect()
}

fn range(word: &str) -> Result<StatusRange, WordError> {
    if let Some(status) = grpc_status(word) {
        return Ok(StatusRange { least: status, most: status });
    }
    if let Some(code) = word.strip_prefix("close ") {
        // RFC 6455 section 7.4.2 defines codes from 1000 to 4999.
        let code = code.trim().parse::<u16>().ok().filter(|code| (1000..=4999).contains(code));
        let code = code.ok_or_else(|| WordError::new(word, "not a close code", INSTEAD))?;
        let status = CLOSE_STATUS + code;
        return Ok(StatusRange { least: status, most: status });
    }
    if let Some(class) = word.strip_suffix("xx").or_else(|| word.strip_suffix("XX")) {
        let least = status(word, &format!("{class}00"))?;
        return Ok(StatusRange { least, most: least + 99 });
    }
    let (least, most) = word.split_once('-').unwrap_or((word, word));
    let least = status(word, least.trim())?;
    let most = status(word, most.trim())?;
    if least > most {
        return Err(WordError::new(
            word,
            "the lower status comes first",
            format!("{most}-{least}"),
        ));
    }
    Ok(StatusRange { least, most })
}

fn status(word: &str, digits: &str) -> Result<u16, WordError> {
    // Status codes have three digits (RFC 9110 section 15).
    let three =
        digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    let status = three.then(|| digits.parse().ok()).flatten();
    status.ok_or_else(|| WordError::new(word, "not a status", INSTEAD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn valid_values_are_parsed() {
        let ranges =
            |word| -> Vec<_> { parse(word).unwrap().iter().map(|r| (r.least, r.most)).collect() };
        assert_eq!(ranges("200"), [(200, 200)]);
        assert_eq!(ranges("200,201,300-399,2xx"), [(200, 200), (201, 201), (300, 399), (200, 299)]);
        assert_eq!(ranges("4XX, 503"), [(400, 499), (503, 503)]);
        assert_eq!(ranges("OK,NOT_FOUND"), [(1000, 1000), (1005, 1005)]);
        assert_eq!(ranges("close 4000,101"), [(24_000, 24_000), (101, 101)]);
    }

    #[test]
    fn errors_show_valid_values() {
        for (word, remedy) in [
            ("", "such as 200, 300-399 or 2xx"),
            ("20", "such as 200"),
            ("ok", "of gRPC such as OK"),
            ("0xx", "such as 200"),
            ("xx", "such as 200"),
            ("200,", "such as 200"),
            ("+20", "such as 200"),
            ("1000", "such as 200"),
            ("399-300", "write 300-399"),
            ("close 999", "such as `close 4000`"),
            ("close 5000", "such as `close 4000`"),
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains(remedy), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = (parse(&word), parse(&format!("{word}xx")));
        }
    }
}
