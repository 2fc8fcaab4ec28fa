//! Runs scripts of k6: the requests that a server counts, the summary, exit codes, and functions
//! that node has, too.

use super::both::ToolOutput;
use crate::world::skip::{program, skip};
use crate::world::{Nginx, command, nginx};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Replies that show what was sent.
const REPLIES: &str = r#"
    default_type application/json;
    location /echo { return 200 '{"method": "$request_method", "auth": "$http_authorization", "cookie": "$http_cookie",
        "agent": "$http_user_agent", "query": "$args", "length": "$http_content_length", "list": [{"id": 1}, {"id": 2}]}'; }
    location /cookie { add_header Set-Cookie "sid=s1; Path=/"; return 200 '{}'; }
    location /moved { return 302 /echo; }
    location /login { add_header Set-Cookie "sid=s2; Path=/"; return 302 /echo; }
    location /gone { return 404 '{}'; }
    location /broken { return 503 '{}'; }"#;

/// A directory with a script and its modules, and a server.
struct Place {
    dir: TempDir,
    nginx: Nginx,
}

impl Place {
    /// Skips the test and returns None without nginx.
    fn new(test: &str) -> Option<Self> {
        Some(Self { nginx: nginx(test, REPLIES)?, dir: TempDir::new().expect("a directory") })
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Runs a script with options.
    fn run(&self, script: &str, options: &str) -> ToolOutput {
        self.file("script.js", script);
        let base = self.nginx.url_of("");
        run_in(self.dir.path(), &format!("k6 run -q {options} -e BASE={base} script.js"))
    }

    /// Runs a script, and returns the data of its summary. Its exit code must be `code`.
    fn data(&self, script: &str, options: &str, code: i32) -> Value {
        let save =
            "export function handleSummary(data) { return {'data.json': JSON.stringify(data)}; }";
        let output = self.run(&format!("{script}\n{save}"), options);
        assert_eq!(output.code, Some(code), "{output:?}");
        let text = fs::read_to_string(self.dir.path().join("data.json")).expect("a summary");
        serde_json::from_str(&text).expect("JSON")
    }
}

fn run_in(dir: &Path, line: &str) -> ToolOutput {
    let output = command(line).current_dir(dir).output().expect("brunt");
    ToolOutput::from_output(&output)
}

fn values<'a>(data: &'a Value, metric: &str) -> &'a Value {
    &data["metrics"][metric]["values"]
}

const IMPORTS: &str = "import http from 'k6/http';
import { check, group, sleep, fail } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
const base = __ENV.BASE;
";

#[test]
fn the_server_counts_the_requests_of_the_summary() {
    let Some(place) = Place::new("compat::k6::the_server_counts_the_requests_of_the_summary")
    else {
        return;
    };
    let script = format!(
        "{IMPORTS}
        export const options = {{
          scenarios: {{ a: {{ executor: 'per-vu-iterations', vus: 3, iterations: 4 }} }},
          thresholds: {{ 'http_reqs{{name:moved}}': ['count==24'], 'http_req_failed{{name:gone}}': ['rate==1'],
            'http_req_duration{{group:::outer::inner}}': ['p(99)<5000'], checks: ['rate>0.5'] }},
        }};
        const sizes = new Trend('sizes'); const hits = new Counter('hits'); const bad = new Rate('bad'); const last = new Gauge('last');
        export default function () {{
          group('outer', () => {{
            const r = http.get(`${{base}}/moved?n=${{__ITER}}`, {{ tags: {{ name: 'moved' }} }});
            check(r, {{ 'is followed': (r) => r.status === 200 && r.url.endsWith('/echo'), 'is never true': () => '' }});
            const other = group('inner', () => http.get(http.url`${{base}}/echo?user=${{__VU}}`));
            sizes.add(other.body.length); hits.add(2); bad.add(false); last.add(__ITER);
          }});
          const [gone, posted] = http.batch([['GET', `${{base}}/gone`, null, {{ tags: {{ name: 'gone' }} }}],
            {{ method: 'POST', url: `${{base}}/echo`, body: {{ a: 'ä b', c: [1, 2] }} }}]);
          check(posted, {{ 'form is sent': (r) => r.json('method') === 'POST' && r.json('length') === '18' && r.json('list.#.id').join() === '1,2' }});
          hits.add(gone.status === 404 ? 1 : 0);
        }}"
    );
    let data = place.data(&script, "", 0);
    assert_eq!(values(&data, "http_reqs")["count"], 60.0, "{data:#}");
    assert_eq!(place.nginx.log().len(), 60);
    assert_eq!(values(&data, "iterations")["count"], 12.0);
    assert_eq!(values(&data, "checks")["passes"], 24);
    assert_eq!(values(&data, "checks")["fails"], 12);
    assert_eq!(values(&data, "http_req_failed")["passes"], 12, "the replies with 404");
    assert_eq!(values(&data, "hits")["count"], 36.0);
    assert_eq!(values(&data, "bad")["rate"], 0.0);
    assert_eq!(values(&data, "last")["value"], 3.0);
    assert!(values(&data, "sizes")["min"].as_f64().expect("a size") > 100.0);
    let [outer] = &data["root_group"]["groups"].as_array().expect("groups")[..] else {
        panic!("{data:#}")
    };
    assert_eq!(
        (&outer["name"], &outer["checks"][0]["name"]),
        (&"outer".into(), &"is followed".into())
    );
    assert_eq!(data["metrics"]["http_reqs{name:moved}"]["thresholds"]["count==24"]["ok"], true);
}

#[test]
fn setup_scenarios_and_teardown_share_data() {
    let Some(place) = Place::new("compat::k6::setup_scenarios_and_teardown_share_data") else {
        return;
    };
    place.file(
        "lib/names.js",
        "export const rows = JSON.parse(open('../data/rows.json'));\nexport { rows as default };",
    );
    place.file("data/rows.json", "[\"a\", \"b\"]");
    let script = format!(
        "{IMPORTS}
        import rows from './lib/names.js';
        import {{ randomIntBetween, findBetween }} from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
        import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
        const users = new SharedArray('users', () => papaparse.parse('name,age\\nann,3\\n\"b, ob\",4\\n', {{ header: true, skipEmptyLines: true }}).data);
        let own = 0;
        export const options = {{ scenarios: {{
          first: {{ executor: 'shared-iterations', vus: 2, iterations: 6, exec: 'first', env: {{ WHO: 'x' }}, tags: {{ kind: 'web' }} }},
          later: {{ executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 2, startTime: '0.5s', exec: 'later' }},
        }}, thresholds: {{ 'checks{{kind:web}}': ['rate==1'], 'checks{{scenario:later}}': ['rate==1'], dropped_iterations: ['count==0'] }} }};
        export async function setup() {{
          const r = await http.asyncRequest('GET', `${{base}}/cookie`);
          return {{ code: r.cookies.sid[0].value, when: new Date(0), n: 0 }};
        }}
        export function first(data) {{
          data.n += 1; own += 1;
          const r = http.get(`${{base}}/echo`, {{ headers: {{ Authorization: data.code }}, cookies: {{ c: '1' }} }});
          check(r, {{
            'setup': (r) => r.json('auth') === 's1' && data.when === '1970-01-01T00:00:00.000Z',
            'own state': () => own === __ITER + 1 && exec.vu.iterationInScenario === __ITER,
            'env': () => __ENV.WHO === 'x' && rows.join() === 'a,b',
            'shared': () => users[1].name === 'b, ob' && users.length === 2 && users.map((u) => u.age).join() === '3,4',
            'cookie': (r) => r.json('cookie') === 'c=1',
            'utils': () => randomIntBetween(2, 2) === 2 && findBetween('a<b>c', '<', '>') === 'b',
          }});
        }}
        export async function later() {{
          http.get(`${{base}}/cookie`);
          await new Promise((wake) => setTimeout(wake, 5));
          check(http.get(`${{base}}/echo`), {{ 'jar': (r) => r.json('cookie') === 'sid=s1', 'scenario': () => exec.scenario.name === 'later' && __ENV.WHO === undefined }});
        }}
        export function teardown(data) {{ check(data, {{ 'unchanged': (d) => d.n === 0 && d.code === 's1' }}); }}"
    );
    let data = place.data(&script, "", 0);
    assert_eq!(values(&data, "checks")["fails"], 0, "{data:#}");
    assert_eq!(data["setup_data"]["code"], "s1");
    let later = values(&data, "iterations")["count"].as_f64().expect("a number") - 6.0;
    assert!((19.0..=21.0).contains(&later), "{later} iterations");
    assert_eq!(values(&data, "checks")["passes"].as_f64(), Some(37.0 + 2.0 * later));
    let requests = 1.0 + 6.0 + 2.0 * later;
    assert_eq!(values(&data, "http_reqs")["count"].as_f64(), Some(requests));
    assert_eq!(place.nginx.log().len() as f64, requests);
}

#[test]
fn cookies_of_a_redirect_are_sent_to_its_target() {
    let Some(place) = Place::new("compat::k6::cookies_of_a_redirect_are_sent_to_its_target") else {
        return;
    };
    let script = format!(
        "{IMPORTS}
        export const options = {{ vus: 2, iterations: 4 }};
        export default function () {{
          const r = http.get(`${{base}}/login`, {{ cookies: {{ own: '1' }} }});
          check(r, {{ 'both': (r) => r.json('cookie') === 'sid=s2; own=1' }});
          const other = http.get(`${{base.replace('127.0.0.1', '127.0.0.2')}}/echo`, {{ redirects: 0 }});
          check(other, {{ 'not elsewhere': (r) => r.status === 0 || r.json('cookie') === '' }});
          const header = http.get(`${{base}}/login`, {{ headers: {{ Cookie: 'a=b' }} }});
          check(header, {{ 'header': (r) => r.json('cookie') === 'a=b' }});
        }}"
    );
    let data = place.data(&script, "", 0);
    assert_eq!(values(&data, "checks")["passes"], 12, "{data:#}");
}

#[test]
fn exit_codes_tell_what_happened() {
    let Some(place) = Place::new("compat::k6::exit_codes_tell_what_happened") else { return };
    let rows: &[(&str, i32, &str)] = &[
        ("export default function () { http.get(`${base}/broken`); }", 0, "http_req_failed"),
        (
            "export const options = { thresholds: { http_req_failed: ['rate<0.01'] } }; export default function () { http.get(`${base}/broken`); }",
            99,
            "'http_req_failed' have been crossed",
        ),
        (
            "export const options = { thresholds: { nothing: ['rate<0.01'] } }; export default function () {}",
            104,
            "no metric `nothing`",
        ),
        (
            "export const options = { thresholds: { http_reqs: ['p(95)<1'] } }; export default function () {}",
            104,
            "a counter has count and rate",
        ),
        (
            "export const options = { thresholds: { http_reqs: ['p95 < 1'] } }; export default function () {}",
            104,
            "write a figure, an operator and a number",
        ),
        (
            "export const options = { scenarios: { a: { executor: 'constant-vu' } } }; export default function () {}",
            104,
            "the executor `constant-vu` is unknown",
        ),
        (
            "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', rate: 3 } } }; export default function () {}",
            104,
            "constant-vus has no key rate",
        ),
        (
            "export const options = { duration: '1 fortnight' }; export default function () {}",
            104,
            "is no duration",
        ),
        (
            "export const options = { rps: 5 }; export default function () {}",
            104,
            "constant-arrival-rate",
        ),
        ("export default function () { const x = ; }", 107, "script.js:7:"),
        ("import x from './missing.js'; export default function () {}", 107, "missing.js"),
        ("import x from 'lodash'; export default function () {}", 107, "bundled"),
        ("import { browser } from 'k6/browser'; export default function () {}", 107, "no browser"),
        ("http.get(base); export default function () {}", 107, "not permitted in init code"),
        ("export function other() {}", 107, "does not export"),
        (
            "export function setup() { throw new Error('no table'); } export default function () {}",
            107,
            "no table",
        ),
        ("export default function () { sleep(0.01); exec.test.abort('enough'); }", 108, "enough"),
        ("export default function () { sleep(0.01); exec.test.fail('odd'); }", 110, "odd"),
        ("export default function () { if (__ITER === 0) fail('not today'); }", 0, "not today"),
        ("export default function () { open('x'); }", 0, "only in init code"),
        ("export default function () { check(1, { 'a::b': true }); }", 0, "separates groups"),
        ("export default function () { http.get('nowhere'); }", 0, "write it with http://"),
        (
            "export default function () { console.log({ a: 1 }, [2], 'three'); }",
            0,
            r#"{\"a\":1} [2] three"#,
        ),
    ];
    for (script, code, text) in rows {
        let output = place.run(&format!("{IMPORTS}{script}"), "");
        assert_eq!(output.code, Some(*code), "{script}: {output:?}");
        assert!(format!("{}{}", output.out, output.err).contains(text), "{script}: {output:?}");
    }
    for (line, text) in [
        ("k6 run", "the script is missing"),
        ("k6 run a.js b.js", "one script is expected"),
        ("k6 run --vu 3 a.js", "the option --vu is unknown"),
        ("k6 run -o json=x a.js", "--brunt-json FILE"),
        ("k6 archive a.js", "there are run, inspect and version"),
    ] {
        let output = run_in(place.dir.path(), line);
        assert_eq!(output.code, Some(255), "{line}");
        assert!(output.err.contains(text), "{line}: {output:?}");
    }
}

#[test]
fn options_of_the_command_line_replace_those_of_the_script() {
    let Some(place) =
        Place::new("compat::k6::options_of_the_command_line_replace_those_of_the_script")
    else {
        return;
    };
    place.file("config.json", r#"{"vus": 2, "iterations": 8, "userAgent": "from file"}"#);
    let script = format!("{IMPORTS}
        export const options = {{ vus: '1', iterations: 3, userAgent: 'from script' }};
        export default function () {{ check(http.get(`${{base}}/echo`), {{ 'agent': (r) => r.json('agent') === __ENV.AGENT }}); }}");
    for (options, iterations) in [
        ("-e AGENT=script --user-agent script", 3.0),
        ("-i 5 -e AGENT=mine --user-agent=mine", 5.0),
        ("-c config.json -e AGENT=a --user-agent a", 8.0),
        ("-c config.json -u4 -i 12 -e AGENT=b --user-agent b", 12.0),
    ] {
        let data = place.data(&script, options, 0);
        assert_eq!(values(&data, "iterations")["count"], iterations, "{options}");
        assert_eq!(values(&data, "checks")["fails"], 0, "{options}: {data:#}");
    }
}

#[test]
fn a_script_that_never_ends_holds_neither_users_nor_the_run() {
    let Some(place) =
        Place::new("compat::k6::a_script_that_never_ends_holds_neither_users_nor_the_run")
    else {
        return;
    };
    let script = format!("{IMPORTS}
        export const options = {{ scenarios: {{ a: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }} }};
        export default function () {{
          http.get(`${{base}}/echo`);
          if (__VU === 1) try {{ for (;;); }} catch (e) {{ console.log('caught'); }}
          if (__VU === 2) {{ const all = []; for (;;) all.push(new Array(1e6).fill('x')); }}
        }}");
    let output = place.run(&script, "--brunt-threads 1");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.err.contains("out of memory") || output.err.contains("interrupted"),
        "{output:?}"
    );
    assert!(!output.err.contains("caught"), "{output:?}");
}

/// Compares results of functions with those of node for random inputs.
#[test]
fn hashes_and_encodings_are_those_of_node() {
    let test = "compat::k6::hashes_and_encodings_are_those_of_node";
    let Some(node) = program("node") else { return skip(test, "no node here") };
    let dir = TempDir::new().expect("a directory");
    let inputs: Vec<String> = (0..60_u32)
        .map(|n| {
            let letters = "aZ09+/=?&%äß漢\u{1f600}\\\"\n ";
            let at = |i: u32| {
                letters.chars().nth((n.wrapping_mul(2_654_435_761).rotate_left(i) % 17) as usize)
            };
            (0..n % 40).filter_map(at).collect()
        })
        .collect();
    let inputs = serde_json::to_string(&inputs).expect("JSON");
    let body = "for (const text of inputs) {
        for (const kind of ['md5', 'sha1', 'sha256', 'sha384', 'sha512']) out.push(hash(kind, text), hmac(kind, 'key ä', text));
        for (const kind of ['std', 'rawstd', 'url', 'rawurl']) out.push(encode(text, kind), decode(encode(text, kind), kind));
    }";
    let ours = format!("import crypto from 'k6/crypto'; import encoding from 'k6/encoding';
        const inputs = {inputs}; const out = [];
        const hash = (kind, text) => crypto[kind](text, 'hex'); const hmac = (kind, key, text) => crypto.hmac(kind, key, text, 'base64');
        const encode = (text, kind) => encoding.b64encode(text, kind); const decode = (text, kind) => encoding.b64decode(text, kind, 's');
        {body}
        export default function () {{}}
        export function handleSummary() {{ return {{ stdout: JSON.stringify(out) }}; }}");
    let theirs = format!("const crypto = require('crypto'); const inputs = {inputs}; const out = [];
        const hash = (kind, text) => crypto.createHash(kind).update(text).digest('hex');
        const hmac = (kind, key, text) => crypto.createHmac(kind, key).update(text).digest('base64');
        const encode = (text, kind) => {{
          const plain = Buffer.from(text).toString('base64'); const url = plain.replace(/\\+/g, '-').replace(/\\//g, '_');
          return {{ std: plain, rawstd: plain.replace(/=/g, ''), url, rawurl: url.replace(/=/g, '') }}[kind];
        }};
        const decode = (text) => Buffer.from(text, 'base64').toString();
        {body}
        process.stdout.write(JSON.stringify(out));");
    fs::write(dir.path().join("ours.js"), ours).expect("a script");
    fs::write(dir.path().join("theirs.cjs"), theirs).expect("a script");
    let output = run_in(dir.path(), "k6 run -q --brunt-no-notes ours.js");
    let expected =
        Command::new(node).arg("theirs.cjs").current_dir(dir.path()).output().expect("node");
    assert_eq!(output.out, String::from_utf8_lossy(&expected.stdout), "{}", output.err);
}
