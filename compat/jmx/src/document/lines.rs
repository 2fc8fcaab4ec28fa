//! Converts byte positions to lines and columns.

use crate::error::FilePosition;

/// Start of each line of a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    pub(super) fn new(source: &str) -> Self {
        let after = source
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(byte_position, _)| byte_position as u32 + 1);
        Self { starts: std::iter::once(0).chain(after).collect() }
    }

    /// Line of a byte, from 1.
    pub(super) fn line(&self, byte_position: usize) -> u32 {
        self.starts.partition_point(|&start| start as usize <= byte_position).max(1) as u32
    }

    /// Line and column of a byte. Takes time proportional to the length of the line.
    pub(super) fn position(&self, source: &str, byte_position: usize) -> FilePosition {
        let line = self.line(byte_position) as usize;
        let start = self.starts[line - 1] as usize;
        let before = &source.as_bytes()[start.min(source.len())..byte_position.min(source.len())];
        // In UTF-8, these bytes continue a character.
        let characters = before.iter().filter(|byte| !matches!(byte, 0x80..=0xBF)).count();
        FilePosition { line: line as u32, column: characters as u32 + 1 }
    }
}
