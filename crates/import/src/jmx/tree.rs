//! A YAML tree, and its lines.

use crate::write::scalar::{block, double_quoted, flow, key, plain};

/// The most characters of a list or map in one line.
const WIDE: usize = 100;

/// A value of YAML.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    /// A single value.
    Text(String),
    /// A list.
    List(Vec<Yaml>),
    /// Names and values, in order.
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    /// A single value.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of single values; one alone stands for itself.
    pub(super) fn texts(mut texts: Vec<String>) -> Self {
        match texts.len() {
            1 => Self::Text(texts.remove(0)),
            _ => Self::List(texts.into_iter().map(Self::Text).collect()),
        }
    }

    /// A map.
    pub(super) fn map<const N: usize>(entries: [(&str, Yaml); N]) -> Self {
        Self::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// In one line, where it is short.
    fn short(&self) -> Option<String> {
        let line = self.flow();
        let is_block = |text: &Yaml| matches!(text, Self::Text(text) if text.contains('\n'));
        let has_lines = match self {
            Self::Text(_) => false,
            Self::List(items) => items.iter().any(is_block),
            Self::Map(entries) => entries.iter().any(|(_, value)| is_block(value)),
        };
        (line.chars().count() <= WIDE && !has_lines).then_some(line)
    }

    fn flow(&self) -> String {
        match self {
            Self::Text(text) => flow(text),
            Self::List(items) => format!("[{}]", items.iter().map(Self::flow).collect::<Vec<_>>().join(", ")),
            Self::Map(entries) => {
                let one = |(name, value): &(String, Self)| format!("{}: {}", key(name), value.flow());
                format!("{{{}}}", entries.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Its lines, where it stands below a name.
    pub(super) fn lines(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![plain(text)],
            Self::List(items) => items.iter().flat_map(Self::item).collect(),
            Self::Map(entries) => entries.iter().flat_map(|(name, value)| value.below(name)).collect(),
        }
    }

    /// `name: value`, in as many lines as it needs.
    fn below(&self, name: &str) -> Vec<String> {
        let name = key(name);
        match self {
            Self::Text(text) => match block(text) {
                Some((style, lines)) => std::iter::once(format!("{name}: {style}")).chain(indented(lines)).collect(),
                None if text.contains('\n') => vec![format!("{name}: {}", double_quoted(text))],
                None => vec![format!("{name}: {}", plain(text))],
            },
            _ if self.is_flat()
                && let Some(line) = self.short() =>
            {
                vec![format!("{name}: {line}")]
            }
            Self::List(_) => std::iter::once(format!("{name}:")).chain(self.lines()).collect(),
            Self::Map(_) => std::iter::once(format!("{name}:")).chain(indented(self.lines())).collect(),
        }
    }

    fn item(&self) -> Vec<String> {
        let lines = match self {
            Self::Text(text) => match block(text) {
                Some((style, lines)) => std::iter::once(style.to_owned()).chain(indented(lines)).collect(),
                None => vec![plain(text)],
            },
            Self::List(_) => vec![self.short().unwrap_or_else(|| self.flow())],
            Self::Map(_) => self.lines(),
        };
        let mut first = true;
        let line = |line: String| match (std::mem::take(&mut first), line.is_empty()) {
            (true, _) => format!("- {line}"),
            (_, true) => line,
            _ => format!("  {line}"),
        };
        lines.into_iter().map(line).collect()
    }

    /// Whether it holds no list or map that holds others.
    fn is_flat(&self) -> bool {
        let is_simple = |value: &Self| match value {
            Self::Text(_) => true,
            Self::List(items) => items.iter().all(|item| matches!(item, Self::Text(_))),
            Self::Map(entries) => entries.iter().all(|(_, value)| matches!(value, Self::Text(_))),
        };
        match self {
            Self::Text(_) => true,
            Self::List(items) => items.iter().all(|item| matches!(item, Self::Text(_))),
            Self::Map(entries) => entries.iter().all(|(_, value)| is_simple(value)),
        }
    }
}

fn indented(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    lines.into_iter().map(|line| if line.is_empty() { line } else { format!("  {line}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_whole() {
        let tree = Yaml::map([
            ("load", Yaml::map([("users", Yaml::text("1..5/4s,5"))])),
            (
                "steps",
                Yaml::List(vec![
                    Yaml::map([("get", Yaml::text("/")), ("extract", Yaml::map([("a", Yaml::text("x: y"))]))]),
                    Yaml::map([("script", Yaml::text("a\n  b\n"))]),
                ]),
            ),
        ]);
        let expected =
            "load: {users: \"1..5/4s,5\"}\nsteps:\n- get: /\n  extract: {a: \"x: y\"}\n- script: |\n    a\n      b";
        assert_eq!(tree.lines().join("\n"), expected);
    }
}
