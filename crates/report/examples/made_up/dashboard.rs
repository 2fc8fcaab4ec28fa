//! A dashboard of 40 labels over five minutes.

use brunt_report::figure::{Axis, AxisScale, Chart, ChartLine, ChartPoint, ChartUnit};
use brunt_report::html::dashboard::{
    ChartSection, Dashboard, DashboardCell, DashboardTable, Grade, PartOfWhole, ShareForm, Shares,
};

const LABELS: usize = 40;
/// 2026-07-01, 12:00.
const NOON: f64 = 1_782_907_200.0;

/// The dashboard.
pub fn dashboard() -> Dashboard {
    let part = |name: &str, count, grade| PartOfWhole { name: name.into(), count, grade };
    Dashboard {
        title: "Shop <b>dashboard</b>".into(),
        facts: vec![("Source file".into(), "\"shop.jtl\"".into())],
        links: vec![("statistics.json".into(), "statistics.json".into())],
        tables: vec![statistics()],
        shares: vec![
            Shares {
                title: "Requests Summary".into(),
                form: ShareForm::Pie,
                parts: vec![part("PASS", 930, Grade::Good), part("FAIL", 70, Grade::Bad)],
            },
            Shares {
                title: "Response Time Overview".into(),
                form: ShareForm::Bars,
                parts: vec![
                    part("Response time <= 500 ms", 700, Grade::Good),
                    part("Response time > 500 ms and <= 1500 ms", 200, Grade::Fair),
                    part("Response time > 1500 ms", 30, Grade::Poor),
                    part("Requests in error", 70, Grade::Bad),
                ],
            },
        ],
        sections: vec![
            section(
                "Overview",
                &[("Throughput", ChartUnit::PerSecond, 1), ("Error Rate", ChartUnit::Share, 1)],
            ),
            section("Over Time", &[("Response Times Over Time", ChartUnit::Seconds, 8)]),
        ],
    }
}

fn statistics() -> DashboardTable {
    let columns = [
        "Label", "#Samples", "FAIL", "Error %", "Average", "Min", "Max", "Median", "90th pct",
        "99th pct",
    ];
    let row = |label: String, scale: usize| {
        let numbers = (1..columns.len()).map(|column| {
            let number = (scale * column * 7919 % 4001) as f64;
            DashboardCell::number(format!("{number:.2}"), number)
        });
        [DashboardCell::text(label)].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let labels = (1..=LABELS).map(|n| row(format!("GET /a/rather/long/path/of/the/shop/{n}"), n));
    DashboardTable {
        title: "Statistics".into(),
        columns: columns.map(str::to_owned).into(),
        rows: std::iter::once(row("Total".into(), LABELS + 1)).chain(labels).collect(),
        fixed_rows: 1,
    }
}

fn section(title: &str, charts: &[(&str, ChartUnit, usize)]) -> ChartSection {
    let figures = charts.iter().map(|(title, unit, lines)| Chart {
        id: title.to_lowercase().replace(' ', "-"),
        title: (*title).into(),
        about: "Made up by a formula.".into(),
        group: "time".into(),
        x: Axis {
            label: "Time of day, UTC".into(),
            unit: ChartUnit::Clock,
            scale: AxisScale::Linear,
        },
        y: Axis { label: String::new().into(), unit: *unit, scale: AxisScale::Linear },
        lines: (0..*lines).map(line).collect(),
        ..Chart::default()
    });
    ChartSection { title: title.into(), figures: figures.collect() }
}

fn line(number: usize) -> ChartLine {
    let point = |second: usize| {
        let x = NOON + second as f64 + 0.5;
        let y = 0.2 + 0.05 * number as f64 + 0.1 * (second as f64 / 20.0).sin();
        ChartPoint { x, y: Some(y), ..ChartPoint::default() }
    };
    ChartLine {
        name: format!("page {number}").into(),
        contender: Some(number),
        dash: 0,
        points: (0..300).map(point).collect(),
    }
}
