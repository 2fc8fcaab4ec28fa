use super::*;
use crate::figure::{Axis, AxisScale, ChartLine, ChartPoint, ChartUnit, HighlightedValue};
use crate::panels::ChartSelection;
use crate::single;
use brunt_model::Judgement;
use insta::assert_snapshot;

fn small() -> Chart {
    let point =
        |x: f64, y: f64| ChartPoint { x, y: Some(y), low: Some(y * 0.9), high: Some(y * 1.1) };
    let line = |name: &str, contender, points| ChartLine {
        name: name.into(),
        contender: Some(contender),
        dash: 0,
        points,
    };
    Chart {
        id: "throughput".into(),
        title: "Throughput <of> both".into(),
        about: "nginx: 10/s at 10/s.".into(),
        group: "load".into(),
        x: Axis { label: "offered".into(), unit: ChartUnit::PerSecond, scale: AxisScale::Linear },
        y: Axis { label: "completed".into(), unit: ChartUnit::PerSecond, scale: AxisScale::Linear },
        lines: vec![
            line("nginx", 0, vec![point(10.0, 10.0), point(20.0, 20.0)]),
            line(
                "apache",
                1,
                vec![
                    point(10.0, 10.0),
                    ChartPoint { x: 15.0, ..ChartPoint::default() },
                    point(20.0, 14.0),
                ],
            ),
        ],
        marks: vec![HighlightedValue {
            x: 18.0,
            name: "knee".into(),
            contender: Some(1),
            until: None,
        }],
        ..Chart::default()
    }
}

/// Returns the chart without its style, which is the same for all charts.
fn body(svg: &str) -> String {
    let (head, rest) = svg.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    format!("{head}{rest}")
}

#[test]
fn a_small_chart() {
    assert_snapshot!(body(&of_figure(&small()).unwrap()), @r#"
    <svg xmlns="http://www.w3.org/2000/svg" width="720" height="342" viewBox="0 0 720 342" font-family="system-ui, sans-serif" role="img" aria-labelledby="throughput-title throughput-about"><title id="throughput-title">Throughput &lt;of&gt; both</title><desc id="throughput-about">nginx: 10/s at 10/s.</desc>
    <rect class="b-paper" width="720" height="342"/>
    <text class="b-strong f" x="74" y="19" font-size="15" font-weight="600">Throughput &lt;of&gt; both</text>
    <polyline class="b-0 s" stroke-width="1.8" points="74,33 98,33"/>
    <text class="b-soft f" x="106" y="37" font-size="12">nginx</text>
    <polyline class="b-1 s" stroke-width="1.8" points="155.3,33 179.3,33"/>
    <text class="b-soft f" x="187.3" y="37" font-size="12">apache</text>
    <polyline class="b-grid s" stroke-width="1" points="74,296 702,296"/>
    <polyline class="b-grid s" stroke-width="1" points="74,250 702,250"/>
    <polyline class="b-grid s" stroke-width="1" points="74,204 702,204"/>
    <polyline class="b-grid s" stroke-width="1" points="74,158 702,158"/>
    <polyline class="b-grid s" stroke-width="1" points="74,112 702,112"/>
    <polyline class="b-grid s" stroke-width="1" points="74,66 702,66"/>
    <polyline class="b-grid s" stroke-width="1" points="74,66 74,296"/>
    <polyline class="b-grid s" stroke-width="1" points="231,66 231,296"/>
    <polyline class="b-grid s" stroke-width="1" points="388,66 388,296"/>
    <polyline class="b-grid s" stroke-width="1" points="545,66 545,296"/>
    <polyline class="b-grid s" stroke-width="1" points="702,66 702,296"/>
    <polygon class="b-0 f" fill-opacity=".18" points="388,194.8 702,93.6 702,130.4 388,213.2"/>
    <polyline class="b-1 s" stroke-width="1.2" stroke-dasharray="2 3" points="639.2,62 639.2,296"/>
    <text class="b-soft f" x="644.2" y="59" font-size="12">knee</text>
    <circle class="b-0 f" cx="388" cy="204" r="2.6"/>
    <circle class="b-0 f" cx="702" cy="112" r="2.6"/>
    <polyline class="b-0 s" stroke-width="1.8" points="388,204 702,112"/>
    <circle class="b-1 f" cx="388" cy="204" r="2.6"/>
    <circle class="b-1 f" cx="702" cy="167.2" r="2.6"/>
    <polyline class="b-axis s" stroke-width="1" points="74,296 702,296"/>
    <polyline class="b-axis s" stroke-width="1" points="74,66 74,296"/>
    <text class="b-soft f" x="74" y="313" font-size="12" text-anchor="middle">0</text>
    <text class="b-soft f" x="231" y="313" font-size="12" text-anchor="middle">5</text>
    <text class="b-soft f" x="388" y="313" font-size="12" text-anchor="middle">10</text>
    <text class="b-soft f" x="545" y="313" font-size="12" text-anchor="middle">15</text>
    <text class="b-soft f" x="702" y="313" font-size="12" text-anchor="middle">20</text>
    <text class="b-soft f" x="66" y="300" font-size="12" text-anchor="end">0</text>
    <text class="b-soft f" x="66" y="254" font-size="12" text-anchor="end">5</text>
    <text class="b-soft f" x="66" y="208" font-size="12" text-anchor="end">10</text>
    <text class="b-soft f" x="66" y="162" font-size="12" text-anchor="end">15</text>
    <text class="b-soft f" x="66" y="116" font-size="12" text-anchor="end">20</text>
    <text class="b-soft f" x="66" y="70" font-size="12" text-anchor="end">25</text>
    <text class="b-soft f" x="388" y="333" font-size="12" text-anchor="middle">offered, per second</text>
    <text class="b-soft f" transform="translate(15 181) rotate(-90)" font-size="12" text-anchor="middle">completed, per second</text>
    </svg>
    "#);
}

#[test]
fn a_chart_without_points_is_omitted() {
    assert_eq!(of_figure(&Chart::default()), None);
}

#[test]
fn a_sheet_is_one_document_in_which_each_chart_is_named() {
    let (study, analysis) = single::study_of(&crate::story::closed().run(), &Judgement::default());
    for (selection, charts) in [(ChartSelection::Key, 3), (ChartSelection::All, 8)] {
        let mut out = Vec::new();
        write_sheet(&ChartSheet::of(&study, &analysis, selection), &mut out).unwrap();
        let svg = String::from_utf8(out).unwrap();
        assert_eq!(
            (svg.matches("<svg ").count(), svg.matches("role=\"img\"").count()),
            (1, charts)
        );
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert!(svg.contains("prefers-color-scheme:dark"));
    }
}
