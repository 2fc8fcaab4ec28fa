//! Where a test is heard while it goes on: samples go to result files, to the lines of the summariser, and to the tables of the
//! report.

use super::console::{Console, date, now_millis};
use super::listeners::ListenerFile;
use super::settings::Settings;
use crate::error::{Result, ToolError};
use brunt_jmx::statistics::Statistics;
use brunt_jmx::summariser::{Summariser, ThreadCounts};
use brunt_model::{Event, SampleRecord, Snapshot, TestStage, Tick};
use brunt_runner::{Listen, LiveOutputs, ResultFile};
use std::path::Path;

/// JMeter's class that writes the lines of the summariser.
const SUMMARISER: &str = "o.a.j.r.Summariser";
/// And the one that begins and ends tests.
const ENGINE: &str = "o.a.j.e.StandardJMeterEngine";

/// What hears a test.
pub struct SampleCollector {
    /// Its lines.
    pub console: Console,
    /// The tables of the report; None: there is none.
    pub statistics: Option<Statistics>,
    /// Systems that receive figures while it runs.
    pub live_outputs: LiveOutputs,
    /// Start and end of the test, milliseconds since 1970.
    pub span: (u64, u64),
    file: Option<ResultFile>,
    others: Vec<(ListenerFile, ResultFile)>,
    summariser: Option<Summary>,
    /// Threads that the stages have, for the end.
    threads: u64,
}

/// The summariser, and what it knows of threads.
struct Summary {
    name: String,
    sums: Summariser,
    shown: bool,
    /// Milliseconds since 1970.
    next: u64,
    threads: ThreadCounts,
}

impl SampleCollector {
    /// Opens the files.
    pub fn open(
        settings: &Settings,
        listeners: Vec<ListenerFile>,
        console: Console,
        stages: &[TestStage],
    ) -> Result<Self> {
        let opened = |path: &Path, settings: &brunt_jmx::JtlSettings| {
            let wrong = |error| ToolError::new(format!("{}: {error}", path.display()));
            // As JMeter does for listeners and for -l.
            path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(wrong)?;
            ResultFile::open(path, settings.clone()).map_err(wrong)
        };
        let file = settings.options.result_file.as_deref().map(Path::new);
        let file = file.map(|path| opened(path, &settings.jtl)).transpose()?;
        let others = listeners.into_iter().map(|listener| {
            let file = opened(&listener.path, &listener.settings)?;
            Ok((listener, file))
        });
        let now = now_millis();
        let summariser = settings.summariser().map(|told| {
            let name = told.name.clone();
            let sums = Summariser::new(told, now);
            let next = sums.next_report(now);
            Summary { name, sums, shown: settings.summariser_shown(), next, threads: ThreadCounts::default() }
        });
        let populations = stages.iter().flat_map(|stage| &stage.plan.populations);
        Ok(Self {
            console,
            statistics: settings.options.report_at_end.then(|| Statistics::new(settings.statistics())),
            live_outputs: LiveOutputs::default(),
            span: (now, now),
            file,
            others: others.collect::<Result<_>>()?,
            summariser,
            threads: populations.map(|population| population.load.peak().ceil() as u64).sum(),
        })
    }

    /// What JMeter says before the first sample.
    pub fn greet(&mut self, plan: &str) {
        if let Some(summary) = &self.summariser {
            self.console.say(&format!("Creating summariser <{}>", summary.name));
        }
        self.console.say(&format!("Created the tree successfully using {plan}"));
        self.span.0 = now_millis();
        self.console.say(&format!("Starting standalone test @ {}", date(self.span.0)));
        self.console.log(ENGINE, "Running the test!");
    }

    /// Thread groups begin.
    pub fn begin_stage(&mut self) {
        if let Some(summary) = &mut self.summariser {
            summary.threads.finished = summary.threads.started;
            summary.threads.active = 0;
        }
    }

    /// The test is over.
    pub fn end(&mut self) {
        self.span.1 = now_millis();
        if let Some(file) = &mut self.file {
            file.finish();
        }
        self.others.iter_mut().for_each(|(_, file)| file.finish());
        if let Some(summary) = &mut self.summariser {
            let started = summary.threads.started.max(self.threads);
            let threads = ThreadCounts { active: 0, started, finished: started };
            let lines = summary.sums.finish(self.span.1, threads);
            tell(&mut self.console, summary.shown, &lines);
        }
        self.console.say(&format!("Tidying up ...    @ {}", date(self.span.1)));
        self.console.log(ENGINE, "Test has ended");
    }

    /// Why samples are missing in a result file.
    pub fn trouble(&self) -> Option<String> {
        let others = self.others.iter().map(|(_, file)| file);
        self.file.iter().chain(others).find_map(ResultFile::trouble)
    }

    fn take(&mut self, records: &[SampleRecord]) {
        if let Some(file) = &mut self.file {
            file.take(records);
        }
        for (listener, file) in &mut self.others {
            let wanted: Vec<SampleRecord> = records.iter().filter(|one| listener.wants(one)).cloned().collect();
            file.take(&wanted);
        }
        for record in records {
            self.summariser.iter_mut().for_each(|summary| summary.sums.record(record));
            self.statistics.iter_mut().for_each(|statistics| count(statistics, record));
        }
    }

    fn look(&mut self, snapshot: &Snapshot) {
        let Some(summary) = &mut self.summariser else { return };
        let (threads, users) = (&mut summary.threads, snapshot.flow.users);
        threads.started += users.saturating_sub(threads.active);
        threads.active = users;
        threads.finished = threads.started.saturating_sub(users);
        let now = now_millis();
        if now >= summary.next {
            summary.next = summary.sums.next_report(now);
            let lines = summary.sums.report(now, summary.threads);
            tell(&mut self.console, summary.shown, &lines);
        }
    }
}

impl Listen for SampleCollector {
    fn hear(&mut self, event: &Event) {
        self.live_outputs.hear(event);
        match event {
            Event::Records(records) => self.take(records),
            Event::Snapshot(snapshot) => self.look(snapshot),
            _ => {}
        }
    }

    fn add(&mut self, at: Tick) -> Vec<Event> {
        self.file.iter_mut().flat_map(|file| file.add(at)).collect()
    }

    fn end(&mut self, at: Tick) -> Vec<Event> {
        let mut last = self.add(at);
        last.extend(self.live_outputs.end(at));
        last
    }
}

/// The report counts the rows of the result file: samples within samples, too.
fn count(statistics: &mut Statistics, record: &SampleRecord) {
    statistics.record(record);
    record.sub_results.iter().for_each(|within| count(statistics, within));
}

fn tell(console: &mut Console, shown: bool, lines: &[String]) {
    for line in lines {
        if shown {
            console.say(line);
        }
        console.log(SUMMARISER, line);
    }
}
