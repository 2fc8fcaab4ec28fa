//! Runs by a formula: a pool of workers, a queue that grows where more comes than they bear, and some noise.

use brunt_model::{
    Environment, Event, Experiment, Finish, Phase, Reading, Run, Snapshot, Tick, TrialIndex,
};

const MS: u64 = 1_000_000;
/// Milliseconds of an interval.
const INTERVAL: u64 = 250;
/// Seconds of warm-up, and until the load ends.
const ENDS: [u64; 2] = [2, 22];

/// What a server bears.
struct Server {
    /// Requests per second that its workers can do.
    capacity: f64,
    /// Seconds for one, when nobody else is there.
    service: f64,
}

const SERVERS: [Server; 2] =
    [Server { capacity: 385.0, service: 0.0515 }, Server { capacity: 340.0, service: 0.0535 }];

/// The trial at this place.
pub fn run(experiment: &Experiment, place: TrialIndex, environment: Environment) -> Run {
    Run::of(&events(experiment, place, environment))
}

/// The same with two labels, which are requested in turn.
pub fn run_of_labels(experiment: &Experiment, place: TrialIndex, environment: Environment) -> Run {
    let mut events = events(experiment, place, environment);
    for (number, event) in events.iter_mut().enumerate() {
        if let Event::Snapshot(snapshot) = event {
            snapshot.labels = vec![(number as u32 / 5 % 2, snapshot.measured.clone())];
        }
    }
    let names = ["log in", "pay <b>"].into_iter().zip(0..);
    events.extend(names.map(|(name, id)| Event::Label { id, name: name.into(), hop_of: None }));
    Run::of(&events)
}

fn events(experiment: &Experiment, place: TrialIndex, environment: Environment) -> Vec<Event> {
    let Some(step) = experiment.step(place) else { return Vec::new() };
    let at = |seconds: u64| Tick(seconds * 1000 * MS);
    let number = (place.repetition as usize * 2 + place.contender) * 30 + place.step;
    let mut noise = Noise((number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let unix_seconds = 1_782_907_200.0 + number as f64 * 32.0;
    let plan = Box::new(step.plan.clone());
    let mut events = vec![
        Event::Started { plan, environment: environment.into(), unix_seconds },
        Event::Stage { at: Tick::ZERO, phase: Phase::Warmup },
        Event::Stage { at: at(ENDS[0]), phase: Phase::Measure },
        Event::Stage { at: at(ENDS[1]), phase: Phase::Grace },
    ];
    let server = &SERVERS[place.contender % 2];
    // Servers differ a little from start to start.
    let load = step.load * (1.0 + 0.08 * (noise.next() - 0.5));
    for number in 0..ENDS[1] * 1000 / INTERVAL + 4 {
        events.push(Event::Snapshot(interval(server, load, number, &mut noise).into()));
        if number % 4 == 0 {
            events.extend(readings(server, load, Tick(number * INTERVAL * MS)));
        }
    }
    events.push(Event::Finished(Finish { at: at(ENDS[1] + 1), interrupted: false, error: None }));
    events
}

fn interval(server: &Server, load: f64, number: u64, noise: &mut Noise) -> Snapshot {
    let (from, to) = (Tick(number * INTERVAL * MS), Tick((number + 1) * INTERVAL * MS));
    let phase = match from.0 / (1000 * MS) {
        second if second < ENDS[0] => Phase::Warmup,
        second if second < ENDS[1] => Phase::Measure,
        _ => Phase::Grace,
    };
    let mut s = Snapshot { from, to, phase, ..Snapshot::default() };
    let seconds = INTERVAL as f64 / 1000.0;
    let planned = if phase == Phase::Grace {
        0.0
    } else {
        (load * seconds * (0.9 + 0.2 * noise.next())).round()
    };
    let done = planned.min((server.capacity * seconds).round()) as u64;
    let failed = if load > server.capacity * 1.3 && number > 40 { done / 25 } else { 0 };
    let waited = ((load / server.capacity - 1.0).max(0.0) * from.seconds()).min(4.0);
    let tally = if phase == Phase::Warmup { &mut s.warmup } else { &mut s.measured };
    for _ in 0..done {
        let nanos = (response(server, load, noise) + waited) * 1e9;
        tally.response.record(nanos as u64);
        tally.service.record((nanos * 0.97) as u64);
        tally.lag.record((noise.next() * 40_000.0) as u64);
    }
    tally.statuses.add(200, done - failed);
    tally.statuses.add(503, failed);
    (tally.planned, tally.begun, tally.completed, tally.good) =
        (planned as u64, done, done, done - failed);
    let flow = &mut s.flow;
    (flow.planned, flow.arrivals, flow.begun) = (planned as u64, planned as u64, done);
    (flow.completed, flow.good, flow.errors) = (done, done - failed, failed);
    (flow.bytes_sent, flow.bytes_received) = (done * 96, done * 2450);
    flow.in_flight = (load.min(server.capacity) * (server.service + waited)) as u64;
    flow.connections = flow.in_flight + 2;
    s
}

/// Seconds: the service time, and a wait as of a queue with many servers, of random length.
fn response(server: &Server, load: f64, noise: &mut Noise) -> f64 {
    let busy = (load / server.capacity).min(0.985);
    let wait = server.service * 0.08 * busy.powi(12) / (1.0 - busy);
    server.service * (0.99 + 0.03 * noise.next()) - wait * (1.0 - noise.next()).max(1e-9).ln()
}

fn readings(server: &Server, load: f64, at: Tick) -> Vec<Event> {
    let share = (load / server.capacity).min(1.0);
    let seconds = at.seconds();
    let read = |source: &str, values: &[(&str, f64)]| {
        let values = values.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        Event::Reading(Reading { at, source: source.into(), values })
    };
    vec![
        read(
            "php-fpm:www",
            &[
                ("workers.busy", (20.0 * share).round()),
                ("workers.idle", 20.0 - (20.0 * share).round()),
                ("workers.limit", 20.0),
                ("queue.length", ((load - server.capacity).max(0.0) * seconds).min(511.0).round()),
                ("queue.limit", 511.0),
            ],
        ),
        read(
            "process:php-fpm8.4",
            &[
                ("processes", 21.0),
                ("cpu_user_seconds", 0.21 * share * seconds),
                ("cpu_system_seconds", 0.08 * share * seconds),
                ("memory.proportional_bytes", 1.9e8 + 4e6 * share * seconds),
            ],
        ),
        read(
            "generator",
            &[
                ("cpu_user_seconds", 0.05 * share * seconds),
                ("cpu_system_seconds", 0.09 * share * seconds),
            ],
        ),
    ]
}

/// Numbers from 0 to 1 that look as if they were drawn (Marsaglia's xorshift), the same each time.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
