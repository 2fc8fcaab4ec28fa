//! Matches and variables of each kind of extractor.

use super::*;
use crate::testing;
use crate::texts::context::UserContext;
use brunt_model::Sample;
use brunt_wire::{Framing, Prepared, Reply, ReplyDetails, ReplyHead};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

const BODY: &str = r#"<input name="csrf" value="a1"> <input name="csrf" value="b2">"#;
const JSON: &str = r#"{"items": [{"id": 7, "name": "x"}, {"id": 8, "name": "y z"}], "ok": true}"#;

fn reply(body: &str) -> Reply {
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let fields = vec![
        field("Location", "/next"),
        field("Set-Cookie", "sid=one; Path=/"),
        field("set-cookie", "other=2"),
        field("set-cookie", "sid=two; HttpOnly"),
    ];
    let head = ReplyHead {
        status: 200,
        version: brunt_model::plan::HttpVersion::V1_1,
        framing: Framing::None,
        keep_alive: true,
        length: 0,
        encoded: false,
    };
    let kept =
        ReplyDetails { body: body.into(), head: Some((head, fields)), ..ReplyDetails::default() };
    Reply { status: 200, details: Some(Box::new(kept)), ..Reply::default() }
}

/// Creates a user with `old` in the variable `v`.
fn user() -> UserContext {
    let user = testing::user();
    user.variables.borrow_mut().set("v", "old");
    user
}

fn extractor(from: ExtractFrom, take: MatchChoice, default: Option<&str>) -> Extractor {
    let default = default.map(str::to_owned);
    Extractor {
        variable: "v".into(),
        from,
        take,
        default,
        part: ReplyPart::Body,
        samples: brunt_model::extract::SampleScope::Main,
        sets_more: false,
    }
}

/// Returns the variables of a user after this reply; `v` was `old`.
fn set(body: &str, extractor: &Extractor) -> Vec<(String, String)> {
    let (user, request, reply) = (user(), Prepared::default(), reply(body));
    let sample = Sample::default();
    let reply_view = ReplyView::new(&request, Some(&reply), &sample, &user);
    CompiledExtractor::new(extractor).unwrap().set(&reply_view, &mut Pcg64Mcg::seed_from_u64(1));

    user.variables.borrow().all()
}

/// What a variable that was `old` becomes.
fn found(body: &str, from: ExtractFrom, take: MatchChoice, default: Option<&str>) -> String {
    let all = set(body, &extractor(from, take, default));
    all.into_iter().find(|(name, _)| name == "v").map(|(_, value)| value).unwrap_or_default()
}

#[test]
fn each_kind_finds_its_matches() {
    let regex =
        |group| ExtractFrom::Regex { pattern: r#"value="(\w)(\d)""#.into(), group, template: None };
    let between =
        |left: &str, right: &str| ExtractFrom::Boundary { left: left.into(), right: right.into() };
    let path = |path: &str| ExtractFrom::JsonPath(path.into());
    let (header, cookie) =
        (ExtractFrom::Header("location".into()), ExtractFrom::Cookie("sid".into()));
    for (body, from, take, expected) in [
        (BODY, regex(1), MatchChoice::First, "a"),
        (BODY, regex(0), MatchChoice::Last, "value=\"b2\""),
        (BODY, regex(2), MatchChoice::Number(2), "2"),
        (BODY, regex(2), MatchChoice::Number(3), "old"),
        (BODY, between("value=\"", "\""), MatchChoice::First, "a1"),
        (BODY, between("value=\"", "\""), MatchChoice::Last, "b2"),
        ("a+b\nc", between("+", ""), MatchChoice::First, "b\nc"),
        ("a+b\nc", between("", "+"), MatchChoice::First, "a"),
        (BODY, between("(", ")"), MatchChoice::First, "old"),
        (JSON, path("$.items[*].id"), MatchChoice::Last, "8"),
        (JSON, path("$.items[?@.id == 8].name"), MatchChoice::First, "y z"),
        (JSON, path("$.ok"), MatchChoice::First, "true"),
        (JSON, path("ok"), MatchChoice::First, "true"),
        (JSON, path("$.items[0]"), MatchChoice::First, r#"{"id":7,"name":"x"}"#),
        (BODY, path("$.ok"), MatchChoice::First, "old"),
        (
            BODY,
            ExtractFrom::Css { selector: "input".into(), attribute: "value".into() },
            MatchChoice::Last,
            "b2",
        ),
        (BODY, ExtractFrom::Xpath("//input[@name='csrf']/@value".into()), MatchChoice::First, "a1"),
        ("<a><b>1</b></a>", ExtractFrom::Xpath("count(/a/b)".into()), MatchChoice::First, "1"),
        ("", header, MatchChoice::First, "/next"),
        ("", cookie.clone(), MatchChoice::First, "one"),
        ("", cookie, MatchChoice::Last, "two"),
    ] {
        assert_eq!(found(body, from.clone(), take, None), expected, "{from:?} {take:?}");
    }
}

#[test]
fn missing_values_become_the_default() {
    let from = || ExtractFrom::Header("x-none".into());
    assert_eq!(found("", from(), MatchChoice::Random, Some("none")), "none");
    assert_eq!(found("", from(), MatchChoice::Random, None), "old");
    let one_of = found(
        BODY,
        ExtractFrom::Regex { pattern: r"[ab]\d".into(), group: 0, template: None },
        MatchChoice::Random,
        None,
    );
    assert!(["a1", "b2"].contains(&&*one_of), "{one_of}");
}

#[test]
fn invalid_extractors_are_refused() {
    let refused =
        |from, take| CompiledExtractor::new(&extractor(from, take, None)).unwrap_err().to_string();
    let regex = |group| ExtractFrom::Regex { pattern: "(a)".into(), group, template: None };
    assert_eq!(
        refused(regex(2), MatchChoice::First),
        "extractor of `v`: `(a)` has no group 2; write at most 1"
    );
    assert!(
        refused(regex(1), MatchChoice::Number(0)).ends_with("numbered from 1; write 1 or above")
    );
    assert!(
        refused(ExtractFrom::JsonPath("$[".into()), MatchChoice::First)
            .starts_with("extractor of `v`: ")
    );
}

#[test]
fn all_matches_become_numbered_variables() {
    let pattern = r#"value="(\w)(\d)""#.to_owned();
    let from = ExtractFrom::Regex { pattern, group: 1, template: Some("$2$-$1$".into()) };
    let shown = |all: Vec<(String, String)>| {
        all.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let all = extractor(from.clone(), MatchChoice::All, None);
    assert_eq!(shown(set(BODY, &all)), "v=old v_1=1-a v_2=2-b v_matchNr=2");
    let groups = Extractor { sets_more: true, ..extractor(from, MatchChoice::Last, None) };
    assert_eq!(shown(set(BODY, &groups)), r#"v=2-b v_g=2 v_g0=value="b2" v_g1=b v_g2=2"#);
    assert_eq!(shown(set("", &groups)), "v=old");
}

#[test]
fn redirect_chains_are_searched_if_the_extractor_requests_it() {
    let hop = |location: &str, body: &str| {
        let details = brunt_model::RecordDetails {
            response_headers: Some(format!("HTTP/1.1 302 Found\nLocation: {location}\n")),
            body: Some(body.to_owned()),
            ..brunt_model::RecordDetails::default()
        };
        brunt_model::SampleRecord { details, ..brunt_model::SampleRecord::default() }
    };
    let (request, reply, sample) = (Prepared::default(), reply(r#"{"id": 3}"#), Sample::default());
    let found = |samples: SampleScope, from: ExtractFrom, part: ReplyPart| {
        let user = user();
        let mut reply_view = ReplyView::new(&request, Some(&reply), &sample, &user);
        reply_view.hops = vec![hop("/a", r#"{"id": 1}"#), hop("/b", "moved")];
        let extractor =
            Extractor { samples, part, sets_more: true, ..extractor(from, MatchChoice::All, None) };
        CompiledExtractor::new(&extractor)
            .unwrap()
            .set(&reply_view, &mut Pcg64Mcg::seed_from_u64(1));
        let variables = user.variables.borrow();
        (1..4)
            .map_while(|number| variables.get(&format!("v_{number}")).map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let regex =
        || ExtractFrom::Regex { pattern: r"Location: (\S+)".into(), group: 1, template: None };
    assert_eq!(found(SampleScope::Main, regex(), ReplyPart::Headers), ["/next"]);
    assert_eq!(found(SampleScope::All, regex(), ReplyPart::Headers), ["/next", "/a", "/b"]);
    assert_eq!(found(SampleScope::Children, regex(), ReplyPart::Headers), ["/a", "/b"]);
    let json = || ExtractFrom::JsonPath("$.id".into());
    assert_eq!(found(SampleScope::All, json(), ReplyPart::Body), ["3", "1"]);
    assert_eq!(found(SampleScope::Children, json(), ReplyPart::Body), ["1"]);
}
