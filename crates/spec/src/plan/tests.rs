use super::sections::SECTIONS;
use super::*;
use crate::SpecError;
use brunt_model::experiment::ReadyCondition;
use brunt_model::probe_spec::{ProbeAccess, Probed, Select};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

fn resolved(text: &str, sets: &[&str]) -> Result<PlanFile, SpecError> {
    let ports = BTreeMap::from([("http".to_owned(), 4711)]);
    let environment = |name: &str| (name == "HOME").then(|| "/home/anna".to_owned());
    let given =
        FillInputs { ports: &ports, dir: "/tmp/d", plan_dir: "/plans", environment: &environment };
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let draft = PlanTree::parse(text, "plan.yaml", &sets)?;
    draft.ports()?;
    draft.resolve(given, "plan")
}

fn plan(text: &str, sets: &[&str]) -> PlanFile {
    resolved(text, sets).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// The error of each of these invalid plans, one per line.
fn error_text(texts: &[&str]) -> String {
    let error_text =
        texts.iter().map(|text| resolved(text, &[]).map(|_| text).unwrap_err().to_string());
    error_text.collect::<Vec<_>>().join("\n")
}

/// The value of a key of each contender, with its place.
fn values(plan: &PlanFile, key: &str) -> Vec<String> {
    let value = |contender: &PlannedContender| {
        let node =
            contender.resolved.below(key).unwrap_or_else(|| panic!("{}: no {key}", contender.name));
        format!("{}: {} ({})", contender.name, node.text().unwrap_or("?"), node.at)
    };
    plan.contenders.iter().map(value).collect()
}

#[test]
fn a_plan_without_contenders_has_one() {
    let plan = plan("script: {request: 'http://h/'}\n", &[]);
    assert_eq!((plan.name.as_str(), plan.contenders.len()), ("plan", 1));
    assert_eq!(plan.arrangement, []);
    let only = &plan.contenders[0];
    assert_eq!(
        (
            only.name.as_str(),
            only.populations[0].requests.len(),
            only.populations[0].settings.len()
        ),
        ("plan", 1, 0)
    );
}

#[test]
fn contenders_and_factors_are_multiplied() {
    let plan = plan(
        "script: {request: 'http://h/${factor.size}'}
load: {rate: 5}
contenders:
  nginx:
  apache: {load: {rate: 7}}
factors:
  keepalive: {on: , off: {connection: {keepalive: false}}}
  size: {10B: , 124kB: {load: {duration: 4s}}}
",
        &[],
    );
    insta::assert_snapshot!(values(&plan, "load.rate").join("\n"), @r"
    nginx on 10B: 5 (plan.yaml:2:14)
    nginx on 124kB: 5 (plan.yaml:2:14)
    nginx off 10B: 5 (plan.yaml:2:14)
    nginx off 124kB: 5 (plan.yaml:2:14)
    apache on 10B: 7 (plan.yaml:5:25)
    apache on 124kB: 7 (plan.yaml:5:25)
    apache off 10B: 7 (plan.yaml:5:25)
    apache off 124kB: 7 (plan.yaml:5:25)
    ");
    let last = plan.contenders.last().unwrap();
    let factors = [("contender", "apache"), ("keepalive", "off"), ("size", "124kB")]
        .map(|(f, l)| (f.to_owned(), l.to_owned()));
    assert_eq!(last.factors, factors);
    let keys: Vec<_> = last.populations[0]
        .settings
        .iter()
        .map(|s| format!("{}={}", s.key, s.node.text().unwrap()))
        .collect();
    assert_eq!(keys, ["load.rate=7", "load.duration=4s", "connection.keepalive=false"]);
    assert_eq!(last.populations[0].requests[0][0].node.text(), Some("http://h/124kB"));
}

#[test]
fn variables_are_replaced_everywhere() {
    let plan = plan(
        "name: x-${scale}
vars: {scale: full, page: '${what}.php', what: 'sleep-${contender}'}
script: {base: 'http://127.0.0.1:${port.http}', request: '/${page}?$1&$$x=$${y}&h=${env.HOME}'}
server:
  start: exec sh ${plan_dir}/a.sh ${dir}
  ready: 127.0.0.1:${port.http}
  environment: {WHO: '${contender}'}
contenders: {a: , b: {vars: {what: other}}}
",
        &[],
    );
    assert_eq!(plan.name, "x-full");
    let [a, b] = &plan.contenders[..] else { panic!("not two") };
    assert_eq!(
        a.populations[0].requests[0][0].node.text(),
        Some("/sleep-a.php?$1&$x=${y}&h=/home/anna")
    );
    assert_eq!(
        b.populations[0].requests[0][0].node.text(),
        Some("/other.php?$1&$x=${y}&h=/home/anna")
    );
    let server = b.server.as_ref().unwrap();
    assert_eq!(
        (server.start.as_str(), &server.ready),
        ("exec sh /plans/a.sh /tmp/d", &ReadyCondition::Address("127.0.0.1:4711".into()))
    );
    assert_eq!(server.environment, [("WHO".to_owned(), "b".to_owned())]);
}

const CHOOSING: &str = "vars: {scale: full, page: a}
choose:
  scale: {small: {repetitions: 2, load: {rate: 40}}}
script: {request: 'http://h/${page}'}
load: {rate: 500, duration: 30s}
repetitions: 6
contenders: {a: {load: {duration: 9s}}, b: }
";

#[test]
fn the_command_line_overrides_the_plan() {
    let of = |sets: &[&str]| {
        let plan = plan(CHOOSING, sets);
        let repetitions = plan.arrangement[0].node.text().unwrap();
        format!(
            "{repetitions} {:?} {:?}",
            values(&plan, "load.rate"),
            values(&plan, "load.duration")
        )
    };
    let all = [
        &[][..],
        &["scale=small"],
        &["scale=small", "load.rate=7", "load.duration=1s"],
        &["scale=tiny", "repetitions=1"],
    ];
    insta::assert_snapshot!(all.map(of).join("\n"), @r#"
    6 ["a: 500 (plan.yaml:5:14)", "b: 500 (plan.yaml:5:14)"] ["a: 9s (plan.yaml:7:35)", "b: 30s (plan.yaml:5:29)"]
    2 ["a: 40 (plan.yaml:3:48)", "b: 40 (plan.yaml:3:48)"] ["a: 9s (plan.yaml:7:35)", "b: 30s (plan.yaml:5:29)"]
    2 ["a: 7 (--set load.rate=7)", "b: 7 (--set load.rate=7)"] ["a: 1s (--set load.duration=1s)", "b: 1s (--set load.duration=1s)"]
    1 ["a: 500 (plan.yaml:5:14)", "b: 500 (plan.yaml:5:14)"] ["a: 9s (plan.yaml:7:35)", "b: 30s (plan.yaml:5:29)"]
    "#);
    let urls =
        plan(CHOOSING, &["page=c?x=1"]).contenders[0].populations[0].requests[0][0].node.clone();
    assert_eq!(urls.text(), Some("http://h/c?x=1"));
    assert_eq!(
        plan(CHOOSING, &["objectives=[p99 < 1s, errors < 1%]"]).contenders[0].populations[0]
            .settings
            .len(),
        3
    );
    assert_eq!(
        plan(CHOOSING, &["connection.http1.0=true"]).contenders[0].populations[0]
            .settings
            .last()
            .unwrap()
            .key,
        "connection.http1.0"
    );
    assert_eq!(plan(CHOOSING, &["load.duration="]).contenders[0].populations[0].settings.len(), 1);
}

#[test]
fn invalid_overrides_are_reported() {
    let error_text: Vec<_> = [
        "scale",
        "=x",
        "scael=small",
        "rate=5",
        "load.rte=5",
        "load..rate=5",
        "quux=1",
        "repetitions=many",
        "load.rate=[1",
    ]
    .map(|set| resolved(CHOOSING, &[set]).unwrap_err().to_string())
    .to_vec();
    insta::assert_snapshot!(error_text.join("\n"), @r"
    --set scale: not a pair; write NAME=VALUE, such as load.rate=100..500+50
    --set =x: not a pair; write NAME=VALUE, such as load.rate=100..500+50
    --set scael=small: unknown variable or key `scael`; write scale=…
    --set rate=5: unknown variable or key `rate`; write load.rate=…
    --set load.rte=5: load.rte: unknown key; write rate
    --set load..rate=5: unknown variable or key `load..rate`; write load.rate=…
    --set quux=1: unknown variable or key `quux`; write one of scale, page, or a key such as load.rate=500
    --set repetitions=many: repetitions: `many`: not a whole number; write one such as 3
    --set load.rate=[1: invalid YAML: while parsing a flow sequence, expected ',' or ']'; check the indentation, quotes and brackets here and above
    ");
}

#[test]
fn all_keys_are_parsed() {
    let plan = plan(include_str!("tests/all.yaml"), &[]);
    let arrangement: Vec<_> =
        plan.arrangement.iter().map(|keyed| keyed.node.text().unwrap()).collect();
    assert_eq!((plan.name.as_str(), &arrangement[..]), ("e1-php", &["3", "random", "5s"][..]));
    assert_eq!((plan.hooks.before.len(), plan.hooks.after.len()), (1, 0));
    assert_eq!(plan.contenders.len(), 8);
    let [contender, repetition, step] = &plan.contenders[0].hooks;
    assert_eq!((contender.before.len(), repetition.before.len(), step.before.len()), (0, 2, 0));
    assert_eq!(step.after, [("./log.sh".to_owned(), Some(Duration::from_secs(5)))]);
    let probes: Vec<String> = plan.contenders[0]
        .probes
        .iter()
        .map(|p| format!("{}:{} {:?}", p.what.kind(), p.name, p.interval))
        .collect();
    insta::assert_snapshot!(probes.join("\n"), @r"
    host:local None
    process:server None
    process:php-fpm8.4 None
    process:php None
    host:user@web1 None
    nginx:127.0.0.1:4711 None
    nginx:front Some(500ms)
    php-fpm:www None
    apache:localhost None
    tomcat:localhost:8080 None
    haproxy:localhost:8404 None
    prometheus:127.0.0.1:9100 None
    ");
    assert_eq!(plan.contenders[0].probes[0].what, Probed::Host { via: ProbeAccess::Local });
    let via = ProbeAccess::Ssh { host: "root@h".into(), options: vec!["-p".into(), "2222".into()] };
    assert_eq!(
        plan.contenders[0].probes[2].what,
        Probed::Processes { select: Select::Name("php-fpm8.4".into()), via }
    );
}

#[test]
fn unknown_keys_are_reported_with_similar_ones() {
    insta::assert_snapshot!(error_text(&[
        "script: {request: h}\nload:\n  raet: 5\n",
        "script: {request: h}\nlaod: {rate: 5}\n",
        "script: {request: h}\nxyzzy: 1\n",
        "script: {request: {url: h, mehtod: GET}}\n",
        "script: {requests: [h, {url: h, wieght: 2}]}\n",
        "script: {request: h}\nhooks: {before: {contendre: x}}\n",
        "script: {request: h}\nhooks: {before: {step: [a, {run: b, timeuot: 1s}]}}\n",
        "script: {request: h}\nprobes: [host, ngnix: 'http://h/']\n",
        "script: {request: h}\nprobes: [processes: {nmae: x}]\n",
        "script: {request: h}\nserver: {start: x, ready: 'h:1', stopp: y}\n",
        "script: {request: h}\ncontenders:\n  a:\n    connection: {keepalvie: true}\n",
    ]), @r"
    plan.yaml:3:3: load.raet: unknown key; write rate
    plan.yaml:2:1: laod: unknown key; write load
    plan.yaml:2:1: xyzzy: unknown key; write one of name, about, vars, ports, choose, script, scenario, setup, teardown, load, populations, connection, checks, objectives, on, allow, fleet, repetitions, compare, order, cooldown, find, hooks, server, probes, probe_interval, outputs, contenders or factors
    plan.yaml:1:28: script.request.mehtod: unknown key; write method
    plan.yaml:1:33: script.requests[1].wieght: unknown key; write weight
    plan.yaml:2:18: hooks.before.contendre: unknown key; write contender
    plan.yaml:2:37: hooks.before.step[1].timeuot: unknown key; write timeout
    plan.yaml:2:16: probes[1]: invalid value `ngnix`; write nginx
    plan.yaml:2:22: probes[0].processes.nmae: unknown key; write name
    plan.yaml:2:34: server.stopp: unknown key; write stop
    plan.yaml:4:18: connection.keepalvie: unknown key; write keepalive
    ");
}

#[test]
fn misspelled_keys_without_a_value_are_reported() {
    for (text, wrong) in [
        (
            "script: {request: h}\nload:\n  raet:\n",
            "plan.yaml:3:3: load.raet: unknown key; write rate",
        ),
        ("script: {request: h}\nlaod: ~\n", "plan.yaml:2:1: laod: unknown key; write load"),
        (
            "script: {request: h}\nhooks: {before: {contendre: }}\n",
            "hooks.before.contendre: unknown key",
        ),
        ("script: {request: h}\nprobes: [processes: {name: a, nmae: ~}]\n", "nmae: unknown key"),
        ("script: {requests: [h, {url: h, wieght: ~}]}\n", "wieght: unknown key; write weight"),
        (
            "script: {request: h}\ncontenders:\n  a:\n    connection: {keepalvie: ~}\n",
            "keepalvie: unknown key",
        ),
        ("script: {request: h}\npopulations: {a: {load: {rtae: ~}}}\n", "rtae: unknown key"),
        ("script: {request: h}\nfind: {fom: ~}\n", "find.fom: unknown key"),
    ] {
        let error = error_text(&[text]);
        assert!(error.contains(wrong), "{text}: {error}");
    }
    // A known key without a value counts as missing.
    for text in [
        "script: {request: h}\nload:\n  rate:\nconnection: ~\nhooks: {before: ~}\nprobes:\n",
        "script: {request: {url: h, headers: ~}}\nvars: ~\nfind:\n",
    ] {
        plan(text, &[]);
    }
}

#[test]
fn values_of_the_wrong_type_are_reported() {
    insta::assert_snapshot!(error_text(&[
        "- a\n- b\n",
        "just a text\n",
        "script: http://h/\n",
        "script: {request: [a, b]}\n",
        "script: {requests: a}\n",
        "script: {request: h}\nload: [1, 2]\n",
        "script: {request: h}\nload: {duration: {a: 1}}\n",
        "script: {request: h}\nload: {duration: [1s, 2s]}\n",
        "script: {request: h}\nconnection: {keepalive: yes}\n",
        "script: {request: h}\nrepetitions: three\n",
        "script: {request: h}\norder: shuffled\n",
        "script: {request: h, order: shuffled}\n",
        "script: {request: h}\ncooldown: 5 s\n",
        "script: {request: h}\nprobe_interval: 0\n",
        "script: {request: h}\nvars: {a: [1]}\n",
        "script: {request: h}\nports: http\n",
        "script: {request: h}\nports: [http, http]\n",
        "script: {request: h}\nprobes: [nginx]\n",
        "script: {request: h}\nprobes: [{a: 1, b: 2}]\n",
        "script: {request: h}\nprobes: [nginx: /status]\n",
        "script: {request: h}\nprobes: [apache: {url: 'http://h/', metrics: [x]}]\n",
        "script: {request: h}\nprobes: [processes: {}]\n",
        "script: {request: h}\nprobes: [host, host]\n",
        "script: {request: h}\nserver: {start: x}\n",
        "script: {request: h}\nserver: {start: x, ready: 8080}\n",
        "script: {request: h}\nserver: {start: x, ready: 'h:1', restart: often}\n",
        "script: {request: h}\nhooks: {before: {step: {timeout: 1s}}}\n",
        "script: {request: h}\nhooks: {before: {step: {run: x, timeout: soon}}}\n",
    ]), @r"
    plan.yaml:1:1: a list instead of a map; write `name: …` below it
    plan.yaml:1:1: a single value instead of a map; write `name: …` below it
    plan.yaml:1:9: script: a single value instead of a map; write `name: value` below it
    plan.yaml:1:19: script.request: a list instead of a single value or a map; write a single value or a map
    plan.yaml:1:20: script.requests: a single value instead of a list; write [a, b], or a line `- a` for each
    plan.yaml:2:7: load: a list instead of a map; write `name: value` below it
    plan.yaml:2:18: load.duration: a map instead of a single value; write one
    plan.yaml:2:18: load.duration: a list instead of a single value; write one
    plan.yaml:2:25: connection.keepalive: `yes` is neither true nor false; write one of the two
    plan.yaml:2:14: repetitions: `three`: not a whole number; write one such as 3
    plan.yaml:2:8: order: invalid value `shuffled`; write interleaved, blocks or random
    plan.yaml:1:29: script.order: invalid value `shuffled`; write sequence, random, walk or walk_together
    plan.yaml:2:11: cooldown: `5 s`: ` s` is not a unit of time; write a number and a unit (ns us ms s m h d), such as 500ms, 1.5s, 2m or 1h30m
    plan.yaml:2:17: probe_interval: `0`: the duration must be above zero; write one such as 500ms, 1.5s or 2m
    plan.yaml:2:11: vars.a: a list instead of a single value; write one
    plan.yaml:2:8: ports: a single value instead of a list; write [a, b], or a line `- a` for each
    plan.yaml:2:8: ports: `http` is given twice; write it once
    plan.yaml:2:10: probes[0].nginx.url: is missing; write it here
    plan.yaml:2:10: probes[0]: a map instead of one word, or one name with its settings; write `name` or `name: {…}`
    plan.yaml:2:10: probes[0]: `/status` is no URL; write one such as http://127.0.0.1:8080/status
    plan.yaml:2:10: probes[0]: metrics belongs to a probe of prometheus; leave it out
    plan.yaml:2:10: probes[0]: no processes are selected; write one of name, pid, pid_file, port or cgroup
    plan.yaml:2:16: probes[1]: another host probe is called `local` already; add `as: NAME`
    plan.yaml:2:9: server.ready: is missing; write it here
    plan.yaml:2:27: server.ready: `8080` is neither a URL nor HOST:PORT; write one such as http://127.0.0.1:8080/ or 127.0.0.1:8080
    plan.yaml:2:43: server.restart: invalid value `often`; write repetition, step or never
    plan.yaml:2:24: hooks.before.step.run: is missing; write it here
    plan.yaml:2:42: hooks.before.step.timeout: `soon`: not a duration; write a number and a unit (ns us ms s m h d), such as 500ms, 1.5s, 2m or 1h30m
    ");
}

#[test]
fn contradictions_are_reported() {
    insta::assert_snapshot!(error_text(&[
        "name: x\n",
        "script: {follow: 1}\n",
        "script: {request: h, urls: f}\n",
        "script: {requests: []}\n",
        "script: {request: h}\ncontenders: {}\n",
        "script: {request: h}\ncontenders: [a, b]\n",
        "script: {request: h}\ncontenders: {a: x}\n",
        "script: {request: h}\ncontenders:\n  a: {repetitions: 3}\n",
        "script: {request: h}\ncontenders:\n  a: {hooks: {before: {experiment: x}}}\n",
        "script: {request: h}\nfactors: {a: {}}\n",
        "script: {request: h}\nfactors: {a: {x: , x y: }, b: {y z: , z: }}\n",
        "script: {request: h}\nchoose: {scale: {small: {}}}\n",
        "script: {request: h}\nvars: {scale: full}\nchoose: {scael: {small: {}}}\n",
        "script: {request: h}\nvars: {scale: full}\nchoose: {scale: [small]}\n",
        "script: {request: h}\nvars: {scale: full}\nchoose: {scale: {full: 3}}\n",
    ]), @r"
    plan.yaml:1:1: script: the request is missing; write `request: URL`, `requests: [URL, …]` or `urls: FILE` below script, or steps below scenario
    plan.yaml:1:9: script: the request is missing; write `request: URL`, `requests: [URL, …]` or `urls: FILE` below script, or steps below scenario
    plan.yaml:1:22: script.urls: script.request defines the requests already; write one of them (`request: null` takes it away again)
    plan.yaml:1:20: script.requests: it is empty; write at least one request
    plan.yaml:2:13: contenders: it is empty; write a name with its overrides, or leave it out
    plan.yaml:2:13: contenders: a list instead of a map; write `name: …` below it
    plan.yaml:2:17: contenders.a: a single value instead of a map; write `name: …` below it
    plan.yaml:3:7: contenders.a.repetitions: it is the same for all contenders; write it at the top of the plan
    plan.yaml:3:36: contenders.a.hooks.before.experiment: it is the same for all contenders; write it at the top of the plan
    plan.yaml:2:14: factors.a: it is empty; write a name with its overrides, or leave it out
    plan.yaml:2:39: two contenders have the name `x y z`; give one level another name
    plan.yaml:2:10: choose.scale: unknown variable; write it below vars
    plan.yaml:3:10: choose.scael: unknown variable; write scale
    plan.yaml:3:17: choose.scale: a list instead of a map; write `name: …` below it
    plan.yaml:3:24: choose.scale.full: a single value instead of a map; write `name: …` below it
    ");
}

#[test]
fn unknown_names_are_reported() {
    insta::assert_snapshot!(error_text(&[
        "vars: {page: a}\nscript: {request: 'h/${pgae}'}\n",
        "script: {request: 'h/${xyzzy}'}\n",
        "script: {request: 'h/${port.htp}'}\n",
        "script: {request: 'h/${env.NOT_SET}'}\n",
        "name: ${contender}\nscript: {request: h}\n",
        "script: {request: 'h/${factor.size}'}\n",
        "script: {request: 'h/${page'}\n",
        "vars: {a: '${b}', b: '${a}'}\nscript: {request: '${a}'}\n",
        "vars: {a: {b: c}}\nscript: {request: '${a}'}\n",
    ]), @r"
    plan.yaml:2:19: script.request: ${pgae} is not defined; write ${page}, or $${pgae} to leave it to the shell
    plan.yaml:1:19: script.request: ${xyzzy} is not defined; write one of ${port.http} ${dir} ${plan_dir} ${env.NAME} ${contender}, or $${xyzzy} to leave it to the shell
    plan.yaml:1:19: script.request: ${port.htp} is not defined; write ${port.http}, or $${port.htp} to leave it to the shell
    plan.yaml:1:19: script.request: ${env.NOT_SET}: the environment variable NOT_SET is not set; set it, or write a value
    plan.yaml:1:7: name: ${contender} is defined for each contender only, and this key is of the whole experiment; leave it out
    plan.yaml:1:19: script.request: ${factor.size} is not defined; write one of ${port.http} ${dir} ${plan_dir} ${env.NAME} ${contender}, or $${factor.size} to leave it to the shell
    plan.yaml:1:19: script.request: `}` is missing after `${`; write ${name}, or $${ for a plain ${
    plan.yaml:1:11: script.request: ${a} refers to itself (${a} → ${b} → ${a}); write its value
    plan.yaml:1:11: vars.a: a map instead of a single value; write one
    ");
}

#[test]
fn the_number_of_contenders_is_limited_to_a_thousand() {
    let levels = (0..40).map(|n| format!("l{n}: , ")).collect::<Vec<_>>().concat();
    let text = format!("script: {{request: h}}\nfactors: {{a: {{{levels}}}, b: {{{levels}}}}}\n");
    let error_text = resolved(&text, &[]).unwrap_err().to_string();
    assert!(
        error_text.contains(
            "factors.b: the plan has 1600 contenders (maximum: 1000); write fewer levels"
        ),
        "{error_text}"
    );
}

#[test]
fn variables_that_grow_without_end_are_refused() {
    let vars = (1..40)
        .map(|n| format!("  v{n}: '${{v{0}}}${{v{0}}}${{v{0}}}${{v{0}}}'\n", n - 1))
        .collect::<Vec<_>>()
        .concat();
    for smallest in ["x", "''"] {
        let text = format!("vars:\n  v0: {smallest}\n{vars}script: {{request: '${{v39}}'}}\n");
        let error_text = resolved(&text, &[]).unwrap_err().to_string();
        assert!(error_text.contains("too long with its variables"), "{error_text}");
    }
}

#[test]
fn json_bodies_keep_the_types_of_values() {
    let plan = plan("script: {request: {url: h, json: {a: 1, b: '1', c: [true, ~, x]}}}\n", &[]);
    let body = plan.contenders[0].populations[0].requests[0]
        .iter()
        .find(|s| s.key == "script.request.json")
        .unwrap();
    assert_eq!(json(&body.node).to_string(), r#"{"a":1,"b":"1","c":[true,null,"x"]}"#);
}

#[test]
fn the_schema_contains_every_key() {
    let keys = keys();
    for key in [
        "name",
        "load.rate",
        "connection.http1.0",
        "script.requests",
        "hooks.before",
        "server.ready_timeout",
        "checks.body",
    ] {
        assert!(keys.iter().any(|one| one == key), "{key} is not among {keys:?}");
    }
}

/// A plan with one key of a section.
fn with_key(section: &str, name: &str, value: &str) -> String {
    let map = format!("{{{name}: {value}}}");
    match section.split_once('.') {
        Some((section, below)) => format!("{section}: {{{below}: {map}}}\n"),
        None => format!("{section}: {map}\n"),
    }
}

#[test]
fn each_key_of_a_section_accepts_only_values_of_its_type() {
    let expected = |form| match form {
        Form::Scalar | Form::Choice(_) => Some(("{a: b}", "a map instead of a single value")),
        Form::ScalarList => Some(("{a: b}", "a map instead of")),
        Form::Switch(_) => Some(("perhaps", "`perhaps` is neither true nor false")),
        Form::Number => Some(("many", "`many`: not a whole number")),
        Form::Map => Some(("a", "a single value instead of a map")),
        Form::Request => Some(("[a]", "a list instead of a single value or a map")),
        Form::Requests => Some(("a", "a single value instead of a list")),
        Form::Any => None,
    };
    let (mut checked, mut found) = (0, Vec::new());
    for key in plan_keys() {
        let (Some(section), Some((value, message))) = (key.section(), expected(key.form)) else {
            continue;
        };
        let error_text =
            resolved(&with_key(section, key.name(), value), &[]).unwrap_err().to_string();
        checked += 1;
        if !error_text.contains(&format!("{}: {message}", key.path)) {
            found.push(error_text);
        }
    }
    assert!(checked > 60 && found.is_empty(), "{checked}: {found:#?}");
}

#[test]
fn the_schema_has_the_keys_of_the_table_with_their_forms() {
    let schema = schema();
    for key in plan_keys() {
        let name = SECTIONS.iter().find(|row| Some(row.0) == key.section()).map(|row| row.1);
        let place =
            name.map_or_else(|| "/properties".into(), |name| format!("/$defs/{name}/properties"));
        let property = schema
            .pointer(&place)
            .and_then(|all| all.get(key.name()))
            .unwrap_or_else(|| panic!("{key:?}"));
        assert_eq!(property["description"], key.description(), "{key:?}");
        if let Form::Choice(words) = key.form {
            // Each order of trials has a description, so its words are not in an enum.
            let described = schema["$defs"]["TrialOrder"]["oneOf"].as_array().into_iter().flatten();
            let known: Vec<_> = match property["enum"].as_array() {
                Some(words) => words.iter().filter_map(|word| word.as_str()).collect(),
                None => described.filter_map(|order| order["const"].as_str()).collect(),
            };
            assert_eq!(known, words, "{key:?}");
        }
    }
    let timeout = schema.pointer("/$defs/Connection/properties/timeout/description").unwrap();
    assert_eq!(
        timeout,
        "Timeout of a request, from connecting or sending to the last byte of the reply. Default: 30s."
    );
    let keepalive = schema.pointer("/$defs/Connection/properties/keepalive/description").unwrap();
    assert_eq!(keepalive, "`false`: A new connection for each request. Default: true.");
    let iterations = schema.pointer("/$defs/Load/properties/duration/description").unwrap();
    assert_eq!(
        iterations,
        "Measured time, such as 30s or 5m. Default: 10s, unless requests or stages end the run."
    );
}

proptest! {
    #[test]
    fn a_misspelled_key_of_a_section_is_refused_at_its_place(number in 0..plan_keys().len(), at in 0usize..40, letter in "[a-z]") {
        let key = &plan_keys()[number];
        let (section, name) = (key.section().unwrap_or("load"), key.name());
        let mut wrong = name.to_owned();
        wrong.replace_range(at % name.len()..=at % name.len(), &letter);
        let is_key = plan_keys().iter().any(|other| other.section() == Some(section) && other.name() == wrong);
        prop_assume!(!is_key);
        let error_text = resolved(&with_key(section, &wrong, "1"), &[]).unwrap_err().to_string();
        let column = section.split('.').map(|word| word.len() + 3).sum::<usize>() + 1;
        prop_assert!(error_text.contains(&format!("plan.yaml:1:{column}: {section}.{wrong}: unknown key; write ")), "{}", error_text);
    }

    #[test]
    fn nothing_panics(text: String, lines in "(((script|load|vars|contenders|factors|choose|hooks|probes|ports): ?|  [a-c]: )(\\{a: [a-z{}\\[\\]$]{0,5}\\}|\\$\\{[a-c]\\}|\\[[a-c], x\\])?\n){0,8}", set: String) {
        let _ = (resolved(&text, &[]), resolved(&lines, &[]));
        let _ = resolved(&format!("script: {{request: h}}\n{lines}"), &[&set, &format!("load.rate={set}"), &format!("{set}=1")]);
    }
}
