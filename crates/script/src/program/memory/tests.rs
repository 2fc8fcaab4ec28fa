//! Users with replies that lead to further requests, without a server.

use super::*;
use crate::testing::{self, users};
use brunt_engine::{UserTurn, VirtualUser};
use brunt_model::plan::Dialling;
use brunt_model::reply_policy::{Cookies, Credentials, Elements, PageCache, Redirects};
use brunt_model::scenario::{Branch, ListOrder, Portion, Scenario, ScenarioStep as Do};
use brunt_model::{Body, Plan, ReplyPolicy, Request};
use brunt_wire::{Framing, ReplyDetails, ReplyHead};

fn request(method: &str, url: &str, body: Body) -> Request {
    let mut headers = vec![("Host".to_owned(), "h".to_owned()), ("X".to_owned(), "y".to_owned())];
    if body != Body::None {
        headers.push(("Content-Type".to_owned(), "text/plain".to_owned()));
    }
    let (label, method, url) = (url.into(), method.into(), url.into());
    Request {
        base: None,
        label,
        method,
        url,
        headers,
        body,
        weight: 1,
        verbatim: None,
        reply_policy: 0,
    }
}

fn plan(urls: &[&str], order: ListOrder, users: f64, policy: ReplyPolicy) -> Plan {
    let requests = urls.iter().map(|url| request("GET", url, Body::None)).collect();
    let mut plan = testing::plan(Scenario::list(requests, order), users, vec![policy]);
    plan.main_mut().stop.duration = None;
    plan.connection.connect_rate = 1;
    plan.connection.dialling = Dialling::Eager;
    plan
}

/// A reply: status, header fields, body.
type Told<'a> = (u16, &'a [(&'a str, &'a str)], &'a str);

/// A user of a plan, and how it asks.
struct Talk(Box<dyn VirtualUser>);

fn talk(plan: &Plan, number: u64) -> Talk {
    Talk(users(plan).user(number))
}

impl Talk {
    /// Runs an iteration: returns the first line of each request with its further fields, for these
    /// replies.
    fn iteration(&mut self, replies: &[Told<'_>]) -> Vec<String> {
        let mut asked = Vec::new();
        let mut last = None;
        for step in 0..20 {
            let turn = UserTurn { last: last.as_ref(), step, ..UserTurn::default() };
            let (UserStep::Request(request) | UserStep::Last(request)) = self.0.next(turn) else {
                break;
            };
            let text = String::from_utf8_lossy(&request.bytes()).into_owned();
            let fields = text
                .lines()
                .skip(1)
                .filter(|line| !line.is_empty() && !["Host: h", "X: y"].contains(line));
            let line = text.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
            asked.push([line].into_iter().chain(fields).collect::<Vec<_>>().join(" | "));
            last = Some(
                replies
                    .get(step as usize)
                    .map_or_else(|| reply(200, &[], ""), |(s, f, b)| reply(*s, f, b)),
            );
        }
        asked
    }
}

fn reply(status: u16, fields: &[(&str, &str)], body: &str) -> Reply {
    let head = ReplyHead {
        status,
        version: brunt_model::plan::HttpVersion::V1_1,
        framing: Framing::Length(body.len() as u64),
        keep_alive: true,
        length: 0,
        encoded: false,
    };
    let fields =
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let kept = ReplyDetails {
        head: Some((head, fields)),
        body: body.as_bytes().to_vec(),
        ..ReplyDetails::default()
    };
    Reply { status, details: Some(Box::new(kept)), ..Reply::default() }
}

/// Replies as siege handles them.
fn siege() -> ReplyPolicy {
    let redirects = Redirects { most: 2, rules: RedirectRules::Siege };
    ReplyPolicy {
        redirects,
        cookies: Cookies::Siege,
        repeats_unauthorized: 1,
        ..ReplyPolicy::default()
    }
}

#[test]
fn each_user_walks_the_list_separately() {
    let urls = ["http://h/0", "http://h/1", "http://h/2", "http://h/3", "http://h/4"];
    let paths = |order: ListOrder, users: f64, number: u64| {
        let mut talk = talk(
            &plan(
                &urls,
                order,
                users,
                ReplyPolicy { cookies: Cookies::Kept, ..ReplyPolicy::default() },
            ),
            number,
        );
        (0..6).map(|_| talk.iteration(&[])[0][5..].to_owned()).collect::<String>()
    };
    assert_eq!(paths(ListOrder::Walk, 2.0, 0), "012340");
    assert_eq!(paths(ListOrder::Walk, 2.0, 1), "234012");
    assert_eq!(paths(ListOrder::Walk, 9.0, 8), "012340");
    assert_eq!(paths(ListOrder::WalkTogether, 2.0, 1), "012340");
}

#[test]
fn redirects_are_followed_up_to_the_maximum() {
    let mut user = talk(&plan(&["http://h/a/b"], ListOrder::Sequence, 1.0, siege()), 0);
    let to = |status: u16, location: &'static str| (status, [("Location", location)], "");
    let replies = [to(302, "c"), to(301, "http://i:81/d"), to(302, "/never")];
    let replies: Vec<_> = replies.iter().map(|(s, f, b)| (*s, &f[..], *b)).collect();
    assert_eq!(user.iteration(&replies), ["GET /a/b", "GET /a/c", "GET /d | Host: i:81"]);
    assert_eq!(user.iteration(&[(308, &[("Location", "/x")], "")]), ["GET /a/b"]);
}

#[test]
fn statuses_307_and_308_preserve_the_method() {
    let mut plan = plan(&["http://h/"], ListOrder::Sequence, 1.0, siege());
    plan.main_mut().scenario.requests =
        vec![request("POST", "http://h/form", Body::Text("a=b".into()))].into();
    let mut user = talk(&plan, 0);
    let form = "Content-Type: text/plain | Content-Length: 3 | a=b";
    let first = format!("POST /form | {form}");
    let there = [("Location", "/there")];
    assert_eq!(user.iteration(&[(302, &there, "")]), [&*first, "GET /there"]);
    assert_eq!(user.iteration(&[(307, &there, "")]), [first, format!("POST /there | {form}")]);
}

#[test]
fn cookies_and_credentials_are_sent_with_later_requests() {
    let credentials = vec![Credentials { realm: None, user: "u".into(), password: "p".into() }];
    let mut user = talk(
        &plan(&["http://h/"], ListOrder::Sequence, 1.0, ReplyPolicy { credentials, ..siege() }),
        0,
    );
    let wanted = [("WWW-Authenticate", "Basic realm=x"), ("Set-Cookie", "a=1")];
    let named = "GET / | Authorization: Basic dTpw | Cookie: a=1";
    assert_eq!(user.iteration(&[(401, &wanted, "")]), ["GET /", named]);
    // A rejected request is not repeated again.
    assert_eq!(user.iteration(&[(401, &wanted, ""), (401, &wanted, "")]), [named, named]);
}

/// siege sends five requests for one page, with or without credentials.
#[test]
fn a_page_with_authentication_is_requested_five_times_without_credentials() {
    let five = ReplyPolicy { repeats_unauthorized: 4, ..siege() };
    let mut user = talk(&plan(&["http://h/"], ListOrder::Sequence, 1.0, five), 0);
    let refused = (401, &[("WWW-Authenticate", "Basic realm=x")][..], "");
    assert_eq!(user.iteration(&[refused, refused, refused, refused, refused]), ["GET /"; 5]);
}

#[test]
fn a_page_is_requested_with_its_elements_in_reverse_order() {
    let elements = Some(Elements { not_from: vec!["ads.".into()], ..Elements::default() });
    let mut user = talk(
        &plan(&["http://h/dir/"], ListOrder::Sequence, 1.0, ReplyPolicy { elements, ..siege() }),
        0,
    );
    let html = "<img src=1.png><img src=/2.png><img src=http://ads.example/3.png><img src=1.png>";
    let fields = [("content-type", "text/html; charset=utf-8")];
    assert_eq!(
        user.iteration(&[(200, &fields, html)]),
        ["GET /dir/", "GET /2.png", "GET /dir/1.png"]
    );
    assert_eq!(user.iteration(&[(404, &fields, html)]), ["GET /dir/"]);
    assert_eq!(user.iteration(&[(200, &[("content-type", "text/plain")], html)]), ["GET /dir/"]);
}

#[test]
fn elements_are_filtered_by_url_and_requested_in_parallel() {
    let (only, never) = (Some(r".*\.(png|css)".to_owned()), Some(".*/no.*".to_owned()));
    let elements = Some(Elements { only, never, at_once: 2, ..Elements::default() });
    let policy = ReplyPolicy { elements, cookies: Cookies::Kept, ..ReplyPolicy::default() };
    let mut user = talk(&plan(&["http://h/"], ListOrder::Sequence, 1.0, policy), 0);
    let mut next = |last: Option<&Reply>, replies: &[Option<Reply>], step| {
        user.0.next(UserTurn { last, replies, step, ..UserTurn::default() })
    };
    assert!(matches!(next(None, &[], 0), UserStep::Request(_) | UserStep::Last(_)));
    let html = "<img src=1.png><script src=2.js></script><img src=/no.png><img src=3.png><link rel=stylesheet href=4.css>";
    let page = reply(200, &[("content-type", "text/html")], html);
    let UserStep::Parallel(requests, 2) = next(Some(&page), &[], 1) else { panic!("elements") };
    let urls: Vec<&str> = requests.iter().map(|request| request.url()).collect();
    assert_eq!(urls, ["http://h/1.png", "http://h/3.png", "http://h/4.css"]);
    let cookie = [("Set-Cookie", "a=1")];
    let replies = [Some(reply(200, &[], "")), None, Some(reply(200, &cookie, ""))];
    assert!(matches!(next(None, &replies, 4), UserStep::Done));
    let UserStep::Request(request) = next(None, &[], 0) else { panic!("the page") };
    assert!(String::from_utf8_lossy(&request.bytes()).contains("Cookie: a=1"));
}

#[test]
fn initial_requests_are_sent_once_by_users_in_turn() {
    let mut plan =
        plan(&["http://h/", "http://h/in0", "http://h/in1"], ListOrder::Walk, 3.0, siege());
    let scenario = &mut plan.main_mut().scenario;
    scenario.requests[1..].iter_mut().for_each(|request| request.weight = 0);
    let branch = |number| Branch { weight: 1, steps: vec![Do::Request(number)] };
    let choose = Do::Choose {
        order: ListOrder::User,
        portion: Portion::Whole,
        branches: vec![branch(1), branch(2)],
    };
    scenario.steps.insert(0, Do::Once(vec![choose]));
    for (number, path) in [(0, "GET /in0"), (1, "GET /in1"), (2, "GET /in0")] {
        let mut user = talk(&plan, number);
        assert_eq!(user.iteration(&[]), [path, "GET /"]);
        assert_eq!(user.iteration(&[]), ["GET /"]);
    }
}

#[test]
fn cached_pages_are_revalidated() {
    let policy = ReplyPolicy {
        cache: Some(PageCache::default()),
        cookies: Cookies::KeptForARound,
        ..siege()
    };
    let mut user =
        talk(&plan(&["http://h/a", "http://h/b"], ListOrder::WalkTogether, 1.0, policy), 0);
    let fields = [("ETag", "\"e\""), ("Last-Modified", "then"), ("Set-Cookie", "a=1")];
    assert_eq!(user.iteration(&[(200, &fields, "")]), ["GET /a"]);
    assert_eq!(user.iteration(&[]), ["GET /b | Cookie: a=1"]);
    // Through the list: cookies are forgotten.
    assert_eq!(user.iteration(&[]), ["GET /a | If-Modified-Since: then | If-None-Match: \"e\""]);
}

#[test]
fn a_fresh_page_is_not_requested_unless_the_iteration_clears_the_cache() {
    let policy = |per_iteration| {
        let cache = Some(PageCache { reuses_fresh: true, per_iteration });
        ReplyPolicy { cache, elements: Some(Elements::default()), ..siege() }
    };
    let page = (
        200,
        &[("Content-Type", "text/html"), ("Cache-Control", "no-cache")][..],
        "<img src=/i><img src=/j>",
    );
    let image = (200, &[("Cache-Control", "max-age=60")][..], "");
    let mut user = talk(&plan(&["http://h/a"], ListOrder::Walk, 1.0, policy(false)), 0);
    assert_eq!(user.iteration(&[page, image, (200, &[], "")]), ["GET /a", "GET /j", "GET /i"]);
    assert_eq!(user.iteration(&[page, image]), ["GET /a", "GET /i"]);
    let mut user = talk(&plan(&["http://h/a"], ListOrder::Walk, 1.0, policy(true)), 0);
    assert_eq!(user.iteration(&[page, image]), ["GET /a", "GET /j", "GET /i"]);
    assert_eq!(user.iteration(&[page, image]), ["GET /a", "GET /j", "GET /i"]);
    let mut user = talk(&plan(&["http://h/a"], ListOrder::Walk, 1.0, policy(false)), 0);
    assert_eq!(user.iteration(&[image]), ["GET /a"]);
    assert_eq!(user.iteration(&[image]), Vec::<String>::new());
}

/// RFC 9110's redirects belong to their request; cookies are sent by domain, also to intermediate
/// targets.
#[test]
fn cookies_are_stored_and_sent_along_a_redirect() {
    let redirects = Redirects { most: 1, rules: RedirectRules::Rfc9110 };
    let policy = ReplyPolicy { redirects, cookies: Cookies::Kept, ..ReplyPolicy::default() };
    let mut user = talk(&plan(&["http://h/a"], ListOrder::Sequence, 1.0, policy), 0).0;
    let turn = |last, step| UserTurn { last, step, ..UserTurn::default() };
    let UserStep::Request(first) = user.next(turn(None, 0)) else { panic!("no request") };
    let mut led = reply(302, &[("Set-Cookie", "a=1; path=/")], "");
    led.details.as_mut().unwrap().location = Some("/b".into());
    let next = user.redirect(&first, &led, 0).unwrap();
    assert!(String::from_utf8_lossy(&next.bytes()).contains("\r\nCookie: a=1\r\n"));
    assert_eq!(user.redirect(&next, &led, 1).map(|_| ()), None);
    let last = reply(200, &[("Set-Cookie", "b=2")], "");
    assert!(matches!(user.next(turn(Some(&last), 1)), UserStep::Done));
    let UserStep::Request(again) = user.next(turn(None, 0)) else { panic!("no request") };
    assert!(String::from_utf8_lossy(&again.bytes()).contains("\r\nCookie: a=1; b=2\r\n"));
}
