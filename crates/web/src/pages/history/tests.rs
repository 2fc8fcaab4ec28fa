//! The page of a store with made-up runs.

#[path = "../../../examples/made_up_history/runs.rs"]
mod made_up;

use super::*;
use brunt_store::Store;

struct Page {
    _directory: tempfile::TempDir,
    store: Store,
}

impl Page {
    fn with_runs() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        made_up::write(&store);
        Self { _directory: directory, store }
    }

    fn html(&self, query: &str) -> Result<String, String> {
        let fields = Fields::decode(query.as_bytes());
        let page = page_of(&self.store, &HistoryCache::default(), &fields, &Viewer::default());
        page.map(|page| page.0).map_err(|problem| problem.text.to_string())
    }

    fn ids(&self) -> Vec<String> {
        let entries = self.store.list(&brunt_store::EntryFilter::All).unwrap();
        entries.into_iter().map(|entry| entry.id).collect()
    }
}

#[test]
fn the_page_shows_changes_with_their_facts_and_comparisons() {
    let page = Page::with_runs();
    let html = page.html("measure=p99").unwrap();
    assert!(html.contains("2 change points in 51 counted runs"), "{html}");
    assert!(html.contains("server: nginx/1.24 → nginx/1.26"), "{html}");
    assert!(html.contains("kernel: Linux 6.1.0 → Linux 6.12.0"), "{html}");
    assert!(html.contains("not counted: a consistency check failed"), "{html}");
    let ids = page.ids();
    let (before, after) = (&ids[made_up::NEW_SERVER - 1], &ids[made_up::NEW_SERVER]);
    assert!(html.contains(&format!("/compare?id={before}&amp;id={after}")), "{html}");
    // The data of the chart: a point for each counted run, and a mark for each change.
    let (_, data) = html.split_once("id=\"page-figures\">").unwrap();
    let data: serde_json::Value =
        serde_json::from_str(data.split_once("</script").unwrap().0).unwrap();
    assert_eq!(data[0]["lines"][0]["x"].as_array().unwrap().len(), made_up::RUNS - 1);
    assert_eq!(data[0]["marks"].as_array().unwrap().len(), 2);
    assert!(data[0]["lines"][0]["low"].is_array(), "{}", data[0]["lines"][0]);
}

#[test]
fn the_address_has_the_state_of_the_page() {
    let page = Page::with_runs();
    let html = page.html("measure=throughput&q=cart&host=shop.example:8080&last=7").unwrap();
    assert!(html.contains("value=\"throughput\" selected"), "{html}");
    assert!(html.contains("Unknown whether the level changed: 7 counted runs"), "{html}");
    assert!(html.contains("45 older runs left out"), "{html}");
    let none = page.html("q=absent").unwrap();
    assert!(none.contains("no ended run without an experiment matches"), "{none}");
    assert!(page.html("measure=p98").unwrap_err().contains("p98"));
    assert!(page.html("last=0").unwrap_err().contains("1 to 1000"));
    let hostile = page.html("q=%3Cscript%3E").unwrap();
    assert!(!hostile.contains("<script>\""), "{hostile}");
}

#[test]
fn a_run_without_log_and_digest_has_the_figures_of_the_index() {
    let page = Page::with_runs();
    let id = &page.ids()[3];
    // A log that cannot be read; its row stays.
    let logs = walk(page.store.directory());
    let log = logs.iter().find(|path| path.to_string_lossy().contains(id.as_str())).unwrap();
    std::fs::write(log, b"damaged").unwrap();
    let html = page.html("measure=p99").unwrap();
    // The index does not know its plan.
    assert!(html.contains("not counted: its plan is unknown; from the index"), "{html}");
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}
