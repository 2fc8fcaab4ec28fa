//! Parses numbers and lists of numbers, with httperf's error messages.

use super::HttperfExit;
use std::net::{IpAddr, Ipv4Addr};

/// Parses a whole number. `what` names it in the error message.
pub fn whole(text: &str, what: &str) -> Result<i64, HttperfExit> {
    text.trim_start().parse().map_err(|_| HttperfExit::message(format!("illegal {what} {text}")))
}

/// Parses a number of things. Negative numbers become 0.
pub fn count(text: &str, what: &str) -> Result<u64, HttperfExit> {
    Ok(whole(text, &format!("number of {what}"))?.max(0) as u64)
}

/// Parses a number with a fraction.
pub fn real(text: &str, what: &str) -> Result<f64, HttperfExit> {
    let number = text.trim_start().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| HttperfExit::message(format!("illegal {what} {text}")))
}

/// Parses `I/N`: index and number of clients.
pub fn client(text: &str) -> Result<(u64, u64), HttperfExit> {
    let (id, rest) = leading(text)
        .ok_or_else(|| HttperfExit::message(format!("bad client id (rest: `{text}')")))?;
    let Some(number) = rest.strip_prefix('/') else {
        return Err(HttperfExit::message(format!(
            "client id not followed by `/' (rest: `{rest}')"
        )));
    };
    let (number, _) = leading(number)
        .ok_or_else(|| HttperfExit::message(format!("bad number of clients (rest: `{number}')")))?;
    Ok((id, number.max(1)))
}

/// Splits off the whole number at the start of a text; returns it and the rest.
pub fn leading(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Splits off the number at the start of a text; returns it and the rest.
pub fn leading_real(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Parses `N,X`: number of files, and probability of a new one.
pub fn wset(text: &str) -> Result<(u64, f64), HttperfExit> {
    let (size, rest) = leading(text).filter(|(size, _)| *size > 0).ok_or_else(|| {
        HttperfExit::message(format!(
            "bad working set size (1st parameter) in --wset arg (rest: `{text}')"
        ))
    })?;
    let rate_text = rest.strip_prefix(',');
    let rate = rate_text.and_then(leading_real).map(|(rate, _)| rate).filter(|rate| *rate <= 1.0);
    let rate = rate.ok_or_else(|| {
        let shown = rate_text.unwrap_or(text);
        HttperfExit::message(format!(
            "bad target miss rate (2nd parameter) in --wset arg (rest: `{shown}')"
        ))
    })?;
    Ok((size, rate))
}

/// Parses `y|n,FILE`: whether to restart at the end of the list, and the file.
pub fn wlog(text: &str) -> (bool, String) {
    (text.starts_with(['y', 'Y']), text.get(2..).unwrap_or_default().to_owned())
}

/// Parses addresses separated by commas. `A.B.C.D-E` is a range.
pub fn addresses(text: &str) -> Result<Vec<IpAddr>, HttperfExit> {
    let mut all = Vec::new();
    for word in text.split(',') {
        let (first, last) =
            word.split_once('-').map_or((word, None), |(first, last)| (first, Some(last)));
        let start: Ipv4Addr = first.parse().map_err(|_| bad_address(word))?;
        let [a, b, c, d] = start.octets();
        let end = last.map_or(Ok(d), str::parse).map_err(|_| bad_address(word))?;
        all.extend((d..=end).map(|d| IpAddr::from([a, b, c, d])));
    }
    Ok(all)
}

fn bad_address(word: &str) -> HttperfExit {
    HttperfExit::message(format!("bad address {word} in --myaddr; write one such as 127.0.0.2-9"))
}

/// Formats a number like C's `%g`: six significant digits, without trailing zeros.
pub fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);

    if (-4..6).contains(&exponent) {
        return trim_zeros(&format!("{number:.*}", (5 - exponent).max(0) as usize)).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim_zeros(digits), exponent.abs())
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_c_does() {
        for (number, text) in [
            (3.7, "3.7"),
            (1000.0, "1000"),
            (1_234_567.891, "1.23457e+06"),
            (0.123_456_789, "0.123457"),
            (0.00001, "1e-05"),
            (100_000.0, "100000"),
            (0.0, "0"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn errors_have_the_wording_of_httperf() {
        let told = |refusal: Result<(), HttperfExit>| match refusal {
            Err(HttperfExit::Message(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            told(count("2.5", "connections").map(drop)),
            "illegal number of connections 2.5"
        );
        assert_eq!(told(client("3").map(drop)), "client id not followed by `/' (rest: `')");
        assert_eq!(told(client("x/2").map(drop)), "bad client id (rest: `x/2')");
        let wset = |text| told(wset(text).map(drop));
        assert_eq!(
            wset("4,1.7"),
            "bad target miss rate (2nd parameter) in --wset arg (rest: `1.7')"
        );
        assert_eq!(wset("10"), "bad target miss rate (2nd parameter) in --wset arg (rest: `10')");
        assert_eq!(addresses("127.0.0.2-3,127.0.0.9").unwrap().len(), 3);
    }
}
