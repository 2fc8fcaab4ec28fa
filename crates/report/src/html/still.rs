//! Writes the part of the page that needs no script: verdict and headline as
//! tiles, errors, findings, charts.
//!
//! The page's script moves the overview to its place, and replaces the charts by zoomable ones.

use crate::agents::AgentRows;
use crate::breakdown::{self, Breakdown, LabelChoice, LabelOrder};
use crate::figures::{interval, response_quantile, time_interval, with_both_ends};
use crate::outline::block::{ListItem, ListMark, OutcomeRow, Remark};
use crate::outline::run::{RunReport, notes, outcomes, verdict};
use crate::subset::{RunSubset, SubsetKind};
use crate::texts::message;
use crate::view::Detail;
use crate::xml::escaped;
use crate::{panels, svg};
use brunt_model::finding::Severity;
use brunt_model::numbers::{count, fraction, three_digits};
use brunt_model::run::iterations::Iterations;
use brunt_model::{Analysis, Finding, Judgement, Language, Run, Study, Text};

/// Field of the form of a table of labels with their order.
pub const ORDER: &str = "labels";
/// Field of this form with the text to find.
pub const SEARCH: &str = "label-search";

/// The table of labels of a page that a server makes: the reader chooses its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelTable {
    /// The rows.
    pub choice: LabelChoice,
    /// Address of the page, without fields.
    pub action: String,
    /// Other fields of the address.
    pub fields: Vec<(String, String)>,
}

/// Verdict, objectives, tiles, errors and tables of a run.
pub struct Overview<'a> {
    pub run: &'a Run,
    pub judgement: &'a Judgement,
    /// Returns the address of the page of a subset; None: the tables have no links.
    pub address: Option<&'a dyn Fn(&RunSubset) -> String>,
    /// The table of labels of a server; None: all labels, without a form.
    pub labels: Option<&'a LabelTable>,
    /// Maximum number of rows of a table of parts; None for all.
    pub most_rows: Option<usize>,
    pub language: Language,
}

impl Overview<'_> {
    /// Returns the element.
    pub fn html(&self) -> String {
        let Self { run, judgement, language, .. } = *self;
        let report = RunReport { run, judgement, detail: Detail::Brief };
        let tables = errors(run, language) + &check_failures(run, language) + &self.breakdowns();
        let banner = banner(&report, language);
        let tiles = tiles(run, judgement, language);
        let objectives = objectives(&report);
        format!("<div id=\"overview\">\n{banner}{objectives}{tiles}{tables}</div>\n")
    }

    /// Returns the tables of a run by population, agent, label and transaction.
    fn breakdowns(&self) -> String {
        let all = breakdown::all(self.run, self.judgement, AgentRows::All);
        let tables = all.iter().map(|breakdown| match (self.labels, breakdown.kind) {
            (Some(table), Some(SubsetKind::Label)) => {
                let chosen = breakdown::chosen_labels(self.run, &table.choice);
                self.label_form(table) + &self.breakdown_table(&chosen)
            }
            _ => self.breakdown_table(breakdown),
        });
        tables.collect()
    }

    /// Returns the form that chooses the labels of the table, and their order.
    fn label_form(&self, table: &LabelTable) -> String {
        let text = |message: Text| escaped(&message.in_language(self.language));
        let hidden = table.fields.iter().map(|(name, value)| {
            format!(
                "<input type=\"hidden\" name=\"{}\" value=\"{}\">",
                escaped(name),
                escaped(value)
            )
        });
        let options = LabelOrder::ALL.iter().map(|order| {
            let word = order.word();
            let selected = if *order == table.choice.order { " selected" } else { "" };
            let name = text(message!("labels.by", order = word));
            format!("<option value=\"{word}\"{selected}>{name}</option>")
        });
        format!(
            "<form class=\"filter\" action=\"{}\" method=\"get\">{}<label>{} <select name=\"{ORDER}\">{}</select></label> \
             <label>{} <input type=\"search\" name=\"{SEARCH}\" value=\"{}\"></label> <button>{}</button></form>\n",
            escaped(&table.action),
            hidden.collect::<String>(),
            text(message!("labels.order")),
            options.collect::<String>(),
            text(message!("labels.search")),
            escaped(&table.choice.search),
            text(message!("labels.show")),
        )
    }

    fn breakdown_table(&self, breakdown: &Breakdown) -> String {
        let (head, rows) = breakdown.cells(self.language);
        let (count, most) = (rows.len(), self.most_rows.unwrap_or(usize::MAX));
        let rows = rows.into_iter().take(most).map(|row| {
            let name = row.first().map_or("", String::as_str);
            let address = self.address.and_then(|address| Some(address(&breakdown.subset(name)?)));
            let linked = address.map(|address| {
                format!("<td><a href=\"{}\">{}</a></td>", escaped(&address), escaped(name))
            });
            let first = linked.unwrap_or_else(|| cell("td", name));
            format!("{first}{}", cells("td", row.get(1..).unwrap_or_default()))
        });
        let more = count.saturating_sub(most);
        let more = if more > 0 {
            let more = message!("table.more-rows", count = more);
            format!("<p class=\"hint\">{}</p>\n", more.in_language(self.language))
        } else {
            String::new()
        };
        table_of(&head[0], &head, rows) + &more
    }
}

/// Returns findings, and charts if wanted.
pub fn study(study: &Study, analysis: &Analysis, has_charts: bool, language: Language) -> String {
    let findings = conclusions(&analysis.conclusions)
        + &findings(&analysis.findings, &study.warnings, language);
    if has_charts { findings + &charts(study, analysis, language) } else { findings }
}

fn charts(study: &Study, analysis: &Analysis, language: Language) -> String {
    let has_one_trial = study.trials.len() == 1;
    let mut figures = panels::figures(study, analysis);
    for figure in &mut figures {
        figure.translate(language);
    }
    // Charts of single trials would make the page of a large study very long.
    let figures = figures.iter().filter(|figure| has_one_trial || figure.trial.is_none());
    let charts: String = figures.filter_map(svg::of_figure).map(|svg| svg + "\n").collect();
    format!("<div class=\"still-charts\">\n{charts}</div>\n")
}

/// Returns the verdict with its reasons, as the outline has them.
fn banner(report: &RunReport, language: Language) -> String {
    let state = report.judgement.verdict.state.key();
    let fact = verdict::fact(report);
    let words = fact.lines.iter().flat_map(|line| &line.0).map(|(emphasis, text)| {
        let text = escaped(&text.in_language(language));
        match emphasis {
            Some(_) => format!("<strong class=\"state {state}\">{text}</strong>"),
            None => text,
        }
    });
    let reasons: String = fact.remarks.iter().map(|one| remark(one, language)).collect();
    let list = if reasons.is_empty() { reasons } else { format!("<ul>{reasons}</ul>") };
    format!(
        "<div class=\"banner {state}\" role=\"note\" aria-label=\"{}\"><p>{}</p>{list}</div>\n",
        fact.key.in_language(language),
        words.collect::<String>(),
    )
}

fn remark(remark: &Remark, language: Language) -> String {
    match remark {
        Remark::Remedy(remedy) => {
            format!("<li>{}</li>", with_remedy("", Some(&remedy.in_language(language))))
        }
        Remark::Reason(text) | Remark::Evidence(text) | Remark::Unseen(text) => {
            format!("<li>{}</li>", escaped(&text.in_language(language)))
        }
    }
}

fn with_remedy(sentence: &str, remedy: Option<&str>) -> String {
    let remedy = remedy.map_or(String::new(), |remedy| {
        format!(" <span class=\"remedy\">{}</span>", escaped(remedy))
    });
    escaped(sentence) + &remedy
}

fn tiles(run: &Run, judgement: &Judgement, language: Language) -> String {
    let t = &run.total;
    let ends = judgement.throughput.and_then(|t| Some((t.low, t.high?)));
    let rate_interval = ends.map_or(String::new(), interval);
    let mut tiles = vec![tile(
        &message!("chart.throughput").in_language(language),
        &format!("{} /s", three_digits(run.throughput())),
        &rate_interval,
        "",
    )];
    for (name, q) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        let ends = with_both_ends(run, judgement, q);
        let ends = ends.map_or(String::new(), |(value, ends)| time_interval(value, ends));
        tiles.push(tile(name, &response_quantile(t, q), &ends, ""));
    }
    let counts = message!("tile.errors-of", errors = count(t.errors()), all = count(t.ended()));
    tiles.push(tile(
        &message!("chart.errors").in_language(language),
        &fraction(t.error_share()),
        &counts.in_language(language),
        if t.errors() > 0 { "bad" } else { "" },
    ));
    tiles.extend(iterations(run, language));
    format!("<dl class=\"tiles\">{}</dl>\n", tiles.concat())
}

/// Returns the tile of the iterations; None if each iteration is one request.
fn iterations(run: &Run, language: Language) -> Option<String> {
    let Iterations { planned, done, failed, .. } = run.iterations()?;
    let done_text = match planned {
        Some(planned) => {
            message!("tile.iterations-of-planned", done = count(done), planned = count(planned))
        }
        None => message!("tile.iterations-done", done = count(done)),
    };
    let about = match failed {
        0 => done_text,
        _ => message!("tile.iterations-failed", done = done_text, failed = count(failed)),
    };
    Some(tile(
        &message!("tile.iterations").in_language(language),
        &format!("{} /s", three_digits(run.per_second(done))),
        &about.in_language(language),
        "",
    ))
}

fn tile(name: &str, figure: &str, about: &str, class: &str) -> String {
    format!(
        "<div class=\"tile {class}\"><dt>{}</dt><dd>{}</dd><dd class=\"about\">{}</dd></div>",
        escaped(name),
        escaped(figure),
        escaped(about)
    )
}

/// Returns each objective with its value, missed ones first; empty without objectives.
fn objectives(report: &RunReport) -> String {
    let items: String = notes::objective_items(report).iter().map(objective).collect();
    if items.is_empty() { items } else { format!("<ul class=\"objectives\">{items}</ul>\n") }
}

fn objective(item: &ListItem) -> String {
    let (class, mark) = if item.mark == ListMark::Met { ("good", "✓") } else { ("bad", "✗") };
    format!("<li class=\"{class}\">{mark} {}</li>", escaped(&item.sentence))
}

/// Returns a table of statuses and failures; empty if no request failed.
fn errors(run: &Run, language: Language) -> String {
    if run.total.errors() == 0 {
        return String::new();
    }
    let rows = outcomes::rows(&run.total, outcomes::meaning);
    table(
        &message!("table.outcomes").in_language(language),
        &OutcomeRow::head().map(|head| head.in_language(language).into_owned()),
        rows.iter().map(|row| row.cells(language)),
    )
}

/// Returns the list of failed checks; empty if there are none.
fn check_failures(run: &Run, language: Language) -> String {
    let items: Vec<String> = breakdown::check_failures(run)
        .iter()
        .map(|sentence| escaped(&sentence.in_language(language)))
        .collect();
    if items.is_empty() {
        return String::new();
    }
    let heading = message!("table.failed-checks");
    let heading = heading.in_language(language);
    format!("<h3>{heading}</h3>\n<ul><li>{}</li></ul>\n", items.join("</li>\n<li>"))
}

/// Returns a table in a region that can be scrolled and focused, for narrow screens and keyboards.
pub fn table(caption: &str, head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    table_of(caption, head, rows.map(|row| cells("td", &row)))
}

/// Returns a table of rows that are HTML.
fn table_of(caption: &str, head: &[String], rows: impl Iterator<Item = String>) -> String {
    let rows = rows.map(|row| format!("<tr>{row}</tr>")).collect::<Vec<_>>().concat();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\"><table><caption class=\"sr\">{caption}\
         </caption><thead><tr>{}</tr></thead><tbody>{rows}</tbody></table></div>\n",
        cells("th", head)
    )
}

fn cells(tag: &str, cells: &[String]) -> String {
    cells.iter().map(|text| cell(tag, text)).collect()
}

fn cell(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>", escaped(text))
}

fn conclusions(conclusions: &[Finding]) -> String {
    conclusions.iter().map(conclusion).collect()
}

fn conclusion(conclusion: &Finding) -> String {
    format!(
        "<p class=\"conclusion\">{}</p>\n",
        with_remedy(&conclusion.sentence, conclusion.remedy.as_deref())
    )
}

fn findings(findings: &[Finding], warnings: &[Text], language: Language) -> String {
    let warnings = warnings.iter().map(|warning| {
        let warning = warning.in_language(language);
        format!("<li class=\"warning\">{}</li>\n", escaped(&warning))
    });
    let items: String = findings.iter().map(finding).chain(warnings).collect();
    if items.is_empty() {
        items
    } else {
        let heading = message!("findings");
        let heading = heading.in_language(language);
        format!("<h2>{heading}</h2>\n<ul class=\"findings\">{items}</ul>\n")
    }
}

fn finding(finding: &Finding) -> String {
    let class = if finding.severity == Severity::Warning { "warning" } else { "note" };
    format!(
        "<li class=\"{class}\">{}</li>\n",
        with_remedy(&finding.sentence, finding.remedy.as_deref())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story;
    use brunt_model::finding::{ConsistencyCheck, State, Verdict};

    #[test]
    fn the_verdict_of_an_invalid_run_has_its_reason() {
        let check = ConsistencyCheck {
            name: "begun requests".into(),
            holds: false,
            arithmetic: "10 = 8 + 1 <1>".into(),
        };
        let verdict = Verdict { state: State::Invalid, ..Verdict::default() };
        let judgement = Judgement { verdict, checks: vec![check], ..Judgement::default() };
        let run = story::overloaded().run();
        let html = Overview {
            run: &run,
            judgement: &judgement,
            address: None,
            labels: None,
            most_rows: None,
            language: Language::English,
        }
        .html();
        let (banner, tiles) = html.split_once("<dl").unwrap();
        assert!(
            banner.contains("INVALID") && banner.contains("begun requests: 10 = 8 + 1 &lt;1&gt;"),
            "{banner}"
        );
        for name in ["Throughput", "p50", "p95", "p99", "Errors"] {
            assert!(tiles.contains(&format!("<dt>{name}</dt>")), "{name} in {tiles}");
        }
        assert!(tiles.contains("<td>dropped</td><td>80</td><td>4.00 %</td>"), "{tiles}");
    }

    #[test]
    fn an_unjudged_run_has_a_banner() {
        let run = story::closed().run();
        let html = Overview {
            run: &run,
            judgement: &Judgement::default(),
            address: None,
            labels: None,
            most_rows: None,
            language: Language::English,
        }
        .html();
        assert!(
            html.contains("<strong class=\"state ok\">OK</strong>: the load generator"),
            "{html}"
        );
    }

    #[test]
    fn charts_have_names_without_a_script() {
        let (study, analysis) =
            crate::single::study_of(&story::closed().run(), &Judgement::default());
        let html = super::study(&study, &analysis, true, Language::English);
        let charts = html.matches("<svg").count();
        assert!(charts > 3, "{charts}");
        assert_eq!(
            (html.matches("role=\"img\"").count(), html.matches("</title>").count()),
            (charts, charts)
        );
    }
}
