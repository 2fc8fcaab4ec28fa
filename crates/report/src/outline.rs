//! Arranges the content of a report for people as blocks, which text and Markdown only format.
//!
//! Input is a study, or observations of other tools, with their analysis. Out of scope: layout and
//! decisions. Each sentence and figure comes from the analysis, the judgements or the readings.

mod answers;
pub mod block;
mod comparison;
mod facts;
mod graph;
mod limits;
pub mod run;
mod sweep;

use crate::agents::AgentRows;
use crate::breakdown;
use crate::study;
use crate::view::Detail;
use block::{Fact, ListItem, ListMark, ReportBlock};
use brunt_model::analysis::Culprit;
use brunt_model::finding::{Severity, ThresholdSide};
use brunt_model::numbers;
use brunt_model::{
    Analysis, Bottleneck, Contender, Finding, LoadUnit, Observations, Study, Text, Trial,
};

/// Content of a report, with the requested detail.
#[derive(Clone, Copy)]
struct Subject<'a> {
    analysis: &'a Analysis,
    unit: LoadUnit,
    study: Option<&'a Study>,
    detail: Detail,
}

/// Returns the blocks of a study: the answer first, then its figures, then setup and method.
pub fn of_study(study: &Study, analysis: &Analysis, detail: Detail) -> Vec<ReportBlock> {
    let unit = study
        .experiment
        .contenders
        .first()
        .map_or(LoadUnit::PerSecond, brunt_model::Contender::unit);
    let subject = Subject { analysis, unit, study: Some(study), detail };
    let mut blocks =
        vec![ReportBlock::Title(study.experiment.name.clone(), study.experiment.about.clone())];
    blocks.extend(subject.body());
    // Tables of each trial would hide the answer of a large study; `-v` shows them.
    let shows_trials = study.trials.len() == 1 || detail == Detail::Full;
    blocks.extend(
        study.trials.iter().filter(|_| shows_trials).flat_map(|trial| of_trial(study, trial)),
    );
    blocks.extend(notes(study));
    blocks.push(ReportBlock::Heading("Setup".into()));
    blocks.push(ReportBlock::Facts(facts::of(study)));
    blocks.extend(subject.method(study::method(study, analysis)));
    blocks
}

/// Returns the blocks of a study. A study of a single run has those of the run.
pub fn of_study_or_run(study: &Study, analysis: &Analysis, detail: Detail) -> Vec<ReportBlock> {
    let Some(trial) = study.only_run() else { return of_study(study, analysis, detail) };
    let sections = run::of_run(&trial.run, &trial.judgement, detail);
    [head_of_run(study), sections.concat(), tail_of_run(study)].concat()
}

/// Returns the head of the report of an experiment that is one run: the name of its plan.
pub fn head_of_run(study: &Study) -> Vec<ReportBlock> {
    vec![ReportBlock::Title(study.experiment.name.clone(), study.experiment.about.clone())]
}

/// Returns the end of the report of an experiment that is one run: notes, and its id in the store.
pub fn tail_of_run(study: &Study) -> Vec<ReportBlock> {
    let mut blocks = notes(study);
    let stored = study.id.iter().map(|id| Fact::new("Saved", format!("as {id}")));
    blocks.push(ReportBlock::Facts(stored.collect()));
    blocks
}

/// Returns the warnings of an experiment, and a note if trials are missing.
fn notes(study: &Study) -> Vec<ReportBlock> {
    let warnings = study.warnings.iter().map(Text::to_string).chain(facts::unfinished(study));
    section("Notes", warnings.map(ListItem::plain).collect())
}

/// Returns a trial by population, agent, label and transaction, with its failed checks.
fn of_trial(study: &Study, trial: &Trial) -> Vec<ReportBlock> {
    let mut blocks: Vec<ReportBlock> =
        breakdown::all(&trial.run, &trial.judgement, AgentRows::LargestLags)
            .into_iter()
            .map(ReportBlock::Breakdown)
            .collect();
    let failures: Vec<ListItem> =
        breakdown::check_failures(&trial.run).into_iter().map(ListItem::plain).collect();
    blocks.extend(section("Failed checks", failures));
    if study.trials.len() > 1 && !blocks.is_empty() {
        blocks.insert(0, ReportBlock::Heading(trial_name(study, trial)));
    }
    blocks
}

/// Returns the name of a trial, such as `nginx at 300/s, repetition 2`.
pub fn trial_name(study: &Study, trial: &Trial) -> String {
    let experiment = &study.experiment;
    let unit = experiment
        .contenders
        .get(trial.place.contender)
        .map_or(LoadUnit::PerSecond, Contender::unit);
    let load = load_in_words(unit, study::load_of(experiment, trial));
    format!(
        "{} at {load}, repetition {}",
        study::name_of(experiment, trial),
        trial.place.repetition + 1
    )
}

/// Returns the blocks of results from other tools.
pub fn of_observations(observations: &Observations, analysis: &Analysis) -> Vec<ReportBlock> {
    let subject = Subject { analysis, unit: observations.unit, study: None, detail: Detail::Full };
    let title = observations.contenders.join(", ");
    let mut blocks = vec![ReportBlock::Title(
        title,
        format!("{} observations", observations.observations.len()),
    )];
    blocks.extend(subject.body());
    blocks.extend(subject.method(study::of_analysis(analysis)));
    blocks
}

impl Subject<'_> {
    fn body(&self) -> Vec<ReportBlock> {
        let mut blocks = Vec::new();
        if !self.analysis.conclusions.is_empty() {
            blocks.push(ReportBlock::List(items(&self.analysis.conclusions)));
        }
        blocks.extend(section("Findings", items(&self.analysis.findings)));
        // The answer first, then its figures: the reader of a terminal may stop at any section.
        blocks.extend(graph::blocks(self));
        blocks.extend(answers::blocks(self));
        blocks.extend(comparison::by_load(&self.analysis.pairs, self.unit));
        blocks.extend(comparison::blocks(self.analysis.comparison.as_ref(), self.unit));
        // For a search, the trials of each answer already show these figures by load.
        if self.detail == Detail::Full || self.analysis.answers.is_empty() {
            blocks.extend(limits::blocks(self.analysis, self.detail));
            blocks.extend(sweep::blocks(self));
        }
        blocks.extend(self.bottlenecks());
        blocks
    }

    fn method(&self, sentences: Vec<Text>) -> Vec<ReportBlock> {
        let sentences = sentences.into_iter().filter(|_| self.detail == Detail::Full);
        section("Method", sentences.map(ListItem::plain).collect())
    }

    fn bottlenecks(&self) -> Vec<ReportBlock> {
        let bottlenecks = self
            .analysis
            .contenders
            .iter()
            .filter_map(|c| Some((&c.contender, c.bottleneck.as_ref()?)));
        let items: Vec<ListItem> = bottlenecks
            .clone()
            // A conclusion quotes the sentence without its period.
            .filter(|(_, bottleneck)| !self.is_concluded(bottleneck.sentence.trim_end_matches('.')))
            .flat_map(|(name, bottleneck)| bottleneck_items(name, bottleneck))
            .collect();
        let mut blocks = section("Bottleneck", items);
        let rows: Vec<Vec<String>> =
            bottlenecks.flat_map(|(name, bottleneck)| evidence_rows(name, bottleneck)).collect();
        if !rows.is_empty() && self.detail == Detail::Full {
            let head =
                ["Looked at", "source", "figure", "value", "a cause"].map(str::to_owned).to_vec();
            blocks.push(ReportBlock::Table(head, rows));
        }
        blocks
    }

    /// True if a conclusion already contains this sentence.
    fn is_concluded(&self, sentence: &str) -> bool {
        self.analysis.conclusions.iter().any(|conclusion| conclusion.sentence.contains(sentence))
    }
}

fn items(findings: &[Finding]) -> Vec<ListItem> {
    findings.iter().map(finding_item).collect()
}

fn finding_item(finding: &Finding) -> ListItem {
    ListItem {
        mark: if finding.severity == Severity::Warning {
            ListMark::Warning
        } else {
            ListMark::Note
        },
        sentence: finding.sentence.to_string(),
        remedy: finding.remedy.clone().map(String::from),
    }
}

/// Returns a section with its heading; empty if it has no items.
fn section(heading: &str, items: Vec<ListItem>) -> Vec<ReportBlock> {
    if items.is_empty() {
        Vec::new()
    } else {
        vec![ReportBlock::Heading(heading.into()), ReportBlock::List(items)]
    }
}

/// Formats a load: `300/s`, or `300 users`.
fn load_in_words(unit: LoadUnit, load: f64) -> String {
    format!("{}{}", numbers::plain(load), unit.suffix())
}

/// Returns the head of a column of loads.
fn load_head(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::PerSecond => "load, /s",
        LoadUnit::Users { .. } => "users",
    }
}

fn bottleneck_items(name: &str, found: &Bottleneck) -> Vec<ListItem> {
    // Some sentences begin with the contender, which must not be repeated.
    let named = if found.sentence.starts_with(name) { String::new() } else { format!("{name}: ") };
    // If the generator is the bottleneck, the figures do not describe the server.
    let mark =
        if found.culprit == Culprit::Generator { ListMark::Warning } else { ListMark::Plain };
    let first = ListItem { mark, ..ListItem::plain(format!("{named}{}", found.sentence)) };
    let others = found.others.iter().map(|other| ListItem::plain(format!("{name}, also: {other}")));
    [first].into_iter().chain(others).collect()
}

fn evidence_rows(contender: &str, found: &Bottleneck) -> Vec<Vec<String>> {
    found.evidence.iter().map(|reason| evidence_row(contender, reason)).collect()
}

fn evidence_row(contender: &str, reason: &brunt_model::analysis::Reason) -> Vec<String> {
    let side = match reason.side {
        ThresholdSide::AtLeast => "from",
        ThresholdSide::Below => "below",
    };
    let cause = format!("{side} {}", numbers::three_digits(reason.threshold));
    let value = numbers::three_digits(reason.value);
    vec![contender.to_owned(), reason.source.clone(), reason.name.to_string(), value, cause]
}
