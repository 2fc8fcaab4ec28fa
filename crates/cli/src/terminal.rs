//! Says how wide a terminal is.

use brunt_report::view::COLUMNS;
use std::os::fd::AsFd;

/// Columns of the terminal that `stream` writes to. Where it writes to a pipe or a file: what the environment variable
/// `COLUMNS` says, as for the help; 80 without it.
pub fn columns(stream: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
    decided(size, std::env::var("COLUMNS").ok().as_deref())
}

fn decided(terminal: usize, environment: Option<&str>) -> usize {
    let environment = || environment.and_then(|columns| columns.parse().ok());
    Some(terminal).filter(|columns| *columns > 0).or_else(environment).filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_then_columns_then_80() {
        for (terminal, environment, expected) in [
            (132, Some("60"), 132),
            (0, Some("60"), 60),
            (0, Some("0"), COLUMNS),
            (0, Some("wide"), COLUMNS),
            (0, Some("-5"), COLUMNS),
            (0, None, COLUMNS),
        ] {
            assert_eq!(decided(terminal, environment), expected, "{terminal} {environment:?}");
        }
    }
}
