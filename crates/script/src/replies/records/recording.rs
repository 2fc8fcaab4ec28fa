//! What the records of one user are made of before they are finished: transactions that are under way, a page whose elements
//! are still to come, a request that is repeated with credentials.

use super::number_labels;
use crate::replies::trace;
use crate::texts::context::{UserContext, WorkerContext};
use crate::texts::tracing::Tracing;
use brunt_model::SampleRecord;
use brunt_model::scenario::{Counted, Pauses};
use brunt_wire::Prepared;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// What the message of a page begins with where one of its elements failed.
const ELEMENT_FAILED: &str = "Embedded resource download error:";

/// What one user's records are made of before they are finished.
pub struct Recording {
    worker: Rc<WorkerContext>,
    /// Its number in its population.
    user: u64,
    /// The innermost is the last.
    transactions: Vec<OpenTransaction>,
    /// Those that rest, by the number under which they do.
    suspended: Vec<(usize, OpenTransaction)>,
    /// It has come to a sampler, be it one without a sample.
    has_sampler: bool,
    /// A page whose elements may still come.
    page: Option<SampleRecord>,
    /// A request whose reply asked for credentials: it becomes a part of the next.
    challenged: Option<SampleRecord>,
    /// Labels of the requests that were sent together last.
    together: Vec<(Rc<Prepared>, String)>,
    /// Which of them are listed within the page.
    places: Vec<usize>,
}

struct OpenTransaction {
    name: Arc<str>,
    pauses: Pauses,
    /// Its samples are listed within it.
    is_parent: bool,
    /// Milliseconds since 1970.
    start: u64,
    /// The sums of its samples.
    sum: SampleRecord,
    /// When the last of its samples ended, milliseconds since 1970.
    end: u64,
    samples: u32,
    failed: u32,
    /// Controllers within it that ended, behind its last sampler.
    ended: u32,
    /// It has had a sample.
    has_samples: bool,
    /// It was left before its end.
    is_broken: bool,
}

impl Recording {
    /// The user of this number has no samples.
    pub fn new(worker: &Rc<WorkerContext>, user: u64) -> Self {
        let (transactions, together) = (Vec::new(), Vec::new());
        Self {
            worker: Rc::clone(worker),
            user,
            transactions,
            suspended: Vec::new(),
            has_sampler: false,
            page: None,
            challenged: None,
            together,
            places: Vec::new(),
        }
    }

    /// Steps begin that are listed together, with these values of variables where they have no sample.
    pub fn begin_transaction(&mut self, name: &Arc<str>, pauses: Pauses, is_parent: bool, variables: Vec<String>) {
        let start = self.worker.surroundings.unix_millis();
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

    /// The steps of the innermost transaction are over.
    pub fn end_transaction(&mut self) {
        let Some(open) = self.transactions.pop() else { return };
        if open.is_parent {
            let record = open.record(&self.worker, self.user);
            self.list(record);
        } else if self.has_sampler {
            // No transaction around it counts it. JMeter cannot record it before the first sampler of the thread.
            self.worker.finished.borrow_mut().push(open.record(&self.worker, self.user));
        }
    }

    /// The innermost transaction is left before its end: JMeter gives it no code, unless it lists its samples within it.
    pub fn break_transaction(&mut self) {
        self.transactions.iter_mut().next_back().into_iter().for_each(|open| open.is_broken = true);
        self.end_transaction();
    }

    /// The innermost transactions rest, so many, under this number.
    pub fn suspend_transactions(&mut self, key: usize, count: usize) {
        self.flush();
        let from = self.transactions.len().saturating_sub(count);
        self.suspended.extend(self.transactions.drain(from..).map(|open| (key, open)));
    }

    /// Those that rest under this number go on.
    pub fn resume_transactions(&mut self, key: usize) {
        let resumed = self.suspended.extract_if(.., |(under, _)| *under == key);
        self.transactions.extend(resumed.map(|(_, open)| open));
    }

    /// The iteration is over.
    pub fn end_transactions(&mut self) {
        self.flush();
        while !self.transactions.is_empty() {
            self.break_transaction();
        }
    }

    /// The user stops within them. As in JMeter, only those that list their samples within them are listed, before these samples.
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

    /// What its user did behind its last sample, where it is traced: a record that stands for no sample.
    pub fn add_rest(&mut self, user: &UserContext) {
        let is_pending = |tracing: &RefCell<Tracing>| tracing.borrow().is_pending(&user.variables.borrow());
        if user.tracing.as_deref().is_some_and(is_pending) {
            let trace = trace::without_exchange(user, None);
            self.worker.finished.borrow_mut().push(SampleRecord { success: true, trace, ..SampleRecord::default() });
        }
    }

    /// These requests are sent together.
    pub fn send_together(&mut self, requests: Vec<(Rc<Prepared>, String)>) {
        self.together = requests;
        self.places.clear();
    }

    /// The label of a request that was sent together with others.
    pub fn label_of(&self, request: &Prepared) -> Option<&str> {
        let found = self.together.iter().find(|(sent, _)| std::ptr::eq(&raw const **sent, request));
        found.map(|(_, label)| label.as_str())
    }

    /// A request ended whose reply asks for credentials, and it is repeated.
    pub fn add_challenged(&mut self, record: SampleRecord) {
        let record = self.with_challenged(record);
        self.challenged = Some(record);
    }

    /// A page came whose elements may follow.
    pub fn add_page(&mut self, record: SampleRecord) {
        self.flush_page();
        self.page = Some(self.with_challenged(record));
    }

    /// The page has elements: its own request becomes the first sample within it.
    pub fn divide_page(&mut self) {
        if let Some(page) = self.page.as_mut().filter(|page| page.sub_results.is_empty()) {
            // Assertions are those of the whole page.
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

    /// An element of the page came; those that were asked for at the same time are listed in their order.
    pub fn add_element(&mut self, record: SampleRecord, request: &Prepared) {
        let record = self.with_challenged(record);
        let place = self.together.iter().position(|(sent, _)| std::ptr::eq(&raw const **sent, request));
        let before = place.map_or(0, |place| self.places.iter().filter(|other| **other > place).count());
        self.places.extend(place);
        self.divide_page();
        let Some(page) = &mut self.page else { return self.list(record) };
        let end = record.start_unix_millis + record.elapsed_millis;
        page.elapsed_millis = page.elapsed_millis.max(end.saturating_sub(page.start_unix_millis));
        page.bytes += record.bytes;
        page.sent_bytes += record.sent_bytes;
        if !record.success {
            let told = page.message.starts_with(ELEMENT_FAILED);
            let before = if told { page.message.as_str() } else { ELEMENT_FAILED };
            let url = record.url.as_deref().unwrap_or_default();
            page.message = format!("{before}{url} code:{} message:{}, ", record.code, record.message);
        }
        page.success &= record.success;
        page.error_count = u32::from(!page.success);
        page.sub_results.insert(page.sub_results.len() - before, record);
        number_labels(page);
    }

    /// A sample ended; no other is a part of it.
    pub fn add(&mut self, record: SampleRecord) {
        self.flush_page();
        let record = self.with_challenged(record);
        self.list(record);
    }

    /// A sample ended that is in no result.
    pub fn ignore(&mut self) {
        self.challenged = None;
        // JMeter counts it in the sum, and not in what it is a sum of.
        self.count(Counted::Sampler);
    }

    /// Transactions count one more without a sample.
    pub fn count(&mut self, counted: Counted) {
        match counted {
            Counted::Sampler => {
                self.has_sampler = true;
                self.transactions.iter_mut().for_each(OpenTransaction::count_sampler);
            }
            Counted::ControllerEnd => self.transactions.last_mut().into_iter().for_each(|open| open.ended += 1),
        }
    }

    /// No element of the page follows, and no repetition.
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

    /// A request with those before it that were answered by a challenge: one sample with the bytes of the last, as JMeter's client does both at once.
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

    /// Lists a sample within the innermost transaction that lists its samples so, or by itself.
    fn list(&mut self, record: SampleRecord) {
        self.has_sampler |= !record.is_transaction;
        let mut all = self.transactions.iter_mut().rev();
        for open in &mut all {
            open.count(&record);
            if open.is_parent {
                open.sum.sub_results.push(record);
                // JMeter's controllers around it have asked for the sampler, too, and will for the sum.
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
    /// A sampler is next: JMeter's controller has asked once for it, and once for each controller that ended before it. A parent
    /// sample counts its samples.
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
        self.end = self.end.max(sample.start_unix_millis + sample.elapsed_millis + sample.idle_millis);
        let sum = &mut self.sum;
        sum.elapsed_millis += sample.elapsed_millis;
        sum.bytes += sample.bytes;
        sum.sent_bytes += sample.sent_bytes;
        (sum.group_threads, sum.all_threads) = (sample.group_threads, sample.all_threads);
        sum.variables.clone_from(&sample.variables);
        if !self.is_parent {
            sum.latency_millis += sample.latency_millis;
            sum.connect_millis += sample.connect_millis;
        }
    }

    fn record(self, worker: &WorkerContext, user: u64) -> SampleRecord {
        let Self { name, pauses, is_parent, start, sum, end, samples, failed, has_samples, is_broken, .. } = self;
        let now = worker.surroundings.unix_millis().max(end);
        let (elapsed, idle) = match (pauses, is_parent) {
            (Pauses::Included, true) => (end - start, 0),
            (Pauses::Included, false) => (now - start, 0),
            (Pauses::Excluded, _) => (sum.elapsed_millis, (now - start).saturating_sub(sum.elapsed_millis)),
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
            message: format!("Number of samples in transaction : {samples}, number of failing samples : {failed}"),
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

    /// In the second of [`testing::Still`].
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

    /// Label, start, elapsed, idle, code and message of all records.
    fn listed(recording: &Recording) -> Vec<String> {
        let told = |one: &SampleRecord| {
            let within: Vec<&str> = one.sub_results.iter().map(|sub| sub.label.as_str()).collect();
            let SampleRecord { label, elapsed_millis, idle_millis, code, message, .. } = one;
            let start = one.start_unix_millis - NOW;
            format!("{label}({}) {start}+{elapsed_millis} idle {idle_millis} {code} {message}", within.join(" "))
        };
        recording.worker.finished.borrow_mut().drain(..).map(|one| told(&one)).collect()
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
        let told = |n, failed| format!("Number of samples in transaction : {n}, number of failing samples : {failed}");
        assert_eq!(
            listed(&recording),
            [
                "a() 10+20 idle 0 200 ".to_owned(),
                format!("inner() 0+30 idle 0 200 {}", told(1, 0)),
                "b() 50+5 idle 0 500 ".to_owned(),
                format!("t() 0+25 idle 30  {}", told(3, 1)),
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
        let told = |n, failed| format!("Number of samples in transaction : {n}, number of failing samples : {failed}");
        assert_eq!(
            listed(&recording),
            [
                format!("in() 0+30 idle 0  {}", told(1, 1)),
                format!("t(a b) 0+55 idle 0 500 {}", told(2, 1)),
                // JMeter's controller asks for both samples, and then for their sum.
                format!("outer() 0+55 idle 0  {}", told(3, 1)),
            ]
        );
    }

    #[test]
    fn elements_are_listed_within_their_page() {
        let mut recording = recording();
        recording.add_page(sample("page", 0, 10, true));
        recording.add_element(sample("page", 10, 5, true), &Prepared::default());
        recording.add_element(sample("page", 15, 5, false), &Prepared::default());
        assert_eq!(listed(&recording), Vec::<String>::new());
        recording.flush();
        assert_eq!(
            listed(&recording),
            ["page(page-0 page-1 page-2) 0+20 idle 0 200 Embedded resource download error: code:500 message:, "]
        );
        recording.add_page(sample("bare", 0, 10, true));
        recording.add(sample("next", 20, 5, true));
        assert_eq!(listed(&recording), ["bare() 0+10 idle 0 200 ", "next() 20+5 idle 0 200 "]);
    }

    #[test]
    fn a_request_that_is_repeated_with_credentials_is_one_sample() {
        let mut recording = recording();
        recording.add_challenged(sample("a", 0, 10, false));
        recording.add(sample("a", 12, 5, true));
        assert_eq!(listed(&recording), ["a() 0+17 idle 0 200 "]);
    }
}
