use super::*;
use crate::story;

#[test]
fn leave_pictures() {
    let (study, analysis) = story::sweep_of(&(1..=12).map(|n| f64::from(n) * 40.0).collect::<Vec<_>>(), 3);
    std::fs::create_dir_all("/tmp/rep/p").unwrap();
    for (name, svg) in files(&study, &analysis) {
        std::fs::write(format!("/tmp/rep/p/{name}"), svg).unwrap();
    }
    for (name, png) in crate::png::files(&study, &analysis).unwrap() {
        std::fs::write(format!("/tmp/rep/p/{name}"), png).unwrap();
    }
    let mut out = Vec::new();
    write_study(&study, &analysis, &mut out).unwrap();
    std::fs::write("/tmp/rep/sheet.svg", out).unwrap();
    let mut out = Vec::new();
    crate::png::write_study(&study, &analysis, &mut out).unwrap();
    std::fs::write("/tmp/rep/sheet.png", out).unwrap();
}
