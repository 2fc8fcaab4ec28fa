//! State that texts and scripts of a user can use: its variables, and the state that it
//! shares with other users.

use crate::texts::cookies::Jar;
use crate::texts::files::Files;
use crate::texts::grpc::Services;
use crate::texts::limits::TextLimit;
use crate::texts::script::{Expressions, Languages};
use crate::texts::tracing::Tracing;
use crate::texts::variables::UnsetVariables;
use crate::texts::variables::Variables;
use brunt_engine::RunState;
use brunt_engine::pace::Cumulative;
use brunt_model::plan::ListenerRecords;
use brunt_model::scenario::EndScope;
use brunt_model::sync::IgnorePoison;
use brunt_model::{Plan, SampleRecord, Text, numbers};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// State that all users of a run share.
#[derive(Debug, Default)]
pub struct SharedState {
    /// Languages of its scripts.
    pub languages: Languages,
    /// JMeter's properties.
    properties: Mutex<HashMap<String, String>>,
    /// Variables of the first user of the first population after its end: the initial
    /// variables of later stages.
    variables: Mutex<Vec<(String, String)>>,
    /// Counts over all users, by the place that counts.
    counters: Mutex<HashMap<String, u64>>,
    /// Next permitted time of each paced place, in milliseconds since 1970.
    paces: Mutex<HashMap<String, f64>>,
    /// For each place with a rate: the time of its first turn in milliseconds since 1970, and the
    /// number of turns used or expired.
    rates: Mutex<HashMap<String, (f64, f64)>>,
    locks: Mutex<HashMap<String, Arc<Semaphore>>>,
    meetings: Mutex<HashMap<String, Meeting>>,
    /// Texts that users exchange, by the name of the queue.
    queues: Mutex<HashMap<String, VecDeque<String>>>,
    /// Files that functions read.
    pub files: Files,
    /// True if a step, a script or a failure has ended the test.
    has_ended: AtomicBool,
    /// Number of replies with undecodable bodies, by label and reason.
    undecoded: Mutex<BTreeMap<(String, String), u64>>,
    /// Address of this machine; resolved at the first use.
    address: OnceLock<String>,
}

/// Maximum number of labels and reasons in `undecoded`.
const MAX_UNDECODED: usize = 20;

/// The turns of this process among those of all processes of the run.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// Number of its first turn.
    pub first: f64,
    /// Mean distance of two of its turns.
    pub stride: f64,
}

impl Turns {
    /// The turns of a single process.
    pub const ALL: Self = Self { first: 0.0, stride: 1.0 };
}

/// Time until a user's turn at a place with a schedule of rates, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScheduledWait {
    /// The turn is now.
    Now,
    /// The turn is after this time.
    In(f64),
    /// There is no further turn, and the schedule ends after this time.
    EndsIn(f64),
    /// The schedule has ended.
    Over,
}

/// Users that wait for each other.
#[derive(Debug, Default)]
struct Meeting {
    waiting: u64,
    together: Arc<Notify>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}

impl SharedState {
    /// Creates the state of a plan, with the properties of all its populations.
    pub fn new(plan: &Plan, languages: Languages) -> Self {
        let scenarios: Vec<_> =
            plan.populations.iter().map(|population| &population.scenario).collect();
        let files = Files::below(
            scenarios.iter().flat_map(|scenario| &scenario.folders).map(PathBuf::from).collect(),
        );
        let properties = scenarios.iter().flat_map(|scenario| &scenario.properties);
        Self { languages, files, ..Self::with_properties(properties) }
    }

    /// Counts a reply with an undecodable body.
    pub fn note_undecoded(&self, label: &str, why: &str) {
        let mut undecoded = lock(&self.undecoded);
        let key = (label.to_owned(), why.to_owned());
        if undecoded.len() < MAX_UNDECODED || undecoded.contains_key(&key) {
            *undecoded.entry(key).or_default() += 1;
        }
    }

    /// Returns remarks on the bodies that could not be decoded, and clears the counts.
    pub fn undecoded_remarks(&self) -> Vec<Text> {
        let undecoded = std::mem::take(&mut *lock(&self.undecoded));
        let remarks = undecoded.iter().map(|(kind, count)| {
            let replies = if *count == 1 {
                "1 reply".to_owned()
            } else {
                format!("{} replies", numbers::count(*count))
            };
            format!("`{}`: the body of {replies} could not be decoded: {}", kind.0, kind.1).into()
        });
        remarks.collect()
    }

    /// Creates the state with these properties.
    pub fn with_properties<'a>(properties: impl IntoIterator<Item = &'a (String, String)>) -> Self {
        Self {
            properties: Mutex::new(properties.into_iter().cloned().collect()),
            ..Self::default()
        }
    }

    /// Creates the state with files that functions may read.
    #[cfg(test)]
    pub fn reading(files: Files) -> Self {
        Self { files, ..Self::default() }
    }

    /// Ends the test, including its later stages.
    pub fn end_test(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// True if a step, a script or a failure has ended the test.
    pub fn has_ended_test(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Returns all properties, by name.
    pub fn properties(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> = lock(&self.properties)
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        // A map has no order.
        all.sort();
        all
    }

    /// Stores the initial variables of later stages.
    pub fn store_variables(&self, variables: Vec<(String, String)>) {
        *lock(&self.variables) = variables;
    }

    /// Returns the initial variables of later stages.
    pub fn variables(&self) -> Vec<(String, String)> {
        lock(&self.variables).clone()
    }

    /// Returns the value of a property.
    pub fn property(&self, name: &str) -> Option<String> {
        lock(&self.properties).get(name).cloned()
    }

    /// Sets or removes a property. Returns its previous value.
    pub fn set_property(&self, name: &str, value: Option<&str>) -> Option<String> {
        let mut properties = lock(&self.properties);
        match value {
            Some(value) => properties.insert(name.to_owned(), value.to_owned()),
            None => properties.remove(name),
        }
    }

    /// Returns the address of this machine, which has this name.
    pub fn address(&self, name: &str) -> String {
        let address =
            self.address.get_or_init(|| resolve(name).unwrap_or_else(|| "127.0.0.1".into()));
        address.clone()
    }

    /// Returns the previous count of this counter over all users, and increments it.
    pub fn count(&self, counter: &str) -> u64 {
        increment(&mut lock(&self.counters), counter)
    }

    /// Returns the wait in milliseconds for a place that may be passed once per `gap` milliseconds, for the first time
    /// at `first`.
    pub fn wait_for_turn(&self, place: &str, now: f64, first: f64, gap: f64) -> f64 {
        let mut paces = lock(&self.paces);
        let next = paces.entry(place.to_owned()).or_insert(first);
        // Unused turns expire.
        let turn = next.max(now);
        *next = turn + gap;
        turn - now
    }

    /// Takes the next turn at a place with a schedule of this length, which begins when the
    /// place is first passed.
    pub fn wait_for_rate(
        &self,
        place: &str,
        now: f64,
        rates: &Cumulative,
        seconds: f64,
        turns_of_process: Turns,
    ) -> ScheduledWait {
        let Turns { first, stride } = turns_of_process;
        let mut all = lock(&self.rates);
        let (start, turns) = all.entry(place.to_owned()).or_insert((now, first));
        let elapsed = (now - *start) / 1e3;
        // Unused turns expire.
        let expired = ((rates.until(elapsed) - first) / stride).floor().max(0.0);
        let number = turns.max(first + expired * stride);
        match rates.inverse(number) {
            Some(due) => {
                *turns = number + stride;
                if due > elapsed {
                    ScheduledWait::In((due - elapsed) * 1e3)
                } else {
                    ScheduledWait::Now
                }
            }
            None if elapsed < seconds => ScheduledWait::EndsIn((seconds - elapsed) * 1e3),
            None => ScheduledWait::Over,
        }
    }

    /// Returns the lock of this name, which one user may hold.
    pub fn lock(&self, name: &str) -> Arc<Semaphore> {
        let mut locks = lock(&self.locks);
        Arc::clone(locks.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }

    /// Appends a text to a queue; a text beyond the queue's limit is lost.
    pub fn push(&self, queue: &str, text: &str) {
        /// Maximum number of texts in a queue.
        const MAX_TEXTS: usize = 1_000_000;
        let mut queues = lock(&self.queues);
        let queue = queues.entry(queue.to_owned()).or_default();
        if queue.len() < MAX_TEXTS {
            queue.push_back(text.to_owned());
        }
    }

    /// Removes the first text of a queue. None: it is empty.
    pub fn take(&self, queue: &str) -> Option<String> {
        lock(&self.queues).get_mut(queue)?.pop_front()
    }

    /// Returns the first text of a queue without removing it, and the length of the queue.
    pub fn peek(&self, queue: &str) -> (Option<String>, usize) {
        let queues = lock(&self.queues);
        queues.get(queue).map_or((None, 0), |queue| (queue.front().cloned(), queue.len()))
    }

    /// Waits at a place for `users` users. None: this is the last of them, and all continue.
    pub fn meet(&self, place: &str, users: u64) -> Option<Arc<Notify>> {
        let mut meetings = lock(&self.meetings);
        let meeting = meetings.entry(place.to_owned()).or_default();
        meeting.waiting += 1;
        if meeting.waiting < users {
            return Some(Arc::clone(&meeting.together));
        }
        meeting.together.notify_waiters();
        // The next users at this place form a new group.
        *meeting = Meeting::default();
        None
    }
}

/// State that the users of a worker share.
pub struct WorkerContext {
    /// State of all users of the run.
    pub shared_state: Arc<SharedState>,
    /// State of the run.
    pub run_state: Rc<dyn RunState>,
    /// Source of random values.
    pub random: RefCell<Pcg64Mcg>,
    /// Name of the population.
    pub population: String,
    /// Scripts that texts call.
    pub expressions: Expressions,
    /// Notes texts that are too long.
    pub text_limit: TextLimit,
    /// Notes variables without a value.
    pub unset_variables: UnsetVariables,
    /// Current depth of texts that are evaluated within texts.
    pub nesting: Cell<u32>,
    /// Index in the plan, from 0.
    pub population_number: usize,
    /// Kinds of sample records that the plan requests.
    pub records: Option<ListenerRecords>,
    /// The gRPC services that are called.
    pub services: Option<Arc<Services>>,
    /// Completed records that have not been taken yet.
    pub finished: RefCell<Vec<SampleRecord>>,
}

/// A count that starts from 0 in each iteration.
pub struct IterationCount {
    iteration: u64,
    count: u64,
}

/// State of one user.
pub struct UserContext {
    /// State of the users of its worker.
    pub worker: Rc<WorkerContext>,
    /// Its variables.
    pub variables: RefCell<Variables>,
    /// Number in its population, from 0.
    pub number: u64,
    /// Number of iterations before this one.
    pub iteration: Cell<u64>,
    /// Objects that scripts store for later scripts, by name.
    pub objects: RefCell<HashMap<String, Rc<dyn Any>>>,
    /// Counts of this user, by the place that counts.
    pub counters: RefCell<HashMap<String, u64>>,
    /// Counts within one iteration, by the place that counts.
    pub iteration_counters: RefCell<HashMap<String, IterationCount>>,
    /// Session identifiers of the user, by name.
    pub sessions: RefCell<HashMap<String, String>>,
    /// Label of its last request.
    pub label: RefCell<String>,
    /// The last sample with its texts, if a later step of the plan reads it.
    pub last: RefCell<Option<Rc<SampleRecord>>>,
    /// Its cookies.
    pub cookies: Rc<RefCell<Jar>>,
    /// Scope that a script has ended.
    pub stop: Cell<EndScope>,
    /// Locks that it holds, the innermost last. None: an outer step holds the lock already.
    pub locks: Rc<RefCell<Vec<Option<OwnedSemaphorePermit>>>>,
    /// Actions since the last sample. None: the user is not traced.
    pub tracing: Option<Box<RefCell<Tracing>>>,
}

impl WorkerContext {
    /// Creates the context of a population without a name and without records. `seed` is the
    /// seed of random values.
    pub fn new(shared_state: Arc<SharedState>, run_state: Rc<dyn RunState>, seed: u64) -> Self {
        Self {
            run_state,
            random: RefCell::new(Pcg64Mcg::seed_from_u64(seed)),
            population: String::new(),
            expressions: Expressions::new(shared_state.languages),
            text_limit: TextLimit::default(),
            unset_variables: UnsetVariables::default(),
            nesting: Cell::default(),
            population_number: 0,
            records: None,
            services: None,
            finished: RefCell::default(),
            shared_state,
        }
    }

    /// Returns the name of a user's thread as JMeter formats it.
    pub fn thread_name(&self, user: u64) -> String {
        // JMeter numbers thread groups from 1, and also counts those without samples.
        let before = self.records.as_ref().map_or(0, |records| {
            let idle = records.idle_groups.get(self.population_number).copied().unwrap_or_default();
            (records.groups_before + idle) as usize
        });
        format!("{} {}-{}", self.population, before + self.population_number + 1, user + 1)
    }

    /// Returns the previous count of this counter over all users of all processes, which take the
    /// numbers in turn, and increments it.
    pub fn count(&self, counter: &str) -> u64 {
        self.run_state.among_processes(self.shared_state.count(counter))
    }
}

/// Returns the previous count of a counter, and increments it.
fn increment(counters: &mut HashMap<String, u64>, counter: &str) -> u64 {
    if let Some(count) = counters.get_mut(counter) {
        *count += 1;
        return *count - 1;
    }
    counters.insert(counter.to_owned(), 1);
    0
}

impl UserContext {
    /// Passes the user's trace to `record`, if the user is traced.
    pub fn trace(&self, record: impl FnOnce(&mut Tracing)) {
        if let Some(tracing) = &self.tracing {
            record(&mut tracing.borrow_mut());
        }
    }

    /// Creates a user without actions.
    pub fn new(worker: &Rc<WorkerContext>, variables: Variables, number: u64) -> Self {
        Self {
            worker: Rc::clone(worker),
            variables: RefCell::new(variables),
            number,
            iteration: Cell::new(0),
            objects: RefCell::default(),
            counters: RefCell::default(),
            iteration_counters: RefCell::default(),
            sessions: RefCell::default(),
            label: RefCell::default(),
            tracing: worker
                .records
                .as_ref()
                .filter(|records| records.trace)
                .map(|_| Box::default()),
            last: RefCell::default(),
            cookies: Rc::default(),
            stop: Cell::default(),
            locks: Rc::default(),
        }
    }

    /// Returns the previous count of this counter of the user, and increments it.
    pub fn count(&self, counter: &str) -> u64 {
        increment(&mut self.counters.borrow_mut(), counter)
    }

    /// Returns the previous count of this counter in the iteration, and increments it.
    pub fn count_in_iteration(&self, counter: &str, iteration: u64) -> u64 {
        let mut counters = self.iteration_counters.borrow_mut();
        match counters.get_mut(counter) {
            Some(current) if current.iteration == iteration => {
                current.count += 1;
                current.count - 1
            }
            _ => {
                counters.insert(counter.to_owned(), IterationCount { iteration, count: 1 });
                0
            }
        }
    }
}

fn resolve(name: &str) -> Option<String> {
    (name, 0).to_socket_addrs().ok()?.next().map(|address| address.ip().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::load::{LoadShape, LoadStage};
    use std::time::Duration;

    #[test]
    fn a_count_of_an_iteration_starts_again_and_keeps_one_entry() {
        let user = crate::testing::user();
        let counts = [0, 0, 1, 1, 1, 0].map(|iteration| user.count_in_iteration("site", iteration));
        assert_eq!(counts, [0, 1, 0, 1, 2, 0]);
        assert_eq!(user.iteration_counters.borrow().len(), 1);
    }

    #[test]
    fn turns_follow_a_schedule_and_unused_ones_expire() {
        let stage = |from, to| LoadStage { from, to, duration: Some(Duration::from_secs(2)) };
        let rates = Cumulative::new(&LoadShape { stages: vec![stage(1.0, 1.0), stage(2.0, 2.0)] });
        let shared_state = SharedState::default();
        let turn = |now| shared_state.wait_for_rate("t", now, &rates, 4.0, Turns::ALL);
        assert_eq!(
            [turn(5000.0), turn(5000.0), turn(5000.0)],
            [ScheduledWait::Now, ScheduledWait::In(1000.0), ScheduledWait::In(2000.0)]
        );
        assert_eq!([turn(8000.0), turn(8000.0)], [ScheduledWait::Now, ScheduledWait::In(500.0)]);
        assert_eq!(
            [turn(8500.0), turn(9000.0)],
            [ScheduledWait::EndsIn(500.0), ScheduledWait::Over]
        );
    }

    #[test]
    fn processes_take_turns_of_one_rate() {
        // 10 turns per second for 2 s, dealt to three processes.
        let shape = LoadShape {
            stages: vec![LoadStage {
                from: 10.0,
                to: 10.0,
                duration: Some(Duration::from_secs(2)),
            }],
        };
        let rates = Cumulative::new(&shape);
        let mut times = Vec::new();
        for process in 0..3 {
            let shared_state = SharedState::default();
            let turns = Turns { first: f64::from(process), stride: 3.0 };
            for _ in 0..20 {
                match shared_state.wait_for_rate("t", 0.0, &rates, 2.0, turns) {
                    ScheduledWait::Now => times.push(0),
                    ScheduledWait::In(millis) => times.push(millis.round() as u64),
                    ScheduledWait::EndsIn(_) | ScheduledWait::Over => break,
                }
            }
        }
        times.sort_unstable();
        assert_eq!(times, (0..20).map(|turn| turn * 100).collect::<Vec<u64>>());
    }
}
