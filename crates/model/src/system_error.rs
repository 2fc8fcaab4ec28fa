//! Formats errors of the operating system.

/// Removes error numbers from a message: `No such file or directory (os error 2)` loses
/// the part in parentheses.
pub fn without_number(text: &str) -> String {
    // The standard library appends the number to every error of the system.
    let Some((first, rest)) = text.split_once(" (os error ") else { return text.into() };
    match rest.split_once(')') {
        // A message may contain several errors.
        Some((number, rest)) if number.parse::<i32>().is_ok() => {
            first.to_owned() + &without_number(rest)
        }
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_system_error_numbers_are_removed() {
        for (text, expected) in [
            (
                "cannot read /x: No such file (os error 2): No such file (os error 2)",
                "cannot read /x: No such file: No such file",
            ),
            ("no (os error x)", "no (os error x)"),
            ("no (os error 2", "no (os error 2"),
        ] {
            assert_eq!(without_number(text), expected);
        }
    }
}
