//! Draws on standard error of a terminal: a block of lines that is redrawn in place,
//! and permanent lines above it.

use crate::terminal;
use brunt_model::sync::IgnorePoison;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard};

/// Number of lines of the block on the terminal.
// Global, because signals and warnings print from other threads between two draws.
static DRAWN_LINES: Mutex<usize> = Mutex::new(0);

/// Minimum width of the progress block, in columns.
const MIN_COLUMNS: usize = 20;

/// Width of standard error, in columns.
pub fn width() -> usize {
    terminal::columns(io::stderr()).max(MIN_COLUMNS)
}

/// Redraws the block; an empty block is erased. Lines that would wrap are cut, since wrapped lines
/// cannot be redrawn. Write errors are ignored: the run does not depend on stderr.
pub fn draw(lines: &[String]) {
    let mut drawn_lines = drawn_lines();
    let columns = width().saturating_sub(1);
    // One write for the whole block: a terminal would flicker between erasing and drawing.
    let mut text = erase_sequence(*drawn_lines);
    for (number, line) in lines.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { "\n" });
        text.extend(crate::redact::text(line).chars().take(columns));
    }
    *drawn_lines = lines.len();
    write(&text);
}

/// Erases the block, if one is drawn.
pub fn clear() {
    if *drawn_lines() > 0 {
        draw(&[]);
    }
}

/// Prints a permanent line.
pub fn print_line(line: &str) {
    let mut drawn_lines = drawn_lines();
    let erase = erase_sequence(std::mem::take(&mut *drawn_lines));
    write(&format!("{erase}{}\n", crate::redact::text(line)));
}

/// Escape sequence that erases this many lines. The cursor is in the last one.
fn erase_sequence(lines: usize) -> String {
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

fn drawn_lines() -> MutexGuard<'static, usize> {
    DRAWN_LINES.lock().ignore_poison()
}
