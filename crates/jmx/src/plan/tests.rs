//! Plans become runs: what each element turns into, and that all public plans do.

use super::*;
use crate::tests::real_plans;
use brunt_script::CompiledScript;

fn surroundings<'a>(properties: &'a PropertyMap, folder: &'a PlanFolder) -> PlanSurroundings<'a> {
    PlanSurroundings {
        properties,
        folder,
        resolve_all: Some(ResolveAll { address: "127.0.0.1:1".parse().unwrap(), tls: false }),
        scale: 1.0,
        max_duration: None,
        lenient: false,
        records: None,
        seed: 1,
        threads: 1,
    }
}

#[test]
fn public_plans_are_read() {
    for (name, bytes) in real_plans() {
        let document = Document::parse(&bytes).unwrap();
        let properties = PropertyMap::new();
        let folder = PlanFolder::new(&crate::tests::directory().join(&name), &[]);
        match read(&document, &surroundings(&properties, &folder)) {
            Ok(run) => {
                println!("{name}: {} stages", run.stages.len());
                for notice in &run.notices {
                    println!("   {notice}");
                }
                for stage in &run.stages {
                    if let Err(error) = CompiledScript::all(&stage.plan) {
                        println!("   COMPILE {error}");
                    }
                }
            }
            Err(error) => println!("{name}: ERROR {error}"),
        }
    }
}
