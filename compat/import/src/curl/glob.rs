//! Expands URL patterns such as `http://h/[1-3]/{a,b}`.

/// Maximum number of URLs of a pattern.
const MAX_URLS: usize = 1000;

/// Error message, and advice what to write instead.
type Problem = (String, String);

/// Expands a pattern in curl's order: the last range changes fastest.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, Problem> {
    let mut urls = vec![String::new()];
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let choices = match character {
            '[' if is_ipv6(rest) => {
                let end = rest.find(']').map_or(1, |position| position + 1);
                literal(&mut rest, end)
            }
            '{' => list(pattern, &mut rest)?,
            '[' => range(pattern, &mut rest)?,
            '}' | ']' => return Err(malformed(pattern)),
            '\\' if rest[1..].starts_with(['{', '}', '[', ']']) => {
                rest = &rest[1..];
                literal(&mut rest, 1)
            }
            other => literal(&mut rest, other.len_utf8()),
        };
        // Before the URLs are made: a product of ranges could fill the memory.
        if urls.len() * choices.len() > MAX_URLS {
            let wrong = format!("`{pattern}` expands to more than {MAX_URLS} URLs");
            return Err((wrong, "write a shorter range".to_owned()));
        }
        let all =
            urls.iter().flat_map(|url| choices.iter().map(move |choice| format!("{url}{choice}")));
        urls = all.collect();
    }
    Ok(urls)
}

fn malformed(pattern: &str) -> Problem {
    let wrong = format!("`{pattern}` has a range or list that is malformed");
    (wrong, "write one such as [1-3] or {a,b}, or -g where the URL is meant as it is".to_owned())
}

fn literal(rest: &mut &str, length: usize) -> Vec<String> {
    let (text, tail) = rest.split_at(length);
    *rest = tail;
    vec![text.to_owned()]
}

/// True if the brackets contain an IPv6 address.
fn is_ipv6(rest: &str) -> bool {
    let inner =
        rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inner, _)| inner);
    let address = inner.map(|inner| inner.split(['%', '/']).next().unwrap_or_default());
    address.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok())
}

fn list(pattern: &str, rest: &mut &str) -> Result<Vec<String>, Problem> {
    let (inner, tail) = rest[1..].split_once('}').ok_or_else(|| malformed(pattern))?;
    if inner.is_empty() || inner.contains(['{', '[', ']', '\\']) {
        return Err(malformed(pattern));
    }
    *rest = tail;
    Ok(inner.split(',').map(str::to_owned).collect())
}

fn range(pattern: &str, rest: &mut &str) -> Result<Vec<String>, Problem> {
    let (inner, tail) = rest[1..].split_once(']').ok_or_else(|| malformed(pattern))?;
    *rest = tail;
    let (ends, step) = inner.split_once(':').unwrap_or((inner, "1"));
    let (first, last) = ends.split_once('-').ok_or_else(|| malformed(pattern))?;
    let step: usize =
        step.parse().ok().filter(|step| *step > 0).ok_or_else(|| malformed(pattern))?;
    if let (Ok(start), Ok(end)) = (first.parse::<u64>(), last.parse::<u64>()) {
        // Leading zeros set the width, as in `[001-100]`.
        let width = if first.starts_with('0') { first.len() } else { 1 };
        // One more than allowed shows that the range is too long.
        let numbers = (start..=end).step_by(step).take(MAX_URLS + 1);
        let all: Vec<String> = numbers.map(|number| format!("{number:0width$}")).collect();
        return if all.is_empty() { Err(malformed(pattern)) } else { Ok(all) };
    }
    match (first.as_bytes(), last.as_bytes()) {
        ([start], [end])
            if start.is_ascii_alphabetic() && end.is_ascii_alphabetic() && start <= end =>
        {
            Ok((*start..=*end).step_by(step).map(|letter| char::from(letter).to_string()).collect())
        }
        _ => Err(malformed(pattern)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_urls() {
        assert_eq!(
            expand("h/[08-10]{a,b}").unwrap(),
            ["h/08a", "h/08b", "h/09a", "h/09b", "h/10a", "h/10b"]
        );
        assert_eq!(expand("h/[a-e:2]").unwrap(), ["h/a", "h/c", "h/e"]);
        assert_eq!(expand("http://[::1]:8/x").unwrap(), ["http://[::1]:8/x"]);
        assert_eq!(expand(r"h/\{a\}").unwrap(), ["h/{a}"]);
        for wrong in ["h/{a", "h/[1-", "h/[x]", "h/}", "h/[3-1]", "h/[1-100000]", "h/{}"] {
            assert!(expand(wrong).is_err(), "{wrong}");
        }
    }
}
