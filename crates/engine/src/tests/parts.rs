//! A run in several parts, which stand in threads here: together they are the run of one process.

use super::populations::population;
use super::*;
use crate::control::PartHandle;
use crate::parts::{DistributedRun, Recipients, WorkerChannels, WorkerEvent, join};
use crate::run::run_part;
use brunt_model::fleet::AgentGroup;
use brunt_model::{
    AgentEnvironment, FleetSettings, PartCommand, Placement, ProcessMessage, ProcessPart,
    ProcessShares,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

/// A part that sends nothing after a number of snapshots.
#[derive(Clone, Copy)]
struct Dies {
    part: u32,
    after: usize,
    /// True if another part takes its place.
    is_replaced: bool,
}

type Inbox = SyncSender<(usize, WorkerEvent)>;

impl Fake {
    pub(super) fn run_parts(&self, plan: &Plan) -> Seen {
        let seen = self.join_parts(plan, None, |_| ());
        seen.check(plan, RunEpoch::Fake);
        seen
    }

    /// Runs each part in a thread and joins them.
    fn join_parts(&self, plan: &Plan, dies: Option<Dies>, mut listen: impl FnMut(&Event)) -> Seen {
        let (out, inbox) = sync_channel(4);
        let sent: Mutex<Vec<Sender<PartCommand>>> = Mutex::default();
        let mut seen = Seen { run: Run::default(), events: Vec::new(), samples: Vec::new() };
        let (replace, replaces) = channel::<()>();
        let (is_replaced, has_resumed) =
            (dies.is_some_and(|dies| dies.is_replaced), &AtomicBool::new(false));
        let mut sink = |event: &Event| {
            listen(event);
            seen.run.fold(event);
            match event {
                Event::Lost(_) if is_replaced => replace.send(()).unwrap(),
                Event::Resumed { .. } => has_resumed.store(true, Ordering::Relaxed),
                Event::Samples(samples) => seen.samples.extend(samples),
                other => seen.events.push(other.clone()),
            }
        };
        thread::scope(|scope| {
            let count = plan.fleet.as_ref().map_or(0, |fleet| fleet.on.agents());
            let names: Vec<String> = (1..=count).map(|number| format!("local-{number}")).collect();
            let groups = plan.fleet.as_ref().map(|fleet| fleet.groups_of(&names));
            let groups = groups.unwrap_or_default();
            for shares in ProcessShares::all(plan, &groups) {
                let part = shares.process;
                let (handle, line) = linked_part(plan, shares, out.clone());
                sent.lock().unwrap().push(line);
                let out = out.clone();
                scope.spawn(move || {
                    let own = dies.filter(|dies| dies.part == part.number);
                    // On the fake clock, the others would have ended when the replacement is ready.
                    let wait = |snapshots: usize| {
                        let waits = dies.is_some_and(|d| d.is_replaced && snapshots > d.after + 5);
                        while waits && own.is_none() && !has_resumed.load(Ordering::Relaxed) {
                            thread::sleep(ms(1));
                        }
                    };
                    self.one_part(plan, &handle, &out, own, wait);
                });
            }
            if let Some(Dies { part, is_replaced: true, .. }) = dies {
                let (shares, sent) = (ProcessShares::of(plan, part, &groups), &sent);
                let out = out.clone();
                scope.spawn(move || {
                    replaces.recv().unwrap();
                    let (handle, line) = linked_part(plan, shares, out.clone());
                    sent.lock().unwrap()[part as usize] = line;
                    self.one_part(plan, &handle, &out, None, |_| ());
                });
            }
            drop(out);
            let mut send = |recipients: Recipients, word| {
                let sent = sent.lock().unwrap();
                let recipients = sent.iter().enumerate().filter(|(n, _)| recipients.contain(*n));
                recipients.for_each(|(_, line)| _ = line.send(word));
            };
            let mut channels = WorkerChannels { inbox: &inbox, send: &mut send };
            let agents = names.iter().zip(&groups).map(|(name, group)| AgentEnvironment {
                name: name.clone(),
                group: group.map(str::to_owned),
                ..AgentEnvironment::default()
            });
            let environment = Environment { agents: agents.collect(), ..Environment::default() };
            let distributed_run = DistributedRun {
                plan,
                epoch: self.epoch,
                labels: self.labels.clone(),
                agents: names,
                delivery: Duration::ZERO,
                begun: None,
            };
            join(&distributed_run, environment, &mut channels, &self.stop, &mut sink).unwrap();
            drop(inbox);
        });
        seen.samples.sort_by_key(|s| s.planned);
        seen
    }

    /// Runs a part, and calls `wait` with the number of its snapshots at each event.
    fn one_part(
        &self,
        plan: &Plan,
        handle: &PartHandle,
        out: &Inbox,
        dies: Option<Dies>,
        wait: impl Fn(usize),
    ) {
        let number = handle.shares.process.number as usize;
        let (mut snapshots, mut silent) = (0, false);
        let mut sink = |event: &Event| {
            wait(snapshots);
            // It dies between the snapshots of populations and that of all.
            let is_total = matches!(event, Event::Snapshot(_));
            if !silent && is_total && dies.is_some_and(|d| snapshots >= d.after) {
                silent = true;
                let _ = out.send((number, WorkerEvent::Exited(Some("it died".into()))));
            }
            snapshots += usize::from(matches!(event, Event::Snapshot(_)));
            if !silent {
                let _ = out.send((
                    number,
                    WorkerEvent::Message(Box::new(ProcessMessage::Event(event.clone()))),
                ));
            }
        };
        run_part(plan, Environment::default(), self, handle, &mut sink).unwrap();
        if dies.is_none() {
            let _ = out.send((number, WorkerEvent::Exited(None)));
        }
    }
}

/// Creates a part that sends its messages to `out`, and the line for its commands.
fn linked_part(
    plan: &Plan,
    shares: ProcessShares,
    out: Inbox,
) -> (PartHandle, Sender<PartCommand>) {
    let (line, words) = channel();
    let part = shares.process;
    let handle = PartHandle::new(plan, shares, move |message| {
        let message = Box::new(message.clone());
        let _ = out.send((part.number as usize, WorkerEvent::Message(message)));
    });
    let hears = handle.clone();
    thread::spawn(move || words.iter().for_each(|word| hears.apply(word)));
    (handle, line)
}

fn parts(processes: u32, plan: Plan) -> Plan {
    Plan { processes, ..plan }
}

fn agents(count: u32, plan: Plan) -> Plan {
    let fleet = FleetSettings {
        quiet: 0,
        groups: Vec::new(),
        by_zone: false,
        on: Placement::Local(count),
        lease: Duration::from_secs(1),
        bytes_per_second: 0,
        consent: None,
        cluster: None,
    };
    Plan { fleet: Some(fleet), ..parts(count, plan) }
}

fn arrivals(rate: f64, arrivals: Arrivals) -> Load {
    let rate = LoadShape::constant(rate);
    Load::Open { rate, arrivals, connections: None, max_in_flight: 1000 }
}

/// Users whose times to think differ, so that no reply is due exactly at the border of an interval.
fn users(count: f64) -> Load {
    let think = ThinkTime { least: ms(50), most: ms(150) };
    Load::Closed { users: LoadShape::constant(count), think }
}

/// The counts and times of a run and of its intervals, as text. Connections are left out: each agent
/// has its own.
fn figures(run: &Run) -> String {
    let Tally { planned, begun, completed, good, statuses, response, service, lag, .. } =
        &run.total;
    // Agents begin later than one process, because the command needs time to reach them.
    let begins = run.phase_start(Phase::Measure).unwrap_or_default();
    let all = run.series.points();
    let (setup, loaded): (Vec<_>, Vec<_>) =
        all.filter(|point| point.to > point.from).partition(|point| point.phase == Phase::Setup);
    // Requests that are due at the begin itself count before or after this border.
    let mut due_at_begin: u64 = setup.iter().map(|point| point.flow.planned).sum();
    let points = loaded.into_iter().map(|point| {
        let flow = &point.flow;
        let planned = flow.planned + std::mem::take(&mut due_at_begin);
        let counts = (planned, flow.completed, flow.good, flow.errors);
        let span = (point.from - begins, point.to - begins);
        (span, point.phase, counts, point.response.clone())
    });
    let points: Vec<_> = points.collect();
    format!(
        "{planned} {begun} {completed} {good} {statuses:?} {response:?} {service:?} {lag:?} {points:?}"
    )
}

#[test]
fn four_agents_together_are_one_process_bit_for_bit() {
    for plan in [
        open(300.0, Arrivals::Even, secs(5)),
        open(300.0, Arrivals::Poisson, secs(5)),
        open(300.0, Arrivals::Burst(7), secs(5)),
        closed(12.0, secs(5)),
    ] {
        let whole = Fake::delay(ms(3)).run(&plan).run;
        let seen = Fake::delay(ms(3)).run_parts(&agents(4, plan.clone())).run;
        assert_eq!(figures(&seen), figures(&whole));
        let mut sum = Tally::default();
        seen.agents.iter().for_each(|agent| sum.merge(&agent.total));
        assert_eq!(sum.response, whole.total.response, "the agents together");
        assert_eq!(sum.planned, whole.total.planned);
        assert_eq!(seen.agents.len(), 4);
        assert!(seen.agents.iter().all(|agent| agent.measured_seconds() == 5.0));
    }
}

#[test]
fn quiet_agents_get_one_of_a_hundred_arrivals_and_the_whole_is_the_same() {
    for arrivals in [Arrivals::Even, Arrivals::Poisson] {
        // No arrival is due exactly at the border of an interval.
        let plan = open(799.3, arrivals, secs(5));
        let whole = Fake::delay(ms(3)).run(&plan).run;
        let mut plan = agents(4, plan);
        plan.fleet.as_mut().expect("agents").quiet = 1;
        let seen = Fake::delay(ms(3)).run_parts(&plan).run;
        assert_eq!(figures(&seen), figures(&whole));
        let planned: Vec<u64> = seen.agents.iter().map(|agent| agent.total.planned).collect();
        let all: u64 = planned.iter().sum();
        assert_eq!(planned[3], all / 100, "{planned:?}");
        assert!(planned[..3].iter().all(|one| one.abs_diff((all - all / 100) / 3) <= 1));
    }
}

/// Five agents in two groups, and one without a group.
fn grouped_agents(plan: Plan) -> Plan {
    let mut plan = agents(5, plan);
    let group = |name: &str, agents: &[&str]| AgentGroup {
        name: name.into(),
        agents: agents.iter().map(|agent| format!("local-{agent}")).collect(),
    };
    plan.fleet.as_mut().expect("agents").groups =
        vec![group("eu", &["5", "1", "3"]), group("us", &["2"])];
    plan
}

/// Populations on both groups, and one on all agents.
fn placed_populations(other: Load) -> Plan {
    let mut plan = open(1.0, Arrivals::Even, secs(5));
    plan.populations = [
        ("a", arrivals(310.7, Arrivals::Poisson), Some("eu")),
        ("b", users(7.0), Some("us")),
        ("c", users(8.0), Some("eu")),
        ("d", other, None),
    ]
    .map(|(name, load, group)| Population {
        group: group.map(str::to_owned),
        ..population(name, load, secs(5))
    })
    .into();
    plan
}

#[test]
fn placed_populations_are_together_one_process_bit_for_bit() {
    for other in
        [arrivals(211.3, Arrivals::Burst(7)), arrivals(97.1, Arrivals::Poisson), users(9.0)]
    {
        let plan = placed_populations(other);
        let whole = Fake::delay(ms(3)).run(&plan).run;
        let seen = Fake::delay(ms(3)).run_parts(&grouped_agents(plan)).run;
        assert_eq!(figures(&seen), figures(&whole));
        for (placed, alone) in seen.populations.iter().zip(&whole.populations) {
            assert_eq!(figures(placed), figures(alone));
        }
        let mut sum = Tally::default();
        seen.agents.iter().for_each(|agent| sum.merge(&agent.total));
        assert_eq!(sum.response, whole.total.response, "the agents together");
        let carried = |agent: &Run| {
            let plan = agent.plan.as_ref().expect("a plan");
            plan.populations.iter().map(|one| one.name.clone()).collect::<String>()
        };
        assert_eq!(
            seen.agents.iter().map(carried).collect::<Vec<_>>(),
            ["acd", "bd", "acd", "d", "acd"]
        );
    }
}

#[test]
fn a_limit_of_a_placed_population_is_that_of_its_group() {
    for n in [1, 2, 100, 301] {
        let mut plan = placed_populations(users(9.0));
        for population in &mut plan.populations {
            population.stop = Stop { duration: None, requests: Some(n), ..population.stop };
        }
        let seen = Fake::delay(ms(3)).run_parts(&grouped_agents(plan));
        for population in &seen.run.populations {
            assert_eq!((population.total.planned, population.total.completed), (n, n));
        }
    }
}

#[test]
fn the_loss_of_an_agent_concerns_the_populations_on_its_group() {
    let slow = || Fake::delay(ms(250));
    let plan = grouped_agents(placed_populations(arrivals(97.1, Arrivals::Even)));
    let whole = slow().run_parts(&plan).run;
    let seen =
        slow().join_parts(&plan, Some(Dies { part: 2, after: 12, is_replaced: false }), |_| ());
    assert_eq!(broken(&seen.run), []);
    let shares: Vec<f64> = seen
        .run
        .populations
        .iter()
        .zip(&whole.populations)
        .map(|(lost, whole)| lost.total.planned as f64 / whole.total.planned as f64)
        .collect();
    // Of four seconds, the populations on its group miss a third, and the one on all agents a fifth.
    let expected = [0.73..0.80, 1.0..1.01, 0.70..0.80, 0.83..0.88];
    for (share, expected) in shares.iter().zip(expected) {
        assert!(expected.contains(share), "{shares:?}");
    }
    let counts = seen.run.populations.iter().map(|one| one.losses.iter().map(|l| l.part.count));
    assert_eq!(
        counts.map(Iterator::collect).collect::<Vec<Vec<u32>>>(),
        [vec![3], vec![], vec![3], vec![5]]
    );
}

#[test]
fn the_loss_of_an_agent_leaves_the_others_unchanged() {
    let plan = agents(3, open(300.0, Arrivals::Poisson, secs(5)));
    let whole = Fake::delay(ms(3)).run_parts(&plan).run;
    let dies = Some(Dies { part: 1, after: 12, is_replaced: false });
    let seen = Fake::delay(ms(3)).join_parts(&plan, dies, |_| ()).run;
    for agent in [0, 2] {
        assert_eq!(seen.agents[agent].total, whole.agents[agent].total);
        assert_eq!(figures(&seen.agents[agent]), figures(&whole.agents[agent]));
    }
    let lost = seen.agents[1].losses.first().expect("a lost agent");
    assert_eq!(seen.agents[1].total.completed, {
        // Before the loss, the agent had done what it does in a run without a loss.
        let points = whole.agents[1].series.points().filter(|point| point.to <= lost.at);
        points.map(|point| point.flow.completed).sum::<u64>()
    });
    let text = "agent local-2 ended before its time (it died)";
    assert!(seen.warnings.iter().any(|warning| warning.contains(text)), "{:?}", seen.warnings);
}

#[test]
fn a_replacement_carries_out_exactly_the_share_of_the_lost_agent() {
    for arrivals in [Arrivals::Even, Arrivals::Poisson, Arrivals::Burst(7)] {
        // No arrival is due exactly at the border of an interval.
        let plan = agents(3, open(299.3, arrivals, secs(5)));
        let whole = Fake::delay(ms(3)).run_parts(&plan).run;
        let dies = Some(Dies { part: 1, after: 12, is_replaced: true });
        let seen = Fake::delay(ms(3)).join_parts(&plan, dies, |_| ());
        seen.check_snapshots();
        let ends = seen.begins() + secs(5);
        let seen = seen.run;
        assert_eq!(broken(&seen), []);
        for agent in [0, 2] {
            assert_eq!(figures(&seen.agents[agent]), figures(&whole.agents[agent]));
        }
        let loss = seen.agents[1].losses[0];
        assert!(loss.until < ends, "{loss:?}");
        let planned = |run: &Run| -> Vec<(Tick, u64)> {
            let points = run.agents[1].series.points();
            let points = points.filter(|point| point.to <= loss.at || point.from >= loss.until);
            points.map(|point| (point.from, point.flow.planned)).collect()
        };
        assert_eq!(planned(&seen), planned(&whole), "{arrivals:?}");
        assert!(planned(&seen).iter().filter(|point| point.0 >= loss.until).count() > 5);
        let text = "took the place of agent local-2";
        assert!(seen.warnings.iter().any(|warning| warning.contains(text)), "{:?}", seen.warnings);
    }
}

#[test]
fn users_of_a_replacement_begin_with_it() {
    let think = ThinkTime { least: ms(50), most: ms(150) };
    for plan in
        [closed(12.0, secs(5)), thinking(shape(&[(0.0, 20.0, 2), (20.0, 20.0, 3)]), think, secs(5))]
    {
        let plan = agents(3, plan);
        let dies = Some(Dies { part: 1, after: 12, is_replaced: true });
        let seen = Fake::delay(ms(3)).join_parts(&plan, dies, |_| ());
        seen.check_snapshots();
        let seen = seen.run;
        assert_eq!(broken(&seen), []);
        let loss = seen.agents[1].losses[0];
        let after = seen.agents[1].series.points().filter(|point| point.from >= loss.until);
        let counts: Vec<u64> = after.map(|point| point.flow.completed).collect();
        assert!(
            counts.len() > 5 && counts[1..counts.len() - 1].iter().all(|n| *n > 0),
            "{counts:?}"
        );
    }
}

#[test]
fn arrivals_do_not_depend_on_the_number_of_processes() {
    for arrivals in [Arrivals::Even, Arrivals::Poisson, Arrivals::Burst(7)] {
        let plan = open(300.0, arrivals, secs(5));
        let whole = Fake::delay(ms(3)).run(&plan);
        for (processes, threads) in [(2, 1), (3, 1), (5, 1)] {
            let seen =
                Fake::delay(ms(3)).run_parts(&parts(processes, Plan { threads, ..plan.clone() }));
            assert_eq!(seen.planned(), whole.planned(), "{processes} processes");
            assert_eq!(seen.responses(), whole.responses(), "{processes} processes");
            assert_eq!(seen.run.flow.completed, whole.run.flow.completed);
        }
    }
}

#[test]
fn users_do_not_depend_on_the_number_of_processes() {
    let think = ThinkTime { least: ms(50), most: ms(150) };
    let plan = thinking(shape(&[(0.0, 20.0, 4), (20.0, 20.0, 1), (20.0, 5.0, 3)]), think, secs(8));
    let whole = Fake::delay(ms(3)).run(&plan);
    for processes in [2, 3, 7] {
        let seen = Fake::delay(ms(3)).run_parts(&parts(processes, plan.clone()));
        assert_eq!(seen.planned(), whole.planned(), "{processes} processes");
        assert_eq!(seen.run.peak.connections, whole.run.peak.connections);
    }
}

#[test]
fn the_workers_send_the_requested_number_of_requests() {
    for n in [1, 2, 100, 301] {
        for load in [
            closed(7.0, secs(1)),
            open(200.0, Arrivals::Poisson, secs(1)),
            capped(200.0, Arrivals::Even, 7, secs(1)),
        ] {
            let stop = Stop { duration: None, requests: Some(n), ..load.main().stop };
            let seen = Fake::delay(ms(3)).run_parts(&parts(3, load.with_stop(stop)));
            assert_eq!((seen.run.total.planned, seen.run.total.completed), (n, n));
        }
    }
}

#[test]
fn connections_are_divided_completely() {
    for processes in [2, 3] {
        let seen = Fake::queue(8, ms(10))
            .run_parts(&parts(processes, capped(500.0, Arrivals::Even, 8, secs(2))));
        assert_eq!((seen.run.flow_all.opened, seen.run.peak.connections), (8, 8));
    }
}

#[test]
fn labels_have_the_same_names_in_all_workers() {
    let mut world = Fake::delay(ms(3)).user(|turn| match (turn.step, turn.number % 3) {
        (0, 0) => Next::Ask("http://fake/a"),
        (0, _) => Next::Ask("http://fake/b"),
        _ => Next::Done,
    });
    world.labels = vec!["http://fake/a".into(), "http://fake/b".into()];
    let seen = world.run_parts(&parts(2, open(300.0, Arrivals::Even, secs(1))));
    let begun = |label| seen.run.labels[&label].begun;
    assert_eq!((begun(0), begun(1)), (100, 200));
}

#[test]
fn the_data_of_a_killed_worker_stay_consistent() {
    let slow = || Fake::delay(ms(250));
    for plan in [
        closed(7.0, secs(5)),
        open(200.0, Arrivals::Even, secs(5)),
        capped(50.0, Arrivals::Even, 6, secs(5)),
    ] {
        let whole = slow().run_parts(&parts(3, plan.clone())).run;
        let seen = slow().join_parts(
            &parts(3, plan.clone()),
            Some(Dies { part: 1, after: 12, is_replaced: false }),
            |_| (),
        );
        assert_eq!(broken(&seen.run), []);
        seen.check_counts();
        seen.check_snapshots();
        let loss = seen.run.losses.clone();
        assert_eq!((loss.len(), loss[0].part), (1, ProcessPart { number: 1, count: 3, quiet: 0 }));
        assert!(seen.run.total.failed_by(Failure::Cut) > 0, "{plan:?}");
        // Its third of the load is missing from the first second on.
        let share = seen.run.total.planned as f64 / whole.total.planned as f64;
        assert!((0.68..0.80).contains(&share), "{share}");
        assert!(
            seen.run
                .warnings
                .iter()
                .any(|w| w.contains("process 2 of 3 ended before its time (it died)"))
        );
    }
}

#[test]
fn all_workers_end_at_the_same_border() {
    for plan in [open(200.0, Arrivals::Poisson, secs(60)), closed(4.0, secs(60))] {
        let plan = parts(
            2,
            Plan { record: RecordSettings { interval: ms(20), ..plan.record.clone() }, ..plan },
        );
        let world = Fake { epoch: RunEpoch::now(), ..Fake::delay(ms(5)) };
        let stop = world.stop.clone();
        let mut snapshots = 0;
        let seen = world.join_parts(&plan, None, |event| {
            snapshots += usize::from(matches!(event, Event::Snapshot(_)));
            if snapshots == 5 {
                stop.end();
            }
        });
        seen.check(&plan, world.epoch);
        assert!(!seen.run.is_interrupted());
        let measured = (seen.run.measured_seconds() * 1e3).round() as u64;
        assert!(measured < 30_000 && measured.is_multiple_of(20), "{measured}");
    }
}

#[test]
fn a_refusing_server_ends_all_workers() {
    let world = Fake::delay(ms(1))
        .door(|| |_: Tick| SimulatedReaction::Fails(Failure::Refused, Tick::ZERO));
    let seen = world.join_parts(&parts(3, closed(6.0, secs(1))), None, |_| ());
    let error = seen.run.finish.unwrap().error.unwrap();
    assert!(error.contains("no process listens"), "{error}");
}

/// Uses the system's clock: on a fake one, a part would end before it receives a command.
#[test]
fn a_user_of_one_worker_ends_the_run_in_all_workers() {
    let ends = |turn: UserTurn<'_>| match (turn.step, turn.number) {
        (0, _) => Next::Ask("http://fake/"),
        // Parts take each second number: it is one of the first part.
        (_, 20) => Next::EndRun,
        _ => Next::Done,
    };
    let world = Fake { epoch: RunEpoch::now(), ..Fake::delay(ms(5)).user(ends) };
    let seen = world.join_parts(&parts(2, closed(2.0, secs(60))), None, |_| ());
    seen.check(&parts(2, closed(2.0, secs(60))), world.epoch);
    let finish = seen.run.finish.as_ref().unwrap();
    assert!(!finish.interrupted);
    // Both parts were planned to run for a minute.
    assert!(finish.at < seen.begins() + secs(30), "{:?}", finish.at);
    assert!(seen.samples.iter().any(|sample| sample.iteration % 2 == 1));
}
