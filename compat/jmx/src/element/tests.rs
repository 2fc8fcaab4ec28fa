use crate::document::JmxDocument;
use crate::support::{ElementKind, Role};
use crate::tests::real_plans;

const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2">
  <hashTree>
    <TestPlan testname="plan"/>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users" enabled="true">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <stringProp name="LoopController.loops"> 5 </stringProp>
        </elementProp>
        <stringProp name="ThreadGroup.num_threads">${n}</stringProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSampler2 testname="login &amp; go">
          <stringProp name="HTTPSampler.path"></stringProp>
          <boolProp name="HTTPSampler.follow_redirects">True</boolProp>
          <elementProp name="HTTPsampler.Arguments" elementType="Arguments">
            <collectionProp name="Arguments.arguments">
              <elementProp name="a" elementType="HTTPArgument"><stringProp name="Argument.value">1</stringProp></elementProp>
              <elementProp name="" elementType="HTTPArgument"><stringProp name="Argument.value">2</stringProp></elementProp>
            </collectionProp>
          </elementProp>
        </HTTPSampler2>
        <com.example.OrderSampler testname="order"/>
        <hashTree/>
        <GenericController testname="off" enabled="false"/>
        <hashTree>
          <JDBCSampler testname="hidden"/>
        </hashTree>
        <org.apache.jmeter.protocol.jdbc.sampler.JDBCSampler testname="db"/>
        <hashTree/>
        <ConstantThroughputTimer testname="pace">
          <doubleProp><name>throughput</name><value>12.5</value><savedValue>0.0</savedValue></doubleProp>
        </ConstantThroughputTimer>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

fn plan() -> JmxDocument {
    JmxDocument::parse(PLAN.as_bytes()).unwrap()
}

#[test]
fn children_follow_their_element() {
    let document = plan();
    let group = document.test_plan().unwrap().children().next().unwrap();
    assert_eq!(group.kind(), Some(ElementKind::ThreadGroup));
    let names: Vec<_> = group.children().map(|child| child.name().into_owned()).collect();
    assert_eq!(names, ["login & go", "order", "off", "db", "pace"]);
    let enabled: Vec<_> = group.enabled_children().map(|child| child.name().into_owned()).collect();
    assert_eq!(enabled, ["login & go", "order", "db", "pace"]);
    let off = group.children().nth(2).unwrap();
    assert!(!off.enabled() && off.children().count() == 1);
    assert_eq!(off.parent().unwrap().name(), "users");
    assert_eq!(document.all_elements().count(), 8);
    assert_eq!(document.enabled_elements().count(), 6);
}

#[test]
fn properties_are_read_by_name_and_type() {
    let document = plan();
    let elements: Vec<_> = document.all_elements().collect();
    let (group, http, timer) = (elements[1], elements[2], elements[7]);
    let main = group.properties().element("ThreadGroup.main_controller").unwrap();
    assert_eq!(main.int("LoopController.loops"), Ok(Some(5)));
    assert_eq!(main.int("LoopController.none"), Ok(None));
    let message = group.properties().int("ThreadGroup.num_threads").unwrap_err().to_string();
    assert_eq!(
        message,
        "line 10, column 9: `ThreadGroup.num_threads` is `${n}`; expected a whole number"
    );
    assert_eq!(http.properties().text("HTTPSampler.path"), None);
    assert_eq!(http.properties().bool("HTTPSampler.follow_redirects"), Ok(Some(true)));
    let arguments = http.properties().element("HTTPsampler.Arguments").unwrap();
    let values: Vec<_> = arguments
        .items("Arguments.arguments")
        .map(|item| item.properties().text("Argument.value"))
        .collect();
    assert_eq!(values, [Some("1".into()), Some("2".into())]);
    assert_eq!(timer.properties().float("throughput"), Ok(Some(12.5)));
}

#[test]
fn unsupported_elements_are_listed_with_their_place() {
    let document = plan();
    let listed = document.unsupported();
    let places: Vec<_> = listed.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(
        places,
        [
            r#"line 23: OrderSampler "order" in Thread Group "users""#,
            r#"line 29: JDBC Request "db" in Thread Group "users""#
        ]
    );
    assert_eq!((listed[0].kind, listed[0].role), (None, Role::Sampler));
    assert_eq!(listed[1].kind, Some(ElementKind::JdbcSampler));
}

#[test]
fn a_dns_cache_manager_without_servers_runs() {
    let listed = |servers: &str, custom: &str| {
        let text = format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="x"/><hashTree><DNSCacheManager testname="dns">
            <collectionProp name="DNSCacheManager.servers">{servers}</collectionProp>
            <boolProp name="DNSCacheManager.isCustomResolver">{custom}</boolProp></DNSCacheManager><hashTree/></hashTree></hashTree></jmeterTestPlan>"#
        );
        JmxDocument::parse(text.as_bytes()).unwrap().unsupported().len()
    };
    let server = r#"<stringProp name="1">192.0.2.1</stringProp>"#;
    assert_eq!((listed("", "true"), listed(server, "false"), listed(server, "true")), (0, 0, 1));
}

#[test]
fn a_listener_is_recognized_by_its_result_file_settings() {
    let role = |properties: &str| {
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan/><hashTree><com.example.Spark testname='x'>{properties}</com.example.Spark>
            </hashTree></hashTree></jmeterTestPlan>"
        );
        JmxDocument::parse(text.as_bytes()).unwrap().unsupported()[0].role
    };
    assert_eq!(role(""), Role::Unknown);
    assert_eq!(
        role("<boolProp name='ResultCollector.error_logging'>false</boolProp>"),
        Role::Listener
    );
    assert_eq!(
        role("<objProp><name>saveConfig</name><value class='SampleSaveConfiguration'/></objProp>"),
        Role::Listener
    );
}

#[test]
fn a_reference_has_the_value_of_its_property() {
    let text = r#"<jmeterTestPlan><hashTree><TestPlan><collectionProp name="rows">
        <collectionProp name="1"><stringProp name="a">one</stringProp><stringProp name="b">two</stringProp></collectionProp>
        <collectionProp name="2"><stringProp reference="../../collectionProp/stringProp[2]"/>
            <stringProp reference="../stringProp"/><stringProp reference="../nowhere"/></collectionProp>
        <collectionProp reference="../collectionProp"/>
        </collectionProp></TestPlan></hashTree></jmeterTestPlan>"#;
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    let rows = document.test_plan().unwrap().properties().items("rows");
    let rows: Vec<Vec<String>> =
        rows.map(|row| row.items().map(|item| item.text().into_owned()).collect()).collect();
    // The second leads to a reference, which JMeter does not write.
    assert_eq!(rows, [vec!["one", "two"], vec!["two", "", ""], vec!["one", "two"]]);
    assert_eq!(document.write(), text.as_bytes());
}

#[test]
fn plans_without_trees_are_empty() {
    for text in ["<jmeterTestPlan/>", "<jmeterTestPlan><hashTree/></jmeterTestPlan>"] {
        let document = JmxDocument::parse(text.as_bytes()).unwrap();
        assert!(document.test_plan().is_none() && document.all_elements().next().is_none());
    }
    let text =
        "<jmeterTestPlan><hashTree><hashTree/><TestPlan testname='x'/></hashTree></jmeterTestPlan>";
    let document = JmxDocument::parse(text.as_bytes()).unwrap();
    assert_eq!(document.test_plan().unwrap().name(), "x");
}

#[test]
fn elements_of_real_plans_are_recognized() {
    for (name, bytes) in real_plans() {
        let document = JmxDocument::parse(&bytes).unwrap();
        let elements: Vec<_> = document.all_elements().collect();
        assert!(document.test_plan().is_some() && elements.len() >= 3, "{name}");
        for element in elements {
            assert!(element.kind().is_some(), "{name}: {} `{}`", element.place(), element.tag());
        }
        let lacks: Vec<_> = document.unsupported().into_iter().map(|one| one.place).collect();
        println!("{name}: {lacks:?}");
    }
}

/// The name of the sampler stands in the file in full, so each is found.
#[test]
fn samplers_of_real_plans_are_all_found() {
    for (name, bytes) in real_plans() {
        let text = String::from_utf8(bytes).unwrap();
        let document = JmxDocument::parse(text.as_bytes()).unwrap();
        let http =
            |kind| matches!(kind, Some(ElementKind::HttpSampler | ElementKind::GraphQlSampler));
        let found = document.all_elements().filter(|element| http(element.kind())).count();
        assert_eq!(found, text.matches("<HTTPSamplerProxy ").count(), "{name}");
    }
}

/// Neither width nor depth makes a plan slow: each would take minutes if its time grew with the square.
#[test]
fn wide_and_deep_plans_are_listed_in_time() {
    let wide = format!("<A/><hashTree/>{}", "<B/><hashTree><C/></hashTree>".repeat(100_000));
    let deep = format!("{}{}", "<A/><hashTree>".repeat(9_000), "</hashTree>".repeat(9_000));
    for (inner, count) in [(wide, 200_001), (deep, 9_000)] {
        let text = format!("<jmeterTestPlan><hashTree>{inner}</hashTree></jmeterTestPlan>");
        let document = JmxDocument::parse(text.as_bytes()).unwrap();
        assert_eq!(document.unsupported().len(), count);
    }
}
