//! Defines a chart as data, from which the page, SVG and PNG are drawn.
//!
//! Out of scope: drawing. A figure defines the axes, their units and the lines. The renderer
//! chooses pixels, colors and tick labels. The panels that make figures are in [`crate::panels`].

use crate::texts::message;
use crate::utc;
use brunt_model::{Language, Text, numbers, text};
use serde::{Deserialize, Serialize};

/// A chart with its axes and lines, in no output format yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Stable name, such as `throughput`: part of file names and anchors.
    pub id: String,
    /// Heading of the chart.
    pub title: Text,
    /// Text alternative with figures (accessibility).
    pub about: Text,
    /// Charts of one group share their x axis, so that hover and zoom act on all. Groups are
    /// `load`, `share`, or `time-3` for the time of the study's trial 3 (counted from 0).
    pub group: String,
    /// Index of the trial in the study; None if the chart shows several trials.
    #[serde(default)]
    pub trial: Option<usize>,
    /// Meaning of the horizontal positions.
    pub x: Axis,
    /// Meaning of the vertical positions.
    pub y: Axis,
    /// Lines of the chart.
    pub lines: Vec<ChartLine>,
    /// Highlighted values and spans of x, such as a knee.
    pub marks: Vec<HighlightedValue>,
    /// Heat map, drawn instead of lines.
    pub heat: Option<Heat>,
    /// True if the line is a histogram: each value is a bar from its x to the next one.
    #[serde(default)]
    pub is_histogram: bool,
}

/// Name, unit and scale of one axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Label without the unit.
    pub label: Text,
    /// Unit of the values.
    pub unit: ChartUnit,
    /// Linear, logarithmic or by quantiles.
    pub scale: AxisScale,
}

/// The unit of values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartUnit {
    /// A number of things, without a unit.
    #[default]
    Count,
    /// Seconds, shown as µs, ms or s.
    Seconds,
    /// Events per second, such as requests.
    PerSecond,
    /// A ratio, shown in percent.
    Share,
    /// Bytes, shown as kB, MB, GB.
    Bytes,
    /// Bytes per second, shown with decimal prefixes.
    BytesPerSecond,
    /// Cores: 1 is the whole time of one core.
    Cores,
    /// Number of virtual users.
    Users,
    /// Seconds since 1970 in the time zone that the axis names, shown as a time of day.
    Clock,
}

/// Scale of an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisScale {
    /// Linear scale that starts at 0.
    #[default]
    Linear,
    /// Logarithmic scale to base 10.
    Log,
    /// Quantiles, logarithmic in 1 − q: 0.9, 0.99 and 0.999 have equal distances.
    Quantile,
}

/// A line of a chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartLine {
    /// Name in the legend.
    pub name: Text,
    /// Index of the contender. The lines of a contender have the same color.
    pub contender: Option<usize>,
    /// Dash pattern, which distinguishes the lines of a contender. 0 is a solid line.
    pub dash: u8,
    /// Points in ascending order of x. y is null at a gap.
    pub points: Vec<ChartPoint>,
}

/// A point of a line, with the band around it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartPoint {
    /// Position on the x axis.
    pub x: f64,
    /// Position on the y axis; None at a gap.
    pub y: Option<f64>,
    /// Lower end of the band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A highlighted value of x, or a span that is shaded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HighlightedValue {
    /// Position on the x axis.
    pub x: f64,
    /// End of the span on the x axis; None for a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Name of the mark, such as `knee`.
    pub name: Text,
    /// Index of the contender that it belongs to.
    pub contender: Option<usize>,
}

/// A heat map: the number of times that each value occurred in each interval of x.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// Borders of the columns, one more than there are columns.
    pub x: Vec<f64>,
    /// Borders of the rows, one more than there are rows.
    pub y: Vec<f64>,
    /// Counts, column by column.
    pub counts: Vec<Vec<u64>>,
}

impl Chart {
    /// Replaces all texts by their forms in a language.
    pub fn translate(&mut self, language: Language) {
        let axes = [&mut self.x.label, &mut self.y.label];
        let lines = self.lines.iter_mut().map(|line| &mut line.name);
        let marks = self.marks.iter_mut().map(|mark| &mut mark.name);
        let texts = [&mut self.title, &mut self.about].into_iter();
        texts.chain(axes).chain(lines).chain(marks).for_each(|text| text.translate(language));
    }

    /// True if there is nothing to draw: no cell, and no line with two different values of x.
    pub fn is_empty(&self) -> bool {
        self.heat.as_ref().is_none_or(|heat| heat.counts.is_empty())
            && !self.lines.iter().any(ChartLine::has_length)
    }
}

impl ChartLine {
    /// Returns the points that have a finite value.
    pub fn known(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        self.points.iter().filter_map(|p| Some((p.x, p.y.filter(|y| y.is_finite())?)))
    }

    /// True if the line has values, and all of them are 0.
    pub fn is_zero(&self) -> bool {
        let mut values = self.known();
        values.next().is_some_and(|first| first.1 == 0.0 && values.all(|point| point.1 == 0.0))
    }

    fn has_length(&self) -> bool {
        let mut points = self.known();
        points.next().is_some_and(|first| points.any(|point| point.0 != first.0))
    }
}

impl ChartUnit {
    /// Formats a value with its unit.
    pub fn show(self, value: f64) -> Text {
        match self {
            Self::Count => numbers::three_digits(value).into(),
            Self::Seconds => numbers::seconds(value).into(),
            Self::PerSecond => numbers::rate(value).into(),
            Self::Share => numbers::fraction(value).into(),
            Self::Bytes => numbers::bytes(value).into(),
            Self::BytesPerSecond => format!("{}/s", numbers::bytes(value)).into(),
            Self::Cores => message!("number-of-cores", number = numbers::three_digits(value)),
            Self::Users => text!("number-of-users", number = numbers::three_digits(value)),
            Self::Clock => utc::day_and_time(value).into(),
        }
    }
}
