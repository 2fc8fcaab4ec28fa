//! Prometheus' text format, as its documentation has it ("Exposition formats"): a sample a line, comments after `#`.

/// A sample: a metric's name, its labels as they came, its value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch::pages) struct Sample {
    pub name: String,
    pub labels: Vec<(String, String)>,
    pub value: f64,
}

/// Which samples are meant: a name, and labels that must be so.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch::pages) struct Selector {
    name: String,
    labels: Vec<(String, String)>,
}

impl Selector {
    /// `node_load1`, or `tomcat_threads_busy{name="http"}`. What cannot be read so is taken as a name.
    pub fn of(written: &str) -> Self {
        let read = head(written.trim()).filter(|(_, rest)| rest.trim().is_empty());
        let ((name, labels), _) = read.unwrap_or(((written.to_owned(), Vec::new()), ""));
        Self { name, labels }
    }

    pub fn takes(&self, sample: &Sample) -> bool {
        self.name == sample.name && self.labels.iter().all(|label| sample.labels.contains(label))
    }
}

impl Sample {
    /// A label's value.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|label| label.0 == name).map(|label| label.1.as_str())
    }

    /// As it stands in the text.
    pub fn written(&self) -> String {
        if self.labels.is_empty() {
            return self.name.clone();
        }
        let labels: Vec<String> = self.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        format!("{}{{{}}}", self.name, labels.join(","))
    }
}

/// All samples that are numbers; None where a line is none, so where the text is something else.
pub(super) fn samples(text: &str) -> Option<Vec<Sample>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let samples: Option<Vec<Sample>> = lines.map(sample).collect();
    Some(samples?.into_iter().filter(|sample| sample.value.is_finite()).collect())
}

/// Name and labels, white space, the value, and perhaps an instant.
fn sample(line: &str) -> Option<Sample> {
    let ((name, labels), rest) = head(line)?;
    let value = match rest.split_ascii_whitespace().next()? {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        number => number.parse().ok()?,
    };
    Some(Sample { name, labels, value })
}

/// Name and labels, and what comes after them.
type Head<'a> = ((String, Vec<(String, String)>), &'a str);

fn head(line: &str) -> Option<Head<'_>> {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':')).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let Some(mut rest) = rest.trim_start().strip_prefix('{') else { return Some(((name.into(), Vec::new()), rest)) };
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

/// A text in quotes, in which `\\`, `\"` and `\n` stand for others; and what comes after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &inside[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}
