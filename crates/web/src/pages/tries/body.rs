//! The body of a reply: a part of its text, its bytes, or its tree, and a search in all of it. A body may have hundreds
//! of megabytes, so only the shown part is read.
//!
//! * `tree`: the tree.

mod tree;

use crate::fields::Fields;
use crate::layout::{Problem, scrolled_lines};
use crate::texts::{Viewer, message};
use brunt_model::numbers::{bytes, count};
use maud::{Markup, html};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use tree::tree;

/// Number of bytes of text that are shown at once.
const TEXT_BYTES: u64 = 256 << 10;
/// Number of bytes that are shown at once as numbers.
const HEX_BYTES: u64 = 4096;
/// Number of bytes in a row of them.
const HEX_ROW: usize = 16;
/// Maximum size of a body that is shown as a tree.
const TREE_BYTES: u64 = 4 << 20;
/// Maximum number of places of a search that are listed.
const PLACES: usize = 50;
/// Number of bytes around a place that are shown.
const AROUND: usize = 40;
/// Number of bytes that a search reads at once.
const CHUNK: usize = 1 << 20;

/// A view of a body.
pub struct BodyView<'a> {
    /// File with the body.
    pub file: PathBuf,
    /// Path of the page.
    pub path: String,
    /// Fields of the URL that name the body.
    pub address: Fields,
    /// Fields of the URL: `view`, `offset` and `search`.
    pub fields: Fields,
    /// Viewer of the page.
    pub viewer: &'a Viewer,
}

/// Places of a text in a body.
struct Places {
    count: u64,
    /// Offsets of the first ones, each with the text around it.
    listed: Vec<(u64, String)>,
}

impl BodyView<'_> {
    /// Returns the body with links to other views of it.
    pub fn html(&self) -> Result<Markup, Problem> {
        self.view().map_err(|error| Problem::internal(&error))
    }

    fn view(&self) -> io::Result<Markup> {
        let viewer = self.viewer;
        let mut file = File::open(&self.file)?;
        let size = file.metadata()?.len();
        let offset = self.fields.first("offset").parse().unwrap_or(0).min(size);
        let view = self.fields.first("view");
        let search = self.fields.first("search");
        let places = if search.is_empty() { None } else { Some(places(&mut file, search)?) };
        let content = match view {
            "hex" => self.hex(&mut file, offset, size)?,
            "tree" if size <= TREE_BYTES => {
                let bytes = read(&mut file, 0, TREE_BYTES)?;
                tree(&String::from_utf8_lossy(&bytes), viewer)
            }
            "tree" => {
                let limit = message!("body-large", size = bytes(TREE_BYTES as f64));
                html! { p class="hint" { (viewer.format(&limit)) } }
            }
            _ => self.text(&mut file, offset, size)?,
        };
        Ok(html! { section {
            h3 { (viewer.format(&message!("body-title", size = bytes(size as f64)))) }
            form class="filter body" action=(self.path) method="get" {
                @for (name, value) in self.address.all_pairs() { input type="hidden" name=(name) value=(value); }
                a href=(self.at("text", 0)) { (viewer.text("body-text")) } a href=(self.at("tree", 0)) { (viewer.text("body-tree")) } a href=(self.at("hex", 0)) { (viewer.text("body-bytes")) }
                label { (viewer.text("search")) " " input class="short" name="search" value=(search); }
                button { (viewer.text("search")) }
                label { (viewer.text("body-selected")) " " input class="short" name="selected" value=(self.fields.first("selected")); }
                input type="hidden" name="from" value=(self.fields.first("from"));
                button { (viewer.text("body-propose")) }
            }
            @if let Some(places) = places { (self.places(&places)) }
            (content)
        } })
    }

    /// Address of this view at an offset.
    fn at(&self, view: &str, offset: u64) -> String {
        self.address.clone().with("view", view).with("offset", &offset.to_string()).at(&self.path)
    }

    fn places(&self, places: &Places) -> Markup {
        html! {
            p { (self.viewer.format(&message!("body-found", count = places.count))) }
            ul class="places" { @for (offset, around) in &places.listed {
                li { a href=(self.at("text", *offset)) { (count(*offset)) } " " code { (around) } }
            } }
        }
    }

    fn text(&self, file: &mut File, offset: u64, size: u64) -> io::Result<Markup> {
        let shown = read(file, offset, TEXT_BYTES)?;
        // A part may begin and end within a sign.
        let text = String::from_utf8_lossy(&shown);
        Ok(html! {
            (self.neighbors("text", offset, TEXT_BYTES, size))
            pre class="body" data-offset=(offset) tabindex="0" role="group" aria-label=(self.viewer.text("body-text")) { "\n" (text) }
        })
    }

    fn hex(&self, file: &mut File, offset: u64, size: u64) -> io::Result<Markup> {
        let shown = read(file, offset, HEX_BYTES)?;
        let mut lines = String::new();
        for (row, bytes) in shown.chunks(HEX_ROW).enumerate() {
            let _ = write!(lines, "{:08x} ", offset + (row * HEX_ROW) as u64);
            for byte in bytes {
                let _ = write!(lines, " {byte:02x}");
            }
            let missing = 3 * (HEX_ROW - bytes.len()) + 2;
            let signs = bytes.iter().map(|byte| match byte {
                0x20..=0x7e => char::from(*byte),
                _ => '.',
            });
            lines.extend(std::iter::repeat_n(' ', missing).chain(signs).chain(['\n']));
        }
        Ok(
            html! { (self.neighbors("hex", offset, HEX_BYTES, size)) (scrolled_lines(&self.viewer.text("body-bytes"), &lines)) },
        )
    }

    /// Links to the parts before and after the shown one.
    fn neighbors(&self, view: &str, offset: u64, shown: u64, size: u64) -> Markup {
        html! {
            @if size > shown {
                p class="pages" {
                    (self.viewer.format(&message!("body-part", from = offset, to = (offset + shown).min(size))))
                    @if offset > 0 { a href=(self.at(view, offset.saturating_sub(shown))) { (self.viewer.text("body-before")) } }
                    @if offset + shown < size { a href=(self.at(view, offset + shown)) { (self.viewer.text("body-after")) } }
                }
            }
        }
    }
}

fn read(file: &mut File, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Finds a text in a file, without holding all of it.
fn places(file: &mut File, wanted: &str) -> io::Result<Places> {
    let mut places = Places { count: 0, listed: Vec::new() };
    let finder = memchr::memmem::Finder::new(wanted);
    file.seek(SeekFrom::Start(0))?;
    let mut buffer = Vec::new();
    // Offset of the buffer in the file, and the begin of its part that was not searched yet.
    let mut offset = 0_u64;
    let mut begin = 0_usize;
    loop {
        let read = file.take(CHUNK as u64).read_to_end(&mut buffer)?;
        while let Some(at) = finder.find(&buffer[begin..]) {
            let at = begin + at;
            places.count += 1;
            if places.listed.len() < PLACES {
                let around =
                    at.saturating_sub(AROUND)..(at + wanted.len() + AROUND).min(buffer.len());
                let around = String::from_utf8_lossy(&buffer[around]).into_owned();
                places.listed.push((offset + at as u64, around));
            }
            begin = at + wanted.len();
        }
        if read == 0 {
            return Ok(places);
        }
        // A place may begin in this part and end in the next one.
        begin = begin.max(buffer.len().saturating_sub(wanted.len() - 1));
        let removed = begin.saturating_sub(AROUND);
        buffer.drain(..removed);
        offset += removed as u64;
        begin -= removed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_text_is_found_across_the_borders_of_chunks() {
        let mut file = tempfile::tempfile().unwrap();
        let mut bytes = vec![b'.'; 3 * CHUNK];
        for at in [0, CHUNK - 3, 2 * CHUNK - 6, 3 * CHUNK - 6] {
            bytes[at..at + 6].copy_from_slice(b"needle");
        }
        file.write_all(&bytes).unwrap();
        let found = places(&mut file, "needle").unwrap();
        let offsets: Vec<u64> = found.listed.iter().map(|place| place.0).collect();
        let expected = [0, CHUNK - 3, 2 * CHUNK - 6, 3 * CHUNK - 6].map(|at| at as u64);
        assert_eq!((found.count, offsets.as_slice()), (4, expected.as_slice()));
        assert_eq!(places(&mut file, "ee").unwrap().count, 4);
        assert_eq!(places(&mut file, "absent").unwrap().count, 0);
    }
}
