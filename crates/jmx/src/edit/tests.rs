use crate::document::Document;
use crate::tests::real_plans;

const PLAN: &str = "<jmeterTestPlan>\r\n <hashTree>\r\n  <TestPlan  testname='a'  enabled = 'true' >\r\n   \
    <stringProp name=\"x\">1<!-- keep --></stringProp>\r\n   <doubleProp><name>d</name><value>2</value></doubleProp>\r\n   \
    <boolProp name=\"empty\"/>\r\n   <collectionProp name=\"list\"/>\r\n  </TestPlan>\r\n  <hashTree/>\r\n </hashTree>\r\n</jmeterTestPlan>\r\n";

fn edited(edit: impl FnOnce(&mut Document, crate::NodeId)) -> String {
    let mut document = Document::parse(PLAN.as_bytes()).unwrap();
    let plan = document.test_plan().unwrap().node();
    edit(&mut document, plan);
    let written = document.write();
    assert_eq!(Document::parse(&written).unwrap().write(), written);
    String::from_utf8(written).unwrap()
}

#[test]
fn edits_touch_only_what_they_name() {
    assert_eq!(edited(|document, plan| document.set_enabled(plan, false)), PLAN.replace("= 'true'", "= 'false'"));
    assert_eq!(edited(|document, plan| document.set_enabled(plan, true)), PLAN);
    assert_eq!(
        edited(|document, plan| document.set_name(plan, "it's <b>")),
        PLAN.replace("'a'", "'it&apos;s &lt;b&gt;'")
    );
    let set = |name: &'static str, value: &'static str| {
        edited(move |document, plan| assert!(document.set_property(plan, name, value)))
    };
    assert_eq!(set("x", "1"), PLAN);
    assert_eq!(set("x", "a&\r"), PLAN.replace(">1<!", ">a&amp;&#xd;<!"));
    assert_eq!(set("d", "3.5"), PLAN.replace(">2<", ">3.5<"));
    assert_eq!(set("empty", "true"), PLAN.replace("\"empty\"/>", "\"empty\">true</boolProp>"));
    let added = PLAN.replace("\"list\"/>", "\"list\"/>\r\n   <stringProp name=\"new\">v</stringProp>");
    assert_eq!(set("new", "v"), added);
}

#[test]
fn lists_have_no_text() {
    assert_eq!(edited(|document, plan| assert!(!document.set_property(plan, "list", "v"))), PLAN);
}

#[test]
fn attributes_are_added_as_the_last() {
    let mut document = Document::parse(b"<jmeterTestPlan><hashTree><A /><B></B></hashTree></jmeterTestPlan>").unwrap();
    let nodes: Vec<_> = document.all_elements().map(|element| element.node()).collect();
    for node in nodes {
        document.set_enabled(node, false);
    }
    let expected =
        "<jmeterTestPlan><hashTree><A enabled=\"false\" /><B enabled=\"false\"></B></hashTree></jmeterTestPlan>";
    assert_eq!(String::from_utf8(document.write()).unwrap(), expected);
}

#[test]
fn secrets_are_replaced() {
    let plan = |header: &str, password: &str| {
        format!(
            "<jmeterTestPlan><hashTree><HeaderManager><collectionProp name='HeaderManager.headers'>\
             <elementProp name='' elementType='Header'><stringProp name='Header.name'>Authorization</stringProp>\
             <stringProp name='Header.value'>{header}</stringProp></elementProp></collectionProp></HeaderManager>\
             <AuthManager><stringProp name='Authorization.password'>{password}</stringProp>\
             <stringProp name='Authorization.username'>ann</stringProp></AuthManager></hashTree></jmeterTestPlan>"
        )
    };
    let mut document = Document::parse(plan("Bearer 1", "s3").as_bytes()).unwrap();
    assert_eq!(document.redact(), 2);
    assert_eq!(String::from_utf8(document.write()).unwrap(), plan("***", "***"));
    let mut document = Document::parse(plan("${token}", "").as_bytes()).unwrap();
    assert_eq!(document.redact(), 0);
}

/// Turned off and on again, a real plan has its own bytes again wherever `enabled` was written.
#[test]
fn real_plans_survive_edits() {
    for (name, bytes) in real_plans() {
        let mut document = Document::parse(&bytes).unwrap();
        let written =
            document.all_elements().filter(|one| document.attribute(one.node(), "enabled").as_deref() == Some("true"));
        let nodes: Vec<_> = written.map(|one| one.node()).collect();
        for enabled in [false, true] {
            for &node in &nodes {
                document.set_enabled(node, enabled);
            }
            assert_eq!(document.write() == bytes, enabled, "{name}");
        }
    }
}
