//! A chart as data: what page, SVG and PNG draw.
//!
//! Out of scope: a drawing. A figure says what stands on which axis in which unit; the renderer chooses
//! pixels, colours and the words of ticks. The panels from which figures are made are in [`crate::panels`].

use crate::utc;
use brunt_model::numbers;
use serde::{Deserialize, Serialize};

/// A chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// A name that does not change, such as `throughput`: part of file names and anchors.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// A text alternative with figures (accessibility).
    pub about: String,
    /// Which charts share one x axis, so that hover and zoom go together: `load`, `share`, or `time-3` for the time of
    /// the study's trial 3 (counted from 0).
    pub group: String,
    /// The trial that it shows, by its index in the study; None where it shows many.
    #[serde(default)]
    pub trial: Option<usize>,
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Values of x that are pointed out, such as a knee.
    pub marks: Vec<Mark>,
    /// In place of lines, cells.
    pub heat: Option<Heat>,
}

/// An axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What stands on it, without the unit.
    pub label: String,
    /// Its unit.
    pub unit: Unit,
    /// How it is divided.
    pub scale: Scale,
}

/// The unit of values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A plain number.
    #[default]
    Count,
    /// Seconds; shown as µs, ms or s.
    Seconds,
    /// Per second.
    PerSecond,
    /// A share of one; shown in per cent.
    Share,
    /// Bytes; shown as kB, MB, GB.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Cores: 1 is one core's whole time.
    Cores,
    /// Virtual users.
    Users,
    /// Seconds since 1970, counted in the time zone that the axis names; shown as a time of day.
    Clock,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly, from 0.
    #[default]
    Linear,
    /// By powers of ten.
    Log,
    /// Quantiles, as by powers of ten of 1 − q: 0.9, 0.99, 0.999 are equally far apart.
    Quantile,
}

/// A line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Whose it is, by index: lines of one contender have one colour.
    pub contender: Option<usize>,
    /// Which of a contender's lines: they differ in dashes. 0 is drawn through.
    pub dash: u8,
    /// Its points, x ascending; y is null where there is a gap.
    pub points: Vec<Point>,
}

/// A point of a line, with the band around it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// On the x axis.
    pub x: f64,
    /// On the y axis.
    pub y: Option<f64>,
    /// The lower end of its band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A value of x that is pointed out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What it is: `knee`.
    pub name: String,
    /// Whose.
    pub contender: Option<usize>,
}

/// Cells: how often each value occurred in each interval of x.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// Borders of the columns, one more than there are.
    pub x: Vec<f64>,
    /// Borders of the rows, one more than there are.
    pub y: Vec<f64>,
    /// Counts, a column after the other.
    pub counts: Vec<Vec<u64>>,
}

impl Figure {
    /// Whether there is nothing to be seen: no cell, and no line that leads from one x to another.
    pub fn is_empty(&self) -> bool {
        self.heat.as_ref().is_none_or(|heat| heat.counts.is_empty()) && !self.lines.iter().any(Line::leads_somewhere)
    }
}

impl Line {
    /// Its points that are known.
    pub fn known(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        self.points.iter().filter_map(|p| Some((p.x, p.y.filter(|y| y.is_finite())?)))
    }

    /// True if it has values, all of them 0.
    pub fn is_zero(&self) -> bool {
        let mut values = self.known();
        values.next().is_some_and(|first| first.1 == 0.0 && values.all(|point| point.1 == 0.0))
    }

    fn leads_somewhere(&self) -> bool {
        let mut known = self.known();
        known.next().is_some_and(|first| known.any(|point| point.0 != first.0))
    }
}

impl Unit {
    /// A value with its unit, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Count => numbers::three(value),
            Self::Seconds => numbers::seconds(value),
            Self::PerSecond => format!("{}/s", numbers::three(value)),
            Self::Share => numbers::fraction(value),
            Self::Bytes => numbers::bytes(value),
            Self::BytesPerSecond => format!("{}/s", numbers::bytes(value)),
            Self::Cores => format!("{} cores", numbers::three(value)),
            Self::Users => format!("{} users", numbers::three(value)),
            Self::Clock => utc::day_and_time(value),
        }
    }
}
