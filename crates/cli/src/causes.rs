//! Writes an error and its causes as one line.

use brunt_model::system_error::without_number;

/// Joins the error and its causes, each once: many libraries repeat the cause in their own message.
/// Error numbers of the system are left out, since its messages are equivalent.
pub fn line(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(|cause| without_number(&cause.to_string()))
        .reduce(|line, cause| if line.ends_with(&cause) { line } else { line + ": " + &cause })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn a_cause_in_an_earlier_message_is_not_repeated() {
        let error = anyhow!("No such file (os error 2)")
            .context("cannot read /x: No such file (os error 2)");
        assert_eq!(line(&error.context("--urls")), "--urls: cannot read /x: No such file");
        assert_eq!(line(&anyhow!("b").context("a")), "a: b");
    }
}
