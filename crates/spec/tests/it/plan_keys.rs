//! The tables of keys in docs/plan.md are those of the settings. `BRUNT_WRITE=1` writes them anew.

use brunt_spec::plan::{Form, PlanKey, plan_keys};
use brunt_spec::settings::Visibility;
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plan.md");
const BEGIN: &str = "<!-- keys of ";
const END: &str = "<!-- end of keys -->\n";

/// The page with the tables of today between its marks.
fn with_tables(page: &str) -> String {
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (section, rest) = part.split_once(" -->\n").expect("a section");
        let (_, after) = rest.split_once(END).expect("an end mark");
        text.extend([BEGIN, section, " -->\n", &table(section), END, after]);
    }
    text
}

fn table(section: &str) -> String {
    let keys = plan_keys().iter().filter(|key| key.section().unwrap_or_default() == section);
    let rows: String = keys.filter(|key| key.visibility == Visibility::Yes).map(row).collect();
    format!("| key | meaning | default | option |\n|---|---|---|---|\n{rows}")
}

fn row(key: &PlanKey) -> String {
    let name = match key.form {
        Form::Switch(value) => format!("{}: {value}", key.name()),
        _ => key.name().to_owned(),
    };
    let option = key.option.map_or_else(|| "–".to_owned(), |option| format!("`--{option}`"));
    let default = key.default.as_deref().unwrap_or("–");
    format!("| `{name}` | {} | {default} | {option} |\n", key.about.replace('|', "\\|"))
}

#[test]
fn the_tables_in_the_docs_are_those_of_the_settings() {
    let page = fs::read_to_string(PAGE).expect("docs/plan.md");
    let current = with_tables(&page);
    if std::env::var_os("BRUNT_WRITE").is_some() {
        fs::write(PAGE, &current).expect("docs/plan.md");
    } else {
        assert!(
            page == current,
            "docs/plan.md: write its tables anew: BRUNT_WRITE=1 cargo test -p brunt-spec plan_keys"
        );
    }
    for section in plan_keys().iter().filter_map(PlanKey::section) {
        assert!(
            current.contains(&format!("{BEGIN}{section} -->")),
            "docs/plan.md has no table of {section}"
        );
    }
}
