use super::setting_keys::NON_SETTING_KEYS;
use super::*;
use crate::settings::{CompareSettings, RunSettings, SearchSettings, SettingTable};
use crate::{SpecError, System, estimate};
use brunt_model::scenario::{EndScope, ListOrder};
use brunt_model::{Body, Load, ProcessShares, StageKind};
use std::time::Duration;

const NEW: &str = include_str!("../../../cli/src/plan_file/new.yaml");
const SYSTEM: System = System::bare(20_000, 4, Some(28_232), 99);

/// Writes the plan to a folder, and loads it from there.
fn loaded(text: &str, sets: &[&str]) -> Result<ResolvedPlan, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("urls.txt"), "/a\n[2] /b\n").unwrap();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let named = |e: SpecError| e.to_string().replace(&format!("{}/", folder.path().display()), "");
    load(&path, &sets, "/tmp/d", &SYSTEM).map_err(named)
}

fn well(text: &str) -> ResolvedPlan {
    loaded(text, &[]).unwrap_or_else(|e| panic!("{text}\n{e:#}"))
}

#[test]
fn every_key_of_a_section_is_an_option_or_a_listed_exception() {
    let sections = ["script.", "load.", "connection.", "checks.", "find.", "compare."];
    let elsewhere = ["script.request", "script.requests"];
    let known: Vec<&str> =
        RunSettings::rows().flat_map(|row| row.keys).map(|key| key.key).collect();
    let of_search: Vec<&str> =
        SearchSettings::rows().flat_map(|row| row.keys).map(|key| key.key).collect();
    let of_comparison: Vec<&str> =
        CompareSettings::rows().flat_map(|row| row.keys).map(|key| key.key).collect();
    let all = [&known[..], &of_search, &of_comparison, &NON_SETTING_KEYS, &elsewhere].concat();
    for key in crate::plan::keys()
        .iter()
        .filter(|key| sections.iter().any(|section| key.starts_with(section)))
    {
        assert!(all.contains(&key.as_str()), "{key}");
    }
}

#[test]
fn the_new_plan_template_is_valid() {
    let experiment = well(NEW).experiment;
    assert_eq!(
        estimate::sentence(&experiment),
        "1 contender × 10 steps × 3 repetitions = 30 trials, about 6 min 29 s"
    );
    assert_eq!(loaded(NEW, &["scale=small"]).unwrap().experiment.trials(), 3);
}

#[test]
fn keys_have_the_meaning_of_their_options() {
    let text = "script: {request: {url: 'http://127.0.0.1/a', json: {a: 1}, headers: {X-A: b}, label: one}}
load: {rate: [5, 50], connections: 7, arrivals: even, duration: 3s, warmup: 1s, until: [p99±5%, throughput±1%], seed: 3}
connection: {keepalive: false, tls_resumption: true, http1.0: true, source: [127.0.0.2, 127.0.0.3]}
checks: {status: ['200', 3xx], same_length: true}
objectives: [1-3-10, 'errors < 1%']
outputs: [html=report.html, text]
hooks: {before: {step: x}}
server: {start: x, ready: '127.0.0.1:${port.b}'}
ports: [a, b]
probes: [host, nginx: {url: 'http://h/s', interval: 2s}]
";
    let ResolvedPlan { experiment, outputs, .. } = well(text);
    let contender = &experiment.contenders[0];
    assert_eq!(contender.steps.iter().map(|step| step.load).collect::<Vec<_>>(), [5.0, 50.0]);
    let plan = &contender.steps[1].plan;
    let Load::Open { rate, connections, .. } = &plan.main().load else { panic!("{plan:?}") };
    assert_eq!((rate.as_constant(), *connections), (Some(50.0), Some(7)));
    assert_eq!(
        (plan.seed, experiment.seed, plan.main().stop.warmup),
        (3, 3, Duration::from_secs(1))
    );
    assert_eq!(
        (plan.connection.requests_per_connection, plan.connection.http),
        (Some(1), brunt_model::plan::HttpVersion::V1_0)
    );
    assert_eq!(
        (plan.connection.source.len(), plan.policy().checks.status.len(), plan.objectives.len()),
        (2, 2, 4)
    );
    assert_eq!(plan.until.as_ref().unwrap().goals.len(), 2);
    let request = &plan.main().scenario.requests[0];
    assert_eq!((request.label.as_str(), request.method.as_str()), ("one", "POST"));
    assert_eq!(request.body, Body::Text(r#"{"a":1}"#.into()));
    let types: Vec<_> =
        request.headers.iter().filter(|h| h.0 == "Content-Type").map(|h| h.1.as_str()).collect();
    assert_eq!(types, ["application/json"]);
    assert_eq!((outputs.len(), outputs[0].format.as_str()), (2, "html"));
    assert_eq!(contender.hooks.step.before[0].timeout, Duration::from_mins(1));
    assert_eq!(contender.server.as_ref().unwrap().ready_timeout, Duration::from_secs(30));
    assert_eq!(contender.probes.iter().map(|p| p.interval.as_secs()).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_mix_is_several_requests_in_one_plan() {
    let text = "script:
  base: http://u:p@127.0.0.1:81
  requests: [{url: /a, weight: 3, label: home}, {url: /b, form: {ip: 1.2.3.4}}, http://127.0.0.2/c]
  order: random
load: {users: 10..40*2, duration: 1s}
";
    let experiment = well(text).experiment;
    assert_eq!(experiment.contenders[0].steps.len(), 3);
    let script = &experiment.contenders[0].steps[2].plan.main().scenario;
    let asked: Vec<_> = script
        .requests
        .iter()
        .map(|r| format!("{} {} {} {}", r.weight, r.method, r.url, r.label))
        .collect();
    assert_eq!(
        asked,
        [
            "3 GET http://127.0.0.1:81/a home",
            "1 POST http://127.0.0.1:81/b http://127.0.0.1:81/b",
            "1 GET http://127.0.0.2/c http://127.0.0.2/c"
        ]
    );
    assert_eq!(script.order(), Some(ListOrder::Random));
    assert!(script.requests[0].headers.iter().any(|h| h.0 == "Authorization"));
}

#[test]
fn a_list_of_urls_is_read_from_the_folder_of_the_plan() {
    let experiment =
        well("script: {base: 'http://127.0.0.1', urls: urls.txt, order: random}\n").experiment;
    let script = &experiment.contenders[0].steps[0].plan.main().scenario;
    assert_eq!(
        (script.requests[1].weight, script.requests[1].url.as_str()),
        (2, "http://127.0.0.1/b")
    );
    assert_eq!(script.order(), Some(ListOrder::Random));
}

#[test]
fn errors_of_an_option_name_its_key() {
    for (text, expected) in [
        (
            "load: {rate: 2000/s}",
            "plan.yaml:2:14: load.rate: `2000/s`: a stage's duration follows `/`",
        ),
        ("load: {rate: [5, x]}", "plan.yaml:2:14: load.rate: `x`: not a number"),
        ("load: {users: 1.5}", "plan.yaml:2:15: load.users: `1.5`: a connection is not divisible"),
        (
            "load: {threads: 0}",
            "plan.yaml:2:17: load.threads: `0` is out of range; write 1 to 1024",
        ),
        ("load: {seed: x}", "plan.yaml:2:14: load.seed: `x` is not a whole number"),
        (
            "load: {rate: 5, users: 5}",
            "plan.yaml:2:24: load.users: load.rate defines the load already",
        ),
        (
            "load: {connections: 5}",
            "plan.yaml:2:21: load.connections: this number is the maximum of load.rate",
        ),
        (
            "load: {arrivals: even}",
            "plan.yaml:2:18: load.arrivals: load.arrivals belongs to the open loop: add load.rate N",
        ),
        (
            "load: {rate: 5, think: 1s}",
            "load.think belongs to the closed loop: arrivals at a load.rate wait",
        ),
        (
            "load: {rate: 5, connections: 1..5/3s}",
            "plan.yaml:2:14: load.rate: with load.rate, load.connections is how many there are at most",
        ),
        (
            "connection: {keepalive: false, requests_per_connection: 3}",
            "connection.keepalive: false means one request a connection",
        ),
        ("connection: {unix_socket: s, proxy: 'http://p:1'}", "connection.unix_socket"),
        (
            "connection: {source: [127.0.0.1, 999]}",
            "plan.yaml:2:34: connection.source: `999`: not an IP address",
        ),
        ("connection: {cacert: none.pem}", "plan.yaml:2:22: connection.cacert:"),
        (
            "objectives:\n  - p99 < 1s\n  - p99 < 50",
            "plan.yaml:4:5: objectives: `50`: a unit is missing",
        ),
        (
            "load: {duration: 5s}\nfind: {time_budget: 2m}",
            "load.duration: a search chooses the duration of its trials; leave it out, or write find.trial_duration 2s",
        ),
        (
            "find: {time_budget: 5s}",
            "plan.yaml:2:21: find.time_budget: 5s: three trials of 3s do not fit into it",
        ),
        (
            "find: {start_load: 50, max_load: 20}",
            "plan.yaml:2:34: find.max_load: find.max_load is below the load of the first trial",
        ),
        ("repetitions: 0", "plan.yaml:2:14: repetitions: `0` is out of range; write 1 to 100000"),
        (
            "repetitions: 4000000000",
            "plan.yaml:2:14: repetitions: `4000000000` is out of range; write 1 to 100000",
        ),
        (
            "load: {rate: 5, threads: 0}",
            "plan.yaml:2:26: load.threads: `0` is out of range; write 1 to 1024",
        ),
        (
            "load: {rate: 5}\ncompare: {metrics: capacity}\ncontenders: {a: , b: }",
            "compare: capacity: no search measures it; add compare.at capacity, or compare.at both",
        ),
        (
            "load: {rate: 5, duration: 9s}\ncompare: {time_budget: 5s}\ncontenders: {a: , b: }",
            "plan.yaml:3:24: compare.time_budget: 5 s: one repetition takes 18 s; write more, or a shorter load.duration",
        ),
        (
            "load: {rate: 5}\ncompare: {factor: mode}\ncontenders: {a: , b: }",
            "plan.yaml:3:19: compare.factor: the contenders have no factors; add `factors` to the plan, or leave it out",
        ),
        (
            "load: {rate: 5}\ncompare: {factor: mod}\nfactors: {mode: {a: , b: }, size: {c: }}",
            "plan.yaml:3:19: compare.factor: the plan has no factor `mod`; write one of mode, size",
        ),
        (
            "load: {rate: 5}\ncompare: {factor: size}\nfactors: {mode: {a: , b: }, size: {c: }}",
            "plan.yaml:3:19: compare.factor: the factor `size` has one level, `c`; add another level to compare",
        ),
        ("outputs: ['=x']", "plan.yaml:2:11: outputs: `=x`: the format or the file is missing"),
    ] {
        let error_text = format!(
            "{:#}",
            loaded(&format!("script: {{request: 'http://h/'}}\n{text}\n"), &[])
                .map(|l| l.experiment)
                .unwrap_err()
        );
        assert!(
            error_text.contains(expected) && !error_text.contains(" --"),
            "{text}:\n{error_text}\n{expected}"
        );
    }
    for (scenario, expected) in [
        (
            "[{get: 'http://h/'}]",
            "plan.yaml:1:11: scenario: a list instead of a map; write `steps:` above it",
        ),
        (
            "{steps: [{post: {url: 'http://h/', json: {a: 1}}}]}",
            "plan.yaml:1:27: scenario.steps[0].post: a map; write `post: http://h/`, and its other keys in lines below it",
        ),
    ] {
        let plan = format!("scenario: {scenario}\n");
        let error = loaded(&plan, &[]).map(|l| l.experiment).unwrap_err();
        // A plan without its scenario needs no script.
        assert_eq!(error, expected);
    }
    for (script, expected) in [
        ("{request: /a}", "plan.yaml:1:19: script.request: `/a`: the server is not specified"),
        (
            "{request: 'ftp://h/'}",
            "plan.yaml:1:19: script.request.url: `ftp://h/`: brunt speaks http, https, ws and wss, not ftp",
        ),
        (
            "{request: {url: h, method: get}}",
            "plan.yaml:1:36: script.request.method: `get`: methods are written in capitals",
        ),
        ("{requests: [h, {url: h, data: x, form: {a: b}}]}", "script.request.form"),
    ] {
        let error_text = format!(
            "{:#}",
            loaded(&format!("script: {script}\n"), &[]).map(|l| l.experiment).unwrap_err()
        );
        assert!(error_text.contains(expected), "{script}:\n{error_text}\n{expected}");
    }
}

#[test]
fn differences_are_shown_by_contender() {
    let text = "script: {request: 'http://127.0.0.1/${factor.size}'}
load: {rate: 5..10+5, duration: 1s}
factors:
  keepalive: {on: , off: {connection: {keepalive: false}}}
  size: {10: , 20: }
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    std::fs::write(&path, text).unwrap();
    let opened = open(&path, &[], NO_FOLDER, &SYSTEM).unwrap();
    let file = opened.file.clone();
    let shown = show::yaml(&file, &opened.resolve(&SYSTEM).unwrap());
    insta::assert_snapshot!(shown, @r"
    # 4 contenders × 2 steps × 8 repetitions = 64 trials, about 1 min 4 s
    name: plan
    repetitions: 8
    order: interleaved
    cooldown: 0s
    load:
      rate: 5..10+5
      duration: 1s
    contenders:
      on 10:
        script:
          request: http://127.0.0.1/10
      on 20:
        script:
          request: http://127.0.0.1/20
      off 10:
        script:
          request: http://127.0.0.1/10
        connection:
          keepalive: false
      off 20:
        script:
          request: http://127.0.0.1/20
        connection:
          keepalive: false
    ");
}

const SHOP: &str = "
script: {base: 'http://127.0.0.1:81'}
load: {duration: 5s}
checks: {status: [200]}
populations:
  checkout: {script: {request: {url: /buy, method: POST}}, load: {rate: 20}, checks: {status: [201]}}
  browsing: {script: {requests: [{url: /, weight: 2}, /a]}, load: {users: 50, think: 1s}}
";

#[test]
fn populations_inherit_missing_keys_from_the_plan() {
    let experiment = well(SHOP).experiment;
    let plan = &experiment.contenders[0].steps[0].plan;
    let of = |population: &brunt_model::Population| {
        let asked = population.scenario.requests.iter().map(|request| {
            let checks = &plan.reply_policies[request.reply_policy as usize].checks;
            format!(
                "{} {} {} {}",
                request.weight, request.method, request.url, checks.status[0].least
            )
        });
        (
            population.name.clone(),
            population.load.peak(),
            population.stop.duration,
            asked.collect::<Vec<_>>().join(", "),
        )
    };
    let five = Some(Duration::from_secs(5));
    let [checkout, browsing] = &plan.populations[..] else { panic!("two populations") };
    assert_eq!(
        of(checkout),
        ("checkout".into(), 20.0, five, "1 POST http://127.0.0.1:81/buy 201".into())
    );
    let pages = "2 GET http://127.0.0.1:81/ 200, 1 GET http://127.0.0.1:81/a 200";
    assert_eq!(of(browsing), ("browsing".into(), 50.0, five, pages.into()));
    // A sweep varies the load of the first population.
    let swept = well(&SHOP.replace("rate: 20", "rate: 20..40*2")).experiment;
    let loads: Vec<f64> =
        swept.contenders[0].steps.iter().map(|step| step.plan.main().load.peak()).collect();
    assert_eq!(loads, [20.0, 40.0]);
    assert!(
        swept.contenders[0].steps.iter().all(|step| step.plan.populations[1].load.peak() == 50.0)
    );
}

const PLACED: &str = "
on: local:5
fleet: {groups: ['eu=local-5,local-1', us=local-3]}
load: {duration: 5s}
script: {request: 'http://127.0.0.1:81/'}
populations:
  all: {load: {users: 5}}
  far: {load: {rate: 100000}, group: us}
  near: {load: {users: 2}, group: eu}
";

#[test]
fn a_population_is_dealt_over_the_agents_of_its_group() {
    let plan = &well(PLACED).experiment.contenders[0].steps[0].plan;
    let fleet = plan.fleet.as_ref().expect("agents");
    let names = fleet.on.agent_names().expect("names");
    let shares = ProcessShares::all(plan, &fleet.groups_of(&names)).into_iter().map(|shares| {
        let parts = shares.populations.into_iter().map(|part| part.map(|p| (p.number, p.count)));
        parts.collect::<Vec<_>>()
    });
    let expected = [
        [Some((0, 5)), None, Some((0, 2))],
        [Some((1, 5)), None, None],
        [Some((2, 5)), Some((0, 1)), None],
        [Some((3, 5)), None, None],
        [Some((4, 5)), None, Some((1, 2))],
    ];
    assert_eq!(shares.collect::<Vec<_>>(), expected);
    // Two threads for 100,000 requests/s of one agent, where five agents need one each.
    assert_eq!((plan.threads, plan.processes), (2, 5));
}

#[test]
fn a_population_may_be_placed_on_a_zone_that_is_known_only_later() {
    let zones = PLACED
        .replace("on: local:5", "on: k8s:5\nallow: [127.0.0.1]")
        .replace("groups: ['eu=local-5,local-1', us=local-3]", "group_by: zone, image: i")
        // A zone may have all agents.
        .replace("users: 2", "users: 5");
    let plan = &well(&zones).experiment.contenders[0].steps[0].plan;
    assert!(plan.fleet.as_ref().is_some_and(|fleet| fleet.by_zone));
    for (text, expected) in [
        (
            zones.replace("k8s:5", "local:5"),
            "fleet.group_by: local:5 has no zones; write on k8s:N, or name the groups: fleet.groups \
             NAME=AGENT,AGENT",
        ),
        (zones.replace("zone,", "rack,"), "fleet.group_by"),
        (
            zones.replace("zone,", "zone, groups: [a=pod-1],"),
            "fleet.group_by cannot be used with fleet.groups; leave out one of them",
        ),
    ] {
        let error_text = loaded(&text, &[]).err().unwrap_or_default();
        assert!(error_text.contains(expected), "{error_text}");
    }
}

#[test]
fn errors_in_the_group_of_a_population_say_what_to_write() {
    let without_agents = PLACED.replace("on: local:5\n", "");
    let without_agents =
        without_agents.replace("fleet: {groups: ['eu=local-5,local-1', us=local-3]}\n", "");
    for (text, expected) in [
        (
            without_agents.clone(),
            "plan.yaml:6:38: populations.far.group: only agents have groups; write `on: local:2` and `fleet: \
             {groups: [us=local-1]}`, or leave the key out",
        ),
        (
            // Processes of one machine are no agents.
            without_agents.replace("load: {duration: 5s}", "load: {duration: 5s, processes: 2}"),
            "populations.far.group: only agents have groups",
        ),
        (
            PLACED.replace("group: us", "group: asia"),
            "plan.yaml:8:38: populations.far.group: the population far is placed on the group asia, which does not \
             exist; write one of eu, us",
        ),
        (
            PLACED.replace("groups: ['eu=local-5,local-1', us=local-3]", "quiet_agents: 1"),
            "populations.far.group: quiet agents get 1 % of every population; leave out `group` or \
             `fleet.quiet_agents`",
        ),
        (
            PLACED.replace("  all: {load: {users: 5}}\n", ""),
            "the agent local-2 gets no load, because all populations are placed on groups without it; place a \
             population on its group, or leave the agent out of `on`",
        ),
        (PLACED.replace("users: 2", "users: 1"), "1 connections are too few for 2 agents"),
    ] {
        let error_text = loaded(&text, &[]).err().unwrap_or_default();
        assert!(error_text.contains(expected), "{error_text}");
    }
}

#[test]
fn errors_in_a_population_have_its_position() {
    for (from, to, expected) in [
        (
            "users: 50",
            "users: 50..100*2",
            "plan.yaml:7:3: populations.browsing: its load is a sweep; only that of the first \
          population may be one",
        ),
        (
            "think: 1s",
            "warmup: 1s",
            "plan.yaml:7:3: populations.browsing: its warm-up differs from that of the first; \
          write one load.warmup for all",
        ),
        (
            "think: 1s",
            "thnik: 1s",
            "plan.yaml:7:79: populations.browsing.load.thnik: unknown key; write think",
        ),
        ("request: {url: /buy, method: POST}", "order: random", "the request is missing"),
    ] {
        let error_text = loaded(&SHOP.replace(from, to), &[]).err().unwrap_or_default();
        assert!(error_text.contains(expected), "{error_text}");
    }
    let searched = loaded(&format!("{SHOP}find: {{}}\n"), &[]).err().unwrap_or_default();
    assert!(
        searched.contains(
            "plan.yaml:7:3: populations.browsing: a search or comparison is of one population"
        ),
        "{searched}"
    );
    let none =
        loaded("script: {request: 'http://h'}\npopulations: {}\n", &[]).err().unwrap_or_default();
    assert!(none.contains("there is none in it; write a name with"), "{none}");
}

#[test]
fn the_folder_of_an_experiment_is_shown_with_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    std::fs::write(
        &path,
        "script: {request: 'http://127.0.0.1/'}\nserver: {start: 'serve ${dir}/conf', ready: '127.0.0.1:80'}\n",
    )
    .unwrap();
    let opened = open(&path, &[], NO_FOLDER, &SYSTEM).unwrap();
    let file = opened.file.clone();
    let shown = show::yaml(&file, &opened.resolve(&SYSTEM).unwrap());
    assert!(shown.contains("start: serve /tmp/brunt-XXXXXX/conf"), "{shown}");
    assert!(
        shown.contains("# /tmp/brunt-XXXXXX: the folder of the experiment (${dir})"),
        "{shown}"
    );
}

#[test]
fn all_errors_of_a_file_are_reported_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    let text = "xyzzy: 1\nscript: {request: 'http://127.0.0.1/', follow: many}\nload:\n  rte: 5\n  duration: soon\n";
    std::fs::write(&path, text).unwrap();
    let error = load(&path, &[], NO_FOLDER, &SYSTEM).unwrap_err();
    let paths: Vec<&str> =
        std::iter::once(&error).chain(&error.others).map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["xyzzy", "script.follow", "load.rte", "load.duration"]);
    assert_eq!(error.to_string().lines().count(), 4);
}

#[test]
fn setup_and_teardown_are_stages_around_the_plan() {
    let text = "load: {users: 2, duration: 1s}
checks: {status: 200}
setup:
- post: /login
  extract: {token: $.token}
- set: {run: '${uuid()}'}
teardown: {users: 3, iterations: 2, timeout: 5s, language: javascript, steps: [{get: '/${run}', on_failure: continue}]}
scenario: {base: 'http://h', language: groovy, headers: {X-A: '${own}'}, variables: {own: '1'}, steps: [{get: '/${token}'}]}
";
    let plan = well(text).experiment.contenders[0].steps[0].plan.clone();
    let [setup, teardown] = &plan.stages[..] else { panic!("{plan:?}") };
    let population = setup.plan.main();
    assert_eq!(
        (setup.kind, population.name.as_str(), population.load.peak()),
        (StageKind::Setup, "setup", 1.0)
    );
    assert_eq!(population.scenario.requests[0].url, "http://h/login");
    assert_eq!(population.stop.iterations_per_user, Some(1));
    assert_eq!(population.stop.duration, Some(Duration::from_mins(1)));
    assert!(setup.places[0].ends_with("plan.yaml:4:3"), "{:?}", setup.places);
    let policy = setup.plan.policy();
    assert_eq!((policy.failure_ends, policy.checks.status.len()), (EndScope::Run, 0));
    let population = teardown.plan.main();
    assert_eq!((population.load.peak(), population.stop.iterations_per_user), (3.0, Some(2)));
    assert_eq!(
        (population.stop.duration, teardown.plan.policy().failure_ends),
        (Some(Duration::from_secs(5)), EndScope::Nothing)
    );
    let ends = [None, Some(StageKind::Main), Some(StageKind::Setup)];
    assert_eq!(ends.map(|ended| teardown.runs_after(ended)), [true, true, false]);
    // Load and teardown begin with the variables of setup. Each stage has its own seed.
    let names: Vec<&str> = plan
        .main()
        .scenario
        .inherited_variables
        .values
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["token", "run"]);
    assert_eq!(
        teardown.plan.main().scenario.inherited_variables,
        plan.main().scenario.inherited_variables
    );
    assert!(
        setup.plan.seed != plan.seed
            && teardown.plan.seed != plan.seed
            && setup.plan.seed != teardown.plan.seed
    );
}

#[test]
fn stages_may_differ_by_contender_and_accompany_a_script() {
    let text = "load: {users: 1, duration: 1s}
script: {base: 'http://h', request: /}
setup: [{get: /a}]
contenders: {one: , other: {setup: [{set: {a: b}}], teardown: {headers: {X-A: '${a}'}, steps: [{get: /c}]}}, none: {setup: null}}
";
    let experiment = well(text).experiment;
    let around = |number: usize| &experiment.contenders[number].steps[0].plan.stages;
    assert_eq!([around(0).len(), around(1).len(), around(2).len()], [1, 2, 0]);
    assert_eq!(around(0)[0].plan.main().scenario.requests[0].url, "http://h/a");
    assert!(around(1)[0].plan.main().scenario.requests.is_empty());
}

#[test]
fn errors_in_a_stage_have_its_position() {
    let plan = |stage: &str| {
        format!(
            "load: {{users: 1, duration: 1s}}\nscenario: {{base: 'http://h', variables: {{v: '1'}}, steps: [{{get: /}}]}}\n{stage}\n"
        )
    };
    for (stage, wrong) in [
        (
            "setup: []",
            "plan.yaml:3:8: setup: it has no steps; write a list of them, such as `- post: http://127.0.0.1:8080/`",
        ),
        ("teardown: {users: 2}", "plan.yaml:3:11: teardown: it has no steps"),
        ("setup: get", "plan.yaml:3:8: setup: this is not a list of steps"),
        (
            "setup: {load: {users: 1}, steps: [{get: /}]}",
            "plan.yaml:3:9: setup: it has no load; `users` and `iterations` set",
        ),
        ("setup: {users: 0, steps: [{get: /}]}", "plan.yaml:3:16: setup.users: 0 does nothing"),
        (
            "setup: {user: 1, steps: [{get: /}]}",
            "plan.yaml:3:9: setup.user: unknown key; write users",
        ),
        ("setup: [{get: /, chek: {}}]", "plan.yaml:3:18: setup[0].chek: unknown key; write check"),
        ("setup: [{set: {a: b}}, {post: /, data: a, form: {}}]", "setup[1]"),
        ("setup: {data: [none.csv], steps: [{get: /}]}", "none.csv"),
        (
            "setup: [{get: '/${v}'}]",
            "setup: `${v}`: no step, extractor or data file sets this variable",
        ),
        ("teardown: [{get: '/${token}'}]", "plan.yaml:3:18: teardown: `${token}`: no step"),
        ("setup: [{send: 'http://h/', data: x}]", "setup[0].send: `send` is for a WebSocket"),
    ] {
        let error_text = loaded(&plan(stage), &[]).unwrap_err();
        assert!(error_text.contains(wrong), "{stage}: {error_text}");
    }
    assert!(
        loaded(
            &plan("setup: {language: javascript, steps: [{open: 'ws://h/'}, {script: 'vars.put(\"token\", \"x\")'}]}\nteardown: [{get: '/${token}'}]"),
            &[]
        )
        .is_ok()
    );
}
