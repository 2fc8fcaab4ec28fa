//! Samples that are no requests, and pauses by scripts.

use super::*;
use brunt_model::scenario::{SampleMaker, ScriptSample};

#[test]
fn samples_without_requests_have_fixed_parts() {
    let fixed = |element: &str| match scenario("", element).0.steps.into_iter().next_back() {
        Some(ScenarioStep::Sample(ScriptSample {
            label,
            maker: SampleMaker::Fixed(fixed),
            ..
        })) => (label, fixed),
        other => panic!("{other:?}"),
    };
    let parts = [
        ("RESPONSE_CODE", "2${v}"),
        ("RESPONSE_MESSAGE", "it's"),
        ("RESPONSE_DATA", "a\nb"),
        ("RESPONSE_TIME", "${t}"),
        ("LATENCY", "3"),
        ("CONNECT", "2"),
        ("SUCCESFULL", "false"),
    ];
    let (label, dummy) = fixed(&element("kg.apc.jmeter.samplers.DummySampler", "d", &parts, ""));
    assert_eq!((label.as_str(), dummy.success, dummy.waits), ("d", false, true));
    assert_eq!([dummy.code, dummy.message, dummy.body], ["2${v}", "it's", "a\nb"]);
    assert_eq!([dummy.elapsed, dummy.latency, dummy.connect], ["${t}", "3", "2"]);
    let java = |class: &str, pairs: &[(&str, &str, bool)]| {
        let pairs = arguments(pairs).replace("HTTPsampler.Arguments", "arguments");
        let class = format!(
            r#"<stringProp name="classname">org.apache.jmeter.protocol.java.test.{class}</stringProp>"#
        );
        format!(
            r#"<JavaSampler testclass="JavaSampler" testname="j">{pairs}{class}</JavaSampler><hashTree/>"#
        )
    };
    let pairs = [
        ("Sleep_Time", "0x10", false),
        ("Sleep_Mask", "0", false),
        ("Label", "l", false),
        ("Status", "no", false),
    ];
    let (label, test) = fixed(&java("JavaTest", &pairs));
    assert_eq!((label.as_str(), test.elapsed.as_str(), test.success), ("l", "16", false));
    let (_, test) =
        fixed(&java("SleepTest", &[("SleepTime", "${t}", false), ("SleepMask", "8", false)]));
    assert_eq!(test.elapsed, "${__intSum(${t},${__random(0,7)})}");
    let (label, test) = fixed(&java("SleepTest", &[]));
    assert_eq!(
        (label.as_str(), test.elapsed.as_str(), test.success),
        ("j", "${__random(1000,2022)}", true)
    );
    let timer = element("JSR223Timer", "t", &[("script", "return 15")], "");
    let steps = scenario("", &http("r", &[], &timer)).0.steps;
    assert!(
        matches!(&steps[..], [ScenarioStep::PauseByScript(script), ScenarioStep::Request(0)] if script.source == "return 15")
    );
}
