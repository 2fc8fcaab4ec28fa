//! How httperf reads numbers and lists of them, and what it says of those that make no sense.

use super::Refusal;
use std::net::{IpAddr, Ipv4Addr};

/// A whole number; `what` it is, for when it is none.
pub fn whole(text: &str, what: &str) -> Result<i64, Refusal> {
    text.trim_start().parse().map_err(|_| Refusal::said(format!("illegal {what} {text}")))
}

/// How many of something; less than nothing is nothing.
pub fn count(text: &str, what: &str) -> Result<u64, Refusal> {
    Ok(whole(text, &format!("number of {what}"))?.max(0) as u64)
}

/// A number with a fraction.
pub fn real(text: &str, what: &str) -> Result<f64, Refusal> {
    let number = text.trim_start().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Refusal::said(format!("illegal {what} {text}")))
}

/// `I/N`.
pub fn client(text: &str) -> Result<(u64, u64), Refusal> {
    let (id, rest) = leading(text).ok_or_else(|| Refusal::said(format!("bad client id (rest: `{text}')")))?;
    let Some(number) = rest.strip_prefix('/') else {
        return Err(Refusal::said(format!("client id not followed by `/' (rest: `{rest}')")));
    };
    let bad = || Refusal::said(format!("bad number of clients (rest: `{number}')"));
    let (number, _) = leading(number).ok_or_else(bad)?;
    Ok((id, number.max(1)))
}

/// The whole number that a text begins with, and what stands behind it.
pub fn leading(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The number that a text begins with, and what stands behind it.
pub fn leading_real(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// `N,X`: how many files there are, and how often a new one is asked for.
pub fn wset(text: &str) -> Result<(u64, f64), Refusal> {
    let bad_size = || Refusal::said(format!("bad working set size (1st parameter) in --wset arg (rest: `{text}')"));
    let (size, rest) = leading(text).filter(|(size, _)| *size > 0).ok_or_else(bad_size)?;
    let shown = rest.strip_prefix(',').unwrap_or(text);
    let bad = || Refusal::said(format!("bad target miss rate (2nd parameter) in --wset arg (rest: `{shown}')"));
    let (share, _) = rest.strip_prefix(',').and_then(leading_real).ok_or_else(bad)?;
    if share > 1.0 { Err(bad()) } else { Ok((size, share)) }
}

/// `y|n,FILE`: whether it is begun again at its end, and the file.
pub fn wlog(text: &str) -> (bool, String) {
    (text.starts_with(['y', 'Y']), text.get(2..).unwrap_or_default().to_owned())
}

/// Addresses, parted by commas; `A.B.C.D-E` stands for several.
pub fn addresses(text: &str) -> Result<Vec<IpAddr>, Refusal> {
    let bad = |word: &str| Refusal::said(format!("bad address {word} in --myaddr; write one such as 127.0.0.2-9"));
    let mut all = Vec::new();
    for word in text.split(',') {
        let (first, last) = word.split_once('-').map_or((word, None), |(first, last)| (first, Some(last)));
        let from: Ipv4Addr = first.parse().map_err(|_| bad(word))?;
        let [a, b, c, d] = from.octets();
        let to = last.map_or(Ok(d), str::parse).map_err(|_| bad(word))?;
        all.extend((d..=to).map(|d| IpAddr::from([a, b, c, d])));
    }
    Ok(all)
}

/// A number as C's `%g` writes it: six digits, no more zeros than needed.
pub fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let written = format!("{number:.5e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if (-4..6).contains(&exponent) {
        return trim(&format!("{number:.*}", (5 - exponent).max(0) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), exponent.abs())
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
    fn what_makes_no_sense_is_told_in_httperfs_words() {
        let told = |refusal: Result<(), Refusal>| match refusal {
            Err(Refusal::Said(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(told(count("2.5", "connections").map(drop)), "illegal number of connections 2.5");
        assert_eq!(told(client("3").map(drop)), "client id not followed by `/' (rest: `')");
        assert_eq!(told(client("x/2").map(drop)), "bad client id (rest: `x/2')");
        let wset = |text| told(wset(text).map(drop));
        assert_eq!(wset("4,1.7"), "bad target miss rate (2nd parameter) in --wset arg (rest: `1.7')");
        assert_eq!(wset("10"), "bad target miss rate (2nd parameter) in --wset arg (rest: `10')");
        assert_eq!(addresses("127.0.0.2-3,127.0.0.9").unwrap().len(), 3);
    }
}
