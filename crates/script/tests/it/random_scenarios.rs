//! Scenarios drawn at random, carried out by the engine on a fake clock: every consistency check holds in both loops.

use crate::world::{Fake, closed, ms, open, plan};
use brunt_engine::{RunControl, run};
use brunt_model::load::{Arrivals, LoadShape, ThinkTime};
use brunt_model::scenario::{
    Branch, ConcurrencyMode, Condition, EndScope, ListOrder, Pauses, Portion, Scenario,
    ScenarioStep,
};
use brunt_model::{
    Environment, Event, Failure, Load, LoadStage, Plan, Population, Request, Run, Tick,
};
use brunt_script::{CompiledScript, Languages};
use brunt_wire::fake::SimulatedReaction;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

const SCENARIOS: u64 = 1000;

/// Draws scenarios, loads and plans.
struct Draw {
    random: Pcg64Mcg,
    transactions: u32,
}

impl Draw {
    fn one_of<V: Clone>(&mut self, values: &[V]) -> V {
        values[self.random.random_range(0..values.len())].clone()
    }

    fn think(&mut self) -> ScenarioStep {
        let least = ms(self.one_of(&[0, 1, 30, 200, 1500]));
        ScenarioStep::Think(ThinkTime { least, most: least + ms(self.one_of(&[0, 0, 100])) })
    }

    fn requests(&mut self) -> Vec<ScenarioStep> {
        (0..self.random.random_range(1..5))
            .map(|_| ScenarioStep::Request(self.random.random_range(0..2)))
            .collect()
    }

    fn steps(&mut self, depth: u32, in_turns: bool) -> Vec<ScenarioStep> {
        (0..self.random.random_range(1..4)).map(|_| self.step(depth, in_turns)).collect()
    }

    fn transaction(&mut self, steps: Vec<ScenarioStep>) -> ScenarioStep {
        self.transactions += 1;
        let pauses = self.one_of(&[Pauses::Excluded, Pauses::Included]);
        ScenarioStep::Transaction {
            name: format!("t{}", self.transactions),
            pauses,
            parent: false,
            steps,
        }
    }

    /// A step, with other steps within it down to `depth`. `in_turns`: within branches that take turns.
    fn step(&mut self, depth: u32, in_turns: bool) -> ScenarioStep {
        if depth == 0 {
            return self.leaf(in_turns);
        }
        let steps = self.steps(depth - 1, in_turns);
        match self.random.random_range(0..12) {
            0..4 => self.transaction(steps),
            4 => ScenarioStep::Loop { times: Some(self.random.random_range(0..4).into()), steps },
            5 => {
                let condition = self.one_of(&[
                    Condition::Failed,
                    Condition::Succeeded,
                    Condition::Status(200, 299),
                ]);
                ScenarioStep::If {
                    condition,
                    then: steps,
                    otherwise: self.steps(depth - 1, in_turns),
                }
            }
            6 => ScenarioStep::Once(steps),
            7 => ScenarioStep::Group { name: "group".into(), steps },
            8 if !in_turns => self.turns(depth),
            9 => ScenarioStep::Shuffle(vec![steps, self.steps(depth - 1, in_turns)]),
            _ => self.leaf(in_turns),
        }
    }

    /// Branches that take turns, and rest in between.
    fn turns(&mut self, depth: u32) -> ScenarioStep {
        let branches = (0..2).map(|_| {
            let steps = self.steps(depth - 1, true);
            Branch { weight: 1, steps: vec![ScenarioStep::Resumable(steps)] }
        });
        let branches = branches.collect();
        let order = self.one_of(&[ListOrder::Walk, ListOrder::WalkTogether, ListOrder::Random]);
        ScenarioStep::Choose { order, portion: Portion::Turn, branches }
    }

    fn leaf(&mut self, in_turns: bool) -> ScenarioStep {
        match self.random.random_range(0..14) {
            0..4 => self.think(),
            4 => ScenarioStep::Together {
                manner: ConcurrencyMode::Pipelined,
                steps: self.requests(),
            },
            5 => {
                let manner = ConcurrencyMode::Parallel(self.random.random_range(1..4));
                ScenarioStep::Together { manner, steps: self.requests() }
            }
            6 => {
                let scopes = [
                    EndScope::Round,
                    EndScope::Loop,
                    EndScope::Iteration,
                    EndScope::User,
                    EndScope::Run,
                ];
                let condition = Condition::Failed;
                ScenarioStep::If {
                    condition,
                    then: vec![ScenarioStep::Stop(self.one_of(&scopes))],
                    otherwise: Vec::new(),
                }
            }
            7 => {
                ScenarioStep::Meet { users: "2".into(), timeout: self.one_of(&["0", "300"]).into() }
            }
            8 | 9 if in_turns => ScenarioStep::Stop(EndScope::Turn),
            _ => ScenarioStep::Request(self.random.random_range(0..2)),
        }
    }

    fn scenario(&mut self) -> Scenario {
        let mut steps = self.steps(3, false);
        let requests = self.requests();
        steps.push(self.transaction(requests));
        steps.extend(self.one_of(&[false, true]).then(|| self.think()));
        Scenario::of(vec![Request::get("http://h/a"), Request::get("http://h/b")], steps)
    }

    fn load(&mut self) -> Load {
        let rates = LoadShape {
            stages: vec![LoadStage { from: 1.0, to: 80.0, duration: Some(Duration::from_secs(2)) }],
        };
        let arrivals = self.one_of(&[Arrivals::Even, Arrivals::Poisson]);
        let max_in_flight = self.one_of(&[3, 1000]);
        let connections = self.one_of(&[None, Some(2), Some(20)]);
        match self.random.random_range(0..4) {
            0 => closed(f64::from(self.random.random_range(1..6))),
            1 => open(self.random.random_range(1.0..60.0)),
            2 => Load::Open { rate: rates, arrivals, connections, max_in_flight },
            _ => {
                let rate = LoadShape::constant(self.random.random_range(1.0..60.0));
                Load::Open { rate, arrivals, connections, max_in_flight }
            }
        }
    }

    fn plan(&mut self) -> Plan {
        let load = self.load();
        let mut plan = plan(load, self.random.random_range(1..6), Vec::new());
        plan.main_mut().scenario = self.scenario();
        plan.main_mut().stop.warmup = ms(self.one_of(&[0, 0, 1000]));
        plan.main_mut().stop.grace = ms(self.one_of(&[0, 100, 5000]));
        plan.main_mut().stop.requests = self.one_of(&[None, None, None, Some(40)]);
        plan.reply_policies[0].failure_ends = self.one_of(&[
            EndScope::Nothing,
            EndScope::Nothing,
            EndScope::Iteration,
            EndScope::User,
        ]);
        plan.connection.timeout = ms(self.one_of(&[300, 5000]));
        plan.connection.requests_per_connection = self.one_of(&[None, None, Some(1), Some(3)]);
        if self.random.random_range(0..4) == 0 {
            let stop = plan.main().stop;
            let (load, scenario) = (self.load(), self.scenario());
            plan.populations.push(Population {
                name: "other".into(),
                load,
                scenario,
                stop,
                connection: None,
                group: None,
            });
        }
        plan.seed = self.random.random();
        plan
    }
}

/// Replies after 0 to 800 ms, some with a failure; the number and the instant of a request decide.
fn unsteady(n: u64, now: Tick) -> SimulatedReaction {
    let mut random = Pcg64Mcg::seed_from_u64(n ^ now.0.rotate_left(20));
    let end = now + ms(random.random_range(0..80) * random.random_range(0..11));
    match random.random_range(0..40) {
        0 => SimulatedReaction::Never,
        1..4 => SimulatedReaction::Reply(503, end),
        4..6 => SimulatedReaction::Fails(Failure::Reset, end),
        _ => SimulatedReaction::Reply(200, end),
    }
}

fn carry_out(plan: &Plan) -> Run {
    let world = Fake {
        scripts: CompiledScript::all(plan, Languages::CORE).expect("scripts"),
        answer: unsteady,
    };
    let mut seen = Run::default();
    run(plan, Environment::default(), &world, &RunControl::default(), &mut |event: &Event| {
        seen.fold(event);
    })
    .expect("a run");
    seen
}

#[test]
fn any_scenario_passes_all_checks_in_both_loops() {
    let mut unfinished = [0; 2];
    for seed in 0..SCENARIOS {
        let mut draw = Draw { random: Pcg64Mcg::seed_from_u64(seed), transactions: 0 };
        let plan = draw.plan();
        let run = carry_out(&plan);
        let failed: Vec<_> =
            brunt_judge::conservation::checks(&run).into_iter().filter(|c| !c.holds).collect();
        assert!(failed.is_empty(), "seed {seed}: {failed:#?}\n{plan:#?}");
        assert!(run.transactions.values().all(|t| t.in_flight() == 0), "seed {seed}");
        let is_open = matches!(plan.main().load, Load::Open { .. });
        unfinished[usize::from(is_open)] +=
            run.transactions.values().map(|t| t.unfinished).sum::<u64>();
    }
    // Both loops came to transactions that the end of the run leaves unfinished.
    assert!(unfinished.iter().all(|count| *count > SCENARIOS / 10), "{unfinished:?}");
}

#[test]
fn a_pause_within_a_transaction_of_the_open_loop_leaves_it_unfinished_at_the_end() {
    let think = ScenarioStep::Think(ThinkTime { least: ms(200), most: ms(200) });
    let steps = vec![ScenarioStep::Request(0), think, ScenarioStep::Request(1)];
    let buy = ScenarioStep::Transaction {
        name: "buy".into(),
        pauses: Pauses::Excluded,
        parent: false,
        steps,
    };
    let mut plan = plan(open(50.0), 3, vec![buy]);
    plan.reply_policies[0].failure_ends = EndScope::Nothing;
    let world = Fake {
        scripts: CompiledScript::all(&plan, Languages::CORE).expect("scripts"),
        answer: |_, now| SimulatedReaction::Reply(200, now),
    };
    let mut seen = Run::default();
    run(&plan, Environment::default(), &world, &RunControl::default(), &mut |event: &Event| {
        seen.fold(event);
    })
    .expect("a run");
    let buy = &seen.transactions["buy"];
    // Those that began in the last 200 ms did not come to their second request.
    assert_eq!((buy.started, buy.succeeded, buy.failed, buy.unfinished), (150, 140, 0, 10));
    assert_eq!(buy.response.max(), 0, "pauses are no part of the time");
}
