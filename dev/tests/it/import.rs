//! Imports handwritten inputs (`dev/tests/data/import`), and runs the plans against a shop that
//! accepts only correct requests.

use crate::world::command;
use crate::world::odd::{ScriptedServer, page, serve_connections};
use regex::Regex;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Values that the shop gives out.
const TOKEN: &str = "n3w-t0ken-by-the-shop";
const KEY: &str = "n3w-k3y-by-the-shop";

/// A shop that counts good requests and records all others.
struct Shop {
    odd: ScriptedServer,
    good: Arc<AtomicU64>,
    bad: Arc<Mutex<Vec<String>>>,
}

fn shop() -> Shop {
    let good = Arc::new(AtomicU64::new(0));
    let bad = Arc::new(Mutex::new(Vec::new()));
    let count = Arc::clone(&good);
    let keep = Arc::clone(&bad);
    let odd = serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let answer = answer(&request);
            match &answer {
                Some(_) => drop(count.fetch_add(1, Ordering::Relaxed)),
                None => keep.lock().expect("requests").push(request),
            }
            if !client.write(
                answer
                    .unwrap_or_else(|| {
                        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_owned()
                    })
                    .as_bytes(),
            ) {
                break;
            }
        }
    });
    Shop { odd, good, bad }
}

/// Reply to a good request.
fn answer(request: &str) -> Option<String> {
    let line = request.lines().next()?;
    let body = request.rsplit("\r\n\r\n").next()?;
    let path = line.split(' ').nth(1)?;
    let method = line.split(' ').next()?;
    let is_ann = || {
        let sent: Value = serde_json::from_str(body).unwrap_or_default();
        sent["name"] == "ann lee"
            && (sent["password"] == "geheim" || sent["password"] == "password")
    };
    let is_known = || {
        has_text(request, "Authorization: Bearer geheim\r\n")
            || has_text(request, &format!("Authorization: Bearer {TOKEN}\r\n"))
    };
    let is_agent = || {
        has_text(request, "User-Agent: Mozilla/5.0\r\n")
            && has_text(request, "Accept-Encoding: gzip, deflate\r\n")
    };
    match (method, path) {
        ("GET", "/login?lang=en") => reply_if(
            is_agent() && !has_text(request, "Cookie"),
            &format!("<form><input type=hidden name=csrf value='{TOKEN}'></form>"),
        ),
        ("POST", "/login") => {
            let recorded = body == "csrf=T0ken-4711-abcd&name=ann+lee&password=geheim";
            let fresh = body == format!("csrf={TOKEN}&name=ann+lee&password=geheim")
                && has_text(request, "\r\nReferer: http://127.");
            let found =
                "HTTP/1.1 302 Found\r\nLocation: /orders\r\nContent-Length: 0\r\n\r\n".to_owned();
            (recorded || fresh).then_some(found)
        }
        ("GET", "/orders") => {
            reply_if(true, &format!("<script>\nvar session = {{api: '{KEY}'}};\n</script>"))
        }
        ("GET", "/api/orders?page=1") => reply_if(
            has_text(request, &format!("X-Api-Key: {KEY}\r\n")),
            "{\"orders\": [{\"id\": 987654321, \"name\": \"one\"}]}",
        ),
        ("POST", "/api/pay") => {
            reply_if(body == "{\"id\":987654321,\"note\":\"5 $${x}\",\"pin\":\"0815\"}", "{}")
        }
        ("POST", "/api/login") => {
            reply_if(is_ann(), &json!({"session": {"token": TOKEN}}).to_string())
        }
        ("GET", "/api/items/4711?q=ann%20lee" | "/api/items/4711?q=ann+lee") => {
            reply_if(is_known(), "{}")
        }
        ("DELETE", "/api/items/4711") => reply_if(is_known(), ""),
        ("POST", "/api/upload") => reply_if(
            is_known() && has_text(request, "name=\"title\"\r\n\r\n") && !body.contains("${"),
            "{}",
        ),
        _ => None,
    }
}

fn has_text(request: &str, text: &str) -> bool {
    request.to_ascii_lowercase().contains(&text.to_ascii_lowercase())
}

fn reply_if(holds: bool, body: &str) -> Option<String> {
    holds.then(|| page(body))
}

/// Imports a file, and runs the plan once. Returns the plan and the shop.
fn import_and_run(format: &str, file: &str, options: &str) -> (String, Shop) {
    let shop = shop();
    let dir = TempDir::new().expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/import").join(file);
    let input = fs::read_to_string(source)
        .expect("an input")
        .replace("SHOP", &shop.odd.address.to_string());
    let path = dir.path().join(file);
    let plan = dir.path().join("plan.yaml");
    fs::write(&path, input).expect("an input");
    let import = format!("import {format} {} -o {} {options}", path.display(), plan.display());
    let output = command(&import).output().expect("brunt");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&plan).expect("a plan");
    assert!(!text.contains("geheim"), "a secret was copied:\n{text}");
    let again = command(&import).output().expect("brunt");
    assert_eq!(again.status.code(), Some(2), "a plan is not overwritten");
    let run = format!(
        "run {} --no-store -q --set load.requests=2 --set load.duration= -o json={}",
        plan.display(),
        dir.path().join("r").display()
    );
    let unset = command(&run).env_remove("PASSWORD").output().expect("brunt");
    let errors = String::from_utf8_lossy(&unset.stderr).into_owned();
    assert!(unset.status.code() == Some(2) && errors.contains("is not set"), "{errors}");
    let secrets = [
        ("PASSWORD", "geheim"),
        ("TOKEN", "geheim"),
        ("PIN", "0815"),
        ("KEY", "geheim"),
        ("CSRF", "T0ken-4711-abcd"),
    ];
    let output = command(&run).envs(secrets).output().expect("brunt");
    let bad = shop.bad.lock().expect("requests").clone();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{text}\n{}\n{bad:#?}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(bad, Vec::<String>::new(), "{text}");
    (text, shop)
}

fn good(shop: &Shop) -> u64 {
    shop.good.load(Ordering::Relaxed)
}

#[test]
fn a_recording_logs_in_with_values_of_the_replies() {
    let (plan, shop) = import_and_run("har", "shop.har", "--think");
    // A form, a login with its redirect, orders and a payment.
    assert_eq!(good(&shop), 2 * 5, "{plan}");
    assert!(plan.contains("transaction: Orders") && plan.contains("think: 2060ms"), "{plan}");
    assert!(
        plan.contains("tracker.example (1)") && plan.contains("which --resources keeps (2)"),
        "{plan}"
    );
}

#[test]
fn command_lines_of_curl_send_the_same_requests() {
    let (plan, shop) = import_and_run("curl", "curl.txt", "");
    assert_eq!(good(&shop), 2 * 4, "{plan}");
}

#[test]
fn lists_of_urls_are_requested_in_order() {
    let (plan, shop) = import_and_run("urls", "urls.txt", "");
    assert_eq!(good(&shop), 2 * 4, "{plan}");
}

#[test]
fn operations_of_an_interface_are_requested_with_examples() {
    let (plan, shop) = import_and_run("openapi", "shop.openapi.yaml", "");
    assert_eq!(good(&shop), 2 * 3, "{plan}");
}

#[test]
fn a_collection_keeps_its_variables_and_tests() {
    let (plan, shop) = import_and_run("postman", "shop.postman.json", "");
    assert_eq!(good(&shop), 2 * 3, "{plan}");
    assert!(
        plan.contains("token: $.session.token") && plan.contains("check: {status: 200}"),
        "{plan}"
    );
    assert!(plan.contains("pre-request script") && plan.contains("console.log(data);"), "{plan}");
}

#[test]
fn bodies_are_sent_byte_for_byte() {
    const BODIES: [&str; 9] = [
        r#"{"a": "\\d+ ${b} {n}"}"#,
        r#"{"big": 12345678901234567890123, "a": 1.0}"#,
        r#"{"a":"1","b":["true","null","~","x: y","-","a, b","$$","é"],"c":{},"d":[],"e":null}"#,
        "query {n} $$ ${x} \\{uuid} \\\\ \\$ {random:1..2} $",
        "line one\n  line two\n\n# three: x\n",
        "\u{1}\u{7f} \t é \u{2028}\r\nx ",
        "- a: [b",
        "a=1&a=2&b=x%20y",
        "null",
    ];
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&bodies);
    let odd = serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let body = request.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
            keep.lock().expect("bodies").push(body.unwrap_or_default());
            if !client.write(page("").as_bytes()) {
                break;
            }
        }
    });
    let dir = TempDir::new().expect("a directory");
    let input = dir.path().join("curl.txt");
    let plan = dir.path().join("plan.yaml");
    let lines: Vec<String> = BODIES.iter().map(|body| curl_line(&odd.url_of("/"), body)).collect();
    fs::write(&input, lines.concat()).expect("an input");
    let import = format!("import curl {} -o {}", input.display(), plan.display());
    assert!(command(&import).status().expect("brunt").success());
    let run =
        format!("run {} --no-store -q --set load.requests=1 --set load.duration=", plan.display());
    let output = command(&run).output().expect("brunt");
    let text = fs::read_to_string(&plan).expect("a plan");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bodies = bodies.lock().expect("bodies").clone();
    assert_eq!(bodies.len(), BODIES.len(), "{text}");
    for (sent, body) in bodies.iter().zip(BODIES) {
        // JSON is sent without insignificant spaces.
        let is_same =
            sent == body || json_object(body).is_some() && json_object(sent) == json_object(body);
        assert!(is_same, "{body:?} became {sent:?}\n{text}");
    }
}

fn curl_line(url: &str, body: &str) -> String {
    let kind = if body.contains("a=1") { "x-www-form-urlencoded" } else { "json" };
    let quoted = body.replace('\'', "'\\''");
    format!("curl {url} -H 'Content-Type: application/{kind}' --data-raw '{quoted}'\n")
}

fn json_object(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object)
}

/// Every plan with requests of the comparison with JMeter becomes a plan file that is valid with
/// its secrets.
#[test]
fn imported_plans_pass_the_check() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/jmeter");
    let secret = Regex::new(r"\$\{env\.(\w+)\}").expect("an expression");
    let mut checked = 0;
    for entry in fs::read_dir(data).expect("plans").map(|entry| entry.expect("a plan").path()) {
        if entry.extension().is_none_or(|ending| ending != "jmx") {
            continue;
        }
        let dir = TempDir::new().expect("a directory");
        let plan = dir.path().join("plan.yaml");
        let import = format!("import jmx {} -o {}", entry.display(), plan.display());
        let output = command(&import).output().expect("brunt");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if errors.contains("no HTTP request is left") {
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{}: {errors}", entry.display());
        let text = fs::read_to_string(&plan).expect("a plan");
        let secrets = secret.captures_iter(&text).map(|found| (found[1].to_owned(), "a secret"));
        let output = command(&format!("plan check {}", plan.display()))
            .envs(secrets)
            .output()
            .expect("brunt");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // One plan has an invalid URL on purpose; the error says what to write.
        let is_wrong_url = errors.contains("ht+p://") && errors.contains("; write http://");
        assert!(output.status.success() || is_wrong_url, "{}: {errors}\n{text}", entry.display());
        checked += 1;
    }
    assert!(checked > 30, "only {checked} plans");
}
