//! This process: its machine, environment and command line.

use crate::args::options::environment;
use crate::languages::LANGUAGES;
use crate::redact;
use brunt_model::plan::HttpVersion;
use brunt_spec::{RunSettings, System};
use std::io::{self, Read};

/// Properties of this machine for building plans.
pub fn system() -> System {
    System {
        descriptors: brunt_probe::limits::raise_descriptors(),
        cores: brunt_probe::machine::cores(),
        ports: brunt_probe::settings::settings(&brunt_probe::Root::system()).ports(),
        languages: LANGUAGES,
        // Any number is good. The plan records it, so that a run can be repeated.
        seed: u64::from(std::process::id()) ^ (brunt_engine::clock::unix_seconds() * 1e3) as u64,
        environment,
        stdin: || {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        },
        program: std::env::current_exe,
        reflect_descriptors: reflected,
        best_http_version: offered,
        on_options: |words| drop(redact::current().words(words)),
        plan_text: |text| drop(redact::current().plan_text(text)),
        plan_tree: redact::know_tree,
    }
}

/// Descriptors of a service from the server's gRPC reflection.
fn reflected(run: &RunSettings, service: &str) -> Result<Vec<u8>, String> {
    let settings = brunt_spec::grpc::reflection_settings(run);
    let plan = brunt_spec::to_plan(&settings, &system()).map_err(|error| error.to_string())?.0;
    brunt_check::reflection::descriptors(&plan, service)
}

/// Best HTTP version that the server offers.
fn offered(run: &RunSettings) -> Result<HttpVersion, String> {
    let mut plain = run.clone();
    plain.http.is_auto = false;
    // Several streams would require a version that has them.
    plain.connection.streams = 1;
    // The caller checks the version, so the request must accept any.
    plain.checks.expect_http.clear();
    plain.connection.tls.early_data = false;
    let plan = brunt_spec::to_plan(&plain, &system()).map_err(|error| error.to_string())?.0;
    brunt_check::look::best_version(&plan, LANGUAGES)
}

/// The command line, quoted for a shell.
pub fn command_line() -> String {
    brunt_store::redact::shell_words(std::env::args())
}
