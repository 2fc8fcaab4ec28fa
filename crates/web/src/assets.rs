//! Scripts and styles, compressed once.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use brunt_report::html::PageFile;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::LazyLock;

/// Script for pages of active runs.
const SCRIPT: &str = include_str!("studio.js");

/// Style of the studio's own pages, in addition to that of the report page; `structure.css` is for the tree and form of the editor.
const STYLE: &str = concat!(include_str!("studio.css"), include_str!("structure.css"));

/// Script of the editor, built from `web-ui/src/editor`.
const EDITOR: &str = include_str!("editor.js");

/// A script or a style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset {
    /// Style of the report page.
    PageStyle,
    /// Script of the report page.
    PageScript,
    /// Style of the studio.
    StudioStyle,
    /// Script of the studio.
    StudioScript,
    /// Script of the editor.
    EditorScript,
}

impl Asset {
    /// All assets.
    pub const ALL: [Self; 5] = [
        Self::PageStyle,
        Self::PageScript,
        Self::StudioStyle,
        Self::StudioScript,
        Self::EditorScript,
    ];

    /// Path of the asset.
    pub const fn path(self) -> &'static str {
        match self {
            Self::PageStyle => "/page.css",
            Self::PageScript => "/page.js",
            Self::StudioStyle => "/studio.css",
            Self::StudioScript => "/studio.js",
            Self::EditorScript => "/editor.js",
        }
    }

    /// True for a style.
    pub const fn is_style(self) -> bool {
        matches!(self, Self::PageStyle | Self::StudioStyle)
    }

    fn content(self) -> &'static str {
        match self {
            Self::PageStyle => PageFile::Style.content(),
            Self::PageScript => PageFile::Script.content(),
            Self::StudioStyle => STYLE,
            Self::StudioScript => SCRIPT,
            Self::EditorScript => EDITOR,
        }
    }

    /// Media type of the asset.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::PageScript | Self::StudioScript | Self::EditorScript => {
                "text/javascript; charset=utf-8"
            }
            Self::PageStyle | Self::StudioStyle => "text/css; charset=utf-8",
        }
    }

    /// The asset as a reply, compressed if the request allows it.
    pub fn reply(self, request: &HeaderMap) -> Response {
        let media_type = (header::CONTENT_TYPE, HeaderValue::from_static(self.media_type()));
        // Short, because another version of brunt may answer at this port soon.
        let caching = (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=60"));
        if !accepts_gzip(request) {
            return (StatusCode::OK, [media_type, caching], self.content()).into_response();
        }
        let encoding = (header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        (StatusCode::OK, [media_type, caching, encoding], self.compressed()).into_response()
    }

    fn compressed(self) -> &'static [u8] {
        static COMPRESSED: LazyLock<[Vec<u8>; Asset::ALL.len()]> = LazyLock::new(|| {
            Asset::ALL.map(|asset| compress(asset.content().as_bytes(), Compression::best()))
        });
        &COMPRESSED[self as usize]
    }
}

/// True if the sender of a request reads compressed replies.
pub fn accepts_gzip(request: &HeaderMap) -> bool {
    let accepted = request.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|codings| codings.split(',').any(|coding| coding.trim() == "gzip"))
}

/// Compresses the content of a reply.
pub fn compress(content: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_view_is_small() {
        let editor = Asset::EditorScript.compressed().len();
        let bytes: usize = Asset::ALL.iter().map(|asset| asset.compressed().len()).sum();
        assert!((1000..80_000).contains(&(bytes - editor)), "{bytes} {editor}");
        assert!(editor < 200_000, "{editor}");
    }

    #[test]
    fn each_asset_is_at_its_place() {
        for (place, asset) in Asset::ALL.into_iter().enumerate() {
            assert_eq!(asset as usize, place);
        }
    }
}
