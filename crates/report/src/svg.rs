//! Writes charts as SVG. Text stays text, colors follow the reader's choice of light or dark, and
//! each chart has a text alternative.
//!
//! Out of scope: the choice of charts ([`crate::panels`]) and positions ([`crate::plot`]).

use crate::figure::Chart;
use crate::plot;
use crate::scene::{Anchor, COLORS, DrawingElement, Ink, PAPER, Scene, TextDirection};
use crate::sheet::ChartSheet;
use crate::xml::escaped;
use std::fmt::Write as _;
use std::io;

/// Writes charts on one sheet.
pub fn write_sheet(sheet: &ChartSheet, out: &mut dyn io::Write) -> io::Result<()> {
    let mut body = String::new();
    sheet.heading.iter().for_each(|shape| push(&mut body, shape));
    for ((x, y), scene) in &sheet.places {
        let _ =
            write!(body, "<g transform=\"translate({} {})\" role=\"img\"{}", x, y, labels(scene));
        scene.shapes.iter().for_each(|shape| push(&mut body, shape));
        body += "</g>\n";
    }
    let head =
        head(sheet.width, sheet.height, &format!("<title>{}</title>", escaped(&sheet.title)), "");
    writeln!(out, "{head}{body}</svg>")
}

/// Returns one chart; None if it is empty.
pub fn of_figure(figure: &Chart) -> Option<String> {
    let scene = plot::scene(figure)?;
    let mut out = head(scene.width, scene.height, "", &format!(" role=\"img\"{}", labels(&scene)));
    scene.shapes.iter().for_each(|shape| push(&mut out, shape));
    Some(out + "</svg>\n")
}

/// Returns the end of an element's head, with its name and its description.
fn labels(scene: &Scene) -> String {
    let id = escaped(&scene.id);
    let title = escaped(&scene.title);
    let about = escaped(&scene.about);
    format!(
        // Some screen readers ignore `title` and `desc` without this attribute.
        " aria-labelledby=\"{id}-title {id}-about\"><title id=\"{id}-title\">{title}</title>\
         <desc id=\"{id}-about\">{about}</desc>\n"
    )
}

/// Returns the beginning of a file. `labels` ends the head of the first element,
/// unless it is empty.
fn head(width: f64, height: f64, title: &str, labels: &str) -> String {
    let head_end = if labels.is_empty() { ">" } else { labels };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\"{head_end}{title}<style>{}</style>\
         <rect class=\"b-paper\" width=\"{width}\" height=\"{height}\"/>\n",
        style()
    )
}

fn style() -> String {
    // Colors are classes, so that one media query changes them for dark screens.
    let inks = [Ink::Strong, Ink::Soft, Ink::Grid, Ink::Axis]
        .into_iter()
        .chain((0..COLORS).map(Ink::Color));
    let mut light = rule("b-paper", "fill", PAPER.0);
    let mut dark = rule("b-paper", "fill", PAPER.1);
    for ink in inks {
        let class = class(ink);
        let (on_light, on_dark) = ink.colors();
        for (out, color) in [(&mut light, on_light), (&mut dark, on_dark)] {
            *out += &rule(&format!("{class}.f"), "fill", color);
            *out += &rule(&format!("{class}.s"), "stroke", color);
        }
    }
    // SVG fills the inside of a polyline with black by default.
    format!(
        ".s{{fill:none;stroke-linejoin:round}}{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )
}

fn rule(class: &str, property: &str, color: u32) -> String {
    format!(".{class}{{{property}:#{color:06x}}}")
}

fn class(ink: Ink) -> String {
    match ink {
        Ink::Strong => "b-strong".into(),
        Ink::Soft => "b-soft".into(),
        Ink::Grid => "b-grid".into(),
        Ink::Axis => "b-axis".into(),
        Ink::Color(n) => format!("b-{}", n % COLORS),
    }
}

fn push(out: &mut String, shape: &DrawingElement) {
    // Writing to a String does not fail.
    let _ = match shape {
        DrawingElement::Line { points, ink, width, dashes } => {
            let dashes = if dashes.is_empty() {
                String::new()
            } else {
                format!(" stroke-dasharray=\"{}\"", number_list(dashes))
            };
            let class = class(*ink);
            writeln!(
                out,
                "<polyline class=\"{class} s\" stroke-width=\"{width}\"{dashes} points=\"{}\"/>",
                point_list(points)
            )
        }
        DrawingElement::Area { points, ink } => {
            let class = class(*ink);
            writeln!(
                out,
                "<polygon class=\"{class} f\" fill-opacity=\".18\" points=\"{}\"/>",
                point_list(points)
            )
        }
        DrawingElement::Dot { at, ink } => {
            let x = short(at.0);
            let y = short(at.1);
            writeln!(out, "<circle class=\"{} f\" cx=\"{x}\" cy=\"{y}\" r=\"2.6\"/>", class(*ink))
        }
        DrawingElement::Cell { at, size, heat } => {
            // Cells overlap slightly: browsers would show hairlines between exact neighbors.
            let [x, y, w, h] = [at.0, at.1, size.0 + 0.3, size.1 + 0.3].map(short);
            let opacity = (heat * 100.0).round() / 100.0;
            let class = class(Ink::Color(0));
            writeln!(
                out,
                "<rect class=\"{class} f\" fill-opacity=\"{opacity}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>"
            )
        }
        DrawingElement::Text { at, anchor, text, size, ink, direction } => {
            let x = short(at.0);
            let y = short(at.1);
            let place = match direction {
                TextDirection::Across => format!("x=\"{x}\" y=\"{y}\""),
                TextDirection::Up => format!("transform=\"translate({x} {y}) rotate(-90)\""),
            };
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *ink == Ink::Strong { " font-weight=\"600\"" } else { "" };
            let class = class(*ink);
            writeln!(
                out,
                "<text class=\"{class} f\" {place} font-size=\"{size}\"{anchor}{weight}>{}</text>",
                escaped(text)
            )
        }
    };
}

fn point_list(points: &[(f64, f64)]) -> String {
    let pairs = points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y)));
    pairs.collect::<Vec<_>>().join(" ")
}

fn number_list(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

/// Rounds to a tenth of a point, which is finer than a screen.
fn short(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests;
