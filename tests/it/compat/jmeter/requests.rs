//! HTTP requests with parameters drawn at random, beside Apache JMeter: the same samples, and the same requests on the wire.
//!
//! Out of scope, as docs/jmeter.md says: multipart bodies, parameters of DELETE, and the messages of malformed URLs.

use super::result_file::ResultFile;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Samplers of a thread group.
const SAMPLERS: u32 = 4;

const METHODS: &[&str] = &["GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PATHS: &[&str] = &[
    "/ask",
    "/ask?a=1&amp;b=x%20y",
    "/ask?${set}=${unset}",
    "/${unset}",
    "/a b",
    "ask",
    "/status/201",
    "/status/404",
    "/status/500",
    "/to/301/ask",
    "/to/302/status/404",
    "/to/303/ask",
    "/to/307/ask",
    "/to/308/ask",
    "/moved/relative",
    "/moved/nowhere",
    "/give-cookie",
    "/ends",
    "/closes",
    "/page",
    "/nothing",
    "/json",
];
const VALUES: &[&str] = &["", "1", "a b", "x&amp;y=z", "50%", "a%20b", "ü€", "${set}", "${unset}", "{\"a\": [1]}", "+"];
const PATTERNS: &[&str] = &["a", "GET", "${set}", "${unset}", "nothing", "^.*$", "200", "OK"];
const FIELDS: &[&str] = &["response_data", "response_code", "response_message", "response_headers", "sample_label"];
const ENDS: &[&str] = &["continue", "continue", "startnextloop", "stopthread"];

/// Draws numbers that are the same for a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        // Knuth's MMIX generator; its upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }
}

/// A plan of so many thread groups.
pub fn plan(seed: u64, groups: u32) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut text = String::from(BEGIN);
    for number in 0..groups {
        let _ = write!(
            text,
            r#"<ThreadGroup guiclass="" testclass="ThreadGroup" testname="g{number}">{}{}{}{}
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController">{}{}</elementProp></ThreadGroup><hashTree>"#,
            string("ThreadGroup.on_sample_error", dice.pick(ENDS)),
            string("ThreadGroup.num_threads", "1"),
            string("ThreadGroup.ramp_time", "0"),
            flag("ThreadGroup.same_user_on_next_iteration", !dice.one_in(4)),
            flag("LoopController.continue_forever", false),
            string("LoopController.loops", "2"),
        );
        if dice.one_in(2) {
            text.push_str(&headers(&mut dice));
        }
        if dice.one_in(2) {
            text.push_str(&cookies(&mut dice));
        }
        for sampler in 0..SAMPLERS {
            text.push_str(&sampler_of(&mut dice, &format!("g{number} s{sampler}")));
        }
        text.push_str("</hashTree>");
    }
    text + "</hashTree></hashTree></jmeterTestPlan>"
}

const BEGIN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="" testclass="TestPlan" testname="requests"><boolProp name="TestPlan.serialize_threadgroups">true</boolProp>
<elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="set" elementType="Argument"><stringProp name="Argument.name">set</stringProp>
<stringProp name="Argument.value">v1</stringProp></elementProp></collectionProp></elementProp></TestPlan><hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="defaults">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(shop)}</stringProp>
<stringProp name="HTTPSampler.implementation">HttpClient4</stringProp></ConfigTestElement><hashTree/>"#;

fn string(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

fn flag(name: &str, value: bool) -> String {
    format!(r#"<boolProp name="{name}">{value}</boolProp>"#)
}

fn element(tag: &str, name: &str, properties: &str, below: &str) -> String {
    format!(
        r#"<{tag} guiclass="" testclass="{tag}" testname="{name}">{properties}</{tag}><hashTree>{below}</hashTree>"#
    )
}

fn headers(dice: &mut Dice) -> String {
    const FIELDS: &[(&str, &str)] = &[
        ("X-A", "1"),
        ("X-A", "${set}"),
        ("Accept", "text/html"),
        ("Content-Type", "application/json"),
        ("Cookie", "own=1"),
        ("Connection", "close"),
        ("X-Unset", "${unset}"),
    ];
    let mut list = String::new();
    for _ in 0..=dice.below(2) {
        let (name, value) = FIELDS[dice.below(FIELDS.len())];
        let properties = string("Header.name", name) + &string("Header.value", value);
        let _ = write!(list, r#"<elementProp name="" elementType="Header">{properties}</elementProp>"#);
    }
    element(
        "HeaderManager",
        "h",
        &format!(r#"<collectionProp name="HeaderManager.headers">{list}</collectionProp>"#),
        "",
    )
}

fn cookies(dice: &mut Dice) -> String {
    let policy = dice.pick(&["standard", "standard", "ignoreCookies", "netscape"]);
    let properties = r#"<collectionProp name="CookieManager.cookies"/>"#.to_owned()
        + &flag("CookieManager.clearEachIteration", dice.one_in(2))
        + &string("CookieManager.policy", policy);
    element("CookieManager", "c", &properties, "")
}

fn sampler_of(dice: &mut Dice, name: &str) -> String {
    let method = dice.pick(METHODS);
    let follows = dice.below(3);
    let mut properties = string("HTTPSampler.method", method)
        + &string("HTTPSampler.path", dice.pick(PATHS))
        + &flag("HTTPSampler.follow_redirects", follows == 1)
        + &flag("HTTPSampler.auto_redirects", follows == 2)
        + &flag("HTTPSampler.use_keepalive", !dice.one_in(5));
    if dice.one_in(4) {
        properties += &flag("HTTPSampler.image_parser", true);
    }
    if method != "DELETE" {
        properties += &arguments(dice, method);
    }
    let mut below = String::new();
    if dice.one_in(3) {
        below += &headers(dice);
    }
    for number in 0..dice.below(3) {
        below += &extractor(dice, number);
    }
    if dice.one_in(3) {
        below += &assertion(dice);
    }
    element("HTTPSamplerProxy", name, &properties, &below)
}

fn arguments(dice: &mut Dice, method: &str) -> String {
    let is_raw = dice.one_in(3) && !matches!(method, "GET" | "HEAD" | "OPTIONS");
    let mut list = String::new();
    for number in 0..dice.below(3) {
        let name = if is_raw { String::new() } else { format!("p{number}") };
        let properties = flag("HTTPArgument.always_encode", !is_raw && dice.one_in(2))
            + &string("Argument.name", &name)
            + &string("Argument.value", dice.pick(VALUES))
            + &string("Argument.metadata", "=");
        let _ = write!(list, r#"<elementProp name="{name}" elementType="HTTPArgument">{properties}</elementProp>"#);
    }
    let list = format!(r#"<collectionProp name="Arguments.arguments">{list}</collectionProp>"#);
    flag("HTTPSampler.postBodyRaw", is_raw)
        + &format!(r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments">{list}</elementProp>"#)
}

/// The variables are in the result file.
fn extractor(dice: &mut Dice, number: usize) -> String {
    let variable = ["x", "kept"][number % 2];
    let default = dice.pick(&["none", "", "${set}"]);
    match dice.below(3) {
        0 => element(
            "RegexExtractor",
            "r",
            &(string("RegexExtractor.refname", variable)
                + &string("RegexExtractor.useHeaders", dice.pick(&["false", "true", "code", "message", "URL"]))
                + &string("RegexExtractor.regex", dice.pick(&["(.+)", "([a-z]+)[ /]", "(nothing)", "${unset}"]))
                + &string("RegexExtractor.template", "$1$")
                + &string("RegexExtractor.default", default)
                + &string("RegexExtractor.match_number", dice.pick(&["1", "2"]))),
            "",
        ),
        1 => element(
            "JSONPostProcessor",
            "j",
            &(string("JSONPostProcessor.referenceNames", variable)
                + &string(
                    "JSONPostProcessor.jsonPathExprs",
                    dice.pick(&["$.id", "$.list[?(@.a &gt; 1)].t", "$..tags[0]", "none"]),
                )
                + &string("JSONPostProcessor.match_numbers", dice.pick(&["1", "2"]))
                + &string("JSONPostProcessor.defaultValues", dice.pick(&["none", "${set}"]))),
            "",
        ),
        _ => element(
            "BoundaryExtractor",
            "b",
            &(string("BoundaryExtractor.refname", variable)
                + &string("BoundaryExtractor.useHeaders", "false")
                + &string("BoundaryExtractor.lboundary", dice.pick(&["{", "/", "zz"]))
                + &string("BoundaryExtractor.rboundary", dice.pick(&[":", " ", "zz"]))
                + &string("BoundaryExtractor.default", default)
                + &string("BoundaryExtractor.match_number", "1")),
            "",
        ),
    }
}

fn assertion(dice: &mut Dice) -> String {
    if dice.one_in(4) {
        let properties = string("SizeAssertion.size", dice.pick(&["0", "3", "100"]))
            + &string("Assertion.test_field", "SizeAssertion.response_data")
            + &format!(r#"<intProp name="SizeAssertion.operator">{}</intProp>"#, 1 + dice.below(6));
        return element("SizeAssertion", "size", &properties, "");
    }
    let kind = [1, 2, 8, 16][dice.below(4)] + [0, 4][dice.below(2)];
    let properties = format!(
        r#"<collectionProp name="Asserion.test_strings">{}</collectionProp>"#,
        string("1", dice.pick(PATTERNS))
            + &if dice.one_in(3) { string("2", dice.pick(PATTERNS)) } else { String::new() },
    ) + &string("Assertion.test_field", &format!("Assertion.{}", dice.pick(FIELDS)))
        + &format!(r#"<intProp name="Assertion.test_type">{kind}</intProp>"#)
        + &flag("Assertion.assume_success", dice.one_in(3));
    element("ResponseAssertion", "text", &properties, "")
}

/// The samples of each thread group, in their order, without some columns; of malformed URLs without their messages.
pub fn by_group(file: &ResultFile, without: &[&str]) -> BTreeMap<String, Vec<String>> {
    let (label, code) = (file.column("label"), file.column("responseCode"));
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for sample in &file.samples {
        let is_malformed = sample[code].contains("URISyntaxException");
        let is_compared = |column: &str| {
            !without.contains(&column)
                && (column != "bytes" || !sample[code].starts_with("Non HTTP"))
                && (!is_malformed || !["URL", "responseMessage", "x", "kept", "failureMessage"].contains(&column))
        };
        let cells = file.columns.iter().zip(sample).filter(|(column, _)| is_compared(column));
        let text: Vec<String> = cells.map(|(column, cell)| format!("{column}={cell}")).collect();
        let group = sample[label].split(' ').next().unwrap_or_default();
        groups.entry(group.to_owned()).or_default().push(text.join(" "));
    }
    groups
}

/// A request as both must send it: its header fields sorted, without what names the client.
pub fn on_the_wire(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let mut fields: Vec<&str> = lines.filter(|line| !line.starts_with("User-Agent:")).collect();
    fields.sort_unstable();
    format!("{first} | {} | {body}", fields.join(" | "))
}
