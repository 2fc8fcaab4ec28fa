//! Scenarios that run without a server: the requests of users, and their order.

use super::*;
use crate::testing::{self, users};
use crate::texts::pending::{RequestArgument, RequestPart};
use crate::texts::script::{LanguageRow, ScriptCode, ScriptOutcome, ScriptView, ScriptedRequest};
use brunt_engine::{RequestAttempt, UserTurn};
use brunt_model::Sample;
use brunt_model::extract::{ExtractFrom, Extractor, MatchChoice, ReplyPart};
use brunt_model::load::ThinkTime;
use brunt_model::reply_policy::{Redirects, ReplyAction};
use brunt_model::scenario::{
    Branch, ConcurrencyMode, Condition, LoopValues, Pauses, Portion, Rounds, SampleMaker, Scenario,
    ScenarioStep as Do, Script, ScriptLanguage, ScriptSample, TextRules,
};
use brunt_wire::{Framing, Reply, ReplyDetails, ReplyHead};
use std::time::Duration;

fn request(path: &str, weight: u32) -> Request {
    Request { weight, ..Request::get(&format!("http://h/{path}")) }
}

fn plan(requests: &[(&str, u32)], users: f64, steps: Vec<Do>) -> Plan {
    let requests = requests.iter().map(|(path, weight)| request(path, *weight)).collect();
    testing::plan(Scenario::of(requests, steps), users, vec![ReplyPolicy::default()])
}

/// Returns the steps of a user in iteration `n`: paths, `~` for a pause, parentheses around
/// pipelined requests. `status` is the status of each reply, 0 for none. `..`: transactions are
/// suspended or resumed.
fn iteration(user: &mut dyn VirtualUser, n: u64, status: impl Fn(&str) -> u16) -> String {
    let path = |request: &Prepared| request.url().trim_start_matches("http://h/").to_owned();
    let (mut out, mut step, mut failed) = (Vec::new(), 0, false);
    let mut last: Option<Reply> = None;
    for _ in 0..100 {
        let turn = UserTurn { number: n, last: last.as_ref(), step, failed, ..UserTurn::default() };
        let asked = match user.next(turn) {
            UserStep::Think(_) | UserStep::Wait(_) => {
                out.push("~".to_owned());
                continue;
            }
            UserStep::BeginTransaction(name, _) => {
                out.push(format!("{name}["));
                continue;
            }
            UserStep::Sample => {
                out.push("!".to_owned());
                continue;
            }
            UserStep::EndTransaction => {
                out.push("]".to_owned());
                continue;
            }
            UserStep::SuspendTransactions(..) | UserStep::ResumeTransactions(_) => {
                out.push("..".to_owned());
                continue;
            }
            UserStep::Failing(why, _) => {
                out.push(format!("({why})"));
                (step, failed, last) = (step + 1, true, None);
                continue;
            }
            UserStep::Request(request) => vec![request],
            UserStep::Last(request) => {
                out.push(path(&request));
                return out.join(" ");
            }
            UserStep::Together(requests) => requests,
            UserStep::Parallel(requests, most) => {
                out.push(format!("{most}:"));
                requests
            }
            UserStep::Done => return out.join(" "),
            UserStep::Leave => return format!("{} leaves", out.join(" ")),
            UserStep::EndRun => return format!("{} ends", out.join(" ")),
            UserStep::Broken(why) => return why,
        };
        let paths: Vec<String> = asked.iter().map(|request| path(request)).collect();
        out.push(if paths.len() > 1 { format!("({})", paths.join(" ")) } else { paths[0].clone() });
        step += asked.len() as u32;
        let status = status(&paths[paths.len() - 1]);
        failed = status == 0;
        last = (!failed).then(|| Reply { status, ..Reply::default() });
    }
    "for ever".into()
}

/// What each of the first iterations asks, by one user.
fn asks(requests: &[(&str, u32)], steps: Vec<Do>) -> Vec<String> {
    let plan = plan(requests, 1.0, steps);
    let mut user = users(&plan).user(0);
    (0..4).map(|n| iteration(&mut *user, n, |_| 200)).collect()
}

fn branch(weight: u32, steps: Vec<Do>) -> Branch {
    Branch { weight, steps }
}

const PAUSE: Do =
    Do::Think(ThinkTime { least: Duration::from_secs(1), most: Duration::from_secs(1) });
const ABC: [(&str, u32); 3] = [("a", 1), ("b", 1), ("c", 1)];

#[test]
fn all_users_walk_the_list_together() {
    assert_eq!(asks(&ABC, vec![Do::Next(ListOrder::Sequence)]), ["a", "b", "c", "a"]);
    assert_eq!(
        asks(&[("a", 2), ("b", 1)], vec![Do::Next(ListOrder::Sequence)]),
        ["a", "a", "b", "a"]
    );
    let two = vec![Do::Next(ListOrder::Sequence), PAUSE, Do::Next(ListOrder::Sequence)];
    assert_eq!(asks(&ABC, two), ["a ~ b", "c ~ a", "b ~ c", "a ~ b"]);
    // Weight 0 is never next, but may be asked for.
    assert_eq!(
        asks(&[("x", 0), ("a", 1)], vec![Do::Next(ListOrder::Sequence), Do::Request(0)])[..2],
        ["a x", "a x"]
    );
}

#[test]
fn users_can_walk_the_list_separately() {
    for (order, expected) in [
        (ListOrder::Walk, ["a b", "c d"]),
        (ListOrder::WalkTogether, ["a b", "a b"]),
        (ListOrder::User, ["a a", "b b"]),
    ] {
        let requests = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
        let users = users(&plan(&requests, 2.0, vec![Do::Next(order)]));
        for (number, expected) in expected.iter().enumerate() {
            let mut user = users.user(number as u64);
            let asked: Vec<String> = [7, 9].map(|n| iteration(&mut *user, n, |_| 200)).into();
            assert_eq!(asked.join(" "), *expected, "{order:?}, user {number}");
        }
    }
}

#[test]
fn a_slow_order_repeats_each_request() {
    let slow = ListOrder::Slow(400_000);
    let asked = asks(&ABC, vec![Do::Next(slow), Do::Next(slow), Do::Next(slow)]);
    // A new one each 2.5 requests.
    assert_eq!(asked, ["a a b", "b c c", "c a a", "b b b"]);
}

#[test]
fn loops_branches_and_parallel_steps() {
    let together = |steps| Do::Together { manner: ConcurrencyMode::Pipelined, steps };
    let twice = |steps| Do::Loop { times: Some(Rounds::Number(2)), steps };
    let steps = vec![
        Do::Request(0),
        twice(vec![together(vec![Do::Request(1), Do::Request(2)]), PAUSE]),
        Do::Request(0),
    ];
    assert_eq!(asks(&ABC, steps)[0], "a (b c) ~ (b c) ~ a");
    let parallel = Do::Together {
        manner: ConcurrencyMode::Parallel(2),
        steps: vec![Do::Request(1), Do::Request(2)],
    };
    assert_eq!(asks(&ABC, vec![parallel])[0], "2: (b c)");
    assert_eq!(
        asks(&ABC, vec![together(vec![twice(vec![Do::Next(ListOrder::Sequence)])])]),
        ["(a b)", "(c a)", "(b c)", "(a b)"]
    );
    assert_eq!(
        asks(
            &ABC,
            vec![
                Do::Loop { times: Some(Rounds::Number(0)), steps: vec![Do::Request(0)] },
                Do::Request(1)
            ]
        )[0],
        "b"
    );
    let nested = vec![twice(vec![twice(vec![Do::Request(0)]), Do::Request(1)])];
    assert_eq!(asks(&ABC, nested)[..2], ["a a b a a b", "a a b a a b"]);
}

#[test]
fn sessions_in_turn_share_one_list() {
    let ask = |count| vec![Do::Next(ListOrder::Sequence); count];
    let choose = |branches| {
        vec![Do::Choose { order: ListOrder::Sequence, portion: Portion::Whole, branches }]
    };
    let sessions = choose(vec![branch(1, ask(2)), branch(2, ask(1))]);
    // Iterations have 2, 1 and 1 requests in turn, and each continues the list after the previous
    // one.
    assert_eq!(
        asks(&[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)], sessions.clone()),
        ["a b", "c", "d", "e a"]
    );
    let compiled = users(&plan(&ABC, 3.0, sessions));
    let mut other = compiled.user(2);
    assert_eq!(iteration(&mut *other, 3, |_| 200), "b c");
}

#[test]
fn choices_in_a_loop_are_numbered_over_all_iterations() {
    let either = Do::Choose {
        order: ListOrder::Sequence,
        portion: Portion::Whole,
        branches: vec![branch(1, vec![Do::Request(0)]), branch(2, vec![Do::Request(1)])],
    };
    let steps = vec![Do::Loop { times: Some(Rounds::Number(2)), steps: vec![either] }];
    assert_eq!(asks(&ABC, steps), ["a b", "b a", "b b", "a b"]);
}

/// Returns the requests of each iteration, for one user of a choice among these branches.
fn chooses(
    iterations: u64,
    order: ListOrder,
    portion: Portion,
    branches: Vec<Vec<Do>>,
) -> Vec<String> {
    let branches = branches.into_iter().map(|steps| branch(1, steps)).collect();
    let mut user = users(&plan(&ABC, 1.0, vec![Do::Choose { order, portion, branches }])).user(0);
    (0..iterations).map(|n| iteration(&mut *user, n, |_| 200)).collect()
}

#[test]
fn a_user_can_nest_the_same_lock() {
    let lock = |steps| Do::Lock { name: "l".into(), steps };
    let nested =
        vec![lock(vec![lock(vec![Do::Request(0)]), Do::Request(1)]), lock(vec![Do::Request(2)])];
    assert_eq!(asks(&ABC, nested), ["a b c"; 4]);
}

#[test]
fn branches_take_turns() {
    let turns = |branches| chooses(6, ListOrder::WalkTogether, Portion::Turn, branches);
    let ask = |request| vec![Do::Request(request), Do::Stop(EndScope::Turn)];
    let timed = |steps| Do::Transaction {
        name: "t".into(),
        pauses: Pauses::Excluded,
        parent: false,
        steps,
    };
    let twice = |steps| Do::Loop { times: Some(Rounds::Number(2)), steps };
    let both = || [ask(0), ask(1)].concat();
    // Steps that are not resumable begin again each time. Resumable steps end after their last
    // turn, and begin again in the same iteration.
    assert_eq!(turns(vec![both(), ask(2)]), ["a", "c", "a", "c", "a", "c"]);
    assert_eq!(turns(vec![vec![Do::Resumable(both())], ask(2)]), ["a", "c", "b", "c", "a", "c"]);
    // Transactions rest between their turns.
    let within = vec![Do::Resumable(vec![timed(both())])];
    assert_eq!(turns(vec![within, ask(2)]), ["t[ a ..", "c", ".. b ..", "c", ".. ] t[ a ..", "c"]);
    // A loop counts on, be it over iterations.
    let within = vec![Do::Resumable([vec![twice(ask(0))], ask(1)].concat())];
    assert_eq!(turns(vec![within.clone()]), ["a", "a", "b", "a", "a", "b"]);
    // Resumable steps within a step that is not resumable continue.
    assert_eq!(
        turns(vec![vec![twice(within), Do::Stop(EndScope::Run)], ask(2)]),
        ["a", "c", "a", "c", "b", "c"]
    );
    // A turn within a choice within a turn is that of both.
    let inner = Do::Choose {
        order: ListOrder::WalkTogether,
        portion: Portion::Turn,
        branches: vec![branch(1, ask(0)), branch(1, ask(1))],
    };
    let within = vec![Do::Resumable(vec![inner, Do::Request(0), Do::Stop(EndScope::Turn)])];
    assert_eq!(turns(vec![within, ask(2)]), ["a", "c", "a", "c", "b", "c"]);
    for (step, named) in
        [(Do::Stop(EndScope::Turn), "`stop: turn`"), (Do::Resumable(ask(0)), "`resumable`")]
    {
        let plan = plan(&ABC, 1.0, vec![Do::Request(0), step]);
        let Err(error) = CompiledScript::all(&plan, Languages::CORE) else { panic!("no error") };
        let error = error.to_string();
        assert!(error.contains(named) && error.contains("portion: turn"), "{error}");
    }
}

#[test]
fn empty_branches_are_skipped() {
    let never =
        || Do::If { condition: Condition::Failed, then: vec![Do::Request(0)], otherwise: vec![] };
    for portion in [Portion::Nonempty, Portion::Turn] {
        let walks = |branches| chooses(4, ListOrder::WalkTogether, portion, branches);
        let ask = |request| {
            let ends_turn = (portion == Portion::Turn).then_some(Do::Stop(EndScope::Turn));
            [Do::Request(request)].into_iter().chain(ends_turn).collect::<Vec<_>>()
        };
        assert_eq!(walks(vec![vec![never()], ask(1), vec![], ask(2)]), ["b", "c", "b", "c"]);
        // A user that does nothing pauses for a moment.
        assert_eq!(walks(vec![vec![never()], vec![]]), ["~"; 4]);
        // If the drawn branch does nothing, another one is drawn, until the first one is drawn
        // again.
        let drawn = chooses(3000, ListOrder::Random, portion, vec![vec![never()], ask(1)]);
        let share = drawn.iter().filter(|asked| *asked == "b").count() as f64 / 3000.0;
        // JMeter's controllers: two thirds.
        assert!((share - 2.0 / 3.0).abs() < 0.06, "{share}");
    }
    assert_eq!(
        chooses(4, ListOrder::WalkTogether, Portion::Whole, vec![vec![], vec![Do::Request(1)]]),
        ["~", "b", "~", "b"]
    );
}

#[test]
fn conditions_use_the_last_reply() {
    let status = |status| Condition::Status(status, status);
    let steps = vec![
        Do::Request(0),
        Do::If {
            condition: status(404),
            then: vec![Do::Stop(EndScope::Iteration)],
            otherwise: vec![Do::Request(1)],
        },
        Do::While {
            condition: Condition::Not(Box::new(Condition::Failed)),
            twice: false,
            steps: vec![Do::Request(2)],
        },
        Do::If {
            condition: Condition::Failed,
            then: vec![Do::Stop(EndScope::User)],
            otherwise: vec![],
        },
    ];
    let plan = plan(&ABC, 1.0, steps);
    let mut user = users(&plan).user(0);
    assert_eq!(iteration(&mut *user, 0, |_| 404), "a");
    assert_eq!(iteration(&mut *user, 1, |path| if path == "c" { 0 } else { 200 }), "a b c leaves");
    let ends = vec![Do::Request(0), Do::Stop(EndScope::Run)];
    assert_eq!(asks(&ABC, ends)[0], "a ends");
}

#[test]
fn transactions_begin_and_end_around_their_steps() {
    let timed = |name: &str, steps| Do::Transaction {
        name: name.into(),
        pauses: Pauses::Excluded,
        parent: false,
        steps,
    };
    let group = Do::Group {
        name: "group".into(),
        steps: vec![Do::Request(1), timed("t", vec![Do::Request(2)])],
    };
    assert_eq!(
        asks(&ABC, vec![timed("s", vec![PAUSE, Do::Request(0), group])])[..2],
        ["s[ ~ a b t[ c ] ]"; 2]
    );
    // The steps after a transaction continue at their position.
    assert_eq!(
        asks(&ABC, vec![timed("s", vec![Do::Next(ListOrder::Sequence)]), Do::Request(2)])[1],
        "s[ c ] c"
    );
}

#[test]
fn loops_over_values_set_their_variable() {
    let pair = |name: &str, values: [&str; 2], steps| Do::ForEach {
        variable: name.into(),
        values: LoopValues::List(values.map(str::to_owned).to_vec()),
        steps,
    };
    let is_two = Condition::Equals("x".into(), "2".into());
    let inner = Do::If { condition: is_two, then: vec![Do::Request(1)], otherwise: vec![] };
    let steps =
        vec![pair("x", ["1", "2"], vec![pair("y", ["p q", "r"], vec![Do::Request(0)]), inner])];
    let asked = asks(&[("{var:x}/{var:y}", 1), ("end", 1)], steps);
    assert_eq!(asked[..2], ["1/p%20q 1/r 2/p%20q 2/r end", "1/p%20q 1/r 2/p%20q 2/r end"]);
}

/// A user and its last request.
struct Asking(Box<dyn VirtualUser>, Option<Rc<Prepared>>);

impl Asking {
    /// Returns the path of the next request, if the last reply has this body.
    fn next_path(&mut self, step: u32, last: Option<&str>) -> String {
        let body = last.unwrap_or_default().as_bytes().to_vec();
        let kept = ReplyDetails { body, ..ReplyDetails::default() };
        let reply =
            last.map(|_| Reply { status: 200, details: Some(Box::new(kept)), ..Reply::default() });
        if let Some(request) = &self.1 {
            let (sample, reply) = (&Sample::default(), reply.as_ref());
            let exchange = RequestAttempt {
                first: request,
                request,
                reply,
                sample,
                last_hop: None,
                hops: Vec::new(),
                skipped: Vec::new(),
            };
            let _ = self.0.judge(exchange);
        }
        loop {
            let turn = UserTurn {
                last: reply.as_ref(),
                step,
                failed: reply.is_none(),
                ..UserTurn::default()
            };
            match self.0.next(turn) {
                UserStep::Request(request) | UserStep::Last(request) => {
                    let path = request.url().trim_start_matches("http://h/").to_owned();
                    self.1 = Some(request);
                    return path;
                }
                UserStep::Together(requests) => {
                    return requests.iter().map(|request| request.url()).collect();
                }
                UserStep::Think(_) => {}
                other => return format!("{other:?}"),
            }
        }
    }
}

fn extracting(steps: Vec<Do>) -> Plan {
    let mut plan = plan(&[("login", 1), ("buy/{var:token}", 1)], 1.0, steps);
    let from = ExtractFrom::Regex { pattern: r"t=(\w+)".into(), group: 1, template: None };
    let default = Some("none".into());
    let token = Extractor {
        variable: "token".into(),
        from,
        take: MatchChoice::First,
        default,
        part: ReplyPart::Body,
        samples: brunt_model::extract::SampleScope::Main,
        sets_more: false,
    };
    let extracts =
        ReplyPolicy { actions: vec![ReplyAction::Extract(token)], ..ReplyPolicy::default() };
    plan.reply_policies = vec![extracts, ReplyPolicy::default()];
    plan.main_mut().scenario.requests[1].reply_policy = 1;
    plan
}

#[test]
fn extracted_values_are_sent_with_later_requests() {
    let is_none = Condition::Equals("token".into(), "none".into());
    let end = Do::If {
        condition: is_none,
        then: vec![Do::Stop(EndScope::Iteration)],
        otherwise: vec![Do::Request(1)],
    };
    let plan = extracting(vec![Do::Request(0), PAUSE, Do::Request(1), end]);
    let users = users(&plan);
    let [mut one, mut other] = [0, 1].map(|number| Asking(users.user(number), None));
    assert_eq!(one.next_path(0, None), "login");
    assert_eq!(other.next_path(0, None), "login");
    assert_eq!(one.next_path(1, Some("t=a b, t=c")), "buy/a");
    assert_eq!(other.next_path(1, Some("t=z")), "buy/z");
    // The policy of this request extracts nothing.
    assert_eq!(one.next_path(2, Some("t=no")), "buy/a");
    // No reply, no match: the default.
    assert_eq!(other.next_path(2, Some("")), "buy/z");
    assert_eq!(other.next_path(0, None), "login");
    assert_eq!(other.next_path(1, None), "buy/none");
    assert_eq!(other.next_path(2, Some("t=no")), "Done");
}

#[test]
fn pipelined_requests_extract_nothing() {
    let both = Do::Together {
        manner: ConcurrencyMode::Pipelined,
        steps: vec![Do::Request(0), Do::Request(0)],
    };
    let plan = extracting(vec![Do::Request(0), both, Do::Request(1)]);
    let mut user = Asking(users(&plan).user(0), None);
    assert_eq!(user.next_path(0, None), "login");
    assert_eq!(user.next_path(1, Some("t=first")), "http://h/loginhttp://h/login");
    assert_eq!(user.next_path(3, Some("t=last")), "buy/first");
}

/// A user may have sent only requests of a parallel step when it must decide about a redirect.
#[test]
fn cookies_of_a_redirect_in_a_parallel_step_are_stored() {
    let mut plan = plan(&[("a", 1)], 1.0, vec![Do::Request(0)]);
    let redirects = Redirects { most: 5, rules: RedirectRules::Rfc9110 };
    plan.reply_policies =
        vec![ReplyPolicy { redirects, cookies: Cookies::Kept, ..ReplyPolicy::default() }];
    let users = users(&plan);
    let asked = |step| match step {
        UserStep::Request(request) | UserStep::Last(request) => request,
        other => panic!("{other:?}"),
    };
    let from = asked(users.user(1).next(UserTurn::default()));
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let fields = vec![field("Location", "/b"), field("Set-Cookie", "sid=1; Path=/")];
    let framing = Framing::Length(0);
    let head = ReplyHead {
        status: 302,
        version: brunt_model::plan::HttpVersion::V1_1,
        framing,
        keep_alive: true,
        length: 0,
        encoded: false,
    };
    let kept = ReplyDetails {
        location: Some("/b".into()),
        head: Some((head, fields)),
        ..ReplyDetails::default()
    };
    let reply = Reply { status: 302, details: Some(Box::new(kept)), ..Reply::default() };
    let mut user = users.user(0);
    let next = user.redirect(&from, &reply, 0).unwrap();
    for request in [next, asked(user.next(UserTurn::default()))] {
        let text = String::from_utf8_lossy(&request.bytes()).into_owned();
        assert!(text.contains("Cookie: sid=1"), "{text}");
    }
}

#[test]
fn requests_of_a_once_step_do_not_advance_the_order() {
    let steps = vec![PAUSE, Do::Once(vec![Do::Request(2)]), Do::Next(ListOrder::Sequence)];
    assert_eq!(asks(&ABC, steps), ["~ c a", "~ b", "~ c", "~ a"]);
}

#[test]
fn a_failure_ends_the_scope_of_the_policy() {
    for (scope, expected) in [
        (EndScope::Nothing, "a b"),
        (EndScope::Iteration, "a"),
        (EndScope::User, "a leaves"),
        (EndScope::Run, "a ends"),
    ] {
        let mut plan = plan(&ABC, 1.0, vec![Do::Request(0), Do::Request(1)]);
        plan.reply_policies[0].failure_ends = scope;
        let mut user = users(&plan).user(0);
        assert_eq!(iteration(&mut *user, 0, |_| 0), expected);
    }
}

#[test]
fn a_request_that_cannot_be_built_ends_the_scope_of_the_policy() {
    for (scope, expected) in [
        (EndScope::Nothing, ") b"),
        (EndScope::Iteration, ")"),
        (EndScope::User, ") leaves"),
        (EndScope::Run, ") ends"),
    ] {
        let mut plan = plan(&ABC, 1.0, vec![Do::Request(0), Do::Request(1)]);
        plan.reply_policies[0].failure_ends = scope;
        plan.populations[0].scenario.requests[0].url = "http://h:99999/".into();
        let mut user = users(&plan).user(0);
        let did = iteration(&mut *user, 0, |_| 200);
        assert!(did.contains("port") && did.ends_with(expected), "{did}");
    }
}

/// A failure in a loop has no effect on the next iteration.
#[test]
fn an_iteration_begins_with_the_first_step() {
    let steps = vec![Do::ForEach {
        variable: "x".into(),
        values: LoopValues::List(vec!["1".into(), "2".into()]),
        steps: vec![Do::Loop { times: Some(Rounds::Number(2)), steps: vec![Do::Request(0)] }],
    }];
    let mut plan = plan(&[("{var:x}", 1)], 1.0, steps);
    plan.reply_policies[0].failure_ends = EndScope::Iteration;
    let mut user = users(&plan).user(0);
    assert_eq!(iteration(&mut *user, 0, |path| if path == "2" { 0 } else { 200 }), "1 1 2");
    assert_eq!(iteration(&mut *user, 1, |_| 200), "1 1 2 2");
}

#[test]
fn a_population_compiles_only_the_policies_that_it_uses() {
    let mut plan = plan(&ABC, 1.0, vec![Do::Request(0)]);
    let from = ExtractFrom::Regex { pattern: "(".into(), group: 0, template: None };
    let (part, take) = (ReplyPart::Body, MatchChoice::First);
    let odd = Extractor {
        variable: "x".into(),
        from,
        part,
        samples: brunt_model::extract::SampleScope::Main,
        take,
        sets_more: false,
        default: None,
    };
    let actions = vec![ReplyAction::Extract(odd)];
    plan.reply_policies.push(ReplyPolicy { actions, ..ReplyPolicy::default() });
    assert!(CompiledScript::all(&plan, Languages::CORE).is_ok());
    let sample = ScriptSample { label: "s".into(), maker: SampleMaker::Variables, reply_policy: 1 };
    let mut samples = plan.clone();
    samples.main_mut().scenario.steps = vec![Do::Once(vec![Do::Sample(sample)])];
    assert!(CompiledScript::all(&samples, Languages::CORE).is_err());
    plan.main_mut().scenario.requests[2].reply_policy = 1;
    assert!(CompiledScript::all(&plan, Languages::CORE).is_err());
}

#[test]
fn invalid_scenarios_are_refused_or_end() {
    let compile = |steps: Vec<Do>| {
        let plan = plan(&ABC, 1.0, steps);
        CompiledScript::all(&plan, Languages::CORE).map(|_| ()).map_err(|error| error.to_string())
    };
    let paused = Do::Together { manner: ConcurrencyMode::Pipelined, steps: vec![PAUSE] };
    let told =
        "a pause is not allowed among requests that are sent together; put it before or after them";
    assert_eq!(compile(vec![paused]), Err(told.into()));
    let nobody = Do::Choose {
        order: ListOrder::Random,
        portion: Portion::Whole,
        branches: vec![branch(0, vec![])],
    };
    assert_eq!(
        compile(vec![nobody]),
        Err("a choice has no branch of a weight above 0; give one a weight".into())
    );
    let unknown = Do::While {
        condition: Condition::Equals("x".into(), "1".into()),
        twice: false,
        steps: vec![],
    };
    assert_eq!(
        compile(vec![unknown]),
        Err("no step before sets the variable `x`, and no extractor does".into())
    );
    let round = vec![Do::Loop { times: None, steps: vec![] }];
    assert_eq!(
        asks(&ABC, round)[0],
        "the scenario loops without a request or a pause; add a request to the loop"
    );
    assert_eq!(
        asks(&ABC, vec![Do::Request(9)])[0],
        "the scenario asks for request 9, and its list has 3"
    );
}

/// Both with and without a memory of replies.
#[test]
fn functions_return_the_iteration_and_the_last_request() {
    for cookies in [Cookies::Ignored, Cookies::Kept] {
        let mut plan = plan(
            &[("${iteration()}", 1), ("${samplerName()}", 1)],
            1.0,
            vec![Do::Request(0), Do::Request(1)],
        );
        plan.main_mut().scenario.texts = TextRules::Expressions;
        plan.main_mut().scenario.requests[0].label = "first".into();
        plan.reply_policies[0].cookies = cookies;
        let mut user = users(&plan).user(0);
        assert_eq!(iteration(&mut *user, 7, |_| 200), "1 first", "{cookies:?}");
        assert_eq!(iteration(&mut *user, 9, |_| 200), "2 first", "{cookies:?}");
    }
}

/// Changes the next request in place of a script.
struct FakeScript(String);

impl ScriptCode for FakeScript {
    fn run(
        &self,
        user: &UserContext,
        view: ScriptView<'_, '_>,
        _: &str,
        _: &str,
    ) -> Result<ScriptOutcome, String> {
        let Some(ScriptedRequest { pending, texts }) = view.sampler else {
            user.variables.borrow_mut().set("x", "null");
            return Ok(ScriptOutcome::default());
        };
        let mut arguments = pending.arguments(texts).to_vec();
        match &*self.0 {
            "change" => {
                let path = format!("/b{}", user.variables.borrow().get("x").unwrap());
                pending.set_part(RequestPart::Path, &path, texts);
                let [name, value] = ["n", "a b"].map(str::to_owned);
                arguments.push(RequestArgument { name, value, encode: true, is_bare: false });
            }
            _ => arguments.retain(|argument| argument.name != "gone"),
        }
        pending.set_arguments(arguments, texts);
        Ok(ScriptOutcome::default())
    }

    fn text(&self, _: &UserContext) -> Result<Option<String>, String> {
        Ok(None)
    }
}

const FAKE_LANGUAGE: &[LanguageRow] = &[LanguageRow {
    language: ScriptLanguage::Groovy,
    parse: |source, _| Ok(Arc::new(FakeScript(source.to_owned()))),
}];

/// Both with and without a memory of replies.
#[test]
fn a_script_changes_the_next_request() {
    let script = |source: &str| {
        let (name, source, parameters) = ("s".to_owned(), source.to_owned(), String::new());
        Do::Script(Script { name, language: ScriptLanguage::Groovy, source, parameters })
    };
    for cookies in [Cookies::Ignored, Cookies::Kept] {
        let steps = vec![
            script("change"),
            PAUSE,
            script("remove"),
            Do::Request(0),
            Do::Request(0),
            script("look"),
            Do::Loop { times: Some(Rounds::Number(1)), steps: vec![Do::Request(1)] },
        ];
        let mut plan = plan(&[("a?gone=1&x=${x}", 1), ("${x}", 1)], 1.0, steps);
        let scenario = &mut plan.main_mut().scenario;
        scenario.texts = TextRules::Jmeter;
        scenario.variables = vec![("x".into(), "7".into())];
        plan.reply_policies[0].cookies = cookies;
        let languages = Languages::with(FAKE_LANGUAGE);
        let compiled = CompiledScript::all(&plan, languages).unwrap().remove(0);
        let mut user = testing::users_of(&compiled, &plan).user(0);
        let asked = iteration(&mut *user, 0, |_| 200);
        assert_eq!(asked, "~ b7?x=7&n=a+b a?gone=1&x=7 null", "{cookies:?}");
    }
}

#[test]
fn users_of_the_next_stage_begin_with_the_variables_of_a_stage() {
    let set =
        |variable: &str, value: &str| Do::Set { variable: variable.into(), value: value.into() };
    let mut setup = plan(&[("s", 1)], 2.0, vec![set("a", "1 ${b}"), set("b", "2"), Do::Request(0)]);
    setup.main_mut().scenario.texts = TextRules::Expressions;
    let compiled = CompiledScript::all(&setup, Languages::CORE).unwrap().remove(0);
    let names = compiled.stage_variables();
    assert_eq!(names.values, [("a".to_owned(), String::new()), ("b".to_owned(), String::new())]);
    let all = testing::users_of(&compiled, &setup);
    for number in [1, 0] {
        iteration(&mut *all.user(number), number, |_| 200);
        // It is the first that counts.
        assert_eq!(compiled.stage_output().variables.is_empty(), number == 1);
    }
    let mut load =
        plan(&[("${a}/${b}/${c}", 1)], 1.0, vec![Do::Request(0), set("a", "own"), Do::Request(0)]);
    let scenario = &mut load.main_mut().scenario;
    scenario.texts = TextRules::Expressions;
    scenario.inherited_variables = names;
    scenario.variables = vec![("c".into(), "${b}!".into())];
    load.apply_stage_output(&StageOutput {
        variables: vec![("b".into(), "${a} {n}".into())],
        ..compiled.stage_output()
    });
    let handed = &load.main().scenario.inherited_variables.values;
    assert_eq!(handed, &[("a".to_owned(), String::new()), ("b".to_owned(), "${a} {n}".to_owned())]);
    load.apply_stage_output(&StageOutput {
        variables: vec![("a".into(), "1".into())],
        ..StageOutput::default()
    });
    let mut user = users(&load).user(0);
    let values = "${a}%20{n}/${a}%20{n}!";
    let values = values.replace('{', "%7B").replace('}', "%7D");
    assert_eq!(iteration(&mut *user, 0, |_| 200), format!("1/{values} own/{values}"));
}

#[test]
fn a_text_that_doubles_with_each_step_is_refused() {
    let double = Do::Set { variable: "a".into(), value: "${a}${a}xxxxxxxx".into() };
    let mut steps = vec![double; 40];
    steps.push(Do::Request(0));
    let mut plan = plan(&[("s", 1)], 1.0, steps);
    plan.main_mut().scenario.texts = TextRules::Expressions;
    let mut user = users(&plan).user(0);
    let why = iteration(&mut *user, 0, |_| 200);
    assert!(why.starts_with("the text of variable `a`: the values in a text are longer"), "{why}");
}

#[test]
fn a_request_with_a_variable_that_nothing_has_set_is_not_sent() {
    let asked = |url: &str, rules: TextRules| {
        let later = Do::Set { variable: "a".into(), value: String::new() };
        let mut plan = plan(&[(url, 1)], 1.0, vec![Do::Request(0), later, Do::Request(0)]);
        plan.main_mut().scenario.texts = rules;
        let mut user = users(&plan).user(0);
        iteration(&mut *user, 0, |_| 200)
    };
    for url in ["x?${a}", "x?${urlencode(${a})}"] {
        let seen = asked(url, TextRules::Expressions);
        // An empty value is one.
        assert!(
            seen.starts_with("(`${a}` has no value, because nothing has set it")
                && seen.ends_with(") x?"),
            "{seen}"
        );
    }
    let mut plan = plan(
        &[("x?${a}", 1)],
        1.0,
        vec![Do::Request(0), Do::Set { variable: "a".into(), value: String::new() }],
    );
    plan.main_mut().scenario.texts = TextRules::Expressions;
    assert!(users(&plan).first().is_some(), "connections are opened before the load");
    assert_eq!(asked("x?${if(${a},,1,2)}", TextRules::Expressions), "x?1 x?1");
    // JMeter sends the expression, which this URL cannot have.
    assert!(asked("x?${a}", TextRules::Jmeter).starts_with("(Illegal character in query"));
}

#[test]
fn a_relative_link_in_a_variable_is_resolved_against_the_base() {
    let cases = [
        ("/items/5", "http://h:1/items/5"),
        ("items/5?a=b", "http://h:1/api/items/5?a=b"),
        ("?page=2", "http://h:1/api/v1?page=2"),
        ("//other/x", "http://other/x"),
        ("https://other/x", "https://other/x"),
        ("127.0.0.1:9/x", "127.0.0.1:9/x"),
        ("localhost:9/x", "localhost:9/x"),
    ];
    for (link, url) in cases {
        assert_eq!(super::resolved("http://h:1/api/v1", link), url, "{link}");
    }
    assert_eq!(super::resolved("no base", "/items/5"), "/items/5");
}

#[test]
fn labels_do_not_contain_values_of_secret_variables() {
    let set =
        |variable: &str, value: &str| Do::Set { variable: variable.into(), value: value.into() };
    let label = "${user} with ${password} and ${urlencode(${password})}";
    let steps = vec![
        set("user", "anna"),
        set("password", "Zq7CanarY9x"),
        Do::Transaction {
            name: label.into(),
            pauses: Pauses::Included,
            parent: false,
            steps: vec![Do::Request(0)],
        },
    ];
    let mut plan = plan(&[("${password}", 1)], 1.0, steps);
    plan.main_mut().scenario.texts = TextRules::Expressions;
    let mut user = users(&plan).user(0);
    assert_eq!(
        iteration(&mut *user, 0, |_| 200),
        "anna with ${password} and ${urlencode(…)}[ Zq7CanarY9x ]"
    );
}
