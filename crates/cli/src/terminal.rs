//! Determines the width of the terminal.

use brunt_report::view::COLUMNS;
use std::os::fd::AsFd;

/// Width of the terminal of `stream`, in columns. For a pipe or a file, the environment variable
/// `COLUMNS` counts, as for the help; the default is 80.
pub fn columns(stream: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
    select(size, std::env::var("COLUMNS").ok().as_deref())
}

fn select(terminal: usize, variable: Option<&str>) -> usize {
    let variable = variable.and_then(|columns| columns.parse().ok());
    [Some(terminal), variable].into_iter().flatten().find(|columns| *columns > 0).unwrap_or(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_is_that_of_the_terminal_else_of_columns_else_80() {
        for (terminal, environment, expected) in [
            (132, Some("60"), 132),
            (0, Some("60"), 60),
            (0, Some("0"), COLUMNS),
            (0, Some("wide"), COLUMNS),
            (0, Some("-5"), COLUMNS),
            (0, None, COLUMNS),
        ] {
            assert_eq!(select(terminal, environment), expected, "{terminal} {environment:?}");
        }
    }
}
