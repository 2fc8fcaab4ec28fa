//! The editor of plan files and tries: texts are checked, saved and changed, and each sample of a try is shown.

use super::{HOSTILE, Reply, Studio};
use crate::world::odd::{ScriptedServer, page, serve_reply};
use crate::world::wait_until;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// Body of each reply: a page with a token and a script.
const BODY: &str = "<form><input name=\"csrf\" value=\"tok-81\"></form><p id=\"note\"><script>alert(1)</script></p>";

/// A plan with a comment, two requests, an extractor and a check that fails.
const PLAN: &str = "\
# The shop.
load: {users: 2, requests: 50}   # not in a try
scenario:
  steps:
  - get: ADDRESS/login
    name: log in
    extract: {token: {regex: 'value=\"([^\"]+)'}}
  - get: ADDRESS/cart?csrf=${token}
    name: cart
    check: {contains: Welcome}
";

/// Escapes a value of a form.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

/// A studio, its cookie, and its form token.
struct Session {
    studio: Studio,
    cookie: String,
    token: String,
    server: ScriptedServer,
    plan: String,
}

impl Session {
    fn start() -> Self {
        let dir = TempDir::new().expect("a directory");
        let server = serve_reply(page(BODY));
        let plan = dir.path().join("shop.yaml");
        fs::write(&plan, PLAN.replace("ADDRESS", &server.url_of(""))).expect("a plan");
        let studio = Studio::start(dir);
        let cookie = studio.admit();
        let token = studio.get_with("/start?target=http://127.0.0.1:9/", &cookie).form_token();
        Self { studio, cookie, token, server, plan: plan.display().to_string() }
    }

    fn get(&self, target: &str) -> Reply {
        self.studio.get_with(target, &self.cookie)
    }

    fn post(&self, target: &str, fields: &[(&str, &str)]) -> Reply {
        let fields = fields.iter().map(|(name, value)| format!("&{name}={}", escaped(value)));
        let body = format!("token={}{}", self.token, fields.collect::<String>());
        self.studio.post(target, &self.cookie, &body)
    }

    fn problems(&self, text: &str) -> Vec<(u64, String, String)> {
        let reply = self.post("/edit/check", &[("file", &self.plan), ("text", text)]);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let json: Value = serde_json::from_str(&reply.body).expect("JSON");
        let problems = json["problems"].as_array().expect("a list").clone();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        problems
            .iter()
            .map(|p| {
                (p["line"].as_u64().expect("a line"), text(&p["severity"]), text(&p["message"]))
            })
            .collect()
    }

    /// Digest of the plan in the editor.
    fn digest(&self) -> String {
        let page = self.get(&format!("/edit?file={}", escaped(&self.plan))).body;
        let (_, rest) = page.split_once("name=\"digest\" value=\"").expect("a digest");
        rest.split('"').next().unwrap_or_default().to_owned()
    }

    fn save(&self, file: &str, digest: &str, text: &str) -> Reply {
        self.post("/edit/save", &[("file", file), ("digest", digest), ("text", text)])
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.plan).expect("the plan")
    }

    /// Follows a try to its end. Returns its path.
    fn followed_try(&self, started: &Reply) -> String {
        assert_eq!(started.status, 303, "{}", started.body);
        let path = started.location();
        wait_until("the end of the try", || !self.get(&path).head.contains("refresh: 1"));
        path
    }
}

#[test]
fn problems_of_a_text_have_places() {
    let session = Session::start();
    assert_eq!(session.problems(&session.text()), []);
    let wrong = session.text().replace("users: 2", "users: many").replace("get: ", "gett: ");
    let problems = session.problems(&wrong);
    let lines: Vec<u64> = problems.iter().map(|problem| problem.0).collect();
    assert!(lines.contains(&2) && lines.contains(&5), "{problems:?}");
    assert!(problems.iter().all(|problem| problem.1 == "error"), "{problems:?}");
    let broken = session.problems("load: [");
    assert!(broken.len() == 1 && broken[0].0 > 0, "{broken:?}");
    assert_eq!(session.text().lines().count(), 10, "a check saves nothing");
    assert_eq!(session.server.requests().len(), 0, "a check sends nothing");
    let schema = session.get("/edit/schema.json");
    assert!(schema.head.contains("application/json") && schema.body.contains("\"scenario\""));
    let refused = session.studio.post("/edit/check", &session.cookie, "text=load");
    assert_eq!(refused.status, 403);
}

#[test]
fn a_text_is_saved_and_a_file_that_changed_is_not_overwritten() {
    let session = Session::start();
    let page = session.get(&format!("/edit?file={}", escaped(&session.plan)));
    assert!(
        page.body.contains("# The shop.") && page.body.contains("src=\"/editor.js\""),
        "{}",
        page.body
    );
    let digest = session.digest();
    // Browsers send CRLF.
    let text = session.text().replace("users: 2", "users: 3").replace('\n', "\r\n");
    let saved = session.save(&session.plan, &digest, &text);
    assert_eq!((saved.status, session.text()), (303, text.replace("\r\n", "\n")), "{}", saved.body);
    assert!(saved.location().starts_with("/edit?file="), "{}", saved.head);
    // The file changes on the disk, and keeps the line breaks of Windows.
    let digest = session.digest();
    let elsewhere = session.text().replace("users: 3", "users: 4").replace('\n', "\r\n");
    fs::write(&session.plan, &elsewhere).expect("a plan");
    let mine = format!("{}# {HOSTILE}\n", session.text());
    let refused = session.save(&session.plan, &digest, &mine);
    assert_eq!((refused.status, session.text()), (409, elsewhere.clone()));
    assert!(
        refused.body.contains("has changed on the disk since it was opened here"),
        "{}",
        refused.body
    );
    assert!(
        refused.body.contains("&lt;script&gt;") && !refused.body.contains(HOSTILE),
        "the text is kept"
    );
    let saved =
        session.save(&session.plan, &session.digest(), &elsewhere.replace("users: 4", "users: 5"));
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(session.text(), elsewhere.replace("users: 4", "users: 5"));
    // Another name is a new file.
    let other = session.plan.replace("shop", "other");
    assert_eq!(session.save(&other, "", &mine).status, 303);
    assert_eq!(fs::read_to_string(&other).expect("the file"), mine.replace("\r\n", "\n"));
    assert_eq!(session.save(&other, "", "x").status, 409, "it exists now");
    for file in ["/etc/passwd", "", "../key", "/dev/zero"] {
        assert_eq!(session.get(&format!("/edit?file={}", escaped(file))).status, 400, "{file}");
        assert_eq!(session.save(file, "", "x").status, 400, "{file}");
    }
    assert_eq!(session.save("/absent/x.yaml", "", "x").status, 409);
}

#[test]
fn a_try_shows_each_sample_and_its_body() {
    let session = Session::start();
    let path = session.followed_try(&session.post("/tries", &[("file", &session.plan)]));
    let first = session.get(&format!("{path}?sample=1")).body;
    for shown in [
        "1. log in",
        "2. cart",
        "GET /login HTTP/1.1",
        "HTTP/1.1 200 OK",
        "&lt;script&gt;alert(1)",
        "matched",
        "Variables after the reply",
    ] {
        assert!(first.contains(shown), "{shown}: {first}");
    }
    assert!(!first.contains(HOSTILE), "a body is text");
    // The failed sample is shown first.
    let failed = session.get(&path).body;
    for shown in ["Welcome", "check", "failed", "GET /cart?csrf="] {
        assert!(failed.contains(shown), "{shown}: {failed}");
    }
    let at = |query: &str| session.get(&format!("{path}?sample=1&{query}")).body;
    assert!(at("search=csrf").contains("<p>1 found</p>"));
    assert!(at("view=hex").contains("3c 66 6f 72 6d 3e"));
    let tree = at("view=tree");
    assert!(tree.contains("&lt;<b>form</b>&gt;") && !tree.contains("<script>alert"), "{tree}");
    assert!(session.get("/tries/77").status == 404);
    let wrong = session.followed_try(&session.post("/tries", &[("file", "absent.yaml")]));
    assert!(session.get(&wrong).body.contains("cannot read the plan file absent.yaml"));
    assert_eq!(session.post("/tries", &[("file", "--version")]).status, 400);
    let runs = session.studio.command("runs --json");
    assert_eq!(runs.trim(), "[]", "a try is not stored");
}

#[test]
fn a_try_that_waits_is_stopped() {
    let session = Session::start();
    let cart = format!("  - get: {}", session.server.url_of("/cart"));
    let text = session.text().replace(&cart, &format!("  - think: 100s\n{cart}"));
    assert_eq!(session.save(&session.plan, &session.digest(), &text).status, 303);
    let path = session.post("/tries", &[("file", &session.plan)]).location();
    let mut page = session.get(&path);
    wait_until("the first sample", || {
        if page.head.contains("refresh: 1") && !page.body.contains("1. log in") {
            page = session.get(&path);
            return false;
        }
        true
    });
    assert!(page.head.contains("refresh: 1"), "it waits: {}", page.body);
    assert_eq!(session.studio.post(&format!("{path}/stop"), &session.cookie, "").status, 403);
    assert_eq!(session.post(&format!("{path}/stop"), &[]).status, 303);
    wait_until("the end of the try", || !session.get(&path).head.contains("refresh: 1"));
    assert_eq!(session.post("/tries/77/stop", &[]).status, 404);
}

#[test]
fn a_selected_text_becomes_an_extractor_in_the_plan() {
    let session = Session::start();
    let saved = session.post(
        "/edit/save",
        &[
            ("file", &session.plan),
            ("digest", &session.digest()),
            ("text", &session.text()),
            ("try", "yes"),
        ],
    );
    let path = session.followed_try(&saved);
    let place = BODY.find("tok-81").expect("the token");
    let page = session.get(&format!("{path}?sample=1&part=0&selected=tok-81&from={place}")).body;
    for shown in
        ["input[name=&quot;csrf&quot;]", "//input[@name=&quot;csrf&quot;]/@value", "2 of 2"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(
        session
            .get(&format!("{path}?sample=1&selected=absent"))
            .body
            .contains("is not in this body")
    );
    let fields = [("by", "css"), ("expression", "input[name=\"csrf\"]"), ("second", "value")];
    let add = |sample: &str, variable: &str| {
        let named = [("sample", sample), ("variable", variable)];
        session.post(&format!("{path}/extract"), &[&fields[..], &named].concat())
    };
    let before = session.text();
    for (sample, variable, status) in [("1", "a b", 400), ("1", "", 400), ("9", "token", 404)] {
        assert_eq!(add(sample, variable).status, status, "{variable}");
    }
    assert_eq!(session.text(), before);
    let added = add("1", "csrf");
    assert_eq!(added.status, 303, "{}", added.body);
    let after = session.text();
    assert!(
        after.starts_with("# The shop.\nload: {users: 2, requests: 50}   # not in a try\n"),
        "{after}"
    );
    assert_eq!(session.problems(&after), []);
    let lines: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert!(lines.concat().contains("csrf") && lines.len() <= 5, "{lines:?}");
    let twice = add("1", "csrf");
    assert_eq!((twice.status, session.text()), (400, after.clone()));
    assert!(twice.body.contains("extract.csrf has a value already"), "{}", twice.body);
    // A check of the same text; the other step has one, which stays.
    let check = |sample: &str| {
        let fields = [("by", "contains"), ("expression", "tok-81"), ("sample", sample)];
        session.post(&format!("{path}/extract"), &fields)
    };
    assert_eq!(check("1").status, 303);
    assert_eq!(session.text().matches("contains: tok-81").count(), 1, "{}", session.text());
    assert!(check("2").body.contains("check.contains has a value already"));
    // The next try has the variable.
    let path = session.followed_try(&session.post("/tries", &[("file", &session.plan)]));
    let page = session.get(&format!("{path}?sample=1")).body;
    assert!(page.contains("csrf") && page.contains("matched"), "{page}");
}

#[test]
fn two_tries_are_compared() {
    let session = Session::start();
    let one = session.followed_try(&session.post("/tries", &[("file", &session.plan)]));
    let two = session.followed_try(&session.post("/tries", &[("file", &session.plan)]));
    let number = |path: &str| path.trim_start_matches("/tries/").to_owned();
    let compared = |one: &str, two: &str| session.get(&format!("{one}?with={}", number(two))).body;
    assert!(session.get(&two).body.contains("Compare with try 1"));
    assert!(compared(&two, &one).contains("sizes are the same"), "{}", compared(&two, &one));
    let text =
        session.text().replace("contains: Welcome", "contains: csrf").replace("/cart?", "/basket?");
    assert_eq!(session.save(&session.plan, &session.digest(), &text).status, 303);
    let three = session.followed_try(&session.post("/tries", &[("file", &session.plan)]));
    let page = compared(&three, &one);
    for shown in ["2 differences", "GET /basket?csrf=", "GET /cart?csrf=", "failed", "good"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert_eq!(session.get(&format!("{one}?with=99")).status, 404);
}

#[test]
fn an_input_becomes_a_plan_in_the_editor() {
    let session = Session::start();
    let import = |text: &str| session.post("/import", &[("file", "new.yaml"), ("text", text)]);
    let curl = import(
        "curl 'http://shop.example/cart' -H 'Authorization: Bearer hunter2hunter2' --limit-rate 5k",
    );
    assert_eq!(curl.status, 200, "{}", curl.body);
    for shown in [
        "http://shop.example",
        "/cart",
        "Secrets were not copied",
        "The plan is not saved yet",
        "value=\"new.yaml\"",
    ] {
        assert!(curl.body.contains(shown), "{shown}: {}", curl.body);
    }
    assert!(!curl.body.contains("hunter2"), "{}", curl.body);
    assert!(!std::path::Path::new("new.yaml").exists());
    let har = format!(
        "{{\"log\": {{\"version\": \"1.2\", \"creator\": {{}}, \"entries\": [{{\"startedDateTime\": \"2026-01-01T00:00:00Z\", \
         \"request\": {{\"method\": \"GET\", \"url\": \"http://shop.example/{HOSTILE}\", \"headers\": []}}, \
         \"response\": {{\"status\": 200, \"content\": {{\"mimeType\": \"text/html\"}}}}}}]}}}}"
    );
    let har = import(&har);
    assert!(har.status == 200 && !har.body.contains(HOSTILE), "{}: {}", har.status, har.body);
    for (text, expected) in [
        ("", "The format is not known"),
        ("{\"log\": {\"entries\": 3}}", "no request"),
        (
            "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><jmeterTestPlan>&b;</jmeterTestPlan>",
            "",
        ),
    ] {
        let reply = import(text);
        assert_eq!(reply.status, 400, "{text}");
        assert!(reply.body.contains(expected), "{expected}: {}", reply.body);
    }
}

/// A text of the editor, with its revision and the tree of its elements.
struct EditedText {
    file: String,
    text: String,
    revision: String,
    tree: Value,
}

impl EditedText {
    fn checked(session: &Session, file: &str, text: &str) -> Self {
        let reply = session.post("/edit/check", &[("file", file), ("text", text)]);
        let json: Value = serde_json::from_str(&reply.body).expect("JSON");
        Self {
            file: file.to_owned(),
            text: text.to_owned(),
            revision: revision(&json),
            tree: json["tree"].clone(),
        }
    }

    /// Applies an edit as the script of the page does.
    fn edited(&self, session: &Session, edit: &Value) -> Self {
        let edits = format!("[{edit}]");
        let fields =
            [("file", self.file.as_str()), ("revision", &self.revision), ("edits", &edits)];
        let reply = session.post("/edit/change", &fields);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let json: Value = serde_json::from_str(&reply.body).expect("JSON");
        let mut units: Vec<u16> = self.text.encode_utf16().collect();
        for change in json["changes"].as_array().expect("changes") {
            let offset = |name: &str| change[name].as_u64().expect("an offset") as usize;
            let insert = change["insert"].as_str().expect("a text").encode_utf16();
            units.splice(offset("from")..offset("to"), insert);
        }
        let text = String::from_utf16(&units).expect("UTF-16");
        let check = &json["check"];
        Self {
            file: self.file.clone(),
            text,
            revision: revision(check),
            tree: check["tree"].clone(),
        }
    }

    /// The value of a field of an element.
    fn value(&self, session: &Session, path: &str, name: &str) -> Value {
        let fields = [("file", self.file.as_str()), ("revision", &self.revision), ("path", path)];
        let reply = session.post("/edit/fields", &fields);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let json: Value = serde_json::from_str(&reply.body).expect("JSON");
        let fields = json["fields"].as_array().expect("fields");
        let field = fields.iter().find(|field| field["name"] == name);
        field.unwrap_or_else(|| panic!("{name} in {json}"))["value"].clone()
    }
}

fn revision(json: &Value) -> String {
    json["revision"].as_str().expect("a revision").to_owned()
}

#[test]
fn elements_of_a_plan_have_forms_and_edits_change_only_their_text() {
    let session = Session::start();
    let plan = EditedText::checked(
        &session,
        &session.plan,
        &session.text().replace("log in", "log in 😀").replace("${token}", "1"),
    );
    let scenario = &plan.tree["children"][1];
    let step = &scenario["children"][1];
    assert_eq!((&step["kind"], &step["title"]), (&json!("get"), &json!("cart")), "{scenario}");
    assert_eq!((&step["line"], &step["end_line"]), (&json!(8), &json!(10)));
    assert_eq!(plan.value(&session, "scenario.steps[1]", "name"), json!("cart"));

    let set = json!({"op": "set", "path": "scenario.steps[1].name", "value": "the cart: 1"});
    let named = plan.edited(&session, &set);
    assert_eq!(named.text, plan.text.replace("name: cart", "name: \"the cart: 1\""));
    let disable = json!({"op": "enable", "paths": ["scenario.steps[0]"], "enabled": false});
    let disabled = named.edited(&session, &disable);
    assert_eq!(disabled.tree["children"][1]["children"][0]["enabled"], json!(false));
    let moved = disabled.edited(
        &session,
        &json!({"op": "move", "paths": ["scenario.steps[0]"], "list": "scenario.steps", "index": 2}),
    );
    assert!(
        moved.text.contains("    name: log in 😀\n")
            && moved.text.ends_with("    enabled: false\n"),
        "{}",
        moved.text
    );
    let problems = session.problems(&moved.text);
    assert!(problems.iter().all(|problem| problem.1 != "error"), "{problems:?}");
    // A disabled step is not executed.
    session.save(&session.plan, &session.digest(), &moved.text);
    let sent = session.server.requests().len();
    let started = session.post("/tries", &[("file", &session.plan)]);
    session.followed_try(&started);
    assert_eq!(session.server.requests().len(), sent + 1);

    let wrong = |edit: Value| {
        let edits = format!("[{edit}]");
        let fields =
            [("file", session.plan.as_str()), ("revision", &moved.revision), ("edits", &edits)];
        session.post("/edit/change", &fields)
    };
    let absent = wrong(json!({"op": "set", "path": "scenario.steps[7].name", "value": "x"}));
    assert!(absent.status == 400 && absent.body.contains("no such element"), "{}", absent.body);
    let inside = wrong(json!({"op": "remove", "paths": ["load", "absent"]}));
    assert_eq!(inside.status, 400);
    // A studio that was started again does not have the text.
    let stale =
        session.post("/edit/fields", &[("file", &session.plan), ("revision", "0"), ("path", "")]);
    assert_eq!(stale.status, 409);
    let foreign = session.studio.post("/edit/change", &session.cookie, "revision=0&edits=[]");
    assert_eq!(foreign.status, 403);
}

#[test]
fn a_plan_of_jmeter_is_edited_and_stays_one() {
    let session = Session::start();
    let file = std::path::Path::new(&session.plan).with_file_name("shop.jmx");
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<jmeterTestPlan version=\"1.2\"><hashTree>\r\n<TestPlan testname=\"p\"/><hashTree>\r\n  <com.example.Odd testname=\"o\" odd='1'><x>&#65;</x></com.example.Odd><hashTree/>\r\n</hashTree></hashTree></jmeterTestPlan>\r\n";
    fs::write(&file, text).expect("a plan");
    let file = file.display().to_string();
    let page = session.get(&format!("/edit?file={}", escaped(&file))).body;
    assert!(page.contains("data-language=\"xml\"") && page.contains("Turn into a plan file"));
    let plan = EditedText::checked(&session, &file, &text.replace("\r\n", "\n"));
    assert_eq!(plan.tree["children"][0]["kind"], json!("Odd"), "{}", plan.tree);
    let problems = session.post("/edit/check", &[("file", &file), ("text", &plan.text)]).body;
    assert!(
        problems.contains("brunt does not run this element") && problems.contains("\"line\":4"),
        "{problems}"
    );

    let added = plan
        .edited(&session, &json!({"op": "add", "list": "0", "index": 0, "kind": "Thread Group"}));
    let path = "0.0/ThreadGroup.num_threads";
    let edited = added.edited(&session, &json!({"op": "set", "path": path, "value": "${users}<5"}));
    let digest = {
        let (_, rest) = page.split_once("name=\"digest\" value=\"").expect("a digest");
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    assert_eq!(session.save(&file, &digest, &edited.text).status, 303);
    let saved = fs::read_to_string(&file).expect("the file");
    assert!(
        saved.contains("<stringProp name=\"ThreadGroup.num_threads\">${users}&lt;5</stringProp>"),
        "{saved}"
    );
    assert!(saved.contains("  <com.example.Odd testname=\"o\" odd='1'><x>&#65;</x></com.example.Odd><hashTree/>\r\n"), "{saved}");
    assert!(!saved.replace("\r\n", "").contains('\n'), "line breaks stay");

    let plan_file =
        session.post("/import", &[("file", &file), ("text", &saved.replace("${users}&lt;5", "2"))]);
    assert!(plan_file.body.contains("shop.yaml") || plan_file.status == 400, "{}", plan_file.body);
    fs::write(&file, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><jmeterTestPlan/>")
        .expect("a file");
    let refused = session.get(&format!("/edit?file={}", escaped(&file)));
    assert!(refused.status == 400 && refused.body.contains("must be in UTF-8"), "{}", refused.body);
}
