//! Reads the figures of httperf's report, both as text and as numbers.

use super::number::perl;

/// Value of the errors column for a test without a reply, in percent.
const NO_REPLY: f64 = 101.0;

/// Position of a figure: the beginning of its line, and the text before it.
struct Place {
    line: &'static str,
    label: &'static str,
}

const fn place(line: &'static str, label: &'static str) -> Place {
    Place { line, label }
}

/// In the order of [`super::table::COLUMNS`] without the last column, which is computed.
const TEXTS: [Place; 8] = [
    place("Request rate:", "Request rate: "),
    place("Connection rate:", "Connection rate: "),
    place("Reply rate", " min "),
    place("Reply rate", " avg "),
    place("Reply rate", " max "),
    place("Reply rate", " stddev "),
    place("Reply time", " response "),
    place("Net I/O:", "Net I/O: "),
];

const REPLIES: Place = place("Total:", " replies ");
const ERRORS: Place = place("Errors: total", "Errors: total ");

/// Replies by class of their status (1xx to 5xx).
const STATUSES: [Place; 5] = [
    place("Reply status:", " 1xx="),
    place("Reply status:", " 2xx="),
    place("Reply status:", " 3xx="),
    place("Reply status:", " 4xx="),
    place("Reply status:", " 5xx="),
];

/// Figures of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutobenchFigures {
    /// Rates and times as text with one decimal, in the order of the table's columns.
    pub texts: [String; 8],
    pub replies: u64,
    /// Number of connection errors.
    pub errors: u64,
    /// Replies by class of their status (1xx to 5xx).
    pub statuses: [u64; 5],
}

impl AutobenchFigures {
    /// Reads a report. The error is the beginning of the missing line.
    pub fn read(report: &str) -> Result<Self, &'static str> {
        let mut texts = Vec::new();
        for place in &TEXTS {
            texts.push(place.decimal(report).ok_or(place.line)?);
        }
        let mut statuses = [0; 5];
        for (status, place) in statuses.iter_mut().zip(&STATUSES) {
            *status = place.count(report).ok_or(place.line)?;
        }
        Ok(Self {
            texts: texts.try_into().unwrap_or_default(),
            replies: REPLIES.count(report).ok_or(REPLIES.line)?,
            errors: ERRORS.count(report).ok_or(ERRORS.line)?,
            statuses,
        })
    }

    /// The cells of a table, in the order of its columns.
    pub fn cells(&self) -> Vec<String> {
        let errors = perl(self.errors_in_percent().unwrap_or(NO_REPLY));
        self.texts.iter().cloned().chain([errors]).collect()
    }

    /// Highest sample of the reply rate, as text; `0.0` without samples.
    pub fn max_reply_rate(&self) -> &str {
        &self.texts[4]
    }

    /// Errors in percent of replies, which can exceed 100. None without replies.
    pub fn errors_in_percent(&self) -> Option<f64> {
        (self.replies > 0).then(|| 100.0 * self.errors as f64 / self.replies as f64)
    }
}

impl Place {
    fn text_after_label<'a>(&self, report: &'a str) -> Option<&'a str> {
        let line = report.lines().find(|line| line.starts_with(self.line))?;
        Some(&line[line.find(self.label)? + self.label.len()..])
    }

    /// Reads digits, a point and one digit; further digits are cut off.
    fn decimal(&self, report: &str) -> Option<String> {
        let rest = self.text_after_label(report)?;
        let point = rest.find(|c: char| !c.is_ascii_digit()).filter(|length| *length > 0)?;
        let decimal =
            rest[point..].strip_prefix('.')?.chars().next().filter(char::is_ascii_digit)?;
        Some(format!("{}.{decimal}", &rest[..point]))
    }

    fn count(&self, report: &str) -> Option<u64> {
        let rest = self.text_after_label(report)?;
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines with figures, and one without.
    const REPORT: &str = "\
Total: connections 20 requests 40 replies 38 test-duration 1.901 s
Connection rate: 10.5 conn/s (95.1 ms/conn, <=3 concurrent connections)
Request rate: 21.04 req/s (47.5 ms/req)
Reply rate [replies/s]: min 19.8 avg 20.1 max 20.4 stddev 0.2 (3 samples)
Reply time [ms]: response 12.3 transfer 0.0
Reply status: 1xx=0 2xx=30 3xx=0 4xx=8 5xx=0
Net I/O: 8.7 KB/s (0.1*10^6 bps)
Errors: total 2 client-timo 1 socket-timo 0 connrefused 1 connreset 0
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
";

    #[test]
    fn figures_are_copied_as_text_with_one_decimal() {
        let figures = AutobenchFigures::read(REPORT).unwrap();
        assert_eq!(figures.texts.join(" "), "21.0 10.5 19.8 20.1 20.4 0.2 12.3 8.7");
        assert_eq!((figures.replies, figures.errors, figures.statuses), (38, 2, [0, 30, 0, 8, 0]));
        assert_eq!(
            super::super::number::perl(figures.errors_in_percent().unwrap()),
            "5.26315789473684"
        );
    }

    #[test]
    fn missing_figures_are_named() {
        for line in [
            "Total:",
            "Connection rate:",
            "Reply rate",
            "Net I/O:",
            "Errors: total",
            "Reply status:",
        ] {
            let without =
                REPORT.lines().filter(|l| !l.starts_with(line)).collect::<Vec<_>>().join("\n");
            assert_eq!(AutobenchFigures::read(&without), Err(line));
        }
        assert_eq!(AutobenchFigures::read(&REPORT.replace("12.3", "nan")), Err("Reply time"));
    }
}
