//! Stores the records of one user until they are complete: open transactions, a page with pending
//! elements, and a request that is repeated with credentials.

use super::number_labels;
use crate::replies::trace;
use crate::texts::context::{UserContext, WorkerContext};
use brunt_model::SampleRecord;
use brunt_model::scenario::{Pauses, TransactionCount};
use brunt_wire::Prepared;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Begin of the message of a page with a failed element, as JMeter words it.
const ELEMENT_FAILED: &str = "Embedded resource download error:";

/// Incomplete records of one user.
pub struct Recording {
    worker: Rc<WorkerContext>,
    /// Number in its population.
    user: u64,
    /// From the outermost to the innermost.
    transactions: Vec<OpenTransaction>,
    /// Suspended transactions, with their suspension keys.
    suspended: Vec<(usize, OpenTransaction)>,
    /// True if the user has reached a sampler, even one without a sample.
    has_sampler: bool,
    /// A page with elements that may still arrive.
    page: Option<SampleRecord>,
    /// A request that was answered by a challenge. It becomes a part of the next one.
    challenged: Option<SampleRecord>,
    /// Labels of the requests that were last sent together.
    together: Vec<(Rc<Prepared>, String)>,
    /// Indices in `together` of the elements that are already in the page.
    places: Vec<usize>,
}

struct OpenTransaction {
    name: Arc<str>,
    pauses: Pauses,
    /// True if its samples are inside it in the records.
    is_parent: bool,
    /// Milliseconds since 1970.
    start: u64,
    /// Sums of its samples.
    sum: SampleRecord,
    /// End of its last sample, in milliseconds since 1970.
    end: u64,
    samples: u32,
    failed: u32,
    /// Number of inner controllers that ended after its last sampler.
    ended: u32,
    has_samples: bool,
    /// True if it was left before its end.
    is_broken: bool,
}

impl Recording {
    /// Creates the recording of a user without samples.
    pub fn new(worker: &Rc<WorkerContext>, user: u64) -> Self {
        Self {
            worker: Rc::clone(worker),
            user,
            transactions: Vec::new(),
            suspended: Vec::new(),
            has_sampler: false,
            page: None,
            challenged: None,
            together: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Begins a transaction. `variables` are its values of variables, if it has no sample.
    pub fn begin_transaction(
        &mut self,
        name: &Arc<str>,
        pauses: Pauses,
        is_parent: bool,
        variables: Vec<String>,
    ) {
        let start = self.worker.run_state.unix_millis();
        self.transactions.push(OpenTransaction {
            name: Arc::clone(name),
            pauses,
            is_parent,
            start,
            sum: SampleRecord { variables, ..SampleRecord::default() },
            end: start,
            samples: 0,
            failed: 0,
            ended: 0,
            has_samples: false,
            is_broken: false,
        });
    }

    /// Ends the innermost transaction.
    pub fn end_transaction(&mut self) {
        let Some(open) = self.transactions.pop() else { return };
        if open.is_parent {
            let record = open.record(&self.worker, self.user);
            self.list(record);
        } else if self.has_sampler {
            // No outer transaction counts it. JMeter does not record it before the first
            // sampler of the thread.
            self.worker.finished.borrow_mut().push(open.record(&self.worker, self.user));
        }
    }

    /// Leaves the innermost transaction before its end. JMeter gives it no code, unless its
    /// samples are inside it.
    pub fn break_transaction(&mut self) {
        self.transactions.iter_mut().next_back().into_iter().for_each(|open| open.is_broken = true);
        self.end_transaction();
    }

    /// Suspends the `count` innermost transactions.
    pub fn suspend_transactions(&mut self, key: usize, count: usize) {
        self.flush();
        let from = self.transactions.len().saturating_sub(count);
        self.suspended.extend(self.transactions.drain(from..).map(|open| (key, open)));
    }

    /// Resumes the transactions with this suspension key.
    pub fn resume_transactions(&mut self, key: usize) {
        let resumed = self.suspended.extract_if(.., |(suspension, _)| *suspension == key);
        self.transactions.extend(resumed.map(|(_, open)| open));
    }

    /// Ends all transactions at the end of an iteration.
    pub fn end_transactions(&mut self) {
        self.flush();
        while !self.transactions.is_empty() {
            self.break_transaction();
        }
    }

    /// Ends all transactions because the user stops. As in JMeter, only those with inner samples
    /// are recorded, before these samples.
    pub fn leave_transactions(&mut self) {
        self.flush();
        while let Some(open) = self.transactions.pop() {
            if open.is_parent {
                let mut sum = open.record(&self.worker, self.user);
                let samples = std::mem::take(&mut sum.sub_results);
                self.list(SampleRecord { message: String::new(), ..sum });
                for sample in samples {
                    self.list(sample);
                }
            }
        }
    }

    /// Records the actions of a traced user after its last sample, in a record without a sample.
    pub fn add_rest(&mut self, user: &UserContext) {
        let tracing = user.tracing.as_deref().map(RefCell::borrow);
        let is_pending =
            tracing.is_some_and(|tracing| tracing.is_pending(&user.variables.borrow()));
        if is_pending {
            let trace = trace::without_exchange(user, None);
            self.worker.finished.borrow_mut().push(SampleRecord {
                success: true,
                trace,
                ..SampleRecord::default()
            });
        }
    }

    /// Notes the requests that are sent together.
    pub fn send_together(&mut self, requests: Vec<(Rc<Prepared>, String)>) {
        self.together = requests;
        self.places.clear();
    }

    /// Returns the label of a request that was sent together with others.
    pub fn label_of(&self, request: &Prepared) -> Option<&str> {
        let entry = self.together.iter().find(|(sent, _)| std::ptr::eq(&raw const **sent, request));
        entry.map(|(_, label)| label.as_str())
    }

    /// Stores the record of a request that was answered by a challenge and is repeated.
    pub fn add_challenged(&mut self, record: SampleRecord) {
        let record = self.with_challenged(record);
        self.challenged = Some(record);
    }

    /// Stores the record of a page with elements that may follow.
    pub fn add_page(&mut self, record: SampleRecord) {
        self.flush_page();
        self.page = Some(self.with_challenged(record));
    }

    /// Adds the page's own request as its first inner sample, because the page has elements.
    pub fn divide_page(&mut self) {
        if let Some(page) = self.page.as_mut().filter(|page| page.sub_results.is_empty()) {
            // Assertions belong to the whole page.
            let success = page.code.parse().is_ok_and(|code: u16| (200..400).contains(&code));
            let alone = SampleRecord {
                assertions: Vec::new(),
                failure_message: None,
                success,
                error_count: u32::from(!success),
                ..page.clone()
            };
            page.sub_results.push(alone);
            number_labels(page);
        }
    }

    /// Adds an element to the page. Elements that were requested at the same time
    /// are in their order.
    pub fn add_element(&mut self, record: SampleRecord, request: &Prepared) {
        let record = self.with_challenged(record);
        let place =
            self.together.iter().position(|(sent, _)| std::ptr::eq(&raw const **sent, request));
        // Elements with a higher index are already in the page.
        let before =
            place.map_or(0, |place| self.places.iter().filter(|other| **other > place).count());
        self.places.extend(place);
        self.divide_page();
        let Some(page) = &mut self.page else { return self.list(record) };
        let end = record.start_unix_millis + record.elapsed_millis;
        page.elapsed_millis = page.elapsed_millis.max(end.saturating_sub(page.start_unix_millis));
        page.bytes += record.bytes;
        page.sent_bytes += record.sent_bytes;
        if !record.success {
            let has_prefix = page.message.starts_with(ELEMENT_FAILED);
            let before = if has_prefix { page.message.as_str() } else { ELEMENT_FAILED };
            let url = record.url.as_deref().unwrap_or_default();
            page.message =
                format!("{before}{url} code:{} message:{}, ", record.code, record.message);
        }
        page.success &= record.success;
        page.error_count = u32::from(!page.success);
        page.sub_results.insert(page.sub_results.len() - before, record);
        number_labels(page);
    }

    /// Adds a sample without further parts.
    pub fn add(&mut self, record: SampleRecord) {
        self.flush_page();
        let record = self.with_challenged(record);
        self.list(record);
    }

    /// Drops a sample that is in no result.
    pub fn ignore(&mut self) {
        self.challenged = None;
        // JMeter counts it in the sample count of the sum, but not in the sums.
        self.count(TransactionCount::Sampler);
    }

    /// Counts an item without a sample in the transactions.
    pub fn count(&mut self, counted: TransactionCount) {
        match counted {
            TransactionCount::Sampler => {
                self.has_sampler = true;
                self.transactions.iter_mut().for_each(OpenTransaction::count_sampler);
            }
            TransactionCount::ControllerEnd => {
                self.transactions.last_mut().into_iter().for_each(|open| open.ended += 1);
            }
        }
    }

    /// Completes the page and the challenged request, because no part of them follows.
    pub fn flush(&mut self) {
        self.flush_page();
        if let Some(record) = self.challenged.take() {
            self.list(record);
        }
    }

    fn flush_page(&mut self) {
        if let Some(page) = self.page.take() {
            self.list(page);
        }
    }

    /// Combines a request with the earlier ones that were answered by a challenge. They are one
    /// sample with the bytes of the last, because JMeter's client sends them as one.
    fn with_challenged(&mut self, mut record: SampleRecord) -> SampleRecord {
        let Some(first) = self.challenged.take() else { return record };
        if let Some(trace) = &mut record.trace {
            trace.challenged.push(first.clone());
        }
        let later = record.start_unix_millis.saturating_sub(first.start_unix_millis);
        SampleRecord {
            start_unix_millis: first.start_unix_millis,
            elapsed_millis: record.elapsed_millis + later,
            latency_millis: record.latency_millis + later,
            connect_millis: first.connect_millis,
            ..record
        }
    }

    /// Adds a sample to the innermost transaction with inner samples, or to the results.
    fn list(&mut self, record: SampleRecord) {
        self.has_sampler |= !record.is_transaction;
        let mut all = self.transactions.iter_mut().rev();
        for open in &mut all {
            open.count(&record);
            if open.is_parent {
                open.sum.sub_results.push(record);
                // JMeter's outer controllers also request the sampler, and then the sum.
                all.for_each(OpenTransaction::count_sampler);
                return;
            }
        }
        self.worker.finished.borrow_mut().push(record);
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.flush();
    }
}

impl OpenTransaction {
    /// Counts the next sampler as JMeter does: its controller requests it once, and once for each
    /// inner controller that ended before. A parent sample counts its samples.
    fn count_sampler(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        self.samples += if self.is_parent { 0 } else { 1 + ended };
    }

    fn count(&mut self, sample: &SampleRecord) {
        self.count_sampler();
        self.samples += u32::from(self.is_parent);
        self.has_samples = true;
        if self.failed == 0 {
            self.sum.code.clone_from(&sample.code);
        }
        self.failed += u32::from(!sample.success);
        self.end =
            self.end.max(sample.start_unix_millis + sample.elapsed_millis + sample.idle_millis);
        let sum = &mut self.sum;
        sum.elapsed_millis += sample.elapsed_millis;
        sum.bytes += sample.bytes;
        sum.sent_bytes += sample.sent_bytes;
        sum.group_threads = sample.group_threads;
        sum.all_threads = sample.all_threads;
        sum.variables.clone_from(&sample.variables);
        if !self.is_parent {
            sum.latency_millis += sample.latency_millis;
            sum.connect_millis += sample.connect_millis;
        }
    }

    fn record(self, worker: &WorkerContext, user: u64) -> SampleRecord {
        let Self {
            name,
            pauses,
            is_parent,
            start,
            sum,
            end,
            samples,
            failed,
            has_samples,
            is_broken,
            ..
        } = self;
        let now = worker.run_state.unix_millis().max(end);
        let (elapsed, idle) = match (pauses, is_parent) {
            (Pauses::Included, true) => (end - start, 0),
            (Pauses::Included, false) => (now - start, 0),
            (Pauses::Excluded, _) => {
                (sum.elapsed_millis, (now - start).saturating_sub(sum.elapsed_millis))
            }
        };
        let code = match (failed, is_parent) {
            (_, false) if is_broken => String::new(),
            (0, _) => "200".into(),
            (_, true) => sum.code.clone(),
            (_, false) => String::new(),
        };
        SampleRecord {
            start_unix_millis: start,
            elapsed_millis: elapsed,
            idle_millis: idle,
            label: name.to_string(),
            code,
            message: format!(
                "Number of samples in transaction : {samples}, number of failing samples : {failed}"
            ),
            // JMeter takes it from the samples.
            thread_name: if has_samples { worker.thread_name(user) } else { String::new() },
            success: failed == 0,
            group_threads: sum.group_threads,
            all_threads: sum.all_threads,
            sample_count: 1,
            error_count: u32::from(failed > 0),
            encoding: super::ENCODING.into(),
            is_transaction: true,
            ..sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// In the second of [`testing::StillRun`].
    const NOW: u64 = 1_780_000_000_123;

    fn sample(label: &str, start: u64, elapsed: u64, success: bool) -> SampleRecord {
        SampleRecord {
            label: label.into(),
            start_unix_millis: NOW + start,
            elapsed_millis: elapsed,
            latency_millis: 2,
            connect_millis: 1,
            bytes: 100,
            code: if success { "200" } else { "500" }.into(),
            success,
            group_threads: 7,
            ..SampleRecord::default()
        }
    }

    fn recording() -> Recording {
        Recording::new(&testing::user().worker, 2)
    }

    /// Label, parts, start, elapsed, idle, code and message of a record.
    fn line_of(record: &SampleRecord) -> String {
        let parts: Vec<&str> = record.sub_results.iter().map(|part| part.label.as_str()).collect();
        let SampleRecord { label, elapsed_millis, idle_millis, code, message, .. } = record;
        let start = record.start_unix_millis - NOW;
        format!(
            "{label}({}) {start}+{elapsed_millis} idle {idle_millis} {code} {message}",
            parts.join(" ")
        )
    }

    /// Lines of all completed records.
    fn lines_of(recording: &Recording) -> Vec<String> {
        recording.worker.finished.borrow_mut().drain(..).map(|record| line_of(&record)).collect()
    }

    #[test]
    fn a_transaction_follows_its_samples() {
        let mut recording = recording();
        recording.begin_transaction(&"t".into(), Pauses::Excluded, false, Vec::new());
        recording.begin_transaction(&"inner".into(), Pauses::Included, false, Vec::new());
        recording.add(sample("a", 10, 20, true));
        recording.end_transaction();
        recording.add(sample("b", 50, 5, false));
        recording.ignore();
        recording.end_transaction();
        let summary = |n, failed| {
            format!("Number of samples in transaction : {n}, number of failing samples : {failed}")
        };
        assert_eq!(
            lines_of(&recording),
            [
                "a() 10+20 idle 0 200 ".to_owned(),
                format!("inner() 0+30 idle 0 200 {}", summary(1, 0)),
                "b() 50+5 idle 0 500 ".to_owned(),
                format!("t() 0+25 idle 30  {}", summary(3, 1)),
            ]
        );
    }

    #[test]
    fn samples_may_be_listed_within_a_transaction() {
        let mut recording = recording();
        recording.begin_transaction(&"outer".into(), Pauses::Excluded, false, Vec::new());
        recording.begin_transaction(&"t".into(), Pauses::Included, true, Vec::new());
        recording.begin_transaction(&"in".into(), Pauses::Included, false, Vec::new());
        recording.add(sample("a", 10, 20, false));
        recording.end_transaction();
        recording.add(sample("b", 50, 5, true));
        recording.end_transaction();
        recording.end_transaction();
        let summary = |n, failed| {
            format!("Number of samples in transaction : {n}, number of failing samples : {failed}")
        };
        assert_eq!(
            lines_of(&recording),
            [
                format!("in() 0+30 idle 0  {}", summary(1, 1)),
                format!("t(a b) 0+55 idle 0 500 {}", summary(2, 1)),
                // JMeter's controller asks for both samples, and then for their sum.
                format!("outer() 0+55 idle 0  {}", summary(3, 1)),
            ]
        );
    }

    #[test]
    fn elements_are_listed_within_their_page() {
        let mut recording = recording();
        recording.add_page(sample("page", 0, 10, true));
        recording.add_element(sample("page", 10, 5, true), &Prepared::default());
        recording.add_element(sample("page", 15, 5, false), &Prepared::default());
        assert_eq!(lines_of(&recording), Vec::<String>::new());
        recording.flush();
        assert_eq!(
            lines_of(&recording),
            [
                "page(page-0 page-1 page-2) 0+20 idle 0 200 Embedded resource download error: code:500 message:, "
            ]
        );
        recording.add_page(sample("bare", 0, 10, true));
        recording.add(sample("next", 20, 5, true));
        assert_eq!(lines_of(&recording), ["bare() 0+10 idle 0 200 ", "next() 20+5 idle 0 200 "]);
    }

    #[test]
    fn a_request_that_is_repeated_with_credentials_is_one_sample() {
        let mut recording = recording();
        recording.add_challenged(sample("a", 0, 10, false));
        recording.add(sample("a", 12, 5, true));
        assert_eq!(lines_of(&recording), ["a() 0+17 idle 0 200 "]);
    }
}
