//! Writes a page of tables and charts that do not come from a study, such as JMeter's dashboard.
//!
//! Without a script it shows the same tables and charts; with one, tables sort, charts zoom, and lines can be hidden.

use super::{FigureColumns, Template, data_script, still};
use crate::figure::Chart;
use crate::svg;
use crate::xml::escaped;
use brunt_model::Language;
use brunt_model::numbers::{count, share};
use serde::Serialize;
use std::io;

/// Content of the page.
#[derive(Debug, Clone, Default)]
pub struct Dashboard {
    /// Heading of the page.
    pub title: String,
    /// Names and values of the table of facts.
    pub facts: Vec<(String, String)>,
    /// Links to other files of the report: address and text.
    pub links: Vec<(String, String)>,
    /// Tables, in the order of the page.
    pub tables: Vec<DashboardTable>,
    /// Parts of a whole, such as the Apdex classes.
    pub shares: Vec<Shares>,
    /// Charts. Charts of one group share their x axis over all sections.
    pub sections: Vec<ChartSection>,
}

/// A table that the reader can sort by any column.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DashboardTable {
    /// Heading of the table.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows; each has one cell per column.
    pub rows: Vec<Vec<DashboardCell>>,
    /// Number of leading rows that stay first when the table is sorted: the totals.
    pub fixed_rows: usize,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DashboardCell {
    /// Text of the cell.
    pub text: String,
    /// Number by which the table is sorted; None to sort by the text.
    pub number: Option<f64>,
}

/// Parts of a whole.
#[derive(Debug, Clone, Serialize)]
pub struct Shares {
    /// Heading of the drawing.
    pub title: String,
    /// Form of the drawing.
    pub form: ShareForm,
    /// Parts, in drawing order.
    pub parts: Vec<PartOfWhole>,
}

/// Form in which shares are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareForm {
    /// Slices of a circle.
    Pie,
    /// A bar for each part.
    Bars,
}

/// A part of a whole.
#[derive(Debug, Clone, Serialize)]
pub struct PartOfWhole {
    /// Name of the part.
    pub name: String,
    /// Absolute size of the part.
    pub count: u64,
    /// Grade, which decides the color.
    pub grade: Grade,
}

/// Grade of a part, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The part is as expected.
    Good,
    /// The part is tolerable, but not good.
    Fair,
    /// The part is too slow.
    Poor,
    /// The part failed with an error.
    Bad,
}

/// Charts under a heading.
#[derive(Debug, Clone, Default)]
pub struct ChartSection {
    /// Heading of the section.
    pub title: String,
    /// Charts of the section.
    pub figures: Vec<Chart>,
}

#[derive(Serialize)]
struct DashboardData<'a> {
    title: &'a str,
    facts: &'a [(String, String)],
    links: &'a [(String, String)],
    tables: &'a [DashboardTable],
    shares: &'a [Shares],
    sections: Vec<SectionData<'a>>,
}

#[derive(Serialize)]
struct SectionData<'a> {
    title: &'a str,
    figures: Vec<FigureColumns<'a>>,
}

impl<'a> From<&'a ChartSection> for SectionData<'a> {
    fn from(section: &'a ChartSection) -> Self {
        Self {
            title: &section.title,
            figures: section.figures.iter().map(FigureColumns::from).collect(),
        }
    }
}

impl DashboardCell {
    /// Creates a cell that is sorted by its text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: None }
    }

    /// Creates a cell that is sorted by a number.
    pub fn number(text: impl Into<String>, number: f64) -> Self {
        Self { text: text.into(), number: Some(number) }
    }
}

/// Writes the dashboard as one HTML page, with its data and scripts inside.
pub fn write(dashboard: &Dashboard, out: &mut dyn io::Write) -> io::Result<()> {
    let data = DashboardData {
        title: &dashboard.title,
        facts: &dashboard.facts,
        links: &dashboard.links,
        tables: &dashboard.tables,
        shares: &dashboard.shares,
        sections: dashboard.sections.iter().map(SectionData::from).collect(),
    };
    let data = data_script("dashboard", &data)?;
    let still = still_content(dashboard);
    Template::one_file().write(Language::English, "", &still, &data, out)
}

/// Returns the content that needs no script.
fn still_content(dashboard: &Dashboard) -> String {
    let mut html = format!("<h1>{}</h1>\n", escaped(&dashboard.title));
    let facts = dashboard.facts.iter().map(|(name, value)| vec![name.clone(), value.clone()]);
    html += &still::table("Test and Report information", &[], facts);
    for (address, text) in &dashboard.links {
        html += &format!("<p><a href=\"{}\">{}</a></p>\n", escaped(address), escaped(text));
    }
    for shares in &dashboard.shares {
        let all = shares.parts.iter().map(|part| part.count).sum();
        let parts = shares.parts.iter();
        let rows =
            parts.map(|part| vec![part.name.clone(), count(part.count), share(part.count, all)]);
        let head = ["Requests", "Number", "Share"].map(str::to_owned);
        html += &format!("<h2>{}</h2>\n", escaped(&shares.title));
        html += &still::table(&shares.title, &head, rows);
    }
    for table in &dashboard.tables {
        let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect());
        html += &format!("<h2>{}</h2>\n", escaped(&table.title));
        html += &still::table(&table.title, &table.columns, rows);
    }
    for section in &dashboard.sections {
        let charts: String = section.figures.iter().filter_map(svg::of_figure).collect();
        html += &format!(
            "<h2>{}</h2>\n<div class=\"still-charts\">\n{charts}</div>\n",
            escaped(&section.title)
        );
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{ChartLine, ChartPoint};

    fn page() -> String {
        let points = [1.0, 2.0].map(|x| ChartPoint { x, y: Some(x), ..ChartPoint::default() });
        let line =
            ChartLine { name: "a <b>".into(), points: points.into(), ..ChartLine::default() };
        let figure = Chart {
            id: "rate".into(),
            title: "Rate".into(),
            lines: vec![line],
            ..Chart::default()
        };
        let row =
            vec![DashboardCell::text("home </script><1>"), DashboardCell::number("2.00", 2.0)];
        let dashboard = Dashboard {
            title: "T & U".into(),
            facts: vec![("Source file".into(), "a&b.jtl".into())],
            links: vec![("a.json".into(), "more".into())],
            tables: vec![DashboardTable {
                title: "Statistics".into(),
                rows: vec![row],
                ..DashboardTable::default()
            }],
            shares: vec![Shares {
                title: "Requests Summary".into(),
                form: ShareForm::Pie,
                parts: vec![PartOfWhole { name: "PASS".into(), count: 3, grade: Grade::Good }],
            }],
            sections: vec![ChartSection { title: "Overview".into(), figures: vec![figure] }],
        };
        let mut out = Vec::new();
        write(&dashboard, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tables_and_charts_are_shown_without_a_script() {
        let page = page();
        let (_, still) = page.split_once("<main id=\"still\">").unwrap();
        let (still, _) = still.split_once("</main>").unwrap();
        assert!(
            still.contains("<h1>T &amp; U</h1>") && still.contains("<td>a&amp;b.jtl</td>"),
            "{still}"
        );
        assert!(still.contains("<td>PASS</td><td>3</td><td>100 %</td>"), "{still}");
        assert!(
            still.contains("home &lt;/script&gt;&lt;1&gt;") && still.matches("<svg").count() == 1,
            "{still}"
        );
    }

    #[test]
    fn no_label_ends_the_data() {
        let page = page();
        let (_, data) = page.split_once("id=\"dashboard\">").unwrap();
        let data: serde_json::Value =
            serde_json::from_str(data.split_once("</script").unwrap().0).unwrap();
        assert_eq!(data["tables"][0]["rows"][0][0]["text"], "home </script><1>");
        assert_eq!(data["sections"][0]["figures"][0]["lines"][0]["name"], "a <b>");
    }
}
