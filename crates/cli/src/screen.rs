//! Standard error of a terminal: a block of lines that is redrawn in place, and lines that stay above it.

use crate::terminal;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many lines of the block are on the terminal.
static DRAWN: Mutex<usize> = Mutex::new(0);

/// The progress block is laid out for no fewer columns.
const NARROWEST: usize = 20;

/// Columns of standard error.
pub fn width() -> usize {
    terminal::columns(io::stderr()).max(NARROWEST)
}

/// Draws the block anew; without lines, nothing is left of it. A line that would wrap is cut, since a wrapped one cannot be
/// redrawn. Whether anybody can read standard error is no concern of the run.
pub fn draw(lines: &[String]) {
    let mut drawn = drawn();
    let (room, mut text) = (width().saturating_sub(1), erased(*drawn));
    for (number, line) in lines.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { "\n" });
        text.extend(crate::redact::text(line).chars().take(room));
    }
    *drawn = lines.len();
    write(&text);
}

/// Takes the block off the terminal.
pub fn clear() {
    if *drawn() > 0 {
        draw(&[]);
    }
}

/// Writes a line that stays.
pub fn say(line: &str) {
    let mut drawn = drawn();
    let erased = erased(std::mem::take(&mut *drawn));
    write(&format!("{erased}{}\n", crate::redact::text(line)));
}

/// What erases so many lines, of which the last has the cursor.
fn erased(lines: usize) -> String {
    match lines {
        0 => String::new(),
        1 => "\r\x1b[J".to_owned(),
        more => format!("\r\x1b[{}A\x1b[J", more - 1),
    }
}

fn write(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
    let _ = io::stderr().flush();
}

fn drawn() -> MutexGuard<'static, usize> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}
