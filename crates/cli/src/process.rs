//! This process: the machine that it runs on, its environment, and how it was called.

use crate::args::options::environment;
use crate::redact;
use brunt_model::plan::HttpVersion;
use brunt_spec::settings::GrpcSettings;
use brunt_spec::{RunSettings, System};
use std::io::{self, Read};

/// This machine, as plans must know it.
pub fn system() -> System {
    System {
        descriptors: brunt_probe::limits::raise_descriptors(),
        cores: brunt_probe::machine::cores(),
        ports: brunt_probe::settings::settings(&brunt_probe::Root::system()).ports(),
        // Any number will do; it is kept in the plan, so that a run can be repeated.
        seed: u64::from(std::process::id()) ^ (brunt_engine::clock::unix_seconds() * 1e3) as u64,
        environment,
        stdin: || {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        },
        program: std::env::current_exe,
        reflected,
        offered,
        heard: |words| drop(redact::current().words(words)),
        plan_text: |text| drop(redact::current().plan_text(text)),
        plan_tree: redact::know_tree,
    }
}

/// What the server of these settings tells of a service.
fn reflected(run: &RunSettings, service: &str) -> Result<Vec<u8>, String> {
    let mut plain = run.clone();
    (plain.request.grpc, plain.request.data) = (GrpcSettings::default(), None);
    plain.http.versions = vec![HttpVersion::V2];
    let plan = brunt_spec::to_plan(&plain, &system()).map_err(|error| error.to_string())?.0;
    brunt_runner::reflection::descriptors(&plan, service)
}

/// The best version of HTTP that the server of these settings offers.
fn offered(run: &RunSettings) -> Result<HttpVersion, String> {
    let mut plain = run.clone();
    plain.http.is_auto = false;
    plain.connection.streams = 1;
    // Which version is good is asked of the answer.
    plain.checks.expect_http.clear();
    plain.connection.tls.early_data = false;
    let plan = brunt_spec::to_plan(&plain, &system()).map_err(|error| error.to_string())?.0;
    brunt_runner::check::look::best_version(&plan)
}

/// The command line as one could type it again.
pub fn command_line() -> String {
    brunt_store::redact::shell_words(std::env::args())
}
