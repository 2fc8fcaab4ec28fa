//! What the texts and scripts of a user can reach: its variables, and what it shares with others.

use crate::texts::cookies::Jar;
use crate::texts::files::Files;
use crate::texts::grpc::Services;
use crate::texts::script::{Expressions, Languages};
use crate::texts::tracing::Tracing;
use crate::texts::variables::Variables;
use brunt_engine::Surroundings;
use brunt_engine::pace::Cumulative;
use brunt_model::plan::Records;
use brunt_model::scenario::Scope;
use brunt_model::{Plan, SampleRecord, numbers};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// What all users of a run share.
#[derive(Debug, Default)]
pub struct Commons {
    /// The languages that its scripts may have.
    pub languages: &'static dyn Languages,
    /// JMeter's properties.
    properties: Mutex<HashMap<String, String>>,
    /// Those of the first user of the first population, once it is done: what later stages begin with.
    variables: Mutex<Vec<(String, String)>>,
    /// Numbers that count over all users, by the place that counts.
    counters: Mutex<HashMap<String, u64>>,
    /// By the place that is passed: when it may be passed next, in milliseconds since 1970.
    paces: Mutex<HashMap<String, f64>>,
    /// By the place that is passed: when it was passed first, in milliseconds since 1970, and how often it may have been passed.
    rates: Mutex<HashMap<String, (f64, f64)>>,
    locks: Mutex<HashMap<String, Arc<Semaphore>>>,
    meetings: Mutex<HashMap<String, Meeting>>,
    /// Texts that users hand to each other, by the name of the queue.
    queues: Mutex<HashMap<String, VecDeque<String>>>,
    /// The files that functions read.
    pub files: Files,
    /// A step, a script or a failure has ended the test.
    has_ended: AtomicBool,
    /// Counts of replies whose body could not be decoded, by label and reason.
    undecoded: Mutex<BTreeMap<(String, String), u64>>,
    /// The address of this machine, once somebody has asked.
    address: OnceLock<String>,
}

/// Maximum number of labels and reasons in `undecoded`.
const MOST_UNDECODED: usize = 20;

/// When a user passes a place by a schedule of rates: milliseconds from now on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Turns {
    /// At once.
    Now,
    /// Then.
    In(f64),
    /// Never: the schedule has no further turn, and ends then.
    EndsIn(f64),
    /// Never: the schedule has ended.
    Over,
}

/// Users that wait for each other.
#[derive(Debug, Default)]
struct Meeting {
    waiting: u64,
    together: Arc<Notify>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Commons {
    /// With the properties of all populations of a plan.
    pub fn new(plan: &Plan, languages: &'static dyn Languages) -> Self {
        let scenarios = || plan.populations.iter().map(|population| &population.scenario);
        let files = Files::below(scenarios().flat_map(|scenario| &scenario.folders).map(PathBuf::from).collect());
        Self { languages, files, ..Self::with_properties(scenarios().flat_map(|scenario| &scenario.properties)) }
    }

    /// Counts a reply whose body could not be decoded.
    pub fn note_undecoded(&self, label: &str, why: &str) {
        let mut noted = locked(&self.undecoded);
        let key = (label.to_owned(), why.to_owned());
        if noted.len() < MOST_UNDECODED || noted.contains_key(&key) {
            *noted.entry(key).or_default() += 1;
        }
    }

    /// Returns remarks on the bodies that could not be decoded, and forgets them.
    pub fn undecoded_remarks(&self) -> Vec<String> {
        let undecoded = std::mem::take(&mut *locked(&self.undecoded));
        let remarks = undecoded.iter().map(|(kind, count)| {
            let replies =
                if *count == 1 { "1 reply".to_owned() } else { format!("{} replies", numbers::count(*count)) };
            format!("`{}`: the body of {replies} could not be decoded: {}", kind.0, kind.1)
        });
        remarks.collect()
    }

    /// With these properties.
    pub fn with_properties<'a>(properties: impl IntoIterator<Item = &'a (String, String)>) -> Self {
        Self { properties: Mutex::new(properties.into_iter().cloned().collect()), ..Self::default() }
    }

    /// With files that functions may read.
    #[cfg(test)]
    pub fn reading(files: Files) -> Self {
        Self { files, ..Self::default() }
    }

    /// The test ends, also the stages that would follow.
    pub fn end_test(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// Whether a step, a script or a failure has ended the test.
    pub fn has_ended_test(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// All properties, by name.
    pub fn properties(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> =
            locked(&self.properties).iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        all.sort();
        all
    }

    /// Takes the variables that later stages begin with.
    pub fn hand_on(&self, variables: Vec<(String, String)>) {
        *locked(&self.variables) = variables;
    }

    /// The variables that later stages begin with.
    pub fn variables(&self) -> Vec<(String, String)> {
        locked(&self.variables).clone()
    }

    /// The value of a property.
    pub fn property(&self, name: &str) -> Option<String> {
        locked(&self.properties).get(name).cloned()
    }

    /// Gives a property a value, or takes it away; the one that it had.
    pub fn set_property(&self, name: &str, value: Option<&str>) -> Option<String> {
        let mut properties = locked(&self.properties);
        match value {
            Some(value) => properties.insert(name.to_owned(), value.to_owned()),
            None => properties.remove(name),
        }
    }

    /// The address of this machine, by its name.
    pub fn address(&self, name: &str) -> String {
        let resolve = || (name, 0).to_socket_addrs().ok()?.next().map(|address| address.ip().to_string());
        self.address.get_or_init(|| resolve().unwrap_or_else(|| "127.0.0.1".into())).clone()
    }

    /// How often this was asked of this counter before, by all users.
    pub fn count(&self, counter: &str) -> u64 {
        counted(&mut locked(&self.counters), counter)
    }

    /// How many milliseconds from `now` on somebody waits who passes a place that may be passed each `gap` milliseconds.
    pub fn wait_for_turn(&self, place: &str, now: f64, gap: f64) -> f64 {
        let mut paces = locked(&self.paces);
        let next = paces.entry(place.to_owned()).or_insert(now);
        // Time that nobody used is gone.
        let at = next.max(now);
        *next = at + gap;
        at - now
    }

    /// When somebody passes a place by a schedule of so many seconds, which begins when the place is passed first.
    pub fn wait_for_rate(&self, place: &str, now: f64, (rates, seconds): (&Cumulative, f64)) -> Turns {
        let mut all = locked(&self.rates);
        let (begun, passed) = all.entry(place.to_owned()).or_insert((now, 0.0));
        let elapsed = (now - *begun) / 1e3;
        // Turns that nobody used are gone.
        let number = passed.max(rates.until(elapsed).floor());
        match rates.inverse(number) {
            Some(due) => {
                *passed = number + 1.0;
                if due > elapsed { Turns::In((due - elapsed) * 1e3) } else { Turns::Now }
            }
            None if elapsed < seconds => Turns::EndsIn((seconds - elapsed) * 1e3),
            None => Turns::Over,
        }
    }

    /// The lock of this name: one user may have it.
    pub fn lock(&self, name: &str) -> Arc<Semaphore> {
        let mut locks = locked(&self.locks);
        Arc::clone(locks.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }

    /// Puts a text behind the others of a queue; beyond what a queue holds it is lost.
    pub fn put(&self, queue: &str, text: &str) {
        /// A queue holds no more texts.
        const MOST: usize = 1_000_000;
        let mut queues = locked(&self.queues);
        let queue = queues.entry(queue.to_owned()).or_default();
        if queue.len() < MOST {
            queue.push_back(text.to_owned());
        }
    }

    /// Takes the first text of a queue; None: it is empty.
    pub fn take(&self, queue: &str) -> Option<String> {
        locked(&self.queues).get_mut(queue)?.pop_front()
    }

    /// The first text of a queue, which stays, and how many there are.
    pub fn look(&self, queue: &str) -> (Option<String>, usize) {
        let queues = locked(&self.queues);
        queues.get(queue).map_or((None, 0), |queue| (queue.front().cloned(), queue.len()))
    }

    /// One more waits at a place; None: it was the last of so many, and all go on.
    pub fn meet(&self, place: &str, users: u64) -> Option<Arc<Notify>> {
        let mut meetings = locked(&self.meetings);
        let meeting = meetings.entry(place.to_owned()).or_default();
        meeting.waiting += 1;
        if meeting.waiting < users {
            return Some(Arc::clone(&meeting.together));
        }
        meeting.together.notify_waiters();
        *meeting = Meeting::default();
        None
    }
}

/// What a worker's users share.
pub struct WorkerContext {
    /// What all users of the run share.
    pub commons: Arc<Commons>,
    /// The run around them.
    pub surroundings: Rc<dyn Surroundings>,
    /// Whence random values come.
    pub random: RefCell<Pcg64Mcg>,
    /// The name of the population.
    pub population: String,
    /// The scripts that texts call.
    pub expressions: Expressions,
    /// How deep texts are evaluated within texts, now.
    pub nesting: Cell<u32>,
    /// Its number in the plan, from 0.
    pub population_number: usize,
    /// Which records of samples the plan asks for.
    pub records: Option<Records>,
    /// The services of gRPC that are called.
    pub services: Option<Arc<Services>>,
    /// Records that nobody has taken yet.
    pub finished: RefCell<Vec<SampleRecord>>,
}

/// What one user has.
pub struct UserContext {
    /// What it shares with the others of its worker.
    pub worker: Rc<WorkerContext>,
    /// Its variables.
    pub variables: RefCell<Variables>,
    /// Its number in its population, from 0.
    pub number: u64,
    /// The iterations that it has begun before this one.
    pub iteration: Cell<u64>,
    /// Objects that scripts keep for further scripts, by name.
    pub objects: RefCell<HashMap<String, Rc<dyn Any>>>,
    /// Numbers that it counts for itself, by the place that counts.
    pub counters: RefCell<HashMap<String, u64>>,
    /// The identifiers of sessions that it keeps, by name.
    pub sessions: RefCell<HashMap<String, String>>,
    /// The label of its last request.
    pub label: RefCell<String>,
    /// Its last sample with its texts, where something of the plan looks at it later.
    pub last: RefCell<Option<Rc<SampleRecord>>>,
    /// Its cookies.
    pub cookies: Rc<RefCell<Jar>>,
    /// What a script asked to be over.
    pub stop: Cell<Scope>,
    /// The locks that it is within, the innermost last; None: it had it before.
    pub locks: Rc<RefCell<Vec<Option<OwnedSemaphorePermit>>>>,
    /// What it did since its last sample; None: it is not traced.
    pub tracing: Option<Box<RefCell<Tracing>>>,
}

impl WorkerContext {
    /// That of a population without a name, of whose samples no records are made; `seed`: that of random values.
    pub fn new(commons: Arc<Commons>, surroundings: Rc<dyn Surroundings>, seed: u64) -> Self {
        Self {
            surroundings,
            random: RefCell::new(Pcg64Mcg::seed_from_u64(seed)),
            population: String::new(),
            expressions: Expressions::new(commons.languages),
            nesting: Cell::default(),
            population_number: 0,
            records: None,
            services: None,
            finished: RefCell::default(),
            commons,
        }
    }

    /// The name of a user's thread as JMeter writes it.
    pub fn thread_name(&self, user: u64) -> String {
        let before = self.records.as_ref().map_or(0, |records| {
            let idle = records.idle_groups.get(self.population_number).copied().unwrap_or_default();
            (records.groups_before + idle) as usize
        });
        format!("{} {}-{}", self.population, before + self.population_number + 1, user + 1)
    }

    /// How often this was asked of this counter before, by all users of all processes that take turns.
    pub fn count(&self, counter: &str) -> u64 {
        self.surroundings.among_processes(self.commons.count(counter))
    }
}

/// What a counter has counted so far; one more from now on.
fn counted(counters: &mut HashMap<String, u64>, counter: &str) -> u64 {
    if let Some(count) = counters.get_mut(counter) {
        *count += 1;
        return *count - 1;
    }
    counters.insert(counter.to_owned(), 1);
    0
}

impl UserContext {
    /// Hands what happens to its trace, where it is traced.
    pub fn trace(&self, tell: impl FnOnce(&mut Tracing)) {
        if let Some(tracing) = &self.tracing {
            tell(&mut tracing.borrow_mut());
        }
    }

    /// A user that has done nothing.
    pub fn new(worker: &Rc<WorkerContext>, variables: Variables, number: u64) -> Self {
        Self {
            worker: Rc::clone(worker),
            variables: RefCell::new(variables),
            number,
            iteration: Cell::new(0),
            objects: RefCell::default(),
            counters: RefCell::default(),
            sessions: RefCell::default(),
            label: RefCell::default(),
            tracing: worker.records.as_ref().filter(|records| records.trace).map(|_| Box::default()),
            last: RefCell::default(),
            cookies: Rc::default(),
            stop: Cell::default(),
            locks: Rc::default(),
        }
    }

    /// How often this user asked this of the counter before.
    pub fn count(&self, counter: &str) -> u64 {
        counted(&mut self.counters.borrow_mut(), counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::load::{Shape, Stage};
    use std::time::Duration;

    #[test]
    fn turns_come_by_a_schedule_and_those_that_nobody_used_are_gone() {
        let stage = |from, to| Stage { from, to, duration: Some(Duration::from_secs(2)) };
        let rates = Cumulative::new(&Shape { stages: vec![stage(1.0, 1.0), stage(2.0, 2.0)] });
        let commons = Commons::default();
        let turn = |now| commons.wait_for_rate("t", now, (&rates, 4.0));
        assert_eq!([turn(5000.0), turn(5000.0), turn(5000.0)], [Turns::Now, Turns::In(1000.0), Turns::In(2000.0)]);
        assert_eq!([turn(8000.0), turn(8000.0)], [Turns::Now, Turns::In(500.0)]);
        assert_eq!([turn(8500.0), turn(9000.0)], [Turns::EndsIn(500.0), Turns::Over]);
    }
}
