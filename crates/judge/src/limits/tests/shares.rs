//! Machines with random shares, with and without idle cores: the verdict blames the generator only with a proof, and the length
//! of a run does not change it.

use super::{LimitingResource, SECOND, Story, full, open_loop};
use brunt_model::finding::State;
use brunt_model::reading_names as name;
use proptest::prelude::*;

/// Nanoseconds of a tenth of a run: of 0.2 s, 1 s, 2 s, 3 s, 10 s, 1 min and 10 min.
const TENTHS_OF_RUNS: [u64; 7] =
    [SECOND / 50, SECOND / 10, SECOND / 5, 3 * SECOND / 10, SECOND, 6 * SECOND, 60 * SECOND];

/// Users of the cores of a machine, in shares of those that are busy.
#[derive(Debug, Clone)]
struct Users {
    cores: f64,
    /// Idle share of all cores.
    idle: f64,
    brunt: f64,
    server: f64,
    others: f64,
    /// False if nobody may read whose processes hold the target's socket.
    knows_server: bool,
    /// Share of the other processes' time that no reading contains, because they are short.
    unread: f64,
    is_open: bool,
}

fn users() -> impl Strategy<Value = Users> {
    let idle = prop_oneof![Just(0.01), 0.12..0.8f64];
    let shares = (0.01..1.0f64, 0.0..1.0f64, 0.0..1.0f64);
    (1u32..64, idle, shares, any::<bool>(), 0.0..1.0f64, any::<bool>()).prop_map(
        |(cores, idle, (brunt, server, others), knows_server, unread, is_open)| {
            let sum = brunt + server + others;
            Users {
                cores: f64::from(cores),
                idle,
                brunt: brunt / sum,
                server: server / sum,
                others: others / sum,
                knows_server,
                unread,
                is_open,
            }
        },
    )
}

impl Users {
    fn story(&self, second: u64, seconds_between_processes: u64) -> Story {
        let [brunt, server, others] = [self.brunt, self.server, self.others]
            .map(|share| share * self.cores * (1.0 - self.idle));
        let story = Story::healthy();
        let story = if self.is_open { story.load(open_loop(500)) } else { story };
        let mut story = full(story, brunt, server, others * (1.0 - self.unread))
            .with(name::worker_run_delay(0), 0.3)
            .lagging(0..100, if self.is_open { 4 } else { 0 });
        for part in name::HOST_PARTS {
            story.rates.insert(part.to_owned(), 0.0);
        }
        story.changes.retain(|change| !name::HOST_PARTS.contains(&change.1.as_str()));
        story.rates.insert(name::HOST_USER.to_owned(), self.cores * (1.0 - self.idle));
        story.rates.insert(name::HOST_IDLE.to_owned(), self.cores * self.idle);
        let story = if self.knows_server { story } else { story.without(name::SERVER_PROCESSES) };
        Story { second, seconds_between_processes, ..story }
    }

    /// True if brunt used half of the busy cores or, if none was idle, a tenth of them and half of those
    /// that the server is not known to have used.
    fn prove_the_generator(&self) -> bool {
        let server = if self.knows_server { self.server } else { 0.0 };
        let took_from_server =
            self.is_full() && self.brunt >= 0.1 && self.brunt >= 0.5 * (1.0 - server);
        took_from_server || self.brunt >= 0.5
    }

    fn is_full(&self) -> bool {
        self.idle < 0.1
    }
}

proptest! {
    #[test]
    fn only_a_proven_share_makes_the_generator_the_limit(users in users(), every in 1u64..10) {
        let verdict = users.story(SECOND, every).judged();
        prop_assert!(
            verdict.state != State::Limited || users.prove_the_generator(),
            "{users:?}: {verdict:?}"
        );
        // Other processes with a tenth of the cores are a proof, also if no reading names them.
        if users.knows_server && !users.prove_the_generator() && users.others * (1.0 - users.idle) >= 0.12 {
            prop_assert!(matches!(verdict.state, State::BusyMachine | State::Ok), "{users:?}: {verdict:?}");
        }
    }

    #[test]
    fn the_length_of_a_run_does_not_change_its_verdict(users in users(), every in 1u64..10) {
        let summary = |second| {
            let verdict = users.story(second, every).judged();
            let limits: Vec<LimitingResource> =
                verdict.causes.iter().map(|cause| cause.limit).collect();
            (verdict.state, limits, verdict.other_processes.len())
        };
        let expected = summary(SECOND);
        for second in TENTHS_OF_RUNS {
            prop_assert_eq!(&summary(second), &expected, "{:?}, {} s", users, second * 10 / SECOND);
        }
    }
}
