//! Tests on runs of several agents. Each agent is a story, and the whole run has the sums.

use super::*;
use crate::limits::missing_load;
use brunt_model::event::LostProcess;
use brunt_model::finding::FigureEvidence;
use brunt_model::{AgentEnvironment, AgentFacts, ClockOffset, ProcessPart};
use std::collections::BTreeSet;

/// A run of agents with the names `a`, `b`, `c` and so on.
struct FleetStory {
    agents: Vec<Story>,
    /// True if all agents and the controller are on one machine.
    is_local: bool,
    /// Numbers of lost agents, with the tenth of the first missing interval.
    losses: Vec<(usize, u64)>,
}

fn remote(agents: Vec<Story>) -> FleetStory {
    FleetStory { agents, is_local: false, losses: Vec::new() }
}

fn local(agents: Vec<Story>) -> FleetStory {
    FleetStory { is_local: true, ..remote(agents) }
}

fn name_of(number: usize) -> String {
    char::from(b'a' + number as u8).to_string()
}

impl FleetStory {
    fn losing(mut self, number: usize, tenth: u64) -> Self {
        self.losses.push((number, tenth));
        self
    }

    fn environment(&self) -> Environment {
        let agent = |number: usize| {
            let machine = if self.is_local { "one".into() } else { name_of(number) };
            AgentEnvironment {
                name: name_of(number),
                group: None,
                facts: AgentFacts {
                    host: machine.clone(),
                    clock: machine,
                    pid: 100 + number as u32,
                    cores: 2,
                    ..AgentFacts::default()
                },
                clock: ClockOffset {
                    error_nanos: if self.is_local { 0 } else { 50_000 },
                    ..ClockOffset::default()
                },
                route: self.agents[if self.is_local { 0 } else { number }]
                    .environment
                    .route
                    .clone(),
            }
        };
        let agents = (0..self.agents.len()).map(agent).collect();
        Environment { agents, ..self.agents[0].environment.clone() }
    }

    fn run(&self) -> Run {
        Run::of(&self.events())
    }

    fn events(&self) -> Vec<Event> {
        let count = self.agents.len();
        let plan = Plan { processes: count as u32, ..self.agents[0].plan.clone() };
        let mut events = vec![
            Event::Started {
                plan: plan.into(),
                environment: self.environment().into(),
                unix_seconds: 0.0,
            },
            Event::Stage { at: Tick::ZERO, phase: Phase::Measure },
        ];
        for (number, story) in self.agents.iter().enumerate() {
            let lost = self.losses.iter().find(|loss| loss.0 == number).map(|loss| loss.1);
            let end = Tick(lost.unwrap_or(SECONDS * 10) * 100 * MS);
            for event in story.events() {
                let (at, is_snapshot) = match &event {
                    Event::Reading(reading) => (reading.at, false),
                    Event::Snapshot(snapshot) => (snapshot.to, true),
                    _ => continue,
                };
                if at > end {
                    continue;
                }
                if is_snapshot {
                    events.push(event.clone());
                }
                events.push(Event::Agent { number: number as u32, event: event.into() });
            }
            if lost.is_some() {
                let part = ProcessPart { number: number as u32, count: count as u32, quiet: 0 };
                let loss = Event::Lost(LostProcess { at: end, part, until: Tick::NEVER });
                events.push(loss.clone());
                events.push(Event::Agent { number: number as u32, event: loss.into() });
            }
        }
        events.push(Event::Stage { at: Tick(SECONDS * SECOND), phase: Phase::Grace });
        events.push(Event::Finished(Finish {
            at: Tick(SECONDS * SECOND),
            interrupted: false,
            error: None,
        }));
        events
    }

    fn judged(&self) -> Verdict {
        verdict(&self.run())
    }
}

fn healthy(count: usize) -> Vec<Story> {
    (0..count).map(|_| Story::healthy()).collect()
}

fn busy_worker() -> Story {
    Story::healthy().with(name::worker_cpu(1), 0.99)
}

#[test]
fn healthy_agents_are_ok_and_each_figure_is_shown_once() {
    let mut agents = healthy(20);
    agents[7] = Story::healthy().with(name::worker_cpu(0), 0.5);
    let verdict = remote(agents).judged();
    assert_eq!((verdict.state, verdict.causes), (State::Ok, Vec::new()));
    assert_eq!(verdict.agents, [State::Ok; 20]);
    assert_eq!(verdict.unseen, Vec::<String>::new());
    let names: BTreeSet<&str> =
        verdict.evidence.iter().map(|one| one.name.split_once(": ").map_or("", |n| n.1)).collect();
    assert_eq!(names.len(), verdict.evidence.len(), "{:?}", verdict.evidence);
    let worst = |one: &&FigureEvidence| one.limit == LimitingResource::Worker;
    let worker = verdict.evidence.iter().find(worst).expect("a figure");
    assert_eq!(worker.name, "h: CPU of the busiest worker, share of a core");
    assert!((worker.value - 0.5).abs() < 1e-6, "{worker:?}");
}

#[test]
fn a_limit_of_one_agent_limits_the_run_and_names_it() {
    let mut agents = healthy(3);
    agents[1] = busy_worker();
    let verdict = remote(agents).judged();
    assert_eq!(verdict.state, State::Limited);
    assert_eq!(verdict.agents, [State::Ok, State::Limited, State::Ok]);
    let [cause] = &verdict.causes[..] else { panic!("{:?}", verdict.causes) };
    assert!(cause.sentence.starts_with("agent b: a worker thread was busy 99 %"), "{cause:?}");
}

#[test]
fn the_same_cause_of_several_agents_is_named_once_the_longest_first() {
    let mut agents: Vec<Story> =
        (0..6).map(|_| Story::healthy().for_seconds(0..4, name::worker_cpu(1), 0.97)).collect();
    agents[3] = busy_worker();
    let verdict = remote(agents).judged();
    let [cause] = &verdict.causes[..] else { panic!("{:?}", verdict.causes) };
    let beginning = "agents d, a and 4 more: a worker thread was busy 99 %";
    assert!(cause.sentence.starts_with(beginning), "{cause:?}");
    assert_eq!(cause.lasted, Duration::from_secs(10));
}

#[test]
fn the_most_serious_state_of_all_agents_counts() {
    let stolen = || Story::healthy().with(name::HOST_STEAL, 0.3);
    let busy = remote(vec![stolen(), Story::healthy()]).judged();
    assert_eq!(busy.state, State::BusyMachine);
    let both = remote(vec![stolen(), busy_worker()]).judged();
    assert_eq!(both.state, State::Limited);
    let limits: Vec<_> = both.causes.iter().map(|cause| cause.limit).collect();
    assert_eq!(limits, [LimitingResource::Worker, LimitingResource::Steal]);
    // Unexplained is more serious than a busy machine, so its cause comes first.
    let late = remote(vec![stolen(), Story::healthy().lagging(0..100, 3)]).judged();
    assert_eq!(late.state, State::Unexplained);
    assert_eq!(late.causes[0].limit, LimitingResource::Lag);
}

#[test]
fn an_agent_without_a_good_reply_does_not_hide_the_others() {
    let failing = || Story::healthy().failing(Failure::Refused, EACH);
    let verdict = remote(vec![failing(), Story::healthy()]).judged();
    assert_eq!(
        (verdict.state, &verdict.agents[..]),
        (State::Ok, &[State::Unjudged, State::Ok][..])
    );
    assert_eq!(remote(vec![failing(), failing()]).judged().state, State::Unjudged);
}

#[test]
fn unseen_resources_are_listed_once_with_their_agents() {
    let mut agents = healthy(3);
    agents[0] = Story::healthy().without(name::CONNTRACK);
    agents[2] = Story::healthy().without(name::CONNTRACK);
    let unseen = remote(agents).judged().unseen;
    let [only] = &unseen[..] else { panic!("{unseen:?}") };
    assert!(only.starts_with("agents a and c: a firewall's table"), "{only}");
}

#[test]
fn a_lost_agent_limits_the_run_with_its_missing_share() {
    let verdict = remote(healthy(4)).losing(1, 50).judged();
    assert_eq!(verdict.state, State::Limited);
    assert_eq!(verdict.agents, [State::Ok, State::Limited, State::Ok, State::Ok]);
    let [cause] = &verdict.causes[..] else { panic!("{:?}", verdict.causes) };
    assert_eq!(cause.limit, LimitingResource::Agent);
    assert_eq!(cause.lasted, Duration::from_secs(5));
    // Half of the time of a quarter of the load.
    assert_eq!(
        cause.sentence,
        "agent b was lost: its share is missing from 5.0 s of the measured time on, 12 % of the planned load"
    );
    assert!(verdict.evidence.iter().any(|one| one.limit == LimitingResource::Agent));
}

#[test]
fn a_replaced_agent_misses_only_the_time_until_then() {
    let mut run = remote(healthy(4)).losing(1, 50).run();
    let resume = |at: u64, run: &mut Run| {
        let resumed = Event::Resumed { at: Tick(at), process: 1 };
        run.fold(&Event::Agent { number: 1, event: resumed.clone().into() });
        run.fold(&resumed);
    };
    resume(7 * SECOND, &mut run);
    let judged = verdict(&run);
    assert_eq!((judged.state, judged.causes.len()), (State::Limited, 1));
    assert_eq!(
        judged.causes[0].sentence,
        "agent b was lost: its share is missing from 5.0 s to 7.0 s of the measured time, 5.0 % of the planned load"
    );
    // Lost once more.
    let part = ProcessPart { number: 1, count: 4, quiet: 0 };
    run.fold(&Event::Lost(LostProcess { at: Tick(9 * SECOND), part, until: Tick::NEVER }));
    let judged = verdict(&run);
    assert!(
        judged.causes[0].sentence.ends_with(", 7.5 % of the planned load"),
        "{:?}",
        judged.causes
    );
}

#[test]
fn a_lost_agent_leaves_populations_of_other_groups_complete() {
    let mut run = remote(healthy(3)).losing(1, 50).run();
    for (agent, group) in run.environment.agents.iter_mut().zip(["eu", "us", "eu"]) {
        agent.group = Some(group.to_owned());
    }
    let plan = run.plan.as_mut().expect("a plan");
    plan.populations.push(plan.main().clone());
    for (population, group) in plan.populations.iter_mut().zip(["eu", "us"]) {
        population.group = Some(group.to_owned());
    }
    // Half of the time of one of two populations.
    let sentence = &verdict(&run).causes[0].sentence;
    assert!(
        sentence.ends_with("5.0 s of the measured time on, 25 % of the planned load"),
        "{sentence}"
    );
}

#[test]
fn the_missing_share_is_one_of_the_planned_load_if_all_are_lost() {
    let story = remote(healthy(4)).losing(0, 40).losing(1, 40).losing(2, 40).losing(3, 40);
    let mut events = story.events();
    // The measured time ends with the last agent.
    let end = Tick(4 * SECOND);
    events.retain(|event| !matches!(event, Event::Stage { phase: Phase::Grace, .. }));
    for event in &mut events {
        if let Event::Finished(finish) = event {
            finish.at = end;
        }
    }
    let verdict = verdict(&Run::of(&events));
    assert_eq!(verdict.state, State::Invalid, "{:?}", verdict.causes);
    let sentence = &verdict.causes[0].sentence;
    assert!(sentence.ends_with("60 % of the planned load"), "{sentence}");
}

#[test]
fn processes_without_agents_are_named_by_their_numbers() {
    let mut run = Story::healthy().run();
    run.plan.as_mut().expect("a plan").processes = 4;
    let loss = |number| LostProcess {
        at: Tick(5 * SECOND),
        part: ProcessPart { number, count: 4, quiet: 0 },
        until: Tick::NEVER,
    };
    run.fold(&Event::Lost(loss(1)));
    run.fold(&Event::Lost(loss(3)));
    let verdict = verdict(&run);
    assert_eq!(verdict.state, State::Limited);
    assert_eq!(
        verdict.causes[0].sentence,
        "processes 2 and 4 of 4 were lost: their shares are missing, the first one from 5.0 s of the measured time on, 25 % of the planned load"
    );
    assert!((missing_load(&run) - 0.25).abs() < 0.001);
    // Without the order of the losses, and without a long list.
    run.plan.as_mut().expect("a plan").processes = 16;
    for number in [9, 0, 7] {
        run.fold(&Event::Lost(loss(number)));
    }
    let sentence = &super::verdict(&run).causes[0].sentence;
    assert!(sentence.starts_with("processes 1, 2 and 3 more of 4 were lost"), "{sentence}");
}

#[test]
fn a_load_that_its_time_ended_lacks_no_requests() {
    for (duration, missing) in [(Some(Duration::from_secs(10)), 0.05), (None, 0.9)] {
        let mut run = remote(healthy(2)).losing(1, 90).run();
        let begun = run.total.begun;
        let plan = run.plan.as_mut().expect("a plan");
        let stop = &mut plan.populations[0].stop;
        stop.requests = Some(begun * 10);
        stop.duration = duration;
        assert!((missing_load(&run) - missing).abs() < 0.001, "{}", missing_load(&run));
    }
}

#[test]
fn a_run_without_most_of_its_load_is_invalid() {
    let half = remote(healthy(2)).losing(0, 0);
    assert_eq!(half.judged().state, State::Limited, "exactly one half");
    let most = remote(healthy(2)).losing(0, 0).losing(1, 90);
    let verdict = most.judged();
    assert_eq!(verdict.state, State::Invalid);
    let sentence = &verdict.causes[0].sentence;
    assert!(
        sentence.starts_with("agents a and b were lost: their shares are missing"),
        "{sentence}"
    );
    let judgement = brunt_model::Judgement { verdict, ..brunt_model::Judgement::default() };
    assert!(judgement.is_load_missing());
    let conclusion = crate::conclusion::of_run(&most.run(), &judgement).unwrap_or_default();
    assert!(conclusion.starts_with("Most of the load is missing"), "{conclusion}");
}

/// A local agent that used `own` cores on a full machine, whose other processes used `others`.
fn local_agent(own: f64, others: &[(&str, u32, f64)]) -> Story {
    let mut story = Story::healthy()
        .with(name::HOST_IDLE, 0.02)
        .with(name::HOST_USER, 1.58)
        .with(name::worker_run_delay(0), 0.6);
    story.environment.route = Some(Route { same_host: Some(false), ..Route::default() });
    story
        .rates
        .extend([(name::CPU_USER.to_owned(), own / 2.0), (name::CPU_SYSTEM.to_owned(), own / 2.0)]);
    for (process, pid, cores) in others {
        story.rates.insert(name::processes(process), *cores);
        story.states.insert(name::busiest_pid(process), f64::from(*pid));
    }
    let all = others.iter().map(|other| other.2).sum();
    story.rates.insert(name::PROCESSES.to_owned(), all);
    story
}

#[test]
fn agents_of_one_machine_are_not_other_processes() {
    // `a` has pid 100, `b` 101. The controller, which no reading names, uses 0.2 of the cores.
    let both = local(vec![
        local_agent(0.9, &[("brunt", 101, 1.05)]),
        local_agent(0.85, &[("brunt", 100, 1.1)]),
    ]);
    let verdict = both.judged();
    let limits: Vec<_> = verdict.causes.iter().map(|cause| (cause.limit, cause.origin)).collect();
    assert_eq!(limits, [(LimitingResource::RunQueue, UseOrigin::Generator)]);
    assert_eq!(verdict.other_processes, Vec::new());
    let shares = crate::shares::Shares::new(&both.run()).expect("readings");
    assert!((shares.brunt - 1.75).abs() < 1e-6, "{shares:?}");
    assert!(shares.others.unwrap_or(1.0) < 1e-6, "{shares:?}");
}

#[test]
fn real_other_processes_of_local_agents_are_named_once() {
    let verdict = local(vec![
        local_agent(0.06, &[("sh", 7, 1.7), ("brunt", 101, 0.05)]),
        local_agent(0.05, &[("sh", 7, 1.7), ("brunt", 100, 0.06)]),
    ])
    .judged();
    assert_eq!(verdict.state, State::BusyMachine);
    let [cause] = &verdict.causes[..] else { panic!("{:?}", verdict.causes) };
    assert_eq!(cause.limit, LimitingResource::OtherProcesses);
    let beginning = "agents a and b: other processes used 1.70 of 2 cores: sh (pid 7) 1.70";
    assert!(cause.sentence.starts_with(beginning), "{}", cause.sentence);
    let named: Vec<String> = verdict.other_processes.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["a: sh (pid 7) 1.70"]);
}

#[test]
fn agents_without_a_name_of_their_process_are_subtracted_by_their_own_readings() {
    let run = local(vec![local_agent(0.9, &[]), local_agent(0.8, &[])]).run();
    let mut story = local(vec![local_agent(0.9, &[]), local_agent(0.8, &[])]);
    story.agents[0].rates.insert(name::PROCESSES.to_owned(), 1.0);
    let shares = crate::shares::Shares::new(&story.run()).expect("readings");
    assert!((shares.others.unwrap_or(0.0) - 0.2).abs() < 1e-6, "{shares:?}");
    assert_eq!(crate::shares::Shares::new(&run).and_then(|shares| shares.others), Some(0.0));
}

#[test]
fn each_agent_has_its_own_route() {
    let with_routes = |mut fleet: FleetStory, routes: &[bool]| {
        for (agent, same_host) in fleet.agents.iter_mut().zip(routes) {
            let route = Route { same_host: Some(*same_host), ..Route::default() };
            agent.environment.route = Some(route);
        }
        crate::facts::same_host(&fleet.run())
    };
    assert_eq!(with_routes(remote(healthy(2)), &[true]), None);
    assert_eq!(with_routes(remote(healthy(2)), &[true, false]), None);
    assert_eq!(with_routes(remote(healthy(2)), &[false, false]), Some(false));
    assert_eq!(with_routes(local(healthy(2)), &[true]), Some(true));
    let loopback = |fleet: FleetStory| crate::facts::same_host(&fleet.run());
    assert_eq!(loopback(remote(vec![Story::healthy().on_loopback()])), Some(true));
}

#[test]
fn agents_that_do_not_add_up_to_the_run_make_it_invalid() {
    let mut run = remote(healthy(2)).run();
    let check = |run: &Run| {
        let checks = crate::conservation::checks(run);
        checks.into_iter().find(|check| check.name == "agents").expect("a check")
    };
    assert!(check(&run).holds, "{}", check(&run).arithmetic);
    run.agents[1].total.completed -= 1;
    assert!(!check(&run).holds);
    assert!(
        check(&run).arithmetic.contains("1999 completed of 2000"),
        "{}",
        check(&run).arithmetic
    );
}
