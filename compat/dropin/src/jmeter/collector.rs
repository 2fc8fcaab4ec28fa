//! Writes the samples of a JMeter run to result files, to the summariser's lines, and to
//! the tables of the report.

use super::console::{Console, date, now_millis};
use super::listeners::ListenerFile;
use super::settings::JmeterSettings;
use crate::ResultFile;
use crate::error::{ToolError, ToolResult};
use brunt_jmx::statistics::Statistics;
use brunt_jmx::summariser::{Summariser, ThreadCounts};
use brunt_live::LiveOutputs;
use brunt_model::{Event, SampleRecord, Snapshot, TestStage, Tick};
use brunt_runner::EventListener;
use std::path::Path;

/// JMeter class that writes the summariser's lines.
const SUMMARISER: &str = "o.a.j.r.Summariser";
/// JMeter class that starts and ends tests.
const ENGINE: &str = "o.a.j.e.StandardJMeterEngine";

/// The listener of a JMeter run.
pub struct JmeterCollector {
    pub console: Console,
    /// Tables of the report, if one is written at the end.
    pub statistics: Option<Statistics>,
    /// Live outputs of the plan.
    pub live_outputs: LiveOutputs,
    /// Start and end of the test, in milliseconds since 1970.
    pub span: (u64, u64),
    file: Option<ResultFile>,
    listener_files: Vec<(ListenerFile, ResultFile)>,
    summariser: Option<Summary>,
    /// Sum of the peak numbers of threads of all stages, for the last line of the summariser.
    threads: u64,
}

struct Summary {
    name: String,
    sums: Summariser,
    is_shown: bool,
    /// Time of the next line, in milliseconds since 1970.
    next_report: u64,
    threads: ThreadCounts,
}

impl JmeterCollector {
    /// Opens the result files.
    pub fn open(
        settings: &JmeterSettings,
        listeners: Vec<ListenerFile>,
        console: Console,
        stages: &[TestStage],
    ) -> ToolResult<Self> {
        let file = settings.options.result_file.as_deref().map(Path::new);
        let file = file.map(|path| open_result_file(path, &settings.jtl)).transpose()?;
        let listener_files = listeners.into_iter().map(|listener| {
            let file = open_result_file(&listener.path, &listener.settings)?;
            Ok((listener, file))
        });
        let now = now_millis();
        let summariser = settings.summariser().map(|options| {
            let name = options.name.clone();
            let sums = Summariser::new(options, now);
            let next_report = sums.next_report(now);
            Summary {
                name,
                sums,
                is_shown: settings.summariser_shown(),
                next_report,
                threads: ThreadCounts::default(),
            }
        });
        let populations = stages.iter().flat_map(|stage| &stage.plan.populations);
        Ok(Self {
            console,
            statistics: settings
                .options
                .report_at_end
                .then(|| Statistics::new(settings.statistics())),
            live_outputs: LiveOutputs::default(),
            span: (now, now),
            file,
            listener_files: listener_files.collect::<ToolResult<_>>()?,
            summariser,
            threads: populations.map(|population| population.load.peak().ceil() as u64).sum(),
        })
    }

    /// Prints JMeter's lines before the first sample.
    pub fn greet(&mut self, plan: &str) {
        if let Some(summary) = &self.summariser {
            self.console.print(&format!("Creating summariser <{}>", summary.name));
        }
        self.console.print(&format!("Created the tree successfully using {plan}"));
        self.span.0 = now_millis();
        self.console.print(&format!("Starting standalone test @ {}", date(self.span.0)));
        self.console.log(ENGINE, "Running the test!");
    }

    /// Resets the active threads at the start of a stage.
    pub fn begin_stage(&mut self) {
        if let Some(summary) = &mut self.summariser {
            summary.threads.finished = summary.threads.started;
            summary.threads.active = 0;
        }
    }

    /// Ends the test: completes the files and prints the last lines.
    pub fn end(&mut self) {
        self.span.1 = now_millis();
        if let Some(file) = &mut self.file {
            file.finish();
        }
        self.listener_files.iter_mut().for_each(|(_, file)| file.finish());
        if let Some(summary) = &mut self.summariser {
            // Threads that live shorter than an interval are in no snapshot.
            let started = summary.threads.started.max(self.threads);
            let threads = ThreadCounts { active: 0, started, finished: started };
            let lines = summary.sums.finish(self.span.1, threads);
            print_summary(&mut self.console, summary.is_shown, &lines);
        }
        self.console.print(&format!("Tidying up ...    @ {}", date(self.span.1)));
        self.console.log(ENGINE, "Test has ended");
    }

    /// Error that left samples out of a result file.
    pub fn trouble(&self) -> Option<brunt_model::Text> {
        let listener_files = self.listener_files.iter().map(|(_, file)| file);
        self.file.iter().chain(listener_files).find_map(ResultFile::trouble)
    }

    fn add_records(&mut self, records: &[SampleRecord]) {
        if let Some(file) = &mut self.file {
            file.take(records);
        }
        for (listener, file) in &mut self.listener_files {
            let included: Vec<SampleRecord> =
                records.iter().filter(|one| listener.includes(one)).cloned().collect();
            file.take(&included);
        }
        for record in records {
            self.summariser.iter_mut().for_each(|summary| summary.sums.record(record));
            self.statistics.iter_mut().for_each(|statistics| add_to_statistics(statistics, record));
        }
    }

    fn update_threads(&mut self, snapshot: &Snapshot) {
        let Some(summary) = &mut self.summariser else { return };
        let threads = &mut summary.threads;
        let users = snapshot.flow.users;
        threads.started += users.saturating_sub(threads.active);
        threads.active = users;
        threads.finished = threads.started.saturating_sub(users);
        let now = now_millis();
        // By a timer, so that an interval without samples has a line, too.
        if now >= summary.next_report {
            summary.next_report = summary.sums.next_report(now);
            let lines = summary.sums.report(now, summary.threads);
            print_summary(&mut self.console, summary.is_shown, &lines);
        }
    }
}

impl EventListener for JmeterCollector {
    fn on_event(&mut self, event: &Event) {
        self.live_outputs.on_event(event);
        match event {
            Event::Records(records) => self.add_records(records),
            Event::Snapshot(snapshot) => self.update_threads(snapshot),
            _ => {}
        }
    }

    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        self.file.iter_mut().flat_map(|file| file.pending_events(at)).collect()
    }

    fn end(&mut self, at: Tick) -> Vec<Event> {
        let mut events = self.pending_events(at);
        events.extend(self.live_outputs.end(at));
        events
    }
}

fn open_result_file(path: &Path, settings: &brunt_jmx::JtlSettings) -> ToolResult<ResultFile> {
    let wrong = |error| ToolError::new(format!("{}: {error}", path.display()));
    // JMeter, too, creates the folders of -l and of listeners' files.
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(wrong)?;
    ResultFile::open(path, settings.clone()).map_err(wrong)
}

/// Adds a record and its sub-results to the tables: like JMeter's report, which counts all
/// rows of the result file.
fn add_to_statistics(statistics: &mut Statistics, record: &SampleRecord) {
    statistics.record(record);
    record.sub_results.iter().for_each(|sub_result| add_to_statistics(statistics, sub_result));
}

fn print_summary(console: &mut Console, is_shown: bool, lines: &[String]) {
    for line in lines {
        if is_shown {
            console.print(line);
        }
        console.log(SUMMARISER, line);
    }
}
