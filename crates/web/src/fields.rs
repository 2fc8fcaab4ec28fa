//! Fields of a URL's query, or of a form.

/// Names and values, in order. A name may occur several times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Decodes a query, or the body of a form.
    pub fn decode(encoded: &[u8]) -> Self {
        Self(form_urlencoded::parse(encoded).into_owned().collect())
    }

    /// Returns the first value of this name; an empty text if there is none.
    pub fn first(&self, name: &str) -> &str {
        self.values(name).next().unwrap_or_default()
    }

    /// True if there is a field of this name, also an empty one.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Returns all names and values that are not empty.
    pub fn all_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(|(_, value)| !value.is_empty())
    }

    /// Returns all values of this name that are not empty.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.values(name).filter(|value| !value.is_empty())
    }

    fn values<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes all values of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// Returns the path with these fields as its query.
    pub fn at(&self, path: &str) -> String {
        let query =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(self.all_pairs()).finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoded_query_is_encoded_again() {
        let fields = Fields::decode(b"id=a&q=p99+%3C+%C3%BC%26&id=b&tag=");
        assert_eq!((fields.first("q"), fields.first("absent")), ("p99 < ü&", ""));
        assert_eq!(fields.all("id").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fields.at("/"), "/?id=a&q=p99+%3C+%C3%BC%26&id=b");
        assert_eq!(fields.without("id").without("q").with("page", "2").at("/runs"), "/runs?page=2");
    }
}
