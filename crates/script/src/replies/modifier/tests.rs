//! Requests changed by a reply, as JMeter 5.6.3 changes them (dev/tests/data/jmeter/modifiers.jmx holds both side by side).

use super::*;
use crate::testing::user;
use crate::texts::pending::{PendingRequest, RequestTexts};
use brunt_model::{Body, RecordDetails, SampleRecord};
use std::rc::Rc;

struct Get(&'static str);

impl RequestTexts for Get {
    fn label(&self) -> String {
        String::new()
    }
    fn method(&self) -> String {
        "GET".into()
    }
    fn url(&self) -> String {
        self.0.into()
    }
    fn headers(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn body(&self) -> Body {
        Body::None
    }
    fn has_body(&self) -> bool {
        false
    }
    fn content_type(&self) -> String {
        String::new()
    }
}

fn with_page(page: &str) -> UserContext {
    let user = user();
    look_at(&user, page);
    user
}

fn look_at(user: &UserContext, page: &str) {
    let details = RecordDetails { body: Some(page.into()), ..RecordDetails::default() };
    let url = Some("http://h:81/dir/page?old=1".into());
    *user.last.borrow_mut() =
        Some(Rc::new(SampleRecord { url, details, is_http: true, ..SampleRecord::default() }));
}

/// The URL that a request becomes.
fn modified(modifier: &RequestModifier, user: &UserContext, url: &'static str) -> String {
    let mut pending = PendingRequest::default();
    let texts = Get(url);
    let compiled = CompiledModifier::new(modifier, &mut Feeds::default()).unwrap();
    compiled
        .apply(user, ScriptedRequest { pending: &mut pending, texts: &texts }, |_| String::new());
    pending.finish(&texts).url.into_owned()
}

fn session(place: SessionPlace) -> SessionModifier {
    SessionModifier { argument: "sid".into(), place, kept_as: None, encode: false }
}

const PATH: SessionPlace = SessionPlace::Path { equals: true, question_mark: true };

#[test]
fn a_session_is_found_in_links_and_fields() {
    for (page, expected) in [
        (r#"<a href="/x;sid=A1&b=2">"#, "A1"),
        ("<a href='/x?a=1&sid=B+2'>", "B+2"),
        (r#"<input NAME = "sid" type="hidden" Value='C3'>"#, "C3"),
        (r#"<input value="D4" name='sid'>"#, "D4"),
        (r#""url": "\/x?sid=E5\u0026""#, "E5"),
        (r#"<input value="no" name="other">"#, ""),
    ] {
        let modifier = RequestModifier::Session(session(SessionPlace::Argument));
        let url = modified(&modifier, &with_page(page), "http://h/y?sid=old&a=1");
        assert_eq!(url, format!("http://h/y?a=1&sid={expected}"), "{page}");
    }
}

#[test]
fn a_session_is_appended_to_the_path() {
    for (equals, question_mark, page, expected) in [
        (true, true, "/x;sid=A?b=1 ", "/y;sid=A?c=1&b=1"),
        (true, false, "/x;sid=A?b=1 ", "/y;sid=A?c=1"),
        (false, false, "/x;sidA?b=1 ", "/y;sidA?c=1"),
        (true, true, "nothing", "/y;sid=?c=1"),
    ] {
        let modifier =
            RequestModifier::Session(session(SessionPlace::Path { equals, question_mark }));
        assert_eq!(
            modified(&modifier, &with_page(page), "http://h/y;sid=old?c=1"),
            format!("http://h{expected}")
        );
    }
    let untouched = modified(&RequestModifier::Session(session(PATH)), &user(), "http://h/y");
    assert_eq!(untouched, "http://h/y", "there was no sample before");
}

#[test]
fn a_session_is_retained_if_a_reply_has_none() {
    let kept = RequestModifier::Session(SessionModifier {
        kept_as: Some("line 1".into()),
        ..session(PATH)
    });
    let user = with_page("/x;sid=A1 ");
    assert_eq!(modified(&kept, &user, "http://h/y"), "http://h/y;sid=A1");
    look_at(&user, "nothing");
    assert_eq!(modified(&kept, &user, "http://h/y"), "http://h/y;sid=A1");
    assert_eq!(
        modified(&RequestModifier::Session(session(PATH)), &user, "http://h/y"),
        "http://h/y;sid="
    );
}

#[test]
fn arguments_get_the_values_of_matches() {
    let user = user();
    let modifier = RequestModifier::Matches {
        variable: "m".into(),
        name_group: "1".into(),
        value_group: "2".into(),
    };
    let url = "http://h/y?a=1&b=2&c=3";
    assert_eq!(modified(&modifier, &user, url), url);
    for (name, value) in [
        ("m_matchNr", "3"),
        ("m_1_g1", "b"),
        ("m_1_g2", "x y"),
        ("m_2_g1", "c"),
        ("m_2_g2", "first"),
        ("m_3_g1", "c"),
        ("m_3_g2", "last"),
    ] {
        user.variables.borrow_mut().set(name, value);
    }
    assert_eq!(modified(&modifier, &user, url), "http://h/y?a=1&b=x+y&c=last");
}

#[cfg(feature = "dom")]
#[test]
fn a_request_becomes_a_link_or_form_that_matches() {
    let page = r#"text <a href="goods/1">1</a><a href="mailto:a@h">mail</a><a href="/find?q=a%20b&amp;bare">find</a>
        <a href="?only=1">only</a><a href="//other/goods/2">2</a>
        <form action="/order?by=form"><input name="item" value="book+1"><select name="size"><option value="s">S</select></form>
        <input name="late" value="2"><form><input name="lost"></form>"#;
    for (wanted, expected) in [
        ("http://h:81/dir/goods/[0-9]", "http://h:81/dir/goods/1"),
        ("http://h:81/absent/[0-9]", "http://h:81/absent/[0-9]"),
        ("http://.*:81/goods/.", "http://other:81/goods/2"),
        ("http://h:81/find?q=", "http://h:81/find?q=a%20b&bare"),
        ("http://h:81/find?x=", "http://h:81/find?x="),
        ("http://h:81/.*?only=", "http://h:81/dir/?only=1"),
        ("http://h:81/order?item=b.*&size=.&late=.", "http://h:81/order?item=book+1&size=s&late=2"),
        ("http://h:81/order?lost=", "http://h:81/order?lost="),
        ("https://h:81/dir/goods/1", "https://h:81/dir/goods/1"),
    ] {
        assert_eq!(
            modified(&RequestModifier::Link, &with_page(page), wanted),
            expected,
            "{wanted}"
        );
    }
}
