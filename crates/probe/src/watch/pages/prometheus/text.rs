//! Parses Prometheus' text format ("Exposition formats" in its documentation): one sample per
//! line, comments after `#`.

/// A sample: the metric's name, its labels in order, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch::pages) struct Sample {
    pub name: String,
    pub labels: Vec<(String, String)>,
    pub value: f64,
}

/// Selects samples by name and required labels.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch::pages) struct Selector {
    name: String,
    labels: Vec<(String, String)>,
}

impl Selector {
    /// Parses `node_load1` or `tomcat_threads_busy{name="http"}`. Any other text is
    /// taken as a name.
    pub fn parse(written: &str) -> Self {
        let parsed = head(written.trim()).filter(|(_, rest)| rest.trim().is_empty());
        let ((name, labels), _) = parsed.unwrap_or(((written.to_owned(), Vec::new()), ""));
        Self { name, labels }
    }

    pub fn matches(&self, sample: &Sample) -> bool {
        self.name == sample.name && self.labels.iter().all(|label| sample.labels.contains(label))
    }
}

impl Sample {
    /// Returns the value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|label| label.0 == name).map(|label| label.1.as_str())
    }

    /// Returns name and labels for display.
    pub fn display_name(&self) -> String {
        if self.labels.is_empty() {
            return self.name.clone();
        }
        let labels: Vec<String> =
            self.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        format!("{}{{{}}}", self.name, labels.join(","))
    }
}

/// Returns all samples with finite values. None if a line is malformed, because then the
/// text is something else.
pub(super) fn samples(text: &str) -> Option<Vec<Sample>> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let samples: Option<Vec<Sample>> = lines.map(sample).collect();
    Some(samples?.into_iter().filter(|sample| sample.value.is_finite()).collect())
}

/// Parses a line: name and labels, white space, the value, and an optional instant.
fn sample(line: &str) -> Option<Sample> {
    let ((name, labels), rest) = head(line)?;
    let value = match rest.split_ascii_whitespace().next()? {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        number => number.parse().ok()?,
    };
    Some(Sample { name, labels, value })
}

/// Name and labels, and the text after them.
type Head<'a> = ((String, Vec<(String, String)>), &'a str);

fn head(line: &str) -> Option<Head<'_>> {
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let Some(mut rest) = rest.trim_start().strip_prefix('{') else {
        return Some(((name.into(), Vec::new()), rest));
    };
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start().trim_start_matches(',').trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some(((name.into(), labels), after));
        }
        let (label, after) = rest.split_once('=')?;
        let (value, after) = quoted(after.trim_start())?;
        labels.push((label.trim().to_owned(), value));
        rest = after;
    }
}

/// Parses a quoted text, in which `\\`, `\"` and `\n` are escapes. Returns it and
/// the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = inside.char_indices();
    while let Some((index, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &inside[index + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}
