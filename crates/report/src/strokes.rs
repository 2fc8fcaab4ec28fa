//! Letters as strokes, for pictures made where there may be no font.
//!
//! Out of scope: a typeface. It has the letters of ASCII and the signs that our labels need; for any other there is
//! a box. SVG carries its text as text; only pictures of pixels, and the room that labels take, come from here.

/// From one letter's end to the next one's beginning.
const GAP: f64 = 1.5;
/// Units of the glyphs in one em: their capitals are 7 high.
const EM: f64 = 9.7;

/// A step of a stroke; points in units of the font size, y downwards from the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stroke {
    /// Begins at a point.
    From(f64, f64),
    /// A straight line to a point.
    To(f64, f64),
    /// A quadratic curve by a point to another.
    By(f64, f64, f64, f64),
}

/// The width of a text of size 1.
pub fn width(text: &str) -> f64 {
    text.chars().map(|c| (glyph(c).0 + GAP) / EM).sum()
}

/// The strokes of a text of size 1 that begins at 0.
pub fn strokes(text: &str) -> Vec<Stroke> {
    let (mut at, mut all) = (0.0, Vec::new());
    for c in text.chars() {
        let (wide, path) = glyph(c);
        all.extend(parse(path, at));
        at += wide + GAP;
    }
    all
}

fn glyph(c: char) -> (f64, &'static str) {
    let found = GLYPHS.iter().find(|glyph| glyph.0 == c);
    found.map_or((4.0, "M0 0L4 0L4 7L0 7L0 0"), |glyph| (glyph.1, glyph.2))
}

fn parse(path: &str, at: f64) -> Vec<Stroke> {
    let x = |v: f64| (v + at) / EM;
    let y = |v: f64| (v - 7.0) / EM;
    let starts: Vec<usize> = path.match_indices(['M', 'L', 'Q']).map(|found| found.0).chain([path.len()]).collect();
    let step = |ends: &[usize]| {
        let (command, numbers) = path[ends[0]..ends[1]].split_at(1);
        let numbers: Vec<f64> = numbers.split(' ').filter_map(|n| n.parse().ok()).collect();
        match (command, numbers.as_slice()) {
            ("M", [a, b]) => Some(Stroke::From(x(*a), y(*b))),
            ("L", [a, b]) => Some(Stroke::To(x(*a), y(*b))),
            ("Q", [a, b, c, d]) => Some(Stroke::By(x(*a), y(*b), x(*c), y(*d))),
            _ => None,
        }
    };
    starts.windows(2).filter_map(step).collect()
}

/// A letter, how wide it is, and its strokes: y is 0 at the top of capitals and 7 at the baseline.
#[rustfmt::skip]
const GLYPHS: &[(char, f64, &str)] = &[
    (' ', 1.3, ""),
    ('!', 0.0, "M0 0L0 4.8M0 6.7L0 7"),
    ('"', 2.0, "M0 0L0 2M2 0L2 2"),
    ('#', 5.0, "M1.7 0L.7 7M4.3 0L3.3 7M0 2.3L5 2.3M0 4.7L5 4.7"),
    ('$', 4.4, "M2.2 -.8L2.2 7.8M4.3 1.3Q3.6 0 2.2 0Q0 0 0 1.8Q0 3.2 2.2 3.5Q4.4 3.9 4.4 5.2Q4.4 7 2.2 7Q.6 7 0 5.6"),
    ('%', 6.0, "M5 0L1 7M1.3 0Q0 0 0 1.5Q0 3 1.3 3Q2.6 3 2.6 1.5Q2.6 0 1.3 0M4.7 4Q3.4 4 3.4 5.5Q3.4 7 4.7 7Q6 7 6 5.5Q6 4 4.7 4"),
    ('&', 5.0, "M5 7L1.2 2.4Q.5 .2 2 0Q3.6 0 3.4 1.5Q3.2 2.5 1.6 3.3Q0 4.2 0 5.3Q.2 7 2 7Q4.2 6.9 4.9 3.6"),
    ('\'', 0.0, "M0 0L0 2"),
    ('(', 1.6, "M1.6 -.8Q0 1 0 3.5Q0 6 1.6 7.8"),
    (')', 1.6, "M0 -.8Q1.6 1 1.6 3.5Q1.6 6 0 7.8"),
    ('*', 3.0, "M1.5 .3L1.5 3.3M.2 1L2.8 2.6M2.8 1L.2 2.6"),
    ('+', 4.4, "M2.2 1.6L2.2 6M0 3.8L4.4 3.8"),
    (',', 0.6, "M.6 6.5L.5 7.2L0 8.3"),
    ('-', 2.2, "M0 4.2L2.2 4.2"),
    ('.', 0.2, "M.1 6.7L.1 7"),
    ('/', 2.6, "M2.6 -.4L0 7.8"),
    ('0', 4.2, "M2.1 0Q0 0 0 3.5Q0 7 2.1 7Q4.2 7 4.2 3.5Q4.2 0 2.1 0"),
    ('1', 4.2, "M.8 1.5L2.5 0L2.5 7"),
    ('2', 4.2, "M.2 1.6Q.6 0 2.2 0Q4.2 0 4.2 1.9Q4.2 3.2 2.6 4.6L.1 7L4.3 7"),
    ('3', 4.2, "M.3 0L4 0L2 2.8Q4.2 2.9 4.2 4.9Q4.2 7 2 7Q.5 7 0 5.7"),
    ('4', 4.2, "M3.3 7L3.3 0L0 4.9L4.4 4.9"),
    ('5', 4.2, "M3.9 0L.7 0L.4 3.1Q1.1 2.5 2.1 2.5Q4.2 2.6 4.2 4.7Q4.2 7 2 7Q.6 7 0 5.9"),
    ('6', 4.2, "M3.8 .9Q3.3 0 2.2 0Q0 .1 0 4Q0 7 2.2 7Q4.2 7 4.2 4.8Q4.2 2.7 2.2 2.7Q.4 2.7 0 4.4"),
    ('7', 4.2, "M0 0L4.2 0L1.6 7"),
    ('8', 4.2, "M2.1 3.2Q.3 3.1 .3 1.6Q.3 0 2.1 0Q3.9 0 3.9 1.6Q3.9 3.1 2.1 3.2Q0 3.4 0 5.1Q0 7 2.1 7Q4.2 7 4.2 5.1Q4.2 3.4 2.1 3.2"),
    ('9', 4.2, "M.4 6.1Q.9 7 2 7Q4.2 6.9 4.2 3Q4.2 0 2 0Q0 0 0 2.2Q0 4.3 2 4.3Q3.8 4.3 4.2 2.6"),
    (':', 0.2, "M.1 2.7L.1 3M.1 6.7L.1 7"),
    (';', 0.6, "M.6 2.7L.6 3M.6 6.5L.5 7.2L0 8.3"),
    ('<', 4.0, "M4 1.6L0 3.9L4 6.2"),
    ('=', 4.4, "M0 2.7L4.4 2.7M0 5L4.4 5"),
    ('>', 4.0, "M0 1.6L4 3.9L0 6.2"),
    ('?', 3.6, "M0 1.6Q.2 0 1.9 0Q3.6 0 3.6 1.6Q3.6 2.6 2.6 3.3Q1.8 3.9 1.8 4.9M1.8 6.7L1.8 7"),
    ('@', 6.0, "M4.4 2.6Q3.6 1.9 2.7 2.3Q1.6 2.9 1.8 4.2Q2 5.2 3 5.1Q4.2 4.8 4.4 2.6L4.3 4.4Q4.6 5.2 5.4 4.7Q6 4 6 3Q5.8 0 3 0Q0 .2 0 3.6Q.1 7 3.2 7Q4.2 7 4.9 6.6"),
    ('A', 5.0, "M0 7L2.5 0L5 7M.9 4.7L4.1 4.7"),
    ('B', 4.4, "M0 0L2.4 0Q4 .1 4 1.7Q4 3.3 2.4 3.3L0 3.3M2.4 3.3Q4.4 3.4 4.4 5.1Q4.4 7 2.4 7L0 7L0 0"),
    ('C', 4.8, "M4.8 1.5Q4.1 0 2.6 0Q0 .1 0 3.5Q0 6.9 2.6 7Q4.1 7 4.8 5.5"),
    ('D', 4.8, "M0 0L1.8 0Q4.8 .1 4.8 3.5Q4.8 6.9 1.8 7L0 7L0 0"),
    ('E', 4.0, "M4 0L0 0L0 7L4 7M0 3.3L3.4 3.3"),
    ('F', 3.8, "M3.8 0L0 0L0 7M0 3.3L3.2 3.3"),
    ('G', 5.0, "M4.8 1.5Q4.1 0 2.6 0Q0 .1 0 3.5Q0 6.9 2.6 7Q4.9 7 5 4.6L5 3.9L2.8 3.9"),
    ('H', 4.6, "M0 0L0 7M4.6 0L4.6 7M0 3.3L4.6 3.3"),
    ('I', 0.0, "M0 0L0 7"),
    ('J', 3.0, "M3 0L3 5.2Q2.9 7 1.5 7Q.1 7 0 5.4"),
    ('K', 4.4, "M0 0L0 7M4.3 0L0 4.4M1.6 2.8L4.4 7"),
    ('L', 3.6, "M0 0L0 7L3.6 7"),
    ('M', 5.6, "M0 7L0 0L2.8 5L5.6 0L5.6 7"),
    ('N', 4.8, "M0 7L0 0L4.8 7L4.8 0"),
    ('O', 5.2, "M2.6 0Q0 .1 0 3.5Q0 6.9 2.6 7Q5.2 6.9 5.2 3.5Q5.2 .1 2.6 0"),
    ('P', 4.2, "M0 7L0 0L2.2 0Q4.2 .1 4.2 2Q4.2 4 2.2 4L0 4"),
    ('Q', 5.2, "M2.6 0Q0 .1 0 3.5Q0 6.9 2.6 7Q5.2 6.9 5.2 3.5Q5.2 .1 2.6 0M3.2 5.4L5.2 7.6"),
    ('R', 4.4, "M0 7L0 0L2.2 0Q4.2 .1 4.2 2Q4.2 4 2.2 4L0 4M2.2 4L4.4 7"),
    ('S', 4.4, "M4.2 1.3Q3.6 0 2.2 0Q0 0 0 1.8Q0 3.1 2.2 3.5Q4.4 3.9 4.4 5.2Q4.4 7 2.2 7Q.5 7 0 5.6"),
    ('T', 4.8, "M0 0L4.8 0M2.4 0L2.4 7"),
    ('U', 4.6, "M0 0L0 4.6Q0 7 2.3 7Q4.6 7 4.6 4.6L4.6 0"),
    ('V', 5.0, "M0 0L2.5 7L5 0"),
    ('W', 7.0, "M0 0L1.7 7L3.5 .8L5.3 7L7 0"),
    ('X', 4.8, "M0 0L4.8 7M4.8 0L0 7"),
    ('Y', 4.8, "M0 0L2.4 3.5L4.8 0M2.4 3.5L2.4 7"),
    ('Z', 4.6, "M0 0L4.6 0L0 7L4.6 7"),
    ('[', 1.4, "M1.4 -.6L0 -.6L0 7.8L1.4 7.8"),
    ('\\', 2.6, "M0 -.4L2.6 7.8"),
    (']', 1.4, "M0 -.6L1.4 -.6L1.4 7.8L0 7.8"),
    ('^', 3.4, "M0 2.4L1.7 0L3.4 2.4"),
    ('_', 4.0, "M0 8L4 8"),
    ('`', 1.2, "M0 -.2L1.2 1.1"),
    ('a', 3.6, "M.3 3.1Q.8 2 2 2Q3.6 2 3.6 3.8L3.6 7M3.6 4.2L1.9 4.2Q0 4.3 0 5.6Q.1 7 1.6 7Q3.5 6.9 3.6 5"),
    ('b', 3.9, "M0 0L0 7M0 4.5Q.1 2 2 2Q3.9 2.1 3.9 4.5Q3.9 6.9 2 7Q.1 7 0 4.5"),
    ('c', 3.6, "M3.6 3.2Q3.1 2 2 2Q0 2.1 0 4.5Q0 6.9 2 7Q3.1 7 3.6 5.8"),
    ('d', 3.9, "M3.9 0L3.9 7M3.9 4.5Q3.8 2 1.9 2Q0 2.1 0 4.5Q0 6.9 1.9 7Q3.8 7 3.9 4.5"),
    ('e', 3.9, "M0 4.4L3.9 4.4Q3.9 2 2 2Q0 2.1 0 4.5Q0 6.9 2.1 7Q3.2 7 3.7 6"),
    ('f', 2.4, "M2.4 .1Q1 -.3 1 1.5L1 7M0 2.2L2.3 2.2"),
    ('g', 3.9, "M3.9 2.1L3.9 7Q3.8 9 2 9Q.8 9 .3 8.2M3.9 4.5Q3.8 2 1.9 2Q0 2.1 0 4.5Q0 6.9 1.9 7Q3.8 7 3.9 4.5"),
    ('h', 3.6, "M0 0L0 7M0 4.2Q.3 2 2 2Q3.6 2.1 3.6 4L3.6 7"),
    ('i', 0.2, "M.1 2.1L.1 7M.1 .1L.1 .4"),
    ('j', 1.0, "M1 2.1L1 7.6Q1 9 -.2 9M1 .1L1 .4"),
    ('k', 3.4, "M0 0L0 7M3.2 2.2L0 5.1M1.2 4.1L3.4 7"),
    ('l', 0.8, "M0 0L0 5.9Q0 7 .9 7"),
    ('m', 6.0, "M0 2.1L0 7M0 4.2Q.2 2 1.6 2Q3 2 3 4L3 7M3 4.2Q3.2 2 4.6 2Q6 2 6 4L6 7"),
    ('n', 3.6, "M0 2.1L0 7M0 4.2Q.3 2 2 2Q3.6 2.1 3.6 4L3.6 7"),
    ('o', 4.0, "M2 2Q0 2.1 0 4.5Q0 6.9 2 7Q4 6.9 4 4.5Q4 2.1 2 2"),
    ('p', 3.9, "M0 2.1L0 9M0 4.5Q.1 2 2 2Q3.9 2.1 3.9 4.5Q3.9 6.9 2 7Q.1 7 0 4.5"),
    ('q', 3.9, "M3.9 2.1L3.9 9M3.9 4.5Q3.8 2 1.9 2Q0 2.1 0 4.5Q0 6.9 1.9 7Q3.8 7 3.9 4.5"),
    ('r', 2.1, "M0 2.1L0 7M0 4.4Q.3 2 2.2 2.1"),
    ('s', 3.3, "M3.1 3Q2.8 2 1.7 2Q.1 2 .1 3.3Q.1 4.2 1.7 4.5Q3.3 4.8 3.3 5.7Q3.3 7 1.7 7Q.4 7 0 5.9"),
    ('t', 2.4, "M1 .4L1 5.5Q1 7 2.4 6.9M0 2.2L2.3 2.2"),
    ('u', 3.6, "M0 2.1L0 5Q0 6.9 1.7 7Q3.4 6.9 3.6 4.8M3.6 2.1L3.6 7"),
    ('v', 3.8, "M0 2.1L1.9 7L3.8 2.1"),
    ('w', 5.6, "M0 2.1L1.4 7L2.8 2.8L4.2 7L5.6 2.1"),
    ('x', 3.6, "M0 2.1L3.6 7M3.6 2.1L0 7"),
    ('y', 3.8, "M0 2.1L1.9 7M3.8 2.1L1.9 7Q1.2 9 0 9"),
    ('z', 3.5, "M0 2.1L3.5 2.1L0 7L3.5 7"),
    ('{', 2.0, "M2 -.6Q.9 -.6 .9 1L.9 2.5Q.9 3.6 0 3.6Q.9 3.6 .9 4.7L.9 6.2Q.9 7.8 2 7.8"),
    ('|', 0.0, "M0 -.6L0 7.8"),
    ('}', 2.0, "M0 -.6Q1.1 -.6 1.1 1L1.1 2.5Q1.1 3.6 2 3.6Q1.1 3.6 1.1 4.7L1.1 6.2Q1.1 7.8 0 7.8"),
    ('~', 3.8, "M0 4.4Q.7 3 1.8 3.8Q3 4.7 3.8 3.3"),
    ('µ', 3.6, "M0 2.1L0 9M0 5Q0 6.9 1.7 7Q3.4 6.9 3.6 4.8M3.6 2.1L3.6 7"),
    ('–', 3.8, "M0 4.2L3.8 4.2"),
    ('−', 4.4, "M0 3.8L4.4 3.8"),
    ('≥', 4.0, "M0 1.2L4 3.1L0 5M0 7L4 7"),
    ('≤', 4.0, "M4 1.2L0 3.1L4 5M0 7L4 7"),
    ('·', 0.4, "M.2 3.8L.2 4.1"),
    ('×', 4.0, "M.3 2.2L3.7 5.6M3.7 2.2L.3 5.6"),
    ('…', 4.2, "M.1 6.7L.1 7M2.1 6.7L2.1 7M4.1 6.7L4.1 7"),
    ('→', 5.0, "M0 3.8L5 3.8M3.2 2.2L5 3.8L3.2 5.4"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_of_ascii_has_strokes_that_are_understood() {
        for c in '!'..='~' {
            assert!(GLYPHS.iter().any(|glyph| glyph.0 == c), "{c}");
        }
        for (c, wide, path) in GLYPHS {
            let steps = parse(path, 0.0);
            assert_eq!(steps.len(), path.matches(['M', 'L', 'Q']).count(), "{c}");
            let ends = steps.iter().map(|step| match step {
                Stroke::From(x, y) | Stroke::To(x, y) | Stroke::By(_, _, x, y) => (x * EM, y * EM + 7.0),
            });
            for (x, y) in ends {
                assert!((-0.3..=wide + 0.4).contains(&x) && (-1.0..=9.0).contains(&y), "{c}: {x} {y}");
            }
        }
    }

    #[test]
    fn what_has_no_strokes_is_a_box() {
        assert_eq!(strokes("漢"), strokes("字"));
        assert!(width("nginx 漢") > width("nginx "));
    }
}
