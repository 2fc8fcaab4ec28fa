//! The page without data: as one file, or with links to files of a server.

use brunt_model::Language;
use std::borrow::Cow;
use std::io;

/// The page, without data.
pub(super) const PAGE: &str = include_str!("page.html");
/// Place of the data in the page.
pub(super) const PLACE: &str = "<!--DATA-->";

/// The page in one of its forms: the text around its content.
pub struct Template {
    /// The page up to the beginning of its body.
    head: Cow<'static, str>,
    /// The body before the content.
    before: Cow<'static, str>,
    after: Cow<'static, str>,
    /// True if the page has charts for browsers without scripts. Each has a style in it.
    pub(super) has_still_charts: bool,
}

/// A part of the page for a separate file of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageFile {
    /// The style sheet.
    Style,
    /// The script, a module.
    Script,
}

impl PageFile {
    /// Content of the file.
    pub fn content(self) -> &'static str {
        let [begin, end] = self.tags();
        let (_, rest) = PAGE.split_once(begin).unwrap_or_default();
        rest.split_once(end).unwrap_or_default().0
    }

    fn tags(self) -> [&'static str; 2] {
        match self {
            Self::Style => ["<style>", "</style>"],
            Self::Script => ["<script type=\"module\">", "</script>"],
        }
    }

    /// Replaces the element with the content by a link.
    fn linked(self, page: &str, link: &str) -> String {
        let [begin, end] = self.tags();
        page.replace(&format!("{begin}{}{end}", self.content()), link)
    }
}

impl Template {
    /// A page that needs no other file.
    pub fn one_file() -> Self {
        let (before, after) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
        let (head, before) = before.split_at(end_of_head(before));
        Self {
            head: head.into(),
            before: before.into(),
            after: after.into(),
            has_still_charts: true,
        }
    }

    /// A page with links to its style sheet and script at these paths of a server. The server sets the content
    /// policy. `styles` are further elements of its head.
    pub fn linked(style: &str, script: &str, styles: &str) -> Self {
        let page = PageFile::Style
            .linked(PAGE, &format!("<link rel=\"stylesheet\" href=\"{style}\" />{styles}"));
        let page = PageFile::Script
            .linked(&page, &format!("<script type=\"module\" src=\"{script}\"></script>"));
        let (before, after) = page.split_once(PLACE).unwrap_or_default();
        // The page's own policy allows scripts in it, which this form does not have.
        let before = without_element(before, "<meta http-equiv=\"Content-Security-Policy\"");
        let (head, before) = before.split_at(end_of_head(&before));
        Self {
            head: head.to_owned().into(),
            before: before.to_owned().into(),
            after: after.to_owned().into(),
            has_still_charts: false,
        }
    }

    /// Writes the page in a language. `above` is HTML above its content, `still` the part that needs no script,
    /// `scripts` are the elements with its data.
    pub(super) fn write(
        &self,
        language: Language,
        above: &str,
        still: &str,
        scripts: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let Self { head, before, after, .. } = self;
        let tag = format!("<html lang=\"{}\">", language.tag());
        let head = head.replacen("<html lang=\"en\">", &tag, 1);
        write!(out, "{head}{above}{before}<main id=\"still\">{still}</main>\n{scripts}{after}")
    }
}

/// Position after the tag that begins the body.
fn end_of_head(page: &str) -> usize {
    const TAG: &str = "<body>";
    page.find(TAG).map_or(0, |at| at + TAG.len())
}

/// Removes an element without content, given the beginning of its tag.
fn without_element(page: &str, begin: &str) -> String {
    let (before, rest) = page.split_once(begin).unwrap_or((page, ">"));
    let (_, after) = rest.split_once('>').unwrap_or_default();
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linked_page_has_neither_script_nor_style_in_it() {
        let template = Template::linked("/p.css", "/p.js", "<link id=\"own\">");
        let mut text = Vec::new();
        template.write(Language::Chinese, "<nav>above</nav>", "", "", &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for absent in ["<style", "<script type=\"module\">", "unsafe-inline", " style=\""] {
            assert!(!text.contains(absent), "{absent}");
        }
        for present in [
            "<link rel=\"stylesheet\" href=\"/p.css\" /><link id=\"own\">",
            "<script type=\"module\" src=\"/p.js\"></script>",
            "<html lang=\"zh",
            "<body><nav>above</nav>",
            "<title>brunt</title>",
            "<div id=\"page\"></div>",
        ] {
            assert_eq!(text.matches(present).count(), 1, "{present}");
        }
        let files = PageFile::Style.content().len() + PageFile::Script.content().len();
        assert!(files > 50_000 && text.len() + files < PAGE.len() + 500, "{files}");
    }
}
