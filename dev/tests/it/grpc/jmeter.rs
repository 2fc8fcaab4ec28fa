//! Runs plans of JMeter with samplers of the gRPC plugin against the server by tonic.

use super::shop::Shop;
use crate::world::command;
use std::fs;
use std::sync::atomic::Ordering;

/// Returns a plan of one thread and four loops with two samplers; `changes` replace texts in it.
fn plan(shop: &Shop, changes: &[(&str, &str)]) -> String {
    let plan = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="p"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="g"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp>
<stringProp name="LoopController.loops">4</stringProp></elementProp></ThreadGroup><hashTree>
<vn.zalopay.benchmark.GRPCSampler testclass="vn.zalopay.benchmark.GRPCSampler" testname="buy">
<stringProp name="GRPCSampler.protoFolder">C:\plans\protos</stringProp><stringProp name="GRPCSampler.libFolder"></stringProp>
<stringProp name="GRPCSampler.metadata">a:1%2C2,b:c</stringProp><stringProp name="GRPCSampler.host">127.0.0.1</stringProp>
<stringProp name="GRPCSampler.port">PORT</stringProp><stringProp name="GRPCSampler.fullMethod">shop.Shop/Buy</stringProp>
<stringProp name="GRPCSampler.deadline">5000</stringProp><boolProp name="GRPCSampler.tls">false</boolProp>
<stringProp name="GRPCSampler.requestJson">{"name": "ann", "id": 7}</stringProp></vn.zalopay.benchmark.GRPCSampler>
<hashTree><JSONPostProcessor testclass="JSONPostProcessor" testname="id">
<stringProp name="JSONPostProcessor.referenceNames">id</stringProp>
<stringProp name="JSONPostProcessor.jsonPathExprs">$.id</stringProp></JSONPostProcessor><hashTree/></hashTree>
<vn.zalopay.benchmark.GRPCSampler testclass="vn.zalopay.benchmark.GRPCSampler" testname="again">
<stringProp name="GRPCSampler.protoFolder">protos</stringProp><stringProp name="GRPCSampler.host">127.0.0.1</stringProp>
<stringProp name="GRPCSampler.port">PORT</stringProp><stringProp name="GRPCSampler.fullMethod">shop.Shop/Buy</stringProp>
<stringProp name="GRPCSampler.requestJson">{"name": "missing", "id": ${id}}</stringProp></vn.zalopay.benchmark.GRPCSampler>
<hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#;
    let url = shop.url();
    let port = url.rsplit(':').next().expect("a port").trim_end_matches('/');
    let plan = plan.replace("PORT", port);
    changes.iter().fold(plan, |plan, (from, to)| plan.replace(from, to))
}

/// Label and success of each sample, and the output.
fn samples(shop: &Shop, plan: &str, options: &str) -> (Vec<String>, String) {
    let file = shop.plan("");
    let folder = file.parent().expect("a folder");
    let _ = fs::create_dir(folder.join("protos"));
    fs::copy(folder.join("shop.proto"), folder.join("protos/shop.proto")).expect("a copy");
    fs::write(folder.join("plan.jmx"), plan).expect("a plan");
    let _ = fs::remove_file(folder.join("out.jtl"));
    let line = format!("run plan.jmx --no-store {options}");
    let output = command(&line).current_dir(folder).output().expect("brunt");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let rows = fs::read_to_string(folder.join("out.jtl")).unwrap_or_default();
    (
        rows.lines()
            .skip(1)
            .map(|line: &str| {
                let cells: Vec<&str> = line.split(',').collect();
                format!("{} {}", cells[2], cells[7])
            })
            .collect(),
        printed,
    )
}

#[test]
fn samplers_call_methods_with_values_of_earlier_replies() {
    let shop = Shop::open();
    let (rows, printed) = samples(&shop, &plan(&shop, &[]), "--jtl out.jtl");
    assert_eq!(rows, ["buy true", "again false"].repeat(4), "{printed}");
    assert_eq!(
        (shop.counts.calls(), shop.counts.deadlines.load(Ordering::Relaxed)),
        (8, 8),
        "{printed}"
    );
    let (_, trace) = samples(&shop, &plan(&shop, &[]), "--trace --trace-only label=again");
    assert!(trace.contains("\"id\":\"8\"") && trace.contains("grpc 5 NOT_FOUND"), "{trace}");
    let (_, trace) = samples(&shop, &plan(&shop, &[]), "--trace --trace-only label=buy");
    assert!(
        trace.contains("a: 1,2") && trace.contains("b: c") && trace.contains("grpc-timeout: 5000m"),
        "{trace}"
    );
}

#[test]
fn missing_parts_of_grpc_samplers_are_named() {
    let shop = Shop::open();
    for (from, to, expected) in [
        ("shop.Shop/Buy", "shop.Shop/Sell", "shop.Shop has no method Sell"),
        ("shop.Shop/Buy", "Buy", "the method is `Buy`; write such as shop.Shop/Buy"),
        (r"C:\plans\protos", "", "the folder of .proto files is missing"),
        (r"C:\plans\protos", "elsewhere", "elsewhere: "),
        (r#"{"name": "ann", "id": 7}"#, r#"{"price": 7}"#, "price"),
        ("a:1%2C2,b:c", "a", "`a` of the metadata has no value"),
    ] {
        let (rows, printed) = samples(&shop, &plan(&shop, &[(from, to)]), "--jtl out.jtl");
        assert!(
            rows.is_empty() && printed.contains(expected) && printed.contains("line "),
            "{to}: {printed}"
        );
    }
}
