//! Writes one HTML file that shows a study offline: the page that is built from `web-ui/`, with
//! the data in it.
//!
//! A [`Study`] and its [`Analysis`] become JSON in script elements. `study` has the document and
//! the charts of several trials. `trial-0` and later have the charts of one trial. The page reads
//! each of these only when it is shown, so that a page with hundreds of trials opens quickly.
//!
//! `still` is the part that needs no script: the overview of a run, findings and charts.
//!
//! Out of scope: the page's location. `html/page.html` is built and checked in, so that brunt can
//! be built without node; `tools/page.sh` rebuilds it and compares.

pub mod charts;
mod columns;
pub mod dashboard;
mod still;
mod template;
mod zoom;

use crate::agents::AgentRows;
use crate::breakdown::{self, Breakdown};
use crate::figure::Chart;
use crate::study::StudyDocument;
use crate::subset::RunSubset;
use crate::texts::message;
use crate::xml::escaped;
use crate::{panels, selection, single};
use brunt_model::{Analysis, Judgement, Language, Run, Study, Trial};
use columns::FigureColumns;
use serde::Serialize;
use std::io;
use still::Overview;
pub use still::{LabelTable, ORDER as LABEL_ORDER, SEARCH as LABEL_SEARCH};
pub use template::{PageFile, Template};
use zoom::Zoom;

/// Maximum number of parts of a run with charts in its page. Each takes about 30 kB.
const MOST_PARTS: usize = 40;

/// A page of a study, with links if a server has its parts.
pub struct StudyPage<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its analysis.
    pub analysis: &'a Analysis,
    /// Returns the address of the page with the charts of a subset of its only run. None: the page has no
    /// such links.
    pub address: Option<&'a dyn Fn(&RunSubset) -> String>,
    /// The table of labels of its only run; None: all labels, without a form.
    pub labels: Option<&'a LabelTable>,
    /// The subset of its only run that the charts show; None for the whole run.
    pub shown: Option<&'a Run>,
    /// Maximum number of rows of a table by label and the like; None for all.
    pub most_rows: Option<usize>,
    /// Language of labels. The study and its analysis have been translated (`Judgement::translate`).
    pub language: Language,
}

/// Writes a run as a page of one file, as the study of one trial.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let (study, analysis) = single::study_of(run, judgement);
    let overview = Overview {
        run,
        judgement,
        address: None,
        labels: None,
        most_rows: None,
        language: Language::English,
    };
    let template = Template::one_file();
    let page = StudyPage::of(&study, &analysis);
    page.content_with(overview.html(), &template)?.write(&template, "", out)
}

/// Writes a study as a page of one file.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    StudyPage::of(study, analysis).write(&Template::one_file(), out)
}

impl<'a> StudyPage<'a> {
    /// Returns the page without links to others.
    pub fn of(study: &'a Study, analysis: &'a Analysis) -> Self {
        Self {
            study,
            analysis,
            address: None,
            labels: None,
            shown: None,
            most_rows: None,
            language: Language::English,
        }
    }

    /// Writes the page in this form.
    pub fn write(&self, template: &Template, out: &mut dyn io::Write) -> io::Result<()> {
        self.content(template)?.write(template, "", out)
    }

    /// Returns the content of the page in this form.
    pub fn content(&self, template: &Template) -> io::Result<PageContent> {
        let overview = self.study.only_run().map(|Trial { run, judgement, .. }| {
            let Self { address, labels, most_rows, language, .. } = *self;
            Overview { run, judgement, address, labels, most_rows, language }.html()
        });
        self.content_with(overview.unwrap_or_default(), template)
    }

    fn content_with(&self, overview: String, template: &Template) -> io::Result<PageContent> {
        let Self { study, analysis, language, .. } = self;
        // A subset has no verdict: only the charts are those of the subset.
        let charted = self.shown.map(|subset| single::study_of(subset, &Judgement::default()));
        let (charted, charted_analysis) =
            charted.as_ref().map_or((*study, *analysis), |(study, analysis)| (study, analysis));
        let figures = translated(panels::of_study(charted, charted_analysis), *language);
        let (parts, part_scripts) = self.parts()?;
        let data = StudyData {
            // The page of a study with hundreds of trials must open quickly, so this has no data
            // of trials.
            document: document(study, analysis, *language),
            figures: figures.iter().map(FigureColumns::from).collect(),
            shown: panels::chosen(study, analysis).first().copied().unwrap_or(0),
            parts: &parts,
        };
        let mut scripts = data_script("study", &data)? + &part_scripts;
        for (index, trial) in study.trials.iter().enumerate() {
            // One script element for each trial: the page parses it only when the user opens the
            // trial.
            let figures = translated(panels::of_trial(charted, index), *language);
            let figures = figures.iter().map(FigureColumns::from).collect();
            let mut data = TrialData {
                figures,
                zoom: Zoom::from(self.shown.unwrap_or(&trial.run)),
                tables: Vec::new(),
                check_failures: Vec::new(),
            };
            // The overview has those of an only run.
            if study.only_run().is_none() {
                data.add_tables(trial, *language);
            }
            scripts += &data_script(&format!("trial-{index}"), &data)?;
        }
        Ok(PageContent {
            language: *language,
            name: escaped(&study.experiment.name),
            overview,
            still: still::study(study, analysis, template.has_still_charts, *language),
            scripts,
        })
    }
}

impl StudyPage<'_> {
    /// Returns the parts of an only run that have charts, and a script element for each. A server has a page for
    /// each part instead.
    fn parts(&self) -> io::Result<(Vec<PagePart>, String)> {
        let mut parts = Vec::new();
        let mut scripts = String::new();
        let trial = self.study.only_run().filter(|_| self.address.is_none());
        let Some(Trial { run, judgement, .. }) = trial else { return Ok((parts, scripts)) };
        for table in breakdown::all(run, judgement, AgentRows::All) {
            for (name, _) in &table.rows {
                let name = name.in_language(self.language);
                let Some(subset) = table.subset(&name) else { continue };
                let Some(selected) = selection::select(run, &subset) else { continue };
                if parts.len() == MOST_PARTS {
                    return Ok((parts, scripts));
                }
                let (study, _) = single::study_of(&selected, &Judgement::default());
                let figures = translated(panels::of_trial(&study, 0), self.language);
                let data = TrialData {
                    figures: figures.iter().map(FigureColumns::from).collect(),
                    zoom: Zoom::from(&selected),
                    tables: Vec::new(),
                    check_failures: Vec::new(),
                };
                scripts += &data_script(&format!("part-{}", parts.len()), &data)?;
                let kind = message!(table.title).in_language(self.language).into_owned();
                parts.push(PagePart { kind, name: name.into_owned() });
            }
        }
        Ok((parts, scripts))
    }
}

/// A label, transaction, population or agent with charts in the page.
#[derive(Serialize)]
struct PagePart {
    /// Kind of the part, as the head of its table.
    kind: String,
    name: String,
}

/// Content of a page: the HTML that its template does not have.
pub struct PageContent {
    language: Language,
    /// Name of the experiment, escaped.
    name: String,
    /// Verdict, tiles, errors and tables of an only run.
    overview: String,
    /// Further content for browsers without scripts.
    still: String,
    /// Script elements with the data.
    scripts: String,
}

impl PageContent {
    /// Writes the page in this form. `above` is HTML above its content.
    pub fn write(
        &self,
        template: &Template,
        above: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let Self { language, name, overview, still, scripts } = self;
        let still = format!("<h1>{name}</h1>\n{overview}{still}");
        template.write(*language, above, &still, scripts, out)
    }

    /// Returns the HTML elements that change while the run is active. The script of the page shows their content.
    pub fn changing(&self) -> String {
        format!("{}{}", self.overview, self.scripts)
    }
}

fn translated(mut charts: Vec<Chart>, language: Language) -> Vec<Chart> {
    for chart in &mut charts {
        chart.translate(language);
    }
    charts
}

/// Data of the script element `study`.
#[derive(Serialize)]
struct StudyData<'a> {
    document: StudyDocument,
    figures: Vec<FigureColumns<'a>>,
    /// Index of the trial shown first.
    shown: usize,
    /// Parts of an only run, with their charts in the script elements `part-0` and later.
    parts: &'a [PagePart],
}

/// Data of the script elements `trial-0` and later.
#[derive(Serialize)]
struct TrialData<'a> {
    figures: Vec<FigureColumns<'a>>,
    zoom: Zoom,
    /// The trial by population, agent, label and transaction; empty for an only run.
    tables: Vec<TrialTable>,
    /// A sentence for each failed check.
    check_failures: Vec<String>,
}

#[derive(Serialize)]
struct TrialTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TrialTable {
    fn new(breakdown: &Breakdown, language: Language) -> Self {
        let (head, rows) = breakdown.cells(language);
        Self { head, rows }
    }
}

impl TrialData<'_> {
    fn add_tables(&mut self, Trial { run, judgement, .. }: &Trial, language: Language) {
        let tables = breakdown::all(run, judgement, AgentRows::All);
        self.tables = tables.iter().map(|table| TrialTable::new(table, language)).collect();
        self.check_failures = breakdown::check_failures(run)
            .iter()
            .map(|sentence| sentence.in_language(language).into_owned())
            .collect();
    }
}

/// Returns the document without plans and histograms: the page does not use them, and the
/// JSON report has them.
fn document(study: &Study, analysis: &Analysis, language: Language) -> StudyDocument {
    // The page reads the breakdown from the data of a trial.
    let mut document = StudyDocument::without_breakdown(study, analysis);
    document.method.iter_mut().for_each(|sentence| sentence.translate(language));
    let of_trials = document.trials.iter_mut();
    let of_trials = of_trials.flat_map(|trial| trial.warnings.iter_mut().chain(&mut trial.error));
    for warning in document.warnings.iter_mut().chain(of_trials) {
        warning.translate(language);
    }
    // A plan may have thousands of requests, and the page of an active run is loaded every second.
    document.experiment.contenders.iter_mut().for_each(|contender| contender.plan = None);
    for times in document.trials.iter_mut().filter_map(|trial| trial.response_time_seconds.as_mut())
    {
        times.histogram.clear();
    }
    document
}

/// Returns a script element with a value. `<` is escaped: it occurs in strings only, and could
/// end the element there.
fn data_script(id: &str, value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value)?.replace('<', "\\u003c");
    Ok(format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n"))
}

#[cfg(test)]
mod tests {
    use super::template::{PAGE, PLACE};
    use super::*;
    use crate::story;
    use serde_json::Value;

    const HOSTILE: &str = "</script><script>alert(1)</script><!-- & \u{2028}";

    fn page(run: &Run) -> String {
        let mut out = Vec::new();
        write(run, &Judgement::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Parses the JSON of a script element, which ends at `</script` for a browser.
    fn data(page: &str, id: &str) -> Value {
        let (_, rest) = page.split_once(&format!("id=\"{id}\">")).unwrap();
        serde_json::from_str(rest.split_once("</script").unwrap().0).unwrap()
    }

    #[test]
    fn the_page_embeds_its_data_and_loads_nothing_else() {
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        assert!(PAGE.contains("default-src 'none'") && PAGE.contains("The MIT License"));
        for outside in ["src=\"http", "href=\"http", "@import", "url(http", "fetch("] {
            assert!(!PAGE.contains(outside), "{outside}");
        }
        assert!(PAGE.len() < 400_000);
    }

    #[test]
    fn the_data_is_the_document_and_the_charts() {
        let run = story::overloaded().run();
        let page = page(&run);
        let (study, analysis) = single::study_of(&run, &Judgement::default());
        let everything = data(&page, "study");
        assert_eq!(
            everything["document"],
            serde_json::to_value(document(&study, &analysis, Language::English)).unwrap()
        );
        assert_eq!(everything["shown"], 0);
        let trial = data(&page, "trial-0");
        assert_eq!(
            trial["zoom"]["completed"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_u64)
                .sum::<u64>(),
            1900
        );
        let titles: Vec<_> = trial["figures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["title"].as_str().unwrap())
            .collect();
        assert!(
            titles.contains(&"Throughput") && !titles.iter().any(|t| t.contains("over time")),
            "{titles:?}"
        );
    }

    #[test]
    fn no_name_ends_the_data() {
        let mut run = story::closed().run();
        run.environment.server = Some(HOSTILE.into());
        run.warnings.push(HOSTILE.into());
        let page = page(&run);
        assert_eq!(data(&page, "study")["document"]["environment"]["server"], HOSTILE);
        assert!(
            !page.contains("<script>alert")
                && page.matches("<!--").count() == PAGE.matches("<!--").count() - 1
        );
    }
}
