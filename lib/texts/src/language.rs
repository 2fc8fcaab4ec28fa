//! The languages of texts.

/// A language of the texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English, the language of terminals, files and errors.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Tag of the language, as in `lang="en"` (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Name of the language in itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// Returns the language of a tag, such as `zh-Hans-CN`.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_tags_with_regions() {
        assert_eq!(Language::from_tag("zh-Hans-CN"), Some(Language::Chinese));
        assert_eq!(Language::from_tag("EN-gb"), Some(Language::English));
        assert_eq!(Language::from_tag("de"), None);
    }
}
